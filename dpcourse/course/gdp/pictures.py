"""The pictures of lesson 03."""

import math

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.special import ndtr, ndtri

from dpcourse import gdp, tradeoff
from dpcourse.base import validate
from dpcourse.base.languages import listed, say, to_say
from dpcourse.base.style import (
    FALSE_ALARMS,
    FIRST,
    FOURTH,
    GREY,
    HALVES,
    LIGHT,
    MISSES,
    POINT,
    RING,
    SECOND,
    THIRD,
    Look,
    levels,
    panels,
    power,
    unit_square,
)

ALARM: Look = {"facecolor": "#c3cfdd", "edgecolor": "#12355b", "hatch": "\\\\\\", "linewidth": 0}
DASHED: Look = {"color": "#41699a", "linestyle": (0, (6, 2)), "linewidth": 3}
MISS: Look = LIGHT | {"linewidth": 0}
BROKEN: Look = {"color": "black", "linewidth": 6, "linestyle": (0, (0.4, 0.4)), "zorder": 4}
AMISS: Look = {"facecolor": GREY, "edgecolor": FOURTH["color"], "hatch": "xx", "linewidth": 0}


def two_errors(figure, mu, threshold) -> str:
    """The densities of N(0, 1) and N(mu, 1) cut at a threshold, and the point of G_mu that this test has."""
    mu, threshold = validate.number("mu", mu, low=0), validate.number("threshold", threshold)
    alpha, beta = float(ndtr(-threshold)), float(ndtr(threshold - mu))
    figure.set_figheight(3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    x = np.linspace(-4, 8, 241)
    out, inside = (np.exp(-((x - mean) ** 2) / 2) / math.sqrt(2 * math.pi) for mean in (0, mu))
    left.fill_between(x, inside, where=x <= threshold, **MISS)
    left.fill_between(x, out, where=x >= threshold, **ALARM)
    left.plot(x, out, **FIRST)
    left.plot(x, inside, **SECOND)
    left.axvline(threshold, ymax=0.7, color="black", linewidth=1.2)
    left.set_ylim(0, 0.6)
    left.set_xlim(-3.5, max(mu + 3.5, threshold + 0.5))
    left.set_xticks(range(-2, int(mu) + 4, 2))
    left.set_yticks([])
    left.set_xlabel(say("noisy answer, in standard deviations"))
    left.set_title(say("says “in” above {threshold:.2f}", threshold=threshold), pad=ABOVE)
    left.legend(
        handles=[
            Patch(**ALARM, label=say("α = {alpha:.3g}, without Mia", alpha=alpha)),
            Patch(**MISS, label=say("β = {beta:.3g}, with Mia", beta=beta)),
        ],
        loc="upper right",
    )
    grid = np.linspace(0, 1, 201)
    right.plot(grid, 1 - grid, **FOURTH, label=say("blind guess"))
    right.plot(grid, ndtr(ndtri(1 - grid) - mu), **FIRST, label=say("best tests"))
    right.plot([alpha], [beta], **POINT, clip_on=False)
    unit_square(right, ticks=HALVES)
    title = say("μ = {mu:.2f}: the point ({alpha:.3g}, {beta:.3g})", mu=mu, alpha=alpha, beta=beta)
    _square(right, title, columns=2)
    figure.subplots_adjust(left=0.04, right=0.95)
    return say(
        "Left: two bell curves, around 0 without Mia and around {mu:.2f} with her, cut at the threshold "
        "{threshold:.2f}. Hatched are the false alarm, alpha {alpha:.3g}, and the miss, beta {beta:.3g}. Right: "
        "the curve G of mu {mu:.2f} with the point of this test on it.",
        mu=mu,
        threshold=threshold,
        alpha=alpha,
        beta=beta,
    )


ALL_SIX = to_say("all six")
SIX_CURVES = (ALL_SIX, *"ABCDEF")
LAWS = (
    (to_say("✓ (1) convex"), to_say("✗ (1) convex: it bulges upwards (hatched)")),
    (to_say("✓ (2) continuous"), to_say("✗ (2) continuous: it jumps (thick)")),
    (to_say("✓ (3) non-increasing"), to_say("✗ (3) non-increasing: it rises (thick)")),
    (to_say("✓ (4) at most 1 − α"), to_say("✗ (4) at most 1 − α: it lies above (thick)")),
)


def candidates(figure, curve) -> str:
    """Six curves, of which three are trade-off functions; or one of them, with what breaks a law.

    curve: one of SIX_CURVES.
    """
    figure.set_figheight(3.7)
    curves = _six_curves()
    if curve != ALL_SIX:
        return _judged(figure, curve, *curves[curve])
    for panel, (name, points) in zip(figure.subplots(2, 3).flat, curves.items(), strict=True):
        _candidate(panel, name, *points)
        panel.text(0.85, 0.8, name, fontsize=13, fontweight="bold", fontfamily="DejaVu Sans")
        panel.set_xticks([0, 1])
        panel.set_yticks([0, 1])
        panel.set_xlabel("α", labelpad=-9)
        panel.set_ylabel("β", labelpad=-5)
    figure.subplots_adjust(hspace=0.3, wspace=0, left=0.03, right=0.99, bottom=0.09, top=0.97)
    return say(
        "Six curves in the unit square, each beside the dotted diagonal 1 - alpha. A is the diagonal. B arches "
        "above it. C hangs below it from (0, 1) to (1, 0). D jumps from 1 at alpha = 0 down to 0.6 and then "
        "falls straight to 0. E goes down in waves: it falls, rises from about 0.08 to 0.29 between alpha 0.32 "
        "and 0.57, and falls to 0. F falls straight from 0.8 and is 0 from alpha = 0.8 on."
    )


def _six_curves():
    """Name -> (alpha, beta); where alpha stands twice, the curve jumps there."""
    x = np.linspace(0, 1, 201)
    return {
        "A": (x, 1 - x),
        "B": (x, 1 - x**2),
        "C": (x, (1 - np.sqrt(x)) ** 2),
        "D": (np.r_[0, x], np.r_[1, 0.6 * (1 - x)]),
        "E": (x, (1 - x) * (0.42 + 0.3 * np.cos(10 * x))),
        "F": (x, np.maximum(0, 0.8 - x)),
    }


def _candidate(panel, name, alpha, beta):
    """Draw one curve of the six in a square, with dots at the ends of a jump; returns where it jumps."""
    jumps = np.flatnonzero(np.diff(alpha) == 0)
    panel.plot(np.insert(alpha, jumps + 1, np.nan), np.insert(beta, jumps + 1, np.nan), **FIRST, label=name)
    for i in jumps:
        for at, fill in ((i, "full"), (i + 1, "none")):
            dot = {"color": FIRST["color"], "marker": "o", "linestyle": "none", "markersize": 6, "fillstyle": fill}
            panel.plot([alpha[at]], [beta[at]], **dot, clip_on=False, zorder=5)
    panel.plot([0, 1], [1, 0], **FOURTH)
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    panel.set_aspect("equal")
    return jumps


def _judged(figure, name, alpha, beta):
    """One curve of the six, large, with what breaks a law, beside the list of laws."""
    left, right = figure.subplots(1, 2, width_ratios=(1.05, 1.25), gridspec_kw={"wspace": 0.12})
    jumps = _candidate(left, name, alpha, beta)
    convex = tradeoff.TradeOff.from_points(alpha, beta, repair=True)(alpha)  # the largest convex curve below
    convex[alpha == 0] = beta[alpha == 0]  # an end may jump up, and the curve is convex all the same
    bulges = beta > convex + 1e-9
    rises, above = np.diff(beta) > 1e-9, beta > 1 - alpha + 1e-9
    if bulges.any():
        left.fill_between(alpha, convex, beta, **AMISS)
    for i in jumps:
        left.plot(alpha[i : i + 2], beta[i : i + 2], **BROKEN)
    left.plot(alpha, np.where(np.r_[rises, False] | np.r_[False, rises], beta, np.nan), **BROKEN)
    left.plot(alpha, np.where(above, beta, np.nan), **BROKEN)
    unit_square(left, ticks=HALVES)
    left.set_ylim(0, 1)
    broken = bulges.any(), jumps.size > 0, rises.any(), above.any()
    laws = [say(fails if is_broken else holds) for (holds, fails), is_broken in zip(LAWS, broken, strict=True)]
    verdict = (
        say("{curve} is no trade-off function", curve=name)
        if any(broken)
        else say("{curve} is a trade-off function", curve=name)
    )
    left.set_title(verdict)
    right.set_axis_off()
    for i, law in enumerate(laws):
        right.text(0, 0.8 - 0.2 * i, law, fontsize=10.5)
    return say(
        "The curve {curve} in the unit square, beside the dotted diagonal 1 - alpha. It starts at {first:.2f}, is "
        "{middle:.2f} at alpha 0.5, and ends at {last:.2f}. {verdict}. The four laws, ✓ where it keeps one and ✗ where "
        "it breaks one: {laws}.",
        curve=name,
        first=beta[0],
        middle=np.interp(0.5, alpha, beta),
        last=beta[-1],
        verdict=verdict,
        laws=listed(laws, "{first}; {then}", "{first}; {then}"),
    )


def symmetry(figure) -> str:
    """A one-sided f, its inverse, and the larger of both."""
    f = one_sided()
    x = np.linspace(0, 1, 401)
    figure.set_figheight(3.6)
    left, right = panels(figure, 2)
    left.plot(x, f(x), **FIRST, label="f")
    left.plot(x, f.inverse()(x), **SECOND, label=say("f inverse"))
    right.plot(x, f.symmetrized()(x), **THIRD, label=say("max of both"))
    titles = say("f, and f with the two axes exchanged"), say("the larger of both is symmetric")
    for panel, title in zip((left, right), titles, strict=True):
        _mirror(panel)
        unit_square(panel, ticks=HALVES)
        _square(panel, title, columns=3)
    return say(
        "Left: a curve f that starts at 0.7 and reaches 0 only at alpha = 1, and its mirror image in the "
        "diagonal, which starts at 1 and is 0 from alpha = 0.7 on. Right: the larger of both, which is its own "
        "mirror image; at alpha = 0.1 it is {height:.2f}.",
        height=f.symmetrized()(0.1),
    )


ABOVE = 24  # points from a square up to its title: the legend stands between them


def _square(panel, title, columns):
    """Make a panel a true square, in which a curve can be seen to be symmetric, with its legend above it, outside."""
    panel.set_ylim(0, 1)
    panel.set_aspect("equal")
    panel.set_title(title, pad=ABOVE)
    panel.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1),
        ncols=columns,
        borderaxespad=0.4,
        columnspacing=1.2,
        handlelength=1.8,
    )
    panel.figure.subplots_adjust(top=0.84)


