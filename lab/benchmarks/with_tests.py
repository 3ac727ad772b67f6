"""Puts the runtime's tests on the path, for scripts that need their ``support``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
