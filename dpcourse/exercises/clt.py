"""Exercises and quiz of lesson 04: the central limit theorem of privacy."""

import functools
import math
import numbers

import numpy as np
from scipy.optimize import brentq

from dpcourse import clt, gdp, pld, validate
from dpcourse.exercises.engine import Exercise, Misconception, OpenExercise, Option, Question
from dpcourse.exercises.values import a_number, plain, rounded, several, type_name
from dpcourse.tradeoff import TradeOff, gaussian

TITLE = "The central limit theorem of privacy"


# ---- what an answer may return


def _yes_or_no(value, case):
    """Five entries, each True or False, 1 or 0."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 5:
        return f"Return a list of five True or False, one for each law, not {type_name(value)}."
    if not all(isinstance(plain(entry), numbers.Real) and entry in (True, False) for entry in value):
        return "Return True or False for each law. `np.all(...)` makes one of many."
    return None


def _loss_and_mass(value, case):
    """Two arrays with one entry for each piece."""
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 2:
        return f"Return two arrays, `loss, mass`, not {type_name(value)}."
    pieces = len(case["alpha"]) - 1
    for name, array in zip(("loss", "mass"), value, strict=True):
        try:
            array = np.asarray(array, dtype=float)
        except (TypeError, ValueError):
            return f"{name} must be an array of numbers, not {type_name(array)}."
        if array.shape != (pieces,):
            return f"{name} must have one entry for each straight piece: {pieces} here, for {pieces + 1} points."
        if not np.isfinite(array).all():
            return f"{name} has entries that are not finite. Is it the logarithm of a slope that is negative or 0?"
    return None


# ---- 4.1 the laws


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
    """Six candidates: the tensor product, and five others, of which the laws say different things."""
    return [{"curves": _curves(name, rng)} for name in rng.permutation([TENSOR, *CANDIDATES])]


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


def _with_comparison(equal):
    return _laws(
        commutes=lambda c: equal(c["f*g"], c["g*f"]),
        associates=lambda c: equal(c["(f*g)*h"], c["f*(g*h)"]),
        identity=lambda c: equal(c["f*Id"], c["f"]),
        inverse=lambda c: equal(c["(f*g)^-1"], c["f^-1*g^-1"]),
    )


laws = Exercise(
    id="4.1",
    title="Which laws hold?",
    function="laws_that_hold",
    good_for="testing a law on numbers before you trust a proof, or your memory of one",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_curves,
    reference=_laws(),
    returns=_yes_or_no,
    hints=(
        "Two lists are equal up to rounding where `np.allclose(a, b, rtol=0, atol=1e-6)` is True. The fourth law is not about "
        "equality: it asks whether f*g lies nowhere above f*h. You may print what you compare; the check shows it.",
        "First law: `np.allclose(curves['f*g'], curves['g*f'], rtol=0, atol=1e-6)`. For the third compare f*Id with f itself.",
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
        ),
        Misconception(
            "monotone reversed",
            "The fourth law is the wrong way round. g <= h says that h is the more private one, so f*h is: f*g <= f*h everywhere.",
            _laws(monotone=lambda c: _below(c["f*h"], c["f*g"])),
        ),
        Misconception(
            "monotone strictly",
            "You ask for f*g < f*h at every alpha. The curves meet at alpha = 1, so allow equality there: <=.",
            _laws(monotone=lambda c: (np.array(c["f*g"]) < np.array(c["f*h"])).all()),
        ),
        Misconception(
            "inverse of nothing",
            "For the fifth law you compare f^-1*g^-1 with f*g. That would hold for symmetric curves only; compare it with (f*g)^-1.",
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
            "Two curves are equal when they are equal at every alpha, not at some: `np.all`, not `np.any`.",
            lambda curves: [True] * 5,
        ),
        Misconception(
            "compared like words",
            "`<=` on two lists compares them like words: only the first difference counts. Use `np.all(np.array(a) <= np.array(b) + 1e-6)`.",
            _laws(monotone=lambda c: c["f*g"] <= c["f*h"]),
        ),
        Misconception(
            "differences without abs",
            "You look at the largest of a - b, which is small also where a lies far below b. Take the absolute value first.",
            _with_comparison(lambda a, b: np.subtract(a, b).max() < 1e-6),
        ),
    ),
)


# ---- 4.2 Gaussians


def _draw_mus(rng):
    cases = []
    for size in (2, int(rng.integers(3, 6))):
        mus = rng.uniform(0.05, 1, size=size)
        cases.append({"mus": [rounded(mu) for mu in mus], "counts": rng.integers(2, 40, size=size).tolist()})
    return cases


def _mus(rule):
    return lambda mus, counts: float(rule(np.array(mus), np.array(counts)))


total_mu = Exercise(
    id="4.2",
    title="The bill for Gaussian answers",
    function="total_mu",
    good_for="planning an analysis with Gaussian noise: this is the exact bill, no bound and no limit",
    difficulty=1,
    minutes=5,
    points=1,
    draw=_draw_mus,
    reference=_mus(lambda m, n: math.sqrt((n * m**2).sum())),
    returns=a_number,
    forbidden=(gdp.compose, TradeOff.__matmul__, TradeOff.power),
    hints=(
        "One of the mechanisms, used n times, counts like n mechanisms in the sum. What stands in the sum, mu or its square?",
        "Add up n times mu squared over the mechanisms, and take the root at the end.",
    ),
    misconceptions=(
        Misconception(
            "added",
            "You added the mus. That is what epsilons do in the worst case. For Gaussians the squares add, and the root comes last.",
            _mus(lambda m, n: (n * m).sum()),
        ),
        Misconception(
            "counts forgotten",
            "Each mechanism entered once. It is used counts[i] times, so its square enters counts[i] times.",
            _mus(lambda m, n: math.sqrt((m**2).sum())),
        ),
        Misconception(
            "count squared",
            "You squared the count along with mu. n answers of the same mu make mu times the square root of n, not mu times n.",
            _mus(lambda m, n: math.sqrt(((n * m) ** 2).sum())),
        ),
        Misconception(
            "root forgotten",
            "That is the square of the total. Take the root at the end.",
            _mus(lambda m, n: (n * m**2).sum()),
        ),
        Misconception(
            "roots added",
            "You composed each mechanism with itself rightly, to mu times the root of n, and then added these. Add their squares, "
            "then take the root.",
            _mus(lambda m, n: (np.sqrt(n) * m).sum()),
        ),
        Misconception(
            "largest",
            "You took the largest. That would be the bill if every person were asked by one mechanism only.",
            _mus(lambda m, n: (np.sqrt(n) * m).max()),
        ),
        Misconception(
            "average mu",
            "You used the average mu for all answers. The square of an average is not the average of the squares.",
            _mus(lambda m, n: math.sqrt(n.sum()) * (n @ m) / n.sum()),
        ),
    ),
)


# ---- 4.3 the privacy loss


def _mechanism(rng, outcomes):
    """P and Q of a mechanism, sorted from the outcome that speaks most for Q to the one that speaks most for P."""
    p, q = rng.dirichlet(np.full(outcomes, 3)), rng.dirichlet(np.full(outcomes, 3))
    order = np.argsort(-q / p)
    return p[order], q[order]


def _draw_points(rng):
    cases = []
    for outcomes in (3, int(rng.integers(4, 7))):
        p, q = _mechanism(rng, outcomes)
        alpha, beta = np.r_[0, np.cumsum(p)], np.r_[1, 1 - np.cumsum(q)]
        alpha[-1], beta[-1] = 1, 0
        cases.append({"alpha": alpha, "beta": beta})
    return cases


def _pieces(rule):
    """A rule for (loss, mass) from the widths and the falls of the pieces."""
    return lambda alpha, beta: rule(np.diff(alpha), -np.diff(beta))


privacy_loss = Exercise(
    id="4.3",
    title="From a curve to its privacy loss",
    function="privacy_loss",
    good_for="everything that follows: sums of random numbers are easier than products of curves",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_points,
    reference=_pieces(lambda width, fall: (np.log(fall / width), width)),
    returns=_loss_and_mass,
    forbidden=(TradeOff.log_slope,),
    hints=(
        "A straight piece is one outcome. Under P it has the probability by which alpha grows along the piece, under Q the one by "
        "which beta falls. `np.diff` gives both.",
        "`width = np.diff(alpha)`, `fall = -np.diff(beta)`. The loss is the logarithm of fall / width. The mass is the one under P.",
    ),
    misconceptions=(
        Misconception(
            "sign",
            "Your losses have the wrong sign. L is log|f'|, the logarithm of fall over width: large where the curve is steep.",
            _pieces(lambda width, fall: (np.log(width / fall), width)),
        ),
        Misconception(
            "mass under Q",
            "Your masses are those under Q, by which beta falls. U is drawn uniformly from the alpha axis: use the widths.",
            _pieces(lambda width, fall: (np.log(fall / width), fall)),
        ),
        Misconception(
            "no logarithm",
            "Your losses are the slopes themselves. The loss is the logarithm of the slope, so that it adds where ratios multiply.",
            _pieces(lambda width, fall: (fall / width, width)),
        ),
        Misconception(
            "fall only",
            "You took the logarithm of the fall alone. The slope is the fall divided by the width of the piece.",
            _pieces(lambda width, fall: (np.log(fall), width)),
        ),
        Misconception(
            "equal masses",
            "You gave every piece the same mass. A piece has as much mass as it is wide.",
            _pieces(lambda width, fall: (np.log(fall / width), np.full(width.size, 1 / width.size))),
        ),
        Misconception(
            "places as masses",
            "Your masses are the places where the pieces end. Those are sums; the mass of one piece is the difference.",
            _pieces(lambda width, fall: (np.log(fall / width), np.cumsum(width))),
        ),
        Misconception(
            "swapped",
            "The two arrays are in the wrong order: first the loss, then the mass.",
            _pieces(lambda width, fall: (width, np.log(fall / width))),
        ),
    ),
)


# ---- 4.4 convolution


def _draw_losses(rng):
    """Two steps on a grid of losses; the grid does not lie evenly around 0, so its start matters."""
    cases = []
    for _ in range(2):
        below, above = int(rng.integers(1, 3)), int(rng.integers(3, 5))
        loss = rounded(rng.uniform(0.1, 0.4)) * np.arange(-below, above + 1)
        weight = rng.uniform(0.5, 2, size=loss.size)
        tilt = brentq(lambda t, w=weight, x=loss: float(w @ (np.exp(-t * x) * np.expm1(x))), -200, 200)
        mass = weight * np.exp(-tilt * (loss - loss.max()))
        epsilon = rounded(rng.uniform(0.05, 0.3) * 3 * loss[-1])
        cases.append({"loss": loss, "mass": mass / mass.sum(), "n": int(rng.integers(3, 6)), "epsilon": epsilon})
    return cases


def _convolved(mass, n):
    total = mass
    for _ in range(n - 1):
        total = np.convolve(total, mass)
    return total


def _hockey_stick(loss, mass, epsilon):
    return float(np.maximum(mass * (np.exp(loss) - math.exp(epsilon)), 0).sum())


def _sums(loss, n):
    """The losses that n steps can add up to."""
    step = loss[1] - loss[0]
    return n * loss[0] + step * np.arange(n * (loss.size - 1) + 1)


composed_delta = Exercise(
    id="4.4",
    title="An accountant in six lines",
    function="composed_delta",
    good_for="seeing that an exact accountant is a convolution; `pld` is this with certified rounding",
    difficulty=3,
    minutes=25,
    points=3,
    draw=_draw_losses,
    reference=lambda loss, mass, n, epsilon: _hockey_stick(_sums(loss, n), _convolved(mass, n), epsilon),
    returns=a_number,
    forbidden=(TradeOff.__matmul__, TradeOff.power, TradeOff.delta),
    hints=(
        "The losses of independent answers add, so the mass of the sum is a convolution: `np.convolve(a, b)`. Do it n - 1 times, "
        "beginning with `mass` itself.",
        "The sum lies on a grid with the same spacing. It begins at n * loss[0], and has as many points as the convolved mass.",
        "delta adds up mass * (e^loss - e^epsilon) where that is positive: `np.maximum(..., 0).sum()`.",
    ),
    misconceptions=(
        Misconception(
            "one too many",
            "You convolved n times. One answer has the mass itself, two answers one convolution, so n answers have n - 1.",
            lambda loss, mass, n, epsilon: _hockey_stick(_sums(loss, n + 1), _convolved(mass, n + 1), epsilon),
        ),
        Misconception(
            "one too many, grid of n",
            "You convolved n times: the mass is that of n + 1 answers. Begin with the mass itself and convolve n - 1 times.",
            lambda loss, mass, n, epsilon: _hockey_stick(
                _sums(loss, n + 1) - loss[0], _convolved(mass, n + 1), epsilon
            ),
        ),
        Misconception(
            "grid begins too late",
            "Your grid of sums begins at loss[0]. The smallest sum of n losses is n * loss[0].",
            lambda loss, mass, n, epsilon: _hockey_stick(
                _sums(loss, n) - (n - 1) * loss[0], _convolved(mass, n), epsilon
            ),
        ),
        Misconception(
            "grid stretched",
            "You spread the sums from n * loss[0] with n times the spacing. The spacing stays; the grid gets more points.",
            lambda loss, mass, n, epsilon: _hockey_stick(
                n * (_sums(loss, n) - n * loss[0]) + n * loss[0], _convolved(mass, n), epsilon
            ),
        ),
        Misconception(
            "answers all alike",
            "You multiplied the losses by n and left the masses alone: as if all n answers were the same one. They are independent.",
            lambda loss, mass, n, epsilon: _hockey_stick(n * loss, mass, epsilon),
        ),
        Misconception(
            "masses to the power n",
            "mass**n is the chance that all n answers have this one loss. Different losses can have the same sum; convolve.",
            lambda loss, mass, n, epsilon: _hockey_stick(n * loss, mass**n, epsilon),
        ),
        Misconception(
            "cut to the same length",
            "mode='same' cuts both ends off, and with them the large losses, for the sake of which delta is there.",
            lambda loss, mass, n, epsilon: _hockey_stick(loss, _cut(mass, n), epsilon),
        ),
        Misconception(
            "mass of P for mass of Q",
            "You added mass * (1 - e^(epsilon - loss)). There the mass would have to be that of Q, which is mass * e^loss.",
            lambda loss, mass, n, epsilon: float(
                np.maximum(_convolved(mass, n) * -np.expm1(epsilon - _sums(loss, n)), 0).sum()
            ),
        ),
        Misconception(
            "chance of a large loss under P",
            "That is the chance under P that the loss passes epsilon. delta measures the excess, under Q: mass * (e^loss - e^epsilon).",
            lambda loss, mass, n, epsilon: float(_convolved(mass, n)[_sums(loss, n) > epsilon].sum()),
        ),
        Misconception(
            "chance of a large loss under Q",
            "That is the chance under Q that the loss passes epsilon. Only the part above e^epsilon times the mass of P counts: subtract it.",
            lambda loss, mass, n, epsilon: float(
                (_convolved(mass, n) * np.exp(_sums(loss, n)))[_sums(loss, n) > epsilon].sum()
            ),
        ),
        Misconception(
            "negative parts kept",
            "You added up the negative terms too. Where e^loss is below e^epsilon nothing is left over: take the maximum with 0.",
            lambda loss, mass, n, epsilon: float(
                (_convolved(mass, n) * (np.exp(_sums(loss, n)) - math.exp(epsilon))).sum()
            ),
        ),
        Misconception(
            "epsilon divided",
            "You gave each answer epsilon / n and added the deltas. That is basic composition: true, and much larger than the exact value.",
            lambda loss, mass, n, epsilon: n * _hockey_stick(loss, mass, epsilon / n),
        ),
    ),
)


def _cut(mass, n):
    total = mass
    for _ in range(n - 1):
        total = np.convolve(total, mass, mode="same")
    return total


# ---- 4.5 the four functionals


def _draw_atoms(rng):
    cases = []
    for outcomes in (3, int(rng.integers(4, 7))):
        p, q = _mechanism(rng, outcomes)
        cases.append({"loss": np.log(q / p), "mass": p})
    return cases


def _moments(loss, mass):
    kl = -float(mass @ loss)
    return [kl, float(mass @ loss**2), float(mass @ np.abs(loss) ** 3), float(mass @ np.abs(loss + kl) ** 3)]


def _changed(place, rule):
    """The four functionals with one of them replaced."""

    def code(loss, mass):
        values = _moments(loss, mass)
        values[place] = float(rule(loss, mass))
        return values

    return code


functionals = Exercise(
    id="4.5",
    title="Four numbers of a curve",
    function="functionals",
    good_for="all that the central limit theorem keeps of a mechanism",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_atoms,
    reference=_moments,
    returns=several("kl", "kappa2", "kappa3", "kappa3_bar"),
    forbidden=(clt.functionals,),
    hints=(
        "An integral over alpha is an average with the masses as weights: `(mass * something).sum()`.",
        "kl is minus the average loss. kappa2 averages the square of the loss, kappa3 the third power of its absolute value. For "
        "kappa3_bar take the loss plus kl first.",
    ),
    misconceptions=(
        Misconception(
            "kl's sign",
            "Your kl is negative. It is minus the average loss: on average an outcome of P speaks against Q.",
            _changed(0, lambda loss, mass: mass @ loss),
        ),
        Misconception(
            "kl's sign, and centred with it",
            "Your kl has the wrong sign, and kappa3_bar uses it. kl is minus the average loss; the deviation from the average is loss + kl.",
            lambda loss, mass: [
                float(mass @ loss),
                *_moments(loss, mass)[1:3],
                float(mass @ np.abs(loss + mass @ loss) ** 3),
            ],
        ),
        Misconception(
            "kappa2 as a variance",
            "Your kappa2 is the variance of the loss. kappa2 averages the square itself; the variance is kappa2 - kl^2.",
            _changed(1, lambda loss, mass: mass @ loss**2 - (mass @ loss) ** 2),
        ),
        Misconception(
            "square of the average",
            "Your kappa2 is kl squared. Square each loss, then average.",
            _changed(1, lambda loss, mass: (mass @ loss) ** 2),
        ),
        Misconception(
            "third power with sign",
            "In kappa3 losses of opposite signs cancel. Take the absolute value before the third power.",
            _changed(2, lambda loss, mass: mass @ loss**3),
        ),
        Misconception(
            "centred with sign",
            "In kappa3_bar deviations of opposite signs cancel. Take the absolute value before the third power.",
            _changed(3, lambda loss, mass: mass @ (loss - mass @ loss) ** 3),
        ),
        Misconception(
            "centred the wrong way",
            "In kappa3_bar you subtract kl. The average loss is -kl, so the deviation from it is loss + kl.",
            _changed(3, lambda loss, mass: mass @ np.abs(loss + mass @ loss) ** 3),
        ),
        Misconception(
            "not centred",
            "Your kappa3_bar is not centred: it equals kappa3. Take |loss + kl| to the third power.",
            _changed(3, lambda loss, mass: mass @ np.abs(loss) ** 3),
        ),
        Misconception(
            "wrong variable",
            "You average under Q. The integrals are over alpha, so the weights are the masses under P as they are given.",
            lambda loss, mass: [
                float(mass @ (np.exp(loss) * value))
                for value in (-loss, loss**2, np.abs(loss) ** 3, np.abs(loss - mass @ loss) ** 3)
            ],
        ),
        Misconception(
            "masses ignored",
            "You average over the pieces as if all were equally wide. Weigh each loss with its mass.",
            lambda loss, mass: _moments(loss, np.full(loss.size, 1 / loss.size)),
        ),
    ),
)


# ---- 4.6 Berry-Esseen


def _draw_functionals(rng):
    """Different mechanisms, each with a small loss, as the theorem wants them."""
    cases = []
    for size in (3, int(rng.integers(5, 9))):
        spread = rng.uniform(0.1, 0.3, size=size)
        cases.append(
            {
                "kl": [rounded(x, 5) for x in spread**2 / 2 * rng.uniform(0.9, 1, size=size)],
                "kappa2": [rounded(x, 5) for x in spread**2],
                "kappa3_bar": [rounded(x, 6) for x in spread**3 * rng.uniform(1, 1.5, size=size)],
            }
        )
    return cases


def _bound(
    variance=lambda kl, kappa2: kappa2.sum() - (kl**2).sum(),
    mu=lambda kl, v: 2 * kl.sum() / math.sqrt(v),
    gamma=lambda bar, v: clt.BERRY_ESSEEN * bar.sum() / v**1.5,
):
    def code(kl, kappa2, kappa3_bar):
        kl, kappa2, kappa3_bar = np.array(kl), np.array(kappa2), np.array(kappa3_bar)
        v = float(variance(kl, kappa2))
        return float(mu(kl, v)), float(gamma(kappa3_bar, v))

    return code


berry_esseen = Exercise(
    id="4.6",
    title="How far from Gaussian?",
    function="berry_esseen",
    good_for="a central limit theorem that says how wrong it can be",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_functionals,
    reference=_bound(),
    returns=several("mu", "gamma"),
    forbidden=(clt.berry_esseen,),
    hints=(
        "Begin with the variance of the total loss. Variances of independent steps add: each step has kappa2 - kl^2.",
        "mu is twice the sum of the kls over the root of that variance. gamma is 0.56 times the sum of the kappa3_bars over the "
        "variance to the power 3/2.",
    ),
    misconceptions=(
        Misconception(
            "square of the sum",
            "In the variance you subtract the square of the sum of the kls. Each step has its own variance: subtract the sum of the squares.",
            _bound(lambda kl, kappa2: kappa2.sum() - kl.sum() ** 2),
        ),
        Misconception(
            "nothing subtracted",
            "You took the sum of kappa2 for the variance. That is right in the limit, section 6; here subtract the sum of the kl^2.",
            _bound(lambda kl, kappa2: kappa2.sum()),
        ),
        Misconception(
            "2 forgotten",
            "mu is twice the sum of the kls over the root: for a Gaussian kl is mu^2 / 2.",
            _bound(mu=lambda kl, v: kl.sum() / math.sqrt(v)),
        ),
        Misconception(
            "root forgotten",
            "In mu you divide by the variance. Divide by its root.",
            _bound(mu=lambda kl, v: 2 * kl.sum() / v),
        ),
        Misconception(
            "0.56 forgotten",
            "gamma lacks the constant 0.56 of Berry and Esseen's theorem.",
            _bound(gamma=lambda bar, v: bar.sum() / v**1.5),
        ),
        Misconception(
            "constant for equal steps",
            "0.4748 is the constant for equal steps. These steps differ, and for those it is 0.56.",
            _bound(gamma=lambda bar, v: 0.4748 * bar.sum() / v**1.5),
        ),
        Misconception(
            "variance to the power 3",
            "In gamma you took the variance to the power 3. It is the standard deviation to the power 3, so the variance to the power 3/2.",
            _bound(gamma=lambda bar, v: 0.56 * bar.sum() / v**3),
        ),
        Misconception(
            "averages",
            "You averaged over the steps, so that the number of answers drops out. Add up: mu grows like the square root of their number.",
            lambda kl, kappa2, kappa3_bar: _bound(
                lambda kl, kappa2: kappa2.mean() - (kl**2).mean(),
                lambda kl, v: 2 * kl.mean() / math.sqrt(v),
                lambda bar, v: 0.56 * bar.mean() / v**1.5,
            )(kl, kappa2, kappa3_bar),
        ),
        Misconception(
            "swapped",
            "The two results are in the wrong order: first mu, then gamma.",
            lambda kl, kappa2, kappa3_bar: _bound()(kl, kappa2, kappa3_bar)[::-1],
        ),
    ),
)


# ---- 4.7 the band


def _draw_band(rng):
    """Inside, on both sides outside [gamma, 1 - gamma], where each end of the band is no news, and gamma too large."""
    places = [
        (rng.uniform(0.5, 1.5), rng.uniform(0.02, 0.06), rng.uniform(0.2, 0.4)),
        (rng.uniform(0.5, 1.5), rng.uniform(0.06, 0.1), rng.uniform(0.01, 0.05)),
        (rng.uniform(0.5, 1.5), rng.uniform(0.06, 0.1), rng.uniform(0.95, 0.99)),
        (rng.uniform(1.5, 2), rng.uniform(0.15, 0.2), rng.uniform(0.55, 0.75)),
        (rng.uniform(0.2, 0.3), rng.uniform(0.15, 0.2), rng.uniform(0.3, 0.5)),
        (rng.uniform(0.5, 1.5), rng.uniform(0.55, 0.7), rng.uniform(0.45, 0.5)),
    ]
    return [
        {"mu": rounded(mu), "gamma": rounded(gamma, 3), "alpha": rounded(alpha, 3)}
        for mu, gamma, alpha in (places[i] for i in rng.permutation(len(places)))
    ]


def _g(mu, alpha):
    return float(gaussian(mu)(min(max(alpha, 0.0), 1.0)))


def _edges(lower, upper, speaks=lambda gamma, alpha: gamma <= alpha <= 1 - gamma, trim=True):
    def code(mu, gamma, alpha):
        if not speaks(gamma, alpha):
            return 0.0, 1 - alpha
        low, high = lower(mu, gamma, alpha), upper(mu, gamma, alpha)
        return (max(low, 0.0), min(high, 1 - alpha)) if trim else (low, high)

    return code


def _low(mu, gamma, alpha):
    return _g(mu, alpha + gamma) - gamma


def _high(mu, gamma, alpha):
    return _g(mu, alpha - gamma) + gamma


band = Exercise(
    id="4.7",
    title="What is proved about beta",
    function="proved_band",
    good_for="reading a theorem with a condition: what it says, and where it says nothing",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_band,
    reference=_edges(_low, _high),
    returns=several("lowest", "highest"),
    hints=(
        "First ask whether the theorem speaks at this alpha. If it does not, only what holds for every trade-off function is left: "
        "0 <= beta <= 1 - alpha.",
        "Where it speaks: from G(alpha + gamma) - gamma to G(alpha - gamma) + gamma, with `G = gaussian(mu)`. "
        "Then keep the result between 0 and 1 - alpha with `max` and `min`.",
    ),
    misconceptions=(
        Misconception(
            "only across",
            "You shifted alpha by gamma and forgot the second gamma: the theorem shifts the curve sideways and also down (or up).",
            _edges(lambda m, c, a: _g(m, a + c), lambda m, c, a: _g(m, a - c)),
        ),
        Misconception(
            "only up and down",
            "You moved G by gamma up and down and forgot that alpha moves too: G(alpha + gamma) below, G(alpha - gamma) above.",
            _edges(lambda m, c, a: _g(m, a) - c, lambda m, c, a: _g(m, a) + c),
        ),
        Misconception(
            "sideways the wrong way",
            "alpha moves the wrong way. G falls, so the lower end takes alpha + gamma and the upper end alpha - gamma.",
            _edges(lambda m, c, a: _g(m, a - c) - c, lambda m, c, a: _g(m, a + c) + c),
        ),
        Misconception(
            "gamma forgotten",
            "You returned G(alpha) twice: the limit without its error. gamma is what makes it a statement about finitely many answers.",
            _edges(lambda m, c, a: _g(m, a), lambda m, c, a: _g(m, a)),
        ),
        Misconception(
            "condition forgotten",
            "As it is stated, the theorem speaks only for alpha between gamma and 1 - gamma (so never if gamma > 1/2). Elsewhere return 0 "
            "and 1 - alpha. (By the same proof the lower end holds below gamma too; leave that out here.)",
            _edges(_low, _high, speaks=lambda gamma, alpha: True),
        ),
        Misconception(
            "not trimmed",
            "Your band leaves the triangle. Every trade-off function has 0 <= beta <= 1 - alpha: cut the band off there.",
            _edges(_low, _high, trim=False),
        ),
        Misconception(
            "trimmed at 1",
            "You cut the upper end off at 1. Every trade-off function is below 1 - alpha, which is less.",
            lambda mu, gamma, alpha: (
                (max(_low(mu, gamma, alpha), 0.0), min(_high(mu, gamma, alpha), 1.0))
                if gamma <= alpha <= 1 - gamma
                else (0.0, 1.0)
            ),
        ),
    ),
)


# ---- 4.8 the limit


def _draw_responses(rng):
    """Some with a large epsilon, where tanh is not its argument."""
    return [
        {"epsilons": [rounded(e) for e in rng.uniform(0.2, high, size=int(rng.integers(3, 8)))]} for high in (1.0, 2.5)
    ]


def _two_k_over_s(mu=lambda k, s2: 2 * k / math.sqrt(s2), kl=lambda e: e * np.tanh(e / 2), kappa2=lambda e: e**2):
    def code(epsilons):
        e = np.array(epsilons)
        return float(mu(kl(e).sum(), kappa2(e).sum()))

    return code


limit_mu = Exercise(
    id="4.8",
    title="The Gaussian behind many small answers",
    function="limit_mu",
    good_for="a quick look at what many answers cost; an approximation, no guarantee",
    difficulty=2,
    minutes=15,
    points=2,
    draw=_draw_responses,
    reference=_two_k_over_s(),
    returns=a_number,
    forbidden=(clt.limit, clt.functionals, clt.berry_esseen),
    hints=(
        "Under P randomized response has loss -epsilon with probability p = e^epsilon / (1 + e^epsilon), and +epsilon with 1 - p. "
        "So kl = epsilon (2 p - 1), and kappa2 is simpler still.",
        "2 p - 1 = tanh(epsilon / 2). K adds up epsilon tanh(epsilon / 2), s^2 adds up epsilon^2. Return 2 K / s.",
    ),
    misconceptions=(
        Misconception(
            "2 forgotten",
            "You returned K / s. It is 2 K / s: for a Gaussian K is mu^2 / 2 and s is mu.",
            _two_k_over_s(lambda k, s2: k / math.sqrt(s2)),
        ),
        Misconception(
            "s squared",
            "You divided by s^2, the sum of kappa2. Take its root.",
            _two_k_over_s(lambda k, s2: 2 * k / s2),
        ),
        Misconception(
            "small epsilons",
            "sqrt(sum of epsilon^2) is what 2 K / s becomes when every epsilon is small. Return 2 K / s with kl as it is.",
            _two_k_over_s(lambda k, s2: math.sqrt(s2)),
        ),
        Misconception(
            "variance",
            "You divided by the root of the variance, the sum of kappa2 - kl^2. That is the mu of section 5; the limit divides by the root "
            "of the sum of kappa2.",
            lambda epsilons: _berry_esseen_mu(np.array(epsilons)),
        ),
        Misconception(
            "kl without tanh",
            "You took epsilon for kl, as if every answer had the loss -epsilon under P. With probability 1 - p the loss is +epsilon.",
            _two_k_over_s(kl=lambda e: e),
        ),
        Misconception(
            "kl with p",
            "You took epsilon p for kl. The flipped answers count as well, with the opposite sign: epsilon p - epsilon (1 - p).",
            _two_k_over_s(kl=lambda e: e / (1 + np.exp(-e))),
        ),
        Misconception(
            "averages",
            "You averaged over the answers, so that their number drops out. Add up: mu grows like the square root of their number.",
            lambda epsilons: _two_k_over_s()(epsilons) / math.sqrt(len(epsilons)),
        ),
        Misconception(
            "mus added",
            "You computed 2 kl / sqrt(kappa2) for each answer and added these up. First add up the kls and the kappa2s, then divide.",
            lambda epsilons: float(2 * np.tanh(np.array(epsilons) / 2).sum()),
        ),
    ),
)


def _berry_esseen_mu(e):
    kl = e * np.tanh(e / 2)
    return float(2 * kl.sum() / math.sqrt((e**2 - kl**2).sum()))


# ---- 4.9 (epsilon, delta)


def _draw_approx(rng):
    cases = []
    for size in (2, int(rng.integers(3, 7))):
        epsilons = [rounded(e) for e in rng.uniform(0.05, 0.5, size=size)]
        cases.append({"epsilons": epsilons, "deltas": [rounded(d, 3) for d in rng.uniform(0.01, 0.04, size=size)]})
    return cases


def _mu_and(delta):
    return lambda epsilons, deltas: (math.hypot(*epsilons), float(delta(deltas)))


approx_limit = Exercise(
    id="4.9",
    title="Many answers, each with a small chance to fail",
    function="approx_dp_limit",
    good_for="seeing that the deltas are not blurred by the central limit theorem: they stay what they are",
    difficulty=1,
    minutes=10,
    points=1,
    draw=_draw_approx,
    reference=_mu_and(lambda deltas: -math.expm1(-sum(deltas))),
    returns=several("mu", "delta"),
    forbidden=(clt.approx_dp_limit,),
    hints=(
        "Split each curve into its pure part and its failing part. The pure parts go to a Gaussian, whose mu you know from the end of "
        "section 6. Nothing fails with probability (1 - delta_1)(1 - delta_2)...",
        "In the limit of many small deltas that product is e^-(sum of deltas). So delta is 1 minus that. mu is the root of the sum of "
        "epsilon^2.",
    ),
    misconceptions=(
        Misconception(
            "sum of deltas",
            "Your delta is the sum. That is basic composition's bound. The chance that anything fails is 1 - e^-(sum) in the limit.",
            _mu_and(sum),
        ),
        Misconception(
            "finite product",
            "1 - (1 - delta_1)(1 - delta_2)… is exact for these answers. The exercise asks for its limit for many small deltas, 1 - e^-(sum).",
            _mu_and(lambda deltas: 1 - math.prod(1 - d for d in deltas)),
        ),
        Misconception(
            "delta dropped",
            "Your delta is 0. The Gaussian takes in the epsilons only; the chances to fail remain beside it.",
            _mu_and(lambda deltas: 0.0),
        ),
        Misconception(
            "chance of no failure",
            "e^-(sum of deltas) is the chance that nothing fails. delta is the chance that something does: 1 minus it.",
            _mu_and(lambda deltas: math.exp(-sum(deltas))),
        ),
        Misconception(
            "sign in the exponent",
            "The exponent has the wrong sign. 1 - e^-(sum) lies between 0 and 1; 1 - e^(+sum) is negative.",
            _mu_and(lambda deltas: -math.expm1(sum(deltas))),
        ),
        Misconception(
            "largest delta",
            "You took the largest delta. Every answer has its own chance to fail.",
            _mu_and(max),
        ),
        Misconception(
            "quadrature of deltas",
            "You added the deltas in quadrature, as the epsilons. A failure is not a random walk: the chances to fail go into 1 - e^-(sum).",
            _mu_and(lambda deltas: math.hypot(*deltas)),
        ),
        Misconception(
            "2 K / s",
            "Your mu is the 2 K / s of the exercise before. Here the epsilons go to 0, and mu is the root of the sum of their squares.",
            lambda epsilons, deltas: (_two_k_over_s()(epsilons), -math.expm1(-sum(deltas))),
        ),
        Misconception(
            "root forgotten",
            "Your mu is the sum of the squares of the epsilons. Take the root.",
            lambda epsilons, deltas: (math.hypot(*epsilons) ** 2, -math.expm1(-sum(deltas))),
        ),
        Misconception(
            "epsilons added",
            "You added the epsilons. Their losses are random walks, so they add in quadrature: the root of the sum of the squares.",
            lambda epsilons, deltas: (sum(epsilons), -math.expm1(-sum(deltas))),
        ),
        Misconception(
            "swapped",
            "The two results are in the wrong order: first mu, then delta.",
            lambda epsilons, deltas: (-math.expm1(-sum(deltas)), math.hypot(*epsilons)),
        ),
    ),
)


# ---- 4.10 and 4.11 where the limit is wrong

RANGES = {"noise_multiplier": (1, 10), "sample_rate": (1e-4, 0.05), "steps": (100, 20_000)}
LEAST_NOISE = 0.6  # in 4.11; in both exercises no row of the lesson's table is an answer
MARGIN = 0.2  # how wrong the limit has to be
CLOSE = 0.02  # up to where the two are called equal


def _setting(ranges):
    """(noise_multiplier, sample_rate, steps), each within its range."""

    def returns(value, case):
        complaint = several(*ranges)(value, case)
        if complaint:
            return complaint
        for (name, (low, high)), number in zip(ranges.items(), value, strict=True):
            if not low <= number <= high:
                return f"{name} must be from {low:g} to {high:,g} here, and yours is {number:g}."
        if value[2] != int(value[2]):
            return f"steps must be a whole number, not {value[2]}."
        return None

    return returns


@functools.lru_cache(maxsize=64)
def certified(noise_multiplier, sample_rate, steps, delta):
    """What the limit says and the certified interval of epsilon; the interval is None where none was found."""
    noise_multiplier, sample_rate = float(noise_multiplier), float(sample_rate)
    steps = validate.whole("steps", steps)
    said = gdp.epsilon(delta, clt.noisy_sgd_mu(noise_multiplier, sample_rate, steps))
    try:
        return said, pld.noisy_sgd(noise_multiplier, sample_rate, steps).epsilon(delta)
    except ValueError:
        return said, None


def _error(value, case):
    """The least and the most that the limit can be above the truth, as a share of the truth; None if not known."""
    said, bounds = certified(*map(float, value), case["delta"])
    if bounds is None or bounds.lower <= 0:
        return None
    return said / bounds.upper - 1, said / bounds.lower - 1


def _wrong_by_margin(sign):
    """The law: sign times the error of the limit is above MARGIN, whatever in the certified interval the truth is."""

    def law(value, case):
        error = _error(value, case)
        if error is None:
            return False, "no epsilon above 0 is certified for this setting, so there is nothing to compare with"
        said, bounds = certified(*map(float, value), case["delta"])
        least, most = sorted(sign * end for end in error)
        line = f"the limit says {said:.4g}, the truth is certified between {bounds.lower:.6g} and {bounds.upper:.6g}"
        return least > MARGIN, line + ("; whether that is 20 % cannot be decided" if least <= MARGIN < most else "")

    return law


def _any_error(low, high, sign):
    """recognise: in some case the error, in the wanted direction, certainly lies between low and high."""

    def recognise(cases, values):
        errors = [_error(value, case) for case, value in zip(cases, values, strict=True)]
        signed = [sorted(sign * end for end in error) for error in errors if error is not None]
        return any(low < least and most < high for least, most in signed)

    return recognise


def _draw_delta(rng):
    return [{"delta": float(f"{10 ** rng.uniform(low, low + 1):.1e}")} for low in (-6, -8)]


too_low = OpenExercise(
    id="4.10",
    title="A setting in which the limit promises too much",
    function="too_low",
    good_for="never again taking the mu of the limit for a guarantee",
    difficulty=3,
    minutes=20,
    points=3,
    draw=_draw_delta,
    reference=lambda delta: (1, 0.01, 100),
    returns=_setting(RANGES),
    law=_wrong_by_margin(-1),
    hints=(
        "The limit wants many steps of which each matters little. Make a step that matters rarely, and then much: a small sample_rate "
        "and little noise.",
        "Compare `gdp.epsilon(delta, clt.noisy_sgd_mu(...))` with `pld.noisy_sgd(...).epsilon(delta).lower`. Start at noise_multiplier 1, "
        "sample_rate 0.01, steps 1000, and change one of them at a time.",
    ),
    misconceptions=(
        Misconception(
            "other direction",
            "Here the limit lies above the truth. It is wasteful, but nobody is hurt. Look for a setting in which it lies below.",
            lambda delta: (1, 0.05, 20_000),
            recognise=_any_error(-math.inf, -CLOSE, -1),
        ),
        Misconception(
            "they agree",
            "Here the limit is right up to 2 %: so much noise that no single step matters, or steps and noise in balance. Go away from there.",
            lambda delta: (10, 0.05, 20_000),
            recognise=_any_error(-CLOSE, CLOSE, -1),
        ),
        Misconception(
            "too little",
            "The direction is right: the limit lies below the truth, but not by 20 %. Make single steps matter more.",
            lambda delta: (2, 0.01, 1000),
            recognise=_any_error(CLOSE, MARGIN, -1),
        ),
    ),
)

too_high = OpenExercise(
    id="4.11",
    title="A setting in which the limit promises too little",
    function="too_high",
    good_for="knowing that the limit is not simply optimistic: its error has either sign",
    difficulty=3,
    minutes=15,
    points=2,
    draw=_draw_delta,
    reference=lambda delta: (0.6, 0.05, 20_000),
    returns=_setting(RANGES | {"noise_multiplier": (LEAST_NOISE, 10)}),
    law=_wrong_by_margin(1),
    hints=(
        "Look at e^(1/sigma^2) - 1 in the formula of the limit: for little noise it explodes, while a single full step costs only "
        "1 / sigma. When do so many steps touch Mia that this shows?",
        "Take the least noise allowed, and raise sample_rate and steps until the sign of the error turns.",
    ),
    misconceptions=(
        Misconception(
            "other direction",
            "Here the limit lies below the truth: the dangerous side. That belongs into the other exercise; now find one above.",
            lambda delta: (0.6, 0.001, 1000),
            recognise=_any_error(-math.inf, -CLOSE, 1),
        ),
        Misconception(
            "they agree",
            "Here the limit is right up to 2 %: so much noise that no single step matters, or steps and noise in balance. Go away from there.",
            lambda delta: (10, 0.05, 20_000),
            recognise=_any_error(-CLOSE, CLOSE, 1),
        ),
        Misconception(
            "too little",
            "The direction is right: the limit lies above the truth, but not by 20 %. Let more steps touch Mia, with less noise.",
            lambda delta: (1, 0.05, 20_000),
            recognise=_any_error(CLOSE, MARGIN, 1),
        ),
    ),
)

EXERCISES = (
    laws,
    total_mu,
    privacy_loss,
    composed_delta,
    functionals,
    berry_esseen,
    band,
    limit_mu,
    approx_limit,
    too_low,
    too_high,
)

QUIZ = (
    Question(
        "Two answers about Mia are 1-GDP each. What are they together?",
        (
            Option(
                "2-GDP: the μs add.",
                False,
                "That is what epsilons do in the worst case. Here squares add: 1 + 1 = 2, and the root is 1.41.",
            ),
            Option(
                "1-GDP: the second answer brings nothing new.",
                False,
                "It brings a second look, with noise of its own. Averaging the two halves the variance.",
            ),
            Option("1.41-GDP, exactly.", True, "√(1² + 1²) = 1.41. For Gaussians this is no approximation."),
        ),
    ),
    Question(
        "Somebody computes kl of a trade-off function and gets a negative number. What happened?",
        (
            Option(
                "The minus sign was forgotten.",
                True,
                "kl is minus the mean loss. By Jensen's inequality that is never negative.",
            ),
            Option(
                "The mechanism is better than perfectly private.",
                False,
                "Nothing is. The identity has kl = 0, and every other curve has more.",
            ),
            Option(
                "Nothing: it depends on the curve.",
                False,
                "It does not: kl is a Kullback-Leibler divergence, and those are never negative.",
            ),
        ),
    ),
    Question(
        "100 answers have γ = 0.057. Which ε does Berry and Esseen's theorem guarantee at δ = 10⁻⁵?",
        (
            Option(
                "The limit's ε, up to 5.7 %.",
                False,
                "γ is a distance between probabilities, not a relative error of ε.",
            ),
            Option(
                "None.",
                True,
                "A mechanism that tells everything with probability γ lies within its band, so no δ below 0.057 can be guaranteed.",
            ),
            Option(
                "The limit's ε: it is on the safe side.",
                False,
                "The limit may lie on either side, and at this δ the theorem gives no upper bound on ε.",
            ),
        ),
    ),
    Question(
        "Why do the deltas stay beside the Gaussian in the limit of many (ε, δ)-DP answers?",
        (
            Option(
                "Because δ is too small to matter.",
                False,
                "It matters: it is the chance that everything is told. It stays in the result as it is.",
            ),
            Option(
                "Because a failure has an infinite loss, and a sum with infinite summands does not become normal.",
                True,
                "The failures are taken out first, and what remains has finite moments.",
            ),
            Option(
                "Because deltas add in quadrature too.",
                False,
                "They do not: the chance that nothing fails is the product of the (1 - δ), which goes to e^-Σδ.",
            ),
        ),
    ),
    Question(
        "A paper says: trained with ε = 1.62 at δ = 10⁻⁵, by the CLT. The library's pld says: between 1.8282 and 1.8283. What do you report?",
        (
            Option("1.8283", True, "The upper end is a guarantee: the truth is certainly not above it."),
            Option(
                "1.62: the smaller value is the better analysis.",
                False,
                "A smaller ε is better only where it is true. The lower end of the interval proves that this one is not.",
            ),
            Option(
                "1.8282, to be fair to both.",
                False,
                "The lower end shows how good the upper one is. It is no guarantee.",
            ),
        ),
    ),
    Question(
        "With little noise and many steps the limit's ε is far above the exact one. Is this dangerous?",
        (
            Option(
                "Yes: Mia is less protected than promised.",
                False,
                "It is the other way round: she is better protected than was said.",
            ),
            Option(
                "No, but it wastes accuracy: more noise is added than the promise needs.",
                True,
                "Whoever chooses the noise by the limit chooses too much of it here.",
            ),
            Option(
                "It cannot happen: the limit is always too low.",
                False,
                "It happens. Exercise 4.11 finds such a setting.",
            ),
        ),
    ),
)
