"""A static site of the course for those who only read: HTML made from the notebooks as they are.

No cell is executed but that of an explorer, for its sliders. Two sites, each written by itself into a folder of its own:
the lessons, blank as given out, and the solutions. A page loads nothing from elsewhere and is read without scripts:
formulas are MathML, hints and solutions unfold by themselves. A script of the site's own adds the search, the switch
between light and dark, the motion of explorers and what a term means; all of it works from a folder. Markdown is read by
nbconvert, as JupyterLab reads it; formulas by math-core, code by Pygments.
The pages of each other language stand in a folder of the site's, `zh/`, under the same names, and lead to one another.
"""

import html
import math
import multiprocessing
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import jinja2
import nbformat
from markupsafe import Markup
from math_core import LatexError, LatexToMathML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES

from dpcourse import course, plots
from dpcourse.authoring import answers, binder, catalogues, glossary, images, lite, pdf, searching, sliders
from dpcourse.authoring.source import is_folded, languages
from dpcourse.base.cells import called, calls, checked, without, without_marks
from dpcourse.base.files import new_folder, write_atomically
from dpcourse.base.languages import ENGLISH, again, counted, listed, say, speaking, to_say
from dpcourse.checking.display import as_code
from dpcourse.course import GLOSSARY
from dpcourse.notebook.attacker import BY_HAND
from dpcourse.notebook.course_map import stages

TEMPLATES = Path(__file__).with_name("templates")
GENERATOR = '<meta name="generator" content="dpcourse site: {}">'
OF_CODE, SOLVED, TABLE = to_say("Code"), to_say("Solution"), to_say("Table")
FITS_A_PHONE = 36
"""So many characters of code, or of a formula's source, are not wider than a telephone."""
WORDS = {"sentence": 40, "words": 16}
"""A cell of a table with more characters than this, of which Chinese ones count twice, is not made narrow."""
SOLUTION = "solution"  # in the metadata of a cell that is shown
OWN, LEFT_OUT = ("goals", "report", "progress"), "remove-cell"
"""What speaks of the reader's own machine or answers, by its name; and the tag of a cell that does."""
LINKS = re.compile(r"(?:^|\n\n)(?:[^\n\[\]-]{,20}\[[^\]\n]*\]\([^)\n]*\.ipynb[^)\n]*\)(?: · |(?=\n\n|$))){2,}")
"""A paragraph of links between pages, which a page of the site has beside it, above and below."""
LEADS_TO_OWN = re.compile(r"(?:^|\n\n)\*\*[^*\n]+(?:\?\*\*|\*\*？)[^\n]*$")
"""A paragraph that begins with a question, in bold."""
FOLDED, READING = "<details>", '<details class="reading">'
"""What a text folds is for a second reading; on its first cell, the sections."""
TAG = re.compile(r"""(<(?:"[^"]*"|'[^']*'|[^'">])*>)""")
UNEXPLAINED = {"a", "button", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "math", "pre", "summary", "svg", "th"}
"""Elements in which no term is explained; `em` has the titles of books."""
EVERYDAY = {"limit", "replace", "假设"}
"""Names of terms which are more often words of every day."""
NAMED = {ENGLISH: ("term", ", "), "zh": ("chinese", "、")}
"""Language -> the column of the glossary that names a term as texts of that language do, and what stands between names."""
CHINESE = re.compile(r"[\u3400-\u9fff][\u3000-\u303f\u3400-\u9fff\uff00-\uffef]*")


TRIED = "start_here/keep_probability"
ANSWERS = (
    "math.exp(epsilon)",
    "epsilon / (1 + epsilon)",
    "1 / (1 + math.exp(epsilon))",
    "math.exp(epsilon) / 1 + math.exp(epsilon)",
    "1 / (1 + math.exp(-epsilon))",
    "math.exp(epsilon) / (1 - math.exp(epsilon))",
    "1 - math.exp(-epsilon)",
    "math.exp(epsilon) / (2 + math.exp(epsilon))",
)
"""An exercise, and answers to it, of which the home page shows what the check says."""


