"""The project as a whole: its laws, its lessons' metadata, its lists of versions, its README."""

import ast
import functools
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import jupytext
import pytest
import support
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from support import by_profile

from dpcourse import course
from dpcourse.authoring import build, minutes, navigation, stale, uses
from dpcourse.authoring.execute import UNSTORED
from dpcourse.authoring.source import languages

ROOT = Path(__file__).parents[1]
SOURCES = build.sources(ROOT)
every_lesson = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
UNTYPED = by_profile("not typed", ["--exclude", "^dpcourse/dpsgd/"], [])


def tool(*command):
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)


def test_import_laws_are_kept():
    result = tool("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


@pytest.mark.parametrize("command", [("check", "."), ("format", "--check", ".")])
def test_ruff_is_content(command):
    result = tool("-m", "ruff", *command)
    assert result.returncode == 0, result.stdout


def test_types_hold():
    """Of all but exercises and pictures (pyproject.toml), and on a commit but dpsgd: PyTorch's types take half a minute."""
    result = tool("-m", "mypy", *UNTYPED)
    assert result.returncode == 0, result.stdout + result.stderr


# ---- lessons


def about(source):
    return jupytext.read(source).metadata["dpcourse"]


read = functools.cache(build.read)


def cells(source, kind):
    return [cell for cell in read(source).solved.cells if cell.cell_type == kind]


def test_a_lesson_has_the_same_name_everywhere():
    assert [source.stem for source in SOURCES] == [lesson.name for lesson in course.lessons()]
    for source, lesson in zip(SOURCES, course.lessons(), strict=True):
        assert navigation.title(source) == f"{lesson.name[:2]} {lesson.title}"


@every_lesson
def test_a_lesson_has_its_parts_in_order(source):
    text = source.read_text(encoding="utf-8")
    number = int(source.stem[:2])
    parts = [
        "{opening}",
        "\n## 1. ",
        f"quiz({number})",
        "## Summary",
        "| symbol |",
        "## Where this comes from",
        "{closing}",
    ]
    for part in parts:
        assert part in text, f"add `{part.strip()}` to solutions/{source.name}; its parts are, in order: {parts}"
    places = [text.index(part) for part in parts]
    assert places == sorted(places), f"solutions/{source.name}: its parts must stand in this order: {parts}"
    headers = re.findall(r"^\{exercise (.+)\}$", text, flags=re.MULTILINE)
    assert tuple(headers) == course.lesson(number).functions


@every_lesson
def test_no_source_writes_the_number_of_an_exercise(source):
    """It is said by its function, so that an exercise in the middle renumbers nothing."""
    pattern = r"""(?:[Ee]xercises?|Pass|from) (\d\.\d+)\b(?! \()|(?:check|hint|passed|solution)\(.(\d\.\d+)"""
    for line in source.read_text(encoding="utf-8").splitlines():
        found = re.search(pattern, line)
        numbers = [exercise.number for exercise in course.every_exercise()]
        assert not found or (found[1] or found[2]) not in numbers, f"name it by its function, {{f}}: {line}"


@every_lesson
def test_no_picture_stands_still_beside_its_explorer(source):
    """An explorer shows its picture where no kernel runs, too, with its sliders as they stand at first."""
    pictures = {"plots.show": [], "widgets.explore": []}
    for cell in cells(source, "code"):
        for call in (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)):
            at_first = {argument.arg: _at_first(argument.value) for argument in call.keywords}
            pictures.get(ast.unparse(call.func), []).append((ast.unparse(call.args[0]) if call.args else "", at_first))
    assert pictures["widgets.explore"], f"add a `widgets.explore(plots.a_picture, ...)` to solutions/{source.name}"
    for still in pictures["plots.show"]:
        assert still not in pictures["widgets.explore"], f"leave `plots.show({still[0]}, ...)` out"


