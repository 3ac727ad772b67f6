"""A text on its way to sound: iterated, flushed, cancelled, played, saved."""

from __future__ import annotations

import asyncio
import io
import threading
import time
import wave
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from support.servers import toy_voice

import sayahead
from sayahead import AudioChunk, Flush, Heard, Revision
from sayahead.errors import ConfigError, SessionError, TextError
from sayahead.sound.device import Player, samples_for_device
from sayahead.sound.formats import AudioFormat, encoder
from sayahead.types import Floats, WordTiming

pytestmark = pytest.mark.smoke

TEXT = "one two three, four five six. seven eight nine ten. "


def samples(chunks: list[AudioChunk]) -> Floats:
    return np.concatenate([chunk.samples for chunk in chunks])


def whole(text: str = TEXT) -> Floats:
    return toy_voice().synthesize(text)


async def slowly(*parts: str, pause_s: float = 0.0) -> AsyncIterator[str]:
    for part in parts:
        yield part
        await asyncio.sleep(pause_s)


@pytest.mark.parametrize("text", [TEXT, list(TEXT), iter([TEXT[:20], TEXT[20:]])])
def test_it_is_iterated(text: Any) -> None:
    speech = toy_voice().speak(text)
    chunks = list(speech)
    assert np.array_equal(samples(chunks), whole())
    assert speech.words == [word for chunk in chunks for word in chunk.words]
    assert [TEXT[word.start : word.end] for word in speech.words] == TEXT.split()
    assert {chunk.sample_rate for chunk in chunks} == {speech.sample_rate}


@pytest.mark.parametrize("text", [lambda: TEXT, lambda: list(TEXT), lambda: slowly(*TEXT)])
def test_it_is_iterated_by_asyncio(text: Any) -> None:
    async def run() -> None:
        speech = toy_voice().speak(text())
        threads = set[int]()
        chunks = list[AudioChunk]()
        async for chunk in speech:
            chunks.append(chunk)
            threads.add(threading.get_ident())
        assert np.array_equal(samples(chunks), whole())
        assert [word.text for word in speech.words] == TEXT.split()
        assert threads == {threading.get_ident()}

    asyncio.run(run())


def test_text_by_async_is_not_for_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="use `async for`"):
        list(toy_voice().speak(slowly(TEXT)))
    with pytest.raises(ConfigError, match="use `async for`"):
        toy_voice().speak(slowly(TEXT)).save(tmp_path / "x.wav")
    assert list(tmp_path.iterdir()) == []


def test_flush_speaks_what_is_there_before_a_tool_call() -> None:
    spoken = threading.Event()

    def tokens() -> Iterator[str]:
        yield "let me check"
        speech.flush()
        assert spoken.wait(10)
        yield " that. "

    speech = toy_voice().speak(tokens(), idle_s=None)
    chunks = list[AudioChunk]()
    for chunk in speech:
        chunks.append(chunk)
        if [word.text for word in speech.words] == ["let", "me", "check"]:
            spoken.set()
    session = toy_voice().session()
    session.push("let me check")
    session.flush(end=False)
    session.push(" that. ")
    session.finish()
    assert np.array_equal(samples(chunks), samples(list(session.chunks())))


@pytest.mark.parametrize("idle_s", [0.05, None])
def test_idle_text_is_spoken_with_a_breath(idle_s: float | None) -> None:
    async def run() -> None:
        before = list[str]()

        async def tokens() -> AsyncIterator[str]:
            yield "one two three"
            await asyncio.sleep(0.5)
            before.extend(word.text for word in speech.words)
            yield " four. "

        speech = toy_voice().speak(tokens(), idle_s=idle_s)
        chunks = [chunk async for chunk in speech]
        assert before == "one two three".split()[: 1 if idle_s is None else 3]
        assert [word.text for word in speech.words] == "one two three four.".split()
        session = toy_voice().session()
        session.push("one two three")
        if idle_s is not None:
            session.flush(end=False)
        session.push(" four. ")
        session.finish()
        assert np.array_equal(samples(chunks), samples(list(session.chunks())))

    asyncio.run(run())


