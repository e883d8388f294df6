"""The hostile class once more, graded by an ordinary user, for whom the sandbox is made in another way than for root.

python tests/grading/test_hostile.py FOLDER       (grades FOLDER/class into FOLDER/out, and prints the marks as JSON)
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from grading import nobody

TESTS = Path(__file__).parents[1]
ALONE = ("endless", "bomb", "sleep", "spinning", "forty", "power without end", "stops itself")
"""Words in the names of kinds that say more of the machine's load than of who grades."""


def graded(folder):
    """student -> (status, score) of FOLDER/class."""
    from dpcourse.grading import cohort
    from dpcourse.grading.keep.store import opened
    from dpcourse.grading.run import Limits, executors

    with executors.local(2) as pool, opened(folder / "out") as store:
        limits = Limits(cell_seconds=8, seconds=120, memory=2**29)
        cohort.grade_class(folder / "class", store, lambda: contextlib.nullcontext(pool), 1, limits, course=folder / "course")  # fmt: skip
        return {row.student: (row.result.status, row.result.score) for row in store.rows()}


def course_and_class(folder, kinds):
    from grading.kinds.making import cells_of, make, written

    from dpcourse import course

    for which in ("lessons", "solutions"):
        (folder / "course" / which).mkdir(parents=True)
        for lesson in course.lessons():
            (folder / "course" / which / f"{lesson.name}.ipynb").write_bytes(written(cells_of(which, lesson)))
    (folder / "class").mkdir()
    for kind in kinds:
        make(kind, folder / "class")


@pytest.fixture
def folder():
    """One that every user can reach, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.mark.weekly("kinds that meet a wall of the sandbox once more, as an ordinary user")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sandboxes")
def test_an_ordinary_user_gives_every_kind_that_meets_a_wall_what_root_gives_it(folder):
    from grading.kinds import TOPICS
    from grading.kinds.making import student
    from support import of_this_week

    command = nobody.command(sys.executable, "-B", __file__)
    kinds = [
        kind
        for topic in ("denial", "escapes")
        for kind in TOPICS[topic]
        if not kind.weekly and not any(word in kind.name for word in ALONE)
    ]
    kinds = of_this_week(kinds)
    course_and_class(folder, kinds)
    for path in [folder, *folder.rglob("*")]:
        os.lchown(path, nobody.USER, nobody.USER)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/tmp",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": f"{TESTS.parent}:{TESTS}",
    }
    done = subprocess.run([*command, folder], capture_output=True, text=True, env=environment)
    if done.returncode != 0 and "Operation not permitted" in done.stderr:
        pytest.skip(f"no ordinary user here can make a sandbox: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    marks = {name: tuple(mark) for name, mark in json.loads(done.stdout.splitlines()[-1]).items()}
    assert {kind.name: marks.get(student(kind)) for kind in kinds} == {kind.name: (kind.status, kind.score) for kind in kinds}  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(graded(Path(sys.argv[1]))))
