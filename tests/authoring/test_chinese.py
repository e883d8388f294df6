"""The Chinese edition: its type follows one rule, its terms are those of the glossary, and it says the same as the English."""

import ast
import functools
import re
from collections import Counter, defaultdict
from itertools import pairwise
from operator import itemgetter

import pytest
from support import ROOT

from dpcourse import course
from dpcourse.authoring import catalogues, fill, glossary, translation
from dpcourse.authoring.source import sources
from dpcourse.authoring.texts import texts
from dpcourse.base import languages

HAN = "\u3400-\u9fff"
NO_PROSE = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`|\{[^{}]*\}|\]\([^)]*\)|<[^>]*>|https?://\S+", re.DOTALL)
EVERYDAY = {"groups", "limit", "miss", "norm", "prior", "replace"}
"""Words of English that are terms too: whether one is meant, only a reader sees."""
OFTEN = 0.75


def each_said():
    """(where, English, Chinese) of all that is translated, of the English as it is now, and is no code."""
    for file in sorted((languages.CATALOGUES / "zh").glob("*.po")):
        for message in catalogues.read(file, "zh"):
            if message.id and message.string and not message.fuzzy:
                english, *_ = [message.id] if isinstance(message.id, str) else message.id[::-1]
                yield file.name, english, message.string if isinstance(message.string, str) else message.string[0]
    for file in sources(ROOT, "zh"):
        for english, translated in translation.read(file).pairs:
            if translated and english.cell_type != "code":
                yield file.name, english.source, translated.source


@functools.cache
def said():
    return list(each_said())


@pytest.mark.every_case
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
    for where, _, text in said():
        plain = "\n".join(line for line in NO_PROSE.sub("0", text).splitlines() if not line.startswith("|"))
        for found in re.finditer(pattern, plain, re.ASCII):
            wrong.append(f"{where}: {plain[max(0, found.start() - 12) : found.end() + 12]!r}")
    assert not wrong, f"{rule}:\n" + "\n".join(wrong)


def test_no_space_stands_between_the_sentences_of_a_header():
    """They are written by the build, and no translation has them both."""
    file = sources(ROOT, "zh")[0]
    for exercise in course.every_exercise():
        for line in fill._of_inputs(file, exercise):
            assert "。 " not in line


def test_the_terms_are_those_of_the_glossary():
    """Where a term's English occurs, its Chinese does; in brackets stands what may be left out. A pronoun may stand for it."""
    terms = {}
    for row in glossary.rows("term"):
        chinese = re.sub(r"（[^）]*）", "", row["chinese"]).split("、")
        terms |= {english.strip().lower(): chinese for english in row["term"].split(",")}
    seen, missed = Counter(), defaultdict(list)
    for where, english, chinese in said():
        plain = NO_PROSE.sub(" ", english).lower()
        if "where this comes from" in plain:  # titles of papers stay English
            continue
        for term in terms.keys() - EVERYDAY:
            if term in plain and re.search(rf"\b{re.escape(term)}s?\b(?! [*/=])", plain):
                seen[term] += 1
                if not any(each in chinese for each in terms[term]):
                    missed[term].append(f"{where}: {english[:70]!r} is {chinese[:50]!r}")
    often = [term for term in missed if seen[term] > 3 and len(missed[term]) > (1 - OFTEN) * seen[term]]
    assert sum(seen.values()) > 1000
    assert not often, "\n".join(f"{term} is {terms[term]}: {line}" for term in often for line in missed[term])


ENDS = re.compile(r"(?<=[.!?:;])[\"”*)\]]*(?:\s+|$)|(?<=[。！？：；])[”）*]*")
"""Where a sentence ends, or a part of one: both languages do that at the same places nearly always."""


def each_line():
    """(where, English, Chinese) of each line of what is said, and of each text and comment in code."""
    for where, *pair in said():
        both = [[line for line in text.splitlines() if line.strip()] for text in pair]
        yield from ((where, *line) for line in (zip(*both, strict=True) if len(both[0]) == len(both[1]) else [pair]))
    for file in sources(ROOT, "zh"):
        for pair in translation.read(file).pairs:
            both = [in_code(cell.source) for cell in pair if cell and cell.cell_type == "code"]
            if len(both) == 2 and len(both[0]) == len(both[1]):
                yield from ((file.name, *line) for line in zip(*both, strict=True))


def in_code(code):
    values = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    return re.findall(r"(?<=# ).*", code) + [value for value in values if isinstance(value, str)]


def cut(text, ends=ENDS):
    """A text's sentences; none ends within a formula, code or a link."""
    plain = NO_PROSE.sub(lambda found: "0" * len(found[0]), text)
    places = [0, *(found.end() for found in ends.finditer(plain)), len(text)]
    return [text[begin:end] for begin, end in pairwise(places) if re.search(r"\w", text[begin:end])]


@functools.cache
def lines():
    """Those that are Chinese, read when the first test asks: whoever only collects tests need not wait."""
    return [line for line in each_line() if re.search(f"[{HAN}]", line[2])]


def each_sentence():
    """(where, English, Chinese) of each sentence; of the whole line where one language has more of them."""
    for where, *line in lines():
        both = [cut(text) for text in line]
        yield from ((where, *each) for each in (zip(*both, strict=True) if len(both[0]) == len(both[1]) else [line]))


@functools.cache
def sentences():
    return list(each_sentence())


IN_ORDER = [
    ("above|(?:larger|greater|higher|more) than", "(?<!不)(?:大于|高于|多于)|以上|之上|上[方面]",
     "below|(?:smaller|less|lower|fewer) than", "(?<!不)[小低少]于|以下|之下|下[方面]"),
    ("larger|bigger|higher|more|greater", "[更较][大高多]", "smaller|lower|less|fewer", "[更较][小低少]"),
    ("largest|biggest|highest", "最[大高多]", "smallest|lowest|fewest", "最[小低少]"),
    ("upper|from above", "上[界限端]|从上", "lower|from below", "下[界限端]|从下"),
    ("before|earlier", "之前|以前|[较更]早", "after|later", "之后|以后|[较更]晚"),
    ("false alarms?", "误报", "miss|misses|missed", "漏"),
    ("with (?:her|Mia)", "(?<!没)有[她米]|(?<!不)含米", "without (?:her|Mia)", "没有[她米]|不含米"),
    ("left", "左", "right", "右"),
    ("wider?", "宽", "narrow|narrower", "窄"),
    ("solid", "实线", "dashed|dotted", "虚线|点线"),
]  # fmt: skip
OPPOSITES = [
    *IN_ORDER,
    (r"\w+ [+] \w+", r"\w [+] \w", r"\w+ - \w+", r"\w - \w"),
    (r"\w+ [<≤] \w+", r"\w [<≤] \w", r"\w+ [>≥] \w+", r"\w [>≥] \w"),
    ("at least|no (?:fewer|less) than|or more", "至少|不少于|不小于|不低于|或更[多大高]|或以上",
     "at most|no more than|or (?:fewer|less)", "至多|不超过|不大于|不多于|不高于|或更[少小低]"),
    ("too (?:large|high|much|many)", "[太偏过][大高多]", "too (?:small|low|little|few)", "[太偏过][小低少]"),
    ("type I", "第一类", "type II", "第二类"),
    ("first|former", "第一|前者", "second|latter", "第二|后者"),
    ("once", "一次", "twice", "两次"),
    ("ten", "(?<![二三四五六七八九])十", "twenty", "二十"),
    ("hundreds?", "百", "thousands?", "千"),
    ("doubles?|doubled|twice", "翻倍|加倍|两倍", "half|halves|halved", "一半|减半|二分之一"),
    ("multipl(?:y|ied|ies)", "乘", "divide[ds]?", "除以"),
    ("numerator", "分子", "denominator", "分母"),
    ("rows?", "行", "columns?", "列"),
    ("sensitivity", "敏感度", "scales?", "尺度"),
    ("means?", "均值", "variances?|deviations?", "方差|标准差"),
    ("positive", "正", "negative", "负"),
    ("public", "公开", "secret|private", "秘密|保密"),
    ("kept|keeps?", "保留", "flip|flips|flipped", "翻转"),
    ("longe?r?", "长", "short|shorter", "短"),
    ("steep|steeper", "陡", "flat", "平"),
    ("faste?r?", "快", "slow|slower|slowly", "慢"),
]  # fmt: skip
"""(English, Chinese, English of the opposite, Chinese of it). Of IN_ORDER both languages say the same one first."""
OTHERWISE = (
    "不能落到G之下",  # must stay above
    "第二个及其后的所有元素",  # all but the first
    "左右翻转",  # from right to left
    "用不含米娅时的概率来约束",  # bounds those with Mia by those without her
    "一次有米娅，一次没有",  # with and without
    "对每个误报率，最小的漏报率",  # the least miss for each false alarm
    "上确界",  # the least number that nothing passes
    "增减相抵的地方",  # where neither wins
    "共有$2^{53}$种可能",  # the sentence goes on behind it
    "它们之间有空隙",  # as the one before
    "全部人数的百分之一",  # 1 percent
    "取$\\varepsilon = 1.34$",  # the sentence goes on behind it
)
"""Chinese sentences that say otherwise what the English says, as read."""
NEGATION = re.compile(r"\b(?:not|no|never|nor|cannot|\w+n't|without|none|nothing|nobody|neither)\b")
NEGATED = re.compile("[不没无非未勿别否莫毫免零空]|白白|超出|去掉|忘|拒绝|一样|照样|只用到|只是少|只从|谁都是0|谁也")
SMALL = set(map(str, range(11)))
"""What English may write in words."""
COORDINATED = re.compile(r"[^.:;]*\b(?:and|or|not|but|to)\b[^.:;]*")
RELATED = re.compile(
    r"\b(?:of|at|in|on|for|from|after|wh\w+|by|with|times|among|if|that|per|instead|place|answers|than|between)\b"
)
MERGED = {
    **dict.fromkeys(("accountants.po", "audit.po", "authoring.po", "clt.po", "laplace.po", "start_here.po"), 1),
    "00-start-here.md": 1,
    "01-composition.md": 5,
    "02-laplace.md": 3,
    "04-clt.md": 3,
    "05-dp-sgd.md": 1,
    "06-accountants.md": 3,
    "07-auditing.md": 3,
}
"""Lines whose Chinese has fewer sentences than the English, as read: one more has lost one, or is to be read and counted."""


@functools.cache
def prose(text):
    return NO_PROSE.sub(" 0 ", text)


def runs(text, *opposites):
    """Which of two opposites a text says, in its order, such as "ab"."""
    found = re.finditer("(?P<a>{})|(?P<b>{})".format(*opposites), prose(text), re.IGNORECASE)
    return re.sub(r"(.)\1+", r"\1", "".join(each.lastgroup or "" for each in found))


@pytest.mark.in_turn("seconds of reading sources")
@pytest.mark.parametrize("row", OPPOSITES, ids=itemgetter(0))
def test_no_opposite_is_said(row):
    """Where the English says only one of two opposites, the Chinese does not say only the other."""
    wrong = []
    one, other = (rf"\b(?:{english})\b" for english in row[::2])
    for where, english, chinese in sentences():
        theirs, mine = runs(english, one, other), runs(chinese, *row[1::2])
        exchanged = theirs in ("ab", "ba") and mine == theirs[::-1] and row in IN_ORDER
        if (exchanged or {theirs, mine} == {"a", "b"}) and not any(each in chinese for each in OTHERWISE):
            wrong.append(f"{where}: {english!r} is {chinese!r}")
    assert not wrong, "\n".join(wrong)


def test_no_negation_is_lost():
    wrong = []
    for where, english, chinese in sentences():
        is_lost = NEGATION.search(NO_PROSE.sub(" ", english)) and not NEGATED.search(NO_PROSE.sub(" ", chinese))
        if is_lost and not any(each in chinese for each in OTHERWISE):
            wrong.append(f"{where}: {english!r} is {chinese!r}")
    assert not wrong, "\n".join(wrong)


def test_each_sentence_has_its_numbers_and_fields():
    """And references; of fields that stand side by side the first comes first."""
    wrong = []
    for where, english, chinese in sentences():
        theirs, mine = numbers(english), numbers(chinese)
        more = {number for number in mine - theirs if number not in SMALL}
        if (theirs - mine or more or swapped(english, chinese)) and not any(each in chinese for each in OTHERWISE):
            wrong.append(f"{where}: {english!r} is {chinese!r}")
    assert not wrong, "\n".join(wrong)


def numbers(text):
    """The numbers and references of a text."""
    found = re.findall(r"\d\d §\d+|\d[\d.,]*", NO_PROSE.sub(" ` ", text), re.ASCII)
    return Counter(number.rstrip(".,") for number in found)


