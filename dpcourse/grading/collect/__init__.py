"""Find the submissions in a folder or archive, as a platform exports it, and read them without trusting a byte.

Who handed in is told by the names that the platform gave, never by anything inside a notebook. Nothing is left out
without a word: each file is a student's notebook of a lesson, or another one of it, or is listed with the reason why
it was not read.
"""

import contextlib
import functools
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from dpcourse.base.languages import ENGLISH, again, listed, say, to_say
from dpcourse.grading.collect import archives, times
from dpcourse.grading.collect.archives import is_archive
from dpcourse.grading.collect.names import Origin, identifier
from dpcourse.grading.collect.notebook import LARGE, Cell, code_cells, is_begun, lean, lesson_of
from dpcourse.grading.collect.platforms import MOODLE, PLATFORMS, PatternError, Patterns, origin, student_of
from dpcourse.grading.collect.platforms import own as own_pattern
from dpcourse.grading.collect.reading import Gone, Unreadable, decoded, file_name, in_a_row, read, shown, some
from dpcourse.grading.collect.roster import Roster, RosterError
from dpcourse.grading.collect.students import Refused, owners
from dpcourse.grading.collect.walk import PASSED_OVER, Found, everything_in

__all__ = [
    "LARGE", "Cell", "Collected", "Gone", "Origin", "PatternError", "Patterns", "Refused", "Roster", "RosterError",
    "Submission", "Unread", "Unreadable", "code_cells", "decoded", "file_name", "identifier", "in_a_row", "is_archive",
    "lesson_of", "origin", "own_pattern", "shown", "some", "student_of", "submissions",
]  # fmt: skip

NO_NOTEBOOK = to_say("there is no notebook in the folder")


@dataclass(frozen=True)
class Submission:
    """One student's notebook of one lesson.

    file: its name, to be shown; path: where it is; places: where in the archive that is there. digest: of its content.
    fault: why it cannot be read, where it cannot. also: other notebooks of the same lesson, whatever their language;
    alone: whether these can be read, no answer is written in any of them, and one is in this. submitted: when it was handed in (UTC),
    where that is told; late: whether the platform's name says that it was late. notes: sentences on how it was found.
    origin: what the platform says of it, as it was found here.
    """

    student: str
    lesson: int
    file: str
    path: Path
    digest: str
    fault: str | None = None
    also: tuple[str, ...] = ()
    submitted: datetime | None = None
    late: bool = False
    places: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    alone: bool = False
    origin: Origin | None = None

    def content(self) -> bytes:
        """The bytes that the digest is of, of a large notebook without its outputs.

        Raises Gone where they are no longer there, Unreadable where they are more than can be read.
        """
        try:
            content = archives.content(self.path, self.places) if self.places else read(self.path)
        except Unreadable as error:
            raise Gone(error.why) from None
        if _digest(content) != self.digest:
            raise Gone(say("it changes while it is being graded"))
        return lean(content)


@dataclass(frozen=True)
class Unread:
    """A file that is not graded: its path in the folder, and a sentence why.

    left_out: whether that is as asked for, because another lesson is graded.
    """

    path: str
    reason: str
    left_out: bool = False


@dataclass(frozen=True)
class Collected:
    """What was found: the submissions, the files that are not graded, and sentences about the whole."""

    submissions: tuple[Submission, ...]
    unread: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Submission]:
        return iter(self.submissions)

    def __len__(self) -> int:
        return len(self.submissions)


def submissions(
    folder: Path | str, lesson: int | None = None, roster: Roster | None = None, patterns: Patterns = PLATFORMS
) -> Collected:
    """All submissions below a folder or in a zip archive, by student and lesson; at most one for each of both.

    lesson: the number of the only lesson to look for; None: all, and each notebook tells by its name or its functions.
    roster: the students that there are; without one, the names tell. patterns: how students are told by names.
    Raises Refused where there is nothing to grade, or it cannot be told who handed in; that is a ValueError.
    """
    folder = Path(folder)
    try:
        walked = everything_in(folder, roster.path if roster else None)
    except Unreadable as error:
        raise Refused(say("{path} cannot be read: {reason}.", path=shown(str(folder)), reason=error.why)) from None
    return _Collecting(folder, walked, lesson, roster, patterns).collected()


@dataclass(frozen=True)
class _Notebook:
    """A notebook as it was found: its lesson where that could be told, and what its platform says of it.

    is_read: whether it has cells; is_begun: whether an answer is written in it. time: of its last change, as far as that tells anything; submitted: see Submission.
    """

    found: Found
    origin: Origin
    lesson: int | None
    digest: str
    fault: str | None
    is_read: bool
    is_begun: bool
    time: datetime | None
    submitted: datetime | None


