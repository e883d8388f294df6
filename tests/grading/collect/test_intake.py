"""Whatever is in the folder of a class: each file is a student's notebook, or named with the reason why it is not read."""

import contextlib
import io
import json
import os
import socket
import stat
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT

from dpcourse import course
from dpcourse.grading import collect
from dpcourse.grading.collect import archives, notebook, walk

KIND = {1: "01-composition.ipynb", 3: "03-gdp.ipynb"}
LONG_AGO = datetime(2026, 10, 1, 12, tzinfo=UTC).timestamp()


def lesson(number=1, text=""):
    """A notebook that tells its lesson by a check."""
    source = f'check("{number}.1", f)\n{text}'
    cell = {"cell_type": "code", "source": source, "id": "a", "metadata": {}, "outputs": []}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def put(folder, *files):
    """Files, by their paths: notebooks of lesson 01, or bytes that are given; those with other endings hold text."""
    for name in files:
        name, content = name if isinstance(name, tuple) else (name, lesson(text=f"# {name}"))
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def zipped(*files):
    """The bytes of a zip archive of such files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            name, content = name if isinstance(name, tuple) else (name, lesson(text=f"# {name}"))
            archive.writestr(name, content)
    return stream.getvalue()


def graded(folder, **options):
    """student -> the file that counts."""
    return {each.student: each.file for each in collect.submissions(folder, **options) if each.fault is None}


def faults(folder, **options):
    return {each.student: each.fault for each in collect.submissions(folder, **options) if each.fault}


def reasons(folder, **options):
    return {each.path: each.reason for each in collect.submissions(folder, **options).unread}


# ---- who handed in


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("leekim_1234_98765_01-composition-1.ipynb", "leekim_1234"),
        ("leekim_LATE_1234_98765_homework.ipynb", "leekim_1234"),
        ("李明_1234_98765_homework.ipynb", "李明_1234"),
        ("leekim_1234_98765_work.zip/lee_5_6_x.ipynb", "leekim_1234"),
        ("anon_ab1cd_98765_01-composition.ipynb", "anon_ab1cd"),
        ("LATE_anon_Zb1c9_98765_01-composition.ipynb", "anon_Zb1c9"),
        ("Kim Lee_1234_assignsubmission_file/01-composition.ipynb", "Kim Lee_1234"),
        ("Kim Lee_1234_assignsubmission_file_/a/b/01-composition.ipynb", "Kim Lee_1234"),
        ("Kim Lee_1234_assignsubmission_file_01-composition.ipynb", "Kim Lee_1234"),
        ("Kim Lee_1234_assignsubmission_file_x_99_assignsubmission_file_y.ipynb", "Kim Lee_1234"),
        ("Participant_1234_assignsubmission_file/x.ipynb", "Participant_1234"),
        ("Team Blue_7_assignsubmission_file/x.ipynb", "Team Blue_7"),
        ("Default group_assignsubmission_file/x.ipynb", "Default group"),
        ("Homework 1_s123456_attempt_2026-01-02-10-20-30_01-composition.ipynb", "s123456"),
        ("HW_s1_attempt_2026-01-02-10-20-30_a_s2_attempt_2027-01-02-10-20-30_x.ipynb", "s1"),
        ("kim.ipynb/01-composition.ipynb", "kim"),
        ("__kim.ipynb", "__kim"),
        ("kim.IPYNB", "kim"),
        ("kim.ipynb.txt", "kim"),
        ("kim.ipynb.json", "kim"),
        ("deeper/submissions/leekim_1234_98765_01-composition.ipynb", "leekim_1234"),
        ("deeper/Kim Lee_12_assignsubmission_file/01-composition.ipynb", "Kim Lee_12"),
        ("kim/a/b/c/homework.ipynb", "kim"),
    ],
)
def test_a_student_is_told_by_the_outermost_name_of_a_platform_or_by_the_top(tmp_path, path, student):
    if ".zip/" in path:
        archive, _, name = path.partition("/")
        put(tmp_path, (archive, zipped(name)))
    else:
        put(tmp_path, path)
    assert graded(tmp_path) == {student: path}
    assert reasons(tmp_path) == {}
    assert collect.origin(path).lms or collect.origin(path).name == student


def test_a_class_in_one_folder_is_walked_into_and_that_is_said(tmp_path):
    for within in ("deeper/submissions", "other/class"):
        folder = tmp_path / within.replace("/", "-")
        put(folder, f"{within}/kim.ipynb", f"{within}/lee/01-composition.ipynb", f"{within}/20210001.ipynb")
        found = collect.submissions(folder)
        assert [each.student for each in found] == ["20210001", "kim", "lee"]
        assert f"The students are told by what lies in {within}." in found.notes
    canvas = [f"exports/a/{name}_{n}_{n}9_01-composition.ipynb" for n, name in enumerate(("kim", "lee"), 10)]
    assert sorted(graded(put(tmp_path / "canvas", *canvas))) == ["kim_10", "lee_11"]


def test_several_classes_in_folders_are_refused_with_the_folder_to_name(tmp_path):
    put(tmp_path, "monday/kim.ipynb", "monday/lee.ipynb", "tuesday/ann.ipynb", "tuesday/bob.ipynb")
    with pytest.raises(collect.Refused, match=r"monday.*tuesday.*several students.*dpcourse grade .*monday`"):
        collect.submissions(tmp_path)
    assert sorted(graded(tmp_path / "monday")) == ["kim", "lee"]


def test_one_folder_with_several_students_costs_no_other_student_anything(tmp_path):
    put(tmp_path, "kim/01-composition.ipynb", "lee.ipynb", "pair/ann.ipynb", "pair/bob.ipynb")
    assert sorted(graded(tmp_path)) == ["kim", "lee"]
    assert "ann and bob" in faults(tmp_path)["pair"]
    assert sorted(reasons(tmp_path)) == ["pair/ann.ipynb", "pair/bob.ipynb"]
    files = [(name, lesson()) for name in ("kim/01-composition.ipynb", "lee.ipynb", "pair/ann.ipynb", "pair/bob.ipynb")]
    packed = put(tmp_path / "packed", ("class.zip", zipped(*files)))  # which does not list its folders
    assert sorted(graded(packed)) == ["kim", "lee"]
    assert list(faults(packed)) == ["pair"]
    claims = put(
        tmp_path / "claims", "kim/x.ipynb", "lee/ann_1_2_x.ipynb", "lee/bob_3_4_x.ipynb", "eve/kim_1_2_x.ipynb"
    )
    assert sorted(graded(claims)) == ["eve", "kim"]


@pytest.mark.parametrize(
    "files",
    [
        ("old/01-composition.ipynb", "new/01-composition.ipynb"),
        ("homework.ipynb", "Untitled1.ipynb", "final/draft (2).ipynb"),
        ("01-composition.ipynb", "01-composition-Copy1.ipynb", "01-composition kim.ipynb"),
        ("week 1/x.ipynb", "week 2/x.ipynb"),
        ("hw-20260102.ipynb", "hw-2026-01-03.ipynb", "hw v12.ipynb"),
    ],
)
def test_copies_of_a_student_are_no_crowd(tmp_path, files):
    put(tmp_path, *(f"kim/{file}" for file in files))
    assert list(graded(tmp_path)) == ["kim"]


def test_repositories_of_github_classroom(tmp_path):
    for name in ("hw-one-lee-kim", "hw-one-leepark", "hw-one-ann"):
        put(tmp_path, f"{name}/lessons/01-composition.ipynb", (f"{name}/.git/HEAD", b"ref"), (f"{name}/README.md", b""))
        put(tmp_path, (f"{name}/dpcourse/rdp.py", b""), f"{name}/lessons/glossary.ipynb")
    found = collect.submissions(tmp_path)
    assert [each.student for each in found] == ["ann", "lee-kim", "leepark"]
    assert found.unread == ()
    assert {each.submitted for each in found} == {None}
    one = put(tmp_path / "alone", "01-composition-lee-kim/01-composition.ipynb", ("01-composition-lee-kim/.git/x", b""))
    assert list(graded(one)) == ["lee-kim"]
    named = put(tmp_path / "hw-submissions", "hw-ab-kim/x.ipynb", ("hw-ab-kim/.git/x", b""))
    assert list(graded(named)) == ["ab-kim"]


def test_the_clock_of_an_nbgrader_elsewhere_is_understood_or_nothing_is_guessed(tmp_path):
    stamps = {"kim": "2026-10-01 23:59:00.000001 CEST", "lee": "2026-10-01 23:59:00 PDT", "ann": "2026-10-01 23:59 IST"}
    for name, stamp in stamps.items():
        put(tmp_path, f"{name}/ps1/01-composition.ipynb", (f"{name}/ps1/timestamp.txt", stamp.encode()))
    found = collect.submissions(tmp_path)
    times = {each.student: each.submitted for each in found}
    assert times["kim"] == datetime(2026, 10, 1, 21, 59, 0, 1, UTC)
    assert times["lee"] == datetime(2026, 10, 2, 6, 59, tzinfo=UTC)
    assert times["ann"] is None
    assert [each.path for each in found.unread] == ["ann/ps1/timestamp.txt"]


def test_nbgrader_tells_when_and_its_whole_course_is_refused(tmp_path):
    stamps = {"kim": b"2026-10-01 21:59:00.123456 UTC", "lee": b"2026-10-01 21:59:00 Europe/Berlin"}
    for name, stamp in stamps.items():
        put(tmp_path, f"submitted/{name}/ps1/01-composition.ipynb", (f"submitted/{name}/ps1/timestamp.txt", stamp))
    put(tmp_path, ("submitted/eve/timestamp.txt", b"2020-01-01 00:00:00 UTC"), "submitted/eve/x.ipynb")
    found = collect.submissions(tmp_path / "submitted")
    times = {each.student: each.submitted for each in found}
    assert times["kim"] == datetime(2026, 10, 1, 21, 59, 0, 123456, UTC)
    assert times["lee"] == datetime(2026, 10, 1, 19, 59, tzinfo=UTC)
    assert times["eve"].year > 2020
    assert [each.path for each in found.unread] == ["eve/timestamp.txt"]
    assert "says no time" in found.unread[0].reason
    put(tmp_path, "source/ps1/01-composition.ipynb")
    with pytest.raises(collect.Refused, match="submitted"):
        collect.submissions(tmp_path)


# ---- which of several


def test_the_newest_counts_and_the_note_says_why(tmp_path):
    put(tmp_path, "kim_1_99_x.ipynb", "kim_LATE_1_100_01-composition-2.ipynb", "kim_1_98_01-composition.ipynb")
    [only] = collect.submissions(tmp_path)
    assert (only.file, only.late) == ("kim_LATE_1_100_01-composition-2.ipynb", True)
    assert only.also == ("kim_1_98_01-composition.ipynb", "kim_1_99_x.ipynb")
    assert "3 notebooks of this lesson; graded is kim_LATE_1_100" in only.notes[0]
    assert "it is the newest" in only.notes[0]
    attempts = [f"HW_kim_attempt_2026-01-0{day}-10-20-30_x.ipynb" for day in (2, 3)]
    [only] = collect.submissions(put(tmp_path / "blackboard", *attempts))
    assert only.file == attempts[1]
    assert only.submitted == datetime(2026, 1, 3, 10, 20, 30).astimezone(UTC)


def test_of_files_the_newest_counts_then_the_plainest_and_first_what_can_be_read(tmp_path):
    put(tmp_path, "kim/01-composition.ipynb", "kim/much longer name.ipynb", "kim/a/01-composition.ipynb")
    for age, name in ((0, "01-composition"), (600, "much longer name"), (601, "a/01-composition")):
        os.utime(tmp_path / f"kim/{name}.ipynb", (LONG_AGO + age,) * 2)
    assert graded(tmp_path) == {"kim": "kim/much longer name.ipynb"}  # two as good as at once, and the plainer name
    put(tmp_path, ("kim/broken.ipynb", b"{"))
    assert graded(tmp_path) == {"kim": "kim/much longer name.ipynb"}


def test_times_are_told_but_not_of_what_was_copied(tmp_path):
    put(tmp_path, "kim.ipynb", "lee.ipynb", "ann_1_2_x.ipynb", "Bo_7_assignsubmission_file/x.ipynb")
    os.utime(tmp_path / "kim.ipynb", (LONG_AGO,) * 2)
    times = {each.student: each.submitted for each in collect.submissions(tmp_path)}
    assert times["kim"] == datetime.fromtimestamp(LONG_AGO, UTC)
    assert times["lee"] > times["kim"]
    assert times["ann_1"] is times["Bo_7"] is None
    os.utime(tmp_path / "lee.ipynb", (LONG_AGO + 60,) * 2)
    assert {each.submitted for each in collect.submissions(tmp_path)} == {None}


# ---- what is not read


def test_every_other_file_is_named_with_a_reason(tmp_path):
    put(tmp_path, "kim/01-composition.ipynb", ("kim/essay.pdf", b""), ("kim/a.py", b""), ("kim/.hidden.ipynb", b""))
    put(tmp_path, ("kim/.cache/x", b""), ("kim/w.tar.gz", b""), ("top.pdf", b""), ("kim/x.zip", b"no zip"))
    put(tmp_path, ("lee_1_2_essay.pdf", b""), ("ann_3_text.html", b""), ("kim/.DS_Store", b""), ("Thumbs.db", b""))
    put(tmp_path, "kim/.ipynb_checkpoints/01-composition-checkpoint.ipynb", "kim/__MACOSX/._01-composition.ipynb")
    os.symlink("/etc", tmp_path / "kim/link")
    os.mkfifo(tmp_path / "kim/pipe")
    found = collect.submissions(tmp_path)
    said = {each.path: each.reason for each in found.unread}
    expected = {
        "kim/essay.pdf": "a PDF", "kim/a.py": "a program", "kim/.hidden.ipynb": "dot", "kim/.cache/x": "dot",
        "kim/w.tar.gz": "unpack it", "top.pdf": "a PDF", "kim/x.zip": "no zip archive", "kim/link": "a link",
        "kim/pipe": "no ordinary file",
    }  # fmt: skip
    assert set(said) == set(expected)
    assert all(word in said[path] for path, word in expected.items())
    assert set(faults(tmp_path)) == {"lee_1", "ann_3"}
    assert "4 files of the system or of git passed over." in found.notes


def test_what_a_student_without_a_notebook_handed_in_is_said_and_is_of_the_lesson_of_the_class(tmp_path):
    put(tmp_path, ("kim/essay.pdf", b""), ("lee.ipynb", lesson(3)))
    assert [(each.student, each.lesson) for each in collect.submissions(tmp_path)] == [("kim", 3), ("lee", 3)]
    assert faults(tmp_path) == {
        "kim": "there is no notebook in the folder, but essay.pdf: it is no notebook (.ipynb) but a PDF"
    }
    assert list(reasons(tmp_path)) == ["kim/essay.pdf"]
    alone = put(tmp_path / "alone", ("kim/essay.pdf", b""))
    with pytest.raises(collect.Refused, match=r"no notebook \(.ipynb\) in .*; there is kim/essay.pdf"):
        collect.submissions(alone)
    assert [(each.student, each.lesson) for each in collect.submissions(alone, lesson=2)] == [("kim", 2)]
    with pytest.raises(
        collect.Refused, match=r"whose lesson can be told in .*; there is kim.ipynb .*say it with --lesson"
    ):
        collect.submissions(put(tmp_path / "untold", ("kim.ipynb", b"{}")))


def test_results_and_settings_of_ours_are_no_students(tmp_path):
    put(tmp_path, "kim.ipynb", ("grades/grades.sqlite", b""), ("grades/feedback/x.html", b""), ("course.toml", b""))
    put(tmp_path, ("roster.csv", b"student\nkim\n"))
    found = collect.submissions(tmp_path, roster=collect.Roster.read(tmp_path / "roster.csv"))
    assert [each.student for each in found] == ["kim"]
    assert found.unread == ()
    put(tmp_path, "lee/lee.ipynb", ("lee/grades.sqlite", b""))
    assert sorted(graded(tmp_path)) == ["kim", "lee"]  # nobody hides work, or is hidden, by such a file


@pytest.mark.parametrize("asked", [1, 3])
def test_a_lesson_asked_for_is_a_filter(tmp_path, asked):
    put(
        tmp_path, ("kim/a.ipynb", lesson(1)), ("kim/b.ipynb", lesson(3)), ("lee.ipynb", b'{"cells": [], "nbformat": 4}')
    )
    found = collect.submissions(tmp_path, lesson=asked)
    assert [(each.student, each.lesson) for each in found] == [("kim", asked), ("lee", asked)]
    [other] = found.unread
    assert other.left_out
    assert other.reason.startswith(f"lesson {4 - asked};")


def test_the_exercises_tell_the_lesson_where_the_name_says_another(tmp_path):
    put(tmp_path, ("01-composition.ipynb", lesson(3)), ("03-gdp.ipynb", b"broken"))
    assert [(each.student, each.lesson) for each in collect.submissions(tmp_path)] == [
        ("01-composition", 3),
        ("03-gdp", 3),
    ]
    assert {collect.lesson_of("x", lesson(each.number)) for each in course.lessons()} == {
        each.number for each in course.lessons()
    }


# ---- deep, many, strange


@pytest.fixture
def deep(tmp_path):
    """A class with a folder that no path leads to the end of; it is gone afterwards, pytest's own way is recursive."""
    (tmp_path / "deep").mkdir()
    here = os.open(tmp_path / "deep", os.O_RDONLY)
    try:
        for _ in range(1200):
            os.mkdir("dddd", dir_fd=here)
            below = os.open("dddd", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        yield put(tmp_path, "kim.ipynb")
    finally:
        os.close(here)
        subprocess.run(["rm", "-rf", tmp_path / "deep"], check=True)


def test_a_deep_folder_costs_its_student_only(deep):
    found = collect.submissions(deep)
    assert {each.student: each.fault and each.fault[:27] for each in found} == {
        "deep": "there is no notebook in the",
        "kim": None,
    }
    assert ["deep in each other" in each.reason for each in found.unread] == [True]


def test_too_many_files_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(walk, "MOST_FILES", 10)
    put(tmp_path, "kim/01-composition.ipynb", "lee.ipynb", *((f"kim/{i}/data.csv", b"") for i in range(30)))
    assert sorted(graded(tmp_path)) == ["kim", "lee"]
    assert any("more than 10 files" in reason for reason in reasons(tmp_path).values())
    monkeypatch.setattr(walk, "MOST_BYTES", 10)
    assert all("notebooks before it" in fault for fault in faults(tmp_path).values())


def test_what_may_not_be_read_is_said_and_a_broken_link_stops_nothing(tmp_path):
    put(tmp_path, "kim/01-composition.ipynb", "lee.ipynb", "ann/x.ipynb", ("roster.csv", b"student\nkim\nlee\nann\n"))
    os.symlink("nowhere", tmp_path / "broken")
    roster = collect.Roster.read(tmp_path / "roster.csv")
    locked = [tmp_path / "kim", tmp_path / "ann/x.ipynb"]
    for path in locked:
        path.chmod(0)
    user = os.geteuid()
    os.chmod(tmp_path, 0o755)
    try:
        with contextlib.ExitStack() as stack:
            if user == 0:  # who may read everything
                for outer in [*tmp_path.parents][:-1]:
                    stack.callback(os.chmod, outer, outer.stat().st_mode & 0o7777)
                    outer.chmod(outer.stat().st_mode & 0o7777 | 0o055)
                os.seteuid(65534)
                stack.callback(os.seteuid, user)
            found = collect.submissions(tmp_path, roster=roster)
    finally:
        for path in locked:
            path.chmod(0o700)
    assert {each.student: each.fault for each in found} == {
        "ann": "Permission denied",
        "kim": "there is no notebook in the folder, but kim: Permission denied",
        "lee": None,
    }
    assert {each.path: each.reason for each in found.unread} == {"broken": "it is a link", "kim": "Permission denied"}


def test_names_of_every_script_stay_apart_and_can_be_printed(tmp_path):
    names = ["e\u0301", "Kim", "kim", "\u202eabc", "\\u202eabc", "\udcff", "\\xff", "علی\u200cرضا", "k\nm", "𝒦" * 60]
    put(tmp_path, *(f"{name}.ipynb" for name in names))
    found = collect.submissions(tmp_path)
    students = [each.student for each in found]
    assert len(set(students)) == len(names)
    assert "\xe9" in students
    assert "علی\u200cرضا" in students
    assert all((student.replace("\u200c", "")).isprintable() for student in students)
    assert "Kim and kim are taken for different students." in found.notes


@given(st.text(max_size=200))
def test_a_files_name_made_of_a_students_is_short_and_harmless(name):
    made = collect.file_name(name)
    assert len(made.encode()) <= 120
    assert not set(made) & set('<>:"/\\|?*. \0')
    assert collect.file_name(name) != collect.file_name(name + "x")


# ---- archives


def test_an_export_is_read_as_it_is_and_stays_as_it_was(tmp_path):
    export = zipped(
        "kim_1_2_01-composition.ipynb", ("lee_3_4_w.zip", zipped("w/x.ipynb", "__MACOSX/._x")), "ann/x.ipynb"
    )
    (tmp_path / "export.zip").write_bytes(export)
    found = collect.submissions(tmp_path / "export.zip")
    files = {each.student: each.file for each in found}
    assert files == {"kim_1": "kim_1_2_01-composition.ipynb", "lee_3": "lee_3_4_w.zip/w/x.ipynb", "ann": "ann/x.ipynb"}
    assert all(b"nbformat" in each.content() for each in found)
    assert (tmp_path / "export.zip").read_bytes() == export
    assert os.listdir(tmp_path) == ["export.zip"]
    assert graded(tmp_path)["lee_3"] == "export.zip/lee_3_4_w.zip/w/x.ipynb"
    (tmp_path / "export.zip").write_bytes(zipped("kim_1_2_01-composition.ipynb"))
    with pytest.raises(collect.Unreadable):
        next(each for each in found if each.student == "lee_3").content()


def entry(name, content=b"{}", mode=0o644, kind=stat.S_IFREG, **fields):
    info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
    info.external_attr = (kind | mode) << 16
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def made(path, *entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in entries:
            archive.writestr(info, content)
    return path


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("../../etc/x.ipynb", {}, "leads out"),
        ("/etc/x.ipynb", {}, "leads out"),
        ("C:\\x.ipynb", {}, "leads out"),
        ("a\\..\\..\\x.ipynb", {}, "leads out"),
        ("link.ipynb", {"kind": stat.S_IFLNK, "content": b"/etc/passwd"}, "a link"),
        ("device.ipynb", {"kind": stat.S_IFCHR}, "no ordinary file"),
        ("bomb.ipynb", {"content": bytes(20 * 2**20), "compress_type": zipfile.ZIP_DEFLATED}, "times its size"),
        ("lzma.ipynb", {"compress_type": zipfile.ZIP_LZMA}, "packed in a way"),
        (".hidden.ipynb", {}, "dot"),
    ],
)
def test_what_leads_out_of_an_archive_or_would_fill_the_machine_is_not_read(tmp_path, name, options, reason):
    made(tmp_path / "kim_1_2_work.zip", entry(name, **options))
    [only] = collect.submissions(tmp_path, lesson=1)
    assert only.student == "kim_1"
    assert reason in " ".join([only.fault, *reasons(tmp_path, lesson=1).values()])


