"""Exercises and quiz of lesson 01: composition."""

import math

import numpy as np

from dpcourse import composition
from dpcourse.exercises.engine import Exercise, Misconception, Option, Question
from dpcourse.exercises.values import a_number, a_whole_number, rounded, several

TITLE = "Composition"


def _draw_epsilons(rng):
    """Two lists; the second holds one value twice, as happens when a question is asked again."""
    first, second = rng.uniform(0.1, 2, size=3), rng.uniform(0.1, 2, size=int(rng.integers(3, 7)))
    return [{"epsilons": [rounded(e) for e in epsilons]} for epsilons in (first, [*second, second[0]])]


sequential = Exercise(
    id="1.1",
    title="The bill for several answers",
    function="sequential_composition",
    good_for="knowing what an analyst has spent after a day of queries",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_epsilons,
    reference=composition.sequential,
    returns=a_number,
    forbidden=(composition.sequential, composition.basic),
    hints=(
        "Each answer can multiply the odds by its own e^epsilon. What do the factors multiply to?",
        "e^a times e^b is e^(a + b). `sum` adds up a list.",
    ),
    misconceptions=(
        Misconception(
            "largest",
            "You took the largest epsilon. That is the bill when every answer is about other people; here all are about the same ones.",
            lambda epsilons: max(epsilons),
        ),
        Misconception(
            "multiplied",
            "You multiplied the epsilons. The likelihood ratios e^epsilon multiply, so their logarithms, the epsilons, add.",
            lambda epsilons: math.prod(epsilons),
        ),
        Misconception(
            "quadrature",
            "You added the squares and took the root, as for standard deviations of noise. In the worst case the losses simply add.",
            lambda epsilons: math.hypot(*epsilons),
        ),
        Misconception(
            "average",
            "You took the average. Then many answers would cost no more than one.",
            lambda epsilons: sum(epsilons) / len(epsilons),
        ),
        Misconception(
            "equal ones once",
            "You counted equal epsilons once. Asking again costs again.",
            lambda epsilons: sum(set(epsilons)),
        ),
        Misconception(
            "first times count",
            "You multiplied the first epsilon by the number of answers. Each answer has its own epsilon.",
            lambda epsilons: len(epsilons) * epsilons[0],
        ),
        Misconception(
            "ratio",
            "That is the bound e^epsilon on the likelihood ratio. The question is for epsilon, its logarithm.",
            lambda epsilons: math.exp(sum(epsilons)),
        ),
    ),
)


def _draw_queries(rng):
    """Several queries on each of three blocks, so that no two ways to count agree."""
    cases = []
    for _ in range(2):
        blocks = rng.permutation(["north"] * 3 + ["south"] * 2 + ["west"] * int(rng.integers(1, 3)))
        cases.append({"queries": [(str(block), rounded(rng.uniform(0.1, 1))) for block in blocks]})
    return cases


def _per_block(queries):
    spent = {}
    for block, epsilon in queries:
        spent.setdefault(block, []).append(epsilon)
    return spent.values()


