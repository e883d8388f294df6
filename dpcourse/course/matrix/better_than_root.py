"""A strategy that the learner optimises."""

import functools

import numpy as np
from scipy.optimize import minimize

from dpcourse import matrix
from dpcourse.base.languages import say, sentences, to_say
from dpcourse.checking import Domain, Misconception, OpenExercise, Whole
from dpcourse.course.matrix.shared import as_many_as_steps, decoder_of, error_of, root

LEAST, MOST = 12, 24  # steps
WITHIN = 1.01  # times the least error that is known
INVERSE = to_say("You return the coefficients of the noise, of C⁻¹. Asked for are those of C.")


def _draw(rng):
    """Few steps and the most, in any order: a search for 24 alone fails with 12."""
    return [{"steps": int(steps)} for steps in rng.permutation([rng.integers(LEAST, 14), MOST])]


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
    given = _error(value)
    line = say(
        "with {steps} steps its error is {given:.4f}; the least that is known is {least:.4f}, and no strategy at all has less than {bound:.4f}.",
        steps=steps,
        given=given,
        least=least(steps),
        bound=matrix.error_at_least(steps),
    )
    if given <= WITHIN * least(steps):
        return True, line
    return False, sentences([line, _shows(np.asarray(value, dtype=float), given)])


def _error(coefficients):
    """The error of any coefficients; infinite where it is too large for a double."""
    with np.errstate(all="ignore"):
        return float(np.nan_to_num(error_of(coefficients), nan=np.inf))


def _is_near(coefficients):
    """Whether these have nearly the least error for as many steps as they are."""
    return coefficients[0] != 0 and _error(coefficients) <= WITHIN * least(len(coefficients))


def _shows(c, given):
    """What the coefficients of a strategy with this error show of the search that found them."""
    steps, count = len(c), int(np.flatnonzero(c)[-1]) + 1
    if count < steps:
        if count > 1 and _is_near(c[:count]):
            return say(
                "Your coefficients are right for {count} steps, and all others are 0. Search for as many as `steps`.",
                count=count,
            )
        return say("All your coefficients from c_{count} on are 0. Let the search change these too.", count=count)
    if np.allclose(c[1:], c[1] / c[0] * c[:-1], rtol=1e-6):
        return say(
            "Each of your coefficients is {ratio:.3g} times the one before. The best ones fall fast and then more and more slowly: let the search change each by itself.",
            ratio=c[1] / c[0],
        )
    apart = {longer: np.abs(c / c[0] - _best(longer)[:steps]).max() for longer in range(steps + 1, MOST + 1)}
    if apart and min(apart.values()) < 0.01:
        return say(
            "These are the first of the best coefficients for {longer} steps. A stream that ends earlier has others: search with the `steps` that is given.",
            longer=min(apart, key=apart.get),
        )
    if _is_near(c[::-1]):
        return say("From the last to the first they would be right: c_0 comes first.")
    with np.errstate(all="ignore"):
        inverse = np.diff(decoder_of(c), prepend=0.0)
    if np.isfinite(inverse).all() and _is_near(inverse):
        return say(INVERSE)
    with_root = error_of(root(steps))
    if given < with_root:
        return say(
            "That is a little less than with the square root, {with_root:.4f}: the search stopped before its end, or does not change each coefficient.",
            with_root=with_root,
        )
    return say(
        "The square root has less, {with_root:.4f}: did your search come to its end, and is this error what it makes small?",
        with_root=with_root,
    )


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
    minutes=15,
    points=3,
    domain=Domain({"steps": Whole(LEAST, MOST)}, most=0),
    draw=_draw,
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
            "(A search for the least noise of the *last* sum alone ends with them too. One that begins with them and makes *minus* the error small may not move.)",
            root,
        ),
        _known(
            "fresh noise",
            "This is C = 1, fresh noise in every step: nothing is remembered. (A search that leaves out the decoder ends with it too.)",
            lambda steps: np.r_[1.0, np.zeros(steps - 1)],
        ),
        _known(
            "whole sums",
            "These are the coefficients of C = A, noise on each whole sum. (A search that leaves out the sensitivity ends with them too.)",
            lambda steps: np.ones(steps),
        ),
        _known(
            "the inverse",
            INVERSE,
            lambda steps: np.r_[1.0, -root(steps)[: steps - 1] / (2 * np.arange(1, steps))],
        ),
        _known(
            "halved each time",
            "Your coefficients are halved each time. What was added is then taken back too soon; begin your search with those of the root.",
            lambda steps: 0.5 ** np.arange(steps),
        ),
    ),
)
