"""Logging: lines for people or programs, with the connection's id, without keys and without
clients' texts."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import queue
import re
import sys
import threading
import time
from typing import Any

# Messages with the same first characters are the same kind.
KEY = 60
MAX_KINDS = 1000
MAX_LINES = 10_000
"""Most lines that wait to be written; further ones are lost."""
FLUSH_S = 1.0
"""Timeout for writing the last lines when the process ends."""

_APART = re.compile(r"[\s='\"]")
# Attributes of every record; all others come from ``extra``.
_COMMON = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a line with the time, the level, the event and the fields of ``extra``."""
        row = {
            "time": stamp(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        row |= extras(record)
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        line = json.dumps(row, ensure_ascii=False, default=str)
        # JSON allows some characters that end a line or control a terminal.
        return line if line.isprintable() else json.dumps(row, default=str)


class Lines(logging.Formatter):
    """Formats a record as one line with its ``extra`` at the end. Text from clients can neither
    break the line nor control a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        figures = "".join(f" {name}={plain(value)}" for name, value in extras(record).items())
        rows = [
            f"{stamp(record.created)} {record.levelname.lower()}"
            f" {escaped(record.getMessage())}{figures}"
        ]
        if record.exc_info:
            rows += [
                "  " + escaped(line) for line in self.formatException(record.exc_info).splitlines()
            ]
        return "\n".join(rows)


class Beside(logging.Handler):
    """Writes lines on a thread of its own, so that a pipe that nobody reads blocks nothing.

    The next line that is written says how many were lost.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines = queue.Queue[str](MAX_LINES)
        self._lost = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line; drop it if too many wait, so that the caller never does."""
        try:
            if self._lost:
                record.lost = self._lost
            self._lines.put_nowait(self.format(record))
            self._lost = 0
        except queue.Full:
            self._lost += 1
        except Exception:
            self.handleError(record)

    def _write(self) -> None:
        """Write lines as they come: the thread."""
        while True:
            rest = (self._lines.get() + "\n").encode(errors="backslashreplace")
            # The reader of a pipe may have gone.
            with contextlib.suppress(OSError):
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            self._lines.task_done()

    def flush(self) -> None:
        """Wait until everything is written, at most ``FLUSH_S``."""
        end = time.monotonic() + FLUSH_S
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)


class Seldom(logging.Filter):
    """Rate limit: passes a warning or error of each kind once per second, with the number of those
    dropped in between."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record passes; note one that does not."""
        if record.levelno < logging.WARNING:
            return True
        # Refusals of different clients are different kinds.
        who = "".join(str(vars(record).get(name, "")) for name in ("reason", "caller", "address"))
        key = (record.name, str(record.msg)[:KEY] + who)
        # Monotonic, because the wall clock may be set back.
        now = time.monotonic()
        at, dropped = self._last.get(key, (-math.inf, 0))
        if now - at < 1.0:
            self._last[key] = at, dropped + 1
            return False
        if len(self._last) > MAX_KINDS:
            self._last.clear()
        self._last[key] = now, 0
        if dropped:
            # Includes those that another process has dropped.
            record.dropped = dropped + int(vars(record).get("dropped", 0))
        return True


def plain(value: object) -> str:
    """Return a value as one word, or quoted."""
    text = str(value)
    return text if text.isprintable() and not _APART.search(text) else repr(text)


def escaped(text: str) -> str:
    """Return a text with line ends and other unprintable characters escaped."""
    return (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    )


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """Return the ``extra`` of a record."""
    return {name: value for name, value in vars(record).items() if name not in _COMMON}


def stamp(seconds: float) -> str:
    """Return a time as UTC with milliseconds."""
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        + f".{int(seconds * 1000) % 1000:03}Z"
    )


def matters(record: logging.LogRecord) -> bool:
    """Return whether a record of uvicorn matters.

    uvicorn logs every WebSocket that is refused before its handshake, for example without a key, as
    an application error.
    """
    return "without completing handshake" not in record.getMessage()


def without_text(record: logging.LogRecord) -> bool:
    """Remove the client's text from the warning about unreadable characters; always returns
    True."""
    if (
        isinstance(record.args, tuple)
        and len(record.args) == 3
        and "cannot read" in str(record.msg)
    ):
        record.msg = "Skipped characters %d to %d: this voice cannot read them."
        record.args = record.args[1:]
    return True


def set_up(
    form: str,
    *,
    text: bool = False,
    to: int | None = None,
    formatter: logging.Formatter | None = None,
) -> None:
    """Send the server's log to standard error.

    ``text``: whether clients' texts may appear in it; ``to``: another file descriptor;
    ``formatter``: another format.
    """
    handler: logging.Handler
    try:
        handler = Beside(sys.stderr.fileno() if to is None else to)
    except (OSError, AttributeError):
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter or (JsonLines() if form == "json" else Lines()))
    handler.addFilter(Seldom())
    for name, level in (
        ("sayahead", logging.INFO),
        ("uvicorn", logging.WARNING),
        ("grpc", logging.WARNING),
        ("asyncio", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    logging.getLogger("uvicorn.error").addFilter(matters)
    if not text:
        logging.getLogger("sayahead").addFilter(without_text)
