"""The two surveys of the lessons, small enough to come with the package: nothing has to be fetched to read them.

Both are the tables of statsmodels 0.15, number by number; its terms stand in SOURCES.txt beside the files. A survey is an
array of rows: `survey[0]` is the first row, and `survey["age"]` the column of that name, one number for each row.
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def affairs() -> np.ndarray:
    """Return Fair's survey of married women: 6,366 rows, one for each woman; Mia's is the first.

    Columns: rate_marriage, 1 (very poor) to 5; age and yrs_married, in years; children; religious, 1 (not) to 4 (strongly);
    educ, years of school; occupation and occupation_husb, classes 1 to 6; affairs, the time spent in extramarital affairs,
    in a unit of Fair's. Years are those of intervals (SOURCES.txt).

    Source: Fair (1978), A theory of extramarital affairs, Journal of Political Economy 86.

    >>> survey = affairs()
    >>> len(survey), int((survey["affairs"] > 0).sum()), float(survey[0]["age"])
    (6366, 2053, 32.0)
    """
    return _rows("affairs.npz")


def insured() -> np.ndarray:
    """Return the RAND health insurance experiment: 20,190 rows, one for each person and year.

    Columns that lesson 01 uses: mdvis, visits to doctors; hlthg, hlthf, hlthp, 1 where people call their health good, fair
    or poor, and all 0 where excellent. The others (SOURCES.txt): lncoins, idp, lpi, fmde, physlm, disea.

    Source: Newhouse and others (1993), Free for all? Lessons from the RAND health insurance experiment.

    >>> people = insured()
    >>> len(people), int(people["mdvis"].max()), float(people["hlthp"].mean().round(4))
    (20190, 77, 0.015)
    """
    return _rows("insured.npz")


def _rows(name):
    """Return the table in a file; each call gives an array of its own."""
    with np.load(FOLDER / name) as stored:
        return stored["rows"]
