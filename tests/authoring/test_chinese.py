"""The Chinese edition: its type follows one rule, and the field's terms are those of the glossary."""

import collections
import re

import pytest
from support import ROOT

from dpcourse import languages
from dpcourse.authoring import catalogues, glossary, translation
from dpcourse.authoring.faithful import CODE
from dpcourse.authoring.source import sources

HAN = "\u3400-\u9fff"
NO_PROSE = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`|\{[^{}]*\}|\]\([^)]*\)|<[^>]*>|https?://\S+", re.DOTALL)
EVERYDAY = {"groups", "limit", "miss", "norm", "prior", "replace"}
"""Words of English that are terms too: whether one is meant, only a reader sees."""
OFTEN = 0.75


def said():
    """(where, English, Chinese) of all that is translated and is no code."""
    for file in sorted((languages.CATALOGUES / "zh").glob("*.po")):
        for message in catalogues.read(file, "zh"):
            if message.id and message.string:
                english, *_ = [message.id] if isinstance(message.id, str) else message.id[::-1]
                yield file.name, english, message.string if isinstance(message.string, str) else message.string[0]
    for file in sources(ROOT, "zh"):
        for english, translated in translation.read(file).pairs:
            if translated and english.kind != CODE:
                yield file.name, english.text, translated.text


SAID = list(said())


@pytest.mark.parametrize(
    ("rule", "pattern"),
    [
        ("no space between Chinese and Latin letters, digits, code or fields", rf"[{HAN}] +[\w`$]|[\w`$] +[{HAN}]"),
        ("full-width punctuation after Chinese", rf"[{HAN}][,;:?!]"),
        ("no space before %", r"\d %"),
        ("the reader is 你", "您"),
        ("one kind of quotation marks", "[「」『』]"),
    ],
)
def test_the_type_follows_one_rule(rule, pattern):
    wrong = []
    for where, _, text in SAID:
        plain = "\n".join(line for line in NO_PROSE.sub("0", text).splitlines() if not line.startswith("|"))
        for found in re.finditer(pattern, plain, re.ASCII):
            wrong.append(f"{where}: {plain[max(0, found.start() - 12) : found.end() + 12]!r}")
    assert not wrong, f"{rule}:\n" + "\n".join(wrong)


def test_the_terms_are_those_of_the_glossary():
    """Where a term's English occurs, its Chinese does; in brackets stands what may be left out. A pronoun may stand for it."""
    terms = {}
    for row in glossary.rows("term"):
        chinese = re.sub(r"（[^）]*）", "", row["chinese"]).split("、")
        terms |= {english.strip().lower(): chinese for english in row["term"].split(",")}
    seen, missed = collections.Counter(), collections.defaultdict(list)
    for where, english, chinese in SAID:
        plain = NO_PROSE.sub(" ", english).lower()
        if "where this comes from" in plain:  # titles of papers stay English
            continue
        for term in terms.keys() - EVERYDAY:
            if re.search(rf"\b{re.escape(term)}s?\b(?! [*/=])", plain):
                seen[term] += 1
                if not any(each in chinese for each in terms[term]):
                    missed[term].append(f"{where}: {english[:70]!r} is {chinese[:50]!r}")
    often = [term for term in missed if seen[term] > 3 and len(missed[term]) > (1 - OFTEN) * seen[term]]
    assert sum(seen.values()) > 1000
    assert not often, "\n".join(f"{term} is {terms[term]}: {line}" for term in often for line in missed[term])
