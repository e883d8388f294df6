"""By how much one row moves a sum of floats."""

import itertools

import numpy as np

from dpcourse import machine
from dpcourse.checking import Domain, Exercise, Misconception, Several, Whole, a_number, any_of


def _sum(values):
    """Added up from left to right in float16."""
    total = np.float16(0)
    for value in values:
        total = np.float16(total + np.float16(value))
    return float(total)


def _changes(values, total=_sum):
    """By how much the total falls when each row leaves."""
    values = list(values)
    whole = total(values)
    return [whole - total(values[:row] + values[row + 1 :]) for row in range(len(values))]


def _replaced(*by):
    """By how much the sum moves at most when a row becomes one of these numbers."""
    return lambda values: max(
        abs(_sum(values) - _sum([*values[:row], new, *values[row + 1 :]])) for row in range(len(values)) for new in by
    )


def _largest_step(values):
    """The most that one addition adds."""
    running = [_sum(values[:count]) for count in range(len(values) + 1)]
    return max(after - before for before, after in itertools.pairwise(running))


def _with_numpy(values):
    def total(rows):
        result = np.float16(0)
        for value in rows:
            result = np.float16(result + value)
        return float(result)

    return max(abs(total(values) - total(values[:i] + values[i + 1 :])) for i in range(len(values)))


def _draw(rng):
    """Lists whose sum passes 2,048 or not: there whole numbers begin to be rounded; in the last the first change above the largest row is not the largest."""
    sizes = (1, 2, 3, *rng.integers(5, 12, 3), *rng.integers(15, 41, 5))
    return [{"values": rng.integers(0, 1001, size=int(size)).tolist()} for size in sizes] + [
        {"values": _exceeded_twice(rng)},
        {"values": _repeated(rng)},
    ]


def _repeated(rng):
    """Rows of three kinds; it is not the first of a kind that moves the sum farthest."""
    while True:
        values = rng.choice(rng.integers(300, 1001, size=3), size=int(rng.integers(30, 41))).tolist()
        if max(map(abs, _changes(values))) > _first_of_equal(values):
            return values


def _first_of_equal(values):
    changes = _changes(values)
    return max(abs(changes[values.index(value)]) for value in values)


def _exceeded_twice(rng):
    while True:
        values = rng.integers(600, 1001, size=int(rng.integers(30, 41))).tolist()
        above = [change for change in _changes(values) if change > max(values)]
        if above and above[0] < max(above):
            return values


exercise = Exercise(
    title="What one row does to a sum of floats",
    good_for="finding a sensitivity that a library has claimed and does not keep",
    difficulty=2,
    minutes=9,
    points=2,
    domain=Domain({"values": Several(Whole(0, 1000), 1, 40)}),
    draw=_draw,
    reference=lambda values: max(map(abs, _changes(values))),
    formulas=(_with_numpy,),
    means={
        "total(values)": "the sum of all rows, rounded after each",
        "total(values[:row] + values[row + 1:])": "the sum without each row in turn, rounded after each",
    },
    returns=a_number,
    forbidden=(machine.running_sum,),
    hints=(
        "Write the sum first, as a loop that begins at `np.float16(0)`. Each turn rounds: `total = np.float16(total + value)`.",
        "Then take each row away in turn, `values[:i] + values[i + 1:]`, add up what is left from the beginning, and keep the largest change.",
    ),
    misconceptions=(
        Misconception(
            "real numbers",
            "You return what the largest row is in real numbers. The machine rounds after each addition, and then a row may move the sum by more than it holds: "
            "add up in float16, with the row and without it.",
            lambda values: float(max(values)),
        ),
        Misconception(
            "rounded at the end",
            "You rounded once, at the end: whoever adds whole numbers or doubles and makes a float16 of the result does so, and so does `np.sum`. The machine of the task "
            "rounds after *each* addition: write the loop.",
            lambda values: max(map(abs, _changes(values, lambda rows: float(np.float16(sum(rows)))))),
        ),
        Misconception(
            "first row only",
            "You took away the first row only: does a `return` stand in the loop? Try every row, and keep the largest change.",
            lambda values: abs(_changes(values)[0]),
        ),
        Misconception(
            "last row only",
            "You took away the last row only. Any row may leave: try each, and keep the largest change.",
            lambda values: abs(_changes(values)[-1]),
        ),
        Misconception(
            "the largest row only",
            "You took away the largest row only, or of equal rows the first one only, as `remove` does. In floats a smaller one, or one that stands further back, may move the sum further: "
            "let every row leave, from its own place, `values[:i] + values[i + 1:]`.",
            lambda values: abs(_changes(values)[int(np.argmax(values))]),
            recognise=any_of(lambda values: abs(_changes(values)[int(np.argmax(values))]), _first_of_equal),
        ),
        Misconception(
            "smallest change",
            "You kept the smallest change. Noise has to cover the largest.",
            lambda values: min(map(abs, _changes(values))),
        ),
        Misconception(
            "mean change",
            "You took the mean of the changes. Noise has to cover the largest.",
            lambda values: float(np.mean(np.abs(_changes(values)))),
        ),
        Misconception(
            "excess over the row",
            "You return by how much the change is above the row that left. Asked for is the change itself.",
            lambda values: max(change - value for change, value in zip(_changes(values), values, strict=True)),
        ),
        Misconception(
            "from right to left",
            "You added the rows up in another order. In floats the order matters: from left to right, as they come.",
            lambda values: max(map(abs, _changes(values, lambda rows: _sum(rows[::-1])))),
        ),
        Misconception(
            "sorted",
            "You sorted the rows before adding. In floats the order matters: from left to right, as they come.",
            lambda values: max(map(abs, _changes(values, lambda rows: _sum(sorted(rows))))),
        ),
        Misconception(
            "without less with",
            "You took the sum with the row off the sum without it, and then the largest. Such a change lies below 0: take its size first, `abs`, and then the largest.",
            lambda values: max(-change for change in _changes(values)),
        ),
        Misconception(
            "the order changed",
            "With a row you also change the order of the others: what stood before it comes after the rest. In floats the order matters: `values[:i] + values[i + 1:]`.",
            lambda values: max(
                abs(_sum(values[i:] + values[:i]) - _sum(values[i + 1 :] + values[:i])) for i in range(len(values))
            ),
            recognise=any_of(
                lambda values: max(abs(_sum(values) - _sum(values[i + 1 :] + values[:i])) for i in range(len(values)))
            ),
        ),
        Misconception(
            "another number in its place",
            "You put another number in the place of a row. Here a row leaves, and nothing comes in its place: `values[:i] + values[i + 1:]`.",
            _replaced(0, 1000),
            recognise=any_of(_replaced(0, 1000), _replaced(1000)),
        ),
        Misconception(
            "one addition",
            "You return the most that a single addition adds. When a row leaves, all later additions may be rounded in another way: add up the others anew, from the left.",
            _largest_step,
        ),
        Misconception(
            "the sum itself",
            "You return the sum. Asked for is by how much it changes when one row leaves.",
            lambda values: _sum(values),
        ),
    ),
)
