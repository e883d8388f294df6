"""Lesson 04: many answers about the same table."""

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

MU, ANSWERS = 0.5, 25

ATTACK = Attack(
    published=to_say(
        "25 answers, each with Gaussian noise of deviation 2 (μ = 0.5). What the others add is taken off: if Mia is in the "
        "table, 1 is left of each answer and noise, else noise alone."
    ),
    draw=lambda rng, is_in: is_in[:, None] + rng.normal(0, 1 / MU, (len(is_in), ANSWERS)),
    promise=lambda: tradeoff.gaussian(MU * ANSWERS**0.5),
    named=to_say("μ = 0.5, 25 times"),
)
