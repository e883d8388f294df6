"""From (ε, δ) to μ."""

import math

from scipy.optimize import brentq
from scipy.special import ndtri

from dpcourse import gdp, tradeoff
from dpcourse.engine import Exercise, Misconception, a_number, rounded


def _draw_promise(rng):
    """A usual promise, a loose one whose mu is above 1, and one with a tiny delta."""
    return [
        {"epsilon": rounded(rng.uniform(0.3, 0.9)), "delta": float(f"{10 ** rng.uniform(-7, -4):.1e}")},
        {"epsilon": rounded(rng.uniform(6, 10)), "delta": float(f"{10 ** rng.uniform(-4, -2):.1e}")},
        {"epsilon": rounded(rng.uniform(1, 3)), "delta": float(f"{10 ** rng.uniform(-30, -20):.1e}")},
    ]


def _mu(epsilon, delta):
    """The mu at which the delta of epsilon is reached."""
    return math.exp(
        brentq(
            lambda x: float(tradeoff.log_gaussian_delta(epsilon, math.exp(x))) - math.log(delta), -80, 10, xtol=1e-13
        )
    )


def _z(delta):
    return -float(ndtri(delta))


def _halving(epsilon, delta, stop=lambda value, delta: False, wrong_way=False):
    """Bisection as the lesson's solution does it, with a part replaced."""
    low, high = 0.0, 1.0
    while gdp.delta(epsilon, high) < delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        value = gdp.delta(epsilon, middle)
        if stop(value, delta):
            return middle
        if (value <= delta) != wrong_way:
            low = middle
        else:
            high = middle
    return low


def _stops_early(cases, values):
    """The deltas agree to 1e-7, and not because the mu were rounded."""
    reached = [float(gdp.delta(case["epsilon"], max(0, value))) for case, value in zip(cases, values, strict=True)]
    near = all(abs(delta - case["delta"]) < 1e-7 for case, delta in zip(cases, reached, strict=True))
    return near and any(value != round(value, 4) for value in values)


def _to_places(cases, values, most):
    """All the right ones to some number of decimal places, at most so many."""
    return any(
        all(value == round(_mu(**case), places) for case, value in zip(cases, values, strict=True))
        for places in range(most + 1)
    )


def _rounded(cases, values):
    """All the right ones to two, three or four significant digits, not to up to three decimal places."""
    return not _to_places(cases, values, 3) and any(
        all(value == float(f"{_mu(**case):.{digits}g}") for case, value in zip(cases, values, strict=True))
        for digits in (2, 3, 4)
    )


def _in_steps(cases, values):
    """All are at one side of the right ones, by two steps at most, and whole multiples of such a step; they are not rounded."""
    off = [value - _mu(**case) for case, value in zip(cases, values, strict=True)]
    for step in (0.1, 0.01, 0.001, 0.0001):
        near = any(all(0 <= sign * each <= 2 * step for each in off) for sign in (1, -1))
        if near and all(abs(value / step - round(value / step)) < 1e-6 for value in values):
            return not _to_places(cases, values, 4)
    return False


def _at_the_ends(cases, values):
    """Each value is a whole number, as the ends of a search are, and some are far off."""
    if not all(map(math.isfinite, values)):
        return False
    far = any(abs(value - _mu(**case)) > 0.5 for case, value in zip(cases, values, strict=True))
    return far and all(abs(value - round(value)) < 1e-6 for value in values)


exercise = Exercise(
    title="From (ε, δ) to μ",
    good_for="finding the least noise that keeps an (ε, δ) promise",
    difficulty=3,
    minutes=20,
    points=3,
    draw=_draw_promise,
    reference=gdp.mu,
    returns=a_number,
    forbidden=(gdp.mu, gdp.epsilon, gdp.analytic_sigma),
    rtol=1e-4,
    atol=0.0,
    hints=(
        "For a fixed epsilon, delta grows with mu. So the mu you look for is where `gdp.delta(epsilon, mu)` reaches delta.",
        "Keep two numbers, low (delta still small enough) and high (too large). Look at the middle, and move one of them there. 100 halvings are plenty.",
        "To begin, double high from 1 on until `gdp.delta(epsilon, high)` is above delta. `low = 0.0` always works.",
    ),
    misconceptions=(
        Misconception(
            "mu is epsilon",
            "You returned epsilon. mu and epsilon are not the same measure, and delta has to come in.",
            lambda epsilon, delta: epsilon,
        ),
        Misconception(
            "classic noise",
            "You inverted the classic formula, mu = epsilon / sqrt(2 ln(1.25/delta)). It is proved for epsilon < 1 only, and there it is not the largest mu.",
            lambda epsilon, delta: epsilon / math.sqrt(2 * math.log(1.25 / delta)),
        ),
        Misconception(
            "sigma",
            "That is sigma = 1/mu, the noise for sensitivity 1. The question is for mu.",
            lambda epsilon, delta: 1 / _mu(epsilon, delta),
        ),
        Misconception(
            "tail only",
            "You set the first term alone equal to delta. That mu is safe, but not the largest: the term with e^epsilon makes delta smaller.",
            lambda epsilon, delta: 2 * epsilon / (_z(delta) + math.sqrt(_z(delta) ** 2 + 2 * epsilon)),
        ),
        Misconception(
            "epsilon ignored",
            "That is the mu whose delta(0) is delta. At your epsilon far more is allowed.",
            lambda epsilon, delta: _mu(0.0, delta),
        ),
        Misconception(
            "stopped at 1",
            "Your search ends at mu = 1, but mu may be larger. Double the upper end until its delta is too large.",
            lambda epsilon, delta: min(1.0, _mu(epsilon, delta)),
        ),
        Misconception(
            "zero",
            "You returned 0 each time. That is safe for every promise and allows no answer at all. In a search: is the comparison the wrong way round, or the middle computed only once, before the loop? Without one: `delta` is no mu, and `gdp.delta` returns none.",
            lambda epsilon, delta: 0.0,
        ),
        Misconception(
            "rounded",
            "Right, but rounded to a few digits. Return the number as it is; a caller can still round it.",
            lambda epsilon, delta: float(f"{_mu(epsilon, delta):.4g}"),
            recognise=_rounded,
        ),
        Misconception(
            "steps",
            "Your search goes in equal steps and is right up to a step or two only: too coarse where mu is small. Halve an interval instead, 100 times.",
            lambda epsilon, delta: (math.ceil(1000 * _mu(epsilon, delta)) + 1) / 1000,
            recognise=_in_steps,
        ),
        Misconception(
            "wrong way",
            "You return an end of an interval, away from the answer. Doubling finds only an upper end. Then halve: where delta is still small enough, mu may grow, so low moves up to the middle; otherwise high moves down.",
            lambda epsilon, delta: _halving(epsilon, delta, wrong_way=True),
            recognise=_at_the_ends,
        ),
        Misconception(
            "stops early",
            "At your mu the delta is right up to a tiny difference, which at a delta of 1e-30 is far too much. Does your search stop when two deltas differ by little (then halve 100 times), or does a delta of your own take a tail as 1 - cdf, which is rounded away?",
            lambda epsilon, delta: _halving(epsilon, delta, stop=lambda a, b: abs(a - b) < 1e-10),
            recognise=_stops_early,
        ),
    ),
)
