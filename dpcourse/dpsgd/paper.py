"""The accounting in Bu, Dong, Long & Su (2020), "Deep learning with Gaussian differential privacy", beside the exact one.

MNIST: n = 60,000 people, batches of 256 in expectation, delta = 1e-5.
"""

import math
from typing import NamedTuple

from dpcourse import clt, gdp
from dpcourse.dpsgd.ledger import Epsilons, Ledger

N, BATCH, DELTA = 60_000, 256, 1e-5
RATE = BATCH / N

# noise multiplier, learning rate, clipping norm, epochs, and as printed: accuracy, mu, epsilon of the moments accountant.
# Where the paper does not print the epochs, they are the only whole number that gives the printed mu.
TABLE = [
    (1.3, 0.25, 1.5, 15, 0.950, 0.23, 1.19),
    (1.1, 0.15, 1.0, 60, 0.966, 0.57, 3.01),
    (0.7, 0.25, 1.5, 45, 0.970, 1.13, 7.10),
    (0.6, None, None, 62, 0.976, 2.00, 13.27),
    (0.55, None, None, 68, 0.978, 2.76, 18.72),
    (0.5, None, None, 100, 0.980, 4.78, 32.4),
]

# epochs, mu and epsilon as printed, noise multiplier by the moments accountant, and by the CLT
FIGURE_4 = [
    (20, 0.35, 1.34, 1.3, 1.06),
    (70, 1.78, 8.68, 0.7, 0.638),
]


class TableRow(NamedTuple):
    """A row of the paper's MNIST table: what is printed, and what the accountants say.

    learning_rate and clip_norm: None, and epochs inferred from mu_printed, where the paper does not print them.
    steps: epochs times n / batch, rounded up, which is the safe side; `mu` and `epsilons.clt` take it unrounded, as the
    paper does. The other three of `epsilons` are for whole steps.
    """

    noise_multiplier: float
    learning_rate: float | None
    clip_norm: float | None
    epochs: int
    steps: int
    accuracy_printed: float
    mu_printed: float
    moments_accountant_printed: float
    mu: float
    epsilons: Epsilons


class FigureRow(NamedTuple):
    """One of two noise multipliers to which figure 4 gives the same (epsilon_printed, 1e-5), and what is said of it.

    accountant: the one by which it has that guarantee. steps and epsilons: as in TableRow.
    """

    accountant: str
    noise_multiplier: float
    epochs: int
    steps: int
    mu_printed: float
    epsilon_printed: float
    epsilons: Epsilons


def paper_table() -> list[TableRow]:
    """Return the rows of the paper's MNIST table, rebuilt column by column: a list of TableRow.

    Source: Bu, Dong, Long & Su (2020), the MNIST table; the computed columns by Ledger.epsilons.

    >>> row = paper_table()[0]
    >>> row.noise_multiplier, row.mu_printed, round(row.mu, 4), row.moments_accountant_printed
    (1.3, 0.23, 0.2273, 1.19)
    >>> clt, moments_accountant, rdp, exact = row.epsilons
    >>> [round(value, 3) for value in (clt, exact.upper, rdp, moments_accountant)]
    [0.834, 0.865, 0.954, 1.191]
    """
    return [
        TableRow(
            noise, lr, clip, epochs, _steps(epochs), accuracy, mu, epsilon, _mu(noise, epochs), _said(noise, epochs)
        )
        for noise, lr, clip, epochs, accuracy, mu, epsilon in TABLE
    ]


def paper_figure_4() -> list[FigureRow]:
    """Return figure 4's noise multipliers, which the paper calls equally private, and their true cost: a list of FigureRow.

    Source: Bu, Dong, Long & Su (2020), figure 4; the computed columns by Ledger.epsilons.

    >>> for row in paper_figure_4()[:2]:
    ...     print(row.accountant, row.noise_multiplier, row.epsilon_printed, round(row.epsilons.exact.upper, 4))
    moments accountant 1.3 1.34 1.0074
    CLT 1.06 1.34 1.4078
    """
    return [
        FigureRow(accountant, noise, epochs, _steps(epochs), mu, epsilon, _said(noise, epochs))
        for epochs, mu, epsilon, *noises in FIGURE_4
        for accountant, noise in zip(("moments accountant", "CLT"), noises, strict=True)
    ]


def _steps(epochs):
    return math.ceil(epochs * N / BATCH)


def _mu(noise, epochs):
    return clt.noisy_sgd_mu(noise, RATE, epochs * N / BATCH)


def _said(noise, epochs):
    said = Ledger(DELTA).after(noise, RATE, _steps(epochs)).epsilons()
    return said._replace(clt=gdp.epsilon(DELTA, _mu(noise, epochs)))
