"""The kinds of trade-off functions, on arrays: what each knows of its curve, its slope and its loss."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpcourse.base import validate
from dpcourse.tradeoff.tails import log_delta

LAST = np.nextafter(1, 0)  # the largest alpha below 1


class Kind:
    """A kind of trade-off function; it defines `beta` and `log_slope` (log|f'|, minus infinity where f is flat), and what it has in closed form."""

    unit = None  # its privacy loss lies on, or has its kinks at, whole multiples of this

    def at(self, alpha):
        """Return beta, of the shape of alpha, without what rounding adds beyond [0, 1 - alpha]."""
        return np.clip(self.beta(alpha), 0, 1 - alpha)

    def kinks(self):
        """Return where the slope may jump: inside (0, 1), and perhaps outside."""
        return np.empty(0)

    def inverse_at(self, beta):
        """Return the smallest alpha with f(alpha) <= beta."""
        return bisect(lambda alpha: self.beta(alpha) <= beta, np.zeros_like(beta), np.ones_like(beta))

    def hockey_stick(self, epsilon):
        """Return sup over alpha of 1 - f(alpha) - e^epsilon alpha, epsilon of either sign: where |f'| = e^epsilon."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            zero, one = np.zeros_like(epsilon), np.ones_like(epsilon)
            alpha = np.asarray(bisect(lambda a: self.log_slope(a) <= epsilon, zero, one))
            return 1 - self.beta(alpha) - np.where(alpha > 0, np.exp(epsilon), 0) * alpha

    def inverse(self):
        return Inverse(self)

    def group(self, k):
        return Group(self, k)

    def loss_law(self, split_at):
        """Return losses log|f'(U)| and probabilities, or nodes and weights of a quadrature, split where L = split_at."""
        edges = np.r_[np.linspace(-37, 8.3, 500), ndtri(inside(self.kinks()))]  # below -37.6 alpha would be 0
        z, weight = _panels(np.unique(edges))
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = self.log_slope(np.minimum(ndtr(z), LAST))
        return loss, weight * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)


class Symmetric(Kind):
    """A kind that is its own inverse; it defines `over(epsilon)`, the hockey stick for epsilon >= 0."""

    def hockey_stick(self, epsilon):
        size = np.abs(epsilon)
        above = self.over(size)
        return np.where(epsilon >= 0, above, _mirrored(-size, above))

    def inverse(self):
        return self


class Gaussian(Symmetric):
    def __init__(self, mu):
        self.mu = mu

    def __repr__(self):
        return f"gaussian({self.mu!r})" if self.mu else "identity()"

    def beta(self, alpha):
        return ndtr(-ndtri(alpha) - self.mu) if self.mu else 1 - alpha

    def log_slope(self, alpha):
        return -self.mu * ndtri(alpha) - self.mu**2 / 2 if self.mu else np.zeros_like(alpha)

    def inverse_at(self, beta):
        return self.beta(beta)

    def over(self, epsilon):
        return np.exp(log_delta(epsilon, self.mu))

    def group(self, k):
        return Gaussian(validate.number("mu", k * self.mu, 0))


class Laplace(Symmetric):
    def __init__(self, mu):
        self.mu = self.unit = mu

    def __repr__(self):
        return f"laplace({self.mu!r})"

    def kinks(self):
        return np.array([math.exp(-self.mu) / 2, 0.5])

    def beta(self, alpha):
        with np.errstate(divide="ignore", over="ignore"):
            first, last = -np.expm1(self.mu + np.log(alpha)), math.exp(-self.mu) * (1 - alpha)
            middle = math.exp(-self.mu) / (4 * alpha)
        return np.where(alpha < math.exp(-self.mu) / 2, first, np.where(alpha <= 0.5, middle, last))

    def log_slope(self, alpha):
        return np.clip(-self.mu - np.log(4) - 2 * np.log(alpha), -self.mu, self.mu)

    def over(self, epsilon):
        return np.maximum(-np.expm1((epsilon - self.mu) / 2), 0)

    def loss_law(self, split_at):
        """Return atoms at +-mu, and between them density e^(-(mu + l)/2) / 4. Source: lemma A.6, differentiated."""
        loss, weight = _panels(np.array([-self.mu, split_at, self.mu]))
        density = np.exp(-(self.mu + loss) / 2) / 4
        return np.r_[-self.mu, loss, self.mu], np.r_[0.5, weight * density, math.exp(-self.mu) / 2]


