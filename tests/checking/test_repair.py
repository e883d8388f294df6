"""What in a wrong answer is wrong: one change of its own text that makes it right on every input."""

import contextlib
import inspect
import math
import resource
import sys
import time

import pytest
from checking.calling.test_steps import written

from dpcourse.checking.calling.mending import Mending
from dpcourse.checking.calling.probe import Probe
from dpcourse.checking.diagnosis import repair

CASES = [{"values": [1.5, -2.0, 3.0][: n % 3 + 1], "scale": 0.5 + 5 * n} for n in range(12)]


def right(values, scale):
    total = 0.0
    for value in values:
        if value < 0:
            continue
        total += value**2
    return max(0.0, math.sqrt(total) / (1 + scale) - 0.1)


RIGHT = inspect.getsource(right).replace("def right", "def answer")


def answered(code):
    function = written(code)
    function.__globals__["math"] = math
    return function


def close(value, wanted):
    return isinstance(value, float) and math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-12)


def found(function, cases=CASES, reference=right, fresh=tuple):
    probe = Probe("answer")

    def ask(cases, seconds, exchanges):
        return probe.watch(function, cases, exchanges)

    values = [function(*case.values()) for case in cases]
    return repair.found(cases, values, [reference(*case.values()) for case in cases], ask, close, fresh=fresh)


@pytest.mark.parametrize(
    ("there", "wrong", "fault"),
    [
        ("            continue", "            break", "`break` ends the loop, which should go on"),
        ("    return max(0.0", "        return max(0.0", "ends the loop in its first round"),
        ("value**2", "abs(value) * (scale + value) + 3", None),
        ("math.sqrt(total)", "math.sqrt(math.sqrt(total))", "`sqrt` is too much in `math.sqrt(total)`"),
        ("value < 0", "value > 0", "`>` is wrong in `value > 0`"),
        ("total += value", "total *= value", "`*` is wrong in `total *= value ** 2`"),
        ("(1 + scale)", "(1 - scale)", "`-` is wrong in `1 - scale`"),
        ("sqrt(total)", "log1p(total)", None),
        ("- 0.1)", "- 0.2)", "`0.2` is the wrong value"),
        ("/ (1 + scale)", "/ 1 + scale", "a bracket is missing"),
        ("value**2", "total**2", "`total` is the wrong name"),
        ("(1 + scale)", "(1 + scale ** 2)", "`** 2` is too much in `scale ** 2`"),
        ("/ (1 + scale)", "* (scale + 1) ** +1", "`*` is wrong in `math.sqrt(total) * (scale + 1) ** (+1)`"),
        ("total = 0.0", "total = 1.0", "`1.0` is the wrong value"),
        ("max(0.0", "min(0.0", "`min` is the wrong function"),
        ("        total += value**2", "        total += pow(2, value)", "two arguments stand in each other's place"),
        ("value < 0", "value < 0 or scale > 30", "a condition is too much"),
        (
            "    return max",
            "    if scale > 30:\n        total = 0\n    return max",
            "what is done if `scale > 30` should not be done",
        ),
        (  # without the `log` nothing is above it, either
            "    return max",
            "    if scale > math.log(1e15):\n        total = 0\n    return max",
            "what is done if `scale > math.log(1000000000000000.0)` should not be done",
        ),
        (
            "        total += value**2",
            "        total += value**2\n        scale += 1",
            "`scale += 1` should not be there",
        ),
        ("    total = 0.0", "    scale = scale / 2\n    total = 0.0", "`scale = scale / 2` should not be there"),
        ("total) / (1", "min(total, math.log(99))) / (1", "`min` is too much in `min(total, math.log(99))`"),
    ],
)
def test_what_one_change_mends_is_told_and_else_nothing(there, wrong, fault):
    code = RIGHT.replace(there, wrong)
    assert code != RIGHT
    function = answered(code)
    mended = found(function)
    if fault is None:
        assert mended is None
        return
    assert fault in mended.text, mended.text
    assert f"Line {mended.line}: " in mended.text
    assert "right on all 12 inputs tried" in mended.text
    ((_, _, _, again),) = Mending(function, lambda other: False).numbered({mended.number})
    assert all(close(again(*case.values()), right(*case.values())) for case in CASES), "what was told is so"


