"""The options of `dpcourse grade`, each with its help: the command line is made from the fields here."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dpcourse.base import paths
from dpcourse.base.languages import say, to_say
from dpcourse.grading import collect
from dpcourse.grading.marks.settings import Settings

LEAST_MEMORY, MOST_MEMORY = 256, 2**20  # MiB; Python and numpy need the first
MOST_SECONDS = 7 * 24 * 3600
MOST_JOBS = 1000

COURSE = to_say("the folder that holds lessons/ as given out")
STAY = ("roster", "pattern", "course")
"""The options that course.toml can remember, by keys of the same names."""

_what = partial(typer.Option, rich_help_panel="What to grade")
_counts = partial(typer.Option, rich_help_panel="What counts")
_hand = partial(typer.Option, rich_help_panel="Look at a mark, and set one by hand")
_class = partial(typer.Option, rich_help_panel="Two machines, and forgetting")
_run = partial(typer.Option, rich_help_panel="How it runs")
_out = partial(typer.Option, rich_help_panel="Where it goes")


@dataclass(frozen=True)
class Options:
    """What an instructor asks for."""

    submissions: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of notebooks, or the zip, as Canvas, Moodle, nbgrader and GitHub Classroom export them: a notebook or a folder for each student. Without it nothing is run: the marks are made anew from what is stored."
        ),
    ] = None
    lesson: Annotated[
        int | None, _what(help="Grade only the notebooks of the lesson with this number; else each tells by itself.")
    ] = None
    roster: Annotated[
        Path | None, _what(help="A CSV of who is in the class: also those count who have handed in nothing.")
    ] = None
    pattern: Annotated[
        str | None,
        _what(
            metavar="PATTERN",
            help="How files or folders are named, where no platform has: such as {name}_{number}_{file}; {late} and {time} may be there too, and {name}/{file} is of a folder for each. Or a regular expression with these named groups.",
        ),
    ] = None
    pack: Annotated[Path | None, _what(metavar="FOLDER", help="Grade the lesson of a pack too.")] = None
    again: Annotated[bool, _what("--again", help="Grade anew what is graded.")] = False
    seed_file: Annotated[
        Path | None,
        _what(help="Draw the hidden inputs from the secret in this file; else one is made and kept in OUT."),
    ] = None
    course: Annotated[
        Path | None, _what(help="The folder that holds lessons/ as given out; else where dpcourse is.")
    ] = None
    config: Annotated[
        Path | None,
        _counts(
            metavar="FILE",
            help="Points, part credit, deadlines, names in the LMS, and options that stay; else course.toml in this folder, if there is one and no submissions are.",
        ),
    ] = None
    settings: Annotated[
        bool, _counts("--settings", help="Print a course.toml with every key, what it says if left out, and what for.")
    ] = False
    explain: Annotated[
        tuple[str, str] | None, _hand(metavar="STUDENT EXERCISE", help="Say why a mark is what it is.")
    ] = None
    override: Annotated[
        tuple[str, str, float, str] | None,
        _hand(metavar="STUDENT EXERCISE POINTS REASON", help="Set a mark; it stays through every regrading."),
    ] = None
    bonus: Annotated[
        tuple[str, int, float, str] | None,
        _hand(metavar="STUDENT LESSON POINTS REASON", help="Give points beside the exercises; below 0, take them."),
    ] = None
    undo: Annotated[
        tuple[str, str] | None,
        _hand(metavar="STUDENT EXERCISE", help="Take back what was set; with the number of a lesson, its bonus."),
    ] = None
    overrides: Annotated[
        bool, _hand("--overrides", help="List all that was ever set by hand: by whom, when, and why.")
    ] = False
    author: Annotated[str | None, _hand(metavar="NAME", help="Who sets it; else the name you are logged in as.")] = None
    merge: Annotated[
        Path | None,
        _class(metavar="OTHER", help="Take over what another machine has graded: its OUT folder or its grades.sqlite."),
    ] = None
    forget: Annotated[
        str | None,
        _class(
            metavar="STUDENT",
            help="Remove all that is known of a student, and their feedback, without asking; a log keeps when, not whose. Take their file out of the folder too.",
        ),
    ] = None
    jobs: Annotated[
        int | None, _run(min=1, max=MOST_JOBS, help="Submissions at a time; as many as there are cores.")
    ] = None
    dask: Annotated[
        str | None, _run(metavar="ADDRESS", help="Grade on this Dask cluster, such as tcp://host:8786.")
    ] = None
    cell_seconds: Annotated[float, _run(help="The time limit of one cell, and of one answer at most.")] = 30
    seconds: Annotated[float, _run(help="The time limit of one submission.")] = 300
    memory: Annotated[int, _run(help="The memory limit of one submission, in MiB.")] = 2048
    no_sandbox: Annotated[
        bool, _run("--no-sandbox", help="Grade without bubblewrap. Students' code can then do all that you can do.")
    ] = False
    out: Annotated[Path, _out(help="The folder of gradebooks, feedback, report and database.")] = Path("grades")
    language: Annotated[
        str | None,
        _out(help="The language of all that is written and printed, such as zh; else that of DPCOURSE_LANGUAGE."),
    ] = None
    as_json: Annotated[bool, _out("--json", help="Print the summary as JSON, and no progress bar.")] = False

    def check(self) -> None:
        """Raise ValueError for a path that is not there, and for a limit with which nothing could be graded."""
        self._check_what_stays({name: f"--{name}" for name in STAY})
        paths.a_file("--seed-file", self.seed_file, to_say("the file with the secret"))
        paths.a_file("--config", self.config, to_say("a course.toml; `dpcourse grade --settings` prints one"))
        paths.a_folder("--pack", self.pack, to_say("a folder that `dpcourse new-pack` has made"))
        paths.a_folder("--out", self.out, to_say("the folder of your grades, or a new one"), may_be_new=True)
        if self.dask is not None and not re.search(r"[^/:]:\d+$", self.dask):
            raise ValueError(
                say(
                    "--dask must be the address of a scheduler, such as tcp://host:8786, not {given}.",
                    given=repr(self.dask),
                )
            )
        for name, limit in (("--cell-seconds", self.cell_seconds), ("--seconds", self.seconds)):
            if not 0 < limit < math.inf:
                raise ValueError(
                    say("{option} must be a number of seconds above 0, not {given:g}.", option=name, given=limit)
                )
            if limit > MOST_SECONDS:
                raise ValueError(
                    say(
                        "{option} must be at most {most} seconds, which is a week, not {given:g}.",
                        option=name,
                        most=MOST_SECONDS,
                        given=limit,
                    )
                )
        if self.memory < LEAST_MEMORY:
            raise ValueError(
                say("--memory must be at least {least} (MiB), not {given}.", least=LEAST_MEMORY, given=self.memory)
            )
        if self.memory > MOST_MEMORY:
            raise ValueError(
                say("--memory must be at most {most} (MiB), not {given}.", most=MOST_MEMORY, given=self.memory)
            )

    def with_what_stays(self, settings: Settings) -> "Options":
        """Return the options, with course.toml's values where none was typed. Raises ValueError for a path that is not there."""
        remembered = {name: getattr(settings, name) for name in STAY if getattr(self, name) is None}
        found = replace(self, **remembered)
        about = {"file": settings.path or ""}
        found._check_what_stays({name: say("{file}, {key}", key=name, **about) for name in remembered})
        return found

    def _check_what_stays(self, called: Mapping[str, str]) -> None:
        """Raise ValueError for a value that cannot be used, of those that have a name here by which they are called."""
        if "roster" in called:
            paths.a_file(called["roster"], self.roster, to_say("the CSV that lists the class"))
        if "pattern" in called and self.pattern is not None:
            try:
                collect.own_pattern(self.pattern)
            except collect.PatternError as error:
                raise ValueError(say("{option}: {reason}", option=called["pattern"], reason=error.args[0])) from None
        if "course" in called:
            paths.a_folder(called["course"], self.course, COURSE)
            if self.course and not any((self.course / "lessons").glob("[0-9][0-9]-*.ipynb")):
                raise paths.NotThere(
                    say(
                        "{option}: there is no lesson in {folder}. Name {course}.",
                        option=called["course"],
                        folder=self.course / "lessons",
                        course=say(COURSE),
                    )
                )