def test_an_encrypted_archive_and_a_damaged_one_are_told(tmp_path):
    plain = bytearray(zipped("x.ipynb"))
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        plain[plain.index(signature) + flags] |= 1
    damaged = bytearray(zipped("x.ipynb"))
    damaged[45:60] = bytes(15)
    put(
        tmp_path,
        "lee.ipynb",
        ("kim_1_2_w.zip", bytes(plain)),
        ("ann_1_3_w.zip", bytes(damaged)),
        ("bo_4_5_w.zip", b"PK"),
    )
    said = faults(tmp_path)
    assert "encrypted" in said["kim_1"]
    assert "damaged" in said["ann_1"]
    assert "no zip archive" in said["bo_4"]


def test_archives_in_archives_and_archives_of_thousands_are_bounded(tmp_path, monkeypatch):
    inmost = zipped("x.ipynb")
    put(tmp_path, ("kim_1_2_w.zip", zipped(("a.zip", zipped(("b.zip", inmost))))), "lee.ipynb")
    assert sorted(graded(tmp_path)) == ["lee"]
    assert any("2 deep in each other" in reason for reason in reasons(tmp_path).values())
    monkeypatch.setattr(archives, "MOST_FILES", 50)
    put(tmp_path, ("ann_1_2_w.zip", zipped(("a.zip", zipped(*((f"{i}.txt", b"") for i in range(51)))))))
    assert any("more than 50 files in it" in reason for reason in reasons(tmp_path).values())


