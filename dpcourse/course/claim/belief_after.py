"""The belief after an accusation."""

import math

from dpcourse.checking import Domain, Exercise, Misconception, Number, a_number, any_of, rounded


def _draw_accusations(rng):
    """Rare and frequent accusations, small and large epsilon; delta counts in all of them."""
    rows = [(0.02, 0.06, 0.4, 1.2), (0.1, 0.2, 2, 4), (0.005, 0.02, 1, 2), (0.02, 0.05, 4, 6)]
    return [
        {
            "prior": rounded(rng.uniform(0.1, 0.4)),
            "alpha": rounded(rng.uniform(*row[:2]), 4),
            "epsilon": rounded(rng.uniform(*row[2:])),
            "delta": rounded(rng.uniform(0.001, 0.01), 4),
        }
        for row in rows
    ]


def _power(alpha, epsilon, delta):
    """1 - f(alpha): the most that is said "in" where it is true."""
    return min(math.exp(epsilon) * alpha + delta, 1 - math.exp(-epsilon) * (1 - delta - alpha), 1.0)


def _steep(alpha, epsilon, delta):
    return math.exp(epsilon) * alpha + delta


def _flat(alpha, epsilon, delta):
    return 1 - math.exp(-epsilon) * (1 - delta - alpha)


def _steep_plain(alpha, epsilon, delta):
    """Without delta in the first line of the curve."""
    return min(math.exp(epsilon) * alpha, _flat(alpha, epsilon, delta), 1.0)


def _steep_inside(alpha, epsilon, delta):
    """With delta multiplied by e^epsilon in the first line of the curve."""
    return min(math.exp(epsilon) * (alpha + delta), _flat(alpha, epsilon, delta), 1.0)


def _flat_plain(alpha, epsilon, delta):
    """Without delta in the second line of the curve."""
    return min(_steep(alpha, epsilon, delta), 1 - math.exp(-epsilon) * (1 - alpha), 1.0)


def _flat_outside(alpha, epsilon, delta):
    """With delta behind the bracket of the second line of the curve."""
    return min(_steep(alpha, epsilon, delta), 1 - math.exp(-epsilon) * (1 - alpha) + delta, 1.0)


def _belief(power=_power, odds=lambda prior, power, alpha: prior * power / (prior * power + (1 - prior) * alpha)):
    return lambda prior, alpha, epsilon, delta: odds(prior, power(alpha, epsilon, delta), alpha)


def _written(prior, alpha, epsilon, delta):
    """As learners write it."""
    beta = max(0, 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha))
    odds = prior / (1 - prior) * ((1 - beta) / alpha)
    return odds / (1 + odds)


def _ratio_on_prior(prior, alpha, epsilon, delta):
    return prior * _power(alpha, epsilon, delta) / alpha


def _of_factor(factor):
    """The belief where the odds are multiplied by this factor of epsilon."""

    def code(prior, alpha, epsilon, delta):
        odds = prior / (1 - prior) * factor(epsilon)
        return odds / (1 + odds)

    return code


