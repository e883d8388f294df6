"""Exercises and quiz of lesson 06: auditing."""

import math

import numpy as np
from scipy.special import betaincinv, logit, ndtri
from scipy.stats import binom

from dpcourse import audit
from dpcourse.exercises.engine import Exercise, Misconception, OpenExercise, Option, Question
from dpcourse.exercises.values import a_number, a_whole_number, plain, rounded, several, type_name

TITLE = "Auditing"


# ---- 6.1 error rates


def _draw_scores(rng):
    """Scores with one digit, so that some equal the threshold; the two groups differ in size."""
    cases = []
    for with_mia, without in ((9, 7), (12, 16)):
        scores_in = rng.normal(1.2, 1, with_mia).round(1)
        scores_out = rng.normal(0.2, 1, without).round(1)
        threshold = rounded(rng.uniform(0.4, 0.9), 1)
        scores_in[0] = scores_out[0] = threshold
        cases.append(
            {"scores_in": rng.permutation(scores_in), "scores_out": rng.permutation(scores_out), "threshold": threshold}
        )
    return cases


def _errors(rule):
    """A rule for the four counts: in, called in; in, called out; out, called in; out, called out."""

    def code(scores_in, scores_out, threshold):
        a, c = int(np.sum(scores_in > threshold)), int(np.sum(scores_out > threshold))
        return tuple(map(float, rule(a, len(scores_in) - a, c, len(scores_out) - c)))

    return code


error_rates = Exercise(
    id="6.1",
    title="The two error rates of an attack",
    function="error_rates",
    good_for="turning a pile of scores into a point that can be compared with a promise",
    difficulty=1,
    minutes=8,
    points=1,
    draw=_draw_scores,
    reference=_errors(lambda hit, miss, alarm, calm: (alarm / (alarm + calm), miss / (hit + miss))),
    returns=several("alpha", "beta"),
    hints=(
        "A false alarm can only happen in a run without Mia, a miss only in a run with her. So each rate is a share of one of the two arrays.",
        '`np.mean(scores_out > threshold)` is the share of runs without her in which the attack says "in". A score that equals the threshold '
        'is not above it, so there the attack says "out".',
    ),
    misconceptions=(
        Misconception(
            "exchanged",
            "You returned beta first and alpha second. alpha is the rate of false alarms, in runs without Mia; beta that of misses, in runs with her.",
            _errors(lambda hit, miss, alarm, calm: (miss / (hit + miss), alarm / (alarm + calm))),
        ),
        Misconception(
            "ties are in",
            'You call a score "in" that equals the threshold. The attack says "in" only above it: `>`, and a miss is `<=`.',
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out >= threshold)),
                float(np.mean(scores_in < threshold)),
            ),
        ),
        Misconception(
            "ties count twice",
            "A score that equals the threshold counts as a false alarm and as a miss with you. The attack says one thing at each score: it is "
            '"in" above the threshold, and "out" at it.',
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out >= threshold)),
                float(np.mean(scores_in <= threshold)),
            ),
        ),
        Misconception(
            "ties left out",
            'A score that equals the threshold is neither a false alarm nor a miss with you. At the threshold the attack says "out", and if Mia '
            "is in, that is a miss: `<=`.",
            lambda scores_in, scores_out, threshold: (
                float(np.mean(scores_out > threshold)),
                float(np.mean(scores_in < threshold)),
            ),
        ),
        Misconception(
            "hits for misses",
            "Your second number is the share of runs with Mia that are found. beta is the share that is missed.",
            _errors(lambda hit, miss, alarm, calm: (alarm / (alarm + calm), hit / (hit + miss))),
        ),
        Misconception(
            "calm for alarms",
            "Your first number is the share of runs without Mia that are rightly called out. alpha is the share that is wrongly called in.",
            _errors(lambda hit, miss, alarm, calm: (calm / (alarm + calm), miss / (hit + miss))),
        ),
        Misconception(
            "the other way round",
            'You call low scores "in". Here a high score speaks for Mia.',
            _errors(lambda hit, miss, alarm, calm: (calm / (alarm + calm), hit / (hit + miss))),
        ),
        Misconception(
            "groups exchanged",
            "You took the two arrays for each other: alpha comes from the scores without Mia, `scores_out`, and beta from those with her.",
            _errors(lambda hit, miss, alarm, calm: (hit / (hit + miss), calm / (alarm + calm))),
        ),
        Misconception(
            "counts",
            "You returned how many errors there are. A rate is a share: divide by the number of runs of that group.",
            _errors(lambda hit, miss, alarm, calm: (alarm, miss)),
        ),
        Misconception(
            "over all runs",
            "You divided by the number of all runs. alpha is a share of the runs without Mia, beta of those with her.",
            _errors(
                lambda hit, miss, alarm, calm: (alarm / (hit + miss + alarm + calm), miss / (hit + miss + alarm + calm))
            ),
        ),
        Misconception(
            "over the other group",
            "You divided by the size of the other group. alpha is a share of the runs without Mia, beta of those with her.",
            _errors(lambda hit, miss, alarm, calm: (alarm / (hit + miss), miss / (alarm + calm))),
        ),
        Misconception(
            "over those called so",
            "You divided by the number of runs that the attack calls in, or out. That depends on how many runs of each kind you happened to "
            "make. alpha and beta are shares of what is true, not of what is said.",
            _errors(lambda hit, miss, alarm, calm: (alarm / max(1, hit + alarm), miss / max(1, miss + calm))),
        ),
        Misconception(
            "one number for both",
            "You returned the same share of errors twice, over all runs. One number cannot be compared with a trade-off curve: keep the two "
            "kinds of errors apart.",
            _errors(lambda hit, miss, alarm, calm: 2 * ((alarm + miss) / (hit + miss + alarm + calm),)),
        ),
    ),
)


# ---- 6.2 Clopper-Pearson


def _upper(errors, trials, confidence):
    return float(betaincinv(errors + 1, trials - errors, confidence)) if errors < trials else 1.0


def _lower(errors, trials, confidence):
    return float(betaincinv(errors, trials - errors + 1, 1 - confidence)) if errors else 0.0


def _draw_counts(rng):
    trials = [int(rng.integers(150, 900)) for _ in range(4)]
    confidence = [float(rng.choice([0.9, 0.95, 0.98, 0.99])) for _ in range(4)]
    errors = [int(rng.integers(3, 12)), int(trials[1] * rng.uniform(0.2, 0.7)), 0, trials[3]]
    return [{"errors": k, "trials": n, "confidence": c} for k, n, c in zip(errors, trials, confidence, strict=True)]


def _finite_bound(value, case):
    complaint = a_number(value, case)
    if complaint and case["errors"] == case["trials"] and isinstance(value, float):
        return "Here all trials were errors, and the result is not a number. Nothing speaks against an error rate of 1 then: return 1."
    if complaint and case["errors"] == 0 and isinstance(value, float):
        return (
            "Here there was no error, and the result is not a number. Is the first parameter of `beta.ppf` 0? The event is "
            "`errors` or fewer, and that takes errors + 1."
        )
    return complaint


