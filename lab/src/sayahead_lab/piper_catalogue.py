"""The catalogue of public Piper voices (``sayahead/voices/install/catalogue.tsv``), from a
``voices.json`` of Piper's.

``python -m sayahead_lab.piper_catalogue voices.json catalogue.tsv`` writes it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayahead.voices.install.catalogue import CARD


def listing(data: Mapping[str, Any]) -> list[str]:
    """The table's lines from Piper's own ``voices.json``; SystemExit for one of another form."""
    lines = []
    try:
        for key, voice in sorted(data.items()):
            digests = dict[str, str]()
            folder = ""
            size = 0
            for path, file in voice["files"].items():
                folder, name = path.rsplit("/", 1)
                digests[name] = file["md5_digest"]
                size = file["size_bytes"] if name.endswith(".onnx") else size
            language = voice["language"]
            cells = [
                key,
                language["code"].replace("_", "-"),
                language["name_english"],
                voice["num_speakers"],
                folder,
            ]
            sums = (digests[f"{key}.onnx"], digests[f"{key}.onnx.json"], digests[CARD])
            lines.append("\t".join(map(str, (*cells, size, *sums))))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SystemExit(
            f"This is not a list of Piper voices: {error!r} is missing or wrong."
        ) from error
    return lines


def main(source: str, target: str) -> None:
    """Make the table of a ``voices.json``."""
    head = "# Public Piper voices, from the list that wyoming-piper 2.5.2 (MIT) carries."
    lines = listing(json.loads(Path(source).read_text(encoding="utf-8")))
    Path(target).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
