"""Interrupted anywhere, a turn says exactly what was heard, and the next one begins at once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.effort import FULL
from support.servers import serving
from support.turns import (
    SENTENCES,
    Conversation,
    InLoop,
    InThreads,
    ModelError,
    SimulatedPlayer,
    Speaker,
    counted_voice,
)

from sayahead import ConfigError, Heard, OutputError
from sayahead.client import AsyncClient, Client
from sayahead.speech.reader import READ_AHEAD
from sayahead.types import WordTiming

PARTS = 10
HISTORIES = 20_000 if FULL else 200
SOCKETS = 500 if FULL else 10
"""How many conversations are held, half of them with asyncio."""


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever, daemon=True)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join(10)
    running.close()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_what_was_heard_is_exact_in_this_process(
    part: int, loop: asyncio.AbstractEventLoop
) -> None:
    voice = counted_voice()
    for seed in range(part, HISTORIES, PARTS):
        speaker = InLoop(voice, loop) if seed // PARTS % 2 else InThreads(voice)
        Conversation(seed, speaker, loop=bool(seed // PARTS % 2)).hold()


@pytest.mark.timeout(3600)
def test_what_was_heard_is_exact_over_sockets(loop: asyncio.AbstractEventLoop) -> None:
    with serving(voice=counted_voice(), step_words=1) as running:
        with Client(running.ws) as client:
            for seed in range(0, SOCKETS, 2):
                Conversation(seed, InThreads(client), loop=False).hold()

        async def connected() -> AsyncClient:
            return await AsyncClient(running.ws).__aenter__()

        other = asyncio.run_coroutine_threadsafe(connected(), loop).result(30)
        for seed in range(1, SOCKETS, 2):
            Conversation(seed, InLoop(other, loop), loop=True).hold()
        asyncio.run_coroutine_threadsafe(other.__aexit__(), loop).result(30)
        running.settle()


TURNS = 10_000 if FULL else 90
"""After so many nothing may be left."""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_nothing_is_left_of_turns_that_are_over(loop: asyncio.AbstractEventLoop) -> None:
    """Threads, descriptors, tasks and objects: as many after all of them as after the first
    ones."""
    voice = counted_voice()
    with serving(voice=counted_voice(), step_words=1) as running, Client(running.ws) as client:
        speakers: list[Speaker] = [InThreads(voice), InLoop(voice, loop), InThreads(client)]

        def hold(begin: int, end: int) -> Left:
            turns = 0
            seed = begin
            while turns < end - begin:
                # One in fifty goes over the socket, which takes longer.
                which = 2 if seed % 50 == 0 else seed % 2
                conversation = Conversation(seed, speakers[which], loop=which == 1)
                conversation.hold()
                turns = turns + len(conversation.turns)
                seed = seed + 1
            return left(loop)

        first = hold(0, TURNS // 3)
        last = hold(TURNS // 3, TURNS)
    assert last.threads <= first.threads + 2, (first, last)
    assert last.descriptors <= first.descriptors + 2, (first, last)
    assert last.tasks <= first.tasks, (first, last)
    assert last.objects <= first.objects + 2000, (first, last)


@dataclass(frozen=True)
class Left:
    """What a process holds."""

    threads: int
    descriptors: int
    tasks: int
    objects: int


def left(loop: asyncio.AbstractEventLoop) -> Left:
    """What is held once all that was begun has ended."""

    async def tasks() -> int:
        return len(asyncio.all_tasks())

    def count() -> Left:
        gc.collect()
        descriptors = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
        running = asyncio.run_coroutine_threadsafe(tasks(), loop).result(30)
        # The threads of executors come and stay as they are needed.
        threads = sum(not thread.name.startswith("asyncio") for thread in threading.enumerate())
        return Left(threads, descriptors, running, len(gc.get_objects()))

    last = count()
    for _ in range(200):
        # What was stopped may still be on its way.
        threading.Event().wait(0.05)
        now = count()
        if (now.threads, now.tasks) == (last.threads, last.tasks):
            break
        last = now
    return now


@pytest.fixture
def player() -> Iterator[SimulatedPlayer]:
    simulated = SimulatedPlayer(8000)
    yield simulated
    simulated.close()


def test_a_text_is_read_while_nobody_listens_within_a_bound(player: SimulatedPlayer) -> None:
    """The device stands still; the model writes on, up to 20,000 characters ahead."""
    count = 0
    full = threading.Event()

    def endless() -> Iterator[str]:
        nonlocal count
        while True:
            yield "bees bring big bread. "
            count += 1
            if count * 22 >= READ_AHEAD:
                full.set()

    speech = counted_voice().speak(endless())
    playing = InThreads(None).play(speech, player)
    assert full.wait(60)
    heard = speech.cancel()
    assert heard == playing.result(30)
    assert (heard.word_count, heard.interrupted) == (0, True)
    assert READ_AHEAD <= len(speech.text) < READ_AHEAD + 2000
    assert heard.unsaid == speech.text == speech.unsaid


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_error_of_the_text_is_raised_while_the_player_stands_still(
    player: SimulatedPlayer, loop: asyncio.AbstractEventLoop, asynchronous: bool
) -> None:
    def broken() -> Iterator[str]:
        yield "bees bring big bread, bears bake. " * 20
        raise ModelError

    speaker = InLoop(counted_voice(), loop) if asynchronous else InThreads(counted_voice())
    speech = speaker.speak(broken())
    playing = speaker.play(speech, player)
    with pytest.raises(ModelError):
        playing.result(60)
    assert speech.heard().interrupted
    assert player.written() == player.played() == 0


def test_a_turn_that_ends_while_its_last_word_is_made_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = counted_voice().session()
    heard = list[Heard]()
    session.push("bees bring big bread")
    session.finish()
    add = session.transcript.add

    def meanwhile(words: Sequence[WordTiming]) -> None:
        # As another thread would, just before the word is known.
        if any(word.text == "bread" for word in words):
            heard.append(session.cancel())
        add(words)

    monkeypatch.setattr(session.transcript, "add", meanwhile)
    list(session.chunks())
    assert [(each.text, each.unsaid, each.interrupted) for each in heard] == [
        ("bees bring big", " bread", True)
    ]


def test_a_model_that_pauses_is_heard_out_whatever_iterator_it_is() -> None:
    """The last words come although the generator stands still; only then it goes on."""
    spoken = threading.Event()

    def pausing() -> Iterator[str]:
        yield "bees bring big bread"
        assert spoken.wait(60)
        yield " and bake. "

    speech = counted_voice().speak(pausing(), idle_s=0.01)
    for _ in speech:
        if [word.text for word in speech.words][-1:] == ["bread"]:
            spoken.set()
    assert [word.text for word in speech.words] == "bees bring big bread and bake.".split()


def test_a_text_that_nobody_wants_any_more_is_closed() -> None:
    closed = threading.Event()
    waiting = threading.Event()
    gate = threading.Event()

    def text() -> Iterator[str]:
        try:
            yield "bees bring big bread. "
            waiting.set()
            # A piece that is long in coming.
            assert gate.wait(60)
            yield "boys buy"
        finally:
            closed.set()

    for chunk in counted_voice().stream(text()):
        assert chunk
        break
    assert waiting.wait(60)
    gate.set()
    # Nobody holds the stream.
    assert closed.wait(60)


def test_a_player_that_closes_or_is_stuck_ends_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedPlayer, "STUCK_S", 0.3)
    stuck = SimulatedPlayer(8000)
    speech = counted_voice().speak(SENTENCES[0] * 5)
    with pytest.raises(OutputError, match="has accepted no sound"):
        speech.play(stuck)
    assert speech.heard() == speech.cancel()
    assert speech.heard().interrupted
    monkeypatch.setattr(SimulatedPlayer, "STUCK_S", 60.0)
    closing = SimulatedPlayer(8000)
    speech = counted_voice().speak(SENTENCES[0] * 5)
    playing = InThreads(None).play(speech, closing)
    while not closing.advance(100):
        closing.wait()
    closing.close()
    heard = playing.result(60)
    assert heard == speech.heard()
    assert 0 < heard.played_s <= 100 / 8000
    assert counted_voice().speak("and").play(closing).interrupted


@pytest.mark.parametrize("end", ["clear", "close"])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("remote", [False, True])
def test_a_turn_ends_with_its_player_though_the_model_is_silent(
    loop: asyncio.AbstractEventLoop, remote: bool, asynchronous: bool, end: str
) -> None:
    """Nobody waits for the text: it may come in an hour, or never."""
    gate = threading.Event()
    player = SimulatedPlayer(8000)

    def text() -> Iterator[str]:
        yield "bees bring big bread. "
        gate.wait(60)

    async def connected(url: str) -> AsyncClient:
        return await AsyncClient(url).__aenter__()

    with contextlib.ExitStack() as stack:
        stack.callback(gate.set)
        source: object = counted_voice()
        if remote:
            running = stack.enter_context(serving(voice=counted_voice(), step_words=1))
            if asynchronous:
                client = asyncio.run_coroutine_threadsafe(connected(running.ws), loop).result(30)
                source = client
                stack.callback(
                    lambda: asyncio.run_coroutine_threadsafe(client.__aexit__(), loop).result(30)
                )
            else:
                source = stack.enter_context(Client(running.ws))
        speaker = InLoop(source, loop) if asynchronous else InThreads(source)
        speech = speaker.speak(text())
        playing = speaker.play(speech, player)
        while not player.advance(100):
            player.wait()
        getattr(player, end)()
        assert playing.result(30) == speech.heard()
        assert speech.heard().interrupted


PROGRAM = """
import numpy, sayahead
player = sayahead.Player(8000, device="null")
player.write(numpy.zeros(4000, numpy.float32))
"""


@pytest.mark.parametrize(
    "rest", ["", "def f(player): player.volume = 0.5\nf(player)", "raise SystemExit(3)", "1 / 0"]
)
def test_a_program_that_does_not_close_its_player_ends(rest: str) -> None:
    pytest.importorskip("miniaudio")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + rest], capture_output=True, timeout=250, check=False
    )
    assert done.returncode == {"raise SystemExit(3)": 3, "1 / 0": 1}.get(rest, 0)


@pytest.mark.parametrize(
    ("heard", "content"),
    [
        (Heard(1, 4, "Yes.", 1.0), "Yes."),
        (Heard(1, 4, "Yes.", 1.0, " 🙂 "), "Yes. 🙂"),
        (Heard(2, 10, "The museum", 1.0, " opens.", interrupted=True), "The museum —"),
        (Heard(0, 0, "", 0.0, "The museum", interrupted=True), None),
        (Heard(0, 0, "", 0.0), None),
    ],
)
def test_the_message_for_a_models_history(heard: Heard, content: str | None) -> None:
    expected = [] if content is None else [{"role": "assistant", "content": content}]
    assert heard.messages() == heard.messages("anthropic") == heard.messages("ollama") == expected
    parts = [] if content is None else [{"role": "model", "parts": [{"text": content}]}]
    assert heard.messages("gemini") == parts
    unmarked = [{"role": "assistant", "content": content.removesuffix(" —")}] if content else []
    assert heard.messages(mark="") == unmarked
    with pytest.raises(ConfigError, match=r"api 'openia' is unknown \(did you mean 'openai'"):
        heard.messages("openia")
