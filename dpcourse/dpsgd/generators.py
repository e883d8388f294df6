"""Where randomness comes from: a seed that can be repeated, for teaching, or the operating system's entropy, once or always."""

import contextlib
from collections.abc import Iterator

import numpy as np
import torch

from dpcourse.base import validate
from dpcourse.dpsgd import secure

Source = torch.Generator | secure.Source | int | str | None
MT19937_WORDS = slice(3, 3 + 624)  # of the state of torch's generator on a CPU: the words of the Mersenne twister


def make(generator: Source, purpose: str) -> torch.Generator | secure.Source:
    """Return a torch.Generator on the CPU, not correlated with one of the same seed that was made for another purpose.

    generator: a torch.Generator on the CPU, which is returned as it is; a whole number >= 0, a seed; None: 128 bits of
    the operating system's entropy; "secure": all numbers from the operating system, see secure.py. purpose: any text.
    ValueError otherwise. torch's own manual_seed takes only 32 bits on a CPU, few enough to try them all; here the whole
    state is filled. The numbers that follow can still be computed from those before them, but for "secure".

    >>> noise, again, coins = make(7, "noise"), make(7, "noise"), make(7, "coins")
    >>> noise, again, coins = (torch.rand((), generator=g).item() for g in (noise, again, coins))
    >>> noise == again, noise == coins
    (True, False)
    """
    if isinstance(generator, torch.Generator):
        if generator.device.type != "cpu":
            raise ValueError(
                f"generator must be on the cpu, got one on {generator.device.type}: numbers for a device are drawn "
                "there, from seeds that the generator gives"
            )
        return generator
    if isinstance(generator, secure.Source):
        return generator
    if isinstance(generator, str):
        if generator != secure.SECURE:
            raise ValueError(
                f"generator must be a torch.Generator, a seed, None or {secure.SECURE!r}, got {generator!r}"
            )
        return secure.Source()
    entropy = None if generator is None else [validate.whole("generator", generator, 0), *purpose.encode()]
    state = torch.Generator("cpu").manual_seed(0).get_state()
    seeds = np.random.SeedSequence(entropy)
    state.numpy()[:5056].view(np.uint64)[MT19937_WORDS] = seeds.generate_state(624, np.uint32)
    return torch.Generator("cpu").set_state(state)


def uniform(count: int, generator: torch.Generator | secure.Source) -> torch.Tensor:
    """Return `count` numbers in [0, 1), float64, on the CPU."""
    if isinstance(generator, secure.Source):
        return generator.uniform(count)
    return torch.rand(count, generator=generator, dtype=torch.float64, device="cpu")


def for_device(generator: torch.Generator, device: torch.device) -> torch.Generator:
    """Return a generator for the next numbers on `device`: on the CPU the given one, elsewhere one that it seeds.

    generator: on the CPU. Elsewhere each call takes 64 bits from it, all that the seed of a GPU's generator holds; so
    the state of a run is the state of the one on the CPU, wherever the numbers are drawn.
    """
    if device.type == "cpu":
        return generator
    return torch.Generator(device).manual_seed(seed_from(generator))


def seed_from(generator: torch.Generator) -> int:
    """Return 64 bits of a generator, from 0 to 2^64 - 1.

    >>> seed_from(make(7, "noise")) == seed_from(make(7, "noise")), seed_from(make(None, "noise")) < 2**64
    (True, True)
    """
    high, low = torch.randint(2**32, (2,), generator=generator).tolist()
    return high << 32 | low


def of_torch(device: torch.device) -> list[torch.Generator]:
    """Return torch's own generators that a model on `device` draws from, as for dropout: the CPU's and the device's."""
    found = [torch.default_generator]
    if device.type == "mps":
        found.append(torch.mps._get_default_mps_generator())
    elif device.type != "cpu":
        itself = torch.get_device_module(device)  # torch.cuda, say
        number = itself.current_device() if device.index is None else device.index  # which sets CUDA up
        found.append(itself.default_generators[number])
    return found


@contextlib.contextmanager
def borrowed(device: torch.device, seed: int | None = None) -> Iterator[None]:
    """Give torch's own generators for `device` their state back when the block ends; inside they begin at `seed`, if any."""
    kept = [(generator, generator.get_state()) for generator in of_torch(device)]
    try:
        if seed is not None:
            for generator, _ in kept:
                generator.manual_seed(seed)
        yield
    finally:
        for generator, state in kept:
            generator.set_state(state)
