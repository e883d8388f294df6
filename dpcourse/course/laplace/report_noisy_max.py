"""Report noisy max."""

import math

import numpy as np
from scipy.special import log_ndtr

from dpcourse import laplace
from dpcourse.engine import Count, Misconception, RandomExercise, a_number, rounded

AGAIN, MANY, WIDE, NEAR, EQUAL, OPTIONS = 3, 1000, 130, 120, 230, 10


def _draw_noisy_max(rng):
    """483 elections: 3 with the same seed and equal counts, 130 with a clear leader of 1,000, 120 close ones, 230 with equal counts.

    In a close one two are 2 behind, one 5, and six are so far behind that they win by a mistake only.
    """
    epsilon = rounded(rng.uniform(0.5, 0.6))
    base = int(rng.integers(300, 900))
    wide, equal = np.full(MANY, base), np.full(OPTIONS, base)
    wide[rng.integers(MANY)] += round(8 / epsilon)
    near = base - round(60 / epsilon) - rng.integers(0, 4, size=OPTIONS)
    contenders = rng.permutation(np.arange(1, OPTIONS - 1))[:4]
    near[contenders] = base - np.array([0, 2, 2, 5])
    seed = int(rng.integers(2**31))
    tables = [*[np.full(MANY, base)] * AGAIN, *[wide] * WIDE, *[near] * NEAR, *[equal] * EQUAL]
    runs = [*[0] * AGAIN, *range(1, 1 + WIDE + NEAR + EQUAL)]
    return [{"counts": table, "epsilon": epsilon, "rng": seed + run} for table, run in zip(tables, runs, strict=True)]


def _place(value):
    """The place that an answer names; -1 where it names none."""
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    return int(value) if whole and abs(value) < 2**53 else -1


def _elections(cases, values):
    """The places reported in the four kinds of elections: repeated, wide, near, equal."""
    places = np.array([_place(value) for value in values])
    return np.split(places, np.cumsum([AGAIN, WIDE, NEAR]))


def _count_noisy_max(cases, values, chances=laplace.noisy_max_chances):
    """chances(counts, epsilon): of each place to be reported, under the law that is asked about."""
    repeated, wide, close, equal = _elections(cases, values)
    many, near = cases[AGAIN]["counts"], cases[AGAIN + WIDE]["counts"]
    leads, of_near = (chances(counts, cases[0]["epsilon"]) for counts in (many, near))
    leader = np.argmax(many)
    second, first = np.argsort(near)[-2:]
    return [
        Count.of("reports of the leader among 1,000 options", wide == leader, leads[leader]),
        Count.of("reports of the leader where the lead is small", close == first, of_near[first]),
        Count.of("reports of the second where the lead is small", close == second, of_near[second]),
        Count.of("reports of the first place where all counts are equal", equal == 0, 1 / OPTIONS),
        Count.of("runs that come out the same with the same seed", np.ptp(repeated) == 0, 1.0),
    ]


def _a_place(value, case):
    """One number; tables and pairs pass too, since they have messages of their own."""
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) in (2, len(case["counts"])):
        return None
    return a_number(value, case)


def _noisy(noise):
    """Report the place of the largest of counts + noise(rng, epsilon, m)."""
    return lambda counts, epsilon, rng: int(np.argmax(counts + noise(rng, epsilon, len(counts))))


def _always(test):
    return lambda cases, values: all(test(value, case) for case, value in zip(cases, values, strict=True))


def _length(value):
    return len(value) if isinstance(value, (list, tuple, np.ndarray)) else 0


def _leads_always(cases, values):
    return all(_place(value) == np.argmax(case["counts"]) for case, value in zip(cases, values, strict=True))


def _gaussian_chances(counts, epsilon):
    """The chance of each place to have the largest of counts + N(0, 1/epsilon^2)."""
    x, place, times = np.unique((counts - np.max(counts)) * epsilon, return_inverse=True, return_counts=True)
    z = np.linspace(-9, 9, 1001)
    log_below = log_ndtr(z - x[:, None])
    log_wins = -((z - x[:, None]) ** 2) / 2 - math.log(2 * math.pi) / 2 + times @ log_below - log_below
    return np.trapezoid(np.exp(log_wins), z)[place]


