"""What the learner has done, kept in a small JSON file that survives the kernel."""

import html
import json

from dpcourse import course
from dpcourse.files import data_folder, write_atomically

_shown: list = []  # the displays of progress() in this kernel


def recorded() -> set[str]:
    """The ids of the exercises passed and the quiz questions answered ("1.q2"), as a set.

    A damaged file is set aside under another name, which is printed, and progress begins anew.
    """
    file = data_folder() / "progress.json"
    try:
        ids = json.loads(file.read_text(encoding="utf-8"))["passed"]
        if not all(isinstance(name, str) for name in ids):
            raise ValueError("an id is not text")
        return set(ids)
    except FileNotFoundError:
        return set()
    except OSError as error:
        print(f"Your progress cannot be read: {error}")
        return set()
    except (ValueError, KeyError, TypeError):
        aside = _set_aside(file)
        print(f"The progress file was damaged. It is kept as {aside.name}; progress begins anew.")
        return set()


def record(name: str) -> None:
    """Add an id to what is passed and redraw every progress() on show in this kernel."""
    from filelock import FileLock, Timeout

    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "progress.lock", timeout=5):
            before = recorded()
            if name not in before:
                write_atomically(folder / "progress.json", json.dumps({"passed": sorted(before | {name})}, indent=1))
    except (OSError, Timeout) as error:
        print(f"Passed, but your progress cannot be saved: {error}")
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
        self.rows = []
        for lesson in course.lessons():
            tasks = [exercise.id for exercise in lesson.exercises]
            questions = [f"{lesson.number}.q{i}" for i in range(1, len(lesson.quiz) + 1)]
            self.rows.append(
                (
                    lesson.name,
                    f"{lesson.number:02} {lesson.title}",
                    done.intersection(tasks),
                    tasks,
                    done.intersection(questions),
                    questions,
                )
            )

    def __repr__(self):
        return "\n".join(
            f"{title}: {len(passed)} of {len(tasks)} exercises, {len(answered)} of {len(questions)} quiz questions"
            for _, title, passed, tasks, answered, questions in self.rows
        )

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'><a href='{name}.ipynb'>{html.escape(title)}</a></th>"
            f"<td>{_bar(len(passed), len(tasks))}</td><td>{_bar(len(answered), len(questions))}</td></tr>"
            for name, title, passed, tasks, answered, questions in self.rows
        )
        head = "".join(
            f"<th scope='col' style='text-align:left'>{name}</th>" for name in ("Lesson", "Exercises", "Quiz")
        )
        caption = "<caption style='text-align:left'>What you have done so far</caption>"
        return f"<table class='dpcourse-progress'>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _bar(done, of):
    """A bar for the eye; the words beside it are for everybody."""
    return f"<progress value='{done}' max='{of}' aria-hidden='true'></progress> {done} of {of}"


def _set_aside(file):
    """Rename a damaged file to the first free name beside it."""
    number = 1
    while (aside := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    file.replace(aside)
    return aside
