"""The test that beats a false claim."""

import itertools

import numpy as np
from scipy.special import ndtr, ndtri

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, rounded
from dpcourse.checking.calling.values import type_name
from dpcourse.checking.returns import in_a_row

OUTPUTS, RELEASES = 12, 20_000
RARE = 0.0005  # the chance of a leaking output without Mia


def _draw_boxes(rng):
    """Three black boxes. The first two leak on half of their outputs, a little each; the third on two rare ones, a lot.

    So the test of least alpha + beta beats the first claims alone, and the single most telling output beats no claim by as
    much as can be. What number an output has says nothing of it.
    """
    barely, by_far = rng.uniform(0.8, 0.9), rng.uniform(0.5, 0.6)
    return [
        _a_box(rng, barely),
        _a_box(rng, by_far),
        _a_box(rng, rng.uniform(1.12, 1.18), leak=rng.uniform(0.03, 0.04)),
    ]


def _a_box(rng, share, leak=0.0):
    """Releases of a box with a claim `share` times the mu of its halves; two outputs have `leak` each with Mia."""
    while True:
        box = _some_box(rng, share, leak)
        if _is_clear(**box) and (leak or not _other_orders_do(**box)):
            return box


def _some_box(rng, share, leak):
    places = rng.permutation(OUTPUTS)
    rare, others = (places[:2], places[2:]) if leak else (places[:0], places)
    half = len(others) // 2
    corner = rng.uniform(0.27, 0.33)  # the chance of the half that speaks of the other hypothesis
    p, q = np.zeros(OUTPUTS), np.zeros(OUTPUTS)
    for part, of_p, of_q in ((others[:half], corner, 1 - corner), (others[half:], 1 - corner, corner)):
        within = rng.uniform(0.25, 3, len(part))  # some outputs are rare in both lists, some frequent in both
        p[part], q[part] = of_p * within / within.sum(), of_q * within / within.sum()
    p[rare], q[rare] = RARE, leak
    p[others] *= 1 - p[rare].sum()
    q[others] *= 1 - q[rare].sum()
    mu = round(float(share * 2 * ndtri(1 - corner)), 2)
    return {
        "out": rng.choice(OUTPUTS, RELEASES, p=p / p.sum()),
        "inside": rng.choice(OUTPUTS, RELEASES, p=q / q.sum()),
        "mu": mu,
    }


def _is_clear(out, inside, mu):
    """Whether `q >= t * p` says what `q / p >= t` says for the best t = q/p: rounding shall fail nobody."""
    best, counts = _best(out, inside, mu), [np.bincount(values, minlength=OUTPUTS) for values in (out, inside)]
    forms = [(p, q, _ratio(p, q)[best == 1].min()) for p, q in (counts, _shares(out, inside))]
    with np.errstate(invalid="ignore"):  # an infinite ratio times 0
        return all(np.array_equal(q >= t * p, best == 1) for p, q, t in forms)


def _other_orders_do(out, inside, mu):
    """Whether the order of p alone, or of q alone, finds the best test too."""
    best = _best(out, inside, mu)
    return any(np.array_equal(_search(order)(out, inside, mu), best) for order in (_by_p, _by_q))


def _shares(out, inside):
    return np.bincount(out, minlength=OUTPUTS) / len(out), np.bincount(inside, minlength=OUTPUTS) / len(inside)


def _ratio(p, q):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(q / p, nan=1.0, posinf=np.inf)


def _below(alpha, beta, mu):
    """How far the point of a test lies below G_mu."""
    return ndtr(ndtri(1 - np.minimum(alpha, 1)) - mu) - beta


def _search(order=lambda p, q: np.argsort(-_ratio(p, q)), gain=_below, shift=0, shares=_shares):
    """The first so many outputs in an order, as many as gain most, or `shift` more."""

    def code(out, inside, mu):
        p, q = shares(out, inside)
        places = order(p, q)
        alpha, beta = np.cumsum(p[places]), 1 - np.cumsum(q[places])
        test = np.zeros(OUTPUTS, dtype=int)
        test[places[: int(np.argmax(gain(alpha, beta, mu))) + 1 + shift]] = 1
        return test

    return code


def _by_p(p, q):
    return np.argsort(p)


def _by_q(p, q):
    return np.argsort(-q)


def _marked(p, q, mu):
    """1 for each output whose corner lies below G_mu."""
    order = np.argsort(-_ratio(p, q))
    test = np.zeros(OUTPUTS, dtype=int)
    test[order[_below(np.cumsum(p[order]), 1 - np.cumsum(q[order]), mu) > 0]] = 1
    return test


