"""An hour of conversations at half load, with rude clients among them: memory, descriptors,
latency, errors.

    python lab/benchmarks/soak.py --minutes 60 --out lab/benchmarks/results/server/soak

Writes soak.json with a row a minute, and soak.md with what changed over the hour. Talkers
send an answer at the pace of a language model, hear it to its end in real time, wait a little, and
go on; a fifth of the answers are interrupted. Beside them rude clients come one after another.
Waits follow whatever else the machine does; processor time follows it less, and least its quotient
with that of the same answers spoken in this process, the control."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import random
import re
import socket
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sayahead.client import AsyncClient, ServerError
from sayahead.engine.onnx import cores
from sayahead.voice import Voice, load_voice
from served import Version, event, frame, opened, started

from sayahead_lab.results import keep, keep_figures, options, table

ANSWERS = (
    (
        "Sure, I can help with that. The next train leaves at 9:45 from platform three, and it"
        " takes about two hours."
    ),
    "Let me check. Your order was shipped yesterday, so it should arrive on Thursday, before noon.",
    "No, I would not do that; the battery gets hot, and then the phone switches itself off.",
    (
        "It is eighteen degrees and sunny in Lisbon. See https://example.com/weather?city=lisbon"
        " for the week."
    ),
)
WORDS_A_SECOND = 20.0
INTERRUPTED = 0.2
CONTROL_S = 5.0
"""Between two answers of the control."""
SETTLED = 3
"""The first minute that counts for what changed over the hour."""
FEWEST = 10
"""Settled minutes from which a change over the hour is told."""
COUNTED = {
    "audio_s": "tts_audio_seconds_total",
    "computing_s": "tts_processor_seconds_total",
    "first_computing_s": "tts_first_audio_processor_seconds_sum",
    "firsts": "tts_first_audio_processor_seconds_count",
}
"""What is read of the server's metrics each minute."""
RATES = {
    "first_computing_ms": "computing before a text's first sound, ms",
    "computing_ms_per_s": "computing for a second of sound, ms",
    "server_ms_per_s": "the whole server for a second of sound, ms",
    "first_of_control": "before a text's first sound, in seconds of the control's sound",
    "computing_of_control": "for a second of sound, of the control's",
}
"""Columns of the rows that should not change over the hour."""


@dataclass
class Minute:
    """What happened in a minute."""

    waits: list[float] = field(default_factory=list)
    """Seconds from an answer's first word to its first sound."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Turns: done, interrupted, refused, or failed with why."""
    rude: Counter[str] = field(default_factory=Counter)
    """What rude clients did."""
    control: list[float] = field(default_factory=list)
    """Processor seconds of each answer that was spoken in this process, for a second of its
    sound."""


class Soak:
    """One run."""

    def __init__(self, version: Version, seed: int) -> None:
        self.version = version
        self.random = random.Random(seed)
        self.minute = Minute()

    async def talk(self, until: float) -> None:
        """A person's calls, one after another."""
        while time.monotonic() < until:
            try:
                async with AsyncClient(f"ws://127.0.0.1:{self.version.port}") as client:
                    for _ in range(self.random.randint(1, 8)):
                        if time.monotonic() < until:
                            self.minute.outcomes[await self.turn(client)] += 1
                            await asyncio.sleep(self.random.uniform(0.3, 2.0))
            except ServerError as error:
                refused = error.code in ("too_many_sessions", "unreachable") and "503" in str(error)
                self.minute.outcomes[
                    "refused" if refused or error.code == "busy" else f"failed: {error}"[:120]
                ] += 1
                await asyncio.sleep(1.0)

    async def turn(self, client: AsyncClient) -> str:
        """One answer, heard in real time; how it ended."""
        text = self.random.choice(ANSWERS)
        speech = client.open_speech()
        start_s = time.monotonic()
        writing = asyncio.create_task(self.write(speech.push, speech.finish, text))
        stop_s = (
            self.random.uniform(0.5, 4.0) if self.random.random() < INTERRUPTED else float("inf")
        )
        played_s = 0.0
        first_s = None
        async for chunk in speech:
            now = time.monotonic() - start_s
            if first_s is None:
                first_s = now
                self.minute.waits.append(first_s)
            played_s += len(chunk.samples) / chunk.sample_rate
            if now > stop_s:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                await speech.leave()
                return "interrupted"
        await writing
        if first_s is None or played_s < 1.0:
            return f"failed: {played_s:.1f} s of sound"
        await asyncio.sleep(max(0.0, first_s + played_s - (time.monotonic() - start_s)))
        return "done"

    @staticmethod
    async def write(push: Callable[[str], Any], finish: Callable[[], Any], text: str) -> None:
        for word in text.split():
            await push(word + " ")
            await asyncio.sleep(1 / WORDS_A_SECOND)
        await finish()

    async def control(self, until: float) -> None:
        """Speak the answers in this process, word by word, for what the machine makes of the same
        work."""
        voice = load_voice()
        for text in itertools.cycle(ANSWERS):
            if time.monotonic() > until:
                return
            self.minute.control.append(await asyncio.to_thread(spoken, voice, text))
            await asyncio.sleep(CONTROL_S)

    async def be_rude(self, until: float, every_s: float) -> None:
        """Rude clients, one after another, in threads of their own."""
        while time.monotonic() < until:
            act = self.random.choice([*RUDE])
            with contextlib.suppress(OSError):
                await asyncio.to_thread(be_rude, self.version.port, act)
            self.minute.rude[act] += 1
            await asyncio.sleep(every_s)


