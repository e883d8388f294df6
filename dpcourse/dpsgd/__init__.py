"""Lesson 05: DP-SGD on PyTorch. Per-example gradients, clipped and summed; noise; Poisson batches; the budget spent."""

from dpcourse.dpsgd import recipes
from dpcourse.dpsgd.clipping import Clipped, clipped_sum, refuse_if_not_private
from dpcourse.dpsgd.data import Data, digits, fashion_mnist, mnist
from dpcourse.dpsgd.inspection import Check, Inspection, inspect
from dpcourse.dpsgd.ledger import BudgetError, Epsilons, Ledger, noise_for
from dpcourse.dpsgd.models import Edges, logistic, logistic_on_edges, mlp, paper_cnn, tanh_cnn
from dpcourse.dpsgd.optimizers import NoisyAdam, NoisySGD
from dpcourse.dpsgd.paper import FigureRow, TableRow, paper_figure_4, paper_table
from dpcourse.dpsgd.recipes import Recipe
from dpcourse.dpsgd.run import Run, replay
from dpcourse.dpsgd.sampling import poisson_batches
from dpcourse.dpsgd.training import fit

__all__ = [
    "BudgetError",
    "Check",
    "Clipped",
    "Data",
    "Edges",
    "Epsilons",
    "FigureRow",
    "Inspection",
    "Ledger",
    "NoisyAdam",
    "NoisySGD",
    "Recipe",
    "Run",
    "TableRow",
    "clipped_sum",
    "digits",
    "fashion_mnist",
    "fit",
    "inspect",
    "logistic",
    "logistic_on_edges",
    "mlp",
    "mnist",
    "noise_for",
    "paper_cnn",
    "paper_figure_4",
    "paper_table",
    "poisson_batches",
    "recipes",
    "refuse_if_not_private",
    "replay",
    "tanh_cnn",
]
