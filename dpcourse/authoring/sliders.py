"""The pictures of an explorer with one slider, drawn beforehand: on a page without a kernel it can be moved all the same.

An explorer of several sliders has too many: it stands still there.
"""

import ast
import html
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from dpcourse.base.cells import calls

MOST = 21
"""Places of the slider, at most, for which a picture is drawn."""
LOG_STEP, LINEAR_STEPS = 0.05, 100  # of `widgets.slider`, where a lesson names no step
IMAGE = re.compile(r'<img src="(?P<src>[^"]*)" alt="(?P<alt>[^"]*)"')


@dataclass(frozen=True)
class Slider:
    """The one slider of an explorer: what it moves of which picture, its places and at which of them it stands."""

    picture: str
    argument: str
    label: str
    places: tuple[float, ...]
    at: int
    readout: str


def controls(source: str) -> list[tuple[str, ast.Call]]:
    """(name, call) for each call that makes a control of an explorer."""
    return [(name, call) for name, call in calls(source) if name in ("widgets.slider", "widgets.choice")]


def labels(source: str) -> list[str]:
    """What is written beside the controls of an explorer."""
    return [str(call.args[0].value) for _, call in controls(source) if isinstance(call.args[0], ast.Constant)]


def slider(source: str) -> Slider | None:
    """The slider of an explorer that has one, as its cell in the notebook says it; None of any other.

    >>> slider('widgets.explore(plots.response, epsilon=widgets.slider("ε", 0.0, 5.0, 3.0, step=1.0))')
    Slider(picture='response', argument='epsilon', label='ε', places=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0), at=3, readout='.2f')
    """
    explorers = [call for name, call in calls(source) if name == "widgets.explore"]
    made = controls(source)
    if len(explorers) != 1 or [name for name, _ in made] != ["widgets.slider"]:
        return None
    control = made[0][1]
    try:
        label, low, high, start, *_ = (ast.literal_eval(argument) for argument in control.args)
        said = {word.arg: ast.literal_eval(word.value) for word in control.keywords}
    except ValueError:  # computed in the notebook
        return None
    is_log, is_whole = said.get("log", False), isinstance(start, int)
    step = said.get("step", LOG_STEP if is_log else 1 if is_whole else (high - low) / LINEAR_STEPS)
    low, zero, high = (math.log10(end) if is_log else end for end in (low, start, high))
    below, above = (math.floor(abs(end - zero) / step + 1e-9) for end in (low, high))
    stride = math.ceil((below + above + 1) / MOST)
    counts = range(-(below // stride) * stride, above + 1, stride)
    on_axis = (zero + count * step for count in counts)
    places = tuple(round(10.0**place if is_log else place, 12) for place in on_axis)
    readout = said.get("readout", ".2g") if is_log else ".0f" if is_whole else ".2f"
    (moved,) = explorers[0].keywords
    picture = ast.unparse(explorers[0].args[0]).removeprefix("plots.")
    return Slider(picture, moved.arg or "", label, places, counts.index(0), readout)


def page(source: str, still: str, draw: Callable[..., str], as_files: Callable[[str], str]) -> str:
    """The picture at rest, as HTML, with a slider that a script puts in motion; the picture alone where it is not to be had.

    draw(picture, **arguments) -> HTML with an image; as_files: puts images of HTML into files.
    """
    found = slider(source)
    if found is None or not still:
        return still
    frames = []
    for place in found.places:
        if image := IMAGE.search(as_files(draw(found.picture, **{found.argument: place}))):
            frames.append([html.unescape(image["src"]), html.unescape(image["alt"]), format(place, found.readout)])
    value = frames[found.at][2]
    control = (
        f'<label hidden>{html.escape(found.label)} <input type="range" min="0" max="{len(frames) - 1}" '
        f'value="{found.at}" aria-valuetext="{value}"> <output>{value}</output></label>'
    )
    data = html.escape(json.dumps(frames, ensure_ascii=False, separators=(",", ":")))
    return f'<div class="moving" data-frames="{data}">{control}{still}</div>'
