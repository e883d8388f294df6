"""DP-SGD on a GPU, against the same on the CPU. Skipped where there is none.

Every statistical test has a false-failure rate of at most 1e-6 for right code, and a fixed seed, so that it never flickers.
"""

import contextlib
import gc
import math
import warnings
from dataclasses import replace

import pytest
import torch
from scipy import stats
from torch import nn

from dpcourse import dpsgd
from dpcourse.dpsgd import cuda_graphs, layers, secure, training

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")

RARE = 1e-6
ENGINES = ("loop", "vmap", "book-keeping")
KINDS = ("NoisySGD", "NoisyAdam")
both = pytest.mark.parametrize("kind", KINDS)


class Words(nn.Module):
    """Reads 64 pixels as words: a table of rows and a linear layer with positions."""

    def __init__(self):
        super().__init__()
        self.rows, self.inner, self.norm, self.last = (
            nn.Embedding(9, 16),
            nn.Linear(16, 16),
            nn.LayerNorm(16),
            nn.Linear(16, 10),
        )

    def forward(self, x):
        return self.last(self.norm(self.inner(self.rows((9 * x).flatten(1).long().clamp(0, 8))).tanh()).mean(1))


def deep():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 10), *[nn.Linear(10, 10) for _ in range(29)])


def dropping():
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 12), nn.Tanh(), nn.Dropout(0.3), nn.Linear(12, 10))


MODELS = {
    "CNN": lambda: dpsgd.paper_cnn((1, 8, 8), generator=0),
    "words": Words,
    "30 layers": deep,
    "dropout": dropping,
}


def model_of(name, seed=0):
    with torch.random.fork_rng([]):
        torch.default_generator.manual_seed(seed)
        return MODELS[name]()


def people(n=300):
    generator = torch.Generator("cpu").manual_seed(0)
    inputs = torch.rand(2 * n, 1, 8, 8, generator=generator)
    targets = torch.randint(10, (2 * n,), generator=generator)
    classes = tuple("0123456789")
    return dpsgd.Data(inputs[:n], targets[:n], inputs[n:], targets[n:], name="Coins", classes=classes)


def parts(model="dropout", kind="NoisySGD", seed=0, **changes):
    """A model, its optimizer and a ledger."""
    model = model_of(model, seed) if isinstance(model, str) else model
    settings = {"noise_multiplier": 1.0, "clip_norm": 0.5, "expected_batch": 30, "generator": 1} | changes
    return model, getattr(dpsgd, kind)(model.parameters(), 0.05, **settings), dpsgd.Ledger(1e-5)


def train(mine, **changes):
    settings = {"data": people(), "steps": 11, "every": 4, "device": "cuda", "generator": 2, "show": False}
    return dpsgd.fit(*mine, **settings | changes)


def weights(model):
    return torch.cat([parameter.detach().cpu().flatten() for parameter in model.parameters()])


def length(tensors):
    return float(sum(tensor.double().square().sum() for tensor in tensors)) ** 0.5


# ---- the clipped sum


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["CNN", "words", "30 layers"])
def test_the_sum_is_the_cpus_in_double_precision(name, engine):
    data, model = people(40), model_of(name)
    exact = dpsgd.clipped_sum(model.double(), training.cross_entropy, *inputs_of(data, torch.float64), 0.5, "loop")
    model = model_of(name).cuda()
    found = dpsgd.clipped_sum(
        model, training.cross_entropy, data.train_inputs.cuda(), data.train_targets.cuda(), 0.5, engine
    )
    torch.testing.assert_close(found.norms.cpu().double(), exact.norms, rtol=1e-5, atol=1e-6)
    for parameter, total in exact.sums.items():
        assert length([found.sums[parameter].cpu() - total]) <= 1e-5 * length(exact.sums.values()), parameter


def inputs_of(data, dtype):
    return data.train_inputs.to(dtype), data.train_targets


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("precision", ["float32", "tf32", "bf16"])
def test_no_clipped_gradient_is_longer_than_the_clip_norm(precision, engine):
    """In passes of low precision, inside an autocast of somebody else's, and where everybody may use TF32."""
    data, model = people(4), model_of("CNN").cuda()
    was = torch.backends.fp32_precision
    for anothers in (False, True):
        try:
            torch.backends.fp32_precision = "tf32" if anothers else was
            with torch.autocast("cuda", torch.bfloat16, enabled=anothers):
                for i in range(4):
                    one = data.train_inputs[i : i + 1].cuda(), data.train_targets[i : i + 1].cuda()
                    sums = dpsgd.clipped_sum(model, training.cross_entropy, *one, 0.01, engine, precision).sums
                    assert length(sums.values()) == pytest.approx(0.01, rel=1e-5)
                    assert {total.dtype for total in sums.values()} == {torch.float32}
        finally:
            torch.backends.fp32_precision = was


