"""Spot the trap."""

import math

import numpy as np

from dpcourse.base.languages import listed, say, to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, rounded
from dpcourse.checking.calling.values import type_name

ONES = ("each person", "each layer of each person", "the mean of the batch")


NORMS, MULTIPLIERS = (0.5, 0.75, 1.25, 1.5, 2.0), (0.75, 1.25, 1.5, 1.75, 2.0)  # their products are exact in any order


PARTS = (to_say("clipping"), to_say("normalization"), to_say("noise"), to_say("division"), to_say("sampling"))


def _draw_traps(rng):
    """Runs: in turn each part is broken or looks so; the rest is drawn."""
    runs = [
        _run(rng),
        _run(rng, clipped=ONES[1], factor=1.0),
        _run(rng, clipped=ONES[1], factor=1.05),
        _run(rng, clipped=ONES[1], factor="once"),
        _run(rng, clipped=ONES[2]),
        _run(rng, normalization="batch norm"),
        _run(rng, normalization="group norm"),
        _run(rng, neighbours="replace", drawn="fixed size", factor="once"),
        _run(rng, neighbours="replace", drawn="fixed size", factor=1.0),
        _run(rng, neighbours="add or remove", factor=0.8, divided_by="number drawn"),
        _run(rng, drawn="shuffled", accounted="poisson"),
        _run(rng, drawn="fixed size", accounted="poisson", factor=1.4),
        _run(rng, neighbours="add or remove", clipped=ONES[0], factor=0.8, drawn="poisson"),
        _run(rng, neighbours="replace", clipped=ONES[1], drawn="fixed size", factor=1.0),
        _run(rng, neighbours="replace", drawn="fixed size", factor=0.8),
        _run(rng, neighbours="replace", clipped=ONES[1], drawn="fixed size", factor=0.8),
        _run(rng, drawn="poisson", accounted="fixed size"),
        _run(rng, drawn="shuffled", accounted="shuffled"),
        _run(rng, drawn="fixed size", neighbours="add or remove", factor=1.0),
    ]
    return [{"run": runs[i]} for i in rng.permutation(len(runs))]


def _run(rng, factor=None, **fixed):
    """A run in which everything is in order but what is fixed. factor: noise over what is needed; "once": sensitivity clip_norm."""
    drawn = fixed.get("drawn", "poisson")
    run = {
        "clip_norm": float(rng.choice(NORMS)),
        "clipped": ONES[0],
        "layers": int(rng.choice([4, 9])),
        "normalization": str(rng.choice(["none", "group norm"])),
        "neighbours": "replace" if drawn == "fixed size" else "add or remove",
        "noise_multiplier": float(rng.choice(MULTIPLIERS)),
        "divided_by": "expected batch",
        "drawn": drawn,
        "accounted": drawn,
    } | fixed
    needed = run["noise_multiplier"] * (run["clip_norm"] if factor == "once" else _sensitivity(run))
    share = 1.0 if factor == "once" else factor or float(rng.choice([1.0, 1.1]))
    run["noise_std"] = float(share * needed)  # with a share of 1 exactly enough
    return run


def _sensitivity(run, layers=math.sqrt, twice=2):
    times = layers(run["layers"]) if run["clipped"] == ONES[1] else 1
    return run["clip_norm"] * times * (twice if run["neighbours"] == "replace" else 1)


def _in_order(
    clipping=lambda run: run["clipped"] != ONES[2],
    normalization=lambda run: run["normalization"] != "batch norm",
    sensitivity=_sensitivity,
    division=lambda run: run["divided_by"] == "expected batch",
    sampling=lambda run: run["drawn"] == run["accounted"],
    noise=lambda noise, needed: noise >= needed,
):
    """The right five answers for a run, with some of them replaced."""
    return lambda run: [
        bool(clipping(run)),
        bool(normalization(run)),
        bool(noise(run["noise_std"], run["noise_multiplier"] * sensitivity(run))),
        bool(division(run)),
        bool(sampling(run)),
    ]


