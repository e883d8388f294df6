"""The privacy loss of one output."""

import math

import numpy as np

from dpcourse import laplace
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of, rounded
from dpcourse.course.laplace.shared import noise_scale


def _draw_loss(rng):
    """Two neighbouring answers of three numbers, and outputs around them; l1 distance below the sensitivity.

    Where they are farthest apart the output is between them: no entry's loss is as large as the largest change.
    """
    cases = []
    for _ in range(2):
        value = rng.integers(5, 40, size=3).astype(float)
        step = rng.uniform(0.5, 2, size=3) * rng.choice([-1, 1], size=3)
        way = rng.uniform(-0.6, 1.6, size=3)
        way[np.abs(step).argmax()] = rng.choice([-1, 1]) * rng.uniform(0.1, 0.3) + 0.5
        cases.append(
            {
                "output": [rounded(x) for x in value + step * way],
                "value": value.tolist(),
                "neighbour": [rounded(x) for x in value + step],
                "sensitivity": rounded(np.abs(step).sum() + rng.uniform(0.2, 1)),
                "epsilon": rounded(rng.uniform(0.3, 0.9)),
            }
        )
    return cases


def _loss(distance, after=lambda loss: loss):
    """after(epsilon / sensitivity * (distance(output - neighbour) - distance(output - value)))."""

    def code(output, value, neighbour, sensitivity, epsilon):
        z, x, y = map(np.asarray, (output, value, neighbour))
        return after(float(epsilon / sensitivity * (distance(z - y) - distance(z - x))))

    return code


def _l1(x):
    return np.abs(x).sum()


def _of_entries(pick):
    """What pick makes of the losses of the entries."""

    def code(output, value, neighbour, sensitivity, epsilon):
        z, x, y = map(np.asarray, (output, value, neighbour))
        return float(pick(epsilon / sensitivity * (np.abs(z - y) - np.abs(z - x))))

    return code


def _one_entry_tells(cases, values):
    """Each is the largest loss of an entry, with or without its sign."""
    picks = (max, min, lambda losses: np.abs(losses).max(), lambda losses: max(losses, key=abs))
    found = [[_of_entries(pick)(**case) for case in cases] for pick in picks]
    return any(np.allclose(values, each) for each in found)


def _log_of_sums(output, value, neighbour, sensitivity, epsilon):
    b = noise_scale(sensitivity, epsilon)
    ours, theirs = (np.exp(-np.abs(np.subtract(output, x)) / b).sum() for x in (value, neighbour))
    return float(np.log(ours / theirs))


ANSWERS = to_say(
    "three lists of 1 to 5 numbers from -100 to 100, `output` within 40 of `value` at each place; `sensitivity` at least 1, "
    "and at least the l1 distance of `value` and `neighbour`"
)


def _any_answers(rng):
    size = int(rng.integers(1, 6))
    value = np.round(rng.uniform(-20, 40, size=size), int(rng.integers(2)))
    step = rng.choice([2, 40]) * rng.uniform(-1, 1, size=size) * (rng.random(size) < 0.8)  # some entries are the same
    off = rng.normal(0, rng.choice([3, 50]), size=size).clip(-40, 40)  # no density is 0 in floating point
    output = [rounded(x) for x in value + off]
    neighbour = [rounded(x) for x in value + step]
    if rng.random() < 0.2:
        output[0] = neighbour[0]
    elif rng.random() < 0.1:
        output = value.tolist()
    return output, value.tolist(), neighbour, rounded(np.abs(step).sum() + rng.uniform(1, 2))


def _written(output, value, neighbour, sensitivity, epsilon):
    """As learners write it."""
    b = sensitivity / epsilon
    near = np.abs(np.array(output) - np.array(value)).sum()
    far = np.abs(np.array(output) - np.array(neighbour)).sum()
    return (far - near) / b


def _by_densities(output, value, neighbour, sensitivity, epsilon):
    """As the hint has it: the log-densities of all numbers, added up."""
    b = sensitivity / epsilon
    own = (-np.abs(np.subtract(output, value)) / b - np.log(2 * b)).sum()
    other = (-np.abs(np.subtract(output, neighbour)) / b - np.log(2 * b)).sum()
    return own - other


def _log_density(answer):
    """The logarithm of the density of the output under one of the two answers."""

    def code(output, value, neighbour, sensitivity, epsilon):
        b, centre = noise_scale(sensitivity, epsilon), {"value": value, "neighbour": neighbour}[answer]
        return float((-np.abs(np.subtract(output, centre)) / b - np.log(2 * b)).sum())

    return code


