"""What is written down of an answer: how it is called, whether it is blank, and whether it heeds what it calls."""

import functools
import types
from concurrent.futures import Future

import pytest

from dpcourse.checking.calling import calls
from dpcourse.checking.calling.messages import heard
from dpcourse.checking.calling.probe import Probe


def outcome(answer, case, **about):
    return Probe("answer", **about).probe(answer, [case])[0]


def blank(x):
    raise NotImplementedError


@pytest.mark.parametrize("wrap", [lambda f: f, functools.cache, functools.lru_cache(4), functools.wraps(blank)])
def test_a_blank_is_blank_also_in_a_cache(wrap):
    assert outcome(wrap(blank), {"x": 1}).get("blank") is True


def test_what_calls_a_blank_is_not_blank():
    assert "calls `blank`, which is not written yet" in heard(outcome(lambda x: blank(x), {"x": 1})["raised"])


def test_a_function_that_does_not_tell_its_arguments_is_called_all_the_same():
    assert outcome(functools.partial(functools.reduce, lambda a, b: a + b), {"x": [1, 2, 3]})["value"] == 6
    assert "signature" in outcome(lambda x, y: x, {"x": 1})


def test_an_exception_without_words_is_told():
    class Silent(Exception):
        def __str__(self):
            raise self

    def answer(x):
        raise Silent

    told = heard(outcome(answer, {"x": 1})["raised"])
    assert told == "Your function stopped with Silent, of which no message can be shown."


def toss(x):
    return x > 0


def test_an_answer_that_calls_and_does_not_listen_is_idle():
    def ignores(x):
        toss(x)
        return x

    def listens(x):
        return x if toss(x) else -x

    found = [outcome(answer, {"x": 2}, counted=toss) for answer in (ignores, listens, lambda x: x)]
    assert [(each["idle"], each["calls"]) for each in found] == [(True, 1), (False, 1), (False, 0)]
    assert outcome(ignores, {"x": 2}).get("idle") is None


def test_an_answer_that_never_ends_when_turned_is_not_idle():
    def waits(x):
        while not toss(x):
            pass
        return x

    assert outcome(waits, {"x": 2}, counted=toss)["idle"] is False
    assert toss(1)


def test_a_function_is_turned_under_every_name_and_then_what_it_was():
    other, before = toss, (toss.__code__, toss.__defaults__, toss.__kwdefaults__)
    twin = types.FunctionType(toss.__code__, toss.__globals__)
    with calls.turned(toss) as seen:
        assert (other(1), toss(-1), twin(1), len(seen)) == (False, True, True, 2)
    assert (toss.__code__, toss.__defaults__, toss.__kwdefaults__) == before


def test_calls_are_counted_for_each_case():
    def toss(x):
        return x > 0

    outcomes = Probe("f", counted=toss).probe(lambda x: [toss(x) for _ in range(x)], [{"x": 2}, {"x": 3}, {"x": 0}])
    assert [outcome["calls"] for outcome in outcomes] == [2, 3, 0]


def test_an_answer_that_waits_for_a_lock_is_late_and_not_wrong():
    """Python gives a lock back unheld then, which is a RuntimeError, as where an answer waits for its pool."""
    probe = Probe("answer", seconds=0.2)
    outcomes = probe.probe(lambda x: x or Future().result(), [{"x": 1}, {"x": 0}])
    assert outcomes[0]["value"] == 1
    assert outcomes[1]["timeout"] == 0.2
