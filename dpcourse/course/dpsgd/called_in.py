"""Find the leak: three trainers, of which two tell more than they promise."""

import numpy as np

from dpcourse import audit
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Made, Misconception, OpenExercise
from dpcourse.checking.calling.values import type_name
from dpcourse.checking.returns import in_a_row
from dpcourse.course.dpsgd.trainers import TRAINERS, promise

RUNS, DRAWN = 4000, 8800  # of those that are drawn half are left
FEW = 0.02  # of the runs
LEAST = 0.04  # by which alpha + beta is below 1 in runs that tell something: above what chance gives
RISK = 1e-6  # of bounds on both errors that do not hold
KEEPS = "A"
MIXED = np.uint64(0x9E3779B97F4A7C15)


def _draw_runs(rng):
    return [{"trainer": trainer, "published": _published(trainer, rng)} for trainer in TRAINERS]


def _published(trainer, rng):
    """What a trainer gives in RUNS runs. Of runs with Mia's row and without, those stay that `_is_filled` calls so: about half of either kind."""
    filled = rng.random(DRAWN) < 0.5
    published = TRAINERS[trainer](filled, rng)
    return published[_is_filled(published) == filled][:RUNS]


def _is_filled(published):
    """Whether Mia's row is filled in each run: one bit made of all bits of its numbers, so that the law knows and no answer is told."""
    bits = np.bitwise_xor.reduce(np.ascontiguousarray(published).view(np.uint64), axis=1)
    return bits * MIXED >> np.uint64(63) == 1


RUNS_TOLD = to_say('`trainer` is `"A"`, `"B"` or `"C"`; `published`: 4,000 rows of 101 numbers')


def _any_runs(rng):
    trainer = list(TRAINERS)[int(rng.integers(len(TRAINERS)))]
    return trainer, _published(trainer, rng)


def _one_for_each_run(value, case):
    """One True or False (or 1 or 0) for each run."""
    runs, columns = case["published"].shape
    array = in_a_row(value)
    if array is None:
        return say(
            "Return one array (or list) with True or False for each of the {runs} runs, not {given}.",
            runs=runs,
            given=type_name(value),
        )
    if len(array) in (columns - 1, columns):
        return say(
            "Return True or False for each of the {runs} runs. You return {columns}, one for each column: `axis=1` goes along each row.",
            runs=runs,
            columns=len(array),
        )
    if len(array) != runs:
        return say(
            "Return True or False for each of the {runs} runs. You return {returned}.", runs=runs, returned=len(array)
        )
    if not np.isin(array, (0, 1)).all():
        return say("Return True or False for each run, no other numbers: compare yours with a threshold.")
    return None


def _refutes(said, filled):
    """Whether bounds on both errors, which hold but with probability RISK, lie below the promise."""
    score = said.astype(float)
    (alpha,), (beta,) = audit.error_bounds(score[filled], score[~filled], RISK, threshold=0.5)
    return bool(beta < promise()(alpha))


def _law(value, case):
    said, filled = np.asarray(value).astype(bool), _is_filled(case["published"])
    if not said.any() if case["trainer"] == KEEPS else _refutes(said, filled):
        return True, "right"
    alpha, beta = float(np.mean(said[~filled])), float(np.mean(~said[filled]))
    errors = say("on {trainer} you err with α = {alpha:.3f} and β = {beta:.3f}", trainer=case["trainer"], alpha=alpha, beta=beta)  # fmt: skip
    least = float(promise()(alpha))
    if beta < least:
        return False, say("{errors}; the promise asks for β ≥ {least:.3f} there, and so little less may be luck: another threshold may show more", errors=errors, least=least)  # fmt: skip
    return False, say("{errors}; the promise asks for β ≥ {least:.3f} there, which is kept", errors=errors, least=least)


# ---- tests, right and wrong


def _empty_steps(published):
    """How often the weight stayed as it is, as a score: high where that is seldom."""
    return -np.sum(published[:, :-1] == 0, axis=1)


def _loss(published):
    return published[:, -1]


def _way(published):
    """How far the weight went."""
    return published[:, :-1].sum(axis=1)


def _first_step(published):
    """Whether the weight moved in the first step."""
    return published[:, 0] != 0


FOUND = {"B": (_empty_steps, -62.5), "C": (_loss, 0.6)}
BLIND = {"B": (_way, 0.2), "C": (_way, 0.2)}


def _test(scores, turned=False):
    """A test with a score and a threshold for each of these trainers; of the others all runs are out."""

    def code(trainer, published):
        if trainer not in scores:
            return np.zeros(len(published), dtype=bool)
        score, threshold = scores[trainer]
        return (score(published) > threshold) != turned

    return code


def _of(cases, values):
    """trainer -> (the runs that were called in, those in which Mia's row is filled, what was published)."""
    return {
        case["trainer"]: (np.asarray(value).astype(bool), _is_filled(case["published"]), case["published"])
        for case, value in zip(cases, values, strict=True)
    }


def _refuted(cases, values):
    """The trainers whose promise is refuted."""
    return {trainer for trainer, (said, filled, _) in _of(cases, values).items() if _refutes(said, filled)}


def _found_alone(trainer):
    """recognise: this trainer is found out, and of no other a run is called in."""
    return lambda cases, values: (
        {name for name, (said, _, _) in _of(cases, values).items() if said.any()}
        == {trainer}
        == _refuted(cases, values)
    )


def _is_threshold(said, score):
    """Whether "in" is said above a number, and "out" below; of hardly a run nobody knows by what it was called in."""
    return FEW <= said.mean() <= 1 - FEW and score[said].min() >= score[~said].max()


