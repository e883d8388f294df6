"""The error of a strategy."""

import math

import numpy as np

from dpcourse import matrix
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number

STRATEGY = to_say(
    "{name}: a lower-triangular array of shape (n, n), n from 1 to 7, with numbers from 0.5 to 2 on its diagonal and from -1 to 2 below it"
)


def _any_strategy(rng):
    size = int(rng.integers(1, 8))
    strategy = np.tril(rng.uniform(-0.6, 0.9, size=(size, size)), -1) + np.diag(rng.uniform(0.5, 2, size=size))
    return strategy.round(2)


def _draw(rng):
    return [{"strategy": _drawn(rng, size)} for size in (4, 5)]


def _drawn(rng, size):
    """One whose longest column is neither its first nor as long as its longest row."""
    strategy = np.tril(rng.uniform(-0.5, 0.9, size=(size, size)), -1) + np.diag(rng.uniform(0.6, 1.1, size=size))
    strategy[1:, 1] += 0.7
    return strategy.round(2)


def _by(size, decoder, of_rows):
    """An error: how far Mia moves C x, the decoder, and what is made of the lengths of its rows."""

    def rule(strategy):
        rows = np.linalg.norm(decoder(strategy), axis=1)
        return float(size(strategy) * of_rows(rows))

    return rule


def _longest(strategy):
    return np.linalg.norm(strategy, axis=0).max()


def _decoder(strategy):
    return np.tri(len(strategy)) @ np.linalg.inv(strategy)


def _rms(rows):
    return math.sqrt(np.mean(rows**2))


def _written(strategy):
    sensitivity = np.sqrt((strategy**2).sum(axis=0)).max()
    decoder = np.tri(len(strategy)) @ np.linalg.inv(strategy)
    return sensitivity * np.sqrt(np.mean(np.sum(decoder**2, axis=1)))


