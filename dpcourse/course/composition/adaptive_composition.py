"""A plan whose second questions depend on the first answer."""

import itertools
import math

import numpy as np

from dpcourse import composition, gdp
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of, rounded

ANSWERS = (("yes", "no"), ("low", "middle", "high"), ("north", "east", "south", "west"), ("0", "1", "2", "3", "4"))
THEN = to_say(
    "{name}: 1 to 5 answers, each with a list of 0 to 6 numbers from 0.01 to 3, the epsilons of what is asked after it"
)


def _any_plan(rng):
    """Ways of any length for each answer; now and then one is empty, two are alike, or all cost the same."""
    names = ANSWERS[rng.integers(len(ANSWERS))]
    names = names[: rng.integers(1, len(names) + 1)]
    digits = rounded if rng.random() < 0.8 else float
    ways = [[digits(e) for e in rng.uniform(0.01, 3, size=int(rng.integers(0, 7)))] for _ in names]
    if rng.random() < 0.2:
        ways[-1] = list(ways[0])
    return {name: ways[i] for name, i in zip(names, rng.permutation(len(names)), strict=True)}


def _draw(rng):
    """The dearest way is neither the longest nor the one with the largest question, each place in turn; one is empty or short."""
    cases = []
    for place in itertools.islice(itertools.cycle((1, 2, 0, 3)), 5):
        dear = [rounded(e) for e in rng.uniform(0.6, 0.9, size=3)]
        others = [
            [rounded(e) for e in rng.uniform(0.1, 0.25, size=int(rng.integers(5, 7)))],
            [rounded(rng.uniform(1.1, 1.4)), rounded(rng.uniform(0.05, 0.15))],
            [] if place % 2 else [rounded(rng.uniform(0.1, 0.2))],
        ]
        ways = [others[i] for i in rng.permutation(3)]
        ways.insert(place, dear)
        then = dict(zip(ANSWERS[2], ways, strict=True))
        cases.append({"first": rounded(rng.uniform(0.2, 1.0)), "then": then})
    cases[-1]["first"] = 3.0  # more than any way
    return cases


def _ways(then):
    return [sum(epsilons) for epsilons in then.values()]


exercise = Exercise(
    title="Questions that depend on answers",
    good_for="promising an ε before an analyst begins, whatever she will ask",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"first": Number(0.01, 3), "then": Made(_any_plan, THEN)}),
    draw=_draw,
    reference=lambda first, then: first + max(sum(epsilons) for epsilons in then.values()),
    formulas=(lambda first, then: max(first + sum(epsilons) for epsilons in then.values()),),
    means={"sum(epsilons)": "what is spent after this answer"},
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(composition.sequential, composition.basic, composition.parallel, gdp.compose),
    hints=(
        "Follow one answer at a time. What has she spent at the end of this way?",
        "On one way all epsilons add, the first too: they are about the same people. Only one way is taken, and nobody knows yet which: the promise has to hold on the dearest.",
        "`sum(then[answer])` is what is asked after one answer, and 0 for an empty list. `max` takes the largest over all answers.",
    ),
    misconceptions=(
        Misconception(
            "all ways added",
            "You added the epsilons of all ways. After any answer she takes one of them only; what she would have asked on the others is never asked, and costs nothing.",
            lambda first, then: first + sum(_ways(then)),
        ),
        Misconception(
            "average way",
            "You averaged over the ways. Nothing says how likely each answer is, and the promise has to hold whatever the answer will be: take the dearest way.",
            lambda first, then: first + np.mean(_ways(then)),
            recognise=any_of(
                lambda first, then: first + np.mean(_ways(then)),
                lambda first, then: first + np.log(np.mean(np.exp(_ways(then)))),
            ),
        ),
        Misconception(
            "first not counted",
            "You left out the first question. It is about the same people, so its epsilon adds to whatever follows.",
            lambda first, then: max(_ways(then)),
        ),
        Misconception(
            "larger of first and rest",
            "You took the larger of the first epsilon and the dearest way, as for questions about different people. All of them are about the same people: add.",
            lambda first, then: max(first, *_ways(then)),
        ),
        Misconception(
            "cheapest way",
            "You took the cheapest way. If the first answer is another one, more is spent, and the promise is broken.",
            lambda first, then: first + min(_ways(then)),
        ),
        Misconception(
            "single largest",
            "After each answer you counted one question, the largest. All that are asked on one way are about the same people: those add.",
            lambda first, then: first + max(max(epsilons, default=0) for epsilons in then.values()),
        ),
        Misconception(
            "swapped",
            "You took the largest question of each way and added over the ways. It is the other way round: add on a way, take the largest between ways.",
            lambda first, then: first + sum(max(epsilons, default=0) for epsilons in then.values()),
        ),
        Misconception(
            "longest way",
            "You took the way with the most questions. Few questions may cost more than many: compare their sums.",
            lambda first, then: first + sum(max(then.values(), key=len)),
        ),
        Misconception(
            "lists compared",
            "`max` of lists compares their first entries, and the next ones only where these are equal. Compare the sums: `max(then.values(), key=sum)`, or `max` of the sums.",
            lambda first, then: first + sum(max(then.values())),
        ),
        Misconception(
            "one answer",
            "You followed one answer only. Another may be given, and what is asked after it may cost more.",
            lambda first, then: first + _ways(then)[0],
            recognise=any_of(
                lambda first, then: first + _ways(then)[0],
                lambda first, then: first + _ways(then)[-1],
            ),
        ),
        Misconception(
            "first once for each question",
            "You counted the first question again for each that follows. It is asked once.",
            lambda first, then: max(sum(first + epsilon for epsilon in epsilons) for epsilons in then.values()),
        ),
        Misconception(
            "first once for each way",
            "You counted the first question once for each way. It is asked once, before the ways part.",
            lambda first, then: len(then) * first + max(_ways(then)),
        ),
    ),
)
