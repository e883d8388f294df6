r"""Lesson 04: exact composition. Every answer is an interval that provably holds the true value.

A mechanism with a pair (P, Q) has the hockey-stick function h(gamma) = E_Q (Lambda - gamma)_+, Lambda = dP/dQ, which is
delta at gamma = e^epsilon. How the interval is certified:
1. h is convex, so lines between its values at grid points lie above it, and tangents lie below it. The upper curve
   connects the dots; the lower curve connects, at each grid point, the lower of the tangents at the middles of the two
   cells beside it. Both are hockey-stick functions of non-negative measures on the grid.
2. If h_a <= h_b everywhere, then the same holds after composing both with any third measure (the composed h is an average
   of h's), so the order survives n steps; nothing needs to sum to exactly 1.
3. Before composing, each measure is scaled until its own h, summed in extended precision, keeps the order at every dot.
4. The measures are tilted by e^(theta loss) before the Fourier transform, so that round-off is small beside delta itself;
   the mass beyond the window is bounded by Chernoff's inequality, the round-off by the usual bound for the FFT.
5. delta is linear in the composed measure: all these errors are added to the upper end and taken from the lower one.
6. Every grid and every tilt gives an interval that holds, so several tries may be intersected.
Taken as given, not proved: ndtr, erfcx and exp are within EVALUATION, and scipy's FFT within FFT_LEVEL per level.
Source: Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022), theorem 4.1 (connect the dots); Zhu, Dong & Wang (2022),
theorem 10 (domination survives composition); Koskela, Jälkö & Honkela (2020) (FFT); Gopi, Lee & Wutschitz (2021).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.optimize import brentq
from scipy.special import erfcx, ndtr

from dpcourse import validate
from dpcourse.tradeoff import TradeOff, log_gaussian_delta

ULP = 2.0**-52
EVALUATION = 4 * ULP  # relative error of one evaluation of ndtr, erfcx, exp: a few units in the last place
FFT_LEVEL = 8 * ULP  # error per level of the FFT, relative to the sum of the inputs: Higham (2002), theorem 24.2
TAIL = 1e-9  # share of delta that each truncation may cost
SPILL = 18.0  # -log of the tilted mass that the window may leave out at each end, relative to delta
AIM = 4e-6  # the relative width that is tried first, where it costs little
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
LARGEST_LOSS = 700.0  # of one step: e^loss is a double
DENSEST = 1_200_000  # frequencies that a later grid may need: of a few steps with atoms the spectrum does not fade
LINES = 1500  # that support the trade-off curve


class Bounds(NamedTuple):
    """A certified interval: lower <= truth <= upper."""

    lower: float
    upper: float

    @property
    def width(self):
        """upper - lower, or 0 where both are infinite.

        >>> Bounds(1.0, 1.5).width
        0.5
        """
        return 0.0 if self.lower == self.upper else self.upper - self.lower


class _Unfit(Exception):
    """The grid has no room for a lower curve, or doubles none for the losses: the mass would not be 1."""


class Unreachable(ValueError):
    """The requested width needs a larger grid than the largest; `bounds` is the certified interval that was reached."""

    def __init__(self, message, bounds):
        super().__init__(message)
        self.bounds = bounds


# ---- one step: where its privacy loss lies, and its tails


class _Step:
    """A pair of distributions; symmetric unless `reversed` says otherwise.

    `over(epsilon)`, epsilon >= 0: h, P(L > epsilon), Q(L > epsilon).
    `under(epsilon)`, epsilon <= 0: k = h - (1 - e^epsilon) = E_Q (e^epsilon - Lambda)_+, P(L < epsilon), Q(L < epsilon).
    """

    infinite = 0.0  # the mass of P where Q has none, and of Q where P has none
    lattice = None  # the loss has atoms at the ends of [-lattice, lattice]
    edge = 0.0  # Q(L = lattice)

    def under(self, epsilon):
        h, p, q = self.over(-epsilon)
        return np.exp(epsilon) * h, q, p

    def reversed(self):
        return self

    def core(self, step):
        """A good grid point for the lower bound."""
        return 0.0


class _Gaussian(_Step):
    def __init__(self, mu):
        self.mu = mu

    def over(self, epsilon):
        a = epsilon / self.mu - self.mu / 2
        if self.mu > 20:
            p, q = ndtr(-a), ndtr(-a - self.mu)
            return np.exp(log_gaussian_delta(epsilon, self.mu)), p, q
        density = np.exp(-(a**2) / 2) / 2
        p_mills, q_mills = erfcx(a / math.sqrt(2)), erfcx((a + self.mu) / math.sqrt(2))
        return (
            density * np.maximum(p_mills - q_mills, 0),
            density * p_mills,
            np.exp(-((a + self.mu) ** 2) / 2) / 2 * q_mills,
        )

    def nodes(self, count):
        return self.mu * np.linspace(-max(38, self.mu), 38, count) + self.mu**2 / 2


class _Sampled(_Step):
    """P = (1 - rate) N(0, 1) + rate N(mu, 1), Q = N(0, 1): a person is removed. Source: Zhu et al. (2022), theorem 11."""

    def __init__(self, mu, rate):
        self.normal, self.rate = _Gaussian(mu), rate

    def _inner(self, epsilon):
        """The loss of the Gaussian where this loss is epsilon; minus infinity below the smallest loss."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(np.maximum(1 + np.expm1(epsilon) / self.rate, 0))

    def over(self, epsilon):
        h, p, q = self.normal.over(self._inner(epsilon))
        return self.rate * h, self.rate * p + (1 - self.rate) * q, q

    def under(self, epsilon):
        inner = self._inner(epsilon)
        seen = inner > -600
        k, p, q = self.normal.under(np.where(seen, inner, -1.0))
        return tuple(np.where(seen, x, 0.0) for x in (self.rate * k, self.rate * p + (1 - self.rate) * q, q))

    def reversed(self):
        return _Reversed(self)

    def core(self, step):
        """The mean of the small losses, where they lie together within one cell: c = log E(Lambda | Lambda < e^c+)."""
        core = math.log1p(-self.rate) if self.rate < 1 else 0.0
        for _ in range(8):
            edge = np.array(core + step / 2)
            if edge < 0:
                _, p, q = self.under(edge)
                core = float(np.log(p) - np.log(q)) if q > 1e-9 else core
            else:
                _, p, q = self.over(edge)
                core = float(np.log1p(-p) - np.log1p(-q))
        return core + 1e-9 * step  # on the side where the tangent beside it does not pass below 1 - e^epsilon

    def nodes(self, count):
        inner = self.normal.mu * np.linspace(-38, 38 + self.normal.mu, count) - self.normal.mu**2 / 2
        return np.unique(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + inner))


