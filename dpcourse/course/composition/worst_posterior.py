"""The most that an attacker can come to believe."""

import math

from dpcourse.checking import Domain, Exercise, Misconception, Number, a_number, rounded


def _draw_prior(rng):
    return [
        {"prior": rounded(prior), "epsilon": rounded(rng.uniform(0.3, 2))}
        for prior in (rng.uniform(0.02, 0.2), rng.uniform(0.6, 0.9))
    ]


exercise = Exercise(
    title="The most that an attacker can come to believe",
    good_for="explaining epsilon to somebody who asks what an attacker learns",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"prior": Number(0.01, 0.99), "epsilon": Number(0.01, 5)}),
    draw=_draw_prior,
    reference=lambda prior, epsilon: prior * math.exp(epsilon) / (prior * math.exp(epsilon) + 1 - prior),
    formulas=(
        lambda prior, epsilon: prior / (1 - prior) * math.exp(epsilon) / (1 + prior / (1 - prior) * math.exp(epsilon)),
        lambda prior, epsilon: 1 / (1 + math.exp(-epsilon) * (1 - prior) / prior),
    ),
    means={
        "prior": "the belief before the answer",
        "math.exp(epsilon)": "the most that an answer can multiply the odds by",
        "prior / (1 - prior)": "the odds before the answer",
        "prior * math.exp(epsilon) + 1 - prior": "the weights of yes and of no together",
        "1 - prior": "the belief in no before the answer",
    },
    returns=a_number,
    possible=Number(0, 1),
    hints=(
        "Try it with numbers: a belief of 0.5, and e^epsilon = 3. Yes weighed 0.5 against 0.5; now it weighs 1.5 against 0.5. "
        "That is three parts against one, so the belief is 0.75.",
        "In letters the two weights are prior * e^epsilon for yes, and 1 - prior for no. A belief is the part of both that yes has.",
    ),
    misconceptions=(
        Misconception(
            "belief multiplied",
            "You multiplied the belief by e^epsilon. It can pass 1 that way. It is the odds, prior / (1 - prior), that are multiplied.",
            lambda prior, epsilon: prior * math.exp(epsilon),
        ),
        Misconception(
            "belief multiplied and cut",
            "You multiplied the belief by e^epsilon and cut it off at 1. Multiply the odds, prior / (1 - prior), and nothing needs cutting.",
            lambda prior, epsilon: min(1.0, prior * math.exp(epsilon)),
        ),
        Misconception(
            "chance of a no forgotten",
            "You weighed yes by the chance e^epsilon / (1 + e^epsilon) of her report, and no by 1. If the truth is no, the same report has a chance too: 1 / (1 + e^epsilon).",
            lambda prior, epsilon: (
                prior * math.exp(epsilon) / (prior * math.exp(epsilon) + (1 - prior) * (1 + math.exp(epsilon)))
            ),
        ),
        Misconception(
            "prior forgotten",
            "You left the prior out. e^epsilon / (1 + e^epsilon) is the answer for somebody who began at one half.",
            lambda prior, epsilon: math.exp(epsilon) / (1 + math.exp(epsilon)),
        ),
        Misconception(
            "odds",
            "Those are the odds after the answer. Turn them back into a probability: odds / (1 + odds).",
            lambda prior, epsilon: math.exp(epsilon) * prior / (1 - prior),
        ),
        Misconception(
            "lowest",
            "That is the lowest belief that the answer can leave. The question is for the highest: e^epsilon, not e^-epsilon.",
            lambda prior, epsilon: prior / (prior + (1 - prior) * math.exp(epsilon)),
        ),
        Misconception(
            "disbelief divided",
            "You divided the disbelief, 1 - prior, by e^epsilon. An answer moves the odds, prior / (1 - prior), by that factor.",
            lambda prior, epsilon: 1 - (1 - prior) * math.exp(-epsilon),
        ),
        Misconception(
            "both odds",
            "You moved the odds by e^(2 epsilon): up for yes and down for no. The ratio of the two is what e^epsilon bounds; use it once.",
            lambda prior, epsilon: (
                prior * math.exp(epsilon) / (prior * math.exp(epsilon) + (1 - prior) * math.exp(-epsilon))
            ),
        ),
        Misconception(
            "prior times keep",
            "You multiplied the prior by e^epsilon / (1 + e^epsilon). Bayes' rule multiplies odds, prior / (1 - prior), by e^epsilon.",
            lambda prior, epsilon: prior * math.exp(epsilon) / (1 + math.exp(epsilon)),
        ),
        Misconception(
            "epsilon as factor",
            "You multiplied the odds by epsilon. The factor is e^epsilon.",
            lambda prior, epsilon: prior * epsilon / (prior * epsilon + 1 - prior),
        ),
        Misconception(
            "prior as odds",
            "You multiplied `prior` as if it was the odds. The odds are prior / (1 - prior).",
            lambda prior, epsilon: prior * math.exp(epsilon) / (1 + prior * math.exp(epsilon)),
        ),
        Misconception(
            "brackets",
            "Python divides before it subtracts: a / 1 - a is (a / 1) - a. Put the denominator into brackets: prior / (1 - prior).",
            lambda prior, epsilon: (odds := prior / 1 - prior * math.exp(epsilon)) / (1 + odds),
        ),
    ),
)
