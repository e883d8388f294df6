"""A page in another language: solutions/XX/NN-name.md translates solutions/NN-name.md cell by cell.

NN-name.lock beside it has a line for each of its cells, with the fingerprint of the English cell that it translates. The
page is made of the English source: each cell whose fingerprint the lock has gives way to its translation. So a cell that
the English has changed since, or that is new, stands there in English, and cells may move; breaks between cells, tags and
lines such as {check f} come from the English alone. A translation that is not faithful (faithful.py) is not shown either.
"""

import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from dpcourse.authoring import catalogues, faithful, source
from dpcourse.authoring.faithful import BREAK, CODE, TEXT, Cell
from dpcourse.authoring.source import FENCE, PART, SourceError, english, language_of, name_of
from dpcourse.authoring.words import say_for
from dpcourse.base.files import write_atomically

LANGUAGE = """from dpcourse import language

language("{name}")"""
"""What a translated notebook has below the imports of its first code cell that imports the package."""
FRONT = ("title", "learn", "needs", "can")
"""The kinds of cells in the front matter."""
SHOWN = 50


@dataclass(frozen=True)
class Translation:
    """Each cell of the English source with its translation, or None where that is behind.

    unused: cells that translate no English one any more. wrong: what is to be mended in the translation.
    """

    pairs: tuple[tuple[Cell, Cell | None], ...]
    unused: tuple[Cell, ...]
    wrong: tuple[SourceError, ...]

    @property
    def shown(self) -> int:
        """How many cells are translated."""
        return sum(translated is not None for _, translated in self.pairs)


# ---- the cells of a source


def parts(file: Path) -> Iterator[Cell]:
    """The cells of a source in order, those of the front matter first. Raises SourceError.

    A line that parts them, such as `+++` or `{check f}`, comes as a cell of the kind BREAK.
    """
    if file.stem != source.GLOSSARY:
        said = source.about(file)
        for kind, text in [
            *((name, said[name]) for name in FRONT[:3]),
            *(("can", goal["can"]) for goal in said["goals"]),
        ]:
            line = source.line_of(file, text) - 1
            yield Cell(kind, text, line, line + 1)
    lines = file.read_text(encoding="utf-8").splitlines()
    at = begin = lines.index("---", 1) + 1 if lines[:1] == ["---"] else 0
    while at < len(lines):
        is_fence = FENCE.match(lines[at])
        if not (is_fence or _is_break(lines[at])):
            at += 1
            continue
        yield from _cell(TEXT, lines, begin, at)
        if is_fence:
            first = next(
                number for number in range(at + 1, len(lines) + 1) if not lines[number:][:1] or lines[number][:1] != ":"
            )
            at = next((number for number in range(first, len(lines)) if lines[number] == "```"), len(lines))
            yield from _cell(CODE, lines, first, at)
        else:
            yield Cell(BREAK, lines[at].strip(), at, at + 1)
        at = begin = at + 1
    yield from _cell(TEXT, lines, begin, at)


def _is_break(line):
    part = PART.match(line)
    return line.startswith("+++") or (part and part["part"] != "variant")


def _cell(kind, lines, begin, end):
    """The lines as a cell, without the empty ones around them; nothing if no other is there."""
    filled = [number for number in range(begin, end) if lines[number].strip()]
    if filled:
        begin, end = filled[0], filled[-1] + 1
        yield Cell(kind, "\n".join(lines[begin:end]), begin, end)


def fingerprint(cell: Cell) -> str:
    """A short hash of a cell as its source has it, so before numbers of exercises are filled in."""
    return hashlib.blake2b(f"{cell.kind}\n{cell.text}".encode(), digest_size=4).hexdigest()


# ---- which cell translates which


def read(file: Path) -> Translation:
    """What a source in another language translates; all is behind where it is missing."""
    return _read(file, *(_text(each) for each in (english(file), file, lock(file))))


def lock(file: Path) -> Path:
    """Where the fingerprints of the English cells stand."""
    return file.with_suffix(".lock")


def _text(file):
    return file.read_text(encoding="utf-8") if file.exists() else ""


