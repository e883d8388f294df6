"""Time limits within time limits."""

import itertools
import signal
import sys
import threading
import time

import pytest

from dpcourse.probe import apart, limits
from dpcourse.probe.probe import Probe


def test_nested_limits_are_independent_of_leftover_time():
    for seconds, work in itertools.product((0.05, 0.2), (0.0, 0.5)):
        try:
            with limits.time_limit(seconds):
                time.sleep(work)
            assert work < seconds
        except limits.TimeUp:
            assert work > seconds


# ---- where there is no timer, as on Windows

PROBE = Probe("f", seconds=1.0)


def written(code):
    """A function of a notebook: it belongs to no module that can be imported."""
    world = {"__name__": "__main__"}
    exec(code, world)
    return world["f"]


@pytest.fixture
def no_timer(monkeypatch):
    monkeypatch.delattr(signal, "setitimer")


@pytest.mark.usefixtures("no_timer")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("    while True: pass", marks=pytest.mark.weekly),
        pytest.param("    import time; time.sleep(60)", marks=pytest.mark.weekly),
        "    return 7 ** 10**9",
        "    while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    ],
)
def test_without_a_timer_whatever_never_ends_is_ended(body):
    answer, cases = written(f"def f(x):\n{body}"), [{"x": 1}]
    assert PROBE.probe(answer, cases)[0]["timeout"] == 1.0
    with pytest.raises(limits.TimeUp):  # and if the other process has no timer either
        apart.call(answer, 1, seconds=0.5)
    assert PROBE.probe(written("def f(x):\n    return 2 * x"), [{"x": 1}])[0]["value"] == 2, "the next check works"


@pytest.mark.usefixtures("no_timer")
def test_without_a_timer_outcomes_are_the_same():
    for code in (
        "def f(x):\n    print('here')\n    return x + 1",
        "def f(x):\n    raise NotImplementedError",
        "def f(x, y):\n    return 1",
        "def f(x):\n    x.append(1)\n    return 1",
        "import math\nscale = 3\n\ndef f(x):\n    return math.sqrt(scale * len(x))",
    ):
        answer, cases = written(code), [{"x": [1, 2]}]
        assert PROBE.probe(answer, cases) == PROBE._probe(answer, cases)


@pytest.mark.usefixtures("no_timer")
def test_what_cannot_be_sent_to_another_process_is_watched_here():
    world = {"__name__": "__main__", "lock": threading.Lock()}
    exec("def f(x):\n    while lock:\n        pass", world)
    assert PROBE.probe(world["f"], [{"x": 1}])[0]["timeout"] == 1.0


@pytest.mark.usefixtures("no_timer")
def test_where_no_thread_can_start_there_is_no_limit_and_that_is_said(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setitem(sys.modules, "loky", None)
    with pytest.warns(RuntimeWarning, match="no time limit is kept"):
        (outcome,) = PROBE.probe(written("def f(x):\n    return 2 * x"), [{"x": 1}])
    assert outcome["value"] == 2
