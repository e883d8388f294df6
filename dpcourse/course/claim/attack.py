"""Lesson 10: a released model, and its loss on one image that it was perhaps trained on."""

import numpy as np

from dpcourse import pld
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

NOISE, RATE, STEPS, LR = 0.9, 0.5, 24, 0.5
OTHERS = np.array(
    [
        [1.0, 0.4, -0.3, 0.2],
        [1.0, -0.5, 0.3, 0.1],
        [1.0, 0.2, 0.5, -0.4],
        [1.0, -0.1, -0.6, 0.3],
        [1.0, 0.5, 0.2, 0.4],
        [1.0, -0.4, 0.1, -0.5],
    ]
)
CLASSES = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
MIA, HERS = np.array([1.0, -2.0, 1.0, 3.0]), -1.0


def _draw(rng, is_in):
    """Train a logistic model by noisy SGD for each place of is_in, all side by side; return its loss on Mia's row."""
    rows, classes = np.vstack([OTHERS, MIA]), np.r_[CLASSES, HERS]
    filled = np.ones((len(is_in), len(rows)))
    filled[:, -1] = is_in
    weights = np.zeros((len(is_in), rows.shape[1]))
    for _ in range(STEPS):
        batch = filled * (rng.random(filled.shape) < RATE)
        slopes = -classes / (1 + np.exp(classes * (weights @ rows.T)))
        gradients = slopes[..., None] * rows
        lengths = np.linalg.norm(gradients, axis=-1)
        clipped = gradients / np.maximum(lengths, 1)[..., None]
        total = np.einsum("ij,ijk->ik", batch, clipped) + rng.normal(0, NOISE, weights.shape)
        weights -= LR * total / (RATE * len(rows))
    return np.logaddexp(0, -HERS * (weights @ MIA))


ATTACK = Attack(
    published=to_say(
        "The loss of a released model on Mia's row. The model was trained on seven rows by 24 steps of noisy SGD; hers is one of "
        "them, or it is empty. The attacker knows the six others."
    ),
    inside=to_say("in"),
    outside=to_say("out"),
    draw=_draw,
    promise=lambda: pld.noisy_sgd(NOISE, RATE, STEPS).tradeoff(),
    named="σ = 0.9, p = 0.5, T = 24",
)
