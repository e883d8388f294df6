"""Multiple-choice questions: every option is explained when it is chosen."""

import asyncio
import html
from dataclasses import dataclass

from dpcourse import course
from dpcourse.base.languages import say
from dpcourse.checking import Question
from dpcourse.checking.display import RIGHT_COLOUR, WRONG_COLOUR, as_code
from dpcourse.notebook import aria
from dpcourse.notebook.progress import record_answer

REST = 2.0
"""Seconds for which an option stays chosen before it counts: by the arrow keys one comes to an option through others."""


def quiz(lesson: int) -> None:
    """Show the quiz of a lesson, by its number; where widgets do not run, the same questions as plain HTML."""
    questions = course.lesson(lesson).quiz
    static = Static(questions)
    aria.show(_widget(lesson, questions), {"text/html": static._repr_html_(), "text/plain": repr(static)})


@dataclass(frozen=True)
class Static:
    """The questions where no kernel runs: each option unfolds into its explanation."""

    questions: tuple[Question, ...]

    def __repr__(self):
        lines = []
        for i, question in enumerate(self.questions, 1):
            lines += [f"{i}. {say(question.text)}", *(f"   ( ) {say(option.text)}" for option in question.options)]
        return "\n".join(lines)

    def _repr_html_(self):
        return "".join(
            f"<div role='group' aria-label='{html.escape(say('Question {number}', number=i))}'>"
            f"<p><strong>{i}. {as_code(say(question.text))}</strong></p>"
            + "".join(
                f"<details><summary>{as_code(say(option.text))}</summary><p>{as_code(say(option.reply))}</p></details>"
                for option in question.options
            )
            + "</div>"
            for i, question in enumerate(self.questions, 1)
        )


def _widget(lesson, questions):
    """Return one set of radio buttons per question, with the explanation of the chosen option below."""
    import ipywidgets as widgets

    def block(i, question):
        buttons = widgets.RadioButtons(
            options=[(say(option.text).replace("`", ""), option) for option in question.options],
            value=None,
            layout={"width": "auto"},
        )
        reply, waiting = widgets.HTML(), list[asyncio.TimerHandle]()

        def chosen(change):
            option = change["new"]
            if option is None:
                return
            colour = RIGHT_COLOUR if option.right else WRONG_COLOUR
            reply.value = f"<div style='border-left:4px solid {colour};padding:.2em .8em;line-height:1.5'>{as_code(say(option.reply))}</div>"
            counts = record_answer, f"{course.lesson(lesson).word}/q{i}", option.right
            if waiting:
                waiting.pop().cancel()
            try:
                waiting.append(asyncio.get_running_loop().call_later(REST, *counts))
            except RuntimeError:  # no loop runs that could come back to it
                record_answer(*counts[1:])

        buttons.observe(chosen, names="value")
        text = widgets.HTML(f"<div style='line-height:1.5'><strong>{i}. {as_code(say(question.text))}</strong></div>")
        return widgets.VBox([text, buttons, reply], layout={"margin": "0 0 1em 0"})

    box = widgets.VBox([*(block(i, question) for i, question in enumerate(questions, 1)), aria.names()])
    box.add_class("dpcourse-quiz")
    return box
