"""A queue of sound for a device. Each turn has its own track, so that none drops or counts
another's sound."""

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
"""Periods of sound that a device may still hold after it has taken them."""


class Track:
    """The sound of one turn on its way to a device. Any thread may call its methods."""

    def __init__(self, queue: SoundQueue, on_over: Callable[[], object] | None = None) -> None:
        self._queue = queue
        self.on_over = on_over
        """Called once when the device is cleared or closed, on that thread."""
        self.waiting = bytearray()
        """Sound that the device has not taken, as 16-bit samples."""
        self.words: deque[tuple[int, WordTiming]] = deque()
        """Words that have not begun to be heard, with the sample of the track where each begins."""
        self.written = 0
        """Samples written and not dropped."""
        self.played = 0
        """Samples that the device has taken."""
        self.over = False
        """Whether it accepts no more sound, because it was dropped or the device was cleared or
        closed."""

    def write(self, sound: Floats | AudioChunk) -> None:
        """Queue samples (S,) or a chunk; blocks while too much is queued. Does nothing once the
        track is over.

        ConfigError for a chunk of another sample rate, OutputError if the device has stopped.
        """
        self._queue.write(self, sound)

    def drain(self) -> None:
        """Wait until all of it has been played. OutputError if the device has stopped."""
        self._queue.drain(self)

    def drop(self) -> int:
        """Drop what was not played, for good; return how many samples were played."""
        return self._queue.drop(self)


class SoundQueue:
    """What a device plays: of all tracks with sound, the one that has had it longest.

    The device calls ``take``. The only clock is the one that detects a stopped device.
    """

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
        """``ahead_s``: most sound that may wait in a track; ``stuck_s``: after this long without
        ``take``, the device counts as stopped; ``period``: approximate samples per ``take``;
        ``advice``: what to do without a device, for errors; ``on_word``: see Player."""
        self.sample_rate = sample_rate
        self.volume = 1.0
        self.paused = False
        self.closed = False
        self.played = 0
        """Samples that the device has taken, of all tracks."""
        self._max_bytes = int(2 * ahead_s * sample_rate)
        self._stuck_s = stuck_s
        self._advice = advice
        self._held_by_device = DEVICE_PERIODS * period
        self._changed = threading.Condition()
        # All tracks that are not over; and those of them with sound, in the order in which they got
        # it.
        self._open = weakref.WeakSet[Track]()
        self._tracks: deque[Track] = deque()
        # Sound written without a track.
        self._loose = self.track()
        # Samples that the device has requested, whether or not there was sound.
        self._requested_count = 0
        self._on_word = on_word
        self._heard_words: deque[WordTiming] = deque()
        if on_word is not None:
            threading.Thread(target=self._call_on_word, name="words heard", daemon=True).start()

    def track(self, on_over: Callable[[], object] | None = None) -> Track:
        """Return a new track, which is over at once if the queue is closed."""
        with self._changed:
            track = Track(self, on_over)
            if not self.closed:
                self._open.add(track)
                return track
        self._end([track])
        call_on_over([track])
        return track

    @property
    def written(self) -> int:
        """Samples written and not dropped."""
        with self._changed:
            return self.played + sum(len(track.waiting) for track in self._tracks) // 2

    @property
    def loose(self) -> Track:
        """The track for sound without its own; a new one after ``clear``."""
        if self._loose.over:
            self._loose = self.track()
        return self._loose

    def take(self, samples: int) -> bytes:
        """Return what the device plays next: ``samples`` samples, or fewer if no more are
        queued."""
        data = bytearray()
        with self._changed:
            self._requested_count += samples
            while self._tracks and not self.paused and len(data) < 2 * samples:
                track = self._tracks[0]
                part = track.waiting[: 2 * samples - len(data)]
                del track.waiting[: len(part)]
                data += part
                track.played += len(part) // 2
                self.played += len(part) // 2
                while track.words and track.words[0][0] < track.played:
                    self._heard_words.append(track.words.popleft()[1])
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
        self._wait(lambda: len(track.waiting) <= self._max_bytes)

    def drain(self, track: Track | None = None) -> None:
        """Wait until a track, or all of them, has been played and the device holds nothing of
        it."""

        def played() -> bool:
            return not (self._tracks if track is None else track.waiting)

        self._wait(played)
        # Nothing is held if everything was dropped or nothing was written.
        if not self.closed and (self.played if track is None else track.written):
            end_count = self._requested_count + self._held_by_device
            self._wait(
                lambda: (
                    self.closed
                    or (track is not None and track.over)
                    or self._requested_count >= end_count
                )
            )

    def drop(self, track: Track) -> int:
        """Drop what was not played of a track: see ``Track.drop``."""
        track.on_over = None
        self._end([track])
        return track.played

    def clear(self) -> None:
        """Drop everything that was not played, and end all tracks; new ones may begin."""
        with self._changed:
            tracks = list(self._open)
            self._end(tracks)
        call_on_over(tracks)

    def close(self) -> None:
        """Drop everything and accept no more."""
        with self._changed:
            self.closed = True
        self.clear()

    def _end(self, tracks: Sequence[Track]) -> None:
        """End tracks and drop their sound."""
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
        """Pause or resume."""
        with self._changed:
            self.paused = paused
            self._changed.notify_all()

    def _wait(self, is_done: Callable[[], bool]) -> None:
        """Wait until ``is_done()`` is true. OutputError if the device stops meanwhile."""
        with self._changed:
            last = self._requested_count
            last_change = time.monotonic()
            while not is_done():
                # With a timeout, so that Ctrl-C works on every system.
                self._changed.wait(0.2)
                if self._requested_count != last:
                    last = self._requested_count
                    last_change = time.monotonic()
                elif time.monotonic() - last_change > self._stuck_s:
                    raise OutputError(
                        f"The sound device has accepted no sound for {self._stuck_s:g} s."
                        f" {self._advice}"
                    )

    def _call_on_word(self) -> None:
        """Call ``on_word`` for each word when it begins to be heard: a thread."""
        assert self._on_word is not None
        while True:
            with self._changed:
                while not self._heard_words:
                    if self.closed:
                        return
                    self._changed.wait(0.2)
                word = self._heard_words.popleft()
            self._on_word(word)


def call_on_over(tracks: Sequence[Track]) -> None:
    """Call ``on_over`` of each track, without holding a lock."""
    for track in tracks:
        on_over = track.on_over
        track.on_over = None
        if on_over is not None:
            on_over()
