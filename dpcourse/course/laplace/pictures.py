"""The pictures of lesson 02."""

import functools
import math

import numpy as np

from dpcourse import gdp, laplace, surveys
from dpcourse.base import validate
from dpcourse.base.languages import listed, say, sentences, to_say
from dpcourse.base.style import FIRST, FOURTH, LIGHT, PALE, POINT, RING, SECOND, THIRD, Look, panels, power


def laplace_densities(figure, epsilon, change) -> str:
    """The densities of a noisy count with Mia and without her."""
    (panel,) = panels(figure)
    b = _two_densities(panel, epsilon, change, change / 2 + 4)
    panel.set_xlabel(say(BETWEEN))
    panel.set_title(say("Lap({b:.2g}) noise on two answers", b=b))
    return say(
        "Two Laplace densities of scale {b:.3g}, with Mia and without her. Each has a peak at its true answer "
        "and falls by a constant factor for each step to either side. The peaks are {change:.2g} apart.",
        b=b,
        change=change,
    )


def laplace_pair(figure, epsilon, change, output) -> str:
    """The densities of a noisy count with Mia and without her, below them their privacy loss, both read at one output."""
    output = validate.number("output", output, -REACH, REACH)
    figure.set_figheight(4.2)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.3, 1))
    b = _two_densities(above, epsilon, change, REACH)
    z = np.unique(np.r_[np.linspace(-REACH, REACH, 401), -change / 2, change / 2])
    below.plot(z, _loss(z, change, b), **THIRD, label=say("loss: ln(with / without)"))
    below.axhline(epsilon, **FOURTH, label="±ε")
    below.axhline(-epsilon, **FOURTH)
    with_mia, without = (_density(output, at, b) for at in (change / 2, -change / 2))
    loss, worst = _loss(output, change, b), change * epsilon
    for panel, heights in ((above, [with_mia, without]), (below, [loss])):
        panel.axvline(output, ymax=0.76, color="black", linewidth=1.2)
        panel.plot([output] * len(heights), heights, **POINT)
    below.plot([output, output], [0, loss], color="black", linewidth=4, solid_capstyle="butt")
    top = max(epsilon, worst)
    below.set_ylim(-1.2 * top, 1.9 * top)
    below.legend(loc="upper left", ncols=2)
    below.set_ylabel(say("privacy loss"))
    below.set_xlabel(say(BETWEEN))
    below.set_xlim(-REACH, REACH)
    above.set_title(
        say(
            "output {output:.2f}: density {with_mia:.3g} with Mia, {without:.3g} without her, loss {loss:.2f}",
            output=output,
            with_mia=with_mia,
            without=without,
            loss=round(loss, 2) + 0.0,
        )
    )
    kept = worst <= epsilon * (1 + 1e-12)
    below.set_title(
        say("ε = {epsilon:.2g}: kept, the loss reaches {worst:.2g}", epsilon=epsilon, worst=worst)
        if kept
        else say("ε = {epsilon:.2g}: broken, the loss reaches {worst:.2g}", epsilon=epsilon, worst=worst)
    )
    figure.subplots_adjust(top=0.93, bottom=0.12, hspace=0.25)
    return say(
        "Above: two Laplace densities of scale {b:.3g}, whose peaks are {change:.2g} apart. Below, on the same axis: "
        "the logarithm of their ratio. It is flat outside the peaks, at plus and minus {worst:.3g}; the lines of plus "
        "and minus epsilon are at {epsilon:.2g}, so {outcome}. A line stands at the output {output:.2f}: there the "
        "density is {with_mia:.3g} with Mia and {without:.3g} without her, and the loss is {loss:.2f}.",
        b=b,
        change=change,
        worst=worst,
        epsilon=epsilon,
        outcome=say("the promise is kept") if kept else say("the promise is broken"),
        output=output,
        with_mia=with_mia,
        without=without,
        loss=round(loss, 2) + 0.0,
    )


BETWEEN = to_say("output (0: half-way between)")
REACH = 4.0  # of the outputs that are drawn, to either side