def test_a_students_archive_of_thousands_is_not_opened_and_a_class_is(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_FILES", 50)
    many = zipped("kim_1_2_x.ipynb", *((f"{i}_{i}_{i}_x.ipynb", lesson()) for i in range(51)))
    put(tmp_path, ("class/ann_1_2_w.zip", many), "class/lee.ipynb", ("export.zip", many))
    assert sorted(graded(tmp_path / "class")) == ["lee"]
    assert "more than 50 files in it" in faults(tmp_path / "class")["ann_1"]
    assert len(graded(tmp_path / "export.zip")) == 52


def test_an_archive_in_an_archive_is_unpacked_once_for_all_that_is_read_from_it(tmp_path, monkeypatch):
    put(tmp_path, ("kim_1_2_w.zip", zipped(("a.zip", zipped(*(f"{i}.ipynb" for i in range(30)))))))
    opened, open_it = [], archives._of_bytes
    monkeypatch.setattr(archives, "_of_bytes", lambda content: opened.append(1) or open_it(content))
    assert sorted(graded(tmp_path)) == ["kim_1"]
    assert len(opened) <= 2


def test_names_in_archives_are_read_as_they_were_meant(tmp_path):
    made(tmp_path / "class.zip", entry("名前.ipynb", lesson()), entry("Zoë\\x.ipynb", lesson()))
    plain = bytearray((tmp_path / "class.zip").read_bytes())
    for signature, flags in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        plain[plain.index(signature) + flags] &= ~8  # does not say that the name is in UTF-8
    (tmp_path / "class.zip").write_bytes(plain)
    assert sorted(each.student for each in collect.submissions(tmp_path / "class.zip")) == ["Zoë", "名前"]


# ---- notebooks


def cells_of(content):
    return [(cell.number, cell.code) for cell in notebook.code_cells(content)]


def large(cells, **about):
    return json.dumps({"cells": cells, "metadata": {"widgets": "w" * 2**20}, "nbformat": 4} | about).encode()


def test_a_large_notebook_is_read_without_its_outputs():
    code = {"cell_type": "code", "source": ["a = '[{\"outputs\": [1'\n", "b"], "metadata": {"outputs": ["}"]}}
    output = {"outputs": [{"text": ["]}" * 2**20], "outputs": [[]]}], "attachments": {"x": "y" * 2**20}}
    content = large([code | output, {"cell_type": "markdown", "source": "c"}, code])
    assert len(content) > notebook.LARGE
    assert len(notebook.lean(content)) < 1000
    assert cells_of(content) == [(1, "a = '[{\"outputs\": [1'\nb"), (3, "a = '[{\"outputs\": [1'\nb")]
    assert cells_of(content.decode().encode("utf-16")) == cells_of(content)


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just('\\"outputs": [')
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["outputs", "a"]), v)
)


