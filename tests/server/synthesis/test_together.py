"""Where a player has sound left, a step says several words, and text is awaited for it; nowhere
else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from support.servers import Running, serving

from sayahead.client import AsyncClient
from sayahead.engine.together import Together
from sayahead.server.operation.metrics import Metrics
from sayahead.server.synthesis.capacity import Lateness
from sayahead.server.synthesis.pacing import Pacing
from sayahead.server.synthesis.threads import EncodedChunk
from sayahead.voice import Voice

TEXT = (
    "The birch canoe slid on the smooth planks, and the glue stuck to the sheet of dark blue"
    " paper. "
)


async def spoken(server: Running, text: str, *, word_s: float, **choices: Any) -> list[str]:
    """The words that were heard of a text that comes word by word."""

    async def words() -> AsyncIterator[str]:
        for word in text.split():
            yield word + " "
            await asyncio.sleep(word_s)

    async with AsyncClient(server.ws, **choices) as client:
        return [word.text async for chunk in client.stream(words()) for word in chunk.words]


def steps(
    heart: Voice, text: str, *, word_s: float, step_words: int, wanted: int | None = None
) -> int:
    """How many jobs it took, of a client that wants so many words a step."""
    with serving(voice=heart, step_words=step_words) as server:
        before = server.hub.pool.steps
        assert asyncio.run(spoken(server, text, word_s=word_s, step_words=wanted)) == text.split()
        return server.hub.pool.steps - before


@pytest.mark.parametrize("word_s", [0.0, 0.02])
def test_after_its_first_second_a_text_is_said_in_few_steps(heart: Voice, word_s: float) -> None:
    single = steps(heart, 2 * TEXT, word_s=word_s, step_words=1)
    assert steps(heart, 2 * TEXT, word_s=word_s, step_words=6) < 0.6 * single
    # Of which a client may have fewer, and not more.
    assert steps(heart, TEXT, word_s=word_s, step_words=6, wanted=1) >= len(TEXT.split())


def test_a_reader_hears_each_word_as_soon_as_before(heart: Voice) -> None:
    """At the pace of speech there is never much left to play: nothing is awaited."""
    assert steps(heart, TEXT, word_s=0.3, step_words=6) >= len(TEXT.split())


def test_a_text_that_is_there_as_a_whole_sounds_the_same_each_time(heart: Voice) -> None:
    with serving(voice=heart, step_words=6) as server:
        request = {"model": "sayahead", "input": TEXT, "voice": "heart", "response_format": "pcm"}
        sounds = [
            httpx.post(f"{server.http}/v1/audio/speech", json=request).content for _ in range(2)
        ]
        chunks = server.hub.pool.steps
    assert sounds[0] == sounds[1]
    assert len(sounds[0]) > 100_000
    assert chunks < 2 * len(TEXT.split())


def test_text_is_awaited_while_it_comes_and_the_player_has_enough() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        pacing = Pacing(Metrics(), loop, Lateness())
        pacing.text(10)
        six = Together(6)
        assert pacing.spare_s(10, six) == 0
        pacing.deadline()
        pacing.sent(EncodedChunk(b"", 24000, (), True, 0.0, 0.0), duration_s=2.0)
        assert 0.2 < pacing.spare_s(10, six) <= 0.3
        # There is enough, or each word is by itself.
        assert pacing.spare_s(60, six) == pacing.spare_s(10, Together(1)) == 0
        # None came lately.
        await asyncio.sleep(0.31)
        assert pacing.spare_s(10, six) == 0
        pacing.text(20)
        assert pacing.spare_s(10, six) > 0.2

    asyncio.run(run())
