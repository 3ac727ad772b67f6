"""The log: lines for people or programs, with the connection's id, without keys, and without clients' texts."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

# What every record has; the rest came by ``extra``.
_COMMON = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        row = {"time": stamp(record.created), "level": record.levelname.lower(), "event": record.getMessage()}
        row |= extras(record)
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False, default=str)


class Lines(logging.Formatter):
    """One line, with the figures after the event."""

    def format(self, record: logging.LogRecord) -> str:
        figures = "".join(f" {name}={value}" for name, value in extras(record).items())
        line = f"{stamp(record.created)} {record.levelname.lower()} {record.getMessage()}{figures}"
        return line + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """The ``extra`` of a record."""
    return {name: value for name, value in vars(record).items() if name not in _COMMON}


def stamp(seconds: float) -> str:
    """UTC, to the millisecond."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03}Z"


def matters(record: logging.LogRecord) -> bool:
    """Whether a record of uvicorn's matters: it reports every socket refused before the handshake, as for want of a
    key, as a fault of the application."""
    return "without completing handshake" not in record.getMessage()


def without_text(record: logging.LogRecord) -> bool:
    """Takes the text out of a session's warning about what it cannot read."""
    if isinstance(record.args, tuple) and len(record.args) == 3 and "cannot read" in str(record.msg):
        record.msg, record.args = "Skipped characters %d to %d: this voice cannot read them.", record.args[1:]
    return True


def set_up(form: str, *, text: bool = False) -> None:
    """Send the server's log to standard error; clients' texts are in it only with ``text``."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Lines())
    for name, level in (("sayahead", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    logging.getLogger("uvicorn.error").addFilter(matters)
    if not text:
        logging.getLogger("sayahead").addFilter(without_text)
