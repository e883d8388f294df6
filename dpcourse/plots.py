"""The pictures of the lessons.

A picture is a function that draws on a matplotlib Figure and returns its description: the same function is
shown once as a still image (`show`) and once under sliders (`widgets.explore`). The description is the
image's alt text. Lines differ in dash and in lightness, areas in hatching, so that grey print will do.
"""

import base64
import html
import io
import math

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dpcourse import composition, validate

STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10.5,
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
        figure.savefig(png, format="png", metadata={"Software": None})
    data = base64.b64encode(png.getvalue()).decode()
    style = "max-width:100%;height:auto;background:white"
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(description)}" style="{style}">', description


def _panels(figure, count=1):
    return figure.subplots(1, count, squeeze=False)[0]


# ---- lesson 00


def neighbours(figure):
    """A table of five people, the same without Mia, and the same with Mia replaced by Noa."""
    people = [["Ada", "no"], ["Ben", "yes"], ["Mia", "yes"], ["Omar", "no"], ["Zoe", "no"]]
    tables = [
        ("the data set: 5 people", people),
        ("Mia removed: 4 people", people[:2] + people[3:]),
        ("Noa for Mia: 5 people", [*people[:2], ["Noa", "no"], *people[3:]]),
    ]
    for panel, (title, rows) in zip(_panels(figure, 3), tables, strict=True):
        panel.axis("off")
        panel.set_title(title)
        table = panel.table(rows, colLabels=["name", "answer"], loc="upper center", cellLoc="left")
        table.scale(1, 2.4)
        table.set_fontsize(11)
        for column in (0, 1) if len(rows) == 5 else ():
            table[3, column].set_facecolor("#f3c9a0")
            table[3, column].set_linewidth(2)
    return (
        "Three tables of names and answers. The first has Ada, Ben, Mia, Omar and Zoe. The second is the same "
        "without Mia's row. The third is the same with Mia's row replaced by a row of Noa with another answer."
    )


def response(figure, epsilon):
    """Chances of each report of randomized response, for a true yes beside a true no."""
    epsilon = validate.number("epsilon", epsilon, low=0)
    keep = 1 / (1 + math.exp(-epsilon))
    (panel,) = _panels(figure)
    for shift, chances, style, label in [
        (-0.18, (keep, 1 - keep), DARK, "true answer: yes"),
        (0.18, (1 - keep, keep), LIGHT, "true answer: no"),
    ]:
        bars = panel.bar(np.arange(2) + shift, chances, 0.34, label=label, **style)
        panel.bar_label(bars, [f"{chance:.3g}" for chance in chances], fontsize=9, padding=2)
    panel.set_xticks([0, 1], ['report "yes"', 'report "no"'])
    panel.set_ylim(0, 1.18)
    panel.set_ylabel("probability")
    panel.set_title(
        f"ε = {epsilon:.2g}: the taller bar of each pair is $e^{{ε}}$ = {math.exp(epsilon):.3g} times the shorter one"
    )
    panel.legend(loc="upper center", ncols=2)
    return (
        f"Two pairs of bars for epsilon {epsilon:.2g}. A report of yes has probability {keep:.2f} if the true answer is yes "
        f"and {1 - keep:.2f} if it is no; for a report of no it is the other way round. The ratio is {math.exp(epsilon):.3g}."
    )


def response_error(figure, epsilon, n, share=0.32):
    """How far the debiased share of n reports strays from the true share."""
    epsilon, n = validate.number("epsilon", epsilon, low=0, open_low=True), validate.whole("n", round(n))
    error = 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(n))
    left, right = _panels(figure, 2)
    x = np.linspace(share - 4 * error, share + 4 * error, 300)
    left.plot(x, np.exp(-(((x - share) / error) ** 2) / 2), **FIRST)
    left.axvspan(share - 1.96 * error, share + 1.96 * error, color="#dddddd", zorder=0)
    left.axvline(share, **FOURTH)
    left.set_yticks([])
    left.set_ylim(0, 1.1)
    left.set_ylabel("how often")
    left.set_xlim(-0.2, 0.85)
    left.set_xlabel("estimated share of yes")
    left.set_title(f"95% of the estimates: {share:.2f} ± {1.96 * error:.2g}")
    grid = np.geomspace(0.05, 5, 200)
    right.loglog(grid, 1 / (2 * np.sinh(grid / 2) * math.sqrt(n)), **FIRST)
    right.plot([epsilon], [error], "o", color="#d1690e", markersize=9)
    right.set_xlabel("ε")
    right.set_ylim(1e-4, 3)
    right.set_ylabel("standard error")
    right.set_title(f"ε = {epsilon:.2g}, n = {n:,}: {error:.2g}")
    return (
        f"Left: a bell curve of estimates around the true share {share:.2f}; 95 percent lie within {1.96 * error:.2g} of it. "
        f"Right: the standard error falls as epsilon grows; at epsilon {epsilon:.2g} and {n:,} people it is {error:.2g}."
    )


