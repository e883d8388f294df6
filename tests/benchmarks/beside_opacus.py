"""What engineers have, trained under epsilon 3 by dpcourse and by Opacus 1.6: whether it works, and seconds a step.

    python tests/benchmarks/beside_opacus.py            # needs opacus and transformers; about a minute on one thread

Each row is a model, its data and a loss. Both libraries take the same steps on the same Poisson batches, as their users
write them: `ours` and `theirs` are the lines that a user writes beside model and data, and are counted. Seconds are medians
of three, interleaved; Opacus is given its noise, since its calibration takes seconds and ours is within fit. An error is the
first line of what the library said. Not part of the ordinary test run.
"""

import inspect
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from dpcourse import dpsgd

EPSILON, DELTA, BATCH, STEPS = 3.0, 1e-5, 64, 8
cross_entropy = nn.CrossEntropyLoss(reduction="none")


# ---- models and data


class Transformer(nn.Module):
    def __init__(self, words=50, length=16, width=32):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.ask, self.know, self.give, self.last = (nn.Linear(width, width) for _ in range(4))
        self.norm, self.dense = (
            nn.LayerNorm(width),
            nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width)),
        )

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
        x = self.norm(x + F.scaled_dot_product_attention(self.ask(x), self.know(x), self.give(x)))
        return self.last((x + self.dense(x)).mean(1))[:, :2]


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        parts = [(nn.Conv2d(channels, channels, 3, padding=1), nn.GroupNorm(4, channels)) for _ in range(2)]
        self.layers = nn.Sequential(*parts[0], nn.ReLU(), *parts[1])

    def forward(self, x):
        return (x + self.layers(x)).relu()


class LoRA(nn.Module):
    """A frozen layer, and a product of two small ones beside it."""

    def __init__(self, width, rank=4):
        super().__init__()
        self.frozen = nn.Linear(width, width).requires_grad_(False)
        self.down, self.up = nn.Parameter(torch.randn(width, rank) / width), nn.Parameter(torch.zeros(rank, width))

    def forward(self, x):
        return self.frozen(x) + x @ self.down @ self.up


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Embedding(50, 32), nn.Linear(32, 2)

    def forward(self, words, mask):
        return self.last((self.words(words) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))


def classes(n, k=2):
    return torch.randint(k, (n,))


def tokens(n, words=50, length=16):
    return torch.randint(1, words, (n, length))


def of_transformers(name):
    import transformers

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    if name == "BERT":
        config = transformers.BertConfig(vocab_size=50, max_position_embeddings=16, **small)
        return dpsgd.Picked(transformers.BertForSequenceClassification(config), lambda out: out.logits)
    if name == "ViT":
        config = transformers.ViTConfig(image_size=16, patch_size=4, num_channels=1, **small)
        return dpsgd.Picked(transformers.ViTForImageClassification(config), lambda out: out.logits)
    config = transformers.GPT2Config(
        vocab_size=50, n_embd=32, n_layer=2, n_head=2, n_positions=16, pad_token_id=0, bos_token_id=1, eos_token_id=2
    )
    return dpsgd.Picked(transformers.GPT2ForSequenceClassification(config), lambda out: out.logits)


def resnet():
    start = nn.Conv2d(1, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.ReLU()
    return nn.Sequential(*start, Residual(16), Residual(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2))


def images(n):
    return torch.randn(n, 1, 16, 16)


def on_disk(n=10**6):
    file = Path(tempfile.mkdtemp()) / "rows.npy"
    rows = np.lib.format.open_memmap(file, "w+", np.float32, (n, 32))
    for start in range(0, n, 10**5):
        rows[start : start + 10**5] = np.random.default_rng(start).standard_normal((10**5, 32), np.float32)
    rows.flush()
    return np.load(file, mmap_mode="r")


def several(outputs, targets):
    return F.binary_cross_entropy_with_logits(outputs, targets, reduction="none").sum(1)


def named(n):
    return {"words": tokens(n), "mask": torch.ones(n, 16)}


def for_bert(n):
    return {"input_ids": tokens(n), "attention_mask": torch.ones(n, 16, dtype=torch.int64)}


N = 640
ROWS = {  # model, inputs, targets, loss, settings
    "transformer": (Transformer, tokens, classes, cross_entropy, {}),
    "ResNet with GroupNorm": (resnet, images, classes, cross_entropy, {}),
    "inputs in a dict": (Masked, named, classes, cross_entropy, {}),
    "LoRA": (
        lambda: nn.Sequential(LoRA(256), nn.ReLU(), LoRA(256)),
        lambda n: torch.randn(n, 256),
        classes,
        cross_entropy,
        {},
    ),
    "batch 4,096": (
        lambda: nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2)),
        lambda n: torch.randn(64 * n, 64),
        lambda n: classes(64 * n),
        cross_entropy,
        {"batch": 4096},
    ),
    "bf16": (resnet, images, classes, cross_entropy, {"precision": "bf16"}),
    "several labels": (
        lambda: nn.Linear(32, 5),
        lambda n: torch.randn(n, 32),
        lambda n: torch.randint(2, (n, 5)).float(),
        several,
        {},
    ),
    "10^6 rows on a disk": (
        lambda: nn.Linear(32, 2),
        lambda n: on_disk(),
        lambda n: classes(10**6),
        cross_entropy,
        {"batch": 1024},
    ),
    "BERT": (lambda: of_transformers("BERT"), for_bert, classes, cross_entropy, {}),
    "GPT-2": (lambda: of_transformers("GPT-2"), for_bert, classes, cross_entropy, {}),
    "ViT": (lambda: of_transformers("ViT"), lambda n: {"pixel_values": images(n)}, classes, cross_entropy, {}),
    "torch.compile": (lambda: torch.compile(resnet()), images, classes, cross_entropy, {}),
}


