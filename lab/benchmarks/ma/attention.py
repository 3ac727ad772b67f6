"""Alignment and mel of the full sentence and of lookahead-1, as in Ma et al. (2020), Fig. 10 and
11.

    python lab/benchmarks/ma/attention.py lab/benchmarks/results/ma/attention

Writes ``alignment.png`` (first attention) and ``mel.png``; the ground truth is the corpus's
speaker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import Voice, load_voice
from sayahead.engine.stages import Frames
from sayahead.engine.synthesizer import TwoStage
from sayahead.research import LookaheadK, Policy, WaitAll
from sayahead.systems.ma import AttentionAcoustic, AttentionState, Encoded, Past, Places, Step
from sayahead.types import Floats, Rendering, Segment

from sayahead_lab.eval.report.attention import alignments, mels, padded
from sayahead_lab.results import options

SENTENCE = "The commission recognizes that this is a controversial area."


@dataclass
class Watched:
    """An acoustic model whose attention and frames are kept."""

    acoustic: AttentionAcoustic
    rows: dict[int, tuple[int, Floats]] = field(default_factory=dict)
    frames: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        decode = self.acoustic._decode
        decoder = self.acoustic._decoder
        last: dict[str, Any] = {}

        def remembered(**inputs: Any) -> Any:
            last.update(decoder(**inputs))
            return last

        def watched(text: Encoded, past: Past, places: Places | None) -> Step:
            made = decode(text, past, places)
            start = min(max(past.attended[0], text.first), text.end - 1)
            # A provisional step comes again: the last time counts.
            self.rows[past.number] = (start, last["weights1"].reshape(-1).copy())
            return made

        self.acoustic._decoder = remembered  # type: ignore[assignment]
        self.acoustic._decode = watched  # type: ignore[method-assign]

    def initial(self) -> AttentionState:
        return self.acoustic.initial()

    def step(
        self, segment: Segment, state: AttentionState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, AttentionState]:
        frames, after = self.acoustic.step(segment, state, rendering, hold_back=hold_back)
        self.frames.append(frames.final)
        return frames, after


def watch(voice: Voice, policy: Policy, **options: Any) -> tuple[Floats, Floats]:
    """Attention (T, P) and log mel (T, D) of the sentence under a policy."""
    synthesizer = voice.synthesizer
    assert isinstance(synthesizer, TwoStage)
    watched = Watched(synthesizer.acoustic)  # type: ignore[arg-type]
    synthesizer.acoustic = watched
    voice.synthesize(SENTENCE, policy=policy, **options)
    mel = np.concatenate(watched.frames)
    r = watched.acoustic._model.reduction
    steps = len(mel) // r
    phonemes = 1 + max(start + len(weights) for start, weights in watched.rows.values())
    alignment = np.zeros((steps, phonemes), np.float32)
    for number in range(steps):
        start, weights = watched.rows[number]
        alignment[number, start : start + len(weights)] = weights
    return np.repeat(alignment, r, axis=0), mel


def main() -> None:
    folder: Path = options(__doc__, "FOLDER").parse_args().folder
    from sayahead_lab.training.corpus.frontend import PRESETS
    from sayahead_lab.training.corpus.teacher import TeacherSpec

    (item,), _ = TeacherSpec(PRESETS["ma"], "final").open().items("sentence", SENTENCE)
    ways: dict[str, tuple[Policy, dict[str, Any]]] = {
        "full sentence": (WaitAll(), {}),
        "lookahead-1": (LookaheadK(1, 18, 6, in_chunks=True), {"k2": 0, "delta": 0}),
    }
    seen = {
        name: watch(load_voice("ma-lj"), policy, **options)
        for name, (policy, options) in ways.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    attended = {name: weights for name, (weights, _) in seen.items()}
    alignments(padded(attended), hop_s=0.0125).savefig(folder / "alignment.png", dpi=80)
    drawn = {
        "ground truth": np.asarray(item.mel, np.float32),
        **{name: mel for name, (_, mel) in seen.items()},
    }
    mels(drawn, hop_s=0.0125).savefig(folder / "mel.png", dpi=80)


if __name__ == "__main__":
    main()
