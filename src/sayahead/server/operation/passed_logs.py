"""Logs of several processes: each passes its records to the one that writes them."""

from __future__ import annotations

import json
import logging
from typing import Any

from sayahead.server.operation.logs import extras

MOST = 1 << 20
"""Longest line in bytes; a longer one is dropped."""


class Passed(logging.Formatter):
    """Formats a record as a line that ``record_of`` reads."""

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {
            "name": record.name,
            "levelno": record.levelno,
            "levelname": record.levelname,
            "msg": record.getMessage(),
            "created": record.created,
            **extras(record),
        }
        if record.exc_info:
            row["exc_text"] = self.formatException(record.exc_info)
        return json.dumps(row, default=str)


def record_of(line: bytes) -> logging.LogRecord:
    """Return the record of such a line; ValueError if it is not one."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("no record")
    return logging.makeLogRecord(row)


class Lines:
    """Splits a stream of bytes into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def push(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MOST:
            self._rest = b""
        return lines
