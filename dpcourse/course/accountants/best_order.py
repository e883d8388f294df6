"""The best order."""

import math

from dpcourse import rdp
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, rounded, several
from dpcourse.course.accountants.shared import divergence

LEAST, MOST = 2, 256


def _draw_run(rng):
    """Runs whose best order is the first of all, low, higher than those that many programs try, and the last of all."""
    first = _drawn(rng, (0.5, 0.52), (0.036, 0.05), (22_000, 30_000), (LEAST, LEAST))  # where epsilon is above 1,000
    low = _drawn(rng, (0.7, 1.2), (0.01, 0.03), (500, 3000), (3, 20))
    high = _drawn(rng, (6, 10), (0.005, 0.02), (100, 1000), (70, 240))
    return [first, low, high, _drawn(rng, (25, 40), (0.002, 0.01), (20, 100), (MOST, MOST))]


def _drawn(rng, noises, rates, steps, orders):
    while True:
        case = {
            "noise_multiplier": rounded(rng.uniform(*noises)),
            "sample_rate": rounded(rng.uniform(*rates), 4),
            "steps": int(rng.integers(*steps)),
            "delta": 10.0 ** -int(rng.integers(5, 9)),
        }
        order, epsilon = _best()(**case)
        if orders[0] <= order <= orders[1]:
            beside = (_classic(**case, order=other) for other in (order - 1, order + 1) if LEAST <= other <= MOST)
            if min(beside) > epsilon * (1 + 1e-6):
                return case


def _classic(noise_multiplier, sample_rate, steps, delta, order):
    return steps * divergence(noise_multiplier, sample_rate, order) + math.log(1 / delta) / (order - 1)


def _best(bound=_classic, most=MOST, choose=min, said=lambda order, bound: (order, bound(order))):
    """The order that is best by a bound, and the bound there."""

    def code(noise_multiplier, sample_rate, steps, delta):
        def of_order(order):
            return bound(noise_multiplier, sample_rate, steps, delta, order)

        return said(choose(range(LEAST, most + 1), key=of_order), of_order)

    return code


def _bound(rule):
    """A bound from a rule for (divergence of a step, steps, log(1 / delta), order)."""
    return lambda noise_multiplier, sample_rate, steps, delta, order: rule(
        divergence(noise_multiplier, sample_rate, order), steps, math.log(1 / delta), order
    )


def _three_terms(noise_multiplier, sample_rate, steps, delta, order):
    """A bound from the first three terms, in powers of X."""
    third = math.comb(order, 2) * sample_rate**2 * math.expm1(1 / noise_multiplier**2)
    return (steps * math.log1p(third) + math.log(1 / delta)) / (order - 1)


def _bound_of_another(cases, values):
    """recognise: each epsilon is the classic bound at its order, an order from 2 to 256."""
    return all(
        LEAST <= order <= MOST and math.isclose(epsilon, _classic(**case, order=int(order)), rel_tol=1e-9)
        for case, (order, epsilon) in zip(cases, values, strict=True)
    )


def _looped(noise_multiplier, sample_rate, steps, delta):
    """As learners write it."""
    best, order = math.inf, None
    for a in range(2, 257):
        bound = steps * divergence(noise_multiplier, sample_rate, a) + math.log(1 / delta) / (a - 1)
        if bound < best:
            best, order = bound, a
    return order, best


def _one_is_best(**case):
    """Whether no order beside the best one is as good: rounding shall decide nothing."""
    order, epsilon = _best()(**case)
    beside = (_classic(**case, order=other) for other in (order - 1, order + 1) if LEAST <= other <= MOST)
    return min(beside) > epsilon * (1 + 1e-6)


