"""Mohan et al.'s paths and proportions from the shipped voice, with a corpus and no run."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tones import tones_corpus
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError
from sayahead.voices import installed_voices

from sayahead_lab.training.loop.publish import unpack_release

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "mohan"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``paths``."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "paths", raising=False)
    return importlib.import_module("paths")


def test_the_shipped_voice_walks_its_paths(script: Any, tmp_path: Path) -> None:
    corpus = tones_corpus(tmp_path / "corpus")
    given = ["--corpus", str(corpus.path), "--agent", "mohan-lj", "-o", str(tmp_path / "out")]
    script.main([*given, "--split", "val", "--sentences", "2", "--drawn", "1"])
    rows = json.loads((tmp_path / "out" / "environment.json").read_text())
    assert list(rows) == ["wait-end", "wait-2-steps", "wait-3-steps", "agent of mohan-lj"]
    assert rows["wait-end"]["d_T"] == 1
    assert 0 < rows["agent of mohan-lj"]["d_T"] < 1
    assert [path.name for path in (tmp_path / "out").glob("*.png")] == ["paths.png"]


def test_published_agents_walk_theirs_on_another_corpus_than_their_own(script: Any, tmp_path: Path) -> None:
    unpack_release(ROOT.parent / "archives" / "runs" / "mohan.tar.gz", tmp_path / "runs")
    corpus, out = tones_corpus(tmp_path / "corpus"), tmp_path / "out"
    agents = [part for seed in range(3) for part in ("--agent", str(tmp_path / "runs" / f"agent-longer-{seed}"))]
    given = ["--corpus", str(corpus.path), *agents, "-o", str(out), "--split", "val", "--sentences", "2"]
    script.main([*given, "--drawn", "1"])
    rows = json.loads((out / "environment.json").read_text())
    assert list(rows) == [
        "wait-end",
        "wait-2-steps",
        "wait-3-steps",
        *(f"agent, 30 nats, seed {seed}" for seed in range(3)),
    ]
    assert sorted(path.name for path in out.glob("*.png")) == ["paths.png", "rewards.png"]


def test_a_corpus_of_other_frames_is_an_error(script: Any, tmp_path: Path) -> None:
    unpack_release(ROOT.parent / "archives" / "runs" / "mohan.tar.gz", tmp_path / "runs")
    path = tones_corpus(tmp_path / "corpus").path / "corpus.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "front_end": {**info["front_end"], "hop": 256}}))
    with pytest.raises(ConfigError, match=r"The frames of .* are not those of"):
        script.load(tmp_path / "runs" / "agent-longer-0", path.parent)


def test_the_agent_read_back_says_what_its_graph_says(script: Any, tmp_path: Path) -> None:
    task, agent = script.load(Path("mohan-lj"), tones_corpus(tmp_path).path)
    draw = np.random.default_rng(0)
    observation, hidden = (draw.normal(size=size).astype(np.float32) for size in (agent.observed, 512))
    graph = OnnxGraph(installed_voices()["mohan-lj"] / "agent.onnx")
    meant = graph(observation=observation, hidden=hidden)
    with torch.no_grad():
        logits, after = agent.step(torch.from_numpy(observation)[None], torch.from_numpy(hidden)[None])
    assert np.allclose(logits[0].numpy(), meant["logits"], atol=1e-4)
    assert np.allclose(after[0].numpy(), meant["next_hidden"], atol=1e-5)
    # Frames are scaled as the voice's, not as the corpus's.
    assert task.corpus.info.mel_mean == tuple(task.speaker.mean.tolist())
    assert abs(task.speaker.mean.mean()) > 1
