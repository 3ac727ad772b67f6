"""Kokoro word by word: steps are the whole, what was spoken stays, styles and blends of them are
options."""

from __future__ import annotations

import dataclasses
import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.toy_voices import TOYS, changed, toy

from sayahead import ConfigError, Voice, VoiceError, load_voice
from sayahead.research import LookaheadK, WaitAll
from sayahead.systems.kokoro import KokoroAcoustic, KokoroState
from sayahead.text.saying.espeak.misaki import spelled
from sayahead.types import Floats, Rendering, Segment, Word, WordTiming
from sayahead.vocoders.kokoro import KokoroVocoder, source

TEXT = "Every word is said when the next is there. And then another!"


@pytest.fixture(scope="module")
def voice() -> Voice:
    return toy("kokoro")


def spoken(voice: Voice, fragments: list[str], **options: Any) -> tuple[Floats, list[WordTiming]]:
    chunks = list(voice.stream(fragments, **options))
    return np.concatenate([chunk.samples for chunk in chunks]), [
        word for chunk in chunks for word in chunk.words
    ]


def test_with_all_words_in_sight_steps_are_the_whole(tmp_path: Path) -> None:
    wide = changed("kokoro", tmp_path / "voice", model={"window": 1000, "seen": 1000})
    expected = wide.synthesize(TEXT, policy=WaitAll())
    said = wide.synthesize(TEXT, policy=LookaheadK(99))
    assert len(said) == len(expected)
    assert np.abs(said - expected).max() < 1e-5


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"policy": "lookahead:k=0"},
        {"research": {"k2": 1}},
        {"policy": WaitAll()},
        {"research": {"delta": 3}},
    ],
)
def test_any_split_gives_the_same_sound(voice: Voice, options: Any) -> None:
    (one, words), (two, others) = (
        spoken(voice, parts, **options) for parts in ([TEXT], list(TEXT))
    )
    assert np.array_equal(one, two)
    assert words == others
    assert [word.text for word in words] == TEXT.split()
    for word, after in itertools.pairwise(words):
        assert word.onset_samples <= word.offset_samples <= after.onset_samples


def test_sound_comes_before_the_sentence_is_over(voice: Voice) -> None:
    session = voice.session(policy=LookaheadK(1))
    session.push("Every word is ")
    assert sum(len(chunk.samples) for chunk in session.chunks()) > 0


def test_the_source_goes_on_where_it_was() -> None:
    hz = np.random.default_rng(0).uniform(0, 300, 40).astype(np.float32)
    turns, voiced, middles = source(hz, 0, None)
    assert len(turns) == len(voiced) == 40 * 300 + 20
    for cut in (2, 8, 31):
        after, heard, later = source(hz[cut:], int(middles[cut - 1]), float(hz[cut - 1]))
        assert np.array_equal(after, turns[10 + cut * 300 - 5 :])
        assert np.array_equal(heard, voiced[10 + cut * 300 - 5 :])
        assert np.array_equal(later, middles[cut:])
    # A tone of 240 Hz turns once in 100 samples.
    steady = source(np.full(20, 240, np.float32), 0, None)[0][160:-160]
    assert np.abs((np.diff(steady) + 0.5) % 1 - 0.5 - 0.01).max() < 1e-6


def test_units_in_steps_are_those_at_once(voice: Voice) -> None:
    vocoder: Any = voice.synthesizer.vocoder  # type: ignore[attr-defined]
    assert isinstance(vocoder, KokoroVocoder)
    acoustic: Any = voice.synthesizer.acoustic  # type: ignore[attr-defined]
    ids = voice.phonemizer.ids("ðə kwˈɪk bɹˈWn fˈɑks")
    frames = acoustic.step(
        Segment(ids, len(ids), (), True), acoustic.initial(), Rendering(), hold_back=0
    )[0].final
    whole = vocoder.step(frames, frames[:0], vocoder.initial(0), seed=0, ended=True)[0]
    end = len(frames)
    for cuts in ([0, 5, end], [0, 1, 2, 19, end], [*range(0, end, 7), end]):
        state = vocoder.initial(0)
        made = list[Floats]()
        for begin, after in itertools.pairwise(cuts):
            right = frames[after:][: vocoder.context]
            samples, state = vocoder.step(
                frames[begin:after], right, state, seed=0, ended=after == end
            )
            made.append(samples)
        assert np.abs(np.concatenate(made) - whole).max() < 1e-5


def test_what_is_final_stays_and_what_is_held_back_may_change(voice: Voice) -> None:
    acoustic: Any = voice.synthesizer.acoustic  # type: ignore[attr-defined]
    assert isinstance(acoustic, KokoroAcoustic)
    words = [voice.phonemizer.ids(symbols) for symbols in ("wˈʌn", " tˈu", " θɹˈi", " fˈɔɹ")]
    state: KokoroState = acoustic.initial()
    total = 0
    before = np.zeros(0, np.int64)
    for n, word in enumerate(words):
        ids = np.concatenate(words[n : n + 2])
        last = n == len(words) - 1
        segment = Segment(ids, len(word), ((0, len(word)),), last)
        frames, state = acoustic.step(segment, state, Rendering(), hold_back=0 if last else 6)
        total += len(frames.final)
        if not last:
            final = int(state.units.sum()) - state.held
            assert state.done == total
            whole = int(np.searchsorted(np.cumsum(before), final, side="right"))
            assert np.array_equal(state.units[:whole], before[:whole])
            before = state.units
    assert frames.ended
    assert frames.words[0][1] <= total


