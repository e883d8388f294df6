"""Which submissions resemble each other so much that somebody should look at both."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from dpcourse.grading.collect import Cell
from dpcourse.grading.judge.given import Release, normal

ALIKE, FEWEST_SHARED, MOST_WITH_IT = 0.8, 10, 20
LENGTH_OF_NO_CHANCE = 30
SHINGLE, MOST_SHINGLES = 6, 400


def shingles(cells: Iterable[Cell], release: Release) -> list[str]:
    """Hashes of all runs of a few words of the code that a student wrote, names not looked at; smallest first.

    Two notebooks that share most of them were hardly written apart.
    """
    given = set(_runs(release.code))
    known = {normal(cell.code) for cell in release.provided}
    own = {run for cell in cells if normal(cell.code) not in known for run in _runs(cell.code)}
    hashes = {hashlib.blake2b(run.encode(), digest_size=6).hexdigest() for run in own - given}
    return sorted(hashes)[:MOST_SHINGLES]


def _runs(code):
    words = re.findall(r"[^\W\d]\w*|\d+(?:\.\d+)?|[^\w\s]", re.sub(r"#.*", "", code))
    kept = {"def", "return", "if", "else", "for", "in", "while", "lambda", "not", "and", "or"}
    words = ["x" if re.match(r"[^\W\d]", word) and word not in kept else word for word in words]
    return {" ".join(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}


def identical(shingles: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Groups of names whose code is the same but for names and comments, and too long for that to be chance.

    shingles: name -> hashes of pieces of code.
    """
    groups = defaultdict(list)
    for name, pieces in shingles.items():
        if len(pieces) >= LENGTH_OF_NO_CHANCE:
            groups[tuple(sorted(pieces))].append(name)
    return sorted(sorted(names) for names in groups.values() if len(names) > 1)


def near_identical(shingles: Mapping[str, Sequence[str]]) -> list[tuple[str, str, float]]:
    """Triples (one, other, share of common code), most alike first, without those that are identical.

    What many have written is not looked at: a right answer is often short.
    """
    group = {name: number for number, names in enumerate(identical(shingles)) for name in names}
    owners = defaultdict(list)
    for name, pieces in shingles.items():
        for piece in pieces:
            owners[piece].append(name)
    most = min(MOST_WITH_IT, max(3, len(shingles) // 4))
    shared: Counter[tuple[str, str]] = Counter()
    own: Counter[str] = Counter()
    for names in owners.values():
        if len(names) <= most:
            own.update(names)
            shared.update(combinations(sorted(names), 2))
    alike = [
        (one, other, count / (own[one] + own[other] - count))
        for (one, other), count in shared.items()
        if count >= FEWEST_SHARED and (one not in group or group[one] != group.get(other))
    ]
    return sorted((pair for pair in alike if pair[2] >= ALIKE), key=lambda pair: (-pair[2], pair[0], pair[1]))
