"""The chart's autoscaler over real servers: it fires under load, half of the replicas are killed,
and it drains.

    PYTHONPATH=tests python lab/benchmarks/scaling.py --json lab/benchmarks/results/scaling.json

Replicas are processes with the toy voice and the manifest's places; clients are the Python client
with ``resume``, each with a conversation at the pace of speech. Every period the rule of
Kubernetes' autoscaler is applied to what /metrics says: the average of the pods' ratios over the
target, within its tolerance, with the manifest's bounds and stabilization. A period stands for one
of 15 s; --period says how long it takes here."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

import httpx
import yaml
from sayahead.client import AsyncClient
from sayahead.errors import SayaheadError
from sayahead.types import WordTiming
from support.faults import Proxy

ROOT = Path(__file__).resolve().parents[2]
SPEC = yaml.safe_load(
    (ROOT / "deploy" / "kubernetes" / "autoscaler.yaml").read_text(encoding="utf-8")
)["spec"]
TARGET = int(SPEC["metrics"][0]["pods"]["target"]["averageValue"].removesuffix("m")) / 1000
TOLERANCE = 0.1
SYNC_S = 15.0
PODS = 4
DOUBLE = 2.0
"""Kubernetes' own bound of a step up: so many more, or twice as many, whichever is more."""
PLACES = 32
KEYS = ("first", "second", "third", "fourth")
"""Clients, each with a part of the conversations."""
STEP_S = 0.002
KILL_TICK = 12
END_TICK = 20
"""Periods after which half of the replicas are killed, and after which nobody new comes."""
TRIES = 60
"""How often a client asks again who is refused."""
WORDS = (
    "Every word of this text is spoken while the text is still being written and none of them is"
    " lost now ".split()
)


class Replica:
    """A server in a process of its own."""

    def __init__(self) -> None:
        settings = {
            "step_s": STEP_S,
            "port": 0,
            "limits": {"sessions": PLACES},
            "log": "json",
            "drain_s": 600.0,
        }
        settings["keys"] = [f"{key}:{key}-of-the-fleet" for key in KEYS]
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
        command = [sys.executable, __file__, "--replica", json.dumps(settings)]
        environment = {**os.environ, "PYTHONPATH": paths}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.is_draining = False

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    async def ratio(self) -> float | None:
        """What the metric's rule makes of its metrics; None where it does not answer."""
        try:
            async with httpx.AsyncClient(timeout=5) as http:
                text = (await http.get(f"http://127.0.0.1:{self.port}/metrics")).text
        except httpx.HTTPError:
            return None
        wanted, limit = (
            float(re.findall(rf"^tts_sessions_{name} (\S+)", text, re.MULTILINE)[0])
            for name in ("wanted", "limit")
        )
        return wanted / limit