exercise = Exercise(
    title="The best order",
    good_for="turning the moments of a run into its ε, and seeing why more orders are better",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain(
        {
            "noise_multiplier": Number(0.5, 40),
            "sample_rate": Number(0.002, 0.05),
            "steps": Whole(20, 30_000),
            "delta": Number(1e-9, 1e-4),
        },
        where=_one_is_best,
        most=5,
    ),
    draw=_draw_run,
    reference=_best(),
    formulas=(_looped,),
    means={
        "steps * divergence(noise_multiplier, sample_rate, a)": "the divergence of the whole run at that order",
        "math.log(1 / delta) / (a - 1)": "what delta costs at that order",
        "math.log(1 / delta)": "the logarithm of 1/delta",
    },
    returns=several("order", "epsilon"),
    forbidden=(rdp.epsilon, rdp.epsilon_of_runs),
    hints=(
        "With the order the cost of the steps grows, and what Markov asks for falls. The best order is somewhere between, and "
        "nobody has a formula for it: compute the bound at all 255 orders.",
        "The steps cost `[steps * rdp.divergence(noise_multiplier, sample_rate, a) for a in range(2, 257)]`. Add to each what Markov asks "
        "for, with the order it belongs to. `np.argmin` says where the smallest is: it counts from 0, and the first order is 2.",
    ),
    misconceptions=(
        Misconception(
            "exchanged",
            "These are the right two numbers in the other order. Return the order first, then epsilon.",
            _best(said=lambda order, bound: (bound(order), order)),
        ),
        Misconception(
            "one too low",
            "Your epsilon is right, but your order is 1 too low: is it lambda, which is a - 1?",
            _best(said=lambda order, bound: (order - 1, bound(order))),
        ),
        Misconception(
            "one too high",
            "Your epsilon is right, but your order is 1 too high: do you return the order at which the bound rises again, and not the one before it?",
            _best(said=lambda order, bound: (order + 1, bound(order))),
        ),
        Misconception(
            "lambda for the order",
            "Your epsilon is the bound at one order above the one that you return: you search lambda = a - 1, and return it. Search the orders a "
            "from 2 to 256, and return a.",
            _best(
                lambda noise_multiplier, sample_rate, steps, delta, order: _classic(
                    noise_multiplier, sample_rate, steps, delta, order + 1
                )
            ),
        ),
        Misconception(
            "place for the order",
            "Your epsilon is right, but your order is 2 too low: is it the place in a list that begins with order 2?",
            _best(said=lambda order, bound: (order - 2, bound(order))),
        ),
        Misconception(
            "last order tried",
            "Your epsilon is right, but your order is the last one that you tried. Keep the order at which the bound was smallest.",
            _best(said=lambda order, bound: (MOST, bound(order))),
        ),
        Misconception(
            "steps forgotten",
            "You took the divergence of one step. The run has `steps` of them, and their divergences add up.",
            _best(_bound(lambda d, steps, log, a: d + log / (a - 1))),
        ),
        Misconception(
            "steps times everything",
            "You multiplied ln(1/delta) / (a - 1) by the steps, too. Markov's inequality is used once, for the whole run.",
            _best(_bound(lambda d, steps, log, a: steps * (d + log / (a - 1)))),
        ),
        Misconception(
            "delta shared out",
            "You gave each step its share of delta. Delta is spent once, at the end, for the whole run.",
            _best(_bound(lambda d, steps, log, a: steps * d + (log + math.log(steps)) / (a - 1))),
        ),
        Misconception(
            "divided by the order",
            "You divided ln(1/delta) by the order. It is divided by a - 1.",
            _best(_bound(lambda d, steps, log, a: steps * d + log / a)),
        ),
        Misconception(
            "sign",
            "You took ln(delta) where ln(1/delta) belongs: a smaller delta must cost more.",
            _best(_bound(lambda d, steps, log, a: steps * d - log / (a - 1))),
        ),
        Misconception(
            "base ten",
            "You took the logarithm to base 10. It is the natural one, `math.log`.",
            _best(_bound(lambda d, steps, log, a: steps * d + log / math.log(10) / (a - 1))),
        ),
        Misconception(
            "log moment",
            "You took the logarithm of the moment, (a - 1) D_a, where D_a belongs.",
            _best(_bound(lambda d, steps, log, a: steps * (a - 1) * d + log / (a - 1))),
        ),
        Misconception(
            "improved",
            "That is the improved conversion. It is a true bound as well, and a smaller one, but the classic one was asked for: T D_a + ln(1/delta) / (a - 1).",
            _best(_bound(lambda d, steps, log, a: steps * d + math.log1p(-1 / a) + (log - math.log(a)) / (a - 1))),
        ),
        Misconception(
            "three terms",
            "You took the sum of the first three terms for the whole. At high orders that is far too small, so your epsilon is no bound. `rdp.divergence` has all terms.",
            _best(_three_terms),
        ),
        Misconception(
            "orders to 64",
            "You stopped at order 64. That is a true bound, but with little sampling and much noise a higher order is better: go up to 256.",
            _best(most=64),
        ),
        Misconception(
            "smallest divergence",
            "You took order 2, where the divergence is smallest. What counts is the sum of both parts. Is ln(1/delta) not divided by a - 1? Or does "
            "`min` compare the orders first?",
            _best(choose=lambda orders, key: LEAST),
        ),
        Misconception(
            "highest order",
            "You took the highest order. There Markov's part is smallest, but the divergence is largest. What counts is the sum of both.",
            _best(choose=lambda orders, key: MOST),
        ),
        Misconception(
            "not sampled",
            "You took a / (2 sigma²), the divergence for a Mia who is in every batch. She is drawn with probability sample_rate only.",
            _best(
                lambda noise_multiplier, sample_rate, steps, delta, order: (
                    steps * order / (2 * noise_multiplier**2) + math.log(1 / delta) / (order - 1)
                )
            ),
        ),
        Misconception(
            "another order",
            "Your epsilon is the classic bound at your order, but another order from 2 to 256 has a smaller one. Do you try all 255, the first "
            "and the last too? And do you keep the one at which the bound is smallest?",
            _best(most=MOST - 1),
            recognise=_bound_of_another,
        ),
    ),
)
