"""Random conversations on one player in simulated time, and a listener who knows every sample.

The sound of the voice says which turn it belongs to and where in it it is, so that the listener needs nobody's count.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sayahead.engine.heard import Heard
from sayahead.sound.device import Player
from sayahead.systems.loading import Loaded
from sayahead.text.english.normalizer import Normalizer
from sayahead.types import Floats, Rendering, Segment, Speech, WordTiming
from sayahead.voice import Voice
from sayahead.voices import Defaults, VoiceConfig
from support.toy import RATE, ToyPhonemizer

LETTER, SPACE, PAUSE = 40, 20, 200
"""Samples of a letter, of the space before a word, and after a sentence."""
SPAN = 8192
"""Samples of a turn, at most."""
SENTENCES = (
    "and ants are apt, all are able. any ant asks again",
    "bees bring big bread, bears bake. boys buy bad beans",
    "cats can come closer, cows cannot. cars cost cash",
    "dogs dig deep ditches, ducks do. dolls drop dead",
    "eggs end early, eels eat each. every eye enjoys evenings",
)
"""What the turns say: all words of one begin with the same letter."""


@dataclass(frozen=True, slots=True)
class CountedState:
    """Which turn it is, and how much of it there has been."""

    turn: int = 0
    samples: int = 0


class Counted:
    """Speaks samples that are numbers: 8192 times the turn's, and the place in it."""

    sample_rate = RATE

    def initial(self, rendering: Rendering) -> CountedState:
        return CountedState()

    def step(self, segment: Segment, state: CountedState) -> tuple[Speech, CountedState]:
        turn, at, words = state.turn, state.samples, list[tuple[int, int]]()
        spoken = segment.ids[: segment.speak]
        if not state.samples and len(spoken):
            turn = int(spoken[0]) - ord("a")
        places = at + np.concatenate([[0], np.cumsum([SPACE if i == 32 else LETTER for i in spoken])]).astype(int)
        words = [(int(places[first]), int(places[end])) for first, end in segment.words]
        ended = segment.ends and segment.speak == len(segment.ids)
        end = int(places[-1]) + PAUSE * ended
        return Speech(numbers(turn, at, end), tuple(words), ended=ended), CountedState(turn, end)


def numbers(turn: int, begin: int, end: int) -> Floats:
    """The samples of a turn from one place to another."""
    codes = turn * SPAN + np.arange(begin, end) - 20480
    return (codes / 32767).astype(np.float32)


def counted_voice() -> Voice:
    """A voice that speaks so."""
    config = VoiceConfig(
        format=3,
        name="counted",
        language="en",
        description="Numbers.",
        license="Apache-2.0",
        source="tests",
        kind="toy",
        sample_rate=RATE,
        hop_length=LETTER,
        files={},
        lead_in_s=0.0,
        pause_s=0.1,
        speed=(1.0, 1.0),
        defaults=Defaults(1, 0.0, 0.0),
        model={},
    )
    return Voice(config, Loaded(Counted(), Normalizer, ToyPhonemizer()))


class NoDevice:
    """Stands in for miniaudio's."""

    def close(self) -> None:
        """Nothing is open."""


class SimulatedPlayer(Player):
    """A player whose device is asked by the test; its time are the samples that were asked for."""

    AHEAD_S = 0.1
    PERIOD_MS = 2
    STUCK_S = 60.0

    def _open(self, sample_rate: int, device: str | None, backends: Sequence[Any] | None) -> NoDevice:
        return NoDevice()

    def _start(self, feed: Generator[bytes, int, None]) -> None:
        self.output = list[int]()
        """Every sample that was heard, silence left out."""
        self._feed = feed

    def advance(self, samples: int) -> int:
        """Play for so many samples; how many of them were sound."""
        data = np.frombuffer(self._feed.send(samples), "<i2")
        self.output += (data.astype(int) + 20480).tolist()
        return len(data)

    def wait(self) -> None:
        """Let the others go on: until something happens, or for a moment."""
        with self._queue._changed:
            if not self._queue._tracks:
                self._queue._changed.wait(0.0005)


