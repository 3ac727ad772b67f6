"""A book in an EPUB, of version 2 or 3: its spine, its table of contents and its cover."""

from __future__ import annotations

import io
import logging
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

from sayahead.books.book import Book, Chapter, Passage, decoded
from sayahead.books.pages import blocks_of
from sayahead.errors import ConfigError

log = logging.getLogger("sayahead")
MAX_BYTES = 200_000_000
"""Of a file in the archive, unpacked: what claims more is no page."""
CONTAINER = "META-INF/container.xml"
OBFUSCATED = re.compile(r"\.(?:otf|ttf|woff2?)$", re.IGNORECASE)
"""What may be encrypted in a book that is not protected."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chapter begins."""

    page: str
    """The page's name in the archive."""
    name: str
    """The element in it; empty for its beginning."""


def read_epub(data: bytes, path: str) -> Book:
    """The book in the bytes of an EPUB. ConfigError, with ``path``, for one that cannot be read."""
    try:
        archive = Archive(data)
        package_name = archive.package()
        package = archive.xml(package_name)
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, zlib.error, OSError) as error:
        raise ConfigError(f"{path} is no EPUB that can be read: {error}.") from error
    if archive.is_protected():
        raise ConfigError(
            f"{path} is protected: it can be read with the program that it was bought for alone."
        )
    items = {item.get("id", ""): item for item in package.iter() if local(item) == "item"}
    folder = posixpath.dirname(package_name)
    contents, navigation = contents_of(archive, package, items, folder)
    pages = {
        page: blocks_of(text)
        for page, text in archive.texts(spine(package, items, folder))
        if page != navigation
    }
    return Book(
        meta(package, "title") or path,
        tuple(chapters(pages, contents)),
        author=", ".join(metas(package, "creator")),
        language=meta(package, "language"),
        cover=cover(archive, package, items, folder),
    )


