"""Give the decoders of the kind saeki that were written before it the input ``kept``, and copies
that drop half of it.

    python lab/benchmarks/saeki/dropout.py FOLDER

For each voice of the experiment (dropout.toml) that is installed, FOLDER/NAME-dropout is written:
the same weights, with a factor after each layer of the prenet.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sayahead import installed_voices

NAMES = ("saeki-lj", "saeki-free-unicontext", "saeki-free-independent", "saeki-free-bicontext")
SHARE = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    voices = installed_voices()
    for name in NAMES:
        with_dropout(voices[name], folder / f"{name}-dropout")


def with_dropout(voice: Path, out: Path) -> None:
    """Write a voice's copy whose prenet drops SHARE of its units while it speaks."""
    shutil.copytree(voice, out, dirs_exist_ok=True)
    config = json.loads((out / "voice.json").read_text(encoding="utf-8"))
    config["name"], acoustic = out.name, config["model"]["acoustic"]
    if not acoustic.get("prenet"):
        decoder = onnx.load(out / "decoder.onnx")
        acoustic["prenet"] = sum(masked(decoder))
        onnx.checker.check_model(decoder)
        onnx.save(decoder, out / "decoder.onnx")
        config["files"]["decoder.onnx"] = hashlib.sha256(
            (out / "decoder.onnx").read_bytes()
        ).hexdigest()
    acoustic["prenet_dropout"] = SHARE
    (out / "voice.json").write_text(
        json.dumps(config, ensure_ascii=False, indent=1), encoding="utf-8"
    )


def masked(decoder: onnx.ModelProto) -> list[int]:
    """Multiply what each layer of the prenet gives by its part of a new input ``kept``; returned:
    their widths."""
    graph = decoder.graph
    shapes = onnx.shape_inference.infer_shapes(decoder).graph.value_info
    wide = {value.name: value.type.tensor_type.shape.dim[-1].dim_value for value in shapes}
    # Nothing else in it is rectified.
    layers = [node for node in graph.node if node.op_type == "Relu"]
    widths = [wide[layer.output[0]] for layer in layers]
    graph.input.append(helper.make_tensor_value_info("kept", TensorProto.FLOAT, [1, sum(widths)]))
    graph.initializer.append(numpy_helper.from_array(np.array(widths, np.int64), "kept widths"))
    factors = [f"kept {number}" for number in range(len(widths))]
    nodes = [helper.make_node("Split", ["kept", "kept widths"], factors, axis=1)]
    for node in graph.node:
        nodes.append(node)
        if node.op_type == "Relu":
            name = node.output[0]
            node.output[0] = f"{name} before dropout"
            nodes.append(helper.make_node("Mul", [node.output[0], factors.pop(0)], [name]))
    del graph.node[:]
    graph.node.extend(nodes)
    return widths


if __name__ == "__main__":
    main()