def _mirror(panel):
    """Draw a part of the line alpha = beta."""
    panel.plot([0, 0.6], [0, 0.6], **FOURTH, label=say("mirror"))


def one_sided():
    """A trade-off function that is not symmetric: a small alpha gets a tester far, a small beta does not.

    >>> float(one_sided()(0)), round(one_sided().inverse()(0), 12)
    (0.7, 1.0)
    """
    return tradeoff.TradeOff.from_points([0, 0.1, 0.4, 1], [0.7, 0.45, 0.2, 0])


def approx_dp_lines(figure, epsilon, delta) -> str:
    """f_{epsilon, delta} as the largest of three lines."""
    figure.set_figheight(3.9)
    f = tradeoff.approx_dp(epsilon, delta)
    alpha = np.linspace(0, 1, 401)
    corner = (1 - delta) / (1 + math.exp(epsilon))
    (panel,) = panels(figure)
    panel.plot(alpha, 1 - delta - math.exp(epsilon) * alpha, **SECOND, label="1 − δ − eᵋα")
    panel.plot(alpha, math.exp(-epsilon) * (1 - delta - alpha), **THIRD, label="e⁻ᵋ(1 − δ − α)")
    panel.plot(alpha, f(alpha), color="#12355b", linewidth=5, alpha=0.35, label=say("the largest, or 0"))
    panel.plot(alpha, 1 - alpha, **FOURTH, label=say("blind guess"))
    panel.plot([corner], [corner], **POINT)
    unit_square(panel, low=-0.12)
    panel.set_aspect("equal", anchor="W")
    panel.legend(loc="upper left", bbox_to_anchor=(1.05, 1))
    if epsilon > 0:
        panel.set_title(
            say(
                "ε = {epsilon:.2f}, δ = {delta:.2f}: the lines meet at α = β = {corner:.3f}",
                epsilon=epsilon,
                delta=delta,
                corner=corner,
            )
        )
    else:
        panel.set_title(say("ε = 0, δ = {delta:.2f}: both lines are the same", delta=delta))
    if epsilon == 0:
        return say(
            "The curve of (0, {delta:.2f})-DP falls straight from {start:.2f} to 0: both lines are the same one.",
            delta=delta,
            start=1 - delta,
        )
    return say(
        "The curve of ({epsilon:.2f}, {delta:.2f})-DP is the largest of two falling lines and 0. It starts at "
        "{start:.2f}, falls steeply to the corner where alpha and beta are {corner:.3f}, and then slowly to 0 "
        "at alpha = {start:.2f}.",
        epsilon=epsilon,
        delta=delta,
        start=1 - delta,
        corner=corner,
    )


