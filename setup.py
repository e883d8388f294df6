"""What pyproject.toml cannot say: a wheel holds the blank lessons of lessons/ too, as dpcourse/lessons/."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithLessons(build_py):
    """The package, and the lessons in it; an editable install finds them where they are."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "dpcourse" / "lessons"
        shutil.rmtree(folder, ignore_errors=True)  # those of an earlier build may have other names
        folder.mkdir(parents=True)
        for lesson in sorted(Path("lessons").glob("*.ipynb")):
            self.copy_file(str(lesson), str(folder / lesson.name))


setup(cmdclass={"build_py": WithLessons})
