"""What is measured of noise: an exact test of its scale, and in words how it differs from what it should be."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpcourse.probe.values import show

LAWS = {
    "laplace": "Laplace noise",
    "norm": "Gaussian noise",
    "uniform": "uniform noise",
    "expon": "exponential noise",
    "t3": "noise of Student's t",
}
SURE, LIKELY = 1e-6, 0.01  # p-values below which a law is given up, and above which one is named
MOST = 5000  # numbers by which laws are compared


@dataclass(frozen=True)
class Noise:
    """Noise in units of the scale that is right. law: "laplace" or "norm" (of deviation 1); values: independent if right."""

    law: str
    values: np.ndarray

    impossible = False  # any size may come of the law

    @property
    def p_value(self) -> float:
        """How rare such a scale is under the law, two-sided: sum |x| is Gamma for Laplace, sum x^2 chi-squared for Gaussian noise."""
        from scipy.stats import chi2, gamma

        x = np.ravel(self.values)
        if not np.isfinite(x).all():
            return 0.0
        total, law = (np.abs(x).sum(), gamma(x.size)) if self.law == "laplace" else ((x * x).sum(), chi2(x.size))
        return float(min(1.0, 2 * min(law.cdf(total), law.sf(total))))

    @property
    def as_sentence(self) -> str:
        """How large the noise is."""
        return f"Your noise is {show(self.size)} times as large as it should be."

    @property
    def size(self) -> float:
        """Its mean absolute value (Laplace) or deviation (Gaussian), where 1 is right."""
        x = np.ravel(self.values)
        return float(np.abs(x).mean() if self.law == "laplace" else np.sqrt((x * x).mean()))

    def sentences(self) -> Iterator[str]:
        """How it differs from what it should be: not random, off its centre, of another law, too small or too large."""
        x = np.ravel(self.values)
        if x.size < 30 or not np.isfinite(x).all() or np.ptp(x) == 0:
            return
        unit = np.sqrt(2) if self.law == "laplace" else 1.0
        mean, error = float(x.mean()), float(x.std() / np.sqrt(x.size))
        centred = abs(mean) <= 5 * error
        subject = "Your noise"
        if not centred:
            subject = "It"
            yield f"Your noise has mean {show(mean / unit)} in units of its right deviation; it should be 0."
        law = self._law(x)
        if law is not None and law != self.law:
            yield f"{subject} looks like {LAWS[law]}; it should be {LAWS[self.law]}."
            subject = "It"
        ratio = float(x.std()) / unit if not centred else self.size
        if abs(ratio - 1) > 4 / np.sqrt(x.size):
            yield f"{subject} is {ratio:.3g} times as large as it should be."

    def _law(self, x):
        """The law that fits, if the right one does not; the right one where it fits; None where none is known to."""
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
