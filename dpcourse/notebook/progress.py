"""A learner's progress, kept in a small JSON file that survives the kernel."""

import html
import json

from dpcourse import course
from dpcourse.base.files import data_folder, write_atomically
from dpcourse.base.languages import say

_shown: list = []  # the displays of progress() in this kernel


def recorded() -> set[str]:
    """Return the set of what is done: exercises, as "composition/crossing", and quiz questions, as "composition/q2".

    Names stay when a new exercise changes the numbers. A damaged file is set aside under another name, which is
    printed, and progress begins anew.
    """
    file = data_folder() / "progress.json"
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if not all(isinstance(name, str) for name in told["done"]):
            raise ValueError("a name is not text")
        return set(told["done"])
    except FileNotFoundError:
        return set()
    except OSError as error:
        print(say("Your progress cannot be read: {error}", error=error))
        return set()
    except (ValueError, KeyError, TypeError):
        aside = _set_aside(file)
        print(say("The progress file was damaged. It is kept as {file}; progress begins anew.", file=aside.name))
        return set()


def record(name: str) -> None:
    """Add an exercise, "composition/crossing", or a quiz question, "composition/q2", to what is done; redraw every progress()
    on show in this kernel."""
    from filelock import FileLock, Timeout

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "progress.lock", timeout=5):
            before = recorded()
            if name not in before:
                write_atomically(folder / "progress.json", json.dumps({"done": sorted(before | {name})}, indent=1))
    except (OSError, Timeout) as error:
        print(say("Passed, but your progress cannot be saved: {error}", error=error))
    for handle in _shown:
        handle.update(Progress())


def progress() -> None:
    """Show what is done over all lessons; the picture goes on changing as checks pass."""
    from IPython.display import display

    handle = display(Progress(), display_id=True)
    if handle is not None:
        _shown.append(handle)


class Progress:
    """How many exercises and quiz questions of each lesson are done, as text and as HTML."""

    def __init__(self):
        done = recorded()
        self.rows, self.others = [], set(done)
        for lesson in course.lessons():
            tasks = [f"{lesson.word}/{function}" for function in lesson.functions]
            questions = [f"{lesson.word}/q{i}" for i in range(1, len(lesson.quiz) + 1)]
            self.others -= {*tasks, *questions}
            self.rows.append(
                (
                    lesson.name,
                    f"{lesson.number:02} {say(lesson.title)}",
                    done.intersection(tasks),
                    tasks,
                    done.intersection(questions),
                    questions,
                )
            )

    def __repr__(self):
        return "\n".join(
            say(
                "{lesson}: {passed} of {exercises} exercises, {answered} of {questions} quiz questions",
                lesson=title,
                passed=len(passed),
                exercises=len(tasks),
                answered=len(answered),
                questions=len(questions),
            )
            for _, title, passed, tasks, answered, questions in self.rows
        )

    def as_data(self) -> dict:
        """Return progress as plain data: for each lesson its exercises and questions by name, and whether each is done.

        >>> Progress().as_data()["lessons"][0]["lesson"]
        '00-start-here'
        """
        return {
            "lessons": [
                {
                    "lesson": name,
                    "exercises": {task.partition("/")[2]: task in passed for task in tasks},
                    "quiz": {question.partition("/")[2]: question in answered for question in questions},
                }
                for name, _, passed, tasks, answered, questions in self.rows
            ],
            "of other editions": sorted(self.others),
        }

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'><a href='{name}.ipynb'>{html.escape(title)}</a></th>"
            f"<td>{_bar(len(passed), len(tasks))}</td><td>{_bar(len(answered), len(questions))}</td></tr>"
            for name, title, passed, tasks, answered, questions in self.rows
        )
        head = "".join(
            f"<th scope='col' style='text-align:left'>{html.escape(name)}</th>"
            for name in (say("Lesson"), say("Exercises"), say("Quiz"))
        )
        caption = f"<caption style='text-align:left'>{html.escape(say('What you have done so far'))}</caption>"
        return f"<table class='dpcourse-progress'>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _bar(done, of):
    """Return a bar for the eye; the words beside the bar are for everybody."""
    words = html.escape(say("{done} of {all}", done=done, all=of))
    return f"<progress value='{done}' max='{of}' aria-hidden='true'></progress> {words}"


def _set_aside(file):
    """Rename a damaged file to the first free name beside it."""
    number = 1
    while (aside := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    file.replace(aside)
    return aside
