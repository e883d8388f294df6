"""What no attacker can beat."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of
from dpcourse.course.gdp.shared import random_probabilities, some_probabilities


def _draw_two_laws(rng):
    """An output with p = 0, then one with q = 0. TV is not near one half, where it and 1 - TV are alike."""
    cases = []
    while len(cases) < 2:
        size = int(rng.integers(4, 7))
        gappy, full = random_probabilities(rng, size - 1), random_probabilities(rng, size)
        gappy.insert(int(rng.integers(size)), 0.0)
        if 0.1 < _tv(gappy, full) < 0.45:
            cases.append({"q": gappy, "p": full} if cases else {"p": gappy, "q": full})
    return [{"p": case["p"], "q": case["q"]} for case in cases]


def _tv(p, q):
    return float(np.abs(np.subtract(p, q)).sum()) / 2


def _best_alpha(p, q):
    """The false alarms of the best test, which says "in" where q is larger."""
    return float(np.array(p)[np.array(q) > p].sum())


def _one_output(p, q):
    return 1 - float(np.abs(np.subtract(p, q)).max())


def _without(p, q, left_out):
    """1 - TV, added up over some of the outputs only."""
    return 1 - _tv(*np.array([(a, b) for a, b in zip(p, q, strict=True) if not left_out(a, b)]).T)


LAWS = to_say("{name}: the probabilities of 1 to 10 outputs; they add up to 1 and may hold zeros")


def _any_laws(rng):
    size = int(rng.integers(1, 11))
    return some_probabilities(rng, size), some_probabilities(rng, size)


exercise = Exercise(
    title="What no attacker can beat",
    good_for="a one-line bound on every test, known or not yet invented",
    difficulty=2,
    minutes=6,
    points=1,
    domain=Domain({"p, q": Made(_any_laws, LAWS)}),
    draw=_draw_two_laws,
    reference=lambda p, q: 1 - _tv(p, q),
    means={
        "np.abs(np.subtract(p, q))": "how far apart p and q are at each output",
        "np.abs(np.subtract(p, q)).sum()": "the sum of what p and q differ by",
        "_tv(p, q)": "the total variation distance",
    },
    returns=a_number,
    possible=Number(0, 1),
    hints=(
        "Check by hand: p = 0.5, 0.5 and q = 0.8, 0.2 give 0.7. The best test says “in” at the first output: alpha 0.5, beta 0.2.",
        "No test gets alpha + beta below 1 - TV, and one test reaches it. With numpy: `np.abs(np.subtract(p, q)).sum()` is twice TV.",
    ),
    misconceptions=(
        Misconception(
            "total variation",
            "That is the total variation TV itself. It is large where P and Q are easy to tell apart; the sum of errors is then small: 1 - TV.",
            lambda p, q: _tv(p, q),
        ),
        Misconception(
            "half forgotten",
            "The factor 1/2 is missing. The absolute differences count twice: what p has too much in one place it lacks in another.",
            lambda p, q: 1 - 2 * _tv(p, q),
        ),
        Misconception(
            "twice total variation",
            "That is the sum of the absolute differences. Halve it to get TV, and then take 1 - TV.",
            lambda p, q: 2 * _tv(p, q),
        ),
        Misconception(
            "signed",
            "Your result is always 1, which a blind guess reaches. Differences with their signs cancel, `min(p, q)` is one of the two whole lists, and `int` cuts TV down to 0. Go through the outputs one by one, and take absolute values.",
            lambda p, q: 1.0,
        ),
        Misconception(
            "one output",
            "You looked at the one output where p and q differ most. A set of outputs may differ by more: add up over all outputs.",
            _one_output,
            recognise=any_of(_one_output, lambda p, q: 1 - float(np.subtract(q, p).max())),
        ),
        Misconception(
            "larger of both",
            "That is 1 + TV: you added TV, or the larger one of p and q at each output. The best test errs less than a blind guess, by the smaller one at each output.",
            lambda p, q: 1 + _tv(p, q),
        ),
        Misconception(
            "alpha only",
            "That is alpha of the best test alone. It has a beta too: how often does it miss Mia? Add the two.",
            _best_alpha,
        ),
        Misconception(
            "squares",
            "You added up squared differences. Total variation takes absolute ones.",
            lambda p, q: 1 - float((np.subtract(p, q) ** 2).sum()) / 2,
        ),
        Misconception(
            "roots",
            "You added up the roots of p q (Bhattacharyya's coefficient). It is 1 for equal lists and 0 for disjoint ones, as 1 - TV is, and between them it is larger. The best test errs at each output by the smaller one of p and q.",
            lambda p, q: float(np.sqrt(np.multiply(p, q)).sum()),
        ),
        Misconception(
            "zeros left out",
            "You left out outputs that one of the two never gives. They tell most: keep them.",
            lambda p, q: _without(p, q, lambda a, b: a == 0 or b == 0),
        ),
        Misconception(
            "zeros of p left out",
            "You left out an output with p = 0. It gives Mia away for certain, so it tells most: keep it.",
            lambda p, q: _without(p, q, lambda a, b: a == 0),
        ),
        Misconception(
            "zeros of q left out",
            "You left out an output with q = 0. It says for certain that Mia is out, so it tells most: keep it.",
            lambda p, q: _without(p, q, lambda a, b: b == 0),
        ),
        Misconception(
            "average error",
            "That is the average of the two errors, (1 - TV)/2. The question is for their sum.",
            lambda p, q: (1 - _tv(p, q)) / 2,
        ),
    ),
)
