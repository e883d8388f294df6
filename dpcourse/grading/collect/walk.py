"""Every file below a folder, or in an archive, once: no link is followed, nothing is unpacked, nothing is left out."""

import contextlib
import os
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from dpcourse import course
from dpcourse.base.languages import counted, say, to_say
from dpcourse.grading.collect import archives
from dpcourse.grading.collect.archives import MOST_FILES, OTHERS, UNPACK_IT, is_archive
from dpcourse.grading.collect.names import is_notebook
from dpcourse.grading.collect.platforms import of_platform
from dpcourse.grading.collect.reading import Unreadable, read, shown

MOST_DEEP, MOST_NESTED = 30, 2  # folders in folders; archives in archives: a platform's, and a student's in it
MOST_BYTES = 512 * 2**20  # of one student's notebooks
TOO_MANY = to_say(
    "there are more than {most:,} files before it: where this is a class, grade its folder or archive by itself"
)

OF_SYSTEMS = {
    ".DS_Store", ".git", ".gitattributes", ".github", ".gitignore", ".gitkeep", ".idea", ".ipynb_checkpoints",
    ".virtual_documents", ".vscode", "Thumbs.db", "__MACOSX", "__pycache__", "desktop.ini",
}  # fmt: skip
OF_HANDOUT = {"LICENSE", "README.md", "pyproject.toml", "requirements.txt", f"{course.GLOSSARY}.ipynb"}
PACKAGE = "dpcourse"  # the folder in which students are given the package
SETTINGS, RESULTS = "course.toml", "grades.sqlite"
ATTEMPT = re.compile(r"_attempt_\d{4}(-\d\d){5}\.txt$")  # what Blackboard writes beside each attempt
PASSED_OVER: dict[str, Callable[[int], str]] = {
    "dpcourse": lambda count: counted(
        "{count:,} file of dpcourse itself passed over.", "{count:,} files of dpcourse itself passed over.", count=count
    ),
    "handout": lambda count: counted(
        "{count:,} file of the handout passed over.", "{count:,} files of the handout passed over.", count=count
    ),
    "platform": lambda count: counted(
        "{count:,} file of the learning platform passed over.",
        "{count:,} files of the learning platform passed over.",
        count=count,
    ),
    "system": lambda count: counted(
        "{count:,} file of the system or of git passed over.",
        "{count:,} files of the system or of git passed over.",
        count=count,
    ),
}
"""What is passed over, and a sentence that says how much of it was."""
KINDS = {
    ".docx": to_say("it is no notebook (.ipynb) but a document of Word"),
    ".html": to_say(
        "it is no notebook (.ipynb) but a web page: a text typed into the platform, or a notebook that was exported"
    ),
    ".json": to_say("it is no notebook (.ipynb) but JSON; if it is a notebook, give it a name that ends in .ipynb"),
    ".md": to_say("it is no notebook (.ipynb) but text"),
    ".pdf": to_say("it is no notebook (.ipynb) but a PDF"),
    ".py": to_say("it is no notebook (.ipynb) but a program; a notebook that was exported has lost its cells"),
    ".txt": to_say("it is no notebook (.ipynb) but text; if it is a notebook, give it a name that ends in .ipynb"),
}


@dataclass(frozen=True)
class Found:
    """A file as it was found, or a folder in which a student could have handed in.

    parts: the names of its path, outermost first, archives among them as folders. path: where it is on disk; places:
    where in the archive that is there, and in archives in it. times: (how many names down, when it was changed) of each
    archive that it lies in, and last of itself. problem: why it is not read.
    """

    parts: tuple[str, ...]
    path: Path
    places: tuple[int, ...] = ()
    size: int = 0
    times: tuple[tuple[int, datetime | None], ...] = ()
    problem: str | None = None
    folder: bool = False

    @property
    def file(self) -> str:
        """Its path, to be shown."""
        return "/".join(map(shown, self.parts))

    @property
    def time(self) -> datetime | None:
        """When it was changed."""
        return self.times[-1][1] if self.times else None

    def handed_in(self, depth: int) -> datetime | None:
        """When the outermost thing was changed that lies so many names down: the student may have handed in that."""
        return next((time for down, time in self.times if down >= depth), None)

    @property
    def is_notebook(self) -> bool:
        """Whether it is to be read as a notebook."""
        return not self.folder and not self.is_hidden and is_notebook(self.parts[-1])

    @property
    def is_hidden(self) -> bool:
        """Whether its name, or that of a folder it lies in, begins with a dot."""
        return any(part.startswith(".") and part != ".." for part in self.parts)

    def content(self) -> bytes:
        """Its bytes. Raises Unreadable."""
        if self.problem:
            raise Unreadable(self.problem)
        return archives.content(self.path, self.places) if self.places else read(self.path)


@dataclass
class Walked:
    """What was found: files; folders, and archives that were looked into; what was passed over, and how much of it.

    repositories: the folders that git keeps.
    """

    files: list[Found] = field(default_factory=list)
    folders: list[Found] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    repositories: set[tuple[str, ...]] = field(default_factory=set)


def everything_in(folder: Path, roster: Path | None = None) -> Walked:
    """Everything below a folder, or in an archive. Raises Unreadable where that itself cannot be read."""
    walked = Walked()
    of_top: dict[str, list[Found]] = {}
    for found in _within(Found((), folder, folder=not is_archive(folder) or folder.is_dir())):
        of_top.setdefault(found.parts[0], []).append(found)
    for name in sorted(of_top, key=os.fsencode):
        _Top(walked, roster).walk(of_top[name])
    return walked


