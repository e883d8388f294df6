"""The noise of a running sum by the tree."""

import math

from dpcourse import matrix
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Misconception, Number, OneOf, Whole, a_number


def _draw(rng):
    return [
        {"t": int(8 * rng.integers(1, 4) + k), "steps": steps, "mu": float(f"{rng.uniform(*of):.3g}")}
        for k, steps, of in ((3, 64, (0.3, 0.8)), (7, 256, (1.5, 4)), (5, 32, (0.4, 0.9)))
    ]


def _by(rule):
    """A rule of (the layers of the tree, the blocks of the sum, steps, t, mu)."""
    return lambda t, steps, mu: float(rule(steps.bit_length(), t.bit_count(), steps, t, mu))


def _with_log(t, steps, mu):
    layers = math.log2(steps) + 1
    return math.sqrt(layers) / mu * math.sqrt(bin(t).count("1"))


exercise = Exercise(
    title="The noise of a running sum by the tree",
    good_for="comparing the tree with the two simple ways, at every step",
    difficulty=2,
    minutes=7,
    points=2,
    domain=Domain(
        {"t": Whole(1, 1024), "steps": OneOf((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)), "mu": Number(0.1, 5)},
        where=lambda t, steps, mu: t <= steps,
        where_told=to_say("`t` is at most `steps`"),
    ),
    draw=_draw,
    reference=_by(lambda layers, blocks, steps, t, mu: math.sqrt(layers * blocks) / mu),
    formulas=(_with_log,),
    means={
        "math.log2(steps) + 1": "the layers of the tree, as many as there are blocks with Mia",
        "math.sqrt(layers) / mu": "the deviation of the noise on one block",
        "bin(t).count('1')": "the number of blocks that make the running sum",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(matrix.error, matrix.errors),
    hints=(
        "Two numbers decide. In how many blocks is Mia's step, over all layers? That says how large the noise on each block must be. And how many "
        "blocks does the sum of t steps have?",
        "A tree over `steps` = 2^h steps has h + 1 layers, and Mia is in one block of each. She moves all block sums together by sqrt(h + 1). "
        'The running sum adds one block for each 1 among the binary digits of t: `bin(t).count("1")`. The squares of their noises add up.',
    ),
    misconceptions=(
        Misconception(
            "one layer short",
            "Your tree lacks a layer. Over 2^h steps there are h + 1: the single steps are a layer, and so is the block that holds all.",
            _by(lambda layers, blocks, steps, t, mu: math.sqrt((layers - 1) * blocks) / mu),
        ),
        Misconception(
            "noises added",
            "You added the deviations of the blocks. The noises are independent, so it is their squares that add.",
            _by(lambda layers, blocks, steps, t, mu: math.sqrt(layers) * blocks / mu),
        ),
        Misconception(
            "budget split",
            "You divide μ evenly, or add up Mia's changes: a μ of mu/(h + 1) for each layer. For Gaussian noise she moves the block sums by a length, "
            "the *root* of the number of layers.",
            _by(lambda layers, blocks, steps, t, mu: layers * math.sqrt(blocks) / mu),
        ),
        Misconception(
            "noise of one block",
            "That is the deviation of the noise on one block. The running sum of t steps adds several of them.",
            _by(lambda layers, blocks, steps, t, mu: math.sqrt(layers) / mu),
        ),
        Misconception(
            "one change",
            "You made the noise of a block as if Mia were in one block only. She is in one of each layer.",
            _by(lambda layers, blocks, steps, t, mu: math.sqrt(blocks) / mu),
        ),
        Misconception(
            "worst sum",
            "You let every sum add a block of every layer. How many blocks the sum of t steps has depends on t: one for each 1 among its binary digits.",
            _by(lambda layers, blocks, steps, t, mu: layers / mu),
        ),
        Misconception(
            "every block",
            "You let Mia change every block of the tree. She is in one block of each layer, and in no other.",
            _by(lambda layers, blocks, steps, t, mu: math.sqrt((2 * steps - 1) * blocks) / mu),
        ),
        Misconception(
            "t noises",
            "You let the running sum hold t noises, as with fresh noise in every step. The tree adds one noise for each block.",
            _by(lambda layers, blocks, steps, t, mu: math.sqrt(layers * t) / mu),
        ),
    ),
)
