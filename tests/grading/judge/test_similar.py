"""Copies are found, and what many write is no copy."""

from dpcourse.grading import collect
from dpcourse.grading.judge import given, similar


def shingles_of(code):
    return similar.shingles([collect.Cell(1, "x", code)], given.Release())


CODE = "def f(a, b):\n" + "".join(f"    a = a * {i} + b - {i + 7}\n" for i in range(12)) + "    return a\n"


def test_a_copy_with_other_names_is_near_identical_and_other_code_is_not():
    copy = CODE.replace("a", "x").replace("dexf", "def").replace("rexturn", "return").replace("b", "y")
    other = "def f(a, b):\n" + "".join(f"    b = {i} ** a / (b or {i})\n" for i in range(12)) + "    return b\n"
    part = copy + "    return [x * x for x in range(y)]\n"
    found = similar.near_identical({"one": shingles_of(CODE), "copy": shingles_of(part + "# mine"), "other": shingles_of(other)})  # fmt: skip
    assert [pair[:2] for pair in found] == [("copy", "one")]


def test_what_everybody_writes_makes_nobody_suspect():
    common = {f"student {i}": shingles_of(CODE + f"def own():\n    return {'-' * i}1\n") for i in range(30)}
    assert not similar.near_identical(common)


def test_a_whole_copy_is_named_however_many_wrote_the_same():
    copies = {name: shingles_of(CODE + "# a comment\n" * n) for n, name in enumerate(["ann", "bob", "cat"])}
    others = {f"student {i}": shingles_of(CODE + "x = 1, 2\n" * i) for i in range(2, 9)}
    assert ["ann", "bob", "cat"] in similar.identical(copies | others)
    assert not similar.identical({"ann": shingles_of("x = 1\n"), "bob": shingles_of("x = 1\n")})
