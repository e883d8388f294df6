"""One bill for a table in blocks."""

import numpy as np

from dpcourse import composition
from dpcourse.engine import Exercise, Misconception, a_number, rounded


def _draw_queries(rng):
    """Several queries on each of three blocks, so that no two ways to count agree."""
    cases = []
    for _ in range(2):
        blocks = rng.permutation(["north"] * 3 + ["south"] * 2 + ["west"] * int(rng.integers(1, 3)))
        cases.append({"queries": [(str(block), rounded(rng.uniform(0.1, 1))) for block in blocks]})
    return cases


def _per_block(queries):
    spent = {}
    for block, epsilon in queries:
        spent.setdefault(block, []).append(epsilon)
    return spent.values()


exercise = Exercise(
    title="One bill for a table in blocks",
    good_for="budgeting a report that is split by region, plan or year",
    difficulty=2,
    minutes=10,
    points=2,
    draw=_draw_queries,
    reference=lambda queries: max(sum(epsilons) for epsilons in _per_block(queries)),
    returns=a_number,
    forbidden=(composition.sequential, composition.parallel),
    hints=(
        "Think of one person. She is in one block only. Which queries touch her data?",
        "Add up the epsilons within each block, in a dict from block to sum. The answer holds for everybody, so for the block that pays most.",
    ),
    misconceptions=(
        Misconception(
            "all added",
            "You added all epsilons, as if every query touched everybody. Each person is in one block, so only that block's queries count for her.",
            lambda queries: sum(epsilon for _, epsilon in queries),
        ),
        Misconception(
            "single largest",
            "You took the largest single epsilon. Two queries on the same block are about the same people: those add.",
            lambda queries: max(epsilon for _, epsilon in queries),
        ),
        Misconception(
            "swapped",
            "You took the largest within each block and added over the blocks. It is the other way round: add within, take the largest between.",
            lambda queries: sum(max(epsilons) for epsilons in _per_block(queries)),
        ),
        Misconception(
            "overwritten",
            "Only the last query of each block counted: `spent[block] = epsilon` forgets what stood there. Add to it.",
            lambda queries: max(epsilons[-1] for epsilons in _per_block(queries)),
        ),
        Misconception(
            "two largest",
            "You added the two blocks that pay most. That is the bill where a person may be replaced by one of another block; "
            "here one person is added or removed.",
            lambda queries: sum(sorted(sum(epsilons) for epsilons in _per_block(queries))[-2:]),
        ),
        Misconception(
            "average block",
            "You averaged over the blocks. A guarantee has to hold for the people in the block that pays most.",
            lambda queries: np.mean([sum(epsilons) for epsilons in _per_block(queries)]),
        ),
    ),
)
