"""What the inputs of an exercise may be: said once for each argument, for the header, the draws and the search.

A Domain names the arguments in their order. Each has a kind, such as Number(0.01, 3), which gives random values, the corners
at which answers fail that are right elsewhere (ends of the range, 0, one entry, equal entries), and plain values, with which
a learner can compute by hand. `checks` is what the search before a pass asks for; `plain` is where the smallest input is
looked for on which an answer is wrong.

hypothesis was tried for it: its import takes as long as a whole check, it writes a folder beside the notebook, and it asks for
one input at a time, where a sandboxed answer is asked for all at once.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.base.languages import listed, say, to_say
from dpcourse.checking.coinciding import WAYS, Coinciding

PLAINEST = (1, 2, 0.5, 3, 0.1, 0.25, 4, 10, 0.01, 0)
MANY = 1000  # times the lowest: then the numbers of a range are drawn on a logarithmic scale
TRIES = 50  # for a case in which what is to hold between the arguments does
EMPTY = 4  # a list without entries is no plain input: as much as one of so many
TOGETHER, DRAWN, MORE, PLAIN = 32, 30, 120, 40
ROUNDS = 8  # in which inputs with all arguments at an end are looked for: not all of these go together
AT_0 = 2  # inputs of those that are asked for many times, in which all entries of a list are 0, or 1
AIMED, AIMED_OF_FEW = 60, 6
ASIDE = 0.01  # of a number, to either side of it
SELDOM = {
    False: 0.7,
    True: 0.3,
}  # how often an argument is at a corner, where a case is asked for many times: a list, or not
SPREAD = 0.03  # of numbers that lie close to each other

Value = Callable[[np.random.Generator, dict], object]
"""A value of an argument: (rng, the arguments before it) -> the value."""


def _always(value):
    return lambda rng, case: value


def _written(value):
    return f"{value:,g}".replace("e-0", "e-") if _is_number(value) else repr(value)


def _is_number(value):
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _first(count, cycle):
    """So many values of a cycle."""
    return list(itertools.islice(itertools.cycle(cycle), count))


def _with_end(end):
    """Changes of a list by which the last of its values is this one, the first, and all."""
    return (
        lambda rng, values: [*values[:-1], end],
        lambda rng, values: [end, *values[1:]],
        lambda rng, values: [end] * len(values),
    )


def _different(cases):
    """These cases, none of them twice."""
    return list({key(case): case for case in cases if case is not None}.values())


def key(case: dict) -> tuple:
    """What is equal for equal cases."""
    return tuple(map(_key, case.values()))


def _key(value):
    """What is equal for equal values; of a long array numpy writes no more than its ends."""
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)


def _together(values, rng):
    """A value for each argument that has some, in every way, or in random ones where these are too many."""
    some = {names: each for names, each in values.items() if each}
    if math.prod(map(len, some.values())) <= TOGETHER:
        chosen = itertools.product(*some.values())
    else:
        chosen = ([each[int(rng.integers(len(each)))] for each in some.values()] for _ in range(TOGETHER))
    return [dict(zip(some, ways, strict=True)) for ways in chosen]


def size(case: dict) -> tuple[int, int]:
    """How much there is to read of a case: its entries, with those of what is in it, and then the characters of them."""
    return _entries(case), len(repr(_as_lists(case)))


def _as_lists(value):
    """A value with lists for its arrays, whose texts Python writes a hundred times as fast as numpy."""
    if isinstance(value, dict):
        return {name: _as_lists(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_as_lists, value))
    return value.tolist() if isinstance(value, np.ndarray) else value


def _entries(value):
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.size or EMPTY
    if isinstance(value, (list, tuple, np.ndarray)):
        return sum(map(_entries, value)) if len(value) else EMPTY
    return sum(map(_entries, value.values())) if isinstance(value, dict) else 1


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`, with three digits."""

    low: float
    high: float
    one = to_say("{name} from {low} to {high}")
    several = to_say("{name}: {least} to {most} numbers from {low} to {high}")
    as_many = to_say("{name}: as many numbers from {low} to {high}")

    def draw(self, rng: np.random.Generator, case: dict) -> float:
        if self.low > 0 and self.high / self.low >= MANY:
            value = float(np.exp(rng.uniform(*np.log([self.low, self.high]))))
        else:
            value = rng.uniform(self.low, self.high)
        return min(max(float(f"{value:.3g}"), self.low), self.high)

    def near(self, rng: np.random.Generator, value: Any) -> Any:
        """One close to another."""
        return min(max(float(f"{value * (1 + SPREAD * rng.normal()):.3g}"), self.low), self.high)

    def has(self, value: object, case: dict) -> bool:
        """Whether it is one."""
        return _is_number(value) and self.low <= value <= self.high  # type: ignore[operator]

    def corners(self) -> list[Value]:
        inside = [value for value in (0.0, 1.0) if self.low < value < self.high]
        return [*self.ends(), *(_always(value) for value in inside)]

    def ends(self) -> list[Value]:
        return [_always(float(value)) for value in (self.low, self.high)]

    def plain(self) -> list[Value]:
        inside = [value for value in PLAINEST if self.low <= value <= self.high]
        return [_always(float(value)) for value in (*inside, self.low, self.high)[:4]]

    def about(self, number: float) -> list[Value]:
        """A number that an answer speaks of, and one to either side of it."""
        near = (number, number * (1 - ASIDE), number * (1 + ASIDE))
        return [_always(float(value)) for value in near if self.low <= value <= self.high]

    @property
    def range(self) -> dict[str, str]:
        """Its ends, as text."""
        return {"low": _written(self.low), "high": _written(self.high)}

    def told(self, name: str) -> str:
        """It in words, after the name of the argument."""
        return say(self.one, name=name, **self.range)