FOUR_MECHANISMS = {
    to_say("randomized response"): (to_say("randomized response, ε = 1"), tradeoff.approx_dp(1.0)),
    to_say("Laplace noise"): (to_say("Laplace noise, ε = 1, sensitivity 1"), tradeoff.laplace(1.0)),
    to_say("Gaussian noise"): (to_say("Gaussian noise, σ = 2, sensitivity 1"), tradeoff.gaussian(0.5)),
    to_say("sometimes the truth"): (to_say("the truth, with probability 0.05"), tradeoff.approx_dp(0.0, 0.05)),
}
CHOICES = "SIX_CURVES", "FOUR_MECHANISMS"  # what lessons take from here for their sliders


def which_are_fdp(figure, mechanism, mu) -> str:
    """G_mu and the curve of one mechanism, how far it lies above, and where it is broken: mu-GDP or not.

    mechanism: a key of FOUR_MECHANISMS.
    """
    f, (name, curve) = tradeoff.gaussian(mu), FOUR_MECHANISMS[mechanism]
    name, deepest = say(name), _deepest(curve, f)
    alpha = np.unique(np.r_[levels(1e-6), curve.kinks()])
    beta, promised = curve(alpha), f(alpha)
    gap = beta - promised
    below = gap < -1e-9
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    left.fill_between(alpha, promised, color=GREY)
    left.plot(alpha, promised, **FIRST, label=say("f, the promise"))
    left.plot(alpha, beta, **THIRD, label=name)
    right.axhline(0, **FIRST)
    right.plot(alpha, gap, **THIRD)
    if deepest is not None:
        for panel, heights, lowest in ((left, beta, curve(deepest)), (right, gap, curve(deepest) - f(deepest))):
            panel.plot(alpha, np.where(below, heights, np.nan), **BROKEN, label=say("broken"))
            panel.plot([deepest], [lowest], **RING, markersize=13, clip_on=False)
    unit_square(left, ticks=HALVES, alpha=FALSE_ALARMS, beta=MISSES)
    left.set_ylim(0, 1)
    left.set_aspect("equal")
    left.set_title(f"f = G, μ = {mu:.2f}")
    lowest, highest = min(-0.03, 1.2 * np.min(gap)), max(0.05, np.max(gap))
    right.axhspan(lowest, 0, color=GREY, zorder=0)
    right.set_xlim(0, 1)
    right.set_ylim(lowest, highest + 0.55 * (highest - lowest))  # room for the names
    right.set_xlabel(say(FALSE_ALARMS))
    right.set_ylabel(say("how far above f (grey: below)"))
    right.legend(*left.get_legend_handles_labels(), loc="upper right")
    if deepest is None:
        right.set_title(say("nowhere below: f-DP"))
        return say(
            "Left: the curve G of mu {mu:.2f} and the curve of a mechanism, {mechanism}. Right: how far the second lies "
            "above the first. It is nowhere below, so the mechanism is f-DP.",
            mu=mu,
            mechanism=name,
        )
    right.set_title(say("below by up to {gap:.2g}: not f-DP", gap=-np.min(gap)))
    return say(
        "Left: the curve G of mu {mu:.2f} and the curve of a mechanism, {mechanism}. Right: how far the second lies above "
        "the first. Where it lies below, it is thick. A circle marks where it falls furthest below: by {gap:.2g}, at "
        "alpha {alpha:.2g}. So the mechanism is not f-DP.",
        mu=mu,
        mechanism=name,
        gap=float(f(deepest) - curve(deepest)),
        alpha=deepest,
    )


