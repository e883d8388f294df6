"""The pictures of lesson 02."""

import functools
import math

import numpy as np

from dpcourse import gdp, laplace, validate
from dpcourse.frame import FIRST, FOURTH, LIGHT, PALE, RING, SECOND, THIRD, panels, power


def laplace_densities(figure, epsilon, change) -> str:
    """The densities of a noisy count with Mia and without her."""
    (panel,) = panels(figure)
    b, _ = _two_densities(panel, epsilon, change)
    return (
        f"Two Laplace densities of scale {b:.3g}, with Mia and without her. Each has a peak at its true answer and falls by a constant "
        f"factor for each step to either side. The peaks are {change:.2g} apart."
    )


def laplace_pair(figure, epsilon, change) -> str:
    """The densities of a noisy count with Mia and without her, and their ratio between the lines e^±epsilon."""
    left, right = panels(figure, 2)
    b, z = _two_densities(left, epsilon, change)
    loss = (np.abs(z + change / 2) - np.abs(z - change / 2)) / b
    right.plot(z, loss, **FIRST, label="log of the ratio")
    right.axhline(epsilon, **FOURTH, label="±ε")
    right.axhline(-epsilon, **FOURTH)
    top = max(epsilon, loss.max())
    right.set_ylim(-1.15 * top, 1.75 * top)
    right.legend(loc="upper left", ncols=2)
    right.set_ylabel("privacy loss")
    right.set_xlabel(BETWEEN)
    right.locator_params(nbins=5)
    worst = change * epsilon
    kept = worst <= epsilon * (1 + 1e-12)
    right.set_title(f"ε = {epsilon:.2g}: {'kept' if kept else 'broken'}, the loss reaches {worst:.2g}")
    return (
        f"Left: two Laplace densities of scale {b:.3g}, whose peaks are {change:.2g} apart. Right: the logarithm of their ratio "
        f"against the output. It is flat outside the peaks, at plus and minus {worst:.3g}; the lines of plus and minus epsilon are "
        f"at {epsilon:.2g}, so the promise is {'kept' if kept else 'broken'}."
    )


BETWEEN = "output (0: half-way between)"


def _two_densities(panel, epsilon, change):
    """Draw both densities; returns their scale, and the outputs."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    change = validate.number("change", change, 0)
    b = 1 / epsilon
    z = np.linspace(-change / 2 - 4, change / 2 + 4, 401)
    with_mia, without = (np.exp(-np.abs(z - at) / b) / (2 * b) for at in (change / 2, -change / 2))
    panel.plot(z, with_mia, **FIRST, label="with Mia")
    panel.plot(z, without, **SECOND, label="without her")
    panel.set_ylim(0, 1.5 * with_mia.max())
    panel.set_ylabel("density")
    panel.set_xlabel(BETWEEN)
    panel.locator_params(nbins=5)
    panel.legend(loc="upper center", ncols=2)
    panel.set_title(f"Lap({b:.2g}) noise on two answers")
    return b, z


def clip_tradeoff(figure, epsilon) -> str:
    """Bias and noise of the sum of affairs in Fair's survey against the clip, and where their sum is smallest."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    values = affairs_of_each()
    clips = np.linspace(0.25, 60, 240)
    bias, noise = lost_by(clips, values), clips / epsilon
    total = bias + noise
    best = int(total.argmin())
    cut = int((values > clips[best]).sum())
    (panel,) = panels(figure)
    panel.plot(clips, bias, **SECOND, label="bias: what is cut off")
    panel.plot(clips, noise, **THIRD, label="noise: clip / ε")
    panel.plot(clips, total, **FIRST, label="both together")
    panel.plot([clips[best]], [total[best]], **RING, markersize=8)
    panel.set_ylim(0, min(6500.0, 1.6 * max(noise[-1], total[best])))
    panel.set_xlim(0, 60)
    panel.set_xlabel("clip: the most that one woman adds to the sum")
    panel.set_ylabel("error of the sum")
    panel.legend(loc="upper right")
    panel.set_title(
        f"ε = {epsilon:.2g}: least at a clip of {clips[best]:.3g}; women above it: {cut} of {len(values):,}"
    )
    return (
        f"Three curves against the clip, at epsilon {epsilon:.2g}: the bias falls from {bias[0]:,.0f} to {bias[-1]:,.0f}, the noise rises in a straight line "
        f"to {noise[-1]:,.0f}, and their sum is smallest, {total[best]:,.0f}, at a clip of {clips[best]:.3g}. Women above that clip: {cut}; "
        f"1 / epsilon is {1 / epsilon:.3g}."
    )