class SiteError(ValueError):
    """A notebook cannot be made a page; says which, where and why."""


@dataclass(frozen=True)
class Page:
    """One notebook as HTML: title, what its first cell says (without links, and what is folded), page, sections, first figure.

    terms: (id, meaning) of each that its text explains.
    """

    name: str
    title: str
    about: Markup
    body: Markup
    sections: tuple[tuple[str, str], ...]
    picture: Markup
    terms: tuple[tuple[str, Markup], ...] = ()

    @property
    def short(self) -> str:
        """The title as far as a colon."""
        return re.split(": |：", self.title)[0]

    @property
    def is_lesson(self) -> bool:
        return self.name[:2].isdigit()

    @property
    def anchors(self) -> set[str]:
        return {html.unescape(anchor) for anchor in re.findall(r'\bid="([^"]*)"', self.body)}


def write(
    course: Path | str,
    folder: Path | str,
    solved: bool = False,
    as_pdf: bool = False,
    moves: bool = False,
    in_tabs: bool = False,
) -> list[str]:
    """Write the site of a course into a folder, whole or not at all; returns the names of its pages.

    solved: the solutions in place of the lessons. as_pdf: also the whole course as course.pdf, printed by Chromium.
    moves: explorers move, by pictures that are drawn for them. in_tabs: with what JupyterLite takes, to whose lab the pages
    of the lessons lead that run in a browser tab.
    A folder that holds an older site of the same kind is replaced.
    Raises SiteError for a notebook that cannot be shown, and ValueError for a folder that holds anything else.
    """
    course, folder = Path(course), Path(folder)
    if solved and in_tabs:
        raise ValueError(say("the solutions do not run in a browser tab: leave out --lite, or --solutions"))
    sites = [Site(course, language, solved, moves, in_tabs) for language in (ENGLISH, *languages(course))]
    if not sites[0].notebooks:
        raise ValueError(f"there are no notebooks in {course / ('solutions' if solved else 'lessons')}")
    if as_pdf:
        pdf.browser()
    kind = GENERATOR.format("solutions" if solved else "lessons")
    written: list[str] = []
    with new_folder(folder, replaces=lambda old: kind in _text(old / "index.html")) as made:
        write_atomically(made / "site.css", _text(TEMPLATES / "site.css") + _colours())
        for name in ("site.js", "stix-two-math.woff2"):
            shutil.copyfile(TEMPLATES / name, made / name)
        sites = [site for site in sites if site.notebooks]  # those that are built
        for site in sites:  # a PDF is printed with the style that is there
            site.all = sites
            written += _write(site, made / site.folder, Markup(kind), as_pdf)
        if in_tabs:
            lite.write(course, made / lite.FOLDER)
    return written


class Site:
    """The site in one language: its notebooks, and what its pages say."""

    def __init__(self, course, language, solved, moves, in_tabs):
        self.course, self.language, self.solved, self.moves, self.in_tabs = course, language, solved, moves, in_tabs
        self.folder = "" if language == ENGLISH else language
        self.notebooks = _notebooks(course, self.folder, solved)
        self.terms = _terms(self.notebooks.get(GLOSSARY, ()), language)
        self.drawn: dict[tuple[str, str], tuple[str, str] | None] = {}
        self.all: list[Site] = []

    def say(self, message, **fields):
        """A text of the site in this language."""
        return again(say(message, **fields), self.language)

    def file(self, name):
        """The notebook behind a page."""
        files = [self.course / kind / self.folder / f"{name}.ipynb" for kind in ("solutions", "lessons")]
        return next(file for file in files[not self.solved :] if file.exists())

    def opened(self, lesson):
        """(where a lesson opens, the address) of each place, as far as it is known where the course is published."""
        home = None if self.solved else binder.repository(self.course)
        name = f"{self.folder}/{lesson}".lstrip("/")
        return binder.places(home, name).items() if home else ()

    def tab(self, page):
        """Where a page runs in a browser tab; None where it does not, or no lab is written."""
        if not (self.in_tabs and lite.runs(page)):
            return None
        return ("../" if self.folder else "") + lite.address(f"{self.folder}/{page}".lstrip("/"))

    def others(self, page):
        """(language, what it calls itself, the address) of the same page in each other language."""
        name = f"{page.name}.html" if page else "index.html"
        home = "../" if self.folder else ""
        for other in self.all:
            if other is not self:
                address = f"{home}{other.folder}/{name}" if other.folder else home + name
                yield other.language, catalogues.called(other.language), address


