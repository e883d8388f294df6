"""The pictures of lesson 05."""

import functools
import math
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle
from scipy.interpolate import PchipInterpolator

from dpcourse import clt, gdp, rounding, validate
from dpcourse.frame import (
    FALSE_ALARMS,
    FIRST,
    FOURTH,
    HALVES,
    MISSES,
    PALE,
    RING,
    SECOND,
    THIRD,
    levels,
    logarithmic,
    panels,
    unit_square,
)
from dpcourse.stored import Table
from dpcourse.tradeoff import gaussian

GRID = levels()
TABLE = Table(Path(__file__).with_name("accountants.npz"), ("noise_multiplier", "batch", "epochs"))
CHOICES = ("run_settings",)  # what lessons take from here for their sliders
PEOPLE, DELTA = 60_000, 1e-5  # of the runs in the table
ACCOUNTANTS = {"classic": "moments accountant", "improved": "Rényi, improved", "exact": "exact", "limit": "limit"}
BELOW = {"color": PALE, "linestyle": (0, (6, 0.5)), "linewidth": 7}  # a band that other lines lie on
LOOKS = {"classic": FOURTH, "improved": THIRD, "exact": FIRST, "limit": SECOND}


# ---- clipping


def clipping(figure, clip_norm, noise_multiplier=1.0) -> str:
    """Gradients of 24 people in the plane, clipped; and what clipping and noise do to their mean, for every clip norm."""
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    gradients = people()
    kept = clipped(gradients, clip_norm)
    left, right = panels(figure, 2)
    left.add_collection(LineCollection(list(np.stack([kept, gradients], axis=1)), color="#b9b9b9", linewidth=1))
    left.add_collection(LineCollection(list(np.stack([0 * kept, kept], axis=1)), color=FIRST["color"], linewidth=1.2))
    left.plot(*gradients.T, "o", color="#9a9a9a", markersize=3)
    left.add_patch(Circle((0, 0), clip_norm, fill=False, edgecolor=SECOND["color"], linestyle="--", linewidth=1.5))
    left.set_aspect("equal")
    left.set_xlim(-2.4, 5.4)
    left.set_ylim(-2.8, 3.5)
    left.set_xlabel("first weight")
    left.set_ylabel("second weight")
    short = np.linalg.norm(gradients - kept, axis=1) > 0
    left.set_title(f"R = {clip_norm:.2g}: {short.sum()} of {len(gradients)} gradients clipped")
    norms = np.geomspace(0.1, 8, 60)
    lost, noise = np.array([_errors(r, noise_multiplier) for r in norms.tolist()]).T
    right.plot(np.log(norms), lost, **SECOND, label="lost by clipping")
    right.plot(np.log(norms), noise, **THIRD, label="added as noise")
    right.plot(np.log(norms), np.hypot(lost, noise), **FIRST, label="both")
    lost_now, noise_now = _errors(clip_norm, noise_multiplier)
    right.plot(
        [math.log(clip_norm)], [math.hypot(lost_now, noise_now)], **RING, markersize=6, label=f"R = {clip_norm:.2g}"
    )
    logarithmic(right, 0.1, 0.3, 1, 3, 8)
    right.set_ylim(0, 2.1)
    right.set_xlabel("R, clip norm")
    right.set_title("error of the mean gradient")
    right.legend(loc="upper center", ncols=1)
    return (
        f"Left: the gradients of {len(gradients)} people as arrows in the plane, with a circle of radius {clip_norm:.2g}; "
        f"{short.sum()} of them are longer and are cut at the circle, what lies beyond it is grey. Right: how far the clipped mean is from the mean, and how "
        f"large the noise of multiplier {noise_multiplier:.2g} is, for every clip norm. An open "
        f"circle marks the radius of the left side. Here they are {lost_now:.2f} and {noise_now:.2f}."
    )


@functools.cache
def people():
    """24 gradients in the plane: most point the same way, and a few are very long."""
    rng = np.random.default_rng(4)
    lengths = np.minimum(rng.lognormal(0.2, 0.75, size=24), 5)
    angles = rng.normal(0.1, 0.9, size=24)
    return lengths[:, None] * np.c_[np.cos(angles), np.sin(angles)]


def clipped(gradients, clip_norm):
    """The gradients, one in each row, shortened to length clip_norm where they are longer."""
    return gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / clip_norm)


