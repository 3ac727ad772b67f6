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
share it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import difflib
import json
import os
import platform
import signal
import ssl
import statistics
import subprocess
import sys
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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sayahead.client import AsyncClient
from sayahead.types import AudioChunk, Floats
from sayahead.voice import load_voice

from sayahead_lab.eval.listening.listeners import at_16khz, load_normalizer, load_whisper

WORDS = (
    "The first train leaves at dawn, and nobody is on it. A second one follows when the sun is up,"
    " full of people who go to work. They read, they sleep, and some of them talk about the"
    " weather. "
).split()


LATE = (
    "from sayahead.server.synthesis import capacity; capacity.LATE_S = {}; from sayahead.cli import"
    " main; raise SystemExit(main())"
)


class Server:
    """``sayahead serve`` in a process of its own."""

    late_s = 0.0
    """How late sound may be on average while others are admitted; 0: as it is."""

    def __init__(self, folder: Path, *arguments: str, port: int = 0) -> None:
        entry = ["-c", LATE.format(self.late_s)] if self.late_s else ["-m", "sayahead"]
        command = [
            sys.executable,
            *entry,
            "serve",
            "--voice",
            "heart",
            "--port",
            str(port),
            "--log",
            "json",
        ]
        self.flags = arguments
        self.log = folder / f"log-{time.time_ns()}.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, *arguments], stderr=log)
        while not (url := self._url()):
            time.sleep(0.05)
        self.http = url
        self.port = int(url.rpartition(":")[2])

    def _url(self) -> str:
        """Where it listens for HTTP, as its log says; empty while it does not say so."""
        told = self.log.read_text(encoding="utf-8")
        for line in told.splitlines():
            with contextlib.suppress(ValueError):
                if (url := str(json.loads(line).get("url", ""))).startswith("http"):
                    return url
        if self.process.poll() is not None:
            raise SystemExit(f"A server ended: {told[-500:]}")
        return ""

    @property
    def processes(self) -> list[int]:
        """Those that its supervisor has started."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        return [int(each) for each in children.split()]

    def kill(self) -> None:
        """As a crash, or the want of memory, does."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """The end of the run."""
        self.process.kill()
        self.process.wait()


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


async def conversation(
    talk: Talk, urls: list[str], words: list[str], pause_s: float
) -> dict[str, Any]:
    """A text from its first word to its end: what was said, how often another server had to go on,
    what it cost."""
    note = Note()
    NOTE.set(note)
    said, sound = await talk(urls, words, pause_s)
    return {
        "by": getattr(talk, "__name__", ""),
        "said": said == words,
        "sound": sound,
        **asdict(note),
    }


def talks(adapters: bool, conversations: int) -> list[Talk]:
    """By whom each conversation is held: of the client, so many, and a quarter as many of each
    adapter."""
    if not adapters:
        return [by_client()] * conversations
    import adapters as made

    made.use(Noting)
    return [
        *[by_client()] * conversations,
        *[made.livekit, made.pipecat] * max(1, conversations // 4),
    ]


def killed(folder: Path, held: list[Talk], pause_s: float, whisper: Path | None) -> dict[str, Any]:
    """One of two servers is killed under conversations."""

    def kill(servers: list[Server]) -> None:
        max(
            servers, key=lambda server: int(httpx.get(f"{server.http}/ready").json()["taken"])
        ).kill()

    return moved(folder, held, 2, pause_s, whisper, kill)


def updated(folder: Path, held: list[Talk], pause_s: float, whisper: Path | None) -> dict[str, Any]:
    """Both servers give way to others, one after the other."""

    def update(servers: list[Server]) -> None:
        for number, server in enumerate(servers):
            server.process.terminate()
            server.process.wait()
            servers[number] = Server(folder, *server.flags, port=server.port)

    return moved(folder, held, 4, pause_s, whisper, update)


PROCESSES = 4


def calm(servers: list[Server]) -> None:
    """Nothing happens to a server's processes."""


