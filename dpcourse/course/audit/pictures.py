"""The pictures of lesson 07, and the one beside an answer that an audit accuses."""

import math

import numpy as np
from matplotlib.patches import Circle, Rectangle
from scipy.special import comb, ndtr

from dpcourse import audit
from dpcourse.base import rounding
from dpcourse.base.languages import listed, say, sentences, to_say
from dpcourse.base.style import (
    DARK,
    FIRST,
    FOURTH,
    HALVES,
    LIGHT,
    POINT,
    SECOND,
    THIRD,
    TYPE_I,
    TYPE_II,
    levels,
    panels,
    unit_square,
)
from dpcourse.course.audit.simulated import (
    CONFIDENCE,
    ONE_RUN,
    canary_mus,
    ceiling,
    guesses_of,
    mean_proved,
    one_run_scores,
    people,
    right_guesses,
    scores,
    seen,
    typically_proved,
)
from dpcourse.tradeoff import TradeOff, approx_dp, gaussian

GRID = levels()
JUDGED = to_say("refuted"), to_say("not refuted")
NOTHING = to_say("nothing is proved")
PROVED = to_say("proved: μ ≥ {proved}, promise refuted"), to_say("proved: μ ≥ {proved}")
PROVED_HERE = to_say("proved here: μ ≥ {proved}, promise refuted"), to_say("proved here: μ ≥ {proved}")
BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # a number is read where a line runs behind it


# ---- one threshold


def attack(figure, mu, runs, threshold, promise=1.0) -> str:
    """Left: scores of runs without Mia and with her. Right: what was promised, and the errors seen at all thresholds."""
    left, right = panels(figure, 2)
    _threshold(left, mu, runs, threshold)
    alpha, beta = _seen(right, mu, runs, threshold, promise)
    right.set_title(say("what was promised, and what was seen"))
    return say(
        "Left: histograms of the scores of {runs} runs without Mia and {runs} with her, and the threshold {threshold:.2g}. Right: the promised "
        "curve of mu {promise:g}, the curve seen, and the threshold's point: alpha {alpha:.3f}, beta {beta:.3f}.",
        runs=runs,
        threshold=threshold,
        promise=promise,
        alpha=alpha,
        beta=beta,
    )


def proof(figure, mu, runs, threshold, promise=1.0) -> str:
    """As `attack`, with the bounds on the errors of the threshold, and what these prove."""
    out, within = scores(mu, runs)
    left, right = panels(figure, 2)
    _threshold(left, mu, runs, threshold)
    alpha, beta = _seen(right, mu, runs, threshold, promise)
    each = (1 + CONFIDENCE) / 2
    most_alpha, most_beta = (audit.clopper_pearson(round(rate * runs), runs, each) for rate in (alpha, beta))
    proved = audit.mu_lower_bound(within, out, CONFIDENCE, threshold=threshold)
    right.add_patch(Rectangle((0, 0), most_alpha, most_beta, **LIGHT))
    right.plot(
        [most_alpha], [most_beta], color=SECOND["color"], marker="s", markersize=6, linestyle="none", clip_on=False
    )
    right.set_title(_proved(proved, promise, *PROVED))
    return say(
        "Left: histograms of the scores of {runs} runs without Mia and {runs} with her, and the threshold {threshold:.2g}. Right: the promised "
        "curve, the curve seen, and the threshold's point: alpha {alpha:.3f}, beta {beta:.3f}. With 95 percent confidence they are at most "
        "{most_alpha} and {most_beta}, which proves mu at least {proved}: the promise of {promise:g} is {judged}.",
        runs=runs,
        threshold=threshold,
        alpha=alpha,
        beta=beta,
        most_alpha=rounding.up(most_alpha, 3),
        most_beta=rounding.up(most_beta, 3),
        proved=rounding.down(proved, 2),
        promise=promise,
        judged=_judged(proved, promise, *JUDGED),
    )


def _proved(proved, promise, refuted, kept):
    """A title: what is proved, and whether the promise is refuted by it; that nothing is, where two digits show none."""
    return say(NOTHING) if proved < 0.01 else _judged(proved, promise, refuted, kept)


def _judged(proved, promise, refuted, kept):
    """One of two messages: of a promise that is refuted, or of one that is not."""
    return say(refuted if proved > promise else kept, proved=rounding.down(proved, 2), promise=promise)


