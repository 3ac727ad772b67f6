"""How fast the parts of Mohan et al. (2020) go on one core: an agent's decision (4.4), a WaveRNN's
samples (section 3).

    taskset -c 0 python lab/benchmarks/mohan/speed.py -o lab/benchmarks/results/mohan

Weights are random: what is computed does not depend on them. Processor time, not the clock's; a
WaveRNN makes a few frames ten times, an agent decides five hundred times; medians count. Writes
speed.json and speed.md."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.vocoders.wavernn import load_wavernn

from sayahead_lab.eval.experiment.machine import LoadWatch, processor
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.mohan.agent_export import agent_graph
from sayahead_lab.training.mohan.agent_network import LOOK_BACK, AgentNetwork, AgentNetworkConfig
from sayahead_lab.training.mohan.network import ModifiedTacotronConfig
from sayahead_lab.training.wavernn.export import export
from sayahead_lab.training.wavernn.network import WaveRNN, WaveRNNConfig

RECIPES = Path(__file__).parents[2] / "recipes" / "mohan"
RATES = {"wavernn-small": 24_000, "wavernn-paper": 22_050}
"""Presets to the rate at which they are heard."""
TIMES = 10


def measured(preset: str, frames: int) -> dict[str, float]:
    """What a preset's step costs: samples a second, ratio to real time, milliseconds a frame,
    parameters."""
    config = from_mapping(
        WaveRNNConfig, load_recipe(RECIPES / f"{preset}.toml").model, where=preset
    )
    torch.manual_seed(0)
    model = WaveRNN(config).eval()
    with tempfile.TemporaryDirectory() as folder:
        _, table = export(model, Path(folder), sample_rate=RATES[preset])
        vocoder = load_wavernn(table, Path(folder), 1)
    given = np.zeros((frames + vocoder.context, config.n_mels), np.float32)
    state = vocoder.initial(0)
    spent = list[float]()
    for _ in range(TIMES + 1):
        start_s = time.process_time()
        _, state = vocoder.step(given[:frames], given[frames:], state, seed=0, ended=False)
        spent.append(time.process_time() - start_s)
    each = statistics.median(spent[1:]) / frames
    a_second = config.hop / each
    parameters = sum(weight.numel() for weight in model.parameters())
    return {
        "parameters": parameters,
        "sample_rate": RATES[preset],
        "samples_per_s": round(a_second),
        "real_time": round(a_second / RATES[preset], 3),
        "frame_ms": round(1000 * each, 2),
    }


def decision(preset: str) -> dict[str, float]:
    """Milliseconds that an agent's graph takes to decide, median and 95 %, and how large it is."""
    config = from_mapping(
        AgentNetworkConfig, load_recipe(RECIPES / f"{preset}.toml").model, where=preset
    )
    speaker = load_recipe(RECIPES / f"{preset.replace('agent', 'tts')}.toml").model
    speaking = from_mapping(ModifiedTacotronConfig, speaker, where="speaker")
    observed = speaking.encoder + LOOK_BACK + speaking.n_mels
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.onnx"
        agent_graph(AgentNetwork(config, observed).eval()).save(str(path))
        graph = OnnxGraph(path)
        size = path.stat().st_size
    hidden = np.zeros(config.recurrent, np.float32)
    draw = np.random.default_rng(0)
    spent = list[float]()
    for _ in range(550):
        seen = draw.standard_normal(observed, dtype=np.float32)
        start_s = time.process_time()
        hidden = graph(observation=seen, hidden=hidden)["next_hidden"]
        spent.append(1000 * (time.process_time() - start_s))
    low, high = np.percentile(spent[50:], (50, 95))
    return {
        "decision_ms": round(float(low), 3),
        "decision_p95_ms": round(float(high), 3),
        "graph_mb": size / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--out", type=Path, default=Path("lab/benchmarks/results/mohan"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    watch = LoadWatch(1)
    rows = {
        preset: measured(preset, frames)
        for preset, frames in (("wavernn-small", 20), ("wavernn-paper", 4))
    }
    decisions = {preset: decision(preset) for preset in ("agent-small", "agent-paper")}
    made = {
        "machine": processor(),
        "load": asdict(watch.load()),
        "wavernn": rows,
        "agent": decisions,
    }
    (out / "speed.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    lines = [
        "| WaveRNN | parameters | samples/s | heard at | x real time | ms a frame |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name.removeprefix('wavernn-')} | {row['parameters']:,} | {row['samples_per_s']:,} | "
        f"{row['sample_rate']:,} | {row['real_time']:.2f} | {row['frame_ms']:.1f} |"
        for name, row in rows.items()
    ]
    lines += ["", "| agent | ms a decision | 95 % | graph, MB |", "|---|---|---|---|"]
    lines += [
        f"| {name.removeprefix('agent-')} | {row['decision_ms']:.2f} | {row['decision_p95_ms']:.2f}"
        f" | {row['graph_mb']:.1f} |"
        for name, row in decisions.items()
    ]
    (out / "speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
