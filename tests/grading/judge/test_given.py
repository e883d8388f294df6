"""What was given out, as the grader reads it."""

import pytest
from support import ROOT

from dpcourse import course
from dpcourse.grading import collect
from dpcourse.grading.judge import given


def test_a_release_names_what_its_lesson_imports():
    release = given.release_of([(ROOT / "lessons" / "04-clt.ipynb").read_bytes()], 4)
    assert {"dpcourse", "dpcourse.clt", "dpcourse.tradeoff", "numpy", "scipy.special"} <= set(release.modules)
    written = {exercise.function for exercise in course.lesson(4).exercises}
    assert not any(f"def {name}(" in cell.code for name in written for cell in release.provided)


CODE = "import math\n\nx = [1,\n     'a']\nprint(x)  # said\n"
PROVIDED = [collect.Cell(1, "one", CODE), collect.Cell(2, "two", 'check("1.1", f)\n# hint("1.1")')]


def said(*codes, ids=("one", "two")):
    return given.changes([collect.Cell(n, name, code) for n, (name, code) in enumerate(zip(ids, codes, strict=False), 1)], PROVIDED)  # fmt: skip


@pytest.mark.parametrize(
    "codes",
    [
        (CODE, 'check("1.1", f)'),
        (CODE.replace("'", '"').replace("\n     ", ""), "check('1.1', f)  # mine"),
        ("# black\n" + CODE, 'hint("1.1"); check("1.1", f)'),
        (CODE, 'hint("1.1", number=2)\ncheck("1.1", f)\nsolution("1.1", sure=True)'),
        (CODE.replace("\n", "\r\n"), "check(\n\t'1.1',\n\tf,\n)"),
        (CODE, 'check("1.1", f)', "own = 1"),
    ],
)
def test_layout_quotes_comments_and_hints_are_no_change(codes):
    assert said(*codes, ids=("one", "two", "three")) == []


@pytest.mark.parametrize(
    ("codes", "what"),
    [
        ((CODE.replace("'a'", "'b'"), 'check("1.1", f)'), "`import math` was edited"),
        ((CODE, 'check("1.1", g)'), '`check("1.1", f)` was edited'),
        ((CODE, 'check("1.1", f); hint(f)'), '`check("1.1", f)` was edited'),
        ((CODE, "check("), '`check("1.1", f)` was edited'),
        ((CODE,), '`check("1.1", f)` is missing'),
        ((CODE, 'check("1.1", f)', "check('1.1', f)"), '`check("1.1", f)` is there 2 times'),
    ],
)
def test_what_was_done_to_a_provided_cell_is_said(codes, what):
    assert said(*codes, ids=("one", "two", "three")) == [f"the provided cell {what}"]


def test_the_rule_of_an_attack_is_a_learners_to_change():
    rule = "def rule(count):\n    return bool(count > {})\n\n\nattack(2, rule)".format
    provided = [collect.Cell(1, "one", rule(33)), collect.Cell(2, "two", CODE)]
    assert given.changes([collect.Cell(1, "one", rule(32.5)), provided[1]], provided) == []
    assert given.changes([provided[1]], provided) == []


def test_many_provided_cells_are_one_note():
    provided = [collect.Cell(n, f"{n}", f"x = {n}, {n}") for n in range(1, 8)]
    left = [collect.Cell(1, "1", "y = 1"), collect.Cell(2, "2", "y = 2"), provided[2]]
    assert given.changes(left, provided) == [
        "2 of 7 provided cells were edited: `x = 1, 1`; `x = 2, 2`",
        "4 of 7 provided cells are missing: `x = 4, 4`; `x = 5, 5`; `x = 6, 6` and 1 more",
    ]


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("import inspect; inspect.getsource(f)", "getsource"),
        ("g = type(f)(f.__code__.replace(), {})", "__code__"),
        ("from ctypes import pythonapi", "ctypes"),
        ("sys.setprofile(None)", "setprofile"),
        ("import cProfile; cProfile.Profile().enable()", "cProfile"),
        ("threading.settrace(f)", "settrace"),
        ("import gc; gc.get_objects()", "gc"),
        ("%time sys._getframe(1)", "frames"),
        ("error.__traceback__.tb_frame", "frames"),
        ("().__class__.__base__.__subclasses__()", "subclasses"),
        ("dpcourse.notebook.check._last_state['1.1'] = 'right'", "_last_state"),
    ],
)
def test_what_serves_to_go_around_a_check_is_named(code, word):
    own = collect.Cell(3, "own", code)
    assert given.changes([*PROVIDED, own], PROVIDED) == [
        f"cell 3 uses `{word}`: see whether an answer goes around what it is to do itself"
    ]
    assert (
        given.changes([*PROVIDED, collect.Cell(3, "own", f"# {code}\ngc = frames = gaussian_curve = 1")], PROVIDED)
        == []
    )


@pytest.mark.parametrize("code", ["-" * 9_999 + "1", "a" + ".a" * 9_000, "lambda:" * 2_000 + "1", "x = 1\0", "(" * 300, "1" * 9_000, "a" * 400_000])  # fmt: skip
def test_code_that_no_parser_bears_is_read_as_text(code):
    assert given.changes([*PROVIDED, collect.Cell(3, "own", code)], PROVIDED) == []
    assert given.normal(code) == code or given.parsed(code)
