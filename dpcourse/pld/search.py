"""The search for a narrow interval: which tilt, which grid and which window; whatever is chosen, the interval holds."""

import math

import numpy as np
from scipy.optimize import brentq

from dpcourse.pld.bounds import Bounds, Unreachable
from dpcourse.pld.fourier import Composed, Window
from dpcourse.pld.grid import Measure, Unfit, grid, measure
from dpcourse.pld.pairs import Randomized

TAIL = 1e-9  # share of delta that each truncation may cost
SPILL = 18.0  # -log of the tilted mass that the window may leave out at each end, relative to delta
SIZE = 2**19  # the largest grid of the first try
# largest grid, and share of the best tilt, which may look at rare large losses: after the first, the whole grid is used
ATTEMPTS = (
    (SIZE, 1),
    (SIZE, 1 / 4),
    (2**21, 1),
    (2**21, 1 / 2),
    (2**21, 1 / 8),
    (2**22, 1),
    (2**22, 1 / 4),
    (2**23, 1),
)
DENSEST = 1_200_000  # frequencies that a later grid may need: of a few steps with atoms the spectrum does not fade
FINEST = 1e-13  # relative, 450 ULP: a root is not asked for more closely, for delta itself is rounded
NOTHING = 1e-300  # a least length, so that no zero is divided by and every nudge moves
HIGHEST = 1e12  # an epsilon beyond this is called infinite


class Direction:
    """All steps, seen from P against Q: chooses tilt, grid and window, and composes upper and lower measures.

    delta: about what will be asked for; losses that matter less than TAIL of it are rounded.
    """

    def __init__(self, pairs, counts, delta):
        self.pairs, self.counts, self.total, self.delta = pairs, counts, sum(counts), delta
        self.ends = [pair.ends(TAIL * delta / self.total) for pair in pairs]
        self.rough = [_rough(pair, ends) for pair, ends in zip(pairs, self.ends, strict=True)]

    def moments(self, theta):
        """Return the cumulant function of the sum at theta, its first and its second derivative."""
        log_mgf = mean = variance = 0.0
        for m, n in zip(self.rough, self.counts, strict=True):
            top = theta * (m.loss[-1] if theta > 0 else m.loss[0])
            weight = np.exp(theta * m.loss - top) * m.mass
            total = weight.sum()
            first = float(weight @ m.loss / total)
            log_mgf += n * (top + math.log(total))
            mean += n * first
            variance += n * float(weight @ (m.loss - first) ** 2 / total)
        return log_mgf, mean, variance

    def guess(self, theta):
        """Return the epsilon for which theta is the best tilt, and the logarithm of delta there, by saddle point."""
        log_mgf, mean, variance = self.moments(theta)
        epsilon = mean - 1 / theta - 1 / (1 + theta)
        spread = 2 * math.pi * (variance + theta**-2 + (1 + theta) ** -2)
        return epsilon, log_mgf - theta * epsilon - math.log(theta * (1 + theta)) - math.log(spread) / 2

    def tilt_at_epsilon(self, epsilon):
        """Return the best tilt for delta at epsilon."""
        return self._tilt(lambda theta: epsilon - self.guess(theta)[0])

    def tilt_at_delta(self):
        """Return the best tilt for epsilon at this direction's delta."""
        return self._tilt(lambda theta: self.guess(theta)[1] - math.log(self.delta))

    def _tilt(self, excess):
        """Return theta at which `excess`, falling in theta, changes sign."""
        high = math.log(1e7)  # of a loss that hardly varies no tilt says more
        low = min(math.log(1e-3 / math.sqrt(self.moments(0.0)[2] + NOTHING)), high)

        def at(log_theta):
            return excess(math.exp(log_theta))

        if at(low) <= 0 or at(high) >= 0:
            return math.exp(low if at(low) <= 0 else high)
        return math.exp(brentq(at, low, high, xtol=1e-3))

    def window(self, theta):
        """Return where the tilted sum lies, by Chernoff's bound, up to what matters little."""
        log_mgf, mean, variance = self.moments(theta)
        epsilon = mean - 1 / theta - 1 / (1 + theta)
        spill = SPILL + max(0.0, log_mgf - theta * epsilon - math.log1p(theta) - math.log(self.delta))
        longest = max(high - low for low, high in self.ends)
        spread = math.sqrt(variance) + NOTHING * self.total * (1 + longest)  # so that no tilt makes a loss overflow
        tilts = np.geomspace(0.01 / max(spread, longest), 50 / spread, 32)
        above = [(self.moments(theta + t)[0] - log_mgf + spill) / t for t in tilts]
        below = [(log_mgf - self.moments(theta - t)[0] - spill) / t for t in tilts]
        return Window(float(max(below)), float(min(above)), tilts[int(np.argmax(below))], tilts[int(np.argmin(above))])

    def measures(self, upper, spacing):
        return [measure(p, grid(p, spacing, ends), upper) for p, ends in zip(self.pairs, self.ends, strict=True)]

    def composed(self, measures, spacing, theta):
        return Composed(measures, self.counts, spacing, theta, self.window(theta))

    def spacing(self, theta, largest_error, largest_size):
        """Return the spacing for an interval about as wide as largest_error, in log mgf: n spacing^2 theta (theta + 1) / 8."""
        low, high, _, _ = self.window(theta)
        wanted = math.sqrt(8 * largest_error / (self.total * theta * (theta + 1)))
        longest = max(high - low, *(top - bottom for bottom, top in self.ends))
        spacing = max(min(wanted, (high - low) / 2**12), longest / largest_size)
        lattices = {pair.lattice for pair in self.pairs}
        if lattices == {None} or len(lattices) > 1:
            return spacing
        span = 2 * lattices.pop()
        alone = all(isinstance(pair, Randomized) for pair in self.pairs)
        return span if alone else span / math.ceil(span / spacing)


