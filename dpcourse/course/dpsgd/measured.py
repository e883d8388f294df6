"""What is measured in the diaries of seven runs: a long one, one of few people, one that ends by refusal; it again; another; and two without a step."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2

from dpcourse.base.languages import say
from dpcourse.checking import Count, Misconception, Noise
from dpcourse.course.dpsgd.diary import run_of, runs
from dpcourse.course.dpsgd.loops import loop, noise_of
from dpcourse.course.dpsgd.shared import batch_counts

STRANGE = 1e-10  # so rare that one weight among all shows a mistake
HALF = -float(ndtri(0.25))  # half of all normal noise is within so many deviations


def count(cases, values):
    long, small, ended, again, other = seen = runs(cases[:5], values[:5])
    noise = [run.noise for run in (long, small, ended)]
    there = np.concatenate([each.ravel() for each in noise])
    pairs = np.concatenate([(each[:, 0::2] * each[:, 1::2] > 0).ravel() for each in noise])
    running = np.concatenate([(each[0:-1:2] * each[1::2] > 0).ravel() for each in noise])
    unpaid, still = sum(run.unpaid for run in seen), sum(run.still for run in seen)
    taken = sum(map(len, seen))
    return [
        Count(say("steps that were not in the ledger when they were taken"), unpaid, max(taken, unpaid), 0.0),
        Count(say("steps in the ledger that left the weights as they were"), still, max(taken, still), 0.0),
        Count.of(say("runs that end with the weights of their beginning"), [r.lost for r in seen], 0.0),
        Count.of(
            say("runs with as many steps in the ledger as there should be"), [r.paid == r.meant for r in seen], 1.0
        ),
        Count.of(
            say("runs of no step, or without room for one, that end as they began"),
            [np.array_equal(r.final, r.case["weights"]) and not r.paid for r in runs(cases[5:], values[5:])],
            1.0,
        ),
        Count.of(
            say("runs that add the clipped gradients of those drawn and divide by p n"), long.added == "right", 1.0
        ),
        *batch_counts(long.times, long.p),
        *batch_counts(small.times, small.p),
        Count.of(say("noises within 0.67 deviations of 0"), np.abs(there) <= HALF, 0.5),
        Count.of(say("noises above 0"), there > 0, 0.5),
        Count.of(say("neighbouring weights with noises of the same sign"), pairs, 0.5),
        Count.of(say("neighbouring steps with noises of the same sign"), running, 0.5),
        Count.of(
            say("noises within 0.67 deviations of 0 where nobody was drawn"), abs(small.noise_of_empty) <= HALF, 0.5
        ),
        Count.of(say("weights with far too little noise, or far too much"), _strange(long.noise), STRANGE),
        Count.of(say("runs that come out the same with the same seed"), ended.is_like(again), 1.0),
        Count.of(say("runs that come out the same with another seed"), ended.is_like(other), 0.0),
        Count.of(say("noises of a step that come again with another seed"), ended.noises_of(other), 0.0),
    ]


def _strange(noise):
    """For each weight, whether its noise is as large as it would be with the probability STRANGE alone."""
    squares, law = (noise**2).sum(axis=0), chi2(max(1, len(noise)))
    return (squares < law.ppf(STRANGE / 2)) | (squares > law.isf(STRANGE / 2))


def noise(cases, values):
    if run_of(cases[0], values[0]).added != "right":
        return Noise("norm", np.ones(1))  # on a sum that is not known no noise can be measured
    return Noise("norm", np.concatenate([run.noise.ravel() for run in runs(cases[:3], values[:3])]))


def in_long(law):
    """recognise: what a law says of the first run, the long one."""
    return lambda cases, values: bool(law(run_of(cases[0], values[0])))


def of_size(name, message, deviation):
    """A misconception about the deviation of the noise, made from (noise_multiplier, clip_norm, p n)."""

    def law(run):
        sigma, r = run.case["noise_multiplier"], run.case["clip_norm"]
        x, wanted = run.noise.ravel(), deviation(sigma, r, run.p * run.n) / (sigma * r)
        normal = abs(np.mean(x**4) / max(1e-300, np.mean(x**2) ** 2) - 3) < 0.5
        return run.added == "right" and normal and abs(x.std() / wanted - 1) < 5 / np.sqrt(2 * x.size)

    return Misconception(name, message, loop(noise=noise_of(deviation)), recognise=in_long(law))


def in_small(law):
    """recognise: what a law says of the run with few people."""
    return lambda cases, values: bool(law(run_of(cases[1], values[1])))


def in_ended(law):
    """recognise: what a law says of the run that the ledger ends."""
    return lambda cases, values: bool(law(run_of(cases[2], values[2])))


def flat(axis):
    """recognise: along this axis the noises are all the same, and not 0."""
    return in_long(lambda run: len(run.noise) > 1 and np.ptp(run.noise, axis=axis).max() < 1e-6 < run.noise.std())


def grows_with_people(run):
    people = run.drawn.sum(axis=1)[run.sure & (run.shares == 1) & (run.drawn.sum(axis=1) > 0)]
    x = run.noise_of_others / np.sqrt(people)[:, None]
    return x.size > 1000 and abs(x.std() - 1) < 5 / np.sqrt(2 * x.size) and run.added == "right"


def of_one_size(run):
    sizes = run.people.sum(axis=1)
    return (
        sizes.size > 20 and np.median(sizes) > 0 and run.people.max() == 1 and np.mean(sizes == np.median(sizes)) > 0.5
    )


def little_on_empty(run):
    def size(noise):
        return float((noise**2).mean()) if noise.size else 1.0

    return size(run.noise_of_empty) < 0.7 and 0.8 < size(run.noise_of_others) < 1.25
