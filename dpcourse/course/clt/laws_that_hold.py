"""Say which laws hold."""

import numbers

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of
from dpcourse.checking.calling.values import plain, type_name
from dpcourse.tradeoff import TradeOff


def _yes_or_no(value, case):
    """Five entries, each True or False, 1 or 0."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 5:
        return say("Return a list of five True or False, one for each law, not {type}.", type=type_name(value))
    if not all(isinstance(plain(entry), numbers.Real) and entry in (True, False) for entry in value):
        return say("Return True or False for each law. `np.all(...)` makes one of many.")
    return None


def _ratio_test(p, q):
    """T(p, q) of two lists of probabilities: reject the outcomes with the largest q/p first."""
    order = np.argsort(-q / p)
    alpha, beta = np.clip(np.cumsum(p[order]), 0, 1), np.clip(1 - np.cumsum(q[order]), 0, 1)
    return TradeOff.from_points(alpha, beta, repair=True)


def _tensor(f, g):
    return np.outer(f[0], g[0]).ravel(), np.outer(f[1], g[1]).ravel()


ALPHA = np.linspace(0, 1, 11)


TENSOR, PRODUCT, AVERAGE, CHAIN = "tensor", "product", "average", "chain"


REVERSED, MIXED = "reversed", "mixed"  # against monotony at every alpha, or at some


CANDIDATES = {
    PRODUCT: lambda f, g: lambda a: f(a) * g(a),
    AVERAGE: lambda f, g: lambda a: (f(a) + g(a)) / 2,
    CHAIN: lambda f, g: lambda a: f(np.clip(1 - g(a), 0, 1)),
    REVERSED: lambda f, g: lambda a: f(a) * (1 - g(a)),
    MIXED: lambda f, g: lambda a: f(a) * np.where(np.asarray(a) < 0.45, g(a), 1 - g(a)),
}


def _table(function):
    return [float(beta) for beta in function(ALPHA)]


def _inverted(function):
    """The smallest alpha with function(alpha) <= level, for a function that falls."""

    def smallest(levels):
        low, high = np.zeros_like(levels), np.ones_like(levels)
        for _ in range(60):
            middle = (low + high) / 2
            below = function(middle) <= levels
            low, high = np.where(below, low, middle), np.where(below, middle, high)
        return high

    return smallest


def _curves(name, rng):
    """What a candidate for the product makes of three mechanisms, as tables of beta at the alphas of ALPHA."""
    f, g, h = ((rng.dirichlet(np.full(3, 2)), rng.dirichlet(np.full(3, 2))) for _ in range(3))
    h = (g[0], 0.4 * g[0] + 0.6 * g[1])  # Q of h is nearer to P: h is more private than g
    nothing = (np.ones(1), np.ones(1))
    if name == TENSOR:
        pairs = {
            "f*g": _tensor(f, g),
            "g*f": _tensor(g, f),
            "f*h": _tensor(f, h),
            "(f*g)*h": _tensor(_tensor(f, g), h),
            "f*(g*h)": _tensor(f, _tensor(g, h)),
            "f*Id": _tensor(f, nothing),
            "Id*f": _tensor(nothing, f),
        }
        curves = {key: _table(_ratio_test(*pair)) for key, pair in pairs.items()}
        curves["(f*g)^-1"] = _table(_ratio_test(*_tensor(f, g)[::-1]))
        curves["f^-1*g^-1"] = _table(_ratio_test(*_tensor(f[::-1], g[::-1])))
        return {"f": _table(_ratio_test(*f)), **curves}
    times = CANDIDATES[name]
    f, g, h, nothing = (_ratio_test(*pair) for pair in (f, g, h, nothing))
    back = _inverted(times(f, g))
    return {
        "f": _table(f),
        "f*g": _table(times(f, g)),
        "g*f": _table(times(g, f)),
        "f*h": _table(times(f, h)),
        "(f*g)*h": _table(times(times(f, g), h)),
        "f*(g*h)": _table(times(f, times(g, h))),
        "f*Id": _table(times(f, nothing)),
        "Id*f": _table(times(nothing, f)),
        "(f*g)^-1": _table(back),
        "f^-1*g^-1": _table(times(f.inverse(), g.inverse())),
    }


def _draw_curves(rng):
    """Six candidates: the tensor product, and five others, of which the laws say different things.

    Of the tensor product f*g ends above f*h, at alpha = 1, by so little that the two are equal there; the two sides of the
    second law are equal everywhere, and nowhere to the last digit; and Id*f, of which no law speaks, is not f. Of two others
    f*g and g*f differ by a few millionths at one alpha only: at an end, or within. Of a third f*g begins above f*h by as little.
    """
    names = rng.permutation([TENSOR, *CANDIDATES])
    cases = [{"curves": _curves(name, rng)} for name in names]
    curves = {str(name): case["curves"] for name, case in zip(names, cases, strict=True)}
    curves[TENSOR]["f*g"][-1] += rng.uniform(2e-7, 8e-7)
    curves[TENSOR]["f*(g*h)"] = np.add(curves[TENSOR]["(f*g)*h"], 8e-7 * rng.permutation([0, *[-1, 1] * 5])).tolist()
    curves[TENSOR]["Id*f"][3] += 1e-4
    curves[PRODUCT]["g*f"][0] -= rng.uniform(2e-6, 8e-6)
    curves[AVERAGE]["g*f"][1] -= 2e-6
    curves[CHAIN]["f*h"][0] = curves[CHAIN]["f*g"][0] - rng.uniform(2e-6, 8e-6)
    return cases


def _equal(one, other):
    return bool(np.abs(np.subtract(one, other)).max() < 1e-6)


def _below(one, other):
    return bool((np.asarray(one) <= np.asarray(other) + 1e-6).all())


def _laws(commutes=None, associates=None, identity=None, monotone=None, inverse=None):
    """The right five answers, with some of them replaced: each a function of the curves."""
    tests = (
        commutes or (lambda c: _equal(c["f*g"], c["g*f"])),
        associates or (lambda c: _equal(c["(f*g)*h"], c["f*(g*h)"])),
        identity or (lambda c: _equal(c["f*Id"], c["f"])),
        monotone or (lambda c: _below(c["f*g"], c["f*h"])),
        inverse or (lambda c: _equal(c["(f*g)^-1"], c["f^-1*g^-1"])),
    )
    return lambda curves: [bool(test(curves)) for test in tests]


def _nowhere_above(c):
    """f*g <= f*h, without tolerance."""
    return (np.array(c["f*g"]) <= np.array(c["f*h"])).all()


def _with_comparison(equal, monotone=None):
    return _laws(
        monotone=monotone,
        commutes=lambda c: equal(c["f*g"], c["g*f"]),
        associates=lambda c: equal(c["(f*g)*h"], c["f*(g*h)"]),
        identity=lambda c: equal(c["f*Id"], c["f"]),
        inverse=lambda c: equal(c["(f*g)^-1"], c["f^-1*g^-1"]),
    )


def _any_curves(rng):
    """Those of any candidate. Mostly one of the betas is another, by far more than 1e-6 or by far less, or one more by less;
    or the laws hold, and all betas of one table are others by less than 1e-6."""
    all_others = rng.random() < 0.2
    of_product = all_others or rng.random() < 0.4
    curves = _curves(TENSOR if of_product else str(rng.choice(list(CANDIDATES))), rng)
    keys = ("f*Id", "Id*f") if rng.random() < 0.3 else sorted(curves)  # the two that are told apart least often
    betas = curves[str(rng.choice(keys))]
    if all_others:
        betas[:] = np.add(betas, rng.uniform(-9e-7, 9e-7, len(betas))).tolist()
    elif rng.random() < 0.75:
        off = rng.choice([-1, 1]) * 10.0 ** rng.choice([-9.0, rng.uniform(-5.6, -5), rng.uniform(-5, -2)])
        place = int(rng.choice([0, len(betas) - 1, rng.integers(len(betas))]))
        betas[place] += off
        betas[place - 1] -= off * (rng.random() < 0.3)
    return curves


CURVES = to_say("{name}: a dictionary with the names below; of each the betas at alpha = 0, 0.1, …, 1")


exercise = Exercise(
    title="Say which laws hold",
    good_for="testing a law on numbers before you trust a proof, or your memory of one",
    difficulty=2,
    minutes=20,
    points=2,
    domain=Domain({"curves": Made(_any_curves, CURVES)}, most=48),
    draw=_draw_curves,
    reference=_laws(),
    returns=_yes_or_no,
    hints=(
        "Which keys does each law speak of? Write the pairs down first; one law needs a key that is not `f*Id` against `Id*f`. Four laws ask "
        "whether two lists are equal at all 11 places, one asks for something else.",
        "Two lists are equal up to rounding where `np.allclose(a, b, rtol=0, atol=1e-6)` is True. The fourth law is not about "
        "equality: it asks whether f*g lies nowhere above f*h, at any of the 11 places. You may print what you compare; the check shows it.",
    ),
    misconceptions=(
        Misconception(
            "Id on both sides",
            "For the third law you compare f*Id with Id*f. That only says that Id commutes. The law is that f*Id is f itself.",
            _laws(identity=lambda c: _equal(c["f*Id"], c["Id*f"])),
        ),
        Misconception(
            "exact equality",
            "You compare without tolerance. The two sides of a true law are computed in different orders and differ by rounding; "
            "allow 1e-6.",
            _with_comparison(lambda a, b: list(a) == list(b)),
            recognise=any_of(_with_comparison(lambda a, b: list(a) == list(b), _nowhere_above)),
        ),
        Misconception(
            "monotone reversed",
            "The fourth law is the wrong way round. g <= h says that h is the more private one, so f*h is: f*g <= f*h everywhere.",
            _laws(monotone=lambda c: _below(c["f*h"], c["f*g"])),
        ),
        Misconception(
            "monotone strictly",
            "You ask for f*g < f*h at every alpha, or for equality at every alpha. The curves meet at alpha = 1, and need not meet elsewhere: ask for <=.",
            _laws(monotone=lambda c: (np.array(c["f*g"]) < np.array(c["f*h"])).all()),
        ),
        Misconception(
            "monotone without tolerance",
            "For the fourth law you compare without tolerance. Numbers that differ by less than 1e-6 are equal, so f*g may lie above f*h by "
            "that: ask for f*g <= f*h + 1e-6.",
            _laws(monotone=_nowhere_above),
        ),
        Misconception(
            "allclose as it is",
            "Your comparison has another tolerance than 1e-6 at each alpha. So has `np.allclose` as it is: 1e-8, and 1e-5 of the size of a number; `rtol=0, atol=1e-6` is "
            "right. And so has a mean of the differences: take the largest.",
            _with_comparison(np.allclose),
            recognise=any_of(_with_comparison(lambda a, b: np.allclose(a, b, atol=1e-6))),
        ),
        Misconception(
            "rounded first",
            "You round before you compare. Two numbers that differ by far less than 1e-6 may be rounded to different ones: compare their difference with 1e-6.",
            _with_comparison(
                lambda a, b: np.round(a, 6).tolist() == np.round(b, 6).tolist(),
                lambda c: (np.round(c["f*g"], 6) <= np.round(c["f*h"], 6)).all(),
            ),
        ),
        Misconception(
            "equal somewhere",
            "You call two curves equal that agree at one alpha. They must agree at all of them: `np.all`.",
            _with_comparison(lambda a, b: (np.abs(np.subtract(a, b)) < 1e-6).any()),
        ),
        Misconception(
            "ends left out",
            "You leave out an end, alpha = 0 or alpha = 1. A table may be wrong there too: compare all 11 places.",
            lambda curves: _laws()({key: table[1:-1] for key, table in curves.items()}),
            recognise=any_of(
                lambda curves: _laws()({key: table[1:] for key, table in curves.items()}),
                lambda curves: _laws()({key: table[:-1] for key, table in curves.items()}),
            ),
        ),
        Misconception(
            "inverse of nothing",
            "For the fifth law you compare (f*g)^-1 or f^-1*g^-1 with f*g. That would hold for symmetric curves only; compare these two.",
            _laws(inverse=lambda c: _equal(c["f*g"], c["f^-1*g^-1"])),
        ),
        Misconception(
            "first alpha only",
            "You compare the first entries only. Two curves are equal when they are equal at every alpha: `np.all`.",
            lambda curves: _laws()({key: table[:1] for key, table in curves.items()}),
        ),
        Misconception(
            "all hold",
            "You say that all laws hold. They do for the tensor product, and only one of the six candidates is the tensor product. "
            "Do you compare at some alphas only, as with `np.any`, or one number of each curve, as a product, which is 0 for all?",
            lambda curves: [True] * 5,
        ),
        Misconception(
            "compared like words",
            "For the fourth law you do not compare at every alpha. `<=` on two lists goes like words: only the first difference counts. "
            "A sum hides where the one curve lies above the other. Compare entry by entry; all must obey.",
            _laws(monotone=lambda c: c["f*g"] <= c["f*h"]),
            recognise=any_of(
                _laws(monotone=lambda c: c["f*g"] <= c["f*h"]),
                _laws(monotone=lambda c: sum(c["f*g"]) <= sum(c["f*h"]) + 1e-6),
            ),
        ),
        Misconception(
            "differences without abs",
            "You look at the largest of a - b, which is small also where a lies far below b. Take the absolute value first.",
            _with_comparison(lambda a, b: np.subtract(a, b).max() < 1e-6),
        ),
    ),
)
