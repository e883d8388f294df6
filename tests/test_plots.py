"""Each standard picture: what it draws is what the mathematics says, and its description holds the numbers."""

import itertools
import math
import re

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure

from dpcourse import composition, plots

PICTURES = [
    (plots.neighbours, {}),
    (plots.response, {"epsilon": 1.0}),
    (plots.response_error, {"epsilon": 1.0, "n": 6366}),
    (plots.repeated, {"epsilon": 0.5, "k": 40}),
    (plots.posterior, {"epsilon": 1.0}),
    (plots.walks, {"epsilon": 0.1, "k": 200, "delta_prime": 1e-5}),
    (plots.bounds, {"epsilon": 0.1, "k": 200, "delta": 1e-5}),
    (plots.spill, {"epsilon": 0.3, "k": 20, "epsilon_total": 2.0}),
]


def drawn(picture, **arguments):
    figure = Figure()
    return figure, picture(figure, **arguments)


def lines(figure):
    return {line.get_label(): line.get_xydata() for panel in figure.axes for line in panel.lines}


@pytest.mark.parametrize(("picture", "arguments"), PICTURES)
def test_an_image_has_alt_text_and_is_the_same_every_time(picture, arguments):
    image, description = plots.as_image(picture, **arguments)
    assert len(description) > 60
    assert f'alt="{description}"' in image.replace("&#x27;", "'")
    assert plots.as_image(picture, **arguments) == (image, description)


@pytest.mark.parametrize(("picture", "arguments"), PICTURES)
def test_lines_can_be_told_apart_without_colour(picture, arguments):
    figure, _ = drawn(picture, **arguments)
    for panel in figure.axes:
        named = [line for line in panel.lines if not line.get_label().startswith("_")]
        for one, other in itertools.combinations(named, 2):
            assert one.get_linestyle() != other.get_linestyle() or abs(lightness(one) - lightness(other)) > 0.3


def lightness(line):
    return np.dot(matplotlib.colors.to_rgb(line.get_color()), (0.2126, 0.7152, 0.0722))


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


def test_posterior_is_bayes_rule():
    figure, _ = drawn(plots.posterior, epsilon=math.log(3))
    curves = lines(figure)
    up = dict(np.round(curves["highest belief after"], 12).tolist())
    down = dict(np.round(curves["lowest belief after"], 12).tolist())
    assert up[0.5] == pytest.approx(0.75)
    assert down[0.5] == pytest.approx(0.25)
    assert (up[0.0], up[1.0]) == (0, 1)


def test_walks_hold_the_three_reference_lines():
    figure, _ = drawn(plots.walks, epsilon=0.1, k=200, delta_prime=1e-5)
    curves = lines(figure)
    assert curves["basic: kε"][-1, 1] == pytest.approx(20)
    assert curves["advanced"][-1, 1] == pytest.approx(composition.advanced(0.1, 0, 200, 1e-5)[0])
    loss, log_p = composition.losses(0.1, 200)
    assert curves["mean loss"][-1, 1] == pytest.approx((np.exp(log_p) * loss).sum())


def test_bounds_marks_the_crossing():
    figure, description = drawn(plots.bounds, epsilon=0.1, k=200, delta=1e-5)
    curves = lines(figure)
    advanced, basic = curves["advanced"][:, 1], curves["basic"][:, 1]
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


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="epsilon must be"):
        drawn(plots.response, epsilon=-1)
