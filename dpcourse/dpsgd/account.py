"""The account of an optimizer that is tied to a ledger: each step is in the ledger, each batch is a Poisson sample."""

from collections import Counter
from dataclasses import dataclass, field

from dpcourse.dpsgd.ledger import Ledger
from dpcourse.dpsgd.sampling import Sizes


@dataclass
class Account:
    """What each step must have: an entry of its own in the ledger, and a batch of a size that Poisson sampling gives."""

    ledger: Ledger
    rate: float
    sizes: Sizes
    before: Ledger
    used: Counter[float] = field(default_factory=Counter)  # steps taken, by noise multiplier

    def refuse_what_is_not_in_it(self, noise: float, size: int) -> None:
        """Raise ValueError for a step that was not spent, or a batch of a size that is no Poisson sample's."""
        entries = self.ledger.taken(noise, self.rate) - self.before.taken(noise, self.rate)
        if entries <= self.used[noise]:
            raise ValueError(
                f"this step is not in the ledger: call spend({noise}, {self.rate}) of the ledger that the optimizer is "
                f"tied to, once for each step; it has {entries:,} such steps since then, and {self.used[noise]:,} were taken"
            )
        self.sizes.note(size)
