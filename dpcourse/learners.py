"""The commands of the learners: begin, bring to a newer edition, say what is done."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from dpcourse import named
from dpcourse.files import write_atomically

LESSONS = typer.Argument(help="The folder with your lessons.")


def start(
    folder: Annotated[Path, LESSONS] = Path("dpcourse-lessons"),
    language: Annotated[
        str, typer.Option(help="Of the lessons: a name such as en; a wrong one tells which there are.")
    ] = "en",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open JupyterLab.")] = False,
) -> None:
    """Write the lessons into a new folder, and open the first one in JupyterLab."""
    from dpcourse import edition
    from dpcourse.doctor import PIP

    try:
        names = edition.start(folder, language=language)
    except (ValueError, OSError) as error:
        raise refused(error, 1) from None
    typer.echo(f"{len(names)} notebooks are in {folder}. Your answers are kept there.")
    command = [sys.executable, "-m", "jupyterlab", str(folder / names[0])]
    told = subprocess.list2cmdline(command)
    if importlib.util.find_spec("jupyterlab") is None:
        typer.echo(
            f'To open them, run `{PIP} install "dpcourse[jupyter]"`, then `{told}`; other editors of notebooks do too.'
        )
        return
    typer.echo(f"The command that opens the first one, also tomorrow: {told}")
    if not no_open:
        raise typer.Exit(subprocess.run(command).returncode)


def update(folder: Annotated[Path, LESSONS] = Path("dpcourse-lessons")) -> None:
    """Bring the lessons in a folder to this edition of the course, and keep all that you wrote. Close them first.

    A file that you had changed stays beside the new one, as NAME.before-update.ipynb.
    """
    from dpcourse import edition

    try:
        done = edition.update(folder)
    except (ValueError, OSError) as error:
        raise refused(error, 1) from None
    typer.echo("\n".join(done) or "Your lessons are those of this edition already.")


def progress(
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A new file, for the same as JSON with the name of each exercise."),
    ] = None,
) -> None:
    """Say how much of each lesson you have done."""
    from dpcourse.done import Progress

    found = Progress()
    typer.echo(repr(found))
    if export is None:
        return
    try:
        if os.path.lexists(export):
            raise ValueError(f"{export} is there already, and was not touched: name a new file.")
        write_atomically(export, json.dumps(found.as_data(), indent=1, ensure_ascii=False) + "\n")
    except (ValueError, OSError) as error:
        raise refused(error, 1) from None
    typer.echo(f"Written to {export}.")


def refused(error: Exception, status: int = 2) -> typer.Exit:
    """What to raise where nothing was done; it says why."""
    typer.echo(named.in_words(error) if isinstance(error, OSError) else str(error), err=True)
    return typer.Exit(2 if isinstance(error, named.NotThere) else status)
