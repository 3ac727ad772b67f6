"""Plays sound while it is being made, through miniaudio (the ``play`` extra)."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Self

from sayahead.config import check_number, check_whole
from sayahead.errors import ConfigError
from sayahead.sound.files import OutputError
from sayahead.sound.queue import SoundQueue, Track
from sayahead.types import AudioChunk, Floats, WordTiming

IN_FILES = (
    'To write a file instead: -o hello.wav (in Python, .save("hello.wav")); to send the sound to'
    " another program: sayahead say --raw ... | aplay -q -f S16_LE -r 24000"
)
ELSEWHERE = f"{IN_FILES}; to go on without sound: SAYAHEAD_DEVICE=null"


def real_backends(miniaudio: Any) -> list[Any]:
    """Return the backends for real sound devices; miniaudio's own choice includes a null device,
    which plays nothing."""
    return [backend for backend in miniaudio.Backend if backend.name not in ("NULL", "CUSTOM")]


def require_miniaudio() -> Any:
    """Return the module miniaudio; OutputError with instructions if it is not installed."""
    try:
        import miniaudio
    except ImportError as error:
        raise OutputError(
            f"Playing sound needs miniaudio: pip install 'sayahead[play]'. {IN_FILES}"
        ) from error
    return miniaudio


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Silence standard error while inside: sound libraries report every device that they do not
    find."""
    try:
        saved = os.dup(2)
        devnull = os.open(os.devnull, os.O_WRONLY)
    except OSError:
        yield
        return
    os.dup2(devnull, 2)
    os.close(devnull)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


