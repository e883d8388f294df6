"""The functions that a learner calls in a notebook: check an answer, ask for a hint, ask for the solution."""

import json
from pathlib import Path

from dpcourse import course
from dpcourse.base import cells, languages
from dpcourse.base.languages import counted, say, sentences
from dpcourse.checking import BLANK, RECEIVED, RIGHT, WRONG
from dpcourse.checking.display import aside
from dpcourse.notebook import runs
from dpcourse.notebook.progress import kept, record

_last_state: dict[str, str] = {}  # exercise number -> the state of its last verdict in this kernel
_last_hint: dict[str, int] = {}  # exercise number -> the hint that was shown last
runs.watch()


def check(exercise_id: str, answer: object = None, **values: object) -> None:
    """Judge an answer on inputs drawn just now, show the verdict, and note what is passed.

    exercise_id: its number, in quotes, such as "1.3". answer: the function itself, without brackets. values: of your variant, where
    the exercise has one for each student; the check cell says them.
    """
    from IPython.display import display

    exercise = _find(exercise_id, values)
    if exercise is None:
        return
    if failure := runs.outlived(answer):
        _say(
            say("{exercise} {title}: not judged", exercise=exercise.number, title=say(exercise.title)), *_told(failure)
        )
        return
    try:
        verdict = exercise.check(answer)
    except KeyboardInterrupt:
        stopped = say("{exercise} {title}: stopped", exercise=exercise.number, title=say(exercise.title))
        _say(stopped, say("You interrupted the check. Nothing was judged."))
        return
    _last_state[exercise.number] = verdict.state
    display(verdict)
    if verdict.audit:
        from dpcourse import plots

        plots.show(plots.audited, **vars(verdict.audit))  # type: ignore[attr-defined] # plots finds it
    if verdict.state != BLANK:
        record(exercise.id, verdict.state in (RIGHT, RECEIVED))
    if verdict.state == WRONG:
        for other in _wrong_beneath(exercise, answer):
            _say(
                say("`{function}` is not right yet", function=other.function),
                say(
                    'Your function calls it. Mend it first: `check("{number}", {function})` says what is wrong with it.',
                    number=other.number,
                    function=other.function,
                ),
            )


def _wrong_beneath(exercise, answer):
    """Yield the exercises of the same lesson whose functions this answer calls by their names, and which are wrong."""
    called = getattr(getattr(answer, "__code__", None), "co_names", ())
    for other in course.lesson(exercise.lesson).exercises:
        if other.function in called and other.id != exercise.id:
            function = answer.__globals__.get(other.function)
            if callable(function) and other.check(function).state == WRONG:
                yield other


def passed(exercise_id: str) -> bool:
    """Return whether the last check of that exercise was right, in this kernel or, if its function is there, before."""
    if exercise_id in _last_state:
        return _last_state[exercise_id] == RIGHT
    exercise = course.find(exercise_id)
    return exercise.id in kept().done and exercise.function in runs.defined()


def hint(exercise_id: str, number: int | None = None) -> None:
    """Show the next hint, or the one of that number. Each goes one step further, until the exercise is passed."""
    exercise = _find(exercise_id)
    if exercise is None:
        return
    if number is None and _last_state.get(exercise.number) == RIGHT:
        _say(
            say("{exercise} is passed", exercise=exercise_id),
            say('`hint("{exercise}", 1)` shows its first hint.', exercise=exercise_id),
        )
        return
    count = len(exercise.hints)
    if not count:
        _say(say("Exercise {exercise} has no hints", exercise=exercise_id), say("You are to find this out yourself."))
        return
    if number is None:
        number = min(_last_hint.get(exercise.number, 0) + 1, count)
    if number not in range(1, count + 1):
        _say(
            counted(
                "Exercise {exercise} has {count} hint",
                "Exercise {exercise} has {count} hints",
                count=count,
                exercise=exercise_id,
            ),
            say('`hint("{exercise}", 1)` to `hint("{exercise}", {last})` show them.', exercise=exercise_id, last=count),
        )
        return
    after = (
        say('The next one: `hint("{exercise}")` once more', exercise=exercise_id)
        if number < count
        else say('The solution: `solution("{exercise}")`', exercise=exercise_id)
    )
    _last_hint[exercise.number] = number
    title = say("Hint {number} of {all} for {exercise}", number=number, all=count, exercise=exercise_id)
    _say(title, say(exercise.hints[number - 1]), after)


def solution(exercise_id: str, sure: bool = False) -> None:
    """Show the solution if you are sure; in a copy that an instructor gave out, say who has it."""
    exercise = _find(exercise_id)
    if exercise is None:
        return
    if not sure:
        _say(
            say("Solution of {exercise}: are you sure?", exercise=exercise_id),
            sentences([say("You learn more from one more try."), *_hints_of(exercise)]),
            say('If you are sure: `solution("{exercise}", sure=True)`', exercise=exercise_id),
        )
        return
    title = say("Solution of {exercise}", exercise=exercise_id)
    code = _solution_code(exercise)
    if code is None:
        _say(title, say("The solutions are not in this copy of the course. Your instructor has them."))
    else:
        _say(title, code=code)


def _told(failure):
    """Yield lines: which cell has failed, so that an older function is still there, and what to do."""
    if failure.line:
        ended = say(
            "The last cell that was to define `{function}` ended with an error: {error}, in its line {line}.",
            function=failure.function,
            error=failure.error,
            line=failure.line,
        )
    else:
        ended = say(
            "The last cell that was to define `{function}` ended with an error: {error}.",
            function=failure.function,
            error=failure.error,
        )
    yield ended
    yield say(
        "So `{function}` is still the function of before, and was not judged. Mend that cell, run it, and run this check again.",
        function=failure.function,
    )


def _hints_of(exercise):
    """Yield a sentence that says how many hints there are; nothing where there are none."""
    if count := len(exercise.hints):
        yield counted(
            'There is {count} hint: `hint("{exercise}")`.',
            'There are {count} hints, from `hint("{exercise}")` on.',
            count=count,
            exercise=exercise.number,
        )


def _find(exercise_id, values=None):
    """Return the exercise; None, with a message to the learner, where there is none."""
    try:
        return course.find(exercise_id, values)
    except ValueError as error:
        _say(say("No such variant") if values else say("No such exercise"), str(error))
        return None


def _solution_code(exercise):
    """Return the code of the solved cell with the exercise's function, without marks; None where solutions/ is missing."""
    for file in _solved(exercise.lesson):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            code = "".join(cell["source"])
            if cell["cell_type"] == "code" and exercise.function in cells.defined(code):
                return cells.without_marks(code)
    return None


def _solved(lesson):
    """Yield the solved notebooks of a lesson, those in the chosen language first, then those in English.

    The notebooks lie in the course's folder, or in the package if a wheel brought them.
    """
    here, package = Path.cwd().resolve(), Path(__file__).resolve().parents[1]
    english = languages.chosen() == languages.ENGLISH
    for among in ("solutions",) if english else (f"solutions/{languages.chosen()}", "solutions"):
        for folder in (here, *here.parents, package.parent, package):
            yield from sorted(folder.glob(f"{among}/{lesson:02}-*.ipynb"))


def _say(title, *lines, code=None):
    """Show a panel, as HTML with a plain-text twin."""
    from IPython.display import display

    text = "\n".join([title, *lines] + ([code] if code else []))
    display({"text/plain": text, "text/html": aside(title, lines, code)}, raw=True)
