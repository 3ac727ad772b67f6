"""The client without asyncio: the same calls, each of which waits."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

from sayahead.client.asynchronous import AsyncClient, AsyncSpeech
from sayahead.client.choices import Choices
from sayahead.client.wire import ServerError
from sayahead.engine.heard import Heard
from sayahead.errors import SessionError, TextError, renamed
from sayahead.sound.device import Player
from sayahead.sound.out import save
from sayahead.sound.subtitles import form_of, write_timings
from sayahead.speech import fragments_of, observed
from sayahead.speech.fragments import close_quietly
from sayahead.speech.turn import play
from sayahead.types import AudioChunk, WordTiming

T = TypeVar("T")
ENDING_S = 1.0
"""Time for the tasks that are cancelled at the end."""


class Client:
    """A connection to a server, for programs without asyncio. Any thread may call its methods.

    For example::

        with Client("ws://127.0.0.1:8000") as client:
            for chunk in client.stream(["Hello ", "there."]):
                player.write(chunk)
    """

    def __init__(
        self,
        url: str | Sequence[str] = "ws://127.0.0.1:8000",
        *,
        key: str | None = None,
        resume: bool | None = None,
        **session: Unpack[Choices],
    ) -> None:
        """The arguments are those of ``AsyncClient``."""
        self._client = AsyncClient(url, key=key, resume=resume, **session)
        self._loop: asyncio.AbstractEventLoop | None = None
        # Guards submissions to the event loop against its closing.
        self._closing = threading.Lock()

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="sayahead client", daemon=True
        )
        self._thread.start()
        try:
            self.wait(self._client.__aenter__())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.wait(self._client.__aexit__(*error))
        finally:
            self._end()

    async def __aenter__(self) -> AsyncClient:
        """What version 0.1 called ``Client``."""
        renamed("async with Client", "async with AsyncClient")
        return await self._client.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        await self._client.__aexit__(*error)

    def _end(self) -> None:
        """Cancel all tasks, stop the event loop and join its thread."""

        async def cancel() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=ENDING_S)

        with self._closing:
            loop = self._loop
            self._loop = None
        if loop is not None:
            # Everything submitted before is scheduled by now; cancel what would not end.
            asyncio.run_coroutine_threadsafe(cancel(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the client's event loop and return its result; an interrupted wait
        cancels it.

        SessionError if the client is not connected, or is closed meanwhile.
        """
        with self._closing:
            if self._loop is None:
                work.close()
                raise SessionError(
                    "The client is not connected: use `with Client(...) as client:`."
                )
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError as error:
            raise SessionError("The client was closed.") from error
        except BaseException:
            future.cancel()
            raise

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        """Schedule a function on the event loop; does nothing once that has ended."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(function, *arguments)

    @property
    def created(self) -> dict[str, Any]:
        """The server's first message: its voices, encodings and limits."""
        return self._client.created

    @property
    def sample_rate(self) -> int:
        """Samples per second of all audio."""
        return self._client.sample_rate

    def open_speech(self) -> Speech:
        """Speech whose text you push."""

        async def begin() -> AsyncSpeech:
            return self._client.open_speech()

        return Speech(self, self.wait(begin()))

    def speech(self) -> Speech:
        """The name of ``open_speech`` in version 0.1."""
        renamed("speech", "open_speech")
        return self.open_speech()

    def speak(self, fragments: str | Iterable[str]) -> Speech:
        """Speak fragments, which a thread pushes in the background."""
        pieces = synchronous(fragments)
        speech = self.open_speech()
        threading.Thread(
            target=speech._write_apart, args=(pieces,), name="text", daemon=True
        ).start()
        return speech

    def stream(self, fragments: str | Iterable[str]) -> Iterator[AudioChunk]:
        """The audio of the fragments, chunk by chunk as it arrives; leaving early silences the
        server."""
        speech = self.speak(fragments)
        try:
            yield from speech
        finally:
            speech.leave()


