"""What in a course is not as its sources give it; nothing is executed."""

import json
from pathlib import Path

from dpcourse.authoring import catalogues, complete, font, navigation, outline, stale, translation, useful_mutants
from dpcourse.authoring.navigation import readmes
from dpcourse.authoring.page import Page, read, translated
from dpcourse.authoring.source import SourceError, languages, pages, sources
from dpcourse.authoring.uses import modules_of
from dpcourse.course import pack

AROUND, SHOWN = 20, 60


def differences(root: Path | str) -> list[str]:
    """What is not as the sources give it, as "file: what, and what to do"."""
    root = Path(root)
    modules = modules_of(root)
    found = [str(error) for error in complete.omissions(root, modules)]
    if found:  # a page that needs what is missing could not be read
        return found
    old: list[Page] = []
    for file in pages(root):
        try:
            page = read(file, modules)
            for each in (page, *(translated(file.parent / language / file.name, page) for language in languages(root))):
                differences = list(_of_page(root, each))
                found += differences
                old += [each] if each.code and not differences and stale.is_stale(each, modules) else []
        except SourceError as error:
            found.append(str(error))
    found += _of_outputs(root, old)
    lessons = {file.stem for file in sources(root)}
    for path in sorted(root.glob("*/[0-9][0-9]-*.ipynb")) + _in_languages(root):
        if path.relative_to(root).parts[0] in ("lessons", "solutions") and path.stem not in lessons:
            found.append(
                f"{path.relative_to(root)}: there is no solutions/{path.stem}.md: write it, or remove this file"
            )
    built = [*_of_readme(root), *_of_outlines(root), *_of_slips(root)]
    return list(dict.fromkeys([*found, *_of_languages(root), *built]))


def behind(root: Path | str) -> list[str]:
    """What of the course stands in English in its other languages, and the share that does not; nobody need do anything."""
    root = Path(root)
    if any(complete.omissions(root, modules_of(root))):  # differences() says it, and what is missing cannot be imported
        return []
    try:
        found = [line for language in languages(root) for line in translation.behind(root, language)]
        found += navigation.readmes_behind(root)
        found += [line for language in _spoken(root) for line in catalogues.behind(language)]
        return found + [line for language in _spoken(root) for line in font.behind(root, language)]
    except SourceError:  # differences() says it
        return []


def _in_languages(root):
    return [path for language in languages(root) for path in sorted(root.glob(f"*/{language}/[0-9][0-9]-*.ipynb"))]


def _of_languages(root):
    try:
        found = [error for language in languages(root) for error in translation.complaints(root, language)]
        return [
            *map(str, found),
            *(str(error) for language in _spoken(root) for error in catalogues.complaints(language)),
        ]
    except SourceError as error:
        return [str(error)]


def _spoken(root):
    """The languages that this course's code speaks."""
    return catalogues.translated() if useful_mutants.of_this_course(root) else []


def _of_slips(root):
    for file, functions in useful_mutants.missing() if useful_mutants.of_this_course(root) else ():
        yield f"{file.relative_to(root.resolve())}: has no slips worth trying of {', '.join(functions)}: run `dpcourse build`"


def _of_readme(root):
    try:
        stale = [file for file, front in readmes(root).items() if front != file.read_text(encoding="utf-8")]
    except SourceError as error:
        return [str(error)]
    return [f"{file.name}: its table of lessons is not what their sources give: run `dpcourse build`" for file in stale]


def _of_outlines(root):
    if not useful_mutants.of_this_course(root):
        return
    try:
        for file, _ in outline.behind(root):
            yield f"{file.relative_to(root.resolve())}: is not what the lesson's sources give: run `dpcourse build`"
    except SourceError as error:
        yield str(error)


def _of_page(root, page):
    for path, expected in zip(page.paths, (page.solved, page.blank), strict=True):
        if difference := _first_difference(path, expected, outputs=expected is page.blank):
            yield f"{path.relative_to(root)}: {difference}: {_command(root, [page])}"


def _of_outputs(root, old):
    """One line for all notebooks whose outputs are old: most often one change has made them so."""
    if old:
        files = ", ".join(str(page.paths[0].relative_to(root)) for page in old)
        what = "outputs of older code: cells, or modules that they use, have changed since they were executed"
        yield f"{files}: {what}: {_command(root, old)}"


def _command(root, pages):
    names = f"--pack {root}" if pack.is_pack(root) else " ".join(page.name for page in pages)
    return f"run `dpcourse build {names}`"


def _first_difference(path, expected, outputs):
    """In words; None where cells, ids and tags (and the blank lesson's outputs) are as expected."""
    try:
        committed = json.loads(path.read_text(encoding="utf-8"))
        cells = committed["cells"]
    except FileNotFoundError:
        return "is missing"
    except (ValueError, KeyError, TypeError) as error:
        return f"is not a notebook: {error!r}"
    kept = ("cell_type", "source", "id", "metadata") + (("outputs",) if outputs else ())
    for number, (cell, right) in enumerate(zip(cells, expected.cells, strict=False)):
        for part in kept:
            if cell.get(part) != right.get(part):
                is_, should = _apart(_text(cell.get(part)), _text(right.get(part)))
                return f"cell {number} ({right.id}) differs in its {part}: {is_}, not {should}"
    if len(cells) != len(expected.cells):
        return f"cell {min(len(cells), len(expected.cells))}: {len(cells)} cells, not {len(expected.cells)}"
    if {**committed.get("metadata", {}), stale.NOTE: None} != {**expected.metadata, stale.NOTE: None}:
        return "the notebook's metadata differ"
    return None


def _text(value):
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _apart(is_, should):
    """Both texts, quoted, from a little before the place where they part to a little behind it."""
    same = next((i for i, (a, b) in enumerate(zip(is_, should, strict=False)) if a != b), min(len(is_), len(should)))
    begin = max(0, same - AROUND) if max(len(is_), len(should)) > SHOWN else 0
    return (_brief(text, begin) for text in (is_, should))


def _brief(text, begin):
    return repr("…" * (begin > 0) + text[begin : begin + SHOWN] + "…" * (len(text) > begin + SHOWN))
