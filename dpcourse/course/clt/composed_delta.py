"""An accountant in six lines."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from dpcourse import pld, tradeoff
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, Whole, a_number, any_of, rounded
from dpcourse.tradeoff import TradeOff


def _draw_losses(rng):
    """Two steps on a grid of losses; the grid does not lie evenly around 0, so its start matters."""
    cases = []
    for _ in range(2):
        loss, mass = _grid(rng, rng.uniform(0.1, 0.4), int(rng.integers(1, 3)), int(rng.integers(3, 5)))
        epsilon = rounded(rng.uniform(0.05, 0.3) * 3 * loss[-1])
        cases.append({"loss": loss, "mass": mass, "n": int(rng.integers(3, 6)), "epsilon": epsilon})
    return cases


def _grid(rng, step, below, above, mean=1.0, kept=1.0):
    """Losses of a step on a grid, so many below 0 and above, with probabilities as a mechanism has them.

    mean: of e^loss; more than 1 where losses are rounded up. kept: the share of those between the ends that come at all.
    """
    loss = rounded(step) * np.arange(-below, above + 1)
    weight = rng.uniform(0.5, 2, size=loss.size)
    weight[1:-1] *= rng.random(loss.size - 2) < kept
    tilt = brentq(lambda t: float(weight @ (np.exp(-t * loss) * (np.exp(loss) - mean))), -200, 200)
    mass = weight * np.exp(-tilt * (loss - loss.max()))
    return loss, mass / mass.sum()


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


def _cut(mass, n):
    total = mass
    for _ in range(n - 1):
        total = np.convolve(total, mass, mode="same")
    return total


def _each_as_well(array, n):
    """What comes out if what there is, is convolved with itself in each round."""
    for _ in range(n - 1):
        array = np.convolve(array, array)
    return array


def _from(lowest, masses):
    """delta where the sums begin at lowest(loss, n) and the masses are masses(mass, n)."""

    def code(loss, mass, n, epsilon):
        total = masses(mass, n)
        return _hockey_stick(lowest(loss, n) + (loss[1] - loss[0]) * np.arange(total.size), total, epsilon)

    return code


def _begins_anew(mass, n):
    return np.convolve(mass, mass)


def _at_n_times(loss, n):
    return n * loss[0]


_CUT = (
    lambda loss, mass, n, epsilon: _hockey_stick(loss, _cut(mass, n), epsilon),
    lambda loss, mass, n, epsilon: _hockey_stick(n * loss, _cut(mass, n), epsilon),
    _from(_at_n_times, _cut),
)
_ANEW = (_from(_at_n_times, _begins_anew), _from(lambda loss, n: 2 * loss[0], _begins_anew))
_DOUBLED = (
    _from(_at_n_times, _each_as_well),
    _from(lambda loss, n: 2 ** (n - 1) * loss[0], _each_as_well),
)


GRID = to_say("`loss` of 3 to 9 outcomes, 0.05 to 0.5 apart, and their `mass`")


def _any_grid(rng):
    step = rng.uniform(0.05, 0.5)
    mean = rng.choice([1, math.exp(step * rng.uniform(0.1, 0.9))])
    return _grid(rng, step, int(rng.integers(1, 4)), int(rng.integers(1, 6)), mean, rng.choice([1, 0.6]))


def _written(loss, mass, n, epsilon):
    """As learners write it."""
    total = mass
    for _ in range(n - 1):
        total = np.convolve(total, mass)
    step = loss[1] - loss[0]
    sums = n * loss[0] + step * np.arange(len(total))
    return np.maximum(total * (np.exp(sums) - math.exp(epsilon)), 0).sum()


def _as_if_normal(loss, mass, n, epsilon):
    """The delta of a normal loss with the mean and the variance of the sum."""
    mean = n * float(mass @ loss)
    variance = n * float(mass @ loss**2) - mean**2 / n
    above, below = (ndtr((mean + v - epsilon) / math.sqrt(variance)) for v in (variance, 0))
    return float(math.exp(mean + variance / 2) * above - math.exp(epsilon) * below)


exercise = Exercise(
    title="An accountant in six lines",
    good_for="seeing that an exact accountant is a convolution; `pld` is this with certified rounding",
    difficulty=3,
    minutes=25,
    points=3,
    domain=Domain({"loss, mass": Made(_any_grid, GRID), "n": Whole(1, 8), "epsilon": Number(0, 3)}),
    draw=_draw_losses,
    formulas=(_written,),
    reference=lambda loss, mass, n, epsilon: _hockey_stick(_sums(loss, n), _convolved(mass, n), epsilon),
    means={
        "np.convolve(total, mass)": "the masses after one answer more",
        "loss[1] - loss[0]": "the step of the grid",
        "n * loss[0]": "the lowest sum of n losses",
        "n * loss[0] + step * np.arange(len(total))": "the sums of n losses, in the order of their masses",
        "np.exp(sums) - math.exp(epsilon)": "by how much each ratio is above e^epsilon",
    },
    returns=a_number,
    possible=Number(0, math.inf),  # above 1 where losses are rounded up
    forbidden=(TradeOff.__matmul__, TradeOff.power, TradeOff.delta, tradeoff.product, pld.Curve.__init__),
    hints=(
        "The losses of independent answers add, so the mass of the sum is a convolution: `np.convolve(a, b)`. Do it n - 1 times, "
        "beginning with `mass` itself.",
        "The sum lies on a grid with the same spacing. It begins at n * loss[0], and has as many points as the convolved mass.",
        "You have the sums and their masses. What is left is the formula for delta, with the sums in the place of L: an average of "
        "max(0, e^L - e^epsilon). `np.maximum` takes the larger one entry by entry.",
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
            "a normal loss",
            "You took the sum of the losses for normal, with its mean and its variance. That is an approximation, and on a grid it can be far off: "
            "convolve the masses.",
            _as_if_normal,
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
            _CUT[0],
            recognise=any_of(*_CUT),
        ),
        Misconception(
            "begins anew",
            "Your mass is that of two answers, however many there are: each round begins with the mass of one. Convolve what you have so far "
            "with `mass`, and keep the result for the next round.",
            _ANEW[0],
            recognise=any_of(*_ANEW),
        ),
        Misconception(
            "doubled in each round",
            "You convolve the mass with itself in each round, and so double the number of answers: 2, 4, 8. Convolve it with the mass of one "
            "answer, `mass`.",
            _DOUBLED[0],
            recognise=any_of(*_DOUBLED),
        ),
        Misconception(
            "losses convolved",
            "You convolved the losses as well. Only masses are convolved. The sums of n losses are a grid with the same step, which begins at "
            "n * loss[0].",
            lambda loss, mass, n, epsilon: _hockey_stick(_convolved(loss, n), _convolved(mass, n), epsilon),
        ),
        Misconception(
            "epsilon for each answer",
            "You compare the sums with n * epsilon. Here epsilon is that of all n answers together, as the sums are.",
            lambda loss, mass, n, epsilon: _hockey_stick(_sums(loss, n), _convolved(mass, n), n * epsilon),
        ),
        Misconception(
            "n deltas",
            "You took n times the delta of one answer at epsilon. But each answer has a loss of its own, and the losses add up: convolve the "
            "masses first, and compute one delta from the sums.",
            lambda loss, mass, n, epsilon: n * _hockey_stick(loss, mass, epsilon),
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
