"""The pictures of lesson 03."""

import math

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.special import ndtr, ndtri

from dpcourse import gdp, tradeoff
from dpcourse.base import validate
from dpcourse.base.languages import listed, say
from dpcourse.base.style import (
    FALSE_ALARMS,
    FIRST,
    FOURTH,
    GREY,
    HALVES,
    LIGHT,
    MISSES,
    POINT,
    SECOND,
    THIRD,
    Look,
    panels,
    power,
    unit_square,
)

ALARM: Look = {"facecolor": "#c3cfdd", "edgecolor": "#12355b", "hatch": "\\\\\\", "linewidth": 0}
DASHED: Look = {"color": "#41699a", "linestyle": (0, (6, 2)), "linewidth": 3}
MISS: Look = LIGHT | {"linewidth": 0}


def two_errors(figure, mu, threshold) -> str:
    """The densities of N(0, 1) and N(mu, 1) cut at a threshold, and the point of G_mu that this test has."""
    mu, threshold = validate.number("mu", mu, low=0), validate.number("threshold", threshold)
    alpha, beta = float(ndtr(-threshold)), float(ndtr(threshold - mu))
    left, right = panels(figure, 2)
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
    left.set_title(say("says “in” above {threshold:.2f}", threshold=threshold))
    left.legend(
        handles=[
            Patch(**ALARM, label=say("α = {alpha:.3f}, without Mia", alpha=alpha)),
            Patch(**MISS, label=say("β = {beta:.3f}, with Mia", beta=beta)),
        ],
        loc="upper right",
    )
    grid = np.linspace(0, 1, 201)
    right.plot(grid, 1 - grid, **FOURTH, label=say("blind guess"))
    right.plot(grid, ndtr(ndtri(1 - grid) - mu), **FIRST, label=say("best tests"))
    right.plot([alpha], [beta], **POINT)
    unit_square(right, ticks=HALVES)
    right.set_title(say("μ = {mu:.2f}: the point ({alpha:.3f}, {beta:.3f})", mu=mu, alpha=alpha, beta=beta))
    right.legend(loc="upper right")
    return say(
        "Left: two bell curves, around 0 without Mia and around {mu:.2f} with her, cut at the threshold "
        "{threshold:.2f}. Hatched are the false alarm, alpha {alpha:.3f}, and the miss, beta {beta:.3f}. Right: "
        "the curve G of mu {mu:.2f} with the point of this test on it.",
        mu=mu,
        threshold=threshold,
        alpha=alpha,
        beta=beta,
    )


def candidates(figure) -> str:
    """Six curves, of which three are trade-off functions."""
    x = np.linspace(0, 1, 201)
    curves = [
        ("A", x, 1 - x),
        ("B", x, 1 - x**2),
        ("C", x, (1 - np.sqrt(x)) ** 2),
        ("D", np.r_[0, 0, x[1:]], np.r_[1, 0.6, 0.6 * (1 - x[1:])]),
        ("E", x, (1 - x) * (0.42 + 0.3 * np.cos(10 * x))),
        ("F", x, np.maximum(0, 0.8 - x)),
    ]
    for panel, (name, alpha, beta) in zip(figure.subplots(2, 3).flat, curves, strict=True):
        if name == "D":
            panel.plot(alpha[1:], beta[1:], **FIRST)
            panel.plot([0], [1], "o", color=FIRST["color"], markersize=6, clip_on=False)
            panel.plot([0], [0.6], "o", color=FIRST["color"], markersize=6, fillstyle="none", clip_on=False)
        else:
            panel.plot(alpha, beta, **FIRST)
        panel.plot(x, 1 - x, **FOURTH)
        panel.text(0.88, 0.78, name, fontsize=13, fontweight="bold", fontfamily="DejaVu Sans")
        panel.set_xlim(0, 1)
        panel.set_ylim(0, 1.04)
        panel.set_xticks([0, 1])
        panel.set_yticks([0, 1])
        panel.set_xlabel("α", labelpad=-9)
        panel.set_ylabel("β", labelpad=-5)
    figure.subplots_adjust(hspace=0.35, wspace=0.2, left=0.05, bottom=0.09, top=0.97)
    return say(
        "Six curves in the unit square, each beside the dotted diagonal 1 - alpha. A is the diagonal. B arches "
        "above it. C hangs below it from (0, 1) to (1, 0). D jumps from 1 at alpha = 0 down to 0.6 and then "
        "falls straight to 0. E goes down in waves: it falls, rises from about 0.08 to 0.29 between alpha 0.32 "
        "and 0.57, and falls to 0. F falls straight from 0.8 and is 0 from alpha = 0.8 on."
    )


