"""The way out of a socket: frames, and what is written in one turn of the event loop."""

from __future__ import annotations

import asyncio
import sys

import pytest
from websockets.frames import Frame, Opcode

from sayahead.server.operation import transport
from sayahead.server.operation.settings import Limits
from sayahead.server.operation.transport import PIECE, Gathered, framed


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 200_000])
@pytest.mark.parametrize("text", [True, False])
def test_a_message_is_the_frame_of_the_standard(size: int, text: bool) -> None:
    message = "a" * size if text else b"\xff" * size
    data = message.encode() if isinstance(message, str) else message
    assert framed(message) == Frame(Opcode.TEXT if text else Opcode.BINARY, data).serialize(
        mask=False
    )


def test_characters_beyond_ascii_count_as_bytes() -> None:
    assert framed("é" * 63) == Frame(Opcode.TEXT, "é".encode() * 63).serialize(mask=False)


class Written(asyncio.Transport):
    """A transport that keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = list[bytes]()
        self.closed_after = -1

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed_after = len(self.writes)


def test_what_is_written_in_one_turn_goes_at_once() -> None:
    async def run() -> Written:
        transport = Written()
        gathered = Gathered(transport, asyncio.get_running_loop())
        for data in (b"a", b"b", b"c"):
            gathered.write(data)
        assert not transport.writes
        await asyncio.sleep(0)
        gathered.write(b"d")
        await asyncio.sleep(0)
        return transport

    assert asyncio.run(run()).writes == [b"abc", b"d"]


def test_what_is_much_does_not_wait_and_nothing_is_lost_before_the_end() -> None:
    async def run() -> Written:
        transport = Written()
        gathered = Gathered(transport, asyncio.get_running_loop())
        gathered.write(b"a" * (PIECE + 1))
        assert len(transport.writes) == 1
        gathered.write(b"b")
        gathered.close()
        return transport

    transport = asyncio.run(run())
    assert transport.writes[1:] == [b"b"]
    assert transport.closed_after == 2


@pytest.mark.parametrize("files", [40, 64, 256, 1024, sys.maxsize])
def test_files_are_left_for_those_who_are_accepted_before_others_are_cut_off(
    files: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process with few files connections took all, and asyncio accepted nobody for a second,
    again and again."""
    monkeypatch.setattr(transport, "files", lambda: files)
    most = transport.most_connections(Limits())
    at_once = transport.accepted_at_once(Limits())
    assert (1 <= most <= Limits().connections, 1 <= at_once <= transport.ACCEPTED) == (True, True)
    # Two turns may be over before asyncio has closed what was cut off.
    assert transport.OWN + most + 2 * at_once <= files
    if files > 1000:
        assert (most >= 800, at_once >= 32) == (True, True)
