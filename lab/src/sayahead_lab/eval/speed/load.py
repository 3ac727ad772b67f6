"""Concurrent sessions against a server, for ``sayahead loadtest``: agents or interpreters that talk
continuously, each with a player without a buffer."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sayahead.sound.pcm import audible, from_pcm16
from sayahead.voice import Voice
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from sayahead_lab.eval.experiment.clock import TextClock
from sayahead_lab.eval.experiment.machine import idle_s
from sayahead_lab.eval.measures.statistics import quantile

# A shorter gap is inaudible.
TOLERANCE_S = 0.005
# A player out of audio when text arrives must wait for synthesis: the audio is due after this.
DUE_S = 0.1
# Between the end of a turn's audio and the next turn.
BREATH_S = 0.5
# How often this process looks at its own clock.
LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class TurnScript:
    """A session's text for one turn, and the earliest arrival of each chunk of its audio."""

    fragments: tuple[tuple[str, float], ...]
    """Text, and when it is sent, in seconds from the turn's start."""
    released: tuple[tuple[int, float], ...]
    """End of each chunk in samples, and the time of the fragment that released it."""
    settled_s: float
    """Arrival of the text that the first audible sample needs."""


@dataclass(slots=True)
class Tally:
    """Measurements of one round."""

    first_s: list[float] = field(default_factory=list)
    """First audible sample from the turn's first character."""
    settled_s: list[float] = field(default_factory=list)
    """The same from the arrival of the text that it needs."""
    stalls_s: list[float] = field(default_factory=list)
    """Stalls of the player with the text there for longer than ``DUE_S``."""
    audio_s: float = 0.0
    """Seconds of audio received."""
    stalled: int = 0
    """Turns in which it stalled."""
    turns: int = 0
    """Turns that ended."""
    refused: int = 0
    """Sessions refused for want of a place, each time they asked."""
    refused_s: list[float] = field(default_factory=list)
    """From asking for a connection to the refusal."""
    late_s: list[float] = field(default_factory=list)
    """How much too late this process itself was woken: by so much its other times may be too
    long."""
    idle_cores: list[float] = field(default_factory=list)
    """The machine's idle processor cores while turns began, as each process of sessions saw it."""
    let_go: int = 0
    """Sessions that gave their place to others between two turns, and asked again."""
    broken: list[str] = field(default_factory=list)
    """Other errors."""


def script(voice: Voice, text: str, clock: TextClock) -> TurnScript:
    """A text on a clock, and the voice's own chunks for it."""
    session = voice.session()
    released = list[tuple[int, float]]()
    settled_s = 0.0
    samples = 0
    arrivals = clock.arrivals(text)
    sounded = False
    for number, arrival in enumerate(arrivals):
        session.push(arrival.text)
        if number == len(arrivals) - 1:
            session.finish()
        for chunk in session.chunks():
            samples += len(chunk.samples)
            released.append((samples, arrival.at_s))
            if not sounded and len(audible(chunk.samples)):
                sounded = True
                settled_s = arrival.at_s
    return TurnScript(tuple((a.text, a.at_s) for a in arrivals), tuple(released), settled_s)


async def load(
    url: str,
    scripts: Sequence[TurnScript],
    *,
    sessions: int,
    seconds: float,
    warm_s: float,
    key: str | None = None,
    voice: str | None = None,
    breath: bool = True,
    again_s: float | None = None,
    first: int = 0,
) -> Tally:
    """Measure ``sessions`` concurrent sessions, after a warm-up of ``warm_s`` seconds; at least one
    turn each.

    Who is refused, or gives its place away, asks again ``again_s`` seconds later; None: never.
    ``first``: the number of the first session, where others have those before it.
    ``voice``: its name; None: the server's first. ``breath``: whether the server may speak what is
    held back when no text comes for a while. On a clock with such pauses it may not: its speech
    would be another than the scripts'."""
    chosen: dict[str, Any] = ({} if voice is None else {"voice": voice}) | (
        {} if breath else {"breath_s": 0.0}
    )
    tally = Tally()
    counts = time.monotonic() + warm_s
    callers = Callers(url, scripts, chosen, tally, counts, counts + seconds, again_s, key)
    watching = [
        asyncio.create_task(look(tally)),
        asyncio.create_task(watch_idle(tally, counts, counts + seconds)),
    ]
    await asyncio.gather(
        *(callers.one(number, warm_s) for number in range(first, first + sessions))
    )
    for task in watching:
        task.cancel()
    return tally


async def look(tally: Tally) -> None:
    """Note how late this process is woken, until it is cancelled."""
    while True:
        due = time.monotonic() + LOOK_S
        await asyncio.sleep(LOOK_S)
        tally.late_s.append(time.monotonic() - due)


async def watch_idle(tally: Tally, begins: float, ends: float) -> None:
    """Note how many of the machine's cores are idle between two times of ``time.monotonic``."""
    await asyncio.sleep(begins - time.monotonic())
    begun = time.monotonic()
    before = idle_s()
    await asyncio.sleep(ends - begun)
    after = idle_s()
    if before is not None and after is not None:
        tally.idle_cores.append((after - before) / (time.monotonic() - begun))


