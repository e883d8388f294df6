"""A setting in which the limit promises too little."""

import math

from dpcourse.course.clt.shared import CLOSE, MARGIN, RANGES, any_error, draw_delta, setting_within, wrong_by_margin
from dpcourse.engine import Misconception, OpenExercise

LEAST_NOISE = 0.6  # low enough that no row of the lesson's table is an answer, as in too_low


exercise = OpenExercise(
    title="A setting in which the limit promises too little",
    good_for="knowing that the limit is not simply optimistic: its error has either sign",
    difficulty=3,
    minutes=15,
    points=2,
    draw=draw_delta,
    reference=lambda delta: (0.6, 0.05, 20_000),
    returns=setting_within(RANGES | {"noise_multiplier": (LEAST_NOISE, 10)}),
    law=wrong_by_margin(1),
    hints=(
        "Look at e^(1/sigma^2) - 1 in the formula of the limit: for little noise it explodes, while a single full step costs only "
        "1 / sigma. When do so many steps touch Mia that this shows?",
        "Take the least noise allowed, and raise sample_rate and steps until the sign of the error turns.",
    ),
    misconceptions=(
        Misconception(
            "other direction",
            "Here the limit lies below the truth: the dangerous side. That belongs into the other exercise; now find one above.",
            lambda delta: (0.6, 0.001, 1000),
            recognise=any_error(-math.inf, -CLOSE, 1),
        ),
        Misconception(
            "they agree",
            "Here the limit is right up to 2 %: there is so much noise that sample_rate times X is never large, or the two faults of the "
            "limit cancel. Take little noise, a large sample_rate and many steps.",
            lambda delta: (10, 0.05, 20_000),
            recognise=any_error(-CLOSE, CLOSE, 1),
        ),
        Misconception(
            "too little",
            "The direction is right: the limit lies above the truth, but not by 20 %. Let more steps touch Mia, with as little noise as is allowed.",
            lambda delta: (1, 0.05, 20_000),
            recognise=any_error(CLOSE, MARGIN, 1),
        ),
    ),
)
