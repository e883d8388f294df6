"""Lesson 03: trade-off functions, the ground under everything else.

T(P, Q)(alpha) is the smallest false negative rate beta of any test of P against Q whose false positive rate is at most
alpha. It is convex, continuous, falling, and at most 1 - alpha; the higher, the more private. Its privacy loss is
L = log|f'(U)|, U uniform: log dQ/dP under P. Section, proposition and theorem numbers without an author are those of
Dong, Roth & Su (2022), "Gaussian differential privacy".
"""

import math

import numpy as np
from scipy import fft
from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, logsumexp, ndtr, ndtri

from dpcourse import validate

TINY = 1e-15  # the tail mass that products cut off
CELLS = 2**17  # of the grid on which products are computed
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


class TradeOff:
    """A trade-off function: f(alpha) -> beta, and the algebra of private mechanisms.

    A kind of trade-off function defines `_beta` and `_log_slope` (log|f'|, minus infinity where f is flat), and
    whatever else it knows in closed form.
    """

    unit = None  # its privacy loss lies on, or has its kinks at, whole multiples of this

    def __call__(self, alpha):
        """beta, of the shape of alpha. ValueError unless alpha is in [0, 1]. Source: definition 2.1."""
        alpha = validate.reals("alpha", alpha, 0, 1)
        return _like(alpha, np.clip(self._beta(alpha), 0, 1 - alpha))

    @classmethod
    def from_points(cls, alpha, beta, *, repair=False):
        """The trade-off function through points, straight between them and towards (0, 1) and (1, 0).

        alpha, beta: shape (n,), each in [0, 1], alpha rising. ValueError where the points are not convex,
        non-increasing and below 1 - alpha, naming the first that is not; with repair=True the points may come in any
        order, and the lower convex envelope is taken instead. Source: proposition 2.2.

        >>> TradeOff.from_points([0, 0.2, 1], [1, 0.3, 0])(0.1)
        0.65
        """
        alpha = validate.numbers("alpha", alpha, 0, 1)
        beta = validate.numbers("beta", beta, 0, 1)
        if alpha.shape != beta.shape:
            raise ValueError(f"beta must have one entry per alpha ({alpha.size}), got {beta.size}")
        if repair:
            return _Points(*_envelope(np.r_[0, alpha, 1], np.r_[1, beta, 0]))
        _check(alpha, beta)
        first = [] if alpha[0] == 0 else [0.0]
        last = [] if alpha[-1] == 1 else [1.0]
        return _Points(np.r_[first, alpha, last], np.r_[np.ones(len(first)), beta, np.zeros(len(last))])

    @classmethod
    def from_samples(cls, p_scores, q_scores):
        """The trade-off of the best tests that reject P where a score is high, on two samples of scores.

        p_scores, q_scores: shapes (n,) and (m,). ValueError for anything else. Source: section 2.1, with
        frequencies for probabilities; mixing two tests at random gives the convex envelope.

        >>> TradeOff.from_samples([0, 0, 1, 1], [0, 1, 1, 1])(0.5)
        0.25
        """
        p, q = np.sort(validate.numbers("p_scores", p_scores)), np.sort(validate.numbers("q_scores", q_scores))
        thresholds = np.unique(np.r_[p, q])
        alpha = 1 - np.searchsorted(p, thresholds) / p.size
        beta = np.searchsorted(q, thresholds) / q.size
        return _Points(*_envelope(np.r_[0, alpha[::-1], 1], np.r_[1, beta[::-1], 0]))

    def inverse(self):
        """f^-1, the trade-off function of the same two distributions with their roles exchanged. Source: lemma A.2.

        >>> one_sided = TradeOff.from_points([0, 0.2, 1], [0.6, 0, 0])
        >>> round(one_sided.inverse()(0.3), 12)
        0.1
        """
        return _Inverse(self)

    def symmetrized(self):
        """max{f, f^-1}: what f-DP means when neighbours are neighbours both ways. Source: proposition 2.4.

        >>> laplace(1.0).symmetrized()(0.1) == laplace(1.0)(0.1)
        True
        """
        other = self.inverse()
        return self if other is self else _Larger(self, other)

    def mixed(self, p):
        """f_p = p f + (1-p) Id: the mechanism runs with probability p. ValueError unless p is in [0, 1].

        Source: section 4.2, before definition 4.1.

        >>> round(laplace(1.0).mixed(0.5)(0.1), 8)
        0.81408591
        """
        p = validate.number("p", p, 0, 1)
        nothing = p == 0 or (isinstance(self, _Gaussian) and self.mu == 0)
        return identity() if nothing else self if p == 1 else _Mixed(self, p)

    def subsampled(self, p):
        """C_p(f) = min{f_p, f_p^-1}**: the mechanism sees a random share p of the data. ValueError unless 0 <= p <= 1.

        Exact for a symmetric f; otherwise on a grid of 20,000 points. Source: definition 4.1, theorem 4.2.

        >>> round(gaussian(1.0).subsampled(0.5)(0.1), 6)
        0.755428
        """
        mixed = self.mixed(p)
        if isinstance(mixed, _Gaussian):
            return mixed
        if _is_symmetric(self):
            return _Subsampled(self, p) if p < 1 else self
        other = mixed.inverse()
        alpha = np.unique(np.r_[_grid(), mixed.kinks(), other.kinks(), mixed(0.0)])
        return TradeOff.from_points(alpha, np.minimum(mixed(alpha), other(alpha)), repair=True)

    def group(self, k):
        """1 - (1-f)^{o k}: privacy of a group of k. ValueError unless k is whole and >= 1. Source: theorem 2.14.

        >>> approx_dp(0.5).group(2)(0.05) == approx_dp(1.0)(0.05)
        True
        """
        k = validate.whole("k", k)
        return self if k == 1 else _Group(self, k)

    def delta(self, epsilon):
        """1 + f*(-e^epsilon): the smallest delta for which the test's curve lies above f_{epsilon, delta}'s first line.

        For a symmetric f, the smallest delta for which f-DP implies (epsilon, delta)-DP. epsilon: >= 0, any shape.
        ValueError otherwise. Source: proposition 2.12.

        >>> round(gaussian(1.0).delta(1.0), 10)
        0.1269367375
        """
        epsilon = validate.reals("epsilon", epsilon, 0)
        return _like(epsilon, np.clip(self._hockey_stick(epsilon), 0, 1))

    def epsilon(self, delta):
        """The smallest epsilon >= 0 with self.delta(epsilon) <= delta; infinity where there is none.

        delta: in [0, 1]; ValueError otherwise. Source: proposition 2.12, solved for epsilon.

        >>> round(gaussian(1.0).epsilon(1e-5), 8)
        4.3771781
        """
        delta = validate.number("delta", delta, 0, 1)
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2
            if high > 1e9:
                return math.inf
        if delta == 0:  # no sign change to find: halve, and stop at the first epsilon whose delta is 0
            return _bisect(lambda epsilon: self.delta(epsilon) <= 0, 0.0, high)
        return float(brentq(lambda epsilon: self.delta(epsilon) - delta, 0, high, xtol=1e-15, rtol=1e-14))

    def __matmul__(self, other):
        """f ⊗ g, the trade-off of both mechanisms together. Source: definition 3.1; theorem 3.2.

        Exact for Gaussians, the identity and (0, delta) parts; otherwise from the privacy losses, on a grid.

        >>> (gaussian(3.0) @ gaussian(4.0))(0.001) == gaussian(5.0)(0.001)
        True
        """
        if not isinstance(other, TradeOff):
            return NotImplemented
        (f, delta_f), (g, delta_g) = _parts(self), _parts(other)
        return _failing(_product([(f, 1), (g, 1)]), delta_f + delta_g - delta_f * delta_g)

    def power(self, n):
        """f ⊗ … ⊗ f, n times. ValueError unless n is whole and >= 1. Source: definition 3.1; theorem 3.2.

        >>> round(laplace(0.1).power(100).delta(1.0), 6)
        0.121252
        """
        n = validate.whole("n", n)
        f, delta = _parts(self)
        return _failing(_product([(f, n)]), -math.expm1(n * math.log1p(-delta)) if delta < 1 else 1.0)

    def __ge__(self, other):
        """Everywhere at least as private, up to rounding, on a grid of 20,000 points. Source: section 2.1.

        >>> gaussian(0.5) >= gaussian(1.0), laplace(1.0) >= gaussian(1.0), gaussian(1.0) >= laplace(1.0)
        (True, False, False)
        """
        if not isinstance(other, TradeOff):
            return NotImplemented
        alpha = np.unique(np.r_[_grid(), self._kinks(), other._kinks()])
        return bool((self(alpha) >= other(alpha) - 1e-12).all())

    def log_slope(self, alpha):
        """log|f'(alpha)|, the privacy loss; minus infinity where f is flat. alpha: in [0, 1], else ValueError.

        Source: section 3.2.

        >>> gaussian(2.0).log_slope(0.5)
        -2.0
        """
        alpha = validate.reals("alpha", alpha, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _like(alpha, self._log_slope(alpha))

    def kinks(self):
        """Where, inside (0, 1), the slope may jump: an array, perhaps empty.

        >>> approx_dp(math.log(3)).kinks().round(12).tolist()
        [0.25]
        """
        kinks = np.unique(self._kinks())
        return kinks[(kinks > 0) & (kinks < 1)]

    def _kinks(self):
        return np.empty(0)

    def _inverse_at(self, beta):
        """The smallest alpha with f(alpha) <= beta."""
        return _bisect(lambda alpha: self._beta(alpha) <= beta, np.zeros_like(beta), np.ones_like(beta))

    def _hockey_stick(self, epsilon):
        """sup over alpha of 1 - f(alpha) - e^epsilon alpha, for epsilon of either sign: where |f'| = e^epsilon."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            zero, one = np.zeros_like(epsilon), np.ones_like(epsilon)
            alpha = np.asarray(_bisect(lambda a: self._log_slope(a) <= epsilon, zero, one))
            return 1 - self._beta(alpha) - np.where(alpha > 0, np.exp(epsilon), 0) * alpha


# ---- the kinds


class _Gaussian(TradeOff):
    def __init__(self, mu):
        self.mu = mu

    def __repr__(self):
        return f"gaussian({self.mu!r})" if self.mu else "identity()"

    def _beta(self, alpha):
        return ndtr(-ndtri(alpha) - self.mu) if self.mu else 1 - alpha

    def _log_slope(self, alpha):
        return -self.mu * ndtri(alpha) - self.mu**2 / 2 if self.mu else np.zeros_like(alpha)

    def _inverse_at(self, beta):
        return self._beta(beta)

    def _hockey_stick(self, epsilon):
        size = np.abs(epsilon)
        above = np.exp(log_gaussian_delta(size, self.mu))
        return np.where(epsilon >= 0, above, -np.expm1(-size) + np.exp(-size) * above)

    def inverse(self):
        return self

    def group(self, k):
        return gaussian(validate.whole("k", k) * self.mu)


class _Laplace(TradeOff):
    def __init__(self, mu):
        self.mu = self.unit = mu

    def __repr__(self):
        return f"laplace({self.mu!r})"

    def _kinks(self):
        return np.array([math.exp(-self.mu) / 2, 0.5])

    def _beta(self, alpha):
        with np.errstate(divide="ignore", over="ignore"):
            first, last = -np.expm1(self.mu + np.log(alpha)), math.exp(-self.mu) * (1 - alpha)
            middle = math.exp(-self.mu) / (4 * alpha)
        return np.where(alpha < math.exp(-self.mu) / 2, first, np.where(alpha <= 0.5, middle, last))

    def _log_slope(self, alpha):
        return np.clip(-self.mu - np.log(4) - 2 * np.log(alpha), -self.mu, self.mu)

    def _hockey_stick(self, epsilon):
        size = np.abs(epsilon)
        above = np.maximum(-np.expm1((size - self.mu) / 2), 0)
        return np.where(epsilon >= 0, above, -np.expm1(-size) + np.exp(-size) * above)

    def inverse(self):
        return self


class _Points(TradeOff):
    """Straight lines between points that are known to be convex, from alpha = 0 to alpha = 1."""

    def __init__(self, alpha, beta, gain=None, unit=None, slopes=None):
        self.alpha, self.beta, self.unit = alpha, beta, unit
        self.gain = 1 - beta if gain is None else gain
        with np.errstate(divide="ignore"):
            falls = np.log(np.maximum(-np.diff(beta), 0)) - np.log(np.diff(alpha)) if slopes is None else slopes
        self.slopes = np.minimum.accumulate(falls)

    def __repr__(self):
        return f"<TradeOff through {self.alpha.size} points>"

    def _kinks(self):
        return self.alpha if self.alpha.size < 10_000 else np.empty(0)

    def _beta(self, alpha):
        return np.interp(alpha, self.alpha, self.beta)

    def _line(self, alpha):
        """The number of the line on the right of alpha."""
        return np.clip(np.searchsorted(self.alpha, alpha, side="right") - 1, 0, self.alpha.size - 2)

    def _log_slope(self, alpha):
        return self.slopes[self._line(alpha)]

    def _hockey_stick(self, epsilon):
        """The best point: the first whose line to the right is flatter than e^epsilon."""
        steeper = np.searchsorted(-self.slopes, -epsilon)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.gain[steeper] - np.where(self.alpha[steeper] > 0, np.exp(epsilon) * self.alpha[steeper], 0)

    def inverse(self):
        last = np.argmax(self.beta <= 0)  # where f reaches 0, f^-1 starts
        alpha, beta = self.beta[last::-1], self.alpha[last::-1]
        slopes = -self.slopes[:last][::-1]
        if alpha[-1] < 1:
            alpha, beta, slopes = np.r_[alpha, 1.0], np.r_[beta, 0.0], np.r_[slopes, -np.inf]
        return _Points(alpha, beta, unit=self.unit, slopes=slopes)


class _Failing(TradeOff):
    """f ⊗ f_{0, delta}: with probability delta everything is told. Source: section 3.3, equation 12."""

    def __init__(self, f, delta):
        self.f, self.delta_0, self.unit = f, delta, f.unit

    def __repr__(self):
        return f"{self.f!r} @ approx_dp(0, {self.delta_0!r})"

    def _kinks(self):
        return np.r_[(1 - self.delta_0) * self.f._kinks(), 1 - self.delta_0]

    def _share(self, alpha):
        return np.minimum(alpha / (1 - self.delta_0), 1) if self.delta_0 < 1 else np.ones_like(alpha)

    def _beta(self, alpha):
        return (1 - self.delta_0) * self.f._beta(self._share(alpha))

    def _log_slope(self, alpha):
        return np.where(alpha < 1 - self.delta_0, self.f._log_slope(self._share(alpha)), -np.inf)

    def _hockey_stick(self, epsilon):
        return self.delta_0 + (1 - self.delta_0) * self.f._hockey_stick(epsilon)

    def inverse(self):
        other = self.f.inverse()
        return self if other is self.f else _Failing(other, self.delta_0)


class _Inverse(TradeOff):
    def __init__(self, f):
        self.f, self.unit = f, f.unit

    def _kinks(self):
        return self.f(np.clip(self.f._kinks(), 0, 1))

    def _beta(self, alpha):
        return self.f._inverse_at(alpha)

    def _inverse_at(self, beta):
        return self.f._beta(beta)

    def _log_slope(self, alpha):
        flat = alpha >= self.f._beta(np.zeros(1))[0]
        return np.where(flat, -np.inf, -self.f._log_slope(self.f._inverse_at(alpha)))

    def _hockey_stick(self, epsilon):
        with np.errstate(over="ignore", invalid="ignore"):
            mirrored = -np.expm1(epsilon) + np.exp(epsilon) * self.f._hockey_stick(-epsilon)
        return np.where(epsilon < 1, mirrored, super()._hockey_stick(epsilon))

    def inverse(self):
        return self.f


class _Larger(TradeOff):
    """max{f, f^-1}, which is its own inverse."""

    def __init__(self, f, g):
        self.f, self.g = f, g

    def _kinks(self):
        return np.r_[self.f._kinks(), self.g._kinks()]

    def _beta(self, alpha):
        return np.maximum(self.f._beta(alpha), self.g._beta(alpha))

    def _log_slope(self, alpha):
        return np.where(self.f._beta(alpha) >= self.g._beta(alpha), self.f._log_slope(alpha), self.g._log_slope(alpha))

    def inverse(self):
        return self


class _Mixed(TradeOff):
    def __init__(self, f, p):
        self.f, self.p = f, p

    def _kinks(self):
        return self.f._kinks()

    def _beta(self, alpha):
        return self.p * self.f._beta(alpha) + (1 - self.p) * (1 - alpha)

    def _log_slope(self, alpha):
        return np.logaddexp(math.log(self.p) + self.f._log_slope(alpha), math.log1p(-self.p))

    def _hockey_stick(self, epsilon):
        """p delta_f(log(1 + (e^epsilon - 1)/p)): the line of slope e^epsilon has the slope of f and of Id in it."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            inner = np.where(
                epsilon < 30,
                np.log1p(np.maximum(np.expm1(epsilon) / self.p, -1)),
                epsilon - math.log(self.p) + np.log1p((self.p - 1) * np.exp(-epsilon)),
            )
            dipped = inner > -np.inf
            sampled = self.p * self.f._hockey_stick(np.where(dipped, inner, 0.0))
            return np.where(dipped, sampled, -np.expm1(epsilon))


