"""Six published claims, as their publications state them; the source of lesson 10 names these."""

import math

CLAIMS = {
    "US census 2020": {
        "unit": "record of a person",
        "epsilon": 17.14,
        "delta": 1e-10,
        "proved by": "zCDP, ρ = 2.56",
        "released": "once",
    },
    "Apple, emoji": {
        "unit": "report of a device",
        "epsilon": 4.0,
        "delta": 0.0,
        "proved by": "local randomizer",
        "released": "daily",
    },
    "Google mobility": {
        "unit": "day of a user",
        "epsilon": 2.64,
        "delta": 0.0,
        "proved by": "Laplace, basic",
        "released": "daily",
    },
    "Wikimedia views": {
        "unit": "10 views, a device's day",
        "epsilon": 1.0,
        "delta": 1e-7,
        "proved by": "zCDP, ρ = 0.015",
        "released": "daily",
    },
    "Gboard, Spanish": {
        "unit": "device",
        "epsilon": 8.9,
        "delta": 1e-10,
        "proved by": "zCDP, ρ = 0.81",
        "released": "once",
    },
    "VaultGemma": {
        "unit": "1,024 tokens of text",
        "epsilon": 2.0,
        "delta": 1.1e-10,
        "proved by": "DP-SGD accountant",
        "released": "once",
    },
}
VIEWS = "Wikimedia views"
RHO = 0.015  # of a day of VIEWS


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon that rho-zCDP proves at delta. Source: Bun & Steinke (2016), proposition 1.3."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def epsilon_after(name: str, days: int) -> float:
    """Return what a claim bounds after so many days on which the same person takes part; of one that is made once, its epsilon."""
    claim = CLAIMS[name]
    if claim["released"] == "once" or days == 1:
        return claim["epsilon"]
    if name == VIEWS:
        return zcdp_epsilon(RHO * days, claim["delta"])
    return days * claim["epsilon"]


def for_person(epsilon: float, delta: float, rows: int) -> tuple[float, float]:
    """Return the (epsilon, delta) of somebody who has so many rows, from that of one row. Source: Vadhan (2017), lemma 2.2."""
    return rows * epsilon, min(1.0, delta * math.expm1(rows * epsilon) / math.expm1(epsilon))
