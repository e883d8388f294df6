"""What an answer prints."""

import sys

from dpcourse.checking.calling import output


def test_what_is_printed_can_be_flushed_asked_and_written_as_bytes():
    with output.captured() as printed:
        print("a", flush=True)
        sys.stdout.buffer.write(b"b\xff")
        assert (sys.stdout.encoding.lower(), sys.stdout.isatty(), sys.stderr.writable()) == ("utf-8", False, True)
        assert sys.__stdout__ is None or sys.stdout.fileno() == sys.__stdout__.fileno()
    assert (printed.text, printed.count) == ("a\nb\N{REPLACEMENT CHARACTER}", 4)
