"""What numbers and libraries do that many do not expect, where a wrong answer has met it.

What is said did happen in that line, on an input on which the answer is wrong, and on none on which it is right; and no right
answer meets it there. Whether it is the mistake is not proved.
"""

import ast
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking.calling.changes import called
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import show
from dpcourse.checking.diagnosis.place import sound_places, watched_right

SECONDS, MOST = 0.3, 8  # cases of each kind
NEAR = 1e-9  # of a number: what is as near as this to another is meant to be equal
RISING = {"interp": 1, "searchsorted": 0, "bisect": 0, "bisect_left": 0, "bisect_right": 0}
"""Which argument has to rise."""
WHOLE = {"int": np.trunc, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}
EXACT = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply}


class _Seen:
    """An expression with what it gave, and what its parts gave, in one evaluation."""

    def __init__(self, node, value, parts):
        self.node, self.value, self.parts = node, value, parts

    def of(self, node):
        """What a part gave, or the number that it is. Raises LookupError or ValueError where that is not known."""
        text = ast.unparse(node)
        return self.parts[text] if text in self.parts else ast.literal_eval(node)

    @property
    def called(self) -> str:
        """The name of what is called; nothing where nothing is."""
        return called(self.node) if isinstance(self.node, ast.Call) else ""

    @property
    def arguments(self) -> list[ast.expr]:
        """What is called with, a method's own object first, a module left out."""
        function = self.node.func
        own = (
            [function.value]
            if isinstance(function, ast.Attribute) and ast.unparse(function.value) in self.parts
            else []
        )
        return [*own, *self.node.args]

    @property
    def is_cast(self) -> str:
        """The type that `x.astype(type)` makes; nothing of anything else."""
        if self.called != "astype" or not self.node.args:
            return ""
        return ast.unparse(self.node.args[0]).rpartition(".")[2].strip("'\"")


def found(
    wrong: list[dict], right: list[dict], watch: Callable[..., list], functions: Sequence[Callable] = (),
    rules: Sequence[Callable] | None = None,
) -> str | None:  # fmt: skip
    """Return in a sentence what a wrong answer met on some of these cases, and never where it is right; None where nothing is known.

    functions: right answers. rules: those of RULES that are asked; all, if none are given. watch(cases, seconds, exchanges): see calling.probe.Probe.watch.
    """
    wrong, right = wrong[:MOST], right[:MOST]
    listed, *given = watch([*wrong, *right], SECONDS, exchanges=[]) or [[]]
    places = sound_places(listed)
    given = [each for each in given if len(each) == len(places)]
    bad, good = given[: len(wrong)], given[len(wrong) :]
    for rule in RULES if rules is None else rules:
        if not good and rule in ONLY_BESIDE_RIGHT:
            continue
        if any(_is_met(rule, function, wrong) for function in functions):
            continue
        for number, where in enumerate(places):
            told = _met(rule, places, number, bad)
            always = rule not in ONLY_BESIDE_RIGHT or all(_met(rule, places, number, [each]) for each in bad)
            if told and always and not _met(rule, places, number, good):
                return say("Line {line}: {told}", line=where.line, told=told)
    return None


def not_finite(case: dict, watch: Callable[..., list]) -> str | None:
    """Return in a sentence where an answer first gives what is no finite number, of finite ones; None where nothing is known."""
    listed, *given = watch([case], SECONDS, exchanges=[]) or [[]]
    places = sound_places(listed)
    given = [each for each in given if len(each) == len(places)]
    for number, where in enumerate(places):
        if told := _met(_first_not_finite, places, number, given):
            return say("Line {line}: {told}", line=where.line, told=told)
    return None


def _is_met(rule, function, cases):
    """Whether a right answer meets it on one of these cases."""
    watched = watched_right(function)
    given = [watched.steps(list(arguments(case))) for case in cases]
    return any(_met(rule, watched.places, number, given) for number in range(len(watched.places)))


def _met(rule, places, number, given):
    """What a rule says of the first evaluation of a place, in any of these calls, in which it has something to say."""
    try:
        node = ast.parse(places[number].text, mode="eval").body
    except SyntaxError:  # it is cut
        return None
    for values in given:
        for seen in _evaluations(node, places, number, values):
            try:
                if told := rule(seen):
                    return told
            except (LookupError, TypeError, ValueError, OverflowError, SyntaxError, AttributeError):
                continue
    return None


