"""Who is in the class: read from what platforms export, matched with what they call a submission."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.grading import collect
from dpcourse.grading.collect import Roster, RosterError

NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4}).encode()

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,02 Laplace (77)
    Points Possible,,,,,22
"Lee, Kim",1234,u77,leek,One,20
"López García, Ana María",1235,u78,anal,One,
"Student, Test",9,,,One,
"""
MOODLE = "Identifier;Full name;Email address;Status\nParticipant 501;Kim Lee;kim.lee@uni.edu;-\nParticipant 502;Bo Ek;bo@uni.edu;-\n"
GITHUB = (
    '"identifier","github_username","github_id","name"\n"Kim Lee","kim-l","1","Kim Lee"\n"ann@uni.edu","AnnP","2",""\n'
)


def read(folder, text, encoding="utf-8"):
    (folder / "roster.csv").write_bytes(text.encode(encoding))
    return Roster.read(folder / "roster.csv")


def test_what_platforms_export_is_read_as_it_is(tmp_path):
    canvas = read(tmp_path, CANVAS)
    assert canvas.students == ("Lee, Kim_1234", "López García, Ana María_1235")
    assert canvas.ids["Lee, Kim_1234"]["SIS Login ID"] == "leek"
    assert collect.identifier(canvas.students[0]) == ("Lee, Kim", "1234")
    assert canvas.find("leekim", "1234") == canvas.find("leekim") == canvas.find("leek") == "Lee, Kim_1234"
    assert canvas.find("lópezgarcíaanamaría", "1235") == "López García, Ana María_1235"
    moodle = read(tmp_path, MOODLE)
    assert moodle.students == ("Kim Lee_501", "Bo Ek_502")
    assert moodle.find("Participant", "502") == moodle.find("bo") == moodle.find("Bo Ek", "502") == "Bo Ek_502"
    github = read(tmp_path, GITHUB)
    assert github.students == ("Kim Lee", "ann@uni.edu")
    assert github.find("kim-l") == "Kim Lee"
    assert github.find("annp") == github.find("ann") == "ann@uni.edu"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("divider", [",", ";", "\t"])
