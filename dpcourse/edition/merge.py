"""The merge of a newer edition with what a learner made of the edition before.

A cell is recognised by its id. The id of most cells is the hash of the text that was given out, and so tells whether the
learner changed the cell, even where nobody kept a record. The cells of an exercise are recognised by the name of its
function too, also where the exercise has moved to another lesson. A lesson goes by its `word`, which here is its name
without the number ("auditing" of 07-auditing), since numbers move.

Where one side changed a cell, that side's cell stands. Where both sides did, both cells are kept, the learner's first,
with a note between them. A cell that must not run any more, since it would undo an answer, stands in the note as text.
"""

import copy
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dpcourse.base.cells import BLANK, defined
from dpcourse.base.languages import say, to_say

Cells = list[dict]
Given = Mapping[str, Mapping[str, str]]
"""word -> id -> the digest of each cell as it was given out; without the words of lessons of which nobody kept it."""

_HASHED = re.compile(r"([0-9a-f]{8})-\d+")  # an id that the build made of the text
_CHECKED = re.compile(r'^check\("[\d.]+", (\w+)', re.MULTILINE)
_ANSWER, _CHECK = "answer", "check"
_NOTE = "kept-"  # how the id of a cell that a merge wrote begins
_OWN = "own-"  # and that of a cell which a merge took for the learner's own

REPLACED = to_say("**Yours is above.** The new edition of this lesson has another cell in its place, or none.")
BESIDE = to_say(
    "**Yours is above, the one of the new edition is below.** Both have changed. Delete the one that you do not want."
)
NOT_RUN = to_say("**Your answer, above, is kept.** The new edition of this lesson asks for it like this:")
CHECKED_SO = to_say("**The check below is that of the new edition.** In the cell that it replaces you had written:")


@dataclass
class Merged:
    """What a merge made: word -> the cells of each lesson, and what became of the learner's.

    kept: word -> how many cells hold something of the learner's. both: word -> how many were changed by both sides.
    moved: the names of the functions whose answers went to another lesson: function -> word.
    reached: the words of the lessons that hold a cell which the learner has had.
    """

    lessons: dict[str, Cells] = field(default_factory=dict)
    kept: Counter = field(default_factory=Counter)
    both: Counter = field(default_factory=Counter)
    moved: dict[str, str] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)


def digest(cell: dict) -> str:
    """Return the digest of a cell's kind and text. It begins as the id that the build gives to most cells.

    >>> digest({"cell_type": "code", "source": "progress()"})[:8]  # the cell 8108277b-1 of every lesson
    '8108277b'
    """
    text = f"{cell['cell_type']}\n{cell['source']}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=4).hexdigest() + hashlib.blake2b(text, digest_size=12).hexdigest()


def merged(mine: Mapping[str, Cells], given: Given, new: Mapping[str, Cells]) -> Merged:
    """Return the lessons of the new edition with all that the learner wrote: word -> cells. No argument is changed.

    mine: the learner's lessons. given: the same lessons as they were given out, where that is known.
    """
    return _Merge(mine, given, new).made


