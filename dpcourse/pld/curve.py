"""The exact privacy of a composition."""

import math

import numpy as np
from scipy.optimize import brentq

from dpcourse import validate
from dpcourse.pld.bounds import Bounds
from dpcourse.pld.grid import LARGEST_LOSS, Unfit, hull
from dpcourse.pld.pairs import Gaussian, slack
from dpcourse.pld.search import SIZE, DeltaSide, Direction, EpsilonSide, narrowed
from dpcourse.tradeoff import TradeOff

AIM = 4e-6  # the relative width that is tried first, where it costs little
LINES = 1500  # that support the trade-off curve
LOWEST = 1e-12  # the least delta for which the trade-off curve has lines
ROOT = 1e-14  # relative: how closely the epsilon of a single step is solved for
BEYOND_ROOT = 1e-13  # ten times that, by which the solution is moved outward: it may lie on either side


class Curve:
    """The exact privacy of a composition: delta(epsilon), epsilon(delta) and the trade-off, each a certified bound.

    Made by noisy_sgd, gaussian, laplace, approx_dp and randomized_response; `@` and `power` compose further.
    """

    def __init__(self, parts):
        """parts: (pair of distributions, how often its step is taken)."""
        mu = math.sqrt(sum(n * pair.mu**2 for pair, n in parts if isinstance(pair, Gaussian)))
        self.parts = [(pair, n) for pair, n in parts if not isinstance(pair, Gaussian)]
        self.parts += [(Gaussian(mu), 1)] if mu else []
        pairs, self._counts = zip(*self.parts, strict=True)
        back = tuple(pair.reversed() for pair in pairs)
        self._directions = [pairs] if all(a is b for a, b in zip(pairs, back, strict=True)) else [pairs, back]

    def __matmul__(self, other) -> "Curve":
        """Both compositions, one after the other. Source: Zhu, Dong & Wang (2022), theorem 10.

        >>> from dpcourse import pld
        >>> both = pld.gaussian(2.0, 9) @ pld.gaussian(1.0, 4)
        >>> round(both.delta(1.0).upper, 6) == round(pld.gaussian(0.4, 1).delta(1.0).upper, 6)
        True
        """
        return Curve(self.parts + other.parts) if isinstance(other, Curve) else NotImplemented

    def power(self, n) -> "Curve":
        """The composition n times over. ValueError unless n is whole and >= 1. Source: as for `@`.

        >>> from dpcourse import pld
        >>> round(pld.gaussian(2.0, 1).power(4).epsilon(1e-5).upper, 6)
        4.377178
        """
        n = validate.whole("n", n)
        return Curve([(pair, n * count) for pair, count in self.parts])

    def delta(self, epsilon, width=1e-3) -> Bounds:
        """Bounds on the smallest delta for which the composition is (epsilon, delta)-DP.

        epsilon: >= 0, a number, or a list of numbers, for which both bounds are arrays; width: the largest
        (upper - lower) / upper, > 0. ValueError otherwise, and where the largest grid does not reach the width.
        Source: the module's docstring.

        >>> from dpcourse import pld
        >>> lower, upper = pld.noisy_sgd(1.0, 0.01, 1000).delta(1.0)
        >>> lower < 0.00261242 < upper < 1.001 * lower
        True
        """
        width = validate.number("width", width, 0, open_low=True)
        if np.ndim(epsilon):
            return self._deltas(validate.numbers("epsilon", epsilon, 0), width)
        epsilon = validate.number("epsilon", epsilon, 0)
        if sum(self._counts) == 1:
            return Bounds(*(max(_closed_delta(pair, epsilon, s) for (pair,) in self._directions) for s in (-1, 1)))
        if epsilon >= self._reach():
            return Bounds(self._failing(), self._failing())
        sides = [DeltaSide(*self._direction_at(pairs, epsilon), epsilon) for pairs in self._directions]
        return narrowed("delta", sides, width, min(width, 1e-4) / 2)

    def epsilon(self, delta, width=1e-3) -> Bounds:
        """Bounds on the smallest epsilon >= 0 for which the composition is (epsilon, delta)-DP; 0 where delta suffices.

        delta: in [0, 1]; width: the largest (upper - lower) / upper, > 0. ValueError otherwise, and Unreachable where
        the largest grid does not reach the width: near the delta at which epsilon becomes 0, and sometimes where the
        sample rate is below 1e-3 and delta below 1e-9. Source: the module's docstring.

        >>> from dpcourse import pld
        >>> lower, upper = pld.noisy_sgd(0.6, 0.01, 10_000).epsilon(1e-5)
        >>> 23.0172 < lower < 23.017572 < upper < 23.01767
        True
        """
        delta = validate.number("delta", delta, 0, 1)
        width = validate.number("width", width, 0, open_low=True)
        failing = self._failing()
        if delta < failing or (delta == failing and math.isinf(self._reach())):
            return Bounds(math.inf, math.inf)
        if delta == 1 or delta == failing:
            return Bounds(0.0, 0.0) if delta == 1 else Bounds(self._reach(), self._reach())
        if sum(self._counts) == 1:
            return Bounds(*(max(_closed_epsilon(pair, delta, s) for (pair,) in self._directions) for s in (-1, 1)))
        directions = [Direction(pairs, self._counts, delta - failing) for pairs in self._directions]
        sides = [EpsilonSide(direction, delta, min(width / 100, 1e-8)) for direction in directions]
        error = min(width / 2, AIM) * max(side.guess * side.theta for side in sides)
        return narrowed("epsilon", sides, width, max(error, 1e-12))

    def tradeoff(self) -> TradeOff:
        """The safe, that is lower, trade-off curve: the supremum of the lines that delta's upper bounds support.

        Both directions enter each line, so the curve is symmetric. Source: Dong, Roth & Su (2022), proposition 2.12.

        >>> from dpcourse import pld
        >>> round(pld.noisy_sgd(1.0, 0.01, 1000).tradeoff()(0.01), 4)
        0.9709
        """
        last = min(self._reach(), self.epsilon(max(LOWEST, 2 * self._failing())).upper)
        epsilon = np.linspace(0, last, LINES)
        upper = self.delta(epsilon).upper if sum(self._counts) == 1 else self._worse(epsilon, True, 1e-4)
        return _supremum(epsilon, upper)

    def _deltas(self, epsilon, width):
        """Bounds at each epsilon: many from one composition where that is narrow enough, else each by itself."""
        lower, upper = np.zeros(epsilon.size), np.ones(epsilon.size)
        near = epsilon < self._reach()
        if sum(self._counts) > 1 and near.any():
            lower[near] = self._worse(epsilon[near], False, width / 10)
            upper[near] = self._worse(epsilon[near], True, width / 10)
        for i in np.flatnonzero(upper - lower > width * upper):
            lower[i], upper[i] = self.delta(float(epsilon[i]), width)
        return Bounds(lower, upper)

    def _worse(self, epsilon, upper, error):
        """Upper (or lower) ends of delta, the larger of both directions, at many epsilons."""
        return np.max([self._ends(pairs, epsilon, upper, error) for pairs in self._directions], axis=0)

    def _ends(self, pairs, epsilon, upper, error):
        """Upper (or lower) ends of delta in one direction: one grid, a few tilts, each used where its error is small."""
        direction, steepest = self._direction_at(pairs, epsilon.max())
        spacing = direction.spacing(steepest, error, SIZE)
        try:
            measures = direction.measures(upper, spacing)
        except Unfit:
            return np.full(epsilon.size, 1.0 if upper else 0.0)
        order = np.argsort(epsilon)
        ends, i = np.empty(epsilon.size), 0
        while i < order.size:
            first = epsilon[order[i]]
            reach = 3 * math.sqrt(direction.moments(direction.tilt_at_epsilon(first))[2])
            middle = min(first + reach, epsilon.max())
            composed = direction.composed(measures, spacing, direction.tilt_at_epsilon(middle))
            while i < order.size and epsilon[order[i]] <= middle + reach:
                ends[order[i]] = min(composed.delta(float(epsilon[order[i]]), upper), 1.0)
                i += 1
        return ends

    def _direction_at(self, pairs, epsilon) -> tuple[Direction, float]:
        """The direction with what matters at epsilon, and the best tilt there."""
        delta = 0.0
        for _ in range(3):  # what is cut off depends on delta, and delta is not known
            direction = Direction(pairs, self._counts, delta)
            theta = direction.tilt_at_epsilon(epsilon)
            delta = math.exp(min(max(direction.guess(theta)[1], -650.0), 0.0))
        return direction, theta

    def _failing(self):
        """The probability that some step tells everything."""
        return -math.expm1(sum(n * math.log1p(-p.infinite) if p.infinite < 1 else -math.inf for p, n in self.parts))

    def _reach(self):
        """The largest finite privacy loss, or infinity."""
        return sum(n * p.lattice if p.lattice is not None else math.inf for p, n in self.parts)


