"""Each standard picture: what it draws is what the mathematics says, and its description holds the numbers."""

import ast
import functools
import itertools
import math
import re
from pathlib import Path

import made_up_language
import matplotlib.colors
import matplotlib.patches
import matplotlib.text
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbformat import read
from scipy import stats
from sklearn.datasets import load_digits
from support import by_profile

from dpcourse import audit, clt, composition, course, gdp, laplace, machine, pld, plots, rdp, surveys, tradeoff
from dpcourse.authoring import font
from dpcourse.base import languages, style
from dpcourse.course.accountants import pictures as accountants_plots
from dpcourse.course.audit import simulated
from dpcourse.course.clt import pictures as clt_plots
from dpcourse.course.dpsgd import pictures as dpsgd_plots
from dpcourse.course.gdp.pictures import one_sided
from dpcourse.course.start_here import pictures as start_here_plots
from dpcourse.notebook.attacker import Played
from dpcourse.notebook.course_map import Stage

pytestmark = pytest.mark.in_turn("seconds of drawing")

SOLUTIONS = Path(__file__).parents[2] / "solutions"
SCORES = np.arange(200) / 100, np.arange(200) / 100 - 1

COMPUTED = {
    "histogram_release": {"names": ["a", "b", "c"], "counts": [10, 200, 30], "epsilon": 0.1},
    "gap": {"certified": [(1.0, 0.01), (0.5, 0.1)], "found": {"seen": SCORES}},
    "audited": {
        "name": "G_1",
        "promise": tradeoff.gaussian(1),
        "scores_in": SCORES[0],
        "scores_out": SCORES[1],
        "found": audit.refutation(tradeoff.gaussian(1), *SCORES),
    },
    "course_map": {
        "stages": [Stage(0, "Start here", (), 125, 3, 3), Stage(1, "Composition", (0,), 300, 2, 9)],
        "here": 1,
    },
    "told_apart": {
        "attack": course.lesson(1).part("attack").ATTACK,
        "played": {"hand": Played(4, 19, 5, 21, 0.95), "rule": Played(1200, 5000, 1400, 5000, 0.999)},
    },
}
"""What stands for the arguments of pictures that lessons show of things that they have computed."""


LAPLACE = pytest.param("limit", {"mechanism": "Laplace noise", "size": 1.0, "n": 1}, id="limit of one answer")


def shown():
    """(name, arguments) of every picture, as the lessons show it first, or else as their sliders stand at first."""
    for lesson in course.lessons():
        codes = [cell.source for cell in read(SOLUTIONS / f"{lesson.name}.ipynb", 4).cells if cell.cell_type == "code"]
        calls = [node for code in codes for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        for name in sorted(plots.of_lesson(lesson).keys() - getattr(lesson.part("pictures"), "CHOICES", ())):
            told = [arguments(call) for call in calls if call.args and ast.unparse(call.args[0]) == f"plots.{name}"]
            known = COMPUTED.get(name, next((it for it in told if it is not None), None))
            yield pytest.param(name, known, id=name)


def arguments(call):
    """The picture's arguments, of a slider where it stands at first; None where they are computed."""
    try:
        return {argument.arg: at_first(argument.value) for argument in call.keywords if argument.arg != "play"}
    except ValueError:
        return None


def at_first(node):
    """The value that is written here; of `widgets.slider(label, low, high, start)` and `choice(label, values, start)` the start."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("widgets.slider", "widgets.choice"):
        node = node.args[-1]
    return ast.literal_eval(node)


SHOWN = [*shown(), LAPLACE]


def drawn(picture, **arguments):
    figure = Figure()
    return figure, picture(figure, **arguments)


def lines(figure):
    return {line.get_label(): line.get_xydata() for panel in figure.axes for line in panel.lines}


@pytest.mark.parametrize(("name", "arguments"), SHOWN)
def test_every_picture_is_shown_the_same_every_time_with_alt_text_and_lines_that_need_no_colour(name, arguments):
    assert arguments is not None, (
        f"no lesson shows plots.{name} with arguments that are written there; "
        "show it, or say in COMPUTED what stands for them here"
    )
    figures = []

    def picture(figure, **arguments):
        figures.append(figure)
        return getattr(plots, name)(figure, **arguments)

    image = plots.as_html(picture, **arguments)
    (description,) = re.findall('alt="([^"]*)"', image)
    assert len(description) > 60
    assert plots.as_html(picture, **arguments) == image
    for panel in figures[0].axes:
        named = [line for line in panel.lines if not line.get_label().startswith("_")]
        for one, other in itertools.combinations(named, 2):
            assert look(one) != look(other)
        named = [area for area in panel.collections if not area.get_label().startswith("_")]
        for one, other in itertools.combinations(named, 2):
            assert one.get_hatch() != other.get_hatch()


@pytest.mark.parametrize(("name", "arguments"), SHOWN)
def test_every_picture_speaks_the_language_chosen_and_has_its_signs(name, arguments):
    """Each of its words can be translated, and its fonts have each sign that it shows in Chinese."""
    with made_up_language.spoken():
        for text in words(getattr(plots, name), **said_as_written(arguments)):
            plain = re.sub(r"\$[^$]*\$", "", made_up_language.outside(text))
            assert not re.search("[a-z]{3}", plain), f"{text!r} stays English in every language"
    with languages.speaking("zh"):
        shown_words = words(getattr(plots, name), **arguments)[:-1]
    assert not [text for text in shown_words if "$" in text and re.search("[\u4e00-\u9fff]", text)], (
        "mathtext has one font"
    )
    assert set("".join(shown_words)) <= FONTS | {"\n"}


FONTS = font.characters(font.DEJAVU) | font.characters(languages.font("zh"))


def words(picture, **arguments):
    """The texts in a picture, and its description."""
    figure, description = drawn(picture, **arguments)
    return [*(text.get_text() for text in figure.findobj(matplotlib.text.Text)), description]


def said_as_written(arguments):
    """The arguments with texts that the lesson's page would have said itself."""
    return {key: [f"⟦{each}⟧" for each in value] if key == "names" else value for key, value in arguments.items()}


def look(line):
    """What a colour-blind reader of a grey print sees of a line: how it is dashed, and its markers."""
    return line._dash_pattern if line.get_linestyle() != "None" else None, line.get_marker()


DOTS = {start_here_plots.SAYS_YES: "yes", start_here_plots.SAYS_NO: "no", start_here_plots.NOBODY: "nobody"}


def colours_of_dots(figure):
    """The colour in the middle of each dot of the field, line by line, as matplotlib writes it."""
    (image,) = figure.axes[0].images
    side = start_here_plots.SIDE
    middles = image.get_array()[side // 2 :: side, side // 2 :: side]
    return np.array([["#{:02x}{:02x}{:02x}".format(*dot) for dot in line] for line in middles])


@pytest.mark.parametrize("row", plots.MIAS_ROW)
def test_neighbours_is_the_survey_and_differs_in_mias_dot_alone(row):
    had_affair = (surveys.affairs()["affairs"] > 0).astype(int)
    assert had_affair[0] == 1, "Mia's true answer is yes"
    others = [had_affair[1:].sum(), had_affair[1:].size]
    hers = {"her row is there": [1, 1], "her row removed": [0, 0], "another answer": [0, 1]}[row]
    figure, description = drawn(plots.neighbours, row=row)
    dots = colours_of_dots(figure)
    x, y = start_here_plots.MIA
    ((marker_x,), (marker_y,)) = figure.axes[0].lines[0].get_data()
    assert (marker_x, marker_y) == (x, y), "the marker lies on her dot"
    her_colour, dots[y, x] = dots[y, x], start_here_plots.NOBODY
    seen = [DOTS[dot] for dot in dots.flat]
    assert [seen.count("yes"), seen.count("yes") + seen.count("no")] == others
    assert her_colour not in {start_here_plots.SAYS_YES, start_here_plots.SAYS_NO}, "hers is lit"
    assert (her_colour == start_here_plots.NOBODY) == (row == "her row removed")
    yeses, women = (a + b for a, b in zip(others, hers, strict=True))
    assert f"{yeses:,} of {women:,} women" in figure.get_suptitle()
    assert description.endswith(f"Now it is {yeses:,} of {women:,}.")
    told = [text.get_text() for text in figure.axes[2].texts]
    at = told.index(row)
    assert told[at + 1 : at + 3] == [f"{yeses:,}", f"{women:,}"]
    (box,) = figure.axes[2].patches
    assert box.get_y() < figure.axes[2].texts[at].get_position()[1] < box.get_y() + box.get_height(), "it is in the box"


def test_the_lens_of_neighbours_shows_what_is_in_the_frame():
    for row in plots.MIAS_ROW:
        figure, _ = drawn(plots.neighbours, row=row)
        dots, (under,) = colours_of_dots(figure), figure.axes[1].collections
        colours = [matplotlib.colors.to_hex(colour) for colour in under.get_facecolors()]
        assert colours == [dots[int(y), int(x)] for x, y in under.get_offsets()]
        ((x,), (y,)) = figure.axes[1].lines[0].get_data()
        assert (x, y) == start_here_plots.MIA
        frames = [panel.patches[0].get_bbox().bounds for panel in figure.axes[:2]]
        assert frames[0] == frames[1]


def test_response_shows_the_definition():
    figure, description = drawn(plots.response, epsilon=1.0)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights[0] / heights[2] == pytest.approx(math.e)
    assert heights[0] + heights[1] == pytest.approx(1)
    assert "0.731" in description
    assert "1 to 1 to 2.72 to 1." in description


def angle(line):
    """Where a needle points, from 0 on the left to 1 on the right."""
    x, y = (values[-1] for values in line.get_data())
    return 1 - math.atan2(y, x) / math.pi


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0, 8.0])
def test_the_needle_of_response_goes_from_even_odds_to_those_after_a_report_of_yes(epsilon):
    figure, description = drawn(plots.response, epsilon=epsilon)
    bars, dial = figure.axes
    yes, no = (bars.patches[i].get_height() for i in (0, 2))
    ticks = {angle(line): text.get_text() for line, text in zip(dial.lines[1:9], dial.texts, strict=False)}
    assert list(ticks.values()) == ["1", "3", "10", "30", "100", "300", "1,000", "3,000"]
    numbers = [math.log(float(text.replace(",", ""))) for text in ticks.values()]
    before, after = (np.interp(angle(line), list(ticks), numbers) for line in dial.lines[9:11])
    assert (before, after) == pytest.approx((0, math.log(yes / no)), abs=1e-9)
    told = f"{yes / no:,.0f}" if epsilon == 8 else f"{yes / no:.3g}"
    assert description.endswith(f"to {told} to 1.")
    assert dial.texts[-1].get_text() == f"after a report of yes: {told} to 1"
    labels = [text.get_text() for text in bars.texts]
    assert not {"0", "1"} & {label.rstrip("0").rstrip(".") for label in labels}, "no chance is rounded to 0 or 1"