class Speech:
    """Text being spoken by the server; an iterator over its audio. The calls of ``AsyncSpeech``,
    which wait here."""

    def __init__(self, client: Client, speech: AsyncSpeech) -> None:
        self._client = client
        self._speech = speech

    @property
    def text(self) -> str:
        """All text so far, with its revisions."""
        return self._speech.text

    @property
    def words(self) -> list[WordTiming]:
        """The words of all sound that was handed out."""
        return self._speech.words

    @property
    def unsaid(self) -> str:
        """The text so far that was not heard: see ``heard``."""
        return self._speech.unsaid

    def push(self, text: str) -> None:
        """Add text. TextError if it is not text, SessionError after the end."""
        self._client.wait(self._speech.push(text))

    def revise(self, at: int, text: str) -> int:
        """Replace the text from character ``at`` on; returns from where that could be done."""
        return self._client.wait(self._speech.revise(at, text))

    def flush(self, *, end: bool = False) -> None:
        """Speak all text so far without waiting for more. ``end`` ends its sentence."""
        self._client.wait(self._speech.flush(end=end))

    def finish(self) -> None:
        """Declare that no more text comes."""
        self._client.wait(self._speech.finish())

    def write(self, fragments: str | Iterable[str]) -> None:
        """Push all fragments, then finish. Of a long text, the audio must be read by another thread
        meanwhile."""
        for fragment in synchronous(fragments):
            self._client.wait(self._speech.write_piece(fragment))
        self.finish()

    def _write_apart(self, fragments: Iterable[str]) -> None:
        """Push all fragments, in a thread; an error is raised where the sound is awaited."""
        pieces: Iterator[str] = iter(())
        try:
            pieces = iter(fragments)
            self.write(pieces)
        except BaseException as error:
            self._client._call(self._speech.fail, error)
        finally:
            close_quietly(pieces)

    def heard(self, played_s: float | None = None) -> Heard:
        """What the listener has heard after ``played_s`` seconds of sound.

        None: as far as ``play`` or ``played`` know; see ``sayahead.Speech.heard``."""
        return self._speech.heard(played_s)

    def played(self, played_s: float) -> None:
        """Say that ``played_s`` seconds have been played: ``heard`` and ``cancel`` go by it, and
        ``keep_up``."""
        self._client.wait(self._speech.played(played_s))

    def cancel(self, played_s: float | None = None) -> Heard:
        """Fall silent at once (barge-in), and return what was heard, as ``heard`` does.

        A player of yours drops the rest, and stays open; see ``sayahead.Speech.cancel``."""
        try:
            # At once in this thread, because the event loop may be busy.
            return self._speech.turn.end(played_s, self._speech.hush)
        finally:
            with contextlib.suppress(ServerError, SessionError):
                self._client.wait(self._speech.cancel())

    def leave(self) -> None:
        """Have the server stop, if it has not ended."""
        with contextlib.suppress(ServerError, SessionError):
            self._client.wait(self._speech.leave())

    def _end_turn(self) -> Heard:
        """Stop the sound and decide what was heard."""
        return self._speech.turn.end(None, self._speech.hush)

    def __iter__(self) -> Iterator[AudioChunk]:
        while (chunk := self._client.wait(self._speech.following())) is not None:
            yield chunk

    def play(self, player: Player | None = None) -> Heard:
        """Play to the end or to ``cancel``, and return what was heard. Needs the ``play`` extra.

        ``player``: an open one of the same sample rate, which stays open; None: the system's
        default device. However it ends, by an error or Ctrl-C too, it is silent then, and what was
        heard is decided."""
        if player is None:
            with Player(self._client.sample_rate) as own:
                return self.play(own)
        try:
            return play(self._speech.turn, self, player, self._end_turn)
        finally:
            self.leave()

    def save(
        self,
        path: str | Path,
        *,
        timings: str | Path | None = None,
        each_word: bool = False,
        spoken: bool = False,
        on_chunk: Callable[[AudioChunk], object] | None = None,
    ) -> None:
        """Write it to a file, as ``sayahead.Speech.save`` does."""
        if timings is not None:
            form_of(Path(timings))
        save(path, observed(iter(self), on_chunk), self._client.sample_rate)
        if timings is not None:
            rate = self._client.sample_rate
            write_timings(
                Path(timings), self.words, sample_rate=rate, each_word=each_word, spoken=spoken
            )


def synchronous(fragments: str | Iterable[str]) -> Iterable[str]:
    """Return a text's fragments. TextError if it is not text, or an async iterator."""
    pieces = fragments_of(fragments)
    if isinstance(pieces, AsyncIterable):
        raise TextError("The text is an async iterator: give it to the AsyncClient.")
    return pieces


def __getattr__(name: str) -> object:
    if name in ("SyncClient", "SyncSpeech"):
        renamed(name, name.removeprefix("Sync"))
        return globals()[name.removeprefix("Sync")]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
