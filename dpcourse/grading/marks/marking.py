"""From what submissions are worth by themselves to the marks that count: course.toml, lateness, what is set by hand.

This is done whenever results are read, for all of them, and nothing of it is stored: marks made on two days, or before
and after course.toml has changed, are on one scale.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpcourse import course
from dpcourse.base.languages import counted, say
from dpcourse.checking import ERROR, RIGHT, WRONG, Exercise
from dpcourse.course import Lesson
from dpcourse.grading.keep.store import ByHand, Row, Taken
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.result import INFRASTRUCTURE, MISSING, NO_SCORE, UNJUDGED, Mark, without_points

BONUS = ""  # what stands in place of an exercise where points are given beside all of them


def marked(rows: Iterable[Row], settings: Settings, history: Sequence[ByHand] = ()) -> list[Row]:
    """The rows as they count. history: all that was set by hand, the oldest first.

    Points are those of course.toml; an excluded exercise has 0 of 0. What came late loses a share of its score; what is
    given beside the exercises is not touched by that. Where the judge of an exercise that counts has failed, there is no
    score, until it is mended, or a mark set by hand. A row of a lesson that is not there any more is left out.
    """
    known = {lesson.number: lesson for lesson in course.lessons()}
    current = in_force(history)
    return [_marked(row, known[row.lesson], settings, current) for row in rows if row.lesson in known]


def in_force(history: Iterable[ByHand]) -> dict[tuple[str, int, str], ByHand]:
    """(student, lesson, exercise id or BONUS) -> what is set by hand there now, exercises under their ids."""
    found = {(each.student, each.lesson, now_called(each)): each for each in history}
    return {
        (student, lesson, id): each
        for (student, lesson, id), each in found.items()
        if id is not None and each.points is not None
    }


def now_called(given: ByHand) -> str | None:
    """The id of the exercise that was set by hand; None where there is none of that name any more."""
    if given.exercise == BONUS:
        return BONUS
    lesson = next((each for each in course.lessons() if each.number == given.lesson), None)
    ids = {exercise.function: exercise.id for exercise in lesson.exercises} if lesson else {}
    if given.function:
        return ids.get(given.function)
    return next((id for id in ids.values() if id == course.id_of(given.exercise)), None)


def vanished(rows: Sequence[Row], history: Iterable[ByHand]) -> list[str]:
    """What is stored of lessons and exercises that the course has no more, a sentence each; it counts for nothing."""
    stored = {row.lesson for row in rows}
    known = {
        each.number: {exercise.id for exercise in each.exercises} for each in course.lessons() if each.number in stored
    }
    found: dict[str, set[str]] = {}
    for row in rows:
        if row.lesson not in known:
            found.setdefault(say("lesson {lesson}", lesson=row.lesson), set()).add(row.student)
        for mark in row.result.exercises:
            if row.lesson in known and mark.id not in known[row.lesson]:
                found.setdefault(say("exercise {exercise}", exercise=mark.number), set()).add(row.student)
    gone: list[str] = [
        counted(
            "There is no {what} any more: what is stored of it, for {count} student, does not count.",
            "There is no {what} any more: what is stored of it, for {count} students, does not count.",
            count=len(students),
            what=what,
        )
        for what, students in found.items()
    ]
    return gone + [
        say(
            "What was set by hand for {student} in {what} ({reason}) does not count: there is no such exercise any more.",
            student=each.student,
            what=course.number_of(each.exercise) if each.exercise else each.lesson,
            reason=each.reason,
        )
        for each in {(each.student, each.lesson, each.exercise): each for each in history}.values()
        if each.points is not None and now_called(each) is None
    ]


def exported(row: Row) -> tuple[float | None, float]:
    """(score, the most there is) on the scale of the LMS; no score where there is none."""
    score, points = row.result.score, row.result.points
    if row.maximum is None or not points:
        return score, points
    return (None if score is None else neat(score * row.maximum / points)), neat(row.maximum)


def neat(number: float) -> float:
    """The number without the dust of binary fractions, whole where it is whole.

    >>> neat(0.1 + 0.2), neat(3.0)
    (0.3, 3)
    """
    number = round(number, 6)
    return int(number) if number == int(number) else number


# ---- one row


def _marked(row: Row, lesson: Lesson, settings: Settings, current) -> Row:
    mine = {
        id: each for (student, number, id), each in current.items() if (student, number) == (row.student, row.lesson)
    }
    bonus = mine.pop(BONUS, None)
    stored = {mark.id: mark for mark in row.result.exercises}
    marks = tuple(
        _mark(stored.get(exercise.id), exercise, settings, mine.get(exercise.id))
        for exercise in lesson.exercises
        if exercise.id in stored or exercise.id in mine
    )
    points = neat(sum(settings.points_of(exercise) for exercise in lesson.exercises))
    due = settings.due(row.student, row.lesson)
    of = settings.of(row.lesson)
    found = replace(row, due=due, extended=due != of.deadline, maximum=of.maximum, by_hand=mine, bonus=bonus)
    score, late = None, _taken(found, 0, settings) if row.result.status != MISSING else None
    faults = tuple(_fault(mark) for mark in marks if mark.state == UNJUDGED and mark.out_of and mark.id not in mine)
    if not faults and (row.result.status not in NO_SCORE or mine or bonus):
        judged = math.fsum(mark.points for mark in marks)
        late = _taken(found, judged, settings)
        whole = with_bonus(replace(found, late=late, result=replace(row.result, exercises=marks)))
        score = neat(max(0.0, whole if settings.bonus or not bonus else min(whole, points)))
    result = replace(row.result, score=score, points=points, exercises=marks)
    if faults:
        result = replace(result, status=INFRASTRUCTURE, notes=(*faults, *result.notes))
    return replace(found, late=late, result=result)


def _fault(mark):
    return say("exercise {exercise}: {reason}", exercise=mark.number, reason=mark.fault)


def with_bonus(row: Row) -> float:
    """What the marks, lateness and bonus of a row come to, which may be above the lesson's points or below 0."""
    judged = math.fsum(mark.points for mark in row.result.exercises)
    taken, given = row.late.points if row.late else 0, (row.bonus.points or 0) if row.bonus else 0
    return neat(judged - taken + given)