def _goes_by_the_way(cases, values):
    refuted = _refuted(cases, values)
    return any(
        _is_threshold(said, _way(published)) and trainer not in refuted
        for trainer, (said, _, published) in _of(cases, values).items()
    )


def _tells_too_little(cases, values):
    refuted = _refuted(cases, values)
    return any(
        trainer not in refuted and np.mean(said[~filled]) + np.mean(~said[filled]) < 1 - LEAST
        for trainer, (said, filled, _) in _of(cases, values).items()
    )


exercise = OpenExercise(
    title="Find the leak",
    good_for="looking through a training program, and showing by a test what it tells",
    difficulty=3,
    minutes=10,
    points=2,
    domain=Domain({"trainer, published": Made(_any_runs, RUNS_TOLD)}, most=0),
    draw=_draw_runs,
    reference=_test(FOUND),
    returns=_one_for_each_run,
    law=_law,
    hints=(
        "Go through the three programs with the table. What does each publish that is neither a noisy sum nor computed from such sums?",
        "What is an update of B where nobody was drawn? In how many of the 100 steps is that to be expected with four filled rows, and in how many with five? "
        "And whose loss is far larger than the others', as long as the weight is near these?",
        "Compute one number for each run, `np.sum(..., axis=1)` or `published[:, -1]`, and call in the runs in which it lies on the side that Mia's row moves it to. "
        "The chance that nobody is drawn is 0.9⁴ without her and 0.9⁵ with her: put the threshold halfway. `measured(called_in)` shows what it gives.",
    ),
    misconceptions=(
        Misconception(
            "nobody in",
            "You call no run in, of any trainer: that accuses nobody. Two of the three break their promise. What do these publish that has no noise on it? (`trainer` holds a letter.)",
            _test({}),
            recognise=lambda cases, values: not any(said.any() for said, _, _ in _of(cases, values).values()),
        ),
        Misconception(
            "the honest one",
            "You call runs of A in, and A keeps its promise. Its updates have their noise, and its log is computed from the updates: that is post-processing. Call none of its runs in, and look for what B and C publish without noise.",
            _test(FOUND | {"A": (_loss, 0.064)}),
            recognise=lambda cases, values: bool(_of(cases, values)[KEEPS][0].any() and _refuted(cases, values)),
        ),
        Misconception(
            "all in",
            "You call all runs of a trainer in. Then no run is missed, and every run without Mia is a false alarm: α = 1, which every promise allows. Compare a number of each run with a threshold that lies between what it is without her and with her. (Or does your True mean that she is absent?)",
            _test({"B": (_empty_steps, -100.5), "C": (_loss, 0.0)}),
            recognise=lambda cases, values: any(
                said.all() for trainer, (said, _, _) in _of(cases, values).items() if trainer != "C"
            ),
        ),
        Misconception(
            "all of C in",
            "You call all runs of C in. Then no run is missed, and every run without Mia is a false alarm: α = 1, which every promise allows. Compare the log with a threshold. (Did you compute what it should be? In no run that comes out exactly, unless all 100 updates are in the weight.)",
            _test({"B": FOUND["B"], "C": (_loss, 0.0)}),
            recognise=lambda cases, values: bool(_of(cases, values)["C"][0].all()),
        ),
        Misconception(
            "the wrong way round",
            "You have found a leak, and read it the wrong way round: turn the comparison. Does what you look at become more when Mia's row is filled, or less?",
            _test(FOUND, turned=True),
            recognise=lambda cases, values: bool(
                _refuted(cases, [~np.asarray(value).astype(bool) for value in values])
            ),
        ),
        Misconception(
            "hardly a run",
            "Of a trainer you call hardly a run in, and so you miss Mia nearly always. What you compare lies on one side in nearly all runs, with her and without: another threshold, or another number to compare. (If it is what the log should be: is the weight the sum of all updates?)",
            _test(FOUND | {"B": (_empty_steps, -48.5)}),
            recognise=lambda cases, values: any(
                0 < said.mean() < FEW and trainer != KEEPS for trainer, (said, _, _) in _of(cases, values).items()
            ),
        ),
        Misconception(
            "how far the weight went",
            "You look at how far the weight went. Mia moves it, but there the noise is: what is left of her refutes nothing here. Look for something that has no noise on it.",
            _test(BLIND),
            recognise=_goes_by_the_way,
        ),
        Misconception(
            "B missed",
            "C is found out. B has the log of A, and another program. What does it do in a step in which nobody was drawn, and what do you see of that? (If you count this already: of B you call no run in, or nearly as many without Mia as with her. Print what you count for some runs, and look on which side of it your threshold lies.)",
            _test({"C": FOUND["C"]}),
            recognise=_found_alone("C"),
        ),
        Misconception(
            "C missed",
            "B is found out. The updates of C are those of A, and its log is no noisy sum: a mean over the filled rows. How large is Mia's own loss, beside those of the others? (Did you compute what the log should be? It is half of a mean of squares over the filled rows, for the weight that is the sum of all updates, and it is equal to the log only up to the last digits: `np.isclose`.)",
            _test({"B": FOUND["B"]}),
            recognise=_found_alone("B"),
        ),
        Misconception(
            "too little of it",
            "What you look at tells of Mia, but less than the promise allows. Look at all 100 steps, and not at one or at few of them.",
            _test(FOUND | {"B": (_first_step, 0.5)}),
            recognise=_tells_too_little,
        ),
    ),
)
