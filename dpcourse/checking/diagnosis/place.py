"""Where a wrong answer leaves the way: what its expressions give is compared with the steps of a right answer.

An expression that has the values of a step is right, whatever it is called. Then one expression is given the values of one
step, and the answer runs on: where its results are then right on every input, the fault is there and nowhere else. That
holds whatever its author meant; nothing is guessed.
"""

import ast
import builtins
import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from dpcourse.base.languages import listed, say, sentences
from dpcourse.checking.calling import limits
from dpcourse.checking.calling.messages import one_line
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.steps import MOST_PLACES, Place, Watched
from dpcourse.checking.calling.values import SHOWN, plain, show, show_apart

SECONDS = 1.5
RECORDED = 6  # cases on which values are compared
MOST_EXCHANGES, AT_ONCE = 1_200, 100
MOST_ENTRIES = 5_000  # of all that a step gives on one case
MOST_OF_STEP = 1_000  # values of it: more than of a place, so that no right value is taken for one that nobody has
LONGEST = 120  # characters of a place
LEAST_TURNED = 3  # cases on which it is wrong, and on which it is right, before a condition is told
MANY = 40  # choices that are made one by one: together they come out right by no accident
LEAST_DIFFERENT = 3  # cases on which whole numbers differ: others are alike by accident
RTOL, ATOL = 1e-7, 1e-12

UNARY, CALL, ARITHMETIC = "unary", "call", "arithmetic"
OTHER_FORMS = (lambda x: x, lambda x: 1 - x, lambda x: -x, lambda x: 1 / x)
PREPARES = {"len", "range", "zip", "enumerate", "list", "tuple", "dict", "float", "int", "array", "asarray", "zeros", "ones", "copy", "sorted", "arange", "map"}  # fmt: skip
"""Functions whose values are in no right answer that does without them: to use them is no fault."""


@dataclass(frozen=True)
class Proved:
    """The place at which alone an answer is wrong; what it gave on the first case, and what is needed there.

    meaning: of what is needed there, in words. is_result: whether that is all of the result. inputs: names in it that may be what is wrong, since no step has their values.
    also: other lines in which the same stands, and is wrong too. lacks: a step in words that the answer has not, in a sentence.
    """

    place: Place
    gave: object
    needed: object
    meaning: str = ""
    inputs: tuple[str, ...] = ()
    is_result: bool = False
    also: tuple[int, ...] = ()
    lacks: str = ""

    @property
    def tells(self) -> bool:
        """Whether more can be said than where it is: what belongs there, in words or in values."""
        differ = self.gave is not None and len(set(show_apart(self.gave, self.needed))) > 1
        return bool(self.meaning) or (differ and not self.is_result)

    @property
    def text(self) -> str:
        where = {"place": self.place.text, "line": self.place.line}
        if self.meaning and self.inputs:
            names = listed(f"`{name}`" for name in self.inputs)
            told = [say("Only `{place}` in line {line} does not give what is needed, by itself or because of {names}: what belongs there is {meaning}.", meaning=self.meaning, names=names, **where)]  # fmt: skip
        elif self.meaning:
            told = [say("Only `{place}` in line {line} is not what is needed: what belongs there is {meaning}.", meaning=self.meaning, **where)]  # fmt: skip
        else:
            told = [say("Only `{place}` in line {line} is not what is needed.", **where)]
        if self.also:
            told.append(say("So it is in line {lines}.", lines=listed(map(str, self.also))))
        entry = _entry_apart(self.gave, self.needed)
        at, *pair = entry if entry else (0, self.gave, self.needed)
        gave, needed = show_apart(*pair)
        if entry and gave != needed:
            told.append(say("On the input shown its entry {at}, counted from 0, is {gave}, and {needed} is needed.", at=at, gave=gave, needed=needed))  # fmt: skip
        elif self.gave is not None and gave != needed:
            told.append(say("On the input shown it gives {gave}, and {needed} is needed.", gave=gave, needed=needed))
        return sentences([*told, self.lacks] if self.lacks else told)


