"""Doors: no function of the library answers an exercise in the learner's place, called as it is or on a curve."""

import importlib
import inspect
import itertools
import math
import resource
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from support import ROOT

from dpcourse import audit, course, dpsgd, laplace, pld, rdp, tradeoff
from dpcourse.engine import OpenExercise, RandomExercise
from dpcourse.pld import pairs
from dpcourse.probe import calls, limits
from dpcourse.probe.probe import arguments
from dpcourse.probe.values import plain
from dpcourse.tradeoff import TradeOff, kinds

TOPICS = ("audit", "clt", "composition", "gdp", "laplace", "pld", "rdp", "tradeoff")
METHODS = (
    "__call__",
    "delta",
    "epsilon",
    "group",
    "inverse",
    "log_slope",
    "mixed",
    "power",
    "subsampled",
    "symmetrized",
)
SECONDS = 20  # of search for each exercise: some have a thousand ways to be called
SECONDS_OF_ONE = 0.3
MEMORY = 4 * 2**30  # bytes that the search may use: a function that is given a seed as a number of people wants more


def _idle(numerator, denominator, size, rng):
    """The right law, and coins that nobody looks at."""
    for _ in range(2 * size):
        laplace.coin(numerator, denominator, rng)
    heads = 1 - math.exp(-numerator / denominator)
    return rng.geometric(heads, size) - rng.geometric(heads, size)


DOORS = [
    ("1.7", lambda epsilon, k, total: tradeoff.approx_dp(epsilon).power(k).delta(total)),
    ("1.7", lambda epsilon, k, total: pld.randomized_response(epsilon, k).delta(total).upper),
    ("1.7", lambda epsilon, k, total: pld.approx_dp(epsilon).power(k).delta(total).upper),
    ("2.7", lambda counts, epsilon, rng: rng.choice(len(counts), p=laplace.noisy_max_chances(counts, epsilon))),
    ("2.9", _idle),
    ("3.3", lambda p, q: (np.r_[0, TradeOff.from_probabilities(p, q).kinks(), 1], np.r_[1, q])),
    ("3.5", lambda alpha, mu: kinds.Gaussian(mu).beta(alpha)),
    ("3.10", lambda alpha, epsilon, delta, k: TradeOff(kinds.Group(tradeoff.approx_dp(epsilon, delta).kind, k))(alpha)),
    ("3.10", lambda alpha, epsilon, delta, k: tradeoff.approx_dp(epsilon, delta).kind.group(k).at(alpha)),
    (
        "4.2",
        lambda mus, counts: (
            pld.Curve([(pairs.Gaussian(mu), n) for mu, n in zip(mus, counts, strict=True)]).parts[0][0].mu
        ),
    ),
    ("4.3", lambda alpha, beta: TradeOff.from_points(alpha, beta).loss_law()),
    ("5.1", lambda gradients, clip_norm: audit.clipped(gradients, clip_norm)),
    (
        "5.2",
        lambda clipped, noise_multiplier, clip_norm, rng: audit.correct(
            [clipped, clipped], clip_norm, 1 / noise_multiplier, rng
        )[0],
    ),
    (
        "5.3",
        lambda n, sample_rate, steps, rng: [
            batch.numpy() for batch in dpsgd.poisson_batches(n, sample_rate, steps, int(rng.integers(2**31)))
        ],
    ),
    ("5.6", lambda alpha, beta, p: TradeOff(kinds.Mixed(TradeOff.from_points(alpha, beta).kind, p))(alpha)),
    ("6.1", lambda noise_multiplier, sample_rate, order: rdp._divergence(noise_multiplier, sample_rate, order)),
    ("6.5", lambda epsilon, delta, sample_rate, steps: dpsgd.noise_for(epsilon, delta, sample_rate, steps)),
]


@pytest.mark.parametrize(("exercise_id", "answer"), DOORS)
def test_a_door_that_was_open_is_closed(exercise_id, answer):
    verdict = course.find(exercise_id).check(answer, 1)
    assert verdict.state in ("error", "wrong")
    assert "write it yourself" in verdict.message or "laplace.coin" in verdict.message


