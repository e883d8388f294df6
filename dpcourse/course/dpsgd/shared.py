"""What several exercises of lesson 05 share."""

import numpy as np
from scipy.stats import binom

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Count


def as_array(value):
    """The value as an array; an array of objects where it is none, or ragged."""
    try:
        return np.asarray(value) if isinstance(value, (list, tuple, np.ndarray)) else np.asarray(None)
    except ValueError:
        return np.asarray(None)


def row_norms(gradients, order=2):
    return np.linalg.norm(gradients, ord=order, axis=1, keepdims=True)


def clipped_rows(gradients, clip_norm):
    return gradients / np.maximum(1, row_norms(gradients) / clip_norm)


def random_curve(rng, pieces):
    """(alpha, beta): a trade-off function through random points, from (0, 1) to (1, 0), that is not symmetric."""
    p, q = rng.dirichlet(np.full(pieces, 2)), rng.dirichlet(np.full(pieces, 2))
    order = np.argsort(-q / p)
    alpha, beta = np.r_[0, np.cumsum(p[order])], np.r_[1, 1 - np.cumsum(q[order])]
    alpha[-1], beta[-1] = 1, 0
    return alpha, beta


def some_corners(rng):
    """The corners of a trade-off function, in hundredths or not, from where it leaves alpha = 0 to where it reaches beta = 0; seldom it is 0 itself."""
    if rng.random() < 0.03:
        return np.zeros(1), np.zeros(1)
    size, parts = int(rng.integers(1, 8)), int(rng.choice([100, 9973]))
    p, q = (rng.multinomial(parts, rng.dirichlet(np.ones(size))) / parts for _ in range(2))
    p, q = p[p + q > 0], q[p + q > 0]
    with np.errstate(divide="ignore"):
        order = np.argsort(-q / p, kind="stable")
    alpha, beta = np.r_[0, np.cumsum(p[order])].round(12), (1 - np.r_[0, np.cumsum(q[order])]).round(12) + 0.0
    return tuple(each[(p == 0).sum() : len(each) - (q == 0).sum()] for each in (alpha, beta))


CORNERS = to_say(
    "{name}: the 1 to 8 corners of a trade-off function, from left to right; `alpha` rises from 0, and `beta` falls to 0"
)


def batch_counts(times, p):
    """Counts of batches that coins should draw. times: how often each person is in each batch, shape (steps, n)."""
    joins, sizes, n = times > 0, times.sum(axis=1), times.shape[1]
    law = binom(n, p)
    low, high = law.ppf([0.25, 0.75])
    pairs = len(times) // 2 * 2
    return [
        Count.of(say("n = {n}: people drawn, over all batches", n=n), joins, p),
        Count.of(say("n = {n}: people at even places drawn, over all batches", n=n), joins[:, 0::2], p),
        Count.of(say("n = {n}: batches with the first person", n=n), joins[:, 0], p),
        Count.of(say("n = {n}: batches with the last person", n=n), joins[:, -1], p),
        Count.of(say("n = {n}: batches that are empty", n=n), sizes == 0, (1 - p) ** n),
        Count.of(
            say("n = {n}: batches of {low:.0f} to {high:.0f} people", n=n, low=low, high=high),
            (low <= sizes) & (sizes <= high),
            float(law.cdf(high) - law.cdf(low - 1)),
        ),
        *(
            Count.of(
                say("n = {n}: batches of more than {size:.0f} people", n=n, size=size),
                sizes > size,
                float(law.sf(size)),
            )
            for size in law.ppf([0.9, 0.97, 0.99])
        ),
        Count.of(say("n = {n}: neighbours drawn together", n=n), joins[:, 0::2] & joins[:, 1::2], p**2),
        Count.of(say("n = {n}: people drawn two steps running", n=n), joins[0:pairs:2] & joins[1:pairs:2], p**2),
        Count.of(say("n = {n}: people more than once in a batch", n=n), times > 1, 0.0),
    ]
