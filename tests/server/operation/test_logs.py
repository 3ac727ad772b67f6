"""The log is written beside the server's work: who does not read it holds up nobody."""

from __future__ import annotations

import logging
import os
import time

import pytest

from sayahead.server.operation import logs


def test_a_pipe_that_nobody_reads_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server stood still once its log had filled the 64 kB of a pipe."""
    monkeypatch.setattr(logs, "MAX_LINES", 200)
    monkeypatch.setattr(logs, "FLUSH_S", 0.05)
    reading, writing = os.pipe()
    handler = logs.Beside(writing)
    handler.setFormatter(logs.Lines())
    log = logging.Logger("test")
    log.addHandler(handler)
    begun = time.monotonic()
    for number in range(1000):
        log.info("x" * 1000, extra={"number": number})
    handler.flush()
    assert time.monotonic() - begun < 5
    text = b""
    end = time.monotonic() + 30
    os.set_blocking(reading, False)
    log.info("again")
    while b"again" not in text:
        assert time.monotonic() < end
        try:
            text += os.read(reading, 1 << 20)
        except BlockingIOError:
            log.info("again")
            time.sleep(0.01)
    lines = text.decode().splitlines()
    numbers = [int(line.rsplit("number=", 1)[1].split()[0]) for line in lines if "number=" in line]
    assert numbers == sorted(set(numbers))
    assert 200 <= len(numbers) < 1000
    lost = [int(line.rsplit("lost=", 1)[1].split()[0]) for line in lines if "lost=" in line]
    assert 1000 <= len(numbers) + sum(lost) <= 1010


def test_the_end_of_the_process_waits_for_the_last_lines() -> None:
    reading, writing = os.pipe()
    handler = logs.Beside(writing)
    handler.setFormatter(logs.JsonLines())
    handler.handle(
        logging.makeLogRecord({"msg": "the last", "levelno": logging.INFO, "levelname": "INFO"})
    )
    handler.flush()
    assert b"the last" in os.read(reading, 4096)


def test_warnings_are_told_though_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """For as long as it was set back, none was."""
    seldom = logs.Seldom()
    record = logging.makeLogRecord({"levelno": logging.WARNING, "msg": "Late.", "created": 1e9})
    assert seldom.filter(record)
    assert not seldom.filter(record)
    began = time.monotonic()
    monkeypatch.setattr("sayahead.server.operation.logs.time.monotonic", lambda: began + 1.5)
    earlier = logging.makeLogRecord(
        {"levelno": logging.WARNING, "msg": "Late.", "created": 1e9 - 3600}
    )
    assert seldom.filter(earlier)
    assert vars(earlier)["dropped"] == 1
