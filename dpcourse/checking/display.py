"""How a verdict looks on a page: HTML, with the same in plain text beside it."""

import html
from dataclasses import dataclass

RIGHT_COLOUR, WRONG_COLOUR, BLANK_COLOUR, ERROR_COLOUR = "#1b7f3b", "#b3261e", "#5f6368", "#9a5b00"
ASIDE_COLOUR = "#1a5fb4"
CLOSE = "margin:.3em 0"


def as_code(text: str) -> str:
    """Return HTML of a line of text in which `code` stands in backticks.

    >>> as_code("a < b: use `max`")
    'a &lt; b: use <code>max</code>'
    """
    parts = html.escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def paragraph(text: str) -> str:
    """Return HTML of a line of text, as a paragraph that stands close to the next."""
    return f"<p style='{CLOSE}'>{as_code(text)}</p>"


@dataclass(frozen=True, repr=False)
class Told:
    """A line of text: on a page a paragraph, whose words are not broken at the edge of a narrow window."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self):
        return paragraph(self.text)


def preformatted(text: str) -> str:
    """Return HTML of text that keeps its lines."""
    return f"<pre style='{CLOSE}'>{html.escape(text)}</pre>"


def panel(mark: str, colour: str, headline: str, message: str, seen: list[str], after: list[str]) -> str:
    """Return HTML of a verdict: mark and headline, the message, a list of what was seen, and what comes after.

    seen, after: HTML, each of one item.
    """
    items = "".join(f"<li>{item}</li>" for item in seen)
    return (
        f"<div role='status' style='border-left:4px solid {colour};padding:.3em .8em;{CLOSE}'>"
        f"<p style='{CLOSE}'><strong><span aria-hidden='true'>{mark}</span> {html.escape(headline)}</strong></p>"
        f"{paragraph(message)}{f'<ul style=margin:.3em>{items}</ul>' if items else ''}{''.join(after)}</div>"
    )


def aside(title: str, lines: tuple[str, ...], code: str | None = None) -> str:
    """Return HTML of what is told beside a verdict: a hint, a solution, a question."""
    body = "".join(map(paragraph, lines)) + (f"<pre>{html.escape(code)}</pre>" if code else "")
    style = f"border-left:4px solid {ASIDE_COLOUR};padding:.3em .8em"
    return f"<div role='status' style='{style}'><strong>{html.escape(title)}</strong>{body}</div>"
