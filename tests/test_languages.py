"""The language of a process: chosen, else that of the environment, else English."""

import pytest

import dpcourse
from dpcourse import languages


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
