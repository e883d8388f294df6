"""What a claim leaves open."""

from dpcourse.base.languages import listed, say
from dpcourse.checking import Domain, Fields, Misconception, Number, OneOf, OpenExercise
from dpcourse.checking.calling.values import type_name

FIELDS = ("unit", "delta", "accountant", "sampler", "released")


def open_fields(claim):
    """The fields that leave a claim open, in the order of FIELDS."""
    found = []
    if claim["unit"] != "person":
        found.append("unit")
    if claim["delta"] is None or claim["delta"] * claim["people"] >= 1:
        found.append("delta")
    if claim["accountant"] in (None, "limit"):
        found.append("accountant")
    if claim["sampler"] != claim["accounted"]:
        found.append("sampler")
    if claim["released"] == "daily":
        found.append("released")
    return found


CLOSED = {
    "unit": "person",
    "epsilon": 2.0,
    "delta": 1e-8,
    "people": 1_000_000,
    "accountant": "certified",
    "sampler": "coins",
    "accounted": "coins",
    "released": "once",
}
"""A claim that leaves nothing open."""


UNITS = ("person", "device", "row", "day of a person", None)
DELTAS = (1e-8, 6e-7, 1e-6, 1e-5, 0.0, None)
PEOPLE = (50_000, 100_000, 1_000_000)
"""Multiplied by these the deltas come out far below 1, between a half and 1, just 1, and above."""
SAMPLERS = ("coins", "shuffled", None)


def _claim(**changed):
    return CLOSED | changed


OPEN = (
    _claim(),
    _claim(delta=0.0),
    _claim(sampler=None, accounted=None),
    _claim(unit="device"),
    _claim(unit="row"),
    _claim(delta=None),
    _claim(delta=6e-7),
    _claim(delta=1e-5, people=50_000),
    _claim(delta=1e-6),
    _claim(delta=1e-5, people=100_000),
    _claim(delta=1e-5),
    _claim(accountant=None),
    _claim(accountant="limit"),
    _claim(accountant="Rényi"),
    _claim(sampler="shuffled"),
    _claim(sampler="coins", accounted="shuffled"),
    _claim(sampler=None),
    _claim(accounted=None),
    _claim(released="daily"),
    _claim(unit="day of a person", released="daily", delta=0.0, sampler=None, accounted=None, accountant="basic"),
    _claim(unit=None, delta=1e-5, released="daily"),
    _claim(delta=None, accountant="limit"),
    _claim(sampler="shuffled", accounted="shuffled"),
)
"""Of each kind one, and one field at most that may be None and has a rule of its own; of the rest of a claim ε is drawn, and the people where its δ leaves nothing open for any of PEOPLE."""


def _drawn(rng, claim):
    """With another ε, and with any number of people where that decides nothing."""
    decides = claim["delta"] is not None and claim["delta"] * max(PEOPLE) >= 0.5
    people = claim["people"] if decides else int(rng.choice(PEOPLE))
    return claim | {"epsilon": round(float(rng.uniform(0.5, 9)), 2), "people": people}


def _draw_claims(rng):
    """All kinds, in any order."""
    return [{"claim": _drawn(rng, OPEN[i])} for i in rng.permutation(len(OPEN))]


CLAIM = Fields(
    {
        "unit": OneOf(UNITS),
        "epsilon": Number(0.5, 9),
        "delta": OneOf(DELTAS),
        "people": OneOf(PEOPLE),
        "accountant": OneOf(("certified", "Rényi", "basic", "limit", None)),
        "sampler": OneOf(SAMPLERS),
        "accounted": OneOf(SAMPLERS),
        "released": OneOf(("once", "daily")),
    }
)


def _names(value, case):
    """A list of names of fields."""
    if not isinstance(value, (list, tuple)):
        return say(
            'Return a list of names, such as `["unit", "delta"]`, and `[]` where nothing is open; not {given}.',
            given=type_name(value),
        )
    for name in value:
        if not isinstance(name, str) or name not in FIELDS:
            return say(
                'The names are those of the list in the task, "unit" to "released", and yours holds {name}.',
                name=repr(name),
            )
    return None


def _law(value, case):
    """Whether the names are the right ones, in any order."""
    claim, right = case["claim"], set(open_fields(case["claim"]))
    missed, wrong = (
        [each for each in FIELDS if each in right - set(value)],
        [each for each in FIELDS if each in set(value) - right],
    )
    if missed:
        return False, say("of `{claim}` it misses {fields}", claim=_shown(claim), fields=listed(missed))
    if wrong:
        return False, say("of `{claim}` it names {fields}, which is closed", claim=_shown(claim), fields=listed(wrong))
    return True, "right"


