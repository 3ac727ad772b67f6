"""Random conversations on one player in simulated time, and a listener who knows every sample.

The sound of the voice says which turn it belongs to and where in it it is, so that the listener
needs nobody's count."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sayahead.engine.heard import Heard
from sayahead.errors import SessionError
from sayahead.sound.device import Player
from sayahead.sound.files import OutputError
from sayahead.systems.loading import Loaded
from sayahead.text.reading.stream import new_reader
from sayahead.types import Floats, Rendering, Segment, SynthesizedAudio, WordTiming
from sayahead.voice import Voice
from sayahead.voices import Defaults, VoiceConfig
from support.toy import RATE, ToyPhonemizer

LETTER = 40
SPACE = 20
PAUSE = 200
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

    def step(self, segment: Segment, state: CountedState) -> tuple[SynthesizedAudio, CountedState]:
        turn = state.turn
        at = state.samples
        words = list[tuple[int, int]]()
        spoken = segment.ids[: segment.speak]
        if not state.samples and len(spoken):
            turn = int(spoken[0]) - ord("a")
        places = at + np.concatenate(
            [[0], np.cumsum([SPACE if i == 32 else LETTER for i in spoken])]
        ).astype(int)
        words = [(int(places[first]), int(places[end])) for first, end in segment.spans]
        ended = segment.closes
        end = int(places[-1]) + PAUSE * ended
        audio = SynthesizedAudio(numbers(turn, at, end), tuple(words), ended=ended)
        return audio, CountedState(turn, end)


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
    return Voice(config, Loaded(Counted(), new_reader, ToyPhonemizer()))


class NoDevice:
    """Stands in for miniaudio's."""

    def close(self) -> None:
        """Nothing is open."""


