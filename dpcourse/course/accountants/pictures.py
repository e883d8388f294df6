"""The pictures of lesson 06."""

import functools
import math
from pathlib import Path

import numpy as np
from scipy.interpolate import PchipInterpolator

from dpcourse import clt, gdp
from dpcourse.base import rounding
from dpcourse.base.languages import counted, listed, say, sentences, to_say
from dpcourse.base.packaged import Table
from dpcourse.base.style import (
    FIRST,
    FOURTH,
    GREY,
    RING,
    SECOND,
    THIRD,
    logarithmic,
    panels,
)

TABLE = Table(Path(__file__).with_name("accountants.npz"), ("noise_multiplier", "batch", "epochs"))
CHOICES = ("run_settings",)  # what lessons take from here for their sliders
PEOPLE, DELTA = 60_000, 1e-5  # of the runs in the table
ACCOUNTANTS = {
    "classic": to_say("moments accountant"),
    "improved": to_say("Rényi, improved"),
    "exact": to_say("exact"),
    "limit": to_say("limit"),
}
LOOKS = {"classic": FOURTH, "improved": THIRD, "exact": FIRST, "limit": SECOND}


# ---- accountants


def accountants(figure, noise_multiplier, batch, epochs) -> str:
    """epsilon of a run of noisy SGD on 60,000 people along its epochs, by four accountants."""
    known = np.asarray(TABLE["epochs"], dtype=float)
    curves = epsilons(noise_multiplier, batch)
    at = {name: float(np.interp(epochs, known, curve)) for name, curve in curves.items()}
    (panel,) = panels(figure)
    for name, curve in curves.items():
        panel.plot(
            known,
            curve,
            **LOOKS[name],
            label=say("{accountant}: {epsilon:.3g}", accountant=say(ACCOUNTANTS[name]), epsilon=at[name]),
        )
    panel.plot([epochs] * 4, list(at.values()), **RING, markersize=6)
    top = max(curve.max() for curve in curves.values())
    panel.set_xlim(0, 102)
    panel.set_ylim(0, 1.05 * top)
    panel.set_xlabel(say("epochs"))
    panel.set_ylabel(say("ε at δ = 10⁻⁵"))
    panel.set_title(
        say(
            "σ = {noise_multiplier:g}, batches of {batch:,} among 60,000",
            noise_multiplier=noise_multiplier,
            batch=batch,
        )
    )
    panel.legend(title=say("ε after epoch {epochs}", epochs=epochs), loc="lower right", alignment="left")
    return say(
        "Epsilon at delta 1e-5 against epochs, for noise multiplier {noise_multiplier:g} and batches of {batch} among 60,000. "
        "After epoch {epochs}: {found}.",
        noise_multiplier=noise_multiplier,
        batch=batch,
        epochs=epochs,
        found=_by_each({name: f"{value:.3g}" for name, value in at.items()}),
    )


def _by_each(found):
    """What each accountant found, in words; found: its name -> a text."""
    each = (say("{accountant} {found}", accountant=say(ACCOUNTANTS[name]), found=it) for name, it in found.items())
    return listed(each, "{first}, {then}")


def noise_needed(figure, batch, epochs) -> str:
    """The noise multiplier that each accountant asks for, against the epsilon to be kept; and over the exact one."""
    wanted, noises = np.geomspace(0.5, 8, 40), TABLE["noise_multiplier"]
    noise = {name: needed(name, batch, epochs, wanted) for name in ACCOUNTANTS}
    left, right = panels(figure, 2)
    for name, values in noise.items():
        left.plot(np.log(wanted), values, **LOOKS[name], label=say(ACCOUNTANTS[name]))
        right.plot(np.log(wanted), values / noise["exact"], **LOOKS[name])
    for panel in (left, right):
        logarithmic(panel, 0.5, 1, 2, 4, 8)
        panel.set_xlabel(say("ε to be kept, at δ = 10⁻⁵"))
    lowest = np.nanmin([np.nanmin(values / noise["exact"]) for values in noise.values()])
    right.axhspan(lowest - 0.02, 1, color=GREY, linewidth=0, zorder=0, label=say("promise broken"))
    right.set_ylim(bottom=lowest - 0.02)
    right.legend(loc="upper right", borderaxespad=0)
    left.set_ylim(noises[0], max(np.nanmax(values) for values in noise.values()) * 1.05)
    left.set_ylabel(say("σ, noise multiplier"))
    left.set_title(
        counted(
            "{count} epoch, batches of {batch:,}", "{count} epochs, batches of {batch:,}", count=epochs, batch=batch
        )
    )
    left.legend(loc="upper right", borderaxespad=0)
    right.set_title(say("as a multiple of the exact one"))
    asked = {name: float(needed(name, batch, epochs, 2.0)) for name in ACCOUNTANTS}
    found = {
        name: say("less than {noise:g}", noise=noises[0]) if math.isnan(value) else f"{value:.2f}"
        for name, value in asked.items()
    }
    return sentences(
        [
            counted(
                "The noise multiplier needed to keep an epsilon from 0.5 to 8 at delta 1e-5, for {count} epoch with batches of "
                "{batch} among 60,000, and the same as multiples of the exact one; below 1, in grey, the promise is broken.",
                "The noise multiplier needed to keep an epsilon from 0.5 to 8 at delta 1e-5, for {count} epochs with batches of "
                "{batch} among 60,000, and the same as multiples of the exact one; below 1, in grey, the promise is broken.",
                count=epochs,
                batch=batch,
            ),
            say("For epsilon 2: {found}.", found=_by_each(found)),
        ]
    )


def training(figure, at, accuracies, epsilons, budget) -> str:
    """Accuracy and certified epsilon of a run along its steps.

    at: after which steps; accuracies, epsilons: at these; budget: epsilon that may not be passed, or None.
    """
    left, right = panels(figure, 2)
    left.plot(at, accuracies, **FIRST)
    left.set_ylim(0, 1)
    left.set_ylabel(say("accuracy on the test part"))
    left.set_title(say("after {steps:,} steps: accuracy {accuracy:.3f}", steps=at[-1], accuracy=accuracies[-1]))
    right.plot([0, *at], [0, *epsilons], **SECOND, label=say("spent"))
    if budget is not None:
        right.axhline(budget, **FOURTH, label=say("budget"))
    right.set_ylim(0, 1.25 * max(epsilons[-1], budget or 0))
    right.set_ylabel(say("ε, certified"))
    at_most = rounding.up(epsilons[-1], 3)
    right.set_title(say("ε at most {at_most}", at_most=at_most))
    right.legend(loc="upper left", ncols=2)
    for panel in (left, right):
        panel.set_xlim(0, at[-1])
        panel.set_xlabel(say("steps"))
    return sentences(
        [
            say(
                "Left: accuracy on the test part along {steps:,} steps of training; at the end it is {accuracy:.3f}.",
                steps=at[-1],
                accuracy=accuracies[-1],
            ),
            say("Right: the certified epsilon spent, at the end {at_most}.", at_most=at_most)
            if budget is None
            else say(
                "Right: the certified epsilon spent, at the end {at_most}, and the budget {budget:g}.",
                at_most=at_most,
                budget=budget,
            ),
        ]
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
    say = np.array([np.interp(epochs, known, epsilons(float(noise), batch)[name]) for noise in noises])
    more = np.argsort(say)
    return np.exp(PchipInterpolator(np.log(say[more]), np.log(noises[more]), extrapolate=False)(np.log(wanted)))


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


if __name__ == "__main__":  # python -m dpcourse.course.accountants.pictures
    account()
