"""The modules of a package, read from their files and never run: imports, names, code, texts."""

import ast
import importlib.util
import symtable
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

DATA = ("*.json", "*.npz")
HOLD_STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields of the syntax in which statements stand


class Modules:
    """The package in a folder; its modules are called by their full names, such as "dpcourse.gdp".

    elsewhere: name -> folder of subpackages that lie outside the package's folder, as those of packs.
    """

    def __init__(self, folder: Path, elsewhere: Mapping[str, Path] | None = None):
        self.folder, self.name = folder, folder.name
        self.elsewhere = dict(elsewhere or {})
        self._trees: dict[str, ast.Module] = {}
        self._imports: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._said: dict[str, str] = {}
        self._reached: dict[frozenset[str], set[str]] = {}

    def has(self, module: str) -> bool:
        """Return whether the package has a module of this name."""
        return module.partition(".")[0] == self.name and self.file(module).is_file()

    def file(self, module: str) -> Path:
        """Return where a module is, or would be."""
        path = self.folder.joinpath(*module.split(".")[1:])
        for name, folder in self.elsewhere.items():
            if module.startswith(f"{name}."):
                path = folder.joinpath(*module.removeprefix(f"{name}.").split("."))
        return path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"

    def text(self, module: str) -> str:
        """Return the source of a module."""
        return self.file(module).read_text(encoding="utf-8")

    def tree(self, module: str) -> ast.Module:
        """Return the syntax of a module. Raises SyntaxError."""
        if module not in self._trees:
            self._trees[module] = ast.parse(self.text(module), str(self.file(module)))
        return self._trees[module]

    def imported(self, tree: ast.AST, module: str = "") -> set[str]:
        """Return the package's modules that some code imports, anywhere; module: the one with this code, if any."""
        names = set()
        for node in _statements(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node, module)
                names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        return {name for name in names if self.has(name)}

    def imports(self, module: str) -> set[str]:
        """Return the package's modules that a module imports directly."""
        if module not in self._imports:
            self._imports[module] = self.imported(self.tree(module), module)
        return self._imports[module]

    def _base(self, node, module):
        if not node.level:
            return node.module
        is_package = self.file(module).name == "__init__.py"
        package = module if is_package else module.rpartition(".")[0]
        return importlib.util.resolve_name("." * node.level + (node.module or ""), package)

    def reached(self, modules: Iterable[str]) -> set[str]:
        """Return these modules and all that they import, directly or not; to import a.b.c is to import a and a.b too."""
        begin = frozenset(modules)
        if begin not in self._reached:
            found, new = set(), set(begin)
            while new:
                found |= new
                above = {module.rpartition(".")[0] for module in new} - {"", *self.elsewhere}
                new = above.union(*map(self.imports, new)) - found
            self._reached[begin] = found
        return self._reached[begin]

    def data(self, module: str) -> list[Path]:
        """Return the data files beside a module that it names."""
        folder, text = self.file(module).parent, self.text(module)
        return sorted(file for kind in DATA for file in folder.glob(kind) if file.name in text)

    def names(self, module: str) -> set[str]:
        """Return what a module has: what it binds, and the modules in it if it is a package."""
        if module not in self._names:
            file = self.file(module)
            symbols = symtable.symtable(self.text(module), str(file), "exec").get_symbols()
            bound = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
            within = file.parent.iterdir() if file.name == "__init__.py" else ()
            self._names[module] = bound | {each.stem for each in within if self.has(f"{module}.{each.stem}")}
        return self._names[module]

    def said(self, module: str) -> str:
        """Return the code of a module without comments, docstrings and layout, the same under every version of Python."""
        if module not in self._said:
            self._said[module] = said(self.tree(module))
        return self._said[module]


def texts(tree: ast.AST, without: Collection[str] = ()) -> list[str]:
    """Return the texts that stand in some code, each once, by the alphabet; without: keyword arguments that are left out."""
    found, new = set(), [tree]
    while new:
        node = new.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        new += (each for each in ast.iter_child_nodes(node) if not _is_keyword(each, without))
    return sorted(found)


def said(node: object, without: Collection[str] = ()) -> str:
    """Return some code without comments, docstrings, layout, and the keyword arguments of these names."""
    if isinstance(node, list):
        return f"[{','.join(said(each, without) for each in node if not _is_keyword(each, without))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    there = (
        (name, said(value, without)) for name, value in ast.iter_fields(_without_docstring(node)) if value is not None
    )
    return f"{type(node).__name__}({','.join(f'{name}={value}' for name, value in there if value != '[]')})"


def _is_keyword(node, names):
    return isinstance(node, ast.keyword) and node.arg in names


def _statements(tree):
    """The statements of some code, those within others too."""
    new = [tree]
    while new:
        node = new.pop()
        if isinstance(node, ast.stmt):
            yield node
        new += (each for name in HOLD_STATEMENTS for each in getattr(node, name, ()))


def _without_docstring(node):
    documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    if not documented or ast.get_docstring(node, clean=False) is None:
        return node
    return type(node)(**dict(ast.iter_fields(node)) | {"body": node.body[1:]})
