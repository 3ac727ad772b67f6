"""A voice agent: speak a language model's tokens as they come, stop when the user barges in, know what was heard.

python examples/voice_agent.py
"""

import asyncio
import time
from collections.abc import AsyncIterator

from sayahead import Heard, Voice, load_voice

REPLY = "Sure! The museum opens at 9:30 am, and tickets cost $12. On Sundays it is free, but expect a long queue."


async def language_model(reply: str, tokens_per_s: float = 50.0) -> AsyncIterator[str]:
    """Stands for the stream of a real model: a token is a few letters."""
    for at in range(0, len(reply), 4):
        await asyncio.sleep(1 / tokens_per_s)
        yield reply[at : at + 4]


class Player:
    """Stands for a sound device or a call: it plays in real time, and knows how far it is. See also ``Speech.play``."""

    def __init__(self) -> None:
        self._begun_s: float | None = None
        self._sound_s = 0.0

    def write(self, duration_s: float) -> None:
        """Queue so much sound; it begins to play at once."""
        self._begun_s = time.monotonic() if self._begun_s is None else self._begun_s
        self._sound_s += duration_s

    def played_s(self) -> float:
        """Seconds that were heard."""
        return 0.0 if self._begun_s is None else min(time.monotonic() - self._begun_s, self._sound_s)


async def speak(voice: Voice, reply: str, interrupted_after_s: float) -> Heard:
    """Play the reply until the user barges in; what was heard of it."""
    speech, player = voice.speak(language_model(reply)), Player()

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
    """What the user heard of the reply: what a model's history should keep."""
    heard = asyncio.run(speak(load_voice("heart"), REPLY, interrupted_after_s=2.0))
    print(f"interrupted after {heard.played_s:.2f} s and {heard.words} words: {heard.text!r}")
    return heard.text


if __name__ == "__main__":
    main()
