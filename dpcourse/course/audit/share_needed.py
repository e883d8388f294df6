"""The recursion behind the μ that one run proves."""

import math

from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpcourse import audit
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, any_of, rounded


def _draw_guesses(rng):
    """A run to compute by hand, two that need so much that mu is refuted or nearly so, and one in which w begins high."""
    few, many, poor = int(rng.integers(10, 15)), int(rng.integers(8, 25)) * 5, int(rng.integers(8, 25)) * 5
    by_hand = _case(rng, 3, 4, 10)
    by_hand = _in_need(by_hand, rng.uniform(1.6, 2.2) * by_hand["risk"] * 4 / 10)  # more than what it begins with
    high = _case(rng, round(rng.uniform(0.55, 0.6) * poor), poor, 8 * poor) | {"mu": rounded(rng.uniform(0.8, 1.2))}
    return [
        by_hand,
        _in_need(_case(rng, few - 1, few, 2 * few), 0.6),
        _in_need(_case(rng, round(rng.uniform(0.85, 0.95) * many), many, 10 * many), 0.08),
        high,
    ]


def _case(rng, correct, guesses, canaries):
    risk = float(rng.choice([0.02, 0.05, 0.1]))
    return {"mu": 0.0, "correct": correct, "guesses": guesses, "canaries": canaries, "risk": risk}


def _in_need(case, share):
    """The case, with the mu for which about that share is needed: so far below 1 that u never comes near it."""
    mu = brentq(lambda mu: math.log(exercise.reference(**case | {"mu": mu}) / share), 0, 5, xtol=1e-3)
    return case | {"mu": rounded(mu, 3)}


def _asked(u, mu):
    return float(ndtr(ndtri(min(u, 1.0)) - mu))


def _recursion(
    begin=lambda correct, guesses, canaries, risk: (risk * correct / canaries, risk * (guesses - correct) / canaries),
    asked=_asked,
    least=max,
    factor=lambda i, guesses, canaries: i / (guesses - i),
    grows=lambda w, more: more - w,
    steps=lambda correct: range(correct - 1, -1, -1),
    end=lambda u, w, guesses, canaries: u + w,
):
    """The recursion, with each of its parts as a slip may have it; u stays at 1 or below."""

    def code(mu, correct, guesses, canaries, risk):
        u, w = begin(correct, guesses, canaries, risk)
        for i in steps(correct):
            more = least(w, asked(u, mu))
            u, w = u + factor(i, guesses, canaries) * grows(w, more), more
        return float(end(u, w, guesses, canaries))

    return code


def _w_stays(mu, correct, guesses, canaries, risk):
    """Every round compares with the first w."""
    u, w = risk * correct / canaries, risk * (guesses - correct) / canaries
    for i in range(correct - 1, -1, -1):
        u += i / (guesses - i) * (max(w, _asked(u, mu)) - w)
    return float(u + w)


def _since_the_beginning(mu, correct, guesses, canaries, risk):
    """Every round adds what w has grown since the first."""
    u, w = risk * correct / canaries, risk * (guesses - correct) / canaries
    first = w
    for i in range(correct - 1, -1, -1):
        w = max(w, _asked(u, mu))
        u += i / (guesses - i) * (w - first)
    return float(u + w)


def _by_hand(code):
    """recognise: as the code has it on the first case, where u stays below 1 with every slip; beyond 1 each goes on as it likes."""
    return lambda cases, values: math.isclose(values[0], code(**cases[0]), rel_tol=1e-6)


def _beyond(name, message, **parts):
    """A slip by which u may grow beyond 1."""
    code = _recursion(**parts)
    return Misconception(name, message, code, recognise=_by_hand(code))


RUN = to_say(
    "`mu` from 0 to 2; 1 to 100 `guesses`, fewer of them `correct`, perhaps none, at least as many `canaries`; `risk` is 0.02, 0.05 or 0.1; the share that is needed is below 0.9"
)


def _any_run(rng):
    """One in which u stays below 1, beyond which it means nothing."""
    while True:
        guesses = int(rng.integers(1, 101))
        case = _case(rng, int(rng.integers(0, guesses)), guesses, guesses * int(rng.integers(1, 11)))
        case["mu"] = rounded(rng.uniform(0, 2)) if rng.random() < 0.8 else 0.0
        if exercise.reference(**case) < 0.9:
            return tuple(case.values())


def _written(mu, correct, guesses, canaries, risk):
    """As learners write it."""
    u, w = risk * correct / canaries, risk * (guesses - correct) / canaries
    for i in range(correct - 1, -1, -1):
        more = max(w, _asked(u, mu))
        u, w = u + i / (guesses - i) * (more - w), more
    return u + w


