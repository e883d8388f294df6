"""The whole run with some of its parts replaced."""

import numpy as np

from dpcourse.course.dpsgd.poisson_batches import _coins, _each_step
from dpcourse.course.dpsgd.sums import SUMS

BY_COINS = _each_step(_coins)


def _pay(ledger, kind):
    """Whether the ledger has room for one step more, which is written down then."""
    try:
        ledger.spend(*kind)
    except ValueError:
        return False
    return True


def before(ledger, kind, steps):
    """Steps that may be taken, each written down before it is."""
    for _ in range(steps):
        if not _pay(ledger, kind):
            return
        yield


def after(ledger, kind, steps):
    for _ in range(steps):
        yield
        if not _pay(ledger, kind):
            return


def whatever_it_says(ledger, kind, steps):
    for _ in range(steps):
        _pay(ledger, kind)
        yield


def once(ledger, kind, steps):
    _pay(ledger, kind)
    yield from range(steps)


def all_beforehand(ledger, kind, steps):
    yield from range(sum(_pay(ledger, kind) for _ in range(steps)))


def all_or_none(ledger, kind, steps):
    """All written down beforehand, and none taken where one of them is refused."""
    if all([_pay(ledger, kind) for _ in range(steps)]):
        yield from range(steps)


def at_the_end(ledger, kind, steps):
    yield from range(steps)
    for _ in range(steps):
        _pay(ledger, kind)


def noise_of(deviation):
    """One noise for each weight, of a deviation made from (noise_multiplier, clip_norm, p n)."""
    return lambda sigma, r, expected, people, size, rng: deviation(sigma, r, expected) * rng.normal(size=size)


RIGHT_NOISE = noise_of(lambda sigma, r, expected: sigma * r)


def loop(
    pays=before, draw=BY_COINS, added="right", noise=RIGHT_NOISE, skips_empty=False, loses=False, looks="now",
    asks_nobody=True, generator=lambda rng: rng,
):  # fmt: skip
    """The run, with some of its parts replaced."""

    def code(weights, gradients, n, ledger, sample_rate, noise_multiplier, clip_norm, learning_rate, steps, rng):
        rng, start, expected = generator(rng), weights, sample_rate * n
        batches, kind, case = draw(n, sample_rate, steps, rng), (noise_multiplier, sample_rate), locals()
        rows_of_all = gradients(start, np.arange(n)) if looks == "once" else None
        taken = 0
        for _, batch in zip(pays(ledger, kind, len(batches)), batches, strict=False):
            if looks == "once":
                rows = rows_of_all[batch]
            elif len(batch) or asks_nobody:
                rows = gradients(weights if looks == "now" else start, batch)
            else:
                rows = np.zeros((0, len(weights)))
            taken += 1
            if skips_empty and not len(batch):
                continue
            mean = SUMS[added](np.ones((1, len(rows))), rows, clip_norm, expected, case)[0]
            noisy = mean + noise(noise_multiplier, clip_norm, expected, len(batch), len(weights), rng) / expected
            weights = weights - learning_rate * noisy
        return (start if loses and taken < steps else weights), ledger

    return code
