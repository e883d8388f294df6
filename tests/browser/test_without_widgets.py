"""A JupyterLab that cannot show widgets, as one is whose environment is another than the kernel's: the page says what to do."""

import json

import pytest
from browser.conftest import Lab, jupyterlab

MANAGER = "@jupyter-widgets/jupyterlab-manager"


@pytest.mark.weekly("a JupyterLab of its own, in which the widget manager is switched off")
def test_an_explorer_is_a_picture_and_a_quiz_is_readable_and_both_say_what_to_install(
    chromium, copy_of_course, browser, tmp_path
):
    switched_off = tmp_path / "config" / "labconfig" / "page_config.json"
    switched_off.parent.mkdir(parents=True)
    switched_off.write_text(json.dumps({"disabledExtensions": {MANAGER: True}}))
    with jupyterlab(copy_of_course, tmp_path) as address:
        lab = Lab(browser.new_page(), address, "00-start-here")
        lab.run_all()
        for text in ("plots.neighbours", "quiz(0)"):
            shown = lab.cell(text).locator(".jp-OutputArea")
            shown.get_by_text("run pip install jupyterlab_widgets there, start JupyterLab again").wait_for()
            lab.picture(f"without-widgets-{text[:4]}", shown)
        assert lab.cell("plots.neighbours").locator(".dpcourse-picture img").evaluate("image => image.naturalWidth") > 0
        assert lab.panel.locator(".widget-slider, .widget-radio").count() == 0
        lab.page.close()