@contextlib.contextmanager
def device_errors(close: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Turn a failure to open a device into OutputError, after calling ``close``."""
    miniaudio = require_miniaudio()
    try:
        yield
    except miniaudio.MiniaudioError as error:
        close()
        raise OutputError(
            f"No sound device could be opened ({error.args[0]}). {ELSEWHERE}"
        ) from error


class Player:
    """A sound device: takes samples, or chunks with their words, at playback speed.

    For example::

        with Player(volume=0.8, on_word=lambda word: print(word.text)) as player:
            for chunk in voice.stream(tokens):
                player.write(chunk)
            player.drain()

    Any thread may call its methods. With asyncio, call ``write`` and ``drain`` by
    ``asyncio.to_thread``, or leave that to ``Speech.aplay``. Needs the ``play`` extra.
    """

    # Longest buffer; more would only delay the effect of Ctrl-C on synthesis.
    AHEAD_S = 4.0
    PERIOD_MS = 20
    STUCK_S = 5.0

    def __init__(
        self,
        sample_rate: int = 24000,
        *,
        device: str | None = None,
        volume: float = 1.0,
        on_word: Callable[[WordTiming], object] | None = None,
        backends: Sequence[Any] | None = None,
    ) -> None:
        """``sample_rate``: that of everything it will be given. ``device``: part of a name in
        ``Player.devices()``, or "null", which plays silently in real time; None: what
        ``SAYAHEAD_DEVICE`` names, or the system's default. ``on_word``: called with each word when
        it begins to be heard, on a thread of the player.

        OutputError without the ``play`` extra, or if no device opens.
        """
        rate = check_whole("sample_rate", sample_rate, 1000, 192_000)
        volume = check_number("volume", volume, 0.0, 4.0)
        self._device = self._open(rate, device or os.environ.get("SAYAHEAD_DEVICE"), backends)
        self._queue = SoundQueue(
            rate,
            ahead_s=self.AHEAD_S,
            stuck_s=self.STUCK_S,
            period=rate * self.PERIOD_MS // 1000,
            advice=ELSEWHERE,
            on_word=on_word,
        )
        self._queue.volume = volume
        # An open miniaudio device keeps the program from exiting.
        self._finalizer = weakref.finalize(self, close_device, self._queue, self._device)
        feed = samples_for_device(self._queue)
        next(feed)
        self._start(feed)

    def _start(self, feed: Generator[bytes, int, None]) -> None:
        """Let the device play what ``feed`` yields."""
        with device_errors(self._finalizer):
            self._device.start(feed)

    def _open(self, sample_rate: int, device: str | None, backends: Sequence[Any] | None) -> Any:
        """Open and return miniaudio's device."""
        miniaudio = require_miniaudio()
        if device == "null":
            device = None
            backends = [miniaudio.Backend.NULL]
        backends = list(backends or real_backends(miniaudio))
        with device_errors(), hushed():
            return miniaudio.PlaybackDevice(
                output_format=miniaudio.SampleFormat.SIGNED16,
                nchannels=1,
                sample_rate=sample_rate,
                buffersize_msec=self.PERIOD_MS,
                backends=backends,
                device_id=None if device is None else device_id_of(device, miniaudio, backends),
                app_name="sayahead",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @staticmethod
    def devices() -> list[str]:
        """The names of the sound devices; OutputError without the ``play`` extra."""
        miniaudio = require_miniaudio()
        with hushed():
            try:
                return [
                    device["name"]
                    for device in miniaudio.Devices(real_backends(miniaudio)).get_playbacks()
                ]
            except miniaudio.MiniaudioError:
                return []

    @property
    def backend(self) -> str:
        """The sound system in use."""
        return str(self._device.backend)

    @property
    def sample_rate(self) -> int:
        """Samples per second."""
        return self._queue.sample_rate

    @property
    def volume(self) -> float:
        """The factor on all sound; it may be set at any time."""
        return self._queue.volume

    @volume.setter
    def volume(self, volume: float) -> None:
        self._queue.volume = volume

    @property
    def paused(self) -> bool:
        """Whether it is paused."""
        return self._queue.paused

    def played(self) -> int:
        """Samples that the device has taken."""
        return self._queue.played

    def written(self) -> int:
        """Samples that it was given, not counting those that were dropped."""
        return self._queue.written

    @property
    def played_s(self) -> float:
        """Seconds that were played."""
        return self._queue.played / self._queue.sample_rate

    def pause(self) -> None:
        """Fall silent, and keep what is queued."""
        self._queue.pause(True)

    def resume(self) -> None:
        """Continue after ``pause``."""
        self._queue.pause(False)

    def clear(self) -> None:
        """Drop whatever was not heard yet, and cancel who is speaking; you may go on writing."""
        self._queue.clear()

    def track(self, on_over: Callable[[], object] | None = None) -> Track:
        """A track of its own for the sound of one turn.

        ``on_over``: called once when the player is cleared or closed before the track is dropped,
        on that thread."""
        return self._queue.track(on_over)

    def write(self, sound: Floats | AudioChunk) -> None:
        """Queue samples (S,) or a chunk; waits while 4 s are queued. No effect once it is closed.

        ConfigError for a chunk of another sample rate.
        """
        self._queue.loose.write(sound)

    def drain(self) -> None:
        """Wait until everything has been played."""
        self._queue.drain()

    def close(self) -> None:
        """Stop at once. What is forgotten, or open when the program ends, is closed then."""
        self._finalizer()


def samples_for_device(queue: SoundQueue) -> Generator[bytes, int, None]:
    """Yield what miniaudio's device plays: sound from the queue, and nothing if that is empty."""
    data = b""
    while True:
        data = queue.take((yield data))


def close_device(queue: SoundQueue, device: Any) -> None:
    """Close a device and drop what is queued for it."""
    queue.close()
    device.close()


def device_id_of(name: str, miniaudio: Any, backends: Sequence[Any]) -> Any:
    """Return the id of the device whose name contains ``name``. ConfigError with a list if there is
    none."""
    devices = miniaudio.Devices(list(backends)).get_playbacks()
    for device in devices:
        if name.lower() in device["name"].lower():
            return device["id"]
    known = ", ".join(repr(device["name"]) for device in devices) or "none"
    raise ConfigError(f"There is no sound device {name!r} (known: {known}).")
