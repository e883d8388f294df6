"""The report that stands beside a released model."""

import math
import numbers

from dpcourse import gdp, rdp
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Made, Misconception, OpenExercise
from dpcourse.checking.calling.values import plain, type_name
from dpcourse.course.claim import reports
from dpcourse.course.claim.reports import COINS, LOSS, PLAN, SCORE, SHUFFLED

RUN_TOLD = to_say("{name}: a dict, as the task describes it")


def _drawn(rng, sampler, rows_each, stopped_by):
    """A run of this kind: some epochs and a part of one, about half of them before it was stopped early."""
    per_epoch, epochs = int(rng.integers(8, 21)), 2 * int(rng.integers(2, 6))
    batch = 50 * int(rng.integers(2, 5))
    planned = per_epoch * epochs + int(rng.integers(2, per_epoch - 1))
    guesses = 2 * int(rng.integers(30, 61))
    return {
        "people": batch * per_epoch,
        "rows_each": rows_each,
        "batch": batch * rows_each,
        "sampler": sampler,
        "noise_multiplier": round(float(rng.uniform(1.2, 2.5)), 2),
        "steps_planned": planned,
        "steps_taken": planned if stopped_by == PLAN else planned // 2 + int(rng.integers(1, per_epoch)),
        "stopped_by": stopped_by,
        "delta": float(rng.choice([1e-5, 1e-6, 2e-6])),
        "right": int(guesses * rng.uniform(0.72, 0.85)),
        "guesses": guesses,
        "canaries": 4 * guesses,
    }


def _kinds(rng):
    """Both samplers with one row and with several, each of them ended in every way that makes another report."""
    several = int(rng.integers(2, 4))
    return [
        (COINS, 1, SCORE),
        (COINS, several, SCORE),
        (SHUFFLED, 1, PLAN),
        (SHUFFLED, several, SCORE),
        (COINS, 1, LOSS),
        (COINS, several, LOSS),
        (SHUFFLED, 1, LOSS),
        (SHUFFLED, several, LOSS),
    ]


def _draw_runs(rng):
    return [{"run": _drawn(rng, *some)} for some in _kinds(rng)]


def _any_run(rng):
    kinds = _kinds(rng)
    return _drawn(rng, *kinds[int(rng.integers(len(kinds)))])


def _six(value, case):
    """rows, delta, sampler, steps, epsilon, proved: numbers, and a text in the third place; epsilon may be infinite."""
    if not isinstance(value, (list, tuple)) or len(value) != len(reports.FIELDS):
        return say(
            "Return six things, `{names}`, not {given}.", names=", ".join(reports.FIELDS), given=type_name(value)
        )
    for name, given in zip(reports.FIELDS, value, strict=True):
        given = given if isinstance(given, dict) else plain(given)
        if name == "sampler":
            if not isinstance(given, str):
                return say('sampler: write "coins" or "shuffled", not {given}.', given=type_name(given))
        elif name == "epsilon" and given is None:
            return say("epsilon: where no ε is proved, write `math.inf`, not None.")
        elif isinstance(given, bool) or not isinstance(given, numbers.Real):
            return say("{name}: write a number, not {given}.", name=name, given=type_name(given))
        elif name == "proved" and given == math.inf:
            return say("proved: what an audit proves is finite, and yours is inf. `epsilon` comes before `proved`.")
        elif math.isnan(given) or (name != "epsilon" and math.isinf(given)):
            return say("{name}: the result is {value}, which is no number.", name=name, value=given)
    return None


def _with(**changed):
    """The honest report, with some fields made otherwise: name -> function of the run."""

    def code(run):
        fields = dict(zip(reports.FIELDS, reports.honest(run), strict=True))
        return tuple((fields | {name: make(run) for name, make in changed.items()}).values())

    return code


def _finite(epsilon):
    """Of a run for which an ε is proved another one; else the honest infinity."""
    return lambda run: epsilon(run) if run["stopped_by"] != LOSS else math.inf


def _epsilons(cases, values):
    return [
        (case["run"], float(value[reports.FIELDS.index("epsilon")])) for case, value in zip(cases, values, strict=True)
    ]


