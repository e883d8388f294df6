"""What a report says of a training, field by field, and what of that is true of the run.

A run is a dict: people; rows_each, how many rows each of them has; batch, how many rows are drawn on average; sampler, "coins" or
"shuffled"; noise_multiplier; steps_planned and steps_taken; stopped_by, one of STOPS; delta; and what an audit with canaries found,
right of guesses about so many canaries.
"""

import functools
import math

from scipy.special import ndtri

from dpcourse import audit, clt, gdp, pld
from dpcourse.base import rounding
from dpcourse.base.languages import say, to_say

FIELDS = ("rows", "delta", "sampler", "steps", "epsilon", "proved")
STOPS = PLAN, SCORE, LOSS = ("plan", "test accuracy", "training loss")
COINS, SHUFFLED = "coins", "shuffled"
MOST = 1.5
"""An ε that is true and larger than so many times the certified one says too little."""
ROUNDING = 1e-13
"""What a bound may lie below the certified one, relatively: as much as doubles lose where the same is computed in another order."""
NARROW = 1e-7
"""A width of pld's interval: who asked for one as small, or any larger one, has reported what is certified."""
LEAST = 0.99
"""An audit's bound that is smaller than this share of what is proved says too little."""


@functools.lru_cache(maxsize=512)
def certified(noise_multiplier, rate, steps, group, delta, width=1e-3):
    return pld.noisy_sgd(noise_multiplier, rate, steps, group=group).epsilon(delta, width)


def rate_of(run):
    return run["batch"] / (run["people"] * run["rows_each"])


def epochs_of(run, steps):
    """How many times all rows are dealt out, the last time perhaps in part."""
    return math.ceil(steps * rate_of(run) - 1e-9)


def bounds(run, steps=None, rows=None):
    """(at least, at most): the certified interval that holds the ε of all planned steps, for a person; of shuffled batches its upper end twice.

    steps, rows: others than planned, and than a person has.
    """
    steps, rows = steps or run["steps_planned"], rows or run["rows_each"]
    if run["sampler"] == SHUFFLED:  # told how the rows were dealt, an epoch is one Gaussian answer
        upper = gdp.epsilon(run["delta"], rows * math.sqrt(epochs_of(run, steps)) / run["noise_multiplier"])
        return upper, upper
    found = certified(run["noise_multiplier"], rate_of(run), steps, rows, run["delta"])
    return found.lower, found.upper


def epsilon_of(run):
    """The ε that may be reported: a certified upper bound; none where the training loss decided when to stop."""
    return math.inf if run["stopped_by"] == LOSS else bounds(run)[1]


def least_of(run):
    """The least ε that is taken for one that is proved: by coins the upper end of an interval much narrower than pld gives unasked."""
    if run["sampler"] == SHUFFLED or run["stopped_by"] == LOSS:
        return epsilon_of(run)
    return certified(
        run["noise_multiplier"], rate_of(run), run["steps_planned"], run["rows_each"], run["delta"], NARROW
    ).upper


def limit_of(run):
    """The ε of the limit, an approximation, for a person by rows times μ."""
    return gdp.epsilon(
        run["delta"], run["rows_each"] * clt.noisy_sgd_mu(run["noise_multiplier"], rate_of(run), run["steps_planned"])
    )


@functools.lru_cache(maxsize=512)
def _proved(right, guesses, canaries, confidence):
    return audit.one_run_mu_lower_bound(right, guesses, canaries, confidence)


def proved_of(run):
    """The μ that the audit of the run proves, with confidence 95 %."""
    return _proved(run["right"], run["guesses"], run["canaries"], 0.95)


def honest(run):
    """The report that claims what is proved, and no more."""
    return run["rows_each"], run["delta"], run["sampler"], run["steps_planned"], epsilon_of(run), proved_of(run)


KINDS = {
    "one row": to_say("ε where a person has one row"),
    "several rows": to_say("ε where she has several"),
    "shuffled": to_say("ε of shuffled batches"),
    "loss": to_say("ε where the training loss decided"),
}


def kind(run):
    """Which of KINDS a run is."""
    if run["stopped_by"] == LOSS:
        return "loss"
    if run["sampler"] == SHUFFLED:
        return "shuffled"
    return "several rows" if run["rows_each"] > 1 else "one row"


def parts(report, run):
    """What the report says, part by part: name -> (whether it holds, what is said of it)."""
    rows, delta, sampler, steps, epsilon, proved = report
    return {
        to_say("rows, δ and sampler"): _facts(rows, delta, sampler, run),
        to_say("steps"): (
            steps == run["steps_planned"],
            say("steps: {steps}, where {planned} were planned", steps=steps, planned=run["steps_planned"]),
        ),
        KINDS[kind(run)]: of_epsilon(epsilon, run),
        to_say("what the audit proves"): _of_proved(proved, run),
    }


def _facts(rows, delta, sampler, run):
    if rows != run["rows_each"]:
        return False, say("rows: {rows}, and a person has {right}", rows=rows, right=run["rows_each"])
    if not math.isclose(delta, run["delta"], rel_tol=1e-9):
        return False, say("delta: {delta:g}, and the run has {right:g}", delta=delta, right=run["delta"])
    if sampler != run["sampler"]:
        return False, say(
            "sampler: {sampler}, and the run has {right}", sampler=repr(sampler), right=repr(run["sampler"])
        )
    return True, say("right")


NAMES = {
    (COINS, False): to_say("of the run by coins with one row to a person"),
    (COINS, True): to_say("of the run by coins with {rows} rows to a person"),
    (SHUFFLED, False): to_say("of the shuffled run with one row to a person"),
    (SHUFFLED, True): to_say("of the shuffled run with {rows} rows to a person"),
    (COINS, LOSS): to_say("of the run by coins that the training loss stopped"),
    (SHUFFLED, LOSS): to_say("of the shuffled run that the training loss stopped"),
}


def _named(run):
    """Which of the runs it is, in words."""
    how = LOSS if run["stopped_by"] == LOSS else run["rows_each"] > 1
    return say(NAMES[run["sampler"], how], rows=run["rows_each"])


def of_epsilon(epsilon, run):
    """Whether an ε is not below what can be certified, but for ROUNDING; and not far above it."""
    most, least = epsilon_of(run), least_of(run)
    if most == math.inf:
        told = say("{run}: ε = {epsilon:.6g}, where no ε is proved", run=_named(run), epsilon=epsilon)
        return epsilon == math.inf, told if epsilon < math.inf else say("right")
    if epsilon * (1 + ROUNDING) < least:
        return False, say(
            "{run}: ε = {epsilon:.9g} is too small, for only {most} is proved",
            run=_named(run),
            epsilon=epsilon,
            most=rounding.up(least, 6),
        )
    if epsilon > MOST * most:
        return False, say(
            "{run}: ε = {epsilon:.6g} holds, but it is more than half as large again as {most}, which is proved",
            run=_named(run),
            epsilon=epsilon,
            most=rounding.up(most, 6),
        )
    return True, say("right")


def _of_proved(proved, run):
    most = proved_of(run)
    if proved > most + 1e-9:
        return False, say(
            "proved: μ = {proved:.6g} is too large, for the audit proves only {most:.6g}", proved=proved, most=most
        )
    if proved < LEAST * most:
        return False, say(
            "proved: μ = {proved:.6g} is too small: the audit proves {most:.6g}", proved=proved, most=most
        )
    return True, say("right")


def mu_by_accuracy(run):
    """The μ of the share of right guesses, which is no bound."""
    return -2 * float(ndtri(1 - run["right"] / run["guesses"]))
