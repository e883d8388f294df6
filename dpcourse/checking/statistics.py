"""Counts, and the exact tests on counts by which random answers are judged."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcourse.base.languages import say, to_say

AS_SENTENCE = {  # whether it begins with a name, whether its number is certain -> what is said
    (False, False): to_say("{seen:A}; with a right answer it would be about {expected:.0f}."),
    (False, True): to_say("{seen:A}; with a right answer it would be {expected:.0f}."),
    (True, False): to_say("{seen}; with a right answer it would be about {expected:.0f}."),
    (True, True): to_say("{seen}; with a right answer it would be {expected:.0f}."),
}


OFTEN = 0.1


@dataclass(frozen=True)
class Count:
    """How often something happened in an answer's outputs, and how likely it is each time under a right answer.

    what: in words. successes of trials. chance: of a success, from 0 to 1.
    """

    what: str
    successes: int
    trials: int
    chance: float

    @classmethod
    def of(cls, what: str, happened: ArrayLike, chance: float) -> "Count":
        """Return the count of an array of booleans, or of one.

        >>> Count.of("heads", [True, False, True], 0.5)
        Count(what='heads', successes=2, trials=3, chance=0.5)
        """
        return cls(what, int(np.sum(happened)), np.size(happened), chance)

    @property
    def impossible(self) -> bool:
        """Whether its chance is 0 or 1, so that a single other outcome shows a mistake."""
        return self.chance in (0.0, 1.0)

    @property
    def always_alike(self) -> bool:
        """Whether it happened each time, or never, and a right answer would often give the other."""
        return self.successes in (0, self.trials) and OFTEN < self.chance < 1 - OFTEN

    @property
    def expected(self) -> float:
        """What a right answer would give."""
        return self.chance * self.trials

    @property
    def seen(self) -> str:
        """What was counted, in a line."""
        return say("{what}: {successes} of {trials}", what=say(self.what), successes=self.successes, trials=self.trials)

    @property
    def as_sentence(self) -> str:
        """What was counted, and what a right answer would give."""
        is_name = self.what[1:2] == " "  # which stays as it is where it begins a sentence
        return say(AS_SENTENCE[is_name, self.impossible], seen=self.seen, expected=self.expected)

    @property
    def p_value(self) -> float:
        """How rare such a count is under a right answer."""
        return binomial_p_value(self.successes, self.trials, self.chance)


def binomial_p_value(successes, trials, chance):
    """Return the two-sided p-value: twice the smaller tail of Binomial(trials, chance) that holds `successes`, at most 1.

    Under the law itself it is at most t with probability at most t. Source: Clopper & Pearson (1934).

    >>> binomial_p_value(0, 10, 0.5) == 2 * 0.5**10
    True
    """
    from scipy.special import bdtr, bdtrc

    below = bdtr(successes, trials, chance)
    above = bdtrc(successes - 1, trials, chance) if successes else 1.0
    return float(min(1.0, 2 * min(below, above)))


def two_sample_p_value(a, n, b, m):
    """Return the two-sided exact p-value of a successes in n against b in m, given a + b. Source: Fisher (1935).

    >>> two_sample_p_value(5, 10, 5, 10)
    1.0
    """
    from scipy.stats import hypergeom

    law = n + m, a + b, n  # not frozen: each time that would write the documentation of the law anew
    return float(min(1.0, 2 * min(hypergeom.cdf(a, *law), hypergeom.sf(a - 1, *law))))


FEATURES: dict[str, Callable] = {
    to_say("{call}, {times} times: half of the first entries are from {low:.4g} to {high:.4g}; right is {right_low:.4g} to {right_high:.4g}"): lambda x: x[:, 0],
    to_say("{call}, {times} times: half of the last entries are from {low:.4g} to {high:.4g}; right is {right_low:.4g} to {right_high:.4g}"): lambda x: x[:, -1],
    to_say("{call}, {times} times: half of the sums are from {low:.4g} to {high:.4g}; right is {right_low:.4g} to {right_high:.4g}"): lambda x: x.sum(axis=1),
}  # fmt: skip
OF_NUMBERS = to_say(
    "{call}, {times} times: half of the results are from {low:.4g} to {high:.4g}; right is {right_low:.4g} to {right_high:.4g}"
)
TOO_RARE = 1e-9  # a p-value of a comparison: there are some sixty in a check


ENOUGH, NO_ACCIDENT = 500, 6.0  # numbers of a sample; standard errors by which the logarithms of two sizes differ


def times_as_large(mine: np.ndarray, theirs: np.ndarray) -> float | None:
    """Return how many times as large as theirs my independent numbers are, root mean square; None where that may be 1, or they are few.

    >>> rng = np.random.default_rng(0)
    >>> round(times_as_large(2 * rng.normal(size=4000), rng.normal(size=4000)), 1)
    2.0
    >>> times_as_large(rng.normal(size=4000), rng.normal(size=4000)) is None
    True
    """
    if min(mine.size, theirs.size) < ENOUGH or not (np.isfinite(mine).all() and mine.any() and theirs.any()):
        return None
    means = [np.mean(each**2) for each in (mine, theirs)]
    errors = [np.std(each**2) / mean / math.sqrt(each.size) for each, mean in zip((mine, theirs), means, strict=True)]
    apart = math.log(means[0] / means[1])
    return math.exp(apart / 2) if abs(apart) > NO_ACCIDENT * math.hypot(*errors) else None


def rows(values: list, right: list) -> tuple[np.ndarray, np.ndarray] | None:
    """Return these values and right ones as two arrays of one shape, a row for each value; None where they are no numbers, or of several lengths."""
    try:
        mine, theirs = (np.array(each, dtype=float) for each in (values, right))
    except (TypeError, ValueError):
        return None
    return (mine, theirs) if mine.shape == theirs.shape else None


def features(values: list, right: list) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (how it is told, of these values, of right ones): numbers by which repeated results are compared.

    Nothing where they are no numbers, or arrays of one length.
    """
    both = rows(values, right)
    if both is None:
        return
    mine, theirs = both
    if mine.ndim == 1:
        yield OF_NUMBERS, mine, theirs
    elif mine.ndim == 2 and mine.shape[1]:
        for told, feature in FEATURES.items():
            yield told, feature(mine), feature(theirs)


