"""Report noisy max."""

import numpy as np

from dpcourse import laplace, machine
from dpcourse.base.languages import say
from dpcourse.checking import (
    Count,
    Domain,
    Misconception,
    Number,
    RandomExercise,
    Seed,
    Several,
    Whole,
    a_number,
    rounded,
)
from dpcourse.course.laplace.winners import LAWS, log_likelihood, place_of

ELECTIONS = {"again": 3, "wide": 5500, "near": 120, "equal": 230, "few": 1000, "much": 700, "far": 400, "none": 1150}
"""How many of each kind; so many that a scale 10 % off, and another law, Gumbel's too, show in the wide ones."""
MANY, OPTIONS = 100, 10
ENDS = np.cumsum(list(ELECTIONS.values()))
CLEAR = 5.0  # by which the log-likelihood of a law must be above that of each other one that is told otherwise
LED = 6  # counts of elections that have a leader


def _draw_noisy_max(rng):
    """Elections: some with the same seed and equal counts, some with a clear leader of 100, close ones, some with equal counts
    and a large epsilon, in which rounding shows; some with one count among zeros and a small epsilon, some with a lead of 1 and
    a large one, and some with two zeros and a small one, in which a sign that is lost shows, and a search that begins at -1. In some the leader is so far ahead of 99 others that one of these wins now and then.

    In a close one two are 2 behind, one 5, and six are so far behind that they win by a mistake only.
    """
    epsilon, small, large = (rounded(rng.uniform(*range_)) for range_ in ((0.5, 0.6), (0.1, 0.13), (2.6, 3)))
    base = int(rng.integers(300, 900))
    wide, far = np.full(MANY, base), np.full(MANY, base)
    wide[rng.integers(MANY)] += round(4.4 / epsilon)
    far[rng.integers(MANY)] += round(7.5 / epsilon)
    near = base - round(60 / epsilon) - rng.integers(0, 4, size=OPTIONS)
    contenders = rng.permutation(np.arange(1, OPTIONS - 1))[:4]
    near[contenders] = base - np.array([0, 2, 2, 5])
    few = round(2.2 / small) * (np.arange(OPTIONS) == rng.integers(1, OPTIONS))
    much = base + (np.arange(OPTIONS) == rng.integers(1, OPTIONS))
    equal, none = np.full(OPTIONS, base), np.zeros(2, dtype=int)
    tables = (np.full(MANY, base), wide, near, equal, few, much, far, none)
    epsilons = (epsilon, epsilon, epsilon, large, small, large, epsilon, small)
    kinds = [
        {"counts": table, "epsilon": own}
        for table, own, number in zip(tables, epsilons, ELECTIONS.values(), strict=True)
        for _ in range(number)
    ]
    seed = int(rng.integers(2**31))
    return [case | {"rng": seed + max(0, run - ELECTIONS["again"] + 1)} for run, case in enumerate(kinds)]


def _elections(cases, values):
    """Of each kind of elections one case, and the places that were reported."""
    places = np.array([place_of(value) for value in values])
    return {
        kind: (cases[end - 1], some)
        for kind, end, some in zip(ELECTIONS, ENDS, np.split(places, ENDS[:-1]), strict=True)
    }


def _count_noisy_max(cases, values):
    return _counts_under(laplace.noisy_max_chances, _elections(cases, values))


def _counts_under(law, elections):
    """law(counts, epsilon): the chance of each place to be reported, as is asked about."""

    def count(kind, told, rank=1):
        case, places = elections[kind]
        place = np.argsort(case["counts"])[-rank]
        return Count.of(told, places == place, law(case["counts"], case["epsilon"])[place])

    return [
        count("wide", say("reports of the leader among 100 options")),
        count("near", say("reports of the leader where the lead is small")),
        count("near", say("reports of the second where the lead is small"), 2),
        count("few", say("reports of the leader where all others have 0")),
        count("much", say("reports of the leader where epsilon is large")),
        count("far", say("reports of the leader where the lead is large")),
        Count.of(say("reports of the first place where all counts are equal"), elections["equal"][1] == 0, 1 / OPTIONS),
        Count.of(
            say("reports of the last place where all counts are equal"),
            elections["equal"][1] == OPTIONS - 1,
            1 / OPTIONS,
        ),
        Count.of(say("reports of the first of two places with 0"), elections["none"][1] == 0, 0.5),
        Count.of(say("runs that come out the same with the same seed"), np.ptp(elections["again"][1]) == 0, 1.0),
    ]