@pytest.mark.parametrize("idle_s", [-1.0, "soon", True])
def test_an_idle_time_that_cannot_be_is_refused(idle_s: Any) -> None:
    with pytest.raises(ConfigError, match="idle_s"):
        toy_voice().speak(TEXT, idle_s=idle_s)


def test_cancel_while_it_is_iterated_says_what_was_heard() -> None:
    speech = toy_voice().speak([TEXT] * 20)
    handed = 0
    heard = Heard(0, 0, "", 0.0)
    for chunk in speech:
        handed += len(chunk.samples)
        if handed > 8000:
            word = speech.words[1]
            middle_s = (word.onset_samples + word.offset_samples) / 2 / 8000
            assert speech.heard(middle_s - 0.01).word_count == 1
            heard = speech.cancel(middle_s + 0.01)
    assert (heard.word_count, heard.text) == (2, "one two")
    assert heard.played_s == pytest.approx(middle_s + 0.01)
    assert handed < 3 * 8000
    assert list(speech) == []
    # What was decided stays.
    assert speech.cancel() == speech.cancel(0.0) == speech.heard(99.0) == heard
    assert speech.unsaid == (TEXT * 20)[len("one two") :]


def test_cancel_while_a_thread_pulls_ends_it() -> None:
    async def run() -> None:
        speech = toy_voice(step_s=0.05).speak([TEXT] * 20)
        chunks = list[AudioChunk]()

        async def take() -> None:
            async for chunk in speech:
                chunks.append(chunk)

        taking = asyncio.create_task(take())
        while not chunks:
            await asyncio.sleep(0.005)
        count = len(chunks)
        heard = speech.cancel(0.0)
        assert heard == Heard(0, 0, "", 0.0, TEXT * 20, interrupted=True)
        await asyncio.wait_for(taking, 5)
        assert len(chunks) <= count + 1

    asyncio.run(run())


async def endless() -> AsyncIterator[str]:
    yield "one two three "
    await asyncio.sleep(3600)


@pytest.mark.parametrize("idle_s", [0.1, None])
def test_cancel_while_no_text_comes_ends_it(idle_s: float | None) -> None:
    async def run() -> None:
        speech = toy_voice().speak(endless(), idle_s=idle_s)
        words = 2 if idle_s is None else 3

        async def take() -> None:
            async for _ in speech:
                pass

        taking = asyncio.create_task(take())
        while len(speech.words) < words:
            await asyncio.sleep(0.005)
        # It waits for text now, and for no pause: a breath was taken, or none will be.
        await asyncio.sleep(0.2)
        assert not taking.done()
        await asyncio.to_thread(speech.cancel)
        await taking

    asyncio.run(asyncio.wait_for(run(), 20))


def test_flush_while_no_text_comes_speaks_what_is_there() -> None:
    async def run() -> list[str]:
        async def tokens() -> AsyncIterator[str]:
            yield "let me check"
            speech.flush()
            # A tool is called.
            while len(speech.words) < 3:
                await asyncio.sleep(0.005)
            yield " that. "

        speech = toy_voice().speak(tokens(), idle_s=None)
        return [word.text async for chunk in speech for word in chunk.words]

    assert asyncio.run(asyncio.wait_for(run(), 20)) == "let me check that.".split()


def test_a_player_that_is_ahead_falls_silent_and_is_told() -> None:
    speech = toy_voice().speak([TEXT] * 20)
    chunks = iter(speech)
    next(chunks)
    with pytest.raises(ConfigError, match=r"played_s is 99\.000, but only"):
        speech.cancel(99.0)
    assert list(chunks) == []


@pytest.mark.parametrize("ending", [".wav", ".FLAC"])
def test_it_is_saved(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    toy_voice().speak(list(TEXT)).save(path)
    if ending == ".wav":
        with wave.open(str(path), "rb") as file:
            assert file.getframerate() == 8000
            sound = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32767
        assert np.abs(sound - whole()).max() < 1e-4
    else:
        assert path.read_bytes()[:4] == b"fLaC"
    sayahead.save(tmp_path / f"y{ending}", whole(), 8000)
    assert (tmp_path / f"y{ending}").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["x.wma", "x"])
