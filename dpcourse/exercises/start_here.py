"""Exercises and quiz of lesson 00: randomized response."""

import math

import numpy as np

from dpcourse import composition
from dpcourse.exercises.engine import Exercise, Misconception, Option, Question, RandomExercise
from dpcourse.exercises.values import a_number, bits_like

TITLE = "Start here"


def _keep(epsilon):
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def _draw_keep(rng):
    return [{"epsilon": round(float(epsilon), 2)} for epsilon in (rng.uniform(0.2, 0.9), rng.uniform(1.2, 3))]


keep_probability = Exercise(
    id="0.1",
    title="How often to keep the truth",
    function="keep_probability",
    good_for="turning a privacy budget into the bias of a coin",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_keep,
    reference=_keep,
    returns=a_number,
    hints=(
        "You need two numbers, p for keeping and 1 - p for flipping. Their ratio p / (1 - p) has to be e^epsilon.",
        "Multiply both sides of p / (1 - p) = e^epsilon by 1 - p. That gives p = e^epsilon - e^epsilon p. Collect p on the left.",
    ),
    misconceptions=(
        Misconception(
            "the flip",
            "That is the chance to flip the bit. The chance to keep it is the rest, and it is above one half.",
            lambda epsilon: 1 - _keep(epsilon),
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
            "sign lost",
            "A sign was lost in solving for p: the denominator is 1 + e^epsilon. Yours makes p negative.",
            lambda epsilon: math.exp(epsilon) / (1 - math.exp(epsilon)),
        ),
        Misconception(
            "power of ten",
            "You used 10^epsilon. The ratio is e^epsilon, with e = 2.718…: `math.exp(epsilon)`.",
            lambda epsilon: 10**epsilon / (1 + 10**epsilon),
        ),
    ),
)


SURVEYS, PEOPLE = 400, 100


def _draw_respond(rng):
    """401 surveys of the same 100 people: the first two with the same seed, every other with its own."""
    epsilon = rng.choice([rng.uniform(0.55, 0.75), rng.uniform(1.55, 1.7)])
    bits = rng.permutation(PEOPLE) % 2
    seed = int(rng.integers(2**31))
    return [{"bits": bits, "epsilon": round(float(epsilon), 2), "rng": seed + run} for run in (0, *range(SURVEYS))]


def _flips(cases, values):
    """Which bits each survey flipped: booleans of shape (1 + SURVEYS, PEOPLE)."""
    return np.array([np.asarray(value) != case["bits"] for case, value in zip(cases, values, strict=True)])


def _usual_flips(epsilon):
    """The middle numbers of flips in one survey: about two thirds of the surveys have one of them."""
    mean, spread = PEOPLE * (1 - _keep(epsilon)), math.sqrt(PEOPLE * _keep(epsilon) * (1 - _keep(epsilon)))
    return math.ceil(mean - spread), math.floor(mean + spread)


def _count_respond(cases, values):
    again, *flips = _flips(cases, values)
    flips = np.array(flips)
    ones = cases[0]["bits"] == 1
    low, high = _usual_flips(cases[0]["epsilon"])
    numbers = flips.sum(axis=1)
    half = SURVEYS * PEOPLE // 2
    return [
        ("true 1s that were kept", int((~flips[:, ones]).sum()), half),
        ("true 0s that were kept", int((~flips[:, ~ones]).sum()), half),
        (
            "neighbours in the list who were both kept or both flipped",
            int((flips[:, 0::2] == flips[:, 1::2]).sum()),
            half,
        ),
        ("people who were kept in two surveys or flipped in both", int((flips[0::2] == flips[1::2]).sum()), half),
        (f"surveys with {low} to {high} flips", int(((numbers >= low) & (numbers <= high)).sum()), SURVEYS),
        ("surveys that come out the same with the same seed", int((flips[0] == again).all()), 1),
    ]


