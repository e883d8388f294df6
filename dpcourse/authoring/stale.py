"""Whether the outputs that a page's notebook stores are still those of its code.

They depend on its code cells and on the modules of the package that these use. The notebook's own metadata hold a
fingerprint of both, so that two people who change two lessons change no file in common; where only prose changes it stays,
and nothing is executed. A page in another language depends on what these modules say in it, too.
"""

import ast
import functools
import hashlib
import json
from collections.abc import Mapping

import nbformat

from dpcourse.authoring.page import Page
from dpcourse.authoring.source import language_of, lesson_of
from dpcourse.authoring.uses import pictures
from dpcourse.base.languages import again
from dpcourse.base.modules import Modules, said, texts

NOTE, EXECUTED = "dpcourse", "executed"  # in a notebook's metadata
OF_WRONG_ANSWERS = "checking.diagnosis"
TO_WRONG_ANSWERS = ("hints", "means", "misconceptions")  # keyword arguments of an exercise


def is_stale(page: Page, modules: Modules) -> bool:
    """Whether a page must be executed."""
    return noted(page).get(EXECUTED) != fingerprint(page, modules)


def noted(page: Page) -> dict[str, str]:
    """What the page's solved notebook notes of its outputs; nothing where it cannot be read, as after a conflict."""
    try:
        return dict(json.loads(page.paths[0].read_text(encoding="utf-8"))["metadata"][NOTE])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}


def with_note(notebook: nbformat.NotebookNode, note: Mapping[str, str]) -> nbformat.NotebookNode:
    """The notebook with what it notes of its outputs."""
    return nbformat.from_dict(notebook | {"metadata": notebook.metadata | ({NOTE: dict(note)} if note else {})})


def fingerprint(page: Page, modules: Modules) -> str:
    """A hash of all that a page's outputs depend on: its code cells, what runs of the modules that they use, the data beside
    these, and what these say in the page's language."""
    digest, language = hashlib.blake2b(digest_size=8), language_of(page.file)
    for cell in page.code:
        digest.update(json.dumps([cell.source, cell.metadata.get("tags", [])]).encode())
    for module in sorted(used(page, modules)):
        code, messages = _that_runs(modules, module)
        digest.update(f"{module}: {code}".encode())
        for data in modules.data(module):
            digest.update(data.read_bytes())
        for text in messages if language else ():
            if (translated := again(text, language)) != text:
                digest.update(f"{text}: {translated}".encode())
    return digest.hexdigest()


def used(page: Page, modules: Modules) -> set[str]:
    """The modules that a page's outputs depend on: what it imports, its lesson's exercises, quiz and pictures, the
    pictures of other lessons that it shows, and what all these import."""
    trees = [ast.parse(cell.source) for cell in page.code]
    attributes = {ast.unparse(node) for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    shown = {module for picture, module in pictures(modules).items() if f"plots.{picture}" in attributes}
    imported = (modules.imported(tree) for tree in trees)
    lesson = lesson_of(page.file)
    own = {f"{modules.name}.course.{lesson.word}.{part}" for part in (*lesson.functions, "quiz", "pictures")}
    reached = modules.reached(shown.union(*imported, set(filter(modules.has, own))))
    return {module for module in reached if not f"{module}.".startswith(f"{modules.name}.{OF_WRONG_ANSWERS}.")}


@functools.cache
def _that_runs(modules, module):
    """(code, texts) of a module without what its exercise says to wrong answers: those of a solved notebook are right."""
    tree = modules.tree(module)
    return said(tree, TO_WRONG_ANSWERS), texts(tree, TO_WRONG_ANSWERS)