def _shown(claim):
    return ", ".join(
        f"{name}={claim[name]!r}"
        for name in ("unit", "epsilon", "delta", "people", "accountant", "sampler", "accounted", "released")
    )


def _where(says, names):
    """recognise: of all claims of which `says` is true these names are wrongly there, or wrongly not; else all is right of that field."""

    def recognise(cases, values):
        pairs = [(case["claim"], set(value)) for case, value in zip(cases, values, strict=True)]
        some = [(claim, said) for claim, said in pairs if says(claim)]
        return bool(some) and all(
            (name in said) != (name in open_fields(claim)) for claim, said in some for name in names
        )

    return recognise


def _changed(says, name):
    """The right answer, with one name put in or taken out where `says` is true of the claim."""

    def code(claim):
        right = open_fields(claim)
        if says(claim):
            right = [each for each in right if each != name] if name in right else [*right, name]
        return right

    return code


def _only(says, name):
    """recognise: this name is wrongly there, or wrongly not, in some claims, and `says` is true of all of these."""

    def recognise(cases, values):
        pairs = [(case["claim"], set(value)) for case, value in zip(cases, values, strict=True)]
        wrong = [claim for claim, said in pairs if (name in said) != (name in open_fields(claim))]
        return bool(wrong) and all(map(says, wrong))

    return recognise


def _is_nearly_one(claim):
    return claim["delta"] is not None and 0.5 <= claim["delta"] * claim["people"] < 1


def _one(name, field, says, message):
    return Misconception(name, message, _changed(says, field), _where(says, [field]))


