"""Where a player has sound left, a step says several words, and text is awaited for it; nowhere
else."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from support.servers import Running, serving, toy_voice

from sayahead.client import AsyncClient
from sayahead.engine.batch_size import BatchSize
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
        six = later(BatchSize(6), 4)
        assert pacing.patience_s(six) == 0
        pacing.deadline()
        pacing.give(2.0)
        pacing.sent(EncodedChunk(b"", 24000, (), True, 0.0, 0.0), duration_s=2.0)
        assert 0.2 < pacing.patience_s(six) <= 0.3
        assert 10 < six.enough < 60
        # Each word is by itself.
        assert pacing.patience_s(later(BatchSize(1), 4)) == 0
        # None came lately.
        await asyncio.sleep(0.31)
        assert pacing.patience_s(six) == 0
        pacing.text(20)
        assert pacing.patience_s(six) > 0.2

    asyncio.run(run())


def later(together: BatchSize, steps: int) -> BatchSize:
    """It, after so many steps."""
    for _ in range(steps):
        together.words(0.01, ended=False)
        together.made()
    return together


def test_how_many_words_a_step_says_is_told_by_its_number_alone() -> None:
    """It depended on what was left to play at that moment."""

    def steps(step_s: float, *, ended: bool) -> list[int]:
        together, numbers = BatchSize(6), list[int]()
        for _ in range(6):
            numbers.append(together.words(step_s, ended=ended))
            together.made()
        return numbers

    assert steps(0.004, ended=True) == steps(0.1, ended=False) == [1, 2, 6, 6, 6, 6]
    # A slow voice would keep its listener waiting, where it does not have all of the text.
    assert steps(0.3, ended=False) == [1] * 6
    assert steps(0.3, ended=True) == [1, 2, 6, 6, 6, 6]


def grouped(pieces: list[str]) -> list[int]:
    """How many words each step says of a text that comes in pieces, awaited where they may be."""
    session, together, said = toy_voice().session(), BatchSize(6), list[int]()
    rest = deque(pieces)
    while not session.finished:
        number = together.words(0.01, ended=session.ended)
        session.prepare(together=number, patient=True)
        if session.hungry or (chunk := session.pull()) is None:
            if rest:
                session.push(rest.popleft())
            else:
                session.finish()
            continue
        together.made()
        said.append(len(chunk.words))
    return said


def test_a_step_says_the_same_words_however_its_text_was_cut() -> None:
    whole = grouped([TEXT * 3])
    assert max(whole) == 6
    assert grouped(re.findall(r"\S+\s*", TEXT * 3)) == whole
    assert grouped(list(TEXT * 3)) == whole


async def sound(server: Running, pieces: list[str], *, pause_s: float = 0.0) -> bytes:
    async def written() -> AsyncIterator[str]:
        for piece in pieces:
            yield piece
            await asyncio.sleep(pause_s)

    async with AsyncClient(server.ws) as client:
        return b"".join([chunk.samples.tobytes() async for chunk in client.stream(written())])


def test_text_that_comes_faster_than_it_is_spoken_sounds_the_same_however_it_came() -> None:
    """Whole, in one piece before its end, word by word, and in many texts at once."""
    text = TEXT * 3
    words = re.findall(r"\S+\s*", text)

    async def run(server: Running) -> None:
        alone = await sound(server, [text])
        assert await sound(server, words) == alone
        assert await sound(server, words, pause_s=0.01) == alone
        many = await asyncio.gather(*(sound(server, words, pause_s=0.01) for _ in range(16)))
        assert set(many) == {alone}

    with serving(step_words=6, limits={"sessions": 64}) as server:
        asyncio.run(run(server))