@functools.lru_cache
def _read(file, theirs, mine, locked):
    """As `read`; the texts of the three files are those on the disk."""
    wrong: list[SourceError] = []
    known = _by_fingerprint(file, locked, wrong) if mine else {}
    cells = [cell for cell in parts(english(file)) if cell.kind != BREAK]
    unused = [cell for name, found in known.items() for cell in found if name not in set(map(fingerprint, cells))]
    pairs = []
    for cell in cells:
        found = known.get(fingerprint(cell), [None])
        translated = found.pop(0) if len(found) > 1 else found[0]
        if translated and (complaints := list(faithful.complaints(cell, translated))):
            wrong += [SourceError(file, line + 1, message) for line, message in complaints]
            translated = None
        pairs.append((cell, translated))
    return Translation(tuple(pairs), tuple(unused), tuple(wrong))


def _by_fingerprint(file, locked, wrong):
    """fingerprint -> the cells that translate what has it; empty where the lock is none of this source's."""
    try:
        cells = [cell for cell in parts(file) if cell.kind != BREAK]
    except SourceError as error:
        wrong.append(error)
        return {}
    lines = locked.splitlines()
    if len(cells) != len(lines):
        lacks = f"{lock(file).name} has {len(lines)} lines" if lines else f"{lock(file).name} is missing"
        message = f"{lacks}, and here are {len(cells)} cells: translate what is behind, then run {_command(file)}"
        wrong.append(SourceError(file, 1, message))
        return {}
    known = defaultdict(list)
    for line, cell in zip(lines, cells, strict=True):
        known[line.partition(" ")[0]].append(cell)
    return known


def _command(file):
    return f"`dpcourse build --translated {name_of(file)}`"


def recorded(root: Path, name: str) -> list[str]:
    """Record a translation by its name, such as "zh/00-start-here"; says which cells are up to date now.

    Raises ValueError where there is none of this name, SourceError as `record`.
    """
    there = [
        name_of(file) for language in source.languages(root) for file in source.pages(root, language) if file.exists()
    ]
    if name not in there:
        raise ValueError(f"there is no translation {name!r}; there are {', '.join(there) or 'none'}")
    file = root / "solutions" / f"{name}.md"
    return [f"{file}:{cell.begin + 1}: {_called(cell)} is up to date" for cell in record(file)]


def record(file: Path) -> list[Cell]:
    """Note that each cell of a translation translates the English one of today; returns those that did not before.

    Raises SourceError for the first place where they differ in more than their words.
    """
    theirs, mine = list(parts(english(file))), list(parts(file))
    for cell, translated in zip_longest(theirs, mine):
        if not (
            cell
            and translated
            and cell.kind == translated.kind
            and (cell.kind != BREAK or cell.text == translated.text)
        ):
            here = _called(translated) if translated else "the end"
            there = f"{_called(cell)} ({english(file).name}:{cell.begin + 1})" if cell else "the end"
            line = translated.begin if translated else mine[-1].end - 1
            raise SourceError(file, line + 1, f"here is {here}, where the English has {there}")
        for line, message in faithful.complaints(cell, translated):
            raise SourceError(file, line + 1, message)
    before = {line.partition(" ")[0] for line in _text(lock(file)).splitlines()}
    cells = [(fingerprint(cell), cell, new) for cell, new in zip(theirs, mine, strict=True) if cell.kind != BREAK]
    write_atomically(lock(file), "".join(f"{name} {_brief(cell)}\n" for name, cell, _ in cells))
    return [new for name, _, new in cells if name not in before]


def _called(cell):
    kind = {BREAK: "", TEXT: "the text ", CODE: "the code "}.get(cell.kind, f"`{cell.kind}`: ")
    return f"{kind}`{_brief(cell)}`"


def _brief(cell):
    return " ".join(cell.text.split())[:SHOWN].rstrip()


# ---- the page