class Points(Kind):
    """Straight lines between points that are known to be convex, from alpha = 0 to alpha = 1."""

    def __init__(self, alpha, beta, gain=None, unit=None, slopes=None):
        self.alphas, self.betas, self.unit = alpha, beta, unit
        self.gain = 1 - beta if gain is None else gain
        with np.errstate(divide="ignore"):
            falls = np.log(np.maximum(-np.diff(beta), 0)) - np.log(np.diff(alpha)) if slopes is None else slopes
        self.slopes = np.minimum.accumulate(falls)

    def __repr__(self):
        return f"<TradeOff through {self.alphas.size} points>"

    def kinks(self):
        return self.alphas if self.alphas.size < 10_000 else np.empty(0)

    def beta(self, alpha):
        return np.interp(alpha, self.alphas, self.betas)

    def _line(self, alpha):
        """Return the number of the line on the right of alpha."""
        return np.clip(np.searchsorted(self.alphas, alpha, side="right") - 1, 0, self.alphas.size - 2)

    def log_slope(self, alpha):
        return self.slopes[self._line(alpha)]

    def loss_law(self, split_at):
        return self.slopes, np.diff(self.alphas)

    def hockey_stick(self, epsilon):
        """Return the best point: the first whose line to the right is flatter than e^epsilon."""
        steeper = np.searchsorted(-self.slopes, -epsilon)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.gain[steeper] - np.where(self.alphas[steeper] > 0, np.exp(epsilon) * self.alphas[steeper], 0)

    def inverse(self):
        last = np.argmax(self.betas <= 0)  # where f reaches 0, f^-1 starts
        alpha, beta = self.betas[last::-1], self.alphas[last::-1]
        slopes = -self.slopes[:last][::-1]
        if alpha[-1] < 1:
            alpha, beta, slopes = np.r_[alpha, 1.0], np.r_[beta, 0.0], np.r_[slopes, -np.inf]
        return Points(alpha, beta, unit=self.unit, slopes=slopes)


class Failing(Kind):
    """f ⊗ f_{0, delta}: with probability delta everything is told. Source: section 3.3, equation 12."""

    def __init__(self, f, delta):
        self.f, self.delta_0, self.unit = f, delta, f.unit

    def __repr__(self):
        return f"{self.f!r} @ approx_dp(0, {self.delta_0!r})"

    def kinks(self):
        return np.r_[(1 - self.delta_0) * self.f.kinks(), 1 - self.delta_0]

    def _share(self, alpha):
        return np.minimum(alpha / (1 - self.delta_0), 1) if self.delta_0 < 1 else np.ones_like(alpha)

    def beta(self, alpha):
        return (1 - self.delta_0) * self.f.beta(self._share(alpha))

    def log_slope(self, alpha):
        return np.where(alpha < 1 - self.delta_0, self.f.log_slope(self._share(alpha)), -np.inf)

    def hockey_stick(self, epsilon):
        return self.delta_0 + (1 - self.delta_0) * self.f.hockey_stick(epsilon)

    def inverse(self):
        other = self.f.inverse()
        return self if other is self.f else Failing(other, self.delta_0)

    def loss_law(self, split_at):
        loss, weight = self.f.loss_law(split_at)
        return np.r_[loss, -np.inf], np.r_[(1 - self.delta_0) * weight, self.delta_0]


class Inverse(Kind):
    def __init__(self, f):
        self.f, self.unit = f, f.unit

    def kinks(self):
        return self.f.at(np.clip(self.f.kinks(), 0, 1))

    def beta(self, alpha):
        return self.f.inverse_at(alpha)

    def inverse_at(self, beta):
        return self.f.beta(beta)

    def log_slope(self, alpha):
        flat = alpha >= self.f.beta(np.zeros(1))[0]
        return np.where(flat, -np.inf, -self.f.log_slope(self.f.inverse_at(alpha)))

    def hockey_stick(self, epsilon):
        """Return the hockey stick: f's mirrored for small epsilon; for large epsilon, where that loses digits, on the steepest part of f^-1."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            mirrored = _mirrored(epsilon, self.f.hockey_stick(-epsilon))
            turned = np.asarray(
                bisect(lambda a: self.f.log_slope(a) <= -epsilon, np.zeros_like(epsilon), np.ones_like(epsilon))
            )
            alpha = self.f.beta(turned)
            return np.where(epsilon < 1, mirrored, 1 - turned - np.where(alpha > 0, np.exp(epsilon), 0) * alpha)

    def inverse(self):
        return self.f


class Larger(Kind):
    """max{f, f^-1}, which is its own inverse."""

    def __init__(self, f, g):
        self.f, self.g = f, g

    def kinks(self):
        return np.r_[self.f.kinks(), self.g.kinks()]

    def beta(self, alpha):
        return np.maximum(self.f.beta(alpha), self.g.beta(alpha))

    def log_slope(self, alpha):
        return np.where(self.f.beta(alpha) >= self.g.beta(alpha), self.f.log_slope(alpha), self.g.log_slope(alpha))

    def inverse(self):
        return self


class Mixed(Kind):
    def __init__(self, f, p):
        self.f, self.p = f, p

    def kinks(self):
        return self.f.kinks()

    def beta(self, alpha):
        return self.p * self.f.beta(alpha) + (1 - self.p) * (1 - alpha)

    def log_slope(self, alpha):
        return np.logaddexp(math.log(self.p) + self.f.log_slope(alpha), math.log1p(-self.p))

    def hockey_stick(self, epsilon):
        """Return p delta_f(log(1 + (e^epsilon - 1)/p)): the slope e^epsilon is p times that of f plus (1 - p) times that of Id."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            inner = np.where(
                epsilon < 30,
                np.log1p(np.maximum(np.expm1(epsilon) / self.p, -1)),
                epsilon - math.log(self.p) + np.log1p((self.p - 1) * np.exp(-epsilon)),
            )
            dipped = inner > -np.inf
            sampled = self.p * self.f.hockey_stick(np.where(dipped, inner, 0.0))
            return np.where(dipped, sampled, -np.expm1(epsilon))