def _threshold(left, mu, runs, threshold):
    """The scores of both kinds, and what the threshold makes of them."""
    out, within = scores(mu, runs)
    _histograms(left, np.linspace(-4, 8, 49), {say("with Mia"): within, say("without her"): out}, room=0.45)
    left.legend(loc="upper center", ncols=2, borderaxespad=0)
    left.axvline(threshold, ymax=0.82, color="black", linewidth=1)
    left.text(threshold, 0.82 * left.get_ylim()[1], say(' says "in" →'), va="top", fontsize=9)
    left.set_xlabel(say("score"))
    left.set_title(say("{runs:,} runs without Mia, {runs:,} with her", runs=runs))


def _seen(right, mu, runs, threshold, promise):
    """The promised curve, the curve seen, and the threshold's (alpha, beta), which it returns."""
    out, within = scores(mu, runs)
    alpha, beta = float(np.mean(out > threshold)), float(np.mean(within <= threshold))
    right.plot(GRID, gaussian(promise)(GRID), **FIRST, label=say("promised: G, μ = {promise:g}", promise=promise))
    right.plot(*seen(mu, runs), **FOURTH, label=say("seen, all thresholds"))
    right.plot([alpha], [beta], **POINT, clip_on=False)
    unit_square(right, ticks=HALVES)
    right.legend(loc="upper right", borderaxespad=0)
    return alpha, beta


def _histograms(panel, edges, named, room):
    """Two histograms, the first as an area and the second as a line. named: name -> scores; room: for the legend."""
    heights = [np.histogram(scores_, edges)[0] for scores_ in named.values()]
    for height, name, look in zip(heights, named, ({"fill": True, **LIGHT}, DARK | {"linewidth": 1.8}), strict=True):
        panel.stairs(height, edges, label=name, **look)
    panel.set_xlim(edges[0], edges[-1])
    panel.set_ylim(0, (1 + room) * max(map(max, heights)))
    panel.set_yticks([])


# ---- all thresholds


def band(figure, mu, runs, promise=1.0) -> str:
    """Left: the curve seen and its simultaneous band. Right: the mu that is proved, for every number of runs."""
    out, within = scores(mu, runs)
    found = audit.empirical_tradeoff(within, out, CONFIDENCE)
    proved = audit.mu_lower_bound(within, out, CONFIDENCE)
    left, right = panels(figure, 2)
    left.fill_between(GRID, found.lower(GRID), found.upper(GRID), **LIGHT, linewidth=0.5, label=say("band, 95 %"))
    left.plot(GRID, gaussian(promise)(GRID), **FIRST, label=say("promised: G, μ = {promise:g}", promise=promise))
    left.plot(*seen(mu, runs), **FOURTH, label=say("seen"))
    unit_square(left, ticks=HALVES)
    left.set_title(say("{runs:,} runs of each kind", runs=runs))
    left.legend(loc="upper right", borderaxespad=0)
    many = np.unique(np.geomspace(30, 10_000, 24).astype(int))
    right.plot(np.log10(many), [typically_proved(mu, int(n)) for n in many], **THIRD, label=say("proved, typically"))
    right.axhline(mu, **SECOND, label=say("truth: {mu:.2g}", mu=mu))
    right.axhline(promise, **FIRST, label=say("promise: {promise:g}", promise=promise))
    right.plot([math.log10(runs)], [proved], **POINT)
    right.set_xticks([2, 3, 4], ["100", "1,000", "10,000"])
    right.set_xlim(math.log10(30), 4.25)
    right.set_ylim(0, 1.55 * max(mu, promise))
    right.locator_params(axis="y", nbins=4)
    right.set_xlabel(say("runs of each kind"))
    right.set_title(_proved(proved, promise, *PROVED_HERE))
    right.legend(loc="upper left", ncols=2, borderaxespad=0)
    return say(
        "Left: the promised curve with mu {promise:g}, the curve seen in {runs} runs of each kind of a mechanism with mu {mu:.2g}, and its 95 "
        "percent band, from {least:.2f} to {most:.2f} at alpha 0.1. Right: the mu that is proved, against the number of "
        "runs. Here it is {proved}: the promise is {judged}.",
        promise=promise,
        runs=runs,
        mu=mu,
        least=found.lower(0.1),
        most=found.upper(0.1),
        proved=rounding.down(proved, 2),
        judged=_judged(proved, promise, *JUDGED),
    )


