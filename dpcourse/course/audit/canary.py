"""A canary."""

import numpy as np

from dpcourse.base.languages import say, to_say
from dpcourse.checking import Domain, Made, Misconception, OpenExercise, a_number, rounded
from dpcourse.checking.calling.values import plain, type_name

MOST_TARGET, ROUNDING = 1e9, 1e-9


def _draw_people(rng):
    """People with entries from 0 to 1, one feature that nobody has, and weights that may become long.

    Clip norms below 1 and above `longest`, and weights in the thousands, so that no target does which forgets one of the
    two: not their product, not twice the weights, not a thousand. A feature before the free one all have alike: that does
    not vary either.
    """
    cases = []
    lengths = (
        (rng.uniform(0.2, 0.8), rng.uniform(5, 20)),
        (rng.uniform(3.5, 5), rng.uniform(0.3, 0.35)),
        (rng.uniform(1, 4), rng.uniform(5000, 9000)),
    )
    for (people, features), (clip_norm, longest) in zip(((6, 4), (9, 6), (7, 5)), lengths, strict=True):
        inputs = rng.uniform(0.1, 1, size=(people, features)).round(2) * (rng.random((people, features)) < 0.8)
        inputs[0] = np.maximum(inputs[0], 0.1)
        free = int(rng.integers(1, features))
        inputs[:, int(rng.integers(free))] = 0.5
        inputs[:, free] = 0
        cases.append({"inputs": inputs, "clip_norm": rounded(clip_norm), "longest": rounded(longest)})
    return cases


def _a_person(value, case):
    """(x, y): as many finite features as others have, and one finite target."""
    features = case["inputs"].shape[1]
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return say(
            "Return two things, `x, y`: an array of {features} features and one number, not {type_name}.",
            features=features,
            type_name=type_name(value),
        )
    x, y = value
    try:
        x = np.asarray(x)
    except ValueError:
        x = np.asarray(None)
    if x.dtype.kind == "b":
        return say("x holds truth values. Features are numbers: `.astype(float)` makes 1 of True and 0 of False.")
    if x.shape != (features,) or x.dtype.kind not in "iuf":
        return say(
            "x must be an array of {features} numbers, one for each feature, not {type_name}.",
            features=features,
            type_name=type_name(plain(value[0])),
        )
    complaint = a_number(plain(y), case)
    if complaint:
        return say("y: {complaint}", complaint=complaint)
    if not np.isfinite(x).all() or abs(y) > MOST_TARGET:
        return say("All numbers must be finite, and the target between -{most:g} and {most:g}.", most=MOST_TARGET)
    return None


def _faults(value, case):
    """What is wrong with a canary, as a set of words."""
    x, y = np.asarray(value[0], dtype=float), float(value[1])
    length, shared = float(np.linalg.norm(x)), np.abs(case["inputs"] @ x).max()
    tests = {
        "no features": length == 0,
        "refused": x.min() < -ROUNDING or x.max() > 1 + ROUNDING,
        "shared": shared > 1e-9 * max(length, 1e-300),
        "short": 2 * abs(y) * length < case["clip_norm"] * (1 - 1e-9),
        "short later": 2 * (abs(y) - case["longest"] * length) * length < case["clip_norm"] * (1 - 1e-9),
    }
    return {name for name, found in tests.items() if found}


def _canary_law(value, case):
    x, y = np.asarray(value[0], dtype=float), float(value[1])
    length = float(np.linalg.norm(x))
    least = max(0.0, 2 * (abs(y) - case["longest"] * length) * length)
    others = np.abs(case["inputs"] @ x).max()
    line = say(
        "entries from {smallest:.3g} to {largest:.3g}, at most {others:.3g} in common with another, gradient at least {least:.4g} long",
        smallest=x.min(),
        largest=x.max(),
        others=others,
        least=least,
    )
    return not _faults(value, case), line


def _canary(features=None, target=lambda x, case: 2 * (case["longest"] + case["clip_norm"] / 2 / np.linalg.norm(x))):
    """A canary with 1 in the feature that nobody has, or with other features, and a target."""

    def code(inputs, clip_norm, longest):
        case = {"inputs": inputs, "clip_norm": clip_norm, "longest": longest}
        x = (inputs == 0).all(axis=0).astype(float)
        x = x if features is None else features(x, inputs)
        return x, float(target(x, case))

    return code


def _has(*faults):
    """recognise: some case has the first of these faults, and no case any that comes before it in the list of slips."""

    def recognise(cases, values):
        found = set().union(*(_faults(value, case) for case, value in zip(cases, values, strict=True)))
        return faults[0] in found and not found & set(faults[1:])

    return recognise


