"""A sandbox under attack, as the user who runs the tests and, where that is root, as an ordinary user too."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from grading import nobody
from sandboxed import NEEDS_SANDBOX

from dpcourse.grading.run import Limits, Stopped, processes, seccomp, warm
from dpcourse.grading.run.client import Worker

pytestmark = NEEDS_SANDBOX

ROOT = Path(__file__).resolve().parents[3]
ESCAPES = Path(__file__).with_name("escapes.py")
SECRET = {"TOKEN": "not-for-students"}  # in the environment of the grader
LIMITS = Limits(cell_seconds=60, seconds=600)
NOBODY = "65534"


def defines(code, function):
    return [{"function": function, "forbidden": [], "counted": None, "seconds": 60}], {"cell": code, "number": 1, "seconds": 60.0}  # fmt: skip


def what_is_tried():
    """[name, how it must end, how it ended] of each attempt in escapes.py, in a new sandbox."""
    known = {name: number for name in seccomp.DENIED if (number := seccomp.number(name)) >= 0}
    probes, cell = defines(f"NUMBERS = {known}\n{ESCAPES.read_text()}", "tried")
    with Worker(LIMITS, probes, ["numpy"]) as worker:
        assert worker.ask(cell, 60)["error"] is None
        [outcome] = worker.ask({"probe": "tried", "cases": [{}]}, 60)["outcomes"]
        return outcome["value"]


def what_nobody_tries():
    """The same, as an ordinary user."""
    command = nobody.command(sys.executable, "-B", Path(__file__))
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=os.environ | SECRET | {"HOME": "/tmp", "PYTHONPATH": str(ROOT / "tests")},
    )
    if done.returncode != 0 and "Operation not permitted" in done.stderr:
        pytest.skip(f"no ordinary user here can make a sandbox: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", autouse=True)
def one_warm_process():
    yield
    warm.close()


@pytest.fixture(scope="module", params=[what_is_tried, what_nobody_tries])
def attempts(request):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SECRET.items():
            patch.setenv(name, value)
        return request.param()


@pytest.mark.one_case("all attempts in a sandbox")
def test_every_attempt_ends_as_it_must(attempts):
    assert len(attempts) >= 40
    assert [each for each in attempts if each[2] not in each[1].split(" or ")] == []


def stopped_by(code, limits):
    """Why a cell is stopped."""
    probes, cell = defines(code, "nothing")
    with Worker(limits, probes) as worker, pytest.raises(Stopped) as stop:
        worker.ask(cell, 60)
    return str(stop.value)


SMALL = Limits(memory=200 * 2**20)
UNREAD = """
import socket, time
place = {place!r}
with socket.socket(socket.{family}) as server:
    server.bind(place)
    server.listen(4096)
    for _ in range(300):  # what is sent waits in the kernel, and belongs to no open file
        with socket.socket(server.family) as client:
            client.connect(place)
            client.setblocking(False)
            try:
                while client.send(bytes(2**20)): pass
            except BlockingIOError:
                pass
    time.sleep(60)
"""


@pytest.mark.in_turn("seconds in a sandbox")
@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        (
            "for folder in ('/tmp', '/dev/shm'):\n    for i in range(4): open(f'{folder}/{i}', 'wb').write(bytes(2**25))\n"
            "import time; time.sleep(60)",
            Limits(memory=200 * 2**20),
            "the memory limit was reached",
        ),
        (
            "for i in range(2000): open(f'/tmp/{i}', 'w').close()\nimport time; time.sleep(60)",
            Limits(files=1000),
            "the limit on files was reached",
        ),
        (
            "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n"
            "        kept = [open('/dev/null') for _ in range(200)]\n        time.sleep(60)\ntime.sleep(60)",
            Limits(open_files_of_all=800),
            "the limit on open files was reached",
        ),
        (UNREAD.format(family="AF_INET", place=("127.0.0.1", 4000)), SMALL, "the memory limit was reached"),
        (UNREAD.format(family="AF_UNIX", place="/tmp/here"), SMALL, "the memory limit was reached"),
    ],
    ids=["files in memory", "many files", "open files", "unread by TCP", "unread by Unix"],
)
def test_what_no_limit_of_one_process_bounds_is_measured(code, limits, reason):
    assert stopped_by(code, limits) == reason


LOAD = """
import os, subprocess, time
children = [subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(9)]
def priorities(): return [os.getpriority(os.PRIO_PROCESS, child.pid) for child in children]
def shares():
    try: return [int(open(f"/proc/{child.pid}/autogroup").read().split()[-1]) for child in children]
    except OSError: return [10]  # sessions have no share of the cores here
