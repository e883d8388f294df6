"""The pictures of lesson 09."""

import functools

import numpy as np
from matplotlib.patches import Rectangle

from dpcourse import matrix
from dpcourse.base.languages import listed, say, to_say
from dpcourse.base.style import DARK, FIRST, FOURTH, LIGHT, PALE, RING, SECOND, THIRD, Look, panels

STEPS, SEED = 64, 45  # of the stream whose noise is shown, and of this noise
FRESH, WHOLE, TREE, ROOT = "fresh", "whole", "tree", "root"
NAMES = {
    FRESH: to_say("fresh noise in each step"),
    WHOLE: to_say("noise on each sum"),
    TREE: to_say("tree"),
    ROOT: to_say("square root"),
}
NOISES = {told: name for name, told in NAMES.items()}
NOISE_NAMES = tuple(NAMES.values())
BANDED = to_say("square root, cut after 4")
ONE_NOISE = (NAMES[FRESH], NAMES[WHOLE], NAMES[ROOT], BANDED)
CHOICES = "NOISE_NAMES", "ONE_NOISE"  # what lessons take from here for their sliders
LOOKS = {FRESH: FIRST, WHOLE: FOURTH, TREE: THIRD, ROOT: SECOND}
BAND: Look = {"color": "#dfe5ec", "linewidth": 0}
LEAVES, MIA = 16, 6  # of the tree that is drawn, and the step in which Mia comes
LAGS = 24
REACH = 25  # of the noise that is drawn, to either side
LABEL: Look = {"facecolor": "white", "edgecolor": "none", "pad": 1}
BOUND: Look = {"color": "black", "linestyle": (0, (1, 1)), "linewidth": 1.2}


@functools.cache
def _way(name, steps):
    """(decoder, strategy) of one of the four ways."""
    sums = matrix.running_sums(steps)
    if name == TREE:
        return matrix.tree(steps)
    if name == WHOLE:
        return np.eye(steps), sums
    strategy = (matrix.identity if name == FRESH else matrix.square_root)(steps).matrix()
    return sums @ np.linalg.inv(strategy), strategy


@functools.cache
def deviations(name, steps):
    """The deviation of the noise on each running sum, at mu = 1 and one participation."""
    steps_to = np.arange(1, steps + 1)
    if name == FRESH:
        return np.sqrt(steps_to)
    if name == WHOLE:
        return np.full(steps, np.sqrt(steps))
    if name == TREE:
        blocks = np.array([int(t).bit_count() for t in steps_to])
        return np.sqrt(steps.bit_length() * blocks)
    root = matrix.square_root(steps).coefficients
    return np.sqrt(np.sum(root**2) * np.cumsum(root**2))


@functools.cache
def _noise(name):
    """The noise of each running sum, at mu = 1: made of the same random numbers, whatever the way."""
    decoder, strategy = _way(name, STEPS)
    fresh = np.random.default_rng(SEED).normal(size=len(strategy))
    return np.linalg.norm(strategy, axis=0).max() * decoder @ fresh


# ---- noise, step by step


def noise_so_far(figure, noise, step) -> str:
    """The noise that each step adds, and the noise of the running sums up to a step, with its deviation.

    noise: one of NOISE_NAMES; step: from 1 to 64.
    """
    name = NOISES[noise]
    of_sums, deviation = _noise(name), deviations(name, STEPS)
    of_steps = np.diff(of_sums, prepend=0.0)
    so_far = np.arange(1, step + 1)
    left, right = panels(figure, 2)
    left.bar(so_far, of_steps[:step], width=0.8, **DARK)
    left.axhline(0, color="black", linewidth=0.8)
    left.set_title(say("what each step adds"))
    right.fill_between(np.arange(1, STEPS + 1), -deviation, deviation, **BAND)
    right.plot(so_far, of_sums[:step], **FIRST)
    right.plot(so_far[-1:], of_sums[step - 1 : step], **RING, markersize=7)
    right.set_title(say("noise of the sum of {step} steps: {noise:.1f}", step=step, noise=_zero(of_sums[step - 1])))
    for panel in (left, right):
        panel.set_xlim(0, STEPS + 1)
        panel.set_xticks(range(0, STEPS + 1, 16))
        panel.set_ylim(-REACH, REACH)
        panel.set_xlabel(say("step"))
    return say(
        "{way}, at mu 1. Left, the noise that each of the first {step} steps adds; right, the noise of their running sums. In step {step} "
        "it is {noise:.1f}, and its deviation there is {deviation:.1f}.",
        way=say(noise),
        step=step,
        noise=_zero(of_sums[step - 1]),
        deviation=deviation[step - 1],
    )


def _zero(value):
    """A number that is not written as -0.0."""
    return float(value) if abs(value) >= 0.05 else 0.0


# ---- the tree


