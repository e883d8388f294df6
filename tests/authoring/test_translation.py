"""Lessons in another language: what is translated is shown, what is behind stands in English, what is unfaithful is named.

The language "xx" is made up: it costs a folder and a catalogue, and no code.
"""

import json
import shutil

import nbformat
import pytest
from typer.testing import CliRunner

from dpcourse.authoring import build, catalogues, compare, source, stale, translation
from dpcourse.authoring.uses import modules_of
from dpcourse.base import languages
from dpcourse.commands import app

from .conftest import NAME

PARTS = """## 1. Counting

Mia has $n$ answers, see {keep_probability} and 00 §1. She has *two*.

+++

## 2. Adding

The sum of 3 counts is [here](https://a.org/b).

* one `item`
* the rest

```{code-cell} ipython3
counts = {"a": 3}  # three
print(f"in all {counts['a']} of {len(counts)}", "no more")
```

Mia goes home.

+++

{closing}"""
WORDS = {
    "the only one": "EL UNICO",
    "what a lesson is": "QUE ES",
    "needs: nothing": "needs: NADA",
    '"do it"': '"HACERLO"',
    "Counting": "CONTAR",
    "Mia has $n$ answers, see {keep_probability} and 00 §1. She has *two*": "漢字有$n$，見{keep_probability}与00 §1，*二*",
    "Adding": "SUMAR",
    "The sum of 3 counts is": "LA SUMA DE 3 ES",
    "one `item`": "UN `item`",
    "the rest": "EL RESTO",
    "# three": "# TRES",
    "in all {counts['a']} of {len(counts)}": "DE {len(counts)} EN TOTAL {counts['a']}",
    "no more": "NADA MAS",
    "Mia goes home.": "A CASA.",
    "seven": "SIETE",
    "differs from run to run": "DISTINTO",
}
SAID = {
    "*The English of this part has changed, and this translation has not yet: here is the English.*": "BEHIND",
    "All lessons": "TODAS",
    "**Time:** about {total} minutes: {reading} to read, {solving} for the exercises.": "{solving} + {reading} = {total}",
    "### Exercise {id}: {title}": "### EJERCICIO {id}: {title}",
    ", with exercise {id}": " {id}",
    "How often to keep the truth": "LA VERDAD",
    "Write the body of `{function}`, run its cell, then run this cell again.": "ESCRIBE {function}.",
}


@pytest.fixture
def xx(course, runs, tmp_path, monkeypatch):
    """The course with a translation and a catalogue, built and up to date."""
    monkeypatch.setattr(languages, "CATALOGUES", tmp_path / "locale")
    put(SAID)
    course.edit(("{closing}", PARTS))
    course.xx = course.root / "solutions" / "xx" / f"{NAME}.md"
    course.xx.parent.mkdir()
    shutil.copyfile(course.source, course.xx)
    course.edit(*WORDS.items(), file=course.xx)
    assert "xx" in source.languages(course.root)
    assert len(translation.record(course.xx)) == 12
    build.build(course.root)
    assert runs == [NAME, NAME]
    return course


def put(said):
    """The catalogue of the made-up language."""
    folder = languages.CATALOGUES / "xx"
    folder.mkdir(parents=True, exist_ok=True)
    entries = (f"msgid {json.dumps(message)}\nmsgstr {json.dumps(text)}\n" for message, text in said.items())
    file = folder / "all.po"
    file.write_text("\n".join(entries), encoding="utf-8")
    file.with_suffix(languages.COMPILED).write_bytes(catalogues.compiled(file, "xx"))
    languages.forget()


def page(course):
    return nbformat.read(course.root / "lessons" / "xx" / f"{NAME}.ipynb", 4).cells


def english(course):
    return course.notebooks()[1].cells


def check(course):
    """(exit code, what is said)."""
    done = CliRunner().invoke(app, ["build", "--check", "--root", str(course.root)])
    print(done.output)
    return done.exit_code, done.output.replace(f"{course.root}/", "")


