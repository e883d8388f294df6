"""Exercises and quiz of lesson 03: trade-off functions and Gaussian differential privacy."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf, log_ndtr, ndtr, ndtri

from dpcourse import gdp, tradeoff
from dpcourse.exercises.engine import Audit, Exercise, Misconception, Option, Question, RandomExercise
from dpcourse.exercises.values import a_number, numbers_like, rounded, several, true_or_false

TITLE = "Gaussian differential privacy"


def _probabilities(rng, size):
    """Probabilities in whole percent, each at least one percent, that add up to 1."""
    percent = 1 + rng.multinomial(100 - size, rng.dirichlet(np.ones(size)))
    return [int(value) / 100 for value in percent]


# ---- 3.1


def _draw_test(rng):
    """A test that always knows what it says, and one that tosses a coin now and then."""
    size = int(rng.integers(4, 7))
    certain = rng.permutation([0, 1] + [int(bit) for bit in rng.integers(0, 2, size - 2)])
    return [
        {
            "p": _probabilities(rng, size),
            "q": _probabilities(rng, size),
            "reject": [rounded(chance) for chance in chances],
        }
        for chances in (certain, rng.uniform(0.1, 0.9, size))
    ]


def _chance(outputs, event):
    return float(np.dot(outputs, event))


def _not(reject):
    return 1 - np.asarray(reject)


error_rates = Exercise(
    id="3.1",
    title="The two errors of a test",
    function="error_rates",
    good_for="saying exactly how often an attacker is wrong, and in which way",
    difficulty=1,
    minutes=10,
    points=1,
    draw=_draw_test,
    reference=lambda p, q, reject: (_chance(p, reject), _chance(q, _not(reject))),
    returns=several("alpha", "beta"),
    hints=(
        "Alpha: Mia is out, so the outputs have the probabilities p. How often does the test then say that she is in?",
        "Beta: Mia is in, so the outputs have the probabilities q. The test says that she is out with chance 1 - reject. `np.dot(a, b)` multiplies and adds up.",
    ),
    misconceptions=(
        Misconception(
            "swapped",
            "The two results are in the wrong order. Alpha, the false alarm, comes first; beta, the miss, second.",
            lambda p, q, reject: (_chance(q, _not(reject)), _chance(p, reject)),
        ),
        Misconception(
            "power",
            "Your second number is how often the test finds Mia when she is there. That is 1 - beta; beta is how often it misses her.",
            lambda p, q, reject: (_chance(p, reject), _chance(q, reject)),
        ),
        Misconception(
            "hypotheses exchanged",
            "You exchanged p and q. Alpha is an error when Mia is out, so it is counted with p; beta with q.",
            lambda p, q, reject: (_chance(q, reject), _chance(p, _not(reject))),
        ),
        Misconception(
            "everything with p",
            "You counted both errors with p. Beta is an error when Mia is in: there the outputs have the probabilities q.",
            lambda p, q, reject: (_chance(p, reject), _chance(p, _not(reject))),
        ),
        Misconception(
            "everything with q",
            "You counted both errors with q. Alpha is an error when Mia is out: there the outputs have the probabilities p.",
            lambda p, q, reject: (_chance(q, reject), _chance(q, _not(reject))),
        ),
        Misconception(
            "right decisions",
            "You added up the right decisions. Alpha and beta are the wrong ones: 1 minus what you have.",
            lambda p, q, reject: (_chance(p, _not(reject)), _chance(q, reject)),
        ),
        Misconception(
            "coins ignored",
            "You took every output with reject above 0 as rejected. An entry of 0.3 means: say that Mia is in with chance 0.3.",
            lambda p, q, reject: (
                _chance(p, np.asarray(reject) > 0),
                _chance(q, np.asarray(reject) == 0),
            ),
        ),
        Misconception(
            "coins cut at one half",
            "You took an output as rejected if reject is above one half, and as not rejected otherwise. An entry of 0.3 means: say that Mia is in with chance 0.3. It counts with 0.3.",
            lambda p, q, reject: (
                _chance(p, np.asarray(reject) >= 0.5),
                _chance(q, np.asarray(reject) < 0.5),
            ),
        ),
        Misconception(
            "coins left out",
            "You counted only the outputs with reject exactly 1 or exactly 0. Those in between count too: an entry of 0.3 means that the test says “in” with chance 0.3, and “out” with chance 0.7.",
            lambda p, q, reject: (
                _chance(p, np.asarray(reject) == 1),
                _chance(q, np.asarray(reject) == 0),
            ),
        ),
        Misconception(
            "halved",
            "You halved the errors, as if each data set had chance 1/2. Each error is counted under its own data set, without a prior.",
            lambda p, q, reject: (_chance(p, reject) / 2, _chance(q, _not(reject)) / 2),
        ),
    ),
)


# ---- 3.2


def _draw_two_laws(rng):
    """An output with p = 0, then one with q = 0. TV is not near one half, where it and 1 - TV are alike."""
    cases = []
    while len(cases) < 2:
        size = int(rng.integers(4, 7))
        gappy, full = _probabilities(rng, size - 1), _probabilities(rng, size)
        gappy.insert(int(rng.integers(size)), 0.0)
        if 0.1 < _tv(gappy, full) < 0.45:
            cases.append({"q": gappy, "p": full} if cases else {"p": gappy, "q": full})
    return [{"p": case["p"], "q": case["q"]} for case in cases]


def _tv(p, q):
    return float(np.abs(np.subtract(p, q)).sum()) / 2


def _without(p, q, left_out):
    """1 - TV, added up over some of the outputs only."""
    return 1 - _tv(*np.array([(a, b) for a, b in zip(p, q, strict=True) if not left_out(a, b)]).T)


least_error_sum = Exercise(
    id="3.2",
    title="What no attacker can beat",
    function="least_error_sum",
    good_for="a one-line bound on every test, known or not yet invented",
    difficulty=2,
    minutes=5,
    points=1,
    draw=_draw_two_laws,
    reference=lambda p, q: 1 - _tv(p, q),
    returns=a_number,
    hints=(
        "The total variation is half of the sum of the absolute differences of p and q.",
        "No test gets alpha + beta below 1 - TV, and one test reaches it. With numpy: `np.abs(np.subtract(p, q)).sum()` is twice TV.",
    ),
    misconceptions=(
        Misconception(
            "total variation",
            "That is the total variation TV itself. It is large where P and Q are easy to tell apart; the sum of errors is then small: 1 - TV.",
            lambda p, q: _tv(p, q),
        ),
        Misconception(
            "half forgotten",
            "The factor 1/2 is missing. The absolute differences count twice: what p has too much in one place it lacks in another.",
            lambda p, q: 1 - 2 * _tv(p, q),
        ),
        Misconception(
            "twice total variation",
            "That is the sum of the absolute differences. Halve it to get TV, and then take 1 - TV.",
            lambda p, q: 2 * _tv(p, q),
        ),
        Misconception(
            "signed",
            "Your result is 1, which a blind guess reaches. Did you add up the differences with their signs? Then they cancel: take absolute values.",
            lambda p, q: 1.0,
        ),
        Misconception(
            "one output",
            "You looked at the one output where p and q differ most. A set of outputs may differ by more: add up over all outputs.",
            lambda p, q: 1 - float(np.abs(np.subtract(p, q)).max()),
        ),
        Misconception(
            "larger of both",
            "You added up the larger one of p and q, which is 1 + TV. At each output the best test errs by the smaller one.",
            lambda p, q: 1 + _tv(p, q),
        ),
        Misconception(
            "squares",
            "You added up squared differences. Total variation takes absolute ones.",
            lambda p, q: 1 - float((np.subtract(p, q) ** 2).sum()) / 2,
        ),
        Misconception(
            "zeros left out",
            "You left out outputs that one of the two never gives. They tell most: keep them.",
            lambda p, q: _without(p, q, lambda a, b: a == 0 or b == 0),
        ),
        Misconception(
            "zeros of p left out",
            "You left out an output with p = 0. It gives Mia away for certain, so it tells most: keep it.",
            lambda p, q: _without(p, q, lambda a, b: a == 0),
        ),
        Misconception(
            "zeros of q left out",
            "You left out an output with q = 0. It says for certain that Mia is out, so it tells most: keep it.",
            lambda p, q: _without(p, q, lambda a, b: b == 0),
        ),
        Misconception(
            "average error",
            "That is the average of the two errors, (1 - TV)/2. The question is for their sum.",
            lambda p, q: (1 - _tv(p, q)) / 2,
        ),
    ),
)


# ---- 3.3


def _curve(widths, falls, end=0.0):
    """Points in 64ths, so that slopes are exact: widths and slopes of the lines, and the height at alpha = 1."""
    alpha = np.cumsum([0, *widths]) / 64
    drops = np.multiply(widths, falls) / 64
    return alpha, end + np.r_[np.cumsum(drops[::-1])[::-1], 0]


def _draw_curves(rng):
    """Five trade-off functions, and six curves that break one law each, in any order."""

    def pick(low, high):
        return int(rng.integers(low, high + 1))

    def rest(*widths):
        return [*widths, 64 - sum(widths)]

    steep = pick(4, 8)
    straight = np.sort(rng.choice(np.arange(1, 64), 3, replace=False))
    curves = [
        _curve(rest(2, pick(9, 14), pick(14, 20)), [4, 1, 0.5, 0.125]),  # right; its drops grow at first
        _curve(rest(pick(8, 14), pick(16, 24)), [2, 0.5, 0]),  # right, with a flat end
        _curve(np.diff([0, *straight, 64]), [1, 1, 1, 1]),  # right: 1 - alpha
        _curve([steep, 64 - 5 * steep, 4 * steep], [4, 1, 0.25]),  # right, symmetric, from (0, 1)
        _curve([8, 24, 32], [3, 1, 0.5]),  # right, from (0, 1) and not symmetric
        _curve(rest(pick(14, 18), pick(14, 18), pick(14, 18)), [1, 0.25, 1, 0.25]),  # not convex
        _curve(rest(pick(20, 26), pick(6, 9)), [1, 2, 0.25]),  # not convex, though its drops shrink
        _curve([16, 24, 24], [1.5, 0.25, 0.75]),  # not convex at its last corner only
        _curve([8, 20, 20, 16], [2, 0.75, 1, 0.125]),  # not convex, though the mean slopes of two lines grow
        _curve(rest(pick(8, 12), pick(14, 20)), [2, 0.5, 0.25], end=pick(2, 5) / 64),  # above 1 - alpha at the end
        _curve([16, 32, 16], [0.25, 0.875, 2]),  # concave
    ]
    return [{"alpha": alpha, "beta": beta} for alpha, beta in (curves[i] for i in rng.permutation(len(curves)))]


def _is_convex(alpha, beta, strictly=False):
    bends = np.diff(np.diff(beta) / np.diff(alpha))
    return bool((bends > 0).all() if strictly else (bends >= -1e-9).all())


def _falls(alpha, beta, strictly=False):
    steps = np.diff(beta)
    return bool((steps < 0).all() if strictly else (steps <= 1e-9).all())


def _is_below(alpha, beta):
    return bool((beta <= 1 - alpha + 1e-9).all())


def _is_tradeoff(alpha, beta):
    return _is_convex(alpha, beta) and _falls(alpha, beta) and _is_below(alpha, beta)


is_tradeoff = Exercise(
    id="3.3",
    title="Is this a trade-off function?",
    function="is_tradeoff",
    good_for="checking a curve that somebody claims, or that you measured",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_curves,
    reference=_is_tradeoff,
    returns=true_or_false,
    forbidden=(tradeoff.TradeOff.from_points,),
    hints=(
        "`np.diff(beta) / np.diff(alpha)` gives the slope of each line. Which laws can be read off the slopes?",
        "Convex: the slopes never get smaller from left to right. Not rising: no slope is above 0. The fourth law compares `beta` with `1 - alpha`.",
    ),
    misconceptions=(
        Misconception(
            "convexity left out",
            "You accept a curve with a bulge. Where a curve bulges, mixing two tests at random does better, so it is not the best test's: check that it is convex.",
            lambda alpha, beta: _falls(alpha, beta) and _is_below(alpha, beta),
        ),
        Misconception(
            "bound left out",
            "You accept a curve that ends above 0 at alpha = 1. A blind guess is always possible, so beta is at most 1 - alpha everywhere: check that.",
            lambda alpha, beta: _is_convex(alpha, beta) and _falls(alpha, beta),
        ),
        Misconception(
            "bends the wrong way",
            "Of all these you accept only the straight line 1 - alpha. Do you ask that slopes shrink (that is concave), or that beta is at least 1 - alpha?",
            lambda alpha, beta: _is_convex(alpha, -beta) and _falls(alpha, beta) and _is_below(alpha, beta),
        ),
        Misconception(
            "widths ignored",
            "You compared how much beta drops from point to point. The points are not evenly spaced: divide each drop by the width in alpha.",
            lambda alpha, beta: (
                bool((np.diff(beta, 2) >= -1e-9).all()) and _falls(alpha, beta) and _is_below(alpha, beta)
            ),
        ),
        Misconception(
            "must start at 1",
            "You ask that the curve starts at 1. It may start lower: then some outputs give Mia away for certain, as with a delta.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and bool(beta[0] == 1),
        ),
        Misconception(
            "last corner left out",
            "You accept a curve that bulges at its last corner. n points make n - 1 slopes and n - 2 comparisons: does your loop end one too early?",
            lambda alpha, beta: (
                bool((np.diff(np.diff(beta) / np.diff(alpha))[:-1] >= -1e-9).all())
                and _falls(alpha, beta)
                and _is_below(alpha, beta)
            ),
        ),
        Misconception(
            "must be symmetric",
            "You refuse a curve that is not symmetric. No law asks for that.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and bool(np.allclose(np.interp(beta, alpha, beta), alpha)),
        ),
        Misconception(
            "flat not allowed",
            "You refuse a curve that is flat somewhere. It must not rise; staying level at 0 is allowed.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and _falls(alpha, beta, strictly=True),
        ),
        Misconception(
            "straight not allowed",
            "You refuse a curve with straight parts. A straight line is convex: slopes may stay equal.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and _is_convex(alpha, beta, strictly=True),
        ),
        Misconception(
            "opposite",
            "You have it the wrong way round: True for the curves that break a law, False for the others.",
            lambda alpha, beta: not _is_tradeoff(alpha, beta),
        ),
        Misconception(
            "always True",
            "You accept every curve. Some of these break a law: convex, not rising, at most 1 - alpha.",
            lambda alpha, beta: True,
        ),
        Misconception(
            "always False",
            "You refuse every curve. Are your inequalities strict? At alpha = 1 every trade-off function meets 1 - alpha.",
            lambda alpha, beta: False,
        ),
    ),
)


# ---- 3.4


def _draw_approx(rng):
    """A few alphas on each of the three lines, and one between the corner and where it would be without delta."""
    cases = []
    for low, high in ((0.3, 0.9), (1.2, 2.0)):
        epsilon, delta = rounded(rng.uniform(low, high)), rounded(rng.uniform(0.05, 0.25))
        without = 1 / (1 + math.exp(epsilon))
        corner = (1 - delta) * without
        between = (corner + min(without, (1 - delta) * math.exp(-epsilon))) / 2  # where the steep line is above 0
        alpha = np.r_[
            0, rng.uniform(0.1, 0.9, 2) * corner, between, rng.uniform(without, 1 - delta, 2), 1 - delta / 2, 1
        ]
        cases.append({"alpha": np.sort(alpha.round(4)), "epsilon": epsilon, "delta": delta})
    return cases


def _first(alpha, epsilon, delta):
    return 1 - delta - math.exp(epsilon) * alpha


def _second(alpha, epsilon, delta):
    return math.exp(-epsilon) * (1 - delta - alpha)


def _highest(*lines):
    return np.maximum.reduce([np.zeros_like(lines[0]), *lines])


approx_dp_curve = Exercise(
    id="3.4",
    title="The curve of (ε, δ)-DP",
    function="approx_dp_curve",
    good_for="drawing any (ε, δ) promise beside any other mechanism",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_approx,
    reference=lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta)),
    returns=numbers_like("alpha"),
    forbidden=(tradeoff.approx_dp,),
    hints=(
        "Write down the three lines as three lines of code: 0, the steep one, and the flat one.",
        "The steep one is `1 - delta - np.exp(epsilon) * alpha`. `np.maximum(a, b)` takes the larger one at each place; use it twice.",
    ),
    misconceptions=(
        Misconception(
            "steep line only",
            "The third line, e^-epsilon (1 - delta - alpha), is missing. It is the steep line read with the two data sets exchanged.",
            lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, delta)),
        ),
        Misconception(
            "flat line only",
            "The steep line, 1 - delta - e^epsilon alpha, is missing. It is the higher one for small alpha.",
            lambda alpha, epsilon, delta: _highest(_second(alpha, epsilon, delta)),
        ),
        Misconception(
            "max with 0 left out",
            "Your curve falls below 0 near alpha = 1. An error rate cannot: the largest of the three has a 0 among them.",
            lambda alpha, epsilon, delta: np.maximum(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta)),
        ),
        Misconception(
            "delta dropped",
            "That is the curve for delta = 0. With delta it starts at 1 - delta: both lines hold 1 - delta.",
            lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, 0), _second(alpha, epsilon, 0)),
        ),
        Misconception(
            "delta in one line only",
            "Delta is missing in the third line: e^-epsilon (1 - delta - alpha).",
            lambda alpha, epsilon, delta: _highest(_first(alpha, epsilon, delta), _second(alpha, epsilon, 0)),
        ),
        Misconception(
            "delta outside the bracket",
            "In the third line delta stands outside the bracket. It is e^-epsilon (1 - delta - alpha): delta is shrunk too.",
            lambda alpha, epsilon, delta: _highest(
                _first(alpha, epsilon, delta), math.exp(-epsilon) * (1 - alpha) - delta
            ),
        ),
        Misconception(
            "smallest",
            "You took the smallest of the three. Each line is a lower bound on beta, so the largest one counts.",
            lambda alpha, epsilon, delta: np.minimum(
                0, np.minimum(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta))
            ),
        ),
        Misconception(
            "smaller line",
            "You took the smaller of the two lines and cut it off at 0. Each line is a lower bound on beta: take the larger.",
            lambda alpha, epsilon, delta: _highest(
                np.minimum(_first(alpha, epsilon, delta), _second(alpha, epsilon, delta))
            ),
        ),
        Misconception(
            "corner without delta",
            "You change lines at 1/(1 + e^epsilon). With delta the lines meet at (1 - delta)/(1 + e^epsilon). Taking the maximum needs no corner at all.",
            lambda alpha, epsilon, delta: _highest(
                np.where(
                    alpha < 1 / (1 + math.exp(epsilon)), _first(alpha, epsilon, delta), _second(alpha, epsilon, delta)
                )
            ),
        ),
        Misconception(
            "no exponential",
            "You used epsilon as the slope. The slope is e^epsilon, and e^-epsilon in the other line.",
            lambda alpha, epsilon, delta: _highest(1 - delta - epsilon * alpha, (1 - delta - alpha) / epsilon),
        ),
        Misconception(
            "sign of epsilon",
            "The signs of epsilon are exchanged: e^epsilon belongs to 1 - delta - e^epsilon alpha, and e^-epsilon to the other line.",
            lambda alpha, epsilon, delta: _highest(_first(alpha, -epsilon, delta), _second(alpha, -epsilon, delta)),
        ),
    ),
)


# ---- 3.5


def _draw_gaussian(rng):
    return [
        {"alpha": np.sort(rng.uniform(0.02, 0.98, 5)).round(3), "mu": rounded(mu)}
        for mu in (rng.uniform(0.3, 0.8), rng.uniform(1.3, 2.5))
    ]


gaussian_curve = Exercise(
    id="3.5",
    title="The curve of Gaussian noise",
    function="gaussian_curve",
    good_for="the one curve that the rest of the course measures everything by",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_gaussian,
    reference=lambda alpha, mu: ndtr(ndtri(1 - alpha) - mu),
    returns=numbers_like("alpha"),
    forbidden=(tradeoff.gaussian, tradeoff.TradeOff.__call__),
    hints=(
        "Two steps. First the threshold t that N(0, 1) passes with chance alpha. Then the chance that N(mu, 1) stays below t.",
        "The threshold is `norm.ppf(1 - alpha)`. N(mu, 1) is below t when a standard normal is below t - mu.",
    ),
    misconceptions=(
        Misconception(
            "plus mu",
            "You added mu. N(mu, 1) lies further right, so it stays below the threshold less often: Phi(t - mu).",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) + mu),
        ),
        Misconception(
            "threshold of alpha",
            "Your threshold has alpha below it. It must have alpha above it: Phi^-1(1 - alpha).",
            lambda alpha, mu: ndtr(ndtri(alpha) - mu),
        ),
        Misconception(
            "power",
            "That is the power, the chance to find Mia when she is there. Beta is the chance to miss her: 1 minus that.",
            lambda alpha, mu: 1 - ndtr(ndtri(1 - alpha) - mu),
        ),
        Misconception(
            "mu outside",
            "You took mu away from a probability. It moves the threshold: it belongs inside the outer Phi.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha)) - mu,
        ),
        Misconception(
            "mu squared",
            "You used mu squared. mu is the distance of the two means, in standard deviations.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) - mu**2),
        ),
        Misconception(
            "half of mu",
            "You used mu/2. The means are 0 and mu; mu/2 is only where the two densities cross.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) - mu / 2),
        ),
        Misconception(
            "sigma for mu",
            "You moved by 1/mu, which is the noise for sensitivity 1. The two normals here have deviation 1 already and differ by mu.",
            lambda alpha, mu: ndtr(ndtri(1 - alpha) - 1 / mu),
        ),
        Misconception(
            "mu ignored",
            "That is 1 - alpha, the curve of perfect privacy. mu must lower it.",
            lambda alpha, mu: 1 - alpha,
        ),
    ),
)


# ---- 3.6


RUNS, WITHIN, AUDITED = (500, 70), (0.05, 0.3, 1, 2), 200


def _draw_counts(rng):
    """A short and a long table, half of their counts 0, released RUNS + 1 times: the first two with the same seed.

    Then, for the audit, AUDITED times the long one under a weaker promise, and as often with Mia, who is in all counts.
    """
    seed = int(rng.integers(2**31))
    cases = []
    for size, runs in zip((2, int(rng.integers(18, 24))), RUNS, strict=True):
        counts = rng.integers(1, 30, size) * (rng.permutation(size) % 2)
        mu = rounded(rng.uniform(0.6, 0.7))
        cases += [{"counts": counts, "mu": mu, "rng": seed + run} for run in (0, *range(runs))]
    mu = rounded(rng.uniform(1.9, 2.1))
    for mia in (0, 1):
        cases += [{"counts": counts + mia, "mu": mu, "rng": seed + mia * AUDITED + run} for run in range(AUDITED)]
    return cases


def _look_for_mia(cases, values):
    """An attack adds up the long table."""
    totals = np.array([float(np.sum(value)) for value in values[-2 * AUDITED :]])
    mu = cases[-1]["mu"]
    return Audit(f"G_{mu}", tradeoff.gaussian(mu), totals[AUDITED:], totals[:AUDITED])


def _noise(cases, values):
    """The two tables' noise in units of sqrt(m)/mu: pairs (the repeated release, array of all others)."""
    tables = []
    for part in (slice(0, RUNS[0] + 1), slice(RUNS[0] + 1, sum(RUNS) + 2)):
        again, *noise = (_in_units(case, value) for case, value in zip(cases[part], values[part], strict=True))
        tables.append((again, np.array(noise)))
    return tables


