"""Which submissions resemble each other so much that somebody should look at both."""

from collections import Counter, defaultdict
from itertools import combinations

ALIKE, FEWEST_SHARED, MOST_WITH_IT = 0.8, 10, 20


def near_identical(shingles):
    """Triples (one, other, share of common code), most alike first.

    shingles: name -> hashes of pieces of code. What many have written is not looked at: a right answer is often short.
    """
    owners = defaultdict(list)
    for name, pieces in shingles.items():
        for piece in pieces:
            owners[piece].append(name)
    most = min(MOST_WITH_IT, max(3, len(shingles) // 4))
    shared, own = Counter(), Counter()
    for names in owners.values():
        if len(names) <= most:
            own.update(names)
            shared.update(combinations(sorted(names), 2))
    alike = [
        (one, other, count / (own[one] + own[other] - count))
        for (one, other), count in shared.items()
        if count >= FEWEST_SHARED
    ]
    return sorted((pair for pair in alike if pair[2] >= ALIKE), key=lambda pair: (-pair[2], pair[0], pair[1]))
