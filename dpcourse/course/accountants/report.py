"""What a report may claim of a run that has ended."""

import functools
import math
import numbers

from scipy.optimize import brentq

from dpcourse import clt, gdp, pld, rdp
from dpcourse.base import rounding
from dpcourse.base.languages import listed, say, to_say
from dpcourse.checking import Domain, Made, Misconception, OpenExercise, rounded
from dpcourse.checking.calling.values import show, type_name

EMPTIED, ADDED = "a row emptied", "a row added or removed"
PLAN, RELEASED, LOSS = "the plan", "what was released", "the training loss"
FIELDS = "epsilon", "delta", "mu", "unit"
SLACK = 1e-12  # the same bound, computed in another order, differs by rounding in the last digits of a double
WASTE = 0.01  # what a bound may be above the certified one
NEAR = 0.001  # two accountants agree, in how what was reported is recognised
JUST_BELOW = 0.01
FARTHEST = 4.0  # times a setting, up or down, within which it is looked for whose epsilon was reported
SETTINGS = to_say(
    "{name}: a dict with the entries of the table; a sample rate from 0.01 to 0.1, 200 to 1000 planned steps, a noise "
    "multiplier from 0.7 to 1.5; `taken` is less than `planned` unless the plan ended the run"
)


FEWER, AS_MANY, MORE = (0.6, 0.85), (1, 1), (1.2, 1.5)
"""How many rows there are, for one that the public number says; never nearly as many."""


def _ended(rng, stopped_by, public, rows=None):
    """The settings of a run; an early stop is not near the end. rows: how many there are beside a public number, else fewer or more."""
    written, planned = 100 * int(rng.integers(40, 400)), int(rng.integers(200, 1001))
    apart = rng.uniform(*(rows or (FEWER, MORE)[int(rng.integers(2))]))
    rows = int(written * apart) if public else written
    return {
        "rows": rows,
        "public_n": written if public else None,
        "batch": round(written * rng.uniform(0.01, 0.1)),
        "planned": planned,
        "taken": planned if stopped_by == PLAN else int(planned * rng.uniform(0.4, 0.8)),
        "stopped_by": stopped_by,
        "noise_multiplier": rounded(rng.uniform(0.7, 1.5)),
        "clip_norm": float(rng.choice([0.5, 1.5, 2.0])),
        "delta": float(rng.choice([1e-5, 1e-6])),
    }


def _draw_runs(rng):
    kinds = [
        (PLAN, False),
        (PLAN, True, FEWER),
        (PLAN, True, AS_MANY),
        (RELEASED, False),
        (RELEASED, True, MORE),
        (LOSS, False),
        (LOSS, True),
    ]
    return [{"settings": _ended(rng, *kind)} for kind in kinds]


def _any_run(rng):
    return _ended(rng, (PLAN, RELEASED, LOSS)[int(rng.integers(3))], bool(rng.integers(2)))


@functools.lru_cache(maxsize=1024)
def _certified(noise_multiplier, sample_rate, steps, delta):
    """The certified intervals of epsilon and of mu down to delta."""
    run = pld.noisy_sgd(noise_multiplier, sample_rate, steps)
    return run.epsilon(delta), run.mu(delta)


def _of(settings, rate="public_n", steps="planned"):
    """noise multiplier, sample rate, steps and delta of an account; rate: by which number, where it is there."""
    people = settings[rate] or settings["rows"]
    return settings["noise_multiplier"], settings["batch"] / people, settings[steps], settings["delta"]


def _unit(settings):
    return EMPTIED if settings["public_n"] is None else ADDED


def _is_covered(settings):
    """Whether anything is proved of it: not where it ended by what was computed without noise."""
    return settings["stopped_by"] != LOSS


def _right(settings):
    if not _is_covered(settings):
        return math.inf, settings["delta"], math.inf, _unit(settings)
    epsilon, mu = _certified(*_of(settings))
    return epsilon.upper, settings["delta"], mu.upper, _unit(settings)


def _with(place, rule):
    """A report that is right but for one field: rule(settings), in its place wherever anything is proved; the unit everywhere."""

    def code(settings):
        report = list(_right(settings))
        if _is_covered(settings) or FIELDS[place] == "unit":
            report[place] = rule(settings)
        return tuple(report)

    return code


def _by(**account):
    """A report whose account is another one, wherever anything is proved."""

    def code(settings):
        if not _is_covered(settings):
            return _right(settings)
        epsilon, mu = _certified(*_of(settings, **account))
        return epsilon.upper, settings["delta"], mu.upper, _unit(settings)

    return code


def _by_fewer(settings):
    """An account with the smaller one of the two numbers of rows."""
    noise, _, steps, delta = _of(settings)
    return noise, settings["batch"] / min(settings["rows"], settings["public_n"] or math.inf), steps, delta


