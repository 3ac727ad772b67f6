"""Sentences unfolded into the steps of a stream: they are what the voice's graphs do step by
step."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from lab_support.sentences import ITEMS, PAD, PHONEMES, SPACE
from lab_support.tiny_training import lessons
from onnx import helper, numpy_helper
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.errors import ConfigError
from sayahead.systems.heart import HeartAcoustic, remembered
from sayahead.voices import read_config
from sayahead.voices.locations import packaged_voices

from sayahead_lab.training.graph.builder import GraphBuilder, Range, quantized
from sayahead_lab.training.heart import export as importer
from sayahead_lab.training.heart.from_voice import _unscaled, load_shipped, renewed
from sayahead_lab.training.heart.memory import HeartMemory
from sayahead_lab.training.heart.network import SYMBOLS, Heart
from sayahead_lab.training.heart.prefixes import word_starts
from sayahead_lab.training.heart.quantization import Observer, load_ranges, save_ranges
from sayahead_lab.training.heart.streams import Streaming
from sayahead_lab.training.heart.weights import TrainedWeights, linear_names
from sayahead_lab.training.hibari import heart_weights

RECIPES = Path(__file__).parents[2] / "recipes" / "heart"


@pytest.fixture(scope="module")
def task() -> HeartMemory:
    info = SimpleNamespace(phonemes=PHONEMES, punctuation="all", pad=PAD)
    corpus: Any = SimpleNamespace(info=info)
    return HeartMemory({}, {"nothing_share": 1.0}, corpus)


@pytest.fixture(scope="module")
def model(task: HeartMemory) -> Heart:
    """The imported voice with future tokens, in weights that int8 holds."""
    torch.manual_seed(1)
    model = task.model().eval()
    with torch.no_grad():
        for encoder in (model.sound, model.text):
            encoder.future.normal_()
        for name, _ in linear_names():
            weight = model.get_parameter(f"{name}.weight")
            rounded, scale = quantized(weight.T.numpy())
            weight.copy_(torch.from_numpy((rounded.astype(np.float32) * scale).T.copy()))
    return model


@pytest.mark.parametrize(
    ("ahead", "held", "window"), [(0, 0, 80), (1, 2, 80), (2, 1, 6), (0, 3, 6)]
)
def test_a_stream_in_one_pass_is_the_graph_step_by_step(
    task: HeartMemory, model: Heart, tmp_path: Path, ahead: int, held: int, window: int
) -> None:
    stream = task.streamer.at(
        ITEMS[0], [1, 2, 1, 1, 1, 1, 1, 1], ahead=ahead, held=held, window=window
    )
    batch = task.unfolded(ITEMS[:1], [stream], np.random.default_rng(0))
    with torch.no_grad():
        out = model(
            {**batch, "taught_units": task.teach(batch["whole"], batch["lengths"])["units"]}
        )
    importer.text_graph(TrainedWeights(model), expects=True).save(str(tmp_path / "text.onnx"))
    graph = OnnxGraph(tmp_path / "text.onnx")
    memory = {name: np.zeros(shape, np.float32) for name, shape in HeartAcoustic.MEMORY.items()}
    recent = np.zeros(HeartAcoustic.RECENT, np.float32)
    plain = {"speed": np.ones(1, np.float32), "context": np.zeros(64, np.float32)}
    for number, step in enumerate(stream.steps):
        rows = np.flatnonzero(stream.number == number)
        made = graph(ids=stream.ids[rows], recent=recent, **memory, **plain)
        assert np.abs(made["sound_encoding"] - out["sound"][0, rows].numpy()).max() < 1e-4
        assert (
            np.abs(made["durations"] - torch.expm1(out["log_units"])[0, rows].numpy()).max() < 1e-3
        )
        last = number + 1 == len(stream.steps)
        final = len(rows) if last else stream.steps[number + 1].first - step.first
        memory = {
            name: remembered(past, made[f"next_{name}"][..., :final, :], window)
            for name, past in memory.items()
        }
        recent = np.concatenate([recent, made["next_recent"][:final]])[-2:]


def test_one_step_is_the_whole_sentence(task: HeartMemory, model: Heart) -> None:
    streams = [
        task.streamer.at(item, [len(item.words)], ahead=0, held=0, window=1) for item in ITEMS
    ]
    batch = task.unfolded(ITEMS, streams, np.random.default_rng(0))
    with torch.no_grad():
        out = model(
            {**batch, "taught_units": task.teach(batch["whole"], batch["lengths"])["units"]}
        )
        known = torch.arange(batch["whole"].shape[1])[None] < batch["lengths"][:, None]
        sound, _, logs = model.encode(batch["whole"], known, torch.zeros(2, 64))
    assert float((out["sound"] - sound)[batch["known"]].abs().max()) < 1e-4
    assert float((out["log_units"] - logs)[batch["known"]].abs().max()) < 1e-4


def test_what_a_step_says_is_compared_with_the_same_place_of_the_whole(task: HeartMemory) -> None:
    """Where all is seen, the imported voice has nothing to learn, however long it thinks that the
    first pad is."""
    network = task.model().eval()
    with torch.no_grad():
        for counts in ([9, 9], [1] * 9):
            streams = [
                task.streamer.at(item, counts, ahead=9, held=90, window=80) for item in ITEMS
            ]
            batch = task.unfolded(ITEMS, streams, np.random.default_rng(0))
            _, parts = task.loss(network, batch, 0)
            # The teacher pauses before a sentence, the student does not: pitch differs a little at
            # the start.
            assert parts["pitch"] < 0.1
            assert parts["sound"] < 1e-4


def test_steps_show_words_and_keep_what_is_final(task: HeartMemory) -> None:
    starts = word_starts(ITEMS[0], SPACE)
    stream = task.streamer.at(ITEMS[0], [1] * 9, ahead=1, held=2, window=80)
    assert [step.end for step in stream.steps] == [*starts[1:-1], starts[-1] + 1]
    assert [step.seen for step in stream.steps[:3]] == [starts[2], starts[3], starts[4]]
    assert [step.first for step in stream.steps[:3]] == [0, starts[1] - 2, starts[2] - 2]
    # Every row is kept as the step had it that made it final, and tokens stand behind what is seen.
    assert (stream.ids[stream.kept] == np.concatenate([[PAD], ITEMS[0].ids, [PAD]])).all()
    tokens = stream.ids[stream.number == 0][-4:]
    assert tokens.tolist() == [SYMBOLS, SYMBOLS + 1, SYMBOLS + 2, SYMBOLS + 3]


def test_a_stream_is_something_to_learn(task: HeartMemory) -> None:
    torch.manual_seed(0)
    network = task.model()
    streams = [task.streamer.at(item, [1] * 9, ahead=0, held=1, window=24) for item in ITEMS]
    batch = task.unfolded(ITEMS, streams, np.random.default_rng(0))
    steps = lessons(task, network, [batch] * 6, 3e-4)
    assert steps[-1]["loss"] < 0.8 * steps[0]["loss"]
    assert set(steps[0]) == {"durations", "pitch", "energy", "sound", "loss"}


def test_streams_are_drawn_by_the_recipe() -> None:
    with pytest.raises(ConfigError, match="shares"):
        Streaming(lookahead=())
    with pytest.raises(ConfigError, match="at least 1"):
        Streaming(windows=(0,))


def test_integer_products_are_near_and_the_same_for_any_rows(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    weight = draw.normal(size=(96, 40)).astype(np.float32)
    bias = draw.normal(size=40).astype(np.float32)
    x = draw.normal(size=(50, 96)).astype(np.float32)
    graph = GraphBuilder({"layer": Range(float(x.min()), float(x.max()))})
    given = graph.input("x", np.float32, ["T", 96])
    graph.output(graph.linear(given, *quantized(weight), bias, "layer"), "y", np.float32, ["T", 40])
    graph.save(str(tmp_path / "layer.onnx"))
    layer = OnnxGraph(tmp_path / "layer.onnx")
    whole = layer(x=x)["y"]
    wrong = whole - (x @ weight + bias)
    assert 0 < np.abs(wrong).mean() < 0.02 * np.abs(whole).mean()
    assert np.array_equal(layer(x=x[7:12])["y"], whole[7:12])
    # What lies above the range still has its level.
    x = np.where(x > 0, 1.5 * x, x)
    assert np.abs(layer(x=x)["y"] - (x @ weight + bias)).mean() < 0.2


def test_a_convolution_in_integers_is_near_and_the_same_for_any_rows(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    weight = draw.normal(size=(24, 16, 7)).astype(np.float32)
    bias = draw.normal(size=24).astype(np.float32)
    x = draw.normal(size=(40, 16)).astype(np.float32)
    graph = GraphBuilder({"layer": Range(float(x.min()), float(x.max()))})
    given = graph.input("x", np.float32, ["T", 16])
    graph.output(graph.window(given, weight, bias, "layer"), "y", np.float32, ["R", 24])
    graph.save(str(tmp_path / "layer.onnx"))
    layer = OnnxGraph(tmp_path / "layer.onnx")
    whole = layer(x=x)["y"]
    rows, kernel, shift = (torch.from_numpy(one) for one in (x.T[None].copy(), weight, bias))
    true = torch.conv1d(rows, kernel, shift)[0].T.numpy()
    assert 0 < np.abs(whole - true).mean() < 0.02 * np.abs(true).mean()
    assert np.array_equal(layer(x=x[5:20])["y"], whole[5:14])


def test_a_column_far_larger_than_the_others_does_not_take_their_levels(tmp_path: Path) -> None:
    """The default voice's encoding has one: nearly constant, twenty times as large."""
    draw = np.random.default_rng(0)
    observer = Observer()
    encoding = 0.05 * draw.normal(size=(200, 128)).astype(np.float32)
    encoding[:, 38] += 3.4
    observer.add_columns("m.dec_in", encoding)
    ranges = observer.ranges()
    assert ranges.keys() == {"m.dec_in", "m.dec_in#38"}
    assert ranges["m.dec_in"].high < 0.3
    assert ranges["m.dec_in#38"].high > 3
    rows = np.concatenate([encoding[:30], draw.normal(size=(30, 2)).astype(np.float32)], axis=1)
    made = {}
    for name, known in (("float", {}), ("integers", ranges)):
        graph = GraphBuilder(known)
        given = graph.input("x", np.float32, ["T", 130]), graph.input("cache", np.float32, [3, 130])
        out, kept = importer.decoder_input(
            graph, heart_weights(), *given, graph.input("commit", np.int64, [1])
        )
        graph.output(graph.flat(out), "out", np.float32, ["T", 256])
        graph.output(kept, "kept", np.float32, [3, 130])
        graph.save(str(tmp_path / f"{name}.onnx"))
        made[name] = OnnxGraph(tmp_path / f"{name}.onnx")(x=rows, cache=rows[:3], commit=count(20))
    assert np.array_equal(made["float"]["kept"], made["integers"]["kept"])
    inner = slice(4, -4)
    heard = made["float"]["out"][inner]
    wrong = (made["integers"]["out"] - made["float"]["out"])[inner]
    # Against what tells one row from the next; with one range for all columns, it is nine times as
    # much.
    assert 0 < np.abs(wrong).mean() < 0.01 * np.abs(heard - heard.mean(0)).mean()