def _chances_respond(cases):
    from scipy.stats import binom

    keep = _keep(cases[0]["epsilon"])
    alike = keep**2 + (1 - keep) ** 2
    low, high = _usual_flips(cases[0]["epsilon"])
    usual = binom.cdf(high, PEOPLE, 1 - keep) - binom.cdf(low - 1, PEOPLE, 1 - keep)
    return [keep, keep, alike, alike, usual, 1.0]


def _with_keep(keep):
    def code(bits, epsilon, rng):
        return np.where(rng.random(len(bits)) < keep(epsilon), bits, 1 - bits)

    return code


def _same_flips_every_time(cases, values):
    flips = _flips(cases, values)
    ones = cases[0]["bits"] == 1
    mixed = 0 < flips[0][ones].mean() < 1 and 0 < flips[0][~ones].mean() < 1
    return bool(mixed and (flips == flips[0]).all())


def _fixed_number(cases, values):
    flips = _flips(cases, values)
    numbers = flips.sum(axis=1)
    return bool((numbers == numbers[0]).all() and 0 < numbers[0] < PEOPLE and (flips != flips[0]).any())


def _ignores_the_generator(cases, values):
    first, again, *_ = _flips(cases, values)
    return bool((first != again).any())


def _one_coin(cases, values):
    flipped = _flips(cases, values).mean(axis=1)
    return bool(np.isin(flipped, (0, 1)).all() and 0 < flipped.mean() < 1)


randomized_response = RandomExercise(
    id="0.2",
    title="Randomized response",
    function="randomized_response",
    good_for="your first private mechanism; surveys have used it for decades",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_respond,
    reference=composition.randomized_response,
    returns=bits_like("bits"),
    counts=_count_respond,
    chances=_chances_respond,
    forbidden=(composition.randomized_response,),
    hints=(
        "Every person needs a coin of their own. `rng.random(len(bits))` gives one number in [0, 1) for each person.",
        "A number is below p with probability p. Where it is, keep the bit; elsewhere give `1 - bit`. `np.where` does both.",
    ),
    misconceptions=(
        Misconception(
            "fixed number",
            "The number of flips is the same in every survey. Then one person more with a 1 makes some results impossible, "
            "and that is private for no epsilon. Let each person's own coin decide.",
            lambda bits, epsilon, rng: bits ^ (rng.permutation(len(bits)) >= round(len(bits) * _keep(epsilon))),
            recognise=_fixed_number,
        ),
        Misconception(
            "one coin for all",
            "One coin decides for everybody: all bits are kept, or all are flipped. Toss one coin for each person.",
            lambda bits, epsilon, rng: bits if rng.random() < _keep(epsilon) else 1 - bits,
            recognise=_one_coin,
        ),
        Misconception(
            "own seed",
            "The same people are flipped at every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda bits, epsilon, rng: _with_keep(_keep)(bits, epsilon, np.random.default_rng(0)),
            recognise=_same_flips_every_time,
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your coins come from somewhere else. Draw them from `rng`.",
            lambda bits, epsilon, rng: _with_keep(_keep)(bits, epsilon, np.random.default_rng()),
            recognise=_ignores_the_generator,
        ),
        Misconception(
            "flips too often",
            "You keep with the chance that belongs to flipping, so most reports are lies. Keep with e^epsilon / (1 + e^epsilon).",
            _with_keep(lambda epsilon: 1 - _keep(epsilon)),
        ),
        Misconception(
            "flip e^-epsilon",
            "You flip with probability e^-epsilon. Then keep / flip is e^epsilon - 1, not e^epsilon.",
            _with_keep(lambda epsilon: 1 - math.exp(-epsilon)),
        ),
        Misconception(
            "fixed coin",
            "You keep the truth with probability 3/4 whatever epsilon is. That coin fits epsilon = ln 3 only.",
            _with_keep(lambda epsilon: 0.75),
        ),
        Misconception(
            "random instead of flipped",
            "Where you do not keep the bit you report a fair coin, which is the truth half of the time. Report 1 - bit there.",
            _with_keep(lambda epsilon: (1 + _keep(epsilon)) / 2),
        ),
        Misconception(
            "only the 1s",
            "You protect the 1s only. Then a reported 1 is certainly true: the ratio of the chances is infinite, not e^epsilon.",
            lambda bits, epsilon, rng: np.where((bits == 1) & (rng.random(len(bits)) >= _keep(epsilon)), 0, bits),
        ),
        Misconception(
            "nothing random",
            "Every report is the true bit. That is exact, and it hides nobody. Is your probability to keep above 1?",
            lambda bits, epsilon, rng: bits,
        ),
        Misconception(
            "bits not used",
            "Your reports do not depend on `bits`: you report the coins themselves. A coin decides between the bit and its opposite.",
            lambda bits, epsilon, rng: (rng.random(len(bits)) < _keep(epsilon)).astype(int),
        ),
    ),
)


