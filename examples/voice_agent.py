"""A voice agent: speak tokens as a language model writes them, stop at a barge-in, and keep what
the user heard.

python examples/voice_agent.py
"""

import asyncio
import time
from collections.abc import AsyncIterator

from sayahead import Heard, Voice, load_voice

REPLY = (
    "Sure! The museum opens at 9:30 am, and tickets cost $12. On Sundays it is free, but expect a"
    " long queue."
)


async def language_model(reply: str, tokens_per_s: float = 50.0) -> AsyncIterator[str]:
    """A stand-in for a real model's stream: four letters per token."""
    for at in range(0, len(reply), 4):
        await asyncio.sleep(1 / tokens_per_s)
        yield reply[at : at + 4]


class Player:
    """A stand-in for a sound device or a call: plays in real time and knows its position. See also
    ``Speech.play``."""

    def __init__(self) -> None:
        self._begun_s: float | None = None
        self._sound_s = 0.0

    def write(self, duration_s: float) -> None:
        """Queue ``duration_s`` seconds of sound; playback starts at once."""
        self._begun_s = time.monotonic() if self._begun_s is None else self._begun_s
        self._sound_s += duration_s

    def played_s(self) -> float:
        """Seconds played so far."""
        return (
            0.0 if self._begun_s is None else min(time.monotonic() - self._begun_s, self._sound_s)
        )


async def speak(voice: Voice, reply: str, interrupted_after_s: float) -> Heard:
    """Play the reply until the user interrupts; returns what was heard."""
    speech = voice.speak(language_model(reply))
    player = Player()

    async def play() -> None:
        async for chunk in speech:
            player.write(chunk.duration_s)

    playing = asyncio.create_task(play())
    while player.played_s() < interrupted_after_s:
        await asyncio.sleep(0.01)
    heard = speech.cancel(player.played_s())
    await playing
    return heard


def main() -> str:
    """The part of the reply that the user heard, which belongs in the model's history."""
    heard = asyncio.run(speak(load_voice("heart"), REPLY, interrupted_after_s=2.0))
    print(f"interrupted after {heard.played_s:.2f} s and {heard.word_count} words: {heard.text!r}")
    print("for the model's history:", heard.messages())
    return heard.text


if __name__ == "__main__":
    main()
