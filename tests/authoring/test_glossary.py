"""The glossary: no lesson uses a symbol that is not in it, and each entry is where it says."""

import re
from functools import cache
from pathlib import Path

import pytest

from dpcourse import course
from dpcourse.authoring import build, glossary, navigation

ROOT = Path(__file__).parents[2]
LESSONS = {source.stem[:2]: source for source in build.sources(ROOT)}
GLOSSARY = ROOT / "solutions" / "glossary.md"
pytestmark = pytest.mark.every_case  # a row is soon changed in one place of two

every_lesson = pytest.mark.parametrize("number", LESSONS)

# What everybody has met at school, and what only places or scales things. Every other command is a symbol.
ORDINARY = {
    r"\frac", r"\tfrac", r"\sqrt", r"\left", r"\right", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\underbrace",
    r"\displaystyle", r"\quad", r"\qquad", r"\dots", r"\cdot", r"\le", r"\ge", r"\ne", r"\approx", r"\pm", r"\to",
    r"\longrightarrow", r"\in", r"\infty", r"\max", r"\min", r"\sum", r"\prod", r"\int", r"\exp", r"\tanh",
    r"\lvert", r"\rvert", r"\rVert",
}  # fmt: skip
ACCENTS = {r"\bar", r"\tilde", r"\hat", r"\underline"}
OPERATORS = (r"\otimes", r"\circ", r"\times")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[A-Z]{2,}|[a-z]{3,}|[A-Za-z]|\d+|\S", re.DOTALL)
INDEX = re.compile(r"[\dijknt+,-]*")


