"""The threads that make speech, and the clock of a context."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import httpx
import pytest
from support.servers import Running, serving

from sayahead.client import AsyncClient
from sayahead.server.operation.metrics import Metrics
from sayahead.server.operation.rate_limits import Accounts
from sayahead.server.operation.settings import Limits
from sayahead.server.synthesis.capacity import Lateness
from sayahead.server.synthesis.pacing import Pacing
from sayahead.server.synthesis.threads import EncodedChunk, Pool, Size
from sayahead.types import WordTiming

TEXT = "Hello there, how are you today? I am fine. "


@contextlib.asynccontextmanager
async def opened(
    gate: threading.Event, steps: Sequence[asyncio.Future[Any]]
) -> AsyncIterator[None]:
    """Until the end of the block, which must not wait for it, the gate holds the steps."""
    try:
        async with asyncio.timeout(20):
            yield
        assert not any(step.done() for step in steps)
    finally:
        gate.set()
        await asyncio.gather(*steps)


def test_the_earliest_deadline_comes_first() -> None:
    async def run() -> list[float]:
        pool = Pool(1)
        gate = threading.Event()
        order = list[float]()
        blocking = asyncio.ensure_future(pool.run(lambda: gate.wait(10), deadline=0.0))
        await asyncio.sleep(0.05)
        jobs = [
            asyncio.ensure_future(pool.run(lambda at=at: order.append(at), deadline=at))  # type: ignore[misc]
            for at in (3.0, 1.0, 2.0, 1.0)
        ]
        await asyncio.sleep(0.05)
        gate.set()
        await asyncio.gather(blocking, *jobs)
        pool.close()
        return order

    assert asyncio.run(run()) == [1.0, 1.0, 2.0, 3.0]


def test_a_job_that_nobody_waits_for_is_left_out() -> None:
    async def run() -> list[str]:
        pool = Pool(1)
        gate = threading.Event()
        done = list[str]()
        blocking = asyncio.ensure_future(pool.run(lambda: gate.wait(10), deadline=0.0))
        await asyncio.sleep(0.05)
        left, kept = (
            asyncio.ensure_future(pool.run(lambda name=name: done.append(name), deadline=1.0))  # type: ignore[misc]
            for name in ("left", "kept")
        )
        await asyncio.sleep(0.05)
        left.cancel()
        gate.set()
        await asyncio.gather(blocking, kept)
        pool.close()
        return done

    assert asyncio.run(run()) == ["kept"]


def test_a_thread_that_waits_holds_nothing_of_its_last_job() -> None:
    class Text:
        """What a job works on."""

        def speak(self) -> None:
            """A step."""

    async def run() -> None:
        pool = Pool(1)
        text = Text()
        await pool.run(text.speak, deadline=0.0)
        left = weakref.ref(text)
        del text
        end = time.monotonic() + 2
        while left() is not None and time.monotonic() < end:
            await asyncio.sleep(0.01)
        dropped = left()
        pool.close()
        assert pool.steps == 1
        assert dropped is None

    asyncio.run(run())


def test_an_error_reaches_its_caller_and_the_thread_lives() -> None:
    def fail() -> None:
        raise ValueError("broken")

    async def run() -> None:
        pool = Pool(1)
        with pytest.raises(ValueError, match="broken"):
            await pool.run(fail, deadline=0.0)
        assert await pool.run(lambda: 7, deadline=0.0) == 7
        pool.close()

    asyncio.run(run())


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time is what the test says."""

    now = 0.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def loop() -> Iterator[Clock]:
    made = Clock()
    yield made
    made.close()


def piece(words: tuple[WordTiming, ...] = (), *, audible: bool = True) -> EncodedChunk:
    return EncodedChunk(b"x", 1, words, audible, 0.001, 0.01)


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


def test_an_underrun_is_the_servers_only_where_the_text_was_there(loop: Clock) -> None:
    metrics = Metrics()
    pacing = Pacing(metrics, loop, Lateness())
    pacing.text(6)
    # Nothing was sent: the first piece is wanted since its text came.
    assert pacing.deadline() == 0.0
    loop.now = 0.1
    pacing.give(0.5)
    pacing.sent(piece(), duration_s=0.5)
    assert pacing.deadline() == pytest.approx(0.6)
    assert pacing.buffered_s() == pytest.approx(0.5)
    # Its text comes when the player is dry: no fault.
    loop.now = 0.8
    pacing.text(12)
    pacing.deadline()
    loop.now = 0.9
    pacing.give(0.5)
    pacing.sent(piece(), duration_s=0.5)
    assert value(metrics, "tts_underruns_total") == 0
    # The text was there, and the player ran dry: its fault. The player's gap moves all that
    # follows.
    pacing.text(18)
    pacing.deadline()
    loop.now = 1.5
    pacing.give(0.5)
    pacing.sent(piece(), duration_s=0.5)
    assert value(metrics, "tts_underruns_total") == 1
    assert pacing.deadline() == pytest.approx(2.0)