class _Subsampled(TradeOff):
    """C_p of a symmetric f: f_p, then a line of slope -1, then f_p^-1. Source: section 4.2, equation 13."""

    def __init__(self, f, p):
        self.mixed_f = _Mixed(f, p)
        self.turn = float(brentq(lambda x: f(x) - x, 0, 1, xtol=1e-16))
        self.fall = self.mixed_f(self.turn)

    def _kinks(self):
        left = self.mixed_f._kinks()
        return np.r_[left[left <= self.turn], self.turn, self.fall, self.mixed_f(left[left <= self.turn])]

    def _pieces(self, alpha, left, middle, right):
        return np.select([alpha < self.turn, alpha <= self.fall], [left(alpha), middle(alpha)], right(alpha))

    def _beta(self, alpha):
        return self._pieces(alpha, self.mixed_f._beta, lambda a: self.turn + self.fall - a, self.mixed_f._inverse_at)

    def _log_slope(self, alpha):
        return self._pieces(alpha, self.mixed_f._log_slope, np.zeros_like, self.mixed_f.inverse()._log_slope)

    def _hockey_stick(self, epsilon):
        size = np.abs(epsilon)
        above = self.mixed_f._hockey_stick(size)  # of f_p and f_p^-1, f_p is the one that is steeper than -1
        return np.where(epsilon >= 0, above, -np.expm1(-size) + np.exp(-size) * above)

    def inverse(self):
        return self


