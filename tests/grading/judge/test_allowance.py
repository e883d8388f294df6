"""The time of a whole submission is what it has run, and not what it has waited for."""

import time
from types import SimpleNamespace

import pytest

from dpcourse.checking.calling.limits import LENIENCE
from dpcourse.grading.judge.allowance import Allowance


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: now.seconds)
    return now


def test_time_that_passes_counts(clock):
    allowance = Allowance(10)
    clock.seconds += 4
    assert allowance.left() == 6


def test_the_start_of_a_worker_does_not_count(clock):
    allowance = Allowance(10)
    clock.seconds += 30
    allowance.started(SimpleNamespace(waited=0.0), 30)
    assert allowance.left() == 10


def test_waiting_for_a_core_does_not_count_by_whatever_worker_up_to_a_bound(clock):
    allowance, first, second = Allowance(10), SimpleNamespace(waited=0.0), SimpleNamespace(waited=0.0)
    allowance.started(first, 0)
    clock.seconds += 20  # many long cells on a loaded machine, each within its limit
    first.waited = 12.0
    assert allowance.left() == 2
    allowance.started(second, 0)
    clock.seconds += 5
    second.waited = 5.0
    assert allowance.left() == 2
    second.waited = 1000.0
    assert allowance.left() == 10 + LENIENCE * 10 - 25


def test_what_is_used_up_stays_so(clock):
    allowance, worker = Allowance(10), SimpleNamespace(waited=0.0)
    allowance.started(worker, 1)
    allowance.use_up()
    worker.waited = 100.0
    assert allowance.left() < 0