@given(
    st.lists(st.fixed_dictionaries({"source": st.text(), "outputs": values, "metadata": values, "x": values})),
    st.booleans(),
)
def test_what_is_left_out_of_a_large_notebook_is_only_what_nothing_looks_at(cells, ascii_only):
    cells = [cell | {"cell_type": "code"} for cell in cells]
    content = json.dumps({"cells": cells, "nbformat": 4}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    expected = cells_of(content)
    small = notebook.LARGE
    try:
        notebook.LARGE = 0
        left = json.loads(notebook.lean(content))
        assert [(cell["source"], cell["x"]) for cell in left["cells"]] == [
            (cell["source"], cell["x"]) for cell in cells
        ]
        assert cells_of(content) == expected
    finally:
        notebook.LARGE = small


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "not JSON"),
        (b'"' * 200_001, "not a notebook"),
        (b'"' + b'\\"' * 100_000, "not JSON"),
        (b"[" + b"{}," * 100_001, "200,000 brackets"),
        (large([], x="9" * 2 * 2**20), "2 MiB without its outputs"),
        (b'{"nbformat": 1, "cells": []}', "open it in JupyterLab and save it"),
        (b'{"nbformat": 3, "cells": []}', "open it in JupyterLab and save it"),
        (large([{"cell_type": "code", "source": "x"}] * 2_001), "2001 code cells"),
    ],
)
def test_what_would_cost_memory_is_refused_with_advice(monkeypatch, content, reason):
    monkeypatch.setattr(notebook, "LARGE", 2**16)
    monkeypatch.setattr(notebook, "MOST_PARSED", 2**20)
    monkeypatch.setattr(notebook, "MOST_BRACKETS", 200_000)
    with pytest.raises(collect.Unreadable, match=reason):
        notebook.code_cells(content)


