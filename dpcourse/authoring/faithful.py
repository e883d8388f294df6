"""Whether a translated cell says the same as the English one, as far as can be seen without knowing the language.

In text: formulas, numbers, links, code, references, headings, tables, lists. In code, which itself comes from English:
that it has the same comments and texts, and of these numbers, formulas, and the names under which something is kept.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

import nbformat

from dpcourse.authoring.source import LINES, rows
from dpcourse.authoring.texts import has_fields_of, texts, with_texts
from dpcourse.base.cells import without_variants

Complaints = Iterator[tuple[int, str]]
"""(line of the translation; what is wrong there)."""

FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+?\$", re.DOTALL)
CODE_SPAN = re.compile(r"`[^`\n]+`")
WORDS = re.compile(r"\\(?:text\w*|mbox)\{[^{}]*\}|\s")  # what is translated in a formula, and what does not show
SIGNS = {
    "number": re.compile(r"\d+(?:[.,]\d+)*", re.ASCII),
    "reference": re.compile(r"\b\d\d §\d+", re.ASCII),
    "link": re.compile(r"(?<=\]\()[^)]*(?=\))|https?://[^\s)>]+"),
    "name": re.compile(r"(?<![\w\\^}])\{[A-Za-z][\w/ ]*\}", re.ASCII),
    "tag": re.compile(r"</?[a-z]\w*"),
    "emphasis": re.compile(r"\*\*"),
}
"""What is the same in every language, outside of formulas and code."""
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
EMPHASIS = re.compile(r"(?P<before>.?)(?P<mark>\*\*?)(?P<text>[^*\s](?:[^*]*[^*\s])?)(?P=mark)(?!\*)(?P<after>.?)")
DIGITS = {str(number): word for number, word in enumerate(_NUMBERS, 1)}
"""What may be written in digits where the English has a word."""
SHAPE = re.compile(r"^(?:#+ (?:\d+\. )?|> ?|[*-] |\d+\. |\|(?=.*\|$))", re.MULTILINE)


def complaints(english: nbformat.NotebookNode, translated: nbformat.NotebookNode) -> Complaints:
    """What a translation says otherwise; nothing where it is faithful."""
    if english.source != translated.source:
        yield from (_of_code if english.cell_type == "code" else _of_text)(english, translated)


def _at(translated, line):
    """The line of the source at which a line of a cell stands, counted from 0."""
    return translated.metadata[LINES][min(line, len(translated.metadata[LINES]) - 1)]


# ---- text


def _of_text(english, translated):
    yield from _of_signs(english.source, translated.source, translated)
    yield from _of_emphasis(translated)
    theirs, mine = (_shape(cell.source) for cell in (english, translated))
    for (right, _), (is_, line) in zip(theirs, mine, strict=False):
        if right != is_:
            yield _at(translated, line), f"begins with {is_!r}, where the English has {right!r}"
            return
    if len(theirs) != len(mine):
        yield _at(translated, 0), f"has {len(mine)} headings, items and rows of tables, the English {len(theirs)}"


def _signs(text):
    """For formulas, code and each of SIGNS what the text has of it."""
    formulas, codes = FORMULA.findall(text), CODE_SPAN.findall(FORMULA.sub(" ", text))
    prose = CODE_SPAN.sub(" ", FORMULA.sub(" ", text))
    return [WORDS.sub("", formula) for formula in formulas], codes, *(sign.findall(prose) for sign in SIGNS.values())


def _of_signs(english, text, translated, known=""):
    for verb, kind, sign in otherwise(english, text, known):
        if verb == "has":
            yield _found(sign, translated), f"has the {kind} {sign!r}, which the English has not"
        else:
            yield _at(translated, 0), f"lacks the {kind} {sign!r} of the English"


def otherwise(english: str, text: str, known: str = "") -> Iterator[tuple[str, str, str]]:
    """("has" or "lacks", kind, sign) for each formula, code or sign that only one of both texts has.

    A translation may have more of what stands in the English, or in `known`.

    >>> list(otherwise("At most 3, by `f`.", "Höchstens 4, mit `f`."))
    [('has', 'number', '4'), ('lacks', 'number', '3')]
    """
    for kind, theirs, mine in zip(("formula", "code", *SIGNS), _signs(english), _signs(text), strict=True):
        for sign in Counter(mine) - Counter(theirs):
            is_there = sign in theirs or sign in known or (kind == "formula" and sign.strip("$") in "".join(theirs))
            if not (is_there or re.search(rf"\b{DIGITS.get(sign, '$.')}\b", english, re.IGNORECASE)):
                yield "has", kind, sign
        for sign in Counter(theirs) - Counter(mine):
            yield "lacks", kind, sign


def _found(sign, translated):
    """The first line in which a sign stands."""
    its = rows(translated)
    return next((number for number, row in its if sign in row or sign in WORDS.sub("", row)), its[0][0])


def _of_emphasis(translated):
    """Markdown takes `**no：**so` as it stands: within the stars beside a letter there must be a letter too."""
    for number, row in rows(translated):
        for found in EMPHASIS.finditer(_without(row)):
            sides = ((found["before"], found["text"][0]), (found["after"], found["text"][-1]))
            if any(outside.isalnum() and not inside.isalnum() for outside, inside in sides):
                text = found["mark"] + found["text"] + found["mark"]
                yield number, f"{text!r} is not shown as emphasis: put the sign at its end outside of the stars"


def _without(text):
    """Text with formulas and code as one sign each, which is no letter."""
    return CODE_SPAN.sub("`", FORMULA.sub("$", text))


def _shape(text):
    """(how a line begins, its number) for each heading, item, quotation and row of a table."""
    lines = enumerate(FORMULA.sub(lambda found: found[0].replace("|", "/"), text).splitlines())
    found = ((SHAPE.match(row), row, number) for number, row in lines)
    return [
        ("|" * row.count("|") if begin[0] == "|" else begin[0].strip(), number) for begin, row, number in found if begin
    ]


# ---- code


def _of_code(english, translated):
    try:
        mine = texts(translated.source)
    except SyntaxError as error:
        yield _at(translated, (error.lineno or 1) - 1), f"not valid Python: {error.msg}"
        return
    theirs = texts(english.source)
    if [text.kind for text in theirs] != [text.kind for text in mine]:
        numbers = f"has {len(mine)} comments and texts, the English {len(theirs)}"
        yield _at(translated, 0), numbers if len(mine) != len(theirs) else "has comments and texts in another order"
        return
    says = ["\n".join(text.says for text in found) for found in (theirs, mine)]
    yield from _of_signs(*says, translated, known=english.source)
    if has_fields_of(theirs, mine):  # else the English code has changed, and the cell is behind
        yield from _of_meanings(english, translated, theirs, mine)


def _of_meanings(english, translated, theirs, mine):
    """One text has one translation, by which it is looked up; what is kept elsewhere is looked up by its own name."""
    meant: dict[str, str] = {}
    for right, is_ in zip(theirs, mine, strict=True):
        if right.kind == "string" and right.says != is_.says and meant.setdefault(right.says, is_.says) != is_.says:
            line = translated.source.encode()[: is_.begin].count(b"\n")
            yield _at(translated, line), f"{right.says!r} is {meant[right.says]!r} above, and here {is_.says!r}"
    before, after = (ast.parse(without_variants(code)) for code in (english.source, with_texts(english.source, mine)))
    keys = {text for text, _ in _keys(before)}
    known = Counter(meant.get(text, text) if text in keys else text for text, _ in _looked_up(before))
    for text, line in _looked_up(after):
        if not known[text]:
            yield _at(translated, line - 1), f"{text!r} is looked up, and nothing is kept under it"
        known[text] -= 1


def _keys(tree):
    """(text, line) of that under which code keeps something."""
    keys = (key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys)
    return _held((*keys, *_subscripts(tree, ast.Store)))


def _looked_up(tree):
    return _held(_subscripts(tree, ast.Load))


def _subscripts(tree, context):
    return (node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, context))


def _held(nodes):
    return [
        (node.value, node.lineno) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
