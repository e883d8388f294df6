"""Submissions per minute: `dpcourse grade`, and nbgrader's autograde on the same notebooks.

    python tests/benchmarks/bench_grading.py [--submissions 20] [--jobs 2]

The notebooks are lesson 01, handed in through an nbgrader course, with some answers left blank.
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

from dpcourse.authoring import release

ROOT = Path(__file__).parents[2]
NAME = "01-composition"


def make_course(course, size):
    """An nbgrader course with that many submissions; in the i-th, the answers of the bits of i are blank."""
    release.nbgrader_course(ROOT, course, [1])
    source = json.loads((course / "source" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    answers = [i for i, cell in enumerate(source["cells"]) if "answer" in str(cell["metadata"])]
    for i in range(size):
        notebook = json.loads(json.dumps(source))
        for bit, at in enumerate(answers):
            if i >> bit & 1:
                head, _, _ = notebook["cells"][at]["source"].partition("    ### BEGIN SOLUTION")
                notebook["cells"][at]["source"] = head + "    raise NotImplementedError"
        folder = course / "submitted" / f"student{i:03}" / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def seconds(command, folder):
    """How long a command takes; it must succeed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "DPCOURSE_DATA": str(folder)}
    begun = time.monotonic()
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.monotonic() - begun


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--submissions", type=int, default=20)
    options.add_argument("--jobs", type=int, default=2)
    options = options.parse_args()
    base = Path(tempfile.mkdtemp(prefix="bench-grading-"))
    course = base / "course"
    try:
        make_course(course, options.submissions)
        grade = [sys.executable, "-c", "from dpcourse.cli import app; app()", "grade"]
        ours = seconds([*grade, course / "submitted", "--out", base / "grades", "--jobs", options.jobs, "--json"], base)
        nbgrader = [sys.executable, "-m", "nbgrader"]
        seconds([*nbgrader, "generate_assignment", NAME], course)
        theirs = seconds([*nbgrader, "autograde", NAME], course)
    finally:
        shutil.rmtree(base)
    for name, taken in (("dpcourse grade", ours), ("nbgrader autograde", theirs)):
        rate = 60 * options.submissions / taken
        print(f"{name:20} {options.submissions} notebooks in {taken:6.1f} s: {rate:6.1f} a minute")
    print(f"ratio: {theirs / ours:.1f}")


if __name__ == "__main__":
    main()
