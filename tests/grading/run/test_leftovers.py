"""What is ended of a student's processes, and above all what is not: `kill` reaches no process here, it is only noted."""

import os
import time

import pytest

from dpcourse.checking.calling import limits
from dpcourse.grading.run import leftovers

FIRST, ONE, OTHER = 1, 500_001, 500_002  # numbers of processes


@pytest.fixture
def killed(monkeypatch):
    """The processes that would have been killed."""
    found = []
    monkeypatch.setattr(os, "kill", lambda process, signal: found.append(process))
    return found


@pytest.fixture
def there(monkeypatch):
    """process -> its state, of all that can be seen."""
    found = {FIRST: "S", os.getpid(): "R"}
    monkeypatch.setattr(limits, "all_there_are", lambda: [str(each) for each in found])
    monkeypatch.setattr(leftovers, "_state", lambda process: found.get(process, ""))
    monkeypatch.setattr(leftovers, "_threads", lambda process: 1)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(leftovers, "SETTLE", 0.01)
    return found


def everything(seen):
    seen.look(1)
    seen.make_way(2, "f", forbids=False)
    seen.make_way(2, "f", forbids=True)
    seen.look(3, end=True)


def test_without_a_sandbox_nothing_is_ended(killed, there):
    there |= {ONE: "R", OTHER: "S"}
    everything(leftovers.Left(False, lambda *told: None))
    assert killed == []


def test_where_nothing_was_left_nothing_is_ended(killed, there):
    there[ONE] = "Z"
    everything(leftovers.Left(True, lambda *told: None))
    assert killed == []


def test_only_what_is_busy_makes_way(killed, there):
    told = []
    seen = leftovers.Left(True, lambda *each: told.append(each))
    there[ONE] = "S"
    assert seen.look(4)["processes"]
    there[OTHER] = "R"
    seen.make_way(5, "f", forbids=False)
    assert (killed, told) == ([OTHER], [("busy", 5, "f")])
    seen.make_way(6, "g", forbids=True)
    assert told[1:] == [("forbids", 4, "g"), ("forbids", 6, "g")]
    assert killed == [OTHER, -1]


def test_too_many_are_ended_all_at_once(killed, there, monkeypatch):
    monkeypatch.setattr(leftovers.resource, "getrlimit", lambda which: (4, 4))
    seen, told = leftovers.Left(True, lambda *each: None), []
    there |= {ONE: "S", OTHER: "S"}
    assert seen.look(1) == {"left_running": False, "processes": True}
    assert killed == told == []
    there[500_003] = "S"
    assert not seen.look(2)["processes"]
    assert killed == [-1]
