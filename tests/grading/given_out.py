"""The lessons of this repository as they are given out."""

from support import ROOT

from dpcourse.grading.judge.given import Release, blanks, release_of


def releases() -> dict[int, Release]:
    """lesson number -> Release."""
    return {number: release_of([file.read_bytes() for file in files], number) for number, files in blanks(ROOT).items()}