def _is(epsilon, *kinds):
    """recognise: in some kind of runs this is the ε reported of all of them, and it is not accepted.

    kinds: functions that say of a run whether it is of a kind; all runs of which an ε is proved, if there are none.
    """

    def recognise(cases, values):
        for kind in kinds or (_is_covered,):
            some = [(run, given) for run, given in _epsilons(cases, values) if kind(run)]
            if some and all(
                not reports.of_epsilon(given, run)[0] and math.isclose(given, epsilon(run), rel_tol=1e-3)
                for run, given in some
            ):
                return True
        return False

    return recognise


def _wrong_epsilon(name, message, epsilon, *kinds):
    """A misconception by which runs of these kinds, or all of which an ε is proved, have this ε, and the others the honest one."""

    def its(run):
        return epsilon(run) if any(kind(run) for kind in kinds or (_is_covered,)) else reports.epsilon_of(run)

    return Misconception(name, message, _with(epsilon=its), recognise=_is(epsilon, *kinds))


def _lower_end(cases, values):
    """A hair below what is certified, for each run by coins; or rounded to two or three digits behind the point, and somewhere below."""
    some = [(reports.least_of(run), given) for run, given in _epsilons(cases, values) if _is_covered(run)]
    by_coins = [(reports.epsilon_of(run), given) for run, given in _epsilons(cases, values) if _by_coins(run)]
    rounded = all(round(given, 3) == given and abs(given - least) < 0.006 for least, given in some) and any(
        given < least for least, given in some
    )
    return rounded or all(0.98 * most < given < most for most, given in by_coins)


def _taken(run):
    return reports.bounds(run, steps=run["steps_taken"])[1]


def _of_row(run):
    return reports.bounds(run, rows=1)[1]


def _epoch(run):
    return reports.bounds(run, steps=round(1 / reports.rate_of(run)))[1]


def _as_coins(run):
    return reports.bounds(run | {"sampler": COINS})[1]


def _of_people(run, rows=None):
    """With the batch over the people for a rate; for so many rows, those of a person if none are given."""
    rate, group = min(1.0, run["batch"] / run["people"]), rows or run["rows_each"]
    return reports.certified(run["noise_multiplier"], rate, run["steps_planned"], group, run["delta"]).upper


def _of_row_by_renyi(run):
    return rdp.epsilon(run["noise_multiplier"], reports.rate_of(run), run["steps_planned"], run["delta"])


def _less_noise(run):
    """By coins, with the noise over the rows: as if one coin brought all rows of a person."""
    noise = run["noise_multiplier"] / run["rows_each"]
    return reports.certified(noise, reports.rate_of(run), run["steps_planned"], 1, run["delta"]).upper


def _shuffled(answers, rows=lambda run: run["rows_each"]):
    """The ε of shuffled batches, if they were so many Gaussian answers for so many rows."""
    return lambda run: gdp.epsilon(run["delta"], rows(run) * math.sqrt(answers(run)) / run["noise_multiplier"])


def _epochs(run):
    return reports.epochs_of(run, run["steps_planned"])


EVERY_STEP = _shuffled(lambda run: run["steps_planned"])
ROOT_OF_ROWS = _shuffled(_epochs, lambda run: math.sqrt(run["rows_each"]))
WHOLE_EPOCHS = _shuffled(lambda run: int(run["steps_planned"] * reports.rate_of(run) + 1e-9))
EPOCHS_OF_PEOPLE = _shuffled(lambda run: math.ceil(run["steps_planned"] * run["batch"] / run["people"] - 1e-9))
BROKEN_EPOCH = _shuffled(lambda run: run["steps_planned"] * reports.rate_of(run))


def _audit_s(run):
    """The ε of the μ that the audit proves."""
    return gdp.epsilon(run["delta"], reports.proved_of(run))


def _by_groups(run):
    """ε and δ of a row, made a person's by the rule for groups."""
    epsilon = _of_row(run)
    return run["rows_each"] * epsilon, min(
        1.0, run["delta"] * sum(math.exp(j * epsilon) for j in range(run["rows_each"]))
    )


def _is_covered(run):
    return run["stopped_by"] != LOSS


def _by_coins(run):
    return run["sampler"] == COINS and _is_covered(run)


def _is_shuffled(run):
    return run["sampler"] == SHUFFLED and _is_covered(run)


def _one_by_coins(run):
    return run["rows_each"] == 1 and _by_coins(run)


def _several_by_coins(run):
    return run["rows_each"] > 1 and _by_coins(run)


def _several_shuffled(run):
    return run["rows_each"] > 1 and _is_shuffled(run)


def _early(kind):
    return lambda run: run["stopped_by"] == SCORE and kind(run)


