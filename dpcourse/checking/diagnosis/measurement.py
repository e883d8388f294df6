"""What can be measured of an answer that nothing explains: in which cases it is right, on what it depends, how it grows."""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from dpcourse.base.languages import Said, listed, say, to_say
from dpcourse.checking.calling.values import alike, show
from dpcourse.checking.diagnosis.results import ONE_OVER, shaped
from dpcourse.checking.diagnosis.series import Part, is_extreme, is_number_of_entries
from dpcourse.checking.diagnosis.words import Fact


def facts(part: Part, described: dict[str, list[float]], cases: list[dict]) -> Iterator[Fact]:
    """Yield what is true of one number of an answer on all cases, the most telling first."""
    yours, wanted = part.yours, part.wanted
    if not part.is_constant:
        yield from _is_argument(part, cases)
    whole = set(np.unique(wanted)) <= {0.0, 1.0} and set(np.unique(yours)) <= {0.0, 1.0}
    if not whole:
        yield from _multiples(yours, wanted)
    near = "" if whole else _near(part)
    if near:
        yield Fact("near", {"most": near})
    elif part.is_constant and np.ptp(wanted) > 0:
        value = _truth(part, yours[0]) if whole else show(float(yours[0]))
        yield Fact("always" if whole else "constant result", {"yours" if whole else "value": value})
    elif part.agrees.any():
        yield from _where(part, described, whole)
    elif not whole:
        known = {words: part.of_cases(values) for words, values in described.items()}
        by_law = list(_by_one_law(part, known))
        yield from by_law
        yield from _compared(yours, wanted)
        yield from () if by_law else _drift(part, described)


NEAR, LEAST_NEAR = 0.01, 8  # of the range of right results, or of each; wrong results of which so much is known


def _near(part):
    """How far from the right numbers an answer's are at most, in words, where that is little and most of them are wrong; else nothing."""
    apart = np.abs(part.yours - part.wanted)
    if not np.isfinite(apart).all() or part.agrees.mean() > 0.5 or (~part.agrees).sum() < LEAST_NEAR:
        return ""
    with np.errstate(all="ignore"):
        share = apart / np.abs(part.wanted)
    if share.max() <= NEAR:
        return say("{share} of that", share=f"{share.max():.2%}")
    return f"{apart.max():.2g}" if apart.max() <= NEAR * np.ptp(part.wanted) else ""


def _truth(part, value):
    """How a value that is 0 or 1 is written by whoever was asked for it."""
    return str(bool(value)) if part.are_truths else str(int(value))


def _multiples(yours, wanted):
    """Yield of which whole number, above 1, all of an answer's whole numbers are multiples, and the right ones are not."""
    if len(yours) >= LEAST_ON_EACH_SIDE and all((each == np.round(each)).all() for each in (yours, wanted)):
        mine, right = (math.gcd(*(int(one) for one in each)) for each in (yours, wanted))
        if mine > 1 and right % mine and np.ptp(yours) > 0:
            yield Fact("multiples", {"number": str(mine)})


def _is_argument(part, cases):
    for name in cases[0]:
        try:
            values = [np.atleast_1d(np.asarray(case[name], dtype=float)) for case in cases]
        except (TypeError, ValueError):
            continue
        if all(value.shape == (length,) for value, length in zip(values, part.lengths, strict=True)):
            if part.same(np.concatenate(values)):
                yield Fact("is argument", {"what": f"`{name}`"})
        elif all(value.ndim == 1 and value.size for value in values) and set(part.lengths) == {1}:
            for entry, of in ENDS.items():
                if part.same(np.array([of(value) for value in values])):
                    yield Fact("is argument", {"what": say(entry, argument=name)})


ENDS: dict[str, Callable] = {
    to_say("the first entry of `{argument}`"): lambda x: x[0],
    to_say("the last entry of `{argument}`"): lambda x: x[-1],
}

