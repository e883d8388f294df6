"""The least mu that a list of certified deltas proves."""

import functools
import math

import numpy as np

from dpcourse import gdp
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of

MUS, LARGE = (
    (0.15, 1.2),
    (2.5, 5),
)  # the least and the largest mu of the middle of a run's curve; of one with little noise


def _draw_bounds(rng):
    """Bounds that are loose here and there; a run whose tail decides, and two in which one wide cell does, the first or the third.

    delta is that of two Gaussians mixed, so its tail is the heavier; it comes down to delta_0 well before the end, once to delta_0 exactly.
    """
    return [_bounds(rng, wide) for wide in (None, 0, 2)]


def _bounds(rng, wide=None, cells=14, mus=MUS, second=None):
    """Bounds of so many cells; wide: the one that is widest, if there is one; second: another that is nearly as wide."""
    middle = float(np.exp(rng.uniform(*np.log(mus))))
    share, tail = 10.0 ** -rng.uniform(1.3, 2.3), middle * rng.uniform(1.6, 2.4)
    delta_0 = round(10.0 ** -rng.uniform(3, 5), 6)
    steps = rng.uniform(0.7, 1.3, size=cells) * (np.arange(1, cells + 1) if wide is None else 1)
    if wide is not None:
        if second is not None:
            steps[min(second, cells - 1)] *= 4
        steps[min(wide, cells - 1)] *= 5
    last = gdp.epsilon(delta_0 / 300, tail)
    epsilon = np.round(np.r_[0.0, np.cumsum(steps)] / steps.sum() * last, 3)
    delta = (1 - share) * gdp.delta(epsilon, middle) + share * gdp.delta(epsilon, tail)
    delta = np.minimum.accumulate(delta * rng.uniform(1, 1.1 if wide is None else 1.5, size=delta.size))
    delta = np.array([float(f"{d:.3g}") for d in np.minimum(delta, 0.999)])
    if wide is None:
        delta[np.argmax(delta <= delta_0)] = delta_0
    return {"epsilon": epsilon, "delta": delta, "delta_0": delta_0}


_mu = functools.lru_cache(maxsize=4096)(gdp.mu)


def _mus(epsilon, delta):
    return [_mu(float(e), float(d)) for e, d in zip(epsilon, delta, strict=True)] or [0.0]


def _cells(keep, pick=max):
    """A rule over the cells that keep(delta at the left, delta at the right, delta_0)."""

    def rule(epsilon, delta, delta_0):
        kept = keep(delta[:-1], delta[1:], delta_0)
        return float(pick(_mus(epsilon[1:][kept], delta[:-1][kept])))

    return rule


def _points(pick, keep=lambda delta, delta_0: delta > delta_0):
    """A rule over the points that keep(delta, delta_0)."""
    return lambda epsilon, delta, delta_0: float(pick(_mus(epsilon[keep(delta, delta_0)], delta[keep(delta, delta_0)])))


def _is_points(cases, values):
    """Whether each delta was taken at its own epsilon: of all points above delta_0, or from the second on, or one further."""
    above = (lambda d, d0: d > d0, lambda d, d0: np.r_[False, d[1:] > d0], lambda d, d0: np.r_[False, d[:-1] > d0])
    return any(
        all(
            math.isclose(value, _points(max, keep)(**case), rel_tol=1e-6)
            for case, value in zip(cases, values, strict=True)
        )
        for keep in above
    )


def _every(left, right, delta_0):
    return left > 0


def _asked(left, right, delta_0):
    return left > delta_0


def _optimistic(keep):
    """The delta of the right end at the epsilon of the left end, of the cells that keep(left, right, delta_0)."""

    def rule(epsilon, delta, delta_0):
        kept = keep(delta[:-1], delta[1:], delta_0)
        return max(_mus(epsilon[:-1][kept], delta[1:][kept]))

    return rule


def _first_below(epsilon, delta, delta_0):
    """The first point at which nothing is asked any more."""
    at = np.argmax(delta <= delta_0)
    return _mu(float(epsilon[at]), float(delta[at]))


def _middles(epsilon, delta, delta_0):
    kept = delta[:-1] > delta_0
    return max(_mus(((epsilon[:-1] + epsilon[1:]) / 2)[kept], delta[:-1][kept]))


def _less_delta_0(epsilon, delta, delta_0):
    kept = delta[:-1] > delta_0
    return max(_mus(epsilon[1:][kept], delta[:-1][kept] - delta_0))


def _straight(epsilon, delta, delta_0):
    """The points only, of straight lines between the points."""
    e = np.linspace(0, epsilon[-1], 500)
    d = np.interp(e, epsilon, delta)
    e, d = e[d > delta_0], d[d > delta_0]
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if np.all(gdp.delta(e, middle) >= d) else (middle, high)
    return high


def _is_straight(cases, values):
    return all(abs(value / _straight(**case) - 1) < 0.005 for case, value in zip(cases, values, strict=True))


LIST = to_say("`epsilon` and `delta`: arrays of 3 to 15 numbers; `delta_0` from 1e-5 to 1e-3, below the first `delta`")


def _any_bounds(rng):
    """Bounds of a few cells or many, often with an entry of delta that stands twice, or is 0 at the end; now and then of a run with little noise."""
    mus = LARGE if rng.random() < 0.2 else MUS
    bounds = _bounds(rng, rng.choice([None, 0, 2, 4]), int(rng.choice([2, 3, 5, 14])), mus, rng.choice([None, 1, 3]))
    if rng.random() < 0.5:
        bounds["delta"][np.argmax(bounds["delta"] <= bounds["delta_0"]) + 1 :] = 0
    if rng.random() < 0.5:
        twice = rng.integers(1, bounds["delta"].size - 1)
        bounds["delta"][twice] = bounds["delta"][twice - 1]
    return tuple(bounds.values())


