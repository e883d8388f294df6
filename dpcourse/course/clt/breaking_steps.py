"""Where the limit breaks, predicted before it is measured."""

import math

import numpy as np

from dpcourse import pld
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Misconception, Number, OpenExercise, a_number, rounded
from dpcourse.course.clt.shared import certified, skewness
from dpcourse.tradeoff import TradeOff

RATE, DELTA = 0.01, 1e-5
WITHIN = 1.5  # the factor by which the error measured at the predicted steps may miss the one that was asked for
MOST = 1_000_000  # steps; with the noise and the errors that are drawn the limit is right long before
FACTOR = 0.3  # of skew(X)^2 / error^2: from noise 2, rate 0.01 and 100 steps, where pld finds an error of 9.6 %
PERCENT = (
    "You are off by a factor of about 10,000, which is 100 squared. One of your two errors is in percent, and the other a share: `error` is 0.1 "
    "for 10 %, and the table has percents. Or you multiplied a skewness by the rate: it does not change where X is multiplied by a number."
)
TOO_LOW = to_say("at {steps:,} steps pld finds the limit {off:.2g} % too low, and {wanted:.2g} % were asked for")
TOO_HIGH = to_say("at {steps:,} steps pld finds the limit {off:.2g} % too high, and {wanted:.2g} % were asked for")
ABOUT = 0.7  # of a factor that was read off one row or another
ALIKE = 0.1  # of exponents, which are blurred where steps are whole numbers
POWER_OF_NOISE = 0.02  # how far steps may be from a power of the noise that are one
BLURRED = 5  # steps, and fewer: whole numbers say little of them


def _draw_corners(rng):
    """Little noise and much, a small error and a large one, from which both exponents can be read; and a noise between them."""
    corners = [(noise, error) for noise in ((0.95, 1.0), (2.1, 2.5)) for error in ((0.04, 0.041), (0.2, 0.25))]
    corners.append(((1.4, 1.6), (0.08, 0.12)))
    return [
        {"noise_multiplier": rounded(rng.uniform(*noise)), "error": rounded(rng.uniform(*error), 3)}
        for noise, error in (corners[i] for i in rng.permutation(len(corners)))
    ]


def _steps(value, case):
    """One number of steps, above 0."""
    complaint = a_number(value, case)
    if complaint is None and value <= 0:
        return say("A number of steps is at least 1, and yours is {steps:.3g}.", steps=value)
    return complaint


def _measured(value, case):
    """How far the limit's epsilon is below the certified one, at the nearest whole number of steps: least and most."""
    limit, (lower, upper) = certified(case["noise_multiplier"], RATE, max(1, round(value)), DELTA)
    return 1 - limit / lower, 1 - limit / upper


def _law(value, case):
    wanted = case["error"]
    if value < 1:
        return False, say("a number of steps is at least 1, and yours is {steps:.3g}", steps=value)
    if value > MOST:
        return False, say(
            "that is more than {most:,} steps, where the limit is right to far less than {error:.2g}",
            most=MOST,
            error=wanted,
        )
    least, most = _measured(value, case)
    seen, off = (TOO_LOW, 100 * most) if least >= 0 else (TOO_HIGH, -100 * most)
    line = say(seen, steps=round(value), off=off, wanted=100 * wanted)
    return wanted / WITHIN <= least <= most <= wanted * WITHIN, line


def _power(of_skewness, of_error, factor=FACTOR):
    return lambda noise_multiplier, error: factor * skewness(noise_multiplier) ** of_skewness * error**of_error


def _nearest(cases, values, of):
    """The product of powers of `of(noise_multiplier)` and of the error that is nearest to these values: the two exponents, and how far it is."""
    log = np.log([[math.e, of(case["noise_multiplier"]), case["error"]] for case in cases])
    steps = np.array(values, dtype=float)
    weights = steps / (steps + BLURRED)
    powers = np.linalg.lstsq(weights[:, None] * log, weights * np.log(steps))[0]
    return powers[1:], float(np.abs(weights * (log @ powers - np.log(steps))).max())


def _factor(cases, values):
    """Of skew(X)^2 / error^2, in the mean."""
    squares = [(skewness(case["noise_multiplier"]) / case["error"]) ** 2 for case in cases]
    return float(np.exp(np.mean(np.log(values) - np.log(squares))))


def _exponents(cases, values, of=skewness):
    """Of skew(X) and of the error, in the product of powers nearest to these values; `of`: what is taken for skew(X)."""
    return _nearest(cases, values, of)[0]


