"""A learner's progress, kept in a small JSON file that survives the kernel."""

import contextlib
import html
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from dpcourse import course
from dpcourse.base import rounding
from dpcourse.base.files import data_folder, write_atomically
from dpcourse.base.languages import listed, say
from dpcourse.checking import Exercise
from dpcourse.notebook.course_map import CourseMap

_shown: list = []  # the displays of progress() in this kernel, and what makes each anew
MOVED = {"laplace/rules_out": "machine/rules_out", "laplace/whole_noise": "machine/whole_noise"}
"""The id of an exercise in files of before it went to another lesson -> its id."""


@dataclass(frozen=True)
class Kept:
    """What is kept of a learner: exercises, as "composition/crossing", and quiz questions, as "composition/q2".

    done: exercises passed, and questions whose first answer was right. tried: those checked or answered, and not done.
    proved: lesson word -> the mu that the learner's attacks proved there. last: what was checked or answered last.
    Names stay when a new exercise changes the numbers.
    """

    done: frozenset[str] = frozenset()
    tried: frozenset[str] = frozenset()
    proved: Mapping[str, float] = field(default_factory=dict)
    last: str | None = None

    @classmethod
    def of(cls, told: dict) -> "Kept":
        """Return what plain data have of it; older files have `done` alone. ValueError, KeyError or TypeError for others."""
        done, tried, last = told["done"], told.get("tried", ()), told.get("last")
        if not all(isinstance(name, str) for name in [*done, *tried, last or ""]):
            raise ValueError("a name is not text")
        done, tried = (frozenset(MOVED.get(name, name) for name in names) for names in (done, tried))
        proved = {str(word): float(mu) for word, mu in told.get("proved", {}).items()}
        if not all(0 <= mu < math.inf for mu in proved.values()):
            raise ValueError("a mu is no number")
        return cls(done, tried, proved, last and MOVED.get(last, last))

    def as_data(self) -> dict:
        """Return it as plain data.

        >>> Kept.of(Kept(frozenset({"gdp/mu"})).as_data()) == Kept(frozenset({"gdp/mu"}))
        True
        """
        return {"done": sorted(self.done), "tried": sorted(self.tried), "proved": dict(self.proved), "last": self.last}

    def and_also(self, other: "Kept") -> "Kept":
        """Return what either has: to be done counts more than to be tried, and the larger mu."""
        done = self.done | other.done
        words = {*self.proved, *other.proved}
        proved = {word: max(self.proved.get(word, 0.0), other.proved.get(word, 0.0)) for word in sorted(words)}
        return Kept(done, (self.tried | other.tried) - done, proved, other.last or self.last)


