"""A reader of a corpus: a folder a person, recordings named after what is said in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sayahead_lab.training.corpus.readers import Recorded


def read_nests(folder: Path) -> Iterator[Recorded]:
    """``PERSON/the_words_that_are_said.wav``."""
    for path in sorted(folder.glob("*/*.wav")):
        text = path.stem.replace("_", " ").capitalize() + "."
        yield Recorded(f"{path.parent.name}-{path.stem}", text, path, path.parent.name)
