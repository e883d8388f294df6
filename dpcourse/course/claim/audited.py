"""What an audit on fresh runs proves."""

import math

import numpy as np

from dpcourse import audit
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of

RUNS_TOLD = to_say("{name}: as many scores, 20 to 400 of each, an even number; those of `scores_in` are mostly higher")


def _scores(rng, runs, mu, shift=0.0):
    within, without = rng.normal(mu, 1, runs), rng.normal(0, 1, runs)
    within[: runs // 2] += shift  # so that the halves are seen to differ
    without[: runs // 2] += shift
    return np.round(within, 3), np.round(without, 3)


def _draw_runs(rng):
    rows = [(60, 100, 3.0, 0.8), (120, 200, 2.0, -0.5), (150, 200, 4.0, 0.6)]
    cases = []
    for low, high, mu, shift in rows:
        within, without = _scores(rng, 2 * int(rng.integers(low, high)), mu, shift)
        cases.append({"scores_in": within, "scores_out": without, "delta": 0.01})
    return cases


def _any_runs(rng):
    return _scores(rng, 2 * int(rng.integers(10, 201)), float(rng.uniform(0.5, 5)), float(rng.uniform(-1, 1)))


def _halves(scores):
    return scores[: len(scores) // 2], scores[len(scores) // 2 :]


def _written(scores_in, scores_out, delta):
    half = len(scores_in) // 2
    threshold = (np.mean(scores_in[:half]) + np.mean(scores_out[:half])) / 2
    return audit.epsilon_lower_bound(scores_in[half:], scores_out[half:], delta, threshold=threshold)


def _by(chosen=0, counted=1, confidence=0.95, with_delta=True):
    """Threshold and errors from these halves; None: from all runs."""

    def code(scores_in, scores_out, delta):
        some = [scores if chosen is None else _halves(scores)[chosen] for scores in (scores_in, scores_out)]
        others = [scores if counted is None else _halves(scores)[counted] for scores in (scores_in, scores_out)]
        threshold = (np.mean(some[0]) + np.mean(some[1])) / 2
        return audit.epsilon_lower_bound(*others, delta * with_delta, confidence, threshold=float(threshold))

    return code


def _one_whole(name):
    """Counted on the second half of one, and on all of this one."""

    def code(scores_in, scores_out, delta):
        threshold = float((np.mean(_halves(scores_in)[0]) + np.mean(_halves(scores_out)[0])) / 2)
        counted = {"scores_in": _halves(scores_in)[1], "scores_out": _halves(scores_out)[1]}
        counted |= {name: scores_in if name == "scores_in" else scores_out}
        return audit.epsilon_lower_bound(**counted, delta=delta, threshold=threshold)

    return code


def _shares(scores_in, scores_out, delta):
    """By the shares of errors, one at least, without any bound."""
    threshold = (np.mean(_halves(scores_in)[0]) + np.mean(_halves(scores_out)[0])) / 2
    within, without = _halves(scores_in)[1], _halves(scores_out)[1]
    alpha = max(np.mean(without > threshold), 1 / len(without))
    beta = max(np.mean(within <= threshold), 1 / len(within))
    return math.log(max(1.0, (1 - delta - beta) / alpha, (1 - delta - alpha) / beta))


def _attainable(runs, delta):
    """Every ε that an audit of so many runs of either kind can prove at one threshold."""
    beyond = np.array(audit.clopper_pearson(np.arange(runs + 1), runs, 0.975))
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.log(np.maximum(1 - delta - beyond[:, None], 0)) - np.log(beyond)
    return np.unique(np.maximum(one, one.T))


def _at_thresholds(scores_in, scores_out, delta):
    """The ε that the second halves prove at each of their own scores."""
    within, without = _halves(scores_in)[1], _halves(scores_out)[1]
    thresholds = np.unique(np.r_[within, without])
    misses = np.searchsorted(np.sort(within), thresholds, side="right")
    alarms = len(without) - np.searchsorted(np.sort(without), thresholds, side="right")
    beta, alpha = (audit.clopper_pearson(errors, len(within), 0.975) for errors in (misses, alarms))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [np.log(np.maximum(1 - delta - one, 0) / other) for one, other in ((alpha, beta), (beta, alpha))]
    return np.maximum(0.0, np.max(found, axis=0))


def _is_in(value, values):
    return bool(np.min(np.abs(values - value)) <= 1e-9 * abs(value))


def _other_halves(cases, values):
    """recognise: whether as many runs are counted as a half has, and somewhere they are not those of the second half."""
    others = 0
    for case, value in zip(cases, values, strict=True):
        runs, delta = len(case["scores_in"]) // 2, case["delta"]
        if value <= 0 or not _is_in(value, _attainable(runs, delta)):
            return False
        others += not _is_in(value, _at_thresholds(**case))
    return others > 0


def _best_of_all(cases, values):
    """recognise: whether the values are what the second halves prove at their best threshold, or nearly that, and too much."""
    return all(
        value > _written(**case) and 0.98 * (best := np.max(_at_thresholds(**case))) <= value <= best + 1e-9
        for case, value in zip(cases, values, strict=True)
    )


def _of_several(cases, values):
    """recognise: whether each value is proved by runs as many as a half has, and none is below that of the threshold asked for."""
    return all(
        value >= _written(**case) - 1e-9 and _is_in(value, _attainable(len(case["scores_in"]) // 2, case["delta"]))
        for case, value in zip(cases, values, strict=True)
    )


def _by_first(scores_in, scores_out, delta, first):
    """Chosen on so many of the first runs, counted on the rest."""
    threshold = float((np.mean(scores_in[:first]) + np.mean(scores_out[:first])) / 2)
    return audit.epsilon_lower_bound(scores_in[first:], scores_out[first:], delta, threshold=threshold)


def _fixed_half(cases, values):
    """recognise: whether the runs are split behind the same number of them in all cases."""
    if len({len(case["scores_in"]) for case in cases}) == 1:
        return False
    pairs = list(zip(cases, values, strict=True))
    most = min(len(case["scores_in"]) for case in cases)
    return any(
        all(_is_in(_by_first(**case, first=n), np.array([value])) for case, value in pairs) for n in range(1, most)
    )


exercise = Exercise(
    title="An audit on fresh runs",
    good_for="choosing an attack by looking, without paying for the look",
    difficulty=2,
    minutes=8,
    points=2,
    domain=Domain({"scores_in, scores_out": Made(_any_runs, RUNS_TOLD), "delta": Number(0, 0.05)}),
    draw=_draw_runs,
    reference=_written,
    means={
        "(np.mean(scores_in[:half]) + np.mean(scores_out[:half])) / 2": "the threshold, halfway between the two means of the first halves",
        "scores_in[half:]": "the second half of the runs with her",
        "scores_out[half:]": "the second half of the runs without her",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "`half = len(scores_in) // 2`. The first half is `scores_in[:half]`, the second `scores_in[half:]`. Which half may be looked at before the threshold is fixed?",
        "The threshold is the mean of two means, those of both first halves. Then `audit.epsilon_lower_bound(scores_in, scores_out, delta, threshold=...)` is given both second halves; its confidence is 95 %, as is asked.",
    ),
    misconceptions=(
        Misconception(
            "counted on all",
            "You count the errors on all runs, also on those by which you chose the threshold. These have been looked at: count on the second half alone.",
            _by(counted=None),
        ),
        Misconception(
            "chosen and counted on all",
            "You choose the threshold on all runs, and count on all. Then the threshold knows the errors that it is judged by. Choose on the first half, count on the second.",
            _by(chosen=None, counted=None),
        ),
        Misconception(
            "chosen on all",
            "You choose the threshold on all runs. Those of the second half must not be looked at before they are counted.",
            _by(chosen=None),
        ),
        Misconception(
            "counted on the first half",
            "You count the errors on the same half on which you chose the threshold. The second half is there for counting.",
            _by(counted=0),
        ),
        Misconception(
            "chosen on the second half",
            "You choose the threshold on the second half, and count there too. Choose it on the first.",
            _by(chosen=1),
        ),
        Misconception(
            "halves exchanged",
            "You choose on the second half and count on the first. It would prove as much, but the task has it the other way round.",
            _by(chosen=1, counted=0),
        ),
        Misconception(
            "the best of all thresholds",
            "You tried many thresholds on the second halves and took the largest ε. Each by itself has its 95 %. The largest of them has less, for that is a look at the runs that are counted. Choose one threshold, on the first halves.",
            lambda scores_in, scores_out, delta: float(np.max(_at_thresholds(scores_in, scores_out, delta))),
            recognise=_best_of_all,
        ),
        Misconception(
            "the larger of several bounds",
            "What you return is never below the bound that is asked for, and sometimes above it. Did you try several thresholds, or several halves, and take the largest ε? Each by itself has its 95 %. The largest of them has less: that is a look at runs that are counted. Choose one threshold on the first halves, and count once on the second.",
            lambda scores_in, scores_out, delta: max(
                _by()(scores_in, scores_out, delta), _by(chosen=1, counted=0)(scores_in, scores_out, delta)
            ),
            recognise=_of_several,
        ),
        Misconception(
            "a fixed number of runs",
            "You split the runs behind a fixed number of them. The half is another number for each input: `len(scores_in) // 2`.",
            lambda scores_in, scores_out, delta: _by_first(scores_in, scores_out, delta, 20),
            recognise=_fixed_half,
        ),
        Misconception(
            "one of them whole",
            "You count the runs with her, or those without, on all of them, also on those by which you chose the threshold. Count both on the second half: `scores_in[half:]` and `scores_out[half:]`.",
            _one_whole("scores_out"),
            recognise=any_of(_one_whole("scores_out"), _one_whole("scores_in")),
        ),
        Misconception(
            "other halves",
            "You count on as many runs as the second half has, but on others. Did you take every second run, or shuffle or sort the runs before? Leave them in their order: the first half is `scores_in[:half]`, the second `scores_in[half:]`.",
            lambda scores_in, scores_out, delta: audit.epsilon_lower_bound(
                scores_in[1::2],
                scores_out[1::2],
                delta,
                threshold=float((np.mean(scores_in[::2]) + np.mean(scores_out[::2])) / 2),
            ),
            recognise=_other_halves,
        ),
        Misconception(
            "δ left out",
            "You left delta out. `audit.epsilon_lower_bound` takes it as its third argument.",
            _by(with_delta=False),
        ),
        Misconception(
            "shares of errors",
            "You put the shares of errors for their upper bounds. A share proves nothing: `audit.epsilon_lower_bound` makes the bounds.",
            _shares,
        ),
        Misconception(
            "no threshold",
            "You chose no threshold. Then `audit.epsilon_lower_bound` tries all of them on the second half, and its bound pays for that look. Give it the threshold from the first half.",
            lambda scores_in, scores_out, delta: audit.epsilon_lower_bound(
                _halves(scores_in)[1], _halves(scores_out)[1], delta
            ),
        ),
        Misconception(
            "μ for ε",
            "You returned a μ. The question is the ε that is proved at `delta`: `audit.epsilon_lower_bound`.",
            lambda scores_in, scores_out, delta: audit.mu_lower_bound(
                _halves(scores_in)[1],
                _halves(scores_out)[1],
                threshold=float((np.mean(_halves(scores_in)[0]) + np.mean(_halves(scores_out)[0])) / 2),
            ),
        ),
        Misconception(
            "another confidence",
            "Your bound has a confidence of 99 %. Here 95 % is asked, which is what `audit.epsilon_lower_bound` takes where nothing is said.",
            _by(confidence=0.99),
        ),
    ),
)
