"""Small editions of lessons, for the tests of dpcourse/edition/."""

import hashlib

BLANK = "    raise NotImplementedError"


def edition(lessons):
    """Lessons of texts as the build makes them; a text that begins with "def" or "check" is code, "## " a section."""
    made = {}
    for word, texts in lessons.items():
        used, sections, cells = {}, 0, []
        for text in texts:
            kind = "code" if text.startswith(("def", "check", "x =")) else "markdown"
            digest = hashlib.blake2b(f"{kind}\n{text}".encode(), digest_size=4).hexdigest()
            used[digest] = used.get(digest, 0) + 1
            name = f"{digest}-{used[digest]}"
            if text.startswith("## "):
                sections += 1
                name = f"section-{sections}"
            cells.append({"cell_type": kind, "id": name, "metadata": {}, "source": text})
        made[word] = cells
    return made


def asks(function, says=""):
    return f"def {function}(x):{says}\n{BLANK}"


OLD = {
    "a": ["# A", "## 1", "prose", asks("f"), 'check("1.1", f)', "x = 1", "the end"],
    "b": ["# B", "## 1", asks("g"), 'check("2.1", g)'],
}
