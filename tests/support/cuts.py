"""Random histories of a client's texts over connections that break: ``python -m support.cuts
--count 2000``.

Each is pushed, revised and flushed, and its connection is cut up to twice; then every word must
have come once, in order, and together they are the text.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
from collections.abc import Iterable

from sayahead.client import AsyncClient, ServerError
from sayahead.types import WordTiming
from support.faults import Proxy
from support.servers import serving

WORDS = "Hello there, how are you today? I am fine. So clauses, x ox 2024 well-known don't 3rd Good! ".split(  # noqa: E501
    " "
)
AT_ONCE = 8


async def tell(seed: int, port: int) -> str | None:
    """Run a history; what did not hold, or an empty text. None where a busy server has let nobody
    in."""
    try:
        async with (
            Proxy.before(port) as proxy,
            AsyncClient(f"ws://127.0.0.1:{proxy.port}", resume=True) as client,
        ):
            return await told_by(client, proxy, random.Random(seed))
    except ServerError as error:
        if error.code != "overloaded":
            raise
        return None


async def told_by(client: AsyncClient, proxy: Proxy, dice: random.Random) -> str:
    """The same with a client."""
    steps = list[str]()
    words = list[WordTiming]()
    speech = client.open_speech()
    cuts = 0

    async def read() -> None:
        async for chunk in speech:
            words.extend(chunk.words)

    reading = asyncio.create_task(read())
    for _ in range(dice.randint(3, 9)):
        kind = dice.random()
        length = len(speech.text)
        if kind < 0.6 or not length:
            text = " ".join(dice.choices(WORDS, k=dice.randint(1, 5))) + dice.choice(["", " ", " "])
            steps.append(f"push {text!r}")
            await speech.push(text)
        elif kind < 0.85:
            at = dice.randint(max(0, length - 25), length)
            text = dice.choice(WORDS) + dice.choice(["", " "])
            steps.append(f"revise {at} {text!r}")
            await speech.revise(at, text)
        else:
            steps.append("flush")
            await speech.flush()
        for _ in range(dice.randint(0, 12)):
            await asyncio.sleep(0)
        if dice.random() < 0.4 and cuts < 2:
            steps.append(f"cut after {len(words)} words")
            proxy.fail("cut")
            cuts += 1
    await speech.finish()
    async with asyncio.timeout(30):
        await reading
    return wrong(speech.text, words) and f"{wrong(speech.text, words)} after {steps}"


def wrong(text: str, words: list[WordTiming]) -> str:
    """What is wrong with the words of a text."""
    spans = list(dict.fromkeys((word.start, word.end) for word in words))
    if any(before[1] > after[0] for before, after in itertools.pairwise(spans)):
        return f"words overlap in {text!r}: {spans}"
    said = "".join(text[start:end] for start, end in spans)
    whole = "".join(said.split()) == "".join(text.split())
    return "" if whole else f"{text!r} was said as {said!r}"


async def many(seeds: Iterable[int], port: int) -> list[str]:
    """What did not hold of several, some of them at once."""
    found = list[str]()
    rest = iter(seeds)

    async def work() -> None:
        for seed in rest:
            told = await tell(seed, port)
            while told is None:
                await asyncio.sleep(0.1)
                told = await tell(seed, port)
            if told:
                found.append(f"{seed}: {told}")

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return found


def main() -> None:
    """Tell many, and print what did not hold; the exit status tells whether all did."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    with serving(step_s=0.002, limits={"requests_per_s": 10_000}) as server:
        seeds = range(arguments.first, arguments.first + arguments.count)
        found = asyncio.run(many(seeds, server.port))
    print("\n".join([*found, json.dumps({"histories": arguments.count, "violations": len(found)})]))
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