def _five(value, case):
    """Five entries, each True or False, 1 or 0."""
    parts = listed(map(say, PARTS), "{first}, {then}")
    if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != len(PARTS):
        return say("Return a list of five True or False, for {parts}, not {type}.", parts=parts, type=type_name(value))
    if not all(isinstance(entry, (bool, int, float, np.bool_, np.number)) and entry in (0, 1) for entry in value):
        return say("Each of the five must be True or False: {parts}.", parts=parts)
    return None


RUN = to_say("{name}: a dictionary with the keys of the table above")


def _any_run(rng):
    """Each part as it should be, or as it should not, the noise by much or by little."""
    fixed = {
        "clipped": str(rng.choice(ONES)),
        "normalization": str(rng.choice(["none", "group norm", "batch norm"])),
        "neighbours": str(rng.choice(["replace", "add or remove"])),
        "divided_by": str(rng.choice(["expected batch", "number drawn"])),
        "drawn": str(rng.choice(["poisson", "shuffled", "fixed size"])),
    }
    run = _run(rng, factor=[None, rounded(rng.uniform(0.6, 0.999)), 1.0, 1.05, 1.4, "once"][rng.integers(6)], **fixed)
    return run | {"accounted": str(rng.choice(["poisson", "shuffled", "fixed size", run["drawn"]]))}


