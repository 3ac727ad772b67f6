"""Output to standard error: warnings, a progress line, and the text as it is spoken."""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import unicodedata
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayahead.types import WordTiming

CLEAR = "\r\x1b[K"
MARK = "\x1b[7m"
DIM = "\x1b[2m"
PLAIN = "\x1b[0m"


class Console(logging.Handler):
    """Writes messages to standard error while sound plays; also the handler of sayahead's log."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(logging.WARNING)
        self._quiet = quiet
        self._line = ""
        self._stream = sys.stderr
        self._writing = threading.RLock()
        self.terminal = self._stream is not None and self._stream.isatty()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a log record."""
        self.note(f"sayahead: {record.levelname.lower()}: {record.getMessage()}")

    def warn(self, sentence: str) -> None:
        """Print a warning."""
        self.note(f"sayahead: warning: {sentence}")

    def note(self, text: str) -> None:
        """Print a line above the progress line."""
        if not self._quiet:
            line = self._line
            self.write(f"{CLEAR if line else ''}{text}\n{line}")

    def progress(self, line: str) -> None:
        """Show a progress line; does nothing without a terminal."""
        if self.terminal and not self._quiet:
            self.write(CLEAR + line if line or self._line else "")
            self._line = line

    def settle(self) -> None:
        """Keep the progress line, and start another."""
        self.write("\n")
        self._line = ""

    def write(self, text: str) -> None:
        """Write text unchanged; errors, as when the terminal has gone, are ignored."""
        if self._stream is not None and text:
            with self._writing:
                try:
                    self._stream.write(text)
                    self._stream.flush()
                except (OSError, ValueError):
                    self._stream = None


class Display:
    """Shows the source text and marks each word while it is heard; without a terminal, it prints
    word by word."""

    TICK_S = 0.03

    def __init__(self, console: Console, played: Callable[[], float] | None = None) -> None:
        """``played``: returns how many samples were heard; without it, words count as heard as soon
        as they are made."""
        self._console = console
        self._played = played
        self._source = ""
        self._row = 0
        self._coming: deque[WordTiming] = deque()
        self._ended = threading.Event()
        self._clock = threading.Thread(target=self._follow, daemon=True) if played else None
        if self._clock is not None:
            self._clock.start()

    def add_text(self, fragment: str) -> None:
        """Append source text; control characters become spaces."""
        self._source += "".join(c if c.isprintable() else " " for c in fragment)

    def replace_text(self, text: str) -> None:
        """Replace the source text, as somebody types. A terminal shows its end.

        Rows above the last one that fits are left on the screen, and the last one is rewritten."""
        self._source = ""
        self.add_text(text)
        if self._console.terminal:
            self._row = min(self._row, len(self._source))
            row, end = visible(self._source[self._row :])
            while self._row + end < len(self._source):
                self._console.progress(row)
                self._console.settle()
                self._row += end
                row, end = visible(self._source[self._row :])
            self._console.progress(row)

    def add_words(self, words: Sequence[WordTiming]) -> None:
        """Add words that will be heard."""
        self._coming.extend(words)
        if self._played is None:
            self._advance(float("inf"))

    def close(self) -> None:
        """Stop marking words, and leave the text on the screen."""
        self._ended.set()
        if self._clock is not None:
            self._clock.join()
        if self._console.terminal:
            self._console.progress(visible(self._source[self._row :])[0])
        if self._source:
            self._console.settle()

    def _follow(self) -> None:
        """Mark words as they are heard: the thread."""
        while not self._ended.wait(self.TICK_S):
            if self._played is not None:
                self._advance(self._played())

    def _advance(self, samples: float) -> None:
        """Show the words that begin by sample number ``samples``."""
        while self._coming and self._coming[0].onset_samples <= samples:
            word = self._coming.popleft()
            if self._console.terminal:
                self._show(word)
            else:
                self._console.write(word.text + " ")

    def _show(self, word: WordTiming) -> None:
        """Show the row of the source text that contains a word, and mark the word."""
        row, end = visible(self._source[self._row :])
        while end and word.start > self._row and word.end > self._row + end:
            row_end = min(word.start, self._row + end)
            self._console.progress(self._source[self._row : row_end])
            self._console.settle()
            self._row = row_end
            row, end = visible(self._source[self._row :])
        first = max(0, word.start - self._row)
        last = max(0, word.end - self._row)
        self._console.progress(
            f"{row[:first]}{MARK}{row[first:last].rstrip()}{PLAIN}"
            f" {DIM}{row[last:].lstrip()}{PLAIN}"
        )


def visible(text: str) -> tuple[str, int]:
    """Return as much of the text as fits in a row of the terminal, and its length."""
    room = max(10, shutil.get_terminal_size().columns - 2)
    for number, character in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room < 0:
            return text[:number], number
    return text, len(text)