def test_notebooks_are_read_that_only_an_editor_spoilt():
    cell = {"cell_type": "code", "source": "é = 1"}
    text = json.dumps({"cells": [cell], "nbformat": 4}, ensure_ascii=False)
    for content in (
        text.encode("latin-1"),
        text.encode("utf-8-sig"),
        text.encode("utf-16"),
        f"\n{text}\n}}}}x".encode(),
    ):
        assert cells_of(content) == [(1, "é = 1")]
    many = json.dumps({"cells": [{"cell_type": "markdown", "source": ""}] * 10_000 + [cell], "nbformat": 4})
    assert cells_of(many.encode()) == [(10_001, "é = 1")]


@pytest.mark.parametrize("large", [False, True])
def test_notebooks_on_sheets_are_read_as_jupyterlab_converts_them(large, monkeypatch):
    output = {"output_type": "stream", "stream": "stdout", "text": ["]}" * 9]}
    cells = [
        {"cell_type": "heading", "level": 1, "source": ["Title"], "metadata": {}},
        {"cell_type": "code", "input": ["a = 1\n", "b"], "language": "python", "collapsed": False, "outputs": [output], "metadata": {}},
        {"cell_type": "markdown", "source": "c", "metadata": {}},
    ]  # fmt: skip
    code = {
        "cell_type": "code",
        "input": "é = 2",
        "language": "python",
        "collapsed": False,
        "outputs": [],
        "metadata": {},
    }
    sheets = [{"cells": cells, "metadata": {}}, {"cells": [code], "metadata": {}}]
    old = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": sheets}
    content = json.dumps(old).encode()
    monkeypatch.setattr(notebook, "LARGE", 0 if large else notebook.LARGE)
    new = nbformat.v4.upgrade(nbformat.v3.reads_json(content.decode()))
    expected = [(n, each["source"]) for n, each in enumerate(new["cells"], 1) if each["cell_type"] == "code"]
    assert cells_of(content) == expected == [(2, "a = 1\nb"), (4, "é = 2")]
    assert not large or b"]}]}" not in notebook.lean(content)
    for broken in ([None], [{}], [{"cells": None}], [{"cells": [None, 3, {"cell_type": "code"}]}]):
        assert all(each == (3, "") for each in cells_of(json.dumps(old | {"worksheets": broken}).encode()))