@dataclass(frozen=True)
class Left:
    """The first place of an answer that has the values of no step of a right one, and a step before it that is right."""

    place: Place
    right: Place | None

    @property
    def text(self) -> str:
        where = {"place": self.place.text, "line": self.place.line}
        if self.right is None:
            return say(
                "From `{place}` in line {line} on your values are not those of the right answers we know: the mistake is there, "
                "unless you go another way.",
                **where,
            )
        return say(
            "Up to `{right}` (line {before}) your values are those of right answers; from `{place}` in line {line} on they "
            "differ: the mistake is there, unless you go another way.",
            right=self.right.text,
            before=self.right.line,
            **where,
        )


@dataclass(frozen=True)
class Unread:
    """Arguments that stand nowhere in an answer, and in every right answer that is known."""

    names: tuple[str, ...]

    @property
    def text(self) -> str:
        return say("Your answer never looks at {names}; right answers do.", names=listed(f"`{name}`" for name in self.names))  # fmt: skip


@dataclass(frozen=True)
class Turn:
    """A condition of an answer that came out so on every case on which it is wrong, and never where it is right."""

    place: Place
    is_true: bool

    @property
    def text(self) -> str:
        where = {"place": self.place.text, "line": self.place.line}
        if self.is_true:
            return say("Wherever your result is wrong, `{place}` in line {line} was true, and wherever it is right, never.", **where)  # fmt: skip
        return say("Wherever your result is wrong, `{place}` in line {line} was false at some time, and wherever it is right, never.", **where)  # fmt: skip


@dataclass(frozen=True)
class Lacks:
    """What a right answer goes through, in words, and whose values an answer has not; its value on the first case, where it is one.

    is_certain: whether all values of the answer are known, and on the input shown it has not all of these.
    """

    meaning: str
    needed: object = None
    is_certain: bool = True

    @property
    def text(self) -> str:
        if self.needed is None and self.is_certain:
            return say("One right way goes through {meaning}; nothing in your answer has these values.", meaning=self.meaning)  # fmt: skip
        if self.needed is None:
            return say("One right way goes through {meaning}: look whether yours does.", meaning=self.meaning)
        told = {"meaning": self.meaning, "needed": show(self.needed)}
        if self.is_certain:
            return say("One right way goes through {meaning}, {needed} on the input shown; nothing in your answer has that value.", **told)  # fmt: skip
        return say(
            "One right way goes through {meaning}, {needed} on the input shown: look whether yours does.", **told
        )


@dataclass(frozen=True)
class Reached:
    """The last place of an answer that is a step of a right one, in words; all such steps before it are there as well."""

    place: Place
    meaning: str

    @property
    def text(self) -> str:
        return say(
            "`{place}` in line {line} is as it should be, {meaning}: look at what becomes of it.",
            place=self.place.text,
            line=self.place.line,
            meaning=self.meaning,
        )


@dataclass(frozen=True)
class Step:
    """What an expression of a right answer gives on each case, and what that is, in words.

    name: of an argument, which is a step too. ways: the numbers of the right answers in which it stands.
    """

    given: list[list | None]
    name: str = ""
    meaning: str = ""
    ways: tuple[int, ...] = ()

    @cached_property
    def vectors(self) -> list[np.ndarray | None]:
        """What it gives on each case, as one vector."""
        return [_vector(each) for each in self.given]

    def in_other_portions(self) -> Iterator["Step"]:
        """Yield the step as another answer may have it: numbers one by one for a list of them, or a list for one by one."""
        given = [each for each in self.given if each]
        vectors = [vector for vector in self.vectors if vector is not None]
        if not len(given) == len(vectors) == len(self.given):
            return
        if all(len(each) == 1 and np.ndim(each[0]) == 1 for each in given):
            yield replace(self, given=[list(vector) for vector in vectors])
        elif max(map(len, given)) > 1 and all(np.ndim(one) == 0 for each in given for one in each):
            yield replace(self, given=[[vector] for vector in vectors])

    @property
    def is_small(self) -> bool:
        """Whether it can be sent to where an answer runs."""
        return all(vector is None or vector.size <= MOST_ENTRIES for vector in self.vectors)