privacy_bill = Exercise(
    id="1.2",
    title="One bill for a table in blocks",
    function="privacy_bill",
    good_for="budgeting a report that is split by region, plan or year",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_queries,
    reference=lambda queries: max(sum(epsilons) for epsilons in _per_block(queries)),
    returns=a_number,
    forbidden=(composition.sequential, composition.parallel),
    hints=(
        "Think of one person. She is in one block only. Which queries touch her data?",
        "Add up the epsilons within each block, in a dict from block to sum. The answer holds for everybody, so for the block that pays most.",
    ),
    misconceptions=(
        Misconception(
            "all added",
            "You added all epsilons, as if every query touched everybody. Each person is in one block, so only that block's queries count for her.",
            lambda queries: sum(epsilon for _, epsilon in queries),
        ),
        Misconception(
            "single largest",
            "You took the largest single epsilon. Two queries on the same block are about the same people: those add.",
            lambda queries: max(epsilon for _, epsilon in queries),
        ),
        Misconception(
            "swapped",
            "You took the largest within each block and added over the blocks. It is the other way round: add within, take the largest between.",
            lambda queries: sum(max(epsilons) for epsilons in _per_block(queries)),
        ),
        Misconception(
            "overwritten",
            "Only the last query of each block counted: `spent[block] = epsilon` forgets what stood there. Add to it.",
            lambda queries: max(epsilons[-1] for epsilons in _per_block(queries)),
        ),
        Misconception(
            "two largest",
            "You added the two blocks that pay most. That is the bill where a person may be replaced by one of another block; "
            "here one person is added or removed.",
            lambda queries: sum(sorted(sum(epsilons) for epsilons in _per_block(queries))[-2:]),
        ),
        Misconception(
            "average block",
            "You averaged over the blocks. A guarantee has to hold for the people in the block that pays most.",
            lambda queries: np.mean([sum(epsilons) for epsilons in _per_block(queries)]),
        ),
    ),
)


def _draw_prior(rng):
    return [
        {"prior": rounded(prior), "epsilon": rounded(rng.uniform(0.3, 2))}
        for prior in (rng.uniform(0.02, 0.2), rng.uniform(0.6, 0.9))
    ]


worst_posterior = Exercise(
    id="1.3",
    title="The most that an attacker can come to believe",
    function="worst_posterior",
    good_for="explaining epsilon to somebody who asks what an attacker learns",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_prior,
    reference=lambda prior, epsilon: prior * math.exp(epsilon) / (prior * math.exp(epsilon) + 1 - prior),
    returns=a_number,
    hints=(
        "Work with odds: prior / (1 - prior). The answer multiplies them by at most e^epsilon.",
        "Then go back from odds to a probability: odds / (1 + odds).",
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
            "both odds",
            "You moved the odds by e^2epsilon: up for yes and down for no. The ratio of the two is what e^epsilon bounds; use it once.",
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
    ),
)


def _draw_pairs(rng):
    cases = []
    for size in (2, int(rng.integers(3, 7))):
        deltas = [float(f"{10 ** rng.uniform(-4, -2):.1e}") for _ in range(size)]
        cases.append({"epsilons": [rounded(e) for e in rng.uniform(0.1, 1, size=size)], "deltas": deltas})
    return cases


basic = Exercise(
    id="1.4",
    title="Basic composition",
    function="basic_composition",
    good_for="the first bound to write down for any pipeline",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_pairs,
    reference=composition.basic,
    returns=several("epsilon", "delta"),
    forbidden=(composition.basic, composition.sequential),
    hints=(
        "Both parameters follow the same rule.",
        "Return two sums, first of the epsilons, then of the deltas: `return a, b`.",
    ),
    misconceptions=(
        Misconception(
            "largest delta",
            "You took the largest delta. Each answer has its own chance to fail, so the chances add up.",
            lambda epsilons, deltas: (sum(epsilons), max(deltas)),
        ),
        Misconception(
            "deltas multiplied",
            "You multiplied the deltas, which is the chance that all answers fail at once. One failure is enough: add.",
            lambda epsilons, deltas: (sum(epsilons), math.prod(deltas)),
        ),
        Misconception(
            "delta dropped",
            "Your delta is 0. Answers that may fail do not become pure by being several.",
            lambda epsilons, deltas: (sum(epsilons), 0.0),
        ),
        Misconception(
            "independent failures",
            "1 - (1 - delta_1)(1 - delta_2)… is a little smaller, and it is what optimal composition gives. Basic composition just adds.",
            lambda epsilons, deltas: (sum(epsilons), 1 - math.prod(1 - delta for delta in deltas)),
        ),
        Misconception(
            "swapped",
            "The two results are in the wrong order: first epsilon, then delta.",
            lambda epsilons, deltas: (sum(deltas), sum(epsilons)),
        ),
        Misconception(
            "largest epsilon",
            "You took the largest epsilon. These answers are about the same people, so the epsilons add.",
            lambda epsilons, deltas: (max(epsilons), sum(deltas)),
        ),
    ),
)


