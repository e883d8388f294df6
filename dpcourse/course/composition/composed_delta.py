"""Optimal composition."""

import math

from dpcourse import composition, pld, tradeoff
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, rounded


def _draw_spill(rng):
    cases = []
    for _ in range(2):
        k, epsilon = int(rng.integers(5, 15)), rounded(rng.uniform(0.2, 0.8))
        cases.append({"epsilon": epsilon, "k": k, "epsilon_total": rounded(rng.uniform(0.2, 0.5) * k * epsilon)})
    k, epsilon = int(rng.choice([3, 5, 7])), rounded(rng.uniform(0.3, 0.8))  # the middle term counts too
    return [*cases, {"epsilon": epsilon, "k": k, "epsilon_total": rounded(rng.uniform(0.3, 0.8) * epsilon)}]


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


def _summed(epsilon, k, epsilon_total):
    """As learners write it: over the numbers of noes."""
    keep, total = math.exp(epsilon) / (1 + math.exp(epsilon)), 0.0
    for j in range(k + 1):
        with_yes, without = keep ** (k - j) * (1 - keep) ** j, keep**j * (1 - keep) ** (k - j)
        total += math.comb(k, j) * max(0, with_yes - math.exp(epsilon_total) * without)
    return total


exercise = Exercise(
    title="Optimal composition",
    good_for="the exact answer, against which every bound is measured",
    difficulty=4,
    minutes=30,
    points=4,
    domain=Domain({"epsilon": Number(0.01, 2), "k": Whole(1, 50), "epsilon_total": Number(0, 10)}),
    draw=_draw_spill,
    reference=lambda epsilon, k, epsilon_total: composition.optimal_delta(epsilon, 0.0, k, epsilon_total),
    formulas=(_summed,),
    means={
        "math.exp(epsilon) / (1 + math.exp(epsilon))": "the chance to keep the truth",
        "math.comb(k, j)": "the number of ways to lie j times",
        "keep ** (k - j) * (1 - keep) ** j": "the chance of one such outcome if the truth is yes",
        "keep ** j * (1 - keep) ** (k - j)": "the chance of one such outcome if the truth is no",
        "with_yes - math.exp(epsilon_total) * without": "by how much one such outcome is above what epsilon_total allows",
    },
    returns=a_number,
    possible=Number(0, 1),
    forbidden=(composition.optimal, composition.optimal_delta, tradeoff.product, pld.Curve.__init__),
    hints=(
        "Do k = 2 on paper: no, one or two no reports. Write P and Q of each with `keep` and `flip`. One no report comes in two orders, "
        "and has the same P and Q: it spills nothing.",
        "If the truth is yes, j no reports are j flips and k - j kept bits, in `math.comb(k, j)` orders. If the truth is no, exchange "
        "`keep` and `flip`. Write P and Q of one j, then loop over j from 0 to k.",
        "Cut off each term at 0, not their sum. To compare: for epsilon 1, k 2 and epsilon_total 1 the terms are 0.338, 0 and 0.",
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
            "Your result is 0. At j = 0, where all reports are yes, P is above e^epsilon_total Q, so something is added: print P, what you take "
            "from it, and the sum, in the loop.",
            lambda epsilon, k, epsilon_total: 0.0,
        ),
        Misconception(
            "P compared with Q",
            "You add the difference wherever P is above Q. It counts only where it is positive itself.",
            _spill(lambda chance, loss, total: (chance - math.exp(total - loss) * chance) * (loss > 0)),
        ),
        Misconception(
            "difference turned",
            "Your factor e^epsilon_total stands at the chance from which you take away. It belongs to the one that is taken away: "
            "max(0, P - e^epsilon_total Q).",
            _spill(lambda chance, loss, total: max(0.0, math.exp(total - loss) * chance - chance)),
        ),
        Misconception(
            "averaged",
            "You averaged over the k + 1 outcomes. Each P holds its own chance already: add.",
            lambda epsilon, k, epsilon_total: _spill(_spilled)(epsilon, k, epsilon_total) / (k + 1),
        ),
        Misconception(
            "first term only",
            "Only the term j = 0 counts in your result. Add one for each j from 0 to k: is there a `return` inside the loop?",
            lambda epsilon, k, epsilon_total: _spilled(
                (math.exp(epsilon) / (1 + math.exp(epsilon))) ** k, k * epsilon, epsilon_total
            ),
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
            "The term is missing in which all reports are yes. It has the largest loss of all: let the loop run over all of 0, 1, …, k.",
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
        Misconception(
            "k times the total",
            "You multiplied epsilon_total by k. It is the total of all k reports already: the factor is e^epsilon_total.",
            lambda epsilon, k, epsilon_total: _spill(_spilled)(epsilon, k, k * epsilon_total),
        ),
        Misconception(
            "brackets below",
            "Your power stands at e^epsilon alone. It belongs to the whole bracket: (1 + e^epsilon) ** k.",
            lambda epsilon, k, epsilon_total: (
                _spill(_spilled)(epsilon, k, epsilon_total) * (1 + math.exp(epsilon)) ** k / (1 + math.exp(k * epsilon))
            ),
        ),
        Misconception(
            "no power below",
            "Below the line the power k is missing: each of the k reports has 1 + e^epsilon there.",
            lambda epsilon, k, epsilon_total: (
                _spill(_spilled)(epsilon, k, epsilon_total) * (1 + math.exp(epsilon)) ** (k - 1)
            ),
        ),
    ),
)