@dataclass(frozen=True)
class Whole(Number):
    """A whole number from `low` to `high`."""

    one = to_say("{name}: a whole number from {low} to {high}")
    several = to_say("{name}: {least} to {most} whole numbers from {low} to {high}")
    as_many = to_say("{name}: as many whole numbers from {low} to {high}")

    def draw(self, rng: np.random.Generator, case: dict) -> int:
        return round(super().draw(rng, case)) if self.low > 0 else int(rng.integers(int(self.low), int(self.high) + 1))

    def near(self, rng: np.random.Generator, value: Any) -> Any:
        """One at most three away from another."""
        return int(min(max(value + int(rng.integers(-3, 4)), self.low), self.high))

    def has(self, value: object, case: dict) -> bool:
        """Whether it is one."""
        return super().has(value, case) and value == int(value)  # type: ignore[call-overload]

    def corners(self) -> list[Value]:
        return [_always(int(value)) for value in {self.low, min(self.low + 1, self.high), self.high}]

    def ends(self) -> list[Value]:
        return [_always(int(value)) for value in (self.low, self.high)]

    def about(self, number: float) -> list[Value]:
        near = (math.floor(number), math.floor(number) - 1, math.floor(number) + 1)
        return [_always(value) for value in near if self.low <= value <= self.high]

    def plain(self) -> list[Value]:
        inside = [value for value in (1, 2, 3, 4, 10, 100) if self.low <= value <= self.high]
        return [_always(int(value)) for value in (*inside, self.low, self.high)[:4]]


