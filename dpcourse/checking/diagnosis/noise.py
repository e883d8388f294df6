"""Measurements of noise: an exact test of its scale, and in words how it differs from what it should be."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking.calling.values import show
from dpcourse.checking.diagnosis.words import joined

LAWS = {
    "laplace": to_say("Laplace noise"),
    "norm": to_say("Gaussian noise"),
    "uniform": to_say("uniform noise"),
    "expon": to_say("exponential noise"),
    "t3": to_say("noise of Student's t"),
}
LAW = (
    to_say("Your noise looks like {found}; it should be {right}."),
    to_say("It looks like {found}; it should be {right}."),
)
SIZE = to_say("Your noise is {sizes}."), to_say("It is {sizes}.")
EQUAL = to_say("Of your {all} noises only {different} differ from each other: each number needs a noise of its own.")
OFF = to_say(
    "What your result has besides the right one is {size:.3g} times as large as the noise should be, and its mean is {mean} in "
    "units of that. Is your result right before noise is added to it?"
)
FAR = 0.4  # of a mean, in deviations: noise of a wrong law may have one, but it is not the first thing to look at
SURE, LIKELY = 1e-6, 0.01  # p-values below which a law is given up, and above which one is named
UNCUT = 0.95  # share of noises that are compared as they are
MOST = 5000  # numbers by which laws are compared


@dataclass(frozen=True)
class Noise:
    """Noise in units of the scale that is right. law: "laplace" or "norm" (of deviation 1); values: independent if right.

    groups: the values by the settings in which they were drawn, in words such as "with 2 counts", where there are several.
    """

    law: str
    values: np.ndarray
    groups: dict[str, np.ndarray] = field(default_factory=dict)

    impossible = always_alike = False  # any size may come of the law

    @classmethod
    def of_groups(cls, law: str, groups: dict[str, np.ndarray]) -> "Noise":
        """Return Noise that was drawn in several settings."""
        return cls(law, np.concatenate([np.ravel(values) for values in groups.values()]), groups)

    @property
    def p_value(self) -> float:
        """How rare such a scale is under the law, of all values together or of one setting's, the rarest times their number."""
        parts = [self.values, *(self.groups.values() if len(self.groups) > 1 else ())]
        return min(1.0, len(parts) * min(map(self._p_value_of, parts)))

    def _p_value_of(self, values):
        """Return the two-sided p-value: sum |x| is Gamma for Laplace, sum x^2 chi-squared for Gaussian noise."""
        from scipy.stats import chi2, gamma

        x = np.ravel(values)
        if not np.isfinite(x).all():
            return 0.0
        total, law = (np.abs(x).sum(), gamma(x.size)) if self.law == "laplace" else ((x * x).sum(), chi2(x.size))
        return float(min(1.0, 2 * min(law.cdf(total), law.sf(total))))

    @property
    def as_sentence(self) -> str:
        """How large the noise is."""
        return say(SIZE[0], sizes=self._times_as_large())

    @property
    def size(self) -> float:
        """Its mean absolute value (Laplace) or deviation (Gaussian), where 1 is right."""
        return self._size_of(self.values)

    def _size_of(self, values):
        x = np.ravel(values)
        return float(np.abs(x).mean() if self.law == "laplace" else np.sqrt((x * x).mean()))

    def is_as_large(self, other: "Noise") -> bool:
        """Return whether in every setting it is as large as another, as far as so many values can tell."""
        mine, others = self.groups or {"": self.values}, other.groups or {"": other.values}
        return all(self._are_as_large(mine[setting], others[setting]) for setting in mine)

    def _are_as_large(self, values, others):
        """Whether these are, with the largest of both cut: what divides by noise has some that would decide it alone."""
        values, others = (np.nan_to_num(np.ravel(each), nan=np.inf) for each in (values, others))
        most = np.quantile(np.abs(np.concatenate([values, others])), UNCUT)
        one, other = (self._size_of(each.clip(-most, most)) for each in (values, others))
        return self._are_near(one, other, values, others)

    def _are_near(self, one, other, values, others):
        """Whether two sizes are within six standard errors of each other (four, where the law has longer tails)."""
        if not (one and other):
            return one == other
        error = np.sqrt((1 if self.law == "laplace" else 0.5) * (1 / np.size(values) + 1 / np.size(others)))
        return abs(np.log(one / other)) <= 6 * error

    @property
    def is_even(self) -> bool:
        """Whether it is as large in one setting as in the others, in units of what is right there."""
        pairs = itertools.combinations(self.groups.values(), 2)
        return all(self._are_near(self._size_of(one), self._size_of(other), one, other) for one, other in pairs)

    def _times_as_large(self):
        if self.is_even:
            return say("{size:.3g} times as large as it should be", size=self.size)
        every = [
            {"size": self._size_of(values), "setting": setting, "count": np.size(values)}
            for setting, values in self.groups.items()
        ]
        first, *others = [each for each in every if abs(each["size"] - 1) > 4 / np.sqrt(each["count"])] or every
        sizes = [say("{size:.3g} times as large as it should be {setting}", **first)]
        return joined([*sizes, *(say("{size:.3g} times {setting}", **other) for other in others)])

    def sentences(self) -> Iterator[str]:
        """Yield how the noise differs from what it should be: not random, off its centre, of another law or size."""
        x = np.ravel(self.values)
        if x.size < 30 or not np.isfinite(x).all() or np.ptp(x) == 0:
            return
        unit = np.sqrt(2) if self.law == "laplace" else 1.0
        mean, error = float(x.mean()), float(x.std() / np.sqrt(x.size))
        noises = x[x != 0]  # where none was added that is told otherwise
        different = np.unique(noises).size
        if different < 0.9 * noises.size:
            yield say(EQUAL, all=noises.size, different=different)
            return
        centred = abs(mean) <= 5 * error
        if not centred and abs(mean) > FAR * unit and self._law(self._evened()) is None:
            yield say(OFF, size=float(np.sqrt((x * x).mean())) / unit, mean=show(mean / unit))
            return
        again = not centred  # whether it is named already
        if not centred:
            where = show(mean / unit)
            yield say("Your noise has mean {mean} in units of its right deviation; it should be 0.", mean=where)
        law = self._law(self._evened())
        if law is not None and law != self.law:
            yield say(LAW[again], found=say(LAWS[law]), right=say(LAWS[self.law]))
            again = True
        if not centred:
            ratio = float(x.std()) / unit
            if abs(ratio - 1) > 4 / np.sqrt(x.size):
                size = say("{size:.3g} times as large as it should be", size=ratio)
                yield say(SIZE[again], sizes=size)
        elif abs(self.size - 1) > 4 / np.sqrt(x.size) or not self.is_even:
            yield say(SIZE[again], sizes=self._times_as_large())

    def _evened(self):
        """Return the values, those of each setting as large as those of the others: a law is one of shape."""
        groups = [np.ravel(values) / (self._size_of(values) or 1) for values in self.groups.values()]
        return np.concatenate(groups) if groups else np.ravel(self.values)

    def _law(self, x):
        """Return the law that fits: the right one if it does, else another; None where no known law fits."""
        from scipy import stats

        x = x[:MOST]
        shapes = {
            "laplace": stats.laplace(np.median(x), np.abs(x - np.median(x)).mean()),
            "norm": stats.norm(x.mean(), x.std()),
            "uniform": stats.uniform(x.min(), np.ptp(x)),
            "expon": stats.expon(x.min(), max(x.mean() - x.min(), 1e-300)),
            "t3": stats.t(3, x.mean(), x.std() / np.sqrt(3)),
        }
        fits = {name: stats.kstest(x, law.cdf).pvalue for name, law in shapes.items()}
        if fits[self.law] > SURE:
            return self.law
        best = max(fits, key=fits.get)
        return best if fits[best] > LIKELY else None
