"""Composition by Fourier transform: the n-fold measures of several steps together, with every error bounded."""

import math
from typing import NamedTuple

import numpy as np
from scipy import fft

from dpcourse.pld.pairs import ULP

FFT_LEVEL = 8 * ULP  # error per level of the FFT, relative to the sum of the inputs: Higham (2002), theorem 24.2
FADED = -50.0  # log of the coefficients that are left out; e^-50 bounds each, and twice that is added to the error
STEEPEST = 600.0  # log of what the sum is multiplied by: beyond, the bound is the trivial one, before e^x overflows
# Relative, 4,500 ULP: for what stands outside the sum, e^(log mgf - theta epsilon). An exponent below 1,000 is off by less
# than 2^-44, or 6e-14, for each rounding on the way to it, and so is its exponential.
OUTER = 1e-12


class Window(NamedTuple):
    """The window that holds nearly all of the tilted sum, and the tilts by which Chernoff's inequality shows that."""

    low: float
    high: float
    tilt_low: float
    tilt_high: float


class Composed:
    """n_i-fold measures on grids of one spacing, together, tilted by e^(theta loss): delta and its error at any epsilon.

    The sum wraps around a window [low, high), outside which little mass is left; only Fourier coefficients that count
    are kept.
    """

    def __init__(self, measures, counts, spacing, theta, window):
        self.spacing, self.theta = spacing, theta
        self.measures, self.counts = measures, counts
        self.log_mgf = self.cumulant(theta)
        self.base = sum(n * m.loss[0] for m, n in zip(measures, counts, strict=True))
        everything = sum(n * math.log(m.mass.sum() + m.infinite) for m, n in zip(measures, counts, strict=True))
        finite = sum(n * _log_finite_share(m) for m, n in zip(measures, counts, strict=True))
        infinite = math.exp(everything) * -math.expm1(finite)
        slack = ULP * (16 + 8 * sum(counts))  # of the powers, as in _spectrum
        self.infinite_lower, self.infinite_upper = infinite * (1 - slack), infinite * (1 + slack)
        self.drift = 2 * ULP * sum(n * np.abs(m.loss[[0, -1]]).max() for m, n in zip(measures, counts, strict=True))
        self.size = fft.next_fast_len(max(int((window.high - window.low) / spacing) + 2, 16), real=True)
        self.first = math.floor((window.low - self.base) / spacing)
        self.low, self.high = self.base + self.first * spacing, self.base + (self.first + self.size) * spacing
        self.spilled_left, self.spilled_right = self._spilled(window)
        self.frequency, self.weight, self.coefficient, self.error = self._spectrum()

    def cumulant(self, theta):
        """Return log of the sum of n-fold mass times e^(theta loss)."""
        return sum(n * m.log_mgf(theta) for m, n in zip(self.measures, self.counts, strict=True))

    def _spilled(self, window):
        """Return Chernoff's bounds on the tilted mass below and above the window."""
        right = self.cumulant(self.theta + window.tilt_high) - self.log_mgf - window.tilt_high * self.high
        left = self.cumulant(self.theta - window.tilt_low) - self.log_mgf + window.tilt_low * self.low
        return math.exp(min(0.0, left)), math.exp(min(0.0, right))

    def _spectrum(self):
        """Return frequencies that count, how often each counts, the tilted sum's coefficients there, and their errors."""
        size = self.size
        unit = FFT_LEVEL * (math.log2(size) + 2)
        log_abs, log_abs_up, transforms = 0.0, 0.0, []
        for m, n in zip(self.measures, self.counts, strict=True):
            tilted = m.mass * np.exp(self.theta * m.loss - m.log_mgf(self.theta))
            if tilted.size > size:
                tilted = np.bincount(np.arange(tilted.size) % size, weights=tilted, minlength=size)
            transforms.append(fft.rfft(tilted, size))
            magnitude = np.abs(transforms[-1])
            with np.errstate(divide="ignore"):
                log_abs = log_abs + n * np.log(magnitude)
            log_abs_up = log_abs_up + n * np.log(magnitude + unit)
        k = np.flatnonzero(log_abs_up > FADED)
        angle = sum(n * np.angle(t[k]) for t, n in zip(transforms, self.counts, strict=True))
        up = np.exp(log_abs_up[k])
        relative = ULP * (16 + 8 * sum(self.counts) + 2 * np.abs(log_abs_up[k]))  # of the power, by its phase
        with np.errstate(invalid="ignore"):
            error = up * (-np.expm1(log_abs[k] - log_abs_up[k]) + relative)
        coefficient = np.exp(np.maximum(log_abs[k], -700) + 1j * angle)
        return 2 * math.pi * k / size, np.where((k == 0) | (2 * k == size), 1.0, 2.0) / size, coefficient, error

    def delta(self, epsilon, upper):
        """Return delta at epsilon, with every error added (or taken away)."""
        theta, spacing = self.theta, self.spacing
        epsilon += -self.drift if upper else self.drift
        if self.log_mgf - theta * epsilon > STEEPEST:  # too far from where the tilt looks
            return math.inf if upper else 0.0
        scale = math.exp(self.log_mgf - theta * epsilon)
        start = max(math.floor((epsilon - self.base) / spacing) + 1, self.first)
        count = self.first + self.size - start
        if count <= 0:
            return self.infinite_upper + scale if upper else self.infinite_lower * (1 - OUTER)
        gap = self.base + start * spacing - epsilon
        slow, fast = (self._geometric(rate, gap, count) for rate in (theta, theta + 1))
        angle = self.frequency * start
        terms = self.weight * (self.coefficient * np.exp(1j * angle) * (slow - fast)).real
        rounding = (
            ULP * (self.weight * np.abs(self.coefficient)) @ ((16 + np.abs(angle)) * (np.abs(slow) + np.abs(fast)))
        )
        error = float(
            (self.weight * self.error) @ np.abs(slow - fast) + rounding + 2 * math.exp(FADED) * abs(slow[0] - fast[0])
        )
        peak = math.exp(theta * math.log(theta / (1 + theta))) / (1 + theta)
        if upper:
            error += self.spilled_right * math.exp(-theta * (self.high - epsilon))
            error += self.spilled_left * peak if epsilon < self.low else 0.0
            return (self.infinite_upper + scale * (float(terms.sum()) + error)) * (1 + OUTER)
        error += (self.spilled_right + self.spilled_left) * peak
        return (self.infinite_lower + scale * max(float(terms.sum()) - error, 0.0)) * (1 - OUTER)

    def _geometric(self, rate, gap, count):
        """Return the sum over j < count of e^(-rate (gap + j spacing)) e^(i frequency j), for each frequency."""
        exponent = 1j * self.frequency - rate * self.spacing
        return math.exp(-rate * gap) * np.expm1(count * exponent) / np.expm1(exponent)


def _log_finite_share(measure):
    """Return log of the share of a measure's mass that is finite; a difference of two logs would lose a small share."""
    share = measure.infinite / (measure.mass.sum() + measure.infinite)
    return math.log1p(-share) if share < 1 else -math.inf
