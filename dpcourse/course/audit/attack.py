"""Lesson 07: the weights of a model that was trained with Mia, or without her."""

import numpy as np

from dpcourse import pld
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

NOISE, RATE, STEPS, LR = 0.8, 0.5, 20, 1.0
OTHERS = np.array([[1.0, 0.3, -0.2], [1.0, -0.5, 0.4], [1.0, 0.1, 0.6], [1.0, -0.2, -0.7], [1.0, 0.6, 0.1]])
CLASSES = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
MIA, HERS = np.array([1.0, -2.0, 2.0]), -1.0


def _draw(rng, is_in):
    """Train a logistic model by noisy SGD for each place of is_in, all side by side."""
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
    return weights


ATTACK = Attack(
    published=to_say(
        "The three weights of a model trained on six people by twenty steps of noisy SGD, nothing else. Mia's features are "
        "(1, -2, 2), her class is -1. The attacker knows the five others."
    ),
    inside=to_say("in"),
    outside=to_say("out"),
    draw=_draw,
    promise=lambda: pld.noisy_sgd(NOISE, RATE, STEPS).tradeoff(),
    named="σ = 0.8, p = 0.5, T = 20",
)
