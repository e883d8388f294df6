"""Where a wrong answer leaves the way: the place is the one that was spoiled, and what is said to be proved is true."""

import ast
import contextlib
import dataclasses
import math

import numpy as np
import pytest
from checking.calling.test_steps import written
from hypothesis import given
from hypothesis import strategies as st

from dpcourse import course
from dpcourse.checking.calling.probe import Probe, arguments
from dpcourse.checking.calling.values import plain
from dpcourse.checking.diagnosis import PLACE, place
from dpcourse.checking.exercise import Asked

WRONG = {  # exercise -> wrong answer, the expression that alone is wrong, its line
    "start_here/keep_probability": ("def keep_probability(epsilon):\n    return (math.exp(epsilon) - 1) / (math.exp(epsilon) + 1)\n", "math.exp(epsilon) - 1", 2),
    "start_here/estimate_share": (
        "def estimate_share(reports, epsilon):\n    p = math.exp(epsilon) / (1 + math.exp(epsilon))\n    return (np.median(reports) - (1 - p)) / (2 * p - 1)\n",
        "np.median(reports)", 3,
    ),
    "composition/worst_posterior": ("def worst_posterior(prior, epsilon):\n    odds = 1 / prior * math.exp(epsilon)\n    return odds / (1 + odds)\n", "1 / prior", 2),
    "composition/composed_delta": (
        "def weight(k, j):\n    return math.perm(k, j)\n\n"
        "def composed_delta(epsilon, k, epsilon_total):\n    p = math.exp(epsilon) / (1 + math.exp(epsilon))\n    total = 0\n"
        "    for j in range(k + 1):\n        ways = weight(k, j)\n        one = p ** (k - j) * (1 - p) ** j\n        other = p**j * (1 - p) ** (k - j)\n"
        "        total += max(0, ways * one - math.exp(epsilon_total) * ways * other)\n    return total\n",
        "math.perm(k, j)", 2,
    ),
    "gdp/gaussian_curve": ("from scipy.stats import norm\n\ndef gaussian_curve(alpha, mu):\n    return norm.cdf(norm.ppf(1 - alpha) / mu)\n", "norm.ppf(1 - alpha) / mu", 4),
}  # fmt: skip


def where(id, code, means=None):
    """What is found of an answer."""
    exercise = course.find(id)
    answer = written(code, exercise.function)
    answer.__globals__["math"] = math
    rng, cases = np.random.default_rng(1), []
    while len(cases) < 12:
        cases += exercise.cases(rng).drawn
    values = [plain(answer(*arguments(case))) for case in cases]
    right = [plain(exercise.reference(*arguments(case))) for case in cases]
    order = sorted(range(len(cases)), key=lambda i: exercise.is_close(values[i], right[i]))
    cases, values = [cases[i] for i in order], [values[i] for i in order]
    watch = lambda cases, seconds, exchanges: Probe(exercise.function, seconds=10).watch(answer, cases, exchanges)  # noqa: E731
    functions = (exercise.reference, *exercise.formulas)
    return place.found(functions, cases, values, watch, exercise.is_close, means or {}), cases


@pytest.mark.parametrize("id", WRONG)
def test_the_one_wrong_expression_is_proved_to_be_it(id):
    code, text, line = WRONG[id]
    found, _ = where(id, code)
    assert isinstance(found, place.Proved)
    assert (found.place.text, found.place.line) == (ast.unparse(ast.parse(text)), line)


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each takes three seconds")
@pytest.mark.parametrize(
    ("id", "code", "text"),
    [
        (  # the reference has a list of what this loop has one by one
            "accountants/certified_mu",
            "def certified_mu(epsilon, delta, delta_0):\n    found = 0.0\n    for e, d in zip(epsilon[1:], delta):\n        if d > delta_0:\n"
            "            found = max(found, e / math.sqrt(2 * math.log(1.25 / d)))\n    return float(found)\n",
            "e / math.sqrt(2 * math.log(1.25 / d))",
        ),
        (  # and this one a list of what the formula has one by one, a hundred times
            "accountants/last_order",
            "import numpy as np\nfrom dpcourse import rdp\n\ndef last_order(noise_multiplier, sample_rate, share):\n    orders = np.arange(2, 100)\n"
            "    third = orders**2 / 2 * sample_rate**2 * math.expm1(1 / noise_multiplier**2)\n"
            "    logs = np.array([(a - 1) * rdp.divergence(noise_multiplier, sample_rate, int(a)) for a in orders])\n"
            "    with np.errstate(over='ignore'):\n        return int(orders[third >= share * np.expm1(logs)].max())\n",
            "orders ** 2",
        ),
    ],
)
def test_what_a_right_answer_has_at_once_another_may_have_one_by_one(id, code, text, monkeypatch):
    monkeypatch.setattr(place, "SECONDS", 60)
    found, _ = where(id, code)
    assert isinstance(found, place.Proved)
    assert found.place.text == text