def _a_place(value, case):
    """One number; tables and pairs pass too, since they have messages of their own."""
    if _length(value) == 1:
        return say("Return one whole number, not an array (or list) that holds one: `int(...)` takes it out.")
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


def _has_a_fraction(value, case):
    return isinstance(value, float) and value != int(value)


def _near_the_largest(value, case):
    """Whether it has a fraction, and is no place with some noise, as far as can be told: there are counts of 0 too."""
    return _has_a_fraction(value, case) and value > case["counts"].max() / 2 - 40 / case["epsilon"]


def _leads_always(cases, values):
    return all(place_of(value) == np.argmax(case["counts"]) for case, value in zip(cases, values, strict=True))


def _most_likely(*names):
    """Whether one of these laws explains the winners best, and not too badly: no count is rarer than 1 in a million."""

    def recognise(cases, values):
        elections = _elections(cases, values)
        fits = {law: _rarest_and_likelihood(chances, elections) for law, chances in LAWS.items()}
        best, *others = sorted(fits, key=lambda law: -fits[law][1])
        clear = all(fits[best][1] - fits[other][1] > CLEAR for other in others if other not in names)
        return best in names and fits[best][0] > 1e-6 and clear

    return recognise


def _rarest_and_likelihood(chances, elections):
    """The smallest p-value of the counts under a law, and the log-likelihood of the winners, where one leads."""
    rarest = min(count.p_value for count in _counts_under(chances, elections)[:LED])
    of_kinds = (elections[kind] for kind in ("wide", "near", "few", "much", "far"))
    return rarest, sum(log_likelihood(places, chances(case["counts"], case["epsilon"])) for case, places in of_kinds)


def _leaders_never(cases, values):
    """Whether none of the four who lead the close elections ever wins, and each winner is an option."""
    elections = _elections(cases, values)
    case, close = elections["near"]
    behind = np.argsort(case["counts"])[:-4]
    return bool(np.isin(close, behind).all() and (elections["wide"][1] >= 0).all())


def _first_place_rare(cases, values):
    elections = _elections(cases, values)
    case, wide = elections["wide"]
    leads = (wide == np.argmax(case["counts"])).mean()
    return bool((elections["equal"][1] == 0).mean() < 0.03 and leads > 0.3)


def _of_kinds(cases, values, *kinds):
    """The places of these kinds of elections, each an array."""
    elections = _elections(cases, values)
    return [elections[kind][1] for kind in kinds]


def _counts_from_one(cases, values):
    places = set(np.concatenate(_of_kinds(cases, values, "near", "equal")).tolist())
    return OPTIONS in places and places <= set(range(1, OPTIONS + 1))


def _with_numpy(counts, epsilon, rng):
    noisy = counts + rng.laplace(0, 1 / epsilon, len(counts))
    return int(np.argmax(noisy))