def _winner_only_chances(counts, epsilon):
    """The chances if the largest count alone gets Laplace noise: it stays, or the second wins."""
    first = np.argmax(counts)
    second = np.argmax(
        np.where(np.arange(len(counts)) == first, -np.inf, counts)
    )  # of equal ones, argmax takes the first
    chances = np.zeros(len(counts))
    chances[second] = math.exp(-epsilon * (counts[first] - counts[second])) / 2
    chances[first] = 1 - chances[second]
    return chances


LAWS = {
    "winner only": _winner_only_chances,
    "fraction turned over": lambda counts, epsilon: laplace.noisy_max_chances(counts, 1 / epsilon),
    "twice the noise": lambda counts, epsilon: laplace.noisy_max_chances(counts, epsilon / 2),
    "m times the noise": lambda counts, epsilon: laplace.noisy_max_chances(counts, epsilon / len(counts)),
    "Gaussian": _gaussian_chances,
    "Gaussian of the same variance": lambda counts, epsilon: _gaussian_chances(counts, epsilon / math.sqrt(2)),
    "no counts": lambda counts, epsilon: np.full(len(counts), 1 / len(counts)),
}


def _most_likely(*names):
    """Whether one of these laws explains the winners best, and not too badly: no count is rarer than 1 in a million."""

    def recognise(cases, values):
        fits = {law: _rarest_and_likelihood(cases, values, chances) for law, chances in LAWS.items()}
        best = max(fits, key=lambda law: fits[law][1])
        return best in names and fits[best][0] > 1e-6

    return recognise


def _rarest_and_likelihood(cases, values, chances):
    """The smallest p-value of the first three counts under a law, and the log-likelihood of the winners counted there."""
    _, wide, close, _ = _elections(cases, values)
    rarest = min(count.p_value for count in _count_noisy_max(cases, values, chances)[:3])
    likelihood = 0.0
    for places, counts in ((wide, cases[AGAIN]["counts"]), (close, cases[AGAIN + WIDE]["counts"])):
        if not np.isin(places, np.arange(len(counts))).all():
            return 0.0, -math.inf
        with np.errstate(divide="ignore"):
            likelihood += np.log(chances(counts, cases[0]["epsilon"]))[places].sum()
    return rarest, float(likelihood)


def _leaders_never(cases, values):
    """Whether none of the four who lead the close elections ever wins, and each winner is an option."""
    _, wide, close, _ = _elections(cases, values)
    behind = np.argsort(cases[AGAIN + WIDE]["counts"])[:-4]
    return bool(np.isin(close, behind).all() and (wide >= 0).all())


def _first_place_rare(cases, values):
    _, wide, _, equal = _elections(cases, values)
    leads = (wide == np.argmax(cases[AGAIN]["counts"])).mean()
    return bool((equal == 0).mean() < 0.03 and leads > 0.5)


def _counts_from_one(cases, values):
    places = set(np.concatenate(_elections(cases, values)[2:]).tolist())
    return OPTIONS in places and places <= set(range(1, OPTIONS + 1))


