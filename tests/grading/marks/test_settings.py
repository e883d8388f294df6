"""course.toml: what it says, what it may not say, and in which words it is told so."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from grading.rows import POSTERIOR
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import course
from dpcourse.grading.marks.settings import ANY, TEMPLATE, Late, OfLesson, Settings, SettingsError, parse, read


def test_the_template_says_every_key_and_its_default():
    assert parse(TEMPLATE) == parse("")
    assert parse(TEMPLATE) == Settings(path=parse("").path)
    for known in (Settings, Late, OfLesson):
        for key in set(known.__dataclass_fields__) - {"path"}:
            assert re.search(rf"^#? ?(\[?{key}\b)", TEMPLATE, re.MULTILINE), key


def test_what_the_template_proposes_can_be_read():
    lines = [re.sub(r"^# (?=[\[\"\w]+.*[=\]])", "", line) for line in TEMPLATE.splitlines()[3:]]
    proposed = parse("\n".join(line for line in lines if not line.startswith(("For ", "# "))))
    assert proposed.points == {"composition/worst_posterior": 4}
    assert proposed.credit == {"composition/worst_posterior": {"odds": 0.5, ANY: 0.1}}
    assert proposed.of(1).maximum == 10
    assert proposed.due("leekim_1234", 1) == datetime(2026, 10, 8, 23, 59, tzinfo=UTC)
    assert proposed.due("kim", 1) == datetime(2026, 10, 1, 23, 59, tzinfo=UTC)
    assert proposed.due("kim", 2) is None


def test_times_are_of_the_zone_that_is_named_and_a_date_is_the_end_of_its_day():
    said = parse(
        'timezone = "Europe/Berlin"\nlessons.1.deadline = 2026-07-01\nlessons.2.deadline = 2026-01-01T12:00:00Z'
    )
    assert said.due("kim", 1) == datetime(2026, 7, 1, 21, 59, 59, tzinfo=UTC)
    assert said.due("kim", 2) == datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_students_name_is_the_same_however_its_accents_are_written():
    said = parse('extensions."Zoe\u0308".1 = 2026-01-01')
    assert said.due("Zo\u00eb", 1) == said.due("Zoe\u0308", 1) is not None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('\ntiemzone = "UTC"', "course.toml, line 2: 'tiemzone' is not a key. Did you mean 'timezone'?"),
        ('timezone = "Europe/Berlinn"', "line 1: 'Europe/Berlinn' is not a time zone. Did you mean 'Europe/Berlin'?"),
        ('points."1.33" = 2', "line 1: '1.33' is not an exercise. There are 1.1, 1.2, "),
        ("[points]\n1.3 = 4", 'line 2: an exercise stands in quotes, such as "1.1", not 1.'),
        (f'[points]\n"{POSTERIOR}" = true', f"line 2: points.{POSTERIOR} must be a number of at least 0, not true"),
        (f'[points]\n"{POSTERIOR}" = nan', "must be a number of at least 0, not nan"),
        (f'[points]\n"{POSTERIOR}" = inf', "must be a number of at least 0, not inf"),
        ("[late]\nshare = 2", "line 2: late.share must be a number of at least 0 and at most 1, not 2."),
        ('[late]\npre = "day"', "line 2: 'pre' is not a key of late. Did you mean 'per'?"),
        ('[late]\nper = "week"', "'week' is not a time. There are hour, day."),
        ('language = "xx"', "'xx' is not a language of the feedback. There are en, zh."),
        (f'[credit."{POSTERIOR}"]\nods = 0.5', f"'ods' is not a misconception of exercise {POSTERIOR}. Did you mean 'odds'?"),
        (f"credit.\"{POSTERIOR}\" = 0.5", f"credit.{POSTERIOR} must be a table, not 0.5"),
        ('lessons.99.column = "x"', "'99' is not the number of a lesson. There are 0, 1"),
        ("[lessons.1]\nmaximum = 0", "lessons.1.maximum must be a number above 0, not 0"),
        ('[lessons.1]\ncolumn = "a"\n[lessons.01]\ncolumn = "b"', "'01' is there twice"),
        ('lessons.1.deadline = "2026"', "must be a time without quotes, such as 2026-10-01T23:59:00, not '2026'"),
        ("lessons.1.deadline = 12:00:00", "must be a time without quotes"),
        (f'excluded = "{POSTERIOR}"', f'excluded must be a list of exercises, such as ["1.4"], not \'{POSTERIOR}\''),
        ("excluded = [1.3]", "must be a text in quotes"),
        ("bonus = 1", "bonus must be true or false, not 1"),
        ("x =", "course.toml cannot be read: "),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_sentence_with_its_line(text, told):
    with pytest.raises(SettingsError) as error:
        parse(text)
    assert told in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_file_that_is_no_text_is_told_so(tmp_path):
    (tmp_path / "course.toml").write_bytes(b'contact = "\xfc"')
    with pytest.raises(SettingsError, match="is no text in UTF-8"):
        read(tmp_path / "course.toml")


def test_no_misconception_has_the_name_that_means_any():
    assert ANY not in {slip.name for exercise in course.every_exercise() for slip in exercise.misconceptions}


lates = st.builds(
    Late,
    grace_minutes=st.floats(0, 1000),
    share=st.floats(0, 1),
    per=st.sampled_from(["hour", "day"]),
    floor=st.floats(0, 1),
    latest_days=st.floats(0, 100) | st.just(float("inf")),
)


@given(lates, st.floats(-1e6, 1e8), st.floats(0, 1e7))
def test_lateness_never_raises_a_score_and_more_of_it_never_helps(late, seconds, more):
    assert 0 <= late.kept(seconds + more) <= late.kept(seconds) <= 1
    assert late.kept(min(seconds, 0)) == 1
    if late.latest_days == float("inf"):
        assert late.kept(seconds) >= late.floor


def test_a_day_begun_counts_as_a_day():
    late = Late(share=0.1, grace_minutes=10, floor=0.25, latest_days=30)
    day = timedelta(days=1).total_seconds()
    kept = [late.kept(seconds) for seconds in (600, 601, day, day + 1, 20 * day, 30 * day, 30 * day + 1)]
    assert kept == [1, 0.9, 0.9, 0.8, 0.25, 0.25, 0]