def test_a_language_is_a_folder(xx):
    for folder in ("solutions", "lessons"):
        theirs, mine = (nbformat.read(xx.root / folder / name / f"{NAME}.ipynb", 4).cells for name in ("", "xx"))
        assert [(cell.id, cell.cell_type, cell.metadata) for cell in theirs] == [(cell.id, cell.cell_type, cell.metadata) for cell in mine]  # fmt: skip
    text = "\n".join(cell.source for cell in page(xx))
    assert "# 00 A lesson: EL UNICO" in text
    assert "- HACERLO (exercise 0.1)" in text, "a word that the language lacks stands in English"
    assert "10 + 5 = 15" in text
    assert "- [1. CONTAR](00-start.ipynb#cell-id=section-1) · 1 min\n- [2. SUMAR]" in text
    assert "### EJERCICIO 0.1: LA VERDAD" in text
    assert "漢字有$n$，見0.1与[00 §1](00-start.ipynb#cell-id=section-1)，*二*." in text
    assert 'print(f"DE {len(counts)} EN TOTAL' in text
    assert "BEHIND" not in text
    first = next(cell.source for cell in page(xx) if cell.cell_type == "code")
    assert first.endswith('import check\nfrom dpcourse import language\n\nlanguage("xx")')
    (output,) = next(cell.outputs for cell in page(xx) if "check(" in cell.source)
    assert output.data["text/plain"] == "0.1 LA VERDAD: not attempted\nESCRIBE keep_probability."
    status, said = check(xx)
    assert status == 0
    assert "xx: 12 of 12 cells (100 %) are translated." in said
    assert "1 lesson is as its source says" in said


@pytest.mark.parametrize(
    ("changes", "shown", "kept"),
    [
        ([("goes home", "stays")], ["BEHIND\n\nMia stays."], ["CONTAR", "SUMAR"]),
        ([("Mia has", "Leo has")], ["## 1. Counting\n\nBEHIND\n\nLeo has $n$"], ["SUMAR", "A CASA."]),
        ([('{"a": 3}  # three', '{"a": 4}  # four')], ['counts = {"a": 4}  # four\nprint(f"in all'], ["CONTAR", "SUMAR", "A CASA."]),
        ([("{counts['a']} of {len(counts)}", "{sum(counts)} of {len(counts)}")], ['print(f"in all {sum(counts)}'], ["CONTAR", "SUMAR", "A CASA."]),
        ([("Mia goes home.", "Mia goes home.\n\n+++\n\nShe sleeps.")], ["BEHIND\n\nShe sleeps."], ["CONTAR", "A CASA."]),
        ([("Mia goes home.\n\n", "")], [], ["CONTAR", "SUMAR"]),
        ([("learn: what a lesson is", "learn: other"), ("the only one", "no other")], ["A lesson: no other"], ["HACERLO"]),
        ([("home.\n\n+++\n", "home.\n")], [], ["CONTAR", "SUMAR", "A CASA."]),
        ([("## 1. Counting", "## 1. Counting on"), ("## 2. Adding", "## 2. Adding on")], ["## 1. Counting on\n\nBEHIND", "## 2. Adding on\n\nBEHIND"], ["A CASA."]),
    ],
    ids=["text", "heading", "code", "fields", "inserted", "removed", "front", "joined", "two"],
)  # fmt: skip
def test_what_the_english_has_changed_since_stands_there_in_english(xx, changes, shown, kept):
    xx.edit(*changes)
    build.build(xx.root)
    text = "\n\n".join(cell.source for cell in page(xx))
    for part in (*shown, *kept):
        assert part in text
    assert text.count("BEHIND") == sum("BEHIND" in part for part in shown)
    assert [(cell.id, cell.cell_type) for cell in page(xx)] == [(cell.id, cell.cell_type) for cell in english(xx)]
    status, said = check(xx)
    assert status == 0, said
    assert (" is behind 00-start.md:" in said) == bool(shown)
    assert "100 %" not in said or not shown


def test_a_cell_that_moves_takes_its_translation_with_it(xx):
    part = PARTS[: PARTS.index("+++\n")]
    xx.edit((part, ""), ("Mia goes home.\n\n+++\n", "Mia goes home.\n\n+++\n\n" + part.replace("§1.", "§2.")))
    xx.edit(("00 §2.", "00 §1."))
    build.build(xx.root)
    text = "\n\n".join(cell.source for cell in page(xx))
    assert "BEHIND" not in text
    assert text.index("SUMAR\n") < text.index("A CASA.") < text.index("CONTAR\n\n漢")
    assert check(xx)[0] == 0


def test_a_run_of_cells_that_are_behind_is_told_once(xx):
    xx.edit(("Mia goes home.", "A.\n\n+++\n\nB.\n\n+++\n\n```{code-cell} ipython3\nx = 1\n```\n\nC.\n\n+++\n\n## 3. D"))
    text = "\n\n".join(
        cell.source.replace("\n\n", "\n").replace("\n", "\n\n") for cell in translation.translated(xx.xx).cells
    )
    assert text.count("BEHIND") == 2
    assert "BEHIND\n\nA.\n\n" in text
    assert "## 3. D\n\nBEHIND" in text


def test_a_page_that_nobody_has_translated_stands_there_in_english(xx):
    xx.xx.unlink()
    assert build.build(xx.root) == [f"xx/{NAME}"]
    assert "TODAS" not in check(xx)[1]
    assert check(xx)[0] == 0
    assert f"{NAME}.md: is missing, so the page stands in English" in check(xx)[1]
    assert "EJERCICIO" in "".join(cell.source for cell in page(xx))