def _in_units(case, value):
    """A release's noise in units of sqrt(m)/mu."""
    return (np.asarray(value, dtype=float) - case["counts"]) * case["mu"] / math.sqrt(len(case["counts"]))


def _count_noise(cases, values):
    rows = []
    for again, noise in _noise(cases, values):
        table, down = f"{noise.shape[1]} counts", noise < 0
        left, right = down[:, 0:-1:2], down[:, 1::2]
        first, second = down[0::2], down[1::2]
        rows += [
            (f"{table}: noise below 0", int(down.sum()), down.size),
            *((f"{table}: noise within {c} times sqrt(m)/mu", int((abs(noise) < c).sum()), down.size) for c in WITHIN),
            (f"{table}: counts next to each other with noise of the same sign", int((left == right).sum()), left.size),
            (f"{table}: counts with noise of the same sign in two releases", int((first == second).sum()), first.size),
            (f"{table}: releases that come out the same with the same seed", int((again == noise[0]).all()), 1),
        ]
    within = [
        abs(_in_units(case, value)) < 1
        for case, value in zip(cases[-2 * AUDITED : -AUDITED], values[-2 * AUDITED : -AUDITED], strict=True)
    ]
    rows.append(("weaker promise: noise within 1 times sqrt(m)/mu", int(np.sum(within)), np.size(within)))
    return rows


