"""Doors: no function of the library answers an exercise in the learner's place.

An expression is a door where one call of the library does the work: a function on the arguments of the exercise, or a
method of the curve that it gives, with one of the arguments prepared by one operation, and the result finished by one.
Where the call gives no more than Python's own `sum` of what it is given, the learner has done the work; so too where it only
divides, and there is an operation beside it.
"""

import dataclasses
import importlib
import inspect
import itertools
import math
import operator
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import psutil
import pytest
from support import ROOT, TOPICS

from dpcourse import audit, course, dpsgd, gdp, laplace, machine, pld, rdp, tradeoff
from dpcourse.checking import OpenExercise, RandomExercise
from dpcourse.checking.calling import limits
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import plain
from dpcourse.pld import pairs
from dpcourse.tradeoff import TradeOff, curves

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
SECONDS = 4  # of the processor, to search for each exercise: some have a thousand ways to be called
SECONDS_OF_ONE = 0.3
QUICK = 0.003  # seconds: what takes longer is not tried on prepared arguments
MEMORY = 4 * 2**30  # bytes that the search may use: a function that is given a seed as a number of people wants more


def _idle(numerator, denominator, size, rng):
    """The right law, and coins that nobody looks at."""
    for _ in range(2 * size):
        machine.coin(numerator, denominator, rng)
    heads = 1 - math.exp(-numerator / denominator)
    return rng.geometric(heads, size) - rng.geometric(heads, size)


def _worst_pair(alpha, epsilon, delta):
    """The curve of the pair of laws that has the most loss of all that are (epsilon, delta)-DP."""
    likely = (1 - delta) / (1 + math.exp(-epsilon))
    p = [0, likely, 1 - delta - likely, delta]
    return TradeOff.from_probabilities(p, p[::-1]), alpha


DOORS = [
    ("composition/sequential_composition", lambda epsilons: gdp.compose(np.sqrt(epsilons)) ** 2),
    ("gdp/approx_dp_curve", lambda *given: (lambda curve, alpha: curve(alpha))(*_worst_pair(*given))),
    ("gdp/approx_dp_curve", lambda *given: (lambda curve, alpha: curve.kind.beta(alpha))(*_worst_pair(*given))),
    ("gdp/group_sigma", lambda sensitivity, mu, k: gdp.sigma(sensitivity * k, mu)),
    ("gdp/group_sigma", lambda sensitivity, mu, k: k * gdp.sigma(sensitivity, mu)),
    ("gdp/group_sigma", lambda sensitivity, mu, k: k * laplace.scale(sensitivity, mu)),
    ("composition/composed_delta", lambda epsilon, k, total: tradeoff.approx_dp(epsilon).power(k).delta(total)),
    ("composition/composed_delta", lambda epsilon, k, total: pld.randomized_response(epsilon, k).delta(total).upper),
    ("composition/composed_delta", lambda epsilon, k, total: pld.approx_dp(epsilon).power(k).delta(total).upper),
    (
        "laplace/report_noisy_max",
        lambda counts, epsilon, rng: rng.choice(len(counts), p=laplace.noisy_max_chances(counts, epsilon)),
    ),
    ("machine/whole_noise", _idle),
    (
        "machine/float_change",
        lambda values: max(
            abs(machine.running_sum(values, "float16") - machine.running_sum(values[:i] + values[i + 1 :], "float16"))
            for i in range(len(values))
        ),
    ),
    ("gdp/curve_of", lambda p, q: (np.r_[0, TradeOff.from_probabilities(p, q).kinks(), 1], np.r_[1, q])),
    ("gdp/gaussian_curve", lambda alpha, mu: curves.Gaussian(mu).beta(alpha)),
    (
        "gdp/group_curve",
        lambda alpha, epsilon, delta, k: TradeOff(curves.Group(tradeoff.approx_dp(epsilon, delta).kind, k))(alpha),
    ),
    ("gdp/group_curve", lambda alpha, epsilon, delta, k: tradeoff.approx_dp(epsilon, delta).kind.group(k).at(alpha)),
    (
        "clt/total_mu",
        lambda mus, counts: (
            pld.Curve([(pairs.Gaussian(mu), n) for mu, n in zip(mus, counts, strict=True)]).parts[0][0].mu
        ),
    ),
    ("clt/privacy_loss", lambda alpha, beta: TradeOff.from_points(alpha, beta).loss_law()),
    ("dpsgd/clip", lambda gradients, clip_norm: audit.clipped(gradients, clip_norm)),
    (
        "dpsgd/noisy_sum",
        lambda clipped, noise_multiplier, clip_norm, rng: audit.correct(
            [clipped, clipped], clip_norm, 1 / noise_multiplier, rng
        )[0],
    ),
    (
        "dpsgd/poisson_batches",
        lambda n, sample_rate, steps, rng: [
            batch.numpy() for batch in dpsgd.poisson_batches(n, sample_rate, steps, int(rng.integers(2**31)))
        ],
    ),
    (
        "dpsgd/sampled_curve",
        lambda alpha, beta, p: TradeOff(curves.Mixed(TradeOff.from_points(alpha, beta).kind, p))(alpha),
    ),
    (
        "accountants/renyi_divergence",
        lambda noise_multiplier, sample_rate, order: rdp._divergence(noise_multiplier, sample_rate, order),
    ),
    (
        "accountants/noise_for_budget",
        lambda epsilon, delta, sample_rate, steps: dpsgd.noise_for(epsilon, delta, sample_rate, steps),
    ),
]


