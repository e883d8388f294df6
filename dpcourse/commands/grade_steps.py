"""What `dpcourse grade` does, step by step."""

import errno
import functools
import importlib.util
import json
import os
import sqlite3
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import Timeout
from tqdm import tqdm

from dpcourse import course
from dpcourse.base.languages import again, chosen, counted, from_data, say, speaking
from dpcourse.commands.grade_options import Options
from dpcourse.grading import collect
from dpcourse.grading import out as outputs
from dpcourse.grading.cohort import Run, grade_class
from dpcourse.grading.judge import guarded
from dpcourse.grading.keep import database, merging, secret
from dpcourse.grading.keep.store import DATABASE, Row, Store, opened, running, writing
from dpcourse.grading.marks import by_hand, moves
from dpcourse.grading.marks import settings as settings_file
from dpcourse.grading.marks.marking import marked, vanished, with_bonus
from dpcourse.grading.marks.settings import Late, Settings
from dpcourse.grading.out import alarms, pages, report
from dpcourse.grading.out.tables import short
from dpcourse.grading.result import MISSING, NOT_GRADED, as_data
from dpcourse.grading.run import Limits, bubblewrap, executors
from dpcourse.notebook.doctor import PIP

NOTHING = Run(0, 0, (), (), ())
MOST_REASONS = 5


class Refused(ValueError):
    """Nothing was done; says why, and what would help."""


def run_command(options: Options) -> int:
    """Do what the options ask; returns the exit status. Raises Refused and other ValueErrors, OSError."""
    with speaking(options.language or chosen()):
        return _run_command(options)


def _run_command(options):
    options.check()
    if options.settings:
        print(say(settings_file.TEMPLATE), end="")
        return 0
    there = (options.out / DATABASE).exists()
    if options.submissions is None and options.merge is None and not there:
        command = f"dpcourse grade SUBMISSIONS --out {options.out}"
        raise Refused(
            say("Which folder? There are no grades in {out} yet: `{command}`.", out=options.out, command=command)
        )
    try:
        asked = _asked(options, _before(options.out) if there else _Before())
        with opened(options.out) as store:
            return _with_store(asked.options, asked, store)
    except Timeout:
        raise Refused(
            say(
                "Another `dpcourse grade` is at work in {out}: wait for it. Meanwhile --explain and --override work.",
                out=options.out,
            )
        ) from None
    except database.Unusable as error:
        raise Refused(str(error)) from None
    except sqlite3.Error as error:
        raise Refused(database.told(error, options.out / DATABASE, running(options.out))) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Refused(say(database.FULL)) from None
        raise


@dataclass(frozen=True)
class _Asked:
    """What the options name, read before anything is written, so that an error leaves nothing behind.

    options: with course.toml's values where none was typed. found, other: None where nothing is graded, or taken over.
    packs: the folders of the packs in use. told: what is to be said of all this.
    """

    options: Options
    settings: Settings
    packs: list[str]
    roster: collect.Roster | None = None
    secret: str | None = None
    found: collect.Collected | None = None
    other: merging.Other | None = None
    told: tuple[str, ...] = ()


def _asked(options, before) -> _Asked:
    packs = _use_packs(options, before.packs)
    _refuse_broken_lessons()
    settings, told = _settings(options, before.folders)
    options = options.with_what_stays(settings)
    other = merging.read_other(options.merge) if options.merge else None
    asked = _Asked(options, settings, packs, other=other, told=told)
    if options.submissions is None:
        return asked
    _refuse(options)
    roster = collect.Roster.read(options.roster) if options.roster else None
    given = secret.read(options.seed_file) if options.seed_file else None
    patterns = [collect.own_pattern(options.pattern)] if options.pattern else []
    found = collect.submissions(options.submissions, options.lesson, roster, *patterns)
    return replace(asked, roster=roster, secret=given, found=found)