@dataclass
class _Student:
    """All that a student handed in: notebooks, other files, and folders in which they could lie; what tells whose it is."""

    notebooks: list[_Notebook] = field(default_factory=list)
    others: list[Found] = field(default_factory=list)
    folders: list[Found] = field(default_factory=list)
    origins: dict[Found, Origin] = field(default_factory=dict)


class _Collecting:
    """From what was found to submissions."""

    def __init__(self, folder, walked, lesson, roster, patterns):
        self.folder, self.walked, self.asked, self.roster, self.patterns = folder, walked, lesson, roster, patterns
        self.unread: list[Unread] = []
        self.notes: list[str] = [*roster.notes] if roster else []

    def collected(self) -> Collected:
        """The Collected. Raises Refused."""
        looked = {each: _looked_at(each) for each in self.walked.files if each.is_notebook}
        lessons = {each: lesson for each, (lesson, *_) in looked.items()}
        known = self.roster.matches if self.roster else lambda name: []
        owned = owners(self.walked, lessons, self.folder, lambda name: bool(known(name)), self.patterns)
        self.notes += owned.notes
        told = times.told(self.walked, owned)
        students = self._students(owned, looked, told)
        usual = self.asked if self.asked is not None else _most_common(lessons.values())
        found = [each for name in sorted(students) for each in self._of(name, students[name], usual, owned.crowded)]
        if not found and not self.roster and not any(each.left_out for each in self.unread):
            self._refuse()
        self._say_what_was_passed_over()
        self._say_names_that_differ_in_case(students)
        unread = sorted(self.unread, key=lambda each: each.path)
        return Collected(tuple(found), tuple(unread), tuple(self.notes))

    def _students(self, owned, looked, told):
        students: dict[str, _Student] = defaultdict(_Student)
        filled = {each.parts[:depth] for each in self.walked.files for depth in range(1, len(each.parts))}
        for each in (*self.walked.files, *self.walked.folders):
            if each in told.used:
                continue
            origin = owned.of.get(each)
            name, reason = self._called(origin) if origin else (None, each.problem or self._no_ones())
            if name is None:
                if not each.folder or (origin and each.parts not in filled):
                    self._leave(each, reason)
            elif each.folder:
                students[name].folders.append(each)
            elif each in looked:
                lesson, digest, fault, *state = looked[each]
                time, submitted = told.changed(each, origin), told.submitted(each, origin)
                students[name].notebooks.append(_Notebook(each, origin, lesson, digest, fault, *state, time, submitted))
            else:
                students[name].others.append(each)
            if name is not None:
                students[name].origins[each] = origin
        return students

    def _no_ones(self):
        """Why nothing tells whose a file is."""
        if self.patterns.own:
            return say("its name is not as the pattern {pattern!r} says", pattern=self.patterns.own)
        return say("it lies in nobody's folder")

    def _called(self, origin):
        """(student, None), or (None, why it is nobody's)."""
        if not self.roster:
            return origin.student, None
        matches = self.roster.matches_in_group if origin.platform == MOODLE else self.roster.matches
        found = matches(origin.name, origin.number)
        if len(found) == 1:
            return found[0], None
        if found:
            names = listed(found, "{first} or {then}")
            return None, say(
                "{student} may be {names} of the roster: give them other names there",
                student=origin.student,
                names=names,
            )
        return None, say(
            "nobody in the roster {roster} is {student}: add them, or rename it",
            roster=shown(self.roster.path.name),
            student=origin.student,
        )

    def _of(self, name, student, usual, crowded):
        """The submissions of one student, by lesson."""
        if name in crowded:
            return self._crowded(name, student, usual, crowded[name])
        of_lesson: dict[int, list[_Notebook]] = defaultdict(list)
        for each in student.notebooks:
            lesson = usual if each.lesson is None else each.lesson
            if lesson is None:
                reason = each.fault or say("nothing in it tells its lesson")
                self._leave(each.found, say("{reason}: say it with --lesson", reason=reason))
            elif self.asked is not None and lesson != self.asked:
                reason = say("lesson {lesson}; asked for is lesson {asked}", lesson=lesson, asked=self.asked)
                self._leave(each.found, reason, left_out=True)
            else:
                of_lesson[lesson].append(each)
        if not student.notebooks:
            return self._without_notebook(name, student, usual)
        for each in student.others:
            self._leave(each)
        return [_submission(name, lesson, of_lesson[lesson]) for lesson in sorted(of_lesson)]

    def _without_notebook(self, name, student, lesson):
        """The submission of somebody who handed in no notebook: it says what there is in place of one."""
        others = [
            (each, say("{file}: {reason}", file=shown(each.parts[-1]), reason=each.problem)) for each in student.others
        ]
        place = student.folders[0] if student.folders else student.others[0]
        for each, _ in others:
            if each is not place or lesson is None:
                self._leave(each)
        if lesson is None:
            return []
        if len(others) == 1 and place is others[0][0]:
            fault = place.problem
        elif others:
            there = some(reason for _, reason in others)
            fault = say("there is no notebook in the folder, but {files}", files=there)
        else:
            fault = say(NO_NOTEBOOK)
        return [_faulty(name, lesson, place, fault, student.origins[place])]

    def _crowded(self, name, student, lesson, what):
        fault = say(
            "it holds the notebooks of several students, such as {names}: put each one's into a folder of their own",
            names=what,
        )
        for each in (*(notebook.found for notebook in student.notebooks), *student.others):
            self._leave(each, fault)
        place = next(iter(student.folders), student.notebooks[0].found)  # an archive need not list its folders
        return [] if lesson is None else [_faulty(name, lesson, place, fault, student.origins[place])]

    def _leave(self, each, reason=None, left_out=False):
        self.unread.append(Unread(each.file, reason or each.problem, left_out))

    def _refuse(self):
        there = some(say("{file} ({reason})", file=each.path, reason=each.reason) for each in self.unread)
        if any(each.is_notebook for each in self.walked.files):
            fault = say(
                "there is no notebook (.ipynb) whose lesson can be told in {folder}", folder=shown(str(self.folder))
            )
        else:
            fault = say("there is no notebook (.ipynb) in {folder}", folder=shown(str(self.folder)))
        raise Refused(say("{fault}; there is {files}", fault=fault, files=there) if there else fault)

    def _say_what_was_passed_over(self):
        for what, count in sorted(self.walked.passed_over.items()):
            self.notes.append(PASSED_OVER[what](count))

    def _say_names_that_differ_in_case(self, students):
        alike = defaultdict(list)
        for name in sorted(students):
            alike[name.casefold()].append(name)
        for names in alike.values():
            if len(names) > 1:
                self.notes.append(say("{names} are taken for different students.", names=_all(names)))