def found(
    right: Sequence[Callable],
    cases: list[dict],
    values: list,
    ask: Callable[..., list],
    close: Callable[[object, object], bool],
    means: Mapping[str, str] = MappingProxyType({}),
) -> Proved | Left | Unread | Turn | Lacks | Reached | None:
    """Return where the answer leaves the way, with a proof if there is one; None where nothing can be said.

    Where its own text tells nothing, it is said which argument it never reads, or how far along the way it comes, by the
    steps that have words.

    right: functions that give the right results. values: what the answer gave on the cases; on the first it is wrong.
    ask(cases, seconds, exchanges=): see calling.probe.Probe.watch. close(value, right): whether a result is right.
    means: what arguments and expressions of the right functions are, in words.
    """
    way = _Way(right, cases, values, ask, close, means)
    return way.found() if way.places else None


def expressions(exercise) -> set[str]:
    """Return the expressions of an exercise's reference and formulas, which are the steps of a right answer."""
    return {
        place.text for function in (exercise.reference, *exercise.formulas) for place in watched_right(function).places
    }


class _Way:
    def __init__(self, right, cases, values, ask, close, means):
        self.clock = limits.Clock(SECONDS)
        self.cases, self.ask, self.close = cases, ask, close
        self.values, self.every_value = values[:RECORDED], values
        self.places: list[Place] = []
        listed, *self.mine = ask(cases[:RECORDED], self._seconds(), exchanges=[]) or [[]]
        if len(self.mine) < len(self.values):
            return
        self.places = sound_places(listed)
        self.results = [plain(right[0](*arguments(case))) for case in cases]
        self.steps, self.ways = _steps(right, cases, means), len(right)
        self.useful = [
            step for step in self.steps if step.name or (self._tells(step) and not self._is_given_back(step))
        ]
        self.useful += [other for step in self.useful if not step.name for other in step.in_other_portions()]
        self.vectors = [[_vector(given[number]) for given in self.mine] for number in range(len(self.places))]
        self.right = {
            number for number, mine in enumerate(self.vectors) if any(_same(mine, step.vectors) for step in self.steps)
        }
        self.unknown = {number for number, mine in enumerate(self.vectors) if all(each is None for each in mine)}
        self.tools = {number for number in self.unknown if _is_tool(self.places[number])}

    def _seconds(self):
        return max(0.01, self.clock.left())

    def found(self):
        """Where it leaves the way; a proof that the result is wrong as a whole, which is known, goes behind all that tells more."""
        proved = self.proved()
        if proved is not None and proved.meaning and not proved.place.is_name:
            return proved
        if proved is not None and (proved.meaning or not proved.is_result):  # more may be wrong in what it is made of
            far = self.how_far()
            return replace(proved, lacks=far.text) if isinstance(far, Lacks) else proved
        return self.left() or self.unread() or self.turned() or self.how_far() or proved

    # ---- the proof

    def proved(self):
        candidates = sorted(self._candidates(), key=self._order)[:MOST_EXCHANGES]
        proved = []
        for begin in range(0, len(candidates), AT_ONCE):
            some = candidates[begin : begin + AT_ONCE]
            for numbers, step in self._mended(some, self.cases[:1]):
                proved += self._mended([(numbers, step)], self.cases)
            if any(not self._inputs(numbers[0]) for numbers, _ in proved) or self.clock.left() <= 0:
                break
        if not proved:
            return None
        numbers, step = min(proved, key=lambda each: (bool(self._inputs(each[0][0])), *self._order(each)))
        first, inputs = self.places[numbers[0]], self._inputs(numbers[0])
        lines = {self.places[number].line for number in numbers}
        known = {
            "inputs": inputs,
            "is_result": self._is_whole_result(step),
            "also": tuple(sorted(lines - {first.line})),
        }
        if step.name and any(other == numbers and not also.name for other, also in proved):
            return Proved(first, None, None, **known)  # an argument by accident
        gave, needed = (None, None) if self._are_picked else _first_apart(self.mine[0][numbers[0]], step.given[0])
        return Proved(first, gave, needed, _in_words(step), **known)

    def _inputs(self, number):
        """The names that a place is made of and no step is, where they were given values that depend on the input."""
        arguments = self.cases[0].keys()
        foreign = [
            self.places[part]
            for part in self._parts(number)
            if part not in self.right | self.unknown and not self._is_of_steps(self.vectors[part])
        ]
        return tuple(dict.fromkeys(part.text for part in foreign if part.is_name and part.text not in arguments))

    def _order(self, candidate):
        """Order the innermost first, of a helper before its call, alone before together, an argument before a value, and what has words before that."""
        numbers, step = candidate
        return self._size(numbers[0]), -numbers[0], len(numbers), not step.name, not step.meaning

    def _mended(self, candidates, cases):
        """Return those with which the results on these cases are right."""
        exchanges = [(list(numbers), step.given[: len(cases)]) for numbers, step in candidates]
        given = self.ask(cases, self._seconds(), exchanges=exchanges)
        return [
            each
            for each, values in zip(candidates, given, strict=False)
            if len(values) == len(cases)
            and all(
                value is not None and self.close(value, right)
                for value, right in zip(values, self.results, strict=False)
            )
        ]

    def _candidates(self):
        """Yield places that are not right, alone and with all of the same text, each with a step that could stand there."""
        texts: dict[str, list[int]] = {}
        for number, place in enumerate(self.places):
            if not (
                number in self.right or self._is_result(number) or self._only_begins(number) or self._only_asks(number)
            ):
                texts.setdefault(place.text, []).append(number)
        groups = [(number,) for numbers in texts.values() for number in numbers]
        groups += [tuple(numbers) for numbers in texts.values() if len(numbers) > 1]
        for numbers in groups:
            for step in self.useful:
                if all(self._fits(number, step) for number in numbers):
                    yield numbers, step

    def _fits(self, number, step):
        mine = [given[number] for given in self.mine]
        if any(theirs is None for theirs in step.given) or _same(self.vectors[number][:1], step.vectors):
            return False
        return all(
            ours is not None and len(ours) == len(theirs) and all(map(_is_of_one_kind, ours, theirs))
            for ours, theirs in zip(mine, step.given, strict=False)
        )

    def _is_result(self, number):
        """Whether this is all that the answer gives: to exchange that proves nothing."""
        mine = [given[number] for given in self.mine]
        return all(
            given and len(given) == 1 and self.close(given[0], value)
            for given, value in zip(mine, self.values, strict=True)
        )

    def _only_begins(self, number):
        """Whether this is where a search begins: infinity, or what a loop changes."""
        return self.places[number].begins or all(mine is None or np.isinf(mine).all() for mine in self.vectors[number])

    def _only_asks(self, number):
        """Whether this is a choice made of values of which some are not right: it is those that are wrong."""
        parts = self.places[number].parts
        return self._are_choices and self._is_asked(number) and not {*parts} <= self.right | self.unknown

    def _tells(self, step):
        """Whether a step can be sent, and choices that come out right are no accident of it: of an argmax, say."""
        sizes = [np.size(result) for result in self.results]
        one_by_one = len(set(sizes)) > 1 and sum(sizes) >= MANY  # as bits that are flipped
        return step.is_small and (not self._are_choices or one_by_one or all(map(_is_whole, step.vectors)))

    @cached_property
    def _are_choices(self):
        """Whether all results are choices, truth values say, which may be right by accident."""
        return all(_is_whole(result) and (isinstance(result, bool) or np.ndim(result)) for result in self.results)

    @cached_property
    def _are_picked(self):
        """Whether each result is an entry of an argument: what is compared to pick it may be off by what changes no order."""
        lists = [[_vector([each]) for each in case.values() if np.ndim(each) == 1] for case in self.cases]
        return all(
            np.ndim(result) == 0 and any(each is not None and result in each for each in of_case)
            for result, of_case in zip(self.results, lists, strict=True)
        )

    def _is_given_back(self, step):
        """Whether a step is the right result, or a number of it: then a place that needs it is wrong as a whole."""
        results = [[result, *(result if isinstance(result, (tuple, list)) else ())] for result in self.results]
        return any(
            all(
                len(given) == 1 and _same([_vector(given)], [_vector([parts[k]])])
                for given, parts in zip(step.given, results, strict=True)
            )
            for k in range(min(map(len, results)))
        )

    def _is_whole_result(self, step):
        """Whether a step gives, by and by, all entries of the result, in one of OTHER_FORMS: then the answer is wrong there as a whole."""
        results = [_vector([result]) for result in self.results]
        with np.errstate(all="ignore"):
            forms = ([None if each is None else form(each) for each in results] for form in OTHER_FORMS)
            return any(_same(step.vectors, form) for form in forms)

    def _size(self, number):
        """How much a place is made of; a name is made of what was given to it elsewhere."""
        place = self.places[number]
        return (place.is_name, 1 + sum(self._size(part)[1] for part in place.parts))

    # ---- without a proof

    def left(self):
        """The first place whose values are in no right answer, where what it is made of is: to begin otherwise is no fault.

        Nothing is said of a sum, a product or a quotient: a right answer may do the same in another order. Nor where a
        value before it may be wrong as well, since it is among many of a right answer and not known to be one of them.
        """
        known = {number for number in range(len(self.places)) if self._is_known(number)}
        trusted, right = self.tools.union(known, *(set(self._parts(number)) for number in known)), None
        for number, place in enumerate(self.places):
            if number in known and self._is_computed(number):
                right = place
            if number in trusted or self._is_asked(number) or not place.parts:
                continue  # what led to something right is no fault, and what only asks is none by itself
            if _prepares(place.text):  # nor is what only puts values together: it is as good as they are
                if trusted.issuperset(place.parts):
                    trusted.add(number)
                continue
            if self._is_another_way(number):
                continue
            first = trusted.issuperset(place.parts) and self._goes_on(number, known) and number not in self.unseen
            is_told = first and _kind(place.text) != ARITHMETIC and not self._is_of_steps(self.vectors[number])
            return Left(place, right) if is_told else None
        return None

    def unread(self):
        """Of a choice, which changes too seldom to show it: the arguments that all right answers read and this one, where
        that is certain, under no name."""
        if not self._are_choices or self.unknown - self.tools or len(self.places) >= MOST_PLACES:
            return None
        texts = {place.text for place in self.places}
        given = [step for step in self.steps if step.name]
        missing = [
            step.name
            for step in given
            if step.name not in texts and len(step.ways) == self.ways
            and all(each is not None for each in step.vectors)
            and not any(_holds(mine, step.vectors) for mine in self.vectors)
        ]  # fmt: skip
        by_name = sum(step.name in texts for step in given)
        return Unread(tuple(missing)) if missing and 2 * by_name >= len(given) else None

    def turned(self):
        """The last condition that goes with being wrong, on all cases; it need not be the reason, but what is done then is all that differs."""
        _, *given = self.ask(self.cases, self._seconds(), exchanges=[]) or [[]]
        if self._are_choices or len(given) < len(self.cases):
            return None
        wrong = [not self.close(*pair) for pair in zip(self.every_value, self.results, strict=True)]
        if wrong.count(True) < LEAST_TURNED or wrong.count(False) < LEAST_TURNED:
            return None
        for number in reversed(range(len(self.places))):
            truths = [_truths(each[number]) for each in given]
            if any(each is None for each in truths):
                continue
            for is_true in (True, False):
                if [is_true in each for each in truths] == wrong:
                    return Turn(self.places[number], is_true)
        return None

    def how_far(self):
        """The first step in words that the answer has not, of the right answer of which it has most; the last one, where it has them all."""
        wrong = [i for i, is_wrong in enumerate(self.is_wrong) if is_wrong]
        told = [step for step in self.steps if self._is_told(step, wrong)]
        found = {id(step): self._where(step, wrong) for step in told}
        ways = [[step for step in told if way in step.ways] for way in {way for step in told for way in step.ways}]
        if not ways:
            return None
        way = max(ways, key=lambda way: sum(found[id(step)] is not None for step in way) / len(way))
        lacking = next((step for step in way if found[id(step)] is None), None)
        if lacking is None:
            is_one = not isinstance(self.results[0], (tuple, list))
            often_right = sum(map(self.close, self.every_value, self.results)) > len(self.results) / 2
            if often_right or not is_one:
                return None  # it may be what is right anyhow
            last = max(found[id(step)] for step in way)
            step = next(step for step in way if found[id(step)] == last)
            return Reached(self.places[last], say(step.meaning)) if last >= 0 else None
        rest = [number for number in range(len(self.places)) if number not in self.tools]
        is_known = all(self.mine[i][number] is not None for i in wrong for number in rest)
        is_there = _is_among(_once(lacking.vectors[wrong[0]]), self._mine_on(wrong[0]))  # on the input shown
        first = lacking.given[0]
        is_short = len(first) == 1 and np.ndim(first[0]) < 2
        return Lacks(say(lacking.meaning), first[0] if is_short else None, is_known and not is_there)

    def _is_told(self, step, wrong):
        """Whether a step has words and numbers on these cases, and is neither an argument nor the result."""
        known, results = [step.vectors[i] for i in wrong], [_vector([self.results[i]]) for i in wrong]
        is_result = self._is_given_back(step) or _same(known, results)  # there: elsewhere the result may be cut
        return bool(step.meaning) and not step.name and not is_result and _is_evidence(known) and all(
            each is not None and each.size and np.isfinite(each).all() for each in known
        )  # fmt: skip

    def _where(self, step, wrong):
        """The number of the last place that computes a step's values on these cases, in one of OTHER_FORMS; -1 where only some place has each; else None."""
        theirs = [_once(step.vectors[i]) for i in wrong]
        with np.errstate(all="ignore"):
            computed = sorted(range(len(self.places)), key=lambda i: (self.places[i].is_name, -i))
            for form, number in itertools.product(OTHER_FORMS, computed):  # as it is, before any other form
                mine = [self.vectors[number][i] for i in wrong]
                if all(each is not None for each in mine) and _same([_once(form(each)) for each in mine], theirs):
                    return number
            among = all(_is_among(each, self._mine_on(i)) for each, i in zip(theirs, wrong, strict=True))
        return -1 if among else None

    def _mine_on(self, i):
        """All numbers that the answer has on a case, in each of OTHER_FORMS."""
        known = [each for each in (vectors[i] for vectors in self.vectors) if each is not None]
        numbers = np.unique(np.concatenate([np.zeros(0), *known]))
        with np.errstate(all="ignore"):
            return np.unique(np.concatenate([form(numbers) for form in OTHER_FORMS]))

    @cached_property
    def is_wrong(self):
        """For each case that is recorded whether the answer is wrong there."""
        return [not self.close(*pair) for pair in zip(self.values, self.results, strict=False)]

    @cached_property
    def unseen(self):
        """The places of which it is not known what they gave on some case on which the answer is wrong."""
        return {
            number
            for number in range(len(self.places))
            if any(given[number] is None for given, wrong in zip(self.mine, self.is_wrong, strict=True) if wrong)
        }

    def _is_known(self, number):
        """Whether a place has, in one of OTHER_FORMS, the values of one step, all and in their order, also where the answer is wrong."""
        mine, wrong = self.vectors[number], self.is_wrong
        if any(step.name == self.places[number].text and _same(mine, step.vectors) for step in self.steps if step.name):
            return True  # the argument itself
        where_wrong = [vector for vector, is_wrong in zip(mine, wrong, strict=True) if is_wrong and vector is not None]
        if number in self.unseen or not _is_evidence(where_wrong):
            return False
        with np.errstate(all="ignore"):
            forms = [[None if each is None else _once(form(each)) for each in mine] for form in OTHER_FORMS]
        return any(_same(form, step) for form in forms for step in self.of_each_step)

    @cached_property
    def of_each_step(self):
        """What each step gives on the cases that are recorded; once where it gives the same again and again."""
        vectors = [step.vectors[: len(self.mine)] for step in self.steps]
        return [[None if each is None else _once(each) for each in vector] for vector in vectors]

    def _goes_on(self, number, known):
        """Whether a place computes something, or goes on from a computed value that is right; else it may be another beginning."""
        kind = _kind(self.places[number].text)
        from_right = any(part in known and self._is_computed(part) for part in self._parts(number))
        return kind != UNARY and (kind == CALL or from_right)

    def _is_another_way(self, number):
        """Whether it is in no right answer on inputs either on which this answer is right."""
        return any(mine[number] and not _is_among(_vector(mine[number]), numbers) for mine, numbers in self.where_right)

    @cached_property
    def where_right(self):
        """What each place gives on some inputs on which the answer is right, and the numbers of right answers there."""
        if self._are_choices:
            return []
        pairs = zip(self.every_value, self.results, strict=True)
        good = [i for i, (value, right) in enumerate(pairs) if self.close(value, right) and _is_not_cut(right)]
        good = good[:RECORDED]
        watched = good and self.ask([self.cases[i] for i in good], self._seconds(), exchanges=[])
        given = zip(watched[1:], good, strict=False)
        return [(mine, self._numbers(i)) for mine, i in given if len(mine) == len(self.places)]

    def _is_of_steps(self, vectors):
        """Whether all that a place gives, in a loop by and by, is among what the steps of a right answer give."""
        found = [
            (mine, theirs)
            for mine, theirs in zip(vectors, self.of_steps, strict=False)
            if mine is not None and mine.size
        ]
        return bool(found) and all(_is_among(mine, theirs) for mine, theirs in found)

    @cached_property
    def of_steps(self):
        """For each case that is recorded all numbers that are in the steps."""
        return [self._numbers(i) for i in range(len(self.mine))]

    def _numbers(self, i):
        small = [step.vectors[i] for step in self.steps if step.is_small and step.vectors[i] is not None]
        return np.unique(np.concatenate([*small, np.zeros(0)]))

    def _is_computed(self, number):
        place = self.places[number]
        return bool(place.parts) and not (place.is_name or self._is_asked(number))

    def _parts(self, number):
        for part in self.places[number].parts:
            yield part
            yield from self._parts(part)

    def _is_asked(self, number):
        """Whether a place gives truth values."""
        return all(
            given[number] is None or all(np.asarray(each).dtype.kind == "b" for each in given[number])
            for given in self.mine
        )


