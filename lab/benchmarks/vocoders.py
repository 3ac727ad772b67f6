"""Vocoders of mel frames beside each other: what they cost, and how far their steps are from the
whole.

    python lab/benchmarks/vocoders.py voices/saeki-waveglow saeki-lj --texts test.csv [--delta 1 \
        ...] [--results FILE]
    python lab/benchmarks/vocoders.py voices/* ma-lj --texts test.csv --count 1 --sounds \
        docs/samples

Each voice's vocoder gets the mel of the texts' first sentences in the default voice as teacher,
whole and in steps of 10 frames with all in sight that follows. Times are the processor's, on one
core, in turns. Each --delta is another row for every vocoder that has one. --sounds writes the
first sentence into a folder: vocoder-VOICE.mp3, and the teacher's own sound as vocoder-truth.mp3.
Needs hibari-tts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import load_voice
from sayahead.engine.stages import Vocoder
from sayahead.engine.synthesizer import TwoStage
from sayahead.sound.formats import writer
from sayahead.types import Floats
from sayahead.voices import installed_voices, located

from sayahead_lab.eval.experiment.machine import pin, processor
from sayahead_lab.results import load_figures, options, table, tell
from sayahead_lab.scripts import read_texts, strided
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.corpus.teacher import TeacherSpec

STEP = 10
"""Frames of a step: 125 ms."""


@dataclass(slots=True)
class Row:
    """A vocoder and what it has cost on all sentences."""

    name: str
    """What it is."""
    vocoder: Vocoder[Any]
    """The vocoder."""
    megabytes: float
    """Its files."""
    whole_s: float = 0.0
    """Processor time of whole sentences."""
    steps_s: float = 0.0
    """The same, step by step."""
    steps: int = 0
    """How many steps."""
    apart: float = 0.0
    """Largest difference of steps from the whole, over the whole's largest sample."""

    def hear(self, mel: Floats) -> None:
        """Render a sentence both ways."""
        start_s = time.process_time()
        whole, _ = self.vocoder.step(mel, mel[:0], self.vocoder.initial(0), seed=1, ended=True)
        between = time.process_time()
        state = self.vocoder.initial(0)
        parts = []
        for at in range(0, len(mel), STEP):
            final = mel[at : at + STEP]
            right = mel[at + STEP :]
            made, state = self.vocoder.step(final, right, state, seed=1, ended=not len(right))
            parts.append(made)
        self.steps_s += time.process_time() - between
        self.whole_s += between - start_s
        self.steps += len(parts)
        self.apart = max(
            self.apart, float(np.abs(whole - np.concatenate(parts)).max() / np.abs(whole).max())
        )


def rows(name: Path, deltas: Sequence[int]) -> list[Row]:
    """A voice's vocoder, once as it is and once for each delta."""
    folder = located(name)
    config = load_figures(folder / "voice.json")
    settings = config["model"]["vocoder"]
    source = installed_voices()[settings["voice"]] if "voice" in settings else folder
    named = {"waveglow.onnx", "pitch.onnx", "vocoder.onnx", "student.onnx", "wavernn.npz"}
    size = sum(path.stat().st_size for path in source.iterdir() if path.name in named) / 1e6
    made = [Row(f"{folder.name}: {settings.get('kind', 'mel')}", second_stage(folder), size)]
    for delta in deltas if "left" in settings else []:
        with tempfile.TemporaryDirectory() as scratch:
            copy = shutil.copytree(folder, Path(scratch) / folder.name)
            settings["delta"] = delta
            (copy / "voice.json").write_text(json.dumps(config), encoding="utf-8")
            made.append(Row(f"{made[0].name}, delta = {delta}", second_stage(copy), size))
    return made


def second_stage(folder: Path) -> Vocoder[Any]:
    """A voice's vocoder."""
    synthesizer = load_voice(folder).synthesizer
    assert isinstance(synthesizer, TwoStage)
    return synthesizer.vocoder


HEADING = "vocoder|files, MB|frames ahead|RTF, whole|RTF, in steps|a step, ms|steps from the whole"


def lines_of(made: Sequence[Row], *, sentences: int, audio_s: float) -> list[str]:
    """The results as lines of Markdown."""
    about = (
        f"`python lab/benchmarks/vocoders.py`: mel of {sentences} test sentences ({audio_s:.0f}"
        f" s), steps of {STEP} frames (125 ms), processor time on one core ({processor()}),"
        f" onnxruntime {version('onnxruntime')}."
    )
    cells = [
        [
            row.name,
            f"{row.megabytes:.1f}",
            str(row.vocoder.context),
            f"{row.whole_s / audio_s:.3f}",
            f"{row.steps_s / audio_s:.3f}",
            f"{1000 * row.steps_s / row.steps:.1f}",
            f"{row.apart:.1g}",
        ]
        for row in made
    ]
    return [about, "", *table(HEADING, cells)]


def write_sounds(folder: Path, item: Item, made: Sequence[Row]) -> None:
    """Write what the teacher spoke, and what vocoders make of its mel."""
    assert item.audio is not None
    sounds = {"truth": item.audio.astype(np.float32) / np.float32(32767)}
    for row in made:
        mel = item.mel.astype(np.float32)
        state = row.vocoder.initial(0)
        sounds[row.name.partition(":")[0]] = row.vocoder.step(
            mel, mel[:0], state, seed=1, ended=True
        )[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name, samples in sounds.items():
        path = folder / f"vocoder-{name}.mp3"
        with closing(writer(path)(path, sample_rate=PRESETS["ma"].sample_rate)) as file:
            file.write(samples)


def main() -> None:
    arguments = options(
        __doc__, "VOICES...", "texts", "results", count=20, delta=[int], sounds=Path
    ).parse_args()
    pin(None)
    teacher = TeacherSpec(PRESETS["ma"], "final").open()
    texts = strided(read_texts(arguments.texts), arguments.count)
    items = [item for text in texts for item in teacher.items(text.name, text.text)[0][:1]]
    mels = [item.mel.astype(np.float32) for item in items]
    made = [row for name in arguments.voices for row in rows(name, arguments.delta)]
    for mel in mels:
        for row in made:
            row.hear(mel)
    if arguments.sounds:
        write_sounds(arguments.sounds, items[0], made)
    front = PRESETS["ma"]
    lines = lines_of(
        made, sentences=len(mels), audio_s=sum(map(len, mels)) * front.hop / front.sample_rate
    )
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