class _Group(TradeOff):
    def __init__(self, f, k):
        self.f, self.k = f, k

    def _kinks(self):
        """Where one of the k applications meets a kink of f: pulled back through 1 - f, up to k - 1 times."""
        layer = self.f._kinks()
        layers = [layer]
        for _ in range(self.k - 1):
            layer = self.f._inverse_at(1 - layer)
            layers.append(layer)
        return np.concatenate(layers)

    def _orbit(self, alpha):
        """alpha, (1-f)(alpha), (1-f)((1-f)(alpha)), …: k + 1 arrays."""
        orbit = [alpha]
        for _ in range(self.k):
            orbit.append(1 - self.f._beta(orbit[-1]))
        return orbit

    def _beta(self, alpha):
        return 1 - self._orbit(alpha)[-1]

    def _log_slope(self, alpha):
        return sum(self.f._log_slope(power) for power in self._orbit(alpha)[:-1])


# ---- closed forms


def identity():
    """Id(alpha) = 1 - alpha: perfect privacy, and the 1 of the tensor product.

    >>> identity()(0.3)
    0.7
    """
    return _Gaussian(0.0)


def approx_dp(epsilon, delta=0.0):
    """f_{epsilon, delta} = max{0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)}.

    epsilon: >= 0; delta: in [0, 1]. ValueError otherwise. Source: Wasserman & Zhou (2010); proposition 2.5.

    >>> round(approx_dp(math.log(3), 0.1)(0.2), 12)
    0.3
    """
    epsilon, delta = validate.number("epsilon", epsilon, 0), validate.number("delta", delta, 0, 1)
    corner = math.exp(-np.logaddexp(0, epsilon))
    alpha, beta = np.array([0, corner, 1]), np.array([1, corner, 0])
    pure = _Points(alpha, beta, np.array([0, 1 / (1 + math.exp(-epsilon)), 1]), epsilon)
    return _failing(pure if epsilon > 0 else identity(), delta)