def test_response_error_is_the_spread_of_repeated_surveys():
    _, description = drawn(plots.response_error, epsilon=1.0, n=500, share=0.3)
    stated = float(re.search(r"people it is ([\d.]+)\.", description)[1])
    rng = np.random.default_rng(0)
    truth = np.arange(500) < 150
    seen = np.std(
        [composition.debiased_mean(composition.randomized_response(truth, 1.0, rng), 1.0) for _ in range(3000)]
    )
    assert seen == pytest.approx(stated, rel=0.06)


@pytest.mark.parametrize(("epsilon", "n"), [(1.0, 6366), (0.05, 100), (5.0, 100), (3.0, 1_000_000)])
def test_the_surveys_that_rain_are_surveys_and_each_comes_down(epsilon, n):
    """What falls at one step lies in the histogram at the next; in the end it is as the formula says."""
    error = 1 / (2 * math.sinh(epsilon / 2) * math.sqrt(n))
    before, still = np.zeros(28), np.array([])
    for count, more in zip((1, 3, 10, 32, 100, 316, 1000), (2, 7, 22, 68, 216, 684, 0), strict=True):
        surveys = 10 ** (round(2 * math.log10(count)) / 2)
        figure, description = drawn(plots.response_error, epsilon=epsilon, n=n, surveys=surveys)
        panel = figure.axes[0]
        (bars,) = (patch for patch in panel.patches if isinstance(patch, matplotlib.patches.StepPatch))
        heights, edges, _ = bars.get_data()
        assert heights.sum() == count
        if count > 1:
            assert (heights - before == np.histogram(still, edges)[0]).all(), "what fell has come down"
        curve = lines(figure)["by the formula"]
        share = round(2053 / 6366 * n) / n
        bell = stats.norm.pdf(curve[:, 0], share, error) * count * (edges[1] - edges[0])
        assert curve[:, 1] == pytest.approx(bell)
        drops = [line for line in panel.lines if line.get_marker() == "v"]
        still = drops[0].get_xdata() if drops else np.array([])
        assert len(still) == more
        assert not drops or drops[0].get_ydata().min() > max(heights.max(), curve[:, 1].max()), "it is in the air"
        assert (f"{more} more are falling" in description) == (more > 0)
        before = heights
    middles = (edges[1:] + edges[:-1]) / 2
    mean = (middles * heights).sum() / 1000
    assert mean == pytest.approx(share, abs=5 * error / math.sqrt(1000))
    assert math.sqrt((heights * (middles - mean) ** 2).sum() / 1000) == pytest.approx(error, rel=0.1)


def test_repeated_is_the_frequency_of_a_right_majority_and_stays_below_the_bound():
    figure, _ = drawn(plots.repeated, epsilon=0.5, k=40)
    curves = lines(figure)
    guess, bound = curves["majority of the reports"], curves["most that kε-DP allows"]
    assert (guess[:, 1] <= bound[:, 1] + 1e-12).all()
    rng = np.random.default_rng(0)
    kept = composition.randomized_response(np.ones(20_000 * 9, dtype=int), 0.5, rng).reshape(20_000, 9).sum(axis=1)
    assert guess[8, 1] == pytest.approx((kept > 4.5).mean(), abs=0.015)


@pytest.mark.parametrize("k", [1, 2, 8, 20])
def test_two_hills_are_the_chances_of_each_number_of_yes_reports(k):
    figure, description = drawn(plots.two_hills, k=k, epsilon=1.0)
    only_q, only_p, both = np.reshape([bar.get_height() for bar in figure.axes[0].patches], (3, k + 1))
    bottoms = np.reshape([bar.get_y() for bar in figure.axes[0].patches], (3, k + 1))
    assert bottoms == pytest.approx(np.array([both, both, 0 * both])), "the overlap stands below what is more"
    rng = np.random.default_rng(0)
    for heights, bit in ((both + only_p, 1), (both + only_q, 0)):
        reports = composition.randomized_response(np.full(k * 50_000, bit), 1.0, rng).reshape(50_000, k)
        seen = np.bincount(reports.sum(axis=1), minlength=k + 1) / 50_000
        assert heights == pytest.approx(seen, abs=0.012)
    best = (1 + composition.optimal_delta(1.0, 0, k, 0.0)) / 2
    assert both.sum() / 2 == pytest.approx(1 - best), "half of the overlap is the error of the best guess"
    hatched = [bar.get_hatch() for bar in figure.axes[0].patches]
    assert all(hatched[2 * (k + 1) :])
    assert not any(hatched[: 2 * (k + 1)]), "the overlap alone is hatched"
    assert f"half of that is {1 - best:.3f}." in description
    assert f"half of it, {1 - best:.3f}, is the best attacker's error" in figure.axes[0].get_title()
    assert 1 - best == pytest.approx(
        1 - lines(drawn(plots.repeated, epsilon=1.0, k=20)[0])["majority of the reports"][k - 1, 1]
    )


def test_posterior_is_bayes_rule():
    figure, _ = drawn(plots.posterior, epsilon=math.log(3))
    curves = lines(figure)
    up = dict(np.round(curves["highest belief after"], 12).tolist())
    down = dict(np.round(curves["lowest belief after"], 12).tolist())
    assert up[0.5] == pytest.approx(0.75)
    assert down[0.5] == pytest.approx(0.25)
    assert (up[0.0], up[1.0]) == (0, 1)


def test_walks_hold_the_reference_lines():
    figure, description = drawn(plots.walks, epsilon=0.1, k=200, delta_prime=1e-5)
    curves = lines(figure)
    assert curves["basic: kε"][-1, 1] == pytest.approx(20)
    assert curves["advanced: ε′"][-1, 1] == pytest.approx(composition.advanced(0.1, 0, 200, 1e-5)[0])
    loss, log_p = composition.losses(0.1, 200)
    assert curves["mean loss"][-1, 1] == pytest.approx((np.exp(log_p) * loss).sum())
    k, exact = curves["exact: passed with\nchance δ′ at most"][-1]
    p = np.exp(log_p)
    assert k == 200
    assert p[loss > exact + 1e-9].sum() <= 1e-5 < p[loss > exact - 1e-9].sum(), "the smallest such loss"
    assert f"is {exact:.3g}." in description


def test_bounds_marks_the_crossing():
    figure, description = drawn(plots.bounds, epsilon=0.1, k=200, delta=1e-5)
    curves = lines(figure)
    advanced, basic = curves["advanced: ε′"][:, 1], curves["basic: kε"][:, 1]
    first = int(np.argmax(advanced < basic)) + 1
    assert f"below basic from k = {first}." in description
    assert curves["optimal"][-1, 1] == pytest.approx(composition.optimal(0.1, 0, 200, 1e-5))
    _, without = drawn(plots.bounds, epsilon=0.9, k=200, delta=1e-5)
    assert "not below basic up to k = 200" in without


@pytest.mark.parametrize("total", [0.0, 0.75, 2.0, 6.0])
def test_spill_is_what_p_has_above_the_lifted_q_and_fills_the_cup(total):
    figure, description = drawn(plots.spill, epsilon=0.3, k=20, epsilon_total=total)
    panel, cup = figure.axes
    delta = composition.optimal_delta(0.3, 0, 20, total)
    wide, narrow = panel.patches[:21], panel.patches[21:42]
    spilled = {round(bar.get_x() + bar.get_width() / 2): bar for bar in panel.patches[42:]}
    lifted, covered = (np.array([bar.get_height() for bar in bars]) for bars in (wide, narrow))
    q = lines(figure)["Q"][::3, 1]  # of each mark its first end
    assert not np.isnan(q).any(), "Q is drawn at every number"
    assert q == pytest.approx(stats.binom.pmf(np.arange(21), 20, 1 / (1 + math.exp(0.3))))
    assert np.minimum(lifted, 0.3) == pytest.approx(np.minimum(math.exp(total) * q, 0.3))
    top = lines(figure)["$e^{ε_{tot}}$ Q"][::3, 1]
    inside = math.exp(total) * q < panel.get_ylim()[1]
    assert top[inside] == pytest.approx(lifted[inside])
    assert np.isnan(top[~inside]).all(), "and none is drawn above the picture"
    p = covered + [spilled[j].get_height() if j in spilled else 0 for j in range(21)]
    assert p == pytest.approx(stats.binom.pmf(np.arange(21), 20, 1 / (1 + math.exp(-0.3))))
    assert covered == pytest.approx(np.minimum(p, math.exp(total) * q))
    assert all(bar.get_y() == pytest.approx(lifted[j]) and bar.get_hatch() for j, bar in spilled.items())
    assert not any(bar.get_hatch() for bar in (*wide, *narrow))
    poured = cup.patches
    assert [bar.get_height() for bar in poured] == pytest.approx([bar.get_height() for bar in spilled.values()])
    level = max((bar.get_y() + bar.get_height() for bar in poured), default=0)
    assert level == pytest.approx(delta), "the level of the cup"
    assert (total == 6.0) == (not spilled), "six is the sum of all twenty"
    assert cup.get_title() == f"δ = {delta:.3g}"
    assert f"delta {delta:.3g}." in description


# ---- lesson 02


def trapezoid(xy):
    return np.trapezoid(xy[:, 1], xy[:, 0])


