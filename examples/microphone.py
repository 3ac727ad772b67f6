"""Barge-in with a microphone: it reads a text aloud and falls silent when somebody speaks.

pip install '.[play]'
python examples/microphone.py "A long story that you may interrupt."

Wear headphones, or the loudspeaker interrupts itself: a program that must do without needs echo
cancellation. The detector here goes by loudness alone; `speaks` takes 16-bit samples at 16 kHz, so
that Silero's or WebRTC's can stand in its place.
"""

from __future__ import annotations

import array
import math
import sys
import threading
from collections.abc import Callable, Iterable

from sayahead import Heard, Player, Voice, load_voice

RATE = 16000
FRAME_S = 0.02


class Detector:
    """Speech is what is louder than the room, for a tenth of a second."""

    LOUDER_DB = 12.0
    FRAMES = 5

    def __init__(self) -> None:
        self._floor_db = -50.0
        self._loud = 0

    def speaks(self, frame: array.array[int]) -> bool:
        """Whether somebody speaks, as far as frames (S,) of 16-bit samples up to this one tell."""
        power = sum(sample * sample for sample in frame) / max(1, len(frame)) / 32768**2
        level_db = 10 * math.log10(power + 1e-10)
        if level_db > self._floor_db + self.LOUDER_DB:
            self._loud += 1
        else:
            # The room's own noise is learned slowly.
            self._loud = 0
            self._floor_db = 0.95 * self._floor_db + 0.05 * level_db
        return self._loud >= self.FRAMES


def read_aloud(
    voice: Voice, text: str, frames: Iterable[array.array[int]], player: Player
) -> Heard:
    """Play a text until it ends or somebody speaks in the microphone's frames; what was heard."""
    speech = voice.speak(text)
    detector = Detector()

    def listen() -> None:
        if any(detector.speaks(frame) for frame in frames):
            speech.cancel()

    threading.Thread(target=listen, daemon=True).start()
    return speech.play(player)


def microphone() -> tuple[Iterable[array.array[int]], Callable[[], None]]:
    """Frames of 20 ms as the microphone gives them, and what closes it."""
    import queue

    import miniaudio

    frames: queue.Queue[array.array[int] | None] = queue.Queue()
    try:
        device = miniaudio.CaptureDevice(
            input_format=miniaudio.SampleFormat.SIGNED16,
            nchannels=1,
            sample_rate=RATE,
            buffersize_msec=round(1000 * FRAME_S),
        )
    except miniaudio.MiniaudioError as error:
        raise SystemExit(f"No microphone opens ({error}): connect one.") from error

    def take():  # type: ignore[no-untyped-def]  # noqa: ANN202
        while True:
            frames.put(array.array("h", (yield)))

    taking = take()  # type: ignore[no-untyped-call]
    next(taking)
    device.start(taking)
    return iter(frames.get, None), device.close


def main(text: str) -> None:
    """Read a text until it ends or somebody speaks."""
    voice = load_voice()
    frames, close = microphone()
    with Player(voice.sample_rate) as player:
        heard = read_aloud(voice, text, frames, player)
    close()
    print(f"You heard {heard.word_count} words: {heard.text}")


if __name__ == "__main__":
    main(
        " ".join(sys.argv[1:])
        or "Once upon a time, there was a voice that stopped as soon as somebody else spoke. " * 3
    )