class SimulatedPlayer(Player):
    """A player whose device is asked by the test; its time are the samples that were asked for."""

    AHEAD_S = 0.1
    PERIOD_MS = 2
    STUCK_S = 60.0

    def _open(
        self, sample_rate: int, device: str | None, backends: Sequence[Any] | None
    ) -> NoDevice:
        return NoDevice()

    def _start(self, feed: Generator[bytes, int, None]) -> None:
        self.output = list[int]()
        """Every sample that was heard, silence left out."""
        self.counts = Counter[int]()
        """How many samples of each turn were heard."""
        self.lost = False
        """Whether the device has disappeared."""
        self._feed = feed

    def advance(self, samples: int) -> int:
        """Play for so many samples; how many of them were sound."""
        data = np.frombuffer(self._feed.send(samples), "<i2").astype(int) + 20480
        self.output += data.tolist()
        self.counts.update((data // SPAN).tolist())
        return len(data)

    def wait(self) -> None:
        """Let the others go on: until something happens, or for a moment."""
        with self._queue._changed:
            if self.lost:
                # Nobody shall wait for the device by a clock.
                self._queue._changed.notify_all()
            if self.lost or not self._queue._tracks:
                self._queue._changed.wait(0.0005)

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._queue.closed

    def lose(self) -> None:
        """The device takes nothing any more, which is noticed at once."""
        self.lost = True
        self._queue._stuck_s = 0.0


class Speaker(Protocol):
    """What speaks turns: the voice or a client, each with or without asyncio."""

    def speak(self, text: Any) -> Any: ...

    def open_speech(self) -> Any: ...

    def play(self, speech: Any, player: Player) -> Future[Heard]:
        """Begin to play."""
        ...

    def stop(self, playing: Future[Heard], *, late: bool) -> None:
        """Cancel the task that plays, or let its time be over, and wait for its end; threads cannot
        be stopped."""
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

    def open_speech(self) -> Any:
        return self._source.open_speech()

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
        self._source = source
        self._loop = loop
        # How each task that plays can be stopped.
        self._stops = dict[Future[Heard], tuple[Callable[[], object], Callable[[], object]]]()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def speak(self, text: Any) -> Any:
        async def begin() -> Any:
            return self._source.speak(text)

        return self._run(begin())

    def open_speech(self) -> Any:
        async def begin() -> Any:
            return self._source.open_speech()

        return self._run(begin())

    def play(self, speech: Any, player: Player) -> Future[Heard]:
        playing = Future[Heard]()
        begun = threading.Event()

        async def run() -> None:
            task = asyncio.current_task()
            assert task is not None
            try:
                async with asyncio.timeout(None) as deadline:
                    self._stops[playing] = (
                        task.cancel,
                        lambda: deadline.reschedule(self._loop.time()),
                    )
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


ENDS = (
    "nothing",
    "nothing",
    "cancel",
    "cancel",
    "thread",
    "task",
    "timeout",
    "error",
    "clear",
    "before",
)
"""How turns end."""
LAST_ENDS = ("close", "lose")
"""How the player may end, and all turns that are played on it."""


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
    after: float
    """Samples of all turns after which it begins, although another one is still heard."""
    speech: Any = None
    playing: Future[Heard] | None = None
    heard: Heard | None = None
    """What it said when it was over."""
    gate: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    """Whether the text was closed."""

    endless: bool = False
    """Whether the text does not end by itself."""
    happened: bool = False
    """Whether what ends it has happened."""
    patience: float = 0.0
    """When it should have ended long ago, by the clock."""
    silenced: bool = False
    """Whether the player was cleared, closed or lost meanwhile."""

    @property
    def error(self) -> bool:
        """Whether its text ends by an error."""
        return self.end == "error"


class Conversation:
    """One history: turns on one player, some of them at the same time, made of a seed."""

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
            source = choose(sources)
            end = choose(ENDS)
            if self._random.random() < 0.06:
                end = choose(LAST_ENDS)
            if end == "error" and source not in ("generator", "async"):
                end = "cancel"
            if end in ("task", "timeout") and not loop:
                end = "thread"
            at = self._random.randint(0, 2200)
            endless = (
                source == "async"
                and end not in ("nothing", "before", "error", "lose")
                and at % 2 == 1
            )
            if endless:
                # There is so much sound before the end.
                at = min(at, 600) if text.strip() else 0
            # Two in three wait for all that came before.
            after = self._random.choice((math.inf, math.inf, self._random.randint(0, 1500)))
            self.turns.append(Turn(number, text, source, end, at, after, endless=endless))

    def hold(self) -> None:
        """Hold it, and check what was heard."""
        try:
            waiting = list(self.turns)
            active = list[Turn]()
            while waiting or active:
                while waiting and (not active or self._heard_of(active) >= waiting[0].after):
                    active.append(waiting.pop(0))
                    self._begin(active[-1])
                self._listen(active)
                for turn in [
                    turn for turn in active if turn.playing is not None and turn.playing.done()
                ]:
                    active.remove(turn)
                    self._settle(turn)
            for turn in self.turns:
                self._check_frozen(turn)
            self._check_sound()
        finally:
            self._player.close()

    def _heard_of(self, turns: Sequence[Turn]) -> int:
        return sum(self._player.counts[turn.number] for turn in turns)

    def _begin(self, turn: Turn) -> None:
        turn.patience = time.monotonic() + 30
        match turn.source:
            case "pushed":
                turn.speech = self._speaker.open_speech()
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
        turn.silenced = self._player.lost or self._player.closed
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
        pieces = self._pieces(turn.text)
        broken = self._random.randint(0, 4)
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
        """The rest of a text, with a change and flushes in it; it may be over before."""
        speech = turn.speech
        call = self._speaker.call
        try:
            rest = turn.text[len(speech.text) :]
            for piece in self._pieces(rest):
                call(speech.push, piece)
                if piece.endswith(" ") and self._random.random() < 0.3:
                    call(speech.flush)
            if self._random.random() < 0.5 and turn.text.strip():
                at = self._random.randint(0, len(speech.text))
                call(speech.revise, at, " " + turn.text.split()[-1] + ". ")
        except SessionError:
            assert turn.silenced
        call(speech.finish)

    def _listen(self, turns: Sequence[Turn]) -> None:
        """Play for a moment; what is to happen to a turn happens when it has come so far."""
        player = self._player
        period = self._random.randint(1, 60)
        for turn in turns:
            assert time.monotonic() < turn.patience, (
                f"it goes on for ever: {turn}, {turn.speech.text!r}"
            )
            left = turn.at - player.counts[turn.number]
            if turn.playing is None or turn.playing.done():
                # It was over before.
                turn.gate.set()
                continue
            if turn.happened or turn.end in ("nothing", "before"):
                continue
            if left <= 0 or (turn.endless and player.lost):
                turn.happened = True
                self._happen(turn, turns)
            else:
                period = min(period, left)
        if player.lost:
            played = 0
        else:
            queued = player.written() - player.played()
            played = player.advance(period)
            assert played >= min(queued, period), "silence before what is queued"
        if self._random.random() < 0.02:
            self._pause()
        if not played:
            player.wait()
            for turn in turns:
                if turn.error:
                    # What it waits for never comes before the error.
                    turn.gate.set()

    def _pause(self) -> None:
        """While it is paused, nothing is heard."""
        self._player.pause()
        assert self._player.lost or not self._player.advance(20)
        self._player.resume()

    def _happen(self, turn: Turn, turns: Sequence[Turn]) -> None:
        """Time stands still until it has happened."""
        speech = turn.speech
        call = self._speaker.call
        assert turn.playing is not None
        count = len(self._player.output)
        match turn.end:
            case "cancel":
                turn.heard = call(speech.cancel)
            case "thread":
                thread = threading.Thread(
                    target=lambda: setattr(turn, "heard", call(speech.cancel))
                )
                thread.start()
                thread.join(30)
            case "task" | "timeout":
                self._speaker.stop(turn.playing, late=turn.end == "timeout")
            case "clear" | "close" | "lose":
                for other in turns:
                    other.silenced = True
                getattr(self._player, turn.end)()
            case "error":
                turn.gate.set()
                outcome(turn.playing)
        assert len(self._player.output) == count

    def _settle(self, turn: Turn) -> None:
        """How the turn ended, as whoever played it was told."""
        assert turn.playing is not None
        turn.gate.set()
        told = outcome(turn.playing)
        expected: tuple[type, ...] = (Heard,)
        if turn.end in ("task", "timeout"):
            expected += (TimeoutError if turn.end == "timeout" else asyncio.CancelledError,)
        elif turn.error:
            expected = (ModelError, *(expected if turn.silenced else ()))
        if turn.silenced and self._player.lost:
            expected += (OutputError,)
        assert isinstance(told, expected), (turn, told)
        if isinstance(told, Heard):
            assert turn.heard in (None, told), (turn.heard, told)
        turn.heard = turn.speech.heard()
        if turn.source == "generator" and turn.speech.text:
            assert turn.closed.wait(30), turn
        if turn.source == "async" and turn.speech.text:
            assert turn.closed.is_set(), turn
        # Late calls change nothing, and touch nobody.
        self._check_frozen(
            self._random.choice([turn for turn in self.turns if turn.heard is not None])
        )

    def _check_frozen(self, turn: Turn) -> None:
        # Time stands still, but others may make more sound meanwhile, or end by themselves.
        ending = any(
            other.playing and not other.playing.done() and (other.error or other.silenced)
            for other in self.turns
        )
        queued = 0 if ending else self._player.written() - self._player.played()
        assert self._speaker.call(turn.speech.cancel) == turn.heard
        assert self._speaker.call(turn.speech.cancel, 0.5) == turn.speech.heard(0.1) == turn.heard
        assert self._player.written() - self._player.played() >= queued

    def _check_sound(self) -> None:
        """What each turn says was heard, against what was heard."""
        output = self._player.output
        for turn in self.turns:
            heard = turn.heard
            assert heard is not None
            count = round(heard.played_s * RATE)
            assert heard.played_s == count / RATE
            own = [
                sample - turn.number * SPAN for sample in output if sample // SPAN == turn.number
            ]
            assert own == list(range(count)), turn
            self._check_words(turn, heard, count)
        assert sum(self._player.counts.values()) == len(output)

    def _check_words(self, turn: Turn, heard: Heard, count: int) -> None:
        text = turn.speech.text
        assert heard.text + heard.unsaid == text, (heard, text)
        words: list[WordTiming] = turn.speech.words
        for word in words:
            assert text[word.start : word.end].strip() == word.text, (word, text)
            assert word.offset_samples - word.onset_samples == LETTER * len(word.text)
        for before, after in itertools.pairwise(words):
            assert after.onset_samples - before.offset_samples in (SPACE, PAUSE), (before, after)
        spoken = [word for word in words if (word.onset_samples + word.offset_samples) // 2 < count]
        assert heard.word_count == len(spoken), (heard, words)
        assert heard.end == (spoken[-1].end if spoken else 0)
        if turn.end == "nothing" and not turn.silenced:
            assert not heard.interrupted, heard
            assert not heard.unsaid.strip(), heard
        if heard.unsaid.strip():
            assert heard.interrupted, heard
        assert [bool(message["content"]) for message in heard.messages()] == [True] * bool(
            message_text(heard)
        )


def message_text(heard: Heard) -> str:
    """What is to be in a message about it."""
    return (heard.text if heard.interrupted else heard.text + heard.unsaid).strip()


def outcome(playing: Future[Heard]) -> object:
    """What came of it: a result or an error."""
    try:
        return playing.result(30)
    except BaseException as error:
        return error
