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
    Look,
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
BASIC: Look = {"color": "#6f6f6f", "linestyle": (0, (6, 2, 1, 2, 1, 2)), "linewidth": 1.5}
RUNS = Table(Path(__file__).with_name("training.npz"), ("epoch",))  # three trainings of section 4
EPOCHS, BUDGET = 30, 3
RUN_NAMES = {
    "without": to_say("without her"),
    "with_mia": to_say("with Mia"),
    "other_noise": to_say("with Mia, other noise"),
}
RUN_LOOKS = {"without": FIRST, "with_mia": SECOND, "other_noise": FOURTH}
TAKEN: Look = {"facecolor": "#e3efe9", "edgecolor": "#2f7f60", "hatch": "..."}


# ---- accountants


def accountants(figure, noise_multiplier, batch, epochs) -> str:
    """epsilon so far of a run of noisy SGD on 60,000 people, by basic composition and four accountants that race."""
    known = np.asarray(TABLE["epochs"], dtype=float)
    curves = epsilons(noise_multiplier, batch)
    top = 1.05 * max(curve.max() for curve in curves.values())
    so_far = np.r_[known[known < epochs], epochs]
    ends = {}
    (panel,) = panels(figure)
    for name, curve in curves.items():
        values = np.interp(so_far, known, curve)
        panel.plot(so_far, values, **LOOKS[name], label=say(ACCOUNTANTS[name]))
        ends[name] = float(values[-1])
    panel.plot([epochs] * 4, list(ends.values()), **RING, markersize=6)
    texts = {name: _three(value) for name, value in ends.items()}
    for name, height in _spread(ends, 0.075 * top, 0.97 * top).items():
        text = say("{accountant}: {epsilon}", accountant=say(ACCOUNTANTS[name]), epsilon=texts[name])
        panel.plot([epochs + 0.8, epochs + 2.5], [ends[name], height], color=LOOKS[name]["color"], linewidth=1)
        panel.text(epochs + 3, height, text, color=LOOKS[name]["color"], va="center", fontsize=9)
    by_basic = _draw_basic(panel, noise_multiplier, batch, epochs, top)
    panel.set_xlim(0, 142)
    panel.set_xticks(range(0, 101, 20))
    panel.spines["bottom"].set_bounds(0, 100)
    panel.set_ylim(0, top)
    panel.set_xlabel(say("epochs"))
    panel.xaxis.set_label_coords(50 / 142, -0.1)
    panel.set_ylabel(say("ε at δ = 10⁻⁵"))
    panel.set_title(
        counted(
            "σ = {noise_multiplier:g}, batches of {batch:,} among 60,000: ε after {count} epoch",
            "σ = {noise_multiplier:g}, batches of {batch:,} among 60,000: ε after {count} epochs",
            noise_multiplier=noise_multiplier,
            batch=batch,
            count=epochs,
        )
    )
    return say(
        "Epsilon at delta 1e-5 against epochs, for noise multiplier {noise_multiplier:g} and batches of {batch} among 60,000. "
        "After epoch {epochs}: {found}; basic composition {basic}.",
        noise_multiplier=noise_multiplier,
        batch=batch,
        epochs=epochs,
        found=_by_each(texts),
        basic=by_basic,
    )


def _draw_basic(panel, noise_multiplier, batch, epochs, top):
    """What basic composition says, which soon leaves the panel; its epsilon at the end, as text."""
    until, values = _basic_curve(noise_multiplier, batch)
    inside = until < epochs
    end = basic(noise_multiplier, batch, epochs)
    until, values = np.r_[until[inside], epochs], np.r_[values[inside], end]
    panel.plot(until, values, **BASIC, label=say("basic composition"))
    epsilon = _three(end) if end < 100 else f"{end:,.0f}"
    high = end > 0.85 * top
    panel.text(
        float(np.interp(min(end, top), values, until)) + (2 if high else 3),
        0.985 * top if high else end,
        say("basic composition: {epsilon}, off the top", epsilon=epsilon)
        if end > top
        else say("basic composition: {epsilon}", epsilon=epsilon),
        color=BASIC["color"],
        va="top" if high else "center",
        fontsize=9,
    )
    return epsilon


def basic(noise_multiplier, batch, epochs):
    """epsilon by basic composition: an equal share of delta for each step, and T times the exact epsilon of one."""
    rate, steps = batch / PEOPLE, max(1, round(epochs * PEOPLE / batch))
    if_drawn = DELTA / steps / rate  # the delta of one step, given that Mia is drawn
    if if_drawn >= 1:
        return 0.0
    return steps * math.log1p(rate * math.expm1(gdp.epsilon(if_drawn, 1 / noise_multiplier)))


