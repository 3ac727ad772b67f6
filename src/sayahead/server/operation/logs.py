"""The log: lines for people or programs, with the connection's id, without keys, and without
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

# Messages count as the same if they begin alike.
KEY = 60
MAX_KINDS = 1000
MAX_LINES = 10_000
"""Lines that wait to be written; those that come then are lost."""
FLUSH_S = 1.0
"""How long the end of the process waits for its last lines."""

_APART = re.compile(r"[\s='\"]")
# What every record has; the rest came by ``extra``.
_COMMON = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        row = {
            "time": stamp(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        row |= extras(record)
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        line = json.dumps(row, ensure_ascii=False, default=str)
        # JSON itself lets some signs through that end a line or steer a terminal.
        return line if line.isprintable() else json.dumps(row, default=str)


class Lines(logging.Formatter):
    """One line, with the figures after the event; what clients sent cannot break it, nor steer a
    terminal."""

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
    """Writes lines to a file on a thread of its own: a pipe that nobody reads holds up no
    conversation.

    How many lines were lost meanwhile, the next one says.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lines = queue.Queue[str](MAX_LINES)
        self._lost = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
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
        while True:
            rest = (self._lines.get() + "\n").encode(errors="backslashreplace")
            # Whoever read them may be gone.
            with contextlib.suppress(OSError):
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            self._lines.task_done()

    def flush(self) -> None:
        """Wait until all is written, for a second at most."""
        end = time.monotonic() + FLUSH_S
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)


class Seldom(logging.Filter):
    """Lets a warning or an error through once a second, with how often it came meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        # Refusals of different clients are different.
        who = "".join(str(vars(record).get(name, "")) for name in ("reason", "caller", "address"))
        key = (record.name, str(record.msg)[:KEY] + who)
        # The clock of the day may be set back, by an hour or more.
        now = time.monotonic()
        at, dropped = self._last.get(key, (-math.inf, 0))
        if now - at < 1.0:
            self._last[key] = at, dropped + 1
            return False
        if len(self._last) > MAX_KINDS:
            self._last.clear()
        self._last[key] = now, 0
        if dropped:
            # Another process may have dropped some before.
            record.dropped = dropped + int(vars(record).get("dropped", 0))
        return True


def plain(value: object) -> str:
    """A value in one word, or in quotes."""
    text = str(value)
    return text if text.isprintable() and not _APART.search(text) else repr(text)


def escaped(text: str) -> str:
    """A text without what is no sign, such as the ends of lines."""
    return (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    )


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """The ``extra`` of a record."""
    return {name: value for name, value in vars(record).items() if name not in _COMMON}


def stamp(seconds: float) -> str:
    """UTC, to the millisecond."""
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
        + f".{int(seconds * 1000) % 1000:03}Z"
    )


def matters(record: logging.LogRecord) -> bool:
    """Whether a record of uvicorn's matters: it reports every socket refused before the handshake,
    as for want of a key, as a fault of the application."""
    return "without completing handshake" not in record.getMessage()


def without_text(record: logging.LogRecord) -> bool:
    """Takes the text out of a session's warning about what it cannot read."""
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
    """Send the server's log to standard error; clients' texts are in it only with ``text``.

    ``to``: another descriptor instead, and ``formatter``: another form.
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