def _truths(given):
    """The truth values among what a place gave in one call; None where it gave anything else, or it is not known what."""
    if given is None or any(np.asarray(each).dtype.kind != "b" for each in given):
        return None
    return {bool(one) for each in given for one in np.ravel(each)}


def _kind(text):
    """Whether an expression is a CALL that computes something, has a sign only, or is ARITHMETIC of two values."""
    with contextlib.suppress(SyntaxError):  # it may be cut
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.UnaryOp):
            return UNARY
        if isinstance(tree, ast.BinOp) and not isinstance(tree.op, ast.Pow):
            return ARITHMETIC
        if isinstance(tree, ast.Call):
            return None if ast.unparse(tree.func).rpartition(".")[2] in PREPARES else CALL
    return None


def _prepares(text):
    """Whether an expression computes nothing: it puts values into one, or takes one in another form."""
    with contextlib.suppress(SyntaxError):  # it may be cut
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Call):
            return ast.unparse(tree.func).rpartition(".")[2] in PREPARES
        return isinstance(tree, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred))
    return False


def _is_tool(place):
    """Whether it names what a library or Python offers, as `np.linalg`, `stats.norm` or `float`, if it has no value."""
    names = place.text.split(".")
    return not place.parts and (names[0] in vars(builtins) or (len(names) > 1 and all(map(str.isidentifier, names))))


