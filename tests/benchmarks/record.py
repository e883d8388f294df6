"""Record the run that `dpsgd.replay()` shows: Fashion-MNIST with its recipe, seed 0, on the CPU.

    OMP_NUM_THREADS=1 python tests/benchmarks/record.py

Writes dpcourse/dpsgd/recording.json and prints its checksum, for CHECKSUM in dpcourse/dpsgd/recording.py.
Not part of the ordinary test run.
"""

from dpcourse import dpsgd
from dpcourse.dpsgd import recipes
from dpcourse.dpsgd.recording import RECORDING


def main():
    data, recipe = dpsgd.fashion_mnist(), recipes.FASHION_MNIST
    if data.name == "Digits":
        raise SystemExit("without Fashion-MNIST there is nothing to record")
    model, optimizer, ledger = recipe.start(data, generator=0)
    run = dpsgd.fit(model, optimizer, ledger, data, recipe.steps, chunk=256, device="cpu", generator=0)
    print(run, dpsgd.inspect(run), run.save(RECORDING), sep="\n")


if __name__ == "__main__":
    main()
