"""A voice agent's mouth: speak a language model's tokens as they come, and stop at once when the user interrupts.

python examples/voice_agent.py
"""

import asyncio
from collections.abc import AsyncIterator

from sayahead import Cancelled, load_voice

REPLY = "Sure! The museum opens at 9:30 am, and tickets cost $12. On Sundays it is free, but expect a long queue."


async def language_model(reply: str, tokens_per_s: float = 50.0) -> AsyncIterator[str]:
    """Stands for the stream of a real model: a token is a few letters."""
    for at in range(0, len(reply), 4):
        await asyncio.sleep(1 / tokens_per_s)
        yield reply[at : at + 4]


async def speak(reply: str, interrupted_after_s: float) -> Cancelled:
    """Play the reply until the user has heard that much of it; returns how far it came."""
    session = load_voice("heart").session()
    heard_s = 0.0
    async for token in language_model(reply):
        session.push(token)
        while (chunk := await asyncio.to_thread(session.pull)) is not None:
            # Here the samples would go to the sound device or the caller.
            heard_s += chunk.duration_s
            if heard_s > interrupted_after_s:
                return session.cancel()
    session.finish()
    for chunk in session.chunks():
        heard_s += chunk.duration_s
    return session.cancel()


def main() -> str:
    """What the user heard of the reply: what a model's history should keep."""
    done = asyncio.run(speak(REPLY, interrupted_after_s=2.0))
    print(f"interrupted after {done.words} words: {REPLY[: done.end]!r}")
    return REPLY[: done.end]


if __name__ == "__main__":
    main()
