"""Saeki-a's Fig. 2 and Saeki-b's Fig. 3 from an archive of runs, with nothing else at hand."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.tones import tones_corpus
from sayahead import load_voice
from sayahead.cli import main
from sayahead.contexts.word_vectors import WordVectors
from sayahead.errors import ConfigError

from sayahead_lab.results import load_figures
from sayahead_lab.training.loop.publish import unpack_release
from sayahead_lab.training.loop.recipe import Recipe
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.task import TrainSettings

ARCHIVE = Path(__file__).parents[3] / "archives" / "runs" / "saeki.tar.xz"
SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "saeki"
CONTEXT = {
    "filters": [4, 4],
    "strides": [1, 2],
    "recurrent": 12,
    "tokens": 4,
    "heads": 2,
    "embedding": 16,
}
SIZES = {
    "reduction": 3,
    "embedding": 24,
    "prenet": [16],
    "attention_rnn": 32,
    "decoder_rnn": 24,
    "attention": 12,
    "location_kernel": 5,
    "postnet": 16,
    "taught": True,
    "context": CONTEXT,
}
TEXTS = ("bad cab dab fad.", "a bad cab had a bad dad.", "cab fare. dab.")


def imported(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``cosine``."""
    return imported(monkeypatch, "cosine")


def futures(path: Path, texts: dict[str, str], said: list[str]) -> str:
    """A file of futures, the same ones behind each prefix."""
    rows = [(name, text.split()) for name, text in texts.items()]
    lines = [
        {"name": name, "words": words, "futures": [said] * (len(words) - 1) + [None]}
        for name, words in rows
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def release(folder: Path) -> Path:
    """An archive of a Tacotron, its fine-tuning and a student; nothing else is left of them."""
    corpus = tones_corpus(folder / "corpus")
    work = folder / "work"
    made = [
        futures(
            folder / f"{split}.jsonl",
            {item.name: item.text for item in corpus.split(split)},
            ["bad", "cab."],
        )
        for split in ("train", "val")
    ]
    draw = np.random.default_rng(0)
    (work / "vectors").mkdir(parents=True)
    table = WordVectors.of(
        {"a": 0}, draw.normal(size=(9, 6)).astype(np.float32), buckets=8, shortest=3, longest=4
    )
    table.save(work / "vectors" / "words.npz")
    np.save(work / "vectors" / "axes.npy", draw.normal(size=(6, 10)).astype(np.float32))
    taught = {"futures": made[0], "val_futures": made[1]}
    student = {"vectors": 10, "recurrent": 8, "wide": 12, "embedding": 16}
    settings = TrainSettings(8, 1, sample_every=1000)
    for name, task, model, data in (
        ("speaks", "saeki", SIZES, {"windows": [1, 2], "lookahead": 2, "samples": 0}),
        ("guided", "saeki-guided", {}, {**taught, "teacher": str(work / "speaks")}),
        (
            "taught",
            "saeki-student",
            student,
            {**taught, "teacher": str(work / "guided"), "vectors": str(work / "vectors")},
        ),
    ):
        train(Recipe(name, task, settings, str(corpus.path), model, data), corpus.path, work / name)
    archive = folder / "release.tar.gz"
    assert (
        main(
            [
                "train",
                "publish",
                *(str(work / name) for name in ("speaks", "guided", "taught")),
                "-o",
                str(archive),
            ]
        )
        == 0
    )
    shutil.rmtree(work)
    shutil.rmtree(corpus.path)
    return archive


@pytest.fixture
def expected(tmp_path: Path) -> Path:
    """Two files of futures."""
    (tmp_path / "futures").mkdir()
    texts = dict(zip("pqr", TEXTS, strict=True))
    futures(tmp_path / "futures" / "k-1.jsonl", texts, ["bad", "dad."])
    futures(tmp_path / "futures" / "k-5.jsonl", texts, ["cab"])
    return tmp_path / "futures"


@pytest.mark.slow
def test_an_archive_alone_remakes_the_figures(script: Any, tmp_path: Path, expected: Path) -> None:
    archive = release(tmp_path)
    out = tmp_path / "out"
    script.main([str(archive), "--futures", str(expected), "-o", str(out)])
    made = load_figures(out / "cosine.md")
    # The text of two sentences is passed over; prefixes are those of the others that are not the
    # whole.
    assert (made["texts"], made["prefixes"]) == (2, 3 + 6)
    assert list(made["networks"]) == ["guided", "speaks"]
    rows = made["networks"]["speaks"]
    assert list(rows) == ["random words", "k = 1", "k = 5", "no future"]
    assert all(
        -1 <= low <= value <= high <= 1
        for value, low, high in (one["mean"] for one in rows.values())
    )
    assert rows["k = 1"]["mean"][0] > rows["no future"]["mean"][0]
    assert list(made["students"]) == ["the mean embedding, whatever the text", "taught"]
    assert (out / "cosine.md").read_text().count("| k = 5 |") == 2
    assert {path.name for path in out.glob("*.png")} == {
        "pseudo-guided.png",
        "pseudo-speaks.png",
        "student.png",
    }
    (archive_of_nothing := tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no run of a Tacotron"):
        script.main([str(archive_of_nothing), "--futures", str(expected), "-o", str(out)])
    with pytest.raises(ConfigError, match="has no futures"):
        script.main([str(archive), "--futures", str(tmp_path / "empty"), "-o", str(out)])


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of saeki-lj."""
    folder = tmp_path_factory.mktemp("published")
    unpack_release(ARCHIVE, folder)
    return folder


def test_what_is_expected_stands_in_for_what_follows(script: Any, published: Path) -> None:
    network = script.of_run(script.load_trained(published / "guided-small"))
    words = ("The", "old", "house", "was", "sold", "to", "a", "friend", "of", "ours.")
    truth = {n: words[n : n + 5] for n in range(1, len(words))}
    moments = [
        script.Moment(
            0, words[:n], {"random words": ("green", "of"), "k = 1": future, "no future": ()}
        )
        for n, future in truth.items()
    ]
    # In place of words come as many random ones, which end where those do.
    assert moments[0].random("k = 1") == ("green", "of")
    assert moments[-1].random("k = 1") == ("green.",)
    assert moments[0].random("no future") == ("green", "of")
    with script.torch.no_grad():
        meant = network.embeddings([words], moments)
        same, none = (
            network.embeddings([words], moments, [one.futures[source] for one in moments])
            for source in ("k = 1", "no future")
        )
    # The true words, expected, make the true future's embedding, up to how their ends are read.
    cosine = script.functional.cosine_similarity
    assert cosine(same, meant).mean() > 0.97
    assert cosine(none, meant).mean() < cosine(same, meant).mean() - 0.02
    # The shipped voice's graphs say the same of past and future, in int8.
    acoustic: Any = load_voice("saeki-lj").synthesizer
    graphs = acoustic.acoustic._graphs
    item = network.item(words)
    piece = script.last_segment(network.cutter, [item], script.Prefix(0, words[:6], ()))
    sides = [graphs["encoder"](ids=ids)["states"] for ids in (piece.past, piece.future)]
    embedding = graphs["context"](
        past=sides[0], future=sides[1], there=np.ones((2, 1), np.float32)
    )["embedding"]
    assert np.abs(embedding - meant[5].numpy()).max() < 0.02


@pytest.mark.slow
def test_the_committed_figure_is_what_the_published_runs_give(script: Any, published: Path) -> None:
    kept = load_figures(script.FUTURES.parent / "runs" / "cosine.md")
    now = script.measured(*script.of_runs(published), script.FUTURES)
    assert (now["texts"], now["prefixes"]) == (kept["texts"], kept["prefixes"])
    assert list(now["networks"]) == list(kept["networks"])
    tables = [(rows, kept["networks"][name]) for name, rows in now["networks"].items()]
    for rows, meant in (*tables, (now["students"], kept["students"])):
        assert list(rows) == list(meant)
        for name, row in rows.items():
            assert row["mean"] == pytest.approx(meant[name]["mean"], abs=0.005), name


def test_the_shipped_voice_stands_in_for_runs_in_the_rows_of_the_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    imported(monkeypatch, "voices").main("saeki-lj", tmp_path)
    apart, own = (load_voice(tmp_path / name) for name in ("saeki-independent", "saeki-lj"))
    one, two = (voice.synthesize("Two words, then two more.") for voice in (apart, own))
    assert len(one) != len(two) or not np.array_equal(one, two)
    assert own.context("distilled").predict(["Two"]).embedding is not None
