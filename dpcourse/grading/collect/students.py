"""Whose each file is: by the names of a learning platform, or by the file or folder at the top.

A student names what lies in their own folder, so nothing there tells who they are. Only where all that was handed in
lies deeper (a class in one folder, a platform's names in folders) is the student looked for below; that is said, and
where it would be a guess, nothing is graded.
"""

import functools
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from dpcourse import course
from dpcourse.grading.collect.names import Origin, of_platform, stem
from dpcourse.grading.collect.reading import shown, words
from dpcourse.grading.collect.walk import Found, Walked
from dpcourse.languages import listed, said

NBGRADER = {"source", "release", "autograded", "feedback"}  # what lies beside its folder "submitted"
REPOSITORIES = "-submissions"  # how GitHub Classroom ends the name of the folder that it clones into
NUMBER = (
    r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\D?\d{4,6})?|(?<![^\W_])\d{1,4}(?!\d)"  # a date, or short
)
DIGITS = "0123456789"
WORDS = """
a answer answers assignment assignments attempt attempts b backup c checkpoint code copy correct corrected course
desktop document documents done download downloads dp draft edit edited exercise exercises final finished first fixed
homework homeworks hw ipynb kopie lab last latest lesson lessons main mine my new notebook notebooks of old part play
playground practice privacy project repo rev revised scratch second section solution solutions solved src submission
submissions submit submitted task temp test tests tmp try untitled v version week work 副本
"""
NO_NAMES = frozenset(WORDS.split())  # what files are called that are not called by a person's name


class Refused(ValueError):
    """A folder in which it cannot be told who handed in; says what would help."""


@dataclass
class Owners:
    """Who each file and folder is from; of no one where it is not in the dict.

    crowded: students whose folder looks like several students', with what in it does. root: the folder within which
    students are told apart.
    """

    of: dict[Found, Origin] = field(default_factory=dict)
    crowded: dict[str, str] = field(default_factory=dict)
    root: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def owners(walked: Walked, lessons: Mapping[Found, int | None], folder: Path, known: Callable[[str], bool]) -> Owners:
    """The Owners of all that was found in a folder. Raises Refused.

    lessons: of the notebooks, where they are told. known(name): whether that is a student in the roster.
    """
    found = Owners()
    while True:
        tops = _tops(walked, found.root)
        _refuse_nbgrader(tops, folder)
        told = {top: of_platform(top) for top in tops}
        holding = [top for top in tops if any(each in lessons for each in tops[top])]
        folders = [top for top in holding if told[top] is None and any(_is_within(e, found.root) for e in tops[top])]
        if all(told[top] or top in folders for top in holding) and all(
            _all_told(tops[top], lessons, found.root) for top in folders
        ):
            break
        crowds = {
            top: crowd for top in folders if not known(stem(top)) and (crowd := _crowd(tops[top], lessons, found.root))
        }
        if not crowds or len(crowds) < len(holding):
            folders, found.crowded = [], {shown(stem(top)): crowd for top, crowd in crowds.items()}
            break
        if len(crowds) > 1:
            first, second = list(crowds)[:2]
            raise Refused(
                said(
                    'In {folder} the folders "{first}" and "{second}" each hold the notebooks of several students. '
                    "Name one of them: `dpcourse grade {path}`.",
                    folder=shown(str(folder)),
                    first=shown(first),
                    second=shown(second),
                    path=shown(str(folder.joinpath(*found.root, first))),
                )
            )
        found.root = _common(each for each in lessons if each.parts[: len(found.root)] == found.root)
        path = "/".join(map(shown, found.root))
        found.notes.append(said("The students are told by what lies in {path}.", path=path))
    users = _users(found.root[-1] if found.root else folder.name, tops, walked.repositories, found.root)
    for top, files in tops.items():
        for each in files:
            origin = _origin(each, top, told[top], top in folders, found.root, users, known)
            if origin is not None:
                found.of[each] = origin
    if folders:
        where = listed(map(shown, folders), "{first}, {then}")
        found.notes.append(said("The students are told by the platform's names in {folders}.", folders=where))
    return found


def _tops(walked, root):
    tops = defaultdict(list)
    for each in (*walked.files, *walked.folders):
        if each.parts[: len(root)] == root and len(each.parts) > len(root):
            tops[each.parts[len(root)]].append(each)
    return dict(sorted(tops.items(), key=lambda item: os.fsencode(item[0])))


