"""Sentences of Debian's documents, by language and source; nothing of them is shipped.

``fetch`` downloads the packages by ``apt-get`` and unpacks them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

HANDBOOK = {"es": "es-ES", "fr": "fr-FR", "it": "it-IT", "pt-br": "pt-BR"}
FORTUNES = {"es": "es", "it": "it", "pt-br": "br"}
LANGUAGES = ("es", "it", "fr", "pt-br", "pt")
FOREIGN = re.compile("the of and is for with from this that you your to be are by will can it not".replace(" ", "|"))
"""Words of English: sentences in which there are two are not translated."""
_OPAQUE = {"code", "pre", "tt", "kbd", "table", "script", "style"}
_BLOCKS = {"p", "div", "td", "li", "h1", "h2", "h3", "dt", "dd"}
_SENTENCE = re.compile(r"(?<=[.!?…])[\"”»’')]*\s+(?=[\"“«¿¡(—–-]*[A-ZÀ-ÖØ-Þ])")
_LEAST, _MOST = 3, 40


def packages(language: str) -> dict[str, str]:
    """Names of packages by what they are called here."""
    found = {"help": f"libreoffice-help-{language}", "reference": f"debian-reference-{language}"}
    if language in HANDBOOK:
        found["handbook"] = "debian-handbook"
    if language in FORTUNES:
        found["fortunes"] = f"fortunes-{FORTUNES[language]}"
    return found


def fetch(folder: Path, language: str) -> None:
    """Download and unpack what is not there yet, each package into a folder of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages(language).values():
        if not (folder / package).is_dir():
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
            [archive] = folder.glob(f"{package}_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)


class _Paragraphs(HTMLParser):
    """Paragraphs without code in them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._text: list[str] = []
        self._opaque = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.close_paragraph()
        self._opaque = self._opaque or tag in _OPAQUE

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.close_paragraph()

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def close_paragraph(self) -> None:
        text = " ".join("".join(self._text).split())
        if text and not self._opaque:
            self.found.append(text)
        self._text, self._opaque = [], False


def _of_html(folder: Path, language: str) -> Iterator[str]:
    for file in sorted(folder.rglob("*.html")):
        if HANDBOOK.get(language, "") in file.parts or "debian-handbook" not in str(file):
            parser = _Paragraphs()
            parser.feed(file.read_text("utf-8", "replace"))
            parser.close_paragraph()
            yield from parser.found


def _of_fortunes(folder: Path) -> Iterator[str]:
    for file in sorted((folder / "usr/share/games/fortunes").rglob("*")):
        if file.is_file() and file.suffix != ".dat" and "off" not in file.parts:
            raw = file.read_bytes()
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                text = raw.decode("latin-1")
            for one in re.split(r"^%.*$", text, flags=re.MULTILINE):
                yield " ".join(re.sub(r"\n\s*(--|—|\().*$", "", one, flags=re.DOTALL).split())


def sentences(folder: Path, language: str, source: str) -> list[str]:
    """Sentences of 3 to 40 words, each once, that end in a mark, in order; those in English are left out."""
    place = folder / packages(language)[source]
    paragraphs = _of_fortunes(place) if source == "fortunes" else _of_html(place, language)
    found = dict[str, None]()
    for paragraph in paragraphs:
        for sentence in _SENTENCE.split(paragraph):
            text = sentence.strip().strip('"“”«»—–- ').replace("’", "'")
            words = text.split()
            foreign = sum(FOREIGN.fullmatch(word) is not None for word in words)
            if (
                _LEAST <= len(words) <= _MOST
                and text[-1] in ".!?…"
                and text[:1] in "¿¡" + text[:1].upper()
                and foreign < 2
            ):
                found[text] = None
    return list(found)
