"""``sayahead train predicted``: a corpus with an acoustic model's mel, and all else as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab_support.tiny import SIZES
from lab_support.tones import tones_corpus
from sayahead.cli import main

from sayahead_lab.training.corpus.predicted import PredictedSpec, Predictions
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop.recipe import recipe_from
from sayahead_lab.training.loop.run import train

ALL = ("name", "text", "ids", "words", "durations", "f0", "audio")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, and the run of a Deep Voice 3 that has seen it for a few steps."""
    folder = tmp_path_factory.mktemp("predicted")
    corpus = tones_corpus(folder / "corpus")
    table = {
        "task": "ma",
        "corpus": str(corpus.path),
        "model": SIZES,
        "data": {"samples": 0, "guided_weight": 0.0},
    }
    recipe = recipe_from(
        table | {"train": {"batch_size": 4, "steps": 60, "learning_rate": 5e-3}},
        name="dv3",
        where="",
    )
    train(recipe, corpus.path, folder / "dv3", device="cpu", threads=1)
    return folder


def test_only_the_mel_is_another_and_like_the_true_one(runs: Path, tmp_path: Path) -> None:
    assert (
        main(
            [
                "train",
                "predicted",
                str(runs / "dv3"),
                str(runs / "corpus"),
                "-o",
                str(tmp_path / "heard"),
            ]
        )
        == 0
    )
    true = Corpus(runs / "corpus")
    heard = Corpus(tmp_path / "heard")
    assert heard.info.source == {**true.info.source, "mel": "dv3, 60 steps"}
    for split in ("train", "val"):
        for was, now in zip(true.split(split), heard.split(split), strict=True):
            assert all(
                np.array_equal(getattr(was, key), getattr(now, key))
                for key in ALL
                if getattr(was, key) is not None
            )
            assert was.mel.shape == now.mel.shape
            assert not np.array_equal(was.mel, now.mel)
    apart = np.concatenate(
        [a.mel - b.mel for a, b in zip(true.split("val"), heard.split("val"), strict=True)]
    )
    spread = np.concatenate([a.mel - np.array(true.info.mel_mean) for a in true.split("val")])
    assert np.abs(apart).mean() < 0.8 * np.abs(spread).mean()


def test_a_step_hears_the_true_frames_before_it(runs: Path) -> None:
    source = Predictions(PredictedSpec(runs / "dv3", runs / "corpus"))
    item = Corpus(runs / "corpus").split("val")[0]
    mel = np.array(item.mel)
    mel[20:] += 1
    changed = source.task.predicted(source.run.model, replace(item, mel=mel))
    was = source.task.predicted(source.run.model, item)
    same = np.flatnonzero(np.abs(changed - was).max(1) > 1e-5)[0]
    # Steps make four frames each: the first that hears the change begins at the next whole one.
    assert same == 24


def test_what_predicts_no_mel_is_refused(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "train",
        "predicted",
        str(runs / "corpus"),
        str(runs / "corpus"),
        "-o",
        str(tmp_path / "heard"),
    ]
    assert main(command) == 2
    assert "checkpoint" in capsys.readouterr().err
    assert not (tmp_path / "heard").exists()