@pytest.mark.parametrize("output", [-3.0, -0.5, 0.25, 3.0])
def test_laplace_pair_reads_both_densities_and_their_loss_at_the_output(output):
    figure, description = drawn(plots.laplace_pair, epsilon=2.0, change=1.0, output=output)
    curves, (above, below) = lines(figure), figure.axes
    first, second, loss = curves["with Mia"], curves["without her"], curves["loss: ln(with / without)"]
    assert trapezoid(first) == pytest.approx(1, abs=2e-3)
    assert first[np.argmax(first[:, 1]), 0] - second[np.argmax(second[:, 1]), 0] == pytest.approx(1)
    assert loss[:, 1] == pytest.approx(np.log(first[:, 1] / second[:, 1]))
    assert np.abs(loss[:, 1]).max() == pytest.approx(2)
    heights = [line.get_xydata().tolist() for panel in figure.axes for line in panel.lines if line.get_marker() == "o"]
    densities = [stats.laplace.pdf(output, at, 0.5) for at in (0.5, -0.5)]
    assert heights == [
        [pytest.approx([output, density]) for density in densities],
        [pytest.approx([output, math.log(densities[0] / densities[1])])],
    ]
    for panel in (above, below):
        assert any(set(line.get_xdata()) == {output} and len(line.get_xdata()) == 2 for line in panel.lines)
    assert above.get_xlim() == below.get_xlim(), "one axis"
    read = f"density {densities[0]:.3g} with Mia, {densities[1]:.3g} without her, loss {heights[1][0][1]:.2f}"
    assert above.get_title() == f"output {output:.2f}: {read}"
    assert f"the loss is {heights[1][0][1]:.2f}." in description
    assert "the promise is kept" in description
    assert "the promise is broken" in drawn(plots.laplace_pair, epsilon=2.0, change=1.1, output=output)[1]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("laplace_densities", {"epsilon": 1.0, "change": 1.0}),
        ("laplace_pair", {"epsilon": 1.0, "change": 1.0, "output": 1.0}),
    ],
)
def test_what_is_with_mia_is_the_second_look_and_what_is_without_her_the_first(name, arguments):
    looks = {line.get_label(): line for line in drawn(getattr(plots, name), **arguments)[0].axes[0].lines}
    for label, look_of in (("with Mia", style.SECOND), ("without her", style.FIRST)):
        assert (looks[label].get_color(), looks[label].get_linestyle()) == (look_of["color"], look_of["linestyle"])


def test_histogram_release_has_the_exact_counts_and_noise_of_two_scales():
    counts = [10, 200, 30, 5]
    figure, description = drawn(plots.histogram_release, names=list("abcd"), counts=counts, epsilon=0.1)
    panel = figure.axes[0]
    assert [bar.get_height() for bar in panel.patches] == counts
    rng = np.random.default_rng(1)
    released = [line.get_ydata() for line in panel.lines if line.get_marker() in ("o", "s")]
    for sensitivity, points in zip((1, 4), released, strict=True):
        assert points == pytest.approx(laplace.mechanism(counts, sensitivity, 0.1, rng))
    spans = [np.ptp(np.array(bar.get_segments())[:, :, 1], axis=1) / 2 for bar in panel.collections]
    noise = np.random.default_rng(0).laplace(0, 10, 100_000)
    for sensitivity, reach in zip((1, 4), spans, strict=True):
        assert (np.abs(sensitivity * noise)[:, None] < reach).mean() == pytest.approx(0.9, abs=0.01), "nine of ten"
    assert f"they reach {spans[0][0]:.3g} above" in description
    assert f"for 4 they reach {spans[1][0]:.3g}." in description


def test_laplace_densities_are_densities_one_change_apart():
    figure, description = drawn(plots.laplace_densities, epsilon=2.0, change=1.5)
    with_mia, without = lines(figure)["with Mia"], lines(figure)["without her"]
    assert trapezoid(with_mia) == pytest.approx(1, abs=2e-3)
    assert with_mia[np.argmax(with_mia[:, 1]), 0] - without[np.argmax(without[:, 1]), 0] == pytest.approx(1.5, abs=0.05)
    assert "1.5 apart" in description


def test_clip_tradeoff_is_least_where_about_one_by_epsilon_women_are_cut():
    values = surveys.affairs()["affairs"]
    for epsilon in (0.01, 0.05, 0.3):
        figure, description = drawn(plots.clip_tradeoff, epsilon=epsilon)
        curves = lines(figure)
        clips, both = curves["both together"].T
        for clip, bias in curves["bias: what is cut off"][::40]:
            assert bias == pytest.approx(values.sum() - np.minimum(values, clip).sum())
        assert curves["noise: clip / ε"][:, 1] == pytest.approx(clips / epsilon)
        best = clips[both.argmin()]
        below, above = (values > best + 0.25).sum(), (values > best - 0.25).sum()
        assert below - 1 <= 1 / epsilon <= above + 1, "raised by 1, the clip gives back as much as it costs"
        assert f"smallest, {both.min():,.0f}, at a clip of {best:.3g}." in description


def test_worst_error_is_the_law_of_the_largest_noise_and_meets_the_bound():
    figure, description = drawn(plots.worst_error, k=50, epsilon=0.5, failure=0.1)
    curves = lines(figure)
    exact, union = curves["exact"], curves["union bound"]
    assert (exact[:, 1] <= union[:, 1] + 1e-12).all()
    largest = np.abs(np.random.default_rng(0).laplace(0, 2, (20_000, 50))).max(axis=1)
    for t, chance in exact[::20]:
        assert (largest > t).mean() == pytest.approx(chance, abs=0.015)
    bound = curves["theorem 3.8"][0, 0]
    assert bound == pytest.approx(laplace.error_bound(50, 0.1, 1, 0.5))
    assert np.interp(bound, *union.T) == pytest.approx(0.1, rel=0.01)
    assert f"At {bound:.4g} the union bound is 0.1, which is marked" in description
    told = float(re.search(r"the exact chance is ([\d.]+)\.$", description)[1])
    assert told == pytest.approx(np.interp(bound, *exact.T), rel=0.01)
    assert told < 0.1
    assert figure.axes[0].get_yscale() == "log"


def elections_of(**arguments):
    """Of both columns: the true counts, the noisy counts of the last election, the winner circled, and the wins."""
    figure, description = drawn(plots.noisy_max_or_all, **arguments)
    columns = []
    for last, bars in (figure.axes[::2], figure.axes[1::2]):
        truth = [segment[0, 1] for segment in last.collections[0].get_segments()]
        noisy, circle = (line.get_xydata() for line in last.lines)
        steps, leader = bars.patches
        wins = steps.get_data().values
        assert leader.get_height() == wins[0]
        columns.append((np.array(truth), noisy[:, 1], circle[0].tolist(), wins, bars.get_title()))
    return columns, description


@pytest.mark.parametrize(("epsilon", "m", "lead"), [(0.5, 10, 10), (0.05, 50, 100), (2.0, 2, 0)])
def test_noisy_max_or_all_counts_the_winners_of_elections_with_the_noise_of_both(epsilon, m, lead):
    before = [np.zeros(m), np.zeros(m)]
    for elections in (1, 2, 50, 100):
        columns, description = elections_of(epsilon=epsilon, m=m, lead=lead, elections=elections)
        (truth, noisy, *_), (_, noisy_of_all, *_) = columns
        assert noisy_of_all - truth == pytest.approx(m * (noisy - truth)), "the same noise, m times as large"
        for i, (counts, last, circle, wins, title) in enumerate(columns):
            assert counts.tolist() == [100 + lead, *[100] * (m - 1)]
            assert circle == pytest.approx([1 + last.argmax(), last.max()])
            assert wins.sum() == elections
            assert (wins >= before[i]).all(), "what is won stays won"
            if elections - before[i].sum() == 1:
                assert (wins - before[i]).argmax() == last.argmax(), "the last election is counted"
            before[i] = wins
            scale = (1, m)[i] / epsilon
            chance = laplace.noisy_max_chances(counts, 1 / scale)[0]
            assert title == f"the leader wins {wins[0]:.0f} of {elections}, chance {chance:.2f}"
            assert wins[0] / elections == pytest.approx(chance, abs=3 * math.sqrt(0.25 / elections))
        chances = [laplace.noisy_max_chances(truth, rate)[0] for rate in (epsilon, epsilon / m)]
        assert description.endswith(f"The exact chances are {chances[0]:.3f} and {chances[1]:.3f}.")
        assert before[0][0] >= before[1][0], "whoever leads far enough for the larger noise does so for the smaller"


def test_noises_of_the_elections_are_laplace_noise_of_the_scale_that_the_title_says():
    noises = []
    for elections in range(1, 101, 4):
        ((truth, noisy, *_), _), _ = elections_of(epsilon=0.5, m=50, lead=0, elections=elections)
        noises.append(noisy - truth)
    assert stats.kstest(np.ravel(noises), stats.laplace(scale=2).cdf).pvalue > 0.01
    figure, _ = drawn(plots.noisy_max_or_all, epsilon=0.5, m=50, lead=0, elections=7)
    assert [panel.get_title().split(" scale ")[1] for panel in figure.axes[:2]] == ["2", "100"]


def test_the_elections_that_the_lesson_counts():
    (few, many), _ = elections_of(epsilon=0.5, m=10, lead=10, elections=100)
    assert (few[3][0], many[3][0]) == (94, 14)
    (_, many), _ = elections_of(epsilon=0.5, m=10, lead=100, elections=100)
    assert many[3][0] == 94, "ten times the lead against ten times the noise"


