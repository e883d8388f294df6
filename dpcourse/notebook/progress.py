"""What the learner has done, kept in a small JSON file that survives the kernel."""

import html
import json

from dpcourse import course
from dpcourse.base.files import data_folder, write_atomically
from dpcourse.base.languages import say

FIRST_EDITION = {
    "0": ("start_here", "keep_probability randomized_response estimate_share"),
    "1": (
        "composition",
        "sequential_composition privacy_bill worst_posterior basic_composition advanced_composition crossing composed_delta",
    ),
    "2": (
        "laplace",
        "sum_sensitivity laplace_mechanism privacy_loss epsilon_for_counts private_histogram error_bound report_noisy_max "
        "whole_noise",
    ),
    "3": (
        "gdp",
        "error_rates least_error_sum is_tradeoff approx_dp_curve gaussian_curve noisy_counts delta_of largest_mu group_curve "
        "group_sigma",
    ),
    "4": (
        "clt",
        "laws_that_hold total_mu privacy_loss composed_delta functionals berry_esseen proved_band limit_mu approx_dp_limit "
        "too_low too_high",
    ),
    "5": (
        "dpsgd",
        "clip noisy_sum poisson_batches noisy_sgd_step noisy_adam sampled_curve two_sided sgd_mu noise_for_budget in_order",
    ),
    "6": (
        "audit",
        "error_rates at_most mu_at_least epsilon_at_least runs_needed best_mu canary one_run_epsilon accused",
    ),
}
"""The word and the exercises of each lesson when a file of progress held numbers."""

_shown: list = []  # the displays of progress() in this kernel


def recorded() -> set[str]:
    """The exercises passed, as "composition/crossing", and the quiz questions answered, as "composition/q2"; a set.

    These are names, which stay when an exercise more changes the numbers. A damaged file is set aside under another
    name, which is printed, and progress begins anew.
    """
    file = data_folder() / "progress.json"
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        names = list(told["done"] if "done" in told else map(_of_first_edition, told["passed"]))
        for name in names:
            _refuse_unless_text(name)
        return set(names)
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
        """The same as plain data: for each lesson its exercises and questions by name, and whether each is done.

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


def _of_first_edition(number):
    """The name of what had this number in the first edition, whose files hold numbers."""
    _refuse_unless_text(number)
    lesson, _, place = number.partition(".")
    word, functions = FIRST_EDITION.get(lesson, (lesson, ""))
    if place.startswith("q"):
        return f"{word}/{place}"
    names = functions.split()
    name = names[int(place) - 1] if 0 < int(place) <= len(names) else place
    return f"{'accountants' if name in ('noise_for_budget', 'in_order') else word}/{name}"


def _refuse_unless_text(name):
    if not isinstance(name, str):
        raise ValueError("an id is not text")


def _bar(done, of):
    """A bar for the eye; the words beside it are for everybody."""
    words = html.escape(say("{done} of {all}", done=done, all=of))
    return f"<progress value='{done}' max='{of}' aria-hidden='true'></progress> {words}"


def _set_aside(file):
    """Rename a damaged file to the first free name beside it."""
    number = 1
    while (aside := file.with_name(f"{file.stem}.damaged-{number}{file.suffix}")).exists():
        number += 1
    file.replace(aside)
    return aside
