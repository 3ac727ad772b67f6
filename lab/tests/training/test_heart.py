"""The default voice in PyTorch: parity with the graphs, sentences cut at words, what a student
learns, the export."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.sentences import ITEMS, PAD, PHONEMES, SPACE, TEXTS
from lab_support.tiny_training import lessons
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.errors import ConfigError
from sayahead.systems.heart import HeartAcoustic

from sayahead_lab.training.corpus.teacher import load_reader
from sayahead_lab.training.graph.builder import quantized
from sayahead_lab.training.heart import export as importer
from sayahead_lab.training.heart.network import SYMBOLS, Heart, HeartNetworkConfig, load_imported
from sayahead_lab.training.heart.prefixes import (
    MODEL,
    NOTHING,
    TRUE,
    Cutting,
    PrefixCutter,
    continuations,
    seen_ids,
    whole,
    word_starts,
)
from sayahead_lab.training.heart.task import HeartPrefixes
from sayahead_lab.training.heart.weights import TrainedWeights, imported, linear_names
from sayahead_lab.training.hibari import HibariWeights, assets, heart_weights

PAST = {**HeartAcoustic.MEMORY, "recent": HeartAcoustic.RECENT}


@pytest.fixture(scope="module")
def task() -> HeartPrefixes:
    info = SimpleNamespace(phonemes=PHONEMES, punctuation="all", pad=PAD)
    corpus: Any = SimpleNamespace(info=info)
    return HeartPrefixes({}, {}, corpus)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The imported voice's graphs."""
    folder = tmp_path_factory.mktemp("imported")
    teacher = HibariWeights(assets() / "hibari.onnx")
    importer.text_graph(teacher).save(str(folder / "text.onnx"))
    importer.prosody_graph(teacher).save(str(folder / "prosody.onnx"))
    return folder


def nothing_before() -> dict[str, Any]:
    """The past of a sentence that begins, as the text graph takes it."""
    return {name: np.zeros(shape, np.float32) for name, shape in PAST.items()}


def test_torch_is_the_imported_voice(graphs: Path) -> None:
    model = Heart(HeartNetworkConfig()).eval()
    load_imported(model, imported(heart_weights()))
    ids = np.concatenate([[PAD], ITEMS[0].ids, [PAD]]).astype(np.int64)
    text = OnnxGraph(graphs / "text.onnx")(
        ids=ids, speed=np.ones(1, np.float32), **nothing_before()
    )
    # Rows that are only there to fill the batch must not matter.
    padded = torch.zeros(2, len(ids) + 9, dtype=torch.long)
    padded[:, : len(ids)] = torch.from_numpy(ids)
    known = torch.arange(len(ids) + 9)[None].expand(2, -1) < len(ids)
    with torch.inference_mode():
        sound, prosody, logs = model.encode(padded, known, torch.zeros(2, 64))
        assert np.abs(sound[1, : len(ids)].numpy() - text["sound_encoding"]).max() < 1e-4
        assert np.abs(prosody[1, : len(ids)].numpy() - text["prosody_encoding"]).max() < 1e-4
        assert np.abs(torch.expm1(logs[1, : len(ids)]).numpy() - text["durations"]).max() < 1e-4
        units = np.maximum(np.rint(text["durations"]), 1).astype(int)
        rows = np.repeat(np.arange(len(ids)), units)
        found = OnnxGraph(graphs / "prosody.onnx")(
            prosody_encoding=text["prosody_encoding"][rows],
            rows=count(len(rows)),
            commit=count(len(rows)),
            cache=np.zeros((54, 192), np.float32),
        )
        made = model.prosody(prosody[:1, rows], torch.ones(1, len(rows)))[0]
        assert np.abs(made[:, :2].reshape(-1).numpy() - found["f0"] / 100).max() < 1e-4
        assert np.abs(made[:, 2:].reshape(-1).numpy() - found["energy"] / 5).max() < 1e-4


