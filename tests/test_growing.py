"""The course grows by the steps that CONTRIBUTING names, and by nothing else; a step left out is named in a sentence.

The exercise and its lines of source are taken from CONTRIBUTING itself, so that its example works.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from support import ROOT

from dpcourse.course import lessons

pytestmark = pytest.mark.weekly("each step left out is a course of its own, read by a new process")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXERCISE = re.search(r"^```python\n(.*?)^```\n", TEXT, re.DOTALL | re.MULTILINE)[1]
SOURCE = re.search(r"^````markdown\n(.*?)^````\n", TEXT, re.DOTALL | re.MULTILINE)[1]
FUNCTION, LESSON = "odds_after", "00-start-here"
NUMBER = len(lessons())  # of the new lesson: the next one
TINY = f"{NUMBER:02}-tiny"
HOUSE = ("README.md", "LICENSE", "requirements.txt", "pyproject.toml", "conftest.py", "CONTRIBUTING.md")

FIRST = """\
\"\"\"Twice a number.\"\"\"

from dpcourse.checking import Exercise, Misconception, a_number

exercise = Exercise(
    title="{title}",
    good_for="nothing but a test",
    difficulty=1,
    minutes=1,
    points=1,
    draw=lambda rng: [{{"x": float(rng.integers(3, 99))}} for _ in range(2)],
    reference=lambda x: {factor} * x,
    returns=a_number,
    hints=("Multiply.", "By {factor}."),
    misconceptions=(
        Misconception("power", "You took a power.", lambda x: x**{factor}),
        Misconception("sum", "You added.", lambda x: x + {factor}),
        Misconception("same", "You returned x.", lambda x: x),
    ),
)
"""
FOLDER = {
    "__init__.py": f'"""A tiny lesson."""\n\nNAME = "{TINY}"\nTITLE = "Tiny"\nEXERCISES = ("twice", "thrice")\n',
    "twice.py": FIRST.format(title="Twice", factor=2),
    "thrice.py": FIRST.format(title="Three times", factor=3),
    "quiz.py": '''"""The quiz of the lesson."""

from dpcourse.checking import Option, Question

QUIZ = (
    Question(
        "What is twice 2?",
        (Option("4", True, "2 + 2."), Option("5", False, "One too many."), Option("3", False, "One too few.")),
    ),
    Question(
        "What is three times 2?",
        (Option("5", False, "One too few."), Option("6", True, "2 + 2 + 2."), Option("8", False, "That is a power.")),
    ),
)
''',
    "pictures.py": '''"""The picture of the lesson."""

from dpcourse.base.style import FIRST, panels


def straight(figure, slope):
    """A straight line."""
    (panel,) = panels(figure)
    panel.plot([0, 1], [0, slope], **FIRST)
    return f"A straight line from 0 to {slope}."
''',
    "glossary.toml": f"""\
[[latin]]
symbol = "$w$"
meaning = "a number that is multiplied"
chinese = "被乘的数"
where = "{NUMBER:02} §1"
""",
    "journey.py": '''"""What goes wrong first in the lesson."""

from dpcourse.course.slip import Slip

SLIP = Slip(function="twice", misconception="sum", right="2 * x", wrong="2 + x")
''',
}
PAGE = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
dpcourse:
  title: "multiplication, briefly"
  learn: "to multiply"
  needs: lesson 00.
  goals:
    - {can: "multiply", checks: [twice, thrice]}
---

{opening}

+++

```{code-cell} ipython3
from dpcourse import check, hint, plots, progress, quiz, solution, widgets
```

## 1. Multiplication

A number $w$ grows along a line.

```{code-cell} ipython3
plots.show(plots.straight, slope=2)
```

```{code-cell} ipython3
widgets.explore(plots.straight, slope=widgets.slider("slope", 1, 5, 2))
```

{exercise twice}

Return twice the number.

```{code-cell} ipython3
def twice(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```

{check twice}

{exercise thrice}

Return three times the number. It is like {twice}.

```{code-cell} ipython3
def thrice(x):
    ### BEGIN SOLUTION
    return 3 * x
    ### END SOLUTION
```

{check thrice}

## 2. Quiz

```{code-cell} ipython3
quiz(NUMBER)
```

## 3. Summary

| symbol | meaning |
|:--|:--|
| $w$ | a number that is multiplied |

{closing}
"""


ANSWER = """
[[answer]]
exercise = "{function}"
label = "{value}"
right = {right}
code = '''
def {function}({arguments}):
    return {value}
'''
"""

# ---- the steps


def answers(function, arguments, right):
    """A right answer and ten wrong ones, as they stand in a file of tests/answers/."""
    values = [right, *(f"{right} + {more}" for more in range(1, 11))]
    said = {"function": function, "arguments": arguments}
    return "".join(ANSWER.format(value=value, right=str(value == right).lower(), **said) for value in values)


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def added(file, text):
    write(file, file.read_text(encoding="utf-8") + text)