def test_what_is_forbidden_by_name_is_imported_by_the_answer_alone():
    """PyTorch takes seconds and memory that a check of arrays need not cost."""
    code = """if True:
        import sys
        from dpcourse import course
        def own(n, sample_rate, steps, rng): return [(rng.random(n) < sample_rate).nonzero()[0] for _ in range(steps)]
        def lent(n, sample_rate, steps, rng):
            from dpcourse import dpsgd
            return [each.numpy() for each in dpsgd.poisson_batches(n, sample_rate, steps, int(rng.integers(2**31)))]
        run = course.lesson(5).exercise("noisy_sgd")
        said = [run.check(run.reference, 1).state, course.find("5.3").check(own, 1).state, "torch" in sys.modules]
        said += [course.find("5.3").check(lent, 1).state]
        print(said, "torch" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "['right', 'right', False, 'error'] True\n"


def test_a_coin_that_decides_is_no_idle_coin():
    def answer(numerator, denominator, size, rng):
        found = []
        while len(found) < size:
            n = 0
            while laplace.coin(numerator, denominator, rng):
                n += 1
            minus = rng.integers(2) == 1
            if n or not minus:
                found.append(-n if minus else n)
        return found

    assert course.find("2.9").check(answer, 1).state == "right"
    assert laplace.coin(0, 1) is True  # and it is what it was


# ---- a search for others


def _library():
    modules = [importlib.import_module(f"dpcourse.{name}") for name in TOPICS]
    found = {
        f"{module.__name__}.{name}": function
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__.startswith("dpcourse.")
    }
    return found | {"TradeOff.from_points": TradeOff.from_points, "TradeOff.from_samples": TradeOff.from_samples}


def _chosen(function, names):
    """The ways to give a function some of the arguments, by place."""
    places = [each for each in inspect.signature(function).parameters.values() if each.kind in (0, 1)]
    least = sum(each.default is each.empty for each in places)
    for count in range(least, min(len(places), len(names), 4) + 1):
        yield from itertools.permutations(names, count)


def _tried(exercise, case, make):
    """What an expression gives on a case, in a list; nothing where it fails, takes long or calls what is forbidden."""
    with calls.forbidding(exercise.forbidden_functions) as called:
        try:
            with limits.time_limit(SECONDS_OF_ONE):
                found = [make(dict(zip(case, arguments(case), strict=True)))]
        except (Exception, calls.Forbidden, limits.TimeUp):
            return []
    return [] if called else found


def _expressions(exercise, case):
    for name, function in _library().items():
        for some in _chosen(function, list(case)):

            def made(given, function=function, some=some):
                return function(*(given[each] for each in some))

            yield f"{name}({', '.join(some)})", made
            for curve in _tried(exercise, case, made):
                for method in METHODS if hasattr(curve, "delta") else ():
                    for others in _chosen(getattr(curve, method), list(case)) if hasattr(curve, method) else ():
                        yield (
                            f"{name}({', '.join(some)}).{method}({', '.join(others)})",
                            lambda given, made=made, method=method, others=others: getattr(made(given), method)(
                                *(given[each] for each in others)
                            ),
                        )


def _parts(value):
    """The value, and what a learner takes out of it."""
    yield lambda value: value
    if isinstance(value, tuple):
        yield from (lambda value, i=i: value[i] for i in range(len(value)))
    if isinstance(value, (float, np.ndarray)):
        yield lambda value: 1 - value


@pytest.fixture
def bounded():
    """Memory that is bounded while a test runs."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


OF_EACH_LESSON = [
    pytest.param(exercise, id=f"{exercise.id}-{lesson.name}")
    for lesson in course.lessons()
    for exercise in lesson.exercises
]


@pytest.mark.weekly("a search over all expressions of the library; doors once open are tried on a commit")
@pytest.mark.parametrize("exercise", OF_EACH_LESSON)  # of one lesson: -k 05-dpsgd
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("bounded")
def test_no_expression_of_the_library_answers_an_exercise(exercise):
    case = exercise.cases(np.random.default_rng(1))[0]
    many_are_right = isinstance(exercise, (RandomExercise, OpenExercise))
    expected = None if many_are_right else plain(exercise.reference(*arguments(case)))
    found, end = [], time.monotonic() + SECONDS
    for text, make in itertools.takewhile(lambda _: time.monotonic() < end, _expressions(exercise, case)):
        for value in _tried(exercise, case, make):
            for part in _parts(value):
                if expected is None or exercise._close(plain(part(value)), expected):
                    answer = lambda *given, make=make, part=part: part(make(dict(zip(case, given, strict=True))))  # noqa: E731
                    found += [text] if exercise.check(answer, 3).state == "right" else []
    assert found == []