def _with_store(options, asked, store):
    settings, run = asked.settings, NOTHING
    if options.pack:
        store.remember("packs", json.dumps(asked.packs))
    told = list(asked.told)
    if options.merge or options.forget is not None or asked.found is not None:
        with running(options.out):
            told += _merge_and_forget(options, asked, store)
            run = _grade(options, asked, store) if asked.found is not None else NOTHING
            _remember_unread(options, store, run)
    with store.at_once():
        _set_by_hand(options, store, settings)
    with writing(options.out):
        stored = list(store.rows())
        rows = marked(stored, settings, store.by_hand())
        looked_up = _looked_up(options, store, rows)
        moved = moves.recorded(store, rows)
        told += vanished(stored, store.by_hand()) + _of_settings(settings, rows)
        told += outputs.write(rows, options.out, settings, _unread(store), store.answers, options.course, store.moves())
        moves.write(store, options.out)
        if not looked_up:
            store.copy_to(options.out)
    if looked_up:
        lines = [line for found in looked_up.values() for line in found]
        print(json.dumps(looked_up, ensure_ascii=False) if options.as_json else "\n".join(lines))
        return 0
    return _say(options, rows, run, moved, told, settings)


# ---- what is in use


@dataclass(frozen=True)
class _Before:
    """What is known of earlier runs: the folders of their packs, and those from which submissions came."""

    packs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def _before(out):
    with opened(out) as store:
        return _Before(tuple(json.loads(store.recalled("packs") or "[]")), tuple(store.folders()))


def _use_packs(options, folders):
    """Use the pack that is named, and those of these folders that are still there; returns all of their folders."""
    mine = os.path.realpath(options.pack) if options.pack else None
    for folder in folders:
        if Path(folder).is_dir() and folder != mine:
            course.use_pack(folder)
    if mine:
        course.use_pack(mine)
    return sorted({*folders, *([mine] if mine else [])})


def _refuse_broken_lessons():
    """Raise Refused where the file of an exercise cannot be run: then nothing can be said of its lesson at all."""
    for lesson in course.lessons():
        try:
            guarded.at_work(lambda lesson: lesson.exercises, lesson)
        except guarded.Failed as failure:
            raise Refused(
                say(
                    "The exercises of lesson {lesson} cannot be read: {reason}. Mend them; nothing was done.",
                    lesson=lesson.number,
                    reason=failure.why,
                )
            ) from None


def _settings(options, folders) -> tuple[Settings, tuple[str, ...]]:
    """Return what counts, and what is to be said of where it stands. folders: of submissions, of earlier runs.

    A course.toml that lies among submissions may be a student's, and is taken only where it is named.
    """
    here = Path(settings_file.FILE)
    theirs = [*folders, *([options.submissions] if options.submissions else [])]
    is_among = any(Path.cwd().resolve().is_relative_to(Path(folder).resolve()) for folder in theirs)
    file = options.config or (here if here.is_file() and not is_among else None)
    told: tuple[str, ...] = ()
    if here.is_file() and is_among and not options.config:
        told = (
            say(
                "{file} is not taken: it lies among the submissions, where it may be a student's. If it is yours, put it "
                "elsewhere, or name it with --config.",
                file=here,
            ),
        )
    found = settings_file.read(file) if file else Settings()
    return replace(found, language=options.language or found.language), told


def _of_settings(settings, rows):
    """Return what is to be said of course.toml, now that the class is known."""
    if settings.path is None:
        return []
    known = sorted({row.student for row in rows})
    unknown = [name for name in settings.extensions if name not in known]
    told = [say("Marks are as {file} says.", file=settings.path)]
    untold = [row for row in rows if row.due and not row.submitted and not row.stale and row.result.score is not None]
    if settings.late != Late() and untold:
        told.append(
            counted(
                "Nothing is taken for lateness from {count} submission, since the platform does not tell when they came "
                "(Canvas and Moodle never do): let it take the points, or give less than 0 with --bonus.",
                "Nothing is taken for lateness from {count} submissions, since the platform does not tell when they came "
                "(Canvas and Moodle never do): let it take the points, or give less than 0 with --bonus.",
                count=len(untold),
            )
        )
    cut = [row for row in rows if row.bonus and not settings.bonus and with_bonus(row) > row.result.points]
    if cut:
        told.append(
            say(
                "The score ends at the lesson's points, as {file} says, for {count} with a bonus.",
                file=settings.path,
                count=len(cut),
            )
        )
    return told + [
        say(
            "{file}: {student!r} has more time, and is not in the class. There are {names}.",
            file=settings.path,
            student=by_hand.plain(name),
            names=by_hand.some(known),
        )
        for name in unknown
    ]


