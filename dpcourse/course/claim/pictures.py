"""The pictures of lesson 10."""

import math

from dpcourse.base import rounding
from dpcourse.base.languages import counted, listed, say, sentences, to_say
from dpcourse.base.style import DARK, LIGHT, RAISED, panels
from dpcourse.course.claim.claims import CLAIMS, epsilon_after

NAMES = {
    "US census 2020": to_say("US census 2020"),
    "Apple, emoji": to_say("Apple, emoji"),
    "Google mobility": to_say("Google mobility"),
    "Wikimedia views": to_say("Wikimedia views"),
    "Gboard, Spanish": to_say("Gboard, Spanish"),
    "VaultGemma": to_say("VaultGemma"),
}
FARTHEST = 15
"""The power of ten up to which factors are shown."""


def belief_at_most(belief: float, epsilon: float) -> float:
    """Return the belief after odds that were multiplied by e^epsilon."""
    return 1 / (1 + math.exp(-epsilon - math.log(belief / (1 - belief))))


def claims_as_odds(figure, days, belief) -> str:
    """Six claims on one axis: by what the odds that somebody is in the data may be multiplied, after so many days."""
    figure.subplots_adjust(left=0.2)
    (panel,) = panels(figure)
    told = []
    for row, (name, claim) in enumerate(CLAIMS.items()):
        epsilon = epsilon_after(name, days)
        power, after = epsilon / math.log(10), _percent(belief_at_most(belief, epsilon))
        look = {"facecolor": DARK["color"]} if claim["released"] == "once" else LIGHT
        panel.barh(row, min(power, FARTHEST), height=0.55, **look)
        text = say("ε = {epsilon}: {after}", epsilon=_short(epsilon), after=after)
        inside = power > FARTHEST - 5
        panel.text(
            min(power, FARTHEST) + (-0.2 if inside else 0.2),
            row,
            f"{text} →" if power > FARTHEST else text,
            ha="right" if inside else "left",
            va="center",
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5} if inside else None,
        )
        told.append(
            say("{claim}: ε {epsilon}, belief {after}", claim=say(NAMES[name]), epsilon=_short(epsilon), after=after)
        )
    panel.set_yticks(range(len(CLAIMS)), [say(NAMES[name]) for name in CLAIMS])
    panel.set_ylim(len(CLAIMS) - 0.4, -0.6)
    panel.set_xlim(0, FARTHEST)
    ticks = range(0, FARTHEST + 1, 3)
    panel.set_xticks(ticks, ["1", *(f"10{str(tick).translate(RAISED)}" for tick in ticks[1:])])
    panel.set_xlabel(say("the odds are multiplied by this at most (hatched: claimed anew each day)"))
    panel.set_title(
        counted(
            "Belief before: {before}. Belief after {count} day: at most",
            "Belief before: {before}. Belief after {count} days: at most",
            count=days,
            before=_percent(belief),
        )
    )
    return sentences(
        [
            counted(
                "Six published claims as factors of the odds, after {count} day, from a belief of {before}.",
                "Six published claims as factors of the odds, after {count} days, from a belief of {before}.",
                count=days,
                before=_percent(belief),
            ),
            say("At most: {claims}.", claims=listed(told, "{first}; {then}", "{first}; {then}")),
        ]
    )


def _percent(belief):
    """A belief as a percentage; what is nearly certain is said to be."""
    if belief > 0.9999:
        return say("above 99.99 %")
    return say("{percent} %", percent=rounding.up(100 * belief, 2).rstrip("0").rstrip("."))


def _short(epsilon):
    return f"{float(rounding.up(epsilon, 2)):,g}" if epsilon < 1000 else f"{math.ceil(epsilon):,}"
