"""The aligner: the way through a recording, the graph against torch, recordings without
TextGrids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tones import tones_corpus
from sayahead.cli import main
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav

from sayahead_lab.training.aligner.alignment import load_aligner, way
from sayahead_lab.training.aligner.export import export
from sayahead_lab.training.aligner.network import AlignerConfig, AlignerNetwork, posteriors
from sayahead_lab.training.aligner.sounds import bands, class_table, targets
from sayahead_lab.training.corpus.aligned import AlignedSpec
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec, inventory
from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.loop.task import TrainSettings

TEXT = "The printed letters should be beautiful. They were not."


def test_the_way_is_the_likeliest_one_and_pauses_share_their_time() -> None:
    # Classes: a pause, and three phonemes.
    truth = np.array([0, 0, 1, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0, 3, 3, 3, 1, 1, 0])
    log = np.full((len(truth), 4), np.log(0.05))
    log[np.arange(len(truth)), truth] = np.log(0.85)
    edges, score = way(log.astype(np.float32), np.array([1, 2, 0, 0, 3, 1]))
    assert edges.tolist() == [2, 5, 7, 10, 13, 16, 18]
    assert score == pytest.approx(np.log(0.85))
    # Two frames each at least, even where the sound says otherwise; no pause needs to be at the
    # ends.
    edges, score = way(log[2:16].astype(np.float32), np.array([1, 2, 0, 3, 1, 3]))
    assert (np.diff(edges) >= 2).all()
    assert (edges[0], edges[-1]) == (0, 14)
    assert score < np.log(0.85)


def test_each_symbol_but_pauses_has_a_class_for_as_long_as_it_lasts() -> None:
    phonemes = {" ": 1, "a": 2, "b": 3, "ˈ": 4, ",": 5}
    classes = class_table(phonemes)
    assert classes == {2: 1, 3: 2, 4: 3}
    labels = targets(np.array([0, 4, 2, 5, 1, 3]), np.array([1, 2, 2, 1, 1, 2]), classes)
    assert labels.tolist() == [0, 3, 3, 1, 1, 0, 0, 2, 2]


def test_pauses_at_the_ends_last_no_time_and_unknown_phonemes_are_told() -> None:
    item = TeacherSpec(PRESETS["ma"], "all").open().items("R", "They left.")[0][0]
    symbols = {number: symbol for symbol, number in inventory()[0].items()}
    read = "".join(symbols[int(number)] for number in item.ids)
    found = load_aligner().align(np.asarray(item.mel, np.float32), f"“{read}")
    assert found.begin_s[0] == found.end_s[0] == found.begin_s[1]
    assert found.begin_s[-1] == found.end_s[-1] == found.end_s[-2]
    assert np.array_equal(found.begin_s[1:], found.end_s[:-1])
    for symbols_, problem in (
        ("§", "does not know"),
        ("..", "no phonemes"),
        ("a" * 999, "too few"),
    ):
        with pytest.raises(ConfigError, match=problem):
            load_aligner().align(np.asarray(item.mel, np.float32), symbols_)


def test_bands_do_not_change_with_level() -> None:
    mel = np.random.default_rng(0).normal(-5, 1, (50, 80)).astype(np.float32)
    assert np.allclose(bands(mel), bands(mel + 3), atol=1e-4)


def test_a_run_becomes_a_graph_that_says_what_torch_says(tmp_path: Path) -> None:
    corpus = tones_corpus(tmp_path / "corpus")
    settings = TrainSettings(batch_size=4, steps=2, sample_every=1000)
    sizes: dict[str, Any] = {"channels": 8, "hidden": 12, "blocks": 2, "kernel": 3}
    recipe = Recipe("aligner", "aligner", settings, str(corpus.path), sizes, {"frames": 20})
    train(recipe, corpus.path, tmp_path / "run")
    assert main(["train", "aligner", str(tmp_path / "run"), str(tmp_path / "made")]) == 0
    run = load_trained(tmp_path / "run")
    x = np.random.default_rng(0).normal(size=(30, 68)).astype(np.float32)
    found = OnnxGraph(tmp_path / "made" / "aligner.onnx")(bands=x)["posteriors"]
    assert np.abs(found - posteriors(run.model, torch.from_numpy(x)).numpy()).max() < 0.05
    assert load_aligner(tmp_path / "made")
    with pytest.raises(ConfigError, match="holds no aligner"):
        load_aligner(tmp_path / "none")
    assert isinstance(AlignerNetwork(AlignerConfig(classes=3)), AlignerNetwork)
    export(run, tmp_path / "again")
    assert (tmp_path / "again" / "aligner.json").is_file()


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A recording of two sentences by the default voice, and its items with the true durations."""
    folder = tmp_path_factory.mktemp("recordings")
    items, _ = TeacherSpec(PRESETS["ma"], "final").open().items("R-1", TEXT)
    pause = np.zeros(300 * 30, np.float32)
    sounds = [np.asarray(item.audio, np.float32) / 32767 for item in items]
    (folder / "wavs").mkdir()
    for name in ("R-1", "R-2"):
        write_wav(
            folder / "wavs" / f"{name}.wav",
            np.concatenate([pause, sounds[0], pause, sounds[1], pause]),
            24000,
        )
    (folder / "metadata.csv").write_text(
        f"R-1|{TEXT}\nR-2|Quite other words, of which none was spoken, are here.\n"
    )
    return folder, items


def test_recordings_are_aligned_as_the_voice_itself_says(
    recordings: tuple[Path, list[Any]],
) -> None:
    folder, meant = recordings
    found, _ = AlignedSpec(PRESETS["ma"], folder).open().items("R-1", TEXT)
    assert [item.name for item in found] == ["R-1.1", "R-1.2"]
    for own, item in zip(meant, found, strict=True):
        assert np.array_equal(own.ids, item.ids)
        assert np.array_equal(own.words, item.words)
        assert item.durations.sum() == len(item.mel) == len(item.f0)
        # Without the last mark, which shares the silence.
        begins = [(np.cumsum(one.durations)[:-3] - one.durations[0]) * 12.5 for one in (own, item)]
        assert np.abs(begins[0] - begins[1]).mean() < 20
        assert np.abs(begins[0] - begins[1])[item.words[:, 0]].max() < 75
        assert item.audio is not None
        assert np.abs(item.audio[:300]).max() < 2000


def test_a_text_that_was_not_spoken_is_refused_or_left_out(
    recordings: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = recordings
    command = ["train", "corpus", str(tmp_path / "out"), "--recordings", str(folder)]
    assert main(command) == 2
    assert "R-2 does not sound like its text" in capsys.readouterr().err
    assert main([*command, "--skip-missing"]) == 0
    corpus = Corpus(tmp_path / "out")
    assert [item.name for item in corpus.split("train")] == ["R-1.1", "R-1.2"]
    assert corpus.info.punctuation == "final"
    assert main([*command, "--aligner", str(tmp_path), "--alignments", str(tmp_path)]) == 2
    assert "leave them out" in capsys.readouterr().err


def test_texts_may_come_with_the_splits(recordings: tuple[Path, list[Any]], tmp_path: Path) -> None:
    folder, _ = recordings
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "wavs").symlink_to(folder / "wavs")
    (tmp_path / "train.csv").write_text(f"R-1|{TEXT}\n")
    command = ["train", "corpus", str(tmp_path / "out"), "--recordings", str(tmp_path / "mine")]
    assert main([*command, "--train", str(tmp_path / "train.csv")]) == 0
    assert len(Corpus(tmp_path / "out").split("train")) == 2
