"""The trade-off function of two lists of probabilities."""

import itertools

import numpy as np

from dpcourse import tradeoff
from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number
from dpcourse.checking.calling.values import type_name
from dpcourse.checking.returns import in_a_row
from dpcourse.course.gdp.shared import random_probabilities, some_probabilities


def _draw_laws(rng):
    """One pair without zeros, and one in which an output has p = 0 and another has q = 0; all that one could sort by differs.

    The output with p = 0 has q = 0.02, so that it comes late for whoever adds a small number to p.
    """
    cases = []
    while len(cases) < 2:
        size = int(rng.integers(5, 7))
        p, q = random_probabilities(rng, size), random_probabilities(rng, size)
        if cases:
            p.insert(int(rng.integers(size)), 0.0)
            q.insert(int(rng.integers(size)), 0.0)
        p, q = np.array(p), np.array(q)
        if len(cases) == 1 and (p + q).all():
            more, q[p.argmin()] = q[p.argmin()] - 0.02, 0.02
            q[q.argmax()] = round(q.max() + more, 2)
        if (p + q).all() and _all_differ(p, q) and 0.15 < np.abs(p - q).sum() / 2 < 0.8:
            cases.append({"p": p, "q": q})
    return cases


def _all_differ(p, q):
    """Whether no two outputs are equal in anything by which they could be sorted, and an output with p = 0 would come late."""
    keys = [p, q, q - p, np.abs(q - p), _ratio(p, q)[p > 0], np.abs(np.log(_ratio(p, q)[p * q > 0]))]
    return all((np.diff(np.sort(key)) > 0.005).all() for key in keys) and (p.all() or _zero_tells(p, q))


def _zero_tells(p, q):
    """Whether it shows what is done about an output with p = 0: another number for its ratio, or something added to p."""
    ratio = np.where(p > 0, q / np.where(p > 0, p, 1), -1.0)
    replaced = [np.where(p > 0, ratio, instead) for instead in (-1.0, 1.0, q)]
    added = [key(c)(p, q) for key in (_with_more, _not_below) for c in SMALL]
    there, here = ({tuple(np.argsort(-key)) for key in keys} for keys in (replaced, added))
    return not there & here and tuple(_best(p, q)) not in here


def _ratio(p, q):
    with np.errstate(divide="ignore"):
        return q / p


def _corners(p, q, order):
    """Where the outputs are moved to the side "in" in this order."""
    return np.r_[0, np.cumsum(p[order])], np.r_[1, 1 - np.cumsum(q[order])]


def _best(p, q):
    return np.argsort(-_ratio(p, q))


def _sorted_by(key):
    """The corners with the outputs sorted by another key, the largest first."""
    return lambda p, q: _corners(p, q, np.argsort(-key(p, q), kind="stable"))


def _apart(p, q, of_p=1, of_q=1):
    """The corners if each list is sorted by itself, upwards or (-1) downwards."""
    return np.r_[0, np.cumsum(np.sort(p)[::of_p])], np.r_[1, 1 - np.cumsum(np.sort(q)[::of_q])]


def _any_of(*codes):
    """recognise: whether the values are what one of the codes gives in every case."""

    def recognise(cases, values):
        return any(
            all(np.allclose(value, code(**case)) for case, value in zip(cases, values, strict=True)) for code in codes
        )

    return recognise


def _either_way(name, downwards, upwards, key):
    """Two misconceptions, each with its message: the outputs are sorted by the key, the largest first or the smallest."""
    return (
        Misconception(name, downwards, _sorted_by(key)),
        Misconception(f"{name}, upwards", upwards, _sorted_by(lambda p, q: -key(p, q))),
    )


def _with_more(c):
    """Ratios with c added to p."""
    return lambda p, q: q / (p + c)


def _not_below(c):
    """Ratios with p raised to c."""
    return lambda p, q: q / np.maximum(p, c)


def _log_ratio(p, q):
    """The size of ln(q/p), infinite where one of them is 0."""
    with np.errstate(divide="ignore"):
        return np.abs(np.log(_ratio(p, q)))


SMALL = (0.001, 0.01, 0.05, 0.1, 0.5, 1.0)  # what may be added to p, so that it is not 0


