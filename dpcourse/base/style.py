"""What all pictures share: styles of lines and areas, a row of panels, and how the panels of a trade-off curve look.

Lines differ in dash, areas in hatching, so that grey print will do; a line has a contrast of at least 4.5 to the
ground, on white as in the dark theme of `plots`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpcourse.base.languages import say, to_say

Look = dict[str, Any]  # keyword arguments of matplotlib

FIRST: Look = {"color": "#12355b", "linestyle": "-", "linewidth": 2}
SECOND: Look = {"color": "#b35500", "linestyle": "--", "linewidth": 2}
THIRD: Look = {"color": "#2f7f60", "linestyle": "-.", "linewidth": 2}
FOURTH: Look = {"color": "#6f6f6f", "linestyle": ":", "linewidth": 2.5}
DARK: Look = {"color": "#12355b"}
LIGHT: Look = {"facecolor": "#f3c9a0", "edgecolor": "#b35500", "hatch": "///"}
PALE, GREY = "#b5c3d1", "#e4e4e4"  # of bars and of areas that are only a background
POINT: Look = {"color": "black", "marker": "o", "linestyle": "none", "markersize": 7, "zorder": 5}
RING: Look = {"color": "black", "marker": "o", "linestyle": "none", "fillstyle": "none"}  # with a markersize

FALSE_ALARMS, MISSES = to_say("α, false alarms"), to_say("β, misses")  # the names of the axes of a trade-off curve
# the same, where there is room
TYPE_I, TYPE_II = to_say("α, type I error (false alarm)"), to_say("β, type II error (miss)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
HALVES, FIFTHS = (0, 0.5, 1), (0, 0.2, 0.4, 0.6, 0.8, 1)


def panels(figure: Figure, count: int = 1) -> Any:
    """Return a row of so many panels, each a matplotlib Axes."""
    return figure.subplots(1, count, squeeze=False)[0]


def unit_square(
    panel: Axes, low: float = 0.0, ticks: Sequence[float] = FIFTHS, alpha: str = TYPE_I, beta: str = TYPE_II
) -> None:
    """Make a panel the square of a trade-off curve, from `low` upwards; alpha, beta: the names of its axes."""
    panel.set_xlim(0, 1)
    panel.set_ylim(low, 1.02)
    panel.set_xticks(ticks)
    panel.set_yticks(ticks)
    panel.set_xlabel(say(alpha))
    panel.set_ylabel(say(beta))


def logarithmic(panel: Axes, *ticks: float) -> None:
    """Set the ticks of an axis that shows natural logarithms; much faster than matplotlib's logarithmic scale."""
    panel.set_xticks(np.log(ticks), [f"{tick:g}" for tick in ticks])
    panel.set_xlim(np.log(ticks[0]), np.log(ticks[-1]))


def power(value: float) -> str:
    """Return a small number as people write it, to one digit.

    >>> power(1e-5), power(0.00032), power(0.02)
    ('10⁻⁵', '3·10⁻⁴', '0.02')
    """
    if value >= 0.005:
        return f"{value:.1g}"
    digit, exponent = f"{value:.0e}".split("e")
    raised = f"10{exponent.replace('-0', '-').translate(RAISED)}"
    return raised if digit == "1" else f"{digit}·{raised}"


def levels(least: float = 1e-5, between: int = 240) -> np.ndarray:
    """Return values of alpha from 0 to 1: `between` of them in the middle, and 40 down to `least` at either end."""
    middle = np.linspace(0.022, 0.978, between)
    return np.r_[0, np.geomspace(least, 0.02, 40), middle, 1 - np.geomspace(0.02, least, 40), 1]
