"""An audiobook: an EPUB or a Markdown file becomes a sound file a chapter, with subtitles and a
playlist.

pip install '.[codecs]'
python examples/audiobook.py book.epub -o audiobook
python examples/audiobook.py README.md -o audiobook --format .opus --voice heart-low
"""

import argparse
import codecs
import functools
import posixpath
import re
import sys
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from sayahead import AudioChunk, Voice, load_voice

Chapter = tuple[str, str]
"""A title and a text."""
BLOCKS = set("p div li tr br blockquote section pre dt dd figcaption h1 h2 h3 h4 h5 h6".split())
EMPTY = set("br img hr link meta input col wbr area source".split())
"""What has no end."""
SILENT = set("head script style nav rt".split())
ASIDE = set(
    "footnote footnotes endnote endnotes rearnote rearnotes noteref pagebreak toc page-list"
    " landmarks".split()
)
"""What a book says of parts that are not read (epub:type), with "doc-" before it as a role."""
NOTE = re.compile(r"[\d*†‡§¶,\s]+")
"""A raised mark of a note."""


def is_silent(tag: str, attrs: dict[str, str | None]) -> bool:
    """Whether what is between a tag and its end is not read."""
    kinds = f"{attrs.get('epub:type') or ''} {attrs.get('role') or ''}".replace("doc-", "").split()
    return (
        tag in SILENT
        or bool(ASIDE & set(kinds))
        or "hidden" in attrs
        or attrs.get("aria-hidden") == "true"
    )


class Text(HTMLParser):
    """The text of a page: a line for each block, and its first heading."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self._parts = list[str]()
        self._raised = ""
        # The open tags, and whether they are silent; the next number of each open list, None
        # without numbers.
        self._within = list[tuple[str, bool]]()
        self._numbers = list[int | None]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag not in EMPTY:
            self._within.append((tag, is_silent(tag, known)))
        if tag in BLOCKS:
            self._parts.append("\n")
        elif tag in ("ol", "ul"):
            start = known.get("start") or "1"
            self._numbers.append(
                int(start) if tag == "ol" and start.lstrip("-").isdigit() else None
            )
        elif tag in ("td", "th") and self._parts and self._parts[-1] != "\n":
            self._parts.append(", ")
        if tag == "li" and self._numbers and (number := self._numbers[-1]) is not None:
            self._parts.append(f"{number}. ")
            self._numbers[-1] = number + 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "sup":
            # 1st is a word, and 1998³ is a year with a note.
            self._parts += [] if NOTE.fullmatch(self._raised) else [self._raised]
            self._raised = ""
        tags = [each for each, _ in self._within]
        if tag in tags:
            del self._within[len(tags) - 1 - tags[::-1].index(tag) :]
        if tag in BLOCKS:
            self._parts.append("\n")
        elif tag in ("ol", "ul") and self._numbers:
            self._numbers.pop()
        elif tag in ("h1", "h2", "h3"):
            self.title = " ".join(self.title.split())

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _ in self._within}
        if any(silent for _, silent in self._within):
            return
        if "sup" in tags:
            self._raised += data
            return
        self._parts.append(data if "pre" in tags else data.replace("\n", " "))
        if {"h1", "h2", "h3"} & tags and not self._headed():
            self.title += data

    def _headed(self) -> bool:
        """Whether a heading has ended, so that the next one is no part of the title."""
        return "\n" in "".join(self._parts).strip()

    def text(self) -> str:
        """All of it, without empty lines."""
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return "\n".join(line for line in lines if line)


def epub(path: Path) -> Iterator[Chapter]:
    """The chapters of an EPUB, in the order of its spine, without its table of contents and
    notes."""
    with zipfile.ZipFile(path) as archive:
        container = ElementTree.fromstring(archive.read("META-INF/container.xml"))
        name = next(
            node.get("full-path", "") for node in container.iter() if node.tag.endswith("}rootfile")
        )
        package = ElementTree.fromstring(archive.read(name))
        items = {node.get("id"): node for node in package.iter() if node.tag.endswith("}item")}
        for node in package.iter():
            item = items.get(node.get("idref")) if node.tag.endswith("}itemref") else None
            if (
                item is None
                or node.get("linear") == "no"
                or "nav" in item.get("properties", "").split()
            ):
                continue
            place = posixpath.join(posixpath.dirname(name), unquote(item.get("href", "")))
            page = Text()
            page.feed(decoded(archive.read(posixpath.normpath(place))))
            page.close()
            if page.text():
                yield page.title, page.text()


def decoded(data: bytes) -> str:
    """The text of a page, in UTF-8 or UTF-16."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if marked else "utf-8-sig", "replace")


def markdown(path: Path) -> Iterator[Chapter]:
    """The chapters of a Markdown file: one for each heading of the first two levels."""
    for part in re.split(r"(?m)^(?=##? )", path.read_text(encoding="utf-8")):
        if part.strip():
            yield part.strip().splitlines()[0].lstrip("# "), part


def audiobook(voice: Voice, book: Path, folder: Path, ending: str = ".mp3") -> list[Path]:
    """Speak every chapter into a file of its own; their paths. Chapters that are there already are
    left as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    playlist = ["#EXTM3U"]
    for number, (title, text) in enumerate(
        epub(book) if book.suffix == ".epub" else markdown(book), start=1
    ):
        name = re.sub(r"[^\w' -]+", "", title).strip()[:60] or "chapter"
        path = folder / f"{number:02} {name}{ending}"
        if not path.exists():
            # Under another name until it is whole, so that what was stopped goes on.
            unfinished = path.with_suffix(f".part{ending}")
            speech = voice.speak(text, policy="wait-all")
            progress = functools.partial(show, path.name, len(text))
            speech.save(unfinished, timings=path.with_suffix(".vtt"), on_chunk=progress)
            unfinished.rename(path)
            print(f"\r{path}", flush=True)
        made.append(path)
        playlist += [f"#EXTINF:-1,{title or name}", path.name]
    (folder / "playlist.m3u").write_text("\n".join(playlist) + "\n", encoding="utf-8")
    return made


def show(name: str, characters: int, chunk: AudioChunk) -> None:
    """How much of a chapter is there: on a terminal, which has one line for it."""
    if chunk.words and sys.stdout.isatty():
        print(f"\r{name}: {100 * chunk.words[-1].end // characters} %", end="", flush=True)


def main() -> None:
    """Make an audiobook."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("book", type=Path, help="an .epub, or a Markdown file")
    parser.add_argument("-o", "--output", type=Path, default=Path("audiobook"), metavar="FOLDER")
    parser.add_argument("--format", default=".mp3", help=".mp3, .opus, .flac or .wav")
    parser.add_argument("--voice", default="heart")
    arguments = parser.parse_args()
    audiobook(load_voice(arguments.voice), arguments.book, arguments.output, arguments.format)


if __name__ == "__main__":
    main()
