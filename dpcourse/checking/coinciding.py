"""A Generator whose numbers coincide as random ones never do: what is made with it has equal entries, or entries at an end.

What a function of an exercise makes from it is in the exercise's domain, as from any Generator: it is the function that
keeps what the header says. An answer that counts equal entries once, or leaves out what is 0, is seen on such inputs only.
"""

import numpy as np

OFTEN = 200  # arrays: whoever draws anew until a condition holds gets random ones then


def _two(array):
    """The second entry is the first."""
    array[1] = array[0]


def _all(array):
    array[:] = array[0]


def _first_at_end(array):
    """For a law around a centre, the centre; else about the lowest that came."""
    array[0] = array.min()


WAYS = (_two, _all, _first_at_end)


class Coinciding(np.random.Generator):
    """Draws as the Generator `rng` does; then entries of each array coincide, in one of WAYS.

    >>> Coinciding(np.random.default_rng(0), _all).uniform(0, 1, size=3).round(3).tolist()
    [0.637, 0.637, 0.637]
    """

    def __init__(self, rng: np.random.Generator, way) -> None:
        super().__init__(rng.bit_generator)
        self._way, self._made = way, 0

    def _coincides(self, drawn):
        """Whether these are several numbers, and there were not too many such already."""
        self._made += np.ndim(drawn) > 0
        return np.ndim(drawn) > 0 and len(drawn) > 1 and self._made <= OFTEN

    def _coincide(self, drawn):
        if self._coincides(drawn):
            self._way(drawn)
        return drawn

    def dirichlet(self, *arguments, **named):
        """Probabilities that add up to 1 as before: the mean of those that are to be equal stands for each of them."""
        drawn = super().dirichlet(*arguments, **named)
        if self._coincides(drawn) and self._way is not _first_at_end:
            alike = slice(2 if self._way is _two else None)
            drawn[alike] = drawn[alike].mean(axis=0)
        return drawn

    def normal(self, *arguments, **named):
        """The first one is the mean, where that is to be at an end."""
        drawn = super().normal(*arguments, **named)
        if self._way is not _first_at_end:
            return self._coincide(drawn)
        if self._coincides(drawn):
            drawn[0] = np.broadcast_to(arguments[0] if arguments else named.get("loc", 0.0), drawn.shape)[0]
        return drawn


def _coinciding(name):
    def draw(self, *arguments, **named):
        return self._coincide(getattr(np.random.Generator, name)(self, *arguments, **named))

    draw.__name__ = name
    draw.__doc__ = f"""As numpy's `{name}`; then entries coincide."""
    return draw


for _name in ("uniform", "integers", "random", "lognormal", "exponential", "gamma", "laplace", "geometric", "poisson"):
    setattr(Coinciding, _name, _coinciding(_name))
