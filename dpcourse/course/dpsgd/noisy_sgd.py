"""The whole run: coins, clipped sum, noise, ledger, step."""

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Made, Misconception, RandomExercise, Seed, rounded
from dpcourse.checking.calling.training import AHEAD
from dpcourse.checking.calling.values import type_name
from dpcourse.course.dpsgd.diary import run_of
from dpcourse.course.dpsgd.loops import (
    BY_COINS,
    RIGHT_NOISE,
    after,
    all_beforehand,
    all_or_none,
    at_the_end,
    before,
    loop,
    noise_of,
    once,
    whatever_it_says,
)
from dpcourse.course.dpsgd.measured import (
    count,
    flat,
    grows_with_people,
    in_ended,
    in_long,
    in_small,
    little_on_empty,
    noise,
    of_one_size,
    of_size,
)
from dpcourse.course.dpsgd.poisson_batches import _coins, _coins_until_somebody, _each_step, _shuffled
from dpcourse.course.dpsgd.shared import as_array, row_norms
from dpcourse.course.dpsgd.sums import TOLD

STEPS, FEW, ROOM = 400, 60, 25
GIVEN = ("weights", "gradients", "n", "ledger", "sample_rate", "noise_multiplier", "clip_norm", "learning_rate", "steps")  # fmt: skip
WEIGHTS = 20


def _weights_and_ledger(value, case):
    """The weights, and the ledger that was given, which comes back as its diary."""
    people, weights = case["gradients"].shape
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return say(
            "Return two things, `weights, ledger`: the weights and what they cost. This is {type}.",
            type=type_name(value),
        )
    final, diary = map(as_array, value)
    if final.dtype.kind not in "iuf" or final.shape != (weights,):
        return say(
            "The first of the two must be the weights, an array of {weights} numbers, not {type}.",
            weights=weights,
            type=type_name(value[0]),
        )
    if (
        not isinstance(value[1], np.ndarray)
        or diary.dtype.kind != "f"
        or diary.ndim != 2
        or diary.shape[1] != AHEAD + people + weights
    ):
        return say("The second of the two must be the ledger itself, the one that your function was given.")
    if not np.isfinite(final).all():
        return say(
            "The weights are not finite. A batch may be empty, so do not divide by its size; and a gradient may be 0, so do "
            "not divide by its norm alone."
        )
    sane = np.isfinite(diary).all() and np.abs(diary).max(initial=0) < 1e9
    return None if sane else say("The weights grow beyond all bounds: look at the sign and the size of the step.")


# ---- inputs


def _draw_runs(rng):
    """A run of many steps; one in which batches are often empty, and the ledger has room for more; one that the ledger ends; it again; by another seed; and two
    in which no step is taken.

    Gradients are long, short, and one is 0; they point much the same way, so that what is added up can be told.
    """
    many = _setting(rng, 2 * int(rng.integers(15, 20)), rounded(rng.uniform(0.25, 0.35)))
    few = _setting(
        rng, 2 * int(rng.integers(5, 7)), rounded(rng.uniform(0.05, 0.06))
    )  # for whom 1 is not nearly sample_rate * n
    seeds = rng.integers(2**31, size=4).tolist()
    long, ended = {"steps": STEPS, "ledger": STEPS}, {"steps": FEW, "ledger": ROOM}
    cases = [
        (many | long, 0),
        (few | long | {"ledger": STEPS + ROOM}, 1),
        (many | ended, 2),
        (many | ended, 2),
        (many | ended, 3),
        (many | ended | {"steps": 0}, 2),
        (many | ended | {"ledger": 0}, 2),
    ]
    return [given | {"rng": seeds[i]} for given, i in cases]


