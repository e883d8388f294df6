"""Time limits within time limits."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

from dpcourse.checking.calling import apart, limits
from dpcourse.checking.calling.probe import Probe


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
WEEK = pytest.mark.weekly("two show on a commit that what never ends is ended")


def written(code):
    """A function of a notebook: it belongs to no module that can be imported."""
    world = {"__name__": "__main__"}
    exec(code, world)
    return world["f"]


def forever():
    while True:
        pass


@pytest.fixture
def no_timer(monkeypatch):
    monkeypatch.delattr(signal, "setitimer")


@pytest.mark.in_turn("seconds of waiting")
@pytest.mark.one_case("waits for a limit")
@pytest.mark.usefixtures("no_timer")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("    while True: pass", marks=WEEK),
        pytest.param("    import time; time.sleep(60)", marks=WEEK),
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


DEAF = "while lock:\n  try:\n   while lock: x = 1\n  except BaseException: pass"  # to whatever is raised in it once


@pytest.mark.in_turn("seconds of waiting")
@pytest.mark.usefixtures("no_timer")
@pytest.mark.parametrize("body", ["while lock: pass", DEAF])
def test_what_cannot_be_sent_to_another_process_is_watched_here(body):
    world = {"__name__": "__main__", "lock": threading.Lock()}
    exec(f"def f(x):\n {body}", world)
    before = signal.getsignal(signal.SIGINT)
    assert PROBE.probe(world["f"], [{"x": 1}])[0]["timeout"] == 1.0
    assert (signal.getsignal(signal.SIGINT), sys.gettrace()) == (before, None)


@pytest.mark.usefixtures("no_timer")
def test_without_a_timer_the_stop_button_stays_what_it_is():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
    try:
        with pytest.raises(KeyboardInterrupt), limits.time_limit(60):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("no_timer")
def test_a_limit_within_a_limit_without_a_timer():
    with pytest.raises(limits.TimeUp), limits.time_limit(0.1), limits.time_limit(60):
        forever()
    with limits.time_limit(60), pytest.raises(limits.TimeUp), limits.time_limit(0.1):
        forever()


def test_beside_the_main_thread_a_limit_holds_too():
    said = []

    def run():
        try:
            with limits.time_limit(0.1):
                forever()
        except limits.TimeUp:
            said.append("up")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert said == ["up"]


# ---- where there is no thread either, and no other process, as in a browser


@pytest.fixture
def in_a_browser(no_timer, monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.delattr(threading, "get_native_id")
    monkeypatch.setattr(sys, "platform", "emscripten")


@pytest.mark.usefixtures("in_a_browser")
@pytest.mark.filterwarnings("default:Python can start no thread here")
def test_in_a_browser_an_answer_is_judged_as_everywhere(recwarn):
    (outcome,) = PROBE.probe(written("def f(x):\n    return 2 * x"), [{"x": 1}])
    assert outcome["value"] == 2
    warned = [str(each.message) for each in recwarn]
    assert warned == ([] if hasattr(sys, "monitoring") else [limits.UNLIMITED]), "where no limit is kept, it is said"


@pytest.mark.usefixtures("in_a_browser")
@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="before Python 3.12 nothing can keep a limit there")
@pytest.mark.parametrize("body", ["while True: pass", DEAF.replace("lock", "True"), "all(iter(lambda: 1, 2))"])
def test_in_a_browser_whatever_never_ends_is_ended(body):
    assert PROBE.probe(written(f"def f(x):\n {body}"), [{"x": 1}])[0]["timeout"] == 1.0
    assert not any(map(sys.monitoring.get_tool, range(6)))


# ---- a machine that is busy


def test_time_in_which_a_core_is_waited_for_does_not_count(monkeypatch):
    """As if this thread got a core for a third of the time only."""
    monkeypatch.setattr(limits, "waited", lambda thread, process="self": time.monotonic() * 2 / 3)
    clock = limits.Clock(1.0)
    with limits.time_limit(1.0):
        begun = time.monotonic()
        while time.monotonic() < begun + 1.3:
            pass
    assert clock.left() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="no system but Linux tells")
def test_what_another_thread_waits_for_a_core_does_not_count_either(monkeypatch):
    mine = threading.get_native_id()
    monkeypatch.setattr(limits, "waited", lambda thread, process="self": 0 if thread == mine else time.monotonic() / 2)
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with limits.time_limit(1.0):
            time.sleep(1.3)
    finally:
        done.set()
        other.join()


@pytest.mark.skipif(sys.platform != "linux", reason="no system but Linux tells")
def test_in_a_sandbox_what_its_other_processes_wait_for_does_not_count(monkeypatch):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        monkeypatch.setattr(limits.Clock, "processes", staticmethod(limits.all_there_are))
        monkeypatch.setattr(limits, "waited", lambda thread, process: process == str(other.pid) and time.monotonic())
        clock = limits.Clock(0.1)
        time.sleep(0.15)
        assert clock.left() > 0
        other.communicate(b"")


def test_no_limit_is_longer_than_three_times_itself(monkeypatch):
    monkeypatch.setattr(limits, "waited", lambda thread, process="self": time.monotonic() * 2)
    begun = time.monotonic()
    with pytest.raises(limits.TimeUp), limits.time_limit(0.1):
        time.sleep(60)
    assert begun + 0.3 <= time.monotonic()
    assert limits.Clock(0.1).end - time.monotonic() <= 0.1


@pytest.mark.usefixtures("no_timer")
def test_without_a_timer_waiting_does_not_count_either(monkeypatch):
    monkeypatch.setattr(limits, "waited", lambda thread, process="self": time.monotonic() / 2)
    with limits.time_limit(1.0):
        time.sleep(1.3)


def test_what_does_not_tell_how_long_it_waited_has_not():
    assert limits.waited(threading.get_native_id()) >= 0
    assert limits.waited(0) == limits.waited(1, "nobody") == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_a_limit_within_a_limit_stops_the_time_of_the_outer_one():
    with limits.time_limit(0.2), limits.time_limit(60):
        time.sleep(0.3)
    with limits.time_limit(0.2), limits.without_limit():
        time.sleep(0.3)
    with pytest.raises(limits.TimeUp), limits.time_limit(0.2):
        _sleep_after_a_limit()


def _sleep_after_a_limit():
    with limits.time_limit(60):
        pass
    time.sleep(60)


def test_only_code_inside_is_stopped_again_and_again():
    """IPython catches what a cell raises, and is not to be disturbed when it does."""
    library, notebook = {"time": time}, {}
    exec("def run(f):\n    try: f()\n    except BaseException as error: x = 1; return type(error).__name__", library)
    exec("def f():\n    while True:\n        try:\n            while True: pass\n        except: x = 1", notebook)
    with limits.time_limit(0.1, inside=notebook):
        assert library["run"](notebook["f"]) == "TimeUp"


def test_a_lock_that_is_waited_for_does_not_hide_that_the_time_was_up():
    """It is not held when it is given back, which is a RuntimeError; an answer that waits for a pool is late, not wrong."""
    with pytest.raises(limits.TimeUp), limits.time_limit(0.1):
        Future().result()


def test_an_exception_of_somebodys_own_stays_what_it_is():
    def answer():
        try:
            return {}["x"]
        except KeyError:
            return 1 / 0

    with pytest.raises(ZeroDivisionError), limits.time_limit(60):
        answer()


def test_an_exception_while_another_limits_end_is_handled_is_not_this_limits():
    """One that ended before this one began, or inside it."""
    try:
        raise limits.TimeUp
    except limits.TimeUp:
        with pytest.raises(ZeroDivisionError), limits.time_limit(60):
            _ = 1 / 0

    def answer():
        try:
            with limits.time_limit(0.1):
                time.sleep(10)
        except limits.TimeUp:
            return 1 / 0

    with pytest.raises(ZeroDivisionError), limits.time_limit(60):
        answer()