PLACES_OF_ENDS = dict(zip(ENDS, (0, -1), strict=True))
CONDITIONS: dict[str, Callable] = {
    to_say("{what} is 0"): lambda x: x == 0,
    to_say("{what} is not 0"): lambda x: x != 0,
    to_say("{what} is 1"): lambda x: x == 1,
    to_say("{what} is not 1"): lambda x: x != 1,
    to_say("{what} is above 1"): lambda x: x > 1,
    to_say("{what} is at most 1"): lambda x: x <= 1,
    to_say("{what} is at least 1"): lambda x: x >= 1,
    to_say("{what} is below 1"): lambda x: x < 1,
    to_say("{what} is above 0"): lambda x: x > 0,
    to_say("{what} is at least 0"): lambda x: x >= 0,
    to_say("{what} is below 0"): lambda x: x < 0,
    to_say("{what} is even"): lambda x: x % 2 == 0,
    to_say("{what} is odd"): lambda x: x % 2 == 1,
}


FEW_ENTRIES = 12  # of a result that has always as many: then it is told which of them are wrong
OTHERS = {
    to_say("the first entry"): slice(1, None),
    to_say("the last entry"): slice(None, -1),
    to_say("the first and the last entry"): slice(1, -1),
}
"""Entries -> all the others."""


def _where(part, described, whole):
    """Yield the cases, or entries, where an answer is right that is right in some."""
    right = part.agrees
    entries = [part.apart(right)[i] for i in range(len(part.given))]
    if max(part.lengths) > 2:
        for which, rest in OTHERS.items():
            if all(each[rest].all() for each in entries):
                yield Fact("wrong entries", {"which": say(which)})
                return
    if set(part.lengths) == {part.lengths[0]} and 2 < part.lengths[0] <= FEW_ENTRIES:
        bad = [i + 1 for i in range(part.lengths[0]) if not all(each[i] for each in entries)]
        if len(bad) <= part.lengths[0] / 2:
            yield Fact("some entries", {"entries": listed(map(str, bad))})
            return
    known = {
        words: part.of_cases(values)
        for words, values in sorted(described.items(), key=lambda each: not _is_plain(each[0]))
    }
    at_0 = bool((right == (part.wanted == 0)).all())
    if at_0:  # where little is asked of it: no other condition is the reason, and how often that is, is an accident
        yield Fact("right at 0")
    elif min(right.sum(), (~right).sum()) >= LEAST_ON_EACH_SIDE:
        for words, values in [*known.items(), (say(RESULT), part.wanted)]:
            for condition, holds in CONDITIONS.items():
                if (holds(values) == right).all() and not _says_nothing(words, condition, values):
                    yield Fact("right where", {"condition": say(condition, what=words)})
                    yield from () if whole else [*_by_one_law(part, known), *_others(part, known, whole)]
                    return
        ways = (_one_value, _where_alike, _threshold, _some_values, functools.partial(_nearly, part))
        separated = next((facts for way in ways if (facts := list(way(right, known)))), [])
        yield from separated or (_surely(part, known) if max(part.lengths) == 1 else ())
        yield from () if whole else _by_one_law(part, known)
    good = np.array([each.all() for each in entries])
    if not at_0 and (good.any() or max(part.lengths) == 1):
        yield Fact("share", {"right": int(good.sum()), "all": len(good)})
    elif not at_0:
        yield Fact("share of entries", {"right": int(right.sum()), "all": len(right)})
    yield from _others(part, known, whole)


def _others(part, known, whole):
    """Yield how an answer stands to the right one where it is wrong."""
    right = part.agrees
    yours, wanted = part.yours[~right], part.wanted[~right]
    constant = "" if whole or len(yours) < 3 else _constant_where_wrong(yours, wanted, ~right, known)
    if constant:
        yield Fact("constant where wrong", {"value": constant})
    elif not whole:
        yield from _compared(yours, wanted, say("on the others"))
    elif np.ptp(yours) == 0:
        kind = "one-sided" if max(part.lengths) == 1 else "one-sided entries"
        yield Fact(kind, {"yours": _truth(part, yours[0]), "right": _truth(part, wanted[0])})