def _chances_noise(cases):
    spread = [2 * float(ndtr(c)) - 1 for c in WITHIN]
    return [0.5, *spread, 0.5, 0.5, 1.0] * 2 + [2 * float(ndtr(1)) - 1]


def _normal(scale):
    return lambda counts, mu, rng: counts + rng.normal(0, scale(len(counts), mu), len(counts))


def _right_scale(m, mu):
    return math.sqrt(m) / mu


def _same_noise_every_time(cases, values):
    return np.any(values[0]) and all(
        (abs(noise - noise[0]) < 1e-9).all() and np.ptp(noise[0]) > 0 for _, noise in _noise(cases, values)
    )


def _one_noise_for_all(cases, values):
    return all((np.ptp(noise, axis=1) < 1e-9).all() and np.ptp(noise[:, 0]) > 0 for _, noise in _noise(cases, values))


def _not_from_the_generator(cases, values):
    return any((again != noise[0]).any() for again, noise in _noise(cases, values))


def _cut_off(cases, values):
    values = np.concatenate([np.asarray(value, dtype=float) for value in values])
    return bool((values >= 0).all() and 0.01 < (values == 0).mean() < 0.9)


def _rounded(cases, values):
    values = [np.asarray(value, dtype=float) for value in values]
    varied = np.ptp(values[: RUNS[0]], axis=0).any()  # the first table's releases are not all alike
    return varied and all((value == value.round(3)).all() for value in values)


