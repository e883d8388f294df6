"""Nothing that a learner typed is lost, and nothing that the new edition says, whatever each of them changed."""

import copy

import pytest
from editions import BLANK, OLD, asks, edition
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.edition import merge


def record(lessons):
    return {word: {cell["id"]: merge.digest(cell) for cell in cells} for word, cells in lessons.items()}


def texts(lessons):
    return {word: [cell["source"] for cell in cells] for word, cells in lessons.items()}


def answered(lessons, word, function, body="    return 1"):
    """A learner's copy of the lessons, with the answer to an exercise."""
    mine = copy.deepcopy(lessons)
    [cell] = [cell for cell in mine[word] if cell["source"].startswith(f"def {function}(")]
    cell["source"] = cell["source"].replace(BLANK, body)
    return mine


def both_ways(mine, old, new):
    """The merge with a record, and without one."""
    return [merge.merged(mine, kept, new) for kept in (record(old), {})]


def test_an_answer_stays_where_the_lesson_around_it_is_new():
    old = edition(OLD)
    new = edition(
        OLD | {"a": ["# A", "## 1", "better prose", "more", asks("f"), 'check("1.1", f)', "x = 2", "the end"]}
    )
    for made in both_ways(answered(old, "a", "f"), old, new):
        expected = texts(new)
        expected["a"][4] = "def f(x):\n    return 1"
        assert texts(made.lessons) == expected
        assert (made.kept["a"], made.both["a"], made.moved) == (1, 0, {})


def test_an_answer_goes_with_its_function_to_another_lesson_and_so_does_what_was_written_behind_it():
    old = edition(OLD)
    new = edition({"a": ["# A", "## 1", "prose"], "c": ["# C", asks("f"), 'check("2.1", f)', "the end"], "b": OLD["b"]})
    mine = answered(old, "a", "f")
    mine["a"].insert(4, {"cell_type": "markdown", "id": "my-note", "metadata": {}, "source": "why I did this"})
    for made in both_ways(mine, old, new):
        assert texts(made.lessons)["a"] == ["# A", "## 1", "prose"]
        assert texts(made.lessons)["c"] == [
            "# C",
            "def f(x):\n    return 1",
            "why I did this",
            'check("2.1", f)',
            "the end",
        ]
        assert (made.moved, made.reached) == ({"f": "c"}, {"a", "b", "c"})


def test_an_answer_goes_to_no_exercise_of_the_same_name_that_was_there_before():
    old = edition({"a": [asks("f")], "b": [asks("f", " # of b")]})
    new = edition({"a": ["# A"], "b": [asks("f", " # of b")]})
    for made in both_ways(answered(old, "a", "f"), old, new):
        assert texts(made.lessons) == {"a": ["def f(x):\n    return 1", merge.REPLACED, "# A"], "b": texts(new)["b"]}


@pytest.mark.parametrize("given_out", [["# A"], []])
def test_a_cell_of_the_learners_own_is_no_answer_of_another_lesson(given_out):
    old = edition({"a": given_out, "b": ["# B", asks("f")]})
    mine = copy.deepcopy(old)
    del mine["b"][1]
    mine["a"].append({"cell_type": "code", "id": "0badc0de-1", "metadata": {}, "source": "def f(x):\n    return 1"})
    assert texts(merge.merged(mine, record(old), old).lessons)["b"] == ["# B"]


def test_an_answer_goes_by_its_function_where_its_id_is_that_of_something_else():
    old, new = edition({"b": [asks("f")]}), edition({"b": ["## 1", asks("f")]})
    mine = {"b": [{"cell_type": "code", "metadata": {}, "source": "def f(x):\n    return 1", "id": new["b"][0]["id"]}]}
    made = merge.merged(mine, record(old), new)
    assert texts(made.lessons) == {"b": ["## 1", "def f(x):\n    return 1"]}
    assert merge.merged(made.lessons, record(new), new).lessons == made.lessons


def test_of_cells_with_one_id_that_is_the_lessons_which_has_its_text():
    old = edition({"a": ["# A", "## 1"]})
    mine = copy.deepcopy(old)
    mine["a"].insert(0, {"cell_type": "code", "metadata": {}, "source": "my own", "id": mine["a"][1]["id"]})
    made = merge.merged(mine, record(old), old)
    assert texts(made.lessons) == texts(mine)
    assert [cell["id"] for cell in made.lessons["a"][1:]] == [cell["id"] for cell in old["a"]]


