"""The μ that an attack proves."""

import math

from scipy.special import ndtr, ndtri

from dpcourse import audit
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Whole, a_number, any_of
from dpcourse.course.audit.shared import error_share, lower_bound, mu_of_errors, upper_bound


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


def _mu_at_least(
    alpha=upper_bound, beta=upper_bound, each=lambda confidence: (1 + confidence) / 2, mu=mu_of_errors, least=0.0
):
    def code(false_alarms, misses, runs, confidence):
        level = each(confidence)
        return float(max(least, mu(alpha(false_alarms, runs, level), beta(misses, runs, level))))

    return code


def _epsilon_of_errors(alpha, beta):
    """The epsilon that rates of errors prove."""
    return max(audit.largest_log_ratio(1 - alpha, beta), audit.largest_log_ratio(1 - beta, alpha))


def _pooled(errors, trials, level):
    rate = upper_bound(errors, trials, level)
    return max(0.0, mu_of_errors(rate, rate))


def _written(false_alarms, misses, runs, confidence):
    """As learners write it."""
    each = 1 - (1 - confidence) / 2
    alpha, beta = upper_bound(false_alarms, runs, each), upper_bound(misses, runs, each)
    return max(0.0, -ndtri(alpha) - ndtri(beta))


exercise = Exercise(
    title="The μ that an attack proves",
    good_for="the whole of an audit in three lines",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain(
        {
            "false_alarms": Whole(0, 2000),
            "misses": Whole(0, 2000),
            "runs": Whole(10, 2000),
            "confidence": OneOf((0.9, 0.95, 0.98, 0.99)),
        },
        where=lambda false_alarms, misses, runs, confidence: max(false_alarms, misses) <= runs,
        where_told=to_say("no more errors than runs"),
    ),
    draw=_draw_audit,
    formulas=(_written,),
    reference=_mu_at_least(),
    means={
        "(1 - confidence) / 2": "the risk that each of the two bounds may take",
        "1 - (1 - confidence) / 2": "the confidence of each of the two bounds",
        "upper_bound(false_alarms, runs, each)": "the upper bound on the rate of false alarms",
        "upper_bound(misses, runs, each)": "the upper bound on the rate of misses",
        "-ndtri(alpha) - ndtri(beta)": "the mu of the two bounds, before it is cut at 0",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(audit.mu_lower_bound, audit.empirical_tradeoff, audit.error_bounds),
    hints=(
        "Two error rates are unknown, so two bounds are needed, and both must hold at once. If each fails with half of the risk, both hold with "
        "the confidence asked for.",
        "`confidence` 0.95 leaves a risk of 0.05, and each bound may fail with 0.025: `audit.clopper_pearson` takes the confidence 0.975 then. Write that "
        "for any confidence. Φ⁻¹ is `norm.ppf`, which is negative for small rates.",
    ),
    misconceptions=(
        Misconception(
            "points",
            "You took the shares of errors for the error rates. In a sample they may be smaller than in truth by luck, and then you accuse an "
            "honest mechanism. Take an upper bound on each.",
            _mu_at_least(error_share, error_share),
        ),
        Misconception(
            "epsilon for mu",
            "You took the logarithm of a quotient of rates: that is the ε that the attack proves. Asked for is μ, made of two quantiles, -Φ⁻¹(α) - Φ⁻¹(β).",
            _mu_at_least(mu=_epsilon_of_errors),
        ),
        Misconception(
            "union forgotten",
            "You gave each of the two bounds the whole risk. Then together they may fail with twice of it. Give each a half.",
            _mu_at_least(each=lambda confidence: confidence),
        ),
        Misconception(
            "only alpha",
            "You bounded the false alarms and took the misses as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(beta=error_share),
        ),
        Misconception(
            "only alpha, all the risk",
            "You bounded the false alarms, with all of the risk, and took the misses as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(beta=error_share, each=lambda confidence: confidence),
        ),
        Misconception(
            "only beta",
            "You bounded the misses and took the false alarms as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(alpha=error_share),
        ),
        Misconception(
            "only beta, all the risk",
            "You bounded the misses, with all of the risk, and took the false alarms as you saw them. Both rates are unknown, and both need a bound.",
            _mu_at_least(alpha=error_share, each=lambda confidence: confidence),
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
            _mu_at_least(lower_bound, lower_bound, mu=lambda a, b: mu_of_errors(max(a, 1e-9), max(b, 1e-9))),
        ),
        Misconception(
            "hits from above",
            "You bounded the misses from below, or the hits from above, which is the same. For a proof both errors need a bound from above.",
            _mu_at_least(beta=lower_bound, mu=lambda a, b: mu_of_errors(a, max(b, 1e-9))),
        ),
        Misconception(
            "one minus outside",
            "You took 1 minus Φ⁻¹(alpha). The 1 minus belongs inside: Φ⁻¹(1 - alpha), which is -Φ⁻¹(alpha).",
            _mu_at_least(mu=lambda a, b: float(1 - ndtri(a) - ndtri(b))),
        ),
        Misconception(
            "sign",
            "The sign is wrong: Φ⁻¹ of a small rate is negative, and small errors must give a large mu. mu = -Φ⁻¹(alpha) - Φ⁻¹(beta).",
            _mu_at_least(mu=lambda a, b: -mu_of_errors(a, b), least=-math.inf),
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
            _mu_at_least(mu=lambda a, b: mu_of_errors((a + b) / 2, (a + b) / 2)),
        ),
        Misconception(
            "Φ for its inverse",
            "You took Φ of the rates, `norm.cdf`. It is Φ⁻¹, `norm.ppf`, that makes a threshold of a rate.",
            _mu_at_least(mu=lambda a, b: float(ndtr(1 - a) - ndtr(b))),
        ),
        Misconception(
            "absolute value",
            "You took the absolute value. Where the sum is negative the attack is no better than guessing and proves nothing: the bound is 0.",
            _mu_at_least(mu=lambda a, b: abs(mu_of_errors(a, b))),
        ),
        Misconception(
            "one rate for both",
            "You added up the errors of both kinds, and bounded one rate. They are two rates, and which of them is small is what counts: bound "
            "each, with half of the risk.",
            lambda false_alarms, misses, runs, confidence: _pooled(false_alarms + misses, 2 * runs, confidence),
            recognise=any_of(
                lambda false_alarms, misses, runs, confidence: _pooled(false_alarms + misses, 2 * runs, confidence),
                lambda false_alarms, misses, runs, confidence: _pooled(
                    false_alarms + misses, 2 * runs, (1 + confidence) / 2
                ),
            ),
        ),
        Misconception(
            "half of it",
            "You returned the distance of one error only. mu is the sum of both: -Φ⁻¹(alpha) - Φ⁻¹(beta).",
            _mu_at_least(mu=lambda a, b: float(-ndtri(a))),
        ),
    ),
)
