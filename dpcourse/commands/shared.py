"""What all commands share: the `dpcourse` command itself, its help in every language, and how they refuse."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from dpcourse.base import languages, paths
from dpcourse.base.languages import say, to_say

OF_TYPER = to_say("Arguments"), to_say("Commands"), to_say("Options"), to_say("Show this message and exit.")


class Commands(TyperGroup):
    """The commands, whose help is in the language of DPCOURSE_LANGUAGE."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        try:
            if languages.chosen() != languages.ENGLISH:
                _break_lines_anywhere()
                for _, has, name, text in helps(self):
                    setattr(has, name, say(text))
        except ValueError as error:
            raise refused(ValueError(f"{languages.CHOICE}: {error}")) from None
        return super().make_context(*given, **more)


def _break_lines_anywhere():
    """Break lines of typer's help anywhere: at blanks only, a language without blanks is cropped."""
    from typer import rich_utils

    make = getattr(rich_utils, "_make_rich_text", None)
    if make is None or hasattr(make, "__wrapped__"):
        return

    @functools.wraps(make)
    def made(**how):
        text = make(**how)
        text.overflow = "fold"
        return text

    rich_utils._make_rich_text = made


def helps(command: Any = None, word: str = "") -> Iterator[tuple[str, Any, str, str]]:
    """What the help of a command and of those below it says: (its word, what has it, the name of its attribute, text).

    command: all of them if none is named.
    """
    command = command or typer.main.get_command(app)
    yield word, command, "help", command.help
    for each in (*command.params, command.get_help_option(typer.Context(command))):
        yield word, each, "help", each.help
        yield word, each, "rich_help_panel", each.rich_help_panel or f"{each.param_type_name.capitalize()}s"
    for name, below in getattr(command, "commands", {}).items():
        yield word, below, "rich_help_panel", "Commands"
        yield from helps(below, name)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    help="Begin the course and bring it up to date; build it, give it out, grade it, publish it, and check that this machine is ready for it.",
)


def taking(options: type) -> Callable[[Callable], Callable]:
    """Return a decorator: a command with one argument `options` offers that dataclass's fields on the command line."""

    def decorated(command):
        def from_the_command_line(**given):
            return command(options(**given))

        from_the_command_line.__name__, from_the_command_line.__doc__ = command.__name__, command.__doc__
        from_the_command_line.__signature__ = inspect.signature(options)
        from_the_command_line.__annotations__ = options.__annotations__
        return from_the_command_line

    return decorated


@app.callback()
def on_any_console() -> None:
    """A letter that the console does not know, as of Windows' files, is no reason to stop."""
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **how: None)(errors="replace")


def refusing(name: str, status: int = 2) -> Callable[[Callable], Callable]:
    """Return a decorator for the command of that name: what it cannot take, and what it lacks, is said in a sentence.

    status: with which it ends then; with 2 where a file or folder that an option names is not there.
    """

    def decorated(command):
        @functools.wraps(command)
        def done_or_refused(*arguments, **options):
            try:
                return command(*arguments, **options)
            except ModuleNotFoundError as error:
                raise needs_more(name, error) from None
            except (ValueError, OSError) as error:
                raise refused(error, status) from None

        return done_or_refused

    return decorated


def refused(error: Exception, status: int = 2) -> typer.Exit:
    """Return the exception to raise where nothing was done; print why."""
    typer.echo(paths.in_words(error) if isinstance(error, OSError) else str(error), err=True)
    return typer.Exit(2 if isinstance(error, paths.NotThere) else status)


def needs_more(command, error):
    """Return what to raise where a package is not installed; a missing module of the course is raised as it is."""
    from dpcourse.notebook.doctor import PIP

    if error.name.startswith("dpcourse"):
        return error
    extra = "grading" if command == "grade" else "authoring"
    told = say(
        '`dpcourse {command}` needs {package}: run `{pip} install {package}`, or for all that it needs `{pip} install "dpcourse[{extra}]"`.',
        command=command,
        package=error.name.partition(".")[0],
        pip=PIP,
        extra=extra,
    )
    typer.echo(told, err=True)
    return typer.Exit(2)
