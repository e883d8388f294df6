"""The pictures of lesson 00."""

import functools
import math

import numpy as np
from matplotlib.patches import ConnectionPatch, FancyArrowPatch, Rectangle
from matplotlib.ticker import MaxNLocator

from dpcourse.base import validate
from dpcourse.base.languages import counted, listed, say, sentences, to_say
from dpcourse.base.style import DARK, FIFTHS, FIRST, FOURTH, GREY, LIGHT, POINT, RING, SECOND

WOMEN, YESES = 6366, 2053  # of Fair's survey; one of the yeses is Mia's
MIAS_ROW = {
    to_say("her row is there"): (YESES, WOMEN),
    to_say("her row removed"): (YESES - 1, WOMEN - 1),
    to_say("another answer"): (YESES - 1, WOMEN),
}
"""What becomes of Mia's row -> (how many then say yes, of how many)."""
CHOICES = ("MIAS_ROW",)
COLUMNS, LINES, SIDE = 103, 62, 9  # of the dots; pixels of a dot's square
MIA, AROUND = (84, 17), (4, 2)  # her column and line; dots under the lens to each side of hers
SAYS_YES, SAYS_NO, NOBODY = "#4a4a4a", "#d4d4d4", "#ffffff"
SURVEYS, STEP = 1000, math.sqrt(10)  # that fall in all; from one picture to the next so many times as many
DIAL = (1, 3, 10, 30, 100, 300, 1000, 3000)  # odds, to 1
WIDTHS = [digit * 10.0**power for power in range(-4, 2) for digit in (1, 2, 5)]  # of an axis, to each side


def neighbours(figure, row="her row is there") -> str:
    """Every woman of Fair's survey as a dot, Mia's lit and under a lens; how many say yes, whatever becomes of her row.

    row: a key of MIAS_ROW.
    """
    yeses, women = MIAS_ROW[row]
    field = figure.add_axes((16 / 1584, 24 / 726, COLUMNS * SIDE / 1584, LINES * SIDE / 726))
    lens = figure.add_axes((0.63, 0.47, 0.35, 0.36))
    table = figure.add_axes((0.625, 0.015, 0.36, 0.4))
    for panel in (field, lens, table):
        panel.axis("off")
    hers = {"her row is there": SECOND["color"], "her row removed": NOBODY, "another answer": LIGHT["facecolor"]}[row]
    colours = np.array([NOBODY, SAYS_NO, SAYS_YES])[_arranged()]
    colours[MIA[::-1]] = hers
    edges = -0.5, COLUMNS - 0.5, LINES - 0.5, -0.5
    field.imshow(_as_dots(colours), interpolation="none", extent=edges, aspect="auto")
    field.plot(*MIA, **POINT | {"color": hers, "markersize": 4.5, "markeredgecolor": SECOND["color"]})
    dots = {say("yes"): field.scatter([], [], s=30, c=SAYS_YES), say("no"): field.scatter([], [], s=30, c=SAYS_NO)}
    above = {"loc": "lower left", "bbox_to_anchor": (0, 0.99), "ncols": 2}
    field.legend([*dots.values()], [*dots], **above, handletextpad=0.2, borderpad=0.1)
    _magnify(figure, field, lens, colours)
    mia = {
        "her row is there": say("Mia: yes"),
        "her row removed": say("no row of Mia"),
        "another answer": say("Mia: no"),
    }[row]
    lens.set_title(mia)
    figure.suptitle(say("So many said yes: {yeses:,} of {women:,} women", yeses=yeses, women=women), fontsize=10.5)
    _tell(table, row)
    return say(
        "One dot for each woman of the survey, of one shade for yes and of another for no. Mia's is lit, and a lens shows "
        "it among others ({mia}). A table has three lines: {there:,} of {all:,} said yes with her row, "
        "{removed:,} of {fewer:,} with her row removed, and {other:,} of {all:,} with another answer in it. Now it is "
        "{yeses:,} of {women:,}.",
        mia=mia,
        there=YESES,
        all=WOMEN,
        removed=YESES - 1,
        fewer=WOMEN - 1,
        other=YESES - 1,
        yeses=yeses,
        women=women,
    )


