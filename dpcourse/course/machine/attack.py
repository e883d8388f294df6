"""Lesson 08: a count with Laplace noise of doubles, to the last bit."""

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

EPSILON = 1.0

ATTACK = Attack(
    published=to_say(
        "How many women are as Mia is in five columns, with Laplace noise of scale 1 (ε = 1), all digits, in hexadecimal. Nobody "
        "else is. If Mia is in the table the count is 1, and else 0."
    ),
    draw=lambda rng, is_in: is_in + rng.laplace(0, 1 / EPSILON, len(is_in)),
    promise=lambda: tradeoff.laplace(EPSILON),
    named=f"ε = {EPSILON:g}",
    shown=lambda output: f"{output:.2f} = {float(output).hex()}",
)