def halves(values, scale):
    return scale / 4 + len(values) / 8 + math.log(scale)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("return scale // 4 + len(values) // 8 + math.log(scale)", "Line 2: wherever `//` stands, `/` belongs"),
        ("return scale / 4 + len(values) / 8 + math.log2(scale)", "Line 2: wherever `log2` stands, `log` belongs"),
        (
            "few = len(values) < 2\n    return (scale / 4 + len(values) / 8 + math.log(scale)) * few",
            "the whole condition",
        ),
    ],
)
def test_what_is_taken_for_another_at_all_its_places_is_told_once(body, fault):
    function = answered(f"def answer(values, scale):\n    {body}\n")
    assert fault in found(function, reference=halves).text


@pytest.mark.parametrize(
    ("body", "reference", "fault"),
    [
        (
            "    for value in values:\n        if value < 0:\n            return scale\n        else:\n            return 2 * scale\n        value += 1",
            lambda values, scale: scale if min(values) < 0 else 2 * scale,
            "Line 8: `return 2 * scale` ends the loop in its first round",
        ),
        (
            "    for value in values:\n        if value >= 0:\n            return 2 * scale\n        else:\n            return scale",
            lambda values, scale: scale if min(values) < 0 else 2 * scale,
            "Line 6: `return 2 * scale` ends the loop in its first round",
        ),
        ("    return min(values) * scale", lambda values, scale: sum(values) / len(values) * scale, None),
        ("    return np.min(values) * scale", lambda values, scale: sum(values) / len(values) * scale, "`min` is the wrong function"),
        ("    return np.sum(values) * scale", lambda values, scale: sum(values) / len(values) * scale, "`sum` is the wrong function"),
        ("    return np.count_nonzero(np.array(values) < 0) * scale", lambda values, scale: len(values) * scale, "`count_nonzero` is the wrong function"),
    ],
)  # fmt: skip
def test_what_else_may_stand_in_its_place_or_behind_the_loop(body, reference, fault):
    mended = found(answered("import numpy as np\n\ndef answer(values, scale):\n" + body + "\n"), reference=reference)
    assert mended is None if fault is None else fault in mended.text


def test_one_list_of_several_names_is_told():
    code = "def answer(values, scale):\n    small = large = []\n    for v in values:\n        (small if v < 1 else large).append(v)\n    return len(small) - scale * len(large)\n"
    told = found(
        answered(code), reference=lambda values, scale: sum(v < 1 for v in values) - scale * sum(v >= 1 for v in values)
    )
    assert "`small = large = []` gives several names to one value" in told.text


def test_no_function_is_called_with_what_it_would_write_to():
    """numpy reads the third argument of `rng.random` as an array, whatever it is: processes ended by it."""

    def replaced(call):
        code = f"def answer(rng, scale):\n    return rng.{call}\n"
        listed = Probe("answer").watch(answered(code), [], None)
        return [fields["other"] for _, kind, fields, *_ in listed if kind == "call replaced"]

    assert replaced("normal(0, scale, 3)") == ["`laplace`"]
    assert replaced("normal(size=3)") == ["`laplace`", "`random`"]


def test_what_asks_little_of_a_value_is_not_mended_by_another_value():
    """The zeros are counted if each is made infinite, by accident."""
    listed = Probe("answer").watch(
        answered("def answer(values, scale):\n    return np.count_nonzero(values) + len(values)\n"), [], None
    )
    assert not [kind for _, kind, _, old, _ in listed if old == "values" and kind in ("sign", "added", "part factor")]
    listed = Probe("answer").watch(answered("def answer(values, scale):\n    return np.argsort(values)\n"), [], None)
    assert [kind for _, kind, _, old, _ in listed if old == "values" and kind == "sign"]


def test_what_makes_an_array_without_values_is_not_mended_by_another_value():
    """A square of whole zeros takes fractions, by accident."""
    code = "def answer(values, scale):\n    x = np.zeros(3, dtype=int)\n    return x + scale\n"
    listed = Probe("answer").watch(answered(code), [], None)
    assert not [kind for _, kind, _, old, _ in listed if "zeros" in old and kind in ("sign", "added", "part factor")]