def _two_densities(panel, epsilon, change, reach):
    """Draw both densities for outputs from -reach to reach; returns their scale."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    change = validate.number("change", change, 0)
    b = 1 / epsilon
    z = np.unique(np.r_[np.linspace(-reach, reach, 401), -change / 2, change / 2])
    panel.plot(z, _density(z, change / 2, b), **SECOND, label=say("with Mia"))
    panel.plot(z, _density(z, -change / 2, b), **FIRST, label=say("without her"))
    panel.set_ylim(0, 1.5 * _density(0, 0, b))
    panel.set_ylabel(say("density"))
    panel.locator_params(nbins=5)
    panel.legend(loc="upper center", ncols=2)
    return b


def _density(z, at, b):
    return np.exp(-np.abs(z - at) / b) / (2 * b)


def _loss(z, change, b):
    return (np.abs(z + change / 2) - np.abs(z - change / 2)) / b


def clip_tradeoff(figure, epsilon) -> str:
    """Bias, noise and mean error of the sum of affairs in Fair's survey against the clip, and the least bound."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    values = affairs_of_each()
    clips = np.linspace(0.25, 60, 240)
    bias, noise = lost_by(clips, values), clips / epsilon
    total, mean_error = bias + noise, bias + noise * np.exp(-bias / noise)
    best = int(total.argmin())
    cut = int((values > clips[best]).sum())
    (panel,) = panels(figure)
    panel.plot(clips, bias, **SECOND, label=say("bias: what is cut off"))
    panel.plot(clips, noise, **THIRD, label=say("noise: clip / ε"))
    panel.plot(clips, total, **FIRST, label=say("both together"))
    panel.plot(clips, mean_error, **FOURTH, label=say("mean error"))
    panel.plot([clips[best]], [total[best]], **RING, markersize=8)
    panel.set_ylim(0, min(6500.0, 1.6 * max(noise[-1], total[best])))
    panel.set_xlim(0, 60)
    panel.set_xlabel(say("clip: the most that one woman adds to the sum"))
    panel.set_ylabel(say("error of the sum"))
    panel.legend(loc="upper right", ncols=2)
    panel.set_title(
        say(
            "ε = {epsilon:.2g}: bound least at a clip of {clip:.3g}; women above it: {cut} of {women:,}",
            epsilon=epsilon,
            clip=clips[best],
            cut=cut,
            women=len(values),
        )
    )
    return say(
        "Four curves against the clip, at epsilon {epsilon:.2g}: the bias falls from {first_bias:,.0f} to "
        "{last_bias:,.0f}, the noise rises in a straight line to {last_noise:,.0f}, and their sum is smallest, "
        "{least:,.0f}, at a clip of {clip:.3g}. Women above that clip: {cut}; 1 / epsilon is {inverse:.3g}. The mean "
        "error is nowhere above that sum; at this clip it is {mean_error:,.0f}.",
        epsilon=epsilon,
        first_bias=bias[0],
        last_bias=bias[-1],
        last_noise=noise[-1],
        least=total[best],
        clip=clips[best],
        cut=cut,
        inverse=1 / epsilon,
        mean_error=mean_error[best],
    )


@functools.cache
def affairs_of_each():
    """How much each woman of Fair's survey reports, in his units."""
    return surveys.affairs()["affairs"]


def lost_by(clips, values):
    """How much the sum of the values loses by each clip."""
    return np.maximum(values - np.asarray(clips)[:, None], 0).sum(axis=1)