def are_of_two_laws(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two samples hardly come from one law: Kolmogorov and Smirnov's test, at TOO_RARE."""
    from scipy.stats import ks_2samp

    return bool(ks_2samp(one, other, method="asymp").pvalue < TOO_RARE)


LEAST = 50  # of a sample: the test holds for long ones
FAR = 9  # deviations
ABOVE = to_say("of {count:,} numbers {mine:,} are above {cut:.4g}; with a right answer it would be about {theirs:,}")
SIZES_ABOVE = to_say(
    "of {count:,} numbers {mine:,} are of a size above {cut:.4g}; with a right answer it would be about {theirs:,}"
)
PAIRS_ABOVE = to_say(
    "of {count:,} products of two numbers side by side {mine:,} are above {cut:.4g}; with a right answer it would be about {theirs:,}"
)
APART_ABOVE = to_say(
    "of {count:,} products of two numbers half the list apart {mine:,} are above {cut:.4g}; with a right answer it would be about {theirs:,}"
)
COPIED = to_say(
    "of {count:,} numbers {mine:,} are equal to the one that stands {lag} before; with a right answer it would be about {theirs:,}"
)


def unlike_samples(mine: list, theirs: list) -> str | None:
    """Return where two samples of one size differ most, in a line, if they hardly come from one law; else None.

    So it does for their sizes, by which symmetric laws differ most, and for products of two numbers side by side, or half the
    list apart, which tell whether entries are independent; then nor are many of them copies of those so far before. None where
    they are short.

    >>> unlike_samples([1.0] * 100, [0.0] * 100)
    'of 100 numbers 100 are above 0; with a right answer it would be about 0'
    """
    one, other = (np.asarray(each, dtype=float) for each in (mine, theirs))
    half = len(one) // 2 * 2
    pairs = tuple(each[:half:2] * each[1:half:2] for each in (one, other))
    apart = tuple(each[: half // 2] * each[half // 2 : half] for each in (one, other))
    sizes = np.abs(one), np.abs(other)
    for told, (x, y) in ((ABOVE, (one, other)), (SIZES_ABOVE, sizes), (PAIRS_ABOVE, pairs), (APART_ABOVE, apart)):
        if len(x) >= LEAST and are_of_two_laws(x, y):
            cuts = np.unique(np.r_[x, y])
            differ = [np.sum(x > cut) - np.sum(y > cut) for cut in cuts]
            cut = cuts[np.argmax(np.abs(differ))]
            counts = {"count": len(x), "mine": int(np.sum(x > cut)), "theirs": int(np.sum(y > cut))}
            return say(told, cut=cut, **counts)
    return _copies(one)


def _copies(numbers):
    """Return in a line how many entries are those that stand so far before, if they are far more than independent ones would be; else None."""
    kinds, codes = np.unique(numbers, return_inverse=True)
    if len(numbers) < LEAST or len(kinds) > len(numbers) // 2:  # no two of fractions are alike by chance
        return None
    alike = float(np.mean(np.bincount(codes)[codes]) / len(codes))  # the chance of two
    for lag in range(1, len(codes) - LEAST // 2):
        seen, pairs = int(np.sum(codes[lag:] == codes[:-lag])), len(codes) - lag
        if seen - alike * pairs > FAR * np.sqrt(alike * (1 - alike) * pairs):
            return say(COPIED, lag=lag, count=pairs, mine=seen, theirs=round(alike * pairs))
    return None
