"""ClariNet's student in a voice: whether the graphs say what the network says, steps what the whole says, and the cost.

    python benchmarks/ma/clarinet.py voices/ma-clarinet --run runs/clarinet-small --corpus corpus/ma [--results FILE]

On the mel of the test split's first sentences, beside the mel vocoder of the voice ma-lj. Times are the processor's, on
one core. Needs the train extra.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

import sayahead
from sayahead import load_voice
from sayahead.engine.stages import Vocoder as AnyVocoder
from sayahead.engine.synthesizer import TwoStage
from sayahead.eval.experiment.machine import pin, processor
from sayahead.training.clarinet.network import GaussianIAF, Vocoder
from sayahead.training.corpus.store import Corpus
from sayahead.training.loop.trained import load_trained
from sayahead.types import Floats
from sayahead.vocoders.clarinet import ClariNetVocoder
from sayahead.vocoders.pulses import pitch_curve, pulse_train

STEP = 10
"""Frames of a step: 125 ms."""
TAIL = 16
"""Frames at a sentence's end that are not compared: a step does not know that nothing follows."""


@dataclass(frozen=True, slots=True)
class Row:
    """A vocoder on all sentences."""

    name: str
    """What it is."""
    megabytes: float
    """Its graphs."""
    whole: float
    """Processor time over audio time, sentence by sentence."""
    steps: float
    """The same, step by step."""
    step_ms: float
    """Longest mean time of a step in a sentence."""
    apart: float
    """Largest difference of steps from the whole, in 16-bit steps."""


def measured(name: str, vocoder: AnyVocoder[Any], *, files: list[Path], mels: list[Floats], sample_rate: int) -> Row:
    """Speed of a vocoder, and whether its steps are the whole."""
    spent, audio_s, slowest, apart = [0.0, 0.0], 0.0, 0.0, 0.0
    for mel in mels:
        begun = time.process_time()
        whole, _ = vocoder.step(mel, mel[:0], vocoder.initial(0), seed=1, ended=True)
        between = time.process_time()
        state, parts = vocoder.initial(0), []
        for at in range(0, len(mel), STEP):
            final, right = mel[at : at + STEP], mel[at + STEP :]
            made, state = vocoder.step(final, right, state, seed=1, ended=not len(right))
            parts.append(made)
        ended = time.process_time()
        spent = [spent[0] + between - begun, spent[1] + ended - between]
        slowest = max(slowest, (ended - between) / len(parts))
        audio_s += len(whole) / sample_rate
        apart = max(apart, float(np.abs(whole - np.concatenate(parts))[: -TAIL * vocoder.hop_length].max()))
    size = sum(path.stat().st_size for path in files) / 1e6
    return Row(name, size, spent[0] / audio_s, spent[1] / audio_s, 1000 * slowest, 32768 * apart)


def against_torch(vocoder: ClariNetVocoder, model: GaussianIAF, mel: Floats) -> tuple[float, float]:
    """Largest difference of the graphs from the network: samples in 16-bit steps, pitch in Hz."""
    c, net = model.config.conditioner, Vocoder(model)
    z = np.random.default_rng(0).standard_normal((len(mel), c.hop)).astype(np.float32)
    tensor, hertz, rows = torch.from_numpy(mel), np.zeros(0, np.float32), None
    off = 0.0
    with torch.no_grad():
        if vocoder._pulses is not None and model.conditioner.pitch is not None:
            hertz = vocoder._pulses.hertz(mel)
            normalized = model.conditioner.normalized(tensor[None])
            off = float(np.abs(hertz - model.conditioner.pitch.hertz(normalized)[0].numpy()).max())
            curve = pitch_curve(hertz, None, hop=c.hop)
            turns = np.cumsum(curve, dtype=np.float64) / vocoder._model.sample_rate
            rows = np.hstack([part.reshape(-1, c.hop) for part in pulse_train(turns, curve)])
        meant = net(tensor, torch.from_numpy(z), None if rows is None else torch.from_numpy(rows)).numpy()
    said = vocoder._render(mel if rows is None else np.hstack([mel, rows]), z)
    return 32768 * float(np.abs(said - meant).max()), off


def table(rows: list[Row], *, sentences: int, parameters: int, samples: float, hertz: float) -> str:
    """The results as Markdown."""
    lines = [
        f"`python benchmarks/ma/clarinet.py`: mel of {sentences} test sentences, steps of {STEP} frames (125 ms), "
        f"processor time on one core ({processor()}), onnxruntime {version('onnxruntime')}. The student has "
        f"{parameters:,} parameters; its graphs differ from the network by {samples:.2g} 16-bit steps at most, their "
        f"pitch by {hertz:.2g} Hz. Steps are compared with the whole up to {TAIL} frames before a sentence's end.",
        "",
        "| vocoder | graphs, MB | RTF, whole | RTF, in steps | a step, ms | from the whole, 16-bit steps |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.name} | {row.megabytes:.1f} | {row.whole:.3f} | {row.steps:.3f} | {row.step_ms:.1f} "
        f"| {row.apart:.2g} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("voice", type=Path)
    parser.add_argument("--run", type=Path, required=True, help="the student's run")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    pin(None)
    torch.set_num_threads(1)
    mels = [item.mel.astype(np.float32) for item in Corpus(arguments.corpus).split("test")[: arguments.count]]
    shipped = Path(sayahead.__file__).parent / "voices" / "ma-lj"
    own, other = load_voice(arguments.voice), load_voice(shipped)
    assert isinstance(own.synthesizer, TwoStage)
    assert isinstance(other.synthesizer, TwoStage)
    student = own.synthesizer._vocoder
    model = load_trained(arguments.run, corpus=arguments.corpus).model
    assert isinstance(student, ClariNetVocoder)
    assert isinstance(model, GaussianIAF)
    graphs = [path for name in ("student", "pitch") if (path := arguments.voice / f"{name}.onnx").exists()]
    given: dict[str, Any] = {"mels": mels, "sample_rate": own.sample_rate}
    rows = [
        measured("ClariNet's student", student, files=graphs, **given),
        measured("mel vocoder of ma-lj", other.synthesizer._vocoder, files=[shipped / "vocoder.onnx"], **given),
    ]
    samples, hertz = (max(values) for values in zip(*(against_torch(student, model, mel) for mel in mels), strict=True))
    parameters = sum(weight.numel() for weight in model.parameters())
    text = table(rows, sentences=len(mels), parameters=parameters, samples=samples, hertz=hertz)
    print(text)
    if arguments.results:
        arguments.results.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
