"""What several exercises of lesson 05 share."""

import numpy as np


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
