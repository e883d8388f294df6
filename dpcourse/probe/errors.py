"""What an exception in a beginner's function often means, in a sentence."""

import builtins
import difflib
import re
import sys

MODULES = {
    "math": ("sqrt", "exp", "log", "ceil", "floor", "pi", "e", "comb", "factorial", "expm1", "log1p", "inf"),
    "np": (
        "sqrt",
        "array",
        "asarray",
        "maximum",
        "minimum",
        "cumsum",
        "where",
        "zeros",
        "ones",
        "arange",
        "linspace",
        "clip",
        "mean",
        "sum",
    ),
    "norm": ("cdf", "ppf", "sf", "isf"),
}
BY_TYPE = {
    "NameError": "Is the name spelled right, and has the cell that defines it been run?",
    "UnboundLocalError": "A name is used before the function gives it a value: does it stand only inside an `if` or a loop?",
    "ZeroDivisionError": "Something below a fraction line is 0.",
    "OverflowError": "A number became too large: can you work with its logarithm?",
    "KeyError": "The dict has nothing under that key yet: `d.get(key, 0)` gives 0 instead.",
    "RecursionError": "The function calls itself without end.",
    "IndexError": "A position lies outside a list or an array.",
    "SystemExit": "Do not call `exit` or `quit` in an answer.",
    "LinAlgError": "The rows and columns do not fit together.",
}
BY_TEXT = (  # pattern in what Python says -> what it means; the first that fits
    (r"unsupported operand.*\^|ufunc 'bitwise_xor'", "`^` is no power in Python: write `**`."),
    (
        r"truth value of an array",
        "`if`, `max`, `min`, `and` and `or` need one True or False, and here is an array of them. `np.where`, `np.maximum` and `np.minimum` work entry by entry.",
    ),
    (
        r"only integer scalar arrays|cannot be interpreted as an integer|integer argument expected|'axis'|axis .* is out of bounds",
        "Does a whole number belong there? `np.max(a, b)` takes b for an axis: `np.maximum(a, b)` compares entry by entry; `range` and the size of an array take whole numbers, `int(...)` makes one.",
    ),
    (
        r"return arrays must be of ArrayType",
        "The third argument of `np.maximum` is where the result goes: it compares two things only.",
    ),
    (
        r"(can't multiply sequence by non-int|unsupported operand type\(s\) for .*'(list|tuple)'|can only concatenate (list|tuple)|bad operand type for .*'list')",
        "A list does not calculate entry by entry: make it an array first, `np.asarray(...)`, or write a loop. (`+` joins two lists.)",
    ),
    (
        r"unsupported operand type\(s\) for .*'NoneType'|'NoneType' object",
        "Something here is None: a function that returns nothing, such as `print`, `sort` or one without `return`.",
    ),
    (
        r"'(<|>|<=|>=)' not supported between instances of .*'(tuple|list)'",
        "A pair or a list is compared with a number: take the entry that you mean, such as `[0]`.",
    ),
    (
        r"(not supported between instances|unsupported operand type).*'Bounds'",
        "That is an interval, certified on both sides: take its safe end, `.upper`.",
    ),
    (
        r"unsupported operand type\(s\) for .*'tuple'|must be real number, not (tuple|list)|float\(\) argument must be .* not '(tuple|list)'",
        "A pair stands where one number belongs: take the entry that you mean, such as `[0]`.",
    ),
    (r"must be real number, not (str|NoneType)", "One number belongs there."),
    (
        r"only (length-1|0-dimensional|size-1) arrays",
        "`math` works with one number at a time: for an array take the function of `np`, such as `np.sqrt` and `np.exp`.",
    ),
    (
        r"Cannot cast ufunc",
        "An array of whole numbers cannot take fractions: write `x = x + y` in place of `x += y`, or begin with `.astype(float)`.",
    ),
    (
        r"math domain|positive input|expected a (nonnegative|positive)",
        "Is it the logarithm of something <= 0, or the root of something negative? Note that ln(1/x) = -ln(x) >= 0 for x <= 1.",
    ),
    (
        r"operands could not be broadcast|shapes .* not aligned|mismatch in its core dimension|setting an array element with a sequence|inhomogeneous",
        "Two arrays have different lengths or shapes.",
    ),
    (
        r"'Generator' object is not callable",
        "`rng` is a generator, not a function: call one of its methods, such as `rng.random(n)`.",
    ),
    (
        r"'(float|int|numpy\.float64)' object is not (iterable|subscriptable)|object of type '(float|int|numpy\.float64)' has no len",
        "That is one number, not a list of them.",
    ),
    (
        r"'(float|int|numpy\.float64)' object is not callable",
        "A sign is missing between a number and the bracket behind it: `2 (x)` is a call, `2 * (x)` a product.",
    ),
    (
        r"'(list|tuple|dict|numpy\.ndarray)' object is not callable",
        "Round brackets call a function: an entry of a list, a dict or an array is taken by square ones, `x[i]`.",
    ),
    (
        r"(list|tuple) indices must be integers",
        "A place in a list is a whole number. To run over the entries themselves: `for x in xs`.",
    ),
    (
        r"missing \d+ required|takes .* positional argument|unexpected keyword",
        "A function is called with other arguments than it takes: `help(name)` shows which.",
    ),
    (
        r"not enough values to unpack|too many values to unpack",
        "The names on the left of `=` are not as many as the values on its right.",
    ),
    (r"unhashable", "A list cannot be a key of a dict or an entry of a set: a tuple can."),
    (r"could not convert string", "A number is written as text."),
    (r"complex", "A root of something negative was taken."),
)


def meaning(error: BaseException, known: dict) -> str:
    """What the exception often means, or nothing. known: names that the function can use -> what they are."""
    said = str(error)
    if (
        isinstance(error, NameError)
        and not isinstance(error, UnboundLocalError)
        and (name := getattr(error, "name", None))
    ):
        return _of_name(name, known)
    if isinstance(error, AttributeError):
        return _of_attribute(error)
    if type(error).__name__ in (
        "TypeError",
        "UFuncTypeError",
        "_UFuncOutputCastingError",
        "ValueError",
        "AxisError",
        "_UFuncNoLoopError",
        "IndexError",
    ):
        for pattern, sentence in BY_TEXT:
            if re.search(pattern, said):
                return sentence
    return BY_TYPE.get(type(error).__name__, "")


def _of_name(name, known):
    for module, names in MODULES.items():
        if name in names and module in known:
            return f"It is called `{module}.{name}`."
    if near := difflib.get_close_matches(name, [*known, *dir(builtins)], 1, 0.75):
        return f"Do you mean `{near[0]}`?"
    return BY_TYPE["NameError"]


def _of_attribute(error):
    name, owner = getattr(error, "name", None) or "", getattr(error, "obj", None)
    if isinstance(owner, (list, tuple)):
        return f"A {type(owner).__name__} has no `{name}`: make it an array, `np.asarray(...)`, or use `{name}(...)` of Python or `np.{name}(...)`."
    if hasattr(owner, "__array__") and hasattr(owner, "ndim"):
        return f"An array has no `{name}`: it may be a function, `{name}(...)` or `np.{name}(...)`."
    if isinstance(owner, (int, float)):
        return f"That is one number, and has no `{name}`."
    if isinstance(owner, type(sys)):
        near = difflib.get_close_matches(name, [each for each in dir(owner) if not each.startswith("_")], 1, 0.5)
        short = owner.__name__.rpartition(".")[2]
        return f"`{short}` has no `{name}`" + (f"; do you mean `{short}.{near[0]}`?" if near else ".")
    return ""
