"""Sliders under the pictures of `plots`."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from dpcourse import aria, plots


def explore(picture: Callable[..., str], **sliders: ipywidgets.Widget) -> None:
    """Show a picture with one slider per argument; it is drawn anew whenever one moves.

    picture: a function of `plots`. sliders: argument name -> a widget of `slider` or `choice`.
    """
    from IPython.display import display

    image = ipywidgets.HTML()

    def draw(change=None):
        image.value, _ = plots.as_image(picture, **{name: slider.value for name, slider in sliders.items()})

    for control in sliders.values():
        control.observe(draw, names="value")
    draw()
    box = ipywidgets.VBox([*sliders.values(), image, aria.names()])
    box.add_class("dpcourse-explorer")
    still = "An explorer with sliders. It needs a running kernel; the figure above shows the same picture, still."
    display({**box._repr_mimebundle_(), "text/plain": still, "text/html": f"<p><em>{still}</em></p>"}, raw=True)


def choice(label: str, options: Sequence, start: Any = None) -> ipywidgets.SelectionSlider:
    """A labelled slider that steps through a list of texts or numbers; from the first of them, or from `start`."""
    shown = [option if isinstance(option, str) else f"{option:,}" for option in options]
    return ipywidgets.SelectionSlider(
        options=list(zip(shown, options, strict=True)), value=options[0] if start is None else start, **_looks(label)
    )


def slider(
    label: str,
    low: float,
    high: float,
    start: float,
    step: float | None = None,
    log: bool = False,
    readout: str = ".2g",
) -> ipywidgets.Widget:
    """A labelled slider from low to high; whole numbers where `start` is one, powers of ten where `log`.

    readout: how a logarithmic slider shows its value, in d3-format's language.
    """
    common = _looks(label)
    if log:
        from math import log10

        return ipywidgets.FloatLogSlider(
            value=start, min=log10(low), max=log10(high), step=step or 0.05, readout_format=readout, **common
        )
    if isinstance(start, int):
        return ipywidgets.IntSlider(value=start, min=low, max=high, step=step or 1, **common)
    return ipywidgets.FloatSlider(
        value=start, min=low, max=high, step=step or (high - low) / 100, readout_format=".2f", **common
    )


def _looks(label):
    return {
        "description": label,
        "style": {"description_width": "11em"},
        "layout": {"width": "98%", "min_width": "26em", "max_width": "46em"},
    }
