"""What is executed: a page whose code, or modules that it uses, have changed; and nothing where only prose has."""

import nbformat
import pytest
from support import ROOT

from dpcourse import course as real
from dpcourse.authoring import build, stale, uses
from dpcourse.authoring.page import read
from dpcourse.base.languages import PACKAGE
from dpcourse.base.modules import Modules

NAME = "00-start"


def outputs(course):
    return [cell.outputs for cell in course.notebooks()[0].cells if cell.cell_type == "code"]


@pytest.mark.in_turn("seconds of reading sources")
def test_a_word_of_prose_is_written_into_both_notebooks_and_nothing_is_executed(built, runs):
    before = outputs(built)
    assert build.build(built.root) == []
    built.edit(("{closing}", "A word.\n\n{closing}"), ('can: "do it"', 'can: "do it well"'))
    assert build.build(built.root) == [NAME]
    assert runs == []
    assert outputs(built) == before
    assert any(before)
    for notebook in built.notebooks():
        text = "\n".join(cell.source for cell in notebook.cells)
        assert "A word." in text
        assert "- do it well (exercise 0.1)" in text
    assert build.build(built.root) == []


@pytest.mark.parametrize(
    "change",
    [
        ('"seven", 7', '"eight", 8'),
        (":tags: [remove-output]", ":tags: [nbval-check-output]"),
        ("{closing}", "```{code-cell} ipython3\nprint(8)\n```"),
    ],
)
def test_a_changed_code_cell_is_executed(built, runs, change):
    built.edit(change)
    assert build.build(built.root) == [NAME]
    assert runs == [NAME]
    assert build.build(built.root) == []


@pytest.mark.parametrize(
    ("module", "change"),
    [
        ("notebook/check", ("def check(): '", "def check(answer): '")),
        ("course/start_here/keep_probability", ("how often", "how rarely")),
        ("course/start_here/quiz", ("()", "(1,)")),
        ("course/start_here/pictures", ("figure)", "figure, x)")),
        ("pld", ("def search", "STEPS = 1\n\n\ndef search")),
        ("rounding", ("12", "13")),
    ],
)
def test_a_changed_module_that_the_page_uses_however_far_away_is_executed(built, runs, module, change):
    built.edit(change, file=built.module(module))
    build.build(built.root)
    assert runs == [NAME]
    assert build.build(built.root) == []


@pytest.mark.parametrize(
    ("module", "change"),
    [
        ("gdp", ("mu", "nu")),
        ("pld", ("'Search.'", "'Find.'")),
        ("pld", ("from", "# Why.\n\nfrom")),
        ("rounding", ("DIGITS = 12", "DIGITS   =  12  # enough")),
    ],
)
def test_what_the_page_does_not_use_and_what_only_people_read_is_not_executed(built, runs, module, change):
    built.edit(change, file=built.module(module))
    assert build.build(built.root) == []
    assert runs == []


def test_a_picture_of_another_lesson_counts_and_its_data_too(two_lessons, runs):
    other, names = two_lessons.package / "course" / "next", ["00-start-here"]
    (other / "pictures.py").write_text('from dpcourse import gdp\n\nTABLE = "table.npz"\n\n\ndef tail(figure): ...\n')
    (other / "table.npz").write_bytes(b"1")
    two_lessons.edit(('print("seven", 7)', "from dpcourse import plots\nplots.show(plots.tail)"))
    build.build(two_lessons.root, names)
    assert runs == names
    (other / "table.npz").write_bytes(b"2")
    build.build(two_lessons.root, names)
    assert runs == 2 * names
    two_lessons.edit(("mu", "nu"), file=two_lessons.module("gdp"))
    build.build(two_lessons.root, names)
    assert runs == 3 * names
    (other / "quiz.py").write_text("QUIZ = (1,)\n")
    build.build(two_lessons.root, names)
    assert runs == 3 * names


def test_nothing_of_another_lesson_makes_a_page_old(two_lessons, runs, monkeypatch):
    for source in (two_lessons.source, two_lessons.second):
        source.write_text(source.read_text().replace('print("seven", 7)', "progress()"))
    build.build(two_lessons.root)
    assert runs == ["00-start-here", "01-next"]
    first, second = real.lessons()
    longer = type(first)(0, first.name, first.word, "A longer title", first.functions)
    monkeypatch.setattr(real, "lessons", lambda: (longer, second))
    build.build(two_lessons.root)
    assert runs == ["00-start-here", "01-next"]