def test_convolutions_keep_no_more_than_they_may(monkeypatch):
    """All layers together: with nothing kept, the most memory is smaller by what was kept before."""
    model = nn.Sequential(*[nn.Conv2d(32, 32, 3, padding=1) for _ in range(8)], nn.Flatten(), nn.Linear(32 * 64, 2))
    model, inputs, targets = model.cuda(), torch.rand(512, 32, 8, 8).cuda(), torch.zeros(512).long().cuda()
    a_layer = 512 * 32 * 32 * 9
    most, sums = {}, {}
    for kept in (8, 2, 0):
        monkeypatch.setattr(layers, "KEPT", kept * a_layer)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        sums[kept] = dpsgd.clipped_sum(model, training.cross_entropy, inputs, targets, 1.0).sums
        most[kept] = torch.cuda.max_memory_allocated() - before
    assert most[8] - most[2] > 4 * 4 * a_layer
    assert most[2] - most[0] > 4 * a_layer
    for name, total in sums[8].items():
        torch.testing.assert_close(sums[0][name], total, rtol=1e-4, atol=1e-5)


# ---- the clipped sum as one graph


def sums_of(model, parts_of_batch, precision="float32", room=cuda_graphs.ROOM):
    """What an optimizer that records graphs finds of each part, and the graphs."""
    optimizer = parts(model)[1]
    optimizer.graphs.room = room
    found = [optimizer.accumulate(model, training.cross_entropy, *part, precision=precision) for part in parts_of_batch]
    return found, optimizer.graphs


def parts_of(counts, spoiled=None):
    data = people(2000)
    inputs, targets = data.train_inputs.cuda(), data.train_targets.cuda()
    if spoiled is not None:
        inputs[spoiled] = math.nan
    return [(inputs[i : i + count], targets[i : i + count]) for i, count in enumerate(counts)]


def recorded(kept):
    return [one for one in kept._made.values() if isinstance(one, cuda_graphs.Recorded)]


