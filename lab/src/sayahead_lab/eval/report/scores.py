"""The scores of each sentence behind a table, compressed, so that anyone can test them anew."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

SCORES = "scores.jsonl.gz"
"""Their file beside a table's."""


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write lines of JSON; the same lines give the same bytes."""
    text = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of such a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
