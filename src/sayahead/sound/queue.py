"""Sound that waits for a device, as tracks: each turn's own, so that nobody drops or counts what is
another's."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from sayahead.errors import ConfigError
from sayahead.sound.files import OutputError
from sayahead.sound.pcm import from_pcm16, to_pcm16
from sayahead.types import AudioChunk, Floats, WordTiming

DEVICE_PERIODS = 4
"""What a device may still hold of the sound that it has taken, in periods."""


class Track:
    """The sound of one turn on its way to a device. Any thread may call its methods."""

    def __init__(self, queue: SoundQueue, on_over: Callable[[], object] | None = None) -> None:
        self._queue = queue
        self.on_over = on_over
        """Called once when the device was cleared or closed, on the thread that did it."""
        self.waiting = bytearray()
        """Sound that the device has not taken, in 16-bit samples."""
        self.words: deque[tuple[int, WordTiming]] = deque()
        """Words that have not begun to be heard, with the sample of the track where each begins."""
        self.written = 0
        """Samples that it was given, and that were not dropped."""
        self.played = 0
        """Samples that the device has taken."""
        self.over = False
        """Whether it takes no more sound: it was dropped, the device was cleared or closed."""

    def write(self, sound: Floats | AudioChunk) -> None:
        """Queue samples (S,) or a chunk; wait while too much is queued. No effect once it is over.

        ConfigError for a chunk of another sample rate, OutputError if the device takes nothing.
        """
        self._queue.write(self, sound)

    def drain(self) -> None:
        """Wait until all of it has been played. OutputError if the device takes nothing."""
        self._queue.drain(self)

    def drop(self) -> int:
        """Drop what was not played, for good; how many samples were."""
        return self._queue.drop(self)


class SoundQueue:
    """What a device plays: of all tracks with sound, the one that has had it longest.

    The device calls ``take``; nothing here has a clock but the watch for a device that stands
    still."""

    def __init__(
        self,
        sample_rate: int,
        *,
        ahead_s: float,
        stuck_s: float,
        period: int,
        advice: str = "",
        on_word: Callable[[WordTiming], object] | None = None,
    ) -> None:
        """``ahead_s``: how much sound a track may have waiting; ``stuck_s``: how long a device may
        take nothing; ``period``: samples that it takes at a time, about. ``advice``: what to do
        without a device. ``on_word``: see Player."""
        self.sample_rate = sample_rate
        self.volume = 1.0
        self.paused = False
        self.closed = False
        self.played = 0
        """Samples that the device has taken, of all tracks."""
        self._most_bytes = int(2 * ahead_s * sample_rate)
        self._stuck_s = stuck_s
        self._advice = advice
        self._hold = DEVICE_PERIODS * period
        self._changed = threading.Condition()
        # Those that are not over; of them, those that have sound, in the order in which they came
        # to it.
        self._open = weakref.WeakSet[Track]()
        self._tracks: deque[Track] = deque()
        # What was written without a track of its own.
        self._loose = self.track()
        # Samples that the device has asked for, played or not.
        self._asked = 0
        self._on_word = on_word
        self._begun: deque[WordTiming] = deque()
        if on_word is not None:
            threading.Thread(target=self._tell, name="words heard", daemon=True).start()

    def track(self, on_over: Callable[[], object] | None = None) -> Track:
        """A new track; over at once if the queue is closed. ``on_over``: see ``Track``."""
        with self._changed:
            track = Track(self, on_over)
            if not self.closed:
                self._open.add(track)
                return track
        self._end([track])
        tell_over([track])
        return track

    @property
    def written(self) -> int:
        """Samples that it was given and that were not dropped."""
        with self._changed:
            return self.played + sum(len(track.waiting) for track in self._tracks) // 2

    @property
    def loose(self) -> Track:
        """The track of what has none of its own; a new one after ``clear``."""
        if self._loose.over:
            self._loose = self.track()
        return self._loose

    def take(self, samples: int) -> bytes:
        """What the device plays next: so many samples, or fewer if no more are queued."""
        data = bytearray()
        with self._changed:
            self._asked += samples
            while self._tracks and not self.paused and len(data) < 2 * samples:
                track = self._tracks[0]
                part = track.waiting[: 2 * samples - len(data)]
                del track.waiting[: len(part)]
                data += part
                track.played += len(part) // 2
                self.played += len(part) // 2
                while track.words and track.words[0][0] < track.played:
                    self._begun.append(track.words.popleft()[1])
                if not track.waiting:
                    self._tracks.popleft()
            self._changed.notify_all()
        if self.volume != 1.0 and data:
            return to_pcm16(from_pcm16(bytes(data)) * np.float32(self.volume)).tobytes()
        return bytes(data)

    def write(self, track: Track, sound: Floats | AudioChunk) -> None:
        """Queue sound of a track: see ``Track.write``."""
        if isinstance(sound, AudioChunk) and sound.sample_rate != self.sample_rate:
            raise ConfigError(
                f"The player takes {self.sample_rate} samples a second, but the chunk has"
                f" {sound.sample_rate}: Player({sound.sample_rate}), or speak with"
                f" sample_rate={self.sample_rate}."
            )
        data = to_pcm16(sound.samples if isinstance(sound, AudioChunk) else sound).tobytes()
        with self._changed:
            if track.over:
                return
            if data and not track.waiting:
                self._tracks.append(track)
            if isinstance(sound, AudioChunk) and self._on_word is not None:
                begin = track.written - sound.start_samples
                track.words.extend((begin + word.onset_samples, word) for word in sound.words)
            track.waiting += data
            track.written += len(data) // 2
        self._wait(lambda: len(track.waiting) <= self._most_bytes)

    def drain(self, track: Track | None = None) -> None:
        """Wait until all of a track, or of all of them, has been played, and the device has let go
        of it."""

        def played() -> bool:
            return not (self._tracks if track is None else track.waiting)

        self._wait(played)
        # What was dropped is not held, and nor is what never was.
        if not self.closed and (self.played if track is None else track.written):
            until = self._asked + self._hold
            self._wait(
                lambda: self.closed or (track is not None and track.over) or self._asked >= until
            )

    def drop(self, track: Track) -> int:
        """Drop what was not played of a track: see ``Track.drop``."""
        track.on_over = None
        self._end([track])
        return track.played

    def clear(self) -> None:
        """Drop everything that was not played, for good: each track is over, and new ones may
        begin."""
        with self._changed:
            tracks = list(self._open)
            self._end(tracks)
        tell_over(tracks)

    def close(self) -> None:
        """Drop everything, and take no more."""
        with self._changed:
            self.closed = True
        self.clear()

    def _end(self, tracks: Sequence[Track]) -> None:
        with self._changed:
            for track in tracks:
                track.over = True
                track.waiting.clear()
                track.words.clear()
                track.written = track.played
                self._open.discard(track)
            self._tracks = deque(track for track in self._tracks if not track.over)
            self._changed.notify_all()

    def pause(self, paused: bool) -> None:
        """Take nothing from the queue, or go on."""
        with self._changed:
            self.paused = paused
            self._changed.notify_all()

    def _wait(self, until: Callable[[], bool]) -> None:
        """Wait until something is so; OutputError if the device stands still meanwhile."""
        with self._changed:
            last = self._asked
            since = time.monotonic()
            while not until():
                # With a time limit, so that Ctrl-C gets through on every system.
                self._changed.wait(0.2)
                if self._asked != last:
                    last = self._asked
                    since = time.monotonic()
                elif time.monotonic() - since > self._stuck_s:
                    raise OutputError(
                        f"The sound device has accepted no sound for {self._stuck_s:g} s."
                        f" {self._advice}"
                    )

    def _tell(self) -> None:
        """Call ``on_word`` for each word when the device has come to it."""
        assert self._on_word is not None
        while True:
            with self._changed:
                while not self._begun:
                    if self.closed:
                        return
                    self._changed.wait(0.2)
                word = self._begun.popleft()
            self._on_word(word)


def tell_over(tracks: Sequence[Track]) -> None:
    """Call ``on_over`` of each, without a lock that others may wait for."""
    for track in tracks:
        on_over = track.on_over
        track.on_over = None
        if on_over is not None:
            on_over()