def sound_places(listed: Sequence) -> list[Place]:
    """Return the places, which come from where a learner's code runs. Raises ValueError where they are no trees."""
    places: list[Place] = []
    used: set[int] = set()
    for number, (text, line, parts, begins) in enumerate(listed[:MOST_PLACES]):
        if not all(part in range(number) and part not in used for part in parts):
            raise ValueError("a place is made of earlier ones, each of them once")
        used.update(parts)
        places.append(Place(one_line(str(text), LONGEST), int(line), tuple(parts), begins is True))
    return places


def _in_words(step):
    meaning = say(step.meaning) if step.meaning else ""
    if not step.name:
        return meaning
    if meaning:
        return say("`{name}` as it was given, {meaning}", name=step.name, meaning=meaning)
    return say("`{name}` as it was given", name=step.name)


def _steps(functions: Iterable[Callable], cases, means) -> list[Step]:
    """Return what the expressions of right answers give on the cases, of those that give the same one; the arguments first."""
    names = [name for name in cases[0] if name not in ("rng", "ledger")]
    found = [Step([[case[name]] for case in cases], name, means.get(name, "")) for name in names]
    for way, function in enumerate(functions):
        watched = watched_right(function)
        given = [watched.steps(list(arguments(case))) for case in cases]
        for number, place in enumerate(watched.places):
            step = Step([each[number] for each in given], meaning=means.get(place.text, ""), ways=(way,))
            known = next((i for i, other in enumerate(found) if _same(step.vectors, other.vectors)), None)
            if known is None and all(each is not None for each in step.vectors):
                found.append(step)
            elif known is not None:
                meaning, ways = found[known].meaning or step.meaning, {*found[known].ways, way}
                found[known] = replace(found[known], meaning=meaning, ways=tuple(sorted(ways)))
    return found


