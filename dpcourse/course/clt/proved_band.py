"""What is proved about beta."""

from dpcourse.checking import Domain, Exercise, Misconception, Number, any_of, rounded, several
from dpcourse.tradeoff import gaussian


def _draw_band(rng):
    """Inside, on both sides outside [gamma, 1 - gamma], where each end of the band is no news, gamma too large, and alpha = gamma.

    Two lie where half of gamma, and twice gamma, would tell otherwise.
    """
    near_low, near_high = rng.uniform(0.06, 0.1), rng.uniform(0.15, 0.2)
    places = [
        (rng.uniform(0.5, 1.5), rng.uniform(0.02, 0.06), rng.uniform(0.2, 0.4)),
        (rng.uniform(0.5, 1.5), near_low, rng.uniform(0.6, 0.9) * near_low),
        (rng.uniform(0.5, 1.5), rng.uniform(0.06, 0.1), rng.uniform(0.95, 0.99)),
        (rng.uniform(1.5, 2), near_high, 1 - rng.uniform(1.3, 1.8) * near_high),
        (rng.uniform(0.2, 0.3), rng.uniform(0.15, 0.2), rng.uniform(0.3, 0.5)),
        (rng.uniform(0.5, 1.5), rng.uniform(0.55, 0.7), rng.uniform(0.45, 0.5)),
        (rng.uniform(0.5, 1.5), 0.125, 0.125),  # exact in binary, however an answer computes it
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


def _is_clear(mu, gamma, alpha):
    """Whether no rounding decides if alpha lies between gamma and 1 - gamma."""
    return (alpha == gamma or abs(alpha - gamma) > 1e-6) and abs(1 - gamma - alpha) > 1e-6


def _written(mu, gamma, alpha):
    """As learners write it."""
    if not gamma <= alpha <= 1 - gamma:
        return 0.0, 1 - alpha
    lower, upper = _g(mu, alpha + gamma) - gamma, _g(mu, alpha - gamma) + gamma
    return max(lower, 0.0), min(upper, 1 - alpha)


exercise = Exercise(
    title="What is proved about beta",
    good_for="reading a theorem with a condition: what it says, and where it says nothing",
    difficulty=2,
    minutes=20,
    points=2,
    domain=Domain(
        {"mu": Number(0.05, 4), "gamma": Number(0, 0.7), "alpha": Number(0, 1)},
        where=_is_clear,
    ),
    draw=_draw_band,
    formulas=(_written,),
    reference=_edges(_low, _high),
    means={
        "_g(mu, alpha + gamma)": "the Gaussian curve, gamma to the right of alpha",
        "_g(mu, alpha - gamma)": "the Gaussian curve, gamma to the left of alpha",
        "1 - alpha": "what no curve is above",
        "not gamma <= alpha <= 1 - gamma": "whether the theorem says nothing of this alpha",
        "gamma <= alpha <= 1 - gamma": "whether the theorem speaks of this alpha",
        "_g(mu, alpha + gamma) - gamma": "the lower end of the band, before it is cut at 0",
        "_g(mu, alpha - gamma) + gamma": "the upper end of the band, before it is cut at 1 - alpha",
    },
    returns=several("lowest", "highest"),
    possible=Number(0, 1),
    hints=(
        "There are two cases: the theorem speaks at this alpha, or it does not. For which alpha does it speak if gamma is 0.1? If it is 0.6? "
        "Where it is silent, what is the least and the most that any trade-off function can be at alpha?",
        "With `g = gaussian(mu)` the theorem's lower end is `g(alpha + gamma) - gamma`. It may be below 0, which is no news; the other end may be "
        "above 1 - alpha, which is none either. `max` and `min` keep what is news.",
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
            "mu moved",
            "You added gamma to mu, and took it off. mu stays as it is: gamma moves alpha, and then beta.",
            _edges(lambda m, c, a: _g(m + c, a), lambda m, c, a: _g(max(m - c, 0.0), a)),
            recognise=any_of(_edges(lambda m, c, a: _g(m + c, a) - c, lambda m, c, a: _g(max(m - c, 0.0), a) + c)),
        ),
        Misconception(
            "gamma as a share",
            "You take a share of G, 1 - gamma or 1 + gamma times it. gamma itself is taken off, and added.",
            _edges(lambda m, c, a: _g(m, a + c) * (1 - c), lambda m, c, a: _g(m, a - c) * (1 + c)),
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
            "ends left out",
            "You leave out the end alpha = gamma. The theorem is stated for gamma <= alpha <= 1 - gamma: at both ends it still speaks.",
            _edges(_low, _high, speaks=lambda gamma, alpha: gamma < alpha < 1 - gamma),
        ),
        Misconception(
            "silent means the curve",
            "Where the theorem does not speak you return G(alpha) twice. There it says nothing of G: left is what holds for every trade-off function.",
            lambda mu, gamma, alpha: (
                _edges(_low, _high)(mu, gamma, alpha) if gamma <= alpha <= 1 - gamma else (_g(mu, alpha), _g(mu, alpha))
            ),
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
