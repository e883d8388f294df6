"""Time limits within time limits."""

import itertools
import time

from dpcourse.probe import limits


def test_nested_limits_are_independent_of_leftover_time():
    for seconds, work in itertools.product((0.05, 0.2), (0.0, 0.5)):
        try:
            with limits.time_limit(seconds):
                time.sleep(work)
            assert work < seconds
        except limits.TimeUp:
            assert work > seconds