def _no_noise(cases, values):
    return all((noise == 0).all() for _, noise in _noise(cases, values))


noisy_counts = RandomExercise(
    id="3.6",
    title="The Gaussian mechanism",
    function="noisy_counts",
    good_for="releasing a whole table of numbers under one promise",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_counts,
    reference=_normal(_right_scale),
    returns=numbers_like("counts"),
    counts=_count_noise,
    chances=_chances_noise,
    attack=_look_for_mia,
    forbidden=(gdp.mechanism,),
    hints=(
        "The noise has the deviation sensitivity / mu. How long is the vector by which Mia can move the m counts, at most?",
        "All m counts may change by 1: the length of (1, 1, …, 1) is sqrt(m). `rng.normal(0, sigma, len(counts))` draws one number for each count.",
    ),
    misconceptions=(
        Misconception(
            "generator ignored",
            "The same `rng` gave two different results: your noise comes from somewhere else. Draw it from `rng`.",
            lambda counts, mu, rng: _normal(_right_scale)(counts, mu, np.random.default_rng()),
            recognise=_not_from_the_generator,
        ),
        Misconception(
            "own seed",
            "The noise is the same at every run: you made a generator with a fixed seed. Whoever knows it can take the noise away. Use the `rng` you are given.",
            lambda counts, mu, rng: _normal(_right_scale)(counts, mu, np.random.default_rng(0)),
            recognise=_same_noise_every_time,
        ),
        Misconception(
            "no noise",
            "You return the counts as they are.",
            lambda counts, mu, rng: counts,
            recognise=_no_noise,
        ),
        Misconception(
            "one noise for all",
            "Every count gets the same noise, so the differences between counts are exact. Draw one number for each count.",
            lambda counts, mu, rng: counts + rng.normal(0, _right_scale(len(counts), mu)),
            recognise=_one_noise_for_all,
        ),
        Misconception(
            "cut off at 0",
            "You cut the noisy counts off at 0. That is allowed, as post-processing, but then they are no longer right on average: here return them as they are.",
            lambda counts, mu, rng: np.maximum(0, _normal(_right_scale)(counts, mu, rng)),
            recognise=_cut_off,
        ),
        Misconception(
            "rounded",
            "You rounded the noisy counts. That is allowed, as post-processing, but here return them as they are: a caller can still round them.",
            lambda counts, mu, rng: np.round(_normal(_right_scale)(counts, mu, rng)),
            recognise=_rounded,
        ),
        Misconception(
            "counts forgotten",
            "You return the noise alone, without the counts. Add the two.",
            lambda counts, mu, rng: rng.normal(0, _right_scale(len(counts), mu), len(counts)),
        ),
        Misconception(
            "one count only",
            "Your noise is enough for one count. There are m of them, and Mia may be in all: the whole list moves by up to sqrt(m).",
            _normal(lambda m, mu: 1 / mu),
        ),
        Misconception(
            "one too few",
            "Your noise is sqrt(m - 1)/mu. Nothing is lost to an average here: all m counts may change by 1, so the length is sqrt(m).",
            _normal(lambda m, mu: math.sqrt(m - 1) / mu),
        ),
        Misconception(
            "half",
            "Your noise is half of what it should be. Mia moves the list by up to sqrt(m), whatever the others are: sqrt(m) / mu.",
            _normal(lambda m, mu: math.sqrt(m) / (2 * mu)),
        ),
        Misconception(
            "l1 sensitivity",
            "Your noise is m/mu: you added up the m changes. Gaussian noise goes with the length of the change, which is sqrt(m) and not m.",
            _normal(lambda m, mu: m / mu),
        ),
        Misconception(
            "variance for deviation",
            "Your deviation is the square of what it should be. `rng.normal` takes the standard deviation, not the variance.",
            _normal(lambda m, mu: m / mu**2),
        ),
        Misconception(
            "mu for sigma",
            "You used mu as the deviation of the noise. mu measures what leaks: a smaller mu needs more noise, sqrt(m) / mu.",
            _normal(lambda m, mu: mu),
        ),
        Misconception(
            "times mu",
            "You multiplied by mu. A smaller mu is more private and needs more noise: divide, sqrt(m) / mu.",
            _normal(lambda m, mu: math.sqrt(m) * mu),
        ),
        Misconception(
            "divided by sqrt(m)",
            "You divided by sqrt(m). More counts about Mia leak more, so they need more noise: sqrt(m) / mu.",
            _normal(lambda m, mu: 1 / (mu * math.sqrt(m))),
        ),
        Misconception(
            "laplace",
            "That is Laplace noise of scale sqrt(m)/mu. Here it must be Gaussian: `rng.normal`.",
            lambda counts, mu, rng: counts + rng.laplace(0, _right_scale(len(counts), mu), len(counts)),
        ),
        Misconception(
            "upwards only",
            "Your noise is never below 0, so every count comes out too large. Use it with its sign.",
            lambda counts, mu, rng: counts + abs(rng.normal(0, _right_scale(len(counts), mu), len(counts))),
        ),
    ),
)


