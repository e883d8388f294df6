"""What in a wrong answer is wrong: one change of its own text, with which it is right on every input.

The changes are those by which slips are made of a right answer (calling.changes). That one mends the answer is seen and not
guessed, whatever its author meant. What is said names the place and the kind, and not what belongs there.
"""

import ast
import contextlib
import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from dpcourse.base.languages import say, to_say
from dpcourse.checking.calling import limits
from dpcourse.checking.calling.messages import heard, one_line

SECONDS = 2.0  # to look for changes that may mend it; few answers are so slow that it takes so long
FOR_PROOF, FOR_FRESH = 0.7, 0.7  # to see that one does, and that it does on fresh cases too
PORTION, ENOUGH = 10, 20  # cases that are asked for at once, and numbers that are right, where time allows no more
MOST, AT_ONCE = 1_000, 50
LONGEST = 120  # characters of a place
TURNING = {"operator", "operands", "sign"}  # what turns a sign, which can be done at many places
MOST_TURNED = 6
ALWAYS = {"late return"}  # what is a fault even where it is not the only one
OF_LOOPS = {"late return", "jump dropped"}  # what is told of a simple answer before any likeness in the results
FIRST = {"everywhere"}  # what is told of every answer before any likeness in the results
WHOLE = to_say("the whole condition `{old}` should not be there")
DONE = {  # what stands under an `if`
    "never": to_say("what is done if `{old}` should not be done"),
    "always": to_say("what is done if `{old}` should always be done"),
}
ENDS_THE_LOOP = to_say("`{old}` ends the loop, which should go on")
OF_SIZE = {"added", "part factor"}  # of which many mend a comparison: it asks for little
COMPLEMENTS = ({"`ppf`", "`isf`"}, {"`cdf`", "`sf`"})  # where 1 minus something mends it too, that is told
WEAK = {"other name", "added", "part factor", "constant", "range"}
"""What may mend an answer by accident, if something else is seen."""
BOUNDS = {"min", "max", "minimum", "maximum", "clip", "abs", "fabs", "absolute"}
HEAD = 2  # wrong results that a change must mend before all are tried
FAULTS = {  # kind of a change -> what is wrong where it mends an answer; the most telling first
    "everywhere": to_say("wherever {other} stands, {one} belongs"),
    "names of one": to_say("`{old}` gives several names to one value: what is changed in one is changed in all"),
    "jump dropped": to_say("`{old}` should not be there"),
    "statement dropped": to_say("`{old}` should not be there"),
    "late return": to_say("`{old}` ends the loop in its first round"),
    "condition dropped": to_say("a condition is too much in `{old}`"),
    "call dropped": to_say("{one} is too much in `{old}`"),
    "dropped": to_say("{part} is too much in `{old}`"),
    "comparison": to_say("`{other}` is wrong in `{old}`"),
    "operator": to_say("`{other}` is wrong in `{old}`"),
    "range": to_say("`{old}` begins or ends at the wrong place"),
    "all ranges": to_say("`{old}` ends at the wrong place, and so does each other range"),
    "start": to_say("`{old}` is no value to begin a search with, for what lies {side} it is never found"),
    "constant": to_say("`{old}` is the wrong value"),
    "call replaced": to_say("{one} is the wrong function in `{old}`"),
    "bracket": to_say("a bracket is missing in `{old}`, or closes at the wrong place"),
    "operands": to_say("the two sides of `{one}` stand in each other's place in `{old}`"),
    "arguments": to_say("two arguments stand in each other's place in `{old}`"),
    "other name": to_say("`{old}` is the wrong name"),
    "sign": to_say("the sign of `{old}` is wrong"),
    "added": to_say("{what} is missing at `{old}`"),
    "part factor": to_say("`{old}` is wrong by a factor of 2"),
}