@functools.cache
def _arranged():
    """Line by line, 2 where a woman said yes, 1 where she said no, 0 where there is nobody; by lot, but for Mia."""
    answers = np.zeros((LINES, COLUMNS), dtype=int)
    answers.flat[:WOMEN] = np.random.default_rng(1978).permutation(np.where(np.arange(WOMEN) < YESES, 2, 1))
    mia = MIA[::-1]
    if answers[mia] == 1:  # a woman who said yes changes places with her
        answers.flat[int(np.argmax(answers == 2))], answers[mia] = 1, 2
    return answers


def _as_dots(colours):
    """An image of round dots, shape (lines, columns, 3), of a colour each."""
    rgb = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours.flat])
    away = np.arange(SIDE) - (SIDE - 1) / 2
    dot = np.hypot(*np.meshgrid(away, away)) < 0.43 * SIDE
    shade = np.where(dot[None, :, None, :, None], rgb.reshape(LINES, 1, COLUMNS, 1, 3), 255)
    return shade.reshape(LINES * SIDE, COLUMNS * SIDE, 3).astype(np.uint8)


def _magnify(figure, field, lens, colours):
    """Draw the dots around Mia's once more, large, in a frame; the same frame around them in the field, and two lines."""
    (x, y), (across, down) = MIA, AROUND
    there = [(i, j) for j in range(y - down, y + down + 1) for i in range(x - across, x + across + 1)]
    lens.scatter(*zip(*there, strict=True), s=130, c=[colours[j, i] for i, j in there])
    lens.plot([x], [y], **RING | {"color": SECOND["color"], "markersize": 15, "markeredgewidth": 1.8})
    low, high, left, right = y + down + 0.6, y - down - 0.6, x - across - 0.6, x + across + 0.6
    lens.set_xlim(left, right)
    lens.set_ylim(low, high)
    for panel in (field, lens):
        panel.add_patch(Rectangle((left, high), right - left, low - high, fill=False, linewidth=1, clip_on=False))
    for at in (low, high):
        figure.add_artist(
            ConnectionPatch((right, at), (left, at), "data", "data", axesA=field, axesB=lens, linewidth=0.7)
        )


def _tell(table, row):
    """Three lines of numbers, the one that is drawn in a box."""
    table.set_xlim(0, 1)
    table.set_ylim(4, 0)
    for x, text in ((0.74, say("said yes")), (0.98, say("women"))):
        table.text(x, 0.6, text, ha="right", va="center", fontsize=9)
    for at, (name, numbers) in enumerate(MIAS_ROW.items(), 1):
        table.text(0.02, at + 0.5, say(name), va="center", fontsize=9.5)
        for x, number in zip((0.74, 0.98), numbers, strict=True):
            table.text(x, at + 0.5, f"{number:,}", ha="right", va="center", fontsize=9.5)
        if name == row:
            table.add_patch(
                Rectangle((0, at + 0.05), 1, 0.9, fill=False, edgecolor=SECOND["color"], linewidth=1.5, clip_on=False)
            )


