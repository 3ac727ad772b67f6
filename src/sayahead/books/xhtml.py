"""Reads a page of a book from HTML: the blocks of text that somebody would read aloud."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from sayahead.books.book import Passage

HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
BLOCKS = HEADINGS | frozenset(
    (
        "address article aside blockquote body center dd div dl dt fieldset figcaption figure"
        " footer form header hr li main ol p pre section table tbody tfoot thead tr ul"
    ).split()
)
EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())
"""Elements without an end tag."""
SILENT = frozenset(
    "audio button canvas head iframe math nav noscript object rp rt script select style svg"
    " template textarea video".split()
)
"""Elements whose content is not read."""
ASIDE = frozenset(
    "biblioentry endnote endnotes footnote footnotes index landmarks loi lot noteref page-list"
    " pagebreak rearnote rearnotes toc".split()
)
"""Types of parts that are not read (epub:type; as a role with "doc-" before it)."""
NOTE = re.compile(r"[\d*†‡§¶,\s\[\]()]+")
"""A superscript that refers to a note."""
LINKED_NOTE = re.compile(r"\s*(?:[\[(]\s*(?:\d+|[*†‡§¶↑↩^])\ufe0e?\s*[\])]|[*†‡§¶↑↩^]+\ufe0e?)\s*")
"""The text of a link to a note, or back from it, that is not a superscript."""
UNSEEN = str.maketrans(dict.fromkeys("\u00ad\u200b\ufeff\u2060", ""))
"""Removes invisible characters, such as soft hyphens."""


def blocks_of(page: str) -> list[Passage]:
    """Return the blocks of a page in order, without notes, page numbers, tables of contents and
    hidden elements."""
    reader = _Page()
    reader.feed(page)
    reader.close()
    reader.end_block()
    return reader.blocks


class _Page(HTMLParser):
    """Collects the blocks of a page; call ``end_block`` after the last tag."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = list[Passage]()
        # Text, names and kind of the block that is being read.
        self._parts = list[str]()
        self._ids = list[str]()
        self._heading = False
        # Text of the open superscript.
        self._superscript = ""
        # Index in the parts at which a link within the book began; None outside one.
        self._link: int | None = None
        # The open elements: tag, whether it is silent, and whether it is a line of its own.
        self._open = list[tuple[str, bool, bool]]()
        # The next number of each open list; None without numbers.
        self._numbers = list[int | None]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element, and the block that it may be."""
        known = dict(attrs)
        if tag in BLOCKS:
            self.end_block()
        if tag not in EMPTY:
            self._begin(tag, known)
        self._ids += [name for key in ("id", "name") if (name := known.get(key))]
        self._heading = self._heading or tag in HEADINGS
        self._begin_content(tag, known)

    def _begin_content(self, tag: str, known: dict[str, str | None]) -> None:
        """Prepare for an element's content, by its tag.

        Some elements stand for text of their own: a line break, an item's number, a comma between
        cells, a formula in words. A list begins its numbers. Where a link within the book begins
        is noted, since the link is dropped at its end if it only refers to a note."""
        match tag:
            case "a":
                self._link = len(self._parts) if "#" in (known.get("href") or "") else None
            case "br":
                self._parts.append("\n")
            case "ol" | "ul":
                self._numbers.append(first_number(known) if tag == "ol" else None)
            case "li":
                self._number(known)
            case "td" | "th" if "".join(self._parts).strip():
                self._parts.append(", ")
            # The formula itself is silent; what encloses it must not be.
            case "math" if not self._is_silent(below=1):
                self._parts.append(known.get("alttext") or "")

    def _begin(self, tag: str, attrs: dict[str, str | None]) -> None:
        """Note an element that has an end tag."""
        is_line = tag not in BLOCKS and "display:block" in style_of(attrs)
        if is_line:
            self._parts.append("\n")
        self._open.append((tag, is_silent(tag, attrs), is_line))

    def handle_endtag(self, tag: str) -> None:
        """End an element, and with it those inside whose end tags are missing."""
        if tag == "sup":
            # The superscript of 1st belongs to the word; that of 1998³ refers to a note.
            if not NOTE.fullmatch(self._superscript):
                self._parts.append(self._superscript)
            self._superscript = ""
        if tag in BLOCKS:
            self.end_block()
        if tag in ("ol", "ul") and self._numbers:
            self._numbers.pop()
        if tag == "a":
            self._end_link()
        tags = [open_tag for open_tag, _, _ in self._open]
        if tag in tags:
            last = len(tags) - 1 - tags[::-1].index(tag)
            _, _, is_line = self._open[last]
            if is_line:
                self._parts.append("\n")
            del self._open[last:]

    def handle_data(self, data: str) -> None:
        """Add text to the block, unless it is silent."""
        if self._is_silent():
            return
        tags = {tag for tag, _, _ in self._open}
        if "sup" in tags:
            self._superscript += data
        else:
            self._parts.append(data if "pre" in tags else re.sub(r"\s", " ", data))

    def end_block(self) -> None:
        """Add the text since the last block as a block, unless it is empty."""
        lines = (
            " ".join(line.split()) for line in "".join(self._parts).translate(UNSEEN).split("\n")
        )
        text = "\n".join(line for line in lines if line)
        self._parts = []
        self._link = None
        if text:
            self.blocks.append(Passage(text, self._heading, tuple(self._ids)))
            # Ids of a block without text are kept for the next one.
            self._ids = []
        self._heading = False

    def _is_silent(self, *, below: int = 0) -> bool:
        """Return whether the open elements are not read, except for the ``below`` last ones."""
        return any(silent for _, silent, _ in self._open[: len(self._open) - below])

    def _end_link(self) -> None:
        """End a link, and drop its text if it leads to a note."""
        if self._link is not None and LINKED_NOTE.fullmatch("".join(self._parts[self._link :])):
            del self._parts[self._link :]
        self._link = None

    def _number(self, attrs: dict[str, str | None]) -> None:
        """Add the number of a list's item."""
        if self._is_silent() or not self._numbers or self._numbers[-1] is None:
            return
        value = attrs.get("value") or ""
        number = int(value) if value.isdecimal() else self._numbers[-1]
        self._parts.append(f"{number}. ")
        self._numbers[-1] = number + 1


def is_silent(tag: str, attrs: dict[str, str | None]) -> bool:
    """Return whether the content of an element is not read."""
    kinds = f"{attrs.get('epub:type') or ''} {attrs.get('role') or ''}".replace("doc-", "").split()
    return (
        tag in SILENT
        or bool(ASIDE & set(kinds))
        or "hidden" in attrs
        or attrs.get("aria-hidden") == "true"
        or "display:none" in style_of(attrs)
    )


def style_of(attrs: dict[str, str | None]) -> str:
    """Return the value of an element's style attribute, in lower case without spaces."""
    return (attrs.get("style") or "").replace(" ", "").lower()


def first_number(attrs: dict[str, str | None]) -> int:
    """Return the number with which a list begins."""
    start = attrs.get("start") or "1"
    return int(start) if start.lstrip("-").isdecimal() else 1