def _write(site, made, kind, as_pdf):
    """Write the pages of one language into a folder; returns their names."""
    (made / "figures").mkdir(parents=True)
    site.drawn = _drawn(site) if site.moves else {}
    makers = [_Maker(name, site, made) for name in site.notebooks]
    pages = [maker.page(site.notebooks[maker.name]) for maker in makers]
    _require_anchors(makers, {page.name: page.anchors for page in pages})
    pages.sort(key=lambda page: (not page.is_lesson, page.name))
    common = {"pages": pages, "kind": kind, "solved": site.solved, "has_pdf": as_pdf, "site": site}
    common |= {"say": site.say, "top": "../" if site.folder else "", "replies": list(_replies(site))}
    common["map"] = _map(site, makers[0])
    for page in pages:
        shutil.copyfile(site.file(page.name), made / f"{page.name}.ipynb")
        write_atomically(made / f"{page.name}.html", _templates.get_template("site.html").render(common, page=page))
    write_atomically(made / "index.html", _templates.get_template("home.html").render(common, page=None))
    write_atomically(made / "search.js", searching.index(pages))
    if as_pdf:
        _print(pages, common, made)
    return [f"{site.folder}/{page.name}".lstrip("/") for page in pages]


def _drawn(site):
    """(page, cell) of each explorer -> its sliders and its pictures, drawn on all processors. Raises SiteError for an old notebook.

    An explorer may use what the one before it has computed for its sliders.
    """
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        begun = {}
        for name, cells in site.notebooks.items():
            code = ""
            for cell in cells:
                if "widgets.explore" in called(cell.source):
                    code += f"{cell.source}\n"
                    begun[name, cell.id] = pool.submit(sliders.drawn, code, site.language)
        return {place: _result(drawing, *place) for place, drawing in begun.items()}


def _result(drawing, name, cell_id):
    try:
        return drawing.result()
    except (AttributeError, TypeError) as error:
        message = f"{name}: an explorer cannot be drawn, in cell {cell_id}: {error}: run `dpcourse build`"
        raise SiteError(message) from error


_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
_templates.filters["code"] = lambda text: Markup(as_code(text))


def _map(site, maker):
    """The map of the course for the home page; empty where the site has not all lessons of the course."""
    lessons = stages()
    if not {course.lesson(stage.number).name for stage in lessons} <= site.notebooks.keys():
        return ""
    with speaking(site.language):
        return Markup(maker.figure(plots.as_html(plots.course_map, stages=lessons)))


def _replies(site) -> Iterator[tuple[str, Markup]]:
    """(an answer, what the check says of it) for the home page of the lessons."""
    exercise = course.find(TRIED)
    if site.solved or course.lesson(exercise.lesson).name not in site.notebooks:
        return
    code = f"def {exercise.function}(epsilon):\n    return "
    given = [answers.Answer(exercise.lesson, exercise.function, answer, False, code + answer) for answer in ANSWERS]
    with speaking(site.language):
        for tried in answers.tried(given, {"math": math}):
            yield tried.answer.label, Markup(tried.verdict._repr_html_())


def _print(pages, common, folder):
    """Write course.pdf."""
    names = {page.name for page in pages}
    whole = folder / "whole.html"
    template = _templates.get_template("whole.html")
    page = template.render(common, joined=lambda page: Markup(pdf.joined(page.name, page.body, names)))
    write_atomically(whole, page)
    pdf.print_page(whole, folder / "course.pdf")
    whole.unlink()