# ---- every file, once


NAMES = st.sampled_from(
    ["kim", "lee", "old", "kim_1_23_x", "lee_LATE_2_24_x", "Kim_3_assignsubmission_file", "01-composition", "a b", ".x", "é",
     "__w", "HW_s1_attempt_2026-01-02-10-20-30_x"]
)  # fmt: skip
FILES = st.tuples(NAMES, st.sampled_from([".ipynb", ".ipynb", ".pdf", ".ipynb.txt", ".zip", "", ".py"])).map("".join)
TREES = st.lists(
    st.tuples(st.lists(NAMES, max_size=3), FILES, st.sampled_from([b"", lesson(1), lesson(3)])), min_size=1, max_size=9
)


def of_tree(folder, tree):
    files = set()
    for path, name, content in tree:
        file = folder.joinpath(*path, name)
        if file.exists() or any(parent.is_file() for parent in file.parents):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".zip") and "/." not in f"/{file.relative_to(folder)}":
            file.write_bytes(zipped(("x.ipynb", content), ("y.pdf", b"")))
            files |= {f"{file.relative_to(folder)}/x.ipynb", f"{file.relative_to(folder)}/y.pdf"}
        else:
            file.write_bytes(content)
            files.add(str(file.relative_to(folder)))
    return files


@given(TREES, st.sampled_from([None, 1, 2]), st.booleans())
def test_every_file_is_a_submission_or_another_of_it_or_unread_and_that_once(tmp_path_factory, tree, asked, by_roster):
    folder = tmp_path_factory.mktemp("tree")
    files = of_tree(folder, tree)
    hidden = {file for file in files if "/." in f"/{file}"}
    roster = None
    if by_roster:
        (folder.parent / f"{folder.name}.csv").write_text("name,id\nKim,1\nLee,2\nold,\n")
        roster = collect.Roster.read(folder.parent / f"{folder.name}.csv")
    try:
        found = collect.submissions(folder, asked, roster)
    except collect.Refused:
        return
    named = [each.path for each in found.unread]
    for each in found:
        named += [*each.also, *([each.file] if each.file in files else [])]
    assert sorted(file for file in named if file in files) == sorted(files)
    assert hidden <= set(named)
    keys = [(each.student, each.lesson) for each in found]
    assert len(set(keys)) == len(keys)
    assert all(each.reason for each in found.unread)
    assert not by_roster or {student for student, _ in keys} <= set(roster.students)


