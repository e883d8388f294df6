"""DP-SGD on PyTorch (lessons from 05 on): clipped gradients of each example, noise, Poisson batches, the budget spent.

`fit` trains: it draws the batches, writes every step into the ledger before the step is taken, and keeps a record.
docs/training.md says what such a run may claim. A loop of your own does the same in four lines. Its parts are
`poisson_batches` (who is in a batch), `Ledger.spend` (the account), `accumulate` (the clipped sum, in as many parts as
memory needs) and `step` (noise and update). An optimizer that is tied to the ledger refuses a step that was not spent,
and batches whose sizes no coins give, such as those of a shuffled data loader. `keep_padding` is for models with an
nn.Embedding that has a padding row.

>>> import torch
>>> inputs, targets = torch.randn(300, 4), torch.randint(2, (300,))
>>> model, loss = torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss(reduction="none")
>>> noise = noise_for(epsilon=2.0, delta=1e-4, sample_rate=0.1, steps=50)  # expected_batch is 0.1 * 300
>>> optimizer = NoisySGD(model.parameters(), lr=0.5, noise_multiplier=noise, clip_norm=1.0, expected_batch=30)
>>> ledger = Ledger(delta=1e-4, budget=2.0, plan=[(noise, 0.1, 50)])
>>> optimizer.tie(ledger, people=300)
>>> for batch in poisson_batches(300, sample_rate=0.1, steps=50):
...     ledger.spend(noise, sample_rate=0.1)
...     _ = optimizer.accumulate(model, loss, inputs[batch], targets[batch])
...     optimizer.step()
>>> ledger.epsilon() <= 2.0
True

`without_batch_norm` mends a model with BatchNorm. `layer_rule` gives a rule, which is faster, to a layer of your own.
"""

from dpcourse.dpsgd import recipes
from dpcourse.dpsgd.auditing import Audit, audited
from dpcourse.dpsgd.clipping import Clipped, clipped_sum
from dpcourse.dpsgd.data import Data, digits, fashion_mnist, mnist
from dpcourse.dpsgd.inspection import Check, Inspection, inspect
from dpcourse.dpsgd.ledger import BudgetError, Epsilons, Ledger, noise_for
from dpcourse.dpsgd.models import Edges, logistic, logistic_on_edges, mlp, paper_cnn, tanh_cnn, without_batch_norm
from dpcourse.dpsgd.optimizers import NoisyAdam, NoisyAdamW, NoisySGD
from dpcourse.dpsgd.ordered import InOrder, in_order
from dpcourse.dpsgd.own_layers import layer_rule
from dpcourse.dpsgd.paper import FigureRow, TableRow, paper_figure_4, paper_table
from dpcourse.dpsgd.planning import Plan, plan
from dpcourse.dpsgd.recipes import Recipe
from dpcourse.dpsgd.recording import Run, replay
from dpcourse.dpsgd.refusals import refuse_if_not_private
from dpcourse.dpsgd.sampling import PoissonSampler, loader, poisson_batches
from dpcourse.dpsgd.training import fit
from dpcourse.dpsgd.wrappers import OfPeople, Picked, by_person, of_people

__all__ = [
    "Audit",
    "BudgetError",
    "Check",
    "Clipped",
    "Data",
    "Edges",
    "Epsilons",
    "FigureRow",
    "InOrder",
    "Inspection",
    "Ledger",
    "NoisyAdam",
    "NoisyAdamW",
    "NoisySGD",
    "OfPeople",
    "Picked",
    "Plan",
    "PoissonSampler",
    "Recipe",
    "Run",
    "TableRow",
    "audited",
    "by_person",
    "clipped_sum",
    "digits",
    "fashion_mnist",
    "fit",
    "in_order",
    "inspect",
    "layer_rule",
    "loader",
    "logistic",
    "logistic_on_edges",
    "mlp",
    "mnist",
    "noise_for",
    "of_people",
    "paper_cnn",
    "paper_figure_4",
    "paper_table",
    "plan",
    "poisson_batches",
    "recipes",
    "refuse_if_not_private",
    "replay",
    "tanh_cnn",
    "without_batch_norm",
]