def _unless_all_errors(code):
    """recognise: the values are those of `code`, and 1 may stand where every trial was an error."""

    def recognise(cases, values):
        wanted = [code(**case) for case in cases]
        return all(
            math.isclose(value, want, rel_tol=1e-6) or (value == 1 and case["errors"] == case["trials"])
            for case, value, want in zip(cases, values, wanted, strict=True)
        )

    return recognise


def _beta(first, second):
    """A quantile of a beta law with other parameters than errors + 1 and trials - errors."""

    def code(errors, trials, confidence):
        return float(betaincinv(errors + first, trials - errors + second, confidence)) if errors + first else 0.0

    return {"code": code, "recognise": _unless_all_errors(code)}


def _wilson(level):
    def code(errors, trials, confidence):
        share, z = errors / trials, ndtri(level(confidence))
        spread = z * math.sqrt(share * (1 - share) / trials + (z / trials / 2) ** 2)
        return float((share + z**2 / trials / 2 + spread) / (1 + z**2 / trials))

    return {"code": code, "recognise": _unless_all_errors(code)}


def _normal(level):
    def code(errors, trials, confidence):
        share = errors / trials
        return float(share + ndtri(level(confidence)) * math.sqrt(share * (1 - share) / trials))

    return code


at_most = Exercise(
    id="6.2",
    title="What an error rate is at most",
    function="at_most",
    good_for="saying something certain about a probability of which you saw a sample",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_counts,
    reference=_upper,
    returns=_finite_bound,
    forbidden=(audit.clopper_pearson, audit._upper),
    hints=(
        "For which p would so few errors, `errors` or fewer, have a chance of only 1 - confidence? That p is the answer. The chance falls as p grows.",
        "`scipy.stats.beta.ppf(confidence, errors + 1, trials - errors)` solves the equation. Where every trial was an error there is nothing to "
        "solve: return 1. (Or halve an interval 50 times, with `scipy.stats.binom.cdf(errors, trials, p)`.)",
    ),
    misconceptions=(
        Misconception(
            "the share itself",
            "You returned the share of errors. The true rate may well be larger; with the given confidence it is not above the bound.",
            lambda errors, trials, confidence: errors / trials,
        ),
        Misconception(
            "bound from below",
            "You bounded the rate from below. To refute a promise we need to know that errors are rare, so: from above.",
            _lower,
        ),
        Misconception(
            "two-sided",
            "You took the upper end of a two-sided interval, and left half of the risk on a side that nobody asked about. All of it goes to "
            "the upper side here.",
            lambda errors, trials, confidence: _upper(errors, trials, (1 + confidence) / 2),
        ),
        Misconception(
            "one error too few",
            "You asked for which p *fewer* than `errors` errors are rare. What was seen belongs to the event: `errors` or fewer.",
            **_beta(0, 1),
        ),
        Misconception(
            "Bayes",
            "Your second parameter is one too large, as for the posterior of a uniform prior. Its bound is a little too low: it does not hold with "
            "the stated confidence. `beta.ppf(confidence, errors + 1, trials - errors)`.",
            **_beta(1, 1),
        ),
        Misconception(
            "Jeffreys",
            "You took Jeffreys' interval, with half an error more on both sides. It is right on average over many rates, and at some rates it "
            "fails more often than is stated. The first parameter is errors + 1, the second trials - errors.",
            **_beta(0.5, 0.5),
        ),
        Misconception(
            "Wilson",
            "You took Wilson's interval. It is the normal approximation, though a better one, and an accusation must not rest on an "
            "approximation. Solve the binomial equation itself.",
            **_wilson(lambda confidence: confidence),
        ),
        Misconception(
            "Wilson, two-sided",
            "You took Wilson's interval, and a two-sided one. It is the normal approximation, though a better one. Solve the binomial "
            "equation itself.",
            **_wilson(lambda confidence: (1 + confidence) / 2),
        ),
        Misconception(
            "quantile at the share",
            "You asked how many errors there may be if the share that was seen is the true rate. It is the other way round: the count was seen, "
            "and the rate is unknown. For which rate are so few errors rare?",
            lambda errors, trials, confidence: float(binom.ppf(confidence, trials, errors / trials) / trials),
        ),
        Misconception(
            "risk for confidence",
            "You exchanged the confidence and the risk: your bound is exceeded by the true rate nearly always. The chance of so few errors is "
            "to be 1 - confidence.",
            lambda errors, trials, confidence: _upper(errors, trials, 1 - confidence),
        ),
        Misconception(
            "normal",
            "You used the normal approximation. Where errors are few it is far off, and with none it says 0 with certainty. Solve the "
            "binomial equation itself.",
            _normal(lambda confidence: confidence),
        ),
        Misconception(
            "normal, two-sided",
            "You used the normal approximation, and a two-sided one. Where errors are few it is far off. Solve the binomial equation itself.",
            _normal(lambda confidence: (1 + confidence) / 2),
        ),
        Misconception(
            "Hoeffding",
            "You used Hoeffding's bound. It is true, but it does not see that errors are rare, and a small rate is what we want to prove.",
            lambda errors, trials, confidence: min(
                1, errors / trials + math.sqrt(-math.log(1 - confidence) / 2 / trials)
            ),
        ),
        Misconception(
            "rule of three",
            "You divided a number by `trials`, as if no error had been seen. The bound depends on `errors`.",
            lambda errors, trials, confidence: min(1.0, -math.log(1 - confidence) / trials),
        ),
        Misconception(
            "errors as share",
            "You counted what went right in place of what went wrong.",
            lambda errors, trials, confidence: _upper(trials - errors, trials, confidence),
        ),
    ),
)


# ---- 6.3 mu from counts


def _draw_audit(rng):
    """Two attacks that prove something and one that proves nothing."""
    cases = []
    for alpha, beta in ((rng.uniform(0.02, 0.08), rng.uniform(0.2, 0.35)), (rng.uniform(0.2, 0.35), 0.06), (0.5, 0.49)):
        runs = int(rng.integers(4, 20)) * 100
        cases.append(
            {
                "false_alarms": int(alpha * runs) + 2,
                "misses": int(beta * runs) + int(rng.integers(1, 5)),
                "runs": runs,
                "confidence": float(rng.choice([0.9, 0.95, 0.99])),
            }
        )
    return cases


def _mu_of(alpha, beta):
    return float(-ndtri(min(alpha, 1 - 1e-12)) - ndtri(min(beta, 1 - 1e-12)))


def _mu_at_least(alpha=_upper, beta=_upper, each=lambda confidence: (1 + confidence) / 2, mu=_mu_of, least=0.0):
    def code(false_alarms, misses, runs, confidence):
        level = each(confidence)
        return float(max(least, mu(alpha(false_alarms, runs, level), beta(misses, runs, level))))

    return code


def _share(errors, trials, confidence):
    return errors / trials


