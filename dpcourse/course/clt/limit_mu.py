"""The Gaussian behind many small answers."""

import math

import numpy as np

from dpcourse import clt
from dpcourse.checking import Domain, Exercise, Misconception, Number, Several, a_number, rounded


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


def _berry_esseen_mu(e):
    kl = e * np.tanh(e / 2)
    return float(2 * kl.sum() / math.sqrt((e**2 - kl**2).sum()))


exercise = Exercise(
    title="The Gaussian behind many small answers",
    good_for="a quick look at what many answers cost; an approximation, no guarantee",
    difficulty=2,
    minutes=12,
    points=2,
    domain=Domain({"epsilons": Several(Number(0.01, 5), 1, 20)}),
    draw=_draw_responses,
    reference=_two_k_over_s(),
    means={
        "e ** 2": "the square of each epsilon",
        "e * np.tanh(e / 2)": "the mean loss of each answer",
    },
    returns=a_number,
    possible=Number(0, math.inf),
    forbidden=(clt.limit, clt.functionals, clt.berry_esseen),
    hints=(
        "K and s^2 are sums over the answers, so each needs kl or kappa2 of one answer. Section 4 has both for randomized response, just above "
        "its table. For epsilons = [1.0] the result is 2 tanh(1/2) = 0.924.",
        "K is the sum of epsilon tanh(epsilon / 2), with `math.tanh`; s is a root. The root of what sum?",
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
            "tanh without the half",
            "You took tanh(epsilon). A factor 1/2 is missing inside tanh: 2 p - 1 is the tanh of half of epsilon.",
            _two_k_over_s(kl=lambda e: e * np.tanh(e)),
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
        Misconception(
            "mus in quadrature",
            "You computed 2 kl / sqrt(kappa2) for each answer, which is 2 tanh(epsilon / 2), and added the squares of these, as section 2 does "
            "with Gaussians. One such answer is no Gaussian. First add up the kls and the kappa2s, then divide.",
            lambda epsilons: float(2 * np.linalg.norm(np.tanh(np.array(epsilons) / 2))),
        ),
        Misconception(
            "kl without epsilon",
            "You took tanh(epsilon / 2) for kl. The loss is epsilon or -epsilon, so kl is epsilon times that.",
            _two_k_over_s(kl=lambda e: np.tanh(e / 2)),
        ),
        Misconception(
            "brackets",
            "Brackets are missing in kl: the fraction is `(math.exp(e) - 1) / (math.exp(e) + 1)`. Without them the division comes first.",
            _two_k_over_s(kl=lambda e: e * (np.exp(e) - np.exp(-e) + 1)),
        ),
        Misconception(
            "square of the sum",
            "Your s^2 is the square of the sum of the epsilons. It is the sum of their squares.",
            lambda epsilons: _two_k_over_s(mu=lambda k, s2: 2 * k / sum(epsilons))(epsilons),
        ),
        Misconception(
            "tan for tanh",
            "`tan` is the tangent of an angle. kl has the hyperbolic tangent, `math.tanh`.",
            _two_k_over_s(kl=lambda e: e * np.tan(e / 2)),
        ),
    ),
)