def test_no_notebook_holds_what_progress_shows_of_all_lessons():
    files = [*ROOT.glob("solutions/[0-9]*.ipynb"), *ROOT.glob("solutions/*/[0-9]*.ipynb")]
    cells = [cell for file in files for cell in nbformat.read(file, 4).cells if cell.cell_type == "code"]
    shows = [cell for cell in cells if "progress()" in cell.source]
    assert len(shows) >= len(files)
    assert not any(cell.outputs for cell in shows)


@pytest.mark.weekly(
    "the whole package is read again for each change; what a cell of its own uses is tried on each commit"
)
def test_what_is_said_to_wrong_answers_makes_no_page_old():
    page = read(ROOT / "solutions/03-gdp.md")
    modules, exercise = Modules(PACKAGE), "dpcourse.course.gdp.largest_mu"
    assert exercise in stale.used(page, modules)
    assert "dpcourse.checking.exercise" in stale.used(page, modules)
    assert "dpcourse.checking.diagnosis.words" not in stale.used(page, modules)
    before = stale.fingerprint(page, modules)

    def with_text(change):
        other = Modules(PACKAGE)
        text = modules.text(exercise)
        assert change(text) != text
        other.text = lambda module: change(text) if module == exercise else modules.text(module)
        return stale.fingerprint(page, other)

    assert with_text(lambda text: text.replace("You returned epsilon.", "You returned another thing.")) == before
    assert with_text(lambda text: text.replace("100 halvings are plenty", "Many halvings are plenty")) == before
    assert with_text(lambda text: text.replace("rtol=1e-4", "rtol=1e-3")) != before
    assert with_text(lambda text: text.replace('title="From', 'title="Back from')) != before


def test_only_what_is_out_of_date_is_built(built, runs):
    """Also on a fresh clone: all that the build remembers is committed with the notebooks."""
    root = built.root
    (root / "lessons" / f"{NAME}.ipynb").unlink()
    assert build.build(root) == [NAME]
    assert runs == []
    assert build.build(root, names=[NAME]) == []
    assert build.build(root, fresh=True) == [NAME]
    assert runs == [NAME]
    (root / "solutions" / f"{NAME}.ipynb").write_text("<<<<<<< a conflict")
    assert build.build(root) == [NAME]
    assert len(runs) == 2
    with pytest.raises(ValueError, match="there is no lesson '05-x'; there are 00-start"):
        build.build(root, names=["05-x"])


def test_two_lessons_that_are_built_have_no_file_in_common(two_lessons, runs):
    build.build(two_lessons.root)
    before = two_lessons.files()
    two_lessons.edit(('print("seven", 7)', 'print("eight", 8)'), file=two_lessons.second)
    build.build(two_lessons.root)
    after = two_lessons.files()
    assert {str(file) for file in after if after[file] != before[file]} == {
        "lessons/01-next.ipynb",
        "solutions/01-next.ipynb",
    }
    assert runs == ["00-start-here", "01-next", "01-next"]


def test_the_check_says_that_outputs_are_of_older_code(built):
    assert build.differences(built.root) == []
    built.edit(("12", "13"), file=built.module("rounding"))
    (said,) = build.differences(built.root)
    assert said.startswith(f"solutions/{NAME}.ipynb: outputs of older code")
    assert said.endswith(f"run `dpcourse build {NAME}`")


def test_one_cause_is_told_once(two_lessons, runs):
    build.build(two_lessons.root)
    two_lessons.edit(("12", "13"), file=two_lessons.module("rounding"))
    (said,) = build.differences(two_lessons.root)
    assert "solutions/00-start-here.ipynb, solutions/01-next.ipynb: outputs of older code" in said
    assert said.endswith("run `dpcourse build 00-start-here 01-next`")


@pytest.mark.in_turn("seconds of reading sources")
def test_exact_composition_is_used_by_the_lessons_that_compute_it_and_not_by_00_and_03():
    """A change to it executes those that show exact values, and not 00 and 03; one to the judge executes all."""
    modules = uses.modules_of(ROOT)
    found = {source.stem[:2]: stale.used(build.read(source, modules), modules) for source in build.sources(ROOT)}
    using = {number for number, there in found.items() if "dpcourse.pld" in there}
    assert using >= {"01", "02", "04", "05", "06", "07"}
    assert using.isdisjoint({"00", "03"})
    assert all("dpcourse.checking.exercise" in there for there in found.values())
    assert not any(module.startswith(("dpcourse.authoring", "dpcourse.grading")) for there in found.values() for module in there)  # fmt: skip


def test_stored_outputs_are_kept_as_they_are(built):
    page = build.read(built.source, uses.modules_of(built.root))
    kept = build.stored(page)
    nbformat.validate(kept)
    assert build.as_text(kept) == (built.root / "solutions" / f"{NAME}.ipynb").read_text(encoding="utf-8")