@dataclass(frozen=True)
class OneOf:
    """One of these values."""

    values: tuple
    one = to_say("{name} is {values}")
    several = to_say("{name}: {least} to {most} entries, each {values}")
    as_many = to_say("{name}: as many entries, each {values}")

    def draw(self, rng: np.random.Generator, case: dict) -> object:
        return self.values[int(rng.integers(len(self.values)))]

    def near(self, rng: np.random.Generator, value: Any) -> Any:
        """One: nothing lies between them."""
        return self.draw(rng, {})

    def has(self, value: object, case: dict) -> bool:
        """Whether it is one."""
        return value in self.values

    def corners(self) -> list[Value]:
        return self.ends()

    def ends(self) -> list[Value]:
        return [_always(value) for value in (self.values[0], self.values[-1])]

    def about(self, number: float) -> list[Value]:
        return [_always(value) for value in self.values if _is_number(value) and value == number]

    def plain(self) -> list[Value]:
        return list(map(_always, self.values))

    @property
    def range(self) -> dict[str, str]:
        """The values, as text."""
        return {"values": listed(map(_written, self.values), "{first} or {then}")}

    def told(self, name: str) -> str:
        """It in words, after the name of the argument."""
        return say(self.one, name=name, **self.range)


@dataclass(frozen=True)
class Seed:
    """What a Generator is made from; no input that a header tells of."""

    def draw(self, rng: np.random.Generator, case: dict) -> int:
        return int(rng.integers(2**31))

    def has(self, value: object, case: dict) -> bool:
        """Whether it is one."""
        return isinstance(value, int)

    def corners(self) -> list[Value]:
        return []

    ends = corners

    def about(self, number: float) -> list[Value]:
        return []

    def plain(self) -> list[Value]:
        return [self.draw]

    def told(self, name: str) -> str:
        return ""


@dataclass(frozen=True)
class Several:
    """`least` to `most` of a number, as a list or an array. like: the argument before it that has as many."""

    of: Number | OneOf
    least: int = 1
    most: int = 10
    like: str = ""
    array: bool = False

    def draw(self, rng: np.random.Generator, case: dict) -> object:
        size = self._size(rng, case)
        return self._made([self.of.draw(rng, case) for _ in range(size)])

    def has(self, value: list | np.ndarray, case: dict) -> bool:
        """Whether it is one, in a case that has the arguments before it."""
        least, most = [len(case[self.like])] * 2 if self.like else (self.least, self.most)
        return least <= len(value) <= most and all(self.of.has(each, case) for each in value)

    def varied(self, rng: np.random.Generator, case: dict) -> object:
        """One of any size, small ones too, whose entries are as `draw` gives them, differ little in number, lie close together, or have all
        their digits."""
        least, most = np.log([max(self.least, 1), self.most + 1])
        size = len(case[self.like]) if self.like else int(np.exp(rng.uniform(least, most)))
        values, way = [self.of.draw(rng, case) for _ in range(size)], rng.integers(4)
        if values and way == 0:
            values = [values[int(i)] for i in rng.integers(min(len(values), 3), size=len(values))]
        elif values and way == 1:
            values = [values[0], *(self.of.near(rng, values[0]) for _ in values[1:])]
        elif way == 2 and type(self.of) is Number:
            values = rng.uniform(self.of.low, self.of.high, size=size).tolist()
        return self._made(values)

    def _size(self, rng, case):
        return len(case[self.like]) if self.like else int(rng.integers(self.least, self.most + 1))

    def _made(self, values):
        return np.array(values) if self.array else values

    def _of_size(self, size):
        return lambda rng, case: self._made([self.of.draw(rng, case) for _ in range(size)])

    def _first_of(self, cycle, rng, case):
        return self._made(_first(len(case[self.like]), cycle))

    def _changed(self, change):
        """Values drawn as ever, and changed: change(rng, values)."""

        def value(rng, case):
            drawn = [self.of.draw(rng, case) for _ in range(self._size(rng, case))]
            return self._made(change(rng, drawn))

        return value

    def corners(self) -> list[Value]:
        ends = [value(np.random.default_rng(0), {}) for value in self.of.corners()]
        changes = [
            lambda rng, values: values[:1] * len(values),
            lambda rng, values: sorted(values),
            lambda rng, values: sorted(values, reverse=True),
            *(change for end in ends for change in _with_end(end)),
        ]
        sizes = sorted({self.least, min(self.least + 1, self.most), self.most})
        whole = [self._whole] if self.array and type(self.of) is Number and self._between() else []
        return [*map(self._of_size, [] if self.like else sizes), *map(self._changed, changes), *whole]

    def _between(self):
        """The whole numbers of the range."""
        return range(math.ceil(self.of.low), math.floor(self.of.high) + 1)

    def _whole(self, rng, case):
        """Whole numbers, which an array holds as such: what is written into it, or into one like it, is cut to whole ones."""
        return rng.choice(self._between(), size=self._size(rng, case))

    def ends(self) -> list[Value]:
        """As few entries as there may be, and as many, all of them at one end."""
        every = [value(np.random.default_rng(0), {}) for value in self.of.ends()]
        if self.like:
            return [functools.partial(self._first_of, [end]) for end in every]
        return [_always(self._made([end] * size)) for size in (max(self.least, 1), self.most) for end in every]

    def inner(self) -> list[Value]:
        """All entries at a corner that is no end: 0, or 1."""
        some = [value(np.random.default_rng(0), {}) for value in self.of.corners()[len(self.of.ends()) :]]
        return [self._changed(_with_end(one)[-1]) for one in some]

    def about(self, number: float) -> list[Value]:
        """Lists of so many entries, of one less and one more, and such in which some entries are about this number."""
        sizes = [] if self.like else Whole(self.least, self.most).about(number)
        entries = [value(np.random.default_rng(0), {}) for value in self.of.about(number)]
        changes = [change for entry in entries for change in _with_end(entry)]
        return [
            *(self._of_size(size(np.random.default_rng(0), {})) for size in sizes),
            *map(self._changed, changes),
        ]

    def plain(self) -> list[Value]:
        plain = [value(np.random.default_rng(0), {}) for value in self.of.plain()]
        cycles = [plain, plain[::-1], plain[:1]]
        if self.like:
            return [functools.partial(self._first_of, cycle) for cycle in cycles]
        sizes = [size for size in range(self.least, min(self.least + 3, self.most + 1)) if size]
        return [_always(self._made(_first(size, cycle))) for size in sizes for cycle in cycles[:2]]

    def told(self, name: str) -> str:
        if self.like:
            return say(self.of.as_many, name=name, **self.of.range)
        return say(self.of.several, name=name, least=self.least, most=self.most, **self.of.range)


