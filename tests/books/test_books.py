"""Books: what is read of files that are made to be difficult, and in what order."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.epubs import epub

from sayahead import ConfigError
from sayahead.books import Passage, read_book
from sayahead.books.epub import read_epub
from sayahead.books.xhtml import blocks_of

PAGE = """<html><head><title>no</title></head><body><nav><a>Contents</a></nav>
<h1>Chapter <em>One</em></h1><p>In 1998<sup>3</sup> the 1<sup>st</sup> came<a epub:type="noteref">4</a>
home<sup><a href="#n">5</a></sup>.<span epub:type="pagebreak" title="7">7</span></p>
<h2>Later</h2><ol start="3"><li>third</li><li>fourth</li></ol><ul><li>item</li></ul>
<table><tr><th>A</th><td>B</td></tr><tr><td>C</td><td>D</td></tr></table><pre>one
two</pre><aside epub:type="footnote">a note</aside><div hidden="">no</div><p aria-hidden="true">no</p></body></html>"""  # noqa: E501


def read(page: str) -> list[str]:
    return [block.text for block in blocks_of(page)]


def test_a_page_is_read_as_a_reader_would() -> None:
    assert read(PAGE) == [
        "Chapter One",
        "In 1998 the 1st came home.",
        "Later",
        "3. third",
        "4. fourth",
        "item",
        "A, B",
        "C, D",
        "one\ntwo",
    ]
    assert [block.text for block in blocks_of(PAGE) if block.heading] == ["Chapter One", "Later"]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>Roses are red,<br/>violets are blue.</p>", ["Roses are red,\nviolets are blue."]),
        ('<p><span class="drop">T</span>here it was.</p>', ["There it was."]),
        ("<p>un&shy;break&#8203;able &amp; so</p>", ["unbreakable & so"]),
        ("<p>a <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> b</p>", ["a 漢 b"]),
        ('<p>As <math alttext="x = 1"><mi>x</mi></math> is.</p>', ["As x = 1 is."]),
        ("<p>Before<img alt='no' src='x'/>after<svg><text>no</text></svg></p>", ["Beforeafter"]),
        ("<div>Loose<p>inner</p>text</div>", ["Loose", "inner", "text"]),
        ("<dl><dt>Term</dt><dd>What it is.</dd></dl>", ["Term", "What it is."]),
        ('<ol><li>a</li><li value="7">b</li><li>c</li></ol>', ["1. a", "7. b", "8. c"]),
        ("<ol><li>a<ol><li>b</li></ol></li><li>c</li></ol>", ["1. a", "1. b", "2. c"]),
        ('<p style="display: none">no</p><p>yes', ["yes"]),
        ('<section role="doc-endnotes"><p>1. See there.</p></section><p>End.</p>', ["End."]),
        ("<p>One</p>\n\n<hr/><p> </p><p>two</p>", ["One", "two"]),
        ("<script>var a = '<p>no</p>';</script><p>yes</p>", ["yes"]),
        ("<p>H<sub>2</sub>O and x<sup>n</sup></p>", ["H2O and xn"]),
    ],
)
def test_a_page_of_a_kind(page: str, expected: list[str]) -> None:
    assert read(page) == expected


@given(st.text(alphabet="<>/&;#ab p\"'=!-\n", max_size=60))
def test_any_page_is_read(page: str) -> None:
    assert all(block.text.strip() for block in blocks_of(page))


PAGES = {
    "one.xhtml": '<h1 id="a">One</h1><p>first</p><h2 id="b">Two</h2><p>second</p>',
    "more.xhtml": "<p>still second</p>",
    "text/three%20x.xhtml": "<h1>Three</h1><p>third</p>",
}
CONTENTS = (("one.xhtml#a", "I"), ("one.xhtml#b", "II"), ("text/three%20x.xhtml", "III"))


@pytest.mark.parametrize("version", [2, 3])
def test_chapters_begin_where_the_contents_say(version: int) -> None:
    book = read_epub(epub(PAGES, contents=CONTENTS, version=version), "book.epub")
    assert (book.title, book.author, book.language) == ("The Title", "Ann Author", "en-GB")
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("I", "One\n\nfirst"),
        ("II", "Two\n\nsecond\n\nstill second"),
        ("III", "Three\n\nthird"),
    ]


def test_without_contents_each_page_is_a_chapter() -> None:
    book = read_epub(epub(PAGES), "book.epub")
    assert [chapter.title for chapter in book.chapters] == ["One", "", "Three"]


def test_every_word_is_read_once_and_in_order_whatever_the_contents_say() -> None:
    words = "first second still third".split()
    for contents in (
        (),
        CONTENTS[::-1],
        (("gone.xhtml", "?"), ("one.xhtml#no", "no"), ("one.xhtml", "")),
        (("one.xhtml", "I"), ("one.xhtml", "again"), ("more.xhtml#x", "II")),
    ):
        text = " ".join(
            chapter.text for chapter in read_epub(epub(PAGES, contents=contents), "").chapters
        )
        assert [word for word in text.split() if word in words and word != "second"] == [
            "first",
            "still",
            "third",
        ]


def test_pages_in_other_encodings_names_and_orders_are_found() -> None:
    pages: dict[str, str | bytes] = {
        "Text/A.XHTML": '<?xml version="1.0" encoding="iso-8859-1"?><p>naïve</p>'.encode("latin-1"),
        "b.xhtml": "<p>größer</p>".encode("utf-16"),
        "c.xhtml": b"\xef\xbb\xbf<p>\xc3\xa9t\xc3\xa9</p>",
    }
    data = epub(pages, hrefs={"Text/A.XHTML": "./x/../text/a.xhtml"}, skipped=["c.xhtml"])
    assert [chapter.text for chapter in read_epub(data, "").chapters] == ["naïve", "größer"]


def test_what_is_missing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    book = read_epub(epub({"a.xhtml": "<p>here</p>", "b.xhtml": None}), "")
    assert [chapter.text for chapter in book.chapters] == ["here"]
    assert "b.xhtml" in caplog.text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no EPUB"),
        (b"PK\x03\x04 broken", "is no EPUB"),
        (epub({"a.xhtml": "<p>x</p>"}, locked=["OEBPS/a.xhtml"]), "is protected"),
        (epub({"a.xhtml": "<p><img/></p>"}), "has no text"),
        (epub({}), "has no text"),
    ],
)
def test_a_book_that_cannot_be_read_says_why(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "book.epub").write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        read_book(tmp_path / "book.epub")


def test_fonts_may_be_encrypted() -> None:
    data = epub({"a.xhtml": "<p>x</p>"}, locked=["OEBPS/fonts/a.otf"])
    assert read_epub(data, "").chapters[0].text == "x"


def test_an_archive_without_a_package_says_so(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "book.epub", "w") as file:
        file.writestr("other", "x")
    with pytest.raises(ConfigError, match=r"there is no META-INF/container.xml in it"):
        read_book(tmp_path / "book.epub")
    with pytest.raises(ConfigError, match=r"a book ends with .epub, .md, .txt"):
        read_book(tmp_path / "book.pdf")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_book(tmp_path / "gone.md")


def test_markdown_and_text(tmp_path: Path) -> None:
    text = "before\n\n# One\nfirst\nline\n\n### Within\n\n- item\n\nTwo\n---\n\nsecond\n"
    (tmp_path / "book.md").write_text(text, encoding="utf-8")
    book = read_book(tmp_path / "book.md")
    assert [(chapter.title, chapter.text) for chapter in book.chapters] == [
        ("", "before"),
        ("One", "One\n\nfirst\nline\n\nWithin\n\n- item"),
        ("Two", "Two\n\nsecond"),
    ]
    assert book.chapters[1].blocks[0] == Passage("One", heading=True)
    text = "The Book\r\n\r\nChapter I\r\n\r\n# no heading\r\n\r\nChapter Two: Home\r\n\r\nx"
    (tmp_path / "book.txt").write_bytes(text.encode("utf-16"))
    titles = [chapter.title for chapter in read_book(tmp_path / "book.txt").chapters]
    assert titles == ["", "Chapter I", "Chapter Two: Home"]


def test_blocks_have_their_places() -> None:
    for chapter in read_epub(epub(PAGES, contents=CONTENTS), "").chapters:
        for at, block in chapter.places():
            assert chapter.text[at : at + len(block.text)] == block.text