def _where(says):
    """“in” for the outputs of which `says(p, q, mu)` is true."""
    return lambda out, inside, mu: np.asarray(says(*_shares(out, inside), mu)).astype(int)


_best = _search()


def _are_thresholds(tests):
    """Each says "in" on one side of a number, or always, or never."""
    changes = [np.abs(np.diff(np.asarray(test, dtype=int))).sum() for test in tests]
    return max(changes) <= 1


def _twelve_bits(value, case):
    """One 0 or 1 (or False or True) for each output."""
    array = in_a_row(value)
    if array is None:
        return say(
            "Return one array (or list) of {outputs} bits, not {type_name}.",
            outputs=OUTPUTS,
            type_name=type_name(value),
        )
    if len(array) != OUTPUTS:
        return say(
            "Return one bit for each of the {outputs} outputs: 1 where the test says “in”, 0 where it says “out”. "
            "You return {returned}.",
            outputs=OUTPUTS,
            returned=len(array),
        )
    if not np.isin(array, (0, 1)).all():
        return say("Return 0s and 1s only. (No coin is needed: the point furthest below is a corner of the curve.)")
    return None


BOX = to_say(
    "20,000 numbers from 0 to 11 in `out`, and as many in `inside`; each of the twelve is in one of them at least; the claim `mu` is false"
)


def _any_box(rng):
    """Any chances, now and then of an output that never comes without Mia, or of one that alone speaks for "out"; one test alone is the best, by far enough."""
    tests = np.array(list(itertools.product([0, 1], repeat=OUTPUTS)))
    while True:
        p, q = (rng.dirichlet(np.full(OUTPUTS, rng.choice([0.5, 2]))) for _ in range(2))
        if rng.random() < 0.2:
            p, q = q.copy(), q * rng.uniform(0.9, 1.1, OUTPUTS)
            p[rng.integers(OUTPUTS)] = rng.uniform(1, 2)
            p, q = p / p.sum(), q / q.sum()
        if rng.random() < 0.4:
            p[rng.integers(OUTPUTS)] = 0
        out, inside = (rng.choice(OUTPUTS, RELEASES, p=chances / chances.sum()) for chances in (p, q))
        box = {"out": out, "inside": inside, "mu": rounded(rng.uniform(0.2, 3))}
        p, q = _shares(out, inside)
        second, best = np.sort(_below(tests @ p, 1 - tests @ q, box["mu"]))[-2:]
        if best > max(0.01, second + 1e-4) and _is_clear(**box):
            return tuple(box.values())


