"""What operators count on, at full size: a killed server, an update, changes while it runs.

    python lab/benchmarks/operate.py --adapters --whisper FOLDER --json \
        lab/benchmarks/results/operate.json

**killed**: two servers, 20 conversations of the Python client and, with ``--adapters``, 5 each of
those for LiveKit Agents and Pipecat, written at the pace of speech; one server is killed (-9).
Every conversation is compared with what the voice says undisturbed: its words, its length, and how
long its player waited; with ``--whisper`` all are transcribed, too. **updated**: the same, while
both servers end (SIGTERM, and a second for their texts) and others take their places, one after the
other. **process_killed** and **processes_replaced**: 100 conversations with one server of four
processes, of which one is killed (-9), or all give way to others, one after the other; beside them
as many that nothing happens to (**calm**). **changed**: conversations over TLS while keys, lexicon
and certificate are exchanged; how soon a revoked key is refused.

A machine that is busy with other things cannot speak so much at once: ``--pause 1.2`` writes
slower, and with ``--late 60`` servers admit clients whose sound will be late. Servers and clients
share it. ``--only`` names one of the runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import signal
import ssl
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
)
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sayahead.client import AsyncClient
from sayahead.types import AudioChunk, Floats
from sayahead.voice import load_voice
from served import SOURCE, Version, started

from sayahead_lab.eval.listening.listeners import at_16khz, load_normalizer, load_whisper
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.results import keep_figures, kept, options

WORDS = (
    "The first train leaves at dawn, and nobody is on it. A second one follows when the sun is up,"
    " full of people who go to work. They read, they sleep, and some of them talk about the"
    " weather. "
).split()


LATE = (
    "from sayahead.server.synthesis import capacity; capacity.LATE_S = {}; from sayahead.cli import"
    " main; raise SystemExit(main())"
)


late = {"s": 0.0}
"""How late sound may be on average while others are admitted; 0: as it is."""


def serve(*arguments: str) -> Version:
    """``sayahead serve`` in a process of its own."""
    entry = ("-c", LATE.format(late["s"])) if late["s"] else ("-m", "sayahead")
    return started("now", SOURCE, *arguments, entry=entry)


async def written(words: list[str], pause_s: float) -> AsyncIterator[str]:
    for word in words:
        yield word + " "
        await asyncio.sleep(pause_s)


@dataclass(slots=True)
class Note:
    """When the sound of a conversation came."""

    resumed: int = 0
    gap_s: float = 0.0
    """Between the last sound of one server and the first of another, the longest."""
    waited_s: float = 0.0
    """How long a player that begins at once had nothing to play."""
    longest_s: float = 0.0
    """The longest of these waits."""


NOTE: ContextVar[Note] = ContextVar("note")
Talk = Callable[[list[str], list[str], float], Awaitable[tuple[list[str], Floats]]]


class Noting(AsyncClient):
    """A client that notes when its sound comes."""

    async def stream(
        self, fragments: Iterable[str] | AsyncIterable[str]
    ) -> AsyncGenerator[AudioChunk, None]:
        """As AsyncClient's."""
        note = NOTE.get()
        last = 0.0
        played_until = 0.0
        async with contextlib.aclosing(super().stream(fragments)) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                now = time.perf_counter()
                if played_until:
                    waited_s = max(0.0, now - played_until)
                    note.waited_s += waited_s
                    note.longest_s = max(note.longest_s, waited_s)
                if self.resumed > note.resumed:
                    note.resumed = self.resumed
                    note.gap_s = max(note.gap_s, now - last)
                played_until = max(played_until, now) + chunk.duration_s
                last = now
                yield chunk


def by_client(**options: Any) -> Talk:
    """Conversations of the Python client with options."""

    async def client(urls: list[str], words: list[str], pause_s: float) -> tuple[list[str], Floats]:
        text = " ".join(words) + " "
        said = list[str]()
        sound = list[Floats]()
        # Without a breath a slow writer sounds as a quick one, and as the voice whole.
        async with Noting(urls, breath_s=0.0, **options) as noting:
            async for chunk in noting.stream(written(words, pause_s)):
                sound.append(chunk.samples)
                said += [text[word.start : word.end] for word in chunk.words]
        return said, np.concatenate(sound)

    return client


@dataclass(slots=True)
class Heard:
    """A text from its first word to its end."""

    by: str
    """Who held the conversation."""
    complete: bool
    """Whether every word was said once, in order."""
    sound: Floats
    note: Note


async def conversation(talk: Talk, urls: list[str], words: list[str], pause_s: float) -> Heard:
    """What is said of a text, how often another server had to go on, and what it cost."""
    note = Note()
    NOTE.set(note)
    said, sound = await talk(urls, words, pause_s)
    return Heard(getattr(talk, "__name__", ""), said == words, sound, note)