def process_killed(servers: list[Server]) -> None:
    """One of them is killed."""
    os.kill(servers[0].processes[0], signal.SIGKILL)


def processes_replaced(servers: list[Server]) -> None:
    """They give way to others, one after the other."""
    for process in servers[0].processes:
        os.kill(process, signal.SIGTERM)
        while process in servers[0].processes or len(servers[0].processes) < PROCESSES:
            time.sleep(0.05)


def likeness(sound: Floats, undisturbed: Floats) -> float:
    """How sound correlates with the undisturbed one: after a move only its noise is another, as
    long as every word has its place. Frameworks may end a text with a few milliseconds of
    silence."""
    both = np.zeros((2, max(len(sound), len(undisturbed))))
    both[0, : len(sound)] = sound
    both[1, : len(undisturbed)] = undisturbed
    return float(np.corrcoef(both[0], both[1])[0, 1])


def transcribed(sounds: list[Floats], undisturbed: Floats, folder: Path) -> dict[str, Any]:
    """What a recogniser hears of sounds, beside what it hears of the same text undisturbed."""
    recognise = load_whisper(folder, threads=1)
    normalize = load_normalizer()
    wanted, *heard = (
        normalize(recognise(at_16khz(sound, 24000))).split() for sound in [undisturbed, *sounds]
    )
    changes = [
        difflib.SequenceMatcher(None, wanted, words, autojunk=False).get_opcodes()
        for words in heard
    ]
    differ = [max(j - i, m - k) for each in changes for kind, i, j, k, m in each if kind != "equal"]
    return {"transcribed": len(heard), "words each": len(wanted), "words that differ": sum(differ)}


def moved(
    folder: Path,
    held: list[Talk],
    repeats: int,
    pause_s: float,
    whisper: Path | None,
    change: Callable[[list[Server]], None],
    *,
    processes: int = 1,
) -> dict[str, Any]:
    """Conversations with two servers, or with one of several processes, to which something
    happens."""
    words = WORDS * repeats
    undisturbed = load_voice("heart").synthesize(" ".join(words) + " ")
    limit = f"limits.sessions={2 * len(held)}"
    flags = ("--set", limit, "--set", "drain_s=1", "--processes", str(processes))
    servers = [Server(folder, *flags) for _ in range(2 if processes == 1 else 1)]
    urls = [server.http for server in servers]

    async def main() -> list[Any]:
        running = [asyncio.create_task(conversation(talk, urls, words, pause_s)) for talk in held]
        await asyncio.sleep(pause_s * len(words) / 2)
        await asyncio.to_thread(change, servers)
        return list(await asyncio.gather(*running, return_exceptions=True))

    ended = asyncio.run(main())
    for server in servers:
        server.end()
    return {"words each": len(words), "a word every s": pause_s} | found(
        ended, undisturbed, whisper
    )


def found(ended: list[Any], undisturbed: Floats, whisper: Path | None) -> dict[str, Any]:
    """What became of conversations: their dictionaries, or what they failed with."""
    heard = [each for each in ended if isinstance(each, dict)]
    went_on = [each for each in heard if each["resumed"]]
    stayed = [each for each in heard if not each["resumed"]]
    differ = [abs(len(each["sound"]) - len(undisturbed)) / 24000 for each in heard]
    sounds = [each["sound"] for each in heard]
    return {
        "conversations": len(ended),
        "every word once, in order": Counter(each["by"] for each in heard if each["said"]),
        "went on elsewhere": Counter(each["by"] for each in went_on),
        "errors": [repr(each) for each in ended if not isinstance(each, dict)],
        "longest difference in length, s": round(max(differ), 3),
        **(went(went_on, undisturbed) if went_on else {}),
        "a player of those that stayed waited at once, the longest s": round(
            max((each["longest_s"] for each in stayed), default=0.0), 3
        ),
        "and in all": [round(each["waited_s"], 3) for each in stayed],
        **({"by ear": transcribed(sounds, undisturbed, whisper)} if whisper else {}),
    }


