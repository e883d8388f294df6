"""What README.md says and no build writes: the reply of a check, the film, the lines to copy."""

import math
import re

import pytest
from PIL import Image
from support import ROOT

from dpcourse import course
from dpcourse.authoring import catalogues, minutes, navigation, source
from dpcourse.base import languages

README = (ROOT / "README.md").read_text(encoding="utf-8")
TWINS = ["", *source.languages(ROOT)]


def twin(language):
    return navigation.readme_of(ROOT, language).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", TWINS)
def test_the_reply_of_the_check_is_the_exercise_s_own(language):
    reply = re.search(r"```text\n(.+?)```", twin(language), re.DOTALL)[1].splitlines()
    exercise = course.find("start_here/keep_probability")
    [mistake] = [known for known in exercise.misconceptions if known.name == "the ratio"]
    if language and any(languages.again(text, language) == text for text in (mistake.message, exercise.title)):
        pytest.skip("the reply is behind: it is said in English")
    with languages.speaking(language or languages.ENGLISH):
        said = repr(exercise.check(mistake.code)).splitlines()
    assert said == reply


@pytest.mark.parametrize("language", TWINS)
def test_it_begins_with_a_mistake_and_what_is_said_of_it_and_the_first_link_is_a_look_at_a_lesson(language):
    title, begins = twin(language).split("\n", 1)
    assert title.startswith("# dpcourse")
    first_link = re.search(r"(?<!!)\[[^]]+\]\(([^)]+)\)", begins)
    assert begins.index("```python") < begins.index("```text") < first_link.start()
    assert re.search(r"github\.io/|solutions/.*00-start-here\.ipynb$", first_link[1])
    written = {"math": math}
    exec(re.search(r"```python\n(.+?)```", begins, re.DOTALL)[1], written)
    exercise = course.find("start_here/keep_probability")
    with languages.speaking(language or languages.ENGLISH):
        told = exercise.check(written["keep_probability"]).message.splitlines()[0]
    assert told in begins or language, "a translation may be behind"


@pytest.mark.parametrize("language", TWINS)
def test_its_numbers_are_those_of_the_course(language):
    lessons, exercises, minutes_of_all, *spoken = re.search(
        r"first look: made.+?-->\n.+?\n(\d+)\D+(\d+)\D+([\d,]+)[^·]+· (.+?)\n", twin(language), re.DOTALL
    ).groups()
    assert int(lessons) == len(course.lessons())
    assert int(exercises) == len(course.every_exercise())
    assert int(minutes_of_all.replace(",", "")) == sum(minutes.of(file).total for file in source.sources(ROOT))
    assert re.split("[,、] ?", spoken[0]) == ["English", *map(catalogues.called, source.languages(ROOT))]


def test_what_a_twin_lacks_is_named_and_no_fault(tmp_path):
    (tmp_path / "solutions" / "xx").mkdir(parents=True)
    (tmp_path / "solutions" / "xx" / "00-start-here.md").write_text("")
    command = "```sh\npip install . && jupyter lab lessons/00.ipynb\n```\n[a](https://a.org)\n"
    (tmp_path / "README.md").write_text(command + "## The tests\n[b](https://b.org)\n")
    twin = navigation.readme_of(tmp_path, "xx")
    twin.write_text(command.replace("lessons/", "lessons/xx/"))
    assert list(navigation.readmes_behind(tmp_path)) == []
    twin.write_text(command)
    (said,) = navigation.readmes_behind(tmp_path)
    assert said.startswith("README.xx.md: has not all that README.md has, such as 'pip install")
    twin.write_text(command.replace("lessons/", "lessons/xx/").replace("a.org", "c.org"))
    (said,) = navigation.readmes_behind(tmp_path)
    assert said.endswith("'https://a.org'")


def test_links_within_a_twin_lead_somewhere():
    for language in TWINS:
        for target in re.findall(r"\]\((?!http)([^)#]+)", twin(language)):
            assert (ROOT / target).exists(), target


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
    made = ("first look", "badges", "lessons")
    marks = "\n".join(f"<!-- {it}: made by `dpcourse build` -->\n<!-- end of {it} -->" for it in made)
    (tmp_path / "README.md").write_text(marks)
    address = '[project.urls]\nRepository = "https://github.com/Owner/name"\n' if known else ""
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\n{address}')
    for file in (ROOT / "solutions").glob("0[01]-*.md"):
        (tmp_path / "solutions" / file.name).write_bytes(file.read_bytes())
    made = navigation.readmes(tmp_path)[tmp_path / "README.md"]
    for needs in (
        "actions/workflows/ci.yml",
        "actions/workflows/weekly.yml",
        "https://owner.github.io/name/00-start-here.html",
        "[Read the lessons and move their pictures](https://owner.github.io/name/)",
        "colab",
        "mybinder.org",
    ):
        assert (needs in made) is known
    assert "BSD_3--Clause" in made
    assert "[solved](solutions/01-composition.ipynb)" in made
