"""The tensor product: privacy losses add up. Without a closed form they are convolved on a grid."""

import math

import numpy as np
from scipy import fft
from scipy.special import logsumexp

from dpcourse.base import validate
from dpcourse.tradeoff.curves import Failing, Gaussian, Points, bisect

TINY = 1e-15  # the tail mass that products cut off
CELLS = 2**17  # of the grid on which products are computed


def parts(f):
    """Return g and delta with f = g ⊗ f_{0, delta}."""
    return (f.f, f.delta_0) if isinstance(f, Failing) else (f, 0.0)


def failing(f, delta):
    return Failing(f, delta) if delta > 0 else f


def product(factors):
    """Return the tensor product of f^n over the pairs (f, n)."""
    normal = math.hypot(*(math.sqrt(n) * f.mu for f, n in factors if isinstance(f, Gaussian)))
    others = [(f, n) for f, n in factors if not isinstance(f, Gaussian)]
    if not others:
        return Gaussian(validate.number("mu", normal, 0))
    if others == [(others[0][0], 1)] and normal == 0:
        return others[0][0]
    if any(f.at(np.zeros(())) == 0 for f, _ in others):  # everything is told
        return Points(np.array([0.0, 1.0]), np.zeros(2))
    return _by_privacy_loss(others + ([(Gaussian(normal), 1)] if normal else []))


def _by_privacy_loss(factors):
    """Discretize each privacy loss by connecting the dots of delta(epsilon), then convolve by FFT.

    Source: Doroshenko, Ghazi, Kamath, Kumar & Manurangsi (2022), section 4, for the discretization.
    """
    ends = [_loss_range(f) for f, _ in factors]
    low, high = _sum_range([_rough_loss(f, *end, n) for (f, n), end in zip(factors, ends, strict=True)])
    spacing = _common_spacing([f for f, _ in factors], (high - low) / CELLS)
    pmfs = [_loss_pmf(f, spacing, *end) for (f, _), end in zip(factors, ends, strict=True)]
    first, size = math.floor(low / spacing), fft.next_fast_len(math.ceil((high - low) / spacing) + 3, real=True)
    loss = spacing * np.arange(first, first + size)
    log_finite = 0.0
    transforms = [1.0, 1.0]
    for (j, q, infinite), (_, n) in zip(pmfs, factors, strict=True):
        log_finite += n * math.log1p(-infinite)
        p = q * np.exp(-spacing * j)
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
    return Points(alpha, beta, gain, slopes=np.r_[loss[::-1], -np.inf])


def _loss_range(f):
    """Return between which losses all but TINY of both distributions lies."""
    ends = []
    for g in (f, f.inverse()):
        beyond = g.hockey_stick(np.array(600.0))
        ends.append(bisect(lambda e, g=g, b=beyond: g.hockey_stick(np.array(e)) <= b + TINY, 0.0, 600.0))
    return -ends[1] - 1e-9, ends[0] + 1e-9


def _loss_pmf(f, spacing, low, high):
    """Return grid points (whole numbers) and the mass of Q at each, plus the mass of Q at infinity."""
    first, last = math.floor(low / spacing), math.ceil(high / spacing)
    j = np.arange(first, last + 1)
    if isinstance(f, Points):
        return j, _split(f, spacing, j), min(max(1 - f.betas[0], 0.0), 1 - 1e-16)
    left, right = j[j <= 0] * spacing, j[j >= 0] * spacing
    gamma_left, gamma_right = np.exp(left), np.exp(right)
    over = f.hockey_stick(right)
    under = np.maximum(gamma_left * f.inverse().hockey_stick(-left), 0)  # = delta(epsilon) - (1 - e^epsilon)
    slope_right = np.diff(over) / (gamma_right[:-1] * math.expm1(spacing))
    slope_left = np.diff(under) / (gamma_left[:-1] * math.expm1(spacing))
    start = under[0] / gamma_left[0]  # the line from (0, 0)
    middle = 1 + slope_right[0] - np.r_[start, slope_left][-1]
    p = np.r_[np.diff(np.r_[start, slope_left]), middle, np.diff(np.r_[slope_right, 0.0])]
    rounding = 8 * np.finfo(float).eps * np.r_[under / gamma_left, over[1:] / gamma_right[1:]] / math.expm1(spacing)
    q = np.where(p > rounding, p, 0) * np.exp(spacing * j)
    infinite = max(float(over[-1]), 0.0)
    return j, q * (1 - infinite) / max(q.sum(), 1e-300), min(infinite, 1 - 1e-16)


def _rough_loss(f, low, high, n):
    spacing = (high - low) / 2000
    j, q, _ = _loss_pmf(f, spacing, low, high)
    return j * spacing, q, n


def _split(f, spacing, j):
    """Return the masses of Q, each atom divided between the grid points beside it so that P and Q keep their mass."""
    loss, alpha, beta = f.slopes, np.diff(f.alphas), np.maximum(-np.diff(f.betas), 0)
    seen = loss > -np.inf
    loss, q = loss[seen], np.where(loss > 0, alpha * np.exp(np.minimum(loss, 700)), beta)[seen]
    place = np.clip(loss / spacing - j[0], 0, j.size - 1.000001)
    left = place.astype(int)
    share = np.expm1(-(place - left) * spacing) / math.expm1(-spacing)
    return np.bincount(left, q * (1 - share), j.size) + np.bincount(left + 1, q * share, j.size)


def _sum_range(parts):
    """Return between which losses the sum lies up to TINY, by Chernoff's bound for Q and for P; parts: (loss, q, n)."""
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


def _common_spacing(factors, largest):
    """Return a spacing of at most `largest`, a whole fraction of the factors' unit where the factors share one."""
    unit = factors[0].unit
    if not unit or any(f.unit != unit for f in factors):
        return largest
    return unit if all(isinstance(f, Points) for f in factors) else unit / math.ceil(unit / largest)
