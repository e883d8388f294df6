"""Whether this machine can grade: a sandbox is made, a worker started in it, and a function called."""

import time

import ipykernel  # noqa: F401 - a worker asks for it: where it is not installed, nothing is tried

from dpcourse.base.languages import say
from dpcourse.grading.run import Limits, Stopped, Unavailable, bubblewrap, cgroups, warm
from dpcourse.grading.run.client import Worker
from dpcourse.notebook.doctor import Finding

CELL = "import numpy as np\n\ndef tried(x):\n    return float(np.sum(x))"
PROBE: dict = {"function": "tried", "forbidden": [], "counted": None, "seconds": 10.0}
SECONDS = 30.0


def finding() -> Finding:
    """What the set-up check tells an instructor."""
    lacking = bubblewrap.missing()
    if lacking:
        told = say("no sandbox: {reason}. Only instructors need one", reason=lacking)
        return Finding(say("grading"), "note", told)
    begun = time.monotonic()
    if reason := fault():
        told = say(
            "a sandbox can be made, but no student's code runs in it ({reason}): packages that lie outside of this "
            "environment may be out of its reach; make a new one as README says, with `pip install -r requirements.txt`. "
            "Only instructors need it",
            reason=reason,
        )
        return Finding(say("grading"), "missing", told)
    return Finding(say("grading"), "ok", _works(time.monotonic() - begun))


def fault() -> str | None:
    """Why no student's code can be run here; None where it can. Takes some seconds."""
    try:
        with Worker(Limits(), [PROBE]) as worker:
            error = worker.ask({"cell": CELL, "number": 1, "seconds": SECONDS}, SECONDS)["error"]
            outcomes = worker.ask({"probe": "tried", "cases": [{"x": [1.0, 2.0]}]}, SECONDS).get("outcomes")
        value = outcomes and outcomes[0].get("value")
        return None if error is None and value == 3.0 else str(error or outcomes)[:300]
    except (Unavailable, Stopped) as error:
        return str(error)
    finally:
        warm.close()


def _works(seconds):
    if cgroups.launcher():
        told = say(
            "bubblewrap makes sandboxes for students' notebooks; the kernel keeps each to its share of memory and cores "
            "(cgroup v2)"
        )
    else:
        told = say(
            "bubblewrap makes sandboxes for students' notebooks; what each uses is measured (systemd gives no control "
            "group, by which the kernel would see to it)"
        )
    return say("{sandboxes}. One was tried, in {seconds:.0f} seconds", sandboxes=told, seconds=seconds)
