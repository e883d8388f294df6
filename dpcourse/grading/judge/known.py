"""What is known of modules and of attributes, so that code which uses them can be told apart from code in doubt."""

PROCESS = " process"  # a state that every line of code may depend on; the names of states begin with a blank
DRAWN_BY_NUMPY = " numpy.random"
DRAWN_BY_TORCH = " torch"
PICTURES = " matplotlib"
FILES = " files"

# module, or thing in a module -> the process-wide state that code which uses it may read or change; None: there is none.
# The longest beginning of a name counts; of what is not here nothing is known.
MODULES: dict[str, str | None] = {
    **dict.fromkeys(
        (
            *("abc", "array", "bisect", "cmath", "collections", "copy", "dataclasses", "datetime"),
            *("enum", "fractions", "functools", "heapq", "itertools", "math", "numbers", "operator", "re", "string"),
            *("textwrap", "time", "typing", "IPython.display", "numpy", "pandas"),
            *("scipy.integrate", "scipy.special", "scipy.optimize.brentq", "scipy.stats.binom", "scipy.stats.norm"),
            *("statsmodels.datasets", "sklearn.datasets.load_digits"),
            *("dpcourse.audit", "dpcourse.clt", "dpcourse.composition", "dpcourse.gdp", "dpcourse.laplace"),
            *("dpcourse.pld", "dpcourse.plots", "dpcourse.rdp", "dpcourse.base.rounding", "dpcourse.tables"),
            *(
                "dpcourse.check",
                "dpcourse.hint",
                "dpcourse.language",
                "dpcourse.passed",
                "dpcourse.progress",
                "dpcourse.quiz",
            ),
            *("dpcourse.solution", "dpcourse.tradeoff", "dpcourse.widgets", "dpcourse.notebook.doctor.report"),
        )
    ),
    "decimal": " decimal",
    "random": " random",
    "statistics": " random",
    "warnings": " warnings",
    "matplotlib": PICTURES,
    "torch": DRAWN_BY_TORCH,
    "dpcourse.dpsgd": DRAWN_BY_TORCH,
    "scipy": DRAWN_BY_NUMPY,
    "scipy.io": FILES,
    "sklearn.datasets": DRAWN_BY_NUMPY,
    "numpy.random": DRAWN_BY_NUMPY,
    **dict.fromkeys(("numpy.random.default_rng", "numpy.random.Generator", "numpy.random.SeedSequence")),
}
OF_GENERATORS = {name.rpartition(".")[2] for name in MODULES if name.startswith("numpy.random.")}

# attribute, of whatever module or object -> the process-wide state that code which uses it may read or change.
ATTRIBUTES: dict[str, str] = {
    **dict.fromkeys(
        (
            *("seterr", "setbufsize", "set_printoptions", "set_string_function", "set_default_printstyle"),
            *("set_option", "reset_option", "options", "set_eng_float_format", "rcParams", "environ"),
            *("simplefilter", "filterwarnings", "resetwarnings", "filters", "showwarning", "formatwarning"),
            *("set_default_dtype", "set_default_device", "set_default_tensor_type", "set_grad_enabled"),
            *("register", "register_dataframe_accessor", "register_series_accessor", "register_index_accessor"),
        ),
        PROCESS,
    ),
    **dict.fromkeys(("rvs", "sample"), DRAWN_BY_NUMPY),
    **dict.fromkeys(("bernoulli", "multinomial", "bernoulli_", "cauchy_", "exponential_"), DRAWN_BY_TORCH),
    **dict.fromkeys(("geometric_", "log_normal_", "normal_", "random_", "uniform_"), DRAWN_BY_TORCH),
    **dict.fromkeys(("plot", "hist", "boxplot"), PICTURES),
    **dict.fromkeys(
        (
            *("save", "savez", "savez_compressed", "savetxt", "savefig", "imsave", "imread", "dump", "tofile"),
            *("load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "open_memmap", "DataSource"),
            *("ExcelWriter", "ExcelFile", "HDFStore", "to_sql", "read_sql", "read_table", "read_fwf", "read_sas"),
            *("to_clipboard", "to_csv", "to_excel", "to_feather", "to_hdf", "to_html", "to_json", "to_latex"),
            *("to_markdown", "to_orc", "to_parquet", "to_pickle", "to_stata", "to_string", "to_xml"),
            *("read_clipboard", "read_csv", "read_excel", "read_feather", "read_hdf", "read_html", "read_json"),
            *("read_orc", "read_parquet", "read_pickle", "read_stata", "read_xml"),
        ),
        FILES,
    ),
}

NAMES = {"open": FILES}  # of Python's own -> the same

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


def states_of(name: str) -> frozenset[str]:
    """The states that come with a module, or with what is imported from one. Raises KeyError where nothing is known.

    >>> sorted(states_of("numpy.random.normal")), sorted(states_of("numpy.random.default_rng"))
    ([' numpy.random'], [])
    >>> sorted(states_of("numpy.seterr")), sorted(states_of("matplotlib.pyplot.savefig"))
    ([' process'], [' files', ' matplotlib'])
    """
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if (beginning := ".".join(parts[:length])) in MODULES:
            return frozenset(filter(None, (MODULES[beginning], ATTRIBUTES.get(parts[-1]))))
    raise KeyError(name)


def is_state(name: str) -> bool:
    """Whether a name is that of a state, and not one that code may bear."""
    return name.startswith(" ")