class _Reversed(_Step):
    """P and Q with their roles exchanged: the loss changes sign."""

    def __init__(self, step):
        self.step = step

    def over(self, epsilon):
        k, p, q = self.step.under(-epsilon)
        return np.exp(epsilon) * k, q, p

    def under(self, epsilon):
        h, p, q = self.step.over(-epsilon)
        return np.exp(epsilon) * h, q, p

    def core(self, step):
        return -self.step.core(step)

    def nodes(self, count):
        return -self.step.nodes(count)[::-1]


class _Laplace(_Step):
    def __init__(self, mu):
        self.lattice = self.mu = mu
        self.edge = math.exp(-mu) / 2

    def over(self, epsilon):
        inside = epsilon < self.mu
        half = np.exp((np.minimum(epsilon, self.mu) - self.mu) / 2)
        h = np.maximum(-np.expm1((epsilon - self.mu) / 2), 0)
        return h, np.where(inside, 1 - half / 2, 0), np.where(inside, half / 2 * np.exp(-epsilon), 0)

    def nodes(self, count):
        return np.linspace(-self.mu, self.mu, count)


class _Randomized(_Step):
    """Randomized response after a failure with probability delta. Source: Kairouz, Oh & Viswanath (2015), theorem 3.3."""

    def __init__(self, epsilon, delta):
        self.lattice, self.infinite = epsilon, delta
        self.edge = (1 - delta) / (1 + math.exp(epsilon))

    def over(self, epsilon):
        q = np.where(epsilon < self.lattice, (1 - self.infinite) / (1 + math.exp(self.lattice)), 0.0)
        h = self.infinite + q * np.exp(epsilon) * np.expm1(np.maximum(self.lattice - epsilon, 0))
        return h, self.infinite + q * math.exp(self.lattice), q

    def nodes(self, count):
        return np.linspace(-self.lattice, self.lattice, 2)


# ---- a step on a grid


class _Measure(NamedTuple):
    """Masses of P on increasing losses, and at infinity: h of it is above (or below) h of the step, everywhere."""

    loss: np.ndarray
    mass: np.ndarray
    infinite: float


def _measure(step, loss, upper):
    """The step's measure on the grid points `loss`, pessimistic or optimistic, with its order verified."""
    if np.abs(loss[[0, -1]]).max() > LARGEST_LOSS:
        raise _Unfit
    middle = (loss[:-1] + loss[1:]) / 2
    turn = int(np.searchsorted(middle, 0.0))  # below, k is used; from there on, h
    k, h = (_dots if upper else _tangents)(step, loss, middle, turn)
    mass = _masses(loss, turn, k, h)
    # h of the measure at each grid point, and of the step: k - (e^epsilon - 1) below the turn
    extended = loss.astype(np.longdouble)
    gamma = np.exp(extended)
    tail = np.cumsum((mass / gamma)[::-1])[::-1]
    own = h[-1] + np.r_[np.cumsum((tail[1:] * np.diff(gamma))[::-1])[::-1], 0]
    wanted = np.r_[k[:-1] - np.expm1(extended[:turn]), h]
    total = h[-1] + mass.sum(dtype=np.longdouble)
    seen = own > 0
    if upper:
        scale = max(1.0, float(np.max(wanted[seen] / own[seen])), float(1 / total)) * (1 + 2 * ULP)
    else:
        scale = min(1.0, float(np.min(wanted[seen] / own[seen])), float(1 / total)) * (1 - 2 * ULP)
    if not abs(float(total) * scale - 1) < 1e-6:
        raise _Unfit
    kept = np.flatnonzero(mass * scale)
    if kept.size == 0:
        raise _Unfit
    kept = slice(kept[0], kept[-1] + 1)
    return _Measure(loss[kept], mass[kept] * scale, float(h[-1]) * scale)


