"""The pictures of lesson 06, and the one beside an answer that an audit accuses."""

import numpy as np

from dpcourse.plots.frame import FIRST, LIGHT, SECOND, panels
from dpcourse.plots.gdp import ALPHA, BETA, POINT
from dpcourse.tradeoff import TradeOff


def audited(figure, name, promise, scores_in, scores_out, found):
    """What was promised, what an attack saw, and the test that the promise does not allow.

    name, promise: of the promise, a TradeOff. scores_in, scores_out: of the attack. found: an audit.Refutation.
    """
    (panel,) = panels(figure)
    alpha = np.linspace(0, 1, 401)
    panel.plot(alpha, promise(alpha), **FIRST, label=f"{name}, the promise: no test lies below")
    panel.plot(
        alpha, TradeOff.from_samples(scores_out, scores_in)(alpha), **SECOND, label="tests of your answer, as seen"
    )
    panel.fill_between([0, found.alpha], found.beta, **LIGHT, linewidth=0, label="one of them lies in here")
    panel.plot([found.alpha], [found.beta], **POINT)
    panel.plot([found.alpha, found.alpha], [found.beta, found.least], color="black", linewidth=1.2)
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    panel.set_aspect("equal", anchor="W")
    panel.set_xlabel(ALPHA)
    panel.set_ylabel(BETA)
    panel.legend(
        loc="upper left", bbox_to_anchor=(1.05, 1), title=f"with confidence {found.confidence:g}", alignment="left"
    )
    return (
        f"The curve of {name} and, below it, that of the tests which were tried on your answer. One test is marked: with "
        f"confidence {found.confidence:g} its false alarms are at most {found.alpha:.3f} and its misses at most "
        f"{found.beta:.3f}, where {name} allows misses of {found.least:.3f} or more."
    )
