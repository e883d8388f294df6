"""What leads through the course: links between its pages, tables of lessons and sections, links to numbered sections.

All of it is made from the front matter, the headings and the length of the sources, so that each thing is said in one place.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from dpcourse.authoring import minutes, translation
from dpcourse.authoring.binder import badges, binder_link, read_link, repository, site
from dpcourse.authoring.catalogues import called
from dpcourse.authoring.on_page import say_for, title
from dpcourse.authoring.source import (
    GLOSSARY,
    SourceError,
    english,
    language_of,
    languages,
    pages,
    root_of,
    sources,
)
from dpcourse.authoring.translation import about
from dpcourse.base.languages import ENGLISH, listed
from dpcourse.course import pack

HOME = "00-start-here"
ALL_LESSONS = "All lessons"
"""The heading on the home page under which all lessons stand."""
HEADINGS = {ALL_LESSONS: "all-lessons", "Glossary": "glossary"}
"""The ids of the cells that begin with such a heading."""
IN_CHINESE, UNBROKEN = re.compile(r"(?<=[\u4e00-\u9fff])(?=[\u4e00-\u9fff])"), "\u2060"
"""Where a line may break within Chinese, and what forbids it: else a narrow column is one sign wide."""
SECTION = re.compile(r"^## (\d+)\. ", re.MULTILINE)
REFERENCE = re.compile(r"\b(?P<lesson>\d\d) §(?P<section>\d+)\b", re.ASCII)


def link(file: Path, folder: str = "") -> str:
    """A Markdown link to a lesson, by its short title."""
    return f"[{title(file)}]({folder}{file.stem}.ipynb)"


def links(file: Path) -> str:
    """The line at the top and at the end of a page: the lessons before and after, the home page, the glossary."""
    there = pages(root_of(file), language_of(file))
    lessons = sources(root_of(file), language_of(file))
    found = []
    if file in lessons:
        here = lessons.index(file)
        found += [say_for(file, "Previous: {link}", link=link(lessons[here - 1]))] if here > 0 else []
        found += [say_for(file, "Next: {link}", link=link(lessons[here + 1]))] if here + 1 < len(lessons) else []
    for name, text, said in (
        (HOME, ALL_LESSONS, say_for(file, "All lessons")),
        (GLOSSARY, "Glossary", say_for(file, "Glossary")),
    ):
        page = next((page for page in there if page.stem == name), None)
        heading = (
            f"#cell-id={HEADINGS[text]}" if page and f"## {text}\n" in english(page).read_text(encoding="utf-8") else ""
        )
        if page and (page != file or heading):
            found.append(f"[{said}]({page.stem}.ipynb{heading})")
    return " · ".join(found)


def contents(home: Path) -> str:
    """All lessons as a table for the home page."""
    head = say_for(home, "| lesson | when you have finished it you can | hours |")
    rows = [IN_CHINESE.sub(UNBROKEN, head), "|:--|:--|--:|"]
    for file in sources(root_of(home), language_of(home)):
        said = about(file)
        goals = "".join(f"<li>{goal['can']}</li>" for goal in said["goals"])
        needs = say_for(home, "**You need first:** {needs}", needs=said["needs"])
        rows.append(f"| {link(file)} | <ul>{goals}</ul> {needs} | {_takes(file).hours} |")
    return "\n".join(rows)


def sections(file: Path) -> str:
    """The sections of a lesson with their minutes and exercises, folded; those with a number as links. Empty without any."""
    rows = []
    _, *numbered = minutes.sections(english(file))
    for section, head in zip(numbered, minutes.headings(translation.translated(file)), strict=True):
        number = SECTION.match(f"## {head}")
        name = f"[{head}]({file.stem}.ipynb#cell-id={section_id(number[1])})" if number else head
        takes = say_for(file, "{minutes} min", minutes=max(1, round(section.total)))
        rows.append(f"- {name} · {takes}{_with(file, section.exercises)}")
    summary = say_for(file, "Sections, and the minutes of each")
    counted = say_for(
        file,
        "Counted are {prose} words of prose in a minute, {mathematics} of formulas and code, {picture} min for a picture, {explorer} for one with sliders, {output} for what a cell prints, {question} for a question, and what each exercise says. What is to be read and what is to be solved are each rounded up to 5 min, so all sections together may take a little less. Take the time that you need.",
        prose=minutes.PROSE,
        mathematics=minutes.MATHEMATICS,
        picture=minutes.PICTURE,
        explorer=minutes.EXPLORER,
        output=minutes.OUTPUT,
        question=minutes.QUESTION,
    )
    details = f"<details><summary>{summary}</summary>"
    return "\n".join([details, "", *rows, "", counted, "", "</details>"]) if rows else ""


def _with(file, exercises):
    """What is said behind a section of its exercises."""
    numbers = [exercise.number for exercise in exercises]
    if len(numbers) > 1:
        return say_for(file, ", with exercises {ids}", ids=say_for(file, listed(numbers, "{first}, {then}")))
    return say_for(file, ", with exercise {id}", id=numbers[0]) if numbers else ""


def readme_of(root: Path | str, language: str = "") -> Path:
    """Where README stands in a language, such as README.zh.md."""
    return Path(root) / f"README.{language}.md".replace("..", ".")


def readmes(root: Path | str) -> dict[Path, str]:
    """README.md, and its twins in other languages, with what the build says in them made anew; none where it is a pack's.

    Raises SourceError where the two comments are missing between which the table stands.
    """
    there = {language: readme_of(root, language) for language in ("", *languages(root))}
    is_pack = pack.is_pack(Path(root))
    return {file: _readme(Path(root), language) for language, file in there.items() if file.exists() and not is_pack}


def readmes_behind(root: Path) -> Iterator[str]:
    """Which twins of README.md have not its commands and links to elsewhere; nobody need do anything."""
    english = readme_of(root)
    for language in languages(root):
        file = readme_of(root, language)
        if english.exists() and file.exists() and (lacking := _parts(english, language) - _parts(file)):
            yield f"{file.name}: has not all that README.md has, such as {min(lacking)!r}"


def _parts(file, language=""):
    """The commands to copy and the links to elsewhere in a README, those of the tests left out; language: its lessons are meant."""
    text = file.read_text(encoding="utf-8").partition("\n## The tests")[0]
    commands = re.findall(r"```(?:sh|bat)\n(.+)\n```", text)
    if language:
        commands = [re.sub(r"lessons([/\\])", rf"lessons\g<1>{language}\g<1>", command) for command in commands]
    return {*commands, *re.findall(r"\]\((http[^)]+)\)", text)}


def _readme(root, language):
    file = readme_of(root, language)
    text, files = file.read_text(encoding="utf-8"), sources(root, language)
    for name, made in (
        ("first look", _first_look(root, files)),
        ("badges", badges(root)),
        ("lessons", _lessons(files)),
    ):
        begin, end = f"<!-- {name}: made by `dpcourse build` -->\n", f"<!-- end of {name} -->"
        place = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
        found = place.search(text)
        text = text.replace(f"{begin}{found[0]}{end}", f"{begin}\n{made}\n\n{end}") if found else text
        if name == "lessons" and not found:
            raise SourceError(file, 1, f"has no table of lessons between `<!-- {name}: … -->` and `{end}`")
    return text


def _first_look(root, files):
    """Where one can look before installing anything: the site, or else a solved lesson; and how much there is, in numbers."""
    home, published = files[0], repository(root)
    solved = f"solutions/{_folder(home)}{home.stem}.ipynb"
    look = (
        say_for(
            home, "**[Read the lessons and move their pictures]({site})**: nothing to install.", site=site(published)
        )
        if published
        else say_for(
            home, "**[Look at lesson 00, solved, with its pictures]({solved})**: nothing to install.", solved=solved
        )
    )
    exercises = sum(len(section.exercises) for file in files for section in minutes.sections(english(file)))
    numbers = say_for(
        home,
        "{lessons} lessons · {exercises} exercises · {minutes:,} minutes · {languages}",
        lessons=len(files),
        exercises=exercises,
        minutes=sum(_takes(file).total for file in files),
        languages=listed(map(called, (ENGLISH, *languages(root))), "{first}, {then}"),
    )
    return f"{look}\n\n{numbers}"


def _folder(file):
    """The folder of a page's language among the English ones, as it stands in a link; empty for an English one."""
    return f"{language_of(file)}/".lstrip("/")


