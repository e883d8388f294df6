"""The sensitivity where somebody comes several times."""

import itertools
import math

import numpy as np

from dpcourse import matrix
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, Whole, a_number, any_of

STRATEGY = to_say("{name}: an array of shape (n, n), n from 1 to 7, lower triangular, no number below 0")


def _any_strategy(rng):
    size = int(rng.integers(1, 8))
    return np.tril(rng.uniform(0, 1.5, size=(size, size))).round(2)


def _draw(rng):
    return [
        *(
            {"strategy": _drawn(rng, steps), "participations": participations, "separation": 2}
            for steps, participations in ((6, 2), (7, 3))
        ),
        {"strategy": _sized(rng, WITHOUT_ROOM), "participations": 4, "separation": 3},
        {"strategy": _sized(rng, TEMPTING), "participations": 2, "separation": 2},
        {"strategy": _sized(rng, TOO_NEAR), "participations": 3, "separation": 2},
    ]


WITHOUT_ROOM = (
    0.3,
    0.4,
    1.8,
    0.5,
    0.4,
)  # the third column alone moves C x farther than the two visits for which there is room
TEMPTING = (
    0.2,
    1.4,
    1.8,
    1.8,
    0.3,
    0.2,
)  # the longest column leaves no room for the two that move C x farthest together

TOO_NEAR = (1.2, 0.2, 1.5, 1.8, 0.3, 0.2)  # the third column and the fourth would move C x farthest, after the first


def _sized(rng, sizes):
    """One whose columns have entries of about these sizes."""
    return np.tril(sizes * rng.uniform(0.7, 1.0, size=(len(sizes), len(sizes)))).round(2)


def _drawn(rng, steps):
    """One whose heaviest pattern does not begin in the first step."""
    strategy = np.tril(rng.uniform(0.1, 1.0, size=(steps, steps)))
    strategy[:, 1::2] *= 1.6
    return np.tril(strategy).round(2)


def _patterns(steps, participations, separation, fits=lambda gap, separation: gap >= separation):
    """The sets of at most so many steps, each so far after the one before."""
    for count in range(1, participations + 1):
        for chosen in itertools.combinations(range(steps), count):
            if all(fits(later - earlier, separation) for earlier, later in itertools.pairwise(chosen)):
                yield list(chosen)


def _largest(patterns, size=np.linalg.norm):
    """The largest size of the sum of the columns of a pattern."""

    def rule(strategy, participations, separation):
        sums = (strategy[:, chosen].sum(axis=1) for chosen in patterns(len(strategy), participations, separation))
        return float(max(map(size, sums)))

    return rule


def _apart(strategy, participations, separation):
    """As if columns that far apart had no row in common."""
    squares = (strategy**2).sum(axis=0)
    chosen = _patterns(len(squares), participations, separation)
    return math.sqrt(max(squares[steps].sum() for steps in chosen))


def _exactly(strategy, participations, separation):
    """Of patterns with so many steps, and no fewer."""
    chosen = [steps for steps in _patterns(len(strategy), participations, separation) if len(steps) == participations]
    return float(max((np.linalg.norm(strategy[:, steps].sum(axis=1)) for steps in chosen), default=0.0))


