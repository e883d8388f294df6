"""How often an audit accuses each of the six mechanisms of lesson 06: python tests/benchmarks/audit_power.py

100 audits of each at 95 % confidence, each with 500 runs with a canary and 500 without. The canary is ten clip norms
long in each of 16 coordinates, and somebody else is there, too, whose vector is 0. Three looks share the risk: at the
first round's place, at the difference of both rounds, and at the first round's size. Wanted:
the broken ones accused in at least 95 of 100, the correct one in at most 5 of 100. About one minute.
"""

import numpy as np
from tqdm import tqdm

from dpcourse import audit

AUDITS, RUNS, FEATURES, CONFIDENCE, MU = 100, 500, 16, 0.95, 1.0


def looks(mechanism, canaries, rng):
    """The scores of the three looks, with `canaries` (0 or 1) in the first round beside somebody else."""
    rows, nobody = np.zeros((1 + canaries, FEATURES)), np.zeros((0, FEATURES))
    rows[1:] = 10.0
    outputs = np.array([mechanism((rows, nobody), 1.0, MU, rng) for _ in range(RUNS)])
    place = outputs.mean(axis=2)
    return place[:, 0], place[:, 0] - place[:, 1], -np.linalg.norm(outputs[:, 0], axis=1)


def proved(mechanism, rng):
    """The mu that one audit proves."""
    pairs = zip(looks(mechanism, 1, rng), looks(mechanism, 0, rng), strict=True)
    return max(audit.mu_lower_bound(*scores, confidence=1 - (1 - CONFIDENCE) / 3) for scores in pairs)


if __name__ == "__main__":
    rng = np.random.default_rng(2026)
    print(f"{AUDITS} audits of each, {RUNS} runs of each kind, promised mu = {MU:g}, confidence {CONFIDENCE:.0%}")
    print(f"{'mechanism':18} {'accused':>8} {'mu proved, lowest, median and highest':>40}")
    for mechanism in audit.MECHANISMS:
        mus = [proved(mechanism, rng) for _ in tqdm(range(AUDITS), leave=False)]
        accused = sum(mu > MU for mu in mus)
        print(f"{mechanism.__name__:18} {accused:8} {min(mus):22.2f} {np.median(mus):8.2f} {max(mus):8.2f}")
