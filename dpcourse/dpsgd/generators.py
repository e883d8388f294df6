"""Where randomness comes from: a seed that can be repeated, for teaching, or the operating system's entropy."""

import numpy as np
import torch

from dpcourse import validate

Source = torch.Generator | int | None
MT19937_WORDS = slice(3, 3 + 624)  # of the state of torch's generator on a CPU: the words of the Mersenne twister


def make(generator: Source, purpose: str, device: str | torch.device = "cpu") -> torch.Generator:
    """A torch.Generator on `device`, not correlated with one of the same seed that was made for another purpose.

    generator: a torch.Generator on that device, which is returned as it is; a whole number >= 0, a seed; None: 128
    bits of the operating system's entropy. purpose: any text. ValueError otherwise. torch's own manual_seed takes
    only 32 bits on a CPU, few enough to try them all; here the whole state is filled. A GPU's generator takes 64 bits.

    >>> noise, again, coins = make(7, "noise"), make(7, "noise"), make(7, "coins")
    >>> noise, again, coins = (torch.rand((), generator=g).item() for g in (noise, again, coins))
    >>> noise == again, noise == coins
    (True, False)
    """
    device = torch.device(device)
    if isinstance(generator, torch.Generator):
        if generator.device.type != device.type:
            raise ValueError(f"generator must be on {device.type}, got one on {generator.device.type}")
        return generator
    entropy = None if generator is None else [validate.whole("generator", generator, 0), *purpose.encode()]
    seeds = np.random.SeedSequence(entropy)
    made = torch.Generator(device)
    if device.type != "cpu":
        return made.manual_seed(int(seeds.generate_state(1, np.uint64)[0]))
    state = made.manual_seed(0).get_state()
    state.numpy()[:5056].view(np.uint64)[MT19937_WORDS] = seeds.generate_state(624, np.uint32)
    return made.set_state(state)