def _slack(value, p, q, epsilon):
    """What the evaluation of h or k may be off by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(value > 0, -2 * np.log(value), 0)
    return EVALUATION * (p + np.exp(epsilon) * q + value * (1 + logs))


def _dots(step, loss, middle, turn):
    """k up to the turn and h from there on, never below the truth."""
    left = loss[: turn + 1]
    k, p, q = step.under(np.minimum(left, 0))
    k = k + _slack(k, p, q, left)
    right = loss[turn:]
    h, p, q = step.over(np.maximum(right, 0))
    h = h + _slack(h, p, q, right)
    if loss[turn] >= 0:
        k[-1] = h[0] + math.expm1(loss[turn])
    else:
        h[0] = k[-1] - math.expm1(loss[turn])
    return k, h


def _tangents(step, loss, middle, turn):
    """At each grid point, the lower of the tangents at the middles of the cells beside it; k up to the turn, then h.

    Where such a tangent passes below the least that k or h can be, the tangent at the cell's outer end, moved down to
    that, takes its place.
    """
    gamma = np.exp(loss)
    reach = np.exp(middle) * -np.expm1(loss[:-1] - middle), np.exp(middle) * np.expm1(loss[1:] - middle)
    k, p, q = step.under(middle[:turn])
    k -= _slack(k, p, q, middle[:turn])
    start, stop = k - q * reach[0][:turn], k + q * reach[1][:turn]
    if turn > 0 and step.lattice is not None:  # at an atom, the tangent to its inner side
        start[0] = step.infinite * gamma[0]
        stop[0] = start[0] + (step.infinite + step.edge * gamma[-1]) * (gamma[1] - gamma[0]) * (1 - 8 * ULP)
    floor = step.infinite * gamma[: turn + 1]
    dips = np.flatnonzero(start < floor[:-1])
    _, _, q = step.under(loss[dips])
    start[dips] = floor[dips]
    stop[dips] = floor[dips] + q * (1 - 8 * ULP) * np.diff(gamma)[dips]
    left = np.minimum(np.r_[start, np.inf], np.r_[floor[0], stop])
    h, p, q = step.over(middle[turn:])
    h -= _slack(h, p, q, middle[turn:])
    start, stop = h + q * reach[0][turn:], h - q * reach[1][turn:]
    if loss[-1] == step.lattice:
        start[-1] = step.infinite + step.edge * (gamma[-1] - gamma[-2]) * (1 - 8 * ULP)
        stop[-1] = step.infinite
    dips = np.flatnonzero(stop < step.infinite)
    _, _, q = step.over(loss[turn + 1 :][dips])
    start[dips] = step.infinite + q * (1 - 8 * ULP) * np.diff(gamma)[turn:][dips]
    stop[dips] = step.infinite
    right = np.minimum(np.r_[start, step.infinite], np.r_[np.inf, stop])
    both = min(right[0], left[-1] - math.expm1(loss[turn]))
    if both < max(step.infinite, -math.expm1(loss[turn])) - 1e-6 * (loss[1] - loss[0]):
        raise _Unfit
    right[0] = both
    left[-1] = both + math.expm1(loss[turn])
    return left, right


def _masses(loss, turn, k, h):
    """The masses of P of the lower convex envelope of the dots: gamma times the change of slope."""
    gamma = np.exp(loss)
    left, left_slope = _hull(loss[: turn + 1], k)
    right, right_slope = _hull(loss[turn:], h)
    q = np.zeros(loss.size)
    first = k[0] / gamma[0]  # the line from (0, 0)
    q[left[:-1]] = np.diff(np.r_[first, left_slope]) if left_slope.size else 0
    last_left = left_slope[-1] if left_slope.size else first
    q[turn + right[1:]] = np.diff(np.r_[right_slope, 0.0])
    first_right = right_slope[0] if right_slope.size else 0.0
    q[turn] = 1 + first_right - last_left
    return np.maximum(q, 0) * gamma


def _hull(loss, value):
    """The vertices of the lower convex envelope over gamma = e^loss, and the slopes between them."""
    index, gamma = np.arange(loss.size), np.exp(loss)
    if loss.size > 3:  # the edges at both ends at once, which may pass over many dots
        start = 1 + int(np.argmin((value[1:] - value[0]) / np.expm1(loss[1:] - loss[0])))
        stop = int(np.argmin((value[:-1] - value[-1]) / -np.expm1(loss[:-1] - loss[-1])))
        if start <= stop:
            index = np.r_[0, np.arange(start, stop + 1), loss.size - 1]
    for _ in range(20):
        slope = np.diff(value[index]) / (gamma[index[:-1]] * np.expm1(np.diff(loss[index])))
        bends = np.diff(slope) >= 0
        if bends.all():
            return index, slope
        index = index[np.r_[True, bends, True]]
    index = _chain(loss, gamma, value, index)
    return index, np.diff(value[index]) / (gamma[index[:-1]] * np.expm1(np.diff(loss[index])))


def _chain(loss, gamma, value, index):
    """The same vertices, point by point: slower, but sure where rounding bends a straight line."""
    kept, slopes = [], []
    for i, here, e, g in zip(*(x.tolist() for x in (index, value[index], loss[index], gamma[index])), strict=True):
        slope = math.inf
        while kept:
            _, before, e_before, g_before = kept[-1]
            slope = (here - before) / (g_before * math.expm1(e - e_before))
            if len(kept) == 1 or slope > slopes[-1]:
                break
            kept.pop()
            slopes.pop()
        if kept:
            slopes.append(slope)
        kept.append((i, here, e, g))
    return np.array([vertex[0] for vertex in kept])


# ---- composition of measures


class _Composed:
    """n_i-fold measures on grids of one step, together, tilted by e^(theta loss): delta and its error at any epsilon."""

    def __init__(self, measures, counts, step, theta):
        self.step, self.theta = step, theta
        self.measures, self.counts = measures, counts
        self.log_mgf = self.cumulant(theta)
        self.base = sum(n * m.loss[0] for m, n in zip(measures, counts, strict=True))
        finite = sum(n * math.log(m.mass.sum()) for m, n in zip(measures, counts, strict=True))
        everything = sum(n * math.log(m.mass.sum() + m.infinite) for m, n in zip(measures, counts, strict=True))
        self.infinite = math.exp(everything) * -math.expm1(finite - everything)
        self.drift = 2 * ULP * sum(n * np.abs(m.loss[[0, -1]]).max() for m, n in zip(measures, counts, strict=True))

    def cumulant(self, theta):
        """log of the sum of n-fold mass times e^(theta loss)."""
        return sum(n * _log_mgf(m, theta) for m, n in zip(self.measures, self.counts, strict=True))

    def transform(self, low, high, tilt_low, tilt_high):
        """The Fourier coefficients of the tilted sum, on a window [low, high) outside which little is left."""
        step, theta = self.step, self.theta
        size = fft.next_fast_len(max(int((high - low) / step) + 2, 16), real=True)
        self.size, self.first = size, math.floor((low - self.base) / step)
        unit = FFT_LEVEL * (math.log2(size) + 2)
        log_abs, log_abs_up, transforms = 0.0, 0.0, []
        for m, n in zip(self.measures, self.counts, strict=True):
            tilted = m.mass * np.exp(theta * m.loss - _log_mgf(m, theta))
            if tilted.size > size:
                tilted = np.bincount(np.arange(tilted.size) % size, weights=tilted, minlength=size)
            transforms.append(fft.rfft(tilted, size))
            magnitude = np.abs(transforms[-1])
            with np.errstate(divide="ignore"):
                log_abs = log_abs + n * np.log(magnitude)
            log_abs_up = log_abs_up + n * np.log(magnitude + unit)
        k = np.flatnonzero(log_abs_up > -50)
        angle = sum(n * np.angle(t[k]) for t, n in zip(transforms, self.counts, strict=True))
        up = np.exp(log_abs_up[k])
        relative = ULP * (16 + 8 * sum(self.counts) + 2 * np.abs(log_abs_up[k]))  # of the power, by its phase
        with np.errstate(invalid="ignore"):
            self.error = up * (-np.expm1(log_abs[k] - log_abs_up[k]) + relative)
        self.frequency = 2 * math.pi * k / size
        self.coefficient = np.exp(np.maximum(log_abs[k], -700) + 1j * angle)
        self.weight = np.where((k == 0) | (2 * k == size), 1.0, 2.0) / size
        self.rest = math.exp(-50) * 2
        self.low, self.high = self.base + self.first * step, self.base + (self.first + size) * step
        self.spilled_right, self.spilled_left = self._spill(tilt_low, tilt_high)
        return self

    def _spill(self, tilt_low, tilt_high):
        """Chernoff's bounds on the tilted mass above and below the window."""
        right = self.cumulant(self.theta + tilt_high) - self.log_mgf - tilt_high * self.high
        left = self.cumulant(self.theta - tilt_low) - self.log_mgf + tilt_low * self.low
        return math.exp(min(0.0, right)), math.exp(min(0.0, left))

    def delta(self, epsilon, upper):
        """delta at epsilon, with every error added (or taken away)."""
        theta, step = self.theta, self.step
        epsilon += -self.drift if upper else self.drift
        if self.log_mgf - theta * epsilon > 600:  # too far from where the tilt looks
            return math.inf if upper else 0.0
        scale = math.exp(self.log_mgf - theta * epsilon)
        start = max(math.floor((epsilon - self.base) / step) + 1, self.first)
        count = self.first + self.size - start
        if count <= 0:
            return self.infinite + scale if upper else self.infinite * (1 - 1e-12)
        gap = self.base + start * step - epsilon
        slow, fast = (self._geometric(rate, gap, count) for rate in (theta, theta + 1))
        angle = self.frequency * start
        terms = self.weight * (self.coefficient * np.exp(1j * angle) * (slow - fast)).real
        rounding = (
            ULP * (self.weight * np.abs(self.coefficient)) @ ((16 + np.abs(angle)) * (np.abs(slow) + np.abs(fast)))
        )
        error = float((self.weight * self.error) @ np.abs(slow - fast) + rounding + self.rest * abs(slow[0] - fast[0]))
        peak = math.exp(theta * math.log(theta / (1 + theta))) / (1 + theta)
        if upper:
            error += self.spilled_right * math.exp(-theta * (self.high - epsilon))
            error += self.spilled_left * peak if epsilon < self.low else 0.0
            return (self.infinite + scale * (float(terms.sum()) + error)) * (1 + 1e-12)
        error += (self.spilled_right + self.spilled_left) * peak
        return (self.infinite + scale * max(float(terms.sum()) - error, 0.0)) * (1 - 1e-12)

    def _geometric(self, rate, gap, count):
        """The sum over j < count of e^(-rate (gap + j step)) e^(i frequency j), for each frequency."""
        exponent = 1j * self.frequency - rate * self.step
        return math.exp(-rate * gap) * np.expm1(count * exponent) / np.expm1(exponent)


