"""The pictures of lesson 01."""

import math

import numpy as np
from matplotlib.patches import Patch

from dpcourse import composition
from dpcourse.base import validate
from dpcourse.base.languages import listed, say
from dpcourse.base.style import DARK, FIRST, FOURTH, GREY, LIGHT, PALE, RING, SECOND, THIRD, panels, power


def two_hills(figure, epsilon, ks=(1, 2, 8, 20)) -> str:
    """The chance of each number of yes reports, for a true yes beside a true no: the two bars of lesson 00, for more reports."""
    epsilon = validate.number("epsilon", epsilon, low=0)
    shared = []
    for panel, k in zip(panels(figure, len(ks)), ks, strict=True):
        yeses, p, q, _ = _chances(epsilon, k)
        panel.bar(yeses - 0.2, p, 0.4, label=say("P: the truth is yes"), **DARK)
        panel.bar(yeses + 0.2, q, 0.4, label=say("Q: the truth is no"), **LIGHT)
        panel.xaxis.get_major_locator().set_params(integer=True)
        panel.set_ylim(0, 1.06 * p.max())
        panel.set_title(f"k = {k}")
        panel.set_xlabel(say("yes reports"))
        shared.append(float(np.minimum(p, q).sum()))
    figure.axes[0].set_ylabel(say("probability"))
    figure.subplots_adjust(top=0.78, wspace=0.42)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="upper center", ncols=2)
    parts = [say("{part:.2f} for k = {k}", part=part, k=k) for part, k in zip(shared, ks, strict=True)]
    return say(
        "Pairs of bars: the probability of each number of yes reports if the truth is yes, P, and if it is no, "
        "Q; each report has epsilon {epsilon:.2g}. The two hills move apart as the number of reports k grows. "
        "What they have in common is {parts}.",
        epsilon=epsilon,
        parts=listed(parts, "{first}, {then}"),
    )


def _chances(epsilon, k):
    """By the number of yes reports: (these numbers, rising; P; Q; the loss)."""
    loss, log_p = composition.losses(epsilon, k)
    return np.arange(k + 1), np.exp(log_p)[::-1], np.exp(log_p - loss)[::-1], loss[::-1]


def repeated(figure, epsilon, k) -> str:
    """How often a majority vote over k reports gives the bit away, below the sequential composition bound."""
    epsilon, k = validate.number("epsilon", epsilon, low=0), validate.whole("k", k)
    counts = np.arange(1, k + 1)
    guess = np.array([majority_is_right(epsilon, count) for count in counts])
    bound = 1 / (1 + np.exp(-counts * epsilon))
    (panel,) = panels(figure)
    panel.plot(counts, bound, **SECOND, label=say("most that kε-DP allows"))
    panel.plot(counts, guess, **FIRST, label=say("majority of the reports"))
    panel.axhline(0.5, **FOURTH, label=say("a blind guess"))
    panel.set_ylim(0.48, 1.01)
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel(say("number of reports k about the same bit"))
    panel.set_ylabel(say("chance to guess the bit"))
    panel.set_title(say("ε = {epsilon:.2g} for each report", epsilon=epsilon))
    panel.legend()
    return say(
        "The chance to guess a bit from k randomized reports with epsilon {epsilon:.2g} each. The majority is "
        "right with probability {at_first:.2f} after one report and {at_last:.2f} after {k}. It is nowhere above "
        "the bound for k epsilon, which is {bound:.2f} at the end.",
        epsilon=epsilon,
        at_first=guess[0],
        at_last=guess[-1],
        k=k,
        bound=bound[-1],
    )


def majority_is_right(epsilon, k):
    """The chance that the majority of k randomized responses is the true bit; a tie counts one half.

    >>> round(majority_is_right(math.log(3), 1), 12)
    0.75
    """
    _, log_p = composition.losses(epsilon, k)
    kept = k - np.arange(k + 1)
    p = np.exp(log_p)
    return float(p[2 * kept > k].sum() + p[2 * kept == k].sum() / 2)


