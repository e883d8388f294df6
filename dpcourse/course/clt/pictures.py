"""The pictures of lesson 04."""

import functools
import math
from pathlib import Path

import numpy as np
from matplotlib.ticker import FixedLocator
from scipy.special import ndtr

from dpcourse import clt, gdp
from dpcourse.base.languages import counted, say, sentences, to_say
from dpcourse.base.packaged import Table
from dpcourse.base.style import (
    FALSE_ALARMS,
    FIRST,
    FOURTH,
    HALVES,
    LIGHT,
    MISSES,
    RING,
    SECOND,
    THIRD,
    Look,
    levels,
    panels,
    power,
    unit_square,
)
from dpcourse.tradeoff import TradeOff, approx_dp, gaussian, laplace

SAMPLED = to_say("Gaussian noise, 10 % sampled")  # Mia's data are used with probability 0.1
MECHANISMS = {
    to_say("randomized response"): approx_dp,
    to_say("Laplace noise"): laplace,
    SAMPLED: lambda mu: gaussian(mu).subsampled(0.1),
}
CHOICES = "MECHANISMS", "settings"  # what lessons take from here for their sliders
BAND: Look = {"color": "#dfe5ec", "linewidth": 0}
WASTE: Look = {"facecolor": "#e3efe9", "edgecolor": "#2f7f60", "hatch": "..."}
GRID = levels(1e-6, 300)
SUNK = 4  # from this mu on the curve has sunk into the corner of its panel
SMALL, LENS = 1e-5, 1e-8  # the delta at which epsilon is read, and the least under the lens
POINTER = {"arrowprops": {"arrowstyle": "->"}, "va": "center", "fontsize": 9}
TABLE = Table(Path(__file__).with_name("noisy_sgd.npz"), ("noise_multiplier", "sample_rate", "steps"))


# ---- the product


def product(figure, epsilon, mu) -> str:
    """A randomized response, Gaussian noise, and both answers together."""
    f, g = approx_dp(epsilon), gaussian(mu)
    both = _of_two(epsilon, mu)
    (panel,) = panels(figure)
    panel.plot(GRID, 1 - GRID, **FOURTH, label=say("Id: nothing told"))
    panel.plot(GRID, f(GRID), **SECOND, label=say("f: randomized response"))
    panel.plot(GRID, g(GRID), **THIRD, label=say("g: Gaussian noise"))
    panel.plot(GRID, both, **FIRST, label=say("f ⊗ g: both answers"))
    unit_square(panel)
    panel.set_title(
        say(
            "ε = {epsilon:.2g}, μ = {mu:.2g}: the curve of both answers is nowhere above the others",
            epsilon=epsilon,
            mu=mu,
        )
    )
    panel.legend(loc="upper right")
    return say(
        "Trade-off curves of randomized response with epsilon {epsilon:.2g}, of Gaussian noise with mu {mu:.2g}, and of both "
        "answers together, which is nowhere above the two. At alpha 0.1 they miss with probability {response:.2f}, "
        "{gaussian:.2f} and {both:.2f}.",
        epsilon=epsilon,
        mu=mu,
        response=f(0.1),
        gaussian=g(0.1),
        both=np.interp(0.1, GRID, both),
    )


@functools.lru_cache(maxsize=256)
def _of_two(epsilon, mu):
    return (approx_dp(epsilon) @ _through_points(gaussian(mu)))(GRID)


def _through_points(f):
    """A smooth curve as 6,000 points: its products are several times faster, and 3e-6 away."""
    alpha = np.r_[0, np.geomspace(1e-12, 0.5, 3000)]
    alpha = np.unique(np.r_[alpha, 1 - alpha])
    return TradeOff.from_points(alpha, f(alpha), repair=True)


# ---- the limit and its band


