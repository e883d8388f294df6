"""The parts of a training run that an answer is given: gradients, and a ledger. They keep a diary of what is asked of them.

They are made from plain data where the answer runs. An answer returns the ledger, which goes back as its diary, an array.
"""

import numpy as np

SPENT, REFUSED, ASKED = 0, 1, 2
AHEAD = 3  # columns of a diary before those of people and weights


class Ledger:
    """Room for so many steps with one noise multiplier and one sample rate. As an array it is its diary.

    Of the diary's rows each begins with SPENT, REFUSED or ASKED. Those of a spend go on with noise multiplier and sample
    rate; those of ASKED have, after two zeros, how often each person was asked for, and the weights at which.

    >>> ledger = Ledger(1.0, 0.1, 1, people=2, weights=1)
    >>> ledger.spend(1.0, 0.1)
    >>> ledger.spend(1.0, 0.1)
    Traceback (most recent call last):
    ValueError: the budget has no room for one more step: take none, and return the weights so far
    >>> ledger.steps, np.asarray(ledger)[:, :3].tolist()
    (1, [[0.0, 1.0, 0.1], [1.0, 1.0, 0.1]])
    """

    def __init__(self, noise_multiplier: float, sample_rate: float, room: int, people: int, weights: int) -> None:
        self._kind, self._left = (noise_multiplier, sample_rate), room
        self._people, self._weights = people, weights
        self._diary: list[np.ndarray] = []

    @property
    def steps(self) -> int:
        """How many are written down."""
        return sum(int(row[0] == SPENT) for row in self._diary)

    def spend(self, noise_multiplier: float, sample_rate: float) -> None:
        """Write down one step, before it is taken. ValueError where there is no room for it, or only for others."""
        kind = (float(noise_multiplier), float(sample_rate))
        meant = bool(np.allclose(kind, self._kind, rtol=1e-9, atol=0))
        nobody, nowhere = np.zeros(self._people), np.zeros(self._weights)
        self._diary.append(np.r_[SPENT if meant and self._left else REFUSED, kind, nobody, nowhere])
        if not meant:
            raise ValueError(
                f"the budget is for steps with noise_multiplier {self._kind[0]:g} and sample_rate {self._kind[1]:g}, "
                f"got {kind[0]:g} and {kind[1]:g}"
            )
        if not self._left:
            raise ValueError("the budget has no room for one more step: take none, and return the weights so far")
        self._left -= 1

    def asked(self, weights: np.ndarray, people: np.ndarray) -> None:
        """Note that the gradients of some people were asked for; by and by at the same weights is at once."""
        times = np.bincount(people, minlength=self._people)
        if self._diary and self._diary[-1][0] == ASKED and np.array_equal(self._diary[-1][-weights.size :], weights):
            self._diary[-1][AHEAD : AHEAD + times.size] += times
        else:
            self._diary.append(np.r_[ASKED, 0, 0, times, weights])

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._diary, dtype=dtype or float).reshape(-1, AHEAD + self._people + self._weights)


class Gradients:
    """gradients(weights, people): one row for each of these people, from a table of shape (people, weights)."""

    def __init__(self, table: np.ndarray, ledger: Ledger) -> None:
        self._table, self._ledger = table, ledger

    def __call__(self, weights: np.ndarray, people: np.ndarray) -> np.ndarray:
        weights, people = np.array(weights, dtype=float), np.atleast_1d(np.asarray(people))
        if weights.shape != self._table.shape[1:]:
            raise ValueError(f"weights must have the shape {self._table.shape[1:]}, got {weights.shape}")
        if people.ndim > 1:
            raise ValueError(f"people must be one list of indices, got shape {people.shape}")
        people = np.flatnonzero(people) if people.dtype == bool else people if people.size else people.astype(int)
        rows = self._table[people]
        self._ledger.asked(weights, np.arange(len(self._table))[people])
        return rows


def parts(case: dict) -> dict:
    """The parts that a case describes: `gradients` by its table, `ledger` by the number of steps that it has room for."""
    ledger = Ledger(case["noise_multiplier"], case["sample_rate"], case["ledger"], *case["gradients"].shape)
    return {"gradients": Gradients(case["gradients"], ledger), "ledger": ledger}
