"""The default voice's graphs are hibari's graph: the import is repeatable, and exact in float
arithmetic."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import hibari
import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from sayahead import installed_voices, load_voice
from sayahead.cli import main
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.systems.heart import HeartAcoustic

from sayahead_lab.training.heart.export import export, text_graph
from sayahead_lab.training.heart.quantization import MARK, load_ranges
from sayahead_lab.training.hibari import heart_weights

SETTINGS = Path(__file__).parents[2] / "recipes" / "heart" / "voice.toml"
ASSETS = Path(hibari.__file__).parent / "assets"
SENTENCE = (
    "Between the hours of eight and nine they were occupied with the children in the bedrooms."
)
Array = NDArray[Any]


def float_reference() -> Any:
    """hibari's own graph with float products for its integer ones, and with durations and energy as
    outputs."""
    model = onnx.load(str(ASSETS / "hibari.onnx"))
    known = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    nodes = []
    weights = {}
    for node in model.graph.node:
        if node.op_type == "MatMulInteger":
            x = node.input[0].replace("_quantized", "")
            name = node.input[1]
            value = known[name].astype(np.float32) * known[name.replace("_quantized", "_scale")]
            weights[f"{name}_f"] = numpy_helper.from_array(value.astype(np.float32), f"{name}_f")
            nodes.append(
                helper.make_node(
                    "MatMul", [x, f"{name}_f"], [node.output[0].replace("_output_quantized", "")]
                )
            )
        elif not (
            node.op_type == "DynamicQuantizeLinear"
            or any(
                mark in text
                for text in [*node.input, *node.output]
                for mark in ("_quant_scales_mul", "_cast_output")
            )
        ):
            nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(weights.values())
    for name in ("/Div_40_output_0", "/Mul_62_output_0"):
        model.graph.output.append(helper.make_tensor_value_info(name, 1, None))
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


@pytest.fixture(scope="module")
def reference() -> dict[str, Array]:
    """The reference's outputs for one sentence, and the sentence's ids."""
    tts = hibari.Hibari()
    ids = np.array([tts.ids(tts.g2p(SENTENCE))], np.int64)
    session = float_reference()
    names = [output.name for output in session.get_outputs()]
    made = dict(
        zip(names, session.run(names, {"ids": ids, "speed": np.ones(1, np.float32)}), strict=True)
    )
    return {"ids": ids[0], **made}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the import writes."""
    folder = tmp_path_factory.mktemp("imported")
    assert main(["train", "voice", "--heart", str(SETTINGS), "-o", str(folder)]) == 0
    return folder


def test_the_import_is_a_voice_and_the_shipped_one_has_its_sound(imported: Path) -> None:
    digests = json.loads((imported / "voice.json").read_text(encoding="utf-8"))["files"]
    assert sorted(digests) == ["decoder.onnx", "prosody.onnx", "text.onnx"]
    shipped = installed_voices()["heart"]
    for name, digest in digests.items():
        assert hashlib.sha256((imported / name).read_bytes()).hexdigest() == digest
    # What makes sound of encoding, pitch and energy is as it was imported, to the byte.
    assert (
        digests["decoder.onnx"]
        == hashlib.sha256((shipped / "decoder.onnx").read_bytes()).hexdigest()
    )
    table, ours = (
        json.loads((folder / "voice.json").read_text(encoding="utf-8"))
        for folder in (imported, shipped)
    )
    same = [key for key in ours if key not in ("format", "files", "model", "distilled", "learned")]
    assert {key: table[key] for key in same} == {key: ours[key] for key in same}
    assert table["model"].items() <= ours["model"].items()
    assert {
        (imported / name).read_bytes() == (shipped / name).read_bytes()
        for name in ("LICENSE", "NOTICE")
    } == {True}
    assert len(load_voice(imported).synthesize("It speaks.")) > 12000