def test_coupling_shows_two_tails_within_e_to_the_epsilon():
    for epsilon, thresholds in ((0.5, [1.0, -2.0]), (1.0, [-0.4, 0.0]), (2.0, [-3.0, 2.0])):
        _, description = drawn(plots.coupling, epsilon=epsilon, thresholds=thresholds)
        said = re.findall(
            r"is ([\d.e-]+), the area beyond r\* \+ 1 is ([\d.e-]+)\. .*? is ([\d.]+), at .*? is ([\d.]+)\.",
            description,
        )
        noise = np.random.default_rng(0).laplace(0, 1 / epsilon, 400_000)
        for threshold, numbers in zip(thresholds, said, strict=True):
            first, second, ratio, allowed = map(float, numbers)
            assert first == pytest.approx((noise > threshold).mean(), abs=3e-3)
            assert second == pytest.approx((noise > threshold + 1).mean(), abs=3e-3)
            assert ratio <= allowed == pytest.approx(math.exp(epsilon), abs=1e-3)
            assert (ratio == allowed) == (threshold >= 0), "exactly so much from 0 on, less on the left of it"


def test_noise_per_count_draws_the_three_deviations():
    figure, description = drawn(plots.noise_per_count, epsilon=0.5, delta=1e-6)
    curves = lines(figure)
    m = curves["Laplace, δ = 0"][:, 0]
    assert curves["Laplace, δ = 0"][:, 1] == pytest.approx(math.sqrt(2) * m / 0.5)
    assert curves["Gaussian, classic"][:, 1] == pytest.approx(gdp.classic_sigma(0.5, 1e-6) * np.sqrt(m))
    analytic = curves["Gaussian, analytic"][:, 1]
    assert analytic == pytest.approx(gdp.analytic_sigma(0.5, 1e-6, sensitivity=1.0) * np.sqrt(m))
    crossings = [float(x) for line in figure.axes[0].lines if line.get_marker() == "o" for x in line.get_xdata()]
    for at, deviations in zip(crossings, (analytic, curves["Gaussian, classic"][:, 1]), strict=True):
        better = m[deviations < curves["Laplace, δ = 0"][:, 1]]
        assert better[0] - 2 <= at <= better[0], "Gaussian noise is smaller beyond it"
        assert f"at m = {at:.3g} with" in description
    assert crossings[1] == pytest.approx(math.log(1.25e6)), "where sqrt(m) sqrt(2 ln(1.25/δ)) is sqrt(2) m"
    without, _ = drawn(plots.noise_per_count, epsilon=1.5, delta=1e-6)
    assert "Gaussian, classic" not in lines(without), "it is proved for epsilon < 1 only"


# ---- lesson 03


@pytest.mark.parametrize(("mu", "threshold"), [(1.0, 1.2), (0.0, -2.0), (4.0, 5.0)])
def test_two_errors_hatches_the_two_errors_and_puts_the_point_on_the_curve(mu, threshold):
    figure, description = drawn(plots.two_errors, mu=mu, threshold=threshold)
    left, right = figure.axes
    miss, alarm = (area(collection) for collection in left.collections)
    (point,) = [line.get_xydata()[0] for line in right.lines if line.get_marker() == "o"]
    assert alarm == pytest.approx(point[0], abs=0.02), "a quarter of a grid cell of 0.05 at a height of 0.4"
    assert miss == pytest.approx(point[1], abs=0.02)
    assert tradeoff.gaussian(mu)(point[0]) == pytest.approx(point[1], abs=1e-12)
    assert f"alpha {point[0]:.3g}, and the miss, beta {point[1]:.3g}" in description


def area(collection):
    """The area of a filled region, by the shoelace formula."""
    total = 0.0
    for path in collection.get_paths():
        x, y = path.vertices.T
        total += abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    return total


def test_three_of_the_candidates_are_tradeoff_functions():
    figure, _ = drawn(plots.candidates, curve="all six")
    lawful = []
    for panel in figure.axes:
        alpha, beta = panel.lines[0].get_xydata().T
        convex = (np.diff(np.diff(beta) / np.diff(alpha)) > -1e-9).all()
        jumps = any(line.get_fillstyle() == "none" for line in panel.lines)
        if convex and not jumps and (np.diff(beta) <= 1e-12).all() and (beta <= 1 - alpha + 1e-12).all():
            lawful.append(panel.texts[0].get_text())
    assert lawful == ["A", "C", "F"]
    for name in plots.SIX_CURVES[1:]:
        one, _ = drawn(plots.candidates, curve=name)
        assert ("is a trade-off function" in one.axes[0].get_title()) == (name in lawful)


@pytest.mark.parametrize(
    ("curve", "broken", "thick"),
    [
        ("A", "", None),
        ("B", "14", (0.005, 0.995)),  # the first and the last point inside
        ("C", "", None),
        ("D", "2", (0, 0)),
        ("E", "13", (0.32, 0.57)),
        ("F", "", None),
    ],
)
def test_a_candidate_is_thick_where_it_jumps_rises_or_lies_too_high_and_hatched_where_it_bulges(curve, broken, thick):
    figure, description = drawn(plots.candidates, curve=curve)
    panel, laws = figure.axes
    assert [text.get_text()[0] for text in laws.texts] == ["✗" if law in broken else "✓" for law in "1234"]
    assert description.count("✗") == 1 + len(broken)
    marked = np.concatenate([line.get_xydata() for line in panel.lines if line.get_linewidth() > 4])
    marked = marked[~np.isnan(marked).any(axis=1)]
    assert (len(marked) > 0) == (thick is not None)
    if thick:
        assert (marked[:, 0].min(), marked[:, 0].max()) == pytest.approx(thick, abs=0.006)
    alpha, beta = panel.lines[0].get_xydata().T
    hatched = sum(area(collection) for collection in panel.collections)
    assert (hatched > 0.01) == ("1" in broken)
    if curve == "B":
        assert hatched == pytest.approx(np.trapezoid(beta - (1 - alpha), alpha), rel=0.01), "down to the diagonal"
    if curve == "D":
        assert sorted(marked[:, 1]) == [0.6, 1]
    if curve == "E":
        assert np.diff(beta[(alpha >= thick[0]) & (alpha <= thick[1])]).min() > 0, "there it rises"
        assert hatched == pytest.approx(np.trapezoid(beta - lower_hull(alpha, beta), alpha), rel=0.01)


def lower_hull(alpha, beta):
    """The largest convex curve below: at each place the lowest of all straight lines between two points around it."""
    lowest = beta.copy()
    for i, j in itertools.combinations(range(0, len(alpha), 2), 2):
        inner = slice(i, j + 1)
        line = np.interp(alpha[inner], alpha[[i, j]], beta[[i, j]])
        lowest[inner] = np.minimum(lowest[inner], line)
    return lowest


@pytest.mark.parametrize(("mu", "expected"), [(1.0, [2]), (1.2, [1, 2]), (1.3, [0, 1, 2]), (0.4, [])])
def test_which_are_fdp_agrees_with_the_algebra_and_marks_all_that_is_broken(mu, expected):
    curves = [tradeoff.approx_dp(1.0), tradeoff.laplace(1.0), tradeoff.gaussian(0.5), tradeoff.approx_dp(0.0, 0.05)]
    promise = tradeoff.gaussian(mu)
    assert [i for i, curve in enumerate(curves) if curve >= promise] == expected
    for i, mechanism in enumerate(plots.FOUR_MECHANISMS):
        figure, description = drawn(plots.which_are_fdp, mechanism=mechanism, mu=mu)
        left, right = figure.axes
        assert right.get_title().startswith("nowhere below") == (i in expected)
        assert ("so the mechanism is f-DP" in description) == (i in expected)
        assert ("So the mechanism is not f-DP" in description) == (i not in expected)
        alpha, beta = left.lines[1].get_xydata().T
        assert beta == pytest.approx(curves[i](alpha))
        assert right.lines[1].get_ydata() == pytest.approx(beta - promise(alpha))
        thick = [line.get_ydata() for panel in (left, right) for line in panel.lines if line.get_label() == "broken"]
        circles, beside = (
            [line.get_xydata()[0] for line in panel.lines if line.get_marker() == "o"] for panel in (left, right)
        )
        assert len(thick) == 2 * len(circles) == 2 * len(beside) == (0 if i in expected else 2)
        for heights in thick:
            assert (~np.isnan(heights)).tolist() == (beta < promise(alpha) - 1e-9).tolist()
        for place, height in circles:
            assert height == pytest.approx(curves[i](place)), "on the curve"
            assert beside[0].tolist() == pytest.approx([place, height - promise(place)])
            assert height < promise(place)
            assert (beta - promise(alpha)).min() >= height - promise(place) - 1e-4, "nowhere further below"


@pytest.mark.parametrize(
    ("name", "arguments", "count"),
    [
        ("two_errors", {"mu": 1.0, "threshold": 1.2}, 1),
        ("candidates", {"curve": "all six"}, 6),
        ("candidates", {"curve": "E"}, 1),
        ("approx_dp_lines", {"epsilon": 1.0, "delta": 0.1}, 1),
        ("which_are_fdp", {"mechanism": "Laplace noise", "mu": 1.0}, 1),
        ("symmetry", {}, 2),
        ("duality", {"mu": 1.0, "epsilon": 1.0}, 1),
        ("group_limit", {"group_epsilon": 2.0, "k": 3}, 1),
    ],
)
def test_tradeoff_curves_of_lesson_03_stand_in_squares_with_their_names_outside(name, arguments, count):
    figure, _ = drawn(getattr(plots, name), **arguments)
    figure.draw_without_rendering()
    squares = [panel for panel in figure.axes if panel.get_xlabel()[:1] == "α" and panel.get_ylabel()[:1] == "β"]
    squares = [panel for panel in squares if not panel.get_ylabel().startswith("β less")]
    assert len(squares) == count
    for panel in squares:
        (left, right), (low, high) = panel.get_xlim(), panel.get_ylim()
        assert (right - left) / panel.bbox.width == pytest.approx((high - low) / panel.bbox.height)
        if legend := panel.get_legend():
            assert not legend.get_window_extent().overlaps(panel.bbox)