def posterior(figure, epsilon) -> str:
    """The largest and the smallest belief that an epsilon-DP answer can leave, against the belief before."""
    epsilon = validate.number("epsilon", epsilon, low=0)
    prior = np.linspace(0, 1, 201)
    up, down = (prior * math.exp(s) / (prior * math.exp(s) + 1 - prior) for s in (epsilon, -epsilon))
    (panel,) = panels(figure)
    panel.fill_between(prior, down, up, color=GREY)
    panel.plot(prior, up, **FIRST, label=say("highest belief after"))
    panel.plot(prior, down, **SECOND, label=say("lowest belief after"))
    panel.plot(prior, prior, **FOURTH, label=say("belief before"))
    panel.set_xlabel(say("belief before, of somebody who knows all other rows"))
    panel.set_ylabel(say("belief after"))
    panel.set_title(
        say("ε = {epsilon:.2g}: who knows all other rows moves in belief only inside the band", epsilon=epsilon),
        loc="left",
    )
    panel.set_xlim(0, 1)
    panel.set_ylim(0, 1)
    figure.subplots_adjust(right=0.7)
    panel.legend(loc="upper left", bbox_to_anchor=(1.02, 1))
    half = 1 / (1 + math.exp(-epsilon))
    return say(
        "Belief after an answer with epsilon {epsilon:.2g} against belief before. The band around the diagonal "
        "is widest in the middle: a belief of 0.5 becomes at most {highest:.2f} and at least {lowest:.2f}. At 0 and "
        "at 1 nothing moves.",
        epsilon=epsilon,
        highest=half,
        lowest=1 - half,
    )


def walks(figure, epsilon, k, delta_prime, paths=40, seed=1) -> str:
    """Privacy losses of k randomized responses as random walks, with basic and advanced bound and the exact quantile."""
    epsilon, k = validate.number("epsilon", epsilon, low=0), validate.whole("k", k)
    steps = np.where(np.random.default_rng(seed).random((paths, k)) < 1 / (1 + math.exp(-epsilon)), epsilon, -epsilon)
    counts = np.arange(1, k + 1)
    (panel,) = panels(figure)
    losses = np.cumsum(steps, axis=1)
    panel.plot(counts, losses.T, color=PALE, linewidth=0.8)
    panel.plot([], [], color=PALE, label=say("{paths} runs", paths=paths))
    bound = [composition.advanced(epsilon, 0, count, delta_prime)[0] for count in counts]
    mean = counts * epsilon * math.tanh(epsilon / 2)
    panel.plot(counts, counts * epsilon, **SECOND, label=say("basic: kε"))
    panel.plot(counts, bound, **FIRST, marker="s", markersize=4, markevery=0.1, label=say("advanced: ε′"))
    some = np.unique(np.linspace(1, k, min(k, 100)).astype(int))
    exact = [quantile(epsilon, count, delta_prime) for count in some]
    panel.plot(some, exact, **THIRD, label=say("exact: passed with\nchance δ′ at most"))
    panel.plot(counts, mean, **FOURTH, label=say("mean loss"))
    top = min(max(k * epsilon, bound[-1]), 1.3 * bound[-1])
    panel.set_ylim(min(-0.1 * top, 1.1 * losses.min()), 1.05 * top)
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlabel(say("number of answers k"))
    panel.set_ylabel(say("privacy loss so far"))
    panel.set_title(
        say("ε = {epsilon:.2g} for each answer, slack δ′ = {slack}", epsilon=epsilon, slack=power(delta_prime))
    )
    figure.subplots_adjust(right=0.73)
    panel.legend(loc="upper left", bbox_to_anchor=(1.02, 1))
    return say(
        "{paths} random walks of the privacy loss over {k} answers with epsilon {epsilon:.2g}. They drift up "
        "slowly, to {mean:.2g} on average at the end, and none of them is above {highest:.2g}. The basic bound rises "
        "to {basic:.3g}, the advanced bound to {advanced:.3g}; the loss that is passed with a chance of at most "
        "{delta_prime:.0e} is {exact:.3g}.",
        paths=paths,
        k=k,
        epsilon=epsilon,
        mean=mean[-1],
        highest=losses.max(),
        basic=k * epsilon,
        advanced=bound[-1],
        delta_prime=delta_prime,
        exact=exact[-1],
    )


def quantile(epsilon, k, chance):
    """The smallest loss of k randomized responses that is passed with at most this chance.

    >>> quantile(1.0, 2, 0.5), quantile(1.0, 2, 0.6)
    (2.0, 0.0)
    """
    loss, log_p = composition.losses(epsilon, k)
    above = np.r_[0, np.cumsum(np.exp(log_p))[:-1]]  # of passing loss[i]
    return float(loss[np.flatnonzero(above <= chance)[-1]])


