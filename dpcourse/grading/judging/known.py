"""What is known of modules and of attributes, so that code which uses them can be told apart from code in doubt."""

PROCESS = " process"  # a state that every line of code may depend on; the names of states begin with a blank
DRAWN_BY_NUMPY = " numpy.random"

# module, or thing in a module -> the process-wide state that code which uses it may read or change; None: there is none.
# The longest beginning of a name counts; of what is not here nothing is known.
MODULES: dict[str, str | None] = {
    **dict.fromkeys(
        (
            *("abc", "array", "bisect", "cmath", "collections", "copy", "dataclasses", "datetime"),
            *("enum", "fractions", "functools", "heapq", "itertools", "math", "numbers", "operator", "re", "string"),
            *("textwrap", "time", "typing", "IPython.display", "numpy", "pandas", "scipy"),
            *("statsmodels.datasets", "sklearn.datasets.load_digits"),
            *("dpcourse.audit", "dpcourse.clt", "dpcourse.composition", "dpcourse.gdp", "dpcourse.laplace"),
            *("dpcourse.pld", "dpcourse.plots", "dpcourse.rdp", "dpcourse.rounding", "dpcourse.tradeoff"),
            *("dpcourse.check", "dpcourse.hint", "dpcourse.passed", "dpcourse.progress", "dpcourse.quiz"),
            *("dpcourse.solution", "dpcourse.widgets", "dpcourse.doctor.report"),
        )
    ),
    "decimal": " decimal",
    "random": " random",
    "statistics": " random",
    "warnings": " warnings",
    "matplotlib": " matplotlib",
    "torch": " torch",
    "dpcourse.dpsgd": " torch",
    "sklearn.datasets": DRAWN_BY_NUMPY,
    "numpy.random": DRAWN_BY_NUMPY,
    **dict.fromkeys(("numpy.random.default_rng", "numpy.random.Generator", "numpy.random.SeedSequence")),
}
OF_GENERATORS = {name.rpartition(".")[2] for name in MODULES if name.startswith("numpy.random.")}

# Attributes by which code may change what the whole process shares, whatever module they are of.
OF_THE_PROCESS = {
    *("seterr", "setbufsize", "set_printoptions", "set_string_function", "set_option", "reset_option", "options"),
    *("rcParams", "environ"),
}

# Names and attributes by which code can see or change the notebook's names in another way than by writing them down.
NAMES_THAT_SEE_ALL = {
    *("globals", "locals", "vars", "dir", "eval", "exec", "compile", "__import__", "breakpoint", "getattr", "setattr"),
    *("delattr", "get_ipython", "In", "Out", "exit", "quit", "__builtins__", "__builtin__", "__loader__", "__spec__"),
    *("__del__", "__getattr__", "__dict__"),
}
ATTRIBUTES_THAT_SEE_ALL = {
    *("f_globals", "f_locals", "f_back", "f_builtins", "f_code", "gi_frame", "cr_frame", "ag_frame", "tb_frame"),
    *("modules", "sys", "os", "builtins", "importlib", "ctypes", "gc", "currentframe", "getmembers", "getclosurevars"),
    *("user_ns", "user_global_ns", "attrgetter", "methodcaller", "get_type_hints", "eval", "query", "safe_eval"),
    *("formula", "from_formula", "seterrcall", "settrace", "setprofile"),
}
DUNDERS = {
    *("__init__", "__name__", "__doc__", "__class__", "__call__", "__len__", "__iter__", "__next__", "__version__"),
    *("__qualname__", "__enter__", "__exit__", "__float__", "__int__", "__getitem__"),
}  # attributes of that form that tell nothing of a namespace


def state_of(name: str) -> str | None:
    """The state that comes with a module, or with what is imported from one. Raises KeyError where nothing is known.

    >>> state_of("numpy.linalg.norm"), state_of("numpy.random.normal"), state_of("numpy.random.default_rng")
    (None, ' numpy.random', None)
    """
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if (beginning := ".".join(parts[:length])) in MODULES:
            return MODULES[beginning]
    raise KeyError(name)


def is_state(name: str) -> bool:
    """Whether a name is that of a state, and not one that code may bear."""
    return name.startswith(" ")
