"""The film on top of README.md, from the real course: a slider, a wrong answer, the mistake named, the answer passed.

`python -m pytest tests/browser/film.py` makes docs/film.gif anew; nothing else runs this.
"""

import io
from pathlib import Path

from PIL import Image

FILM = Path(__file__).parents[2] / "docs" / "film.gif"
WIDTH, HEIGHT, COLOURS = 800, 560, 128
WRONG, RIGHT = "math.exp(epsilon)", "1 / (1 + math.exp(-epsilon))"


class Film:
    """What is seen of the notebook, frame by frame, each with its milliseconds."""

    def __init__(self, lesson):
        self.lesson, self.page, self.frames, self.times = lesson, lesson.page, [], []
        self.notebook = lesson.panel.locator(".jp-WindowedPanel-outer").bounding_box()

    def look_at(self, cell, above=20):
        """Bring the top of a cell so many pixels below the top of the picture."""
        for _ in range(3):  # what comes into view is drawn then, and moves the rest
            cell.evaluate(
                "(it, above) => { const box = it.closest('.jp-WindowedPanel-outer');"
                "box.scrollTop += it.getBoundingClientRect().top - box.getBoundingClientRect().top - above }",
                above,
            )
            self.page.wait_for_timeout(400)

    def take(self, milliseconds=120):
        clip = {"x": self.notebook["x"], "y": self.notebook["y"], "width": WIDTH, "height": HEIGHT}
        self.frames.append(Image.open(io.BytesIO(self.page.screenshot(clip=clip))).convert("RGB"))
        self.times.append(milliseconds)

    def write(self, cell, code, body):
        """Type the body of an answer into its cell, as a person would, and run the cell."""
        self.lesson.write(cell, code + "    return ")
        for place in range(0, len(body), 2):
            self.page.keyboard.insert_text(body[place : place + 2])
            self.take(90)
        self.page.keyboard.press("Control+Enter")
        self.lesson.wait_for_run(cell)
        self.take(500)

    def save(self, file):
        sample = Image.new("RGB", (WIDTH, 3 * HEIGHT))
        for place, frame in enumerate((self.frames[0], self.frames[len(self.frames) // 2], self.frames[-1])):
            sample.paste(frame, (0, place * HEIGHT))
        palette = sample.quantize(COLOURS, Image.Quantize.FASTOCTREE)
        drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        drawn[0].save(file, save_all=True, append_images=drawn[1:], duration=self.times, loop=0, optimize=True)


def test_film(lab):
    lesson = lab("00-start-here")
    lesson.page.set_viewport_size({"width": WIDTH + 100, "height": HEIGHT + 220})
    lesson.page.keyboard.press("Control+B")  # the file browser away
    lesson.run_all()
    around = WIDTH + 100 - Film(lesson).notebook["width"]
    lesson.page.set_viewport_size({"width": WIDTH + int(around), "height": HEIGHT + 220})
    film = Film(lesson)
    assert abs(film.notebook["width"] - WIDTH) <= 1

    explorer = lesson.cell("ε of the report")
    film.look_at(explorer)
    handle = explorer.locator("[role=slider]")
    handle.focus()
    film.take(1200)
    for halves in range(7, 17):  # from 3 to 8
        lesson.page.keyboard.press("ArrowRight")
        explorer.locator(f"img[alt*='epsilon {halves / 2:g}.']").wait_for()  # the picture has followed
        film.take(160)
    film.take(1200)

    answer, check = lesson.cell("def keep_probability"), lesson.cell('check("0.1"')
    code = answer.locator(".cm-content").evaluate("it => it.cmTile?.view?.state?.doc?.toString() ?? it.innerText")
    head = code[: code.index("    raise")]
    said = check.locator(".jp-OutputArea")
    film.look_at(answer, above=120)
    film.take(900)
    for body, verdict, seconds in ((WRONG, "not yet", 4000), (RIGHT, "passed", 3500)):
        film.write(answer, head, body)
        lesson.run(check)
        said.get_by_text(verdict).first.wait_for()
        film.take(seconds)
    film.save(FILM)
    assert FILM.stat().st_size < 1_000_000
