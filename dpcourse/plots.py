"""The pictures of the lessons; `show` shows one.

A picture is a function in `dpcourse/course/<lesson>/pictures.py` that draws on a matplotlib Figure and returns its
description: the same function is shown once as a still image (`show`) and once under sliders (`widgets.explore`). The
description is the image's alt text. All of them are found here under their own names, and so is what the CHOICES of a
pictures.py names: values from which a slider lets the learner choose.
"""

import base64
import html
import inspect
import io
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from dpcourse import course

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
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


def of_lesson(lesson: course.Lesson) -> dict[str, object]:
    """name -> picture of one lesson, and what its CHOICES names; a pack may have none."""
    if not lesson.has("pictures"):
        return {}
    module = lesson.part("pictures")
    chosen = {name: getattr(module, name) for name in getattr(module, "CHOICES", ())}
    functions = inspect.getmembers(module, inspect.isfunction)
    return {name: it for name, it in functions if it.__module__ == module.__name__ and is_picture(it)} | chosen


def is_picture(function: Callable) -> bool:
    """Whether it is a function that draws: the first thing that it takes is a `figure`."""
    return next(iter(inspect.signature(function).parameters), None) == "figure"


def of_all(lessons: Iterable[course.Lesson]) -> dict[str, object]:
    """The same of several lessons. ImportError for a name that two of them have."""
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

    image, description = as_image(picture, **arguments)
    display({"text/html": image, "text/plain": description}, raw=True)


def as_image(picture: Callable[..., str], **arguments: Any) -> tuple[str, str]:
    """(HTML img element, description) of a picture."""
    png = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 3.3), dpi=110)
        description = picture(figure, **arguments)
        figure.savefig(png, format="png", metadata={"Software": None}, pil_kwargs={"compress_level": 1})
    data = base64.b64encode(png.getvalue()).decode()
    style = "max-width:100%;height:auto;background:white"
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(description)}" style="{style}">', description
