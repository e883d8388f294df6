"""Whether a translated cell says the same as the English one, as far as can be seen without knowing the language.

In text: formulas, numbers, links, code, references, headings, tables, lists. In code: everything but comments, docstrings
and the texts that are shown, and of these numbers, fields and formulas.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpcourse.base import cells

BREAK, TEXT, CODE = "break", "text", "code"


@dataclass(frozen=True)
class Cell:
    """A part of a source: its kind, its text, the place of its first line and that behind its last, counted from 0."""

    kind: str
    text: str
    begin: int
    end: int


Complaints = Iterator[tuple[int, str]]
"""(line of the translation, counted from 0; what is wrong there)."""

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
ASKED = ("passed", "check", "hint", "solution")


def complaints(english: Cell, translated: Cell) -> Complaints:
    """What a translation says otherwise; nothing where it is faithful."""
    if english.text == translated.text:
        return
    if english.kind != CODE:
        yield from _of_text(english, translated)
        return
    english, translated = (
        replace(cell, text=cells.VARIANT.sub(r"\g<name>", cell.text)) for cell in (english, translated)
    )
    try:
        ast.parse(translated.text)
    except SyntaxError as error:
        yield translated.begin + (error.lineno or 1) - 1, f"not valid Python: {error.msg}"
        return
    yield from _of_code(english, translated)


# ---- text


def _of_text(english, translated):
    yield from _of_signs(english.text, translated.text, translated)
    yield from _of_emphasis(translated)
    theirs, mine = (_shape(cell.text) for cell in (english, translated))
    for (right, _), (is_, line) in zip(theirs, mine, strict=False):
        if right != is_:
            yield translated.begin + line, f"begins with {is_!r}, where the English has {right!r}"
            return
    if len(theirs) != len(mine):
        yield translated.begin, f"has {len(mine)} headings, items and rows of tables, the English {len(theirs)}"


def _signs(text):
    """For formulas, code and each of SIGNS what the text has of it."""
    formulas, codes = FORMULA.findall(text), CODE_SPAN.findall(FORMULA.sub(" ", text))
    prose = CODE_SPAN.sub(" ", FORMULA.sub(" ", text))
    return [WORDS.sub("", formula) for formula in formulas], codes, *(sign.findall(prose) for sign in SIGNS.values())


def _of_signs(english, text, translated, known=""):
    """A complaint for each sign that only one of both texts has; what stands in the English, or in `known`, may be added."""
    for kind, theirs, mine in zip(("formula", "code", *SIGNS), _signs(english), _signs(text), strict=True):
        for sign in Counter(mine) - Counter(theirs):
            is_there = sign in theirs or sign in known or (kind == "formula" and sign.strip("$") in "".join(theirs))
            if not (is_there or re.search(rf"\b{DIGITS.get(sign, '$.')}\b", english, re.IGNORECASE)):
                yield _found(sign, translated), f"has the {kind} {sign!r}, which the English has not"
        for sign in Counter(theirs) - Counter(mine):
            yield translated.begin, f"lacks the {kind} {sign!r} of the English"


def _found(sign, translated):
    """The first line in which a sign stands."""
    rows = enumerate(translated.text.splitlines(), translated.begin)
    return next((number for number, row in rows if sign in row or sign in WORDS.sub("", row)), translated.begin)


def _of_emphasis(translated):
    """Markdown takes `**no：**so` as it stands: within the stars beside a letter there must be a letter too."""
    for number, row in enumerate(translated.text.splitlines(), translated.begin):
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
    rows = enumerate(FORMULA.sub(lambda found: found[0].replace("|", "/"), text).splitlines())
    found = ((SHAPE.match(row), row, number) for number, row in rows)
    return [
        ("|" * row.count("|") if begin[0] == "|" else begin[0].strip(), number) for begin, row, number in found if begin
    ]


# ---- code


def _of_code(english, translated):
    marks = [[row.strip() for row in cell.text.splitlines() if cells.is_solved(row)] for cell in (english, translated)]
    if marks[0] != marks[1]:
        yield translated.begin, f"has the marks {marks[1]}, the English {marks[0]}"
        return
    for reading in (cells.without_marks, cells.blanked) if marks[0] else (str,):
        trees = [_tree(reading(cell.text)) for cell in (english, translated)]
        theirs, mine = (list(map(_skeleton, tree.body)) for tree in trees)
        if theirs != mine:
            same = next((i for i, (a, b) in enumerate(zip(theirs, mine, strict=False)) if a != b), None)
            line = _line(reading, translated.text, trees[1].body[same]) if same is not None else 0
            yield translated.begin + line, "the code differs in more than comments, docstrings and texts that are shown"
            return
    yield from _of_texts(english, translated)


def _line(reading, text, statement):
    """The line, of the cell, in which a statement begins; in the blank one it may stand higher up."""
    first = ast.unparse(statement).split("\n")[0].split("'")[0].split('"')[0]
    rows = text.splitlines()
    return next((i for i, row in enumerate(rows) if first and row.strip().startswith(first)), statement.lineno - 1)


class _WithoutTexts(ast.NodeTransformer):
    """A tree in which every text is the same, but those that are compared, and those that say how something is formatted."""

    def visit_Constant(self, node):
        return ast.Constant("text") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node):
        fields = [self.visit(part) for part in node.values if isinstance(part, ast.FormattedValue)]
        return ast.JoinedStr(sorted(fields, key=ast.dump))  # languages have their own order

    def visit_FormattedValue(self, node):
        return ast.FormattedValue(self.visit(node.value), node.conversion, node.format_spec)

    def visit_Compare(self, node):
        kept = [each if isinstance(each, ast.Constant) else self.visit(each) for each in (node.left, *node.comparators)]
        return ast.Compare(kept[0], node.ops, kept[1:])

    def visit_Call(self, node):
        if ast.unparse(node.func) in ASKED:
            return node
        return self.generic_visit(node)


def _skeleton(statement):
    return ast.dump(_WithoutTexts().visit(statement))


def _tree(code):
    """The syntax of code without docstrings."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]
    return tree


