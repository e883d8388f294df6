"""Other inputs, for which a wrong answer may be right: each change of a case that a learner's mistake would make."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dpcourse.base.languages import listed, say, to_say
from dpcourse.checking.calling.values import show
from dpcourse.checking.diagnosis.words import Change

OF_A_NUMBER: dict[str, Callable] = {
    to_say("half of `{one}`"): lambda x: x / 2,
    to_say("twice `{one}`"): lambda x: 2 * x,
    to_say("the square of `{one}`"): lambda x: x * x,
    to_say("the square root of `{one}`"): math.sqrt,
    to_say("the logarithm of `{one}`"): math.log,
    "1/`{one}`": lambda x: 1 / x,
    to_say("e to the power of `{one}`"): math.exp,
    "`{one}` - 1": lambda x: x - 1,
    "`{one}` + 1": lambda x: x + 1,
    to_say("the absolute value of `{one}`"): abs,
}
BENT = (
    "the square of `{one}`",
    "the square root of `{one}`",
    "the logarithm of `{one}`",
    "1/`{one}`",
    "e to the power of `{one}`",
)
"""These agree with a slip elsewhere by the algebra of powers and logarithms: they are told only where nothing else fits."""
OF_ENTRIES: dict[str, Callable] = {
    to_say("the square"): np.square,
    to_say("the absolute value"): np.abs,
    to_say("the square root"): np.sqrt,
    to_say("twice the value"): lambda x: 2 * x,
    to_say("the complement, 1 minus it,"): lambda x: 1 - x,
    to_say("the negative"): np.negative,
    to_say("the exponential"): np.exp,
}
IN_PLACE: dict[str, Callable] = {
    to_say("the sum"): lambda x: np.full_like(x, x.sum()),
    to_say("the mean"): lambda x: np.full_like(x, x.mean()),
    to_say("the largest"): lambda x: np.full_like(x, x.max()),
    to_say("the smallest"): lambda x: np.full_like(x, x.min()),
    to_say("the first"): lambda x: np.full_like(x, x[0]),
    to_say("the last"): lambda x: np.full_like(x, x[-1]),
}


def changes(cases: list[dict], numbers: Sequence[float] = ()) -> Iterator[tuple[Change, Callable[[dict], dict]]]:
    """Yield (change, the function that makes it to a case), for all changes that the arguments of these cases allow.

    numbers: what an argument may be set to, as an answer has written it.
    """
    kinds = {name: _kind(name, [case[name] for case in cases]) for name in cases[0]}
    scalars = [name for name, kind in kinds.items() if kind == "number"]
    lists = [name for name, kind in kinds.items() if kind == "list"]
    for same in (scalars, lists):
        for i, one in enumerate(same):
            for other in same[i + 1 :]:
                yield Change("argument exchanged", {"one": one, "other": other}), _exchanged(one, other)
    for one in scalars:
        for value in dict.fromkeys((0, 1, *numbers)):
            yield Change("argument set", {"one": one, "value": show(value)}), _with(one, _set_to(value))
        for other in scalars:
            if other != one:
                yield Change("argument replaced", {"one": one, "other": other}), _copied(one, other)
        yield Change("argument complement", {"one": one}), _with(one, lambda x: 1 - x)
        yield Change("argument negative", {"one": one}), _with(one, lambda x: -x)
        for words, changed in OF_A_NUMBER.items():
            kind = "argument bent" if words in BENT else "argument changed"
            yield Change(kind, {"one": one, "value": say(words, one=one)}), _with(one, changed)
    for one in lists:
        yield from _of_list(one)
    if len(lists) > 1 and all(len({len(case[name]) for name in lists}) == 1 for case in cases):
        for what, part in PARTS.items():
            yield _list_without(lists, what), _of_all(lists, part)
    for name, kind in kinds.items():
        if kind == "matrix":
            yield Change("matrix transposed", {"one": name}), _with(name, np.transpose)
        elif kind == "sequence":
            yield from _of_sequence(name)


def _kind(name, values):
    if name == "rng":
        return "seed"
    if all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in values):
        return "number"
    if all(isinstance(value, (list, tuple, np.ndarray)) and len(value) for value in values):
        try:
            ranks = {np.asarray(value, dtype=float).ndim for value in values}
        except (TypeError, ValueError):
            return "sequence"
        return {1: "list", 2: "matrix"}.get(min(ranks), "other") if len(ranks) == 1 else "other"
    return "other"


def _of_list(one):
    yield Change("list reversed", {"one": one}), _with(one, lambda x: x[::-1])
    yield Change("list sorted", {"one": one}), _with(one, _like(np.sort))
    yield Change("list without repeats", {"one": one}), _with(one, _like(_without_repeats))
    yield from _without(one)
    for what, changed in IN_PLACE.items():
        yield Change("list as one", {"one": one, "what": say(what)}), _with(one, _like(changed))
    for what, changed in OF_ENTRIES.items():
        yield Change("entries changed", {"one": one, "what": say(what)}), _with(one, _like(changed))


def _of_sequence(one):
    yield Change("list reversed", {"one": one}), _with(one, lambda x: x[::-1])
    yield Change("list without repeats", {"one": one}), _with(one, lambda x: list(dict.fromkeys(x)))
    yield from _without(one)


PARTS: dict[str, Callable] = {
    to_say("the first entry"): lambda x: x[1:],
    to_say("the last entry"): lambda x: x[:-1],
    to_say("every second entry"): lambda x: x[::2],
    to_say("all but the first entry"): lambda x: x[:1],
    to_say("all but the last entry"): lambda x: x[-1:],
}


def _without(one):
    for what, part in PARTS.items():
        yield _list_without([one], what), _with(one, part)


def _list_without(names, what):
    return Change("list without", {"lists": listed(f"`{name}`" for name in names), "what": say(what)})


def _of_all(names, part):
    return lambda case: case | {name: part(case[name]) for name in names}


def _like(changed):
    """Return a change of an array, for lists and tuples too."""

    def code(value):
        numbers = changed(np.asarray(value, dtype=float))
        return numbers if isinstance(value, np.ndarray) else type(value)(numbers.tolist())

    return code


def _without_repeats(entries):
    """The entries in their order, each that occurs again left out."""
    return entries[np.sort(np.unique(entries, return_index=True)[1])]


def _set_to(value):
    return lambda x: type(x)(value) if value == int(value) else value


def _with(name, changed):
    return lambda case: case | {name: changed(case[name])}


def _copied(one, other):
    return lambda case: case | {one: case[other]}


def _exchanged(one, other):
    return lambda case: case | {one: case[other], other: case[one]}
