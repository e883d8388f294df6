"""What is said of an answer crosses as data: in the other process it is the same text, and nobody can forge more than one."""

import string

import made_up_language
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.base.languages import ENGLISH, JOINING, Said, again, as_data, say
from dpcourse.checking.calling import messages
from dpcourse.checking.calling.messages import OURS, STOPPED, UNWRITTEN, heard, sound
from dpcourse.checking.calling.probe import Probe
from dpcourse.checking.calling.values import type_name


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: 1 / 0,
        lambda x: [].append(1).append(2),
        lambda x: (1, 2).index(),
        lambda x: np_is_not_there.exp(x),  # noqa: F821
        lambda x: exec("raise KeyError"),
        3,
    ],
)
def test_what_an_answer_did_is_heard_as_it_was_said(answer):
    (outcome,) = Probe("answer").probe(answer, [{"x": 1.0}])
    (data,) = (outcome[key] for key in ("raised", "not_callable") if key in outcome)
    assert sound(data) == data
    assert isinstance(heard(data), Said)
    assert as_data(heard(data)) == data


def test_every_type_has_a_name_that_is_heard():
    for value in (True, "x", 1, 1.0, None, [1], (1, 2), {"type": "Curve"}, {}, object()):
        assert heard(as_data(type_name(value))) == type_name(value)


def test_a_text_of_an_older_edition_is_heard_as_it_is():
    assert heard("Your function stopped with ValueError (x).") == "Your function stopped with ValueError (x)."


def test_our_messages_take_plain_fields_only():
    """No width, no attribute and no conversion: whatever text stands in a field, filling it in costs no more than it."""
    for message in OURS:
        for _, name, spec, conversion in string.Formatter().parse(message):
            assert name is None or (name.isidentifier() and not spec and not conversion), message


@pytest.mark.parametrize(
    "forged",
    [
        {"message": "{name.__class__}", "fields": {"name": "x"}},
        {"message": "{name:>999999999}", "fields": {"name": "x"}},
        {"message": UNWRITTEN, "fields": {}},
        {"message": UNWRITTEN, "fields": {"name": "x", "more": "x"}},
        {"message": UNWRITTEN, "fields": {"name": "x" * 2000}},
        {"message": UNWRITTEN, "fields": {"name": float("nan")}},
        {"message": UNWRITTEN, "fields": {"name": 10**5000}},
        {"message": UNWRITTEN, "fields": {"name": {"message": "{0}", "fields": {}}}},
        {"message": UNWRITTEN, "fields": {"name": ["x"]}},
        {"message": UNWRITTEN, "fields": {"name": "x"}, "more": "x"},
        {"message": UNWRITTEN},
    ],
)
def test_what_is_not_ours_is_a_text_that_is_not_filled_in(forged):
    assert sound(forged) == heard(forged) == forged["message"]


def test_what_is_nested_too_deeply_is_not_filled_in():
    data = {"message": UNWRITTEN, "fields": {"name": "x"}}
    for _ in range(messages.DEEPEST):
        data = {"message": UNWRITTEN, "fields": {"name": data}}
    assert heard(data) == UNWRITTEN


def test_however_it_is_nested_what_is_heard_is_bounded_and_on_one_line():
    """Fields inside fields grow as a power of how deep they are: so the messages and fields are counted, all of them."""
    data = {"message": JOINING[0], "fields": {"first": "a\nb", "then": "c\r\nd"}}
    assert heard(data) == "a b c d"
    sizes = set()
    for _ in range(messages.DEEPEST):
        data = {"message": JOINING[0], "fields": {"first": data, "then": data}}
        assert len(str(heard(data)).splitlines()) == 1
        sizes.add(len(heard(data)))
    assert max(sizes) <= messages.MOST_PARTS * messages.LONGEST
    assert heard(data) == JOINING[0]
    assert heard("one\ntwo" * 1000) == messages.one_line("one\ntwo" * 1000)
    assert len(heard("one\ntwo" * 1000)) == messages.LONGEST


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([UNWRITTEN, STOPPED]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.sampled_from(["name", "kind", "message"]), inner, max_size=3)
        | st.fixed_dictionaries({"message": inner | st.sampled_from(sorted(OURS)), "fields": inner})
        | st.fixed_dictionaries({"message": st.just(UNWRITTEN), "fields": st.fixed_dictionaries({"name": inner})})
    ),
    max_leaves=8,
)


@pytest.mark.in_turn("seconds of waiting")
@given(anything)
def test_whatever_comes_is_heard_as_a_text_that_can_be_said_again(data):
    found = heard(data)
    assert isinstance(found, Said)
    assert again(found, ENGLISH) == found
    assert sound(sound(data)) == sound(data)


@pytest.mark.in_turn("seconds of waiting")
def test_what_is_said_here_is_said_in_the_language_of_the_judge():
    data = as_data(say(UNWRITTEN, name="f"))
    with made_up_language.spoken():
        assert heard(data) == "⟦Your function calls `f`, which is not written yet.⟧"


def test_no_text_grows_by_being_nested():
    long = "x" * messages.LONGEST
    nested = long
    for _ in range(messages.DEEPEST):
        nested = {"message": messages.STOPPED, "fields": {"kind": nested, "message": nested}}
    assert len(messages.heard(nested)) <= messages.MOST_PARTS * (messages.LONGEST + len(messages.STOPPED))
    assert len(messages.heard("x" * 10**6)) == messages.LONGEST
    honest = {"message": messages.STOPPED, "fields": {"kind": "ValueError", "message": long}}
    assert long in messages.heard(honest)
