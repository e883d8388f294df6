"""The epsilon that each of k answers may have."""

import functools
import math

from scipy.optimize import brentq

from dpcourse import composition
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, any_of, rounded

_total = functools.lru_cache(maxsize=2**14)(composition.optimal)  # which is not to be searched for slips
NEARLY = 0.1  # of itself: a search that stopped early


def _largest(k, total_of, epsilon_total):
    """The epsilon at which a total that grows with it reaches epsilon_total."""
    low = epsilon_total / k / 100
    return brentq(lambda epsilon: total_of(epsilon) - epsilon_total, low, epsilon_total + 0.1, xtol=1e-14, rtol=1e-13)


def _exact(k, epsilon_total, delta_total):
    return _largest(k, lambda epsilon: _total(epsilon, 0, k, delta_total), epsilon_total)


def _halved(k, epsilon_total, delta_total):
    low, high = epsilon_total / k, epsilon_total + 1
    for _ in range(60):
        epsilon = (low + high) / 2
        if _total(epsilon, 0, k, delta_total) <= epsilon_total:
            low = epsilon
        else:
            high = epsilon
    return low


def _tail(epsilon, k, epsilon_total):
    """The chance that the loss of k answers passes the total."""
    loss, log_p = composition.losses(epsilon, k)
    return math.fsum(map(math.exp, log_p[loss > epsilon_total]))


def _by_tail(k, epsilon_total, delta_total):
    """The epsilon from which on that chance is larger than delta, to some digits."""
    low, high = epsilon_total / k, epsilon_total + 0.1
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if _tail(middle, k, epsilon_total) > delta_total else (middle, high)
    return low


def _around_tail(cases, values):
    """Whether the first value at which that chance is too large is about this one; it jumps, so a search may meet any such place."""
    return all(
        0 < value < 10
        and _tail(0.999 * value, case["k"], case["epsilon_total"])
        <= case["delta_total"]
        < _tail(1.001 * value, case["k"], case["epsilon_total"])
        for case, value in zip(cases, values, strict=True)
    )


def _at_upper_end(cases, values):
    """Some are above the total, and each of these is where a search begins: a whole number, or so much above the total."""
    above = [(value, case["epsilon_total"]) for case, value in zip(cases, values, strict=True)]
    above = [(value, total) for value, total in above if value > 1.1 * total]
    ends = (min(abs(x - round(x)) for x in (value, value - total, value / total)) for value, total in above)
    return bool(above) and max(ends) < 1e-6


def _draw(rng):
    """Many answers, where each bound gives another epsilon, and few, where the pure rule is the best of the simple ones."""
    return [
        {
            "k": int(rng.integers(*ks)),
            "epsilon_total": rounded(rng.uniform(*totals)),
            "delta_total": 10.0 ** -int(rng.integers(*powers)),
        }
        for ks, totals, powers in (
            ((30, 60), (0.5, 1.5), (5, 8)),
            ((90, 200), (1, 3), (3, 6)),
            ((5, 9), (0.5, 2), (2, 4)),
        )
    ]


