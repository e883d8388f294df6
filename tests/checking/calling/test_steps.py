"""What the expressions of a function give, and what it gives where one of them gives something else."""

import linecache
import threading
import types

import numpy as np
import pytest

from dpcourse.checking.calling.probe import Probe
from dpcourse.checking.calling.steps import MOST_GIVEN, Watched

CODE = """
def helper(x):
    return x + 1

def answer(values, k):
    total = 0
    for value in values:
        total += helper(value) * k
    return total / len([v for v in values if v > 0])
"""


def written(code, name="answer"):
    """A function as a notebook's cell would define it."""
    file = f"<cell {hash(code)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    world = {"np": np, "__name__": "__main__"}
    exec(compile(code, file, "exec"), world)
    return world[name]


def given(watched, arguments):
    """What each expression gave, by its text."""
    return {place.text: values for place, values in zip(watched.places, watched.steps(arguments), strict=True)}


def test_expressions_in_loops_helpers_and_comprehensions_are_recorded_each_time():
    watched = Watched(written(CODE))
    found = given(watched, [[1, -2, 3], 2])
    assert found["helper(value) * k"] == [4, -2, 8]
    assert found["x + 1"] == [2, -1, 4]  # of the function that is called
    assert found["v > 0"] == [True, False, True]
    assert found["total / len([v for v in values if v > 0])"] == [5.0]
    lines = {place.text: place.line for place in watched.places}
    assert (lines["x + 1"], lines["helper(value) * k"]) == (3, 8)


def test_each_expression_names_what_it_is_made_of():
    watched = Watched(written("def answer(a, b):\n    return (a + b) * np.sqrt(b)\n"))
    texts = [place.text for place in watched.places]
    whole = watched.places[texts.index("(a + b) * np.sqrt(b)")]
    assert [texts[part] for part in whole.parts] == ["a + b", "np.sqrt(b)"]


def test_the_function_itself_is_left_as_it_is():
    function = written(CODE)
    watched = Watched(function)
    watched.steps([[1], 1])
    assert function([1, 2], 1) == 2.5
    assert "__record__" not in function.__globals__


@pytest.mark.parametrize(
    ("text", "values", "result"),
    [("helper(value) * k", [10, 20], 15.0), ("x + 1", [0, 0], 0.0), ("value", [0, 0], 2.0), ("total", [7, 7, 7], 3.5)],
)
def test_exchanged_values_are_used_one_after_the_other(text, values, result):
    watched = Watched(written(CODE))
    numbers = [number for number, place in enumerate(watched.places) if place.text == text][:1]
    assert watched.exchanged(numbers, values, [[1, 2], 2]) == result
    assert watched.exchanged([], [], [[1, 2], 2]) == 5.0  # and no longer


def test_what_an_exchange_breaks_gives_nothing():
    watched = Watched(written("def answer(a):\n    return 1 / a\n"))
    assert watched.exchanged([0], [0], [1]) is None


def test_values_are_kept_as_they_were():
    watched = Watched(written("def answer(n):\n    a = np.zeros(n)\n    b = a\n    b[0] = 5\n    return a.sum()\n"))
    found = given(watched, [3])
    assert found["np.zeros(n)"][0].tolist() == [0, 0, 0]
    assert found["a.sum()"] == [5]


def test_what_is_no_number_or_too_much_is_not_kept():
    code = (
        "def answer(n):\n    names = {str(i) for i in range(n)}\n    return len(names) + sum(i * i for i in range(n))\n"
    )
    found = given(Watched(written(code)), [MOST_GIVEN + 1])
    assert found["names"] is None
    assert found["i * i"] is None
    assert len(found["len(names)"]) == 1


@pytest.mark.parametrize("function", [len, np.sqrt, print, lambda x: x, 3, None])
def test_what_has_no_text_has_no_places(function):
    function = (
        eval("lambda x: x") if callable(function) and getattr(function, "__name__", "") == "<lambda>" else function
    )
    watched = Watched(function)
    assert watched.places == []
    assert watched.steps([1]) == []


def test_a_function_that_never_ends_comes_to_its_end():
    probe = Probe("answer", seconds=1)
    loops = written("def answer(n):\n    while n:\n        n = n + 0\n    return n\n")
    assert len(probe.watch(loops, [{"n": 1}], [])) == 2
    numbers = list(range(len(Watched(loops).places)))
    assert probe.watch(loops, [{"n": 0}], [(numbers, [[1] * 5])]) in ([[None]], [[0]], [[1]])


def test_of_functions_that_call_each_other_each_is_watched_once():
    code = "def even(n):\n    return True if n == 0 else odd(n - 1)\n\ndef odd(n):\n    return False if n == 0 else even(n - 1)\n"
    watched = Watched(written(code, "even"))
    assert given(watched, [4])["n - 1"] in ([3, 1], [2, 0])
    assert sum(place.text == "n - 1" for place in watched.places) == 2


def test_where_nothing_can_interrupt_it_nothing_is_watched():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(Probe("answer").watch(written(CODE), [{"values": [1], "k": 1}], []))
    )
    thread.start()
    thread.join()
    assert found == [[]]


def test_where_a_search_begins_is_known():
    """What a loop gives other values, made of anything but the old ones, is no fault by itself."""
    code = (
        "def answer(x, n):\n    low, high = x - 1, x / 2\n    total, best = x * 3, x * 5\n    for _ in range(n):\n"
        "        middle = (low + high) / 2\n        total = total + middle\n        best = max(best, middle)\n"
        "        if middle * middle > x:\n            high = middle\n        else:\n            low = middle\n    return low + total + best\n"
    )
    places = Watched(written(code)).places
    assert {place.text for place in places if place.begins} == {"x - 1", "x / 2"}


def test_a_helper_that_was_mended_since_is_watched_as_it_is_now():
    answer, probe, cases = written(CODE), Probe("answer", seconds=5), [{"values": [1], "k": 2}]
    before = probe.watch(answer, cases, [])
    answer.__globals__["helper"] = written("def helper(x):\n    return x + 5\n", "helper")
    answer.__globals__["helper"] = types.FunctionType(
        answer.__globals__["helper"].__code__, answer.__globals__, "helper"
    )
    after = probe.watch(answer, cases, [])
    assert ["x + 1" in [text for text, *_ in places] for places in (before[0], after[0])] == [True, False]