def _scaled(settings, power):
    """The noise multiplier, times a power of the clip norm."""
    return settings["noise_multiplier"] * settings["clip_norm"] ** power


def _alike(one, other, near=NEAR):
    return one == other or (math.isfinite(other) and abs(one - other) <= near * other)


def _is(place, *codes, near=NEAR):
    """recognise: whether a field is what one of these reports says, in all runs of which anything is proved."""

    def recognise(cases, values):
        pairs = [(case, value) for case, value in zip(cases, values, strict=True) if _is_covered(**case)]
        return any(all(_alike(value[place], code(**case)[place], near) for case, value in pairs) for code in codes)

    return recognise


def _epsilon_by(rule):
    return _with(0, lambda settings: rule(*_of(settings)))


def _mu_by(rule):
    return _with(2, lambda settings: rule(*_of(settings)))


TAKEN = _by(steps="taken"), _by(steps="taken", rate="rows")
ROWS = _by(rate="rows")
FEWER_OF_BOTH = _with(0, lambda settings: _certified(*_by_fewer(settings))[0].upper)
IN_SHARE = _with(0, lambda settings: math.sqrt(settings["taken"] / settings["planned"]) * _right(settings)[0])
CLIPPED = [
    _with(0, lambda settings, power=power: _certified(_scaled(settings, power), *_of(settings)[1:])[0].upper)
    for power in (1, -1)
]
LIMIT = _epsilon_by(lambda s, p, t, d: gdp.epsilon(d, clt.noisy_sgd_mu(s, p, t)))
CLASSIC = _epsilon_by(lambda s, p, t, d: rdp.epsilon(s, p, t, d, conversion="classic"))
IMPROVED = _epsilon_by(lambda s, p, t, d: rdp.epsilon(s, p, t, d))
ONE_STEP = _epsilon_by(lambda s, p, t, d: _certified(s, p, 1, d)[0].upper)
NO_COINS = _epsilon_by(lambda s, p, t, d: gdp.epsilon(d, math.sqrt(t) / s))
LIMIT_MU = _mu_by(lambda s, p, t, d: clt.noisy_sgd_mu(s, p, t))
PAIR_MU = _with(2, lambda settings: gdp.mu(_right(settings)[0], settings["delta"]))
EVERY_MU = _mu_by(lambda s, p, t, d: math.sqrt(t) / s)


def _whatever_stopped(settings):
    epsilon, mu = _certified(*_of(settings))
    return epsilon.upper, settings["delta"], mu.upper, _unit(settings)


def _only_to_the_end(settings):
    report = _right(settings)
    return report if settings["stopped_by"] == PLAN else (math.inf, report[1], math.inf, report[3])


def _exchanged(settings):
    epsilon, delta, mu, unit = _right(settings)
    return mu, delta, epsilon, unit


def _mu_first(settings):
    epsilon, delta, mu, unit = _right(settings)
    return epsilon, mu, delta, unit


def _lower_end(settings):
    if not _is_covered(settings):
        return _right(settings)
    epsilon, mu = _certified(*_of(settings))
    return epsilon.lower, settings["delta"], mu.lower, _unit(settings)


def _just_below(place):
    """recognise: whether a field is near the certified bound in all runs, and somewhere below it."""

    def recognise(cases, values):
        pairs = [(value[place], _right(**case)[place]) for case, value in zip(cases, values, strict=True)]
        finite = [(value, right) for value, right in pairs if math.isfinite(right)]
        near = all(abs(value / right - 1) <= JUST_BELOW for value, right in finite)
        return near and any(value < (1 - SLACK) * right for value, right in finite)

    return recognise


def _somewhere(wrong):
    """recognise: wrong(report, whether anything is proved, the right report) in one run at least."""
    return lambda cases, values: any(
        wrong(value, _is_covered(**case), _right(**case)) for case, value in zip(cases, values, strict=True)
    )


def _four(value, case):
    """epsilon, delta and mu, numbers above 0 or infinite, and one of the two units."""
    if not isinstance(value, (list, tuple)) or len(value) != len(FIELDS):
        return say("Return four things, `epsilon, delta, mu, unit`, not {given}.", given=type_name(value))
    for name, number in zip(FIELDS, value[:3], strict=False):
        if isinstance(number, bool) or not isinstance(number, numbers.Real):
            return say(
                "{name} must be one number, or `math.inf` where none is proved, and yours is {given}.",
                name=name,
                given=type_name(number),
            )
        if not number > 0:
            return say("{name} must be above 0, and yours is {given}.", name=name, given=show(number))
    if not isinstance(value[3], str) or value[3] not in (EMPTIED, ADDED):
        return say(
            'unit must be "a row emptied" or "a row added or removed", in these words, and yours is {given}.',
            given=show(value[3]),
        )
    return None


