"""What test_in_a_tab.py runs in Pyodide: it imports what the lessons import, and runs their checks as far as that goes.

Pyodide's numpy, scipy and matplotlib come from its own server, which is not asked here. In their place stand names that hold no
mathematics. While modules are imported, whatever is asked of such a name gives another one. Later it stops what asked, and is
noted. Of numpy there is a little more: what a check needs whose inputs and results are single numbers.
"""

import ast
import contextlib
import importlib
import importlib.machinery
import json
import math
import random
import sys
import time
import types

ABSENT = {"numpy", "scipy", "matplotlib", "PIL"}
MOCKED = "fcntl", "termios", "resource", "pexpect"  # JupyterLite's kernel puts an empty module in the place of each
OPERATORS = "add radd sub rsub mul rmul truediv rtruediv pow rpow matmul rmatmul neg invert lt le gt ge"
importing = True
asked: list[str] = []


class NotHere(Exception):
    """The mathematics is on Pyodide's server."""


def needed(name):
    """Another name while modules are imported; later NotHere, which is noted."""
    if importing:
        return absent(name)
    asked.append(name)
    raise NotHere(name)


class Absent(type):
    """A name of a package that is not here: a class, so that others can derive from it, and isinstance can ask for it."""

    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return absent(f"{cls.__name__}.{name}")

    def __call__(cls, *given, **named):
        return needed(cls.__name__)

    def __getitem__(cls, key):
        return needed(cls.__name__)

    def __iter__(cls):
        return iter([needed(cls.__name__), needed(cls.__name__)])  # of nodes and weights


for _name in OPERATORS.split():
    setattr(Absent, f"__{_name}__", lambda cls, *others: needed(cls.__name__))
for _name, _kind in (("float", float), ("int", int), ("len", int)):
    setattr(Absent, f"__{_name}__", lambda cls, kind=_kind: kind(needed(cls.__name__) is not None))


def absent(name):
    return Absent(name, (), {})


class AbsentModule(types.ModuleType):
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return absent(f"{self.__name__}.{name}")


class Finder:
    """Finds a module of an absent package, whatever its name is."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, Finder, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        return AbsentModule(spec.name)

    @staticmethod
    def exec_module(module):
        if module.__name__ in BARE:
            vars(module).update(BARE[module.__name__])


# ---- of numpy, as much as single numbers need


class Number(float):
    """A number as an array without axes."""

    shape, size, ndim = (), 1, 0

    def __getattr__(self, name):
        return needed(f"numpy.float64.{name}")


def of_numbers(function):
    """What does with numbers what the function does; with anything else it is not here."""

    def done(value, *others, **named):
        if any(isinstance(one, (list, tuple)) for one in (value, *others)):
            return needed(f"numpy, of a list ({function.__name__})")
        return function(value, *others, **named)

    return done


def is_close(value, other, rtol=1e-5, atol=1e-8):
    return value == other or abs(value - other) <= atol + rtol * abs(other) < math.inf


def number(value, dtype=None):
    return Number(value)


def log(value):
    """Of a number, or of each end of a range that is drawn from."""
    return [*map(math.log, value)] if isinstance(value, list) else math.log(value)


class Generator:
    """Draws single numbers."""

    def __init__(self, seed=None):
        self.random_ = random.Random(seed)

    def one(self, drawn, size):
        return drawn() if size is None else needed("numpy.random.Generator, of many numbers")

    def random(self, size=None):
        return self.one(self.random_.random, size)

    def uniform(self, low=0.0, high=1.0, size=None):
        return self.one(lambda: self.random_.uniform(low, high), size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self.one(lambda: self.random_.gauss(loc, scale), size)

    def spawn(self, count):
        return [Generator(self.random_.random()) for _ in range(count)]

    def integers(self, low, high=None, size=None):
        low, high = (0, low) if high is None else (low, high)
        return self.one(lambda: self.random_.randrange(low, high), size)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return absent(f"numpy.random.Generator.{name}")


def default_rng(seed=None):
    return seed if isinstance(seed, Generator) else Generator(seed if seed is None else repr(seed))


KINDS = "ndarray generic number floating integer bool_ str_ float64 float32 int64 int8 complexfloating"
BARE = {
    "numpy": {
        **{name: type(name, (), {}) for name in KINDS.split()},
        "sctypeDict": {},
        "errstate": lambda **how: contextlib.nullcontext(),
        "asarray": of_numbers(number),
        "allclose": of_numbers(is_close),
        "isclose": of_numbers(is_close),
        "log": log,
        "shape": lambda value: (len(value),) if isinstance(value, (list, tuple)) else (),
        "ndim": lambda value: int(isinstance(value, (list, tuple))),
        "inf": math.inf,
        "nan": math.nan,
        "pi": math.pi,
        **{name: of_numbers(getattr(math, name)) for name in ("exp", "sqrt", "isfinite", "expm1", "log1p")},
    },
    "numpy.random": {"Generator": Generator, "default_rng": default_rng},
}


# ---- what is tried


def installed(cell, packages):
    """Run the cell that installs, where nothing has come, and nobody has said so; returns what the cell says.

    packages: the folder that is in Python's path, so that the rest can be tried.
    """

    async def install(name):
        pass

    sys.modules["piplite"] = types.SimpleNamespace(install=install)
    sys.path.remove(packages)
    try:
        eval(compile(cell, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), {}).send(None)
    except (RuntimeError, StopIteration) as error:
        return str(error)
    finally:
        sys.path.append(packages)


def needs(requirements):
    """The names of those packages that a requirement asks for here, as micropip reads it."""
    from packaging.requirements import Requirement

    read = map(Requirement, requirements)
    return sorted(each.name for each in read if each.marker is None or each.marker.evaluate())


def prepare(blocked):
    """Do what JupyterLite's kernel does before a cell runs; blocked: packages that a tab does not have."""
    for name in MOCKED:
        sys.modules[name] = types.ModuleType(name)
    for name in blocked:
        sys.modules[name] = None
    sys.meta_path.insert(0, Finder)
    importlib.import_module("numpy").random = importlib.import_module("numpy.random")


def tried(imports, answers):
    """Import all these modules, then check all these answers; returns what came of it, as plain data.

    answers: dicts with exercise, label, code, right, and the imports of its lesson.
    """
    global importing
    began, failed = time.monotonic(), {}
    for name in imports:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed[name] = repr(error)
    result = {"imported": len(imports) - len(failed), "failed": failed, "seconds": time.monotonic() - began}
    importing = False
    checks = [checked(**answer) for answer in answers]
    from dpcourse.notebook import doctor, progress

    return result | {"checks": checks, "done": sorted(progress.kept().done), "doctor": repr(doctor.report())}


def checked(exercise, label, code, right, imports):
    """Check an answer as a learner does; returns what was said, or for want of what nothing could be."""
    import dpcourse
    from dpcourse.notebook import check

    asked.clear()
    names, said = {}, None
    try:
        exec(imports, names)
        exec(code, names)
        with contextlib.redirect_stdout(None):
            dpcourse.check(exercise, names[exercise.partition("/")[2]])
        said = check._last_state.get(check.course.find(exercise).number)
    except Exception as error:
        said = repr(error)
    return {"exercise": exercise, "label": label, "right": right, "said": said, "lacks": sorted(set(asked))}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    begun = {"installed": installed(**task["installed"]), "needs": needs(task["requirements"])}
    prepare(**task["prepare"])
    print(json.dumps(begun | tried(**task["tried"])))
