"""What is no notebook, or one that cannot be read: no score, which is not 0."""

import os
import socket

from grading.kinds.making import Kind, cell, notebook, solved, written


def sparse(size):
    def make(file):
        with open(file, "wb") as stream:
            stream.truncate(size)

    return make


def link(target):
    return lambda file: os.symlink(target, file)


def door(file):
    """A socket; its name is bound from inside the folder, since a path may be too long for one."""
    here = os.getcwd()
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(file.parent)
        try:
            made.bind(file.name)
        finally:
            os.chdir(here)


def unread(name, content):
    return notebook(name, content, "unreadable", None)


KINDS = [
    unread("not json", b"%PDF-1.4 \xff\xfe not json"),
    unread("empty", b""),
    unread("format 3 without sheets", b'{"nbformat": 3, "cells": []}'),
    unread("format 1", b'{"nbformat": 1, "worksheets": [{"cells": []}]}'),
    Kind("format 99.ipynb", written([], nbformat=99), "unreadable", None),
    unread("a list", b"[1, 2, 3]"),
    Kind("deep.ipynb", b"[" * 200_000, "unreadable", None),
    Kind("long number.ipynb", b'{"cells": ' + b"9" * 10_000 + b"}", "unreadable", None),
    unread("source is a number", [{"cell_type": "code", "source": 7}]),
    Kind("too large.ipynb", sparse(100 * 2**20), "unreadable", None),
    Kind("link to another.ipynb", link("right.ipynb"), "unreadable", None),
    Kind("link to the system.ipynb", link("/etc/passwd"), "unreadable", None),
    Kind("link to a folder", link("/etc"), "unreadable", None),
    Kind("pipe.ipynb", os.mkfifo, "unreadable", None),
    Kind("a folder without a notebook", os.mkdir, "unreadable", None),
    unread("null", b"null"),
    unread("a number", b"12"),
    unread("only a text", b'"cells"'),
    unread("white space", b" \n\t " * 50),
    unread("zeros", bytes(1000)),
    unread("cut in the middle", written(solved())[:4000]),
    unread("saved as a page", b"<!DOCTYPE html><html><body>01 Composition</body></html>"),
    unread("an archive", b"PK\x03\x04" + bytes(500)),
    unread("a merge that failed", b"<<<<<<< HEAD\n" + written(solved()) + b"\n=======\n>>>>>>> theirs\n"),
    unread("cells are a dict", written({})),
    unread("cells are nothing", written(None)),
    unread("no cells", b'{"metadata": {}, "nbformat": 4, "nbformat_minor": 5}'),
    unread("format is a text", written(solved(), nbformat="4")),
    unread("format is true", written(solved(), nbformat=True)),
    unread("no format", written(solved()).replace(b'"nbformat": 4', b'"format": 4')),
    unread("source is a dict", [*solved(), {"cell_type": "code", "source": {"0": "x"}}]),
    unread("source holds nothing", [*solved(), {"cell_type": "code", "source": [None]}]),
    unread("deep metadata", written(solved()).replace(b'"metadata": {}, "nbformat"', b'"metadata": ' + b'{"a":' * 99_999 + b"1" + b"}" * 99_999 + b', "nbformat"')),
    unread("three thousand cells", [*solved(), *[cell("1")] * 3_000]),
    unread("a long cell", solved(last="x = " + "1+" * 300_000 + "1")),
    Kind("a socket.ipynb", door, "unreadable", None),
]  # fmt: skip
