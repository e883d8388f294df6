"""Noise that floating point does not give away: a Gaussian of real numbers, rounded once, from a cryptographic source.

Noise that is computed in floats takes only some of all values, so a released sum tells which sums it can come from
(Mironov 2012; for the float32 noise of torch lesson 08 has the attack). Here nothing is computed in
floats that is not also bounded: `noisy` returns what x + scale Z is after rounding to a grid, for Z normal and the sum
in real numbers. Rounding is post-processing, so whatever holds for exact Gaussian noise holds for what is returned.

How: Z = -Phi^-1(T) or its negative, T uniform in (0, 1/2], of which 63 bits are drawn. They leave Z an interval. Where
both of its ends round to the same multiple of the grid, as nearly always, that is the answer; where they do not, further
bits are drawn, and Phi^-1 is computed with as many digits as it takes. This is the interval refining of Haney, Desfontaines,
Hartman, Shrestha & Hay (2022), "Precision-based attacks and interval refining".

Taken as given, not proved: scipy's ndtri is within 1e-13 of its value, mpmath within its precision, os.urandom cannot be
told from coins, and two neighbours' clipped sums, in double precision, differ by at most 1 + 1e-6 clip norms in spite of
their rounding. The noise is larger by this factor. Not covered: how long a step takes.
"""

import os
from collections.abc import Iterable

import numpy as np
import torch
from scipy.special import ndtri

SECURE = "secure"
FINER = 20  # the grid is 2^-20 of the noise's deviation, or finer
RELATIVE, ABSOLUTE = 1e-13, 1e-15  # of ndtri; and more than the rounding of two operations
BITS = 63
ROUNDING = 1e-6  # of the clipped sums, in units of clip_norm


class Source:
    """The operating system's cryptographic source, in a torch.Generator's place: nothing to seed, nothing to save."""

    def bits(self, count: int) -> np.ndarray:
        """Return `count` words of 64 random bits."""
        return np.frombuffer(os.urandom(8 * count), np.uint64)

    def uniform(self, count: int) -> torch.Tensor:
        """Return `count` multiples of 2^-53 in [0, 1), each as likely as the others, float64."""
        return torch.from_numpy((self.bits(count) >> np.uint64(11)) * 2.0**-53)

    def get_state(self) -> torch.Tensor:
        """Return an empty state: what is drawn after a restart is new."""
        return torch.empty(0, dtype=torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        """Do nothing; ValueError for a state that is a generator's."""
        if len(state):
            raise ValueError("generator was a seed or a torch.Generator when this state was saved, and is 'secure' now")


def refuse_imprecise(parameters: Iterable[torch.Tensor]) -> None:
    """Raise ValueError unless all parameters are in double precision: in single the rounding of a sum may tell who is in it."""
    found = {p.dtype for p in parameters} - {torch.float64}
    if found:
        raise ValueError(
            f"generator='secure' needs parameters in torch.float64, got {found.pop()}: call model.double(), and give inputs in "
            "double precision"
        )


def add_noise(sums: list[torch.Tensor], scale: float, source: Source) -> list[torch.Tensor]:
    """Replace each sum, in place, by `noisy` of it, with noise larger by ROUNDING; returns the noise in units of scale.

    sums: float64, on any device; scale: > 0.
    """
    noise = []
    for total in sums:
        found = torch.from_numpy(noisy(total.cpu().numpy(), scale * (1 + ROUNDING), source)).to(total.device)
        noise.append((found - total) / scale)
        total.copy_(found)
    return noise


def grid_of(scale: float) -> float:
    """Return the grid on which numbers with noise of this deviation lie: a power of 2.

    >>> grid_of(1.5) == 2**-20
    True
    """
    return 2.0 ** (int(np.floor(np.log2(scale))) - FINER)


def noisy(x: np.ndarray, scale: float, source: Source) -> np.ndarray:
    """Return x + scale Z, Z independent normal real numbers, each rounded to the nearest multiple of grid_of(scale).

    x: float64, of any shape, finite; scale: > 0. Source: Haney and others (2022), interval refining;
    see the head of this file.

    >>> found = noisy(np.zeros(4), 1.0, Source())
    >>> bool((found % grid_of(1.0) == 0).all())
    True
    """
    words = source.bits(x.size).reshape(x.shape)
    tail, sign = (words >> np.uint64(1)), np.where(words & np.uint64(1), 1.0, -1.0)
    place = tail.astype(float)
    z = -ndtri((place + 0.5) * 2.0 ** -(BITS + 1))  # >= 0
    with np.errstate(divide="ignore"):
        unknown = RELATIVE * z + ABSOLUTE + 3 / place  # the last: T is known up to 2^-64, and Phi' is at least T / 2
    value, grid = x + sign * scale * z, grid_of(scale)
    wide = scale * unknown + 4 * np.finfo(float).eps * (np.abs(x) + scale * z)
    with np.errstate(invalid="ignore"):
        low, high = np.rint((value - wide) / grid), np.rint((value + wide) / grid)
    for place_of in zip(*np.nonzero(~((low == high) & np.isfinite(wide))), strict=True):
        low[place_of] = _refined(float(x[place_of]), scale * float(sign[place_of]), int(tail[place_of]), grid, source)
    return low * grid


def _refined(x: float, scale: float, tail: int, grid: float, source: Source) -> int:
    """Return the multiple of the grid nearest to x + scale Z, of whose T the first 63 bits are `tail`: draw more of them."""
    import mpmath

    bits = BITS
    while True:
        bits, tail = bits + 64, tail << 64 | int(source.bits(1)[0])
        with mpmath.workprec(3 * bits):
            ends = [
                (mpmath.mpf(x) + mpmath.mpf(scale) * _z(mpmath.ldexp(tail + more, -bits - 1))) / mpmath.mpf(grid)
                for more in (1, 0)
                if tail + more
            ]
            apart = mpmath.ldexp(1, -bits)
            nearest = {int(mpmath.nint(end + slack)) for end in ends for slack in (-apart, apart)}
            if len(ends) == 2 and len(nearest) == 1:
                return nearest.pop()


def _z(tail):
    """Return -Phi^-1(tail), to the precision that mpmath works with."""
    import mpmath

    return mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)