def test_the_shipped_voice_is_written_anew_to_the_byte(tmp_path: Path) -> None:
    shipped = installed_voices()["heart"]
    options = ["--acoustic", "heart", "--student", "heart", "--policy", str(shipped / "policy.npz")]
    assert main(["train", "voice", "--heart", str(SETTINGS), *options, "-o", str(tmp_path)]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name for path in shipped.iterdir())
    assert [
        name for name in names if (tmp_path / name).read_bytes() != (shipped / name).read_bytes()
    ] == []


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the graphs as they are without ranges: in float32."""
    folder = tmp_path_factory.mktemp("exact")
    export(None, folder)
    return folder


def encoded(reference: dict[str, Array], exact: Path) -> dict[str, Array]:
    """What the text graph says of the sentence, all at once."""
    sizes = {**HeartAcoustic.MEMORY, "recent": HeartAcoustic.RECENT}
    past = {name: np.zeros(size, np.float32) for name, size in sizes.items()}
    return OnnxGraph(exact / "text.onnx")(
        ids=reference["ids"], speed=np.ones(1, np.float32), **past
    )


def test_text_graph(reference: dict[str, Array], exact: Path) -> None:
    made = encoded(reference, exact)
    assert made["durations"].shape == reference["ids"].shape
    assert np.abs(made["durations"] - reference["/Div_40_output_0"]).max() < 1e-3


def test_observed_layers_one_by_one_are_the_layers_in_a_loop(tmp_path: Path) -> None:
    """To the bit, with and without a past; every layer that has a range is observed, in each of its
    turns."""
    ranges = load_ranges(SETTINGS.with_name("ranges.json"))
    draw = np.random.default_rng(3)
    graphs = {}
    for observed in (False, True):
        text_graph(heart_weights(), ranges=ranges, observed=observed).save(
            str(tmp_path / f"{observed}.onnx")
        )
        graphs[observed] = OnnxGraph(tmp_path / f"{observed}.onnx")
    for memory in (0, 9):
        sizes: dict[str, tuple[int, ...]] = {"recent": HeartAcoustic.RECENT}
        for name, (*outer, _, width) in HeartAcoustic.MEMORY.items():
            sizes[name] = (*outer, memory, width)
        past = {name: draw.normal(size=size).astype(np.float32) for name, size in sizes.items()}
        past["speed"] = np.ones(1, np.float32)
        ids = draw.integers(20, 120, 11)
        looped, single = (graphs[observed](ids=ids, **past) for observed in (False, True))
        assert all(np.array_equal(looped[name], single[name]) for name in looped)
        assert {name for name in single if name.startswith(MARK)} == {
            MARK + name for name in ranges if ".text." in name
        }


@pytest.mark.parametrize("steps", [[10_000], [7] * 60, [3, 50, 1, 30, 10_000]])
def test_frame_graphs_whole_and_in_steps(
    reference: dict[str, Array], exact: Path, steps: list[int]
) -> None:
    """With their full right context, steps of any size make the frames of the whole."""
    text = encoded(reference, exact)
    units = np.maximum(np.rint(text["durations"]), 1).astype(np.int64)
    rows = np.repeat(np.arange(len(units)), units)
    prosody = OnnxGraph(exact / "prosody.onnx")
    decoder = OnnxGraph(exact / "decoder.onnx")
    f0 = list[Array]()
    energy = list[Array]()
    cache = np.zeros((54, 192), np.float32)
    at = 0
    for size in steps:
        new = min(size, len(rows) - at)
        if not new:
            break
        seen = text["prosody_encoding"][rows[at : at + new + 54]]
        out = prosody(prosody_encoding=seen, rows=count(new), commit=count(new), cache=cache)
        f0 = [*f0, out["f0"][: 2 * new]]
        energy = [*energy, out["energy"][: 2 * new]]
        cache = out["next_cache"]
        at = at + new
    pitch = np.concatenate(f0)
    loud = np.concatenate(energy)
    assert len(pitch) == 2 * len(rows)
    assert np.abs(pitch - reference["f0"][0]).max() < 0.01
    assert np.abs(loud - reference["/Mul_62_output_0"][0]).max() < 1e-3

    rows = np.repeat(rows, 2)
    spectra = list[Array]()
    at = 0
    caches = {
        "input_cache": np.zeros((3, 130), np.float32),
        "cache": np.zeros((24, 256), np.float32),
    }
    for size in steps:
        new = min(2 * size, len(rows) - at)
        if not new:
            break
        part = slice(at, at + new + 27)
        out = decoder(
            sound_encoding=text["sound_encoding"][rows[part]],
            f0=pitch[part],
            energy=loud[part],
            rows=count(new),
            commit=count(new),
            **caches,
        )
        caches = {"input_cache": out["next_input_cache"], "cache": out["next_cache"]}
        spectra = [*spectra, out["spectrum"]]
        at = at + new
    spectrum = np.concatenate(spectra)
    assert spectrum.shape == (len(rows), 5 * 601)
    for number, name in enumerate(("lh", "theta", "ln", "lr", "phi")):
        difference = np.abs(spectrum[:, 601 * number : 601 * (number + 1)].T - reference[name][0])
        assert difference.max() < 2e-3, name
