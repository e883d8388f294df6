"""What an exercise does on the trusted side: it draws inputs, and judges what came back. It may fail, as all code may.

Then that exercise has no mark, which is nobody's zero, and who mends it is told why: see `result.unjudged`.
"""

import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from dpcourse.base.languages import say
from dpcourse.checking.calling import limits
from dpcourse.checking.calling.messages import one_line
from dpcourse.grading.run import Stopped

JUDGE_SECONDS = 60.0
LONGEST_REASON = 200  # characters; an error may tell what an answer gave


class Failed(Exception):
    """A judge failed; says how."""

    @property
    def why(self) -> str:
        """One line: the error, and where."""
        return self.args[0]


def at_work(part: Callable, *given: Any) -> Any:
    """What an exercise's part gives, within JUDGE_SECONDS. Raises Failed where it does not come to its end."""
    try:
        with limits.time_limit(JUDGE_SECONDS):
            return part(*given)
    except (Failed, Stopped):  # what a student's process does in between is no fault of the judge's
        raise
    except limits.TimeUp:
        raise Failed(say("it did not end within {seconds:g} seconds", seconds=JUDGE_SECONDS)) from None
    except (Exception, SystemExit) as error:
        raise Failed(_reason(error)) from error


def _reason(error):
    """The error, and the last line on the way to it that is a lesson's own, where one is."""
    told = {"kind": type(error).__name__, "message": one_line(str(error), LONGEST_REASON)}
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_a_lessons(PurePath(frame.filename))]
    if not own:
        return say("{kind}: {message}", **told)
    place = {"file": PurePath(own[-1].filename).name, "line": own[-1].lineno}
    return say("{kind}: {message} ({file}, line {line})", **told, **place)


def _is_a_lessons(file):
    """Whether a file lies in the folder of a lesson, or of a pack's exercises."""
    return file.parent.name == "exercises" or file.parent.parent.name == "course"
