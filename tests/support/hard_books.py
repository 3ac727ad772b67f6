"""Eleven EPUBs that are difficult to read out, made of texts whose copyright has ended:

    python -m support.hard_books FOLDER

Each is told with what a reader would hear, chapter by chapter: what the books are made of, not what
``sayahead.books`` reads in them."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.epubs import epub

ALICE = (
    "Alice was beginning to get very tired of sitting by her sister on the bank, and of having"
    " nothing to do.",
    "There was nothing so very remarkable in that; nor did Alice think it so very much out of the"
    " way to hear the Rabbit say to itself, “Oh dear! Oh dear! I shall be late!”",
    "Down, down, down. Would the fall never come to an end?",
    "The rabbit-hole went straight on like a tunnel for some way, and then dipped suddenly down.",
)
MOBY = (
    "Call me Ishmael.",
    "Some years ago, never mind how long precisely, having little or no money in my purse, and"
    " nothing particular to interest me on shore, I thought I would sail about a little and see the"
    " watery part of the world.",
    "It is a way I have of driving off the spleen and regulating the circulation.",
)
PRIDE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune,"
    " must be in want of a wife.",
    "“My dear Mr. Bennet,” said his lady to him one day, “have you heard that Netherfield Park is"
    " let at last?”",
    "Mr. Bennet replied that he had not.",
)
TYGER = (
    "Tyger Tyger, burning bright,",
    "In the forests of the night;",
    "What immortal hand or eye,",
    "Could frame thy fearful symmetry?",
)
JABBERWOCKY = (
    "’Twas brillig, and the slithy toves",
    "Did gyre and gimble in the wabe:",
    "All mimsy were the borogoves,",
    "And the mome raths outgrabe.",
)
HUGE = 150
"""Times that a huge chapter repeats its paragraphs."""


@dataclass(frozen=True, slots=True)
class HardBook:
    """An EPUB, and what is heard of it."""

    data: bytes
    chapters: tuple[tuple[str, str], ...]
    """Titles and texts."""


def heard(title: str, *paragraphs: str) -> tuple[str, str]:
    """A chapter as it is heard."""
    return title, " ".join(paragraphs)


def page(*parts: str) -> str:
    """A page with what stands in its body."""
    body = "\n".join(parts)
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"'
        ' xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Not read</title>'
        f"<style>p {{ margin: 0 }}</style></head><body>{body}</body></html>"
    )


def paragraphs(texts: Sequence[str]) -> str:
    return "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)


def nested() -> HardBook:
    """Parts within volumes; a chapter over three pages, and three chapters on a page."""
    pages = {
        "v1/part.xhtml": page('<div class="x"><section><h1>Volume One</h1></section></div>'),
        "v1/c1.xhtml": page(f"<h2>Chapter 1</h2>{paragraphs(ALICE[:1])}"),
        "v1/c1-split2.xhtml": page(paragraphs(ALICE[1:2])),
        "v1/c1-split3.xhtml": page(paragraphs(ALICE[2:3])),
        "v2/all.xhtml": page(
            '<section id="v2"><h1>Volume Two</h1>',
            f'<section><a id="c2"></a><h2>Chapter 2</h2>{paragraphs(MOBY[:1])}</section>',
            f'<section id="c3"><h2>Chapter 3</h2>{paragraphs(MOBY[1:2])}</section>',
            f'<h2><span id="c4">Chapter</span> 4</h2><div><div>{MOBY[2]}</div></div></section>',
        ),
    }
    contents = (
        ("v1/part.xhtml", "Volume One"),
        ("v1/c1.xhtml", "Chapter 1"),
        ("v2/all.xhtml#v2", "Volume Two"),
        ("v2/all.xhtml#c2", "Chapter 2"),
        ("v2/all.xhtml#c3", "Chapter 3"),
        ("v2/all.xhtml#c4", "Chapter 4"),
    )
    return HardBook(
        epub(pages, contents=contents),
        (
            heard("Volume One", "Volume One"),
            heard("Chapter 1", "Chapter 1", *ALICE[:3]),
            heard("Volume Two", "Volume Two"),
            heard("Chapter 2", "Chapter 2", MOBY[0]),
            heard("Chapter 3", "Chapter 3", MOBY[1]),
            heard("Chapter 4", "Chapter 4", MOBY[2]),
        ),
    )


def notes() -> HardBook:
    """Notes of EPUB 3: beside the text, behind the chapter, and on a page of their own."""
    pages = {
        "a.xhtml": page(
            '<h1>Loomings<a epub:type="noteref" href="#n1">1</a></h1>',
            f'<p>{MOBY[0]}<sup><a epub:type="noteref" href="#n2" role="doc-noteref">*</a></sup></p>'
            '<aside epub:type="footnote" id="n2"><p>Not read, beside.</p></aside>',
            f'<p>{MOBY[1]}<a epub:type="noteref" href="n.xhtml#x"><sup>12</sup></a></p>',
            '<section epub:type="footnotes"><ol><li id="n1"><p>Not read, behind.</p></li></ol>'
            "</section>",
            f"<p>{MOBY[2]}</p>",
        ),
        "n.xhtml": page('<h1>Notes</h1><p id="x">Not read, elsewhere.</p>'),
        "b.xhtml": page(f"<h1>The Bank</h1>{paragraphs(ALICE[:1])}"),
        "e.xhtml": page('<section role="doc-endnotes"><h1>Endnotes</h1><p>Not read.</p></section>'),
    }
    contents = (("a.xhtml", "Loomings"), ("b.xhtml", "The Bank"), ("e.xhtml", "Endnotes"))
    return HardBook(
        epub(pages, contents=contents, skipped=["n.xhtml"]),
        (heard("Loomings", "Loomings", *MOBY), heard("The Bank", "The Bank", ALICE[0])),
    )


def plain_notes() -> HardBook:
    """Notes that are links and nothing more, as books before EPUB 3 have them."""
    pages = {
        "a.xhtml": page(
            '<h1>Of a Fortune<a href="#f1" id="r1">[1]</a></h1>',
            f'<p>{PRIDE[0]}<a href="#f2">[2]</a> <a class="x" href="b.xhtml#f3"><span>†</span></a>'
            "</p>",
            f'<p>{PRIDE[1]}<a href="#f4"><sup>4</sup></a></p>',
            f"<p>{PRIDE[2]}<sup>[5]</sup></p>",
            '<p>See <a href="b.xhtml">the other chapter</a>, in <a href="b.xhtml#y">1813</a>.</p>',
        ),
        "b.xhtml": page(
            f"<h1>Of a Bank</h1>{paragraphs(ALICE[:1])}"
            '<p id="f3"><a href="a.xhtml#r1">↩</a> A note that is a paragraph.'
            ' <a href="a.xhtml#r1">[↑]</a></p>'
        ),
    }
    contents = (("a.xhtml", "Of a Fortune"), ("b.xhtml", "Of a Bank"))
    more = "See the other chapter, in 1813."
    return HardBook(
        epub(pages, contents=contents, version=2),
        (
            heard("Of a Fortune", "Of a Fortune", *PRIDE, more),
            heard("Of a Bank", "Of a Bank", ALICE[0], "A note that is a paragraph."),
        ),
    )


def tables() -> HardBook:
    """Tables: with heads and feet, empty cells, paragraphs in cells, one in another."""
    rows = (
        "<table><caption>Whales</caption><thead><tr><th>Name</th><th>Length</th></tr></thead>"
        "<tbody><tr><td>Sperm</td><td>sixty feet</td></tr><tr><td>Right</td><td></td></tr>"
        "<tr><td><p>Fin back</p></td><td><p>ninety feet</p></td></tr></tbody>"
        "<tfoot><tr><td colspan='2'>Mostly guessed</td></tr></tfoot></table>"
    )
    layout = (
        f"<table><tr><td><p>{MOBY[0]}</p><table><tr><td>inner left</td><td>inner right</td></tr>"
        f"</table></td><td>{MOBY[2]}</td></tr></table>"
    )
    pages = {"a.xhtml": page("<h1>Cetology</h1>", rows, layout, paragraphs(ALICE[:1]))}
    said = "Whales Name, Length Sperm, sixty feet Right Fin back ninety feet Mostly guessed"
    return HardBook(
        epub(pages, contents=(("a.xhtml", "Cetology"),)),
        (
            heard(
                "Cetology", "Cetology", said, MOBY[0], "inner left, inner right", MOBY[2], ALICE[0]
            ),
        ),
    )


def verse() -> HardBook:
    """Verse by breaks, by paragraphs, by spans that are blocks, and as it was typed."""
    lines = "<br/>\n".join(TYGER)
    spans = "".join(f'<span style="display: block">{line}</span>' for line in JABBERWOCKY)
    pages = {
        "a.xhtml": page(f'<h1>The Tyger</h1><blockquote class="v"><p>{lines}</p></blockquote>'),
        "b.xhtml": page(f'<h1>Jabberwocky</h1><div class="stanza">{spans}</div>'),
        "c.xhtml": page("<h1>Again</h1><pre>" + "\n   ".join(TYGER) + "</pre>"),
    }
    contents = (("a.xhtml", "The Tyger"), ("b.xhtml", "Jabberwocky"), ("c.xhtml", "Again"))
    return HardBook(
        epub(pages, contents=contents),
        (
            heard("The Tyger", "The Tyger", *TYGER),
            heard("Jabberwocky", "Jabberwocky", *JABBERWOCKY),
            heard("Again", "Again", *TYGER),
        ),
    )


HOSTILE = (
    "../../etc/passwd",
    "CON: a/b\\c * ? | end",
    "The same",
    "The same",
    "“Quotes” & <b>marks</b> 🐋",
    "Very long " * 40,
    "...",
)
"""Titles of chapters that no file could be named after."""


def hostile_names() -> HardBook:
    """Titles that lead out of a folder, that no system allows, twice, endless; pages likewise."""
    names = (
        "x/../a%20b.xhtml",
        "Größe.xhtml",
        "c&amp;d.xhtml",
        "%25.xhtml",
        "E.XHTML",
        "f;g.xhtml",
        "h'i.xhtml",
    )
    pages = {
        name: page(paragraphs([f"Words {number}.", MOBY[0]])) for number, name in enumerate(names)
    }
    files = {html.unescape(name): text for name, text in pages.items()}
    hrefs = {html.unescape(name): name for name in pages}
    hrefs["E.XHTML"] = "./e.xhtml"
    links = [hrefs[name] for name in files]
    contents = [(link, html.escape(title)) for link, title in zip(links, HOSTILE, strict=True)]
    return HardBook(
        epub(files, contents=contents, hrefs=hrefs),
        tuple(
            heard(" ".join(title.split()), f"Words {number}.", MOBY[0])
            for number, title in enumerate(HOSTILE)
        ),
    )


def encodings() -> HardBook:
    """UTF-16 with either mark and with a declaration, Latin 1, a mark of UTF-8."""
    texts = ("Naïve façade.", "Señor Ñandú.", "Crème brûlée.", "Über große Wale.")
    one, two, three, four = (page(paragraphs([text])) for text in texts)
    latin = three.replace("utf-8", "iso-8859-1").encode("latin-1")
    pages = {
        "a.xhtml": b"\xff\xfe" + one.encode("utf-16-le"),
        "b.xhtml": b"\xfe\xff" + two.replace("utf-8", "utf-16").encode("utf-16-be"),
        "c.xhtml": latin,
        "d.xhtml": b"\xef\xbb\xbf" + four.encode(),
    }
    contents = [(f"{name}.xhtml", f"Chapter {name.upper()}") for name in "abcd"]
    return HardBook(
        epub(pages, contents=contents),
        tuple(heard(title, text) for (_, title), text in zip(contents, texts, strict=True)),
    )


def without_contents() -> HardBook:
    """A table of contents that leads nowhere, and a page that is not there."""
    pages = {
        "a.xhtml": page(f"<h1>Chapter the First</h1>{paragraphs(PRIDE[:1])}"),
        "gone.xhtml": None,
        "b.xhtml": page(f"<p>{PRIDE[1]}</p>"),
        "c.xhtml": page(f"<h3>Chapter the Last</h3>{paragraphs(PRIDE[2:])}"),
    }
    return HardBook(
        epub(pages, contents=(("other.xhtml", "Nowhere"), ("gone.xhtml#x", "Gone"))),
        (
            heard("Chapter the First", "Chapter the First", PRIDE[0]),
            heard("", PRIDE[1]),
            heard("Chapter the Last", "Chapter the Last", PRIDE[2]),
        ),
    )


def images() -> HardBook:
    """Chapters that begin with a page of a picture alone, or whose page is nothing else."""
    picture = '<div><img src="c.png" alt="Not read"/></div><svg><text>Not read</text></svg>'
    pages = {
        "cover.xhtml": page(picture),
        "one.xhtml": page(picture),
        "one-text.xhtml": page(paragraphs(ALICE[:2])),
        "plate.xhtml": page(f"<figure>{picture}</figure>"),
        "two.xhtml": page(f'<div id="two">{picture}</div>', paragraphs(ALICE[2:])),
        "end.xhtml": page(picture),
    }
    contents = (
        ("cover.xhtml", "Cover"),
        ("one.xhtml", "Down the Hole"),
        ("two.xhtml#two", "A Tunnel"),
        ("end.xhtml", "The End"),
    )
    return HardBook(
        epub(pages, contents=contents),
        (heard("Down the Hole", *ALICE[:2]), heard("A Tunnel", *ALICE[2:])),
    )


def ruby() -> HardBook:
    """Readings beside words, soft hyphens, initials, marks of pages in words."""
    text = (
        "<p><ruby>Call<rp>(</rp><rt>kôl</rt><rp>)</rp></ruby> me "
        "<ruby><rb>Ish</rb><rtc><rt>x</rt></rtc></ruby>mael.</p>"
        "<p><span class='drop'>S</span>ome ye&shy;ars a<span epub:type='pagebreak' id='p7'"
        " title='7'></span>go, nev<wbr/>er mi\u200bnd.</p>"
        "<p>1<sup>st</sup> of all,<sup>7</sup> H<sub>2</sub>O.</p>"
    )
    return HardBook(
        epub({"a.xhtml": page("<h1>Glosses</h1>", text)}, contents=(("a.xhtml", "Glosses"),)),
        (heard("Glosses", "Glosses", MOBY[0], "Some years ago, never mind.", "1st of all, H2O."),),
    )


def huge() -> HardBook:
    """A chapter of thousands of words, on one line, before a short one."""
    texts = (PRIDE[2], MOBY[0], ALICE[2])
    whole = "".join(f"<p>{text}</p>" for text in texts * HUGE)
    pages = {"a.xhtml": page(whole), "b.xhtml": page("<h1>Short</h1>")}
    contents = (("a.xhtml", "Long"), ("b.xhtml", "Short"))
    return HardBook(
        epub(pages, contents=contents), (heard("Long", *texts * HUGE), heard("Short", "Short"))
    )


BOOKS = {
    make.__name__: make
    for make in (
        nested,
        notes,
        plain_notes,
        tables,
        verse,
        hostile_names,
        encodings,
        without_contents,
        images,
        ruby,
        huge,
    )
}


def main(folder: Path) -> Iterator[Path]:
    """Write the books into a folder; their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in BOOKS.items():
        path = folder / f"{name}.epub"
        path.write_bytes(make().data)
        yield path


if __name__ == "__main__":
    print(*main(Path(sys.argv[1])), sep="\n")