exercise = Exercise(
    title="The μ of one run",
    good_for="refuting a μ by a single training, without a detour over (ε, δ)",
    difficulty=4,
    minutes=20,
    points=3,
    domain=Domain({"mu, correct, guesses, canaries, risk": Made(_any_run, RUN)}),
    draw=_draw_guesses,
    formulas=(_written,),
    reference=_recursion(),
    means={
        "risk * correct / canaries": "where u begins",
        "risk * (guesses - correct) / canaries": "where w begins",
        "_asked(u, mu)": "what mu asks for at u",
        "max(w, _asked(u, mu))": "the next w, which never falls",
        "i / (guesses - i)": "the factor of that round",
        "i / (guesses - i) * (more - w)": "what u gains in that round",
    },
    returns=a_number,
    possible=Number(0, 1),
    forbidden=(audit.one_run_mu_lower_bound,),
    hints=(
        "Begin with u and w as they are for i = correct. Then let i run down: `range(correct - 1, -1, -1)`, with 0 in it. Each round changes both. "
        "With 3 right of 4 guesses, 10 canaries, mu 0.2 and a risk of 0.1, (i, u, w) goes through (3, 0.0300, 0.0100), (2, 0.0387, 0.0187), "
        "(1, 0.0407, 0.0247), (0, 0.0407, 0.0260). The answer is 0.0667 then.",
        "In a round, first find the new w: it is what it was, or Φ(Φ⁻¹(u) - μ) if that is larger. Keep the old w until u has grown: u needs the "
        "difference of both.",
        "A round begins with `more = max(w, norm.cdf(norm.ppf(u) - mu))`. Change u next, by i / (guesses - i) times what w grows, and w last.",
    ),
    misconceptions=(
        Misconception(
            "u never grows",
            "Your u never grows. Did you put the new w in the place of the old one before u was changed? u grows with the difference of both, "
            "so keep the old one until then. Or does i run upwards, from 0? You know u and w for i = correct; from there go down.",
            _recursion(factor=lambda i, guesses, canaries: 0.0),
        ),
        Misconception(
            "nothing grows",
            "Your u and w end as they begin. Is what is asked for a number? μ is taken off Φ⁻¹(u), `norm.cdf(norm.ppf(u) - mu)`; of a negative "
            "number `norm.ppf` is NaN, and `max(w, NaN)` is w.",
            _recursion(asked=lambda u, mu: 0.0),
        ),
        Misconception(
            "w stays",
            "Your w stays what it was in the beginning. Each round ends with the new w in its place, after u has grown.",
            _w_stays,
            recognise=_by_hand(_w_stays),
        ),
        _beyond(
            "plus mu",
            "You added μ inside Φ. That is how large w may be at most. How large it must be at least is Φ(Φ⁻¹(u) - μ).",
            asked=lambda u, mu: _asked(u, -mu),
        ),
        _beyond(
            "misses",
            "You took G_μ(u), or Φ(Φ⁻¹(1 - u) - μ): the misses of a test. u and w are the chances of one set of outputs, so what is asked for is "
            "Φ(Φ⁻¹(u) - μ).",
            asked=lambda u, mu: float(ndtr(-ndtri(min(u, 1.0)) - mu)),
        ),
        Misconception(
            "growth since the beginning",
            "In each round you let u grow by how much w has grown since the beginning. It grows by what this round adds: the new w less the one before.",
            _since_the_beginning,
            recognise=_by_hand(_since_the_beginning),
        ),
        Misconception(
            "no maximum",
            "You let w fall. It is the chance of a set of outputs that only grows as i goes down: where it is larger than Φ(Φ⁻¹(u) - μ) already, it "
            "stays as it is.",
            _recursion(least=lambda w, asked: asked),
        ),
        Misconception(
            "stops at 1",
            "You left out the last round, i = 0. There u does not grow, but w does. `range(correct - 1, -1, -1)` ends with 0.",
            _recursion(steps=lambda correct: range(correct - 1, 0, -1)),
        ),
        _beyond(
            "begins at correct",
            "You have one round too many: the first i is correct - 1. For i = correct the chances are what you begin with.",
            steps=lambda correct: range(correct, -1, -1),
        ),
        Misconception(
            "only the last round counts",
            "You returned after one round. The `return` belongs behind the loop.",
            _recursion(steps=lambda correct: range(correct - 1, correct - 2, -1)),
        ),
        Misconception(
            "upside down",
            "You let u grow by (guesses - i)/i times as much as w. Outputs with i right guesses have guesses - i wrong ones, so for each wrong "
            "guess there are i/(guesses - i) right ones.",
            _recursion(factor=lambda i, guesses, canaries: (guesses - i) / max(i, 1)),
            recognise=any_of(
                _recursion(factor=lambda i, guesses, canaries: (guesses - i) / max(i, 1)),
                _recursion(
                    factor=lambda i, guesses, canaries: (guesses - i) / i,
                    steps=lambda correct: range(correct - 1, 0, -1),
                ),
            ),
        ),
        Misconception(
            "out of the guesses, i",
            "You let u grow by i/guesses times as much as w. Outputs with i right guesses have guesses - i wrong ones: divide by these.",
            _recursion(factor=lambda i, guesses, canaries: i / guesses),
        ),
        _beyond(
            "one right guess too many",
            "You let u grow by (i + 1)/(guesses - i) times as much as w. The outputs of this round have exactly i right guesses: i/(guesses - i).",
            factor=lambda i, guesses, canaries: (i + 1) / (guesses - i),
        ),
        Misconception(
            "out of the canaries",
            "You divided by canaries - i. Outputs with i right guesses have guesses - i wrong ones: for the other canaries nothing is guessed.",
            _recursion(factor=lambda i, guesses, canaries: i / (canaries - i)),
        ),
        _beyond(
            "all of w",
            "You let u grow with all of w. It grows only by what w has grown in this round: more - w.",
            grows=lambda w, more: more,
        ),
        Misconception(
            "u alone",
            "You returned u. The canary is guessed for if it is guessed rightly or wrongly: return u + w.",
            _recursion(end=lambda u, w, guesses, canaries: u),
        ),
        Misconception(
            "w alone",
            "You returned w. The canary is guessed for if it is guessed rightly or wrongly: return u + w.",
            _recursion(end=lambda u, w, guesses, canaries: w),
        ),
        Misconception(
            "share of the guesses",
            "You divided by the share that is guessed for. Return u + w itself; the comparison with guesses / canaries comes after.",
            _recursion(end=lambda u, w, guesses, canaries: (u + w) * canaries / guesses),
        ),
        Misconception(
            "the rest",
            "You took guesses / canaries off. Return u + w itself; the comparison comes after.",
            _recursion(end=lambda u, w, guesses, canaries: u + w - guesses / canaries),
        ),
        _beyond(
            "begins with the risk",
            "You began with u = risk and w = 0. The risk is the chance of so many right guesses. That the *random canary* is among those guessed "
            "rightly is risk · correct / canaries, and among those guessed wrongly risk · (guesses - correct) / canaries.",
            begin=lambda correct, guesses, canaries, risk: (risk, 0.0),
        ),
        _beyond(
            "no wrong guesses",
            "You began with w = 0. With `correct` right guesses there are guesses - correct wrong ones: w begins at risk · (guesses - correct) / canaries.",
            begin=lambda correct, guesses, canaries, risk: (risk * correct / canaries, 0.0),
        ),
        Misconception(
            "abstentions as wrong guesses",
            "Your result is the risk. So it is where w begins with risk · (canaries - correct) / canaries: then w is too large to grow. That counts the canaries for "
            "which nothing is guessed. Only guesses - correct are guessed wrongly.",
            _recursion(
                begin=lambda correct, guesses, canaries, risk: (
                    risk * correct / canaries,
                    risk * (canaries - correct) / canaries,
                )
            ),
        ),
        _beyond(
            "out of the guesses",
            "You began with risk · correct / guesses. The canary is drawn from all of them, guessed for or not: divide by canaries.",
            begin=lambda correct, guesses, canaries, risk: (
                risk * correct / guesses,
                risk * (guesses - correct) / guesses,
            ),
        ),
        _beyond(
            "confidence for risk",
            "You began with 1 - risk. What is to be refuted is that so many right guesses have a chance as small as the risk: begin with the risk itself.",
            begin=lambda correct, guesses, canaries, risk: (
                (1 - risk) * correct / canaries,
                (1 - risk) * (guesses - correct) / canaries,
            ),
        ),
        _beyond(
            "Phi of u",
            "You took Φ(u - μ). u is a probability; Φ⁻¹ makes a threshold of it first: Φ(Φ⁻¹(u) - μ), `norm.cdf(norm.ppf(u) - mu)`.",
            asked=lambda u, mu: float(ndtr(u - mu)),
        ),
    ),
)
