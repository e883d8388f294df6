"""Four numbers of a curve."""

import numpy as np

from dpcourse import clt
from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, any_of, several
from dpcourse.course.clt.shared import random_mechanism


def _draw_atoms(rng):
    cases = []
    for outcomes in (3, int(rng.integers(4, 7))):
        p, q = random_mechanism(rng, outcomes)
        cases.append({"loss": np.log(q / p), "mass": p})
    return cases


def _moments(loss, mass):
    kl = -float(mass @ loss)
    return [kl, float(mass @ loss**2), float(mass @ np.abs(loss) ** 3), float(mass @ np.abs(loss + kl) ** 3)]


def _powers_of_products(loss, mass):
    x = mass * loss
    kl = -float(x.sum())
    return [kl, float((x**2).sum()), float((np.abs(x) ** 3).sum()), float((np.abs(x + kl) ** 3).sum())]


def _signed(loss, mass):
    """kappa3 and kappa3_bar without absolute values."""
    kl, kappa2, _, _ = _moments(loss, mass)
    return [kl, kappa2, float(mass @ loss**3), float(mass @ (loss + kl) ** 3)]


def _without_absolute_losses(cases, values):
    """As `_signed`, or the absolute values of that."""
    pairs = [
        (np.array(value, dtype=float), np.array(_signed(**case))) for case, value in zip(cases, values, strict=True)
    ]
    return all(
        np.allclose(value[:2], signed[:2], 1e-6) and np.allclose(abs(value[2:]), abs(signed[2:]), 1e-6)
        for value, signed in pairs
    )


def _changed(place, rule):
    """The four functionals with one of them replaced."""

    def code(loss, mass):
        values = _moments(loss, mass)
        values[place] = float(rule(loss, mass))
        return values

    return code


def _under_q(kl):
    """All four as means under Q, with this kl of the mean."""

    def code(loss, mass):
        q = mass * np.exp(loss)
        mean = float(q @ loss)
        return [kl(mean), *(float(q @ power) for power in (loss**2, np.abs(loss) ** 3, np.abs(loss - mean) ** 3))]

    return code


_UNDER_Q = (
    lambda loss, mass: [
        float(mass @ (np.exp(loss) * value))
        for value in (-loss, loss**2, np.abs(loss) ** 3, np.abs(loss - mass @ loss) ** 3)
    ],
    _under_q(lambda mean: mean),
    _under_q(lambda mean: -mean),
)


def _absolute_in_kl(loss, mass):
    kl = float(mass @ np.abs(loss))
    return [kl, *_moments(loss, mass)[1:3], float(mass @ np.abs(loss + kl) ** 3)]


def _roots(*places):
    def code(loss, mass):
        return [
            value ** (1 / power) if place in places else value
            for place, (power, value) in enumerate(zip((1, 2, 3, 3), _moments(loss, mass), strict=True))
        ]

    return code


ATOMS = to_say("`loss` of 2 to 12 outcomes, and their `mass`")


def _any_atoms(rng):
    p, q = random_mechanism(rng, int(rng.integers(2, 13)))
    if rng.random() < 0.3:
        p = np.full(len(p), 1 / len(p))
    elif rng.random() < 0.2:  # an outcome that says nothing
        q = np.r_[p[0], q[1:] * (1 - p[0]) / (1 - q[0])]
    return np.log(q / p), p


def _written(loss, mass):
    """As learners write it."""
    kl = -(mass * loss).sum()
    kappa2 = (mass * loss**2).sum()
    kappa3 = (mass * np.abs(loss) ** 3).sum()
    kappa3_bar = (mass * np.abs(loss + kl) ** 3).sum()
    return [kl, kappa2, kappa3, kappa3_bar]