def _comes_late(cases, values):
    """Right but for the place of the output with p = 0, which is not the first in the order."""
    late = False
    for case, value in zip(cases, values, strict=True):
        p, q, order = case["p"], case["q"], _best(case["p"], case["q"])
        first = int((p == 0).any())
        orders = [np.r_[order[first:place], order[:first], order[place:]] for place in range(first, len(order) + 1)]
        found = [np.allclose(value, _corners(p, q, each)) for each in orders]
        if not any(found):
            return False
        late |= not found[0]
    return late


def _two_lists(value, case):
    """alpha and beta, each with one number for each corner."""
    corners = len(case["p"]) + 1
    if isinstance(value, np.ndarray) and value.shape == (corners, 2):
        return say(
            "Return two arrays, first all alphas and then all betas: `return alpha, beta`. You return one pair for each corner."
        )
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 2:
        if isinstance(value, (list, tuple)) and len(value) == corners:
            return say("Return two arrays, first all alphas and then all betas: `return alpha, beta`.")
        return say("Return two arrays, `alpha, beta`, not {type_name}.", type_name=type_name(value))
    for name, entries in zip(("alpha", "beta"), value, strict=True):
        array = in_a_row(entries, kinds="iuf")
        if array is None:
            return say(
                "{name} must be an array (or list) of numbers, one for each corner, not {type_name}.",
                name=name,
                type_name=type_name(entries),
            )
        if len(array) != corners:
            return say(
                "{name} has {entries} entries, and there are {corners} corners for {outputs} outputs: the first is (0, 1), "
                "of the test that never says “in”, and each output that is moved adds one, also if its p or q is 0.",
                name=name,
                entries=len(array),
                corners=corners,
                outputs=corners - 1,
            )
        if not np.isfinite(array).all():
            return say(
                "{name} holds {entry}. A ratio q/0 may decide the order, but it must not be added up.",
                name=name,
                entry=array[~np.isfinite(array)][0],
            )
    return None


_two_lists.names = ("alpha", "beta")  # by which a diagnosis calls them


LAWS = to_say(
    "{name}: the probabilities of 2 to 10 outputs in whole percents, which add up to 1; one `p` may be 0, and one `q`; no two outputs have the same ratio"
)


def _any_laws(rng):
    while True:
        size = int(rng.integers(2, 11))
        p, q = np.array(some_probabilities(rng, size)), np.array(some_probabilities(rng, size))
        ratios = np.sort(_ratio(p, q)) if (p + q).all() else np.zeros(2)
        if (p == 0).sum() < 2 and (np.diff(ratios) > 0.001).all():
            return p, q


