"""What `import dpcourse` takes, beside `import numpy`, without which nothing here begins: `python tests/benchmarks/bench_import.py`.

Interleaved, each in an interpreter of its own; the least of all runs. Wanted: under 0.3 s on a quiet machine.
"""

import subprocess
import sys
import time

RUNS = 15


def seconds(code):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main():
    codes = ("pass", "import numpy", "import dpcourse")
    runs = [[seconds(code) for code in codes] for _ in range(RUNS)]
    nothing, numpy, course = map(min, zip(*runs, strict=True))
    print(f"import numpy     {numpy - nothing:.3f} s")
    print(f"import dpcourse  {course - nothing:.3f} s, {(course - nothing) / (numpy - nothing):.2f} times as long")


if __name__ == "__main__":
    main()