exercise = RandomExercise(
    title="Report noisy max",
    good_for="finding the best of many options at the price of one",
    difficulty=3,
    minutes=15,
    points=3,
    draw=_draw_noisy_max,
    reference=laplace.report_noisy_max,
    returns=_a_place,
    counts=_count_noisy_max,
    forbidden=(laplace.report_noisy_max,),
    hints=(
        "Add a noise of its own to each count, `rng.laplace(0, b, len(counts))`. Which b? The proof above the exercise says.",
        "b = 1 / epsilon, however many counts there are. `np.argmax` gives the place of the largest. Return that, and nothing else.",
    ),
    misconceptions=(
        Misconception(
            "all noisy counts",
            "You returned all the noisy counts. With noise of scale 1 / epsilon that costs m epsilon. Only the place of the largest may leave.",
            lambda counts, epsilon, rng: counts + rng.laplace(0, 1 / epsilon, len(counts)),
            recognise=_always(lambda value, case: _length(value) == len(case["counts"])),
        ),
        Misconception(
            "noisy maximum too",
            "You returned two things. The noisy maximum must not leave with the place: the proof hides which threshold was passed, and the maximum shows it.",
            lambda counts, epsilon, rng: (0, float(np.max(counts + rng.laplace(0, 1 / epsilon, len(counts))))),
            recognise=_always(lambda value, case: _length(value) == 2),
        ),
        Misconception(
            "value instead of place",
            "You returned the noisy maximum itself. Return its place: `np.argmax`, not `np.max`.",
            lambda counts, epsilon, rng: float(np.max(counts + rng.laplace(0, 1 / epsilon, len(counts)))),
            recognise=_always(lambda value, case: isinstance(value, float) and value != int(value)),
        ),
        Misconception(
            "true count of the winner",
            "You returned the true count of the winner. It is exact, so it is not private. Return the place alone.",
            lambda counts, epsilon, rng: counts[np.argmax(counts + rng.laplace(0, 1 / epsilon, len(counts)))],
            recognise=_always(lambda value, case: _place(value) in case["counts"]),
        ),
        Misconception(
            "counted from 1",
            "Your places run from 1. In Python the first place is 0.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(counts, epsilon, rng) + 1,
            recognise=_counts_from_one,
        ),
        Misconception(
            "always the leader",
            "You always report the true leader: either there is no noise, or all counts get the same noise, which changes nothing. Each count needs its own.",
            lambda counts, epsilon, rng: int(np.argmax(counts + rng.laplace(0, 1 / epsilon))),
            recognise=_leads_always,
        ),
        Misconception(
            "own seed",
            "Equal counts gave the same winner in every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(
                counts, epsilon, np.random.default_rng(5)
            ),
            recognise=lambda cases, values: all(np.ptp(places) == 0 for places in _elections(cases, values)[2:]),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave different winners: your noise comes from somewhere else. Draw it from `rng`.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(
                counts, epsilon, np.random.default_rng()
            ),
            recognise=lambda cases, values: bool(np.ptp(_elections(cases, values)[0]) > 0),
        ),
        Misconception(
            "leader without noise",
            "The leader gets no noise, or another noise than the rest: where all counts were equal, the first place should win as often as "
            "any other. Each count needs a noise of its own, the largest too.",
            lambda counts, epsilon, rng: int(
                np.argmax(
                    counts + (np.arange(len(counts)) != np.argmax(counts)) * rng.laplace(0, 1 / epsilon, len(counts))
                )
            ),
            recognise=_first_place_rare,
        ),
        Misconception(
            "smallest",
            "You report the smallest noisy count. The question is for the largest: `np.argmax`.",
            lambda counts, epsilon, rng: int(np.argmin(counts + rng.laplace(0, 1 / epsilon, len(counts)))),
            recognise=_leaders_never,
        ),
        Misconception(
            "no counts",
            "Your winner hardly depends on the counts: did you add the noise to them, and not to shares?",
            lambda counts, epsilon, rng: int(
                np.argmax(counts / counts.sum() + rng.laplace(0, 1 / epsilon, len(counts)))
            ),
            recognise=_most_likely("no counts"),
        ),
        Misconception(
            "winner only",
            "You added noise to the largest count only. Then nobody but the true leader and the second can win. Each count needs a noise.",
            lambda counts, epsilon, rng: int(
                np.argmax(counts + (counts == counts.max()) * rng.laplace(0, 1 / epsilon, len(counts)))
            ),
            recognise=_most_likely("winner only"),
        ),
        Misconception(
            "fraction turned over",
            "Your noise has the scale epsilon. More privacy means a smaller epsilon and more noise: 1 / epsilon.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, epsilon, m)),
            recognise=_most_likely("fraction turned over"),
        ),
        Misconception(
            "twice the noise",
            "Your noise has the scale 2 / epsilon. That is needed where one person may raise a count and lower another. "
            "These counts all move the same way, and 1 / epsilon is enough.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, 2 / epsilon, m)),
            recognise=_most_likely("twice the noise"),
        ),
        Misconception(
            "m times the noise",
            "Your noise has the scale m / epsilon, as if all counts were released. Only the place leaves: 1 / epsilon is enough.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, m / epsilon, m)),
            recognise=_most_likely("m times the noise"),
        ),
        Misconception(
            "Gaussian",
            "Your noise looks Gaussian. The step of the proof from r* to r* + 1 costs e^epsilon for Laplace noise only.",
            _noisy(lambda rng, epsilon, m: rng.normal(0, 1 / epsilon, m)),
            recognise=_most_likely("Gaussian", "Gaussian of the same variance"),
        ),
    ),
)
