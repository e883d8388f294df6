"""On a machine with a GPU, one command: the tests that need one, lesson 06, and the table of speeds for the docs.

    python tests/benchmarks/on_a_gpu.py > gpu.md        # Opacus is in the table where it is installed

Not part of the ordinary test run.
"""

import subprocess
import sys
import time
from pathlib import Path

import nbformat
import torch
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "solutions" / "06-accountants.ipynb"
COMMANDS = {
    "Tests that need a GPU": ["-m", "pytest", "-q", "tests/dpsgd/test_cuda.py"],
    "A step": ["tests/benchmarks/bench_dpsgd.py", "--device", "cuda", "--batch", "2048", "--without", "loop of one"],
}


def lesson():
    """Where the solved lesson trained, by its own choice, and the seconds that all its cells took."""
    notebook = nbformat.read(LESSON, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("print(route)"))
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(LESSON.parent)}})
    start = time.perf_counter()
    client.execute()
    return notebook.cells[-1].outputs[0].text.strip(), time.perf_counter() - start


def main():
    if not torch.cuda.is_available():
        sys.exit("needs an NVIDIA GPU that PyTorch can use: torch.cuda.is_available() is False here")
    print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n", flush=True)
    failed = False
    for title, command in COMMANDS.items():
        print(f"## {title}\n", flush=True)
        failed |= subprocess.run([sys.executable, *command], cwd=ROOT).returncode != 0
        print(flush=True)
    route, taken = lesson()
    print(f"## Lesson 06\n\ntrained on {route}; all its cells took {taken:.0f} s")
    sys.exit(failed or route != "cuda")


if __name__ == "__main__":
    main()
