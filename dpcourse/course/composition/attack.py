"""Lesson 01: ten reports of Mia's, of which the number of yes is told."""

import numpy as np

from dpcourse import pld
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

EPSILON, REPORTS = 0.5, 10


def _draw(rng, is_in):
    keep = np.exp(EPSILON) / (1 + np.exp(EPSILON))
    return rng.binomial(REPORTS, np.where(is_in, keep, 1 - keep))


ATTACK = Attack(
    published=to_say(
        "How often Mia said yes in ten reports, each by randomized response with ε = 0.5. Is her true answer yes or no?"
    ),
    inside=to_say("yes"),
    outside=to_say("no"),
    draw=_draw,
    promise=lambda: pld.approx_dp(EPSILON, 0.0, REPORTS).tradeoff(),
    named=to_say("ε = 0.5, ten times"),
)
