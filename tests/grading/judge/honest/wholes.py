"""Notebooks as other front ends and other hands write them: metadata, ids, ends of line, outputs."""

from grading.kinds.making import cell

OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["from another day\n"]}


def whole(minor=5, about=None, **of_cells):
    """A notebook with `about` as its metadata, and these fields in each cell."""

    def edit(cells, lesson):
        cells = [each | of_cells for each in cells]
        if minor < 5:
            cells = [{key: value for key, value in each.items() if key != "id"} for each in cells]
        return {"cells": cells, "metadata": about or {}, "nbformat_minor": minor}

    return edit


def in_text(edit):
    return lambda cells, lesson: [each | {"source": edit("".join(each["source"]))} for each in cells]


EDITS = {
    "from Colab": whole(0, {"colab": {"provenance": []}, "accelerator": "GPU"}, metadata={"id": "Xy12", "outputId": "0"}),
    "from VS Code": whole(2, {"language_info": {"name": "python", "version": "3.12.1"}}, metadata={"vscode": {"languageId": "python"}}),
    "from Kaggle": whole(4, {"kaggle": {"accelerator": "none", "dataSources": []}}, metadata={"_uuid": "8f2839f2", "trusted": True}),
    "from Deepnote": whole(5, {"deepnote": {}}, metadata={"cell_id": "0", "deepnote_cell_type": "code", "source_hash": "1"}),
    "outputs kept": whole(5, outputs=[OUTPUT], execution_count=3),
    "CRLF": in_text(lambda text: text.replace("\n", "\r\n")),
    "tabs": in_text(lambda text: text.replace("    ", "\t")),
    "Markdown added": lambda cells, lesson: [
        part for each in cells for part in ({"cell_type": "markdown", "id": f"m{id(each)}"[:20], "metadata": {}, "source": "# 笔记 $\\epsilon$"}, each)
    ],
}  # fmt: skip
EDITS["a cell of every kind"] = lambda cells, lesson: [
    *cells,
    {"cell_type": "raw", "id": "raw", "metadata": {}, "source": "def f(: no code"},
    cell("_ = 1; __ = 2; Out, In, exit"),
]
