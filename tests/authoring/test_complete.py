"""Each step that somebody forgets who adds an exercise or a lesson is named, with what to add where."""

import pytest

from dpcourse.authoring import build, complete, uses


def said(course):
    return [str(error) for error in complete.omissions(course.root, uses.modules_of(course.root))]


def test_a_whole_lesson_lacks_nothing(course, two_lessons):
    assert said(course) == []


def removed(name):
    return lambda folder: (folder / name).unlink()


def edited(name, old, new):
    def change(folder):
        text = (folder / name).read_text()
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize(
    ("change", "file", "expected"),
    [
        (edited("__init__.py", "NAME", "CALLED"), "__init__.py", 'does not say NAME: add NAME = "07-name"'),
        (edited("__init__.py", "TITLE", "HEAD"), "__init__.py", "does not say TITLE: add TITLE ="),
        (edited("__init__.py", "EXERCISES", "TASKS"), "__init__.py", "does not say EXERCISES: add EXERCISES ="),
        (edited("__init__.py", '"00-', '"'), "__init__.py", 'NAME must be two digits and words, such as "07-name"'),
        (edited("__init__.py", ",)", ")"), "__init__.py", "EXERCISES must be a tuple, such as ('keep_probability',)"),
        (edited("__init__.py", "y',", "y', 'sums',"), "__init__.py", "EXERCISES names sums: write "),
        (
            edited("__init__.py", "y',", "y', 'keep_probability',"),
            "__init__.py",
            "EXERCISES names keep_probability more than once",
        ),
        (removed("keep_probability.py"), "__init__.py", "EXERCISES names keep_probability: write "),
        (edited("keep_probability.py", "exercise =", "task ="), "keep_probability.py", "has no `exercise`"),
        (
            lambda folder: (folder / "sums.py").write_text("exercise = 1\n"),
            "sums.py",
            'holds an exercise: add "sums" to EXERCISES in ',
        ),
        *((removed(name), name, f"is missing: write it, with {what}") for name, what in complete.FILES.items()),
    ],
)
def test_what_a_lessons_folder_lacks_is_said(course, change, file, expected):
    folder = course.package / "course" / "start_here"
    edited("__init__.py", '("keep_probability",)', "('keep_probability',)")(folder)
    change(folder)
    found = said(course)
    assert any(line.startswith(f"{folder / file}:1: {expected}") for line in found), found
    with pytest.raises(build.SourceError):
        build.build(course.root)


def test_a_folder_without_a_source_and_a_source_without_a_folder_are_said(course):
    other = course.source.rename(course.source.with_stem("07-new"))
    folder = course.package / "course" / "start_here"
    assert said(course) == [
        f"{course.source}:1: is missing: write the source of the lesson in {folder}",
        f'{other}:1: is no lesson\'s source: add a folder to {folder.parent} with `NAME = "07-new"`',
    ]


def test_two_lessons_have_two_numbers(two_lessons):
    folder = two_lessons.package / "course" / "start_here"
    edited("__init__.py", "00-start-here", "01-start-here")(folder)
    assert f"{folder}/__init__.py:1: 01 is the number of 01-next: give NAME a free one" in said(two_lessons)