def _rough(pair, ends):
    """Return the privacy loss between the ends on the pair's own nodes, for choosing grids only: it proves nothing."""
    nodes = pair.nodes(4000)
    nodes = nodes[(nodes >= ends[0]) & (nodes <= ends[1])]
    left, right = np.r_[nodes[nodes < 0], 0.0], np.r_[0.0, nodes[nodes > 0]]
    below, above = pair.under(left)[1], pair.over(right)[1]
    if pair.lattice is not None and nodes.size == 2:
        return Measure(nodes, np.array([1.0, math.exp(pair.lattice)]) / (1 + math.exp(pair.lattice)), 0.0)
    mass = np.maximum(np.r_[below[0], np.diff(below), -np.diff(above), above[-1]], 0)
    loss = np.r_[left[0], (left[1:] + left[:-1]) / 2, (right[1:] + right[:-1]) / 2, right[-1]]
    return Measure(loss[mass > 0], mass[mass > 0], 0.0)


class Side:
    """The bounds on the answer in one direction, as far as known; a kind of answer defines `bound(composed, upper)`."""

    def __init__(self, direction, theta, guess):
        self.direction, self.theta, self.guess = direction, theta, guess
        self.lower, self.upper, self.density = 0.0, math.inf, 0.0

    def narrow(self, upper, error, size, share):
        """Use a grid of at most `size` points, and a share of the best tilt, unless that would take minutes."""
        if self.density * size > DENSEST:
            return
        theta = share * self.theta
        spacing = self.direction.spacing(theta, error, size)
        try:
            composed = self.direction.composed(self.direction.measures(upper, spacing), spacing, theta)
            self.density = composed.frequency.size / composed.size
            bound = self.bound(composed, upper)
        except Unfit:
            return
        if upper:
            self.upper = min(self.upper, bound)
        else:
            self.lower = max(self.lower, bound)


class DeltaSide(Side):
    """delta at an epsilon."""

    def __init__(self, direction, theta, epsilon):
        super().__init__(direction, theta, direction.delta)
        self.epsilon, self.upper = epsilon, 1.0

    def bound(self, composed, upper):
        return composed.delta(self.epsilon, upper)


class EpsilonSide(Side):
    """epsilon at a delta: the one at which the bound on delta meets it, up to a relative tolerance."""

    def __init__(self, direction, delta, tolerance):
        theta = direction.tilt_at_delta()
        super().__init__(direction, theta, direction.guess(theta)[0])
        self.delta, self.tolerance = delta, max(tolerance, FINEST)

    def bound(self, composed, upper):
        """Return the bound on epsilon, moved to the safe side of rounding."""

        def excess(epsilon):
            return math.log(min(max(composed.delta(epsilon, upper), 1e-320), 1e300)) - math.log(self.delta)

        if upper and excess(0.0) <= 0:
            return 0.0
        low = high = max(self.guess, 0.0)
        reach = 0.1 / composed.theta
        while low > 0 and excess(low) <= 0:
            low, reach = max(low - reach, 0.0), 2 * reach
        if excess(low) <= 0:
            return 0.0
        reach = 0.1 / composed.theta
        while excess(high) > 0:
            high, reach = high + reach, 2 * reach
            if high > HIGHEST:
                return math.inf
        tolerance = self.tolerance
        root = float(brentq(excess, low, high, xtol=tolerance * high, rtol=tolerance)) if high > low else high
        nudge = tolerance * root + NOTHING
        if upper:
            while excess(root) > 0:
                root, nudge = root + nudge, 2 * nudge
            return root
        while root > 0 and excess(root) < 0:
            root, nudge = root - nudge, 2 * nudge
        return max(root, 0.0)


def narrowed(name, sides, width, error, enough=0.0):
    """Return bounds on the worse of the sides, from ever finer grids; every interval holds, so they count together.

    No finer grid is tried once both bounds are at most `enough`.
    """
    for size, share in ATTEMPTS:
        done = 0.0
        for side in sorted(sides, key=lambda side: (side.upper, side.guess), reverse=True):
            if done:  # a coarse grid may do to rule this side out
                side.narrow(True, 256 * error, size // 16, share)
            if side.upper > done:
                side.narrow(True, error, size, share)
                side.narrow(False, error, size, share)
            done = max(done, side.upper)
        bounds = Bounds(max(side.lower for side in sides), max(side.upper for side in sides))
        if bounds.width <= width * bounds.upper or bounds.upper <= enough:
            return bounds
        error = 0.0
    raise Unreachable(
        f"width {width!r} of {name} cannot be met with {size} grid points: it lies in [{bounds.lower!r}, {bounds.upper!r}]",
        bounds,
    )