def _written(epsilon, delta, delta_0):
    """As learners write it."""
    return max(
        _mu(float(right), float(most)) for right, most in zip(epsilon[1:], delta[:-1], strict=True) if most > delta_0
    )


exercise = Exercise(
    title="The least μ that is proved",
    good_for="turning an accountant's table into one number that holds",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"epsilon, delta, delta_0": Made(_any_bounds, LIST)}, most=24),
    draw=_draw_bounds,
    formulas=(_written,),
    reference=_cells(_asked),
    means={
        "epsilon[1:]": "the right ends of the intervals",
        "delta[:-1]": "the deltas at the left ends of the intervals",
        "_mu(float(right), float(most))": "the mu whose curve has that delta at that epsilon",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "Take one interval, from epsilon[i] to epsilon[i + 1]. All that is known in it is that delta is at most delta[i]. At which end "
        "of the interval does G_mu find that hardest to reach?",
        "The delta of G_mu falls, so it is smallest at the right end, and an interval asks for gdp.mu(epsilon[i + 1], delta[i]). Which intervals "
        "ask for anything, down to delta_0? And which of their demands counts?",
    ),
    misconceptions=(
        Misconception(
            "the points only",
            "You took delta at its own epsilon. That proves nothing between the points: just before epsilon[i + 1], delta may still be "
            "delta[i].",
            _points(max),
            recognise=_is_points,
        ),
        Misconception(
            "delta_0 ignored",
            "You went down to the last delta. Where delta is at most delta_0, nothing is asked, and the tail asks for a larger mu.",
            _cells(_every),
        ),
        Misconception(
            "points of the tail",
            "You took each delta at its own epsilon, which proves nothing between the points; and you went on below delta_0, where nothing "
            "is asked.",
            _points(max, lambda delta, delta_0: delta > 0),
        ),
        Misconception(
            "the crossing cell left out",
            "You left out the interval in which delta passes delta_0. At its left end delta is above delta_0, and it may stay there up to the "
            "right end.",
            _cells(lambda left, right, delta_0: right > delta_0),
        ),
        Misconception(
            "the mean",
            "You took the mean of what the intervals ask for. mu has to be enough for all of them.",
            _cells(_asked, np.mean),
        ),
        Misconception(
            "the least",
            "You took the least of what the intervals ask for. mu has to be enough for all of them.",
            _cells(_asked, min),
        ),
        Misconception(
            "the mean of the points",
            "You took a mean over points. mu has to be enough for each delta, and also between the points.",
            _points(np.mean),
        ),
        Misconception(
            "one pair, at delta_0",
            "You turned one pair into a mu: delta_0, with the epsilon at which delta is down to it. Each larger delta asks for a mu of its "
            "own, and some ask for more.",
            lambda epsilon, delta, delta_0: _mu(float(epsilon[np.argmax(delta <= delta_0)]), delta_0),
        ),
        Misconception(
            "one pair, below delta_0",
            "You turned one pair into a mu, the first whose delta is down to delta_0. There nothing is asked any more; each interval before it asks for a "
            "mu of its own.",
            _first_below,
        ),
        Misconception(
            "one pair, the last",
            "You turned one pair into a mu, the last whose delta is above delta_0. Others may ask for more, and so may epsilons between the "
            "points.",
            _points(lambda mus: mus[-1]),
        ),
        Misconception(
            "one pair, the first",
            "You turned delta at epsilon = 0 into a mu. That is one demand of many.",
            lambda epsilon, delta, delta_0: _mu(0.0, float(delta[0])),
        ),
        Misconception(
            "the last cell",
            "You looked at the interval in which delta passes delta_0, and at no other. Each interval before it asks for a mu of its own.",
            _cells(lambda left, right, delta_0: (right <= delta_0) & (left > delta_0)),
        ),
        Misconception(
            "the first cell",
            "You looked at the first interval only. Each of the others, down to delta_0, asks for a mu of its own.",
            lambda epsilon, delta, delta_0: _mu(float(epsilon[1]), float(delta[0])),
        ),
        Misconception(
            "the optimistic ends",
            "You put the delta of an interval's right end to the epsilon of its left end. That is the best case in the interval. A proof has to "
            "assume the worst.",
            _optimistic(lambda left, right, delta_0: left > delta_0),
            recognise=any_of(
                _optimistic(lambda left, right, delta_0: left > delta_0),
                _optimistic(lambda left, right, delta_0: right > delta_0),
                _optimistic(lambda left, right, delta_0: right > 0),
            ),
        ),
        Misconception(
            "the middles",
            "You put the delta of an interval's left end to the epsilon of its middle. It may stay there up to the right end, and that asks for more.",
            _middles,
        ),
        Misconception(
            "delta_0 taken off",
            "You took delta_0 off each delta. The promise is that of G_mu *or* delta_0, not the sum of both: above delta_0 the whole delta counts.",
            _less_delta_0,
        ),
        Misconception(
            "delta_0 itself",
            "You let an interval ask for something that begins with delta exactly at delta_0. In it delta is at most delta_0, and then nothing is asked.",
            _cells(lambda left, right, delta_0: left >= delta_0),
        ),
        Misconception(
            "straight lines",
            "You drew straight lines between the points. Nobody said that delta falls along them: it may stay at delta[i] up to "
            "epsilon[i + 1].",
            _straight,
            recognise=_is_straight,
        ),
        Misconception(
            "never below delta_0",
            "You put delta_0 in the place of each smaller delta, and so asked for delta_0 at large epsilon. Where delta is at most delta_0, "
            "nothing is asked.",
            lambda epsilon, delta, delta_0: max(_mus(epsilon[1:], np.maximum(delta[:-1], delta_0))),
        ),
    ),
)