@dataclass
class Callers:
    """Sessions that take turns with the same scripts."""

    url: str
    scripts: Sequence[TurnScript]
    chosen: Mapping[str, Any]
    """What they ask for in session.update."""
    tally: Tally
    counts: float
    """When turns begin to count, by ``time.monotonic``."""
    ends: float
    """When no turn begins any more."""
    again_s: float | None
    key: str | None

    async def one(self, number: int, warm_s: float) -> None:
        """A session, and others after it where it was refused. They start one after the other, as
        callers do."""
        draw = random.Random(number)
        await asyncio.sleep(warm_s * draw.random())
        try:
            while (
                not await self.placed(draw)
                and self.again_s is not None
                and time.monotonic() < self.ends
            ):
                await asyncio.sleep(self.again_s)
        except (ConnectionClosed, InvalidHandshake, OSError, RuntimeError) as error:
            self.tally.broken.append(f"session {number}: {type(error).__name__} {error}")

    async def placed(self, draw: random.Random) -> bool:
        """A connection to its end; False if it was refused, or gave its place away between two
        turns."""
        try:
            return await self.speak(draw)
        except RuntimeError as error:
            if self.again_s is None or '"overloaded"' not in str(error):
                raise
            self.tally.let_go += 1
            return False

    async def speak(self, draw: random.Random) -> bool:
        """A connection to its end, with an order of scripts of its own; False if it was refused."""
        asked = time.monotonic()
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        async with connect(
            self.url, additional_headers=headers, compression=None, max_size=None
        ) as socket:
            first = json.loads(await socket.recv())
            if first["type"] != "session.created":
                if first.get("code") == "overloaded":
                    self.tally.refused += 1
                    self.tally.refused_s.append(time.monotonic() - asked)
                return False
            rates = first["sample_rates"]
            rate = rates.get(self.chosen.get("voice")) or next(iter(rates.values()))
            if self.chosen:
                await socket.send(json.dumps({"type": "session.update", "session": self.chosen}))
            order = itertools.cycle(draw.sample(self.scripts, len(self.scripts)))
            rounds = 0
            while time.monotonic() < self.ends or not rounds:
                turn = PlayedTurn(socket, next(order), rate)
                await turn.run()
                if turn.begun >= self.counts:
                    turn.count(self.tally)
                    rounds += 1
                await asyncio.sleep(max(0.0, turn.heard_end - time.monotonic()) + BREATH_S)
        return True


class PlayedTurn:
    """One text on one socket."""

    def __init__(self, socket: ClientConnection, script: TurnScript, rate: int) -> None:
        self._socket = socket
        self._script = script
        self._rate = rate
        self.begun = time.monotonic()
        self.heard_end = self.begun
        self._first: float | None = None
        self._stalls = list[float]()
        self._samples = 0

    async def run(self) -> None:
        """Send the text on its clock, and receive the audio."""
        self.begun = time.monotonic()
        sending = asyncio.create_task(self._send())
        try:
            await self._take()
            await sending
        finally:
            sending.cancel()

    async def _send(self) -> None:
        for text, at_s in self._script.fragments:
            await asyncio.sleep(max(0.0, self.begun + at_s - time.monotonic()))
            await self._socket.send(json.dumps({"type": "input_text.append", "text": text}))
        await self._socket.send('{"type":"input_text.end"}')

    async def _take(self) -> None:
        pieces = iter(self._script.released)
        dry = None
        end, released_s = next(pieces)
        while True:
            message = await self._socket.recv()
            if isinstance(message, str):
                if message.startswith('{"type":"speech.done"'):
                    self.heard_end = dry or time.monotonic()
                    return
                if message.startswith('{"type":"error"'):
                    raise RuntimeError(message)
                continue
            now = time.monotonic()
            count = len(message) // 2
            while self._samples >= end:
                end, released_s = next(pieces, (1 << 62, released_s))
            if dry is not None:
                # Waits beyond those for text are the server's fault.
                late_s = now - max(dry, self.begun + released_s + DUE_S)
                if late_s > TOLERANCE_S:
                    self._stalls.append(late_s)
            dry = max(dry or now, now) + count / self._rate
            if self._first is None:
                loud = audible(from_pcm16(message))
                if len(loud):
                    self._first = now + float(loud[0]) / self._rate
            self._samples += count

    def count(self, tally: Tally) -> None:
        """Add the measurements."""
        tally.turns += 1
        tally.audio_s += self._samples / self._rate
        tally.stalls_s += self._stalls
        tally.stalled += bool(self._stalls)
        if self._first is not None:
            tally.first_s.append(self._first - self.begun - self._script.fragments[0][1])
            tally.settled_s.append(self._first - self.begun - self._script.settled_s)


def row(tally: Tally, sessions: int) -> dict[str, Any]:
    """A round's figures, times in milliseconds."""

    def ms(values: list[float], share: float) -> float | None:
        return round(1000 * quantile(values, share), 1) if values else None

    return {
        "sessions": sessions,
        "turns": tally.turns,
        "audio_s": round(tally.audio_s, 1),
        "first_ms": {
            f"p{round(100 * share)}": ms(tally.first_s, share) for share in (0.5, 0.95, 0.99)
        },
        "after_its_text_ms": {
            f"p{round(100 * share)}": ms(tally.settled_s, share) for share in (0.5, 0.95, 0.99)
        },
        "stalls": len(tally.stalls_s),
        "stalled_turns": tally.stalled,
        "longest_stall_ms": round(1000 * max(tally.stalls_s, default=0.0), 1),
        "refused": tally.refused,
        "refused_ms": {"p95": ms(tally.refused_s, 0.95), "most": ms(tally.refused_s, 1.0)},
        "sessions_late_ms": {"p95": ms(tally.late_s, 0.95), "most": ms(tally.late_s, 1.0)},
        "let_go": tally.let_go,
        "broken": tally.broken,
    } | ({"idle_cores": round(statistics.fmean(tally.idle_cores), 3)} if tally.idle_cores else {})
