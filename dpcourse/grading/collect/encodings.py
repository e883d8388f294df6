"""The encoding of a table that somebody's spreadsheet has saved: told, or refused, and never guessed in silence.

UTF-8 and UTF-16 tell themselves. Excel saves in the encoding of its machine: GB 18030 (with GBK and GB 2312 in it) in
China, Windows-1252 in western Europe. Nearly every file can be decoded as either; but read as the other one, Chinese
is a row of accents, and an accented letter is a Chinese character within a word of Latin letters. Neither is writing.
"""

import codecs
import re
from collections.abc import Sequence

from dpcourse.base.languages import say
from dpcourse.grading.collect.headers import WORDS, squeezed

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # UTF-32 before UTF-16, whose mark begins with the same bytes
OF_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, .xls
LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e"
ACCENTED = rf"(?:(?![A-Za-z])[{LATIN}])"
HAN = r"\u3007\u3400-\u9fff\U00020000-\U000323af"
CHINESE = rf"[\x00-\x7f\u3000-\u3002\u300a-\u300f\u2014\u2018-\u201d\u2026\u00b7\uff01-\uff5e{HAN}]*"


class Unknown(ValueError):
    """Bytes in no encoding that can be told."""


def told(content: bytes) -> tuple[str, str]:
    """(the text, the name of its encoding where that is not UTF-8) of a table. Raises Unknown.

    >>> told("王伟,1".encode()), told("王伟,1".encode("gbk")), told("Zoë,1".encode("cp1252"))
    (('王伟,1', ''), ('王伟,1', 'GB 18030'), ('Zoë,1', 'Windows-1252'))
    """
    if content.startswith(OF_SPREADSHEETS):
        raise Unknown(say("it is a spreadsheet's own file, and no CSV: save it as CSV in UTF-8"))
    mark = next(filter(content.startswith, MARKS), None)
    if mark or b"\0" in content:
        encoding = MARKS[mark] if mark else _of_zeros(content)
        try:
            return content.decode(encoding).lstrip("\ufeff"), "" if encoding == "utf-8" else encoding.upper()
        except UnicodeDecodeError:
            raise _unknown() from None
    for encoding, name, is_writing in (
        ("utf-8", "", lambda text: True),
        ("gb18030", "GB 18030", _is_chinese),
        ("cp1252", "Windows-1252", _is_western),
    ):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if is_writing(text):
            return text, name
    raise _unknown()


def of_names(names: Sequence[bytes]) -> str:
    """The encoding of the names of files in one archive that does not tell it; cp437, as its format says, in doubt.

    Windows in China writes GB 18030 there. Read as cp437 that is a row of frames, and none of letters.

    >>> of_names(["王伟.ipynb".encode("gbk")]), of_names(["Zoë.ipynb".encode("cp437")]), of_names(["王伟".encode()])
    ('gb18030', 'cp437', 'utf-8')
    """
    for encoding in ("utf-8", "gb18030"):
        try:
            texts = [name.decode(encoding) for name in names]
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8" or (all(map(_has_chinese_signs, texts)) and not all(map(_is_of_letters, names))):
            return encoding
    return "cp437"


def _has_chinese_signs(text):
    return re.fullmatch(CHINESE, text) is not None


def _is_of_letters(name):
    """Whether a name is one in cp437: beside ASCII there are only letters."""
    return all(sign.isascii() or sign.isalpha() for sign in name.decode("cp437"))


def _unknown():
    return Unknown(say("it is neither in UTF-8 nor in GB 18030: save it as CSV in UTF-8"))


def _of_zeros(content):
    """UTF-16 without a mark: every second byte of its commas and digits is zero."""
    return "utf-16-le" if content[1::2].count(0) >= content[::2].count(0) else "utf-16-be"


def _is_chinese(text):
    """Whether the signs are those that Chinese is written with, and none stands beside a Latin letter.

    Where the first line names columns in Chinese, it may.
    """
    if not re.fullmatch(CHINESE, text):
        return False
    first = text.lstrip().partition("\n")[0]
    named = any(word in squeezed(first) for words in WORDS.values() for word in words if not word.isascii())
    return named or re.search(rf"[A-Za-z][{HAN}]|[{HAN}][A-Za-z]", text) is None


def _is_western(text):
    """Whether beside ASCII there are only accented letters, as they stand in words: beside plain ones, few in a row."""
    others = re.sub(rf"[\x00-\x7f{LATIN}\u2018\u2019\u2013\u00a0]", "", text)
    accented = [word for word in re.findall(rf"[{LATIN}]+", text) if not word.isascii()]
    odd = rf"{ACCENTED}{{3}}|[\u00df-\u00ff][A-Z]"
    return not others and all(re.search("[A-Za-z]", word) and not re.search(odd, word) for word in accented)