@pytest.mark.parametrize("code", ["range(-len(values))", "range(len(values) ** 2, 0)"])
def test_no_change_is_told_that_only_leaves_a_loop_without_rounds(code):
    listed = Probe("answer").watch(answered(f"def answer(values, scale):\n    for i in {code}: pass\n"), [], None)
    within = [old for _, kind, _, old, _ in listed if kind in ("sign", "added") and not old.startswith("range")]
    assert within == []


def given_with(kind, line, case):
    """What this answer gives with each change of this kind."""
    function = answered(f"import numpy as np\ndef answer(values, scale):\n    return {line}\n")
    probe = Probe("answer")
    numbers = [number for number, found, *_ in probe.watch(function, [], None) if found == kind]
    return [value for _, (value,) in probe.watch(function, [case], numbers)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process may write to")
def test_what_is_changed_in_an_answer_fills_no_memory():
    """Without the division the array has 10^9 entries, 8 GB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert 1e9 not in given_with("dropped", "float(np.ones(10**9 // 10**7).sum())", CASES[0])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # KiB


@pytest.mark.filterwarnings("ignore")  # as in a notebook
def test_what_is_changed_in_an_answer_makes_no_whole_number_of_an_infinite_one():
    """Such a number, the least there is, has ended processes: `bincount` of what lies between it and others overruns memory."""
    line = "int(np.floor(np.array(values) / (scale + 1)).astype(int).min())"
    assert given_with("operands", line, {"values": [0.0, 3.0], "scale": 1.0}) == [None]


@pytest.mark.parametrize(
    ("start", "sign", "far", "side"),
    [
        ("best = 0", ">", -5, "below"),
        ("count, best = 7, 0.0", ">", -5, "below"),
        ("best = 0", "<", 5, "above"),
        ("best = -0.5", ">", -5, "below"),
    ],
)
def test_a_search_that_does_not_begin_before_all_values_is_told(start, sign, far, side):
    code = f"def answer(values, scale):\n    {start}\n    for value in values:\n        if value + {far} {sign} best:\n            best = value + {far}\n    return best\n"
    most = max if sign == ">" else min
    told = found(answered(code), reference=lambda values, scale: most(values) + far).text
    fault = "is no value to begin a search with, for what lies"
    assert f"Line 2: `{start.split()[-1]}` {fault} {side} it is never found" in told


def test_ranges_that_all_end_too_early_are_told_together():
    code = "def answer(values, scale):\n    one = sum(values[i] for i in range(len(values){0}))\n    other = sum(values[i] ** 2 for i in range(0, len(values){0}))\n    return one + scale * other\n"
    mended = found(answered(code.format(" - 1")), reference=answered(code.format("")))
    assert "Line 2: `range(len(values) - 1)` ends at the wrong place, and so does each other range" in mended.text


def test_a_range_that_is_off_at_both_ends_is_told():
    code = "def answer(values, scale):\n    return sum(scale ** i for i in range({})) + len(values)\n"
    mended = found(answered(code.format("5, 0, -1")), reference=answered(code.format("4, -1, -1")))
    assert "`range(5, 0, -1)` begins or ends at the wrong place" in mended.text


@pytest.mark.parametrize(
    ("body", "reference", "fault"),
    [
        (  # the sides of `2 * k - 1` could be exchanged as well
            "    return -scale * (2 * len(values) - 1) / 7",
            lambda values, scale: scale * (2 * len(values) - 1) / 7,
            "the sign of `-scale` is wrong",
        ),
        (
            "    return (-0.5 - scale) / (len(values) + 1)",
            lambda values, scale: (0.5 + scale) / (len(values) + 1),
            "the sign of `-0.5 - scale` is wrong",
        ),
        (  # and here no entry could be added but taken away
            "    total = 0.0\n    for value in values:\n        total = total + value\n    return (total - 0) / scale",
            lambda values, scale: -sum(values) / scale,
            "Line 5: the two sides of `-` stand in each other's place in `total - 0`; or line 4: `+` is wrong in `total + value`. "
            "With only one of the two changed",
        ),
        (  # a bound of it; twice that is right as long as the list is short
            "    return sum(scale**k for k in range(min(len(values), 3)))",
            lambda values, scale: sum(scale**k for k in range(min(len(values) + 1, 3))),
            "`range(min(len(values), 3))` begins or ends at the wrong place",
        ),
        (
            "    return scale * (len(values) + 1 - (len(values) - 1))",
            lambda values, scale: scale * (len(values) + 1),
            "`- (len(values) - 1)` is too much in `len(values) + 1 - (len(values) - 1)`",
        ),
        (  # without the logarithm there is no sign to take away
            "    return scale * (1 + sorted(range(3), key=lambda k: abs(math.log(scale * (k + 0.5) / 3)))[0])",
            lambda values, scale: scale,
            "`abs` is too much in `abs(math.log(scale * (k + 0.5) / 3))`",
        ),
    ],
)
def test_of_several_changes_that_mend_an_answer_the_plainest_is_told(body, reference, fault):
    told = found(answered("def answer(values, scale):\n" + body + "\n"), reference=reference).text
    assert fault in told, told


def test_a_return_in_a_loop_is_told_where_another_fault_stands_beside_it():
    spoiled = RIGHT.replace("    return max", "        return max").replace("- 0.1)", "- abs(scale - 0.3))")
    told = found(answered(spoiled)).text
    assert "ends the loop in its first round" in told
    assert "right on" not in told


def test_nothing_is_told_of_what_is_mended_on_some_inputs_alone():
    function = answered("def answer(values, scale):\n    return scale + (7 if scale > 50 else 1) - 1\n")
    assert found(function, reference=lambda values, scale: scale + (9 if scale > 50 else 0)) is None


def test_what_mends_an_answer_mends_it_on_fresh_inputs_too():
    """On the inputs tried no scale is above 70, where only one of the two changes is right."""
    function = answered("def answer(values, scale):\n    return scale - 3\n")
    assert max(case["scale"] for case in CASES) < 70
    for above, mends in ((lambda scale: scale, False), (lambda scale: scale + 3, True)):
        reference = lambda values, scale, above=above: scale + 3 if scale < 70 else above(scale)  # noqa: E731
        fresh = [({"values": [1.0], "scale": 90.0}, reference([1.0], 90.0))]
        mended = found(function, reference=reference, fresh=lambda fresh=fresh: fresh)
        assert (mended is not None) == mends
        assert mended is None or mended.inputs == len(CASES) + 1


@pytest.mark.parametrize(
    "came",
    [[["no number"]], [[0, "dropped", {}, "a", "no line"]], [[0, "dropped", None, "a", 1]], [3], [[0, "of no kind", {}, "a", 1]]],
)  # fmt: skip
def test_what_comes_from_a_learners_process_may_be_anything(came):
    told = None
    with contextlib.suppress(TypeError, ValueError, AttributeError):  # as its caller does
        told = repair.found(CASES[:1], [1.0], [2.0], lambda *all, **more: came, close)
    assert told is None


@pytest.mark.parametrize(("wrong_at", "least"), [(None, repair.ENOUGH), (5, None), (25, None)])
def test_a_slow_answer_is_mended_on_as_many_inputs_as_time_allows(wrong_at, least):
    cases = [{"x": float(x)} for x in range(500)]

    def ask(some, seconds, exchanges):
        if exchanges is None:
            return [[0, "constant", {}, "2", 1]]
        last = wrong_at in [case["x"] for case in some]  # for what comes then there is no time
        until = time.thread_time() + (2 * repair.FOR_PROOF if last else 0.02 * len(some))
        while time.thread_time() < until:
            pass
        return [[0, [-1.0 if case["x"] == wrong_at else case["x"] for case in some]]]

    values, wanted = [2 * case["x"] + 1 for case in cases], [case["x"] for case in cases]
    known = repair.found(cases, values, wanted, ask, close)
    assert (known is None) == (least is None)
    assert known is None or least <= known.inputs < len(cases)