def _mark(mark: Mark | None, exercise: Exercise, settings: Settings, by_hand: ByHand | None) -> Mark:
    """The mark of one exercise, with the points that it counts."""
    out_of = settings.points_of(exercise)
    mark = mark or without_points(exercise, ERROR, say("It was not judged."))
    if by_hand is not None:
        share = _share(by_hand.points or 0, by_hand.out_of or exercise.points)
        return replace(mark, points=neat(share * out_of), out_of=neat(out_of), override=by_hand.reason)
    share = 1.0 if mark.state == RIGHT else _share(mark.points, mark.out_of)
    if mark.state == WRONG:
        share = max(share, settings.credit_of(mark.id, mark.misconception))
    return replace(mark, points=neat(share * out_of), out_of=neat(out_of), override=None)


def _share(points, out_of):
    return points / out_of if out_of else 0.0


def _taken(row: Row, score: float, settings: Settings) -> Taken | None:
    """What lateness takes of a score."""
    if row.due is None or row.submitted is None:
        says = say("The LMS calls it late, and not by how much: nothing is taken.")
        return Taken(0, says) if row.said_late else None
    seconds = (row.submitted - row.due).total_seconds()
    if seconds <= settings.late.grace_minutes * 60 or seconds <= 0:
        return None
    kept = settings.late.kept(seconds)
    until = row.due.strftime("%Y-%m-%d %H:%M %Z").strip()
    duration = _duration(seconds)
    late_by = {
        "duration": duration,
        "deadline": say("{deadline}, with more time", deadline=until) if row.extended else until,
    }
    if kept < 1:
        says = say(
            "Handed in {duration} after the deadline ({deadline}): {percent:.3g} % of the score is taken.",
            percent=100 * (1 - kept),
            **late_by,
        )
    else:
        says = say("Handed in {duration} after the deadline ({deadline}): nothing is taken.", **late_by)
    return Taken(neat(score * (1 - kept)), says, duration)


def _duration(seconds: float) -> str:
    """A time in words.

    >>> _duration(90), _duration(3 * 86400 + 7200)
    ('1 minute', '3 days and 2 hours')
    """
    minutes = int(seconds // 60)
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [
        *([counted("{count} day", "{count} days", count=days)] if days else []),
        *([counted("{count} hour", "{count} hours", count=hours)] if hours else []),
        *([counted("{count} minute", "{count} minutes", count=minutes)] if minutes else []),
    ]
    if not parts:
        return say("less than a minute")
    return say("{longer} and {shorter}", longer=parts[0], shorter=parts[1]) if len(parts) > 1 else parts[0]