def test_a_socket_is_named(tmp_path):
    put(tmp_path, "kim/x.ipynb")
    with socket.socket(socket.AF_UNIX) as at:
        before = os.getcwd()
        os.chdir(tmp_path)
        try:
            at.bind("kim/s")
        finally:
            os.chdir(before)
    assert "no ordinary file" in reasons(tmp_path)["kim/s"]
    assert Path(tmp_path, "kim/s").exists()


@pytest.mark.parametrize("names", [("lee1", "lee2"), ("student01", "student02", "student10")])
def test_students_who_differ_by_a_number_are_not_one(tmp_path, names):
    for name in names:
        hand_in = tmp_path / "class" / "submitted" / name / "02-laplace" / "02-laplace.ipynb"
        hand_in.parent.mkdir(parents=True)
        hand_in.write_bytes((ROOT / "lessons" / "02-laplace.ipynb").read_bytes())
    assert [each.student for each in collect.submissions(tmp_path / "class")] == list(names)


@pytest.mark.weekly("writes gigabytes that are hollow")
def test_what_is_more_than_can_be_read_is_the_students_and_what_is_gone_is_not(tmp_path):
    (tmp_path / "kim.ipynb").write_bytes(b'{"cells": [' + b"[]," * 20_000_000 + b"[]]}")
    (tmp_path / "lee.ipynb").write_bytes((ROOT / "lessons" / "02-laplace.ipynb").read_bytes())
    kim, lee = collect.submissions(tmp_path)
    with pytest.raises(collect.Unreadable) as told:
        kim.content()
    assert not isinstance(told.value, collect.Gone)
    (tmp_path / "lee.ipynb").unlink()
    with pytest.raises(collect.Gone):
        lee.content()