exercise = Exercise(
    title="Four numbers of a curve",
    good_for="all that the central limit theorem keeps of a mechanism",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"loss, mass": Made(_any_atoms, ATOMS)}),
    draw=_draw_atoms,
    formulas=(_written,),
    reference=_moments,
    means={
        "mass * loss": "each loss, weighed by its mass",
        "loss ** 2": "the square of each loss",
        "np.abs(loss) ** 3": "the cube of the size of each loss",
        "loss + kl": "how far each loss is from its mean, which is -kl",
        "np.abs(loss + kl) ** 3": "the cube of how far each loss is from its mean",
    },
    returns=several("kl", "kappa2", "kappa3", "kappa3_bar"),
    forbidden=(clt.functionals,),
    hints=(
        "The slope is the same along a piece, so the integral over a piece is its width times one number. The width is the mass: every "
        "integral becomes `(mass * something).sum()`, and no curve is needed.",
        "The last expression of each formula says it for L: `something` is `loss`, its square, or `np.abs(...) ** 3`. The last one needs kl, so "
        "compute kl first. With which sign does the deviation from the mean contain it?",
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
            "minus before every integral",
            "Only kl has a minus sign. In kappa2, kappa3 and kappa3_bar you have one too, so they come out negative.",
            lambda loss, mass: [_moments(loss, mass)[0], *(-moment for moment in _moments(loss, mass)[1:])],
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
            "both with sign",
            "In kappa3 and in kappa3_bar terms of opposite signs cancel. Take the absolute value of each, before the third power and not of the sum.",
            _signed,
            recognise=_without_absolute_losses,
        ),
        Misconception(
            "masses in the power",
            "You take the mass into the power along with the loss. In each average the power is of the loss alone; the mass multiplies it.",
            _powers_of_products,
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
            _UNDER_Q[0],
            recognise=any_of(*_UNDER_Q),
        ),
        Misconception(
            "absolute loss in kl",
            "Your kl averages the size of the loss. In kl losses of opposite signs do cancel: no absolute value there, and none in the "
            "deviation |loss + kl| that is made from it but the outer one.",
            _absolute_in_kl,
            recognise=any_of(_absolute_in_kl, _changed(0, lambda loss, mass: mass @ np.abs(loss))),
        ),
        Misconception(
            "roots",
            "You took a root at the end. kappa2, kappa3 and kappa3_bar are the means of the powers as they are.",
            _roots(1, 2, 3),
            recognise=any_of(_roots(1, 2, 3), _roots(1), _roots(2, 3), _roots(1, 2), _roots(3)),
        ),
        Misconception(
            "centred piece by piece",
            "In kappa3_bar you take from each loss what its own piece adds to the mean. The mean is one number for all pieces, -kl: it is the "
            "whole sum.",
            _changed(3, lambda loss, mass: mass @ np.abs(loss - mass * loss) ** 3),
        ),
        Misconception(
            "centred before kl is known",
            "In kappa3_bar you take kl as far as it is summed up at each piece. The deviation is from the whole mean: a loop for kl first, and one "
            "more for kappa3_bar.",
            _changed(3, lambda loss, mass: mass @ np.abs(loss - np.cumsum(mass * loss)) ** 3),
        ),
        Misconception(
            "centred at the plain mean",
            "In kappa3_bar you subtract the plain mean of the losses. The mean of L weighs each loss with its mass; it is -kl.",
            _changed(3, lambda loss, mass: mass @ np.abs(loss - loss.mean()) ** 3),
        ),
        Misconception(
            "power of a sum",
            "Your kappa3_bar is kappa3 and a third power of kl. The third power of a sum is not the sum of the third powers: add kl to each loss "
            "first.",
            _changed(3, lambda loss, mass: mass @ np.abs(loss) ** 3 - (mass @ loss) ** 3),
            recognise=any_of(
                _changed(3, lambda loss, mass: mass @ np.abs(loss) ** 3 - (mass @ loss) ** 3),
                _changed(3, lambda loss, mass: mass @ np.abs(loss) ** 3 + (mass @ loss) ** 3),
            ),
        ),
        Misconception(
            "masses ignored",
            "You average over the pieces as if all were equally wide. Weigh each loss with its mass.",
            lambda loss, mass: _moments(loss, np.full(loss.size, 1 / loss.size)),
        ),
    ),
)