def formulas(text):
    """The LaTeX between dollars, but for what stands in code."""
    text = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    return [display or inline for display, inline in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", text, re.DOTALL)]


def symbols(tex):
    r"""The symbols of a formula, in order: a letter, a name or a sign with its accent, primes, stars and subscript.

    A subscript that only numbers is left out, one that is a parameter is written _#, one that is a word stays.

    >>> symbols(r"\bar g + f_{\varepsilon,\delta}(D') \le \varepsilon_{tot} \cdot h^{**}")
    ['\\bar g', 'f_#,#', '\\varepsilon', '\\delta', "D'", '\\varepsilon_tot', 'h**']
    """
    tex = re.sub(r"\\(text|begin|end)\{[^{}]*\}|\\[,;!:]", " ", tex)
    return list(_symbols(TOKEN.findall(tex.replace(r"\|", r"\lVert "))))


def _symbols(tokens):
    at = 0
    while at < len(tokens):
        accent, name, after = "", tokens[at], at + 1
        if name in ACCENTS:
            accent = name + " "
            (name, *_), after = _group(tokens, after)
        elif name in (r"\mathrm", r"\mathbb"):
            letters, after = _group(tokens, after)
            name += "{" + "".join(letters) + "}"
        at = after
        if not re.match(r"\\?[A-Za-z]", name) or name in ORDINARY:
            continue
        marks, inner = "", []
        while at < len(tokens) and tokens[at] in ("'", "_", "^"):
            sign = tokens[at]
            if sign == "'":
                marks, at = marks + "'", at + 1
                continue
            part, at = _group(tokens, at + 1)
            text = "".join(part)
            if sign == "^" and set(text) == {"*"}:
                marks += text
            elif sign == "_" and re.fullmatch("[a-z]{3,}", text):
                marks += f"_{text}"
            else:
                marks += "" if sign == "^" or INDEX.fullmatch(text) else "_" + re.sub("[^,]+", "#", text)
                inner += part
        yield accent + name + marks
        yield from _symbols(inner)


def _group(tokens, at):
    """What stands in braces at this place, or the one token there; and the place behind it."""
    if tokens[at] != "{":
        return tokens[at : at + 1], at + 1
    depth, end = 1, at + 1
    while depth:
        depth += {"{": 1, "}": -1}.get(tokens[end], 0)
        end += 1
    return tokens[at + 1 : end - 1], end


def defined(cell):
    """The symbols that a symbol cell explains: of each part of its first formula the operator, or else the first."""
    found = set()
    for part in re.split(r",(?![^(]*\))(?![^{]*\})", formulas(cell)[0]):
        there = symbols(part)
        found.add(next((sign for sign in there if sign in OPERATORS), there[0]))
    return found


def rows(text, first):
    """The rows of the tables whose first column has this name, as lists of cells."""
    for table in re.findall(rf"^\| {first} \|.*\n\|[-:| ]+\|\n((?:\|.*\n)*)", text, re.MULTILINE):
        for line in table.splitlines():
            yield [cell.strip() for cell in line.strip("|").split("|")]


@cache
def symbol_rows():
    return [row for table in ("latin", "greek", "sign") for row in glossary.rows(table)]


@cache
def known():
    return {symbol for row in symbol_rows() for symbol in defined(row["symbol"])}


def explained(symbol):
    """Whether the glossary has it; a numbered one, such as G_1, may be one of a family, such as G_μ."""
    return symbol in known() or f"{symbol}_#" in known()


@cache
def notebook(source):
    return build.read(source).solved


@cache
def cells(source):
    """The Markdown cells of a page, filled in as its notebook shows them."""
    return [cell.source for cell in notebook(source).cells if cell.cell_type == "markdown"]


@cache
def in_lesson(number):
    """Pairs (symbol, formula) of a lesson."""
    found = {formula for cell in cells(LESSONS[number]) for formula in formulas(cell)}
    return {(symbol, formula) for formula in found for symbol in symbols(formula)}


@cache
def section(number, part):
    """What a numbered section of a lesson's source says, without its heading's number."""
    text = LESSONS[number].read_text(encoding="utf-8")
    return re.split(rf"^## {part}\. ", text, flags=re.MULTILINE)[1].partition("\n## ")[0]


def places(cell):
    """The (lesson, section) pairs that an entry refers to, of the lessons that are there."""
    return [place for place in navigation.REFERENCE.findall(cell) if place[0] in LESSONS]


@cache
def in_section(number, part):
    return {symbol for formula in formulas(section(number, part)) for symbol in symbols(formula)}


def to_paste(number, **row):
    """A row as it is written in the lesson's glossary.toml, and where that is; what is missing is left empty."""
    letters = re.findall("[A-Za-z]+", row["symbol"])
    table = (
        "latin"
        if "\\" not in row["symbol"]
        else "greek"
        if glossary.ALPHABETS["greek"].count(letters[0].removeprefix("var"))
        else "sign"
    )
    file = glossary.file_of(course.lesson(int(number))).relative_to(ROOT)
    columns = {column: row.get(column, "") for column in glossary.TABLES[table]}
    return f"add to {file}:\n\n[[{table}]]\n" + "\n".join(f"{name} = {quoted(it)}" for name, it in columns.items())


def quoted(text):
    """A TOML string in which a backslash is a backslash."""
    return f"'''{text}'''" if "'" in text else f"'{text}'"


# ---- laws


@every_lesson
def test_no_lesson_uses_a_symbol_that_is_not_in_the_glossary(number):
    strange = {symbol: formula for symbol, formula in in_lesson(number) if not explained(symbol)}
    parts = navigation.SECTION.findall(LESSONS[number].read_text(encoding="utf-8"))
    for symbol, formula in strange.items():
        part = next((part for part in parts if symbol in in_section(number, part)), "?")
        pytest.fail(
            f"no glossary has what stands in ${formula}$; {to_paste(number, symbol=f'${symbol}$', where=f'{number} §{part}')}"
        )


@pytest.mark.in_turn("seconds of reading sources")
def test_the_glossary_explains_no_symbol_that_no_lesson_uses():
    assert known() <= {symbol for number in LESSONS for symbol, _ in in_lesson(number)}


@every_lesson
def test_the_symbol_table_of_a_lesson_is_part_of_the_glossary(number):
    there = [
        [row["symbol"], row["read"], row["meaning"]] for row in symbol_rows() if number in dict(places(row["where"]))
    ]
    for symbol, read, meaning in rows(LESSONS[number].read_text(encoding="utf-8"), "symbol"):
        assert [symbol, read, meaning] in there, (
            f"no glossary has such a row that refers to lesson {number}; "
            + to_paste(number, symbol=symbol, read=read, meaning=meaning, where=f"{number} §?")
        )


def test_a_symbol_stands_in_the_sections_that_its_entry_refers_to():
    for row in symbol_rows():
        cell, there = row["symbol"], places(row["where"])
        missing = [place for place in there if not defined(cell) & in_section(*place)]
        assert not missing, f"{cell} does not stand in {missing}"
        assert defined(cell) <= {symbol for number, _ in there for symbol, _ in in_lesson(number)}, cell


def test_a_term_stands_in_the_sections_that_its_entry_refers_to():
    for row in glossary.rows("term"):
        assert re.search("[\u4e00-\u9fff]", row["chinese"]), f"{row['term']} has no Chinese"
        for place in places(row["where"]):
            said = section(*place).replace("*", "").lower()
            names = row["term"].split(", ")
            assert any(name.lower() in said for name in names), f"{row['term']} does not stand in {place}"


def test_no_entry_is_there_twice():
    for entries in (
        [row["term"] for row in glossary.rows("term")],
        [(row["symbol"], row["meaning"]) for row in symbol_rows()],
    ):
        assert len(entries) == len(set(entries))


def test_every_reference_is_a_link_to_a_cell_that_begins_with_the_section():
    links = re.findall(r"\[(\d\d) §(\d+)\]\((.+?)\.ipynb#cell-id=(.+?)\)", "\n".join(cells(GLOSSARY)))
    assert len(links) == sum(len(places(row["where"])) for table in glossary.TABLES for row in glossary.rows(table))
    for number, part, name, cell_id in links:
        assert name == LESSONS[number].stem
        (begin,) = [cell.source for cell in notebook(LESSONS[number]).cells if cell.id == cell_id]
        assert begin.startswith(f"## {part}. ")


def test_what_a_rule_for_symbols_says():
    assert symbols(r"\frac{p_x(z)}{p_y(z)} \le \exp\!\left(\frac{\lVert x - y\rVert_1}{b}\right)") == [
        "p_#", "x", "z", "p_#", "y", "z", r"\lVert", "x", "y", "b",
    ]  # fmt: skip
    assert symbols(r"TV(P', Q) + \mathrm{kl}(f_i)^2 + f^{-1} - f^S") == ["TV", "P'", "Q", r"\mathrm{kl}", "f", "i", "f", "f", "S"]  # fmt: skip
    assert symbols(r"\phi^*(o) - \bar\kappa_3 \text{ and so on}, \alpha_{\phi^*}") == [r"\phi*", "o", r"\bar \kappa", r"\alpha_#", r"\phi*"]  # fmt: skip
    assert formulas("$a$ and `$b$` and\n```\n$c$\n```\n$$d$$") == ["a", "d"]
    assert defined(r"$f \otimes g$, `f @ g`") == {r"\otimes"}
    assert defined(r"$T(P, Q)$") == {"T"}
    assert defined(r"$\varepsilon_{tot}, \delta_{tot}$ in $x$") == {r"\varepsilon_tot", r"\delta_tot"}


# ---- the files of the lessons

ROW = {"symbol": "$x$", "meaning": "m", "chinese": "中", "where": "03 §2"}


def glossary_file(folder, *rows, table="latin"):
    """A glossary.toml with these rows."""
    file = folder / "glossary.toml"
    blocks = (f"[[{table}]]\n" + "".join(f"{name} = {quoted(it)}\n" for name, it in row.items()) for row in rows)
    file.write_text("\n".join(blocks), encoding="utf-8")
    return file


def test_the_tables_go_by_letter_then_by_section(tmp_path):
    named = [
        (r"$\mathrm{Bin}$", "03 §1"), ("$B$", "03 §1"), ("$b_1$", "03 §9"), ("$b$", "03 §10"), (r"$\mathbb{B}$", "03 §1"),
        (r"$\tilde a$", "03 §1"), (r"$\ell$", "03 §1"),
    ]  # fmt: skip
    file = glossary_file(tmp_path, *({**ROW, "symbol": symbol, "where": where} for symbol, where in named))
    rows = glossary.read(course.lesson(3), file)["latin"]
    order = sorted(rows, key=lambda row: glossary.place("latin", row))
    assert [row["symbol"] for row in order] == [
        r"$\tilde a$", "$b_1$", "$b$", "$B$", r"$\mathbb{B}$", r"$\mathrm{Bin}$", r"$\ell$",
    ]  # fmt: skip
    places = [
        glossary.place(table, {**ROW, **row})
        for table, row in [
            ("greek", {"symbol": r"$\alpha$"}), ("greek", {"symbol": r"$\Delta f$"}), ("greek", {"symbol": r"$\varepsilon$"}),
            ("greek", {"symbol": r"$x$", "sort": r"\mu 01 §1"}), ("greek", {"symbol": r"$\mu$"}),
        ]
    ]  # fmt: skip
    assert places == sorted(places)
    assert glossary.place("sign", {**ROW, "symbol": r"$\unknown$"}) > glossary.place(
        "sign", {**ROW, "symbol": r"$\square$"}
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"meaning": ""}, "glossary.toml:7: $y$ has no `meaning`"),
        ({"chinese": ""}, "glossary.toml:7: $y$ has no `chinese`"),
        ({"symbol": ""}, "glossary.toml:7: this row has no `symbol`"),
        (
            {"reed": "y"},
            "glossary.toml:7: $y$ has a column `reed`; the columns are symbol, read, meaning, chinese, where",
        ),
        ({"where": "§3"}, "glossary.toml:7: $y$: `where` is '§3'; it names a section, such as "),
        ({"sort": "b"}, "glossary.toml:7: $y$: `sort` is 'b'; it names a section, such as "),
        (
            {"where": "01 §2, 03 §2"},
            "glossary.toml:7: $y$ is introduced in 01 §2, so it belongs into the file of that lesson",
        ),
    ],
)
def test_a_row_that_lacks_something_is_named_with_its_line(tmp_path, row, message):
    file = glossary_file(tmp_path, ROW, {**ROW, "symbol": "$y$", **row})
    with pytest.raises(navigation.SourceError, match=re.escape(message)):
        glossary.read(course.lesson(3), file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[latin]]\nsymbol = $x$", "glossary.toml:1: Invalid value"),
        ("[[symbols]]", "glossary.toml:1: there is no table 'symbols'; there are latin, greek, sign, term"),
        ("[latin]\nsymbol = 'x'", "glossary.toml:1: each row of a table begins with a line [[latin]]"),
    ],
)
def test_a_file_that_is_no_glossary_is_named(tmp_path, text, message):
    (tmp_path / "glossary.toml").write_text(text)
    with pytest.raises(navigation.SourceError, match=re.escape(message)):
        glossary.read(course.lesson(3), tmp_path / "glossary.toml")


def test_a_lesson_may_introduce_nothing(tmp_path):
    assert glossary.read(course.lesson(3), tmp_path / "glossary.toml") == {name: [] for name in glossary.TABLES}


def test_a_symbol_that_is_missing_is_shown_as_the_row_to_paste():
    assert to_paste("03", symbol="$f'$", where="03 §2") == (
        "add to dpcourse/course/gdp/glossary.toml:\n\n[[latin]]\n"
        "symbol = '''$f'$'''\nread = ''\nmeaning = ''\nchinese = ''\nwhere = '03 §2'"
    )
    assert "[[greek]]" in to_paste("03", symbol=r"$\varepsilon$", where="03 §2")
    assert "[[sign]]" in to_paste("03", symbol=r"$\cap$", where="03 §2")