# ---- 3.7


def _draw_tails(rng):
    """The middle, and two places so far out that 1 - Phi is 0 in floating point and Phi(-x) is not."""
    far, large = rng.uniform(0.4, 2), rng.uniform(15, 22)
    return [
        {"epsilon": rounded(rng.uniform(0.5, 2)), "mu": rounded(rng.uniform(0.5, 1.5))},
        {"epsilon": rounded(far * (rng.uniform(10, 14) + far / 2)), "mu": rounded(far)},
        {"epsilon": rounded(large * (rng.uniform(9.5, 11) + large / 2)), "mu": rounded(large)},
    ]


def _delta(
    upper=lambda epsilon, mu: -epsilon / mu + mu / 2,
    lower=lambda epsilon, mu: -epsilon / mu - mu / 2,
    weight=lambda epsilon: epsilon,
    sign=-1,
):
    """Phi(upper) - e^weight Phi(lower) with a part replaced."""

    def code(epsilon, mu):
        with np.errstate(over="ignore"):
            second = np.exp(weight(epsilon) + log_ndtr(lower(epsilon, mu)))
            return float(np.minimum(ndtr(upper(epsilon, mu)) + sign * second, 1e300))

    return code


def _one_minus(first=True, second=True):
    """Tails as 1 - Phi(x), as a naive answer takes them."""

    def code(epsilon, mu):
        high, low = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        p = (1 + erf(-high / math.sqrt(2))) / 2 if first else ndtr(-high)
        q = (1 + erf(-low / math.sqrt(2))) / 2 if second else ndtr(-low)
        return float(p - math.exp(epsilon) * q)

    return code


