"""A class that is right, wrong, broken and hostile: every kind is one submission of lesson 01.

Beside each stands the status and the score that it must get, by topic. To think of a new way to cheat is to add a kind.
"""

from grading.kinds import denial, escapes, habits, not_a_notebook, odd, ordinary, points
from grading.kinds.making import misconceptions
from support import by_turns

TOPICS = {
    "not a notebook": not_a_notebook.KINDS,
    "ordinary": [*ordinary.KINDS, *misconceptions()],
    "odd": [*odd.KINDS, *habits.KINDS],
    "points": points.KINDS,
    "denial": denial.KINDS,
    "escapes": escapes.KINDS,
}
ON_A_COMMIT = {"not a notebook": 8, "ordinary": 12, "odd": 48, "points": 28, "denial": 22, "escapes": 26}
"""Of each topic every so-manieth kind is graded on a commit."""

ALL = [kind for kinds in TOPICS.values() for kind in kinds]
SOME = [
    kind
    for topic, kinds in TOPICS.items()
    for kind in [each for each in kinds if not each.weekly][:: ON_A_COMMIT[topic]]
]
KINDS = by_turns("kinds of submissions", SOME, ALL)
