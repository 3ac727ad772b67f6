"""Writes an audiobook as one M4B file with chapters and cover."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sayahead.books.audio import SpokenChapter
from sayahead.books.book import Book
from sayahead.sound.files import fail
from sayahead.sound.formats import codecs

log = logging.getLogger("sayahead")
BIT_RATE = 64_000
"""Bits per second of speech, mono."""


def write_m4b(
    path: Path,
    book: Book,
    spoken: Sequence[SpokenChapter],
    *,
    sample_rate: int,
    bit_rate: int = BIT_RATE,
    on_chapter: Callable[[int], object] = lambda number: None,
) -> None:
    """Write all chapters into one file, which is renamed to ``path`` when it is complete.

    ``on_chapter`` is called with the number of each chapter as it begins. OutputError if the file
    cannot be written; needs the ``codecs`` extra."""
    av = codecs()
    unfinished = path.with_name(path.name + ".part")
    try:
        with av.open(str(unfinished), "w", format="mp4", options={"brand": "M4B "}) as out:
            stream = out.add_stream("aac", rate=sample_rate, layout="mono")
            stream.codec_context.bit_rate = bit_rate
            picture = cover_stream(av, out, book.cover) if book.cover else None
            out.metadata.update(metadata_of(book))
            out.set_chapters(chapter_marks(spoken, sample_rate))
            if picture is not None:
                packet = av.Packet(book.cover)
                packet.stream = picture
                out.mux(packet)
            position = 0
            for number, chapter in enumerate(spoken, start=1):
                on_chapter(number)
                with av.open(str(chapter.path)) as source:
                    for frame in source.decode(audio=0):
                        frame.pts = position
                        position += frame.samples
                        out.mux(stream.encode(frame))
            out.mux(stream.encode(None))
        os.replace(unfinished, path)
    except OSError as error:
        fail(str(path), error)
    finally:
        unfinished.unlink(missing_ok=True)


def metadata_of(book: Book) -> dict[str, str]:
    """Return the tags that players show: title, author, genre."""
    names = {"title": book.title, "album": book.title, "artist": book.author}
    return {name: value for name, value in names.items() if value} | {"genre": "Audiobook"}


def chapter_marks(spoken: Sequence[SpokenChapter], sample_rate: int) -> list[dict[str, Any]]:
    """Return PyAV's chapter records: title, first sample and end of each chapter."""
    marks = []
    position = 0
    for number, chapter in enumerate(spoken, start=1):
        title = chapter.chapter.title or f"{number}"
        mark = {"id": number, "start": position, "end": position + chapter.samples}
        position += chapter.samples
        marks.append(mark | {"time_base": Fraction(1, sample_rate), "metadata": {"title": title}})
    return marks


def cover_stream(av: Any, out: Any, picture: bytes) -> Any:
    """Add a video stream for the cover and return it. None, with a warning, if it is no picture."""
    try:
        with av.open(io.BytesIO(picture)) as image:
            video = image.streams.video[0]
            stream = out.add_mux_stream(
                video.codec_context.name, width=video.width, height=video.height
            )
    except (OSError, IndexError, ValueError) as error:
        log.warning("The book's cover is left out: %s.", error)
        return None
    stream.disposition = av.stream.Disposition.attached_pic
    return stream
