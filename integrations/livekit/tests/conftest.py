"""The tests' proxy with its faults is that of sayahead's own tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "tests"))
