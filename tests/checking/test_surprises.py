"""What numbers and libraries do that many do not expect: told where a wrong answer has met it, and nowhere else."""

import numpy as np
import pytest
from checking.calling.test_steps import written

from dpcourse.checking.calling.probe import Probe
from dpcourse.checking.diagnosis import first_not_finite, surprises

MET = [  # an answer, an input on which it meets a surprise, one on which it does not, what is said
    ("return np.interp(x, y, z)", {"x": 0.5, "y": [2.0, 1.0], "z": [0.0, 1.0]}, {"x": 0.5, "y": [1.0, 2.0], "z": [0.0, 1.0]},
     "Line 2: `interp` takes for granted that `y` rises"),
    ("return np.searchsorted(x, 1.5)", {"x": [2.0, 1.0, 0.5]}, {"x": [1.0, 2.0]}, "`searchsorted` takes for granted that `x` rises"),
    ("return np.array(x).searchsorted(1.5)", {"x": [2.0, 1.0, 0.5]}, {"x": [1.0, 2.0]}, "`searchsorted` takes for granted that `np.array(x)` rises"),
    ("return int((np.array(x, dtype=np.int32) * 3)[0])", {"x": [1_000_000_000]}, {"x": [1_000]},
     "`np.array(x, dtype=np.int32) * 3` is too large for the type of these whole numbers: it gives -1294967296, where it is 3000000000"),
    ("return np.fmod(x, 5)", {"x": -3}, {"x": 3}, "`fmod` gives a number below 0"),
    ("return np.spacing(x)", {"x": -3.0}, {"x": 3.0}, "`spacing` of a number below 0 is below 0"),
    ("return np.percentile(x, y)", {"x": [1.0, 2.0], "y": 0.25}, {"x": [1.0, 2.0], "y": 25}, "`percentile` counts in percents"),
    ("found = x > 2\n    return ~found", {"x": 1}, {"x": np.array([1, 3])}, "`~found` makes -1 of 0 and -2 of 1"),
    ("return x.astype(bool)", {"x": np.array([0.0, 0.25])}, {"x": np.array([0.0, 1.0])}, "makes True of all that is not 0, such as 0.25"),
    ("return x * 3 == y", {"x": 0.1, "y": 0.3}, {"x": 0.5, "y": 1.5}, "`x * 3 == y` compares 0.30000000000000004 with 0.3"),
    ("return x * 3 <= y", {"x": 0.1, "y": 0.3}, {"x": 0.5, "y": 1.5}, "`x * 3 <= y` compares 0.30000000000000004 with 0.3"),
    ("return int(x * 100)", {"x": 0.29}, {"x": 0.25}, "`int(x * 100)` makes 28 of 28.999999999999996, which is 29 but for its last digits"),
    ("return np.ceil(x * 10)", {"x": 0.7 + 1e-16}, {"x": 0.5}, "`np.ceil(x * 10)` makes 8 of 7.000000000000001, which is 7 but for its last digits"),
    ("return np.ceil(x * 3)", {"x": 1.1}, {"x": 1.0}, "`np.ceil(x * 3)` makes 4 of 3.3: is that meant?"),
    ("return round(x)", {"x": 2.5}, {"x": 3.5}, "`round` makes 2 of 2.5: a half goes to the even number"),
    ("return (x * 100).astype(int) / 100", {"x": np.array([0.576])}, {"x": np.array([0.25])}, "`(x * 100).astype(int)` makes 57 of 57.6: is that meant?"),
]  # fmt: skip


def asked(body, names):
    """What is watched of an answer with this body."""
    code = f"def answer({', '.join(names)}):\n    {body}\n"
    answer = written(code, "answer")
    answer.__globals__["np"] = np
    return lambda cases, seconds, exchanges: Probe("answer", seconds=10).watch(answer, cases, exchanges)


@pytest.mark.parametrize(("body", "wrong", "right", "told"), MET)
def test_what_a_wrong_answer_met_is_said_and_never_what_it_meets_where_it_is_right(body, wrong, right, told):
    watch = asked(body, wrong)
    found = surprises.found([wrong], [right], watch)
    assert found is None if told is None else told in str(found)
    assert surprises.found([right], [], watch) is None
    assert surprises.found([wrong], [wrong], watch) is None


def test_what_a_right_answer_meets_too_is_not_said():
    watch = asked("return x * 3 == y", ["x", "y"])
    case, right = {"x": 0.1, "y": 0.3}, {"x": 0.5, "y": 1.5}
    own = written("def answer(x, y):\n    return x * 3 == y\n", "answer")
    own.__globals__["__name__"] = own.__module__ = "dpcourse.course.odd"
    assert surprises.found([case], [right], watch, [lambda x, y: None])
    assert surprises.found([case], [right], watch, [own]) is None


@pytest.mark.parametrize(
    ("body", "case", "told"),
    [
        ("return np.sqrt(x - y)", {"x": 1.0, "y": 2.5}, "Line 2: `np.sqrt(x - y)` gives nan for `x - y` = -1.5."),
        ("z = np.log(x)\n    return z - z", {"x": np.array([1.0, 0.0])}, "`np.log(x)` gives -inf for `x` = 0."),
        ("return x / y", {"x": np.float64(1), "y": np.float64(0)}, "`x / y` gives inf for `x` = 1, `y` = 0."),
        ("return x + y", {"x": 1.0, "y": 2.0}, None),
    ],
)
def test_where_a_result_is_no_number_it_is_said_where_that_began(body, case, told):
    value = float("nan") if told else 3.0
    found = first_not_finite(case, value, asked(body, case))
    assert found is None if told is None else told in str(found)
