"""Lesson 10: a released model, and its loss on one image that it was perhaps trained on."""

import numpy as np

from dpcourse import pld
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack, trained

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
    """The loss of each model on Mia's row."""
    rows, classes = np.vstack([OTHERS, MIA]), np.r_[CLASSES, HERS]
    weights = trained(rng, is_in, rows, classes, noise=NOISE, rate=RATE, steps=STEPS, lr=LR)
    return np.logaddexp(0, -HERS * (weights @ MIA))


ATTACK = Attack(
    published=to_say(
        "The loss of a released model on Mia's row. The model was trained on seven rows by 24 steps of noisy SGD; hers is one of "
        "them, or it is empty. The attacker knows the six others."
    ),
    draw=_draw,
    promise=lambda: pld.noisy_sgd(NOISE, RATE, STEPS).tradeoff(),
    named="σ = 0.9, p = 0.5, T = 24",
)
