"""What the search of the site looks through: the text of each section, and each row of the glossary."""

import html
import json
import re
from collections.abc import Iterable, Iterator

HEADING = re.compile(r'<h([1-6]) id="([^"]*)">(.*?)</h\1>', re.DOTALL)
ROW = re.compile(r'<tr id="([^"]*)">(.*?)</tr>', re.DOTALL)
LEFT_OUT = re.compile(r"<(pre|svg|style|details(?=>)|div(?= role='status'))\b.*?</\1>", re.DOTALL)
"""Code, pictures, what a check says, and what is folded to keep a secret: hints, solutions and the replies of a quiz."""
WITHIN_A_WORD = re.compile(r"</?(?:a|b|code|em|i|span|strong|sub|sup|math|m[a-z]+|semantics)\b[^>]*>")


def index(pages: Iterable) -> str:
    """A script that says, for every section of the pages, (page, title of the page, anchor, heading, text)."""
    places = [(page.name, page.title, *place) for page in pages for place in _places(page.body)]
    return f"dpcourseSearch({json.dumps(places, ensure_ascii=False, separators=(',', ':'))})\n"


def _places(body: str) -> Iterator[tuple[str, str, str]]:
    """(anchor, heading, text) of all that has an anchor: of each heading, and of each row that has one."""
    found = list(HEADING.finditer(body))
    for heading, following in zip(found, [*found[1:], None], strict=True):
        part = body[heading.end() : following.start() if following else None]
        for row in ROW.finditer(part):
            name, *_ = re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row[2], re.DOTALL)
            yield html.unescape(row[1]), text(name), text(row[2])
        yield html.unescape(heading[2]), text(heading[3]), text(ROW.sub("", part))


def text(page: str) -> str:
    """What HTML says, in one line, without code and pictures."""
    page = WITHIN_A_WORD.sub("", LEFT_OUT.sub(" ", page))
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