def _at_first(value):
    slider = isinstance(value, ast.Call) and ast.unparse(value.func) in ("widgets.slider", "widgets.choice")
    return ast.unparse(value.args[-1] if slider else value)


@every_lesson
def test_printed_text_is_compared_by_nbval(source):
    """A cell that prints or shows a table, in lesson and solution alike, has the tag; not one whose output is not kept."""
    for cell in cells(source, "code"):
        if re.search(r"\bprint\(|\btables\.show\(", cell.source) and not re.search(r"\bpassed\b", cell.source):
            told = f"add `:tags: [{build.CHECKED}]` to this cell of solutions/{source.name}:\n{cell.source}"
            assert {build.CHECKED, UNSTORED}.intersection(cell.metadata.get("tags", [])), told


@every_lesson
def test_code_fits_into_the_page(source):
    assert max(len(line) for cell in cells(source, "code") for line in cell.source.splitlines()) <= 95


@pytest.mark.parametrize("page", navigation.pages(ROOT), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    """All links of a page that do not leave the course, in each language, where they are the same; README's with it."""
    found = {}
    for language in ("", *languages(ROOT)):
        notebooks = [(ROOT / folder / language / f"{page.stem}.ipynb") for folder in ("lessons", "solutions")]
        for file in [*notebooks, navigation.readme_of(ROOT, language)]:
            text = file.read_text(encoding="utf-8")
            targets = re.findall(r"\]\((?!http)([^)]+)", text) + re.findall(r"href='([^':]+)'", text)
            for target in targets:
                place = file.parent / target.partition("#")[0] if target[0] != "#" else file
                assert place.exists(), f"{file.name} leads to {target}"
            if file in notebooks:
                found.setdefault(file.parent.relative_to(ROOT).parts[0], []).append(sorted(targets))
    assert all(each == first for first, *others in found.values() for each in others)


@pytest.mark.in_turn("seconds of numbers")
@every_lesson
def test_every_page_leads_home_and_to_the_glossary_at_its_top_and_at_its_end(source):
    first, *_, last = (cell.source for cell in read(source).blank.cells)
    for cell in (first, last):
        assert "](glossary.ipynb)" in cell
        assert "](00-start-here.ipynb#cell-id=all-lessons)" in cell


def test_the_home_page_and_the_readme_name_every_lesson():
    home = "\n".join(cell.source for cell in read(SOURCES[0]).blank.cells)
    for text, folder in ((home, ""), ((ROOT / "README.md").read_text(encoding="utf-8"), "lessons/")):
        rows = re.findall(rf"^\| \[(.+?)\]\({folder}(.+?)\.ipynb\)[^|]* \| .+ \| (\d+) \|$", text, re.MULTILINE)
        assert rows == [(navigation.title(page), page.stem, str(minutes.of(page).hours)) for page in SOURCES]
    for page in SOURCES:
        assert all(goal["can"] in home for goal in about(page)["goals"])
        assert about(page)["needs"] in home


@pytest.mark.weekly("five lessons in a process; the workflow `platforms` runs them with nothing else installed")
def test_lessons_00_to_04_need_the_core_alone():
    """They, and what of the package they reach, import no other package; what is imported only if it is there is named."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {Requirement(line).name for line in project["dependencies"]} | {"dpcourse", "IPython", "PIL"}  # matplotlib's
    modules, seen, others = uses.modules_of(ROOT), set(), set()
    for source in SOURCES[:5]:
        used = {module: modules.tree(module) for module in stale.used(read(source), modules) - seen}
        seen |= used.keys()
        used[""] = ast.parse("\n".join(cell.source for cell in cells(source, "code")))
        others |= {(module, name) for module, tree in used.items() for name in imported(tree) if name not in core}
    assert others == {("dpcourse.notebook.doctor", "psutil"), ("dpcourse.base.packaged", "tqdm")}  # both do without


def imported(tree):
    """The first names of what some code imports, but of Python's own."""
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def test_contributing_names_every_topic_and_every_room():
    """What stands in dpcourse/ is imported by learners, or is a room of the table."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    of_learners = re.search(r"`dpcourse/` shows what a learner imports: (.+)", text)[1]
    named = {*re.findall(r"`([a-z_]+)/?`", of_learners), *re.findall(r"^\| `([a-z_]+)/` \|", text, re.MULTILINE)}
    there = {
        path.stem for path in (ROOT / "dpcourse").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__", "__main__"} == named


# ---- versions


def pins(path):
    """What a file of requirements asks for, in the versions that the course is for."""
    lines = [line.partition(" #")[0] for line in (ROOT / path).read_text().split("\n")]
    asked = [Requirement(line) for line in lines if line and not line.startswith("-e")]
    return {need.name: need for need in asked if need.marker is None or need.marker.evaluate()}


def test_another_python_is_told_which_it_should_be_before_anything_else():
    """pip stops at the first line that it cannot have, and shows its name."""
    first = Requirement((ROOT / "requirements.txt").read_text().partition(" #")[0])
    takes = SpecifierSet(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"])
    minors = range(20)
    assert [first.marker.evaluate({"python_version": f"3.{minor}"}) for minor in minors] == [
        f"3.{minor}" not in takes for minor in minors
    ]
    taken = [minor for minor in minors if f"3.{minor}" in takes]
    assert f"Python-3.{taken[0]}-to-3.{taken[-1]}." in first.url


@pytest.mark.in_turn("seconds of numbers")
def test_what_authoring_imports_is_in_its_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["authoring"]]
    there = {canonicalize_name(Requirement(line).name) for line in lines}
    provides = importlib.metadata.packages_distributions()
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "dpcourse" / "authoring").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"dpcourse"}
    assert [name for name in sorted(packages) if there.isdisjoint(map(canonicalize_name, provides[name]))] == []


def test_requirements_are_exact_and_end_with_the_course_itself():
    assert (ROOT / "requirements.txt").read_text().rstrip().endswith("\n-e .")
    for path in ("requirements.txt", "tests/requirements.txt"):
        assert all(str(need.specifier).startswith("==") for need in pins(path).values())


def test_what_the_package_needs_is_pinned_for_the_learner():
    """And for those who build and test, what authoring needs beside it; and nothing else is pinned for learners."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert list(extras) == ["jupyter", "torch", "grading", "authoring"]
    needed = set()
    for lines in (project["dependencies"], *extras.values()):
        pinned = pins("requirements.txt") | (pins("tests/requirements.txt") if lines is extras["authoring"] else {})
        for need in map(Requirement, lines):
            assert need.name in pinned, f"pin {need.name} in requirements.txt"
            assert need.specifier.contains(str(pinned[need.name].specifier).removeprefix("=="))
            needed.add(need.name)
    assert set(pins("requirements.txt")) - needed == {"jsonschema", "nbval"}  # one slows JupyterLab down, one is a test


def test_several_extras_ask_for_the_same_of_a_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = {line for lines in (project["dependencies"], *project["optional-dependencies"].values()) for line in lines}
    assert len({Requirement(line).name for line in lines}) == len(lines)


def test_the_tests_run_with_the_pinned_versions():
    for need in (pins("requirements.txt") | pins("tests/requirements.txt")).values():
        assert need.specifier.contains(importlib.metadata.version(need.name)), need


def test_binder_takes_the_package_s_own_ranges():
    """Of what a learner needs, and each admits the version that is tested: Binder's is not older."""
    listed = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text(encoding="utf-8"))
    assert listed["channels"] == ["conda-forge"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    learner = {
        need.name: need.specifier
        for need in map(Requirement, [*project["dependencies"], *extras["jupyter"], *extras["torch"]])
    }
    other_names = {"matplotlib-base": "matplotlib", "pytorch-cpu": "torch"}
    conda = [Requirement(line) for line in listed["dependencies"] if not line.startswith("python=")]
    conda = {other_names.get(need.name, need.name): need.specifier for need in conda}
    assert {name: range for name, range in conda.items() if name in learner} == learner
    assert {name: str(range) for name, range in conda.items() if name not in learner} == {
        "jsonschema": "<4.25", "nbgitpuller": "", "notebook": "", "pip": ""
    }  # fmt: skip
    for name, need in pins("requirements.txt").items():
        assert name not in conda or conda[name].contains(str(need.specifier).removeprefix("=="))


def test_ci_runs_the_readmes_own_command():
    script = (ROOT / ".ci" / "run").read_text()
    extract = next(line for line in script.splitlines() if line.startswith("command="))
    found = subprocess.run(
        ["bash", "-c", f'{extract}; echo "$command"'], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert found.startswith("python3 -m venv --clear .venv-tests && ")
    assert found.rstrip().endswith("-m pytest -n 3 --dist loadfile")
    assert ".ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text()


# ---- the two profiles


def test_what_the_week_has_more_of_is_said_where_a_module_is_imported():
    """Else `pytest --weekly`, which imports and runs nothing, would not know it; nor does anything else ask which profile runs."""
    for file in sorted((ROOT / "tests").glob("**/*.py")):
        text = file.read_text(encoding="utf-8")
        if "by_profile" not in text and "WEEKLY" not in text:
            continue
        tree = ast.parse(text)
        bodies = [line for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for line in each.body]
        within = [node for line in bodies for node in ast.walk(line)]
        called = {node.func.id for node in within if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        if file.name != "support.py":
            assert "by_profile" not in called, f"{file}: call by_profile outside of functions"
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            assert "WEEKLY" not in names, f"{file}: ask support.by_profile in place of WEEKLY"


@pytest.fixture
def ours(request):
    """Our conftest, by whose hooks tests are chosen."""
    return request.config.pluginmanager.get_plugin(str(ROOT / "conftest.py"))


def test_after_so_many_turns_every_notebook_was_asked_but_what_trains(ours, monkeypatch):
    every = {path for folder in ("lessons", "solutions") for path in ROOT.glob(f"{folder}/**/*.ipynb")}
    every = {path for path in every if not path.parent.name.startswith(".")}
    for weekly, turns in ((False, ours.ONE_IN), (True, support.WEEKS)):
        asked, times = set(), []
        for turn in range(turns):
            monkeypatch.setattr(ours, "WEEKLY", weekly)
            monkeypatch.setattr(ours, "_turn", lambda turn=turn: turn)
            monkeypatch.setattr(support, "of_this_week", lambda every, turn=turn, turns=turns: every[turn::turns])
            times.append(ours._asked.__wrapped__())
            asked |= times[-1]
        solved = {path for path in every if path.parts[len(ROOT.parts)] == "solutions" and "zh" not in path.parts}
        trains = {path for path in solved if path.name.startswith(ours.TRAINS)}
        assert all(times), "no turn asks nothing"
        assert asked == every if weekly else asked >= solved - trains
        assert weekly or not asked & trains


def test_a_notebook_is_not_even_read_unless_it_is_its_turn_or_somebody_names_it(ours, monkeypatch):
    one, other = (ROOT / "solutions" / name for name in ("00-start-here.ipynb", "01-composition.ipynb"))
    monkeypatch.setattr(ours, "_asked", lambda: {one})
    config = SimpleNamespace(invocation_params=SimpleNamespace(dir=ROOT), args=["solutions"])
    assert ours.pytest_ignore_collect(one, config) is None
    assert ours.pytest_ignore_collect(other, config)
    config.args = ["solutions/01-composition.ipynb::Cell 3"]
    assert ours.pytest_ignore_collect(other, config) is None
    assert ours.pytest_ignore_collect(ROOT / "tests" / "test_tables.py", config) is None
