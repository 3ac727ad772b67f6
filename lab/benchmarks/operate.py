"""What operators count on, at full size: a killed server, changes while it runs, a bill over a crash.

    python lab/benchmarks/operate.py --json lab/benchmarks/results/operate.json

**killed**: two servers, conversations of the Python client that write ten words a second; one server is killed (-9).
Every conversation is compared with what the voice says undisturbed: its words, its length, and how long its player
waited. **updated**: the same, while both servers end (SIGTERM, and a second for their texts) and others take their
places, one after the other. **changed**: conversations over TLS while keys, lexicon and certificate are exchanged; how
soon a revoked key is refused. **bill**: requests of five keys over five protocols, the server killed (-9) and started
again in the middle; ``/v1/usage`` beside what clients received.

Servers and clients share this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import random
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
from sayahead.client import Client, ServerError
from sayahead.voice import load_voice

WORDS = (
    "The first train leaves at dawn, and nobody is on it. A second one follows when the sun is up, full of people who "
    "go to work. They read, they sleep, and some of them talk about the weather. "
).split()
KEYS = [f"customer-{number}" for number in range(5)]


class Server:
    """``sayahead serve`` in a process of its own."""

    def __init__(self, folder: Path, *arguments: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "sayahead", "serve", "--voice", "heart", "--port", str(port), "--log", "json"]
        self.log = folder / f"log-{time.time_ns()}.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*command, *arguments], stderr=log)
        while not (url := self.row("listening").get("url")):
            time.sleep(0.05)
        self.http = str(url)
        self.port = int(self.http.rpartition(":")[2])

    def row(self, event: str) -> dict[str, Any]:
        """The log's first line of an event; empty while there is none."""
        for line in self.log.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                row: dict[str, Any] = json.loads(line)
                if row["event"] == event:
                    return row
        return {}

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


async def conversation(urls: list[str], words: list[str], pause_s: float, **options: Any) -> dict[str, Any]:
    """A text from its first word to its end: what was said, how often another server had to go on, what it cost."""
    said, samples, played_until, waits, last, gap = [], 0, 0.0, 0.0, 0.0, 0.0
    async with Client(urls, **options) as client:
        rate = client.sample_rate
        resumed = 0
        async for chunk in client.stream(written(words, pause_s)):
            now = time.perf_counter()
            if played_until:
                waits += max(0.0, now - played_until)
            if client.resumed > resumed:
                resumed, gap = client.resumed, now - last
            played_until, last = max(played_until, now) + len(chunk.samples) / rate, now
            samples += len(chunk.samples)
            text = " ".join(words) + " "
            said += [text[word.start : word.end] for word in chunk.words]
    return {"said": said == words, "seconds": samples / rate, "resumed": resumed, "gap_s": gap, "waited_s": waits}


def killed(folder: Path, conversations: int, repeats: int) -> dict[str, Any]:
    """One of two servers is killed under conversations."""
    return moved(folder, conversations, repeats, lambda servers, flags: servers[0].kill())


def updated(folder: Path, conversations: int, repeats: int) -> dict[str, Any]:
    """Both servers give way to others, one after the other."""

    def update(servers: list[Server], flags: tuple[str, ...]) -> None:
        for number, server in enumerate(servers):
            server.process.terminate()
            server.process.wait()
            servers[number] = Server(folder, *flags, port=server.port)

    return moved(folder, conversations, repeats, update)