delta_of = Exercise(
    id="3.7",
    title="From μ to (ε, δ), far out in the tails",
    function="delta_of",
    good_for="reporting a Gaussian guarantee to somebody who thinks in ε and δ",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_tails,
    reference=gdp.delta,
    returns=a_number,
    forbidden=(gdp.delta, gdp.epsilon, tradeoff.TradeOff.delta, tradeoff.log_gaussian_delta),
    atol=0.0,
    hints=(
        "`norm.cdf(x)` is Phi(x). Write both terms with Phi of something negative, exactly as in the formula.",
        "Do not turn Phi(-x) into 1 - Phi(x): near 1 a float has a spacing of 1e-16, and a smaller tail is rounded away.",
        "One line: `norm.cdf(-epsilon / mu + mu / 2) - np.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)`.",
    ),
    misconceptions=(
        Misconception(
            "1 - cdf",
            "Did you round, or compute a tail as 1 - cdf (or by erf)? Your result is right in the middle and off far out: near 1 a tiny tail is rounded away. Use Phi(-x) in place of 1 - Phi(x), and do not round.",
            _one_minus(),
        ),
        Misconception(
            "1 - cdf in the first term",
            "Right in the middle, and off far out: the first term is computed as 1 - cdf, which rounds a tiny tail to 0. Use Phi(-x) there too.",
            _one_minus(second=False),
        ),
        Misconception(
            "1 - cdf in the second term",
            "Right in the middle, and off far out: the second term is computed as 1 - cdf, which rounds a tiny tail to 0. Use Phi(-x) there too.",
            _one_minus(first=False),
        ),
        Misconception(
            "mu/2 exchanged",
            "The signs of mu/2 are exchanged: + mu/2 in the first term, - mu/2 in the one with e^epsilon. Yours is negative.",
            _delta(upper=lambda epsilon, mu: -epsilon / mu - mu / 2, lower=lambda epsilon, mu: -epsilon / mu + mu / 2),
        ),
        Misconception(
            "sign of epsilon",
            "You have + epsilon/mu in the Phis. Both hold - epsilon/mu: a larger epsilon must leave a smaller delta.",
            _delta(upper=lambda epsilon, mu: epsilon / mu + mu / 2, lower=lambda epsilon, mu: epsilon / mu - mu / 2),
        ),
        Misconception(
            "tail only",
            "That is the first term alone, the chance of a loss above epsilon. What e^epsilon covers is taken away: - e^epsilon Phi(-epsilon/mu - mu/2).",
            lambda epsilon, mu: float(ndtr(-epsilon / mu + mu / 2)),
        ),
        Misconception(
            "e^epsilon forgotten",
            "The factor e^epsilon before the second Phi is missing.",
            _delta(weight=lambda epsilon: 0.0),
        ),
        Misconception(
            "e^-epsilon",
            "You multiplied the second term by e^-epsilon. It is e^epsilon.",
            _delta(weight=lambda epsilon: -epsilon),
        ),
        Misconception(
            "added",
            "You added the two terms. The second one is taken away.",
            _delta(sign=1),
        ),
        Misconception(
            "epsilon times mu",
            "You multiplied epsilon by mu inside the Phis. It is epsilon / mu.",
            _delta(upper=lambda epsilon, mu: -epsilon * mu + mu / 2, lower=lambda epsilon, mu: -epsilon * mu - mu / 2),
        ),
        Misconception(
            "half of mu squared",
            "You used mu squared over 2. The loss has the mean mu^2/2, but it is divided by its deviation mu: mu/2.",
            _delta(
                upper=lambda epsilon, mu: -epsilon / mu + mu**2 / 2,
                lower=lambda epsilon, mu: -epsilon / mu - mu**2 / 2,
            ),
        ),
        Misconception(
            "half forgotten",
            "You have mu where mu/2 belongs.",
            _delta(upper=lambda epsilon, mu: -epsilon / mu + mu, lower=lambda epsilon, mu: -epsilon / mu - mu),
        ),
    ),
)


# ---- 3.8


def _draw_promise(rng):
    """A usual promise, a loose one whose mu is above 1, and one with a tiny delta."""
    return [
        {"epsilon": rounded(rng.uniform(0.3, 0.9)), "delta": float(f"{10 ** rng.uniform(-7, -4):.1e}")},
        {"epsilon": rounded(rng.uniform(6, 10)), "delta": float(f"{10 ** rng.uniform(-4, -2):.1e}")},
        {"epsilon": rounded(rng.uniform(1, 3)), "delta": float(f"{10 ** rng.uniform(-30, -20):.1e}")},
    ]


def _mu(epsilon, delta):
    """The mu at which the delta of epsilon is reached."""
    return math.exp(
        brentq(
            lambda x: float(tradeoff.log_gaussian_delta(epsilon, math.exp(x))) - math.log(delta), -80, 10, xtol=1e-13
        )
    )


def _z(delta):
    return -float(ndtri(delta))


def _halving(epsilon, delta, stop=lambda value, delta: False, wrong_way=False):
    """Bisection as the lesson's solution does it, with a part replaced."""
    low, high = 0.0, 1.0
    while gdp.delta(epsilon, high) < delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        value = gdp.delta(epsilon, middle)
        if stop(value, delta):
            return middle
        if (value <= delta) != wrong_way:
            low = middle
        else:
            high = middle
    return low


def _stops_early(cases, values):
    """The deltas agree to 1e-7, and not because the mu were rounded."""
    reached = [float(gdp.delta(case["epsilon"], max(0, value))) for case, value in zip(cases, values, strict=True)]
    near = all(abs(delta - case["delta"]) < 1e-7 for case, delta in zip(cases, reached, strict=True))
    return near and any(value != round(value, 4) for value in values)


def _at_the_ends(cases, values):
    """Each value is a whole number, as the ends of a search are, and some are far off."""
    far = any(abs(value - _mu(**case)) > 0.5 for case, value in zip(cases, values, strict=True))
    return far and all(abs(value - round(value)) < 1e-6 for value in values)


