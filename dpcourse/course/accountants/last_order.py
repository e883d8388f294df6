"""Where three terms stop."""

import math

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Misconception, Number, a_whole_number, rounded
from dpcourse.course.accountants.shared import divergence

MOST, FARTHEST = 100, 200  # no right answer is of this order; a wrong one goes on, but not for ever
KINDS = (  # noise multipliers, sample rates and shares: where three terms hold for few orders and for many, and where p is large
    ((0.7, 1.0), (0.002, 0.01), (0.5, 0.95)),
    ((1.2, 1.8), (0.005, 0.02), (0.6, 0.8)),
    ((1.8, 2.5), (0.002, 0.01), (0.85, 0.97)),
    ((2.5, 4.0), (0.1, 0.3), (0.3, 0.5)),
    ((3.0, 5.0), (0.05, 0.15), (0.7, 0.85)),
    ((4.8, 5.0), (0.02, 0.03), (0.8, 0.93), 81),
)


def _draw_step(rng):
    return [_drawn(rng, *kind) for kind in KINDS]


def _drawn(rng, noises, rates, shares, least=4):
    while True:
        case = {
            "noise_multiplier": rounded(rng.uniform(*noises)),
            "sample_rate": rounded(rng.uniform(*rates), 4),
            "share": rounded(rng.uniform(*shares), 2),
        }
        if _is_clear(**case) and _right(**case) >= least:
            return case


def _is_clear(noise_multiplier, sample_rate, share):
    """Whether no rounding can decide at which order the share is passed, and that is no order beyond MOST."""
    setting = noise_multiplier, sample_rate
    last = _right(*setting, share)
    near = (_third(*setting, a) / (share * _rest(*setting, a)) - 1 for a in (last, last + 1))
    return last < MOST and all(abs(off) > 1e-4 for off in near)


def _third(noise_multiplier, sample_rate, order):
    return math.comb(order, 2) * sample_rate**2 * math.expm1(1 / noise_multiplier**2)


def _rest(noise_multiplier, sample_rate, order):
    """What the sum has above 1."""
    return math.expm1(min((order - 1) * divergence(noise_multiplier, sample_rate, order), 700.0))


def _last(third=_third, rest=_rest, off=0, share_of=lambda share: share, most=FARTHEST):
    """The last order before the first at which `third` is less than its share of `rest`."""

    def code(noise_multiplier, sample_rate, share):
        order = 2
        while (
            third(noise_multiplier, sample_rate, order + 1)
            >= share_of(share) * rest(noise_multiplier, sample_rate, order + 1)
            and order < most
        ):
            order += 1
        return order + off

    return code


_right = _last(most=MOST)


def _looped(noise_multiplier, sample_rate, share):
    """As learners write it."""
    a = 2
    while True:
        a += 1
        third = a * (a - 1) / 2 * sample_rate**2 * (math.exp(1 / noise_multiplier**2) - 1)
        whole = math.exp(min((a - 1) * divergence(noise_multiplier, sample_rate, a), 700))
        if third < share * (whole - 1) or a > MOST:
            return a - 1


def _tried(noise_multiplier, sample_rate, share):
    """By trying every order."""
    found = 2
    for a in range(2, MOST):
        third = a * (a - 1) / 2 * sample_rate**2 * (math.exp(1 / noise_multiplier**2) - 1)
        with np.errstate(over="ignore"):
            above_one = np.expm1((a - 1) * divergence(noise_multiplier, sample_rate, a))
        if third / above_one >= share:
            found = a
    return found


def _fourth(noise_multiplier, sample_rate, order):
    u = math.exp(1 / noise_multiplier**2)
    return math.comb(order, 3) * sample_rate**3 * (u**3 - 3 * u + 2)


def _two_of_the_binomial_sum(noise_multiplier, sample_rate, order):
    return math.comb(order, 2) * sample_rate**2 * (1 - sample_rate) ** (order - 2) * math.exp(1 / noise_multiplier**2)


