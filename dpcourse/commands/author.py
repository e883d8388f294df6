"""The commands of authors: build, try, make a pack, release, publish."""

from pathlib import Path
from typing import Annotated

import typer

from dpcourse import course
from dpcourse.base import languages, paths
from dpcourse.base.languages import counted, listed, say, speaking, to_say
from dpcourse.commands.shared import app, refusing

COURSE = to_say("the folder of the course, in which lessons/ and solutions/ are")
PACK = typer.Option("--pack", metavar="FOLDER", help="A pack: a lesson of your own, made by `dpcourse new-pack`.")


@app.command()
@refusing("build", 1)
def build(
    names: Annotated[
        list[str] | None, typer.Argument(help="Lessons such as 01-composition; all of them if none is named.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Execute nothing; say which notebook is not what its source gives.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Build even what is up to date.")] = False,
    translated: Annotated[
        bool,
        typer.Option(
            "--translated", help="Note that the named cells, such as zh/01-composition:1e572c46, are up to date."
        ),
    ] = False,
    takes: Annotated[
        bool, typer.Option("--minutes", help="Build nothing; say how many minutes each section takes.")
    ] = False,
    root: Annotated[Path, typer.Option(help="The folder that holds lessons/ and solutions/.")] = Path("."),
    pack: Annotated[Path | None, PACK] = None,
) -> None:
    """Make the notebooks in lessons/ and solutions/ from solutions/*.md, and try the exercises of a pack."""
    from tqdm import tqdm

    from dpcourse.authoring import build as builder
    from dpcourse.authoring import compare, minutes, translation

    root = _used(pack) or _there("--root", root)
    if not (pack or builder.sources(root)):
        raise paths.NotThere(
            say(
                "--root: there is no lesson in {folder}. Name {course}.",
                folder=root / "solutions",
                course=say(COURSE),
            )
        )
    if takes:
        typer.echo(minutes.table(file for file in builder.sources(root) if not names or file.stem in names))
        return
    if check:
        found = builder.differences(root)
        for line in compare.behind(root):
            typer.echo(line)
        for line in found:
            typer.echo(line, err=True)
        if found:
            raise typer.Exit(1)
        number = len(builder.sources(root))
        typer.echo(
            counted("{count} lesson is as its source says.", "{count} lessons are as their sources say.", count=number)
        )
        return
    if translated:
        for line in translation.recorded(root, names or ()):
            typer.echo(line)
        names = [name.partition(":")[0] for name in names or ()]
    built = builder.build(
        root, names or (), fresh, progress=lambda lessons: tqdm(lessons, desc="lessons", unit="lesson")
    )
    names_built = listed(built, "{first}, {then}")
    typer.echo(say("Built {lessons}.", lessons=names_built) if built else say("Everything is up to date."))


@app.command("try")
@refusing("try", 1)
def try_answers(
    lesson: Annotated[
        int,
        typer.Argument(
            help="The number of a lesson, whose answers stand in tests/answers/, or in the pack's answers.toml."
        ),
    ],
    exercise: Annotated[str | None, typer.Option(help="Only the answers to the exercise with this function.")] = None,
    replies: Annotated[bool, typer.Option("--replies", help="Print what each answer is told.")] = False,
    seed: Annotated[int, typer.Option(help="Of the inputs.")] = 0,
    root: Annotated[Path, typer.Option(help="The folder of the course.")] = Path("."),
    pack: Annotated[Path | None, PACK] = None,
) -> None:
    """Try a corpus of answers on a lesson's checks: how many are told why they are wrong, and what passes that must not.

    Of a pack also what must hold for every exercise is tried: that its reference passes, that each misconception is told.
    """
    from dpcourse.authoring import answers, laws

    root = _used(pack) or _there("--root", root)
    found = [each for each in answers.corpus(root, lesson) if exercise in (None, each.exercise)]
    names = answers.names_of(root, lesson)
    broken = list(laws.broken(course.lesson(lesson))) if pack else []
    results = []
    for each in answers.tried(found, names, seed):
        results.append(each)
        if (replies and not each.answer.right) or each.kind.startswith("FALSE"):
            typer.echo(f"{each.kind} | {each.answer.exercise} | {each.answer.label} | {each.verdict.message}")
    typer.echo(answers.table(results))
    for line in broken:
        typer.echo(line, err=True)
    if broken:
        raise typer.Exit(1)


@app.command("new-pack")
@refusing("new-pack")
def new_pack(
    folder: Annotated[
        Path,
        typer.Argument(metavar="NAME", help='The new folder; its last part is the name of the pack, such as "exam".'),
    ],
    number: Annotated[int, typer.Option(help="The number of its lesson, from 50 to 99.")] = 50,
) -> None:
    """Make a pack: a folder for exercises of your own, with one that works. Its README says how it goes on."""
    from dpcourse.authoring import new_pack as making

    made = making.write(folder, number)
    typer.echo(
        say(
            "{folder}: lesson {lesson}. {readme} says how it goes on.",
            folder=folder,
            lesson=made.lesson,
            readme=folder / "README.md",
        )
    )


