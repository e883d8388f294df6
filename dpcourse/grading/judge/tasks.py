"""What a process of the pool does: grade a submission, or judge some of its exercises again.

What an answer did when it was graded is stored. Where its judge has changed since, it is judged from that, and no line of
the student's runs; where it would be asked other things today, the submission is run once more for these exercises.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from dpcourse import course
from dpcourse.base import languages
from dpcourse.checking import Exercise
from dpcourse.grading import collect
from dpcourse.grading.judge import submission
from dpcourse.grading.judge.given import defining
from dpcourse.grading.judge.job import Job
from dpcourse.grading.result import GRADED, Graded, Mark, result

CHOOSES = re.compile(r"""^[ \t]*(?:dpcourse\.)?language\(\s*["']([\w-]{1,20})["']""", re.MULTILINE)
USES = re.compile(r"^[ \t]*(?:from|import)[ \t]+dpcourse\b", re.MULTILINE)
MOST_CODE = 20_000  # characters of an answer that are kept to be looked at


@dataclass(frozen=True)
class Again:
    """A job of which only some exercises are judged anew: exercise id -> its evidence, empty where there is none."""

    job: Job
    evidence: Mapping[str, tuple] = field(default_factory=dict)


Work = Job | Again


def graded(work: Work) -> Graded:
    """The Graded of a job; of an Again, with the marks of its exercises only. Raises sandbox.Unavailable.

    What is said in it is said in English, wherever this runs: it can be said again in another language.
    """
    with languages.speaking(languages.ENGLISH):
        return _graded(work)


def _graded(work):
    if isinstance(work, Again) and work.job.pack:
        course.use_pack(work.job.pack)
    if isinstance(work, Job):
        return _with_what_it_says(submission.grade(work), work)
    exercises = {exercise.id: exercise for exercise in _exercises(work.job)}
    marks: dict[str, Mark] = {}
    for id, evidence in work.evidence.items():
        found = submission.judged_again(exercises[id], work.job.seed, evidence) if evidence else None
        if found is not None:
            marks[id] = found
    left = tuple(id for id in work.evidence if id not in marks)
    if not left:
        return Graded(result(work.job.lesson, GRADED, marks=marks.values()), dict(work.evidence))
    run = _graded(replace(work.job, exercises=left))
    known = {id: evidence for id, evidence in work.evidence.items() if id in marks}
    everything = replace(run.result, exercises=(*run.result.exercises, *marks.values()))
    return replace(run, result=everything, evidence=known | run.evidence)


def _exercises(job: Job) -> tuple[Exercise, ...]:
    return course.lesson(job.lesson).exercises_with(job.values)


def language_of(cells: Iterable[collect.Cell]) -> str:
    """The language that a notebook chooses, as the library hears it: English where it asks for none; "" without the library.

    >>> language_of([collect.Cell(1, "", 'from dpcourse import check, language\\n\\nlanguage("zh")')])
    'zh'
    """
    codes = [cell.code for cell in cells]
    chosen = [name for code in codes for name in CHOOSES.findall(code)]
    return chosen[-1] if chosen else languages.ENGLISH if any(map(USES.search, codes)) else ""


def _with_what_it_says(found, job):
    """With its language, and the cells that define the answers, so that they can be looked at when the file is gone."""
    cells = []
    with contextlib.suppress(collect.Unreadable):
        cells = collect.code_cells(job.content)
    code = {}
    for exercise in _exercises(job):
        if mine := [cell.code for cell in defining(cells, exercise.function)]:
            code[exercise.id] = "\n\n".join(mine)[:MOST_CODE]
    return replace(found, code=code, result=replace(found.result, language=language_of(cells)))