def gaussian(mu):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu), from N(0, 1) to N(mu, 1). mu: >= 0, else ValueError.

    Source: definition 2.6 and equation 6.

    >>> round(gaussian(1.0)(0.05), 6)
    0.740489
    """
    return _Gaussian(validate.number("mu", mu, 0))


def laplace(mu):
    """The trade-off from Lap(0, 1) to Lap(mu, 1): the Laplace mechanism with sensitivity / scale = mu >= 0.

    ValueError otherwise. Source: section 3.2, lemma A.6.

    >>> laplace(1.0)([0.01, 0.1, 0.25]).round(8).tolist()
    [0.97281718, 0.72817182, 0.36787944]
    """
    mu = validate.number("mu", mu, 0)
    return _Laplace(mu) if mu > 0 else identity()


def log_gaussian_delta(epsilon, mu):
    """log delta of G_mu at epsilon >= 0 (an array), far into the tail: phi(a) (m(a) - m(a + mu)), m the Mills ratio.

    Phi(-a) - e^epsilon Phi(-a - mu) with a = epsilon/mu - mu/2 is the textbook form. mu: >= 0.
    Source: corollary 2.13; Balle & Wang (2018), theorem 8.

    >>> float(log_gaussian_delta(np.array(1.0), 1.0).round(10)), float(log_gaussian_delta(np.array(1.0), 0.01).round(3))
    (-2.0640664465, -5014.235)
    """
    epsilon = np.asarray(epsilon, dtype=float)
    if mu == 0:
        return np.full_like(epsilon, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _log_gaussian_delta(epsilon, mu)


def _log_gaussian_delta(epsilon, mu):
    a = epsilon / mu - mu / 2
    tail = np.maximum(a, -mu / 2 if mu <= 1 else 0.0)
    if mu <= 1:  # integrate -m'(t) = 1 - t m(t) from a to a + mu, for the difference would cancel
        t = tail[..., None] + mu * (NODES + 1) / 2
        difference = mu / 2 * (WEIGHTS * _falling_mills(t)).sum(axis=-1)
    else:
        difference = _mills(tail) - _mills(tail + mu)
    in_tail = np.log(difference) - tail**2 / 2 - math.log(2 * math.pi) / 2
    log_p = log_ndtr(-a)
    near_one = log_p + np.log(-np.expm1(epsilon + log_ndtr(-a - mu) - log_p))
    return np.where(a < tail, near_one, in_tail)


def _mills(t):
    return math.sqrt(math.pi / 2) * erfcx(t / math.sqrt(2))


def _falling_mills(t):
    """1 - t m(t); for large t by its asymptotic series, where the difference would cancel."""
    square = np.maximum(t, 30.0) ** -2.0
    series = square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square * (1 - 9 * square * (1 - 11 * square)))))
    return np.where(t > 30, series, 1 - t * _mills(t))


# ---- products


def _parts(f):
    """f = g ⊗ f_{0, delta}: g and delta."""
    return (f.f, f.delta_0) if isinstance(f, _Failing) else (f, 0.0)


def _failing(f, delta):
    return _Failing(f, delta) if delta > 0 else f


def _product(factors):
    """The tensor product of f^n over the pairs (f, n)."""
    normal = math.hypot(*(math.sqrt(n) * f.mu for f, n in factors if isinstance(f, _Gaussian)))
    others = [(f, n) for f, n in factors if not isinstance(f, _Gaussian)]
    if not others:
        return gaussian(normal)
    if others == [(others[0][0], 1)] and normal == 0:
        return others[0][0]
    if any(f(0.0) == 0 for f, _ in others):  # everything is told
        return _Points(np.array([0.0, 1.0]), np.zeros(2))
    return _by_privacy_loss(others + ([(gaussian(normal), 1)] if normal else []))


def _by_privacy_loss(factors):
    """Discretize each privacy loss by connecting the dots of delta(epsilon), then convolve by FFT.

    Source: Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022), section 4, for the discretization.
    """
    ends = [_loss_range(f) for f, _ in factors]
    low, high = _sum_range([_rough_loss(f, *end, n) for (f, n), end in zip(factors, ends, strict=True)])
    step = _common_step([f for f, _ in factors], (high - low) / CELLS)
    pmfs = [_loss_pmf(f, step, *end) for (f, _), end in zip(factors, ends, strict=True)]
    first, size = math.floor(low / step), fft.next_fast_len(math.ceil((high - low) / step) + 3, real=True)
    loss = step * np.arange(first, first + size)
    log_finite = 0.0
    transforms = [1.0, 1.0]
    for (j, q, infinite), (_, n) in zip(pmfs, factors, strict=True):
        log_finite += n * math.log1p(-infinite)
        p = q * np.exp(-step * j)
        for side, mass in enumerate((p, q)):
            folded = np.bincount(j % size, weights=mass, minlength=size)
            transforms[side] = transforms[side] * fft.rfft(folded) ** n
    p, q = (np.maximum(np.roll(fft.irfft(t, size), -first), 0) for t in transforms)
    p = np.where(loss > 0, q * np.exp(-np.maximum(loss, 0)), p)  # each from the side where it is the larger
    q = np.where(loss < 0, p * np.exp(np.minimum(loss, 0)), q)
    alpha = np.cumsum(p[::-1])
    below = np.cumsum(q) - q  # beta at the moment when losses from here on reject
    gain = -math.expm1(log_finite) + np.cumsum(q[::-1])
    alpha = np.r_[0, np.minimum(alpha, 1), 1]
    beta = np.r_[math.exp(log_finite), np.minimum(below[::-1], 1 - alpha[1:-1]), 0]
    gain = np.r_[-math.expm1(log_finite), np.minimum(gain, 1), 1]
    return _Points(alpha, beta, gain, slopes=np.r_[loss[::-1], -np.inf])


def _loss_range(f):
    """Between which losses all but TINY of both distributions lies."""
    ends = []
    for g in (f, f.inverse()):
        beyond = g._hockey_stick(np.array(600.0))
        ends.append(_bisect(lambda e, g=g, b=beyond: g._hockey_stick(np.array(e)) <= b + TINY, 0.0, 600.0))
    return -ends[1] - 1e-9, ends[0] + 1e-9


def _loss_pmf(f, step, low, high):
    """Grid points (whole numbers) and the mass of Q at each, plus the mass of Q at infinity."""
    first, last = math.floor(low / step), math.ceil(high / step)
    j = np.arange(first, last + 1)
    if isinstance(f, _Points):
        return j, _split(f, step, j), min(max(1 - f.beta[0], 0.0), 1 - 1e-16)
    left, right = j[j <= 0] * step, j[j >= 0] * step
    gamma_left, gamma_right = np.exp(left), np.exp(right)
    over = f._hockey_stick(right)
    under = np.maximum(gamma_left * f.inverse()._hockey_stick(-left), 0)  # = delta(epsilon) - (1 - e^epsilon)
    slope_right = np.diff(over) / (gamma_right[:-1] * math.expm1(step))
    slope_left = np.diff(under) / (gamma_left[:-1] * math.expm1(step))
    start = under[0] / gamma_left[0]  # the line from (0, 0)
    middle = 1 + slope_right[0] - np.r_[start, slope_left][-1]
    p = np.r_[np.diff(np.r_[start, slope_left]), middle, np.diff(np.r_[slope_right, 0.0])]
    rounding = 8 * np.finfo(float).eps * np.r_[under / gamma_left, over[1:] / gamma_right[1:]] / math.expm1(step)
    q = np.where(p > rounding, p, 0) * np.exp(step * j)
    infinite = max(float(over[-1]), 0.0)
    return j, q * (1 - infinite) / max(q.sum(), 1e-300), min(infinite, 1 - 1e-16)


def _rough_loss(f, low, high, n):
    step = (high - low) / 2000
    j, q, _ = _loss_pmf(f, step, low, high)
    return j * step, q, n


def _split(f, step, j):
    """The masses of Q, each atom divided between the grid points beside it so that P and Q keep their mass."""
    loss, alpha, beta = f.slopes, np.diff(f.alpha), np.maximum(-np.diff(f.beta), 0)
    seen = loss > -np.inf
    loss, q = loss[seen], np.where(loss > 0, alpha * np.exp(np.minimum(loss, 700)), beta)[seen]
    place = np.clip(loss / step - j[0], 0, j.size - 1.000001)
    left = place.astype(int)
    share = np.expm1(-(place - left) * step) / math.expm1(-step)
    return np.bincount(left, q * (1 - share), j.size) + np.bincount(left + 1, q * share, j.size)


def _sum_range(parts):
    """Between which losses the sum lies up to TINY, by Chernoff's bound for Q and for P; parts: (loss, q, n)."""
    spread = math.sqrt(max(sum(n * (q @ loss**2 - (q @ loss) ** 2) for loss, q, n in parts), 1e-12))
    tilts = np.geomspace(0.1, 100, 60) / spread
    ends = []
    for sign in (1, -1):
        log_mgf = sum(
            n * logsumexp(sign * tilts[:, None] * loss, axis=1, b=_side(q, loss, sign)) for loss, q, n in parts
        )
        ends.append(float(np.min((log_mgf - math.log(TINY)) / tilts)))
    return -ends[1], ends[0]