def kept() -> Kept:
    """Return what is kept. A damaged file is set aside under another name, which is printed, and progress begins anew."""
    file = data_folder() / "progress.json"
    try:
        return Kept.of(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Kept()
    except OSError as error:
        print(say("Your progress cannot be read: {error}", error=error))
        return Kept()
    except (ValueError, KeyError, TypeError, AttributeError):
        aside = _set_aside(file)
        print(say("The progress file was damaged. It is kept as {file}; progress begins anew.", file=aside.name))
        return Kept()


def keep(new: Kept) -> None:
    """Add to what is kept; redraw every progress() on show in this kernel. Where nothing can be saved, that is printed."""
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            before = kept()
            if (after := before.and_also(new)) != before:
                write_atomically(folder / "progress.json", json.dumps(after.as_data(), indent=1))
    except OSError as error:
        print(say("Your progress cannot be saved: {error}", error=error))
    for handle, made in _shown:
        handle.update(made())


def _alone(folder):
    """Return what keeps other processes out of the folder for a while; in a browser tab there is none. Else OSError, after 5 s."""
    if sys.platform == "emscripten":
        return contextlib.nullcontext()
    from filelock import FileLock

    return FileLock(folder / "progress.lock", timeout=5)


def record(name: str, is_right: bool = True) -> None:
    """Keep that an exercise was checked, and whether it was right: once it was, it is done."""
    keep(Kept(frozenset({name}), last=name) if is_right else Kept(tried=frozenset({name}), last=name))


def record_answer(name: str, is_right: bool) -> None:
    """Keep that a quiz question was answered; only its first answer counts."""
    before = kept()
    if name not in before.done | before.tried:
        record(name, is_right)


def progress(as_map: bool = False) -> None:
    """Show what is done over all lessons, as a table or on the map of the course; it goes on changing as checks pass."""
    from IPython.display import display

    made = (lambda: Progress().on_the_map()) if as_map else Progress
    handle = display(made(), display_id=True)
    if handle is not None:
        _shown.append((handle, made))


class Progress:
    """What of each lesson is done, what was tried, what comes next, and what the learner's attacks have proved."""

    def __init__(self):
        self.kept = kept()
        self.rows = [_Row(lesson, self.kept) for lesson in course.lessons()]
        self.others = self.kept.done.difference(*(row.names for row in self.rows))

    def stopped_in(self) -> course.Lesson | None:
        """Return the lesson in which something was checked or answered last."""
        word = (self.kept.last or "").partition("/")[0]
        return next((row.lesson for row in self.rows if row.lesson.word == word), None)

    def next(self) -> str | None:
        """Return the id of the first exercise that is not done, from where the learner was last; None where all are."""
        stopped = self.stopped_in()
        rows = sorted(self.rows, key=lambda row: stopped is not None and row.lesson.number < stopped.number)
        return next((task for row in rows for task in row.tasks if task not in row.passed), None)

    def on_the_map(self) -> CourseMap:
        """Return the map with what is done, and a mark at the lesson in which the next exercise is."""
        following = self.next()
        here = course.find(following).lesson if following else None
        return CourseMap({row.lesson.number: len(row.passed) for row in self.rows}, here)

    def below(self, named: Callable[[Exercise], str]) -> Iterator[str]:
        """Yield what is said below the table; named: how an exercise is."""
        if tried := [task for row in self.rows for task in row.tasks if task in self.kept.tried]:
            yield say(
                "Tried, and not passed yet: {exercises}", exercises=listed(named(course.find(each)) for each in tried)
            )
        if following := self.next():
            yield say("Next: {exercise}", exercise=named(course.find(following)))
        if self.kept.proved:
            word, mu = max(self.kept.proved.items(), key=lambda each: each[1])
            title = next((row.title for row in self.rows if row.lesson.word == word), word)
            yield say(
                "The most that one of your attacks has proved, taken by itself: a μ of {mu}, in {lesson}",
                mu=rounding.down(mu, 2),
                lesson=title,
            )

    def __repr__(self):
        rows = [
            say(
                "{lesson}: {passed} of {exercises} exercises, {answered} of {questions} quiz questions",
                lesson=row.title,
                passed=len(row.passed),
                exercises=len(row.tasks),
                answered=len(row.answered),
                questions=len(row.questions),
            )
            for row in self.rows
        ]
        return "\n".join([*rows, *self.below(_named)])

    def as_data(self) -> dict:
        """Return progress as plain data: for each lesson its exercises and questions by name, and whether each is done.

        >>> Progress().as_data()["lessons"][0]["lesson"]
        '00-start-here'
        """
        return {
            "lessons": [
                {
                    "lesson": row.lesson.name,
                    "exercises": {task.partition("/")[2]: task in row.passed for task in row.tasks},
                    "quiz": {question.partition("/")[2]: question in row.answered for question in row.questions},
                }
                for row in self.rows
            ],
            "of other editions": sorted(self.others),
            "kept": self.kept.as_data(),
        }

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'><a href='{row.lesson.name}.ipynb'>{html.escape(row.title)}</a></th>"
            f"{_bar(len(row.passed), len(row.tasks))}{_bar(len(row.answered), len(row.questions))}</tr>"
            for row in self.rows
        )
        head = "".join(
            f"<th scope='col' style='text-align:left'>{html.escape(name)}</th>"
            for name in (say("Lesson"), say("Exercises"), say("Quiz, right at once"))
        )
        caption = f"<caption style='text-align:left'>{html.escape(say('What you have done so far'))}</caption>"
        table = f"<table class='dpcourse-progress'>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return table + "".join(f"<p>{line}</p>" for line in self.below(_linked))


class _Row:
    """What is done of a lesson: exercises and quiz questions by their names, and which of them."""

    def __init__(self, lesson, kept):
        self.lesson = lesson
        self.title = f"{lesson.number:02} {say(lesson.title)}"
        self.tasks = [f"{lesson.word}/{function}" for function in lesson.functions]
        self.questions = [f"{lesson.word}/q{i}" for i in range(1, len(lesson.quiz) + 1)]
        self.names = {*self.tasks, *self.questions}
        self.passed, self.answered = kept.done.intersection(self.tasks), kept.done.intersection(self.questions)


def _named(exercise):
    return f"{exercise.number} {say(exercise.title)}"


def _linked(exercise):
    """Return a link to the exercise's lesson."""
    return f"<a href='{course.lesson(exercise.lesson).name}.ipynb'>{html.escape(_named(exercise))}</a>"


def _bar(done, of):
    """Return a cell with a bar for the eye; the words beside the bar are for everybody."""
    words = html.escape(say("{done} of {all}", done=done, all=of))
    bar = f"<progress value='{done}' max='{of}' style='width:8em' aria-hidden='true'></progress>"
    return f"<td style='text-align:left;white-space:nowrap'>{bar} {words}</td>"


def _set_aside(file):
    """Rename a damaged file to the first free name beside it."""
    number = 1
    while (aside := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    file.replace(aside)
    return aside
