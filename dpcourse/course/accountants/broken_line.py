"""The line that breaks the promise."""

import math
import numbers

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking import Domain, Exercise, Misconception, OneOf
from dpcourse.checking.calling.values import plain, type_name
from dpcourse.course.accountants.loops import LOOPS

RIGHT = {"A": (6, 3.0), "B": (4, 200.0), "C": (7, 4.0), "D": (0, 1.0), "E": (5, 2.0), "F": (8, math.inf)}
"""Of each loop the line that breaks the promise, and by what sigma must be multiplied; tests/course/test_accountants_loops.py runs them."""
BROKEN = [name for name, (line, _) in RIGHT.items() if line]
FINITE = [name for name in BROKEN if math.isfinite(RIGHT[name][1])]
NOISE = {name: 1 + [".normal(" in line for line in loop.splitlines()].index(True) for name, loop in LOOPS.items()}
"""Of each loop the line of its noise."""


def _draw_loops(rng):
    """All six, in any order."""
    return [{"loop": str(name)} for name in rng.permutation(list(LOOPS))]


def _line_and_factor(value, case):
    """Two numbers, of which the second may be infinite."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 2:
        return say("Return two numbers, `line, factor`, not {given}.", given=type_name(value))
    line, factor = (each if isinstance(each, dict) else plain(each) for each in value)
    if factor is None:
        return say("factor: where no σ mends a loop, write `math.inf`, not None.")
    for name, number in (("line", line), ("factor", factor)):
        if isinstance(number, bool) or not isinstance(number, numbers.Real):
            return say("{name}: write a number, not {given}.", name=name, given=type_name(number))
        if math.isnan(number):
            return say("{name}: the result is {value}, which is no number.", name=name, value=number)
    return None


def _with(**changed):
    """The right pairs, with some of them replaced."""
    return lambda loop: (RIGHT | changed)[loop]


def _same(one, other):
    return bool(one == other or math.isclose(one, other, rel_tol=1e-6))


def _pairs(cases, values):
    """The pair that was returned for each loop."""
    return {case["loop"]: tuple(map(float, value)) for case, value in zip(cases, values, strict=True)}


def _of(loop, says):
    """recognise: says(line, factor) is true of what was returned for this loop, which is wrong."""

    def recognise(cases, values):
        line, factor = _pairs(cases, values)[loop]
        right = _same(line, RIGHT[loop][0]) and _same(factor, RIGHT[loop][1])
        return not right and line in range(len(LOOPS[loop].splitlines()) + 1) and bool(says(line, factor))

    return recognise


def _one(name, loop, pair, message, says):
    """The misconception of one loop for which this pair stands; `says`: a line, lines, or a condition on line and factor."""
    if not callable(says):
        lines = says if isinstance(says, tuple) else (says,)
        return Misconception(name, message, _with(**{loop: pair}), _of(loop, lambda line, factor: line in lines))
    return Misconception(name, message, _with(**{loop: pair}), _of(loop, says))


def _factor(name, loop, factor, message, *others):
    """The misconception of one loop in which the line is right and the factor is this, or one of the others."""
    line = RIGHT[loop][0]
    return _one(
        name,
        loop,
        (line, factor),
        message,
        lambda mine, given: mine == line and any(_same(given, each) for each in (factor, *others)),
    )


def _any_factor(name, loop, factor, message):
    """The misconception of one loop in which the line is right and the factor is some other."""
    return _one(name, loop, (RIGHT[loop][0], factor), message, lambda line, given: line == RIGHT[loop][0])


def _every(says, loops, least):
    """recognise: says(loop, line, factor) is true of so many of these loops at least."""
    return lambda cases, values: (
        sum(bool(says(loop, *pair)) for loop, pair in _pairs(cases, values).items() if loop in loops) >= least
    )


def _turned(loop):
    """The share of sigma that counts, in place of what mends it."""
    line, factor = RIGHT[loop]
    return line, 1 / factor


def _squared(loop):
    line, factor = RIGHT[loop]
    return line, factor**2


exercise = Exercise(
    title="The line that breaks it",
    good_for="reading somebody else's training code before you believe its epsilon",
    difficulty=3,
    minutes=30,
    points=4,
    domain=Domain({"loop": OneOf(tuple(LOOPS))}),
    shows_right=False,
    draw=_draw_loops,
    reference=lambda loop: RIGHT[loop],
    returns=_line_and_factor,
    hints=(
        "Go through a loop with the four conditions beside it. Let Mia's row be filled or empty, and all coins be the same: which line gives "
        "something that the conditions do not allow?",
        "For the factor compare two numbers: how far one row can move what the noise is added to, and what the noise was made for. Is that R "
        "here, or R / (p n)? Where the fault is in the noise itself: how large is it, and how large should it be?",
        "Three questions, for three of the loops. How far apart can two vectors be that are both at most R long? How long is a vector made of "
        "parts that are R long each? What adds up when independent noises are added: their deviations, or the squares of these?",
        "One of the loops looks odd and is right: ask what its clip is given. And in one the size of the noise itself tells of Mia. What does a "
        "larger σ change in that?",
    ),
    misconceptions=(
        Misconception(
            "lines from 0",
            "Your lines are one too small: they are counted from 1, as they are printed, and 0 is for the loop that is right.",
            lambda loop: (max(RIGHT[loop][0] - 1, 0), RIGHT[loop][1]),
            recognise=lambda cases, values: (
                _every(lambda loop, line, factor: line == RIGHT[loop][0] - 1, BROKEN, 4)(cases, values)
                or _every(lambda loop, line, factor: line == -1, LOOPS, 1)(cases, values)
            ),
        ),
        Misconception(
            "factor first",
            "You return the factor first. The line comes first: `line, factor`.",
            lambda loop: RIGHT[loop][::-1],
            recognise=_every(
                lambda loop, line, factor: (_same(factor, RIGHT[loop][0]) and line != factor) or line == math.inf,
                LOOPS,
                2,
            ),
        ),
        Misconception(
            "nothing is broken",
            "You say that all six loops are right. Five of them are not: for each loop go through the four conditions, one after the other.",
            lambda loop: (0, 1),
            recognise=_every(lambda loop, line, factor: line == 0, LOOPS, 6),
        ),
        Misconception(
            "the share that counts",
            "Some of your factors are below 1, and less noise mends nothing. Do you say what part of σ counts? The question is by what σ must be multiplied, "
            "so that the noise is enough again: the other way up.",
            _turned,
            recognise=_every(lambda loop, line, factor: line != 0 and 0 <= factor < 1, LOOPS, 2),
        ),
        Misconception(
            "squares",
            "At least three of your factors are the squares of the right ones. Multiply σ, which is a deviation, and not its square.",
            _squared,
            recognise=_every(lambda loop, line, factor: _same(factor, RIGHT[loop][1] ** 2), FINITE, 3),
        ),
        Misconception(
            "the line of the noise",
            "You mark the line of the noise wherever it is. There a loop may be *mended*. The question is where it is *broken*: which line is the first "
            "that does what the four conditions do not allow?",
            lambda loop: (NOISE[loop] * bool(RIGHT[loop][0]), RIGHT[loop][1]),
            recognise=_every(lambda loop, line, factor: line == NOISE[loop], ["A", "B", "E"], 2),
        ),
        Misconception(
            "never mended",
            "You say of several loops that no σ mends them. Where one row can move the sum, or the mean, only so far, enough noise does. Only one "
            "loop shows something that noise does not hide.",
            lambda loop: (RIGHT[loop][0], math.inf if RIGHT[loop][0] else 1),
            recognise=_every(lambda loop, line, factor: factor == math.inf, FINITE, 2),
        ),
        Misconception(
            "broken and left",
            "You mark a line, and leave σ as it is: the factor 1. If the promise holds with this σ, nothing is broken. Or did you mean that the line "
            "is to be mended, and σ kept? The question is what σ would be enough, were the line left as it is.",
            lambda loop: (RIGHT[loop][0], 1),
            recognise=_every(lambda loop, line, factor: line == RIGHT[loop][0] and factor == 1, FINITE, 1),
        ),
        _one(
            "A: layers allowed",
            "A",
            (0, 1),
            "In loop A you find nothing broken. Each layer may be clipped by itself. But then a whole gradient may be longer than R, and the noise of "
            "line 7 is made for R.",
            0,
        ),
        _factor(
            "A: layers added",
            "A",
            9,
            "In loop A you add the lengths of the nine parts. They stand in different places of the gradient, so it is the *squares* of their "
            "lengths that add. The length is the root of this sum.",
        ),
        _factor(
            "A: four layers",
            "A",
            2,
            "In loop A you took the root of four. The example in the table of traps has four layers. How many parts has a gradient here?",
        ),
        _factor(
            "A: never",
            "A",
            math.inf,
            "You say that no σ mends loop A. But each part is at most R long, so the whole gradient has a bound too, and enough noise hides it.",
        ),
        _any_factor(
            "A: another factor",
            "A",
            5,
            "In loop A you have found the line, and the factor is another. How long can a gradient be whose nine parts are R long each? That, over R.",
        ),
        _one(
            "A: the cut",
            "A",
            (5, 3),
            "Line 5 of loop A only cuts a gradient into its parts. Put together again, they are the same gradient. What is done to the parts afterwards?",
            5,
        ),
        _one(
            "A: the noise",
            "A",
            (7, 3),
            "The noise in line 7 of loop A is the one that was accounted for, σR. It is enough if one row moves the sum by R at most. Which line "
            "should see to that, and does not?",
            7,
        ),
        _one(
            "A: another line",
            "A",
            (4, 3),
            "The line that you mark in loop A does what it should. Compare line by line: which one decides how far one row can move `total`?",
            lambda line, factor: line,
        ),
        _one(
            "B: mean allowed",
            "B",
            (0, 1),
            "In loop B you find nothing broken. But no gradient is clipped there, only their mean. Let Mia's gradient be longer than all others "
            "together: where does the clipped mean lie with her, and where without her?",
            0,
        ),
        _factor(
            "B: 2 R",
            "B",
            2,
            "The clipped mean of loop B moves by up to 2R: right. But its noise was not made for R. Line 5 makes σR/(pn), for a mean that moves by "
            "R/(pn). How many times that is 2R?",
        ),
        _factor(
            "B: R",
            "B",
            100,
            "In loop B you let the clipped mean move by R. It can move farther: with Mia it may be R long in one direction, and without her R long in "
            "the opposite one.",
        ),
        _factor(
            "B: the number drawn",
            "B",
            199,
            "In loop B you think of a mean that is multiplied by the number of people drawn, as in the experiment of this section. Here nothing is "
            "multiplied: what moves is the clipped mean itself, and it has noise of its own.",
            1999,
            23,
        ),
        _factor(
            "B: all rows",
            "B",
            2000,
            "In loop B you compare with R/n. The noise of line 5 is made for R/(pn): a sum was divided by pn, the expected number of rows drawn.",
            1000,
        ),
        _factor(
            "B: never",
            "B",
            math.inf,
            "You say that no σ mends loop B. It takes much noise, but not without end: the clipped mean is at most R long with Mia and without her. "
            "How far apart can the two be?",
        ),
        _any_factor(
            "B: another factor",
            "B",
            20,
            "In loop B you have found the line, and the factor is another. How far can the clipped mean move? And for what move was the noise of "
            "line 5 made? The factor is the first over the second.",
        ),
        _one(
            "B: the gradients",
            "B",
            (3, 200),
            "Line 3 of loop B only computes gradients, which may be long in every loop. Which line should clip each of them, and clips something else?",
            3,
        ),
        _one(
            "B: the noise",
            "B",
            (5, 200),
            "The noise in line 5 of loop B is the one that was accounted for: σR, divided by pn as the sum is. It is enough if one row moves the sum by "
            "R at most. Which line should see to that, and does not?",
            5,
        ),
        _one(
            "B: another line",
            "B",
            (6, 200),
            "The line that you mark in loop B does what it should. Where is something clipped, and what?",
            lambda line, factor: line,
        ),
        _one(
            "C: sixteen sixteenths",
            "C",
            (0, 1),
            "In loop C you find nothing broken. Do sixteen noises of deviation σR/16 make one of σR? They are independent, and partly cancel. It is the "
            "*squares* of their deviations that add.",
            0,
        ),
        _factor(
            "C: one machine",
            "C",
            16,
            "In loop C you compare the noise of one machine with σR. But all sixteen noises are in the sum. What is the deviation of their sum?",
        ),
        _factor(
            "C: never",
            "C",
            math.inf,
            "You say that no σ mends loop C. There is noise on the sum, only too little, and a larger σ makes it larger.",
        ),
        _any_factor(
            "C: another factor",
            "C",
            8,
            "In loop C you have found the line, and the factor is another. Sixteen squares of σR/16 add up to the square of which deviation? "
            "It should be σR.",
        ),
        _one(
            "C: the machines",
            "C",
            (3, 4),
            "That the rows of loop C are dealt out to machines does no harm: each row is in one share, tosses its own coin, and comes into the sum once. "
            "Which of the four conditions is not kept?",
            (3, 4, 5),
        ),
        _one(
            "C: the clip",
            "C",
            (6, 4),
            "Line 6 of loop C does what it should: it adds one gradient, clipped to R. So one row moves the sum by R at most. What else is added to it?",
            6,
        ),
        _one(
            "C: another line",
            "C",
            (8, 4),
            "The line that you mark in loop C does what it should. What is the deviation of all the noise in `total`?",
            lambda line, factor: line,
        ),
        _one(
            "D: four copies",
            "D",
            (6, 4),
            "In loop D four gradients of one row are added *before* line 6 clips. How long is what `clip` gives at most, whatever the copies are? "
            "(It is divided by pn, and so is the noise of line 7.)",
            (5, 6),
        ),
        _one(
            "D: noise after the division",
            "D",
            (7, 100),
            "Loop D adds noise after the division, to a mean. That is σR divided by pn, as the sum is, and so it hides as much as before.",
            7,
        ),
        _one(
            "D: not 1",
            "D",
            (0, math.inf),
            "You find nothing broken in loop D. Then σ may stay as it is, and the factor is 1.",
            0,
        ),
        _one(
            "D: another line",
            "D",
            (8, 2),
            "The line that you mark in loop D does what it should. Go through the four conditions: which of them would it break?",
            lambda line, factor: line,
        ),
        _one(
            "E: microbatches allowed",
            "E",
            (0, 1),
            "In loop E you find nothing broken. But line 5 clips the mean of a block, and not each row. How far can that move when one row of the block "
            "is emptied?",
            0,
        ),
        _factor(
            "E: four rows",
            "E",
            4,
            "In loop E you multiply by the number of rows in a block. But what comes out of the clip is at most R long, with Mia and without her. "
            "How far apart can two such vectors be?",
        ),
        _factor(
            "E: right angles",
            "E",
            math.sqrt(2),
            "In loop E you let the clipped mean turn by a right angle. It can turn round completely, if Mia's gradient is long and opposite to the "
            "others.",
        ),
        _factor(
            "E: never",
            "E",
            math.inf,
            "You say that no σ mends loop E. But one row is in one block only, and what is clipped there is at most R long, with her and without her.",
        ),
        _any_factor(
            "E: another factor",
            "E",
            3,
            "In loop E you have found the line, and the factor is another. One block changes when a row is emptied. How far apart can two vectors be that "
            "are both at most R long? That, over R.",
        ),
        _one(
            "E: blocks and coins",
            "E",
            (4, 2),
            "The blocks of loop E were fixed beforehand, and in line 4 each row tosses its own coin. So far nothing is broken, and only one block "
            "depends on Mia. What is done to it then?",
            (3, 4),
        ),
        _one(
            "E: the noise",
            "E",
            (6, 2),
            "The noise in line 6 of loop E is the one that was accounted for, σR. It is enough if one row moves the sum by R at most. Which line "
            "should see to that, and does not?",
            6,
        ),
        _one(
            "E: another line",
            "E",
            (7, 2),
            "The line that you mark in loop E does what it should. Where is something clipped, and what?",
            lambda line, factor: line,
        ),
        _one(
            "F: divisor allowed",
            "F",
            (0, 1),
            "In loop F you find nothing broken. Its divisor counts the rows that are filled and drawn, and so it is larger by 1 with Mia. What "
            "comes after the noise may use public numbers only.",
            0,
        ),
        _one(
            "F: mended",
            "F",
            (8, 2),
            "In loop F you have found the line. But a larger σ makes the noise larger with Mia and without her, by the same factor. Let all other "
            "rows be empty: what is the divisor with her, what without her, and which σ hides that?",
            8,
        ),
        _one(
            "F: the count",
            "F",
            (6, math.inf),
            "Line 6 of loop F only counts, and so far nobody sees the count. Which line lets it out?",
            (2, 6),
        ),
        _one(
            "F: the noise",
            "F",
            (7, math.inf),
            "The noise in line 7 of loop F is the one that was accounted for, σR, and one row moves the sum by R at most. What is done with the noisy "
            "sum afterwards?",
            7,
        ),
        _one(
            "F: another line",
            "F",
            (5, math.inf),
            "The line that you mark in loop F does what it should. What comes after the noise may use public numbers only: does it?",
            lambda line, factor: line,
        ),
    ),
)
