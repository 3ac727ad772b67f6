"""The catalogue: public Piper voices, a registry of voices that others made, and this version's own
archives, with URLs and digests.

Nothing is downloaded without a request.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlsplit

from sayahead import __version__
from sayahead.errors import VoiceError
from sayahead.voices.install.fetch import Digest, Progress, fetch

BASE = "https://huggingface.co/rhasspy/piper-voices/resolve/main/"
"""URL of the published Piper voices."""
CARD = "MODEL_CARD"
KOKORO = "kokoro"
KOKORO_LICENCE = "Apache-2.0"
KOKORO_RELEASE = "https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.0"
KOKORO_FILES = (
    (
        "kokoro.onnx",
        f"{KOKORO_RELEASE}/kokoro-v1.0.int8.onnx",
        "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
    ),
    (
        "voices-v1.0.bin",
        f"{KOKORO_RELEASE}/voices-v1.0.bin",
        "bca610b8308e8d99f32e6fe4197e7ec01679264efed0cac9140fe9c29f1fbf7d",
    ),
    (
        "config.json",
        "https://huggingface.co/hexgrad/Kokoro-82M/resolve/main/config.json",
        "5abb01e2403b072bf03d04fde160443e209d7a0dad49a423be15196b9b43c17f",
    ),
)
"""Files of Kokoro-82M (Apache-2.0): the quantized graph, all styles, and the ids of phonemes."""
RELEASE = f"https://github.com/sayahead/sayahead/releases/download/v{__version__}"
"""URL of this version's archives of voices."""
CLONE = Path(__file__).parents[4] / "archives"
"""Folder of the archives in a clone of the repository."""
COMMUNITY = "community.tsv"
"""The registry of voices that others made for sayahead (docs/voices.md)."""
SUMS = Path(__file__).with_name("SHA256SUMS")
"""Digests of this version's archives."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A public Piper voice."""

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
        """Yield file name, URL and digest of each file."""
        for name, value in (
            (f"{self.key}.onnx", self.graph),
            (f"{self.key}.onnx.json", self.config),
            (CARD, self.card),
        ):
            yield name, BASE + quote(f"{self.folder}/{name}"), Digest("md5", value)


@dataclass(frozen=True, slots=True)
class Shared:
    """An archive of a voice that somebody else made (``sayahead voices pack``)."""

    key: str
    """Its name."""
    language: str
    """BCP 47 tag of what it speaks."""
    license: str
    """SPDX's name of its licence."""
    address: str
    """Where the archive is."""
    digest: str
    """SHA-256 of the archive."""
    maker: str
    """Who made it, and where to ask."""

    def downloads(self) -> Iterable[tuple[str, str, Digest]]:
        """Yield file name, URL and digest of the archive."""
        yield Path(urlsplit(self.address).path).name, self.address, Digest("sha256", self.digest)


def downloads(name: str) -> list[tuple[str, str, Digest]]:
    """Return file name, URL and digest of each file of a voice, main file first; empty for an
    unknown name."""
    if entry := catalogue().get(name) or community().get(name):
        return list(entry.downloads())
    if name == KOKORO:
        return [(file, address, Digest("sha256", digest)) for file, address, digest in KOKORO_FILES]
    if name not in archives():
        return []
    file = f"{name}.tar.gz"
    address = (CLONE / file).as_uri() if (CLONE / file).is_file() else f"{RELEASE}/{file}"
    return [(file, address, Digest("sha256", archives()[name]))]


def download(name: str, folder: Path, progress: Progress | None = None) -> list[Path]:
    """Download a voice into a folder, which is created; return its files, main file first; empty
    for an unknown name.

    VoiceError if a file cannot be downloaded, with instructions for a machine without a network.
    """
    parts = downloads(name)
    for file, address, digest in parts:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            fetch(address, folder / file, digest, progress)
        except VoiceError as error:
            raise VoiceError(f"{error}\n{by_hand(name)}") from error
    return [folder / file for file, _, _ in parts]


def by_hand(name: str) -> str:
    """Return instructions for adding a voice without a network."""
    parts = downloads(name)
    lines = [
        f"  {address}" + ("" if address.endswith(f"/{file}") else f"  (save it as {file})")
        for file, address, _ in parts
    ]
    return "\n".join(
        [
            "Without a network here, download these files elsewhere, into one folder:",
            *lines,
            f"or there, where sayahead is: sayahead voices download {name} -o FOLDER",
            f"Bring the folder here, and: sayahead voices add FOLDER/{parts[0][0]}",
        ]
    )


@functools.cache
def archives() -> dict[str, str]:
    """Return the archives of this version's voices outside of the package: name to SHA-256."""
    lines = SUMS.read_text(encoding="utf-8").splitlines()
    files = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return {
        name.removesuffix(".tar.gz"): digest for name, digest in files.items() if "/" not in name
    }


@functools.cache
def community() -> dict[str, Shared]:
    """Return all voices of the registry by name."""
    entries = [Shared(*line.split("\t")) for line in lines_of(COMMUNITY)]
    return {entry.key: entry for entry in entries}


def lines_of(name: str) -> list[str]:
    """Return the rows of a table next to this module."""
    lines = files("sayahead.voices.install").joinpath(name).read_text(encoding="utf-8")
    return [line for line in lines.splitlines() if line and not line.startswith("#")]


@functools.cache
def catalogue() -> dict[str, Entry]:
    """Return all public Piper voices by name."""
    entries = [read(line) for line in lines_of("catalogue.tsv")]
    return {entry.key: entry for entry in entries}


def read(line: str) -> Entry:
    """Parse a row of the catalogue."""
    key, language, english, speakers, folder, size, *digests = line.split("\t")
    return Entry(key, language, english, int(speakers), folder, int(size), *digests)
