"""Fragments of text, from iterables of both kinds."""

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
    """Return a text or iterable as an iterable of fragments. TextError for anything else."""
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
    """Return an async iterator over fragments, which the caller closes.

    A synchronous iterable, which may block, is read in a thread.
    """
    if isinstance(text, AsyncIterable):
        return iterate_async(text)
    return iterate_in_memory(text) if isinstance(text, list | tuple) else iterate_in_thread(text)


async def iterate_async(text: AsyncIterable[T]) -> AsyncIterator[T]:
    """Yield from an async iterable, and close its iterator at the end."""
    pieces = aiter(text)
    try:
        async for fragment in pieces:
            yield fragment
    finally:
        close: Any = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


async def iterate_in_memory(text: Iterable[T]) -> AsyncIterator[T]:
    """Yield fragments that are in memory."""
    for fragment in text:
        yield fragment


AHEAD = 16
"""Most fragments that the thread of an iterator reads ahead."""


async def iterate_in_thread(text: Iterable[T]) -> AsyncIterator[T]:
    """Yield fragments of an iterable, which a thread reads and closes."""
    loop = asyncio.get_running_loop()
    room = threading.Semaphore(AHEAD)
    stopped = threading.Event()
    received = asyncio.Queue[tuple[T] | BaseException | None]()

    def put(item: tuple[T] | BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(received.put_nowait, item)

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
        while (item := await received.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            room.release()
            yield item[0]
    finally:
        stopped.set()
        room.release()


def close_quietly(pieces: Iterator[Any]) -> None:
    """Close a generator or the like, and ignore its errors."""
    close: Any = getattr(pieces, "close", None)
    if close is not None:
        with contextlib.suppress(Exception):
            close()
