"""You are the attacker: in or out, said of outputs of a lesson's mechanism, by hand or by a rule of one's own.

By hand a learner is told after each output whether they were right. Every choice that is played to its end gives two error
rates, and these prove a mu; the largest of each lesson is kept with the learner's progress.
"""

import html
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcourse import course
from dpcourse.base import rounding
from dpcourse.base.languages import say, sentences
from dpcourse.checking.calling.values import plain, show
from dpcourse.checking.display import RIGHT_COLOUR, WRONG_COLOUR, Told
from dpcourse.notebook import aria
from dpcourse.notebook.progress import Kept, keep

if TYPE_CHECKING:  # what draws and proves is loaded when somebody plays
    from dpcourse.course.attack import Attack

BY_HAND, BY_RULE = 40, 10_000
"""So many outputs are judged."""
SEED = "DPCOURSE_SEED"
"""Names the seed of outputs for which none is given, in the environment of a build: its notebooks are the same each time."""
CONFIDENCE = {"hand": 0.95, "rule": 0.999}  # a rule can be played again and again

_played: dict[str, dict[str, "Played"]] = {}  # lesson word -> how -> the best in this kernel


@dataclass(frozen=True)
class Played:
    """How an attack went: of so many outputs without her and with her, how many were called wrongly, and the mu proved."""

    false_alarms: int
    without: int
    misses: int
    within: int
    confidence: float

    @classmethod
    def of(cls, is_in: np.ndarray, said: np.ndarray, how: str) -> "Played":
        """Count; is_in, said: boolean arrays; how: by "hand" or by a "rule"."""
        return cls(
            false_alarms=int(np.sum(said & ~is_in)),
            without=int(np.sum(~is_in)),
            misses=int(np.sum(~said & is_in)),
            within=int(np.sum(is_in)),
            confidence=CONFIDENCE[how],
        )

    @property
    def alpha(self) -> float:
        """The share of false alarms; 0 where there was no output without her."""
        return self.false_alarms / max(self.without, 1)

    @property
    def beta(self) -> float:
        """The share of misses; 0 where there was no output with her."""
        return self.misses / max(self.within, 1)

    @property
    def mu(self) -> float:
        """The mu proved: no smaller one is true, with this confidence."""
        from dpcourse import audit

        if not (self.within and self.without):
            return 0.0
        within = np.repeat([0.0, 1.0], [self.misses, self.within - self.misses])
        without = np.repeat([1.0, 0.0], [self.false_alarms, self.without - self.false_alarms])
        return audit.mu_lower_bound(within, without, self.confidence, threshold=0.5)


def attack(lesson: int, rule: Callable | None = None, rng: np.random.Generator | int | None = None) -> None:
    """Play the attacker of a lesson, by its number: with buttons, or by a rule that is tried on many outputs.

    rule(output): True for in, False for out; an output is a number, or an array of several. rng: of the outputs.
    Says a sentence in the place of an error.
    """
    from IPython.display import display

    of = course.lesson(lesson)
    if not of.has("attack"):
        display(Told(say("Lesson {lesson} has nothing to attack.", lesson=f"{lesson:02}")))
        return
    mechanism = of.part("attack").ATTACK
    if rng is None and SEED in os.environ:
        rng = int(os.environ[SEED])
    rng = np.random.default_rng(rng)
    if rule is None:
        game = Game(of, mechanism, rng)
        note = say("Where buttons do not work, write a rule: `attack({lesson}, rule)`.", lesson=lesson)
        text = sentences([say(mechanism.published), note])
        aria.show(game.box, {"text/html": f"<p>{html.escape(text)}</p>", "text/plain": text})
        return
    is_in = rng.random(BY_RULE) < 0.5
    try:
        said = _said_by(rule, mechanism.outputs(rng, is_in))
    except ValueError as error:
        display(Told(str(error)))
        return
    _end(of, mechanism, "rule", Played.of(is_in, said, "rule"))


def _said_by(rule, outputs):
    """Return what a rule says of each output, as a boolean array. ValueError, in a sentence, where it says something else."""
    if not callable(rule):
        raise ValueError(say("A rule is a function, given without brackets, got {what}.", what=repr(rule)))
    said = []
    for output in outputs:
        value = output.item() if np.ndim(output) == 0 else output.copy()
        try:
            answer = rule(value)
        except Exception as error:
            name = type(error).__name__
            raise ValueError(
                say("Your rule stopped at {output}: {error}.", output=show(plain(value)), error=f"{name}: {error}")
            ) from error
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(
                say(
                    "Your rule must say True for in or False for out, got {what} for {output}.",
                    what=repr(answer),
                    output=show(plain(value)),
                )
            )
        said.append(bool(answer))
    return np.array(said)


