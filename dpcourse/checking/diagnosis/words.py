"""What explanations say, and which is preferred: one table, the cheapest that agrees with all that was seen wins.

An explanation of several changes costs the sum of theirs. Short, frequent and local is cheap: a change of the result
before a change of an input, an input before a slip in the program. The sentences name the kind and the place of a
mistake and never the right formula. A sentence is made when it is shown, from a kind and its named fields: names,
numbers, and phrases that are said themselves.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpcourse.base.languages import say, sentences, to_say
from dpcourse.checking.calling import changes

SENTENCES = {  # kind: (cost, what follows "Your result is what comes out if ...", or a whole sentence of its own)
    # the right result, changed afterwards
    "negative": (1.0, to_say("the sign is turned")),
    "complement": (1.2, to_say("the result is taken from 1")),
    "inverse": (1.3, to_say("1 is divided by the result")),
    "percent": (1.0, to_say("the result is made a percentage, 100 times as large")),
    "rounded": (0.9, to_say("the result is rounded; return it as it is, a caller can still round it")),
    "floored": (1.0, to_say("the result is rounded down to a whole number")),
    "ceiled": (1.0, to_say("the result is rounded up to a whole number")),
    "absolute": (1.3, to_say("the sign of the result is lost (an absolute value)")),
    "raised": (1.2, to_say("a result below {what} is made {what}")),
    "lowered": (1.2, to_say("a result above {what} is made {what}")),
    "not raised": (1.2, to_say("a result below {what} is left as it is")),
    "not lowered": (1.2, to_say("a result above {what} is left as it is")),
    "square": (1.4, to_say("the result is squared")),
    "root": (1.4, to_say("the square root of the result is taken")),
    "logarithm": (1.5, to_say("the logarithm of the result is taken")),
    "exponential": (1.5, to_say("e is raised to the result")),
    "minus 1": (1.2, to_say("1 is taken from the result")),
    "plus 1": (1.2, to_say("1 is added to the result")),
    "factor": (1.1, to_say("the result is multiplied by {factor}")),
    "times": (1.4, to_say("the result is multiplied by {what}")),
    "divided": (1.4, to_say("the result is divided by {what}")),
    "times both": (2.6, to_say("the result is multiplied by {what}")),
    "divided both": (2.6, to_say("the result is divided by {what}")),
    "plus": (1.6, to_say("{what} is added to the result")),
    "minus": (1.6, to_say("{what} is taken from the result")),
    "reversed result": (1.2, to_say("the entries of the result are in reversed order")),
    "sorted result": (1.3, to_say("the entries of the result are sorted")),
    "cumulated result": (1.4, to_say("the entries of the result are added up on the way")),
    "shifted result": (1.4, to_say("the entries of the result are moved by one place")),
    "summed result": (1.3, to_say("the entries of the result are added up")),
    "normalised result": (1.5, to_say("the entries of the result are divided by their sum")),
    "exchanged results": (
        1.0,
        to_say("the numbers that you return change places: {order} is the order that is asked for"),
    ),
    "is argument": (1.0, to_say("you return `{one}` as it is given")),
    "is feature": (1.05, to_say("you return {what}")),
    "is formula": (2.5, to_say("you return {what}")),
    # the reference on other inputs
    "argument exchanged": (1.6, to_say("`{one}` and `{other}` change places")),
    "argument replaced": (1.9, to_say("`{other}` stands where `{one}` belongs")),
    "argument set": (1.8, to_say("`{one}` is {value}, whatever it is given as")),
    "argument changed": (1.9, to_say("{value} stands where `{one}` belongs")),
    "argument bent": (2.7, to_say("{value} stands where `{one}` belongs")),
    "argument negative": (1.9, to_say("the sign of `{one}` is turned")),
    "argument complement": (1.9, to_say("`{one}` and 1 - `{one}` change places")),
    "list reversed": (1.7, to_say("`{one}` is read backwards")),
    "list sorted": (1.7, to_say("`{one}` is sorted first")),
    "list without": (1.6, to_say("{what} of {lists} is left out")),
    "list without repeats": (1.6, to_say("entries of `{one}` that occur twice count once")),
    "list as one": (1.8, to_say("{what} of `{one}` is taken in place of its entries")),
    "entries changed": (2.0, to_say("{what} of each entry of `{one}` is taken")),
    "matrix transposed": (1.7, to_say("rows and columns of `{one}` change places")),
    # a slip in the program
    "operator": (2.2, to_say("`{one}` is done where `{other}` belongs")),
    "operands": (2.3, to_say("the two sides of `{one}` change places")),
    "arguments": (2.3, to_say("two arguments of a function change places")),
    "dropped": (2.2, to_say("{what} is left out")),
    "call dropped": (2.0, to_say("{what} is left out")),
    "call replaced": (2.1, to_say("{other} is taken where {one} belongs")),
    "added": (2.4, to_say("{what} is taken where there should be none")),
    "part factor": (2.3, to_say("a part is multiplied by {factor}")),
    "sign": (2.1, to_say("a sign is turned")),
    "bracket": (2.2, to_say("a bracket is missing, or closes at the wrong place")),
    "constant": (2.3, to_say("a number is {value} that should be another")),
    "comparison": (2.0, to_say("`{one}` is asked where `{other}` belongs")),
    "other name": (2.3, to_say("`{other}` stands where `{one}` belongs")),
    "range": (2.2, to_say("a loop or a range begins or ends one place off")),
    "condition dropped": (2.2, to_say("a condition is left out")),
    "early return": (2.2, to_say("the loop ends in its first round")),
    "late return": (2.2, to_say("a loop goes through all its rounds where it should end in the first")),
    "jump dropped": (2.2, to_say("a loop goes on where it should end, or leave out the rest of a round")),
    "misconception": (2.6, ""),
}

ALONE = {  # a sentence of its own where the change is the only one
    "negative": to_say("Right, but with the opposite sign."),
    "rounded": to_say("Right, but rounded. Return the number as it is; a caller can still round it."),
    "percent": to_say("Right, but 100 times too large. Return a share, not a percentage."),
    "complement": to_say("Your result is 1 minus the right one."),
    "inverse": to_say("Your result is 1 over the right one."),
    "square": to_say("Your result is the square of the right one."),
    "root": to_say("Your result is the square root of the right one."),
    "logarithm": to_say("Your result is the logarithm of the right one."),
    "exponential": to_say("Your result is e to the power of the right one."),
    "absolute": to_say("Right in size, but a sign is lost: is there an absolute value too many?"),
    "raised": to_say("Right, but where the right result is below {what}: there you return {what}."),
    "lowered": to_say("Right, but where the right result is above {what}: there you return {what}."),
    "not raised": to_say("Right, but where your result is below {what}: there {what} is right."),
    "not lowered": to_say("Right, but where your result is above {what}: there {what} is right."),
    "minus 1": to_say("Your result is the right one minus 1."),
    "plus 1": to_say("Your result is the right one plus 1."),
    "factor": to_say("Your result is the right one times {factor}."),
    "times": to_say("Your result is the right one times {what}: a factor too many, or a division that is missing."),
    "divided": to_say(
        "Your result is the right one divided by {what}: a division too many, or a factor that is missing."
    ),
    "times both": to_say(
        "Your result is the right one times {what}: a factor too many, or a division that is missing."
    ),
    "divided both": to_say(
        "Your result is the right one divided by {what}: a division too many, or a factor that is missing."
    ),
    "plus": to_say("Your result is the right one plus {what}."),
    "minus": to_say("Your result is the right one minus {what}."),
    "is argument": to_say("You return `{one}` as it is given."),
    "is feature": to_say("You return {what}."),
    "is formula": to_say("You return {what}."),
}

AFTER = ("rounded", "percent", "floored", "ceiled", "factor", "complement")
"""The only changes of a result that are told beside a change of the inputs or a slip: others agree by algebra, and nobody made them."""

EXPLAINING = {
    "constant result",
    "always",
    "independent",
    "growth",
    "near",
    "right where",
    "wrong only where",
    "right only where",
    "wrong entries",
    "some entries",
    "constant where wrong",
    "multiples",
    "ratio",
    "offset",
    "ratio times",
    "ratio divided",
    "offset plus",
    "offset minus",
}
"""What was measured, and is a reason by itself."""

WHOLE = {  # sentences of their own, in the order in which they are told
    "is argument": to_say("You return {what}, as it is given."),
    "constant result": to_say("Your result is {value} on every input tried."),
    "near": to_say(
        "On the inputs tried your result is never farther from the right one than {most}, and seldom right. Look for something that is rounded, for "
        "an approximation, or for a search or a sum that ends too early."
    ),
    "order": to_say("Your result depends on the order in which the entries of {names} stand; the right one does not."),
    "independent": to_say("Your result does not change with {names}; the right one does."),
    "growth": to_say("When `{name}` doubles, yours {yours}, and the right one {right}."),
    "right where": to_say("Right wherever {condition}; look at the other inputs."),
    "wrong only where": to_say("Of the inputs tried, wrong only where {condition}."),
    "right only where": to_say("Of the inputs tried, right only where {condition}."),
    "right at 0": to_say("Right only where the right result is 0."),
    "constant where wrong": to_say("Wherever it is wrong, your result is {value}."),
    "multiples": to_say("Your results are all multiples of {number}; the right ones are not."),
    "wrong entries": to_say("Right but for {which}."),
    "some entries": to_say("Of the entries of your result, counted from 1, only these are wrong somewhere: {entries}."),
    "ratio": to_say("Yours is {factor} times the right one {on}."),
    "offset": to_say("Yours is the right one {offset} {on}."),
    "ratio times": to_say("Yours is the right one times {what} {on}."),
    "ratio divided": to_say("Yours is the right one divided by {what} {on}."),
    "offset plus": to_say("Yours is the right one plus {what} {on}."),
    "offset minus": to_say("Yours is the right one minus {what} {on}."),
    "ratio by": to_say(
        "How many times the right one yours is depends on {what} alone {on}: {first} times where that is {one}, {second} times where it is {other}."
    ),
    "farther off": to_say(
        "The larger {what}, the farther off your result: {first} times the right one where that is {one}, {second} times where it is {other}."
    ),
    "farther off below": to_say(
        "The smaller {what}, the farther off your result: {first} times the right one where that is {one}, {second} times where it is {other}."
    ),
    "too large": to_say("Your result is too large {on}: {low} to {high} times the right one."),
    "too small": to_say("Your result is too small {on}: {low} to {high} times the right one."),
    "larger": to_say("Your result is larger than the right one {on}, by {low} to {high}."),
    "smaller": to_say("Your result is smaller than the right one {on}, by {low} to {high}."),
    "sign of all": to_say("Your result is {yours} {on}; the right one is {right}."),
    "always": to_say("Your answer is {yours} on every input tried; the right one is not."),
    "share": to_say("Right on {right} of {all} inputs."),
    "share of entries": to_say("{right} of {all} entries are right."),
    "one-sided": to_say("On the others you say {yours}, and {right} is right."),
    "one-sided entries": to_say("Each entry that is wrong on the inputs tried is {yours}, and {right} is right."),
    "times in size": to_say("Your result is {low} to {high} times the right one {on}."),
    "mixed": to_say("Your result is now too large and now too small {on}: {low} to {high} times the right one."),
    "scattered": to_say("Your result is now too large and now too small {on}: by {low} to {high}."),
}


@dataclass(frozen=True)
class Change(changes.Change):
    """One change of what is right, in words; its kind is a key of SENTENCES."""

    @classmethod
    def of(cls, change: changes.Change) -> "Change":
        """Return a change of a program."""
        return cls(change.kind, change.fields, change.place)

    @property
    def cost(self) -> float:
        return SENTENCES[self.kind][0]

    @property
    def text(self) -> str:
        change = say(SENTENCES[self.kind][1], **self.fields)
        return say("{change} {place}", change=change, place=self.place) if self.place else change


@dataclass(frozen=True)
class Fact:
    """One thing that was measured of an answer: its kind, a key of WHOLE, and the fields of its sentence."""

    kind: str
    fields: dict = field(default_factory=dict)

    @property
    def text(self) -> str:
        return say(WHOLE[self.kind], **self.fields)


def cost(changes: Iterable[Change]) -> float:
    """Return what an explanation of these changes costs."""
    return sum(change.cost for change in changes)


def sentence(changes: tuple[Change, ...], told: str = "") -> str:
    """Return an explanation in words; told: the message of the misconception that it begins with."""
    if len(changes) == 1 and changes[0].kind in ALONE:
        return say(ALONE[changes[0].kind], **changes[0].fields)
    rest = joined(change.text for change in changes if change.kind != "misconception")
    if not told:
        return say("Your result is what comes out if {causes}.", causes=rest)
    return sentences([say(told), *([say("Besides, {causes}.", causes=rest)] if rest else [])])


def joined(clauses: Iterable[str]) -> str:
    """Join the clauses of one sentence; return nothing where there are none."""
    one_by_one = list(clauses)
    return functools.reduce(lambda first, then: say("{first}, and {then}", first=first, then=then), one_by_one or [""])
