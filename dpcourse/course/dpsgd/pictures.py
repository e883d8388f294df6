"""The pictures of lesson 05."""

import functools
import math

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle
from scipy.special import ndtr

from dpcourse import audit
from dpcourse.base import validate
from dpcourse.base.languages import say
from dpcourse.base.style import (
    FALSE_ALARMS,
    FIRST,
    FOURTH,
    HALVES,
    MISSES,
    PALE,
    RING,
    SECOND,
    THIRD,
    Look,
    levels,
    logarithmic,
    panels,
    unit_square,
)
from dpcourse.tradeoff import gaussian

GRID = levels()
BELOW = {"color": PALE, "linestyle": (0, (6, 0.5)), "linewidth": 7, "dash_capstyle": "round"}
"""A band that other lines lie on: the round ends of its dashes close its gaps."""

KEPT, LENGTH, CUT_OFF = ({**look, "linewidth": 1.3} for look in (FIRST, SECOND, FOURTH))  # of a gradient

STEPS, RATE, CLIP_NORM, SEED = 60, 0.1, 2.0, 0  # of the run in which Mia is beside the noise
PEOPLE, WEIGHTS = 1500, 650
HERS: Look = {"color": SECOND["color"], "linewidth": 3.5}
READ: Look = {**RING, "markersize": 4}


# ---- clipping


def clipping(figure, clip_norm, noise_multiplier=1.0) -> str:
    """Gradients of 24 people in the plane, clipped; and what clipping and noise do to their mean, for every clip norm."""
    clip_norm = validate.number("clip_norm", clip_norm, 0, open_low=True)
    gradients = people()
    kept = audit.clipped(gradients, clip_norm)
    left, right = panels(figure, 2)
    left.add_collection(LineCollection(list(np.stack([kept, gradients], axis=1)), **CUT_OFF))
    left.add_collection(LineCollection(list(np.stack([0 * kept, kept], axis=1)), **KEPT))
    left.plot(*gradients.T, "o", color="#6f6f6f", markersize=3)
    left.add_patch(Circle((0, 0), clip_norm, fill=False, **LENGTH))
    for look, label in ((CUT_OFF, say("cut off")), (KEPT, say("kept")), (LENGTH, say("length R"))):
        left.plot([], [], **look, label=label)
    left.legend(loc="lower right")
    left.set_aspect("equal")
    left.set_xlim(-2.4, 5.4)
    left.set_ylim(-2.8, 3.5)
    left.set_xlabel(say("first weight"))
    left.set_ylabel(say("second weight"))
    longer = np.linalg.norm(gradients - kept, axis=1) > 0
    left.set_title(
        say(
            "R = {clip_norm:.2g}: {longer} of {all} gradients clipped",
            clip_norm=clip_norm,
            longer=longer.sum(),
            all=len(gradients),
        )
    )
    norms = np.geomspace(0.1, 8, 60)
    lost, noise = np.array([_errors(r, noise_multiplier) for r in norms.tolist()]).T
    right.plot(np.log(norms), lost, **SECOND, label=say("lost by clipping"))
    right.plot(np.log(norms), noise, **THIRD, label=say("added as noise"))
    right.plot(np.log(norms), np.hypot(lost, noise), **FIRST, label=say("both"))
    lost_now, noise_now = _errors(clip_norm, noise_multiplier)
    right.plot(
        [math.log(clip_norm)],
        [math.hypot(lost_now, noise_now)],
        **RING,
        markersize=6,
        clip_on=False,
        label=f"R = {clip_norm:.2g}",
    )
    logarithmic(right, 0.1, 0.3, 1, 3, 8)
    right.set_ylim(0, 2.1)
    right.set_xlabel(say("R, clip norm"))
    right.set_ylabel(say("both = √(lost² + added²)"))
    right.set_title(say("error of the mean gradient"))
    right.legend(loc="upper center", ncols=1)
    return say(
        "Left: the gradients of {all} people as arrows in the plane, with a circle of radius {clip_norm:.2g}; {longer} of "
        "them are longer and are cut at the circle, what lies beyond it is grey and dotted. Right: how far the clipped "
        "mean is from the mean, how large the noise of multiplier {noise_multiplier:.2g} is, and the root of the sum of "
        "their squares, for every clip norm. An open circle marks the radius of the left side. Here they are {lost:.2f} "
        "and {noise:.2f}.",
        all=len(gradients),
        clip_norm=clip_norm,
        longer=longer.sum(),
        noise_multiplier=noise_multiplier,
        lost=lost_now,
        noise=noise_now,
    )


