"""ε from one run."""

import math

from scipy.special import betaincinv, logit, ndtri

from dpcourse import audit
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Whole, a_number
from dpcourse.course.audit.shared import error_share, lower_bound, next_on_grid, upper_bound


def _draw_guesses(rng):
    """One run that proves something, one that proves little, one that proves nothing."""
    cases = []
    for share in (rng.uniform(0.85, 0.95), rng.uniform(0.7, 0.8), 0.5):
        guesses = int(rng.integers(60, 300))
        cases.append(
            {"correct": round(share * guesses), "guesses": guesses, "confidence": float(rng.choice([0.9, 0.95, 0.99]))}
        )
    return cases


def _one_run(share=lower_bound, epsilon=logit, each=lambda confidence: confidence, least=0.0):
    return lambda correct, guesses, confidence: float(max(least, epsilon(share(correct, guesses, each(confidence)))))


def _written(correct, guesses, confidence):
    """As learners write it, who have it as beta.ppf."""
    q = betaincinv(correct, guesses - correct + 1, 1 - confidence)
    return max(0.0, math.log(q / (1 - q)))


exercise = Exercise(
    title="ε from one run",
    good_for="auditing what is too expensive to be run twice",
    difficulty=3,
    minutes=10,
    points=2,
    domain=Domain(
        {"correct": Whole(1, 499), "guesses": Whole(2, 500), "confidence": OneOf((0.9, 0.95, 0.98, 0.99))},
        where=lambda correct, guesses, confidence: correct < guesses,
        where_told=to_say("fewer correct than guesses"),
    ),
    draw=_draw_guesses,
    formulas=(_written,),
    reference=_one_run(),
    means={
        "1 - confidence": "the risk, at which a bound from below is taken",
        "guesses - correct + 1": "the second parameter of the law beta, one more than the wrong guesses",
        "betaincinv(correct, guesses - correct + 1, 1 - confidence)": "the lower bound on the chance to guess right",
        "q / (1 - q)": "the odds of that bound",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(audit.one_run_epsilon_lower_bound, audit.one_run_p_value, audit.one_run_mu_lower_bound),
    hints=(
        "Two steps. First bound q from below: for which q would so many right guesses, `correct` or more, have a chance of only 1 - confidence? "
        "`scipy.stats.binom.sf(correct - 1, guesses, q)` is that chance. Then make ε of q.",
        "The chance of `correct` or more is the chance that a Beta(correct, guesses - correct + 1) number lies below q, so q is a quantile of it: "
        "`scipy.stats.beta.ppf`. Then solve q = e^ε / (1 + e^ε) for ε; return 0 where that is negative.",
    ),
    misconceptions=(
        Misconception(
            "the share itself",
            "You took the share of right guesses for their chance. It may be that large by luck. Bound the chance from below first.",
            _one_run(error_share),
        ),
        Misconception(
            "bound from above",
            "You bounded the chance of a right guess from above. Here a large chance speaks against the promise, so it must be bounded from below.",
            _one_run(upper_bound),
        ),
        Misconception(
            "wrong guesses too few",
            "You asked for which q *more* than `correct` right guesses are rare. What was seen belongs to the event: `correct` or more. So it is "
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
            "You exchanged the confidence and the risk: 1 - confidence belongs in `beta.ppf` for a lower bound.",
            _one_run(each=lambda confidence: 1 - confidence),
        ),
        Misconception(
            "negative",
            "Who guesses like a coin proves nothing: there the bound is 0, and yours is another number.",
            _one_run(least=-math.inf),
        ),
        Misconception(
            "size of the logarithm",
            "You took the logarithm without its sign. It is negative where the bound on q is below 1/2: there the run proves nothing, so return 0.",
            _one_run(epsilon=lambda p: abs(logit(p))),
        ),
        Misconception(
            "odds of a wrong guess",
            "You took the odds of a wrong guess. ε is the logarithm of those of a right one, q / (1 - q), with q bounded from below.",
            _one_run(epsilon=lambda p: -logit(p)),
        ),
        Misconception(
            "mu for epsilon",
            "You made a μ of q: 2 Φ⁻¹(q) is the μ for which a guess is right with chance q. For ε it is q = e^ε / (1 + e^ε): the logarithm of q / (1 - q).",
            _one_run(epsilon=lambda p: 2 * float(ndtri(p))),
        ),
        Misconception(
            "p for the ratio",
            "You took -ln(1 - q), as if the other guesses counted for 1. ε is the logarithm of q / (1 - q).",
            _one_run(epsilon=lambda p: -math.log1p(-p)),
        ),
        Misconception(
            "over a coin",
            "You compared q with that of a coin, 1/2. What ε bounds is the ratio of right to wrong, q / (1 - q).",
            _one_run(epsilon=lambda p: math.log(2 * p)),
        ),
        Misconception(
            "ratio",
            "You returned e^ε. Take the logarithm.",
            _one_run(epsilon=lambda p: p / (1 - p)),
        ),
        Misconception(
            "advantage",
            "You returned 2q - 1, the advantage over a coin. ε is the logarithm of q / (1 - q).",
            _one_run(epsilon=lambda p: 2 * p - 1),
        ),
        Misconception(
            "grid",
            "Your ε is the next larger one of a grid, or rounded up. That is more than the run proves. Solve for the bound itself, by a quantile, or "
            "halve the interval again and again.",
            **next_on_grid(_one_run()),
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