def bounds(figure, epsilon, k, delta) -> str:
    """Total epsilon of 1..k pure answers at total delta: basic, advanced, optimal, with the crossing marked."""
    epsilon, k = validate.number("epsilon", epsilon, low=0, open_low=True), validate.whole("k", k, low=2)
    counts = np.arange(1, k + 1)
    basic = counts * epsilon
    advanced = np.array([composition.advanced(epsilon, 0, count, delta)[0] for count in counts])
    some = np.unique(np.linspace(1, k, min(k, 80)).astype(int))
    optimal = np.array([composition.optimal(epsilon, 0, count, delta) for count in some])
    (panel,) = panels(figure)
    panel.plot(counts, basic, **SECOND, label=say("basic: kε"))
    panel.plot(counts, advanced, **FIRST, marker="s", markersize=4, markevery=0.1, label=say("advanced: ε′"))
    wide = {
        "color": THIRD["color"],
        "linewidth": 7,
        "alpha": 0.45,
        "zorder": 1,
    }  # where it is basic, basic is seen on it
    panel.plot(some, optimal, **wide, label=say("optimal"))
    better = np.flatnonzero(advanced < basic)
    crossing = say("advanced is not below basic up to k = {k}", k=k)
    if better.size:
        panel.plot(counts[better[0]], advanced[better[0]], **RING, markersize=8)
        crossing = say("advanced is below basic from k = {k}", k=counts[better[0]])
    panel.set_ylim(0, 1.1 * max(basic[-1], min(advanced[-1], 3 * basic[-1])))
    panel.set_xlabel(say("number of answers k"))
    panel.set_ylabel(say("total ε"))
    panel.set_title(
        say(
            "each answer ε = {epsilon:.2g}; total δ = {delta}; {crossing}",
            epsilon=epsilon,
            delta=power(delta),
            crossing=crossing,
        )
    )
    panel.legend(loc="upper left")
    return say(
        "Total epsilon against the number of answers, each with epsilon {epsilon:.2g}, at delta {delta:.0e}. At "
        "k = {k} basic composition gives {basic:.3g}, advanced {advanced:.3g}, optimal {optimal:.3g}; {crossing}.",
        epsilon=epsilon,
        delta=delta,
        k=k,
        basic=basic[-1],
        advanced=advanced[-1],
        optimal=optimal[-1],
        crossing=crossing,
    )


def spill(figure, epsilon, k, epsilon_total) -> str:
    """The chance P of each number of yes reports if the truth is yes, Q if it is no, what e^epsilon_total Q allows, the rest."""
    epsilon_total = validate.number("epsilon_total", epsilon_total, low=0)
    yeses, p, q, loss = _chances(epsilon, k)
    allowed = np.exp(np.minimum(epsilon_total - loss, 50)) * p
    delta = composition.optimal_delta(epsilon, 0, k, epsilon_total)
    (panel,) = panels(figure)
    panel.bar(yeses, np.minimum(p, allowed), 0.85, color=PALE, label=say("P, covered"))
    over = p > allowed
    panel.bar(yeses[over], (p - allowed)[over], 0.85, bottom=allowed[over], **LIGHT)
    top = 1.35 * p.max()
    for heights, look, label in ((q, SECOND, "Q"), (allowed, FIRST, "$e^{ε_{tot}}$ Q")):
        panel.plot(*_marks(yeses, np.where(heights < 0.85 * top, heights, np.nan)), **look, label=label)
    panel.set_ylim(0, top)
    panel.set_xlim(-0.6, k + 0.6)
    panel.set_xlabel(say("number of yes reports among k = {k}", k=k))
    panel.set_ylabel(say("probability"))
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_title(
        say(
            "each report ε = {epsilon:.2g}; total ε = {epsilon_total:.2g} leaves δ = {delta:.3g}",
            epsilon=epsilon,
            epsilon_total=epsilon_total,
            delta=delta,
        )
    )
    panel.legend(
        handles=[
            Patch(color=PALE, label=say("P, covered")),
            Patch(**LIGHT, label=say("spill: adds up to δ")),
            *panel.lines,
        ],
        loc="upper center",
        ncols=4,
    )
    return say(
        "Bars for the number of yes reports among {k} with epsilon {epsilon:.2g} each, if the truth is yes: P. "
        "At each bar a dashed mark shows Q, the probability if the truth is no, and a solid mark e to the "
        "{epsilon_total:.2g} times Q. The part of each bar above the solid mark is hatched; these parts add up "
        "to delta {delta:.2g}.",
        k=k,
        epsilon=epsilon,
        epsilon_total=epsilon_total,
        delta=delta,
    )


def _marks(places, heights):
    """A short level line at each place, as one line with gaps."""
    return np.ravel([places - 0.42, places + 0.42, places], "F"), np.ravel([heights, heights, np.nan * heights], "F")
