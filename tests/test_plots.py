"""Pictures are found in the lessons' folders, under their own names."""

import base64
from types import SimpleNamespace

import pytest

from dpcourse import course, plots
from dpcourse.base import style


def lesson(word, **names):
    """A lesson whose pictures.py defines these names."""
    module = SimpleNamespace(__name__=f"{word}.pictures", **names)
    for value in names.values():
        if callable(value):
            value.__module__ = module.__name__
    return SimpleNamespace(word=word, part=lambda part: module, has=lambda part: part == "pictures")


def draw():
    return lambda figure, epsilon: "drawn"


def test_a_picture_is_a_function_of_a_figure_that_a_lesson_defines():
    picture = draw()
    first = lesson("first", panels=None, curve=picture, helper=lambda epsilon: 1, GRID=[1])
    first.part("pictures").panels = style.panels
    assert plots.of_all([first]) == {"curve": picture}


def test_choices_are_there_beside_the_pictures():
    first = lesson("first", CHOICES=("NOISES",), NOISES=[1, 2], GRID=[3])
    assert plots.of_all([first]) == {"NOISES": [1, 2]}
    assert next(iter(plots.MECHANISMS)) == "randomized response"
    assert {"noise_multiplier", "steps"} < plots.settings().keys()


def test_a_name_that_two_lessons_use_is_an_error_that_names_both():
    with pytest.raises(
        ImportError, match=r"second/pictures.py and first/pictures.py both have a picture named 'curve'"
    ):
        plots.of_all([lesson("first", curve=draw()), lesson("second", curve=draw())])


def test_every_lessons_pictures_are_in_plots():
    for each in course.lessons():
        assert all(getattr(plots, name) is value for name, value in plots.of_lesson(each).items())


def test_previews_that_show_no_html_get_an_image_with_the_same_words():
    data, metadata = plots.as_output(plots.response, epsilon=1.0)
    description = data["text/plain"]
    assert description.startswith("Two pairs of bars for epsilon 1.")
    assert f'alt="{description}"' in data["text/html"]
    assert metadata == {"image/png": {"width": 792, "alt": description}}
    assert base64.b64decode(data["image/png"])[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(base64.b64decode(data["image/png"])[16:20]) == 2 * 792, "twice as dense"
    assert plots.as_output(plots.response, epsilon=1.0) == (data, metadata)
