"""What may be added up in a step in place of the clipped gradients, and what is said of it."""

import numpy as np

from dpcourse.course.dpsgd.shared import clipped_rows, row_norms


def _of(rows, divisor=lambda drawn, expected, case: expected):
    """A sum of rows, each by itself: rows(table, clip_norm), and what it is divided by."""
    return lambda drawn, table, r, expected, case: drawn @ rows(table, r) / divisor(drawn, expected, case)


def _size(drawn):
    return np.maximum(drawn.sum(axis=1, keepdims=True), 1)


def _whole(drawn, table, r):
    """The sums of the batches, clipped by one factor for all people of a batch."""
    norms = np.sqrt(drawn**2 @ row_norms(table) ** 2)
    return drawn @ table / np.maximum(1, norms / r)


SUMS = {
    "right": _of(clipped_rows),
    "not clipped": _of(lambda table, r: table),
    "each coordinate": _of(lambda table, r: np.clip(table, -r, r)),
    "stretched": _of(lambda table, r: r * table / np.maximum(row_norms(table), 1e-12)),
    "dropped": _of(lambda table, r: np.where(row_norms(table) > r, 0, table)),
    "length one": _of(lambda table, r: np.where(row_norms(table) > r, table / np.maximum(row_norms(table), 1e-12), table)),
    "half": _of(lambda table, r: clipped_rows(table, r / 2)),
    "twice": _of(lambda table, r: clipped_rows(table, 2 * r)),
    "root forgotten": _of(lambda table, r: table / np.maximum(1, row_norms(table) ** 2 / r)),
    "sum": lambda drawn, table, r, expected, case: clipped_rows(drawn @ table, r) / expected,
    "mean": lambda drawn, table, r, expected, case: clipped_rows(drawn @ table / _size(drawn), r),
    "one factor": lambda drawn, table, r, expected, case: _whole(drawn, table, r) / expected,
    "all entries": lambda drawn, table, r, expected, case: (
        (drawn @ clipped_rows(table, r)).sum(axis=1, keepdims=True) / expected + np.zeros(table.shape[1])
    ),
    "number drawn": _of(clipped_rows, lambda drawn, expected, case: _size(drawn)),
    "everybody's number": _of(clipped_rows, lambda drawn, expected, case: case["n"]),
    "the plain mean": _of(lambda table, r: table, lambda drawn, expected, case: _size(drawn)),
    "not divided": _of(clipped_rows, lambda drawn, expected, case: 1),
    "rate alone": _of(clipped_rows, lambda drawn, expected, case: case["sample_rate"]),
    "uphill": _of(clipped_rows, lambda drawn, expected, case: -expected),
    "no learning rate": _of(clipped_rows, lambda drawn, expected, case: expected * case["learning_rate"]),
    "nothing": _of(lambda table, r: 0 * table),
}  # fmt: skip

TOLD = {
    "not clipped": "You did not clip. Without clipping one person can move the sum by any amount, and no noise hides that.",
    "each coordinate": "You clipped each coordinate by itself. Clip the norm of each person's whole gradient.",
    "stretched": "You gave every gradient the norm clip_norm. Only longer ones are changed.",
    "dropped": "You left long gradients out. Shorten them to clip_norm.",
    "length one": "Your long gradients end with length 1. Divide by norm / clip_norm, so that they end with length clip_norm.",
    "half": "You clipped to half of clip_norm. Each person's gradient may have the norm clip_norm.",
    "twice": "You clipped to twice clip_norm. Then one person can do twice as much as the noise was made for.",
    "root forgotten": "You used the square of the norm. Take the root: `np.linalg.norm` does.",
    "sum": "You clipped the sum of the gradients, or their mean. Then one person can turn the whole step round, and everybody else has no say. Clip each person's gradient before adding up.",
    "mean": "You clipped what was divided already, a mean of the gradients. Then one person can turn the whole step round. Clip each person's gradient, add up, add the noise, and divide at the end.",
    "one factor": "You clipped all rows by one factor, from the norm of the whole array. Every row has a norm of its own: `axis=1`.",
    "all entries": "You added up all entries into one number. Add over the people alone, `axis=0`: one sum for each weight.",
    "number drawn": "You divided by the number of people drawn. It is secret and random. Divide by the expected number, sample_rate * n.",
    "everybody's number": "You divided by n. So many people are not in a batch: divide by the expected number, sample_rate * n.",
    "the plain mean": "You took the mean of the gradients, as training without privacy does: without clipping, and divided by the number of people drawn. Clip each person's gradient, and divide by the expected number, sample_rate * n.",
    "not divided": "You did not divide by the expected number of people drawn, sample_rate * n.",
    "rate alone": "You divided by sample_rate alone. The expected number of people drawn is sample_rate * n.",
    "uphill": "You went up the gradient. The loss falls against it: weights minus learning_rate times the noisy mean.",
    "no learning rate": "You left out the learning rate. The weights move by -learning_rate times the noisy mean.",
    "nothing": "Your steps are noise alone: the gradients are not in them. Or the sum is so large or small that it cannot be told from noise.",
}  # fmt: skip