# ---- what a user writes


def ours(model, inputs, targets, loss, steps, batch=BATCH, precision="float32"):
    data = dpsgd.Data(inputs, targets)
    plan = dpsgd.plan(EPSILON, DELTA, len(data), batch, epochs=steps * batch / len(data))
    optimizer = dpsgd.NoisySGD(model.parameters(), lr=0.1, **plan.settings)
    return dpsgd.fit(
        model, optimizer, plan.ledger(), data, plan.steps, loss=loss, precision=precision, device="cpu", show=False
    ).epsilon


class Dataset(torch.utils.data.Dataset):
    def __init__(self, inputs, targets):
        self.inputs, self.targets = inputs, targets

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, row):
        if isinstance(self.inputs, dict):
            return {name: part[row] for name, part in self.inputs.items()}, self.targets[row]
        return torch.as_tensor(
            self.inputs[row].copy() if isinstance(self.inputs, np.ndarray) else self.inputs[row]
        ), self.targets[row]


def theirs(model, inputs, targets, loss, steps, batch=BATCH, precision="float32"):
    from opacus import PrivacyEngine

    loader = torch.utils.data.DataLoader(Dataset(inputs, targets), batch_size=batch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    engine = PrivacyEngine(accountant="prv")
    model, optimizer, loader = engine.make_private(
        module=model.train(), optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0
    )
    done = 0
    while done < steps:
        for x, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
                out = loss(model(**x) if isinstance(x, dict) else model(x), y).mean()
            out.backward()
            optimizer.step()
            done += 1
            if done == steps:
                break
    return engine.get_epsilon(DELTA)


def lines(function):
    return len(inspect.getsource(function).splitlines()) - 1


# ---- the table


def seconds_a_step(train):
    """Return the seconds of a step: of the difference between a longer and a shorter training, so that no start counts."""
    taken = []
    for steps in (STEPS, 3 * STEPS):
        start = time.perf_counter()
        epsilon = train(steps)
        taken.append(time.perf_counter() - start)
    return (taken[1] - taken[0]) / (2 * STEPS), epsilon


def tried(library, make, inputs, targets, loss, settings):
    torch.manual_seed(0)
    try:
        seconds, epsilon = seconds_a_step(lambda steps: library(make(), inputs, targets, loss, steps, **settings))
    except Exception as error:
        return None, f"{type(error).__name__}: {str(error).splitlines()[0][:70]}"
    return seconds, f"epsilon {epsilon:.3f}"


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    print(f"lines beside model and data: dpcourse {lines(ours)}, Opacus {lines(theirs)}, without calibration; a step")
    for name, (make, of, to, loss, settings) in ROWS.items():
        torch.manual_seed(0)
        inputs, targets = of(N), to(N)
        found = {
            library: [tried(library, make, inputs, targets, loss, settings) for _ in range(3)]
            for library in (ours, theirs)
        }
        cells = []
        for several_times in found.values():
            seconds = [one for one, _ in several_times if one is not None]
            said = several_times[-1][1]
            cells.append(f"{1e3 * statistics.median(seconds):8.1f} ms, {said}" if seconds else said)
        print(f"{name:22}| {cells[0]:32}| {cells[1]}", flush=True)


if __name__ == "__main__":
    main()