exercise = Exercise(
    title="The error of a strategy",
    good_for="comparing any two ways to release running sums",
    difficulty=2,
    minutes=10,
    points=3,
    domain=Domain({"strategy": Made(_any_strategy, STRATEGY)}),
    draw=_draw,
    reference=_by(_longest, _decoder, _rms),
    formulas=(_written,),
    means={
        "np.sqrt((strategy ** 2).sum(axis=0)).max()": "the sensitivity, the length of the longest column",
        "np.tri(len(strategy)) @ np.linalg.inv(strategy)": "the decoder B",
        "np.sqrt(np.mean(np.sum(decoder ** 2, axis=1)))": "the root mean square of the lengths of B's rows",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(matrix.error, matrix.errors, matrix.sensitivity),
    hints=(
        "Two factors. How far does Mia move C x, if she comes in step j? Take the worst j. And how large is the noise of a running sum, "
        "if each entry of z has deviation 1?",
        "The sensitivity is the length of the longest *column* of C. The decoder is B = A C⁻¹, `np.tri(n) @ np.linalg.inv(strategy)`, and the noise "
        "of sum t has the length of B's *row* t. Square, take the mean over the rows, take the root, and multiply by the sensitivity.",
    ),
    misconceptions=(
        Misconception(
            "rows of C",
            "You took the longest row of C. If Mia comes in step j, she changes x_j, and C x moves by column j: the columns count.",
            _by(lambda strategy: np.linalg.norm(strategy, axis=1).max(), _decoder, _rms),
        ),
        Misconception(
            "first column",
            "You took the first column of C. Here another one may be longer, and the noise must hide Mia whenever she comes.",
            _by(lambda strategy: np.linalg.norm(strategy[:, 0]), _decoder, _rms),
        ),
        Misconception(
            "all columns",
            "You took the length of the whole matrix C, as if Mia came in every step. She comes once: one column counts, the longest.",
            _by(np.linalg.norm, _decoder, _rms),
        ),
        Misconception(
            "largest stretch",
            "You took the most by which C can stretch a vector, its spectral norm: it lets Mia come a little in every step. She comes once: the longest column counts.",
            _by(lambda strategy: np.linalg.norm(strategy, 2), _decoder, _rms),
        ),
        Misconception(
            "sums of absolute values",
            "You added up the numbers of a column, or their absolute values. For Gaussian noise the sensitivity is a length: the root of the sum of squares.",
            _by(lambda strategy: np.abs(strategy).sum(axis=0).max(), _decoder, _rms),
        ),
        Misconception(
            "no sensitivity",
            "You left out how far Mia moves C x. Without that factor every strategy could be made good: double C, and B is halved.",
            _by(lambda strategy: 1.0, _decoder, _rms),
        ),
        Misconception(
            "C in the place of its inverse",
            "Your decoder is A C. From C x you get back to A x by B = A C⁻¹: first undo C, then add up.",
            _by(_longest, lambda strategy: np.tri(len(strategy)) @ strategy, _rms),
        ),
        Misconception(
            "inverse before A",
            "You multiplied the inverse from the left, C⁻¹ A. The strategy is undone first, and what is done first stands on the right: A C⁻¹.",
            _by(_longest, lambda strategy: np.linalg.inv(strategy) @ np.tri(len(strategy)), _rms),
        ),
        Misconception(
            "transposed",
            "Your decoder is A (Cᵀ)⁻¹, or that transposed. With `solve` the decoder A C⁻¹ is `np.linalg.solve(C.T, A.T).T`: both are transposed. With `np.cumsum` it is the sum "
            "down the columns of C⁻¹, `axis=0`.",
            _by(_longest, lambda strategy: np.tri(len(strategy)) @ np.linalg.inv(strategy.T), _rms),
        ),
        Misconception(
            "an average column",
            "You took the root mean square of the columns' lengths. The noise must hide Mia whenever she comes: the longest column counts.",
            _by(lambda strategy: np.linalg.norm(strategy) / math.sqrt(len(strategy)), _decoder, _rms),
        ),
        Misconception(
            "B and C exchanged",
            "You took the columns of B and the rows of C. Mia moves C x by a *column of C*, and the noise of a running sum is as long as a *row of B*.",
            _by(lambda strategy: np.linalg.norm(_decoder(strategy), axis=0).max(), lambda strategy: strategy, _rms),
        ),
        Misconception(
            "a column for each sum",
            "You multiplied row t of B by the length of column t of C. The noise z has *one* deviation, by which Mia is hidden whenever she comes: the longest column "
            "counts for every sum.",
            lambda strategy: _rms(np.linalg.norm(strategy, axis=0) * np.linalg.norm(_decoder(strategy), axis=1)),
        ),
        Misconception(
            "A forgotten",
            "Your decoder is C⁻¹ alone. That gives the noise of single steps; the running sums add it up: A C⁻¹. (Matrices are multiplied by `@`: `*` "
            "multiplies entry by entry, and then nothing is added up.)",
            _by(_longest, np.linalg.inv, _rms),
        ),
        Misconception(
            "mean of the deviations",
            "You took the mean of the deviations of the sums. The error here is a root mean square: the mean of their squares, and then the root.",
            _by(_longest, _decoder, np.mean),
        ),
        Misconception(
            "the worst sum",
            "You give the deviation of the worst running sum. The error here is a root mean square over all of them.",
            _by(_longest, _decoder, np.max),
        ),
        Misconception(
            "sum of the squares",
            "You forgot to divide by the number of sums: the *mean* of the squares stands under the root.",
            _by(_longest, _decoder, lambda rows: math.sqrt(np.sum(rows**2))),
        ),
        Misconception(
            "the root forgotten",
            "Your result is the mean square of the noise. The error is its root.",
            lambda strategy: float(_longest(strategy) ** 2 * np.mean(np.linalg.norm(_decoder(strategy), axis=1) ** 2)),
        ),
    ),
)