@functools.cache
def people():
    """24 gradients in the plane: most point the same way, and a few are very long."""
    rng = np.random.default_rng(4)
    lengths = np.minimum(rng.lognormal(0.12, 0.75, size=24), 5)  # no length is near 2, the R shown first
    angles = rng.normal(0.1, 0.9, size=24)
    return lengths[:, None] * np.c_[np.cos(angles), np.sin(angles)]


@functools.lru_cache(maxsize=10_000)
def _errors(clip_norm, noise_multiplier):
    """How far the mean of the clipped gradients is from the mean; the root mean square length of the noise on it."""
    gradients = people()
    lost = np.linalg.norm((audit.clipped(gradients, clip_norm) - gradients).mean(axis=0))
    return float(lost), noise_multiplier * clip_norm * math.sqrt(2) / len(gradients)


# ---- Mia's gradient beside the noise


def beside_the_noise(figure, noise_multiplier, step) -> str:
    """One step of NoisySGD on the digits, seen along Mia's gradient; and what was read there so far.

    noise_multiplier: above 0; step: from 1 to 60.
    """
    sigma = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    drawn, hers, along, whole = (of[:step] for of in _trained_on_mia(sigma))
    added = np.where(drawn, hers, 0.0)  # by Mia to the sum
    read = added + along
    odds = _two_digits(_odds(read, hers, sigma))
    left, right = panels(figure, 2)
    bars = (
        (say("noise, all {weights} directions", weights=WEIGHTS), whole[-1], THIRD),
        (say("noise along Mia's gradient"), along[-1], THIRD),
        (say("Mia's gradient") if drawn[-1] else say("Mia's gradient: not drawn"), added[-1], SECOND),
        (say("read: these two together"), read[-1], {"color": "black"}),
    )
    room = sigma * math.sqrt(WEIGHTS)
    for row, (label, length, look) in enumerate(bars):
        left.barh(-row, length, height=0.34, color=look["color"])
        left.text(0, 0.26 - row, label, va="bottom")
        left.text(max(length, 0) + 0.02 * room, -row, f"{length:.2f}", va="center")
    left.axvline(0, color="black", linewidth=0.8)
    left.set_xlim(-0.16 * room, 1.3 * room)
    left.set_ylim(0.35 - len(bars), 0.75)
    left.set_yticks([])
    left.spines["left"].set_visible(False)
    left.set_xlabel(say("length, in R"))
    left.set_title(say("step {step}", step=step))
    right.axhline(0, color="black", linewidth=0.8)
    steps = np.arange(1, step + 1)
    right.vlines(steps[drawn], 0, hers[drawn], **HERS)
    right.plot([], [], **HERS, label=say("Mia's gradient, where drawn"))
    right.plot(steps, read, **READ, label=say("what is read"))
    right.set_xlim(0, STEPS + 1)
    right.set_ylim(-3.5 * sigma, 5 * sigma + 1)
    right.set_xlabel(say("step"))
    right.set_ylabel(say("along Mia's gradient, in R"))
    right.legend(loc="upper right")
    right.set_title(say("odds that her row is filled: {odds} : 1", odds=odds))
    return say(
        "Left, step {step}: the noise is {whole:.1f} R long and Mia's gradient adds {added:.2f} R to the sum. Along the direction "
        "of her gradient the noise is {along:.2f} R, and both together {read:.2f} R. Right, what was read in that direction up to this "
        "step, with bars as long as her gradient where she was drawn, which was {times} times. The odds that her row is filled are {odds} to 1.",
        step=step,
        whole=whole[-1],
        added=added[-1],
        along=along[-1],
        read=read[-1],
        times=drawn.sum(),
        odds=odds,
    )


def _two_digits(value):
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def _odds(read, hers, sigma):
    """The odds, filled to empty, that a tester has who began with 1 to 1 and knows how long Mia's gradient is in each step."""
    ratios = 1 - RATE + RATE * np.exp((read - hers / 2) * hers / sigma**2)
    return float(np.prod(ratios))