mu_at_least = Exercise(
    id="6.3",
    title="The μ that an attack proves",
    function="mu_at_least",
    good_for="the whole of an audit in three lines",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_audit,
    reference=_mu_at_least(),
    returns=a_number,
    forbidden=(audit.mu_lower_bound, audit.empirical_tradeoff, audit._corners),
    hints=(
        "Two error rates are unknown, so two bounds are needed, and both must hold at once. If each fails with half of the risk, both hold with "
        "the confidence asked for.",
        "`confidence` 0.95 leaves a risk of 0.05, so each bound gets the confidence 0.975, which is (1 + confidence) / 2. Then mu = "
        "-Φ⁻¹(alpha) - Φ⁻¹(beta), with `norm.ppf` for Φ⁻¹, and 0 where that is negative.",
    ),
    misconceptions=(
        Misconception(
            "points",
            "You took the shares of errors for the error rates. In a sample they may be smaller than in truth by luck, and then you accuse an "
            "honest mechanism. Take an upper bound on each.",
            _mu_at_least(_share, _share),
        ),
        Misconception(
            "union forgotten",
            "You gave each of the two bounds the whole risk. Then together they may fail with twice of it. Give each a half.",
            _mu_at_least(each=lambda confidence: confidence),
        ),
        Misconception(
            "only alpha",
            "You bounded the false alarms and took the misses as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(beta=_share),
        ),
        Misconception(
            "only alpha, all the risk",
            "You bounded the false alarms, with all of the risk, and took the misses as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(beta=_share, each=lambda confidence: confidence),
        ),
        Misconception(
            "only beta",
            "You bounded the misses and took the false alarms as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(alpha=_share),
        ),
        Misconception(
            "only beta, all the risk",
            "You bounded the misses, with all of the risk, and took the false alarms as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(alpha=_share, each=lambda confidence: confidence),
        ),
        Misconception(
            "confidence halved",
            "You gave each bound half of the *confidence*. It is the risk, 1 - confidence, that is halved.",
            _mu_at_least(each=lambda confidence: confidence / 2),
        ),
        Misconception(
            "root of the confidence",
            "You gave each bound the root of the confidence. That is true as well, since the two groups of runs are independent, and a hair "
            "better. Here each is to have half of the risk, which needs no independence.",
            _mu_at_least(each=math.sqrt),
        ),
        Misconception(
            "squared confidence",
            "You gave each bound the square of the confidence. Two events must hold at once, so each needs *more* confidence than both together.",
            _mu_at_least(each=lambda confidence: confidence**2),
        ),
        Misconception(
            "a quarter each",
            "You gave each bound a quarter of the risk. There are two of them, each bounded on one side: a half each.",
            _mu_at_least(each=lambda confidence: 1 - (1 - confidence) / 4),
        ),
        Misconception(
            "bounds from below",
            "You bounded the errors from below. That says what the attack might have achieved at best. What it certainly achieved needs upper bounds.",
            _mu_at_least(_lower, _lower, mu=lambda a, b: _mu_of(max(a, 1e-9), max(b, 1e-9))),
        ),
        Misconception(
            "sign",
            "The sign is wrong: Φ⁻¹ of a small rate is negative, and small errors must give a large mu. mu = -Φ⁻¹(alpha) - Φ⁻¹(beta).",
            _mu_at_least(mu=lambda a, b: -_mu_of(a, b), least=-math.inf),
        ),
        Misconception(
            "difference",
            "The sign of Φ⁻¹(beta) is turned round, or you took 1 minus the rate for both of them. So the two errors are subtracted where they "
            "should add: mu = Φ⁻¹(1 - alpha) - Φ⁻¹(beta).",
            _mu_at_least(mu=lambda a, b: float(ndtri(b) - ndtri(a))),
        ),
        Misconception(
            "1 minus forgotten",
            "You took Φ⁻¹(alpha) - Φ⁻¹(beta), and so the two errors are subtracted where they should add. It is Φ⁻¹(1 - alpha) - Φ⁻¹(beta).",
            _mu_at_least(mu=lambda a, b: float(ndtri(a) - ndtri(b))),
        ),
        Misconception(
            "risk for confidence",
            "You gave `audit.clopper_pearson` the risk where it takes the confidence: half of the risk each is the confidence "
            "1 - (1 - confidence) / 2.",
            _mu_at_least(each=lambda confidence: (1 - confidence) / 2),
        ),
        Misconception(
            "both groups",
            "You counted the runs of both groups together. A false alarm can only happen in the `runs` runs without Mia, a miss in those with her.",
            lambda false_alarms, misses, runs, confidence: _mu_at_least()(false_alarms, misses, 2 * runs, confidence),
        ),
        Misconception(
            "negative",
            "One of your results is negative. An attack that is no better than guessing proves nothing: the bound is 0.",
            _mu_at_least(least=-math.inf),
        ),
        Misconception(
            "mean error",
            "You put the mean of both errors for each of them. That throws away which one is small: the mu you get is smaller than what is proved.",
            _mu_at_least(mu=lambda a, b: _mu_of((a + b) / 2, (a + b) / 2)),
        ),
        Misconception(
            "half of it",
            "You returned the distance of one error only. mu is the sum of both: -Φ⁻¹(alpha) - Φ⁻¹(beta).",
            _mu_at_least(mu=lambda a, b: float(-ndtri(a))),
        ),
    ),
)


# ---- 6.4 epsilon from errors


def _draw_bounds(rng):
    """Few false alarms, few misses, nothing proved; and a case in which 1 - delta - beta is negative."""
    rows = [(0.01, 0.05, 0.3, 0.5), (0.3, 0.5, 0.01, 0.05), (0.45, 0.55, 0.56, 0.6), (0.04, 0.06, 0.96, 0.99)]
    deltas = [rng.uniform(0.01, 0.05), rng.uniform(0.01, 0.05), rng.uniform(0.001, 0.01), 0.05]
    return [
        {"alpha": rounded(rng.uniform(*row[:2]), 4), "beta": rounded(rng.uniform(*row[2:]), 4), "delta": rounded(d, 3)}
        for row, d in zip(rows, deltas, strict=True)
    ]


def _logs(
    one=lambda a, b, d: (1 - d - b) / a, other=lambda a, b, d: (1 - d - a) / b, join=max, log=math.log, least=0.0
):
    def code(alpha, beta, delta):
        return float(max(least, join(*(log(max(rule(alpha, beta, delta), 1e-6)) for rule in (one, other)))))

    return code


