"""Lesson 09: running counts of sixteen steps, with noise that each count takes over from the one before."""

import numpy as np

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.course.attack import Attack

MU, STEPS, COMES = 2.0, 16, 6


def _draw(rng, is_in):
    fresh = rng.normal(0, 1 / MU, (len(is_in), STEPS))
    there = np.arange(1, STEPS + 1) >= COMES
    return is_in[:, None] * there + np.cumsum(fresh, axis=1)


ATTACK = Attack(
    published=to_say(
        "Sixteen running counts of one shop's customers, one after each day. To the customers of each day a fresh noise of deviation 0.5 "
        "is added, and a count is the noisy sum so far. You know all others, and what they add is subtracted. If Mia comes, it is on day 6: then 1 is left "
        "from the sixth count on, and noise, else noise alone."
    ),
    inside=to_say("she came"),
    outside=to_say("she did not"),
    draw=_draw,
    promise=lambda: tradeoff.gaussian(MU),
    named="μ = 2",
)
