"""check, hint, solution and passed, as a learner calls them (outside a notebook they print the plain-text twin)."""

import math
import subprocess
import sys

import pytest

import dpcourse
from dpcourse import check, course, hint, passed, quiz, solution
from dpcourse.notebook import check as notebook
from dpcourse.notebook.progress import kept


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("DPCOURSE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(notebook, "_last_state", {})
    monkeypatch.setattr(notebook, "_last_hint", {})


def keep_probability(epsilon):
    return 1 / (1 + math.exp(-epsilon))


def test_check_shows_the_verdict_and_records_what_is_passed(capsys):
    check("0.1", keep_probability)
    assert "0.1 How often to keep the truth: passed (1 point)" in capsys.readouterr().out
    assert passed("0.1")
    assert kept().done == {"start_here/keep_probability"}


def test_a_wrong_answer_is_not_recorded(capsys):
    check("0.1", lambda epsilon: 1 - keep_probability(epsilon))
    assert "That is the chance to flip the bit." in capsys.readouterr().out
    assert not passed("0.1")
    assert kept().done == set()


@pytest.mark.in_turn("seconds of kernels or draws")
def test_an_answer_that_an_audit_accuses_gets_the_picture(capsys):
    check("3.6", lambda counts, mu, rng: counts + rng.normal(0, math.sqrt(len(counts)) / mu / 2, len(counts)))
    said = capsys.readouterr().out
    assert "An audit, 300 releases" in said
    assert "One test is marked: with confidence 0.999" in said
    check("3.6", lambda counts, mu, rng: counts + rng.normal(0, math.sqrt(len(counts)) / mu, len(counts)))
    assert "One test is marked" not in capsys.readouterr().out


def test_passed_follows_the_last_check(capsys):
    check("0.1", keep_probability)
    check("0.1", lambda epsilon: 0.5)
    assert not passed("0.1")
    assert kept().done == {"start_here/keep_probability"}, "what was passed once stays passed"


def test_hints_go_one_step_further_each(capsys):
    composed = course.number_of("composition/composed_delta")
    for number in (1, 2, 3, 3):
        hint(composed)
        assert f"Hint {number} of 3" in (said := capsys.readouterr().out)
        assert course.find("composition/composed_delta").hints[number - 1] in said
        assert (f'solution("{composed}")' in said) == (number == 3)
    hint(composed, 1)
    assert "Hint 1 of 3" in capsys.readouterr().out
    hint(composed)
    assert "Hint 2 of 3" in capsys.readouterr().out
    hint(composed, 4)
    assert "has 3 hints" in capsys.readouterr().out


def test_what_is_passed_is_given_no_further_hint_unasked(capsys):
    check("0.1", keep_probability)
    capsys.readouterr()
    hint("0.1")
    assert "0.1 is passed" in (said := capsys.readouterr().out)
    assert course.find("0.1").hints[0] not in said
    hint("0.1", 1)
    assert course.find("0.1").hints[0] in capsys.readouterr().out


def test_what_was_passed_before_a_restart_is_passed_where_its_function_is_there(monkeypatch):
    defined = set()
    monkeypatch.setattr("dpcourse.notebook.runs.defined", lambda: defined)
    check("0.1", keep_probability)
    assert passed("0.1")
    notebook._last_state.clear()
    assert not passed("0.1")
    defined.add("keep_probability")
    assert passed("0.1")
    assert not passed("0.2")
    check("0.1", lambda epsilon: 0.5)
    assert not passed("0.1"), "the last verdict of this kernel counts"


def test_the_solution_is_shown_to_those_who_are_sure(capsys):
    advanced = course.number_of("composition/advanced_composition")
    for _ in range(2):
        solution(advanced)
        asked = capsys.readouterr().out
        assert "are you sure?" in asked
        assert "spread" not in asked
    solution(advanced, sure=True)
    shown = capsys.readouterr().out
    assert "spread = math.sqrt(2 * k * math.log(1 / delta_prime)) * epsilon" in shown
    assert "###" not in shown


def test_without_the_folder_the_instructor_has_the_solution(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook, "__file__", str(tmp_path / "dpcourse" / "notebook.py"))
    solution("1.5", sure=True)
    assert "Your instructor has them." in capsys.readouterr().out


@pytest.mark.parametrize("call", [lambda: check("49.1", print), lambda: hint("49.1"), lambda: solution("49.1")])
def test_an_id_that_does_not_exist_is_said_on_the_page(call, capsys):
    call()
    assert "there is no exercise '49.1'; there are 0.1–0.3, 1.1–" in capsys.readouterr().out


def test_an_id_without_quotes(capsys):
    check(0.1, keep_probability)
    assert 'an exercise is named in quotes, such as "0.1", not 0.1' in capsys.readouterr().out


def test_a_forgotten_answer(capsys):
    check("0.1")
    assert "needs the function itself, not nothing" in capsys.readouterr().out


def test_an_interrupted_check_shows_no_traceback(capsys):
    def interrupted(epsilon):
        raise KeyboardInterrupt

    check("0.1", interrupted)
    assert "You interrupted the check." in capsys.readouterr().out


def test_a_quiz_that_does_not_exist():
    with pytest.raises(ValueError, match="lesson must be one of"):
        quiz(49)


HEAVY = {
    "torch",
    "matplotlib",
    "IPython",
    "ipywidgets",
    "pandas",
    "statsmodels",
    "scipy.stats",
    "jupytext",
    "nbformat",
    "typer",
}


def test_import_is_light():
    """By what it imports; `tests/benchmarks/bench_import.py` measures the time."""
    code = "import dpcourse, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(run.stdout.split())


def test_public_names():
    assert set(dpcourse.__all__) >= {"check", "hint", "solution", "quiz", "progress"}
    assert all(callable(getattr(dpcourse, name)) for name in dpcourse.__all__)
