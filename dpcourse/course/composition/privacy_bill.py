"""One bill for a table in blocks."""

import math

import numpy as np

from dpcourse import composition
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, a_number, rounded

NAMES = (("north", "north-east"), ("south", "suburbs"), ("east", "estuary"), ("hills", "harbour"), ("coast", "centre"))


def _draw_queries(rng):
    """Blocks of changing names, in an order of chance; the block that pays most is asked the same thing twice.

    In one case it is not the one that is asked most often, in one its queries are the last, in one the first and cheap, in one
    many and small beside a dear one. Two names begin with the same letter.
    """
    return [_queries(rng, where) for where in ("anywhere", "few", "last", "first", "many")]


def _queries(rng, where):
    one, other = rng.choice(len(NAMES), 2, replace=False)
    names = [*rng.permutation(NAMES[one]).tolist(), str(rng.choice(NAMES[other]))]
    if where in ("first", "last"):  # in the alphabet too
        names.sort(reverse=where == "last")
    part = 0.3 if where == "first" else 1.0
    if where == "many":
        return {"queries": _many_beside_a_dear_one(rng, names)}
    dear = rounded(part * rng.uniform(0.6, 0.9))
    most = [(names[0], dear), (names[0], dear), (names[0], rounded(part * rng.uniform(0.3, 0.5)))]
    low = 0.1 if where == "few" else 0.2
    others = [(names[1], rounded(part * rng.uniform(low, 0.3))) for _ in range(4 if where == "few" else 2)]
    others += [(names[2], rounded(part * rng.uniform(0.1, 0.6)))] * int(rng.integers(1, 3))
    others = [others[i] for i in rng.permutation(len(others))]
    if where == "first":
        return {"queries": [*most, *others]}
    if where == "last":
        return {"queries": [*others, *most]}
    queries = [*most, *others]
    return {"queries": [queries[i] for i in rng.permutation(len(queries))]}


def _many_beside_a_dear_one(rng, names):
    """Five or six small queries on the first block, the first two alike; one on the second, larger than any of them."""
    small = [rounded(x) for x in rng.uniform(0.16, 0.24, size=int(rng.integers(4, 6)))]
    queries = [(names[0], epsilon) for epsilon in (small[0], *small)]
    queries += [(names[1], rounded(rng.uniform(0.5, 0.75))), (names[2], rounded(rng.uniform(0.1, 0.3)))]
    return [queries[i] for i in rng.permutation(len(queries))]


def _per_block(queries):
    spent = {}
    for block, epsilon in queries:
        spent.setdefault(block, []).append(epsilon)
    return spent.values()


QUERIES = to_say("{name}: 1 to 20 pairs (block, epsilon) in any order, each epsilon from 0.01 to 3")


def _any_queries(rng):
    """So many on so many blocks, each by chance; now and then all epsilons are equal, or have all their digits."""
    names = rng.permutation([name for pair in NAMES for name in pair])[: rng.integers(1, 7)]
    count, equal = int(rng.integers(1, 21)), rng.random() < 0.2
    digits = rounded if rng.random() < 0.8 else float
    epsilons = [digits(rng.uniform(0.01, 3)) for _ in range(count)]
    return [(str(rng.choice(names)), epsilons[0] if equal else epsilon) for epsilon in epsilons]


exercise = Exercise(
    title="One bill for a table in blocks",
    good_for="budgeting a report that is split by region, plan or year",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"queries": Made(_any_queries, QUERIES)}),
    draw=_draw_queries,
    reference=lambda queries: max(sum(epsilons) for epsilons in _per_block(queries)),
    returns=a_number,
    possible=Number(0, math.inf),
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
            "first one twice",
            "The first query of each block counts twice: you set the sum to it, and then add it again. Begin each sum at 0.",
            lambda queries: max(sum(epsilons) + epsilons[0] for epsilons in _per_block(queries)),
        ),
        Misconception(
            "first one lost",
            "The first query of each block does not count: you begin its sum at 0 and add only from the second on.",
            lambda queries: max(sum(epsilons[1:]) for epsilons in _per_block(queries)),
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
        Misconception(
            "doubled",
            "You doubled the bill, as where a person may be replaced by one of another block. Here one person is added or removed.",
            lambda queries: 2 * max(sum(epsilons) for epsilons in _per_block(queries)),
        ),
    ),
)
