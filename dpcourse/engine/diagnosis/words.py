"""What explanations say, and which is preferred: one table, the cheapest that agrees with all that was seen wins.

An explanation of several changes costs the sum of theirs. Short, frequent and local is cheap: a change of the result
before a change of an input, an input before a slip in the program. The sentences name the kind and the place of a
mistake and never the right formula. A sentence is made when it is shown, from a kind and its named fields.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

SENTENCES = {  # kind: (cost, what follows "Your result is what comes out if ...", or a whole sentence of its own)
    # the right result, changed afterwards
    "negative": (1.0, "the sign is turned"),
    "complement": (1.2, "the result is taken from 1"),
    "inverse": (1.3, "1 is divided by the result"),
    "percent": (1.0, "the result is made a percentage, 100 times as large"),
    "rounded": (0.9, "the result is rounded; return it as it is, a caller can still round it"),
    "floored": (1.0, "the result is rounded down to a whole number"),
    "ceiled": (1.0, "the result is rounded up to a whole number"),
    "absolute": (1.3, "the sign of the result is lost (an absolute value)"),
    "not below 0": (1.3, "a result below 0 is made 0"),
    "not above 1": (1.3, "a result above 1 is made 1"),
    "square": (1.4, "the result is squared"),
    "root": (1.4, "the square root of the result is taken"),
    "logarithm": (1.5, "the logarithm of the result is taken"),
    "exponential": (1.5, "e is raised to the result"),
    "minus 1": (1.2, "1 is taken from the result"),
    "plus 1": (1.2, "1 is added to the result"),
    "factor": (1.1, "the result is multiplied by {factor}"),
    "times": (1.4, "the result is multiplied by {what}"),
    "divided": (1.4, "the result is divided by {what}"),
    "times both": (2.6, "the result is multiplied by {what}"),
    "divided both": (2.6, "the result is divided by {what}"),
    "plus": (1.6, "{what} is added to the result"),
    "minus": (1.6, "{what} is taken from the result"),
    "reversed result": (1.2, "the entries of the result are in reversed order"),
    "sorted result": (1.3, "the entries of the result are sorted"),
    "cumulated result": (1.4, "the entries of the result are added up on the way"),
    "shifted result": (1.4, "the entries of the result are moved by one place"),
    "summed result": (1.3, "the entries of the result are added up"),
    "normalised result": (1.5, "the entries of the result are divided by their sum"),
    "exchanged results": (1.0, "the numbers that you return change places: {order} is the order that is asked for"),
    "is argument": (1.0, "you return `{one}` as it is given"),
    "is feature": (1.05, "you return {what}"),
    "is formula": (2.5, "you return {what}"),
    # the reference on other inputs
    "argument exchanged": (1.6, "`{one}` and `{other}` change places"),
    "argument replaced": (1.9, "`{other}` stands where `{one}` belongs"),
    "argument set": (1.8, "`{one}` is {value}, whatever it is given as"),
    "argument changed": (1.9, "{value} stands where `{one}` belongs"),
    "argument bent": (2.7, "{value} stands where `{one}` belongs"),
    "argument negative": (1.9, "the sign of `{one}` is turned"),
    "argument complement": (1.9, "`{one}` and 1 - `{one}` change places"),
    "list reversed": (1.7, "`{one}` is read backwards"),
    "list sorted": (1.7, "`{one}` is sorted first"),
    "list without": (1.6, "{what} of `{one}` is left out"),
    "list without repeats": (1.6, "entries of `{one}` that occur twice count once"),
    "list as one": (1.8, "{what} of `{one}` is taken in place of its entries"),
    "entries changed": (2.0, "{what} of each entry of `{one}` is taken"),
    "matrix transposed": (1.7, "rows and columns of `{one}` change places"),
    # a slip in the program
    "operator": (2.2, "`{one}` is done where `{other}` belongs{place}"),
    "operands": (2.3, "the two sides of `{one}` change places{place}"),
    "dropped": (2.2, "{what} is left out{place}"),
    "call dropped": (2.0, "the {what} is left out{place}"),
    "call replaced": (2.1, "{other} is taken where {one} belongs{place}"),
    "added": (2.4, "{what} is taken where there should be none{place}"),
    "part factor": (2.3, "a part is multiplied by {factor}{place}"),
    "sign": (2.1, "a sign is turned{place}"),
    "bracket": (2.2, "a bracket is missing, or closes at the wrong place{place}"),
    "constant": (2.3, "a number is {value} that should be another{place}"),
    "comparison": (2.0, "`{one}` is asked where `{other}` belongs{place}"),
    "other name": (2.3, "`{other}` stands where `{one}` belongs{place}"),
    "range": (2.2, "a loop or a range begins or ends one place off{place}"),
    "condition dropped": (2.2, "a condition is left out{place}"),
    "early return": (2.2, "the loop ends in its first round"),
    "misconception": (2.6, ""),
}

ALONE = {  # a sentence of its own where the change is the only one
    "negative": "Right, but with the opposite sign.",
    "rounded": "Right, but rounded. Return the number as it is; a caller can still round it.",
    "percent": "Right, but 100 times too large. Return a share, not a percentage.",
    "complement": "Your result is 1 minus the right one.",
    "inverse": "Your result is 1 over the right one.",
    "square": "Your result is the square of the right one.",
    "root": "Your result is the square root of the right one.",
    "logarithm": "Your result is the logarithm of the right one.",
    "exponential": "Your result is e to the power of the right one.",
    "absolute": "Right in size, but a sign is lost: is there an absolute value too many?",
    "minus 1": "Your result is the right one minus 1.",
    "plus 1": "Your result is the right one plus 1.",
    "factor": "Your result is the right one times {factor}.",
    "times": "Your result is the right one times {what}: a factor too many, or a division that is missing.",
    "divided": "Your result is the right one divided by {what}: a division too many, or a factor that is missing.",
    "times both": "Your result is the right one times {what}: a factor too many, or a division that is missing.",
    "divided both": "Your result is the right one divided by {what}: a division too many, or a factor that is missing.",
    "plus": "Your result is the right one plus {what}.",
    "minus": "Your result is the right one minus {what}.",
    "is argument": "You return `{one}` as it is given.",
    "is feature": "You return {what}.",
    "is formula": "You return {what}.",
}

AFTER = ("rounded", "percent", "floored", "ceiled", "factor", "complement")
"""The only changes of a result that are told beside a change of the inputs or a slip: others agree by algebra, and nobody made them."""

EXPLAINING = {
    "constant result",
    "always",
    "independent",
    "growth",
    "right where",
    "wrong entries",
    "ratio",
    "offset",
}
"""What was measured, and is a reason by itself."""

WHOLE = {  # sentences of their own, in the order in which they are told
    "is argument": "You return {what}, as it is given.",
    "constant result": "Your result is {value} on every input tried.",
    "independent": "Your result does not change with {names}; the right one does.",
    "growth": "When `{name}` doubles, yours {yours}, and the right one {right}.",
    "right where": "Right wherever {condition}; look at the other inputs.",
    "right at 0": "Right only where the right result is 0.",
    "wrong entries": "Right but for {which}.",
    "ratio": "Yours is {factor} times the right one {on}.",
    "offset": "Yours is the right one {offset} {on}.",
    "too large": "Your result is too large {on}: {low} to {high} times the right one.",
    "too small": "Your result is too small {on}: {low} to {high} times the right one.",
    "larger": "Your result is larger than the right one {on}, by {low} to {high}.",
    "smaller": "Your result is smaller than the right one {on}, by {low} to {high}.",
    "sign of all": "Your result is {yours} {on}; the right one is {right}.",
    "always": "Your answer is {yours} on every input tried; the right one is not.",
    "share": "Right on {right} of {all} inputs.",
    "share of entries": "{right} of {all} entries are right.",
    "one-sided": "On the others you say {yours}, and {right} is right.",
    "times in size": "Your result is {low} to {high} times the right one {on}.",
    "mixed": "Your result is now too large and now too small {on}: {low} to {high} times the right one.",
    "scattered": "Your result is now too large and now too small {on}: by {low} to {high}.",
}


@dataclass(frozen=True)
class Change:
    """One change of what is right: its kind, a key of SENTENCES, and the fields of its sentence."""

    kind: str
    fields: dict = field(default_factory=dict)

    @property
    def cost(self) -> float:
        return SENTENCES[self.kind][0]

    def __str__(self) -> str:
        return SENTENCES[self.kind][1].format(**self.fields)


@dataclass(frozen=True)
class Fact:
    """One thing that was measured of an answer: its kind, a key of WHOLE, and the fields of its sentence."""

    kind: str
    fields: dict = field(default_factory=dict)

    def __str__(self) -> str:
        return WHOLE[self.kind].format(**self.fields)


def cost(changes: Iterable[Change]) -> float:
    """What an explanation of these changes costs."""
    return sum(change.cost for change in changes)


def sentence(changes: tuple[Change, ...], told: str = "") -> str:
    """An explanation in words; told: the message of the misconception that it begins with."""
    if len(changes) == 1 and changes[0].kind in ALONE:
        return ALONE[changes[0].kind].format(**changes[0].fields)
    rest = [str(change) for change in changes if change.kind != "misconception"]
    if not told:
        return f"Your result is what comes out if {', and '.join(rest)}."
    return f"{told} Besides, {', and '.join(rest)}." if rest else told