exercise = RandomExercise(
    title="Report noisy max",
    good_for="finding the best of many options at the price of one",
    difficulty=3,
    minutes=20,
    points=3,
    domain=Domain(
        {"counts": Several(Whole(0, 1000), 1, 100, array=True), "epsilon": Number(0.1, 3), "rng": Seed()}, most=12
    ),
    draw=_draw_noisy_max,
    reference=laplace.report_noisy_max,
    formulas=(_with_numpy,),
    means={"1 / epsilon": "the scale of the noise"},
    returns=_a_place,
    counts=_count_noisy_max,
    compared=500,
    seconds=20.0,  # for a loop over each count, of which an election has up to 100
    forbidden=(laplace.report_noisy_max, laplace.noisy_max_chances, machine.discrete_mechanism, machine.discrete_noise),
    hints=(
        "Add a noise of its own to each count, `rng.laplace(0, b, len(counts))`. In the proof only one of them has to pay, for a threshold that moves by 1. Which b does that take?",
        "It is the b of a single count, however many there are. Put the noisy counts into an array. What may leave it, and which numpy function gives that?",
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
            recognise=_always(_near_the_largest),
        ),
        Misconception(
            "no place",
            "Your results have fractions, so they are no places. The noise belongs to the counts; then look for the place of the largest.",
            lambda counts, epsilon, rng: float(np.argmax(counts) + rng.laplace(0, 1 / epsilon)),
            recognise=_always(_has_a_fraction),
        ),
        Misconception(
            "true count of the winner",
            "You returned the true count of the winner. It is exact, so it is not private. Return the place alone.",
            lambda counts, epsilon, rng: counts[np.argmax(counts + rng.laplace(0, 1 / epsilon, len(counts)))],
            recognise=_always(lambda value, case: place_of(value) in case["counts"]),
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
            "last place",
            "You always report the last place: sorting the noisy counts loses where each of them stood.",
            lambda counts, epsilon, rng: int(np.argmax(np.sort(counts + rng.laplace(0, 1 / epsilon, len(counts))))),
            recognise=_always(lambda value, case: place_of(value) == len(case["counts"]) - 1),
        ),
        Misconception(
            "own seed",
            "Equal counts gave the same winner in every run: you made a generator with a fixed seed. Use the `rng` you are given.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(
                counts, epsilon, np.random.default_rng(5)
            ),
            recognise=lambda cases, values: all(
                np.ptp(places) == 0 for places in _of_kinds(cases, values, "near", "equal")
            ),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave different winners: your noise comes from somewhere else. Draw it from `rng`.",
            lambda counts, epsilon, rng: _noisy(lambda rng, e, m: rng.laplace(0, 1 / e, m))(
                counts, epsilon, np.random.default_rng()
            ),
            recognise=lambda cases, values: bool(np.ptp(*_of_kinds(cases, values, "again")) > 0),
        ),
        Misconception(
            "leader without noise",
            "Where all counts are equal, the first place should win as often as any other, and it hardly ever does: it takes no part, or the leader "
            "gets no noise, or another noise than the rest. Each count needs a noise of its own, the largest too.",
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
            "Your winner hardly depends on the counts. Is the noise far too large, or did you add it to shares?",
            lambda counts, epsilon, rng: int(
                np.argmax(counts / max(counts.sum(), 1) + rng.laplace(0, 1 / epsilon, len(counts)))
            ),
            recognise=_most_likely("no counts", "shares"),
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
            "The leaders win as seldom as with noise of the scale 2 / epsilon, or as if a place is drawn with weights e^(epsilon · count / 2). That is needed where one person "
            "may raise a count and lower another. These counts all move the same way: Laplace noise of the scale 1 / epsilon is enough.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, 2 / epsilon, m)),
            recognise=_most_likely("twice the noise", "Gumbel of twice the scale"),
        ),
        Misconception(
            "m times the noise",
            "Your noise has the scale m / epsilon, as if all counts were released. Only the place leaves: 1 / epsilon is enough.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, m / epsilon, m)),
            recognise=_most_likely("m times the noise"),
        ),
        Misconception(
            "half the noise",
            "The leaders win as often as with noise of scale 1 / (2 epsilon), half of what claim 3.9 needs; noise that only takes away does so too.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, 1 / (2 * epsilon), m)),
            recognise=_most_likely("half the noise"),
        ),
        Misconception(
            "root in the scale",
            "Your noise is the root of 2, or the root of m, times as large as is needed. numpy's `laplace` wants the scale of claim 3.9 itself, "
            "and it does not grow with the number of counts.",
            _noisy(lambda rng, epsilon, m: rng.laplace(0, np.sqrt(2) / epsilon, m)),
            recognise=_most_likely("root of 2 times the noise", "root of m times the noise"),
        ),
        Misconception(
            "one-sided",
            "The leaders win a little too often: as with exponential noise, which only adds, or with Laplace noise whose scale is about a tenth too small. "
            "The first keeps the promise too, but the task asks for Laplace noise; the second does not keep it.",
            _noisy(lambda rng, epsilon, m: rng.exponential(1 / epsilon, m)),
            recognise=_most_likely("one-sided"),
        ),
        Misconception(
            "Gumbel",
            "The leaders win as often as with Gumbel noise, or if the place is drawn with weights e^(epsilon · count). That is the exponential mechanism, which keeps a promise of the same kind. The task asks for Laplace noise.",
            _noisy(lambda rng, epsilon, m: rng.gumbel(0, 1 / epsilon, m)),
            recognise=_most_likely("Gumbel"),
        ),
        Misconception(
            "Gaussian",
            "Your noise looks Gaussian. The step of the proof from r* to r* + 1 costs e^epsilon for Laplace noise. For Gaussian noise, far out, it costs more than any e^epsilon.",
            _noisy(lambda rng, epsilon, m: rng.normal(0, 1 / epsilon, m)),
            recognise=_most_likely("Gaussian", "Gaussian of the same variance"),
        ),
    ),
)