def _log_mgf(measure, theta):
    top = theta * (measure.loss[-1] if theta > 0 else measure.loss[0])
    return top + math.log(float(measure.mass @ np.exp(theta * measure.loss - top)))


# ---- one direction of the composition


def _rough(step, ends):
    """The privacy loss between the ends, on nodes of the step's own, for choosing grids only: nothing is proved from it."""
    nodes = step.nodes(4000)
    nodes = nodes[(nodes >= ends[0]) & (nodes <= ends[1])]
    left, right = np.r_[nodes[nodes < 0], 0.0], np.r_[0.0, nodes[nodes > 0]]
    below, above = step.under(left)[1], step.over(right)[1]
    if step.lattice is not None and nodes.size == 2:
        return _Measure(nodes, np.array([1.0, math.exp(step.lattice)]) / (1 + math.exp(step.lattice)), 0.0)
    mass = np.maximum(np.r_[below[0], np.diff(below), -np.diff(above), above[-1]], 0)
    loss = np.r_[left[0], (left[1:] + left[:-1]) / 2, (right[1:] + right[:-1]) / 2, right[-1]]
    return _Measure(loss[mass > 0], mass[mass > 0], 0.0)


class _Direction:
    """All steps, seen from P against Q: chooses tilt, grid and window, and composes upper and lower measures.

    delta: about what will be asked for; losses that matter less than TAIL of it are rounded.
    """

    def __init__(self, steps, counts, delta):
        self.steps, self.counts, self.total, self.delta = steps, counts, sum(counts), delta
        self.ends = [_ends_of(step, TAIL * delta / self.total) for step in steps]
        self.rough = [_rough(step, ends) for step, ends in zip(steps, self.ends, strict=True)]

    def moments(self, theta):
        """Cumulant function of the sum at theta, its first and its second derivative."""
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
        """The epsilon for which theta is the best tilt, and the logarithm of delta there, by saddle point."""
        log_mgf, mean, variance = self.moments(theta)
        epsilon = mean - 1 / theta - 1 / (1 + theta)
        spread = 2 * math.pi * (variance + theta**-2 + (1 + theta) ** -2)
        return epsilon, log_mgf - theta * epsilon - math.log(theta * (1 + theta)) - math.log(spread) / 2

    def tilt(self, wanted):
        """theta at which `wanted(epsilon, log_delta)`, falling in theta, changes sign."""
        low, high = math.log(1e-3 / math.sqrt(self.moments(0.0)[2] + 1e-300)), math.log(1e7)

        def sign(log_theta):
            return wanted(*self.guess(math.exp(log_theta)))

        if sign(low) <= 0 or sign(high) >= 0:
            return math.exp(low if sign(low) <= 0 else high)
        return math.exp(brentq(sign, low, high, xtol=1e-3))

    def window(self, theta):
        """Where the tilted sum lies, by Chernoff's bound, up to what matters little, and the tilts that show it."""
        log_mgf, mean, variance = self.moments(theta)
        epsilon = mean - 1 / theta - 1 / (1 + theta)
        spill = SPILL + max(0.0, log_mgf - theta * epsilon - math.log1p(theta) - math.log(self.delta))
        spread = math.sqrt(variance) + 1e-300
        tilts = np.geomspace(0.01 / max(spread, max(high - low for low, high in self.ends)), 50 / spread, 32)
        above = [(self.moments(theta + t)[0] - log_mgf + spill) / t for t in tilts]
        below = [(log_mgf - self.moments(theta - t)[0] - spill) / t for t in tilts]
        return float(max(below)), float(min(above)), tilts[int(np.argmax(below))], tilts[int(np.argmin(above))]

    def measures(self, upper, step):
        return [_measure(s, _grid(s, step, e), upper) for s, e in zip(self.steps, self.ends, strict=True)]

    def composed(self, measures, step, theta):
        return _Composed(measures, self.counts, step, theta).transform(*self.window(theta))

    def step(self, theta, largest_error, largest_size):
        """The spacing whose interval, in log mgf, is about as wide as largest_error: n step^2 theta (theta + 1) / 8."""
        low, high, _, _ = self.window(theta)
        wanted = math.sqrt(8 * largest_error / (self.total * theta * (theta + 1)))
        longest = max(high - low, *(top - bottom for bottom, top in self.ends))
        step = max(min(wanted, (high - low) / 2**12), longest / largest_size)
        lattices = {s.lattice for s in self.steps}
        if lattices == {None} or len(lattices) > 1:
            return step
        span = 2 * lattices.pop()
        alone = all(isinstance(s, _Randomized) for s in self.steps)
        return span if alone else span / math.ceil(span / step)


