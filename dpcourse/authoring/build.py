"""Make the notebooks of a lesson from its one source.

solutions/NN-name.md (MyST Markdown, solved)  ->  solutions/NN-name.ipynb (solved, executed)
                                              ->  lessons/NN-name.ipynb   (blank, "not attempted" under each check)

The output of a cell with the tag `remove-output` is not stored, because it differs from run to run.
In a Markdown cell a line {opening}, {exercise 1.3}, {contents} or {closing} is filled from the front matter of the
lessons and the exercise objects, and a reference such as 01 §5 becomes a link to that section. In a code cell, what
stands between the solution marks is blank in the lesson. The glossary, solutions/glossary.md, is built in the same way;
its tables, such as {glossary latin}, are made of the glossary.toml of all lessons.
"""

import ast
import copy
import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat

from dpcourse import course
from dpcourse.authoring import glossary
from dpcourse.authoring.navigation import (
    GLOSSARY,
    SECTION,
    SourceError,
    about,
    contents,
    links,
    pages,
    readme,
    referring,
    section_id,
    sources,
)
from dpcourse.files import write_atomically

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
CHECKED = "nbval-check-output"
FENCE = re.compile(r"^```\{code-cell\}")
UNSTORED = "remove-output"
SHOWN_LIVE_ONLY = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Lesson:
    """A source read and checked: its two notebooks, both without the outputs of execution."""

    file: Path
    solved: nbformat.NotebookNode
    blank: nbformat.NotebookNode
    lines: tuple[int, ...]

    @property
    def paths(self):
        """Where the two notebooks belong: (solved, blank)."""
        return self.file.with_suffix(".ipynb"), self.file.parents[1] / "lessons" / f"{self.file.stem}.ipynb"


# ---- source -> cells


def read(file):
    """The Lesson in a source file. Raises SourceError."""
    import jupytext

    file = Path(file)
    text = file.read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="md:myst")
    lines = _code_lines(text)
    _sections_begin_cells(file, text, notebook.cells)
    found = {} if file.stem == GLOSSARY else _exercises_in(file, int(file.name[:2]), notebook.cells, lines)
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _filled(file, cell.source)
        elif id(cell) in found:
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), CHECKED]
    blank = copy.deepcopy(notebook)
    for solved_cell, cell in zip(notebook.cells, blank.cells, strict=True):
        if cell.cell_type == "code":
            cell.source = blanked(cell.source)
        if id(solved_cell) in found:
            _show_not_attempted(cell, found[id(solved_cell)])
    _name_cells(notebook.cells, blank.cells)
    return Lesson(file, notebook, blank, lines)


KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def _sections_begin_cells(file, text, cells):
    """Links lead to cells, so a numbered heading begins one. Raises SourceError."""
    for cell in cells:
        if cell.cell_type == "markdown" and (hidden := SECTION.search(cell.source, 1)):
            line = text[: text.index(f"\n{hidden[0]}") + 1].count("\n") + 1
            raise SourceError(file, line, "a numbered section must begin a cell: put `+++` above its heading")


def _code_lines(text):
    """The line number of the first line of each code cell."""
    lines = text.splitlines()
    starts = []
    for number, line in enumerate(lines):
        if FENCE.match(line):
            first = number + 1
            while first < len(lines) and lines[first].startswith(":"):
                first += 1
            starts.append(first + 1)
    return tuple(starts)


def _exercises_in(file, number, cells, lines):
    """Check cell -> exercise, by the cell's identity. Raises SourceError where marks, ids and checks do not fit."""
    known = {exercise.id: exercise for exercise in course.lesson(number).exercises}
    found, open_functions, open_line = {}, {}, None
    for cell, start in zip([cell for cell in cells if cell.cell_type == "code"], lines, strict=True):
        solution_lines = _marks(file, cell.source, start)
        tree = _parsed(file, cell.source, start)
        if solution_lines:
            if open_functions:
                raise SourceError(file, open_line, "this solution cell has no check cell before the next solution")
            open_functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            open_line = start
            if not open_functions:
                raise SourceError(file, start, "a solution cell must define the function that its check is given")
        for call in _checks(tree):
            line = start + call.lineno - 1
            exercise_id = ast.literal_eval(call.args[0])
            function = getattr(call.args[1], "id", None)
            if exercise_id not in known:
                raise SourceError(file, line, f"there is no exercise {exercise_id!r}; there are {', '.join(known)}")
            if exercise_id in {exercise.id for exercise in found.values()}:
                raise SourceError(file, line, f"exercise {exercise_id} is checked a second time")
            if function != known[exercise_id].function or function not in open_functions:
                raise SourceError(
                    file,
                    line,
                    f"check {exercise_id} must be given `{known[exercise_id].function}`, defined in the solution cell before",
                )
            found[id(cell)] = known[exercise_id]
            open_functions = {}
    if open_functions:
        raise SourceError(file, open_line, "this solution cell has no check")
    missing = known.keys() - {exercise.id for exercise in found.values()}
    if missing:
        raise SourceError(file, 1, f"no check for exercise {min(missing)}, which dpcourse.exercises has")
    return found