epsilon_at_least = Exercise(
    id="6.4",
    title="The ε that an attack proves",
    function="epsilon_at_least",
    good_for="stating an audit in the words of (ε, δ)",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_bounds,
    reference=_logs(),
    returns=a_number,
    forbidden=(audit.epsilon_lower_bound, audit._log_ratio),
    hints=(
        "(ε, δ)-DP says two things of every test: 1 - beta <= e^ε alpha + delta, and the same with alpha and beta exchanged. Solve each for ε.",
        "The first gives ln((1 - delta - beta) / alpha), the second ln((1 - delta - alpha) / beta). Both hold, so the larger counts; and 0 if "
        "neither is positive. Before taking a logarithm see to it that its argument is positive.",
    ),
    misconceptions=(
        Misconception(
            "first direction only",
            "You used 1 - beta <= e^ε alpha + delta only. The promise holds in both directions, and here the other one proves more: exchange "
            "alpha and beta, and take the larger.",
            _logs(join=lambda first, second: first),
        ),
        Misconception(
            "second direction only",
            "You used 1 - alpha <= e^ε beta + delta only. The promise holds in both directions, and here the other one proves more: exchange "
            "alpha and beta, and take the larger.",
            _logs(join=lambda first, second: second),
        ),
        Misconception(
            "smaller",
            "You took the smaller of the two. Each of them is proved, so the larger is.",
            _logs(join=min),
        ),
        Misconception(
            "sum",
            "You added up the two directions. Both are about the same ε: take the larger.",
            _logs(join=lambda first, second: first + second),
        ),
        Misconception(
            "delta forgotten",
            "You forgot delta. With probability delta everything may be given away, and only what exceeds that speaks for an ε.",
            _logs(lambda a, b, d: (1 - b) / a, lambda a, b, d: (1 - a) / b),
        ),
        Misconception(
            "delta added",
            "You added delta where it must be taken off: 1 - beta <= e^ε alpha + delta, so e^ε >= (1 - delta - beta) / alpha.",
            _logs(lambda a, b, d: (1 + d - b) / a, lambda a, b, d: (1 + d - a) / b),
        ),
        Misconception(
            "delta below",
            "You added delta to the error below the fraction line. It is taken off above: 1 - delta - beta.",
            _logs(lambda a, b, d: (1 - b) / (a + d), lambda a, b, d: (1 - a) / (b + d)),
        ),
        Misconception(
            "delta off the end",
            "You took delta off ε. It is a probability, and is taken off the probability 1 - beta, before the logarithm.",
            lambda alpha, beta, delta: max(0.0, math.log(max((1 - beta) / alpha, (1 - alpha) / beta)) - delta),
        ),
        Misconception(
            "no logarithm",
            "You returned e^ε. Take the logarithm.",
            _logs(log=lambda ratio: ratio),
        ),
        Misconception(
            "wrong logarithm",
            "You took the logarithm to base 2 or 10. Here it is the natural one, `math.log` or `np.log`.",
            _logs(log=math.log2),
        ),
        Misconception(
            "base 10",
            "You took the logarithm to base 10. Here it is the natural one, `math.log` or `np.log`.",
            _logs(log=math.log10),
        ),
        Misconception(
            "negative",
            "One of your results is negative. Where the attack is no better than guessing nothing is proved: the bound is 0.",
            _logs(least=-math.inf),
        ),
        Misconception(
            "hits over misses",
            'You divided by 1 - alpha, or by the errors of the same direction: the ratio is that of saying "in" with Mia, 1 - beta, to saying '
            '"in" without her, alpha.',
            _logs(lambda a, b, d: (1 - d - b) / b, lambda a, b, d: (1 - d - a) / a),
        ),
        Misconception(
            "mean error",
            "You put the mean of both errors for each of them. That throws away which one is small, and that is where ε is.",
            _logs(lambda a, b, d: (1 - d - (a + b) / 2) / ((a + b) / 2), lambda a, b, d: 0.0),
        ),
    ),
)


# ---- 6.5 how many runs


def _draw_wanted(rng):
    return [
        {"epsilon": rounded(rng.uniform(low, low + 1), 1), "confidence": float(rng.choice([0.9, 0.95, 0.98, 0.99]))}
        for low in (1.0, 3.0, 6.0)
    ]


def _runs(rule):
    """A rule for (epsilon, risk)."""
    return lambda epsilon, confidence: int(rule(epsilon, 1 - confidence))


def _least_runs(epsilon, risk):
    return math.log(1 / risk) / math.log1p(math.exp(-epsilon))


runs_needed = Exercise(
    id="6.5",
    title="How many runs it takes",
    function="runs_needed",
    good_for="knowing before you begin what an audit can show at all",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_wanted,
    reference=_runs(lambda e, r: math.ceil(_least_runs(e, r / 2))),
    returns=a_whole_number,
    hints=(
        "With no error in n runs, both upper bounds are the same number b, which solves (1 - b)^n = risk / 2. Then ε is at least ln((1 - b) / b). "
        "How small must b be?",
        "b must be at most 1 / (1 + e^ε). So (e^ε / (1 + e^ε))^n must be at most risk / 2: n is at least ln(2 / risk) / ln(1 + e^-ε), rounded up.",
    ),
    misconceptions=(
        Misconception(
            "rounded down",
            "You rounded down. With one run less than needed ε is not proved yet: `math.ceil`.",
            _runs(lambda e, r: math.floor(_least_runs(e, r / 2))),
        ),
        Misconception(
            "union forgotten",
            "You gave each of the two bounds the whole risk. Both must hold at once: half of the risk each.",
            _runs(lambda e, r: math.ceil(_least_runs(e, r))),
        ),
        Misconception(
            "one forgotten",
            "You asked for an error rate of at most e^-ε. But ε comes from (1 - b) / b, and so b must be at most 1 / (1 + e^ε).",
            _runs(lambda e, r: math.ceil(math.log(r / 2) / math.log1p(-math.exp(-e)))),
        ),
        Misconception(
            "rule of three",
            "That is the rule of thumb, ln(2 / risk) times e^ε. It is close for a large ε only. Solve (1 - b)^n = risk / 2 for n.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) * math.exp(e))),
        ),
        Misconception(
            "rule of three, all the risk",
            "That is the rule of thumb, ln(1 / risk) times e^ε, with the whole risk for each of two bounds. Give each a half, and solve "
            "(1 - b)^n = risk / 2 for n.",
            _runs(lambda e, r: math.ceil(math.log(1 / r) * math.exp(e))),
        ),
        Misconception(
            "rule of three, plus one",
            "That is the rule of thumb, ln(2 / risk) times (1 + e^ε). It is close for a large ε only. Solve (1 - b)^n = risk / 2 for n.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) * (1 + math.exp(e)))),
        ),
        Misconception(
            "both groups",
            "You counted the runs with Mia and those without. The question is how many of each.",
            _runs(lambda e, r: 2 * math.ceil(_least_runs(e, r / 2))),
        ),
        Misconception(
            "risk for confidence",
            "You put the confidence where the risk belongs. (1 - b)^n is the chance of seeing no error by luck: risk / 2.",
            _runs(lambda e, r: math.ceil(_least_runs(e, (1 - r) / 2))),
        ),
        Misconception(
            "epsilon for e to the epsilon",
            "You took ε for the ratio of the probabilities. The ratio is e^ε.",
            _runs(lambda e, r: math.ceil(math.log(2 / r) / math.log1p(1 / e))),
        ),
        Misconception(
            "Hoeffding",
            "You used Hoeffding's bound, with the square of the error rate. Where no error is seen a rate of b needs about 1/b runs, not 1/b².",
            _runs(lambda e, r: math.ceil(math.log(2 / r) / 2 * (1 + math.exp(e)) ** 2)),
        ),
    ),
)


# ---- 6.6 the best of k thresholds


def _draw_thresholds(rng):
    """Errors of several thresholds on the same scores; at the last there is no false alarm at all.

    The third attack does worse than guessing and proves nothing.
    """
    cases = []
    for thresholds, mu in ((4, rng.uniform(0.8, 1.6)), (7, rng.uniform(0.8, 1.6)), (5, -0.7)):
        runs = int(rng.integers(3, 9)) * 100
        scores_in, scores_out = rng.normal(mu, 1, runs), rng.normal(0, 1, runs)
        cuts = np.r_[np.linspace(-0.8, 1.8, thresholds - 1), max(scores_out.max(), 2.0)]
        cases.append(
            {
                "false_alarms": np.array([int((scores_out > cut).sum()) for cut in cuts]),
                "misses": np.array([int((scores_in <= cut).sum()) for cut in cuts]),
                "runs": runs,
                "confidence": float(rng.choice([0.9, 0.95, 0.99])),
            }
        )
    return cases


