"""A new pack: a lesson with one small exercise that works, to be changed into one's own."""

from pathlib import Path

from dpcourse.base.files import new_folder, write_atomically
from dpcourse.course import pack

TEMPLATES = Path(__file__).with_name("templates")
FILES = {
    "pack.toml": "new-pack.toml",
    "README.md": "new-pack-readme.md",
    "answers.toml": "new-pack-answers.toml",
    "exercises/odds_after.py": "new-pack-exercise.txt",
    "solutions/LESSON.md": "new-pack-lesson.md",
}


def write(folder: Path, number: int = pack.FIRST) -> pack.Pack:
    """Write a new pack into a new folder, whose name is the pack's. Raises ValueError for a name or number that cannot be."""
    name = folder.absolute().name
    said = {
        "TITLE": name.replace("-", " ").capitalize(),
        "NUMBER": str(number),
        "LESSON": f"{number}-{name}",
        "NAME": name,
    }
    if complaint := pack.complaint(
        {"name": name, "title": said["TITLE"], "number": number, "exercises": ["odds_after"]}
    ):
        raise ValueError(f"no pack can be made in {folder}: {complaint}")
    with new_folder(folder) as made:
        for path, template in FILES.items():
            file = made / _filled(path, said)
            file.parent.mkdir(exist_ok=True)
            keep = {"NAME": "NAME"} if template == "new-pack-readme.md" else {}  # there it is a student's
            write_atomically(file, _filled((TEMPLATES / template).read_text(encoding="utf-8"), said | keep))
    return pack.read(folder)


def _filled(text, said):
    for word, value in said.items():
        text = text.replace(word, value)
    return text