def test_symmetry_mirrors_the_curve():
    figure, _ = drawn(plots.symmetry)
    curves = lines(figure)
    f = one_sided()
    for x, y in curves["f inverse"][1:-1:20]:
        assert f(y) == pytest.approx(x, abs=1e-9) or y == 0
    best = curves["max of both"][:, 1]
    assert (best >= curves["f"][:, 1] - 1e-12).all()
    assert (best >= curves["f inverse"][:, 1] - 1e-12).all()
    assert (np.minimum(abs(best - curves["f"][:, 1]), abs(best - curves["f inverse"][:, 1])) < 1e-12).all()


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (0.0, 0.0), (3.0, 0.5)])
def test_approx_dp_lines_meet_at_the_point(epsilon, delta):
    figure, _ = drawn(plots.approx_dp_lines, epsilon=epsilon, delta=delta)
    curves = lines(figure)
    steep, flat = curves["1 − δ − eᵋα"], curves["e⁻ᵋ(1 − δ − α)"]
    assert curves["the largest, or 0"][:, 1] == pytest.approx(np.maximum(0, np.maximum(steep[:, 1], flat[:, 1])))
    (point,) = [line.get_xydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert ("both lines are the same" in figure.axes[0].get_title()) == (epsilon == 0)
    assert 1 - delta - math.exp(epsilon) * point[0] == pytest.approx(point[1])
    assert math.exp(-epsilon) * (1 - delta - point[0]) == pytest.approx(point[1])


@pytest.mark.parametrize(("mu", "epsilon"), [(1.0, 1.0), (0.3, 6.0), (3.0, 0.0)])
def test_duality_touches_from_below(mu, epsilon):
    figure, description = drawn(plots.duality, mu=mu, epsilon=epsilon)
    left, right = figure.axes
    curves = lines(figure)
    lower = curves["(ε, δ(ε))-DP"]
    assert (lower[:, 1] <= tradeoff.gaussian(mu)(lower[:, 0]) + 1e-12).all()
    touching = next(line.get_xydata() for line in left.lines if line.get_marker() == "o")
    pair = tradeoff.approx_dp(epsilon, gdp.delta(epsilon, mu))
    places = len({round(alpha, 9) for alpha, _ in touching})
    assert left.get_title().endswith({1: "touch G once", 2: "touch G twice"}[places])
    for alpha, beta in touching:
        assert pair(alpha) == pytest.approx(beta, abs=1e-9)
        assert tradeoff.gaussian(mu)(alpha) == pytest.approx(beta, abs=1e-9)
    grid = right.lines[0].get_xydata()
    assert 10 ** grid[20, 1] == pytest.approx(gdp.delta(grid[20, 0], mu))
    assert f"at epsilon {epsilon:.2f} delta is {gdp.delta(epsilon, mu):.2g}" in description


def test_group_limit_approaches_laplace():
    gaps = []
    for k in (2, 4, 8):
        figure, description = drawn(plots.group_limit, group_epsilon=2.0, k=k)
        curves = lines(figure)
        group, limit = curves[f"group of {k}"][:, 1], curves["Laplace"][:, 1]
        assert (group <= limit + 1e-12).all()
        assert (group >= curves["(kε)-DP"][:, 1] - 1e-12).all()
        step = 2.0 / k  # at the corner nearest to the middle: lesson 03, section 9
        gaps.append((1 + math.exp(-step)) / 4 * math.tanh(step / 2) ** 2)
        assert np.abs(group - limit).max() <= gaps[-1], "the points that are drawn miss the corners"
        assert f"is up to {gaps[-1]:.3f} away" in description
    assert gaps[0] > 2.5 * gaps[1] > 2.5**2 * gaps[2]
    figure, description = drawn(plots.group_limit, group_epsilon=0.5, k=20)
    assert "less than 0.001" in figure.axes[1].get_title()
    assert np.abs(figure.axes[1].lines[1].get_ydata()).max() < 0.001
    assert "less than 0.001 away" in description


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10])
def test_noise_sizes_cross_where_the_classic_promise_breaks(delta):
    figure, description = drawn(plots.noise_sizes, delta=delta)
    stated = float(re.search(r"too small from ε ≈ ([\d.]+) on", description)[1])
    assert gdp.classic_sigma(stated, delta) == pytest.approx(gdp.analytic_sigma(stated, delta), rel=0.01)
    curve = lines(figure)["classic σ / least σ"]
    for x, ratio in curve:
        kept = gdp.delta(10**x, 1 / gdp.classic_sigma(10**x, delta)) <= delta
        assert kept == (ratio >= 1)
    assert ratio < 1 < curve[0, 1]


# ---- lesson 04


def test_product_draws_f_g_and_their_tensor_product():
    for epsilon, mu in ((1.0, 1.0), (3.0, 2.5), (0.0, 1.0), (1.0, 0.0)):
        figure, description = drawn(plots.product, epsilon=epsilon, mu=mu)
        curves = lines(figure)
        alpha, both = curves["f ⊗ g: both answers"].T
        f, g = tradeoff.approx_dp(epsilon), tradeoff.gaussian(mu)
        assert both == pytest.approx((f @ g)(alpha), abs=1e-5)
        assert curves["f: randomized response"][:, 1] == pytest.approx(f(alpha))
        assert (both <= np.minimum(f(alpha), g(alpha)) + 1e-5).all()
        assert f"{(f @ g)(0.1):.2f}." in description


@pytest.mark.parametrize("mechanism", plots.MECHANISMS)
@pytest.mark.parametrize(("size", "n"), [(0.05, 1), (0.5, 10), (1.0, 100)])
def test_limit_draws_the_exact_curve_within_what_is_proved(mechanism, size, n):
    figure, description = drawn(plots.limit, mechanism=mechanism, size=size, n=n)
    f = plots.MECHANISMS[mechanism](size)
    mu, gamma = clt.berry_esseen([f] * n)
    left, middle, lens = ({line.get_label(): line.get_xydata() for line in panel.lines} for panel in figure.axes)
    alpha, beta = middle["exactly"].T
    assert beta == pytest.approx(f.power(n)(alpha), abs=1e-5)
    assert middle["limit Gμ"][:, 1] == pytest.approx(tradeoff.gaussian(mu)(alpha))
    epsilon, log_delta = lens["_child0"][:-20:10].T
    assert 10**log_delta == pytest.approx(f.power(n).delta(epsilon), rel=0.01)
    low, high = clt_plots.proved(mu, gamma)
    assert (low <= beta + 1e-9).all()
    assert (beta <= high + 1e-9).all()
    inside = np.abs(alpha - 0.5) < 0.5 - gamma
    theorem = tradeoff.gaussian(mu)(alpha[inside] + gamma) - gamma
    assert low[inside] == pytest.approx(np.maximum(theorem, 0))
    loss, below = left["exactly"][1:-1].T  # a step function, drawn through both ends of each step
    near = np.interp(loss, *left["normal"].T)
    assert (np.abs(below - near) < gamma + 0.01).all()
    assert f"gamma is {gamma:.2g}" in description
    assert ("too large to prove anything" in description) == (gamma >= 0.5)
    areas = {area.get_label() for panel in figure.axes for area in panel.collections}
    assert areas == {"± γ", "proved" if gamma < 0.5 else "β ≤ 1 - α"}
    assert "1 answers" not in description


@pytest.mark.parametrize(("n", "title"), [(1, "0.5, limit 2.02"), (64, "22.7, limit 24.7"), (1024, "190, limit 199")])
def test_limit_shows_delta_under_a_lens_exactly_and_by_the_limit(n, title):
    """The exact one of n reports by the binomial law."""
    figure, description = drawn(plots.limit, mechanism="randomized response", size=0.5, n=n)
    mu = clt.berry_esseen([tradeoff.approx_dp(0.5)] * n)[0]
    exact, limit, _, rings = (line.get_xydata() for line in figure.axes[2].lines)
    for epsilon, log_delta in exact[:-1:30]:
        assert 10**log_delta == pytest.approx(composition.optimal_delta(0.5, 0, n, epsilon), rel=1e-4)
    assert exact[-1, 1] == pytest.approx(-8, abs=0.01)
    assert 10 ** limit[:, 1] == pytest.approx(gdp.delta(limit[:, 0], mu))
    assert limit[-1, 1] == pytest.approx(-8, abs=0.01)
    assert rings[:, 0] == pytest.approx([composition.optimal(0.5, 0, n, 1e-5), gdp.epsilon(1e-5, mu)])
    assert rings[:, 1] == pytest.approx(-5)
    assert figure.axes[2].get_title() == f"ε = {title}"
    said = title.replace(", limit", " and the limit's")
    assert f"the exact epsilon is {said}." in description
    sunk = [text.get_text() for text in figure.axes[1].texts if "axes" in text.get_text()]
    assert bool(sunk) == ("lie along the axes" in description) == (mu > 4)


