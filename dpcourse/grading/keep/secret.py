"""The secret from which hidden inputs, and each student's variant, are drawn: a text in a file that an instructor keeps."""

from pathlib import Path

from dpcourse.base.languages import say

SHORTEST = 16


def read(file: Path) -> str:
    """The secret in a file. Raises ValueError where it is no text, or could be guessed; OSError where there is none."""
    try:
        text = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(
            say("--seed-file: {file} is no text in UTF-8. The secret is some 40 letters and digits.", file=file)
        ) from None
    if len(text) < SHORTEST:
        raise ValueError(
            say(
                "--seed-file: the secret in {file} can be guessed: it needs {least} characters, and has {count}.",
                file=file,
                least=SHORTEST,
                count=len(text),
            )
        )
    return text
