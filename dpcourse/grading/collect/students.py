"""Whose each file is: by the names of a learning platform, or by the file or folder at the top.

A student names what lies in their own folder, so nothing there tells who they are. Only where all that was handed in
lies deeper (a class in one folder, a platform's names in folders) is the student looked for below; that is said, and
where it would be a guess, nothing is graded. An archive is a folder here.
"""

import functools
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from dpcourse import course
from dpcourse.base.languages import listed, say
from dpcourse.grading.collect.names import Origin, stem
from dpcourse.grading.collect.platforms import GITHUB, PLATFORMS, Patterns
from dpcourse.grading.collect.reading import shown, words
from dpcourse.grading.collect.walk import Found, Walked

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
submissions submit submitted task temp test tests tmp try untitled v version week work
archive class export exports zip
"""
OF_CHINESE = """
差分隐私 作业 练习 习题 实验 课程 课后 课堂 答案 解答 最终 终版 定稿 初稿 草稿 修改 修订 更新 提交 重交 补交 备份 副本 复件 新建 未命名
文件夹 笔记本 文档 完成 已改 改后 版本 版 第 次 周 课 章 节 一 二 三 四 五 六 七 八 九 十
"""
OF_WORDS = re.compile("|".join(sorted(OF_CHINESE.split(), key=len, reverse=True)))
NO_NAMES = frozenset(WORDS.split())  # what files are called that are not called by a person's name


class Refused(ValueError):
    """A folder in which it cannot be told who handed in; says what would help."""


@dataclass
class Owners:
    """Who each file and folder is from; of no one where it is not in the dict.

    crowded: students whose folder looks like several students', with what in it does. depth: how many names of its
    path a file has down to what its student, or the platform, has named first. notes: sentences on how it was told.
    """

    of: dict[Found, Origin] = field(default_factory=dict)
    crowded: dict[str, str] = field(default_factory=dict)
    depth: dict[Found, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def owners(
    walked: Walked,
    lessons: Mapping[Found, int | None],
    folder: Path,
    known: Callable[[str], bool] = lambda name: False,
    patterns: Patterns = PLATFORMS,
) -> Owners:
    """The Owners of all that was found in a folder. Raises Refused.

    lessons: of the notebooks, where they are told. known(name): whether that is a student in the roster.
    """
    return _Telling(walked, lessons, folder, known, patterns).owners()


class _Telling:
    """From the folder inwards: what holds several students is gone into, until each thing at the top is one's.

    roots: the folders in which students are told apart; a top is a path of one more name.
    """

    def __init__(self, walked, lessons, folder, known, patterns):
        self.walked, self.lessons, self.folder, self.known, self.patterns = walked, lessons, folder, known, patterns
        self.around_repositories = {each[:depth] for each in walked.repositories for depth in range(len(each))}
        self.roots: list[tuple[str, ...]] = [()]
        self.tops: dict[tuple[str, ...], list[Found]] = {}
        self.found = Owners()

    def owners(self) -> Owners:
        """See above."""
        while True:
            self.tops = self._tops()
            self._refuse_nbgrader()
            holding = [top for top in self.tops if self._notebooks(top)]
            if holding and all(map(self._is_export, holding)):
                self._go_into(holding)
                continue
            outside = [top for top in holding if not all(self._at_top(each, top) for each in self._notebooks(top))]
            holders = [top for top in outside if self._is_folder(top) and self._all_told(top)]
            if self.patterns.own:  # what it does not fit is nobody's; it tells at the top, or where nothing there fits
                holders = [top for top in outside if self._is_folder(top)] if outside == holding else []
                break
            if outside == holders:
                break
            crowds = {top: crowd for top in outside if not self.known(stem(top[-1])) and (crowd := self._crowd(top))}
            inner = self._roots_within(crowds, holding)
            if not inner:
                holders = [top for top in holders if self._is_of_no_student(top)]
                self.found.crowded = {shown(stem(top[-1])): crowds[top] for top in crowds if top not in holders}
                break
            self._go_into(inner)
        self._tell(set(holders))
        if holders:
            where = listed([shown(top[-1]) for top in holders], "{first}, {then}")
            self.found.notes.append(say("The students are told by the platform's names in {folders}.", folders=where))
        return self.found

    def _go_into(self, roots):
        self.roots = roots
        where = listed(["/".join(map(shown, root)) for root in roots], "{first}, {then}")
        self.found.notes.append(say("The students are told by what lies in {path}.", path=where))

    def _is_export(self, top):
        """Whether a platform's names of several students lie in what is called as one's, as "HW_01_2026_all.zip" is."""
        is_told = any(self.patterns.at([part]) for part in top[-1:])
        students = {told.student for each in self._notebooks(top) if (told := self._below(each, top))}
        return is_told and len(students) > 1 and self._all_told(top)

    def _tops(self):
        tops = defaultdict(list)
        for each in (*self.walked.files, *self.walked.folders):
            root = next((root for root in self.roots if each.parts[: len(root)] == root != each.parts), None)
            if root is not None:
                tops[each.parts[: len(root) + 1]].append(each)
        return dict(sorted(tops.items(), key=lambda item: list(map(os.fsencode, item[0]))))

    def _notebooks(self, top):
        return [each for each in self.tops[top] if each in self.lessons]

    def _is_folder(self, top):
        return any(_is_within(each, top) for each in self.tops[top])

    def _at_top(self, each, top):
        """What the platform's pattern says of a file from the top on; that may be of the folder around it too."""
        outer = top[-2] if len(top) > 1 else self.folder.name
        parts = each.parts[len(top) - 1 :]
        return self.patterns.at(parts, each.folder) or self.patterns.at_path((outer, *parts), each.folder)

    def _below(self, each, top):
        return self.patterns.within(each.parts[len(top) :], each.folder)

    def _all_told(self, top):
        return all(self._below(each, top) for each in self._notebooks(top))

    def _crowd(self, top):
        return _crowd(self._notebooks(top), self.lessons, top, self.patterns)

    def _is_of_no_student(self, top):
        """Whether the roster shows that a folder beside students is none's: it is not in it, and all within are."""
        told = {self._below(each, top).name for each in self._notebooks(top)}
        return not self.known(stem(top[-1])) and all(map(self.known, told))

    def _roots_within(self, crowds, holding):
        """The folders in which students are told apart, if all at the top are several students', or nobody's; else none.

        Raises Refused where that would be a guess.
        """
        if len(crowds) > 1 and len(crowds) == len(holding) and any(name_in(stem(top[-1])) for top in crowds):
            first, second = list(crowds)[:2]
            raise Refused(
                say(
                    'In {folder} the folders "{first}" and "{second}" each hold the notebooks of several students. '
                    "Name one of them: `dpcourse grade {path}`.",
                    folder=shown(str(self.folder)),
                    first=shown(first[-1]),
                    second=shown(second[-1]),
                    path=shown(str(self.folder.joinpath(*first))),
                )
            )
        among = bool(crowds) or len(holding) == 1
        roots = [
            _common(self._notebooks(top)) if top in crowds else top
            for top in holding
            if top in crowds or self._is_nobodys(top, among)
        ]
        return roots if len(roots) == len(holding) else []

    def _is_nobodys(self, top, among):
        """Whether a folder with the work of one is no student's but a class', by its own name and by those below.

        among: whether it lies alone, or with folders of several students.
        """
        if not self._is_folder(top) or self.known(stem(top[-1])) or self._at_top(self._notebooks(top)[0], top):
            return False
        if top in self.around_repositories:
            return True
        names = {stem(part) for each in self._notebooks(top) for part in each.parts[len(top) :]}
        is_in_roster, is_named = any(map(self.known, names)), bool(name_in(stem(top[-1])))
        return (is_in_roster and (among or not is_named)) or (among and not is_named and any(map(name_in, names)))

    def _tell(self, holders):
        """Note whose each file is, and where that is told."""
        users = {top: user for root in self.roots for top, user in self._users(root).items()}
        for top, files in self.tops.items():
            is_ones = (
                top not in holders and not self.patterns.own and not any(self._at_top(each, top) for each in files)
            )
            for each in files:
                origin = self._at_top(each, top) or (self._below(each, top) if top in holders else None)
                if is_ones:
                    origin = self._plain(each, top, users)
                if origin is not None:
                    self.found.of[each] = origin
                    self.found.depth[each] = each.parts.index(origin.given, len(top) - 1) + 1

    def _plain(self, each, top, users):
        """The student after whom what lies at the top is called; None where nothing tells that it is one's."""
        name = top[-1]
        if name.startswith("."):
            return None
        if top in users:
            return Origin(GITHUB, users[top], given=name)
        if _is_within(each, top) or each.is_notebook or (each.problem and os.path.isdir(each.path)):
            return Origin("", stem(name), given=name)
        name = PurePath(name).stem
        return Origin("", name, given=top[-1]) if self.known(name) else None

    def _refuse_nbgrader(self):
        names = {top[-1] for top in self.tops}
        if "submitted" in names and NBGRADER.intersection(names):
            raise Refused(
                say(
                    "{folder} is a course of nbgrader, solutions and all. Name the folder of what was handed in: "
                    "`dpcourse grade {path}`.",
                    folder=shown(str(self.folder)),
                    path=shown(str(self.folder / "submitted")),
                )
            )

    def _users(self, root):
        """top -> GitHub's user, for the repositories that GitHub Classroom made: they are called ASSIGNMENT-USER.

        The user is one that the roster knows; else the assignment is the name of a lesson, or of the folder that they
        were cloned into, or what all begin with, there or, where there is but one, anywhere.
        """
        tops = [top for top in self.tops if top[:-1] == root]
        is_alike = bool(_begin_of_all([top[-1] for top in tops if self._notebooks(top)]))
        users = {top: user for top in tops if (user := self._user_of_roster(top, is_alike))}
        repositories = {top: top[-1] for top in self.tops if top in self.walked.repositories}
        names = {top: name for top, name in repositories.items() if top[:-1] == root and top not in users}
        outer = stem(root[-1] if root else self.folder.name)
        begins = [f"{lesson.name}-" for lesson in course.lessons()]
        if outer.endswith(REPOSITORIES):
            begins.append(f"{outer.removesuffix(REPOSITORIES)}-")
        others = [name for name in names.values() if not name.startswith(tuple(begins))]
        common = _begin_of_all(others if len(others) > 1 else [*repositories.values()])
        return users | {
            top: name.removeprefix(next(filter(name.startswith, begins), common)) for top, name in names.items()
        }

    def _user_of_roster(self, top, is_alike):
        """The longest end of a folder's name, behind a hyphen, that the roster knows, where it knows no whole; or "".

        It is a repository, or, where what git has left was taken out, one of several that begin alike (is_alike).
        """
        name = top[-1]
        ends = [name[place + 1 :] for place, sign in enumerate(name) if sign == "-"]
        if not (is_alike or top in self.walked.repositories) or not self._is_folder(top) or self.known(stem(name)):
            return ""
        return next(filter(self.known, ends), "")


def _is_within(each, top):
    return each.folder or len(each.parts) > len(top)


def _crowd(notebooks, lessons, top, patterns):
    """What in a folder looks like several students, in words; "" where nothing does.

    That is notebooks from different students by a platform's names, or of one lesson with different names of people,
    in one folder or in folders beside each other.
    """
    by_platform, by_name = set(), defaultdict(dict)
    for each in notebooks:
        told = patterns.within(each.parts[len(top) :])
        if told is not None:
            by_platform.add(told.student)
        for depth in range(len(top), len(each.parts)):
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
    >>> name_in("第2次作业 最终版"), name_in("王伟 作业3")
    ('', '王伟')
    """
    no_names = NO_NAMES | _words_of_lessons()
    spoken = words(re.sub(NUMBER, " ", shown(text).casefold()))
    names = (word for word in spoken if word not in no_names and word.rstrip(DIGITS) not in no_names)
    return " ".join(word for word in names if OF_WORDS.sub("", word).strip(DIGITS))


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


def _begin_of_all(names):
    """What all names of repositories begin with, up to a hyphen; nothing where there is but one."""
    begin = _begin(names) if len(names) > 1 else ""
    return begin[: begin.rfind("-") + 1]