def _deepest(curve, f):
    """Where the curve falls furthest below f; None where it never does."""
    alpha = np.unique(np.r_[0, np.geomspace(1e-6, 0.5, 300), 1 - np.geomspace(1e-6, 0.5, 300), curve.kinks()])
    gap = f(alpha) - curve(alpha)
    worst = int(np.argmax(gap))
    return float(alpha[worst]) if gap[worst] > 1e-9 else None


def duality(figure, mu, epsilon) -> str:
    """G_mu with the curve of one (epsilon, delta(epsilon)) that touches it, and delta against epsilon."""
    mu = validate.number("mu", mu, low=0, open_low=True)
    delta = gdp.delta(epsilon, mu)
    figure.set_figheight(3.6)
    left, right = panels(figure, 2)
    alpha = np.linspace(0, 1, 401)
    left.fill_between(alpha, tradeoff.approx_dp(epsilon, delta)(alpha), color=GREY)
    left.plot(alpha, tradeoff.gaussian(mu)(alpha), **FIRST, label=f"G, μ = {mu:.2f}")
    left.plot(alpha, tradeoff.approx_dp(epsilon, delta)(alpha), **SECOND, label="(ε, δ(ε))-DP")
    touch = float(ndtr(-epsilon / mu - mu / 2))
    beta = float(ndtr(epsilon / mu - mu / 2))
    left.plot([touch, beta], [beta, touch], **POINT, clip_on=False)
    unit_square(left, ticks=HALVES)
    title = (
        say("the lines for ε = {epsilon:.2f} touch G twice", epsilon=epsilon)
        if epsilon > 0
        else say("the lines for ε = {epsilon:.2f} touch G once", epsilon=epsilon)
    )
    _square(left, title, columns=2)
    grid = np.linspace(0, 6, 121)
    right.plot(grid, tradeoff.log_gaussian_delta(grid, mu) / math.log(10), **FIRST)
    right.plot([epsilon], [float(tradeoff.log_gaussian_delta(epsilon, mu)) / math.log(10)], **POINT, clip_on=False)
    right.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    right.set_xlim(0, 6)
    right.set_xticks([0, 2, 4, 6])
    right.set_xlabel("ε")
    right.set_ylabel(say("log₁₀ of δ(ε)"))
    right.set_title(say("μ = {mu:.2f}: δ({epsilon:.2f}) = {delta:.2g}", mu=mu, epsilon=epsilon, delta=delta), pad=ABOVE)
    places = (
        say("at alpha {first:.3g} and at alpha {second:.3g}", first=touch, second=beta)
        if epsilon > 0
        else say("once, at alpha {alpha:.3g}", alpha=touch)
    )
    return say(
        "Left: the curve G of mu {mu:.2f}, and below it the lines of ({epsilon:.2f}, {delta:.2g})-DP, which "
        "touch it {places}. Right: the logarithm of delta falls as epsilon grows, faster and faster; at epsilon "
        "{epsilon:.2f} delta is {delta:.2g}.",
        mu=mu,
        epsilon=epsilon,
        delta=delta,
        places=places,
    )