def _constant_where_wrong(yours, wanted, wrong, known):
    """Return the one number, or the number of an input, that the answer gives wherever it is wrong; empty where there is none."""
    if np.ptp(yours) == 0:
        return show(float(yours[0])) if np.ptp(wanted) > 0 else ""
    given = ((words, values[wrong]) for words, values in known.items())
    return next((words for words, each in given if np.allclose(yours, each) and not np.allclose(wanted, each)), "")


RESULT = to_say("the right result")
LEAST_ON_EACH_SIDE = 4  # fewer may be right by accident


def _says_nothing(words, condition, values):
    """Return whether a condition holds by how the inputs were drawn, or of anything that is cut off at an end."""
    if "odd" in condition or "even" in condition:
        return is_number_of_entries(words) or (values % 1 != 0).any()
    return words == say(RESULT)


def _is_plain(words):
    """Whether a feature is an argument that is a number, or the number of its entries: what one looks at first."""
    return not isinstance(words, Said) or is_number_of_entries(words)


def _is_natural(words, value):
    """Whether one would say it with this value: of a sum, a mean, or an end of a list, only 0 and 1; any other may be an accident."""
    return _is_plain(words) or value in (0, 1)


def _all_digits(value: float) -> str:
    """Return a number as text: a whole one with all its digits."""
    return show(int(value) if value.is_integer() and abs(value) < 2**53 else value)


def _one_value(right, known):
    """Yield a feature that has one value wherever the answer is right, or wherever it is wrong, and nowhere else."""
    for words, values in known.items():
        for kind, mine in (("right where", right), ("wrong only where", ~right)):
            value = values[mine][0]
            if ((values == value) == mine).all() and _is_natural(words, float(value)):
                yield Fact(kind, {"condition": say("{what} is {value}", what=words, value=_all_digits(float(value)))})
                return


def _where_alike(right, known):
    """Yield two features that are the same wherever the answer is wrong, and nowhere else; or wherever it is right."""
    for (one, a), (other, b) in _pairs(known):
        for kind, mine in (("wrong only where", ~right), ("right where", right)):
            if (np.isclose(a, b) == mine).all():
                yield Fact(kind, {"condition": say(ALIKE, one=one, other=other)})
                return


def _some_values(right, known):
    """Yield a whole number on whose few values alone it hangs whether the answer is right: those on the side that has fewer."""
    for words, values in known.items():
        here, there = (sorted(set(values[mine].tolist())) for mine in (right, ~right))
        distinct = {*here, *there}
        few = len(distinct) == len(here) + len(there) <= min(MOST_VALUES, len(values) / EACH_VALUE)
        if few and _is_plain(words) and all(value.is_integer() for value in distinct):
            kind, told = min(("right where", here), ("wrong only where", there), key=lambda each: len(each[1]))
            texts = listed(map(_all_digits, told), "{first} or {then}")
            yield Fact(kind, {"condition": say("{what} is {value}", what=words, value=texts)})
            return


def _pairs(known):
    """Each two of the arguments that are numbers, and of the numbers of entries."""
    return itertools.combinations(((words, values) for words, values in known.items() if _is_plain(words)), 2)


def _threshold(right, known):
    """Yield a feature that is larger wherever the answer is right than wherever it is wrong, or smaller: by a round number."""
    for words, values in known.items():
        inside, outside = values[right], values[~right]
        if not (_is_plain(words) or is_extreme(words)):
            continue
        least = _round_number(outside.max(), inside.min(), words)
        if least is not None:
            large = say("{what} is large ({least} or more)", what=words, least=show(least))
            yield Fact("right where", {"condition": large})
            return
        most = _round_number(-outside.min(), -inside.max(), words)
        if most is not None:
            small = say("{what} is small ({most} or less)", what=words, most=show(-most))
            yield Fact("right where", {"condition": small})
            return


def _round_number(above: float, most: float, words: str) -> float | None:
    """Return a round number that is above one and at most the other; None where there is none.

    It is the largest whole number where that is an argument or a count, else one of few digits.
    """
    if not above < most:
        return None
    if _is_plain(words) and most == round(most):
        return float(most)
    for digits in (1, 2) if _is_plain(words) else (1,):
        step = 10.0 ** (math.floor(math.log10(abs(most))) + 1 - digits) if most else 1.0
        number = float(f"{math.floor(most / step + 1e-9) * step:.12g}")
        if above < number <= most:
            return number
    return None


