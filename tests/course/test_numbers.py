"""Numbers of the lessons' prose that no cell prints and that need no lesson's own code: each computed, and in the words there."""

import pytest
from scipy import stats
from support import ROOT

from dpcourse import course

SAID = [
    (0, "95 % of the estimates lie within {:.2f} standard errors", lambda: stats.norm.ppf(0.975)),
]


@pytest.mark.parametrize(("number", "phrase", "value"), SAID, ids=[phrase for _, phrase, _ in SAID])
def test_a_number_that_no_cell_prints_is_the_computed_one(number, phrase, value):
    said, name = phrase.format(value()), course.lesson(number).name
    text = (ROOT / f"solutions/{name}.md").read_text(encoding="utf-8")
    assert said in text, f"solutions/{name}.md does not say {said!r}"
