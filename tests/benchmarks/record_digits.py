"""Record the three trainings that the picture `training` of lesson 06 shows: `python tests/benchmarks/record_digits.py`.

With Mia, with her row emptied, and with other noise, as section 4 trains; about half a minute. Writes
dpcourse/course/accountants/training.npz. The tests train some epochs again.
"""

import numpy as np
import torch

from dpcourse import dpsgd
from dpcourse.course.accountants.pictures import BUDGET, DELTA, EPOCHS, RUNS


def runs(epochs) -> dict[str, np.ndarray]:
    """Train so many epochs as section 4 does: with Mia, with her row emptied, and with other noise.

    What RUNS stores, after 0, 1, ... epochs: accuracies, the certified epsilon, and how far the weights are from those
    with Mia.
    """
    data = dpsgd.digits()
    people, batch = len(data), 256
    at = [round(epoch * people / batch) for epoch in range(EPOCHS + 1)]
    plan = dpsgd.noise_for(BUDGET, DELTA, batch / people, at[-1]), batch / people, at[-1]
    at = at[: epochs + 1]

    def weights(model):
        return torch.cat([part.detach().ravel() for part in model.parameters()]).numpy().copy()

    def run(data, noise):
        model = dpsgd.tanh_cnn(data.shape, generator=1)
        right = (model(data.test_inputs).argmax(dim=1) == data.test_targets).float().mean()
        seen = [weights(model)]
        optimizer = dpsgd.NoisyAdam(
            model.parameters(), lr=0.01, noise_multiplier=plan[0], clip_norm=1.0, expected_batch=batch, generator=noise
        )
        ledger = dpsgd.Ledger(DELTA, float(BUDGET), plan=[plan])

        def look(_):
            seen.append(weights(model))

        found = dpsgd.fit(
            model, optimizer, ledger, data, at[-1], device="cpu", generator=3, every=1, callback=look, show=False
        )
        accuracies, epsilons = [float(right), *found.accuracies], [0.0, *found.epsilons]
        return np.array(accuracies)[at], np.array(seen)[at], np.array(epsilons)[at]

    with_mia, here, epsilon = run(data, 2)
    without, there, _ = run(data.emptied(0), 2)
    other_noise, elsewhere, _ = run(data, 7)
    return {
        "epsilon": epsilon,
        "with_mia": with_mia,
        "without": without,
        "other_noise": other_noise,
        "apart_without": np.linalg.norm(there - here, axis=1),
        "apart_other_noise": np.linalg.norm(elsewhere - here, axis=1),
    }


if __name__ == "__main__":
    found = runs(EPOCHS)
    RUNS.make(lambda epoch: {name: values[epoch] for name, values in found.items()}, epoch=range(EPOCHS + 1))
