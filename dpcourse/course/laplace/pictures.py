"""The pictures of lesson 02."""

import math

import numpy as np

from dpcourse import gdp, laplace, validate
from dpcourse.frame import DARK, FIRST, FOURTH, LIGHT, PALE, RING, SECOND, THIRD, panels


def laplace_pair(figure, epsilon, change) -> str:
    """The densities of a noisy count with Mia and without her, and their ratio between the lines e^±epsilon."""
    epsilon = validate.number("epsilon", epsilon, 0, open_low=True)
    change = validate.number("change", change, 0)
    b = 1 / epsilon
    z = np.linspace(-change / 2 - 4, change / 2 + 4, 401)
    with_mia, without = (np.exp(-np.abs(z - at) / b) / (2 * b) for at in (change / 2, -change / 2))
    left, right = panels(figure, 2)
    left.plot(z, with_mia, **FIRST, label="with Mia")
    left.plot(z, without, **SECOND, label="without her")
    left.set_ylim(0, 1.5 * with_mia.max())
    left.set_ylabel("density")
    left.legend(loc="upper center", ncols=2)
    left.set_title(f"Lap({b:.2g}) noise on two answers")
    loss = (np.abs(z + change / 2) - np.abs(z - change / 2)) / b
    right.plot(z, loss, **FIRST, label="log of the ratio")
    right.axhline(epsilon, **FOURTH, label="±ε")
    right.axhline(-epsilon, **FOURTH)
    top = max(epsilon, loss.max())
    right.set_ylim(-1.15 * top, 1.75 * top)
    right.legend(loc="upper left", ncols=2)
    right.set_ylabel("privacy loss")
    worst = change * epsilon
    kept = worst <= epsilon * (1 + 1e-12)
    right.set_title(f"ε = {epsilon:.2g}: {'kept' if kept else 'broken'}, the loss reaches {worst:.2g}")
    for panel in (left, right):
        panel.set_xlabel("output (0: half-way between)")
        panel.locator_params(nbins=5)
    return (
        f"Left: two Laplace densities of scale {b:.3g}, whose peaks are {change:.2g} apart. Right: the logarithm of their ratio "
        f"against the output. It is flat outside the peaks, at plus and minus {worst:.3g}; the lines of plus and minus epsilon are "
        f"at {epsilon:.2g}, so the promise is {'kept' if kept else 'broken'}."
    )


def histogram_release(figure, names, counts, epsilon, seed=1) -> str:
    """A histogram beside its private release, with noise for one cell and with noise for all cells."""
    counts = validate.numbers("counts", counts, 0)
    rng = np.random.default_rng(seed)
    right_noise = laplace.mechanism(counts, 1, epsilon, rng)
    per_cell = laplace.mechanism(counts, len(counts), epsilon, rng)
    (panel,) = panels(figure)
    at = np.arange(len(counts))
    panel.bar(at - 0.27, counts, 0.26, color=PALE, label="exact")
    panel.bar(at, right_noise, 0.26, **DARK, label="sensitivity 1")
    panel.bar(at + 0.27, per_cell, 0.26, **LIGHT, label=f"sensitivity {len(counts)}: too much noise")
    panel.axhline(0, color="black", linewidth=0.8)
    panel.set_xticks(at, names)
    panel.set_ylabel("women")
    low, high = min(0, right_noise.min(), per_cell.min()), max(counts.max(), right_noise.max(), per_cell.max())
    panel.set_ylim(1.1 * low, high + 0.3 * (high - low))
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(f"ε = {epsilon:.2g} for the whole histogram")
    errors = [np.abs(noisy - counts).mean() for noisy in (right_noise, per_cell)]
    return (
        f"A histogram of {len(counts)} cells, exact and with two kinds of noise at epsilon {epsilon:.2g}. With noise for a sensitivity "
        f"of 1 the counts are off by {errors[0]:.3g} on average, with noise for {len(counts)} by {errors[1]:.3g}."
    )


