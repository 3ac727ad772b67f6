"""Where a pupil of ``heart-voice`` stands, run by run: its own speech and its copies, beside the corpus's teacher.

    python lab/benchmarks/pupil.py RUN... --corpus CORPUS [--count 20] [--results FILE]

The corpus's validation sentences, whole, by the float32 networks. *Copy*: with the teacher's durations, pitch and
energy, so that only the sound encoder and the decoder count; *own*: from phonemes alone. DistillMOS, and the similarity
of ``likeness.py``. A run named ``heart`` is the default voice's networks untaught.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from likeness import figure, likeness, load_embedder
from output import tell
from sayahead.sound.files import write_wav
from sayahead.types import Floats

from sayahead_lab.eval.listening.listeners import at_16khz, load_distillmos
from sayahead_lab.scripts import strided
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.heart.decoder import HeartVoice
from sayahead_lab.training.heart.own_voice_data import Spoken, spoken
from sayahead_lab.training.heart.own_voice_task import HeartVoiceTask
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.loop.task import TASKS
from sayahead_lab.training.loop.warm_start import begin, find_start

RATE = 24000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--sounds", type=Path, metavar="FOLDER", help="write what is heard here, too")
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    items = Corpus(arguments.corpus).split("val")
    chosen = [items[number] for number in strided(range(len(items)), arguments.count)]
    said = [spoken(item) for item in chosen]
    rate, embed = load_distillmos(), load_embedder()

    def row(name: str, steps: str, sounds: dict[str, list[Floats]]) -> str:
        cells = [name, steps]
        for way, utterances in sounds.items():
            if arguments.sounds:
                for item, samples in zip(chosen, utterances, strict=True):
                    write_wav(arguments.sounds / f"{name}-{way}-{item.name}.wav", samples, RATE)
            cells.append(figure([rate(at_16khz(samples, RATE)) for samples in utterances]))
            cells.append(figure(likeness([embed(samples, RATE) for samples in utterances], theirs)))
        return f"| {' | '.join(cells)} |"

    heard = [one.audio for one in said]
    theirs = [embed(samples, RATE) for samples in heard]
    rows = ["| run | steps, seconds | copy | similarity | own | similarity |", "|---|---:|---:|---:|---:|---:|"]
    rows.append(row("the teacher", "", {"copy": heard}))
    for path in arguments.runs:
        task, model, steps = opened(path, arguments.corpus)
        ways: dict[str, Sequence[Spoken | None]] = {"copy": said, "own": [None] * len(chosen)}
        sounds = {
            way: [
                task.speak(model, np.asarray(item.ids, np.int64), one) for item, one in zip(chosen, given, strict=True)
            ]
            for way, given in ways.items()
        }
        rows.append(row(Path(path).name, steps, sounds))
    tell(rows, arguments.results)
    return 0


def opened(path: str, corpus: Path) -> tuple[HeartVoiceTask, HeartVoice, str]:
    """A run's task and model, and its steps and seconds; of ``heart`` the default voice's."""
    if path == "heart":
        ranges = str(Path(__file__).parents[1] / "recipes" / "heart" / "ranges.json")
        task = HeartVoiceTask({}, {"fixed_context": True, "ranges": ranges}, Corpus(corpus))
        model = task.model()
        begin(find_start("heart", TASKS["heart-voice"]), task, model, None, corpus)
        return task, model.eval(), "0"
    trained = load_trained(Path(path), corpus=corpus)
    last = json.loads((Path(path) / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return trained.task, trained.model, f"{trained.step}, {last['seconds']:.0f} s"


if __name__ == "__main__":
    raise SystemExit(main())