UNFAITHFUL = [
    ("$n$", "$m$", "lacks the formula '$n$' of the English"),
    ("$n$", "$n$$m$", "has the formula '$m$', which the English has not"),
    ("{keep_probability}与", "与", "lacks the name '{keep_probability}' of the English"),
    ("00 §1", "00 §2", "has the reference '00 §2', which the English has not"),
    ("SUMA DE 3", "SUMA DE 4", "has the number '4', which the English has not"),
    ("a.org/b", "a.org/c", "has the link 'https://a.org/c', which the English has not"),
    ("`item`", "`items`", "lacks the code '`item`' of the English"),
    ("* EL RESTO\n", "EL RESTO\n", "has 2 headings, items and rows of tables, the English 3"),
    ("## 2. SUMAR", "### 2. SUMAR", "begins with '### 2.', where the English has '## 2.'"),
    ("LA SUMA", "LA **SUMA：**DE", "'**SUMA：**' is not shown as emphasis"),
    ("  # TRES", "", "has 3 comments and texts, the English 4"),
    ("{counts['a']}", "{counts['b']}", "'b' is looked up, and nothing is kept under it"),
    ('{"a": 3}', '{"ä": 3}', "'a' is looked up"),
    ("NADA MAS", "NADA MAS DE 8", "has the number '8', which the English has not"),
    ("counts = {", "counts = {{", "not valid Python"),
]


@pytest.mark.parametrize(("old", "new", "said"), UNFAITHFUL)
def test_a_translation_that_says_something_else_is_not_shown_and_named(xx, old, new, said):
    text = xx.xx.read_text(encoding="utf-8")
    assert text.count(old) == 1
    xx.xx.write_text(text.replace(old, new), encoding="utf-8")
    found = translation.read(xx.xx)
    assert len(found.wrong) >= 1
    assert found.shown == 11
    assert any(said in str(error) for error in found.wrong), [str(error) for error in found.wrong]
    build.build(xx.root)
    status, told = check(xx)
    assert status == 1
    assert said in told
    with pytest.raises(build.SourceError, match=f"{NAME}.md:"):
        translation.record(xx.xx, [translation.name(cell) for cell in translation.cells(xx.source)])


def test_what_a_translation_may_do(xx):
    """Another order of fields, a formula for a word, a number in digits, a key that is kept under the name it is found by."""
    xx.edit(("*二*", "*2*，即$n$"), ("{len(counts)} EN TOTAL", "{len(counts)}, EN TOTAL"), file=xx.xx)
    assert translation.read(xx.xx).wrong == ()


def test_the_line_of_what_is_wrong_is_said(xx):
    xx.edit(("* EL RESTO", "* EL RESTO DE 7"), file=xx.xx)
    (error,) = translation.read(xx.xx).wrong
    line = xx.xx.read_text(encoding="utf-8").splitlines().index("* EL RESTO DE 7") + 1
    assert str(error) == f"{xx.xx}:{line}: has the number '7', which the English has not"


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ("A CASA.", "A CASA.\n\n+++\n\nMAS.", "+++\n\nMAS", None),
        ("A CASA.\n", "", "{closing}", "where the English has the text `Mia goes home.`"),
        ("{check keep_probability}", "{check delta}", "{check delta}", "the English has `{check keep_probability}`"),
        ("+++\n\n{closing}\n", "", "A CASA.", "here is the end, where the English has `{closing}`"),
    ],
)
def test_a_translation_is_recorded_only_where_it_has_the_same_cells(xx, old, new, at, said):
    before = translation.lock(xx.xx).read_bytes()
    xx.edit((old, new), file=xx.xx)
    with pytest.raises(build.SourceError) as refused:
        translation.record(xx.xx)
    text = xx.xx.read_text(encoding="utf-8")
    assert f":{text[: text.rindex(at)].count(chr(10)) + 1}: " in str(refused.value) or said is None
    assert (said or "here is the text `MAS.`") in str(refused.value)
    assert translation.lock(xx.xx).read_bytes() == before


def note(course, *names):
    """What `build --translated` says of cells, and its exit code."""
    done = CliRunner().invoke(app, ["build", "--translated", *names, "--root", str(course.root)])
    return done.exit_code, done.output


def behind(course):
    """The names of the cells that are behind, as `build --check` says them."""
    return [line.split()[1] for line in check(course)[1].splitlines() if " is behind " in line]


