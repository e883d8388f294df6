"""What a learner calls in a notebook: check an answer, ask for a hint, ask for the solution."""

import html
import json
from pathlib import Path

from dpcourse import exercises
from dpcourse.exercises.engine import RIGHT, as_code
from dpcourse.progress import record

_state = {"hints": {}, "asked": set(), "verdicts": {}}


def check(exercise_id, answer):
    """Judge an answer on inputs drawn just now, show the verdict, and note what is passed.

    exercise_id: such as "1.3". answer: the function itself, without brackets.
    """
    from IPython.display import display

    exercise = exercises.find(exercise_id)
    verdict = exercise.check(answer)
    _state["verdicts"][exercise_id] = verdict.state
    display(verdict)
    if verdict.state == RIGHT:
        record(exercise_id)


def passed(exercise_id):
    """Whether the last check of that exercise in this kernel was right."""
    return _state["verdicts"].get(exercise_id) == RIGHT


def hint(exercise_id):
    """Show the next hint; each call goes one step further, up to the last."""
    exercise = exercises.find(exercise_id)
    given = min(_state["hints"].get(exercise_id, 0) + 1, len(exercise.hints))
    _state["hints"][exercise_id] = given
    last = given == len(exercise.hints)
    after = (
        f'That was the last hint. `solution("{exercise_id}")` shows the solution.'
        if last
        else "Run this again for the next one."
    )
    _say(f"Hint {given} of {len(exercise.hints)} for {exercise_id}", exercise.hints[given - 1], after)


def solution(exercise_id):
    """Show the solution, at the second time of asking; without the folder solutions/, say who has it."""
    exercise = exercises.find(exercise_id)
    if exercise_id not in _state["asked"]:
        _state["asked"].add(exercise_id)
        _say(
            f"Solution of {exercise_id}: are you sure?",
            f'You learn more from one more try: `hint("{exercise_id}")` gives {len(exercise.hints)} hints, one by one.',
            f'To see the solution all the same, run `solution("{exercise_id}")` again.',
        )
        return
    code = _solution_code(exercise)
    if code is None:
        _say(
            f"Solution of {exercise_id}", "The solutions are not in this copy of the course. Your instructor has them."
        )
    else:
        _say(f"Solution of {exercise_id}", code=code)


def _solution_code(exercise):
    """The cell of the solved lesson that defines the exercise's function, without the marks; None where solutions/ is not there."""
    number = int(exercise.id.split(".")[0])
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        for file in sorted(folder.glob(f"solutions/{number:02}-*.ipynb")):
            for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
                code = "".join(cell["source"])
                if cell["cell_type"] == "code" and f"def {exercise.function}(" in code:
                    return "\n".join(line for line in code.splitlines() if not line.strip().startswith("###"))
    return None


def _say(title, *lines, code=None):
    """Show a panel, as HTML with a plain-text twin."""
    from IPython.display import display

    text = "\n".join([title, *lines] + ([code] if code else []))
    body = "".join(f"<p style='margin:.3em 0'>{as_code(line)}</p>" for line in lines)
    body += f"<pre>{html.escape(code)}</pre>" if code else ""
    panel = f"<div role='status' style='border-left:4px solid #1a5fb4;padding:.3em .8em'><strong>{html.escape(title)}</strong>{body}</div>"
    display({"text/plain": text, "text/html": panel}, raw=True)
