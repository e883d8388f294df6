"""The law of a right answer that adds noise to exact numbers, said once: counts, exact tests and slips of noise follow from it.

A law says of which family the noise is, what it is added to, and its scale. The noises of all entries and of all runs, each
with its own `rng`, are independent. In units of the scale all of them have one law, so they are counted together.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpcourse.base.languages import listed, say, to_say
from dpcourse.checking.calling.values import show
from dpcourse.checking.cases import Cases
from dpcourse.checking.diagnosis.noise import Noise
from dpcourse.checking.statistics import Count

CUTS = 0.1, 0.3, 0.7, 1, 2, 3, 5, 7  # in units of the scale
EXACT = 1e-10  # in units: the noises of a run add up to so little by a chance of 1 in a billion
SHORT = 1e-6  # more than the chance of a random number to have three decimals
SAME = 1e-9
ENOUGH_NEAR = 0.2  # of noises without their signs half are below the median size
FAR, MOSTLY = 2, 0.8  # so many scales above 0 hardly any noise is below it; of noises that lie around 0 fewer are above


@dataclass(frozen=True)
class Family:
    """A family of noises. draw(rng, scale, size); within(c): the chance of less than c scales; median: of its size."""

    draw: Callable
    within: Callable[[float], float]
    median: float
    counted: str
    other: str
    other_told: str
    scales: tuple[tuple[str, str, Callable[[float], float]], ...]


def _laplace(rng, scale, size):
    return rng.laplace(0, scale, size)


def _normal(rng, scale, size):
    return rng.normal(0, scale, size)


FAMILIES = {
    "laplace": Family(
        _laplace,
        lambda c: -math.expm1(-c),
        math.log(2),
        to_say("noises within {c} scales of 0"),
        "norm",
        to_say("You added Gaussian noise. Its tails fall faster, so far out the ratio of the densities passes e^epsilon. Use `rng.laplace`."),
        (
            ("standard deviation", to_say("Your noise has the scale b times the root of 2, its standard deviation. numpy's `laplace` wants the scale b itself."), lambda b: math.sqrt(2) * b),
            ("variance", to_say("You gave the variance, 2 b^2, where numpy's `laplace` wants the scale b."), lambda b: 2 * b * b),
        ),
    ),
    "norm": Family(
        _normal,
        lambda c: math.erf(c / math.sqrt(2)),
        0.6744897501960817,
        to_say("noises within {c} standard deviations of 0"),
        "laplace",
        to_say("That is Laplace noise. It does not fit to the length of a change and to G of mu: draw Gaussian noise, `rng.normal`."),
        (
            ("squared", to_say("Your deviation is the square of what it should be. numpy's `normal` takes the standard deviation, not the variance."), lambda s: s * s),
            ("variance", to_say("Your noise has what should be its standard deviation for a variance. numpy's `normal` takes the standard deviation."), math.sqrt),
        ),
    ),
}  # fmt: skip

IGNORED = to_say(
    "The same `rng` gave two different results: what is random comes from somewhere else. Draw it from `rng`."
)
NONE = to_say("You return the exact numbers, without noise.")
OWN_SEED = to_say(
    "The noise is the same in every run: you made a generator with a fixed seed, or you add a fixed number. Whoever runs your code can "
    "take the noise off. Use the `rng` you are given."
)
ONE_FOR_ALL = to_say(
    "You drew one noise and added it to every entry. The differences between entries are then exact. Draw one for each entry."
)
TOTAL = to_say("The noises add up to 0, so the total of your results is exact. It is secret too: leave it noisy.")
CUT_OFF = to_say(
    "You cut the results off at 0. That is allowed, as post-processing, but then they are too high on average: here return them as they are."
)
ABSOLUTE = to_say(
    "Your results are never below 0: you took their absolute value, or drew again where one was. Either way they are too high on average: "
    "here return negative results as they are."
)
ROUNDED = to_say(
    "You rounded the results, or your noise is whole. Rounding is allowed, as post-processing, but here return them as they are: a caller "
    "can still round them."
)
ONE_SIGN = to_say("All noises of one run have the same sign. Each entry needs a sign of its own.")
ONE_SIDED = to_say(
    "Your results are never below the exact numbers. An output below them would prove a neighbour wrong. Use the noise with its sign."
)
ALONE = to_say(
    "You returned the noise alone, or added it to something small, such as shares. Add it to the exact numbers."
)
SCALE_AS_MEAN = to_say(
    "Your noise lies around the scale that it should have, and its own scale is 1: the first number that `rng.normal` and `rng.laplace` "
    "take is the mean. Put a 0 before the scale."
)
MESSAGES = frozenset(
    {IGNORED, NONE, OWN_SEED, ONE_FOR_ALL, TOTAL, CUT_OFF, ABSOLUTE, ROUNDED, ONE_SIGN, ONE_SIDED, ALONE, SCALE_AS_MEAN}
    | {family.other_told for family in FAMILIES.values()}
    | {told for family in FAMILIES.values() for _, told, _ in family.scales}
)


@dataclass(frozen=True)
class _Setting:
    """Runs with the same arguments. values: (runs, entries), each run with another `rng`; exact: (entries,)."""

    given: dict
    values: np.ndarray
    exact: np.ndarray
    scale: float

    @property
    def noise(self):
        """In units of its scale, (runs, entries)."""
        with np.errstate(all="ignore"):
            return (self.values - self.exact) / self.scale


@dataclass(frozen=True)
class AddedNoise:
    """Exact numbers, and noise of a scale on each of them. family: "laplace", or "norm", whose scale is the deviation.

    exact(*arguments), scale(*arguments): of all arguments but `rng`, which is the last.

    >>> law = AddedNoise("laplace", lambda value, epsilon: value, lambda value, epsilon: 1 / epsilon)
    >>> law.answer(np.array([1.0]), 0.5, np.random.default_rng(0)).round(3)
    array([1.64])
    """

    family: str
    exact: Callable
    scale: Callable

    @property
    def _family(self):
        return FAMILIES[self.family]

    # ---- answers

    def answer(self, *given: object) -> np.ndarray:
        """A right answer: given are the arguments, the Generator the last of them."""
        return self.with_noise(self._family.draw)(*given)

    def with_noise(self, draw: Callable) -> Callable:
        """Return the answer whose noise is draw(rng, right scale, number of entries)."""

        def code(*given):
            *given, rng = given
            exact = np.asarray(self.exact(*given), dtype=float)
            return exact + draw(rng, self.scale(*given), len(exact))

        return code

    def with_scale(self, scale: Callable) -> Callable:
        """Return the answer whose noise has another scale, of the same arguments."""
        return replace(self, scale=scale).answer

    def around(self, exact: Callable) -> "Around":
        """Return the answer whose noise is added to something else, of the same arguments."""
        return Around(self, exact)

    def after(self, change: Callable) -> Callable:
        """Return the answer that changes its results at the end."""
        return lambda *given: change(self.answer(*given))

    # ---- what is seen

    def settings(self, cases: Cases, values: list) -> list[_Setting]:
        """Return the values, by the arguments with which they were asked for."""
        found = []
        for runs in cases.runs:
            numbers = [places[0] for places in runs.values()]
            given = {name: value for name, value in cases[numbers[0]].items() if name != "rng"}
            exact = np.asarray(self.exact(*given.values()), dtype=float)
            of_runs = np.array([np.asarray(values[i], dtype=float) for i in numbers])
            found.append(_Setting(given, of_runs, exact, self.scale(*given.values())))
        return found

    def again(self, cases: Cases, values: list) -> list[bool]:
        """Return, for each case that is there a second time, whether it got the same value."""
        repeated = [places for runs in cases.runs for places in runs.values() if len(places) > 1]
        return [
            np.array_equal(np.asarray(values[first]), np.asarray(values[other]))
            for first, *others in repeated
            for other in others
        ]

    def counts(self, cases: Cases, values: list) -> list[Count]:
        """Return what is counted: size, shape and centre of the noise, and what two of them have to do with each other."""
        settings = self.settings(cases, values)
        family, noises = self._family, [setting.noise for setting in settings]
        every = np.concatenate([noise.ravel() for noise in noises])
        several = [noise for noise in noises if noise.shape[1] > 1]

        def pairs(pair):
            return _joined(pair(noise[:, : noise.shape[1] // 2 * 2]) for noise in several)

        def halves(noise):
            return noise[:, : noise.shape[1] // 2] * noise[:, noise.shape[1] // 2 :] > 0

        large = [setting.noise[:, setting.exact > np.median(setting.exact)] for setting in settings]
        lowest = [setting.noise[:, setting.exact == setting.exact.min()] for setting in settings]
        two_runs = _joined(noise[: len(noise) // 2 * 2 : 2] * noise[1::2] > 0 for noise in noises)
        like_size = pairs(lambda x: (abs(x[:, ::2]) > family.median) == (abs(x[:, 1::2]) > family.median))
        return [
            *(Count.of(say(family.counted, c=c), np.abs(every) < c, family.within(c)) for c in CUTS),
            Count.of(say("noises above 0"), every > 0, 0.5),
            Count.of(say("entries side by side with noises of the same sign"), pairs(lambda x: x[:, ::2] * x[:, 1::2] > 0), 0.5),
            Count.of(say("entries side by side with noises of like size"), like_size, 0.5),
            Count.of(say("entries half the array apart with noises of the same sign"), pairs(halves), 0.5),
            Count.of(say("entries with noises of the same sign in two runs"), two_runs, 0.5),
            Count.of(say("noises of more than the median size where the exact number is large"), abs(_joined(large)) > family.median, 0.5),
            Count.of(say("noises of more than the median size where the exact number is smallest"), abs(_joined(lowest)) > family.median, 0.5),
            Count.of(say("noises above 0 where the exact number is smallest"), _joined(lowest) > 0, 0.5),
            Count.of(say("entries without noise"), every == 0, 0.0),
            Count.of(say("runs with an exact total"), _joined(abs(noise.sum(axis=1)) < EXACT for noise in several), 0.0),
            Count.of(say("pairs of runs, each with its own `rng`, that have the same noise"), _equal_runs(settings), 0.0),
            Count.of(say("runs that come out the same with the same seed"), self.again(cases, values), 1.0),
            Count.of(say("results with three decimals or fewer"), _joined(_is_short(setting.values) for setting in settings), SHORT),
        ]  # fmt: skip

    def noise(self, cases: Cases, values: list) -> Noise:
        """Return the noise in units of its scale, by setting where that is told by a number."""
        settings = self.settings(cases, values)
        groups: dict[str, list] = {}
        for setting, told in zip(settings, _told(settings), strict=True):
            groups.setdefault(told, []).append(setting.noise.ravel())
        return Noise.of_groups(self.family, {told: np.concatenate(parts) for told, parts in groups.items()})

    # ---- slips

    def slips(self) -> Iterator[tuple[str, str, Callable, Callable | None]]:
        """Yield (name, message, code, recognise(cases, values)) of each slip that noise can have, whatever it is added to."""
        family, other = self._family, FAMILIES[self._family.other]
        zero, same = (lambda rng, scale, size: 0.0), np.random.default_rng
        yield "generator ignored", IGNORED, lambda *given: self.answer(*given[:-1], same()), self._ignores
        yield "nothing random", NONE, self.with_noise(zero), self._where(lambda s: bool((s.values == s.exact).all()))
        yield "own seed", OWN_SEED, lambda *given: self.answer(*given[:-1], same(0)), self._same_in_every_run
        yield (
            "one noise for all",
            ONE_FOR_ALL,
            self.with_noise(lambda rng, scale, size: family.draw(rng, scale, None)),
            self._one_for_all,
        )
        yield "exact total", TOTAL, self.with_noise(self._centred), self._exact_total
        yield (
            "scale as mean",
            SCALE_AS_MEAN,
            self.with_noise(lambda rng, scale, size: scale + family.draw(rng, 1.0, size)),
            None,
        )  # above those that the signs of the results tell
        yield "cut off", CUT_OFF, self.after(lambda noisy: np.maximum(0, noisy)), self._cut_off
        yield "absolute value", ABSOLUTE, self.after(abs), self._absolute
        yield "rounded", ROUNDED, self.after(np.round), self._rounded
        yield "one sign for all", ONE_SIGN, self.with_noise(self._of_one_sign), self._one_sign
        one_sided = self.with_noise(lambda rng, scale, size: abs(family.draw(rng, scale, size)))
        yield "one-sided", ONE_SIDED, one_sided, self._one_sided
        yield "noise alone", ALONE, self.around(lambda *given: 0 * np.asarray(self.exact(*given))), None
        yield "another law", family.other_told, self.with_noise(other.draw), None
        for name, told, change in family.scales:
            yield name, told, self.with_noise(lambda rng, b, n, change=change: family.draw(rng, change(b), n)), None

    def _centred(self, rng, scale, size):
        noise = self._family.draw(rng, scale, size)
        return noise - noise.mean()

    def _of_one_sign(self, rng, scale, size):
        return rng.choice([-1, 1]) * abs(self._family.draw(rng, scale, size))

    def _where(self, holds):
        """recognise: whether this holds in every setting."""
        return lambda cases, values: all(map(holds, self.settings(cases, values)))

    def _ignores(self, cases, values):
        return not all(self.again(cases, values))

    def _same_in_every_run(self, cases, values):
        """Whether the noise does not depend on `rng`, and looks like noise or like a number that is added."""
        noises = [setting.values - setting.exact for setting in self.settings(cases, values)]
        noises = [noise for noise in noises if len(noise) > 1]
        first = np.concatenate([noise[0] for noise in noises])
        looks = 0.2 < (first > 0).mean() < 0.8 or (np.ptp(first) < SAME and first.any())
        return bool(looks and all(np.ptp(noise, axis=0).max() < SAME for noise in noises))

    def _one_for_all(self, cases, values):
        noises = [setting.noise for setting in self.settings(cases, values) if setting.exact.size > 1]
        alike = all((np.ptp(noise, axis=1) <= SAME * (1 + np.abs(noise).max())).all() for noise in noises)
        return bool(alike and any(np.ptp(noise[:, 0]) > SAME for noise in noises))

    def _exact_total(self, cases, values):
        settings = [setting for setting in self.settings(cases, values) if setting.exact.size > 1]
        return all((abs(s.noise.sum(axis=1)) < SAME).all() and (s.noise != 0).any() for s in settings)

    def _cut_off(self, cases, values):
        settings = self.settings(cases, values)
        zeros = np.concatenate([(setting.values == 0).ravel() for setting in settings])
        away = any(((s.values == 0) & (s.exact > 0)).any() or (s.noise < 0).any() for s in settings)
        return bool(min(s.values.min() for s in settings) == 0 and away and 0.01 < zeros.mean() < 0.9)

    def _absolute(self, cases, values):
        settings = self.settings(cases, values)
        never_below = min(s.values.min() for s in settings) > 0 and any((s.noise < 0).any() for s in settings)
        far = _joined(setting.noise[:, setting.exact > FAR * setting.scale] for setting in settings)  # as it was drawn
        return bool(never_below and (far.size == 0 or (far > 0).mean() < MOSTLY))

    def _rounded(self, cases, values):
        settings = self.settings(cases, values)
        varied = any(len(s.values) > 1 and np.ptp(s.values, axis=0).any() for s in settings)
        return bool(varied and all(_is_short(s.values).all() for s in settings))

    def _one_sided(self, cases, values):
        """Whether all noise is above 0, and near to it as often as noise without its sign is: else the exact numbers are others."""
        settings = self.settings(cases, values)
        near = (_joined(s.noise for s in settings) < self._family.median).mean()
        return bool(all((s.noise > 0).all() for s in settings) and near > ENOUGH_NEAR)

    def _one_sign(self, cases, values):
        above = np.concatenate([(s.noise > 0).mean(axis=1) for s in self.settings(cases, values) if s.exact.size > 1])
        return bool(np.isin(above, (0, 1)).all() and 0 < above.mean() < 1)

    def lies_around(self, exact: Callable, others: list[Callable]) -> Callable:
        """Return a `recognise`: whether noise of the right size lies around this, and no nearer to the right numbers or to others."""

        def recognise(cases, values):
            settings = self.settings(cases, values)
            off = self._off(settings, exact)
            if any(self._off(settings, other) < off for other in (self.exact, *others)):
                return False
            from scipy.stats import chi2

            noise = _joined((s.values - _of(exact, s)) / s.scale for s in settings)
            entries = sum(setting.exact.size for setting in settings)
            return Noise(self.family, noise).p_value > SHORT and chi2.sf(off, entries) > SHORT

        return recognise

    def _off(self, settings, exact):
        """How far from these numbers the means over the runs are: a sum of squares, in their standard errors."""
        deviation = math.sqrt(2) if self.family == "laplace" else 1.0
        means = [((s.values.mean(axis=0) - _of(exact, s)) / s.scale / deviation, len(s.values)) for s in settings]
        return sum(float((mean**2).sum()) * runs for mean, runs in means)


@dataclass(frozen=True)
class Around:
    """A wrong answer that adds the right noise to something else."""

    law: AddedNoise
    exact: Callable

    def __call__(self, *given: object) -> np.ndarray:
        return AddedNoise(self.law.family, self.exact, self.law.scale).answer(*given)


def _of(exact, setting):
    return np.asarray(exact(*setting.given.values()), dtype=float)


def _joined(parts):
    parts = [np.ravel(part) for part in parts]
    return np.concatenate(parts) if parts else np.empty(0)


def _is_short(values):
    return values == values.round(3)


def _equal_runs(settings):
    """Of each two runs of a setting, one behind the other, whether they have the same noise."""
    return _joined(np.abs(np.diff(setting.values, axis=0)).max(axis=1) < SAME for setting in settings)


def _told(settings: list[_Setting]) -> list[str]:
    """Each setting in words: the arguments in which they differ, if those are numbers, or how many numbers."""
    names = [
        name for name in settings[0].given if len({_size_or_number(setting.given[name]) for setting in settings}) > 1
    ]
    told = []
    for setting in settings:
        values = {name: setting.given[name] for name in names}
        parts = [
            f"len({name}) = {len(value)}" if np.ndim(value) else f"{name} = {show(value)}"
            for name, value in values.items()
        ]
        told.append(say("with {settings}", settings=listed(f"`{part}`" for part in parts)) if parts else "")
    return told


def _size_or_number(value):
    return len(value) if np.ndim(value) else value