def _draw_advanced(rng):
    """Two settings: few answers, where basic composition is smaller, and many."""
    return [
        {
            "epsilon": rounded(rng.uniform(0.05, 0.5)),
            "delta": float(f"{10 ** rng.uniform(-8, -6):.1e}"),
            "k": int(k),
            "delta_prime": float(f"{10 ** rng.uniform(-6, -3):.1e}"),
        }
        for k in (rng.integers(3, 9), rng.integers(100, 300))
    ]


def _advanced(
    root, drift=lambda epsilon, k: k * epsilon * math.expm1(epsilon), failure=lambda delta, k, slack: k * delta + slack
):
    """Advanced composition with one of its three parts replaced."""

    def code(epsilon, delta, k, delta_prime):
        return root(epsilon, k, delta_prime) + drift(epsilon, k), failure(delta, k, delta_prime)

    return code


def _root(epsilon, k, slack):
    return math.sqrt(2 * k * math.log(1 / slack)) * epsilon


advanced = Exercise(
    id="1.5",
    title="Advanced composition",
    function="advanced_composition",
    good_for="a budget that grows with the square root of the number of answers",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_advanced,
    reference=composition.advanced,
    returns=several("epsilon", "delta"),
    forbidden=(composition.advanced,),
    hints=(
        "Two terms for epsilon: the spread of a random walk of k steps, and its drift. Two terms for delta: k failures, and the slack.",
        "The spread is `math.sqrt(2 * k * math.log(1 / delta_prime)) * epsilon`. The drift is k times epsilon times (e^epsilon - 1).",
    ),
    misconceptions=(
        Misconception(
            "log of 1/epsilon",
            "You took ln(1/epsilon). The logarithm is of 1/delta_prime: the slack is the chance that the walk strays further than the bound.",
            _advanced(lambda epsilon, k, slack: math.sqrt(2 * k * math.log(1 / epsilon)) * epsilon),
        ),
        Misconception(
            "log of 1/delta",
            "You took ln(1/delta). The slack is delta_prime, which you choose; delta is the failure of a single answer.",
            lambda epsilon, delta, k, delta_prime: (
                _advanced(_root)(epsilon, delta, k, delta)[0],
                k * delta + delta_prime,
            ),
        ),
        Misconception(
            "smaller of two",
            "You returned basic composition where it is smaller. When you promise something, do; here return advanced composition itself.",
            lambda epsilon, delta, k, delta_prime: (
                min(k * epsilon, _advanced(_root)(epsilon, delta, k, delta_prime)[0]),
                k * delta + delta_prime,
            ),
        ),
        Misconception(
            "2 forgotten",
            "The 2 under the root is missing: sqrt(2 k ln(1/delta_prime)).",
            _advanced(lambda epsilon, k, slack: math.sqrt(k * math.log(1 / slack)) * epsilon),
        ),
        Misconception(
            "k outside the root",
            "Your k stands outside the root, so the bound grows with k again. Put it under the root: sqrt(2 k ln(1/delta_prime)).",
            _advanced(lambda epsilon, k, slack: k * math.sqrt(2 * math.log(1 / slack)) * epsilon),
        ),
        Misconception(
            "base ten",
            "You took the logarithm to base 10. It is the natural one, `math.log`.",
            _advanced(lambda epsilon, k, slack: math.sqrt(2 * k * math.log10(1 / slack)) * epsilon),
        ),
        Misconception(
            "no drift",
            "The second term, k epsilon (e^epsilon - 1), is missing. The losses drift upward; the root covers only their spread.",
            _advanced(_root, drift=lambda epsilon, k: 0.0),
        ),
        Misconception(
            "drift with e^epsilon",
            "In the second term you have e^epsilon where e^epsilon - 1 belongs. For a small epsilon that is nearly 1 in place of nearly 0.",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon * math.exp(epsilon)),
        ),
        Misconception(
            "drift without epsilon",
            "In the second term epsilon is missing as a factor: k epsilon (e^epsilon - 1).",
            _advanced(_root, drift=lambda epsilon, k: k * math.expm1(epsilon)),
        ),
        Misconception(
            "drift without k",
            "In the second term k is missing as a factor: k epsilon (e^epsilon - 1).",
            _advanced(_root, drift=lambda epsilon, k: epsilon * math.expm1(epsilon)),
        ),
        Misconception(
            "brackets",
            "You took e^(epsilon - 1). It is e^epsilon, minus 1: `math.exp(epsilon) - 1`.",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon * math.exp(epsilon - 1)),
        ),
        Misconception(
            "drift approximated",
            "You used epsilon squared for epsilon (e^epsilon - 1). It is smaller than the true drift, so it is no bound.",
            _advanced(_root, drift=lambda epsilon, k: k * epsilon**2),
        ),
        Misconception(
            "no slack",
            "Your delta is k delta. The slack counts as well: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: k * delta),
        ),
        Misconception(
            "slack k times",
            "You added the slack once for each answer. It is spent once, for the whole walk: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: k * (delta + slack)),
        ),
        Misconception(
            "only the slack",
            "Your delta is delta_prime alone. The k answers may fail as well, each with its delta: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: slack),
        ),
        Misconception(
            "one delta",
            "You added delta once. It belongs there k times, once for each answer: k delta + delta_prime.",
            _advanced(_root, failure=lambda delta, k, slack: delta + slack),
        ),
    ),
)