def same(found, expected, far=1e-6):
    for one, other in zip(found, expected, strict=True):
        longest = length(other.sums.values())
        for name, total in other.sums.items():
            assert length([one.sums[name] - total]) <= far * longest, name
        torch.testing.assert_close(one.norms, other.norms, rtol=1e-5, atol=1e-7, equal_nan=True)
        torch.testing.assert_close(one.losses, other.losses, rtol=1e-5, atol=1e-6, equal_nan=True)
        torch.testing.assert_close(one.outputs, other.outputs, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("name", ["CNN", "30 layers"])
def test_a_graph_gives_the_same_sums(name):
    """For parts of many sizes, of which those of one size in the grid go by one graph; each keeps its own result."""
    model, batch = model_of(name).cuda(), parts_of([1000, 990, 1000, 64, 50, 64, 1, 1, 993, 994])
    found, kept = sums_of(model, batch)
    expected, _ = sums_of(model, batch, room=0)
    same(found, expected)
    assert sorted(len(one.inputs) for one in recorded(kept)) == [32, 64, 1024]


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_a_graph_of_low_precision_clips_as_without(precision):
    model, batch = model_of("CNN").cuda(), parts_of([400] * 3)
    found, kept = sums_of(model, batch, precision)
    same(found, sums_of(model, batch, precision, room=0)[0], 1e-5)
    assert len(recorded(kept)) == 1


def test_a_row_that_is_not_finite_counts_as_0_in_a_graph():
    model, batch = model_of("CNN").cuda(), parts_of([400] * 6, spoiled=3)  # which is in the first four
    found, kept = sums_of(model, batch)
    assert [int((~one.counted).sum()) for one in found] == [1, 1, 1, 1, 0, 0]
    same(found, sums_of(model, batch, room=0)[0])
    assert [one.wrong for one in recorded(kept)] == [3]


def test_a_graph_that_is_hardly_ever_right_is_given_up():
    batch = parts_of([400] * (cuda_graphs.PATIENCE + 2), spoiled=300)
    _, kept = sums_of(model_of("CNN").cuda(), batch)
    assert list(kept._made.values()) == [cuda_graphs.IN_VAIN]


def test_a_graph_sees_the_weights_as_they_are():
    ends = []
    for room in (cuda_graphs.ROOM, 0):
        model = model_of("CNN").cuda()
        optimizer = parts(model, noise_multiplier=1e-9)[1]
        optimizer.graphs.room = room
        for part in parts_of([400] * 6):
            optimizer.accumulate(model, training.cross_entropy, *part)
            optimizer.step()
        ends.append(weights(model))
    torch.testing.assert_close(*ends, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:the clipped sums go on")
@pytest.mark.parametrize("what", ["dropout", "a loss of one's own", "no room", "a wait"])
def test_what_cannot_be_recorded_goes_on_without(what, monkeypatch):
    model, loss = model_of("dropout" if what == "dropout" else "CNN").cuda(), training.cross_entropy
    optimizer = parts(model)[1]
    if what == "no room":
        optimizer.graphs.room = 0
    if what == "a wait":
        real = cuda_graphs.masked_sum
        monkeypatch.setattr(cuda_graphs, "masked_sum", lambda *given: (real(*given), given[3].sum().item())[0])
    for part in parts_of([64] * 4):
        by = (lambda outputs, targets: loss(outputs, targets)) if what == "a loss of one's own" else loss
        found = optimizer.accumulate(model, by, *part)
        if what != "dropout":
            same([found], [dpsgd.clipped_sum(model, loss, *part, 0.5)])
    assert recorded(optimizer.graphs) == []


def test_what_cannot_be_recorded_is_said_once_and_in_words(monkeypatch):
    real = cuda_graphs.masked_sum
    monkeypatch.setattr(cuda_graphs, "masked_sum", lambda *given: (real(*given), given[3].sum().item())[0])
    with pytest.warns(UserWarning, match="go on without a CUDA graph, since this cannot be recorded") as said:
        sums_of(model_of("CNN").cuda(), parts_of([64] * 5))
    assert len([one for one in said if "CUDA graph" in str(one.message)]) == 1


def test_fit_records_and_forgets():
    made = []
    mine = parts("CNN")
    train(mine, callback=lambda _: made.append(len(recorded(mine[1].graphs))))
    assert made[-1] >= 1
    assert recorded(mine[1].graphs) == []


@both
def test_a_run_by_graphs_is_the_run_without(kind, monkeypatch):
    ends = []
    for room in (cuda_graphs.ROOM, 0):
        monkeypatch.setattr(cuda_graphs, "ROOM", room)
        mine = parts("CNN", kind, noise_multiplier=1e-9, **({"eps": 1.0} if kind == "NoisyAdam" else {}))
        run = train(mine, steps=30)
        ends.append((weights(mine[0]), run.losses))
    torch.testing.assert_close(ends[0][0], ends[1][0], rtol=1e-3, atol=1e-5)
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-4)


# ---- the noise


def noise_of(steps, **changes):
    """What steps without anybody add to the sum, from the movement of the weights; one convolution in channels_last."""
    model = nn.Sequential(nn.Conv2d(16, 32, 4).to(memory_format=torch.channels_last), nn.Linear(50, 60))
    model = model.double().cuda()
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    optimizer = dpsgd.NoisySGD(
        model.parameters(),
        1.0,
        **{"noise_multiplier": 2.0, "clip_norm": 0.5, "expected_batch": 1, "generator": 1} | changes,
    )
    found = []
    for _ in range(steps):
        optimizer.step()
        found.append(-weights(model))
        for parameter in model.parameters():
            nn.init.zeros_(parameter)
    assert optimizer.noise_scale == pytest.approx(float(found[-1].square().mean()) ** 0.5, rel=1e-6)
    return torch.stack(found)


def test_noise_is_normal_and_each_steps_its_own():
    noise = noise_of(30)
    assert stats.kstest(noise.flatten(), "norm").pvalue > RARE
    assert len(noise.unique()) == noise.numel()
    apart = (noise[:-1] * noise[1:]).sum() / (noise[1:].numel() ** 0.5)
    assert abs(float(apart)) < stats.norm.isf(RARE / 2)


def test_the_same_seed_gives_the_same_noise_and_none_a_new_one():
    draws = [noise_of(2, generator=generator).numpy().tobytes() for generator in (1, 1, 2, None, None)]
    assert draws[0] == draws[1]
    assert len(set(draws)) == 4


@pytest.mark.parametrize(("kind", "options"), [("NoisySGD", {"momentum": 0.9}), ("NoisyAdam", {"eps": 1.0})])
def test_without_noise_it_is_the_cpus_step(kind, options):
    """With a large eps, since Adam makes much of the rounding of a gradient near zero."""
    ends = []
    for device in ("cpu", "cuda"):
        mine = parts("CNN", kind, noise_multiplier=1e-9, **options)
        train(mine, device=device)
        ends.append(weights(mine[0]))
    torch.testing.assert_close(*ends, rtol=1e-3, atol=1e-4)


def test_secure_noise_is_normal_and_lies_on_its_grid():
    noise = noise_of(30, generator="secure")
    assert stats.kstest(noise.flatten() / (1 + secure.ROUNDING), "norm").pvalue > RARE
    assert not torch.equal(*noise_of(2, generator="secure"))
    assert torch.equal(noise * (1 / secure.grid_of(1)), (noise * (1 / secure.grid_of(1))).round())


def off_the_lattice(noise, apart):
    """How far from whole numbers 2^32 e^(-r²/2) - 1/2 is, on average, for the pairs of float32 noise with the largest radius r.

    CUDA's generator makes two numbers from one radius sqrt(-2 ln((k + 1/2) / 2^32)), k whole; torch puts them `apart`.
    """
    pairs = noise.double().reshape(-1, 2, 2, apart)
    k = 2.0**32 * torch.exp(-pairs.square().sum(2) / 2).flatten() - 0.5
    k = k[k < 2**14]
    assert len(k) > 20
    return float((k - k.round()).abs().mean())


def test_float32_noise_of_a_gpu_tells_who_is_in():
    """The attack of test_secure.py on the other generator: which of two sums the noise was added to."""
    gpu = torch.cuda.get_device_properties(0)
    apart = gpu.multi_processor_count * (gpu.max_threads_per_multi_processor // 256) * 256
    mia = torch.rand(96 * apart, generator=torch.Generator("cuda").manual_seed(3), device="cuda")
    sums = [mia / mia.norm(), torch.zeros_like(mia)]
    for there in (0, 1):
        layer = nn.Linear(1, len(mia), bias=False).cuda()
        nn.init.zeros_(layer.weight)
        settings = {"noise_multiplier": 8.0, "clip_norm": 1.0, "expected_batch": 1, "generator": 1}
        optimizer = dpsgd.NoisySGD(layer.parameters(), 1.0, **settings)
        person = (torch.ones(1, 1).cuda(), torch.zeros(1).cuda())
        if there == 0:
            optimizer.accumulate(layer, lambda outputs, _: outputs @ mia, *person)
        optimizer.step()
        noisy = -layer.weight.detach()[:, 0]
        found = [off_the_lattice((noisy - total) / 8, apart) for total in sums]
        assert found[there] < 0.1 < 0.15 < found[1 - there], found


# ---- fit


@both
@pytest.mark.parametrize("generator", [lambda: 1, lambda: None, lambda: torch.Generator("cpu").manual_seed(1)])
def test_every_generator_will_do(kind, generator):
    mine = parts(kind=kind, generator=generator())
    assert dpsgd.inspect(train(mine, generator=generator())).ok
    assert mine[2].runs == [(1.0, 0.1, 11)]


@both
def test_a_secure_run(kind):
    data, model = people(), model_of("dropout").double()
    data = replace(data, train_inputs=data.train_inputs.double(), test_inputs=data.test_inputs.double())
    run = train(parts(model, kind, generator="secure"), data=data, generator="secure")
    assert dpsgd.inspect(run).ok
    assert repr(run).endswith("at delta 1e-05")


@both
@pytest.mark.parametrize("value", [1e38, math.nan, math.inf], ids=str)
def test_a_row_cannot_stop_the_run(value, kind):
    """The neighbours are a row whose gradient is not finite, and the same row empty: sums differ by the kernels' order only."""
    data = people()
    inputs = data.train_inputs.clone()
    inputs[7] = value
    runs, ends = [], []
    for neighbour in (replace(data, train_inputs=inputs), data.emptied(7)):
        mine = parts("30 layers", kind, **{"eps": 1.0} if kind == "NoisyAdam" else {})
        mine[1].tie(mine[2], len(inputs))
        runs.append(train(mine, data=neighbour, steps=30))
        ends.append(weights(mine[0]))
    assert runs[0].batches == runs[1].batches
    assert sum(runs[0].left_out) > 0 == sum(runs[1].left_out)
    torch.testing.assert_close(*ends, rtol=1e-3, atol=1e-4)


def test_an_optimizer_moves_between_devices():
    """Its noise goes on: the state of its generator is on the CPU, wherever the numbers are drawn."""
    for kind in KINDS:
        mine = parts(kind=kind)
        mine[1].state_dict()
        for device in ("cpu", "cuda", "cpu"):
            assert dpsgd.inspect(train(mine, device=device)).ok
    train(mine, device="cuda")
    other = parts(seed=1, generator=9)
    other[1].load_state_dict(mine[1].state_dict())
    assert torch.equal(other[1].state_dict()["noise"]["generator"], mine[1].state_dict()["noise"]["generator"])


class Killing:
    """A loss that fails when it is called for the nth time."""

    def __init__(self, call):
        self.left = call

    def __call__(self, outputs, targets):
        self.left -= 1
        if not self.left:
            raise RuntimeError("killed")
        return training.cross_entropy(outputs, targets)


@both
@pytest.mark.parametrize("name", ["dropout", "CNN"])
def test_a_killed_run_goes_on(name, kind, tmp_path):
    """Coins, ledger and noise are the same; sums are, but for the order in which kernels add."""
    file = tmp_path / "checkpoint"
    ends = []
    for killed in (False, True):
        torch.manual_seed(0)
        if killed:
            with pytest.raises(RuntimeError, match="killed"):
                train(parts(name, kind), checkpoint=file, loss=Killing(4 + 10))
            torch.manual_seed(9)
        mine = parts(name, kind, seed=9 if killed else 0, generator=9 if killed else 1)
        run = train(mine, checkpoint=file if killed else None, generator=9 if killed else 2)
        ends.append((run.batches, run.noises, mine[2].runs, run.losses, weights(mine[0])))
    assert ends[0][:3] == ends[1][:3]
    assert ends[0][3] == pytest.approx(ends[1][3], rel=1e-4)
    torch.testing.assert_close(ends[0][4], ends[1][4], rtol=1e-3, atol=1e-4)


@contextlib.contextmanager
def little_memory(more):
    """No more bytes on the GPU than torch has reserved already, and so many more."""
    gc.collect()  # the graphs of other tests, which have memory of their own
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + more) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_a_batch_for_which_memory_lacks_comes_in_parts(capsys):
    mine = parts("CNN", expected_batch=20_000)
    with little_memory(2**27):
        train(mine, data=people(30_000), chunk=20_000, steps=2)
    assert capsys.readouterr().out.count("A batch comes in parts of ") == 1
    assert mine[2].runs == [(1.0, 20_000 / 30_000, 2)]


def test_a_run_for_which_memory_lacks_spends_nothing():
    mine = parts("CNN")
    with little_memory(0), pytest.raises(torch.OutOfMemoryError):
        train(mine, data=people(30_000))
    assert mine[2].runs == []


@both
@pytest.mark.parametrize(("name", "most"), [("30 layers", 1), ("CNN", 1), ("words", 2)])
def test_a_step_waits_for_the_gpu_once_by_a_graph_and_twice_without(name, most, kind):
    """Once its graphs are recorded: batches of this run have two sizes of graphs."""

    def waits(steps):
        mine = parts(name, kind)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            try:
                train(mine, steps=steps, every=1000)
            finally:
                torch.cuda.set_sync_debug_mode("default")
        return sum("synchroniz" in str(warning.message) for warning in found)

    waits(1)
    assert waits(60) - waits(30) <= most * 30


def test_nobody_elses_random_numbers_are_touched():
    for device in ("cpu", "cuda"):
        mine = parts("CNN")
        before = torch.get_rng_state(), torch.cuda.get_rng_state()
        train(mine, device=device)
        assert torch.equal(before[0], torch.get_rng_state())
        assert torch.equal(before[1], torch.cuda.get_rng_state())
