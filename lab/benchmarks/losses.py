"""Which characters of real prose change nothing of what is said where they are taken out, and are
on no list.

    python lab/benchmarks/losses.py de FOLDER [--characters 1000000]

The folder has texts or HTML, such as that of Debian's libreoffice-help-de; of lines that are the
same one counts. Letters that a voice cannot read are not counted where a warning tells of them, nor
are tags and entities."""

from __future__ import annotations

import argparse
import html
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support import forms

LONGEST = 40
"""Characters of a token that is tried: longer ones are cut when they are read."""


def prose(folder: Path, characters: int) -> str:
    """Distinct lines of the texts of a folder, in an order that depends on nothing but their
    names."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".txt"))
    random.Random(1).shuffle(paths)
    lines: dict[str, None] = {}
    size = 0
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        text = re.sub(r"(?s)<(script|style)[^>]*>.*?</\1>|<head>.*?</head>|<[^>]+>", " ", text)
        for line in map(str.strip, html.unescape(text).splitlines()):
            if len(line) > 1 and line not in lines:
                lines[line] = None
                size += len(line) + 1
        if size >= characters:
            break
    return "\n".join(lines)[:characters]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=forms.LANGUAGES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--characters", type=int, default=1_000_000)
    arguments = parser.parse_args()
    text = prose(arguments.folder, arguments.characters)
    tokens = [token for token in dict.fromkeys(text.split()) if len(token) <= LONGEST]
    lost = [one for token in tokens for one in forms.losses(arguments.language, token)]
    for one in lost:
        print(one)
    print(
        f"{arguments.language}: {len(text):,} characters, {len(tokens):,} distinct tokens,"
        f" {len(lost)} silent losses"
    )
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())
