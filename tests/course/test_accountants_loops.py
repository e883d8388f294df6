"""The six loops of lesson 06, run: how far one row moves each of them, in units of what its noise was made for."""

import math
import re

import numpy as np
import pytest
from support import ROOT

from dpcourse import course
from dpcourse.course.accountants.broken_line import RIGHT
from dpcourse.course.accountants.loops import LOOPS

pytestmark = pytest.mark.in_turn("seconds of checks")

D, N, P, R, SIGMA = 90, 1000, 0.1, 1.5, 2.0
PLACES = 48  # rows of the data on which the loops are run; the others are empty
HERS = 7  # Mia's row
FINITE = [name for name, (_, factor) in RIGHT.items() if math.isfinite(factor)]
SOURCES = [ROOT / "solutions" / folder / "06-accountants.md" for folder in ("", "zh")]


class Coins:
    """A Generator whose coins all draw; its noise is `noise` times a normal number."""

    def __init__(self, noise):
        self.noise, self.normals = noise, np.random.default_rng(0)

    def random(self):
        return 0.0

    def normal(self, mean, deviation, size):
        return self.noise * self.normals.normal(mean, deviation, size)


def clip(g, R):
    return np.asarray(g) / max(1, np.linalg.norm(g) / R)


def weights_after(name, data, rng, steps=1, d=D, sigma=SIGMA, seen=None, turns=(1, 1, 1, 1)):
    """The weights of a loop of which the data are (place, gradient) pairs, the same gradient at all weights."""

    def gradient(weights, row):
        if seen is not None:
            seen.append(row[0])
        return row[1]

    world = {
        "np": np,
        "rng": rng,
        "gradient": gradient,
        "clip": clip,
        "turned": lambda row: [(row[0], turn * row[1]) for turn in turns],
        "rows": data,
        "blocks": [[row for row in data if row[0] // 4 == block] for block in range(PLACES // 4)],
        "shares": [[row for row in data if row[0] % 16 == machine] for machine in range(16)],
        "weights": np.zeros(d),
    }
    world |= {"d": d, "n": N, "p": P, "T": steps, "sigma": sigma, "R": R, "rate": 1.0}
    with np.errstate(all="ignore"):
        exec(LOOPS[name], world)
    return world["weights"]


def moved(name, data, turns=(1, 1, 1, 1)):
    """By how much the weights move, without noise, when Mia's row is emptied and all others are drawn."""
    without = [row for row in data if row[0] != HERS]
    return np.linalg.norm(
        weights_after(name, data, Coins(0), turns=turns) - weights_after(name, without, Coins(0), turns=turns)
    )


def unit(name):
    """The deviation of the noise on the weights, over sigma: what the noise was made for. (To 0.3 %.)"""
    one = [(HERS, np.zeros(100_008))]
    return weights_after(name, one, Coins(1), d=100_008).std() / SIGMA


def hard_data():
    """Data in which the others want one thing and Mia, with a gradient far longer, another."""
    east, long = np.eye(D)[0], 1e6
    flat = np.ones(D) / math.sqrt(D)  # as long in each of the nine layers
    for others, hers in [(4 * R * east, -long * east), (long * east, -(long**2) * east), (0 * east, long * flat)]:
        yield [(place, hers if place == HERS else others) for place in range(PLACES)]
    rng = np.random.default_rng(1)
    for _ in range(20):
        lengths = np.exp(rng.normal(0, 4, PLACES))
        there = rng.random(PLACES) < rng.choice([0.1, 0.5, 1])
        there[HERS] = True
        yield [(i, lengths[i] * rng.normal(size=D)) for i in np.flatnonzero(there)]


@pytest.mark.parametrize("name", FINITE)
def test_one_row_moves_a_loop_by_its_factor_and_never_by_more(name):
    factors = [moved(name, data) / unit(name) for data in hard_data()]
    factor = RIGHT[name][1]
    assert max(factors) == pytest.approx(factor, rel=0.01)


def test_the_right_loop_is_right_whatever_the_copies_are():
    rng = np.random.default_rng(2)
    for turns in rng.normal(0, 3, size=(6, 4)):
        assert max(moved("D", data, turns) for data in hard_data()) < 1.005 * unit("D")


@pytest.mark.parametrize("sigma", [1.0, 1e6])
def test_no_noise_hides_a_divisor_that_is_0_without_mia(sigma):
    """All other rows are empty: with her the weights are numbers, without her they are none."""
    hers = [(HERS, np.ones(D))]
    assert np.isfinite(weights_after("F", hers, Coins(1), sigma=sigma)).all()
    assert not np.isfinite(weights_after("F", [], Coins(1), sigma=sigma)).any()


def test_with_one_other_row_the_size_of_the_noise_tells_of_mia_as_much_whatever_sigma_is():
    nobody, d = np.zeros(100_000), 100_000
    for sigma in (1.0, 1e6):
        alone, both = (
            weights_after("F", [(i, nobody) for i in there], Coins(1), d=d, sigma=sigma).std()
            for there in ([1], [1, HERS])
        )
        assert alone / both == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("name", LOOPS)
def test_every_row_tosses_a_coin_of_its_own_in_every_step(name):
    steps, seen = 1000, []
    data = [(place, np.zeros(9)) for place in range(PLACES)]
    weights_after(name, data, np.random.default_rng(3), steps=steps, d=9, seen=seen)
    drawn = np.bincount(seen, minlength=PLACES) / (4 if name == "D" else 1) / steps
    assert np.abs(drawn - P).max() < 5 * math.sqrt(P * (1 - P) / steps)
    noise = np.diff([weights_after(name, data, np.random.default_rng(4), steps=t, d=9)[0] for t in (1, 2, 3)])
    assert noise[0] != noise[1], "fresh noise in each step"


MENDED = {
    "A": "            total += clip(np.concatenate(parts), R)",
    "B": "    mean = sum(clip(g, R) for g in each) / (p * n)",
    "C": "        total += rng.normal(0, sigma * R / 4, d)",
    "E": "        total += sum(clip(g, R) for g in drawn)",
    "F": "    weights = weights - rate * total / (p * n)",
}


@pytest.mark.parametrize("name", MENDED)
def test_one_line_written_anew_mends_a_loop(name, monkeypatch):
    """Which shows that the line is that one."""
    lines = LOOPS[name].splitlines()
    lines[RIGHT[name][0] - 1] = MENDED[name]
    monkeypatch.setitem(LOOPS, name, "\n".join(lines))
    assert max(moved(name, data) for data in hard_data()) == pytest.approx(R / (P * N))
    assert unit(name) == pytest.approx(R / (P * N), rel=0.01)


def test_the_loops_are_short():
    for loop in LOOPS.values():
        assert 6 <= len(loop.splitlines()) <= 9
        assert max(map(len, loop.splitlines())) <= 80


@pytest.mark.parametrize("source", SOURCES, ids=["en", "zh"])
def test_the_lesson_names_what_the_loops_use(source):
    section = source.read_text(encoding="utf-8").split("\n## 5. ")[1].split("\n## 6. ")[0]
    table = re.findall(r"(?m)^\| (`.*?) \|", section)
    told = {name for row in table for name in re.findall(r"`(\w+)", row)}
    used = set().union(*(re.findall(r"\b[a-zA-Z]\w*", loop) for loop in LOOPS.values()))
    made = {"step", "row", "block", "share", "total", "part", "parts", "drawn", "each", "mean", "g", "copy", "size"}
    python = {"for", "in", "if", "range", "np", "zeros", "rng", "random", "normal", "split", "concatenate", "sum"}
    assert used - made - python <= told | {"weights"}


def test_the_solution_of_the_lesson_is_the_reference():
    exercise = course.lesson(6).exercise("broken_line")
    code = re.search(r"(?s)def broken_line\(loop\):.*?### END SOLUTION", SOURCES[0].read_text(encoding="utf-8"))
    world = {"math": math}
    exec(code.group(), world)
    for name in LOOPS:
        assert world["broken_line"](name) == pytest.approx(exercise.reference(name))


def test_no_reply_tells_the_answer_of_a_loop():
    """Six tries would tell all six."""
    exercise = course.find("accountants/broken_line")
    for loop, (line, factor) in RIGHT.items():
        wrong = RIGHT | {loop: (line + 1, factor)}
        said = repr(exercise.check(lambda loop, wrong=wrong: wrong[loop]))
        assert f"broken_line(loop='{loop}') gave" in said
        assert "right is" not in said