def _draw_reports(rng):
    """Three surveys of 40 to 80 people; in two of them nearly all report the same: the estimate leaves [0, 1]."""
    cases = []
    for share in (rng.uniform(0.4, 0.6), 0.97, 0.03):
        reports = (rng.permutation(n := int(rng.integers(40, 81))) < round(share * n)).astype(np.int8)
        cases.append({"reports": reports, "epsilon": round(float(rng.uniform(0.5, 1.5)), 2)})
    return cases


def _estimate(mean, keep):
    return (mean - (1 - keep)) / (2 * keep - 1)


debias = Exercise(
    id="0.3",
    title="Undo the lies on average",
    function="estimate_share",
    good_for="getting a true statistic out of protected answers",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_reports,
    reference=composition.debiased_mean,
    returns=a_number,
    forbidden=(composition.debiased_mean,),
    hints=(
        "Let t be the true share of 1s and p the chance to keep. A report of 1 is a kept 1 or a flipped 0: its chance is t p + (1 - t)(1 - p).",
        "Sorted by t, that chance is (1 - p) + t (2 p - 1). Set it equal to the mean of the reports, take away 1 - p, divide by 2 p - 1.",
    ),
    misconceptions=(
        Misconception(
            "raw mean",
            "That is the share of 1s among the reports. The flips pull it towards one half; pull it back.",
            lambda reports, epsilon: np.mean(reports),
        ),
        Misconception(
            "not centred",
            "You divide by 2p - 1 but do not first take away the share 1 - p of 1s that the flips alone make.",
            lambda reports, epsilon: np.mean(reports) / (2 * _keep(epsilon) - 1),
        ),
        Misconception(
            "p taken away",
            "You take away p, the chance to keep. Take away 1 - p: that is the mean of the reports when nobody has a 1.",
            lambda reports, epsilon: (np.mean(reports) - _keep(epsilon)) / (2 * _keep(epsilon) - 1),
        ),
        Misconception(
            "divided by p",
            "You divide by p. From nobody to everybody the mean of the reports rises from 1 - p to p, which is a rise of 2p - 1.",
            lambda reports, epsilon: (np.mean(reports) - (1 - _keep(epsilon))) / _keep(epsilon),
        ),
        Misconception(
            "not divided",
            "You took away 1 - p and stopped there. From nobody to everybody the mean rises by 2p - 1 only: divide by that.",
            lambda reports, epsilon: np.mean(reports) - (1 - _keep(epsilon)),
        ),
        Misconception(
            "brackets above",
            "Brackets are missing above the line: only 1 - p is divided. Put the whole difference into brackets.",
            lambda reports, epsilon: np.mean(reports) - (1 - _keep(epsilon)) / (2 * _keep(epsilon) - 1),
        ),
        Misconception(
            "brackets below",
            "Brackets are missing below the line: a / 2 * p - 1 is ((a / 2) * p) - 1. Write a / (2 * p - 1).",
            lambda reports, epsilon: (np.mean(reports) - (1 - _keep(epsilon))) / 2 * _keep(epsilon) - 1,
        ),
        Misconception(
            "forward",
            "That is the share of 1s you would expect after one more round of flips. Here the flips are to be undone: solve for t.",
            lambda reports, epsilon: np.mean(reports) * _keep(epsilon) + (1 - np.mean(reports)) * (1 - _keep(epsilon)),
        ),
        Misconception(
            "cut off below",
            "You cut the estimate off at 0. That is allowed, but then it is no longer right on average: "
            "here return the unbiased estimate, even where it is negative.",
            lambda reports, epsilon: max(0.0, _estimate(np.mean(reports), _keep(epsilon))),
        ),
        Misconception(
            "cut off",
            "You cut the estimate off at 0 or 1. That is allowed, but then it is no longer right on average: "
            "here return the unbiased estimate, even where it falls outside [0, 1].",
            lambda reports, epsilon: min(1.0, max(0.0, _estimate(np.mean(reports), _keep(epsilon)))),
        ),
        Misconception(
            "count",
            "That is the estimated number of people. Divide by how many there are.",
            lambda reports, epsilon: len(reports) * _estimate(np.mean(reports), _keep(epsilon)),
        ),
    ),
)

