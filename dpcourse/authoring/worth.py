"""Which slips in an exercise's reference the diagnosis is to try, found once and stored: checking/diagnosis/mutants.json.

Worth trying is what gives values on some inputs as they are drawn, others than the reference, and the same as no cheaper
mutant. An entry is found by what its program says, so an exercise that has changed has none until it is built again.
"""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpcourse import course
from dpcourse.base.files import write_atomically
from dpcourse.checking import Exercise, OpenExercise, RandomExercise
from dpcourse.checking.calling.probe import arguments
from dpcourse.checking.calling.values import plain
from dpcourse.checking.diagnosis import mutants

DRAWS, MOST_CASES, DIGITS = 3, 8, 9


def programs() -> Iterator[tuple[Exercise, mutants.Program]]:
    """Every program of the course in which slips are looked for, with its exercise. Of a pack's all slips are tried."""
    own = [exercise for lesson in course.lessons() if lesson.pack is None for exercise in lesson.exercises]
    for exercise in own:
        if not isinstance(exercise, (OpenExercise, RandomExercise)):
            for written in (*exercise.formulas, exercise.reference):
                yield exercise, mutants.Program(written)


def of_this_course(root: Path) -> bool:
    """Whether the exercises that are imported are those of the course in this folder."""
    return mutants.STORED.is_relative_to(root.resolve())


def missing() -> list[str]:
    """The functions of the exercises of which it is not stored."""
    known = mutants.stored()
    return list(dict.fromkeys(exercise.function for exercise, program in programs() if program.key not in known))


def write() -> bool:
    """Find and store what is not stored, and drop what no exercise has any more; returns whether anything was."""
    known, wanted = mutants.stored(), {program.key: (exercise, program) for exercise, program in programs()}
    new = {key: sorted(worth(*wanted[key])) for key in wanted.keys() - known.keys()}
    if not new and known.keys() == wanted.keys():
        return False
    rows = [f' "{key}": {json.dumps(sorted(new.get(key, known.get(key, ()))))}' for key in sorted(wanted)]
    write_atomically(mutants.STORED, "{\n" + ",\n".join(rows) + "\n}\n")
    mutants.stored.cache_clear()
    return True


def worth(exercise: Exercise, program: mutants.Program) -> list[int]:
    """The places of the mutants of a program that are worth trying."""
    draws = [exercise.draw(np.random.default_rng(seed))[:MOST_CASES] for seed in range(DRAWS)]
    right = _shown(program.main, draws)
    kept: dict[tuple, tuple[float, int]] = {}
    for place, change, mutant in program.numbered():
        shown = _shown(mutant, draws)
        if any(one is not None and one != other for one, other in zip(shown, right, strict=True)):
            kept[shown] = min(kept.get(shown, (np.inf, 0)), (change.cost, place))
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
