"""Books that are made to be difficult: every word is heard once and in order, in its chapter."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path

import av
import pytest
from support.hard_books import BOOKS
from support.servers import toy_voice

from sayahead.books import read_book
from sayahead.books.audio import speak_book
from sayahead.books.folder import write_folder
from sayahead.books.m4b import write_m4b
from sayahead.books.read_along import write_page

CUE = re.compile(r"\d\d:\d\d\.\d\d\d --> .*\n((?:.+\n?)+)")
TIME = re.compile(r"<[\d:.]+>")


def words(text: str) -> list[str]:
    """Words of a text, without what stands between them."""
    return re.findall(r"[^\W_]+", text)


def captions(paths: Iterable[Path]) -> list[list[str]]:
    """The words of each file's captions."""
    return [
        words(html.unescape(TIME.sub(" ", " ".join(CUE.findall(path.read_text(encoding="utf-8"))))))
        for path in sorted(paths)
    ]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "huge" else ()) for name in BOOKS]
)
def test_every_word_is_heard_once_and_in_order(name: str, tmp_path: Path) -> None:
    hard = BOOKS[name]()
    (tmp_path / "book.epub").write_bytes(hard.data)
    book = read_book(tmp_path / "book.epub")
    expected = [words(text) for _, text in hard.chapters]
    assert [chapter.title for chapter in book.chapters] == [title for title, _ in hard.chapters]
    assert [words(chapter.text) for chapter in book.chapters] == expected
    voice = toy_voice()
    spoken = list(speak_book(book, voice, tmp_path / "work"))
    folder = tmp_path / "out"
    write_folder(folder, spoken, ending="wav", sample_rate=voice.sample_rate)
    assert captions(folder.glob("*.vtt")) == expected
    assert len(list(folder.glob("*.wav"))) == len(expected)
    # No name leads anywhere else.
    assert {path.name for path in tmp_path.iterdir()} == {"book.epub", "work", "out"}
    write_m4b(tmp_path / "book.m4b", book, spoken, sample_rate=voice.sample_rate)
    with av.open(str(tmp_path / "book.m4b")) as file:
        titles = [mark["metadata"]["title"] for mark in file.chapters()]
    assert titles == [title or str(number) for number, (title, _) in enumerate(hard.chapters, 1)]
    page = tmp_path / "page.html"
    write_page(page, "book.m4b", book, spoken, sample_rate=voice.sample_rate)
    marked = re.findall(r"<b>(.*?)</b>", page.read_text(encoding="utf-8").partition("<main>")[2])
    assert words(html.unescape(" ".join(marked))) == [
        word for chapter in expected for word in chapter
    ]
