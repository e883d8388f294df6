"""Recognize a trade-off function."""

import numpy as np

from dpcourse import tradeoff
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, true_or_false


def _curve(widths, falls, end=0.0):
    """Points in 64ths, so that slopes are exact: widths and slopes of the lines, and the height at alpha = 1."""
    alpha = np.cumsum([0, *widths]) / 64
    drops = np.multiply(widths, falls) / 64
    return alpha, end + np.r_[np.cumsum(drops[::-1])[::-1], 0]


def _draw_curves(rng):
    """Six trade-off functions, and eight other curves, in any order."""

    def pick(low, high):
        return int(rng.integers(low, high + 1))

    def rest(*widths):
        return [*widths, 64 - sum(widths)]

    steep = pick(4, 8)
    straight = np.sort(rng.choice(np.arange(1, 64), 3, replace=False))
    curves = [
        _curve(rest(2, pick(9, 14), pick(14, 20)), [4, 1, 0.5, 0.125]),  # right; its drops grow at first
        _curve(rest(pick(8, 14), pick(16, 24)), [2, 0.5, 0]),  # right, with a flat end
        _curve(np.diff([0, *straight, 64]), [1, 1, 1, 1]),  # right: 1 - alpha
        _curve([steep, 64 - 5 * steep, 4 * steep], [4, 1, 0.25]),  # right, symmetric, from (0, 1)
        _curve([8, 24, 32], [3, 1, 0.5]),  # right, from (0, 1) and not symmetric
        _curve(rest(pick(1, 2), pick(20, 24)), [16, 0.5, 0.125]),  # right, very steep at first
        _curve(rest(pick(14, 18), pick(14, 18), pick(14, 18)), [1, 0.25, 1, 0.25]),  # not convex
        _curve(rest(pick(13, 15), 4, 4), [1, 0.25, 0.75, 0.125]),  # not convex, over a short stretch
        _curve(rest(pick(20, 26), pick(6, 9)), [1, 2, 0.25]),  # not convex, though its drops shrink
        _curve([16, 24, 24], [1.5, 0.25, 0.75]),  # not convex at its last corner only
        _curve([8, 20, 20, 16], [2, 0.75, 1, 0.125]),  # not convex, though the mean slopes of two lines grow
        _curve(rest(pick(8, 12), pick(14, 20)), [2, 0.5, 0.25], end=pick(2, 5) / 64),  # above 1 - alpha at the end
        _curve([16, 32, 16], [0.25, 0.875, 2]),  # concave
        _curve(rest(pick(3, 5), pick(16, 22)), [-2, 1, 0.25]),  # rises first; the sizes of its slopes shrink
    ]
    return [{"alpha": alpha, "beta": beta} for alpha, beta in (curves[i] for i in rng.permutation(len(curves)))]


def _is_convex(alpha, beta, strictly=False):
    bends = np.diff(np.diff(beta) / np.diff(alpha))
    return bool((bends > 0).all() if strictly else (bends >= -1e-9).all())


def _falls(alpha, beta, strictly=False):
    steps = np.diff(beta)
    return bool((steps < 0).all() if strictly else (steps <= 1e-9).all())


def _is_below(alpha, beta):
    return bool((beta <= 1 - alpha + 1e-9).all())


def _is_tradeoff(alpha, beta):
    return _is_convex(alpha, beta) and _falls(alpha, beta) and _is_below(alpha, beta)


def _some_bulges_accepted(cases, values):
    """Whatever is judged wrongly is a curve with a bulge, and it is accepted."""
    wrong = [case for case, value in zip(cases, values, strict=True) if bool(value) != _is_tradeoff(**case)]
    return bool(wrong) and not any(_is_convex(**case) for case in wrong)


CURVE = to_say(
    "{name}: 2 to 8 corners of a curve, in the order of alpha, which goes from 0 to 1; no beta is below 0 or above 1"
)


def _any_curve(rng):
    """One to seven lines, mostly with slopes that grow; now and then one rises, or the end is above 0."""
    while True:
        pieces = int(rng.integers(1, 8))
        widths = np.diff([0, *np.sort(rng.choice(np.arange(1, 64), pieces - 1, replace=False)), 64])
        falls = rng.integers(-1 if rng.random() < 0.2 else 0, 17, size=pieces) / 8
        falls = np.sort(falls)[::-1] if rng.random() < 0.7 else falls
        alpha, beta = _curve(widths, falls, end=rng.integers(0, 9) / 64 if rng.random() < 0.3 else 0.0)
        if beta.min() >= 0 and beta.max() <= 1:
            return alpha, beta


