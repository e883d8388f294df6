"""Noise that floats do not give away: exact rounding against mpmath, and the attack that it withstands."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support import examples

from dpcourse import dpsgd
from dpcourse.dpsgd import secure


class Told(secure.Source):
    """A source whose words are known."""

    def __init__(self, words):
        self.words = list(words)

    def bits(self, count):
        taken, self.words = self.words[:count], self.words[count:]
        return np.array(taken, np.uint64)


words = st.integers(0, 2**64 - 1) | st.integers(0, 40) | st.integers(2**64 - 40, 2**64 - 1)


@examples(60)
@given(x=st.floats(-1e6, 1e6), scale=st.floats(1e-3, 1e3), first=words, more=st.lists(words, min_size=4, max_size=4))
def test_it_is_the_sum_of_real_numbers_rounded_once(x, scale, first, more):
    """With 320 further bits of the uniform number, and 120 digits."""
    more = [0x9E3779B97F4A7C15, *more]  # all zeros would be the number 0 itself
    found = float(secure.noisy(np.array([x]), scale, Told([first, *more]))[0])
    with mpmath.workdps(120):
        tail = mpmath.mpf(first >> 1)
        for place, word in enumerate(more, 1):
            tail += mpmath.ldexp(word, -64 * place)
        z = mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.ldexp(tail, -63))
        exact = mpmath.mpf(x) + mpmath.mpf(scale) * (z if first & 1 else -z)
        grid = mpmath.mpf(secure.grid_of(scale))
        assert abs(found - exact) <= grid / 2 * (1 + mpmath.mpf(10) ** -20)
        assert found / grid == mpmath.nint(found / grid)


def test_a_number_that_63_bits_do_not_settle_is_given_more(monkeypatch):
    """x just beside the middle of two multiples of the grid: a double cannot say to which side the sum falls."""
    asked, refined = [], secure._refined
    monkeypatch.setattr(secure, "_refined", lambda *given: asked.append(given) or refined(*given))
    word = 0x9E3779B97F4A7C15
    z = -float(secure.ndtri(((word >> 1) + 0.5) * 2.0**-64))
    x = (round(3 / secure.grid_of(1.0)) + 0.5) * secure.grid_of(1.0) - z
    found = [float(secure.noisy(np.array([x]), 1.0, Told([word, *[bits] * 9]))[0]) for bits in (0, 2**64 - 1)]
    assert len(asked) == 2
    assert all(abs(value - 3) <= 2 * secure.grid_of(1.0) for value in found)


def test_the_noise_makes_up_for_the_rounding_of_the_sums():
    """By a millionth, which at five deviations is five multiples of the grid."""
    total = torch.zeros(1, dtype=torch.float64)
    (noise,) = secure.add_noise([total], 1.0, Told([2 * round(2.0**64 * stats.norm.sf(5)) + 1]))
    assert float(noise) == float(total) == pytest.approx(5 * (1 + 1e-6), abs=secure.grid_of(1.0) / 2 * 1.001)


def test_the_noise_is_normal():
    noise = secure.noisy(np.zeros(200_000), 2.5, secure.Source()) / 2.5
    assert stats.kstest(noise, "norm").pvalue > 1e-6
    assert stats.pearsonr(noise[:-1], noise[1:]).pvalue > 1e-6
    assert stats.pearsonr(np.abs(noise[:-1]), np.abs(noise[1:])).pvalue > 1e-6
    coins = secure.Source().uniform(200_000)
    assert stats.kstest(coins, "uniform").pvalue > 1e-6
    assert coins.max() < 1


# ---- the attack


NOISE, LATTICE = 8.0, 2.0**24


def released(generator, dtype, mia):
    """The weights after one step on everybody, and the clipped sums with Mia and without, which the attacker knows."""
    inputs = torch.rand(20, 6400, generator=torch.Generator().manual_seed(1)).to(dtype)
    targets = torch.arange(20) % 10
    loss = torch.nn.CrossEntropyLoss(reduction="none")

    def model():
        layer = torch.nn.Linear(6400, 10, bias=False).to(dtype)
        torch.nn.init.zeros_(layer.weight)
        return layer

    sums = [dpsgd.clipped_sum(model(), loss, inputs[there:], targets[there:], 1.0).sums["weight"] for there in (0, 1)]
    trained = model()
    optimizer = dpsgd.NoisySGD(
        trained.parameters(), 1.0, noise_multiplier=NOISE, clip_norm=1.0, expected_batch=1, generator=generator
    )
    start = 0 if mia else 1
    optimizer.accumulate(trained, loss, inputs[start:], targets[start:])
    optimizer.step()
    return trained.weight.detach(), sums


def off_the_lattice(noise):
    """How far from whole numbers 2^24 e^(-r²/2) is, on average, for the pairs of float32 noise with the largest radius r.

    torch makes the numbers j and j + 8 of each 16 on a CPU from one radius sqrt(-2 ln(k / 2^24)), k whole.
    """
    pairs = noise.double().reshape(-1, 2, 8)
    k = LATTICE * torch.exp(-pairs.square().sum(1) / 2).flatten()
    k = k[k < 2**14]
    return float((k - k.round()).abs().mean())


@pytest.mark.parametrize("mia", [True, False])
def test_float32_noise_tells_whether_mia_is_in(mia):
    for seed in range(3):
        weights, sums = released(seed, torch.float32, mia)
        with_mia, without = (off_the_lattice((-weights.double() - total) / NOISE) for total in sums)
        right, wrong = (with_mia, without) if mia else (without, with_mia)
        assert right < 0.1
        assert wrong > 0.15


@pytest.mark.parametrize("mia", [True, False])
def test_secure_noise_does_not(mia):
    weights, sums = released("secure", torch.float64, mia)
    assert (weights % secure.grid_of(NOISE * (1 + secure.ROUNDING)) == 0).all()
    for total in sums:
        assert off_the_lattice((-weights - total) / NOISE) > 0.15


# ---- a run


def test_a_run_says_what_its_noise_is(tmp_path):
    data = dpsgd.Data(torch.rand(60, 4, dtype=torch.float64), torch.arange(60) % 2)

    def parts(generator):
        model = torch.nn.Linear(4, 2).double()
        settings = {"noise_multiplier": 2.0, "clip_norm": 1.0, "expected_batch": 6, "generator": generator}
        return model, dpsgd.NoisySGD(model.parameters(), 0.1, **settings), dpsgd.Ledger(1e-5)

    def train(noise, coins, **more):
        return dpsgd.fit(*parts(noise), data, 4, generator=coins, show=False, device="cpu", **more)

    for noise, coins in ((0, 0), (0, "secure"), ("secure", 0)):
        assert repr(train(noise, coins)).endswith(", if its noise were that of real numbers")
    file = tmp_path / "checkpoint"
    run = train("secure", "secure", checkpoint=file)
    assert repr(run).endswith("at delta 1e-05")
    assert dpsgd.inspect(run).ok
    assert train("secure", "secure", checkpoint=file).batches == run.batches
    with pytest.raises(ValueError, match="noise was 'secure' and is 'for experiments'"):
        train(0, 0, checkpoint=file)


def test_what_is_refused():
    single = torch.nn.Linear(2, 1).parameters()
    settings = {"noise_multiplier": 1.0, "clip_norm": 1.0, "expected_batch": 1}
    with pytest.raises(
        ValueError, match=r"needs parameters in torch.float64, got torch.float32: call model.double\(\)"
    ):
        dpsgd.NoisySGD(single, 0.1, generator="secure", **settings)
    with pytest.raises(ValueError, match="a seed, None or 'secure', got 'urandom'"):
        dpsgd.poisson_batches(10, 0.5, 1, generator="urandom")
    with pytest.raises(ValueError, match=r"was a seed or a torch\.Generator when this state was saved"):
        secure.Source().set_state(torch.Generator().get_state())
