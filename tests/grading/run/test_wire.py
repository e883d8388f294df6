"""What crosses between grader and worker arrives as it was sent, or is refused."""

import contextlib
import io

import pytest
from grading.plain import same, values
from hypothesis import given
from hypothesis import strategies as st

from dpcourse.grading.run import wire


@given(values)
def test_plain_data_arrives_as_it_was_sent(value):
    stream = io.BytesIO(wire.pack(value))
    assert same(wire.receive(stream.read), value)
    assert not stream.read()


@given(st.binary(max_size=200), st.binary(max_size=50))
def test_whatever_else_comes_is_refused_and_does_no_harm(text, raw):
    with contextlib.suppress(wire.Garbled):
        wire.unpack(text, raw)


@pytest.mark.parametrize(
    "text",
    [
        '{"array": "f8", "shape": [1000000000000]}',
        '{"array": "f8", "shape": [-1]}',
        '{"array": "f8", "shape": [1.5]}',
        '{"array": "O8", "shape": [1]}',
        '{"array": "V8", "shape": [1]}',
        '{"array": "f8", "shape": [1, 1, 1, 1, 1, 1, 1, 1, 1]}',
        '{"array": ["f8"], "shape": "x"}',
        '{"tuple": 5}',
        '{"dict": []}',
        '{"neither": 1}',
        "[" * 100_000,
        "[" * 50 + "]" * 50,
        "9" * 10_000,
    ],
)
def test_a_forged_message_is_refused(text):
    with pytest.raises(wire.Garbled):
        wire.unpack(text.encode(), bytes(16))


@pytest.mark.parametrize("item", ["[]", '{"dict":{}}'])
def test_a_message_takes_little_more_memory_than_its_bytes(item):
    text = f"[{','.join([item] * (wire.MOST_JSON // (len(item) + 1)))}]".encode()
    assert len(text) <= wire.MOST_JSON
    with pytest.raises(wire.Garbled, match="too many"):
        wire.unpack(text, b"")


def test_no_length_is_believed():
    with pytest.raises(wire.Garbled, match="too large"):
        wire.receive(io.BytesIO(b"\xff" * 100).read)
    with pytest.raises(wire.Garbled, match="too large"):
        wire.pack([0.5] * 1_000_000)
