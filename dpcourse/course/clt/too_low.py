"""A setting in which the limit promises too much."""

import math

from dpcourse.course.clt.shared import CLOSE, MARGIN, RANGES, any_error, draw_delta, setting_within, wrong_by_margin
from dpcourse.engine import Misconception, OpenExercise

exercise = OpenExercise(
    title="A setting in which the limit promises too much",
    good_for="never again taking the mu of the limit for a guarantee",
    difficulty=3,
    minutes=20,
    points=3,
    draw=draw_delta,
    reference=lambda delta: (1, 0.01, 100),
    returns=setting_within(RANGES),
    law=wrong_by_margin(-1),
    hints=(
        "The rule of thumb: the limit needs `steps` to be many times skew(X)^2. Break it. Which of your three numbers are levers? "
        "skew(X) depends on the noise alone, and the sample_rate does not occur.",
        "Compare `gdp.epsilon(delta, clt.noisy_sgd_mu(...))` with `pld.noisy_sgd(...).epsilon(delta).lower`. Start at noise_multiplier 1, "
        "sample_rate 0.01, steps 1000, and change one of them at a time: the noise, the steps, and last the rate, which does little.",
    ),
    misconceptions=(
        Misconception(
            "other direction",
            "Here the limit lies above the truth. It is wasteful, but nobody is hurt. Look for a setting in which it lies below.",
            lambda delta: (1, 0.05, 20_000),
            recognise=any_error(-math.inf, -CLOSE, -1),
        ),
        Misconception(
            "they agree",
            "Here the limit is right up to 2 %: the steps are very many times skew(X)^2. Take far fewer steps, and little noise, which "
            "makes skew(X) large.",
            lambda delta: (10, 0.05, 20_000),
            recognise=any_error(-CLOSE, CLOSE, -1),
        ),
        Misconception(
            "too little",
            "The direction is right: the limit lies below the truth, but not by 20 %. Take fewer steps, or less noise: the error grows "
            "with skew(X) / sqrt(steps). The sample_rate changes it little.",
            lambda delta: (2, 0.01, 1000),
            recognise=any_error(CLOSE, MARGIN, -1),
        ),
    ),
)