# ---- lesson 01


def repeated(figure, epsilon, k):
    """How often a majority vote over k reports gives the bit away, below the sequential composition bound."""
    epsilon, k = validate.number("epsilon", epsilon, low=0), validate.whole("k", k)
    counts = np.arange(1, k + 1)
    guess = np.array([majority_is_right(epsilon, count) for count in counts])
    bound = 1 / (1 + np.exp(-counts * epsilon))
    (panel,) = _panels(figure)
    panel.plot(counts, bound, **SECOND, label="most that kε-DP allows")
    panel.plot(counts, guess, **FIRST, label="majority of the reports")
    panel.axhline(0.5, **FOURTH, label="a blind guess")
    panel.set_ylim(0.28, 1.02)
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel("number of reports k about the same bit")
    panel.set_ylabel("chance to guess the bit")
    panel.set_title(f"ε = {epsilon:.2g} for each report")
    panel.legend(loc="lower right", ncols=3)
    return (
        f"The chance to guess a bit from k randomized reports with epsilon {epsilon:.2g} each. The majority is right with "
        f"probability {guess[0]:.2f} after one report and {guess[-1]:.2f} after {k}. It stays below the bound for k epsilon, "
        f"which is {bound[-1]:.2f} at the end."
    )


def majority_is_right(epsilon, k):
    """The chance that the majority of k randomized responses is the true bit; a tie counts one half.

    >>> round(majority_is_right(math.log(3), 1), 12)
    0.75
    """
    _, log_p = composition.losses(epsilon, k)
    kept = k - np.arange(k + 1)
    p = np.exp(log_p)
    return float(p[2 * kept > k].sum() + p[2 * kept == k].sum() / 2)


def posterior(figure, epsilon):
    """The largest and the smallest belief that an epsilon-DP answer can leave, against the belief before."""
    epsilon = validate.number("epsilon", epsilon, low=0)
    prior = np.linspace(0, 1, 201)
    up, down = (prior * math.exp(s) / (prior * math.exp(s) + 1 - prior) for s in (epsilon, -epsilon))
    (panel,) = _panels(figure)
    panel.fill_between(prior, down, up, color="#e4e4e4")
    panel.plot(prior, up, **FIRST, label="highest belief after")
    panel.plot(prior, down, **SECOND, label="lowest belief after")
    panel.plot(prior, prior, **FOURTH, label="belief before")
    panel.set_xlabel("belief before, with all side information")
    panel.set_ylabel("belief after")
    panel.set_title(f"ε = {epsilon:.2g}: whatever is known already, the answer moves belief only inside the band")
    panel.set_ylim(-0.22, 1.02)
    panel.legend(loc="lower right", ncols=3)
    half = 1 / (1 + math.exp(-epsilon))
    return (
        f"Belief after an answer with epsilon {epsilon:.2g} against belief before. The band around the diagonal is widest in "
        f"the middle: a belief of 0.5 becomes at most {half:.2f} and at least {1 - half:.2f}. At 0 and at 1 nothing moves."
    )


