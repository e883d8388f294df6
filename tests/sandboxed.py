"""The mark of tests that need the sandbox: whether there is one is tried once."""

import pytest

from dpcourse.grading.run import bubblewrap

_missing = bubblewrap.missing()
NEEDS_SANDBOX = pytest.mark.skipif(_missing is not None, reason=str(_missing))
