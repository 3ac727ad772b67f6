"""What every session promises, whatever the policy, the context and the way the text arrives."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.texts import splits, texts
from support.toy import HOP, toy_session

from sayahead import AudioChunk, ConfigError, SessionError, TextError
from sayahead.engine.heard import Heard
from sayahead.engine.policy import LetterView, Steps, check_policy
from sayahead.policies.characters import WaitEnd, WaitKSteps
from sayahead.research import (
    READ,
    Independent,
    LookaheadK,
    Policy,
    Prediction,
    RandomWords,
    Read,
    Session,
    Speak,
    View,
    WaitAll,
)
from sayahead.text.reading.stream import normalize
from sayahead.types import Floats


class Moody:
    """Reads and speaks as the last step and its own count have it; now and then it would never read
    again."""

    unit = "characters"

    def decide(self, view: LetterView) -> Read | Steps:
        count = np.float32(1) if view.memory is None else view.memory[0] + 1
        assert view.observation is not None
        seen = int(view.observation.sum())
        memory = np.array([count], np.float32)
        speak = view.over or (seen + int(count)) % 7 > 2 or view.read % 11 == 10
        return Steps(1 + seen % 2, memory) if speak else Read(memory)

    def __repr__(self) -> str:
        return "Moody()"


POLICIES: list[Policy] = [
    LookaheadK(0),
    LookaheadK(1),
    LookaheadK(1, first_letters=3),
    LookaheadK(2),
    LookaheadK(1, first_chunk=18, chunk=6),
    LookaheadK(3, first_chunk=7, chunk=7),
    WaitAll(),
    WaitAll(max_words=3),
    Independent(2),
    WaitEnd(),
    WaitKSteps(2),
    WaitKSteps(3),
    Moody(),
]


def run(session: Session, fragments: list[str], *, eager: bool = True) -> list[AudioChunk]:
    chunks = list[AudioChunk]()
    for fragment in fragments:
        session.push(fragment)
        if eager:
            chunks += session.chunks()
    session.finish()
    chunks += session.chunks()
    assert session.finished
    return chunks


def sound(chunks: list[AudioChunk]) -> Floats:
    return (
        np.concatenate([chunk.samples for chunk in chunks]) if chunks else np.zeros(0, np.float32)
    )


@settings(max_examples=examples(1000), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_split_gives_the_same_words_and_audio(data: st.DataObject) -> None:
    text = data.draw(texts())
    fragments = data.draw(splits(text))
    policy = data.draw(st.sampled_from(POLICIES))
    options: dict[str, Any] = {
        "hold_back_s": data.draw(st.sampled_from([0.0, 0.02, 0.1])),
        "k2": data.draw(st.integers(0, 2)),
        "context": data.draw(st.sampled_from([None, RandomWords(2)])),
    }
    whole = run(toy_session(policy, **options), [text])
    parts = run(toy_session(policy, **options), fragments, eager=data.draw(st.booleans()))
    assert np.array_equal(sound(whole), sound(parts))
    assert [w for c in whole for w in c.words] == [w for c in parts for w in c.words]


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_word_once_in_order_with_timings_in_order(data: st.DataObject) -> None:
    text = data.draw(texts())
    policy = data.draw(st.sampled_from(POLICIES))
    chunks = run(toy_session(policy, k2=data.draw(st.integers(0, 2))), [text])
    words = normalize(text)
    timings = [w for c in chunks for w in c.words]
    assert [(w.text, w.start, w.end) for w in timings] == [(w.text, w.start, w.end) for w in words]
    position = 0
    for chunk in chunks:
        assert chunk.start_samples == position
        assert len(chunk.samples)
        position += len(chunk.samples)
        for timing in chunk.words:
            assert chunk.start_samples <= timing.onset_samples < position
            assert timing.onset_samples <= timing.offset_samples
    for word, timing, after in zip(words, timings, timings[1:], strict=False):
        assert timing.onset_samples <= after.onset_samples
        assert word.ends or timing.offset_samples <= after.onset_samples
    assert not timings or timings[-1].offset_samples <= position


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_flush_speaks_what_is_there_and_keeps_the_session(policy: Policy) -> None:
    session = toy_session(policy)
    session.push("one two thr")
    session.flush()
    before = list(session.chunks())
    assert [w.text for c in before for w in c.words] == ["one", "two", "thr"]
    assert list(session.chunks()) == []
    session.flush()
    assert list(session.chunks()) == []
    assert not session.finished
    session.push("ee four. ")
    after = run(session, [""])
    assert [(w.text, w.start) for c in after for w in c.words] == [("ee", 11), ("four.", 14)]


def test_finish_after_all_words_are_spoken_hands_out_what_was_held_back() -> None:
    session = toy_session(LookaheadK(0), hold_back_s=0.1)
    session.push("hello there ")
    held = sound(list(session.chunks()))
    session.finish()
    rest = sound(list(session.chunks()))
    assert len(rest) > 800
    whole = toy_session(LookaheadK(0), hold_back_s=0.1)
    assert np.array_equal(sound(run(whole, ["hello there "])), np.concatenate([held, rest]))


def test_a_cancelled_session_is_silent_and_says_how_far_it_came() -> None:
    session = toy_session()
    session.push("one two three four. Five six.")
    chunk = session.pull()
    assert chunk is not None
    heard = session.cancel()
    assert session.pull() is None
    assert session.finished
    assert heard.word_count == len(chunk.words)
    assert heard.end == chunk.words[-1].end
    assert heard.played_s == chunk.duration_s
    with pytest.raises(SessionError, match=r"after cancel\(\)"):
        session.push("more")


def test_what_was_heard_is_what_was_played() -> None:
    session = toy_session()
    text = "one two three four. Five six."
    session.push(text)
    session.finish()
    words = [word for chunk in session.chunks() for word in chunk.words]
    assert session.heard(0.0) == Heard(0, 0, "", 0.0, text, interrupted=True)
    for number, word in enumerate(words, start=1):
        just_after = ((word.onset_samples + word.offset_samples) // 2 + 1) / session.sample_rate
        heard = session.heard(just_after)
        assert (heard.word_count, heard.end, heard.text) == (number, word.end, text[: word.end])
        assert session.heard(word.onset_samples / session.sample_rate).word_count == number - 1
    assert session.heard().word_count == 6
    assert session.cancel(0.0).word_count == 0
    assert session.pull() is None


@pytest.mark.parametrize(
    ("played_s", "message"), [(99.0, "99.000, but only"), (-1.0, "-1.0"), ("2", "'2'")]
)
def test_a_player_that_is_ahead_of_its_sound_is_told(played_s: Any, message: str) -> None:
    session = toy_session()
    session.push("one two three ")
    assert session.pull() is not None
    with pytest.raises(ConfigError, match=message):
        session.cancel(played_s)
    assert session.finished


@pytest.mark.parametrize("policy", [LookaheadK(0), LookaheadK(2), WaitAll(), Independent(2)])
def test_a_breath_says_all_that_is_there_and_goes_on_with_the_sentence(policy: Policy) -> None:
    session = toy_session(policy, hold_back_s=0.1)
    session.push("one two thr")
    before = list(session.chunks())
    session.flush(end=False)
    before += list(session.chunks())
    assert [word.text for chunk in before for word in chunk.words] == ["one", "two", "thr"]
    # All sound of the words has been handed out, without a pause behind them.
    last = before[-1].words[-1] if before[-1].words else before[-2].words[-1]
    assert abs(before[-1].start_samples + len(before[-1].samples) - last.offset_samples) <= 2 * HOP
    session.flush(end=False)
    assert session.pull() is None
    session.push(" four.")
    session.finish()
    after = list(session.chunks())
    assert [word.text for chunk in after for word in chunk.words] == ["four."]
    assert session.finished
    # Without the pause and the fall of a sentence's end: the toy gives each letter two to four
    # frames.
    ended = sum(
        len(sound(run(toy_session(WaitAll()), [text]))) for text in ("one two thr.", "four.")
    )
    assert len(sound([*before, *after])) < ended - 400 or isinstance(policy, Independent)


def test_a_breath_where_nothing_is_said_is_silent() -> None:
    session = toy_session()
    session.flush(end=False)
    assert session.pull() is None
    session.push("one two.")
    session.flush()
    list(session.chunks())
    session.flush(end=False)
    assert session.pull() is None


def test_text_after_the_end_is_refused_and_finish_may_be_repeated() -> None:
    session = toy_session()
    run(session, ["one."])
    session.finish()
    session.flush()
    assert session.pull() is None
    with pytest.raises(SessionError, match=r"after finish\(\)"):
        session.push("two")


def test_what_is_not_text_is_refused_and_nothing_is_lost() -> None:
    session = toy_session()
    session.push("one ")
    with pytest.raises(TextError, match="not bytes"):
        session.push(b"two")  # type: ignore[arg-type]
    chunks = run(session, ["three."])
    assert [w.text for c in chunks for w in c.words] == ["one", "three."]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "...", "😀 😀", "\x00\x07", "\u200b"])
def test_text_without_words_gives_no_sound(text: str) -> None:
    assert run(toy_session(), [text]) == []


def test_a_word_of_ten_thousand_letters_is_spoken() -> None:
    chunks = run(toy_session(), ["a" * 10_000])
    assert "".join(w.text for c in chunks for w in c.words).count("a") == 10_000


def test_sessions_do_not_touch_each_other() -> None:
    alone = [sound(run(toy_session(), [text])) for text in ("One two three.", "Four five.")]
    a = toy_session()
    b = toy_session()
    chunks: tuple[list[AudioChunk], list[AudioChunk]] = ([], [])
    for x, y in zip("One two three.", "Four five.    ", strict=True):
        for session, letter, out in ((a, x, chunks[0]), (b, y, chunks[1])):
            session.push(letter)
            out += session.chunks()
    for session, out, expected in ((a, chunks[0], alone[0]), (b, chunks[1], alone[1])):
        session.finish()
        out += session.chunks()
        assert np.array_equal(sound(out), expected)


def test_a_policy_that_speaks_what_is_not_there_is_named() -> None:
    class Greedy:
        unit = "words"

        def decide(self, view: View) -> Speak:
            return Speak(len(view.pending) + 1, 0)

    session = toy_session(Greedy())
    session.push("one two ")
    with pytest.raises(SessionError, match="Greedy"):
        session.pull()


def test_an_error_on_the_way_loses_no_word_and_repeats_none() -> None:
    class Failing:
        """Fails every second time it is asked."""

        asked = 0

        def predict(self, words: Sequence[str]) -> Prediction:
            self.asked += 1
            if self.asked % 2:
                raise RuntimeError("no model today")
            return Prediction()

    session = toy_session(LookaheadK(0), Failing())
    chunks = list[AudioChunk]()
    session.push("one two three four.")
    session.finish()
    while not session.finished:
        try:
            chunks += session.chunks()
        except RuntimeError:
            continue
    assert np.array_equal(
        sound(chunks), sound(run(toy_session(LookaheadK(0)), ["one two three four."]))
    )


def waiting(session: Session) -> Any:
    """Words that were read and wait."""
    sentence: Any = session._sentence
    return sentence._pending


def test_a_long_text_pushed_at_once_is_not_read_before_its_turn() -> None:
    session = toy_session()
    session.push("one two three. " * 10_000)
    assert session.pull() is not None
    assert len(waiting(session)) < 50
    session = toy_session(WaitKSteps(2))
    session.push("one two three. " * 10_000)
    assert session.pull() is not None
    assert len(waiting(session)) < 50


def test_a_voice_and_a_policy_that_read_different_things_are_told_apart() -> None:
    with pytest.raises(
        ConfigError, match=r"LookaheadK\(.*decides on words, but this voice reads characters"
    ):
        check_policy(LookaheadK(1), "characters")
    with pytest.raises(
        ConfigError, match=r"WaitKSteps\(.*decides on characters, but this voice reads words"
    ):
        check_policy(WaitKSteps(2), "words")


def test_what_is_no_policy_is_named_before_the_first_word() -> None:
    class Mute:
        unit = "words"

        def decide(self, view: View) -> None:
            return None

    class Old:
        def decide(self, view: View) -> Read:
            return READ

    for thing, message in (
        (Mute(), "returned None, but must return READ or Speak"),
        (Old(), 'Old has no unit: set unit = "words"'),
        (LookaheadK, r"has no decide\(view\)"),
        (3, r"has no decide\(view\)"),
    ):
        with pytest.raises(ConfigError, match=message):
            check_policy(thing, "words")


def test_a_policy_that_reads_behind_the_end_is_named() -> None:
    class Reader:
        unit = "characters"

        def decide(self, view: LetterView) -> Read:
            return READ

    session = toy_session(Reader())
    session.push("One. ")
    with pytest.raises(SessionError, match=r"Reader.*READ"):
        session.pull()


def test_words_that_are_spoken_alone_sound_as_if_there_were_no_others() -> None:
    whole = sound(run(toy_session(Independent(2)), ["one two three four five."]))
    alone = [
        sound(run(toy_session(WaitAll()), [text])) for text in ("one two", "three four", "five.")
    ]
    # The toy's sine begins at another phase in each sentence of a session: lengths tell.
    assert len(whole) == sum(map(len, alone))
    together = sound(run(toy_session(WaitAll()), ["one two three four five."]))
    assert len(together) != len(whole)


def test_a_long_text_is_read_at_the_cost_of_a_short_one() -> None:
    """Each bite copied the rest of the text: 4.8 ms of 16 MB."""

    def took_s(words: int) -> float:
        session = toy_session(LookaheadK(1))
        session.push("word " * words)
        begun = time.thread_time()
        for _ in range(300):
            assert session.pull() is not None
        return time.thread_time() - begun

    assert took_s(4_000_000) < 3 * took_s(4_000) + 0.03
