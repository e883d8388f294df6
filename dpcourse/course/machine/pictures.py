"""The pictures of lesson 08."""

import math

import numpy as np

from dpcourse import gdp, machine
from dpcourse.base import validate
from dpcourse.base.languages import say, to_say
from dpcourse.base.style import FIRST, FOURTH, PALE, POINT, RING, SECOND, THIRD, panels

MIDDLE = 0.3  # of what `zoomed` shows
MOST = 160  # strokes in a row of it: more are one block
SHOWN = 8  # whole numbers to either side of 0


def zoomed(figure, halvings) -> str:
    """The outputs that Laplace noise of doubles can give near 0.3, for the counts 0 and 1, in a window that gets smaller."""
    halvings = validate.whole("halvings", round(halvings), 1)
    half = 2.0**-halvings
    (panel,) = panels(figure)
    rows = [_outputs_near(count, half) for count in (0, 1)]
    for row, (outputs, style) in enumerate(zip(rows, (FIRST, SECOND), strict=True)):
        if outputs is None:
            panel.fill_between([-1, 1], 0.15 + row, 0.85 + row, color=style["color"])
            continue
        at = (outputs - MIDDLE) / half
        panel.vlines(at, 0.15 + row, 0.85 + row, color=style["color"], linewidth=1.6, linestyle=style["linestyle"])
    panel.set_yticks([0.5, 1.5], [say("count {count}", count=count) for count in (0, 1)])
    panel.set_ylim(0, 2)
    panel.set_xlim(-1, 1)
    panel.set_xticks([-1, 0, 1])
    panel.set_xlabel(say("output less 0.3, in units of {unit}", unit="2" + _raised(-halvings)))
    if any(outputs is None for outputs in rows):
        panel.set_title(say("halved {halvings} times: more outputs than can be drawn apart", halvings=halvings))
        return say(
            "The outputs near 0.3 that are possible for a count of 0 and of 1, in a window that was halved {halvings} "
            "times. They lie so close that each row is one block.",
            halvings=halvings,
        )
    common = len({*rows[0].tolist()} & {*rows[1].tolist()})
    numbers = {"of_0": len(rows[0]), "of_1": len(rows[1]), "common": common, "halvings": halvings}
    panel.set_title(say("halved {halvings} times: {of_0} outputs of 0, {of_1} of 1, {common} of both", **numbers))
    return say(
        "The outputs near 0.3 that are possible for a count of 0 and of 1, in a window that was halved {halvings} times: "
        "{of_0} strokes in the row of 0, {of_1} in the row of 1, and {common} of them stand in both. Between the strokes of a "
        "row there are gaps.",
        **numbers,
    )


def _outputs_near(count, half):
    """The distinct outputs within `half` of MIDDLE; None where there are too many."""
    noise = MIDDLE - count
    tail = math.exp(-abs(noise)) / 2
    steps = half * tail * 2**53
    if steps > MOST / 2:
        return None
    middle = round((1 - tail if noise >= 0 else tail) * 2**53)
    near = range(middle - math.ceil(steps) - 8, middle + math.ceil(steps) + 9)
    outputs = np.unique([count + machine.textbook_noise(j, 1.0) for j in near])
    return outputs[np.abs(outputs - MIDDLE) <= half]


def _raised(exponent):
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def low_bits(figure, epsilon=1.0, bits=7) -> str:
    """All outputs of the textbook sampler near 0.3 for the counts 0 and 1, with a uniform number of few bits."""
    b = 1 / validate.number("epsilon", epsilon, 0, open_low=True)
    step = 2 ** (53 - validate.whole("bits", bits))
    noises = np.array([machine.textbook_noise(step * j, b) for j in range(1, 2**bits)])
    (panel,) = panels(figure)
    inside = []
    for row, (count, style) in enumerate(((0, FIRST), (1, SECOND))):
        outputs = count + noises
        outputs = outputs[(outputs > 0.1) & (outputs < 0.9)]
        inside.append(set(outputs.tolist()))
        panel.vlines(outputs, 0.15 + row, 0.85 + row, color=style["color"], linewidth=1.6, linestyle=style["linestyle"])
    panel.set_yticks([0.5, 1.5], [say("count {count}", count=count) for count in (0, 1)])
    panel.set_ylim(0, 2)
    panel.set_xlabel(say("output"))
    panel.set_title(say("possible outputs if the uniform number had {bits} bits", bits=bits))
    common = len(inside[0] & inside[1])
    return say(
        "Two rows of strokes between 0.1 and 0.9: the outputs that textbook Laplace noise can give for a true "
        "count of 0, {strokes_of_0} of them, and for a true count of 1, {strokes_of_1} of them. They "
        "stand at different places; {common} are in both rows.",
        strokes_of_0=len(inside[0]),
        strokes_of_1=len(inside[1]),
        common=common,
    )