def _finite_mu(value, case):
    if isinstance(value, float) and math.isinf(value):
        return (
            "The result is infinite. Where no false alarm was seen the share of errors is 0, and Φ⁻¹(0) is -infinity. "
            "A share proves nothing: take an upper bound on each rate first."
        )
    return a_number(value, case)


def _best(each=lambda risk, k: risk / (2 * k), choose=max, bound=_upper, least=0.0):
    """The mus at all thresholds, each bound with so much of the risk, joined by `choose`."""

    def code(false_alarms, misses, runs, confidence):
        level = 1 - each(1 - confidence, len(misses))
        pairs = zip(false_alarms.tolist(), misses.tolist(), strict=True)
        return float(max(least, choose([_mu_of(bound(a, runs, level), bound(b, runs, level)) for a, b in pairs])))

    return code


def _best_looking(each, good=lambda a, b: _mu_of(max(a, 1e-9), max(b, 1e-9))):
    """The bound at the threshold at which the shares of errors look best."""

    def code(false_alarms, misses, runs, confidence):
        pairs = zip(false_alarms.tolist(), misses.tolist(), strict=True)
        a, b = max(pairs, key=lambda pair: good(pair[0] / runs, pair[1] / runs))
        level = 1 - each(1 - confidence, len(misses))
        return max(0.0, _mu_of(_upper(a, runs, level), _upper(b, runs, level)))

    return code


best_mu = Exercise(
    id="6.6",
    title="The best of k thresholds",
    function="best_mu",
    good_for="choosing with open eyes, and paying for the choice",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_thresholds,
    reference=_best(),
    returns=_finite_mu,
    forbidden=(audit.mu_lower_bound, audit.empirical_tradeoff, audit._corners),
    hints=(
        "If all bounds hold at once, you may choose among them as you like, also after a look. How many bounds are there in all?",
        "k thresholds with two error rates each: 2k bounds. Give each the risk (1 - confidence) / (2k), compute mu at each threshold, and return "
        "the largest (or 0).",
    ),
    misconceptions=(
        Misconception(
            "no correction",
            "You took the best of k and paid for one. The best of many looks good by luck alone. Give each of the 2k bounds its share of the risk.",
            _best(lambda risk, k: risk / 2),
        ),
        Misconception(
            "no correction, no union",
            "You gave every bound the whole risk. There are 2k of them, two at each threshold, and all must hold at once.",
            _best(lambda risk, k: risk),
        ),
        Misconception(
            "two forgotten",
            "You divided the risk by k. At each threshold there are two bounds, for alpha and for beta: 2k in all.",
            _best(lambda risk, k: risk / k),
        ),
        Misconception(
            "squared",
            "You divided the risk by k². There are 2k bounds.",
            _best(lambda risk, k: risk / k**2),
        ),
        Misconception(
            "independent",
            "You gave each bound the root of the confidence, as if all were independent. The thresholds share their scores, so they are not. "
            "A union bound holds always: (1 - confidence) / (2k) each.",
            _best(lambda risk, k: 1 - (1 - risk) ** (1 / (2 * k))),
        ),
        Misconception(
            "confidence divided",
            "You divided the confidence. It is the risk, 1 - confidence, that is shared out.",
            _best(lambda risk, k: 1 - (1 - risk) / (2 * k)),
        ),
        Misconception(
            "smallest",
            "You took the smallest of the k. All of them are proved at once, so the largest is.",
            _best(choose=min),
        ),
        Misconception(
            "mean",
            "You took the mean of the k. All of them are proved at once, so the largest is.",
            _best(choose=lambda mus: sum(mus) / len(mus)),
        ),
        Misconception(
            "first one",
            "You returned the bound at the first threshold. All are proved at once: return the largest.",
            _best(choose=lambda mus: mus[0]),
        ),
        Misconception(
            "best look",
            "You chose the threshold at which the *shares* of errors look best, and bounded there. With no false alarm at all a share looks "
            "perfect, and proves little. Bound first, then choose.",
            _best_looking(lambda risk, k: risk / (2 * k)),
        ),
        Misconception(
            "best look, no correction",
            "You chose the threshold at which the shares of errors look best, and bounded there as if it had been fixed before. All 2k bounds must hold at once.",
            _best_looking(lambda risk, k: risk / 2),
        ),
        Misconception(
            "fewest errors",
            "You chose the threshold with the fewest errors in all. mu can be larger at another one, at which one of the two errors is rare. All "
            "are proved at once: compute each, and return the largest.",
            _best_looking(lambda risk, k: risk / (2 * k), good=lambda a, b: -a - b),
        ),
        Misconception(
            "mixed",
            "You took the best alpha of one threshold together with the best beta of another. No single test has both: compute mu at each "
            "threshold, then take the largest.",
            lambda false_alarms, misses, runs, confidence: _best()(
                false_alarms.min() + 0 * false_alarms, misses.min() + 0 * misses, runs, confidence
            ),
        ),
        Misconception(
            "risk for confidence",
            "You gave the bounds the risk where they take the confidence: it is 1 - (1 - confidence) / (2k) for each.",
            _best(lambda risk, k: 1 - risk / (2 * k)),
        ),
        Misconception(
            "negative",
            "One of your results is negative. Attacks that are no better than guessing prove nothing: the bound is 0.",
            _best(least=-math.inf),
        ),
        Misconception(
            "pooled",
            "You added up the errors of all thresholds. These are different tests on the same runs; each has its own rates.",
            lambda false_alarms, misses, runs, confidence: max(
                0.0,
                _mu_of(
                    _upper(int(false_alarms.sum()), runs * len(misses), (1 + confidence) / 2),
                    _upper(int(misses.sum()), runs * len(misses), (1 + confidence) / 2),
                ),
            ),
        ),
    ),
)


# ---- 6.7 a canary

MOST_TARGET = 1e9


def _draw_people(rng):
    """People with entries from 0 to 1, one feature that nobody has, and weights that may become long.

    Clip norms below 1 and above `longest`, and weights in the thousands, so that no target does which forgets one of the
    two: not their product, not twice the weights, not a thousand.
    """
    cases = []
    lengths = (
        (rng.uniform(0.2, 0.8), rng.uniform(5, 20)),
        (rng.uniform(3, 5), rng.uniform(0.55, 0.7)),
        (rng.uniform(1, 4), rng.uniform(5000, 9000)),
    )
    for (people, features), (clip_norm, longest) in zip(((6, 4), (9, 6), (7, 5)), lengths, strict=True):
        inputs = rng.uniform(0.1, 1, size=(people, features)).round(2) * (rng.random((people, features)) < 0.8)
        inputs[0] = np.maximum(inputs[0], 0.1)
        inputs[:, int(rng.integers(features))] = 0
        cases.append({"inputs": inputs, "clip_norm": rounded(clip_norm), "longest": rounded(longest)})
    return cases


