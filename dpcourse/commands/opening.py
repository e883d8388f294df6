"""How `dpcourse start` opens a lesson: in the JupyterLab that has its folder open, else in a new one; or it says why not."""

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import webbrowser
from pathlib import Path
from urllib.parse import quote, urlsplit

import typer

from dpcourse.base.languages import say


def opened(lesson: Path, only_say: bool) -> int:
    """Open a lesson, or a folder of lessons, in JupyterLab, and say by which command; return the status to end with.

    only_say: open nothing.
    """
    from dpcourse.notebook.doctor import PIP, no_folder_for_jupyter

    command = [sys.executable, "-m", "jupyterlab", str(lesson)]
    if importlib.util.find_spec("jupyterlab") is None:
        typer.echo(
            say(
                'To open them, run `{pip} install "dpcourse[jupyter]"`, then `{command}`; other editors of notebooks do too.',
                pip=PIP,
                command=subprocess.list2cmdline(command),
            )
        )
        return 0
    if address := _open_already(lesson):
        typer.echo(say("JupyterLab has this folder open already: {address}", address=address))
        if not only_say:
            webbrowser.open(address)
        return 0
    is_root = getattr(os, "geteuid", lambda: None)() == 0
    command += ["--allow-root"] if is_root else []
    told = subprocess.list2cmdline(command)
    typer.echo(say("The command that opens them, also tomorrow: {command}", command=told))
    if is_root:
        typer.echo(
            say(
                "You are root, for whom JupyterLab starts only with `--allow-root`, and it was not started: in a container run "
                "this command yourself; elsewhere work as an ordinary user."
            )
        )
    if only_say:
        return 0
    if is_root:
        return 1
    for lack in no_folder_for_jupyter():
        typer.echo(lack.said, err=True)
        return 1
    return subprocess.run(command).returncode


def _open_already(lesson):
    """Return the address of a lesson in a JupyterLab that runs with the lesson's folder as its own; None where none does."""
    from jupyter_core.paths import jupyter_runtime_dir

    folder = lesson if lesson.is_dir() else lesson.parent
    for note in sorted(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):  # each server writes one, of itself
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # of one that has ended, or is no server's
            server = json.loads(note.read_text(encoding="utf-8"))
            if Path(server["root_dir"]).resolve() == folder.resolve():
                place = urlsplit(server["url"])
                socket.create_connection((place.hostname, place.port), timeout=2).close()
                name = "" if lesson.is_dir() else f"/{quote(lesson.name)}"
                token = f"?token={server['token']}" if server["token"] else ""
                return f"{server['url']}lab/tree{name}{token}"
    return None