def _fields(cases, values, name):
    return [(case["run"], value[reports.FIELDS.index(name)]) for case, value in zip(cases, values, strict=True)]


exercise = OpenExercise(
    title="The report beside the model",
    good_for="releasing a model with a promise that you can defend",
    difficulty=4,
    minutes=32,
    points=7,
    domain=Domain({"run": Made(_any_run, RUN_TOLD)}, most=0),
    draw=_draw_runs,
    reference=reports.honest,
    returns=_six,
    parts=lambda value, case: reports.parts(value, case["run"]),
    seconds=30.0,
    hints=(
        "Five of the six fields stand in the run or follow from one call. Only epsilon has to be thought about: which steps, which rows, which mechanism? Begin with the runs by coins, and one row to a person.",
        "By coins: `pld.noisy_sgd(noise, rate, steps, group=rows_each).epsilon(delta).upper`, where the rate is the batch over all rows, and there are people * rows_each of them. The steps are those that were planned, also where a look at the test accuracy ended the run before. Where the training loss ended it, nothing is proved: `math.inf`.",
        "Shuffled: told how the rows were dealt out, each epoch is one Gaussian answer with μ = rows_each / σ. Over all epochs the squares add up, so `gdp.epsilon(delta, rows_each * math.sqrt(epochs) / noise)`. The epochs are steps_planned * batch / rows, rounded up.",
    ),
    misconceptions=(
        Misconception(
            "the training loss",
            "You give an ε to the run that was stopped by its training loss. When it stopped depends on the data without any noise, and no theorem covers that: there no ε is proved, so write `math.inf`.",
            _with(epsilon=lambda run: reports.bounds(run)[1]),
            recognise=lambda cases, values: (
                any(run["stopped_by"] == LOSS and given < math.inf for run, given in _epsilons(cases, values))
                and all(
                    given >= (1 - reports.ROUNDING) * reports.least_of(run)
                    for run, given in _epsilons(cases, values)
                    if _is_covered(run)
                )
            ),
        ),
        Misconception(
            "steps taken",
            "You account for the steps that were taken. Where a look at the model ended the run, the promise is that of the steps that were planned.",
            _with(steps=lambda run: run["steps_taken"], epsilon=_finite(_taken)),
            recognise=_is(_taken, *map(_early, (_one_by_coins, _several_by_coins, _is_shuffled))),
        ),
        _wrong_epsilon(
            "one epoch",
            "You report the ε of one epoch. There were several, and each of them has cost something.",
            _epoch,
            _by_coins,
            _is_shuffled,
        ),
        Misconception(
            "a row for a person",
            "You report the ε of one row where a person has several. All her rows may change at once: by coins `group=` of `pld.noisy_sgd` accounts for that, and of shuffled batches one may hold all of them, so that the μ of an epoch is rows_each / σ.",
            _with(epsilon=_finite(lambda run: _of_row(run))),
            recognise=lambda cases, values: (
                _is(_of_row, _several_by_coins, _several_shuffled)(cases, values)
                or _is(_of_row_by_renyi, _several_by_coins)(cases, values)
            ),
        ),
        Misconception(
            "by the rule for groups",
            "You turned ε and δ of one row into a person's by the rule for groups ({same_unit}). That is proved, but at a larger δ than the report is asked for. At the δ of the run `group=` of `pld.noisy_sgd` accounts for her rows, and of shuffled batches μ is multiplied by them.",
            _with(
                delta=lambda run: _by_groups(run)[1] if _is_covered(run) else run["delta"],
                epsilon=_finite(lambda run: _by_groups(run)[0]),
            ),
            recognise=lambda cases, values: (
                _is(lambda run: run["rows_each"] * _of_row(run), _several_by_coins)(cases, values)
                and all(
                    delta > 2 * run["delta"] for run, delta in _fields(cases, values, "delta") if _several_by_coins(run)
                )
            ),
        ),
        _wrong_epsilon(
            "ε times the rows",
            "You multiplied the ε of one row by the rows. With several rows δ grows too ({same_unit}), so at the same δ this is not proved. `group=` of `pld.noisy_sgd` accounts for them.",
            lambda run: run["rows_each"] * _of_row(run),
            _several_by_coins,
            _several_shuffled,
        ),
        _wrong_epsilon(
            "σ over the rows",
            "By coins you divided σ by the rows of a person, as if one coin brought all of them. Each row has a coin of its own, and seldom all of hers are drawn in one step: `group=` of `pld.noisy_sgd` accounts for that, at the σ of the run.",
            _less_noise,
            _several_by_coins,
        ),
        _wrong_epsilon(
            "every step an answer",
            "Of shuffled batches you count every step as an answer. A row lies in one batch of an epoch only. So it is an epoch that is one Gaussian answer, and the squares of μ add up over the epochs.",
            EVERY_STEP,
            _is_shuffled,
        ),
        _wrong_epsilon(
            "the root of the rows",
            "Of shuffled batches you took the root of the rows. All rows of a person may be dealt into one batch, and point in one direction: then the μ of the epoch is rows_each / σ.",
            ROOT_OF_ROWS,
            _several_shuffled,
        ),
        Misconception(
            "the broken epoch",
            "Of shuffled batches you count too few epochs. The last one was begun and not finished, and whoever was dealt into its first batches has been in it: it counts as a whole one. Round the number of epochs up.",
            _with(epsilon=_finite(lambda run: BROKEN_EPOCH(run) if _is_shuffled(run) else reports.bounds(run)[1])),
            recognise=lambda cases, values: (
                _is(BROKEN_EPOCH, _is_shuffled)(cases, values) or _is(WHOLE_EPOCHS, _is_shuffled)(cases, values)
            ),
        ),
        _wrong_epsilon(
            "the audit's μ",
            "Your ε comes from the μ that the audit proves. That μ is a lower bound: so much leaks at least. A promise says how much leaks at most, and it comes from the accounting.",
            _audit_s,
        ),
        Misconception(
            "the batch over the people",
            "You divide the batch by the people. Divide it by all rows: there are `people * rows_each` of them.",
            _with(epsilon=_finite(_of_people)),
            recognise=lambda cases, values: any(
                _is(epsilon, kind)(cases, values)
                for epsilon, kind in (
                    (_of_people, _several_by_coins),
                    (lambda run: _of_people(run, 1), _several_by_coins),
                    (EPOCHS_OF_PEOPLE, _several_shuffled),
                )
            ),
        ),
        Misconception(
            "no ε at all",
            "You report no ε where one is proved. That is true, and promises nothing: `math.inf` is for the run that was stopped by its training loss.",
            _with(epsilon=lambda run: math.inf),
            recognise=lambda cases, values: any(
                given == math.inf > reports.epsilon_of(run) for run, given in _epsilons(cases, values)
            ),
        ),
        _wrong_epsilon(
            "the limit",
            "You report the ε of the limit. It is an approximation, and here it lies below what is certified. Take the upper end of pld's interval.",
            reports.limit_of,
            _by_coins,
        ),
        _wrong_epsilon(
            "coins for shuffled",
            "You account for coins where the batches were shuffled. That is the ε of a mechanism that did not run.",
            _as_coins,
            _is_shuffled,
        ),
        Misconception(
            "the lower end",
            "Your ε lies a hair below what is certified. Did you take the lower end of the interval, or round down? A guarantee is an upper bound: take `upper`, and round up.",
            _with(epsilon=_finite(lambda run: 0.999 * reports.bounds(run)[1])),
            recognise=_lower_end,
        ),
        Misconception(
            "δ forgotten",
            "Your report has δ = 0. Noisy SGD keeps no ε without a δ: whoever reads it needs both.",
            _with(delta=lambda run: 0.0),
            recognise=lambda cases, values: all(delta == 0 for _, delta in _fields(cases, values, "delta")),
        ),
        Misconception(
            "all canaries guessed",
            "Your proved is 0 in every run, though more guesses were right than wrong. Did you give the canaries as the number of guesses? Those that were not guessed do not count as wrong: `audit.one_run_mu_lower_bound(right, guesses, canaries)`.",
            _with(proved=lambda run: 0.0),
            recognise=lambda cases, values: all(proved == 0 for _, proved in _fields(cases, values, "proved")),
        ),
        Misconception(
            "accuracy for proof",
            "What you give as proved is made of the share of right guesses. A share is no bound: `audit.one_run_mu_lower_bound(right, guesses, canaries)` makes one.",
            _with(proved=reports.mu_by_accuracy),
            recognise=lambda cases, values: all(
                math.isclose(proved, reports.mu_by_accuracy(run), rel_tol=1e-3)
                or math.isclose(proved, run["right"] / run["guesses"], rel_tol=1e-9)
                for run, proved in _fields(cases, values, "proved")
            ),
        ),
    ),
)
