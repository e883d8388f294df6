r"""How Gaussian a composition is: the least mu that holds down to a delta, and how far G_mu then lies below its curve.

delta(epsilon) is convex in gamma = e^epsilon, in each direction and so for the worse of both. So between two epsilons it
lies below the chord of its upper bounds, and G_mu's delta is above a whole chord if it is above it in one point: where
both have one slope, -Phi(-epsilon / mu - mu / 2), or at the end of the cell that is nearer to that point.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri_exp

from dpcourse.pld.bounds import Bounds, Unreachable
from dpcourse.tradeoff import log_gaussian_delta

SAFE = 1e-9  # relative: ten times what log_gaussian_delta may be off, by which its delta is kept clear of the bounds
CELLS = 64  # between epsilons, at first
SPLIT, ROUNDS = 4, 5  # a cell in which G_mu is not yet above the chord is split into so many, so many times at most
HIGHEST = 1e4  # a mu beyond this is called infinite
LINES = 400  # epsilons at which G_mu and the curve are compared
TAIL = 5.0  # Phi(-TAIL) < 3e-7: about the delta of G_mu at mu^2 / 2 + TAIL mu, from where on no distance is looked for


def least_mu(profile, delta, crossing, width) -> Bounds:
    """Return bounds on the least mu with delta(epsilon) <= max(delta of G_mu, `delta`) for every epsilon.

    profile(epsilons): bounds on delta(epsilon) at each; crossing: Bounds on the epsilon at which it is `delta`.
    """
    epsilon = np.linspace(0.0, crossing.upper, CELLS + 1)
    lower, upper = profile(epsilon)
    for rounds in range(ROUNDS + 1):
        upper[-1] = delta  # in truth, and epsilon[-1] is where that is certain
        chords = _Chords(epsilon, np.maximum(np.minimum.accumulate(upper), delta))
        bounds = Bounds(_least(epsilon, lower, delta, crossing.lower), _root(chords.margin, True))
        if math.isfinite(bounds.upper) and bounds.width <= width * bounds.upper:
            return bounds
        if rounds < ROUNDS:
            unsettled = chords.margin_in_each(max(bounds.lower, 1 / HIGHEST) * (1 + width / 2)) < SAFE
            new = (epsilon[:-1, None] + np.diff(epsilon)[:, None] * np.arange(1, SPLIT) / SPLIT)[unsettled].ravel()
            order = np.argsort(np.r_[epsilon, new])
            epsilon, (more_lower, more_upper) = np.r_[epsilon, new][order], profile(new)
            lower, upper = np.r_[lower, more_lower][order], np.r_[upper, more_upper][order]
    raise Unreachable(
        f"width {width!r} of mu cannot be met with {epsilon.size} epsilons: it lies in [{bounds.lower!r}, {bounds.upper!r}]",
        bounds,
    )


def _least(epsilon, lower, delta, crossing):
    """Return the largest mu that some point asks for: where delta(epsilon) is certainly larger, and at the crossing."""
    above = np.r_[lower > delta, crossing > 0]
    at, asked = np.r_[epsilon, crossing][above], np.r_[lower, delta][above]
    return _root(lambda mu: float(np.min(log_gaussian_delta(at, mu) - np.log(asked))), False) if at.size else 0.0


class _Chords:
    """The chords of upper bounds on delta over gamma, cell by cell."""

    def __init__(self, epsilon, delta):
        self.start, self.stop, self.left, self.right = epsilon[:-1], epsilon[1:], delta[:-1], delta[1:]
        self.span = -np.expm1(self.start - self.stop)  # over the gamma of the right end
        with np.errstate(divide="ignore"):
            log_slope = np.log(self.left - self.right) - self.stop - np.log(self.span)
        self.slope = -ndtri_exp(np.minimum(log_slope, 0.0))  # minus the slope is Phi(-this)

    def margin(self, mu):
        """Return the least log of G_mu's delta over a chord."""
        return float(np.min(self.margin_in_each(mu)))

    def margin_in_each(self, mu):
        touched = np.clip(mu * (self.slope - mu / 2), self.start, self.stop)
        right = np.exp(touched - self.stop) * -np.expm1(self.start - touched) / self.span
        left = -np.expm1(touched - self.stop) / self.span
        return log_gaussian_delta(touched, mu) - np.log(self.left * left + self.right * right)


