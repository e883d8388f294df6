"""What all pictures share: their style, and how one is shown.

A picture is a function that draws on a matplotlib Figure and returns its description: the same function is
shown once as a still image (`show`) and once under sliders (`widgets.explore`). The description is the
image's alt text. Lines differ in dash and in lightness, areas in hatching, so that grey print will do.
"""

import base64
import html
import io

import matplotlib
from matplotlib.figure import Figure

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
FIRST = {"color": "#12355b", "linestyle": "-", "linewidth": 2}
SECOND = {"color": "#d1690e", "linestyle": "--", "linewidth": 2}
THIRD = {"color": "#4a9c7c", "linestyle": "-.", "linewidth": 2}
FOURTH = {"color": "#9a9a9a", "linestyle": ":", "linewidth": 2.5}
DARK, LIGHT = {"color": "#12355b"}, {"facecolor": "#f3c9a0", "edgecolor": "#d1690e", "hatch": "///"}


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


def panels(figure, count=1):
    return figure.subplots(1, count, squeeze=False)[0]
