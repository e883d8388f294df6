"""Inputs in several tensors, outputs of which one part is meant, people with several rows, and data on a disk."""

import numpy as np
import pytest
import torch
from torch import nn

from dpcourse import dpsgd

cross_entropy = nn.CrossEntropyLoss(reduction="none")
N = 60


class Two(nn.Module):
    """Token ids and a mask, by name or in order; an output with several parts, of which `logits` is one."""

    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Embedding(9, 4), nn.Linear(4, 2)

    def forward(self, words, mask):
        x = (self.words(words) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return {"logits": self.last(x), "hidden": x}


def logits(outputs):
    return outputs["logits"]


def texts(n=N):
    torch.manual_seed(1)
    words, mask = torch.randint(9, (n, 5)), (torch.arange(5) < torch.randint(1, 6, (n, 1))).float()
    return {"words": words, "mask": mask}, (words[:, 0] > 4).long()


def settings(**more):
    return {"noise_multiplier": 1.0, "clip_norm": 1.0, "expected_batch": N / 5, "generator": 1} | more


def trained(model, data, loss=cross_entropy, steps=3, **more):
    optimizer = dpsgd.NoisySGD(model.parameters(), 0.5, **settings())
    run = dpsgd.fit(
        model, optimizer, dpsgd.Ledger(1e-4), data, steps, loss=loss, device="cpu", generator=2, show=False, **more
    )
    return run, torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def made(kind=Two, wrap=None):
    torch.manual_seed(0)
    return kind() if wrap is None else wrap(kind())


@pytest.mark.parametrize("engine", ["book-keeping", "vmap"])
@pytest.mark.parametrize("form", [dict, lambda inputs: tuple(inputs.values())], ids=["dict", "tuple"])
def test_inputs_in_several_tensors_are_as_by_the_loop(form, engine):
    inputs, targets = texts(7)
    model = made(wrap=lambda model: dpsgd.Picked(model, logits))
    found, slow = (dpsgd.clipped_sum(model, cross_entropy, form(inputs), targets, 0.3, by) for by in (engine, "loop"))
    torch.testing.assert_close(found.sums, slow.sums)
    torch.testing.assert_close(found.outputs, slow.outputs)


def test_fit_trains_on_a_dict_as_on_a_tuple():
    inputs, targets = texts()
    several, test = tuple(inputs.values()), texts(20)
    first, weights = trained(made(wrap=lambda model: dpsgd.Picked(model, logits)), dpsgd.Data(inputs, targets, *test))
    second, others = trained(
        made(wrap=lambda model: dpsgd.Picked(model, logits)),
        dpsgd.Data(several, targets, tuple(test[0].values()), test[1]),
    )
    assert torch.equal(weights, others)
    assert first.scores == second.scores
    assert None not in first.scores


def test_data_in_several_parts_says_so_and_refuses_parts_of_other_lengths():
    inputs, targets = texts()
    data = dpsgd.Data(inputs, targets, name="Texts")
    assert repr(data) == "Texts: 60 rows to train on, none to test on, words: 5 numbers each, mask: 5 numbers each"
    assert data.shape == {"words": (5,), "mask": (5,)}
    assert not data.emptied(3).train_inputs["mask"][3].any()
    with pytest.raises(ValueError, match=r"one row per example, got \[59, 60\] rows"):
        dpsgd.Data(inputs | {"mask": inputs["mask"][1:]}, targets)
    with pytest.raises(ValueError, match=r"train_inputs\['mask'\] must be numbers"):
        dpsgd.Data(inputs | {"mask": ["a"] * N}, targets)


def test_a_model_that_returns_more_than_a_tensor_is_refused_with_the_way_to_pick():
    inputs, targets = texts()
    for call in (
        lambda: dpsgd.clipped_sum(made(), cross_entropy, inputs, targets, 1.0),
        lambda: trained(made(), dpsgd.Data(inputs, targets)),
    ):
        with pytest.raises(
            ValueError, match=r"the model must return one tensor, got dict: dpsgd.Picked\(model, lambda"
        ):
            call()


def test_weights_of_examples_and_several_labels_are_targets():
    """Targets in a tuple: labels and weights; and one label for each of several questions."""
    inputs, targets = texts(8)
    model = made(wrap=lambda model: dpsgd.Picked(model, logits))
    weights = torch.linspace(0, 2, 8)
    weighted = dpsgd.clipped_sum(model, lambda o, t: t[1] * cross_entropy(o, t[0]), inputs, (targets, weights), 1e6)
    one_by_one = dpsgd.clipped_sum(model, cross_entropy, inputs, targets, 1e6)
    torch.testing.assert_close(weighted.norms, weights * one_by_one.norms)
    labels = torch.randint(2, (8, 2)).float()
    bce = nn.BCEWithLogitsLoss(reduction="none")
    several = [
        dpsgd.clipped_sum(model, lambda o, t: bce(o, t).sum(1), inputs, labels, 0.3, engine).sums
        for engine in ("book-keeping", "loop")
    ]
    torch.testing.assert_close(*several)


# ---- people with several rows


class PerPerson(nn.Module):
    """What OfPeople does, written out."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return torch.stack([self.inner(rows) for rows in x])


def convolutions():
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.GroupNorm(1, 3), nn.Tanh(), nn.Flatten(), nn.Linear(3 * 16, 2))


@pytest.mark.parametrize("clip_norm", [0.2, 1e6])
def test_a_person_is_clipped_as_one(clip_norm):
    """The gradient of all rows of a person together, as the loop over people finds it."""
    torch.manual_seed(0)
    images, classes, people = (
        torch.randn(11, 1, 6, 6),
        torch.randint(2, (11,)),
        torch.tensor([3, 1, 3, 3, 9, 1, 1, 1, 5, 9, 3]),
    )
    inputs, targets = dpsgd.by_person(images, classes, people, most=3)
    assert inputs.shape == (4, 3, 1, 6, 6)
    assert targets[1].sum(1).tolist() == [3, 3, 1, 2]
    model, loss = made(convolutions), dpsgd.of_people(cross_entropy)
    fast = dpsgd.clipped_sum(dpsgd.OfPeople(model), loss, inputs, targets, clip_norm)
    slow = dpsgd.clipped_sum(PerPerson(model), loss, inputs, targets, clip_norm, "loop")
    torch.testing.assert_close(list(fast.sums.values()), list(slow.sums.values()), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(fast.norms, slow.norms, rtol=1e-4, atol=1e-5)
    person = images[people == 3][:3], classes[people == 3][:3]
    model.zero_grad()
    cross_entropy(model(person[0]), person[1]).sum().backward()
    alone = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm()
    torch.testing.assert_close(fast.norms[1], alone, rtol=1e-4, atol=1e-5)


def test_fit_trains_on_people():
    torch.manual_seed(0)
    images, classes, people = torch.randn(3 * N, 1, 6, 6), torch.randint(2, (3 * N,)), torch.arange(3 * N) % N
    data = dpsgd.Data(*dpsgd.by_person(images, classes, people, most=4))
    run, _ = trained(made(convolutions, dpsgd.OfPeople), data, dpsgd.of_people(cross_entropy))
    assert run.settings["people"] == N
    assert dpsgd.inspect(run).ok


@pytest.mark.parametrize(
    ("people", "most", "says"),
    [
        (torch.zeros(2, dtype=torch.int64), 2, "people must be one whole number for each of the 3 rows"),
        (torch.zeros(3), 2, "people must be one whole number"),
        (torch.zeros(3, dtype=torch.int64), 0, "most must be a whole number"),
    ],
)
def test_people_that_are_none_are_refused(people, most, says):
    with pytest.raises(ValueError, match=says):
        dpsgd.by_person(torch.zeros(3, 2), torch.zeros(3), people, most)


# ---- frozen parts


def with_batch_norm():
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2))
    body(torch.randn(40, 5))
    return nn.Sequential(body, nn.Linear(8, 2))


def test_a_frozen_batch_norm_keeps_its_statistics_while_the_rest_is_trained():
    data, model = dpsgd.Data(torch.randn(N, 5), torch.randint(2, (N,))), with_batch_norm()
    with pytest.raises(ValueError, match=r"layer '0.1' .*freeze it with requires_grad_\(False\) and eval\(\)"):
        trained(model, data)
    model[0].requires_grad_(False).eval()
    before = {name: value.clone() for name, value in model[0].state_dict().items()}
    optimizer = dpsgd.NoisySGD(model[1].parameters(), 0.5, **settings())
    dpsgd.fit(model, optimizer, dpsgd.Ledger(1e-4), data, 3, device="cpu", generator=2, show=False)
    assert all(torch.equal(value, before[name]) for name, value in model[0].state_dict().items())
    assert [layer.training for layer in (model, model[1], model[0], model[0][1])] == [True, True, False, False]
    optimizer.accumulate(model, cross_entropy, *data.chosen([0, 1, 2]))
    model.train()
    with pytest.raises(ValueError, match=r"layer '0.1' \(BatchNorm1d\) mixes"):
        optimizer.accumulate(model, cross_entropy, *data.chosen([0, 1, 2]))


# ---- on a disk, and as it goes


@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_arrays_on_a_disk_are_read_batch_by_batch_and_train_the_same(kind, tmp_path):
    rng = np.random.default_rng(0)
    numbers, classes = rng.integers(0, 255, (N, 5)).astype(kind), rng.integers(0, 2, N)
    np.save(tmp_path / "inputs.npy", numbers)
    on_disk = np.load(tmp_path / "inputs.npy", mmap_mode="r")

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(5, 2)

        def forward(self, x):
            return self.inner(x / 255)

    data = dpsgd.Data(on_disk, classes, on_disk[:9], classes[:9])
    assert data.train_inputs is on_disk
    assert repr(data) == "data: 60 rows to train on, 9 to test on, 5 numbers each"
    run, weights = trained(made(Scaled), data)
    same, others = trained(made(Scaled), dpsgd.Data(numbers, classes, numbers[:9], classes[:9]))
    assert torch.equal(weights, others)
    assert run.scores == same.scores
    empty, _ = trained(made(Scaled), data.emptied([0, 1]))
    assert empty.batches == run.batches


def test_a_loader_draws_the_coins_of_poisson_batches_and_an_own_loop_trains_by_it():
    inputs, targets = torch.randn(N, 5), torch.randint(2, (N,))
    dataset = torch.utils.data.TensorDataset(inputs, targets)
    batches = list(dpsgd.poisson_batches(N, 0.02, 30, generator=3))
    read = list(dpsgd.loader(dataset, 0.02, 30, generator=3, num_workers=0))
    assert any(len(batch) == 0 for batch in batches)
    assert len(read) == len(batches)
    for (x, y), batch in zip(read, batches, strict=True):
        assert torch.equal(x, inputs[batch])
        assert torch.equal(y, targets[batch])
    assert [len(x) for x, _ in read if len(x) == 0] == [0] * sum(len(batch) == 0 for batch in batches)
    model = nn.Linear(5, 2)
    ledger, optimizer = dpsgd.Ledger(1e-4), dpsgd.NoisySGD(model.parameters(), 0.5, **settings(expected_batch=0.02 * N))
    optimizer.tie(ledger, people=N)
    for x, y in dpsgd.loader(dataset, 0.02, 30, generator=3):
        ledger.spend(1.0, 0.02)
        optimizer.accumulate(model, cross_entropy, x, y)
        optimizer.step()
    assert ledger.taken(1.0, 0.02) == 30


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter([])


def test_a_loader_refuses_streams_and_batches_without_coins():
    with pytest.raises(ValueError, match="dataset must have a length and rows by number, got Stream"):
        dpsgd.loader(Stream(), 0.1, 3)
    dataset = torch.utils.data.TensorDataset(torch.zeros(4))
    with pytest.raises(ValueError, match="must leave batches to the coins, got batch_size, shuffle"):
        dpsgd.loader(dataset, 0.1, 3, batch_size=2, shuffle=True)
    with pytest.raises(ValueError, match="sample_rate must be a number"):
        dpsgd.loader(dataset, 2.0, 3)


def test_what_is_no_data_is_refused_with_a_way_out():
    model = nn.Linear(5, 2)
    with pytest.raises(ValueError, match=r"data must be a Data, as dpsgd.Data\(inputs, targets\).*got tuple"):
        trained(model, (torch.zeros(3, 5), torch.zeros(3)))
    with pytest.raises(ValueError, match=r"train_inputs must be numbers, got a TensorDataset: .*dpsgd.loader"):
        dpsgd.Data(torch.utils.data.TensorDataset(torch.zeros(3, 5)), torch.zeros(3))


def test_a_loss_whose_shapes_broadcast_is_named_and_not_the_model():
    inputs, targets = torch.randn(N, 5), torch.randn(N)
    optimizer = dpsgd.NoisySGD((model := nn.Linear(5, 1)).parameters(), 0.5, **settings())
    with pytest.raises(ValueError, match=r"the loss of one example depends .* of shapes \(2, 1\) and \(2,\)"):
        optimizer.accumulate(model, lambda o, t: (o - t).square().mean(1), inputs, targets)
