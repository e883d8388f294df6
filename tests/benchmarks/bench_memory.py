"""What a lesson asks of the machine: seconds to its first finished cell, and the memory of JupyterLab while it runs.

    python -m pytest -s tests/benchmarks/bench_memory.py

Every lesson, blank and solved. A kernel is started three times and given the first code cell: the line has the slowest of them,
from the start of the process to the end of the cell. Then the notebook is opened in JupyterLab, and all its cells are run; five
times a second, the resident memory of the server and of its kernel is added up. (What they share is counted for each, so this
is a little too much. The browser, which on Binder is the learner's, is not in it.) More than 5 s, 1536 MiB in the kernel or
2048 MiB together fail. Not part of the ordinary test run, which bounds the kernel's memory too (conftest.py).
"""

import importlib.util
import json
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import nbformat
import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from dpcourse.authoring import navigation

SECONDS, KERNEL, TOGETHER = 5, 1536, 2048
ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("lab_fixtures", ROOT / "tests" / "browser" / "conftest.py")
fixtures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fixtures)
chromium, copy_of_course, server = fixtures.chromium, fixtures.copy_of_course, fixtures.server
browser, lab = fixtures.browser, fixtures.lab


@pytest.mark.parametrize("folder", ["lessons", "solutions"])
@pytest.mark.parametrize("name", [source.stem for source in navigation.sources(ROOT)])
def test_what_a_lesson_asks_of_the_machine(server, lab, name, folder):
    seconds = max(to_the_first_cell(ROOT / folder / f"{name}.ipynb") for _ in range(3))
    end_all_kernels(server)
    with Sampler() as most:
        lesson = lab(f"../{folder}/{name}")
        lesson.run_all()
    print(
        f"\n{folder}/{name:20} first cell {seconds:4.1f} s, kernel {most.kernel:5.0f} MiB, with JupyterLab {most.together:5.0f} MiB",
        end="",
    )
    assert seconds <= SECONDS
    assert 0 < most.kernel <= KERNEL
    assert most.kernel < most.together <= TOGETHER


def to_the_first_cell(file):
    """Seconds from the start of a kernel to the end of the first code cell."""
    cells = nbformat.read(file, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    start = time.perf_counter()
    manager, client = start_new_kernel(cwd=str(file.parent), stderr=subprocess.DEVNULL)
    try:
        reply = client.execute_interactive(first, output_hook=lambda message: None)
        assert reply["content"]["status"] == "ok", reply["content"]
        return time.perf_counter() - start
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def end_all_kernels(server):
    def ask(method, path):
        headers = {"Authorization": f"token {fixtures.TOKEN}"}
        with urllib.request.urlopen(urllib.request.Request(server + path, method=method, headers=headers)) as reply:
            return reply.read()

    for kernel in json.loads(ask("GET", "/api/kernels")):
        ask("DELETE", f"/api/kernels/{kernel['id']}")


class Sampler(threading.Thread):
    """Within its block: the most MiB that the kernel took, and the most that the server and all its children took."""

    def __init__(self):
        super().__init__(daemon=True)
        self.kernel = self.together = 0
        self.done = threading.Event()
        self.server = next(p for p in psutil.Process().children() if "jupyterlab" in p.cmdline())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.done.set()
        self.join()

    def run(self):
        while not self.done.wait(0.2):
            kernels = [p for p in self.server.children(recursive=True) if "ipykernel_launcher" in p.cmdline()]
            of_kernels = sum(map(mib, kernels))
            others = {self.server, *self.server.children(recursive=True)} - set(kernels)
            self.kernel = max(self.kernel, of_kernels)
            self.together = max(self.together, of_kernels + sum(map(mib, others)))


def mib(process):
    try:
        return process.memory_info().rss / 2**20
    except psutil.Error:  # it has just ended
        return 0
