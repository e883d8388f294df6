"""Lesson 07: the weights of a model that was trained with Mia, or without her."""

import numpy as np

from dpcourse import pld
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack, trained

NOISE, RATE, STEPS, LR = 0.8, 0.5, 20, 1.0
OTHERS = np.array([[1.0, 0.3, -0.2], [1.0, -0.5, 0.4], [1.0, 0.1, 0.6], [1.0, -0.2, -0.7], [1.0, 0.6, 0.1]])
CLASSES = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
MIA, HERS = np.array([1.0, -2.0, 2.0]), -1.0


def _draw(rng, is_in):
    """The weights of each model."""
    rows, classes = np.vstack([OTHERS, MIA]), np.r_[CLASSES, HERS]
    return trained(rng, is_in, rows, classes, noise=NOISE, rate=RATE, steps=STEPS, lr=LR)


ATTACK = Attack(
    published=to_say(
        "The three weights of a logistic regression trained on six people by twenty steps of noisy SGD, nothing else. It adds up each "
        "weight times its feature; a large sum means class 1, a small one class -1. Mia's features are (1, -2, 2), her class is -1. The "
        "attacker knows the five others: (1, 0.3, -0.2), (1, 0.1, 0.6) and (1, 0.6, 0.1) are of class 1, (1, -0.5, 0.4) and "
        "(1, -0.2, -0.7) of class -1. In each step a coin draws each person or not, gradients are clipped to length 1, and the noise on "
        "their sum has the deviation 0.8. The learning rate is 1, and the sum is divided by 3."
    ),
    draw=_draw,
    promise=lambda: pld.noisy_sgd(NOISE, RATE, STEPS).tradeoff(),
    named="σ = 0.8, p = 0.5, T = 20",
)