@dataclass(frozen=True)
class Repair:
    """A change of an answer: its number, its kind and fields, the text that it changes, the line of that.

    mends: whether the answer is right with it; else it is of a kind that is a fault wherever it stands. other: one that mends it as well.
    """

    number: int
    kind: str
    fields: dict
    old: str
    line: int
    inputs: int = 0
    mends: bool = False
    other: "Repair | None" = None

    @property
    def order(self) -> tuple:
        """The most telling kind first, of one kind a bound (and a size), for one does not bind once what is in it is wrong, then what changes least:
        of two `if`, one in the other, the inner one."""
        return (
            self._rank,
            str(self.fields.get("one", "")).strip("`") not in BOUNDS,
            -self.line if self.fields.get("done") in DONE else 0,
            len(self.old),
            self.number,
        )

    @property
    def _rank(self):
        """A minus sign that is written and too much is as telling as anything else that is; two sides of which one has a sign are not exchanged."""
        kinds = list(FAULTS)
        if self.is_minus_too_much:
            return kinds.index("dropped")
        if self.kind == "call replaced" and {self.fields.get("one"), self.fields.get("other")} in COMPLEMENTS:
            return kinds.index("added") + 0.5
        return (
            kinds.index("sign") + 0.5
            if self.kind == "operands" and self.old.startswith("-")
            else kinds.index(self.kind)
        )

    @property
    def is_minus_too_much(self) -> bool:
        """Whether it takes a sign away that stands before a value."""
        return self.kind == "sign" and _has_a_sign(self.old)

    @property
    def turns(self) -> bool:
        """Whether it turns a sign by what stands between two values, or before one: the same can then be done elsewhere."""
        if self.kind == "operator":
            return {self.fields.get("one"), self.fields.get("other")} == {"+", "-"}
        return self.kind in TURNING and not self.is_minus_too_much

    @property
    def fault(self) -> str:
        if self.fields.get("done") in DONE:
            return say(DONE[self.fields["done"]], old=self.old)
        if self.kind == "condition dropped" and not _has_parts(self.old):
            return say(WHOLE, old=self.old)
        if self.old == "break":  # in its place nothing, or `continue`
            return say(ENDS_THE_LOOP, old=self.old)
        return say(FAULTS[self.kind], old=self.old, **_with_brackets(self.fields, self.old))

    @property
    def text(self) -> str:
        told = {"line": self.line, "fault": self.fault, "count": self.inputs}
        if not self.mends:
            return say("Line {line}: {fault}.", **told)
        if self.other is not None:
            return say(
                "Line {line}: {fault}; or line {other_line}: {other_fault}. With only one of the two changed, your answer is right "
                "on all {count} inputs tried.",
                other_line=self.other.line,
                other_fault=self.other.fault,
                **told,
            )
        return say(
            "Line {line}: {fault}. With only that changed, your answer is right on all {count} inputs tried.", **told
        )