def _evaluations(node, places, number, values) -> Iterator[_Seen]:
    if values[number] is None:
        return
    parts = {places[part].text: values[part] for part in places[number].parts}
    parts = {text: each for text, each in parts.items() if each is not None and len(each) == len(values[number])}
    for k, value in enumerate(values[number]):
        yield _Seen(node, value, {text: each[k] for text, each in parts.items()})


# ---- what may surprise, each a sentence or nothing


def _does_not_rise(seen):
    if seen.called in RISING and not any(each.arg == "sorter" for each in seen.node.keywords):
        which = seen.arguments[RISING[seen.called]]
        if (np.diff(np.asarray(seen.of(which), dtype=float)) < 0).any():
            return say("`{function}` takes for granted that `{what}` rises, and it does not; then the result may be anything.", function=seen.called, what=ast.unparse(which))  # fmt: skip
    return None


def _overflows(seen):
    exact = EXACT.get(type(seen.node.op)) if isinstance(seen.node, ast.BinOp) else None
    if exact is None:
        return None
    mine, *both = (np.asarray(each) for each in (seen.value, seen.of(seen.node.left), seen.of(seen.node.right)))
    if mine.shape != np.broadcast_shapes(*(each.shape for each in both)) or not all(
        each.dtype.kind in "iu" for each in (mine, *both)
    ):
        return None
    wanted = exact(*(each.astype(object) for each in both))
    apart = _first(mine.astype(object) != wanted)
    if apart is None:
        return None
    return say(
        "`{place}` is too large for the type of these whole numbers: it gives {value}, where it is {right}. Python's own `int` knows no limit.",
        place=ast.unparse(seen.node), value=_entry(mine, apart), right=_entry(wanted, apart),
    )  # fmt: skip


def _remainder_below_0(seen):
    if seen.called == "fmod" and np.any(np.asarray(seen.value) < 0):
        return say("`fmod` gives a number below 0 where `%` gives one from 0 on.")
    return None


def _distance_below_0(seen):
    if seen.called == "spacing" and np.any(np.asarray(seen.value) < 0):
        return say("`spacing` of a number below 0 is below 0.")
    return None


def _percents(seen):
    if seen.called == "percentile":
        share = np.asarray(seen.of(seen.node.args[1]), dtype=float)
        if share.size and (share < 1).all() and share.any():
            return say("`percentile` counts in percents, and `quantile` from 0 to 1.")
    return None


def _opposite_of_whole(seen):
    """~True is -2, and ~0 is -1."""
    if isinstance(seen.node, ast.UnaryOp) and isinstance(seen.node.op, ast.Invert):
        value, of = np.asarray(seen.value), np.asarray(seen.of(seen.node.operand))
        if value.dtype.kind in "iu" and np.isin(of, (0, 1)).all():
            return say("`{place}` makes -1 of 0 and -2 of 1; the opposite of a truth value is `not`, of a bit `1 - bit`.", place=ast.unparse(seen.node))  # fmt: skip
    return None


def _made_true(seen):
    if seen.is_cast in ("bool", "bool_"):
        values = np.asarray(seen.of(seen.node.func.value), dtype=float)
        apart = _first((values != 0) & (values != 1))
        if apart is not None:
            return say("`{place}` makes True of all that is not 0, such as {value}.", place=ast.unparse(seen.node), value=_entry(values, apart))  # fmt: skip
    return None


def _nearly_equal(seen):
    """Two numbers that are compared, and equal but for the last digits of doubles."""
    if not isinstance(seen.node, ast.Compare) or len(seen.node.ops) > 1 or not isinstance(seen.node.ops[0], (ast.Eq, ast.NotEq)):  # fmt: skip
        return None
    return _nearly(seen)


def _nearly_at_the_limit(seen):
    if not isinstance(seen.node, ast.Compare) or len(seen.node.ops) > 1:
        return None
    return _nearly(seen)


