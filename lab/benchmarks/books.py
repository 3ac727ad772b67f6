"""Does a listener hear every word of difficult EPUBs once and in order? Whisper, by chapter.

    python lab/benchmarks/books.py FOLDER --results lab/benchmarks/results/books.md

FOLDER is a Whisper model's. The books are those of ``tests/support/hard_books.py`` (of the huge
chapter three rounds), spoken by the default voice. Words that Whisper does not know are heard as
others; what a book loses, doubles or moves is missed or added."""

from __future__ import annotations

import tempfile
from pathlib import Path

import soundfile
import with_tests  # noqa: F401
from sayahead import load_voice
from sayahead.books import read_book
from sayahead.books.audio import speak_book
from support import hard_books

from sayahead_lab.eval.listening.listeners import load_word_counter
from sayahead_lab.results import Rows, options, table, tell


def main() -> None:
    """Measure."""
    arguments = options(__doc__, "FOLDER", "results").parse_args()
    count = load_word_counter(arguments.folder)
    voice = load_voice("heart")
    hard_books.HUGE = 3
    rows = Rows()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in hard_books.BOOKS.items():
            path = Path(folder, f"{name}.epub")
            path.write_bytes(make().data)
            spoken = speak_book(read_book(path), voice, Path(folder, name))
            for one, (title, text) in zip(spoken, make().chapters, strict=True):
                found = count(text, *soundfile.read(one.path, dtype="float32"))
                counts = (found.words, found.deletions, found.insertions, found.substitutions)
                rows.append([f"{name}, {title}", *map(str, counts)])
    tell(table("book, chapter|words|missed|added|heard as others", rows), arguments.results)


if __name__ == "__main__":
    main()
