"""The tables of the glossary, made of the rows in the lessons' folders: `dpcourse/course/<lesson>/glossary.toml`.

A row stands in the lesson that introduces its symbol or term, which is the first that its `where` names:

    [[latin]]
    symbol = '$L_f, L_g$'
    read = "L f, L g"  (may be left out)
    meaning = "losses of two mechanisms"
    chinese = "两个机制的隐私损失"
    where = "04 §3"

A table goes by letters, from small to capital to words; rows of one letter go by the first section of `where`. Where
that is not wanted, `sort` holds the letter and the section as which a row is put in order, such as "f 05 §4".
"""

import re
import tomllib
from pathlib import Path

from dpcourse import course
from dpcourse.authoring.navigation import REFERENCE, SourceError
from dpcourse.authoring.on_page import say_for
from dpcourse.authoring.source import language_of

ALPHABETS = {
    "greek": "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon "
    "phi chi psi omega",
    "sign": "otimes circ times lvert mid binom cup sup nabla mapsto square",  # a sign that is not here goes to the end
}
SYMBOL = ("symbol", "read", "meaning", "chinese", "where")
TERM = ("term", "chinese", "meaning", "where")
TABLES = {"latin": SYMBOL, "greek": SYMBOL, "sign": SYMBOL, "term": TERM}  # table -> its columns
OPTIONAL = {"read", "sort"}


def file_of(lesson: course.Lesson) -> Path:
    """Where the rows of a lesson stand."""
    return lesson.folder / "glossary.toml"


def table(file: Path, name: str) -> str:
    """One table of the glossary, for a page, as Markdown: "latin", "greek", "sign" or "term". Raises SourceError."""
    columns, language = TABLES[name], language_of(file)
    if columns is TERM:
        head = say_for(file, "| term | 中文 | meaning | where |")
    elif not language:
        head = "| symbol | read | meaning | 中文 | where |"
    else:  # there the meaning is said in that language
        columns = tuple(column for column in SYMBOL if column != "chinese")
        head = say_for(file, "| symbol | read | meaning | where |")
    body = (
        "".join(f"| {cell} " if cell else "| " for cell in (_cell(file, row, column) for column in columns)) + "|"
        for row in rows(name)
    )
    return "\n".join([head, "|" + ":--|" * len(columns), *body])


def _cell(file, row, column):
    return say_for(file, row[column]) if column == "meaning" else row[column]


def rows(name: str) -> list[dict]:
    """All rows of a table, in order, each a dict column -> text. Raises SourceError."""
    found = [row for lesson in course.lessons() for row in read(lesson, file_of(lesson))[name]]
    return sorted(found, key=lambda row: place(name, row))


def read(lesson: course.Lesson, file: Path) -> dict[str, list[dict]]:
    """table -> its rows, as the file of a lesson has them; SourceError says where a row lacks something."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SourceError(file, 1, str(error)) from None
    if unknown := found.keys() - TABLES:
        raise SourceError(file, 1, f"there is no table {min(unknown)!r}; there are {', '.join(TABLES)}")
    for name, its_rows in found.items():
        begins = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == f"[[{name}]]"]
        if len(begins) != len(its_rows):
            raise SourceError(file, 1, f"each row of a table begins with a line [[{name}]]")
        for line, row in zip(begins, its_rows, strict=True):
            if complaint := _complaint(lesson, TABLES[name], row):
                raise SourceError(file, line, complaint)
    return {name: [{"read": "", **row} for row in found.get(name, ())] for name in TABLES}


def _complaint(lesson, columns, row):
    """What is wrong with a row; None where nothing is."""
    named = row.get(next(iter(columns))) or "this row"
    if missing := [column for column in columns if not row.get(column) and column not in OPTIONAL]:
        return f"{named} has no `{missing[0]}`"
    if unknown := row.keys() - columns - {"sort"}:
        return f"{named} has a column `{min(unknown)}`; the columns are {', '.join(columns)}, and sort"
    for column in ("where", "sort"):
        if column in row and not REFERENCE.search(row[column]):
            return f'{named}: `{column}` is {row[column]!r}; it names a section, such as "04 §3"'
    (number, section), *_ = REFERENCE.findall(row["where"])
    if int(number) != lesson.number:
        return f"{named} is introduced in {number} §{section}, so it belongs into the file of that lesson"
    return None


def place(name: str, row: dict) -> tuple:
    r"""What a row is sorted by: its term; or its letter, small before capital before word, and its first section.

    >>> place("latin", {"symbol": r"$\mathrm{Bin}(n, p)$", "where": "07 §2"})
    ('b', 3, 'bin', 7, 2)
    >>> place("greek", {"symbol": r"$\varepsilon, \delta$", "where": "01 §4"})
    (4, False, 1, 4)
    """
    if name == "term":
        return (row["term"].lower().replace("é", "e"),)
    tex, (section, *_) = row.get("sort", row["symbol"]), REFERENCE.findall(row.get("sort", row["where"]))
    letter = _letter(tex) if name == "latin" else _command(ALPHABETS[name].split(), tex)
    return (*letter, *map(int, section))


def _letter(tex):
    """(letter, 0 for a small letter to 3 for a word, word) of what a formula begins with."""
    bare = re.sub(r"\\(bar|tilde|hat|underline|mathrm)", "", tex.replace(r"\ell", "l"))
    (blackboard, name), *_ = re.findall(r"(\\mathbb\W)?([A-Za-z]+)", bare)
    is_word = len(name) > 1
    return name[0].lower(), 3 if is_word else 2 if blackboard else int(name.isupper()), name.lower() * is_word


def _command(alphabet, tex):
    """(place in the alphabet, whether it is a capital) of the first of its letters or signs in a formula."""
    for name in re.findall(r"\\(?:var)?([A-Za-z]+)", tex):
        if name.lower() in alphabet:
            return alphabet.index(name.lower()), name[0].isupper()
    return len(alphabet), False
