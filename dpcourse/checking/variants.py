"""An exercise with a variant for each student: some of its values are drawn from a secret and the student's name.

    @variants(epsilon=(0.5, 1.0, 2.0))
    def exercise(epsilon):
        return Exercise(...)

The text says a value as `{variant epsilon}`. Where nobody is named, as in the course's own notebooks, the sample stands.
"""

import ast
import hmac
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpcourse.checking.exercise import Exercise


@dataclass(frozen=True)
class Variants:
    """An exercise for each choice of some values.

    made(**values) -> the Exercise. choices: name -> the values that it may have; or draw(rng) -> dict name -> value.
    A value is a number, a text or a truth value, so that a notebook can say it.
    """

    made: Callable[..., Exercise]
    choices: dict[str, tuple]
    draw: Callable | None = None

    def drawn(self, rng: np.random.Generator) -> dict:
        """Draw one student's values. Raises ValueError for a value that cannot be written down."""
        if self.draw is None:
            return {name: values[rng.integers(len(values))] for name, values in self.choices.items()}
        return {name: _plain(name, value) for name, value in self.draw(rng).items()}

    def of_student(self, secret: bytes, student: str, what: str) -> dict:
        """Return a student's values, always the same for the same secret. what: the exercise's name in its course."""
        digest = hmac.digest(secret, f"variant of {what} for {student}".encode(), "sha256")
        return self.drawn(np.random.default_rng(int.from_bytes(digest)))

    @property
    def sample(self) -> dict:
        """The values where nobody is named."""
        if self.draw is None:
            return {name: values[0] for name, values in self.choices.items()}
        return self.drawn(np.random.default_rng(0))

    def exercise(self, values: dict | None = None) -> Exercise:
        """Return the exercise for these values, or for the sample. Raises ValueError for an unknown name or value."""
        if values is None:
            return self.made(**self.sample)
        if values.keys() != self.sample.keys():
            raise ValueError(f"its values are {', '.join(self.sample)}, got {', '.join(values) or 'none'}")
        for name, value in values.items():
            if self.draw is None and value not in self.choices[name]:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, self.choices[name]))}, got {value!r}")
        return self.made(**values)

    def others(self, values: dict) -> Iterator[dict]:
        """Yield other students' values that differ from these in one; nothing where values are drawn freely."""
        for name, choices in self.choices.items():
            yield from (values | {name: other} for other in choices if other != values[name])


def variants(draw: Callable | None = None, /, **choices: tuple) -> Callable[[Callable[..., Exercise]], Variants]:
    """Return a decorator for a function that makes an exercise from values: the choices of each, or how they are drawn.

    >>> variants(epsilon=(0.5, 1.0))(lambda epsilon: None).sample
    {'epsilon': 0.5}
    >>> variants(epsilon=())
    Traceback (most recent call last):
    ValueError: the variants of an exercise need values to choose from, such as epsilon=(0.5, 1.0), got epsilon=()
    """
    for name, values in choices.items():
        if not isinstance(values, (tuple, list)) or not values:
            raise ValueError(
                f"the variants of an exercise need values to choose from, such as epsilon=(0.5, 1.0), got {name}={values!r}"
            )
    if (draw is None) == (not choices):
        raise ValueError("variants takes either names with their values, such as epsilon=(0.5, 1.0), or one draw(rng)")
    plain = {name: tuple(_plain(name, value) for value in values) for name, values in choices.items()}
    return lambda made: Variants(made, plain, draw)


def _plain(name, value):
    """Return the value as Python writes it down and reads it back."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        is_plain = isinstance(value, (bool, int, float, str)) and ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError):
        is_plain = False
    if not is_plain:
        raise ValueError(f"the value of {name} must be a finite number, a text, True or False, got {value!r}")
    return value