def test_what_is_told_to_be_needed_makes_the_answer_right():
    """Recomputed by hand: with the value that is told in the place that is told, the result is right."""
    code = WRONG["composition/worst_posterior"][0]
    found, cases = where("composition/worst_posterior", code)
    prior, epsilon = cases[0]["prior"], cases[0]["epsilon"]
    assert found.gave == pytest.approx(1 / prior)
    odds = found.needed * math.exp(epsilon)
    assert odds / (1 + odds) == pytest.approx(course.find("composition/worst_posterior").reference(prior, epsilon))


def test_what_is_wrong_in_several_lines_is_told_with_all_of_them():
    code = (
        "import numpy as np\n\ndef approx_dp_curve(alpha, epsilon, delta):\n    steep = 1 + delta - np.exp(epsilon) * alpha\n"
        "    flat = np.exp(-epsilon) * (1 + delta - alpha)\n    return np.maximum(0, np.maximum(steep, flat))\n"
    )
    found, _ = where("gdp/approx_dp_curve", code)
    assert (found.place.text, found.place.line, found.also) == ("1 + delta", 4, (5,))
    assert "in line 4 is not what is needed. So it is in line 5." in found.text


def test_an_argument_is_told_by_its_name():
    code = "def worst_posterior(prior, epsilon):\n    e = math.exp(4 * epsilon)\n    return prior * e / (prior * e + 1 - prior)\n"
    found, _ = where("composition/worst_posterior", code)
    assert found.place.text == "4 * epsilon"
    assert "`epsilon` as it was given" in found.text


def test_of_a_long_list_the_entry_is_told_that_differs():
    gave = [0.5 * i for i in range(40)]
    needed = [*gave[:30], -1.0, *gave[31:]]
    told = place.Proved(place.Place("logs", 3), gave, [x * (1 + 1e-12) for x in needed]).text
    assert told.endswith("On the input shown its entry 30, counted from 0, is 15, and -1 is needed.")
    assert "it gives [1, 2], and [1, 3] is needed" in place.Proved(place.Place("logs", 3), [1, 2], [1, 3]).text


@pytest.mark.parametrize(
    ("test", "told"),
    [("epsilon > 1", "was true, and wherever it is right, never"), ("epsilon <= 1", "was false at some time")],
)
def test_a_condition_that_goes_with_being_wrong_is_told(test, told):
    right = "math.exp(epsilon) / (1 + math.exp(epsilon))"
    wrong, rest = ("0.75", right) if test == "epsilon > 1" else (right, "0.75")
    found, _ = where(
        "start_here/keep_probability",
        f"def keep_probability(epsilon):\n    if {test}:\n        return {wrong}\n    return {rest}\n",
    )
    assert isinstance(found, place.Turn)
    assert f"`{test}` in line 2 {told}" in found.text


def test_an_answer_that_is_wrong_as_a_whole_is_told_its_first_value_that_is_none():
    code = "def worst_posterior(prior, epsilon):\n    return prior ** math.exp(-epsilon)\n"
    found, _ = where("composition/worst_posterior", code)
    assert isinstance(found, place.Left)
    assert "math.exp(-epsilon)" in found.text


