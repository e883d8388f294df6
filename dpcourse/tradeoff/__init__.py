"""Trade-off functions (lesson 03), the ground under everything else.

T(P, Q)(alpha) is the smallest false negative rate beta of any test of P against Q whose false positive rate is at most
alpha. It is convex, continuous, falling, and at most 1 - alpha; the higher, the more private. Its privacy loss is
L = log|f'(U)|, U uniform: log dQ/dP under P. Section, proposition and theorem numbers without an author are those of
Dong, Roth & Su (2022), "Gaussian differential privacy".
"""

import math

import numpy as np
from scipy.optimize import brentq

from dpcourse.base import validate
from dpcourse.tradeoff.curves import Gaussian, Laplace, Larger, Mixed, Points, Subsampled, bisect, inside
from dpcourse.tradeoff.product import failing, parts, product
from dpcourse.tradeoff.tails import log_delta

__all__ = ["TradeOff", "approx_dp", "envelope", "gaussian", "identity", "laplace", "log_gaussian_delta"]

ROUNDING = (
    1e-12  # 4,500 ULP of 1: two curves or points that differ by less, as sums of a few thousand terms may, are equal
)
SUM = 1e-6  # probabilities, as people type them, add up to 1 within this


class TradeOff:
    """A trade-off function: f(alpha) -> beta, and the algebra of private mechanisms.

    Made by identity, approx_dp, gaussian, laplace, from_points, from_probabilities and from_samples; `kind` is its
    curve on arrays.
    """

    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return repr(self.kind)

    def __call__(self, alpha) -> float | np.ndarray:
        """Return beta, of the shape of alpha. ValueError unless alpha is in [0, 1]. Source: definition 2.1."""
        alpha = validate.reals("alpha", alpha, 0, 1)
        return _like(alpha, self.kind.at(alpha))

    @classmethod
    def from_points(cls, alpha, beta, *, repair=False) -> "TradeOff":
        """Return the trade-off function through points, straight between them and towards (0, 1) and (1, 0).

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
            return cls(Points(*envelope(np.r_[0, alpha, 1], np.r_[1, beta, 0])))
        _check(alpha, beta)
        first = [] if alpha[0] == 0 else [0.0]
        last = [] if alpha[-1] == 1 else [1.0]
        return cls(Points(np.r_[first, alpha, last], np.r_[np.ones(len(first)), beta, np.zeros(len(last))]))

    @classmethod
    def from_probabilities(cls, p, q) -> "TradeOff":
        """Return T(P, Q) of two laws on the same finitely many outputs: the best tests begin where q/p is largest.

        p, q: shapes (n,), each at least 0 with the sum 1, or else ValueError. Source: section 2.1; the lemma of Neyman
        and Pearson (1933).

        >>> TradeOff.from_probabilities([0.5, 0.3, 0.2], [0.1, 0.3, 0.6])([0.2, 0.35]).round(12).tolist()
        [0.4, 0.25]
        """
        p, q = validate.numbers("p", p, 0, 1), validate.numbers("q", q, 0, 1)
        if p.shape != q.shape:
            raise ValueError(f"q must have one entry per p ({p.size}), got {q.size}")
        for name, total in (("p", p.sum()), ("q", q.sum())):
            if abs(total - 1) > SUM:
                raise ValueError(f"{name} must be probabilities with the sum 1, got the sum {total:.6g}")
        order = np.argsort(-np.divide(q, p, out=np.full(p.size, math.inf), where=p > 0))
        alpha, power = (each / each[-1] for each in (np.cumsum(p[order]), np.cumsum(q[order])))
        return cls(Points(*envelope(np.r_[0, alpha, 1], np.r_[1, 1 - power, 0])))

    @classmethod
    def from_samples(cls, p_scores, q_scores) -> "TradeOff":
        """Return the trade-off of the best tests that reject P where a score is high, on two samples of scores.

        p_scores, q_scores: shapes (n,) and (m,). ValueError for anything else. Source: section 2.1, with
        frequencies for probabilities; mixing two tests at random gives the convex envelope.

        >>> TradeOff.from_samples([0, 0, 1, 1], [0, 1, 1, 1])(0.5)
        0.25
        """
        p, q = np.sort(validate.numbers("p_scores", p_scores)), np.sort(validate.numbers("q_scores", q_scores))
        thresholds = np.unique(np.r_[p, q])
        alpha = 1 - np.searchsorted(p, thresholds) / p.size
        beta = np.searchsorted(q, thresholds) / q.size
        return cls(Points(*envelope(np.r_[0, alpha[::-1], 1], np.r_[1, beta[::-1], 0])))

    def inverse(self) -> "TradeOff":
        """Return f^-1, the trade-off function of the two distributions with roles exchanged. Source: lemma A.2.

        >>> one_sided = TradeOff.from_points([0, 0.2, 1], [0.6, 0, 0])
        >>> round(one_sided.inverse()(0.3), 12)
        0.1
        """
        return self._as(self.kind.inverse())

    def symmetrized(self) -> "TradeOff":
        """Return max{f, f^-1}: what f-DP means where each of two neighbours is the other's. Source: proposition 2.4.

        >>> laplace(1.0).symmetrized()(0.1) == laplace(1.0)(0.1)
        True
        """
        other = self.kind.inverse()
        return self if other is self.kind else TradeOff(Larger(self.kind, other))

    def mixed(self, p) -> "TradeOff":
        """Return f_p = p f + (1-p) Id: the mechanism runs with probability p. ValueError unless p is in [0, 1].

        Source: section 4.2, before definition 4.1.

        >>> round(laplace(1.0).mixed(0.5)(0.1), 8)
        0.81408591
        """
        p = validate.number("p", p, 0, 1)
        nothing = p == 0 or self.mu == 0
        return identity() if nothing else self if p == 1 else TradeOff(Mixed(self.kind, p))

    def subsampled(self, p) -> "TradeOff":
        """Return C_p(f) = min{f_p, f_p^-1}**: the mechanism sees a random share p of the data.

        p: in [0, 1], else ValueError. Exact for a symmetric f; otherwise on a grid of 20,000 points. Source: definition 4.1, theorem 4.2.

        >>> round(gaussian(1.0).subsampled(0.5)(0.1), 6)
        0.755428
        """
        mixed = self.mixed(p)
        if mixed.mu is not None:
            return mixed
        if self._is_symmetric():
            return TradeOff(Subsampled(self.kind, p)) if p < 1 else self
        other = mixed.inverse()
        alpha = np.unique(np.r_[_grid(), mixed.kinks(), other.kinks(), mixed(0.0)])
        return TradeOff.from_points(alpha, np.minimum(mixed(alpha), other(alpha)), repair=True)

    def group(self, k) -> "TradeOff":
        """Return 1 - (1-f)^{o k}: privacy of a group of k. ValueError unless k is whole and >= 1. Source: theorem 2.14.

        >>> approx_dp(0.5).group(2)(0.05) == approx_dp(1.0)(0.05)
        True
        """
        k = validate.whole("k", k)
        return self if k == 1 else TradeOff(self.kind.group(k))

    def delta(self, epsilon) -> float | np.ndarray:
        """Return 1 + f*(-e^epsilon): the smallest delta for which f lies above the first line of f_{epsilon, delta}.

        For a symmetric f, the smallest delta for which f-DP implies (epsilon, delta)-DP. epsilon: >= 0, any shape.
        ValueError otherwise. Source: proposition 2.12.

        >>> round(gaussian(1.0).delta(1.0), 10)
        0.1269367375
        """
        epsilon = validate.reals("epsilon", epsilon, 0)
        return _like(epsilon, np.clip(self.kind.hockey_stick(epsilon), 0, 1))

    def epsilon(self, delta) -> float:
        """Return the smallest epsilon >= 0 with self.delta(epsilon) <= delta; infinity where there is none.

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
            return bisect(lambda epsilon: self.delta(epsilon) <= 0, 0.0, high)
        return float(brentq(lambda epsilon: self.delta(epsilon) - delta, 0, high, xtol=1e-15, rtol=1e-14))

    def __matmul__(self, other) -> "TradeOff":
        """Return f ⊗ g, the trade-off of both mechanisms together. Source: definition 3.1; theorem 3.2.

        Exact for Gaussians, the identity and (0, delta) parts; otherwise from the privacy losses, on a grid.

        >>> (gaussian(3.0) @ gaussian(4.0))(0.001) == gaussian(5.0)(0.001)
        True
        """
        if not isinstance(other, TradeOff):
            return NotImplemented
        (f, delta_f), (g, delta_g) = parts(self.kind), parts(other.kind)
        return self._as(failing(product([(f, 1), (g, 1)]), delta_f + delta_g - delta_f * delta_g))

    def power(self, n) -> "TradeOff":
        """Return f ⊗ … ⊗ f, n times. ValueError unless n is whole and >= 1. Source: definition 3.1; theorem 3.2.

        >>> round(laplace(0.1).power(100).delta(1.0), 6)
        0.121252
        """
        n = validate.whole("n", n)
        f, delta = parts(self.kind)
        return self._as(failing(product([(f, n)]), -math.expm1(n * math.log1p(-delta)) if delta < 1 else 1.0))

    def __ge__(self, other) -> bool:
        """Return whether f is everywhere at least as private, up to rounding, on 20,000 points. Source: section 2.1.

        >>> gaussian(0.5) >= gaussian(1.0), laplace(1.0) >= gaussian(1.0), gaussian(1.0) >= laplace(1.0)
        (True, False, False)
        """
        if not isinstance(other, TradeOff):
            return NotImplemented
        alpha = np.unique(np.r_[_grid(), self.kind.kinks(), other.kind.kinks()])
        return bool(np.all(self(alpha) >= other(alpha) - ROUNDING))

    def log_slope(self, alpha) -> float | np.ndarray:
        """Return log|f'(alpha)|, the privacy loss; minus infinity where f is flat. alpha: in [0, 1], else ValueError.

        Source: section 3.2.

        >>> gaussian(2.0).log_slope(0.5)
        -2.0
        """
        alpha = validate.reals("alpha", alpha, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _like(alpha, self.kind.log_slope(alpha))

    def kinks(self) -> np.ndarray:
        """Return where, inside (0, 1), the slope may jump: an array, perhaps empty.

        >>> approx_dp(math.log(3)).kinks().round(12).tolist()
        [0.25]
        """
        return inside(self.kind.kinks())

    @property
    def mu(self) -> float | None:
        """The mu of a Gaussian trade-off function (0 for the identity), else None. Source: definition 2.6.

        >>> gaussian(3.0).power(4).mu, laplace(1.0).mu
        (6.0, None)
        """
        return self.kind.mu if isinstance(self.kind, Gaussian) else None

    def loss_law(self, split_at=0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the law of the privacy loss L = log|f'(U)|: its values, in nats, and their probabilities.

        Exact where f is piecewise linear; otherwise nodes and weights of a quadrature, for Laplace with an edge at
        L = split_at (where the integrand has a kink). A value is minus infinity where f is flat. Source: section 3.2.

        >>> loss, probability = approx_dp(math.log(3)).loss_law()
        >>> (loss / math.log(3)).round(12).tolist(), probability.round(12).tolist()
        ([1.0, -1.0], [0.25, 0.75])
        """
        return self.kind.loss_law(split_at)

    def _as(self, kind):
        return self if kind is self.kind else TradeOff(kind)

    def _is_symmetric(self):
        alpha, other = _grid(), self.inverse()
        return other is self or bool(np.allclose(self(alpha), other(alpha), rtol=0, atol=ROUNDING))


# ---- closed forms


def identity() -> TradeOff:
    """Return Id(alpha) = 1 - alpha: perfect privacy, and the 1 of the tensor product.

    >>> identity()(0.3)
    0.7
    """
    return TradeOff(Gaussian(0.0))


def approx_dp(epsilon, delta=0.0) -> TradeOff:
    """Return f_{epsilon, delta} = max{0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)}.

    epsilon: >= 0; delta: in [0, 1]. ValueError otherwise. Source: Wasserman & Zhou (2010); proposition 2.5.

    >>> round(approx_dp(math.log(3), 0.1)(0.2), 12)
    0.3
    """
    epsilon, delta = validate.number("epsilon", epsilon, 0), validate.number("delta", delta, 0, 1)
    corner = math.exp(-np.logaddexp(0, epsilon))
    alpha, beta = np.array([0, corner, 1]), np.array([1, corner, 0])
    pure = Points(alpha, beta, np.array([0, 1 / (1 + math.exp(-epsilon)), 1]), epsilon)
    return TradeOff(failing(pure if epsilon > 0 else Gaussian(0.0), delta))


def gaussian(mu) -> TradeOff:
    """Return G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu), from N(0, 1) to N(mu, 1). mu: >= 0, else ValueError.

    Source: definition 2.6 and equation 6.

    >>> round(gaussian(1.0)(0.05), 6)
    0.740489
    """
    return TradeOff(Gaussian(validate.number("mu", mu, 0)))


def laplace(mu) -> TradeOff:
    """Return the trade-off from Lap(0, 1) to Lap(mu, 1): the Laplace mechanism with sensitivity / scale = mu >= 0.

    ValueError otherwise. Source: section 3.2, lemma A.6.

    >>> laplace(1.0)([0.01, 0.1, 0.25]).round(8).tolist()
    [0.97281718, 0.72817182, 0.36787944]
    """
    mu = validate.number("mu", mu, 0)
    return TradeOff(Laplace(mu)) if mu > 0 else identity()


def log_gaussian_delta(epsilon, mu) -> np.ndarray:
    """Return log delta of G_mu at epsilon >= 0 (an array), far into the tail: phi(a) (m(a) - m(a + mu)), m Mills' ratio.

    Phi(-a) - e^epsilon Phi(-a - mu) with a = epsilon/mu - mu/2 is the textbook form. mu: >= 0.
    Source: corollary 2.13; Balle & Wang (2018), theorem 8.

    >>> float(log_gaussian_delta(np.array(1.0), 1.0).round(10)), float(log_gaussian_delta(np.array(1.0), 0.01).round(3))
    (-2.0640664465, -5014.235)
    """
    return log_delta(epsilon, mu)


# ---- helpers


def envelope(alpha, beta) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of the lower convex envelope of points: the largest convex function below them all.

    alpha, beta: arrays of shape (n,), in any order. Source: Rockafellar (1970), theorem 5.6 and corollary 17.1.5.

    >>> alpha, beta = envelope(np.array([0, 0.5, 1, 0.25]), np.array([1, 0.25, 0, 0.75]))
    >>> alpha.tolist(), beta.tolist()
    ([0.0, 0.5, 1.0], [1.0, 0.25, 0.0])
    """
    order = np.lexsort((beta, alpha))
    alpha, first = np.unique(alpha[order], return_index=True)
    beta = beta[order][first]
    while alpha.size > 2:
        with np.errstate(over="ignore"):
            slope = np.diff(beta) / np.diff(alpha)
        keep = np.r_[True, slope[1:] > slope[:-1], True]  # compared, not subtracted: they may be infinite
        if keep.all():
            break
        alpha, beta = alpha[keep], beta[keep]
    return alpha, beta


