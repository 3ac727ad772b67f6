"""An audiobook: an EPUB or a Markdown file becomes a sound file a chapter, with subtitles and a playlist.

pip install '.[codecs]'
python examples/audiobook.py book.epub -o audiobook
python examples/audiobook.py README.md -o audiobook --format .opus --voice heart-low
"""

import argparse
import posixpath
import re
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from sayahead import Voice, load_voice

Chapter = tuple[str, str]
"""A title and a text."""
BLOCKS = {"p", "div", "li", "tr", "br", "blockquote", "section", "h1", "h2", "h3", "h4", "h5", "h6"}


class Text(HTMLParser):
    """The text of a page: a line for each block, and its first heading."""

    def __init__(self) -> None:
        super().__init__()
        self.title, self._parts, self._within = "", list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within += [tag] if tag not in ("br", "img", "hr", "link", "meta") else []
        if tag in BLOCKS:
            self._parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            del self._within[len(self._within) - 1 - self._within[::-1].index(tag) :]
        if tag in BLOCKS:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not {"head", "script", "style"} & set(self._within):
            self._parts.append(data)
            if not self.title and {"h1", "h2", "h3"} & set(self._within):
                self.title = " ".join(data.split())

    def text(self) -> str:
        """All of it, without empty lines."""
        lines = (" ".join(line.split()) for line in "".join(self._parts).split("\n"))
        return "\n".join(line for line in lines if line)


def epub(path: Path) -> Iterator[Chapter]:
    """The chapters of an EPUB, in the order of its spine."""
    with zipfile.ZipFile(path) as archive:
        container = ElementTree.fromstring(archive.read("META-INF/container.xml"))
        name = next(node.get("full-path", "") for node in container.iter() if node.tag.endswith("}rootfile"))
        package = ElementTree.fromstring(archive.read(name))
        items = {node.get("id"): node.get("href", "") for node in package.iter() if node.tag.endswith("}item")}
        for node in package.iter():
            if node.tag.endswith("}itemref"):
                page = Text()
                page.feed(archive.read(posixpath.join(posixpath.dirname(name), items[node.get("idref")])).decode())
                if page.text():
                    yield page.title, page.text()


def markdown(path: Path) -> Iterator[Chapter]:
    """The chapters of a Markdown file: one for each heading of the first two levels."""
    for part in re.split(r"(?m)^(?=##? )", path.read_text(encoding="utf-8")):
        if part.strip():
            yield part.strip().splitlines()[0].lstrip("# "), part


def audiobook(voice: Voice, book: Path, folder: Path, ending: str = ".mp3") -> list[Path]:
    """Speak every chapter into a file of its own; their paths. Chapters that are there already are left as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number, (title, text) in enumerate(epub(book) if book.suffix == ".epub" else markdown(book), start=1):
        name = re.sub(r"[^\w' -]+", "", title).strip()[:60] or "chapter"
        path = folder / f"{number:02} {name}{ending}"
        if not path.exists():
            # Under another name until it is whole, so that what was stopped goes on.
            unfinished = path.with_suffix(f".part{ending}")
            voice.speak(text, policy="wait-all").save(unfinished, timings=path.with_suffix(".vtt"))
            unfinished.rename(path)
            print(path, flush=True)
        made.append(path)
    (folder / "playlist.m3u").write_text("".join(f"{path.name}\n" for path in made), encoding="utf-8")
    return made


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