def _within(each):
    """What a folder holds, or an archive with all that lies in it. Raises Unreadable."""
    if not each.folder:
        return [
            Found(
                (*each.parts, *member.parts), each.path, (*each.places, member.place), member.size,
                (*each.times, (len(each.parts) + len(member.parts), member.time)), member.problem, member.folder,
            )
            for member in archives.members(each.path, each.places, is_class=not each.parts)
        ]  # fmt: skip
    try:
        return [_on_disk(each, entry) for entry in sorted(os.scandir(each.path), key=lambda e: os.fsencode(e.name))]
    except OSError as error:
        raise Unreadable(os.strerror(error.errno or 0)) from None


def _on_disk(outer, entry):
    parts, path = (*outer.parts, entry.name), Path(entry.path)
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Found(parts, path, problem=os.strerror(error.errno or 0))
    time = datetime.fromtimestamp(about.st_mtime, UTC)
    if entry.is_symlink():
        return Found(parts, path, problem=say("it is a link"))
    if entry.is_dir():
        return Found(parts, path, folder=True)
    problem = None if entry.is_file() else say("it is no ordinary file")
    return Found(parts, path, (), about.st_size, ((len(parts), time),), problem)


class _Top:
    """One thing at the top, which may be all that a student handed in; to walk it costs a bounded time."""

    def __init__(self, walked, roster):
        self.walked, self.roster = walked, roster
        self.files, self.bytes = 0, 0

    def walk(self, begin):
        """Take what there is, the shallowest first, and look into what holds more."""
        waiting = deque(begin)
        while waiting:
            each = waiting.popleft()
            passed_over = self._passed_over(each)
            if passed_over:
                self.walked.passed_over[passed_over] += 1
            elif each.problem is None and (each.folder or is_archive(each.parts[-1])):
                waiting.extend(self._opened(each))
            else:
                self._take(each)

    def _opened(self, each):
        if each.is_hidden and not each.folder:
            self._take(each)
            return []
        if each.folder and each.places:  # what is in it was listed with the archive
            self.walked.folders.append(each)
            return []
        self.files += 1
        try:
            if len(each.parts) > MOST_DEEP:
                raise Unreadable(say("folders lie more than {most} deep in each other", most=MOST_DEEP))
            if _nested(each) > MOST_NESTED:
                advice = say(UNPACK_IT)
                raise Unreadable(
                    say("archives lie more than {most} deep in each other: {advice}", most=MOST_NESTED, advice=advice)
                )
            if self.files > MOST_FILES:
                raise Unreadable(say(TOO_MANY, most=MOST_FILES))
            within = _within(each)
        except Unreadable as error:
            self.walked.files.append(replace(each, problem=error.why, folder=False))
            within = None
        if not each.is_hidden and (each.folder or within is not None):
            self.walked.folders.append(replace(each, folder=True))
        return within or []

    def _take(self, each):
        self.files += 1
        self.bytes += each.size if each.is_notebook else 0
        problem = each.problem
        if problem is None and each.is_hidden:
            problem = say("its name, or its folder's, begins with a dot: hidden files are not read")
        elif problem is None and self.files > MOST_FILES:
            problem = say(TOO_MANY, most=MOST_FILES)
        elif problem is None and self.bytes > MOST_BYTES:
            problem = say(
                "there are more than {most} MiB of notebooks before it: where this is a class, grade its folder or archive by itself",
                most=MOST_BYTES // 2**20,
            )
        elif problem is None and not each.is_notebook:
            problem = no_notebook(each.parts[-1])
        self.walked.files.append(replace(each, problem=problem))

    def _passed_over(self, each):
        """The key in PASSED_OVER of a file that is no student's work; None for every other."""
        *outer, name = each.parts
        if ".git" in each.parts:
            self.walked.repositories.add(each.parts[: each.parts.index(".git")])
        if OF_SYSTEMS.intersection(each.parts) or name.startswith("._") or name.endswith(".egg-info"):
            return "system"
        if not outer and not each.places and self._is_ours(each):
            return "dpcourse"
        if outer and not each.folder and (name in OF_HANDOUT or (PACKAGE in outer[1:] and not each.is_notebook)):
            return "handout"
        if not each.folder and ATTEMPT.search(name):
            return "platform"
        return None

    def _is_ours(self, each):
        """Whether it is the roster, the settings, or the results of an earlier run."""
        if each.problem:
            return False
        if not each.folder:
            return each.parts == (SETTINGS,) or (self.roster is not None and os.path.samefile(each.path, self.roster))
        if not os.path.isfile(each.path / RESULTS):
            return False
        with contextlib.suppress(Unreadable):
            return not any(within.is_notebook for within in _within(each))
        return False


def _nested(each):
    """How many archives lie in each other: in a student's, or around what a platform has named."""
    depth = next((depth for depth, part in enumerate(each.parts) if of_platform(part)), 0)
    around, within = each.parts[:depth], each.parts[depth:]
    return max(sum(map(is_archive, around)), sum(map(is_archive, within)))


def no_notebook(name: str) -> str:
    """Why a file of that name is not graded, and what to do.

    >>> no_notebook("essay.pdf")
    'it is no notebook (.ipynb) but a PDF'
    """
    name = name.lower()
    if name.endswith(OTHERS):
        return say("of archives only .zip is opened: {advice}", advice=say(UNPACK_IT))
    if name == "timestamp.txt":
        return say("it is no notebook (.ipynb), and says no time as nbgrader does: 2026-10-01 21:59:00 UTC")
    kind = next((kind for ending, kind in KINDS.items() if name.endswith(ending)), to_say("it is no notebook (.ipynb)"))
    return say(kind)