def spoken(voice: Voice, text: str) -> float:
    """Processor seconds of an answer for a second of its sound."""
    start_s = time.thread_time()
    words = (f"{word} " for word in text.split())
    samples = sum(len(chunk.samples) for chunk in voice.stream(words))
    return (time.thread_time() - start_s) * voice.sample_rate / samples


def append(text: str, **more: str) -> bytes:
    return frame(event("input_text.append", text=text, **more))


RUDE: dict[str, tuple[bytes, float]] = {
    "leaves in the middle of a word": (append("Hello there, how are you to"), 0.2),
    "sends what is no message": (frame('{"type": "no.such"}') + frame("{"), 0.2),
    "pings without reading": (frame(b"x" * 100, opcode=9) * 20_000, 0.0),
    "says nothing": (b"", 2.0),
    "flushes without end": (frame(event("input_text.flush", flush_id="x" * 1000)) * 500, 0.0),
    "opens texts and cancels them": (
        b"".join(
            append("Hello there, ", context_id=str(n))
            + frame(event("input_text.cancel", context_id=str(n)))
            for n in range(40)
        ),
        0.5,
    ),
    "writes words that are long to say": (append(("≤" * 60 + " ") * 5), 1.0),
    "asks for speech and does not read it": (
        append("The quick brown fox jumps over the lazy dog. " * 20) * 4,
        3.0,
    ),
}
"""What rude clients send, and how many seconds later they are gone without a goodbye."""


def be_rude(port: int, act: str) -> None:
    """One of RUDE."""
    message, stays_s = RUDE[act]
    with opened(port) as peer:
        peer.sendall(message)
        time.sleep(stays_s)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


