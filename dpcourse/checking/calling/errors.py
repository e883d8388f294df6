"""What an exception in a beginner's function often means, in a sentence."""

import builtins
import contextlib
import difflib
import re
import types
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from dpcourse.base.languages import listed, say
from dpcourse.checking.calling.messages import to_say

LONGEST_CHAIN, LONGEST_WORDS = 10, 200
MODULES = ("math", "np", "norm")  # in which a name may stand that was written without its module
ELSEWHERE = {  # names that others use -> where they are here
    "ln": "log", "inv": "ppf", "quantile": "ppf", "randn": "standard_normal", "rand": "random", "randint": "integers",
    "gauss": "normal", "lap": "laplace", "sd": "std", "avg": "mean", "power": "pow",
}  # fmt: skip
OF_ARRAYS = {  # methods that an array has not -> what does the same
    "count": ["`np.sum(x == value)`"], "index": ["`np.argmax(...)`", "`np.flatnonzero(...)`"], "append": ["`np.append(x, value)`"],
    "len": ["`len(x)`"], "pop": ["`x[:-1]`"], "extend": ["`np.concatenate(...)`"],
}  # fmt: skip
INVERSE = to_say("an exchange of the two arrays")
BY_TYPE = {
    "NameError": to_say("Is the name spelled right, and has the cell that defines it been run?"),
    "UnboundLocalError": to_say(
        "A name is used before the function gives it a value: does it stand only inside an `if` or a loop?"
    ),
    "ZeroDivisionError": to_say("Something below a fraction line is 0."),
    "OverflowError": to_say("A number became too large: can you work with its logarithm?"),
    "KeyError": to_say(
        "The dict has no such key: is it spelled as in the task? (A dict that you fill yourself: `d.get(key, 0)` gives 0 at first.)"
    ),
    "RecursionError": to_say("The function calls itself without end."),
    "IndexError": to_say("A position lies outside a list or an array."),
    "SystemExit": to_say("Do not call `exit` or `quit` in an answer."),
    "LinAlgError": to_say("The rows and columns do not fit together."),
}
OF_NOTHING = r"operand type(\(s\))? for .*'NoneType'|'NoneType' object|not supported between instances of .*'NoneType'|not NoneType"
GIVEN_NOTHING = to_say(
    "Something here is None, as `{place}` is for this input, and may be: ask first whether it `is None`."
)
BY_TEXT = (  # pattern in what Python, or a function of the course, says -> what it means; the first that fits
    (
        r"^the budget has no room",
        to_say("The ledger refuses a step for which there is no room: catch its `ValueError`, and end the run there."),
    ),
    (
        r"^\w+ must be a (whole )?number (>=|in) ",
        to_say(
            "A function of the course was given a number that lies outside of what it takes. Do its arguments stand in the right order?"
        ),
    ),
    (r"unsupported operand.*\^|ufunc 'bitwise_xor'", to_say("`^` is no power in Python: write `**`.")),
    (
        r"truth value of an array",
        to_say(
            "An array stands where one True or False is needed, as by `if`, `max`, `min`, `and`, `or`, `not`. `np.where`, `np.maximum` and `np.minimum` work entry by entry."
        ),
    ),
    (
        r"axis .* is out of bounds",
        to_say(
            "The array has no such axis: axes count from 0, and a list of numbers has one only. `np.max(a, b)` takes b for an axis: `np.maximum(a, b)` compares entry by entry."
        ),
    ),
    (
        r"only integers, slices|arrays used as indices must be of integer",
        to_say("A place in an array is a whole number. To run over the places: `for i in range(len(x))`."),
    ),
    (r"maximum supported dimension", to_say("A size is one number, such as `len(x)`, and not the array itself.")),
    (
        r"only integer scalar arrays|cannot be interpreted as an integer|integer argument expected|'axis'",
        to_say(
            "Does a whole number belong there? `np.max(a, b)` takes b for an axis: `np.maximum(a, b)` compares entry by entry; `range` and the size of an array take whole numbers, `int(...)` makes one."
        ),
    ),
    (
        r"return arrays must be of ArrayType",
        to_say(
            "`np.maximum` compares two things, and `np.max` takes one array: what stands behind them is where the result goes. `max(a, b, c)` takes the largest of several numbers."
        ),
    ),
    (
        r"(can't multiply sequence by non-int|unsupported operand type\(s\) for .*'(list|tuple)'|can only concatenate (list|tuple)|bad operand type for .*'list')",
        to_say(
            "A list or a pair does not calculate entry by entry: make a list an array first, `np.asarray(...)`, and of a pair or an interval take the number that you mean, such as `[0]` or `.upper`. (`+` joins two lists.)"
        ),
    ),
    (
        r"unsupported operand type.*'(function|TradeOff|Curve|builtin_function_or_method|method)'|must be real number, not (builtin_function_or_method|function)",
        to_say("A function stands where a number belongs: calculate with its value, `f(x)`, and not with `f`."),
    ),
    (
        r"'module' object is not callable",
        to_say("A module is no function: call one of its functions, `module.name(...)`."),
    ),
    (
        OF_NOTHING,
        to_say(
            "Something here is None: a function that returns nothing, such as `print`, `sort` or one without `return`."
        ),
    ),
    (
        r"'(<|>|<=|>=)' not supported between instances of .*'(tuple|list)'",
        to_say("A pair or a list is compared with a number: take the entry that you mean, such as `[0]`."),
    ),
    (
        r"(not supported between instances|unsupported operand type).*'Bounds'",
        to_say("That is an interval, certified on both sides: take its safe end, `.upper`."),
    ),
    (
        r"must be real number, not list|float\(\) argument must be .* not 'list'",
        to_say(
            "A list stands where one number belongs. `math` takes one number at a time: `np.exp`, `np.log` and the like take all entries of a list."
        ),
    ),
    (
        r"unsupported operand type\(s\) for .*'tuple'|must be real number, not tuple|float\(\) argument must be .* not 'tuple'",
        to_say("A pair stands where one number belongs: take the entry that you mean, such as `[0]`."),
    ),
    (
        r"unsupported operand type\(s\) for .*'(str|numpy\.str_)'|can only concatenate str",
        to_say(
            "A text stands where a number belongs. A loop over a dict gives its keys: what stands behind them is `d[key]`, and `d.values()` gives all of it."
        ),
    ),
    (
        r"(max|min)\(\) (arg is an empty sequence|iterable argument is empty)|zero-size array to reduction",
        to_say("That is the largest or smallest of nothing: with this input a list is empty here."),
    ),
    (r"must be real number, not str", to_say("One number belongs there.")),
    (
        r"only (length-1|0-dimensional|size-1) arrays",
        to_say(
            "`math` works with one number at a time: for an array take the function of `np`, such as `np.sqrt` and `np.exp`."
        ),
    ),
    (
        r"Cannot cast ufunc",
        to_say(
            "An array of whole numbers cannot take fractions: write `x = x + y` in place of `x += y`, or begin with `.astype(float)`."
        ),
    ),
    (
        r"math domain|positive input|expected a (nonnegative|positive)",
        to_say("Is it the logarithm of something <= 0, or the root of something negative?"),
    ),
    (
        r"operands could not be broadcast|shapes .* not aligned|mismatch in its core dimension|setting an array element with a sequence|inhomogeneous",
        to_say("Two arrays have different lengths or shapes."),
    ),
    (
        r"'Generator' object is not callable",
        to_say("`rng` is a generator, not a function: call one of its methods, such as `rng.random(n)`."),
    ),
    (
        r"'(float|int|numpy\.float64)' object is not (iterable|subscriptable)|object of type '(float|int|numpy\.float64)' has no len",
        to_say("That is one number, not a list of them."),
    ),
    (
        r"'(float|int|numpy\.float64)' object is not callable",
        to_say(
            "A bracket behind a number is a call. Is a `*` missing, `2 * (x)`? `.size` and `.ndim` take no bracket; and a function of a module needs its name before it, `gdp.delta(...)`."
        ),
    ),
    (
        r"'(list|tuple|dict|numpy\.ndarray)' object is not callable",
        to_say(
            "Round brackets call a function: an entry of a list, a dict or an array is taken by square ones, `x[i]`, and `.shape` takes none."
        ),
    ),
    (
        r"(list|tuple) indices must be integers",
        to_say("A place in a list is a whole number. To run over the entries themselves: `for x in xs`."),
    ),
    (
        r"missing \d+ required|takes .* positional argument|unexpected keyword",
        to_say("A function is called with other arguments than it takes: `help(name)` shows which."),
    ),
    (
        r"not enough values to unpack|too many values to unpack",
        to_say("The names on the left of `=` are not as many as the values on its right."),
    ),
    (r"unhashable", to_say("A list cannot be a key of a dict or an entry of a set: a tuple can.")),
    (r"could not convert string", to_say("A number is written as text.")),
    (r"complex", to_say("A root of something negative was taken.")),
)