@dataclass(frozen=True)
class Fields:
    """A dict that holds a value for each of these names: name -> its kind."""

    of: Mapping[str, Number | OneOf | Several]
    one = to_say("{name}: a dict in which {fields}")

    def draw(self, rng: np.random.Generator, case: dict) -> object:
        return self._with({})(rng, case)

    def _with(self, fixed):
        """A value in which these names are given so, and all others drawn."""

        def value(rng, case):
            made: dict = {}
            for name, kind in self.of.items():
                made[name] = fixed.get(name, kind.draw)(rng, made)
            return made

        return value

    def has(self, value: dict, case: dict) -> bool:
        """Whether it is one."""
        return set(value) == set(self.of) and all(kind.has(value[name], value) for name, kind in self.of.items())

    def corners(self) -> list[Value]:
        return [self._with({name: corner}) for name, kind in self.of.items() for corner in kind.corners()]

    def ends(self) -> list[Value]:
        ends = {name: kind.ends() for name, kind in self.of.items()}
        return [self._with({name: each[at] for name, each in ends.items()}) for at in (0, -1)]

    def about(self, number: float) -> list[Value]:
        return [self._with({name: value}) for name, kind in self.of.items() for value in kind.about(number)]

    def plain(self) -> list[Value]:
        ways = {name: kind.plain() for name, kind in self.of.items()}
        first = {name: each[0] for name, each in ways.items()}
        return [
            self._with(first),
            *(self._with(first | {name: way}) for name, each in ways.items() for way in each[1:]),
        ]

    def told(self, name: str) -> str:
        """It in words, after the name of the argument."""
        fields = listed(
            (kind.told(f'`"{each}"`') for each, kind in self.of.items()), "{first}; {then}", "{first}; {then}"
        )
        return say(self.one, name=name, fields=fields)