def test_words_begin_with_the_space_before_them() -> None:
    starts = word_starts(ITEMS[0], SPACE)
    assert len(starts) == 10
    assert starts[0] == 1
    assert starts[-1] == len(ITEMS[0].ids) + 1
    assert all(ITEMS[0].ids[row - 1] == SPACE for row in starts[1:-1])


def test_a_cut_shows_so_many_words_and_tokens_behind() -> None:
    cutter = PrefixCutter(Cutting(), space=SPACE, futures={})
    starts = word_starts(ITEMS[0], SPACE)
    cut = cutter.at(ITEMS[0], 3, 2, source=TRUE, window=5)
    assert (cut.begin, cut.first, cut.end, cut.seen) == (
        starts[3] - 5,
        starts[3],
        starts[4],
        starts[6],
    )
    ids = seen_ids(ITEMS[0], cut, pad=PAD, futures=4)
    assert ids[-4:].tolist() == [SYMBOLS, SYMBOLS + 1, SYMBOLS + 2, SYMBOLS + 3]
    assert ids[:-4].tolist() == ITEMS[0].ids[starts[3] - 6 : starts[6] - 1].tolist()
    # What follows what is seen, five words at most, is what the context network gets.
    assert cut.future.tolist() == ITEMS[0].ids[starts[6] - 1 :].tolist()


def test_where_the_end_is_seen_nothing_is_expected() -> None:
    cutter = PrefixCutter(Cutting(), space=SPACE, futures={})
    cut = cutter.at(ITEMS[0], 7, 1, source=TRUE)
    assert cut.seen == len(ITEMS[0].ids) + 2
    assert cut.source == NOTHING
    assert seen_ids(ITEMS[0], cut, pad=PAD, futures=4)[-1] == PAD
    # The last word is spoken with the silence behind it.
    assert cutter.at(ITEMS[0], 8, 0).end == cut.seen


def test_a_language_models_words_stand_behind_those_it_read() -> None:
    futures = [["brown", "dog."], None, ["cat", "sat"], None, None, None, None, None, None]
    made = continuations([(ITEMS[0].name, TEXTS[0])], {ITEMS[0].name: futures}, load_reader(True))
    assert sorted(made[ITEMS[0].name]) == [1, 3]
    assert made[ITEMS[0].name][1][-1] == PHONEMES["."]
    cut = PrefixCutter(Cutting(), space=SPACE, futures=made).at(ITEMS[0], 1, 1, source=MODEL)
    assert cut.future.tolist() == made[ITEMS[0].name][3].tolist()
    assert not continuations([("other.2", TEXTS[0])], {ITEMS[0].name: futures}, load_reader(True))


def test_every_cut_that_is_drawn_fits_its_sentence() -> None:
    random = np.random.default_rng(0)
    cutter = PrefixCutter(Cutting(cuts=50), space=SPACE, futures={})
    drawn = [cut for _ in range(5) for own in cutter.draw(ITEMS[:1], random) for cut in own]
    assert {cut.source for cut in drawn} == {NOTHING, TRUE}
    for cut in drawn:
        assert cut.begin <= max(cut.first, 1) < cut.end <= cut.seen <= len(ITEMS[0].ids) + 2


def test_the_whole_sentence_is_what_the_teacher_says(task: HeartPrefixes) -> None:
    model = task.model().eval()
    batch = task.batch(ITEMS, [[whole(one)] for one in ITEMS])
    with torch.no_grad():
        inputs, target = task.targets(batch)
        errors = task.errors(model(inputs), inputs, target)
    assert errors["durations"] < 1e-5
    assert errors["sound"] < 1e-5
    # The teacher pauses before a sentence, the student does not: pitch differs a little at the
    # start.
    assert errors["pitch"] < 0.1


