"""Python's errors in a sentence: what a learner wrote, and what the sentence must say; what it proposes exists."""

import linecache
import re

import numpy as np
import pytest

from dpcourse import tradeoff
from dpcourse.checking.calling.messages import heard
from dpcourse.checking.calling.probe import Probe

MADE = {"__name__": "__main__", "np": np, "curve": tradeoff.gaussian(1.0)}
CASE = {"x": [1.0, 2.0], "n": 3}


def told(body, case=CASE, **names):
    """What is said of a function with this body, called with these x and n."""
    world = MADE | names
    code = "import math\ndef f(x, n):\n    " + body
    linecache.cache["<cell>"] = len(code), None, code.splitlines(keepends=True), "<cell>"  # as Jupyter does
    exec(compile(code, "<cell>", "exec"), world)
    (outcome,) = Probe("f").probe(world["f"], [case])
    return heard(outcome["raised"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 2.0 ^ n", "`^` is no power"),
        ("return np.asarray(x)[np.sort(x)]", "A place in an array is a whole number"),
        ("from dpcourse import gdp; return gdp.delta(n, -1.0)", "outside of what it takes"),
        ("raise ValueError('the budget has no room for one more step')", "catch its `ValueError`"),
        ("return x * 0.5", "make a list an array first"),
        ("return x @ x", "make a list an array first"),
        ("return x - 1", "make a list an array first"),
        ("return x - x", "make a list an array first"),
        ("y = np.array([1, 2]); y += 0.5; return y", "cannot take fractions"),
        ("return (1, 2) < n", "take the entry that you mean, such as `[0]`"),
        ("return np.max(n, np.asarray(x))", "`np.maximum(a, b)` compares entry by entry"),
        ("return np.maximum(0, n, np.asarray(x)[0])", "`np.maximum` compares two things"),
        ("return max(0, np.asarray(x))", "An array stands where one True or False is needed"),
        ("return np.asarray(x).sum(axis=2)", "axes count from 0"),
        ("return np.asarray(x)[0.5]", "A place in an array is a whole number"),
        ("return n(2)", "`n` is what your function is given, and no function"),
        ("return 1 - curve", "calculate with its value, `f(x)`"),
        ("return math.exp(math.sqrt)", "A function stands where a number belongs"),
        ("return math(n)", "A module is no function"),
        ("return e ** n", "It is called `math.e`"),
        ("return tanh(n)", "It is called `math.tanh`"),
        ("return math.ln(n)", "Do you mean `math.log`?"),
        ("return np.asarray(x).count(1)", "use `np.sum(x == value)`"),
        ("return np.asarray(x).index(1)", "`np.argmax(...)`"),
        ("return x.argmax()", "use `np.argmax(...)`"),
        ("y = x.sort(); return y.append(1)", "change their list and return nothing"),
        ("return np.random.default_rng(0).randn(3)", "Do you mean `.standard_normal`?"),
        ("return {'a': 1}['b']", "no such key"),
        ("return math.log(-n)", "the logarithm of something <= 0"),
        ("return n + sum(key for key in {'a': 1})", "A loop over a dict gives its keys"),
        ("return max([])", "a list is empty here"),
        ("return np.max(np.array([]))", "a list is empty here"),
        ("return np.zeros(2) + np.zeros(n)", "different lengths or shapes"),
    ],
)  # fmt: skip
def test_an_error_is_told_in_a_sentence(body, said):
    assert said in told(body)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return n['delta'] * 2", '`n["delta"]` is for this input'),
        ("return x[1] > 2", "`x[1]` is for this input"),
        ("return math.exp(n['delta'])", '`n["delta"]` is for this input'),
    ],
)
def test_of_none_that_was_given_it_is_told_where(body, said, monkeypatch):
    monkeypatch.setitem(CASE, "x", [1.0] if "delta" in body else [1.0, None])
    monkeypatch.setitem(CASE, "n", {"delta": None} if "delta" in body else 3)
    assert said in told(body)
    assert "returns nothing" not in told(body)


def test_of_none_that_was_not_given_it_is_told_where_it_may_come_from():
    assert "a function that returns nothing" in told("return 2 * x.sort()")
    assert "a function that returns nothing" in told("return x.sort() > 2")


def test_no_next_wrong_answer_is_proposed_for_an_empty_list():
    assert "default" not in told("return max([])")


@pytest.mark.parametrize("method", ["count", "index", "append", "len", "foo", "sum", "argsort", "sort_values", "items"])
@pytest.mark.parametrize("owner", ["x", "np.asarray(x)", "tuple(x)"])
def test_functions_that_are_proposed_exist(owner, method):
    if not hasattr(eval(owner, {"np": np, "x": [1.0]}), method):
        for name in re.findall(r"`np\.(\w+)\(", told(f"return {owner}.{method}()")):
            assert hasattr(np, name)


@pytest.mark.parametrize(("body", "which"), [("return x['b'] * 2", 'x["b"]'), ("y = x['b']; return -y", 'x["b"]')])
def test_of_several_that_are_none_the_one_is_named_that_stands_in_the_line(body, which):
    assert f"as `{which}` is for this input" in told(body, {"x": {"a": None, "b": None}, "n": 3})


def test_what_is_forbidden_is_not_proposed():
    def answer(x, n):
        return np.sqare(n)

    def raised(*forbidden):
        return heard(Probe("f", forbidden=forbidden).probe(answer, [CASE])[0]["raised"])

    assert "np.square" in raised().replace("numpy.", "np.")
    assert "square" not in raised(named(np.square)).partition(")")[2]


def named(function):
    """A function of Python with the name of another."""

    def stands_for(x):
        return function(x)

    stands_for.__name__ = function.__name__
    return stands_for
