"""The right result, changed afterwards: which change turns the right numbers into the answer's."""

import itertools
import math
from collections.abc import Callable, Collection, Iterator

import numpy as np

from dpcourse.base.languages import Said, say, to_say
from dpcourse.checking.calling.values import show
from dpcourse.checking.diagnosis.series import Part
from dpcourse.checking.diagnosis.words import SENTENCES, Change

NAMED = {
    "2": 2.0, "1/2": 0.5, "4": 4.0, "1/4": 0.25, "3": 3.0, "1/3": 1 / 3, "10": 10.0, "1/10": 0.1, "1/100": 0.01,
    to_say("the square root of 2"): math.sqrt(2), to_say("1 over the square root of 2"): math.sqrt(0.5), to_say("pi"): math.pi,
    to_say("1/pi"): 1 / math.pi, to_say("2 pi"): 2 * math.pi, to_say("ln 2"): math.log(2), to_say("1/ln 2 (a logarithm to base 2)"): 1 / math.log(2),
    to_say("ln 10"): math.log(10), to_say("1/ln 10 (a logarithm to base 10)"): 1 / math.log(10), "e": math.e, "1/e": 1 / math.e, "3/2": 1.5, "2/3": 2 / 3, "1000": 1000.0, "1/1000": 0.001, "8": 8.0, "1/8": 0.125,
    to_say("the square root of 2 pi"): math.sqrt(2 * math.pi),
}  # fmt: skip

ENTRYWISE: dict[str, Callable] = {
    "negative": np.negative,
    "complement": lambda x: 1 - x,
    "inverse": lambda x: 1 / x,
    "percent": lambda x: 100 * x,
    "floored": np.floor,
    "ceiled": np.ceil,
    "absolute": np.abs,
    "square": np.square,
    "root": np.sqrt,
    "logarithm": np.log,
    "exponential": np.exp,
    "minus 1": lambda x: x - 1,
    "plus 1": lambda x: x + 1,
}

CUTS, LEAST_OF_CUT = {"floored", "ceiled"}, 3  # of fewer whole numbers, many things are the cause

OF_ENTRIES: dict[str, Callable] = {
    "reversed result": lambda x: x[::-1],
    "sorted result": np.sort,
    "cumulated result": np.cumsum,
    "shifted result": lambda x: np.roll(x, 1),
    "normalised result": lambda x: x / x.sum(),
}

OPERATIONS: dict[tuple[str, str], Callable] = {
    (to_say("{one} plus {other}"), to_say("{one}, plus {other}")): np.add,
    (to_say("{one} minus {other}"), to_say("{one}, minus {other}")): np.subtract,
    (to_say("{one} times {other}"), to_say("{one}, times {other}")): np.multiply,
    (to_say("{one} over {other}"), to_say("{one}, over {other}")): np.divide,
}
"""What is said of two numbers, and where the first of them is told in several words -> the operation."""

ONE_OVER = to_say("1 over {what}")
POWERS = {to_say("the square of {what}"): 2, to_say("the square root of {what}"): 0.5, to_say("the cube of {what}"): 3}


def change(
    part: Part, numbers: np.ndarray, described: dict[str, list[float]], fitted: bool, only: Collection[str] = SENTENCES
) -> tuple[Change, ...] | None:
    """Return the cheapest change that turns `numbers` into the answer's; () where both are the same, None where none is known.

    described: features of the cases; fitted: look for factors and terms among them too, which says less of a number
    that is not the right one. only: the kinds of changes that are looked for.
    """
    if part.same(numbers):
        return ()
    if not np.isfinite(numbers).all() or part.is_constant:
        return None
    with np.errstate(all="ignore"):
        changes = _changes(part, numbers, described if fitted else {})
        found = next((each for each in changes if each.kind in only), None)
    return None if found is None else (found,)


def _changes(part, numbers, described) -> Iterator[Change]:
    for kind, changed in ENTRYWISE.items():
        if part.same(changed(numbers)) and not (
            kind in CUTS and len(np.unique(np.round(part.yours, 9))) < LEAST_OF_CUT
        ):
            yield Change(kind)
    for digits in range(7 if described else 0):
        if part.same(np.round(numbers, digits)) and np.ptp(part.yours) > 0:
            yield Change("rounded")
    yield from _named_factor(part, numbers)
    if described and part.same(numbers + (offset := float(np.median(part.yours - numbers)))):
        size = show(float(f"{abs(offset):.6g}"))
        yield Change("plus" if offset > 0 else "minus", {"what": size})
    if max(part.lengths) > 1:
        for kind, changed in OF_ENTRIES.items():
            if part.same(np.concatenate([changed(each) for each in part.apart(numbers)])):
                yield Change(kind)
    yield from _of_the_case(part, numbers, {words: part.of_cases(values) for words, values in described.items()})