def _lemma(noise_multiplier, sample_rate, share):
    """The last whole order of the lemma's range: lambda is one less."""
    return 1 + int(noise_multiplier**2 * math.log(1 / (sample_rate * noise_multiplier)))


def _is_lemma(cases, values):
    """recognise: that order everywhere, or lambda, or the order after; or 2, where it is less."""
    return any(
        all(value in (found := _lemma(**case) + off, max(2, found)) for case, value in zip(cases, values, strict=True))
        for off in (-1, 0, 1)
    )


def _of_the_binomial_sum(noise_multiplier, sample_rate, order):
    zero, one = (1 - sample_rate) ** order, order * sample_rate * (1 - sample_rate) ** (order - 1)
    return zero + one + _two_of_the_binomial_sum(noise_multiplier, sample_rate, order) - 1


_two_terms = _last(rest=lambda s, q, a: _third(s, q, a) + _fourth(s, q, a))


def _slip(name, message, **changed):
    """A search by another third term, or another rest, wherever it is ended that would go on for ever."""
    code = _last(**changed)
    return Misconception(name, message, code, recognise=_up_to_the_end(code))


def _up_to_the_end(code):
    """recognise: the orders of `code`, where all from the last one on are the same."""
    return lambda cases, values: all(
        min(value, MOST - 1) == min(code(**case), MOST - 1) for case, value in zip(cases, values, strict=True)
    )