def walks(figure, epsilon, k, delta_prime, paths=40, seed=1):
    """Privacy losses of k randomized responses as random walks, with the basic and the advanced bound."""
    epsilon, k = validate.number("epsilon", epsilon, low=0), validate.whole("k", k)
    steps = np.where(np.random.default_rng(seed).random((paths, k)) < 1 / (1 + math.exp(-epsilon)), epsilon, -epsilon)
    counts = np.arange(1, k + 1)
    (panel,) = _panels(figure)
    losses = np.cumsum(steps, axis=1)
    panel.plot(counts, losses.T, color="#b5c3d1", linewidth=0.8)
    panel.plot([], [], color="#b5c3d1", label=f"{paths} runs")
    bound = [composition.advanced(epsilon, 0, count, delta_prime)[0] for count in counts]
    mean = counts * epsilon * math.tanh(epsilon / 2)
    panel.plot(counts, counts * epsilon, **SECOND, label="basic: kε")
    panel.plot(counts, bound, **FIRST, label="advanced")
    panel.plot(counts, mean, **FOURTH, label="mean loss")
    top = max(k * epsilon, bound[-1])
    panel.set_ylim(min(-0.1 * top, 1.1 * losses.min()), 1.05 * top)
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel("number of answers k")
    panel.set_ylabel("privacy loss so far")
    panel.set_title(f"ε = {epsilon:.2g} for each answer, slack δ′ = {delta_prime:.0e}")
    panel.legend(loc="upper left", ncols=2)
    return (
        f"{paths} random walks of the privacy loss over {k} answers with epsilon {epsilon:.2g}. They drift up slowly, to "
        f"{mean[-1]:.2g} on average at the end, while the basic bound rises to {k * epsilon:.3g} and the advanced bound to {bound[-1]:.3g}."
    )


def bounds(figure, epsilon, k, delta):
    """Total epsilon of 1..k pure answers at total delta: basic, advanced, optimal, with the crossing marked."""
    epsilon, k = validate.number("epsilon", epsilon, low=0, open_low=True), validate.whole("k", k, low=2)
    counts = np.arange(1, k + 1)
    basic = counts * epsilon
    advanced = np.array([composition.advanced(epsilon, 0, count, delta)[0] for count in counts])
    some = np.unique(np.linspace(1, k, min(k, 80)).astype(int))
    optimal = np.array([composition.optimal(epsilon, 0, count, delta) for count in some])
    (panel,) = _panels(figure)
    panel.plot(counts, basic, **SECOND, label="basic")
    panel.plot(counts, advanced, **FIRST, label="advanced")
    panel.plot(some, optimal, **THIRD, label="optimal")
    better = np.flatnonzero(advanced < basic)
    crossing = f"advanced is not below basic up to k = {k}"
    if better.size:
        panel.plot(counts[better[0]], advanced[better[0]], "o", color="black", markersize=8, fillstyle="none")
        crossing = f"advanced is below basic from k = {counts[better[0]]}"
    panel.set_ylim(0, 1.1 * max(basic[-1], min(advanced[-1], 3 * basic[-1])))
    panel.set_xlabel("number of answers k")
    panel.set_ylabel("total ε")
    panel.set_title(f"each answer ε = {epsilon:.2g}; total δ = {delta:.0e}; {crossing}")
    panel.legend(loc="upper left")
    return (
        f"Total epsilon against the number of answers, each with epsilon {epsilon:.2g}, at delta {delta:.0e}. At k = {k} basic "
        f"composition gives {basic[-1]:.3g}, advanced {advanced[-1]:.3g}, optimal {optimal[-1]:.3g}; {crossing}."
    )


def spill(figure, epsilon, k, epsilon_total):
    """The chance of each number of yes reports if the truth is yes, what e^epsilon_total times the other chance allows, the rest."""
    epsilon_total = validate.number("epsilon_total", epsilon_total, low=0)
    loss, log_p = composition.losses(epsilon, k)
    kept = k - np.arange(k + 1)
    p, allowed = np.exp(log_p), np.exp(log_p - loss + epsilon_total)
    delta = composition.optimal_delta(epsilon, 0, k, epsilon_total)
    (panel,) = _panels(figure)
    panel.bar(
        kept, np.minimum(p, allowed), 0.85, color="#b5c3d1", label="covered by $e^{ε}$ · (chance under the neighbour)"
    )
    over = p > allowed
    panel.bar(kept[over], (p - allowed)[over], 0.85, bottom=allowed[over], **LIGHT)
    panel.set_ylim(0, 1.25 * p.max())
    panel.set_xlabel(f"number of yes reports among k = {k}")
    panel.set_ylabel("probability")
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_title(f"each report ε = {epsilon:.2g}; total ε = {epsilon_total:.2g} leaves δ = {delta:.3g}")
    panel.legend(
        handles=[
            Patch(color="#b5c3d1", label="covered by $e^{ε_{tot}}$ Q"),
            Patch(**LIGHT, label="spill: adds up to δ"),
        ],
        loc="upper left",
    )
    return (
        f"Bars for the number of yes reports among {k} with epsilon {epsilon:.2g} each, if the truth is yes. The part of each bar above "
        f"e to the {epsilon_total:.2g} times the chance under the neighbour is hatched; these parts add up to delta {delta:.2g}."
    )