def response(figure, epsilon) -> str:
    """Chances of each report of randomized response, for a true yes beside a true no; and what a report of yes does to the odds."""
    epsilon = validate.number("epsilon", epsilon, low=0)
    keep, flip, ratio = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon)), math.exp(epsilon)
    digits = max(3, math.ceil(-math.log10(flip)))  # so that neither 0 nor 1 is said of a chance
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    for shift, chances, style, label in [
        (-0.18, (keep, flip), LIGHT, say("true answer: yes")),
        (0.18, (flip, keep), DARK, say("true answer: no")),
    ]:
        bars = left.bar(np.arange(2) + shift, chances, 0.34, label=label, **style)
        left.bar_label(bars, [f"{chance:.{digits}f}" for chance in chances], fontsize=9, padding=2)
    left.set_xticks([0, 1], [say('report "yes"'), say('report "no"')])
    left.set_ylim(0, 1.3)
    left.set_yticks(FIFTHS)
    left.set_ylabel(say("probability"))
    left.legend(loc="upper center", ncols=2, columnspacing=1)
    odds = f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"
    _dial(right, ratio)
    texts = say("odds of yes before: 1 to 1"), say("after a report of yes: {odds} to 1", odds=odds)
    for y, text in zip((-0.3, -0.52), texts, strict=True):
        right.text(0, y, text, ha="center", va="center", fontsize=10.5)
    figure.suptitle(
        say(
            "ε = {epsilon:.2g}: the taller bar of each pair is e^ε = {odds} times the shorter one",
            epsilon=epsilon,
            odds=odds,
        ),
        fontsize=10.5,
    )
    figure.subplots_adjust(left=0.08, right=0.99, top=0.9, bottom=0.1, wspace=0.12)
    return say(
        "Two pairs of bars for epsilon {epsilon:.2g}. A report of yes has probability {keep} if the true answer is yes "
        "and {flip} if it is no; for a report of no it is the other way round. The ratio is {odds}. Beside them a dial "
        "of the odds of yes, from 1 to 1 to 3,000 to 1: after a report of yes its needle has moved from 1 to 1 to "
        "{odds} to 1.",
        epsilon=epsilon,
        keep=f"{keep:.{digits}f}",
        flip=f"{flip:.{digits}f}",
        odds=odds,
    )


def _dial(panel, ratio):
    """Half a clock of odds, by their logarithm, and a needle that a report of yes has moved from 1 to 1."""
    turned = lambda odds: math.pi * (1 - math.log(odds) / math.log(DIAL[-1]))  # noqa: E731
    at = lambda angle, radius: (radius * np.cos(angle), radius * np.sin(angle))  # noqa: E731
    whole = np.linspace(math.pi, 0, 90)
    panel.plot(*at(whole, 1), color="black", linewidth=1)
    for odds in DIAL:
        panel.plot(*at(turned(odds), np.array([0.95, 1.0])), color="black", linewidth=1)
        side = "right" if odds < 30 else "left" if odds > 100 else "center"
        panel.text(
            *at(turned(odds), 1.08), f"{odds:,}", ha=side, va="center" if side != "center" else "bottom", fontsize=9
        )
    after = turned(min(ratio, DIAL[-1]))
    swept = np.linspace(math.pi, after, 90)
    panel.fill(*np.hstack([at(swept, 0.72), at(swept[::-1], 0.5)]), **LIGHT)
    panel.plot(*at(math.pi, np.array([0, 0.93])), **FOURTH)
    panel.plot(*at(after, np.array([0, 0.93])), color="black", linewidth=3, solid_capstyle="round")
    panel.plot([0], [0], **POINT | {"markersize": 10})
    panel.set_xlim(-1.3, 1.45)
    panel.set_ylim(-0.6, 1.35)
    panel.set_aspect("equal")
    panel.axis("off")


