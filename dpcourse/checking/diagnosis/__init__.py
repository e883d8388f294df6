"""Why an answer is wrong: the simplest explanation that agrees with the answer on all cases, fresh ones among them.

There are five sources, in the order of trust: the answer is right for other inputs; the right answer was changed
afterwards; one change of the answer makes it right (repair); one expression of it is wrong, and all else is right (place);
a right program with one slip gives the same. Where no source explains the answer, what can be measured is said, and where it leaves the way; else the
smallest input that fails is shown. An explanation must agree on all inputs, at least LEAST, of which all but the first few were drawn after the answer was
found wrong. As a rule of thumb, not a proof: two functions that differ agree on one such input by chance with probability 1e-6 (the
tolerance) where results are real numbers, and often where they are truth values or small whole numbers, of which there
are then at least LEAST_OF_FEW. What agrees by algebra agrees on all inputs; of two such the cheaper is told.
"""

import functools
import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcourse.base.languages import Said, counted, listed, say, sentences, to_say
from dpcourse.checking.calling import limits
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import plain
from dpcourse.checking.diagnosis import inputs, measurement, mutants, place, repair, results, surprises
from dpcourse.checking.diagnosis.series import Part, as_arrays, called, features, part_of, parts
from dpcourse.checking.diagnosis.words import AFTER, ALONE, EXPLAINING, SENTENCES, Change, Fact, cost, sentence
from dpcourse.checking.domain import key

SECONDS, FOR_MUTANTS, FOR_ANSWERS, FOR_DEPENDENCE = 2.6, 1.6, 0.9, 0.8
MOST, MOST_OF_FEW, DRAWS = 12, 40, 40
LEAST, LEAST_OF_FEW = 5, 20  # cases that differ; with fewer, nothing is explained
LEAST_PAIRS, MOST_PAIRS = 3, 6
"""In so many the right result changes before an answer is said not to depend on an argument; on an end of a list, or where some results are right."""
EXPLANATION, PLACE, MEASUREMENT, CASE = "explanation", "place", "measurement", "case"
OF_WHOLE_NUMBERS = to_say(
    "Your result is an array of whole numbers, and the right one has fractions: what is put into such an array is cut. Was it "
    "made with `dtype=int`, or like an array of whole numbers?"
)
FEW = 5
MOSTLY = 0.8  # of the results of an answer
FRESH, FOR_FRESH = (
    40,
    0.4,
)  # cases of each kind from all over the domain on which what seems to mend an answer is tried, and seconds to draw them
ELSEWHERE = to_say("On another input than the one shown: {told}")
RIGHT_ENDS = {  # whether the first entry, and the last one, is right on all inputs
    (True, True): to_say("Its first and its last entry are right on all inputs tried."),
    (True, False): to_say("Its first entry is right on all inputs tried, its last one is not."),
    (False, True): to_say("Its last entry is right on all inputs tried, its first one is not."),
}
PLACED_WRONG, PLACED_RIGHT = 8, 12  # cases by which a place is found, where the answer is right on some
HEAD = 3  # cases on which a candidate is tried first
ENOUGH = 1.2  # what an explanation costs beside which nothing further is looked for
OF_INPUTS = 1.9  # and one beside which of the answer's own text only its loops are looked at


@dataclass(frozen=True)
class Diagnosis:
    """What was found: the message, and by what; cases: on how many it agrees, or was measured. seen: the input that it speaks of."""

    message: str
    found_by: str
    cases: int = 0
    seen: str = ""


@dataclass(frozen=True)
class Candidate:
    """A way to come by an answer: changes that explain one of its numbers. told: a misconception's message."""

    changes: tuple[Change, ...]
    told: str = ""

    @property
    def cost(self) -> float:
        return cost(self.changes)


def diagnose(
    exercise,
    cases: list[dict],
    values: list,
    ask: Callable[[list[dict], float], list] | None,
    rng,
    watch: Callable[..., list] | None = None,
    numbers: Sequence[float] = (),
) -> Diagnosis | None:
    """Return the Diagnosis of a wrong answer; None where there is nothing to say.

    exercise: with draw, reference, formulas, misconceptions, rtol, atol and folder. ask(cases, seconds): what the answer gives on further cases,
    as far as it gives anything in that time; None where it cannot be asked, and then nothing is said but what is measured.
    watch(cases, seconds, exchanges): what its expressions give, see Probe.watch; None where they cannot be watched.
    numbers: those that are written in it.
    """
    search = _Search(exercise, list(cases), list(values), ask, np.random.default_rng(rng), watch, numbers)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return search.result()