def _require_anchors(makers, anchors):
    for maker in makers:
        for address, name, anchor in maker.linked:
            if anchor not in anchors[name]:
                raise SiteError(f"{maker.name}: a link leads to {address}, and there is no such heading")


def _colours():
    """The colours of code, as CSS: of a light page and of a dark one."""
    light, dark = map(get_style_by_name, ("default", "github-dark"))
    return "".join(
        f".highlight .{name} {{ color: light-dark(#{day['color'] or '1f2328'}, #{night['color'] or 'e6edf3'});"
        f" font-weight: {'bold' if day['bold'] else 'normal'} }}\n"
        for token, name in STANDARD_TYPES.items()
        if name and (day := light.style_for_token(token)) and (night := dark.style_for_token(token))
    )


def _text(file):
    return file.read_text(encoding="utf-8") if file.exists() else ""


# ---- notebooks -> cells


def _notebooks(course, language, solved):
    """Name -> the cells of each page, as they are shown."""
    blank, done = (_read(course / kind / language) for kind in ("lessons", "solutions"))
    shown, others, made = ({**blank, **done}, blank, _solved) if solved else (blank, done, _blank)
    return {name: [made(cell, others.get(name, {}).get(key)) for key, cell in shown[name].items()] for name in shown}


def _blank(cell, solved):
    """A blank notebook stores no output but of its checks; the others are those of the very same cell, solved."""
    if solved and cell.source == solved.source and not {"passed", "check"}.intersection(called(cell.source)):
        return solved
    return cell


def _solved(cell, blank):
    """A solved cell shows the blank one, and in its metadata the solution to unfold."""
    if blank and cell.source != blank.source:
        cell.metadata[SOLUTION], cell.source = without_marks(cell.source), blank.source
    return cell


def _read(folder):
    """Name -> (cell id -> cell) of each notebook in a folder. Raises SiteError."""
    found = {}
    for file in sorted(folder.glob("*.ipynb")):
        try:
            found[file.stem] = {cell.id: cell for cell in nbformat.read(file, 4).cells}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SiteError(f"{file}: not a notebook: {error!r}") from None
    return found


def _for_readers(cells):
    """The cells without what speaks of the reader's own machine or answers, and without the words that lead there."""
    shown = []
    for cell in cells:
        if cell.cell_type == "code":
            cell.source = "" if LEFT_OUT in cell.metadata.get("tags", ()) else without(cell.source, OWN)
        elif shown:
            cell.source = cell.source.replace(FOLDED, READING)
        if cell.source:
            shown.append(cell)
        elif shown and LEADS_TO_OWN.search(shown[-1].source):
            shown[-1].source = shown[-1].source.rpartition("\n\n")[0]
    for cell in shown[:1] + shown[-1:]:
        cell.source = LINKS.sub("", cell.source)
    return shown


# ---- terms


@dataclass(frozen=True)
class _Term:
    """A term of the glossary: its anchor there, how texts name it, what it means, the number of its lesson."""

    anchor: str
    names: tuple[str, ...]
    meaning: str
    lesson: int


def _terms(cells, language):
    """The terms that stand on the page of the glossary, as texts of this language name them."""
    page = "\n".join(cell.source for cell in cells)
    column, between = NAMED.get(language, ("term", ", "))
    return [
        _Term(
            _anchor(row["term"]),
            tuple(
                name
                for name in re.sub("（.*?）", "", row[column]).split(between)
                if _width(name) > 3 and name not in EVERYDAY
            ),
            again(say(row["meaning"]), language),
            int(row["where"][:2]),
        )
        for row in glossary.rows("term")
        if f"| {row['term']} |" in page
    ]


def _anchor(text):
    """The anchor of a row of the glossary, by its first cell."""
    return re.sub(r"\s+", "-", searching.text(text))