def rings(figure, pairs, bits, seed=1) -> str:
    """Pairs of a noisy sum: what is left when the right sum is taken off, and when another is; with the rings of the noise."""
    pairs, bits = validate.whole("pairs", round(pairs)), validate.whole("bits", round(bits))
    rng = np.random.default_rng(seed)
    noise = machine.ring_pairs(500, bits, rng)[:pairs].astype(float)
    moved = noise + rng.uniform(0.1, 0.6, (500, 2))[:pairs] * rng.choice([-1, 1], (500, 2))[:pairs]
    figure.set_figheight(4.2)
    turn = np.linspace(0, 2 * math.pi, 121)
    radii = np.sqrt(-2 * np.log(np.arange(1, 2**bits + 1) / 2**bits))
    off = []
    titles = (
        to_say("right sum taken off: k is {off:.2f} from whole"),
        to_say("other sum taken off: k is {off:.2f} from whole"),
    )
    for panel, points, title in zip(panels(figure, 2), (noise, moved), titles, strict=True):
        for radius in radii:
            panel.plot(radius * np.cos(turn), radius * np.sin(turn), color=PALE, linewidth=0.8)
        panel.plot(*points.T, **POINT | {"markersize": 4})
        k = machine.ring_numbers(points, bits)
        off.append(float(np.abs(k - np.round(k)).mean()))
        panel.set_title(say(title, off=off[-1]))
        panel.set_aspect("equal")
        panel.set_xlim(-3, 3)
        panel.set_ylim(-3, 3)
        panel.set_xlabel("x")
        panel.set_ylabel("y")
    return say(
        "Two panels with the same {rings} circles around 0, close together further in. On the left {pairs} points, which lie on the "
        "circles: their numbers k are {right:.2f} from whole ones on average. On the right each point is moved by what another sum "
        "differs by: they lie anywhere, and their k are {wrong:.2f} from whole ones.",
        rings=2**bits,
        pairs=pairs,
        right=off[0],
        wrong=off[1],
    )


def vees(figure, count, releases, seed=1) -> str:
    """Releases by their output and the time they took: those of a count, and those of a count of one more."""
    count, releases = validate.whole("count", count, 0), validate.whole("releases", round(releases))
    rng = np.random.default_rng(seed)
    is_in = rng.integers(0, 2, 200)[:releases]
    noise = (rng.geometric(0.3, 200) - rng.geometric(0.3, 200))[:releases]
    times = np.abs(noise) + rng.uniform(-0.2, 0.2, 200)[:releases]
    (panel,) = panels(figure)
    x = np.arange(count - 12, count + 14)
    panel.plot(x, np.abs(x - count), **FIRST, label=say("size of the noise if the count is {count}", count=count))
    panel.plot(x, np.abs(x - count - 1), **SECOND, label=say("if the count is {count}", count=count + 1))
    for inside, look in ((0, POINT | {"markersize": 5}), (1, RING | {"marker": "s", "markersize": 8})):
        label = say("released with Mia") if inside else say("released without her")
        panel.plot((count + is_in + noise)[is_in == inside], times[is_in == inside], **look, label=label)
    panel.set_xlim(count - 12, count + 13)
    panel.set_ylim(-0.5, 14)
    panel.set_xlabel(say("output"))
    panel.set_ylabel(say("time, in steps"))
    panel.legend(loc="upper center", ncols=2)
    return say(
        "{releases} releases by output and time. Two lines in the shape of a V say how long an output takes if the count is {count}, "
        "and if it is one more. Each release lies close to one of the two: those without Mia to the first, {within} with her to the "
        "second.",
        releases=releases,
        count=count,
        within=int(is_in.sum()),
    )


def whole_gauss(figure, variance, epsilon) -> str:
    """Discrete Gaussian noise on the counts 0 and 1; and its delta beside that of Gaussian noise of real numbers."""
    variance, epsilon = validate.number("variance", variance, 0.05, 100), validate.number("epsilon", epsilon, 0, 10)
    left, right = panels(figure, 2)
    n = np.arange(-SHOWN, SHOWN + 2)
    heights = [machine.discrete_gaussian_chances(n - count, variance) for count in (0, 1)]
    for aside, height, (count, colour, hatch) in zip(
        (-0.2, 0.2), heights, ((0, PALE, ""), (1, SECOND["color"], "///")), strict=True
    ):
        face = colour if not hatch else "none"
        label = say("count {count}", count=count)
        left.bar(n + aside, height, 0.4, facecolor=face, edgecolor=colour, hatch=hatch, label=label)
    left.set_xlabel(say("output"))
    left.set_ylabel(say("probability"))
    left.set_ylim(0, 1.25 * max(map(np.max, heights)))
    left.legend(loc="upper left", ncols=2)
    left.set_title(say("σ² = {variance:.3g}", variance=variance))
    axis = np.linspace(0, 6, 121)
    mu = 1 / math.sqrt(variance)
    whole = np.array([machine.discrete_gaussian_delta(e, variance) for e in axis])
    real = np.array([gdp.delta(e, mu=mu) for e in axis])
    right.semilogy(axis, np.maximum(whole, 1e-12), **FIRST, label=say("whole numbers"))
    right.semilogy(axis, np.maximum(real, 1e-12), **THIRD, label=say("real numbers"))
    there = machine.discrete_gaussian_delta(epsilon, variance), float(gdp.delta(epsilon, mu=mu))
    right.axvline(epsilon, **FOURTH)
    right.set_ylim(1e-8, 2)
    right.set_xlabel("ε")
    right.set_ylabel("δ")
    right.legend(loc="upper right")
    right.set_title(
        say("at ε = {epsilon:.2g}: δ {whole:.2g} and {real:.2g}", epsilon=epsilon, whole=there[0], real=there[1])
    )
    return say(
        "On the left the probabilities of the outputs from {low} to {high} with discrete Gaussian noise of variance {variance:.3g}, "
        "for a count of 0 and for a count of 1. On the right delta against epsilon, for this noise and for Gaussian noise of real "
        "numbers. At epsilon {epsilon:.2g} it is {whole:.2g} and {real:.2g}.",
        low=-SHOWN,
        high=SHOWN + 1,
        variance=variance,
        epsilon=epsilon,
        whole=there[0],
        real=there[1],
    )
