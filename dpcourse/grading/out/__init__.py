"""All that a run leaves in its folder for people and for an LMS; what an earlier run left of others is removed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from dpcourse.base.languages import listed, say
from dpcourse.grading import collect
from dpcourse.grading.keep.store import Row
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import feedback, gradebook, imports, report, returned

Answers = Callable[[str, int], Mapping[str, str]]


def write(
    rows: Sequence[Row],
    out: Path,
    settings: Settings | None = None,
    unread: Iterable[collect.Unread] = (),
    answers: Answers = lambda student, lesson: {},
    course: Path | None = None,
    moves: Iterable[Sequence] = (),
) -> list[str]:
    """Write gradebooks, imports, feedback and the report into a folder; what an instructor is to know of them.

    unread: the files that were not graded. answers(student, lesson): exercise id -> the student's code. course: the
    folder that holds lessons/ as given out. moves: the lines of changes.csv, the oldest first.

    All is in the language that is chosen; what students get is in theirs, see `feedback.language_of`.
    """
    settings = settings or Settings()
    gradebook.write(rows, out)
    told = imports.write(rows, out, settings)
    feedback.write(rows, out, settings)
    zips = returned.write(rows, out, settings)
    if zips:
        names = listed(zips, "{first}, {then}")
        pages = out / feedback.FOLDER
        told.append(say("Feedback to upload: {files}; the same as pages: {folder}.", files=names, folder=pages))
    if unclear := returned.without_own_name(rows):
        told.append(
            say(
                "The platform knows several by one name, so give these their page by hand: {students}.",
                students=collect.some(unclear),
            )
        )
    report.write(rows, out, unread, answers, course, moves)
    return told
