"""How files are written: whole or not at all, and for nobody's eyes but those that the umask allows."""

import os
import stat
import sys

import pytest

from dpcourse.base import files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are of Unix")


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_is_readable_to_nobody_whom_the_umask_excludes(tmp_path, umask, mode):
    with files.replaced(tmp_path / "file", mode) as stream:
        stream.write(b"marks")
        [temporary] = tmp_path.iterdir()
        assert stat.S_IMODE(temporary.stat().st_mode) == mode & ~umask
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode & ~umask


def test_a_block_that_fails_leaves_the_old_file_and_no_other(tmp_path):
    files.write_atomically(tmp_path / "file", "old")
    with pytest.raises(ZeroDivisionError):
        begin_to_write(tmp_path / "file")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("file", "old")]


def begin_to_write(file):
    with files.replaced(file) as stream:
        stream.write(b"new")
        raise ZeroDivisionError


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    files.write_atomically(tmp_path / ("𝔘" * 60), "text")
    files.write_atomically(tmp_path / ("x" * 255), "text")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.fixture
def in_a_tab(tmp_path, monkeypatch):
    """A browser tab, whose notebooks are in this folder."""
    monkeypatch.delenv("DPCOURSE_DATA", raising=False)
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(files, "DRIVE", tmp_path / "drive")
    files._keeps.cache_clear()
    return tmp_path / "drive"


def test_in_a_browser_tab_progress_is_beside_the_notebooks(in_a_tab, monkeypatch):
    in_a_tab.mkdir()
    assert files.data_folder() == in_a_tab / ".dpcourse"
    monkeypatch.setattr(sys, "platform", "linux")
    assert files.data_folder().name == "dpcourse"


def test_where_no_file_there_takes_anothers_place_progress_is_elsewhere(in_a_tab, monkeypatch):
    assert files.data_folder().name == "dpcourse", "there is no such folder"
    files._keeps.cache_clear()
    in_a_tab.mkdir()
    monkeypatch.setattr(os, "replace", lambda *paths: None)
    assert files.data_folder().name == "dpcourse"
