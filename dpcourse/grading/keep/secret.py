"""The secret from which hidden inputs, and each student's variant, are drawn: a text in a file that an instructor keeps."""

from pathlib import Path

SHORTEST = 16


def read(file: Path) -> str:
    """The secret in a file. Raises ValueError where it could be guessed, OSError where there is none."""
    text = file.read_text(encoding="utf-8").strip()
    if len(text) < SHORTEST:
        raise ValueError(f"the secret in {file} can be guessed: it needs {SHORTEST} characters, and has {len(text)}")
    return text