IS_GIVEN = to_say(
    "`{name}` is what your function is given, and no function: a bracket behind it is a call. (A product needs a `*`.)"
)
PHI = to_say("Φ is `norm.cdf`, and its inverse `norm.ppf`.")
IN_A_MODULE = to_say("It is called `{name}`.")
DO_YOU_MEAN = to_say("Do you mean `{name}`?")
OF_NONE = to_say(
    "That is None: `append`, `sort` and the like change their list and return nothing. Do not assign what they return."
)
OF_A_DICT = to_say('That is a dict: an entry is taken by its key, `["{name}"]`.')
OF_A_NUMBER = to_say("That is one number, and has no `{name}`.")
OF_A_LIST = to_say("A {kind} has no `{name}`: use {options}.")
OF_AN_ARRAY = to_say("An array has no `{name}`: use {options}.")
MAKE_AN_ARRAY = to_say("A {kind} has no `{name}`: `np.asarray(...)` makes it an array.")


def chain(error: BaseException | None) -> list[str]:
    """An exception and those from which it came, the last one first: the type and the first words of each.

    >>> chain(ValueError("x"))
    ['ValueError: x']
    """
    found: list[str] = []
    with contextlib.suppress(BaseException):  # the class may be a student's
        while error is not None and len(found) < LONGEST_CHAIN:
            found.append(_named(error))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def _named(error):
    try:
        return f"{type(error).__name__}: {str(error)[:LONGEST_WORDS]}"
    except BaseException:
        return type(error).__name__


