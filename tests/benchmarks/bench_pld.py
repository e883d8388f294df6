"""Seconds, width and error of `pld` beside dp-accounting and prv-accountant, interleaved in one run, one thread.

    OMP_NUM_THREADS=1 python tests/benchmarks/bench_pld.py        # prv-accountant only where it is installed

Each round runs every tool once on every problem; the table gives the fastest of the rounds, which is the least disturbed.
Not part of the ordinary test run.
"""

import argparse
import math
import time

import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from scipy import fft

from dpcourse import pld

PROBLEMS = [(0.6, 0.01, 10_000, 1e-5), (1.0, 0.01, 1000, 1e-5), (0.5, 256 / 60000, 23_438, 1e-5)]
STEPS = (10**2, 10**3, 10**4, 10**5, 10**6)
THEIR_GRID = {PROBLEMS[0]: 2.5e-4, PROBLEMS[1]: 2.5e-4, PROBLEMS[2]: 2.5e-4}


def ours(noise, rate, steps, delta):
    return tuple(pld.noisy_sgd(noise, rate, steps).epsilon(delta))


def dp_accounting(noise, rate, steps, delta):
    """Pessimistic only; its grid is the one that gives an error of about 1e-4 on the first problem."""
    one = privacy_loss_distribution.from_gaussian_mechanism(
        noise, sampling_prob=rate, value_discretization_interval=THEIR_GRID[noise, rate, steps, delta]
    )
    return math.nan, one.self_compose(steps).get_epsilon_for_delta(delta)


def prv_accountant(noise, rate, steps, delta):
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import PoissonSubsampledGaussianMechanism

    mechanism = PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=rate)
    accountant = PRVAccountant(
        prvs=[mechanism], max_self_compositions=[steps], eps_error=0.01, delta_error=delta / 1000
    )
    lower, _, upper = accountant.compute_epsilon(delta, [steps])
    return lower, upper


def transform_of_2_18(*_):
    fft.irfft(fft.rfft(np.ones(2**18)))
    return math.nan, math.nan


def timed(function, problem):
    start = time.perf_counter()
    bounds = function(*problem)
    return time.perf_counter() - start, bounds


def main(rounds):
    tools = {"dpcourse.pld": ours, "dp-accounting": dp_accounting, "rfft 2^18 and back": transform_of_2_18}
    try:
        import prv_accountant as _

        tools["prv-accountant"] = prv_accountant
    except ImportError:
        print("prv-accountant is not installed: left out")
    best = {}
    for _ in range(rounds):
        for problem in PROBLEMS:
            for name, tool in tools.items():
                seconds, bounds = timed(tool, problem)
                best[problem, name] = min((seconds, bounds), best.get((problem, name), (math.inf, bounds)))
        for steps in STEPS:
            problem = (0.6, 0.01, steps, 1e-5)
            seconds, bounds = timed(ours, problem)
            best[problem, "steps"] = min((seconds, bounds), best.get((problem, "steps"), (math.inf, bounds)))
    print(
        f"{'noise, rate, steps, delta':38} {'tool':20} {'seconds':>8} {'lower':>12} {'upper':>12} {'width':>9} {'error':>9}"
    )
    for problem in PROBLEMS:
        truth = np.mean(pld.noisy_sgd(*problem[:3]).epsilon(problem[3], width=2e-6))
        for name in tools:
            seconds, (lower, upper) = best[problem, name]
            print(
                f"{problem!s:38} {name:20} {seconds:8.3f} {lower:12.6f} {upper:12.6f} {upper - lower:9.1e} {upper - truth:9.1e}"
            )
    print("\ncost by number of steps, noise 0.6, rate 0.01, delta 1e-5")
    for steps in STEPS:
        seconds, (lower, upper) = best[(0.6, 0.01, steps, 1e-5), "steps"]
        print(
            f"{steps:8} steps {seconds:8.3f} s   epsilon {upper:12.6f}   relative width {(upper - lower) / upper:.1e}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    main(parser.parse_args().rounds)
