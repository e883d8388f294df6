"""A strategy that the learner optimises."""

import functools

import numpy as np
from scipy.optimize import minimize

from dpcourse import matrix
from dpcourse.base.languages import say
from dpcourse.checking import Domain, Misconception, OneOf, OpenExercise
from dpcourse.course.matrix.shared import as_many_as_steps, error_of, root

STEPS = (12, 16, 24)
WITHIN = 1.01  # times the least error that is known


@functools.cache
def _best(steps):
    """Coefficients of least error, as far as a search finds them."""

    def squared(rest):
        c = np.r_[1.0, rest]
        return np.log(error_of(c))

    return np.r_[1.0, minimize(squared, root(steps)[1:], method="L-BFGS-B").x]


@functools.cache
def least(steps):
    """The least error of the strategies that treat all steps alike, as far as a search finds it."""
    return error_of(_best(steps))


def _coefficients(value, case):
    complaint = as_many_as_steps(value, case)
    if complaint is None and value[0] == 0:
        return say("The first coefficient must not be 0: C could not be undone.")
    return complaint


def _near(value, case):
    """The error is within a hundredth of the least."""
    steps = case["steps"]
    with np.errstate(all="ignore"):
        given = error_of(value)
    line = say(
        "with {steps} steps its error is {given:.4f}; the least that is known is {least:.4f}, and no strategy at all has less than {bound:.4f}",
        steps=steps,
        given=given,
        least=least(steps),
        bound=matrix.error_at_least(steps),
    )
    return bool(given <= WITHIN * least(steps)), line


def _alike(code):
    """recognise: the coefficients are these, up to a factor."""

    def recognise(cases, values):
        return all(
            np.allclose(np.divide(value, value[0]), np.divide(code(**case), code(**case)[0]), rtol=1e-3, atol=1e-3)
            for case, value in zip(cases, values, strict=True)
        )

    return recognise


def _known(name, message, code):
    return Misconception(name, message, code, recognise=_alike(code))


exercise = OpenExercise(
    title="Better than the root",
    good_for="finding a strategy by a search, where no formula is known",
    difficulty=3,
    minutes=25,
    points=3,
    domain=Domain({"steps": OneOf(STEPS)}, most=0),
    draw=lambda rng: [{"steps": int(steps)} for steps in rng.permutation(STEPS)[:2]],
    reference=_best,
    returns=_coefficients,
    law=_near,
    forbidden=(matrix.banded, matrix.blt, matrix.optimal),
    seconds=30.0,
    hints=(
        "What is to be made small is one number, `error` of the coefficients that you try. Let the first one be 1: a factor in front of all "
        "coefficients does not change the error. Where could a search begin?",
        "`minimize(lambda rest: matrix.error(matrix.Filter(steps, np.r_[1, rest])), start)`, with the coefficients of the root as `start`, without the "
        "first. `.x` of what comes back holds the rest of the best coefficients.",
    ),
    misconceptions=(
        _known(
            "the root",
            "These are the coefficients of the square root. They are good, and for a stream that ends not the best: a search that begins with them finds better ones. "
            "(A search for the least noise of the *last* sum alone ends with them too.)",
            root,
        ),
        _known(
            "fresh noise",
            "This is C = 1, fresh noise in every step: nothing is remembered.",
            lambda steps: np.r_[1.0, np.zeros(steps - 1)],
        ),
        _known(
            "whole sums",
            "These are the coefficients of C = A, noise on each whole sum. (A search that leaves out the sensitivity ends with them too.)",
            lambda steps: np.ones(steps),
        ),
        _known(
            "the inverse",
            "You return the coefficients of the noise, of C⁻¹. Asked for are those of C.",
            lambda steps: np.r_[1.0, -root(steps)[: steps - 1] / (2 * np.arange(1, steps))],
        ),
        _known(
            "halved each time",
            "Your coefficients are halved each time. What was added is then taken back too soon; begin your search with those of the root.",
            lambda steps: 0.5 ** np.arange(steps),
        ),
    ),
)