def test_an_answer_whose_exercise_is_asked_in_other_words_still_is_what_runs():
    old = edition(OLD)
    new = edition(OLD | {"a": [asks("f", " # new"), 'check("1.1", f)']})
    for made in both_ways(answered(old, "a", "f"), old, new):
        cells = [cell for cell in made.lessons["a"] if cell["cell_type"] == "code"]
        assert [cell["source"] for cell in cells] == ["def f(x):\n    return 1", 'check("1.1", f)']
        [note] = [cell for cell in made.lessons["a"] if "f(x): # new" in cell["source"]]
        assert note["source"].startswith(merge.NOT_RUN)
        assert made.both["a"] == 1


def test_a_check_that_was_added_to_is_replaced_since_its_number_may_be_anothers():
    old = edition(OLD)
    mine = copy.deepcopy(old)
    mine["a"][4]["source"] += '\nhint("1.1")'
    new = edition(OLD | {"a": [asks("f"), 'check("1.7", f)']})
    for made in both_ways(mine, old, new):
        assert [cell["source"] for cell in made.lessons["a"] if cell["cell_type"] == "code"] == [
            asks("f"),
            'check("1.7", f)',
        ]
        assert 'hint("1.1")' in "".join(texts(made.lessons)["a"])


def test_of_a_cell_that_both_changed_the_learners_is_first():
    old = edition(OLD)
    new = edition(OLD | {"a": ["# A", "## 1 new", "prose", "x = 2"]})
    mine = copy.deepcopy(old)
    mine["a"][1]["source"], mine["a"][5]["source"] = "## 1 mine", "x = 7"
    made = merge.merged(mine, record(old), new)
    assert texts(made.lessons)["a"] == [
        "# A",
        "## 1 mine",
        merge.BESIDE,
        "## 1 new",
        "prose",
        "x = 7",
        merge.REPLACED,
        "x = 2",
    ]


def test_a_cell_that_was_deleted_stays_away_unless_it_is_new():
    old = edition(OLD)
    mine = copy.deepcopy(old)
    del mine["a"][1:3]
    new = edition(OLD | {"a": ["# A", "## 1 new", "prose"]})
    assert texts(merge.merged(mine, record(old), new).lessons)["a"] == ["# A", "## 1 new"]


def test_a_program_that_drops_the_ids_or_gives_others_changes_nothing():
    old = edition(OLD)
    new = edition(OLD | {"a": [*OLD["a"], "more"]})
    mine = answered(old, "a", "f")
    by_id = merge.merged(mine, record(old), new)
    for index, cell in enumerate(mine["a"]):
        cell["id"] = f"abc{index}"
    others = merge.merged(mine, record(old), new)
    for cell in mine["a"]:
        del cell["id"]
    assert texts(merge.merged(mine, record(old), new).lessons) == texts(others.lessons) == texts(by_id.lessons)
    assert [cell["id"] for cell in others.lessons["a"]] == [cell["id"] for cell in new["a"]]


def test_outputs_stay_with_a_cell_that_is_the_same():
    old = edition(OLD)
    mine = copy.deepcopy(old)
    mine["a"][5] |= {"outputs": ["1"], "execution_count": 3}
    made = merge.merged(mine, record(old), edition(OLD | {"a": ["x = 1", "x = 2"]}))
    assert made.lessons["a"][0]["outputs"] == ["1"]
    assert "outputs" not in made.lessons["a"][1]


# ---- whatever is changed

WORDS = ("a", "b", "c")
PIECES = ["# top", "## 1", "## 2", "prose", "more prose", "x = 1", "x = 2", 'check("1.1", f)', 'check("1.2", f)'] + [
    asks(name, says) for name in ("f", "g", "h") for says in ("", " # new")
]
lessons = st.dictionaries(st.sampled_from(WORDS), st.lists(st.sampled_from(PIECES), max_size=7), min_size=1).map(
    edition
)


@st.composite
def learners(draw, old):
    """What a learner made of an edition, and the words that they typed, each of which is nowhere else."""
    mine, typed = copy.deepcopy(old), []

    def word():
        typed.append(f"typed{len(typed)}.")
        return typed[-1]

    for cells in mine.values():
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(cells)))
            kind = draw(st.sampled_from(("change", "answer", "add", "copy", "delete", "swap")))
            if kind == "add" or place == len(cells):
                text = draw(st.sampled_from(("", "def f(x): ", "```\n")))
                name = draw(st.sampled_from(("mine-1", None, "section-1", "0badc0de-1")))
                added = {"cell_type": "code", "metadata": {}, "source": text + word()}
                cells.insert(place, added if name is None else added | {"id": name})
            elif kind == "copy":
                cells.insert(place, copy.deepcopy(cells[place]))
            elif kind == "delete":
                gone = cells.pop(place)["source"]
                typed[:] = [each for each in typed if each not in gone]
            elif kind == "swap":
                cells.insert(0, cells.pop(place))
            else:
                source = cells[place]["source"]
                fits = kind == "answer" and BLANK in source
                cells[place]["source"] = source.replace(BLANK, f"    return {word()}") if fits else f"{source} {word()}"
    return mine, typed


