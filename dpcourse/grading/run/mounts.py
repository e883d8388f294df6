"""What of this machine a sandbox holds, and bubblewrap's arguments for it: what is named here, and nothing else.

That is the system's programs and their libraries, the standard library of Python, and of each folder on the worker's path
what the distributions there say that they have put into it. The course's distribution does not count, wherever one lies,
and what no distribution names is not there: copies of the course, clones, wheels. Of the one course that grades there is
its library (`library.parts`), put where it was imported from.
"""

import contextlib
import functools
import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from dpcourse.grading.run import library, warm

PREFIXES = ("/", "/usr", "/usr/local", sys.base_prefix, sys.prefix)
PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "include", "pyvenv.cfg")
OF_SHARE = ("fonts", "fontconfig", "git-core", "i18n", "locale", "mime", "misc", "perl", "perl5", "tcltk", "terminfo", "texlive", "texmf", "texmf-dist", "zoneinfo")  # fmt: skip
OF_ETC = ("alternatives", "ld.so.cache", "localtime")
PACKAGES = ("python*/site-packages", "python*/dist-packages", "*/lib/python*/site-packages")  # in a folder of libraries
MODULES = (".py", ".so")
ABOUT = (".dist-info", ".egg-info")  # the ends of the names of what tells of a distribution

Arguments = Iterator[tuple[str, ...]]


@functools.cache
def arguments() -> tuple[str, ...]:
    """The arguments with which bubblewrap makes a sandbox's files, but for what the kernel makes, and for /tmp."""
    made = [*_system(), *_packages(), *_library()]
    empty = [("--remount-ro", each[-1]) for each in made if "--tmpfs" in each]
    return tuple(chain.from_iterable([*made, *empty]))


def folders_to(path: str | Path) -> Iterator[str]:
    """The arguments that make the folders in which a path lies."""
    for parent in reversed(Path(path).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(parent))


# ---- the system, and the standard library


def _parts() -> dict[str, str]:
    """Each file and folder of PREFIXES that is shown -> where it really lies."""
    names = [*PARTS, *(f"share/{name}" for name in OF_SHARE)]
    paths = [os.path.join(prefix, name) for prefix in PREFIXES for name in names]
    return {path: os.path.realpath(path) for path in paths if os.path.exists(path)}


def _system() -> Arguments:
    parts = _parts()
    for path, real in parts.items():
        if os.path.islink(path) and real in parts:
            yield (*folders_to(path), "--symlink", os.readlink(path), path)
        else:
            yield (*folders_to(path), "--ro-bind", path, path)
    for name in OF_ETC:
        yield (*folders_to(f"/etc/{name}"), "--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _is_within(path, folders):
    return any(Path(path).is_relative_to(folder) for folder in folders)


# ---- packages


def _packages() -> Arguments:
    """The folders of packages: those on the worker's path as they are named, all others empty."""
    shown = [path for path in _parts() if not os.path.islink(path)]
    real: dict[str, str] = {}
    for folder in _path():
        real.setdefault(os.path.realpath(folder), folder)
    for folder in _folders_of_packages(shown):
        if os.path.realpath(folder) not in real:
            yield ("--tmpfs", folder)
    for folder in real.values():
        yield from _as_named(folder, _is_within(folder, shown))


def _folders_of_packages(shown) -> Iterator[str]:
    for path in shown:
        for pattern in PACKAGES if Path(path).name.startswith("lib") else ():
            yield from map(str, Path(path).glob(pattern))


def _path() -> list[str]:
    """What is on the worker's path beside the standard library."""
    standard = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    standard |= {os.path.join(folder, "lib-dynload") for folder in standard}
    return [folder for folder in warm.path() if folder not in standard and os.path.exists(folder)]


def _as_named(folder: str, is_shown: bool) -> Arguments:
    """A folder with what is named of it, by the fewest mounts; is_shown: whether all of it is shown so far."""
    if os.path.isfile(folder):
        if _named(folder):
            yield (*folders_to(folder), "--ro-bind", folder, folder)
        return
    there = set(os.listdir(folder))
    named = there & _named(folder)
    rest = [os.path.join(folder, name) for name in sorted(there - named)]
    if len(rest) < len(named):
        if not is_shown:
            yield (*folders_to(folder), "--ro-bind", folder, folder)
        yield from (_nothing_at(path) for path in rest if not os.path.islink(path))  # a link shows nothing new
        return
    if is_shown:
        yield ("--tmpfs", folder)
    for path in (os.path.join(folder, name) for name in sorted(named)):
        yield (*folders_to(path), "--ro-bind", path, path)


def _nothing_at(path) -> tuple[str, ...]:
    """An empty folder, or a device that cannot be opened, in the place of what lies there."""
    return ("--perms", "0755", "--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", "/dev/null", path)


def _named(folder: str) -> set[str]:
    """What lies in a folder on the path and is named: by a distribution there, where there are any; else modules."""
    course = library.PACKAGE.name
    found = [(each, _name_of(each)) for each in importlib.metadata.distributions(path=[folder])]
    if os.path.isfile(folder):  # an egg, all or nothing
        return {folder} if found and course not in [name for _, name in found] else set()
    names = set(os.listdir(folder))
    modules = {name for name in names if _is_a_module(Path(folder, name))}
    if not found:
        return modules - {course}
    ours = {put for each, name in found if name == course for put in _put_by(each, name, names, set())}
    others = {put for each, name in found if name != course for put in _put_by(each, name, names, modules)}
    lead_elsewhere = {name for name in names if name.endswith(".pth")} - ours  # to folders that are on the path, too
    return {*others, *lead_elsewhere} - {course}


def _is_a_module(path):
    return (path / "__init__.py").is_file() or (path.suffix in MODULES and path.is_file())


def _name_of(distribution):
    """Its name, written in one way; nothing where what tells of it cannot be read."""
    with contextlib.suppress(Exception):
        return _in_one_way(distribution.name)
    return ""


def _in_one_way(name):
    return name.lower().replace("-", "_").replace(".", "_")


def _put_by(
    distribution: importlib.metadata.Distribution, name: str, names: Iterable[str], modules: set[str]
) -> set[str]:
    """Those of the names in its folder that a distribution of this name has put there: by its record, or else by the tops of its modules.

    modules: those that lie there, which count where it says neither, as Debian's often do.
    """
    record = distribution.read_text("RECORD")
    if not name:
        return set()
    if record is not None:
        return {line.lstrip('"').split(",")[0].split("/")[0] for line in record.splitlines()}
    tops = distribution.read_text("top_level.txt")
    about = {each for each in names if each.endswith(ABOUT) and _in_one_way(each.split("-")[0]) == name}
    return about | ({each for each in names if each.split(".")[0] in tops.split()} if tops else modules)


# ---- the course


def _library() -> Arguments:
    """An empty folder where the course lies, and in it the library."""
    package = str(library.PACKAGE)
    yield (*folders_to(package), "--perms", "0755", "--tmpfs", package)
    for part in map(str, library.parts()):
        yield (*folders_to(part), "--ro-bind", part, part)