@functools.cache
def _trained_on_mia(noise_multiplier):
    """For each step: is Mia drawn, the length of her clipped gradient, the noise along it and its whole length; lengths in R."""
    from sklearn.datasets import load_digits  # takes a second, and no other lesson's pictures need it

    digits = load_digits()
    inputs, targets = np.c_[digits.data / 16, np.ones(len(digits.data))][:PEOPLE], digits.target[:PEOPLE]
    rng, weights, told = np.random.default_rng(SEED), np.zeros(WEIGHTS), []
    for _ in range(STEPS):
        drawn, fresh = rng.random(PEOPLE) < RATE, rng.normal(size=WEIGHTS)
        noise = noise_multiplier * fresh
        asked = np.unique(np.r_[0, np.flatnonzero(drawn)])  # Mia, the first, is looked at in every step
        kept = audit.clipped(_softmax_gradients(weights, inputs[asked], targets[asked]), CLIP_NORM) / CLIP_NORM
        length = np.linalg.norm(kept[0])
        told.append((drawn[0], length, noise @ kept[0] / length, np.linalg.norm(noise)))
        weights = weights - CLIP_NORM * (kept[drawn[asked]].sum(axis=0) + noise) / (RATE * PEOPLE)
    return [np.array(of) for of in zip(*told, strict=True)]


def _softmax_gradients(weights, inputs, targets):
    """One row for each person: the gradient of the loss of softmax regression, as the lesson computes it."""
    scores = inputs @ weights.reshape(inputs.shape[1], -1)
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    error = chances / chances.sum(axis=1, keepdims=True) - np.eye(scores.shape[1])[targets]
    return (inputs[:, :, None] * error[:, None, :]).reshape(len(inputs), -1)


# ---- sampling


def sampled(figure, p, noise_multiplier) -> str:
    """G, Id and their mixture f_p."""
    g = gaussian(1 / validate.number("noise_multiplier", noise_multiplier, 0, open_low=True))
    one_way = g.mixed(p)
    (panel,) = panels(figure)
    panel.plot(GRID, 1 - GRID, **FOURTH, label=say("Id: not drawn"))
    panel.plot(GRID, g(GRID), **THIRD, label=say("G: drawn"))
    panel.plot(GRID, one_way(GRID), **FIRST, label="fₚ = p G + (1 − p) Id")
    panel.set_title(say("p = {p:.2g}, σ = {sigma:.2g}: one direction", p=p, sigma=noise_multiplier))
    unit_square(panel, ticks=HALVES, alpha=FALSE_ALARMS, beta=MISSES)
    panel.legend(loc="upper right", borderaxespad=0)
    return say(
        "Trade-off curves of noise with multiplier {noise_multiplier:.2g}, of nothing, and their mixture with p {p:.2g}; "
        "at alpha 0.1 they are {drawn:.2f}, 0.90 and {mixture:.2f}.",
        noise_multiplier=noise_multiplier,
        p=p,
        drawn=g(0.1),
        mixture=one_way(0.1),
    )


def both_directions(figure, p, noise_multiplier) -> str:
    """f_p, its inverse, the convex curve below both, and where it leaves the one and meets the other."""
    mu = 1 / validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    one_way, both = gaussian(mu).mixed(p), gaussian(mu).subsampled(p)
    (panel,) = panels(figure)
    panel.plot(GRID, both(GRID), **BELOW, label=say("both directions: the hull"))
    panel.plot(GRID, one_way(GRID), **FIRST, label=say("fₚ: without against with Mia"))
    panel.plot(one_way(GRID), GRID, **SECOND, label=say("its inverse: with against without"))
    touches = float(ndtr(-mu / 2))  # where G, and so f_p, has the slope -1
    ends = sorted([touches, float(one_way(touches))])
    panel.plot(ends, ends[::-1], **RING, markersize=7, label=say("straight between these"))
    panel.plot([0, 1], [0, 1], **FOURTH, label=say("mirror"))
    panel.set_title(say("p = {p:.2g}, σ = {sigma:.2g}: both directions", p=p, sigma=noise_multiplier))
    unit_square(panel, ticks=HALVES, alpha=FALSE_ALARMS, beta=MISSES)
    panel.set_ylim(0, 1)
    panel.set_aspect("equal", anchor="W")
    panel.legend(loc="upper left", bbox_to_anchor=(1.05, 1))
    return say(
        "The mixture with p {p:.2g} for noise with multiplier {noise_multiplier:.2g}, its mirror image in the dotted "
        "diagonal, and as a broad pale band the convex curve below both, which is {hull:.2f} at alpha 0.1. It is straight "
        "from alpha {first:.2f} to {last:.2f}, between two open circles, and follows the lower curve elsewhere.",
        p=p,
        noise_multiplier=noise_multiplier,
        hull=both(0.1),
        first=ends[0],
        last=ends[1],
    )
