"""Which slips are worth trying: nothing that the diagnosis could tell is lost, and what is stored is of the code as it is."""

import json

import numpy as np
import pytest
from support import ROOT

from dpcourse import course
from dpcourse.authoring import compare, worth
from dpcourse.checking.diagnosis import mutants


def numbers(function, cases):
    try:
        with np.errstate(all="ignore"):
            return np.array([np.ravel(function(*case.values())) for case in cases], dtype=float)
    except Exception:
        return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("lesson", "function"), [(1, "advanced_composition"), (3, "approx_dp_curve"), (2, "privacy_loss")]
)
def test_what_is_left_out_does_on_new_inputs_what_is_kept_does_or_nothing(lesson, function):
    exercise = course.lesson(lesson).exercise(function)
    program = mutants.Program(exercise.reference)
    cases = exercise.draw(np.random.default_rng(77))
    kept = {place: numbers(mutant, cases) for place, _, mutant in program.numbered(mutants.stored()[program.key])}
    known = [numbers(exercise.reference, cases), *(value for value in kept.values() if value is not None)]
    left_out = [numbers(mutant, cases) for place, _, mutant in program.numbered() if place not in kept]
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
    every = {place: change for place, change, _ in program.numbered()}
    kept = worth.worth(exercise, program)
    assert 0 < len(kept) < len(every)
    cases = exercise.draw(np.random.default_rng(0))
    values = {place: numbers(mutant, cases) for place, _, mutant in program.numbered()}
    for place, value in values.items():
        same = [other for other in kept if value is not None and np.array_equal(values[other], value, equal_nan=True)]
        assert all(every[other].cost <= every[place].cost for other in same)


def test_it_is_stored_for_every_exercise_and_for_none_that_is_gone(monkeypatch, tmp_path):
    monkeypatch.setattr(mutants, "STORED", tmp_path / "mutants.json")
    one = next(worth.programs())
    monkeypatch.setattr(worth, "programs", lambda: iter([one]))
    (tmp_path / "mutants.json").write_text('{"gone": [1, 2]}')
    mutants.stored.cache_clear()
    try:
        assert worth.missing() == ["keep_probability"]
        assert worth.write()
        assert list(json.loads((tmp_path / "mutants.json").read_text())) == [one[1].key]
        assert worth.missing() == []
        assert not worth.write()
        assert 0 < sum(1 for _ in one[1].mutants()) < sum(1 for _ in one[1].numbered())
    finally:
        mutants.stored.cache_clear()


def test_what_is_not_stored_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(mutants, "stored", dict)
    said = list(compare._of_slips(ROOT))
    assert len(said) == 1
    assert said[0].startswith(
        "dpcourse/checking/diagnosis/mutants.json: has no slips worth trying of keep_probability, "
    )
    assert said[0].endswith(": run `dpcourse build`")