def talks(adapters: bool, conversations: int) -> list[Talk]:
    """By whom each conversation is held: of the client, so many, and a quarter as many of each
    adapter."""
    if not adapters:
        return [by_client()] * conversations
    import adapters as made

    made.use(Noting)
    others = [made.livekit, made.pipecat] * max(1, conversations // 4)
    return [by_client()] * conversations + others


def kill(servers: list[Version]) -> None:
    """The server that holds most is killed."""

    def taken(server: Version) -> int:
        return int(httpx.get(f"{server.url}/ready").json()["taken"])

    max(servers, key=taken).stop()


def update(servers: list[Version]) -> None:
    """Servers give way to others, one after the other."""
    for number, server in enumerate(servers):
        server.process.terminate()
        server.process.wait()
        servers[number] = serve(*server.arguments, "--port", str(server.port))


PROCESSES = 4


def calm(servers: list[Version]) -> None:
    """Nothing happens to a server's processes."""


def children(servers: list[Version]) -> list[int]:
    """Those that a server's supervisor has started."""
    return [int(folder.name) for folder in servers[0].processes[1:]]


def process_killed(servers: list[Version]) -> None:
    """One of them is killed."""
    os.kill(children(servers)[0], signal.SIGKILL)


def processes_replaced(servers: list[Version]) -> None:
    """They give way to others, one after the other."""
    for process in children(servers):
        os.kill(process, signal.SIGTERM)
        while process in (now := children(servers)) or len(now) < PROCESSES:
            time.sleep(0.05)


def likeness(sound: Floats, undisturbed: Floats) -> float:
    """How sound correlates with the undisturbed one: after a move only its noise is another, as
    long as every word has its place. Frameworks may end a text with a few milliseconds of
    silence."""
    both = np.zeros((2, max(len(sound), len(undisturbed))))
    both[0, : len(sound)] = sound
    both[1, : len(undisturbed)] = undisturbed
    return float(np.corrcoef(both[0], both[1])[0, 1])


def transcribed(heard: list[Heard], undisturbed: Floats, folder: Path) -> dict[str, Any]:
    """What a recogniser hears of conversations, beside the same text undisturbed."""
    recognise = load_whisper(folder, threads=1)
    normalize = load_normalizer()
    wanted, *said = (
        normalize(recognise(at_16khz(sound, 24000)))
        for sound in [undisturbed, *(each.sound for each in heard)]
    )
    return {
        "transcribed": len(said),
        "words each": len(wanted.split()),
        "words that differ": sum(word_errors(wanted, words).total for words in said),
    }


def moved(
    held: list[Talk],
    repeats: int,
    pause_s: float,
    whisper: Path | None,
    change: Callable[[list[Version]], None],
    *,
    processes: int = 1,
) -> dict[str, Any]:
    """Conversations with two servers, or with one of several processes, to which something
    happens."""
    words = WORDS * repeats
    undisturbed = load_voice("heart").synthesize(" ".join(words) + " ")
    limit = f"limits.sessions={2 * len(held)}"
    flags = ("--set", limit, "--set", "drain_s=1", "--processes", str(processes))
    servers = [serve(*flags) for _ in range(2 if processes == 1 else 1)]
    urls = [server.url for server in servers]

    async def main() -> list[Any]:
        running = [asyncio.create_task(conversation(talk, urls, words, pause_s)) for talk in held]
        await asyncio.sleep(pause_s * len(words) / 2)
        await asyncio.to_thread(change, servers)
        return list(await asyncio.gather(*running, return_exceptions=True))

    ended = asyncio.run(main())
    for server in servers:
        server.stop()
    return {"words each": len(words), "a word every s": pause_s} | outcome(
        ended, undisturbed, whisper
    )


def outcome(ended: list[Any], undisturbed: Floats, whisper: Path | None) -> dict[str, Any]:
    """What became of conversations: how they were heard, or what they failed with."""
    heard = [each for each in ended if isinstance(each, Heard)]
    resumed = [each for each in heard if each.note.resumed]
    longest = max(abs(len(each.sound) - len(undisturbed)) for each in heard)
    return {
        "conversations": len(ended),
        "every word once, in order": Counter(each.by for each in heard if each.complete),
        "went on elsewhere": Counter(each.by for each in resumed),
        "errors": [repr(each) for each in ended if not isinstance(each, Heard)],
        "longest difference in length, s": round(longest / 24000, 3),
        **went(resumed, undisturbed),
        **stayed([each.note for each in heard if not each.note.resumed]),
        **({"by ear": transcribed(heard, undisturbed, whisper)} if whisper else {}),
    }


def stayed(notes: list[Note]) -> dict[str, Any]:
    """How long players waited whose conversations went on with the same server."""
    longest = max((note.longest_s for note in notes), default=0.0)
    return {
        "a player of those that stayed waited at once, the longest s": round(longest, 3),
        "and in all": [round(note.waited_s, 3) for note in notes],
    }


def went(heard: list[Heard], undisturbed: Floats) -> dict[str, Any]:
    """How conversations went on with another server."""
    if not heard:
        return {}
    gaps = [each.note.gap_s for each in heard]
    likest = min(likeness(each.sound, undisturbed) for each in heard)
    waited = statistics.median(each.note.waited_s for each in heard)
    return {
        "their sound's correlation with the undisturbed, the least": round(likest, 3),
        "between the last sound of one and the first of the other, median s": round(
            statistics.median(gaps), 3
        ),
        "the longest s": round(max(gaps), 3),
        "a player without a buffer waited, median s": round(waited, 3),
    }


def certified(folder: Path) -> None:
    """A new key and certificate, each moved to its place at once."""
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext {names}".split()  # noqa: E501
    new = [folder / "new-key.pem", folder / "new-certificate.pem"]
    subprocess.run([*command, "-keyout", new[0], "-out", new[1]], check=True, capture_output=True)
    for path in new:
        path.replace(folder / path.name.removeprefix("new-"))


def changed(folder: Path, conversations: int, times: int, pause_s: float) -> dict[str, Any]:
    """Keys, lexicon and certificate change under conversations."""
    certified(folder)
    os.environ["SSL_CERT_FILE"] = str(folder / "certificate.pem")
    keys = folder / "keys"
    lexicon = folder / "lexicon"
    keys.write_text("stays:key-that-stays\nold:old-key-0\n", encoding="utf-8")
    lexicon.write_text("dawn = don\n", encoding="utf-8")
    files = {"keys-file": keys, "lexicon": lexicon, "certificate": folder / "certificate.pem"}
    flags = [
        f"--{name}={path}"
        for name, path in {**files, "certificate-key": folder / "key.pem"}.items()
    ]
    server = serve(*flags, "--set", f"limits.sessions={2 * conversations}")
    refused = list[float]()
    served = set[str]()

    def status(key: str) -> int:
        answer = httpx.get(
            f"{server.url}/v1/models", headers={"Authorization": f"Bearer {key}"}, verify=False
        )
        return answer.status_code

    def change(number: int) -> None:
        certified(folder)
        lexicon.write_text(f"dawn = don{'n' * number}\n", encoding="utf-8")
        keys.write_text(f"stays:key-that-stays\nold:old-key-{number}\n", encoding="utf-8")
        begin = time.perf_counter()
        while status(f"old-key-{number - 1}") != 401:
            time.sleep(0.02)
        refused.append(time.perf_counter() - begin)
        assert status(f"old-key-{number}") == 200
        served.add(ssl.get_server_certificate(("127.0.0.1", server.port)))

    async def main() -> list[Any]:
        talk = by_client(key="key-that-stays", resume=False)
        held = [conversation(talk, [server.url], WORDS, pause_s) for _ in range(conversations)]
        running = [asyncio.create_task(each) for each in held]
        await asyncio.sleep(10.0)
        for number in range(1, times + 1):
            await asyncio.to_thread(change, number)
        open_still = sum(not task.done() for task in running)
        assert open_still == conversations, open_still
        return list(await asyncio.gather(*running, return_exceptions=True))

    ended = asyncio.run(main())
    server.stop()
    del os.environ["SSL_CERT_FILE"]
    return {
        "a word every s": pause_s,
        "conversations": conversations,
        "said to their end": sum(isinstance(each, Heard) and each.complete for each in ended),
        "changes of keys, lexicon and certificate": times,
        "certificates seen": len(served),
        "a revoked key was refused after, median s": round(statistics.median(refused), 3),
        "the longest s": round(max(refused), 3),
    }


def main() -> None:
    """Run all, and print or write the figures."""
    # A pause between words as one speaks; how late sound may be where others come; a tenth of the
    # size, to see that it runs.
    asked = options(
        __doc__, "json", adapters=False, pause=0.35, late=0.0, small=False, only=str, whisper=Path
    ).parse_args()
    part = 10 if asked.small else 1
    late["s"] = asked.late
    held = talks(asked.adapters, max(2, 20 // part))
    many = [by_client(resume=True)] * (100 // part)
    runs: dict[str, Callable[[Path], dict[str, Any]]] = {
        "killed": lambda _: moved(held, 2, asked.pause, asked.whisper, kill),
        "updated": lambda _: moved(held, 4, asked.pause, asked.whisper, update),
        **{
            change.__name__: lambda _, change=change: moved(  # type: ignore[misc]
                many, 2, asked.pause, None, change, processes=PROCESSES
            )
            for change in (calm, process_killed, processes_replaced)
        },
        "changed": lambda folder: changed(folder, 100 // part, max(2, 10 // part), 4 * asked.pause),
    }
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    figures = kept(asked.json) | {"machine": machine}
    for name, run in runs.items():
        if asked.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                load = round(os.getloadavg()[0], 1)
                about = {"admitted while late by, s": asked.late, "load": load}
                found = run(Path(folder)) | about
            figures[name + ", by ear" * ("by ear" in found)] = found
            print(name, json.dumps(found, indent=1), flush=True)
    keep_figures(figures, asked.json)


if __name__ == "__main__":
    main()