def test_ranges_are_what_was_seen_and_stay_in_their_file(tmp_path: Path) -> None:
    observer = Observer()
    observer.add("one", np.linspace(-1, 3, 1000, dtype=np.float32))
    observer.add("two", np.full((3, 4), 2, np.float32))
    ranges = observer.ranges()
    assert ranges["one"] == pytest.approx((-1, 3), abs=0.01)
    assert ranges["two"].low == 0
    save_ranges(ranges, tmp_path / "ranges.json")
    assert load_ranges(tmp_path / "ranges.json") == ranges
    (tmp_path / "ranges.json").write_text("[1]")
    with pytest.raises(ConfigError, match="ranges of linear layers"):
        load_ranges(tmp_path / "ranges.json")


def test_a_shipped_voice_is_read_back_and_written_again(task: HeartMemory, tmp_path: Path) -> None:
    ranges = load_ranges(RECIPES / "ranges.json")
    model = Heart(task.config)
    load_shipped(model, packaged_voices()["heart"], heart_weights(), ranges)
    weights = TrainedWeights(model)
    importer.text_graph(weights, expects=True, ranges=ranges).save(str(tmp_path / "text.onnx"))
    importer.prosody_graph(weights, ranges=ranges).save(str(tmp_path / "prosody.onnx"))
    importer.expect_graph(weights).save(str(tmp_path / "expect.onnx"))
    again = Heart(task.config)
    load_shipped(again, tmp_path, heart_weights(), ranges)
    for (name, first), second in zip(
        model.state_dict().items(), again.state_dict().values(), strict=True
    ):
        assert torch.allclose(first, second, rtol=1e-4, atol=1e-6), name
    shipped = OnnxGraph(packaged_voices()["heart"] / "expect.onnx")
    random = np.random.default_rng(0)
    ids = random.integers(1, SYMBOLS, 30)
    length = torch.tensor([len(ids)])
    with torch.no_grad():
        found = model.expect(torch.from_numpy(ids)[None], length)[0].numpy()
    np.testing.assert_allclose(found, shipped(ids=ids)["context"], atol=1e-4)


