"""Mohan et al.'s paths and proportions from published runs, with any corpus."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.tones import tones_corpus
from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.voices import located, read_config

from sayahead_lab.results import load_figures
from sayahead_lab.training.corpus.family import FamilySpec
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.loop.publish import unpack_release
from sayahead_lab.training.mohan.task import spelling

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "mohan"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``paths``."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "paths", raising=False)
    return importlib.import_module("paths")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published runs."""
    folder = tmp_path_factory.mktemp("published") / "runs"
    unpack_release(ROOT.parent / "archives" / "runs" / "mohan.tar.xz", folder)
    return folder


@pytest.mark.slow
def test_published_agents_walk_theirs_on_another_corpus_than_their_own(
    script: Any, runs: Path, tmp_path: Path
) -> None:
    corpus = tones_corpus(tmp_path / "corpus")
    out = tmp_path / "out"
    agents = [part for seed in range(3) for part in ("--agent", str(runs / f"agent-longer-{seed}"))]
    given = [
        "--corpus",
        str(corpus.path),
        *agents,
        "-o",
        str(out),
        "--split",
        "val",
        "--sentences",
        "2",
    ]
    script.main([*given, "--drawn", "1"])
    rows = load_figures(out / "environment.md")
    assert list(rows) == [
        "wait-end",
        "wait-2-steps",
        "wait-3-steps",
        *(f"agent, 30 nats, seed {seed}" for seed in range(3)),
    ]
    assert sorted(path.name for path in out.glob("*.png")) == ["paths.png", "rewards.png"]


def test_a_corpus_of_other_frames_is_an_error(script: Any, runs: Path, tmp_path: Path) -> None:
    path = tones_corpus(tmp_path / "corpus").path / "corpus.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "front_end": {**info["front_end"], "hop": 256}}))
    with pytest.raises(ConfigError, match=r"The frames of .* are not those of"):
        script.load(runs / "agent-longer-0", path.parent)


def test_french_letters_by_what_follows_them(script: Any) -> None:
    text = "Les enfants ont vu l'île, un grand lit et deux oiseaux."
    [item], _ = FamilySpec(PRESETS["ma"], "final", voice="ff_siwis").open().items("A", text)
    phonemes = dict(read_config(located("ff_siwis")).phonemes)
    speller = front_end("fr-FR").speller()
    info = FamilySpec(PRESETS["ma"], "final", voice="ff_siwis").about()
    found = list(script.joints(item, speller, script.alone(info), phonemes))
    letters = text.lower().replace(",", "").replace(".", "")
    ends = {
        kind: [letters[: place + 1].split()[-1] for own, place in found if own == kind]
        for kind in script.JOINTS
    }
    assert ends["liaison"] == ["les", "enfants", "deux"]
    assert ends["mute"] == ["ont", "un", "grand", "et"]
    assert ends["vowel"] == ["lit"]
    assert ends["apostrophe"] == ["l"]
    assert "oiseaux" not in [end for own in ends.values() for end in own]
    at = script.begins(spelling(item, speller), 2, len(item.mel))
    assert (np.diff(at) >= 0).all()
    assert at[-1] <= -(-len(item.mel) // 2) - 1


def test_a_row_of_joints_is_of_all_places(script: Any) -> None:
    row = script.joint_row([(4, 1, 2), (2, 0, 1)])
    assert (row["places"], row["ahead"]["value"], row["seen"]["value"]) == (
        3,
        2.0,
        pytest.approx(1 / 3),
    )
    table = script.joint_table({"wait-2-steps": {"liaison": row}, "agent": {"liaison": row}})
    assert (
        table[-1]
        == "| ends of words, in liaison | 3 | 2.0 (2.0 to 2.0), 33 % | 2.0 (2.0 to 2.0), 33 % |"
    )