def _crossing(epsilon, delta_prime, drift=math.expm1, log=math.log):
    """The smallest k with sqrt(2 k L) + k drift(epsilon) < k, where L = log(1/delta_prime)."""
    threshold = 2 * log(1 / delta_prime) / (1 - drift(epsilon)) ** 2
    return math.floor(threshold) + 1


def _draw_crossing(rng):
    return [
        {"epsilon": rounded(epsilon), "delta_prime": 10.0 ** -int(rng.integers(4, 10))}
        for epsilon in (0.1, rng.uniform(0.2, 0.35), rng.uniform(0.4, 0.5))
    ]


crossing = Exercise(
    id="1.6",
    title="Where advanced beats basic",
    function="crossing",
    good_for="choosing the bound before you promise it to anybody",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_crossing,
    reference=_crossing,
    returns=a_whole_number,
    hints=(
        "A loop over k = 1, 2, 3 … that returns at the first k where the advanced epsilon is below k epsilon will do.",
        "On paper: divide both sides by epsilon and by sqrt(k), and solve for k. It is the first whole number above 2 ln(1/delta_prime) / (2 - e^epsilon)^2.",
    ),
    misconceptions=(
        Misconception(
            "one too low",
            "One too low: at your k basic is still the smaller one. The question is for the first k at which advanced wins.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime) - 1,
        ),
        Misconception(
            "one too high",
            "One too high: at k - 1 advanced already wins.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime) + 1,
        ),
        Misconception(
            "no drift",
            "You compared sqrt(2 k ln(1/delta_prime)) epsilon alone with k epsilon. Advanced has a second term, k epsilon (e^epsilon - 1).",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime, drift=lambda e: 0.0),
        ),
        Misconception(
            "log of 1/epsilon",
            "You took ln(1/epsilon) under the root. It is ln(1/delta_prime).",
            lambda epsilon, delta_prime: _crossing(epsilon, epsilon),
        ),
        Misconception(
            "base ten",
            "You took the logarithm to base 10. It is the natural one, `math.log`.",
            lambda epsilon, delta_prime: _crossing(epsilon, delta_prime, log=math.log10),
        ),
        Misconception(
            "k = 0",
            "You returned 0. With no answer both bounds are 0; begin at k = 1.",
            lambda epsilon, delta_prime: 0,
        ),
        Misconception(
            "k = 1",
            "You returned 1, where basic is still the smaller one. Is your comparison the wrong way round?",
            lambda epsilon, delta_prime: 1,
        ),
        Misconception(
            "k = 2",
            "You compared sqrt(k) with k. The constants matter: advanced has sqrt(2 ln(1/delta_prime)) in front of its root.",
            lambda epsilon, delta_prime: 2,
        ),
    ),
)