def watched_right(function: Callable) -> Watched:
    """Return a right answer, watched with all that it calls of the exercises."""
    return Watched(function, lambda other: other.__module__.startswith("dpcourse.course."), MOST_OF_STEP)


def _vector(given: list | None) -> np.ndarray | None:
    """Return all that a place gave in one call, as one vector; None where that is not known."""
    if not given:
        return None
    try:
        return np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in given])
    except (TypeError, ValueError):
        return None


def _once(vector):
    """A vector, or its first number where all are the same: it may have been computed once or in each round."""
    return vector[:1] if vector.size and (vector == vector[0]).all() else vector


def _is_evidence(vectors):
    """Whether these numbers, of several cases, are none that another has by accident: not whole, or of several kinds."""
    fractions = any((vector != np.round(vector)).any() for vector in vectors)
    return bool(vectors) and (fractions or len({vector.tobytes() for vector in vectors}) >= LEAST_DIFFERENT)


def _same(mine, theirs):
    known = [(a, b) for a, b in zip(mine, theirs, strict=False) if a is not None or b is not None]
    return bool(known) and all(
        a is not None and b is not None and a.shape == b.shape and np.allclose(a, b, RTOL, ATOL, equal_nan=True)
        for a, b in known
    )


def _is_among(mine, numbers):
    """Whether all of a vector is among these numbers, as far as it is looked at."""
    if mine is None or mine.size > MOST_ENTRIES:
        return True
    return bool(np.isclose(mine[:, None], numbers, RTOL, ATOL).any(axis=1).all())