def _a_person(value, case):
    """(x, y): as many finite features as others have, and one finite target."""
    features = case["inputs"].shape[1]
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return f"Return two things, `x, y`: an array of {features} features and one number, not {type_name(value)}."
    x, y = value
    try:
        x = np.asarray(x)
    except ValueError:
        x = np.asarray(None)
    if x.dtype.kind == "b":
        return "x holds truth values. Features are numbers: `.astype(float)` makes 1 of True and 0 of False."
    if x.shape != (features,) or x.dtype.kind not in "iuf":
        return f"x must be an array of {features} numbers, one for each feature, not {type_name(plain(value[0]))}."
    complaint = a_number(plain(y), case)
    if complaint:
        return f"y: {complaint}"
    if not np.isfinite(x).all() or abs(y) > MOST_TARGET:
        return f"All numbers must be finite, and the target between -{MOST_TARGET:g} and {MOST_TARGET:g}."
    return None


def _faults(value, case):
    """What is wrong with a canary, as a set of words."""
    x, y = np.asarray(value[0], dtype=float), float(value[1])
    length, shared = float(np.linalg.norm(x)), np.abs(case["inputs"] @ x).max()
    tests = {
        "no features": length == 0,
        "refused": x.min() < 0 or x.max() > 1,
        "shared": shared > 1e-9 * max(length, 1e-300),
        "short": 2 * abs(y) * length < case["clip_norm"] * (1 - 1e-9),
        "short later": 2 * (abs(y) - case["longest"] * length) * length < case["clip_norm"] * (1 - 1e-9),
    }
    return {name for name, found in tests.items() if found}


def _canary_law(value, case):
    x, y = np.asarray(value[0], dtype=float), float(value[1])
    length = float(np.linalg.norm(x))
    least = max(0.0, 2 * (abs(y) - case["longest"] * length) * length)
    others = np.abs(case["inputs"] @ x).max()
    line = f"entries from {x.min():.3g} to {x.max():.3g}, at most {others:.3g} in common with another, gradient at least {least:.4g} long"
    return not _faults(value, case), line


def _canary(features=None, target=lambda x, case: 2 * (case["longest"] + case["clip_norm"] / 2 / np.linalg.norm(x))):
    """A canary with 1 in the feature that nobody has, or with other features, and a target."""

    def code(inputs, clip_norm, longest):
        case = {"inputs": inputs, "clip_norm": clip_norm, "longest": longest}
        x = (inputs == 0).all(axis=0).astype(float)
        x = x if features is None else features(x, inputs)
        return x, float(target(x, case))

    return code


def _has(*faults):
    """recognise: some case has the first of these faults, and no case any that comes before it in the list of slips."""

    def recognise(cases, values):
        found = set().union(*(_faults(value, case) for case, value in zip(cases, values, strict=True)))
        return faults[0] in found and not found & set(faults[1:])

    return recognise


canary = OpenExercise(
    id="6.7",
    title="A canary",
    function="canary",
    good_for="asking the worst case, which is what the promise is about",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_people,
    reference=_canary(),
    returns=_a_person,
    law=_canary_law,
    hints=(
        "Put the canary where nobody else is: `np.flatnonzero((inputs == 0).all(axis=0))` finds the feature that is 0 for all others. Which "
        "gradient does it have there?",
        "With x = 1 in that feature and 0 elsewhere the gradient is 2 |w·x - y| long, and |w·x| is at most `longest`. So |y| must exceed "
        "`longest` by at least clip_norm / 2.",
    ),
    misconceptions=(
        Misconception(
            "no features",
            "Your canary has no features: x is 0, so its gradient is 0, and it moves nothing at all.",
            _canary(lambda x, inputs: 0 * x, lambda x, case: 1000.0),
            recognise=_has("no features"),
        ),
        Misconception(
            "not a person",
            "The program takes features from 0 to 1 only. A canary must be one of the people that the promise is made for.",
            _canary(lambda x, inputs: 1000 * x, lambda x, case: 1e6),
            recognise=_has("refused", "no features"),
        ),
        Misconception(
            "features of others",
            "Your canary shares a feature with others. Then they move the weights in the same direction, and what you measure is not the canary "
            "alone. Use the feature that is 0 for everybody else.",
            _canary(lambda x, inputs: 1 - x, lambda x, case: 1e6),
            recognise=_has("shared", "no features", "refused"),
        ),
        Misconception(
            "an ordinary person",
            "Your canary's gradient is shorter than clip_norm even at weights 0, where its length is 2 |y| times that of x. It is not clipped, and "
            "moves the sum by less than it may. Give it a target that is far off, compared with `longest` and with `clip_norm`.",
            _canary(target=lambda x, case: case["clip_norm"] / 4),
            recognise=_has("short", "no features", "refused", "shared"),
        ),
        Misconception(
            "at the start only",
            "Your canary is clipped while the weights are near 0. When they have grown towards its target its gradient becomes shorter than "
            "clip_norm: then it moves the sum by less than it may. |w·x| can be as large as `longest` times the length of x.",
            _canary(target=lambda x, case: 1.01 * case["clip_norm"] / 2),
            recognise=_has("short later", "no features", "refused", "shared", "short"),
        ),
    ),
)


# ---- 6.8 many canaries in one run


def _draw_guesses(rng):
    """One run that proves something, one that proves little, one that proves nothing."""
    cases = []
    for share in (rng.uniform(0.85, 0.95), rng.uniform(0.7, 0.8), 0.5):
        guesses = int(rng.integers(60, 300))
        cases.append(
            {"correct": round(share * guesses), "guesses": guesses, "confidence": float(rng.choice([0.9, 0.95, 0.99]))}
        )
    return cases


def _one_run(share=_lower, epsilon=logit, each=lambda confidence: confidence, least=0.0):
    return lambda correct, guesses, confidence: float(max(least, epsilon(share(correct, guesses, each(confidence)))))


