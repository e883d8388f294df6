"""A page's solved notebook with its outputs: executed, or with those that are stored."""

import copy
import json
import os
import re
import tempfile
from unittest import mock

import nbformat

from dpcourse import course
from dpcourse.authoring.on_page import say_for
from dpcourse.authoring.page import Page
from dpcourse.authoring.source import SourceError
from dpcourse.base import cells
from dpcourse.base.languages import CHOICE, ENGLISH
from dpcourse.checking import RIGHT, Verdict
from dpcourse.notebook import aria, attacker

UNSTORED, OF_ALL_LESSONS = "remove-output", {"goals", "progress"}
SECONDS = 120
"""No cell may take longer."""
SHOWN_LIVE_ONLY = "application/vnd.jupyter.widget-view+json"
NOTE = re.compile(f"<div class='{aria.WITHOUT_WIDGETS}'.*?</div>", re.DOTALL)


def executed(page: Page) -> nbformat.NotebookNode:
    """The solved notebook with its outputs. Raises SourceError where a cell fails, warns, or a check does not pass.

    The output of a cell with the tag `remove-output` is left out, because it differs from run to run, and so is that of
    `progress()` and `goals()`, which are of all lessons: no notebook changes because another lesson does.
    """
    from nbclient import NotebookClient

    notebook = copy.deepcopy(page.solved)
    code = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(page.file.parent)}},
    )
    lesson = course.lesson(int(page.file.stem[:2])) if page.file.stem != course.GLOSSARY else None
    in_use = {course.IN_USE: str(lesson.pack.folder)} if lesson and lesson.pack else {}
    with (
        tempfile.TemporaryDirectory() as data,
        mock.patch.dict(
            os.environ,
            in_use | {CHOICE: ENGLISH, attacker.SEED: "0"},
            DPCOURSE_DATA=data,
            PYTHONHASHSEED="0",
            OMP_NUM_THREADS="1",
        ),
        client.setup_kernel(),
    ):
        for (i, cell), lines in zip(code, page.lines, strict=True):
            _execute(client, i, cell, page.file, lines)
    for _, cell in code:
        cell.metadata.pop("execution", None)
        if UNSTORED in cell.metadata.get("tags", []) or OF_ALL_LESSONS.intersection(cells.called(cell.source)):
            cell.outputs, cell.execution_count = [], None
    notebook.metadata = page.solved.metadata
    return notebook


def _execute(client, i, cell, file, lines):
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    try:
        client.execute_cell(cell, i)
    except CellExecutionError as error:
        within = re.findall(r"Cell In\[\d+\], line (\d+)", re.sub(r"\x1b\[[0-9;]*m", "", str(error)))
        line = lines[int(within[-1]) - 1] if within else lines[0]
        raise SourceError(file, line, f"the cell fails with {error.ename}: {error.evalue}") from None
    except CellTimeoutError:
        raise SourceError(file, lines[0], f"the cell takes longer than {SECONDS} seconds") from None
    for output in cell.outputs:
        if output.get("name") == "stderr":
            raise SourceError(file, lines[0], f"the cell writes to stderr: {output.text.splitlines()[0]}")
        _keep_what_previews_show(output.get("data", {}))
    if cells.checked(cell.source):
        told = cell.outputs[0]["data"]["text/plain"] if cell.outputs else "nothing"
        if not told.startswith(
            say_for(file, Verdict(course.find(*cells.checked(cell.source)).heading, RIGHT, "").headline)
        ):
            raise SourceError(file, lines[0], f"the solution does not pass its check: {told}")


def _keep_what_previews_show(data):
    """Without what needs a kernel, and what is said where JupyterLab cannot show that; of a picture the image alone, since
    previews of notebooks leave out an image in HTML."""
    data.pop(SHOWN_LIVE_ONLY, None)
    if "text/html" in data:
        data["text/html"] = NOTE.sub("", data["text/html"])
    if "image/png" in data:
        data.pop("text/html", None)


def stored(page: Page) -> nbformat.NotebookNode | None:
    """The solved notebook with the outputs of the one that is there; None where that has not the same code cells."""
    if not page.code:
        return page.solved
    try:
        there = json.loads(page.paths[0].read_text(encoding="utf-8"))["cells"]
        before = [cell for cell in there if cell["cell_type"] == "code"]
        if [cell["source"] for cell in before] != [cell.source for cell in page.code]:
            return None
        return _with_outputs(page, before)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _with_outputs(page, cells):
    """The solved notebook with the outputs of these code cells."""
    notebook = copy.deepcopy(page.solved)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, old in zip(code, cells, strict=True):
        cell.outputs, cell.execution_count = nbformat.from_dict(old["outputs"]), old["execution_count"]
    return notebook