def _no_skewness(cases, values):
    """Whether a power of the noise is nearer to these values than one of skew(X)."""
    return _nearest(cases, values, float)[1] < _nearest(cases, values, skewness)[1]


def _grows(says, of=skewness):
    """recognise: what is said of the two exponents is true, whatever the factor."""
    return lambda cases, values: bool(says(*_exponents(cases, values, of)))


def _grows_as(of_skewness, of_error, of=skewness):
    return _grows(lambda skew, error: max(abs(skew - of_skewness), abs(error - of_error)) < ALIKE, of)


def _grows_as_skewness(of_skewness, of_error):
    """recognise: the steps are near these powers, and no nearer to a power of the noise."""
    return lambda cases, values: _grows_as(of_skewness, of_error)(cases, values) and not _no_skewness(cases, values)


def _root_in_the_exponent(noise_multiplier):
    """What comes out for skew(X) with u = e^(1/sigma)."""
    return skewness(math.sqrt(noise_multiplier))


def _in_percent(cases, values):
    """recognise: they grow as they should, and are 10,000 times too many steps, or too few."""
    shares = [value / _power(2, -2)(**case) for case, value in zip(cases, values, strict=True)]
    near = any(all(1 / WITHIN**2 < share / off < WITHIN**2 for share in shares) for off in (1e4, 1e-4))
    return near and _grows_as(2, -2)(cases, values)


def _a_hundredth(cases, values):
    """recognise: a hundredth of the right steps, or fewer; as far as whole numbers let it be seen, they grow as they should."""
    right = [_power(2, -2)(**case) for case in cases]
    few = all(value <= max(1, WITHIN**2 * wanted / 100) for value, wanted in zip(values, right, strict=True))
    most = max(range(len(values)), key=lambda i: right[i])
    return few and values[most] == max(values) > 1


