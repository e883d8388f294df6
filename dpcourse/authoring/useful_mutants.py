"""Which slips in an exercise's reference the diagnosis is to try, found once and stored in its lesson's folder: mutants.json.

Worth trying is what gives values on some inputs as they are drawn, others than the reference, and the same as no cheaper
mutant. An entry is found by what its program says, so an exercise that has changed has none until it is built again.
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from dpcourse import course
from dpcourse.base.files import write_atomically
from dpcourse.checking import Exercise, OpenExercise, RandomExercise
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import plain
from dpcourse.checking.diagnosis import mutants
from dpcourse.checking.diagnosis.words import Change
from dpcourse.course import Lesson

DRAWS, MOST_CASES, DIGITS = 3, 8, 9


def programs(lesson: Lesson) -> Iterator[tuple[Exercise, mutants.Program]]:
    """Every program of a lesson in which slips are looked for, with its exercise."""
    for exercise in lesson.exercises:
        if not isinstance(exercise, (OpenExercise, RandomExercise)):
            for written in (*exercise.formulas, exercise.reference):
                yield exercise, mutants.Program(written)


def of_this_course(root: Path) -> bool:
    """Whether the lessons that are imported are those of the course in this folder."""
    return Path(course.__file__).is_relative_to(root.resolve())


def missing() -> list[tuple[Path, list[str]]]:
    """(file, functions of the exercises of which nothing is stored in it), for each lesson where there are any."""
    found = []
    for lesson in _own():
        known = mutants.stored(lesson.folder)
        functions = dict.fromkeys(
            exercise.function for exercise, program in programs(lesson) if program.key not in known
        )
        found += [(lesson.folder / mutants.STORED, list(functions))] if functions else []
    return found


def write(names: Collection[str] = ()) -> list[Path]:
    """Find and store what is not stored, and drop what no exercise has any more; returns the files that have changed.

    names: of these lessons only, where any are named.
    """
    lessons = [lesson for lesson in _own() if not names or lesson.name in names]
    changed = [lesson.folder / mutants.STORED for lesson in lessons if _write(lesson)]
    mutants.stored.cache_clear()
    return changed


def _own():
    """The lessons of the course itself: of a pack's exercises all slips are tried."""
    return [lesson for lesson in course.lessons() if lesson.pack is None]


def _write(lesson):
    """Write the file of one lesson where it is not what it should be; returns whether it was not."""
    known, found = mutants.stored(lesson.folder), defaultdict(dict)
    for exercise, program in programs(lesson):
        places = known.get(program.key)
        found[exercise.function][program.key] = sorted(worth(exercise, program) if places is None else places)
    rows = [f' "{function}": {json.dumps(found[function], sort_keys=True)}' for function in sorted(found)]
    file, text = lesson.folder / mutants.STORED, "{\n" + ",\n".join(rows) + "\n}\n"
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return False
    write_atomically(file, text)
    return True


def worth(exercise: Exercise, program: mutants.Program) -> list[int]:
    """The places of the mutants of a program that are worth trying."""
    draws = [exercise.draw(np.random.default_rng(seed))[:MOST_CASES] for seed in range(DRAWS)]
    right = _shown(program.main, draws)
    kept: dict[tuple, tuple[float, int]] = {}
    for place, change, _, mutant in program.numbered():
        shown = _shown(mutant, draws)
        if any(one is not None and one != other for one, other in zip(shown, right, strict=True)):
            kept[shown] = min(kept.get(shown, (np.inf, 0)), (Change.of(change).cost, place))
    return [place for _, place in kept.values()]


def _shown(function, draws):
    """What a function gives on each draw, as text in which rounding does not show; None where it fails."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return tuple(_given(function, cases) for cases in draws)


def _given(function, cases):
    try:
        return "; ".join(_text(plain(function(*arguments(case)))) for case in cases)
    except Exception:
        return None


def _text(value):
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else repr(value)
