"""How a widget comes onto the page, and names for what ipywidgets leaves without one: the handles of sliders, the
buttons that play, and the questions of radio buttons.

A screen reader then says "ε, slider, 1.0" and not "slider, 1.0"; arrow keys move between the options of one
question, as they do between radio buttons everywhere, and between two buttons in a box of the class PAIR; and what
changes on the page is read out.
"""

import html
import json

from dpcourse.base.languages import say
from dpcourse.checking import display

_NAME_ALL = """
const image = this
function nameAll() {
  const box = image.closest('.dpcourse-explorer, .dpcourse-quiz')
  for (const slider of box.querySelectorAll('.widget-slider')) {
    const name = slider.querySelector('label').textContent
    const handle = slider.querySelector('[role=slider]'), readout = slider.querySelector('.widget-readout')
    handle.setAttribute('aria-label', name)
    handle.setAttribute('aria-valuetext', readout.textContent) // else 0.5000000000000001, or a place in a list
    if (readout.isContentEditable) {
      readout.setAttribute('role', 'textbox')
      readout.setAttribute('aria-label', name)
    } else readout.setAttribute('aria-live', 'polite')
  }
  for (const group of box.querySelectorAll('.widget-radio:not([role])')) {
    group.setAttribute('role', 'radiogroup')
    group.setAttribute('aria-label', group.previousElementSibling.textContent.trim())
    const name = `dpcourse-${Math.random()}`
    for (const button of group.querySelectorAll('input')) button.name = name
  }
  for (const control of box.querySelectorAll('[role=slider], input, button'))
    control.setAttribute('data-lm-suppress-shortcuts', 'true') // else JupyterLab takes ↑, ↓ and Enter to go to another cell
  for (const [icon, name] of Object.entries(names))
    for (const image of box.querySelectorAll(`.widget-play button > .fa-${icon}`)) image.parentElement.setAttribute('aria-label', name)
  for (const pair of box.querySelectorAll('.dpcourse-pair')) {
    const [left, right] = pair.querySelectorAll('button')
    left.onkeydown = event => { if (event.key === 'ArrowRight') right.focus() }
    right.onkeydown = event => { if (event.key === 'ArrowLeft') left.focus() }
  }
  for (const text of box.querySelectorAll('.widget-html-content')) text.setAttribute('aria-live', 'polite')
  return box
}
function begin() {
  if (!image.closest('.dpcourse-explorer, .dpcourse-quiz')) setTimeout(begin, 100)
  else new MutationObserver(nameAll).observe(nameAll(), {childList: true, subtree: true})
}
begin()
"""
_PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_LOOKS = """<style>
.dpcourse-explorer :focus-visible, .dpcourse-explorer .jupyter-button:enabled:focus-visible, .dpcourse-quiz :focus-visible {outline: 3px solid #b85c00; outline-offset: 2px}
.dpcourse-explorer .widget-slider .noUi-handle {border: 2px solid #41699a}
.dpcourse-explorer .widget-slider .widget-readout {flex: none; width: max-content; max-width: 60%; overflow: visible}
.dpcourse-explorer .widget-slider .slider-container {margin: 0 10px}
.dpcourse-explorer .dpcourse-pair {padding: 4px}
.dpcourse-explorer .widget-play {margin-left: 10px}
.jp-RenderedMarkdown details {margin-bottom: 1em}
.dpcourse-explorer .widget-html, .dpcourse-explorer .widget-html-content {min-width: 0}
.dpcourse-quiz .widget-radio .widget-radio-box {padding-left: 5px}
.dpcourse-quiz .widget-radio .widget-radio-box label {display: flex; height: auto; line-height: 1.4; padding: 2px 0; white-space: normal; overflow-wrap: anywhere}
.dpcourse-quiz .widget-radio .widget-radio-box input {order: -1; flex: none; float: none; height: 1.4em}
.jp-RenderedMarkdown mjx-container[display=true] {overflow: auto hidden; padding: .2em 0}
</style>"""
"""ipywidgets makes the handle of a slider white on white, lets it lie over label and number at the ends, cuts a text that is chosen by one, and makes a picture wider than a narrow page, which then cannot be moved
sideways. It gives an option the height of one line: in a narrow window a
longer one would lie over the next. So a row is as high as its text, which stands beside the button and wraps there."""

PAIR = "dpcourse-pair"


def names():
    """Return an invisible widget that names the controls of the explorer or quiz that it is put into.

    ipywidgets has no parameter for these names; the script runs once this widget is on the page.
    """
    import ipywidgets

    plays = say("Play or pause")
    icons = {"play": plays, "pause": plays, "stop": say("Stop")}
    script = html.escape(f"const names = {json.dumps(icons, ensure_ascii=False)}\n{_NAME_ALL}")
    return ipywidgets.HTML(f'{_LOOKS}<img alt="" hidden src="{_PIXEL}" onload="{script}">', layout={"height": "0"})


WITHOUT_WIDGETS = "dpcourse-without-widgets"
"""The class of the note that stands where widgets do not run."""


def show(widget, instead: dict[str, str], metadata: dict | None = None) -> None:
    """Show a widget; where widgets do not run, a note that says why, and what `instead` has for each kind of output
    (`text/html`, `text/plain`, ...).

    By its public `model_id`: the method that makes this bundle is called otherwise in ipywidgets 7, which Colab has.
    """
    from IPython import display as shown

    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    page = f"{_without_widgets()}{instead['text/html']}"
    data = {"application/vnd.jupyter.widget-view+json": view, **instead, "text/html": page}
    shown.display(data, metadata=metadata, raw=True)


def _without_widgets():
    """Return the note, as HTML. Only JupyterLab knows whether it can show widgets, and a kernel cannot ask it."""
    note = say(
        "Sliders and buttons do not work here, so pictures stand still, and what you answer in a quiz is explained but not "
        "noted. JupyterLab needs the package `jupyterlab_widgets` where it is installed itself, which may not be where "
        "this notebook runs: run `pip install jupyterlab_widgets` there, start JupyterLab again, and run this cell once more."
    )
    style = f"border-left:4px solid {display.ERROR_COLOUR};padding:.3em .8em;margin-bottom:1em"
    return f"<div class='{WITHOUT_WIDGETS}' style='{style}'>{display.paragraph(note)}</div>"
