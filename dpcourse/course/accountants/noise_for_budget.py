"""The noise for a budget."""

import functools
import math

from scipy.optimize import brentq

from dpcourse import clt, gdp, pld, rdp
from dpcourse.base import rounding
from dpcourse.base.languages import say
from dpcourse.checking import Domain, Misconception, Number, OneOf, OpenExercise, Whole, a_number, rounded

LEAST_NOISE, MOST_NOISE, WASTE = 0.4, 100.0, 0.01


HALVED = (MOST_NOISE - LEAST_NOISE) / 2**13  # how far apart the ends are where whoever halves the range stops at 0.02


def _draw_budget(rng):
    """Two budgets: one with little noise, of which 1 % is less than is wasted by a search that stops at 0.02, or at 0.01, or that rounds up to hundredths; and one with more than 5."""
    sample_rate, steps = rounded(rng.uniform(0.01, 0.0101), 4), int(rng.integers(100, 109))
    noise = (
        LEAST_NOISE + 12.5 * HALVED + rng.uniform(1e-4, 2e-4)
    )  # an end of the search, where it stops at 0.01, and a middle, where at 0.02
    little = {
        "epsilon": math.ceil(1000 * _certified(noise, sample_rate, steps, 1e-5).upper) / 1000,
        "delta": 1e-5,
        "sample_rate": sample_rate,
        "steps": steps,
    }
    more = {
        "epsilon": rounded(rng.uniform(1, 1.1), 1),
        "delta": 1e-5,
        "sample_rate": rounded(rng.uniform(0.055, 0.06), 3),
        "steps": int(rng.integers(660, 800)),
    }
    return [little, more]


def _a_noise(value, case):
    complaint = a_number(value, case)
    if complaint is None and value < LEAST_NOISE:
        return say(
            "The noise multiplier must be from {least:g} to {most:g} here, and yours is {noise:.4g}. So little noise is not enough: "
            "a formula that holds for much noise, as p sqrt(T) / mu does, is of no use here.",
            least=LEAST_NOISE,
            most=MOST_NOISE,
            noise=value,
        )
    if complaint is None and value > MOST_NOISE:
        return say(
            "The noise multiplier must be from {least:g} to {most:g} here, and yours is {noise:.4g}.",
            least=LEAST_NOISE,
            most=MOST_NOISE,
            noise=value,
        )
    return complaint


@functools.lru_cache(maxsize=4096)
def _certified(noise_multiplier, sample_rate, steps, delta):
    return pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)


@functools.lru_cache(maxsize=64)
def _delta(noise_multiplier, sample_rate, steps, epsilon):
    return pld.noisy_sgd(noise_multiplier, sample_rate, steps).delta(epsilon).upper


@functools.lru_cache(maxsize=1024)
def _least_noise(accountant, epsilon, delta, sample_rate, steps):
    """The noise at which the accountant says epsilon, to 1e-5 of itself; the most that is allowed, where it needs more."""

    def excess(log_noise):
        found = ACCOUNTANTS[accountant](math.exp(log_noise), sample_rate, steps, delta)
        return math.log(max(found, 1e-9) / epsilon)

    ends = math.log(LEAST_NOISE), math.log(MOST_NOISE)
    return MOST_NOISE if excess(ends[1]) > 0 else math.exp(brentq(excess, *ends, xtol=1e-5))


ACCOUNTANTS = {
    "exact": lambda s, p, t, d: _certified(s, p, t, d).upper,
    "limit": lambda s, p, t, d: gdp.epsilon(d, clt.noisy_sgd_mu(s, p, t)),
    "classic": lambda s, p, t, d: rdp.epsilon(s, p, t, d, conversion="classic"),
    "improved": lambda s, p, t, d: rdp.epsilon(s, p, t, d),
    "one step": lambda s, p, t, d: _certified(s, p, 1, d).upper,
    "half of delta": lambda s, p, t, d: _certified(s, p, t, d / 2).upper,
    "not sampled": lambda s, p, t, d: gdp.epsilon(d, math.sqrt(t) / s),
    "step by step": lambda s, p, t, d: t * _certified(s, p, 1, d / t).upper,
}


def _by(accountant):
    return lambda epsilon, delta, sample_rate, steps: min(
        1.0001 * _least_noise(accountant, epsilon, delta, sample_rate, steps), MOST_NOISE
    )


def _is_by(accountant, least=0.99):
    """recognise: with every noise the accountant says what was asked for, to one percent, or less, down to this part of it; or
    more, with the most noise that is allowed."""

    def recognise(cases, values):
        setting = [(case["sample_rate"], case["steps"], case["delta"]) for case in cases]
        found = [ACCOUNTANTS[accountant](float(value), *rest) for value, rest in zip(values, setting, strict=True)]
        ratios = [epsilon / case["epsilon"] for epsilon, case in zip(found, cases, strict=True)]
        most = [1.01 if value < MOST_NOISE else math.inf for value in values]
        return (
            all(least < ratio < bound for ratio, bound in zip(ratios, most, strict=True)) and min(values) < MOST_NOISE
        )

    return recognise