class _Explained:
    """Explains terms of the glossary on one page, each where a section uses it first, from the lesson on that introduces it."""

    def __init__(self, maker):
        self.maker = maker
        lesson = int(maker.name[:2]) if maker.name[:2].isdigit() else -1
        self.terms = [term for term in maker.site.terms if term.lesson <= lesson]
        names = [(name, i) for i, term in enumerate(self.terms) for name in term.names]
        names.sort(key=lambda named: -len(named[0]))  # "linear query" before "query"
        self.known = [self.terms[i] for _, i in names]
        any_name = "|".join(f"({_forms(name)})" for name, _ in names)
        any_name = f"(?<![A-Za-z-])(?<!to )(?:{any_name})(?![A-Za-z-])"  # behind "to" it is a verb
        self.pattern = re.compile(any_name, re.IGNORECASE)
        self.used: dict[str, tuple[str, str]] = {}  # anchor -> (id, meaning)
        self.of_section: set[str] = set()

    def explained(self, page):
        """The HTML of a cell with links to the glossary; what they lead to is in `used`."""
        parts, within = TAG.split(page), 0
        for i, part in enumerate(parts):
            name = part.strip("</>").partition(" ")[0]
            if i % 2 and name in UNEXPLAINED:
                within += -1 if part.startswith("</") else 1
                if name == "h2":
                    self.of_section.clear()
            elif not i % 2 and not within and self.terms:
                parts[i] = self.pattern.sub(self._link, part)
        return "".join(parts)

    def _link(self, found):
        term = self.known[found.lastindex - 1]
        if term.anchor in self.of_section:
            return found[0]
        self.of_section.add(term.anchor)
        name, _ = self.used.setdefault(term.anchor, (f"term-{len(self.used) + 1}", term.meaning))
        address = f"{GLOSSARY}.html#{quote(term.anchor)}"
        self.maker.linked.append((address, GLOSSARY, term.anchor))
        return f'<a class="term" href="{address}" aria-describedby="{name}">{found[0]}</a>'


def _forms(name):
    """A pattern of a name of a term, also where there are several."""
    words = re.escape(name).replace(r"\ ", r"\s+")
    return f"{words[:-1]}(?:y|ies)" if words.endswith("y") else f"{words}s?"


# ---- cells -> HTML


