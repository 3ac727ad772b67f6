"""A text in pieces, from iterables of either kind."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from sayahead.config import check_text
from sayahead.errors import TextError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def fragments_of(text: object) -> Iterable[Any] | AsyncIterable[Any]:
    """A text, or what gives pieces of one, as an iterable of them; TextError for anything else."""
    if isinstance(text, str):
        return [text]
    if isinstance(text, bytes | bytearray | memoryview):
        check_text("speak", text)
    if not isinstance(text, Iterable | AsyncIterable):
        raise TextError(f"speak() takes text, or an iterable of pieces of text, not {type(text).__name__}.")
    return text


async def asynchronous(text: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    """A text's fragments, from an iterable of either kind."""
    if isinstance(text, AsyncIterable):
        async for fragment in text:
            yield fragment
    else:
        for fragment in text:
            yield fragment


def end_of_failed(chunks: asyncio.Queue[Any], writing: asyncio.Task[None]) -> None:
    """Where the writing of a text has failed, its sound ends with what has come: nobody shall wait for more."""
    if not writing.cancelled() and writing.exception() is not None:
        chunks.put_nowait(None)
