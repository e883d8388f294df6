"""The map of the course: lessons in their order, arcs from what is needed, and where the learner is."""

import re

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from support import ROOT

from dpcourse import course, plots
from dpcourse.authoring import outline
from dpcourse.notebook import progress
from dpcourse.notebook.course_map import CourseMap, stages
from dpcourse.notebook.progress import Progress, record


@pytest.fixture(autouse=True)
def nothing_done(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "data"))


def test_every_lesson_is_on_the_map_and_builds_on_earlier_ones_alone():
    found = stages()
    assert [stage.number for stage in found] == [lesson.number for lesson in course.lessons()]
    for stage, lesson in zip(found, course.lessons(), strict=True):
        assert all(need < stage.number for need in stage.needs)
        assert bool(stage.needs) == (stage.number > 0), "one begins with the first"
        assert stage.exercises == len(lesson.functions)


@pytest.mark.in_turn("seconds of kernels or draws")
def test_outlines_are_those_of_the_sources_and_one_of_older_sources_is_named(monkeypatch):
    assert not list(outline.behind(ROOT))
    monkeypatch.setattr(outline, "OUTLINE", "older.json")
    files = [file for file, _ in outline.behind(ROOT)]
    assert [file.name for file in files] == ["older.json"] * len(course.lessons())


def drawn(**arguments):
    """Node -> its place, as it is drawn; arcs as pairs of nodes; the description."""
    figure = Figure()
    description = plots.course_map(figure, **arguments)
    [panel] = figure.axes
    names = {text.get_position()[1]: text.get_text() for text in panel.texts if re.match(r"\d\d ", text.get_text())}
    arrows = [patch._posA_posB for patch in panel.patches if isinstance(patch, FancyArrowPatch)]
    arcs = [(int(names[begin[1]][:2]), int(names[end[1]][:2])) for begin, end in arrows]
    return names, arcs, description


def test_an_arc_leads_from_each_lesson_to_those_that_build_on_it():
    names, arcs, description = drawn(stages=stages())
    assert [names[row] for row in sorted(names)] == [f"{each.number:02} {each.title}" for each in course.lessons()]
    needed = [(need, stage.number) for stage in stages() for need in stage.needs]
    assert arcs == needed
    assert all(f"{need:02} → {number:02}" in description for need, number in needed)
    assert "passed" not in description, "on a page nobody learns"


def test_it_says_what_is_passed_and_rings_the_lesson_of_the_next_exercise():
    first, second = course.lessons()[:2]
    for function in first.functions:
        record(f"{first.word}/{function}")
    record(f"{second.word}/{second.functions[0]}")
    data, _ = Progress().on_the_map()._repr_mimebundle_()
    said = data["text/plain"]
    assert f"00 Start here, {len(first.functions)} of {len(first.functions)} exercises passed" in said
    assert f"01 Composition, 1 of {len(second.functions)} exercises passed" in said
    assert said.endswith("A ring marks lesson 01, where you are.")
    assert said in data["text/html"].replace("&#x27;", "'")


def test_when_all_is_done_no_lesson_is_ringed():
    for exercise in course.every_exercise():
        record(exercise.id)
    there = Progress().on_the_map()
    assert there.here is None
    assert "ring" not in drawn(stages=stages(there.passed), here=None)[2]


def test_a_map_on_show_is_drawn_anew_as_a_map(monkeypatch):
    shown = []

    class Handle:
        def update(self, new):
            shown.append(new)

    monkeypatch.setattr(progress, "_shown", [])
    monkeypatch.setattr("IPython.display.display", lambda made, display_id: shown.append(made) or Handle())
    progress.progress(as_map=True)
    progress.progress()
    record("start_here/keep_probability")
    assert [type(each) for each in shown] == [CourseMap, Progress, CourseMap, Progress]
    assert stages(shown[2].passed)[0].passed == 1
