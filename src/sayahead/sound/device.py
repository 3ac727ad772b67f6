"""Playing sound as it is made, through miniaudio (the ``play`` extra)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, Self

import numpy as np

from sayahead.config import check_number, check_whole
from sayahead.errors import ConfigError
from sayahead.sound.files import OutputError
from sayahead.sound.pcm import from_pcm16, to_pcm16
from sayahead.types import AudioChunk, Floats, WordTiming

ELSEWHERE = (
    'To write a file instead: -o hello.wav (in Python, .save("hello.wav")); to send the sound to another program: '
    "sayahead say --raw ... | aplay -q -f S16_LE -r 24000; to go on without sound: SAYAHEAD_DEVICE=null"
)


def real_backends(miniaudio: Any) -> list[Any]:
    """The backends for sound devices; miniaudio's own choice would end at its null device, which plays nothing."""
    return [backend for backend in miniaudio.Backend if backend.name not in ("NULL", "CUSTOM")]


def require_miniaudio() -> Any:
    """The miniaudio module, or an OutputError that says how to get it."""
    try:
        import miniaudio
    except ImportError as error:
        raise OutputError(f"Playing sound needs miniaudio: pip install 'sayahead[play]'. {ELSEWHERE}") from error
    return miniaudio


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Keep standard error quiet for a while: sound libraries report every device that they do not find."""
    try:
        saved, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:
        yield
        return
    os.dup2(nothing, 2)
    os.close(nothing)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


class Player:
    """A sound device: takes samples, or chunks with their words, at playback speed.

    For example::

        with Player(volume=0.8, on_word=lambda word: print(word.text)) as player:
            for chunk in voice.stream(tokens):
                player.write(chunk)
            player.drain()

    Any thread may call its methods. With asyncio, call ``write`` and ``drain`` by ``asyncio.to_thread``, or leave that
    to ``Speech.aplay``. Needs the ``play`` extra.
    """

    # Buffered audio; more would only delay the effect of Ctrl-C on the synthesis.
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
        """``sample_rate``: that of everything it will be given. ``device``: part of a name in ``Player.devices()``, or
        "null", which plays silently in real time; None: what ``SAYAHEAD_DEVICE`` names, or the system's default.
        ``volume``: a factor, which you may change at any time. ``on_word``: called with each word when it begins to be
        heard, on a thread of the player.

        OutputError without the ``play`` extra, or if no device opens.
        """

        miniaudio = require_miniaudio()
        device = device or os.environ.get("SAYAHEAD_DEVICE")
        if device == "null":
            device, backends = None, [miniaudio.Backend.NULL]
        backends = list(backends or real_backends(miniaudio))
        self._rate = check_whole("sample_rate", sample_rate, 1000, 192_000)
        self.volume = check_number("volume", volume, 0.0, 4.0)
        self._waiting = bytearray()
        self._changed = threading.Condition()
        # Samples that were given and not dropped; those that the device has taken.
        self._written = self._played = 0
        self._closed = self._paused = False
        # Words that were not heard yet, with the sample where each begins.
        self._words: deque[tuple[int, WordTiming]] = deque()
        self._on_word = on_word
        try:
            with hushed():
                self._device: Any = miniaudio.PlaybackDevice(
                    output_format=miniaudio.SampleFormat.SIGNED16,
                    nchannels=1,
                    sample_rate=self._rate,
                    buffersize_msec=self.PERIOD_MS,
                    backends=backends,
                    device_id=None if device is None else found(device, miniaudio, backends),
                    app_name="sayahead",
                )
            feed = self._feed()
            next(feed)
            self._device.start(feed)
        except miniaudio.MiniaudioError as error:
            raise OutputError(f"No sound device could be opened ({error.args[0]}). {ELSEWHERE}") from error
        if on_word is not None:
            threading.Thread(target=self._tell, name="words heard", daemon=True).start()

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
                return [device["name"] for device in miniaudio.Devices(real_backends(miniaudio)).get_playbacks()]
            except miniaudio.MiniaudioError:
                return []

    @property
    def backend(self) -> str:
        """The sound system in use."""
        return str(self._device.backend)

    @property
    def sample_rate(self) -> int:
        """Samples per second."""
        return self._rate

    @property
    def paused(self) -> bool:
        """Whether it is paused."""
        return self._paused

    def played(self) -> int:
        """Samples that the device has taken."""
        return self._played

    def written(self) -> int:
        """Samples that it was given, not counting those that ``clear`` dropped."""
        return self._written

    @property
    def played_s(self) -> float:
        """Seconds that were played."""
        return self._played / self._rate

    def pause(self) -> None:
        """Fall silent, and keep what is queued."""
        self._pause(True)

    def resume(self) -> None:
        """Continue after ``pause``."""
        self._pause(False)

    def _pause(self, paused: bool) -> None:
        with self._changed:
            self._paused = paused
            self._changed.notify_all()

    def clear(self) -> None:
        """Drop whatever was not heard yet, for example when somebody interrupts. You may go on writing."""
        with self._changed:
            self._waiting.clear()
            # Words that have begun are still told: their thread may not have come to them yet.
            self._words = deque(word for word in self._words if word[0] < self._played)
            self._written = self._played
            self._changed.notify_all()

    def _feed(self) -> Generator[bytes, int, None]:
        """What the device asks for; silence if nothing is queued."""
        data = b""
        while True:
            wanted = 2 * (yield data)
            with self._changed:
                data = b"" if self._paused else bytes(self._waiting[:wanted])
                del self._waiting[: len(data)]
                self._played += len(data) // 2
                self._changed.notify_all()
            if self.volume != 1.0 and data:
                data = to_pcm16(from_pcm16(data) * np.float32(self.volume)).tobytes()

    def _wait(self, most_bytes: int) -> None:
        """Wait until at most that many bytes are queued."""
        last, since = self._played, time.monotonic()
        with self._changed:
            while len(self._waiting) > most_bytes:
                # With a time limit, so that Ctrl-C gets through on every system.
                self._changed.wait(0.2)
                if self._played != last or self._paused:
                    last, since = self._played, time.monotonic()
                elif time.monotonic() - since > self.STUCK_S:
                    raise OutputError(f"The sound device has accepted no sound for {self.STUCK_S:g} s. {ELSEWHERE}")

    def _tell(self) -> None:
        """Call ``on_word`` for each word when the device has come to it."""
        while True:
            with self._changed:
                while not (self._words and self._words[0][0] < self._played):
                    if self._closed:
                        return
                    self._changed.wait(0.2)
                word = self._words.popleft()[1]
            assert self._on_word is not None
            self._on_word(word)

    def write(self, sound: Floats | AudioChunk) -> None:
        """Queue samples (S,) or a chunk; waits while 4 s are queued. No effect once it is closed.

        ConfigError for a chunk of another sample rate.
        """
        samples = sound.samples if isinstance(sound, AudioChunk) else sound
        if isinstance(sound, AudioChunk) and sound.sample_rate != self._rate:
            raise ConfigError(
                f"The player takes {self._rate} samples a second, but the chunk has {sound.sample_rate}: "
                f"Player({sound.sample_rate}), or speak with sample_rate={self._rate}."
            )
        with self._changed:
            if not self._closed:
                if isinstance(sound, AudioChunk) and self._on_word is not None:
                    begin = self._written - sound.start
                    self._words.extend((begin + word.onset, word) for word in sound.words)
                self._waiting += to_pcm16(samples).tobytes()
                self._written += len(samples)
        self._wait(int(2 * self.AHEAD_S * self._rate))

    def drain(self) -> None:
        """Wait until everything has been played."""
        self._wait(0)
        # The device still holds the last periods that it took.
        time.sleep(4 * self.PERIOD_MS / 1000)

    def close(self) -> None:
        """Stop at once."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._device.close()


def found(name: str, miniaudio: Any, backends: Sequence[Any]) -> Any:
    """The device whose name contains ``name``; ConfigError that lists them if there is none."""
    devices = miniaudio.Devices(list(backends)).get_playbacks()
    for device in devices:
        if name.lower() in device["name"].lower():
            return device["id"]
    known = ", ".join(repr(device["name"]) for device in devices) or "none"
    raise ConfigError(f"There is no sound device {name!r} (known: {known}).")
