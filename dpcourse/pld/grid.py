"""Measures on grid points whose hockey-stick function is above, or below, that of a pair of distributions, everywhere."""

import math
from typing import NamedTuple

import numpy as np

from dpcourse.pld.pairs import ULP, slack

LARGEST_LOSS = 700.0  # of one step: e^loss is a double
BESIDE = 2 * ULP  # the scale is a quotient in extended precision, rounded once to a double, and then a product
OUTSIDE = (
    1 - 8 * ULP
)  # lines from the end of a cell are this much flatter: EVALUATION of q, and the product's roundings
OFF_ONE = 1e-6  # a total mass further from 1 is no rounding: beside 1, doubles cannot hold such losses
DIP = 1e-6  # share of a spacing: where tangents meet further below the least that h can be, the grid is too coarse
ON_THE_GRID = 1e-9  # share of a spacing within which the end of a lattice counts as a grid point


class Unfit(Exception):
    """The grid has no room for a lower curve, or doubles have no room for the losses: the mass would not be 1."""


class Measure(NamedTuple):
    """Masses of P on increasing losses, and at infinity: h of it is above (or below) h of the pair, everywhere."""

    loss: np.ndarray
    mass: np.ndarray
    infinite: float

    def log_mgf(self, theta):
        """Return log of the sum of mass times e^(theta loss)."""
        top = theta * (self.loss[-1] if theta > 0 else self.loss[0])
        return top + math.log(float(self.mass @ np.exp(theta * self.loss - top)))


def grid(pair, spacing, ends):
    """Return losses a spacing apart, from end to end."""
    if pair.lattice is not None:
        loss = -pair.lattice + spacing * np.arange(math.ceil(2 * pair.lattice / spacing - ON_THE_GRID) + 1)
        loss[-1] = pair.lattice if abs(loss[-1] - pair.lattice) < ON_THE_GRID * spacing else loss[-1]
        return loss
    (low, high), core = ends, pair.core(spacing)
    return core + spacing * np.arange(math.floor((low - core) / spacing), math.ceil((high - core) / spacing) + 1)


def measure(pair, loss, upper):
    """Return the pair's measure on the grid points `loss`, pessimistic or optimistic, with its order verified."""
    if np.abs(loss[[0, -1]]).max() > LARGEST_LOSS:
        raise Unfit
    middle = (loss[:-1] + loss[1:]) / 2
    turn = int(np.searchsorted(middle, 0.0))  # below, k is used; from there on, h
    k, h = _dots(pair, loss, turn) if upper else _tangents(pair, loss, middle, turn)
    mass = _masses(loss, turn, k, h)
    # h of the measure at each grid point, and of the pair: k - (e^epsilon - 1) below the turn
    extended = loss.astype(np.longdouble)
    gamma = np.exp(extended)
    tail = np.cumsum((mass / gamma)[::-1])[::-1]
    own = h[-1] + np.r_[np.cumsum((tail[1:] * np.diff(gamma))[::-1])[::-1], 0]
    wanted = np.r_[k[:-1] - np.expm1(extended[:turn]), h]
    total = h[-1] + mass.sum(dtype=np.longdouble)
    seen = own > 0
    if upper:
        scale = max(1.0, float(np.max(wanted[seen] / own[seen])), float(1 / total)) * (1 + BESIDE)
    else:
        scale = min(1.0, float(np.min(wanted[seen] / own[seen])), float(1 / total)) * (1 - BESIDE)
    if not abs(float(total) * scale - 1) < OFF_ONE:
        raise Unfit
    kept = np.flatnonzero(mass * scale)
    if kept.size == 0:
        raise Unfit
    kept = slice(kept[0], kept[-1] + 1)
    return Measure(loss[kept], mass[kept] * scale, float(h[-1]) * scale)


def _dots(pair, loss, turn):
    """Return k up to the turn and h from there on, never below the truth."""
    left = loss[: turn + 1]
    k, p, q = pair.under(np.minimum(left, 0))
    k = k + slack(k, p, q, left)
    right = loss[turn:]
    h, p, q = pair.over(np.maximum(right, 0))
    h = h + slack(h, p, q, right)
    if loss[turn] >= 0:
        k[-1] = h[0] + math.expm1(loss[turn])
    else:
        h[0] = k[-1] - math.expm1(loss[turn])
    return k, h


def _tangents(pair, loss, middle, turn):
    """Return at each grid point the lower of the tangents at the middles of both cells beside it; k up to the turn, then h.

    Where such a tangent passes below the least value that k or h can have, the tangent at the cell's outer end, moved
    down to that value, takes its place.
    """
    gamma = np.exp(loss)
    reach = np.exp(middle) * -np.expm1(loss[:-1] - middle), np.exp(middle) * np.expm1(loss[1:] - middle)
    k, p, q = pair.under(middle[:turn])
    k -= slack(k, p, q, middle[:turn])
    start, stop = k - q * reach[0][:turn], k + q * reach[1][:turn]
    if turn > 0 and pair.lattice is not None:  # at an atom, the tangent to its inner side
        start[0] = pair.infinite * gamma[0]
        stop[0] = start[0] + (pair.infinite + pair.edge * gamma[-1]) * (gamma[1] - gamma[0]) * OUTSIDE
    floor = pair.infinite * gamma[: turn + 1]
    dips = np.flatnonzero(start < floor[:-1])
    _, _, q = pair.under(loss[dips])
    start[dips] = floor[dips]
    stop[dips] = floor[dips] + q * OUTSIDE * np.diff(gamma)[dips]
    left = np.minimum(np.r_[start, np.inf], np.r_[floor[0], stop])
    h, p, q = pair.over(middle[turn:])
    h -= slack(h, p, q, middle[turn:])
    start, stop = h + q * reach[0][turn:], h - q * reach[1][turn:]
    if loss[-1] == pair.lattice:
        start[-1] = pair.infinite + pair.edge * (gamma[-1] - gamma[-2]) * OUTSIDE
        stop[-1] = pair.infinite
    dips = np.flatnonzero(stop < pair.infinite)
    _, _, q = pair.over(loss[turn + 1 :][dips])
    start[dips] = pair.infinite + q * OUTSIDE * np.diff(gamma)[turn:][dips]
    stop[dips] = pair.infinite
    right = np.minimum(np.r_[start, pair.infinite], np.r_[np.inf, stop])
    both = min(right[0], left[-1] - math.expm1(loss[turn]))
    if both < max(pair.infinite, -math.expm1(loss[turn])) - DIP * (loss[1] - loss[0]):
        raise Unfit
    right[0] = both
    left[-1] = both + math.expm1(loss[turn])
    return left, right


def _masses(loss, turn, k, h):
    """Return the masses of P of the lower convex envelope of the dots: gamma times the change of slope."""
    gamma = np.exp(loss)
    left, left_slope = hull(loss[: turn + 1], k)
    right, right_slope = hull(loss[turn:], h)
    q = np.zeros(loss.size)
    first = k[0] / gamma[0]  # the line from (0, 0)
    q[left[:-1]] = np.diff(np.r_[first, left_slope]) if left_slope.size else 0
    last_left = left_slope[-1] if left_slope.size else first
    q[turn + right[1:]] = np.diff(np.r_[right_slope, 0.0])
    first_right = right_slope[0] if right_slope.size else 0.0
    q[turn] = 1 + first_right - last_left
    return np.maximum(q, 0) * gamma


def hull(loss, value):
    """Return the vertices of the lower convex envelope over gamma = e^loss, and the slopes between them."""
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
    """Return the same vertices, point by point: slower, but sure where rounding bends a straight line."""
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