@pytest.mark.parametrize(("exercise_id", "answer"), DOORS)
def test_a_door_that_was_open_is_closed(exercise_id, answer):
    verdict = course.find(exercise_id).check(answer, 1)
    assert verdict.state in ("error", "wrong")
    assert "write it yourself" in verdict.message or "machine.coin" in verdict.message


@pytest.mark.weekly("a process for each name")
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
        said = [run.check(run.reference, 1).state, course.find("dpsgd/poisson_batches").check(own, 1).state, "torch" in sys.modules]
        said += [course.find("dpsgd/poisson_batches").check(lent, 1).state]
        print(said, "torch" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "['right', 'right', False, 'error'] True\n"


@pytest.mark.weekly("many checks of a random answer")
def test_a_coin_that_decides_is_no_idle_coin():
    def answer(numerator, denominator, size, rng):
        found = []
        while len(found) < size:
            n = 0
            while machine.coin(numerator, denominator, rng):
                n += 1
            minus = rng.integers(2) == 1
            if n or not minus:
                found.append(-n if minus else n)
        return found

    assert course.find("machine/whole_noise").check(answer, 1).state == "right"
    assert machine.coin(0, 1) is True  # and it is what it was


# ---- a search for others


PREPARED = {
    "sqrt({})": np.sqrt,
    "square({})": np.square,
    "exp({})": np.exp,
    "log({})": np.log,
    "1/{}": np.reciprocal,
    "1-{}": lambda x: 1 - x,
    "-{}": np.negative,
    "*{}": None,  # as so many arguments
}
JOINED = {"{}*{}": operator.mul, "{}/{}": operator.truediv, "{}+{}": operator.add, "{}-{}": operator.sub}


@dataclasses.dataclass(frozen=True)
class Expression:
    """A way to call the library: what it reads like, and what it gives on the arguments of an exercise, by their names.

    prepared: whether an operation stands in an argument; taken: of a call, the arguments that it is given.
    """

    text: str
    value: Callable
    prepared: bool = False
    taken: Callable | None = None


def _library():
    """name -> each function, and each class method of a class, that the library offers."""
    modules = [importlib.import_module(f"dpcourse.{name}") for name in TOPICS if name != "dpsgd"]  # it needs torch
    found = {}
    for module in modules:
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__.startswith("dpcourse."):
                found[f"{module.__name__}.{name}"] = value
            elif inspect.isclass(value) and value.__module__.startswith("dpcourse."):
                of_class = [method for method, each in vars(value).items() if isinstance(each, classmethod)]
                found |= {f"{value.__name__}.{method}": getattr(value, method) for method in of_class}
    return found


def _arguments_of(function, given):
    """The ways to give a function some of the arguments, by place: first those in which all are as they are."""
    parameters = [each for each in inspect.signature(function).parameters.values() if each.kind in (0, 1)]
    least = sum(each.default is each.empty for each in parameters)
    chosen = [
        some
        for count in range(least, min(len(parameters), len(given), 4) + 1)
        for some in itertools.permutations([Expression(name, operator.itemgetter(name)) for name in given], count)
    ]
    yield from chosen
    for some in chosen:
        for place, one in enumerate(some):
            others = [Expression(name, operator.itemgetter(name)) for name in given if name != one.text]
            yield from ((*some[:place], each, *some[place + 1 :]) for each in _prepared(one, others))


def _prepared(one, others):
    """An argument after one operation, alone or with another argument."""
    for text, operation in PREPARED.items():

        def alone(given, operation=operation):
            value = one.value(given)
            return operation(np.asarray(value, dtype=float)) if operation else value

        yield Expression(text.format(one.text), alone, prepared=True)
    for text, operation in JOINED.items():
        for other in others:

            def joined(given, other=other, operation=operation):
                return operation(one.value(given), other.value(given))

            yield Expression(text.format(one.text, other.text), joined, prepared=True)


def _call(name, function, some):
    """A function on some arguments, as an expression."""

    def taken(given):
        found = []
        for each in some:
            (found.extend if each.text.startswith("*") else found.append)(each.value(given))
        return found

    texts = ", ".join(each.text for each in some)
    prepared = any(each.prepared for each in some)
    return Expression(f"{name}({texts})", lambda given: function(given, *taken(given)), prepared, taken)


def _calls(given):
    """The calls of the library, and of methods of the curves that these give, on arguments: those as they are first."""
    later = []
    for name, function in _library().items():
        for some in _arguments_of(function, given):
            call = _call(name, lambda _, *found, function=function: function(*found), some)
            (later.append if call.prepared else lambda call: None)(call)
            if not call.prepared:
                yield call
                yield from _methods(call, given)
    yield from later


def _methods(call, given):
    for curve in _tried(call, given):
        for method in METHODS if hasattr(curve, "delta") else ():
            for some in _arguments_of(getattr(curve, method), given) if hasattr(curve, method) else ():
                yield _call(
                    f"{call.text}.{method}",
                    lambda given, *found, method=method: getattr(call.value(given), method)(*found),
                    some,
                )


def _tried(expression, given):
    """What an expression gives, in a list; nothing where it fails or takes long."""
    try:
        with limits.time_limit(SECONDS_OF_ONE):
            return [expression.value(given)]
    except (Exception, limits.TimeUp):
        return []


def _finished(call, value, given):
    """A call, and what a learner takes out of it or makes of it by one operation."""
    yield call
    if isinstance(value, tuple):
        for i in range(len(value)):
            yield Expression(f"{call.text}[{i}]", lambda given, i=i: call.value(given)[i])
    if isinstance(value, (float, int, np.ndarray)):
        for text, operation in PREPARED.items():
            if operation:
                yield Expression(text.format(call.text), lambda given, do=operation: do(np.asarray(call.value(given))))
        for name in given:
            for text, operation in JOINED.items():
                yield Expression(
                    text.format(call.text, name),
                    lambda given, do=operation, name=name: do(call.value(given), given[name]),
                )


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
    found, end, slow = [], time.process_time() + SECONDS, set()
    for call in _calls(dict(zip(case, arguments(case), strict=True))):
        if time.process_time() > end:
            break
        name = call.text.partition("(")[0]
        if call.prepared and (many_are_right or name in slow):
            continue
        begun = time.process_time()
        values = _tried(call, dict(zip(case, arguments(case), strict=True)))
        if time.process_time() - begun > QUICK:
            slow.add(name)
        for value in values:
            given = dict(zip(case, arguments(case), strict=True))
            is_quotient = _is_a_quotient(value, call.taken(given))
            if _is_a_sum(value, call.taken(given)) or (is_quotient and call.prepared):
                continue
            for each in [call] if many_are_right or is_quotient else _finished(call, value, given):
                if time.process_time() > end:
                    break
                if many_are_right or any(exercise.is_close(plain(one), expected) for one in _tried(each, given)):
                    found += [each.text] if _answers(exercise, case, each) else []
    assert found == []


def _is_a_sum(value, taken):
    """Whether a call gives what the first of its arguments is, or what its entries add up to, as single floats give it."""
    try:
        return bool(np.isclose(value, np.sum(taken[0]), rtol=1e-6, atol=0))
    except (TypeError, ValueError, IndexError):  # no numbers
        return False


def _is_a_quotient(value, taken):
    """Whether a call gives its first argument, divided by its second."""
    try:
        return bool(np.isclose(value, taken[0] / taken[1], rtol=1e-9, atol=0))
    except (TypeError, ValueError, IndexError):
        return False


def _answers(exercise, case, expression):
    """Whether an expression is an answer that the exercise takes."""
    return exercise.check(lambda *given: expression.value(dict(zip(case, given, strict=True))), 3).state == "right"
