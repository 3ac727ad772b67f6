"""The catalogue: public Piper voices, and this version's own archives, with their addresses and digests.

Nothing is downloaded unless it is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from sayahead import __version__
from sayahead.voices.install.fetch import Digest

BASE = "https://huggingface.co/rhasspy/piper-voices/resolve/main/"
"""Where the voices are published."""
CARD = "MODEL_CARD"
RELEASE = f"https://github.com/sayahead/sayahead/releases/download/v{__version__}"
"""Where this version's archives of voices are published."""
CLONE = Path(__file__).parents[4] / "archives"
"""Where they lie in a clone of the repository."""
SUMS = "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class Entry:
    """A public voice."""

    key: str
    """Its name: language, speaker, quality."""
    language: str
    """BCP 47 tag."""
    english: str
    """The language's English name."""
    speakers: int
    """Number of speakers."""
    folder: str
    """Its folder below BASE."""
    size: int
    """Bytes of the graph."""
    graph: str
    """MD5 of the graph, the only digest that the publisher gives."""
    config: str
    """MD5 of its ``.onnx.json``."""
    card: str
    """MD5 of its model card, which names its licence."""

    def downloads(self) -> Iterable[tuple[str, str, Digest]]:
        """File name, address and digest of each file."""
        for name, value in (
            (f"{self.key}.onnx", self.graph),
            (f"{self.key}.onnx.json", self.config),
            (CARD, self.card),
        ):
            yield name, BASE + quote(f"{self.folder}/{name}"), Digest("md5", value)


def downloads(name: str) -> list[tuple[str, str, Digest]]:
    """File name, address and digest of each file of a voice by its name, the voice first; none for another name."""
    if name in catalogue():
        return list(catalogue()[name].downloads())
    if name not in archives():
        return []
    file = f"{name}.tar.gz"
    address = (CLONE / file).as_uri() if (CLONE / file).is_file() else f"{RELEASE}/{file}"
    return [(file, address, Digest("sha256", archives()[name]))]


@functools.cache
def archives() -> dict[str, str]:
    """The archives of voices that this version has outside the package: name to SHA-256."""
    sums = next((path for path in (Path(__file__).with_name(SUMS), CLONE / SUMS) if path.is_file()), None)
    lines = [] if sums is None else sums.read_text(encoding="utf-8").splitlines()
    files = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return {name.removesuffix(".tar.gz"): digest for name, digest in files.items() if "/" not in name}


@functools.cache
def catalogue() -> dict[str, Entry]:
    """All public voices by name."""
    lines = files("sayahead.voices.install").joinpath("catalogue.tsv").read_text(encoding="utf-8").splitlines()
    entries = [read(line) for line in lines if not line.startswith("#")]
    return {entry.key: entry for entry in entries}


def read(line: str) -> Entry:
    """An entry of the table."""
    key, language, english, speakers, folder, size, *digests = line.split("\t")
    return Entry(key, language, english, int(speakers), folder, int(size), *digests)