def moved(
    folder: Path, conversations: int, repeats: int, change: Callable[[list[Server], tuple[str, ...]], None]
) -> dict[str, Any]:
    """Conversations with two servers, to which something happens."""
    words = WORDS * repeats
    whole = len(load_voice("heart").synthesize(" ".join(words) + " ")) / 24000
    flags = ("--set", f"limits.sessions={2 * conversations}", "--set", "drain_s=1")
    servers = [Server(folder, *flags), Server(folder, *flags)]
    urls = [server.http for server in servers]

    async def main() -> list[Any]:
        talks = [asyncio.create_task(conversation(urls, words, 0.1)) for _ in range(conversations)]
        await asyncio.sleep(0.05 * len(words))
        await asyncio.to_thread(change, servers, flags)
        return list(await asyncio.gather(*talks, return_exceptions=True))

    ended = asyncio.run(main())
    for server in servers:
        server.end()
    heard = [each for each in ended if isinstance(each, dict)]
    went_on = [each for each in heard if each["resumed"]]
    gaps = sorted(each["gap_s"] for each in went_on)
    return {
        "conversations": conversations,
        "words each": len(words),
        "every word once, in order": sum(each["said"] for each in heard),
        "went on elsewhere": len(went_on),
        "errors": [str(each) for each in ended if not isinstance(each, dict)],
        "longest difference in length, s": round(max(abs(each["seconds"] - whole) for each in heard), 3),
        "between the last sound of one and the first of the other, median s": round(statistics.median(gaps), 3),
        "the longest s": round(gaps[-1], 3),
        "a player without a buffer waited, median s": round(statistics.median(e["waited_s"] for e in went_on), 3),
        "and of those that stayed": [round(e["waited_s"], 3) for e in heard if not e["resumed"]],
    }


def certified(folder: Path) -> None:
    """A new key and certificate, each moved to its place at once."""
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext {names}".split()
    new = [folder / "new-key.pem", folder / "new-certificate.pem"]
    subprocess.run([*command, "-keyout", new[0], "-out", new[1]], check=True, capture_output=True)
    for path in new:
        path.replace(folder / path.name.removeprefix("new-"))


def changed(folder: Path, conversations: int, times: int) -> dict[str, Any]:
    """Keys, lexicon and certificate change under conversations."""
    certified(folder)
    os.environ["SSL_CERT_FILE"] = str(folder / "certificate.pem")
    keys, lexicon = folder / "keys", folder / "lexicon"
    keys.write_text("stays:key-that-stays\nold:old-key-0\n", encoding="utf-8")
    lexicon.write_text("dawn = don\n", encoding="utf-8")
    files = {"keys-file": keys, "lexicon": lexicon, "certificate": folder / "certificate.pem"}
    flags = [f"--{name}={path}" for name, path in {**files, "certificate-key": folder / "key.pem"}.items()]
    server = Server(folder, *flags, "--set", f"limits.sessions={2 * conversations}")
    refused, served = list[float](), set[str]()

    def status(key: str) -> int:
        answer = httpx.get(f"{server.http}/v1/models", headers={"Authorization": f"Bearer {key}"}, verify=False)
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
        words, options = WORDS * 3, {"key": "key-that-stays", "resume": False}
        talks = [conversation([server.http], words, 0.5, **options) for _ in range(conversations)]
        running = [asyncio.create_task(talk) for talk in talks]
        await asyncio.sleep(5.0)
        for number in range(1, times + 1):
            await asyncio.to_thread(change, number)
        open_still = sum(not task.done() for task in running)
        assert open_still == conversations, open_still
        return list(await asyncio.gather(*running, return_exceptions=True))

    ended = asyncio.run(main())
    server.end()
    del os.environ["SSL_CERT_FILE"]
    return {
        "conversations": conversations,
        "said to their end": sum(isinstance(each, dict) and each["said"] for each in ended),
        "changes of keys, lexicon and certificate": times,
        "certificates seen": len(served),
        "a revoked key was refused after, median s": round(statistics.median(refused), 3),
        "the longest s": round(max(refused), 3),
    }


def text_of(number: int) -> str:
    """A text of its own length."""
    return "Hello " + "there, " * (number % 4) + "you. "


PATHS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "openai": ("/v1/audio/speech", "input", {"model": "tts-1", "voice": "heart", "response_format": "pcm"}),
    "elevenlabs": ("/v1/text-to-speech/heart?output_format=pcm_24000", "text", {}),
    "cartesia": ("/tts/bytes", "transcript", {"output_format": {"container": "raw", "sample_rate": 24000}}),
    "deepgram": ("/v1/speak?encoding=linear16", "text", {}),
}