def replaced(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


START = "dpcourse/course/start_here"
OF_EXERCISE = {
    "its file": lambda course: write(course / START / f"{FUNCTION}.py", EXERCISE),
    "its place in the order": lambda course: replaced(
        course / START / "__init__.py", '"randomized_response"', f'"{FUNCTION}", "randomized_response"'
    ),
    "its lines in the source": lambda course: replaced(
        course / f"solutions/{LESSON}.md",
        "{exercise randomized_response}",
        f"{SOURCE}\n{{exercise randomized_response}}",
    ),
    "a goal": lambda course: replaced(
        course / f"solutions/{LESSON}.md", "checks: [keep_probability", f"checks: [{FUNCTION}, keep_probability"
    ),
    "its answers": lambda course: added(
        course / f"tests/answers/{LESSON}.toml", answers(FUNCTION, "odds, epsilon", "odds * math.exp(epsilon)")
    ),
}
OF_LESSON = {
    name: lambda course, name=name, text=text: write(course / "dpcourse/course/tiny" / name, text)
    for name, text in FOLDER.items()
} | {
    "the source": lambda course: write(course / f"solutions/{TINY}.md", PAGE.replace("NUMBER", str(NUMBER))),
    "its answers": lambda course: write(
        course / f"tests/answers/{TINY}.toml", answers("twice", "x", "2 * x") + answers("thrice", "x", "3 * x")
    ),
}


@pytest.fixture
def course(tmp_path):
    """A copy of the course, without what is built elsewhere."""
    return copied(tmp_path / "course")


def copied(folder):
    folder.mkdir()
    for name in HOUSE:
        shutil.copyfile(ROOT / name, folder / name)
    unwanted = shutil.ignore_patterns("__pycache__", ".*", "browser", "benchmarks")
    for name in ("dpcourse", "solutions", "lessons", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    return folder


def run(course, *command):
    """A command of the copy, whatever it says and however it ends."""
    environment = os.environ | {"PYTHONPATH": str(course), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("DPCOURSE_WEEKLY", None)  # what a contributor runs
    return subprocess.run(
        [sys.executable, *command], cwd=course, env=environment, capture_output=True, text=True, timeout=3_000
    )


def dpcourse(course, *arguments):
    return run(course, "-c", "from dpcourse.commands import app; app()", *arguments)


def succeeded(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ---- all of them


def test_an_exercise_in_the_middle_and_a_small_lesson_are_built_checked_released_and_graded(course, tmp_path):
    for step in (*OF_EXERCISE.values(), *OF_LESSON.values()):
        step(course)
    built = succeeded(dpcourse(course, "build"))
    assert LESSON in built
    assert TINY in built
    succeeded(dpcourse(course, "build", "--check"))

    lesson = (course / f"lessons/{LESSON}.ipynb").read_text(encoding="utf-8")
    assert [f'check(\\"0.{place}\\", {name})' in lesson for place, name in ((1, "keep_probability"), (2, FUNCTION), (3, "randomized_response"))] == [True] * 3  # fmt: skip
    assert "Exercise 0.2: The odds after a report" in lesson
    assert "(exercises 0.2, 0.1)" in lesson
    assert f"It is like {NUMBER}.1." in (course / f"lessons/{TINY}.ipynb").read_text(encoding="utf-8")
    assert f"{TINY}.ipynb" in (course / "README.md").read_text(encoding="utf-8")
    assert "被乘的数" in (course / "lessons/glossary.ipynb").read_text(encoding="utf-8")

    told = run(course, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/course", "-k", f"{FUNCTION} or tiny")
    assert " passed" in succeeded(told)

    assert TINY in succeeded(dpcourse(course, "release", str(tmp_path / "handout")))
    for name in (LESSON, TINY):
        (tmp_path / "submissions/kim").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(course / f"solutions/{name}.ipynb", tmp_path / f"submissions/kim/{name}.ipynb")
    sandbox = [] if shutil.which("bwrap") else ["--no-sandbox"]
    grade = ("grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "grades"), "--json", *sandbox)
    assert json.loads(dpcourse(course, *grade).stdout.splitlines()[-1])["mean"] == 1.0
    book = (tmp_path / "grades/gradebook.csv").read_text(encoding="utf-8")
    assert "kim,00 Start here,graded,6,6," in book
    assert f"kim,{NUMBER:02} Tiny,graded,2,2," in book


# ---- one of them left out

FORGOTTEN = {
    "its file": f"{START}/{FUNCTION}.py",
    "its place in the order": "EXERCISES",
    "its lines in the source": f"{{exercise {FUNCTION}}}",
    "a goal": "goals",
    "__init__.py": "NAME",
    "twice.py": "dpcourse/course/tiny/twice.py",
    "quiz.py": "quiz.py",
    "pictures.py": "pictures.py",
    "glossary.toml": "glossary.toml",
    "journey.py": "journey.py",
    "the source": f"solutions/{TINY}.md",
}


@pytest.mark.parametrize("forgotten", FORGOTTEN)
def test_a_step_that_is_left_out_is_named(course, forgotten):
    steps = OF_EXERCISE if forgotten in OF_EXERCISE else OF_LESSON
    for name, step in steps.items():
        if name != forgotten:
            step(course)
    told = dpcourse(course, "build", "--check")
    said = told.stdout + told.stderr
    named = FUNCTION if steps is OF_EXERCISE else "tiny"
    assert told.returncode == 1
    assert any(FORGOTTEN[forgotten] in line and named in line for line in said.splitlines()), said
    assert "Traceback" not in said


@pytest.mark.parametrize(("steps", "functions"), [(OF_EXERCISE, [FUNCTION]), (OF_LESSON, ["twice", "thrice"])])
def test_answers_that_are_left_out_are_named(course, steps, functions):
    for name, step in steps.items():
        if name != "its answers":
            step(course)
    asked = (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/course/test_answers.py",
        "-k",
        " or ".join(functions),
    )
    said = run(course, *asked).stdout
    for function in functions:
        assert f"add wrong answers to {function} to {course}/tests/answers/" in said, said
    steps["its answers"](course)
    succeeded(run(course, *asked))