one_run = Exercise(
    id="6.8",
    title="ε from one run",
    function="one_run_epsilon",
    good_for="auditing what is too dear to be run twice",
    difficulty=3,
    minutes=12,
    points=2,
    draw=_draw_guesses,
    reference=_one_run(),
    returns=a_number,
    forbidden=(audit.one_run_epsilon_lower_bound, audit.one_run_p_value, audit.one_run_mu_lower_bound),
    hints=(
        "Under ε-DP each guess is right with a chance of at most p = e^ε / (1 + e^ε). First bound p from below: how small may it be, if so "
        "many guesses were right?",
        "The lower bound of Clopper and Pearson is `scipy.stats.beta.ppf(1 - confidence, correct, guesses - correct + 1)`. Then ε = ln(p / (1 - p)), "
        "and 0 where that is negative.",
    ),
    misconceptions=(
        Misconception(
            "the share itself",
            "You took the share of right guesses for their chance. It may be that large by luck. Bound the chance from below first.",
            _one_run(_share),
        ),
        Misconception(
            "bound from above",
            "You bounded the chance of a right guess from above. Here a large chance speaks against the promise, so it must be bounded from below.",
            _one_run(_upper),
        ),
        Misconception(
            "wrong guesses too few",
            "You asked for which p *more* than `correct` right guesses are rare. What was seen belongs to the event: `correct` or more. So it is "
            "with `audit.clopper_pearson` and the risk in place of the confidence: it counts `correct` or fewer. For the lower bound the "
            "parameters of `beta.ppf` are correct and guesses - correct + 1.",
            _one_run(lambda v, r, c: float(betaincinv(v + 1, r - v, 1 - c))),
        ),
        Misconception(
            "half of the risk",
            "You gave the bound half of the risk. There is one bound only here, so it gets all of it.",
            _one_run(each=lambda confidence: (1 + confidence) / 2),
        ),
        Misconception(
            "risk for confidence",
            "You exchanged the confidence and the risk: 1 - confidence belongs into `beta.ppf` for a lower bound.",
            _one_run(each=lambda confidence: 1 - confidence),
        ),
        Misconception(
            "negative",
            "One of your results is negative. Who guesses like a coin proves nothing: the bound is 0.",
            _one_run(least=-math.inf),
        ),
        Misconception(
            "p for the ratio",
            "You took -ln(1 - p), as if the other guesses counted for 1. ε is the logarithm of p / (1 - p).",
            _one_run(epsilon=lambda p: -math.log1p(-p)),
        ),
        Misconception(
            "over a coin",
            "You compared p with that of a coin, 1/2. What ε bounds is the ratio of right to wrong, p / (1 - p).",
            _one_run(epsilon=lambda p: math.log(2 * p)),
        ),
        Misconception(
            "ratio",
            "You returned e^ε. Take the logarithm.",
            _one_run(epsilon=lambda p: p / (1 - p)),
        ),
        Misconception(
            "advantage",
            "You returned 2p - 1, the advantage over a coin. ε is the logarithm of p / (1 - p).",
            _one_run(epsilon=lambda p: 2 * p - 1),
        ),
        Misconception(
            "normal",
            "You used the normal approximation for the chance. It does not hold with the stated confidence; solve the binomial equation itself.",
            _one_run(lambda v, r, c: v / r - float(ndtri(c)) * math.sqrt(v / r * (1 - v / r) / r)),
        ),
        Misconception(
            "Hoeffding",
            "You used Hoeffding's bound. It is true, but proves less than the binomial equation itself.",
            _one_run(lambda v, r, c: v / r - math.sqrt(-math.log(1 - c) / 2 / r)),
        ),
    ),
)


# ---- 6.9 five suspects

LETTERS = "ABCDE"
KEEPS = "correct"


def _draw_suspects(rng):
    """Five line-ups; the one that keeps its promise has another letter in each, so that no fixed answer is right.

    Who takes shares of errors for rates accuses it in every other line-up, and so is right in all five 3 times in 100.
    """
    seeds = {}
    while len(seeds) < len(LETTERS):
        seed = int(rng.integers(2**31))
        seeds.setdefault(next(letter for letter, name in _names(seed).items() if name == KEEPS), seed)
    return [
        {
            "seed": seed,
            "clip_norm": rounded(rng.uniform(0.5, 2)),
            "mu": rounded(rng.uniform(0.8, 1.2)),
            "rng": int(rng.integers(2**31)),
        }
        for seed in seeds.values()
    ]


def _names(seed):
    """Letter -> name of the mechanism; in the order that audit.suspects(seed) has."""
    order = np.random.default_rng(seed).permutation(len(audit.MECHANISMS))
    return {letter: audit.MECHANISMS[i].__name__ for letter, i in zip(LETTERS, order, strict=True)}


def _letters(value, case):
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        return f'Return a list of letters, such as `["B", "D"]`, not {type_name(value)}.'
    strange = [item for item in value if not isinstance(item, str) or item not in tuple(LETTERS)]
    if strange:
        return f"The letters are A to E, and your list holds {strange[0]!r}."
    return None


def _accused(value, case):
    names = _names(case["seed"])
    return {names[letter] for letter in value}


BROKEN = {mechanism.__name__ for mechanism in audit.MECHANISMS} - {KEEPS}


def _suspects_law(value, case):
    accused = _accused(value, case)
    free = ", ".join(letter for letter, name in sorted(_names(case["seed"]).items()) if name in BROKEN - accused)
    seen = [f"{free} should be accused too"] if free else []
    seen += ["one of these keeps its promise"] if KEEPS in accused else []
    return accused == BROKEN, "; ".join(seen) or "right"


def _each(cases, values):
    """Who is accused, for each case."""
    return [_accused(value, case) for case, value in zip(cases, values, strict=True)]


def _always(*names):
    """recognise: in every case exactly these are accused."""
    return lambda cases, values: all(accused == set(names) for accused in _each(cases, values))


def _missed(*names):
    """recognise: these are missed in some case."""
    return lambda cases, values: any(not accused & set(names) for accused in _each(cases, values))


FEATURES = 16


def _ones(clip_norm):
    return np.full(FEATURES, 10 * clip_norm)


def _one_coordinate(clip_norm):
    return 10 * clip_norm * np.eye(FEATURES)[0]


def _views(outputs):
    """What is looked at in the outputs of many runs: the first round, and the difference of both."""
    return outputs[:, 0], outputs[:, 0] - outputs[:, 1]


def _proved(each, runs_in, runs_out, clip_norm):
    """The mu that is proved with a threshold fixed before: half of what a canary can move."""
    return audit.mu_lower_bound(runs_in, runs_out, each, threshold=clip_norm / 2)


def _audit(runs, canary=_ones, views=_views, risk=1e-7, proved=_proved):
    """Accuse each suspect for whom an audit with a canary in the first round proves more than mu."""

    def code(seed, clip_norm, mu, rng):
        row = canary(clip_norm)
        nobody, only_canary = np.zeros((0, len(row))), row[None, :]
        accused = []
        for letter, mechanism in audit.suspects(seed).items():
            seen_in, seen_out = (
                views(np.array([mechanism((first, nobody), clip_norm, mu, rng) for _ in range(runs)]) @ _unit(row))
                for first in (only_canary, nobody)
            )
            mus = [
                proved(1 - risk / len(seen_in), within, without, clip_norm)
                for within, without in zip(seen_in, seen_out, strict=True)
            ]
            accused += [letter] * (max(mus) > mu)
        return accused

    return code


def _unit(row):
    return row / np.linalg.norm(row)


def _by_shares(each, runs_in, runs_out, clip_norm):
    """The best mu of all thresholds by the shares of errors, without any bound."""
    thresholds = np.sort(np.r_[runs_in, runs_out])
    alpha = 1 - np.searchsorted(np.sort(runs_out), thresholds, side="right") / len(runs_out)
    beta = np.searchsorted(np.sort(runs_in), thresholds, side="right") / len(runs_in)
    return float(np.max(-ndtri(np.maximum(alpha, 1e-6)) - ndtri(np.maximum(beta, 1e-6))))


def _at_any_threshold(each, runs_in, runs_out, clip_norm):
    return audit.mu_lower_bound(runs_in, runs_out, each)