class Archive:
    """The files of an EPUB, by names as links have them: escaped, relative, of any case."""

    def __init__(self, data: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._names = {posixpath.normpath(name).lower(): name for name in self._zip.namelist()}

    def read(self, name: str) -> bytes:
        """A file's bytes; KeyError if there is none, OSError if it is too large or locked."""
        found = self._names.get(posixpath.normpath(name).lower())
        if found is None:
            raise KeyError(f"there is no {name} in it")
        if self._zip.getinfo(found).file_size > MAX_BYTES:
            raise OSError(f"{name} has more than {MAX_BYTES:,} bytes")
        try:
            return self._zip.read(found)
        except RuntimeError as error:
            raise OSError(f"{name} has a password") from error

    def xml(self, name: str) -> ElementTree.Element:
        return ElementTree.fromstring(self.read(name))

    def package(self) -> str:
        """The name of the file that says what the book has."""
        for node in self.xml(CONTAINER).iter():
            if local(node) == "rootfile" and node.get("full-path"):
                return node.get("full-path", "")
        raise KeyError(f"{CONTAINER} names no package")

    def is_protected(self) -> bool:
        """Whether pages are encrypted: fonts alone may be."""
        try:
            nodes = self.xml("META-INF/encryption.xml").iter()
        except (KeyError, ElementTree.ParseError):
            return False
        names = [node.get("URI", "") for node in nodes if local(node) == "CipherReference"]
        return any(not OBFUSCATED.search(name) for name in names)

    def texts(self, pages: Iterator[str]) -> Iterator[tuple[str, str]]:
        """Pages with their HTML; what is missing is told."""
        for page in pages:
            try:
                yield page, decoded(self.read(page))
            except (KeyError, OSError, zipfile.BadZipFile, zlib.error) as error:
                log.warning("A page of the book is left out: %s.", error)


def spine(
    package: ElementTree.Element, items: Mapping[str, ElementTree.Element], folder: str
) -> Iterator[str]:
    """The names of the pages in the order in which they are read, each once."""
    seen = set[str]()
    for node in package.iter():
        item = items.get(node.get("idref", "")) if local(node) == "itemref" else None
        if item is None or node.get("linear") == "no":
            continue
        page = within(folder, item.get("href", ""))
        if page not in seen:
            seen.add(page)
            yield page


def contents_of(
    archive: Archive,
    package: ElementTree.Element,
    items: Mapping[str, ElementTree.Element],
    folder: str,
) -> tuple[dict[Place, str], str]:
    """Where chapters begin, with their titles, and the page that has the table of contents."""
    navigation = ""
    for item in items.values():
        if "nav" in item.get("properties", "").split():
            navigation = within(folder, item.get("href", ""))
    spines = [node for node in package.iter() if local(node) == "spine"]
    older = items.get(spines[0].get("toc", "")) if spines else None
    try:
        if navigation:
            links = links_of(decoded(archive.read(navigation)))
            base = posixpath.dirname(navigation)
        elif older is not None:
            place = within(folder, older.get("href", ""))
            links = older_links(archive.xml(place))
            base = posixpath.dirname(place)
        else:
            return {}, ""
    except (KeyError, OSError, ElementTree.ParseError) as error:
        log.warning("The book's table of contents cannot be read: %s.", error)
        return {}, navigation
    return {place_of(base, target): title for target, title in links if title}, navigation


def older_links(contents: ElementTree.Element) -> list[tuple[str, str]]:
    """The targets and titles of an NCX."""
    links = []
    for point in contents.iter():
        if local(point) != "navPoint":
            continue
        title = next((text(node) for node in point.iter() if local(node) == "text"), "")
        target = next((node.get("src", "") for node in point if local(node) == "content"), "")
        links.append((target, title))
    return links


def links_of(page: str) -> list[tuple[str, str]]:
    """The targets and titles of a navigation document's table of contents."""
    reader = _Contents()
    reader.feed(page)
    reader.close()
    return [(target, " ".join(title.split())) for target, title in reader.links]


class _Contents(HTMLParser):
    """The links within ``<nav epub:type="toc">``; of a page with one nav alone, within that."""

    def __init__(self) -> None:
        super().__init__()
        self.links = list[tuple[str, str]]()
        self._is_toc = False
        self._in_link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "nav":
            self._is_toc = known.get("epub:type") in (None, "toc") and not self.links
        self._in_link = (tag == "a" and self._is_toc) or (self._in_link and tag != "a")
        if tag == "a" and self._in_link:
            self.links.append((known.get("href") or "", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._is_toc = False
        if tag == "a":
            self._in_link = False

    def handle_data(self, data: str) -> None:
        if self._in_link:
            target, title = self.links[-1]
            self.links[-1] = (target, title + data)


def chapters(
    pages: Mapping[str, list[Passage]], contents: Mapping[Place, str]
) -> Iterator[Chapter]:
    """The chapters, which begin where the table of contents says; without one, each page is a
    chapter. A page that it does not name belongs to the chapter before.

    What begins with a page without text, such as a picture, goes on with the next one."""
    title = ""
    within_it = list[Passage]()
    contents = existing(pages, contents)
    begins = None
    for page, blocks in pages.items():
        begins = contents.get(Place(page, ""), begins)
        if not blocks:
            continue
        if begins is None and (not contents or not within_it):
            begins = ""
        for number, block in enumerate(blocks):
            here = title_at(page, block, contents)
            if number == 0 and here is None:
                here = begins
            if here is not None:
                if within_it:
                    yield Chapter(title, tuple(within_it))
                title = here or (block.text if block.heading else "")
                within_it = []
            within_it.append(block)
        begins = None
    if within_it:
        yield Chapter(title, tuple(within_it))


def title_at(page: str, block: Passage, contents: Mapping[Place, str]) -> str | None:
    """The title by which a table of contents names a block; None where it does not."""
    found = [contents[place] for name in block.ids if (place := Place(page, name)) in contents]
    return found[-1] if found else None


def existing(pages: Mapping[str, list[Passage]], contents: Mapping[Place, str]) -> dict[Place, str]:
    """A table of contents without pages that are not there. An element that its page does not have
    stands for the page."""
    found = dict[Place, str]()
    for place, title in contents.items():
        names = {name for block in pages.get(place.page, ()) for name in block.ids}
        if place.page in pages:
            found.setdefault(place if place.name in names else Place(place.page, ""), title)
    return found


def cover(
    archive: Archive,
    package: ElementTree.Element,
    items: Mapping[str, ElementTree.Element],
    folder: str,
) -> bytes:
    """The picture of the cover, if it has one that players show."""
    named = [
        node.get("content", "")
        for node in package.iter()
        if local(node) == "meta" and node.get("name") == "cover"
    ]
    found = [item for item in items.values() if "cover-image" in item.get("properties", "").split()]
    found += [items[name] for name in named if name in items]
    for item in found:
        if item.get("media-type") in ("image/jpeg", "image/png"):
            try:
                return archive.read(within(folder, item.get("href", "")))
            except (KeyError, OSError) as error:
                log.warning("The book's cover is left out: %s.", error)
    return b""


def local(node: ElementTree.Element) -> str:
    """An element's name without its namespace."""
    return str(node.tag).rpartition("}")[2]


def text(node: ElementTree.Element) -> str:
    return " ".join("".join(node.itertext()).split())


def metas(package: ElementTree.Element, name: str) -> list[str]:
    """What the book says of itself under a name of Dublin Core."""
    found = [
        text(node)
        for node in package.iter()
        if str(node.tag).endswith(f"/dc/elements/1.1/}}{name}")
    ]
    return [value for value in found if value]


def meta(package: ElementTree.Element, name: str) -> str:
    return next(iter(metas(package, name)), "")


def within(folder: str, link: str) -> str:
    """The name in the archive to which a link leads."""
    return posixpath.normpath(posixpath.join(folder, unquote(link.partition("#")[0])))


def place_of(folder: str, link: str) -> Place:
    return Place(within(folder, link), unquote(link.partition("#")[2]))