def test_a_file_of_another_kind_is_refused_before_it_is_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"unsupported extension .*; use \.wav, \.flac"):
        toy_voice().speak(TEXT).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def null_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sound device that plays in real time to nobody."""
    miniaudio = pytest.importorskip("miniaudio")
    monkeypatch.setattr("sayahead.sound.device.real_backends", lambda _: [miniaudio.Backend.NULL])


@pytest.mark.usefixtures("null_device")
def test_it_is_played_to_its_end() -> None:
    heard = toy_voice().speak("one two three. ").play()
    assert asyncio.run(toy_voice().speak(slowly("one two three. ")).aplay()) == heard
    assert heard.text == "one two three."
    assert heard.played_s == pytest.approx(len(whole("one two three. ")) / 8000)
    sayahead.play(whole("one. "), 8000)
    sayahead.play(toy_voice().stream("one. "))
    with pytest.raises(ConfigError, match="give sample_rate"):
        sayahead.play(whole("one. "))


@pytest.mark.usefixtures("null_device")
def test_what_is_played_is_cancelled_where_the_device_is() -> None:
    async def run() -> None:
        speech = toy_voice().speak([TEXT] * 3)
        playing = asyncio.create_task(speech.aplay())
        while speech.heard().word_count < 2:
            await asyncio.sleep(0.01)
        heard = speech.cancel()
        # The device played some words of dozens that were made.
        assert 2 <= heard.word_count < 20
        assert (TEXT * 3).startswith(heard.text)
        assert len(speech.words) > heard.word_count
        assert (await asyncio.wait_for(playing, 10)).word_count <= heard.word_count + 1

    asyncio.run(run())


@pytest.mark.usefixtures("null_device")
def test_sound_that_was_under_way_when_the_device_was_closed_holds_up_nobody() -> None:
    player = Player(8000)
    player.close()
    player.write(np.ones(80_000, np.float32))
    player.drain()
    assert player.played() == 0


def test_speech_keeps_up_with_text_that_is_faster(tmp_path: Path) -> None:
    words = [f"{word} " for word in TEXT.replace(".", "").split()] * 3

    def spoken(**options: Any) -> int:
        async def run() -> int:
            speech = toy_voice().speak(slowly(*words, pause_s=0.01), **options)
            return sum([len(chunk.samples) async for chunk in speech])

        return asyncio.run(run())

    plain = spoken()
    hurried = spoken(keep_up={"lag_s": 0.1, "max_speed": 2.0})
    assert hurried < 0.75 * plain
    # Who says that all was heard has no lag.
    speech = toy_voice().speak(words, keep_up={"lag_s": 3.0, "max_speed": 2.0})
    total_s = 0.0
    for chunk in speech:
        total_s += chunk.duration_s
        speech.played(total_s)
    assert 8000 * total_s > 0.9 * plain
    # A file that is made of a whole text goes by the text alone, and is the same each time.
    for name in ("a.wav", "b.wav"):
        toy_voice().speak(TEXT, keep_up=True).save(tmp_path / name)
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_a_word_is_finished_before_the_player_runs_dry() -> None:
    """Its held-back end does not wait for the next word."""

    def gaps(**options: Any) -> list[float]:
        """Sound that comes only with the text behind the pause."""

        async def run() -> list[float]:
            text = slowly("one two ", "three", pause_s=0.5)
            seconds = list[float]()
            speech = toy_voice().speak(
                text, idle_s=None, policy="lookahead:k=0", hold_back_s=0.1, **options
            )
            begun = time.monotonic()
            async for chunk in speech:
                seconds += [chunk.duration_s] * (time.monotonic() - begun > 0.4)
            return seconds

        return asyncio.run(run())

    assert sum(gaps()) - sum(gaps(keep_up=True)) > 0.05


@pytest.mark.parametrize(
    "text", [None, 3, object(), b"bytes", bytearray(b"bytes"), np.float32(1), {"text": "its names"}]
)
def test_what_is_no_text_is_refused_at_once(text: Any) -> None:
    kind = type(text).__name__
    for call in (toy_voice().speak, toy_voice().stream, toy_voice().astream):
        with pytest.raises(TextError, match=rf"speak\(\) takes text.*, not {kind}"):
            call(text)
    with pytest.raises(TextError, match=rf"synthesize\(\) takes text, not {kind}"):
        toy_voice().synthesize(text)


def test_text_may_be_flushed_and_revised_between_its_pieces() -> None:
    items: list[str | Flush | Revision] = [
        "One two. ",
        "Thre",
        Revision(9, "Four"),
        Flush.END,
        "Five.",
    ]
    speech = toy_voice().speak(items)
    sinks = Kept()
    chunks = list(speech.into(sinks, live=False))
    assert [word.text for word in speech.words] == ["One", "two.", "Four", "Five."]
    assert speech.text == "One two. FourFive."
    assert np.array_equal(
        np.concatenate(sinks.samples), np.concatenate([chunk.samples for chunk in chunks])
    )


class Kept:
    """A sink that keeps what it gets."""

    def __init__(self) -> None:
        self.samples: list[Floats] = []

    def write(self, samples: Floats) -> None:
        self.samples.append(samples)

    def drain(self) -> None: ...

    def close(self) -> None: ...


def test_a_piece_that_is_no_text_is_named() -> None:
    with pytest.raises(
        TextError, match=r"A piece of the text is None.* leave such pieces out \(`if piece:`\)"
    ):
        list(toy_voice().stream(["one ", None]))  # type: ignore[list-item]
    with pytest.raises(
        TextError, match=r"push\(\) takes text, not bytes: decode bytes as UTF-8 first"
    ):
        list(toy_voice().stream([b"one "]))  # type: ignore[list-item]


def test_a_loop_that_was_left_goes_on_and_one_that_ended_does_not_begin_again(
    tmp_path: Path,
) -> None:
    speech = toy_voice().speak(TEXT)
    chunks = [next(iter(speech)), *speech]
    assert np.array_equal(samples(chunks), whole())
    for again in (
        lambda: list(speech),
        lambda: speech.save(tmp_path / "again.wav"),
        lambda: asyncio.run(all_of(speech)),
    ):
        with pytest.raises(SessionError, match="not kept"):
            again()
    assert not (tmp_path / "again.wav").exists()


async def all_of(speech: sayahead.Speech) -> list[AudioChunk]:
    return [chunk async for chunk in speech]


def test_async_for_is_for_once() -> None:
    speech = toy_voice().speak(TEXT)
    assert asyncio.run(all_of(speech))
    with pytest.raises(SessionError, match="not kept"):
        list(speech)
    with pytest.raises(SessionError, match="not kept"):
        asyncio.run(all_of(speech))


def test_what_was_cancelled_is_silent() -> None:
    speech = toy_voice().speak(TEXT)
    next(iter(speech))
    speech.cancel()
    assert list(speech) == [] == asyncio.run(all_of(speech))


@pytest.mark.parametrize(
    ("sound", "message"),
    [
        (np.zeros(10, np.int16), "int16, 1-dimensional, but must be floats"),
        (np.zeros((10, 2)), "float64, 2-dimensional, but must be floats"),
        ([0.0, 0.5], "float 0.0, but must be samples in a NumPy array"),
        (None, "NoneType None, but must be samples"),
    ],
)
def test_what_is_no_sound_is_refused(tmp_path: Path, sound: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        sayahead.save(tmp_path / "x.wav", sound, 24000)


def test_an_open_file_is_no_path(tmp_path: Path) -> None:
    """It was a bare TypeError."""
    with pytest.raises(ConfigError, match=r"a path, not BytesIO: .*encoded\('wav'\)"):
        toy_voice().speak(TEXT).save(io.BytesIO())  # type: ignore[arg-type]


def test_sound_is_saved_whole_or_in_parts(tmp_path: Path) -> None:
    chunks = list(toy_voice().stream(TEXT))
    for name, sound in (
        ("all", whole()),
        ("chunks", chunks),
        ("arrays", [chunk.samples for chunk in chunks]),
    ):
        sayahead.save(tmp_path / f"{name}.wav", sound, np.int64(8000))  # type: ignore[arg-type]
    sayahead.save(tmp_path / "one.wav", chunks[0], 8000)
    data = {path.stem: path.read_bytes() for path in tmp_path.iterdir()}
    assert data["all"] == data["chunks"] == data["arrays"]
    assert data["one"][44:] == data["all"][44:][: 2 * len(chunks[0].samples)]
    with pytest.raises(ConfigError, match="sample_rate is '8000'"):
        sayahead.save(tmp_path / "x.wav", whole(), "8000")  # type: ignore[arg-type]


PUSHED = ["one two ", "three, fo", "ur five six. ", "seven eight nine ten. "]


def test_text_is_pushed_by_another_thread_and_spoken_as_it_comes() -> None:
    speech = toy_voice().open_speech(idle_s=None)
    first = threading.Event()

    def push() -> None:
        speech.push(PUSHED[0] + PUSHED[1])
        assert first.wait(10), "nothing was spoken before all text was there"
        for part in PUSHED[2:]:
            speech.push(part)
        speech.finish()
        speech.finish()

    pushing = threading.Thread(target=push)
    pushing.start()
    chunks = list[AudioChunk]()
    for chunk in speech:
        chunks.append(chunk)
        first.set()
    pushing.join()
    assert np.array_equal(samples(chunks), whole())
    assert speech.text == TEXT
    with pytest.raises(SessionError, match="after finish"):
        speech.push("more")


def test_text_is_pushed_and_revised_by_asyncio() -> None:
    async def run() -> None:
        speech = toy_voice().open_speech(policy="lookahead:k=0")
        speech.push("one two thr")
        chunks = list[AudioChunk]()

        async def take() -> None:
            async for chunk in speech:
                chunks.append(chunk)

        taking = asyncio.create_task(take())
        while len(speech.words) < 2:
            await asyncio.sleep(0.005)
        # What was spoken stays.
        assert speech.revise(0, "one two four. ") == len("one two")
        speech.finish()
        await asyncio.wait_for(taking, 10)
        assert [word.text for word in speech.words] == ["one", "two", "four."]
        assert speech.text == "one two four. "

    asyncio.run(run())


@pytest.mark.parametrize("by", ["for", "async for"])
def test_pushed_text_that_pauses_is_spoken_with_a_breath(by: str) -> None:
    speech = toy_voice().open_speech(idle_s=0.05)
    speech.push("one two three")

    def end() -> None:
        while len(speech.words) < 3:
            time.sleep(0.005)
        speech.finish()

    ending = threading.Thread(target=end, daemon=True)
    ending.start()
    chunks = list(speech) if by == "for" else asyncio.run(asyncio.wait_for(all_of(speech), 10))
    ending.join(10)
    assert [word.text for chunk in chunks for word in chunk.words] == ["one", "two", "three"]


def test_write_pushes_all_and_finishes() -> None:
    speech = toy_voice().open_speech()
    speech.write(PUSHED)
    assert np.array_equal(samples(list(speech)), whole())
    with pytest.raises(ConfigError, match=r"give it to voice\.speak"):
        toy_voice().open_speech().write(slowly(TEXT))  # type: ignore[arg-type]
    with pytest.raises(
        SessionError, match=r"push\(\): this text comes by itself; voice\.open_speech\(\)"
    ):
        toy_voice().speak(TEXT).push("x")
    with pytest.raises(SessionError, match=r"finish\(\): this text comes by itself"):
        toy_voice().speak(TEXT).finish()


@pytest.mark.parametrize("rate", [16000, 44100])
def test_chunks_at_another_rate_are_the_same_sound_and_words(rate: int) -> None:
    speech = toy_voice().speak(list(TEXT), sample_rate=rate)
    chunks = list(speech)
    assert speech.sample_rate == rate == chunks[0].sample_rate
    assert len(samples(chunks)) == -(-len(whole()) * rate // 8000)
    assert np.array_equal(samples(chunks), toy_voice().synthesize(TEXT, sample_rate=rate))
    plain = toy_voice().speak(TEXT)
    list(plain)
    for word, own in zip(speech.words, plain.words, strict=True):
        assert (word.text, word.onset_samples) == (own.text, round(own.onset_samples * rate / 8000))
    assert all(
        two.start_samples == one.start_samples + len(one.samples) for one, two in pairwise(chunks)
    )
    assert speech.heard().text == TEXT.strip()
    with pytest.raises(ConfigError, match="The sample rate is 7000, but must be one of"):
        toy_voice().speak(TEXT, sample_rate=7000)


@pytest.mark.parametrize(
    ("form", "rate"), [("mulaw", 8000), ("pcm_s16le", 16000), ("wav", None), ("mp3", 16000)]
)
def test_chunks_as_bytes_are_the_encoders(form: str, rate: int | None) -> None:
    chunks = list(toy_voice().stream(list(TEXT), format=form, sample_rate=rate))
    making = encoder(AudioFormat(form, rate), source_rate=8000)
    assert b"".join(chunk.data for chunk in chunks) == making.push(whole()) + making.finish()
    assert [word.text for chunk in chunks for word in chunk.words] == TEXT.split()
    assert sum(chunk.duration_s for chunk in chunks) == pytest.approx(len(whole()) / 8000)

    async def later() -> bytes:
        return b"".join(
            [
                chunk.data
                async for chunk in toy_voice().astream(slowly(*TEXT), format=form, sample_rate=rate)
            ]
        )

    assert asyncio.run(later()) == b"".join(chunk.data for chunk in chunks)


def test_a_format_that_cannot_be_is_named_at_once() -> None:
    with pytest.raises(
        ConfigError, match=r"encoding 'mulow' is unknown \(did you mean 'mulaw'\?\)"
    ):
        toy_voice().stream(TEXT, format="mulow")


def test_it_is_saved_with_the_times_of_its_words(tmp_path: Path) -> None:
    toy_voice().speak(TEXT).save(tmp_path / "x.mp3", timings=tmp_path / "x.vtt")
    with av.open(str(tmp_path / "x.mp3")) as file:
        assert float(file.duration or 0) / av.time_base == pytest.approx(
            len(whole()) / 8000, abs=0.25
        )
    assert "<00:00:" in (tmp_path / "x.vtt").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="there is no folder"):
        toy_voice().speak(TEXT).save(tmp_path / "missing" / "x.wav")


@pytest.mark.usefixtures("null_device")
def test_a_player_that_is_lent_pauses_tells_words_and_goes_on_after_a_barge_in() -> None:
    words = list[str]()
    louder = list[float]()
    with Player(8000, volume=0.5, on_word=lambda word: words.append(word.text)) as player:
        speech = toy_voice().speak("one two three. ")
        speech.play(player)
        assert words == ["one", "two", "three."]
        player.pause()
        again = toy_voice().speak([TEXT] * 3)
        playing = threading.Thread(
            target=lambda: louder.append(again.play(player).played_s), daemon=True
        )
        playing.start()
        time.sleep(0.1)
        assert again.heard().word_count == 0
        assert player.paused
        player.resume()
        while again.heard().word_count < 2:
            time.sleep(0.005)
        heard = again.cancel()
        playing.join(10)
        assert 2 <= heard.word_count < 20
        before = player.played()
        third = toy_voice().speak("one. ").play(player)
        assert player.played() - before == round(8000 * third.played_s)
        with pytest.raises(
            ConfigError,
            match=r"takes 8000 samples a second, but the chunk has 16000: Player\(16000\)",
        ):
            toy_voice().speak("one. ", sample_rate=16000).play(player)
    with pytest.raises(ConfigError, match="There is no sound device 'nowhere'"):
        Player(8000, device="nowhere")


@pytest.mark.usefixtures("null_device")
def test_words_that_were_heard_are_told_even_after_a_barge_in() -> None:
    words = list[str]()
    slow = threading.Event()

    def late(word: WordTiming) -> None:
        slow.wait(10)
        words.append(word.text)

    with Player(8000, on_word=late) as player:
        speech = toy_voice().speak([TEXT] * 3)
        playing = threading.Thread(target=speech.play, args=(player,), daemon=True)
        playing.start()
        while speech.heard().word_count < 2:
            time.sleep(0.005)
        heard = speech.cancel()
        playing.join(10)
        slow.set()
        until = time.monotonic() + 10
        while len(words) < heard.word_count and time.monotonic() < until:
            time.sleep(0.005)
    assert words[: heard.word_count] == (TEXT.split() * 3)[: heard.word_count]
    assert len(words) <= heard.word_count + 1


@pytest.mark.usefixtures("null_device")
def test_the_volume_is_that_of_the_sound() -> None:
    player = Player(8000, volume=0.25)
    player._device.stop()
    player.write(np.full(100, 0.5, np.float32))
    feed = samples_for_device(player._queue)
    next(feed)
    assert set(np.frombuffer(feed.send(100), "<i2").tolist()) == {round(0.125 * 32767)}
    player.close()


def single_words(speech: sayahead.Speech, chunks: list[AudioChunk]) -> float:
    """The share of the text's words that came by themselves."""
    assert [word.text for word in speech.words] == speech.text.split()
    return sum(len(chunk.words) == 1 for chunk in chunks) / len(speech.words)


