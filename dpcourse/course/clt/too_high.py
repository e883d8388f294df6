"""A setting in which the limit promises too little."""

import math

from dpcourse.base.languages import say
from dpcourse.checking import Domain, Misconception, Number, OpenExercise, several
from dpcourse.course.clt.shared import certified

LEAST_NOISE = 0.6  # low enough that no row of the lesson's table is an answer
RANGES = {"noise_multiplier": (LEAST_NOISE, 10), "sample_rate": (1e-4, 0.05), "steps": (100, 20_000)}
MARGIN = 0.2  # how wrong the limit has to be
CLOSE = 0.02  # up to where the two are called equal


def _draw_delta(rng):
    """One that is large, one that is small, and the smallest, where the error is least."""
    return [*({"delta": float(f"{10 ** rng.uniform(low, low + 1):.1e}")} for low in (-6, -8)), {"delta": 1e-8}]


def _setting(value, case):
    """(noise_multiplier, sample_rate, steps), each within its range."""
    complaint = several(*RANGES)(value, case)
    if complaint:
        return complaint
    for (name, (low, high)), number in zip(RANGES.items(), value, strict=True):
        if not low <= number <= high:
            return say(
                "{name} must be from {low:g} to {high:,g} here, and yours is {number:g}.",
                name=name,
                low=low,
                high=high,
                number=number,
            )
    if value[2] != int(value[2]):
        return say("steps must be a whole number, not {steps}.", steps=value[2])
    return None


def _error(value, case):
    """The least and the most that the limit can be above the truth, as a share of the truth; None if not known."""
    limit, bounds = certified(*map(float, value), case["delta"])
    if bounds is None or bounds.lower <= 0:
        return None
    return limit / bounds.upper - 1, limit / bounds.lower - 1


def _law(value, case):
    """The limit is too high by MARGIN, whatever in the certified interval the truth is."""
    error = _error(value, case)
    if error is None:
        return False, say("no epsilon above 0 is certified for this setting, so there is nothing to compare with")
    limit, bounds = certified(*map(float, value), case["delta"])
    line = say(
        "the limit says {limit:.4g}, the truth is certified between {lower:.6g} and {upper:.6g}",
        limit=limit,
        lower=bounds.lower,
        upper=bounds.upper,
    )
    least, most = error
    if least <= MARGIN < most:
        line = say("{line}; whether that is 20 % cannot be decided", line=line)
    return least > MARGIN, line


def _error_in(low, high, quantifier=any):
    """recognise: in some case, or with `all` in every case, the error certainly lies between low and high."""

    def recognise(cases, values):
        errors = [_error(value, case) for case, value in zip(cases, values, strict=True)]
        return any(errors) and quantifier(low < least and most < high for least, most in filter(None, errors))

    return recognise


exercise = OpenExercise(
    title="A setting in which the limit promises too little",
    good_for="knowing that the limit is not simply optimistic: its error has either sign",
    difficulty=3,
    minutes=12,
    points=2,
    domain=Domain({"delta": Number(1e-8, 1e-5)}, most=0),
    draw=_draw_delta,
    reference=lambda delta: (0.6, 0.05, 20_000),
    returns=_setting,
    law=_law,
    hints=(
        "The second fault: for little noise e^(1/sigma^2) - 1 in the formula of the limit explodes, while a single full step costs only "
        "1 / sigma. Which of your three numbers says how often sample_rate times X is large, and which how often that is added up?",
        "Begin at noise_multiplier 0.6, sample_rate 0.01, steps 1000. Compare `gdp.epsilon(delta, clt.noisy_sgd_mu(...))` with "
        "`pld.noisy_sgd(...).epsilon(delta).upper`, and raise the rate and the steps, one at a time, until the sign of the error turns.",
    ),
    misconceptions=(
        Misconception(
            "other direction",
            "At a delta shown here the limit lies below the truth: the dangerous side, as in the exercise before. Find a setting with the limit above "
            "it at the delta that you are given. With a small sample rate and few steps the sum stays lopsided, and the limit is too low.",
            lambda delta: (0.6, 0.001, 1000),
            recognise=_error_in(-math.inf, -CLOSE),
        ),
        Misconception(
            "they agree",
            "Here the limit is right up to 2 %: there is so much noise that sample_rate times X is never large, or the two faults of the "
            "limit cancel. Take little noise, a large sample_rate and many steps.",
            lambda delta: (10, 0.05, 20_000),
            recognise=_error_in(-CLOSE, CLOSE, all),
        ),
        Misconception(
            "too little",
            "The sign is right: the limit lies above the truth, but not by 20 % at each δ that was tried. Let more steps touch Mia, with as little noise as is allowed.",
            lambda delta: (1, 0.05, 20_000),
            recognise=_error_in(CLOSE, MARGIN),
        ),
    ),
)
