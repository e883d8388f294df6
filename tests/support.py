"""What several test files share: the reference values, and whether this is the weekly profile."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEEKLY = bool(os.environ.get("DPCOURSE_WEEKLY"))
reference = json.loads((ROOT / "tests/reference.json").read_text(encoding="utf-8"))
