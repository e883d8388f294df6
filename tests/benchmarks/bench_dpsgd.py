"""Samples per second and peak memory of a training step: PyTorch without privacy, our engines, `fit`, and Opacus 1.6.

    python tests/benchmarks/bench_dpsgd.py                          # CPU, one thread; Opacus only where it is installed
    python tests/benchmarks/bench_dpsgd.py --device cuda --batch 2048 --without "loop of one"

A step is forward, backward, clipping, noise, update, zero_grad, on a batch that is in memory already. All tools run
interleaved: in every round each takes some steps in a row, as in training, of which the first does not count, and the
table gives medians over all that count. "default" and "channels_last" are PyTorch's two
layouts of images in memory; our networks with convolutions come in channels_last, and book-keeping and Opacus' hooks are shown for both.
"fit" is a step of the whole training, with the coins of 60,000 people, the ledger and what is kept for the record: the
difference between a long run and a short one. On CUDA it comes with the number of its waits for the GPU in a step, and
every tool with the number of tasks that a step gives to the GPU: kernels, copies and graphs.
Peak memory: on CUDA what PyTorch allocated for this tool; on a CPU the growth of a fresh process over a few steps, in
MiB.
Not part of the ordinary test run.
"""

import argparse
import functools
import math
import statistics
import subprocess
import sys
import time
import warnings

import torch
from torch.nn import functional as F

from dpcourse import dpsgd
from dpcourse.dpsgd.training import cross_entropy

MODELS = {"paper CNN": dpsgd.paper_cnn, "MLP 784-128-10": dpsgd.mlp, "logistic": dpsgd.logistic}
LR, NOISE, CLIP = 0.01, 1.0, 1.0
PEOPLE = 60_000
ROW = 0.1  # seconds that a tool has in each round, or one step


def plain(layout):
    def make(model, inputs, targets, precision):
        model = model.to(memory_format=layout)
        optimizer = torch.optim.SGD(model.parameters(), lr=LR)

        def step():
            optimizer.zero_grad()
            with torch.autocast(inputs.device.type, torch.bfloat16, enabled=precision == "bf16"):
                loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()

        return step

    return make


def ours(engine, layout=torch.channels_last, generator=None, graphs=True):
    def make(model, inputs, targets, precision):
        model = model.to(memory_format=layout)
        if generator == "secure":
            model, inputs = model.double(), inputs.double()
        settings = {"noise_multiplier": NOISE, "clip_norm": CLIP, "expected_batch": len(inputs)}
        optimizer = dpsgd.NoisySGD(model.parameters(), LR, **settings, generator=generator)
        if not graphs:
            optimizer.graphs.room = 0

        def step():
            optimizer.accumulate(model, cross_entropy, inputs, targets, engine, precision)
            optimizer.step()

        return step

    return make


def opacus(mode, layout=torch.channels_last):
    def make(model, inputs, targets, precision):
        model = model.to(memory_format=layout)
        from opacus.grad_sample import GradSampleModule, GradSampleModuleFastGradientClipping
        from opacus.optimizers import DPOptimizer, DPOptimizerFastGradientClipping
        from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

        settings = {"noise_multiplier": NOISE, "max_grad_norm": CLIP, "expected_batch_size": len(inputs)}
        inner = torch.optim.SGD(model.parameters(), lr=LR)
        if mode == "ghost":
            model = GradSampleModuleFastGradientClipping(
                model, max_grad_norm=CLIP, use_ghost_clipping=True, loss_reduction="mean"
            )
            optimizer = DPOptimizerFastGradientClipping(inner, loss_reduction="mean", **settings)
            loss = DPLossFastGradientClipping(model, optimizer, torch.nn.CrossEntropyLoss(), "mean")
        else:
            model = GradSampleModule(model, loss_reduction="mean", force_functorch=mode == "functorch")
            optimizer = DPOptimizer(inner, loss_reduction="mean", **settings)
            loss = F.cross_entropy

        def step():
            optimizer.zero_grad()
            with torch.autocast(inputs.device.type, torch.bfloat16, enabled=precision == "bf16"):
                lost = loss(model(inputs), targets)
            lost.backward()
            optimizer.step()

        return step

    return make


TOOLS = {
    "PyTorch, default": plain(torch.contiguous_format),
    "PyTorch, channels_last": plain(torch.channels_last),
    "loop of one": ours("loop"),
    "vmap": ours("vmap"),
    "book-keeping, default": ours("book-keeping", torch.contiguous_format),
    "book-keeping": ours("book-keeping"),
    "book-keeping, no graph": ours("book-keeping", graphs=False),
    "book-keeping, secure": ours("book-keeping", generator="secure"),
    "Opacus hooks, default": opacus("hooks", torch.contiguous_format),
    "Opacus hooks": opacus("hooks"),
    "Opacus functorch": opacus("functorch"),
    "Opacus ghost": opacus("ghost"),
}