async def request(http: httpx.AsyncClient, server: Server, protocol: str, key: str, text: str) -> tuple[int, bool]:
    """Characters that a client received, and whether it was all."""
    if protocol == "native":
        received = 0
        try:
            async with Client(server.http, key=key, resume=False) as client:
                async for chunk in client.stream([text]):
                    received = max([received, *(word.end for word in chunk.words)])
        except (ServerError, OSError):
            return received, False
        return len(text), True
    path, field, rest = PATHS[protocol]
    try:
        headers = {"Authorization": f"Bearer {key}"}
        answer = await http.post(server.http + path, json={**rest, field: text}, headers=headers)
        return len(text), answer.status_code == 200
    except httpx.HTTPError:
        return 0, False


def bill(folder: Path, requests: int) -> dict[str, Any]:
    """Requests over a crash, and what the bill says."""
    keys = folder / "bill.toml"
    tables = [f'[{name}]\nkey = "{name}-secret"\nadmin = true\n' for name in KEYS]
    keys.write_text("\n".join(tables), encoding="utf-8")
    flags = (f"--keys-file={keys}", f"--usage={folder / 'usage.db'}", "--set", "limits.sessions=64")
    server = Server(folder, *flags)
    whole: Counter[tuple[str, str]] = Counter()
    part, cut = Counter[str](), Counter[str]()
    dice = random.Random(1)
    jobs = [(dice.choice([*PATHS, "native"]), dice.choice(KEYS), text_of(number)) for number in range(requests)]

    async def work(http: httpx.AsyncClient, waiting: Iterator[Any], done: list[int]) -> None:
        for protocol, key, text in waiting:
            received, all_of_it = await request(http, server, protocol, f"{key}-secret", text)
            done.append(1)
            if all_of_it:
                whole[protocol, key] += received
            else:
                cut[protocol] += len(text)
                part[protocol] += received

    async def main() -> None:
        nonlocal server
        waiting, done = iter(jobs), list[int]()
        async with httpx.AsyncClient(timeout=60) as http:
            workers = [asyncio.create_task(work(http, waiting, done)) for _ in range(16)]
            while len(done) < requests // 2:
                await asyncio.sleep(0.01)
            server.kill()
            # Nobody is to spend his requests on a server that is not there.
            held, waiting = list(waiting), iter(())
            await asyncio.gather(*workers)
            server = await asyncio.to_thread(Server, folder, *flags, port=server.port)
            waiting = iter(held)
            await asyncio.gather(*(work(http, waiting, done) for _ in range(16)))

    asyncio.run(main())
    query = {"all": "true"}
    answer = httpx.get(f"{server.http}/v1/usage", params=query, headers={"Authorization": f"Bearer {KEYS[0]}-secret"})
    server.end()
    billed: Counter[tuple[str, str]] = Counter()
    for row in answer.json()["rows"]:
        billed[row["protocol"], row["key"]] += row["characters"]
    rows = {}
    for protocol in (*PATHS, "native"):
        due, said = (sum(n for (p, _), n in count.items() if p == protocol) for count in (whole, billed))
        rows[protocol] = {
            "received whole": due,
            "billed": said,
            "beyond": said - due,
            "received of cut texts": part[protocol] if protocol == "native" else None,
            "length of cut texts": cut[protocol],
        }
    return {"requests": requests, "keys": len(KEYS), "protocols": rows}


def main() -> None:
    """Run all, and print or write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=("killed", "updated", "changed", "bill"))
    parser.add_argument("--small", action="store_true", help="a tenth of the size, to see that it runs")
    arguments = parser.parse_args()
    part = 10 if arguments.small else 1
    runs: dict[str, Callable[[Path], dict[str, Any]]] = {
        "killed": lambda folder: killed(folder, max(2, 20 // part), 3),
        "updated": lambda folder: updated(folder, max(2, 20 // part), 8),
        "changed": lambda folder: changed(folder, 100 // part, max(2, 10 // part)),
        "bill": lambda folder: bill(folder, 1000 // part),
    }
    figures: dict[str, Any] = {"machine": f"{platform.machine()}, {os.cpu_count()} cores"}
    if arguments.json and arguments.json.exists():
        figures = json.loads(arguments.json.read_text(encoding="utf-8")) | figures
    for name, run in runs.items():
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                load = {"load": round(os.getloadavg()[0], 1)}
                figures[name] = run(Path(folder)) | load
            print(name, json.dumps(figures[name], indent=1), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