EXERCISES = (keep_probability, randomized_response, debias)

QUIZ = (
    Question(
        "Mia answers a survey by randomized response with ε = 1, and her report is “yes”. What does the report prove?",
        (
            Option(
                "That Mia's true answer is yes.",
                False,
                "A report of yes comes from a true no as well, with chance 0.27.",
            ),
            Option(
                "Nothing: whatever was likely before is as likely now.",
                False,
                "Yes became more likely. Its odds grew by the factor e = 2.72, which is what ε = 1 allows.",
            ),
            Option(
                "Nothing for certain, but the odds of yes are now e times what they were.",
                True,
                "The odds are multiplied by p / (1 - p) = e^ε. No report can move them further.",
            ),
        ),
    ),
    Question(
        "Which mechanism protects best?",
        (
            Option(
                "The one with ε = 0.1.", True, "A smaller ε lets one person change the chances of every output less."
            ),
            Option(
                "The one with ε = 10.",
                False,
                "e^10 is about 22,000: one person may make an output 22,000 times as likely.",
            ),
            Option(
                "Both the same, if the noise is random.",
                False,
                "Randomness is needed, but ε says how much of it there is. With ε = 10 nearly every report is true.",
            ),
        ),
    ),
    Question(
        "A hospital publishes the exact number of its patients with flu, every day. Is that ε-DP for some ε?",
        (
            Option(
                "Yes, because only a number is published, no names.",
                False,
                "If you know everyone but Mia, the exact number tells you about Mia, and no bound on a ratio holds.",
            ),
            Option(
                "No, for no ε.",
                True,
                "Without Mia the same number has probability 0. A ratio of 1 to 0 is not bounded by any e^ε.",
            ),
            Option(
                "Yes, if there are many patients.",
                False,
                "However many there are, adding one person changes an exact count for certain.",
            ),
        ),
    ),
    Question(
        "You want the standard error of a survey by randomized response to be half as large, at the same ε. What do you need?",
        (
            Option("Twice as many people.", False, "The error falls with the square root of the number of people."),
            Option("Four times as many people.", True, "The error is a constant over √n."),
            Option(
                "Nothing helps: the answers are lies.",
                False,
                "The lies have a known frequency, so they cancel out on average.",
            ),
        ),
    ),
    Question(
        "A check says “not yet”. Which statement is right?",
        (
            Option("I have used up my try.", False, "Try as often as you like; the inputs are drawn anew each time."),
            Option(
                "The message names my mistake if it is a known one, and hint() goes further.",
                True,
                "Message first, then hints one by one, then the solution if you are sure.",
            ),
            Option(
                "I can pass by returning the value that the message shows.", False, "The next check uses other inputs."
            ),
        ),
    ),
)
