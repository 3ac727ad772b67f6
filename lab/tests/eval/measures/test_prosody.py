"""Prosody: what is known of two recordings comes back as figures; recording changes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import cast

import numpy as np
import pytest
from sayahead import Voice
from sayahead.engine.context import NoContext
from sayahead.engine.policy import WordPolicy
from sayahead.engine.sentence import Words
from sayahead.engine.session import Session
from sayahead.engine.synthesizer import AnySynthesizer, Pauses, TwoStage
from sayahead.errors import ConfigError
from sayahead.research import LookaheadK, WaitAll
from sayahead.sound.pitch import HOP_S, pitch_hz
from sayahead.text.reading.stream import new_reader
from sayahead.types import Floats, Rendering
from support.toy import HOP, RATE, ToyAcoustic, ToyPhonemizer, ToyVocoder

from sayahead_lab.eval.measures.intervals import correlation, moments, rmse
from sayahead_lab.eval.measures.prosody import (
    AcousticRecorder,
    Deviation,
    ListenedUtterance,
    Recording,
    differences,
    from_sound,
    prosody,
    recorded,
    sums,
)

TEXT = "The quick brown fox jumps over the lazy dog. Then it slept."


def said(recorder: AcousticRecorder[object], text: str, policy: WordPolicy) -> Floats:
    synthesizer = TwoStage(
        recorder, ToyVocoder(), sample_rate=RATE, pauses=Pauses(lead_in=10, pause=800)
    )
    rendering = Rendering(hold_back_s=0.02)
    sentence = Words(policy, ToyPhonemizer(), NoContext())
    session = Session(synthesizer, new_reader, sentence, rendering=rendering)
    session.push(text)
    session.finish()
    return np.concatenate([chunk.samples for chunk in session.chunks()])


def toy_recorder() -> AcousticRecorder[object]:
    return cast(
        AcousticRecorder[object], AcousticRecorder(ToyAcoustic(), frame_s=HOP / RATE, pitch=0)
    )


def recording(
    pitch: Sequence[float], words: list[tuple[int, int]], sentences: list[int] | None = None
) -> Recording:
    phonemes = tuple(max(0, end - first) for first, end in words)
    numbers = tuple(sentences or [0] * len(words))
    return Recording(np.array(pitch, np.float32), tuple(words), phonemes, numbers, frame_s=0.01)


def test_a_recording_holds_all_words_and_frames() -> None:
    recorder = toy_recorder()
    said(recorder, TEXT, WaitAll())
    made = recorder.recording
    assert made.phonemes == tuple(len(word) for word in TEXT.split())
    assert made.sentences == (0,) * 9 + (1,) * 3
    # No word overlaps the next, in the second sentence neither, and all have frames.
    edges = [edge for word in made.words for edge in word]
    assert edges == sorted(edges)
    assert edges[-1] <= len(made.pitch)
    assert all(end > first for first, end in made.words)


def test_a_new_session_begins_a_new_recording() -> None:
    recorder = toy_recorder()
    said(recorder, TEXT, WaitAll())
    first = recorder.recording
    said(recorder, "Hello.", WaitAll())
    assert len(recorder.recording.words) == 1
    assert len(first.words) == 12


def test_lookahead_differs_from_the_full_sentence_and_the_full_sentence_not_from_itself() -> None:
    recorder = toy_recorder()
    said(recorder, TEXT, WaitAll())
    full = recorder.recording
    same = prosody([differences(full, full)])
    assert same.duration_ms.mean_absolute == same.pitch_cents.rmse == same.voicing_error == 0
    assert same.duration_ms.correlation == pytest.approx(1)
    said(recorder, TEXT, LookaheadK(0))
    # The toy's last letter of a word is as long as the letter behind it says.
    found = prosody([differences(recorder.recording, full)])
    assert found.duration_ms.values == 12
    assert found.duration_ms.mean_absolute > 0


def test_durations_pauses_and_pitch_by_hand() -> None:
    full = recording([0, 200, 200, 100, 100, 0, 150], [(1, 3), (3, 5), (6, 7)])
    # The first word twice as long and an octave higher, the second as long and without a voice, the
    # last after a pause.
    made = recording([400] * 4 + [0, 0, 0, 0, 150], [(0, 4), (4, 6), (8, 9)])
    found = differences(made, full)
    assert found.durations_ms.tolist() == [[40, 20, 10], [20, 20, 10]]
    assert found.pauses_ms.tolist() == [[0, 20], [0, 10]]
    assert found.frames == 5
    assert found.flipped == 2
    total = prosody([found])
    assert total.duration_ms.mean == pytest.approx(20 / 3)
    assert total.duration_ms.rmse == pytest.approx(20 / math.sqrt(3))
    assert total.phoneme_ms.mean_absolute == pytest.approx((40 / 2 - 20 / 2) / 3)
    assert total.pause_ms.mean_absolute == 5
    assert total.pitch_cents.values == 3
    assert total.pitch_cents.mean == pytest.approx(800)
    assert total.voicing_error == pytest.approx(2 / 5)


def test_frames_are_mapped_linearly_within_a_word() -> None:
    full = recording([100, 110, 120, 130], [(0, 4)])
    made = recording([100, 100, 110, 110, 120, 120, 130, 130], [(0, 8)])
    assert prosody([differences(made, full)]).pitch_cents.rmse == 0
    assert prosody([differences(full, made)]).pitch_cents.rmse == 0


def test_a_word_without_sound_and_a_new_sentence_are_left_out() -> None:
    words = [(0, 2), (2, 2), (3, 4)]
    found = differences(
        recording([100] * 4, words, [0, 0, 1]), recording([100] * 4, words, [0, 0, 1])
    )
    assert found.durations_ms.shape == (2, 2)
    assert found.pauses_ms.shape == (2, 1)


def test_figures_of_nothing_are_nan() -> None:
    nothing = prosody([])
    assert nothing.duration_ms.values == 0
    assert all(math.isnan(value) for value in astuple(nothing.duration_ms)[1:])
    assert math.isnan(nothing.voicing_error)
    silent = recording([0, 0], [(0, 2)])
    found = prosody([differences(silent, silent)])
    assert found.pitch_cents.values == 0
    assert math.isnan(found.pitch_cents.rmse)
    assert found.voicing_error == 0


def test_correlation_is_nan_where_it_is_undefined() -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert correlation(np.array(moments(values, -values))) == pytest.approx(-1)
    assert np.isnan(correlation(np.array(moments(values, np.full(3, 0.1)))))
    assert np.isnan(correlation(np.array(moments(values[:1], values[:1]))))


def test_the_interval_is_over_utterances() -> None:
    full = recording([100, 100], [(0, 2)])
    compared = [differences(recording([100] * n, [(0, n)]), full) for n in (2, 3, 4, 5)]
    found = prosody(compared).duration_ms
    assert isinstance(found, Deviation)
    assert found.mean_absolute == 15
    assert 0 < found.low < 15 < found.high < 30
    assert math.isnan(prosody(compared[:1]).duration_ms.low)


def heard(pitch: Sequence[float], words: list[tuple[int, int]]) -> ListenedUtterance:
    return ListenedUtterance(np.array(pitch, np.float32), tuple(words), 1000)


def test_sound_and_word_times_give_the_same_figures_by_hand() -> None:
    # Frames of 10 ms; 1 sample is 1 ms.
    full = heard([0, 200, 200, 200, 100, 100, 0, 0], [(5, 25), (35, 55)])
    made = heard([0, 400, 400, 400, 400, 400, 0, 0, 0], [(5, 45), (55, 80)])
    found = from_sound(made, full, [2, 5])
    assert np.allclose(found.durations_ms, [[40, 25], [20, 20]])
    assert found.phonemes.tolist() == [2, 5]
    assert found.frames == 4
    # The second word has a voice in the full sentence only.
    assert found.flipped == 2
    assert found.pitch_cents[0] - found.pitch_cents[1] == pytest.approx([1200, 1200])
    total = {key: np.array(value) for key, value in sums(found).items()}
    assert rmse(total["pitch"]) == pytest.approx(1200)
    assert rmse(total["word"]) == pytest.approx(math.sqrt((20**2 + 5**2) / 2))
    assert rmse(total["phoneme"]) == pytest.approx(math.sqrt((10**2 + 1**2) / 2))
    assert total["voicing"].tolist() == [2, 4]
    same = sums(from_sound(full, full))
    assert rmse(np.array(same["word"])) == rmse(np.array(same["pitch"])) == 0
    with pytest.raises(ConfigError, match="1 and 2 words"):
        from_sound(heard([1], [(0, 1)]), full)


def test_a_word_without_sound_has_no_figures() -> None:
    found = from_sound(heard([100] * 5, [(0, 20), (20, 20)]), heard([100] * 5, [(0, 30), (30, 40)]))
    assert np.allclose(found.durations_ms, [[20], [30]])
    assert found.frames == 3


@pytest.mark.parametrize("hertz", [80.0, 130.0, 210.5, 333.0, 480.0])
def test_the_pitch_of_a_tone_with_harmonics_is_found(hertz: float) -> None:
    at_s = np.arange(12000) / 24000
    tone = sum(np.sin(2 * np.pi * hertz * n * at_s) / n for n in range(1, 6))
    pitch = pitch_hz((0.1 * np.asarray(tone)).astype(np.float32), 24000)
    assert len(pitch) == 51
    # At the ends half of the window is silence.
    assert pitch[2:-2] == pytest.approx(hertz, rel=0.001)
    assert pitch == pytest.approx(hertz, rel=0.02)


def test_silence_and_noise_have_no_pitch_and_a_glide_has_one_everywhere() -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 24000).astype(np.float32)
    assert float((pitch_hz(noise, 24000) > 0).mean()) < 0.1
    assert not pitch_hz(np.zeros(2400, np.float32), 24000).any()
    assert not len(pitch_hz(np.zeros(0, np.float32), 24000))
    hertz = np.linspace(120, 240, 24000)
    turns = np.cumsum(hertz) / 24000
    glide = sum(np.sin(2 * np.pi * n * turns) / n for n in range(1, 6))
    half = np.concatenate(
        [(0.1 * np.asarray(glide)).astype(np.float32), np.zeros(12000, np.float32)]
    )
    pitch = pitch_hz(half, 24000)
    # Without a jump by an octave, in spite of all the harmonics; and an end where the sound ends.
    assert pitch[2:98] == pytest.approx(hertz[480 : 98 * 240 : 240], rel=0.01)
    assert not pitch[105:].any()


def test_pitch_of_the_default_voice_is_the_models_own(heart: Voice) -> None:
    voice, recorder = recorded(heart)
    whole = voice.synthesize(
        "Mrs. Brown thought that Oswald had gone to the east end of the house.", policy=WaitAll()
    )
    own = recorder.recording.pitch
    frame_s = recorder.recording.frame_s
    found = pitch_hz(whole, voice.sample_rate)
    # The sound lies a little before the model's frames, as its silence at the beginning is cut.
    apart = []
    for shift_s in np.arange(-0.1, 0.02, 0.005):
        frames = np.clip(
            np.round(((np.arange(len(own)) + 0.5) * frame_s + shift_s) / HOP_S), 0, len(found) - 1
        )
        heard = found[frames.astype(np.int64)]
        both = (heard > 0) & (own > 40)
        assert both.sum() > 100
        apart.append(np.abs(1200 * np.log2(heard[both] / own[both])))
    best = min(apart, key=lambda cents: float(np.median(cents)))
    assert float(np.median(best)) < 25
    assert float((best > 600).mean()) < 0.03


def test_errors_say_what_does_not_fit(heart: Voice) -> None:
    one = recording([1], [(0, 1)])
    two = recording([1, 1], [(0, 1), (1, 2)])
    with pytest.raises(ConfigError, match="1 and 2 words"):
        differences(one, two)
    voice, recorder = recorded(heart)
    session = voice.session(policy=LookaheadK(0), hold_back_s=1.0)
    session.push("Hello there ")
    list(session.chunks())
    with pytest.raises(ConfigError, match="not finished"):
        _ = recorder.recording
    other = Voice(
        replace(heart.config, name="other"),
        replace(heart.loaded, synthesizer=cast(AnySynthesizer, object())),
    )
    with pytest.raises(ConfigError, match="'other' has no acoustic model"):
        recorded(other)


def test_the_default_voice_records_its_own_pitch(heart: Voice) -> None:
    voice, recorder = recorded(heart)
    text = "The birch canoe slid on the smooth planks."
    whole = voice.synthesize(text, policy=WaitAll())
    assert np.array_equal(whole, heart.synthesize(text, policy=WaitAll()))
    full = recorder.recording
    assert len(full.words) == 8
    assert len(full.pitch) * full.frame_s == pytest.approx(len(whole) / voice.sample_rate, abs=1)
    voiced = full.pitch[full.pitch > 40]
    assert 120 < float(np.median(voiced)) < 300
    found = {}
    for k in (0, 3):
        voice.synthesize(text, policy=LookaheadK(k))
        found[k] = prosody([differences(recorder.recording, full)])
    # More lookahead comes nearer to the full sentence.
    assert found[3].pitch_cents.mean_absolute < found[0].pitch_cents.mean_absolute
    assert found[3].duration_ms.correlation > 0.9
