"""What README.md says and no build writes: the reply of a check, the film, the lines to copy."""

import re

import pytest
from PIL import Image
from support import ROOT

from dpcourse import course
from dpcourse.authoring import navigation

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_reply_of_the_check_is_the_exercise_s_own():
    reply = re.search(r"```text\n(.+?)```", README, re.DOTALL)[1].splitlines()
    exercise = course.find("0.1")
    [mistake] = [known for known in exercise.misconceptions if known.name == "the ratio"]
    assert reply[1] == mistake.message
    said = exercise.check(mistake.code)
    assert repr(said).splitlines()[0] == reply[0]
    gave, right = map(float, re.search(r"epsilon=0\.42\) gave (\S+); right is (\S+)$", reply[2]).groups())
    assert (gave, right) == pytest.approx((mistake.code(0.42), exercise.reference(0.42)), rel=1e-5)
    assert repr(said).splitlines()[-1] == reply[-1]


def test_the_film_is_there_small_and_moves():
    file = ROOT / "docs" / "film.gif"
    assert "](docs/film.gif)" in README
    assert file.stat().st_size < 1_000_000
    assert Image.open(file).n_frames > 20


def test_each_system_has_its_line():
    unix, windows = (re.search(rf"```{name}\n(.+)\n```", README)[1] for name in ("sh", "bat"))
    as_unix = windows.replace("py -m", "python3 -m").replace("Scripts", "bin").replace("\\", "/")
    assert as_unix == unix


@pytest.mark.parametrize("known", [False, True])
def test_a_badge_or_link_that_needs_an_address_is_there_once_it_is_known(tmp_path, known):
    (tmp_path / "solutions").mkdir()
    marks = "\n".join(f"<!-- {it}: made by `dpcourse build` -->\n<!-- end of {it} -->" for it in ("badges", "lessons"))
    (tmp_path / "README.md").write_text(marks)
    address = '[project.urls]\nRepository = "https://github.com/Owner/name"\n' if known else ""
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\n{address}')
    for source in (ROOT / "solutions").glob("0[01]-*.md"):
        (tmp_path / "solutions" / source.name).write_bytes(source.read_bytes())
    made = navigation.readmes(tmp_path)[tmp_path / "README.md"]
    for needs in (
        "actions/workflows/ci.yml",
        "https://owner.github.io/name/00-start-here.html",
        "colab",
        "mybinder.org",
    ):
        assert (needs in made) is known
    assert "BSD_3--Clause" in made
    assert "[solved](solutions/01-composition.ipynb)" in made
