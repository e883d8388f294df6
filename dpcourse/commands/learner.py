"""The commands of learners: begin, bring to a newer edition, say what is done and what this machine lacks."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from dpcourse.base import languages
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import counted, say, speaking
from dpcourse.commands import opening
from dpcourse.commands.shared import app, refusing

LESSONS = typer.Argument(help="The folder with your lessons.")


@app.command()
@refusing("start", 1)
def start(
    folder: Annotated[Path, LESSONS] = Path("dpcourse-lessons"),
    language: Annotated[
        str | None,
        typer.Option(
            help="Of the lessons: a name such as en; a wrong one tells which there are. Else that of DPCOURSE_LANGUAGE."
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open JupyterLab.")] = False,
) -> None:
    """Open the lessons in JupyterLab; the first time, write them into a new folder before."""
    from dpcourse import edition

    language = languages.known(language) if language else None
    begun = edition.begun(folder)
    its_own = begun.language if begun else None
    with speaking(language or its_own or languages.chosen()):
        if language and its_own and language != its_own:
            raise ValueError(
                say(
                    "The lessons in {folder} are in {there}, not in {language}: name another folder for those.",
                    folder=folder,
                    there=its_own,
                    language=language,
                )
            )
        lesson = _again(folder, begun) if begun else _first(folder, languages.chosen())
        raise typer.Exit(opening.opened(lesson, no_open))


def _first(folder, language):
    """Write the lessons; returns what to open."""
    from dpcourse import edition

    names = edition.start(folder, language=language)
    typer.echo(
        counted(
            "{count} notebook is in {folder}. Your answers are kept there.",
            "{count} notebooks are in {folder}. Your answers are kept there.",
            count=len(names),
            folder=folder,
        )
    )
    return folder / names[0]


def _again(folder, begun):
    """Say what is in the folder, where nothing is written; returns what to open."""
    typer.echo(say("Your lessons are in {folder} already, and stay as they are.", folder=folder))
    if begun.is_outdated:
        typer.echo(
            say(
                "This dpcourse has other ones: `dpcourse update {folder}` brings them and keeps your answers; close the notebooks before.",
                folder=folder,
            )
        )
    return folder / _stopped_at(begun.names) if begun.names else folder


def _stopped_at(names):
    """Return of these notebooks that of the lesson in which something was checked or answered last; else the first."""
    from dpcourse.notebook.progress import Progress

    lesson = Progress().stopped_in()
    return next((name for name in names if lesson and name == f"{lesson.name}.ipynb"), names[0])


@app.command()
@refusing("update", 1)
def update(folder: Annotated[Path, LESSONS] = Path("dpcourse-lessons")) -> None:
    """Bring the lessons in a folder to this edition of the course, and keep all that you wrote. Close them first.

    A file that you had changed stays beside the new one, as NAME.before-update.ipynb.
    """
    from dpcourse import edition

    with speaking(edition.language_of(folder) or languages.chosen()):
        done = edition.update(folder)
        typer.echo("\n".join(done) or say("Your lessons are those of this edition already."))


@app.command()
@refusing("progress", 1)
def progress(
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A new file, for the same as JSON with the name of each exercise."),
    ] = None,
    add: Annotated[
        Path | None,
        typer.Option(
            "--import", metavar="FILE", help="What --export wrote, perhaps elsewhere: added to what is kept here."
        ),
    ] = None,
) -> None:
    """Say how much of each lesson you have done."""
    from dpcourse.notebook.progress import Kept, Progress, keep

    if export is not None and os.path.lexists(export):
        raise ValueError(say("{file} is there already, and was not touched: name a new file.", file=export))
    if add is not None:
        try:
            told = Kept.of(json.loads(add.read_text(encoding="utf-8"))["kept"])
        except OSError as error:
            raise ValueError(say("{file} cannot be read: {error}.", file=add, error=error)) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            message = say("{file} is not what `dpcourse progress --export` writes: nothing was added.", file=add)
            raise ValueError(message) from None
        keep(told)
    found = Progress()
    typer.echo(repr(found))
    if export is not None:
        write_atomically(export, json.dumps(found.as_data(), indent=1, ensure_ascii=False) + "\n")
        typer.echo(say("Written to {file}.", file=export))


@app.command()
def doctor() -> None:
    """Say whether this machine has what the course needs, and how to mend what it lacks."""
    from dpcourse.notebook.doctor import PIP, Finding, report

    def grading():
        try:
            from dpcourse.grading.run import readiness
        except ModuleNotFoundError as error:
            mend = say(
                '{package} is not installed: run `{pip} install "dpcourse[grading]"`. Only instructors need it',
                package=error.name,
                pip=PIP,
            )
            return Finding(say("grading"), "note", mend)
        return readiness.finding()

    found = report(grading)
    typer.echo(repr(found))
    raise typer.Exit(0 if found.ok else 1)
