"""The constant of a density whose two sides fall at different rates."""

import math

from dpcourse.checking import Domain, Exercise, Misconception, Number, a_number, any_of, rounded


def _draw_scales(rng):
    """Once the left side is the longer one, and once the right."""
    short, long = rng.uniform(0.4, 0.9), rng.uniform(1.3, 4)
    return [
        {"left": rounded(short), "right": rounded(long)},
        {"left": rounded(long * 1.5), "right": rounded(short * 1.2)},
    ]


def _or_a_half(*codes):
    """recognise: one of these, or half of it: who takes Laplace's 1/(2b) for a side halves as well."""
    return any_of(*codes, *(lambda left, right, code=code: code(left, right) / 2 for code in codes))


exercise = Exercise(
    title="Why the constant is what it is",
    good_for="reading a density: the area below it is 1, whatever its shape",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain({"left": Number(0.1, 20), "right": Number(0.1, 20)}),
    draw=_draw_scales,
    formulas=(lambda left, right: 1 / (left + right),),
    reference=lambda left, right: 1 / (left + right),
    means={
        "left + right": "the area below the curve with c = 1, both sides together",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "Draw the curve for c = 1. What is the area below its right half? It is the integral of e^(-x / right) from 0 on.",
        "That integral is `right`; the left half gives `left` in the same way. The constant c multiplies both, and the area shall be 1.",
    ),
    misconceptions=(
        Misconception(
            "halved once more",
            "You halved once more, as for 1/(2b). There the 2 comes from two halves of area b each. Here the halves have the areas `left` and `right`, and no 2 is left over.",
            lambda left, right: 1 / (2 * (left + right)),
        ),
        Misconception(
            "one side",
            "You looked at one side only. The other side has an area too, by its own scale.",
            lambda left, right: 1 / right,
            recognise=_or_a_half(lambda left, right: 1 / left, lambda left, right: 1 / right),
        ),
        Misconception(
            "area",
            "That is the area below the curve with c = 1. The constant must make this area 1: divide 1 by it.",
            lambda left, right: left + right,
        ),
        Misconception(
            "derivative for integral",
            "You took 1/scale for the area of a side. It is the scale itself: an integral of e^(-x / b) brings the factor b, where a derivative brings 1/b.",
            lambda left, right: left * right / (left + right),
        ),
        Misconception(
            "each side made 1",
            "You worked out a constant for each side alone and put the two together. There is one c for both sides: first add the areas, then divide 1 by their sum.",
            lambda left, right: 1 / left + 1 / right,
            recognise=_or_a_half(
                lambda left, right: 1 / left + 1 / right, lambda left, right: (1 / left + 1 / right) / 2
            ),
        ),
        Misconception(
            "areas multiplied",
            "You multiplied the areas of the two sides. They lie beside each other, so they add.",
            lambda left, right: 1 / (left * right),
            recognise=_or_a_half(lambda left, right: 1 / (left * right)),
        ),
    ),
)
