"""The pictures of lesson 00."""

import math

import numpy as np

from dpcourse.base import validate
from dpcourse.base.languages import say, sentences
from dpcourse.base.style import DARK, FIRST, FOURTH, LIGHT, panels

WIDTHS = [digit * 10.0**power for power in range(-4, 2) for digit in (1, 3)]  # of an axis, to both sides of the truth


def neighbours(figure) -> str:
    """A table of five people, the same without Mia's row, and the same with another answer in it."""
    yes, no = say("yes"), say("no")
    ada, ben, mia, omar, zoe = say("Ada"), say("Ben"), say("Mia"), say("Omar"), say("Zoe")
    people = [[ada, no], [ben, yes], [mia, yes], [omar, no], [zoe, no]]
    tables = [
        (say("the data set: 5 people"), people),
        (say("her row removed: 4 people"), people[:2] + people[3:]),
        (say("another answer: 5 people"), [*people[:2], [mia, no], *people[3:]]),
    ]
    for panel, (title, rows) in zip(panels(figure, 3), tables, strict=True):
        panel.axis("off")
        panel.set_title(title)
        table = panel.table(rows, colLabels=[say("name"), say("answer")], loc="upper center", cellLoc="left")
        table.scale(1, 2.4)
        table.set_fontsize(11)
        for column in (0, 1) if len(rows) == 5 else ():
            table[3, column].set_facecolor("#f3c9a0")
            table[3, column].set_linewidth(2)
    return say(
        "Three tables of names and answers. The first has Ada, Ben, Mia, Omar and Zoe. The second is the same "
        "without Mia's row. In the third Mia's row is there, with no in the place of yes."
    )


def response(figure, epsilon) -> str:
    """Chances of each report of randomized response, for a true yes beside a true no."""
    epsilon = validate.number("epsilon", epsilon, low=0)
    keep = 1 / (1 + math.exp(-epsilon))
    (panel,) = panels(figure)
    for shift, chances, style, label in [
        (-0.18, (keep, 1 - keep), DARK, say("true answer: yes")),
        (0.18, (1 - keep, keep), LIGHT, say("true answer: no")),
    ]:
        bars = panel.bar(np.arange(2) + shift, chances, 0.34, label=label, **style)
        panel.bar_label(bars, [f"{chance:.3g}" for chance in chances], fontsize=9, padding=2)
    panel.set_xticks([0, 1], [say('report "yes"'), say('report "no"')])
    panel.set_ylim(0, 1.18)
    panel.set_ylabel(say("probability"))
    panel.set_title(
        say(
            "ε = {epsilon:.2g}: the taller bar of each pair is e^ε = {ratio:.3g} times the shorter one",
            epsilon=epsilon,
            ratio=math.exp(epsilon),
        )
    )
    panel.legend(loc="upper center", ncols=2)
    return say(
        "Two pairs of bars for epsilon {epsilon:.2g}. A report of yes has probability {keep:.2f} if the true "
        "answer is yes and {flip:.2f} if it is no; for a report of no it is the other way round. The ratio is "
        "{ratio:.3g}.",
        epsilon=epsilon,
        keep=keep,
        flip=1 - keep,
        ratio=math.exp(epsilon),
    )


def response_error(figure, epsilon, n, share=0.32, estimates=()) -> str:
    """How far the debiased share of n reports strays from the true share; estimates: some that were made, or none."""
    epsilon, n = validate.number("epsilon", epsilon, low=0, open_low=True), validate.whole("n", round(n))
    error = 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(n))
    left, right = panels(figure, 2)
    wide = next(width for width in WIDTHS if width > 4 * error)
    x = np.linspace(share - wide, share + wide, 600)
    left.plot(x, np.exp(-(((x - share) / error) ** 2) / 2), **FIRST, label=say("by the formula"))
    if len(estimates):
        heights, edges = np.histogram(estimates, bins=24)
        density = heights / len(estimates) / np.diff(edges)
        left.stairs(
            density * error * math.sqrt(2 * math.pi),
            edges,
            **LIGHT,
            label=say("{surveys:,} surveys", surveys=len(estimates)),
        )
        left.legend(loc="upper left", handlelength=1)  # short of the dotted line
    left.axvspan(share - 1.96 * error, share + 1.96 * error, color="#dddddd", zorder=0)
    left.axvline(share, **FOURTH)
    left.set_yticks([])
    left.set_ylim(0, 1.65 if len(estimates) else 1.15)
    left.set_ylabel(say("how often"))
    left.set_xlim(share - wide, share + wide)
    left.set_xlabel(say("estimated share of yes"))
    left.set_title(say("95% of the estimates: {share:.2f} ± {reach:.2g}", share=share, reach=1.96 * error))
    grid = np.geomspace(0.05, 5, 200)
    right.loglog(grid, 1 / (2 * np.sinh(grid / 2) * math.sqrt(n)), **FIRST, subs=[2, 5])  # each tick takes its time
    right.plot([epsilon], [error], "o", color="#b35500", markersize=9)
    right.set_xlabel("ε")
    right.set_ylim(3e-5, 5)
    right.set_ylabel(say("standard error"))
    right.set_title(f"ε = {epsilon:.2g}, n = {n:,}: {error:.2g}")
    curve = say(
        "Left: a bell curve of estimates around the true share {share:.2f}, on an axis that ends {wide:g} to both sides; "
        "95 percent lie within {reach:.2g} of it.",
        share=share,
        wide=wide,
        reach=1.96 * error,
    )
    seen = say("A histogram of {estimates:,} estimates follows it.", estimates=len(estimates))
    falling = say(
        "Right: the standard error falls as epsilon grows; at epsilon {epsilon:.2g} and {n:,} people it is {error:.2g}.",
        epsilon=epsilon,
        n=n,
        error=error,
    )
    return sentences([curve, *([seen] if len(estimates) else []), falling])