MOST_VALUES, EACH_VALUE = 12, 4  # values of a whole number that are told, and how often each is there
BY_ACCIDENT = 1e-4  # the chance that so many inputs are all right that a condition chose by accident
ALIKE = to_say("{one} is the same as {other}")


def _surely(part, known):
    """Yield the condition under which an answer is always right, and so often that this is no accident; where all results are
    0 none is asked for."""
    right = part.agrees
    single = (
        (say(condition, what=words), holds(values))
        for words, values in known.items()
        for condition, holds in CONDITIONS.items()
        if not _says_nothing(words, condition, values)
    )
    alike = ((say(ALIKE, one=one, other=other), np.isclose(a, b)) for (one, a), (other, b) in _pairs(known))
    for conditions in (single, alike):
        found = [
            (float(right.mean()) ** int(holds.sum()), condition)
            for condition, holds in conditions
            if holds.any() and right[holds].all() and part.wanted[holds].any()
        ]
        chance, condition = min(found, default=(1.0, ""))
        if chance < BY_ACCIDENT:
            yield Fact("right where", {"condition": condition})
            return


MOST_OUTSIDE = 0.2  # of the others, for which a condition holds all the same
LEAST_OF_NEARLY, LEAST_SHARE = 8, 0.05  # inputs that are alike in it: fewer are often of one draw, and alike in much


def _nearly(part, right, known):
    """Yield a condition without which an answer is never wrong, or never right, and that holds for few others: so few that it
    is no accident. What one looks at first comes first."""
    of_case = part.of_cases(list(range(len(part.lengths))))
    for plain in (True, False):
        best, fact = MOST_OUTSIDE, None
        some = {words: values for words, values in known.items() if _is_plain(words) == plain}
        for (words, values), (kind, mine) in itertools.product(
            some.items(), (("wrong only where", ~right), ("right only where", right))
        ):
            cases = len(np.unique(of_case[mine]))
            if cases < max(LEAST_OF_NEARLY, LEAST_SHARE * len(part.lengths)):
                continue
            for condition, holds in _conditions(words, values, values[mine]):
                outside = float(holds[~mine].mean())
                chance = (len(np.unique(of_case[holds])) / len(part.lengths)) ** cases
                if holds[mine].all() and outside < best and chance < BY_ACCIDENT * (1 if plain else 0.01):
                    best, fact = outside, Fact(kind, {"condition": condition})
        if fact:
            yield fact
            return


def _conditions(words, values, inside):
    """Yield (condition in words, where it holds): those of CONDITIONS, and of some values the only one, or round numbers beyond them."""
    for condition, holds in CONDITIONS.items():
        if not _says_nothing(words, condition, values):
            yield say(condition, what=words), holds(values)
    if _is_plain(words) and np.ptp(inside) == 0:
        yield say("{what} is {value}", what=words, value=_all_digits(float(inside[0]))), values == inside[0]
    if _is_plain(words) or is_extreme(words):
        least, most = _round_number(-math.inf, inside.min(), words), _round_number(-math.inf, -inside.max(), words)
        if least is not None:
            yield say("{what} is {least} or more", what=words, least=show(least)), values >= least
        if most is not None:
            yield say("{what} is {most} or less", what=words, most=show(-most)), values <= -most


LEAST_OF_LAW, LEAST_GROUPS = 5, 3  # inputs on which a law holds; values of what a factor depends on, each on two inputs


