"""NoisySGD and NoisyAdam: the law of the noise, what is divided by what, and torch's own optimizers underneath.

Every statistical test has a false-failure rate of at most 1e-6 for right code, and a fixed seed, so that it never flickers.
"""

import copy
import io
import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import noisy

pytestmark = pytest.mark.in_turn("seconds of training")

RARE = 1e-6
both = pytest.mark.parametrize("kind", [dpsgd.NoisySGD, dpsgd.NoisyAdam, dpsgd.NoisyAdamW])


def loss(outputs, targets):
    return (outputs.sum(1) - targets).square()


def model_of(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).double()


def people(n=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 4, generator=generator).double(), torch.randn(n, generator=generator).double()


def optimizer_of(model, kind=dpsgd.NoisySGD, lr=0.1, **changes):
    settings = {"noise_multiplier": 1.0, "clip_norm": 0.5, "expected_batch": 8, "generator": 0}
    return kind(model.parameters(), lr, **settings | changes)


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def train(model, optimizer, steps=5, before=0):
    for step in range(before, before + steps):
        optimizer.accumulate(model, loss, *people(seed=step))
        optimizer.step()
    return weights(model)


def noise_of(steps, sizes=((60, 50), (7,)), **changes):
    """What steps without anybody add to the sum, (steps, numbers), from the movement of the weights."""
    parameters = nn.ParameterList([torch.zeros(size, dtype=torch.float64) for size in sizes])
    optimizer = optimizer_of(parameters, lr=1.0, **changes)
    found = []
    for _ in range(steps):
        before = weights(parameters)
        optimizer.step()
        found.append((before - weights(parameters)) * optimizer.expected_batch)
    return torch.stack(found).numpy()


# ---- the law of the noise


@pytest.mark.parametrize(("noise_multiplier", "clip_norm"), [(1.0, 1.0), (0.7, 3.0), (4.0, 0.1)])
def test_noise_is_normal_with_the_standard_deviation_promised(noise_multiplier, clip_norm):
    scale = noise_multiplier * clip_norm
    noise = noise_of(20, noise_multiplier=noise_multiplier, clip_norm=clip_norm).ravel() / scale
    assert stats.kstest(noise, "norm").pvalue > RARE
    low, high = stats.chi2.interval(1 - RARE, noise.size)
    assert low <= np.sum(noise**2) <= high
    assert abs(noise.sum()) <= stats.norm.isf(RARE / 2) * math.sqrt(noise.size)


def test_noise_is_independent_across_parameters_and_steps():
    """Products of neighbours, of steps in a row and of two tensors, sum to a number of mean 0 and known variance."""
    noise = noise_of(40, sizes=((1500,), (1500,))) / 0.5
    pairs = {
        "neighbours": (noise[:, :-1:2], noise[:, 1::2]),
        "steps": (noise[:-1:2], noise[1::2]),
        "tensors": (noise[:, :1500], noise[:, 1500:]),
    }
    for name, (one, other) in pairs.items():
        score = np.sum(one * other) / math.sqrt(one.size)
        assert abs(score) <= stats.norm.isf(RARE / 2), name
    assert len(np.unique(noise)) == noise.size


def test_noise_is_drawn_for_each_small_tensor_too():
    """torch draws fewer than 16 numbers another way."""
    noise = noise_of(4000, sizes=((3,), (), (1, 2))) / 0.5
    assert stats.kstest(noise.ravel(), "norm").pvalue > RARE
    correlations = np.corrcoef(noise.T)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() <= stats.norm.isf(RARE / 2 / 15) / math.sqrt(4000)


@both
def test_noise_is_added_once_however_many_chunks(kind):
    """Same seed, same noise: in one chunk or in eight the weights are the same."""
    inputs, targets = people()
    found = []
    for size in (8, 3, 1):
        model = model_of()
        optimizer = optimizer_of(model, kind)
        for chunk in zip(inputs.split(size), targets.split(size), strict=True):
            optimizer.accumulate(model, loss, *chunk)
        optimizer.step()
        found.append(weights(model))
    torch.testing.assert_close(found[0], found[1])
    torch.testing.assert_close(found[0], found[2])


