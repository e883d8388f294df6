"""A Dask cluster as the place where a class is graded."""

import functools
import os
import signal

import pytest
from sandboxed import NEEDS_SANDBOX
from support import ROOT

from dpcourse import course
from dpcourse.grading import cohort
from dpcourse.grading.keep.store import opened
from dpcourse.grading.run import executors


@pytest.mark.weekly("Dask takes seconds to start, and to see that a worker is gone")
@NEEDS_SANDBOX
def test_a_dask_worker_that_is_killed_costs_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    folder = tmp_path / "class"
    folder.mkdir()
    solved, blank = (
        (ROOT / which / "01-composition.ipynb").read_text(encoding="utf-8") for which in ("solutions", "lessons")
    )
    for i in range(8):
        (folder / f"s{i}.ipynb").write_text((blank if i % 2 else solved) + " " * i, encoding="utf-8")
    killed = []

    def kill_one(results, total):
        for result in results:
            if not killed:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)
            yield result

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        opened(tmp_path / "out") as store,
    ):
        executor = functools.partial(executors.on_dask, cluster.scheduler_address)
        assert cohort.grade_class(folder, store, executor, progress=kill_one).graded == 8
        results = {row.student: (row.result.status, row.result.score) for row in store.rows()}
    assert killed
    points = sum(exercise.points for exercise in course.lesson(1).exercises)
    assert results == {f"s{i}": ("graded", 0 if i % 2 else points) for i in range(8)}
