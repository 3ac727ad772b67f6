"""A user's recordings become a voice by the one command of docs/how-to/own-voice.md."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from lab_support.family import family_corpus, family_run
from sayahead import load_voice
from sayahead.cli import main
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec
from sayahead_lab.training.heart.own_voice_task import HeartVoiceTask
from sayahead_lab.training.heart.speaker import make_speaker
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.schedule import TrainingOutcome
from sayahead_lab.training.loop.task import TASKS
from sayahead_lab.training.loop.warm_start import find_start
from sayahead_lab.training.own import making, report, speakers
from sayahead_lab.training.own.fitting import fitted, write_beginning
from sayahead_lab.training.own.report import HeldOut, SaidTexts, measured, page, rows_of
from sayahead_lab.training.own.sounds import checked, level_db, read_texts
from sayahead_lab.training.own.speakers import SpeakerMeasure, cosine, strangers

ROOT = Path(__file__).parents[2]
TEXTS = (
    "They went home before the rain had come.",
    "The sea was calm, and we saw a bird.",
    "It was cold, but nobody wanted to go inside.",
    "Birds sing early in the morning, I suppose.",
)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two speakers."""
    folder = tmp_path_factory.mktemp("start")
    return family_run("family-sound", family_corpus(folder / "corpus"), folder / "family")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good recordings, at several rates, as FLAC and as WAV, mono and stereo; and of
    bad ones."""
    # A person is not at hand: the default voice speaks.
    folder = tmp_path_factory.mktemp("recordings")
    made = TeacherSpec(PRESETS["ma"], "all").open()
    (folder / "wavs").mkdir()
    lines = ["just a name"]
    pause = np.zeros(2400, np.float32)
    for number in range(16):
        text = TEXTS[number % len(TEXTS)]
        items, _ = made.items(f"R-{number:02}", text)
        sound = np.concatenate([pause, np.asarray(items[0].audio, np.float32) / 32767, pause])
        if number % 2:
            soundfile.write(folder / f"R-{number:02}.wav", np.stack([sound, sound], axis=1), 24000)
        else:
            soundfile.write(folder / "wavs" / f"R-{number:02}.flac", sound, 24000, subtype="PCM_24")
        lines.append(f"R-{number:02}{'.wav' if number == 1 else ''}|{text}")
    bad = {
        "Clipped": (np.clip(20 * sound, -0.9, 0.9), 24000),
        "Quiet": (sound * 1e-4, 24000),
        "Short": (sound[3000:9000], 24000),
        "Thin": (sound[::3], 8000),
        "Mute": (sound, 24000),
        "Other": (sound, 24000),
    }
    for name, (samples, rate) in bad.items():
        soundfile.write(folder / f"{name}.wav", samples, rate)
    (folder / "Noise.wav").write_bytes(b"no sound")
    texts = [f"{name}|{text}" for name in ("Clipped", "Quiet", "Short", "Thin", "Noise")]
    lines += [*texts, "Other|Nobody has ever said anything of this kind here.", "Gone|They left."]
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default voice's networks are as large as ever: they are observed in one sentence, and
    heard in two that were not recorded."""
    monkeypatch.setattr(making, "make_speaker", partial(make_speaker, observed=1))
    texts = making.unrecorded_texts()
    assert len(texts) == 16
    monkeypatch.setattr(making, "unrecorded_texts", lambda: texts[:2])


@pytest.fixture(autouse=True)
def without_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    """No listener is installed."""
    monkeypatch.delenv("SAYAHEAD_WHISPER", raising=False)
    monkeypatch.setattr(speakers, "missing", lambda listener: "not installed")


