"""You are the attacker: every mechanism keeps what it promises, a rule proves no more, and a game by hand ends in a proof."""

import numpy as np
import pytest

from dpcourse import attack, audit, course, machine
from dpcourse.notebook import attacker
from dpcourse.notebook.attacker import BY_HAND, Game, Played
from dpcourse.notebook.progress import kept

ATTACKED = [lesson for lesson in course.lessons() if lesson.has("attack")]
every_attack = pytest.mark.parametrize("lesson", ATTACKED, ids=lambda lesson: lesson.word)


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path))
    monkeypatch.setattr(attacker, "_played", {})


def direction(lesson):
    """A score of an output, by which an attack may sort: the sum of what it holds, or what speaks of Mia there."""
    known = {
        "audit": lambda output: output @ [-1.0, 2.0, -2.0],  # the weights along her gradient
        "matrix": lambda output: output[5] - output[4],  # the step in which she comes
        "claim": lambda loss: -loss,
    }
    return known.get(lesson.word, lambda output: np.sum(output))


def test_all_lessons_but_that_on_accountants_can_be_attacked():
    assert [lesson.word for lesson in course.lessons() if lesson not in ATTACKED] == ["accountants"]


@pytest.mark.one_case("each plays thousands of games")
@every_attack
def test_no_test_of_its_size_goes_below_what_is_promised(lesson):
    mechanism, rng = lesson.part("attack").ATTACK, np.random.default_rng(5)
    scores = [
        np.array(list(map(direction(lesson), mechanism.outputs(rng, np.full(20_000, is_in)))))
        for is_in in (True, False)
    ]
    for within, without in (scores, [-each for each in reversed(scores)]):
        within, without = within + 1e-9 * rng.random(within.size), without + 1e-9 * rng.random(without.size)
        assert audit.refutation(mechanism.promise(), within, without, 1 - 1e-6) is None


def test_the_last_bits_of_lesson_08_go_below_what_is_promised():
    """By the rule of its text, and by the library's own attack, whose alarms are never false where a count is ruled out."""
    mechanism, rng = course.lesson(8).part("attack").ATTACK, np.random.default_rng(6)
    outputs = [mechanism.outputs(rng, np.full(4000, is_in)) for is_in in (True, False)]
    by_bits = [np.where(np.abs(z) < 0.5, z % 2**-53 == 0, z > 0.5).astype(float) for z in outputs]
    assert audit.refutation(mechanism.promise(), *by_bits, 1 - 1e-6) is not None
    proofs = [np.array([not machine.can_give(0.0, z, 1.0) for z in each]) for each in outputs]
    assert proofs[0].mean() > 0.7
    assert not proofs[1].any()


def test_an_output_of_lesson_08_is_shown_to_the_last_bit():
    game = Game(course.lesson(8), course.lesson(8).part("attack").ATTACK, np.random.default_rng(0))
    assert float(game.outputs[0]).hex() in game.asked.value


@every_attack
def test_a_rule_proves_something_and_the_best_guess_is_kept(lesson, monkeypatch, capsys):
    if lesson.number != 3:  # the picture is seen once
        monkeypatch.setattr("dpcourse.plots.show", lambda picture, **arguments: None)
    score, mechanism = direction(lesson), lesson.part("attack").ATTACK
    middle = np.median([score(each) for each in mechanism.outputs(1, np.arange(2000) % 2 == 0)])
    attack(lesson.number, lambda output: bool(score(output) > middle - 0.5 * (lesson.word == "start_here")), rng=3)
    said = capsys.readouterr().out
    assert "With confidence 0.999 this proves a μ of at least" in said
    assert 0.5 < kept().proved[lesson.word] < 3.5
    before = kept().proved
    attack(lesson.number, lambda output: True)
    assert "proves nothing yet" in capsys.readouterr().out
    assert kept().proved == before


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (3, "A rule is a function, given without brackets, got 3."),
        (lambda output: 1, "Your rule must say True for in or False for out, got 1 for"),
        (lambda output: None, "got None for"),
        (lambda output: output.x, "Your rule stopped at"),
    ],
)
def test_a_rule_that_is_none_is_told_so(rule, said, capsys):
    attack(3, rule)
    assert said in capsys.readouterr().out
    assert kept().proved == {}


def test_a_lesson_without_an_attack_says_so(capsys):
    attack(6)
    assert "nothing to attack" in capsys.readouterr().out


def test_a_rule_cannot_change_what_the_next_call_sees():
    outputs = np.zeros((3, 2))

    def rule(output):
        output += 1
        return bool(output.sum() == 2)

    assert attacker._said_by(rule, outputs).all()


@every_attack
def test_a_game_by_hand_goes_to_its_end_and_proves(lesson, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr("dpcourse.plots.show", lambda picture, **arguments: shown.append(arguments["played"]))
    game = Game(lesson, lesson.part("attack").ATTACK, np.random.default_rng(0))
    assert len(game.outputs) == BY_HAND
    for i, truth in enumerate(game.is_in):
        assert f"Output {i + 1} of {BY_HAND}" in game.asked.value
        game.buttons[0 if truth else 1].click()
        assert f"right so far: {i + 1} of {i + 1}" in game.reply.value
    assert all(button.disabled for button in game.buttons)
    [played] = shown
    assert (played["hand"].false_alarms, played["hand"].misses) == (0, 0)
    assert kept().proved[lesson.word] == pytest.approx(played["hand"].mu, abs=1e-4)
    game.buttons[0].click()
    assert len(shown) == 1


def test_what_is_proved_is_a_lower_bound_as_often_as_is_said():
    """A perfect threshold on Gaussian noise of mu 1: of 400 plays by hand at most 5 % prove more than 1, up to chance."""
    rng = np.random.default_rng(8)
    plays = []
    for _ in range(400):
        is_in = rng.random(BY_HAND) < 0.5
        plays.append(Played.of(is_in, is_in + rng.normal(0, 1, BY_HAND) > 0.5, "hand").mu)
    assert sum(mu > 1 for mu in plays) <= 35  # 20 expected at most; 35 has a chance below 1e-3
    assert 0.1 < np.quantile(plays, 0.9) < 1


def test_one_kind_of_output_alone_proves_nothing():
    assert Played.of(np.ones(BY_HAND, dtype=bool), np.ones(BY_HAND, dtype=bool), "hand").mu == 0


def test_mia_moves_one_step_of_the_training_by_the_clip_norm_at_most(monkeypatch):
    """Her gradient is longer, and cut. Without noise, since the score of the last weights is too weak to see it."""
    from dpcourse.course.audit import attack as training

    for name, value in (("NOISE", 0.0), ("RATE", 1.0), ("STEPS", 1)):
        monkeypatch.setattr(training, name, value)
    with_her, without = training.ATTACK.outputs(0, np.array([True, False]))
    assert np.linalg.norm(with_her - without) == pytest.approx(training.LR / (len(training.OTHERS) + 1))
