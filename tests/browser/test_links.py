"""Links to a section land there in JupyterLab: into a lesson that is closed, and into one that is open beside another."""

import pytest

IN_VIEW = "0 < it.getBoundingClientRect().top && it.getBoundingClientRect().top < innerHeight"


@pytest.mark.weekly(
    "JupyterLab goes to a section of another lesson and back; that all links lead somewhere is read on a commit"
)
def test_links_to_a_section_land_there(lab):
    course = lab("04-clt")
    course.follow("00-start-here", course.panel.get_by_role("link", name="All lessons").first)
    course.wait_until(IN_VIEW, course.panel.get_by_role("heading", name="All lessons"))
    course.picture("all-lessons")

    course.follow("04-clt", course.panel.get_by_role("link", name="04 The central limit theorem of privacy").first)
    course.panel.get_by_text("Sections, and the minutes of each").click()
    heading = course.panel.get_by_role("heading", name="6. The limit")
    course.wait_until_still(heading)
    for _ in range(5):  # on a busy machine what stands above it may still be drawn, and the heading moves away again
        course.panel.get_by_role("link", name="6. The limit").first.click()
        course.wait_until_still(heading)
        if heading.evaluate(f"it => {IN_VIEW}"):
            break
    course.wait_until(IN_VIEW, heading)
    course.picture("section-of-the-same-lesson")