def symmetry(figure) -> str:
    """A one-sided f, its inverse, and the larger of both."""
    f = one_sided()
    x = np.linspace(0, 1, 401)
    left, right = panels(figure, 2)
    left.plot(x, f(x), **FIRST, label="f")
    left.plot(x, f.inverse()(x), **SECOND, label=say("f inverse"))
    right.plot(x, f.symmetrized()(x), **THIRD, label=say("max of both"))
    left.set_title(say("f, and f with the two axes exchanged"))
    right.set_title(say("the larger of both is symmetric"))
    for panel in (left, right):
        square(panel)
        panel.legend(loc="upper right")
    return say(
        "Left: a curve f that starts at 0.7 and reaches 0 only at alpha = 1, and its mirror image in the "
        "diagonal, which starts at 1 and is 0 from alpha = 0.7 on. Right: the larger of both, which is its own "
        "mirror image; at alpha = 0.1 it is {height:.2f}.",
        height=f.symmetrized()(0.1),
    )


def square(panel):
    """Make a panel a true square, in which a symmetric curve looks symmetric, with the mirror line alpha = beta."""
    panel.plot([0, 0.6], [0, 0.6], **FOURTH, label=say("mirror"))
    unit_square(panel, ticks=HALVES)
    panel.set_ylim(0, 1)
    panel.set_aspect("equal")


def one_sided():
    """A trade-off function that is not symmetric: a small alpha gets a tester far, a small beta does not.

    >>> float(one_sided()(0)), round(one_sided().inverse()(0), 12)
    (0.7, 1.0)
    """
    return tradeoff.TradeOff.from_points([0, 0.1, 0.4, 1], [0.7, 0.45, 0.2, 0])


def approx_dp_lines(figure, epsilon, delta) -> str:
    """f_{epsilon, delta} as the largest of three lines."""
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
    panel.legend(loc="upper right")
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


