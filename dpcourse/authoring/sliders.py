"""The explorers of a page without a kernel: the pictures at some places of their sliders, drawn beforehand.

Two sliders with a hundred places each would have ten thousand pictures, so a slider has few places here, and of more than
two each moves while the others stand where they stood at first. All pictures of an explorer are one script, which a page
loads when somebody touches a slider; what they have in common stands there once.
"""

import ast
import base64
import html
import itertools
import json
import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from dpcourse.base.cells import calls
from dpcourse.base.languages import say, speaking

MOST, EACH, LEAST = 49, 21, 3
"""Pictures of an explorer, at most; places of a slider, at most and, where it has so many, at least."""
TOGETHER = 2
"""So many sliders have a picture for all their places together."""
LOG_STEP, LINEAR_STEPS = 0.05, 100  # of `widgets.slider`, where a lesson names no step
IMAGE = re.compile(r'<img src="data:image/svg\+xml;base64,(?P<svg>[^"]*)" alt="(?P<alt>[^"]*)"')
COORDINATE = re.compile(r'(?<=[ "])-?\d+\.\d{3,}(?=[ "]|$)', re.MULTILINE)
"""A coordinate of a path or of a mark. What scales it stands in round brackets."""


@dataclass(frozen=True)
class Control:
    """A slider: its label, the places where it can stand, what it shows at each of them, and at which it stands."""

    label: str
    places: tuple[Any, ...]
    shown: tuple[str, ...]
    at: int

    def thinned(self, count: int) -> "Control":
        """The same with fewer places: both ends, where it stands, and others as evenly as can be.

        >>> choice("n", range(1, 10), 3).thinned(3)
        Control(label='n', places=(1, 3, 9), shown=('1', '3', '9'), at=1)
        """
        last = len(self.places) - 1
        kept = [round(i * last / max(count - 1, 1)) for i in range(count)]
        inner = [i for i in range(count) if self.at in (0, last) or 0 < i < count - 1]  # both ends stay
        nearest = min(inner or range(count), key=lambda i: abs(kept[i] - self.at))
        kept[nearest] = self.at
        places, shown = (tuple(of[i] for i in kept) for of in (self.places, self.shown))
        return replace(self, places=places, shown=shown, at=nearest)


@dataclass(frozen=True)
class Explorer:
    """A picture with a Control for each of its arguments; play: the argument that a button steps through."""

    picture: Callable[..., str]
    controls: dict[str, Control]
    play: str | None = None

    def thinned(self) -> "Explorer":
        """The same with at most MOST pictures, by fewer places of whatever has most; what plays comes last."""
        places = {name: min(len(control.places), EACH) for name, control in self.controls.items()}
        count = math.prod if len(places) <= TOGETHER else sum
        while count(places.values()) > MOST:
            places[max(places, key=lambda name: (places[name] > LEAST, name != self.play, places[name]))] -= 1
        return replace(self, controls={name: self.controls[name].thinned(count) for name, count in places.items()})

    def positions(self) -> list[tuple[int, ...]]:
        """Where its sliders can stand, each by the number of its place."""
        if len(self.controls) <= TOGETHER:
            return list(itertools.product(*(range(len(control.places)) for control in self.controls.values())))
        rest = tuple(control.at for control in self.controls.values())
        moved = (
            (*rest[:i], at, *rest[i + 1 :])
            for i, control in enumerate(self.controls.values())
            for at in range(len(control.places))
        )
        return list(dict.fromkeys(moved))


def slider(
    label: str,
    low: float,
    high: float,
    start: float,
    step: float | None = None,
    log: bool = False,
    readout: str = ".2g",
) -> Control:
    """The Control that `widgets.slider` makes of the same arguments.

    >>> slider("ε", 0.0, 1.0, 0.5, step=0.5)
    Control(label='ε', places=(0.0, 0.5, 1.0), shown=('0.00', '0.50', '1.00'), at=1)
    """
    is_whole = isinstance(start, int)
    step = step or (LOG_STEP if log else 1 if is_whole else (high - low) / LINEAR_STEPS)
    low, zero, high = (math.log10(end) if log else end for end in (low, start, high))
    below, above = (math.floor(abs(end - zero) / step + 1e-9) for end in (low, high))
    on_axis = [zero + count * step for count in range(-below, above + 1)]
    places = tuple(round(10.0**place if log else place, 12) for place in on_axis)
    readout = readout if log else ",.0f" if is_whole else ".2f"
    return Control(label, places, tuple(format(place, readout).replace("e-0", "e-") for place in places), below)


