"""machine.py against closed forms, scipy, mpmath, counting, and the attacks that each mend has to stand."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpcourse import machine
from dpcourse.checking.statistics import binomial_p_value

pytestmark = pytest.mark.in_turn("seconds of numbers")

RARE = 1e-9


# ---- the low bits of Laplace noise


@pytest.mark.parametrize("b", [1.0, 1 / 0.3, 10.0])
def test_the_textbook_noise_is_numpys_to_the_last_bit(b):
    uniform, sampler = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(500):
        assert machine.textbook_noise(int(uniform.random() * 2**53), b) == sampler.laplace(0, b)


@given(st.integers(1, 2**53 - 1), st.sampled_from([0.0, 1.0, 30.0, -1000.0]), st.sampled_from([0.5, 1.0, 7.3]))
def test_what_was_given_can_be_given(j, value, b):
    assert machine.can_give(value, value + machine.textbook_noise(j, b), b)


@given(st.integers(1, 2**53 - 1), st.sampled_from([0.0, 1.0, 30.0]), st.sampled_from([0.5, 1.0, 7.3]))
def test_the_noises_near_an_output_rise_around_the_one_that_gave_it(j, value, b):
    noise = machine.textbook_noise(j, b)
    near = machine.noises_near(value, value + noise, b)
    assert near == sorted(near)
    assert any(value + each == value + noise for each in near)
    assert value + near[0] <= value + noise <= value + near[-1]
    if value == 0.0 and 20 < j < 2**53 - 20:
        assert near[0] < noise < near[-1], "others on either side, so that none is missed"


@pytest.mark.parametrize("b", [1.0, 3.7])
def test_what_cannot_be_given_is_not_given_by_any_of_thousands_of_numbers_around(b):
    outputs = 1.0 + np.random.default_rng(4).laplace(0, b, 40)
    refused = [z for z in outputs if not machine.can_give(0.0, z, b)]
    assert len(refused) > 20
    for z in refused:
        tail = math.exp(-abs(z) / b) / 2
        middle = round((1 - tail if z >= 0 else tail) * 2**53)
        near = range(max(1, middle - 3000), min(2**53, middle + 3000))
        sums = [machine.textbook_noise(j, b) for j in near]
        assert sums[0] < z < sums[-1]
        assert z not in sums


def test_most_outputs_rule_out_a_neighbour_of_a_small_count():
    outputs = 1.0 + np.random.default_rng(5).laplace(0, 1.0, 1000)
    assert np.mean([machine.can_give(0.0, z, 1.0) for z in outputs]) < 0.4


def test_heads_take_an_odd_number_of_draws_and_tails_an_even_one():
    """So who counts them tells the size of noise that is made of such tosses from the next size, as lesson 08 says."""

    class Counted(np.random.Generator):
        asked = 0

        def integers(self, *arguments, **named):
            self.asked += 1
            return super().integers(*arguments, **named)

    for seed in range(300):
        rng = Counted(np.random.PCG64(seed))
        assert machine.coin(1, 3, rng) == (rng.asked % 2 == 1)


@pytest.mark.parametrize(("a", "d"), [(0, 1), (1, 10), (1, 1), (5, 4), (7, 2), (10**30, 3 * 10**30)])
def test_the_coin_has_its_probability(a, d):
    rng, tosses = np.random.default_rng(6), 8000
    heads = sum(machine.coin(a, d, rng) for _ in range(tosses))
    assert binomial_p_value(heads, tosses, math.exp(-a / d)) > RARE


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(7, 2), 0.1, 1e-12, 40.0])
def test_one_number_takes_the_tosses_of_an_array_of_one(epsilon):
    for seed in range(50):
        alone, in_array = np.random.default_rng(seed), np.random.default_rng(seed)
        assert machine.discrete_noise(epsilon, None, alone) == machine.discrete_noise(epsilon, 1, in_array)[0]
        assert alone.bit_generator.state == in_array.bit_generator.state


@pytest.mark.one_case("hundreds of thousands of tosses")
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(5, 4), 0.1, 2.5, Fraction(2**70 + 1, 3 * 2**69)])
def test_the_discrete_noise_has_its_probabilities(epsilon):
    size = 30_000
    noise, q = machine.discrete_noise(epsilon, size=size, rng=7), math.exp(-epsilon)
    for x in range(-4, 5):
        assert binomial_p_value(int((noise == x).sum()), size, (1 - q) / (1 + q) * q ** abs(x)) > RARE
    far = int((np.abs(noise) > 4).sum())
    assert binomial_p_value(far, size, 2 * q**5 / (1 + q)) > RARE


def test_the_discrete_noise_needs_no_logarithm_and_no_exponential(monkeypatch):
    monkeypatch.setattr(machine, "math", None)
    assert machine.discrete_noise(Fraction(1, 2), size=100, rng=8).any()
    assert machine.coin(1, 2, rng=0) in (True, False)


def test_a_uniform_number_is_uniform_also_where_it_needs_more_than_64_bits():
    rng, n = np.random.default_rng(9), 3 * 2**67
    drawn = [*machine._below(n, 5999, rng), machine._below(n, None, rng)]
    assert min(drawn) >= 0
    assert max(drawn) < n
    for third in range(3):
        inside = sum(third * n // 3 <= x < (third + 1) * n // 3 for x in drawn)
        assert binomial_p_value(inside, 6000, 1 / 3) > RARE


def test_the_discrete_mechanism_scales_with_the_sensitivity_and_keeps_the_shape():
    noise = machine.discrete_mechanism(np.full((2, 4000), 9), sensitivity=3, epsilon=1.5, rng=10) - 9
    q = math.exp(-0.5)
    assert noise.dtype.kind == "i"
    assert binomial_p_value(int((noise == 0).sum()), 8000, (1 - q) / (1 + q)) > RARE
    assert isinstance(machine.discrete_mechanism(3, 1, 1.0, rng=0), int)


# ---- the rings of Gaussian noise


def test_pairs_on_rings_are_normal_noise():
    noise = machine.ring_pairs(100_000, rng=1).astype(float)
    assert stats.kstest(noise.ravel(), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(noise.T)[0, 1]) < 5 / math.sqrt(100_000)


@pytest.mark.parametrize("bits", [4, 12, 24])
def test_a_pair_is_as_far_out_as_a_whole_number_of_rings_says(bits):
    """The numbers k are uniform, and what is far out is computed back to whole numbers."""
    k = machine.ring_numbers(machine.ring_pairs(50_000, bits, rng=2), bits)
    outer = k[k < 2**12]
    assert np.abs(outer - np.round(outer)).max() < 0.05
    assert stats.kstest(k / 2**bits, "uniform").statistic < 0.02 + 2.0**-bits


def test_float32_pairs_of_torch_lie_on_the_same_rings():
    torch = pytest.importorskip("torch")
    noise = torch.randn(64_000, generator=torch.Generator().manual_seed(3)).double().numpy()
    pairs = noise.reshape(-1, 2, 8).transpose(0, 2, 1).reshape(-1, 2)  # j and j + 8 of each 16 are one pair
    k = machine.ring_numbers(pairs)
    outer = k[k < 2**14]
    assert outer.size > 20
    assert np.abs(outer - np.round(outer)).mean() < 0.1
    wrong = machine.ring_numbers(noise.reshape(-1, 2))
    wrong = wrong[wrong < 2**14]
    assert np.abs(wrong - np.round(wrong)).mean() > 0.15


def test_noise_of_doubles_that_is_no_box_muller_pair_lies_on_no_ring():
    k = machine.ring_numbers(np.random.default_rng(4).normal(size=(50_000, 2)), bits=12)
    assert np.abs(k - np.round(k)).mean() == pytest.approx(0.25, abs=0.01)


# ---- sums of floats


@given(st.lists(st.integers(0, 1000), max_size=40), st.sampled_from(["float16", "float32", "float64"]))
def test_a_running_sum_is_rounded_to_the_nearest_float_each_time(values, kind):
    """Against exact arithmetic: no other float of this kind is nearer to the sum of two."""
    total = Fraction(0)
    for place, value in enumerate(values, 1):
        exact = total + value
        total = Fraction(machine.running_sum(values[:place], kind))
        nearest = np.asarray(float(total)).astype(kind)
        others = (np.nextafter(nearest, np.array(end, kind)) for end in (-np.inf, np.inf))
        assert all(abs(total - exact) <= abs(Fraction(float(other)) - exact) for other in others if np.isfinite(other))


def test_a_row_may_move_a_float_sum_by_more_than_it_holds():
    """The example of the lesson: 1 in real numbers, 2 in float16."""
    with_mia = [1023, 1, *[0.6] * 4]
    without = [1023, *[0.6] * 4]
    assert machine.running_sum(with_mia, "float16") - machine.running_sum(without, "float16") == 2
    assert machine.running_sum(with_mia, "float64") - machine.running_sum(without, "float64") == pytest.approx(1)


# ---- generators that can be predicted


@pytest.mark.parametrize("skipped", [0, 100, 1000])
def test_a_mersenne_twister_goes_on_as_predicted(skipped):
    source = np.random.MT19937(5)
    source.random_raw(skipped)
    copy = machine.continued(source.random_raw(624))
    assert (copy.random_raw(2000) == source.random_raw(2000)).all()


def test_python_s_own_generator_is_one():
    import random

    source = random.Random(6)
    copy = machine.continued([source.getrandbits(32) for _ in range(624)])
    assert [int(word) for word in copy.random_raw(1000)] == [source.getrandbits(32) for _ in range(1000)]


# ---- Gaussian noise of whole numbers


def weights(variance, reach):
    """e^(-n^2 / (2 variance)) for n up to the reach, and their sum, in 50 digits."""
    with mpmath.workdps(50):
        v = mpmath.mpf(variance)
        each = {n: mpmath.exp(-(mpmath.mpf(n) ** 2) / (2 * v)) for n in range(-reach, reach + 1)}
        return each, mpmath.fsum(each.values())


@pytest.mark.parametrize("variance", [0.01, 0.3, 1.0, 2.5, 40.0])
def test_the_chances_are_those_of_the_definition(variance):
    each, total = weights(variance, 300)
    found = machine.discrete_gaussian_chances(np.arange(-20, 21), variance)
    for n, chance in zip(range(-20, 21), found, strict=True):
        assert chance == pytest.approx(float(each[n] / total), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("variance", [Fraction(1, 3), 1.0, Fraction(7, 2), 30.0, Fraction(2**70 + 1, 2**68)])
def test_the_discrete_gaussian_has_its_probabilities(variance):
    size = 8000
    noise = machine.discrete_gaussian(variance, size=size, rng=7)
    chances = machine.discrete_gaussian_chances(np.arange(-60, 61), float(variance))
    for x in range(-4, 5):
        assert binomial_p_value(int((noise == x).sum()), size, float(chances[60 + x])) > RARE
    far = math.ceil(2 * math.sqrt(variance))
    chance = float(chances[np.abs(np.arange(-60, 61)) >= far].sum())
    assert binomial_p_value(int((np.abs(noise) >= far).sum()), size, chance) > RARE
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 6 / math.sqrt(size)


def test_the_discrete_gaussian_needs_no_exponential_and_no_double(monkeypatch):
    class Whole:
        isqrt, floor = staticmethod(math.isqrt), staticmethod(math.floor)

    monkeypatch.setattr(machine, "math", Whole)
    assert machine.discrete_gaussian(Fraction(7, 3), size=100, rng=8).any()
    assert isinstance(machine.discrete_gaussian(2.0, rng=0), int)


@pytest.mark.parametrize("variance", [0.2, 1.0, 4.0, 25.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
def test_delta_is_the_sum_over_all_outputs(variance, sensitivity, epsilon):
    """Of what the one law has above e^epsilon times the other, in 50 digits, from both sides."""
    each, total = weights(variance, 400)
    with mpmath.workdps(50):
        factor = mpmath.exp(mpmath.mpf(epsilon))
        sums = [
            mpmath.fsum(max(mpmath.mpf(0), each[n] - factor * each[n + side * sensitivity]) for n in range(-390, 391))
            for side in (1, -1)
        ]
        wanted = [float(each_sum / total) for each_sum in sums]
    found = machine.discrete_gaussian_delta(epsilon, variance, sensitivity)
    assert found == pytest.approx(wanted[0], rel=1e-9, abs=1e-290)
    assert wanted[0] == pytest.approx(wanted[1], rel=1e-9)


@pytest.mark.parametrize("variance", [0.3, 1.0, 9.0])
@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_the_renyi_divergence_is_at_most_that_of_gaussian_noise(variance, order, sensitivity):
    """CKS, theorem 4: sensitivity^2 / (2 variance)-concentrated, as the continuous one."""
    each, total = weights(variance, 400)
    with mpmath.workdps(50):
        moments = mpmath.fsum(
            each[n] * (each[n] / each[n + sensitivity]) ** (order - 1) / total for n in range(-300, 301)
        )
        divergence = float(mpmath.log(moments) / (order - 1))
    assert divergence <= order * sensitivity**2 / (2 * variance) * (1 + 1e-12)


@pytest.mark.parametrize("draw", [machine.discrete_noise, machine.discrete_gaussian])
def test_no_output_of_whole_noise_rules_a_neighbour_out(draw):
    """What one count often gives the other gives too, and nearly every output is such a one: noise with gaps fails."""
    size, often = 20_000, 60  # the ratio of two chances is 3 at most for these, so 20 are expected of the other
    noises = [draw(1.0, size=size, rng=seed) for seed in (9, 10)]
    seen = [dict(zip(*np.unique(count + noise, return_counts=True), strict=True)) for count, noise in enumerate(noises)]
    for mine, other in (seen, seen[::-1]):
        of_mine = {output: times for output, times in mine.items() if times >= often}
        assert sum(of_mine.values()) > 0.98 * size
        assert of_mine.keys() <= other.keys()


def test_noise_stays_within_64_bits_or_is_refused():
    far = np.array([2**62, -(2**62)])
    assert np.abs(machine.discrete_mechanism(far, 1, 1e-16, rng=0) - far).max() < 2**62
    assert abs(machine.discrete_gaussian(1e30, rng=1)) < 2**62


@pytest.mark.parametrize(("epsilon", "variance"), [(1e12, 1e8), (1e11, 1e8), (1e4, 1.0)])
def test_a_delta_that_no_double_holds_is_0(epsilon, variance):
    assert machine.discrete_gaussian_delta(epsilon, variance) == 0.0


def test_a_large_sensitivity_takes_no_longer():
    assert machine.discrete_gaussian_delta(0.0, 1e8, sensitivity=10**15) == pytest.approx(1.0)


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: machine.textbook_noise(2**53, 1.0), "j must be below"),
        (lambda: machine.textbook_noise(0, 1.0), "j must be a whole number"),
        (lambda: machine.coin(-1, 2), "numerator must be"),
        (lambda: machine.coin(1, 0), "denominator must be"),
        (lambda: machine.discrete_noise(-0.5), "epsilon must be"),
        (lambda: machine.discrete_noise(math.inf), "epsilon must be"),
        (lambda: machine.discrete_noise(1e-19), "epsilon must be at least 1e-16"),
        (lambda: machine.discrete_mechanism(2**63 - 1, 1, 1.0), "value must lie between"),
        (lambda: machine.discrete_mechanism(np.uint64(2**64 - 1), 1, 1.0), "value must lie between"),
        (lambda: machine.discrete_mechanism(1, 10**6, 1e-12), "epsilon must be at least 1e-16 times"),
        (lambda: machine.discrete_gaussian(1e31), "variance must be at most 1e30"),
        (lambda: machine.discrete_mechanism(1.5, 1, 1.0), "value must be a whole number"),
        (lambda: machine.discrete_mechanism(1, 0.5, 1.0), "sensitivity must be a whole number"),
        (lambda: machine.can_give(math.inf, 1.0, 1.0), "value must be a number in"),
        (lambda: machine.noises_near(0.0, math.nan, 1.0), "output must be a number in"),
        (lambda: machine.ring_pairs(-1), "n must be a whole number"),
        (lambda: machine.ring_pairs(1, bits=25), "bits must be at most 24"),
        (lambda: machine.ring_numbers([1.0, 2.0]), r"must be finite numbers of the shape \(n, 2\)"),
        (lambda: machine.ring_numbers([[1.0, math.inf]]), "pairs must be finite"),
        (lambda: machine.running_sum([1.0], "float8"), "kind must be"),
        (lambda: machine.continued([1, 2, 3]), "words must be 624 whole numbers"),
        (lambda: machine.continued([2**32] * 624), "words must be 624 whole numbers"),
        (lambda: machine.discrete_gaussian(0), "variance must be"),
        (lambda: machine.discrete_gaussian(1.0, size=-1), "size must be"),
        (lambda: machine.discrete_gaussian_chances([0.5], 1.0), "numbers must be whole"),
        (lambda: machine.discrete_gaussian_chances([0], 1e9), "variance must be"),
        (lambda: machine.discrete_gaussian_delta(-1.0, 1.0), "epsilon must be"),
        (lambda: machine.discrete_gaussian_delta(1.0, 1.0, 0), "sensitivity must be a whole number"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
