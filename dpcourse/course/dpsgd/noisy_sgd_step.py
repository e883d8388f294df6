"""One step of NoisySGD."""

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, numbers_like, rounded
from dpcourse.course.dpsgd.shared import as_array, clipped_rows, row_norms


def _new_weights(value, case):
    """As many finite numbers as there are weights; says so where an empty batch was divided by 0."""
    complaint, array = numbers_like("weights")(value, case), as_array(value)
    finite = array.dtype.kind != "f" or array.shape != case["weights"].shape or np.isfinite(array).all()
    if not finite and len(case["gradients"]) == 0:
        return say(
            "Here nobody was drawn, and the result is not finite: you divided by the number drawn. Divide by `expected_batch`."
        )
    return complaint


def _draw_step(rng):
    """Two batches, with more and with fewer people than expected, and an empty one; the people of the first agree.

    So their mean is longer than the clip norm, by whatever number it is taken.
    """
    cases = []
    for people in (int(rng.integers(5, 8)), int(rng.integers(2, 4)), 0):
        clip_norm = rounded(rng.uniform(0.5, 2))
        directions = rng.normal(size=(people, 3)) + (1.5 if people > 4 else 0)
        lengths = clip_norm * rng.uniform(1.2, 3, size=(people, 1))
        gradients = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths
        if people:
            gradients[-1] *= 0.3
        cases.append(
            {
                "weights": rng.normal(size=3).round(2),
                "gradients": gradients.round(3),
                "noise": rng.normal(size=3).round(3),
                "learning_rate": rounded(rng.uniform(0.1, 0.6)),
                "noise_multiplier": rounded(rng.uniform(0.6, 2)),
                "clip_norm": clip_norm,
                "expected_batch": rounded(rng.uniform(3.6, 4.4)),
            }
        )
    return cases


def _step(
    clipped=clipped_rows,
    deviation=lambda sigma, r, people: sigma * r,
    divisor=lambda expected, people: expected,
    noise_share=lambda expected, people: 1.0,
    sign=-1,
):
    """A step of NoisySGD, with some of its parts replaced."""

    def code(weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch):
        people = len(gradients)
        total = clipped(gradients, clip_norm).sum(axis=0) if people else np.zeros(len(weights))
        size = deviation(noise_multiplier, clip_norm, people) * noise_share(expected_batch, people)
        return weights + sign * learning_rate * (total + size * noise) / divisor(expected_batch, people)

    return code


def _mean_clipped(gradients, clip_norm):
    """Rows that add up to the number of people times the clipped mean."""
    return np.repeat(clipped_rows(gradients.mean(axis=0, keepdims=True), clip_norm), len(gradients), axis=0)


BATCH = to_say("1 to 5 `weights`; `gradients` with a row for each of 0 to 8 people; `noise` for each weight")


def _any_batch(rng):
    people, weights = int(rng.integers(0, 9)), int(rng.integers(1, 6))
    gradients = rng.normal(size=(people, weights)) * rng.choice([0, 0.1, 1, 5], size=(people, 1))
    return rng.normal(size=weights).round(2), gradients.round(3), rng.normal(size=weights).round(3)


