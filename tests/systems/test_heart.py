"""The default voice: its sound, its silence, and that streaming changes neither."""

from __future__ import annotations

import copy
import itertools
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.texts import splits, texts

from sayahead import AudioChunk, Voice
from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.engine.policy import READ
from sayahead.engine.stages import Frames, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.research import LookaheadK, Policy, RandomWords, Read, Speak, View, WaitAll
from sayahead.systems.durations import MAX_OWED, whole_units
from sayahead.systems.heart import HeartAcoustic, HeartConfig
from sayahead.types import Floats, Ids, Rendering, Segment, Word
from sayahead.vocoders.heart import HeartVocoder
from sayahead.voices import installed_voices

AUDIBLE = 10 ** (-50 / 20)
TEXT = "The quick brown fox jumps over the lazy dog, and nobody minded. Then it slept."
VOICED = (
    "We were away a year ago, and I owe you more than any lawyer will.",
    "Our yellow lion will never lie on a warm marble wall all morning.",
    "Many a man in an airy room will laugh at a rumour of war and roam alone.",
    "You may read aloud, now and then, a line or a whole long novel.",
)


def streamed(voice: Voice, fragments: list[str], **options: Any) -> Floats:
    chunks = [chunk.samples for chunk in voice.stream(fragments, **options)]
    return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_split_gives_bit_identical_audio(heart: Voice, data: st.DataObject) -> None:
    text = data.draw(texts())
    policy = LookaheadK(data.draw(st.integers(0, 2)))
    speed = data.draw(st.sampled_from([1.0, 1.4]))
    whole = heart.synthesize(text, policy=policy, speed=speed)
    assert np.array_equal(
        whole, streamed(heart, data.draw(splits(text)), policy=policy, speed=speed)
    )


@pytest.mark.parametrize("k", [0, 1, 2, 5])
@pytest.mark.parametrize("text", [TEXT, "Apples are red.", "She sat. He stood!", "Psst! Hello?"])
def test_silence_is_bounded_at_both_ends(heart: Voice, k: int, text: str) -> None:
    samples = heart.synthesize(text, policy=LookaheadK(k))
    audible = np.flatnonzero(np.abs(samples) > AUDIBLE)
    assert audible[0] <= 0.040 * heart.sample_rate
    silence = len(samples) - 1 - audible[-1]
    assert silence == round(heart.config.pause_s * heart.sample_rate)


@pytest.mark.parametrize(
    "text", ["at a distance from the prison.", "The police asked him.", "and recognized as one."]
)
def test_a_short_first_word_is_not_torn_from_its_start(heart: Voice, text: str) -> None:
    """Its start is final while its end is held back; the silence before it must not grow
    afterwards."""
    samples = heart.synthesize(text, policy=LookaheadK(0))[: round(0.5 * heart.sample_rate)]
    audible = np.flatnonzero(np.abs(samples) > AUDIBLE)
    assert np.diff(audible).max() < 0.15 * heart.sample_rate


def test_whole_sentences_sound_as_long_as_the_original_voice(heart: Voice) -> None:
    """A sentence given whole lasts as long as hibari's and has its spectrum."""
    from hibari import Hibari

    text = "The birch canoe slid on the smooth planks."
    original = Hibari()(text, seed=0)
    ours = heart.synthesize(text, policy=WaitAll())

    def audible(samples: Floats) -> int:
        loud = np.flatnonzero(np.abs(samples) > AUDIBLE)
        return int(loud[-1] - loud[0])

    assert abs(audible(original) - audible(ours)) < 0.15 * heart.sample_rate
    # The long-time spectra agree too: it is the same voice.
    spectra = [
        np.abs(np.fft.rfft(x, 1 << 18))[: 1 << 16].reshape(64, -1).mean(1) for x in (original, ours)
    ]
    assert np.abs(np.log(spectra[0] / spectra[1])).mean() < 0.25


def test_speed_and_volume(heart: Voice) -> None:
    lengths = [len(heart.synthesize(TEXT, speed=speed)) for speed in (0.5, 1.0, 2.0)]
    assert lengths[0] > 1.6 * lengths[1]
    assert lengths[1] > 1.4 * lengths[2]
    quiet, plain = (heart.synthesize("Hello there.", volume=volume) for volume in (0.25, 1.0))
    assert np.allclose(quiet, plain * 0.25, atol=1e-6)
    assert np.abs(heart.synthesize("Hello there.", volume=4.0)).max() <= 1.0