def limit(figure, mechanism, size, n) -> str:
    """n answers beside their limit: the distribution of their loss, their curve, and delta under a lens.

    mechanism: a key of MECHANISMS; size: the epsilon or mu of one answer.
    """
    mu, gamma, mean, deviation = _limit_of(mechanism, size, n)
    loss, beta, epsilon, delta = _exact(mechanism, size, n)
    by_limit = gdp.epsilon(SMALL, mu)
    left, middle, right = panels(figure, 3)
    figure.subplots_adjust(left=0.075, right=0.975, bottom=0.36, top=0.88, wspace=0.42)
    _draw_loss(left, mean, deviation, gamma, loss)
    _draw_curve(middle, mu, gamma, beta)
    _draw_lens(right, mu, delta, (epsilon, by_limit))
    proves = gamma < 0.5
    band = say("± γ; what is proved") if proves else say("± γ; nothing is proved")
    known = [*left.lines, left.collections[0]], [say("exactly"), say("normal; limit Gμ"), band]
    figure.legend(*known, loc="lower center", ncols=3, borderaxespad=0.5)
    letter, parameter = ("μ", "mu") if mechanism == SAMPLED else ("ε", "epsilon")
    left.set_title(
        counted(
            "{count} answer, {letter} = {size:.2g}",
            "{count:,} answers, {letter} = {size:.2g} each",
            count=n,
            letter=letter,
            size=size,
        )
    )
    middle.set_title(f"μ = {mu:.3g}, γ = {gamma:.2g}")
    right.set_title(say("ε = {exact:.3g}, limit {limit:.3g}", exact=epsilon, limit=by_limit))
    told = [
        counted(
            "{count} answer by {mechanism}, {parameter} {size:.2g}.",
            "{count:,} answers by {mechanism}, {parameter} {size:.2g} each.",
            count=n,
            mechanism=say(mechanism),
            parameter=parameter,
            size=size,
        ),
        say("Left: the distribution of their total privacy loss beside a normal one."),
        say(
            "Middle: their exact trade-off curve beside G with mu {mu:.3g}; at the alpha that are drawn, 0 and from 1e-6 on, "
            "the two are at most {away:.2g} apart.",
            mu=mu,
            away=float(np.abs(beta - gaussian(mu)(GRID)).max()),
        ),
        say("Berry and Esseen's gamma is {gamma:.2g}, and the proved band lies around them.", gamma=gamma)
        if proves
        else say("Berry and Esseen's gamma is {gamma:.2g}, too large to prove anything.", gamma=gamma),
    ]
    if mu > SUNK:
        told.append(say("Both curves lie along the axes."))
    told.append(
        say(
            "Right, under a lens: delta down to 1e-8 against epsilon; at delta 1e-5 the exact epsilon is {exact:.3g} and the "
            "limit's {limit:.3g}.",
            exact=epsilon,
            limit=by_limit,
        )
    )
    return sentences(told)


def _draw_loss(panel, mean, deviation, gamma, loss):
    """The distribution functions of the loss and of a normal one, with gamma's band."""
    reach = np.linspace(mean - 3.5 * deviation, mean + 3.5 * deviation, 120)
    normal = ndtr((reach - mean) / deviation)
    panel.fill_between(reach, np.clip(normal - gamma, 0, 1), np.clip(normal + gamma, 0, 1), **BAND, label="± γ")
    below = np.r_[reach[0], loss[::-1], reach[-1]], np.r_[0, 1 - GRID[::-1], 1]
    panel.plot(*below, **FIRST, drawstyle="steps-post", label=say("exactly"))
    panel.plot(reach, normal, **SECOND, label=say("normal"))
    panel.set_xlim(reach[0], reach[-1])
    panel.locator_params(axis="x", nbins=3)
    panel.set_ylim(-0.02, 1.02)
    panel.set_yticks(HALVES)
    panel.set_xlabel(say("privacy loss of all answers"))
    panel.set_ylabel(say("chance to be below"))


def _draw_curve(panel, mu, gamma, beta):
    """The trade-off curves, what is proved of the exact one, and a ring where delta is to be looked for."""
    panel.fill_between(GRID, *proved(mu, gamma), **BAND, label=say("proved") if gamma < 0.5 else "β ≤ 1 - α")
    panel.plot(GRID, beta, **FIRST, label=say("exactly"))
    panel.plot(GRID, gaussian(mu)(GRID), **SECOND, label=say("limit Gμ"))
    unit_square(panel, -0.02, HALVES, FALSE_ALARMS, MISSES)
    panel.set_aspect("equal")
    panel.plot([0], [1], **RING, markersize=9, clip_on=False)
    panel.annotate(say("the lens"), (0.06, 0.98), (0.26, 0.98), **POINTER)
    if mu > SUNK:
        panel.annotate(say("both curves,\nalong the axes"), (0.01, 0.01), (0.25, 0.3), **POINTER)