exercise = Exercise(
    title="The curve of two lists of probabilities",
    good_for="seeing at a glance everything that any attacker on a mechanism can reach",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain({"p, q": Made(_any_laws, LAWS)}),
    draw=_draw_laws,
    reference=lambda p, q: _corners(p, q, _best(p, q)),
    means={
        "np.argsort(-_ratio(p, q))": "the places, the largest q/p first",
        "-_ratio(p, q)": "the ratio q/p with a minus, so that the largest comes first",
    },
    returns=_two_lists,
    possible=Number(0, 1),
    forbidden=(tradeoff.TradeOff.from_probabilities,),
    hints=(
        "Try three outputs by hand: p = 0.5, 0.3, 0.2 and q = 0.1, 0.3, 0.6. Which output is moved to “in” first? What are α and β then?",
        "`np.argsort(x)` gives the places of x from the smallest entry to the largest, so `-x` gives the largest first. `p[order]` and `q[order]` are then in the order in which the outputs are moved.",
        "Moving an output adds its p to α and takes its q from β. `np.cumsum` adds up step by step; `np.r_[0, ...]` puts the first corner in front.",
    ),
    misconceptions=(
        Misconception(
            "smallest ratio first",
            "Your curve lies above 1 - alpha: you move the outputs with the smallest q/p first. Those say that Mia is out. `np.argsort` sorts upwards: start with the largest ratio.",
            lambda p, q: _corners(p, q, _best(p, q)[::-1]),
        ),
        *_either_way(
            "not sorted",
            "You moved the outputs in the reverse of the order in which they stand. The best tests begin with the largest q/p.",
            "You moved the outputs in the order in which they stand. The best tests begin with the largest q/p.",
            lambda p, q: np.arange(len(p)),
        ),
        *_either_way(
            "sorted by q",
            "You sorted by q alone, the largest first. An output that is frequent with Mia tells little if it is as frequent without her: sort by q/p.",
            "You sorted by q alone, the smallest first. An output that is frequent with Mia tells little if it is as frequent without her: sort by q/p.",
            lambda p, q: q,
        ),
        *_either_way(
            "sorted by p",
            "You sorted by p alone, the largest first. What tells is how much more frequent an output is with her: sort by q/p.",
            "You sorted by p alone, the smallest first. What tells is how much more frequent an output is with her: sort by q/p.",
            lambda p, q: p,
        ),
        Misconception(
            "sorted by the difference",
            "You sorted by q - p. That makes the corner with the smallest alpha + beta right, and not the others: the price of an output is its p, so sort by q/p.",
            _sorted_by(lambda p, q: q - p),
        ),
        Misconception(
            "sorted by how far apart",
            "You sorted by how unlike p and q are, whichever of them is larger, or by the difference upwards. An output with p above q says that Mia is out: it comes late. Sort by q/p.",
            _sorted_by(lambda p, q: np.abs(q - p)),
            recognise=_any_of(
                _sorted_by(lambda p, q: np.abs(q - p)), _sorted_by(_log_ratio), _sorted_by(lambda p, q: p - q)
            ),
        ),
        Misconception(
            "something added to p",
            "You added a number to p before you divided, raised p to one, or gave an output with p = 0 a ratio of your own, so as not to divide by 0. That changes the order: an output with p = 0 comes first, however small its q is.",
            _sorted_by(_with_more(0.01)),
            recognise=_any_of(*(_sorted_by(key(c)) for key in (_with_more, _not_below) for c in SMALL)),
        ),
        Misconception(
            "p = 0 last",
            "An output with p = 0 comes too late. It costs no false alarm at all, so it is the first to be moved: its ratio is infinite, and not 0, 1 or q.",
            _sorted_by(lambda p, q: np.where(p > 0, q / np.where(p > 0, p, 1), -1.0)),
            recognise=_comes_late,
        ),
        Misconception(
            "power",
            "Your second array is the power, which grows from 0 to 1. Beta is the chance to miss Mia: 1 minus it.",
            lambda p, q: (_corners(p, q, _best(p, q))[0], 1 - _corners(p, q, _best(p, q))[1]),
        ),
        Misconception(
            "first corner (0, 0)",
            "The curve begins with beta = 1: a test that never says “in” always misses Mia. The rest is right.",
            lambda p, q: (_corners(p, q, _best(p, q))[0], np.r_[0, _corners(p, q, _best(p, q))[1][1:]]),
        ),
        Misconception(
            "beta first",
            "The two arrays are in the wrong order: alpha first, then beta.",
            lambda p, q: _corners(p, q, _best(p, q))[::-1],
        ),
        Misconception(
            "from right to left",
            "These are the right corners, from right to left. Begin with the test that never says “in”, at (0, 1).",
            lambda p, q: tuple(each[::-1] for each in _corners(p, q, _best(p, q))),
        ),
        Misconception(
            "roles exchanged",
            "You exchanged p and q: that is T(Q, P). Alpha is counted with p, and the outputs to be moved first are frequent with Mia, under q.",
            lambda p, q: _corners(q, p, np.argsort(-_ratio(q, p))),
        ),
        Misconception(
            "sorted apart",
            "You sorted p and q each by itself, so that their entries no longer belong to the same outputs. Sort the places once, and use the same order for both.",
            _apart,
            recognise=_any_of(
                *(lambda p, q, ways=ways: _apart(p, q, *ways) for ways in itertools.product((1, -1), repeat=2))
            ),
        ),
        Misconception(
            "only p in order",
            "Alpha is added up in the order of the ratios, and beta in the order of the list. Both need the same order: `q[order]`.",
            lambda p, q: (_corners(p, q, _best(p, q))[0], _corners(p, q, np.arange(len(p)))[1]),
        ),
        Misconception(
            "not added up",
            "These are the steps, not the corners. A test says “in” for all the outputs moved so far: add up, with `np.cumsum`.",
            lambda p, q: (np.r_[0, p[_best(p, q)]], np.r_[1, 1 - q[_best(p, q)]]),
        ),
    ),
)
