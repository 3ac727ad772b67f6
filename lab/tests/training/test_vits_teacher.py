"""A VITS voice as a teacher: its own durations, of the front end's phonemes."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.tiny_vits import tiny_vits
from sayahead.cli import main
from sayahead.errors import ConfigError
from sayahead.voices.install.vits.voice import add_piper
from support.toy_voices import TOYS

from sayahead_lab.cli import corpus as command
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.spoken import SpokenSpec
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec, inventory
from sayahead_lab.training.corpus.vits import ESPEAK, VitsSpec, phoneme_edges, spelled, trim_heard

TEXT = "The nearest letters were stirring, and eight of them are here."


def english_symbols() -> list[str]:
    """All symbols of espeak-ng that the front end's become."""
    return sorted({*"".join(ESPEAK.values()), *inventory()[0]})


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A toy voice that says it reads these; its graphs are not asked."""
    folder = tmp_path / "described"
    shutil.copytree(TOYS / "vits", folder)
    about = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    about["model"]["spelling"] = "espeak"
    about["phonemes"] = {symbol: at for at, symbol in enumerate(english_symbols(), 3)}
    (folder / "voice.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


@pytest.fixture
def voice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small VITS voice that reads them."""
    folder = tmp_path_factory.mktemp("vits")
    symbols = english_symbols()
    ids = {symbol: [number] for number, symbol in enumerate(["_", "^", "$", *symbols])}
    english: dict[str, Any] = {
        "espeak": {"voice": "en-us"},
        "language": {"code": "en_US"},
        "num_symbols": 178,
    }
    add_piper(
        tiny_vits(folder, phoneme_type="espeak", phoneme_id_map=ids, **english),
        None,
        folder / "voice",
    )
    return folder / "voice"


@pytest.mark.slow
def test_a_corpus_has_the_durations_of_the_graph_without_espeak_ng(
    voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYAHEAD_ESPEAK", "/nonexistent")
    (tmp_path / "train.csv").write_text(f"A-1|{TEXT}\n", encoding="utf-8")
    made = ["train", "corpus"]
    seeded = ["--seed", "3", "--train", str(tmp_path / "train.csv")]
    assert main([*made, str(tmp_path / "made"), "--teacher", str(voice), *seeded]) == 0
    corpus = Corpus(tmp_path / "made")
    assert (corpus.info.source["kind"], corpus.info.punctuation, corpus.info.seed) == (
        "vits",
        "all",
        3,
    )
    (item,) = corpus.split("train")
    (own,) = TeacherSpec(PRESETS["ma"]).open().items("A-1", TEXT)[0]
    assert np.array_equal(item.ids, own.ids)
    assert np.array_equal(item.words, own.words)
    assert item.audio is not None
    assert int(item.durations.sum()) == len(item.mel) == len(item.f0) == len(item.audio) // 300
    again, _ = VitsSpec(PRESETS["ma"], seed=3, voice=str(voice)).open().items("A-1", TEXT)
    other, _ = VitsSpec(PRESETS["ma"], seed=4, voice=str(voice)).open().items("A-1", TEXT)
    assert np.array_equal(again[0].mel, item.mel)
    assert not np.array_equal(other[0].durations, item.durations)
    # Its sound lasts as long as its durations say, but for what is cut off at both ends.
    spec = VitsSpec(PRESETS["ma"], lead=10**6, tail=10**6, voice=str(voice))
    teacher = spec.open()
    take = teacher.speak(own.ids.astype(np.int64), "A-1")
    tokens = sum(
        len(theirs)
        for _, theirs in spelled("".join(teacher._symbols[int(number)] for number in own.ids))
    )
    assert len(take.edges) == len(own.ids) + 3
    assert take.edges[-1] * 300 == len(take.samples)
    assert take.edges[-1] * 300 / 24000 >= (2 * tokens + 3) * 256 / 22050 - 0.0125
    assert (np.diff(take.edges) >= 0).all()


@pytest.mark.parametrize(("more", "kind"), [([], VitsSpec), (["--align"], SpokenSpec)])
def test_the_aligner_finds_the_phonemes_where_asked(
    described: Path, more: list[str], kind: type
) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert (
        type(command.from_teacher(parser.parse_args(["out", "--teacher", str(described), *more])))
        is kind
    )
    with pytest.raises(ConfigError, match="--align needs --teacher"):
        command.from_voice(parser.parse_args(["out", "--align"]))


def test_a_voice_without_a_phoneme_says_which(
    described: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = json.loads((described / "voice.json").read_text(encoding="utf-8"))
    del about["phonemes"]["ŋ"]
    (described / "voice.json").write_text(json.dumps(about), encoding="utf-8")
    (tmp_path / "train.csv").write_text(f"A-1|{TEXT}\n", encoding="utf-8")
    given = [
        "train",
        "corpus",
        str(tmp_path / "made"),
        "--teacher",
        str(described),
        "--train",
        str(tmp_path / "train.csv"),
    ]
    assert main(given) != 0
    assert "has no phoneme 'ŋ', which A-1 needs" in capsys.readouterr().err


def test_phonemes_are_spelled_as_espeak_ng_has_them() -> None:
    def theirs(symbols: str) -> str:
        groups = spelled(symbols)
        assert sum(many for many, _ in groups) == len(symbols)
        return "".join(spelling for _, spelling in groups)

    assert theirs("hˈæpi mˈit, bˈAbi") == "hˈæpi mˈiːt, bˈeɪbi"
    assert theirs("bˈɜɹd stˈɜɹɪŋ ˈOvəɹ əɹˈWnd") == "bˈɜːd stˈɜːɹɪŋ ˈoʊvɚ əɹˈaʊnd"
    assert theirs("ʤˈʌmpt wˌɪʧ wˈɔTəɹ—") == "dʒˈʌmpt wˌɪtʃ wˈɔːɾɚ,"
    assert spelled("əɹ.") == [(2, "ɚ"), (1, ".")]


def test_pads_are_shared_and_what_is_spelled_together_evenly() -> None:
    # ^ _ p _ q _ $: a pad of 4 frames before p, of 2 between, of 6 at the end.
    units = np.array([3, 4, 5, 2, 8, 6, 1])
    assert phoneme_edges(units, [(1, 1), (1, 1)]).tolist() == [0, 5, 13, 25, 29]
    assert phoneme_edges(units, [(2, 1), (1, 1)]).tolist() == [0, 5, 9, 13, 25, 29]
    assert phoneme_edges(units, [(1, 2)]).tolist() == [0, 5, 25, 29]
    assert phoneme_edges(units, [(1, 1), (1, 0), (1, 1)]).tolist() == [0, 5, 13, 13, 25, 29]


def test_silence_at_the_ends_is_cut() -> None:
    samples = np.zeros(40 * 300, np.float32)
    samples[10 * 300 : 20 * 300] = 0.5
    first, edges = trim_heard(np.array([0, 10, 20, 38, 40]), samples, lead=4, tail=12)
    assert (first, edges.tolist()) == (6, [0, 4, 14, 26, 26])
    first, edges = trim_heard(np.array([0, 2, 3]), samples[:900], lead=4, tail=12)
    assert (first, edges.tolist()) == (0, [0, 2, 3])
