"""What an answer must not call, in any thread; what is said of copies, and of functions that others stand in for."""

import inspect
import linecache
import marshal
import math
import os
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpcourse import composition
from dpcourse.base import validate
from dpcourse.checking.calling import calls
from dpcourse.checking.calling.beneath import Beneath
from dpcourse.checking.calling.probe import Probe


def test_what_is_forbidden_is_so_in_threads():
    def unwanted():
        return 1

    def answer(x):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: unwanted()).result()

    before = threading.getprofile()
    (outcome,) = Probe("f", forbidden=(unwanted,)).probe(answer, [{"x": 1}])
    assert outcome["forbidden"].endswith("unwanted")
    assert threading.getprofile() is before


def test_what_is_forbidden_is_so_in_threads_that_began_before():
    kept = "kept"

    def unwanted(x, *, times=2):
        return x * times, kept

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(unwanted, 1).result() == (2, kept)  # now it has its thread
        outcomes = [
            Probe("f", forbidden=(unwanted,)).probe(answer, [{"x": 1}])[0]
            for answer in (
                lambda x: pool.submit(unwanted, x).result(),
                lambda x: pool.submit(unwanted, x, times=3).exception() and x,  # swallowed
            )
        ]
    assert [outcome["forbidden"].endswith("unwanted") for outcome in outcomes] == [True, True]
    assert unwanted(1) == (2, kept)


def test_what_is_forbidden_is_so_for_a_copy_of_its_code():
    def unwanted(x):
        return x

    copy = types.FunctionType(unwanted.__code__, {})
    (outcome,) = Probe("f", forbidden=(unwanted,)).probe(lambda x: copy(x), [{"x": 1}])
    assert "forbidden" in outcome


def of_its_text(text):
    names = dict(vars(composition))
    exec(text, names)
    return names["sequential"]


def of_its_code(code):
    return types.FunctionType(code, vars(composition))


ITS_TEXT = inspect.getsource(composition.sequential)
ITS_FILE = "".join(linecache.getlines(composition.__file__))
COPIES = {
    "its text": of_its_text(ITS_TEXT),
    "its text without what it says of itself": of_its_text(
        f"def sequential(e): {ITS_TEXT[ITS_TEXT.index('return') :].replace('epsilons,', 'e,')}"
    ),
    "its file with another docstring": of_its_text(ITS_FILE.replace(composition.sequential.__doc__, "Another.")),
    "its code under another name": of_its_code(composition.sequential.__code__.replace(co_name="mine")),
    "its code, packed": of_its_code(
        marshal.loads(marshal.dumps(composition.sequential.__code__).replace(b"sequential", b"my_own_sum"))
    ),
}


def what_is_seen(answer):
    (outcome,) = Probe("f", forbidden=(composition.sequential,)).probe(answer, [{"x": [0.5, 0.25]}])
    return outcome.get("forbidden"), outcome.get("copied"), outcome.get("value")


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_of_a_copy_it_is_said_whose_it_is_and_no_mark_depends_on_it(copy):
    assert what_is_seen(lambda x: copy(x)) == (None, "dpcourse.composition.sequential", 0.75)


@pytest.mark.parametrize("own", [sum, math.fsum, lambda x: math.fsum(x), lambda x: math.fsum(validate.numbers("x", x))])
def test_what_only_resembles_it_is_no_copy(own):
    assert what_is_seen(own) == (None, None, 0.75)


def test_a_call_that_is_under_way_is_a_call():
    asked, told, given = threading.Event(), threading.Event(), []

    def unwanted(later):
        asked.set()
        told.wait(10)
        return later

    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(unwanted, given)
        assert asked.wait(10)

        def answer(x):
            given.append(x)
            told.set()
            return under_way.result(10)[0]

        (outcome,) = Probe("f", forbidden=(unwanted,)).probe(answer, [{"x": 1}])
    assert outcome["forbidden"].endswith("unwanted")


class OfWhomeverAsks:
    """What a probe asks of an answer: each time, a copy of what must not be called is called as well."""

    def __init__(self, where):
        self.where = where

    def asked(self, where):
        if where == self.where:
            COPIES["its text"]([1.0])

    def __call__(self, x):
        return 0.75

    @property
    def __signature__(self):
        self.asked("signature")
        ours = self

        class Signature(inspect.Signature):
            def bind(self, *arguments):
                ours.asked("bind")
                return super().bind(*arguments)

        return Signature([inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)])


@pytest.mark.parametrize("where", ["signature", "bind"])
def test_nothing_of_the_learners_runs_unwatched(where):
    assert what_is_seen(OfWhomeverAsks(where))[1:] == ("dpcourse.composition.sequential", 0.75)
    assert what_is_seen(OfWhomeverAsks("nowhere"))[1:] == (None, 0.75)


def test_what_begins_another_program_is_told():
    def answer(x):
        subprocess.run([sys.executable, "-c", ""], check=True)
        return 0.75

    (outcome,) = Probe("f", forbidden=(composition.sequential,)).probe(answer, [{"x": 1}])
    assert (outcome["value"], outcome["begun"]) == (0.75, "_posixsubprocess.fork_exec")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only Unix forks")
@pytest.mark.parametrize(("called", "told"), [(COPIES["its text"], b""), (math.fsum, b"0.75")])
def test_a_forked_process_runs_no_copy(called, told):
    def answer(x):
        reading, writing = os.pipe()
        if os.fork() == 0:
            try:
                os.write(writing, str(called(x)).encode())
            finally:
                os._exit(0)
        os.wait()
        os.close(writing)
        seen.append(os.read(reading, 99))
        return 1

    seen = []
    Probe("f", forbidden=(composition.sequential,)).probe(answer, [{"x": [0.5, 0.25]}])
    assert seen == [told]


def test_what_was_put_into_an_argument_is_asked_nothing():
    asked = []

    class Number:
        def __eq__(self, other):
            asked.append(other)
            return True

    def answer(x):
        x[0] = Number()
        return 1

    (outcome,) = Probe("f").probe(answer, [{"x": [1.0, 2.0]}])
    assert (outcome, asked) == ({"changed": "x", "printed": "", "printed_count": 0}, [])


def test_whoever_stands_in_for_a_function_of_ours_is_seen():
    class Owner:
        def asked(self):
            return 1

    owner = Owner()
    beneath = Beneath(["copy"], owner)
    assert beneath.replaced() == []
    owner.asked = lambda: 2
    assert beneath.replaced() == ["Owner.asked"]


def test_a_class_method_can_be_forbidden():
    class Unwanted:
        @classmethod
        def made(cls, x):
            return cls, x

    (outcome,) = Probe("f", forbidden=(Unwanted.made,)).probe(lambda x: Unwanted.made(x), [{"x": 1}])
    assert outcome["forbidden"].endswith("Unwanted.made")
    assert Unwanted.made(1) == (Unwanted, 1)


def test_two_that_are_probed_at_once_leave_what_is_forbidden_as_it_was():
    def unwanted():
        return 1

    code, inside = unwanted.__code__, threading.Barrier(2)

    def probed(_):
        inside.wait(10)
        with calls.forbidding([unwanted]):
            time.sleep(0.01)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(probed, range(2)))
    assert unwanted.__code__ is code
