"""The blocks of the tree that make a running sum."""

import math

import numpy as np

from dpcourse.base.languages import say
from dpcourse.checking import Domain, Exercise, Misconception, Whole, any_of
from dpcourse.checking.calling.values import type_name
from dpcourse.checking.returns import in_a_row


def _ends(value, case):
    """A list of whole numbers."""
    array = in_a_row(value, kinds="iuf")
    if array is None or not len(array):
        return say(
            "Return one list of whole numbers, the last step of each block and nothing else, not {given}.",
            given=type_name(value),
        )
    if not np.isfinite(array).all() or (array != np.round(array)).any():
        return say("Steps are whole numbers: {given} are none.", given=[float(each) for each in array])
    return None


def _from_the_largest(t):
    ends, end = [], 0
    for power in reversed(range(t.bit_length())):
        if t >> power & 1:
            end += 2**power
            ends.append(end)
    return ends


def _from_the_last(t):
    ends = []
    while t > 0:
        ends.append(t)
        t = t - (t & -t)
    return ends[::-1]


def _lengths(t):
    return [2**power for power in reversed(range(t.bit_length())) if t >> power & 1]


def _smallest_first(t):
    return [int(end) for end in np.cumsum(_lengths(t)[::-1])]


def _firsts(t):
    return [end - length + 1 for end, length in zip(_from_the_largest(t), _lengths(t), strict=True)]


LIMITS = tuple(2**power for power in range(1, 13))


def _up_to(longest, again):
    """The ends with no block longer than this one, which is taken once, or again and again."""

    def rule(t):
        ends, end, length = [], 0, longest
        while length:
            fits = (t - end) // length if again and length == longest else int(t - end >= length)
            ends += [end + length * (i + 1) for i in range(fits)]
            end, length = end + length * fits, length // 2
        return ends

    return rule


def _digits_up_to(longest):
    """The ends of blocks for those digits only that stand for no more than this."""
    return lambda t: [int(end) for end in np.cumsum([length for length in _lengths(t) if length <= longest])]


def _up_to_a_gap(t):
    """Up to the first power of two that does not fit into what is left."""
    ends, end = [], 0
    for power in reversed(range(t.bit_length())):
        if not t >> power & 1:
            break
        end += 2**power
        ends.append(end)
    return ends


def _rounded_logarithm(t):
    ends, end = [], 0
    while end < t:
        end += 2 ** round(math.log2(t - end))
        ends.append(end)
    return ends


def _powers(t):
    return [2**power for power in range(t.bit_length())]


def _powers_and_t(t):
    return [*(power for power in _powers(t) if power < t), t]


def _for_each_digit(t):
    return [t >> power << power for power in reversed(range(t.bit_length()))]


exercise = Exercise(
    title="The blocks of a running sum",
    good_for="seeing why a tree needs so few noises",
    difficulty=2,
    minutes=10,
    points=2,
    domain=Domain({"t": Whole(1, 5000)}),
    draw=lambda rng: [
        {"t": int(8 * rng.integers(*span) + k)} for span, k in (((2, 12), 5), ((2, 12), 3), ((520, 620), 6))
    ],
    reference=_from_the_largest,
    formulas=(_from_the_last,),
    returns=_ends,
    hints=(
        "Which is the largest power of two that fits into t? The first block has that length. What is left over is made in the same way.",
        "With `start = 0` and the powers of two from the largest down: while t - start is at least the power, the next block ends at "
        "start + power. (In binary digits: 13 is 1101, that is 8 + 4 + 1, so the ends are 8, 12 and 13.)",
    ),
    misconceptions=(
        Misconception(
            "lengths",
            "You return the lengths of the blocks. Their last steps are asked for: each block begins where the one before it ended, so add them up.",
            _lengths,
        ),
        Misconception(
            "from right to left",
            "These are the right steps, from right to left. Begin with the longest block, which begins in step 1.",
            lambda t: _from_the_largest(t)[::-1],
        ),
        Misconception(
            "smallest first",
            "Your blocks have the right lengths, the shortest first. The tree has no such blocks: a block of length L begins only after a "
            "multiple of L steps. So the longest comes first.",
            _smallest_first,
        ),
        Misconception(
            "first steps",
            "You return the first step of each block. Return the last one: only when it is over is the block's sum known.",
            _firsts,
        ),
        Misconception(
            "counted from 0",
            "Your ends are one too small: steps are counted from 1, and the last block ends in step t.",
            lambda t: [end - 1 for end in _from_the_largest(t)],
        ),
        Misconception(
            "the first block only",
            "Your first block is right. It is not the whole sum: steps are left over behind it, and these need blocks too.",
            lambda t: _from_the_largest(t)[:1],
        ),
        Misconception(
            "up to a gap",
            "Your blocks end at the first power of two that does not fit into what is left. A smaller one may fit: go on with it. 13 is 8 + 4 + 1: the 2 does not fit, and the 1 does.",
            _up_to_a_gap,
        ),
        Misconception(
            "rounded logarithm",
            "A block of yours is longer than what is left: `round` goes up as well as down, and 13 takes a block of 16. Take the largest power of two that is *not above* what is left.",
            _rounded_logarithm,
        ),
        Misconception(
            "every power",
            "These are the powers of two up to t, with t itself or without it. Only those that are among the binary digits of t are lengths of blocks, and asked for are the blocks' last steps.",
            _powers,
            recognise=any_of(_powers, _powers_and_t),
        ),
        Misconception(
            "no longer blocks",
            "Your blocks end at some length, and the tree has longer ones: `t` goes up to 5,000. Begin with the largest power of two that fits into t, whatever t is.",
            _up_to(1024, again=False),
            recognise=any_of(
                *(_up_to(longest, again) for longest in LIMITS for again in (False, True)), *map(_digits_up_to, LIMITS)
            ),
        ),
        Misconception(
            "a number for each digit",
            "You give a number for each binary digit of t, and where the digit is 0 the number before it stands once more. Only a digit 1 is a block.",
            _for_each_digit,
        ),
        Misconception(
            "every step by itself",
            "You take every step as a block of its own. That gives the right sum, with t noises in it. The tree has longer blocks.",
            lambda t: list(range(1, t + 1)),
        ),
    ),
)
