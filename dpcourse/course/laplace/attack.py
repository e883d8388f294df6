"""Lesson 02: a count with Laplace noise."""

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

EPSILON, OTHERS = 2.0, 32

ATTACK = Attack(
    published=to_say(
        "How many women of a hundred had an affair, with Laplace noise of scale 0.5 (ε = 2). The attacker knows of all others "
        "that 32 had one. If Mia is in the table, she makes it 33."
    ),
    draw=lambda rng, is_in: OTHERS + is_in + rng.laplace(0, 1 / EPSILON, len(is_in)),
    promise=lambda: tradeoff.laplace(EPSILON),
    named=f"ε = {EPSILON:g}",
)