def _is_text(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _of_texts(english, translated):
    """Numbers and formulas in texts and comments are the same; a text that stands twice is translated once."""
    theirs, mine = (_said(cell.text) for cell in (english, translated))
    yield from _of_signs("\n".join(theirs), "\n".join(mine), translated, known=english.text)
    yield from _of_meanings(*(_tree(cell.text) for cell in (english, translated)), translated.begin)


def _of_meanings(theirs, mine, begin):
    """One text has one translation, by which it is looked up; what is kept elsewhere is looked up by its own name."""
    meant: dict[str, str] = {}
    for (text, _), (says, line) in zip(_texts(theirs), _texts(mine), strict=True):
        if text != says and meant.setdefault(text, says) != says:
            yield begin + line - 1, f"{text!r} is {meant[text]!r} above, and here {says!r}"
    keys = {text for text, _ in _keys(theirs)}
    right = Counter(meant.get(text, text) if text in keys else text for text, _ in _looked_up(theirs))
    for text, line in _looked_up(mine):
        if not right[text]:
            yield begin + line - 1, f"{text!r} is looked up, and nothing is kept under it"
        right[text] -= 1


def _keys(tree):
    """(text, line) of that under which code keeps something."""
    keys = (key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys)
    return _held((*keys, *_subscripts(tree, ast.Store)))


def _looked_up(tree):
    return _held(_subscripts(tree, ast.Load))


def _subscripts(tree, context):
    return (node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, context))


def _said(code):
    """The comments of code and all its texts, with an f-string's fields left out."""
    comments = [
        token.string for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.type == tokenize.COMMENT
    ]
    return comments + [node.value for node in ast.walk(ast.parse(code)) if _holds_text(node)]


def _texts(tree):
    """(text, line) of each text that is not a part of an f-string, in the order of the code."""
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    return _held(node for node in ast.walk(tree) if id(node) not in within)


def _held(nodes):
    return [(node.value, node.lineno) for node in nodes if _holds_text(node)]


def _holds_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
