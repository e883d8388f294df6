"""Lesson 05: the noisy sums of twenty batches, of which half have Mia."""

from dpcourse import pld
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

NOISE, RATE, STEPS = 1.0, 0.5, 20


def _draw(rng, is_in):
    there = rng.random((len(is_in), STEPS)) < RATE
    return is_in[:, None] * there + rng.normal(0, NOISE, (len(is_in), STEPS))


ATTACK = Attack(
    published=to_say(
        "Twenty noisy sums of clipped gradients, seen along Mia's own gradient, whose length is 1. What the others add is taken "
        "off. The noise has deviation 1. If Mia is in the data, a coin puts her into each batch: then 1 is left, else noise alone."
    ),
    draw=_draw,
    promise=lambda: pld.noisy_sgd(NOISE, RATE, STEPS).tradeoff(),
    named="σ = 1, p = 0.5, T = 20",
)
