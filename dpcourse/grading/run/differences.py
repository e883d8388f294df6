"""What a notebook met here and would not have met in JupyterLab: noted where its cells run, and told to its student."""

from dpcourse.base.languages import say, to_say

MOST = 20
ALWAYS = ("magic",)  # what is told whatever the marks are
SAYS = {
    "input": to_say("{who} asked for input: nobody types here, and it got an empty line"),
    "magic": to_say("{who} begins with `%%{word}`, which is not here: the rest of the cell was run as Python"),
    "busy": to_say(
        "the processes that {who} had left running were ended when `{word}` was called, for they were busy still: wait for "
        "them in that cell"
    ),
    "forbids": to_say(
        "the processes that {who} had left running were ended when `{word}` was called, which must not use all of the "
        "library: let it make its pool itself"
    ),
    "many": to_say(
        "the processes that {who} had left running were ended, for there were too many: end them in that cell, or make a "
        "pool of fewer"
    ),
    "limit": to_say(
        "the processes that {who} had left running were ended, for a limit was reached with them: make a pool in the cell "
        "that uses it, and end it there"
    ),
}


def in_words(told: object, cells: set[int], functions: set[str], lost: bool) -> list[str]:
    """Notes on what a worker says was met: a list of (key of SAYS, number of a cell or 0, word).

    Such a list may be anything. cells, functions: those that there are; a cell or a function is meant. lost: whether a
    mark was lost.

    >>> in_words([("input", 4, ""), ("input", 9, ""), ("input", 0, "f"), 3], {4}, {"f"}, lost=True)[1]
    '`f` asked for input: nobody types here, and it got an empty line'
    """
    notes = []
    for each in told[:MOST] if isinstance(told, list) else ():
        match each:
            case (str(kind), int(cell), str(word)) if kind in SAYS and (lost or kind in ALWAYS):
                if (cell in cells or word in functions) and (not word or word.isidentifier()):
                    who = say("cell {number}", number=cell) if cell in cells else f"`{word}`"
                    notes.append(say(SAYS[kind], who=who, word=word))
    return list(dict.fromkeys(notes))
