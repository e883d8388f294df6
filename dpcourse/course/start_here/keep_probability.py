"""How often to keep the truth."""

import math

from dpcourse.checking import Domain, Exercise, Misconception, Number, a_number
from dpcourse.course.start_here.shared import keep_chance


def _draw_keep(rng):
    return [{"epsilon": round(float(epsilon), 2)} for epsilon in (rng.uniform(0.2, 0.9), rng.uniform(1.2, 3))]


exercise = Exercise(
    title="How often to keep the truth",
    good_for="turning a privacy budget into the bias of a coin",
    difficulty=1,
    minutes=6,
    points=1,
    domain=Domain({"epsilon": Number(0.01, 5)}),
    draw=_draw_keep,
    reference=keep_chance,
    formulas=(lambda epsilon: 1 / (1 + math.exp(-epsilon)),),
    means={
        "epsilon": "the logarithm of keep / flip",
        "math.exp(epsilon)": "how many times as likely keep is as flip",
        "1 + math.exp(epsilon)": "keep and flip together, in flips",
    },
    returns=a_number,
    possible=Number(0, 1),
    hints=(
        "Try it with numbers first: if p is 3 times 1 - p, then p is 3/4, 3 parts of 3 + 1. Which part is it for e^epsilon times?",
        "Multiply both sides of p / (1 - p) = e^epsilon by 1 - p. That gives p = e^epsilon - e^epsilon p. Collect p on the left.",
    ),
    misconceptions=(
        Misconception(
            "the flip",
            "That is the chance to flip the bit. The chance to keep it is the rest, and it is above one half.",
            lambda epsilon: 1 - keep_chance(epsilon),
        ),
        Misconception(
            "the ratio",
            "e^epsilon is the ratio of the two chances, not a chance: it is above 1. Solve p / (1 - p) = e^epsilon for p.",
            lambda epsilon: math.exp(epsilon),
        ),
        Misconception(
            "flip e^-epsilon",
            "You flip with probability e^-epsilon. Then keep / flip is e^epsilon - 1, not e^epsilon.",
            lambda epsilon: 1 - math.exp(-epsilon),
        ),
        Misconception(
            "no exponential",
            "You used epsilon where e^epsilon belongs: epsilon is the logarithm of the ratio p / (1 - p).",
            lambda epsilon: epsilon / (1 + epsilon),
        ),
        Misconception(
            "brackets",
            "Python divides before it adds: a / 1 + a is (a / 1) + a. Put the denominator into brackets: a / (1 + a).",
            lambda epsilon: math.exp(epsilon) / 1 + math.exp(epsilon),
        ),
        Misconception(
            "above 1",
            "Your chance is 1 + e^-epsilon, which is above 1. That sum belongs below the fraction line: 1 / (1 + e^-epsilon).",
            lambda epsilon: 1 / 1 + math.exp(-epsilon),
        ),
        Misconception(
            "bracket closed too late",
            "The whole fraction stands inside your exponential: a bracket closes too late. Only `epsilon` is the exponent.",
            lambda epsilon: math.exp(epsilon / (1 + epsilon)),
        ),
        Misconception(
            "ratio upside down",
            "e^-epsilon is the ratio of the two chances upside down, flip / keep. It is no chance to keep: solve for p.",
            lambda epsilon: math.exp(-epsilon),
        ),
        Misconception(
            "sign lost",
            "A sign was lost in solving for p: the denominator is 1 + e^epsilon. Yours makes p negative.",
            lambda epsilon: math.exp(epsilon) / (1 - math.exp(epsilon)),
        ),
        Misconception(
            "power of ten",
            "You used 10^epsilon. The ratio is e^epsilon, with e = 2.718…: `math.exp(epsilon)`.",
            lambda epsilon: 10**epsilon / (1 + 10**epsilon),
        ),
        Misconception(
            "half the ratio",
            "You divided e^epsilon by 2. Keep and flip are e^epsilon parts and 1 part: divide by all parts, 1 + e^epsilon.",
            lambda epsilon: math.exp(epsilon) / 2,
        ),
        Misconception(
            "minus below",
            "The denominator is 1 + e^epsilon, not e^epsilon - 1: with yours the chance is above 1.",
            lambda epsilon: math.exp(epsilon) / math.expm1(epsilon),
        ),
    ),
)