def group_limit(figure, group_epsilon, k) -> str:
    """The curve of a group of k for an answer with epsilon = group_epsilon/k, beside the Laplace limit."""
    total, k = validate.number("group_epsilon", group_epsilon, low=0, open_low=True), validate.whole("k", k)
    whole = tradeoff.approx_dp(total)
    corner = whole.kinks()  # there (kε)-DP lies furthest below Laplace noise
    alpha = np.unique(np.r_[np.linspace(0, 1, 401), corner])
    group, limit = tradeoff.approx_dp(total / k).group(k)(alpha), tradeoff.laplace(total)(alpha)
    finely = np.r_[corner, np.geomspace(1e-9, 0.1, 4000), np.linspace(0.1, 1, 4000)]  # a group has corners near 0
    gap = float(np.abs(tradeoff.approx_dp(total / k).group(k)(finely) - tradeoff.laplace(total)(finely)).max())
    close = say("up to {gap:.3f}", gap=gap) if gap >= 0.0005 else say("less than 0.001")
    left, right = panels(figure, 2)
    one, pair = tradeoff.approx_dp(total / k)(alpha), whole(alpha)
    left.plot(alpha, limit, **FIRST, label=say("Laplace"))
    left.plot(alpha, group, **SECOND, label=say("group of {k}", k=k))
    left.plot(alpha, pair, **THIRD, label="(kε)-DP")
    left.plot(alpha, one, **DASHED, label=say("one person"))
    _mirror(left)
    unit_square(left, ticks=HALVES)
    left.set_ylim(0, 1)
    left.set_aspect("equal")
    left.set_title(f"ε = λ/k = {total / k:.3g}")
    right.axhline(0, **FIRST)
    right.plot(alpha, group - limit, **SECOND)
    right.plot(alpha, pair - limit, **THIRD)
    right.set_xlim(0, 1)
    right.set_xticks(HALVES)
    right.set_xlabel(say(FALSE_ALARMS))
    right.set_ylabel(say("β less that of Laplace"))
    lowest = min(-0.01, np.min(pair - limit))
    right.set_ylim(1.1 * lowest, -0.75 * lowest)  # room for the names
    right.legend(*left.get_legend_handles_labels(), loc="upper center", ncols=2)
    right.set_title(say("the group is {close} away", close=close))
    return say(
        "Left, four curves. The highest is that of one person, with epsilon {epsilon:.3g}. The curve of a group of "
        "{k} is {close} away from the trade-off between two Laplace laws at distance {total:.2g}. The curve of "
        "{total:.2g}-DP is nowhere above it. Right, the curves of the group and of {total:.2g}-DP minus that "
        "of Laplace: the second lies up to {lower:.3f} below it.",
        epsilon=total / k,
        k=k,
        close=close,
        total=total,
        lower=np.max(limit - pair),
    )