def _bound(name, value, upper):
    """What is to be said of a number below the upper end of pld's interval, or far above it; None where it is right.

    An interval that is asked for with a smaller width has a smaller upper end: the task asks for that of pld without a width.
    """
    if not math.isfinite(upper):
        return None if value == upper else say("{name}: of this run no number is proved, so it is infinite", name=name)
    if value < (1 - SLACK) * upper:
        return say(
            "{name}: {given} is below {certified}, which is certified for this run",
            name=name,
            given=rounding.down(value, 7),
            certified=rounding.up(upper, 7),
        )
    if value > (1 + WASTE) * upper:
        return say(
            "{name}: {given} is more than 1 % above {certified}, which is certified for this run",
            name=name,
            given=rounding.down(value, 7) if math.isfinite(value) else show(value),
            certified=rounding.up(upper, 7),
        )
    return None


RATE, NOISE = (
    to_say("a sample rate of about {other} (here it is {own})"),
    to_say("a noise multiplier of about {other} (here it is {own})"),
)


def _another_run(value, case):
    """For which sample rate, or else for which noise multiplier, the epsilon that was reported is certified; nothing where for none near by."""
    epsilon, right = value[0], _right(**case)[0]
    noise_multiplier, sample_rate, steps, delta = _of(**case)
    if not (math.isfinite(epsilon) and math.isfinite(right)) or _bound("epsilon", epsilon, right) is None:
        return ""

    def off(change, power):
        times = math.exp(change)
        run = pld.noisy_sgd(noise_multiplier * times ** (1 - power), sample_rate * times**power, steps)
        return math.log(run.epsilon(delta).upper / epsilon)

    found = []
    for told, own, power, most in (
        (RATE, sample_rate, 1, min(FARTHEST, 1 / sample_rate)),
        (NOISE, noise_multiplier, 0, FARTHEST),
    ):
        ends = -math.log(FARTHEST), math.log(most)
        if off(ends[0], power) * off(ends[1], power) < 0:
            times = math.exp(brentq(off, *ends, args=(power,), xtol=1e-3))
            found.append(say(told, other=f"{times * own:.3g}", own=f"{own:.3g}"))
    return say("Your epsilon would be that of {other}.", other=listed(found, "{first} or {then}")) if found else ""


def _field_by_field(value, case):
    """The law: the unit that holds, two certified bounds that waste at most 1 %, and the delta of the settings."""
    epsilon, delta, mu, unit = value
    right = _right(**case)
    faults = (
        None if unit == right[3] else say("unit: the neighbours of this run differ otherwise"),
        _bound("epsilon", epsilon, right[0]),
        None if math.isclose(delta, right[1]) else say("delta: it is another one than that of the settings"),
        _bound("mu", mu, right[2]),
    )
    fault = next((fault for fault in faults if fault), None)
    return fault is None, fault or say("the report holds")