async def soak(
    version: Version, *, minutes: float, talkers: int, every_s: float
) -> list[dict[str, Any]]:
    """The rows."""
    run = Soak(version, 0)
    rows = list[dict[str, Any]]()
    start_s = time.monotonic()
    until = start_s + 60 * minutes
    tasks = [asyncio.create_task(run.talk(until)) for _ in range(talkers)]
    tasks += [
        asyncio.create_task(run.be_rude(until, every_s)),
        asyncio.create_task(run.control(until)),
    ]
    counted = await asyncio.to_thread(counters, version)
    for n in range(1, round(minutes) + 1):
        await asyncio.sleep(max(0.0, start_s + 60 * n - time.monotonic()))
        minute = run.minute
        run.minute = Minute()
        p50, p95 = (round(1000 * float(q)) for q in np.percentile(minute.waits or [0.0], (50, 95)))
        before = counted
        counted = await asyncio.to_thread(counters, version)
        row = {
            "minute": n,
            "rss_mb": round(version.rss_mb, 1),
            "descriptors": version.descriptors,
            "p50_ms": p50,
            "p95_ms": p95,
            **costs({name: counted[name] - before[name] for name in counted}, minute.control),
            "load": round(os.getloadavg()[0], 1),
            "turns": dict(minute.outcomes),
            "rude": dict(minute.rude),
        }
        rows.append(row)
        print(json.dumps(row), flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return rows


def counters(version: Version) -> dict[str, float]:
    """What the server has counted since it began, and its processor time."""
    with urllib.request.urlopen(f"http://127.0.0.1:{version.port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    values = {"processor_s": version.processor_s}
    for name, metric in COUNTED.items():
        values[name] = sum(
            float(line.split()[-1]) for line in lines if re.match(rf"{metric}[ {{]", line)
        )
    return values


def costs(spent: dict[str, float], control: list[float]) -> dict[str, float | None]:
    """Columns of a minute for what was spent in it; None where there was nothing to divide by."""

    def over(part: float, whole: float, digits: int) -> float | None:
        return round(part / whole, digits) if whole else None

    usual_s = float(np.mean(control)) if control else 0.0
    first_s = over(spent["first_computing_s"], spent["firsts"], 6) or 0.0
    step_s = over(spent["computing_s"], spent["audio_s"], 6) or 0.0
    return {
        "cores": round(spent["processor_s"] / 60, 2),
        "audio_s": round(spent["audio_s"], 1),
        "first_computing_ms": round(1000 * first_s, 2),
        "computing_ms_per_s": round(1000 * step_s, 2),
        "server_ms_per_s": over(1000 * spent["processor_s"], spent["audio_s"], 2),
        "control_ms_per_s": round(1000 * usual_s, 2),
        "first_of_control": over(first_s, usual_s, 4),
        "computing_of_control": over(step_s, usual_s, 4),
    }


def drift(rows: list[dict[str, Any]], column: str) -> dict[str, float]:
    """A column's mean, and its least-squares slope in percent of it an hour, with its 95 %
    interval.

    What a machine does goes on for a while: minutes count for as many as the residuals' correlation
    from one to the next leaves independent (Santer et al. 2000, Eq. 6).
    """
    kept = [row for row in rows if row["minute"] >= SETTLED and row[column]]
    x = np.array([row["minute"] / 60 for row in kept])
    y = np.array([row[column] for row in kept])
    toward = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    mean = float(y.mean())
    slope = float(toward @ y)
    rest = y - mean - slope * (x - x.mean())
    alike = max(0.0, float(rest[1:] @ rest[:-1] / (rest @ rest)))
    freedom = max(1.0, len(y) * (1 - alike) / (1 + alike) - 2)
    # Student's t at 97.5 %, by the first term of its expansion around the normal.
    apart = (1.96 + 2.37 / freedom) * float(np.sqrt(rest @ rest / freedom * (toward @ toward)))
    of_mean = {"slope": slope, "low": slope - apart, "high": slope + apart}
    return {"mean": round(mean, 3)} | {
        name: round(100 * value / mean, 1) for name, value in of_mean.items()
    }


def drift_table(drifts: dict[str, dict[str, float]]) -> list[str]:
    """The drifts as Markdown."""
    rows = [
        [
            label,
            f"{drifts[name]['mean']:g}",
            f"{drifts[name]['slope']:+.1f} %",
            f"{drifts[name]['low']:+.1f} to {drifts[name]['high']:+.1f} %",
        ]
        for name, label in RATES.items()
    ]
    return table("processor time|mean|change in an hour|95 % interval", rows)


def main() -> None:
    """Run the soak, and write its files."""
    # Half of the server's places talk; a rude client comes every so many seconds.
    defaults = {"minutes": 60.0, "talkers": 8 * cores(), "every": 2.0}
    arguments = options(__doc__, "out", **defaults).parse_args()
    talkers = arguments.talkers
    version = started()
    try:
        begin_mb = version.rss_mb
        rows = asyncio.run(
            soak(version, minutes=arguments.minutes, talkers=talkers, every_s=arguments.every)
        )
        after = {"rss_mb": round(version.rss_mb, 1), "descriptors": version.descriptors}
    finally:
        version.stop()
    total = sum((Counter(row["turns"]) for row in rows), Counter[str]())
    data = {
        "cores": cores(),
        "talkers": talkers,
        "begin_mb": round(begin_mb, 1),
        "after": after,
        "turns": dict(total),
    }
    log: dict[str, Any] = {"log": dict(version.events)}
    if len(rows) >= SETTLED + FEWEST:
        drifts = {name: drift(rows, name) for name in RATES}
        log["drift"] = drifts
        keep(drift_table(drifts), arguments.out.with_suffix(".md"))
    keep_figures(data | log | {"rows": rows}, arguments.out.with_suffix(".json"))


if __name__ == "__main__":
    main()