def _lessons(files):
    """The lessons as a table: what one learns, where one reads, runs and sees it solved, how long it takes."""
    home = files[0]
    rows = [say_for(home, "| lesson | you learn | | hours |"), "|:--|:--|:--|--:|"]
    takes = {file: _takes(file) for file in files}
    for file in files:
        folder = _folder(file)
        solved = f"[{say_for(file, 'solved')}](solutions/{folder}{file.stem}.ipynb)"
        places = " · ".join(filter(None, (read_link(file), binder_link(file), solved)))
        rows.append(f"| {link(file, f'lessons/{folder}')} | {about(file)['learn']} | {places} | {takes[file].hours} |")
    reading, solving = (
        round(sum(getattr(each, part) for each in takes.values()) / 60) for part in ("reading", "solving")
    )
    hours = {"total": reading + solving, "reading": reading, "solving": solving}
    all_of_it = say_for(home, "In all about {total} hours: {reading} to read, {solving} for the exercises.", **hours)
    return "\n".join([*rows, "", all_of_it])


def _takes(file):
    return minutes.of(english(file))


def section_id(number: str | int) -> str:
    """The id of the cell that begins a numbered section; `NAME.ipynb#cell-id=ID` leads there in JupyterLab.

    It follows the name of a heading, as in `NAME.ipynb#2.-Neighbouring-data-sets`, or an anchor in the text, only in a
    notebook that is open already, and `#ID` without a name only while no other lesson is open. Notebook 7 forgets all
    of these and shows the top of the lesson.

    >>> section_id(4)
    'section-4'
    """
    return f"section-{number}"


def referring(file: Path, line: int, text: str) -> str:
    """A line of a page with each reference to a section, such as "01 §5", made a link to it.

    Raises SourceError where the lesson has no such section; a lesson that is not there is named without a link.
    """

    def linked(match):
        for source in sources(root_of(file)):
            if source.stem.startswith(match["lesson"]):
                if match["section"] not in SECTION.findall(source.read_text(encoding="utf-8")):
                    raise SourceError(file, line, f"{match[0]}: lesson {source.stem} has no section {match['section']}")
                return f"[{match[0]}]({source.stem}.ipynb#cell-id={section_id(match['section'])})"
        return match[0]

    return REFERENCE.sub(linked, text)
