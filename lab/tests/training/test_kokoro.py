"""Kokoro as a teacher: its graph's own durations, pitch and energy reach the pupil as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from sayahead.cli import main
from sayahead.errors import ConfigError
from support.toy_voices import TOYS

from sayahead_lab.training.corpus import kokoro
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.joined import join
from sayahead_lab.training.corpus.kokoro import (
    DURATIONS,
    ENERGY,
    PITCH,
    KokoroSpec,
    KokoroTeacher,
    heard_pitch,
    trim_exact,
)
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import Corpus, language_of, languages_of, read_info
from sayahead_lab.training.corpus.teacher import inventory
from sayahead_lab.training.heart.own_voice_data import spoken

TEXT = "The printed letters should be beautiful, he said."
HERTZ = 120.0
STYLES = {"am_loud": 2.0, "af_quiet": -1.0}
"""The toy's pitch, and the energy of each style."""
UNITS = np.array([10, *(1 + number % 3 for number in range(1, 200))], np.int64)
"""How long the toy says each id; the pad is long, as Kokoro's first one is."""


def graph(*, tapped: bool = True) -> onnx.ModelProto:
    """Phonemes last as long as ``UNITS`` says; the sound is a tone, its energy the style's."""

    def constant(name: str, values: list[float], kind: type = np.float32) -> onnx.TensorProto:
        return onnx.numpy_helper.from_array(np.array(values, kind), name)

    durations, pitch, energy = (DURATIONS, PITCH, ENERGY) if tapped else ("d", "f", "e")
    nodes = [
        helper.make_node("Gather", ["table", "tokens"], ["units"]),
        helper.make_node("Cast", ["units"], [durations], to=onnx.TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["units"], ["total"], keepdims=0),
        helper.make_node("Mul", ["total", "two"], ["frames"]),
        helper.make_node("Concat", ["one", "one", "frames"], ["shape"], axis=0),
        helper.make_node("Expand", ["hertz", "shape"], [pitch]),
        helper.make_node("ReduceMean", ["style"], ["level"], axes=[1], keepdims=1),
        helper.make_node("Expand", ["level", "shape"], [energy]),
        helper.make_node("Mul", ["frames", "hop"], ["size"]),
        helper.make_node("Squeeze", ["size"], ["samples"]),
        helper.make_node("Range", ["zero", "samples", "step"], ["number"]),
        helper.make_node("Cast", ["number"], ["time"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["time", "slow"], ["phase"]),
        helper.make_node("Sin", ["phase"], ["wave"]),
        helper.make_node("Mul", ["wave", "third"], ["audio"]),
    ]
    weights = [
        onnx.numpy_helper.from_array(UNITS, "table"),
        constant("one", [1], np.int64),
        constant("two", [2], np.int64),
        constant("hop", [300], np.int64),
        onnx.numpy_helper.from_array(np.array(0, np.int64), "zero"),
        onnx.numpy_helper.from_array(np.array(1, np.int64), "step"),
        constant("hertz", [HERTZ]),
        constant("slow", [0.1]),
        constant("third", [0.3]),
    ]
    inputs = [
        helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, [1, "P"]),
        helper.make_tensor_value_info("style", onnx.TensorProto.FLOAT, [1, 256]),
        helper.make_tensor_value_info("speed", onnx.TensorProto.FLOAT, [1]),
    ]
    outputs = [helper.make_tensor_value_info("audio", onnx.TensorProto.FLOAT, ["S"])]
    made = helper.make_graph(nodes, "toy", inputs, outputs, weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def voice(parent: Path, *, tapped: bool = True) -> Path:
    """The toy graph with two styles beside it."""
    given = parent / "given"
    given.mkdir()
    onnx.save(graph(tapped=tapped), str(given / "toy.onnx"))
    (given / "config.json").write_text(
        json.dumps({"vocab": inventory()[0], "language": "en-US"}), encoding="utf-8"
    )
    for name, level in STYLES.items():
        np.full((510, 256), level, np.float32).tofile(given / f"{name}.bin")
    return given / "toy.onnx"


def test_what_the_graph_says_inside_is_what_the_pupil_is_taught(tmp_path: Path) -> None:
    teacher = KokoroSpec(PRESETS["ma"], voice=str(voice(tmp_path)), speaker="am_loud").open()
    assert isinstance(teacher, KokoroTeacher)
    (item,), left_out = teacher.items("A-1", TEXT)
    assert left_out == []
    assert item.energy is not None
    assert len(item.energy) == len(item.f0) == len(item.mel)
    lesson = spoken(item)
    # The toy sounds to its end: nothing is cut there, only of the pad before the first phoneme.
    assert np.array_equal(lesson.units[1:-1], UNITS[item.ids])
    assert np.allclose(lesson.f0[:-6], HERTZ)
    assert np.allclose(lesson.energy, STYLES["am_loud"])
    assert len(lesson.f0) * 300 == len(lesson.audio) == 600 * int(lesson.units.sum())


def test_a_british_style_teaches_british_phonemes(tmp_path: Path) -> None:
    graph = voice(tmp_path)
    (graph.parent / "config.json").write_text(
        json.dumps({"vocab": inventory()[0]}), encoding="utf-8"
    )
    (graph.parent / "af_quiet.bin").rename(graph.parent / "bf_quiet.bin")
    spec = KokoroSpec(PRESETS["ma"], voice=str(graph), speaker="bf_quiet")
    (item,), _ = spec.open().items("A-1", "A car is not a bath.")
    symbols = {number: symbol for symbol, number in inventory()[0].items()}
    assert "".join(symbols[int(number)] for number in item.ids) == "ɐ kˈɑːɹ ɪz nˌɒt ɐ bˈɑːθ."
    make_corpus(tmp_path / "corpus", spec, {"train": [("A-1", TEXT)]})
    info = read_info(tmp_path / "corpus")
    assert language_of(info) == "en-GB"
    whole = join(tmp_path, ["corpus"])
    assert languages_of(whole) == {"corpus": "en-GB"}
    # Corpora of before were read as American, and voices that they taught are.
    for old in (info, whole):
        old.source.pop("accent")
    assert language_of(info) == "en-US"
    assert languages_of(whole) == {"corpus": "en-US"}


def test_pitch_is_what_the_source_makes_of_it() -> None:
    told = np.array([100, 110, 130, 120, 0, 0, 150, 160], np.float32)
    # Turns in the middles of frames are sums of what was told; between them they rise evenly.
    turns = np.interp([1, 2, 3], np.arange(4) + 0.5, np.cumsum(told[:4]))
    assert np.allclose(heard_pitch(told)[1:3], np.diff(turns))
    assert np.allclose(heard_pitch(told), [105, 120, 125, 120, 0, 0, 155, 160])


def test_silence_at_the_end_is_taken_from_the_last_durations() -> None:
    samples = np.zeros(600 * 40, np.float32)
    samples[: 600 * 20] = 0.3
    first, edges = trim_exact(np.array([6, 5, 9, 15, 5]), samples, lead=4, tail=12)
    # Of 40 units 26 stay: 20 that sound and the tail's six; the pad and the mark before it keep a
    # unit each at least.
    assert first == 2 * 6 - 4 - 4
    assert np.array_equal(np.diff(edges), [4, 10, 18, 2 * 5, 2 * 1])
    assert int(edges[-1]) == 2 * 26 - 4 - first


def test_a_corpus_is_made_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = voice(tmp_path)
    texts = tmp_path / "texts.csv"
    texts.write_text(f"A-1|{TEXT}\nA-2|It was cold.\n", encoding="utf-8")
    command = [
        "train",
        "corpus",
        str(tmp_path / "corpus"),
        "--train",
        str(texts),
        "--teacher",
        str(folder),
    ]
    assert main([*command, "--speaker", "af_quiet"]) == 0
    corpus = Corpus(tmp_path / "corpus")
    assert corpus.info.source["kind"] == "kokoro"
    assert corpus.info.source["voice"] == "toy, af_quiet"
    for item in corpus.split("train"):
        assert item.energy is not None
        assert np.allclose(item.energy, STYLES["af_quiet"])
        assert int(item.durations.sum()) == len(item.mel)
    capsys.readouterr()
    assert main([*command, "--speaker", "af_quit"]) == 2
    assert "did you mean 'af_quiet'?" in capsys.readouterr().err
    other = [*command[:-1], "heart", "--speaker", "af_quiet"]
    assert main(other) == 2
    assert "--speaker belongs to a Kokoro voice" in capsys.readouterr().err


def test_a_language_chooses_the_style(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph_file = voice(tmp_path)
    texts = tmp_path / "texts.csv"
    # Without a language in it, styles speak what their names tell.
    graph_file.with_name("config.json").write_text(
        json.dumps({"vocab": inventory()[0]}), encoding="utf-8"
    )
    np.zeros((510, 256), np.float32).tofile(graph_file.with_name("ff_soft.bin"))
    texts.write_text("F-1|L'été, c'est loin.\n", encoding="utf-8")
    command = [
        "train",
        "corpus",
        str(tmp_path / "fr"),
        "--train",
        str(texts),
        "--teacher",
        str(graph_file),
    ]
    assert main([*command, "--language", "fr"]) == 0
    corpus = Corpus(tmp_path / "fr")
    assert corpus.info.source["voice"] == "toy, ff_soft"
    assert language_of(corpus.info) == "fr-FR"
    [item] = corpus.split("train")
    assert len(item.words) == len(item.text.split()) == 3
    capsys.readouterr()
    assert main([*command, "--speaker", "af_quiet", "--language", "fr"]) == 2
    assert "speaks fr with ff_soft, not with af_quiet." in capsys.readouterr().err
    assert main([*command, "--language", "it"]) == 2
    assert "speaks it with no style." in capsys.readouterr().err
    assert main([*command[:-1], "heart", "--language", "en"]) == 2
    assert "--language belongs to a Kokoro voice" in capsys.readouterr().err


def test_a_short_first_pad_is_made_as_long_as_the_pupils(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = voice(tmp_path)
    whole = KokoroSpec(PRESETS["ma"], voice=str(folder)).open().items("A-1", TEXT)[0][0]
    monkeypatch.setitem(globals(), "UNITS", np.concatenate([[1], UNITS[1:]]))
    (tmp_path / "short").mkdir()
    short = (
        KokoroSpec(PRESETS["ma"], voice=str(voice(tmp_path / "short")))
        .open()
        .items("A-1", TEXT)[0][0]
    )
    ours = spoken(short)
    theirs = spoken(whole)
    assert np.array_equal(ours.units[:-1], theirs.units[:-1])
    # The same sound begins at the same phoneme.
    first = 600 * int(ours.units[0])
    assert not ours.audio[: first - 600].any()
    assert np.count_nonzero(ours.audio[first : first + 1200]) > 1000


def test_what_a_listener_does_not_understand_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = voice(tmp_path)
    texts = tmp_path / "texts.csv"
    whisper = tmp_path / "whisper"
    texts.write_text(f"A-1|{TEXT}\nA-2|It was cold.\n", encoding="utf-8")
    command = [
        "train",
        "corpus",
        str(tmp_path / "corpus"),
        "--train",
        str(texts),
        "--teacher",
        str(folder),
    ]
    assert main([*command, "--understood", str(whisper)]) == 2
    assert "no model.bin" in capsys.readouterr().err
    whisper.mkdir()
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (whisper / name).touch()
    answers = iter(["The printed letters should be beautiful, he sat.", "It was gold."])
    monkeypatch.setattr(kokoro, "load_whisper", lambda folder, **_: lambda samples: next(answers))
    monkeypatch.setattr(kokoro, "load_normalizer", lambda _: str.lower)
    assert main([*command, "--understood", str(whisper)]) == 0
    # One word in eight is forgiven, one in three is not.
    assert [item.name for item in Corpus(tmp_path / "corpus").split("train")] == ["A-1"]
    assert "A-2: 33% of the words are heard otherwise (It was gold.)" in capsys.readouterr().err
    assert main([*command[:-1], "heart", "--understood", str(whisper)]) == 2
    assert "--understood belongs to a Kokoro voice" in capsys.readouterr().err


def test_another_export_is_refused(tmp_path: Path) -> None:
    spec = KokoroSpec(PRESETS["ma"], voice=str(voice(tmp_path, tapped=False)))
    with pytest.raises(ConfigError, match="another export of Kokoro"):
        spec.open()
    with pytest.raises(ConfigError, match="not kokoro"):
        KokoroSpec(PRESETS["ma"], voice="heart")
    with pytest.raises(ConfigError, match="no file"):
        KokoroSpec(PRESETS["ma"], voice=str(tmp_path / "none.onnx"))
    with pytest.raises(ConfigError, match="is in parts, which speak word by word"):
        KokoroSpec(PRESETS["ma"], voice=str(TOYS / "kokoro"))


def test_folders_that_kept_the_whole_graph_teach_as_before(tmp_path: Path) -> None:
    published = voice(tmp_path)
    folder = tmp_path / "former"
    shutil.copytree(TOYS / "kokoro", folder)
    about = json.loads((folder / "voice.json").read_text("utf-8"))
    speakers = {name: number for number, name in enumerate(STYLES)}
    about |= {
        "files": {"model.onnx": "0" * 64},
        "speakers": speakers,
        "phonemes": inventory()[0],
        "model": {},
    }
    (folder / "voice.json").write_text(json.dumps(about), "utf-8")
    shutil.copyfile(published, folder / "model.onnx")
    tables = [
        np.fromfile(published.with_name(f"{name}.bin"), np.float32).reshape(510, 1, 256)
        for name in STYLES
    ]
    np.save(folder / "styles.npy", np.stack(tables)[:, :, 0])
    items = [
        KokoroSpec(PRESETS["ma"], voice=str(one), speaker="af_quiet")
        .open()
        .items("A-1", TEXT)[0][0]
        for one in (published, folder)
    ]
    for name in ("audio", "energy", "f0", "durations"):
        assert np.array_equal(getattr(items[0], name), getattr(items[1], name)), name