while min(priorities()) < 10 or min(shares()) < 10: time.sleep(0.05)
seen = [os.getpriority(os.PRIO_PROCESS, 0), min(priorities()), max(priorities())]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(60)
    os._exit(0)
"""
SEEN = """
def alive(process):
    try:
        with open(f"/proc/{process}/stat") as file: return ") Z" not in file.read()
    except OSError: return False
def left(): return sorted(int(each) for each in os.listdir("/proc") if each.isdigit() and alive(each))
def found():
    end = time.monotonic() + 1  # what is killed may take a moment to die
    while len(left()) > 2 and time.monotonic() < end: time.sleep(0.02)
    return seen, left(), os.getpid()
"""


@pytest.mark.parametrize("end", [False, True], ids=["live on", "end"])
def test_what_a_cell_starts_weighs_as_one_process_and_ends_with_the_cell_if_asked(end):
    probes, cell = defines(f"{LOAD}\n{SEEN}", "found")
    with Worker(LIMITS, probes) as worker:
        told = worker.ask(cell | {"end_processes": end}, 60)
        assert (told["error"], told["processes"]) == (None, not end)
        [outcome] = worker.ask({"probe": "found", "cases": [{}]}, 60)["outcomes"]
    priorities, left, me = outcome["value"]
    assert priorities == [
        os.getpriority(os.PRIO_PROCESS, 0),
        10,
        10,
    ]  # 9 processes in 9 sessions, each with 1.25**-10 of the weight
    assert left[:2] == [1, me]
    assert len(left) == 2 + (0 if end else 10)


def test_tasks_weigh_as_one():
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(5)]
    try:
        processes.weigh_as_one([started[0].pid])
        assert os.getpriority(os.PRIO_PROCESS, started[0].pid) == os.getpriority(os.PRIO_PROCESS, 0)
        processes.weigh_as_one([each.pid for each in started])
        nice = os.getpriority(os.PRIO_PROCESS, started[0].pid)
        assert 5 * 1.25**-nice <= 1 < 5 * 1.25 ** -(nice - 1)
    finally:
        for each in started:
            each.kill()
            each.wait()


def test_the_user_whom_root_becomes_is_nobodys():
    user = processes.unused_user()
    assert user >= processes.FIRST_USER
    assert user not in {process.uids().real for process in psutil.process_iter()}


SIGNALS = [
    signal.SIGTERM,
    *(
        pytest.param(each, marks=pytest.mark.weekly("one signal shows the way"))
        for each in (signal.SIGHUP, signal.SIGINT, signal.SIGKILL)
    ),
]


@pytest.mark.in_turn("seconds in a sandbox")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_the_warm_process_starts_leaves_nothing(number, tmp_path):
    """The grader is hit, and what it has started, where the signal is one that can be heeded."""
    usual = {signal.SIGHUP: "SIG_DFL", signal.SIGINT: "default_int_handler"}.get(number)
    heeded = (
        f"import signal; signal.signal({number:d}, signal.{usual}); " if usual else ""
    )  # where tests run behind `&`
    code = heeded + "from dpcourse.grading.run.warm import warm; warm(); print('warm', flush=True)"
    grader = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT)  # fmt: skip
    while not any(each.is_dir() for each in tmp_path.iterdir()):  # a file without a name may have one for a moment
        assert grader.poll() is None
        time.sleep(0.01)
    [started] = psutil.Process(grader.pid).children()
    if number != signal.SIGKILL:
        started.send_signal(number)
    grader.send_signal(number)
    assert b"warm" not in grader.communicate()[0]
    started.wait(60)
    assert list(tmp_path.iterdir()) == []


if __name__ == "__main__":
    print(json.dumps(what_is_tried()))
    warm.close()