def _draw_lens(panel, mu, delta, found):
    """delta against epsilon, on a logarithmic axis; found: the epsilon at SMALL, exactly and by the limit."""
    least = np.log10(LENS)
    by_limit = np.linspace(0, gdp.epsilon(LENS, mu), 60)
    panel.plot(delta[0], np.log10(delta[1]), **FIRST)
    panel.plot(by_limit, np.log10(gdp.delta(by_limit, mu)), **SECOND)
    panel.axhline(np.log10(SMALL), **FOURTH | {"linewidth": 1.2})
    panel.plot(found, [np.log10(SMALL)] * 2, **RING, markersize=6)
    panel.set_xlim(0, 1.03 * max(delta[0][-1], by_limit[-1]))
    panel.set_ylim(least, 0.15)
    panel.yaxis.set_major_locator(FixedLocator([least, np.log10(SMALL), -2, 0]))
    panel.yaxis.set_major_formatter(_power_of_ten)
    panel.locator_params(axis="x", nbins=4)
    panel.set_xlabel("ε")
    panel.set_ylabel(say("δ, under the lens"))
    panel.spines[["top", "right"]].set_visible(True)


def _power_of_ten(value, _):
    """Much faster than a power of ten in TeX."""
    return power(10.0**value)


def proved(mu, gamma):
    """The lowest and the highest beta that theorem 3.4 and 0 <= beta <= 1 - alpha leave, at each of GRID."""
    g = gaussian(mu)
    speaks = np.abs(GRID - 0.5) <= 0.5 - gamma
    low = np.maximum(g(np.minimum(GRID + gamma, 1)) - gamma, 0)
    high = np.minimum(g(np.maximum(GRID - gamma, 0)) + gamma, 1 - GRID)
    return np.where(speaks, low, 0), np.where(speaks, high, 1 - GRID)


@functools.lru_cache(maxsize=256)
def _functionals(mechanism, size):
    return clt.functionals(MECHANISMS[mechanism](size))


def _limit_of(mechanism, size, n):
    """mu and gamma of n answers (theorem 3.4), and the mean and the deviation of their loss under P."""
    kl, kappa2, _, kappa3_bar = _functionals(mechanism, size)
    deviation = math.sqrt(n * (kappa2 - kl**2))
    gamma = clt.BERRY_ESSEEN * n * kappa3_bar / deviation**3
    return 2 * n * kl / deviation, gamma, -n * kl, deviation


@functools.lru_cache(maxsize=256)
def _exact(mechanism, size, n):
    """The total loss at which alpha is reached, and beta, at each of GRID; epsilon at SMALL; (epsilons, deltas) of the lens."""
    f = MECHANISMS[mechanism](size)
    curve = (_through_points(f) if mechanism == SAMPLED else f).power(n)
    epsilons = np.linspace(0, curve.epsilon(LENS), 200)
    delta = epsilons, np.maximum(curve.delta(epsilons), LENS / 10)
    return np.clip(curve.log_slope(GRID), -1e3, 1e3), curve(GRID), curve.epsilon(SMALL), delta


# ---- the limit against the certified value