def test_a_british_style_reads_british_phonemes(tmp_path: Path) -> None:
    own = changed("kokoro", tmp_path / "voice", model={"languages": {"am_two": "en-GB"}})
    british = own.read_for("am_two")
    assert british.config.language == "en-GB"
    car, _ = british.phonemizer.phonemize(
        [Word("car", 0, 3), Word("park", 4, 8, ends=True)], left=()
    )
    linked, _ = british.phonemizer.phonemize(
        [Word("car", 0, 3), Word("is", 4, 6, ends=True)], left=()
    )
    assert linked.ids.tolist() == [*car.ids.tolist(), own.config.phonemes["ɹ"]]
    assert own.read_for("af_one") is own
    # Its front end is made once, not for every text.
    assert own.read_for("am_two") is british
    one, two = (spoken(own, parts, speaker="am_two") for parts in ([TEXT], list(TEXT)))
    assert np.array_equal(one[0], two[0])


def test_pace_style_and_pitch_are_options(voice: Voice) -> None:
    plain = voice.synthesize(TEXT)
    assert np.array_equal(plain, voice.synthesize(TEXT, speaker="af_one"))
    assert not np.array_equal(plain, voice.synthesize(TEXT, speaker="am_two"))
    assert len(voice.synthesize(TEXT, speed=2.0)) < 0.8 * len(plain)
    higher = voice.synthesize(TEXT, pitch=4.0)
    assert len(higher) == len(plain)
    assert not np.array_equal(higher, plain)
    assert not np.array_equal(voice.synthesize(TEXT, pitch_range=0.0), plain)
    with pytest.raises(ConfigError, match="no filter"):
        voice.session(formants=1.2)
    with pytest.raises(ConfigError, match="has no speaker"):
        voice.session(speaker="bm_none")


def test_styles_can_be_blended(voice: Voice) -> None:
    one, two = (voice.synthesize(TEXT, speaker=name) for name in ("af_one", "am_two"))
    half = voice.synthesize(TEXT, speaker="af_one+am_two")
    assert np.array_equal(half, voice.synthesize(TEXT, speaker="am_two:2 + af_one:2.0"))
    assert not np.array_equal(half, one)
    assert not np.array_equal(half, two)
    assert np.array_equal(voice.synthesize(TEXT, speaker="af_one:0.5+am_two:0"), one)
    for wrong, message in (
        ("af_one+am_too", "no speaker 'am_too' to blend .did you mean 'am_two'"),
        ("af_one:x+am_two", "share of af_one is 'x'"),
        ("af_one:-1+am_two", "share of af_one is '-1'"),
        ("af_one:0+am_two:0", "are all 0"),
    ):
        with pytest.raises(ConfigError, match=message):
            voice.session(speaker=wrong)


def test_too_long_a_sentence_is_refused_as_a_whole_and_said_word_by_word(tmp_path: Path) -> None:
    short = changed("kokoro", tmp_path / "voice", model={"longest": 60, "window": 20})
    text = (
        "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen."
    )
    with pytest.raises(VoiceError, match="too long to be said as a whole"):
        short.synthesize(text, policy=WaitAll())
    assert len(short.synthesize(text, policy=LookaheadK(1))) > 0


def test_folders_of_earlier_versions_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    about = json.loads((TOYS / "kokoro" / "voice.json").read_text("utf-8"))
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "model.onnx").touch()
    earlier = about | {"files": {"model.onnx": "0" * 64}}
    (tmp_path / "earlier" / "voice.json").write_text(json.dumps(earlier), "utf-8")
    with pytest.raises(VoiceError, match="add it again"):
        load_voice(tmp_path / "earlier", verify=False)
    folder = tmp_path / "voice"
    shutil.copytree(TOYS / "kokoro", folder)
    with np.load(folder / "styles.npz") as file:
        tables = dict(file)
    np.savez(folder / "styles.npz", **{**tables, "mean": tables["mean"][:, :-1]})
    with pytest.raises(VoiceError, match="does not belong to the graphs"):
        load_voice(folder, verify=False)
    (folder / "styles.npz").write_bytes(b"PK\3\4 no archive")
    with pytest.raises(VoiceError, match=r"styles\.npz cannot be read"):
        load_voice(folder, verify=False)
    with pytest.raises(ConfigError, match="right is"):
        dataclasses.replace(toy("kokoro").synthesizer.acoustic._config, right=(1,))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "language", "expected"),
    [
        ("dʒˈʌdʒ tʃˈeɪn", "en-US", "ʤˈʌʤ ʧˈAn"),
        ("ɡˈoʊ bˈɜːd", "en-US", "ɡˈO bˈɜɹd"),
        ("bˈʌɾɚ sˈiː", "en-US", "bˈʌTəɹ sˈi"),
        ("ɡˈəʊ sˈiː", "en-GB", "ɡˈQ sˈiː"),
        ("tʃˈao mɔʁsˈo", "fr-FR", "ʧˈao mɔʁsˈo"),
    ],
)
def test_phonemes_are_spelled_as_it_reads_them(given: str, language: str, expected: str) -> None:
    assert spelled(given, language) == expected
