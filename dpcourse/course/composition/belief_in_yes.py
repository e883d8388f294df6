"""Recover Mia's answer from her reports."""

import math

import numpy as np

from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Several, a_number, rounded


def _draw_reports(rng):
    """Reports with an ε each, and no prior of one half: few; many; and a majority that one dear report overrules."""
    return [_reports(rng, where) for where in ("few", "many", "overruled")]


def _reports(rng, where):
    yeses, noes, low = {"few": (2, 1, True), "many": (int(rng.integers(2, 4)), 4, False), "overruled": (3, 1, True)}[
        where
    ]
    epsilons = rng.uniform(0.2, 0.9, size=yeses + noes)
    bits = np.array([1] * yeses + [0] * noes)
    if where == "overruled":
        epsilons[:yeses], epsilons[-1] = rng.uniform(0.2, 0.4, size=yeses), rng.uniform(1.5, 2)
    order = rng.permutation(bits.size)
    prior = rng.uniform(0.15, 0.4) if low else rng.uniform(0.6, 0.85)
    return {
        "reports": bits[order],
        "epsilons": np.array([rounded(epsilon) for epsilon in epsilons[order]]),
        "prior": rounded(prior),
    }


def _signs(reports):
    return 2 * np.asarray(reports) - 1


def _belief(log_odds):
    return 1 / (1 + math.exp(-log_odds))


def _before(prior):
    return math.log(prior / (1 - prior))


def _reference(reports, epsilons, prior):
    return _belief(_before(prior) + float(np.sum(_signs(reports) * epsilons)))


def _with_loss(loss):
    """The right answer but for the loss of all reports together: loss(signs, epsilons)."""

    def code(reports, epsilons, prior):
        return _belief(_before(prior) + float(loss(_signs(reports), epsilons)))

    return code


def _likelihoods(reports, epsilons):
    """The chance of these reports if the truth is yes, and if it is no."""
    keep, kept = 1 / (1 + np.exp(-epsilons)), np.asarray(reports) == 1
    return float(np.where(kept, keep, 1 - keep).prod()), float(np.where(kept, 1 - keep, keep).prod())


def _by_coins(reports, epsilons, prior):
    """As learners write it who count chances and not odds."""
    yes, no = prior, 1 - prior
    for report, epsilon in zip(reports, epsilons, strict=True):
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        if report == 1:
            yes, no = yes * keep, no * (1 - keep)
        else:
            yes, no = yes * (1 - keep), no * keep
    return yes / (yes + no)


def _by_odds(reports, epsilons, prior):
    odds = prior / (1 - prior)
    for report, epsilon in zip(reports, epsilons, strict=True):
        odds *= math.exp(epsilon if report == 1 else -epsilon)
    return odds / (1 + odds)


