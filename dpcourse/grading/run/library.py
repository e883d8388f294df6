"""What of the course is within the reach of a student's code: the library, and nothing that is not named here."""

import pkgutil
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = ("base", "checking/calling", "dpsgd", "notebook", "pld", "surveys", "tradeoff")
TABLES = "course/*/*.npz"  # which pictures read


def parts() -> list[Path]:
    """The files and folders of the library: the modules on the package's top floor, FOLDERS, and TABLES."""
    folders = [PACKAGE / name for name in FOLDERS if (PACKAGE / name).is_dir()]
    return [*sorted(PACKAGE.glob("*.py")), *folders, *sorted(PACKAGE.glob(TABLES))]


def others() -> list[str]:
    """The names of the packages that are no part of it.

    >>> others()
    ['dpcourse.authoring', 'dpcourse.checking', 'dpcourse.commands', 'dpcourse.course', 'dpcourse.edition', 'dpcourse.grading']
    """
    found = pkgutil.iter_modules([str(PACKAGE)])
    return [f"{PACKAGE.name}.{each.name}" for each in found if each.ispkg and each.name not in FOLDERS]


def within(package: str) -> list[str]:
    """The names of the packages of the library that lie in one that is no part of it.

    >>> within("dpcourse.checking")
    ['dpcourse.checking.calling']
    """
    names = (f"{PACKAGE.name}.{folder.replace('/', '.')}" for folder in FOLDERS)
    return [name for name in names if name.startswith(f"{package}.")]