def _written(weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch):
    """As learners write it."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    total = (gradients / np.maximum(1, norms / clip_norm)).sum(axis=0)
    noisy = total + noise_multiplier * clip_norm * noise
    return weights - learning_rate * (noisy / expected_batch)


exercise = Exercise(
    title="One step of NoisySGD",
    good_for="the whole algorithm in four lines",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain(
        {
            "weights, gradients, noise": Made(_any_batch, BATCH),
            "learning_rate": Number(0.001, 1),
            "noise_multiplier": Number(0.1, 5),
            "clip_norm": Number(0.1, 5),
            "expected_batch": Number(1, 50),
        }
    ),
    draw=_draw_step,
    formulas=(_written,),
    reference=_step(),
    means={
        "np.linalg.norm(gradients, axis=1, keepdims=True)": "the length of each person's gradient",
        "np.maximum(1, norms / clip_norm)": "by what each gradient is divided: 1 where it is short enough",
        "(gradients / np.maximum(1, norms / clip_norm)).sum(axis=0)": "the sum of the clipped gradients",
        "noise_multiplier * clip_norm * noise": "the noise, with the deviation noise_multiplier · clip_norm",
        "total + noise_multiplier * clip_norm * noise": "the noisy sum",
        "noisy / expected_batch": "the noisy sum over the expected batch",
        "learning_rate * (noisy / expected_batch)": "the move, which is taken away from the weights",
    },
    returns=_new_weights,
    hints=(
        "Clip as in {clip}, add up over the people, add the noise, divide, step. By what is divided, if the number of people drawn is secret?",
        "`noise` has the deviation 1. Which deviation must it have on a sum, to which one person adds clip_norm at most? An empty batch needs no "
        "case of its own: `gradients.sum(axis=0)` is all zeros there, and noise is added all the same.",
        "Four lines: the clipped rows; `total`, their sum over the people; `noisy`, which is `total + noise_multiplier * clip_norm * noise`; and the "
        "new weights. The last is yours: by what is `noisy` divided, by what multiplied, and which sign has it?",
    ),
    misconceptions=(
        Misconception(
            "number drawn",
            "You divided by the number of people drawn. It is secret, random, and may be 0; and whoever sees it can tell whether Mia came. "
            "Divide by the expected batch, which is public.",
            _step(divisor=lambda expected, people: max(1, people)),
        ),
        Misconception(
            "clipped the mean",
            "You clipped the mean of the gradients. Then one person can change the result by twice the clip norm, not by a share of it. "
            "Clip each person's gradient before adding up.",
            _step(clipped=_mean_clipped),
        ),
        Misconception(
            "clipped the expected mean",
            "You clipped the mean of the gradients, their sum over `expected_batch`. Then one person can turn the whole step round. Clip each "
            "person's gradient before adding up.",
            lambda weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch: _step(
                clipped=lambda g, r: clipped_rows(g.sum(axis=0, keepdims=True) / expected_batch, r) * expected_batch
            )(weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch),
        ),
        Misconception(
            "not clipped",
            "You did not clip, or clipped what was divided already, so that hardly anything is as long as clip_norm. Without clipping one person can move the sum by any amount, and no noise hides that.",
            _step(clipped=lambda gradients, clip_norm: gradients),
        ),
        Misconception(
            "clip norm not in the noise",
            "Your noise has the deviation noise_multiplier. It must be noise_multiplier * clip_norm.",
            _step(deviation=lambda sigma, r, people: sigma),
        ),
        Misconception(
            "multiplier not in the noise",
            "You multiplied the noise by clip_norm only. Multiply by noise_multiplier as well.",
            _step(deviation=lambda sigma, r, people: r),
        ),
        Misconception(
            "noise as it is",
            "You added the noise as it is. It has the deviation 1; on the sum it must have noise_multiplier * clip_norm.",
            _step(deviation=lambda sigma, r, people: 1.0),
        ),
        Misconception(
            "clipped the sum",
            "You clipped the sum of the gradients. Then one person can turn the whole step round, and everybody else has no say. Clip each "
            "person's gradient before adding up.",
            _step(
                clipped=lambda g, r: np.repeat(clipped_rows(g.sum(axis=0, keepdims=True), r) / len(g), len(g), axis=0)
            ),
        ),
        Misconception(
            "whole batch",
            "You clipped all rows by one factor, from the norm of the whole array. Every row has a norm of its own: `axis=1`.",
            _step(clipped=lambda g, r: g / max(1, np.linalg.norm(g) / r)),
        ),
        Misconception(
            "learning rate forgotten",
            "You left out the learning rate. The weights move by -learning_rate times the noisy mean.",
            lambda weights, gradients, noise, learning_rate, *rest: _step()(weights, gradients, noise, 1.0, *rest),
        ),
        Misconception(
            "noise without the learning rate",
            "You multiplied the gradients by the learning rate, but not the noise. The noise is on the sum; both are divided and multiplied alike.",
            lambda weights, gradients, noise, learning_rate, *rest: _step()(
                weights, gradients, noise / learning_rate, learning_rate, *rest
            ),
        ),
        Misconception(
            "noise after dividing",
            "You added the noise after dividing by the expected batch, so there is expected_batch times too much of it. Noise goes on the "
            "sum; then all is divided.",
            _step(noise_share=lambda expected, people: expected),
        ),
        Misconception(
            "noise for each person",
            "You added the noise once for each person. It is added once, to the sum.",
            _step(deviation=lambda sigma, r, people: sigma * r * people),
        ),
        Misconception(
            "empty batch skipped",
            "Where nobody was drawn you left the weights as they are. Then everybody sees that the batch was empty. The noise is added all the same.",
            lambda weights, gradients, *rest: _step()(weights, gradients, *rest) if len(gradients) else weights + 0.0,
        ),
        Misconception(
            "uphill",
            "You went up the gradient. The loss falls against it: weights minus learning_rate times the gradient.",
            _step(sign=1),
        ),
        Misconception(
            "no noise",
            "You added no noise. Clipping alone hides nobody.",
            _step(deviation=lambda sigma, r, people: 0.0),
        ),
        Misconception(
            "clipped to the share",
            "You clipped each gradient to clip_norm / expected_batch and did the rest with clip_norm. Clip to clip_norm; the division comes at the end.",
            lambda weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch: _step(
                clipped=lambda g, r: clipped_rows(g, r / expected_batch)
            )(weights, gradients, noise, learning_rate, noise_multiplier, clip_norm, expected_batch),
        ),
        Misconception(
            "not divided",
            "You did not divide by the expected batch. The step is along the average gradient.",
            _step(divisor=lambda expected, people: 1),
        ),
        Misconception(
            "each coordinate",
            "You clipped each coordinate by itself. Clip the norm of each person's whole gradient.",
            _step(clipped=lambda gradients, clip_norm: np.clip(gradients, -clip_norm, clip_norm)),
        ),
        Misconception(
            "short ones stretched",
            "You gave every gradient the norm clip_norm. Only longer ones are changed.",
            _step(clipped=lambda g, r: r * g / np.maximum(row_norms(g), 1e-12)),
        ),
    ),
)
