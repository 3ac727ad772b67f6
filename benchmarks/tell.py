"""What scripts here end with: a table is printed, and written where a file is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def tell(lines: Sequence[str], results: Path | None) -> None:
    """Print a table's lines; write them into ``results``, if that is a file."""
    text = "\n".join(lines)
    print(text)
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        results.write_text(text + "\n", encoding="utf-8")