def _named_factor(part, numbers):
    for name, factor in NAMED.items():
        if part.same(factor * numbers):
            yield Change("factor", {"factor": say(name)})


def bounds(part: Part, described: dict[str, list[float]], missing: bool) -> tuple[Change, ...]:
    """Return at which ends the answer leaves what should be cut, or else cuts what should be left as it is: at a number, or at a feature
    of the cases; () where that is not all that is wrong."""
    if part.is_constant or set(np.unique(part.wanted)) <= {0.0, 1.0} or part.agrees.all() or not part.agrees.any():
        return ()
    if missing:
        return _bounds(part, part.wanted, part.yours, described, ("not raised", "not lowered"))
    return _bounds(part, part.yours, part.wanted, described, ("raised", "lowered"))


def _bounds(part, cut, whole, described, kinds):
    """At which ends the ones are cut where the others go beyond; each end with the kind of a change below it, or above."""
    found = []
    for kind, sign in zip(kinds, (1, -1), strict=True):
        beyond = ~part.agrees & (sign * (cut - whole) > 0)
        if beyond.any():
            slack = part.atol + part.rtol * np.abs(cut)
            ends = _ends(part, cut, beyond, described)
            words = next((words for words, end in ends if (sign * (cut - end) >= -slack).all()), None)
            if words is None:
                return ()
            found.append(Change(kind, {"what": words}))
    return tuple(found)


def _ends(part, cut, beyond, described):
    """Yield (in words, for each number) what the cut ones are wherever the others go beyond: often enough that this is no accident."""
    there = cut[beyond]
    if len(there) < LEAST_OF_CUT or not np.isfinite(there).all():
        return
    if np.ptp(there) <= part.atol:
        yield show(float(there[0])), np.full(cut.shape, there[0])
    elif len(np.unique(there)) >= LEAST_OF_CUT:
        with np.errstate(all="ignore"):
            for words, values in shaped({words: part.of_cases(values) for words, values in described.items()}):
                if np.allclose(values[beyond], there, part.rtol, part.atol):
                    yield words, values


def formula(part: Part, described: dict[str, list[float]]) -> Change | None:
    """Return the answer's numbers as a formula of one or two features of the cases; None where there is no such formula."""
    if part.is_constant:
        return None
    with np.errstate(all="ignore"):
        known = [
            (words, values)
            for words, values in shaped({words: part.of_cases(values) for words, values in described.items()})
            if np.isfinite(values).all() and np.ptp(values) > 0
        ]
        for words, values in known:
            if part.same(values):
                return Change("is formula", {"what": words})
        table = np.array([values for _, values in known]).reshape(len(known), part.yours.size)
        for told, pairs in OPERATIONS.items():
            agree = np.isclose(part.yours, pairs(table[:, None], table[None]), part.rtol, part.atol).all(axis=2)
            for i, j in np.argwhere(agree):
                one, other = known[i][0], known[j][0]
                return Change("is formula", {"what": say(told[isinstance(one, Said)], one=one, other=other)})
    return None


def shaped(described: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (words, values) of features, and of their squares, roots, complements, exponentials and logarithms."""
    for words, values in described.items():
        yield words, values
        for message, power in POWERS.items() if (values >= 0).all() else ():
            yield say(message, what=words), values**power
        yield say("1 - {what}", what=words), 1 - values
        yield say("e to the power of {what}", what=words), np.exp(values)
        if (values > 0).all():
            yield say("the logarithm of {what}", what=words), np.log(values)


def _of_the_case(part, numbers, described):
    """Yield a factor or a term that is a number of the case; or a factor that is made of two."""
    pairs = itertools.combinations(described.items(), 2)
    both = [
        each
        for (one, a), (other, b) in pairs
        for each in (
            (say("{one} times {other}", one=one, other=other), a * b),
            (say("{one} over {other}", one=one, other=other), a / b),
        )
    ]
    for several, known in (("", shaped(described)), (" both", both)):
        for words, values in known:
            if np.ptp(values) == 0 and len(part.given) > 1:
                continue
            words = say("({what})", what=words) if words.startswith("1 - ") else words
            if part.same(numbers * values):
                yield Change(f"times{several}", {"what": words})
            if part.same(numbers / values):
                yield Change(f"divided{several}", {"what": words})
            for told, term in () if several else ((words, values), (say(ONE_OVER, what=words), 1 / values)):
                if part.same(numbers + term):
                    yield Change("plus", {"what": told})
                if part.same(numbers - term):
                    yield Change("minus", {"what": told})