exercise = Exercise(
    title="The test that beats a false claim",
    good_for="showing that a promise is broken, from nothing but what was released",
    difficulty=4,
    minutes=25,
    points=3,
    domain=Domain({"out, inside, mu": Made(_any_box, BOX)}, most=40),
    draw=_draw_boxes,
    reference=_best,
    means={
        "np.bincount(out, minlength=OUTPUTS) / len(out)": "the share of each output without Mia",
        "_ratio(p, q)": "the likelihood ratio of each output",
        "np.cumsum(p[places])": "α of the tests that say in for the largest ratios, one output more each time",
        "1 - np.cumsum(q[places])": "β of these tests",
        "gain(alpha, beta, mu)": "how far each test beats the claim",
    },
    returns=_twelve_bits,
    hints=(
        "`np.bincount(out, minlength=12) / len(out)` estimates p from the releases, and q in the same way. With p and q you know which tests are worth trying: 12 of them.",
        "The tests worth trying say “in” for the outputs with the largest q/p: the first one, the first two, and so on. For each compute α, β and G_mu(α) - β.",
        "Sort and add up as for the corners of a curve, without the first corner, (0, 1). `np.argmax` gives the place of the largest G_mu(α) - β. Which outputs have been moved to “in” by then? Their bits are 1.",
    ),
    misconceptions=(
        Misconception(
            "least sum of errors",
            "Your test says “in” wherever q is above p. It has the smallest alpha + beta, and still it may lie above G_mu, while another test at a smaller alpha lies below. Compare each corner of the curve with G_mu.",
            _where(lambda p, q, mu: q > p),
        ),
        Misconception(
            "one output",
            "You say “in” for the one output with the largest q/p. More outputs together may beat the claim by more: try the first two, the first three, and so on. (If you do: is beta 1 minus the share of `inside` that says “in”?)",
            _where(lambda p, q, mu: np.arange(OUTPUTS) == np.argmax(_ratio(p, q))),
        ),
        Misconception(
            "one too few",
            "One output is missing: the last one that was moved. `order[:i]` ends before the place i, so take `order[: i + 1]`.",
            _search(shift=-1),
        ),
        Misconception(
            "one too many",
            "You move one output more than you should. If your corners begin with (0, 1), the place i stands for i outputs: `order[:i]`.",
            _search(shift=1),
        ),
        Misconception(
            "the first below",
            "You stop at the first corner that lies below G_mu. Another one further on may lie further below: try them all.",
            _search(gain=lambda alpha, beta, mu: _below(alpha, beta, mu) > 1e-12),
        ),
        Misconception(
            "bits in the sorted order",
            "So many 1s are right, but they stand at the beginning. The bits belong to the numbers 0 to 11: put a 1 at each of the places `order[: i + 1]`.",
            lambda out, inside, mu: np.sort(_best(out, inside, mu))[::-1],
        ),
        Misconception(
            "shares of both together",
            "Your shares add up to 1/2 only, so every alpha is too small and every beta too large. Divide by the length of each array by itself.",
            _search(shares=lambda out, inside: [each / 2 for each in _shares(out, inside)]),
        ),
        Misconception(
            "corners that lie below",
            "You say “in” for each output whose corner lies below G_mu. A corner is the test that says “in” for all outputs moved so far: choose one corner, and take all outputs up to it.",
            lambda out, inside, mu: _marked(*_shares(out, inside), mu),
        ),
        Misconception(
            "each by itself",
            "You try each output by itself. Outputs that beat nothing alone may do so together: move them one after the other, and add up.",
            _where(lambda p, q, mu: _below(p, 1 - q, mu) > 0),
        ),
        Misconception(
            "opposite",
            "You have it the wrong way round: 1 for the outputs at which the best test says “out”. 1 means “in”, and the outputs that say so are those more frequent in `inside`: q is counted there, p in `out`.",
            lambda out, inside, mu: 1 - _best(out, inside, mu),
        ),
        Misconception(
            "sorted by p",
            "You moved the outputs in the order of p alone, the rarest first. An output that is rare with Mia too says little: sort by the ratio q/p.",
            _search(_by_p),
        ),
        Misconception(
            "sorted by q",
            "You moved the outputs in the order of q alone. An output that is frequent without Mia too says little: sort by the ratio q/p.",
            _search(_by_q),
        ),
        Misconception(
            "sorted by the difference",
            "You moved the outputs in the order of q - p. A rare output with a large q/p then comes too late: sort by the ratio.",
            _search(lambda p, q: np.argsort(p - q)),
        ),
        Misconception(
            "ratio above e^mu",
            "You say “in” where q is above e^mu p. mu is no epsilon: no single ratio breaks a claim of mu-GDP. Compare the points (alpha, beta) with G_mu.",
            _where(lambda p, q, mu: q > np.exp(mu) * p),
        ),
        Misconception(
            "furthest above",
            "You chose the corner furthest above G_mu. The claim is beaten below: take the largest G_mu(alpha) - beta.",
            _search(gain=lambda alpha, beta, mu: -_below(alpha, beta, mu)),
        ),
        Misconception(
            "threshold",
            "Your test is a threshold on the number itself. Or does your search end at its beginning, since it moves the outputs with the smallest q/p first (`np.argsort` sorts upwards)? What number the box prints says nothing here: sort by q/p.",
            lambda out, inside, mu: np.arange(OUTPUTS) >= OUTPUTS // 2,
            recognise=lambda cases, values: _are_thresholds(values),
        ),
        Misconception(
            "always out",
            "Your test never says “in”: alpha is 0 and beta is 1, which beats nothing. A search ends there if none of the tests that it tries beats the claim. Are p and q shares of the releases, and not counts? Do you move the outputs with the largest q/p first, and take the largest G_mu(alpha) - beta? (What number the box prints says nothing.)",
            _where(lambda p, q, mu: p < 0),
        ),
        Misconception(
            "always in",
            "Your test always says “in”: alpha is 1 and beta is 0, which beats nothing. A search ends there if none of the tests that it tries beats the claim. Are p and q shares of the releases, and not counts? Do you move the outputs with the largest q/p first, and take the largest G_mu(alpha) - beta? (What number the box prints says nothing, and `np.argsort` sorts upwards.)",
            _where(lambda p, q, mu: p >= 0),
        ),
    ),
)
