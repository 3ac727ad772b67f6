"""Reads a book from an EPUB of version 2 or 3: the spine, the table of contents and the cover."""

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
from sayahead.books.xhtml import blocks_of
from sayahead.errors import ConfigError

log = logging.getLogger("sayahead")
MAX_BYTES = 200_000_000
"""Largest unpacked file in the archive; a larger one is no page."""
CONTAINER = "META-INF/container.xml"
OBFUSCATED = re.compile(r"\.(?:otf|ttf|woff2?)$", re.IGNORECASE)
"""Fonts, which may be encrypted in a book that is not protected."""


@dataclass(frozen=True, slots=True)
class Place:
    """Target of a link: the beginning of a chapter."""

    page: str
    """Name of the page in the archive."""
    name: str
    """Id of the element in it; empty for the beginning of the page."""


def read_epub(data: bytes, path: str) -> Book:
    """Read a book from the bytes of an EPUB. ConfigError, which names ``path``, if it is damaged or
    protected."""
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
    """The files of an EPUB. Names are compared as readers do, whatever their case, and with dots in
    them."""

    def __init__(self, data: bytes) -> None:
        """BadZipFile if the bytes are no zip archive."""
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._names = {posixpath.normpath(name).lower(): name for name in self._zip.namelist()}

    def read(self, name: str) -> bytes:
        """Return the bytes of a file. KeyError if it does not exist, OSError if it is too large or
        has a password."""
        stored_name = self._names.get(posixpath.normpath(name).lower())
        if stored_name is None:
            raise KeyError(f"there is no {name} in it")
        if self._zip.getinfo(stored_name).file_size > MAX_BYTES:
            raise OSError(f"{name} has more than {MAX_BYTES:,} bytes")
        try:
            return self._zip.read(stored_name)
        except RuntimeError as error:
            raise OSError(f"{name} has a password") from error

    def xml(self, name: str) -> ElementTree.Element:
        return ElementTree.fromstring(self.read(name))

    def package(self) -> str:
        """Return the name of the package document, which lists the book's files. KeyError if the
        container names none."""
        for node in self.xml(CONTAINER).iter():
            if local(node) == "rootfile" and node.get("full-path"):
                return node.get("full-path", "")
        raise KeyError(f"{CONTAINER} names no package")

    def is_protected(self) -> bool:
        """Return whether other files than fonts are encrypted."""
        try:
            nodes = self.xml("META-INF/encryption.xml").iter()
        except (KeyError, ElementTree.ParseError):
            return False
        names = [node.get("URI", "") for node in nodes if local(node) == "CipherReference"]
        return any(not OBFUSCATED.search(name) for name in names)

    def texts(self, pages: Iterator[str]) -> Iterator[tuple[str, str]]:
        """Yield the pages with their HTML; pages that cannot be read are skipped with a warning."""
        for page in pages:
            try:
                yield page, decoded(self.read(page))
            except (KeyError, OSError, zipfile.BadZipFile, zlib.error) as error:
                log.warning("A page of the book is left out: %s.", error)


def spine(
    package: ElementTree.Element, items: Mapping[str, ElementTree.Element], folder: str
) -> Iterator[str]:
    """Yield the names of the pages in reading order, each once; ``items`` are those of the manifest
    by id."""
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
    """Return the titles of chapters by the place where they begin, and the name of the page that is
    the table of contents.

    EPUB 3 has a navigation page, EPUB 2 an NCX, which is no page: the name is empty then. Both are
    empty if there is no table, or, with a warning, if it cannot be read."""
    navigation = ""
    for item in items.values():
        if "nav" in item.get("properties", "").split():
            navigation = within(folder, item.get("href", ""))
    spines = [node for node in package.iter() if local(node) == "spine"]
    ncx = items.get(spines[0].get("toc", "")) if spines else None
    try:
        if navigation:
            links = links_of(decoded(archive.read(navigation)))
            base = posixpath.dirname(navigation)
        elif ncx is not None:
            ncx_name = within(folder, ncx.get("href", ""))
            links = ncx_links(archive.xml(ncx_name))
            base = posixpath.dirname(ncx_name)
        else:
            return {}, ""
    except (KeyError, OSError, ElementTree.ParseError) as error:
        log.warning("The book's table of contents cannot be read: %s.", error)
        return {}, navigation
    return {place_of(base, target): title for target, title in links if title}, navigation


def ncx_links(contents: ElementTree.Element) -> list[tuple[str, str]]:
    """Return the targets and titles in an NCX, the table of contents of EPUB 2."""
    links = []
    for point in contents.iter():
        if local(point) != "navPoint":
            continue
        title = next((text(node) for node in point.iter() if local(node) == "text"), "")
        target = next((node.get("src", "") for node in point if local(node) == "content"), "")
        links.append((target, title))
    return links


