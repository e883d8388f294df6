"""What the code says in other languages: the catalogues follow the code, and what they lack is said in English."""

import pytest

from dpcourse.authoring import catalogues
from dpcourse.base import languages
from dpcourse.base.languages import again, counted, say
from dpcourse.commands.shared import helps

CODE = """from dpcourse.base.languages import counted, say, to_say
TABLE = {"a": to_say("in a table")}
say("{n:,} people, "
     "in two lines", n=1)
counted("{count} run", "{count} runs", count=2)
say(TABLE["a"])
print("not said")
"""


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A package of one room, whose catalogues are those of a made-up language."""
    package = tmp_path / "dpcourse"
    (package / "engine").mkdir(parents=True)
    (package / "locale" / "xx").mkdir(parents=True)
    package.joinpath("engine", "all.py").write_text(CODE)
    monkeypatch.setattr(catalogues, "PACKAGE", package)
    monkeypatch.setattr(languages, "CATALOGUES", package / "locale")
    monkeypatch.setattr(catalogues, "_declared", lambda lesson: ())
    monkeypatch.setattr(catalogues, "_helps", lambda: ())
    languages.forget()
    yield package
    languages.forget()


def translate(house, *pairs):
    """Fill in what the catalogue has empty."""
    file = house / "locale" / "xx" / "engine.po"
    text = file.read_text()
    for message, translated in pairs:
        at = text.index(message)
        text = text[:at] + text[at:].replace('""', f'"{translated}"', 1)
    file.write_text(text)


def test_the_catalogues_follow_the_code(house):
    file = house / "locale" / "xx" / "engine.po"
    assert catalogues.update() == [file]
    assert catalogues.update() == [], "the same code gives the same file"
    assert list(catalogues.messages()) == ["engine"]
    assert set(catalogues.messages()["engine"]) == {"in a table", "{n:,} people, in two lines", ("{count} run", "{count} runs")}  # fmt: skip
    translate(house, ("in a table", "EN LA MESA"), ("{n:,} people", "DOS {n:,}"), ("msgstr[0]", "{count} VEZ"), ("msgstr[1]", "{count} VECES"))  # fmt: skip
    assert len(catalogues.update()) == 1
    assert again("in a table", "xx") == "EN LA MESA"
    assert again(say("{n:,} people, in two lines", n=1000), "xx") == "DOS 1,000"
    assert [again(counted("{count} run", "{count} runs", count=n), "xx") for n in (1, 2)] == ["1 VEZ", "2 VECES"]
    assert list(catalogues.complaints("xx")) == []
    assert list(catalogues.behind("xx")) == ["xx: 3 of 3 messages of the code (100 %) are translated."]


def test_what_has_changed_in_english_is_said_in_english(house):
    catalogues.update()
    translate(house, ("in a table", "EN LA MESA"))
    catalogues.update()
    house.joinpath("engine", "all.py").write_text(CODE.replace("in a table", "in the table"))
    file = house / "locale" / "xx" / "engine.po"
    assert list(catalogues.behind("xx")) == [
        f"{file}: 3 of 3 messages are not translated, the first of them 'in the table' (dpcourse/engine/all.py)",
        "xx: 0 of 3 messages of the code (0 %) are translated.",
    ]
    assert len(catalogues.update()) == 2, "the catalogue, and what is compiled of it"
    assert '#, fuzzy\nmsgid "in the table"\nmsgstr "EN LA MESA"' in file.read_text()
    assert again("in the table", "xx") == "in the table", "fuzzy entries are not shown"


@pytest.mark.parametrize(
    ("translated", "fault"),
    [
        ("DOS 3 `f`", "must have the fields of"),
        ("{m} DOS {n} 3 `f`", "must have the fields"),
        ("{n} DOS `f`", "lacks the number 3"),
        ("{n} DOS 3 4 `f`", "has the number 4"),
        ("{n} DOS 3 `g`", "lacks the code `f`"),
    ],
)
def test_a_translation_that_says_something_else_is_named_and_not_shown(house, translated, fault):
    house.joinpath("engine", "all.py").write_text("say('{n:,} people, at most 3, by `f`', n=1)")
    catalogues.update()
    translate(house, ("{n:,} people", translated))
    catalogues.update()
    complaint, *_ = map(str, catalogues.complaints("xx"))
    assert fault in complaint
    assert "engine.po:" in complaint
    assert again(say("{n:,} people, at most 3, by `f`", n=1), "xx") == "1 people, at most 3, by `f`"


def test_a_catalogue_that_is_not_compiled_is_named(house):
    catalogues.update()
    translate(house, ("in a table", "EN LA MESA"))
    (complaint,) = map(str, catalogues.complaints("xx"))
    assert complaint.endswith("engine.mo:1: is not what engine.po gives: run `dpcourse build`")


def test_one_message_is_said_in_one_way(house):
    (house / "probe").mkdir()
    house.joinpath("probe", "all.py").write_text("say('in a table')")
    catalogues.update()
    translate(house, ("in a table", "EN LA MESA"))
    house.joinpath("locale", "xx", "probe.po").write_text('msgid "in a table"\nmsgstr "EN UNA MESA"\n')
    catalogues.update()
    (complaint,) = map(str, catalogues.complaints("xx"))
    assert "'in a table' is said otherwise in engine.po" in complaint


def test_a_file_that_is_no_catalogue_is_named(house):
    catalogues.update()
    house.joinpath("locale", "xx", "engine.po").write_text("nonsense\n")
    with pytest.raises(catalogues.SourceError, match=r"engine\.po:\d+: "):
        catalogues.read(house / "locale" / "xx" / "engine.po", "xx")


def test_every_message_is_a_literal():
    """What is put together before it is said has lost its fields."""
    import ast

    for file in sorted(catalogues.PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("say", "counted", "to_say"):
                glued = [each for each in node.args if isinstance(each, ast.JoinedStr | ast.BinOp)]
                assert not glued, (
                    f"{file}:{node.lineno}: {ast.unparse(glued[0])}: a literal with named fields is wanted"
                )


def test_all_that_the_help_of_the_commands_says_is_in_a_catalogue():
    found = {message for said in catalogues.messages().values() for message in said}
    assert [text for *_, text in helps() if text not in found] == []
