"""A turn: what a listener hears of one text. It is decided here, once, for speech of every kind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol, runtime_checkable

from sayahead.engine.heard import Heard, Transcript
from sayahead.engine.playback import Playback
from sayahead.errors import ConfigError
from sayahead.sound.device import Player
from sayahead.sound.files import Sink
from sayahead.sound.queue import Track
from sayahead.types import AudioChunk


@runtime_checkable
class Device(Sink, Protocol):
    """A sink that plays, such as ``sound.device.Player``."""

    def played(self) -> int:
        """Return how many samples were heard."""
        ...


class Output(Protocol):
    """Where the sound of one turn is played, and of no other."""

    @property
    def played(self) -> int:
        """Samples that were played."""
        ...

    def drop(self) -> int:
        """Silence it for good; return how many samples were played."""
        ...


class OwnDevice:
    """A device that plays only one turn."""

    def __init__(self, device: Device) -> None:
        self._device = device

    @property
    def played(self) -> int:
        """Samples that were played."""
        return self._device.played()

    def drop(self) -> int:
        """Close it; return how many samples were played."""
        played = self._device.played()
        self._device.close()
        return played


class Turn:
    """How much of a text was handed out, and how much of that was played.

    A turn lasts until ``end``; after that, what was heard does not change any more. Any thread may
    call its methods.
    """

    def __init__(
        self,
        transcript: Transcript,
        sample_rate: int,
        spoken: Callable[[], bool],
        words_rate: int | None = None,
    ) -> None:
        """``sample_rate``: that of the chunks; ``words_rate``: that of the transcript if it
        differs; ``spoken``: returns whether all sound of the whole text has been made."""
        self._transcript = transcript
        self._spoken = spoken
        self._words_rate = words_rate or sample_rate
        self._lock = threading.RLock()
        self.playback = Playback(sample_rate)
        """What was handed out, and how much of it was played."""
        # Where the sound is played; None if the caller plays it.
        self._output: Output | None = None
        self._heard: Heard | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._heard is not None

    @property
    def is_played(self) -> bool:
        """Whether its sound is played where playback can be queried; otherwise the caller plays
        it."""
        return self._output is not None

    def hand(self, chunk: AudioChunk, now: float = 0.0) -> None:
        """Record a chunk that is handed out."""
        with self._lock:
            self.playback.give(len(chunk.samples), now)

    def tell(self, played_s: float, now: float = 0.0) -> None:
        """Take the caller's report of its playback. ConfigError for less than before, or more than
        was handed out."""
        with self._lock:
            if self._heard is None:
                self.playback.report(played_s, now)

    def track_on(self, player: Player, end: Callable[[], object]) -> Track:
        """Return a new track of a player, on which the following sound is played; all before counts
        as heard.

        ``end``: called as soon as the player is cleared or closed, to end the turn, whose text may
        not come for long.
        """
        track = player.track(end)
        self._play_on(track)
        return track

    def play_on(self, device: Device) -> None:
        """Query a device that plays nothing else."""
        self._play_on(OwnDevice(device))

    def _play_on(self, output: Output) -> None:
        """Follow an output; silence it at once if the turn is over."""
        with self._lock:
            self.playback.follow(lambda: output.played)
            self._output = output
            if self._heard is not None:
                output.drop()

    def heard(self, played_s: float | None = None) -> Heard:
        """Return what was heard after ``played_s`` seconds of sound; if the turn has ended, at its
        end.

        None: what the player or the caller's last report says, else all that was handed out.
        ConfigError for more than that.
        """
        with self._lock:
            return self._heard or self._measure(played_s)

    def end(self, played_s: float | None, settle: Callable[[], object]) -> Heard:
        """Silence the turn and decide what was heard, as ``heard`` does; does nothing if it has
        ended.

        ``settle``: called in between, to stop all work for the turn. The turn ends even if
        ``heard`` raises.
        """
        with self._lock:
            if self._heard is None:
                if self._output is not None:
                    self._output.drop()
                settle()
                try:
                    self._heard = self._measure(played_s)
                except ConfigError:
                    self._heard = self._measure(self.playback.given_s)
                    raise
            return self._heard

    def _measure(self, played_s: float | None) -> Heard:
        """Return what was heard after ``played_s`` seconds, or as far as playback is known."""
        return self._transcript.heard(
            self.playback.known_s if played_s is None else played_s,
            emitted_s=self.playback.given_s,
            sample_rate=self._words_rate,
            spoken=self._spoken(),
        )


def play(
    turn: Turn, chunks: Iterable[AudioChunk], player: Player, end: Callable[[], object]
) -> Heard:
    """Play chunks on a new track of a player; calls ``end`` however that ends, to end the turn."""
    track = turn.track_on(player, end)
    try:
        for chunk in chunks:
            track.write(chunk)
        track.drain()
    finally:
        end()
    return turn.heard()


async def aplay(
    turn: Turn,
    following: Callable[[], Awaitable[AudioChunk | None]],
    player: Player,
    end: Callable[[], object],
    close: Callable[[], Awaitable[object]],
) -> Heard:
    """Play the chunks that ``following`` returns until None, like ``play``, for asyncio.

    ``end`` silences a cancelled task first; then ``close`` waits until the text is closed.
    """
    track = turn.track_on(player, end)
    try:
        while (chunk := await following()) is not None:
            await asyncio.to_thread(track.write, chunk)
        await asyncio.to_thread(track.drain)
    finally:
        end()
        await close()
    return turn.heard()