def about(file: Path) -> dict:
    """What the front matter of a page says of it, in its language. Raises SourceError."""
    said = source.about(english(file))
    if not language_of(file):
        return said
    pairs = [pair for pair in read(file).pairs if pair[0].kind in FRONT]
    title, learn, needs, *cans = ((translated or cell).text for cell, translated in pairs)
    goals = [goal | {"can": can} for goal, can in zip(said["goals"], cans, strict=True)]
    return said | {"title": title, "learn": learn, "needs": needs, "goals": goals}


def text(file: Path) -> str:
    """The source of a page, before anything is filled in."""
    return "\n".join(line for _, line in lines(file))


def lines(file: Path) -> list[tuple[int, str]]:
    """The lines of `text`, each with its number; what stands there in English has that of the translation above it."""
    theirs = english(file).read_text(encoding="utf-8").splitlines()
    if not language_of(file):
        return list(enumerate(theirs, 1))
    note = say_for(
        file, "*The English of this part has changed, and this translation has not yet: here is the English.*"
    )
    pairs = [pair for pair in read(file).pairs if pair[0].kind not in FRONT]
    importing = next((cell for cell, _ in pairs if cell.kind == CODE and "from dpcourse import" in cell.text), None)
    made: list[tuple[int, str]] = []
    done, at, is_told = 0, 1, False
    for cell, translated in pairs:
        if cell.kind == TEXT:
            is_told = not translated and is_told and not cell.text.startswith("#")
        shown = _shown(cell, translated, at, note if cell.kind == TEXT and not is_told else "")
        is_told |= cell.kind == TEXT and not translated
        made += [(at, line) for line in theirs[done : cell.begin]]
        made += _choosing(shown, language_of(file)) if cell is importing else shown
        done, at = cell.end, translated.end if translated else at
    return made + [(at, line) for line in theirs[done:]]


def _shown(cell, translated, at, note):
    """The lines of the translation with their numbers; where it is behind, of the English with a note and the number `at`."""
    if translated:
        return list(enumerate(translated.text.splitlines(), translated.begin + 1))
    return [(at, line) for line in (_noted(cell, note) if note else cell.text).splitlines()]


def _choosing(code, language):
    """The lines of a code cell, and below its imports what chooses the language."""
    last = max(place for place, (_, line) in enumerate(code) if line.startswith(("from ", "import ")))
    number = code[last][0]
    return (
        code[: last + 1] + [(number, line) for line in LANGUAGE.format(name=language).splitlines()] + code[last + 1 :]
    )


def _noted(cell, note):
    """The text with a note at its beginning, below the heading that it may begin with: links lead there."""
    if not cell.text.startswith("#"):
        return f"{note}\n\n{cell.text}"
    head, _, rest = cell.text.partition("\n")
    return f"{head}\n\n{note}\n{rest}"


# ---- what is to be done


def complaints(root: Path, language: str) -> Iterator[SourceError]:
    """What is wrong in a language's folder, and is to be mended there; what is only behind is not."""
    pages = source.pages(root, language)
    for file in pages:
        yield from read(file).wrong
    for file in sorted((root / "solutions" / language).glob("*.md")):
        if file not in pages:
            yield SourceError(file, 1, f"translates no lesson: there is no {english(file)}; rename or remove it")


def behind(root: Path, language: str) -> Iterator[str]:
    """What a language lacks, and the share that it has; no fault of anybody's."""
    shown = cells = 0
    for file in source.pages(root, language):
        found = read(file)
        shown, cells = shown + found.shown, cells + len(found.pairs)
        yield from _behind(file, found)
    yield f"{catalogues.called(language)}: {shown} of {cells} cells ({100 * shown // max(1, cells)} %) are translated."


def _behind(file, found):
    if not found.shown:
        yield f"{file}: {'stands' if file.exists() else 'is missing, so the page stands'} in English"
        return
    at = 1
    for cell, translated in found.pairs:
        if translated is None:
            yield f"{file}:{at}: is behind {english(file).name}:{cell.begin + 1}, {_called(cell)}"
        else:
            at = translated.end
    for cell in found.unused:
        yield f"{file}:{cell.begin + 1}: {_called(cell)} translates what is not there any more"
