"""The `dpcourse` command."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dpcourse.grading.options import Options

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Build the course, give it out, grade it, publish it, and check that this machine is ready for it.",
)


def taking(options: type) -> Callable[[Callable], Callable]:
    """A decorator: a command that takes one `options` offers the fields of that dataclass on the command line."""

    def decorated(command):
        def from_the_command_line(**given):
            return command(options(**given))

        from_the_command_line.__name__, from_the_command_line.__doc__ = command.__name__, command.__doc__
        from_the_command_line.__signature__ = inspect.signature(options)
        from_the_command_line.__annotations__ = options.__annotations__
        return from_the_command_line

    return decorated


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
) -> None:
    """Make the notebooks in lessons/ and solutions/ from solutions/*.md."""
    from tqdm import tqdm

    try:
        from dpcourse.authoring import build as builder

        if check:
            found = builder.differences(root)
            for line in found:
                typer.echo(line, err=True)
            if found:
                raise typer.Exit(1)
            typer.echo(f"{len(builder.sources(root))} lessons are as their sources say.")
            return
        built = builder.build(
            root, names or (), fresh, progress=lambda lessons: tqdm(lessons, desc="lessons", unit="lesson")
        )
        typer.echo(f"Built {', '.join(built)}." if built else "Everything is up to date.")
    except ModuleNotFoundError as error:
        raise _needs_more("build", error) from None
    except (builder.SourceError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command("try")
def try_answers(
    lesson: Annotated[int, typer.Argument(help="The number of a lesson, whose answers stand in tests/answers/.")],
    exercise: Annotated[str | None, typer.Option(help="Only the answers to the exercise with this function.")] = None,
    replies: Annotated[bool, typer.Option("--replies", help="Print what each answer is told.")] = False,
    seed: Annotated[int, typer.Option(help="Of the inputs.")] = 0,
    root: Annotated[Path, typer.Option(help="The folder of the course.")] = Path("."),
) -> None:
    """Try a corpus of answers on a lesson's checks: how many are told why they are wrong, and what passes that must not."""
    from dpcourse.authoring import answers

    try:
        found = [each for each in answers.corpus(root, lesson) if exercise in (None, each.exercise)]
    except (OSError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    results = []
    for each in answers.tried(found, answers.names_of(root, lesson), seed):
        results.append(each)
        if (replies and not each.answer.right) or each.kind.startswith("FALSE"):
            typer.echo(f"{each.kind} | {each.answer.exercise} | {each.answer.label} | {each.verdict.message}")
    typer.echo(answers.table(results))


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
) -> None:
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
@taking(Options)
def grade(options: Options) -> None:
    """Grade a folder of notebooks, each in a sandbox; write gradebooks, feedback for each student, and a report.

    Run it again after an interruption, or when submissions have come or changed: what is graded is not graded twice.

    If a student has several notebooks of a lesson, the one with the shortest path counts, and is flagged; take it out of the folder to have another one graded.

    Status 0: everything is graded. 1: some submissions could not be graded; the report says which and why. 2: nothing was done.
    """
    from dpcourse.grading import command

    try:
        raise typer.Exit(command.run_command(options))
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
) -> None:
    """Write the lessons as web pages for those who only read, from the notebooks as they are; nothing is executed."""
    folder = folder or Path("site-solutions" if solutions else "site")
    try:
        from dpcourse.authoring import site as pages

        names = pages.write(course, folder, solutions)
        typer.echo(f"{folder / 'index.html'}: {', '.join(names)}")
    except ModuleNotFoundError as error:
        raise _needs_more("site", error) from None
    except (pages.SiteError, ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _needs_more(command, error):
    """What to raise where a package that the command imports is not installed; one of our own is a mistake of ours."""
    from dpcourse.doctor import PIP

    if error.name.startswith("dpcourse"):
        return error
    told = f"`dpcourse {command}` needs {error.name}: run `{PIP} install -r tests/requirements.txt`."
    typer.echo(told, err=True)
    return typer.Exit(2)


@app.command()
def doctor() -> None:
    """Say whether this machine has what the course needs, and how to mend what it lacks."""
    from dpcourse.doctor import report

    def grading():
        from dpcourse.grading.sandbox import bubblewrap

        return bubblewrap.finding()

    found = report(grading)
    typer.echo(repr(found))
    raise typer.Exit(0 if found.ok else 1)
