"""Try a corpus of learners' answers on the checks of a lesson: what each is told, and what the checks miss.

A corpus is a file of tests/answers/, or answers.toml in a pack: a table for each answer, with the exercise's function, a label, whether it is right,
its code, and where the reply matters what it must say. The code may use what the lesson's first cells import and define.
"""

import ast
import linecache
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.checking import ERROR, RIGHT, Verdict
from dpcourse.checking.diagnosis import CASE
from dpcourse.course import pack

BARE = "Your function stopped with"


@dataclass(frozen=True)
class Answer:
    """One answer of a corpus.

    says: words that its reply must hold. passes: why a wrong one passes all the same, where that is known and left so.
    """

    lesson: int
    exercise: str
    label: str
    right: bool
    code: str
    fresh: bool = False
    says: str = ""
    passes: str = ""


@dataclass(frozen=True)
class Tried:
    """An answer, the verdict on it, and how long that took."""

    answer: Answer
    verdict: Verdict
    seconds: float

    @property
    def kind(self) -> str:
        """What came of it: "right", "FALSE PASS", "FALSE FAIL", how the reason was found, or "error" ("bare" without a sentence)."""
        verdict = self.verdict
        if verdict.state == RIGHT:
            return "right" if self.answer.right else "FALSE PASS"
        if self.answer.right:
            return "FALSE FAIL"
        if verdict.state == ERROR:
            return "bare" if verdict.message.startswith(BARE) and verdict.message.endswith(").") else "error"
        return verdict.found_by or CASE


def file_of(root: Path, lesson: int) -> Path:
    """Where the answers to the exercises of a lesson stand."""
    if pack.is_pack(root):
        return root / "answers.toml"
    return root / "tests" / "answers" / f"{course.lesson(lesson).name}.toml"


def corpus(root: Path, lesson: int) -> list[Answer]:
    """The answers to the exercises of a lesson."""
    file = file_of(root, lesson)
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("answer", [])
        found = [Answer(lesson=lesson, **table) for table in tables]
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise ValueError(f"{file} is no corpus of answers: {error}") from None
    functions = course.lesson(lesson).functions
    for answer in found:
        if answer.exercise not in functions:
            raise ValueError(f"{file}: {answer.label!r} answers {answer.exercise}; there are {', '.join(functions)}")
    return found


def names_of(root: Path, lesson: int) -> dict:
    """What the lesson's own cells import, and the functions and constants that they define without running long."""
    import nbformat

    found: dict = {}
    file = root / "solutions" / f"{course.lesson(lesson).name}.ipynb"
    if not file.exists():
        command = f"dpcourse build{f' --pack {root}' * pack.is_pack(root)}"
        raise ValueError(f"{file} is not there: run `{command}` first, as answers may use what its cells define")
    notebook = nbformat.read(file, 4)
    written = set(course.lesson(lesson).functions)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.parse(cell.source).body:
            keeps = isinstance(node, (ast.Import, ast.ImportFrom)) or (
                isinstance(node, ast.FunctionDef) and node.name not in written
            )
            if keeps:
                exec(compile(ast.Module([node], []), f"<lesson {lesson}>", "exec"), found)
    return found


def tried(answers: list[Answer], names: dict, seed: int = 0) -> Iterator[Tried]:
    """Check each answer on inputs of that seed."""
    for answer in answers:
        exercise = course.lesson(answer.lesson).exercise(answer.exercise)
        world = dict(names)
        begun = time.monotonic()
        file = f"<{answer.label}>"
        lines = answer.code.splitlines(keepends=True)
        linecache.cache[file] = (len(answer.code), None, lines, file)  # so that errors show the line, as in a notebook
        try:
            exec(compile(answer.code, file, "exec"), world)
            function = world.get(answer.exercise)
        except Exception as error:
            function = _stops(error)
        verdict = exercise.check(function, seed)
        yield Tried(answer, verdict, time.monotonic() - begun)


def _stops(error):
    def stops(*_, **__):
        raise error

    return stops


def table(results: list[Tried]) -> str:
    """How many answers of each exercise came to which end, and the times of a check."""
    kinds = (
        "right",
        "misconception",
        "explanation",
        "place",
        "measurement",
        "case",
        "error",
        "bare",
        "FALSE FAIL",
        "FALSE PASS",
    )
    lines = [f"{'exercise':24}" + "".join(f"{kind:>15}" for kind in kinds)]
    by_exercise: dict[str, Counter] = {}
    for each in results:
        by_exercise.setdefault(each.answer.exercise, Counter())[each.kind] += 1
    by_exercise["all"] = sum(by_exercise.values(), Counter())
    lines += [
        f"{name:24}" + "".join(f"{count[kind] or '':>15}" for kind in kinds) for name, count in by_exercise.items()
    ]
    seconds = sorted(each.seconds for each in results)
    if not seconds:
        return "There are no answers to try."
    lines.append(
        f"seconds of a check: median {seconds[len(seconds) // 2]:.2f}, 95th percentile {seconds[int(0.95 * len(seconds))]:.2f}"
    )
    return "\n".join(lines)
