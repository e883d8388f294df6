"""Random problems: do the intervals of `pld` agree with dp-accounting and prv-accountant within their stated errors?

    python tests/benchmarks/compare_pld.py --problems 200 --seed 1      # prv-accountant only where it is installed

noise_multiplier in [0.4, 20], sample_rate in [1e-5, 1], steps up to 1e5, delta from 1e-12 to 1e-3. dp-accounting gives an
optimistic and a pessimistic estimate, prv-accountant a lower and an upper bound: each pair should overlap our interval.
A tool that takes longer than the limit on a problem, or refuses it, is left out there. Not part of the ordinary test run.
"""

import argparse
import logging
import math
import signal
import warnings

import numpy as np
from dp_accounting.pld import privacy_loss_distribution

from dpcourse import pld


def dp_accounting(noise, rate, steps, delta, upper):
    ends = []
    for pessimistic in (False, True):
        one = privacy_loss_distribution.from_gaussian_mechanism(
            noise,
            sampling_prob=rate,
            value_discretization_interval=max(upper / 500, 1e-6),
            pessimistic_estimate=pessimistic,
        )
        ends.append(one.self_compose(steps).get_epsilon_for_delta(delta))
    return ends


def prv_accountant(noise, rate, steps, delta, upper):
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import PoissonSubsampledGaussianMechanism

    mechanism = PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=rate)
    accountant = PRVAccountant(
        prvs=[mechanism], max_self_compositions=[steps], eps_error=max(upper / 20, 1e-3), delta_error=delta / 1000
    )
    lower, _, highest = accountant.compute_epsilon(delta, [steps])
    return lower, highest


def within(seconds, function, *arguments):
    """The function's result, or the reason why there is none."""

    def stop(*_):
        raise TimeoutError("too slow")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


def main(problems, seed, seconds):
    warnings.simplefilter("ignore")
    logging.disable()
    rng = np.random.default_rng(seed)
    tools = [dp_accounting]
    try:
        import prv_accountant as _

        tools.append(prv_accountant)
    except ImportError:
        print("prv-accountant is not installed: left out")
    counts = {tool.__name__: [0, 0, 0] for tool in tools}
    refused, widest = 0, 0.0
    for _ in range(problems):
        noise, rate = float(rng.uniform(0.4, 20)), float(10 ** rng.uniform(-5, 0))
        steps, delta = round(10 ** rng.uniform(0, 5)), float(10 ** rng.uniform(-12, -3))
        problem = (noise, rate, steps, delta)
        try:
            lower, upper = pld.noisy_sgd(noise, rate, steps).epsilon(delta)
        except pld.Unreachable as error:
            refused += 1
            print(f"{problem}: {error}", flush=True)
            continue
        widest = max(widest, (upper - lower) / upper if upper else 0.0)
        for tool in tools:
            theirs = within(seconds, tool, *problem, upper)
            agrees, contradicts, absent = counts[tool.__name__]
            if isinstance(theirs, str) or not all(map(math.isfinite, theirs)):
                counts[tool.__name__] = [agrees, contradicts, absent + 1]
                continue
            rounding = 1e-9 * (1 + upper)
            fits = theirs[0] <= upper + rounding and lower <= theirs[1] + rounding
            counts[tool.__name__] = [agrees + fits, contradicts + (not fits), absent]
            if not fits:
                print(f"{problem}: ours [{lower}, {upper}], {tool.__name__} {theirs}", flush=True)
    print(f"{problems} problems; {refused} refused by us; widest interval {widest:.1e} of its upper end")
    for name, (agrees, contradicts, absent) in counts.items():
        print(f"{name}: {agrees} agree, {contradicts} contradict, {absent} gave no answer")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=10)
    main(**vars(parser.parse_args()))
