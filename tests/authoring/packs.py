"""Packs for tests: the one that `dpcourse new-pack` makes, and the same as an exam with a variant for each student."""

from dpcourse.authoring import new_pack

EXAM = '''"""What one report does to the odds."""

import math

from dpcourse.checking import Exercise, Misconception, a_number, rounded, variants


@variants(epsilon=(0.5, 1.25, 2.0))
def exercise(epsilon):
    return Exercise(
        title="The odds after a report",
        good_for="saying what ε means to somebody who bets",
        difficulty=1,
        minutes=2,
        points=3,
        draw=lambda rng: [{"odds": rounded(rng.uniform(0.2, 3))} for _ in range(2)],
        reference=lambda odds: odds * math.exp(epsilon),
        returns=a_number,
        hints=("The factor by which odds grow is bounded.", "The factor is e^epsilon: `math.exp(epsilon)`."),
        misconceptions=(
            Misconception("epsilon itself", "You multiplied by epsilon, not by e^epsilon.", lambda o: o * epsilon),
            Misconception("downwards", "These are the smallest odds there can be.", lambda o: o * math.exp(-epsilon)),
        ),
        examples=({"odds": 1.0}, {"odds": 0.25}),
    )
'''


def edit(file, *changes):
    """Replace texts in a file, each of which stands there."""
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def practice(folder):
    """A new pack in a folder of this name."""
    new_pack.write(folder)
    return folder


def exam(folder, number=51):
    """A pack whose one exercise is graded only and has variants."""
    new_pack.write(folder, number)
    edit(folder / "pack.toml", ("graded_only = false", "graded_only = true"))
    (folder / "exercises" / "odds_after.py").write_text(EXAM, encoding="utf-8")
    edit(
        folder / "solutions" / f"{number}-{folder.name}.md",
        ("after it?", "after it, with ε = {variant epsilon}?"),
        ("(odds, epsilon)", "(odds)"),
        ("exp(epsilon)", "exp({variant epsilon})"),
    )
    edit(folder / "answers.toml", ("(odds, epsilon)", "(odds)"), ("epsilon)\n", "0.5)\n"), ("epsilon\n", "0.5\n"))
    return folder