def test_what_is_late_by_its_clients_own_fault_says_nothing_of_the_server(loop: Clock) -> None:
    """Who took much was served late, and all others were refused for it."""
    lateness = Lateness()
    greedy = Accounts(Limits(), 8).of("192.0.2.1")
    greedy.charge(10.0)
    for account, late in ((greedy, False), (Accounts(Limits(), 8).of("192.0.2.2"), True)):
        pacing = Pacing(Metrics(), loop, lateness, account)
        for _ in range(64):
            pacing.text(10)
            pacing.deadline()
            loop.now += 0.5
            pacing.give(0.1)
            pacing.sent(piece(), duration_s=0.1)
        assert lateness.too_late == late


def test_first_sound_and_words_are_timed_from_their_text(loop: Clock) -> None:
    metrics = Metrics()
    pacing = Pacing(metrics, loop, Lateness())
    pacing.text(6)
    loop.now = 1.0
    pacing.text(12)
    pacing.deadline()
    loop.now = 1.2
    pacing.give(0.1)
    pacing.sent(piece(audible=False), duration_s=0.1)
    assert value(metrics, "tts_first_audio_seconds_count", since="first_text") == 0
    loop.now = 1.3
    word = WordTiming("Hello", 0, 5, 0, 100)
    pacing.give(0.1)
    pacing.sent(piece((word,)), duration_s=0.1)
    assert value(metrics, "tts_first_audio_seconds_sum", since="first_text") == pytest.approx(1.3)
    assert value(metrics, "tts_first_audio_seconds_sum", since="settling_text") == pytest.approx(
        0.3
    )
    assert value(metrics, "tts_word_delay_seconds_sum") == pytest.approx(1.3)


async def speak(server: Running, text: str) -> float:
    async with AsyncClient(server.ws) as client:
        return sum([chunk.duration_s async for chunk in client.stream([text])])


def test_what_was_said_is_counted() -> None:
    with serving(step_words=1) as server:
        heard = asyncio.run(speak(server, TEXT))
        server.settle()
        lines = httpx.get(server.http + "/metrics").text.split("\n")
        figures = dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    assert float(figures['tts_audio_seconds_total{protocol="native"}']) == pytest.approx(heard)
    assert float(figures['tts_characters_total{protocol="native"}']) == len(TEXT)
    assert float(figures['tts_sessions_total{outcome="done",protocol="native"}']) == 1
    assert float(figures["tts_word_delay_seconds_count"]) == len(TEXT.split())
    assert float(figures["tts_sessions_active"]) == 0
    assert float(figures["tts_rtf_count"]) >= len(TEXT.split()) - 1


def test_nothing_is_made_too_far_ahead_of_its_playing() -> None:
    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            speech = client.open_speech()
            await speech.push(TEXT * 20)
            heard = 0.0
            begun = asyncio.get_running_loop().time()
            while heard < 3.0:
                heard += (await anext(speech)).duration_s
            lasted = asyncio.get_running_loop().time() - begun
            # What came in this time is what was played, the second that may be ahead, and one
            # piece.
            assert heard <= lasted + 1.0 + 0.5
            await speech.cancel()

    with serving(limits={"buffered_audio_s": 1.0}) as server:
        asyncio.run(run(server))


def test_a_text_that_is_whole_comes_as_fast_as_it_is_read() -> None:
    """Whoever stored ten minutes of sound waited for five of them."""

    async def run(server: Running) -> None:
        async with AsyncClient(server.ws) as client:
            begun = asyncio.get_running_loop().time()
            heard = sum([chunk.duration_s async for chunk in client.stream([TEXT * 100])])
            assert heard > 5 * (asyncio.get_running_loop().time() - begun)

    with serving(limits={"buffered_audio_s": 1.0}) as server:
        asyncio.run(run(server))