def _looked_at(each):
    """(lesson, digest, fault, whether it is a notebook with cells, whether an answer is written in it) of a file."""
    name, cells = each.parts[-1], []
    try:
        content = each.content()
    except Unreadable as error:
        return lesson_of(name, b""), _digest_of_fault(error.why), error.why, False, False
    digest, little = _digest(content), b""
    with contextlib.suppress(Unreadable):
        little = lean(content)
        cells = code_cells(little)
    lesson = lesson_of(name, little)
    return lesson, digest, None, bool(cells), is_begun(cells, lesson)


def _digest(content):
    return hashlib.sha256(content).hexdigest()


def _digest_of_fault(fault):
    return _digest(again(fault, ENGLISH).encode())


def _all(names):
    """Names, with an "and" between each two."""
    return functools.reduce(lambda first, then: listed([first, then]), names)


def _most_common(lessons):
    known = Counter(lesson for lesson in lessons if lesson is not None)
    return known.most_common(1)[0][0] if known else None


def _submission(student, lesson, notebooks):
    """The notebook that counts: one that can be read and has answers, the newest, the one with the plainest name."""
    first, why = times.newest(notebooks)
    others = sorted((each for each in notebooks if each is not first), key=lambda each: each.found.file)
    notes = []
    if others:
        files = some(other.found.file for other in others)
        notes.append(
            say(
                "{count} notebooks of this lesson; graded is {file} ({why}), not {others}",
                count=len(notebooks),
                file=first.found.file,
                why=why,
                others=files,
            )
        )
    if not first.found.parts[-1].lower().endswith(".ipynb"):
        name = shown(first.found.parts[-1])
        notes.append(say("the file is called {name}, and was read as the notebook that it holds", name=name))
    return Submission(
        student,
        lesson,
        first.found.file,
        first.found.path,
        first.digest,
        first.fault,
        tuple(other.found.file for other in others),
        first.submitted,
        first.origin.late,
        first.found.places,
        tuple(notes),
        first.is_begun and all(other.is_read and not other.is_begun for other in others),
        first.origin,
    )


def _faulty(student, lesson, found, fault, origin):
    about = {"late": origin.late, "places": found.places, "origin": origin}
    return Submission(student, lesson, found.file, found.path, _digest_of_fault(fault), fault, **about)
