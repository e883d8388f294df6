"""The pictures of the lessons; `show` shows one.

A picture is a function in `dpcourse/course/<lesson>/pictures.py` that draws on a matplotlib Figure and returns its
description: the same function is shown once as a still image (`show`) and once under sliders (`widgets.explore`). The
description is the image's alt text. All of them are found here under their own names.
"""

import base64
import html
import io

import matplotlib
from matplotlib.figure import Figure

from dpcourse import course, frame

STYLE = {
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


def _found():
    """name -> picture, or a dict of what they can show. Raises ImportError for a name used twice."""
    found = {}
    for lesson in course.lessons():
        module = lesson.part("pictures")
        for name, value in vars(module).items():
            is_drawn_here = getattr(value, "__module__", None) == module.__name__
            if not name.startswith("_") and (is_drawn_here or (isinstance(value, dict) and not hasattr(frame, name))):
                if name in found:
                    raise ImportError(f"{module.__name__}: another lesson has a picture named {name!r} already")
                found[name] = value
    return found


globals().update(_found())


def show(picture, **arguments):
    """Show a picture as an image with alt text; prints nothing.

    picture: a function (figure, **arguments) -> description.
    """
    from IPython.display import display

    image, description = as_image(picture, **arguments)
    display({"text/html": image, "text/plain": description}, raw=True)


def as_image(picture, **arguments):
    """(HTML img element, description) of a picture."""
    png = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 3.3), dpi=110)
        description = picture(figure, **arguments)
        figure.savefig(png, format="png", metadata={"Software": None}, pil_kwargs={"compress_level": 1})
    data = base64.b64encode(png.getvalue()).decode()
    style = "max-width:100%;height:auto;background:white"
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(description)}" style="{style}">', description
