"""The voices in ``archives/``: each is added, speaks, and its steps are the whole."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from sayahead.engine.synthesizer import TwoStage
from sayahead.voice import load_voice
from sayahead.voices.install import catalogue
from sayahead.voices.install.add import add

ARCHIVES = Path(__file__).parents[4] / "archives"
STEP = 9
"""Frames of a step."""
SLOW = ("ma-wavernn.tar.gz", "mohan-wavernn.tar.gz", "saeki-free-independent.tar.gz")


def test_the_sums_are_of_all_archives() -> None:
    lines = catalogue.SUMS.read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    paths = {str(path.relative_to(ARCHIVES)): path for path in ARCHIVES.rglob("*.tar.*")}
    files = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    assert sums == files
    assert files


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(path, id=path.name, marks=pytest.mark.slow if path.name in SLOW else ())
        for path in sorted(ARCHIVES.glob("*.tar.gz"))
    ],
)
def test_a_voice_is_added_and_its_steps_are_the_whole(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "voices"))
    added = add(archive.name.removesuffix(".tar.gz"))
    assert f"{added.config.name}.tar.gz" == archive.name
    synthesizer = load_voice(added.folder).synthesizer
    assert isinstance(synthesizer, TwoStage)
    vocoder = synthesizer.vocoder
    draw = np.random.default_rng(1)
    mel = (draw.normal(size=80) + draw.normal(size=(40, 80)).cumsum(0) / 4 - 4).astype(np.float32)
    whole, _ = vocoder.step(mel, mel[:0], vocoder.initial(0), seed=1, ended=True)
    state = vocoder.initial(0)
    parts = []
    for at in range(0, len(mel), STEP):
        made, state = vocoder.step(
            mel[at : at + STEP], mel[at + STEP :], state, seed=1, ended=at + STEP >= len(mel)
        )
        parts.append(made)
    assert np.abs(whole - np.concatenate(parts)).max() < 1e-4