def _holds(mine, theirs):
    """Whether all numbers of each of theirs are in mine."""
    pairs = zip(mine, theirs, strict=False)
    return all(one is not None and _is_among(other, np.unique(one)) for one, other in pairs)


def _is_not_cut(result):
    """Whether a result is not 0, to which whatever is wrong may be cut."""
    vector = _vector(result if isinstance(result, (tuple, list)) else [result])
    return vector is None or bool(vector.any())


def _is_of_one_kind(one, other):
    """Whether values have one shape, and both are truth values or neither."""
    kinds = {np.asarray(each).dtype.kind == "b" for each in (one, other)}
    return np.shape(one) == np.shape(other) and len(kinds) == 1


def _is_whole(value):
    """Whether all numbers of a value are whole."""
    array = np.asarray(value, dtype=float)
    return bool((array == np.round(array)).all())


def _entry_apart(mine: Any, theirs: Any) -> tuple[int, float, float] | None:
    """The first entry at which two long lists of numbers differ, with both; None where they are not alike in length, or not long."""
    one, other = (_vector([each]) if np.ndim(each) == 1 else None for each in (mine, theirs))
    if one is None or other is None or one.size != other.size or one.size <= SHOWN:
        return None
    apart = np.flatnonzero(~np.isclose(one, other, RTOL, ATOL, equal_nan=True))
    return (int(apart[0]), float(one[apart[0]]), float(other[apart[0]])) if apart.size else None


def _first_apart(mine, theirs):
    """The first two values that differ, of a place and of a step; nothing of a place whose values are not known."""
    for one, other in zip(mine or (), theirs, strict=False):
        if not _same([_vector([one])], [_vector([other])]):
            return one, other
    return None, theirs[0]