def found(
    cases: list[dict],
    values: Sequence,
    right: Sequence,
    ask: Callable[..., list],
    close: Callable[[object, object], bool],
    kinds: Collection[str] = tuple(FAULTS),
    fresh: Callable[[], Sequence[tuple[dict, object]]] = tuple,
) -> Repair | None:
    """Return the change with which an answer is right on all cases, or else one of a fault that it has; None where there is none.

    values, right: what it gave on the cases, and what is right. kinds: those of the changes that are tried. fresh():
    further cases, each with what is right, on which such a change is tried too. ask(cases, seconds, exchanges=): see calling.probe.Probe.watch.
    """
    clock = limits.Clock(SECONDS)
    wrong = [i for i, (value, wanted) in enumerate(zip(values, right, strict=True)) if not close(value, wanted)][:HEAD]

    tried = list(zip(cases, right, strict=True))

    def asked(repairs, pairs, seconds):
        """Number of a change -> whether it is right with it on these cases; of those alone for which all results came in time."""
        given = ask([case for case, _ in pairs], seconds, exchanges=[repair.number for repair in repairs])
        return {
            number: all(
                result is not None and close(result, wanted) for (_, wanted), result in zip(pairs, results, strict=True)
            )
            for number, results in given
            if len(results) == len(pairs)
        }

    def mended(repairs, pairs, seconds):
        """Those with which it is right on these cases."""
        known = asked(repairs, pairs, seconds)
        return [repair for repair in repairs if known.get(repair.number)]

    def right_on(repair, pairs, clock):
        """On how many of these cases it is right with it, as far as time allows; 0 where it is wrong on one, or too few were asked for."""
        count, are_numbers = 0, not all(isinstance(wanted, bool) for _, wanted in pairs)
        for begin in range(0, len(pairs), PORTION):
            some, left = pairs[begin : begin + PORTION], clock.left()
            if left <= 0:
                break
            is_right = asked([repair], some, left).get(repair.number)
            if is_right is None:  # there was no time for them
                break
            if not is_right:
                return 0
            count += len(some)
        return count if count == len(pairs) or (are_numbers and count >= ENOUGH) else 0

    def proved(repairs, clock):
        """Yield those with which it is right on all cases, as they are found."""
        proving = None
        for begin in range(0, len(repairs), AT_ONCE):
            if clock.left() <= 0:
                return
            for repair in mended(repairs[begin : begin + AT_ONCE], [tried[i] for i in wrong], clock.left()):
                proving = proving or limits.Clock(FOR_PROOF)
                if proving.left() <= 0:
                    return
                if count := right_on(repair, tried, proving):
                    also = fresh()
                    more = right_on(repair, also, limits.Clock(FOR_FRESH))
                    if more or not also:
                        yield replace(repair, inputs=count + more, mends=True)

    def mending(repairs):
        first = next(proved(repairs, clock), None)
        if first is None:
            return None
        if first.turns:
            others = [each for each in repairs if each.turns and each.kind != "sign" and each.old != first.old]
            return _nearest([first, *itertools.islice(proved(others, limits.Clock(FOR_PROOF)), MOST_TURNED)])
        if first.kind == "dropped":  # of what is left out, all of it
            around = [each for each in repairs if each.kind == "dropped" and first.old in each.old != first.old]
            return max([first, *proved(around, limits.Clock(FOR_PROOF))], key=lambda each: len(each.old))
        return first

    listed = _sound(ask([], clock.left(), exchanges=None), len(cases))
    every = sorted((each for each in listed if each.kind in kinds), key=lambda repair: repair.order)
    return mending(every) or next((repair for repair in every if repair.kind in ALWAYS), None)


def _with_brackets(fields, old):
    """The fields of a sentence, with what is left out of an operation as it stands in it, its brackets too."""
    if "part" not in fields or not old.isascii():
        return fields
    with contextlib.suppress(SyntaxError):  # it may be cut
        tree = ast.parse(old, mode="eval").body
        if isinstance(tree, ast.BinOp):
            before, behind = old[: tree.right.col_offset].rstrip("( "), old[tree.left.end_col_offset :].lstrip(") ")
            is_right = fields["part"].strip("`").endswith(ast.unparse(tree.right))
            return fields | {"part": f"`{behind if is_right else before}`"}
    return fields


def _has_parts(text):
    """Whether a condition is made of several, or holds more than a condition; of a text that is cut it is not known."""
    with contextlib.suppress(SyntaxError):
        return not isinstance(ast.parse(text, mode="eval").body, ast.Compare | ast.Name | ast.Call | ast.UnaryOp)
    return True


def _has_a_sign(text):
    """Whether an expression is a value with a sign before it."""
    with contextlib.suppress(SyntaxError):  # it may be cut
        return isinstance(ast.parse(text, mode="eval").body, ast.UnaryOp)
    return False


def _nearest(turning):
    """Return of several that turn a sign the one that is nearest to the result, with the next one."""
    nearest, *rest = sorted(turning, key=lambda each: (-each.line, each.order))
    return replace(nearest, other=rest[0]) if rest and nearest.kind != "sign" else nearest


def _sound(listed, inputs) -> list[Repair]:
    """Return the changes that are told of, which come from where a learner's code runs."""
    return [
        Repair(int(number), kind, {name: heard(value) for name, value in fields.items()}, one_line(str(old), LONGEST), int(line), inputs)
        for number, kind, fields, old, line in listed[:MOST]
        if kind in FAULTS
    ]  # fmt: skip
