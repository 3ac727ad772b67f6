"""Where a pupil of ``heart-voice`` stands, run by run: its own speech and its copies, beside the
corpus's teacher.

    python lab/benchmarks/pupil.py RUN... --corpus CORPUS [--count 20] [--speakers NAME ...] \
        [--results FILE]

The corpus's validation sentences, whole, by the float32 networks; of a joined corpus, each
speaker's, and a row for each. *Copy*: with the teacher's durations, pitch and
energy, so that only the sound encoder and the decoder count; *own*: from phonemes alone.
DistillMOS, and the similarity of ``likeness.py``. A run named ``heart`` is the default voice's
networks untaught. The picture has spectrograms of each speaker's first copy, below the teacher's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from likeness import figure
from output import tell
from sayahead.sound.files import write_wav
from sayahead.types import Floats

from sayahead_lab.eval.listening.likeness import likeness, load_embedder
from sayahead_lab.eval.listening.listeners import Rater, at_16khz, load_distillmos
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--speakers", nargs="*", help="only these")
    parser.add_argument("--picture", type=Path, metavar="PNG", help="draw spectrograms here")
    parser.add_argument(
        "--means", action="store_true", help="of all speakers together, instead of a row for each"
    )
    parser.add_argument(
        "--sounds", type=Path, metavar="FOLDER", help="write what is heard here, too"
    )
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    items = list(Corpus(arguments.corpus).split("val"))
    speakers = arguments.speakers or list(dict.fromkeys(item.speaker for item in items))
    listeners = Listeners(load_distillmos(), load_embedder(), arguments.sounds)
    runs = [(Path(path).name, *opened(path, arguments.corpus)) for path in arguments.runs]
    found = dict[tuple[str, str, str], dict[str, Heard]]()
    drawn = dict[str, dict[str, Floats]]()
    for speaker in speakers:
        own = [item for item in items if item.speaker == speaker]
        chosen = [own[number] for number in strided(range(len(own)), arguments.count)]
        said = [spoken(item) for item in chosen]
        heard = [one.audio for one in said]
        theirs = [listeners.embed(samples, RATE) for samples in heard]
        listened = partial(listeners.heard, [item.name for item in chosen], theirs)
        group = "all" if arguments.means else speaker or "all"
        add(found, (group, "the teacher", ""), listened("teacher", {"copy": heard}))
        drawn[speaker] = {"the teacher": heard[0]}
        for name, task, model, steps in runs:
            ways: dict[str, Sequence[Spoken | None]] = {"copy": said, "own": [None] * len(chosen)}
            sounds = {
                way: [
                    task.speak(
                        model, np.asarray(item.ids, np.int64), one, speaker=task.number(item)
                    )
                    for item, one in zip(chosen, given, strict=True)
                ]
                for way, given in ways.items()
            }
            add(found, (group, name, steps), listened(name, sounds))
            drawn[speaker][name] = sounds["copy"][0]
    tell([HEAD, RULE, *(row(key, ways) for key, ways in found.items())], arguments.results)
    if arguments.picture:
        draw(arguments.picture, drawn)
    return 0


HEAD = "| speaker | run | steps, seconds | copy | similarity | own | similarity |"
RULE = "|---|---|---:|---:|---:|---:|---:|"


@dataclass
class Heard:
    """What the listeners make of utterances of one kind."""

    opinions: list[float]
    """DistillMOS of each."""
    similarity: list[float]
    """The cosine of each to the teacher."""


def add(
    found: dict[tuple[str, str, str], dict[str, Heard]],
    key: tuple[str, str, str],
    ways: dict[str, Heard],
) -> None:
    """Add what was heard to what was heard of the same row before."""
    for way, heard in ways.items():
        known = found.setdefault(key, {}).setdefault(way, Heard([], []))
        known.opinions += heard.opinions
        known.similarity += heard.similarity


def row(key: tuple[str, str, str], ways: dict[str, Heard]) -> str:
    """A row of the table."""
    cells = [
        figure(values) for heard in ways.values() for values in (heard.opinions, heard.similarity)
    ]
    return f"| {' | '.join([*key, *cells, *[''] * (4 - len(cells))])} |"


def draw(path: Path, sounds: dict[str, dict[str, Floats]]) -> None:
    """A spectrogram of each sound: a column for each speaker, a row for each run."""
    from matplotlib.figure import Figure

    rows = max(map(len, sounds.values()))
    figure = Figure(figsize=(4 * len(sounds), 1.8 * rows), layout="constrained")
    axes = figure.subplots(rows, len(sounds), squeeze=False, sharex="col", sharey=True)
    for column, (speaker, runs) in enumerate(sounds.items()):
        for row, (name, samples) in enumerate(runs.items()):
            axis = axes[row][column]
            axis.specgram(
                samples + 1e-5, NFFT=512, noverlap=384, Fs=RATE / 1000, vmin=-120, vmax=-40
            )
            axis.set_title(f"{speaker}: {name}", fontsize=9)
        axis.set_xlabel("ms")
        axes[0][column].set_xlim(0, min(map(len, runs.values())) / RATE * 1000)
    for row in axes:
        row[0].set_ylabel("kHz")
    figure.savefig(path, dpi=80)


@dataclass(frozen=True)
class Listeners:
    """Who listens."""

    rate: Rater
    """Predicts opinions."""
    embed: Callable[[Floats, int], Floats]
    """Makes embeddings of speakers."""
    sounds: Path | None
    """Where what is heard is written, if anywhere."""

    def heard(
        self,
        names: Sequence[str],
        theirs: Sequence[Floats],
        run: str,
        sounds: dict[str, list[Floats]],
    ) -> dict[str, Heard]:
        """Of each way of speaking the sentences, opinions and similarity to ``theirs``."""
        found = dict[str, Heard]()
        for way, utterances in sounds.items():
            if self.sounds:
                for name, samples in zip(names, utterances, strict=True):
                    write_wav(self.sounds / f"{run}-{way}-{name}.wav", samples, RATE)
            opinions = [self.rate(at_16khz(samples, RATE)) for samples in utterances]
            found[way] = Heard(
                opinions, likeness([self.embed(samples, RATE) for samples in utterances], theirs)
            )
        return found


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
