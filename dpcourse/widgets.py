"""Sliders under the pictures of `plots`."""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from dpcourse import plots
from dpcourse.base.languages import say
from dpcourse.notebook import aria

KEPT = 100
"""So many drawn pictures of an explorer are kept, about 60 kB each."""
STILL, PAUSE = 0.15, 0.02
"""Seconds without a move before pictures are drawn ahead, and between them, so that a key waits for one of them at most."""


PLAYED = 600
"""Milliseconds from one step of a picture that plays to the next."""


def explore(picture: Callable[..., str], *, play: str | None = None, **sliders: ipywidgets.Widget) -> None:
    """Show a picture with one slider per argument, drawn anew whenever a slider moves; a still image without a kernel.

    picture: a function of `plots`. play: the argument whose slider a button moves to its end, step by step; nothing moves
    before somebody presses it. sliders: argument name -> a widget of `slider` or `choice`.
    """
    data, metadata = plots.as_output(picture, **{name: slider.value for name, slider in sliders.items()})
    image = ipywidgets.HTML(data["text/html"])
    controls = [
        ipywidgets.HBox([slider, _player(slider)], layout={"flex_flow": "row wrap"}) if name == play else slider
        for name, slider in sliders.items()
    ]
    box = ipywidgets.VBox([*controls, image, aria.names()])
    box.add_class("dpcourse-explorer")
    _Drawing(picture, sliders, image).follow(box)
    aria.show(box, data, metadata)


def _player(control):
    """Return a button that moves a slider from where it stands to its end, and again from its beginning."""
    values = _values(control)
    player = ipywidgets.Play(min=0, max=len(values) - 1, interval=PLAYED, show_repeat=False)
    place = lambda value: min(range(len(values)), key=lambda i: abs(values[i] - value))  # noqa: E731
    if isinstance(control, ipywidgets.SelectionSlider):
        place = values.index
    player.value = place(control.value)
    ipywidgets.link((player, "value"), (control, "value"), transform=(values.__getitem__, place))
    return player


def _values(control):
    """Return the values at which a slider may stand, in order."""
    if isinstance(control, ipywidgets.SelectionSlider):
        return [value for _, value in control.options]
    low, high = control.min, control.max
    steps = [low + i * control.step for i in range(round((high - low) / control.step) + 1)]
    return [control.base**step for step in steps] if isinstance(control, ipywidgets.FloatLogSlider) else steps


class _Drawing:
    """Draws where the sliders stand and, while nobody moves them, one step further on each: the next key finds it drawn."""

    def __init__(self, picture, sliders, image):
        self.picture, self.sliders, self.image = picture, sliders, image
        self.drawn = {_key(self.values()): image.value}
        self.waiting: asyncio.TimerHandle | None = None

    def follow(self, box):
        """Draw at each move, and ahead once a front end shows the box."""
        for control in self.sliders.values():
            control.observe(self.moved, names="value")
        box._view_count = 0  # from now on the front end counts
        box.observe(self.shown, names="_view_count")

    def shown(self, change):
        if change.new:
            self.rest(change)

    def values(self):
        return [control.value for control in self.sliders.values()]

    def moved(self, change):
        self.image.value = self.html(self.values())
        self.rest(change)

    def html(self, values):
        """Return the picture for these values of the sliders, drawn if it is not among those kept."""
        key = _key(values)
        drawn = self.drawn.pop(key, None) or plots.as_html(self.picture, **dict(zip(self.sliders, values, strict=True)))
        self.drawn[key] = drawn  # as the last one
        if len(self.drawn) > KEPT:
            del self.drawn[next(iter(self.drawn))]
        return drawn

    def rest(self, change):
        """Begin to draw ahead when nothing has moved for a while, first along the slider that moved last."""
        if self.waiting:
            self.waiting.cancel()
        now = self.values()
        last_first = sorted(enumerate(self.sliders.values()), key=lambda place: place[1] is not change.owner)
        ahead = [[*now[:i], value, *now[i + 1 :]] for i, control in last_first for value in _beside(control)]
        self.later([values for values in ahead if _key(values) not in self.drawn], STILL)

    def later(self, ahead, seconds):
        try:
            self.waiting = asyncio.get_running_loop().call_later(seconds, self.draw_ahead, ahead) if ahead else None
        except RuntimeError:  # no loop runs that could come back to it
            self.waiting = None

    def draw_ahead(self, ahead):
        first, *others = ahead
        self.html(first)
        self.later(others, PAUSE)


def _key(values):
    """Return a float comes back from the front end with other last digits."""
    return tuple(f"{value:.9g}" if isinstance(value, float) else value for value in values)


def _beside(control):
    """Return the values one step from where a slider stands."""
    if isinstance(control, ipywidgets.SelectionSlider):
        values = [value for _, value in control.options]
        return [values[i] for i in (control.index + 1, control.index - 1) if 0 <= i < len(values)]
    if isinstance(control, ipywidgets.FloatLogSlider):
        at = math.log(control.value, control.base)
        return [control.base**to for to in (at + control.step, at - control.step) if control.min <= to <= control.max]
    return [
        to for to in (control.value + control.step, control.value - control.step) if control.min <= to <= control.max
    ]


def choice(label: str, options: Sequence, start: Any = None) -> ipywidgets.SelectionSlider:
    """Return a labelled slider that steps through texts or numbers, from the first of them or from `start`."""
    shown = [say(option) if isinstance(option, str) else f"{option:,}" for option in options]
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
    """Return a labelled slider from low to high; whole numbers where `start` is one, powers of ten where `log`.

    Where `log`, its steps are counted from `start`, so `low` may lie less than a step below its least value.

    readout: how a logarithmic slider shows its value, in d3-format's language.
    """
    common = _looks(label)
    if log:
        step = step or 0.05
        below = math.floor((math.log10(start) - math.log10(low)) / step + 1e-9)
        least = math.log10(start) - below * step  # else the front end moves the start to a step
        return ipywidgets.FloatLogSlider(
            value=start, min=least, max=math.log10(high), step=step, readout_format=readout, **common
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
        "layout": {"width": "98%", "min_width": "min(26em, 100%)", "max_width": "46em"},
    }