exercise = OpenExercise(
    title="The report",
    good_for="the sentence that stands in the paper, and that somebody may rely on",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain({"settings": Made(_any_run, SETTINGS)}, most=0),
    draw=_draw_runs,
    reference=_right,
    returns=_four,
    law=_field_by_field,
    measure=_another_run,
    seconds=30.0,
    hints=(
        "Four questions, one after the other: is anything proved at all? Which number of people makes the sample rate? How many steps might there "
        "have been? And what may an attacker not tell apart?",
        "`run = pld.noisy_sgd(noise_multiplier, sample_rate, steps)` knows both bounds: `run.epsilon(delta)` and `run.mu(delta)` are intervals. "
        "Which end of each is a guarantee?",
        "A stop that was computed from what was released costs what was planned. So does a run that went to its end: there taken and planned are "
        "the same.",
    ),
    misconceptions=(
        Misconception(
            "mu before delta",
            "delta and mu have changed places: the second of the four is delta, the third mu.",
            _mu_first,
            recognise=lambda cases, values: all(
                math.isclose(value[2], case["settings"]["delta"]) for case, value in zip(cases, values, strict=True)
            ),
        ),
        Misconception(
            "stopped by the loss",
            "One of the runs was stopped by the training loss, and you report a finite number for it. The training loss is computed from the rows "
            "without noise. So when the run ended is one more answer about them, which is on no bill. No number is proved: epsilon and mu are "
            "`math.inf`.",
            _whatever_stopped,
            recognise=_somewhere(
                lambda report, covered, right: not covered and math.isfinite(min(report[0], report[2]))
            ),
        ),
        Misconception(
            "too careful",
            "You report infinity for a run of which something is proved. Is it one that stopped by what was released? That was computed from noisy "
            "outputs and is post-processing: all the planned steps together cover it. Or one with a `public_n`? That number is no secret, and the "
            "account is made with it.",
            _only_to_the_end,
            recognise=_somewhere(lambda report, covered, right: covered and math.isinf(max(report[0], report[2]))),
        ),
        Misconception(
            "unit",
            "The unit is not right in every run. Where `public_n` is given, no setting comes from the number of rows, and the promise is for a row "
            "added or removed. Where it is None, the number of rows is public: then a row is emptied, and the number stays.",
            _with(3, lambda settings: ADDED if settings["public_n"] is None else EMPTIED),
            recognise=_somewhere(lambda report, covered, right: report[3] != right[3]),
        ),
        Misconception(
            "exchanged",
            "epsilon and mu have changed places: the first of the four is epsilon, the third mu.",
            _exchanged,
            recognise=lambda cases, values: _is(0, _exchanged)(cases, values) and _is(2, _exchanged)(cases, values),
        ),
        Misconception(
            "steps taken",
            "You counted the steps that were taken. The outputs decided when to stop, so there might have been more steps, and where it stopped tells "
            "something too. What holds is the cost of all the planned steps, of which a stop leaves some unpublished.",
            TAKEN[0],
            recognise=_is(0, *TAKEN, IN_SHARE),
        ),
        Misconception(
            "rate from the rows",
            "You divided by the number of rows where `public_n` is given. The coins had the probability batch / public_n; and the number of rows is "
            "secret there, so nothing in a report may be computed from it.",
            ROWS,
            recognise=_is(0, ROWS, FEWER_OF_BOTH),
        ),
        Misconception(
            "limit",
            "Your epsilon comes from the mu of the limit. It is an approximation, and proves nothing. Report the upper end of pld's interval.",
            LIMIT,
            recognise=_is(0, LIMIT),
        ),
        Misconception(
            "moments accountant",
            "Your epsilon is that of the moments accountant. It holds, but it is more than 1 % above what pld certifies.",
            CLASSIC,
            recognise=_is(0, CLASSIC),
        ),
        Misconception(
            "Rényi",
            "Your epsilon is Rényi's, in its improved form. It holds, but it is more than 1 % above what pld certifies.",
            IMPROVED,
            recognise=_is(0, IMPROVED),
        ),
        Misconception(
            "one step",
            "Your epsilon is that of one step. There are `planned` of them.",
            ONE_STEP,
            recognise=_is(0, ONE_STEP),
        ),
        Misconception(
            "no coins",
            "Your epsilon is that of a row that is in every batch. It is drawn with the sample rate only, and that is worth a lot.",
            NO_COINS,
            recognise=_is(0, NO_COINS),
        ),
        Misconception(
            "noise times the clip norm",
            "You multiplied the noise multiplier by the clip norm, or divided it by that. It is the deviation over the clip norm already: how long gradients may be has no "
            "part in epsilon.",
            CLIPPED[0],
            recognise=_is(0, *CLIPPED),
        ),
        Misconception(
            "lower end",
            "Nearly: but your epsilon is no guarantee. Is it the lower end of the interval, or rounded down? A guarantee is the upper end, and if it is "
            "rounded, then up.",
            _lower_end,
            recognise=_just_below(0),
        ),
        Misconception(
            "delta",
            "delta is the one of the settings. epsilon and mu are computed for it, and hold for no smaller one.",
            _with(1, lambda settings: 1 / settings["rows"]),
            recognise=_somewhere(lambda report, covered, right: not math.isclose(report[1], right[1])),
        ),
        Misconception(
            "mu of the limit",
            "Your mu is that of the limit, an approximation. Certified is the upper end of `run.mu(delta)`.",
            LIMIT_MU,
            recognise=_is(2, LIMIT_MU),
        ),
        Misconception(
            "mu for every delta",
            "Your mu is sqrt(T) / sigma, which holds at every delta and is far too dark a picture. Wanted is the mu that is certified down to `delta`.",
            EVERY_MU,
            recognise=_is(2, EVERY_MU),
        ),
        Misconception(
            "mu of one pair",
            "Your mu is made of the one pair, epsilon at `delta`. At a larger delta more may be needed: what holds from `delta` on is the upper end of "
            "`run.mu(delta)`.",
            PAIR_MU,
            recognise=_is(2, PAIR_MU, near=1e-7),
        ),
        Misconception(
            "lower end of mu",
            "Nearly: but your mu is no guarantee. Is it the lower end of the interval, or rounded down? A guarantee is the upper end, and if it is "
            "rounded, then up.",
            _with(2, lambda settings: _lower_end(settings)[2]),
            recognise=_just_below(2),
        ),
    ),
)