def _closed_delta(pair, epsilon, sign):
    """delta of a single step, moved by what its evaluation may be off."""
    h, p, q = (float(x) for x in pair.over(np.array(epsilon)))
    return min(max(h + sign * float(slack(np.array(h), p, q, min(epsilon, LARGEST_LOSS))), 0.0), 1.0)


def _closed_epsilon(pair, delta, sign):
    """epsilon of a single step, from its delta."""

    def excess(epsilon):
        return _closed_delta(pair, epsilon, sign) - delta

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    root = float(brentq(excess, 0.0, high, xtol=1e-300, rtol=ROOT, maxiter=1000))
    return root * (1 + sign * BEYOND_ROOT)


def _supremum(epsilon, delta):
    """The trade-off function above the lines 1 - delta - e^epsilon alpha and their mirror images."""
    index, slope = hull(epsilon, delta)  # two lines meet at alpha = minus the slope of delta over gamma
    alpha, line = -slope[::-1], index[::-1]
    alpha = np.maximum.accumulate(np.clip(alpha, 0, 1))
    beta = 1 - delta[line][1:] - np.exp(epsilon[line][1:]) * alpha
    half = (1 - delta[0]) / 2
    seen = (alpha < half) & (beta > alpha)
    alpha, beta = np.r_[0, alpha[seen], half], np.r_[1 - delta[line][0], beta[seen], half]
    alpha, beta = np.r_[alpha, beta[-2::-1]], np.r_[beta, alpha[-2::-1]]
    return TradeOff.from_points(np.r_[0, alpha, 1], np.r_[beta[0], beta, 0], repair=True)
