"""The Rényi divergence of one step."""

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from dpcourse import rdp
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, rounded
from dpcourse.course.accountants.shared import divergence


def _draw_step(rng):
    """A low order, a middle one, and a high one, at which the terms themselves are no doubles."""
    return [
        {
            "noise_multiplier": rounded(rng.uniform(*noises)),
            "sample_rate": rounded(rng.uniform(0.01, 0.3), 3),
            "order": int(rng.integers(*orders)),
        }
        for noises, orders in (((0.8, 2.0), (3, 8)), ((1.5, 4.0), (10, 40)), ((0.5, 0.9), (150, 201)))
    ]


def _summed(noise_multiplier, sample_rate, order):
    """As learners write it: a loop over k, in logarithms."""
    logs = []
    for k in range(order + 1):
        log_choose = math.lgamma(order + 1) - math.lgamma(k + 1) - math.lgamma(order - k + 1)
        log_weight = (order - k) * math.log(1 - sample_rate) + k * math.log(sample_rate)
        logs.append(log_choose + log_weight + k * (k - 1) / (2 * noise_multiplier**2))
    return np.logaddexp.reduce(logs) / (order - 1)


def _sum(
    exponent=lambda k, s: k * (k - 1) / (2 * s**2),
    top=lambda a: a,
    choose=lambda a, k: gammaln(a + 1) - gammaln(k + 1) - gammaln(a - k + 1),
    weight=lambda a, k, q: (a - k) * np.log1p(-q) + k * np.log(q),
    divide=lambda log, a: log / (a - 1),
    first=0,
    add=logsumexp,
):
    """The sum over k from `first` to `top`, with one part of it exchanged."""

    def code(noise_multiplier, sample_rate, order):
        k = np.arange(first, top(order) + 1)
        logs = choose(order, k) + weight(order, k, sample_rate) + exponent(k, noise_multiplier)
        return float(divide(add(logs), order))

    return code


def _third_term_only(noise_multiplier, sample_rate, order):
    third = math.comb(order, 2) * sample_rate**2 * math.expm1(1 / noise_multiplier**2)
    return math.log1p(third) / (order - 1)


