"""Explorers: a slider moves, and the picture and its alt text change."""

from dpcourse import plots, widgets


def test_a_moved_slider_draws_anew(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    epsilon = widgets.slider("ε", 0.0, 5.0, 1.0, step=0.1)
    drawn = []

    def picture(figure, epsilon):
        drawn.append(epsilon)
        return plots.response(figure, epsilon)

    widgets.explore(picture, epsilon=epsilon)
    epsilon.value = 2.0
    assert drawn == [1.0, 2.0]
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    assert "needs a running kernel" in shown[0]["text/plain"]


def test_sliders_keep_their_kind():
    assert widgets.slider("k", 1, 10, 3).value == 3
    assert isinstance(widgets.slider("k", 1, 10, 3).value, int)
    log = widgets.slider("δ", 1e-10, 0.1, 1e-5, log=True, step=1)
    assert (log.min, log.max, log.value) == (-10, -1, 1e-5)
    assert widgets.slider("ε", 0.0, 5.0, 1.0).value == 1.0


def test_a_choice_steps_through_texts_or_numbers():
    texts = widgets.choice("mechanism", ["one", "other"])
    assert texts.value == "one"
    texts.index = 1
    assert texts.value == "other"
    numbers = widgets.choice("n", [1, 1000, 0.5], 1000)
    assert numbers.value == 1000
    assert [shown for shown, _ in numbers.options] == ["1", "1,000", "0.5"]
