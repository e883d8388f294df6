"""The pictures of the lessons; `show` shows one.

A picture is a function in `dpcourse/course/<lesson>/pictures.py` that draws on a matplotlib Figure and returns its
description: the same function is shown once as a still image (`show`) and once under sliders (`widgets.explore`). The
description is the image's alt text. All of them are found here under their own names, and so is what the CHOICES of a
pictures.py names: values from which a slider lets the learner choose.
"""

import base64
import functools
import html
import inspect
import io
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib
from matplotlib import font_manager
from matplotlib.figure import Figure

from dpcourse import course
from dpcourse.base import languages

STYLE: Any = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10.5,
    "axes.titley": 1.0,  # else every tick label is laid out once more, to find the title's place
    "figure.subplot.bottom": 0.16,
    "figure.subplot.left": 0.1,
    "figure.subplot.right": 0.98,
    "figure.subplot.top": 0.9,
    "figure.subplot.wspace": 0.28,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "svg.hashsalt": "dpcourse",  # the same bytes every time
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


def _style():
    """Return STYLE, with the font of the chosen language behind matplotlib's own."""
    language = languages.chosen()
    name = _font(languages.font(language), languages.FONT.format(language))
    return STYLE | {"font.family": [*matplotlib.rcParams["font.sans-serif"][:1], name]} if name else STYLE


@functools.cache
def _font(file, name):
    """Return the name, once matplotlib knows the font in the file; None without one."""
    if file:
        font_manager.fontManager.addfont(file)
        return name
    return None


WIDTH = 792  # pixels, where there is room
SIZE = f"width:{WIDTH}px;max-width:100%;min-width:560px;height:auto;background:white"
LOOKS = (
    "<style>:is([data-jp-theme-light=false],[data-theme=dark],[theme=dark],.vscode-dark) .dpcourse-picture img"
    "{filter:invert(.93) hue-rotate(180deg)}"
    ".dpcourse-picture::-webkit-scrollbar{height:8px}"
    ".dpcourse-picture::-webkit-scrollbar-thumb{background:#888;border-radius:4px}</style>"
)
"""In a dark theme white becomes the ground, black nearly white, and a hue stays: what can be seen here is seen there. Where
the page is narrow, what scrolls has a bar, which some systems would hide."""


def of_lesson(lesson: course.Lesson) -> dict[str, object]:
    """Return name -> picture of one lesson, and name -> values of its CHOICES; a pack may have none."""
    if not lesson.has("pictures"):
        return {}
    module = lesson.part("pictures")
    chosen = {name: getattr(module, name) for name in getattr(module, "CHOICES", ())}
    functions = inspect.getmembers(module, inspect.isfunction)
    return {name: it for name, it in functions if it.__module__ == module.__name__ and is_picture(it)} | chosen


def is_picture(function: Callable) -> bool:
    """Return whether a function is a picture: it has a public name, and its first argument is a `figure`."""
    first = next(iter(inspect.signature(function).parameters), None)
    return first == "figure" and not function.__name__.startswith("_")


def of_all(lessons: Iterable[course.Lesson]) -> dict[str, object]:
    """Return name -> picture of several lessons. ImportError for a name that two lessons have."""
    found: dict[str, object] = {}
    words: dict[str, str] = {}
    for lesson in lessons:
        for name, value in of_lesson(lesson).items():
            if name in found:
                raise ImportError(
                    f"{lesson.word}/pictures.py and {words[name]}/pictures.py both have a picture named {name!r}"
                )
            found[name], words[name] = value, lesson.word
    return found


globals().update(of_all(course.lessons()))


def show(picture: Callable[..., str], **arguments: Any) -> None:
    """Show a picture as an image with alt text; prints nothing.

    picture: a function (figure, **arguments) -> description.
    """
    from IPython.display import display

    data, metadata = as_output(picture, **arguments)
    display(data, metadata=metadata, raw=True)


def as_html(picture: Callable[..., str], **arguments: Any) -> str:
    """Return a picture as HTML: sharp at every size, never too small to be read, and dark where the theme is."""
    return _html(*_drawn(picture, arguments))


def as_output(picture: Callable[..., str], **arguments: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Return (data, metadata) of a notebook's output: HTML, an image for previews without HTML, the description."""
    figure, description = _drawn(picture, arguments)
    data = {"text/html": _html(figure, description), "image/png": _png(figure), "text/plain": description}
    return data, {"image/png": {"width": WIDTH, "alt": description}}


def _drawn(picture, arguments):
    with matplotlib.rc_context(_style()):
        figure = Figure(figsize=(7.2, 3.3), dpi=WIDTH / 7.2)
        return figure, picture(figure, **arguments)


def _html(figure, description):
    with matplotlib.rc_context(_style()), io.BytesIO() as svg:
        figure.savefig(svg, format="svg", metadata={"Creator": None, "Date": None})
        data = base64.b64encode(svg.getvalue()).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(description)}" style="{SIZE}">'
    return f'{LOOKS}<div class="dpcourse-picture" style="overflow-x:auto">{image}</div>'


def _png(figure):
    from PIL import Image

    density = 2
    with matplotlib.rc_context(_style()), io.BytesIO() as pixels, io.BytesIO() as png:
        figure.savefig(pixels, format="rgba", dpi=density * figure.dpi)
        size = tuple(int(density * side) for side in figure.bbox.size)
        image = Image.frombytes("RGBA", size, pixels.getvalue()).convert("RGB")
        image.quantize(64, dither=Image.Dither.NONE).save(png, format="png")
        return base64.b64encode(png.getvalue()).decode()