def _nearly(seen):
    one, other = (np.asarray(seen.of(each), dtype=float) for each in (seen.node.left, seen.node.comparators[0]))
    if np.broadcast_shapes(one.shape, other.shape) != np.shape(seen.value):
        return None
    one, other = np.broadcast_arrays(one, other)
    apart = _first((one != other) & (np.abs(one - other) <= NEAR * np.minimum(np.abs(one), np.abs(other))))
    if apart is None:
        return None
    first, second = (repr(float(each.flat[apart])) for each in (one, other))
    return say("`{place}` compares {one} with {other}: doubles that are equal but for their last digits.", place=ast.unparse(seen.node), one=first, other=second)  # fmt: skip


def _what_is_made_whole(seen):
    """What an expression makes whole, and how: the numbers before, and what numpy's function gives of them; None where it makes nothing whole."""
    if seen.called in WHOLE:
        of, how = seen.node.args[0], WHOLE[seen.called]
    elif seen.is_cast.startswith("int"):
        of, how = seen.node.func.value, np.trunc
    else:
        return None
    before = np.asarray(seen.of(of), dtype=float)
    return (before, how(before)) if np.isfinite(before).all() else None


def _cut_beside_whole(seen):
    """0.29 * 100 is 28.999999999999996."""
    if (both := _what_is_made_whole(seen)) is None:
        return None
    before, after = both
    near = np.round(before)
    apart = _first((after != near) & (np.abs(before - near) <= NEAR * np.maximum(1, np.abs(near))))
    if apart is None:
        return None
    return say("`{place}` makes {value} of {before}, which is {near} but for its last digits: round first.", place=ast.unparse(seen.node), value=_entry(after, apart), before=repr(float(before.flat[apart])), near=_entry(near, apart))  # fmt: skip


def _cut(seen):
    both = _what_is_made_whole(seen)
    apart = None if both is None else _first(both[0] != both[1])
    if apart is None:
        return None
    return say("`{place}` makes {value} of {before}: is that meant?", place=ast.unparse(seen.node), value=_entry(both[1], apart), before=_entry(both[0], apart))  # fmt: skip


def _half_to_even(seen):
    if seen.called in ("round", "rint", "around") and len(seen.node.args) == 1:
        before = np.asarray(seen.of(seen.node.args[0]), dtype=float)
        apart = _first((before - np.floor(before) == 0.5) & (np.floor(before) % 2 == 0))
        if apart is not None:
            return say("`{function}` makes {value} of {before}: a half goes to the even number.", function=seen.called, value=_entry(np.round(before), apart), before=_entry(before, apart))  # fmt: skip
    return None


def _first_not_finite(seen):
    if not seen.parts or not isinstance(seen.node, (ast.BinOp, ast.Call)):
        return None
    value = np.asarray(seen.value, dtype=float)
    apart = _first(~np.isfinite(value))
    if apart is None or not all(np.isfinite(np.asarray(each, dtype=float)).all() for each in seen.parts.values()):
        return None
    of = [(text, np.asarray(each, dtype=float)) for text, each in seen.parts.items()]
    at = [(text, each.flat[apart] if each.shape == value.shape else each) for text, each in of]
    told = [f"`{text}` = {show(plain.item())}" for text, plain in at if np.size(plain) == 1]
    if not told:
        return None
    return say("`{place}` gives {value} for {of}.", place=ast.unparse(seen.node), value=float(value.flat[apart]), of=", ".join(told))  # fmt: skip


RULES = (
    _does_not_rise, _overflows, _remainder_below_0, _distance_below_0, _percents, _opposite_of_whole, _made_true,
    _nearly_equal, _cut_beside_whole, _nearly_at_the_limit, _half_to_even, _cut,
)  # fmt: skip
SURE = (_does_not_rise, _overflows)
"""What nobody means: it is told before a mend that may be an accident."""
ONLY_BESIDE_RIGHT = (_nearly_at_the_limit, _half_to_even)
"""What many right answers meet too, as a search does at its end: said only where an answer meets it whenever it is wrong, and never when it is right."""


def _first(where) -> int | None:
    """The number of the first entry that is true; None where none is."""
    entries = np.flatnonzero(where)
    return int(entries[0]) if entries.size else None


def _entry(values, number):
    one = np.asarray(values).flat[number]
    return show(
        int(one) if isinstance(one, (int, np.integer)) or (math.isfinite(one) and one == int(one)) else float(one)
    )
