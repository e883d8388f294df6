"""Submissions per minute: `dpcourse grade`, and nbgrader's autograde on the same notebooks.

    python tests/benchmarks/bench_grading.py [--lesson 1] [--submissions 20] [--rounds 1] [--jobs 2] [--alone]

The notebooks are a lesson, handed in through an nbgrader course, with some answers left blank. Both take turns, so that
whatever else the machine does slows down both; beside the seconds by the clock stand those of the processors, of all
processes that a command started, as seen ten times a second. --alone: without nbgrader.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from dpcourse import course as lessons
from dpcourse.authoring import release
from dpcourse.base import cells

ROOT = Path(__file__).parents[2]
NBGRADER = [sys.executable, "-m", "nbgrader"]
TICK = 0.1


def make_course(course, name, size):
    """An nbgrader course with that many submissions; in the i-th, the answers of the bits of i are blank."""
    release.nbgrader_course(ROOT, course, [int(name[:2])])
    seconds([*NBGRADER, "generate_assignment", name], course)
    source, given_out = (
        json.loads((course / folder / name / f"{name}.ipynb").read_text(encoding="utf-8"))
        for folder in ("source", "release")
    )
    answers = [i for i, cell in enumerate(source["cells"]) if "answer" in str(cell["metadata"])]
    for i in range(size):
        notebook = json.loads(json.dumps(given_out))
        for bit, at in enumerate(answers):
            if not i >> bit & 1:
                notebook["cells"][at]["source"] = cells.without_marks(source["cells"][at]["source"])
        folder = course / "submitted" / f"student{i:03}" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def seconds(command, folder):
    """How long a command takes, by the clock and of the processors; it must succeed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "DPCOURSE_DATA": str(folder)}
    begun = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdout=said, stderr=said)
        of_processors = {}
        while process.poll() is None:
            of_processors |= used_by(process.pid)
            time.sleep(TICK)
        taken = time.monotonic() - begun
        if process.returncode:
            said.seek(0)
            sys.exit(said.read().decode())
    return taken, sum(of_processors.values())


def used_by(pid):
    """process -> its processor seconds so far, of a process and all that came from it."""
    found = {}
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return found
    for each in family:
        try:
            times = each.cpu_times()
            found[each.pid, each.create_time()] = times.user + times.system
        except psutil.Error:
            continue
    return found


def measured(base, name, options):
    """command -> the seconds of each round, by the clock and of the processors."""
    course, found = base / "course", {}
    make_course(course, name, options.submissions)
    grade = [sys.executable, "-c", "from dpcourse.commands import app; app()", "grade", course / "submitted", "--again"]
    commands = {"dpcourse grade": [*grade, "--out", base / "grades", "--jobs", options.jobs, "--json"]}
    if not options.alone:
        commands["nbgrader autograde"] = [*NBGRADER, "autograde", name, "--force"]
    for _ in range(options.rounds):
        for each, command in commands.items():
            found.setdefault(each, []).append(seconds(command, course))
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lesson", type=int, default=1)
    options.add_argument("--submissions", type=int, default=20)
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--alone", action="store_true")
    options = options.parse_args()
    base = Path(tempfile.mkdtemp(prefix="bench-grading-"))
    try:
        found = measured(base, lessons.lesson(options.lesson).name, options)
    finally:
        shutil.rmtree(base)
    for name, rounds in found.items():
        for clock, processors in rounds:
            rate = 60 * options.submissions / clock
            print(f"{name:20} {options.submissions} notebooks in {clock:6.1f} s: {rate:6.1f} a minute", end="; ")
            print(f"{processors / options.submissions:.2f} processor seconds each")
    if len(found) == 2:
        ours, theirs = ([sum(part) for part in zip(*rounds, strict=True)] for rounds in found.values())
        print(f"nbgrader takes {theirs[0] / ours[0]:.1f} times as long, ", end="")
        print(f"and {theirs[1] / ours[1]:.1f} times the processor seconds")


if __name__ == "__main__":
    main()