def histogram_release(figure, names, counts, epsilon, seed=1) -> str:
    """A histogram, and where nine of ten of its private releases lie: with noise for one cell and with noise for all cells."""
    counts = validate.numbers("counts", counts, 0)
    rng = np.random.default_rng(seed)
    (panel,) = panels(figure)
    at = np.arange(len(counts))
    panel.bar(at, counts, 0.8, color=PALE, label=say("exact"))
    reach, low, high = [], 0.0, float(counts.max())
    looks = (
        (-0.18, "o", FIRST, say("sensitivity 1")),
        (0.18, "s", SECOND, say("sensitivity {cells}: too much noise", cells=len(counts))),
    )
    for sensitivity, (aside, marker, style, label) in zip((1, len(counts)), looks, strict=True):
        released = laplace.mechanism(counts, sensitivity, epsilon, rng)
        reach.append(laplace.error_bound(1, 0.1, sensitivity, epsilon))
        bars = panel.errorbar(
            at + aside, counts, reach[-1], fmt="none", capsize=4, color=style["color"], linewidth=1.6, label=label
        )
        bars.lines[2][0].set_linestyle(style["linestyle"])
        panel.plot(at + aside, released, marker, color=style["color"], markersize=5, zorder=5)
        low, high = (
            min(low, np.min(released), (counts - reach[-1]).min()),
            max(high, np.max(released), counts.max() + reach[-1]),
        )
    panel.axhline(0, color="black", linewidth=0.8)
    panel.set_xticks(at, names)
    panel.set_ylabel(say("women"))
    panel.set_ylim(1.1 * low, high + 0.3 * (high - low))
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(
        say("ε = {epsilon:.2g} for the whole histogram: one release (points), 9 of 10 (bars)", epsilon=epsilon)
    )
    return say(
        "A histogram of {cells} cells with two kinds of noise at epsilon {epsilon:.2g}: one release "
        "of each, and bars in which nine of ten releases lie. With noise for a sensitivity of 1 they reach "
        "{reach:.3g} above and below the exact count, with noise for {cells} they reach {far:.3g}.",
        cells=len(counts),
        epsilon=epsilon,
        reach=reach[0],
        far=reach[1],
    )


def worst_error(figure, k, epsilon, failure) -> str:
    """How likely the largest of k noises is above an error, exactly and by the union bound, with the bound of theorem 3.8."""
    k, epsilon = validate.whole("k", round(k)), validate.number("epsilon", epsilon, 0, open_low=True)
    bound = laplace.error_bound(k, failure, 1, epsilon)
    t = np.linspace(0, 1.6 * bound * epsilon, 300)
    exact = -np.expm1(k * np.log1p(-np.exp(-np.maximum(t, 1e-12))))
    union = np.minimum(1, k * np.exp(-t))
    there = -math.expm1(k * math.log1p(-failure / k))
    (panel,) = panels(figure)
    panel.semilogy(t / epsilon, exact, **FIRST, label=say("exact"))
    panel.semilogy(t / epsilon, union, **SECOND, label=say("union bound"))
    least = union[-1]
    panel.plot([bound, bound], [least, 1], **FOURTH, label=say("theorem 3.8"))
    panel.plot([bound], [failure], **RING, markersize=8)
    panel.set_ylim(least, 10)
    panel.set_xlabel(say("error of a count"))
    panel.set_ylabel(say("chance that the worst is above"))
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(
        say(
            "{k:,} counts at ε = {epsilon:.2g}: the worst error is above {bound:.3g} with chance {chance:.2%}, "
            "allowed {failure:.2%}",
            k=k,
            epsilon=epsilon,
            bound=bound,
            chance=there,
            failure=failure,
        )
    )
    return say(
        "The chance that the largest error of {k:,} noisy counts at epsilon {epsilon:.2g} is above the number on "
        "the axis, on a logarithmic axis. Both curves fall from 1. The exact curve lies below the union bound, "
        "and comes nearer to it. At {bound:.4g} the union bound is {failure:.2g}, which is marked, and the exact "
        "chance is {chance:.4f}.",
        k=k,
        epsilon=epsilon,
        bound=bound,
        failure=failure,
        chance=there,
    )


