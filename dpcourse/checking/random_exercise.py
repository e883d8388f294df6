"""An exercise whose right answers are random: judged by laws, explained by its draws where an answer draws what a right one draws."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from dpcourse.base.languages import say, sentences, to_say
from dpcourse.checking import diagnosis
from dpcourse.checking.calling.probe import arguments, drawn
from dpcourse.checking.calling.values import show
from dpcourse.checking.cases import Cases
from dpcourse.checking.diagnosis.noise import Noise
from dpcourse.checking.domain import key
from dpcourse.checking.exercise import FOR_SEARCHED, Exercise, Misconception, recognised
from dpcourse.checking.law import AddedNoise, Around
from dpcourse.checking.statistics import (
    TOO_RARE,
    Count,
    are_of_two_laws,
    features,
    rows,
    times_as_large,
    two_sample_p_value,
    unlike_samples,
)
from dpcourse.checking.verdict import RIGHT, WRONG, Audit, Observation, Verdict

POINTS, AT_ENDS = (
    14,
    4,
)  # inputs from all over the domain, for each of which an answer is asked many times; of these some are at its ends
BY_DRAWS, LEAST_WRONG, ALIKE = 30, 5, 24  # inputs on which an answer is compared with one that draws the same
LIKE_OURS = 0.1  # of the random numbers that a right answer draws: so many more or fewer tell nothing
LEAST_ALIKE, OF_ONE_SCALE = 8, 1e-6  # noises that are the same number of times ours: no other draws give that
SELDOM = 0.01  # of the numbers: only what is drawn as ours is another in so few places
OTHER_SEEDS = (
    2**31
)  # away from an answer's: right results are independent of its own, so that -noise is as right as noise
OF_ANOTHER_LAW = to_say(
    "It is right on the first inputs, but not on all that the task allows: there your results come from another law."
)
OF_A_COPY = to_say(
    "Your random numbers do not come from the `rng` that you are given, but from a copy of it: `rng` itself is where it was before. So "
    "whoever calls your function twice with the same `rng` gets the same numbers. Draw from `rng`."
)
UNLIKE = to_say("Your results come from another law than right ones do.")
CONVINCED = 0.999  # of an audit that is shown beside an answer known to be wrong


@dataclass(frozen=True, kw_only=True)
class RandomExercise(Exercise):
    """An exercise whose right answers are random, judged by exact binomial tests on counts.

    law: what a right answer adds noise to, and which; counts, noise and the slips of every noise follow from it. Else:
    counts(cases, values) -> list of Count, as many for any values.
    noise(cases, values) -> Noise, where the answer adds some: its scale is tested too, and what differs is measured.
    attack(cases, values) -> Audit, where the answer is a mechanism with a promise: an answer that breaks the promise is
    wrong.
    A right answer fails with probability at most `false_failure`, shared evenly between the counts and the audit.
    compared: how many times an answer is asked for each of POINTS inputs from all over the domain, before it passes, and
    compared with the reference; 0 where it takes too long, or where results are no numbers.
    sample_size: where the entries of a result are independent numbers of one law, the argument that says how many: a long result
    tells the law, and so at each of these inputs one is asked for that has as many entries as are compared.
    """

    law: AddedNoise | None = None
    counts: Callable[[Cases, list], list[Count]] = None  # type: ignore[assignment]  # from the law
    noise: Callable[[Cases, list], Noise] | None = None
    attack: Callable[[Cases, list], Audit] | None = None
    false_failure: float = 1e-6
    compared: int = 250
    sample_size: str = ""

    def __post_init__(self):
        super().__post_init__()
        if self.law is None:
            return
        own = {known.name for known in self.misconceptions}
        slips = [Misconception(*slip) for slip in self.law.slips() if slip[0] not in own]
        known = [*slips, *self.misconceptions]
        elsewhere = [each.code.exact for each in known if isinstance(each.code, Around)]
        for i, each in enumerate(known):
            if isinstance(each.code, Around) and each.recognise is None:
                known[i] = replace(each, recognise=self.law.lies_around(each.code.exact, elsewhere))
        object.__setattr__(self, "misconceptions", tuple(known))
        object.__setattr__(self, "counts", self.law.counts)
        object.__setattr__(self, "noise", self.law.noise)

    def cases(self, rng: np.random.Generator) -> Cases:
        """Draw cases once: counts, not single values, tell random answers apart."""
        return self.with_searched(self.draw(rng), rng)

    def with_searched(self, drawn: Iterable[dict], rng: np.random.Generator) -> Cases:
        """Return these cases, some from all over the domain, and POINTS of these again and again."""
        cases = super().with_searched(drawn, rng)
        if self.domain is None or not self.compared:
            return cases
        seed, like = int(rng.integers(2**30)), cases[0]
        points = self._points(like, rng, POINTS, AT_ENDS)
        if self.sample_size:
            long = [case | {self.sample_size: self.compared, "rng": seed + run} for run, case in enumerate(points)]
            return Cases(cases.drawn, [*cases[len(cases.drawn) : cases.needed], *long])
        again = [case | {"rng": seed + run} for case in points for run in range(self.compared)]
        return Cases(cases.drawn, [*cases[len(cases.drawn) : cases.needed], *again])

    def _judge(self, cases, outcomes, ask, rng):
        verdict = super()._judge(cases, outcomes, ask, rng)
        if verdict.state == RIGHT and outcomes[0].get("drawn") == 0 and all(self._drawn(cases[0])):
            return Verdict(
                self.heading, WRONG, say(OF_A_COPY), self._tried(cases[0], {}), found_by=diagnosis.EXPLANATION
            )
        return verdict

    def _drawn(self, case):
        """How many random numbers each of the right answers draws for a case; None where that cannot be told."""
        every = []
        for right in self.formulas or (self.reference,):
            given = list(arguments(case))
            right(*given)
            every.append(drawn(case, given))
        return every

    def holds(self, cases: Cases, values: list) -> bool:
        """Return whether the searched values are of the type and of the law of right ones."""
        return next(self._unlike(cases, values), None) is None

    def _wrong_somewhere(self, cases, values, ask, rng):
        message, line, there = next(self._unlike(cases, values))
        found = self._by_its_draws(cases[there], values[there], ask, rng) if there else None
        if found is None:
            return Verdict(self.heading, WRONG, message, (Observation(line),), found_by=diagnosis.MEASUREMENT)
        of_noise = there.start is None  # its size may follow from what is placed now
        seen = (Observation(found.seen),) if of_noise else (Observation(line), Observation(found.seen))
        return Verdict(self.heading, WRONG, sentences([message, found.message]), seen, found_by=found.found_by)

    def _unlike(self, cases, values):
        """Yield where searched values are cut to whole numbers or have another law: a message, what was seen, and at which cases,
        where something in the answer's text may be the reason."""
        first = len(cases.drawn)
        searched = Cases(cases[first:])
        elsewhere = Cases(case | {"rng": case["rng"] + OTHER_SEEDS} if "rng" in case else case for case in searched)
        given, right = values[first:], elsewhere.given(self.reference)
        for case, value, wanted in zip(searched, given, right, strict=True):
            if _is_cut(value, wanted):
                yield say(diagnosis.OF_WHOLE_NUMBERS), self._gave(case, value), None
        if self.sample_size:
            for at, (mine, theirs) in enumerate(zip(given, right, strict=True)):
                if (seen := unlike_samples(mine, theirs)) is not None:
                    call = self.call(searched[at])
                    yield say(OF_ANOTHER_LAW), say("{call}: {seen}", call=call, seen=seen), slice(None, len(searched))
        if self.sample_size or not self.compared:
            return
        yield from self._seldom_another(cases, values)
        if self.law is not None:
            yield from self._noise_unlike(searched, given)
        begin = len(searched) % self.compared if len(searched) >= self.compared else len(searched)
        for at in range(begin, len(searched), self.compared):
            some = slice(at, at + self.compared)
            for told, mine, theirs in features(given[some], right[some]):
                if are_of_two_laws(mine, theirs):
                    low, high, right_low, right_high = (
                        float(q) for x in (mine, theirs) for q in np.quantile(x, (0.25, 0.75))
                    )
                    fields = {"call": self.call(searched[at]), "times": self.compared, "low": low, "high": high, "right_low": right_low, "right_high": right_high}  # fmt: skip
                    yield say(OF_ANOTHER_LAW), say(told, **fields), slice(first + at, first + at + self.compared)

    def _seldom_another(self, cases, values):
        """Yield the same where arrays with the same `rng` are those of a right answer, but for a few of their numbers."""
        if "rng" not in cases[0]:
            return
        groups = [[place for places in runs.values() for place in places] for runs in cases.runs]
        for right in self.formulas or (self.reference,):
            wanted = cases.given(right)
            for group in groups:
                both = rows([values[place] for place in group], [wanted[place] for place in group])
                if both is None or both[0].ndim != 2:
                    return
                mine, theirs = both
                other = np.abs(mine - theirs) > OF_ONE_SCALE * (1 + np.abs(theirs))
                if 0 < other.sum() < SELDOM * other.size:
                    call = self.call(cases[group[0]])
                    told = say(
                        "{call}: with the same `rng` your result is ours, but for {count} of {total:,} numbers, such as {mine:.4g} where "
                        "{theirs:.4g} is right",
                        call=call,
                        count=int(other.sum()),
                        total=other.size,
                        mine=mine[other][0],
                        theirs=theirs[other][0],
                    )
                    yield say(OF_ANOTHER_LAW), told, slice(None, len(cases))

    def _noise_unlike(self, searched, values):
        """Yield the same where noise is that of a right answer times a number, or where noise of the right law would hardly ever be of such a size."""
        settings = self.law.settings(searched, values)
        for right in self.formulas or (self.reference,):
            for setting, ours in zip(settings, self.law.settings(searched, searched.given(right)), strict=True):
                ratio = _ratio(setting.noise, ours.noise)
                if abs(abs(ratio) - 1) > OF_ONE_SCALE:
                    call = self.call(setting.given | {"rng": 0})
                    told = say(
                        "{call}: with the same random numbers your noise is {ratio:.4g} times ours",
                        call=call,
                        ratio=ratio,
                    )
                    yield say(OF_ANOTHER_LAW), told, slice(None, len(searched))
        for setting in settings:
            noise = Noise(self.law.family, setting.noise)
            if len(setting.values) >= self.compared and noise.p_value < TOO_RARE:
                call = self.call(setting.given | {"rng": 0})
                yield (
                    say(OF_ANOTHER_LAW),
                    say("{call}, {times} times: {noise}", call=call, times=self.compared, noise=noise.as_sentence),
                    slice(None, len(searched)),
                )

    def further(self, cases: Cases, outcomes: list[dict], ask: Callable | None) -> tuple[Cases, list]:
        """Return no case: counts are of what was drawn."""
        return Cases([]), []

    def in_part(self, cases: Cases, values: list) -> Misconception | None:
        """Return None: no single value is right or wrong."""
        return None

    def _proved(self, cases, values, ask):
        """Return None: what is proved by draws is looked for where no misconception is found."""
        return

    def smallest(self, cases: Cases, values: list, ask: Callable | None) -> tuple[Cases, list]:
        """Return no case: no single one is wrong."""
        return Cases([]), []

    def agrees(self, cases: Cases, values: list, function: Callable) -> bool:
        """Return whether `function` could have given every count; the reference's own law is used for the reference."""
        counts = self.counts(cases, values)
        if function is self.reference:
            return not self._too_rare(cases, values) and self._audited(cases, values, 1 - self._limit(counts)) is None
        pairs = zip(counts, self.counts(cases, cases.given(function)), strict=True)
        limit = self._limit(counts)
        alike = all(
            two_sample_p_value(one.successes, one.trials, other.successes, other.trials) >= limit
            for one, other in pairs
        )
        if not (alike and self.noise):
            return alike
        return self.noise(cases, values).is_as_large(self.noise(cases, cases.given(function)))

    def alike(self, cases: Cases, values: list) -> Iterator[Misconception]:
        """Yield the misconceptions that these values may come from, in their order: counts seldom tell one from all others."""
        for known in self.misconceptions:
            if recognised(known, cases, values) if known.recognise else self.agrees(cases, values, known.code):
                yield known

    def confirmed(self, misconception: Misconception, ask: Callable | None, rng) -> bool:
        """Return True: the counts have confirmed it already."""
        return True

    def _diagnosed(self, cases, values, ask, rng, numbers):
        """Return why an answer is wrong; else what is measured of its noise, and the counts that a right one would hardly ever give."""
        found, measured = self._by_its_draws(cases, values, ask, rng), self._measured(cases, values, ask, rng)
        if found is None:
            return measured
        if found.found_by == diagnosis.MEASUREMENT:  # it is known where, and not what
            return replace(found, message=sentences([measured.message, found.message]))
        return found

    def _by_its_draws(self, cases, values, ask, rng):
        """Return why an answer is wrong that draws what a right one draws; None where it draws something else, and is told nothing.

        With one seed the two give the same numbers up to where the answer leaves the way: then no result is random.
        """
        watch = getattr(ask, "watch", None)
        if watch is None or self.domain is None:
            return None
        points = self._points(cases[0], np.random.default_rng(rng), BY_DRAWS)
        results = [*self._values(points, ask(points, FOR_SEARCHED)), *values]
        every = Cases([*points[: len(results) - len(values)], *cases])
        given = {each.name: getattr(self, each.name) for each in fields(Exercise)}
        for right in self.formulas or (self.reference,):
            good = [self.is_close(*pair) for pair in zip(results, every.given(right), strict=True)]
            shortest = sorted(range(len(good)), key=lambda i: _size(results[i]))
            shortest = shortest[: len(shortest) * 9 // 10]  # the others take long to run again
            wrong, others = ([i for i in shortest if good[i] is which] for which in (False, True))
            if len(wrong) >= LEAST_WRONG:
                some = BY_DRAWS // 2
                inputs = [key(case | {"rng": 0}) for case in every]  # with whatever seed
                asked = {inputs[i] for i in wrong[:some]}
                same, rest = ([i for i in others if (inputs[i] in asked) is which] for which in (True, False))
                chosen = [*wrong[:some], *same[:some], *rest[:: 1 + len(rest) // some]]  # and some of every kind
                alike = Exercise(**given | {"reference": right, "misconceptions": ()})
                found = diagnosis.in_its_text(alike, [every[i] for i in chosen], [results[i] for i in chosen], watch)
                if found is not None:
                    return replace(found, seen=say("tried with {call}", call=self.call(every[wrong[0]])))
        return None

    def _points(self, like, rng, count, at_ends=0):
        """So many cases from all over the domain, each with its arguments in the order of a case."""
        return [{name: case[name] for name in like} for case in self.domain.points(rng, count, at_ends)]

    def _measured(self, cases, values, ask, rng):
        rare = self._too_rare(cases, values)
        told = [count.as_sentence for count in rare[:1] if count.impossible]
        noise = list(self.noise(cases, values).sentences()) if self.noise else []
        size = self._in_size(cases, values)
        others = rare[len(told) : 2 - min(len(noise) + len(size), 1)]
        told += noise + [each.as_sentence for each in others if not noise or isinstance(each, Count)]
        told = [*told[:3], *size, *self._draws(cases, ask), *self._dependence(cases, ask, rng)]
        if not told:
            return diagnosis.Diagnosis(say(UNLIKE), diagnosis.CASE)
        return diagnosis.Diagnosis(sentences(told), diagnosis.MEASUREMENT)

    def _in_size(self, cases, values):
        """Return in a sentence how many times as large as right ones the entries of the results are, for each setting in which that is no accident."""
        if not self.sample_size:
            return []
        kept = [name for name in cases[0] if name not in ("rng", self.sample_size)]
        settings: dict[tuple, list[int]] = {}
        for i, case in enumerate(cases):
            settings.setdefault(tuple((name, case[name]) for name in kept), []).append(i)
        right = Cases(case | {"rng": case["rng"] + OTHER_SEEDS} for case in cases).given(self.reference)
        found = []
        for setting, places in settings.items():
            mine, theirs = (
                np.concatenate([np.ravel(each[i]) for i in places]).astype(float) for each in (values, right)
            )
            times = times_as_large(mine, theirs)
            if times is not None:
                told = ", ".join(f"`{name}` = {show(value)}" for name, value in setting)
                found.append(
                    say("{times} times as large as right ones where {setting}", times=f"{times:.2g}", setting=told)
                )
        return [say("Your numbers are, root mean square, {found}.", found="; ".join(found))] if found else []

    def _draws(self, cases, ask):
        """Yield how many random numbers are drawn for the first case, where right answers draw others: more, or fewer, by more than LIKE_OURS."""
        mine = next(iter(ask(cases[:1], FOR_SEARCHED)), {}).get("drawn") if ask else None
        if mine is None:
            return
        every = self._drawn(cases[0])
        of_half = (2 * mine, mine)  # small whole numbers, and float32, take half of the 64 bits that are counted
        if all(ours is not None and all(abs(each - ours) > LIKE_OURS * ours for each in of_half) for ours in every):
            yield say(
                "With {call} your answer draws {mine:,} random numbers, and ours {ours:,}.",
                call=self.call(cases[0]),
                mine=mine,
                ours=every[0],
            )

    def _dependence(self, cases, ask, rng):
        """Return on which arguments the results do not depend, in a sentence: with one seed they are the same, whatever these are."""
        if ask is None or self.domain is None:
            return []
        points = self._points(cases[0], np.random.default_rng(rng), ALIKE)
        values = self._values(points, ask(points, FOR_SEARCHED))
        return diagnosis.dependence(
            self, points[: len(values)], values, lambda some, seconds: self._values(some, ask(some, seconds))
        )

    def observed(self, cases: Cases, values: list) -> tuple[Observation, ...]:
        """Return at most two counts that a right answer would hardly ever give, each with what is expected; else how large its noise is."""
        rare = self._too_rare(cases, values)[:2]
        counts = tuple(
            Observation(
                count.seen, say("{seen}, expected about {expected:.0f}", seen=count.seen, expected=count.expected)
            )
            for count in rare
            if isinstance(count, Count)
        )
        return counts or tuple(Observation(noise.as_sentence) for noise in rare)

    def _too_rare(self, cases, values):
        """Return the counts, and the Noise, that a right answer would hardly ever give."""
        counts = self.counts(cases, values)
        seen = [*counts, *([self.noise(cases, values)] if self.noise else [])]
        limit = self._limit(counts)
        rare = [each for each in seen if each.p_value < limit]
        return sorted(rare, key=lambda each: (not each.impossible, not each.always_alike))  # what cannot be tells most

    def audit(self, cases: Cases, values: list) -> Audit | None:
        """Return what an audit finds at the confidence CONVINCED, which is less than a mark would need."""
        return self._audited(cases, values, CONVINCED)

    def _audited(self, cases, values, confidence):
        audit = self.attack(cases, values).at(confidence) if self.attack else None
        return audit if audit and audit.found else None

    def _limit(self, counts):
        """Return the false-failure rate of each count, of the noise and of the audit."""
        return self.false_failure / (len(counts) + (self.noise is not None) + (self.attack is not None))


def _is_cut(value, right):
    """Whether a value is an array of whole numbers by its type, and the right one has fractions."""
    if not (isinstance(value, np.ndarray) and isinstance(right, np.ndarray) and right.dtype.kind == "f"):
        return False
    return value.dtype.kind in "iu" and bool((right != np.round(right)).any())


def _ratio(noise, ours):
    """How many times ours noise is, number by number, if that is the same for all of them; else 1, of which nothing follows."""
    noise, ours = (np.ravel(each) for each in (noise, ours))
    if noise.size < LEAST_ALIKE or not ours.any() or not np.isfinite(noise).all():
        return 1.0
    ratio = float(noise @ ours / (ours @ ours))
    return ratio if np.abs(noise - ratio * ours).max() <= OF_ONE_SCALE * np.abs(ours).max() else 1.0


def _size(value):
    """How many numbers there are in a result: lists may have entries of different lengths."""
    return sum(map(_size, value)) if isinstance(value, list | tuple) else np.size(value)