def _like(argument, values):
    return float(values) if argument.ndim == 0 else values


def _grid():
    """Return 20,000 alphas, close together at both ends."""
    left = np.geomspace(1e-15, 0.5, 10_000)
    return np.r_[0, left, 1 - left[-2::-1], 1]


def _check(alpha, beta):
    """Raise ValueError that names the first point where a property of trade-off functions fails. Source: proposition 2.2."""
    failures = [
        ("alpha must rise", np.r_[False, np.diff(alpha) <= 0]),
        ("beta must be at most 1 - alpha", beta > 1 - alpha + ROUNDING),
        ("beta must not rise", np.r_[False, np.diff(beta) > ROUNDING]),
    ]
    for law, fails in failures:
        if fails.any():
            raise ValueError(f"{law}; it is not so at {_point(alpha, beta, int(np.argmax(fails)))}")
    width, fall = np.diff(np.r_[0, alpha, 1]), np.diff(np.r_[1, beta, 0])
    above = fall[:-1] * width[1:] - fall[1:] * width[:-1] > ROUNDING
    above &= (width[:-1] > 0) & (width[1:] > 0)
    if above.any():
        place = _point(alpha, beta, int(np.argmax(above)))
        raise ValueError(
            f"the points must be convex, but the curve bends down at {place}; repair=True takes the envelope"
        )


def _point(alpha, beta, i):
    return f"alpha = {alpha[i]:g}, beta = {beta[i]:g}"
