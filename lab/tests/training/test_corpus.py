"""Corpora: made, stopped, resumed, damaged, read; sources are a toy here and the teacher in
test_teacher.py."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.noise_teacher import Toy, ToySpec
from numpy.typing import NDArray
from sayahead.cli import main
from sayahead.config import from_mapping
from sayahead.errors import ConfigError

from sayahead_lab.training.corpus.frontend import MelFrontEnd
from sayahead_lab.training.corpus.making import Texts, make_corpus
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo
from sayahead_lab.training.corpus.texts import evenly, read_counts
from sayahead_lab.workers import Local

TEXTS = {
    "train": [(f"T{i:02d}", "word " * (1 + i % 3)) for i in range(11)],
    "val": [("V00", "one two"), ("V01", "three"), ("V02", "")],
}


def make(
    path: Path, spec: ToySpec | None = None, splits: dict[str, Texts] | None = None, jobs: int = 1
) -> CorpusInfo:
    return make_corpus(
        path, spec or ToySpec(), splits or dict(TEXTS), workers=Local(jobs), shard_texts=4
    )


def digests(path: Path) -> dict[str, str]:
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus made in one go."""
    path = tmp_path_factory.mktemp("corpora") / "whole"
    make(path)
    return path


def test_what_is_read_is_what_was_made(whole: Path) -> None:
    corpus = Corpus(whole)
    toy = Toy(ToySpec())
    assert corpus.info.complete
    assert corpus.info.splits == {"val": ("00000",), "train": ("00000", "00001", "00002")}
    for name, texts in TEXTS.items():
        expected = [item for key, text in texts for item in toy.items(key, text)[0]]
        split = corpus.split(name)
        assert split.lengths.tolist() == [len(item.mel) for item in expected]
        assert [item.name for item in split] == [item.name for item in expected]
        for item, meant in zip(split, expected, strict=True):
            assert (item.text, int(item.durations.sum())) == (meant.text, len(item.mel))
            for key in ("ids", "words", "durations", "f0", "mel", "audio", "features"):
                array = getattr(item, key)
                wanted = getattr(meant, key)
                assert array.dtype == wanted.dtype
                np.testing.assert_array_equal(array, wanted)
    train = corpus.split("train")
    assert [item.name for item in train[-2:]] == ["T09", "T10"] == [train[9].name, train[-1].name]
    with pytest.raises(IndexError):
        train[11]
    assert [shard.left_out for shard in corpus.split("val").shards] == [["V02"]]


def test_statistics_are_those_of_the_train_frames(whole: Path) -> None:
    corpus = Corpus(whole)
    frames = np.concatenate([item.mel for item in corpus.split("train")]).astype(np.float64)
    assert corpus.info.mel_mean == pytest.approx(frames.mean(axis=0).tolist())
    assert corpus.info.mel_std == pytest.approx(frames.std(axis=0).tolist())


def test_long_arrays_stay_in_their_files(whole: Path) -> None:
    item = Corpus(whole).split("train")[5]
    for array in (item.mel, item.audio, item.features):
        base = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)


@pytest.mark.parametrize("stop_at", ["V00", "T00", "T06", "T10"])
def test_stopped_and_resumed_gives_the_same_bytes(
    whole: Path, tmp_path: Path, stop_at: str
) -> None:
    path = tmp_path / "corpus"
    with pytest.raises(KeyboardInterrupt):
        make(path, ToySpec(stop_at))
    corpus = Corpus(path)
    assert not corpus.info.complete
    assert len(corpus.split("train")) == int(stop_at[1:]) // 4 * 4 * (stop_at[0] == "T")
    make(path)
    assert digests(path) == digests(whole)


def test_a_shard_cut_off_while_it_was_written_is_made_anew(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    with pytest.raises(KeyboardInterrupt):
        make(path, ToySpec("T06"))
    draft = path / "train" / ".00001"
    draft.mkdir()
    (draft / "mel.npy").write_bytes(b"half")
    (draft / "stray.npy").write_bytes(b"half")
    make(path)
    assert digests(path) == digests(whole)


def test_two_processes_make_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    make(tmp_path / "corpus", jobs=2)
    assert digests(tmp_path / "corpus") == digests(whole)


def test_what_is_there_is_not_made_again(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    shutil.copytree(whole, path)
    make(path, ToySpec("T00"))
    shutil.rmtree(path / "train" / "00002")
    with pytest.raises(ConfigError, match=r"shard .*00002 is missing"):
        Corpus(path).split("train")
    make(path)
    assert digests(path) == digests(whole)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"seed": 1}, "seed was 0 and is 1"),
        ({"audio": False}, r"the source differ \(audio\)"),
        (
            {"front_end": MelFrontEnd(800, 32, 32, 10, 4, 20.0, 400.0)},
            r"the front_end differ \(f_min\)",
        ),
    ],
)
def test_another_corpus_in_the_folder_is_named(
    whole: Path, change: dict[str, object], where: str
) -> None:
    spec = from_mapping(
        ToySpec,
        {"stop_at": "T00"} | {k: v for k, v in change.items() if k != "front_end"},
        where="",
    )
    if "front_end" in change:
        spec = ToySpec("T00", front_end=change["front_end"])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=where):
        make(whole, spec)
    with pytest.raises(ConfigError, match=r"the texts differ \(val\)"):
        make(whole, splits={**TEXTS, "val": [("V00", "other")]})


