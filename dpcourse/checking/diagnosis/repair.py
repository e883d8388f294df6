"""What in a wrong answer is wrong: one change of its own text, with which it is right on every input.

The changes are those by which slips are made of a right answer (calling.changes). That one mends the answer is seen and not
guessed, whatever its author meant. What is said names the place and the kind, and not what belongs there.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from dpcourse.base.languages import say, to_say
from dpcourse.checking.calling import limits
from dpcourse.checking.calling.messages import heard, one_line

SECONDS, FOR_PROOF, FOR_FRESH = (
    1.0,
    0.7,
    0.7,
)  # to look for changes that may mend it; to see that one does, on fresh cases too
MOST, AT_ONCE = 1_000, 50
LONGEST = 120  # characters of a place
ALWAYS = {"late return"}  # what is a fault even where it is not the only one
OF_LOOPS = {"late return", "jump dropped"}  # what is told before any likeness in the results
OF_SIZE = {"added", "part factor"}  # of which many mend a comparison: it asks for little
BOUNDS = {"min", "max", "minimum", "maximum", "clip"}
HEAD = 2  # wrong results that a change must mend before all are tried
FAULTS = {  # kind of a change -> what is wrong where it mends an answer; the most telling first
    "jump dropped": to_say("`{old}` should not be there"),
    "late return": to_say("`{old}` ends the loop in its first round"),
    "condition dropped": to_say("a condition is too much in `{old}`"),
    "call dropped": to_say("{one} is too much in `{old}`"),
    "dropped": to_say("{part} is too much in `{old}`"),
    "comparison": to_say("`{other}` is wrong in `{old}`"),
    "operator": to_say("`{other}` is wrong in `{old}`"),
    "range": to_say("`{old}` begins or ends at the wrong place"),
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

    mends: whether the answer is right with it; else it is of a kind that is a fault wherever it stands.
    """

    number: int
    kind: str
    fields: dict
    old: str
    line: int
    inputs: int = 0
    mends: bool = False

    @property
    def order(self) -> tuple:
        """The most telling kind first, of one kind a bound, for one does not bind once what is in it is wrong, then what changes least."""
        return (
            list(FAULTS).index(self.kind),
            str(self.fields.get("one", "")).strip("`") not in BOUNDS,
            len(self.old),
            self.number,
        )

    @property
    def text(self) -> str:
        told = {"line": self.line, "fault": say(FAULTS[self.kind], old=self.old, **self.fields), "count": self.inputs}
        if not self.mends:
            return say("Line {line}: {fault}.", **told)
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

    def mended(repairs, pairs, seconds):
        """Those with which it is right on these cases."""
        given = ask([case for case, _ in pairs], seconds, exchanges=[repair.number for repair in repairs])
        mends = {
            number
            for number, results in given
            if len(results) == len(pairs)
            and all(
                result is not None and close(result, wanted) for (_, wanted), result in zip(pairs, results, strict=True)
            )
        }
        return [repair for repair in repairs if repair.number in mends]

    def mending(repairs):
        proving = None
        for begin in range(0, len(repairs), AT_ONCE):
            if clock.left() <= 0:
                return None
            for repair in mended(repairs[begin : begin + AT_ONCE], [tried[i] for i in wrong], clock.left()):
                proving = proving or limits.Clock(FOR_PROOF)
                if (left := proving.left()) <= 0:
                    return None
                if mended([repair], tried, left) and (not (also := fresh()) or mended([repair], also, FOR_FRESH)):
                    return replace(repair, inputs=len(tried) + len(also), mends=True)
        return None

    listed = _sound(ask([], clock.left(), exchanges=None), len(cases))
    every = sorted((each for each in listed if each.kind in kinds), key=lambda repair: repair.order)
    return mending(every) or next((repair for repair in every if repair.kind in ALWAYS), None)


def _sound(listed, inputs) -> list[Repair]:
    """Return the changes that are told of, which come from where a learner's code runs."""
    return [
        Repair(int(number), kind, {name: heard(value) for name, value in fields.items()}, one_line(str(old), LONGEST), int(line), inputs)
        for number, kind, fields, old, line in listed[:MOST]
        if kind in FAULTS
    ]  # fmt: skip
