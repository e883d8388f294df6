"""Explorers: a slider moves, and the picture and its alt text change; what may come next is drawn ahead."""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpcourse import widgets


def in_a_loop(coroutine):
    """What it returns. In a thread of its own: in this one a browser of other tests may keep a loop running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


class Explored:
    """An explorer of a picture that says which arguments it was drawn with."""

    def __init__(self, monkeypatch, play=None, **sliders):
        self.sliders, self.drawn = sliders, []
        monkeypatch.setattr("dpcourse.notebook.aria.show", lambda *shown: setattr(self, "shown", shown))
        widgets.explore(self.picture, play=play, **sliders)

    def picture(self, figure, **arguments):
        self.drawn.append(tuple(arguments.values()))
        return f"Drawn for {list(arguments.values())}."

    @property
    def box(self):
        return self.shown[0]

    def alt(self):
        return self.box.children[-2].value.split('alt="')[1].split('"')[0]

    def drawn_while(self, *steps):
        """What is drawn when a front end shows the explorer, and after each further step: a function."""

        async def at_rest():
            for step in (lambda: setattr(self.box, "_view_count", 1), *steps):
                self.drawn.clear()
                step()
                before = -1
                while before < len(self.drawn):
                    before = len(self.drawn)
                    await asyncio.sleep(0.4)
                yield list(self.drawn)

        async def all_of_them():
            return [drawn async for drawn in at_rest()]

        return in_a_loop(all_of_them())


def test_a_moved_slider_draws_anew(monkeypatch):
    epsilon = widgets.slider("ε", 0.0, 5.0, 1.0, step=0.1)
    explorer = Explored(monkeypatch, epsilon=epsilon)
    epsilon.value = 2.0
    assert explorer.drawn == [(1.0,), (2.0,)]
    assert explorer.alt() == "Drawn for [2.0]."


@pytest.mark.parametrize(
    ("control", "seen"),
    [
        (lambda: widgets.slider("k", 2, 8, 4, step=2), [4, 6, 8, 2]),
        (lambda: widgets.slider("ε", 0.0, 1.0, 0.5, step=0.25), [0.5, 0.75, 1.0, 0.0]),
        (lambda: widgets.slider("δ", 0.01, 1.0, 0.1, log=True, step=1), [0.1, 1.0, 0.01]),
        (lambda: widgets.choice("n", [1, 10, 100], 10), [10, 100, 1]),
    ],
    ids=["whole", "linear", "log", "choice"],
)
def test_what_plays_goes_from_where_the_slider_stands_to_its_end_and_begins_again(monkeypatch, control, seen):
    """As the button of the front end does, which counts on by one, and from its largest value to its least."""
    control = control()  # here, and not when tests are collected: another test may close what is open then
    explorer = Explored(monkeypatch, play="it", it=control)
    row = explorer.box.children[0]
    player = row.children[1]
    assert row.children[0] is control
    first = player.value
    for _ in seen[1:]:
        player.value = player.value + 1 if player.value < player.max else player.min
    assert [value for (value,) in explorer.drawn] == pytest.approx(seen)
    control.value = seen[0]
    assert player.value == first, "a slider that is moved by hand takes the button along"


def test_nothing_plays_where_nothing_is_said_to(monkeypatch):
    explorer = Explored(monkeypatch, n=widgets.slider("n", 1, 9, 3))
    assert [type(child).__name__ for child in explorer.box.children] == ["IntSlider", "HTML", "HTML"]


def test_without_a_kernel_or_a_widget_manager_it_is_the_picture_at_rest(monkeypatch):
    _, data, metadata = Explored(monkeypatch, n=widgets.slider("n", 1, 9, 3)).shown
    assert data.keys() == {"text/html", "image/png", "text/plain"}
    assert 'alt="Drawn for [3]."' in data["text/html"]
    assert data["text/plain"] == metadata["image/png"]["alt"] == "Drawn for [3]."


def test_nothing_is_drawn_ahead_where_nobody_looks(monkeypatch):
    async def in_a_kernel():
        explorer = Explored(monkeypatch, n=widgets.slider("n", 1, 9, 3))
        await asyncio.sleep(0.4)
        return explorer.drawn

    assert in_a_loop(in_a_kernel()) == [(3,)]


def test_one_step_on_each_slider_is_drawn_ahead_and_not_again_when_it_comes(monkeypatch):
    n, x = widgets.slider("n", 1, 9, 3), widgets.slider("x", 0.0, 1.0, 0.0, step=0.1)
    explorer = Explored(monkeypatch, n=n, x=x)
    first, moved, back = explorer.drawn_while(lambda: setattr(n, "value", 4), lambda: setattr(n, "value", 3))
    assert first == [(4, 0.0), (2, 0.0), (3, 0.1)]  # x stands at its end
    assert moved == [(5, 0.0), (4, 0.1)]
    assert back == []
    assert explorer.alt() == "Drawn for [3, 0.0]."


@pytest.mark.in_turn("seconds of numbers")
@pytest.mark.parametrize(
    ("control", "beside"),
    [
        (lambda: widgets.slider("k", 10, 500, 10, step=10), [20]),
        (lambda: widgets.slider("δ", 1e-10, 0.1, 1e-5, log=True, step=1), [1e-4, 1e-6]),
        (lambda: widgets.choice("mechanism", ["one", "two", "three"], "two"), ["three", "one"]),
        (lambda: widgets.slider("μ", 0.3, 3.0, 3.0, step=0.05), [2.95]),
    ],
)
def test_what_is_one_step_away(control, beside, monkeypatch):
    explorer = Explored(monkeypatch, it=control())
    (drawn,) = explorer.drawn_while()
    assert [value for (value,) in drawn] == (beside if isinstance(beside[0], str) else pytest.approx(beside))


def test_sliders_keep_their_kind():
    assert widgets.slider("k", 1, 10, 3).value == 3
    assert isinstance(widgets.slider("k", 1, 10, 3).value, int)
    log = widgets.slider("δ", 1e-10, 0.1, 1e-5, log=True, step=1)
    assert (log.min, log.max, log.value) == (-10, -1, 1e-5)
    between = widgets.slider("ε", 0.003, 1.0, 0.05, log=True)
    steps = (math.log10(0.05) - between.min) / between.step
    assert steps == pytest.approx(round(steps)), "the start is a step, so no front end moves it"
    assert 0.003 <= 10**between.min < 0.003 * 10**between.step
    assert widgets.slider("ε", 0.0, 5.0, 1.0).value == 1.0


def test_a_choice_steps_through_texts_or_numbers():
    texts = widgets.choice("mechanism", ["one", "other"])
    assert texts.value == "one"
    texts.index = 1
    assert texts.value == "other"
    numbers = widgets.choice("n", [1, 1000, 0.5], 1000)
    assert numbers.value == 1000
    assert [shown for shown, _ in numbers.options] == ["1", "1,000", "0.5"]
