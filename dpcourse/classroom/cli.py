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
        from dpcourse.classroom import build as builder

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
        typer.echo(f"`dpcourse build` needs {error.name}: run `pip install -r tests/requirements.txt`.", err=True)
        raise typer.Exit(2) from None
    except (builder.SourceError, ValueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


@app.command()
def doctor():
    """Say whether this machine has what the course needs, and how to mend what it lacks."""
    from dpcourse.doctor import report

    found = report()
    typer.echo(repr(found))
    raise typer.Exit(0 if found.ok else 1)
