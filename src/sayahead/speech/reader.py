"""Readers: read a text as fast as it comes, so that its writer never waits for the listener."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Protocol

from sayahead.engine.session import Item, Revision
from sayahead.speech.fragments import close_quietly

READ_AHEAD = 20_000
"""Most characters that are read before they are spoken: some twenty minutes of speech."""


class Listener(Protocol):
    """Receives the items of a text from a reader."""

    def take(self, item: Item) -> bool:
        """Take an item; return whether more are wanted."""
        ...

    def has_room(self) -> bool:
        """Return whether the next item may come now."""
        ...

    def end_text(self, error: BaseException | None) -> None:
        """Take the end of the text, and the error that ended it, if any."""
        ...


class Reader(Protocol):
    """Reads one text for one listener, to which it holds a weak reference only."""

    def start(self) -> None:
        """Start reading."""
        ...

    def moved(self) -> None:
        """Called when the listener may have room again, or wants no more."""
        ...

    def stop(self) -> None:
        """Stop reading and close the text. Callable from any thread and more than once."""
        ...

    async def closed(self) -> None:
        """Stop, and wait until the text is closed if that is possible."""
        ...


class NoReader:
    """The reader of a text that needs none: it is pushed, or in memory."""

    def start(self) -> None:
        """Do nothing."""

    def moved(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    async def closed(self) -> None:
        """Do nothing."""


class ThreadReader:
    """Reads an iterable in a thread, since each item may take long.

    The wait for an item cannot be interrupted: after ``stop``, the text is closed when the next
    item comes.
    """

    def __init__(self, text: Iterable[Item], listener: Listener) -> None:
        self._text = text
        self._listener = weakref.ref(listener)
        self._moved = threading.Event()
        self._stopped = False

    def start(self) -> None:
        """Start the thread."""
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._read,), name="text", daemon=True).start()

    def moved(self) -> None:
        """Wake the thread."""
        self._moved.set()

    def stop(self) -> None:
        """Stop reading; the thread closes the text."""
        self._stopped = True
        self._moved.set()

    async def closed(self) -> None:
        """Stop without waiting for the thread, which may be waiting for text."""
        self.stop()

    def _read(self) -> None:
        """Read the text to its end: the thread."""
        error: BaseException | None = None
        pieces: Iterator[Item] = iter(())
        try:
            pieces = iter(self._text)
            for item in pieces:
                if not self._pass_on(item):
                    break
        except BaseException as failure:
            error = failure
        finally:
            close_quietly(pieces)
        if (listener := self._listener()) is not None and not self._stopped:
            listener.end_text(error)

    def _pass_on(self, item: Item) -> bool:
        """Give the listener an item and wait for room; return whether more are wanted."""
        wanted = None
        while not self._stopped:
            self._moved.clear()
            if (listener := self._listener()) is None:
                return False
            if wanted is None:
                wanted = listener.take(item)
            if not wanted or listener.has_room():
                return wanted
            del listener
            self._moved.wait()
        return False


class TaskReader:
    """Reads an async iterable in a task of the running event loop."""

    def __init__(self, text: AsyncIterable[Item], listener: Listener) -> None:
        """``listener``: gets the items; reading ends when it is garbage collected."""
        self._text = text
        self._listener = weakref.ref(listener)
        self._moved = asyncio.Event()
        self._waits = False
        self._stopped = False
        self._cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the task."""
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._read(), name="text")

    def moved(self) -> None:
        """Wake the task."""
        if self._waits:
            self._soon(self._moved.set)

    def stop(self) -> None:
        """Stop reading and close the text."""
        if not self._stopped:
            self._stopped = True
            self._soon(self._cancel)

    async def closed(self) -> None:
        """Stop, and wait until the text is closed."""
        self._stopped = True
        self._cancel()
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    def _cancel(self) -> None:
        """Cancel the task once: its text may take a while to close."""
        if self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    def _soon(self, call: Any) -> None:
        """Schedule a call on the task's loop; does nothing once that has ended."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call)

    async def _read(self) -> None:
        """Read the text to its end: the task."""
        error: BaseException | None = None
        pieces: AsyncIterator[Item] | None = None
        try:
            pieces = aiter(self._text)
            async for item in pieces:
                if not await self._pass_on(item):
                    break
        except BaseException as failure:
            error = failure
        finally:
            close: Any = getattr(pieces, "aclose", None)
            if close is not None:
                with contextlib.suppress(Exception):
                    await close()
        if (listener := self._listener()) is not None and not self._stopped:
            listener.end_text(error)

    async def _pass_on(self, item: Item) -> bool:
        """Give the listener an item and wait for room; return whether more are wanted."""
        wanted = None
        while not self._stopped:
            self._moved.clear()
            if (listener := self._listener()) is None:
                return False
            if wanted is None and isinstance(item, Revision):
                # A revision waits for the current step, which would block the loop.
                wanted = await asyncio.to_thread(listener.take, item)
            elif wanted is None:
                wanted = listener.take(item)
            self._waits = True
            if not wanted or listener.has_room():
                self._waits = False
                return wanted
            del listener
            await self._moved.wait()
        return False