exercise = Exercise(
    title="Where three terms stop",
    good_for="knowing how far a rule of thumb made from the first terms may be trusted",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain(
        {"noise_multiplier": Number(0.7, 5), "sample_rate": Number(0.002, 0.3), "share": Number(0.3, 0.97)},
        where=_is_clear,
        where_told=to_say("the order asked for is less than 100"),
        most=12,
    ),
    draw=_draw_step,
    reference=_right,
    formulas=(_looped, _tried),
    means={
        "a * (a - 1) / 2 * sample_rate ** 2 * (math.exp(1 / noise_multiplier ** 2) - 1)": "the third term",
        "np.expm1((a - 1) * divergence(noise_multiplier, sample_rate, a))": "what the whole sum has above 1",
        "share * (whole - 1)": "that share of what the whole sum has above 1",
    },
    returns=a_whole_number,
    hints=(
        "What the whole sum has above 1 is e^((a - 1) D_a) - 1. `rdp.divergence` gives D_a, and `math.expm1` takes the 1 off without "
        "losing digits. Compare the third term with it, order by order.",
        "Loop over a = 3, 4, 5 … and stop at the first a at which the third term, a (a - 1) / 2 p² (e^(1/sigma²) - 1), is less than "
        "`share` times that. Do not go on: behind it e^((a - 1) D_a) soon is no double. Is it this order that is asked for?",
    ),
    misconceptions=(
        Misconception(
            "one too high",
            "One too high: at your order the third term already is less than its share. You were asked for the last order at which it is not.",
            _last(off=1),
        ),
        Misconception(
            "one too low",
            "One too low: at the next order the third term still has its share. Or did you return lambda, which is a - 1?",
            _last(off=-1),
        ),
        _slip(
            "the 1 counted",
            "You counted the 1, the first term, on both sides. It is nearly all of the sum at low orders, and says nothing about anyone. "
            "Compare the third term with what the sum has above 1.",
            third=lambda s, q, a: 1 + _third(s, q, a),
            rest=lambda s, q, a: 1 + _rest(s, q, a),
        ),
        _slip(
            "the whole sum",
            "Your result is nearly always 2. So it is if the third term is compared with the whole sum: take the 1 off first, `math.expm1`. Or do you "
            "return the first order at which it has its share? The last one is asked for. Or is it the term with X³? The third is that with X².",
            rest=lambda s, q, a: 1 + _rest(s, q, a),
        ),
        _slip(
            "divergence",
            "You compared the third term with D_a, or with e^(D_a) - 1, which is nearly as large. What the sum has above 1 is e^((a - 1) D_a) - 1.",
            rest=divergence,
        ),
        _slip(
            "logarithm",
            "You compared the third term with the logarithm of the sum, (a - 1) D_a. What the sum has above 1 is e^((a - 1) D_a) - 1.",
            rest=lambda s, q, a: (a - 1) * divergence(s, q, a),
        ),
        _slip(
            "logarithms of both",
            "You compared logarithms, ln(1 + third term) with (a - 1) D_a. Compare the third term itself with e^((a - 1) D_a) - 1.",
            third=lambda s, q, a: math.log1p(_third(s, q, a)),
            rest=lambda s, q, a: (a - 1) * divergence(s, q, a),
        ),
        _slip(
            "a - 1 forgotten",
            "You took e^(D_a) - 1. The sum is e^((a - 1) D_a).",
            rest=lambda s, q, a: math.expm1(min(divergence(s, q, a), 700.0)),
        ),
        _slip(
            "a for a - 1",
            "You took e^(a D_a) - 1. The sum is e^((a - 1) D_a).",
            rest=lambda s, q, a: math.expm1(min(a * divergence(s, q, a), 700.0)),
        ),
        _slip(
            "lambda for the order",
            "Your third term is that of the next order: a (a + 1) / 2 in place of a (a - 1) / 2. Lesson 01 writes it with lambda = a - 1.",
            third=lambda s, q, a: _third(s, q, a + 1),
        ),
        _slip(
            "2 forgotten",
            "The 2 below a (a - 1) is missing: there are a (a - 1) / 2 ways to choose two of the factors.",
            third=lambda s, q, a: 2 * _third(s, q, a),
        ),
        _slip(
            "rate not squared",
            "Your third term has p. It has p²: the second power of p X.",
            third=lambda s, q, a: _third(s, q, a) / q,
        ),
        _slip(
            "minus one forgotten",
            "You left out the - 1 behind e^(1/sigma²). With much noise the third term must go to 0.",
            third=lambda s, q, a: _third(s, q, a) - _third(s, q, a) / -math.expm1(1 / s**2),
        ),
        _slip(
            "small exponent",
            "You replaced e^(1/sigma²) - 1 by 1/sigma². That holds for much noise only.",
            third=lambda s, q, a: math.comb(a, 2) * (q / s) ** 2,
        ),
        _slip(
            "terms of the binomial sum",
            "You took the terms k = 0, 1 and 2 of the binomial sum. The third term here is that of the powers of p X: "
            "a (a - 1) / 2 p² (e^(1/sigma²) - 1), without a power of 1 - p.",
            third=_of_the_binomial_sum,
        ),
        _slip(
            "one term of the binomial sum",
            "You took the term k = 2 of the binomial sum. The third term here is that of the powers of p X: a (a - 1) / 2 p² (e^(1/sigma²) - 1), "
            "with a 1 taken off and without a power of 1 - p.",
            third=_two_of_the_binomial_sum,
        ),
        Misconception(
            "two terms for all",
            "You compared the third term with the third and the fourth. What the sum has above 1 are all terms from the third on, and many of "
            "them count at high orders: e^((a - 1) D_a) - 1.",
            _two_terms,
            recognise=_up_to_the_end(_two_terms),
        ),
        _slip(
            "against the others",
            "You compared the third term with all other terms behind the 1. It is to be the part `share` of what the sum has above 1, and there it "
            "is counted itself.",
            rest=lambda s, q, a: _rest(s, q, a) - _third(s, q, a),
        ),
        Misconception(
            "the others' share",
            "You asked that all other terms together have at most `share`. It is the third term that must have at least `share`.",
            _last(share_of=lambda share: 1 - share),
        ),
        Misconception(
            "range of the lemma",
            "You returned the range of the lemma, lambda up to sigma² ln(1/(p sigma)), which is proved for sigma >= 1 and small p only. How far "
            "three terms really hold is to be computed.",
            _lemma,
            recognise=_is_lemma,
        ),
    ),
)