def _end(of, mechanism, how, played):
    """Show how an attack went, beside what was promised and what was reached before; keep the mu."""
    from IPython.display import display

    from dpcourse import plots

    best = _played.setdefault(of.word, {})
    if how not in best or played.mu >= best[how].mu:
        best[how] = played
    if played.mu:
        keep(Kept(proved={of.word: float(rounding.down(played.mu, 4))}))
    display(Told(_told(mechanism, played)))
    plots.show(plots.told_apart, attack=mechanism, played={**best, how: played})


def _told(mechanism, played):
    """Return what an attack proved, in sentences."""
    counted = say(
        'You said "{inside}" {alarms} times of {without} where it was "{outside}" (α = {alpha:.3f}), and "{outside}" {misses} times '
        'of {within} where it was "{inside}" (β = {beta:.3f}).',
        inside=say(mechanism.inside),
        outside=say(mechanism.outside),
        alarms=played.false_alarms,
        without=played.without,
        misses=played.misses,
        within=played.within,
        alpha=played.alpha,
        beta=played.beta,
    )
    if played.mu < 0.01:
        return sentences([counted, say("This proves nothing yet: a guess by a coin could have had such errors.")])
    proved = say(
        "With confidence {confidence:g} this proves a μ of at least {mu}, if one rule made all these choices.",
        confidence=played.confidence,
        mu=rounding.down(played.mu, 2),
    )
    return sentences([counted, proved])


class Game:
    """An attack by hand: one output after the other, two buttons, and at the end what it proves."""

    def __init__(self, of: course.Lesson, mechanism: "Attack", rng: np.random.Generator):
        import ipywidgets

        self.of, self.mechanism = of, mechanism
        self.is_in = rng.random(BY_HAND) < 0.5
        self.outputs = mechanism.outputs(rng, self.is_in)
        self.said: list[bool] = []
        about = ipywidgets.HTML(f"<p>{html.escape(say(mechanism.published))}</p>")
        self.asked, self.reply, self.end = ipywidgets.HTML(), ipywidgets.HTML(), ipywidgets.Output()
        self.buttons = [
            ipywidgets.Button(description=say(word), layout={"width": "8em"})
            for word in (mechanism.inside, mechanism.outside)
        ]
        for button, is_in in zip(self.buttons, (True, False), strict=True):
            button.on_click(lambda _, is_in=is_in: self.answer(is_in))
        pair = ipywidgets.HBox(self.buttons)
        pair.add_class(aria.PAIR)
        by_keys = say("By keyboard: ← and → go from one button to the other, Enter presses it.")
        keys = ipywidgets.HTML(f"<p><small>{html.escape(by_keys)}</small></p>")
        self.box = ipywidgets.VBox([about, self.asked, pair, keys, self.reply, self.end, aria.names()])
        self.box.add_class("dpcourse-explorer")
        self.ask()

    def ask(self) -> None:
        """Show the output that is to be judged next."""
        in_full = self.mechanism.shown or in_words
        shown = html.escape(in_full(self.outputs[len(self.said)]))
        text = say(
            "Output {number} of {all}: {output}",
            number=len(self.said) + 1,
            all=len(self.outputs),
            output=f"<strong style='font-size:1.3em'>{shown}</strong>",
        )
        self.asked.value = f"<p>{text}</p>"

    def answer(self, is_in: bool) -> None:
        """Take what the learner says of the output on show; tell whether it is so."""
        if len(self.said) == len(self.outputs):
            return
        truth = self.is_in[len(self.said)]
        self.said.append(is_in)
        word = say(self.mechanism.inside if truth else self.mechanism.outside)
        text = say("✓ {word}", word=word) if truth == is_in else say("✗ It was: {word}", word=word)
        colour = RIGHT_COLOUR if truth == is_in else WRONG_COLOUR
        right = int(np.sum(np.array(self.said) == self.is_in[: len(self.said)]))
        so_far = say("right so far: {right} of {said}", right=right, said=len(self.said))
        self.reply.value = f"<div style='border-left:4px solid {colour};padding:.2em .8em'>{text} · {so_far}</div>"
        if len(self.said) < len(self.outputs):
            self.ask()
            return
        for button in self.buttons:
            button.disabled = True
        self.asked.value = ""
        with self.end:
            _end(self.of, self.mechanism, "hand", Played.of(self.is_in, np.array(self.said), "hand"))


def in_words(output: float | np.ndarray) -> str:
    """Return an output as it is shown to who judges it.

    >>> in_words(3.14159), in_words(np.array([1.0, -0.26])), in_words(np.int64(7))
    ('3.14', '1.00, -0.26', '7')
    """
    return ", ".join(
        f"{number:d}" if isinstance(number, np.integer) else f"{number:.2f}" for number in np.atleast_1d(output)
    )