def limit_error(figure, noise_multiplier, sample_rate, steps) -> str:
    """epsilon of noisy SGD against delta: certified, and by the limit; where the limit is too low, where too high."""
    lower, upper = certified(noise_multiplier, sample_rate, steps)
    deltas = TABLE["delta"]
    mu = clt.noisy_sgd_mu(noise_multiplier, sample_rate, steps)
    by_limit = limit_epsilons(deltas, mu)
    x = np.log10(deltas)
    (panel,) = panels(figure)
    panel.fill_between(
        x, by_limit, lower, where=by_limit < lower, interpolate=True, **LIGHT, label=say("promises too much")
    )
    panel.fill_between(
        x, upper, by_limit, where=by_limit > upper, interpolate=True, **WASTE, label=say("promises too little")
    )
    panel.plot(x, upper, **FIRST, label=say("exact (certified)"))
    panel.plot(x, by_limit, **SECOND, label=say("limit"))
    top = max(upper.max(), by_limit.max())
    panel.set_ylim(0, 1.3 * top)
    panel.set_xlim(x[-1], x[0])
    panel.xaxis.set_major_locator(FixedLocator(range(-10, 0)))
    panel.xaxis.set_major_formatter(_power_of_ten)
    panel.set_xlabel("δ")
    panel.set_ylabel("ε")
    at = int(np.argmin(np.abs(x + 5)))
    panel.plot([x[at]] * 2, [by_limit[at], upper[at]], **RING, markersize=6)
    error = _signed((by_limit[at] / upper[at] + by_limit[at] / lower[at]) / 2 - 1)
    panel.set_title(
        say(
            "σ = {noise_multiplier:g}, rate {sample_rate:g}, {steps:,} steps; at δ = 10⁻⁵: limit {limit:.3g}, exact "
            "{exact:.3g}: {error}",
            noise_multiplier=noise_multiplier,
            sample_rate=sample_rate,
            steps=steps,
            limit=by_limit[at],
            exact=upper[at],
            error=error,
        )
    )
    panel.legend(loc="upper right", ncols=4, columnspacing=1)
    if error == "0 %":
        at_five = to_say(
            "At delta 1e-5 the limit says {limit:.3g} and the certified value is {exact:.3g}, the same up to 0.5 %."
        )
    elif by_limit[at] < lower[at]:
        at_five = to_say(
            "At delta 1e-5 the limit says {limit:.3g} and the certified value is {exact:.3g}: the limit is {off} below it, "
            "which is the dangerous side."
        )
    else:
        at_five = to_say(
            "At delta 1e-5 the limit says {limit:.3g} and the certified value is {exact:.3g}: the limit is {off} above it."
        )
    told = [
        say(
            "Epsilon against delta for noisy SGD with noise multiplier {noise_multiplier:g}, sample rate {sample_rate:g} and "
            "{steps} steps.",
            noise_multiplier=noise_multiplier,
            sample_rate=sample_rate,
            steps=steps,
        ),
        say(at_five, limit=by_limit[at], exact=upper[at], off=error[1:]),
    ]
    above = (by_limit - upper) / top
    if above.max() > 0.01 and above.min() < -0.01:
        turn = int(np.argmax(above < 0))  # the first delta at which the limit is below
        told.append(say("The lines cross near delta {delta:.0e}.", delta=deltas[turn]))
    return sentences(told)


def limit_epsilons(deltas, mu):
    """gdp.epsilon at several deltas, by interpolation: a slider has no time for as many roots."""
    grid = np.linspace(0, gdp.epsilon(float(deltas.min()), mu) * 1.001, 400)
    return np.interp(-np.log(deltas), -np.log(gdp.delta(grid, mu)), grid)


def _signed(error):
    return f"{100 * error:+.0f} %".replace("-0 %", "0 %").replace("+0 %", "0 %")


def settings() -> dict[str, list]:
    """The settings that limit_error can show: argument name -> list of values."""
    return TABLE.settings()


def certified(noise_multiplier, sample_rate, steps):
    """(lower, upper) bounds on epsilon at each delta of the table. ValueError for a setting that is not in it."""
    place = TABLE.place(noise_multiplier=noise_multiplier, sample_rate=sample_rate, steps=steps)
    return TABLE["lower"][place], TABLE["upper"][place]


def certify():
    """Compute the table anew and store it: certified bounds on epsilon; about ten minutes. The tests compute some again."""
    from dpcourse import pld

    deltas = 10.0 ** np.arange(-1, -10.1, -0.5)

    def values(**setting):
        curve = pld.noisy_sgd(**setting)
        lower, upper = np.array([curve.epsilon(float(delta)) for delta in deltas]).T
        return {"lower": lower, "upper": upper}

    TABLE.make(
        values,
        noise_multiplier=[0.5, 0.6, 0.7, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0],
        sample_rate=[0.0003, 0.001, 0.003, 0.01, 0.03],
        steps=[100, 300, 1000, 3000, 10_000],
        delta=deltas,
    )


if __name__ == "__main__":  # python -m dpcourse.course.clt.pictures
    certify()
