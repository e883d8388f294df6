"""Any ε-DP mechanism, from one report of randomized response."""

import math

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, numbers_like, rounded

OUTPUTS = 2, 8
EPSILONS = 0.1, 3.0
PAIR = to_say(
    "`p` and `q`: the probabilities of 2 to 8 outputs, all above 0, at each output neither above e^epsilon times the other; `epsilon` from 0.1 to 3"
)


def _coin(epsilon):
    """The chances to keep and to flip a bit."""
    return 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))


def _mixed(after_yes, after_no, epsilon):
    """The probabilities, if the truth is yes and if it is no, of what is drawn after a report."""
    keep, flip = _coin(epsilon)
    return keep * after_yes + flip * after_no, flip * after_yes + keep * after_no


def _any_pair(rng):
    """Two outputs or more; now and then some of them come after one of the two reports only, and there a ratio is e^epsilon."""
    epsilon = rounded(rng.uniform(*EPSILONS)) if rng.random() < 0.8 else float(rng.choice(EPSILONS))
    outputs = int(rng.integers(OUTPUTS[0], OUTPUTS[1] + 1))
    after_yes, after_no = rng.dirichlet(np.ones(outputs)), rng.dirichlet(np.ones(outputs))
    if rng.random() < 0.5:
        after_yes[0], after_no[-1] = 0, 0
        after_yes, after_no = after_yes / after_yes.sum(), after_no / after_no.sum()
    if rng.random() < 0.1:
        after_no = after_yes  # a mechanism that tells nothing
    return *_mixed(after_yes, after_no, epsilon), epsilon


def _draw_pairs(rng):
    cases = []
    for outputs in (3, 5):
        epsilon = rounded(rng.uniform(0.5, 1.5))
        pair = _mixed(rng.dirichlet(np.full(outputs, 2)), rng.dirichlet(np.full(outputs, 2)), epsilon)
        cases.append(dict(zip(("p", "q", "epsilon"), (*pair, epsilon), strict=True)))
    return cases


def _reference(p, q, epsilon):
    factor = math.exp(epsilon)
    return (factor * p - q) / (factor - 1)


def _by_coins(p, q, epsilon):
    """As learners write it who eliminate B with the chances of the coin."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    flip = 1 - keep
    return (keep * p - flip * q) / (keep - flip)


def _by_squares(p, q, epsilon):
    keep = 1 / (1 + math.exp(-epsilon))
    flip = 1 - keep
    return (keep * p - flip * q) / (keep**2 - flip**2)


def _in_proportion(cases, values):
    """Whether every value is a right one times a positive factor that is not 1."""
    for case, value in zip(cases, values, strict=True):
        value, right = np.asarray(value, dtype=float), _reference(**case)
        factor = value.sum()
        if factor <= 0 or abs(factor - 1) < 1e-6 or not np.allclose(value, factor * right, rtol=1e-6, atol=1e-9):
            return False
    return True


exercise = Exercise(
    title="Any mechanism, out of one report",
    good_for="seeing why no ε-DP mechanism tells more than randomized response",
    difficulty=3,
    minutes=12,
    points=3,
    domain=Domain({"p, q, epsilon": Made(_any_pair, PAIR)}),
    draw=_draw_pairs,
    reference=_reference,
    formulas=(_by_coins, _by_squares),
    means={
        "factor * p - q": "e^epsilon times P, less Q",
        "factor - 1": "what that adds up to, over all outputs",
        "keep * p - flip * q": "keep times the first equation, less flip times the second: B is gone",
        "keep - flip": "keep² - flip², since keep + flip is 1: what stands before A once B is gone",
        "keep ** 2 - flip ** 2": "what stands before A once B is gone",
    },
    returns=numbers_like("p"),
    possible=Number(0, 1),
    hints=(
        "Two equations, two unknowns, for each output by itself. Get rid of B: multiply the first equation by keep, the second by flip, and take "
        "the difference. What then stands before A?",
        "keep · P - flip · Q = (keep² - flip²) · A. With keep = e^epsilon / (1 + e^epsilon) and flip = 1 / (1 + e^epsilon) much cancels. To "
        "compare: for epsilon = ln 2, P = (0.5, 0.5) and Q = (0.25, 0.75), A is (0.75, 0.25).",
    ),
    misconceptions=(
        Misconception(
            "B in place of A",
            "These are the chances after a report of no. After a report of yes those outputs are likelier that P favours.",
            lambda p, q, epsilon: _reference(q, p, epsilon),
        ),
        Misconception(
            "P itself",
            "You draw from P after a report of yes. But a yes may be a lie: if the truth is no, some reports are yes too. What comes out if the "
            "truth is yes is keep · A + flip · B, and that shall be P.",
            lambda p, q, epsilon: p,
        ),
        Misconception(
            "mixed once more",
            "You mixed P and Q with keep and flip. In the equations A and B are mixed, and P and Q come out. Solve them for A.",
            lambda p, q, epsilon: _mixed(p, q, epsilon)[0],
        ),
        Misconception(
            "in proportion",
            "The proportions of your numbers are right, but they do not add up to 1. One of the outputs comes after a yes for sure.",
            lambda p, q, epsilon: math.exp(epsilon) * p - q,
            recognise=_in_proportion,
        ),
        Misconception(
            "B taken for Q",
            "You put Q in the place of B, and solved one equation for A. B is unknown too: both equations are needed.",
            lambda p, q, epsilon: (p - _coin(epsilon)[1] * q) / _coin(epsilon)[0],
        ),
        Misconception(
            "given a yes",
            "You divide keep · P by keep · P + flip · Q: that is how likely the truth is a yes after an output. Wanted are the chances of the outputs.",
            lambda p, q, epsilon: _coin(epsilon)[0] * p / (_coin(epsilon)[0] * p + _coin(epsilon)[1] * q),
        ),
        Misconception(
            "the ratio",
            "You return the ratio of P to Q. Wanted are chances that add up to 1: solve the two equations for A.",
            lambda p, q, epsilon: p / q,
        ),
        Misconception(
            "epsilon as the factor",
            "You have epsilon where e^epsilon belongs. A report of yes is e^epsilon times as likely under a true yes as under a true no.",
            lambda p, q, epsilon: (epsilon * p - q) / (epsilon - 1) if epsilon != 1 else p,
        ),
    ),
)
