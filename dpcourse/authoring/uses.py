"""What a page's code cells use of the package: the modules, for its outputs depend on them, and the names, which must be there."""

import ast
import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpcourse import course
from dpcourse.base.modules import Modules
from dpcourse.course import pack

Cells = Iterable[tuple[ast.Module, tuple[int, ...]]]
"""The code cells of a page: what each says, and the line of the source that each of its lines comes from."""


def modules_of(root: Path) -> Modules:
    """The package beside a course's lessons; beside a pack's, the one that is imported, and the pack."""
    if pack.is_pack(root):
        mine = course.use_pack(root)
        return Modules(Path(course.__file__).parents[1], {f"{course.__name__}.{mine.word}": mine.folder})
    return Modules(root / "dpcourse")


def pictures(modules: Modules) -> dict[str, str]:
    """Each picture that `plots` has, and the module that it is in."""
    course = f"{modules.name}.course"
    found = (f"{course}.{word}.pictures" for word in lesson_words(modules))
    return {name: module for module in found if modules.has(module) for name in modules.names(module)}


def lesson_words(modules: Modules) -> list[str]:
    """The folders of the lessons."""
    of_packs = [name.rpartition(".")[2] for name in modules.elsewhere]
    return of_packs + sorted(file.parent.name for file in (modules.folder / "course").glob("*/__init__.py"))


def unknown_names(page: Cells, modules: Modules) -> Iterator[tuple[int, str]]:
    """(line, message) for each name that a page asks of a module which does not have it."""
    page = list(page)
    bound = _bound(page, modules)
    for tree, lines in page:
        for line, module, name in _asked(tree, bound, modules):
            there = _names(module, modules)
            if name not in there and not modules.has(f"{module}.{name}"):
                close = "".join(f"; is it `{each}`?" for each in difflib.get_close_matches(name, there, 1))
                yield lines[line - 1], f"{module} has no `{name}`{close}"


def _bound(page, modules):
    """Name -> module, for the names by which a page calls modules and nothing else."""
    bound, others = {}, set()
    for node in (node for tree, _ in page for node in ast.walk(tree)):
        if isinstance(node, ast.ImportFrom):
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                bound[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            others.add(node.id)
        elif isinstance(node, ast.arg):
            others.add(node.arg)
    return {name: module for name, module in bound.items() if modules.has(module) and name not in others}


def _asked(tree, bound, modules):
    """(line, module, name) of all that a cell asks of modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and modules.has(node.module):
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and modules.has(above := node.module.rpartition(".")[0]):
            yield node.lineno, above, node.module.rpartition(".")[2]
        elif isinstance(node, ast.Attribute) and (module := _module(node.value, bound, modules)):
            yield node.lineno, module, node.attr


def _module(node, bound, modules):
    """The module that an expression such as `dpsgd.recipes` is; None if it is something else."""
    if isinstance(node, ast.Name):
        return bound.get(node.id)
    if isinstance(node, ast.Attribute) and (above := _module(node.value, bound, modules)):
        return f"{above}.{node.attr}" if modules.has(f"{above}.{node.attr}") else None
    return None


def _names(module, modules):
    found = modules.names(module)
    return found | pictures(modules).keys() if module == f"{modules.name}.plots" else found