def _draw_spill(rng):
    cases = []
    for _ in range(2):
        k, epsilon = int(rng.integers(5, 25)), rounded(rng.uniform(0.2, 0.8))
        cases.append({"epsilon": epsilon, "k": k, "epsilon_total": rounded(rng.uniform(0.2, 0.5) * k * epsilon)})
    return cases


def _spill(term, loss=lambda k, flips, epsilon: (k - 2 * flips) * epsilon, choose=math.comb):
    """Sum over the number of flips of term(chance under one neighbour, loss, epsilon_total)."""

    def code(epsilon, k, epsilon_total):
        total = 0.0
        for flips in range(k + 1):
            chance = choose(k, flips) * math.exp((k - flips) * epsilon) / (1 + math.exp(epsilon)) ** k
            total += term(chance, loss(k, flips, epsilon), epsilon_total)
        return total

    return code


def _spilled(chance, loss, total):
    return max(0.0, chance - math.exp(total - loss) * chance)


composed_delta = Exercise(
    id="1.7",
    title="Optimal composition",
    function="composed_delta",
    good_for="the exact answer, against which every bound is measured",
    difficulty=4,
    minutes=25,
    points=4,
    draw=_draw_spill,
    reference=lambda epsilon, k, epsilon_total: composition.optimal_delta(epsilon, 0.0, k, epsilon_total),
    returns=a_number,
    forbidden=(composition.optimal, composition.optimal_delta),
    hints=(
        "Loop over j, the number of no reports, from 0 to k. If the truth is yes, these are flips: P is `math.comb(k, j) * keep**(k - j) * flip**j`.",
        "If the truth is no, the same j no reports are kept bits: Q is `math.comb(k, j) * keep**j * flip**(k - j)`.",
        "Add up `max(0, P - math.exp(epsilon_total) * Q)`.",
    ),
    misconceptions=(
        Misconception(
            "tail",
            "You added P wherever the loss passes epsilon_total: that is the chance of a large loss. Only the part above e^epsilon_total Q counts.",
            _spill(lambda chance, loss, total: chance * (loss > total)),
        ),
        Misconception(
            "no binomial",
            "The binomial coefficient is missing: there are math.comb(k, j) ways to have j no reports.",
            _spill(_spilled, choose=lambda k, flips: 1),
        ),
        Misconception(
            "flips not counted against",
            "A no report does not only fail to add to the loss, it takes epsilon away: P/Q is e^((k - 2j) epsilon).",
            _spill(_spilled, loss=lambda k, flips, epsilon: (k - flips) * epsilon),
        ),
        Misconception(
            "total variation",
            "You added max(0, P - Q), which is delta at epsilon_total = 0. Q has to be multiplied by e^epsilon_total first.",
            _spill(lambda chance, loss, total: _spilled(chance, loss, 0.0)),
        ),
        Misconception(
            "negative terms kept",
            "You also added the negative differences. Each output counts as max(0, P - e^epsilon_total Q).",
            _spill(lambda chance, loss, total: chance - math.exp(total - loss) * chance),
        ),
        Misconception(
            "zero",
            "Your result is 0. Either P and Q are the same in your code, or you took the max of 0 and the whole sum: it belongs to each term.",
            lambda epsilon, k, epsilon_total: 0.0,
        ),
        Misconception(
            "absolute",
            "You added absolute differences. Where P is below e^epsilon_total Q nothing spills: max(0, P - e^epsilon_total Q).",
            _spill(lambda chance, loss, total: abs(chance - math.exp(total - loss) * chance)),
        ),
        Misconception(
            "no exponential",
            "You multiplied Q by epsilon_total. The factor is e^epsilon_total.",
            _spill(lambda chance, loss, total: max(0.0, chance - total * math.exp(-loss) * chance)),
        ),
        Misconception(
            "first term left out",
            "The term j = 0 is missing, where all reports are yes. It has the largest loss of all: begin the loop at 0.",
            lambda epsilon, k, epsilon_total: (
                _spill(_spilled)(epsilon, k, epsilon_total)
                - _spilled((math.exp(epsilon) / (1 + math.exp(epsilon))) ** k, k * epsilon, epsilon_total)
            ),
        ),
        Misconception(
            "one epsilon",
            "You multiplied Q by e^epsilon. The question is for the total: e^epsilon_total.",
            lambda epsilon, k, epsilon_total: _spill(_spilled)(epsilon, k, epsilon),
        ),
    ),
)