def test_shards_of_another_corpus_are_found_without_its_description(
    whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "corpus"
    shutil.copytree(whole, path)
    (path / "corpus.json").unlink()
    with pytest.raises(ConfigError, match="00000 belongs to a corpus that was made in another way"):
        make(path, ToySpec(seed=3))
    make(path)
    assert digests(path) == digests(whole)


@pytest.mark.parametrize(
    "name", ["mel", "audio", "features", "ids", "words", "durations", "f0", "frames_at"]
)
def test_a_file_cut_off_is_named(whole: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "corpus"
    shutil.copytree(whole, path)
    file = path / "train" / "00001" / f"{name}.npy"
    file.write_bytes(file.read_bytes()[:-2])
    with pytest.raises(ConfigError, match=rf"00001/{name}\.npy is damaged"):
        Corpus(path).split("train")


CHANGES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "durations": lambda a: a + np.int16(1),
    "mel": lambda a: a[:-1],
    "audio": lambda a: a[:-10],
    "f0": lambda a: a[1:],
    "ids_at": lambda a: a[::-1].copy(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_files_that_do_not_fit_together_are_named(whole: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "corpus"
    shutil.copytree(whole, path)
    file = path / "val" / "00000" / f"{name}.npy"
    np.save(file, CHANGES[name](np.load(file)))
    with pytest.raises(ConfigError, match=rf"{name}\.npy is damaged"):
        Corpus(path).split("val")


def test_missing_files_are_named(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no corpus"):
        Corpus(tmp_path)
    path = tmp_path / "corpus"
    for name in ("mel.npy", "words_at.npy", "names.json"):
        shutil.copytree(whole, path)
        (path / "val" / "00000" / name).unlink()
        with pytest.raises(ConfigError, match=name):
            Corpus(path).split("val")
        shutil.rmtree(path)
    shutil.copytree(whole, path)
    data = json.loads((path / "corpus.json").read_text())
    (path / "corpus.json").write_text(json.dumps({**data, "format": 9}))
    with pytest.raises(ConfigError, match="format 9"):
        Corpus(path)
    (path / "corpus.json").write_text("{")
    with pytest.raises(ConfigError, match=r"corpus.json is damaged"):
        Corpus(path)
    with pytest.raises(ConfigError, match=r"no split 'vel' \(did you mean 'val'"):
        Corpus(whole).split("vel")


def test_without_sound(tmp_path: Path) -> None:
    make(tmp_path, ToySpec(audio=False))
    assert Corpus(tmp_path).split("train")[2].audio is None


def test_parts_are_evenly_spaced() -> None:
    texts: Texts = [(str(i), "x") for i in range(10)]
    assert [name for name, _ in evenly(texts, 4)] == ["0", "2", "5", "7"]
    assert evenly(texts, 11) == texts
    both = {"train": texts, "val": texts}
    assert read_counts("5", both) == {"train": 5}
    assert read_counts("train=5,val=2", both) == {"train": 5, "val": 2}
    for wrong in ("vel=2", "train=x", "0", "test=3"):
        with pytest.raises(ConfigError, match="--count"):
            read_counts(wrong, both)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "A corpus needs texts"),
        (["--train", "TEXTS", "--count", "1", "--hours", "2"], "--count and --hours both"),
        (["--train", "TEXTS", "--skip-missing"], "--skip-missing needs --recordings"),
        (["--recordings", "x", "--features"], "--features applies to the voice"),
        (["--recordings", "x"], "metadata.csv cannot be read"),
        (
            ["--train", "TEXTS", "--front-end", "saeki", "--features"],
            "The teacher has features for each 300 samples",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.csv"
    texts.write_text("a|One.\n", encoding="utf-8")
    words = [str(texts) if word == "TEXTS" else word for word in options]
    assert main(["train", "corpus", str(tmp_path / "out"), *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
