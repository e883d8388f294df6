"""Runs that were saved: replayed as they were, or not at all."""

import pytest

from dpcourse import dpsgd


def test_a_changed_file_is_not_replayed(tmp_path):
    checksum = dpsgd.replay(show=False).save(tmp_path / "run.json")
    text = (tmp_path / "run.json").read_text()
    (tmp_path / "run.json").write_text(text.replace('"people": 60000', '"people": 60001'))
    with pytest.raises(ValueError, match=f"run.json is not what was recorded: its SHA-256 is .*, not {checksum}"):
        dpsgd.replay(tmp_path / "run.json", checksum, show=False)
    assert dpsgd.replay(tmp_path / "run.json", None, show=False).settings["people"] == 60_001


def test_the_recording_of_the_course_passes_inspection():
    run = dpsgd.replay(show=False)
    assert run.settings["data"] == "Fashion-MNIST"
    assert run.settings["people"] == 60_000
    assert dpsgd.inspect(run).ok
    assert run.accuracy > 0.85
    assert run.epsilon <= run.ledger["budget"] == 3