def test_limit_error_hatches_each_side_by_the_sign_of_the_error():
    seen = set()
    for setting in [(0.6, 0.001, 1000), (0.5, 0.03, 10_000), (0.5, 0.01, 1000)]:
        figure, description = drawn(plots.limit_error, **dict(zip(plots.settings(), setting, strict=True)))
        curves = lines(figure)
        exact, limit = curves["exact (certified)"][:, 1], curves["limit"][:, 1]
        areas = figure.axes[0].collections
        assert len({area.get_hatch() for area in areas}) == 2
        hatched = {area.get_label() for area in areas if area.get_paths()}
        lower, upper = clt_plots.certified(*setting)
        sides = {"promises too much": (limit < lower).any(), "promises too little": (limit > upper).any()}
        assert hatched == {side for side, there in sides.items() if there}
        seen.add(frozenset(hatched))
        assert ("dangerous side" in description) == (limit[8] < exact[8])
        assert ("The lines cross near delta 3e-04" in description) == (setting == (0.5, 0.01, 1000))
    assert len(seen) >= 2
    _, description = drawn(plots.limit_error, noise_multiplier=4.0, sample_rate=0.01, steps=10_000)
    assert "the same up to 0.5 %" in description
    assert "dangerous" not in description
    mu = clt.noisy_sgd_mu(0.5, 0.01, 1000)
    deltas = 10.0 ** curves["limit"][:, 0]
    assert limit == pytest.approx([gdp.epsilon(float(delta), mu) for delta in deltas], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("seed", range(by_profile("stored numbers computed anew", 2, 6)))
def test_the_stored_intervals_are_those_that_pld_certifies(seed):
    """Two intervals that hold the same truth overlap, and both are narrow."""
    rng = np.random.default_rng(seed)
    setting = [rng.choice(values).item() for values in plots.settings().values()]
    lower, upper = clt_plots.certified(*setting)
    assert (lower <= upper).all()
    assert (upper - lower <= 1e-3 * upper).all()
    assert upper[8] > 0
    for i in rng.choice(lower.size, 2, replace=False):
        again = pld.noisy_sgd(*setting).epsilon(float(clt_plots.TABLE["delta"][i]))
        assert again.lower <= upper[i]
        assert lower[i] <= again.upper


def test_a_setting_that_is_not_stored_is_named():
    with pytest.raises(ValueError, match=r"sample_rate must be one of \[0.0003, .*\], got 0.5"):
        clt_plots.certified(1.0, 0.5, 1000)


# ---- lesson 05


@pytest.mark.parametrize("clip_norm", [0.1, 1.5, 8.0])
def test_clipping_cuts_the_long_arrows_and_adds_both_errors(clip_norm):
    figure, description = drawn(plots.clipping, clip_norm=clip_norm, noise_multiplier=2.0)
    left, right = figure.axes
    cut_off, arrows = (np.array(collection.get_segments()) for collection in left.collections)
    whole, kept = cut_off[:, 1], arrows[:, 1]
    assert (cut_off[:, 0] == kept).all()
    assert (arrows[:, 0] == 0).all()
    lengths, ends = np.linalg.norm(whole, axis=1), np.linalg.norm(kept, axis=1)
    assert ends == pytest.approx(np.minimum(lengths, clip_norm))
    assert (whole * ends[:, None]) == pytest.approx(kept * lengths[:, None]), "in the direction it had"
    assert f"{(lengths > clip_norm).sum()} of them are longer" in description
    curves = {line.get_label(): line.get_xydata() for line in right.lines}
    lost, noise, both = (curves[name][:, 1] for name in ("lost by clipping", "added as noise", "both"))
    assert both**2 == pytest.approx(lost**2 + noise**2)
    stated = re.search(r"Here they are ([\d.]+) and ([\d.]+)\.", description)
    assert float(stated[1]) == pytest.approx(np.linalg.norm(whole.mean(axis=0) - kept.mean(axis=0)), abs=0.005)
    drawn_noise = np.random.default_rng(0).normal(0, 2.0 * clip_norm, (20_000, 2)) / len(whole)
    assert float(stated[2]) == pytest.approx(math.sqrt((drawn_noise**2).sum(axis=1).mean()), abs=0.01)


@pytest.mark.parametrize(("p", "noise_multiplier"), [(0.3, 0.5), (0.0, 1.0), (1.0, 2.0), (0.05, 3.0)])
def test_sampled_draws_the_mixture_its_mirror_image_and_a_convex_curve_below_both(p, noise_multiplier):
    (left,) = drawn(plots.sampled, p=p, noise_multiplier=noise_multiplier)[0].axes
    figure, description = drawn(plots.both_directions, p=p, noise_multiplier=noise_multiplier)
    left, right = ({line.get_label(): line.get_xydata() for line in panel.lines} for panel in (left, *figure.axes))
    one_way = left["fₚ = p G + (1 − p) Id"]
    assert one_way[:, 1] == pytest.approx(p * left["G: drawn"][:, 1] + (1 - p) * left["Id: not drawn"][:, 1], abs=1e-9)
    inverse = right["its inverse: with against without"]
    assert inverse == pytest.approx(one_way[:, ::-1])
    alpha, both = right["both directions: the hull"].T
    assert (np.diff(np.diff(both) / np.diff(alpha)) >= -1e-6).all()
    mirrored = np.interp(alpha, *inverse[::-1].T)
    assert (both <= np.minimum(one_way[:, 1], mirrored) + 1e-4).all()
    assert both == pytest.approx(np.interp(alpha, both[::-1], alpha[::-1]), abs=2e-3), "its own mirror image"
    (left_end, high), (right_end, low) = right["straight between these"]
    between = (left_end < alpha) & (alpha < right_end)
    assert both[between] == pytest.approx(high - (alpha[between] - left_end), abs=1e-3), "straight, of slope -1"
    assert (low, high) == pytest.approx((left_end, right_end)), "a chord that is its own mirror image"
    assert both[~between] == pytest.approx(np.minimum(one_way[:, 1], mirrored)[~between], abs=2e-3), (
        "else the lower one"
    )
    assert f"which is {tradeoff.gaussian(1 / noise_multiplier).subsampled(p)(0.1):.2f} at" in description


@pytest.mark.parametrize(("noise_multiplier", "step"), [(1.0, 60), (0.5, 37), (2.0, 6)])
def test_beside_the_noise_the_odds_are_the_ratio_of_what_was_read_with_mias_row_filled_and_empty(
    noise_multiplier, step
):
    arguments = {"noise_multiplier": noise_multiplier, "step": step}
    figure, description = drawn(plots.beside_the_noise, **arguments)
    left, right = figure.axes
    (hers,), read = (collection.get_segments() for collection in right.collections), lines(figure)["what is read"][:, 1]
    drawn_in = {round(start[0]): end[1] for start, end in hers}  # steps, and how long her gradient is
    told, length, along, _ = dpsgd_plots._trained_on_mia(noise_multiplier)
    assert drawn_in == pytest.approx(
        dict(zip(np.flatnonzero(told[:step]) + 1, length[:step][told[:step]], strict=True))
    )
    noise = read - [drawn_in.get(t, 0.0) for t in range(1, step + 1)]
    assert noise == pytest.approx(along[:step])
    assert stats.kstest(along / noise_multiplier, stats.norm.cdf).pvalue > 1e-3, (
        "in any one direction it has the deviation σR"
    )
    with_her = 0.1 * stats.norm.pdf(read, length[:step], noise_multiplier)
    without = stats.norm.pdf(read, 0, noise_multiplier)
    odds = np.prod((with_her + 0.9 * without) / without)
    assert re.search(r"are ([\d.,]+) to 1", description)[1] == f"{float(f'{odds:.2g}'):g}"
    lengths = [bar.get_width() for bar in left.patches]
    assert lengths[1] + lengths[2] == pytest.approx(lengths[3])
    assert lengths[0] == pytest.approx(noise_multiplier * math.sqrt(650), rel=0.1)


def test_beside_the_noise_mias_gradient_is_at_first_that_of_a_model_that_knows_nothing_and_shrinks_as_it_learns_her():
    digits = load_digits()
    pixels = np.r_[digits.data[0] / 16, 1]
    at_first = np.outer(pixels, 0.1 - np.eye(10)[digits.target[0]])
    assert dpsgd_plots._softmax_gradients(np.zeros(650), pixels[None], digits.target[:1])[0] == pytest.approx(
        at_first.ravel()
    )
    _, length, *_ = dpsgd_plots._trained_on_mia(1.0)
    assert length[0] == pytest.approx(min(1, np.linalg.norm(at_first) / 2))
    assert length.max() <= 1 + 1e-12
    assert length[-10:].max() < 0.5


def test_accountants_race_up_to_the_epochs_with_their_numbers_at_the_lines_ends():
    figure, description = drawn(plots.accountants, noise_multiplier=0.7, batch=256, epochs=50)
    curves = {name: curve for name, curve in lines(figure).items() if not name.startswith("_")}
    assert {curve[-1, 0] for curve in curves.values()} == {50.0}, "no line is ahead of the epoch"
    at = {name: curve[-1, 1] for name, curve in curves.items()}
    rate, steps = 256 / 60_000, round(50 * 60_000 / 256)
    assert at["moments accountant"] == pytest.approx(rdp.epsilon(0.7, rate, steps, 1e-5, conversion="classic"))
    assert at["Rényi, improved"] == pytest.approx(rdp.epsilon(0.7, rate, steps, 1e-5))
    assert at["limit"] == pytest.approx(gdp.epsilon(1e-5, clt.noisy_sgd_mu(0.7, rate, steps)))
    assert at["exact"] == pytest.approx(pld.noisy_sgd(0.7, rate, steps).epsilon(1e-5).upper)
    assert at["basic composition"] == pytest.approx(steps * pld.noisy_sgd(0.7, rate, 1).epsilon(1e-5 / steps).upper)
    labels = {text.get_text().split(": ")[0]: text for text in figure.axes[0].texts}
    assert labels["basic composition"].get_text() == f"basic composition: {at['basic composition']:,.0f}, off the top"
    heights = {name: label.get_position()[1] for name, label in labels.items() if name != "basic composition"}
    assert sorted(heights, key=heights.get) == sorted(heights, key=at.get), "the labels are in the order of the race"
    assert np.diff(sorted(heights.values())).min() > 0.07 * figure.axes[0].get_ylim()[1], "and not on each other"
    for name in heights:
        assert labels[name].get_text() == f"{name}: {at[name]:.2f}"
        assert f"{name} {at[name]:.2f}" in description
    _, description = drawn(plots.accountants, noise_multiplier=0.7, batch=256, epochs=45)
    assert float(re.search(r"moments accountant ([\d.]+),", description)[1]) == pytest.approx(7.10, abs=0.01), (
        "the paper's own number"
    )
    assert float(re.search(r"exact ([\d.]+),", description)[1]) == pytest.approx(5.64, abs=0.01)


@pytest.mark.parametrize(
    ("noise_multiplier", "batch", "epochs"), [(13, 1024, 1), (6, 1024, 1), (9, 1024, 1), (13, 64, 1)]
)
def test_accountants_say_where_basic_composition_is_while_it_is_still_in_the_picture(noise_multiplier, batch, epochs):
    (panel,) = drawn(plots.accountants, noise_multiplier=noise_multiplier, batch=batch, epochs=epochs)[0].axes
    (label,) = (text for text in panel.texts if text.get_text().startswith("basic"))
    end = lines(panel.figure)["basic composition"][-1, 1]
    top = panel.get_ylim()[1]
    assert ("off the top" in label.get_text()) == (end > top)
    assert label.get_position()[1] <= top
    rate, steps = batch / 60_000, round(epochs * 60_000 / batch)
    assert end == pytest.approx(steps * pld.noisy_sgd(noise_multiplier, rate, 1).epsilon(1e-5 / steps).upper)


@pytest.mark.parametrize(
    ("batch", "epochs"), by_profile("settings of noise_needed", [(256, 60)], [(256, 60), (64, 7), (1024, 100)])
)
def test_noise_needed_is_the_noise_at_which_the_accountant_says_so(batch, epochs):
    figure, _ = drawn(plots.noise_needed, batch=batch, epochs=epochs)
    curves = lines(figure)
    rate, steps = batch / 60_000, round(epochs * 60_000 / batch)
    for name, said in [
        ("limit", lambda noise: gdp.epsilon(1e-5, clt.noisy_sgd_mu(noise, rate, steps))),
        ("exact", lambda noise: pld.noisy_sgd(noise, rate, steps).epsilon(1e-5).upper),
        ("moments accountant", lambda noise: rdp.epsilon(noise, rate, steps, 1e-5, conversion="classic")),
    ]:
        for log_wanted, noise in curves[name][5::15]:
            wanted = math.exp(log_wanted)
            if not math.isnan(noise):
                assert said(noise) == pytest.approx(wanted, rel=0.02), "by curves between stored values"
    both = [curves[name][:, 1] for name in ("moments accountant", "Rényi, improved", "exact")]
    over = [line.get_ydata() for line in figure.axes[1].lines]
    assert over[0] == pytest.approx(both[0] / both[2], nan_ok=True)
    gaps = np.diff(both, axis=0)
    assert (gaps[np.isfinite(gaps)] < 0).all(), "a sharper accountant asks for less"
    (broken,) = figure.axes[1].patches
    assert broken.get_y() + broken.get_height() == pytest.approx(1), "below 1 the promise is broken"
    assert broken.get_y() < np.nanmin(over)


@pytest.mark.parametrize("seed", range(by_profile("stored numbers computed anew", 2, 4)))
def test_the_stored_epsilons_are_those_of_the_accountants(seed):
    rng, table = np.random.default_rng(seed), accountants_plots.TABLE
    i, j, k = (
        rng.integers(values_of.size) for values_of in (table["noise_multiplier"], table["batch"], table["epochs"])
    )
    noise, batch, epochs = (table[name][at].item() for name, at in zip(plots.run_settings(), (i, j, k), strict=True))
    rate, steps = batch / 60_000, max(1, round(epochs * 60_000 / batch))
    again = pld.noisy_sgd(noise, rate, steps).epsilon(1e-5)
    assert again.lower <= table["upper"][i, j, k]
    assert table["lower"][i, j, k] <= again.upper
    for name in ("classic", "improved"):
        assert table[name][i, j, k] == pytest.approx(rdp.epsilon(noise, rate, steps, 1e-5, conversion=name))
    assert (table["lower"] <= table["upper"]).all()
    assert (table["upper"] <= table["improved"]).all()
    assert (table["improved"] <= table["classic"]).all()


@pytest.mark.parametrize("epoch", [0, 1, 12, 30])
def test_training_draws_both_runs_so_far_and_empties_the_battery(epoch):
    stored = accountants_plots.RUNS
    figure, description = drawn(plots.training, epoch=epoch)
    left, apart, battery = figure.axes
    accuracies = {line.get_label(): line.get_xydata() for line in left.lines}
    for label, name in [("with Mia", "with_mia"), ("without her", "without"), ("with Mia, other noise", "other_noise")]:
        assert (accuracies[label] == np.c_[np.arange(epoch + 1), stored[name][: epoch + 1]]).all()
    with_mia, without = stored["with_mia"][epoch], stored["without"][epoch]
    assert left.get_title().endswith(f": {with_mia:.3f}, without her {without:.3f}")
    assert f"With Mia's row it is {with_mia:.3f}, without it {without:.3f}." in description
    bars = [bar.get_width() for bar in apart.patches]
    assert bars == [stored["apart_without"][epoch], stored["apart_other_noise"][epoch]]
    assert f"those without her are {bars[0]:.2g} away, and those with other noise {bars[1]:.2g}." in description
    left_over, taken, whole, _ = (bar.get_width() for bar in battery.patches)
    spent = stored["epsilon"][epoch]
    assert whole == 3
    assert left_over == pytest.approx(3 - spent)
    assert taken == pytest.approx(spent - stored["epsilon"][max(epoch - 1, 0)])
    at_most = float(re.search(r"at most ([\d.]+) is spent", description)[1])
    assert spent <= at_most <= spent + 0.001
    assert f"of which {at_most:.3f} is spent" in battery.get_title()


def test_the_stored_trainings_are_those_of_lesson_06():
    from benchmarks import record_digits  # PyTorch is imported for this alone

    stored, again = accountants_plots.RUNS, record_digits.runs(2)
    for name, distance in [("with_mia", 0.03), ("without", 0.03), ("other_noise", 0.03), ("epsilon", 1e-6)]:
        assert again[name] == pytest.approx(stored[name][:3], abs=distance), "another machine rounds otherwise"
    for name in ("apart_without", "apart_other_noise"):
        assert again[name] == pytest.approx(stored[name][:3], rel=0.1)
    source = (SOLUTIONS / "06-accountants.md").read_text(encoding="utf-8")
    for setting in ("expected_batch = len(data.train_inputs), 256", "budget = dpsgd.digits(), 3.0", "# 30 epochs"):
        assert setting in source
    for setting in ("tanh_cnn(data.shape, generator=1)", "lr=0.01", "clip_norm=1.0", "generator=2", "generator=3)"):
        assert setting in source


def test_no_noise_is_named_that_the_table_does_not_reach():
    assert math.isnan(accountants_plots.needed("exact", 64, 1, 100.0))
    assert math.isnan(accountants_plots.needed("exact", 64, 1, 1e-4))
    figure, _ = drawn(plots.noise_needed, batch=64, epochs=1)
    assert np.isnan(lines(figure)["limit"][-1, 1]), "epsilon 8 needs less noise than any in the table"


def test_a_run_that_is_not_stored_is_named():
    with pytest.raises(ValueError, match=r"batch must be one of \[64, 256, 1024\], got 100"):
        accountants_plots.epsilons(1.3, 100)


def test_audited_draws_the_promise_above_the_test_that_breaks_it():
    found = audit.refutation(tradeoff.gaussian(1), *SCORES)
    figure, description = drawn(
        plots.audited, name="G_1", promise=tradeoff.gaussian(1), scores_in=SCORES[0], scores_out=SCORES[1], found=found
    )
    curves = lines(figure)
    alpha, beta = curves["G_1, the promise: no test lies below"].T
    assert beta == pytest.approx(tradeoff.gaussian(1)(alpha))
    alpha, beta = curves["tests of your answer, as seen"].T
    assert beta == pytest.approx(np.maximum(0, 0.5 - alpha), abs=0.01)
    assert f"misses at most {found.as_text[1]}" in description
    assert np.interp(found.alpha, alpha, beta) < found.beta < found.least


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="epsilon must be"):
        drawn(plots.response, epsilon=-1)