class Speaker(Protocol):
    """What speaks turns: the voice or a client, each with or without asyncio."""

    def speak(self, text: Any) -> Any: ...

    def speech(self) -> Any: ...

    def play(self, speech: Any, player: Player) -> Future[Heard]:
        """Begin to play."""
        ...

    def stop(self, playing: Future[Heard], *, late: bool) -> None:
        """Cancel the task that plays, or let its time be over, and wait for its end; threads cannot be stopped."""
        ...

    def call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a method of a speech."""
        ...


class InThreads:
    """By play(), in a thread for each turn."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def speak(self, text: Any) -> Any:
        return self._source.speak(text)

    def speech(self) -> Any:
        return self._source.speech()

    def play(self, speech: Any, player: Player) -> Future[Heard]:
        playing = Future[Heard]()

        def run() -> None:
            try:
                playing.set_result(speech.play(player))
            except BaseException as error:
                playing.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return playing

    def stop(self, playing: Future[Heard], *, late: bool) -> None: ...

    def call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        return method(*arguments)


class InLoop:
    """By aplay(), in tasks of a loop."""

    def __init__(self, source: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._source, self._loop = source, loop
        # How each task that plays can be stopped.
        self._stops = dict[Future[Heard], tuple[Callable[[], object], Callable[[], object]]]()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def speak(self, text: Any) -> Any:
        async def begin() -> Any:
            return self._source.speak(text)

        return self._run(begin())

    def speech(self) -> Any:
        async def begin() -> Any:
            return self._source.speech()

        return self._run(begin())

    def play(self, speech: Any, player: Player) -> Future[Heard]:
        playing, begun = Future[Heard](), threading.Event()

        async def run() -> None:
            task = asyncio.current_task()
            assert task is not None
            try:
                async with asyncio.timeout(None) as deadline:
                    self._stops[playing] = task.cancel, lambda: deadline.reschedule(self._loop.time())
                    begun.set()
                    playing.set_result(await speech.aplay(player))
            except BaseException as error:
                playing.set_exception(error)
                raise
            finally:
                del self._stops[playing]

        asyncio.run_coroutine_threadsafe(run(), self._loop)
        assert begun.wait(30)
        return playing

    def stop(self, playing: Future[Heard], *, late: bool) -> None:
        if playing in self._stops:
            self._loop.call_soon_threadsafe(self._stops[playing][late])
            outcome(playing)

    def call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        async def run() -> Any:
            result = method(*arguments)
            return await result if asyncio.iscoroutine(result) else result

        return self._run(run())


class ModelError(Exception):
    """The text's own."""


ENDS = ("nothing", "nothing", "cancel", "cancel", "thread", "task", "timeout", "error", "clear", "before")
"""How turns end."""


@dataclass
class Turn:
    """What happens to one turn."""

    number: int
    text: str
    source: str
    """str, list, generator, async or pushed."""
    end: str
    at: int
    """Samples of the turn after which that happens."""
    speech: Any = None
    playing: Future[Heard] | None = None
    heard: Heard | None = None
    """What it said when it was over."""
    gate: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    """Whether the text was closed."""

    endless: bool = False
    """Whether the text does not end by itself."""

    @property
    def error(self) -> bool:
        """Whether its text ends by an error."""
        return self.end == "error"


class Conversation:
    """One history: turns on one player, made of a seed."""

    def __init__(self, seed: int, speaker: Speaker, *, loop: bool) -> None:
        self._random = random.Random(seed)
        self._speaker = speaker
        self._player = SimulatedPlayer(RATE)
        choose = self._random.choice
        sources = ["str", "list", "generator", "pushed", *(["async"] if loop else [])]
        self.turns = list[Turn]()
        for number in range(self._random.randint(2, 5)):
            text = SENTENCES[number]
            if self._random.random() < 0.1:
                text = choose(["", " "])
            source, end = choose(sources), choose(ENDS)
            if end == "error" and source not in ("generator", "async"):
                end = "cancel"
            if end in ("task", "timeout") and not loop:
                end = "thread"
            at = self._random.randint(0, 2200)
            endless = source == "async" and end in ("cancel", "thread", "task", "timeout") and at % 2 == 1
            if endless:
                # There is so much sound before the end.
                at = min(at, 600) if text.strip() else 0
            self.turns.append(Turn(number, text, source, end, at, endless=endless))

    def hold(self) -> None:
        """Hold it, and check what was heard."""
        try:
            for turn in self.turns:
                self._begin(turn)
                self._listen(turn)
                self._settle(turn)
            for turn in self.turns:
                self._check_frozen(turn)
            self._check_sound()
        finally:
            self._player.close()

    def _begin(self, turn: Turn) -> None:
        match turn.source:
            case "pushed":
                turn.speech = self._speaker.speech()
                self._speaker.call(turn.speech.push, turn.text[: self._random.randint(0, 20)])
            case "str":
                turn.speech = self._speaker.speak(turn.text)
            case "list":
                turn.speech = self._speaker.speak(self._pieces(turn.text))
            case "generator":
                turn.speech = self._speaker.speak(self._generated(turn))
            case _:
                turn.speech = self._speaker.speak(self._agenerated(turn))
        if turn.end == "before":
            turn.heard = self._speaker.call(turn.speech.cancel)
        turn.playing = self._speaker.play(turn.speech, self._player)
        if turn.source == "pushed" and turn.end != "before":
            self._push(turn)

    def _pieces(self, text: str) -> list[str]:
        pieces = list[str]()
        while text:
            size = self._random.randint(1, 12)
            pieces.append(text[:size])
            text = text[size:]
        return pieces

    def _generated(self, turn: Turn) -> Iterator[str]:
        pieces, broken = self._pieces(turn.text), self._random.randint(0, 4)
        try:
            for number, piece in enumerate(pieces):
                if turn.error and number >= broken:
                    turn.gate.wait(30)
                    raise ModelError
                yield piece
            if turn.error:
                turn.gate.wait(30)
                raise ModelError
        finally:
            turn.closed.set()

    async def _agenerated(self, turn: Turn) -> AsyncIterator[str]:
        try:
            for piece in self._pieces(turn.text):
                yield piece
            if turn.error:
                # The device stands still meanwhile.
                await asyncio.to_thread(turn.gate.wait, 30)
                raise ModelError
            if turn.endless:
                # A model that never ends.
                await asyncio.sleep(3600)
        finally:
            turn.closed.set()

    def _push(self, turn: Turn) -> None:
        """The rest of a text, with a change and flushes in it."""
        speech, call = turn.speech, self._speaker.call
        rest = turn.text[len(speech.text) :]
        for piece in self._pieces(rest):
            call(speech.push, piece)
            if piece.endswith(" ") and self._random.random() < 0.3:
                call(speech.flush)
        if self._random.random() < 0.5 and turn.text.strip():
            at = self._random.randint(0, len(speech.text))
            call(speech.revise, at, " " + turn.text.split()[-1] + ". ")
        call(speech.finish)

    def _listen(self, turn: Turn) -> None:
        """Play until the turn is over; what is to happen to it happens when it has come so far."""
        player, playing = self._player, turn.playing
        assert playing is not None
        begin, done = len(player.output), turn.end in ("nothing", "before")
        patience = time.monotonic() + 30
        while not playing.done():
            assert time.monotonic() < patience, f"it goes on for ever: {turn}, {turn.speech.text!r}"
            period = self._random.randint(1, 60)
            left = turn.at - (len(player.output) - begin)
            if not done and left <= 0:
                self._happen(turn)
                done = True
                continue
            queued = player.written() - player.played()
            played = player.advance(period if done else min(period, left))
            assert played >= min(queued, period if done else min(period, left)), "silence before what is queued"
            if not played:
                player.wait()
                if turn.error:
                    # What it waits for never comes before the error.
                    turn.gate.set()
        if not done:
            # It was over before.
            turn.gate.set()
        if turn.end == "before":
            assert len(player.output) == begin

    def _happen(self, turn: Turn) -> None:
        """Time stands still until it has happened."""
        speech, call = turn.speech, self._speaker.call
        assert turn.playing is not None
        count = len(self._player.output)
        match turn.end:
            case "cancel":
                turn.heard = call(speech.cancel)
            case "thread":
                thread = threading.Thread(target=lambda: setattr(turn, "heard", call(speech.cancel)))
                thread.start()
                thread.join(30)
            case "task" | "timeout":
                self._speaker.stop(turn.playing, late=turn.end == "timeout")
            case "clear":
                self._player.clear()
            case "error":
                turn.gate.set()
                outcome(turn.playing)
        assert len(self._player.output) == count

    def _settle(self, turn: Turn) -> None:
        """How the turn ended, as whoever played it was told."""
        assert turn.playing is not None
        told = outcome(turn.playing)
        if turn.end in ("task", "timeout") and not isinstance(told, Heard):
            assert isinstance(told, TimeoutError if turn.end == "timeout" else asyncio.CancelledError)
        elif turn.error:
            assert isinstance(told, ModelError), told
        else:
            assert isinstance(told, Heard), told
            assert turn.heard in (None, told), (turn.heard, told)
        turn.heard = turn.speech.heard()
        if turn.source == "generator" and turn.speech.text:
            assert turn.closed.wait(30)
        if turn.source == "async" and turn.speech.text:
            assert turn.closed.is_set()
        # Late calls change nothing, and touch nobody.
        late = self._random.choice(self.turns[: turn.number + 1])
        if late.speech is not None:
            self._check_frozen(late)

    def _check_frozen(self, turn: Turn) -> None:
        queued = self._player.written() - self._player.played()
        assert self._speaker.call(turn.speech.cancel) == turn.heard
        assert self._speaker.call(turn.speech.cancel, 0.5) == turn.speech.heard(0.1) == turn.heard
        assert self._player.written() - self._player.played() == queued

    def _check_sound(self) -> None:
        """What each turn says was heard, against what was heard."""
        output, at = self._player.output, 0
        for turn in self.turns:
            heard = turn.heard
            assert heard is not None
            count = round(heard.played_s * RATE)
            assert heard.played_s == count / RATE
            assert output[at : at + count] == list(range(turn.number * SPAN, turn.number * SPAN + count)), turn
            at += count
            self._check_words(turn, heard, count)
        assert at == len(output), "sound of a turn that was over"

    def _check_words(self, turn: Turn, heard: Heard, count: int) -> None:
        text = turn.speech.text
        assert heard.text + heard.unsaid == text, (heard, text)
        words: list[WordTiming] = turn.speech.words
        for word in words:
            assert text[word.start : word.end].strip() == word.text, (word, text)
            assert word.offset - word.onset == LETTER * len(word.text)
        for before, after in itertools.pairwise(words):
            assert after.onset - before.offset in (SPACE, PAUSE), (before, after)
        spoken = [word for word in words if (word.onset + word.offset) // 2 < count]
        assert heard.words == len(spoken), (heard, words)
        assert heard.end == (spoken[-1].end if spoken else 0)
        if turn.end == "nothing":
            assert not heard.interrupted, heard
            assert not heard.unsaid.strip(), heard
        if heard.unsaid.strip():
            assert heard.interrupted, heard
        assert [bool(message["content"]) for message in heard.messages()] == [True] * bool(message_text(heard))


def message_text(heard: Heard) -> str:
    """What is to be in a message about it."""
    return (heard.text if heard.interrupted else heard.text + heard.unsaid).strip()


def outcome(playing: Future[Heard]) -> object:
    """What came of it: a result or an error."""
    try:
        return playing.result(30)
    except BaseException as error:
        return error
