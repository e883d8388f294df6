"""Control groups, on folders that stand for the kernel's: what is written where, and what happens where it is refused."""

import os
import subprocess
from pathlib import Path

import pytest

from dpcourse.grading.run import Limits, cgroups

ME = os.getpid()
LIMITS = Limits(memory=2**28, processes=10)


class Kernel:
    """Does to a folder what the kernel does to its own: a new group has its files, and moves take effect."""

    def __init__(self, monkeypatch, controllers="cpu io memory pids"):
        self.controllers = controllers
        made = Path.mkdir

        def mkdir(folder, *arguments, **options):
            made(folder, *arguments, **options)
            self.fill(folder)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        monkeypatch.setattr(Path, "rmdir", self.rmdir)

    def fill(self, folder, processes=()):
        (folder / "cgroup.controllers").write_text(self.controllers)
        (folder / "cgroup.procs").write_text("".join(f"{each}\n" for each in processes))

    @staticmethod
    def rmdir(folder):
        for file in folder.iterdir():
            if file.is_dir():
                raise OSError("busy")
            file.unlink()
        os.rmdir(folder)


@pytest.fixture
def kernel(monkeypatch):
    return Kernel(monkeypatch)


def written(folder):
    return {file.name: file.read_text() for file in folder.iterdir() if file.is_file()}


def test_a_group_of_its_own_is_divided_and_each_submission_gets_its_limits(tmp_path, kernel):
    kernel.fill(tmp_path, [ME])
    whole = cgroups.Divided(tmp_path, ME)
    assert (tmp_path / "warm" / "cgroup.procs").read_text() == str(ME)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    one, other = whole.group(LIMITS), whole.group(LIMITS)
    assert one.folder != other.folder
    told = written(one.folder)
    assert told["memory.max"] == str(2**28)
    assert (told["memory.swap.max"], told["memory.oom.group"], told["cpu.weight"]) == ("0", "1", "100")
    assert int(told["pids.max"]) == LIMITS.processes + cgroups.OURS
    one.close()
    assert not one.folder.exists()
    assert other.folder.exists()


def test_where_others_are_in_the_group_one_is_made_below_it_and_undone(tmp_path, kernel):
    kernel.fill(tmp_path, [1, ME])
    whole = cgroups.Divided(tmp_path, ME)
    assert whole.folder == tmp_path / f"dpcourse-{ME}"
    assert not (tmp_path / "cgroup.subtree_control").exists()  # the others' group stays as it is
    whole.close()
    assert not whole.folder.exists()


def test_a_machine_that_bounds_no_memory_gives_no_groups(tmp_path, monkeypatch):
    kernel = Kernel(monkeypatch, "cpu pids")
    kernel.fill(tmp_path, [1, ME])
    with pytest.raises(OSError, match="neither"):
        cgroups.Divided(tmp_path, ME)
    assert not (tmp_path / f"dpcourse-{ME}").exists()
    assert (tmp_path / "cgroup.procs").read_text() == str(ME)  # it is back


def test_without_cgroup_v2_there_are_none(tmp_path):
    assert cgroups.group_of(ME, tmp_path) is None
    assert cgroups.divided(ME, tmp_path) is None


def test_a_refusal_is_no_error(tmp_path, monkeypatch):
    Kernel(monkeypatch).fill(tmp_path, [ME])
    monkeypatch.setattr(cgroups, "group_of", lambda process, tree: tmp_path / "nowhere")
    assert cgroups.divided(ME, tmp_path) is None


@pytest.mark.parametrize(("events", "out"), [("low 0\nmax 9\noom_kill 0\n", False), ("oom 1\noom_kill 2\n", True), ("", False)])  # fmt: skip
def test_what_the_kernel_ended_for_its_memory_is_told(tmp_path, kernel, events, out):
    kernel.fill(tmp_path, [ME])
    group = cgroups.Divided(tmp_path, ME).group(LIMITS)
    assert not group.out_of_memory()
    (group.folder / "memory.events").write_text(events)
    assert group.out_of_memory() is out


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    """A systemd-run that runs what stands behind `--`, and fails while there is a file `refuses`."""
    script = f'#!/bin/sh\n[ -e {tmp_path}/refuses ] && exit 1\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
    (tmp_path / "systemd-run").write_text(script)
    (tmp_path / "systemd-run").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(cgroups, "SYSTEMD", tmp_path)
    cgroups.launcher.cache_clear()
    yield tmp_path
    cgroups.launcher.cache_clear()


def test_systemd_is_asked_where_it_is(systemd):
    command = cgroups.launcher()
    assert command[0] == "systemd-run"
    assert ("--user" in command) is (os.getuid() != 0)
    assert subprocess.run([*command, "echo", "here"], capture_output=True, text=True).stdout == "here\n"


def test_systemd_that_refuses_is_left_alone(systemd):
    (systemd / "refuses").touch()
    assert cgroups.launcher() == ()


def test_a_warm_process_below_systemd_knows_nothing_of_it(systemd, monkeypatch):
    from dpcourse.grading.run import warm

    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/not-for-students")
    command = warm._command("/tmp")
    done = subprocess.run([*command[: command.index("-P") - 1], "env"], capture_output=True, text=True, env=cgroups.environment() | {"PATH": os.environ["PATH"]})  # fmt: skip
    names = {line.split("=")[0] for line in done.stdout.splitlines()}
    assert names == set(warm._environment())


# ---- a kernel that is there


UNIFIED = Path("/sys/fs/cgroup/unified")  # where systemd puts it beside groups of the first version


@pytest.mark.skipif(not os.access(UNIFIED / "cgroup.procs", os.W_OK), reason="no tree of cgroup v2 may be written here")
def test_a_real_kernel_moves_divides_ends_and_removes(monkeypatch):
    """Where it bounds no memory, as in this tree: the files that it lacks are left out."""
    monkeypatch.setattr(cgroups, "NEEDED", set())
    monkeypatch.setattr(cgroups.Group, "_set", lambda group, name, value: (file := group.folder / name).exists() and file.write_text(str(value)))  # fmt: skip
    sleeps = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
    warm, student = sleeps
    before = cgroups.group_of(warm.pid, UNIFIED)
    try:
        whole = cgroups.Divided(before, warm.pid)
        assert cgroups.group_of(warm.pid, UNIFIED) == whole.folder / "warm"
        group = whole.group(LIMITS)
        (group.folder / "cgroup.procs").write_text(str(student.pid))
        group.close()
        assert student.wait(10) == -9
        assert not group.folder.exists()
        whole.close()
        assert cgroups.group_of(warm.pid, UNIFIED) == before
        assert not whole.folder.exists()
    finally:
        for each in sleeps:
            each.kill()
            each.wait()