def response_error(figure, epsilon=1.0, n=WOMEN, surveys=SURVEYS, share=YESES / WOMEN) -> str:
    """Surveys of n women, whose estimates fall into a histogram, beside the formula; the standard error against epsilon.

    surveys: so many have come down, 1 to SURVEYS; those up to STEP times as many are on their way.
    """
    epsilon, n = validate.number("epsilon", epsilon, low=0, open_low=True), validate.whole("n", round(n))
    surveys = validate.number("surveys", surveys, 1, SURVEYS)
    share = round(share * n) / n  # of n women whole ones say yes
    error = 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(n))
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
    wide = next(width for width in WIDTHS if width > 4 * error)
    falling = _rain(left, epsilon, n, surveys, share, error)
    left.axvspan(share - 1.96 * error, share + 1.96 * error, color="#dddddd", zorder=0)
    left.axvline(share, ymax=0.8, **FOURTH)
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
    figure.subplots_adjust(wspace=0.3)
    curve = say(
        "Left: a bell curve of estimates around the true share {share:.2f}, on an axis that ends {wide:g} to both sides; "
        "95 percent lie within {reach:.2g} of it.",
        share=share,
        wide=wide,
        reach=1.96 * error,
    )
    seen = counted(
        "A histogram of {count} survey stands below it.",
        "A histogram of {count:,} surveys stands below it.",
        count=round(surveys),
    )
    drops = say("{falling:,} more are falling into it.", falling=falling)
    falls = say(
        "Right: the standard error falls as epsilon grows; at epsilon {epsilon:.2g} and {n:,} people it is {error:.2g}.",
        epsilon=epsilon,
        n=n,
        error=error,
    )
    return sentences([curve, seen, *([drops] if falling else []), falls])


def _rain(panel, epsilon, n, surveys, share, error):
    """Draw the histogram of some surveys, the curve by the formula, and the next surveys above; returns how many these are."""
    keep, yeses = 1 / (1 + math.exp(-epsilon)), round(share * n)
    rng = np.random.default_rng(3)
    reports = rng.binomial(yeses, keep, SURVEYS) + rng.binomial(n - yeses, 1 - keep, SURVEYS)
    estimate = lambda count: (count / n - (1 - keep)) / (2 * keep - 1)  # noqa: E731
    width = max(1, round(math.sqrt(n * keep * (1 - keep)) / 3))  # of a bar, in reports of yes
    middle = n * (share * keep + (1 - share) * (1 - keep))
    edges = math.floor(middle) + 0.5 + width * np.arange(-14, 15) - width // 2
    count = round(surveys)
    down, later = reports[:count], reports[count : round(surveys * STEP)]
    heights = np.histogram(down, edges)[0]
    x = np.linspace(share - 5 * error, share + 5 * error, 300)
    most = count * width / n / (2 * keep - 1) / error / math.sqrt(2 * math.pi)  # of the curve, in surveys
    panel.plot(x, most * np.exp(-(((x - share) / error) ** 2) / 2), **FIRST, label=say("by the formula"))
    bars = counted("{count} survey", "{count:,} surveys", count=count)
    panel.stairs(heights, estimate(edges), fill=True, **LIGHT, label=bars)
    top = max(most, heights.max())
    if later.size:
        drops = {"color": SECOND["color"], "marker": "v", "linestyle": "none", "markersize": 4, "markeredgewidth": 0}
        falling = say("{count:,} more", count=later.size)
        panel.plot(estimate(later), top * rng.uniform(1.12, 1.5, later.size), **drops, label=falling)
    panel.set_ylim(0, 1.9 * top)
    panel.set_yticks([tick for tick in MaxNLocator(4, integer=True).tick_values(0, top) if tick <= 1.1 * top])
    panel.set_ylabel(say("surveys"))
    panel.legend(loc="upper center", ncols=3, handlelength=1.1, handletextpad=0.4, columnspacing=0.8, borderaxespad=0.2)
    return later.size


# ---- the map of the course

NODE, NAME, BAR, BAR_WIDTH, MINUTES = 17, 20, 62, 14, 97  # from left to right, in hundredths of the width
ARC = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 5, "shrinkB": 5, "zorder": 1}
LEADS, LEADS_TOO = {"color": FIRST["color"], "linewidth": 1.8}, {"color": FOURTH["color"], "linewidth": 0.7}


