"""Pairs of distributions (P, Q), one for each kind of step: where the privacy loss lies, and its tails."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import erfcx

ULP = 2.0**-52
EVALUATION = 4 * ULP  # relative error of one evaluation of erfcx, exp or log: a few units in the last place
UNDERFLOW = -600.0  # of the Gaussian's loss: e^loss < 1e-260, and what lies below is rounded to 0
FAR = 50.0  # a loss beyond which 1 is nothing beside e^loss, which would overflow before long
NEWTON = 60  # steps of Newton's method at most; a dozen are usual
SPAN = 38.0  # standard deviations, beyond which Phi(-x) < 1e-315: where losses are looked for
BY_ATOM = 1e-9  # share of the largest loss: a node so near an atom has nothing else between itself and it
NUDGE = 1e-9  # share of a spacing: the side on which the tangent beside the core is above 1 - e^epsilon


class Pair:
    """A pair of distributions, of one step; symmetric unless `reversed` says otherwise.

    `over(epsilon)`, epsilon >= 0: h, P(L > epsilon), Q(L > epsilon).
    `under(epsilon)`, epsilon <= 0: k = h - (1 - e^epsilon) = E_Q (e^epsilon - Lambda)_+, P(L < epsilon), Q(L < epsilon).
    `nodes(count)`: losses that follow the distribution, for looking at it.
    """

    infinite = 0.0  # the mass of P where Q has none, and of Q where P has none
    lattice = None  # the loss has atoms at the ends of [-lattice, lattice]
    edge = 0.0  # Q(L = lattice)

    def under(self, epsilon):
        h, p, q = self.over(-epsilon)
        return np.exp(epsilon) * h, q, p

    def reversed(self):
        return self

    def core(self, spacing):
        """Return a good grid point for the lower bound."""
        return 0.0

    def ends(self, small):
        """Return the losses beyond which P has less than `small`."""
        if self.lattice is not None:
            return -self.lattice, self.lattice
        nodes = self.nodes(2000)
        positive, negative = nodes[nodes > 0], nodes[nodes < 0]
        high = positive[min(np.searchsorted(-self.over(positive)[1], -small), positive.size - 1)]
        return negative[max(np.searchsorted(self.under(negative)[1], small, side="right") - 1, 0)], high


class Gaussian(Pair):
    def __init__(self, mu):
        self.mu = mu

    def __repr__(self):
        return f"Gaussian(mu={self.mu:.6g})"

    def over(self, epsilon):
        """Return h and both tails, by erfcx of positive numbers only: ndtr is off by hundreds of units in the last place far out."""
        a = (np.longdouble(epsilon) / self.mu - np.longdouble(self.mu) / 2).astype(float)  # which may cancel
        density = np.exp(-(a**2) / 2) / 2
        mills, q_mills = erfcx(np.abs(a) / math.sqrt(2)), erfcx((a + self.mu) / math.sqrt(2))
        p = np.where(a < 0, 1 - density * mills, density * mills)
        h = np.where(a < 0, p - density * q_mills, density * np.maximum(mills - q_mills, 0))
        return h, p, np.exp(-((a + self.mu) ** 2) / 2) / 2 * q_mills

    def nodes(self, count):
        return self.mu * np.linspace(-max(SPAN, self.mu), SPAN, count) + self.mu**2 / 2


class Sampled(Pair):
    """P = (1 - rate) N(0, 1) + rate N(mu, 1), Q = N(0, 1): a person is removed. Source: Zhu et al. (2022), theorem 11."""

    def __init__(self, mu, rate):
        self.normal, self.rate = Gaussian(mu), rate
        self.least = math.log1p(-rate) if rate < 1 else 0.0  # no loss is smaller

    def __repr__(self):
        return f"Sampled(mu={self.normal.mu:.6g}, rate={self.rate:.6g})"

    def over(self, epsilon):
        near = np.log(1 + np.expm1(np.minimum(epsilon, FAR)) / self.rate)
        far = epsilon - np.log(np.longdouble(self.rate))
        inner = np.where(epsilon < FAR, near, far)  # the loss of the Gaussian at this one's
        h, p, q = self.normal.over(inner)
        return self.rate * h, self.rate * p + (1 - self.rate) * q, q

    def under(self, epsilon):
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # in this form nothing cancels
            share = (1 - self.rate) / self.rate * np.expm1(epsilon - math.log1p(-self.rate))
            inner = np.log(np.maximum(share, 0))  # minus infinity below the smallest loss
        seen = inner > UNDERFLOW
        k, p, q = self.normal.under(np.where(seen, inner, -1.0))
        return tuple(np.where(seen, x, 0.0) for x in (self.rate * k, self.rate * p + (1 - self.rate) * q, q))

    def reversed(self):
        return Reversed(self)

    def core(self, spacing):
        """Return the mean of the small losses, where these share one cell: c = log E(Lambda | Lambda < e^c+)."""
        core = self.least
        for _ in range(8):
            edge = np.array(core + spacing / 2)
            if edge < 0:
                _, p, q = self.under(edge)
                core = float(np.log(p) - np.log(q)) if q > 1e-9 else core
            else:
                _, p, q = self.over(edge)
                core = float(np.log1p(-p) - np.log1p(-q))
        return core + NUDGE * spacing

    def nodes(self, count):
        inner = self.normal.mu * np.linspace(-SPAN, SPAN + self.normal.mu, count) - self.normal.mu**2 / 2
        return np.unique(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + inner))


class Group(Sampled):
    """P = the mean of N(j mu, 1), Q = N(0, 1), where j is how many of `size` people the sample has: all are removed.

    Source: Ganesh (2024), "Tight group-level DP guarantees for DP-SGD with sampling via mixture of Gaussians mechanisms".
    """

    def __init__(self, mu, rate, size):
        self.mu, self.rate, self.size = mu, rate, size
        p = Fraction(rate)  # binom.pmf is off by 76 ULP for 138 people
        self.share = [float(math.comb(size, j) * p**j * (1 - p) ** (size - j)) for j in range(size + 1)]
        self.log_nobody = size * np.log1p(-np.longdouble(rate))
        self.least = float(self.log_nobody)
        self.parts = [(Gaussian(j * mu), self.share[j], j * mu) for j in range(1, size + 1) if self.share[j] > 0]

    def __repr__(self):
        return f"Group(mu={self.mu:.6g}, rate={self.rate:.6g}, size={self.size})"

    def _losses(self, x):
        """Return each part's loss at the outputs x, a row each: they grow with x, and so does the pair's loss."""
        return np.array([shift * x - np.longdouble(shift) ** 2 / 2 for _, _, shift in self.parts])

    def _output(self, epsilon):
        """Return the output at which the loss is epsilon; minus infinity below the least one.

        By Newton's method on the logarithm of the parts' likelihood ratios, which is convex: it comes from above.
        """
        log_share = np.log([[np.longdouble(share)] for _, share, _ in self.parts]) - self.log_nobody
        shift = np.array([[np.longdouble(shift)] for _, _, shift in self.parts])
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.asarray(epsilon, dtype=np.longdouble) - self.log_nobody
            wanted = np.where(above < FAR, np.log(np.expm1(np.minimum(above, FAR))), above)
        found = np.isfinite(wanted)
        wanted = np.where(found, wanted, 0)
        x = np.min((wanted - log_share + shift**2 / 2) / shift, axis=0)
        for _ in range(NEWTON):
            logs = log_share + self._losses(x)
            top = logs.max(axis=0)
            weights = np.exp(logs - top)
            total = weights.sum(axis=0)
            step = (top + np.log(total) - wanted) / ((shift * weights).sum(axis=0) / total)
            x = x - step
            if np.all(np.abs(step) <= ULP / 1000 * (1 + np.abs(x))):
                break
        return np.where(found, x, -np.inf).reshape(np.shape(epsilon))

    def _mixed(self, x, of_part):
        """Return three values of the mixture at the outputs x: of_part(normal, its loss) gives those of a part."""
        value, p, q = np.zeros((3, *np.shape(x)), dtype=np.longdouble)
        for (normal, share, _), loss in zip(self.parts, self._losses(x), strict=True):
            more, tail, q = of_part(normal, loss)
            value, p = value + share * more, p + share * tail
        return value.astype(float), (p + self.share[0] * q).astype(float), q

    def over(self, epsilon):
        return self._mixed(self._output(epsilon), Gaussian.over)

    def under(self, epsilon):
        x = self._output(epsilon)
        seen = x > -SPAN
        return tuple(np.where(seen, value, 0.0) for value in self._mixed(np.where(seen, x, 0), Gaussian.under))

    def nodes(self, count):
        x = np.linspace(-SPAN, SPAN + self.size * self.mu, count)
        logs = np.log([[share] for _, share, _ in self.parts]) + self._losses(x).astype(float)
        return np.unique(np.logaddexp(self.least, np.logaddexp.reduce(logs)))


class Reversed(Pair):
    """P and Q with their roles exchanged: the loss changes sign."""

    def __init__(self, pair):
        self.pair = pair

    def over(self, epsilon):
        k, p, q = self.pair.under(-epsilon)
        return np.exp(epsilon) * k, q, p

    def under(self, epsilon):
        h, p, q = self.pair.over(-epsilon)
        return np.exp(epsilon) * h, q, p

    def core(self, spacing):
        return -self.pair.core(spacing)

    def nodes(self, count):
        return -self.pair.nodes(count)[::-1]


class Laplace(Pair):
    def __init__(self, mu):
        self.lattice = self.mu = mu
        self.edge = math.exp(-mu) / 2

    def __repr__(self):
        return f"Laplace(epsilon={self.mu:.6g})"

    def over(self, epsilon):
        inside = epsilon < self.mu
        half = np.exp((np.minimum(epsilon, self.mu) - self.mu) / 2)
        h = np.maximum(-np.expm1((epsilon - self.mu) / 2), 0)
        return h, np.where(inside, 1 - half / 2, 0), np.where(inside, half / 2 * np.exp(-epsilon), 0)

    def nodes(self, count):
        inside = (1 - BY_ATOM) * self.mu
        return np.r_[-self.mu, np.linspace(-inside, inside, count - 2), self.mu]


class Randomized(Pair):
    """Randomized response after a failure with probability delta. Source: Kairouz, Oh & Viswanath (2015), theorem 3.3."""

    def __init__(self, epsilon, delta):
        self.lattice, self.infinite = epsilon, delta
        self.edge = (1 - delta) / (1 + math.exp(epsilon))

    def __repr__(self):
        return f"Randomized(epsilon={self.lattice:.6g}, delta={self.infinite:.6g})"

    def over(self, epsilon):
        q = np.where(epsilon < self.lattice, (1 - self.infinite) / (1 + math.exp(self.lattice)), 0.0)
        h = self.infinite + q * np.exp(epsilon) * np.expm1(np.maximum(self.lattice - epsilon, 0))
        return h, self.infinite + q * math.exp(self.lattice), q

    def nodes(self, count):
        return np.linspace(-self.lattice, self.lattice, 2)


def slack(value, p, q, epsilon):
    """Return what the evaluation of h or k may be off by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(value > 0, -2 * np.log(value), 0)
    return EVALUATION * (p + np.exp(epsilon) * q + value * (1 + logs))
