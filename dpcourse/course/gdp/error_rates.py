"""The two errors of a test."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, rounded, several
from dpcourse.course.gdp.shared import random_probabilities, some_probabilities


def _draw_test(rng):
    """A test that always knows what it says, and one that tosses a coin now and then."""
    size = int(rng.integers(4, 7))
    certain = rng.permutation([0, 1] + [int(bit) for bit in rng.integers(0, 2, size - 2)])
    return [
        {
            "p": random_probabilities(rng, size),
            "q": random_probabilities(rng, size),
            "reject": [rounded(chance) for chance in chances],
        }
        for chances in (certain, rng.uniform(0.1, 0.9, size))
    ]


def _chance(outputs, event):
    return float(np.dot(outputs, event))


def _not(reject):
    return 1 - np.asarray(reject)


TEST = to_say("{name}: one number for each of 1 to 10 outputs; `p` and `q` add up to 1 and may hold zeros")


def _any_test(rng):
    size = int(rng.integers(1, 11))
    p, q = (some_probabilities(rng, size) for _ in range(2))
    chances = [rng.uniform(0, 1, size), rng.integers(0, 2, size), np.zeros(size), np.ones(size)][
        rng.choice(4, p=[0.4, 0.4, 0.1, 0.1])
    ]
    return p, q, [rounded(chance) for chance in chances]


exercise = Exercise(
    title="The two errors of a test",
    good_for="saying exactly how often an attacker is wrong, and in which way",
    difficulty=1,
    minutes=12,
    points=1,
    domain=Domain({"p, q, reject": Made(_any_test, TEST)}),
    draw=_draw_test,
    reference=lambda p, q, reject: (_chance(p, reject), _chance(q, _not(reject))),
    means={
        "_not(reject)": "where the test says “out”",
    },
    returns=several("alpha", "beta"),
    possible=Number(0, 1),
    hints=(
        "Alpha: Mia is out, so the outputs have the probabilities p. How often does the test then say that she is in?",
        "Beta: Mia is in, so the outputs have the probabilities q. The test says that she is out with chance 1 - reject. `np.dot(a, b)` multiplies and adds up.",
    ),
    misconceptions=(
        Misconception(
            "swapped",
            "The two results are in the wrong order. Alpha, the false alarm, comes first; beta, the miss, second.",
            lambda p, q, reject: (_chance(q, _not(reject)), _chance(p, reject)),
        ),
        Misconception(
            "power",
            "Your second number is how often the test finds Mia when she is there. That is 1 - beta; beta is how often it misses her.",
            lambda p, q, reject: (_chance(p, reject), _chance(q, reject)),
        ),
        Misconception(
            "hypotheses exchanged",
            "You exchanged p and q. Alpha is an error when Mia is out, so it is counted with p; beta with q.",
            lambda p, q, reject: (_chance(q, reject), _chance(p, _not(reject))),
        ),
        Misconception(
            "everything with p",
            "You counted both errors with p. Beta is an error when Mia is in: there the outputs have the probabilities q.",
            lambda p, q, reject: (_chance(p, reject), _chance(p, _not(reject))),
        ),
        Misconception(
            "everything with q",
            "You counted both errors with q. Alpha is an error when Mia is out: there the outputs have the probabilities p.",
            lambda p, q, reject: (_chance(q, reject), _chance(q, _not(reject))),
        ),
        Misconception(
            "right decisions",
            "You added up the right decisions. Alpha and beta are the wrong ones: 1 minus what you have.",
            lambda p, q, reject: (_chance(p, _not(reject)), _chance(q, reject)),
        ),
        Misconception(
            "coins ignored",
            "You took every output with reject above 0 as rejected. An entry of 0.3 means: say that Mia is in with chance 0.3.",
            lambda p, q, reject: (
                _chance(p, np.asarray(reject) > 0),
                _chance(q, np.asarray(reject) == 0),
            ),
        ),
        Misconception(
            "coins cut at one half",
            "You took an output as rejected if reject is above one half, and as not rejected otherwise. An entry of 0.3 means: say that Mia is in with chance 0.3. It counts with 0.3.",
            lambda p, q, reject: (
                _chance(p, np.asarray(reject) >= 0.5),
                _chance(q, np.asarray(reject) < 0.5),
            ),
        ),
        Misconception(
            "coins left out",
            "You counted only the outputs with reject exactly 1 or exactly 0. Those in between count too: an entry of 0.3 means that the test says “in” with chance 0.3, and “out” with chance 0.7.",
            lambda p, q, reject: (
                _chance(p, np.asarray(reject) == 1),
                _chance(q, np.asarray(reject) == 0),
            ),
        ),
        Misconception(
            "halved",
            "You halved the errors, as if each data set had chance 1/2. Each error is counted under its own data set, without a prior.",
            lambda p, q, reject: (_chance(p, reject) / 2, _chance(q, _not(reject)) / 2),
        ),
    ),
)
