"""What the diary of a training run says: who was drawn, what was added up, how large the noise was, what was paid when."""

import functools

import numpy as np

from dpcourse.checking.calling.training import AHEAD, ASKED, REFUSED, SPENT
from dpcourse.course.dpsgd.sums import SUMS

CLEARLY = 0.8  # of what the right sum leaves unexplained: so little another sum must leave to be the one that was taken

ROUNDING = 1e-6  # of a noise, read off the weights before and after
ENOUGH_MOVES = 1000  # of single weights, from which the size of the noise can be told


class Run:
    """One run, read from its diary.

    Between two looks at the gradients lie as many steps as were paid for there: one, or more where nobody was asked
    because the batch was empty. Where there are as many looks as paid steps, and each is paid for in advance, however
    long, a look is a step. shares: how many, before the first look and after each. moves: by how much the weights
    moved there. times: how often each person was drawn, shape (steps, n). noise: in units of the right deviation, a row
    for each stretch that has a step. unpaid: stretches that moved the weights, and hold no step that was paid for.
    """

    def __init__(self, case, value):
        self.case, (self.final, diary) = case, value
        self.n, self.p = case["n"], case["sample_rate"]
        self.meant = min(case["steps"], case["ledger"])
        kinds, asked = diary[:, 0], diary[diary[:, 0] == ASKED]
        self.paid, refused = int(np.sum(kinds == SPENT)), diary[kinds == REFUSED]
        self.refused = len(refused)
        given = case["noise_multiplier"], case["sample_rate"]
        self.others_asked = bool(self.refused) and not np.allclose(refused[:, 1:AHEAD], given)
        self.people, self.points = asked[:, AHEAD : AHEAD + self.n].round(), asked[:, AHEAD + self.n :]
        self.moves = np.diff(np.vstack([case["weights"], self.points, self.final]), axis=0)
        self.paid_before = np.cumsum(kinds == SPENT)[kinds == ASKED]
        self.moved = self.moves.any(axis=1)
        spends = np.diff(np.r_[0, self.paid_before, self.paid])
        self.looks_in_each_step = self._looks_in_each_step()
        if self.looks_in_each_step:
            spends = np.r_[0, np.ones(len(asked), int)]
        elif self._pays_first(spends):
            spends[0], spends[-1] = spends[0] - 1, spends[-1] + 1
        self.unpaid = int(np.sum(self.moved & (spends == 0)))
        self.still = int(np.sum(~self.moved & (spends > 0)))
        self.shares = np.where(self.moved, np.maximum(spends, 1), spends)
        self.sure = np.ones(len(spends), bool)  # stretches that hold so many steps, and not one more or less
        if len(spends) > 1 and self.paid_before[0] > 1 and not self.looks_in_each_step:
            self.sure[[0, -1]] = False
        self.drawn = np.vstack([np.zeros(self.n), self.people])
        self.times = self._times()

    def __len__(self):
        return len(self.times)

    def _looks_in_each_step(self):
        """Whether each look is one step that was paid for in advance: none before the first look, one after the last."""
        ahead = self.paid_before > np.arange(len(self.points))
        return self.paid == len(self.points) > 0 and bool(ahead.all() and not self.moved[0] and self.moved[-1])

    def _pays_first(self, spends):
        """Whether steps are paid for before their gradients are asked for, and not after."""
        if len(spends) == 1 or not spends[0]:
            return False
        if spends[0] == 1:  # nothing moved yet, or the step of an empty batch, for which nobody was asked
            return not self.moved[0]
        return bool(self.moved[-1]) or bool(spends[-1])

    @functools.cached_property
    def noise(self):
        return self._noise[self.sure & (self.shares > 0)]

    @functools.cached_property
    def noise_of_empty(self):
        empty = self.sure & (self.shares > 0) & ((self.shares > 1) | (self.drawn.sum(axis=1) == 0))
        return self._noise[empty]

    @functools.cached_property
    def noise_of_others(self):
        return self._noise[self.sure & (self.shares == 1) & (self.drawn.sum(axis=1) > 0)]

    @functools.cached_property
    def added(self):
        """The name of the sum in SUMS that the moves show; None where they show none of them."""
        seen = self.sure & (self.shares == 1)
        moves, sums = self.moves[seen], {name: self._predicted(name)[seen] for name in SUMS}
        left = {name: np.sum((moves - there) ** 2) for name, there in sums.items()}
        best = min(left, key=left.get)
        name = best if left[best] < CLEARLY * left["right"] else "right"
        length = np.sum(sums[name] ** 2)
        error = np.sqrt(left[name] / max(1, moves.size) / length) if length else 0.0
        share = np.sum(moves * sums[name]) / length if length else 1.0  # of the moves in the sum, which is 1
        return name if abs(share - 1) < 0.05 + 5 * error else None

    @functools.cached_property
    def scaled(self):
        """By what factor each step is longer than it should be, sum and noise together; None where it is 1 for all that is
        seen, or more than that is wrong."""
        seen = self.sure & (self.shares == 1)
        moves, there = self.moves[seen], self._predicted("right")[seen]
        length = np.sum(there**2)
        factor = np.sum(moves * there) / length if length else 0.0
        if factor <= 0 or moves.size < ENOUGH_MOVES:
            return None
        left = np.sqrt(np.mean((moves - factor * there) ** 2)) / self._unit / factor
        is_seen = abs(factor - 1) > 5 * factor * self._unit / np.sqrt(length)
        return factor if is_seen and abs(left - 1) < 5 / np.sqrt(2 * moves.size) else None

    @property
    def lost(self):
        """Whether the run ends with the weights with which it began, though it took steps and asked for gradients on the way."""
        return self.paid > 1 and len(self.points) > 1 and np.array_equal(self.final, self.case["weights"])

    def noises_of(self, other):
        """For each of its noises whether another run has the same one, and whether it is one."""
        apart = np.abs(self.noise[:, None, :] - other.noise[None, :, :]).max(axis=2, initial=0)
        is_one = np.abs(self.noise).max(axis=1, initial=0) > ROUNDING
        return (apart < ROUNDING).any(axis=1) & is_one if self.noise.size else np.zeros(1, bool)

    def is_like(self, other):
        """Whether two runs asked for the same people and ended with the same weights."""
        return np.array_equal(self.final, other.final) and np.array_equal(self.people, other.people)

    def _times(self):
        rows = []
        for place, (share, drawn) in enumerate(zip(self.shares.tolist(), self.drawn, strict=True)):
            rows += [drawn] if place else []
            rows += [np.zeros(self.n)] * (share - (1 if place else 0))
        return np.array(rows).reshape(-1, self.n)

    @functools.cached_property
    def _noise(self):
        steps = np.sqrt(np.maximum(self.shares, 1))[:, None]
        return (self._predicted("right") - self.moves) / self._unit / steps

    @property
    def _unit(self):
        """The deviation of the noise of a step."""
        case = self.case
        return case["learning_rate"] * case["noise_multiplier"] * case["clip_norm"] / (self.p * self.n)

    def _predicted(self, name):
        """The moves without noise, had this sum been taken."""
        table, clip_norm, expected = self.case["gradients"], self.case["clip_norm"], self.p * self.n
        return -self.case["learning_rate"] * SUMS[name](self.drawn, table, clip_norm, expected, self.case)


_READ: dict[tuple, tuple] = {}  # the last runs, each with what it was read from: whoever judges asks many questions
MOST_READ = 10


def run_of(case, value):
    """The Run of a case, read once."""
    key = id(case), id(value)
    if key not in _READ:
        while len(_READ) >= MOST_READ:
            _READ.pop(next(iter(_READ)), None)
        _READ[key] = case, value, Run(case, value)
    return _READ[key][2]


def runs(cases, values):
    return [run_of(case, value) for case, value in zip(cases, values, strict=True)]
