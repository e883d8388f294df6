"""NoisyAdam."""

import numpy as np

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, Number, any_of, numbers_like, rounded

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


def _noisy_after(noise):
    """Adam on exact gradients; noise(z, b, learning_rate) is added to the weights after each step."""

    def code(weights, sums, noises, expected_batch, learning_rate):
        weights, m, u = np.array(weights, dtype=float), 0.0, 0.0
        for t, (s, z) in enumerate(zip(sums, noises, strict=True), 1):
            m = BETA1 * m + (1 - BETA1) * s / expected_batch
            u = BETA2 * u + (1 - BETA2) * (s / expected_batch) ** 2
            move = m / (1 - BETA1**t) / (np.sqrt(u / (1 - BETA2**t)) + TINY)
            weights = weights - learning_rate * move + noise(z, expected_batch, learning_rate)
        return weights

    return code


_AFTER_ADAM = tuple(
    _noisy_after(lambda z, b, eta, sign=sign, size=size: sign * size(z, b, eta))
    for sign in (-1, 1)
    for size in (lambda z, b, eta: eta * z / b, lambda z, b, eta: eta * z, lambda z, b, eta: z / b, lambda z, b, eta: z)
)


def _keeps_corrected(m_too=True, u_too=True):
    """The corrected averages take the place of those that are kept."""

    def code(weights, sums, noises, expected_batch, learning_rate):
        weights, m, u = np.array(weights, dtype=float), 0.0, 0.0
        for t, (s, z) in enumerate(zip(sums, noises, strict=True), 1):
            g = (s + z) / expected_batch
            m, u = BETA1 * m + (1 - BETA1) * g, BETA2 * u + (1 - BETA2) * g**2
            m_now, u_now = m / (1 - BETA1**t), u / (1 - BETA2**t)
            m, u = m_now if m_too else m, u_now if u_too else u
            weights = weights - learning_rate * m_now / (np.sqrt(u_now) + TINY)
        return weights

    return code


def _corrected_by(power, last_only=False):
    """The correction with power(t) in the place of t; or only the last of all steps."""

    def code(weights, sums, noises, expected_batch, learning_rate):
        start, m, u = np.array(weights, dtype=float), 0.0, 0.0
        weights = start
        for t, (s, z) in enumerate(zip(sums, noises, strict=True), 1):
            g = (s + z) / expected_batch
            m, u = BETA1 * m + (1 - BETA1) * g, BETA2 * u + (1 - BETA2) * g**2
            move = m / (1 - BETA1 ** power(t)) / (np.sqrt(u / (1 - BETA2 ** power(t))) + TINY)
            weights = (start if last_only else weights) - learning_rate * move
        return weights

    return code


_ONE_FOR_ALL = tuple(_adam(squared=lambda s, z, b, over=over: over(((s + z) / b) ** 2)) for over in (np.sum, np.mean))


RUN = to_say("1 to 5 `weights`; `sums` and `noises` with a row of as many for each of 1 to 6 steps")


def _any_run(rng):
    steps, weights = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    sums, noises = ((rng.normal(size=(steps, weights)) * times).round(2) for times in (3, 2))
    return rng.normal(size=weights).round(2), sums, noises


def _written(weights, sums, noises, expected_batch, learning_rate):
    """As learners write it."""
    m, u = np.zeros(len(weights)), np.zeros(len(weights))
    for t in range(1, len(sums) + 1):
        gradient = (sums[t - 1] + noises[t - 1]) / expected_batch
        m = 0.9 * m + 0.1 * gradient
        u = 0.999 * u + 0.001 * gradient**2
        move = (m / (1 - 0.9**t)) / (np.sqrt(u / (1 - 0.999**t)) + 1e-8)
        weights = weights - learning_rate * move
    return weights


exercise = Exercise(
    title="NoisyAdam",
    good_for="seeing that a cleverer optimizer costs no privacy, as long as it sees only what has noise on it",
    difficulty=3,
    minutes=25,
    points=3,
    domain=Domain(
        {
            "weights, sums, noises": Made(_any_run, RUN),
            "expected_batch": Number(1, 50),
            "learning_rate": Number(0.001, 0.5),
        }
    ),
    draw=_draw_adam,
    formulas=(_written,),
    reference=_adam(),
    means={
        "(sums[t - 1] + noises[t - 1]) / expected_batch": "the noisy mean gradient of that step",
        "0.9 * m + 0.1 * gradient": "the running mean of the gradients",
        "gradient ** 2": "the square of the noisy gradient",
        "0.999 * u + 0.001 * gradient ** 2": "the running mean of the squares",
        "m / (1 - 0.9 ** t)": "the running mean, corrected for its start at 0",
        "u / (1 - 0.999 ** t)": "the running mean of the squares, corrected for its start at 0",
        "np.sqrt(u / (1 - 0.999 ** t))": "the root of the corrected mean of the squares",
        "np.sqrt(u / (1 - 0.999 ** t)) + 1e-08": "that root, and 1e-8 more",
    },
    returns=numbers_like("weights"),
    rtol=1e-5,
    hints=(
        "First make the noisy gradient of each step, (sum + noise) / expected_batch, and forget the rest. Then it is Adam as everywhere.",
        "m and u are 0 before the loop, and what a step makes of them is kept for the next. The update of m is `m = 0.9 * m + 0.1 * gradient`. "
        "That of u goes the same way, with other numbers, and with the square of each entry.",
        "What is left of the step is the third formula. The divisors 1 - beta^t make new numbers, which are used in this step alone: m and u "
        "themselves stay as they are. t is 1 in the first step.",
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
            "noise after Adam",
            "You gave Adam exact gradients, and added the noise to its step. The noise is made for the sum of the clipped gradients. How far "
            "one person moves a step of Adam, nobody has bounded. Add the noise first, and let Adam see only the result.",
            _AFTER_ADAM[0],
            recognise=any_of(*_AFTER_ADAM),
        ),
        Misconception(
            "corrected averages kept",
            "You keep a corrected m or u, and the next step begins with it. The correction is for the move alone: give its results names of "
            "their own, and keep m and u as they were before it.",
            _keeps_corrected(),
            recognise=any_of(_keeps_corrected(), _keeps_corrected(m_too=False), _keeps_corrected(u_too=False)),
        ),
        Misconception(
            "one u for all weights",
            "Your u is one number for all weights: `g @ g`, `np.sum` and `np.mean` add up over the weights. Adam keeps an average for each weight: "
            "`g**2`, entry by entry.",
            _ONE_FOR_ALL[0],
            recognise=any_of(*_ONE_FOR_ALL),
        ),
        Misconception(
            "last move only",
            "Your weights have made one move, the last. They move in every step, each time from where the last move has left them. Does that line stand behind the loop, or does it begin with the first weights again?",
            _corrected_by(lambda t: t, last_only=True),
        ),
        Misconception(
            "correction of the first step",
            "You correct with t = 1 in every step. t grows: it is 1 in the first step, 2 in the second.",
            _corrected_by(lambda t: 1),
        ),
        Misconception(
            "t one too large",
            "Your t is 2 in the first step. It begins at 1, so that the first m is the first gradient.",
            _corrected_by(lambda t: t + 1),
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