@functools.lru_cache(maxsize=256)
def _basic_curve(noise_multiplier, batch):
    until = np.geomspace(batch / PEOPLE, 100, 40)
    return until, np.array([basic(noise_multiplier, batch, epochs) for epochs in until])


def _spread(ends, gap, top):
    """Heights for labels beside these values: at least a gap apart, in their order, and none above the top."""
    names = sorted(ends, key=ends.__getitem__)
    heights = [ends[name] for name in names]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + gap)
    heights[-1] = min(heights[-1], top)
    for i in reversed(range(len(heights) - 1)):
        heights[i] = min(heights[i], heights[i + 1] - gap)
    return dict(zip(names, heights, strict=True))


def _three(value):
    """A number to three digits, zeros at the end too: 1.70."""
    return f"{value:#.3g}".rstrip(".")


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


# ---- a training, with Mia and without her


def training(figure, epoch) -> str:
    """Two runs with the same coins and noise, with Mia's row and with it emptied; and the budget, as a battery."""
    so_far = slice(epoch + 1)
    accuracy = {name: RUNS[name][so_far] for name in RUN_LOOKS}
    grid = figure.add_gridspec(2, 2, left=0.08, wspace=0.46, height_ratios=(1, 0.75), hspace=0.85)
    left, above, below = (figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
    for name, values in accuracy.items():
        left.plot(RUNS["epoch"][so_far], values, **RUN_LOOKS[name], label=say(RUN_NAMES[name]))
    left.plot([epoch] * 2, [accuracy["with_mia"][-1], accuracy["without"][-1]], **RING, markersize=6)
    left.set_xlim(0, RUNS["epoch"][-1] + 0.5)
    left.set_ylim(0, 1)
    left.set_xlabel(say("epochs"))
    left.set_ylabel(say("accuracy on the test part"))
    left.legend(loc="lower right")
    apart = {name: float(RUNS[f"apart_{name}"][epoch]) for name in ("without", "other_noise")}
    for place, (name, value) in enumerate(apart.items()):
        above.barh(place, value, height=0.5, color=RUN_LOOKS[name]["color"])
        above.text(value, place, f" {value:.2g}", va="center")
    above.set_xlim(0, 1.15 * RUNS["apart_other_noise"][-1])
    above.set_ylim(1.5, -0.5)
    above.set_yticks(range(2), [say("without her"), say("other noise")])
    above.set_title(say("distance from the weights with Mia"))
    spent = float(RUNS["epsilon"][epoch])
    at_most = rounding.up(spent, 3)
    _draw_battery(below, spent, float(RUNS["epsilon"][max(epoch - 1, 0)]))
    below.set_title(say("battery: ε = {budget:g}, of which {spent} is spent", budget=BUDGET, spent=at_most))
    with_mia, without = (f"{accuracy[name][-1]:.3f}" for name in ("with_mia", "without"))
    left.set_title(
        counted(
            "after {count} epoch: {with_mia}, without her {without}",
            "after {count} epochs: {with_mia}, without her {without}",
            count=epoch,
            with_mia=with_mia,
            without=without,
        )
    )
    return sentences(
        [
            counted(
                "Left: accuracy on the test part along {count} epoch of training.",
                "Left: accuracy on the test part along {count} epochs of training.",
                count=epoch,
            ),
            say("With Mia's row it is {with_mia}, without it {without}.", with_mia=with_mia, without=without),
            say(
                "Right, above: from the weights with Mia those without her are {without:.2g} away, and those with other noise "
                "{other_noise:.2g}.",
                **apart,
            ),
            say(
                "Right, below: a battery of epsilon {budget:g}; at most {spent} is spent.", budget=BUDGET, spent=at_most
            ),
        ]
    )


def _draw_battery(panel, spent, before):
    """What is left of the budget, full, and what the last epoch has taken, hatched."""
    panel.barh(0, BUDGET - spent, height=1, color=THIRD["color"])
    panel.barh(0, spent - before, left=BUDGET - spent, height=1, **TAKEN)
    panel.barh(0, BUDGET, height=1, fill=False, linewidth=2)
    panel.barh(0, 0.07, left=BUDGET + 0.03, height=0.4, color="black")
    panel.set_xlim(-0.03, BUDGET + 0.12)
    panel.set_ylim(-0.6, 0.6)
    panel.set_yticks([])
    panel.set_xticks(range(BUDGET + 1))
    panel.spines[["left", "bottom"]].set_visible(False)
    panel.tick_params(axis="x", length=0)
    panel.set_xlabel(say("ε, left in the battery"))


# ---- what the accountants say


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
