"""A reader of somebody else's corpus: one file of JSON lines, sound wherever these say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sayahead_lab.training.corpus.readers import Recorded


def read_lines(folder: Path) -> Iterator[Recorded]:
    """A recording a line: id, transcript, audio and who."""
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        yield Recorded(one["id"], one["transcript"], folder / one["audio"], one["who"])