def noisy_max_or_all(figure, epsilon, m, lead, elections) -> str:
    """Noisy elections among m counts, the last one and the winners of all: noisy max beside the largest of all released.

    The noises of both are the same draws, in units of their scales.
    """
    epsilon, m = validate.number("epsilon", epsilon, 0, open_low=True), validate.whole("m", m, 2)
    lead, elections = validate.whole("lead", lead, 0), validate.whole("elections", elections)
    truth, noises = np.r_[100.0 + lead, np.full(m - 1, 100.0)], _unit_noises(max(elections, 100), max(m, 50))[:, :m]
    figure.set_figheight(4.4)
    noisy_of, won_of = figure.subplots(2, 2, sharex=True, sharey="row")
    places, scales, found, chances = np.arange(1, m + 1), (1 / epsilon, m / epsilon), [], []
    ways = (
        (say("noisy max: noise of scale {scale:,.4g}", scale=scales[0]), noisy_of[0], won_of[0]),
        (say("release all: noise of scale {scale:,.4g}", scale=scales[1]), noisy_of[1], won_of[1]),
    )
    for scale, (title, last, bars) in zip(scales, ways, strict=True):
        noisy = truth + scale * noises[:elections]
        winners = noisy.argmax(axis=1)
        wins = np.bincount(winners, minlength=m)
        last.hlines(truth, places - 0.4, places + 0.4, color=FOURTH["color"], linewidth=2)
        last.plot(places, noisy[-1], **POINT | {"markersize": 4})
        last.plot([places[winners[-1]]], [noisy[-1].max()], **RING, markersize=10)
        last.set_title(title)
        bars.stairs(wins, np.arange(m + 1) + 0.5, fill=True, facecolor=PALE, edgecolor=FOURTH["color"])
        bars.bar(places[:1], wins[:1], 1, color=THIRD["color"])
        bars.set_xlabel(say("count (the first one leads)"))
        found.append(int(wins[0]))
        chances.append(float(laplace.noisy_max_chances(truth, 1 / scale)[0]))
        bars.set_title(
            say(
                "the leader wins {found} of {elections}, chance {chance:.2f}",
                found=found[-1],
                elections=elections,
                chance=chances[-1],
            )
        )
    widest = truth + scales[1] * noises
    room = 0.06 * np.ptp(widest)
    noisy_of[0].set_ylim(widest.min() - room, widest.max() + room)
    noisy_of[0].set_ylabel(say("noisy count"))
    noisy_of[0].locator_params(axis="y", nbins=5)
    won_of[0].set_ylabel(say("elections won"))
    won_of[0].set_ylim(0, 1.05 * len(noises))
    won_of[0].set_xlim(0.3, m + 0.7)
    won_of[0].set_xticks([1, m])
    figure.subplots_adjust(left=0.12, top=0.93, bottom=0.12, hspace=0.35, wspace=0.1)
    return say(
        "Two columns: report noisy max with Laplace noise of scale {scale:.3g}, and noise of scale "
        "{scale_of_all:,.4g} on all {m} counts, both at epsilon {epsilon:.2g}. The leader is {lead} above all "
        "others. Above are the noisy counts of the last of {elections} elections, and a circle around the largest. "
        "Below, bars count the wins. The leader wins {found} of them by noisy max, and {from_all} by the largest of all "
        "released counts. The exact chances are {chance:.3f} and {chance_from_all:.3f}.",
        scale=scales[0],
        scale_of_all=scales[1],
        m=m,
        epsilon=epsilon,
        lead=lead,
        elections=elections,
        found=found[0],
        from_all=found[1],
        chance=chances[0],
        chance_from_all=chances[1],
    )


@functools.cache
def _unit_noises(elections, counts):
    """Laplace noise of scale 1 for each count of each election."""
    return np.random.default_rng(45).laplace(size=(elections, counts))