exercise = Exercise(
    title="The belief after an accusation",
    good_for="saying what a printed (ε, δ) means to the person who is accused",
    difficulty=2,
    minutes=8,
    points=2,
    domain=Domain(
        {
            "prior": Number(0.01, 0.5),
            "alpha": Number(0.001, 0.3),
            "epsilon": Number(0.1, 8),
            "delta": Number(0, 0.01),
        }
    ),
    draw=_draw_accusations,
    reference=_written,
    formulas=(_belief(),),
    means={
        "max(0, 1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha))": "the least rate of misses that the promise leaves",
        "prior / (1 - prior)": "the odds before",
        "(1 - beta) / alpha": "how many times as often he accuses where it is true",
        "prior / (1 - prior) * ((1 - beta) / alpha)": "the odds after",
        "odds / (1 + odds)": "the belief that belongs to these odds",
    },
    returns=a_number,
    possible=Number(0, 1),
    hints=(
        "Two numbers decide: how often the attacker accuses where she is not in, alpha, and how often at most where she is in. The second is 1 - f(alpha), with the curve of (ε, δ) of lesson 03.",
        "f(alpha) = max(0, 1 - delta - e^ε alpha, e^-ε (1 - delta - alpha)). The odds before are prior / (1 - prior). They are multiplied by (1 - f(alpha)) / alpha. Then turn the odds back into a probability: odds / (1 + odds).",
    ),
    misconceptions=(
        Misconception(
            "odds, not belief",
            "You returned the odds. The belief that belongs to them is odds / (1 + odds).",
            lambda prior, alpha, epsilon, delta: prior / (1 - prior) * _power(alpha, epsilon, delta) / alpha,
        ),
        Misconception(
            "belief times e^ε",
            "You multiplied the prior itself by e^ε, which may come out above 1. It is the odds that are multiplied.",
            lambda prior, alpha, epsilon, delta: prior * math.exp(epsilon),
        ),
        Misconception(
            "the ratio on the probability",
            "You multiplied the probability `prior` by the ratio of the two rates. By Bayes' rule it is the odds, prior / (1 - prior), that are multiplied by it. Turn them back into a probability at the end.",
            _ratio_on_prior,
            recognise=any_of(
                _ratio_on_prior,
                lambda prior, alpha, epsilon, delta: min(1.0, _ratio_on_prior(prior, alpha, epsilon, delta)),
            ),
        ),
        Misconception(
            "e^ε alone",
            "You multiplied the odds by e^ε. That leaves delta out, and how often he accuses: with delta a rare accusation may say more, and a frequent one says less.",
            _of_factor(math.exp),
        ),
        Misconception(
            "delta forgotten",
            "You left delta out. Of what he sees where she is in, up to delta may be left out of the bound e^ε, and it counts most where he accuses rarely.",
            lambda prior, alpha, epsilon, delta: _belief()(prior, alpha, epsilon, 0.0),
        ),
        Misconception(
            "delta not in the first line",
            "Where the line with e^ε decides, your delta counts for nothing, or for too much. The line is 1 - delta - e^ε alpha: delta is taken off once, and e^ε multiplies alpha alone. So the odds may be multiplied by more than e^ε.",
            _belief(_steep_plain),
            recognise=any_of(_belief(_steep_plain), _belief(_steep_inside)),
        ),
        Misconception(
            "delta not in the second line",
            "Where the line with e^-ε decides, your delta counts for nothing, or for too much. The line is e^-ε (1 - delta - alpha): delta stands inside the bracket.",
            _belief(_flat_plain),
            recognise=any_of(_belief(_flat_plain), _belief(_flat_outside)),
        ),
        Misconception(
            "the prior for the odds",
            "A factor 1 - prior is missing. The odds before are prior / (1 - prior), and not prior. In Bayes' rule, how often he accuses where she is not in is multiplied by 1 - prior.",
            _belief(odds=lambda prior, power, alpha: prior * power / (prior * power + alpha)),
        ),
        Misconception(
            "one direction",
            "You used the bound e^ε alpha + delta only: the third term of f is missing, or its bracket ends too early, for e^-ε (1 - delta) - alpha is never the largest. Where he accuses often the other direction says more: he is silent with probability 1 - alpha where she is not in, so he must be silent sometimes where she is.",
            _belief(lambda alpha, epsilon, delta: min(1.0, _steep(alpha, epsilon, delta))),
        ),
        Misconception(
            "the other direction only",
            "You used the second line of the curve only. Where he accuses rarely the first one is stronger: he accuses with probability e^ε alpha + delta at most.",
            _belief(_flat),
        ),
        Misconception(
            "the larger of the two",
            "You took the larger of the two bounds on how often he accuses. Both hold, so the smaller one counts.",
            _belief(lambda alpha, epsilon, delta: max(_steep(alpha, epsilon, delta), _flat(alpha, epsilon, delta))),
        ),
        Misconception(
            "misses for hits",
            "You put f(alpha), the rate of misses, for the rate at which he accuses where she is in. That is 1 - f(alpha).",
            _belief(lambda alpha, epsilon, delta: 1 - _power(alpha, epsilon, delta)),
        ),
        Misconception(
            "the prior left out",
            "You left the prior out: this is the belief of somebody who thought both equally likely.",
            lambda prior, alpha, epsilon, delta: _belief()(0.5, alpha, epsilon, delta),
        ),
        Misconception(
            "the rate at which he accuses",
            "You returned how often he accuses where she is in. The question is the other way round: he has accused, so how likely is it that she is in?",
            lambda prior, alpha, epsilon, delta: _power(alpha, epsilon, delta),
        ),
    ),
)
