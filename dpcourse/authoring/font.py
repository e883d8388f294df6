"""The font by which pictures show a language that DejaVu Sans, matplotlib's own, has not: dpcourse/locale/XX/font.otf.

It is a part of a free font, made once by `dpcourse font`: the characters that the language's texts use and, of Chinese,
the 3,755 common ones of GB 2312, so that it need not be made anew for each sentence. fontTools makes it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import matplotlib

from dpcourse.base import languages
from dpcourse.base.files import replaced

COMMON = {"zh": ("gb2312", range(16, 56))}
"""language -> an encoding, and the rows of its common characters."""
DROPPED = [
    "BASE",
    "GDEF",
    "GPOS",
    "GSUB",
    "VORG",
    "vhea",
    "vmtx",
]  # pictures set each character by itself, from left to right
LARGEST = 1_000_000
DEJAVU = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def needed(root: Path, language: str) -> set[str]:
    """The characters of a language's texts that DejaVu Sans has not, as far as a font is needed for them."""
    files = [*(languages.CATALOGUES / language).glob("*.po"), *(root / "solutions" / language).glob("*.md")]
    used = {character for file in files for character in file.read_text(encoding="utf-8")}
    return {each for each in used - characters(DEJAVU) if each.isprintable()}


def behind(root: Path, language: str) -> Iterator[str]:
    """What the font of a language lacks; a picture that uses it would show a box there."""
    file = languages.font(language)
    if lacking := sorted(needed(root, language) - (characters(file) if file else set())):
        yield f"{languages.CATALOGUES / language / languages.FONT_FILE}: lacks {' '.join(lacking[:10])}: run `dpcourse font`"


def write(root: Path, language: str, source: Path) -> Path:
    """Make a language's font of a free one; returns its file. Raises ValueError where that cannot be."""
    from fontTools import subset
    from fontTools.ttLib import TTLibError

    wanted = needed(root, language) | _common(language)
    try:
        font = _opened(source, language)
    except (OSError, TTLibError) as error:
        raise ValueError(f"{source} is no font that can be read: {error}") from None
    if lacking := sorted(wanted - {chr(code) for code in font.getBestCmap()}):
        raise ValueError(f"{source} lacks {len(lacking)} of the characters, such as {' '.join(lacking[:5])}")
    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True, name_IDs=["*"])
    options.drop_tables += DROPPED
    maker = subset.Subsetter(options)
    maker.populate(unicodes=map(ord, wanted))
    maker.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = languages.FONT.format(language)
    file = languages.CATALOGUES / language / languages.FONT_FILE
    with replaced(file) as stream:
        font.save(stream, reorderTables=None)
    if file.stat().st_size > LARGEST:
        raise ValueError(f"{file} has {file.stat().st_size:,} bytes, and is to have at most {LARGEST:,}")
    return file


def _opened(source, language):
    """The font in a file; of a collection the one that is meant for the language, as its name says."""
    from fontTools.ttLib import TTCollection, TTFont

    if source.suffix != ".ttc":
        return TTFont(source, recalcTimestamp=False)
    names = [each["name"].getDebugName(4) for each in TTCollection(source, lazy=True)]
    number = next((i for i, name in enumerate(names) if name.endswith({"zh": " SC"}.get(language, "\0"))), 0)
    return TTFont(source, fontNumber=number, recalcTimestamp=False)


def _common(language):
    encoding, rows = COMMON.get(language, ("ascii", ()))
    codes = (bytes([row + 160, cell + 160]) for row in rows for cell in range(1, 95))
    return {code.decode(encoding, errors="ignore") for code in codes} - {""}


def characters(file: str | os.PathLike) -> set[str]:
    """Those that a font has."""
    from fontTools.ttLib import TTFont

    with TTFont(file, lazy=True) as font:
        return {chr(code) for code in font.getBestCmap()}
