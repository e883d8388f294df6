"""NoisyAdam."""

import numpy as np

from dpcourse.engine import Exercise, Misconception, numbers_like, rounded

BETA1, BETA2, TINY = 0.9, 0.999, 1e-8


def _draw_adam(rng):
    """Two runs, and one whose gradients are so small that the 1e-8 counts."""
    cases = []
    for steps, scale, digits in ((2, 1, 2), (4, 1, 2), (2, 1e-7, 12)):
        cases.append(
            {
                "weights": rng.normal(size=3).round(2),
                "sums": (rng.normal(size=(steps, 3)) * 3 * scale).round(digits),
                "noises": (rng.normal(size=(steps, 3)) * 2 * scale).round(digits),
                "expected_batch": rounded(rng.uniform(4, 20), 1),
                "learning_rate": rounded(rng.uniform(0.05, 0.3)),
            }
        )
    return cases


def _adam(
    gradient=lambda s, z, b: (s + z) / b,
    squared=lambda s, z, b: ((s + z) / b) ** 2,
    corrected=(True, True),
    root=np.sqrt,
    betas=(BETA1, BETA2),
    keeps=True,
    sign=-1,
    after=lambda z, b: 0.0,
):
    """NoisyAdam, with some of its parts replaced."""

    def code(weights, sums, noises, expected_batch, learning_rate):
        weights, m, u = np.array(weights, dtype=float), 0.0, 0.0
        for t, (s, z) in enumerate(zip(sums, noises, strict=True), 1):
            m, u = (m, u) if keeps else (0.0, 0.0)
            m = betas[0] * m + (1 - betas[0]) * gradient(s, z, expected_batch)
            u = betas[1] * u + (1 - betas[1]) * squared(s, z, expected_batch)
            m_now = (m + after(z, expected_batch)) / (1 - betas[0] ** t if corrected[0] else 1)
            u_now = u / (1 - betas[1] ** t if corrected[1] else 1)
            weights = weights + sign * learning_rate * m_now / (root(u_now) + TINY)
        return weights

    return code


exercise = Exercise(
    title="NoisyAdam",
    good_for="seeing that a cleverer optimizer costs no privacy, as long as it sees only what has noise on it",
    difficulty=3,
    minutes=20,
    points=3,
    draw=_draw_adam,
    reference=_adam(),
    returns=numbers_like("weights"),
    rtol=1e-5,
    hints=(
        "First make the noisy gradient of each step, (sum + noise) / expected_batch, and forget the rest. Then it is Adam as everywhere.",
        "Keep m and u, both 0 at first. In step t = 1, 2, …: m = 0.9 m + 0.1 g, u = 0.999 u + 0.001 g², and then the weights move by "
        "-learning_rate * m̂ / (√û + 1e-8), with m̂ = m / (1 - 0.9^t) and û = u / (1 - 0.999^t).",
    ),
    misconceptions=(
        Misconception(
            "exact second moment",
            "Your second moment comes from gradients without noise. Then the step lengths tell what the noise hides: that is not private. "
            "Adam may see the noisy gradient only.",
            _adam(squared=lambda s, z, b: (s / b) ** 2),
        ),
        Misconception(
            "exact first moment",
            "Your first moment comes from gradients without noise, so the exact sum is in the weights. Adam may see the noisy gradient only.",
            _adam(gradient=lambda s, z, b: s / b),
        ),
        Misconception(
            "no noise at all",
            "Your gradients have no noise. Each is (sum + noise) / expected_batch.",
            _adam(gradient=lambda s, z, b: s / b, squared=lambda s, z, b: (s / b) ** 2),
        ),
        Misconception(
            "noise on the moment",
            "You added the noise to the first moment instead of to the gradient. It belongs on each gradient, before anything is averaged.",
            _adam(gradient=lambda s, z, b: s / b, squared=lambda s, z, b: (s / b) ** 2, after=lambda z, b: z / b),
        ),
        Misconception(
            "noise not divided",
            "You divided the sum by the expected batch, but not the noise. The noise is on the sum; both are divided.",
            _adam(gradient=lambda s, z, b: s / b + z, squared=lambda s, z, b: (s / b + z) ** 2),
        ),
        Misconception(
            "not divided",
            "You did not divide by the expected batch. Adam's steps hardly depend on the scale of the gradients, so this shows only where "
            "they are as small as the 1e-8. The formula has it all the same.",
            _adam(gradient=lambda s, z, b: s + z, squared=lambda s, z, b: (s + z) ** 2),
        ),
        Misconception(
            "1e-8 under the root",
            "You put the 1e-8 under the root. It is added to the root.",
            _adam(root=lambda u: np.sqrt(u + TINY) - TINY),
        ),
        Misconception(
            "1e-8 left out",
            "You left out the 1e-8 in the divisor. It counts where gradients are very small, and where one is 0 you would divide 0 by 0.",
            _adam(root=lambda u: np.sqrt(u) - TINY),
        ),
        Misconception(
            "no bias correction",
            "You left out the bias correction. m and u begin at 0 and are too small at first: divide m by 1 - 0.9^t and u by 1 - 0.999^t.",
            _adam(corrected=(False, False)),
        ),
        Misconception(
            "one correction",
            "You corrected the first moment only. u is too small at first as well, and far more so: divide it by 1 - 0.999^t.",
            _adam(corrected=(True, False)),
        ),
        Misconception(
            "root forgotten",
            "You divided by u itself. Divide by its root, so that the step does not depend on the scale of the loss.",
            _adam(root=lambda u: u),
        ),
        Misconception(
            "moments begin anew",
            "m and u begin at 0 in every step. They are kept from step to step; only the loop's start sets them to 0.",
            _adam(keeps=False),
        ),
        Misconception(
            "betas exchanged",
            "You used 0.999 for m and 0.9 for u. It is the other way round: the squares are averaged over longer.",
            _adam(betas=(BETA2, BETA1)),
        ),
        Misconception(
            "uphill",
            "You went up the gradient. The sign before learning_rate is minus.",
            _adam(sign=1),
        ),
        Misconception(
            "plain SGD",
            "That is NoisySGD: the weights move along the noisy gradient itself. Adam moves along m̂ / (√û + 1e-8).",
            lambda weights, sums, noises, expected_batch, learning_rate: (
                weights - learning_rate * np.add(sums, noises).sum(axis=0) / expected_batch
            ),
        ),
        Misconception(
            "size instead of square",
            "u averages the size of the gradient. It must average its square.",
            _adam(squared=lambda s, z, b: abs((s + z) / b)),
        ),
    ),
)