def _is_target(*targets):
    """recognise: whether each y is of the size of one of these."""

    def recognise(cases, values):
        sizes = [[abs(target(case)) for case in cases] for target in targets]
        return any(np.allclose([abs(value[1]) for value in values], each) for each in sizes)

    return recognise


PEOPLE = to_say(
    "`inputs` of 2 to 12 people with 2 to 8 features from 0 to 1, one of which is 0 for all of them; `clip_norm` from 0.2 to 5, `longest` from 0.3 to 9000"
)


def _any_people(rng):
    people, features = int(rng.integers(2, 13)), int(rng.integers(2, 9))
    inputs = rng.uniform(0.1, 1, size=(people, features)).round(2) * (rng.random((people, features)) < 0.8)
    somebody = rng.integers(people, size=features)  # has that feature
    inputs[somebody, range(features)] = np.maximum(inputs[somebody, range(features)], 0.1)
    free, seldom = rng.permutation(features)[:2]
    if (way := rng.random()) < 0.3:  # one feature is all but free
        inputs[:, seldom] = 0
        inputs[int(rng.integers(people)), seldom] = 10.0 ** -rng.integers(1, 7)
    elif way < 0.6:  # or all have it alike
        inputs[:, seldom] = 0.5
    inputs[:, free] = 0
    return inputs, rounded(rng.uniform(0.2, 5)), rounded(10 ** rng.uniform(-0.5, 3.9))


exercise = OpenExercise(
    title="A canary",
    good_for="asking the worst case, which is what the promise is about",
    difficulty=3,
    minutes=15,
    points=3,
    domain=Domain({"inputs, clip_norm, longest": Made(_any_people, PEOPLE)}, most=12),
    draw=_draw_people,
    reference=_canary(),
    returns=_a_person,
    law=_canary_law,
    hints=(
        "Put the canary where nobody else is: `np.flatnonzero((inputs == 0).all(axis=0))` finds the feature that is 0 for all others. Which "
        "gradient does it have there?",
        "With x = 1 in that feature and 0 elsewhere the gradient is 2 |w·x - y| long, and |w·x| is at most `longest`. How far beyond "
        "`longest` must the target be?",
    ),
    misconceptions=(
        Misconception(
            "no features",
            "Your canary has no features: x is 0, so its gradient is 0, and it moves nothing at all.",
            _canary(lambda x, inputs: 0 * x, lambda x, case: 1000.0),
            recognise=_has("no features"),
        ),
        Misconception(
            "not a person",
            "The program takes features from 0 to 1 only. A canary must be one of the people that the promise is made for.",
            _canary(lambda x, inputs: 1000 * x, lambda x, case: 1e6),
            recognise=_has("refused", "no features"),
        ),
        Misconception(
            "features of others",
            "Your canary shares a feature with others. Then they move the weights in the same direction, and what you measure is not the canary "
            "alone. Use the feature that is 0 for everybody else.",
            _canary(lambda x, inputs: 1 - x, lambda x, case: 1e6),
            recognise=_has("shared", "no features", "refused"),
        ),
        Misconception(
            "the longest",
            "Your target is what weights of the length `longest` can reach: they can meet it exactly, and then the gradient is 0. The target must be "
            "farther off, by an amount that depends on `clip_norm`.",
            _canary(target=lambda x, case: case["longest"]),
            recognise=lambda cases, values: all(
                abs(abs(value[1]) / np.linalg.norm(value[0]) / case["longest"] - 1) < 1e-9
                for case, value in zip(cases, values, strict=True)
                if np.any(value[0])
            ),
        ),
        Misconception(
            "taken off",
            "You took `longest` off. The weights may point towards the target, and then w·x makes the gradient shorter: `longest` is to be added.",
            _canary(target=lambda x, case: case["clip_norm"] / 2 - case["longest"]),
            recognise=_is_target(
                lambda case: case["clip_norm"] / 2 - case["longest"], lambda case: case["clip_norm"] - case["longest"]
            ),
        ),
        Misconception(
            "an ordinary person",
            "On some inputs your canary's gradient is shorter than clip_norm even at weights 0, where its length is 2 |y| times that of x. There it is "
            "not clipped, and moves the sum by less than it may. Give it a target that is far off, compared with `longest` and with `clip_norm`.",
            _canary(target=lambda x, case: case["clip_norm"] / 4),
            recognise=_has("short", "no features", "refused", "shared"),
        ),
        Misconception(
            "at the start only",
            "Your canary is clipped while the weights are near 0. When they have grown towards its target its gradient becomes shorter than "
            "clip_norm: then it moves the sum by less than it may. |w·x| can be as large as `longest` times the length of x.",
            _canary(target=lambda x, case: 1.01 * case["clip_norm"] / 2),
            recognise=_has("short later", "no features", "refused", "shared", "short"),
        ),
    ),
)