@functools.lru_cache(maxsize=10_000)
def _errors(clip_norm, noise_multiplier):
    """How far the mean of the clipped gradients is from the mean; the root mean square length of the noise on it."""
    gradients = people()
    lost = np.linalg.norm((clipped(gradients, clip_norm) - gradients).mean(axis=0))
    return float(lost), noise_multiplier * clip_norm * math.sqrt(2) / len(gradients)


# ---- sampling


def sampled(figure, p, noise_multiplier) -> str:
    """Left: G, Id and their mixture f_p. Right: f_p, its inverse, and the convex curve below both."""
    g = gaussian(1 / validate.number("noise_multiplier", noise_multiplier, 0, open_low=True))
    one_way, both = g.mixed(p), g.subsampled(p)
    left, right = panels(figure, 2)
    left.plot(GRID, 1 - GRID, **FOURTH, label="Id: not drawn")
    left.plot(GRID, g(GRID), **THIRD, label="G: drawn")
    left.plot(GRID, one_way(GRID), **FIRST, label="p G + (1 - p) Id")
    left.set_title(f"p = {p:.2g}, σ = {noise_multiplier:.2g}: one direction")
    right.plot(GRID, both(GRID), **BELOW, label="both directions")
    right.plot(GRID, one_way(GRID), **FIRST, label="T(without, with)")
    right.plot(one_way(GRID), GRID, **SECOND, label="T(with, without)")
    right.set_title("the lower convex hull of both")
    for panel, beta in ((left, MISSES), (right, "")):
        unit_square(panel, ticks=HALVES, alpha=FALSE_ALARMS, beta=beta)
        panel.legend(loc="upper right", borderaxespad=0)
    return (
        f"Left: trade-off curves of noise with multiplier {noise_multiplier:.2g}, of nothing, and their mixture with p {p:.2g}; at "
        f"alpha 0.1 they are {g(0.1):.2f}, 0.90 and {one_way(0.1):.2f}. Right: the same mixture, its mirror image in the diagonal, and as a "
        f"broad pale band the convex curve below both, which is {both(0.1):.2f} at alpha 0.1."
    )


# ---- accountants


def accountants(figure, noise_multiplier, batch, epochs) -> str:
    """epsilon of a run of noisy SGD on 60,000 people along its epochs, by four accountants."""
    known = np.asarray(TABLE["epochs"], dtype=float)
    curves = epsilons(noise_multiplier, batch)
    at = {name: float(np.interp(epochs, known, curve)) for name, curve in curves.items()}
    (panel,) = panels(figure)
    for name, curve in curves.items():
        panel.plot(known, curve, **LOOKS[name], label=f"{ACCOUNTANTS[name]}: {at[name]:.3g}")
    panel.plot([epochs] * 4, list(at.values()), **RING, markersize=6)
    top = max(curve.max() for curve in curves.values())
    panel.set_xlim(0, 102)
    panel.set_ylim(0, 1.05 * top)
    panel.set_xlabel("epochs")
    panel.set_ylabel("ε at δ = 1e-5")
    panel.set_title(f"σ = {noise_multiplier:g}, batches of {batch:,} among 60,000")
    panel.legend(title=f"ε after epoch {epochs}", loc="lower right", alignment="left")
    return (
        f"Epsilon at delta 1e-5 against epochs, for noise multiplier {noise_multiplier:g} and batches of {batch} among 60,000. After "
        f"epoch {epochs}: " + ", ".join(f"{ACCOUNTANTS[name]} {value:.3g}" for name, value in at.items()) + "."
    )


def noise_needed(figure, batch, epochs) -> str:
    """The noise multiplier that each accountant asks for, against the epsilon to be kept; and over the exact one."""
    wanted, noises = np.geomspace(0.5, 8, 40), TABLE["noise_multiplier"]
    noise = {name: needed(name, batch, epochs, wanted) for name in ACCOUNTANTS}
    left, right = panels(figure, 2)
    for name, values in noise.items():
        left.plot(np.log(wanted), values, **LOOKS[name], label=ACCOUNTANTS[name])
        right.plot(np.log(wanted), values / noise["exact"], **LOOKS[name])
    for panel in (left, right):
        logarithmic(panel, 0.5, 1, 2, 4, 8)
        panel.set_xlabel("ε to be kept, at δ = 1e-5")
    left.set_ylim(noises[0], max(np.nanmax(values) for values in noise.values()) * 1.05)
    left.set_ylabel("σ, noise multiplier")
    left.set_title(f"{epochs} epoch{'s' * (epochs > 1)}, batches of {batch:,}")
    left.legend(loc="upper right", borderaxespad=0)
    right.set_title("as a multiple of the exact one")
    asked = {name: float(needed(name, batch, epochs, 2.0)) for name in ACCOUNTANTS}
    said = {name: f"less than {noises[0]:g}" if math.isnan(value) else f"{value:.2f}" for name, value in asked.items()}
    return (
        f"The noise multiplier needed to keep an epsilon from 0.5 to 8 at delta 1e-5, for {epochs} epoch{'s' * (epochs > 1)} with batches of {batch} among "
        "60,000, and the same as multiples of the exact one. For epsilon 2: "
        + ", ".join(f"{ACCOUNTANTS[name]} {value}" for name, value in said.items())
        + "."
    )


