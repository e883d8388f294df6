"""The images of outputs: made files of a site, with their size, so that a page does not jump while it loads."""

import base64
import html
import re
import struct
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote_to_bytes

IMAGE = re.compile(r"<(?:img|source)\b[^>]*>")
DATA = re.compile(
    r'\b(?P<where>src|srcset)="data:image/(?P<kind>png|svg\+xml|webp|jpeg)(?P<how>[^,"]*),(?P<data>[^"]*)"'
)
ENDINGS = {"png": "png", "svg+xml": "svg", "webp": "webp", "jpeg": "jpg"}
SIZE = re.compile(r'\b(width|height)="?(\d+)')


def as_files(page: str, folder: Path) -> str:
    """HTML with each image of a data address as a file in folder/figures, named by its content."""
    return IMAGE.sub(lambda found: _image(found[0], folder), page)


def of_data(data: Mapping, metadata: Mapping, says: str) -> str:
    """An output's picture as HTML, where it has one and no HTML of its own; says: what it shows."""
    kind = next((kind for kind in ("image/svg+xml", "image/png") if kind in data), None)
    width = metadata.get(kind, {}).get("width")
    if kind is None:
        return ""
    content = "".join(data[kind])
    encoded = content.strip() if kind == "image/png" else base64.b64encode(content.encode()).decode()
    return f'<img src="data:{kind};base64,{encoded}" alt="{html.escape(says)}"{f" width={width}" if width else ""}>'


def _image(tag, folder):
    sizes = []

    def as_file(found):
        decoded = base64.b64decode if "base64" in found["how"] else unquote_to_bytes
        content = decoded(html.unescape(found["data"]))
        name = f"figures/{sha256(content).hexdigest()[:16]}.{ENDINGS[found['kind']]}"
        (folder / name).write_bytes(content)
        sizes.append(_size(content))
        return f'{found["where"]}="{name}"'

    tag = DATA.sub(as_file, tag)
    if not tag.startswith("<img") or not sizes:
        return tag
    width, height = sizes[0]
    shown = {name: int(number) for name, number in SIZE.findall(tag)}
    wide = shown.get("width", width)
    tag = re.sub(r'\s(?:width|height)="?\d*"?', "", tag)
    size = f'width="{wide}" height="{shown.get("height", round(wide * height / width))}"'
    return re.sub(r"\s*/?>$", f' {size} loading="lazy">', tag)


def _size(content):
    """(width, height) of a PNG, or of an SVG by its view box; of another image, the shape of a page."""
    if content.startswith(b"\x89PNG"):
        return struct.unpack(">II", content[16:24])
    if box := re.search(rb'viewBox="[\d.+-]+[ ,]+[\d.+-]+[ ,]+([\d.]+)[ ,]+([\d.]+)"', content):
        return round(float(box[1])), round(float(box[2]))
    return 720, 330