# ---- one run


def one_run(figure, mu, canaries, share) -> str:
    """Left: the scores of many canaries in one run, and the guesses. Right: the mu that more or fewer guesses prove."""
    values, coins = one_run_scores(mu, canaries)
    guesses = guesses_of(canaries, share)
    correct = int(right_guesses(mu, canaries)[guesses - 1])
    proved = audit.one_run_mu_lower_bound(correct, guesses, canaries, CONFIDENCE)
    left, right = panels(figure, 2)
    edges = np.linspace(-5, 5, 41) + mu / 2
    _histograms(left, edges, {say("in"): values[coins == 1], say("out"): values[coins == 0]}, room=0.4)
    reach = np.sort(np.abs(values - mu / 2))[-guesses]
    for cut in (mu / 2 - reach, mu / 2 + reach):
        left.axvline(cut, ymax=0.82, color="black", linewidth=1)
    left.set_xlabel(say("score of a canary; guessed outside the lines"))
    left.set_title(say("{correct:,} of {guesses:,} guesses right", correct=correct, guesses=guesses))
    left.legend(loc="upper right", ncols=2, borderaxespad=0)
    shares, mean, most = ONE_RUN["share"], mean_proved(mu, canaries), ceiling(canaries)
    right.axhline(mu, **FIRST, label=say("truth: {mu:.2g}", mu=mu))
    right.plot(np.log10(shares), most, **SECOND, label=say("all guesses right"))
    right.plot(np.log10(shares), mean, **THIRD, label=say("mean of many runs"))
    right.plot([math.log10(share)], [proved], **POINT, label=say("this run"))
    right.set_xticks([-2, -1, 0], ["1 %", "10 %", "100 %"])
    right.set_xlim(-2.05, 0.05)
    right.set_ylim(0, 2.3 * mu)
    right.locator_params(axis="y", nbins=4)
    right.set_ylabel("μ")
    right.set_xlabel(say("share of the canaries guessed for"))
    right.set_title(_proved(proved, math.inf, *PROVED))
    right.legend(
        loc="upper left",
        handlelength=2.6,
        borderaxespad=0,
        frameon=True,
        framealpha=1,
        facecolor="white",
        edgecolor="none",
    )
    best = int(np.argmax(mean))
    return say(
        "Left: histograms of the scores of {canaries} canaries in one run, those that are in and those that are out, with mu {mu:.2g}; of the "
        "{guesses} guesses at both ends {correct} are right. Right: the mu that is proved, against the share of canaries guessed for. This run "
        "proves {proved}, and the truth is {mu:.2g}. The mean of many runs is largest where {percent:.0f} percent are "
        "guessed for, {mean:.2f}. If all guesses were right, one run would prove from {least:.2f} to {most:.2f}.",
        canaries=canaries,
        mu=mu,
        guesses=guesses,
        correct=correct,
        proved=rounding.down(proved, 2),
        percent=100 * shares[best],
        mean=mean[best],
        least=most[0],
        most=most[-1],
    )


# ---- a canary, and a gap


