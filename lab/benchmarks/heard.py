"""Does `heard` name the words that a listener heard? Replies are played in real time and
interrupted at random moments.

The truth is the player's own: it takes samples at the rate of the clock and counts, for each word,
how many of its samples were among them. A word was heard when that is more than half. The player
starts once 0 to 3 seconds of sound are there, so that synthesis is ahead of it on a busy machine,
too. What is compared is the number of words and the text up to the last of them, three ways:

- python: `voice.speak(tokens)`, then `speech.cancel(played_s)`;
- client: `sayahead.client` against a server, half of the replies complete and forgotten by the
  server;
- socket: the native socket by hand, `input_text.cancel` with `played_s`.

    python lab/benchmarks/heard.py                   # 3 ways, 200 interruptions each, 10 replies at
    once: three minutes
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sayahead import Voice, WordTiming, load_voice
from sayahead.client import AsyncClient

REPLIES = (
    (
        "Sure! The museum opens at 9:30 am, and tickets cost $12. On Sundays it is free, but expect"
        " a long queue at the main entrance, so come early or use the one in the garden."
    ),
    (
        "Dr. Smith has an opening on 3 March at a quarter past four. Shall I book it for you, or"
        " would you rather wait until the week after, when the practice has longer hours?"
    ),
    (
        "Your flight leaves from gate B17 in 45 minutes. Boarding has begun; it is a ten-minute"
        " walk from where you are, past the second security check and down the escalator on the"
        " left."
    ),
    (
        "I found three recipes. The first is a soup with 2 leeks, half a pound of potatoes and a"
        " cup of cream; the second is a pie; and the third, which most people like best, takes only"
        " one pan."
    ),
    (
        "The build finished, but 14 of 1,069 tests failed. Most of them are about time zones: the"
        " server is set to UTC, and the fixtures expect the time in Berlin. I can mend that now."
    ),
    (
        "It will rain until noon, then clear up, with a high of 18 degrees. In the evening there"
        " may be some fog along the river - drive carefully if you take the old road home."
    ),
)
TICK_S = 0.004
Verdict: TypeAlias = tuple[int, str]
"""Words that were heard, and the source text up to the last of them."""


class Player:
    """Plays in real time once it has enough to begin, and stands still where it has none; remembers
    what it played."""

    def __init__(self, lead_s: float) -> None:
        self._lead_s = lead_s
        self.words = list[WordTiming]()
        self.given = 0
        self.played = 0
        self.begun = asyncio.Event()
        self.rate = 1
        self._sounded = dict[int, int]()
        self._last_s = 0.0
        self._owed = 0.0

    def write(self, samples: int, words: list[WordTiming], rate: int) -> None:
        """Queue sound."""
        self.given = self.given + samples
        self.rate = rate
        self.words += words
        if not self.begun.is_set() and self.given >= self._lead_s * rate:
            self._last_s = time.monotonic()
            self.begun.set()

    def tick(self) -> None:
        """Play what is due by the clock."""
        now = time.monotonic()
        self._owed += (now - self._last_s) * self.rate
        self._last_s = now
        count = min(int(self._owed), self.given - self.played)
        # A player that runs dry does not catch up.
        self._owed = self._owed - count if self.given > self.played + count else 0.0
        start = self.played
        end = self.played + count
        for number, word in enumerate(self.words):
            overlap = min(end, word.offset) - max(start, word.onset)
            if overlap > 0:
                self._sounded[number] = self._sounded.get(number, 0) + overlap
        self.played = end

    def verdict(self, text: str) -> Verdict:
        """What was heard, by the count of samples."""
        heard = [2 * self._sounded.get(n, 0) > w.offset - w.onset for n, w in enumerate(self.words)]
        words = heard.index(False) if False in heard else len(heard)
        assert not any(heard[words:]), "a word was heard before the one in front of it"
        return words, text[: self.words[words - 1].end] if words else ""


Cancel: TypeAlias = Callable[[float], Awaitable[Verdict]]
Way: TypeAlias = Callable[
    [str, Player, random.Random], contextlib.AbstractAsyncContextManager[Cancel]
]


async def tokens(text: str) -> AsyncIterator[str]:
    """Text as a language model writes it: 4 characters, 50 times a second."""
    for at in range(0, len(text), 4):
        await asyncio.sleep(0.02)
        yield text[at : at + 4]


def in_python(voice: Voice) -> Way:
    """`Voice.speak`."""

    @contextlib.asynccontextmanager
    async def way(text: str, player: Player, _: random.Random) -> AsyncIterator[Cancel]:
        speech = voice.speak(tokens(text))

        async def play() -> None:
            async for chunk in speech:
                player.write(len(chunk.samples), list(chunk.words), chunk.sample_rate)

        async def cancel(played_s: float) -> Verdict:
            heard = speech.cancel(played_s)
            return heard.word_count, heard.text

        playing = asyncio.create_task(play())
        yield cancel
        await playing

    return way


def by_client(client: AsyncClient) -> Way:
    """`sayahead.client`."""

    @contextlib.asynccontextmanager
    async def way(text: str, player: Player, rng: random.Random) -> AsyncIterator[Cancel]:
        speech = client.open_speech()
        ends = rng.random() < 0.5

        async def write() -> None:
            async for token in tokens(text):
                await speech.push(token)
            if ends:
                await speech.finish()

        async def play() -> None:
            async for chunk in speech:
                player.write(len(chunk.samples), list(chunk.words), chunk.sample_rate)

        async def cancel(played_s: float) -> Verdict:
            writing.cancel()
            heard = await speech.cancel(played_s)
            return heard.word_count, heard.text

        writing = asyncio.create_task(write())
        playing = asyncio.create_task(play())
        yield cancel
        await playing

    return way


def by_socket(url: str) -> Way:
    """The native socket by hand; a reply stays open, as an agent's turn does."""
    from websockets.asyncio.client import connect

    @contextlib.asynccontextmanager
    async def way(text: str, player: Player, _: random.Random) -> AsyncIterator[Cancel]:
        async with connect(url + "/v1/stream") as connection:
            created = json.loads(await connection.recv())
            rate = created["sample_rates"][created["voice"]]
            answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()

            async def say(kind: str, **rest: Any) -> None:
                await connection.send(json.dumps({"type": kind, **rest}))

            async def write() -> None:
                async for token in tokens(text):
                    await say("input_text.append", text=token)

            async def play() -> None:
                while not answer.done():
                    data = json.loads(await connection.recv())
                    if data["type"] == "speech.audio":
                        words = [timing(word, rate) for word in data["words"]]
                        player.write(len(await connection.recv()) // 2, words, rate)
                    elif data["type"] == "speech.cancelled":
                        answer.set_result((data["words"], data["text"]))

            async def cancel(played_s: float) -> Verdict:
                writing.cancel()
                await say("input_text.cancel", played_s=played_s)
                return await answer

            writing = asyncio.create_task(write())
            playing = asyncio.create_task(play())
            yield cancel
            await playing

    return way


def timing(word: dict[str, Any], rate: int) -> WordTiming:
    """A word of the native socket."""
    onset = round(word["onset_s"] * rate)
    offset = round(word["offset_s"] * rate)
    return WordTiming(word["word"], word["start"], word["end"], onset, offset)


@dataclass(frozen=True, slots=True)
class Trial:
    """One interruption."""

    right: bool
    played_s: float
    ahead_s: float
    """Seconds of sound that waited in the player."""
    ahead_words: int
    """Words of it: by how many a count of what was handed out is wrong."""


async def interrupt(way: Way, seed: int) -> Trial:
    """Play a reply, interrupt it, compare."""
    rng = random.Random(seed)
    text = rng.choice(REPLIES)
    after_s = rng.uniform(0.05, 4.5)
    player = Player(rng.uniform(0.0, 3.0))
    async with way(text, player, rng) as cancel:
        await asyncio.wait_for(player.begun.wait(), 120)
        end = time.monotonic() + after_s
        while time.monotonic() < end:
            await asyncio.sleep(TICK_S)
            player.tick()
        truth = player.verdict(text)
        ahead = player.given - player.played
        played_s = player.played / player.rate
        waiting = len(player.words) - truth[0]
        verdict = await cancel(played_s)
    return Trial(verdict == truth, round(played_s, 3), round(ahead / player.rate, 3), waiting)


async def trials(way: Way, count: int, at_once: int) -> list[Trial]:
    """So many interruptions."""
    places = asyncio.Semaphore(at_once)

    async def one(seed: int) -> Trial:
        async with places:
            return await interrupt(way, seed)

    return await asyncio.gather(*map(one, range(count)))


@contextlib.contextmanager
def served(at_once: int) -> Iterator[str]:
    """A server of its own, and where it is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = (
        "--set",
        f"limits.sessions={2 * at_once}",
        "--set",
        f"limits.contexts={2 * at_once}",
    )
    command = [sys.executable, "-m", "sayahead", "serve", "--port", str(port), *settings]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            end = time.monotonic() + 120
            while time.monotonic() < end and server.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.2)
            yield f"ws://127.0.0.1:{port}"
        finally:
            server.terminate()


async def measure(count: int, at_once: int) -> dict[str, list[Trial]]:
    """All three ways."""
    results = {"python": await trials(in_python(load_voice("heart")), count, at_once)}
    with served(at_once) as url:
        async with AsyncClient(url) as client:
            results["client"] = await trials(by_client(client), count, at_once)
        results["socket"] = await trials(by_socket(url), count, at_once)
    return results


def summary(rows: list[Trial]) -> dict[str, Any]:
    """What the files keep of one way."""
    played, ahead, words = (
        [getattr(row, name) for row in rows] for name in ("played_s", "ahead_s", "ahead_words")
    )
    return {
        "right": sum(row.right for row in rows),
        "of": len(rows),
        "played_s": [min(played), max(played)],
        "mean_ahead_s": round(sum(ahead) / len(rows), 2),
        "mean_ahead_words": round(sum(words) / len(rows), 1),
    }


def table(results: dict[str, Any]) -> str:
    """The results in Markdown."""
    lines = [
        (
            "Made by `python lab/benchmarks/heard.py`. Right: the number of words and the text are"
            " those that the player"
        ),
        (
            "counted. Ahead: what was handed out and not yet heard, by which a report of what was"
            " *sent* would be wrong."
        ),
        "",
        "| way | right | interrupted after | ahead | words ahead |",
        "|---|---:|---:|---:|---:|",
    ]
    for way, row in results.items():
        least, most = row["played_s"]
        right = f"{row['right']} of {row['of']}"
        ahead = f"{row['mean_ahead_s']} s"
        lines.append(
            f"| {way} | {right} | {least:.1f} to {most:.1f} s | {ahead} |"
            f" {row['mean_ahead_words']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, default=200, help="interruptions each way (default: 200)"
    )
    parser.add_argument("--at-once", type=int, default=10, help="replies at once (default: 10)")
    parser.add_argument("--out", type=Path, help="FILE for FILE.json and FILE.md")
    arguments = parser.parse_args()
    measured = asyncio.run(measure(arguments.count, arguments.at_once))
    results = {way: summary(rows) for way, rows in measured.items()}
    print(table(results))
    if arguments.out is not None:
        arguments.out.with_suffix(".json").write_text(
            json.dumps(results, indent=1) + "\n", encoding="utf-8"
        )
        arguments.out.with_suffix(".md").write_text(table(results), encoding="utf-8")


if __name__ == "__main__":
    main()
