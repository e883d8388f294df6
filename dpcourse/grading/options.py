"""The options of `dpcourse grade`, each with its help: the command line is made from the fields here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True)
class Options:
    """What an instructor asks for."""

    submissions: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of notebooks: one per student, or one folder per student, as Canvas, Moodle, nbgrader and GitHub Classroom export them."
        ),
    ] = None
    out: Annotated[Path, typer.Option(help="Where gradebooks, feedback, report and database go.")] = Path("grades")
    lesson: Annotated[
        int | None, typer.Option(help="The number of the lesson that all submissions are; else each tells by itself.")
    ] = None
    jobs: Annotated[int | None, typer.Option(min=1, help="Submissions at a time; as many as there are cores.")] = None
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Grade on this Dask cluster, such as tcp://host:8786.")
    ] = None
    no_sandbox: Annotated[
        bool,
        typer.Option("--no-sandbox", help="Grade without bubblewrap. Students' code can then do all that you can do."),
    ] = False
    again: Annotated[bool, typer.Option("--again", help="Grade anew what is graded.")] = False
    cell_seconds: Annotated[float, typer.Option(help="The time limit of one cell, and of one answer at most.")] = 30
    seconds: Annotated[float, typer.Option(help="The time limit of one submission.")] = 300
    memory: Annotated[int, typer.Option(help="The memory limit of one submission, in MiB.")] = 2048
    seed_file: Annotated[
        Path | None,
        typer.Option(help="Draw the hidden inputs from the secret in this file; else one is made and kept in OUT."),
    ] = None
    course: Annotated[
        Path | None, typer.Option(help="The folder that holds lessons/ as given out; else where dpcourse is.")
    ] = None
    explain: Annotated[
        tuple[str, str] | None, typer.Option(metavar="STUDENT EXERCISE", help="Say why a mark is what it is.")
    ] = None
    override: Annotated[
        tuple[str, str, float, str] | None,
        typer.Option(
            metavar="STUDENT EXERCISE POINTS REASON", help="Set a mark by hand; it stays through every regrading."
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and no progress bar.")] = False