def test_a_cut_without_a_future_is_something_to_learn(task: HeartPrefixes) -> None:
    torch.manual_seed(0)
    model = task.model()
    cuts = [[task.cutter.at(one, word, 0, source=TRUE) for word in range(4)] for one in ITEMS]
    batch = task.batch(ITEMS, cuts)
    steps = lessons(task, model, [batch] * 6, 3e-4)
    assert steps[-1]["loss"] < 0.8 * steps[0]["loss"]
    assert set(steps[0]) == {"durations", "pitch", "energy", "sound", "loss"}
    for name in (
        "sound.future",
        "text.context.weight",
        "expect.out.weight",
        "prosody.pro_out.weight",
    ):
        gradient = model.get_parameter(name).grad
        assert gradient is not None
        assert float(gradient.abs().sum()) > 0, name


def test_units_that_count_are_those_spoken_now(task: HeartPrefixes) -> None:
    cut = task.cutter.at(ITEMS[0], 4, 1)
    inputs, target = task.targets(task.batch(ITEMS[:1], [[cut]]))
    with torch.no_grad():
        out = task.model().eval()(inputs)
    units = inputs["units"][0]
    spoken = int(units[cut.first - cut.begin : cut.end - cut.begin].sum())
    assert int((out["weight"][0] == 1).sum()) == spoken + 4
    first = int(units[: cut.first - cut.begin].sum())
    assert int(out["at"][0][out["weight"][0] == 1][0]) == first - 4
    assert int(target["offset"][0]) == int(
        task.targets(task.batch(ITEMS[:1], [[whole(ITEMS[0])]]))[0]["units"][0, : cut.begin].sum()
    )


def test_graphs_of_a_trained_voice_are_the_model(task: HeartPrefixes, tmp_path: Path) -> None:
    torch.manual_seed(1)
    model = task.model().eval()
    with torch.no_grad():
        for encoder in (model.sound, model.text):
            encoder.future.normal_()
            encoder.context.weight.normal_(std=0.1)
        # Weights that int8 holds, so that nothing but the graphs can differ.
        for name, _ in linear_names():
            weight = model.get_parameter(f"{name}.weight")
            rounded, scale = quantized(weight.T.numpy())
            weight.copy_(torch.from_numpy((rounded.astype(np.float32) * scale).T.copy()))
    own = TrainedWeights(model)
    importer.text_graph(own, expects=True).save(str(tmp_path / "text.onnx"))
    importer.expect_graph(own).save(str(tmp_path / "expect.onnx"))
    future = np.array([SPACE, 50, 83, 54], np.int64)
    ids = np.concatenate([[PAD], ITEMS[0].ids[:20], SYMBOLS + np.arange(4)]).astype(np.int64)
    context = OnnxGraph(tmp_path / "expect.onnx")(ids=future)["context"]
    plain = {"speed": np.ones(1, np.float32), "context": context}
    text = OnnxGraph(tmp_path / "text.onnx")(ids=ids, **plain, **nothing_before())
    with torch.inference_mode():
        expected = model.expect(torch.from_numpy(future)[None], torch.tensor([4]))
        known = torch.ones(1, len(ids), dtype=torch.bool)
        sound, prosody, logs = model.encode(torch.from_numpy(ids)[None], known, expected)
    assert np.abs(context - expected[0].numpy()).max() < 1e-5
    assert np.abs(text["sound_encoding"] - sound[0].numpy()).max() < 1e-4
    assert np.abs(text["prosody_encoding"] - prosody[0].numpy()).max() < 1e-4
    assert np.abs(text["durations"] - torch.expm1(logs)[0].numpy()).max() < 1e-4


def test_a_corpus_without_punctuation_is_refused() -> None:
    corpus: Any = SimpleNamespace(
        info=SimpleNamespace(phonemes=PHONEMES, punctuation="final", pad=PAD)
    )
    with pytest.raises(ConfigError, match="--punctuation all"):
        HeartPrefixes({}, {}, corpus)