suspects = OpenExercise(
    id="6.9",
    title="Five suspects",
    function="accused",
    good_for="an audit from the canary to the verdict: what you would do to a program that somebody hands you",
    difficulty=4,
    minutes=35,
    points=5,
    draw=_draw_suspects,
    reference=_audit(1000),
    returns=_letters,
    law=_suspects_law,
    seconds=30.0,
    hints=(
        "The canary goes into the first round, the second stays empty. It should be far longer than clip_norm, and point along a diagonal, not "
        "along one axis. What would each of the four mistakes do to it?",
        "Two scores are worth a look: the first round in the canary's direction, and the *difference* of both rounds in that direction. Noise "
        "that is used twice is gone from the difference. Each score gets half of the risk.",
        "For each suspect: 1,000 runs with the canary and 1,000 without, `outputs @ direction`, and "
        "`audit.mu_lower_bound(scores_in, scores_out, confidence=1 - 1e-8, threshold=clip_norm / 2)` for both scores. Accuse if one of them is "
        "above mu. Start from `nobody = np.zeros((0, 16))` and `canary = np.full((1, 16), 10 * clip_norm)`.",
    ),
    misconceptions=(
        Misconception(
            "nobody accused",
            "You accuse nobody, and four of the five break their promise. Is your bound ever above mu?",
            lambda seed, clip_norm, mu, rng: [],
            recognise=_always(),
        ),
        Misconception(
            "the honest one",
            "You returned the one that keeps its promise. Return the others, those that break it.",
            lambda seed, clip_norm, mu, rng: [letter for letter, name in _names(seed).items() if name == KEEPS],
            recognise=_always(KEEPS),
        ),
        Misconception(
            "the honest one accused",
            "You accuse also the one that keeps its promise. An accusation needs proof. Did you compare shares of errors with the promise, or "
            "choose the threshold on the same scores without paying for it? By luck alone an honest mechanism looks guilty then. Use a lower "
            "bound on mu, with a confidence near 1.",
            _audit(100, proved=_by_shares),
            recognise=lambda cases, values: any(KEEPS in accused for accused in _each(cases, values)),
        ),
        Misconception(
            "each round alone",
            "One of them uses its noise twice, and that cannot be seen in one round alone. Look at the difference of the two rounds as well.",
            _audit(400, views=lambda outputs: _views(outputs)[:1], risk=1e-4),
            recognise=_missed("reused_noise"),
        ),
        Misconception(
            "canary too short",
            "Your canary is too tame: it is no longer than clip_norm. Then clipping leaves it as it is, and you cannot see whether anything "
            "was clipped, nor how. Make it far longer.",
            _audit(400, canary=lambda clip_norm: np.full(FEATURES, clip_norm / math.sqrt(FEATURES)), risk=1e-4),
            recognise=_missed("wrong_sensitivity", "unclipped"),
        ),
        Misconception(
            "one coordinate",
            "Your canary points along one coordinate. Who clips each coordinate by itself shortens it just as who clips the whole vector. Let it "
            "point along a diagonal.",
            _audit(400, canary=_one_coordinate, risk=1e-4),
            recognise=_missed("wrong_sensitivity"),
        ),
        Misconception(
            "too few runs",
            "One of them has half of the noise, and you did not see it. Either there are too few runs (it takes several hundred of each kind), or "
            "the threshold is badly placed.",
            _audit(40, lambda clip_norm: np.full(100, 10 * clip_norm), risk=1e-3, proved=_at_any_threshold),
            recognise=_missed("half_noise"),
        ),
    ),
)

EXERCISES = (
    error_rates,
    at_most,
    mu_at_least,
    epsilon_at_least,
    runs_needed,
    best_mu,
    canary,
    one_run,
    suspects,
)

QUIZ = (
    Question(
        "A mechanism is promised to be 1-GDP. An attack on 200 runs each has the shares of errors (0.10, 0.40), and G₁(0.10) = 0.61. Is the promise broken?",
        (
            Option(
                "Yes: the point lies below the curve.",
                False,
                "It lies below, but it is a point from 200 runs. What counts is whether its bounds lie below.",
            ),
            Option(
                "That takes upper bounds on both rates first.",
                True,
                "With 95 % confidence the bounds are about (0.15, 0.47), and G₁(0.15) = 0.51. So here they do refute it, but only they can say so.",
            ),
            Option(
                "No: no attack can refute a proof.",
                False,
                "It cannot refute the proof, but it can refute that this program is what the proof speaks of.",
            ),
        ),
    ),
    Question(
        "An audit of the best attacks you know gives μ at least 0.3, with 95 % confidence. What do you tell the press office?",
        (
            Option(
                "The mechanism is 0.3-GDP.",
                False,
                "That would be an upper bound on what it leaks. You have a lower one: a better attack may find more.",
            ),
            Option(
                "With 95 % probability its μ is 0.3.",
                False,
                "The bound says that μ is hardly less. How much more it is, nobody knows from this.",
            ),
            Option(
                "It leaks at least that much; how much at most, only a proof says.",
                True,
                "Lower bounds come from attacks, upper bounds from proofs. The truth is in between.",
            ),
        ),
    ),
    Question(
        "You try twenty attacks on the same scores and report the one with the best bound, at 95 % confidence. What is that bound worth?",
        (
            Option(
                "It holds if each bound had a twentieth of the risk.",
                True,
                "Then all twenty hold at once with 95 % confidence, and you may choose among them after a look.",
            ),
            Option(
                "It holds with 95 % confidence.",
                False,
                "Each single one would. That the best of twenty holds is another statement.",
            ),
            Option(
                "Nothing: one must never look twice.",
                False,
                "One may, if one pays for it: share the risk out, or choose on other runs than those that decide.",
            ),
        ),
    ),
    Question(
        "Which canary belongs into an audit of a sum of vectors that are clipped to R?",
        (
            Option(
                "One that looks like a typical person, for it is about them.",
                False,
                "The promise is for every person, also the most unusual. A typical one hides among the others.",
            ),
            Option(
                "One so long that it would be clipped, in a direction of its own.",
                True,
                "It moves the sum by the full R where nothing else moves, and it shows whether clipping happens at all.",
            ),
            Option(
                "A copy of Mia, so that there are two of her.",
                False,
                "A copy points where Mia points. A direction of its own and full length make the best of one person.",
            ),
        ),
    ),
    Question(
        "Five hundred canaries toss coins, one model is trained, and you guess for each of them. 300 guesses are right. What helps to prove more?",
        (
            Option(
                "Guess only for those whose scores are extreme.",
                True,
                "Abstaining is free, as long as the number of guesses is fixed before. Fewer guesses of which nearly all are right prove more than many of which 60 % are.",
            ),
            Option(
                "Guess for all, for every guess is a datum.",
                False,
                "A guess that is hardly better than a coin's pulls the share down to 1/2, and a share near 1/2 proves nothing.",
            ),
            Option(
                "Train again with the same coins.",
                False,
                "That is a second run, which you wanted to save. And the guesses would concern the same coins.",
            ),
        ),
    ),
    Question(
        "Ten million audits found nothing. A mechanism publishes all of its data with probability 10⁻⁹, and otherwise adds good noise. Is it private?",
        (
            Option(
                "Yes, as far as anybody can tell.",
                False,
                "Whoever reads the code can tell. An audit only sees what happens in its runs.",
            ),
            Option(
                "No: an audit with more confidence would have found it.",
                False,
                "Confidence is about the risk of a false accusation. It does not make rare events frequent.",
            ),
            Option(
                "With δ = 10⁻⁹ perhaps; no audit of that size could tell.",
                True,
                "It would take some billions of runs to see it once. A proof speaks of all outputs, seen or not.",
            ),
        ),
    ),
)
