"""What one output rules out: the attack on noise that is made of doubles."""

import math
from bisect import bisect_left
from fractions import Fraction

import numpy as np

from dpcourse import machine
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of, rounded, true_or_false

BITS = 7  # of the small sampler, all of whose noises are handed over
FROM_THE_SAME, FROM_A_NEIGHBOUR = 10, 16  # outputs of the sampler with 53 bits
SMALL, BELOW = (
    8,
    0.5,
)  # so many of the neighbour's are that small: nearer to a sum of ours than 2^-52, the gap between doubles at 1


def _draw(rng):
    """Outputs of three samplers, from the count that is asked about and from a neighbour's.

    The small sampler gives its first noise, its last and one between, so that all of them have to be looked at. Of the
    one with 53 bits the counts are above 0: there the sum is rounded.
    """
    b = rounded(rng.uniform(0.8, 1.6))
    few = [machine.textbook_noise(2 ** (53 - BITS) * j, b) for j in range(1, 2**BITS)]
    inner = few[rng.integers(30, 96)]
    cases = [_case(few, count=int(rng.integers(1, 9)), noise=noise) for noise in (few[0], few[-1], inner)]
    cases += [_case(few, count=int(rng.integers(1, 9)), noise=inner, away=away) for away in (-1, 1)]
    whole = list(range(-8, 9))
    cases += [_case(whole, count=int(rng.integers(5, 9)), noise=noise) for noise in (-int(rng.integers(1, 5)), 5)]
    cases.append(_case(whole, count=int(rng.integers(1, 9)), noise=8, away=int(rng.integers(1, 4))))  # beyond them all
    cases.append(_at_a_power_of_2(int(rng.integers(2, 4))))
    for run in range(FROM_THE_SAME + FROM_A_NEIGHBOUR):
        count, noise = int(rng.integers(1, 9)), machine.textbook_noise(int(rng.integers(1, 2**53)), b)
        away = 0 if run < FROM_THE_SAME else int(rng.choice([-1, 1]))
        while run >= FROM_THE_SAME + FROM_A_NEIGHBOUR - SMALL and abs(count + away + noise) >= BELOW:
            count, noise = 1, machine.textbook_noise(int(rng.integers(1, 2**53)), b)
        output = count + away + noise
        cases.append({"output": output, "count": count, "noises": machine.noises_near(count, output, b)})
    return [cases[place] for place in rng.permutation(len(cases))]


def _at_a_power_of_2(power):
    """Below it doubles lie closer than above: the noise nearest to what is asked for does not give it, one farther away does."""
    output = 2.0**power
    gap = output - math.nextafter(output, 0.0)
    return {"output": output, "count": int(output) - 1, "noises": [0.5, 1 - 0.75 * gap, 1 + gap, 1.5]}


def _case(noises, count, noise, away=0):
    """An output of the count `away` from the one that is asked about."""
    return {"output": count + away + noise, "count": count, "noises": noises}


OUTPUT = to_say("`count` from 0 to 9; a list of `noises`, rising")


def _any_output(rng):
    """Whole noises, or the textbook's of a sampler, a small one or not; the output is one that the count can give, or another's, or a
    double beside one: half a gap from a sum, as exact ones often are, rounding goes one way only."""
    count, size = int(rng.integers(0, 10)), int(rng.integers(1, 41))
    if (kind := rng.integers(3)) == 0:
        noises = np.sort(rng.permutation(61)[:size] - 30).tolist()
    else:
        few = 1 + rng.permutation(2**BITS - 1)[:size]
        places = few * 2 ** (53 - BITS) + (rng.integers(2 ** (53 - BITS), size=size) if kind == 2 else 0)
        noises = [machine.textbook_noise(int(place), 1.0) for place in np.sort(places)]
    output = count + int(rng.choice([0, 0, -1, 1])) + noises[rng.integers(size)]
    beside = kind == 2 and rng.random() < 0.5
    return math.nextafter(output, math.inf * rng.choice([-1, 1])) if beside else output, count, noises


def _by_difference(output, count, noises):
    return output - count not in noises


def _in_fractions(output, count, noises):
    """With sums that are not rounded."""
    return Fraction(output) - count not in map(Fraction, noises)


def _to_digits(digits):
    """Compare after rounding to so many digits behind the point."""
    return lambda output, count, noises: round(output, digits) not in {round(count + noise, digits) for noise in noises}


def _within(tolerance):
    """Compare with a tolerance."""
    return lambda output, count, noises: not any(abs(count + noise - output) <= tolerance for noise in noises)


def _one_side(beside):
    """With one noise only: the first that is not below the difference, or the last that is not above it."""

    def rule(output, count, noises):
        at = bisect_left(noises, output - count)
        if beside < 0 and not (at < len(noises) and noises[at] == output - count):
            at -= 1
        return not 0 <= at < len(noises) or count + noises[at] != output

    return rule


def _of_section_1(output, count=None, noises=None):
    """By the last bits of the output alone."""
    return output % 2**-53 != 0