ODDS = {"prior / (1 - prior)": "the odds before", "prior / (1 - prior) * math.exp(epsilon)": "the odds after"}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("return prior / 2 + 0.1", "One right way goes through the odds before, "),
        (
            "odds = prior / (1 - prior)\n    return odds / (odds + 3)",
            "One right way goes through the odds after, ",
        ),
        (
            "odds = prior / (1 - prior) * math.exp(epsilon)\n    return odds - odds * odds / 2",
            "in line 2 is as it should be, the odds after: look at what becomes of it.",
        ),
    ],
)
def test_where_nothing_else_is_said_it_is_told_how_far_along_the_way_an_answer_comes(code, told):
    found, cases = where("composition/worst_posterior", f"def worst_posterior(prior, epsilon):\n    {code}\n", ODDS)
    assert told in found.text
    if "One" in told:
        odds = cases[0]["prior"] / (1 - cases[0]["prior"]) * (math.exp(cases[0]["epsilon"]) if "after" in told else 1)
        assert found.needed == pytest.approx(odds)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("return prior / 2 + 0.1", "nothing in your answer has that value."),
        ("return sum({prior / 2, 0.1})", "look whether yours does."),
        ("odds = prior / (1 - prior) if prior == FIRST else 3\n    return odds / (1 + odds) / 2", "look whether yours does."),
    ],
)  # fmt: skip
def test_of_values_that_are_not_known_or_are_there_it_is_not_said_that_they_are_none_of_these(code, told):
    _, cases = where("composition/worst_posterior", "def worst_posterior(prior, epsilon):\n    return 2\n", ODDS)
    code = code.replace("FIRST", repr(cases[0]["prior"]))
    found, _ = where("composition/worst_posterior", f"def worst_posterior(prior, epsilon):\n    {code}\n", ODDS)
    assert isinstance(found, place.Lacks)
    assert found.text.endswith(told)


NORM = """def mia_is_in(output, with_mia, without, sigma, bits):
    def off(total):
        r = np.linalg.norm((output - total) / sigma, axis=1)
        return np.abs(r * 2**bits - np.round(r * 2**bits)).mean()
    return bool(off(with_mia) < off(without))
"""


def test_what_a_library_offers_has_no_value_and_hides_nothing():
    found, _ = where("machine/mia_is_in", NORM)
    assert isinstance(found, place.Left)
    assert "from `np.linalg.norm((output - total) / sigma, axis=1)` in line 3 on they differ" in found.text
    code = "def worst_posterior(prior, epsilon):\n    return float(np.array(prior / 2 + 0.1, dtype=float))\n"
    found, _ = where("composition/worst_posterior", code, ODDS)
    assert isinstance(found, place.Lacks)


LIKELY = """def mia_is_in(output, with_mia, {last}, sigma, bits):
    near, far = [(output - total) / sigma for total in (with_mia, {sum})]
    return bool((2**bits * np.exp(-(near**2).sum(axis=1) / 3) >= 1).all() and far.all())
"""


@pytest.mark.parametrize(
    ("names", "is_told"),
    [(("without", "with_mia"), True), (("without", "without"), False), (("rest", "rest"), False)],
)
def test_an_argument_that_is_never_read_is_told_and_none_that_is_under_another_name(names, is_told):
    found, _ = where("machine/mia_is_in", LIKELY.format(last=names[0], sum=names[1]))
    assert isinstance(found, place.Unread) == is_told
    if is_told:
        assert found.text == "Your answer never looks at `without`; right answers do."


def test_of_a_right_value_the_place_is_told_that_has_it_and_not_one_minus_it():
    code = "def worst_posterior(prior, epsilon):\n    odds = prior / (1 - prior) * math.exp(epsilon)\n    return (1 - odds) / 3\n"
    found, _ = where("composition/worst_posterior", code, ODDS)
    assert isinstance(found, place.Reached)
    assert (found.place.text, found.place.line) == ("prior / (1 - prior) * math.exp(epsilon)", 2)


