"""Lesson 03: a count with Gaussian noise."""

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

MU, OTHERS = 2.0, 32

ATTACK = Attack(
    published=to_say(
        "How many women of a hundred had an affair, with Gaussian noise of deviation 0.5 (μ = 2). The attacker knows of all "
        "others that 32 had one. If Mia is in the table, she makes it 33."
    ),
    draw=lambda rng, is_in: OTHERS + is_in + rng.normal(0, 1 / MU, len(is_in)),
    promise=lambda: tradeoff.gaussian(MU),
    named=f"μ = {MU:g}",
)