class _Maker:
    """Makes one notebook a page, and its figures files."""

    def __init__(self, name, site, folder):
        self.name, self.site, self.folder = name, site, folder
        self.linked, self.figures = [], []
        self.markdown = _Markdown(self)
        self.render = MarkdownWithMath(self.markdown).render
        self.terms = _Explained(self)

    def page(self, cells):
        """The Page of these cells."""
        cells = _for_readers(cells)
        if not cells or cells[0].cell_type != "markdown" or not cells[0].source.startswith("# "):
            raise SiteError(f"{self.name}: the first cell must begin with a title, `# …`")
        title, _, about = cells[0].source.partition("\n")
        body = "\n".join(filter(None, map(self.cell, cells)))
        sections = tuple((anchor, text) for level, anchor, text in self.markdown.headings if level == 2)
        about = re.sub(r"<details>.*?</details>", "", about, flags=re.DOTALL)
        about = "\n\n".join(paragraph for paragraph in about.split("\n\n") if "](" not in paragraph)
        about = _Maker(self.name, self.site, self.folder).render(about)
        picture = Markup("".join(self.figures[:1]))
        terms = tuple((name, Markup(self.render(meaning))) for name, meaning in self.terms.used.values())
        return Page(self.name, title[2:].strip(), Markup(about), Markup(body), sections, picture, terms)

    def cell(self, cell):
        if cell.cell_type == "markdown":
            return f'<div id="{html.escape(cell.id)}">\n{self.terms.explained(self.render(cell.source))}</div>'
        if cell.cell_type != "code":
            return ""
        if "widgets.explore" in called(cell.source):
            return f'<div id="{html.escape(cell.id)}">{self.explorer(cell)}</div>'
        if mechanism := _attacked(cell.source):
            return f'<div id="{html.escape(cell.id)}" class="game">{self.game(mechanism)}</div>'
        parts = [_code(cell.source)] if without(cell.source, ["plots.show"]) or not cell.outputs else []
        if parts and is_folded(cell):
            parts = [_unfolding(self.site.say(OF_CODE), *parts)]
        if SOLUTION in cell.metadata:
            parts.append(_unfolding(self.site.say(SOLVED), _code(cell.metadata[SOLUTION])))
        outputs = "".join(map(self.output, cell.outputs))
        if outputs:
            parts.append(f'<div class="output">{outputs}</div>')
        parts += [self.hints(number) for number in checked(cell.source)]
        return f'<div id="{html.escape(cell.id)}" class="cell">{"".join(parts)}</div>'

    def explorer(self, cell):
        """Its picture, which moves, and what its sliders are."""
        still = "".join(output for output in map(self.output, cell.outputs) if "<img" in output)
        if still and (drawn := self.site.drawn.get((self.name, cell.id))):
            sliders_of, pictures = drawn
            address = f"figures/{sha256(pictures.encode()).hexdigest()[:16]}.js"
            write_atomically(self.folder / address, pictures)
            sliders_of = f'<div class="controls" hidden>{sliders_of}</div>'
            still = self.figures[-1] = f'<div class="moving" data-pictures="{address}">{sliders_of}{still}</div>'
        names = sliders.labels(cell.source)
        says = self.site.say(
            counted(
                "In the notebook a slider moves this picture: {names}.",
                "In the notebook sliders move this picture: {names}.",
                count=len(names),
                names=listed(names, "{first}; {then}", "{first}; {then}"),
            )
        )
        return f'{still}<p class="sliders">{html.escape(says)}</p>'

    def game(self, mechanism):
        """What an attack publishes, and that it is a game in the notebook."""
        say = self.site.say
        how = say(
            'In the notebook this is a game: of {count} outputs you say "{inside}" or "{outside}", and read what you have proved.',
            count=BY_HAND,
            inside=say(mechanism.inside),
            outside=say(mechanism.outside),
        )
        return f'<p>{html.escape(say(mechanism.published))}</p><p class="aside">{html.escape(how)}</p>'

    def hints(self, exercise_id):
        """The hints of an exercise, each to unfold."""
        hints, say = course.find(exercise_id).hints, self.site.say
        return "".join(
            _unfolding(say("Hint {number} of {count}", number=i, count=len(hints)), f"<p>{as_code(say(hint))}</p>")
            for i, hint in enumerate(hints, 1)
        )

    def output(self, output):
        """Progress is the reader's own, and not to be had here; all else is shown as the notebook shows it."""
        data = output.get("data", {})
        if page := data.get("text/html"):
            if "dpcourse-progress" in page:
                return ""
            page = re.sub(r'(?<=href=")[^"]*', lambda found: self.target(found[0]), page)
            return self.figure(page)
        text = output.get("text", data.get("text/plain", output.get("evalue", "")))
        if image := images.of_data(data, output.get("metadata", {}), text):
            return self.figure(image)
        return f"<pre{_reachable(text)}>{html.escape(text.rstrip())}</pre>"

    def figure(self, page):
        """HTML with its images as files; on a telephone a figure is not made small, but moved to and fro, and says so."""
        page = images.as_files(page, self.folder)
        if "<img" not in page:
            return page
        page, say = re.sub("<style>.*?</style>", "", page), self.site.say  # the site has a style of its own
        figure, wide = say("Figure"), say("Wider than this window: ↔ move it sideways")
        page = f'<div class="figure" tabindex="0" role="group" aria-label="{figure}" data-wide="{wide}">{page}</div>'
        self.figures.append(page)
        return page

    def target(self, address):
        """Where a link of the notebook leads on the site; JupyterLab's `#cell-id=ID` is a cell, `#ID` here.

        Raises SiteError where it leads nowhere.
        """
        link = urlsplit(address)
        if link.scheme or link.netloc:
            return address
        path = Path(link.path or f"{self.name}.ipynb")
        if path.suffix != ".ipynb" or path.stem not in self.site.notebooks:
            raise SiteError(f"{self.name}: a link leads to {address}, which is no page of this site")
        anchor = link.fragment.removeprefix("cell-id=")
        if anchor:
            self.linked.append((address, path.stem, unquote(anchor)))
        return urlunsplit(link._replace(path=f"{path.stem}.html" if link.path else "", fragment=anchor))