@settings(max_examples=20)
@given(drawn=st.integers(0, 20), expected=st.floats(0.5, 100), clip_norm=st.floats(0.01, 10), noise=st.floats(0.1, 5))
def test_a_step_is_the_clipped_sum_and_noise_over_the_expected_batch(drawn, expected, clip_norm, noise):
    """The size of the batch drawn is nowhere: it is not public. Nobody drawn: noise alone."""
    model, (inputs, targets) = model_of(), people(drawn)
    sums = dpsgd.clipped_sum(model, loss, inputs, targets, clip_norm).sums.values()
    total = torch.cat([found.flatten() for found in sums])
    moved = []
    for these in (slice(0), slice(None)):
        copied = model_of()
        optimizer = optimizer_of(copied, lr=1.0, clip_norm=clip_norm, noise_multiplier=noise, expected_batch=expected)
        if len(inputs[these]):
            optimizer.accumulate(copied, loss, inputs[these], targets[these])
        optimizer.step()
        moved.append(weights(model) - weights(copied))
    torch.testing.assert_close((moved[1] - moved[0]) * expected, total, rtol=1e-9, atol=1e-9)
    assert optimizer.noise_scale == pytest.approx(float((moved[0] * expected).square().mean().sqrt()), rel=1e-9)


def test_the_sum_is_measured_before_the_step_and_forgotten_after_it():
    model, (inputs, targets) = model_of(), people()
    optimizer = optimizer_of(model)
    assert optimizer.sum_length == optimizer.noise_scale == 0
    optimizer.accumulate(model, loss, inputs[:5], targets[:5])
    optimizer.accumulate(model, loss, inputs[5:], targets[5:])
    whole = dpsgd.clipped_sum(model, loss, inputs, targets, 0.5).sums
    assert optimizer.sum_length == pytest.approx(float(nn.utils.get_total_norm(whole.values())))
    optimizer.step()
    assert optimizer.sum_length == 0
    assert all(parameter.grad is None for parameter in model.parameters())


@both
def test_a_gradient_that_is_not_finite_moves_nothing(kind):
    """However many chunks there were: the step is that of a batch with an empty row in its place."""
    ends = []
    for bad in (True, False):
        model, (inputs, targets) = model_of(), people()
        optimizer = optimizer_of(model, kind)
        if bad:
            inputs = inputs.clone()
            inputs[1, 2] = math.nan
            optimizer.accumulate(model, loss, inputs[:5], targets[:5])
        else:
            there = torch.tensor([0, 2, 3, 4])
            optimizer.accumulate(model, loss, inputs[there], targets[there], empty=1)
        optimizer.accumulate(model, loss, inputs[5:], targets[5:])
        optimizer.step()
        ends.append(weights(model))
    torch.testing.assert_close(*ends)


@pytest.mark.parametrize("sizes", [[(3, 4)], [(5,)], [()], [(2, 3), (), (4,), (2, 3, 2, 2)]])
def test_numbers_put_together_come_apart_as_they_were(sizes):
    """In each parameter's own order in memory; elsewhere than on a CPU, so without numbers here: by shape and stride."""
    parameters = [torch.zeros(size, device="meta") for size in sizes]
    parameters[-1] = parameters[-1].to(memory_format=torch.channels_last) if len(sizes) > 1 else parameters[-1]
    together = noisy._together(parameters)
    assert [total.shape for total in together] == [(sum(p.numel() for p in parameters),)]
    apart = noisy._apart(together, parameters)
    assert [(part.shape, part.stride()) for part in apart] == [(p.shape, p.stride()) for p in parameters]
    numbers = torch.arange(float(together[0].numel()))
    here = [torch.empty_like(p, device="cpu") for p in parameters]
    assert torch.equal(torch.cat([part.flatten() for part in noisy._apart([numbers], here)]), numbers)


@both
def test_zero_grad_forgets_the_sum(kind):
    moved = []
    for somebody in (False, True):
        model = model_of()
        optimizer = optimizer_of(model, kind)
        if somebody:
            optimizer.accumulate(model, loss, *people())
            optimizer.zero_grad()
        optimizer.step()
        moved.append(weights(model))
    assert torch.equal(*moved)


# ---- torch's optimizers underneath