def _marks(file, code, start):
    """Whether the cell has solution marks. Raises SourceError for marks that do not pair up."""
    opened = None
    seen = False
    for number, line in enumerate(code.splitlines(), start):
        if line.strip() == BEGIN:
            if opened is not None:
                raise SourceError(file, number, f"`{BEGIN}` inside a solution that begins in line {opened}")
            opened, seen = number, True
        elif line.strip() == END:
            if opened is None:
                raise SourceError(file, number, f"`{END}` without `{BEGIN}`")
            opened = None
    if opened is not None:
        raise SourceError(file, opened, f"`{BEGIN}` without `{END}`")
    return seen


def _parsed(file, code, start):
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise SourceError(file, start + (error.lineno or 1) - 1, f"not valid Python: {error.msg}") from None


def _checks(tree):
    """The calls check("id", function) of a cell."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "check" and len(node.args) == 2:
            yield node


def blanked(code):
    """The code with each solution replaced by `raise NotImplementedError`.

    >>> print(blanked("def f(x):\\n    ### BEGIN SOLUTION\\n    return x\\n    ### END SOLUTION"))
    def f(x):
        raise NotImplementedError
    """
    kept, inside = [], False
    for line in code.splitlines():
        if line.strip() == BEGIN:
            inside = True
            kept.append(line[: line.index("#")] + "raise NotImplementedError")
        elif line.strip() == END:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def _name_cells(solved, blank):
    """Give the same stable id to both versions of a cell: the section that it begins, or the hash of the blank one."""
    used = {}
    for solved_cell, cell in zip(solved, blank, strict=True):
        if cell.cell_type == "markdown" and (section := SECTION.match(cell.source)):
            solved_cell.id = cell.id = section_id(section[1])
            continue
        digest = hashlib.blake2b(f"{cell.cell_type}\n{cell.source}".encode(), digest_size=4).hexdigest()
        used[digest] = used.get(digest, 0) + 1
        solved_cell.id = cell.id = f"{digest}-{used[digest]}"


def _show_not_attempted(cell, exercise):
    verdict = exercise.blank()
    cell.execution_count = 1
    cell.outputs = [
        nbformat.v4.new_output("display_data", {"text/html": verdict._repr_html_(), "text/plain": repr(verdict)})
    ]


# ---- what is filled in


def _filled(file, text):
    """A Markdown cell with its {...} lines filled and its references made links."""

    def fill(match):
        if match["exercise"]:
            return exercise_header(course.find(match["exercise"]))
        if match["table"]:
            return glossary.table(match["table"])
        if match["part"] == "contents":
            return contents(file.parents[1])
        return opening(file) if match["part"] == "opening" else links(file)

    parts = r"^\{(?P<part>opening|contents|closing|exercise (?P<exercise>[0-9.]+)|glossary (?P<table>[a-z]+))\}$"
    return referring(file, re.sub(parts, fill, text, flags=re.MULTILINE))


def opening(file):
    """Title, links, goals with their checks, what is needed first, minutes."""
    said = about(file)
    goals = "\n".join(
        f"- {goal['can']} (exercise{'s' * (len(goal['checks']) > 1)} {', '.join(goal['checks'])})"
        for goal in said["goals"]
    )
    return (
        f"# {said['title']}\n\n{links(file)}\n\n**When you have finished this lesson you can**\n\n{goals}\n\n"
        f"**You need first:** {said['needs']}\n\n**Time:** about {said['minutes']} minutes."
    )


def exercise_header(exercise):
    """One line above an exercise: difficulty, minutes, points, what it is good for."""
    dots = "●" * exercise.difficulty + "○" * (5 - exercise.difficulty)
    points = f"{exercise.points} point{'s' * (exercise.points != 1)}"
    return (
        f"### Exercise {exercise.id}: {exercise.title}\n\n"
        f"*Difficulty {dots} ({exercise.difficulty} of 5) · about {exercise.minutes} minutes · {points} · Good for: {exercise.good_for}.*"
    )


# ---- cells -> files


def execute(lesson):
    """The solved notebook with its outputs. Raises SourceError where a cell fails, warns, or a check does not pass."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = copy.deepcopy(lesson.solved)
    if not lesson.lines:
        return notebook
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(lesson.file.parent)}},
    )
    lines = dict(
        zip((i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"), lesson.lines, strict=True)
    )
    with (
        tempfile.TemporaryDirectory() as data,
        _environment(DPCOURSE_DATA=data, PYTHONHASHSEED="0"),
        client.setup_kernel(),
    ):
        for i, start in lines.items():
            cell = notebook.cells[i]
            try:
                client.execute_cell(cell, i)
            except CellExecutionError as error:
                within = re.findall(r"Cell In\[\d+\], line (\d+)", re.sub(r"\x1b\[[0-9;]*m", "", str(error)))
                line = start + int(within[-1]) - 1 if within else start
                raise SourceError(lesson.file, line, f"the cell fails with {error.ename}: {error.evalue}") from None
            if UNSTORED in cell.metadata.get("tags", []):
                cell.outputs, cell.execution_count = [], None
            for output in cell.outputs:
                if output.get("name") == "stderr":
                    raise SourceError(lesson.file, start, f"the cell writes to stderr: {output.text.splitlines()[0]}")
                output.get("data", {}).pop(SHOWN_LIVE_ONLY, None)
            if CHECKED in cell.metadata.get("tags", []) and any(_checks(ast.parse(cell.source))):
                said = cell.outputs[0]["data"]["text/plain"] if cell.outputs else "nothing"
                if ": passed (" not in said:
                    raise SourceError(lesson.file, start, f"the solution does not pass its check: {said}")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
    notebook.metadata = lesson.solved.metadata
    return notebook


class _environment:
    """Environment variables set for a while."""

    def __init__(self, **variables):
        self.variables = variables

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.variables}
        os.environ.update(self.variables)

    def __exit__(self, *error):
        for name, value in self.before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def as_text(notebook):
    """The bytes of a notebook file, always the same for the same notebook."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def build(root, names=(), fresh=False, progress=lambda lessons: lessons):
    """Build what is out of date, and README's table of lessons; returns the names of the lessons built.

    names: only these lessons (such as "01-composition"). fresh: build even what is up to date.
    progress: wraps the list of lessons, to draw a bar. Raises SourceError; a lesson is written whole or not at all.
    """
    root = Path(root)
    wanted = [file for file in pages(root) if not names or file.stem in names]
    unknown = set(names) - {file.stem for file in wanted}
    if unknown:
        raise ValueError(
            f"there is no lesson {min(unknown)!r}; there are {', '.join(file.stem for file in pages(root))}"
        )
    lessons = [read(file) for file in wanted]
    if (front := readme(root)) is not None:
        write_atomically(root / "README.md", front)
    memory = root / ".dpcourse-build.json"
    built_before = json.loads(memory.read_text()) if memory.exists() else {}
    stale = [lesson for lesson in lessons if fresh or built_before.get(lesson.file.stem) != fingerprint(lesson)]
    for lesson in progress(stale):
        solved = as_text(execute(lesson))
        for path, text in zip(lesson.paths, (solved, as_text(lesson.blank)), strict=True):
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, text)
        built_before[lesson.file.stem] = fingerprint(lesson)
        write_atomically(memory, json.dumps(built_before, indent=1))
    return [lesson.file.stem for lesson in stale]


def fingerprint(lesson):
    """A hash of all that a lesson's notebooks depend on, and of the notebooks as they are."""
    package = sorted(file for kind in ("*.py", "*.toml") for file in Path(__file__).parents[1].rglob(kind))
    digest = hashlib.blake2b(digest_size=16)
    for path in [lesson.file, *pages(lesson.file.parents[1]), *package, *lesson.paths]:
        digest.update(path.read_bytes() if path.exists() else b"missing")
    return digest.hexdigest()


def differences(root):
    """What is not as the sources give it, as "file: the first cell that differs"; executes nothing."""
    found = []
    for file in pages(root):
        lesson = read(file)
        for path, expected in zip(lesson.paths, (lesson.solved, lesson.blank), strict=True):
            difference = _first_difference(path, expected, outputs=expected is lesson.blank)
            if difference:
                found.append(f"{path.relative_to(root)}: {difference}")
    for path in sorted(Path(root).glob("*/[0-9][0-9]-*.ipynb")):
        if path.parent.name in ("lessons", "solutions") and path.stem not in {file.stem for file in sources(root)}:
            found.append(f"{path.relative_to(root)}: there is no solutions/{path.stem}.md")
    front = readme(root)
    if front is not None and front != (Path(root) / "README.md").read_text(encoding="utf-8"):
        found.append("README.md: its table of lessons is not what their front matter gives")
    return found


def _first_difference(path, expected, outputs):
    """In words; None where cells, ids and tags (and the blank lesson's outputs) are as expected."""
    try:
        committed = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "is missing"
    except ValueError as error:
        return f"is not a notebook: {error}"
    kept = ["cell_type", "source", "id", "metadata"] + (["outputs"] if outputs else [])
    cells = committed.get("cells", [])
    for number, (cell, right) in enumerate(zip(cells, expected.cells, strict=False)):
        for part in kept:
            if cell.get(part) != right.get(part):
                return f"cell {number} ({right.id}) differs in its {part}: {_brief(cell.get(part))}, not {_brief(right.get(part))}"
    if len(cells) != len(expected.cells):
        return f"cell {min(len(cells), len(expected.cells))}: {len(cells)} cells, not {len(expected.cells)}"
    if committed.get("metadata") != expected.metadata:
        return "the notebook's metadata differ"
    return None


def _brief(value):
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return repr(text if len(text) <= 60 else text[:60] + "…")