class _Side:
    """What is known of the answer in one direction."""

    def __init__(self, direction, theta, guess, answer):
        """answer(composed, upper, guess): a bound from a composition of upper, or lower, measures."""
        self.direction, self.theta, self.guess, self.answer = direction, theta, guess, answer
        self.lower, self.upper, self.density = 0.0, math.inf, 0.0

    def narrow(self, upper, error, size, share):
        """Use a grid of at most `size` points, and a share of the best tilt, unless that would take minutes."""
        if self.density * size > DENSEST:
            return
        theta = share * self.theta
        step = self.direction.step(theta, error, size)
        try:
            composed = self.direction.composed(self.direction.measures(upper, step), step, theta)
            self.density = composed.frequency.size / composed.size
            bound = self.answer(composed, upper, self.guess)
        except _Unfit:
            return
        if upper:
            self.upper = min(self.upper, bound)
        else:
            self.lower = max(self.lower, bound)


def _grid(one, step, ends):
    """Losses a step apart, from end to end."""
    if one.lattice is not None:
        loss = -one.lattice + step * np.arange(math.ceil(2 * one.lattice / step - 1e-9) + 1)
        loss[-1] = one.lattice if abs(loss[-1] - one.lattice) < 1e-9 * step else loss[-1]
        return loss
    (low, high), core = ends, one.core(step)
    return core + step * np.arange(math.floor((low - core) / step), math.ceil((high - core) / step) + 1)