def test_graphs_are_renewed_with_the_same_weights(tmp_path: Path) -> None:
    """To the byte, where they are written as they are today."""
    shipped = packaged_voices()["heart"]
    ranges = load_ranges(RECIPES / "ranges.json")
    files, table = renewed(shipped, tmp_path, ranges)
    assert {path.name: path.read_bytes() for path in files} == {
        path.name: (shipped / path.name).read_bytes() for path in files
    }
    model = read_config(shipped).model
    assert table == {name: model[name] for name in ("futures", "context")}
    assert len(files) == 4
    with pytest.raises(ConfigError, match="other weights"):
        renewed(shipped, tmp_path)


def test_a_decoder_of_ones_own_is_not_replaced_by_the_imported_one(tmp_path: Path) -> None:
    voice = shutil.copytree(packaged_voices()["heart"], tmp_path / "own")
    model = onnx.load(str(voice / "decoder.onnx"))
    largest = max(model.graph.initializer, key=lambda one: len(one.raw_data))
    largest.CopyFrom(
        numpy_helper.from_array(numpy_helper.to_array(largest)[:, ::-1].copy(), largest.name)
    )
    onnx.save(model, str(voice / "decoder.onnx"))
    with pytest.raises(ConfigError, match="decoder of its own"):
        renewed(voice, tmp_path, load_ranges(RECIPES / "ranges.json"))