def _by_last_bits(cases, values):
    """Whether the count is ruled out by the last bits of the output, or of an output near 0."""
    ends = [(abs(case["output"]) < BELOW, _of_section_1(case["output"])) for case in cases]
    return values in ([odd for _, odd in ends], [near and odd for near, odd in ends])


exercise = Exercise(
    title="What one output rules out",
    good_for="breaking a release that its theorem calls private",
    difficulty=3,
    minutes=8,
    points=3,
    domain=Domain({"output, count, noises": Made(_any_output, OUTPUT)}),
    draw=_draw,
    reference=lambda output, count, noises: all(count + noise != output for noise in noises),
    means={
        "count + noise": "the count with each noise added",
    },
    returns=true_or_false,
    forbidden=(machine.can_give,),
    hints=(
        "Turn the question round: if the count were `count`, which outputs could the sampler have printed? One for each noise.",
        "Make these sums as the sampler makes them, `count + noise`, and compare each with the output by `==`. The difference "
        "`output - count` is rounded in another way.",
        "One sum that is equal is enough for the count to be possible. What must hold of all sums for it to be ruled out?",
    ),
    misconceptions=(
        Misconception(
            "turned over",
            "You say True where the count is possible. It is ruled out where no noise gives the output.",
            lambda output, count, noises: any(count + noise == output for noise in noises),
        ),
        Misconception(
            "difference",
            "You looked for `output - count` among the noises, or you added in fractions, which are not rounded. The sampler rounded the sum to a "
            "double. Taking the count off again does not bring the noise back to the last bit, so you rule out true counts. Compare the double "
            "`count + noise` with the output.",
            _by_difference,
            recognise=any_of(_by_difference, _in_fractions),
        ),
        Misconception(
            "one side",
            "You go by `output - count`, and try no noise on the other side of it. Sums are rounded, and so is this difference, so a noise there may give the output as well: "
            "try both neighbours, or all noises.",
            _one_side(1),
            recognise=any_of(_one_side(1), _one_side(-1)),
        ),
        Misconception(
            "first noise only",
            "You decide by the first noise. A `return` or a `break` inside the loop ends it: return False where one noise fits, and True after the loop.",
            lambda output, count, noises: count + noises[0] != output,
        ),
        Misconception(
            "last noise only",
            "You decide by the last noise: each turn of the loop writes over what the one before has found.",
            lambda output, count, noises: count + noises[-1] != output,
        ),
        Misconception(
            "always",
            "You always say True. Some noise differs from any output; the count is ruled out only where all of them do.",
            lambda output, count, noises: True,
        ),
        Misconception(
            "never",
            "You never rule anything out. There are doubles that no noise gives: return True where the loop has found none.",
            lambda output, count, noises: False,
        ),
        Misconception(
            "tolerance",
            "You compare with a tolerance, or after rounding. The leak is in the last bits: a sum that is nearly equal is not equal. Use `==`.",
            lambda output, count, noises: not any(math.isclose(count + noise, output) for noise in noises),
            recognise=any_of(
                *(_to_digits(digits) for digits in range(8, 17)),
                *(_within(tolerance) for tolerance in (*(10.0**-digits for digits in range(8, 17)), 2.0**-52)),
            ),
        ),
        Misconception(
            "between the ends",
            "You only ask whether the output lies between the smallest sum and the largest. There are gaps between the sums: compare with each of them.",
            lambda output, count, noises: not count + min(noises) <= output <= count + max(noises),
        ),
        Misconception(
            "beyond the ends",
            "You say False where the output lies below the smallest sum, or above the largest. No noise gives it there either: return True.",
            lambda output, count, noises: (
                count + noises[0] < output < count + noises[-1] and all(count + noise != output for noise in noises)
            ),
            recognise=any_of(
                *(
                    lambda output, count, noises, inside=inside: (
                        inside(output, count + noises[0], count + noises[-1])
                        and all(count + noise != output for noise in noises)
                    )
                    for inside in (
                        lambda output, first, last: first < output < last,
                        lambda output, first, last: first < output,
                        lambda output, first, last: output < last,
                    )
                )
            ),
        ),
        Misconception(
            "the rule of section 1",
            "You look at the last bits of the output, and at no noise. Section 1 does so for two counts and outputs near 0. Here compare the output with each `count + noise`.",
            _of_section_1,
            recognise=_by_last_bits,
        ),
        Misconception(
            "count forgotten",
            "You looked for the output among the noises. The output is the count plus a noise.",
            lambda output, count, noises: output not in noises,
        ),
        Misconception(
            "identity",
            "`is` asks whether two names stand for one thing in memory, not whether two numbers are equal. Use `==`.",
            lambda output, count, noises: not any(count + noise is output for noise in noises),
        ),
        Misconception(
            "taken off",
            "You took the noise off the count. The sampler adds it: `count + noise`.",
            lambda output, count, noises: all(count - noise != output for noise in noises),
        ),
        Misconception(
            "noise taken off the output",
            "You took each noise off the output and compared with the count. That difference is rounded in another way than the sum: "
            "compare `count + noise` with the output.",
            lambda output, count, noises: all(output - noise != count for noise in noises),
        ),
    ),
)
