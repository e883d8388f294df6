"""A claim per day, after many days."""

import math

import numpy as np

from dpcourse import gdp
from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, a_number, any_of, rounded


def _draw_days(rng):
    return [
        {
            "rho": rounded(rng.uniform(*rhos), 3),
            "days": int(rng.integers(*days)),
            "delta": float(f"{10 ** rng.uniform(-10, -5):.1e}"),
        }
        for rhos, days in (((0.01, 0.03), (20, 60)), ((0.1, 0.5), (3, 9)), ((0.001, 0.005), (200, 366)))
    ]


def _written(rho, days, delta):
    total = rho * days
    return total + 2 * math.sqrt(total * math.log(1 / delta))


def _with(log=lambda delta, days: math.log(1 / delta), total=lambda rho, days: rho * days, factor=2.0):
    def code(rho, days, delta):
        whole = total(rho, days)
        return whole + factor * math.sqrt(whole * log(delta, days))

    return code


def _at_best_of(orders, conversion=lambda orders, delta: np.log(1 / delta) / (orders - 1)):
    """The classic conversion, or another, at the best of these orders only."""
    orders = np.asarray(orders, dtype=float)
    return lambda rho, days, delta: float(np.min(orders * rho * days + conversion(orders, delta)))


def _sharper(orders, delta):
    """The conversion of Canonne, Kamath & Steinke (2020)."""
    return np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)


FINE = 1 + np.geomspace(1e-3, 1e4, 4000)
WHOLE_ORDERS = [_at_best_of(range(2, most + 1)) for most in (32, 63, 64, 100, 128, 255, 256, 500, 1000)]
LISTED = [_at_best_of([1 + x / 10 for x in range(1, 100)] + list(range(12, most + 1))) for most in (63, 64)]


def _is_sharper(cases, values):
    """recognise: whether the values come from the sharper conversion, by whatever orders."""
    least = [_at_best_of(FINE, _sharper)(**case) for case in cases]
    return all(
        (1 - 1e-5) * low <= value <= 1.02 * low and value < _written(**case)
        for case, value, low in zip(cases, values, least, strict=True)
    )


def _advanced(rho, days, delta):
    """The ε of a day, and the theorem of advanced composition."""
    epsilon = _written(rho, 1, delta)
    return math.sqrt(2 * days * math.log(1 / delta)) * epsilon + days * epsilon * math.expm1(epsilon)


exercise = Exercise(
    title="A claim per day, after many days",
    good_for="reading a claim that is made anew every day",
    difficulty=1,
    minutes=4,
    points=1,
    domain=Domain({"rho": Number(0.001, 3), "days": Whole(1, 1000), "delta": Number(1e-12, 0.01)}),
    draw=_draw_days,
    reference=_written,
    means={
        "rho * days": "the ρ of all days together",
        "math.log(1 / delta)": "the natural logarithm of 1 / δ",
        "total * math.log(1 / delta)": "ρ of all days, times the natural logarithm of 1 / δ",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    hints=(
        "The divergences of several answers add up, at every order. So what is the ρ of all days together?",
        "With that ρ use the formula once: ε = ρ + 2 sqrt(ρ ln(1/δ)). The δ is that of all days together, and is used once.",
    ),
    misconceptions=(
        Misconception(
            "the ε of a day, times the days",
            "You converted one day and multiplied its ε by the days. That is true and wasteful, and its δ would be days times as large. Add up ρ first, and convert once.",
            lambda rho, days, delta: days * (rho + 2 * math.sqrt(rho * math.log(1 / delta))),
        ),
        Misconception(
            "one day",
            "This is the ε of one day. The same person is there on all of them, and ρ adds up.",
            lambda rho, days, delta: _written(rho, 1, delta),
        ),
        Misconception(
            "the root of the days",
            "You multiplied the ε of a day by the root of the days. That is right for its second part only: the first part, ρ, grows with the days themselves.",
            lambda rho, days, delta: math.sqrt(days) * (rho + 2 * math.sqrt(rho * math.log(1 / delta))),
        ),
        Misconception(
            "log to base 10",
            "You took the logarithm to base 10. The formula has the natural one, `math.log`.",
            _with(lambda delta, days: math.log10(1 / delta)),
        ),
        Misconception(
            "δ shared out",
            "You gave each day its share of δ. Here δ is not shared out: it enters once, when the ρ of all days is converted.",
            _with(lambda delta, days: math.log(days / delta)),
        ),
        Misconception(
            "the first part of one day",
            "Under the root you have all days, and before it only one: ρ itself adds up as well.",
            lambda rho, days, delta: rho + 2 * math.sqrt(rho * days * math.log(1 / delta)),
        ),
        Misconception(
            "the root of one day",
            "Before the root you have all days, and under it only one.",
            lambda rho, days, delta: rho * days + 2 * math.sqrt(rho * math.log(1 / delta)),
        ),
        Misconception(
            "a list of orders",
            "You tried a list of orders and took the best of them. What you found holds, but it is too large wherever the best order lies between two of them, or beyond them. The best of all orders is 1 + sqrt(ln(1/δ)/ρ), with the ρ of all days: the formula has it already.",
            WHOLE_ORDERS[1],
            recognise=any_of(*WHOLE_ORDERS, *LISTED),
        ),
        Misconception(
            "a sharper conversion",
            "You converted by a sharper formula than that of the text. What you found holds. Here the ε that the formula of the text gives is asked for: ρ + 2 sqrt(ρ ln(1/δ)), with the ρ of all days.",
            _at_best_of(FINE, _sharper),
            recognise=_is_sharper,
        ),
        Misconception(
            "advanced composition",
            "You converted one day and added up its ε by advanced composition. That theorem knows nothing of the noise, and its δ would be larger too. Add up ρ first, and convert once.",
            _advanced,
            recognise=any_of(
                _advanced,
                lambda rho, days, delta: _written(rho, 1, delta) if days == 1 else _advanced(rho, days, delta),
            ),
        ),
        Misconception(
            "as if Gaussian",
            "You took the exact ε of Gaussian answers with this ρ. The claim is zCDP, which other noises keep as well, and for those the ε of Gaussian noise is not proved.",
            lambda rho, days, delta: gdp.epsilon(delta, math.sqrt(2 * rho * days)),
        ),
        Misconception(
            "ρ added as μ",
            "You added up as standard deviations do. It is μ that adds up by its squares, and ρ = μ²/2 is such a square already: it just adds.",
            _with(total=lambda rho, days: rho * math.sqrt(days)),
        ),
    ),
)