def _remember_unread(options, store, run):
    if options.submissions is not None:
        store.remember("unread", json.dumps([asdict(each) | {"reason": as_data(each.reason)} for each in run.unread]))
    elif options.forget is not None:
        store.remember("unread", "[]")  # a file's name may be a student's


def _unread(store):
    stored = json.loads(store.recalled("unread") or "[]")
    return [collect.Unread(**each | {"reason": from_data(each["reason"])}) for each in stored]


# ---- grading


def _merge_and_forget(options, asked, store):
    told = []
    if asked.other:
        told += merging.merge(store, asked.other)
    if options.forget is not None:
        count = store.forget(options.forget, by_hand.author(options.author))
        if not count:
            known = sorted({row.student for row in store.rows()})
            raise Refused(
                say(
                    "Nothing is known of {student!r}. There are {names}.",
                    student=options.forget,
                    names=by_hand.some(known),
                )
            )
        told.append(
            counted(
                "Forgotten: {count} result. Take the files out of the submissions too.",
                "Forgotten: {count} results. Take the files out of the submissions too.",
                count=count,
            )
        )
    return told


def _grade(options, asked, store) -> Run:
    """Grade what is to be graded."""
    if asked.secret:
        store.secret(asked.secret)
    return grade_class(
        options.submissions,
        store,
        _executor(options),
        lesson=options.lesson,
        limits=Limits(options.cell_seconds, options.seconds, options.memory * 2**20),
        sandboxed=not options.no_sandbox,
        course=options.course,
        again=options.again,
        roster=asked.roster,
        pack=options.pack,
        found=asked.found,
        progress=functools.partial(_bar, hidden=options.as_json),
    )


def _refuse(options):
    """Raise Refused or ValueError where the options ask for what cannot be done here."""
    if not hasattr(os, "fork"):
        raise Refused(say("Grading needs Linux or macOS; on Windows, run it in WSL."))
    if not options.submissions.is_dir() and not collect.is_archive(options.submissions):
        raise Refused(say("{path} is no folder, and no zip.", path=options.submissions))
    if options.lesson is not None:
        course.lesson(options.lesson)
    for lesson in course.lessons():
        is_wanted = lesson.pack and options.lesson in (None, lesson.number)
        if is_wanted and lesson.variants and not (options.roster and options.seed_file):
            raise Refused(
                say(
                    "Lesson {lesson} has a variant for each student: name the --roster and the --seed-file with which it was "
                    "given out.",
                    lesson=lesson.number,
                )
            )
    if options.dask and importlib.util.find_spec("distributed") is None:
        raise Refused(say("--dask needs the package distributed: run `{pip} install distributed`.", pip=PIP))
    lacking = None if options.no_sandbox or options.dask else bubblewrap.missing()
    if lacking:
        raise Refused(
            say("No sandbox: {reason}. Mend that, or say --no-sandbox if you trust every notebook.", reason=lacking)
        )
    for lesson in course.lessons():
        if lesson.pack and not (options.no_sandbox or options.dask) and bubblewrap.shows(lesson.pack.folder):
            raise Refused(
                say(
                    "Students' code can read {folder}, and there the answers are: move the pack.",
                    folder=lesson.pack.folder,
                )
            )


def _executor(options):
    if options.dask:
        return functools.partial(executors.on_dask, options.dask)
    return functools.partial(executors.local, options.jobs)


def _bar(results, total, hidden):
    """Pass the results on, under a progress bar that counts how they went."""
    counts = Counter()
    with tqdm(total=total, desc=say("grading"), unit=say("notebook"), disable=hidden) as bar:
        for submission, graded in results:
            counts[pages.status(graded.result.status)] += 1
            bar.set_postfix(counts, refresh=False)
            bar.update()
            yield submission, graded