def canary(figure, length, angle) -> str:
    """Left: a canary's vector, and what each way of clipping leaves of it. Right: the mu that it shows, for each mistake.

    length: in units of the clip norm; angle: from the first axis, in degrees.
    """
    shown = canary_mus(length, angle)
    vector = length * np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
    left, right = panels(figure, 2)
    left.plot(*people().T, "o", color="#6f6f6f", markersize=3)
    left.add_patch(Circle((0, 0), 1, fill=False, **_edge(FIRST)))
    left.add_patch(Rectangle((-1, -1), 2, 2, fill=False, **_edge(SECOND)))
    left.plot([0, vector[0]], [0, vector[1]], color="black", linewidth=1.2)
    left.plot(*vector, color="black", marker="*", markersize=10)
    left.plot(*(vector / max(1, length)), **POINT)
    left.plot(*np.clip(vector, -1, 1), color=SECOND["color"], marker="s", markersize=6, zorder=4)
    left.set_aspect("equal", anchor="W")
    left.set_xlim(-1.8, 3.3)
    left.set_ylim(-1.6, 3.5)
    left.set_xlabel(say("first coordinate"))
    left.set_ylabel(say("second coordinate"))
    left.set_title(say("length {length:.2g} R, {angle:.0f} degrees", length=length, angle=angle))
    names = list(shown)[::-1]
    bars = right.barh(range(len(names)), [min(shown[name], 3.2) for name in names], **LIGHT)
    for bar, name in zip(bars, names, strict=True):
        mu = shown[name]
        text = say("{mu:.2f}, accused", mu=mu) if mu > 1 + 1e-9 else f"{mu:.2f}"
        right.text(min(mu, 3.2) + 0.08, bar.get_y() + 0.4, text, va="center", fontsize=9, bbox=BEHIND, zorder=4)
    right.text(0.08, -1, say("in the size of the noise"), va="center", fontsize=9, bbox=BEHIND, zorder=4)
    right.axvline(1, ymax=0.9, **FIRST)
    right.text(1, len(names) - 0.28, say("promise"), fontsize=9, ha="center")
    right.set_yticks(range(-1, len(names)), [say("divisor"), *(say(name) for name in names)])
    right.set_ylim(-1.6, len(names) + 0.1)
    right.set_xlim(0, 5.2)
    right.set_xticks([0, 1, 2, 3])
    right.set_xlabel(say("μ that it shows in one round"))
    return say(
        "Left: a canary's vector of {length:.2g} times the clip norm at {angle:.0f} degrees, with the circle of clipping the whole vector and the "
        "square of clipping each coordinate. Right: the mu that this canary shows in one round, where 1 is promised: {mus}. "
        "A divisor made from the data shows in the size of the noise.",
        length=length,
        angle=angle,
        mus=listed(
            (say("{mistake} {mu:.2f}", mistake=say(name), mu=mu) for name, mu in shown.items()), "{first}, {then}"
        ),
    )


def _edge(look):
    return {"edgecolor": look["color"], "linestyle": look["linestyle"], "linewidth": 1.5}


def gap(figure, certified, found, final=None) -> str:
    """What is certified, what attacks prove, and between them the truth.

    certified: list of (epsilon, delta), each of them certified; found: name -> (scores_in, scores_out) of an attack;
    final: (noise multiplier, sample rate, steps), to draw the exact curve of the final weights as well.
    ValueError for more than three attacks.
    """
    looks = (FOURTH, THIRD, SECOND)
    if len(found) > len(looks):
        raise ValueError(f"found must hold at most {len(looks)} attacks, got {len(found)}: {', '.join(found)}")
    (panel,) = panels(figure)
    floor = np.max([approx_dp(*pair)(GRID) for pair in certified], axis=0)
    panel.fill_between(GRID, 0, floor, **LIGHT, linewidth=0, label=say("impossible, as is certified"))
    panel.plot(GRID, floor, **FIRST)
    proved = {}
    for (name, (scores_in, scores_out)), look in zip(found.items(), looks, strict=False):
        upper = audit.empirical_tradeoff(scores_in, scores_out, CONFIDENCE).upper
        proved[name] = upper(0.1)
        panel.plot(GRID, upper(GRID), **look, label=say("the truth lies below: {attack}", attack=name))
    bounds = [say("{beta:.2f} ({attack})", beta=beta, attack=name) for name, beta in proved.items()]
    told = [
        say(
            "Trade-off curves, at alpha 0.1. No test lies below {floor:.2f}, as is certified. With 95 percent confidence the "
            "true curve lies below {proved}.",
            floor=np.interp(0.1, GRID, floor),
            proved=listed(bounds, "{first}, {then}"),
        )
    ]
    if final is not None:
        alpha, beta = _final_weights(*final)
        panel.plot(alpha, beta, color="black", linewidth=1, label=say("exact: final weights"))
        at = float(np.interp(0.1, alpha[::-1], beta[::-1]))
        told.append(say("The exact curve of the final weights is at {beta:.2f}.", beta=at))
    unit_square(panel, ticks=HALVES)
    panel.set_title(say("between what is certified and what is proved"))
    panel.legend(loc="upper right", borderaxespad=0)
    return sentences(told)


