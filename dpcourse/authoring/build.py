"""Make the notebooks of a course from its sources.

solutions/NN-name.md (MyST Markdown, solved)  ->  solutions/NN-name.ipynb (solved, with outputs)
                                              ->  lessons/NN-name.ipynb   (blank, "not attempted" under each check)

fill.py puts into a source what is said elsewhere, page.py makes it two notebooks, execute.py gives them outputs where
stale.py says that those stored are old, compare.py says what differs. solutions/glossary.md is built in the same way.

solutions/XX/NN-name.md (the same in another language)  ->  solutions/XX/NN-name.ipynb and lessons/XX/NN-name.ipynb
translation.py puts it together with the English source. What the code says in it: catalogues.py.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import nbformat

from dpcourse.authoring import catalogues, complete, execute, laws, outline, stale, useful_mutants
from dpcourse.authoring.compare import differences
from dpcourse.authoring.navigation import readmes
from dpcourse.authoring.page import CHECKED, Page, read, translated
from dpcourse.authoring.source import SourceError, languages, pages, sources
from dpcourse.authoring.uses import modules_of
from dpcourse.base.files import write_atomically
from dpcourse.base.modules import Modules
from dpcourse.course import pack, use_pack

__all__ = ["CHECKED", "Page", "SourceError", "as_text", "build", "differences", "read", "sources"]


def build(
    root: Path | str,
    names: Collection[str] = (),
    fresh: bool = False,
    progress: Callable[[list[Page]], Iterable[Page]] = lambda pages: pages,
) -> list[str]:
    """Build what is out of date, and README's table of lessons; returns the names of the pages executed or written.

    A page is executed where its code cells, or the modules that they use, have changed; else its outputs are kept.
    names: only these pages (such as "01-composition", in all languages, or "zh/01-composition"). fresh: execute even what is up to date.
    progress: wraps the list of pages to be executed, to draw a bar. Raises SourceError; a page is written whole or not
    at all, and one after the other. ValueError where an exercise of a pack breaks one of the laws.
    """
    root = Path(root)
    lessons = [file.stem for file in pages(root)]
    there = lessons + [f"{language}/{name}" for language in languages(root) for name in lessons]
    if unknown := set(names) - set(there):
        raise ValueError(f"there is no lesson {min(unknown)!r}; there are {', '.join(there)}")
    modules = modules_of(root)
    for error in complete.omissions(root, modules):
        raise error
    if pack.is_pack(root) and (found := list(laws.broken(use_pack(root)))):
        raise ValueError("\n".join(found))
    if useful_mutants.of_this_course(root):
        useful_mutants.write({name.rpartition("/")[2] for name in names})
        outline.write(root)
        catalogues.update()  # before the pages are read, which say what is in them
    wanted = [page for page in read_all(root, modules, names) if not names or {page.name, page.file.stem} & {*names}]
    for file, front in readmes(root).items():
        write_atomically(file, front)
    kept = {
        page.file: None if page.code and (fresh or stale.is_stale(page, modules)) else stored(page) for page in wanted
    }
    written = [page.name for page in wanted if kept[page.file] and _write(page, kept[page.file])]
    for language in languages(root):  # `language` knows it by this folder
        (root / "lessons" / language).mkdir(parents=True, exist_ok=True)
    for page in progress([page for page in wanted if not kept[page.file]]):
        _write(page, stale.with_note(execute.executed(page), {stale.EXECUTED: stale.fingerprint(page, modules)}))
        written.append(page.name)
    return [name for name in there if name in written]


def stored(page: Page) -> nbformat.NotebookNode | None:
    """The solved notebook with the outputs that are there, and what is noted of these; None where they are of other code."""
    notebook = execute.stored(page)
    return notebook and stale.with_note(notebook, stale.noted(page))


def read_all(root: Path, modules: Modules, names: Collection[str] = ()) -> Iterator[Page]:
    """The pages of a course, the English ones first; names: those, at least, if any are named. Raises SourceError."""
    stems = {name.rpartition("/")[2] for name in names}
    english = [read(file, modules) for file in pages(root) if not names or file.stem in stems]
    yield from english
    for language in languages(root):
        files = {file.stem: file for file in pages(root, language)}
        yield from (translated(files[page.file.stem], page) for page in english)


def _write(page, solved):
    """Write both notebooks of a page where they are not there already; returns whether one was not."""
    is_new = False
    for path, notebook in zip(page.paths, (solved, page.blank), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != as_text(notebook).encode():
            write_atomically(path, as_text(notebook))
            is_new = True
    return is_new


def as_text(notebook) -> str:
    """The text of a notebook file, always the same for the same notebook."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
