"""The command of instructors: grade a class."""

import typer

from dpcourse.base.languages import say
from dpcourse.commands.grade_options import Options
from dpcourse.commands.shared import app, refusing, taking


@app.command()
@refusing("grade")
@taking(Options)
def grade(options: Options) -> None:
    """Grade a folder of notebooks, each in a sandbox; write gradebooks, feedback for each student, and a report.

    Run it again after an interruption, or when submissions or the exercises have changed: only what has to be is graded again, and every mark that moves is told, and written into changes.csv.

    Points, part credit, deadlines and lateness stand in course.toml: change it and run `dpcourse grade` without a folder, and the marks follow.

    While a run goes on, marks can be looked up and set by hand beside it.

    Status 0: everything is graded. 1: some files could not be read or graded; it is said which and why. 2: nothing was done.
    """
    from dpcourse.commands import grade_steps

    try:
        raise typer.Exit(grade_steps.run_command(options))
    except KeyboardInterrupt:
        typer.echo(say("Stopped. The same command goes on where it was."), err=True)
        raise typer.Exit(130) from None