def which_are_fdp(figure, mu) -> str:
    """G_mu and the curves of four mechanisms, with a verdict for each: mu-GDP or not."""
    f = tradeoff.gaussian(mu)
    mechanisms = [
        (say("randomized response, ε = 1"), tradeoff.approx_dp(1.0), SECOND),
        (say("Laplace noise, ε = 1, sensitivity 1"), tradeoff.laplace(1.0), THIRD),
        (say("Gaussian noise, σ = 2, sensitivity 1"), tradeoff.gaussian(0.5), DASHED),
        (say("tells all, δ = 0.05"), tradeoff.approx_dp(0.0, 0.05), FOURTH),
    ]
    alpha = np.linspace(0, 1, 401)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.4))
    left.fill_between(alpha, f(alpha), color=GREY)
    left.plot(alpha, f(alpha), **FIRST, label=f"f = G, μ = {mu:.2f}")
    right.axhline(0, **FIRST)
    verdicts, above = [], []
    for name, curve, style in mechanisms:
        below = _deepest(curve, f)
        if below is None:
            label, verdict = say("{mechanism}: is f-DP", mechanism=name), say("{mechanism} is f-DP", mechanism=name)
        else:
            label, verdict = say("{mechanism}: is not", mechanism=name), say("{mechanism} is not", mechanism=name)
        left.plot(alpha, curve(alpha), **style, label=label)
        above.append(curve(alpha) - f(alpha))
        right.plot(alpha, above[-1], **style)
        if below is not None:
            ring = POINT | {"fillstyle": "none", "clip_on": False}
            left.plot([below], [curve(below)], **ring)
            right.plot([below], [curve(below) - f(below)], **ring)
        verdicts.append(verdict)
    unit_square(left, ticks=HALVES, alpha=FALSE_ALARMS, beta=MISSES)
    left.set_ylim(0, 1)
    left.set_aspect("equal")
    left.set_title(f"f = G, μ = {mu:.2f}")
    lowest, highest = min(-0.03, 1.2 * np.min(above)), max(0.05, np.max(above))
    right.axhspan(lowest, 0, color=GREY, zorder=0)
    right.set_xlim(0, 1)
    right.set_ylim(lowest, highest + 0.8 * (highest - lowest))  # room for the names
    right.set_xlabel(say(FALSE_ALARMS))
    right.set_title(say("how far above f (grey: below)"))
    right.legend(*left.get_legend_handles_labels(), loc="upper right")
    return say(
        "Left: the curve G of mu {mu:.2f} and four mechanisms' curves. Right: how far each of the four lies "
        "above G; a circle marks where one falls furthest below it. To be f-DP, a curve must stay above: "
        "{verdicts}.",
        mu=mu,
        verdicts=listed(verdicts, "{first}; {then}", "{first}; {then}"),
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
    left, right = panels(figure, 2)
    alpha = np.linspace(0, 1, 401)
    left.fill_between(alpha, tradeoff.approx_dp(epsilon, delta)(alpha), color=GREY)
    left.plot(alpha, tradeoff.gaussian(mu)(alpha), **FIRST, label=f"G, μ = {mu:.2f}")
    left.plot(alpha, tradeoff.approx_dp(epsilon, delta)(alpha), **SECOND, label="(ε, δ(ε))-DP")
    touch = float(ndtr(-epsilon / mu - mu / 2))
    beta = float(ndtr(epsilon / mu - mu / 2))
    left.plot([touch, beta], [beta, touch], **POINT, clip_on=False)
    unit_square(left, ticks=HALVES)
    if epsilon > 0:
        left.set_title(say("the lines for ε = {epsilon:.2f} touch G twice", epsilon=epsilon))
    else:
        left.set_title(say("the lines for ε = {epsilon:.2f} touch G once", epsilon=epsilon))
    left.legend(loc="upper right")
    grid = np.linspace(0, 6, 121)
    right.plot(grid, tradeoff.log_gaussian_delta(grid, mu) / math.log(10), **FIRST)
    right.plot([epsilon], [float(tradeoff.log_gaussian_delta(epsilon, mu)) / math.log(10)], **POINT, clip_on=False)
    right.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    right.set_xlim(0, 6)
    right.set_xticks([0, 2, 4, 6])
    right.set_xlabel("ε")
    right.set_ylabel(say("log₁₀ of δ(ε)"))
    right.set_title(f"μ = {mu:.2f}: δ({epsilon:.2f}) = {delta:.2g}")
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
    alpha = np.linspace(0, 1, 401)
    group, limit = tradeoff.approx_dp(total / k).group(k)(alpha), tradeoff.laplace(total)(alpha)
    finely = np.r_[np.geomspace(1e-9, 0.1, 4000), np.linspace(0.1, 1, 4000)]  # the group's curve has corners near 0
    gap = float(np.abs(tradeoff.approx_dp(total / k).group(k)(finely) - tradeoff.laplace(total)(finely)).max())
    close = say("up to {gap:.3f}", gap=gap) if gap >= 0.0005 else say("less than 0.001")
    left, right = panels(figure, 2)
    one, pair = tradeoff.approx_dp(total / k)(alpha), tradeoff.approx_dp(total)(alpha)
    left.plot(alpha, limit, **FIRST, label=say("Laplace"))
    left.plot(alpha, group, **SECOND, label=say("group of {k}", k=k))
    left.plot(alpha, pair, **THIRD, label="(kε)-DP")
    left.plot(alpha, one, **DASHED, label=say("one person"))
    square(left)
    left.legend(loc="upper right")
    left.set_title(f"ε = λ/k = {total / k:.3g}")
    right.axhline(0, **FIRST)
    right.plot(alpha, group - limit, **SECOND)
    right.plot(alpha, pair - limit, **THIRD)
    right.set_xlim(0, 1)
    right.set_xticks(HALVES)
    right.set_xlabel(say(FALSE_ALARMS))
    right.set_ylabel(say("β less that of Laplace"))
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
    panel.fill_between(x, ratio, 1, where=ratio < 1, interpolate=True, **LIGHT | {"linewidth": 0})
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