class _Merge:
    def __init__(self, mine, given, new):
        self.given, self.new = given, new
        self.mine = {word: self._with_known_ids(word, cells) for word, cells in mine.items()}
        self.at = {(word, cell["id"]): cell for word, cells in new.items() for cell in cells}
        self.places = {}  # an id, or what an exercise's cell is for -> where the new edition has it
        for place, cell in self.at.items():
            for key in ([cell["id"]] if _HASHED.fullmatch(cell["id"]) else []) + _exercise(cell):
                self.places.setdefault(key, []).append(place)
        self.place, self.owner = {}, {}  # the learner's (word, index) -> place in the new edition, and back
        self.made = Merged()
        self._find_places()
        self._assemble()

    # ---- which cell is which

    def _with_known_ids(self, word, cells):
        """Return copies of the learner's cells, each with an id of its own: that of the lesson where the text tells it.

        Some programs drop the ids, or give others.
        """
        cells = copy.deepcopy(cells)
        known = dict(self.given.get(word, {}))
        known |= {cell["id"]: digest(cell) for cell in self.new.get(word, []) if cell["id"] not in known}
        has = Counter(cell.get("id") for cell in cells)
        free = {}  # digest -> the ids of the lesson with that text which no cell of the learner's has
        for name, text in known.items():
            if not has[name]:
                free.setdefault(text, []).append(name)
        its = {}  # an id, which several cells may have -> the one with the text of the lesson's cell
        for index, cell in enumerate(cells):
            if cell.get("id") in known and known[cell["id"]] == digest(cell):
                its.setdefault(cell["id"], index)
        used = set()
        for index, cell in enumerate(cells):
            name = cell.get("id")
            is_other = name in used or its.get(name, index) != index
            if name is None or is_other or not (name in known or _HASHED.fullmatch(name) or name.startswith(_OWN)):
                name = (free.get(digest(cell)) or [name]).pop(0)
            if name is None or name in used or its.get(name, index) != index:
                name = _free_id(f"{_OWN}{digest(cell)[:8]}", used | set(has))
            cell["id"] = name
            used.add(name)
        return cells

    def _find_places(self):
        """Find the place of each of the learner's cells: by id, then function, in the same lesson, then in the others.

        What answers an exercise goes by its function first where its id is that of something else.
        """
        for find in (self._same_id_and_task, self._same_exercise, self._same_id, self._other_lesson):
            for word, cells in self.mine.items():
                for index, cell in enumerate(cells):
                    if (word, index) not in self.place:
                        find(word, index, cell)

    def _same_id_and_task(self, word, index, cell):
        tasks, there = _exercise(cell, is_given=False), self.at.get((word, cell["id"]))
        if not tasks or (there and set(tasks).intersection(_exercise(there))):
            self._same_id(word, index, cell)

    def _same_id(self, word, index, cell):
        if (word, cell["id"]) in self.at and (word, cell["id"]) not in self.owner:
            self._put(word, index, (word, cell["id"]))

    def _same_exercise(self, word, index, cell):
        for key in _exercise(cell, is_given=False):
            for place in self.places.get(key, ()):
                if place[0] == word and place not in self.owner:
                    return self._put(word, index, place)
        return None

    def _other_lesson(self, word, index, cell):
        """Find the cell's place in another lesson: where exactly one has it, and no other cell of the learner's is there."""
        known = self.given.get(word)
        if not self._was_given(word, cell) if known is None else cell["id"] not in known:
            return  # the learner's own
        tasks = _exercise(cell, is_given=False)
        for key in (cell["id"], *tasks):
            places = self.places.get(key, ())
            if len(places) != 1 or places[0][0] == word:
                continue
            there = self.owner.get(places[0])
            if there is None:
                self._put(word, index, places[0])
                if self._is_changed(word, cell):
                    self.made.moved |= {name: places[0][0] for kind, name in tasks if kind == _ANSWER}
                return
            if digest(self.mine[there[0]][there[1]]) == digest(cell):  # an update that was cut off has put it there
                self.place[word, index] = places[0]
                return

    def _put(self, word, index, place):
        self.place[word, index] = place
        self.owner[place] = (word, index)

    # ---- who changed it

    def _given_as(self, word, cell):
        """Return the digest of a cell when it was given out, or how that began; None where it was not, or unknown."""
        if (known := self.given.get(word, {}).get(cell["id"])) is not None:
            return known
        hashed = _HASHED.fullmatch(cell["id"])
        return hashed and hashed[1]

    def _was_given(self, word, cell):
        return self._given_as(word, cell) is not None

    def _is_changed(self, word, cell):
        """Return whether a cell holds something of the learner's; a cell of unknown origin may."""
        given = self._given_as(word, cell)
        return given is None or not digest(cell).startswith(given)

    # ---- the new lessons

    def _assemble(self):
        """Write each cell of the new edition as it is now, and behind it the learner's cells that have no place."""
        behind = self._without_place()
        for word, cells in self.new.items():
            made = behind.get((word, None), [])
            for cell in cells:
                made = made + self._of(word, cell) + behind.get((word, cell["id"]), [])
            self.made.lessons[word] = _with_single_ids(made)
        self.made.reached = {word for word, _ in self.place.values()}

    def _without_place(self):
        """Return place in the new edition -> the learner's own cells behind it, and changed cells of the old lesson."""
        behind = {}
        for word, cells in self.mine.items():
            if word not in self.new:
                continue
            last = (word, None)
            for index, cell in enumerate(cells):
                if (word, index) in self.place:
                    last = self.place[word, index]
                elif self._is_changed(word, cell):
                    self.made.kept[last[0]] += not cell["id"].startswith(_NOTE)
                    was_given = self._was_given(word, cell)
                    own = _own(cell) if was_given or (last[0], cell["id"]) in self.at else cell
                    behind.setdefault(last, []).extend([own, _note(REPLACED, cell)] if was_given else [own])
                    self.made.both[last[0]] += was_given
        return behind

    def _of(self, word, cell):
        """Return the cells that stand in the place of a cell of the new edition."""
        owner = self.owner.get((word, cell["id"]))
        if owner is None:
            is_deleted = word in self.mine and self.given.get(word, {}).get(cell["id"]) == digest(cell)
            return [] if is_deleted else [cell]
        yours = self.mine[owner[0]][owner[1]]
        given = self._given_as(owner[0], yours)
        if digest(yours) == digest(cell):
            return [_run_like(cell, yours)]
        if given is not None and digest(yours).startswith(given):
            return [cell]
        self.made.kept[word] += 1
        kept = {**yours, "id": cell["id"]}
        if given is None:  # some program took the id away, or the learner wrote a cell anew
            is_as_before = digest(cell) in self.given.get(owner[0], {}).values()
        else:
            is_as_before = digest(cell).startswith(given)
        if is_as_before:
            return [kept]
        return self._both(word, cell, yours, kept)

    def _both(self, word, cell, yours, kept):
        kinds = {kind for kind, _ in _exercise(cell)} & {kind for kind, _ in _exercise(yours, is_given=False)}
        if _ANSWER in kinds:
            made = [kept, _note(NOT_RUN, yours, cell)]
        elif _CHECK in kinds:
            made = [_note(CHECKED_SO, cell, yours), cell]
        else:
            made = [_own(yours), _note(BESIDE, yours, cell, is_shown=False), cell]
        self.made.both[word] += 1
        return made


