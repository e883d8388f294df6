"""What a generator puts out next."""

from dpcourse.base.languages import to_say
from dpcourse.checking import Domain, Exercise, Made, Misconception, a_whole_number, any_of

PRIMES = (101, 1009, 65537, 2147483647)
TOLD = to_say(
    "`outputs`: three to six outputs in a row, none of them equal to the one before; `m`: a prime number from 101 to "
    "2147483647"
)


def _outputs(rng, prime=None, before_0=False):
    """(outputs, m): of a generator x -> (a x + c) mod m whose first number is not one that stays; now and then a is 1.

    before_0: whether 0 is what comes next, as it does now and then. a is never 0: from the second number on all would be the same, and no difference of two could be divided by.
    """
    m = PRIMES[int(rng.integers(len(PRIMES)))] if prime is None else prime
    a = int(rng.integers(2, m) if rng.random() < 0.8 else 1)
    c, x = int(rng.integers(1, m)), int(rng.integers(m))
    more = int(rng.integers(2, 6))
    if before_0 or rng.random() < 0.05:
        x = 0
        for _ in range(more + 1):
            x = (x - c) * pow(a, -1, m) % m
    if (a * x + c) % m == x:
        x = (x + 1) % m
    outputs = [x]
    for _ in range(more):
        outputs.append((a * outputs[-1] + c) % m)
    return outputs, m


def _draw(rng):
    drawn = [_outputs(rng, prime, before_0=run == 4) for prime in PRIMES for run in range(5)]
    return [dict(zip(("outputs", "m"), each, strict=True)) for each in drawn]


def _next(outputs, m):
    x, y, z = outputs[:3]
    a = (z - y) * pow(y - x, -1, m) % m
    c = (y - a * x) % m
    return (a * outputs[-1] + c) % m


def _by_difference(outputs, m):
    """The last difference times a, without c."""
    a = (outputs[2] - outputs[1]) * pow(outputs[1] - outputs[0], -1, m) % m
    return (outputs[-1] + a * (outputs[-1] - outputs[-2])) % m


def _turned_over(outputs, m):
    """The last difference times the first one divided by the second."""
    return (outputs[-1] + pow(_slope(outputs, m), -1, m) * (outputs[-1] - outputs[-2])) % m


def _once(outputs, m):
    """With m taken off at most once."""
    a = _slope(outputs, m)
    number = a * outputs[-1] + (outputs[1] - a * outputs[0]) % m
    return number - m if number >= m else number


def _known(outputs, m, a, start, c=None):
    c = outputs[1] - a * outputs[0] if c is None else c
    return (a * start + c) % m


def _slope(outputs, m):
    x, y, z = outputs[:3]
    return (z - y) * pow(y - x, -1, m) % m


exercise = Exercise(
    title="The next number",
    good_for="seeing why noise from a generator that was made for simulation can be taken off",
    difficulty=3,
    minutes=10,
    points=3,
    domain=Domain({"outputs, m": Made(_outputs, TOLD)}),
    draw=_draw,
    reference=_next,
    formulas=(_by_difference,),
    means={
        "pow(y - x, -1, m)": "what to multiply by in place of dividing by the first difference",
        "(z - y) * pow(y - x, -1, m) % m": "a, from 1 to m - 1",
    },
    returns=a_whole_number,
    returned_nothing=to_say(
        "Your function returned nothing (None). Does every path through it end in a `return`? If you try one a after the other, you may have stopped too early: a may be any number from 1 to m - 1, "
        "and m may be 2147483647. Do not try them: `pow(y - x, -1, m)` divides."
    ),
    rtol=0.0,
    atol=0.25,
    hints=(
        "Take two steps: y = a x + c and z = a y + c, up to multiples of m. Take one from the other: which unknown is gone?",
        "z - y = a (y - x), up to multiples of m. In place of dividing by y - x multiply by `pow(y - x, -1, m)`, and take the remainder.",
        "With a known, c is the remainder of y - a x. Then go one step on from the *last* output: `(a * outputs[-1] + c) % m`.",
    ),
    misconceptions=(
        Misconception(
            "divided as real numbers",
            "You divided with `/` or `//`. Remainders are whole numbers: in place of dividing, multiply by `pow(y - x, -1, m)`.",
            lambda outputs, m: _known(outputs, m, (outputs[2] - outputs[1]) // (outputs[1] - outputs[0]), outputs[-1]),
        ),
        Misconception(
            "nothing added",
            "You left c out: y = a x + c. So a comes from two differences, in which c is gone, and not from two outputs.",
            lambda outputs, m: outputs[-1] * outputs[1] * pow(outputs[0], -1, m) % m if outputs[0] % m else outputs[1],
        ),
        Misconception(
            "c forgotten in the last step",
            "Your a is right. One step is a x + c: find c, the remainder of y - a x, and add it.",
            lambda outputs, m: _slope(outputs, m) * outputs[-1] % m,
        ),
        Misconception(
            "a turned over",
            "You divided the first difference by the second. It is (z - y) = a (y - x): divide the second by the first.",
            lambda outputs, m: _known(outputs, m, pow(_slope(outputs, m), -1, m), outputs[-1]),
            recognise=any_of(_turned_over),
        ),
        Misconception(
            "signs taken away",
            "You took `abs` of the differences. Their signs matter: 3 and -3 have different remainders. Leave `abs` out; `pow` and `%` take numbers below 0.",
            lambda outputs, m: _known(
                outputs, m, abs(outputs[2] - outputs[1]) * pow(abs(outputs[1] - outputs[0]), -1, m), outputs[-1]
            ),
        ),
        Misconception(
            "from the third",
            "You go on from the third output, whatever comes after it. The next number follows the last one, `outputs[-1]`.",
            lambda outputs, m: _known(outputs, m, _slope(outputs, m), outputs[2]),
        ),
        Misconception(
            "the last again",
            "You compute the last output again. Go one step on from it.",
            lambda outputs, m: outputs[-1],
        ),
        Misconception(
            "a straight line",
            "You add the last difference once more. The generator multiplies: the next difference is a times the last one.",
            lambda outputs, m: (2 * outputs[-1] - outputs[-2]) % m,
        ),
        Misconception(
            "no remainder",
            "You forgot the remainder at the end: the next number lies between 0 and m - 1.",
            lambda outputs, m: _slope(outputs, m) * outputs[-1] + (outputs[1] - _slope(outputs, m) * outputs[0]) % m,
        ),
        Misconception(
            "m taken off once",
            "You take m off once at most. It may go in many times: take the remainder, `% m`.",
            _once,
        ),
    ),
)