def _enough_and_no_more(value, case):
    """The law: certainly within the budget, and with 1 % less noise certainly not."""
    epsilon, setting = case["epsilon"], (case["sample_rate"], case["steps"], case["delta"])
    upper = _certified(float(value), *setting).upper
    less = _certified((1 - WASTE) * float(value), *setting).lower
    seen = say(
        "epsilon is certainly at most {at_most}, with {waste:.0%} less noise certainly at least {at_least}",
        at_most=rounding.up(upper, 6),
        waste=WASTE,
        at_least=rounding.down(less, 6),
    )
    if upper <= epsilon < less:
        return True, seen
    delta = _delta(float(value), case["sample_rate"], case["steps"], epsilon)
    return False, say("{seen}; it is the noise for a delta of about {delta}", seen=seen, delta=f"{delta:.3g}")


def _any_over(cases, values):
    return any(
        _certified(float(value), case["sample_rate"], case["steps"], case["delta"]).upper > case["epsilon"]
        for case, value in zip(cases, values, strict=True)
    )


def _hair_short(cases, values):
    """Over the budget somewhere, and everywhere within 2 % of the least noise."""
    near = all(abs(value / _by("exact")(**case) - 1) < 0.02 for case, value in zip(cases, values, strict=True))
    return near and _any_over(cases, values)


def _step_by_step(epsilon, delta, sample_rate, steps):
    """The noise for which `steps` bills of one step are the budget, or the most there is."""
    setting = sample_rate, steps, delta
    if ACCOUNTANTS["step by step"](MOST_NOISE, *setting) > epsilon:
        return MOST_NOISE
    return _least_noise("step by step", epsilon, delta, sample_rate, steps)


def _for_epochs(rounded_up=False):
    """The least noise for as many steps as the run has epochs."""

    def code(epsilon, delta, sample_rate, steps):
        epochs = (math.ceil if rounded_up else math.floor)(sample_rate * steps)
        return max(LEAST_NOISE, 1.0001 * _first_enough("exact", epsilon, delta, sample_rate, max(1, epochs)))

    return code


def _too_little_and_too_much(cases, values):
    """Over one budget, and with another much more noise than it needs."""
    over = [_any_over([case], [value]) for case, value in zip(cases, values, strict=True)]
    return any(over) and any(value > 1.05 * _by("exact")(**case) for case, value in zip(cases, values, strict=True))


def _round_and_too_little(cases, values):
    """Over the budget somewhere with 1, 1.5, 2, …, which no search finds."""
    return any(
        2 * value == round(2 * value) and _any_over([case], [value]) for case, value in zip(cases, values, strict=True)
    )


def _first_enough(accountant, epsilon, delta, sample_rate, steps):
    """The least noise of the range for which the accountant is content."""
    if ACCOUNTANTS[accountant](LEAST_NOISE, sample_rate, steps, delta) <= epsilon:
        return LEAST_NOISE
    return _least_noise(accountant, epsilon, delta, sample_rate, steps)


