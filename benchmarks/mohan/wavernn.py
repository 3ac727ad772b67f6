"""How fast a WaveRNN (Mohan et al. 2020, section 3) goes on one core: samples a second against those that are heard.

    python benchmarks/mohan/wavernn.py -o benchmarks/results/mohan

Weights are random: what a sample costs does not depend on them. Each preset makes whole frames, ten times; the median
counts. Writes wavernn.json and wavernn.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from sayahead.config import from_mapping
from sayahead.eval.bench import processor
from sayahead.eval.machine import Watch
from sayahead.models.wavernn import WaveRNN, WaveRNNConfig
from sayahead.train.export_wavernn import runtime
from sayahead.train.recipe import load_recipe

RECIPES = Path(__file__).parents[2] / "recipes" / "mohan"
RATES = {"wavernn-small": 24_000, "wavernn-paper": 22_050}
"""Presets to the rate at which they are heard."""
TIMES = 10


def measured(preset: str, frames: int) -> dict[str, float]:
    """What a preset's step costs: samples a second, ratio to real time, milliseconds a frame, parameters."""
    config = from_mapping(WaveRNNConfig, load_recipe(RECIPES / f"{preset}.toml").model, where=preset)
    torch.manual_seed(0)
    model = WaveRNN(config).eval()
    vocoder, given = runtime(model), np.zeros((frames + 2, config.n_mels), np.float32)
    state, spent = vocoder.initial(0), list[float]()
    for _ in range(TIMES + 1):
        begun = time.process_time()
        _, state = vocoder.step(given[:frames], given[frames:], state, seed=0, ended=False)
        spent.append(time.process_time() - begun)
    each = statistics.median(spent[1:]) / frames
    a_second = config.hop / each
    parameters = sum(weight.numel() for weight in model.parameters())
    return {
        "parameters": parameters, "sample_rate": RATES[preset], "samples_per_s": round(a_second),
        "real_time": round(a_second / RATES[preset], 3), "frame_ms": round(1000 * each, 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, default=Path("benchmarks/results/mohan"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    watch = Watch(1)
    rows = {preset: measured(preset, frames) for preset, frames in (("wavernn-small", 20), ("wavernn-paper", 4))}
    made = {"machine": processor(), "load": asdict(watch.load()), "presets": rows}
    (out / "wavernn.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    lines = ["| preset | parameters | samples/s | heard at | x real time | ms a frame |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {name.removeprefix('wavernn-')} | {row['parameters']:,} | {row['samples_per_s']:,} | "
        f"{row['sample_rate']:,} | {row['real_time']:.2f} | {row['frame_ms']:.1f} |"
        for name, row in rows.items()
    ]
    (out / "wavernn.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
