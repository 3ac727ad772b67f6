"""A turn: what a listener hears of one text. Decided in one place, once, and the same for speech of
every origin."""

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
    """A sink that plays, as ``sound.device.Player``."""

    def played(self) -> int:
        """Samples that were heard."""
        ...


class Place(Protocol):
    """Where the sound of a turn is played, and of no other."""

    @property
    def played(self) -> int:
        """Samples that were played."""
        ...

    def drop(self) -> int:
        """Silence it, for good; how many samples were played."""
        ...


class OwnDevice:
    """A device that plays one turn alone."""

    def __init__(self, device: Device) -> None:
        self._device = device

    @property
    def played(self) -> int:
        """Samples that were played."""
        return self._device.played()

    def drop(self) -> int:
        """Close it; how many samples were played."""
        played = self._device.played()
        self._device.close()
        return played


class Turn:
    """How much of a text was handed out, and how much of that was played.

    A turn goes on until ``end``, however that comes about; from then on what was heard does not
    change, and nobody's sound is touched any more. Any thread may call its methods."""

    def __init__(
        self,
        transcript: Transcript,
        sample_rate: int,
        spoken: Callable[[], bool],
        words_rate: int | None = None,
    ) -> None:
        """``sample_rate`` is that of the chunks, ``words_rate`` that of the transcript, if it is
        another; ``spoken`` tells whether all sound of the whole text has been made."""
        self._transcript = transcript
        self._spoken = spoken
        self._words_rate = words_rate or sample_rate
        self._lock = threading.RLock()
        self.playback = Playback(sample_rate)
        """What was handed out, and how much of it was played."""
        # Where the sound is played.
        self._place: Place | None = None
        self._heard: Heard | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._heard is not None

    @property
    def is_played(self) -> bool:
        """Whether its sound is played where it can be asked for; otherwise the caller plays it."""
        return self._place is not None

    def hand(self, chunk: AudioChunk, now: float = 0.0) -> None:
        """A chunk is handed out."""
        with self._lock:
            self.playback.give(len(chunk.samples), now)

    def tell(self, played_s: float, now: float = 0.0) -> None:
        """The caller has played so much. ConfigError for less than before, and for more than was
        handed out."""
        with self._lock:
            if self._heard is None:
                self.playback.report(played_s, now)

    def track_on(self, player: Player, end: Callable[[], object]) -> Track:
        """A track of a player on which what comes from now on is played; all before counts as
        heard.

        ``end`` is called, to end the turn, as soon as the player is cleared or closed: its text may
        wait for long."""
        track = player.track(end)
        self._play_on(track)
        return track

    def play_on(self, device: Device) -> None:
        """Ask a device that plays nothing else how much was played."""
        self._play_on(OwnDevice(device))

    def _play_on(self, place: Place) -> None:
        with self._lock:
            self.playback.follow(lambda: place.played)
            self._place = place
            if self._heard is not None:
                place.drop()

    def heard(self, played_s: float | None = None) -> Heard:
        """What was heard after ``played_s`` seconds of sound; at the end of the turn, if it has
        ended.

        None: after what the player has played, or the caller has told; else after all that was
        handed out. ConfigError for more than that.
        """
        with self._lock:
            return self._heard or self._measure(played_s)

    def end(self, played_s: float | None, settle: Callable[[], object]) -> Heard:
        """Silence it at once, and decide what was heard: see ``heard``.

        ``settle`` is called in between, and stops whatever is done for the turn. It ends even if
        this raises. If it has ended before, nothing happens.
        """
        with self._lock:
            if self._heard is None:
                if self._place is not None:
                    self._place.drop()
                settle()
                try:
                    self._heard = self._measure(played_s)
                except ConfigError:
                    self._heard = self._measure(self.playback.given_s)
                    raise
            return self._heard

    def _measure(self, played_s: float | None) -> Heard:
        return self._transcript.heard(
            self.playback.known_s if played_s is None else played_s,
            emitted_s=self.playback.given_s,
            sample_rate=self._words_rate,
            spoken=self._spoken(),
        )


def play(
    turn: Turn, chunks: Iterable[AudioChunk], player: Player, end: Callable[[], object]
) -> Heard:
    """Play chunks on a track of a player's. However that ends, ``end`` is called, which ends the
    turn."""
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
    """The same for asyncio, of chunks that ``following`` gives until None.

    If the task is cancelled, ``end`` silences it first; then ``close`` waits until the text is
    closed."""
    track = turn.track_on(player, end)
    try:
        while (chunk := await following()) is not None:
            await asyncio.to_thread(track.write, chunk)
        await asyncio.to_thread(track.drain)
    finally:
        end()
        await close()
    return turn.heard()