def test_queries_that_were_scaled_in_their_projection_are_so_no_longer() -> None:
    """As the graphs of earlier versions have them: attention takes the scale into its product
    today."""
    width = 128
    scale = np.linspace(1, 2, 3 * width, dtype=np.float32)
    bias = np.linspace(-1, 1, 3 * width, dtype=np.float32)
    scaled = np.repeat(np.array([(width // 2) ** -0.5, 1, 1], np.float32), width)
    body = helper.make_graph(
        [
            helper.make_node(
                "MatMulIntegerToFloat", ["x", "w", "s", "scale", "z", "c", "bias"], ["projected"]
            ),
            helper.make_node("Split", ["projected"], ["q", "k", "v"], axis=2),
        ],
        "turn",
        [],
        [],
    )
    kept = [
        numpy_helper.from_array(values * scaled, name)
        for name, values in (("scale", scale), ("bias", bias))
    ]
    graph = helper.make_graph(
        [helper.make_node("Scan", ["x"], ["y"], body=body)], "text", [], [], kept
    )
    _unscaled(graph)
    for one, values in zip(graph.initializer, (scale, bias), strict=True):
        np.testing.assert_allclose(numpy_helper.to_array(one), values, rtol=1e-6)


def test_graphs_of_other_ranges_or_another_kind_cannot_be_read_back(
    task: HeartMemory, tmp_path: Path
) -> None:
    model = Heart(task.config)
    heart = packaged_voices()["heart"]
    with pytest.raises(ConfigError, match="these ranges"):
        load_shipped(model, heart, heart_weights())
    with pytest.raises(ConfigError, match="cannot be read as a graph"):
        load_shipped(model, tmp_path, heart_weights())


def test_a_training_begins_with_a_voice_and_keeps_its_context_network(task: HeartMemory) -> None:
    folder = packaged_voices()["heart"]
    begun = HeartMemory(
        {}, {"fixed_context": True, "ranges": str(RECIPES / "ranges.json")}, task.corpus
    )
    model = begun.model()
    begun.read_voice(model, folder, read_config(folder))
    assert not any(weight.requires_grad for weight in model.expect.parameters())
    assert not torch.equal(model.text.emb.weight, task.teacher.text.emb.weight)


def test_a_context_network_that_stays_is_a_voices(task: HeartMemory) -> None:
    fixed = HeartMemory({}, {"fixed_context": True}, task.corpus)
    fixed.check_start(voice=True, run=False)
    with pytest.raises(ConfigError, match=r"set \[train\] start to a voice's name or folder"):
        fixed.check_start(voice=False, run=False)
    task.check_start(voice=False, run=False)