@functools.cache
def affairs_of_each():
    """How much each woman of Fair's survey reports, in his units."""
    from statsmodels.datasets import fair

    return fair.load_pandas().data["affairs"].to_numpy()


def lost_by(clips, values):
    """How much the sum of the values loses by each clip."""
    return np.maximum(values - np.asarray(clips)[:, None], 0).sum(axis=1)


def histogram_release(figure, names, counts, epsilon, seed=1) -> str:
    """A histogram, and where nine of ten of its private releases lie: with noise for one cell and with noise for all cells."""
    counts = validate.numbers("counts", counts, 0)
    rng = np.random.default_rng(seed)
    (panel,) = panels(figure)
    at = np.arange(len(counts))
    panel.bar(at, counts, 0.8, color=PALE, label="exact")
    reach, low, high = [], 0.0, float(counts.max())
    looks = ((-0.18, "o", FIRST, "sensitivity 1"), (0.18, "s", SECOND, f"sensitivity {len(counts)}: too much noise"))
    for sensitivity, (aside, marker, style, label) in zip((1, len(counts)), looks, strict=True):
        released = laplace.mechanism(counts, sensitivity, epsilon, rng)
        reach.append(laplace.error_bound(1, 0.1, sensitivity, epsilon))
        bars = panel.errorbar(
            at + aside, counts, reach[-1], fmt="none", capsize=4, color=style["color"], linewidth=1.6, label=label
        )
        bars.lines[2][0].set_linestyle(style["linestyle"])
        panel.plot(at + aside, released, marker, color=style["color"], markersize=5, zorder=5)
        low, high = (
            min(low, released.min(), (counts - reach[-1]).min()),
            max(high, released.max(), counts.max() + reach[-1]),
        )
    panel.axhline(0, color="black", linewidth=0.8)
    panel.set_xticks(at, names)
    panel.set_ylabel("women")
    panel.set_ylim(1.1 * low, high + 0.3 * (high - low))
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(f"ε = {epsilon:.2g} for the whole histogram: one release (points), 9 of 10 (bars)")
    return (
        f"A histogram of {len(counts)} cells with two kinds of noise at epsilon {epsilon:.2g}: one release of each, and bars in which nine of ten "
        f"releases lie. With noise for a sensitivity of 1 they reach {reach[0]:.3g} above and below the exact count, with noise for "
        f"{len(counts)} they reach {reach[1]:.3g}."
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
    panel.semilogy(t / epsilon, exact, **FIRST, label="exact")
    panel.semilogy(t / epsilon, union, **SECOND, label="union bound")
    least = union[-1]
    panel.plot([bound, bound], [least, 1], **FOURTH, label="theorem 3.8")
    panel.plot([bound], [failure], **RING, markersize=8)
    panel.set_ylim(least, 10)
    panel.set_xlabel("error of a count")
    panel.set_ylabel("chance that the worst is above")
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(
        f"{k:,} counts at ε = {epsilon:.2g}: the worst error is above {bound:.3g} with chance {there:.2%}, allowed {failure:.2%}"
    )
    return (
        f"The chance that the largest error of {k:,} noisy counts at epsilon {epsilon:.2g} is above the number on the axis, on a logarithmic axis. Both "
        f"curves fall from 1. The exact curve lies below the union bound, and comes nearer to it. At {bound:.4g} the union bound is {failure:.2g}, which is "
        f"marked, and the exact chance is {there:.4f}."
    )


def noisy_max_or_all(figure, epsilon, m, lead) -> str:
    """The noise on each of m counts, and how often the true leader is found: noisy max against releasing all."""
    epsilon, m = validate.number("epsilon", epsilon, 0, open_low=True), validate.whole("m", m, 2)
    lead = validate.whole("lead", lead, 0)
    left, right = panels(figure, 2)
    spread = {"noisy max": 1 / epsilon, "release all": m / epsilon}
    x = np.linspace(-3.5, 3.5, 301) * min(spread["release all"], 12 / epsilon)
    for (label, b), style in zip(spread.items(), (FIRST, SECOND), strict=True):
        left.plot(x, np.exp(-np.abs(x) / b), **style, label=label)
    left.set_yticks([])
    left.set_ylim(0, 1.35)
    left.set_ylabel("density, peaks made equal")
    left.set_xlabel("noise on each count")
    left.locator_params(axis="x", nbins=5)
    left.set_title(f"scale {spread['noisy max']:,.4g} against {spread['release all']:,.4g}")
    leads = np.union1d(np.arange(101), lead)
    found, from_all = (
        np.array([laplace.noisy_max_chances([gap, *[0] * (m - 1)], rate)[0] for gap in leads])
        for rate in (epsilon, epsilon / m)
    )
    right.plot(leads, found, **FIRST, label="noisy max")
    right.plot(leads, from_all, **SECOND, label="release all")
    place = int(np.searchsorted(leads, lead))
    for chances in (found, from_all):
        right.plot([lead], [chances[place]], **RING, markersize=7)
    right.set_ylim(0, 1.3)
    right.set_yticks([0, 0.5, 1])
    right.locator_params(axis="x", nbins=5)
    right.set_xlabel("lead of the largest count")
    right.set_ylabel("chance to report it")
    right.set_title(f"lead {lead}: {found[place]:.2f} against {from_all[place]:.2f}")
    for panel in (left, right):
        panel.legend(loc="upper center", ncols=2)
    return (
        f"Left: Laplace noise of scale {spread['noisy max']:.3g} for report noisy max and of scale {spread['release all']:.3g} for releasing all "
        f"{m} counts, both at epsilon {epsilon:.2g}. Right: the chance to report the true leader against its lead. At a lead of {lead} it is "
        f"{found[place]:.3f} for noisy max and {from_all[place]:.3f} for the largest of the released counts."
    )


def coupling(figure, epsilon, thresholds) -> str:
    """The tail of the winner's noise above r*, and above r* + 1, for two r*: the second is at least e^-epsilon of the first."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    x = np.linspace(-5, 7, 601)
    density = epsilon * np.exp(-epsilon * np.abs(x)) / 2
    said = []
    for panel, r in zip(panels(figure, 2), validate.numbers("thresholds", thresholds), strict=True):
        first, second = (_tail(at, epsilon) for at in (r, r + 1))
        panel.plot(x, density, **FIRST)
        panel.fill_between(x, density, where=x >= r, color=PALE, label=f"plain and hatched, beyond r*: {first:.3g}")
        panel.fill_between(x, density, where=x >= r + 1, **LIGHT, label=f"hatched, beyond r* + 1: {second:.3g}")
        panel.set_ylim(0, 0.85 * epsilon)
        panel.set_xlim(-5, 7)
        panel.set_xlabel("noise $r_i$, all other noises fixed")
        panel.set_ylabel("density")
        panel.legend(loc="upper right")
        panel.set_title(f"r* = {r:.2g}: ratio {first / second:.3f}, allowed {math.exp(epsilon):.3f}")
        said.append(
            f"The area beyond r* = {r:.2g} is {first:.3g}, the area beyond r* + 1 is {second:.3g}. Their ratio is {first / second:.3f}, at most e to "
            f"the epsilon, which is {math.exp(epsilon):.3f}."
        )
    return f"Twice the density of Laplace noise with epsilon {epsilon:.2g}. {' '.join(said)}"


def _tail(at, epsilon):
    return math.exp(-epsilon * at) / 2 if at >= 0 else 1 - math.exp(epsilon * at) / 2


def noise_per_count(figure, epsilon, delta) -> str:
    """The standard deviation of the noise on each of m counts: Laplace, and Gaussian with two calibrations."""
    epsilon, delta = validate.number("epsilon", epsilon, 0, open_low=True), validate.number("delta", delta, 0, 1)
    m = np.unique(np.round(np.geomspace(1, 1000, 60)))
    laplacian = math.sqrt(2) * m / epsilon
    classic, analytic = (np.sqrt(m) * sigma(epsilon, delta) for sigma in (gdp.classic_sigma, gdp.analytic_sigma))
    (panel,) = panels(figure)
    panel.loglog(m, laplacian, **FIRST, label="Laplace, δ = 0")
    if epsilon < 1:
        panel.loglog(m, classic, **SECOND, label="Gaussian, classic")
    panel.loglog(m, analytic, **THIRD, label="Gaussian, analytic")
    crossings = {"analytic": analytic[0]} | ({"classic": classic[0]} if epsilon < 1 else {})
    crossings = {name: (sigma * epsilon) ** 2 / 2 for name, sigma in crossings.items()}
    for name, at in crossings.items():
        panel.plot([at], [math.sqrt(2) * at / epsilon], **RING, markersize=9)
        aside = (-8, 8) if name == "analytic" else (8, -14)
        panel.annotate(
            f"{at:.3g}",
            (at, math.sqrt(2) * at / epsilon),
            aside,
            textcoords="offset points",
            ha="right" if aside[0] < 0 else "left",
        )
    panel.set_xlabel("m, counts that one person may be in")
    panel.set_ylabel("standard deviation")
    panel.legend(loc="upper left")
    shown = power(delta) if delta else "0"
    panel.set_title(f"ε = {epsilon:.2g}, δ of the Gaussian noise = {shown}")
    said = " and ".join(f"at m = {at:.3g} with the {name} calibration" for name, at in crossings.items())
    return (
        f"The standard deviation of the noise on each of m counts at epsilon {epsilon:.2g} and delta {delta:.0e}, on logarithmic axes. Laplace noise "
        f"grows like m, from {laplacian[0]:.3g} to {laplacian[-1]:.4g}; Gaussian noise like the root of m, from {analytic[0]:.3g} to "
        f"{analytic[-1]:.4g} with the analytic calibration. The lines cross {said}."
    )


def low_bits(figure, epsilon=1.0, bits=7) -> str:
    """All outputs of the textbook sampler near 0.3 for the counts 0 and 1, with a uniform number of few bits."""
    b = 1 / validate.number("epsilon", epsilon, 0, open_low=True)
    step = 2 ** (53 - validate.whole("bits", bits))
    noises = np.array([laplace.textbook_noise(step * j, b) for j in range(1, 2**bits)])
    (panel,) = panels(figure)
    inside = []
    for row, (count, style) in enumerate(((0, FIRST), (1, SECOND))):
        outputs = count + noises
        outputs = outputs[(outputs > 0.1) & (outputs < 0.9)]
        inside.append(set(outputs.tolist()))
        panel.vlines(outputs, 0.15 + row, 0.85 + row, color=style["color"], linewidth=1.6, linestyle=style["linestyle"])
    panel.set_yticks([0.5, 1.5], ["count 0", "count 1"])
    panel.set_ylim(0, 2)
    panel.set_xlabel("output")
    panel.set_title(f"possible outputs if the uniform number had {bits} bits")
    common = len(inside[0] & inside[1])
    return (
        f"Two rows of strokes between 0.1 and 0.9: the outputs that textbook Laplace noise can give for a true count of 0, {len(inside[0])} of them, "
        f"and for a true count of 1, {len(inside[1])} of them. They stand at different places; {common} are in both rows."
    )