# ---- one student


def _set_by_hand(options, store: Store, settings):
    author = by_hand.author(options.author)
    if options.override:
        by_hand.override(store, settings, author, *options.override)
    if options.bonus:
        by_hand.bonus(store, settings, author, *options.bonus)
    if options.undo:
        by_hand.undo(store, author, *options.undo)


def _looked_up(options, store, rows: list[Row]) -> dict[str, list[str]]:
    """Return option -> lines for the terminal, of what was looked up; empty where nothing was."""
    found = {}
    if options.overrides:
        found["overrides"] = list(by_hand.history(store.by_hand())) or [say("Nothing was set by hand.")]
    if options.explain:
        student, exercise_id = options.explain
        lesson = course.find(exercise_id).lesson
        by_hand.row_of(store, student, lesson)
        row = next(row for row in rows if (row.student, row.lesson) == (student, lesson))
        exercise = course.of_student(exercise_id, store.secret(), student)
        code = by_hand.code_lines(row, store.answers(student, lesson).get(exercise.id))
        found["explain"] = [*map(by_hand.plain, report.explanation(row, exercise, store.secret())), *code]
    return found


# ---- what is said in the end


def _say(options, rows, run: Run, moved, remarks, settings):
    line, told = report.summary(rows)
    failed = _not_graded(rows, run)
    faults, warned = alarms.faults(rows), alarms.zeros(rows)
    missing = [row.student for row in rows if row.result.status == MISSING]
    told |= {
        "graded_now": run.graded,
        "judged_now": run.judged,
        "out": str(options.out),
        "settings": str(settings.path) if settings.path else None,
        "not_graded": sorted(failed),
        "why_not_graded": failed,
        "not_judged": [asdict(each) for each in faults],
        "warnings": [each.in_words() for each in warned],
        "missing": missing,
        "unread": [asdict(each) for each in run.unread],
        "moved": [asdict(each) for each in moved],
        "said": [*run.notes, *remarks],
    }
    if options.as_json:
        print(json.dumps(told, ensure_ascii=False))
    else:
        print(line)
        for alarm in warned:
            print(say("WARNING: {text}", text=by_hand.plain(alarm.in_words())))
        for each in [*run.notes, *moves.lines(moved), *remarks]:
            print(by_hand.plain(each))
        out = options.out
        files = {"report": out / "report.html", "gradebook": out / "gradebook.csv", "feedback": out / "feedback"}
        print(say("See {report}, {gradebook} and {feedback}.", **files))
        for each in run.unread:
            about = {"file": by_hand.plain(each.path), "reason": by_hand.plain(each.reason)}
            not_read = say("Not read: {file}: {reason}", **about)
            print(say("Left out: {file}: {reason}", **about) if each.left_out else not_read, file=sys.stderr)
        for fault in faults:
            print(by_hand.plain(fault.in_words()), file=sys.stderr)
        if failed:
            print(say("Not graded: {students}.", students=by_hand.some(sorted(failed))), file=sys.stderr)
        for reason, students in _by_reason(failed).items():
            told = {"reason": by_hand.plain(reason), "students": by_hand.some(students)}
            print(say("  {reason}: {students}", **told), file=sys.stderr)
    return 1 if failed or any(not each.left_out for each in run.unread) else 0


def _not_graded(rows, run) -> dict[str, str]:
    """Return student -> why there is no score, or why the one of before stands."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.result.status in NOT_GRADED:
            found.setdefault(row.student, []).extend(map(again, row.result.notes))
    for student, reason in run.kept:
        found.setdefault(student, []).append(
            say("what was graded before stands, since: {reason}", reason=again(reason))
        )
    return {student: collect.in_a_row(dict.fromkeys(reasons)) for student, reasons in found.items()}


def _by_reason(failed) -> dict[str, list[str]]:
    """Return a few reasons -> students, the commonest first; the report has all."""
    found: dict[str, list[str]] = {}
    for student, reason in sorted(failed.items()):
        found.setdefault(short(reason), []).append(student)
    return dict(sorted(found.items(), key=lambda item: -len(item[1]))[:MOST_REASONS])