@pytest.mark.parametrize(
    ("noisy", "plain", "options"),
    [
        (dpsgd.NoisySGD, torch.optim.SGD, {}),
        (dpsgd.NoisySGD, torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.01}),
        (dpsgd.NoisyAdam, torch.optim.Adam, {}),
        (dpsgd.NoisyAdam, torch.optim.Adam, {"fused": True}),
        (dpsgd.NoisySGD, torch.optim.SGD, {"fused": True, "momentum": 0.9}),
        (dpsgd.NoisyAdamW, torch.optim.AdamW, {"weight_decay": 0.1}),
        (dpsgd.NoisyAdam, torch.optim.Adam, {"betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.01}),
    ],
)
def test_without_noise_and_clipping_it_is_torchs_on_the_mean_gradient(noisy, plain, options):
    ours, theirs = model_of(), model_of()
    optimizer = optimizer_of(ours, noisy, noise_multiplier=0, clip_norm=1e9, **options)
    reference = plain(theirs.parameters(), lr=0.1, **options)
    schedulers = [torch.optim.lr_scheduler.StepLR(o, step_size=2, gamma=0.3) for o in (optimizer, reference)]
    for step in range(6):
        inputs, targets = people(seed=step)
        reference.zero_grad()
        loss(theirs(inputs), targets).mean().backward()
        reference.step()
        train(ours, optimizer, 1, before=step)
        for scheduler in schedulers:
            scheduler.step()
        torch.testing.assert_close(weights(ours), weights(theirs), rtol=1e-9, atol=1e-12)


def test_parameter_groups_have_their_own_learning_rates():
    model = model_of()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    groups = [{"params": model[0].parameters(), "lr": 0.0}, {"params": model[2].parameters()}]
    optimizer = dpsgd.NoisySGD(groups, 0.5, noise_multiplier=1, clip_norm=1, expected_batch=8, generator=0)
    train(model, optimizer, 1)
    still = [torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True)]
    assert still == [True, True, False, False]


@both
def test_frozen_parameters_do_not_move(kind):
    model = model_of()
    optimizer = optimizer_of(model, kind)
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    train(model, optimizer, 3)
    assert torch.equal(model[0].weight, before)


@both
@pytest.mark.parametrize("generator", [3, None])
@pytest.mark.parametrize("taken", [0, 1, 4])
def test_a_saved_state_goes_on_exactly(kind, taken, generator):
    options = {"momentum": 0.9} if kind is dpsgd.NoisySGD else {}
    model = model_of()
    optimizer = optimizer_of(model, kind, generator=generator, **options)
    train(model, optimizer, taken)
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    expected = train(model, optimizer, 3, before=taken)

    file.seek(0)
    other = model_of(seed=1)
    resumed = optimizer_of(other, kind, lr=7.0, noise_multiplier=9, clip_norm=9, expected_batch=9, generator=9)
    train(other, resumed, 1)
    for target, state in zip((other, resumed), torch.load(file, weights_only=True), strict=True):
        target.load_state_dict(state)
    assert torch.equal(train(other, resumed, 3, before=taken), expected)


def test_a_state_without_noise_is_refused():
    model = model_of()
    with pytest.raises(ValueError, match="state_dict must come from NoisySGD, NoisyAdam or NoisyAdamW"):
        optimizer_of(model).load_state_dict(torch.optim.SGD(model.parameters(), 0.1).state_dict())


# ---- what is not protected is refused


@both
@pytest.mark.parametrize("freeze", [False, True])
def test_a_gradient_from_outside_is_refused(kind, freeze):
    """Of a parameter frozen since, too: torch's optimizers would apply it as it is."""
    model = model_of()
    optimizer = optimizer_of(model, kind)
    before = weights(model)
    loss(model(people()[0]), people()[1]).mean().backward()
    model[0].requires_grad_(not freeze)
    if freeze:
        model[2].zero_grad()
    with pytest.raises(ValueError, match=r"a gradient was set from outside, by loss.backward\(\) perhaps.*zero_grad"):
        optimizer.step()
    assert torch.equal(weights(model), before)
    optimizer.zero_grad()
    optimizer.step()


