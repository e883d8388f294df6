"""The surveys that come with the package: number by number those of statsmodels, whose terms stand beside them."""

import importlib.metadata

import numpy as np
import pytest
from support import ROOT

from dpcourse import surveys

OF_STATSMODELS = {"affairs": "fair", "insured": "randhie"}


@pytest.mark.parametrize("name", OF_STATSMODELS)
def test_a_survey_is_the_table_of_statsmodels(name):
    import statsmodels.datasets

    table = getattr(statsmodels.datasets, OF_STATSMODELS[name]).load_pandas().data
    survey = getattr(surveys, name)()
    assert survey.dtype.names == tuple(table.columns)
    for column in table:
        assert np.array_equal(survey[column], table[column]), column


def test_the_terms_of_statsmodels_stand_beside_its_tables():
    said = (ROOT / "dpcourse/surveys/SOURCES.txt").read_text()
    (terms,) = [
        file
        for file in importlib.metadata.files("statsmodels")
        if file.name.startswith("LICENSE") and "info" in str(file)
    ]
    assert terms.read_text().strip() in said
    for owner in ("Included with permission of the author.", "This is in the public domain."):
        assert owner in said


def test_who_changes_a_survey_changes_no_other_cell():
    survey = surveys.affairs()
    survey["affairs"] = 0
    assert surveys.affairs()["affairs"].any()