exercise = Exercise(
    title="Recognize a trade-off function",
    good_for="checking a curve that somebody claims, or that you measured",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"alpha, beta": Made(_any_curve, CURVE)}),
    draw=_draw_curves,
    reference=_is_tradeoff,
    returns=true_or_false,
    forbidden=(tradeoff.TradeOff.from_points,),
    hints=(
        "`np.diff(beta) / np.diff(alpha)` gives the slope of each line. Which laws can be read off the slopes?",
        "Convex: the slopes never get smaller from left to right. Not rising: no slope is above 0. The fourth law compares `beta` with `1 - alpha`.",
    ),
    misconceptions=(
        Misconception(
            "convexity left out",
            "You accept a curve with a bulge. Where a curve bulges, mixing two tests at random does better, so it is not the best test's: check that it is convex.",
            lambda alpha, beta: _falls(alpha, beta) and _is_below(alpha, beta),
        ),
        Misconception(
            "bound left out",
            "You accept a curve that ends above 0 at alpha = 1. A blind guess is always possible, so beta is at most 1 - alpha everywhere: check that.",
            lambda alpha, beta: _is_convex(alpha, beta) and _falls(alpha, beta),
        ),
        Misconception(
            "bends the wrong way",
            "Of all these you accept only the straight line 1 - alpha. Do you ask that slopes shrink (that is concave), or that beta is at least 1 - alpha, or divide the widths by the drops?",
            lambda alpha, beta: _is_convex(alpha, -beta) and _falls(alpha, beta) and _is_below(alpha, beta),
        ),
        Misconception(
            "widths ignored",
            "You compared how much beta drops from point to point. The points are not evenly spaced: divide each drop by the width in alpha.",
            lambda alpha, beta: (
                bool((np.diff(beta, 2) >= -1e-9).all()) and _falls(alpha, beta) and _is_below(alpha, beta)
            ),
        ),
        Misconception(
            "must start at 1",
            "You ask that the curve starts at 1. It may start lower: then some outputs give Mia away for certain, as with a delta.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and bool(beta[0] == 1),
        ),
        Misconception(
            "last corner left out",
            "You accept a curve that bulges at its last corner. n points make n - 1 slopes and n - 2 comparisons: does your loop end one too early?",
            lambda alpha, beta: (
                bool((np.diff(np.diff(beta) / np.diff(alpha))[:-1] >= -1e-9).all())
                and _falls(alpha, beta)
                and _is_below(alpha, beta)
            ),
        ),
        Misconception(
            "must be symmetric",
            "You refuse a curve that is not symmetric. No law asks for that.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and bool(np.allclose(np.interp(beta, alpha, beta), alpha)),
        ),
        Misconception(
            "flat not allowed",
            "You refuse a curve that is flat somewhere. It must not rise; staying level at 0 is allowed.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and _falls(alpha, beta, strictly=True),
        ),
        Misconception(
            "straight not allowed",
            "You refuse a curve with straight parts. A straight line is convex, also 1 - alpha itself: slopes may stay equal, and points may lie on that line.",
            lambda alpha, beta: _is_tradeoff(alpha, beta) and _is_convex(alpha, beta, strictly=True),
        ),
        Misconception(
            "opposite",
            "You have it the wrong way round: True for the curves that break a law, False for the others.",
            lambda alpha, beta: not _is_tradeoff(alpha, beta),
        ),
        Misconception(
            "any for all",
            "Of the curves that break a law you refuse the concave one only. Each law must hold everywhere: is there an `any` where `all` belongs?",
            lambda alpha, beta: bool((np.diff(np.diff(beta) / np.diff(alpha)) >= -1e-9).any()),
        ),
        Misconception(
            "some bulges accepted",
            "You judge rightly all but curves with a bulge: at least one of those you accept. Convex means that slopes never get smaller from left to right: look at slopes, and at every corner (`np.all`, not `np.any`).",
            lambda alpha, beta: _is_convex(alpha[:3], beta[:3]) and _falls(alpha, beta) and _is_below(alpha, beta),
            recognise=_some_bulges_accepted,
        ),
        Misconception(
            "always True",
            "You accept every curve. Some of these break a law: convex, not rising, at most 1 - alpha.",
            lambda alpha, beta: True,
        ),
        Misconception(
            "always False",
            "You refuse every curve. Are your inequalities strict? At alpha = 1 every trade-off function meets 1 - alpha.",
            lambda alpha, beta: False,
        ),
    ),
)