def _by_one_law(part, known):
    """Yield what turns the right numbers into the answer's where it is wrong, if that is a number of the input, or depends on one alone."""
    wrong = ~part.agrees
    on = say("on the others") if part.agrees.any() else say("on every input tried")
    of_case = part.of_cases(list(range(len(part.lengths))))[wrong]
    yours, wanted = part.yours[wrong], part.wanted[wrong]
    known = {words: values[wrong] for words, values in known.items()}
    with np.errstate(all="ignore"):
        ratio, apart = yours / wanted, yours - wanted
        if len(np.unique(of_case)) < LEAST_OF_LAW or not np.isfinite(ratio).all() or np.ptp(ratio) < 1e-6:
            return
        for words, values in shaped(known):
            over = say(ONE_OVER, what=words)
            forms = (
                ("ratio times", ratio, words, values),
                ("ratio divided", ratio, words, 1 / values),
                *((kind, offset, told, each) for kind, offset in (("offset plus", apart), ("offset minus", -apart)) for told, each in ((words, values), (over, 1 / values))),
            )  # fmt: skip
            for kind, one, told, other in forms if np.ptp(values) > 0 else ():
                if np.allclose(one, other, 1e-6, 0):
                    yield Fact(kind, {"what": told, "on": on})
                    return
    yield from _by_one_feature(ratio, of_case, {words: each for words, each in known.items() if _is_plain(words)}, on)


def _by_one_feature(ratio, of_case, known, on):
    """Yield the feature on which alone it depends how many times the right result the answer's is."""
    for words, values in known.items():
        groups = [
            (value, ratio[values == value], len(np.unique(of_case[values == value]))) for value in np.unique(values)
        ]
        steady = all(np.ptp(each) <= 1e-6 * abs(each[0]) for _, each, _ in groups)
        several = [(value, each[0]) for value, each, inputs in groups if inputs > 1]
        if steady and len(several) >= LEAST_GROUPS and np.ptp([factor for _, factor in several]) > 1e-6:
            (one, first), (other, second) = several[0], several[-1]
            fields = {"one": show(float(one)), "first": show(float(first)), "other": show(float(other)), "second": show(float(second))}  # fmt: skip
            yield Fact("ratio by", {"what": words, "on": on} | fields)
            return


LEAST_OF_DRIFT, STEADY, TIMES = 10, 0.9, 5
"""Inputs from which it is read; how nearly the order of a feature is that of the errors; how many times the largest error is the least."""


def _drift(part, described):
    """Yield the feature with which an answer that is right nowhere comes off the more, as an approximation does outside of its range."""
    with np.errstate(all="ignore"):
        times = np.log(part.yours / part.wanted)
    if len(part.lengths) < LEAST_OF_DRIFT or not np.isfinite(times).all():
        return
    errors = np.array([np.abs(each).mean() for each in part.apart(times)])
    if np.ptp(errors) == 0:
        return
    ranks = {words: _ranks(np.asarray(values, dtype=float)) for words, values in described.items() if _is_plain(words)}
    steady = {
        words: float(np.corrcoef(each, _ranks(errors))[0, 1]) for words, each in ranks.items() if np.ptp(each) > 0
    }
    words = max(steady, key=lambda each: abs(steady[each]), default=None)
    if words is None or abs(steady[words]) < STEADY:
        return
    values = np.asarray(described[words], dtype=float)
    near, far = (int(end(values)) for end in ((np.argmin, np.argmax) if steady[words] > 0 else (np.argmax, np.argmin)))
    if errors[far] > TIMES * errors[near]:
        first, second = (show(float(np.exp(part.apart(times)[i].mean()))) for i in (near, far))
        fields = {"one": show(float(values[near])), "first": first, "other": show(float(values[far])), "second": second}
        yield Fact("farther off" if steady[words] > 0 else "farther off below", {"what": words} | fields)


def _ranks(values):
    """The place of each in the order of all, equal ones with the mean of theirs."""
    below = (values[:, None] > values).sum(axis=1)
    return below + (values[:, None] == values).sum(axis=1) / 2