def test_a_thread_is_kept_for_what_is_needed_soon() -> None:
    """Texts that were far ahead of their players took all threads, and a short turn waited for
    their steps."""

    async def run() -> None:
        pool = Pool(2)
        gate = threading.Event()
        later = asyncio.get_running_loop().time() + 100
        ahead = [
            asyncio.ensure_future(pool.run(lambda: gate.wait(60), deadline=later)) for _ in range(4)
        ]
        await asyncio.sleep(0.05)
        async with opened(gate, ahead):
            await pool.run(lambda: None, deadline=0.0)
        pool.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "how", [{"voice": "dear"}, {"voice": "espeak", "waits": True}], ids=["dear", "waits"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_long_steps_and_expensive_voices_hold_nobody_else(
    threads: int, how: dict[str, Any]
) -> None:
    """Steps of 0.8 s, or of a voice whose process hung, were on all threads at once: a short turn
    waited for them."""

    async def run() -> None:
        pool = Pool(threads)
        gate = threading.Event()
        pool.learn("cheap", 0.006)
        pool.learn("dear", 0.08)
        pool.learn("espeak", 0.006)
        long = [pool.run(lambda: gate.wait(60), deadline=0.0, size=Size.LONG) for _ in "12"]
        dear = [pool.run(lambda: gate.wait(60), deadline=0.0, **how) for _ in "12"]
        steps = [asyncio.ensure_future(job) for job in (*long, *dear)]
        await asyncio.sleep(0.05)
        async with opened(gate, steps):
            for _ in range(2):
                await pool.run(lambda: None, deadline=time.monotonic(), voice="cheap")
        pool.close()

    asyncio.run(run())


@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_that_hangs_holds_no_voice_that_was_not_in_use(threads: int) -> None:
    """Nothing was known of the other voice yet, so all threads had waited."""

    async def run() -> None:
        pool = Pool(threads)
        answered = threading.Event()
        hung = [pool.run(answered.wait, deadline=0.0, voice="espeak", waits=True) for _ in range(3)]
        waiting = [asyncio.ensure_future(job) for job in hung]
        await asyncio.sleep(0.05)
        try:
            async with asyncio.timeout(10):
                await pool.run(lambda: None, deadline=time.monotonic(), voice="cheap")
        finally:
            answered.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        pool.close()

    asyncio.run(run())


def test_who_takes_much_comes_after_others() -> None:
    async def run() -> list[str]:
        pool = Pool(1)
        gate = threading.Event()
        order = list[str]()
        accounts = Accounts(Limits(), 1)
        accounts.of("much").charge(3.0)
        assert accounts.of("much").debt_s == 1.0
        assert accounts.of("little").debt_s == 0.0
        blocking = asyncio.ensure_future(pool.run(lambda: gate.wait(10), deadline=0.0))
        await asyncio.sleep(0.05)
        now = time.monotonic()
        jobs = [
            asyncio.ensure_future(
                pool.run(
                    functools.partial(order.append, name),
                    deadline=now + at,
                    account=accounts.of(name),
                )
            )
            for name, at in (("much", 0.0), ("much", 0.1), ("little", 0.5), ("little", 0.2))
        ]
        await asyncio.sleep(0.05)
        gate.set()
        await asyncio.gather(blocking, *jobs)
        pool.close()
        return order

    assert asyncio.run(run()) == ["little", "little", "much", "much"]


@pytest.mark.parametrize("threads", [1, 2])
def test_who_takes_much_leaves_a_thread_to_others(threads: int) -> None:
    """The steps of one client were on all threads, and another's first word waited for the end of
    one of them."""

    async def run(others: bool) -> None:
        pool = Pool(threads)
        accounts = Accounts(Limits(), 1)
        gate = threading.Event()
        accounts.of("much").charge(10.0)
        running = 0
        most = 0

        def step() -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            gate.wait(60)
            running -= 1

        if others:
            await pool.run(lambda: None, deadline=0.0, account=accounts.of("little"))
        jobs = [pool.run(step, deadline=0.0, account=accounts.of("much")) for _ in range(4)]
        steps = [asyncio.ensure_future(job) for job in jobs]
        await asyncio.sleep(0.05)
        async with opened(gate, steps):
            if others:
                await pool.run(
                    lambda: None, deadline=time.monotonic(), account=accounts.of("little")
                )
            else:
                # Who is alone has all threads.
                while most < threads:
                    await asyncio.sleep(0.01)
        pool.close()

    asyncio.run(run(others=True))
    asyncio.run(run(others=False))


def test_what_is_needed_much_later_is_made_in_the_gaps() -> None:
    async def run() -> tuple[list[str], float]:
        pool = Pool(2)
        order = list[str]()
        begun = time.monotonic()

        def job(name: str, in_s: float) -> asyncio.Future[None]:
            return asyncio.ensure_future(
                pool.run(lambda: order.append(name), deadline=begun + in_s)
            )

        first = job("soon", 0.0)
        await asyncio.sleep(0.05)
        bulk = job("bulk", 60.0)
        near = job("near", 3.0)
        # Somebody needs something soon again and again: a buffer that is full enough waits, one
        # that is not does not.
        for _ in range(4):
            await job("soon", time.monotonic() - begun)
            await asyncio.sleep(0.1)
        await asyncio.gather(first, near)
        before = list(order)
        await bulk
        pool.close()
        return before, time.monotonic() - begun

    before, took_s = asyncio.run(run())
    assert "near" in before
    assert "bulk" not in before
    assert took_s > 0.3 + Pool.GAP_S
