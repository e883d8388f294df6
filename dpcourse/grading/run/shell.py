"""IPython's shell as JupyterLab's: what works there works here, as far as it needs no page, no network, no other machine."""

import ast
import builtins
import getpass
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

PLAIN = "a_name = 1\n"
CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*")


def shell(asked: Callable[[], None]) -> "InteractiveShell":
    """A shell, with what would show something, ask somebody or need another machine made silent.

    asked: is called where the student's code asks for input; it gets an empty line.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class ZMQInteractiveShell(InteractiveShell):
        """By this name notebooks ask whether they are in JupyterLab."""

    quiet = Config()
    quiet.HistoryManager.enabled = False
    quiet.InteractiveShell.colors = "nocolor"
    quiet.IPKernelApp.connection_file = ""  # and by this one
    made = ZMQInteractiveShell.instance(config=quiet)
    made.showtraceback = made.showsyntaxerror = made.enable_gui = made.ask_exit = _nothing
    made._format_exception_for_storage = _nothing  # seconds, for a deep recursion
    made.enable_matplotlib = lambda gui=None: (gui, "agg")
    made.displayhook.compute_format_data = lambda result: ({}, {})
    made.displayhook.write_format_data = _nothing
    made.kernel, made.parent_header = _Kernel(made), PARENT
    made.get_parent, made.set_parent = lambda: PARENT, _nothing
    _without_what_is_not_here(made)
    _in_a_loop(made)
    builtins.input = getpass.getpass = _nobody_types(asked)
    return made


def keep_running_cells(shell: "InteractiveShell") -> None:
    """Take from the shell what rewrites cells, where that does not leave alone a line in which there is nothing to rewrite."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        left = ast.dump(shell.transform_ast(ast.parse(shell.transform_cell(PLAIN)))) == ast.dump(ast.parse(PLAIN))
    except Exception:
        left = False
    if not left:
        shell.input_transformer_manager = TransformerManager()
        shell.input_transformers_post, shell.ast_transformers = [], []


def without_unknown_magic(shell: "InteractiveShell", code: str) -> tuple[str, str]:
    """(code, ""), or (the rest, the magic) where it begins with a cell magic that is not here, and the rest is Python.

    Such a magic comes from an extension of the student's machine, and most run the cell and look at it on the way.
    Whatever it would do else, what the rest defines counts, if it defines anything. Lines keep their numbers.
    """
    found = CELL_MAGIC.match(code)
    if not found or shell.find_cell_magic(found[1]) or not code[found.end() :].strip():
        return code, ""
    rest = "\n" * found[0].count("\n") + code[found.end() :]
    try:
        tree = ast.parse(shell.transform_cell(rest))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code, ""
    return (code, "") if all(isinstance(each, ast.Expr) for each in tree.body) else (rest, found[1])


PARENT = {"header": {"msg_id": "", "session": "", "username": "student"}, "parent_header": {}, "metadata": {}, "content": {}}  # fmt: skip


class _Silent:
    """Has whatever attribute it is asked for, and does nothing when it is called."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Silent()

    def __call__(self, *arguments, **options):
        return None


class _Kernel(_Silent):
    """What a notebook finds as its kernel: it has the shell, and does nothing that it is asked, such as to end."""

    def __init__(self, shell):
        self.shell, self._parent_header = shell, PARENT

    def get_parent(self, channel=None):
        return PARENT


def _nothing(*arguments, **options):
    pass


def _nobody_types(asked):
    def answer(prompt="", stream=None):
        asked()
        return ""

    return answer


def _without_what_is_not_here(shell):
    """Go on where a magic, or an extension that brings some, is on the student's machine only."""
    from IPython.core.error import UsageError

    run = shell.run_line_magic

    def run_line_magic(name, line, _stack_depth=1):
        try:
            return run(name, line, _stack_depth=_stack_depth + 1)
        except (UsageError, ImportError):
            return None

    shell.run_line_magic = run_line_magic


def _in_a_loop(shell):
    """Run what may need an event loop in one, as JupyterLab does."""
    needs_one = shell.should_run_async
    shell.should_run_async = lambda code, **options: "asyncio" in code or needs_one(code, **options)
