"""Reading a text as fast as it comes, apart from whoever listens: its writer is never held up by
the listener."""

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
"""Characters that are read before they are spoken, at most: some twenty minutes of speech."""


class Listener(Protocol):
    """Who takes the pieces of a text that is read."""

    def take(self, item: Item) -> bool:
        """Take a piece; whether more are wanted."""
        ...

    def has_room(self) -> bool:
        """Whether the next piece may come now."""
        ...

    def end_text(self, error: BaseException | None) -> None:
        """The text has ended, by an error if there is one."""
        ...


class Reader(Protocol):
    """Reads one text for one listener, who is forgotten where nobody else knows of it."""

    def start(self) -> None:
        """Begin."""
        ...

    def moved(self) -> None:
        """The listener may have room again, or want no more."""
        ...

    def stop(self) -> None:
        """Read no more, and close the text; from any thread, harmless when repeated."""
        ...

    async def closed(self) -> None:
        """Wait until it has been stopped and the text is closed, if that can be awaited."""
        ...


class NoReader:
    """A text that is not read apart: it is pushed, or is all there."""

    def start(self) -> None:
        """Nothing begins."""

    def moved(self) -> None:
        """Nobody waits."""

    def stop(self) -> None:
        """Nothing stops."""

    async def closed(self) -> None:
        """Nothing is open."""


class ThreadReader:
    """Reads an iterator in a thread of its own: each piece may be long in coming.

    A piece that is awaited cannot be interrupted: where it is stopped meanwhile, the text is closed
    when that comes."""

    def __init__(self, text: Iterable[Item], listener: Listener) -> None:
        self._text = text
        self._listener = weakref.ref(listener)
        self._moved = threading.Event()
        self._stopped = False

    def start(self) -> None:
        """Begin."""
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(self._read,), name="text", daemon=True).start()

    def moved(self) -> None:
        """The listener may have room again."""
        self._moved.set()

    def stop(self) -> None:
        """Read no more, and close the text."""
        self._stopped = True
        self._moved.set()

    async def closed(self) -> None:
        """The thread is not awaited: it may wait for a piece of text for long."""
        self.stop()

    def _read(self) -> None:
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
        """Give a piece to the listener and wait for room; whether more are wanted."""
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
    """Reads an asynchronous iterator in a task of the loop that runs."""

    def __init__(self, text: AsyncIterable[Item], listener: Listener) -> None:
        self._text = text
        self._listener = weakref.ref(listener)
        self._moved = asyncio.Event()
        self._waits = False
        self._stopped = False
        self._cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._read(), name="text")

    def moved(self) -> None:
        """The listener may have room again."""
        if self._waits:
            self._soon(self._moved.set)

    def stop(self) -> None:
        """Read no more, and close the text."""
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
        """Cancel the task, once: its text may need a while to close."""
        if self._task is not None and not self._cancelled:
            self._cancelled = True
            self._task.cancel()

    def _soon(self, call: Any) -> None:
        """Call something in its loop; without effect once that has ended."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call)

    async def _read(self) -> None:
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
        """Give a piece to the listener and wait for room; whether more are wanted."""
        wanted = None
        while not self._stopped:
            self._moved.clear()
            if (listener := self._listener()) is None:
                return False
            if wanted is None and isinstance(item, Revision):
                # It waits for the step that is being made.
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