def links_of(page: str) -> list[tuple[str, str]]:
    """Return the targets and titles in a navigation page, the table of contents of EPUB 3."""
    reader = _Contents()
    reader.feed(page)
    reader.close()
    return [(target, " ".join(title.split())) for target, title in reader.links]


class _Contents(HTMLParser):
    """Collects the links within ``<nav epub:type="toc">``, or within the first ``<nav>`` if it has
    no type."""

    def __init__(self) -> None:
        super().__init__()
        self.links = list[tuple[str, str]]()
        self._is_toc = False
        self._in_link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a link, if the tag is one in the table of contents."""
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
    """Divide pages into chapters, which begin where the table of contents says.

    Without a table, each page is a chapter. A page that the table does not name belongs to the
    chapter before it. If a chapter begins with a page without text, such as a picture, its title
    goes to the next page."""
    title = ""
    passages = list[Passage]()
    contents = existing(pages, contents)
    # Title of the chapter that begins with the next text: "" without a title, None if none begins.
    page_title = None
    for page, blocks in pages.items():
        page_title = contents.get(Place(page, ""), page_title)
        if not blocks:
            continue
        if page_title is None and (not contents or not passages):
            page_title = ""
        for number, block in enumerate(blocks):
            new_title = title_at(page, block, contents)
            if number == 0 and new_title is None:
                new_title = page_title
            if new_title is not None:
                if passages:
                    yield Chapter(title, tuple(passages))
                title = new_title or (block.text if block.heading else "")
                passages = []
            passages.append(block)
        page_title = None
    if passages:
        yield Chapter(title, tuple(passages))


def title_at(page: str, block: Passage, contents: Mapping[Place, str]) -> str | None:
    """Return the title of the chapter that begins with a block; None if none does."""
    titles = [contents[place] for name in block.ids if (place := Place(page, name)) in contents]
    return titles[-1] if titles else None


def existing(pages: Mapping[str, list[Passage]], contents: Mapping[Place, str]) -> dict[Place, str]:
    """Drop entries of a table of contents whose page does not exist. Entries for an element that
    its page does not have are moved to the beginning of the page."""
    titles = dict[Place, str]()
    for place, title in contents.items():
        names = {name for block in pages.get(place.page, ()) for name in block.ids}
        if place.page in pages:
            titles.setdefault(place if place.name in names else Place(place.page, ""), title)
    return titles


def cover(
    archive: Archive,
    package: ElementTree.Element,
    items: Mapping[str, ElementTree.Element],
    folder: str,
) -> bytes:
    """Return the file of the cover if it is JPEG or PNG, which players show; otherwise nothing.

    EPUB 3 marks the file in the manifest, EPUB 2 names its id in a ``meta`` element."""
    ids = [
        node.get("content", "")
        for node in package.iter()
        if local(node) == "meta" and node.get("name") == "cover"
    ]
    covers = [
        item for item in items.values() if "cover-image" in item.get("properties", "").split()
    ]
    covers += [items[name] for name in ids if name in items]
    for item in covers:
        if item.get("media-type") in ("image/jpeg", "image/png"):
            try:
                return archive.read(within(folder, item.get("href", "")))
            except (KeyError, OSError) as error:
                log.warning("The book's cover is left out: %s.", error)
    return b""


def local(node: ElementTree.Element) -> str:
    """Return an element's name without its namespace."""
    return str(node.tag).rpartition("}")[2]


def text(node: ElementTree.Element) -> str:
    """Return the text in an element, with single spaces."""
    return " ".join("".join(node.itertext()).split())


def metas(package: ElementTree.Element, name: str) -> list[str]:
    """Return the values of a Dublin Core element, such as ``creator``, in the package document."""
    values = [
        text(node)
        for node in package.iter()
        if str(node.tag).endswith(f"/dc/elements/1.1/}}{name}")
    ]
    return [value for value in values if value]


def meta(package: ElementTree.Element, name: str) -> str:
    """Return the first value of a Dublin Core element; empty if there is none."""
    return next(iter(metas(package, name)), "")


def within(folder: str, link: str) -> str:
    """Return the name in the archive of the file to which a link in ``folder`` leads."""
    return posixpath.normpath(posixpath.join(folder, unquote(link.partition("#")[0])))


def place_of(folder: str, link: str) -> Place:
    """Return the target of a link in ``folder``."""
    return Place(within(folder, link), unquote(link.partition("#")[2]))