def _side(q, loss, sign):
    return q if sign > 0 else q * np.exp(-loss)


def _common_step(factors, largest):
    """At most `largest`, and a whole fraction of the factors' unit where they share one; all of it between atoms."""
    unit = factors[0].unit
    if not unit or any(f.unit != unit for f in factors):
        return largest
    return unit if all(isinstance(f, _Points) for f in factors) else unit / math.ceil(unit / largest)


# ---- helpers


def _like(argument, values):
    return float(values) if argument.ndim == 0 else values


def _bisect(holds, low, high):
    """The smallest float from low >= 0 to high where holds, which is monotone and holds at high; arrays elementwise.

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


def _grid():
    """20,000 alphas, close together at both ends."""
    left = np.geomspace(1e-15, 0.5, 10_000)
    return np.r_[0, left, 1 - left[-2::-1], 1]


def _is_symmetric(f):
    alpha = _grid()
    return f.inverse() is f or bool(np.allclose(f(alpha), f.inverse()(alpha), rtol=0, atol=1e-12))


def _envelope(alpha, beta):
    """The vertices of the lower convex envelope."""
    order = np.lexsort((beta, alpha))
    alpha, first = np.unique(alpha[order], return_index=True)
    beta = beta[order][first]
    while alpha.size > 2:
        with np.errstate(over="ignore"):
            slope = np.diff(beta) / np.diff(alpha)
        keep = np.r_[True, np.diff(slope) > 0, True]
        if keep.all():
            break
        alpha, beta = alpha[keep], beta[keep]
    return alpha, beta


def _check(alpha, beta):
    """ValueError that names the first point where a property of trade-off functions fails. Source: proposition 2.2."""
    rounding = 1e-12
    failures = [
        ("alpha must rise", np.r_[False, np.diff(alpha) <= 0]),
        ("beta must be at most 1 - alpha", beta > 1 - alpha + rounding),
        ("beta must not rise", np.r_[False, np.diff(beta) > rounding]),
    ]
    for law, fails in failures:
        if fails.any():
            raise ValueError(f"{law}; it is not so at {_point(alpha, beta, int(np.argmax(fails)))}")
    width, fall = np.diff(np.r_[0, alpha, 1]), np.diff(np.r_[1, beta, 0])
    above = fall[:-1] * width[1:] - fall[1:] * width[:-1] > rounding
    above &= (width[:-1] > 0) & (width[1:] > 0)
    if above.any():
        place = _point(alpha, beta, int(np.argmax(above)))
        raise ValueError(
            f"the points must be convex, but the curve bends down at {place}; repair=True takes the envelope"
        )


def _point(alpha, beta, i):
    return f"alpha = {alpha[i]:g}, beta = {beta[i]:g}"
