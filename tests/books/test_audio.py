"""Audiobooks: one file with chapters, a folder, a page that reads along, going on."""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from support.epubs import epub
from support.servers import toy_voice

from sayahead.books import Book, read_book
from sayahead.books.audio import Progress, SpokenChapter, speak_book
from sayahead.books.folder import write_folder
from sayahead.books.m4b import write_m4b
from sayahead.books.read_along import heard_places, write_page
from sayahead.cli import main

PAGES = {
    "a.xhtml": "<h1>One</h1><p>It costs <em>five</em> &lt;now&gt;.</p>",
    "b.xhtml": "<h1>Two, 2/3</h1><p>Roses are red,<br/>violets blue.</p>",
}


def picture() -> bytes:
    """A small PNG."""
    file = io.BytesIO()
    with av.open(file, "w", format="image2pipe") as out:
        stream = out.add_stream("png", rate=1)
        stream.width, stream.height, stream.pix_fmt = 16, 24, "rgb24"
        out.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((24, 16, 3), np.uint8))))
        out.mux(stream.encode(None))
    return file.getvalue()


@pytest.fixture
def book(tmp_path: Path) -> Book:
    (tmp_path / "book.epub").write_bytes(epub(PAGES, cover=picture()))
    return read_book(tmp_path / "book.epub")


def spoken(book: Book, folder: Path, **options: Any) -> list[SpokenChapter]:
    return list(speak_book(book, toy_voice(), folder, **options))


def test_one_file_has_chapters_names_and_a_cover(book: Book, tmp_path: Path) -> None:
    chapters = spoken(book, tmp_path / "work")
    rate = toy_voice().sample_rate
    write_m4b(tmp_path / "book.m4b", book, chapters, sample_rate=rate)
    assert (tmp_path / "book.m4b").read_bytes()[4:12] == b"ftypM4B "
    with av.open(str(tmp_path / "book.m4b")) as file:
        marks = [
            (mark["metadata"]["title"], float(mark["start"] * (mark["time_base"] or 0)))
            for mark in file.chapters()
        ]
        names = {name: file.metadata[name] for name in ("title", "artist", "genre")}
        assert {stream.type for stream in file.streams} >= {"audio", "video"}
        samples = sum(frame.samples for frame in file.decode(audio=0))
    assert [title for title, _ in marks] == ["One", "Two, 2/3"]
    assert [at for _, at in marks] == pytest.approx([0, chapters[0].samples / rate], abs=0.01)
    assert names == {"title": "The Title", "artist": "Ann Author", "genre": "Audiobook"}
    # The codec adds less than three of its frames.
    assert 0 <= samples - sum(chapter.samples for chapter in chapters) < 3 * 1024
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.epub", "book.m4b", "work"]


def test_a_cover_that_is_no_picture_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "book.epub").write_bytes(epub(PAGES, cover=b"no picture"))
    book = read_book(tmp_path / "book.epub")
    rate = toy_voice().sample_rate
    write_m4b(tmp_path / "book.m4b", book, spoken(book, tmp_path / "work"), sample_rate=rate)
    assert (tmp_path / "book.m4b").stat().st_size > 1000
    assert "cover is left out" in caplog.text


def test_what_was_stopped_goes_on(book: Book, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    first = next(speak_book(book, toy_voice(), folder))
    before = first.path.stat().st_mtime_ns
    seen = list[Progress]()
    again = spoken(book, folder, on_progress=seen.append)
    assert again[0] == first
    assert first.path.stat().st_mtime_ns == before
    assert {progress.number for progress in seen} == {2}
    assert seen[-1].characters == seen[-1].all_characters
    assert seen[-1].left_s == 0
    # Another text, another option or half a file is spoken again.
    again[0].path.with_suffix(".json").write_text('{"digest": ', encoding="utf-8")
    seen.clear()
    spoken(book, folder, on_progress=seen.append, speed=1.5)
    assert {progress.number for progress in seen} == {1, 2}


def test_an_error_leaves_no_chapter_that_counts(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spoken(book, tmp_path / "work", on_progress=stop)
    assert not list((tmp_path / "work").glob("*.flac"))
    assert len(spoken(book, tmp_path / "work")) == 2


def test_a_folder_has_a_file_a_chapter(book: Book, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    chapters = spoken(book, folder / ".chapters")
    write_folder(folder, chapters, ending="mp3", sample_rate=toy_voice().sample_rate)
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    expected = ["01 One.mp3", "01 One.vtt", "02 Two 23.mp3", "02 Two 23.vtt", "playlist.m3u"]
    assert names == expected
    listed = (folder / "playlist.m3u").read_text(encoding="utf-8").splitlines()
    assert [line.partition(",")[2] or line for line in listed] == [
        "#EXTM3U",
        "One",
        "01 One.mp3",
        "Two, 2/3",
        "02 Two 23.mp3",
    ]


def test_a_page_has_the_text_and_a_time_for_each_word(book: Book, tmp_path: Path) -> None:
    chapters = spoken(book, tmp_path / "work")
    rate = toy_voice().sample_rate
    write_page(tmp_path / "page.html", "the book.m4b", book, chapters, sample_rate=rate)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    main_part = page[page.index("<main>") : page.index("</main>")]
    blocks = re.findall(r"<(?:h2|p)>(.*?)</(?:h2|p)>", main_part, re.DOTALL)
    plain = [html.unescape(re.sub(r"</?b>", "", block)) for block in blocks]
    assert plain == [block.text for chapter in book.chapters for block in chapter.blocks]
    times = json.loads(re.findall(r"const times = (.*);", page)[0])
    assert (
        len(times)
        == main_part.count("<b>")
        == sum(len(heard_places(chapter.words)) for chapter in chapters)
    )
    assert times == sorted(times)
    assert times[-1] > chapters[0].samples / rate
    assert 'src="the%20book.m4b"' in page


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "book.md"
    text.write_text("# One\n\nHello there.\n\n# Two\n\nBye.\n", encoding="utf-8")
    assert main(["book", str(text), "--list"]) == 0
    assert re.search(r"One: about 0:00:0\d\n +1 .* One\n +2 .* Two\n", capsys.readouterr().out)
    place = tmp_path / "out" / "book.m4b"
    place.parent.mkdir()
    page = tmp_path / "page.html"
    arguments = ["book", str(text), "-o", str(place), "--read-along", str(page), "--chapters", "2"]
    assert main([*arguments, "--voice", "heart-low"]) == 0
    assert 'src="out/book.m4b"' in page.read_text(encoding="utf-8")
    assert [path.name for path in place.parent.iterdir()] == ["book.m4b"]
    assert main(["book", str(text), "--chapters", "3"]) == 2
    assert "the book has chapters 1 to 2" in capsys.readouterr().err
    assert main(["book", str(text), "-o", str(tmp_path / "x"), "--read-along", str(page)]) == 2
    assert "needs one file" in capsys.readouterr().err
