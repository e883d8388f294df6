"""The secret from which hidden inputs, and each student's variant, are drawn: a text in a file that an instructor keeps."""

from pathlib import Path

SHORTEST = 16


def read(file: Path) -> str:
    """The secret in a file. Raises ValueError where it is no text, or could be guessed; OSError where there is none."""
    try:
        text = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(
            f"--seed-file: {file} is no text in UTF-8. The secret is some 40 letters and digits."
        ) from None
    if len(text) < SHORTEST:
        raise ValueError(
            f"--seed-file: the secret in {file} can be guessed: it needs {SHORTEST} characters, and has {len(text)}."
        )
    return text
