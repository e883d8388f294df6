"""What all pictures share: styles of lines and areas, and a row of panels.

Lines differ in dash and in lightness, areas in hatching, so that grey print will do.
"""

FIRST = {"color": "#12355b", "linestyle": "-", "linewidth": 2}
SECOND = {"color": "#d1690e", "linestyle": "--", "linewidth": 2}
THIRD = {"color": "#4a9c7c", "linestyle": "-.", "linewidth": 2}
FOURTH = {"color": "#9a9a9a", "linestyle": ":", "linewidth": 2.5}
DARK, LIGHT = {"color": "#12355b"}, {"facecolor": "#f3c9a0", "edgecolor": "#d1690e", "hatch": "///"}
POINT = {"color": "black", "marker": "o", "linestyle": "none", "markersize": 7, "zorder": 5}
ALPHA, BETA = "α, type I error (false alarm)", "β, type II error (miss)"  # the names of the axes of a trade-off curve


def panels(figure, count=1):
    return figure.subplots(1, count, squeeze=False)[0]
