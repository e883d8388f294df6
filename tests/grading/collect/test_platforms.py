"""What a platform said of a submission is the same however it is packed, wherever it lies, with a roster and without.

And the outputs ask only that: imports have the platform's ids, feedback the names that it takes back.
"""

import json
import os
import re
import zipfile

import pytest
from grading.rows import graded
from support import by_profile

from dpcourse.grading import collect
from dpcourse.grading.collect import Origin, PatternError, own_pattern
from dpcourse.grading.collect.platforms import PLATFORMS
from dpcourse.grading.keep.store import DATABASE, Store
from dpcourse.grading.marks.marking import marked
from dpcourse.grading.marks.settings import Settings
from dpcourse.grading.out import imports, returned
from dpcourse.grading.out.known_as import platform_of

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


SOME_FORMS = by_profile("forms of a class, for each platform", list(FORMS.items())[:4], list(FORMS.items()))


@pytest.mark.parametrize("with_roster", [False, True])
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_the_same_in_every_form(tmp_path, name, with_roster):
    roster = None
    if with_roster:
        (tmp_path / "class.csv").write_text(ROSTER, encoding="utf-8")
        roster = collect.Roster.read(tmp_path / "class.csv")
    forms = {}
    for form, made in SOME_FORMS:
        (tmp_path / form).mkdir()
        forms[form] = told(made(tmp_path / form, CLASSES[name]), roster, tmp_path / form / "out")
    expected = forms["folder"]
    if name in ("a folder each", "a file each"):  # times are those of files
        for each in forms.values():
            each["students"] = [(*about[:4], None, *about[5:]) for about in each["students"]]
        if not with_roster:
            forms.pop("two zips in a folder", None)  # each holds one student: nothing tells that it is none's
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


def test_a_moodle_archive_in_a_folder_with_a_roster_goes_back_to_moodle(tmp_path):
    (tmp_path / "class.csv").write_text("student\nKim Lee\n王伟\n", encoding="utf-8")
    found = FORMS["zip in a folder"](tmp_path, CLASSES["moodle"])
    made = told(found, collect.Roster.read(tmp_path / "class.csv"), tmp_path / "out")
    assert [student for student, *_ in made["students"]] == ["Kim Lee", "王伟"]
    assert made["imports"] == {"moodle-01.csv": ["Participant 77", "Participant 78"]}
    assert made["feedback"] == [f"{name}_assignsubmission_file_/feedback.html" for name in ("Kim Lee_77", "王伟_78")]


# ---- other forms of a class


def of_class(folder, roster="", **options):
    """student -> (platform, file) of what is graded."""
    if roster:
        (folder.parent / "class.csv").write_text(roster, encoding="gb18030")
        options["roster"] = collect.Roster.read(folder.parent / "class.csv")
    found = collect.submissions(folder, **options)
    return {each.student: (each.origin.platform, each.file) for each in found if each.fault is None}