def _compared(yours, wanted, on=""):
    """Yield how these numbers stand to the right ones: a factor, a difference, too large, too small.

    on: which they are, in words; if not given, all.
    """
    on = on or say("on every input tried")
    with np.errstate(all="ignore"):
        ratio, apart = yours / wanted, yours - wanted
    if np.isfinite(ratio).all() and (ratio > 0).all():
        low, high = float(ratio.min()), float(ratio.max())
        fields = {"low": show(low), "high": show(high), "on": on}
        if len(ratio) > 2 and math.isclose(low, high, rel_tol=1e-6):
            yield Fact("ratio", {"factor": show(low), "on": on})
        elif (wanted < 0).any() and (low > 1 or high < 1):
            yield Fact("times in size", fields)
        elif low > 1:
            yield Fact("too large", fields)
        elif high < 1:
            yield Fact("too small", fields)
        else:
            yield Fact("mixed", fields)
        return
    if np.isfinite(ratio).all() and (ratio < 0).all() and (np.sign(yours) == np.sign(yours[0])).all():
        above, below = say("above 0"), say("below 0")
        kinds = {"yours": above, "right": below} if yours[0] > 0 else {"yours": below, "right": above}
        yield Fact("sign of all", kinds | {"on": on})
    if not np.isfinite(apart).all():
        return
    if len(apart) > 2 and math.isclose(float(apart.min()), float(apart.max()), rel_tol=1e-6):
        size = show(abs(float(apart[0])))
        offset = say("plus {size}", size=size) if apart[0] > 0 else say("minus {size}", size=size)
        yield Fact("offset", {"offset": offset, "on": on})
    elif (apart > 0).all():
        yield Fact("larger", {"low": show(float(apart.min())), "high": show(float(apart.max())), "on": on})
    elif (apart < 0).all():
        yield Fact("smaller", {"low": show(float(-apart.max())), "high": show(float(-apart.min())), "on": on})
    else:
        yield Fact("scattered", {"low": show(float(apart.min())), "high": show(float(apart.max())), "on": on})


def variations(cases: list[dict], others: list[dict]) -> dict[str, tuple[str, list[tuple[dict, dict]]]]:
    """Return in words what is varied -> the argument, pairs of cases that differ in that alone: the second has it from another case."""
    found: dict[str, tuple[str, list[tuple[dict, dict]]]] = {}
    for name in cases[0]:
        if name == "rng":
            continue
        for words, changed in _varied(name, cases[0][name]).items():
            both = zip(cases, others, strict=False)
            pairs = [(case, case | {name: changed(case[name], other[name])}) for case, other in both]
            found[words] = f"`{name}`", [pair for pair in pairs if not alike(pair[0][name], pair[1][name])]
    return {words: (argument, pairs) for words, (argument, pairs) in found.items() if pairs}


def _varied(name, value):
    """In words what is varied of an argument -> the argument with that from another case: all of it; of a list an end, too."""
    if not isinstance(value, (list, np.ndarray)) or _is_table(value):
        return {f"`{name}`": lambda mine, other: other}
    ends = {say(words, argument=name): functools.partial(_with_end, end) for words, end in PLACES_OF_ENDS.items()}
    return {f"`{name}`": _as_long} | ends


def _is_table(value):
    """Whether the entries of a list have entries themselves."""
    return any(np.ndim(entry) or isinstance(entry, (str, dict)) for entry in value)


def _as_long(mine, other):
    """The entries of another list, as many as there are here."""
    entries = [other[i % len(other)] for i in range(len(mine))] if len(other) else mine
    return np.array(entries) if isinstance(mine, np.ndarray) else list(entries)


def _with_end(end, mine, other):
    if len(mine) < 2 or not len(other):
        return mine
    changed = copy.copy(mine)
    changed[end] = other[end]
    return changed


def growth(name: str, ratios: list[tuple[float, float]]) -> Iterator[Fact]:
    """Yield how an answer grows with an argument.

    ratios: for several cases, how many times as large the answer's value and the right one become when the argument doubles.
    """
    if len(ratios) < 2:
        return
    yours, right = (np.array(each) for each in zip(*ratios, strict=True))
    steady = [np.isfinite(each).all() and np.ptp(each) <= 0.02 * abs(each.mean()) for each in (yours, right)]
    if all(steady) and abs(yours.mean() - right.mean()) > 0.05 * abs(right.mean()):
        yield Fact("growth", {"name": name, "yours": _becomes(yours.mean()), "right": _becomes(right.mean())})


def _becomes(ratio):
    same = abs(ratio - 1) < 0.005
    return say("stays as it is") if same else say("becomes {ratio:.3g} times as large", ratio=float(ratio))