@pytest.mark.parametrize("by", ["async for", "push", "say"])
def test_words_are_said_together_where_the_player_has_sound_left(by: str) -> None:
    """Text that comes ten times as fast as it is spoken, to somebody who listens; but for the first
    words."""
    text = 8 * TEXT
    voice = toy_voice(step_s=0.001)

    def spoken(step_words: int | None) -> tuple[sayahead.Speech, list[AudioChunk]]:
        if by == "async for":
            speech = voice.speak(slowly(*pieces(text), pause_s=0.005), step_words=step_words)
            return speech, asyncio.run(all_of(speech))
        if by == "push":
            speech = voice.open_speech(step_words=step_words)

            def push() -> None:
                for piece in pieces(text):
                    speech.push(piece)
                    time.sleep(0.005)
                speech.finish()

            pushing = threading.Thread(target=push)
            pushing.start()
            chunks = list(speech)
            pushing.join()
            return speech, chunks

        def waking() -> Iterator[str]:
            for piece in pieces(text):
                yield piece
                time.sleep(min(0.005, speech.pause_s()))
                yield ""

        speech = sayahead.Speech(voice.session(step_words=step_words), waking(), wakes=True)
        return speech, list(speech)

    assert single_words(*spoken(None)) > 0.9
    speech, chunks = spoken(6)
    assert single_words(speech, chunks) < 0.5
    assert all(len(chunk.words) <= 1 for chunk in chunks[:2])


