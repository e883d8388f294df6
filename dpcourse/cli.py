"""The `dpcourse` command."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Build the course, and check that this machine is ready for it."
)


@app.callback()
def main():
    """Keeps subcommands even while there is only one."""


@app.command()
def build(
    names: Annotated[
        list[str] | None, typer.Argument(help="Lessons such as 01-composition; all of them if none is named.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Execute nothing; say which notebook is not what its source gives.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Build even what is up to date.")] = False,
    root: Annotated[Path, typer.Option(help="The folder that holds lessons/ and solutions/.")] = Path("."),
):
    """Make the notebooks in lessons/ and solutions/ from solutions/*.md."""
    from tqdm import tqdm

    try:
        from dpcourse.authoring import build as builder

        if check:
            found = builder.differences(root)
            for line in found:
                typer.echo(line, err=True)
            if found:
                typer.echo("Run `dpcourse build` and commit the result.", err=True)
                raise typer.Exit(1)
            typer.echo(f"{len(builder.sources(root))} lessons are as their sources say.")
            return
        built = builder.build(
            root, names or (), fresh, progress=lambda lessons: tqdm(lessons, desc="lessons", unit="lesson")
        )
        typer.echo(f"Built {', '.join(built)}." if built else "Everything is up to date.")
    except ModuleNotFoundError as error:
        _needs_more("build", error)
        raise typer.Exit(2) from None
    except (builder.SourceError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command()
def release(
    folder: Annotated[Path, typer.Argument(help="A new folder to write.")],
    lesson: Annotated[
        list[int] | None, typer.Option(help="The number of a lesson; may be given several times. All if none is.")
    ] = None,
    nbgrader: Annotated[
        bool,
        typer.Option(
            "--nbgrader", help="Write the source of an nbgrader course in place of a bundle; it holds the solutions."
        ),
    ] = False,
    course: Annotated[Path, typer.Option(help="The folder of the course.")] = Path("."),
):
    """Write what students are given, as one folder: blank lessons, the package, a README. No solved notebook is in it."""
    from dpcourse.authoring import release as releasing

    try:
        write = releasing.nbgrader_course if nbgrader else releasing.student_bundle
        names = write(course, folder, lesson or ())
    except (ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{folder}: {', '.join(names)}")


@app.command()
def grade(
    submissions: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of notebooks: one per student, or one folder per student, as Canvas, Moodle, nbgrader and GitHub Classroom export them."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where gradebooks, feedback, report and database go.")] = Path("grades"),
    lesson: Annotated[
        int | None, typer.Option(help="The number of the lesson that all submissions are; else each tells by itself.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Submissions at a time; as many as there are cores.")] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Grade on this Dask cluster, such as tcp://host:8786.")
    ] = None,
    no_sandbox: Annotated[
        bool,
        typer.Option("--no-sandbox", help="Grade without bubblewrap. Students' code can then do all that you can do."),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Grade anew what is graded.")] = False,
    cell_seconds: Annotated[float, typer.Option(help="The time limit of one cell, and of one answer at most.")] = 30,
    seconds: Annotated[float, typer.Option(help="The time limit of one submission.")] = 300,
    memory: Annotated[int, typer.Option(help="The memory limit of one submission, in MiB.")] = 2048,
    seed_file: Annotated[
        Path | None,
        typer.Option(help="Draw the hidden inputs from the secret in this file; else one is made and kept in OUT."),
    ] = None,
    course: Annotated[
        Path | None, typer.Option(help="The folder that holds lessons/ as given out; else where dpcourse is.")
    ] = None,
    explain: Annotated[
        tuple[str, str] | None, typer.Option(metavar="STUDENT EXERCISE", help="Say why a mark is what it is.")
    ] = None,
    override: Annotated[
        tuple[str, str, float, str] | None,
        typer.Option(
            metavar="STUDENT EXERCISE POINTS REASON", help="Set a mark by hand; it stays through every regrading."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and no progress bar.")] = False,
):
    """Grade a folder of notebooks, each in a sandbox; write gradebooks, feedback for each student, and a report.

    Run it again after an interruption, or when submissions have come or changed: what is graded is not graded twice.

    If a student has several notebooks of a lesson, the one with the shortest path counts, and is flagged; take it out of the folder to have another one graded.

    Status 0: everything is graded. 1: some submissions could not be graded; the report says which and why. 2: nothing was done.
    """
    options = dict(locals())
    from dpcourse.grading import command

    try:
        raise typer.Exit(command.run_command(command.Options(**options)))
    except (command.Refused, ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on where it was.", err=True)
        raise typer.Exit(130) from None


@app.command()
def site(
    folder: Annotated[
        Path | None, typer.Argument(help="Where the site goes: site, or site-solutions with the solutions.")
    ] = None,
    solutions: Annotated[
        bool, typer.Option("--solutions", help="Write the solutions, which a site of the lessons never holds.")
    ] = False,
    course: Annotated[Path, typer.Option(help="The folder of the course.")] = Path("."),
):
    """Write the lessons as web pages for those who only read, from the notebooks as they are; nothing is executed."""
    folder = folder or Path("site-solutions" if solutions else "site")
    try:
        from dpcourse.authoring import site as pages

        names = pages.write(course, folder, solutions)
        typer.echo(f"{folder / 'index.html'}: {', '.join(names)}")
    except ModuleNotFoundError as error:
        _needs_more("site", error)
        raise typer.Exit(2) from None
    except (pages.SiteError, ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _needs_more(command, error):
    from dpcourse.doctor import PIP

    told = f"`dpcourse {command}` needs {error.name}: run `{PIP} install -r tests/requirements.txt`."
    typer.echo(told, err=True)


@app.command()
def doctor():
    """Say whether this machine has what the course needs, and how to mend what it lacks."""
    from dpcourse.doctor import report

    def grading():
        from dpcourse.grading import sandbox

        return sandbox.finding()

    found = report(grading)
    typer.echo(repr(found))
    raise typer.Exit(0 if found.ok else 1)