@st.composite
def cases(draw):
    old = draw(lessons)
    mine, typed = draw(learners(old))
    for word in list(mine):
        if len(mine) > 1 and draw(st.integers(0, 5)) == 0 and not any(each in str(mine[word]) for each in typed):
            del mine[word]
    return old, mine, typed, draw(lessons), draw(st.booleans())


@given(cases())
def test_nothing_typed_and_nothing_new_is_lost(case):
    old, mine, typed, new, is_recorded = case
    made = merge.merged(mine, record(old) if is_recorded else {}, new)
    there = "\n".join(cell["source"] for cells in made.lessons.values() for cell in cells)
    stays = "\n".join(cell["source"] for word, cells in mine.items() if word not in new for cell in cells)
    assert [each for each in typed if each not in there + stays] == []
    for word, cells in new.items():
        here = "\n".join(texts(made.lessons)[word])
        deleted = {cell["source"] for cell in old.get(word, [])} if is_recorded else set()
        answered = [cell["source"] for cell in made.lessons[word]]
        for cell in cells:
            assert cell["source"] in here or cell["source"] in deleted or any("typed" in each for each in answered)
        ids = [cell["id"] for cell in made.lessons[word]]
        assert len(set(ids)) == len(ids)


@given(cases())
def test_twice_is_once(case):
    old, mine, _, new, is_recorded = case
    once = merge.merged(mine, record(old) if is_recorded else {}, new)
    for known in (record(new), {}) if not is_recorded else (record(new),):
        assert merge.merged(once.lessons, known, new).lessons == once.lessons


@given(cases())
def test_without_a_record_twice_is_once_up_to_what_was_deleted(case):
    old, mine, typed, new, _ = case
    once = merge.merged(mine, record(old), new).lessons
    again = merge.merged(once, {}, new).lessons
    assert merge.merged(again, {}, new).lessons == again
    assert all(each in str(again) for each in typed if each in str(once))


@given(lessons, lessons)
def test_who_changed_nothing_gets_the_new_edition(old, new):
    made = merge.merged(old, record(old), new)
    assert made.lessons == new
    assert not any(made.kept.values())
    assert not any(made.both.values())


@given(lessons, st.data())
def test_an_update_to_the_same_edition_changes_nothing(old, data):
    mine, _ = data.draw(learners(old))
    with_ids = merge.merged(mine, record(old), old).lessons
    kept = {word: [cell["source"] for cell in cells if "typed" in cell["source"]] for word, cells in with_ids.items()}
    typed = {word: [cell["source"] for cell in cells if "typed" in cell["source"]] for word, cells in mine.items()}
    assert {word: sorted(each) for word, each in kept.items()} == {word: sorted(each) for word, each in typed.items()}


def test_an_update_that_was_cut_off_says_nothing_twice():
    """The lesson is new, and the record is not."""
    old = edition(OLD)
    new = edition(OLD | {"a": [asks("f", " # new"), "x = 2", 'check("1.2", f)']})
    once = merge.merged(answered(old, "a", "f"), record(old), new).lessons
    assert texts(merge.merged(once, record(old), new).lessons) == texts(once)


def test_nothing_given_is_changed():
    old = edition(OLD)
    mine, new = answered(old, "a", "f"), edition(OLD | {"a": [asks("f", " # new")]})
    del mine["a"][0]["id"]
    before = copy.deepcopy((mine, new))
    merge.merged(mine, record(old), new)
    assert (mine, new) == before


@pytest.mark.parametrize("text", ["\ud800", "a ``` b", "````\nx\n````"])
def test_a_text_of_any_kind_is_kept(text):
    old = edition(OLD)
    new = edition(OLD | {"a": [asks("f", " # new")]})
    made = merge.merged(answered(old, "a", "f", f"    return '''{text}'''"), record(old), new)
    assert text in "".join(texts(made.lessons)["a"])
