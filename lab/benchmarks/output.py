"""What scripts here end with: a table or figures are printed, and written where a file is named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def tell(lines: Sequence[str], results: Path | None) -> None:
    """Print a table's lines; write them into ``results``, if that is a file."""
    print("\n".join(lines))
    keep(lines, results)


def tell_figures(found: Mapping[str, Any], results: Path | None) -> None:
    """Print figures as JSON; write them into ``results``, if that is a file."""
    tell([json.dumps(found, indent=1)], results)


def keep(lines: Sequence[str], results: Path | None) -> None:
    """Write lines that were printed into ``results``, if that is a file; its folder is made."""
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text("\n".join(lines) + "\n", encoding="utf-8")
