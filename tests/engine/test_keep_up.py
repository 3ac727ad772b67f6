"""Keeping up with fast text, waiting well for slow text, and the one policy that looks at what
happens to be there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.texts import splits, texts
from support.toy import toy_session

from sayahead import AudioChunk, ConfigError, KeepUp, SessionError, Voice
from sayahead.engine.keep_up import Pace, keep_up, paced
from sayahead.research import LookaheadK, Opportunistic, Session
from sayahead.types import Floats, Segment

PROSE = (
    "The river was high, and the old bridge shook under the carts that crossed it all day. " * 12
).split(" ")


def sound(chunks: list[AudioChunk]) -> Floats:
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in chunks)])


def followed(
    session: Session, word_s: float, words: list[str] = PROSE
) -> tuple[list[AudioChunk], list[float]]:
    """A player beside somebody who says a word every so often: the chunks, and the unplayed seconds
    at each word."""
    chunks = list[AudioChunk]()
    lags = list[float]()
    dry_s = 0.0

    def take(now_s: float) -> None:
        nonlocal dry_s
        if chunks:
            handed_s = sum(chunk.duration_s for chunk in chunks)
            session.played(handed_s - max(0.0, dry_s - now_s))
        for chunk in session.chunks():
            chunks.append(chunk)
            dry_s = max(dry_s, now_s) + chunk.duration_s

    for number, word in enumerate(words):
        now_s = number * word_s
        # Just before it runs dry, the player says so.
        if now_s - word_s < dry_s - 0.05 < now_s:
            take(dry_s - 0.05)
        session.push(word + " ")
        take(now_s)
        lags.append(max(0.0, dry_s - now_s))
    session.finish()
    take(len(words) * word_s)
    assert session.finished
    return chunks, lags


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_without_keep_up_what_was_played_changes_nothing(data: st.DataObject) -> None:
    text = data.draw(texts())
    plain = toy_session()
    told = toy_session()
    chunks: tuple[list[AudioChunk], list[AudioChunk]] = ([], [])
    for fragment in data.draw(splits(text)):
        for session, out in zip((plain, told), chunks, strict=True):
            session.push(fragment)
            out += session.chunks()
        told.played(sum(chunk.duration_s for chunk in chunks[1]))
    for session, out in zip((plain, told), chunks, strict=True):
        session.finish()
        out += session.chunks()
    assert np.array_equal(sound(chunks[0]), sound(chunks[1]))


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_word_is_said_once_whatever_the_player_tells(data: st.DataObject) -> None:
    text = data.draw(texts())
    fragments = data.draw(splits(text))
    follows = KeepUp(
        data.draw(st.sampled_from([0.1, 1.0])), 2.0, gather=data.draw(st.integers(0, 4))
    )
    shares = [data.draw(st.floats(0, 1)) for _ in fragments]

    def run() -> list[AudioChunk]:
        session = toy_session(keep_up=follows, hold_back_s=0.05)
        out = list[AudioChunk]()
        played_s = 0.0
        for fragment, share in zip(fragments, shares, strict=True):
            session.push(fragment)
            out += session.chunks()
            played_s += share * (sum(chunk.duration_s for chunk in out) - played_s)
            session.played(played_s)
            out += session.chunks()
        session.finish()
        out += session.chunks()
        assert session.finished
        return out

    first = run()
    plain = toy_session()
    plain.push(text)
    plain.finish()
    expected = [(word.text, word.start) for chunk in plain.chunks() for word in chunk.words]
    assert [(word.text, word.start) for chunk in first for word in chunk.words] == expected
    # The same pushes, pulls and played seconds give the same sound.
    assert np.array_equal(sound(first), sound(run()))


def test_the_lag_stays_bounded_where_text_is_faster_than_speech() -> None:
    _, plain = followed(toy_session(), 0.05)
    chunks, lags = followed(toy_session(keep_up=KeepUp(0.7, 2.0)), 0.05)
    assert plain[-1] > 3 * max(lags)
    assert max(lags) < 1.0
    # Faster, and at its own pace again once the player has caught up.
    words = [word for chunk in chunks for word in chunk.words]
    own = [word for chunk in followed(toy_session(), 0.05)[0] for word in chunk.words]
    lasts = [
        (word.offset_samples - word.onset_samples) / (same.offset_samples - same.onset_samples)
        for word, same in zip(words, own, strict=True)
    ]
    assert lasts[0] == 1.0
    assert 0.4 < np.mean(lasts[20:]) < 0.9


def test_pauses_shrink_before_speech_is_faster() -> None:
    ids = np.arange(6, dtype=np.int64)
    segment = Segment(ids, 6, ((1, 3), (4, 6)), False)
    pace = Pace(KeepUp(lag_s=2.0, max_speed=2.0, min_pause=0.5), 8000)
    for _ in range(50):
        quick = pace.applied(segment, 0, 23)
    # 23 characters wait, some 1.5 s of speech: between half of the lag and all of it.
    assert quick.speeds is not None
    assert np.allclose(quick.speeds[[1, 2, 4, 5]], 1.0)
    assert np.all(quick.speeds[[0, 3]] > 1.3)
    assert 0.5 < quick.pause < 0.8
    for _ in range(50):
        quick = pace.applied(segment, 0, 2300)
    assert quick.speeds is not None
    assert np.allclose(quick.speeds[[1, 2, 4, 5]], 2.0, atol=1e-3)
    assert np.allclose(quick.speeds[[0, 3]], 4.0, atol=1e-2)
    for _ in range(50):
        quick = pace.applied(segment, 100, 0)
    assert quick.speeds is not None
    assert np.allclose(quick.speeds, 1.0, atol=1e-3)


def test_speed_is_at_its_bound_a_third_beyond_the_lag() -> None:
    """However fast the text, the lag settles between the two."""
    segment = Segment(np.zeros(2, np.int64), 2, ((0, 2),), False)
    waiting = 100

    def speed(over: float) -> float:
        pace = Pace(KeepUp(lag_s=waiting * Pace.PRIOR_CHARACTER_S / over, max_speed=1.8), 8000)
        for _ in range(50):
            made = pace.applied(segment, 0, waiting)
        return 1.0 if made.speeds is None else float(made.speeds[0])

    speeds = [speed(over) for over in (0.5, 1.0, 1.1, 1.2, 4 / 3, 3.0)]
    assert speeds == pytest.approx([1.0, 1.0, 1.24, 1.48, 1.8, 1.8], abs=1e-3)


def test_speed_changes_by_small_steps() -> None:
    pace = Pace(KeepUp(lag_s=1.0, max_speed=1.5), 8000)
    before = 1.0
    for _ in range(20):
        step = pace.applied(Segment(np.zeros(2, np.int64), 2, ((0, 2),), False), 0, 1000).speeds
        assert step is not None
        assert before < step[0] < before + 0.13
        before = float(step[0])


def test_words_of_a_speed_of_their_own_keep_it_in_proportion() -> None:
    segment = Segment(
        np.zeros(4, np.int64), 2, ((0, 2),), False, speeds=np.array([1, 1, 2, 2], np.float32)
    )
    faster = paced(segment, 1.5, 1.0)
    assert faster.speeds is not None
    assert faster.speeds.tolist() == [1.5, 1.5, 3.0, 3.0]
    assert paced(segment, 1.0, 1.0) is segment


def test_slow_text_waits_where_a_phrase_may_pause() -> None:
    words = "The man said yes, and his old dog slept under the table in the hall.".split()

    def stalls(session: Session) -> list[int]:
        """After how many words each silence comes."""
        chunks = list[AudioChunk]()
        after = list[int]()
        dry_s = 0.0
        said = 0
        for number, word in enumerate(words):
            now_s = float(number)
            session.push(word + " ")
            for _ in range(2):
                for chunk in session.chunks():
                    if chunks and now_s > dry_s:
                        after.append(said)
                    dry_s = max(dry_s, now_s) + chunk.duration_s
                    said += len(chunk.words)
                    chunks.append(chunk)
                if chunks:
                    session.played(sum(chunk.duration_s for chunk in chunks))
        return after

    assert stalls(toy_session()) == list(range(1, 14))
    # Nothing was heard yet when the first word came, so it did not wait.
    assert stalls(toy_session(keep_up=KeepUp(gather=6))) == [1, 4, 9, 12]


def test_what_is_held_back_is_handed_out_before_the_player_runs_dry() -> None:
    session = toy_session(LookaheadK(0), hold_back_s=0.1, keep_up=KeepUp())
    session.push("elephants crocodiles ")
    chunks = list(session.chunks())
    assert session.unplayed_s == 0.0
    session.played(0.0)
    assert session.unplayed_s == pytest.approx(sum(chunk.duration_s for chunk in chunks))
    assert session.pull() is None
    session.played(sum(chunk.duration_s for chunk in chunks) - 0.05)
    rest = session.pull()
    assert rest is not None
    assert rest.duration_s == pytest.approx(0.1, abs=0.02)
    assert session.pull() is None


def test_what_is_told_is_checked_and_nothing_is_lost() -> None:
    session = toy_session(keep_up=KeepUp())
    session.push("crocodilecrocodile two three ")
    chunk = session.pull()
    assert chunk is not None
    session.played(chunk.duration_s / 2)
    # A player's rounding is no step back.
    session.played(chunk.duration_s / 2 - 1e-9)
    for wrong, message in (
        (-1.0, "played_s is -1.0, but must be a number"),
        ("2", "played_s is '2'"),
        (float("nan"), "played_s is nan"),
        (0.0, "but was .* before: count on"),
        (99.0, "99.000, but only"),
    ):
        with pytest.raises(ConfigError, match=message):
            session.played(wrong)  # type: ignore[arg-type]
    assert session.unplayed_s == pytest.approx(chunk.duration_s / 2)
    session.finish()
    words = [word.text for each in [chunk, *session.chunks()] for word in each.words]
    assert words == ["crocodilecrocodile", "two", "three"]
    with pytest.raises(SessionError):
        session.push("more")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (None, None),
        (False, None),
        (True, KeepUp()),
        (KeepUp(3.0), KeepUp(3.0)),
        ("lag_s=2,max_speed=1.4", KeepUp(2.0, 1.4)),
        ({"lag_s": 2, "gather": 3}, KeepUp(2.0, gather=3)),
    ],
)
def test_it_is_described_in_several_forms(spec: object, expected: KeepUp | None) -> None:
    assert keep_up(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lag=2", "unknown option 'lag' .did you mean 'lag_s'"),
        ("2", "keep_up is str '2', but must be true .on., false .off., options such as lag_s=2"),
        ({"max_speed": "fast"}, "max_speed: expected float"),
        ({"max_speed": 0.5}, "max_speed is 0.5, but must be a number from 1 to 10"),
        ({"lag_s": 0}, "lag_s is 0"),
        ({"gather": 1.5}, "gather: expected int"),
        (3, "keep_up is int 3"),
    ],
)
def test_what_is_wrong_in_it_is_named(spec: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        keep_up(spec)


def test_it_is_on_or_off() -> None:
    assert keep_up("on") == keep_up(True) == KeepUp()
    assert keep_up("off") is keep_up(False) is keep_up(None) is None


def test_a_voice_follows_as_far_as_it_can(heart: Voice) -> None:
    with pytest.raises(
        ConfigError, match=r"max_speed is 2.5, but can be 2 at most at a speed of 1"
    ):
        heart.session(keep_up={"max_speed": 2.5})
    with pytest.raises(ConfigError, match=r"but can be 1.33333 at most at a speed of 1.5"):
        heart.session(keep_up=True, speed=1.5)
    text = "The river was high, and the old bridge shook under the carts that crossed it. It held."
    plain = heart.synthesize(text)
    hurried = heart.synthesize(text, keep_up="lag_s=0.2,max_speed=1.6")
    assert 1.3 < len(plain) / len(hurried) < 1.9
    # Far below the lag nothing changes, to the bit.
    assert np.array_equal(plain, heart.synthesize(text, keep_up=KeepUp(lag_s=1000)))


def test_the_end_of_a_word_is_drawn_out_and_not_cut(heart: Voice) -> None:
    lasting = dict[float, float]()
    for stretch in (1.0, 2.0):
        session = heart.session(policy=LookaheadK(0), keep_up=KeepUp(stretch=stretch))
        session.push("I saw the old house ")
        before = list(session.chunks())
        session.played(sum(chunk.duration_s for chunk in before) - 0.05)
        rest = list(session.chunks())
        lasting[stretch] = sum(chunk.duration_s for chunk in rest)
        # Nothing jumps at the join, and it has faded where it ends.
        samples = sound([*before, *rest])
        jumps = np.abs(np.diff(samples))
        at = len(sound(before))
        assert jumps[at - 1] < np.percentile(jumps, 99)
        assert np.abs(samples[-120:]).max() < 0.1 * np.abs(samples).max()
    assert 0.05 < lasting[1.0] < lasting[2.0] < 0.4


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_opportunistic_uses_what_is_there_and_never_waits(data: st.DataObject) -> None:
    text = data.draw(texts())
    most = data.draw(st.integers(0, 3))

    def run(policy: Any, fragments: list[str]) -> list[AudioChunk]:
        session = toy_session(policy)
        out = list[AudioChunk]()
        for fragment in fragments:
            session.push(fragment)
            out += session.chunks() if len(fragments) > 1 else []
        session.finish()
        return [*out, *session.chunks()]

    # All at once it is lookahead; letter by letter no word of plain text has another one behind it.
    assert np.array_equal(
        sound(run(Opportunistic(most), [text])), sound(run(LookaheadK(most), [text]))
    )
    plain = list("one two three four. Five six seven")
    assert np.array_equal(sound(run(Opportunistic(most), plain)), sound(run(LookaheadK(0), plain)))


def test_opportunistic_reads_no_more_than_it_may_see() -> None:
    session = toy_session(Opportunistic(2))
    session.push("one two three. " * 10_000)
    assert session.pull() is not None
    sentence: Any = session._sentence
    assert len(sentence._pending) < 50
    with pytest.raises(ConfigError, match="Opportunistic: most"):
        Opportunistic(-1)