def test_a_step_that_is_the_result_wherever_that_is_not_cut_is_not_said_to_be_missing():
    code = (
        "from dpcourse import audit\n\ndef mu_at_least(false_alarms, misses, runs, confidence):\n    each = 1 - (1 - confidence) / 2\n"
        "    alpha = audit.clopper_pearson(false_alarms, runs, each)\n    beta = audit.clopper_pearson(misses, runs, each)\n"
        "    return max(0.0, float(np.log((1 - beta) / alpha))) if beta < 1 else 0.0\n"
    )
    exercise = course.find("audit/mu_at_least")
    for seed in range(4):
        message = exercise.check(written(code, "mu_at_least"), seed).message
        assert "the upper bound on the rate of misses: look at what becomes of it" in message


@pytest.mark.parametrize(("least", "is_told"), [(0, True), (20, False)])
def test_a_place_that_is_right_is_told_where_the_answer_is_mostly_wrong(least, is_told):
    code = f"def worst_posterior(prior, epsilon):\n    odds = prior / (1 - prior) * math.exp(epsilon)\n    return odds / (1 + odds) + 0.01 * (odds > {least})\n"
    found, _ = where("composition/worst_posterior", code, ODDS)
    assert isinstance(found, place.Reached) == is_told, found


def test_a_product_of_right_values_is_not_where_an_answer_leaves():
    """Another right answer multiplies in this order; what is wrong is that the whole chance is added."""
    code = (
        "def composed_delta(epsilon, k, epsilon_total):\n    keep, total = 1 / (1 + math.exp(-epsilon)), 0.0\n    for j in range(1, k + 1):\n"
        "        p = math.comb(k, j) * keep ** (k - j) * (1 - keep) ** j\n        if (k - 2 * j) * epsilon > epsilon_total:\n            total += p\n    return total\n"
    )
    assert where("composition/composed_delta", code)[0] is None


@pytest.mark.in_turn("seconds of checks")
def test_another_way_to_what_is_right_elsewhere_is_not_where_an_answer_leaves():
    """The floor below the densities is wrong; that there are densities is in no right answer, and no fault: see where it is right."""
    code = (
        "def privacy_loss(output, value, neighbour, sensitivity, epsilon):\n    b = sensitivity / epsilon\n"
        "    def density(centre):\n        p = 1.0\n        for z, c in zip(output, centre):\n"
        "            p *= max(math.exp(-abs(z - c) / b), 1e-2) / (2 * b)\n        return max(p, 1e-3)\n"
        "    return math.log(density(value) / density(neighbour))\n"
    )
    answer = written(code, "privacy_loss")
    answer.__globals__["math"] = math
    message = str(course.find("laplace/privacy_loss").check(answer, 0).message)
    assert message.startswith("Right on ")
    assert "abs(z - c) / b" not in message


def test_the_right_result_put_in_the_place_of_a_result_proves_nothing():
    for id, code in {
        "composition/worst_posterior": "def worst_posterior(prior, epsilon):\n    return min(1.0, prior + epsilon)\n",
        "composition/basic_composition": "def basic_composition(epsilons, deltas):\n    return math.sqrt(sum(e**2 for e in epsilons)), sum(deltas)\n",
    }.items():
        assert not isinstance(where(id, code)[0], place.Proved)


def test_a_learner_reads_it():
    code, text, line = WRONG["composition/worst_posterior"]
    answer = written(code, "worst_posterior")
    answer.__globals__["math"] = math
    verdict = course.find("composition/worst_posterior").check(answer, 1)
    assert verdict.found_by == PLACE
    assert f"Only `{text}` in line {line} is not what is needed" in verdict.message


