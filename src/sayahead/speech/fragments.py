"""A text in pieces, from iterables of either kind."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from sayahead.config import check_text
from sayahead.errors import TextError

T = TypeVar("T")


def fragments_of(text: object) -> Iterable[Any] | AsyncIterable[Any]:
    """A text, or what gives pieces of one, as an iterable of them; TextError for anything else."""
    if isinstance(text, str):
        return [text]
    if isinstance(text, bytes | bytearray | memoryview):
        check_text("speak", text)
    if isinstance(text, Mapping) or not isinstance(text, Iterable | AsyncIterable):
        raise TextError(
            f"speak() takes text, or an iterable of pieces of text, not {type(text).__name__}."
        )
    return text


def asynchronous(text: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """A text's fragments, from an iterable of either kind; to be closed. One that may block has a
    thread of its own."""
    if isinstance(text, AsyncIterable):
        return passed_on(text)
    return at_once(text) if isinstance(text, list | tuple) else threaded(text)


async def passed_on(text: AsyncIterable[T]) -> AsyncIterator[T]:
    """The fragments of an asynchronous iterator, which is closed with this one."""
    pieces = aiter(text)
    try:
        async for fragment in pieces:
            yield fragment
    finally:
        close: Any = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


async def at_once(text: Iterable[T]) -> AsyncIterator[T]:
    """Fragments that are all there."""
    for fragment in text:
        yield fragment


AHEAD = 16
"""Fragments of an iterator that its thread reads before they are wanted."""


async def threaded(text: Iterable[T]) -> AsyncIterator[T]:
    """The fragments of an iterator, which a thread of its own reads and closes."""
    loop = asyncio.get_running_loop()
    room = threading.Semaphore(AHEAD)
    stopped = threading.Event()
    came = asyncio.Queue[tuple[T] | BaseException | None]()

    def put(item: tuple[T] | BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(came.put_nowait, item)

    def read() -> None:
        error: BaseException | None = None
        pieces: Iterator[T] = iter(())
        try:
            pieces = iter(text)
            for fragment in pieces:
                put((fragment,))
                room.acquire()
                if stopped.is_set():
                    break
        except BaseException as failure:
            error = failure
        finally:
            close_quietly(pieces)
        put(error)

    threading.Thread(
        target=contextvars.copy_context().run, args=(read,), name="text", daemon=True
    ).start()
    try:
        while (item := await came.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            room.release()
            yield item[0]
    finally:
        stopped.set()
        room.release()


def close_quietly(pieces: Iterator[Any]) -> None:
    """Close a generator, or what can be closed like one."""
    close: Any = getattr(pieces, "close", None)
    if close is not None:
        with contextlib.suppress(Exception):
            close()
