"""What a learner can do now: the goals of all lessons, with those that their exercises show, as a page to keep or print."""

import html
import os
from dataclasses import dataclass
from pathlib import Path

from dpcourse import course
from dpcourse.base import languages, rounding
from dpcourse.base.files import write_atomically
from dpcourse.base.languages import say
from dpcourse.notebook.progress import kept

STYLE = (
    "body{font-family:sans-serif;line-height:1.5;max-width:46em;margin:2em auto;padding:0 1em}"
    "h2{font-size:1.1em;margin-bottom:.2em}ul{margin-top:.2em}@media print{h2{break-after:avoid}}"
)


@dataclass(frozen=True)
class Goal:
    """One goal of a lesson: what one can do, how many exercises show it, and how many of these are passed."""

    can: str
    passed: int
    exercises: int

    @property
    def is_reached(self) -> bool:
        """Whether all of its exercises are passed."""
        return self.passed == self.exercises


@dataclass(frozen=True)
class OfLesson:
    """What of a lesson is reached: its title, its goals, and the mu that the learner's attacks have proved there, 0 without."""

    title: str
    goals: tuple[Goal, ...]
    mu: float


def goals(name: str = "", save: Path | str | None = None) -> None:
    """Show what you can do now, by the goals whose exercises you have passed; save: a new .html file to keep or print.

    name: of the learner, which stands on the page. Prints a sentence where the file is there already or cannot be written.
    """
    from IPython.display import display

    page = Goals(name)
    display(page)
    if save is None:
        return
    try:
        print(say("Written to {file}.", file=page.saved(save)))
    except (ValueError, OSError) as error:
        print(error)


class Goals:
    """The goals of all lessons, as far as the learner's progress shows them, in the language that is chosen."""

    def __init__(self, name: str = ""):
        self.name, known = str(name), kept()
        self.lessons = [
            OfLesson(
                f"{lesson.number:02} {say(lesson.title)}",
                tuple(Goal(can, len(known.done.intersection(ids)), len(ids)) for can, ids in there),
                known.proved.get(lesson.word, 0.0),
            )
            for lesson in course.lessons()
            if (there := lesson.goals(languages.chosen()))
        ]

    @property
    def reached(self) -> int:
        """How many goals are reached."""
        return sum(goal.is_reached for lesson in self.lessons for goal in lesson.goals)

    @property
    def all(self) -> int:
        """How many goals there are."""
        return sum(len(lesson.goals) for lesson in self.lessons)

    def headline(self) -> str:
        """Return whose page it is, and how much is reached."""
        if self.name:
            return say(
                "What {name} can do: {reached} of {all} goals", name=self.name, reached=self.reached, all=self.all
            )
        return say("What you can do now: {reached} of {all} goals", reached=self.reached, all=self.all)

    def told(self, goal: Goal) -> str:
        """Return a goal in one line, with how far it is where it is not reached."""
        if goal.is_reached:
            return say("✓ {goal}", goal=goal.can)
        return say(
            "○ {goal} ({passed} of {exercises} exercises)", goal=goal.can, passed=goal.passed, exercises=goal.exercises
        )

    def proved(self, lesson: OfLesson) -> list[str]:
        """Return what the learner's attacks have proved in a lesson, in one line or none."""
        return [say("Proved by an attack: a μ of {mu}", mu=rounding.down(lesson.mu, 2))] if lesson.mu else []

    def __repr__(self):
        lines = [self.headline()]
        for lesson in self.lessons:
            lines += ["", lesson.title, *map(self.told, lesson.goals), *self.proved(lesson)]
        return "\n".join(lines)

    def _repr_html_(self):
        parts = [f"<h1 style='font-size:1.3em'>{html.escape(self.headline())}</h1>"]
        for lesson in self.lessons:
            items = "".join(f"<li>{html.escape(self.told(goal))}</li>" for goal in lesson.goals)
            mus = "".join(f"<p>{html.escape(line)}</p>" for line in self.proved(lesson))
            parts.append(f"<h2>{html.escape(lesson.title)}</h2><ul style='list-style:none'>{items}</ul>{mus}")
        return f"<div class='dpcourse-goals'>{''.join(parts)}</div>"

    def page(self) -> str:
        """Return a whole web page, which needs no other file."""
        title, language = html.escape(self.headline()), languages.chosen()
        return (
            f"<!doctype html>\n<html lang='{language}'><head><meta charset='utf-8'><title>{title}</title>"
            f"<style>{STYLE}</style></head><body>{self._repr_html_()}</body></html>\n"
        )

    def saved(self, file: Path | str) -> Path:
        """Write the page into a new file, and return it. ValueError where it is there already, or is no .html file."""
        file = Path(file)
        if file.suffix != ".html":
            raise ValueError(say('{file} must end in ".html", for it is a web page.', file=file))
        if os.path.lexists(file):
            raise ValueError(say("{file} is there already, and was not touched: name a new file.", file=file))
        write_atomically(file, self.page())
        return file
