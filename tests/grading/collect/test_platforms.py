"""What a platform said of a submission is the same however it is packed, wherever it lies, with a roster and without.

And the outputs ask only that: imports have the platform's ids, feedback the names that it takes back.
"""

import re
import zipfile

import pytest
from grading.rows import graded

from dpcourse.grading import collect
from dpcourse.grading.keep.store import Store
from dpcourse.grading.marks.marking import marked
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.outputs import imports, returned

from .test_intake import lesson, put, zipped

STAMP = b"2026-10-01 21:59:00 UTC"
FILE = "01-composition.ipynb"
CLASSES = {
    "moodle": [f"Kim Lee_77_assignsubmission_file/{FILE}", f"王伟_78_assignsubmission_file/{FILE}"],
    "moodle without folders": [f"Kim Lee_77_assignsubmission_file_{FILE}", f"王伟_78_assignsubmission_file_{FILE}"],
    "canvas": [f"leekim_LATE_77_98765_{FILE}", f"王伟_78_98766_{FILE}"],
    "anonymous canvas": [f"anon_ab1cd_98765_{FILE}", f"LATE_anon_Zb1c9_98766_{FILE}"],
    "blackboard": [f"HW_leekim_attempt_2026-10-01-09-30-00_{FILE}", f"HW_wangwei_attempt_2026-10-01-09-31-00_{FILE}"],
    "github": [
        *(f"hw-one-{user}/lessons/{FILE}" for user in ("leekim", "wangwei")),
        *((f"hw-one-{user}/.git/HEAD", b"ref") for user in ("leekim", "wangwei")),
    ],
    "nbgrader": [
        *(f"submitted/{user}/ps1/{FILE}" for user in ("leekim", "wangwei")),
        *((f"submitted/{user}/ps1/timestamp.txt", STAMP) for user in ("leekim", "wangwei")),
    ],
    "a folder each": [f"Kim Lee/{FILE}", "王伟/my own name.ipynb"],
    "a file each": ["Kim Lee.ipynb", "王伟.ipynb"],
}
ROSTER = "name,id,login,email\nKim Lee,20260077,leekim,anon_ab1cd@x.org\n王伟,20260078,wangwei,anon_Zb1c9@x.org\n"
PLATFORM = {"moodle without folders": "moodle", "anonymous canvas": "canvas", "a folder each": "", "a file each": ""}


def archive(files):
    return zipped(*((name, content) for name, content in map(_with_content, files)))


def _with_content(file):
    return file if isinstance(file, tuple) else (file, lesson(text=f"# {file}"))


FORMS = {
    "folder": lambda folder, files: put(folder / "in", *files),
    "zip": lambda folder, files: put(folder, ("in.zip", archive(files))) / "in.zip",
    "zip in a folder": lambda folder, files: put(folder / "in", ("DP-Homework 1-12345.zip", archive(files))),
    "folder in a folder": lambda folder, files: put(folder / "in" / "export (2)", *files).parent,
    "zip in a folder in a folder": lambda folder, files: put(folder / "in", ("all/submissions.zip", archive(files))),
    "folder in a zip in a folder": lambda folder, files: put(
        folder / "in", ("submissions.zip", archive([(f"Homework 1/{name}", content) for name, content in map(_with_content, files)]))
    ),
    "zip in a zip": lambda folder, files: put(folder, ("all.zip", zipped(("in.zip", archive(files))))) / "all.zip",
    "two zips in a folder": lambda folder, files: put(
        folder / "in",
        ("hw-1.zip", archive([each for each in files if _is_of_first(each)])),
        ("hw-2.zip", archive([each for each in files if not _is_of_first(each)])),
    ),
}  # fmt: skip


def _is_of_first(file):
    return re.search("[Kk]im|anon_ab1", _with_content(file)[0]) is not None


def told(folder, roster, out):
    """What is made of a class: student -> what is known of the submission, and what the outputs make of it."""
    found = collect.submissions(folder, roster=roster)
    assert not found.unread
    with Store(":memory:") as store:
        for each in found:
            store.save(each, "grader", graded(each.lesson))
        rows = marked(store.rows(), Settings(), [])
    out.mkdir()
    imports.write(rows, out, Settings())
    returned.write(rows, out, Settings())
    return {
        "students": [
            (each.student, each.origin.platform, each.origin.number, each.late, each.submitted, each.fault)
            for each in found
        ],
        "imports": {file.name: _ids(file.read_text(encoding="utf-8")) for file in out.glob("*.csv")},
        "feedback": sorted(name for file in out.glob("*.zip") for name in zipfile.ZipFile(file).namelist()),
    }


def _ids(text):
    return re.findall(r"^[^,\n]*,\d*,|^Participant \d+", text, re.MULTILINE)


@pytest.mark.parametrize("with_roster", [False, True])
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_the_same_in_every_form(tmp_path, name, with_roster):
    roster = None
    if with_roster:
        (tmp_path / "class.csv").write_text(ROSTER, encoding="utf-8")
        roster = collect.Roster.read(tmp_path / "class.csv")
    forms = {}
    for form, made in FORMS.items():
        (tmp_path / form).mkdir()
        forms[form] = told(made(tmp_path / form, CLASSES[name]), roster, tmp_path / form / "out")
    expected = forms["folder"]
    if name in ("a folder each", "a file each"):  # times are those of files
        for each in forms.values():
            each["students"] = [(*about[:4], None, *about[5:]) for about in each["students"]]
        if not with_roster:
            forms.pop("two zips in a folder")  # each holds one student: nothing tells that it is none's
    assert {form: each for form, each in forms.items() if each != expected} == {}
    students = expected["students"]
    assert len(students) == 2
    assert {platform for _, platform, *_ in students} == {PLATFORM.get(name, name)}
    if with_roster:
        assert [student for student, *_ in students] == ["Kim Lee_20260077", "王伟_20260078"]
    if PLATFORM.get(name, name) in ("moodle", "canvas") and "anonymous" not in name:
        [file] = expected["imports"]
        assert file.startswith(PLATFORM.get(name, name))
        assert all(any(number in line for line in expected["imports"][file]) for number in ("77", "78"))
        assert all("77" in each or "78" in each for each in expected["feedback"])
