"""Makes simuleval_oracle.json: random chunk times, and what SimulEval 1.1.4's own scorers say of
them.

SimulEval is CC BY-SA and nothing here depends on it: run this in an environment of its own.

    pip install simuleval==1.1.4 && python lab/tests/eval/measures/make_simuleval_oracle.py
"""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

PLACE = Path(__file__).with_name("simuleval_oracle.json")
METRICS = ("AL", "LAAL", "AP", "DAL", "ATD", "StartOffset", "EndOffset", "RTF")
STALLS = ("DiscontinuityNum", "DiscontinuitySum", "DiscontinuityAve")
# Computation-aware: the same scorers on elapsed times. ATD's own is another metric than ours.
AWARE = ("AL", "LAAL", "AP", "DAL", "StartOffset")
NOTE = (
    "Random chunk times and what the scorers of SimulEval 1.1.4 say of them, made by"
    " make_simuleval_oracle.py. Milliseconds; words is the reference's length; _CA is"
    " computation-aware."
)


def case(draw: np.random.Generator) -> dict[str, Any]:
    """One utterance's log: delays that never fall, some of them equal; whole milliseconds of
    sound."""
    chunks = int(draw.integers(1, 13))
    gaps = draw.exponential(400, chunks) * (draw.random(chunks) < 0.7)
    delays = np.round(np.cumsum(gaps) + draw.choice([0, 350]), 3)
    computing = np.cumsum(np.round(draw.exponential(30, chunks), 3))
    durations = draw.choice([draw.integers(1, 1500, chunks), draw.integers(1, 4, chunks) * 300])
    # The source ends after, before or with the last delay, or even before the first one.
    source = draw.choice(
        [delays[-1] + 200, delays[-1], max(1, delays[-1] * 0.7), max(1, delays[0] * 0.8)]
    )
    return {
        "delays": delays.tolist(),
        "elapsed": np.round(delays + computing, 3).tolist(),
        "durations": durations.tolist(),
        "source_length": round(max(1.0, float(source)), 3),
        "words": int(draw.integers(1, 15)),
    }


def scored(made: dict[str, Any], folder: str) -> dict[str, float]:
    """What SimulEval says of one log, as an instance with speech on both sides."""
    instance = import_module("simuleval.evaluator.instance")
    scorers = import_module("simuleval.evaluator.scorers.latency_scorer").LATENCY_SCORERS_DICT

    class Logged(instance.SpeechOutputInstance):  # type: ignore[misc, name-defined]
        source_length = made["source_length"]

    logged = Logged(0, None, Namespace(output=folder, eval_latency_unit="word"))
    logged.dataloader = Namespace(get_source_audio_path=lambda index: "")
    logged.delays = made["delays"]
    logged.elapsed = made["elapsed"]
    logged.durations = made["durations"]
    logged.reference = " ".join(["word"] * made["words"])
    logged.prediction_list = [[0.0]] * len(made["delays"])
    logged.target_sample_rate = 1000
    logged.summarize()
    out = {name: scorers[name]()({0: logged}) for name in METRICS + STALLS}
    return out | {
        f"{name}_CA": scorers[name](computation_aware=True)({0: logged}) for name in AWARE
    }


def main() -> None:
    draw = np.random.default_rng(1)
    cases = [case(draw) for _ in range(60)]
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(made | {"simuleval": scored(made, folder)}) for made in cases]
    PLACE.write_text(
        '{"note": ' + json.dumps(NOTE) + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