@dataclass(frozen=True)
class Made:
    """What a function makes: values of one argument, or a tuple of several. told: what they are, in words.

    make(rng): random ones, of all sizes, and now and then extreme ones.
    """

    make: Callable
    told_as: str = ""

    def draw(self, rng: np.random.Generator, case: dict) -> object:
        return self.make(rng)

    def has(self, value: object, case: dict) -> bool:
        """Return True: whatever its own function makes."""
        return True

    def corners(self) -> list[Value]:
        """Made of numbers that coincide."""
        return [functools.partial(self._coinciding, way) for way in WAYS]

    def _coinciding(self, way, rng, case):
        return self.make(Coinciding(rng, way))

    def ends(self) -> list[Value]:
        return []

    def about(self, number: float) -> list[Value]:
        return []

    def plain(self) -> list[Value]:
        return [self._small] * 12

    def _small(self, rng, case):
        """The smallest of some."""
        drawn = [self.draw(rng, case) for _ in range(8)]
        return min(drawn, key=lambda value: size({"": value}))

    def told(self, name: str) -> str:
        return say(self.told_as, name=name) if self.told_as else ""


@dataclass(frozen=True)
class Domain:
    """The inputs of an exercise: the name of an argument, or of several, "p, q", that are made together -> its kind.

    where: what holds between them, a function of the case's arguments; where_told: the same in words.
    most: inputs that are tried before an answer passes, where the reference takes long: by turns a corner, corners of all
    arguments together, and random ones.

    >>> Domain({"epsilon": Number(0.01, 3), "k": Whole(1, 100)}).told()
    '`epsilon` from 0.01 to 3; `k`: a whole number from 1 to 100'
    """

    kinds: Mapping[str, Number | OneOf | Several | Fields | Made | Seed]
    where: Callable[..., bool] | None = None
    where_told: str = ""
    most: int | None = None

    def told(self) -> str:
        """The inputs in words; nothing of a generator, nor of what is said in the task."""
        parts = []
        for names, kind in self.kinds.items():
            told = kind.told(listed(f"`{name}`" for name in names.split(", ")))
            if told:
                parts.append(told)
        if self.where_told:
            parts.append(say(self.where_told))
        return listed(parts, "{first}; {then}", "{first}; {then}")

    def has(self, case: dict) -> bool:
        """Whether a case is one of its cases, as far as its kinds and what holds between the arguments say it."""
        alone = {name: kind for name, kind in self.kinds.items() if name in case}
        return all(kind.has(case[name], case) for name, kind in alone.items()) and (
            self.where is None or self.where(**case)
        )

    def draw(self, rng: np.random.Generator) -> list[dict]:
        """Three random cases."""
        return [case for case in (self._case(rng, {}) for _ in range(3)) if case]

    def searched(self, rng: np.random.Generator) -> list[dict]:
        """The cases that are tried before an answer passes: each corner with all else drawn, corners and ends of all, and random ones."""
        corners = {names: kind.corners() for names, kind in self.kinds.items()}
        alone = [{names: value} for names, values in corners.items() for value in values]
        together = [
            *_together(corners, rng),
            *_together({names: kind.ends() for names, kind in self.kinds.items()}, rng),
        ]
        wanted: list[list[dict]] = [alone, together, [{}] * DRAWN]
        if self.most is not None:  # some of each
            wanted = [[each[i] for i in rng.permutation(len(each))] for each in wanted]
            by_turns = (one for row in itertools.zip_longest(*wanted) for one in row if one is not None)
            wanted = [list(itertools.islice(by_turns, self.most))]
        return _different(self._case(rng, self._varied(fixed)) for each in wanted for fixed in each)

    def more(self, rng: np.random.Generator) -> list[dict]:
        """Further random cases, on which an answer is tried as long as there is time; none where each takes long."""
        return [] if self.most is not None else _different(self._case(rng, self._varied({})) for _ in range(MORE))

    def aimed(self, numbers: Iterable[float], rng: np.random.Generator) -> list[dict]:
        """The cases in which an argument, an entry or a length is about one of these numbers: those that an answer speaks of."""
        of_numbers = (
            [(names, each) for names, kind in self.kinds.items() for each in kind.about(number)] for number in numbers
        )
        by_turns = (one for row in itertools.zip_longest(*of_numbers) for one in row if one is not None)
        some = itertools.islice(by_turns, AIMED if self.most is None else AIMED_OF_FEW)
        return _different(self._case(rng, self._varied({names: value})) for names, value in some)

    def _varied(self, fixed):
        """These values, and for the lists without one a way to draw it that also gives equal and close entries."""
        lists = {names: kind.varied for names, kind in self.kinds.items() if isinstance(kind, Several)}
        return lists | fixed

    def points(self, rng: np.random.Generator, count: int, at_ends: int = 0) -> list[dict]:
        """So many cases of small size, with some arguments at a corner: to ask for each many times. at_ends: of how many all are at an end."""
        vertices = self._vertices(rng, at_ends)
        if at_ends:
            lists = {names: kind for names, kind in self.kinds.items() if isinstance(kind, Several)}
            inner = [self._case(rng, {names: value}) for names, kind in lists.items() for value in kind.inner()]
            vertices += [case for case in inner if case is not None][:AT_0]
        found = []
        for _ in range(4 * count):
            corners = {
                names: kind.corners()
                for names, kind in self.kinds.items()
                if rng.random() < SELDOM[isinstance(kind, Several)]
            }
            chosen = {names: values[int(rng.integers(len(values)))] for names, values in corners.items() if values}
            found.append(self._case(rng, self._varied(chosen)))
        some = sorted((case for case in found if case is not None), key=size)[: 2 * (count - len(vertices)) : 2]
        return sorted([*vertices, *some], key=size)

    def _vertices(self, rng, count):
        """So many cases with all arguments at an end, lists as short as they may be; each end comes as often, where all go together."""
        found: list[dict] = []
        for _ in range(ROUNDS):
            if len(found) >= count:
                break
            chosen = {}
            for names, kind in self.kinds.items():
                ends = kind.ends()
                ends = ends[: len(ends) // 2] if isinstance(kind, Several) and not kind.like else ends
                chosen[names] = [ends[i % len(ends)] for i in rng.permutation(count)] if ends else []
            fixed = [{names: values[i] for names, values in chosen.items() if values} for i in range(count)]
            cases = (self._case(rng, self._varied(each)) for each in fixed if each)
            found += [case for case in cases if case is not None]
        return found[:count]

    def plain(self, rng: np.random.Generator) -> list[dict]:
        """Cases to compute by hand, the plainest first; none where it takes long to make them."""
        if self.most is not None:
            return []
        ways = {name: kind.plain() for name, kind in self.kinds.items()}
        places = sorted(itertools.product(*(range(len(each)) for each in ways.values())), key=lambda at: (sum(at), at))
        found: dict[tuple, dict] = {}
        for at in places[: 3 * PLAIN]:
            case = self._case(rng, {name: each[i] for (name, each), i in zip(ways.items(), at, strict=True)}, tries=1)
            if case is not None:
                found.setdefault(key(case), case)
        return sorted(itertools.islice(found.values(), PLAIN), key=size)

    def _case(self, rng, fixed, tries=TRIES):
        """A case with these values and all others drawn; None where what is to hold between them does not come about."""
        for _ in range(tries):
            case: dict = {}
            for names, kind in self.kinds.items():
                value = fixed.get(names, kind.draw)(rng, case)
                case |= dict(zip(names.split(", "), value, strict=True)) if ", " in names else {names: value}
            if self.where is None or self.where(**case):
                return case
        return None