exercise = OpenExercise(
    title="The noise for a budget",
    good_for="planning a run: the question that comes before every private training",
    difficulty=3,
    minutes=25,
    points=3,
    domain=Domain(
        {"epsilon": Number(1, 5), "delta": OneOf((1e-5,)), "sample_rate": Number(0.01, 0.06), "steps": Whole(100, 800)},
        most=0,
    ),
    draw=_draw_budget,
    reference=_by("exact"),
    returns=_a_noise,
    forbidden=("dpcourse.dpsgd.ledger:noise_for",),
    law=_enough_and_no_more,
    seconds=30.0,
    hints=(
        "`pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)` gives two numbers. Which of them is a guarantee? It falls "
        "as the noise grows.",
        "Halve an interval: begin with 0.4 and 100, and look at the middle. If the upper end there is at most epsilon, the middle is "
        "enough noise, and perhaps less will do: which end moves to the middle? Some 15 rounds are plenty. Then return the end at which "
        "the promise is known to hold.",
    ),
    misconceptions=(
        Misconception(
            "limit",
            "You planned with the mu of the limit. It is an approximation: here it asks for less noise than the promise needs. "
            "Plan with the upper end of pld's interval.",
            _by("limit"),
            recognise=_is_by("limit", least=0.95),
        ),
        Misconception(
            "moments accountant",
            "You planned with the moments accountant. The promise holds, but it costs more noise than it must. pld certifies with less.",
            _by("classic"),
            recognise=_is_by("classic"),
        ),
        Misconception(
            "Rényi",
            "You planned with Rényi's bound in its improved form. The promise holds, but it costs more noise than it must. pld certifies with less.",
            _by("improved"),
            recognise=_is_by("improved"),
        ),
        Misconception(
            "one step",
            "This noise is enough for one step. There are `steps` of them.",
            lambda epsilon, delta, sample_rate, steps: max(
                LEAST_NOISE, 1.0001 * _first_enough("one step", epsilon, delta, sample_rate, steps)
            ),
            recognise=lambda cases, values: all(
                abs(value / max(LEAST_NOISE, _first_enough("one step", **case)) - 1) < 0.01
                for case, value in zip(cases, values, strict=True)
            ),
        ),
        Misconception(
            "epochs for steps",
            "This noise is enough for as many steps as there are epochs, sample_rate times steps. Ask pld for `steps` of them: each step has noise, and each has its price.",
            _for_epochs(),
            recognise=lambda cases, values: any(
                all(abs(value / way(**case) - 1) < 0.01 for case, value in zip(cases, values, strict=True))
                for way in (_for_epochs(), _for_epochs(rounded_up=True))
            ),
        ),
        Misconception(
            "half of delta",
            "This is the noise for half of delta, or for nearly that. The interval of pld is for both directions already: ask for it at `delta`.",
            _by("half of delta"),
            recognise=_is_by("half of delta"),
        ),
        Misconception(
            "not sampled",
            "You planned for a Mia who is in every batch. She is drawn with probability sample_rate only, and that is worth a lot.",
            _by("not sampled"),
            recognise=_is_by("not sampled"),
        ),
        Misconception(
            "step by step",
            "You gave each step epsilon / steps and delta / steps. That is basic composition: the promise holds, with many times the noise that it "
            "needs. Ask pld for all steps together.",
            lambda epsilon, delta, sample_rate, steps: min(
                1.0001 * _step_by_step(epsilon, delta, sample_rate, steps), MOST_NOISE
            ),
            recognise=lambda cases, values: (
                all(abs(value / _step_by_step(**case) - 1) < 0.01 for case, value in zip(cases, values, strict=True))
                and min(values) < 0.99 * MOST_NOISE
            ),
        ),
        Misconception(
            "a hair short",
            "Nearly: but with this noise the promise is not certain. Did you round down, stop on the wrong side, or take the lower end of the "
            "interval? Return a number for which the upper end is at most epsilon.",
            lambda epsilon, delta, sample_rate, steps: (
                0.995 * _least_noise("exact", epsilon, delta, sample_rate, steps)
            ),
            recognise=_hair_short,
        ),
        Misconception(
            "the end of a narrow range",
            "Where much noise is needed, yours is too small, and a round number: the end at which your search begins? Let it begin at 100.",
            lambda epsilon, delta, sample_rate, steps: min(
                2.0, _least_noise("exact", epsilon, delta, sample_rate, steps)
            ),
            recognise=_round_and_too_little,
        ),
        Misconception(
            "too little and too much",
            "For one budget your noise is too small, and for another it is more than is needed. Is it rounded? Or is it a formula with a constant? None gives it: search with pld, and return what the search ends with.",
            lambda epsilon, delta, sample_rate, steps: (
                (0.8 if steps * sample_rate < 10 else 1.4)  # the first budget, and the second
                * _least_noise("exact", epsilon, delta, sample_rate, steps)
            ),
            recognise=_too_little_and_too_much,
        ),
        Misconception(
            "too little",
            "This noise is too small: the upper end of pld's interval is larger than the budget. Did a formula give it? A rule of thumb proves nothing: search with pld.",
            lambda epsilon, delta, sample_rate, steps: max(
                LEAST_NOISE, 0.8 * _least_noise("exact", epsilon, delta, sample_rate, steps)
            ),
            recognise=_any_over,
        ),
        Misconception(
            "the end of the range",
            "You return the end at which the search begins, 100, far more noise than is needed. Does the search go the right way? Where the upper "
            "end of pld's interval is at most epsilon there is noise enough, and less may do.",
            lambda epsilon, delta, sample_rate, steps: MOST_NOISE,
            recognise=lambda cases, values: min(values) > 0.99 * MOST_NOISE,
        ),
        Misconception(
            "too much",
            "The promise holds, but there is more noise than it needs: with 1 % less it would hold as well. If you search: do you begin at the least noise "
            "that is allowed, and go on until both ends are within 1 % of each other? Or is something added at the end, or rounded up? The upper end is certain already. Or do you search for another delta, or by a formula? It is said below for which delta your noise is right.",
            lambda epsilon, delta, sample_rate, steps: 2.2 * _least_noise("exact", epsilon, delta, sample_rate, steps),
            recognise=lambda cases, values: not _any_over(cases, values),
        ),
    ),
)
