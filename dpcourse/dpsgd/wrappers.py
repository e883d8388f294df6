"""Models around a model: one that returns a part of what the inner one returns, and one whose examples are people."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from dpcourse.base import validate
from dpcourse.dpsgd import rows
from dpcourse.dpsgd.clipping import Loss


class Picked(nn.Module):
    """The model that returns pick(outputs) of an inner model's outputs, for losses that take one tensor.

    model: torch.nn.Module, which keeps its weights; pick: function of what it returns, to a tensor with the examples
    first. Nothing of one example may get into another's: `fit` and an optimizer's first accumulate try that.

    >>> class Tagger(nn.Module):
    ...     def forward(self, x):
    ...         return {"logits": x.sum(1), "hidden": x}
    >>> Picked(Tagger(), lambda outputs: outputs["logits"])(torch.ones(2, 3))
    tensor([3., 3.])
    """

    def __init__(self, model: nn.Module, pick: Callable[[Any], torch.Tensor]) -> None:
        super().__init__()
        self.model, self.pick = model, pick

    def forward(self, *inputs, **named):
        return self.pick(self.model(*inputs, **named))


class OfPeople(nn.Module):
    """The model whose examples are people with several rows each: an inner model, asked about each row.

    Its inputs have the shape (people, rows, ...), and its outputs too. With the loss `of_people` makes, a person's
    gradient is that of the sum over all their rows, and is clipped as one: the account then protects the person.

    >>> OfPeople(nn.Linear(3, 2))(torch.zeros(5, 4, 3)).shape
    torch.Size([5, 4, 2])
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs, **named):
        people, each = rows.tree_leaves((inputs, named))[0].shape[:2]
        inputs, named = rows.each(lambda part: part.flatten(0, 1), (inputs, named))
        return self.model(*inputs, **named).unflatten(0, (people, each))


def by_person(
    inputs: rows.Rows, targets: rows.Rows, people: torch.Tensor, most: int
) -> tuple[rows.Rows, tuple[rows.Rows, torch.Tensor]]:
    """Pack rows of people who have several into one row a person: inputs, and (targets, which of them are there).

    inputs, targets: as in Data, tensors with one row each; people: whose row each is, whole numbers of shape (rows,);
    most: whole, >= 1, the most rows of a person that are kept, the first ones. What is not there is 0. The result is what
    dpsgd.Data takes, for a model OfPeople and a loss of_people. ValueError otherwise.

    >>> inputs, (targets, there) = by_person(torch.arange(1, 5), torch.ones(4), torch.tensor([7, 9, 7, 7]), most=2)
    >>> inputs.tolist(), there.tolist()
    ([[1, 3], [2, 0]], [[True, True], [True, False]])
    """
    most, whose = validate.whole("most", most), torch.as_tensor(people)
    if whose.ndim != 1 or whose.is_floating_point() or len(whose) != rows.count((inputs, targets)):
        raise ValueError(
            f"people must be one whole number for each of the {rows.count((inputs, targets))} rows, got "
            f"{whose.dtype} of shape {tuple(whose.shape)}"
        )
    _, person = whose.unique(return_inverse=True)
    order = person.argsort(stable=True)
    person = person[order]
    place = torch.arange(len(person)) - torch.searchsorted(person, person)  # of a row among those of its person
    kept = place < most
    person, place, order = person[kept], place[kept], order[kept]
    there = torch.zeros(int(person.max()) + 1, most, dtype=torch.bool)
    there[person, place] = True

    def packed(part):
        found = part.new_zeros(*there.shape, *part.shape[1:])
        found[person, place] = part[order]
        return found

    inputs, targets = rows.each(packed, (inputs, targets))
    return inputs, (targets, there)


def of_people(loss: Loss) -> Loss:
    """Return the loss of a person: the sum of `loss` over their rows, for a model OfPeople.

    loss: as in clipped_sum, of rows. The new one takes as targets a pair: the targets, shape (people, rows, ...), and
    which rows are there, bool of shape (people, rows), as dpsgd.by_person packs them.

    >>> summed = of_people(lambda outputs, targets: outputs[:, 0] - targets)
    >>> summed(torch.ones(2, 3, 1), (torch.zeros(2, 3), torch.tensor([[True, True, False], [True, False, False]])))
    tensor([2., 1.])
    """

    def summed(outputs, targets):
        wanted, there = targets
        losses = loss(outputs.flatten(0, 1), rows.each(lambda part: part.flatten(0, 1), wanted))
        return losses.view(there.shape).where(there, 0).sum(1)

    return summed