exercise = Exercise(
    title="Spot the trap",
    good_for="reading somebody else's training code before you believe its epsilon",
    difficulty=3,
    minutes=25,
    points=4,
    domain=Domain({"run": Made(_any_run, RUN)}),
    draw=_draw_traps,
    reference=_in_order(),
    returns=_five,
    hints=(
        "Take one part at a time. For the noise ask: by how much can one person change the sum, given how it is clipped and who counts as "
        "a neighbour? noise_std must be at least noise_multiplier times that.",
        "Clipped layer by layer to R, the whole gradient of a person has a norm of up to R times the root of the number of layers. "
        "Replacing a person takes one gradient out and puts another in: twice as much.",
        "Four of the five need one comparison each. For the noise begin with clip_norm as what one person can change. Two keys of the run "
        "may each put a factor to it, and both may do so at once. Then compare with noise_std: exactly enough is enough.",
    ),
    misconceptions=(
        Misconception(
            "replaced is once",
            "You took clip_norm as the change when a person is replaced. One gradient goes and another comes: 2 * clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity(run, twice=1)),
        ),
        Misconception(
            "replaced is the root of two",
            "You took the root of 2 times clip_norm where a person is replaced. The two gradients need not be at right angles: if they are "
            "opposite, the sum moves by 2 * clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity(run, twice=math.sqrt(2))),
        ),
        Misconception(
            "always twice",
            "You took 2 * clip_norm throughout. Where a person is added or removed only one gradient comes or goes: clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity({**run, "neighbours": "replace"})),
        ),
        Misconception(
            "fixed size is twice",
            "You took 2 * clip_norm wherever a batch has a fixed size. How a batch is drawn is judged under sampling. For the noise it is the "
            "neighbours that count: where a row is filled or empty, one gradient comes or goes.",
            _in_order(
                sensitivity=lambda run: _sensitivity(
                    {**run, "neighbours": "replace"} if run["drawn"] == "fixed size" else run
                )
            ),
        ),
        Misconception(
            "clip norm left out",
            "You compared the noise with noise_multiplier times a number of gradients, without their length. A gradient may be as long as clip_norm.",
            _in_order(sensitivity=lambda run: _sensitivity(run) / run["clip_norm"]),
        ),
        Misconception(
            "faults marked",
            "You marked the faults with True. True stands where a part is in order.",
            lambda run: [not part for part in _in_order()(run)],
        ),
        Misconception(
            "layers forgotten",
            "You took clip_norm as the norm of a gradient that was clipped layer by layer. With several layers of norm R each, the whole "
            "has a norm of up to R times the root of their number.",
            _in_order(sensitivity=lambda run: _sensitivity(run, layers=lambda count: 1)),
        ),
        Misconception(
            "layers added",
            "You multiplied by the number of layers. Squares of norms add, so it is the root of their number.",
            _in_order(sensitivity=lambda run: _sensitivity(run, layers=lambda count: count)),
        ),
        Misconception(
            "layers always",
            "You multiplied by the root of the number of layers also where each person's whole gradient is clipped. There the norm is at "
            "most clip_norm, however many layers there are.",
            _in_order(sensitivity=lambda run: _sensitivity({**run, "clipped": ONES[1]})),
        ),
        Misconception(
            "layers forbidden",
            "You call clipping layer by layer a fault. It bounds each person's gradient, and so it is allowed; it only asks for more noise.",
            _in_order(clipping=lambda run: run["clipped"] == ONES[0]),
        ),
        Misconception(
            "mean allowed",
            "You let clipping of the mean pass. It does not bound what each person adds: one person can turn the clipped mean round, and with "
            "it the share of everybody else.",
            _in_order(clipping=lambda run: True),
        ),
        Misconception(
            "batch norm allowed",
            "You let batch norm pass. It mixes the people of a batch, so one person changes everybody's gradients, and clipping one's own "
            "does not bound that.",
            _in_order(normalization=lambda run: True),
        ),
        Misconception(
            "group norm forbidden",
            "You call group norm a fault. It normalizes within one person's own data and mixes nobody.",
            _in_order(normalization=lambda run: run["normalization"] == "none"),
        ),
        Misconception(
            "number drawn allowed",
            "You let division by the number drawn pass. That number is secret: it is larger by 1 when Mia's row is filled and drawn. The noise was not "
            "made for it.",
            _in_order(division=lambda run: True),
        ),
        Misconception(
            "shuffled is Poisson",
            "You let batches pass that were drawn in one way and accounted for in another. The guarantee belongs to the way of drawing "
            "that was accounted for.",
            _in_order(sampling=lambda run: True),
        ),
        Misconception(
            "Poisson only",
            "You let only Poisson sampling pass. Batches of fixed size are in order if they are accounted for as such.",
            _in_order(sampling=lambda run: run["drawn"] == run["accounted"] == "poisson"),
        ),
        Misconception(
            "Poisson always",
            "You let Poisson batches pass however they were accounted for. The epsilon of a fixed size is that of another mechanism, and is "
            "meant for other neighbours.",
            _in_order(sampling=lambda run: run["drawn"] in ("poisson", run["accounted"])),
        ),
        Misconception(
            "shuffling forbidden",
            "You object to shuffled batches also where they are accounted for as shuffled. That is another mechanism with another epsilon, "
            "but an honest one.",
            _in_order(sampling=lambda run: run["drawn"] == run["accounted"] != "shuffled"),
        ),
        Misconception(
            "only shuffling",
            "You object to shuffling only. Also a fixed size that is accounted for as Poisson is another mechanism than the one accounted for.",
            _in_order(sampling=lambda run: run["drawn"] != "shuffled"),
        ),
        Misconception(
            "noise of the mean",
            "You call the noise too little where the mean is clipped. Go by `clip_norm` there, as if each person was clipped: the fault is in the "
            "clipping, and counts once.",
            _in_order(sensitivity=lambda run: math.inf if run["clipped"] == ONES[2] else _sensitivity(run)),
        ),
        Misconception(
            "exactly as much",
            "You ask for exactly the noise needed. More noise is in order too: the promise then holds with something to spare.",
            _in_order(noise=lambda noise, needed: math.isclose(noise, needed)),
        ),
        Misconception(
            "more than enough",
            "You ask for more noise than is needed. Exactly as much is in order: the noise must be *at least* that.",
            _in_order(noise=lambda noise, needed: noise > needed),
        ),
        Misconception(
            "layers or replaced",
            "Where a gradient is clipped layer by layer and people are replaced you took account of one of the two only. Both count: the whole "
            "gradient may be longer than clip_norm, and two of them change.",
            _in_order(sensitivity=lambda run: _sensitivity(run, twice=1 if run["clipped"] == ONES[1] else 2)),
        ),
        Misconception(
            "multiplier as deviation",
            "You compared noise_std with noise_multiplier itself. It must be at least noise_multiplier times what one person can change.",
            _in_order(sensitivity=lambda run: 1.0),
        ),
        Misconception(
            "all in order",
            "You say that everything is in order in every run. It is not: look at one part at a time.",
            lambda run: [True] * 5,
        ),
    ),
)