@pytest.mark.parametrize("k", [1, None])
def test_speech_is_as_much_faster_as_was_asked_for(heart: Voice, k: int | None) -> None:
    """Durations are whole units, and the unit is half of a usual phoneme: rounded one by one,
    speeds go astray."""
    policy = WaitAll() if k is None else LookaheadK(k)
    text = (
        "The quick brown fox jumps over the lazy dog and runs along the river to the old bridge"
        " behind the mill."
    )
    pause = round(heart.config.pause_s * heart.sample_rate)
    own, *others = (
        len(heart.synthesize(text, policy=policy, speed=speed)) - pause
        for speed in (1, 0.8, 1.3, 1.4, 1.7)
    )
    for speed, length in zip((0.8, 1.3, 1.4, 1.7), others, strict=True):
        assert own / length == pytest.approx(speed, rel=0.06)


@given(st.lists(st.floats(0.3, 9.0), min_size=2, max_size=60), st.floats(-2, 0.5))
def test_what_rounding_takes_is_given_back(lasting: list[float], owed: float) -> None:
    durations = np.array(lasting, np.float32)
    least = np.ones(len(lasting), np.int64)
    everywhere = np.ones(len(lasting), bool)
    units, carried = whole_units(durations, least, everywhere, owed)
    assert (units >= 1).all()
    # Where phonemes have their least, they may be longer than was asked for; never shorter.
    assert durations.sum() + owed - units.sum() <= 0.5 + 1e-3
    assert carried.min() >= -MAX_OWED
    if (units > 1).all():
        assert abs(durations.sum() + owed - units.sum()) <= 0.5 + 1e-3
    # In two steps it is what it is in one.
    at = len(lasting) // 2
    first, before = whole_units(durations[:at], least[:at], everywhere[:at], owed)
    rest, _ = whole_units(durations[at:], least[at:], everywhere[at:], before[-1])
    assert np.array_equal(np.concatenate([first, rest]), units)
    # What is said at the voice's own speed is rounded, each by itself.
    plain, nothing = whole_units(durations, least, ~everywhere, owed)
    assert np.array_equal(plain, np.maximum(np.rint(durations), 1))
    assert not nothing.any()


class Watched:
    """An acoustic model whose frames are kept, and how many each step was to hold back."""

    def __init__(self, acoustic: Any) -> None:
        self.acoustic = acoustic
        self.frames = list[Frames]()
        self.held = list[int]()

    def initial(self) -> Any:
        return self.acoustic.initial()

    def step(
        self, segment: Segment, state: Any, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, Any]:
        frames, state = self.acoustic.step(segment, state, rendering, hold_back=hold_back)
        self.frames.append(frames)
        self.held.append(hold_back)
        return frames, state


def watched(voice: Voice, acoustic: Any = None) -> tuple[Voice, Watched]:
    """The voice with its acoustic model, or another, watched."""
    assert isinstance(voice.synthesizer, TwoStage)
    synthesizer = copy.copy(voice.synthesizer)
    seen = Watched(acoustic or voice.synthesizer.acoustic)
    synthesizer.acoustic = seen
    return voice.with_synthesizer(synthesizer), seen


class Faster:
    """A normalizer that gives its words a speed."""

    def __init__(self, normalizer: Any, speeds: dict[str, float], otherwise: float = 1.0) -> None:
        self._normalizer = normalizer
        self._speeds = speeds
        self._otherwise = otherwise
        self.skipped: list[Any] = []

    def push(self, text: str) -> list[Word]:
        return [
            replace(w, speed=self._speeds.get(w.text, self._otherwise))
            for w in self._normalizer.push(text)
        ]

    def flush(self) -> list[Word]:
        return [
            replace(w, speed=self._speeds.get(w.text, self._otherwise))
            for w in self._normalizer.flush()
        ]


def at_speeds(
    voice: Voice, speeds: dict[str, float], otherwise: float = 1.0, **options: Any
) -> list[AudioChunk]:
    def normalizer(begin: int) -> Any:
        return Faster(voice.loaded.normalizer(begin), speeds, otherwise)

    return list(
        Voice(voice.config, replace(voice.loaded, normalizer=normalizer)).stream([TEXT], **options)
    )


@pytest.mark.parametrize("policy", ["lookahead", "lookahead:k=0", "wait-all"])
def test_words_have_speeds_of_their_own(heart: Voice, policy: str) -> None:
    options: dict[str, Any] = {"policy": policy, "hold_back_s": 0.1}
    plain = list(heart.stream([TEXT], **options))
    same = at_speeds(heart, {}, **options)
    assert all(np.array_equal(a.samples, b.samples) for a, b in zip(plain, same, strict=True))
    words = [word for chunk in plain for word in chunk.words]
    slow = {"jumps": 0.6, "over": 0.6, "the": 0.6, "lazy": 0.6, "dog,": 0.6}
    slower = [word for chunk in at_speeds(heart, slow, **options) for word in chunk.words]
    for before, after in zip(words, slower, strict=True):
        ratio = (after.offset_samples - after.onset_samples) / (
            before.offset_samples - before.onset_samples
        )
        # The second sentence starts anew; the first "the" is capitalised.
        assert 1.3 < ratio < 2.3 if before.text in slow else 0.7 < ratio < 1.4


