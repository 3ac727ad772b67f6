"""What mel vocoders that learn by the sound (``melvocoder-sound.toml``) make of a corpus's own mel.

    python lab/benchmarks/mel_copies.py RUN... --corpus CORPUS [--count 20] [--results FILE]

The corpus's validation sentences by the float32 networks, with the pitch that these hear in the mel: DistillMOS, and
the similarity of ``likeness.py``, beside the sentences themselves.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from likeness import figure
from output import tell
from sayahead.types import Floats

from sayahead_lab.eval.listening.likeness import likeness, load_embedder
from sayahead_lab.eval.listening.listeners import at_16khz, load_distillmos
from sayahead_lab.scripts import strided
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.loop.saved_run import load_trained

RATE = 24000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    items = list(Corpus(arguments.corpus).split("val"))
    chosen = [items[number] for number in strided(range(len(items)), arguments.count)]
    rate, embed = load_distillmos(), load_embedder()
    theirs = [np.asarray(item.audio, np.float32) / np.float32(32767) for item in chosen]
    sounds = {"the corpus": ("", theirs)} | {
        path.name: copies(path, arguments.corpus, chosen) for path in arguments.runs
    }
    known = [embed(samples, RATE) for samples in theirs]
    rows = []
    for name, (steps, utterances) in sounds.items():
        opinions = [rate(at_16khz(samples, RATE)) for samples in utterances]
        alike = likeness([embed(samples, RATE) for samples in utterances], known)
        rows.append(f"| {name} | {steps} | {figure(opinions)} | {figure(alike)} |")
    tell(["| run | steps | DistillMOS | similarity |", "|---|---:|---:|---:|", *rows], arguments.results)
    return 0


def copies(run: Path, corpus: Path, items: list[Item]) -> tuple[str, list[Floats]]:
    """A run's steps, and samples (S,) of what it makes of each item's mel."""
    trained = load_trained(run, corpus=corpus)
    mels = [torch.from_numpy(np.asarray(item.mel, np.float32))[None] for item in items]
    with torch.no_grad():
        return str(trained.step), [trained.task.sound(*trained.model(mel)) for mel in mels]


if __name__ == "__main__":
    raise SystemExit(main())
