"""Lesson 08: what a machine makes of noise, and noise that it can make exactly.

Doubles are numbers with 53 bits; float32 has 24, float16 has 11. "CKS" is Canonne, Kamath & Steinke (2020), "The discrete
Gaussian for differential privacy". The exact samplers work with whole numbers only; numpy's generators, from which they
draw, can be predicted, so a real release needs bits of the operating system (Python's `secrets`).
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpcourse.base import validate

# ---- the low bits of Laplace noise

_UNIFORMS = 2**53


def textbook_noise(j, b) -> float:
    """Return the Laplace noise that numpy makes of its uniform number j / 2^53, to the last bit.

    j: whole, 0 < j < 2^53; b: > 0. ValueError otherwise. The inverse of the distribution function, computed
    in doubles. Source: Mironov (2012), on samplers of this kind.

    >>> textbook_noise(2**51, b=1.0) == math.log(0.5)
    True
    """
    j, b = validate.whole("j", j), validate.number("b", b, 0, open_low=True)
    if j >= _UNIFORMS:
        raise ValueError(f"j must be below 2^53, got {j!r}")
    u = j / _UNIFORMS
    return -b * math.log(2 - u - u) if u >= 0.5 else b * math.log(u + u)


def noises_near(value, output, b) -> list[float]:
    """Return textbook noises, rising; if any noise gives this double when added to the value, one of these does.

    These noises belong to the numbers j around the one that real arithmetic gives: as many as it takes to have the output
    between the sums at both ends, or at one end. The noise rises with j, so no j outside gives what no j inside gives.
    value, output: finite numbers; b: > 0. ValueError otherwise. Source: the attack of Mironov (2012).

    >>> textbook_noise(12345, 1.0) in noises_near(0.0, textbook_noise(12345, 1.0), 1.0)
    True
    """
    value, output = (
        validate.number(name, x, open_low=True, open_high=True) for name, x in (("value", value), ("output", output))
    )
    b = validate.number("b", b, 0, open_low=True)
    noise = output - value
    half_tail = math.exp(-abs(noise) / b) / 2
    middle = round((1 - half_tail if noise >= 0 else half_tail) * _UNIFORMS)
    reach = 4
    while True:
        first, last = max(1, middle - reach), min(_UNIFORMS - 1, middle + reach)
        low, high = (value + textbook_noise(j, b) for j in (first, last))
        below, above = low < output or first == 1, output < high or last == _UNIFORMS - 1
        if (below and above) or output in (low, high):
            return [textbook_noise(j, b) for j in range(first, last + 1)]
        reach *= 4


def can_give(value, output, b) -> bool:
    """Return whether value + textbook_noise(j, b) is this very double for any of the 2^53 - 1 numbers j.

    value, output: finite numbers; b: > 0. ValueError otherwise. Source: the attack of Mironov (2012).

    >>> can_give(0.0, textbook_noise(12345, 1.0), 1.0)
    True
    """
    return any(value + noise == output for noise in noises_near(value, output, b))


# ---- the rings of Gaussian noise


def ring_pairs(n, bits=24, rng=None) -> np.ndarray:
    """Draw n pairs of Gaussian noise as Box and Muller's formula makes them in float32: float32, shape (n, 2).

    A pair has the radius sqrt(-2 ln(k / 2^bits)), k a whole number from 1 to 2^bits, and any angle: so it lies on one of
    2^bits rings. PyTorch's noise on a CPU is of this kind, with 24 bits. n: whole, >= 0; bits: from 1 to 24. rng:
    Generator, seed or None. ValueError otherwise. Source: Box & Muller (1958).

    >>> pairs = ring_pairs(3, bits=4, rng=0)
    >>> bool(np.allclose(ring_numbers(pairs, bits=4), np.round(ring_numbers(pairs, bits=4)), atol=1e-4))
    True
    """
    n, bits = validate.whole("n", n, 0), _bits(bits)
    rng = np.random.default_rng(rng)
    k, turn = rng.integers(1, 2**bits, n, endpoint=True), rng.integers(2**bits, size=n)
    radius = np.sqrt(-2 * np.log((k / 2**bits).astype(np.float32)))
    angle = np.float32(2 * math.pi) * (turn / 2**bits).astype(np.float32)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def ring_numbers(pairs, bits=24) -> np.ndarray:
    """Return 2^bits e^(-r^2 / 2) for pairs at radius r, shape (n,): whole numbers, up to rounding, for `ring_pairs`.

    pairs: finite numbers, shape (n, 2); bits: from 1 to 24. ValueError otherwise. Source: Box & Muller (1958), solved for k.

    >>> ring_numbers([[0.0, 0.0]], bits=4).tolist()
    [16.0]
    """
    pairs = validate.reals("pairs", pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.isfinite(pairs).all():
        raise ValueError(f"pairs must be finite numbers of the shape (n, 2), got the shape {pairs.shape}")
    return 2.0 ** _bits(bits) * np.exp(-np.square(pairs).sum(axis=1) / 2)


def _bits(bits):
    if validate.whole("bits", bits) > 24:
        raise ValueError(f"bits must be at most 24, as many as float32 has, got {bits!r}")
    return int(bits)


# ---- sums of floats


def running_sum(values, kind="float32") -> float:
    """Return the sum of the values as a machine computes it that adds from left to right and rounds each time.

    values: finite numbers; kind: "float16", "float32" or "float64". ValueError otherwise. Source: IEEE 754, rounding to nearest.

    >>> running_sum([2048, 1, 1], "float16"), running_sum([1, 1, 2048], "float16")
    (2048.0, 2050.0)
    """
    if kind not in ("float16", "float32", "float64"):
        raise ValueError(f"kind must be 'float16', 'float32' or 'float64', got {kind!r}")
    total = np.zeros((), kind)[()]
    for value in np.asarray(values, dtype=float).astype(kind):
        total = total + value
    return float(total)


# ---- generators that can be predicted

_WORDS = 624  # of the state of a Mersenne twister


def continued(words: Sequence[int]) -> np.random.MT19937:
    """Return a Mersenne twister that goes on where the one has stopped that put out these words.

    words: 624 outputs in a row, whole numbers below 2^32. ValueError otherwise. Each output is a word of the state after
    four steps that can be turned round, and 624 words are the whole state. Source: Matsumoto & Nishimura (1998).

    >>> source = np.random.MT19937(7)
    >>> copy = continued(source.random_raw(624))
    >>> copy.random_raw(3).tolist() == source.random_raw(3).tolist()
    True
    """
    array = np.asarray(words)
    if array.shape != (_WORDS,) or array.dtype.kind not in "iu" or (array < 0).any() or (array >= 2**32).any():
        raise ValueError(f"words must be {_WORDS} whole numbers below 2^32, got {words!r}")
    state: np.ndarray = array.astype(np.uint32)
    for part in (
        lambda x: x >> 18,
        lambda x: (x << 15) & np.uint32(0xEFC60000),
        lambda x: (x << 7) & np.uint32(0x9D2C5680),
        lambda x: x >> 11,
    ):
        state = _undone(state, part)
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": state, "pos": _WORDS}}
    return twister


def _undone(y, part):
    """Return the words x with x ^ part(x) = y, where part moves bits: each round brings some more of them."""
    x = y
    for _ in range(5):
        x = y ^ part(x)
    return x


# ---- noise of whole numbers

_LARGEST = 2**62  # of a value: with noise it stays below 2^63
_LEAST_RATIO = Fraction(1e-16)  # noise passes 2^62 with probability e^-461 at most


def coin(numerator, denominator, rng=None) -> bool:
    """Return True with probability e^(-numerator/denominator), exactly: no double is ever computed.

    Exact if the bits of `rng` are; numpy's generators are good for statistics but can be predicted, so a real
    release needs bits of the operating system (Python's `secrets`). numerator: whole, >= 0; denominator:
    whole, >= 1. rng: Generator, seed or None. ValueError otherwise.
    Source: CKS, algorithm 1.

    >>> coin(0, 1), coin(1000, 1, rng=0)
    (True, False)
    """
    numerator, denominator = validate.whole("numerator", numerator, 0), validate.whole("denominator", denominator)
    rng, (wholes, rest) = np.random.default_rng(rng), divmod(numerator, denominator)
    for _ in range(wholes):
        if not _small_coin(1, 1, rng):
            return False
    return _small_coin(rest, denominator, rng)


def discrete_noise(epsilon, size=None, rng=None) -> int | np.ndarray:
    """Draw whole numbers x with probability proportional to e^(-epsilon |x|), exactly: computed in whole numbers only.

    epsilon: at least 1e-16, a float (taken as the fraction that it is) or a Fraction: smaller ones need more than 64 bits.
    size: None for one number, else how many (an array). rng: Generator, seed or None; see `coin` on what "exactly" needs
    of it. ValueError otherwise.
    Source: Ghosh, Roughgarden & Sundararajan (2009) for the distribution; CKS,
    algorithm 2, for the way to draw it.

    >>> discrete_noise(50.0, size=3, rng=0).tolist()
    [0, 0, 0]
    """
    ratio = _fraction("epsilon", epsilon)
    if ratio.denominator > 10**16 and ratio < _LEAST_RATIO:  # with a smaller one it cannot be
        raise ValueError(f"epsilon must be at least 1e-16, else noise needs more than 64 bits, got {epsilon!r}")
    rng = np.random.default_rng(rng)
    return _discrete_one(ratio, rng) if size is None else _discrete(ratio, validate.whole("size", size, 0), rng)


def discrete_mechanism(value, sensitivity, epsilon, rng=None) -> int | np.ndarray:
    """Add discrete Laplace noise, epsilon / sensitivity per unit, to whole numbers: epsilon-DP, to the last bit.

    value: whole numbers of any shape, from -2^62 to 2^62; sensitivity: of all of them together in the l1 norm, whole,
    >= 1; epsilon: > 0, and at least 1e-16 times the sensitivity. rng: Generator, seed or None; see `coin`. ValueError otherwise.
    Source: Ghosh, Roughgarden & Sundararajan (2009), for one count.

    >>> discrete_mechanism([3, 40], sensitivity=1, epsilon=50.0, rng=0).tolist()
    [3, 40]
    """
    value = np.asarray(value)
    if value.dtype.kind not in "biu":
        raise ValueError(f"value must be a whole number or an array of whole numbers, got {value!r}")
    if (value.astype(object) > _LARGEST).any() or (value.astype(object) < -_LARGEST).any():
        raise ValueError(f"value must lie between -2^62 and 2^62, got {value!r}")
    ratio = _fraction("epsilon", epsilon) / validate.whole("sensitivity", sensitivity)
    if ratio < _LEAST_RATIO:
        raise ValueError(f"epsilon must be at least 1e-16 times the sensitivity, got {epsilon!r} and {sensitivity!r}")
    noisy = value.astype(np.int64) + np.reshape(discrete_noise(ratio, value.size, rng), value.shape)
    return int(noisy) if value.ndim == 0 else noisy


def _discrete(ratio, size, rng):
    """Draw with e^(-ratio |x|): the number of units of 1/denominator is geometric, then cut into numerators."""
    steps, units = ratio.numerator, ratio.denominator
    drawn = []
    while len(drawn) < size:
        rest = _below(units, size - len(drawn), rng)
        rest = rest[_small_coins(rest, units, rng)]
        wholes = _heads_in_a_row(rest.size, rng)
        negative = _below(2, rest.size, rng) == 1
        for units_of_rest, whole, minus in zip(rest.tolist(), wholes.tolist(), negative.tolist(), strict=True):
            amount = (units_of_rest + units * whole) // steps
            if amount or not minus:  # else zero would be drawn twice as often as it should be
                drawn.append(-amount if minus else amount)
    return np.array(drawn, dtype=np.int64)


def _discrete_one(ratio, rng):
    """Draw one number as `_discrete` does, with the same tosses, without arrays: several times as fast."""
    steps, units = ratio.numerator, ratio.denominator
    while True:
        rest, whole = _below(units, None, rng), 0
        if not _small_coin(rest, units, rng):
            continue
        while _small_coin(1, 1, rng):
            whole += 1
        minus = rng.integers(2) == 1
        amount = (int(rest) + units * whole) // steps
        if amount or not minus:
            return -amount if minus else amount


def _heads_in_a_row(coins, rng):
    """Return how often each of these coins of e^-1 shows heads before its first tails."""
    heads, tossed = np.zeros(coins, dtype=np.int64), np.arange(coins)
    while tossed.size:
        tossed = tossed[_small_coins(np.ones_like(tossed), 1, rng)]
        heads[tossed] += 1
    return heads


def _small_coin(numerator, denominator, rng):
    """Toss the coin of `coin`, for a fraction in [0, 1]: the alternating series as a game."""
    k, sides = 1, denominator
    while (rng.integers(sides) if sides <= 2**63 else _below(sides, None, rng)) < numerator:
        k, sides = k + 1, sides + denominator
    return k % 2 == 1


def _small_coins(numerators, denominator, rng):
    """Toss many coins of `_small_coin` at once: a hundred times as fast; for one coin slower."""
    heads, playing, k = np.zeros(len(numerators), dtype=bool), np.arange(len(numerators)), 1
    while playing.size:
        on = _below(denominator * k, playing.size, rng) < numerators[playing]
        heads[playing[~on]] = k % 2 == 1
        playing, k = playing[on], k + 1
    return heads


def _below(n, size, rng):
    """Draw uniform whole numbers in [0, n): numpy's up to 2^63, beyond that by rejection. size: None for one."""
    if n <= 2**63:
        return rng.integers(n, size=size)
    drawn, bits = [], (n - 1).bit_length()
    while len(drawn) < (size or 1):
        x = int.from_bytes(rng.bytes(-(-bits // 8)), "little") >> (-bits % 8)
        if x < n:
            drawn.append(x)
    return drawn[0] if size is None else np.array(drawn, dtype=object)


def _fraction(name, value):
    if isinstance(value, Fraction) and value.numerator > 0:
        return value
    return Fraction(validate.number(name, value, 0, open_low=True, open_high=True))


# ---- Gaussian noise of whole numbers

_LARGEST_VARIANCE = Fraction(1e30)


def discrete_gaussian(variance, size=None, rng=None) -> int | np.ndarray:
    """Draw whole numbers x with probability proportional to e^(-x^2 / (2 variance)), exactly: in whole numbers only.

    `variance` is the parameter sigma^2, which is the variance of the noise but for a little where it is below 1. variance: > 0,
    at most 1e30, a float (taken as the fraction that it is) or a Fraction. size: None for one number, else how many (an
    array). rng: Generator, seed or None; see `coin` on what "exactly" needs of it. ValueError otherwise.
    Source: CKS, algorithm 3: discrete Laplace noise of scale t, kept with probability e^(-(|y| - sigma^2/t)^2 / (2 sigma^2)).

    >>> discrete_gaussian(1e-3, size=3, rng=0).tolist()
    [0, 0, 0]
    """
    ratio, rng = _fraction("variance", variance), np.random.default_rng(rng)
    wanted = 1 if size is None else validate.whole("size", size, 0)
    if ratio > _LARGEST_VARIANCE:
        raise ValueError(f"variance must be at most 1e30, else noise needs more than 64 bits, got {variance!r}")
    a, d, t = ratio.numerator, ratio.denominator, math.isqrt(math.floor(ratio)) + 1
    drawn: list[int] = []
    while len(drawn) < wanted:
        tried = _discrete(Fraction(1, t), wanted - len(drawn), rng).tolist()
        drawn += [y for y in tried if coin((abs(y) * t * d - a) ** 2, 2 * a * d * t * t, rng)]
    return drawn[0] if size is None else np.array(drawn, dtype=np.int64)


def discrete_gaussian_chances(numbers, variance) -> np.ndarray:
    """Return the probability of each of these whole numbers under discrete Gaussian noise, shape of the numbers.

    numbers: whole; variance: the parameter sigma^2, from 1e-6 to 1e8. ValueError otherwise. Relative error below 1e-12
    where the chance is above 1e-300; a smaller one may come out as 0. Source: CKS, definition 1.

    >>> discrete_gaussian_chances([0, 1], 1e-3).round(9).tolist()
    [1.0, 0.0]
    """
    numbers, variance = np.asarray(numbers), _variance(variance)
    if numbers.dtype.kind not in "biu":
        raise ValueError(f"numbers must be whole, got {numbers!r}")
    every = np.arange(-_reach(variance), _reach(variance) + 1)
    total = np.exp(-(every.astype(float) ** 2) / (2 * variance)).sum()
    return np.exp(-(numbers.astype(float) ** 2) / (2 * variance)) / total


def discrete_gaussian_delta(epsilon, variance, sensitivity=1) -> float:
    """Return the exact delta at epsilon of a whole number with discrete Gaussian noise, which one person moves by `sensitivity`.

    It is the sum over all outputs of what the one probability has above e^epsilon times the other. epsilon: >= 0;
    variance: the parameter sigma^2, from 1e-6 to 1e8; sensitivity: whole, >= 1. ValueError otherwise. Relative error below
    1e-9 where delta is above 1e-290; a smaller one may come out as 0, which is then no upper bound. Source: CKS, theorem 7.

    >>> round(discrete_gaussian_delta(0.0, 0.01), 6)
    1.0
    """
    epsilon, variance = validate.number("epsilon", epsilon, 0, open_high=True), _variance(variance)
    sensitivity = validate.whole("sensitivity", sensitivity)
    first = math.floor(epsilon * variance / sensitivity + sensitivity / 2) - sensitivity  # its loss is at most epsilon
    end = _reach(variance) + 1
    noise = np.arange(min(max(first, -end), end), end)  # empty where the first is beyond the reach
    loss = sensitivity * (2 * noise.astype(float) + sensitivity) / (2 * variance)
    above = -np.expm1(np.minimum(epsilon - loss, 0.0))
    return float((discrete_gaussian_chances(noise, variance) * above).sum())


def _variance(variance):
    return validate.number("variance", variance, 1e-6, 1e8)


def _reach(variance):
    """Return how far out a discrete Gaussian is below e^-800 of its peak."""
    return 2 + math.ceil(40 * math.sqrt(variance))