def _ends_of(one, small):
    """The losses beyond which P has less than `small`."""
    if one.lattice is not None:
        return -one.lattice, one.lattice
    nodes = one.nodes(2000)
    positive, negative = nodes[nodes > 0], nodes[nodes < 0]
    high = positive[min(np.searchsorted(-one.over(positive)[1], -small), positive.size - 1)]
    return negative[max(np.searchsorted(one.under(negative)[1], small, side="right") - 1, 0)], high


# ---- the composition


class Curve:
    """The exact privacy of a composition: delta(epsilon), epsilon(delta) and the trade-off, each a certified bound.

    Made by noisy_sgd, gaussian, laplace, approx_dp and randomized_response; `@` and `power` compose further.
    """

    def __init__(self, parts):
        """parts: pairs of a step and how often it is taken."""
        mu = math.sqrt(sum(n * step.mu**2 for step, n in parts if isinstance(step, _Gaussian)))
        self.parts = [(step, n) for step, n in parts if not isinstance(step, _Gaussian)]
        self.parts += [(_Gaussian(mu), 1)] if mu else []
        steps, counts = zip(*self.parts, strict=True)
        back = [step.reversed() for step in steps]
        self._steps = [steps] if all(a is b for a, b in zip(steps, back, strict=True)) else [steps, back]
        self._counts = counts

    def __matmul__(self, other):
        """Both compositions, one after the other. Source: Zhu, Dong & Wang (2022), theorem 10.

        >>> both = gaussian(2.0, 9) @ gaussian(1.0, 4)
        >>> round(both.delta(1.0).upper, 6) == round(gaussian(0.4, 1).delta(1.0).upper, 6)
        True
        """
        return Curve(self.parts + other.parts) if isinstance(other, Curve) else NotImplemented

    def power(self, n):
        """The composition n times over. ValueError unless n is whole and >= 1. Source: as for `@`.

        >>> round(gaussian(2.0, 1).power(4).epsilon(1e-5).upper, 6)
        4.377178
        """
        n = validate.whole("n", n)
        return Curve([(step, n * count) for step, count in self.parts])

    def delta(self, epsilon, width=1e-3):
        """Bounds on the smallest delta for which the composition is (epsilon, delta)-DP.

        epsilon: >= 0, a number, or a list of numbers, for which both bounds are arrays; width: the largest
        (upper - lower) / upper, > 0. ValueError otherwise, and where the largest grid does not reach the width.
        Source: the module's docstring.

        >>> lower, upper = noisy_sgd(1.0, 0.01, 1000).delta(1.0)
        >>> lower < 0.00261242 < upper < 1.001 * lower
        True
        """
        width = validate.number("width", width, 0, open_low=True)
        if np.ndim(epsilon):
            return self._deltas(validate.numbers("epsilon", epsilon, 0), width)
        epsilon = validate.number("epsilon", epsilon, 0)
        if sum(self._counts) == 1:
            return Bounds(*(max(_closed_delta(steps[0], epsilon, s) for steps in self._steps) for s in (-1, 1)))
        if epsilon >= self._reach():
            return Bounds(self._failing(), self._failing())
        sides = []
        for steps in self._steps:
            d, theta = self._direction_at(steps, epsilon)
            sides.append(_Side(d, theta, d.delta, lambda c, upper, _: c.delta(epsilon, upper)))
        return self._narrowed("delta", sides, width, min(width, 1e-4) / 2)

    def epsilon(self, delta, width=1e-3):
        """Bounds on the smallest epsilon >= 0 for which the composition is (epsilon, delta)-DP; 0 where delta suffices.

        delta: in [0, 1]; width: the largest (upper - lower) / upper, > 0. ValueError otherwise, and Unreachable where
        the largest grid does not reach the width: near the delta at which epsilon becomes 0, and sometimes where the
        sample rate is below 1e-3 and delta below 1e-9. Source: the module's docstring.

        >>> lower, upper = noisy_sgd(0.6, 0.01, 10_000).epsilon(1e-5)
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
            return Bounds(*(max(_closed_epsilon(steps[0], delta, s) for steps in self._steps) for s in (-1, 1)))
        sides = []
        for steps in self._steps:
            d = _Direction(steps, self._counts, delta - failing)
            theta = d.tilt(lambda _, log_delta: log_delta - math.log(delta - failing))
            sides.append(
                _Side(
                    d,
                    theta,
                    d.guess(theta)[0],
                    lambda c, upper, guess: _solve(c, upper, delta, guess, min(width / 100, 1e-8)),
                )
            )
        error = min(width / 2, AIM) * max(side.guess * side.theta for side in sides)
        return self._narrowed("epsilon", sides, width, max(error, 1e-12))

    def tradeoff(self):
        """The safe, that is lower, trade-off curve: the supremum of the lines that delta's upper bounds support.

        Both directions enter each line, so the curve is symmetric. Source: Dong, Roth & Su (2022), proposition 2.12.

        >>> round(noisy_sgd(1.0, 0.01, 1000).tradeoff()(0.01), 4)
        0.9709
        """
        last = min(self._reach(), self.epsilon(max(1e-12, 2 * self._failing())).upper)
        epsilon = np.linspace(0, last, LINES)
        if sum(self._counts) == 1:
            return _supremum(epsilon, self.delta(epsilon).upper)
        return _supremum(epsilon, np.max([self._ends(steps, epsilon, True, 1e-4) for steps in self._steps], axis=0))

    def _deltas(self, epsilon, width):
        """Bounds at each epsilon: many from one composition where that is narrow enough, else each by itself."""
        lower, upper = np.zeros(epsilon.size), np.ones(epsilon.size)
        near = epsilon < self._reach()
        if sum(self._counts) > 1 and near.any():
            lower[near] = np.max([self._ends(steps, epsilon[near], False, width / 10) for steps in self._steps], axis=0)
            upper[near] = np.max([self._ends(steps, epsilon[near], True, width / 10) for steps in self._steps], axis=0)
        for i in np.flatnonzero(upper - lower > width * upper):
            lower[i], upper[i] = self.delta(float(epsilon[i]), width)
        return Bounds(lower, upper)

    def _direction_at(self, steps, epsilon):
        """The direction with what matters at epsilon, and the best tilt there."""
        delta = 0.0
        for _ in range(3):  # what is cut off depends on delta, and delta is not known
            d = _Direction(steps, self._counts, delta)
            theta = d.tilt(lambda e, _, d=d: epsilon - e)
            delta = math.exp(min(max(d.guess(theta)[1], -650.0), 0.0))
        return d, theta

    def _ends(self, steps, epsilon, upper, error):
        """Upper (or lower) ends of delta in one direction: one grid, a few tilts, each used where its error is small."""
        d, steepest = self._direction_at(steps, epsilon.max())
        step = d.step(steepest, error, SIZE)
        try:
            measures = d.measures(upper, step)
        except _Unfit:
            return np.full(epsilon.size, 1.0 if upper else 0.0)
        order = np.argsort(epsilon)
        ends, i = np.empty(epsilon.size), 0
        while i < order.size:
            first = epsilon[order[i]]
            reach = 3 * math.sqrt(d.moments(d.tilt(lambda e, _, first=first: first - e))[2])
            middle = min(first + reach, epsilon.max())
            composed = d.composed(measures, step, d.tilt(lambda e, _, middle=middle: middle - e))
            while i < order.size and epsilon[order[i]] <= middle + reach:
                ends[order[i]] = min(composed.delta(float(epsilon[order[i]]), upper), 1.0)
                i += 1
        return ends

    def _narrowed(self, name, sides, width, error):
        """Bounds on the worse of the sides, from ever finer grids; every interval holds, so they count together."""
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
            if bounds.width <= width * bounds.upper:
                return bounds
            error = 0.0
        raise Unreachable(
            f"width {width!r} of {name} cannot be met with {size} grid points: it lies in [{bounds.lower!r}, {bounds.upper!r}]",
            bounds,
        )

    def _failing(self):
        """The probability that some step tells everything."""
        return -math.expm1(sum(n * math.log1p(-s.infinite) if s.infinite < 1 else -math.inf for s, n in self.parts))

    def _reach(self):
        """The largest finite privacy loss, or infinity."""
        return sum(n * s.lattice if s.lattice is not None else math.inf for s, n in self.parts)


def _solve(composed, upper, delta, guess, tolerance):
    """The epsilon at which the upper (or lower) bound on delta meets delta, moved to the safe side of rounding."""

    def excess(epsilon):
        return math.log(min(max(composed.delta(epsilon, upper), 1e-320), 1e300)) - math.log(delta)

    if upper and excess(0.0) <= 0:
        return 0.0
    low = high = max(guess, 0.0)
    reach = 0.1 / composed.theta
    while low > 0 and excess(low) <= 0:
        low, reach = max(low - reach, 0.0), 2 * reach
    if excess(low) <= 0:
        return 0.0
    reach = 0.1 / composed.theta
    while excess(high) > 0:
        high, reach = high + reach, 2 * reach
        if high > 1e12:
            return math.inf
    tolerance = max(tolerance, 1e-13)
    root = float(brentq(excess, low, high, xtol=tolerance * high, rtol=tolerance)) if high > low else high
    nudge = tolerance * root + 1e-300
    if upper:
        while excess(root) > 0:
            root, nudge = root + nudge, 2 * nudge
        return root
    while root > 0 and excess(root) < 0:
        root, nudge = root - nudge, 2 * nudge
    return max(root, 0.0)


def _closed_delta(step, epsilon, sign):
    """delta of a single step, moved by what its evaluation may be off."""
    h, p, q = (float(x) for x in step.over(np.array(epsilon)))
    return min(max(h + sign * float(_slack(np.array(h), p, q, min(epsilon, 700.0))), 0.0), 1.0)


def _closed_epsilon(step, delta, sign):
    """epsilon of a single step, from its delta."""

    def excess(epsilon):
        return _closed_delta(step, epsilon, sign) - delta

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    root = float(brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-14, maxiter=1000))
    return root * (1 + sign * 1e-13)


def _supremum(epsilon, delta):
    """The trade-off function above the lines 1 - delta - e^epsilon alpha and their mirror images."""
    index, slope = _hull(
        epsilon,
        delta,
    )  # alpha where two lines meet is minus the slope of delta over gamma
    alpha, line = -slope[::-1], index[::-1]
    alpha = np.maximum.accumulate(np.clip(alpha, 0, 1))
    beta = 1 - delta[line][1:] - np.exp(epsilon[line][1:]) * alpha
    half = (1 - delta[0]) / 2
    seen = (alpha < half) & (beta > alpha)
    alpha, beta = np.r_[0, alpha[seen], half], np.r_[1 - delta[line][0], beta[seen], half]
    alpha, beta = np.r_[alpha, beta[-2::-1]], np.r_[beta, alpha[-2::-1]]
    return TradeOff.from_points(np.r_[0, alpha, 1], np.r_[beta[0], beta, 0], repair=True)


# ---- mechanisms


def noisy_sgd(noise_multiplier, sample_rate, steps):
    """Noisy SGD: each step adds Gaussian noise to a sum over a Poisson sample; neighbours differ by one person more.

    noise_multiplier: noise deviation / clipping norm, > 0; sample_rate: in (0, 1]; steps: whole, >= 1.
    ValueError otherwise. Source: Abadi et al. (2016); Zhu, Dong & Wang (2022), theorem 11 (the worst pair).

    >>> round(noisy_sgd(1.0, 0.01, 1000).epsilon(1e-5).upper, 4)
    1.8282
    """
    noise = validate.number("noise_multiplier", noise_multiplier, 0, open_low=True)
    rate, steps = validate.number("sample_rate", sample_rate, 0, 1, open_low=True), validate.whole("steps", steps)
    return Curve([(_Gaussian(1 / noise) if rate == 1 else _Sampled(1 / noise, rate), steps)])


def gaussian(sigma, n=1):
    """n Gaussian mechanisms of sensitivity 1 and deviation sigma. sigma: > 0; n: whole, >= 1. ValueError otherwise.

    Source: Dong, Roth & Su (2022), corollary 3.3: one Gaussian mechanism of deviation sigma / sqrt(n).

    >>> round(gaussian(1.0, 1).epsilon(1e-5).upper, 6)
    4.377178
    """
    sigma = validate.number("sigma", sigma, 0, open_low=True)
    return Curve([(_Gaussian(1 / sigma), validate.whole("n", n))])


def laplace(scale, n=1):
    """n Laplace mechanisms of sensitivity 1. scale: > 0; n: whole, >= 1. ValueError otherwise.

    Source: Dwork & Roth (2014), definition 3.3.

    >>> round(laplace(10.0, 100).epsilon(1e-5).upper, 5)
    4.22035
    """
    return Curve([(_Laplace(1 / validate.number("scale", scale, 0, open_low=True)), validate.whole("n", n))])


def approx_dp(epsilon, delta=0.0, n=1):
    """n of the worst (epsilon, delta)-DP mechanisms. epsilon: > 0; delta: in [0, 1]; n: whole, >= 1.

    ValueError otherwise. Source: Kairouz, Oh & Viswanath (2015), theorem 3.3.

    >>> round(approx_dp(0.1, 0.0, 100).epsilon(1e-5).upper, 6)
    4.306791
    """
    epsilon, delta = validate.number("epsilon", epsilon, 0, open_low=True), validate.number("delta", delta, 0, 1)
    return Curve([(_Randomized(epsilon, delta), validate.whole("n", n))])


def randomized_response(epsilon, n=1):
    """n randomized responses, each epsilon-DP. epsilon: > 0; n: whole, >= 1. ValueError otherwise.

    Source: Warner (1965); Kairouz, Oh & Viswanath (2015), theorem 3.3.

    >>> round(randomized_response(0.1, 100).delta(1.0).upper, 10)
    0.1256883902
    """
    return approx_dp(epsilon, 0.0, n)
