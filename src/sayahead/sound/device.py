"""Playing sound as it is made, through miniaudio (the ``play`` extra)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from sayahead.sound.files import OutputError
from sayahead.sound.pcm import to_pcm16
from sayahead.types import Floats

ELSEWHERE = (
    "To keep the sound instead: sayahead say -o hello.wav ...; to send it to another program: "
    "sayahead say --raw ... | aplay -q -f S16_LE -r 24000"
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
    """The sound device: takes samples at playback speed."""

    # Buffered audio; more would only delay the effect of Ctrl-C on the synthesis.
    AHEAD_S = 4.0
    PERIOD_MS = 20
    STUCK_S = 5.0

    def __init__(self, sample_rate: int, *, backends: Sequence[Any] | None = None) -> None:
        miniaudio = require_miniaudio()
        self._rate = sample_rate
        self._waiting = bytearray()
        self._changed = threading.Condition()
        self._played = 0
        self._closed = False
        try:
            with hushed():
                self._device: Any = miniaudio.PlaybackDevice(
                    output_format=miniaudio.SampleFormat.SIGNED16,
                    nchannels=1,
                    sample_rate=sample_rate,
                    buffersize_msec=self.PERIOD_MS,
                    backends=list(backends or real_backends(miniaudio)),
                    app_name="sayahead",
                )
            feed = self._feed()
            next(feed)
            self._device.start(feed)
        except miniaudio.MiniaudioError as error:
            raise OutputError(f"No sound device could be opened ({error.args[0]}). {ELSEWHERE}") from error

    @property
    def backend(self) -> str:
        """The sound system that plays."""
        return str(self._device.backend)

    def played(self) -> int:
        """Samples that the device has taken."""
        return self._played

    def _feed(self) -> Generator[bytes, int, None]:
        """What the device asks for; silence if nothing is queued."""
        data = b""
        while True:
            wanted = 2 * (yield data)
            with self._changed:
                data = bytes(self._waiting[:wanted])
                del self._waiting[:wanted]
                self._played += len(data) // 2
                self._changed.notify_all()

    def _wait(self, most_bytes: int) -> None:
        """Wait until at most that many bytes are queued."""
        last, since = self._played, time.monotonic()
        with self._changed:
            while len(self._waiting) > most_bytes:
                # With a time limit, so that Ctrl-C gets through on every system.
                self._changed.wait(0.2)
                if self._played != last:
                    last, since = self._played, time.monotonic()
                elif time.monotonic() - since > self.STUCK_S:
                    raise OutputError(f"The sound device has accepted no sound for {self.STUCK_S:g} s. {ELSEWHERE}")

    def write(self, samples: Floats) -> None:
        """Queue (S,) samples; waits while much is queued. Without effect once it is closed."""
        with self._changed:
            if not self._closed:
                self._waiting += to_pcm16(samples).tobytes()
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
        self._device.close()