def worst_error(figure, k, epsilon, failure) -> str:
    """How likely the largest of k noises is above t, exactly and by the union bound, with the bound of theorem 3.8."""
    k, epsilon = validate.whole("k", round(k)), validate.number("epsilon", epsilon, 0, open_low=True)
    bound = laplace.error_bound(k, failure, 1, epsilon)
    t = np.linspace(0, 1.6 * bound * epsilon, 300)
    exact = -np.expm1(k * np.log1p(-np.exp(-np.maximum(t, 1e-12))))
    union = np.minimum(1, k * np.exp(-t))
    (panel,) = panels(figure)
    panel.plot(t / epsilon, union, **SECOND, label="union bound")
    panel.plot(t / epsilon, exact, **FIRST, label="exact")
    panel.plot([bound, bound], [0, 1], **FOURTH, label="theorem 3.8")
    panel.plot([bound], [failure], **RING, markersize=8)
    panel.set_ylim(0, 1.28)
    panel.set_yticks(np.linspace(0, 1, 6))
    panel.set_xlabel("t, error of a count")
    panel.set_ylabel("chance that the worst error is above t")
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(
        f"{k:,} counts at ε = {epsilon:.2g}: with probability {1 - failure:.2g} all errors are below {bound:.3g}"
    )
    return (
        f"The chance that the largest error of {k:,} noisy counts at epsilon {epsilon:.2g} is above t. It falls from 1 to 0. The exact curve "
        f"lies below the union bound. At t = {bound:.4g} the union bound is {failure:.2g}, which is marked."
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


def coupling(figure, epsilon, threshold) -> str:
    """The tail of the winner's noise above r*, and above r* + 1: the second is at least e^-epsilon of the first."""
    epsilon, r = validate.number("epsilon", epsilon, 0, open_low=True), validate.number("threshold", threshold)
    x = np.linspace(-5, 7, 601)
    density = epsilon * np.exp(-epsilon * np.abs(x)) / 2
    first, second = (_tail(at, epsilon) for at in (r, r + 1))
    (panel,) = panels(figure)
    panel.plot(x, density, **FIRST, label="noise $r_i$")
    panel.fill_between(x, density, where=x >= r, color=PALE, label=f"beyond r*: {first:.3g} (grey and hatched)")
    panel.fill_between(x, density, where=x >= r + 1, **LIGHT, label=f"beyond r* + 1: {second:.3g}")
    panel.set_ylim(0, 0.8 * epsilon)
    panel.set_xlim(-5, 7)
    panel.set_xlabel("noise $r_i$ of option i, all other noises fixed")
    panel.set_ylabel("density")
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(f"ε = {epsilon:.2g}, r* = {r:.2g}: ratio {first / second:.3f}, allowed {math.exp(epsilon):.3f}")
    return (
        f"The density of Laplace noise with epsilon {epsilon:.2g}. The area beyond r* = {r:.2g} is {first:.3g}, the area beyond r* + 1 is "
        f"{second:.3g}. Their ratio is {first / second:.3f}, at most e to the epsilon, which is {math.exp(epsilon):.3f}."
    )


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
    first = math.floor((analytic[0] / laplacian[0]) ** 2) + 1
    said = f"analytic Gaussian noise is smaller from m = {first}"
    panel.set_xlabel("m, counts that one person may be in")
    panel.set_ylabel("standard deviation")
    panel.legend(loc="upper left")
    panel.set_title(f"ε = {epsilon:.2g}, δ = {delta:.0e}: {said}")
    return (
        f"The standard deviation of the noise on each of m counts at epsilon {epsilon:.2g} and delta {delta:.0e}, on logarithmic axes. Laplace noise "
        f"grows like m, from {laplacian[0]:.3g} to {laplacian[-1]:.4g}; Gaussian noise like the root of m, from {analytic[0]:.3g} to "
        f"{analytic[-1]:.4g} with the analytic calibration; {said}."
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