def _attacked(source):
    """The mechanism that a cell lets somebody attack by hand, if it does nothing else."""
    made = calls(source)
    if [name for name, _ in made] != ["attack"] or len(made[0][1].args) != 1 or without(source, ["attack"]):
        return None
    lesson = course.lesson(made[0][1].args[0].value)
    return lesson.part("attack").ATTACK if lesson.has("attack") else None


class _Markdown(IPythonRenderer):
    """JupyterLab's Markdown, with formulas as MathML, links between pages, and names for headings."""

    def __init__(self, maker):
        super().__init__(escape=False, allow_harmful_protocols=False)
        self.maker = maker
        self.headings, self.rows = [], set()
        self.latex = LatexToMathML(fancy_error=False)

    def heading(self, text, level, **_):
        """A heading with the anchor that JupyterLab gives it."""
        words = re.sub(r"<[^>]*>", "", text)
        anchor = html.unescape(words).replace(" ", "-")
        taken = {name for _, name, _ in self.headings}
        while anchor in taken:
            anchor += "-"
        self.headings.append((level, anchor, Markup(text)))
        return f'<h{level} id="{html.escape(anchor)}">{text}</h{level}>\n'

    def text(self, text):
        """Text, with its language where that is Chinese on a page that is not."""
        if self.maker.site.language == "zh":
            return super().text(text)
        return CHINESE.sub(lambda found: f'<span lang="zh">{found[0]}</span>', super().text(text))

    def link(self, text, url, title=None):
        return super().link(text, self.maker.target(url), title)

    def inline_math(self, body):
        formula, reachable = self._formula(body, block=False), _reachable(body)
        return f'<span class="long"{reachable}>{formula}</span>' if reachable else formula

    def block_math(self, body):
        return f'<span class="formula"{_reachable(body)}>{self._formula(body, block=True)}</span>'

    def latex_environment(self, name, body):
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")

    def _formula(self, body, block):
        try:
            return self.latex.convert_with_local_state(body, displaystyle=block)
        except LatexError as error:
            raise SiteError(f"{self.maker.name}: the formula ${body.strip()}$ cannot be read: {error}") from None

    def table(self, text):
        return f'<div class="wide" tabindex="0" role="group" aria-label="{self.maker.site.say(TABLE)}"><table>\n{text}</table></div>\n'

    def table_row(self, text):
        """A row of the glossary has an anchor, which the search leads to."""
        if self.maker.name != GLOSSARY or "<th" in text:
            return f"<tr>\n{text}</tr>\n"
        anchor = _anchor(text.partition("</td>")[0])
        while anchor in self.rows:
            anchor += "-"
        self.rows.add(anchor)
        return f'<tr id="{html.escape(anchor)}">\n{text}</tr>\n'

    def table_cell(self, text, align=None, head=False):
        tag, scope = ("th", ' scope="col"') if head else ("td", "")
        looks = [align] if align else []
        plain = re.sub(r"<[^>]*>", "", text)
        looks += [name for name, least in WORDS.items() if _width(plain) > least][:1]
        looks = f' class="{" ".join(looks)}"' if looks else ""
        return f"  <{tag}{scope}{looks}>{text}</{tag}>\n"

    def block_code(self, code, info=None):
        return _code(code, info)


def _code(source, language="python"):
    if language != "python":
        return f"<pre{_reachable(source)}>{html.escape(source.rstrip())}</pre>"
    shown = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<pre class="highlight"{_reachable(source)}><code>{shown.rstrip()}</code></pre>'


def _reachable(source):
    """What may be wider than a narrow page can be scrolled by keyboard."""
    return ' tabindex="0"' if max(map(_width, source.splitlines()), default=0) > FITS_A_PHONE else ""


def _width(text):
    """How many Latin letters are as wide as this; a Chinese character is as wide as two."""
    return len(text) + sum(map(len, CHINESE.findall(text)))


def _unfolding(summary, content):
    return f"<details><summary>{summary}</summary>{content}</details>"
