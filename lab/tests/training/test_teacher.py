"""The default voice as a teacher: its sentences are those of a session, and all that it says of
them fits together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sayahead.cli import main
from sayahead.engine.context import NoContext
from sayahead.engine.sentence import Words
from sayahead.engine.session import Session
from sayahead.errors import ConfigError
from sayahead.policies.fixed import WaitAll
from sayahead.text.reading.stream import new_reader
from sayahead.text.saying.english.phonemizer import PAUSES, EnglishPhonemizer
from sayahead.types import Rendering, Segment, SynthesizedAudio

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.corpus.teacher import (
    DURATIONS,
    EARLY,
    TeacherSpec,
    VoiceTeacher,
    load_graph,
    trim,
    voice_config,
)

TEXT = 'Yes, the U.S. paid $5 million — at once! "He read (to us): an apple," she said; to whom?'
SYMBOLS = {number: symbol for symbol, number in voice_config().phonemes.items()}


@pytest.fixture(scope="module")
def teacher() -> VoiceTeacher:
    """With features, all punctuation."""
    return TeacherSpec(PRESETS["ma"], features=True).open()


@pytest.fixture(scope="module")
def final() -> VoiceTeacher:
    """With final punctuation alone."""
    return TeacherSpec(PRESETS["ma"], "final").open()


@pytest.fixture(scope="module")
def items(teacher: VoiceTeacher) -> list[Item]:
    return teacher.items("text", TEXT)[0]


def spoken(item: Item) -> str:
    return "".join(SYMBOLS[int(i)] for i in item.ids)


class Listening:
    """A synthesizer that keeps what a session gives it and says nothing."""

    sample_rate = 24000

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def initial(self, rendering: Rendering) -> None:
        return None

    def step(self, segment: Segment, state: None) -> tuple[SynthesizedAudio, None]:
        self.segments.append(segment)
        return SynthesizedAudio(np.zeros(0, np.float32), ()), None


def test_sentences_are_those_that_a_session_hands_to_its_synthesizer(items: list[Item]) -> None:
    config = voice_config()
    heard = Listening()
    sentence = Words(
        WaitAll(), EnglishPhonemizer(config.phonemes, stand_in=config.stand_in), NoContext()
    )
    session = Session(heard, new_reader, sentence, rendering=Rendering())
    session.push(TEXT)
    session.finish()
    list(session.chunks())
    assert len(items) == len(heard.segments) == 2
    for item, segment in zip(items, heard.segments, strict=True):
        np.testing.assert_array_equal(item.ids, segment.ids)
        np.testing.assert_array_equal(item.words, np.array(segment.spans))


def test_all_of_an_item_fits_together(items: list[Item]) -> None:
    front = PRESETS["ma"]
    assert [item.name for item in items] == ["text.1", "text.2"]
    for item in items:
        assert item.audio is not None
        assert item.features is not None
        frames = len(item.mel)
        assert len(item.durations) == len(item.ids) + 2
        assert (
            int(item.durations.sum())
            == frames
            == len(item.f0)
            == len(item.features)
            == len(item.audio) / 300
        )
        assert (item.durations > 0).all()
        assert item.features.shape == (frames, 256)
        heard = item.audio.astype(np.float32) / np.float32(32767)
        np.testing.assert_array_equal(item.mel, front.log_mel(heard).astype(np.float16))


def test_words_are_spans_of_what_sounds(items: list[Item], final: VoiceTeacher) -> None:
    for item in (*items, *final.items("text", TEXT)[0]):
        said = spoken(item)
        for first, end in item.words:
            own = said[first:end]
            if not own.strip(PAUSES):
                continue  # a dash that stands alone
            assert own.strip(PAUSES) == own.lstrip(PAUSES), "it ends with a phoneme"
            assert first == 0 or said[first - 1] in PAUSES
            assert end == len(said) or said[end] in PAUSES
        outside = np.ones(len(said), bool)
        for first, end in item.words:
            outside[first:end] = False
        assert all(symbol in PAUSES for symbol, free in zip(said, outside, strict=True) if free)


def test_final_punctuation_is_the_last_mark_alone(items: list[Item], final: VoiceTeacher) -> None:
    marks = PAUSES.strip()
    for item, bare in zip(items, final.items("text", TEXT)[0], strict=True):
        whole = spoken(item)
        said = spoken(bare)
        assert sum(symbol in marks for symbol in whole) > 1
        assert (
            [symbol for symbol in said if symbol in marks] == [said[-1]] == [whole.rstrip('”"')[-1]]
        )
        assert "  " not in said
        assert said[0] != " "
        # The front end has read the punctuation: the words are the same.
        plain = "".join(symbol for symbol in whole if symbol not in marks)
        assert said[:-1].split() == plain.split()
        assert len(bare.words) == len(item.words)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Well,", ","),
        ("Well", ""),
        ('"Well."', "."),
        ("(Well?)", "?"),
        ("Well —", "—"),
        ("So — well.", "."),
    ],
)
def test_what_is_left_at_the_end(final: VoiceTeacher, text: str, end: str) -> None:
    (item,), _ = final.items("text", text)
    said = spoken(item)
    assert said[len(said.rstrip(PAUSES)) :] == end


def test_the_frames_are_where_the_sound_is(items: list[Item]) -> None:
    """Vowels are loud and have pitch; the ends are silent."""
    for item in items:
        assert item.audio is not None
        level = np.abs(item.audio.reshape(-1, 300)).max(axis=1)
        edges = np.concatenate([[0], np.cumsum(item.durations)])
        for number, phoneme in enumerate(item.ids):
            if SYMBOLS[int(phoneme)] in "æɛAO":
                begin, end = edges[number + 1 : number + 3]
                assert level[begin:end].max() > 1000
                assert item.f0[begin:end].max() > 100
        assert level[-12:].max() <= 32767 * 10 ** (-50 / 20) + 1
        assert level[:1].max() < 200
        assert item.durations[0] == 4


def test_features_are_what_the_last_layer_gets(items: list[Item]) -> None:
    import hibari

    from sayahead_lab.training.hibari import HibariWeights as Weights

    weights = Weights(Path(hibari.__file__).parent / "assets" / "hibari.onnx")
    head, scale = weights.linears["m.head"]
    item = items[0]
    assert item.features is not None
    spectra = item.features.astype(np.float32) @ (head * scale) + weights["m.head.bias"]
    inputs = {"ids": np.array([[0, *item.ids, 0]], np.int64), "speed": np.ones(1, np.float32)}
    units, harmonic, f0 = load_graph().run([DURATIONS, "lh", "f0"], inputs)
    first = 2 * int(units[0]) - EARLY - int(item.durations[0])
    window = slice(first, first + len(item.mel))
    # The graph quantizes the activations that this product takes as they are.
    assert np.abs(spectra[:, :601] - harmonic[0].T[window]).mean() < 0.1
    assert (
        np.abs(spectra[:, :601] - harmonic[0].T[first + 1 : first + 1 + len(item.mel)]).mean() > 0.2
    )
    np.testing.assert_array_equal(
        item.f0[item.f0 > 0], f0[0, window].astype(np.float16)[item.f0 > 0]
    )


def test_what_an_item_is_depends_on_its_name_and_seed_alone(teacher: VoiceTeacher) -> None:
    (first,), _ = teacher.items("a", "To be.")
    (other,), _ = teacher.items("b", "To be.")
    (again,), _ = teacher.items("a", "To be.")
    assert first.audio is not None
    assert other.audio is not None
    assert again.audio is not None
    np.testing.assert_array_equal(first.audio, again.audio)
    assert not np.array_equal(first.audio, other.audio)
    np.testing.assert_array_equal(first.durations, other.durations)
    seeded = TeacherSpec(PRESETS["ma"], seed=1).open().items("a", "To be.")[0][0]
    assert seeded.audio is not None
    assert not np.array_equal(first.audio, seeded.audio)
    assert seeded.features is None


def test_sentences_without_a_sound_are_left_out(teacher: VoiceTeacher) -> None:
    made, left_out = teacher.items("a", "Yes. — … No.")
    assert made[0].text == "Yes."
    assert len(made) + len(left_out) == len({*(item.name for item in made), *left_out})
    assert teacher.items("a", "...")[0] == []
    assert teacher.items("a", "")[0] == []


def test_trimming_keeps_edges_and_sound_together() -> None:
    samples = np.zeros(44 * 300, np.float32)
    samples[12 * 300 : 20 * 300] = 0.5
    edges = np.array([0, 18, 22, 34, 40, 44])
    first, kept = trim(edges, samples, 1, lead=8, tail=12)
    # Phonemes from 14 on where they are heard. The last audible frame, 19, is 13 after the cut of 6
    # frames; the phoneme gets two more, mark and pad five each.
    assert first == 6
    assert kept.tolist() == [0, 8, 12, 16, 21, 26]
    first, kept = trim(edges, samples, 1, lead=99, tail=99)
    assert (first, kept[0], kept[1], kept[-1]) == (0, 0, 14, 44)
    # A phoneme whose sound is over before it begins keeps two frames.
    first, kept = trim(np.array([0, 18, 30, 40, 42, 44]), samples, 1, lead=8, tail=12)
    assert np.diff(kept).tolist()[:3] == [8, 12, 2]
    # Without a mark at the end, the pad has all that is left.
    assert trim(np.array([0, 18, 30, 40]), samples, 0, lead=8, tail=4)[1].tolist() == [0, 8, 16, 18]


def test_phonemes_are_where_they_are_heard(teacher: VoiceTeacher) -> None:
    """How much of the mel phonemes explain is largest with the durations as they are, not moved to
    either side."""
    text = (
        "The overwhelming majority of people in this country know how to sift the wheat from the"
        " chaff. "
    )
    made = teacher.items(
        "a", text + "Even the Caslon type when enlarged shows great shortcomings in this respect."
    )[0]
    explained = {}
    for shift in range(-6, 7, 2):
        rows = np.concatenate([item.mel[10:-30] for item in made]).astype(np.float32)
        labels = np.concatenate(
            [
                np.repeat([0, *item.ids, 0], item.durations)[
                    10 + shift : len(item.mel) - 30 + shift
                ]
                for item in made
            ]
        )
        means = {label: rows[labels == label].mean(axis=0) for label in np.unique(labels)}
        rest = rows - np.array([means[label] for label in labels])
        explained[shift] = 1 - float((rest**2).sum() / ((rows - rows.mean(axis=0)) ** 2).sum())
    assert max(explained, key=lambda shift: explained[shift]) == 0, explained


def test_other_front_ends_have_the_same_times(teacher: VoiceTeacher) -> None:
    pytest.importorskip("soxr")
    front = PRESETS["mohan"]
    (item,), _ = TeacherSpec(front).open().items("a", "To be or not.")
    (native,), _ = teacher.items("a", "To be or not.")
    assert item.audio is not None
    assert int(item.durations.sum()) == len(item.mel) == len(item.f0) == len(item.audio) / 256
    times_s = np.cumsum(item.durations) * 256 / 22050
    native_s = np.cumsum(native.durations) * 300 / 24000
    assert np.abs(times_s - native_s).max() <= 0.5 * 256 / 22050 + 1e-9
    assert item.mel.shape[1] == 128


def test_specs_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="all or final"):
        TeacherSpec(PRESETS["ma"], "none")
    with pytest.raises(ConfigError, match="lead is 0"):
        TeacherSpec(PRESETS["ma"], lead=0)
    with pytest.raises(ConfigError, match="front end ma"):
        TeacherSpec(PRESETS["saeki"], features=True)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text("A1|One.\nA2|Two, to be. Three!\nA3|...\nA4|Four.\n", encoding="utf-8")
    out = tmp_path / "out"
    val = tmp_path / "val.csv"
    val.write_text("B1|Five.\n", encoding="utf-8")
    options = [
        "--train",
        str(texts),
        "--val",
        str(val),
        "--punctuation",
        "final",
        "--count",
        "3",
        "--no-audio",
    ]
    assert main(["train", "corpus", str(out), *options]) == 0
    told = capsys.readouterr().err
    assert "val/00000: 1 of 2 shards" in told
    assert "train: 3 items" in told
    assert "left out: A3" in told
    corpus = Corpus(out)
    assert [item.name for item in corpus.split("train")] == ["A1", "A2.1", "A2.2"]
    assert [item.text for item in corpus.split("val")] == ["Five."]
    assert (corpus.info.punctuation, corpus.info.pad, len(corpus.info.mel_std)) == ("final", 0, 80)
    assert corpus.split("train")[0].audio is None
    assert main(["train", "corpus", str(out), *options[:4]]) == 2
    assert "made in another way" in capsys.readouterr().err
