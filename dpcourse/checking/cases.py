"""The inputs of one check, and what functions of ours give on them, each computed once."""

import pickle
import warnings
from collections.abc import Callable, Iterable

import numpy as np

from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import plain


class Cases(list):
    """The cases of one check, each a dict argument -> plain value; remembers the values of functions on these cases.

    drawn: the first of them, by which an answer is judged. The others are tried before it passes: `searched`, and `more`,
    as many of these as there is time for. seed: of what is drawn for one answer; None where nothing is.
    """

    def __init__(
        self,
        cases: Iterable[dict],
        searched: Iterable[dict] = (),
        more: Iterable[dict] = (),
        seed: int | None = None,
    ):
        super().__init__(cases)
        self.seed = seed
        self._given: dict[Callable, list] = {}
        self._runs: list[dict[int, list[int]]] | None = None
        searched = list(searched)
        self.drawn = Cases(self) if searched else self
        self.extend(searched)
        self.needed = len(self)
        self.extend(more)

    def aimed(self, aimed: list[dict]) -> "Cases":
        """Return these cases with other ones in place of as many of `more`."""
        searched, more = self[len(self.drawn) : self.needed], self[self.needed + len(aimed) :]
        found = Cases(self.drawn, searched, [*aimed, *more])
        found.drawn = self.drawn  # with what is known of them
        return found

    def given(self, function: Callable) -> list:
        """Return the value of a function on each case, as plain data."""
        if function not in self._given:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # a wrong answer of ours may divide by 0; no learner is to read of it
                self._given[function] = [plain(function(*arguments(case))) for case in self]
        return self._given[function]

    @property
    def runs(self) -> list[dict[int, list[int]]]:
        """The places of the cases, by their arguments without `rng`, and there by its seed."""
        if self._runs is None:
            settings: dict[bytes, dict[int, list[int]]] = {}
            for place, case in enumerate(self):
                arguments = pickle.dumps({name: value for name, value in case.items() if name != "rng"})
                settings.setdefault(arguments, {}).setdefault(case["rng"], []).append(place)
            self._runs = list(settings.values())
        return self._runs
