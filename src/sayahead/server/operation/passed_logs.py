"""The log of several processes: each passes its lines on to one that writes them."""

from __future__ import annotations

import json
import logging
from typing import Any

from sayahead.server.operation.logs import extras

MOST = 1 << 20
"""Bytes of a line that has no end."""


class Passed(logging.Formatter):
    """A record as a line that ``record_of`` reads."""

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {
            "name": record.name,
            "levelno": record.levelno,
            "levelname": record.levelname,
        }
        row |= {"msg": record.getMessage(), "created": record.created, **extras(record)}
        if record.exc_info:
            row["exc_text"] = self.formatException(record.exc_info)
        return json.dumps(row, default=str)


def record_of(line: bytes) -> logging.LogRecord:
    """The record of a line that was passed on; ValueError for one that is none."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("no record")
    return logging.makeLogRecord(row)


class Lines:
    """Lines out of bytes as they come."""

    def __init__(self) -> None:
        self._rest = b""

    def push(self, data: bytes) -> list[bytes]:
        """The lines that are whole now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MOST:
            self._rest = b""
        return lines
