"""A telephone call: the other end of Twilio's Media Streams, and the packets of a SIP call.

pip install '.[client]'
python examples/telephone.py              # ws://0.0.0.0:8765: name it in <Connect><Stream
url="wss://..."/></Connect>

A call is 8 kHz mu-law in both directions. Twilio plays what it is sent and says by a mark when it
has; on a barge-in, `clear` drops what it has not played. Where the caller's speech goes is up to
you: here, what `speaks` takes for speech interrupts.
"""

import asyncio
import base64
import itertools
import json
import time
from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from typing import Any

from sayahead import Heard, Speech, Voice, load_voice

RATE = 8000
PACKET = 160
"""Samples a second, and bytes of a packet of 20 ms: one byte a sample."""
GREETING = (
    "Hello, and thank you for calling. The museum opens at half past nine; tickets are twelve"
    " dollars. "
)


def packets(voice: Voice, text: Iterable[str], *, law: str = "mulaw") -> Iterator[bytes]:
    """RTP payloads of 20 ms for a SIP call, all full: ``mulaw`` is type 0 (PCMU), ``alaw`` type 8
    (PCMA)."""
    waiting = b""
    for chunk in voice.stream(text, format=law, sample_rate=RATE):
        waiting += chunk.data
        while len(waiting) >= PACKET:
            yield waiting[:PACKET]
            waiting = waiting[PACKET:]
    if waiting:
        yield waiting.ljust(PACKET, b"\xff" if law == "mulaw" else b"\xd5")


class Call:
    """One call: what is said on it, and how much of that the caller has heard."""

    def __init__(self, socket: Any, stream: str) -> None:
        self._socket = socket
        self._stream = stream
        self._marks = itertools.count()
        self.heard: list[Heard] = []
        # Seconds of the text up to each mark; up to the last that came back, and when.
        self._at = dict[str, float]()
        self._played_s = 0.0
        self._since = 0.0
        self._speech: Speech | None = None
        self._sent_s = 0.0

    async def say(self, voice: Voice, text: Iterable[str] | AsyncIterable[str]) -> None:
        """Speak a text as it comes; the caller hears it at once."""
        self._speech = voice.speak(text)
        speech = self._speech
        self._played_s = 0.0
        self._sent_s = 0.0
        self._since = time.monotonic()
        async for chunk in speech.encoded("mulaw", sample_rate=RATE):
            if speech is not self._speech:
                return
            self._sent_s = chunk.start_s + chunk.duration_s
            mark = f"m{next(self._marks)}"
            self._at[mark] = self._sent_s
            await self._send("media", media={"payload": base64.b64encode(chunk.data).decode()})
            await self._send("mark", mark={"name": mark})

    def marked(self, mark: str) -> None:
        """The caller has heard the text up to a mark."""
        if mark in self._at:
            self._played_s = self._at.pop(mark)
            self._since = time.monotonic()

    def played_s(self) -> float:
        """Seconds of the text that were heard: up to the last mark, and by the clock since then."""
        return min(self._played_s + time.monotonic() - self._since, self._sent_s)

    async def interrupt(self) -> None:
        """Fall silent: the caller speaks. ``heard`` has what was heard."""
        if self._speech is not None:
            speech = self._speech
            self._speech = None
            self.heard.append(speech.cancel(self.played_s()))
            self._at.clear()
            await self._send("clear")

    async def _send(self, event: str, **rest: Any) -> None:
        await self._socket.send(json.dumps({"event": event, "streamSid": self._stream, **rest}))


def loud(payload: bytes) -> bool:
    """Whether 20 ms of mu-law are loud: its codes near 0xFF and 0x7F are quiet."""
    return sum(0x7F - (byte & 0x7F) for byte in payload) / max(1, len(payload)) > 64


async def answer(socket: Any, voice: Voice, speaks: Callable[[bytes], bool] = loud) -> Call | None:
    """Hold a call from its start to its end; what was said on it."""
    call = None
    saying = None
    async for text in socket:
        message = json.loads(text)
        match message["event"]:
            case "start":
                call = Call(socket, message["start"]["streamSid"])
                saying = asyncio.create_task(call.say(voice, GREETING.split(" ")))
            case "mark" if call is not None:
                call.marked(message["mark"]["name"])
            case "media" if call is not None and speaks(
                base64.b64decode(message["media"]["payload"])
            ):
                # Your recognizer gets the sound from here on, and your model's answer goes to
                # call.say().
                await call.interrupt()
            case "stop":
                break
    if saying is not None:
        saying.cancel()
        await asyncio.gather(saying, return_exceptions=True)
    return call


async def main() -> None:
    """Answer calls."""
    from websockets.asyncio.server import serve

    voice = load_voice()

    async def hold(socket: Any) -> None:
        call = await answer(socket, voice)
        print("The caller heard:", [heard.text for heard in call.heard] if call else "nothing")

    async with serve(hold, "0.0.0.0", 8765) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