exercise = Exercise(
    title="The privacy loss of one output",
    good_for="seeing what a single published table says about Mia, and the proof of theorem 3.6",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain(
        {
            "output, value, neighbour, sensitivity": Made(_any_answers, ANSWERS),
            "epsilon": Number(0.01, 3),
        }
    ),
    draw=_draw_loss,
    formulas=(_written, _by_densities),
    reference=_loss(_l1),
    means={
        "sensitivity / epsilon": "the scale of the noise",
        "np.abs(np.array(output) - np.array(value)).sum()": "how far the output is from `value`, all numbers together",
        "np.abs(np.array(output) - np.array(neighbour)).sum()": "how far the output is from `neighbour`, all numbers together",
        "(-np.abs(np.subtract(output, value)) / b - np.log(2 * b)).sum()": "the logarithm of the density of `output` under `value`",
        "(-np.abs(np.subtract(output, neighbour)) / b - np.log(2 * b)).sum()": "the logarithm of the density of `output` under `neighbour`",
        "far - near": "how much farther the output is from `neighbour` than from `value`",
    },
    returns=a_number,
    forbidden=(laplace.log_density,),
    hints=(
        "Begin with one number, and b = 2: output 5, true answer 4, neighbour 6. Then x and y are equally far from z, and the loss is 0. For output 4 it is 1. Why?",
        "The scale is b = sensitivity / epsilon. The log-density of one number z with true answer x is -|z - x| / b - ln(2b). Over several numbers these add up.",
        "Write down this sum under `value`, and the same under `neighbour`. Take the second from the first: what cancels?",
    ),
    misconceptions=(
        Misconception(
            "turned over",
            "Your sign is turned: either the density under the neighbour stands above that under the value, or the minus in the exponent of the density is lost.",
            _loss(_l1, lambda loss: -loss),
        ),
        Misconception(
            "ratio",
            "That is the ratio of the densities. The privacy loss is its logarithm.",
            _loss(_l1, math.exp),
        ),
        Misconception(
            "one density",
            "That is the logarithm of the density of `output` under one of the two answers alone. The privacy loss compares both: take the difference.",
            _log_density("value"),
            recognise=any_of(_log_density("value"), _log_density("neighbour")),
        ),
        Misconception(
            "size only",
            "You took the absolute value. The loss has a sign: negative where the output speaks for the neighbour.",
            _loss(_l1, abs),
        ),
        Misconception(
            "worst case",
            "That is the largest loss that any output could have for these two answers. The question is for this output.",
            lambda output, value, neighbour, sensitivity, epsilon: (
                epsilon / sensitivity * _l1(np.subtract(value, neighbour))
            ),
        ),
        Misconception(
            "signed distances",
            "You left out the absolute values: the density depends on the distance |z - x| in each entry.",
            _loss(np.sum),
        ),
        Misconception(
            "size of the sum",
            "You took the absolute value of the sum, where the sum of the absolute values belongs: each entry has a distance of its own.",
            _loss(lambda x: abs(x.sum())),
        ),
        Misconception(
            "l2",
            "You took Euclidean distances. The entries have independent noises, so their log-densities add: sums of absolute values.",
            _loss(np.linalg.norm),
        ),
        Misconception(
            "squares",
            "You squared the distances. That is the Gaussian density; in Laplace's the distance stands without a square.",
            _loss(lambda x: (x**2).sum()),
        ),
        Misconception(
            "largest entry",
            "You looked at the largest distance only. Every entry is published, so the losses of all of them add.",
            _loss(lambda x: np.abs(x).max()),
        ),
        Misconception(
            "largest loss",
            "You took the largest of the entries' losses. Every entry is published: their densities multiply, so the losses of all of them add.",
            _of_entries(max),
            recognise=_one_entry_tells,
        ),
        Misconception(
            "largest density",
            "You looked at one entry only, where the density is largest. The entries' densities multiply, so their logarithms add.",
            _loss(lambda x: np.abs(x).min()),
        ),
        Misconception(
            "largest change",
            "You took the largest change of one entry, divided by b. The question is for this output: each entry has a loss of its own, and they add.",
            lambda output, value, neighbour, sensitivity, epsilon: (
                epsilon / sensitivity * float(np.abs(np.subtract(value, neighbour)).max())
            ),
        ),
        Misconception(
            "average",
            "You divided by the number of entries (an average, or a sensitivity multiplied by it). The entries' densities multiply, so the logarithms add.",
            _loss(lambda x: np.abs(x).mean()),
        ),
        Misconception(
            "sum of densities",
            "Independent densities multiply; you added them. The logarithm of a product is a sum of logarithms.",
            _log_of_sums,
        ),
        Misconception(
            "sensitivity forgotten",
            "You multiplied by epsilon but did not divide by the sensitivity: the scale is sensitivity / epsilon.",
            lambda output, value, neighbour, sensitivity, epsilon: (
                sensitivity * _loss(_l1)(output, value, neighbour, sensitivity, epsilon)
            ),
        ),
        Misconception(
            "scale turned over",
            "You multiplied by the scale b where you should divide by it: the density is e^(-|z - x| / b) / (2b).",
            lambda output, value, neighbour, sensitivity, epsilon: (
                noise_scale(sensitivity, epsilon) ** 2 * _loss(_l1)(output, value, neighbour, sensitivity, epsilon)
            ),
        ),
    ),
)