def choice(label: str, options: Sequence, start: Any = None) -> Control:
    """The Control that `widgets.choice` makes of the same arguments."""
    shown = tuple(str(say(option)) if isinstance(option, str) else f"{option:,}" for option in options)
    return Control(label, tuple(options), shown, 0 if start is None else list(options).index(start))


def labels(source: str) -> list[str]:
    """What is written beside the controls of an explorer."""
    made = [call.args[0] for name, call in calls(source) if name in ("widgets.slider", "widgets.choice")]
    return [str(label.value) for label in made if isinstance(label, ast.Constant)]


def explorer(source: str) -> Explorer | None:
    """The last explorer that code shows, with all places of its sliders; None where other code has computed some of it."""
    from dpcourse import plots

    shown: list[Explorer] = []

    def explore(picture, *, play=None, **controls):
        shown.append(Explorer(picture, controls, play))

    try:
        exec(source, {"plots": plots, "widgets": SimpleNamespace(explore=explore, slider=slider, choice=choice)})
    except NameError:
        return None
    return shown[-1] if shown else None


def pictures(explorer: Explorer) -> str:
    """The script with the pictures of an explorer.

    Within is JSON, packed: the pieces of all pictures, and for each position, such as "2,0", the picture's words and the
    numbers of its pieces.
    """
    from dpcourse import plots

    pieces: dict[str, int] = {}
    drawn = {}
    for position in explorer.positions():
        controls = zip(explorer.controls.items(), position, strict=True)
        page = plots.as_html(explorer.picture, **{name: control.places[at] for (name, control), at in controls})
        if image := IMAGE.search(page):
            svg = _short(base64.b64decode(image["svg"]).decode())
            numbers = [pieces.setdefault(piece, len(pieces)) for piece in re.split("(?=<)", svg)]
            drawn[",".join(map(str, position))] = html.unescape(image["alt"]), numbers
    data = json.dumps([list(pieces), drawn], ensure_ascii=False, separators=(",", ":"))
    return f'dpcoursePictures="{base64.b64encode(zlib.compress(data.encode(), 9)).decode()}"\n'


def _short(svg):
    """A picture without what nobody sees: hundredths of a point, and the indents."""
    svg = COORDINATE.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    return re.sub(r"\n\s*", "\n", svg)


def drawn(source: str, language: str) -> tuple[str, str] | None:
    """(its sliders as HTML, the script with its pictures) of the last explorer that code shows; None where it stands still."""
    with speaking(language):
        found = explorer(source)
        return (_html(found.thinned()), pictures(found.thinned())) if found else None


def _html(explorer):
    controls = "".join(_control(control, name == explorer.play) for name, control in explorer.controls.items())
    if len(explorer.controls) > TOGETHER:
        alone = say("Here one slider moves at a time; in the notebook you can move them together.")
        controls += f'<p class="aside">{html.escape(alone)}</p>'
    return controls


def _control(control, plays):
    """The HTML of a control; one that plays has a button."""
    shown, now = json.dumps(control.shown, ensure_ascii=False), html.escape(control.shown[control.at])
    play, pause = say("Play"), say("Pause")
    button = f'<button type="button" data-play="{play}" data-pause="{pause}">{play}</button>' if plays else ""
    return (
        f'<div><label>{html.escape(control.label)} <input type="range" min="0" max="{len(control.places) - 1}" '
        f'value="{control.at}" aria-valuetext="{now}" data-shown="{html.escape(shown)}"> '
        f"<output>{now}</output></label>{button}</div>"
    )
