"""The exact error rates of an attack on noisy SGD."""

import math

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom, poisson

from dpcourse.checking import Domain, Exercise, Misconception, Number, Whole, any_of, rounded, several


def _draw_trainings(rng):
    """One step, a few and many; thresholds where neither rate is near 0 or 1."""
    cases = []
    for steps, sigma in ((1, rng.uniform(0.6, 0.9)), (int(rng.integers(4, 9)), rng.uniform(0.5, 0.8)), (30, 1.3)):
        rate = rounded(rng.uniform(0.2, 0.4), 2)
        middle = rng.uniform(0.3, 0.8) * rate * steps + 0.3
        cases.append(
            {
                "threshold": rounded(middle, 2),
                "noise_multiplier": rounded(sigma + rng.uniform(-0.05, 0.05), 2),
                "sample_rate": rate,
                "steps": steps,
            }
        )
    return cases


def _alpha(threshold, sigma, steps):
    return float(ndtr(-threshold / (sigma * math.sqrt(steps))))


def _beta(threshold, sigma, rate, steps, draws=None, chances=None, deviation=None):
    """The misses; draws: how often the canary may be drawn, with these chances and deviations of the noise."""
    draws = np.arange(steps + 1) if draws is None else draws
    chances = binom.pmf(draws, steps, rate) if chances is None else chances
    deviation = sigma * math.sqrt(steps) if deviation is None else deviation
    return float(chances @ ndtr((threshold - draws) / deviation))


def _rates(alpha=_alpha, beta=_beta):
    def code(threshold, noise_multiplier, sample_rate, steps):
        return alpha(threshold, noise_multiplier, steps), beta(threshold, noise_multiplier, sample_rate, steps)

    return code


def _with_deviation(deviation):
    """Another deviation of the noise for both rates; deviation(sigma, steps)."""
    return _rates(
        lambda t, sigma, steps: float(ndtr(-t / deviation(sigma, steps))),
        lambda t, sigma, rate, steps: _beta(t, sigma, rate, steps, deviation=deviation(sigma, steps)),
    )


def _always(draws):
    """As if the canary were always drawn so often; draws(rate, steps)."""
    return _rates(beta=lambda t, sigma, rate, steps: float(ndtr((t - draws(rate, steps)) / (sigma * math.sqrt(steps)))))


def _all_or_none(t, sigma, rate, steps):
    return _beta(t, sigma, rate, steps, np.array([0, steps]), np.array([1 - rate, rate]))


def _normal_sum(t, sigma, rate, steps):
    return float(ndtr((t - rate * steps) / math.sqrt(steps * (sigma**2 + rate * (1 - rate)))))


def _poisson(last):
    """Poisson chances of up to last(steps) draws."""

    def beta(t, sigma, rate, steps):
        draws = np.arange(last(steps) + 1)
        return _beta(t, sigma, rate, steps, draws, poisson.pmf(draws, rate * steps))

    return _rates(beta=beta)


def _without_ways(t, sigma, rate, steps):
    draws = np.arange(steps + 1)
    return _beta(t, sigma, rate, steps, chances=rate**draws * (1 - rate) ** (steps - draws))


def _noise_where_drawn(t, sigma, rate, steps):
    """The noise of the steps at which the canary is drawn; of one where it never is."""
    draws = np.arange(steps + 1)
    return _beta(t, sigma, rate, steps, deviation=sigma * np.sqrt(np.maximum(1, draws)))


def _drawn_at_all(t, sigma, rate, steps):
    never = (1 - rate) ** steps
    return _beta(t, sigma, rate, steps, np.array([0, 1]), np.array([never, 1 - never]))


def _step_by_step(threshold, noise_multiplier, sample_rate, steps):
    """alpha of one step; missed in every one."""
    missed = _beta(threshold, noise_multiplier, sample_rate, 1)
    return _alpha(threshold, noise_multiplier, 1), missed**steps


def _without_it_too(threshold, noise_multiplier, sample_rate, steps):
    misses = _beta(threshold, noise_multiplier, sample_rate, steps)
    return 1 - misses, misses


def _false_alarms_of_the_canary(cases, values):
    """recognise: alpha is what is missing of the misses to 1."""
    wanted = [_without_it_too(**case)[0] for case in cases]
    return np.allclose([value[0] for value in values], wanted, rtol=1e-6, atol=0)