def made(tool, model, options):
    """The step of a tool, as a function without arguments."""
    inputs = torch.rand(options.batch, 1, 28, 28, device=options.device)
    targets = torch.randint(10, (options.batch,), device=options.device)
    step = TOOLS[tool](MODELS[model](generator=0).to(options.device), inputs, targets, options.precision)

    def synchronized():
        step()
        if options.device == "cuda":
            torch.cuda.synchronize()

    return synchronized


def seconds(steps, rounds):
    """{tool: median seconds of a step}, the tools interleaved."""
    found = {tool: [] for tool in steps}
    for _ in range(rounds):
        for tool, step in steps.items():
            step()
            start = before = time.perf_counter()
            while (now := before) < start + ROW:
                step()
                before = time.perf_counter()
                found[tool].append(before - now)
    return {tool: statistics.median(times) for tool, times in found.items()}


LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch"}
LAUNCHES |= {"cudaMemcpyAsync", "cudaMemsetAsync"}


def launches(step):
    """How many tasks a step gives to the GPU."""
    with torch.profiler.profile(acc_events=True) as profile:
        step()
    return sum(event.count for event in profile.key_averages() if event.key in LAUNCHES)


def in_fit(model, options):
    """Seconds that a step takes in fit, and how often in a step it waits for a GPU (nan on a CPU)."""
    inputs, targets = torch.rand(PEOPLE, 1, 28, 28), torch.randint(10, (PEOPLE,))
    classes = tuple("0123456789")
    data = dpsgd.Data(inputs, targets, inputs[:100], targets[:100], name="Noise", classes=classes)

    def run(steps):
        made = MODELS[model](generator=0)
        settings = {"noise_multiplier": NOISE, "clip_norm": CLIP, "expected_batch": options.batch}
        optimizer = dpsgd.NoisySGD(made.parameters(), LR, **settings)
        how = {"device": options.device, "precision": options.precision, "chunk": 4096, "every": steps, "show": False}
        start = time.perf_counter()
        dpsgd.fit(made, optimizer, dpsgd.Ledger(1e-5), data, steps, **how)
        return time.perf_counter() - start

    def waits(steps):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            run(steps)
            torch.cuda.set_sync_debug_mode("default")
        return sum("synchroniz" in str(warning.message) for warning in found)

    few, many = (10, 1010) if options.device == "cuda" else (10, 60)  # many: the plan of more steps takes longer, once
    run(few)
    taken = [run(many) - run(few) for _ in range(3)]
    counted = waits(many) - waits(few) if options.device == "cuda" else float("nan")
    return statistics.median(taken) / (many - few), counted / (many - few)


def peak(tool, model, options):
    """MiB that a few steps take at most."""
    if options.device == "cuda":
        before = torch.cuda.memory_allocated()  # of the other tools
        step = made(tool, model, options)
        torch.cuda.reset_peak_memory_stats()
        step(), step()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    command = [sys.executable, __file__, "--peak", tool, model, "--batch", str(options.batch)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_peak(tool, model, options):
    step = made(tool, model, options)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    before = peak_of_this_process()
    step(), step(), step()
    print(peak_of_this_process() - before)


def peak_of_this_process():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def print_row(batch, base, tool, taken, memory="", counted="", waits=""):
    speed = f"{batch / taken:>9,.0f} | {taken / base:>9.2f}"
    print(f"| {tool:24} | {speed} | {memory:>8} | {counted:>8} | {waits:>5} |", flush=True)


def main(options):
    torch.set_num_threads(1)
    for switch in (torch.backends.cuda.matmul, torch.backends.cudnn.conv):
        switch.fp32_precision = "tf32" if options.precision == "tf32" else "ieee"
    if options.peak:
        print_peak(*options.peak, options)
        return
    for model in options.model or MODELS:
        steps = {}
        for tool in [tool for tool in TOOLS if tool not in (options.without or [])]:
            try:
                steps[tool] = made(tool, model, options)
            except ImportError as error:
                print(f"{tool}: {error}", file=sys.stderr)
        times = seconds(steps, options.rounds)
        base = times["PyTorch, default"]
        print(f"\n{model}, batch {options.batch}, {options.device}, {options.precision}\n")
        print(f"| {'':24} | samples/s | x PyTorch | peak MiB | launches | waits |")
        print(f"|{'-' * 26}|----------:|----------:|---------:|---------:|------:|")

        row = functools.partial(print_row, options.batch, base)
        for tool, taken in times.items():
            counted = launches(steps[tool]) if options.device == "cuda" else ""
            row(tool, taken, f"{peak(tool, model, options):,.0f}", counted)
        taken, waits = in_fit(model, options)
        row("fit", taken, waits="" if math.isnan(waits) else f"{waits:.1f}")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument(
        "--without", action="append", choices=TOOLS, help="such as the loop, which takes seconds a step"
    )
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--precision", default="float32", choices=["float32", "tf32", "bf16"])
    parser.add_argument("--peak", nargs=2, metavar=("TOOL", "MODEL"), help=argparse.SUPPRESS)
    main(parser.parse_args())
