"""How many random numbers a function takes from the Generator that it is given."""

import numpy as np

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64, numpy's generator
WHOLE = 2**128 - 1


def since(seed: int, rng: np.random.Generator) -> int | None:
    """Return how many numbers of 64 bits have been drawn from a Generator that was made from this seed; None where that cannot be told.

    A uniform or a Laplace number takes one, a normal one hardly ever more. Source: O'Neill (2014), PCG, the distance of two states.

    >>> since(5, np.random.default_rng(5))
    0
    >>> rng = np.random.default_rng(5)
    >>> _ = rng.laplace(size=198)
    >>> since(5, rng)
    198
    """
    if getattr(
        rng.bit_generator.seed_seq, "n_children_spawned", 0
    ):  # its children draw, and it knows how many there are
        return None
    before, now = (each.bit_generator.state for each in (np.random.default_rng(seed), rng))
    if before["bit_generator"] != now["bit_generator"] or before["state"]["inc"] != now["state"]["inc"]:
        return None
    state, target, step, bit, count = before["state"]["state"], now["state"]["state"], before["state"]["inc"], 1, 0
    multiplier = MULTIPLIER
    while state != target and bit <= WHOLE:
        if (state ^ target) & bit:
            state = (state * multiplier + step) & WHOLE
            count |= bit
        bit <<= 1
        step = (multiplier + 1) * step & WHOLE
        multiplier = multiplier * multiplier & WHOLE
    return count