def _root(margin, upper):
    """Return the mu at which the margin, which rises in mu, is SAFE (or minus SAFE), on the safe side of rounding."""
    wanted = SAFE if upper else -SAFE
    low = high = 1.0
    while margin(high) < wanted:
        low, high = high, 2 * high
        if high > HIGHEST:
            return math.inf if upper else low
    while margin(low) >= wanted:
        low, high = low / 2, low
    root = math.exp(brentq(lambda x: margin(math.exp(x)) - wanted, math.log(low), math.log(high), xtol=1e-12))
    nudge = SAFE
    while (margin(root) < wanted) if upper else (margin(root) >= wanted):
        root, nudge = root * (1 + nudge if upper else 1 - nudge), 2 * nudge
    return root


def distance(profile, mu, near, failing) -> Bounds:
    """Return bounds on max over epsilon of (delta of G_mu - delta(epsilon)) / (1 + e^epsilon), at least 0.

    profile: as above; near: an epsilon from where on delta(epsilon) matters little; failing: delta(infinity).
    In a cell, G_mu's delta is below its chord, and delta(epsilon) above the lines through the two bounds to its left and
    to its right. So the difference is largest at an end of the cell, or where the two lines meet. Behind the last cell
    G_mu's delta, below 3e-7 there, and the weight only fall.
    """
    last = mu * mu / 2 + TAIL * mu
    epsilon = np.linspace(0.0, min(near, last), LINES)
    lower, upper = profile(epsilon)
    if near < last:
        further = np.linspace(near, last, LINES)[1:]
        epsilon = np.r_[epsilon, further]
        lower, upper = np.r_[lower, np.full(further.size, failing)], np.r_[upper, np.full(further.size, upper[-1])]
    gaussian, weight, step = np.exp(log_gaussian_delta(epsilon, mu)), expit(-epsilon), np.diff(epsilon)
    least = weight * (gaussian * (1 - SAFE) - upper)
    gaussian *= 1 + SAFE
    inner, growth = lower[1:-1], np.expm1(step[1:]) / -np.expm1(-step[:-1])  # of the cells' lengths, in gamma
    left = (
        np.r_[failing, inner],
        np.r_[failing, inner + (inner - upper[:-2]) * growth],
    )  # the line at both ends of a cell
    right = np.r_[inner + (inner - upper[2:]) / growth, failing], np.r_[inner, failing]
    right = tuple(np.where(right[1] <= failing, failing, end) for end in right)  # a better line, where that is known
    at_start, at_stop = (
        weight[side] * (gaussian[side] - np.maximum(one, other))
        for side, one, other in zip((slice(-1), slice(1, None)), left, right, strict=True)
    )
    ahead, behind = left[0] - right[0], right[1] - left[1]
    cross = (ahead > 0) & (behind > 0)
    share = np.where(cross, ahead / np.where(cross, ahead + behind, 1.0), 0.0)  # of the cell, up to where they meet
    chord = gaussian[:-1] + np.diff(gaussian) * share - np.where(cross, left[0] + (left[1] - left[0]) * share, 1.0)
    at_cross = chord * expit(-epsilon[1:] - np.log(share + (1 - share) * np.exp(-step)))
    beyond = weight[-1] * max(gaussian[-1] - failing, 0.0)
    most = max(np.max([at_start, at_stop, np.where(cross, at_cross, 0.0)]), beyond)
    return Bounds(max(float(least.max()), 0.0), max(float(most), 0.0))
