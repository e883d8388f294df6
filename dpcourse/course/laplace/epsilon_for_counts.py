"""The budget for many counts."""

import math

from dpcourse.engine import Exercise, Misconception, a_number, rounded


def _draw_counts(rng):
    return [
        {"m": int(rng.integers(12, 40)), "at_most": int(at_most), "error": rounded(rng.uniform(3, 20))}
        for at_most in (rng.integers(3, 5), rng.integers(5, 8))
    ]


exercise = Exercise(
    title="The budget for many counts",
    good_for="saying what a table of counts costs before you promise it",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_counts,
    reference=lambda m, at_most, error: at_most / error,
    returns=a_number,
    hints=(
        "How far can one woman move all m counts together, in the l1 norm? She is in at most `at_most` of them.",
        "The expected size of Lap(b) is b. Set b = at_most / epsilon equal to error, and solve for epsilon.",
    ),
    misconceptions=(
        Misconception(
            "all counts",
            "You took m as the sensitivity. That is the worst case if nothing else is known. Here one woman is in at most `at_most` counts.",
            lambda m, at_most, error: m / error,
        ),
        Misconception(
            "one count",
            "You took 1 as the sensitivity. One woman may be in several counts, and each of them changes by 1.",
            lambda m, at_most, error: 1 / error,
        ),
        Misconception(
            "turned over",
            "You divided the error by the sensitivity. b = at_most / epsilon gives epsilon = at_most / error.",
            lambda m, at_most, error: error / at_most,
        ),
        Misconception(
            "l2",
            "You took the root of `at_most`, the l2 norm. Laplace noise is scaled to the l1 norm, which adds the changes.",
            lambda m, at_most, error: math.sqrt(at_most) / error,
        ),
        Misconception(
            "standard deviation",
            "You set the standard deviation, b times the root of 2, equal to `error`. The question is for the expected absolute error, which is b.",
            lambda m, at_most, error: math.sqrt(2) * at_most / error,
        ),
        Misconception(
            "variance",
            "You set the variance, 2 b^2, equal to `error`. The question is for the expected absolute error, which is b.",
            lambda m, at_most, error: at_most * math.sqrt(2 / error),
        ),
        Misconception(
            "m on top",
            "You multiplied by m as well. The m counts are in the l1 norm already: a woman who is not in a count does not change it.",
            lambda m, at_most, error: m * at_most / error,
        ),
        Misconception(
            "error summed",
            "You spread `error` over the m counts. It is asked for each count, not for their sum.",
            lambda m, at_most, error: at_most / (m * error),
        ),
        Misconception(
            "replaced",
            "You counted every change twice, as if a woman were replaced by another. Here one is added or removed.",
            lambda m, at_most, error: 2 * at_most / error,
        ),
    ),
)