@pytest.mark.usefixtures("few_sentences")
def test_recordings_become_a_voice_that_speaks_and_a_stop_loses_nothing(
    recordings: Path,
    start: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    voice = tmp_path / "voice"
    work = tmp_path / "work"
    command = [
        "train",
        "own",
        str(recordings),
        "--name",
        "mine",
        "--license",
        "CC0-1.0",
        "--start",
        str(start),
    ]
    command += ["-o", str(voice), "--work", str(work), "--steps", "1", "--threads", "1"]
    real = train

    def stopped(recipe: Any, *args: Any, **options: Any) -> TrainingOutcome:
        return (
            TrainingOutcome("signal", 0, 15)
            if recipe.name == "own-prosody"
            else real(recipe, *args, **options)
        )

    monkeypatch.setattr(making, "MIN_MINUTES", 0.4)
    monkeypatch.setattr("sayahead_lab.training.own.stages.train", stopped)
    assert main(command) == 143
    said = capsys.readouterr().err
    assert "the same command continues" in said
    for name, what in (
        ("Clipped.wav", r"is clipped, first at \d"),
        ("Quiet.wav", "is silent"),
        ("Short.wav", "lasts 0.2 s"),
        ("Thin.wav", "has 8,000 samples a second"),
        ("Mute.wav", "has no text"),
        ("Other", "does not sound like its text"),
        ("Noise.wav", "cannot be read as sound"),
        ("Gone", "metadata.csv has its text"),
        ("metadata.csv, line 1", "is not name"),
    ):
        assert re.search(f"Left out: .*{re.escape(name)}.* ?{what}", said), name
    assert re.search(r"Nearest by semitones of pitch: (ann|bob) -\d", said)
    corpus = Corpus(work / "corpus")
    assert [item.name for item in corpus.split("val")] == ["R-06", "R-14"]
    assert len(corpus.split("train")) == 14
    assert corpus.info.punctuation == "all"
    trained = (work / "sound" / "checkpoint.pt").stat().st_mtime_ns
    monkeypatch.setattr("sayahead_lab.training.own.stages.train", real)
    assert main(command) == 0
    assert (work / "sound" / "checkpoint.pt").stat().st_mtime_ns == trained
    loaded = load_voice(voice)
    assert (loaded.config.license, loaded.config.speakers) == ("CC0-1.0", {})
    assert re.search(r"begun with the run family \(speaker (ann|bob)\)", loaded.config.source)
    assert recordings.name in loaded.config.source
    # A step hardly changes what it began with.
    whole = loaded.synthesize("They saw a calm sea.")
    assert 0.5 * loaded.sample_rate < len(whole) < 4 * loaded.sample_rate
    chunks = [
        chunk.samples
        for chunk in loaded.stream(iter(["They saw ", "a calm ", "sea."]), policy="lookahead:k=1")
    ]
    assert np.array_equal(
        np.concatenate(chunks), loaded.synthesize("They saw a calm sea.", policy="lookahead:k=1")
    )
    told = (work / "report.md").read_text(encoding="utf-8")
    assert "2 sentences that it has not heard" in told
    assert "- Clipped.wav: is clipped" in told
    assert re.search(
        r"^\| all recordings \(16\) \|.*\n\| voice, 2 other sentences \|", told, re.MULTILINE
    )
    assert (work / "report.html").read_text(encoding="utf-8").count("<audio") == 4


@pytest.mark.slow
@pytest.mark.usefixtures("few_sentences")
def test_a_corpus_that_a_teacher_spoke_becomes_a_voice_of_its_own(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MIN_MINUTES", 0.01)
    corpus = tmp_path / "corpus"
    work = tmp_path / "work"
    texts = [(f"A-{number}", text) for number, text in enumerate(TEXTS)]
    make_corpus(corpus, TeacherSpec(PRESETS["ma"], "all"), {"train": texts, "val": texts[:2]})
    options = {"device": "cpu", "threads": 1}
    taught = replace(own(corpus, work), start=str(start), steps=1)
    assert making.make_own_voice(taught, options, print) == 0
    assert not (work / "corpus").exists()
    assert load_voice(work / "voice").config.language == "en-US"
    monkeypatch.setattr(making, "MIN_MINUTES", 60)
    with pytest.raises(ConfigError, match="minutes of speech that can be used"):
        making.make_own_voice(replace(taught, work=tmp_path / "more"), options, print)


def test_what_was_recorded_and_what_was_not_are_measured_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Similarity is to the recordings of other sentences; words are counted by row."""
    heard = {1.0: "one", 2.0: "two", 3.0: "three", 5.0: "six"}
    described = {1.0: [1, 0], 2.0: [0, 1], 3.0: [1, 1], 5.0: [0, 1]}
    monkeypatch.setattr(report, "missing", lambda listener: None)
    monkeypatch.setattr(report, "missing_folder", lambda folder: None)
    monkeypatch.setattr(report, "at_16khz", lambda samples, rate: samples)
    monkeypatch.setattr(
        report, "load_whisper", lambda folder, threads: lambda samples: heard[float(samples[0])]
    )
    monkeypatch.setattr(report, "load_normalizer", lambda: str.lower)
    monkeypatch.setattr(report, "load_distillmos", lambda: lambda samples: float(samples[0]))
    monkeypatch.setattr(
        report,
        "load_embedder",
        lambda: lambda samples, rate: np.array(described[float(samples[0])], np.float32),
    )
    one, two, three, five = (np.full(4, value, np.float32) for value in (1, 2, 3, 5))
    recordings = SaidTexts(["one", "two"], [one, two])
    other = SaidTexts(["five"], [five])
    sentences = [HeldOut("one", {"recordings": one, "voice": three}, 24000)]
    rows = rows_of(sentences, recordings, other)
    figures, absent = measured(rows, recordings, 24000, "whisper")
    assert not absent
    assert list(figures) == [
        "recordings",
        "voice",
        "all recordings (2)",
        "voice, 1 other sentences",
    ]
    assert [figures[who]["wer"] for who in figures] == [0, 100, 0, 100]
    assert [figures[who]["opinion"] for who in figures] == [1, 3, 1.5, 5]
    half = pytest.approx(0.5**0.5, abs=1e-6)
    assert [figures[who]["similarity"] for who in figures] == [0, half, 0, half]


def test_the_beginning_speaks_as_high_as_slowly_and_as_loud_as_the_recordings(
    start: Path, tmp_path: Path
) -> None:
    corpus = Corpus(start.parent / "corpus" / "ann")
    found = find_start(str(start), TASKS["heart-voice"])
    task = HeartVoiceTask({}, {"fixed_context": True}, corpus)
    items = list(corpus.split("train"))
    high = [replace(item, f0=item.f0 * 1.3) for item in items]
    slow = [replace(item, durations=(item.durations * 1.5).astype(np.int16)) for item in items]
    plain, higher, slower = (
        write_beginning(found, "bob", task, said, tmp_path) for said in (items, high, slow)
    )
    assert higher["pitch"] / plain["pitch"] == pytest.approx(1.3, rel=0.01)
    assert 1.2 < slower["pace"] / plain["pace"] < 1.8
    run = find_start(str(tmp_path), TASKS["heart-voice"])
    model = task.model().eval()
    assert run.info is not None
    assert not run.info.joined
    model.load_state_dict(run.learned)
    again = fitted(task, model, slow)
    assert again["pitch"] == pytest.approx(1, abs=0.01)
    assert again["pace"] == pytest.approx(1, abs=0.01)
    assert again["energy"] == pytest.approx(0, abs=0.05)


def test_a_folder_of_other_work_is_left_alone(recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "dear.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        making.prepared(own(recordings, tmp_path), None, print)
    assert (tmp_path / "corpus" / "dear.txt").is_file()
    (tmp_path / making.STATE).write_text('{"recordings": "others"}')
    with pytest.raises(ConfigError, match="of other recordings"):
        making.prepared(own(recordings, tmp_path), None, print)
    with pytest.raises(ConfigError, match="no run none to begin with"):
        making.make_own_voice(own(recordings, tmp_path / "new"), {}, print)
    with pytest.raises(ConfigError, match="no folder"):
        making.prepared(own(tmp_path / "none", tmp_path / "new"), None, print)


def test_too_little_speech_is_told_and_more_can_be_recorded(
    recordings: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few"
    few.mkdir()
    shutil.copy(recordings / "R-01.wav", few)
    (few / "metadata.csv").write_text(f"R-01|{TEXTS[1]}\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"has 0.0 minutes of speech that can be used"):
            making.prepared(own(few, tmp_path / "work"), None, print)
    (few / "R-01.wav").unlink()
    with pytest.raises(ConfigError, match="has no recordings"):
        making.prepared(own(few, tmp_path / "work"), None, print)


def own(folder: Path, work: Path) -> making.OwnVoice:
    """What an own voice is made of."""
    return making.OwnVoice(folder, work / "voice", work, "mine", "CC0-1.0", start="none")


def test_another_speaker_than_the_rest_is_found() -> None:
    draw = np.random.default_rng(0)
    mean = np.ones(16, np.float32)
    described = [(mean + draw.normal(0, 0.1, 16)).astype(np.float32) for _ in range(6)]
    described[4] = draw.normal(0, 1, 16).astype(np.float32)
    measure = SpeakerMeasure("cosine", lambda samples: samples, cosine, 0.75)
    assert [number for number, _ in strangers(described, measure)] == [4]
    assert not strangers(described[:2], measure)
    high, low = (
        speakers.pitch(np.sin(np.arange(24000) * hz * 2 * np.pi / 24000).astype(np.float32))
        for hz in (200, 100)
    )
    assert high - low == pytest.approx(12, abs=0.1)
    assert [
        number for number, _ in strangers([high, high, high, low], speakers.load_measure())
    ] == [3]


def test_sounds_are_looked_at() -> None:
    tone = (0.3 * np.sin(np.arange(48000) * 0.05)).astype(np.float32)
    assert len(checked(tone, 48000)) == 24000
    assert level_db(tone) == pytest.approx(20 * np.log10(0.3) - 3.01, abs=0.05)
    with pytest.raises(ConfigError, match="no numbers"):
        checked(np.where(np.arange(48000) == 9, np.nan, tone).astype(np.float32), 48000)
    with pytest.raises(ConfigError, match=r"lasts 61.0 s"):
        checked(np.zeros(61 * 24000, np.float32), 24000)


def test_texts_may_have_more_columns_and_a_mark_at_their_begin(tmp_path: Path) -> None:
    (tmp_path / "metadata.csv").write_text(
        "\ufeffa|1 dog|one dog\n\nb.FLAC|two\nc|\n", encoding="utf-8"
    )
    assert read_texts(tmp_path) == (
        {"a": "one dog", "b": "two"},
        ["metadata.csv, line 4: 'c|' is not name|text: write it so."],
    )


def test_the_page_shows_any_text_as_text() -> None:
    sound = HeldOut("<script>1</script>", {"recordings": np.zeros(10, np.float32)}, 24000)
    shown = page("a & b", "<i>", [sound], {"recordings": {"wer": 1.25, "opinion": 3.9}}, ["<b>"])
    assert "<script>" not in shown
    assert "a &amp; b" in shown
    assert "<td>1.2<td>3.90<td>" in shown


def test_the_how_to_has_this_command() -> None:
    text = (ROOT.parent / "docs" / "how-to" / "own-voice.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (sayahead train .*)$", text, re.MULTILINE)
    assert [command.split()[:4] for command in commands] == [["sayahead", "train", "own", "FOLDER"]]