def _setting(rng, n, sample_rate):
    clip_norm = rounded(rng.uniform(3.2, 4))
    lengths = np.r_[rng.uniform(1.5, 5, size=n // 2), rng.uniform(0.3, 0.9, size=n - n // 2 - 1), 0]
    directions = np.abs(rng.normal(size=(n, WEIGHTS))) + 0.3
    rows = clip_norm * rng.permutation(lengths)[:, None] * directions / row_norms(directions)
    return {
        "weights": rng.normal(size=WEIGHTS).round(2),
        "gradients": rows.round(4),
        "n": n,
        "ledger": 0,
        "sample_rate": sample_rate,
        "noise_multiplier": rounded(rng.uniform(0.42, 0.46)),
        "clip_norm": clip_norm,
        "learning_rate": rounded(rng.uniform(0.2, 0.6)),
        "steps": 0,
    }


def _noise_of_its_own(sigma, r, expected, people, size, rng):
    return RIGHT_NOISE(sigma, r, expected, people, size, np.random.default_rng(people))


RUN = to_say("2 to 60 people, 20 weights, 0 to 400 steps, and a ledger with room for as many, for more or for fewer")


def _any_run(rng):
    """A short run; it may have no step, or no room for one."""
    setting = _setting(rng, int(rng.integers(2, 61)), rounded(rng.uniform(0.05, 0.5)))
    return tuple((setting | {"steps": int(rng.integers(0, 8)), "ledger": int(rng.integers(0, 8))}).values())


exercise = RandomExercise(
    title="The whole run",
    good_for="everything that a private training program does, in a dozen lines",
    difficulty=4,
    minutes=30,
    points=4,
    domain=Domain({", ".join(GIVEN): Made(_any_run, RUN), "rng": Seed()}, most=8),
    draw=_draw_runs,
    reference=loop(),
    returns=_weights_and_ledger,
    compared=0,
    counts=count,
    noise=noise,
    hints=(
        "Write the loop without the ledger first: `for _ in range(steps)`, in it a batch as in {poisson_batches}, its rows "
        "`gradients(weights, batch)`, and the step of {noisy_sgd_step} with noise drawn from `rng`. An empty batch needs no case of its own.",
        "Where may the ledger say no? Before anything of the step is in the weights. `try:` on one line, `ledger.spend(noise_multiplier, "
        "sample_rate)` on the next, and `except ValueError:` catches the refusal.",
        "After a refusal no further step is taken: `break` leaves the loop, and what stands below it is "
        "`return weights, ledger`. What has to happen to `weights` in each round, so that the next begins where it ended?",
    ),
    misconceptions=(
        Misconception(
            "no ledger",
            "You never wrote a step into the ledger. Weights with noise on them, of which nobody knows how many steps they took, have no ε. "
            "`ledger.spend(noise_multiplier, sample_rate)`, before each step.",
            loop(pays=lambda ledger, kind, steps: iter(range(steps))),
            recognise=in_long(lambda run: run.paid + run.refused == 0),
        ),
        Misconception(
            "other settings paid for",
            "The ledger was asked for a step with other settings than those of the run, and refused. `spend` takes the noise multiplier first, then the sample rate.",
            loop(pays=lambda ledger, kind, steps: before(ledger, kind[::-1], steps)),
            recognise=in_long(lambda run: run.others_asked),
        ),
        Misconception(
            "no gradients",
            "You never asked for anybody's gradients. `gradients(weights, batch)` gives a row for each person in the batch.",
            lambda weights, gradients, n, ledger, p, sigma, r, eta, steps, rng: (
                weights + sum(rng.normal(size=WEIGHTS) for _ in before(ledger, (sigma, p), steps)),
                ledger,
            ),
            recognise=in_long(lambda run: len(run.points) == 0),
        ),
        Misconception(
            "one step",
            "Your function ends after one step. Does `return` stand inside the loop? It belongs below, further left.",
            loop(pays=lambda ledger, kind, steps: before(ledger, kind, 1)),
            recognise=in_long(lambda run: run.paid == len(run.points) == 1 and not run.refused),
        ),
        Misconception(
            "fewer steps",
            "Your run ends before all of its steps are taken, though the ledger has room for them. `range(steps)` has as many rounds as there are steps.",
            loop(pays=lambda ledger, kind, steps: before(ledger, kind, steps - 1)),
            recognise=in_long(lambda run: 1 < run.paid == len(run.points) < run.meant and not run.refused),
        ),
        Misconception(
            "gradients once",
            "You asked for the gradients once, at the first weights, and used them in every step. The weights move and the gradients change "
            "with them: ask in each step, for the people of its batch.",
            loop(looks="once"),
            recognise=in_long(lambda run: len(run.points) == 1 and run.n == np.sum(run.people)),
        ),
        Misconception(
            "back to the start",
            "You ask for the gradients at the same weights in every step. Each step begins where the last one ended: the new weights take the "
            "place of the old ones, and the next gradients are taken there.",
            loop(looks="back"),
            recognise=in_long(lambda run: len(run.points) > 1 and not np.ptp(run.points, axis=0).any()),
        ),
        Misconception(
            "paid once",
            "You wrote one step into the ledger, and took many. Each step spends: `ledger.spend` belongs in the loop.",
            loop(pays=once),
            recognise=in_long(lambda run: run.paid == 1 < len(run.points)),
        ),
        Misconception(
            "all paid beforehand",
            "You wrote all steps down before the first was taken. That is private. But the check then knows a step by its look at the gradients, "
            "and it sees fewer looks than steps. An empty batch is a step like all others: ask for its gradients too, and add the noise, so that the "
            "weights move. Or write each step down just before it is taken.",
            loop(pays=all_beforehand, asks_nobody=False),
            recognise=in_small(lambda run: len(run.points) > 1 and run.paid_before.min() == run.paid > len(run.points)),
        ),
        Misconception(
            "paid at the end",
            "You wrote the steps down after the last of them was taken. Whether the budget had room for them, nobody asked. Spend before each step, "
            "inside the loop.",
            loop(pays=at_the_end),
            recognise=in_long(lambda run: run.paid > 1 and len(run.points) > 1 and run.paid_before.max() == 0),
        ),
        Misconception(
            "refusal ignored",
            "The ledger refused, and you went on training. From there on nothing is promised. Take no step that it refuses, and return the weights so far.",
            loop(pays=whatever_it_says),
            recognise=in_ended(lambda run: run.refused and run.unpaid > 1),
        ),
        Misconception(
            "paid after the step",
            "Where the ledger refuses you have taken the step already: your weights hold one step more than the ledger. Spend before anything of "
            "the step is in the weights.",
            loop(pays=after),
            recognise=in_ended(lambda run: run.refused == 1 and run.unpaid == 1),
        ),
        Misconception(
            "all or none",
            "Where the ledger has no room for all steps you took none. Those that it wrote down are paid for: take each step that it allows, and end at the one that it refuses.",
            loop(pays=all_or_none),
            recognise=in_ended(lambda run: run.paid and run.refused and not len(run.points) and not run.moved.any()),
        ),
        Misconception(
            "all lost",
            "Where the ledger refused you returned the weights of the beginning. The steps before are paid for, and what they gave is yours: "
            "return the weights so far.",
            loop(loses=True),
            recognise=in_ended(lambda run: run.lost),
        ),
        Misconception(
            "generator ignored",
            "The same `rng` gave two different runs: coins or noise come from somewhere else. Draw both from `rng`.",
            loop(generator=lambda rng: np.random.default_rng()),
            recognise=lambda cases, values: not run_of(cases[2], values[2]).is_like(run_of(cases[3], values[3])),
        ),
        Misconception(
            "own seed",
            "Two different seeds gave the same run: you made a generator with a fixed seed. Whoever reads your code can take the noise off. Use "
            "the `rng` you are given.",
            loop(generator=lambda rng: np.random.default_rng(0)),
            recognise=lambda cases, values: (
                len(run_of(cases[2], values[2]).points)
                and run_of(cases[2], values[2]).is_like(run_of(cases[4], values[4]))
            ),
        ),
        Misconception(
            "everybody",
            "In every step you asked for the gradients of everybody. Draw first: `gradients` is for the people of the batch alone.",
            loop(draw=lambda n, p, steps, rng: [np.arange(n)] * steps),
            recognise=in_long(lambda run: len(run.people) > 1 and run.people.min() == 1),
        ),
        Misconception(
            "same batch",
            "Every step has the same batch. The coins are tossed anew in each step, inside the loop.",
            loop(draw=lambda n, p, steps, rng: [_coins(n, p, rng)] * steps),
            recognise=in_long(lambda run: len(run.people) > 1 and not np.ptp(run.people, axis=0).any()),
        ),
        Misconception(
            "complement",
            "You drew those whose coin came up with probability 1 - sample_rate. `rng.random(n) < sample_rate` is True with probability sample_rate.",
            loop(draw=lambda n, p, *rest: BY_COINS(n, 1 - p, *rest)),
            recognise=in_long(lambda run: len(run) > 20 and abs(run.times.mean() - (1 - run.p)) < 0.05),
        ),
        Misconception(
            "one coin for the run",
            "Hardly anybody is drawn more than once in the whole run: did you divide `sample_rate` by `steps`? It is the probability of being in one "
            "batch, and everybody tosses anew in every step.",
            loop(draw=lambda n, p, steps, rng: BY_COINS(n, p / max(1, steps), steps, rng)),
            recognise=in_long(lambda run: len(run.points) > 20 and 0 < run.times.sum(axis=0).mean() < 2),
        ),
        Misconception(
            "one size",
            "Your batches have one size, as those of a data loader. Then people are not independent, and f_p is not the curve of a step. Let each "
            "person toss her own coin in each step, as in {poisson_batches}.",
            loop(draw=_shuffled),
            recognise=in_long(of_one_size),
        ),
        Misconception(
            "more than once",
            "Somebody is in a batch more than once, with more weight than the clipping allows. One coin for each person: in or out. (A list of 0s and 1s "
            "is no list of people: `np.flatnonzero` makes one of it.)",
            loop(draw=_each_step(lambda n, p, rng: rng.integers(n, size=round(n * p)))),
            recognise=in_long(lambda run: run.people.max(initial=0) > 1),
        ),
        Misconception(
            "empty batch not counted",
            "Where nobody was drawn you took no step and wrote none down. Then the number of steps tells how many batches were empty, and the "
            "ledger does not know. An empty batch is a step like all others, with noise, and it is paid for.",
            loop(draw=lambda n, p, steps, rng: [batch for batch in BY_COINS(n, p, steps, rng) if len(batch)]),
            recognise=in_small(lambda run: run.paid < run.meant and run.people.sum(axis=1).min(initial=1) > 0),
        ),
        Misconception(
            "noise for each person",
            "You added noise once for each person. It is added once, to the sum, also where nobody was drawn.",
            loop(
                noise=lambda sigma, r, expected, people, *rest: (
                    np.sqrt(people) * RIGHT_NOISE(sigma, r, expected, people, *rest)
                )
            ),
            recognise=in_long(grows_with_people),
        ),
        Misconception(
            "empty batch without noise",
            "Where nobody was drawn the weights stayed as they were, or moved with less noise. Then everybody sees that the batch was empty, and that "
            "Mia was not in it. The noise is added all the same.",
            loop(skips_empty=True),
            recognise=in_small(little_on_empty),
        ),
        Misconception(
            "empty batches drawn again",
            "None of your batches is empty, where some should be. An empty batch is drawn with a known probability and is accounted for. Drawing "
            "again changes everybody's chances.",
            loop(draw=_each_step(_coins_until_somebody)),
            recognise=in_small(lambda run: run.paid == run.meant and run.times.sum(axis=1).min(initial=1) > 0),
        ),
        Misconception(
            "no noise",
            "Your steps have no noise. Clipping alone hides nobody.",
            loop(noise=noise_of(lambda sigma, r, expected: 0.0)),
            recognise=in_long(lambda run: np.abs(run.noise).max(initial=0) < 1e-6 and len(run.noise)),
        ),
        Misconception(
            "one noise for all weights",
            "You drew one noise and added it to every weight. The differences between weights are then exact. Draw one for each weight.",
            loop(noise=lambda sigma, r, expected, people, size, rng: sigma * r * rng.normal() * np.ones(size)),
            recognise=flat(1),
        ),
        Misconception(
            "same noise in each step",
            "Every step has the same noise. Whoever takes one step from the next has no noise left. Draw it anew in each step, inside the loop.",
            loop(noise=lambda *given: RIGHT_NOISE(*given[:-1], np.random.default_rng(0))),
            recognise=flat(0),
        ),
        Misconception(
            "noise of its own seed",
            "Two different seeds gave other batches and the same noise: it comes from a generator with a fixed seed. Whoever reads your code can "
            "take the noise off. Draw it from the `rng` you are given.",
            loop(noise=_noise_of_its_own),
            recognise=lambda cases, values: bool(
                (runs := [run_of(cases[i], values[i]) for i in (2, 4)])[0].noises_of(runs[1]).mean() > 0.5
                and not runs[0].is_like(runs[1])
            ),
        ),
        of_size(
            "noise after dividing",
            "You added the noise after dividing by p n, so there is p n times too much of it. Noise goes on the sum; then all is divided.",
            lambda sigma, r, expected: sigma * r * expected,
        ),
        of_size(
            "clip norm not in the noise",
            "Your noise has the deviation noise_multiplier. It must be noise_multiplier * clip_norm.",
            lambda sigma, r, expected: sigma,
        ),
        of_size(
            "multiplier not in the noise",
            "Your noise has the deviation clip_norm. It must be noise_multiplier * clip_norm.",
            lambda sigma, r, expected: r,
        ),
        of_size(
            "noise as it is",
            "Your noise has the deviation 1. On the sum it must have noise_multiplier * clip_norm.",
            lambda sigma, r, expected: 1.0,
        ),
        of_size(
            "variance",
            "Your noise has the deviation (noise_multiplier * clip_norm)²: that is its variance, and `rng.normal` takes the deviation. Or was noise that had its size already multiplied by it once more? In {noisy_sgd_step} the noise handed in has the deviation 1.",
            lambda sigma, r, expected: (sigma * r) ** 2,
        ),
        *(
            Misconception(name, message, loop(added=name), recognise=in_long(lambda run, name=name: run.added == name))
            for name, message in TOLD.items()
        ),
        Misconception(
            "another length",
            "You add the right sum and the right noise, and each step is too long or too short, both of them by one factor. Divide by p n as it is, sample_rate * n, "
            "which need not be a whole number, and take the learning rate once, the same in each step.",
            lambda weights, gradients, n, ledger, p, sigma, r, eta, steps, rng: loop()(
                weights, gradients, n, ledger, p, sigma, r, 1.3 * eta, steps, rng
            ),
            recognise=in_long(lambda run: run.added in (None, "right") and run.scaled is not None),
        ),
    ),
)
