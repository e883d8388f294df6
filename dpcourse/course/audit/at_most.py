"""What an error rate is at most."""

import math

from scipy.special import betaincinv, gammaincinv, ndtri
from scipy.stats import binom

from dpcourse import audit
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Whole, a_number
from dpcourse.course.audit.shared import lower_bound, next_on_grid, upper_bound


def _draw_counts(rng):
    trials = [int(rng.integers(150, 900)) for _ in range(4)]
    confidence = [float(rng.choice([0.9, 0.95, 0.98, 0.99])) for _ in range(4)]
    errors = [int(rng.integers(3, 12)), int(trials[1] * rng.uniform(0.2, 0.7)), 0, trials[3]]
    return [{"errors": k, "trials": n, "confidence": c} for k, n, c in zip(errors, trials, confidence, strict=True)]


def _finite_bound(value, case):
    complaint = a_number(value, case)
    if complaint and case["errors"] == case["trials"] and isinstance(value, float):
        return say(
            "Here all trials were errors, and the result is not a number. Nothing speaks against an error rate of 1 then: return 1."
        )
    if complaint and case["errors"] == 0 and isinstance(value, float):
        return say(
            "Here there was no error, and the result is not a number. Is the first parameter of `beta.ppf` 0? So it is for a bound from below, and "
            "for *fewer* than `errors` errors. A bound from above is about `errors` or fewer, and takes errors + 1."
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


def _poisson(errors, trials, confidence):
    return min(1.0, float(gammaincinv(errors + 1, confidence)) / trials)


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


def _written(errors, trials, confidence):
    """As learners write it, who have it as beta.ppf."""
    return 1.0 if errors == trials else betaincinv(errors + 1, trials - errors, confidence)


exercise = Exercise(
    title="What an error rate is at most",
    good_for="saying something certain about a probability of which you saw a sample",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain(
        {"errors": Whole(0, 1000), "trials": Whole(1, 1000), "confidence": OneOf((0.9, 0.95, 0.98, 0.99))},
        where=lambda errors, trials, confidence: errors <= trials,
        where_told=to_say("no more errors than trials"),
    ),
    draw=_draw_counts,
    formulas=(_written,),
    reference=upper_bound,
    means={
        "errors + 1": "the first parameter of the law beta, one more than the errors",
        "trials - errors": "the second parameter of the law beta, the number of trials without an error",
        "betaincinv(errors + 1, trials - errors, confidence)": "the quantile of the law beta at `confidence`",
    },
    returns=_finite_bound,
    possible=Number(0, 1),
    forbidden=(audit.clopper_pearson, audit.upper_bound),
    hints=(
        "Try rates: `scipy.stats.binom.cdf(errors, trials, rate)` is the chance of so few errors at that rate. It falls as the rate grows. For one rate "
        "it is 1 - confidence, and that rate is the answer. If every trial was an error there is none: return 1.",
        "Halve the interval from 0 to 1 fifty times: where the chance is still above 1 - confidence, the answer is larger. Or without a loop: the "
        "chance of more than k errors in n trials is the chance that a Beta(k + 1, n - k) number lies below the rate. Which quantile of it, "
        "`scipy.stats.beta.ppf`, is asked for?",
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
            lower_bound,
        ),
        Misconception(
            "two-sided",
            "You took the upper end of a two-sided interval, and left half of the risk on a side that nobody asked about. All of it goes to "
            "the upper side here.",
            lambda errors, trials, confidence: upper_bound(errors, trials, (1 + confidence) / 2),
        ),
        Misconception(
            "one error too few",
            "You asked for which rate *fewer* than `errors` errors are rare. What was seen belongs to the event: `errors` or fewer.",
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
            lambda errors, trials, confidence: upper_bound(errors, trials, 1 - confidence),
        ),
        Misconception(
            "Poisson",
            "You took the Poisson law for the number of errors, as `chi2` does: an approximation, which is good where errors are rare. In `trials` runs the "
            "number of errors is binomial. Solve the binomial equation itself.",
            _poisson,
            recognise=_unless_all_errors(_poisson),
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
            "grid",
            "Your rate is the next larger one of a grid: you tried rates that lie too far apart, or rounded up. Where the chance passes 1 - confidence "
            "between two of them, halve the interval again and again, or take the quantile.",
            **next_on_grid(upper_bound),
        ),
        Misconception(
            "errors as share",
            "You counted what went right in place of what went wrong.",
            lambda errors, trials, confidence: upper_bound(trials - errors, trials, confidence),
        ),
    ),
)