exercise = Exercise(
    title="Recover Mia",
    good_for="seeing a promise from the other side: what somebody gets who collects everything",
    difficulty=3,
    minutes=25,
    points=3,
    domain=Domain(
        {
            "reports": Several(OneOf((0, 1)), 1, 10, array=True),
            "epsilons": Several(Number(0.01, 3), like="reports", array=True),
            "prior": Number(0.01, 0.99),
        }
    ),
    draw=_draw_reports,
    reference=_reference,
    formulas=(_by_odds, _by_coins),
    means={
        "prior / (1 - prior)": "the odds before the reports",
        "np.sum(_signs(reports) * epsilons)": "the sum of the epsilons, of a no with a minus",
        "_signs(reports)": "1 for a yes, -1 for a no",
        "_signs(reports) * epsilons": "each epsilon, of a no with a minus",
        "math.exp(epsilon if report == 1 else -epsilon)": "the factor of one report",
    },
    returns=a_number,
    possible=Number(0, 1),
    hints=(
        "In section 3 one answer multiplied the odds by at most e^epsilon. You hold the report itself, so you know by how much, and in which "
        "direction. Divide the chance of a no report if the truth is yes by its chance if the truth is no.",
        "The coins of different reports are independent, so their factors multiply: start from the odds before, and take the "
        "reports one by one with `for report, epsilon in zip(reports, epsilons)`. In the end you have odds, and not yet a belief.",
    ),
    misconceptions=(
        Misconception(
            "noes ignored",
            "Only the yes reports moved your odds. A report of no is evidence too: it multiplies the odds of yes by e^-epsilon.",
            _with_loss(lambda signs, epsilons: epsilons[signs > 0].sum()),
        ),
        Misconception(
            "worst case",
            "You moved the odds by e^epsilon for each report, whatever it said. That is the promise of {sequential_composition} and {worst_posterior}, a bound for all "
            "reports that might have come. These have come: a no moves the odds down.",
            _with_loss(lambda signs, epsilons: epsilons.sum()),
        ),
        Misconception(
            "downwards",
            "Your odds go the wrong way: a report of yes makes a true yes more likely, and a report of no less.",
            _with_loss(lambda signs, epsilons: -(signs * epsilons).sum()),
        ),
        Misconception(
            "prior forgotten",
            "You began at one half. This attacker believes `prior` before he sees a report: begin with the odds prior / (1 - prior).",
            lambda reports, epsilons, prior: _reference(reports, epsilons, 0.5),
        ),
        Misconception(
            "prior each time",
            "The prior went in once for each report. What he believed before is counted once; the reports multiply it.",
            lambda reports, epsilons, prior: _belief(
                len(reports) * _before(prior) + float(np.sum(_signs(reports) * epsilons))
            ),
        ),
        Misconception(
            "last report",
            "Only the last report counts in your result. Is there an `=` in the loop that begins anew with the prior each time?",
            _with_loss(lambda signs, epsilons: signs[-1] * epsilons[-1]),
        ),
        Misconception(
            "first report",
            "Only the first report counts in your result. Is there a `return` inside the loop?",
            _with_loss(lambda signs, epsilons: signs[0] * epsilons[0]),
        ),
        Misconception(
            "majority",
            "Each report moved your odds equally far. A report with a large epsilon is more often true than one with a small epsilon: "
            "each moves the odds by its own.",
            _with_loss(lambda signs, epsilons: signs.sum() * epsilons.mean()),
        ),
        Misconception(
            "first epsilon for all",
            "You used the first epsilon for every report. Each report has its own.",
            _with_loss(lambda signs, epsilons: signs.sum() * epsilons[0]),
        ),
        Misconception(
            "share of yeses",
            "You returned the share of yes reports. It is neither a belief nor fair to reports that are more often true than others: "
            "multiply odds.",
            lambda reports, epsilons, prior: float(np.mean(reports)),
        ),
        Misconception(
            "odds",
            "Those are the odds after the reports. Turn them back into a probability: odds / (1 + odds).",
            lambda reports, epsilons, prior: math.exp(_before(prior) + float(np.sum(_signs(reports) * epsilons))),
        ),
        Misconception(
            "log odds",
            "That is the logarithm of the odds. Go back to the odds, `math.exp`, and then to a probability.",
            lambda reports, epsilons, prior: _before(prior) + float(np.sum(_signs(reports) * epsilons)),
        ),
        Misconception(
            "loss",
            "That is the privacy loss of all reports together: the logarithm of the factor on the odds. It still has to move the prior.",
            lambda reports, epsilons, prior: float(np.sum(_signs(reports) * epsilons)),
        ),
        Misconception(
            "belief multiplied",
            "You multiplied the belief. It can pass 1 that way. It is the odds, prior / (1 - prior), that are multiplied.",
            lambda reports, epsilons, prior: prior * math.exp(float(np.sum(_signs(reports) * epsilons))),
        ),
        Misconception(
            "epsilon as factor",
            "You multiplied and divided the odds by epsilon. The factor is e^epsilon.",
            _with_loss(lambda signs, epsilons: (signs * np.log(epsilons)).sum()),
        ),
        Misconception(
            "keep for the factor",
            "You multiplied the odds by the chance of each report if the truth is yes. Divide it by the chance of the same report if the truth is no.",
            lambda reports, epsilons, prior: _belief(_before(prior) + math.log(_likelihoods(reports, epsilons)[0])),
        ),
        Misconception(
            "chance of these reports",
            "That is the chance that the truth is yes and these reports come. Divide it by the chance of these reports, whatever the truth.",
            lambda reports, epsilons, prior: prior * _likelihoods(reports, epsilons)[0],
        ),
        Misconception(
            "guess",
            "You returned a guess. The guess comes after the belief: return the probability that her answer is yes.",
            lambda reports, epsilons, prior: float(np.mean(reports) > 0.5),
            recognise=lambda cases, values: set(values) == {0, 1},
        ),
        Misconception(
            "prior as odds",
            "You began with `prior` as if it was the odds. The odds are prior / (1 - prior).",
            lambda reports, epsilons, prior: _reference(reports, epsilons, prior / (1 + prior)),
        ),
        Misconception(
            "mean loss",
            "You took the mean of the losses. Each report moves the odds by its own factor, and the factors multiply: the losses add.",
            _with_loss(lambda signs, epsilons: (signs * epsilons).mean()),
        ),
        Misconception(
            "average",
            "You averaged what each report alone leaves to believe. Together they tell more than each: multiply the odds by one factor after the other.",
            lambda reports, epsilons, prior: float(
                np.mean([_belief(_before(prior) + sign * e) for sign, e in zip(_signs(reports), epsilons, strict=True)])
            ),
        ),
        Misconception(
            "one likelihood each",
            "Your yes reports weigh only on yes, and your no reports only on no. Each report has a chance under both: keep under one, "
            "1 - keep under the other.",
            lambda reports, epsilons, prior: _belief(
                _before(prior) - float(np.sum(_signs(reports) * np.log1p(np.exp(-epsilons))))
            ),
        ),
        Misconception(
            "complement",
            "If the truth is no, the chance of these reports is not 1 minus their chance if it is yes: there are other reports that might have "
            "come. Multiply the chances of the single reports again.",
            lambda reports, epsilons, prior: _belief(
                _before(prior) + math.log((yes := _likelihoods(reports, epsilons)[0]) / (1 - yes))
            ),
        ),
        Misconception(
            "prior above only",
            "The prior stands above the line only. Below it belong the chance of yes with these reports and the chance of no with them: "
            "each has its prior.",
            lambda reports, epsilons, prior: prior * _reference(reports, epsilons, 0.5),
        ),
    ),
)
