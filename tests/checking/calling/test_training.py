"""The parts of a training run that an answer is given, and what their diary holds."""

import numpy as np
import pytest

from dpcourse.checking.calling.probe import Probe, made
from dpcourse.checking.calling.training import AHEAD, ASKED, REFUSED, SPENT, parts

TABLE = np.arange(6.0).reshape(3, 2)
CASE = {"gradients": TABLE, "ledger": 2, "noise_multiplier": 1.5, "sample_rate": 0.1}


def new(**other):
    return parts(CASE | other).values()


def diary_of(ledger):
    return np.asarray(ledger)


def test_what_is_asked_is_written_down_in_its_order():
    gradients, ledger = new()
    ledger.spend(1.5, 0.1)
    gradients(np.array([1.0, 2.0]), np.array([0, 2]))
    ledger.spend(noise_multiplier=1.5, sample_rate=0.1)
    with pytest.raises(ValueError, match="no room for one more step: take none"):
        ledger.spend(1.5, 0.1)
    assert diary_of(ledger).tolist() == [
        [SPENT, 1.5, 0.1, 0, 0, 0, 0, 0],
        [ASKED, 0, 0, 1, 0, 1, 1, 2],
        [SPENT, 1.5, 0.1, 0, 0, 0, 0, 0],
        [REFUSED, 1.5, 0.1, 0, 0, 0, 0, 0],
    ]


def test_other_settings_are_refused_and_cost_nothing():
    _, ledger = new()
    with pytest.raises(ValueError, match=r"noise_multiplier 1.5 and sample_rate 0.1, got 0.1 and 1.5"):
        ledger.spend(0.1, 1.5)
    ledger.spend(1.5, 0.1)
    ledger.spend(1.5, 0.1 * (1 + 1e-15))  # rounding
    assert diary_of(ledger)[:, 0].tolist() == [REFUSED, SPENT, SPENT]


@pytest.mark.parametrize("people", [[0, 2], np.array([0, 2]), np.array([True, False, True]), (0, 2), [-3, 2]], ids=str)
def test_people_may_be_named_in_any_way_that_numpy_takes(people):
    gradients, ledger = new()
    assert gradients([0, 0], people).tolist() == TABLE[[0, 2]].tolist()
    assert diary_of(ledger)[0, AHEAD : AHEAD + 3].tolist() == [1, 0, 1]


@pytest.mark.parametrize("nobody", [[], np.array([]), np.zeros(3, bool), np.arange(0)], ids=str)
def test_of_nobody_there_are_no_rows(nobody):
    gradients, ledger = new()
    assert gradients(np.zeros(2), nobody).shape == (0, 2)
    assert diary_of(ledger)[:, AHEAD:].tolist() == [[0] * 5]


def test_person_by_person_is_as_at_once_until_the_weights_move_or_a_step_is_paid():
    (gradients, ledger), here = new(), np.zeros(2)
    for person in (0, 1, 1):
        gradients(here, person)
    here += 1
    gradients(here, [2])
    ledger.spend(1.5, 0.1)
    gradients(here, [2])
    assert diary_of(ledger)[:, AHEAD:].tolist() == [
        [1, 2, 0, 0, 0],
        [0, 0, 1, 1, 1],
        [0] * 5,
        [0, 0, 1, 1, 1],
    ]


def test_rows_that_are_changed_are_a_copy():
    gradients, _ = new()
    gradients(np.zeros(2), [0, 1])[:] = 99
    gradients(np.zeros(2), np.ones(3, bool))[:] = 99
    assert gradients(np.zeros(2), [0, 1, 2]).tolist() == TABLE.tolist()


def test_weights_and_people_of_another_shape_are_told():
    gradients, _ = new()
    with pytest.raises(ValueError, match=r"weights must have the shape \(2,\), got \(3,\)"):
        gradients(np.zeros(3), [0])
    with pytest.raises(ValueError, match=r"people must be one list of indices, got shape \(1, 2\)"):
        gradients(np.zeros(2), np.nonzero([1, 0, 1]))


def test_an_answer_gives_the_diary_back_and_its_own_arguments_are_watched():
    def answer(gradients, ledger, noise_multiplier, sample_rate):
        gradients(np.zeros(2), [1])
        return gradients(np.zeros(2), [1]), ledger

    (outcome,) = Probe("answer").probe(answer, [CASE])
    assert outcome["value"][0].tolist() == [[2.0, 3.0]]
    assert outcome["value"][1][:, 0].tolist() == [ASKED]
    assert made(CASE | {"rng": 1}) == {"rng", "gradients", "ledger"}
    assert made({"gradients": TABLE, "rng": 1}) == {"rng"}
    (other,) = Probe("answer").probe(lambda gradients: gradients.sort(axis=0), [{"gradients": TABLE[::-1]}])
    assert other["changed"] == "gradients", "an array of that name in another exercise"
