"""Deep Voice 3 at run time: words as they come against the whole, and that it always ends."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.attention import (
    IDS,
    PLAIN,
    SPACE,
    WORDS,
    Forced,
    Spy,
    acoustic,
    graph,
    segment,
    word_by_word,
    words_are_the_sentence,
)
from support.effort import examples
from support.texts import splits, texts
from support.toy_voices import toy

from sayahead import AudioChunk, ConfigError, Voice
from sayahead.research import LookaheadK, Policy, Session, WaitAll
from sayahead.systems.ma import MAX_FRAMES
from sayahead.text.reading.stream import normalize
from sayahead.types import Floats, Rendering, Segment


@pytest.mark.parametrize("name", ["ma", "ma-wavernn"])
def test_words_that_see_enough_are_the_whole_sentence(name: str) -> None:
    model, encoder, _ = acoustic(name)
    words_are_the_sentence(model, encoder)


def test_what_is_expected_is_what_comes() -> None:
    runtime, _, _ = acoustic()
    whole, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    made, _ = word_by_word(runtime, None, hold_back=6)
    free, _ = word_by_word(runtime, None)
    # Cut between steps, and never less held back than was asked for.
    assert len(free[0].final) - len(made[0].final) == 8
    at = 0
    for frames in made[:-1]:
        at += len(frames.final)
        # For the nine frames that the vocoder sees.
        assert len(frames.right) == 12
        right = whole.final[at : at + len(frames.right)]
        assert np.abs(frames.right[: len(right)] - right).max() < 1e-3
    assert len(made[-1].right) == 0


@pytest.mark.parametrize("lookahead", [0, 1, 2])
def test_phonemes_come_in_order_and_none_is_left_out(lookahead: int) -> None:
    runtime, encoder, decoder = acoustic()
    made, states = word_by_word(runtime, lookahead, hold_back=3)
    shown = dict[int, int]()
    for call in encoder.calls:
        assert np.array_equal(np.diff(call["places"]), np.ones(len(call["ids"]) - 1))
        shown |= zip(call["places"].tolist(), call["ids"].tolist(), strict=True)
    assert [shown[place] for place in range(len(IDS) + 2)] == [0, *IDS.tolist(), 0]
    assert len(encoder.calls) == len(WORDS)
    # Where nothing is visible behind a word, a space is what attention can go on to.
    for call, (_, end) in zip(encoder.calls, WORDS[lookahead:-1], strict=False):
        assert call["ids"].tolist()[-4:] == (
            [*IDS[end - 3 : end], SPACE] if lookahead == 0 else list(IDS[end - 4 : end])
        )
    # What attention leaves never comes back, and it never jumps further than its window.
    edges = [
        place for a, b in (pair for frames in made for pair in frames.words) for place in (a, b)
    ]
    assert edges == sorted(edges)
    assert edges[-1] <= sum(len(frames.final) for frames in made)
    attended = [state.past.attended[0] for state in states[:-1]]
    assert attended == sorted(attended)
    for (_, end), state in zip(WORDS, states[1:-1], strict=False):
        last = state.held[-1][0] if state.held else state.past.attended[0]
        assert end - 2 <= last <= end
    assert all(call["memory1"].shape[0] <= 3 for call in decoder.calls)


def test_a_state_stays_as_it_was() -> None:
    runtime, _, _ = acoustic()
    _, states = word_by_word(runtime, 1, hold_back=4)
    past = states[1].past
    ids = states[1].ids
    before = past.frames.copy(), past.cache.copy(), ids.copy()
    one, two = (runtime.step(segment(1, 2, 3), states[1], PLAIN, hold_back=4) for _ in range(2))
    assert np.array_equal(one[0].final, two[0].final)
    assert np.array_equal(one[1].past.cache, two[1].past.cache)
    assert np.array_equal(before[0], past.frames)
    assert np.array_equal(before[1], past.cache)
    assert np.array_equal(before[2], ids)


@pytest.mark.parametrize(
    ("rendering", "provisional"),
    [
        (PLAIN, 3),
        (replace(PLAIN, delta=0), 1),
        (replace(PLAIN, k2=1), 1),
        (replace(PLAIN, delta=5), 2),
    ],
)
def test_nothing_provisional_is_made_that_nobody_hears(
    rendering: Rendering, provisional: int
) -> None:
    runtime, _, decoder = acoustic()
    frames, state = runtime.step(segment(0, 1, 3), runtime.initial(), rendering, hold_back=0)
    assert len(frames.final) == 4 * state.past.number > 0
    # The step at which attention is behind the words is always made: nothing else tells that they
    # are done.
    assert len(decoder.calls) == state.past.number + provisional
    assert len(frames.right) == (4 * provisional if provisional > 1 else 0)


def resting(stop: float) -> Forced:
    """A decoder whose attention looks at the first of its window."""
    return Forced(graph(), stop, "weights1", "weights2")


@pytest.mark.parametrize(("stop", "steps"), [(0.0, 5 * (len(IDS) + 2)), (1.0, 5 * len(IDS) + 1)])
def test_attention_that_rests_too_long_is_moved_on(stop: float, steps: int) -> None:
    runtime, _, _ = acoustic(decoder=resting(stop), longest=5)
    frames, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    # A stop is believed once attention is behind the last phoneme that sounds, which the period
    # follows here.
    assert len(frames.final) == 4 * steps
    assert frames.words[0] == (4 * 5, 4 * 5 * 6)
    assert frames.words[-1] == (4 * 5 * 16, 4 * 5 * 20)


def test_a_stop_inside_a_sentence_is_not_believed() -> None:
    runtime, _, _ = acoustic(decoder=resting(1.0), longest=5)
    # Its last two ids are a comma's, say.
    frames, _ = runtime.step(
        Segment(IDS, 5, ((0, 3),), True), runtime.initial(), PLAIN, hold_back=0
    )
    assert len(frames.final) == 4 * 5 * 6
    assert frames.words == ((4 * 5, 4 * 5 * 4),)


def test_it_stops_early_and_rests_forever_where_it_may() -> None:
    """Where the paper lets attention and stop do as they like, rules of the runtime can be switched
    off."""
    said = Segment(np.array([50, 83, 54, 156]), 4, ((0, 4),), True)

    def frames(stop: float, **rules: Any) -> int:
        model, _, _ = acoustic(decoder=resting(stop), **rules)
        made, _ = model.step(said, model.initial(), Rendering(), hold_back=0)
        assert made.ended
        return len(made.final)

    phonemes = 6
    assert frames(1.0, early_stop=True) == 4
    # Moved on from phoneme to phoneme until all that sound are passed.
    assert frames(1.0, longest=2) == 5 * 2 * 4 + 4
    assert frames(0.0, longest=2) == phonemes * 2 * 4
    assert frames(0.0, longest=0) == phonemes * MAX_FRAMES
    with pytest.raises(ConfigError, match="longest is -1"):
        frames(0.0, longest=-1)


@pytest.mark.parametrize("ahead", [(0, 2), (2, 0)])
def test_attentions_that_part_stay_in_view(ahead: tuple[int, int]) -> None:
    class Steered(Spy):
        def __call__(self, **inputs: Any) -> dict[str, Any]:
            sizes = [len(inputs[f"memory{i + 1}"]) for i in (0, 1)]
            went = {
                f"weights{i + 1}": np.eye(sizes[i])[[min(ahead[i], sizes[i] - 1)]] for i in (0, 1)
            }
            return {**super().__call__(**inputs), **went}

    runtime, _, _ = acoustic("ma-wavernn", decoder=Steered(graph("ma-wavernn")), longest=5)
    _, states = word_by_word(runtime, 2)
    for before, state in itertools.pairwise(states[:-1]):
        assert state.past.attended[1] >= before.first
    # Words that were predicted, and seen, do not come: the text is shorter than it was.
    _, state = runtime.step(segment(0, 1, 3), runtime.initial(), PLAIN, hold_back=0)
    last, _ = runtime.step(Segment(np.zeros(0, np.int64), 0, (), True), state, PLAIN, hold_back=0)
    assert last.ended
    assert len(last.final) > 0


def test_without_a_continuation_a_word_ends_when_its_last_phoneme_has_lasted() -> None:
    runtime, _, _ = acoustic(decoder=resting(0.0), blind=(), longest=5)
    frames, _ = runtime.step(segment(0, 1, 1), runtime.initial(), PLAIN, hold_back=0)
    assert len(frames.final) == 4 * (5 * 6 - 1)


def test_a_sentence_may_be_closed_without_words() -> None:
    runtime, _, _ = acoustic()
    nothing = np.zeros(0, np.int64)
    for hold_back in (0, 8):
        first, state = runtime.step(segment(0, 1, 1), runtime.initial(), PLAIN, hold_back=hold_back)
        # A word without a sound says nothing and changes nothing.
        silent, same = runtime.step(
            Segment(nothing, 0, ((0, 0),), False), state, PLAIN, hold_back=hold_back
        )
        end = 4 * (state.past.number + len(state.held))
        assert (len(silent.final), silent.words, silent.ended) == (0, ((end, end),), False)
        assert same is state
        last, state = runtime.step(Segment(nothing, 0, (), True), state, PLAIN, hold_back=hold_back)
        assert (last.words, last.ended, len(state.ids)) == ((), True, 0)
        assert len(first.final) + len(last.final) >= end >= first.words[0][1]


@pytest.fixture(scope="module", params=["ma", "ma-clarinet"])
def voice(request: pytest.FixtureRequest) -> Voice:
    return toy(request.param)


POLICIES: list[Policy] = [
    LookaheadK(0),
    LookaheadK(1),
    LookaheadK(2, first_chunk=18, chunk=6),
    WaitAll(),
]


def chunks(session: Session, fragments: list[str]) -> list[AudioChunk]:
    made = list[AudioChunk]()
    for fragment in fragments:
        session.push(fragment)
        made += session.chunks()
    session.finish()
    return [*made, *session.chunks()]


def sound(made: list[AudioChunk]) -> Floats:
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in made)])


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.data())
def test_sessions_keep_their_promises(voice: Voice, data: st.DataObject) -> None:
    text = data.draw(texts())
    fragments = data.draw(splits(text))
    options: dict[str, Any] = {
        "policy": data.draw(st.sampled_from(POLICIES)),
        "hold_back_s": data.draw(st.sampled_from([0.0, 0.05, 0.12])),
        "research": {
            "k2": data.draw(st.integers(0, 2)),
            "delta": data.draw(st.sampled_from([None, 0, 3])),
        },
    }
    whole, parts = (chunks(voice.session(**options), pushed) for pushed in ([text], fragments))
    assert np.array_equal(sound(whole), sound(parts))
    timings = [timing for chunk in whole for timing in chunk.words]
    assert timings == [timing for chunk in parts for timing in chunk.words]
    assert [(w.text, w.start, w.end) for w in timings] == [
        (w.text, w.start, w.end) for w in normalize(text)
    ]
    ends = [word.ends for word in normalize(text)]
    for ended, timing, after in zip(ends, timings, timings[1:], strict=False):
        assert timing.onset_samples <= timing.offset_samples
        assert timing.onset_samples <= after.onset_samples
        assert ended or timing.offset_samples <= after.onset_samples
    assert not timings or timings[-1].offset_samples <= len(sound(whole))


def test_a_pace_that_it_does_not_have_is_refused(voice: Voice) -> None:
    with pytest.raises(ConfigError, match=r"speed is 1\.5, but must be a number from 1 to 1"):
        voice.session(speed=1.5)