def in_its_text(exercise, cases: list[dict], values: list, watch: Callable[..., list]) -> Diagnosis | None:
    """Return what in the text of a wrong answer is proved to be wrong; None where nothing is, and no other reason is looked for.

    The reference is called on these cases, and on no others: it may be one that would not end on them.
    """
    search = _Search(exercise, cases, values, None, None, watch)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return search.in_its_text()
        except Exception:  # what comes from a learner's process may be anything
            return None


def first_not_finite(case: dict, value, watch: Callable[..., list]) -> str | None:
    """Return in a sentence where an answer first gave what is no finite number; None where its result is finite, or that is not known."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            given = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in as_arrays(value) or []])
            return None if np.isfinite(given).all() else surprises.not_finite(case, watch)
        except Exception:  # what comes from a learner's process may be anything
            return None


def dependence(exercise, cases: list[dict], values: list, ask: Callable[[list[dict], float], list]) -> list[str]:
    """Return on which arguments an answer does not depend, in at most one sentence; the reference is called on such cases too."""
    search = _Search(exercise, cases, values, ask, None, None)
    search.clock = limits.Clock(FOR_DEPENDENCE)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [fact.text for fact in search._dependence() if fact.kind == "independent"]


class _Search:
    def __init__(self, exercise, cases, values, ask, rng, watch, numbers=()):
        self.exercise, self.cases, self.values, self.ask, self.watch = exercise, cases, values, ask, watch
        self.clock, self.rng, self.numbers = limits.Clock(SECONDS), rng, numbers
        self.first_cases, self.enough = cases, False
        self.parts: list[Part] = []
        self.place: place.Proved | place.Left | place.Unread | place.Turn | place.Lacks | place.Reached | None = None
        self.repair: repair.Repair | None = None

    def result(self):
        if self.ask is not None:
            self._draw_further()
        right = [self._given(self.exercise.reference, case) for case in self.cases]
        keep = [i for i, value in enumerate(right) if value is not None]
        self.cases, self.values, right = ([each[i] for i in keep] for each in (self.cases, self.values, right))
        self.right = right
        if not self.cases:
            return None
        names = getattr(self.exercise.returns, "names", ())
        self.parts = parts(self.values, right, self.exercise.rtol, self.exercise.atol, names)
        if not self.parts:
            return self._of_shapes(right, names)
        self.described = features(self.cases)
        self.best: list[Candidate | None] = [Candidate(()) if part.agrees.all() else None for part in self.parts]
        if self._are_cut_to_whole_numbers(right):
            return Diagnosis(say(OF_WHOLE_NUMBERS), EXPLANATION, len(self.cases))
        if self.ask is not None and self.enough:
            self._explain(right)
        return self._told()

    def in_its_text(self):
        right = [self._given(self.exercise.reference, case) for case in self.cases]
        is_choice = all(isinstance(value, int) for value in right)
        self.repair = self._repair(
            right, [kind for kind in repair.FAULTS if not is_choice or kind not in repair.OF_SIZE]
        )
        if self.repair is not None and self.repair.mends:
            return Diagnosis(self.repair.text, PLACE, len(self.cases))
        found = self._place(right)
        if not isinstance(found, place.Proved) or found.is_result:
            return None
        if not found.meaning:  # it may be what is drawn: of that no value is needed
            return Diagnosis(replace(found, gave=None, needed=None).text, MEASUREMENT, len(self.cases))
        return Diagnosis(found.text, PLACE, len(self.cases))

    def _of_shapes(self, right, names):
        """Return what is said of arrays that have not as many entries as they should: what mends that; else of which, and where it begins."""
        self.repair = self._repair(right)
        if self.repair is not None and self.repair.mends:
            return Diagnosis(self.repair.text, PLACE, len(self.cases))
        pairs = [(as_arrays(value), as_arrays(wanted)) for value, wanted in zip(self.values, right, strict=True)]
        if any(mine is None or theirs is None or len(mine) != len(theirs) for mine, theirs in pairs):
            return None
        told = [] if self.repair is None else [self.repair.text]
        for k, name in enumerate(called(len(pairs[0][1]), names)):
            counts = [(len(mine[k]), len(theirs[k])) for mine, theirs in pairs if len(mine) > k]
            apart = next((count for count in counts if count[0] != count[1]), None)
            if apart:
                entries = _of_entries(name, *apart)
                told.append(entries if counts[0] == apart else say(ELSEWHERE, told=entries))
                told += self._of_ends([(mine[k], theirs[k]) for mine, theirs in pairs if len(mine) > k])
        told += [fact.text for fact in self._dependence()]
        self.place = self._place(right)
        if self.place is not None:
            told.append(self.place.text)
        found_by = PLACE if isinstance(self.place, place.Proved) else MEASUREMENT
        return Diagnosis(sentences(told), found_by, len(self.cases)) if told else None

    def _of_ends(self, pairs):
        """Yield which end of an array is always right, where something of it is."""
        pairs = [(mine, theirs) for mine, theirs in pairs if len(mine) and len(theirs)]
        first, last = (all(self.exercise.is_close(float(a[end]), float(b[end])) for a, b in pairs) for end in (0, -1))
        if pairs and (told := RIGHT_ENDS.get((first, last))):
            yield say(told)

    def _are_cut_to_whole_numbers(self, right):
        """Whether what is wrong are arrays that hold whole numbers by their type, where others are right."""
        pairs = [pair for value, wanted in zip(self.values, right, strict=True) for pair in _arrays(value, wanted)]
        wrong = [
            (array, wanted) for array, wanted in pairs if array.shape == wanted.shape and not np.allclose(array, wanted)
        ]
        return bool(wrong) and all(
            array.dtype.kind in "iu" and wanted.dtype.kind == "f" and (wanted != np.round(wanted)).any()
            for array, wanted in wrong
        )

    # ---- further cases

    def _draw_further(self):
        """Draw cases until there are enough, and ask the answer."""
        most = MOST_OF_FEW if self._few_values() else MOST
        known = set(map(key, self.cases))
        further, clock = [], limits.Clock(FOR_ANSWERS / 2)
        for _ in range(DRAWS):
            if len(known) >= most or clock.left() <= 0:
                break
            for case in self.exercise.draw(self.rng):
                if (this := key(case)) not in known:
                    known.add(this)
                    further.append(case)
        given = self._answers(further)
        self.enough = len(self.first_cases) + len(given) >= (LEAST_OF_FEW if self._few_values() else LEAST)
        self.cases += further[: len(given)]
        self.values += given

    def _answers(self, cases):
        """Return what the answer gives on these, up to the first on which it fails."""
        if not cases:
            return []
        try:
            return list(self.ask(cases, min(FOR_ANSWERS, max(0.0, self.clock.left()))))
        except Exception:
            return []

    def _few_values(self):
        return all(
            isinstance(item, (bool, int))
            for value in self.values
            for item in (value if isinstance(value, (list, tuple)) else [value])
        )

    def _are_whole(self):
        return all(map(_is_whole_by_type, self.values))

    def _may_agree_by_chance(self):
        """Whether each result is one whole number or truth value, or few of them."""
        return self._few_values() and all(np.size(value) <= FEW for value in self.values)

    def _is_nearly_always_the_same(self):
        """Whether one result comes so often that another input would give it too, whatever the answer depends on."""
        counts = Counter(map(repr, self.values))
        return max(counts.values()) > MOSTLY * len(self.values)

    def _given(self, function, case):
        try:
            return plain(function(*arguments(case)))
        except Exception:
            return None

    # ---- explanations

    def _explain(self, right):
        self.heads = [_head(part) for part in self.parts]
        self.repair = self._repair(right, repair.FIRST)
        if self.repair is not None:
            return
        self._try(right, (), fitted=True)
        self._bounds(missing=True)
        self._arguments_themselves()
        if self._done():
            return
        for change, changed in inputs.changes(self.cases, self.numbers):
            if self.clock.left() <= 0:
                break
            self._try_function(self.exercise.reference, (change,), changed)
        for misconception in self.exercise.misconceptions:
            if misconception.recognise is None and self.clock.left() > 0:
                self._try_function(misconception.code, (Change("misconception"),), told=misconception.message)
        if not self._done():
            self.repair = self._repair(right, repair.OF_LOOPS if self._is_simple() else repair.FAULTS)
            if self.repair is not None and self.repair.mends:
                return
            self._bounds(missing=False)
            self.place = self._place(right)
            if not (isinstance(self.place, place.Proved) and self.place.tells):
                self._try_mutants()

    def _try_mutants(self):
        clock = limits.Clock(min(self.clock.left(), FOR_MUTANTS))
        for written in (*self.exercise.formulas, self.exercise.reference):
            for change, function in mutants.Program(written).mutants(self.exercise.folder):
                if clock.left() <= 0:
                    return
                self._try_function(function, (change,))

    def _try_function(self, function, changes, changed=lambda case: case, told=""):
        """Try what a function gives on the cases, changed or not: on the first few, then on all."""
        outputs = []
        for i, case in enumerate(self.cases):
            try:
                outputs.append(plain(function(*arguments(changed(case)))))
            except Exception:
                return
            if i + 1 == HEAD and not self._promising(outputs, changes):
                return
        self._try(outputs, changes, told=told)

    def _promising(self, outputs, changes):
        """Return whether these first outputs may explain a number that is not explained so cheaply yet."""
        for k, head in enumerate(self.heads):
            if self._open(k, cost(changes)):
                numbers = part_of(outputs, k, head)
                if numbers is not None and results.change(head, numbers, {}, False, _after(changes)) is not None:
                    return True
        return False

    def _open(self, k, least):
        return self.best[k] is None or self.best[k].cost > least

    def _leaves_right(self, outputs):
        """Whether what is right of several numbers is right in these outputs too."""
        right = [(k, part) for k, part in enumerate(self.parts) if part.agrees.all()]
        return all(
            (numbers := part_of(outputs, k, part)) is not None
            and np.allclose(numbers, part.wanted, part.rtol, part.atol)
            for k, part in right
        )

    def _try(self, outputs, changes, fitted=False, told=""):
        if told and not self._leaves_right(outputs):
            return
        for k, part in enumerate(self.parts):
            if not self._open(k, cost(changes)) or (part.is_constant and np.ptp(part.wanted) > 0):
                continue
            numbers = part_of(outputs, k, part)
            if numbers is None:
                continue
            after = results.change(part, numbers, self.described, fitted, _after(changes))
            if after is not None and self._open(k, cost((*changes, *after))):
                self.best[k] = Candidate((*changes, *after), told)
        if fitted and len(self.parts) > 1:
            self._exchanged()

    def _bounds(self, missing):
        """Try the right result, not cut at an end, or else cut there: what cuts it may be told by its place."""
        for k, part in enumerate(self.parts):
            found = results.bounds(part, self.described, missing) if self.best[k] is None else ()
            if found:
                self.best[k] = Candidate(found)

    def _arguments_themselves(self):
        """Try an argument, returned as it is; its sum, its largest entry, their number."""
        for words, values in self.described.items():
            for k, part in enumerate(self.parts):
                if (
                    isinstance(words, Said)
                    and np.ptp(values) > 0
                    and self._open(k, 1.05)
                    and part.same(part.of_cases(values))
                ):
                    self.best[k] = Candidate((Change("is feature", {"what": words}),))
        for name in self.cases[0]:
            outputs = [case[name] for case in self.cases]
            for k, part in enumerate(self.parts):
                try:
                    numbers = np.concatenate([np.atleast_1d(np.asarray(value, dtype=float)) for value in outputs])
                except (TypeError, ValueError):
                    break
                lengths = [np.size(value) for value in outputs]
                if lengths == part.lengths and self._open(k, 1.0) and part.same(numbers):
                    self.best[k] = Candidate((Change("is argument", {"one": name}),))
        for k, part in enumerate(self.parts):
            few = (part.yours == np.round(part.yours)).all()  # a formula for whole numbers is soon found
            if self.best[k] is None and not few and (change := results.formula(part, self.described)):
                self.best[k] = Candidate((change,))

    def _exchanged(self):
        """Try numbers of a tuple that stand in each other's place."""
        alike = [[j for j, other in enumerate(self.parts) if part.same(other.wanted)] for part in self.parts]
        if all(len(each) == 1 for each in alike) and len({each[0] for each in alike}) == len(self.parts):
            order = listed((part.name for part in self.parts), "{first}, {then}")
            self.best = [Candidate((Change("exchanged results", {"order": order}),))] * len(self.parts)

    def _done(self):
        return all(best is not None and best.cost <= ENOUGH for best in self.best)

    def _is_simple(self):
        """Whether it is explained by what was done to the right result, or by one of the inputs."""
        return all(
            best is not None and (best.cost <= OF_INPUTS or {change.kind for change in best.changes} <= ALONE.keys())
            for best in self.best
        )

    # ---- where

    def _place(self, right):
        """Return where the answer leaves the way, see `place`; None where that cannot be said."""
        if self.watch is None:
            return None
        close = self.exercise.is_close
        wrong = [not close(*pair) for pair in zip(self.values, right, strict=True)]
        order = sorted(range(len(wrong)), key=lambda i: not wrong[i])  # first the input that is shown
        rest = order[PLACED_WRONG:]
        order = order[:PLACED_WRONG] + rest[:: 1 + len(rest) // PLACED_RIGHT]  # of all kinds that there are
        cases, values = ([each[i] for i in order] for each in (self.cases, self.values))
        try:
            functions = (self.exercise.reference, *self.exercise.formulas)
            return place.found(functions, cases, values, self.watch, close, self.exercise.means)
        except Exception:  # what comes from a learner's process may be anything
            return None

    def _surprise(self, rules=surprises.RULES):
        """What the answer met where it is wrong and nowhere else, in at most one sentence, see `surprises`."""
        if self.watch is None:
            return []
        close = [self.exercise.is_close(*pair) for pair in zip(self.values, self.right, strict=True)]
        wrong, right = (
            [case for case, good in zip(self.cases, close, strict=True) if good is which] for which in (False, True)
        )
        try:
            told = surprises.found(wrong, right, self.watch, (self.exercise.reference, *self.exercise.formulas), rules)
        except Exception:  # what comes from a learner's process may be anything
            return []
        return [told] if told else []

    def _repair(self, right, kinds=repair.FAULTS):
        """Return the one change of the answer that mends it, or that takes a fault out of it which it has beside others."""
        if self.watch is None:
            return None
        if all(isinstance(value, bool) for value in right):
            kinds = {kind: told for kind, told in repair.FAULTS.items() if kind in kinds and kind not in repair.OF_SIZE}
        try:
            return repair.found(
                self.cases, self.values, right, self.watch, self.exercise.is_close, kinds, lambda: self._fresh
            )
        except Exception:  # what comes from a learner's process may be anything
            return None

    @functools.cached_property
    def _fresh(self):
        """Cases from all over the domain that nothing was looked for on, plain ones too, and what is right there; none without a domain."""
        domain = getattr(self.exercise, "domain", None)
        if self.ask is None or domain is None:
            return []
        found, clock = [], limits.Clock(FOR_FRESH)
        drawn = (itertools.islice(draw(self.rng), FRESH) for draw in (domain.searched, domain.plain, domain.more))
        for case in itertools.chain.from_iterable(drawn):  # each kind is drawn when the one before it is used up
            if clock.left() <= 0:
                break
            case = {name: case[name] for name in self.cases[0]}
            found.append((case, self._given(self.exercise.reference, case)))
        return [(case, value) for case, value in found if value is not None]

    # ---- words

    def _told(self):
        """Return the Diagnosis: explanations of what is wrong, or else what was measured."""
        if self.repair is not None and self.repair.mends:
            sure = self._surprise(surprises.SURE) if self.repair.kind in repair.WEAK else []
            told = sure or [self.repair.text]
            return Diagnosis(sentences([*self._good(), *told]), PLACE, len(self.cases))
        wrong = [k for k, part in enumerate(self.parts) if not part.agrees.all()]
        if not wrong:
            return None
        explained = all(self.best[k] is not None for k in wrong)
        if isinstance(self.place, place.Proved) and (self.place.tells or not explained):
            beside = [] if self.repair is None else [self.repair.text]
            beside += [] if self.place.meaning else self._surprise()
            return Diagnosis(sentences([*self._good(), *beside, self.place.text]), PLACE, len(self.cases))
        if explained:
            told = sentences([*self._surprise(surprises.SURE), self._sentences(wrong)])
            return Diagnosis(told, EXPLANATION, len(self.cases))
        surprise = self._surprise()
        dependence = [] if surprise else self._dependence()
        told = [*([] if self.repair is None else [self.repair.text]), *surprise]
        explained, measured = True, bool(dependence or told)
        for k in wrong:
            best = self.best[k]
            if best is not None:
                told.append(self._of(k, sentence(best.changes, best.told)))
            else:
                found = list(measurement.facts(self.parts[k], self.described, self.cases))
                if surprise:  # other facts go with it by accident
                    found = [fact for fact in found if fact.kind == "share"]
                told += [self._of(k, fact.text) for fact in found[:2]]
                measured = measured or any(fact.kind != "share" for fact in found[:2])
                explained = explained and any(fact.kind in EXPLAINING for fact in (*found[:2], *dependence))
        told += [fact.text for fact in dependence]
        if self.place is not None:
            told.append(self.place.text)
            measured = True
        if not told:
            return None
        good = list(self._good())
        found_by = EXPLANATION if explained and self.enough else MEASUREMENT if good or measured else CASE
        return Diagnosis(sentences([*good, *told]), found_by, len(self.cases))

    def _sentences(self, wrong):
        found = [(self.best[k].changes, self.best[k].told) for k in wrong]
        if len(wrong) == len(self.parts) and all(each == found[0] for each in found):
            return sentence(*found[0])  # one cause of all
        return sentences([*self._good(), *(self._of(k, sentence(*each)) for k, each in zip(wrong, found, strict=True))])

    def _good(self):
        """Yield which of several numbers are right, in a sentence; nothing where no number is."""
        good = [part.name for part in self.parts if part.agrees.all()]
        if good:
            yield counted("{names} is right.", "{names} are right.", count=len(good), names=listed(good))

    def _of(self, k, sentence):
        """Return the sentence, of one of several numbers."""
        return (
            say("{name}: {sentence}", name=self.parts[k].name, sentence=sentence) if len(self.parts) > 1 else sentence
        )

    def _dependence(self) -> list[Fact]:
        """Return on which arguments the answer depends, and how it grows: one argument is changed at a time."""
        if self.ask is None or len(self.cases) < 4 or self.clock.left() <= 0:
            return []
        mine = {id(case): value for case, value in zip(self.cases, self.values, strict=True)}
        few = self._may_agree_by_chance()
        if few and self._is_nearly_always_the_same():
            return []
        some = self.cases[:: 1 if few else max(1, len(self.cases) // (2 * MOST))]  # those too on which it is right
        independent, asked, arguments = list[str](), 0, {f"`{name}`" for name in self.cases[0]}
        for words, (argument, pairs) in measurement.variations(some, [*some[1:], some[0]]).items():
            of_all = words in arguments
            if argument in independent:
                continue
            if not of_all and self._are_whole():  # of many entries that seldom change, one
                continue
            is_read = few and of_all and argument.strip("`") in self._read
            if is_read:  # it is wrong where it should change, which need not be for this
                continue
            never_right = self.parts and not any(part.agrees.any() for part in self.parts)
            enough = 2 * MOST_PAIRS if few else LEAST_PAIRS if of_all and never_right else MOST_PAIRS
            still: list[bool] = []
            for old, new in pairs:
                if self.clock.left() <= 0:
                    break
                if len(still) == 2 * MOST_PAIRS or not all(still):
                    break
                right, before = (self._given(self.exercise.reference, case) for case in (new, old))
                if right is not None and not _same(right, before) and not _is_zero(mine[id(old)]):
                    # one at a time: on an impossible one the answer stops
                    still += [_same(value, mine[id(old)]) for value in self._answers([new])]
            asked += bool(still) and of_all
            if len(still) >= enough and all(still):
                independent.append(words)
        if asked and asked == sum(words in arguments for words in independent):
            return []  # it does not change at all, which is said already
        found = [*self._order(), *self._growth()]
        if independent:
            found.insert(0, Fact("independent", {"names": listed(independent)}))
        return found[:2]

    @functools.cached_property
    def _read(self):
        """The names that stand in the answer's text; none where it cannot be read."""
        try:
            listed, *_ = self.watch(self.cases[:1], self.clock.left(), exchanges=[]) if self.watch else [[]]
            return {each.text for each in place.sound_places(listed)}
        except Exception:  # what comes from a learner's process may be anything
            return set()

    def _order(self):
        """Yield the lists on whose order the answer depends, though what is right does not: lists of one length are turned round together.

        Where one of them always rises or falls, as losses on a grid do, their order is part of the task.
        """
        alike: dict[tuple, list[str]] = {}
        for name, value in self.cases[0].items():
            if isinstance(value, (list, np.ndarray)):
                alike.setdefault(tuple(len(case[name]) for case in self.cases), []).append(name)
        for names in alike.values():
            moved: list[bool] = []
            if all(any(_rises_or_falls(case[name]) for name in names) for case in self.cases):
                continue
            for case, value in zip(self.cases, self.values, strict=True):
                turned = case | {name: case[name][::-1] for name in names}
                if self.clock.left() <= 0 or len(moved) == MOST_PAIRS:
                    break
                if all(measurement.alike(case[name], turned[name]) for name in names):
                    continue
                right, before = (self._given(self.exercise.reference, each) for each in (turned, case))
                if right is None or not _same(right, before):
                    moved = []
                    break
                moved += [not _same(given, value) for given in self._answers([turned])]
            if len(moved) >= LEAST_PAIRS and sum(moved) > len(moved) / 2:
                yield Fact("order", {"names": listed(f"`{name}`" for name in names)})

    def _growth(self):
        """Yield how the answer and the right one grow with each of the numbers that they are given."""
        if len(self.parts) != 1 or self.clock.left() <= 0:
            return
        reference = self.exercise.reference
        for name, value in self.cases[0].items():
            if not isinstance(value, (int, float)) or isinstance(value, bool) or name == "rng":
                continue
            if self.clock.left() <= 0:
                return
            most = max(case[name] for case in self.cases)
            pairs = [(case, case | {name: 2 * case[name]}) for case in self.cases if 0 < 2 * case[name] <= most][:4]
            given = self._answers([twice for _, twice in pairs])
            ratios = []
            mine_of = {id(case): value for case, value in zip(self.cases, self.values, strict=True)}
            for (case, twice), mine in zip(pairs, given, strict=False):
                before = mine_of[id(case)]
                right, doubled = self._given(reference, case), self._given(reference, twice)
                if doubled is not None and not np.ndim(mine) and before and right:
                    ratios.append((mine / before, doubled / right))
            if len(ratios) == len(pairs) > 1:
                yield from measurement.growth(name, ratios)


def _of_entries(name, mine, right):
    """Return how many entries there are, of a number with this name or of all that was given."""
    if name:
        return counted(
            "{name} has {count} entry where it should have {right}.",
            "{name} has {count} entries where it should have {right}.",
            count=mine,
            name=name,
            right=right,
        )
    return counted(
        "Your result has {count} entry where it should have {right}.",
        "Your result has {count} entries where it should have {right}.",
        count=mine,
        right=right,
    )


def _after(changes: tuple[Change, ...]) -> Collection[str]:
    """Return which changes of a result may follow these."""
    if not changes or changes[0].kind == "misconception":
        return SENTENCES
    return () if changes[0].kind in ("argument set", "argument bent") else AFTER


def _head(part: Part) -> Part:
    return replace(part, given=part.given[:HEAD], right=part.right[:HEAD])


def _arrays(value, right):
    """Yield the arrays of a result, each with the right one; none where the result is of another kind."""
    several = isinstance(right, (tuple, list)) and isinstance(value, (tuple, list)) and len(value) == len(right)
    for one, wanted in zip(value, right, strict=True) if several else [(value, right)]:
        if isinstance(one, np.ndarray) and isinstance(wanted, np.ndarray):
            yield one, wanted


def _rises_or_falls(values):
    try:
        steps = np.diff(np.asarray(values, dtype=float))
    except (TypeError, ValueError):  # of names
        return False
    return bool((steps >= 0).all() or (steps <= 0).all())


def _is_zero(value):
    """Whether a value is 0, as it is whatever is changed where an answer is cut off there."""
    if isinstance(value, (list, tuple)):  # of arrays that need not be alike, as batches are
        return all(map(_is_zero, value))
    return not np.any(np.asarray(value, dtype=float))


def _is_whole_by_type(value):
    """Whether all numbers of a value are whole by their type; they may be in arrays of different lengths."""
    try:
        return np.asarray(value).dtype.kind in "biu"
    except ValueError:
        return all(map(_is_whole_by_type, value))


def _same(one, other):
    if isinstance(one, tuple) and isinstance(other, tuple):  # of arrays that need not be alike
        return len(one) == len(other) and all(map(_same, one, other))
    try:
        return bool(np.allclose(np.asarray(one, dtype=float), np.asarray(other, dtype=float), 1e-9, 1e-15))
    except (TypeError, ValueError):
        return False