@both
def test_parameters_that_the_optimizer_was_not_given_are_refused(kind):
    model = model_of()
    optimizer = kind(model[2].parameters(), 0.1, noise_multiplier=1, clip_norm=1, expected_batch=8)
    optimizer.accumulate(model, loss, *people())
    with pytest.raises(ValueError, match="the model has 2 trainable parameters that this optimizer was not given"):
        optimizer.step()
    model[0].requires_grad_(False)
    optimizer.zero_grad()
    train(model, optimizer, 1)


@both
def test_a_closure_is_refused(kind):
    with pytest.raises(ValueError, match="step takes no closure"):
        optimizer_of(model_of(), kind).step(lambda: 0.0)


@both
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused(kind, copied):
    """torch's pickle leaves out hooks and private attributes: the copy would step without noise."""
    with pytest.raises(TypeError, match=r"cannot be copied or pickled: .* use state_dict\(\)"):
        copied(optimizer_of(model_of(), kind))


@both
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"noise_multiplier": -1}, r"noise_multiplier must be a number in \[0, inf\), got -1"),
        ({"noise_multiplier": math.nan}, "noise_multiplier must be"),
        ({"clip_norm": 0}, r"clip_norm must be a number in \(0, inf\), got 0"),
        ({"expected_batch": 0}, r"expected_batch must be a number in \(0, inf\), got 0"),
    ],
)
def test_bad_settings_are_named(kind, wrong, says):
    with pytest.raises(ValueError, match=says):
        optimizer_of(model_of(), kind, **wrong)


# ---- tied to a ledger


def tied(people_there=8, **changes):
    """A model, an optimizer that expects everybody at half the rate, and its ledger."""
    model = model_of()
    optimizer, ledger = optimizer_of(model, expected_batch=people_there / 2, **changes), dpsgd.Ledger(1e-5)
    optimizer.tie(ledger, people_there)
    return model, optimizer, ledger


def taken(model, optimizer, size=4):
    """Take a step with so many people, and tell whether the weights have moved."""
    before = weights(model)
    optimizer.zero_grad()
    if size:
        optimizer.accumulate(model, loss, *people(size))
    optimizer.step()
    return not torch.equal(weights(model), before)


@both
def test_a_step_that_was_not_spent_is_refused(kind):
    """Each entry is for one step, with these settings; those of before the tie count for nothing."""
    model, optimizer, ledger = tied(kind=kind)
    before = weights(model)
    for wrong in ((), (2.0, 0.5), (1.0, 0.4)):
        other = dpsgd.Ledger(1e-5)
        optimizer.tie(other, 8)
        if wrong:
            other.spend(*wrong)
        with pytest.raises(ValueError, match=r"this step is not in the ledger: call spend\(1.0, 0.5\)"):
            taken(model, optimizer)
    assert torch.equal(weights(model), before)
    ledger.spend(1.0, 0.5)
    optimizer.tie(ledger, 8)
    with pytest.raises(ValueError, match="it has 0 such steps since then, and 0 were taken"):
        taken(model, optimizer)
    ledger.spend(1.0, 0.5)
    assert taken(model, optimizer)
    with pytest.raises(ValueError, match="it has 1 such steps since then, and 1 were taken"):
        taken(model, optimizer, 0)
    ledger.spend(1.0, 0.5, steps=3)
    assert [taken(model, optimizer, size) for size in (3, 0, 5)] == [True] * 3


def test_noise_that_changes_needs_entries_of_its_own():
    model, optimizer, _ = tied()
    ledger = dpsgd.Ledger(1e-5, plan=[(1.0, 0.5, 2), (3.0, 0.5, 1)])
    optimizer.tie(ledger, 8)
    ledger.spend(1.0, 0.5, 2)
    taken(model, optimizer)
    optimizer.noise_multiplier = 3.0
    with pytest.raises(ValueError, match="not in the ledger"):
        taken(model, optimizer)
    ledger.spend(3.0, 0.5)
    taken(model, optimizer)


def test_the_rate_is_by_public_n_and_the_sizes_by_the_rows():
    model = model_of()
    optimizer, ledger = optimizer_of(model, expected_batch=40), dpsgd.Ledger(1e-5)
    optimizer.tie(ledger, people=100, public_n=400)
    ledger.spend(1.0, 0.1, steps=20)
    for size in (10, 13, 7, 9):
        taken(model, optimizer, size)
    with pytest.raises(ValueError, match=r"has a batch of 40 people, .* where 10.0 a step are expected"):
        taken(model, optimizer, 40)