class Subsampled(Symmetric):
    """C_p of a symmetric f: f_p, then a line of slope -1, then f_p^-1. Source: section 4.2, equation 13."""

    def __init__(self, f, p):
        self.mixed = Mixed(f, p)
        self.turn = float(brentq(lambda x: float(f.at(np.asarray(x))) - x, 0, 1, xtol=1e-16))
        self.fall = float(self.mixed.at(np.asarray(self.turn)))

    def kinks(self):
        left = self.mixed.kinks()
        return np.r_[left[left <= self.turn], self.turn, self.fall, self.mixed.at(left[left <= self.turn])]

    def _pieces(self, alpha, left, middle, right):
        return np.select([alpha < self.turn, alpha <= self.fall], [left(alpha), middle(alpha)], right(alpha))

    def beta(self, alpha):
        return self._pieces(alpha, self.mixed.beta, lambda a: self.turn + self.fall - a, self.mixed.inverse_at)

    def log_slope(self, alpha):
        return self._pieces(alpha, self.mixed.log_slope, np.zeros_like, self.mixed.inverse().log_slope)

    def over(self, epsilon):
        return self.mixed.hockey_stick(epsilon)  # of f_p and f_p^-1, f_p is the one that is steeper than -1


class Group(Kind):
    def __init__(self, f, k):
        self.f, self.k = f, k

    def kinks(self):
        """Return where one of the k applications meets a kink of f: pulled back through 1 - f, up to k - 1 times."""
        layer = self.f.kinks()
        layers = [layer]
        for _ in range(self.k - 1):
            layer = self.f.inverse_at(1 - layer)
            layers.append(layer)
        return np.concatenate(layers)

    def _orbit(self, alpha):
        """Return alpha, (1-f)(alpha), (1-f)((1-f)(alpha)), …: k + 1 arrays."""
        orbit = [alpha]
        for _ in range(self.k):
            orbit.append(1 - self.f.beta(orbit[-1]))
        return orbit

    def beta(self, alpha):
        return 1 - self._orbit(alpha)[-1]

    def log_slope(self, alpha):
        return sum(self.f.log_slope(power) for power in self._orbit(alpha)[:-1])


def bisect(holds, low, high):
    """Return the smallest float from low >= 0 to high where `holds` (monotone, true at high) is true, elementwise.

    Halves the bit pattern, so that small numbers have all their digits.
    """
    low = np.asarray(low, dtype=float).view(np.int64) - 1
    high = np.asarray(high, dtype=float).view(np.int64).copy()
    while (high - low > 1).any():
        middle = low + (high - low) // 2
        true = holds(np.asarray(middle).view(np.float64)) & (high - low > 1)
        high = np.where(true, middle, high)
        low = np.where(true | (high - low <= 1), low, middle)
    result = np.asarray(high).view(np.float64)
    return float(result) if result.ndim == 0 else result


def _mirrored(epsilon, opposite):
    """Return the hockey stick of f^-1 at epsilon; `opposite` is that of f at -epsilon: alpha and beta change roles."""
    return -np.expm1(epsilon) + np.exp(epsilon) * opposite


def inside(kinks):
    """Return the kinks in (0, 1), rising."""
    kinks = np.unique(kinks)
    return kinks[(kinks > 0) & (kinks < 1)]


def _panels(edges):
    """Return Gauss-Legendre nodes and weights on each panel between the edges."""
    node, weight = np.polynomial.legendre.leggauss(16 if edges.size > 3 else 60)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (node + 1)).ravel(), (half * weight).ravel()
