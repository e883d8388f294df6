"""Lesson 05: noisy SGD, and the ledger of what it has cost: `from dpcourse import dpsgd`."""

from dpcourse.dpsgd.ledger import BudgetError, Epsilons, Ledger, noise_for
from dpcourse.dpsgd.paper import FigureRow, TableRow, paper_figure_4, paper_table

__all__ = [
    "BudgetError",
    "Epsilons",
    "FigureRow",
    "Ledger",
    "TableRow",
    "noise_for",
    "paper_figure_4",
    "paper_table",
]