def test_dividers_and_encodings_make_no_difference(tmp_path, encoding, divider):
    text = f"Late Days{divider}Last name{divider}First Name{divider}ID\r\n2{divider}Ek{divider}Zoë{divider}7\r\n\r\n"
    roster = read(tmp_path, text, encoding)
    assert roster.students == ("Zoë Ek_7",)
    assert roster.late_days == {"Zoë Ek_7": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("student,id\nKim,1\n\nLee,2\nKim,1\n", "Lines 2 and 5 of the roster roster.csv are both Kim_1"),
        ("student,id\nKim,1\nLee,1\n", "Lines 2 and 3 of the roster roster.csv have the same number, 1"),
        ("student\nKim\nKim\n", "Lines 2 and 3 of the roster roster.csv are both Kim"),
        ("student,section\n,A\n", "Line 2 of the roster roster.csv names nobody"),
        ("student,late days\nKim,two\n", "Line 2 of the roster roster.csv: late days are a whole number, not 'two'"),
        ("section,room\nA,1\n", "names no column of students"),
        ("", "is empty"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, said):
    with pytest.raises(RosterError, match=said):
        read(tmp_path, text)
    with pytest.raises(RosterError, match="cannot be read"):
        Roster.read(tmp_path)


def test_two_of_the_same_name_are_two(tmp_path):
    roster = read(tmp_path, "student,email\nKim Lee,k1@x.org\nKim Lee,k2@x.org\n")
    assert roster.students == ("Kim Lee (k1@x.org)", "Kim Lee (k2@x.org)")
    assert roster.find("kimlee") is None
    assert len(roster.matches("Lee, Kim")) == 2
    assert roster.find("k2") == "Kim Lee (k2@x.org)"
    assert read(tmp_path, "student,id\nKim Lee,1\nKim Lee,2\n").find("Kim Lee", "2") == "Kim Lee_2"
    assert read(tmp_path, "student,id\nKim Lee,1\nBo Ek,2\n").find("Kim Lee", "2") is None  # another platform's number?


def test_the_roster_says_who_is_in_the_class(tmp_path):
    roster = read(tmp_path, CANVAS + '"Park, Bo",77,,bo,One,\n"Bo, Park",78,,bp,One,\n')
    hand_in = tmp_path / "in"
    hand_in.mkdir()
    for name in (
        "leekim_1234_9_x.ipynb",
        "anal.ipynb",
        "eve.ipynb",
        "parkbo.ipynb",
        "leekim_1234_8_y.ipynb",
        "leek.pdf",
    ):
        (hand_in / name).write_bytes(NOTEBOOK)
    found = collect.submissions(hand_in, lesson=1, roster=roster)
    assert {each.student: each.file for each in found} == {
        "Lee, Kim_1234": "leekim_1234_9_x.ipynb",
        "López García, Ana María_1235": "anal.ipynb",
    }
    reasons = {each.path: each.reason for each in found.unread}
    assert "nobody in the roster roster.csv is eve" in reasons["eve.ipynb"]
    assert "parkbo may be Bo, Park_78 or Park, Bo_77" in reasons["parkbo.ipynb"]
    assert set(reasons) == {"eve.ipynb", "parkbo.ipynb", "leek.pdf"}
    nobody = tmp_path / "nobody"
    nobody.mkdir()
    assert len(collect.submissions(nobody, roster=roster)) == 0


def test_a_file_that_is_no_notebook_is_a_students_where_the_roster_knows_them(tmp_path):
    roster = read(tmp_path, "student,github\nKim Lee,kiml\nBo,bo\n")
    hand_in = tmp_path / "in"
    hand_in.mkdir()
    (hand_in / "kiml.pdf").write_bytes(b"")
    (hand_in / "bo.ipynb").write_bytes(NOTEBOOK)
    found = collect.submissions(hand_in, lesson=1, roster=roster)
    assert [(each.student, each.file, bool(each.fault)) for each in found] == [
        ("Bo", "bo.ipynb", False),
        ("Kim Lee", "kiml.pdf", True),
    ]


names = st.lists(
    st.sampled_from(["Kim", "Lee", "Zoë", "O'Neill", "明", "van", "Ek"]), min_size=1, max_size=4, unique=True
)


@given(st.lists(names.map(" ".join), min_size=1, max_size=8, unique_by=lambda name: tuple(sorted(name.split()))))
def test_every_student_is_found_by_every_way_to_write_them(tmp_path_factory, people):
    folder = tmp_path_factory.mktemp("roster")
    roster = read(folder, "student,id,email\n" + "".join(f"{p},{n},u{n}@x.org\n" for n, p in enumerate(people, 10)))
    assert roster.students == tuple(f"{name}_{number}" for number, name in enumerate(people, 10))
    for number, (student, name) in enumerate(zip(roster.students, people, strict=True), 10):
        *first, last = name.split()
        canvas = "".join(c for c in f"{last}{''.join(first)}".lower() if c.isalnum())
        for said in (name, f"{last}, {' '.join(first)}", canvas, f"u{number}", f"U{number}@x.org", student):
            assert student in roster.matches(said)
            assert roster.find(said, str(number)) == student


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('student,id\n"Lee, Kim,1\nBob,2\nCat,3\n', 2),
        ('student,id\nBob,2\n\n"Lee, Kim,1\nCat,3"\nDan,4\n', 4),
        ('student,id\nBob,2\n"Lee, Kim,1\n"Ek, Bo",5\n', 3),
        ('student,id,comment\nLee,1,"late\nBob,2,fine"\n', 2),
        ('student,id\nLee,1\n"Ek" Bo,5\n', 3),
        ('"student,id\nLee,1\n', 1),
    ],
)
def test_a_quote_that_is_not_closed_swallows_nobody_and_its_line_is_told(tmp_path, text, line):
    with pytest.raises(RosterError, match=rf"^Line {line} of the roster roster.csv: a quote"):
        read(tmp_path, text)


def test_a_comment_may_have_several_lines_and_quotes(tmp_path):
    text = 'Identifier,Full name,Grade,Feedback\nParticipant 5,Kim Lee,3,"<p>Say ""why""</p>\n\n<p>Next time, too.</p>"\nParticipant 6,Bo Ek,,\n'
    assert read(tmp_path, text).students == ("Kim Lee_5", "Bo Ek_6")


def test_vowel_signs_tell_names_apart(tmp_path):
    names = [
        "\u0926\u093f\u0928 \u0930\u093e\u0935",
        "\u0926\u0940\u0928 \u0930\u093e\u0935",
        "\u0e01\u0e34\u0e19",
        "\u0e01\u0e31\u0e19",
    ]
    roster = read(tmp_path, "name\n" + "\n".join(names) + "\n")
    for name in names:
        assert roster.find(name.replace(" ", "")) == name