plain_data = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 400) | st.floats() | st.text(max_size=5) | st.just([["x", 1, []]]),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(st.lists(plain_data, max_size=8), st.lists(plain_data, max_size=8))
def test_whatever_a_process_sends_nothing_but_an_exception_comes_of_it(steps, results):
    """What is said of a place comes from where a student's code runs."""
    exercise = course.find("composition/worst_posterior")
    cases = exercise.cases(np.random.default_rng(0))
    values = [case["prior"] / 2 for case in cases]
    watch = lambda cases, seconds, exchanges: results if exchanges else steps  # noqa: E731
    with contextlib.suppress(Exception):
        found = place.found((exercise.reference,), cases, values, watch, exercise.is_close)
        assert found is None or len(found.text) < 1000


@pytest.mark.in_turn("seconds of checks")
@pytest.mark.one_case("each takes three seconds")
@pytest.mark.parametrize("watch", [lambda *given, **named: 1 / 0, lambda *given, **named: [[["x", "y", 1]]]])
def test_where_the_watch_fails_the_rest_of_the_reply_stands(watch):
    exercise = course.find("composition/worst_posterior")
    cases = exercise.cases(np.random.default_rng(0))
    half = lambda further, seconds: [{"value": case["prior"] / 2} for case in further]  # noqa: E731
    verdict = exercise.judge(cases, half(cases, 1), Asked(half, watch), 0)
    assert verdict.message == exercise.judge(cases, half(cases, 1), Asked(half), 0).message


def test_places_that_are_no_trees_are_refused():
    with pytest.raises(ValueError, match="made of earlier ones"):
        place.sound_places([["a", 1, [], False], ["b", 1, [0], False], ["c", 1, [0], False]])
    with pytest.raises(ValueError, match="made of earlier ones"):
        place.sound_places([["a", 1, [0], False]])


def test_an_array_made_for_whole_numbers_is_told_before_anything_else():
    code = (
        "def clip(gradients, clip_norm):\n    out = np.zeros(gradients.shape, dtype=int)\n    for i, g in enumerate(gradients):\n"
        "        out[i] = g / max(1, np.linalg.norm(g) / clip_norm)\n    return out\n"
    )
    verdict = course.find("dpsgd/clip").check(written(code, "clip"), 1)
    assert "array of whole numbers" in verdict.message


def told(id, code, **changed):
    """What an answer's author reads, where these fields of the exercise are changed."""
    exercise = dataclasses.replace(course.find(id), **changed)
    answer = written(code, exercise.function)
    answer.__globals__["math"] = math
    return exercise.check(answer, 0)


def test_what_is_like_a_misconception_only_where_it_is_wrong_is_told_what_is_proved():
    """Cut off at 1 - alpha, beta is what it would be were it counted with p; that is not what was done."""
    code = "def error_rates(p, q, reject):\n    alpha, beta = np.dot(p, reject), 1 - np.dot(q, reject)\n    return alpha, min(beta, 1 - alpha)\n"
    verdict = told("gdp/error_rates", code)
    assert verdict.misconception is None
    assert verdict.message.startswith("Line 3: `min` is too much in `min(beta, 1 - alpha)`.")
    verdict = told("gdp/error_rates", code.replace("min(beta, 1 - alpha)", "1 - alpha"))
    assert verdict.misconception is not None, "and who did that is told so"


@pytest.mark.in_turn("seconds of checks")
def test_an_answer_that_is_right_for_one_value_of_an_argument_is_told_which():
    code = "def worst_posterior(prior, epsilon):\n    return prior + (1 - prior) * math.tanh(epsilon / 2)\n"
    assert told("composition/worst_posterior", code).message.startswith("Right wherever `prior` is 0.5;")


