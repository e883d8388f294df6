"""The marks as Canvas and Moodle import them: a file for each lesson, with the students only who have a mark in it.

Neither file can clear a mark that is there: an empty cell would clear one in Canvas, so nobody has an empty cell. A
lesson that is as it was given out is no attempt, and is left out; whoever is left out is told, with the reason.

Canvas finds a student by the number in the name of their file, else by the name itself. Moodle finds them by the
participant's number alone, and reads its columns by their English names.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from dpcourse.base.files import write_atomically
from dpcourse.base.languages import ENGLISH, again, counted, listed, say, sentences, to_say
from dpcourse.checking import BLANK
from dpcourse.grading.collect import Origin, in_a_row, some
from dpcourse.grading.keep.store import Row
from dpcourse.grading.marks.marking import exported
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out.gradebook import title
from dpcourse.grading.out.known_as import name_of, number_of, platform_of, platforms_of
from dpcourse.grading.out.returned import comment
from dpcourse.grading.out.tables import as_csv, number
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, UNREADABLE

CANVAS, MOODLE = "canvas", "moodle"
CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE_COLUMNS = (
    "Identifier",
    "Full name",
    "Status",
    "Grade",
    "Maximum grade",
    "Last modified (grade)",
    "Feedback comments",
)

ABOUT_CANVAS = to_say(
    "Canvas: Grades, Import, with one canvas-NN.csv at a time. It asks which assignment a column is unless an assignment "
    "has exactly the column's name; course.toml can say another name."
)
ABOUT_MOODLE = to_say(
    'Moodle: in the assignment, "Upload grading worksheet" with its moodle-NN.csv, and tick "Allow updating records that '
    'have been modified more recently in Moodle than in the spreadsheet": without it, changed marks are passed over in '
    "silence. Set your language to English for the upload. Maximum grade of the assignment: {maxima}."
)


def write(rows: Sequence[Row], out: Path, settings: Settings) -> list[str]:
    """Write canvas-NN.csv and moodle-NN.csv into a folder, for each lesson that has marks; what to know of them."""
    told, written, maxima = [], set(), {}
    for lesson in sorted({row.lesson for row in rows}):
        files: dict[str, list[Row]] = {CANVAS: [], MOODLE: []}
        left_out: dict[str, list[str]] = {}
        counts = []
        mine = [row for row in rows if row.lesson == lesson]
        of = platforms_of(mine)
        by_name = "" if any(platform_of(row).lms == MOODLE for row in mine) else CANVAS
        for row in mine:
            lms = of(row).lms or by_name
            if reason := why_not(row, lms):
                left_out.setdefault(reason, []).append(row.student)
            else:
                files[lms].append(row)
        for lms, text_of in ((CANVAS, canvas), (MOODLE, moodle)):
            if files[lms]:
                file = out / f"{lms}-{lesson:02}.csv"
                write_atomically(file, text_of(files[lms], settings, of))
                written.add(file)
                count = len(files[lms])
                counts.append(
                    counted("{file} has {count} mark", "{file} has {count} marks", count=count, file=file.name)
                )
                maxima[lms, lesson] = exported(files[lms][0])[1]
                if lms == MOODLE:
                    told += _above(files[lms])
        what = listed(counts) or say("no mark to import")
        line = [say("{lesson}: {files}.", lesson=title(lesson), files=what)]
        if left_out:
            line.append(say("Left out: {students}.", students=in_a_row(map(_without, left_out, left_out.values()))))
        told.append(sentences(line))
    for lms in (CANVAS, MOODLE):
        for file in set(out.glob(f"{lms}-[0-9][0-9]*.csv")) - written:
            file.unlink()
    if any(lms == CANVAS for lms, _ in maxima):
        told.append(say(ABOUT_CANVAS))
    if of_moodle := [
        say("{points} for {lesson:02}", points=number(most), lesson=lesson)
        for (lms, lesson), most in maxima.items()
        if lms == MOODLE
    ]:
        told.append(say(ABOUT_MOODLE, maxima=listed(of_moodle, "{first}, {then}")))
    return told


def _without(reason, names):
    return say("{count} {reason} ({students})", count=len(names), reason=reason, students=some(names))


def why_not(row: Row, lms: str) -> str | None:
    """Why a row has no mark that a platform could import; None where it has one."""
    result = row.result
    if row.stale:
        return say("no longer in the folder")
    if result.score is None:
        reasons = {
            MISSING: to_say("nothing was handed in"),
            UNREADABLE: to_say("not readable"),
            INFRASTRUCTURE: to_say("not graded yet"),
        }
        return say(reasons.get(result.status, to_say("not graded")))
    untouched = bool(result.exercises) and all(mark.state == BLANK and not mark.points for mark in result.exercises)
    if untouched and not row.by_hand and not row.bonus:
        return say("as it was given out")
    if lms not in (CANVAS, MOODLE):
        if lms:
            return say("known to neither Canvas nor Moodle, but to {platform}", platform=lms.title())
        return say("known to neither Canvas nor Moodle")
    if platform_of(row).lms and not platform_of(row).number:
        return say("without the number by which the platform knows a student")
    return None


def canvas(rows: Iterable[Row], settings: Settings, of: Callable[[Row], Origin] = platform_of) -> str:
    """The import of one lesson for Canvas, whose third line on is a student each."""
    rows = list(rows)
    lesson = rows[0].lesson
    column = settings.of(lesson).column or again(title(lesson), ENGLISH)  # its name in Canvas does not change
    maximum = number(exported(rows[0])[1])
    lines: list[tuple] = [(*CANVAS_COLUMNS, column), ("    Points Possible", "", "", "", "", maximum)]
    for row in rows:
        lines.append((name_of(row), number_of(of(row)), "", "", "", _score(row)))
    return as_csv(lines)


def moodle(rows: Iterable[Row], settings: Settings, of: Callable[[Row], Origin] = platform_of) -> str:
    """The offline grading worksheet of one assignment for Moodle, with the feedback as comments."""
    lines: list[tuple] = [MOODLE_COLUMNS]
    for row in rows:
        _, maximum = exported(row)
        known = f"Participant {of(row).number}"
        status = "Submitted for grading"
        lines.append((known, name_of(row), status, _score(row), number(maximum), "", comment(row, settings)))
    return as_csv(lines)


def _score(row):
    score, _ = exported(row)
    return number(score)


def _above(rows):
    """One line on the scores that are above what the LMS gives."""
    scores = [(row.student, *exported(row)) for row in rows]
    found = [f"{student} ({number(score)})" for student, score, most in scores if score > most]
    if found:
        yield (
            say(
                "Above the maximum of {points}, which Moodle passes over in silence: {students}. Raise the maximum there, or "
                "set `maximum` in course.toml.",
                points=number(scores[0][-1]),
                students=some(found),
            )
        )