def course_map(figure, stages, here=None) -> str:
    """The lessons from top to bottom, an arc from each to those that build on it, and what is passed of each, and minutes.

    An arc is thin where others lead there too, by way of another lesson. stages: a list of notebook.course_map.Stage.
    here: the number of the lesson in which the learner is.
    """
    figure.set_figheight(0.32 * (len(stages) + 2))
    panel = figure.add_axes((0, 0, 1, 1))
    panel.axis("off")
    panel.set_xlim(0, 100)
    panel.set_ylim(len(stages) - 0.3, -1.5)
    rows = {stage.number: row for row, stage in enumerate(stages)}
    needs = {stage.number: stage.needs for stage in stages}
    for number, need in _arcs(stages):
        look = LEADS_TOO if any(need in _all_needs(other, needs) for other in needs[number]) else LEADS
        bend = "arc3" if rows[number] - rows[need] == 1 else "arc3,rad=0.7"
        panel.add_patch(FancyArrowPatch((NODE, rows[need]), (NODE, rows[number]), connectionstyle=bend, **look, **ARC))
    learns = any(stage.passed is not None for stage in stages)
    above = {"va": "center", "fontsize": 9}
    panel.text(BAR, -0.9, say("exercises passed") if learns else say("exercises"), **above)
    panel.text(MINUTES, -0.9, say("minutes"), ha="right", **above)
    for row, stage in enumerate(stages):
        _stage(panel, row, stage, is_here=stage.number == here)
    return _map_in_words(stages, here)


def _arcs(stages):
    """Return (the number of a lesson, that of one on which it builds), in order."""
    return [(stage.number, need) for stage in stages for need in stage.needs]


def _all_needs(number, needs):
    """Return the lessons on which one builds, and those on which these build."""
    return {*needs[number]}.union(*(_all_needs(need, needs) for need in needs[number]))


def _stage(panel, row, stage, is_here):
    """Draw the line of one lesson."""
    share = (stage.passed or 0) / max(stage.exercises, 1)
    panel.plot([NODE], [row], **POINT | {"markerfacecolor": "black" if share == 1 else "white"})
    if is_here:
        panel.plot([NODE], [row], **RING | {"color": SECOND["color"], "markersize": 13, "markeredgewidth": 2})
    name = f"{stage.number:02} {say(stage.title)}"
    panel.text(NAME, row, name, va="center", fontsize=10, color=SECOND["color"] if is_here else "black")
    if stage.passed is None:
        panel.text(BAR, row, f"{stage.exercises}", va="center", fontsize=9)
    else:
        panel.barh(row, BAR_WIDTH, left=BAR, height=0.5, color=GREY)
        panel.barh(row, BAR_WIDTH * share, left=BAR, height=0.5, color=DARK["color"])
        said = say("{passed} of {all}", passed=stage.passed, all=stage.exercises)
        panel.text(BAR + BAR_WIDTH + 1.5, row, said, va="center", fontsize=9)
    panel.text(MINUTES, row, f"{stage.minutes}", ha="right", va="center", fontsize=9)


def _map_in_words(stages, here):
    """Return the description of the map."""
    found = say(
        "The lessons, from top to bottom: {lessons}. Arcs lead from each lesson to those that build on it: {arcs}.",
        lessons=listed(map(_stage_in_words, stages), "{first}; {then}", "{first}; {then}"),
        arcs=listed((f"{need:02} → {number:02}" for number, need in _arcs(stages)), "{first}, {then}"),
    )
    if here is None:
        return found
    return sentences([found, say("A ring marks lesson {number:02}, where you are.", number=here)])


def _stage_in_words(stage):
    """Return what the line of one lesson says."""
    about = {
        "lesson": f"{stage.number:02}",
        "title": say(stage.title),
        "all": stage.exercises,
        "minutes": stage.minutes,
    }
    if stage.passed is None:
        return say("{lesson} {title}, {all} exercises, {minutes} minutes", **about)
    return say("{lesson} {title}, {passed} of {all} exercises passed, {minutes} minutes", **about, passed=stage.passed)