@app.command()
@refusing("release")
def release(
    folder: Annotated[Path, typer.Argument(help="A new folder to write.")],
    lesson: Annotated[
        list[int] | None, typer.Option(help="The number of a lesson; may be given several times. All if none is.")
    ] = None,
    nbgrader: Annotated[
        bool,
        typer.Option(
            "--nbgrader", help="Write the source of an nbgrader course in place of a bundle; it holds the solutions."
        ),
    ] = False,
    course_folder: Annotated[Path, typer.Option("--course", help="The folder of the course.")] = Path("."),
    pack: Annotated[Path | None, PACK] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="A CSV of the students, for a pack with a variant for each: they get a notebook each."),
    ] = None,
    seed_file: Annotated[
        Path | None,
        typer.Option(help="The secret from which the variants are drawn; give the same to `dpcourse grade`."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Of the lessons and of the README, such as zh; else that of DPCOURSE_LANGUAGE.")
    ] = None,
) -> None:
    """Write what students are given, as one folder: blank lessons, the package, a README. No solved notebook is in it.

    With a pack, its lesson is given out, and those of the course that are named with --lesson.
    """
    from dpcourse.authoring import release as releasing

    _there("--course", course_folder)
    paths.a_file("--roster", roster, to_say("the CSV of the students"))
    paths.a_file("--seed-file", seed_file, to_say("the file with the secret"))
    _used(pack)
    numbers = lesson or ()
    if (roster or seed_file) and not (pack and roster and seed_file):
        raise ValueError(
            say("--pack, --roster and --seed-file go together: a variant is drawn for each student of the roster")
        )
    if nbgrader and pack:
        raise ValueError(say("--nbgrader writes the course's own lessons; `dpcourse grade --pack` grades a pack"))
    with speaking(language or languages.chosen()):
        if nbgrader:
            names = releasing.nbgrader_course(course_folder, folder, numbers)
        elif pack and roster and seed_file:
            from dpcourse.grading import collect
            from dpcourse.grading.keep import secret

            people = collect.Roster.read(roster)
            for note in people.notes:
                typer.echo(note, err=True)
            students = {name: collect.file_name(name) for name in people.students}
            seed = secret.read(seed_file).encode()
            names = releasing.students_bundles(course_folder, folder, students, seed, pack, numbers)
        else:
            names = releasing.student_bundle(course_folder, folder, numbers, pack)
    typer.echo(f"{folder}: {', '.join(names)}")


@app.command()
@refusing("site", 1)
def site(
    folder: Annotated[
        Path | None, typer.Argument(help="Where the site goes: site, or site-solutions with the solutions.")
    ] = None,
    solutions: Annotated[
        bool, typer.Option("--solutions", help="Write the solutions, which a site of the lessons never holds.")
    ] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Print the whole course as course.pdf too, by Chromium.")] = False,
    in_browsers: Annotated[
        bool,
        typer.Option(
            "--lite",
            help="Write lessons 00 to 04 and 07 for JupyterLite too, in lite/: pages lead to where they run in a browser.",
        ),
    ] = False,
    course: Annotated[Path, typer.Option(help="The folder of the course.")] = Path("."),
) -> None:
    """Write the lessons as web pages for those who only read, from the notebooks as they are. Only pictures with sliders are drawn anew, in some minutes."""
    folder = folder or Path("site-solutions" if solutions else "site")
    from dpcourse.authoring import lite
    from dpcourse.authoring import site as pages

    names = pages.write(_there("--course", course), folder, solutions, pdf, moves=True, in_tabs=in_browsers)
    typer.echo(f"{folder / 'index.html'}: {', '.join(names)}")
    if in_browsers:
        readme = folder / lite.FOLDER / "README.md"
        typer.echo(say("{readme} says how the lessons come to run in a browser.", readme=readme))


def _used(pack):
    """Return the folder of the pack, now in use; None where there is none."""
    if pack is not None:
        paths.a_folder("--pack", pack, to_say("a folder that `dpcourse new-pack` has made"))
        course.use_pack(pack)
    return pack


def _there(option, folder):
    """Return the folder of the course that an option names. Raises paths.NotThere."""
    paths.a_folder(option, folder, COURSE)
    return folder


@app.command()
@refusing("font", 1)
def font(
    source: Annotated[Path, typer.Argument(help="A free font that has all characters, such as Noto Sans CJK.")],
    language: Annotated[str, typer.Option(help="The language, by the name of its folder.")],
    root: Annotated[Path, typer.Option(help="The folder of the course.")] = Path("."),
) -> None:
    """Make the font by which pictures show a language: a part of a free one, beside the language's catalogues."""
    from dpcourse.authoring import font as fonts

    file = fonts.write(_there("--root", root), language, source)
    typer.echo(say("{file}: {size:,} bytes", file=file, size=file.stat().st_size))
