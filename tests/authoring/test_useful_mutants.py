"""Which slips are worth trying: nothing that the diagnosis could tell is lost, and what is stored is of the code as it is."""

import dataclasses
import json

import numpy as np
import pytest
from support import ROOT

from dpcourse import course
from dpcourse.authoring import compare, useful_mutants
from dpcourse.checking.diagnosis import mutants
from dpcourse.checking.diagnosis.words import Change


def numbers(function, cases):
    try:
        with np.errstate(all="ignore"):
            return np.array([np.ravel(function(*case.values())) for case in cases], dtype=float)
    except Exception:
        return None


@pytest.mark.in_turn("seconds of reading sources")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("lesson", "function"), [(1, "advanced_composition"), (3, "approx_dp_curve"), (2, "privacy_loss")]
)
def test_what_is_left_out_does_on_new_inputs_what_is_kept_does_or_nothing(lesson, function):
    exercise = course.lesson(lesson).exercise(function)
    program = mutants.Program(exercise.reference)
    cases = exercise.draw(np.random.default_rng(77))
    kept = {
        place: numbers(mutant, cases)
        for place, _, _, mutant in program.numbered(mutants.stored(exercise.folder)[program.key])
    }
    known = [numbers(exercise.reference, cases), *(value for value in kept.values() if value is not None)]
    left_out = [numbers(mutant, cases) for place, _, _, mutant in program.numbered() if place not in kept]
    new = [
        value
        for value in left_out
        if value is not None and not any(np.allclose(value, other, 1e-6, equal_nan=True) for other in known)
    ]
    assert len(left_out) > 20
    assert len(new) <= 0.02 * (len(kept) + len(left_out))


def test_of_two_that_do_the_same_the_cheaper_is_kept():
    exercise = course.lesson(1).exercise("sequential_composition")
    program = mutants.Program(exercise.reference)
    every = {place: Change.of(change) for place, change, _, _ in program.numbered()}
    kept = useful_mutants.worth(exercise, program)
    assert 0 < len(kept) < len(every)
    cases = exercise.draw(np.random.default_rng(0))
    values = {place: numbers(mutant, cases) for place, _, _, mutant in program.numbered()}
    for place, value in values.items():
        same = [other for other in kept if value is not None and np.array_equal(values[other], value, equal_nan=True)]
        assert all(every[other].cost <= every[place].cost for other in same)


def test_it_is_stored_for_every_exercise_and_for_none_that_is_gone(monkeypatch, tmp_path):
    lesson = dataclasses.replace(course.lesson(0), functions=("keep_probability",))
    lesson.__dict__["exercises"] = tuple(dataclasses.replace(each, folder=tmp_path) for each in lesson.exercises)
    monkeypatch.setattr(course.Lesson, "folder", tmp_path)
    monkeypatch.setattr(course, "lessons", lambda: (lesson,))
    file, programs = tmp_path / mutants.STORED, [program for _, program in useful_mutants.programs(lesson)]
    file.write_text('{"gone": {"0123": [1, 2]}}')
    mutants.stored.cache_clear()
    try:
        assert useful_mutants.missing() == [(file, ["keep_probability"])]
        assert useful_mutants.write() == [file]
        assert {name: set(of) for name, of in json.loads(file.read_text()).items()} == {
            "keep_probability": {program.key for program in programs}
        }
        assert useful_mutants.missing() == []
        assert useful_mutants.write() == []
        assert 0 < sum(1 for _ in programs[0].mutants(tmp_path)) < sum(1 for _ in programs[0].mutants())
    finally:
        mutants.stored.cache_clear()


@pytest.mark.parametrize("damaged", ["", "[1]", '{"f": 3}', '{"f": {"key": 3}}', "{"])
def test_where_it_cannot_be_read_all_are_tried(tmp_path, damaged):
    (tmp_path / mutants.STORED).write_text(damaged)
    assert mutants.stored(tmp_path) == {}


def test_what_is_not_stored_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(mutants, "stored", lambda folder: {})
    said = list(compare._of_slips(ROOT))
    assert len(said) == len(course.lessons())
    assert said[0].startswith(
        "dpcourse/course/start_here/mutants.json: has no slips worth trying of keep_probability, "
    )
    assert all(line.endswith(": run `dpcourse build`") for line in said)
