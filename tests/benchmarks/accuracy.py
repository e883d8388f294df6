"""Accuracy on the test parts of the digits and of Fashion-MNIST at epsilon 3, delta 1e-5, over seeds, with the recipes.

    OMP_NUM_THREADS=1 python tests/benchmarks/accuracy.py            # Fashion-MNIST only where its 60,000 images can be had
    OMP_NUM_THREADS=1 python tests/benchmarks/accuracy.py --choice   # the recipes' neighbours, where the recipes were chosen

epsilon is the certified upper bound of the ledger. The test parts had no say in the recipes: DIGITS was chosen on
5,000 of MNIST's images made like the digits, FASHION_MNIST by training on 50,000 of the training images and testing on
the other 10,000 (see dpcourse/dpsgd/recipes.py for what that means for privacy). Not part of the ordinary test run.
"""

import argparse
import dataclasses
import functools
import statistics
import time

import torch
from torch.nn import functional as F

from dpcourse import dpsgd
from dpcourse.dpsgd import recipes

GOALS = {"Digits": 93.0, "Fashion-MNIST": 83.5}
CHUNK = 256  # on a CPU faster than the default, as its cache is small
COLUMNS = "{:50} {:>5} {:>9} {:>7} {:>7} {:>7} {:>8} {:>9}"


def measure(what, data, recipe, seeds, device, goal=""):
    """Train once for each seed and print a row."""
    runs, start = [], time.perf_counter()
    for seed in range(seeds):
        model, optimizer, ledger = recipe.start(data, generator=seed)
        fit = functools.partial(dpsgd.fit, chunk=CHUNK, device=device, generator=seed, show=False)
        runs.append(fit(model, optimizer, ledger, data, recipe.steps))
    seconds = (time.perf_counter() - start) / seeds
    accuracies, epsilon = [run.accuracy for run in runs], max(run.epsilon for run in runs)
    numbers = (statistics.mean(accuracies), statistics.pstdev(accuracies), min(accuracies))
    accuracy, spread, lowest = (f"{100 * number:.2f}" for number in numbers)
    print(COLUMNS.format(what, seeds, accuracy, spread, lowest, goal, f"{epsilon:.4f}", f"{seconds:.1f}"), flush=True)


def results(seeds, device):
    for data, recipe in ((dpsgd.digits(), recipes.DIGITS), (dpsgd.fashion_mnist(), recipes.FASHION_MNIST)):
        what = f"{data.name}, {recipe.optimizer.func.__name__}, {recipe.model.__name__}"
        if recipe is recipes.DIGITS or data.name != "Digits":
            measure(what, data, recipe, seeds, device, goal=f"{GOALS[data.name]:.1f}")


def choice(seeds, device):
    for data, recipe in ((mnist_like_digits(), recipes.DIGITS), (fashion_mnist_held_out(), recipes.FASHION_MNIST)):
        for what, neighbour in neighbours(recipe).items() if data else ():
            measure(f"{data.name}: {what}", data, neighbour, seeds, device)


def neighbours(recipe):
    """The recipe, and it with half and with twice of each setting, within the same epsilon."""
    lr = recipe.optimizer.keywords["lr"]
    found = {"the recipe": recipe}
    for name, factor in (("half", 0.5), ("twice", 2)):
        optimizer = functools.partial(recipe.optimizer, lr=factor * lr)
        found[f"{name} the learning rate"] = dataclasses.replace(recipe, optimizer=optimizer)
        found[f"{name} the clipping norm"] = dataclasses.replace(recipe, clip_norm=factor * recipe.clip_norm)
        found[f"{name} the steps"] = within(recipe, steps=int(factor * recipe.steps))
        found[f"{name} the sample rate"] = within(recipe, sample_rate=factor * recipe.sample_rate)
    return found


def within(recipe, **changes):
    changed = dataclasses.replace(recipe, **changes)
    noise = dpsgd.noise_for(changed.epsilon, changed.delta, changed.sample_rate, changed.steps)
    return dataclasses.replace(changed, noise_multiplier=noise)


def mnist_like_digits():
    """As many images of MNIST to train on as there are digits, and 3,563 to test on; None where MNIST cannot be had."""
    data = dpsgd.mnist()
    if data.name != "MNIST":
        return None
    inputs = torch.stack([like_a_digit(image[0]) for image in data.train_inputs[:5000]])[:, None]
    return split(data, inputs, data.train_targets[:5000], 1437, "MNIST like the digits")


def like_a_digit(image):
    """Cut out, stretched to 32 rows, made black and white, and counted in cells of 4 x 4: how the digits were made."""
    rows, columns = (torch.nonzero(image.amax(axis) > 0.4).flatten() for axis in (1, 0))
    cut = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    width = min(max(round(32 * cut.shape[1] / cut.shape[0]), 8), 32)
    bits = F.interpolate(cut[None, None], size=(32, width), mode="bilinear")[0, 0] > 0.4
    left = (32 - width) // 2
    return F.pad(bits.float(), (left, 32 - width - left)).unflatten(1, (8, 4)).unflatten(0, (8, 4)).mean((1, 3))


def fashion_mnist_held_out():
    """The training part alone, 50,000 to train on and 10,000 to test on; None where Fashion-MNIST cannot be had."""
    data = dpsgd.fashion_mnist()
    if data.name != "Fashion-MNIST":
        return None
    return split(data, data.train_inputs, data.train_targets, 50_000, "Fashion-MNIST held out")


def split(data, inputs, targets, n, name):
    return dpsgd.Data(inputs[:n], targets[:n], inputs[n:], targets[n:], name, data.classes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--choice", action="store_true")
    arguments = parser.parse_args()
    print(COLUMNS.format("", "seeds", "accuracy", "spread", "lowest", "goal", "epsilon", "s per run"))
    (choice if arguments.choice else results)(arguments.seeds, arguments.device)