@pytest.mark.parametrize("size_of", [lambda step: 60, lambda step: 30], ids=["60 where 30 are expected", "shuffled"])
def test_batches_that_no_coins_give_are_refused_before_the_update(size_of):
    """In one chunk or in several."""
    model = model_of()
    optimizer, ledger = optimizer_of(model, expected_batch=30), dpsgd.Ledger(1e-5)
    optimizer.tie(ledger, people=300)
    ends = []

    def run(steps=40):
        for step in range(steps):
            ledger.spend(1.0, 0.1)
            inputs, targets = people(size_of(step))
            for part in zip(inputs.split(25), targets.split(25), strict=True):
                optimizer.accumulate(model, loss, *part)
            ends.append(weights(model))
            optimizer.step()

    with pytest.raises(ValueError, match="the account holds for"):
        run()
    assert 1 < len(ends) < 30
    assert torch.equal(weights(model), ends[-1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"people": 0}, "people must be a whole number >= 1, got 0"),
        ({"people": 3}, r"expected_batch / people must be a number in \(0, 1\], got 2.6"),
        ({"people": 16, "public_n": 16}, "public_n must be a number written down before the rows were counted"),
    ],
)
def test_a_tie_that_cannot_be_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        optimizer_of(model_of()).tie(dpsgd.Ledger(1e-5), **arguments)


# ---- the padding row


class Words(nn.Module):
    def __init__(self, shared=False):
        super().__init__()
        self.table, self.last = nn.Embedding(6, 4, padding_idx=2), nn.Linear(4, 6, bias=False)
        if shared:
            self.last.weight = self.table.weight

    def forward(self, tokens):
        return self.last(self.table(tokens).sum(1))


@both
@pytest.mark.parametrize(("kept", "shared", "still"), [(True, False, True), (False, False, False), (True, True, False)])
def test_the_padding_row_stays_where_asked_and_where_nothing_else_trains_it(kind, kept, shared, still):
    """The other rows have the noise they would have had."""
    torch.manual_seed(0)
    model, tokens = Words(shared), torch.tensor([[1, 2, 2], [2, 3, 5]])
    optimizer = optimizer_of(model, kind)
    if kept:
        optimizer.keep_padding(model)
    before = model.table.weight.detach().clone()
    for batch in (tokens[:0], tokens):  # nobody, and somebody: which it was must not show
        if len(batch):
            optimizer.accumulate(model, loss, batch, torch.ones(2))
        optimizer.step()
        assert torch.equal(model.table.weight[2], before[2]) == still
    moved = (model.table.weight != before).any(1)
    assert moved.tolist() == [True, True, not still, True, True, True]


# ---- the first use


def test_the_first_accumulate_tries_the_model_and_leaves_no_trace():
    """A loss that mixes two people is refused; modes and torch's generator are as before."""
    model, (inputs, targets) = nn.Sequential(model_of(), nn.Dropout(0.5)), people()
    model[0].eval()
    modes, state = [layer.training for layer in model.modules()], torch.get_rng_state()
    optimizer = optimizer_of(model)
    with pytest.raises(ValueError, match="the loss of one example depends on the others"):
        optimizer.accumulate(model, lambda o, t: loss(o, t) * loss(o, t).detach().mean(), inputs, targets)
    assert optimizer.sum_length == 0
    optimizer.try_on(model, loss, inputs, targets)
    assert [layer.training for layer in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)


# ---- seeds


def test_same_seed_same_noise_another_seed_another_none_never_twice():
    draws = [noise_of(1, generator=generator).tobytes() for generator in (1, 1, 2, None, None)]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 4


def test_a_generator_of_ones_own_is_used_as_it_is():
    own = torch.Generator().manual_seed(5)
    expected = torch.randn(60, 50, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    assert np.allclose(noise_of(1, generator=own)[0, :3000] / 0.5, expected.flatten())
    assert not torch.equal(own.get_state(), torch.Generator().manual_seed(5).get_state())
