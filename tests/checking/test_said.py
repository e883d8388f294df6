"""A verdict that was made in one language is said in another: whatever is told of an answer, none of it stays English."""

import json

import made_up_language
import numpy as np
import pytest

from dpcourse import checking, course
from dpcourse.base.languages import again, as_data, from_data
from dpcourse.checking import BLANK, ERROR, RECEIVED, RIGHT, WRONG, GivenOut, Noise, a_number, diagnosis
from dpcourse.checking.diagnosis import inputs, measurement, mutants, results, words
from dpcourse.checking.diagnosis.series import features, parts

NOT_OURS = frozenset({"kind", "message", "printed", "first"})
"""Fields of what Python says, and of what a function has printed."""


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    for limit in ("SECONDS", "FOR_MUTANTS", "FOR_ANSWERS"):
        monkeypatch.setattr(diagnosis, limit, 60)


def unwritten(*arguments):
    raise NotImplementedError


def stops(*arguments):
    return [].append(1).append(2)


def prints(*arguments):
    print("one line\n" * 200)


def of(answer):
    """What makes an answer of an exercise: what its reference gives, changed."""
    return lambda exercise: lambda *arguments: answer(exercise.reference(*arguments))


def slip(name):
    return lambda exercise: next(slip.code for slip in exercise.misconceptions if slip.name == name)


def mutant(exercise):
    return list(mutants.Program(exercise.reference).mutants(exercise.folder))[8][1]


ANSWERS = {  # an exercise, what makes an answer of it, its state, and how its mistake is found
    "right": ("composition/worst_posterior", of(lambda value: value), RIGHT, None),
    "blank": ("composition/worst_posterior", lambda exercise: unwritten, BLANK, None),
    "error": ("composition/worst_posterior", lambda exercise: stops, ERROR, None),
    "nothing": ("composition/worst_posterior", lambda exercise: prints, ERROR, None),
    "no number": ("composition/worst_posterior", of(lambda value: "x"), ERROR, None),
    "no array": ("gdp/noisy_counts", of(lambda value: {1}), ERROR, None),
    "no function": ("composition/worst_posterior", lambda exercise: 3, ERROR, None),
    "misconception": (
        "composition/worst_posterior",
        lambda exercise: exercise.misconceptions[0].code,
        WRONG,
        "misconception",
    ),
    "changed afterwards": ("composition/worst_posterior", of(np.sqrt), WRONG, "explanation"),
    "times a number": ("composition/worst_posterior", of(lambda value: value * np.sqrt(2)), WRONG, "explanation"),
    "other inputs": (
        "composition/worst_posterior",
        lambda exercise: lambda a, b: exercise.reference(a / 2, b),
        WRONG,
        "place",
    ),
    "a slip": ("composition/advanced_composition", mutant, WRONG, "explanation"),
    "measured": (
        "composition/worst_posterior",
        of(lambda value: value + 0.1 + np.sin(50 * value)),
        WRONG,
        "measurement",
    ),
    "noise": ("gdp/noisy_counts", of(lambda value: np.sort(np.asarray(value) * 1.0 + 5)), WRONG, "measurement"),
    "by its draws": ("gdp/noisy_counts", of(lambda value: np.asarray(value) * 1.0 + 5), WRONG, "place"),
    "audit": ("gdp/noisy_counts", lambda exercise: lambda counts, *others: counts, WRONG, "misconception"),
    "law": ("clt/breaking_steps", lambda exercise: lambda *arguments: 3, WRONG, None),
}


def told(verdict):
    """Every text of a verdict."""
    return [verdict.headline, verdict.message, *verdict.lines, *verdict.seen, *verdict._next(), *verdict._printed()]


def check(text):
    """Said again it stands in brackets, none of its words is unmarked, and it is the same after a journey as data."""
    assert not list(made_up_language.unmarked(text, NOT_OURS)), text
    data = json.loads(json.dumps(as_data(text)))
    assert from_data(data) == text
    with made_up_language.spoken():
        assert made_up_language.is_code(made_up_language.outside(again(text))), again(text)
        assert from_data(data) == again(text)


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("all verdicts of a lesson")
@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("ignore")
def test_a_verdict_is_said_again(name):
    id, made, state, found_by = ANSWERS[name]
    exercise = course.find(id)
    verdict = exercise.check(made(exercise), 3)
    assert (verdict.state, verdict.found_by) == (state, found_by or verdict.found_by), verdict
    for text in told(verdict):
        check(text)


def test_where_nothing_is_known_of_a_mistake_that_is_said_again(monkeypatch):
    monkeypatch.setattr(diagnosis, "diagnose", lambda *about: None)
    verdict = course.find("composition/worst_posterior").check(lambda *arguments: 0.5, 3)
    assert verdict.found_by == "case"
    check(verdict.message)


def test_what_is_received_is_said_again():
    for returns in (a_number, checking.several("a", "b"), checking.numbers_like("x"), checking.bits_like("x")):
        given = GivenOut(id="given/f", number="51.1", title="t", good_for="g", difficulty=1, minutes=1, points=2, returns=returns, examples=({"x": [1.0]},))  # fmt: skip
        value = {"a_number": 1.0, "several('a', 'b')": (1.0, 2.0)}.get(returns.written, [1])
        verdict = given.check(lambda x, value=value: value)
        assert verdict.state == RECEIVED, verdict
        check(verdict.message)


def test_every_change_and_every_fact_is_said():
    tables = [*words.ALONE.values(), *words.WHOLE.values(), *(text for _, text in words.SENTENCES.values() if text)]
    assert set(tables) <= made_up_language.messages()


@pytest.mark.parametrize(
    "id",
    [
        "start_here/estimate_share",
        "composition/advanced_composition",
        "gdp/is_tradeoff",
        "clt/functionals",
        "dpsgd/clip",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_every_change_of_inputs_and_of_a_program_is_said(id):
    exercise = course.find(id)
    cases = exercise.cases(np.random.default_rng(0))
    changes = [change for change, _ in inputs.changes(cases)]
    changes += [words.Change.of(change) for _, change, _, _ in mutants.Program(exercise.reference).numbered()]
    for text in {words.sentence((change,)) for change in changes} | {words.sentence(tuple(changes[:2]), "1")}:
        assert not list(made_up_language.unmarked(text)), text


@pytest.mark.filterwarnings("ignore")
def test_every_feature_of_inputs_is_said():
    rng = np.random.default_rng(0)
    cases = [{"n": int(rng.integers(2, 9)), "xs": rng.uniform(1, 5, 4).tolist(), "f": [[1], [2]]} for _ in range(6)]
    described = features(cases)
    right = [case["n"] * 1.5 for case in cases]
    (part,) = parts([0.3 + sum(case["xs"]) for case in cases], right, 1e-9, 1e-9)
    for told_as, _ in results.shaped({name: np.array(values) for name, values in described.items()}):
        assert not list(made_up_language.unmarked(told_as)), told_as
    for message in (*results.NAMED, *(each for both in results.OPERATIONS for each in both)):
        assert made_up_language.is_code(message) or message in made_up_language.messages(), message
    for fact in measurement.facts(part, described, cases):
        check(fact.text)


@pytest.mark.parametrize("draw", ["laplace", "normal", "uniform", "standard_exponential"])
def test_what_is_measured_of_noise_is_said_again(draw):
    rng = np.random.default_rng(0)
    groups = {f"`{size}`": getattr(rng, draw)(size=3000) * size for size in (1, 3)}
    for noise in (Noise("laplace", groups["`3`"]), Noise.of_groups("norm", groups)):
        assert list(noise.sentences())
        for sentence in noise.sentences():
            check(sentence)