def coupling(figure, epsilon, thresholds) -> str:
    """The tail of the winner's noise above r*, and above r* + 1, for two r*: the second is at least e^-epsilon of the first."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    x = np.linspace(-5, 7, 601)
    density = epsilon * np.exp(-epsilon * np.abs(x)) / 2
    areas = []
    for panel, r in zip(panels(figure, 2), validate.numbers("thresholds", thresholds), strict=True):
        first, second = (_tail(at, epsilon) for at in (r, r + 1))
        panel.plot(x, density, **FIRST)
        panel.fill_between(
            x, density, where=x >= r, color=LIGHT["facecolor"], label=say("both, beyond r*: {area:.3g}", area=first)
        )
        panel.fill_between(
            x, density, where=x >= r + 1, **LESS, label=say("hatched, beyond r* + 1: {area:.3g}", area=second)
        )
        panel.set_ylim(0, 0.85 * epsilon)
        panel.set_xlim(-5, 7)
        panel.set_xlabel(say("noise rᵢ, all other noises fixed"))
        panel.set_ylabel(say("density"))
        panel.legend(loc="upper right")
        panel.set_title(
            say(
                "r* = {r:.2g}: ratio {ratio:.3f}, allowed {allowed:.3f}",
                r=r,
                ratio=first / second,
                allowed=math.exp(epsilon),
            )
        )
        areas.append(
            say(
                "The area beyond r* = {r:.2g} is {first:.3g}, the area beyond r* + 1 is {second:.3g}. Their ratio is "
                "{ratio:.3f}, at most e to the epsilon, which is {allowed:.3f}.",
                r=r,
                first=first,
                second=second,
                ratio=first / second,
                allowed=math.exp(epsilon),
            )
        )
    drawn = say("Twice the density of Laplace noise with epsilon {epsilon:.2g}.", epsilon=epsilon)
    return sentences([drawn, *areas])


LESS: Look = {"facecolor": "none", "edgecolor": FIRST["color"], "hatch": "\\\\\\"}  # without her, at least so much


def _tail(at, epsilon):
    return math.exp(-epsilon * at) / 2 if at >= 0 else 1 - math.exp(epsilon * at) / 2


def noise_per_count(figure, epsilon, delta) -> str:
    """The standard deviation of the noise on each of m counts: Laplace, and Gaussian with two calibrations."""
    epsilon, delta = validate.number("epsilon", epsilon, 0, open_low=True), validate.number("delta", delta, 0, 1)
    m = np.unique(np.round(np.geomspace(1, 1000, 60)))
    laplacian = math.sqrt(2) * m / epsilon
    classic, analytic = (np.sqrt(m) * sigma(epsilon, delta) for sigma in (gdp.classic_sigma, gdp.analytic_sigma))
    (panel,) = panels(figure)
    panel.loglog(m, laplacian, **FIRST, label=say("Laplace, δ = 0"))
    if epsilon < 1:
        panel.loglog(m, classic, **SECOND, label=say("Gaussian, classic"))
    panel.loglog(m, analytic, **THIRD, label=say("Gaussian, analytic"))
    crossings = {"analytic": analytic[0]} | ({"classic": classic[0]} if epsilon < 1 else {})
    crossings = {name: (sigma * epsilon) ** 2 / 2 for name, sigma in crossings.items()}
    for name, at in crossings.items():
        panel.plot([at], [math.sqrt(2) * at / epsilon], **RING, markersize=9)
        aside = (-8, 8) if name == "analytic" else (8, -14)
        panel.annotate(
            f"{at:.4g}",  # not 14 for 14.04: the first whole number behind it is 15
            (at, math.sqrt(2) * at / epsilon),
            aside,
            textcoords="offset points",
            ha="right" if aside[0] < 0 else "left",
        )
    panel.set_xlabel(say("m, counts that one person may be in"))
    panel.set_ylabel(say("standard deviation"))
    panel.legend(loc="upper left")
    shown = power(delta) if delta else "0"
    panel.set_title(say("ε = {epsilon:.2g}, δ of the Gaussian noise = {delta}", epsilon=epsilon, delta=shown))
    places = {
        "analytic": to_say("at m = {m:.3g} with the analytic calibration"),
        "classic": to_say("at m = {m:.3g} with the classic calibration"),
    }
    return say(
        "The standard deviation of the noise on each of m counts at epsilon {epsilon:.2g} and delta {delta:.0e}, "
        "on logarithmic axes. Laplace noise grows like m, from {least_laplace:.3g} to {most_laplace:.4g}; Gaussian "
        "noise like the root of m, from {least_gaussian:.3g} to {most_gaussian:.4g} with the analytic calibration. The "
        "lines cross {places}.",
        epsilon=epsilon,
        delta=delta,
        least_laplace=laplacian[0],
        most_laplace=laplacian[-1],
        least_gaussian=analytic[0],
        most_gaussian=analytic[-1],
        places=listed(say(places[name], m=at) for name, at in crossings.items()),
    )