def pieces(text: str) -> list[str]:
    return [word + " " for word in text.split()]


def test_a_text_that_is_whole_is_said_together_the_same_each_time_and_a_file_word_by_word(
    tmp_path: Path,
) -> None:
    voice = toy_voice()
    speech = voice.speak(4 * TEXT, step_words=6)
    chunks = list(speech)
    assert single_words(speech, chunks) < 0.5
    assert np.array_equal(samples(chunks), samples(list(voice.speak(4 * TEXT, step_words=6))))
    # A file has no listener: it is as it always was.
    voice.speak(pieces(TEXT), step_words=6).save(tmp_path / "a.wav")
    voice.speak(pieces(TEXT)).save(tmp_path / "b.wav")
    assert (tmp_path / "a.wav").read_bytes() == (tmp_path / "b.wav").read_bytes()


def test_what_is_flushed_is_not_awaited() -> None:
    """With seconds left to play and text that came just now, a flush has all of it spoken at
    once."""
    speech = toy_voice().open_speech(step_words=6, idle_s=None)
    chunks = list[AudioChunk]()
    reading = threading.Thread(target=lambda: chunks.extend(speech), daemon=True)
    reading.start()
    speech.push(4 * "One two three four five six seven eight nine ten. ")
    time.sleep(0.1)
    begun = time.monotonic()
    speech.push("More. ")
    speech.flush()
    while not any(word.text == "More." for word in speech.words):
        assert time.monotonic() < begun + 0.2
        time.sleep(0.005)
    speech.finish()
    reading.join()


def test_a_piece_of_text_that_is_none_says_what_to_do() -> None:
    pieces: list[Any] = ["Hello ", None, "there."]
    for text in (pieces, iter(pieces)):
        with pytest.raises(
            TextError, match=r"A piece of the text is None.*leave such pieces out \(`if piece:`\)"
        ):
            list(toy_voice().speak(text))
