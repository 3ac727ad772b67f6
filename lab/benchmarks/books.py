"""Does a listener hear every word of difficult EPUBs once and in order? Whisper, by chapter.

    python lab/benchmarks/books.py FOLDER --results lab/benchmarks/results/books.md

FOLDER is a Whisper model's. The books are those of ``tests/support/hard_books.py`` (of the huge
chapter three rounds), spoken by the default voice. Words that Whisper does not know are heard as
others; what a book loses, doubles or moves is missed or added."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import soundfile
from sayahead import load_voice
from sayahead.books import read_book
from sayahead.books.audio import speak_book

from sayahead_lab.eval.listening.listeners import at_16khz, load_normalizer, load_whisper
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.results import Rows, options, table, tell

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from support import hard_books


def main() -> None:
    """Measure."""
    parser = options(__doc__, "results")
    parser.add_argument("whisper", type=Path)
    arguments = parser.parse_args()
    hear = load_whisper(arguments.whisper, threads=1)
    normal = load_normalizer()
    voice = load_voice("heart")
    hard_books.HUGE = 3
    rows = Rows()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in hard_books.BOOKS.items():
            path = Path(folder, f"{name}.epub")
            path.write_bytes(make().data)
            spoken = speak_book(read_book(path), voice, Path(folder, name))
            for one, (title, text) in zip(spoken, make().chapters, strict=True):
                heard = hear(at_16khz(*soundfile.read(one.path, dtype="float32")))
                found = word_errors(normal(text), normal(heard))
                counts = (found.words, found.deletions, found.insertions, found.substitutions)
                rows.append([f"{name}, {title}", *map(str, counts)])
    tell(table("book, chapter|words|missed|added|heard as others", rows), arguments.results)


if __name__ == "__main__":
    main()