def _room(strategy, participations, separation):
    return min(participations, -(-len(strategy) // separation))


def _root_times_longest(strategy, participations, separation):
    return math.sqrt(participations) * _longest(strategy)


def _root_of_room_times_longest(strategy, participations, separation):
    return math.sqrt(_room(strategy, participations, separation)) * _longest(strategy)


def _after_the_first_gap(steps, participations, separation):
    """The patterns of which the first two visits alone are far enough apart."""
    for count in range(1, participations + 1):
        for chosen in itertools.combinations(range(steps), count):
            if count == 1 or chosen[1] - chosen[0] >= separation:
                yield list(chosen)


def _as_many_as_fit(strategy, participations, separation):
    """Of patterns with as many steps as there is room for, and no fewer."""
    return _exactly(strategy, _room(strategy, participations, separation), separation)


def _one_by_one(strategy, participations, separation):
    """Always the column that adds most to those before, as far as it is allowed."""
    chosen = []
    for _ in range(participations):
        free = [j for j in range(len(strategy)) if all(abs(j - i) >= separation for i in chosen)]
        if free:
            chosen.append(max(free, key=lambda j: np.linalg.norm(strategy[:, [*chosen, j]].sum(axis=1))))
    return float(np.linalg.norm(strategy[:, chosen].sum(axis=1)))


def _longest_first(strategy, participations, separation):
    """Always the longest column that is allowed."""
    chosen = []
    for j in sorted(range(len(strategy)), key=lambda j: -np.linalg.norm(strategy[:, j])):
        if len(chosen) < participations and all(abs(j - i) >= separation for i in chosen):
            chosen.append(j)
    return float(np.linalg.norm(strategy[:, chosen].sum(axis=1)))


def _lengths_added(strategy, participations, separation):
    lengths = np.linalg.norm(strategy, axis=0)
    return float(max(lengths[steps].sum() for steps in _patterns(len(strategy), participations, separation)))


def _longest(strategy):
    return float(np.linalg.norm(strategy, axis=0).max())


exercise = Exercise(
    title="Mia comes again",
    good_for="paying for several epochs, whatever the strategy",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain(
        {
            "strategy": Made(_any_strategy, STRATEGY),
            "participations": Whole(1, 4),
            "separation": Whole(1, 5),
        }
    ),
    draw=_draw,
    reference=_largest(_patterns),
    means={
        "strategy[:, chosen].sum(axis=1)": "the columns of each pattern of Mia's steps, added",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(matrix.sensitivity, matrix.errors, matrix.error),
    hints=(
        "Try all patterns. `itertools.combinations(range(n), k)` gives all sets of k steps, in order; keep those in which each step is at least "
        "`separation` after the one before. How far does Mia move C x if she comes in these steps?",
        "She moves it by the sum of these columns: `np.linalg.norm(strategy[:, list(steps)].sum(axis=1))`. Take the largest over all patterns of 1, 2, …, "
        "`participations` steps: with few steps there may be no room for all of them.",
    ),
    misconceptions=(
        Misconception(
            "root of the number",
            "You multiplied the longest column by the root of the number of visits. That holds where the columns of her visits have no row in "
            "common. Here they overlap, and what she changes adds up.",
            _root_times_longest,
            recognise=any_of(_root_times_longest, _root_of_room_times_longest),
        ),
        Misconception(
            "number times the longest",
            "You multiplied the longest column by the number of visits. That bounds it from above, and is more than she can do: the columns of "
            "different steps do not point the same way.",
            lambda strategy, participations, separation: participations * _longest(strategy),
        ),
        Misconception(
            "squares of the columns",
            "You added the squares of the columns' lengths, as if they had no row in common. Add the columns first, and then take the length.",
            _apart,
        ),
        Misconception(
            "lengths added",
            "You added the lengths of the columns. They point in different directions: add the columns first, and then take the length.",
            _lengths_added,
        ),
        Misconception(
            "exactly so many",
            "You try only patterns with exactly `participations` visits. Where there is no room for so many she comes fewer times, and moves C x all the same.",
            _exactly,
        ),
        Misconception(
            "as many as fit",
            "You try only patterns with as many visits as there is room for. With fewer she is freer in her choice of steps, and may move C x farther.",
            _as_many_as_fit,
        ),
        Misconception(
            "one by one",
            "You take the column that moves C x farthest, then of those that are left the one that adds most, or the longest, and so on. The first choice may stand in the way of two others "
            "that together move it farther: try all patterns.",
            _one_by_one,
            recognise=any_of(_one_by_one, _longest_first),
        ),
        Misconception(
            "one visit",
            "That is the longest column: what she does who comes once.",
            lambda strategy, participations, separation: _longest(strategy),
        ),
        Misconception(
            "separation forgotten",
            "You let her come in neighbouring steps. A visit comes at least `separation` steps after the one before.",
            _largest(lambda steps, participations, separation: _patterns(steps, participations, 1)),
        ),
        Misconception(
            "the first gap only",
            "You ask only of the first two visits whether they are far enough apart. With three visits or more, each must come at least `separation` steps after the one before.",
            _largest(_after_the_first_gap),
        ),
        Misconception(
            "one step more",
            "You ask for one step more between two visits than is needed: a visit exactly `separation` steps after the one before is allowed.",
            _largest(lambda steps, participations, separation: _patterns(steps, participations, separation + 1)),
        ),
        Misconception(
            "from the first step",
            "You let her come first in step 1 and then as soon as she may. For coefficients that fall, the same for all steps, that is the worst. For any "
            "matrix another pattern may be.",
            _largest(lambda steps, participations, separation: [list(range(0, steps, separation))[:participations]]),
        ),
        Misconception(
            "only such patterns",
            "You try only patterns in which she comes every `separation` steps. She may wait longer, if that moves C x farther.",
            _largest(
                lambda steps, participations, separation: [
                    list(range(first, steps, separation))[:participations] for first in range(steps)
                ]
            ),
        ),
        Misconception(
            "rows",
            "You added rows of C. If she comes in step j, she moves C x by *column* j.",
            lambda strategy, participations, separation: _largest(_patterns)(strategy.T, participations, separation),
        ),
        Misconception(
            "sum of absolute values",
            "You added up how far she moves the entries. For Gaussian noise it is a length: the root of the sum of their squares.",
            _largest(_patterns, np.sum),
        ),
    ),
)