exercise = Exercise(
    title="The Rényi divergence of one step",
    good_for="doing by hand what the accountants of most libraries do",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"noise_multiplier": Number(0.5, 4), "sample_rate": Number(0.01, 0.5), "order": Whole(2, 200)}),
    draw=_draw_step,
    reference=rdp.divergence,
    formulas=(_summed,),
    means={
        "math.lgamma(order + 1) - math.lgamma(k + 1) - math.lgamma(order - k + 1)": "the logarithm of the binomial coefficient",
        "(order - k) * math.log(1 - sample_rate) + k * math.log(sample_rate)": "the logarithm of the chances of k coins that say yes and the others no",
        "k * (k - 1) / (2 * noise_multiplier ** 2)": "the exponent that the noise adds to the k-th term",
        "np.logaddexp.reduce(logs)": "the logarithm of the sum of all terms",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(rdp.divergence, rdp._divergence, rdp._whole_order),
    hints=(
        "A term is no double, but its logarithm is a small number. Write the logarithm of each term: products become sums.",
        "`math.log(math.comb(order, k))` takes whole numbers of any length. To add terms of which you have the logarithms, "
        "`np.logaddexp.reduce(logs)` returns the logarithm of their sum.",
        "Now you have the logarithm of the sum, and the sum is e^((a - 1) D_a). What is left to do to come to D_a?",
    ),
    misconceptions=(
        Misconception(
            "not divided",
            "You returned the logarithm of the sum. It is (a - 1) D_a: divide by order - 1.",
            _sum(divide=lambda log, a: log),
        ),
        Misconception(
            "divided by the order",
            "You divided by the order. The logarithm of the sum is (a - 1) D_a: divide by order - 1.",
            _sum(divide=lambda log, a: log / a),
        ),
        Misconception(
            "the square of the rate",
            "You returned p² times the divergence of a step without coins, a / (2 sigma²). That is a rule of thumb, for small p and low orders. Add up the terms of the sum.",
            lambda noise_multiplier, sample_rate, order: sample_rate**2 * order / (2 * noise_multiplier**2),
        ),
        Misconception(
            "lambda for the order",
            "You took `order` for lambda, and computed the divergence of order + 1. In lesson 01 lambda is a - 1; here `order` is a itself.",
            lambda noise_multiplier, sample_rate, order: divergence(noise_multiplier, sample_rate, order + 1),
        ),
        Misconception(
            "last term forgotten",
            "Your sum ends before k = order. At high orders this last term is nearly all there is: `range(order + 1)`.",
            _sum(top=lambda a: a - 1),
        ),
        Misconception(
            "first term forgotten",
            "Your sum begins at k = 1. The term k = 0, (1 - p)^a, belongs to it: Mia is in the sample in none of the factors.",
            _sum(first=1),
        ),
        Misconception(
            "three terms",
            "You added the terms k = 0, 1 and 2 only. At higher orders those that you left out are far larger than these.",
            _sum(top=lambda a: 2),
        ),
        Misconception(
            "third term only",
            "That is the formula of three terms, a (a - 1) / 2 p² (e^(1/sigma²) - 1). It is an approximation, and at high orders none at all. "
            "Add all terms of the binomial sum.",
            _third_term_only,
        ),
        Misconception(
            "largest term only",
            "You took the largest term for the sum. There are others beside it.",
            _sum(add=np.max),
        ),
        Misconception(
            "logarithms added",
            "You added the logarithms of the terms. That is the logarithm of their product; the terms are to be added: `np.logaddexp.reduce`.",
            _sum(add=np.sum),
        ),
        Misconception(
            "k squared",
            "Your exponent has k². It is k (k - 1): at k = 1 the mean of a ratio of two densities is 1, so nothing may be left.",
            _sum(exponent=lambda k, s: k**2 / (2 * s**2)),
        ),
        Misconception(
            "k (k + 1)",
            "Your exponent has k (k + 1). It is k (k - 1): at k = 1 the mean of a ratio of two densities is 1, so nothing may be left.",
            _sum(exponent=lambda k, s: k * (k + 1) / (2 * s**2)),
        ),
        Misconception(
            "2 forgotten",
            "The 2 in the exponent is missing: k (k - 1) / (2 sigma²).",
            _sum(exponent=lambda k, s: k * (k - 1) / s**2),
        ),
        Misconception(
            "sigma for its square",
            "Your exponent is divided by 2 sigma. It is 2 sigma².",
            _sum(exponent=lambda k, s: k * (k - 1) / (2 * s)),
        ),
        Misconception(
            "rate exchanged",
            "You exchanged p and 1 - p. Each of k factors has Mia in the sample, and that has probability p.",
            _sum(weight=lambda a, k, q: k * np.log1p(-q) + (a - k) * np.log(q)),
        ),
        Misconception(
            "no binomial coefficient",
            "The binomial coefficient is missing: there are math.comb(order, k) ways to choose k of the factors.",
            _sum(choose=lambda a, k: 0.0),
        ),
        Misconception(
            "one factor short in the binomial",
            "Your binomial coefficients are all too small, by the factor order. `gammaln(n)` is the logarithm of (n - 1)!, so ln n! is "
            "`gammaln(n + 1)`, also for n = order.",
            _sum(choose=lambda a, k: gammaln(a) - gammaln(k + 1) - gammaln(a - k + 1)),
        ),
        Misconception(
            "not sampled",
            "That is the divergence for a Mia who is in every batch, a / (2 sigma²). She is drawn with probability p only.",
            lambda noise_multiplier, sample_rate, order: order / (2 * noise_multiplier**2),
        ),
        Misconception(
            "p times the Gaussian's",
            "You multiplied the Gaussian's divergence by p. The expectation is over a power of a mixture, so p enters every term of the sum.",
            lambda noise_multiplier, sample_rate, order: sample_rate * order / (2 * noise_multiplier**2),
        ),
    ),
)