def _exercise(cell, is_given=True):
    """Return what a cell is for, as (kind, function): the answers that it defines, the checks that it makes.

    is_given: only a cell that is still to be filled in counts as an answer's.
    """
    if cell["cell_type"] != "code":
        return []
    text = cell["source"]
    answers = defined(text) if not is_given or BLANK in text else ()
    return [(_ANSWER, name) for name in answers] + [(_CHECK, name) for name in _CHECKED.findall(text)]


def _note(says, *about, is_shown=True):
    """Return a note on what became of a cell; it shows the text of the second cell, if any. Its id tells of which."""
    text = str(say(says))
    if is_shown and len(about) > 1:
        shown = about[-1]["source"]
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
        text = f"{text}\n\n{fence}python\n{shown}\n{fence}"
    of = hashlib.blake2b("".join(map(digest, about)).encode(), digest_size=4).hexdigest()
    return {"cell_type": "markdown", "id": f"{_NOTE}{of}", "metadata": {}, "source": text}


def _own(cell):
    """Return a cell that is no longer the lesson's, but the learner's."""
    return {**cell, "id": f"{_OWN}{digest(cell)[:8]}"}


def _run_like(cell, yours):
    """Return the cell of the new edition with the outputs of the learner's, which has the same text."""
    ran = {key: yours[key] for key in ("execution_count", "outputs", "attachments") if key in yours}
    return {**cell, **ran}


def _with_single_ids(cells):
    """Return the cells with ids of which no two are the same."""
    made, used = [], set()
    for cell in cells:
        name = cell["id"] if cell["id"] not in used else _free_id(cell["id"], used | {each["id"] for each in cells})
        used.add(name)
        made.append({**cell, "id": name})
    return made


def _free_id(name, used):
    number = 1
    while name in used:
        number += 1
        name = f"{name.partition('_')[0]}_{number}"
    return name
