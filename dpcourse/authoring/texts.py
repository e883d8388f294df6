"""The texts of a code cell, which are all that a translator translates: its comments and strings, docstrings among them.

A string that code compares with another, or asks for an exercise by, is code; so are the marks of a solution.
"""

import ast
import functools
import io
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

from dpcourse.base import cells

ASKED = ("passed", "check", "hint", "solution")


@dataclass(frozen=True)
class Text:
    """A comment, or a string, as it is written in code.

    says: its words, with `{}` for each field. fields: the code in the fields of an f-string, but for the texts in it.
    begin, end: its place in the code, in bytes.
    """

    written: str
    says: str
    begin: int
    end: int
    fields: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What it is: "comment" or "string"."""
        return "comment" if self.written.startswith("#") else "string"


@functools.cache
def texts(code: str) -> tuple[Text, ...]:
    """The texts of some code, in its order. Raises SyntaxError.

    >>> [text.says for text in texts("x = f'{n} rows'  # all of them")]
    ['{} rows', '# all of them']
    """
    as_python = cells.without_variants(code)
    lines, begins = as_python.split("\n"), [0]
    for line in lines:
        begins.append(begins[-1] + len(line.encode()) + 1)
    content, found = code.encode(), []
    for node in _strings(ast.parse(as_python)):
        begin, end = begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset
        fields = [part for part in getattr(node, "values", ()) if isinstance(part, ast.FormattedValue)]
        dumped = tuple(sorted(ast.dump(_WithoutTexts().visit(field)) for field in fields))  # languages have their order
        found.append(Text(content[begin:end].decode(), _says(node), begin, end, dumped))
    for token in tokenize.generate_tokens(io.StringIO(as_python).readline):
        if token.type == tokenize.COMMENT and not cells.is_solved(token.string):
            row, column = token.start
            begin = begins[row - 1] + len(lines[row - 1][:column].encode())
            found.append(Text(token.string, token.string, begin, begin + len(token.string.encode())))
    return tuple(sorted(found, key=lambda text: text.begin))


def with_texts(code: str, others: Iterable[Text]) -> str:
    """The code with other texts in place of its own, the first for the first.

    >>> with_texts("total = 3  # rows", texts("n = 4  # 行"))
    'total = 3  # 行'
    """
    content = code.encode()
    for text, other in reversed(list(zip(texts(code), others, strict=True))):
        content = content[: text.begin] + other.written.encode() + content[text.end :]
    return content.decode()


def has_fields_of(others: Iterable[Text], mine: Iterable[Text]) -> bool:
    """Whether texts hold the same code in their fields as others do, each as the one in its place."""
    return [text.fields for text in mine] == [text.fields for text in others]


def _strings(node, is_code=False):
    """The strings in a tree that are texts; one within an f-string is a part of it."""
    if isinstance(node, ast.JoinedStr):
        yield node
    elif isinstance(node, ast.Constant):
        yield from (node,) if isinstance(node.value, str) and not is_code else ()
    elif not (isinstance(node, ast.Call) and ast.unparse(node.func) in ASKED):
        for child in ast.iter_child_nodes(node):
            yield from _strings(child, is_code=isinstance(node, ast.Compare))


def _says(node):
    if isinstance(node, ast.Constant):
        return node.value
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


class _WithoutTexts(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.Constant("text") if isinstance(node.value, str) else node

    def visit_FormattedValue(self, node):
        return ast.FormattedValue(self.visit(node.value), node.conversion, node.format_spec)
