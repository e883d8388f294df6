"""What an answer must not call, in any thread."""

import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

from dpcourse.probe import calls
from dpcourse.probe.probe import Probe


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