def training(figure, at, accuracies, epsilons, budget) -> str:
    """Accuracy and certified epsilon of a run along its steps.

    at: after which steps; accuracies, epsilons: at these; budget: epsilon that may not be passed, or None.
    """
    left, right = panels(figure, 2)
    left.plot(at, accuracies, **FIRST)
    left.set_ylim(0, 1)
    left.set_ylabel("accuracy on the test part")
    left.set_title(f"after {at[-1]:,} steps: accuracy {accuracies[-1]:.3f}")
    right.plot([0, *at], [0, *epsilons], **SECOND, label="spent")
    if budget is not None:
        right.axhline(budget, **FOURTH, label="budget")
    right.set_ylim(0, 1.25 * max(epsilons[-1], budget or 0))
    right.set_ylabel("ε, certified")
    at_most = rounding.up(epsilons[-1], 3)
    right.set_title(f"ε at most {at_most}")
    right.legend(loc="upper left", ncols=2)
    for panel in (left, right):
        panel.set_xlim(0, at[-1])
        panel.set_xlabel("steps")
    return (
        f"Left: accuracy on the test part along {at[-1]:,} steps of training; at the end it is {accuracies[-1]:.3f}. Right: the certified "
        f"epsilon spent, at the end {at_most}" + ("." if budget is None else f", and the budget {budget:g}.")
    )


def epsilons(noise_multiplier, batch):
    """epsilon at each number of epochs of the table, by every accountant: a dict of arrays. "exact" is an upper bound.

    ValueError for a setting that is not in the table.
    """
    place = TABLE.place(noise_multiplier=noise_multiplier, batch=batch)
    stored = {"classic": "classic", "improved": "improved", "exact": "upper"}
    return {name: TABLE[key][place] for name, key in stored.items()} | {
        "limit": _limit(noise_multiplier, batch, tuple(TABLE["epochs"].tolist()))
    }


@functools.lru_cache(maxsize=256)
def _limit(noise_multiplier, batch, epochs):
    mus = [clt.noisy_sgd_mu(noise_multiplier, batch / PEOPLE, max(1, round(e * PEOPLE / batch))) for e in epochs]
    return np.array([gdp.epsilon(DELTA, mu) for mu in mus])


def needed(name, batch, epochs, wanted):
    """The noise at which an accountant says each of the epsilons, between the noises of the table; nan outside them."""
    noises = TABLE["noise_multiplier"]
    known = TABLE["epochs"].astype(float)
    said = np.array([np.interp(epochs, known, epsilons(float(noise), batch)[name]) for noise in noises])
    more = np.argsort(said)
    return np.exp(PchipInterpolator(np.log(said[more]), np.log(noises[more]), extrapolate=False)(np.log(wanted)))


def run_settings() -> dict[str, list]:
    """The settings that the pictures of the accountants can show: argument name -> list of values."""
    return TABLE.settings()


def account():
    """Compute the table anew and store it: epsilon by all accountants that take time; about two minutes.

    The tests compute some of it again.
    """
    from dpcourse import pld, rdp

    def values(noise_multiplier, batch, epochs):
        run = noise_multiplier, batch / PEOPLE, max(1, round(epochs * PEOPLE / batch))
        found = {name: rdp.epsilon(*run, DELTA, conversion=name) for name in ("classic", "improved")}
        lower, upper = pld.noisy_sgd(*run).epsilon(DELTA)
        return found | {"lower": lower, "upper": upper}

    TABLE.make(
        values,
        noise_multiplier=[
            0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0, 1.06, 1.1, 1.2, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 6, 9, 13,
        ],
        batch=[64, 256, 1024],
        epochs=[1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    )  # fmt: skip


if __name__ == "__main__":  # python -m dpcourse.course.dpsgd.pictures
    account()