largest_mu = Exercise(
    id="3.8",
    title="From (ε, δ) to μ",
    function="largest_mu",
    good_for="finding the least noise that keeps an (ε, δ) promise",
    difficulty=3,
    minutes=20,
    points=3,
    draw=_draw_promise,
    reference=gdp.mu,
    returns=a_number,
    forbidden=(gdp.mu, gdp.epsilon, gdp.analytic_sigma),
    rtol=1e-4,
    atol=0.0,
    hints=(
        "For a fixed epsilon, delta grows with mu. So the mu you look for is where `gdp.delta(epsilon, mu)` reaches delta.",
        "Keep two numbers, low (delta still small enough) and high (too large). Look at the middle, and move one of them there. 100 halvings are plenty.",
        "To begin, double high from 1 on until `gdp.delta(epsilon, high)` is above delta. `low = 0.0` always works.",
    ),
    misconceptions=(
        Misconception(
            "mu is epsilon",
            "You returned epsilon. mu and epsilon are not the same measure, and delta has to come in.",
            lambda epsilon, delta: epsilon,
        ),
        Misconception(
            "classic noise",
            "You inverted the classic formula, mu = epsilon / sqrt(2 ln(1.25/delta)). It is proved for epsilon < 1 only, and there it is not the largest mu.",
            lambda epsilon, delta: epsilon / math.sqrt(2 * math.log(1.25 / delta)),
        ),
        Misconception(
            "sigma",
            "That is sigma = 1/mu, the noise for sensitivity 1. The question is for mu.",
            lambda epsilon, delta: 1 / _mu(epsilon, delta),
        ),
        Misconception(
            "tail only",
            "You set the first term alone equal to delta. That mu is safe, but not the largest: the term with e^epsilon makes delta smaller.",
            lambda epsilon, delta: 2 * epsilon / (_z(delta) + math.sqrt(_z(delta) ** 2 + 2 * epsilon)),
        ),
        Misconception(
            "epsilon ignored",
            "That is the mu whose delta(0) is delta. At your epsilon far more is allowed.",
            lambda epsilon, delta: _mu(0.0, delta),
        ),
        Misconception(
            "stopped at 1",
            "Your search ends at mu = 1, but mu may be larger. Double the upper end until its delta is too large.",
            lambda epsilon, delta: min(1.0, _mu(epsilon, delta)),
        ),
        Misconception(
            "zero",
            "You returned 0. That is safe for every promise and allows no answer at all. Is the comparison in your search the wrong way round?",
            lambda epsilon, delta: 0.0,
        ),
        Misconception(
            "wrong way",
            "Your search runs to an end of its interval, away from the answer. Where delta is still small enough, mu may grow: then low moves up to the middle.",
            lambda epsilon, delta: _halving(epsilon, delta, wrong_way=True),
            recognise=_at_the_ends,
        ),
        Misconception(
            "stops early",
            "Your search stops when the two deltas differ by little. At a delta of 1e-30 that is true at once: compare ratios, or halve 100 times.",
            lambda epsilon, delta: _halving(epsilon, delta, stop=lambda a, b: abs(a - b) < 1e-10),
            recognise=_stops_early,
        ),
    ),
)


# ---- 3.9


def _draw_group(rng):
    cases = []
    for k in (int(rng.integers(2, 4)), int(rng.integers(4, 6))):
        alpha = np.sort(np.r_[rng.uniform(0.01, 0.1, 2), rng.uniform(0.15, 0.5, 3), rng.uniform(0.5, 0.8)])
        epsilon, delta = rounded(rng.uniform(0.15, 0.4)), rounded(rng.uniform(0.01, 0.04), 3)
        cases.append({"alpha": alpha.round(4), "epsilon": epsilon, "delta": delta, "k": k})
    return cases


def _times(f, alpha, k):
    """f applied k times."""
    for _ in range(k):
        alpha = f(np.clip(alpha, 0, 1))
    return alpha


def _group(extra=0):
    def code(alpha, epsilon, delta, k):
        f = tradeoff.approx_dp(epsilon, delta)
        return 1 - _times(lambda x: 1 - f(x), alpha, k + extra)

    return code


def _as_group(make):
    """The value at alpha of the trade-off function make(epsilon, delta, k)."""
    return lambda alpha, epsilon, delta, k: make(epsilon, delta, k)(alpha)


group_curve = Exercise(
    id="3.9",
    title="A curve for a whole family",
    function="group_curve",
    good_for="stating what a mechanism promises to people whose data move together",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_group,
    reference=_group(),
    returns=numbers_like("alpha"),
    forbidden=(tradeoff.TradeOff.group,),
    hints=(
        "1 - f sends a false positive rate to the largest power that a test of neighbours can have. Apply it k times, one step of the chain each.",
        "Start with `x = alpha`. In a loop of k rounds set `x = 1 - f(x)`. In the end return `1 - x`.",
    ),
    misconceptions=(
        Misconception(
            "one person",
            "That is the curve of one person. For k people apply 1 - f k times.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(epsilon, delta)),
        ),
        Misconception(
            "one time too few",
            "You applied 1 - f only k - 1 times. From the table to one with k people changed there are k steps.",
            _group(-1),
        ),
        Misconception(
            "one time too many",
            "You applied 1 - f k + 1 times. From the table to one with k people changed there are k steps.",
            _group(1),
        ),
        Misconception(
            "power of numbers",
            "You took the k-th power of the number 1 - f(alpha). The little circle means: apply the function k times.",
            _as_group(lambda epsilon, delta, k: lambda alpha: 1 - (1 - tradeoff.approx_dp(epsilon, delta)(alpha)) ** k),
        ),
        Misconception(
            "f itself repeated",
            "You applied f k times. f swaps the roles of the two errors at each step; it is 1 - f that has to be repeated.",
            _as_group(lambda epsilon, delta, k: lambda alpha: _times(tradeoff.approx_dp(epsilon, delta), alpha, k)),
        ),
        Misconception(
            "last 1 - left out",
            "That is the power. In the end beta is 1 minus it.",
            lambda alpha, epsilon, delta, k: 1 - _group()(alpha, epsilon, delta, k),
        ),
        Misconception(
            "k epsilon, k delta",
            "You used the curve of (k epsilon, k delta). Its delta is too small for a group, and its middle too low: repeat 1 - f instead.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(k * epsilon, min(1, k * delta))),
        ),
        Misconception(
            "bound for groups",
            "That is the (epsilon, delta) bound for groups. It is true, but its middle is too low: repeat 1 - f instead.",
            _as_group(
                lambda epsilon, delta, k: tradeoff.approx_dp(
                    k * epsilon, min(1, delta * math.expm1(k * epsilon) / math.expm1(epsilon))
                )
            ),
        ),
        Misconception(
            "k epsilon, delta",
            "You multiplied epsilon by k and left delta. Every step of the chain adds to delta as well: repeat 1 - f instead.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(k * epsilon, delta)),
        ),
        Misconception(
            "square root of k",
            "You multiplied epsilon by sqrt(k). A root belongs to many independent answers; k people may all push one answer the same way.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(math.sqrt(k) * epsilon, delta)),
        ),
        Misconception(
            "composition",
            "That is the curve of k answers about one person. Here one answer is about k people.",
            _as_group(lambda epsilon, delta, k: tradeoff.approx_dp(epsilon, delta).power(k)),
        ),
    ),
)


