"""Text as it arrives from a pipe, a file or a terminal; a thread reads it, so that waiting can time
out."""

from __future__ import annotations

import codecs
import contextlib
import io
import math
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator

BLOCK = 4096
# On some systems Ctrl-C does not interrupt a wait without a timeout.
POLL_S = 0.25


@contextlib.contextmanager
def keys(terminal: int) -> Iterator[bool]:
    """Have a terminal hand over each key at once; whether it does. It is as it was afterwards."""
    try:
        import termios
        import tty
    except ImportError:
        yield False
        return
    before = termios.tcgetattr(terminal)
    try:
        # What was typed while the voice was loaded counts.
        tty.setcbreak(terminal, termios.TCSADRAIN)
        yield True
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


class Typed:
    """What somebody types on a terminal, without the sequences of keys that are no characters:
    arrows, Delete, F1."""

    # ESC, then what an arrow or the like sends (ECMA-48's control sequences, SS3), or the key that
    # Alt was held with.
    _SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\[O\x00-\x1f\x7f])")
    _BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")

    def __init__(self) -> None:
        self._begun = ""

    def characters(self, fragment: str | None) -> str:
        """The characters of what came; a sequence may be cut anywhere. None: a pause, in which no
        sequence goes on."""
        if fragment is None:
            self._begun = ""
            return ""
        text = self._SEQUENCE.sub("", self._begun + fragment)
        prefix = self._BEGUN.search(text)
        self._begun = prefix[0] if prefix else ""
        return text.removesuffix(self._begun) if prefix else text


class Source:
    """Fragments of text from an unbuffered file; reading begins at once."""

    def __init__(
        self, file: io.RawIOBase | io.BytesIO, name: str, *, warn: Callable[[str], None]
    ) -> None:
        self._file = file
        self._name = name
        self._warn = warn
        self._arrived: queue.Queue[tuple[float, bytes | OSError]] = queue.Queue(maxsize=256)
        self._tail = b""
        self._bytes = 0
        self._bad = 0
        # The last character so far.
        self._last = ""
        # What it begins with, once that is known; what reads it then, if that is not UTF-8.
        self._marked: bytes | None = None
        self._other: codecs.IncrementalDecoder | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def fragments(
        self, idle_s: float | None = None, early_s: Callable[[], float] = lambda: math.inf
    ) -> Iterator[str | None]:
        """The text in pieces as they arrive; None once after ``idle_s`` without any, "" after
        ``early_s()``."""
        due = math.inf
        while True:
            item = self._next(min(due, time.monotonic() + early_s()))
            if item is None and time.monotonic() < due:
                yield ""
                continue
            if item is None:
                due = math.inf
                yield None
                continue
            at, data = item
            if isinstance(data, OSError):
                from sayahead.sound.files import OutputError

                raise OutputError(
                    f"{self._name} cannot be read: {data.strerror or data}."
                ) from data
            due = math.inf if idle_s is None else at + idle_s
            text = self._decode(data)
            if text:
                yield text
            if not data:
                break
        if self._bad > 1:
            self._warn(f"{self._name} is not UTF-8 in {self._bad} places.")

    def _read(self) -> None:
        data: bytes | None = None
        try:
            with self._file:
                while data != b"":
                    data = self._file.read(BLOCK)
                    if data is None:
                        # Someone made the pipe non-blocking, and it is empty.
                        time.sleep(0.01)
                    else:
                        self._arrived.put((time.monotonic(), data))
        except OSError as error:
            self._arrived.put((time.monotonic(), error))

    def _next(self, deadline: float) -> tuple[float, bytes | OSError] | None:
        while True:
            left = max(0.0, deadline - time.monotonic())
            try:
                return self._arrived.get(timeout=min(left, POLL_S))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    return None

    def _decode(self, data: bytes) -> str:
        """The text of all complete characters, in UTF-16 if its mark comes first. b"" is the
        end."""
        if self._marked is None:
            self._tail += data
            if data and len(self._tail) < len(codecs.BOM_UTF8) and begins_mark(self._tail):
                return ""
            data = self._tail
            self._tail = b""
            self._marked = next((mark for mark in MARKS if data.startswith(mark)), b"")
            self._other = MARKS.get(self._marked, lambda: None)()
            self._bytes = len(self._marked)
            text = self._decoded(data[len(self._marked) :], final=False)
            return text if data else text + self._decoded(b"", final=True)
        return self._decoded(data, final=not data)

    def _decoded(self, data: bytes, *, final: bool) -> str:
        """The same of what follows the mark; bytes that are no UTF-8 become Windows' characters, or
        U+FFFD."""
        if self._other is not None:
            return self._other.decode(data, final)
        data = self._tail + data
        text = ""
        while True:
            try:
                piece, used = codecs.utf_8_decode(data, "strict", final)
            except UnicodeDecodeError as error:
                if error.end == len(data) and not final:
                    # What it is depends on what comes next.
                    text += data[: error.start].decode()
                    self._bytes = self._bytes + error.start
                    self._tail = data[error.start :]
                    break
                text += data[: error.start].decode()
                before = (self._last + text)[-1:]
                after = data[error.end : error.end + 1]
                text += guessed(before, data[error.start : error.end], after)
                if not self._bad:
                    self._warn(
                        f"{self._name} is not UTF-8 at byte {self._bytes + error.start}: such bytes"
                        " are read as Windows-1252 beside letters, and left out elsewhere."
                    )
                self._bad += 1
                self._bytes += error.end
                data = data[error.end :]
            else:
                self._bytes += used
                self._tail = data[used:]
                text += piece
                break
        self._last = text[-1:] or self._last
        return text


MARKS: dict[bytes, Callable[[], codecs.IncrementalDecoder | None]] = {
    codecs.BOM_UTF8: lambda: None,
    codecs.BOM_UTF16_LE: lambda: codecs.getincrementaldecoder("utf-16-le")("replace"),
    codecs.BOM_UTF16_BE: lambda: codecs.getincrementaldecoder("utf-16-be")("replace"),
}
"""What a file may begin with, and how it is read then; None: as UTF-8."""
PUNCTUATION = frozenset(range(0x80, 0xA0))
"""Windows-1252's quotes, dashes and the like."""


def begins_mark(data: bytes) -> bool:
    """Whether more bytes may make it a mark."""
    return any(mark.startswith(data) for mark in MARKS)


def guessed(before: str, data: bytes, after: bytes) -> str:
    """Bytes that are no UTF-8 as Windows-1252 where they touch an English letter, or are
    punctuation; else U+FFFD."""
    touches = (before.isascii() and before.isalpha()) or after.isalpha()
    if touches or PUNCTUATION.issuperset(data):
        return data.decode("cp1252", "replace")
    return "\N{REPLACEMENT CHARACTER}"