def _final_weights(noise_multiplier, sample_rate, steps):
    """Exact (alpha, beta) of the final weights at many thresholds; a step draws the canary with the sample rate."""
    deviation, draws = noise_multiplier * math.sqrt(steps), np.arange(steps + 1)
    cuts = np.linspace(-6 * deviation, steps + 6 * deviation, 601)
    chances = comb(steps, draws) * sample_rate**draws * (1 - sample_rate) ** (steps - draws)
    return ndtr(-cuts / deviation), ndtr((cuts[:, None] - draws) / deviation) @ chances


# ---- an answer that is accused


def audited(figure, name, promise, scores_in, scores_out, found) -> str:
    """What was promised, what an attack saw, and the test that the promise does not allow.

    name, promise: of the promise, a TradeOff. scores_in, scores_out: of the attack. found: an audit.Refutation.
    """
    (panel,) = panels(figure)
    alpha = np.linspace(0, 1, 401)
    panel.plot(alpha, promise(alpha), **FIRST, label=say("{promise}, the promise: no test lies below", promise=name))
    panel.plot(
        alpha,
        TradeOff.from_samples(scores_out, scores_in)(alpha),
        **SECOND,
        label=say("tests of your answer, as seen"),
    )
    panel.fill_between([0, found.alpha], found.beta, **LIGHT, linewidth=0, label=say("one of them lies in here"))
    panel.plot([found.alpha], [found.beta], **POINT)
    panel.plot(
        [found.alpha, found.alpha],
        [found.beta, found.least],
        color="black",
        linewidth=1.2,
        marker="_",
        label=say("so far below the promise"),
    )
    panel.set_xlim(-0.02, 1)  # a curve may lie on the axes
    panel.set_ylim(-0.02, 1)
    panel.set_aspect("equal", anchor="W")
    panel.set_xlabel(say(TYPE_I))
    panel.set_ylabel(say(TYPE_II))
    panel.legend(
        loc="upper left",
        bbox_to_anchor=(1.05, 1),
        title=say("with confidence {confidence:g}", confidence=found.confidence),
        alignment="left",
    )
    alpha, beta, least = found.as_text
    return say(
        "The curve of {promise} and, below it, that of the tests which were tried on your answer. One test is marked: with "
        "confidence {confidence:g} its false alarms are at most {alpha} and its misses at most {beta}, where {promise} allows misses of {least} "
        "or more.",
        promise=name,
        confidence=found.confidence,
        alpha=alpha,
        beta=beta,
        least=least,
    )


# ---- you are the attacker

HOW = {"hand": to_say("you, by hand"), "rule": to_say("you, by a rule")}


def told_apart(figure, attack, played) -> str:
    """What was promised of a mechanism, and how well a learner told its outputs apart.

    attack: a course.attack.Attack. played: how -> a notebook.attacker.Played, by hand and by a rule.
    """
    (panel,) = panels(figure)
    promise = attack.promise()
    panel.plot(
        GRID, promise(GRID), **FIRST, label=say("promised: no test lies below ({promise})", promise=say(attack.named))
    )
    panel.plot([0, 1], [1, 0], **FOURTH, label=say("guesses by a coin"))
    looks = {"hand": SECOND["color"], "rule": "black"}
    by, best = max(played.items(), key=lambda each: each[1].mu)
    if best.mu:
        curve = say("proved, {who}: μ ≥ {mu}", who=say(HOW[by]), mu=rounding.down(best.mu, 2))
        panel.plot(GRID, gaussian(best.mu)(GRID), **SECOND, label=curve)
    told = []
    for how, each in played.items():
        marker = {"hand": "s", "rule": "o"}[how]
        panel.plot([each.alpha], [each.beta], **POINT | {"marker": marker, "color": looks[how]}, label=say(HOW[how]))
        told.append(
            say("{who}: alpha {alpha:.3f}, beta {beta:.3f}", who=say(HOW[how]), alpha=each.alpha, beta=each.beta)
        )
    unit_square(panel)
    panel.set_aspect("equal", anchor="W")
    panel.legend(loc="upper left", bbox_to_anchor=(1.05, 1), alignment="left")
    return say(
        "The promised curve ({promise}), the line of guesses by a coin, and the points of {played}. Proved is a mu of {mu}.",
        promise=say(attack.named),
        played=listed(told, "{first}; {then}", "{first}; {then}"),
        mu=rounding.down(best.mu, 2),
    )