def _simulated(threshold, noise_multiplier, sample_rate, steps):
    rng, trainings = np.random.default_rng(0), 100_000
    noise = noise_multiplier * math.sqrt(steps) * rng.normal(size=trainings)
    drawn = rng.binomial(steps, sample_rate, trainings)
    return float(np.mean(noise > threshold)), float(np.mean(noise + drawn <= threshold))


def _nearly(cases, values):
    """recognise: no number is the right one, and none is far from it."""
    wanted = [exercise.reference(**case) for case in cases]
    return all(0 < abs(np.subtract(value, want)).max() < 0.01 for value, want in zip(values, wanted, strict=True))


def _written(threshold, noise_multiplier, sample_rate, steps):
    """As learners write it."""
    deviation, draws = noise_multiplier * math.sqrt(steps), np.arange(steps + 1)
    misses = ndtr((threshold - draws) / deviation)
    return ndtr(-threshold / deviation), misses @ binom.pmf(draws, steps, sample_rate)


exercise = Exercise(
    title="The exact error rates",
    good_for="knowing how far an audit is from the truth, where the truth can be computed",
    difficulty=3,
    minutes=12,
    points=2,
    domain=Domain(
        {
            "threshold": Number(-10, 20),
            "noise_multiplier": Number(0.4, 3),
            "sample_rate": Number(0.01, 0.9),
            "steps": Whole(1, 50),
        }
    ),
    draw=_draw_trainings,
    formulas=(_written,),
    reference=_rates(),
    means={
        "noise_multiplier * math.sqrt(steps)": "the deviation of the noise of all steps together",
        "np.arange(steps + 1)": "how often Mia may be drawn, from never to in every step",
        "ndtr((threshold - draws) / deviation)": "the chance of a miss if she was drawn so often",
        "binom.pmf(draws, steps, sample_rate)": "the chance that she was drawn so often",
        "ndtr(-threshold / deviation)": "the chance that noise alone is above the threshold",
    },
    returns=several("alpha", "beta"),
    possible=Number(0, 1),
    hints=(
        "Without the canary all steps together are noise: a sum of `steps` independent normal numbers. Their variances add, not their deviations.",
        "With it, go through the numbers of draws j from 0 to `steps`. If j were known, the score would be normal around j, and the misses "
        "Φ of something. How likely is each j?",
        "`scipy.stats.binom.pmf(j, steps, sample_rate)` is the chance of j draws. beta is the mean of the misses for all j, weighted by these chances.",
    ),
    misconceptions=(
        Misconception(
            "always the mean",
            "You let the canary be drawn as often as it is on average. How often it is drawn differs from training to training, and a training in "
            "which it is drawn seldom is missed most easily: take the mean of the misses, not the misses at the mean.",
            _always(lambda rate, steps: rate * steps),
        ),
        Misconception(
            "always drawn",
            "You let the canary be drawn in every step. It is drawn with the chance `sample_rate`, so the number of draws goes from 0 to `steps`.",
            _always(lambda rate, steps: steps),
        ),
        Misconception(
            "drawn once",
            "You let the canary be drawn once in all. In each step it is drawn anew, so the number of draws goes from 0 to `steps`.",
            _rates(
                beta=lambda t, sigma, rate, steps: _beta(
                    t, sigma, rate, steps, np.array([0, 1]), np.array([1 - rate, rate])
                )
            ),
        ),
        Misconception(
            "drawn at all",
            "You let the canary move the score by 1 if it is drawn at all. Each time it is drawn moves the score by 1 more: j draws move it by j.",
            _rates(beta=_drawn_at_all),
        ),
        Misconception(
            "draws without the canary",
            "You let the canary move the score in the false alarms too. They are of the trainings without it: there all steps together are noise.",
            _without_it_too,
            recognise=_false_alarms_of_the_canary,
        ),
        Misconception(
            "step by step",
            "You judged each step by itself. The attack adds up all steps, and compares the sum with the threshold once: its noise is that of the sum.",
            _step_by_step,
        ),
        Misconception(
            "in all or in none",
            "You toss one coin for the whole training: drawn in all steps, or in none. A coin is tossed in each step.",
            _rates(beta=_all_or_none),
        ),
        Misconception(
            "normal for the draws",
            "You took a normal law for the number of draws. That is an approximation, and an exact value is wanted: add up over "
            "all numbers of draws, 0 to `steps`.",
            _rates(beta=_normal_sum),
        ),
        Misconception(
            "Poisson",
            "You took the Poisson law for the number of draws. That is an approximation, good for a small `sample_rate`. With one coin for each step "
            "the number is binomial: `scipy.stats.binom.pmf(j, steps, sample_rate)`.",
            _poisson(lambda steps: 200),
            recognise=any_of(_poisson(lambda steps: 200), _poisson(lambda steps: steps)),
        ),
        Misconception(
            "order of the draws",
            "Your chances of j draws are those of one order in which they may come. There are several: `scipy.stats.binom.pmf(j, steps, sample_rate)`.",
            _rates(beta=_without_ways),
        ),
        Misconception(
            "never and always left out",
            "Your sum over the draws ends too early. The canary may be drawn in every step: `range(steps + 1)`.",
            _rates(
                beta=lambda t, sigma, rate, steps: _beta(
                    t, sigma, rate, steps, np.arange(steps), binom.pmf(np.arange(steps), steps, rate)
                )
            ),
        ),
        Misconception(
            "never drawn left out",
            "Your sum over the draws begins at 1. The canary may never be drawn, and then it is missed most easily: begin at 0.",
            _rates(
                beta=lambda t, sigma, rate, steps: _beta(
                    t, sigma, rate, steps, np.arange(1, steps + 1), binom.pmf(np.arange(1, steps + 1), steps, rate)
                )
            ),
        ),
        Misconception(
            "noise of one step",
            "You took the noise of one step. The score is a sum over all steps, and each of them brings its noise.",
            _with_deviation(lambda sigma, steps: sigma),
        ),
        Misconception(
            "deviations added",
            "You added up the deviations of the steps. Of independent noise the variances add, so the deviation grows with the root of `steps`.",
            _with_deviation(lambda sigma, steps: sigma * steps),
        ),
        Misconception(
            "noise of the mean",
            "You divided by the root of `steps`: that is the deviation of a mean. The score is a sum, and its deviation grows with the root of `steps`.",
            _with_deviation(lambda sigma, steps: sigma / math.sqrt(steps)),
        ),
        Misconception(
            "variance for deviation",
            "You put the variance, σ² · steps, where the deviation belongs. Take the root.",
            _with_deviation(lambda sigma, steps: sigma**2 * steps),
        ),
        Misconception(
            "root of the multiplier",
            "You took the root of noise_multiplier · steps. The deviation is noise_multiplier times the root of `steps`.",
            _with_deviation(lambda sigma, steps: math.sqrt(sigma * steps)),
        ),
        Misconception(
            "noise where it is drawn",
            "You counted the noise of those steps in which the canary is drawn. Noise is added in every step, with the canary or without.",
            _rates(beta=_noise_where_drawn),
        ),
        Misconception(
            "draws times the rate",
            "You moved the score by j times `sample_rate`. Where the canary is drawn j times it moves by j; the rate decides only how likely j is.",
            _rates(
                beta=lambda t, sigma, rate, steps: float(
                    binom.pmf(np.arange(steps + 1), steps, rate)
                    @ ndtr((t - rate * np.arange(steps + 1)) / (sigma * math.sqrt(steps)))
                )
            ),
        ),
        Misconception(
            "hits for misses",
            "Your second number is the chance that the canary is found. beta is the chance that it is missed: the score is at the threshold or below.",
            _rates(beta=lambda *case: 1 - _beta(*case)),
        ),
        Misconception(
            "calm for alarms",
            "Your first number is the chance that there is no false alarm. alpha is that of a score *above* the threshold.",
            _rates(alpha=lambda *case: 1 - _alpha(*case)),
        ),
        Misconception(
            "exchanged",
            "You returned beta first and alpha second.",
            lambda threshold, noise_multiplier, sample_rate, steps: (
                _beta(threshold, noise_multiplier, sample_rate, steps),
                _alpha(threshold, noise_multiplier, steps),
            ),
        ),
        Misconception(
            "one step only",
            "Your misses are those of an average training with the canary in one step only. The score adds up all steps: go through the "
            "numbers of draws from 0 to `steps`.",
            _rates(
                beta=lambda t, sigma, rate, steps: (
                    (1 - rate) * float(ndtr(t / sigma)) + rate * float(ndtr((t - 1) / sigma))
                )
            ),
        ),
        Misconception(
            "simulated",
            "You are close, but not exact. If you simulated trainings: an exact value is wanted, which needs none. Each number of draws has a chance "
            "that is known, and so has a miss after so many draws.",
            _simulated,
            recognise=_nearly,
        ),
    ),
)
