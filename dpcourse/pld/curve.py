"""The exact privacy of a composition."""

import math

import numpy as np

from dpcourse.base import validate
from dpcourse.pld.bounds import Bounds, Unreachable
from dpcourse.pld.grid import Unfit, hull
from dpcourse.pld.mu import distance, least_mu
from dpcourse.pld.pairs import ULP, Gaussian
from dpcourse.pld.search import SIZE, DeltaSide, Direction, EpsilonSide, narrowed
from dpcourse.pld.single import closed_delta, closed_epsilon
from dpcourse.tradeoff import TradeOff

WIDTH = 1e-3  # relative, where none is asked for
NEGLIGIBLE = 1e-30  # a delta of which nobody needs digits, unless they ask for a width
AIM = 4e-6  # the relative width that is tried first, where it costs little
LINES = 1500  # that support the trade-off curve
LOWEST = 1e-12  # the least delta for which the trade-off curve has lines
POOR = 0.01  # relative: bounds from a composition that serves many epsilons are made anew where they are wider
NEAR = 1e-6  # the least delta that the distance from a Gaussian curve looks at closely


class Curve:
    """The exact privacy of a composition: delta(epsilon), epsilon(delta) and the trade-off, each a certified bound.

    Made by noisy_sgd, gaussian, laplace, approx_dp and randomized_response; `@` and `power` compose further.
    """

    def __init__(self, parts):
        """Take parts: (pair of distributions, how often its step is taken)."""
        mu = math.sqrt(sum(n * pair.mu**2 for pair, n in parts if isinstance(pair, Gaussian)))
        self.parts = [(pair, n) for pair, n in parts if not isinstance(pair, Gaussian)]
        self.parts += [(Gaussian(mu), 1)] if mu else []
        pairs, self._counts = zip(*self.parts, strict=True)
        back = tuple(pair.reversed() for pair in pairs)
        self._directions = [pairs] if all(a is b for a, b in zip(pairs, back, strict=True)) else [pairs, back]

    def __repr__(self) -> str:
        """Return what is composed, as pairs of distributions.

        >>> from dpcourse import pld
        >>> pld.noisy_sgd(1.0, 0.01, 1000) @ pld.laplace(10.0)
        Curve(1,000 x Sampled(mu=1, rate=0.01), 1 x Laplace(epsilon=0.1))
        """
        return f"Curve({', '.join(f'{count:,} x {pair!r}' for pair, count in self.parts)})"

    def table(self, epsilon) -> dict[str, list[float]]:
        """Return delta at each epsilon as columns, for tables.Table, a file or a data frame: certified from both sides.

        epsilon: numbers >= 0; ValueError otherwise, and Unreachable as for `delta`.

        >>> from dpcourse import pld
        >>> {name: [round(value, 6) for value in values] for name, values in pld.gaussian(1.0).table([0, 1]).items()}
        {'epsilon': [0.0, 1.0], 'delta_at_least': [0.382925, 0.126937], 'delta_at_most': [0.382925, 0.126937]}
        """
        epsilon = np.atleast_1d(validate.reals("epsilon", epsilon, 0)).tolist()
        lower, upper = zip(*(self.delta(one) for one in epsilon), strict=True)
        return {"epsilon": epsilon, "delta_at_least": list(lower), "delta_at_most": list(upper)}

    def __matmul__(self, other) -> "Curve":
        """Return the composition of both, one after the other. Source: Zhu, Dong & Wang (2022), theorem 10.

        >>> from dpcourse import pld
        >>> both = pld.gaussian(2.0, 9) @ pld.gaussian(1.0, 4)
        >>> round(both.delta(1.0).upper, 6) == round(pld.gaussian(0.4, 1).delta(1.0).upper, 6)
        True
        """
        return Curve(self.parts + other.parts) if isinstance(other, Curve) else NotImplemented

    def power(self, n) -> "Curve":
        """Return the composition n times over. ValueError unless n is whole and >= 1. Source: as for `@`.

        >>> from dpcourse import pld
        >>> round(pld.gaussian(2.0, 1).power(4).epsilon(1e-5).upper, 6)
        4.377178
        """
        n = validate.whole("n", n)
        return Curve([(pair, n * count) for pair, count in self.parts])

    def delta(self, epsilon, width=None) -> Bounds:
        """Return bounds on the smallest delta for which the composition is (epsilon, delta)-DP.

        epsilon: >= 0, a number, or a list of numbers, for which both bounds are arrays; width: the largest
        (upper - lower) / upper, > 0; None: 1e-3 or, where the largest grid does not reach that, what it reaches; of a
        delta below 1e-30 perhaps no digit. ValueError otherwise, and Unreachable where a width was asked for
        and is not reached. Source: the module's docstring.

        >>> from dpcourse import pld
        >>> lower, upper = pld.noisy_sgd(1.0, 0.01, 1000).delta(1.0)
        >>> lower < 0.00261242 < upper < 1.001 * lower
        True
        """
        if width is not None:
            width = validate.number("width", width, 0, open_low=True)
        if np.ndim(epsilon):
            return self._deltas(validate.numbers("epsilon", epsilon, 0), width)
        epsilon = validate.number("epsilon", epsilon, 0)
        if sum(self._counts) == 1:
            return Bounds(*(max(closed_delta(pair, epsilon, s) for (pair,) in self._directions) for s in (-1, 1)))
        if epsilon >= self._reach():
            return Bounds(self._failing(), self._failing())
        sides = [DeltaSide(*self._direction_at(pairs, epsilon), epsilon) for pairs in self._directions]
        aim, enough = (WIDTH, NEGLIGIBLE) if width is None else (width, 0.0)
        try:
            return narrowed("delta", sides, aim, min(aim, 1e-4) / 2, enough)
        except Unreachable as refused:
            if width is not None:
                raise
            return refused.bounds

    def epsilon(self, delta, width=1e-3) -> Bounds:
        """Return bounds on the smallest epsilon >= 0 for which the composition is (epsilon, delta)-DP; 0 if delta suffices.

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
            return Bounds(*(max(closed_epsilon(pair, delta, s) for (pair,) in self._directions) for s in (-1, 1)))
        directions = [Direction(pairs, self._counts, delta - failing) for pairs in self._directions]
        sides = [EpsilonSide(direction, delta, min(width / 100, 1e-8)) for direction in directions]
        for side in sides:  # both are the same where there is a largest loss
            side.lower, side.upper = self._below_the_reach(delta - failing), self._reach()
        error = min(width / 2, AIM) * max(side.guess * side.theta for side in sides)
        return narrowed("epsilon", sides, width, max(error, 1e-12))

    def mu(self, delta, width=1e-3) -> Bounds:
        """Return bounds on the least mu with delta(epsilon) <= max(delta of G_mu, `delta`) for every epsilon >= 0.

        The upper end is a guarantee: no test does better against the composition than against G_mu, up to `delta`; with
        further answers it composes as G_mu and a failure of probability `delta`. 0 where `delta` suffices by itself,
        infinity where it is at most delta(infinity). delta: in (0, 1); width: the largest (upper - lower) / upper, > 0.
        ValueError otherwise, and Unreachable as for `epsilon`, and where delta(0) is within the width of 1.
        Source: Dong, Roth & Su (2022), corollary 2.13; Zhu, Dong & Wang (2022), theorem 10.

        >>> from dpcourse import pld
        >>> lower, upper = pld.noisy_sgd(1.0, 0.01, 1000).mu(1e-5)
        >>> lower < 0.46275 < upper < 1.001 * lower
        True
        """
        delta = validate.number("delta", delta, 0, 1, open_low=True, open_high=True)
        width = validate.number("width", width, 0, open_low=True)
        if delta <= self._failing():
            return Bounds(math.inf, math.inf)
        try:
            crossing = self.epsilon(delta)
        except Unreachable as refused:
            crossing = refused.bounds
        if crossing.upper == 0:
            return Bounds(0.0, 0.0)
        if crossing.lower > 0 and all(isinstance(pair, Gaussian) for pair, _ in self.parts):
            exact = self.parts[0][0].mu
            return Bounds(exact * (1 - 16 * ULP), exact * (1 + 16 * ULP))
        return least_mu(lambda epsilon: self._many(epsilon, width / 10), delta, crossing, width)

    def distance(self, mu) -> Bounds:
        """Return bounds on how far G_mu lies below the curve f: the least kappa, f(alpha + kappa) - kappa <= G_mu(alpha).

        Whatever odds an attacker starts from, the attacker's best guess is right at most kappa more often against G_mu
        than against f, the worse of both directions: R(pi) = min over alpha of pi alpha + (1 - pi) f(alpha) is the error,
        the shift takes kappa from the error, and two convex curves are ordered as their errors are. With pi = e^epsilon / (1 + e^epsilon),
        R(pi) is (1 - delta(epsilon)) / (1 + e^epsilon); so kappa is the largest difference of those. mu: >= 0, else
        ValueError.
        Source: Kaissis, Kolek, Balle, Hayes & Rueckert (2024), the Delta-divergence.

        >>> from dpcourse import pld
        >>> run = pld.noisy_sgd(1.0, 0.01, 1000)
        >>> 0.0109 < run.distance(run.mu(1e-5).upper).upper < 0.0111
        True
        """
        mu = validate.number("mu", mu, 0, open_high=True)
        if mu == 0:
            return Bounds(0.0, 0.0)
        try:
            near = self.epsilon(max(NEAR, 2 * self._failing())).upper
        except Unreachable as refused:
            near = refused.bounds.upper
        return distance(lambda epsilon: self._many(epsilon, 1e-4), mu, near, self._failing())

    def tradeoff(self) -> TradeOff:
        """Return the safe, that is lower, trade-off curve: the supremum of the lines that delta's upper bounds support.

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
        """Return bounds at each epsilon: many from one composition where that is narrow enough, else each by itself."""
        aim = WIDTH if width is None else width
        lower, upper = self._many(epsilon, aim / 10)
        for i in np.flatnonzero(upper - lower > aim * upper):
            lower[i], upper[i] = self.delta(float(epsilon[i]), width)
        return Bounds(lower, upper)

    def _many(self, epsilon, error):
        """Return bounds at each epsilon, not widened: many from one composition, the poor ones each by itself."""
        if sum(self._counts) == 1:
            return Bounds(*np.array([self.delta(float(e)) for e in epsilon]).T)
        lower, upper = np.full((2, epsilon.size), self._failing())
        near = epsilon < self._reach()
        if near.any():
            lower[near], upper[near] = (self._worse(epsilon[near], side, error) for side in (False, True))
        for i in np.flatnonzero(upper - lower > POOR * upper):
            try:
                lower[i], upper[i] = self.delta(float(epsilon[i]), POOR)
            except Unreachable as refused:
                lower[i], upper[i] = refused.bounds
        return Bounds(lower, upper)

    def _worse(self, epsilon, upper, error):
        """Return upper (or lower) ends of delta, the larger of both directions, at many epsilons."""
        ends = np.zeros(epsilon.size)
        for pairs in self._directions:
            ends = np.maximum(ends, self._ends(pairs, epsilon, upper, error, ends))
        return ends

    def _ends(self, pairs, epsilon, upper, error, known):
        """Return upper (or lower) ends of delta in one direction: one grid, a few tilts, each where its error is small.

        delta is not computed where it was below the `known` ends of the other direction at a smaller epsilon already.
        """
        direction, steepest = self._direction_at(pairs, epsilon.max())
        spacing = direction.spacing(steepest, error, SIZE)
        try:
            measures = direction.measures(upper, spacing)
        except Unfit:
            return np.full(epsilon.size, 1.0 if upper else 0.0)
        order = np.argsort(epsilon)
        ends, i, before = np.empty(epsilon.size), 0, math.inf
        while i < order.size:
            first = epsilon[order[i]]
            if before <= known[order[i]]:  # delta falls
                ends[order[i]] = before if upper else 0.0
                i += 1
                continue
            reach = 3 * math.sqrt(direction.moments(direction.tilt_at_epsilon(first))[2])
            middle = min(first + reach, epsilon.max())
            composed = direction.composed(measures, spacing, direction.tilt_at_epsilon(middle))
            while i < order.size and epsilon[order[i]] <= middle + reach:
                before = ends[order[i]] = min(composed.delta(float(epsilon[order[i]]), upper), 1.0)
                i += 1
        return ends

    def _direction_at(self, pairs, epsilon) -> tuple[Direction, float]:
        """Return the direction with what matters at epsilon, and the best tilt there."""
        delta = 0.0
        for _ in range(3):  # what is cut off depends on delta, and delta is not known
            direction = Direction(pairs, self._counts, delta)
            theta = direction.tilt_at_epsilon(epsilon)
            delta = math.exp(min(max(direction.guess(theta)[1], -650.0), 0.0))
        return direction, theta

    def _failing(self):
        """Return the probability that some step tells everything."""
        return -math.expm1(sum(n * math.log1p(-p.infinite) if p.infinite < 1 else -math.inf for p, n in self.parts))

    def _reach(self):
        """Return the largest finite privacy loss, or infinity."""
        return sum(n * p.lattice if p.lattice is not None else math.inf for p, n in self.parts)

    def _below_the_reach(self, delta):
        """Return a lower end of epsilon, by the outcomes of the largest loss alone. delta: without failures.

        Their P (1 - e^(epsilon - reach)) is at most delta. Few steps have many of them, and no grid shows them as they are.
        """
        reach = self._reach()
        if math.isinf(reach):
            return 0.0
        logs = [(n * math.log(p.edge), n * p.lattice) for p, n in self.parts]
        off = 8 * ULP * sum(abs(q) + loss for q, loss in logs)
        share = (delta + 4 * ULP) * math.exp(off - sum(q + loss for q, loss in logs))
        return max(0.0, reach + math.log1p(-share) - off) if share < 1 else 0.0


def _supremum(epsilon, delta):
    """Return the trade-off function above the lines 1 - delta - e^epsilon alpha and their mirror images."""
    index, slope = hull(epsilon, delta)  # two lines meet at alpha = minus the slope of delta over gamma
    alpha, line = -slope[::-1], index[::-1]
    alpha = np.maximum.accumulate(np.clip(alpha, 0, 1))
    beta = 1 - delta[line][1:] - np.exp(epsilon[line][1:]) * alpha
    half = (1 - delta[0]) / 2
    seen = (alpha < half) & (beta > alpha)
    alpha, beta = np.r_[0, alpha[seen], half], np.r_[1 - delta[line][0], beta[seen], half]
    alpha, beta = np.r_[alpha, beta[-2::-1]], np.r_[beta, alpha[-2::-1]]
    return TradeOff.from_points(np.r_[0, alpha, 1], np.r_[beta[0], beta, 0], repair=True)