CLEARED = {  # a value before the place that is told holds the slip itself -> what must not be called right
    "round for floor, a small whole number": (
        "matrix/block_ends",
        "def block_ends(t):\n    ends, at = [], 0\n    while at < t:\n        at += 2 ** round(math.log2(t - at))\n        ends.append(at)\n    return ends\n",
        "round(math.log2(t - at))",
    ),
    "products of whole numbers that overflow, but only where the answer is wrong": (
        "matrix/root_coefficients",
        "import numpy as np\n\ndef root_coefficients(steps):\n    k = np.arange(1, steps)\n    odd, even = np.cumprod(2 * k - 1), np.cumprod(2 * k)\n"
        "    return np.concatenate(([1.0], odd / even))\n",
        "odd / even",
    ),
    "all numbers of a right value, in another order": (
        "machine/mia_is_in",
        "import numpy as np\n\ndef mia_is_in(output, with_mia, without, sigma, bits):\n    def off(total):\n"
        "        z = ((output - total) / sigma).T.reshape(-1, 2)\n        k = 2**bits * np.exp(-(z**2).sum(axis=1) / 2)\n"
        "        return np.mean(np.abs(k - np.round(k)))\n    return bool(off(with_mia) < off(without))\n",
        "z ** 2",
    ),
    "a sum of some columns among all such sums": (
        "matrix/sensitivity_often",
        "import numpy as np\n\ndef sensitivity_often(strategy, participations, separation):\n    n = strategy.shape[1]\n    free, moved = set(range(n)), np.zeros(strategy.shape[0])\n"
        "    for _ in range(participations):\n        if not free:\n            break\n        best = max(free, key=lambda j: np.linalg.norm(moved + strategy[:, j]))\n"
        "        moved = moved + strategy[:, best]\n        free = {j for j in free if abs(j - best) >= separation}\n    return float(np.linalg.norm(moved))\n",
        "strategy[:, best]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", CLEARED)
def test_no_value_is_called_right_that_is_not_known_to_be_so(why):
    """A false word on where the mistake is would cost more time than none."""
    id, code, text = CLEARED[why]
    verdict = told(id, code)
    assert verdict.state == "wrong"
    assert text not in verdict.message.partition("; from")[0], verdict.message


@pytest.mark.in_turn("seconds of checks")
def test_a_value_that_is_right_everywhere_is_named_with_its_line_before_the_first_that_is_not():
    code = (
        "import numpy as np\n\ndef mia_is_in(output, with_mia, without, sigma, bits):\n    def off(total):\n        r2 = (((output - total) / sigma) ** 2).sum(axis=1)\n"
        "        k = 2**bits * np.exp(-r2 / 2)\n        return np.mean(k - np.floor(k))\n\n    return off(with_mia) < off(without)\n"
    )
    assert (
        "Up to `2 ** bits * np.exp(-r2 / 2)` (line 6) your values are those of right answers; from `np.floor(k)` in line 7 on they differ: "
        "the mistake is there, unless you go another way." in told("machine/mia_is_in", code, misconceptions=()).message
    )


@pytest.mark.parametrize(
    ("vectors", "is_evidence"),
    [
        ([[0.25]], True),
        ([[2.0], [2.0], [3.0]], False),
        ([[2.0], [4.0], [3.0]], True),
        ([], False),
        ([[1.0, 0.0]], False),
    ],
)
def test_whole_numbers_are_evidence_where_they_differ(vectors, is_evidence):
    assert place._is_evidence([np.array(each) for each in vectors]) == is_evidence


def test_a_place_of_which_no_words_are_known_is_told_with_the_first_step_that_lacks():
    """Where more than one value before it is wrong, the place alone leads nowhere."""
    code = (
        "def noisy_adam(weights, sums, noises, expected_batch, learning_rate):\n    m, u = np.zeros(len(weights)), np.zeros(len(weights))\n"
        "    for t, (s, z) in enumerate(zip(sums, noises), 1):\n        g = (s + z) / expected_batch\n"
        "        m, u = 0.1 * m + 0.9 * g, 0.001 * u + 0.999 * g**2\n"
        "        weights = weights - learning_rate * (m / (1 - 0.9**t)) / (np.sqrt(u / (1 - 0.999**t)) + 1e-8)\n    return weights\n"
    )
    means = course.find("dpsgd/noisy_adam").means
    found, _ = where("dpsgd/noisy_adam", code, means)
    assert "One right way goes through the running mean of the gradients" in found.text
    found, _ = where("dpsgd/noisy_adam", code.replace("0.1 * m + 0.9 * g", "0.9 * m + 0.1 * g"), means)
    assert "One right way goes through the running mean of the squares" in found.text