def test_a_student_may_have_a_language_by_its_code_or_its_name_in_any(tmp_path):
    lines = {"Kim": "en", "Lee": "zh", "Ann": "中文", "Bo": "English", "Cho": "简体中文", "Dan": "ZH-CN", "Eve": ""}
    for header in ("student,language", "姓名,语言"):
        roster = read(tmp_path, "\n".join([header, *map(",".join, lines.items())]))
        assert roster.languages == {"Kim": "en", "Lee": "zh", "Ann": "zh", "Bo": "en", "Cho": "zh", "Dan": "zh"}
    with pytest.raises(RosterError, match=r"Line 3 of the roster roster.csv: there is no language 'Klingon'.*en.*zh"):
        read(tmp_path, "student,language\nKim,en\nLee,Klingon\n")


@pytest.mark.parametrize(
    ("text", "students"),
    [
        ("姓名,学号,邮箱\n王伟,2021001,w@x.cn\n", ["王伟_2021001"]),
        ("序号\t学号/工号\t学生姓名\t账号\n1\t2021001\t王伟\tww\n", ["王伟_2021001"]),
        (
            "名,姓,学号,电子邮件地址\n伟,王,2021001,w@x.cn\nKim,Lee,2021002,k@x.cn\n",
            ["王伟_2021001", "Kim Lee_2021002"],
        ),
        ("标识符,全名,学号,状态\n参与者77,王伟,2021001,-\n", ["王伟_77"]),
        ("姓名，学号\n王伟，2021001\n", ["王伟_2021001"]),
        ("学生,ID,SIS 登录 ID,班级\n    Points Possible,,,\n王伟,55,ww,1\n", ["王伟_55"]),
        ("用户名；Email地址；迟交天数\nww；w@x.cn；2\n", ["ww"]),
    ],
)
def test_chinese_headers_are_read_as_english_ones(tmp_path, text, students):
    roster = read(tmp_path, text)
    assert list(roster.students) == students
    ways = {
        "王伟": "王伟" in text or "名,姓" in text,
        "伟 王": "名,姓" in text,
        "2021001": "2021001" in text,
        "w": "w@" in text,
    }
    assert {roster.find(name) for name, is_told in ways.items() if is_told} == {students[0]}
    if "迟交天数" in text:
        assert roster.late_days == {"ww": 2}


LATIN_1 = ["Müller", "Özgür", "Núñez", "Åse Ødegård", "MÜLLER", "ÜMIT", "Zoé Lee", "O\u2019Neill", "Ángel Ruiz", "Groß"]
HAN = ["王伟", "喆堃", "玥", "欧阳娜娜", "阿不都·热合曼", "张三（补考）", "𠮷野", "Kim 李明"]


@given(
    st.lists(st.sampled_from(LATIN_1), min_size=1, unique=True), st.lists(st.sampled_from(HAN), min_size=1, unique=True)
)
def test_a_roster_in_another_encoding_is_read_rightly_and_that_is_said(tmp_path_factory, western, chinese):
    folder = tmp_path_factory.mktemp("encodings")
    for names, encoding, known in ((western, "cp1252", "Windows-1252"), (chinese, "gb18030", "GB 18030")):
        for header in ("student,id", *(["姓名,学号"] if encoding == "gb18030" else [])):
            lines = [f"{name},{number}" for number, name in enumerate(names, 1)]
            roster = read(folder, "\n".join([header, *lines]), encoding)
            assert roster.students == tuple(f"{name}_{number}" for number, name in enumerate(names, 1))
            assert (known in "".join(roster.notes)) == any(not name.isascii() for name in names)
            assert not read(folder, "\n".join([header, *lines])).notes


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("student\n王小明", "big5"),
        ("student\nŁukasz Żak", "cp1250"),
        ("student\n王A", "gbk"),
        ("student\nKim", "utf-16"),
    ],
)
def test_bytes_that_are_no_text_that_can_be_told_are_refused_with_what_would_be_right(tmp_path, text, encoding):
    content = text.encode(encoding)
    (tmp_path / "roster.csv").write_bytes(content[:-1] if encoding == "utf-16" else content)
    with pytest.raises(RosterError, match="neither in UTF-8 nor in GB 18030: save it as CSV in UTF-8"):
        Roster.read(tmp_path / "roster.csv")


@pytest.mark.parametrize("begins", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_a_spreadsheets_own_file_is_refused_with_what_to_do(tmp_path, begins):
    (tmp_path / "roster.csv").write_bytes(begins + bytes(range(256)))
    with pytest.raises(RosterError, match="a spreadsheet's own file, and no CSV: save it as CSV in UTF-8"):
        Roster.read(tmp_path / "roster.csv")
