"""The values of a function on many cases, as vectors of numbers that can be compared and fitted."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse.base.languages import Said, say, to_say


@dataclass(frozen=True)
class Part:
    """One of the numbers that an answer returns (or the only one, or the entries of an array), on all cases.

    name: as it is told, in backticks. given, right: for each case an array of one dimension, both of one length.
    are_truths: whether the right ones are True and False, and not 1 and 0.
    """

    name: str
    given: tuple[np.ndarray, ...]
    right: tuple[np.ndarray, ...]
    rtol: float
    atol: float
    are_truths: bool = True

    @cached_property
    def yours(self) -> np.ndarray:
        """All that was given, one case after the other."""
        return np.concatenate(self.given)

    @cached_property
    def wanted(self) -> np.ndarray:
        """All that is right, one case after the other."""
        return np.concatenate(self.right)

    @cached_property
    def lengths(self) -> list[int]:
        return [len(each) for each in self.given]

    @cached_property
    def agrees(self) -> np.ndarray:
        """For each number, whether it is right."""
        return self.close(self.wanted)

    @cached_property
    def is_constant(self) -> bool:
        """Whether all that was given is one number, up to rounding."""
        return bool(np.ptp(self.yours) <= self.atol)

    def close(self, others: np.ndarray) -> np.ndarray:
        """Return for each number whether it equals the other one."""
        with np.errstate(all="ignore"):
            return np.isclose(self.yours, others, self.rtol, self.atol)

    def same(self, others: np.ndarray | None) -> bool:
        """Return whether all numbers are the others."""
        return others is not None and others.shape == self.yours.shape and bool(self.close(others).all())

    def of_cases(self, values: list) -> np.ndarray:
        """Return one value of each case, repeated for each number of the case."""
        return np.repeat(np.asarray(values, dtype=float), self.lengths)

    def apart(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Return a vector of all numbers, cut into cases."""
        return np.split(numbers, np.cumsum(self.lengths)[:-1])


def as_arrays(value: Any) -> list[np.ndarray] | None:
    """Return a value as a list of arrays, one for each number of a tuple; None for a value that is not made of numbers."""
    if isinstance(value, tuple) and value and all(np.ndim(item) <= 1 and _is_number(item) for item in value):
        return [np.atleast_1d(np.asarray(item, dtype=float)) for item in value]
    if _is_number(value) and np.ndim(value) <= 2:
        return [np.asarray(value, dtype=float).ravel()]
    return None


def _is_number(value):
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except ValueError:
        return False


def parts(values: list, right: list, rtol: float, atol: float, names: tuple[str, ...] = ()) -> list[Part]:
    """Return the Parts of what was given; none where it has not the shape of what is right, in every case."""
    ours = [arrays for value in right if (arrays := as_arrays(value)) is not None]
    if len(ours) < len(right) or len({len(each) for each in ours}) != 1:
        return []
    count = len(ours[0])
    tuples = [tuple(value) if count > 1 and isinstance(value, (list, np.ndarray)) else value for value in values]
    theirs = [arrays for value in tuples if (arrays := as_arrays(value)) is not None]
    if [[part.shape for part in each] for each in theirs] != [[part.shape for part in each] for each in ours]:
        return []
    pairs = [(tuple(each[k] for each in theirs), tuple(each[k] for each in ours)) for k in range(count)]
    truths = [_are_truths([value[k] if count > 1 else value for value in right]) for k in range(count)]
    return [
        Part(name, given, wanted, rtol, atol, of)
        for name, (given, wanted), of in zip(called(count, names), pairs, truths, strict=True)
    ]


def _are_truths(values):
    return all(np.asarray(value).dtype.kind == "b" for value in values)


def called(count: int, names: tuple[str, ...]) -> list[str]:
    """Return how each of so many numbers is told of; nothing where it is the only one."""
    if count == 1:
        return [""]
    numbered: list[str] = [say("`number {number}`", number=i) for i in range(1, count + 1)]
    return [f"`{name}`" for name in names] if len(names) == count else numbered


def part_of(outputs: list, k: int, like: Part) -> np.ndarray | None:
    """Return the k-th number of each output, as one vector; None where an output has another shape."""
    found = []
    for output, length in zip(outputs, like.lengths, strict=True):
        arrays = as_arrays(output)
        if arrays is None or k >= len(arrays) or len(arrays[k]) != length:
            return None
        found.append(arrays[k])
    return np.concatenate(found)


def features(cases: list[dict]) -> dict[str, list[float]]:
    """Return words -> values over all cases, of the features of a case; only features that every case has.

    The words are an argument's name, or are said.
    """
    found: dict[str, list[float]] = {}
    for name in cases[0]:
        if name == "rng":
            continue
        values: list[Any] = [case.get(name) for case in cases]
        if all(_is_scalar(value) for value in values):
            found[f"`{name}`"] = [float(value) for value in values]
        elif all(_is_list(value) for value in values):
            is_table = all(isinstance(value, np.ndarray) and value.ndim > 1 for value in values)
            for words, of in (_OF_ROWS if is_table else _OF_ENTRIES | _LIST_FEATURES).items():
                numbers = [of(np.asarray(value, dtype=float)) for value in values]
                found[say(words, argument=f"`{name}`")] = numbers
        elif all(isinstance(value, (list, tuple, dict)) for value in values):
            found[say(NUMBER_OF_ENTRIES, argument=f"`{name}`")] = [float(len(value)) for value in values]
    return {words: numbers for words, numbers in found.items() if all(map(math.isfinite, numbers))}


def is_number_of_entries(words: str) -> bool:
    """Return whether a feature of this name counts the entries of an argument, or its rows or columns."""
    return isinstance(words, Said) and words.message in (NUMBER_OF_ENTRIES, REPEATED, *_OF_ROWS)


def is_extreme(words: str) -> bool:
    """Return whether a feature of this name is the largest or the smallest entry of an argument."""
    return isinstance(words, Said) and words.message in EXTREMES


NUMBER_OF_ENTRIES = to_say("the number of entries of {argument}")
REPEATED = to_say("the number of entries of {argument} that are there already")
_OF_ENTRIES: dict[str, Callable] = {NUMBER_OF_ENTRIES: lambda x: float(len(x))}
_OF_ROWS: dict[str, Callable] = {
    to_say("the number of rows of {argument}"): lambda x: float(len(x)),
    to_say("the number of columns of {argument}"): lambda x: float(x.shape[1]),
}
EXTREMES = LARGEST, SMALLEST = to_say("the largest of {argument}"), to_say("the smallest of {argument}")
_LIST_FEATURES: dict[str, Callable] = {
    to_say("the sum of {argument}"): lambda x: float(x.sum()),
    LARGEST: lambda x: float(x.max()),
    to_say("the mean of {argument}"): lambda x: float(x.mean()),
    SMALLEST: lambda x: float(x.min()),
    to_say("the first of {argument}"): lambda x: float(x.flat[0]),
    to_say("the last of {argument}"): lambda x: float(x.flat[-1]),
    REPEATED: lambda x: float(x.size - np.unique(x).size),
}


def _is_scalar(value):
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _is_list(value):
    return isinstance(value, (list, tuple, np.ndarray)) and len(value) > 0 and _is_number(value)