# ---- 3.10


def _draw_family(rng):
    return [
        {
            "sensitivity": rounded(rng.uniform(2, 9)),
            "mu": rounded(mu),
            "k": int(rng.integers(2, 7)),
        }
        for mu in (rng.uniform(0.2, 0.8), rng.uniform(1.2, 2))
    ]


group_sigma = Exercise(
    id="3.10",
    title="Noise for a whole family",
    function="group_sigma",
    good_for="protecting households, or people with several rows",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_family,
    reference=lambda sensitivity, mu, k: k * sensitivity / mu,
    returns=a_number,
    forbidden=(gdp.group,),
    hints=(
        "An answer that is ν-GDP for one person is (k ν)-GDP for k people. Which ν makes k ν equal to mu?",
        "Each person gets mu / k. The noise for that is sensitivity / (mu / k).",
    ),
    misconceptions=(
        Misconception(
            "one person",
            "That is the noise for one person. For a family of k it would be (k mu)-GDP only.",
            lambda sensitivity, mu, k: sensitivity / mu,
        ),
        Misconception(
            "square root of k",
            "You multiplied by sqrt(k). The changes of k people may all go the same way and add up: k, not its root.",
            lambda sensitivity, mu, k: math.sqrt(k) * sensitivity / mu,
        ),
        Misconception(
            "divided by k",
            "You divided by k. A family is harder to hide than one person: it needs more noise.",
            lambda sensitivity, mu, k: sensitivity / (mu * k),
        ),
        Misconception(
            "times mu",
            "You multiplied by mu. A smaller mu needs more noise: divide by it.",
            lambda sensitivity, mu, k: k * sensitivity * mu,
        ),
        Misconception(
            "variance",
            "That is the variance. The question is for sigma, the standard deviation.",
            lambda sensitivity, mu, k: (k * sensitivity / mu) ** 2,
        ),
        Misconception(
            "sensitivity forgotten",
            "The sensitivity is missing: one person may change the answer by that much.",
            lambda sensitivity, mu, k: k / mu,
        ),
        Misconception(
            "mu of the group",
            "That is k mu, what a family has if the noise was made for one person. The question is for sigma.",
            lambda sensitivity, mu, k: k * mu,
        ),
    ),
)

EXERCISES = (
    error_rates,
    least_error_sum,
    is_tradeoff,
    approx_dp_curve,
    gaussian_curve,
    noisy_counts,
    delta_of,
    largest_mu,
    group_curve,
    group_sigma,
)

QUIZ = (
    Question(
        "A tester says “Mia is in” for 30% of the tables without her, and for 80% of the tables with her. What are α and β?",
        (
            Option(
                "α = 0.8, β = 0.3",
                False,
                "0.8 is how often the tester finds Mia, which is 1 - β. α is the false alarm, 0.3.",
            ),
            Option(
                "α = 0.3, β = 0.8",
                False,
                "α is right. β is the share of tables with Mia that the tester misses: 1 - 0.8.",
            ),
            Option(
                "α = 0.3, β = 0.2",
                True,
                "A false alarm in 30% of the tables without her, a miss in 20% of those with her. So TV is at least 0.5.",
            ),
        ),
    ),
    Question(
        "f is never below g, and somewhere above it. Which promise is stronger?",
        (
            Option(
                "f-DP.", True, "A higher curve leaves every tester with larger errors. Whatever is f-DP is also g-DP."
            ),
            Option("g-DP.", False, "A lower curve means smaller errors for the tester, so less privacy."),
            Option("That depends on α.", False, "It would if the curves crossed. Here f is nowhere the lower one."),
        ),
    ),
    Question(
        "A mechanism prints Mia's row with probability 0.001, and nothing otherwise. For which μ is it μ-GDP?",
        (
            Option(
                "For a small one, about 0.001.",
                False,
                "Its curve starts at 0.999. G_μ starts at 1, whatever μ is, so the curve lies below it near α = 0.",
            ),
            Option(
                "For none.",
                True,
                "Its curve starts below 1, every G_μ starts at 1. Gaussian noise never gives anybody away for certain.",
            ),
            Option(
                "For every μ.", False, "Then it would be perfectly private. But once in a thousand times it tells all."
            ),
        ),
    ),
    Question(
        "A Gaussian mechanism has σ = 10 and sensitivity 5. What is its μ?",
        (
            Option(
                "μ = 0.05",
                False,
                "That is 5/10²: you divided by the variance. μ is sensitivity over the standard deviation.",
            ),
            Option("μ = 2", False, "That is σ over the sensitivity. More noise must give a smaller μ."),
            Option("μ = 0.5", True, "μ = sensitivity / σ = 5/10: the means lie half a standard deviation apart."),
        ),
    ),
    Question(
        "Somebody shows that a mechanism is (1, δ)-DP with the δ(1) of μ = 1. Is it 1-GDP?",
        (
            Option(
                "Not necessarily.",
                True,
                "One pair (ε, δ) gives two lines below the curve. For 1-GDP the pair (ε, δ(ε)) must hold for every ε ≥ 0.",
            ),
            Option(
                "Yes, the formula goes both ways.",
                False,
                "It does if the pairs hold for all ε ≥ 0 together. One of them is not enough.",
            ),
            Option(
                "No, never.",
                False,
                "A mechanism that is 1-GDP satisfies this pair too. The pair just does not prove it.",
            ),
        ),
    ),
    Question(
        "A mechanism is 0.5-GDP for one person. What does it promise to a family of four?",
        (
            Option(
                "1-GDP",
                False,
                "That is 0.5 · √4. The root is for four independent answers about one person. Four people may push one answer the same way.",
            ),
            Option(
                "2-GDP",
                True,
                "k μ = 4 · 0.5. All four may push the answer the same way, so the means move four times as far apart.",
            ),
            Option(
                "0.5-GDP",
                False,
                "Each one of them is protected so. Together they may change the answer four times as much.",
            ),
        ),
    ),
    Question(
        "You round a noisy count to the next ten before you publish it. What happens to its curve?",
        (
            Option(
                "It stays exactly the same.",
                False,
                "It can only rise. Rounding throws away something, and a tester who sees less can only err more.",
            ),
            Option(
                "It rises or stays, so the promise still holds.",
                True,
                "Every test of the rounded count is also a test of the count itself. This is post-processing.",
            ),
            Option(
                "It falls, because rounding moves the count.",
                False,
                "Rounding moves the count with and without Mia by the same rule, without looking at her row.",
            ),
        ),
    ),
)