class Cluster:
    """Replicas, and the autoscaler that adds and takes them away."""

    def __init__(self) -> None:
        self.replicas = [Replica()]
        self.rows = list[dict[str, Any]]()
        self.conversations = 0
        self.desired = 1
        window = SPEC["behavior"]["scaleDown"]["stabilizationWindowSeconds"]
        self._wishes = deque[int](maxlen=max(1, round(window / SYNC_S)))

    @property
    def serving(self) -> list[Replica]:
        return [each for each in self.replicas if each.is_alive and not each.is_draining]

    async def tick(self) -> None:
        """One round of the autoscaler, and what it saw."""
        here = self.serving
        ratios = [
            ratio
            for ratio in await asyncio.gather(*(each.ratio() for each in here))
            if ratio is not None
        ]
        ratio = sum(ratios) / len(ratios) if ratios else 0.0
        change = ratio / TARGET
        wish = len(ratios) if abs(change - 1) <= TOLERANCE else math.ceil(len(ratios) * change)
        wish = min(wish, round(max(len(here) + PODS, len(here) * DOUBLE)))
        wish = min(SPEC["maxReplicas"], max(SPEC["minReplicas"], wish))
        self._wishes.append(wish)
        # Down only to the most that was wished in the window.
        goal = wish if wish >= len(here) else max(self._wishes)
        row = {
            "replicas": len(here),
            "conversations": self.conversations,
            "ratio": round(ratio, 3),
            "wish": wish,
        }
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        self.desired = max(goal, self.desired) if goal >= len(here) else goal
        # A deployment also puts others in the place of those that were killed.
        missing = self.desired - len(here)
        self.replicas += await asyncio.gather(*(asyncio.to_thread(Replica) for _ in range(missing)))
        for replica in here[self.desired :]:
            replica.is_draining = True
            replica.process.send_signal(signal.SIGTERM)

    def kill_half(self) -> int:
        """End half of the replicas at once."""
        victims = self.serving[: len(self.serving) // 2]
        for replica in victims:
            replica.process.kill()
        return len(victims)

    def stop(self) -> None:
        for replica in self.replicas:
            replica.process.kill()
            replica.process.wait()


async def conversation(
    cluster: Cluster, url: str, words: int, pace_s: float, counts: Counter[str]
) -> None:
    """A text at the pace of speech; counts how it ended."""
    pieces = [f"{WORDS[number % len(WORDS)]} " for number in range(words)]
    text = "".join(pieces)
    key = random.choice(KEYS)
    cluster.conversations += 1
    try:
        for _ in range(TRIES):
            heard = list[WordTiming]()
            with contextlib.suppress(SayaheadError, OSError):
                async with AsyncClient(url, key=f"{key}-of-the-fleet", resume=True) as client:
                    speech = client.open_speech()

                    async def write(speech: Any = speech) -> None:
                        for piece in pieces:
                            await speech.push(piece)
                            await asyncio.sleep(pace_s)
                        await speech.finish()

                    writing = asyncio.create_task(write())
                    try:
                        async for chunk in speech:
                            heard += chunk.words
                    finally:
                        writing.cancel()
                        await asyncio.wait({writing})
                    whole = [text[word.start : word.end] for word in heard] == text.split()
                    counts["whole" if whole else "wrong"] += 1
                    counts["resumed"] += client.resumed
                    return
            counts["begun again" if heard else "refused"] += 1
            await asyncio.sleep(1.0)
        counts["lost"] += 1
    finally:
        cluster.conversations -= 1


async def run(most: int, period_s: float, words: int, pace_s: float) -> dict[str, Any]:
    """Ramp up, kill, go on, drain; behind one address, as of a service."""
    cluster = Cluster()
    async with Proxy.before(lambda: random.choice(cluster.serving).port) as service:
        try:
            return await phases(
                cluster, f"ws://127.0.0.1:{service.port}", most, period_s, words, pace_s
            )
        finally:
            cluster.stop()


async def phases(
    cluster: Cluster, url: str, most: int, period_s: float, words: int, pace_s: float
) -> dict[str, Any]:
    """What happens one after the other."""
    counts = Counter[str]()
    told = dict[str, Any]()
    tasks = set[asyncio.Task[None]]()
    over = asyncio.Event()

    async def load() -> None:
        """Keep so many conversations going."""
        begin = time.monotonic()
        while not over.is_set():
            ramp = min(1.0, (time.monotonic() - begin) / (4 * period_s))
            while len(tasks) < most * ramp:
                task = asyncio.create_task(conversation(cluster, url, words, pace_s, counts))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.sleep(0.1)

    loading = asyncio.create_task(load())
    for tick in range(1, 200):
        begin = time.monotonic()
        await cluster.tick()
        if tick == KILL_TICK:
            told["at the kill"] = cluster.rows[-1]
            told["killed"] = cluster.kill_half()
        if tick == END_TICK:
            over.set()
        if over.is_set() and not tasks and len(cluster.serving) == SPEC["minReplicas"]:
            break
        await asyncio.sleep(max(0.0, period_s - (time.monotonic() - begin)))
    await loading
    await asyncio.gather(*tasks)
    await cluster.tick()
    told["most replicas"] = max(row["replicas"] for row in cluster.rows)
    told["replicas at the end"] = cluster.rows[-1]["replicas"]
    return {
        "period_s": period_s,
        "conversations at once": most,
        **told,
        "counts": dict(counts),
        "rows": cluster.rows,
    }


def replica(settings: dict[str, Any]) -> None:
    """Serve until the end, and print the port."""
    from sayahead.server.hub import Hub
    from sayahead.server.operation.settings import settings_of
    from sayahead.server.process.run import Server, bind
    from sayahead.server.voices import Voices
    from support.servers import toy_voice

    voices = Voices(("heart",))
    voices.put(toy_voice(settings.pop("step_s")))
    listener = bind("127.0.0.1", 0)
    print(listener.getsockname()[1], flush=True)
    Server(Hub(settings_of({"measure_s": 0.0, "page": False, **settings}), voices=voices)).run(
        [listener]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument(
        "--period", type=float, default=5.0, help="seconds that stand for 15 (default: 5)"
    )
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument(
        "--pace", type=float, default=0.4, help="seconds between words (default: 0.4)"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--replica", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.replica:
        replica(json.loads(arguments.replica))
        return
    told = asyncio.run(
        run(arguments.conversations, arguments.period, arguments.words, arguments.pace)
    )
    print(json.dumps({name: value for name, value in told.items() if name != "rows"}))
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
