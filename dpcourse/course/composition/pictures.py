"""The pictures of lesson 01."""

import math

import numpy as np
from matplotlib.patches import ConnectionPatch, Patch

from dpcourse import composition
from dpcourse.base import validate
from dpcourse.base.languages import say
from dpcourse.base.style import DARK, FIRST, FOURTH, GREY, HALVES, LIGHT, PALE, RING, SECOND, THIRD, Look, panels, power

COVERED: Look = LIGHT | {"hatch": None}
OVERLAP: Look = {"facecolor": "white", "edgecolor": FOURTH["color"], "hatch": "xxx"}


def two_hills(figure, k, epsilon=0.5) -> str:
    """The chance of each number of yes reports, for a true yes and a true no on one axis, and what the two have in common."""
    epsilon, k = validate.number("epsilon", epsilon, low=0), validate.whole("k", k)
    yeses, p, q, _ = _chances(epsilon, k)
    both = np.minimum(p, q)
    overlap = float(both.sum())
    (panel,) = panels(figure)
    panel.bar(yeses, q - both, 0.9, both, label=say("Q: the truth is no"), **DARK)
    panel.bar(yeses, p - both, 0.9, both, label=say("P: the truth is yes"), **COVERED)
    panel.bar(yeses, both, 0.9, label=say("both: the overlap"), **OVERLAP)
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.set_xlim(-0.6, k + 0.6)
    panel.set_ylim(0, 1.3 * max(p.max(), q.max()))
    panel.set_xlabel(say("number of yes reports among k = {k}", k=k))
    panel.set_ylabel(say("probability"))
    panel.legend(loc="upper center", ncols=3)
    panel.set_title(
        say(
            "k = {k}: the overlap is {overlap:.3f}; half of it, {error:.3f}, is the best attacker's error",
            k=k,
            overlap=overlap,
            error=overlap / 2,
        )
    )
    return say(
        "Bars for the number of yes reports among {k} with epsilon {epsilon:.2g} each: its probability P if the truth is "
        "yes, and Q if it is no, in one place. What Q has more lies to the left, and what P has more to the right. What they "
        "have in common is hatched; it adds up to {overlap:.3f}, and half of that is {error:.3f}.",
        k=k,
        epsilon=epsilon,
        overlap=overlap,
        error=overlap / 2,
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
    panel.set_xlabel(say("number of reports k about the same answer"))
    panel.set_ylabel(say("chance to guess the answer"))
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


def spill(figure, epsilon_total, epsilon=0.5, k=8) -> str:
    """P of each number of yes reports in front of Q, which e^epsilon_total has lifted; what stands above, in a cup: delta."""
    epsilon_total = validate.number("epsilon_total", epsilon_total, low=0)
    yeses, p, q, loss = _chances(epsilon, k)
    lifted = np.exp(np.minimum(epsilon_total - loss, 50)) * p
    covered = np.minimum(p, lifted)
    panel, cup = figure.subplots(1, 2, width_ratios=(5, 1))
    top = 1.15 * p.max()
    panel.bar(yeses, np.minimum(lifted, 2 * top), 0.96, color=PALE)
    for heights, look, label in ((q, FIRST | {"linestyle": ":"}, "Q"), (lifted, FIRST, "$e^{ε_{tot}}$ Q")):
        panel.plot(*_marks(yeses, np.where(heights < top, heights, np.nan)), **look, label=label)
    panel.bar(yeses, covered, 0.56, **COVERED)
    over = p > lifted * (1 + 1e-9)
    spills = (p - lifted)[over]
    delta = composition.optimal_delta(epsilon, 0, k, epsilon_total) if spills.size else 0.0
    panel.bar(yeses[over], spills, 0.56, lifted[over], **LIGHT)
    panel.set_ylim(0, top)
    panel.set_xlim(-0.6, k + 0.6)
    panel.set_xlabel(say("number of yes reports among k = {k}", k=k))
    panel.set_ylabel(say("probability"))
    panel.xaxis.get_major_locator().set_params(integer=True)
    title = say(
        "each report ε = {epsilon:.2g}; total ε = {epsilon_total:.3g}", epsilon=epsilon, epsilon_total=epsilon_total
    )
    figure.suptitle(title, x=0.45, fontsize=10.5)
    known = [*panel.lines, Patch(**COVERED, label=say("P, covered")), Patch(**LIGHT, label=say("spill"))]
    panel.legend(handles=known, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, borderaxespad=0.1)
    _pour(cup, spills, delta)
    if spills.size:
        bend = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.35", "mutation_scale": 14, "color": "black"}
        ends = (1.02, 0.55), (0.3, 0.86)
        figure.add_artist(ConnectionPatch(*ends, "axes fraction", "axes fraction", axesA=panel, axesB=cup, **bend))
    figure.subplots_adjust(top=0.82, wspace=0.2)
    return say(
        "Bars for the number of yes reports among {k} with epsilon {epsilon:.2g} each, if the truth is yes: P. "
        "Behind each bar stands Q, the probability if the truth is no, lifted by the factor e to the "
        "{epsilon_total:.3g}. What P has above it is hatched, and is poured into a cup, where it adds up to delta "
        "{delta:.3g}.",
        k=k,
        epsilon=epsilon,
        epsilon_total=epsilon_total,
        delta=delta,
    )


def _pour(cup, spills, delta):
    """Draw a cup that holds 1, with the spills in it, one on another."""
    cup.bar(np.zeros_like(spills), spills, 1, np.cumsum(spills) - spills, **LIGHT)
    cup.plot([-0.5, -0.5, 0.5, 0.5], [1, 0, 0, 1], color="black", linewidth=2.5)
    for mark in HALVES:
        cup.plot([0.5, 0.58], [mark, mark], color="black", linewidth=1)
        cup.text(0.63, mark, f"{mark:g}", va="center", fontsize=9)
    cup.set_title(f"δ = {delta:.3g}")
    cup.set_xlim(-0.7, 0.8)
    cup.set_ylim(-0.02, 1.3)
    cup.axis("off")


def _marks(places, heights):
    """A short level line at each place, as one line with gaps."""
    return np.ravel([places - 0.42, places + 0.42, places], "F"), np.ravel([heights, heights, np.nan * heights], "F")
