"""What a sandbox holds is named: wherever else a course lies on this machine, no student's code finds it."""

import subprocess

import pytest
from sandboxed import NEEDS_SANDBOX

from dpcourse.grading.run import Limits, bubblewrap, mounts, warm

pytestmark = NEEDS_SANDBOX


def planted(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def installed(folder, name, *files, record=True):
    """A distribution, as pip leaves it, or as Debian does."""
    about = f"{name}-1.0.dist-info" if record else f"{name}-1.0.egg-info"
    planted(folder, *files, f"{about}/METADATA", f"{about}/PKG-INFO")
    for file in ("METADATA", "PKG-INFO"):
        (folder / about / file).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if record:
        rows = [f"../../../bin/{name},,", *(f"{file},,0" for file in files), f"{about}/METADATA,,", f"{about}/PKG-INFO,,"]  # fmt: skip
        (folder / about / "RECORD").write_text("\n".join(rows))
    else:
        (folder / about / "top_level.txt").write_text("\n".join({file.split("/")[0].split(".")[0] for file in files}))


A_COURSE = ("dpcourse/course/gdp/curve_of.py", "dpcourse/solutions/03-gdp.ipynb")
COPIES = ("dpcourse_of_last_year/__init__.py", "dpcourse-0.1-py3.11.egg", "notes.txt", "dpcourse.tar/dpcourse.py")
CLONE = (*A_COURSE, "solutions/03-gdp.md", "tests/answers/03-gdp.toml")


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """What a sandbox holds of a machine: a function of the prefixes and of what is on the path."""

    def look(prefixes=(), path=()):
        monkeypatch.setattr(mounts, "PREFIXES", (*mounts.PREFIXES, *map(str, prefixes)))
        monkeypatch.setattr(warm, "path", lambda: list(map(str, path)))
        mounts.arguments.cache_clear()
        find = ["find", str(tmp_path), "-type", "f", "-size", "-1000k"]
        done = bubblewrap._started(Limits(), find, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        return {file.removeprefix(f"{tmp_path}/") for file in done.communicate()[0].decode().splitlines()}

    yield look
    mounts.arguments.cache_clear()


@pytest.mark.parametrize("record", [True, False], ids=["pip's", "Debian's"])
@pytest.mark.parametrize("many", [0, 9], ids=["few strangers", "many strangers"])
def test_of_a_folder_of_packages_a_sandbox_holds_what_a_distribution_names(tmp_path, seen, record, many):
    folder = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    installed(folder, "good", "good/__init__.py", "good/deep/more.py", "goodness.py", record=record)
    installed(folder, "better", "better.py", record=record)
    installed(folder, "dpcourse", *A_COURSE, record=record)
    planted(folder, *COPIES, *(f"stranger{i}.txt" for i in range(many)), "elsewhere.pth")
    expected = {"good/__init__.py", "good/deep/more.py", "goodness.py", "better.py", "elsewhere.pth"}
    for prefixes in ((), (tmp_path / "venv",)):
        files = {file.split("site-packages/")[1] for file in seen(prefixes, [folder])}
        assert {file for file in files if ".dist-info" not in file and ".egg-info" not in file} == expected
        assert {file.split("-")[0] for file in files} - expected == {"good", "better"}


@pytest.mark.parametrize(
    "folder",
    [
        "lib/python3/dist-packages",
        "lib/python3.12/site-packages",
        "lib64/python3.11/site-packages",
        "lib/other/lib/python3.11/site-packages",
    ],
)
def test_folders_of_packages_that_are_not_on_the_path_are_empty(tmp_path, seen, folder):
    installed(tmp_path / "usr" / folder, "dpcourse", *A_COURSE)
    planted(tmp_path / "usr", "lib/libgood.so", "bin/good")
    assert seen([tmp_path / "usr"]) == {"usr/lib/libgood.so", "usr/bin/good"}


def test_what_lies_beside_the_parts_of_a_prefix_is_not_there(tmp_path, seen):
    planted(tmp_path / "usr", "bin/good", *(f"{place}/{file}" for place in ("src/course", "local", "share/course") for file in CLONE))  # fmt: skip
    assert seen([tmp_path / "usr"]) == {"usr/bin/good"}


def test_of_a_folder_on_the_path_without_a_distribution_modules_are_there(tmp_path, seen):
    planted(tmp_path / "src", *CLONE, "helper.py", "package/__init__.py", "package/data.txt", "notes/notes.txt")
    assert seen(path=[tmp_path / "src"]) == {"src/helper.py", "src/package/__init__.py", "src/package/data.txt"}


def test_of_another_clone_on_the_path_nothing_is_there(tmp_path, seen):
    planted(tmp_path / "clone", *CLONE, "conftest.py")
    installed(tmp_path / "clone", "dpcourse", record=False)
    assert seen(path=[tmp_path / "clone"]) == set()


def test_what_is_empty_stays_so(tmp_path, seen):
    folder = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    installed(folder, "dpcourse", *A_COURSE)
    assert seen([tmp_path / "venv"], [folder]) == set()
    arguments = mounts.arguments()
    made = [arguments[i + 1] for i, each in enumerate(arguments) if each == "--tmpfs"]
    assert made
    assert [each for each in made if f"--remount-ro {each}" not in " ".join(arguments)] == []


def test_a_distribution_that_cannot_be_read_names_nothing(tmp_path, seen):
    installed(tmp_path, "good", "good.py")
    planted(tmp_path, "broken-1.0.dist-info/RECORD", "broken.py")
    (tmp_path / "broken-1.0.dist-info" / "RECORD").write_text("broken.py,,")
    assert "good.py" in seen(path=[tmp_path])
    assert "broken.py" not in seen(path=[tmp_path])


def test_the_path_is_the_workers(monkeypatch):
    warm.path.cache_clear()
    path = warm.path()
    assert path[0] == str(mounts.library.PACKAGE.parent)
    assert any(folder.endswith("site-packages") for folder in path)
    assert "" not in path