# ---- lesson 07


@pytest.mark.parametrize(("mu", "runs", "threshold"), [(1.0, 200, 0.5), (4.0, 5000, -2.0), (0.0, 50, 4.0)])
def test_proof_marks_the_rates_and_their_bounds(mu, runs, threshold):
    figure, description = drawn(plots.proof, mu=mu, runs=runs, threshold=threshold)
    left, right = figure.axes
    with_mia, without = (patch.get_data().values for patch in left.patches)
    assert (with_mia.sum(), without.sum()) == (runs, runs), "every run is in a histogram"
    dot, square = (line.get_xydata()[0] for line in right.lines[-2:])
    out, within = simulated.scores(mu, runs)
    assert dot == pytest.approx([np.mean(out > threshold), np.mean(within <= threshold)])
    errors = np.round(dot * runs)
    assert square == pytest.approx(audit.clopper_pearson(errors, runs, 0.975))
    refuted = square[1] < tradeoff.gaussian(1.0)(square[0])
    assert f"the promise of 1 is {'refuted' if refuted else 'not refuted'}" in description
    assert ("promise refuted" in right.get_title()) == refuted, "refuted if the square lies below the curve"
    before, told = drawn(plots.attack, mu=mu, runs=runs, threshold=threshold)
    assert before.axes[1].lines[-1].get_xydata()[0] == pytest.approx(dot), "the same point, before there are bounds"
    assert not before.axes[1].patches
    assert "proved" not in told + before.axes[1].get_title()


def test_attack_draws_what_was_seen_around_the_true_curve():
    curve = lines(drawn(plots.attack, mu=1.0, runs=5000, threshold=0.5)[0])["seen, all thresholds"]
    assert np.abs(curve[:, 1] - tradeoff.gaussian(1.0)(curve[:, 0])).max() < 0.04


@pytest.mark.parametrize(("mu", "runs"), [(2.0, 1000), (0.5, 50), (3.0, 10_000)])
def test_band_holds_the_truth_and_the_bound_grows_with_the_runs(mu, runs):
    figure, description = drawn(plots.band, mu=mu, runs=runs)
    out, within = simulated.scores(mu, runs)
    found = audit.empirical_tradeoff(within, out)
    for alpha in (0.05, 0.3, 0.7):
        assert found.lower(alpha) <= tradeoff.gaussian(mu)(alpha) <= found.upper(alpha)
    assert f"from {found.lower(0.1):.2f} to {found.upper(0.1):.2f} at alpha 0.1" in description
    curve = lines(figure)["proved, typically"]
    assert (np.diff(curve[:, 1]) > -0.03).all(), "more runs prove more, up to the steps between two ranks"
    assert (curve[:, 1] <= mu).all()
    proved = audit.mu_lower_bound(within, out)
    assert figure.axes[1].lines[-1].get_ydata()[0] == proved
    assert float(re.search(r"Here it is ([\d.]+):", description)[1]) <= proved, "a lower bound is rounded down"


