"""Text as it arrives from a pipe, a file or a terminal. A thread reads it, so that waiting for it
can time out."""

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
# Longest wait: on some systems, Ctrl-C does not interrupt one without a timeout.
POLL_S = 0.25


@contextlib.contextmanager
def keys(terminal: int) -> Iterator[bool]:
    """Make a terminal deliver each key at once while inside; yields whether it does."""
    try:
        import termios
        import tty
    except ImportError:
        yield False
        return
    settings = termios.tcgetattr(terminal)
    try:
        # Keys typed while the voice was loaded are kept.
        tty.setcbreak(terminal, termios.TCSADRAIN)
        yield True
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, settings)


class Typed:
    """Removes the escape sequences of keys without a character, such as arrows, from what is typed
    on a terminal."""

    # ESC, then the rest of a control sequence (ECMA-48) or SS3, or the key that was pressed with
    # Alt.
    _SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\[O\x00-\x1f\x7f])")
    _UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")

    def __init__(self) -> None:
        self._unfinished = ""

    def characters(self, fragment: str | None) -> str:
        """Return the characters in a fragment, which may end inside a sequence.

        None is a pause, which ends an unfinished sequence.
        """
        if fragment is None:
            self._unfinished = ""
            return ""
        text = self._SEQUENCE.sub("", self._unfinished + fragment)
        prefix = self._UNFINISHED.search(text)
        self._unfinished = prefix[0] if prefix else ""
        return text.removesuffix(self._unfinished) if prefix else text


class Source:
    """Fragments of text from an unbuffered file; a thread begins to read at once."""

    def __init__(
        self, file: io.RawIOBase | io.BytesIO, name: str, *, warn: Callable[[str], None]
    ) -> None:
        self._file = file
        self._name = name
        self._warn = warn
        self._blocks: queue.Queue[tuple[float, bytes | OSError]] = queue.Queue(maxsize=256)
        self._tail = b""
        self._bytes = 0
        self._error_count = 0
        # The last character decoded.
        self._last = ""
        # The byte order mark once that is known, and the decoder if the text is not UTF-8.
        self._mark: bytes | None = None
        self._decoder: codecs.IncrementalDecoder | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def fragments(
        self, idle_s: float | None = None, early_s: Callable[[], float] = lambda: math.inf
    ) -> Iterator[str | None]:
        """Yield the text in pieces as they arrive.

        In a pause, None is yielded once after ``idle_s``, and "" again and again after
        ``early_s()``: the session may then have sound although no text came.
        """
        idle_at = math.inf
        while True:
            item = self._next(min(idle_at, time.monotonic() + early_s()))
            if item is None:
                is_idle = time.monotonic() >= idle_at
                if is_idle:
                    idle_at = math.inf
                yield None if is_idle else ""
                continue
            arrived_at, data = item
            if isinstance(data, OSError):
                from sayahead.sound.files import OutputError

                raise OutputError(
                    f"{self._name} cannot be read: {data.strerror or data}."
                ) from data
            idle_at = math.inf if idle_s is None else arrived_at + idle_s
            text = self._decode(data)
            if text:
                yield text
            if not data:
                break
        if self._error_count > 1:
            self._warn(f"{self._name} is not UTF-8 in {self._error_count} places.")

    def _read(self) -> None:
        """Read the file to its end: the thread."""
        data: bytes | None = None
        try:
            with self._file:
                while data != b"":
                    data = self._file.read(BLOCK)
                    if data is None:
                        # Someone made the pipe non-blocking, and it is empty.
                        time.sleep(0.01)
                    else:
                        self._blocks.put((time.monotonic(), data))
        except OSError as error:
            self._blocks.put((time.monotonic(), error))

    def _next(self, deadline: float) -> tuple[float, bytes | OSError] | None:
        """Return the next (time, block or error); None at the deadline."""
        while True:
            remaining_s = max(0.0, deadline - time.monotonic())
            try:
                return self._blocks.get(timeout=min(remaining_s, POLL_S))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    return None

    def _decode(self, data: bytes) -> str:
        """Decode the characters that are complete, as UTF-16 if the text begins with its mark; b""
        is the end."""
        is_end = not data
        if self._mark is None:
            data = self._tail + data
            if not is_end and len(data) < len(codecs.BOM_UTF8) and begins_mark(data):
                self._tail = data
                return ""
            self._tail = b""
            self._mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
            self._decoder = MARKS.get(self._mark, lambda: None)()
            self._bytes = len(self._mark)
            data = data[len(self._mark) :]
        return self._decode_rest(data, final=is_end)

    def _decode_rest(self, data: bytes, *, final: bool) -> str:
        """Decode bytes after the mark.

        Bytes that are not UTF-8 become characters of Windows-1252, or U+FFFD.
        """
        if self._decoder is not None:
            return self._decoder.decode(data, final)
        data = self._tail + data
        text = ""
        while True:
            try:
                piece, used = codecs.utf_8_decode(data, "strict", final)
            except UnicodeDecodeError as error:
                if error.end == len(data) and not final:
                    # An incomplete character: wait for the rest.
                    text += data[: error.start].decode()
                    self._bytes = self._bytes + error.start
                    self._tail = data[error.start :]
                    break
                text += data[: error.start].decode()
                before = (self._last + text)[-1:]
                after = data[error.end : error.end + 1]
                text += guessed(before, data[error.start : error.end], after)
                if not self._error_count:
                    self._warn(
                        f"{self._name} is not UTF-8 at byte {self._bytes + error.start}: such bytes"
                        " are read as Windows-1252 beside letters, and left out elsewhere."
                    )
                self._error_count += 1
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
"""Byte order marks and their decoders; None is UTF-8."""
PUNCTUATION = frozenset(range(0x80, 0xA0))
"""Codes of punctuation in Windows-1252."""


def begins_mark(data: bytes) -> bool:
    """Return whether data may be the beginning of a mark."""
    return any(mark.startswith(data) for mark in MARKS)


def guessed(before: str, data: bytes, after: bytes) -> str:
    """Decode bytes that are not UTF-8.

    They are Windows-1252 if they touch an ASCII letter or are punctuation, else U+FFFD.
    """
    touches = (before.isascii() and before.isalpha()) or after.isalpha()
    if touches or PUNCTUATION.issuperset(data):
        return data.decode("cp1252", "replace")
    return "\N{REPLACEMENT CHARACTER}"
