"""Each standard picture: what it draws is what the mathematics says, and its description holds the numbers."""

import ast
import functools
import itertools
import math
import re
from pathlib import Path

import made_up_language
import matplotlib.text
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbformat import read
from scipy import stats
from support import by_profile

from dpcourse import audit, clt, composition, course, gdp, laplace, pld, plots, rdp, tradeoff
from dpcourse.authoring import font
from dpcourse.base import languages
from dpcourse.course.accountants import pictures as accountants_plots
from dpcourse.course.audit import simulated
from dpcourse.course.clt import pictures as clt_plots
from dpcourse.course.gdp.pictures import one_sided

SOLUTIONS = Path(__file__).parents[2] / "solutions"
SCORES = np.arange(200) / 100, np.arange(200) / 100 - 1

COMPUTED = {
    "histogram_release": {"names": ["a", "b", "c"], "counts": [10, 200, 30], "epsilon": 0.1},
    "training": {"at": [10, 20], "accuracies": [0.5, 0.9], "epsilons": [1.0, 1.4], "budget": 2.0},
    "gap": {"certified": [(1.0, 0.01), (0.5, 0.1)], "found": {"seen": SCORES}},
    "audited": {
        "name": "G_1",
        "promise": tradeoff.gaussian(1),
        "scores_in": SCORES[0],
        "scores_out": SCORES[1],
        "found": audit.refutation(tradeoff.gaussian(1), *SCORES),
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
    """The arguments after the picture, of a slider where it stands at first; None where they are computed."""
    try:
        return {argument.arg: at_first(argument.value) for argument in call.keywords}
    except ValueError:
        return None


def at_first(node):
    """The value that is written here; of `widgets.slider(label, low, high, start)` and `choice(label, values, start)` the start."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("widgets.slider", "widgets.choice"):
        node = node.args[-1]
    return ast.literal_eval(node)


SHOWN = [*shown(), LAPLACE]
SOME = by_profile("pictures drawn twice: every so-manieth", 2, 1)


def drawn(picture, **arguments):
    figure = Figure()
    return figure, picture(figure, **arguments)


def lines(figure):
    return {line.get_label(): line.get_xydata() for panel in figure.axes for line in panel.lines}


@pytest.mark.parametrize(("name", "arguments"), SHOWN[::SOME])
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


def test_response_shows_the_definition():
    figure, description = drawn(plots.response, epsilon=1.0)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights[0] / heights[2] == pytest.approx(math.e)
    assert heights[0] + heights[1] == pytest.approx(1)
    assert "0.73" in description
    assert "2.72" in description


def test_response_error_is_the_spread_of_repeated_surveys():
    _, description = drawn(plots.response_error, epsilon=1.0, n=500, share=0.3)
    stated = float(re.search(r"people it is ([\d.]+)\.", description)[1])
    rng = np.random.default_rng(0)
    truth = np.arange(500) < 150
    seen = np.std(
        [composition.debiased_mean(composition.randomized_response(truth, 1.0, rng), 1.0) for _ in range(3000)]
    )
    assert seen == pytest.approx(stated, rel=0.06)


def test_repeated_is_the_frequency_of_a_right_majority_and_stays_below_the_bound():
    figure, _ = drawn(plots.repeated, epsilon=0.5, k=40)
    curves = lines(figure)
    guess, bound = curves["majority of the reports"], curves["most that kε-DP allows"]
    assert (guess[:, 1] <= bound[:, 1] + 1e-12).all()
    rng = np.random.default_rng(0)
    kept = composition.randomized_response(np.ones(20_000 * 9, dtype=int), 0.5, rng).reshape(20_000, 9).sum(axis=1)
    assert guess[8, 1] == pytest.approx((kept > 4.5).mean(), abs=0.015)


def test_two_hills_are_the_chances_of_each_number_of_yes_reports():
    figure, description = drawn(plots.two_hills, epsilon=1.0)
    rng = np.random.default_rng(0)
    for panel, k in zip(figure.axes, (1, 2, 8, 20), strict=True):
        p, q = np.array([bar.get_height() for bar in panel.patches]).reshape(2, k + 1)
        for heights, bit in ((p, 1), (q, 0)):
            reports = composition.randomized_response(np.full(k * 50_000, bit), 1.0, rng).reshape(50_000, k)
            seen = np.bincount(reports.sum(axis=1), minlength=k + 1) / 50_000
            assert heights == pytest.approx(seen, abs=0.012)
        best = (1 + composition.optimal_delta(1.0, 0, k, 0.0)) / 2
        assert f"{2 * (1 - best):.2f} for k = {k}" in description, "what is common is twice the error of the best guess"


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


def test_spill_adds_up_to_delta():
    figure, description = drawn(plots.spill, epsilon=0.3, k=20, epsilon_total=2.0)
    hatched = [bar.get_height() for bar in figure.axes[0].patches if bar.get_hatch()]
    assert sum(hatched) == pytest.approx(composition.optimal_delta(0.3, 0, 20, 2.0))
    assert "delta 0.092" in description
    bars = figure.axes[0].patches
    covered, loss = np.array([bar.get_height() for bar in bars[:21]]), 0.3 * (2 * np.arange(21) - 20)
    q = lines(figure)["Q"][::3, 1]  # of each mark its first end
    allowed = lines(figure)["$e^{ε_{tot}}$ Q"][::3, 1]
    marked = ~np.isnan(q)
    assert marked.sum() == 21, "Q is drawn at every number"
    assert q.sum() == pytest.approx(1)
    assert allowed[14:] == pytest.approx(math.exp(2) * q[14:])
    assert covered[14:] == pytest.approx(allowed[14:]), "P is covered up to the mark"
    assert covered[:13] == pytest.approx((np.exp(loss) * q)[:13]), "and elsewhere P is all covered"


# ---- lesson 02


def trapezoid(xy):
    return np.trapezoid(xy[:, 1], xy[:, 0])


def test_laplace_pair_shows_densities_and_the_log_of_their_ratio():
    figure, description = drawn(plots.laplace_pair, epsilon=2.0, change=1.0)
    curves = lines(figure)
    first, second, loss = curves["with Mia"], curves["without her"], curves["log of the ratio"]
    assert trapezoid(first) == pytest.approx(1, abs=2e-3)
    assert first[np.argmax(first[:, 1]), 0] - second[np.argmax(second[:, 1]), 0] == pytest.approx(1, abs=0.05)
    assert loss[:, 1] == pytest.approx(np.log(first[:, 1] / second[:, 1]))
    assert np.abs(loss[:, 1]).max() == pytest.approx(2)
    assert "the promise is kept" in description
    assert "the promise is broken" in drawn(plots.laplace_pair, epsilon=2.0, change=1.1)[1]


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
    from statsmodels.datasets import fair

    values = fair.load_pandas().data["affairs"].to_numpy()
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


def test_noisy_max_or_all_draws_the_exact_chances_of_both():
    figure, description = drawn(plots.noisy_max_or_all, epsilon=0.2, m=5, lead=13)
    left, right = (
        {line.get_label(): dict(line.get_xydata().tolist()) for line in panel.lines} for panel in figure.axes
    )
    counts = [113, 100, 100, 100, 100]
    for label, scale in (("noisy max", 5.0), ("release all", 25.0)):
        assert right[label][13] == pytest.approx(laplace.noisy_max_chances(counts, 1 / scale)[0])
        x, density = max(left[label].items())
        assert density == pytest.approx(math.exp(-x / scale))
    wins = (np.random.default_rng(0).laplace(0, 5, (40_000, 5)) + counts).argmax(axis=1) == 0
    assert right["noisy max"][13] == pytest.approx(wins.mean(), abs=0.012)
    assert f"it is {right['noisy max'][13]:.3f} for noisy max" in description
    assert list(right["noisy max"]) == list(range(101)), "a point for each lead, so that no curve has kinks"


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


def test_low_bits_has_rows_without_a_common_output():
    figure, description = drawn(plots.low_bits)
    rows = [{segment[0, 0] for segment in row.get_segments()} for row in figure.axes[0].collections]
    assert [len(row) for row in rows] == [31, 31]
    assert not rows[0] & rows[1]
    assert "; 0 are in both rows" in description
    outputs = [{count + laplace.textbook_noise(2**46 * j, 1.0) for j in range(1, 2**7)} for count in (0, 1)]
    assert not outputs[0] & outputs[1], "nor outside the picture"
    assert all(laplace.can_give(count, z, 1.0) for count, row in enumerate(rows) for z in row)


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
    assert f"alpha {point[0]:.3f}, and the miss, beta {point[1]:.3f}" in description


def area(collection):
    """The area of a filled region, by the shoelace formula."""
    total = 0.0
    for path in collection.get_paths():
        x, y = path.vertices.T
        total += abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    return total


def test_three_of_the_candidates_are_tradeoff_functions():
    figure, _ = drawn(plots.candidates)
    lawful = []
    for panel in figure.axes:
        alpha, beta = panel.lines[0].get_xydata().T
        convex = (np.diff(np.diff(beta) / np.diff(alpha)) > -1e-9).all()
        jumps = any(line.get_fillstyle() == "none" for line in panel.lines)
        if convex and not jumps and (np.diff(beta) <= 1e-12).all() and (beta <= 1 - alpha + 1e-12).all():
            lawful.append(panel.texts[0].get_text())
    assert lawful == ["A", "C", "F"]


@pytest.mark.parametrize(("mu", "expected"), [(1.0, [2]), (1.2, [1, 2]), (1.3, [0, 1, 2]), (0.4, [])])
def test_which_are_fdp_agrees_with_the_algebra(mu, expected):
    figure, description = drawn(plots.which_are_fdp, mu=mu)
    curves = [tradeoff.approx_dp(1.0), tradeoff.laplace(1.0), tradeoff.gaussian(0.5), tradeoff.approx_dp(0.0, 0.05)]
    assert [i for i, curve in enumerate(curves) if curve >= tradeoff.gaussian(mu)] == expected
    named = [line for line in figure.axes[0].lines if " noise" in line.get_label() or "," in line.get_label()][1:]
    assert [i for i, line in enumerate(named) if line.get_label().endswith("is f-DP")] == expected
    assert description.count("is f-DP") == len(expected)
    circles = [line.get_xydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len(circles) == 4 - len(expected)
    assert all(beta < tradeoff.gaussian(mu)(alpha) for alpha, beta in circles)


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
    left, right = ({line.get_label(): line.get_xydata() for line in panel.lines} for panel in figure.axes)
    alpha, beta = right["exactly"].T
    assert beta == pytest.approx(f.power(n)(alpha), abs=1e-5)
    assert right["limit Gμ"][:, 1] == pytest.approx(tradeoff.gaussian(mu)(alpha))
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


def test_limit_magnifies_the_corner_where_the_curve_has_sunk_into_it():
    """The curve of 300 reports at alpha 1e-5 by the binomial law."""
    figure, description = drawn(plots.limit, mechanism="randomized response", size=0.5, n=300)
    exact, limit = (line.get_xydata() for line in figure.axes[1].child_axes[0].lines)
    keep, noes = 1 / (1 + np.exp(-0.5)), np.arange(301)
    log_alpha = stats.binom.logsf(noes - 1, 300, 1 - keep) / np.log(10)
    corners = (log_alpha > -5.5) & (log_alpha < -3)
    log_beta = stats.binom.logcdf(noes - 1, 300, keep)[corners] / np.log(10)
    assert np.interp(log_alpha[corners], *exact.T) == pytest.approx(log_beta, abs=0.05)
    mu = clt.berry_esseen([tradeoff.approx_dp(0.5)] * 300)[0]
    assert 10 ** limit[:, 1] == pytest.approx(tradeoff.gaussian(mu)(10 ** limit[:, 0]))
    assert "Magnified: at alpha 1e-5 the exact curve is at 6." in description
    figure, description = drawn(plots.limit, mechanism="randomized response", size=0.5, n=30)
    assert not figure.axes[1].child_axes
    assert "Magnified" not in description


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


def test_accountants_draws_four_curves_and_reads_them_at_the_epochs():
    figure, description = drawn(plots.accountants, noise_multiplier=0.7, batch=256, epochs=45)
    curves = {line.get_label().split(":")[0]: line.get_xydata() for line in figure.axes[0].lines}
    rate, steps = 256 / 60_000, round(50 * 60_000 / 256)
    at = {name: dict(curve.tolist())[50.0] for name, curve in curves.items() if not name.startswith("_")}
    assert at["moments accountant"] == pytest.approx(rdp.epsilon(0.7, rate, steps, 1e-5, conversion="classic"))
    assert at["Rényi, improved"] == pytest.approx(rdp.epsilon(0.7, rate, steps, 1e-5))
    assert at["limit"] == pytest.approx(gdp.epsilon(1e-5, clt.noisy_sgd_mu(0.7, rate, steps)))
    assert at["exact"] == pytest.approx(pld.noisy_sgd(0.7, rate, steps).epsilon(1e-5).upper)
    stated = dict(
        zip(at, map(float, re.findall(r" (\d+\.\d+)(?=[,.])", description.split("epoch 45: ")[1])), strict=False)
    )
    assert stated["moments accountant"] == pytest.approx(7.10, abs=0.01), "the paper's own number"
    assert stated["exact"] == pytest.approx(5.64, abs=0.01)


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


@pytest.mark.parametrize("budget", [None, 3.0])
def test_training_draws_what_it_is_given_and_starts_epsilon_at_0(budget):
    figure, description = drawn(plots.training, at=[5, 9], accuracies=[0.4, 0.75], epsilons=[1.5, 2.25], budget=budget)
    accuracy, spent = (panel.lines[0].get_xydata().tolist() for panel in figure.axes)
    assert accuracy == [[5, 0.4], [9, 0.75]]
    assert spent == [[0, 0], [5, 1.5], [9, 2.25]]
    assert ("budget" in lines(figure)) == (budget is not None)
    assert "it is 0.750" in description
    assert "at the end 2.250" in description


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