def tree_blocks(figure, step) -> str:
    """The blocks of a tree over 16 steps: which are complete after `step`, which make the running sum, which hold Mia."""
    (panel,) = panels(figure)
    figure.subplots_adjust(left=0.11, right=0.985, bottom=0.2)
    used = set(_blocks(step))
    layers = LEAVES.bit_length()
    for layer in range(layers):
        length = 2**layer
        for first in range(1, LEAVES + 1, length):
            last = first + length - 1
            look: Look = {"facecolor": "white", "edgecolor": "#9a9a9a", "linewidth": 0.8}
            if last <= step:
                look |= {"facecolor": PALE}
            if (first, last) in used:
                look |= LIGHT
            panel.add_patch(Rectangle((first - 0.46, layer + 0.1), length - 0.08, 0.8, **look))
            if first <= MIA <= last:
                panel.text(first - 0.3, layer + 0.5, "Mia", va="center", fontsize=8, bbox=LABEL)
    panel.set_xlim(0.4, LEAVES + 0.6)
    panel.set_ylim(0, layers)
    panel.set_xticks(range(1, LEAVES + 1))
    panel.set_yticks(np.arange(layers) + 0.5, [str(2**layer) for layer in range(layers)])
    panel.set_xlabel(say("step"))
    panel.set_ylabel(say("steps in a block"))
    told = listed(f"{first}-{last}" if first < last else str(first) for first, last in _blocks(step))
    panel.set_title(say("after step {step}: the running sum adds the blocks {blocks}", step=step, blocks=told))
    return say(
        "A tree over 16 steps, in five layers of blocks of 1, 2, 4, 8 and 16 steps. After step {step} the running sum adds the blocks {blocks}, "
        "which are hatched. Mia comes in step 6 and is in one block of each layer.",
        step=step,
        blocks=told,
    )


def _blocks(step):
    """(first, last) of the blocks that make the running sum, from the left."""
    found, last = [], step
    while last:
        first = last - (last & -last)
        found.append((first + 1, last))
        last = first
    return found[::-1]


# ---- what becomes of one noise


def one_noise(figure, noise, lag) -> str:
    """What one fresh noise of size 1 adds in its own step and in the steps after it, and what of it is left in the sum.

    noise: one of ONE_NOISE; lag: steps since it was drawn, from 0.
    """
    added = _added(noise)
    left_over = np.cumsum(added)
    lags = np.arange(lag + 1)
    left, right = panels(figure, 2)
    left.bar(lags, added[: lag + 1], width=0.7, **DARK)
    left.axhline(0, color="black", linewidth=0.8)
    left.set_ylim(-1.1, 1.1)
    left.set_title(say("what it adds, step by step"))
    right.plot(lags, left_over[: lag + 1], **SECOND, drawstyle="steps-mid")
    right.plot(lags[-1:], left_over[lag : lag + 1], **RING, markersize=7)
    right.set_ylim(-0.05, 1.1)
    right.set_title(say("what is left of it in the sum: {left:.2f}", left=abs(left_over[lag])))
    for panel in (left, right):
        panel.set_xlim(-0.8, LAGS + 0.8)
        panel.set_xticks(range(0, LAGS + 1, 4))
        panel.set_xlabel(say("steps since it was drawn"))
    return say(
        "{way}: one fresh noise of size 1. {lag} steps later {added:+.3f} of it is added, and {left:.2f} of it is left in the running sum.",
        way=say(noise),
        lag=lag,
        added=float(added[lag]),
        left=abs(left_over[lag]),
    )


@functools.cache
def _added(noise):
    """The first column of C^-1."""
    root = matrix.square_root(LAGS + 1).coefficients
    strategies = {NAMES[FRESH]: [1.0], NAMES[WHOLE]: np.ones(LAGS + 1), NAMES[ROOT]: root, BANDED: root[:4]}
    strategy = matrix.Filter(LAGS + 1, tuple(strategies[noise]))
    return np.diff(strategy.decoder, prepend=0.0)


# ---- how large the noise is


def noise_of_sums(figure, steps) -> str:
    """The deviation of the noise on each running sum by the four ways, and the least that the root mean square can be."""
    at = np.arange(1, steps + 1)
    by_way = {name: deviations(name, steps) for name in LOOKS}
    shown = np.unique(np.linspace(0, steps - 1, 400).astype(int))
    (panel,) = panels(figure)
    figure.subplots_adjust(left=0.08, right=0.64)
    errors = {name: float(np.sqrt(np.mean(values**2))) for name, values in by_way.items()}
    for name, values in by_way.items():
        look = LOOKS[name] | ({"linewidth": 0.9} if name == TREE else {})
        label = say("{way}: {error:.2f}", way=say(NAMES[name]), error=errors[name])
        panel.plot(at[shown], values[shown], **look, label=label)
    bound = matrix.error_at_least(steps)
    panel.axhline(bound, **BOUND, label=say("no way below {bound:.2f}", bound=bound))
    panel.set_xlim(1, steps)
    panel.set_ylim(0, 1.1 * max(float(values.max()) for values in by_way.values()))
    panel.set_xlabel(say("step"))
    panel.set_ylabel(say("deviation"))
    panel.set_title(say("{steps:,} steps, at μ = 1; beside each way its root mean square", steps=steps))
    panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return say(
        "The deviation of the noise on each of {steps} running sums at mu 1. The root mean squares: {errors}. No way is below {bound:.2f}.",
        steps=steps,
        errors=listed(say("{way} {error:.2f}", way=say(NAMES[name]), error=error) for name, error in errors.items()),
        bound=bound,
    )