@pytest.mark.parametrize(("mu", "canaries", "share"), [(1.0, 1000, 0.1), (4.0, 300, 1.0), (0.5, 100, 0.01)])
def test_one_run_counts_the_guesses_and_stays_below_the_truth(mu, canaries, share):
    figure, description = drawn(plots.one_run, mu=mu, canaries=canaries, share=share)
    values, coins = simulated.one_run_scores(mu, canaries)
    guesses = max(1, round(share * canaries))
    low, high = (line.get_xdata()[0] for line in figure.axes[0].lines)
    guessed = (values <= low) | (values >= high)
    assert guessed.sum() == guesses
    correct = int((guessed & ((values > mu / 2) == coins)).sum())
    assert figure.axes[0].get_title() == f"{correct:,} of {guesses:,} guesses right"
    proved = audit.one_run_mu_lower_bound(correct, guesses, canaries)
    right = figure.axes[1]
    assert right.lines[-1].get_ydata()[0] == proved < mu
    curves = {line.get_label(): line.get_ydata() for line in right.lines}
    assert (curves["mean of many runs"] <= curves["all guesses right"]).all(), "no run passes the ceiling"
    assert (curves["mean of many runs"] < mu).all(), "one run falls short of the truth, however many guesses"
    assert f"proves {math.floor(100 * proved) / 100:.2f}, and the truth is {mu:g}." in description


@pytest.mark.parametrize("seed", range(by_profile("stored numbers computed anew", 2, 6)))
def test_the_stored_bounds_of_one_run_are_those_of_the_recursion(seed):
    table, rng = simulated.ONE_RUN, np.random.default_rng(seed)
    setting = {name: rng.choice(values).item() for name, values in table.settings().items()}
    guesses = simulated.guesses_of(**setting)
    at = rng.integers(table["right"].size)
    again = audit.one_run_mu_lower_bound(round(table["right"][at] * guesses), guesses, setting["canaries"])
    assert table["mu"][table.place(**setting)][at] == again
    assert simulated.ceiling(1000)[0] == audit.one_run_mu_lower_bound(10, 10, 1000)


def test_the_mean_of_one_run_is_that_of_runs_with_coins():
    """Exactly the lesson's experiment, 300 times: 1,000 canaries, mu 1, the 100 surest guessed for."""
    rng, canaries, guesses = np.random.default_rng(3), 1000, 100
    table, proved = simulated.ONE_RUN, []
    share = int(np.argmin(np.abs(table["share"] - guesses / canaries)))
    guesses = simulated.guesses_of(canaries, table["share"][share])
    bound = functools.cache(lambda count: audit.one_run_mu_lower_bound(count, guesses, canaries))
    for _ in range(300):
        coins = rng.integers(0, 2, canaries)
        scores = rng.normal(0, 1, canaries) + coins
        surest = np.argsort(-np.abs(scores - 0.5))[:guesses]
        proved.append(bound(int(((scores > 0.5) == coins)[surest].sum())))
    error = np.std(proved) / math.sqrt(300)
    assert simulated.mean_proved(1.0, canaries)[share] == pytest.approx(np.mean(proved), abs=5 * error)


@pytest.mark.parametrize(("length", "angle"), [(2.0, 45.0), (0.5, 0.0), (3.0, 80.0)])
def test_canary_shows_the_mu_that_the_mechanisms_have(length, angle):
    figure, description = drawn(plots.canary, length=length, angle=angle)
    row = length * np.array([[math.cos(math.radians(angle)), math.sin(math.radians(angle))]])
    nobody = np.zeros((0, 2))
    for (name, mu), mechanism in zip(simulated.canary_mus(length, angle).items(), MECHANISMS, strict=True):
        out, within = (mechanism((rows, nobody), 1.0, 1.0, 1)[0] for rows in (nobody, row))
        noise = 0.5 if mechanism is audit.half_noise else 1.0
        assert mu == pytest.approx(np.linalg.norm(within - out) / noise)
        assert f"{name} {mu:.2f}" in description
    bars = [bar.get_width() for bar in figure.axes[1].patches]
    assert bars[::-1] == pytest.approx(list(simulated.canary_mus(length, angle).values()))
    accused = [text.get_text() for text in figure.axes[1].texts if text.get_text().endswith("accused")]
    assert len(accused) == sum(bar > 1 + 1e-9 for bar in bars)


MECHANISMS = (audit.correct, audit.half_noise, audit.wrong_sensitivity, audit.unclipped, audit.reused_noise)


def test_gap_draws_the_certified_below_the_proved():
    certified = [(gdp.epsilon(delta, 1.0), delta) for delta in (0.001, 0.01, 0.1, 0.3)]
    rng = np.random.default_rng(0)
    scores = rng.normal(1, 1, 2000), rng.normal(0, 1, 2000)
    figure, _ = drawn(plots.gap, certified=certified, found={"seen": scores})
    floor, proved = (line.get_xydata() for line in figure.axes[0].lines)
    truth = tradeoff.gaussian(1.0)
    assert (floor[:, 1] <= truth(floor[:, 0]) + 1e-9).all()
    assert (proved[:, 1] >= truth(proved[:, 0])).all()
    assert np.interp(0.2, *floor.T) == pytest.approx(truth(0.2), abs=0.02)


def test_gap_refuses_more_attacks_than_it_can_tell_apart():
    with pytest.raises(ValueError, match="found must hold at most 3 attacks, got 4: a, b, c, d"):
        drawn(plots.gap, certified=[(1.0, 0.01)], found=dict.fromkeys("abcd", SCORES))


# ---- lesson 08


def test_low_bits_has_rows_without_a_common_output():
    figure, description = drawn(plots.low_bits)
    rows = [{segment[0, 0] for segment in row.get_segments()} for row in figure.axes[0].collections]
    assert [len(row) for row in rows] == [31, 31]
    assert not rows[0] & rows[1]
    assert "; 0 are in both rows" in description
    outputs = [{count + machine.textbook_noise(2**46 * j, 1.0) for j in range(1, 2**7)} for count in (0, 1)]
    assert not outputs[0] & outputs[1], "nor outside the picture"
    assert all(machine.can_give(count, z, 1.0) for count, row in enumerate(rows) for z in row)


@pytest.mark.parametrize("halvings", [47, 49, 51])
def test_zoomed_shows_the_outputs_of_the_real_sampler(halvings):
    """Each stroke can be given, and doubles between the strokes cannot."""
    figure, description = drawn(plots.zoomed, halvings=halvings)
    half, numbers = 2.0**-halvings, []
    for count, row in enumerate(figure.axes[0].collections):
        there = {0.3 + segment[0, 0] * half for segment in row.get_segments()}
        numbers.append(there)
        step = float(np.spacing(0.3))
        every = [z for z in 0.3 + step * np.arange(-int(half / step), int(half / step) + 1) if abs(z - 0.3) <= half]
        assert there == {z for z in every if machine.can_give(float(count), float(z), 1.0)}
    assert f"{len(numbers[0])} strokes in the row of 0, {len(numbers[1])} in the row of 1" in description
    assert f"and {len(numbers[0] & numbers[1])} of them stand in both" in description


def test_zoomed_says_where_there_are_too_many_outputs():
    figure, description = drawn(plots.zoomed, halvings=40)
    assert "each row is one block" in description
    assert len(figure.axes[0].collections) == 2


@pytest.mark.parametrize(("pairs", "bits"), [(5, 3), (60, 5), (100, 6)])
def test_rings_has_points_on_its_circles_on_the_left_alone(pairs, bits):
    figure, description = drawn(plots.rings, pairs=pairs, bits=bits)
    away = []
    for panel in figure.axes:
        circles = [np.hypot(*line.get_xydata()[0]) for line in panel.lines if line.get_marker() == "None"]
        (points,) = [line.get_xydata() for line in panel.lines if line.get_marker() == "o"]
        assert len(circles) == 2**bits
        assert len(points) == pairs
        k = 2**bits * np.exp(-(np.hypot(*points.T) ** 2) / 2)
        away.append(float(np.abs(k - np.round(k)).mean()))
        rings = 2**bits * np.exp(-(np.array(circles) ** 2) / 2)
        assert np.sort(rings) == pytest.approx(np.arange(1, 2**bits + 1), abs=1e-6)
    assert away[0] < 0.01
    assert away[1] > 0.1
    assert f"{away[1]:.2f} from whole ones" in description


def test_vees_puts_each_release_on_the_line_of_its_count():
    figure, description = drawn(plots.vees, count=32, releases=60)
    seen = lines(figure)
    for centre, label in ((32, "released without her"), (33, "released with Mia")):
        x, y = seen[label].T
        assert np.abs(np.abs(x - centre) - y).max() <= 0.2
    within = len(seen["released with Mia"])
    assert within + len(seen["released without her"]) == 60
    assert f"{within} with her to the second" in description


@pytest.mark.parametrize(("variance", "epsilon"), [(0.25, 1.0), (4.0, 0.5)])
def test_whole_gauss_shows_both_laws_and_both_deltas(variance, epsilon):
    figure, description = drawn(plots.whole_gauss, variance=variance, epsilon=epsilon)
    left, right = figure.axes
    heights = np.reshape([bar.get_height() for bar in left.patches], (2, -1))
    weights = np.exp(-(np.arange(-60, 61.0) ** 2) / (2 * variance))
    assert heights[0] == pytest.approx(weights[60 - 8 : 60 + 10] / weights.sum())
    assert heights[1][1:] == pytest.approx(heights[0][:-1]), "one further"
    curves = {line.get_label(): line.get_xydata() for line in right.lines}
    place = np.argmin(np.abs(curves["real numbers"][:, 0] - epsilon))
    assert curves["real numbers"][place, 1] == pytest.approx(gdp.delta(epsilon, variance**-0.5), rel=1e-6)
    p = weights / weights.sum()
    spill = np.maximum(0, p[1:] - math.exp(epsilon) * p[:-1]).sum()
    assert curves["whole numbers"][place, 1] == pytest.approx(spill, rel=1e-6)
    assert f"it is {spill:.2g} and" in description
