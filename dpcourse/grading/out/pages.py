"""What the pages for people share: templates, in which everything that came from a student is escaped.

The pages may neither run scripts nor load anything, so that they are harmless wherever they are opened.
"""

from datetime import datetime
from pathlib import Path

import jinja2
from markupsafe import Markup

from dpcourse.base.languages import again, chosen, counted, say, sentences
from dpcourse.checking.display import as_code
from dpcourse.course import number_of
from dpcourse.grading.collect import in_a_row
from dpcourse.grading.out.gradebook import in_points, late, score, title, title_of, whole
from dpcourse.grading.out.tables import number, short
from dpcourse.grading.result import STATUSES

_pages = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def render(template: str, **values: object) -> str:
    """The HTML of a template."""
    return _pages.get_template(template).render(**values)


def moment(when: datetime, like: datetime | None = None) -> str:
    """A time as people write it, in the time zone of another where there is one.

    >>> from datetime import UTC
    >>> moment(datetime(2026, 10, 1, 9, 5, tzinfo=UTC))
    '1 October 2026, 09:05 UTC'
    """
    there = when.astimezone(like.tzinfo) if like and like.tzinfo else when
    time = say("{when:%-d %B %Y, %H:%M}", when=there)
    return say("{time} {zone}", time=time, zone=there.tzname()) if there.tzname() else time


def sentence(text: str) -> str:
    """A note as a sentence.

    >>> sentence("cell 3 was left out: it never ended")
    'Cell 3 was left out: it never ended.'
    """
    text = text.strip()
    whole = text[:1].upper() + text[1:]
    return whole if text.endswith(tuple(".!?。！？")) else say("{sentence}.", sentence=whole)


def status(name: str) -> str:
    """A status as people read it."""
    return say(STATUSES.get(name, name))


_pages.filters.update(code=lambda text: Markup(as_code(text)), number=number, points=in_points, sentence=sentence)
_pages.filters.update(short=short)
_pages.globals.update(
    title=title,
    title_of=title_of,
    number_of=number_of,
    score=score,
    whole=whole,
    late=late,
    moment=moment,
    status=status,
    in_a_row=in_a_row,
)
_pages.globals.update(say=say, counted=counted, again=again, sentences=sentences, language=chosen)