def test_all_words_at_one_speed_are_a_session_of_that_speed(heart: Voice) -> None:
    for policy in ("lookahead", "wait-all"):
        whole = np.concatenate(
            [chunk.samples for chunk in heart.stream([TEXT], policy=policy, speed=1.25)]
        )
        chunks = at_speeds(heart, {}, 1.25, policy=policy)
        assert np.array_equal(whole, np.concatenate([chunk.samples for chunk in chunks]))


def test_the_seed_changes_the_noise_and_nothing_else(heart: Voice) -> None:
    one, same, other = (heart.synthesize(TEXT, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert len(one) == len(other)
    assert 0 < np.abs(one - other).max() < 0.3


@pytest.mark.parametrize("size", [7, 22])
def test_frames_in_a_window_are_those_of_the_whole_to_the_bit(heart: Voice, size: int) -> None:
    """Linear layers compute in integers by fixed ranges: no row depends on others, but for what
    convolutions see."""
    graph = heart.synthesizer.vocoder.graph  # type: ignore[attr-defined]
    draw = np.random.default_rng(0)
    frames = 90
    encoding = np.repeat(draw.normal(size=(frames // 6, 128)), 6, axis=0).astype(np.float32)
    f0 = (180 + 40 * np.sin(np.arange(frames) / 9)).astype(np.float32)
    names = ("sound_encoding", "f0", "energy")
    given = dict(zip(names, (encoding, f0, np.ones(frames, np.float32)), strict=True))
    begun = {
        "input_cache": np.zeros((3, 130), np.float32),
        "cache": np.zeros((24, 256), np.float32),
    }
    whole = graph(**given, rows=count(frames), commit=count(frames), **begun)["spectrum"]
    made = []
    caches = begun
    for at in range(0, frames, size):
        new = min(size, frames - at)
        part = {name: values[at : at + new + HeartVocoder.REACH] for name, values in given.items()}
        out = graph(**part, rows=count(new), commit=count(new), **caches)
        caches = {"input_cache": out["next_input_cache"], "cache": out["next_cache"]}
        made.append(out["spectrum"])
    assert np.array_equal(np.concatenate(made), whole)


def test_joins_carry_no_clicks(heart: Voice) -> None:
    """At chunk boundaries the signal jumps no more than it does inside chunks."""
    chunks = [chunk.samples for chunk in heart.stream([TEXT], policy=LookaheadK(1))]
    samples = np.concatenate(chunks)
    jumps = np.abs(np.diff(samples))
    seams = np.cumsum([len(chunk) for chunk in chunks])[:-1] - 1
    assert np.median(jumps[seams]) <= np.percentile(jumps, 90)
    assert jumps[seams].max() <= np.percentile(jumps, 99.9)


def test_pitch_goes_on_where_words_join(heart: Voice) -> None:
    """Said blindly, a word's end is expected anew when the next one comes; what is heard goes on
    from there."""
    reach = heart.synthesizer.vocoder.context  # type: ignore[attr-defined]
    folder = installed_voices()["heart"]
    own = from_mapping(HeartConfig, heart.config.model, where="model")
    graphs = {name: OnnxGraph(folder / f"{name}.onnx") for name in ("text", "prosody", "expect")}

    def kinks(config: HeartConfig) -> float:
        """By how many octaves the first step of pitch after a join differs from the last one before
        it."""
        voice, seen = watched(
            heart, HeartAcoustic(graphs, config, heart.config.phonemes, right_frames=reach)
        )
        for text in VOICED:
            voice.synthesize(text, policy=LookaheadK(0))
        steps = [frames.final[:, 128] for frames in seen.frames]
        steps = [pitch for pitch in steps if len(pitch) > 1]
        joins = [np.array([*one[-2:], other[0]]) for one, other in itertools.pairwise(steps)]
        found = [np.abs(np.diff(np.log2(pitch), n=2))[0] for pitch in joins if pitch.min() > 40]
        assert len(found) > 30
        return float(np.median(found))

    assert kinks(own) < 0.8 * kinks(replace(own, glide_s=0))


def test_what_is_held_back_is_drawn_out_by_what_follows(heart: Voice) -> None:
    """A word at a phrase's end is said too short while that cannot be seen; what is held back can
    still be longer."""
    text = "The members of the committee that he had seen were of the type that nobody likes."

    def lengths(voice: Voice, **options: Any) -> Ids:
        voice, seen = watched(voice)
        voice.synthesize(text, **options)
        words = list[tuple[int, int]]()
        for frames in seen.frames:
            words = [*moved(words, frames.drawn), *frames.words]
        return np.array([end - first for first, end in words])

    whole = lengths(heart, policy=WaitAll())
    blind, drawn = (lengths(heart, policy=LookaheadK(0), hold_back_s=held) for held in (0.0, 0.1))
    # What is held back is not final yet, and what is remembered of it moves other lengths by a
    # unit.
    assert (drawn >= blind - 2).all()
    assert (drawn > blind).any()
    assert np.abs(drawn - whole).sum() < 0.8 * np.abs(blind - whole).sum()


def test_words_told_before_move_with_what_is_drawn_out() -> None:
    assert moved([(0, 10), (10, 20), (22, 30)], [(10, 4), (22, 2)]) == ((0, 14), (14, 24), (28, 36))
    assert moved([(0, 10)], []) == ((0, 10),)


def test_threads_share_a_voice(heart: Voice) -> None:
    expected = [heart.synthesize(f"This is number {i}.") for i in range(4)]
    found: dict[int, Floats] = {}

    def speak(i: int) -> None:
        found[i] = heart.synthesize(f"This is number {i}.")

    threads = [threading.Thread(target=speak, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(expected[i], found[i]) for i in range(4))


def test_more_lookahead_than_the_sentence_has_is_the_whole_sentence(heart: Voice) -> None:
    """With everything visible, words last as long as in the whole sentence."""
    whole = [w for c in heart.stream([TEXT], policy=WaitAll()) for w in c.words]
    words = [w for c in heart.stream([TEXT], policy=LookaheadK(50)) for w in c.words]
    assert [(w.text, w.offset_samples - w.onset_samples) for w in whole[:-1]] == [
        (w.text, w.offset_samples - w.onset_samples) for w in words[:-1]
    ]


def test_a_long_sentence_costs_the_same_per_word(heart: Voice) -> None:
    """What a step sees is bounded: its inputs stop growing, whatever came before."""
    session = heart.session()
    sizes = []
    for _ in range(16):
        session.push("and then the little cat went on ")
        list(session.chunks())
        state = session._state
        sizes.append(
            (
                len(state.acoustic.ids),
                state.acoustic.held,
                len(state.progress.unheard),
                len(session._untimed),
            )
        )
    assert sizes[-1][0] == sizes[-2][0] <= heart.config.model["window"]
    assert max(size[0] for size in sizes) <= heart.config.model["window"]
    assert all(max(size[1:]) <= 4 for size in sizes)


@pytest.mark.parametrize("hold_back_s", [0.0, 0.1])
def test_words_that_make_no_sound_are_passed_over(heart: Voice, hold_back_s: float) -> None:
    """A word of which the voice knows no phoneme takes its place in the timings and no time."""
    chunks = list(
        heart.stream(["Hello ", "| ", "there."], policy=LookaheadK(0), hold_back_s=hold_back_s)
    )
    assert [w.text for c in chunks for w in c.words][-1] == "there."


@pytest.mark.parametrize("k", [0, 1, None])
def test_words_are_timed_where_they_sound(heart: Voice, k: int | None) -> None:
    policy = WaitAll() if k is None else LookaheadK(k)
    for text in (
        "Nobody had told them about the time.",
        "Apples are eaten by many animals.",
        "We never knew.",
    ):
        chunks = list(heart.stream([text], policy=policy))
        sound = np.flatnonzero(
            np.abs(np.concatenate([chunk.samples for chunk in chunks])) > 10 ** (-40 / 20)
        )
        words = [word for chunk in chunks for word in chunk.words]
        # An onset is where the phoneme begins, which may be a little before it is loud.
        assert -0.05 < (words[0].onset_samples - sound[0]) / 24000 < 0.03
        assert -0.05 < (words[-1].offset_samples - sound[-1]) / 24000 < 0.06


@dataclass(frozen=True)
class FirstBlind:
    """A sentence's first word without lookahead, the others with one word of it."""

    unit = "words"

    def decide(self, view: View) -> Read | Speak:
        ahead = 1 if view.past else 0
        if len(view.pending) > ahead or (view.pending and view.pending[-1].ends):
            return Speak(1, ahead)
        return READ


def test_a_word_that_is_spoken_blind_is_held_back_as_without_lookahead(heart: Voice) -> None:
    voice, seen = watched(heart)

    def frames(policy: Policy, **options: Any) -> list[int]:
        seen.held.clear()
        streamed(voice, ["Extraordinary developments followed "], policy=policy, **options)
        return seen.held[:2]

    assert frames(LookaheadK(0)) == [8, 8]
    assert frames(LookaheadK(1)) == [4, 4]
    assert frames(FirstBlind()) == [8, 4]
    assert frames(LookaheadK(0), context=RandomWords()) == [8, 8]
    assert frames(FirstBlind(), hold_back_s=0.075) == [6, 6]