exercise = Exercise(
    title="The ε that each answer may have",
    good_for="planning a release: from a total to the noise on each number",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"k": Whole(1, 200), "epsilon_total": Number(0.1, 5), "delta_total": Number(1e-10, 0.01)}, most=60),
    draw=_draw,
    reference=_exact,
    formulas=(_halved,),
    means={"_total(epsilon, 0, k, delta_total)": "the total of k answers with this epsilon"},
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "For one epsilon you can say whether it is small enough: `composition.optimal` gives the total of k such answers. That total grows with epsilon.",
        "Halve an interval. At `epsilon_total / k` the total is certainly small enough, and at `epsilon_total + 1` too large. Look at the middle: which end moves there?",
        "`for _ in range(60):` is plenty of rounds. If `composition.optimal(middle, 0, k, delta_total) <= epsilon_total`, then the lower end moves to the middle, and else the upper one.",
    ),
    misconceptions=(
        Misconception(
            "shared equally",
            "That is epsilon_total / k, which is right for a delta of 0. With a delta the total of many answers grows more slowly than k epsilon, so each may have more.",
            lambda k, epsilon_total, delta_total: epsilon_total / k,
        ),
        Misconception(
            "advanced",
            "You turned advanced composition round. It keeps the promise, but it is a bound: by the exact total each answer may have more.",
            lambda k, epsilon_total, delta_total: _largest(
                k, lambda epsilon: composition.advanced(epsilon, 0, k, delta_total)[0], epsilon_total
            ),
        ),
        Misconception(
            "root of advanced",
            "You turned the root of advanced composition round. It is a bound, and no exact total. (And its second part, the drift, is missing.)",
            lambda k, epsilon_total, delta_total: epsilon_total / math.sqrt(2 * k * math.log(1 / delta_total)),
            recognise=any_of(
                lambda k, epsilon_total, delta_total: epsilon_total / math.sqrt(2 * k * math.log(1 / delta_total)),
                lambda k, epsilon_total, delta_total: (
                    epsilon_total * max(1 / k, 1 / math.sqrt(2 * k * math.log(1 / delta_total)))
                ),
            ),
        ),
        Misconception(
            "root of k",
            "You divided by the root of k. That is how a total grows, and not how large it is: how far the walk may go depends on delta too.",
            lambda k, epsilon_total, delta_total: epsilon_total / math.sqrt(k),
        ),
        Misconception(
            "delta shared",
            "You shared delta among the answers. They are pure: the whole of delta_total is there for what spills over in all of them together.",
            lambda k, epsilon_total, delta_total: _exact(k, epsilon_total, delta_total / k),
        ),
        Misconception(
            "wrong way round",
            "You begin with the total of k answers that have epsilon_total each. The question is the other way round: which epsilon has the total epsilon_total?",
            lambda k, epsilon_total, delta_total: composition.optimal(epsilon_total, 0, k, delta_total),
            recognise=any_of(
                lambda k, epsilon_total, delta_total: composition.optimal(epsilon_total, 0, k, delta_total),
                lambda k, epsilon_total, delta_total: composition.optimal(epsilon_total, 0, k, delta_total) / k,
            ),
        ),
        Misconception(
            "total of equal shares",
            "That is the total of k answers that have epsilon_total / k each. It is smaller than epsilon_total: so there is room, and each may have more. How much more is what is asked.",
            lambda k, epsilon_total, delta_total: composition.optimal(epsilon_total / k, 0, k, delta_total),
        ),
        Misconception(
            "a delta in each",
            "You gave each answer a delta as well. These answers are pure, so the second argument of `composition.optimal` is 0, and the whole of delta_total is there for what spills over.",
            lambda k, epsilon_total, delta_total: _largest(
                k, lambda epsilon: composition.optimal(epsilon, delta_total / k / 2, k, delta_total), epsilon_total
            ),
        ),
        Misconception(
            "no epsilon small enough",
            "Your result is 0, as if no epsilon were small enough. With a delta in each answer more than delta_total is spent from the start: these answers are pure, so the second argument of `composition.optimal` is 0.",
            lambda k, epsilon_total, delta_total: 0.0,
            recognise=lambda cases, values: max(map(abs, values)) < 1e-6,
        ),
        Misconception(
            "chance to pass the total",
            "Your delta is the chance that the loss passes epsilon_total. Of each output only the part that spills over counts, P - e^epsilon_total Q, which is less: so each answer may have more.",
            _by_tail,
            recognise=_around_tail,
        ),
        Misconception(
            "one answer",
            "That is for one answer. There are k of them.",
            lambda k, epsilon_total, delta_total: _exact(1, epsilon_total, delta_total),
            recognise=lambda cases, values: all(
                math.isclose(value, case["epsilon_total"], rel_tol=NEARLY)
                for case, value in zip(cases, values, strict=True)
            ),
        ),
        Misconception(
            "stopped early",
            "Nearly: everywhere within 10 % of what is right. If you search, go on until six digits stand: each halving gives one more bit, so 60 of them are plenty.",
            lambda k, epsilon_total, delta_total: math.floor(1000 * _exact(k, epsilon_total, delta_total)) / 1000,
            recognise=lambda cases, values: all(
                math.isclose(value, _exact(**case), rel_tol=NEARLY) for case, value in zip(cases, values, strict=True)
            ),
        ),
        Misconception(
            "the upper end",
            "Your search ends where it begins, at its upper end, and that is more than the total of all. Does it go the right way? Where the total is small enough, a larger epsilon may do: the lower end moves up.",
            lambda k, epsilon_total, delta_total: epsilon_total + 1,
            recognise=_at_upper_end,
        ),
    ),
)