def swapped(english, chinese):
    """Whether the Chinese exchanges fields of which the English has one and another, or one and not another."""
    fields, mine = list(re.finditer(r"\{[^{}]*\}", english)), re.findall(r"\{[^{}]*\}", chinese)
    return any(
        mine.count(one[0]) == mine.count(other[0]) == 1
        and mine.index(one[0]) > mine.index(other[0])
        and COORDINATED.fullmatch(english, one.end(), other.start())
        and not RELATED.search(english, one.end(), other.start())
        for one, other in pairwise(fields)
    )


def test_no_sentence_is_lost():
    fewer = defaultdict(list)
    for where, english, chinese in lines():
        begin = re.compile(r"(?:#+ |> |[*-] )?(?:\d+\. )?")
        theirs = cut(begin.sub("", english, count=1), re.compile(r"(?<=[.!?])[\"”*)\]]*\s+"))
        if len(theirs) > len(cut(chinese, re.compile("(?<=[。！？；])"))):
            fewer[where].append(f"{where}: {english!r} is {chinese!r}")
    wrong = [line for where in fewer if len(fewer[where]) > MERGED.get(where, 0) for line in fewer[where]]
    assert not wrong, "\n".join(wrong)


def test_no_code_compares_with_a_text_that_its_cell_says_and_a_translation_says_otherwise():
    """What is compared is code, and stays English: in a translation such a condition would never be true."""
    wrong = []
    for file in sources(ROOT):
        for cell in translation.cells(file):
            if cell.cell_type == "code":
                said = {text.says for text in texts(cell.source)}
                code = re.sub(r"^[%!{].*", "pass", cell.source, flags=re.MULTILINE)
                compared = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Compare))
                sides = (side for node in compared for side in (node.left, *node.comparators))
                wrong += [f"{file.name}: {side.value!r}" for side in sides if getattr(side, "value", None) in said]
    assert not wrong, "\n".join(wrong)