def went(moved: list[dict[str, Any]], undisturbed: Floats) -> dict[str, Any]:
    """How conversations went on with another server."""
    gaps = [each["gap_s"] for each in moved]
    return {
        "their sound's correlation with the undisturbed, the least": round(
            min(likeness(each["sound"], undisturbed) for each in moved), 3
        ),
        "between the last sound of one and the first of the other, median s": round(
            statistics.median(gaps), 3
        ),
        "the longest s": round(max(gaps), 3),
        "a player without a buffer waited, median s": round(
            statistics.median(each["waited_s"] for each in moved), 3
        ),
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
    server = Server(folder, *flags, "--set", f"limits.sessions={2 * conversations}")
    refused = list[float]()
    served = set[str]()

    def status(key: str) -> int:
        answer = httpx.get(
            f"{server.http}/v1/models", headers={"Authorization": f"Bearer {key}"}, verify=False
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
        held = [conversation(talk, [server.http], WORDS, pause_s) for _ in range(conversations)]
        running = [asyncio.create_task(each) for each in held]
        await asyncio.sleep(10.0)
        for number in range(1, times + 1):
            await asyncio.to_thread(change, number)
        open_still = sum(not task.done() for task in running)
        assert open_still == conversations, open_still
        return list(await asyncio.gather(*running, return_exceptions=True))

    ended = asyncio.run(main())
    server.end()
    del os.environ["SSL_CERT_FILE"]
    return {
        "a word every s": pause_s,
        "conversations": conversations,
        "said to their end": sum(isinstance(each, dict) and each["said"] for each in ended),
        "changes of keys, lexicon and certificate": times,
        "certificates seen": len(served),
        "a revoked key was refused after, median s": round(statistics.median(refused), 3),
        "the longest s": round(max(refused), 3),
    }


def main() -> None:
    """Run all, and print or write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", help="one of the runs, by its name")
    parser.add_argument(
        "--whisper", type=Path, help="a folder of Whisper's, to transcribe what was heard"
    )
    parser.add_argument(
        "--adapters", action="store_true", help="of those for LiveKit and Pipecat, too"
    )
    parser.add_argument(
        "--pause",
        type=float,
        default=0.35,
        metavar="S",
        help="between words (default: as one speaks)",
    )
    parser.add_argument(
        "--late",
        type=float,
        default=0.0,
        metavar="S",
        help="how late sound may be where others come",
    )
    parser.add_argument(
        "--small", action="store_true", help="a tenth of the size, to see that it runs"
    )
    arguments = parser.parse_args()
    part = 10 if arguments.small else 1
    Server.late_s = arguments.late
    held = talks(arguments.adapters, max(2, 20 // part))
    many = [by_client(resume=True)] * (100 // part)
    runs: dict[str, Callable[[Path], dict[str, Any]]] = {
        "killed": lambda folder: killed(folder, held, arguments.pause, arguments.whisper),
        "updated": lambda folder: updated(folder, held, arguments.pause, arguments.whisper),
        **{
            change.__name__: lambda folder, change=change: moved(  # type: ignore[misc]
                folder, many, 2, arguments.pause, None, change, processes=PROCESSES
            )
            for change in (calm, process_killed, processes_replaced)
        },
        "changed": lambda folder: changed(
            folder, 100 // part, max(2, 10 // part), 4 * arguments.pause
        ),
    }
    figures: dict[str, Any] = {"machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    if arguments.json and arguments.json.exists():
        figures = json.loads(arguments.json.read_text(encoding="utf-8")) | figures
    for name, run in runs.items():
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                load = {
                    "admitted while late by, s": arguments.late,
                    "load": round(os.getloadavg()[0], 1),
                }
                figures[name] = run(Path(folder)) | load
            print(name, json.dumps(figures[name], indent=1), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
