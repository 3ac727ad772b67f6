"""The protocol of Speech Dispatcher's modules: lines on standard input, answers and sound on
standard output."""

from __future__ import annotations

import threading
from typing import BinaryIO

ESCAPE = 0x7D
INVERT = 0x20


def escaped(data: bytes) -> bytes:
    """Samples in which no line break is left, HDLC's way."""
    out = data.replace(bytes([ESCAPE]), bytes([ESCAPE, ESCAPE ^ INVERT]))
    return out.replace(b"\n", bytes([ESCAPE, 0x0A ^ INVERT]))


class Wire:
    """Both directions of the pipe to the daemon; answers and events come from two threads."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._lock = threading.Lock()

    def line(self) -> str | None:
        """The next line without its end; None at the end of input."""
        line = self._source.readline()
        return (
            line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r") if line else None
        )

    def lines(self) -> list[str] | None:
        """Lines up to one of a single dot, which is left out; a line's first dot is doubled. None
        at the end."""
        lines = []
        while (line := self.line()) is not None:
            if line == ".":
                return lines
            lines.append(line.removeprefix("."))
        return None

    def say(self, *lines: str) -> None:
        """An answer, or an event."""
        self._write("".join(f"{line}\n" for line in lines).encode())

    def sound(self, samples: bytes, rate: int) -> None:
        """A block of 16-bit mono samples for the daemon to play."""
        head = (
            f"705-bits=16\n705-num_channels=1\n705-sample_rate={rate}\n705-num_samples={len(samples) // 2}\n"  # noqa: E501
            "705-big_endian=0\n705-AUDIO\0"
        )
        self._write(head.encode() + escaped(samples) + b"\n705 AUDIO\n")

    def _write(self, data: bytes) -> None:
        with self._lock:
            self._target.write(data)
            self._target.flush()
