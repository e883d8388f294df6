"""The language in which a learner is spoken to: chosen for a process by `language`, else by DPCOURSE_LANGUAGE, else English."""

import os
from pathlib import Path

ENGLISH = "en"
CHOICE = "DPCOURSE_LANGUAGE"
LESSONS = "[0-9][0-9]-*.ipynb"
PACKAGE = Path(__file__).resolve().parent
CATALOGUES = PACKAGE / "locale"
"""Where a language has a folder with what this package says in it."""

_chosen: list[str] = []  # the last one counts


def language(name: str) -> None:
    """Speak this language from now on in this process, such as "zh". Raises ValueError where it is not there."""
    _chosen.append(_known(name))


def chosen() -> str:
    """The language to speak, such as "zh". Raises ValueError where DPCOURSE_LANGUAGE names one that is not there.

    >>> chosen()
    'en'
    """
    return _chosen[-1] if _chosen else _known(os.environ.get(CHOICE) or ENGLISH)


def folders(package: Path = PACKAGE) -> dict[str, Path]:
    """language -> the folder of its blank lessons: English ones in the package or beside it, others in folders among them.

    Empty where this copy has no lessons.
    """
    english = next((folder for folder in _lessons(package) if any(folder.glob(LESSONS))), None)
    if english is None:
        return {}
    others = sorted(english.glob(f"[!.]*/{LESSONS}"))
    return {ENGLISH: english} | {file.parent.name: file.parent for file in others}


def _lessons(package):
    return package / "lessons", package.parent / "lessons"


def _known(name):
    there = sorted(
        {ENGLISH, *(each.name for folder in (*_lessons(PACKAGE), CATALOGUES) for each in folder.glob("[a-z]*/"))}
    )
    if name not in there:
        raise ValueError(f"there is no language {name!r}; there are: {', '.join(there)}")
    return name