def _is_within(each, root):
    return each.folder or len(each.parts) > len(root) + 1


def _origin(each, top, told, is_holder, root, user, known):
    """Who a file or folder is from; None where nothing tells."""
    if told is not None or top.startswith("."):
        return told
    if is_holder:
        return next(filter(None, map(of_platform, each.parts[len(root) + 1 :])), None)
    if _is_within(each, root) or each.is_notebook or (each.problem and os.path.isdir(each.path)):
        return Origin("", user.get(top) or stem(top))
    name = PurePath(top).stem
    return Origin("", name) if known(name) else None


def _refuse_nbgrader(tops, folder):
    if "submitted" in tops and NBGRADER.intersection(tops):
        raise Refused(
            said(
                "{folder} is a course of nbgrader, solutions and all. Name the folder of what was handed in: "
                "`dpcourse grade {path}`.",
                folder=shown(str(folder)),
                path=shown(str(folder / "submitted")),
            )
        )


def _all_told(files, lessons, root):
    return all(any(map(of_platform, each.parts[len(root) + 1 :])) for each in files if each in lessons)


def _crowd(files, lessons, root):
    """What in a folder looks like several students, in words; "" where nothing does.

    That is notebooks from different students by a platform's names, or of one lesson with different names of people,
    in one folder or in folders beside each other.
    """
    by_platform, by_name = set(), defaultdict(dict)
    for each in files:
        if each not in lessons:
            continue
        told = next(filter(None, map(of_platform, each.parts[len(root) + 1 :])), None)
        if told is not None:
            by_platform.add(told.student)
        for depth in range(len(root) + 1, len(each.parts)):
            name = name_in(stem(each.parts[depth]))
            if name:
                by_name[each.parts[:depth], lessons[each]].setdefault(name, stem(each.parts[depth]))
    for names in (by_platform, *map(_of_people, by_name.values())):
        if len(names) > 1:
            first, second, *_ = sorted(map(shown, names))
            return listed([first, second])
    return ""


def _of_people(names):
    """What is shown of the names that are different people's: kim2 beside kim is a copy, lee1 beside lee2 is not."""
    return [shown for name, shown in names.items() if (bare := name.rstrip(DIGITS)) == name or bare not in names]


def name_in(text: str) -> str:
    """What of a name may be a person's: without what names of lessons, versions and copies hold.

    >>> name_in("01-composition final (2)"), name_in("Kim_Lee 01-composition-Copy1"), name_in("lee2"), name_in("hw2")
    ('', 'kim lee', 'lee2', '')
    """
    no_names = NO_NAMES | _words_of_lessons()
    spoken = words(re.sub(NUMBER, " ", shown(text).casefold()))
    return " ".join(word for word in spoken if word not in no_names and word.rstrip(DIGITS) not in no_names)


@functools.cache
def _words_of_lessons():
    return {word for lesson in course.lessons() for word in (*re.split(r"\W+", lesson.name.casefold()), lesson.word)}


def _common(files: Iterable[Found]) -> tuple[str, ...]:
    """The folder that all of the files lie in."""
    return _begin([each.parts[:-1] for each in files])


def _begin(sequences):
    """What all of the sequences begin with."""
    first, last = min(sequences), max(sequences)
    common = next((i for i, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:common]


def _users(outer, tops, repositories, root):
    """top -> GitHub's user, for the repositories that GitHub Classroom made: they are called ASSIGNMENT-USER.

    The assignment is the name of a lesson, or of the folder that they were cloned into, or what all begin with.
    """
    names = [top for top in tops if (*root, top) in repositories]
    of_lesson = [f"{lesson.name}-" for lesson in course.lessons()]
    users = {name: name.removeprefix(begin) for name in names for begin in of_lesson if name.startswith(begin)}
    rest = [name for name in names if name not in users]
    begin = f"{outer.removesuffix(REPOSITORIES)}-"
    if not (outer.endswith(REPOSITORIES) and all(name.startswith(begin) for name in rest)):
        begin = _begin(rest) if len(rest) > 1 else ""
        begin = begin[: begin.rfind("-") + 1]
    return users | {name: name.removeprefix(begin) for name in rest}