LOGINS = "姓名,学号,登录名,github\nKim Lee,1001,leekim,kim-l\n王伟,1002,wangwei,wangw\nJean-Luc O'Neill,1003,jo,jl-on\n"
OTHER_FORMS = {
    "Moodle's groups": (
        [f"Group A-Jean-Luc O'Neill_79_assignsubmission_file/{FILE}", f"组-1-王伟_80_assignsubmission_file/{FILE}"],
        {"Jean-Luc O'Neill_1003", "王伟_1002"},
        {"Group A-Jean-Luc O'Neill_79", "组-1-王伟_80"},
    ),
    "Moodle's typed text beside a file": (
        [f"Kim Lee_77_assignsubmission_file_/{FILE}", ("Kim Lee_77_assignsubmission_onlinetext_/onlinetext.html", b"")],
        {"Kim Lee_1001"},
        {"Kim Lee_77"},
    ),
    "a Mac's archive": (
        [("in.zip", zipped(*CLASSES["moodle"], (f"__MACOSX/Kim Lee_77_assignsubmission_file/._{FILE}", b"")))],
        {"Kim Lee_1001", "王伟_1002"},
        {"Kim Lee_77", "王伟_78"},
    ),
    "Windows' separators": (
        [("in.zip", zipped(*(file.replace("/", "\\") for file in CLASSES["moodle"])))],
        {"Kim Lee_1001", "王伟_1002"},
        {"Kim Lee_77", "王伟_78"},
    ),
    "archives in an archive": (
        [("all.zip", zipped(("submissions.zip", zipped(("leekim_1_2_w.zip", zipped(FILE)), "wangwei_2_3_x.ipynb"))))],
        {"Kim Lee_1001", "王伟_1002"},
        {"leekim_1", "wangwei_2"},
    ),
    "an archive called as a student's": (
        [("Homework_01_2026_submissions.zip", zipped("leekim_1_2_x.ipynb", "wangwei_3_4_x.ipynb"))],
        {"Kim Lee_1001", "王伟_1002"},
        {"leekim_1", "wangwei_3"},
    ),
    "an archive for each lesson": (
        [(f"hw-{n}.zip", zipped(*((f"{name}/x.ipynb", lesson(n)) for name in ("leekim", "wangwei")))) for n in (1, 3)],
        {"Kim Lee_1001", "王伟_1002"},
        {"leekim", "wangwei"},
    ),
    "a folder for each lesson": (
        [f"第{n}次作业/{name}.ipynb" for n in (1, 2) for name in ("leekim", "王伟")],
        {"Kim Lee_1001", "王伟_1002"},
        {"leekim", "王伟"},
    ),
    "GitHub, packed, an archive each": (
        [(f"{p}.zip", zipped(*(f for u in ("kim-l", "wangw") for f in (f"{p}-{u}/x.ipynb", (f"{p}-{u}/.git/HEAD", b""))))) for p in ("hw1", "hw2")],
        {"Kim Lee_1001", "王伟_1002"},
        {"kim-l", "wangw"},
    ),
    "GitHub, one repository": (
        [f"export/hw-one-kim-l/{FILE}", ("export/hw-one-kim-l/.git/HEAD", b"")],
        {"Kim Lee_1001"},
        {"hw-one-kim-l"},
    ),
    "GitHub, what git left taken out": ([f"hw-{u}/{FILE}" for u in ("kim-l", "wangw")], {"Kim Lee_1001", "王伟_1002"}, {"hw-kim-l", "hw-wangw"}),
    "Moodle's folders in one that is called as nbgrader's": (
        [f"submitted/{file}" for file in CLASSES["moodle"]],
        {"Kim Lee_1001", "王伟_1002"},
        {"Kim Lee_77", "王伟_78"},
    ),
    "nbgrader, one student": ([f"a/b/submitted/leekim/ps1/{FILE}"], {"Kim Lee_1001"}, {"leekim"}),
    "a class of which one has handed in": ([("submissions.zip", zipped(f"leekim/{FILE}"))], {"Kim Lee_1001"}, {"leekim"}),
    "numbers and names": (["1002王伟.ipynb", "1001 Kim Lee.ipynb"], {"Kim Lee_1001", "王伟_1002"}, {"1002王伟", "1001 Kim Lee"}),
    "Canvas' names with digits and underscores": (
        ["kim2_1234_98765_x.ipynb", "7up_1235_98766_x.ipynb", "o_neill_1236_98767_x.ipynb"],
        set(),
        {"kim2_1234", "7up_1235", "o_neill_1236"},
    ),
    "students' own files that are called as a platform's": (
        ["leekim_1234_98765_wangwei_1235_98766_x.ipynb", f"Bo_5_assignsubmission_file/王伟_78_assignsubmission_file/{FILE}",
         f"Ann_6_assignsubmission_file/submitted/wangwei/ps1/{FILE}"],
        {"Kim Lee_1001"},
        {"leekim_1234", "Bo_5", "Ann_6"},
    ),
    "the same in plain folders": (
        [f"leekim/王伟_78_assignsubmission_file/{FILE}", f"jo/submitted/wangwei/ps1/{FILE}", f"ann/hw-wangw/{FILE}"],
        {"Kim Lee_1001", "Jean-Luc O'Neill_1003"},
        {"leekim", "jo", "ann"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_whose_a_notebook_is_in_other_forms_of_a_class(tmp_path, form):
    files, by_roster, by_names = OTHER_FORMS[form]
    put(tmp_path / "in", *files)
    assert set(of_class(tmp_path / "in", LOGINS)) == by_roster
    assert set(of_class(tmp_path / "in")) == by_names


def test_an_archive_beside_files_is_a_class_where_the_roster_shows_it_and_a_students_is_not(tmp_path):
    held = zipped("Kim Lee_77_assignsubmission_file/x.ipynb", "王伟_78_assignsubmission_file/x.ipynb")
    put(tmp_path / "in", ("export 2.zip", held), "jo.ipynb")
    assert set(of_class(tmp_path / "in", LOGINS)) == {"Kim Lee_1001", "王伟_1002", "Jean-Luc O'Neill_1003"}
    put(tmp_path / "theirs", ("jo.zip", held), "wangwei.ipynb")
    assert set(of_class(tmp_path / "theirs", LOGINS)) == {"王伟_1002", "Jean-Luc O'Neill_1003"}


def test_somebody_who_is_not_in_the_roster_is_nobody_of_it(tmp_path):
    put(tmp_path / "in", f"Ann-Lee_55_assignsubmission_file/{FILE}", "Luc_5_6_x.ipynb")
    assert of_class(tmp_path / "in", "name,login\nKim Lee,lee\nBo Luc,bo-luc\n") == {}


def test_names_that_windows_in_china_writes_into_an_archive_are_read(tmp_path):
    names = ["王伟_80_assignsubmission_file_/作业hw1.ipynb", "誠_81_assignsubmission_file_/x.ipynb"]
    held = zipped(*((f"{n}" + "x" * (len(name.encode("gbk")) - 1), lesson()) for n, name in enumerate(names)))
    for n, name in enumerate(names):
        held = held.replace(f"{n}".encode() + b"x" * (len(name.encode("gbk")) - 1), name.encode("gbk"))
    put(tmp_path / "in", ("in.zip", held))
    for folder in (tmp_path / "in", tmp_path / "in" / "in.zip"):
        assert set(of_class(folder)) == {"王伟_80", "誠_81"}
        assert all(each.content() for each in collect.submissions(folder))


def test_the_time_of_a_download_is_nobodys(tmp_path):
    """Two archives of plain folders, downloaded a week apart: what counts is when a student's own file was changed."""
    for week, name in enumerate(("hw-1.zip", "hw-2.zip")):
        put(tmp_path / "in", (name, zipped(*((f"{s}/x.ipynb", lesson(1 + 2 * week)) for s in ("kim", "lee")))))
        os.utime(tmp_path / "in" / name, (1e9 + week * 7 * 86400,) * 2)
    assert all(each.submitted is None or each.submitted.year > 2020 for each in collect.submissions(tmp_path / "in"))


# ---- a pattern of one's own


@pytest.mark.parametrize(
    ("pattern", "path", "student", "late"),
    [
        ("{name}_{number}_{file}", "all/Kim Lee_77_x.ipynb", "Kim Lee_77", False),
        ("hw1-{name}-{number}{late}", "hw1-kim-77-LATE.ipynb", "kim_77", True),
        ("{number}-{name}-{file}", "20260077-王伟-作业.ipynb", "王伟_20260077", False),
        ("{name}/{file}", "class.zip/kim/lee/x.ipynb", "kim", False),
        ("{name}.zip/{file}", "kim.zip/x.ipynb", "kim", False),
        (r"(?P<number>\d+)(?P<name>\D+)", "77Kim.ipynb", "Kim_77", False),
        (
            r"\w+?_(?P<name>\w+)_attempt_(?P<time>[0-9-]+)_.*",
            "ps1_kim_attempt_2016-01-30-15-00-00_x.ipynb",
            "kim",
            False,
        ),
    ],
)
def test_a_pattern_of_ones_own_tells_whose_a_file_is_in_every_form(tmp_path, pattern, path, student, late):
    archive, _, name = path.partition(".zip/")
    put(tmp_path / "in", (f"{archive}.zip", zipped(name)) if name else path)
    put(tmp_path / "in", "odd.ipynb")
    found = collect.submissions(tmp_path / "in", patterns=own_pattern(pattern))
    assert [(each.student, each.late) for each in found] == [(student, late)]
    assert [each.origin.lms for each in found] == [""]
    assert [odd.reason for odd in found.unread] == [f"its name is not as the pattern {pattern!r} says"]
    if "attempt" in pattern:
        assert [each.submitted.year for each in found] == [2016]


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (
            "{nam}_{file}",
            r"'{nam}_{file}' has {nam} where it cannot be\. It may have each of {name}, {number}, .* as {name}_{number}_{file}",
        ),
        ("{name}_{name}", "has {name} where it cannot be"),
        ("{number}_{file}", "does not say where the student's name stands"),
        ("", "does not say where the student's name stands"),
        ("(?P<name>", "is no regular expression"),
        ("(?P<who>.+)", "does not say where the student's name stands"),
        ("(?P<name>.*)", "fits a name of no letters"),
        ("{name", "has a bracket without a partner"),
        ("name}_{name}", "has a bracket without a partner"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_what_would_be_right(pattern, says):
    with pytest.raises(PatternError, match=says):
        own_pattern(pattern)


# ---- what is stored


def test_what_the_platform_said_is_stored_and_comes_back():
    for name in ("Kim Lee_77_assignsubmission_file", "HW_kim_attempt_2026-10-01-09-30-00_x", "anon_ab1cd_98_x", "kim"):
        origin = PLATFORMS.at([name]) or Origin("", name, given=name)
        assert Origin.of_data(json.loads(json.dumps(origin.as_data()))) == origin


@pytest.mark.parametrize("odd", ["Kim\udcff Lee", "Kim\u202e Lee", "Kim\nLee"])
def test_names_that_are_no_text_are_stored_and_written_too(tmp_path, odd):
    files = [f"{odd}_77_assignsubmission_file/x.ipynb", f"{odd}_78_98765_x.ipynb", f"{odd}.ipynb"]
    found = collect.submissions(put(tmp_path / "in", *files))
    with Store(tmp_path / DATABASE) as store:
        for each in found:
            store.save(each, "grader", graded(1))
        rows = marked(store.rows(), Settings(), [])
    assert [row.origin for row in rows] == [each.origin for each in found]
    (tmp_path / "out").mkdir()
    imports.write(rows, tmp_path / "out", Settings())
    returned.write(rows, tmp_path / "out", Settings())
    names = zipfile.ZipFile(tmp_path / "out" / "feedback-01.zip").namelist()
    assert [name for name in names if name.isprintable()] == names


def test_rows_of_an_earlier_edition_are_told_by_their_paths_and_forgotten_damage_too(tmp_path):
    found = collect.submissions(FORMS["folder"](tmp_path, CLASSES["moodle"]))
    with Store(tmp_path / DATABASE) as store:
        for each in found:
            store.save(each, "grader", graded(1))
        before = [platform_of(row) for row in store.rows()]
        for stored in ("", "{}", "[1]", "no JSON", '{"platform": 3, "name": "x"}'):
            store.database.execute("UPDATE results SET origin = ?", [stored])
            assert [row.origin for row in store.rows()] == [None, None]
            assert [platform_of(row) for row in store.rows()] == before
        store.database.execute("ALTER TABLE results DROP COLUMN origin")
        store.database.execute("PRAGMA user_version = 2")
    with Store(tmp_path / DATABASE) as store:
        assert [platform_of(row) for row in store.rows()] == before
        assert [row.result.score for row in store.rows()] == [graded(1).score] * 2
        store.seen(found, "folder")
        assert [row.origin for row in store.rows()] == before