def noise_sizes(figure, delta) -> str:
    """Classic noise over the least noise that is enough for (epsilon, delta)-DP."""
    epsilon = np.geomspace(0.05, 20, 25)
    ratio = np.array([gdp.classic_sigma(e, delta) / gdp.analytic_sigma(e, delta) for e in epsilon])
    (panel,) = panels(figure)
    x = np.log10(epsilon)
    panel.axvspan(0, x[-1], color="#eeeeee", zorder=0)
    panel.plot(x, ratio, **FIRST, label=say("classic σ / least σ"))
    panel.fill_between(x, ratio, 1, where=ratio < 1, interpolate=True, **AMISS)
    panel.axhline(1, **FOURTH, label=say("just enough"))
    panel.set_xlim(x[0], x[-1])
    panel.set_xticks(np.log10([0.05, 0.1, 0.5, 1, 2, 5, 10, 20]), ["0.05", "0.1", "0.5", "1", "2", "5", "10", "20"])
    panel.set_ylim(0.6, 1.12 * ratio.max())
    panel.set_xlabel(say("ε (grey: the classic proof does not reach)"))
    panel.set_ylabel(say("times the least noise"))
    enough = 10 ** np.interp(-1, -ratio, x)  # the ratio falls: where it passes 1
    ends = (
        say("classic is too small from ε ≈ {enough:.2g} on", enough=enough)
        if ratio[-1] < 1
        else say("classic is enough up to ε = 20")
    )
    panel.set_title(say("δ = {delta}; {ends}", delta=power(delta), ends=ends))
    panel.legend(loc="upper right")
    at_one = gdp.classic_sigma(1.0, delta) / gdp.analytic_sigma(1.0, delta)
    return say(
        "The classic deviation of Gaussian noise, divided by the least that is enough, against epsilon at delta "
        "{delta:.0e}. The ratio falls from {at_first:.2f} at epsilon 0.05 to {at_one:.2f} at epsilon 1 and "
        "{at_last:.2f} at epsilon 20; {ends}.",
        delta=delta,
        at_first=ratio[0],
        at_one=at_one,
        at_last=ratio[-1],
        ends=ends,
    )
