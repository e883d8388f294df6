"""From (ε, δ) to μ."""

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri

from dpcourse import gdp, tradeoff
from dpcourse.checking import Domain, Exercise, Misconception, Number, a_number, rounded


def _draw_promise(rng):
    """A usual promise, a loose one whose mu is above 1, one with a tiny delta, and two that leave a mu below 0.001."""
    small = [
        {"epsilon": rounded(rng.uniform(4e-4, 1e-3), 6), "delta": float(f"{10 ** rng.uniform(-8, -6.5):.1e}")}
        for _ in range(2)
    ]
    return [
        {"epsilon": rounded(rng.uniform(0.3, 0.9)), "delta": float(f"{10 ** rng.uniform(-7, -4):.1e}")},
        {"epsilon": rounded(rng.uniform(6, 10)), "delta": float(f"{10 ** rng.uniform(-4, -2):.1e}")},
        {"epsilon": rounded(rng.uniform(1, 3)), "delta": float(f"{10 ** rng.uniform(-30, -20):.1e}")},
        *small,
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


def _first_term(epsilon, delta):
    """The mu at which the first term of delta alone is as large."""
    return 2 * epsilon / (_z(delta) + math.sqrt(_z(delta) ** 2 + 2 * epsilon))


def _turned_exponent(epsilon, delta):
    """The mu at which delta is reached by the first term minus e^-epsilon times the second."""

    def excess(x):
        mu = math.exp(x)
        first, second = (float(log_ndtr(-epsilon / mu + half)) for half in (mu / 2, -mu / 2))
        return first + math.log1p(-math.exp(second - epsilon - first)) - math.log(delta)

    return math.exp(brentq(excess, -12, 10, xtol=1e-13))


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


def _bits(value):
    """How many halvings of 1 lead to this number; those of a search do, from any whole number on."""
    return next((bits for bits in range(53) if (float(value) * 2**bits).is_integer()), math.inf)


def _stops_at_a_length(cases, values):
    """All are ends of intervals of one length, or nearly, and right up to it."""
    if not all(map(math.isfinite, values)):
        return False
    bits = max(map(_bits, values))
    if any(value > 0 and _bits(value) < bits - 10 for value in values):  # the middle of a longer one
        return False
    length = (8 if bits < 12 else 64) * 2.0**-bits  # a search from 100 on has more than a power of 2 in it
    near = all(abs(value - _mu(**case)) <= length for case, value in zip(cases, values, strict=True))
    return 5 <= bits <= 40 and near


def _near(cases, values):
    """All are right up to 0.001, and the small ones, taken by themselves, are far from right; they are not rounded."""
    right = [_mu(**case) for case in cases]
    off = [abs(value - mu) for value, mu in zip(values, right, strict=True)]
    far = max(each / mu for each, mu in zip(off, right, strict=True)) > 100 * max(off) / max(right)
    return max(off) <= 1e-3 and far and not any(_to_places(cases, values, places) for places in range(3, 16))


def _reached(cases, values):
    """By what factor the delta of each is off."""
    return [
        float(gdp.delta(case["epsilon"], max(0.0, value))) / case["delta"]
        for case, value in zip(cases, values, strict=True)
    ]


def _stops_early(cases, values):
    """All are middles of a search; the deltas differ by 1e-6 at most, and where delta is tiny it is another altogether."""
    if not all(map(math.isfinite, values)):
        return False
    factors = _reached(cases, values)
    near = all(abs(factor - 1) * case["delta"] < 1e-6 for case, factor in zip(cases, factors, strict=True))
    tiny = all(not 0.8 < factor < 1.2 for case, factor in zip(cases, factors, strict=True) if case["delta"] < 1e-16)
    return near and tiny and all(_bits(value) < 45 for value in values)


def _loses_the_tail(cases, values):
    """Right where delta is not tiny; where it is, the first term alone counts, or what 1 - cdf leaves of both, at no early middle."""
    if not all(map(math.isfinite, values)):
        return False
    for case, value, factor in zip(cases, values, _reached(cases, values), strict=True):
        rounded_away = 1e-19 < factor * case["delta"] < 1e-13 and _bits(value) > 40
        explained = abs(value / _first_term(**case) - 1) < 1e-4 or rounded_away
        if abs(value / _mu(**case) - 1) > 1e-4 and not (case["delta"] < 1e-16 and explained):
            return False
    return True


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
    """All are off by two steps at most, and whole multiples of such a step; they are not rounded."""
    off = [value - _mu(**case) for case, value in zip(cases, values, strict=True)]
    for step in (0.1, 0.01, 0.001, 0.0001):
        near = all(abs(each) <= 2 * step for each in off)
        if near and all(abs(value / step - round(value / step)) < 1e-6 for value in values):
            return not _to_places(cases, values, 4)
    return False


def _at_the_ends(cases, values):
    """Each value is a whole number, as the ends of a search are, not always 1, and some are far off."""
    if not all(map(math.isfinite, values)) or set(values) == {1}:
        return False
    far = any(abs(value - _mu(**case)) > 0.5 for case, value in zip(cases, values, strict=True))
    return far and all(abs(value - round(value)) < 1e-6 for value in values)


exercise = Exercise(
    title="From (ε, δ) to μ",
    good_for="finding the least noise that keeps an (ε, δ) promise",
    difficulty=3,
    minutes=25,
    points=3,
    domain=Domain({"epsilon": Number(4e-4, 10), "delta": Number(1e-30, 0.9)}),
    draw=_draw_promise,
    reference=gdp.mu,
    returns=a_number,
    possible=Number(0, math.inf),
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
            _first_term,
        ),
        Misconception(
            "turned exponent",
            "You took e^-epsilon times the second term. delta is P(S) of the one neighbour minus e^epsilon times that of the other, so the exponent has no minus sign.",
            _turned_exponent,
        ),
        Misconception(
            "a tail bound",
            "You inverted epsilon = mu²/2 + mu sqrt(2 ln(1/delta)), a bound on the tail known from concentrated DP (zCDP). It is safe, and not the largest mu: solve `gdp.delta(epsilon, mu) = delta`.",
            lambda epsilon, delta: math.sqrt(2 * (math.log(1 / delta) + epsilon)) - math.sqrt(2 * math.log(1 / delta)),
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
            "You return an end of an interval, away from the answer. Doubling finds only an upper end. Then halve: where delta is still small enough, mu may grow, so low moves up to the middle; otherwise high moves down. (Is epsilon the first of the two that `gdp.delta` is given?)",
            lambda epsilon, delta: _halving(epsilon, delta, wrong_way=True),
            recognise=_at_the_ends,
        ),
        Misconception(
            "stops at a length",
            "Your search ends when its interval is short, or after a number of halvings that is too small. What is left of the interval is little beside a mu of 1 and much beside one of 0.0001; asked for is a relative error. Halve 100 times.",
            lambda epsilon, delta: math.floor(_mu(epsilon, delta) * 2**14) / 2**14,
            recognise=_stops_at_a_length,
        ),
        Misconception(
            "absolute error",
            "Your mu is nearly right: it is off by 0.001 at most. That is little beside a mu of 1 and much beside one of 0.0001; asked for is a relative error. (In `brentq` that is `rtol`; `xtol` is absolute.) Or does your search begin above so small a mu?",
            lambda epsilon, delta: _mu(epsilon, delta) + 1.2345e-5,
            recognise=_near,
        ),
        Misconception(
            "tail rounded away",
            "Right but where delta is tiny. Is a tail rounded away there, as 1 - cdf is? (Take the cdf of the negative number, or `gdp.delta`.) Or is delta not let go so low?",
            lambda epsilon, delta: _mu(epsilon, max(delta, 1.1e-16)),
            recognise=_loses_the_tail,
        ),
        Misconception(
            "stops early",
            "Your search stops when two deltas differ by little. At a delta of 1e-30 every small delta differs by little. Halve 100 times, whatever the difference is.",
            lambda epsilon, delta: _halving(epsilon, delta, stop=lambda a, b: abs(a - b) < 1e-10),
            recognise=_stops_early,
        ),
    ),
)