exercise = OpenExercise(
    title="What a claim leaves open",
    good_for="asking the right question when somebody shows you an ε",
    difficulty=2,
    minutes=8,
    points=2,
    domain=Domain({"claim": CLAIM}),
    draw=_draw_claims,
    reference=open_fields,
    returns=_names,
    law=_law,
    hints=(
        'Begin with an empty list, and ask one question after the other: `if claim["unit"] != "person":` and so on. Each yes puts one name into the list.',
        'Take care with delta: `None` is missing, and 0 is the best there is, so `not claim["delta"]` does not tell them apart: ask `is None`. Otherwise delta is open where delta * people is 1 or more. The sampler is open where it is not the one that was accounted for, whatever the two are.',
    ),
    misconceptions=(
        Misconception(
            "nothing is open",
            "You return an empty list for every claim. Ask the five questions one after the other, and put a name into the list for each yes.",
            lambda claim: [],
            recognise=lambda cases, values: not any(map(len, values)),
        ),
        Misconception(
            "the first only",
            "Where a claim leaves several things open you return the first one only. Is there a `return` or an `elif` where another `if` belongs?",
            lambda claim: open_fields(claim)[:1],
            recognise=lambda cases, values: all(
                list(value) == open_fields(case["claim"])[:1] for case, value in zip(cases, values, strict=True)
            ),
        ),
        Misconception(
            "what is closed",
            "You return the names of what is closed. What is asked for are the others: those that the claim leaves open.",
            lambda claim: [name for name in FIELDS if name not in open_fields(claim)],
            recognise=lambda cases, values: all(
                set(value) == set(FIELDS) - set(open_fields(case["claim"]))
                for case, value in zip(cases, values, strict=True)
            ),
        ),
        _one(
            "δ the wrong way round",
            "delta",
            lambda claim: claim["delta"] is not None,
            "You compare delta * people with 1 the wrong way round. A small delta is good: it is open where the product is 1 or more.",
        ),
        _one(
            "δ of 0",
            "delta",
            lambda claim: claim["delta"] == 0,
            'You call delta open where it is 0. That is a promise without any exception, the best there is. In Python 0 counts as false, like None: ask `claim["delta"] is None`.',
        ),
        _one(
            "δ against people",
            "delta",
            lambda claim: claim["delta"] is not None and claim["delta"] * claim["people"] >= 1,
            "You do not compare delta with the number of people. With delta = 1/people a program may publish one whole row, drawn at random, and keep its promise.",
        ),
        _one(
            "δ of exactly 1/people",
            "delta",
            lambda claim: claim["delta"] is not None and claim["delta"] * claim["people"] == 1,
            "Where delta * people is exactly 1 you call delta closed. With this delta a program may already publish one whole row. The rule says 1 or more: `>=`.",
        ),
        Misconception(
            "the product rounded",
            "You call delta open where delta * people is between a half and 1. That is below 1, so it is closed. Did you round the product, or compare delta without the people?",
            _changed(lambda claim: _is_nearly_one(claim), "delta"),
            recognise=_only(lambda claim: _is_nearly_one(claim), "delta"),
        ),
        _one(
            "δ missing",
            "delta",
            lambda claim: claim["delta"] is None,
            "Where delta is None the claim does not say it. Then its ε is not even half a promise: delta is open.",
        ),
        _one(
            "the limit",
            "accountant",
            lambda claim: claim["accountant"] == "limit",
            'You let the accountant "limit" pass. It is an approximation, and may lie below the truth (lesson 06).',
        ),
        _one(
            "the accountant missing",
            "accountant",
            lambda claim: claim["accountant"] is None,
            "You let it pass that no accountant is named. Then nobody can say whether the ε is a bound.",
        ),
        _one(
            "an or that is always true",
            "accountant",
            lambda claim: claim["accountant"] not in (None, "limit"),
            'You call the accountant open in every claim. By the rule it is open if it is None or "limit", and otherwise closed. (`... == None or "limit"` is always true in Python, since a text that is not empty counts as true: write `in (None, "limit")`.)',
        ),
        Misconception(
            "a proved bound",
            "You call the accountant open where it is Rényi or basic composition. Either gives an upper bound that is proved, if not the smallest. Open are None and the limit.",
            _changed(lambda claim: claim["accountant"] in ("Rényi", "basic"), "accountant"),
            recognise=_only(lambda claim: claim["accountant"] in ("Rényi", "basic"), "accountant"),
        ),
        _one(
            "no sampler",
            "sampler",
            lambda claim: claim["sampler"] is None and claim["accounted"] is None,
            "You call the sampler open where nothing is sampled: it is None, and None was accounted for. It is open only where the two differ.",
        ),
        _one(
            "one object",
            "sampler",
            lambda claim: claim["sampler"] == claim["accounted"] is not None,
            "You call the sampler open though it is the one that was accounted for. Did you compare with `is not`? That asks whether two texts are one and the same object in memory. Compare them with `!=`.",
        ),
        _one(
            "shuffled",
            "sampler",
            lambda claim: claim["sampler"] == claim["accounted"] == "shuffled",
            "You call the sampler open wherever it is shuffled. There is nothing wrong with shuffling, if it is what was accounted for.",
        ),
        _one(
            "the sampler not compared",
            "sampler",
            lambda claim: claim["sampler"] != claim["accounted"],
            "You do not compare what ran, `sampler`, with what was accounted for, `accounted`. The ε of one says nothing of the other.",
        ),
        Misconception(
            "None against a sampler",
            "You compare the two samplers only where they are named. If one is None and the other is not, they differ too: something else was accounted for than what ran.",
            _changed(lambda claim: (claim["sampler"] is None) != (claim["accounted"] is None), "sampler"),
            recognise=_only(lambda claim: (claim["sampler"] is None) != (claim["accounted"] is None), "sampler"),
        ),
        Misconception(
            "some differences",
            "You find some claims in which the sampler and what was accounted for differ, and not all. Whatever the two are, the sampler is open where they are not the same: compare them with `!=`.",
            _changed(lambda claim: claim["sampler"] != claim["accounted"] and claim["accounted"] != "coins", "sampler"),
            recognise=_only(lambda claim: claim["sampler"] != claim["accounted"], "sampler"),
        ),
        _one(
            "the device",
            "unit",
            lambda claim: claim["unit"] == "device",
            "You let a device pass for a person. She may have several devices, and then the promise to her is another.",
        ),
        _one(
            "a person's day",
            "unit",
            lambda claim: claim["unit"] == "day of a person",
            'You let "day of a person" pass for a person. A day is less: compare the whole text with "person".',
        ),
        _one(
            "the unit missing",
            "unit",
            lambda claim: claim["unit"] is None,
            "Where the unit is None the claim does not say whom it protects. That is open.",
        ),
        _one(
            "daily",
            "released",
            lambda claim: claim["released"] == "daily",
            "You let a claim pass that is released daily. It says what one day costs: how many days there are is open.",
        ),
    ),
)
