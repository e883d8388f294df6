"""Tables of values that are computed beforehand, because a slider has no time to compute them."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Arrays of values over a grid of settings, kept in an .npz file beside the module that makes it.

    axes: the names of the settings, in the order of the first axes of each array.
    """

    file: Path
    axes: tuple[str, ...]

    @functools.cached_property
    def _arrays(self):
        with np.load(self.file) as stored:
            return dict(stored)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a whole array, or the values of an axis."""
        return self._arrays[name]

    def settings(self) -> dict[str, list]:
        """Return the settings that are stored: name -> list of values."""
        return {name: self[name].tolist() for name in self.axes}

    def place(self, **setting: float) -> tuple[int, ...]:
        """Return where a setting stands in the arrays. ValueError names the values that there are."""
        known = self.settings()
        for name, value in setting.items():
            if value not in known[name]:
                raise ValueError(f"{name} must be one of {known[name]}, got {value!r}")
        return tuple(known[name].index(setting[name]) for name in self.axes if name in setting)

    def make(self, values: Callable[..., dict], **axes: Any) -> None:
        """Compute the arrays anew and store them.

        values(name=value, ...) -> dict, name of an array -> its entry for this setting. axes: name -> values; an axis that
        is no setting is stored as it is.
        """
        from tqdm import tqdm

        axes = {name: np.asarray(known) for name, known in axes.items()}
        shape = tuple(axes[name].size for name in self.axes)
        found: dict[str, np.ndarray] = {}
        for place in tqdm(list(np.ndindex(shape))):
            setting = {name: axes[name][at].item() for name, at in zip(self.axes, place, strict=True)}
            for name, value in values(**setting).items():
                found.setdefault(name, np.zeros(shape + np.shape(value)))[place] = value
        np.savez_compressed(self.file, **(axes | found))
