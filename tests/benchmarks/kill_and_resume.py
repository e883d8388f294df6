"""Kill a grading run with SIGKILL at random moments, resume it, and compare with an undisturbed run.

    python tests/benchmarks/kill_and_resume.py [--lesson 1] [--submissions 200] [--kills 5] [--jobs 2]

The gradebook must be byte-identical, no submission may be graded twice, and no process may be left.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from dpcourse import course as lessons

ROOT = Path(__file__).parents[2]


def make_class(folder, name, size):
    """Notebooks of a lesson: in the i-th, the j-th answer is blank where the j-th bit of i is 0."""
    folder.mkdir()
    solved, blank = (
        json.loads((ROOT / which / f"{name}.ipynb").read_text(encoding="utf-8")) for which in ("solutions", "lessons")
    )
    answers = [i for i, cell in enumerate(solved["cells"]) if cell["source"] != blank["cells"][i]["source"]]
    for i in range(size):
        notebook = json.loads(json.dumps(solved))
        for bit, at in enumerate(answers):
            if not i >> bit & 1:
                notebook["cells"][at]["source"] = blank["cells"][at]["source"]
        notebook["metadata"]["number"] = i
        (folder / f"student {i:03}.ipynb").write_text(json.dumps(notebook))


def command(submissions, out, jobs):
    code = "from dpcourse.commands import app; app()"
    return [
        sys.executable,
        "-c",
        code,
        "grade",
        submissions,
        "--out",
        out,
        "--seed-file",
        out.parent / "seed",
        "--json",
        "--jobs",
        str(jobs),
    ]


def graded(submissions, out, jobs):
    """Run to the end; returns the summary."""
    done = subprocess.run(command(submissions, out, jobs), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def stored(out):
    """How many results are in the database; 0 where there is none."""
    file = out / "grades.sqlite"
    if not file.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            return database.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def killed(submissions, out, more, jobs):
    """Run, and kill the grader a random moment after `more` results have come; returns how many there are then.

    All that it started must end by itself.
    """
    before = stored(out)
    process = subprocess.Popen(command(submissions, out, jobs), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while stored(out) < before + more and process.poll() is None:
        time.sleep(0.02)
    time.sleep(random.uniform(0, 0.3))
    started = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _, left = psutil.wait_procs(started, timeout=10)
    assert not left, f"left behind: {left}"
    return stored(out)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lesson", type=int, default=1)
    options.add_argument("--submissions", type=int, default=200)
    options.add_argument("--kills", type=int, default=5)
    options.add_argument("--jobs", type=int, default=2)
    options = options.parse_args()
    base = Path(tempfile.mkdtemp(prefix="kill-and-resume-"))
    try:
        (base / "seed").write_text("the same for both runs")
        make_class(base / "class", lessons.lesson(options.lesson).name, options.submissions)
        begun = time.monotonic()
        graded(base / "class", base / "calm", options.jobs)
        print(f"undisturbed: {options.submissions} submissions in {time.monotonic() - begun:.0f} s")
        at = []
        most = options.submissions // (options.kills + 1)
        for _ in range(options.kills):
            at.append(killed(base / "class", base / "killed", random.randint(1, most), options.jobs))
        rest = graded(base / "class", base / "killed", options.jobs)
        print(f"killed with {', '.join(map(str, at))} results stored; the rest was {rest['graded_now']}")
        assert rest["graded_now"] == options.submissions - at[-1], "something was graded twice, or lost"
        names = sorted(file.name for file in (base / "calm").glob("*.csv"))
        for name in names:
            assert (base / "calm" / name).read_bytes() == (base / "killed" / name).read_bytes(), name
        print(f"{', '.join(names)}: byte-identical")
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
