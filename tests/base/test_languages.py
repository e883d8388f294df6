"""The language of a process: chosen, else that of the environment, else English; and what is said in it."""

import gettext
import json

import numpy as np
import pytest

import dpcourse
from dpcourse.base import languages
from dpcourse.base.languages import again, as_data, counted, from_data, listed, say, sentences


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    """A copy with lessons in two languages, and a catalogue for a third."""
    for name in ("lessons/xx", "package/locale/yy", "lessons/.ipynb_checkpoints"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(languages, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(languages, "CATALOGUES", tmp_path / "package" / "locale")
    monkeypatch.setattr(languages, "_chosen", [])
    monkeypatch.delenv(languages.CHOICE, raising=False)


def test_the_last_choice_counts(monkeypatch):
    assert languages.chosen() == "en"
    monkeypatch.setenv(languages.CHOICE, "yy")
    assert languages.chosen() == "yy"
    dpcourse.language("xx")
    assert languages.chosen() == "xx"
    dpcourse.language("en")
    assert languages.chosen() == "en"


def test_a_language_that_is_not_there_is_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"^there is no language 'fr'; there are: en, xx, yy$"):
        dpcourse.language("fr")
    assert languages.chosen() == "en"
    monkeypatch.setenv(languages.CHOICE, "fr")
    with pytest.raises(ValueError, match="no language 'fr'"):
        languages.chosen()


@pytest.mark.parametrize("name", ["xx", "XX", "xx_CN", "xx-CN", "xx_CN.UTF-8", "xx-Hans-CN", "xx@pinyin"])
def test_a_language_is_named_as_a_system_names_it(name, monkeypatch):
    dpcourse.language(name)
    assert languages.chosen() == "xx"
    monkeypatch.setattr(languages, "_chosen", [])
    monkeypatch.setenv(languages.CHOICE, name)
    assert languages.chosen() == "xx"


def test_of_two_regions_each_is_known_by_its_own_name(tmp_path):
    (tmp_path / "lessons/xx_YY").mkdir()
    found = {name: languages.known(name) for name in ("xx", "xx-yy", "xx_YY.UTF-8", "xx_ZZ")}
    assert found == {"xx": "xx", "xx-yy": "xx_YY", "xx_YY.UTF-8": "xx_YY", "xx_ZZ": "xx"}


@pytest.mark.parametrize("name", ["xxx", "x", "_xx", "C", "."])
def test_what_only_looks_like_a_language_is_none(name):
    with pytest.raises(ValueError, match="there is no language"):
        languages.known(name)


@pytest.fixture
def zz(monkeypatch):
    """A language in which one sentence, one plural and the joining of texts are known."""
    catalogue = gettext.NullTranslations()
    catalogue.gettext = {
        "{right} of {all} are right: {which}.": "DE {all:,} {right}, {which}!",
        "the first": "EL UNO",
        "{first} {then}": "{first}{then}",
        "{first} and {then}": "{first} Y {then}",
        "wrong fields {a}": "{b}",
        "{n:.1f} %": "{n:.1f}%",
    }.get
    monkeypatch.setattr(catalogue, "gettext", lambda text, known=catalogue.gettext: known(text, text))
    monkeypatch.setattr(
        catalogue, "ngettext", lambda one, many, count: "{count} PUNTOS" if one == "{count} point" else many
    )
    monkeypatch.setattr(languages, "_catalogue", lambda folder: catalogue)
    return "zz"


def test_a_text_is_said_again_in_another_language(zz):
    text = say("{right} of {all} are right: {which}.", right=np.int64(3), all=5000, which=say("the first"))
    assert text == "3 of 5000 are right: the first."
    assert again(text, zz) == "DE 5,000 3, EL UNO!"
    assert again(again(text, zz), "en") == text
    assert again("the first", zz) == "EL UNO", "what was never said is a message"
    assert again(counted("{count} point", "{count} points", count=1), zz) == "1 PUNTOS"
    assert [counted("{count} point", "{count} points", count=n) for n in (0, 1, 2)] == [
        "0 points",
        "1 point",
        "2 points",
    ]
    assert again(sentences([text, say("the first")]), zz) == "DE 5,000 3, EL UNO!EL UNO"
    assert again(listed(["a", say("the first"), "c"]), zz) == "a, EL UNO Y c"
    assert again(say("wrong fields {a}", a=1), zz) == "wrong fields 1", (
        "a translation that cannot be filled in is not shown"
    )
    assert again(say("{n:.1f} %", n=0.25), zz) == "0.2%"
    assert say("no fields: {x} and {0}") == "no fields: {x} and {0}"
    assert say("{what:A} is it.", what=say("the first")) == "The first is it."


def test_a_text_survives_json(zz):
    text = say("{right} of {all} are right: {which}.", right=np.int64(3), all=5000, which=say("the first"))
    for each in (
        text,
        counted("{count} point", "{count} points", count=2),
        sentences([text, text]),
        "as it is",
        None,
        3,
    ):
        data = json.loads(json.dumps(as_data(each)))
        assert from_data(data) == each
        if isinstance(each, str):
            assert again(from_data(data), zz) == again(each, zz)