def test_the_translator_names_the_cells_that_are_up_to_date(xx):
    """Of two paragraphs that have changed one is translated again: the other one stays behind."""
    xx.edit(("goes home", "stays"), ("Mia has", "Leo has"))
    xx.edit(("A CASA.", "EN CASA."), file=xx.xx)
    first, second = behind(xx)
    status, said = note(xx, second)
    assert status == 0, said
    assert f"{NAME}.md:{len(xx.xx.read_text().splitlines()) - 4}: the text `EN CASA.` is up to date" in said
    text = "".join(cell.source for cell in page(xx))
    assert "EN CASA." in text
    assert "BEHIND\n\nLeo has" in text
    assert behind(xx) == [first]
    assert note(xx, first, second)[0] == 0
    assert behind(xx) == []


def test_a_page_alone_names_no_cell(xx):
    xx.edit(("goes home", "stays"))
    status, said = note(xx, f"xx/{NAME}")
    assert status == 0, said
    assert f"{behind(xx)[0]} is behind {NAME}.md:" in said
    assert note(xx, NAME) == (1, f"there is no translation '{NAME}'; there are xx/{NAME}\n")
    status, said = note(xx, f"xx/{NAME}:12345678")
    assert (status, f"{NAME}.md has no cell 12345678" in said) == (1, True)


def test_cells_that_come_and_go_bring_no_other_one_up_to_date(xx):
    xx.edit(("Mia goes home.", "Mia sleeps.\n\n+++\n\nShe dreams."), ("Mia has", "Leo has"))
    *_, last = behind(xx)
    xx.edit(("A CASA.", "DUERME.\n\n+++\n\nSUEÑA."), file=xx.xx)
    assert note(xx, last)[0] == 0
    assert len(behind(xx)) == 2
    text = "".join(cell.source for cell in page(xx))
    assert "SUEÑA." in text
    assert "DUERME." not in text


@pytest.mark.parametrize("also", [True, False], ids=["in both languages", "in English only"])
def test_a_name_of_code_that_changes_needs_no_translator(xx, also):
    xx.edit(('print("seven", 7)', 'show("seven", 7)'))
    if also:
        xx.edit(('print("SIETE", 7)', 'show("SIETE", 7)'), file=xx.xx)
    assert behind(xx) == []
    build.build(xx.root)
    assert [cell.source for cell in page(xx) if "SIETE" in cell.source] == ['show("SIETE", 7)']


def test_code_comes_from_the_english(xx):
    """What a translator changes in it changes nothing, and no solution comes into a blank page by a mark that is lost."""
    before = page(xx)
    xx.edit(
        ('{"a": 3}', '{"a": 4}'), ("    ### END SOLUTION\n", ""), ("return 1 /", "x = 1\n    return 1 /"), file=xx.xx
    )
    build.build(xx.root)
    assert page(xx) == before
    assert check(xx)[0] == 0


def test_a_lock_that_is_missing_or_another_ones_is_named(xx):
    lock = translation.lock(xx.xx)
    lines = lock.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 12
    assert lines[0].endswith(" the only one")
    lock.write_text("\n".join(lines[1:]))
    (error,) = translation.read(xx.xx).wrong
    assert f"{NAME}.lock has 11 lines, and here are 12 cells" in str(error)
    assert f"`dpcourse build --translated xx/{NAME}`" in str(error)
    lock.unlink()
    assert check(xx)[0] == 1
    assert translation.read(xx.xx).shown == 0


def test_a_translation_of_no_lesson_is_named(xx):
    xx.xx.with_name("07-gone.md").write_text("# Gone\n")
    assert "translates no lesson: there is no" in check(xx)[1]


def test_a_page_is_stale_when_its_modules_say_something_else_in_its_language(xx):
    def is_stale():
        solved, _ = (build.read(xx.source), None)
        return [stale.is_stale(each, modules_of(xx.root)) for each in (solved, build.translated(xx.xx, solved))]

    assert is_stale() == [False, False]
    put(SAID | {"Exercise": "EJERCICIO"})
    assert is_stale() == [False, False], "no module of the page says it"
    xx.module("gdp").write_text("def sigma(mu): return 'A number.'", encoding="utf-8")
    put(SAID | {"how often to keep the truth": "VERDAD"})
    assert is_stale() == [False, True]


def test_only_named_pages_are_built_and_prose_executes_nothing(xx, runs):
    del runs[:]
    xx.edit(("A CASA.", "A SU CASA."), file=xx.xx)
    assert build.build(xx.root, names=[f"xx/{NAME}"]) == [f"xx/{NAME}"]
    xx.edit(("goes home", "stays"))
    assert build.build(xx.root, names=[NAME]) == [NAME, f"xx/{NAME}"]
    assert runs == []
    (xx.root / "lessons" / "xx" / "08-gone.ipynb").write_text("{}")
    (said,) = compare.differences(xx.root)
    assert said == "lessons/xx/08-gone.ipynb: there is no solutions/08-gone.md: write it, or remove this file"