EXERCISES = (sequential, privacy_bill, worst_posterior, basic, advanced, crossing, composed_delta)

QUIZ = (
    Question(
        "A clinic answers 10 questions about all of its patients, each with ε = 0.2. What does it guarantee, by sequential composition?",
        (
            Option(
                "ε = 0.2",
                False,
                "That would be parallel composition: every answer about other people. These are about the same ones.",
            ),
            Option("ε = 2", True, "Ten times 0.2. The likelihood ratios multiply, so the epsilons add."),
            Option(
                "ε = 0.63",
                False,
                "That is 0.2 · √10. A root appears only with a δ above 0, and with constants in front of it.",
            ),
        ),
    ),
    Question(
        "The same clinic asks one question with ε = 0.2 in each of its 10 wards. Every patient lies in one ward. What does it guarantee?",
        (
            Option(
                "ε = 2",
                False,
                "Sequential composition holds too, but it is far from tight: nine of the answers do not touch Mia.",
            ),
            Option("ε = 0.02", False, "Splitting does not add protection. Mia's ward is still asked with ε = 0.2."),
            Option("ε = 0.2", True, "One patient added or removed changes one ward only."),
        ),
    ),
    Question(
        "And if neighbours differ by one patient replaced, where the new one may lie in another ward?",
        (
            Option(
                "Still ε = 0.2.", False, "Now two wards change: the one that was left and the one that was entered."
            ),
            Option(
                "ε = 0.4",
                True,
                "Two wards change, and each costs 0.2. Parallel composition depends on what a neighbour is.",
            ),
            Option("ε = 2", False, "Two of the ten wards change, not all."),
        ),
    ),
    Question(
        "An attacker has a second data set with names in it and links it with the private answers. What happens to ε?",
        (
            Option(
                "It stays.",
                True,
                "Linking is post-processing: a computation on the answers that does not look at the data again.",
            ),
            Option(
                "It grows with what the attacker knows.",
                False,
                "The bound on the ratio holds for every belief that the attacker begins with.",
            ),
            Option(
                "It is void: DP assumes an attacker who knows nothing.",
                False,
                "DP assumes nothing about the attacker. That is its point.",
            ),
        ),
    ),
    Question(
        "In advanced composition, what is δ′?",
        (
            Option(
                "The chance that we let the total loss pass ε′.",
                True,
                "You choose it. A smaller δ′ costs a larger ε′, by √ln(1/δ′).",
            ),
            Option("The δ of one answer.", False, "That is δ. It enters as kδ."),
            Option(
                "A constant, 10⁻⁵.",
                False,
                "It is often set so, but it is yours to choose, well below one over the number of people.",
            ),
        ),
    ),
    Question(
        "You answer 5 questions with ε = 0.1 each and want δ′ = 10⁻⁶. Which bound is smaller?",
        (
            Option("Basic.", True, "Basic gives 0.5. Advanced needs k above 34 here."),
            Option(
                "Advanced, as always.",
                False,
                "Advanced has √(2 ln 10⁶) = 5.3 in front of √k. With k = 5 it gives 1.23.",
            ),
            Option("They agree.", False, "They agree at one k only, and it is far above 5."),
        ),
    ),
)