exercise = OpenExercise(
    title="Where the limit breaks",
    good_for="knowing without a computation whether a limit may be trusted, and by how much not",
    difficulty=3,
    minutes=30,
    points=3,
    domain=Domain({"noise_multiplier": Number(0.95, 2.5), "error": Number(0.04, 0.25)}, most=0),
    draw=_draw_corners,
    reference=_power(2, -2),
    returns=_steps,
    law=_law,
    forbidden=(pld.noisy_sgd, pld.Curve.__init__, TradeOff.power),
    instead="predict T from σ and the error; the check then measures with pld",
    hints=(
        "The rule of thumb says error = factor * skew(X) / sqrt(T), with one factor that is not known. It is about the same in every row of "
        "the table. Which two numbers of a row do you need to find it?",
        "In the row of sigma = 2 and T = 100, skew(X) / sqrt(T) is 0.175. The error at rate 0.01 stands in the same row, in percent and with its "
        "sign; `error` is a share without one. Their quotient is the factor.",
        "Now write the rule with your factor, `skewness(noise_multiplier)` and `error`. Only T is unknown in it. Solve for T, and test the result: "
        "half the error takes four times as many steps.",
    ),
    misconceptions=(
        Misconception("in percent", PERCENT, _power(2, -2, factor=1e4 * FACTOR), recognise=_in_percent),
        Misconception(
            "the factor without the root",
            "You have far too few steps, a hundredth of the right ones or fewer. In each row, error = factor * skew(X) / sqrt(T). Did you leave sqrt(T) out when you took the factor from a row? "
            "Then it is 10 times too small for a row with 100 steps, and its square 100 times.",
            lambda noise_multiplier, error: max(1.0, _power(2, -2, FACTOR / 1000)(noise_multiplier, error)),
            recognise=_a_hundredth,
        ),
        Misconception(
            "divided by the factor",
            "Your steps grow with skew(X) and fall with the error as they should, but you divide by the factor, or multiply the error by it. sqrt(T) is the factor times skew(X), over `error`.",
            _power(2, -2, factor=1 / FACTOR),
            recognise=lambda cases, values: (
                _grows_as(2, -2)(cases, values) and ABOUT < FACTOR * _factor(cases, values) < 1 / ABOUT
            ),
        ),
        Misconception(
            "the factor",
            "Your steps grow with skew(X) and fall with the error as they should, so the rule is right. The factor is not. Take it from one row "
            "of the table, from its error at rate 0.01, and try your answer on another row: sqrt(T) is the factor times skew(X), over `error`. (The rate is no part of the rule.)",
            _power(2, -2, factor=1),
            recognise=_grows_as(2, -2),
        ),
        Misconception(
            "neither is squared",
            "You divide skew(X) by the error. The error falls with the *root* of the steps: square the whole quotient.",
            _power(1, -1, factor=2),
            recognise=_grows_as(1, -1),
        ),
        Misconception(
            "a root for a square",
            "You took a root of the quotient. sqrt(T) = factor * skew(X) / error, so T is the *square* of that.",
            _power(0.5, -0.5, factor=10),
            recognise=_grows_as(0.5, -0.5),
        ),
        Misconception(
            "another power of the quotient",
            "You divide skew(X) by the error, and take another power of the quotient than the square. sqrt(T) = factor * skew(X) / error, so T is the *square* of that.",
            _power(3, -3),
            recognise=_grows(lambda skew, error: abs(skew + error) < ALIKE < abs(skew - 2) and skew > ALIKE),
        ),
        Misconception(
            "the error is not squared",
            "You divide by the error. It falls with the root of the steps, so half the error takes four times as many steps, not twice as many.",
            _power(2, -1, factor=3),
            recognise=_grows_as(2, -1),
        ),
        Misconception(
            "the skewness is not squared",
            "Your steps grow like skew(X). The rule wants skew(X)^2: what counts is skew(X) over the *root* of the steps.",
            _power(1, -2, factor=1),
            recognise=_grows_as_skewness(1, -2),
        ),
        Misconception(
            "the error is left out",
            "You return the same steps whatever the error is. The more steps there are, the smaller it gets: solve error = factor * skew(X) / "
            "sqrt(T) for T.",
            _power(2, 0, factor=30),
            recognise=_grows(lambda skew, error: abs(error) < ALIKE and skew > ALIKE),
        ),
        Misconception(
            "another power of the error",
            "Your steps grow with skew(X) as they should, and with the error they do not: you take another power of it. It falls with the root "
            "of the steps, so half the error takes four times as many steps.",
            _power(2, -3),
            recognise=_grows(lambda skew, error: abs(skew - 2) < ALIKE < abs(error + 2) and error < -ALIKE),
        ),
        Misconception(
            "the error upside down",
            "You return more steps for a larger error. It is the other way round: the fewer steps, the more the limit is off.",
            _power(2, 2, factor=3000),
            recognise=_grows(lambda skew, error: error > ALIKE),
        ),
        Misconception(
            "the noise is left out",
            "You return the same steps whatever the noise is. The less noise there is, the more lopsided a step is, and the more steps the limit "
            "needs: put in skew(X). Or are all your steps below 1, and rounded up? `error` is a share: 0.1 is 10 %.",
            _power(0, -2, factor=5),
            recognise=_grows(lambda skew, error: abs(skew) < ALIKE),
        ),
        Misconception(
            "more noise, more steps",
            "You return more steps where there is more noise. But noise hides how lopsided X is. Compare your skew(X) with the first "
            "table of the rule: it is 6.18 at sigma = 1, and less at 2. (u is e^(1/sigma^2).)",
            _power(-2, -2, factor=20),
            recognise=_grows(lambda skew, error: skew < -ALIKE),
        ),
        Misconception(
            "skewness for much noise",
            "Your steps grow like 1 / sigma², as if skew(X) were 3 / sigma. That holds for much noise only: the first table of the rule has 6.18 at sigma = 1.",
            lambda noise_multiplier, error: FACTOR * (3 / noise_multiplier / error) ** 2,
            recognise=lambda cases, values: (
                _grows_as(-2, -2, of=float)(cases, values) and _nearest(cases, values, float)[1] < POWER_OF_NOISE
            ),
        ),
        Misconception(
            "the square in u is forgotten",
            "You took e^(1/sigma) for u, so far as the steps tell. In skew(X), u is e^(1/sigma^2): `math.exp(1 / noise_multiplier**2)`.",
            lambda noise_multiplier, error: FACTOR * (_root_in_the_exponent(noise_multiplier) / error) ** 2,
            recognise=_grows_as(2, -2, of=_root_in_the_exponent),
        ),
        Misconception(
            "another skewness",
            "Your steps depend on the error as they should, and on the noise they do not. Compare your skew(X) with the first table of the "
            "rule: it is 6.18 at sigma = 1, 1.75 at 2. Then square it.",
            _power(4, -2, factor=0.1),
            recognise=_grows(lambda skew, error: abs(error + 2) < ALIKE),
        ),
    ),
)
