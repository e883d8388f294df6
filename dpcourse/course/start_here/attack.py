"""Lesson 00: one report of Mia's."""

from dpcourse import composition
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack
from dpcourse.tradeoff import approx_dp

EPSILON = 1.0


def _draw(rng, is_in):
    return composition.randomized_response(is_in.astype(int), EPSILON, rng)


ATTACK = Attack(
    published=to_say(
        "Mia's report, by randomized response with ε = 1: 1 for a yes, 0 for a no. Is her true answer yes or no?"
    ),
    inside=to_say("yes"),
    outside=to_say("no"),
    draw=_draw,
    promise=lambda: approx_dp(EPSILON),
    named=f"ε = {EPSILON:g}",
)