def meaning(
    error: BaseException,
    known: dict,
    line: str = "",
    given: Mapping[str, object] = MappingProxyType({}),
    forbidden: tuple = (),
) -> str:
    """What the exception often means, or nothing.

    known: names that the function can use -> what they are. line: where it stopped. given: the function's own parameters,
    each with what it was given. forbidden: names that must not be proposed.
    """
    message = str(error)
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return _of_name(getattr(error, "name", None) or "", known)
    if isinstance(error, AttributeError):
        return _of_attribute(error, forbidden)
    if "object is not callable" in message:
        for name in given:
            if re.search(rf"\b{re.escape(name)}\s*\(", line):
                return say(IS_GIVEN, name=name)
    if isinstance(error, TypeError) and re.search(OF_NOTHING, message) and (place := _where_none(given, line)):
        return say(GIVEN_NOTHING, place=place)
    if isinstance(error, (TypeError, ValueError, IndexError)):
        for pattern, sentence in BY_TEXT:
            if re.search(pattern, message):
                return say(sentence)
    return say(BY_TYPE.get(type(error).__name__, ""))


def _where_none(given, line):
    """As code, which of the parameters is None, or which entry of one, first one that the line names; nothing where none is."""
    found = list(_each_none(given))
    return next((each for each in found if each in line.replace("'", '"')), found[0] if found else "")


def _each_none(given):
    for name, value in given.items():
        if value is None:
            yield name
        entries = value.items() if type(value) is dict else enumerate(value) if type(value) in (list, tuple) else ()
        for key, entry in entries:
            if entry is None:
                yield f'{name}["{key}"]' if isinstance(key, str) else f"{name}[{key}]"


def _of_name(name, known):
    if name.lower().removesuffix("_inv") == "phi" and "norm" in known:
        return say(PHI)
    for module in MODULES:
        if hasattr(known.get(module), name):
            return say(IN_A_MODULE, name=f"{module}.{name}")
    if near := difflib.get_close_matches(name, [*known, *dir(builtins)], 1, 0.75):
        return say(DO_YOU_MEAN, name=near[0])
    return say(BY_TYPE["NameError"])


def _of_attribute(error, forbidden):
    name, owner = getattr(error, "name", None) or "", getattr(error, "obj", None)
    if owner is None:
        return say(OF_NONE)
    if isinstance(owner, (list, tuple)) or (hasattr(owner, "__array__") and hasattr(owner, "ndim")):
        return _of_a_list(name, isinstance(owner, (list, tuple)), type(owner).__name__)
    if isinstance(owner, dict):
        return say(OF_A_DICT, name=name)
    if isinstance(owner, (int, float)):
        return say(OF_A_NUMBER, name=name)
    public = [each for each in dir(owner) if not each.startswith("_") and each not in forbidden]
    known = ELSEWHERE.get(name)
    near = [known] if known in public else difflib.get_close_matches(name, public, 1, 0.65)
    if not near:
        return ""
    short = owner.__name__.rpartition(".")[2] if isinstance(owner, types.ModuleType) else ""
    return say(DO_YOU_MEAN, name=f"{short}.{near[0]}")


def _of_a_list(name, is_list, kind):
    """What to use in place of a method that a list or an array has not; only what exists is named."""
    options = [] if is_list else [say(INVERSE)] if name == "inverse" else [*OF_ARRAYS.get(name, [])]
    options += [f"`{name}(...)`"] if callable(getattr(builtins, name, None)) else []
    options += [f"`np.{name}(...)`"] if callable(getattr(np, name, None)) else []
    if options:
        either = listed(dict.fromkeys(options), "{first} or {then}")
        of_an_array = say(OF_AN_ARRAY, name=name, options=either)
        return say(OF_A_LIST, kind=kind, name=name, options=either) if is_list else of_an_array
    return say(MAKE_AN_ARRAY, kind=kind, name=name) if is_list and hasattr(np.ndarray, name) else ""
