"""What a word's missing future costs the default voice: parts of blind speech are replaced by the
whole sentence's own.

    python lab/benchmarks/blind.py --texts val.csv [--count 40] [--results FILE]

Sentences that the text encoders see whole (their window never moves) are spoken word by word
without lookahead, first as the voice does, then with the glide of pitch left out, then with the
durations of the whole sentence, its pitch and energy too, and its sound encodings too; what is left
after that is the sound running into what is expected. The predicted opinion (DistillMOS) is paired
with the whole sentence's. Needs what ``sayahead eval score`` needs for it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from output import keep
from sayahead import Voice, load_voice
from sayahead.research import LookaheadK, WaitAll
from sayahead.systems.heart import HeartAcoustic, HeartState
from sayahead.types import Floats, Segment

from sayahead_lab.eval.listening.listeners import at_16khz, load_distillmos
from sayahead_lab.scripts import read_texts


@dataclass(frozen=True, slots=True)
class Row:
    """A way of speaking."""

    name: str
    """In the table."""
    k: int = 0
    """Words of lookahead."""
    told: tuple[str, ...] = ()
    """What is taken from the whole sentence."""
    glides: bool = True
    """Whether pitch glides from what was said before a join."""
    hold_back_s: float | None = None
    """None: the voice's own, 50 ms at k = 1, 100 ms at k = 0."""


ROWS = (
    Row("k = 1", k=1),
    Row("k = 1, 25 ms held back", k=1, hold_back_s=0.025),
    Row("k = 1, nothing held back", k=1, hold_back_s=0.0),
    Row("k = 0"),
    Row("k = 0, 150 ms held back", hold_back_s=0.15),
    Row("k = 0, 75 ms held back", hold_back_s=0.075),
    Row("k = 0, 50 ms held back", hold_back_s=0.05),
    Row("k = 0, nothing held back", hold_back_s=0.0),
    Row("k = 0, pitch jumps at joins", glides=False),
    Row("k = 0, durations of the whole", told=("durations",)),
    Row("k = 0, durations, pitch, energy of the whole", told=("durations", "prosody")),
    Row(
        "k = 0, all of that and the sound encoding", told=("durations", "prosody", "sound_encoding")
    ),
)


class Told(HeartAcoustic):
    """An acoustic model that is told parts of what it says by a recording of the whole sentence."""

    def listen(self, acoustic: HeartAcoustic) -> None:
        """Take the place of ``acoustic``, with its networks."""
        self.__dict__.update(acoustic.__dict__)
        self._text_graph = acoustic._text
        self._prosody_graph = acoustic._prosody
        self._text = self._encode  # type: ignore[assignment]
        self._prosody = self._say  # type: ignore[assignment]
        self.told: tuple[str, ...] = ()
        self.recording = False
        self._whole: dict[str, Any] = {}
        self._first_unit = 0
        self._units = 0
        self._first_row = 0

    def step(self, segment: Segment, state: HeartState, *given: Any, **options: Any) -> Any:
        """See AcousticModel; notes where in the sentence it is."""
        self._first_unit = state.done - min(1, state.done)
        if not self.recording:
            units = np.maximum(np.rint(self._whole["durations"]), 1).astype(int)
            units[0] = self._lead_units
            begins = state.done + state.held == 0
            self._first_row = 0 if begins else self._first_row
            end = self._first_row + begins + len(state.ids) + segment.speak
            self._units = int(units[:end].sum())
        frames, kept = super().step(segment, state, *given, **options)
        if not self.recording:
            # Rows that are final now are not given to the networks again.
            self._first_row = end - len(kept.ids)
        return frames, kept

    def _encode(self, ids: Any, **more: Any) -> dict[str, Floats]:
        out = dict(self._text_graph(ids=ids, **more))
        if self.recording:
            self._whole |= out
            return out
        begin = self._first_row
        known = int((ids < 178).sum())
        for name in set(self.told) & set(out):
            out[name] = np.concatenate(
                [self._whole[name][begin : begin + known], out[name][known:]]
            )
        return out

    def _say(self, **given: Any) -> dict[str, Floats]:
        out = dict(self._prosody_graph(**given))
        if self.recording:
            self._whole |= {name: out[name] for name in ("f0", "energy")}
        elif "prosody" in self.told:
            begin = 2 * self._first_unit
            end = 2 * self._units
            for name in ("f0", "energy"):
                there = self._whole[name][begin:end][: len(out[name])]
                out[name] = np.concatenate([there, out[name][len(there) :]])
        return out


def spoken(voice: Voice, told: Told, text: str, row: Row | None = None) -> Floats:
    """Samples of a text; without a row it is spoken whole and recorded."""
    told.recording = row is None
    if row is None:
        return voice.synthesize(text, policy=WaitAll())
    options: dict[str, Any] = {} if row.hold_back_s is None else {"hold_back_s": row.hold_back_s}
    return voice.synthesize(text, policy=LookaheadK(row.k), **options)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--results", type=Path, help="write the table here (Markdown)")
    arguments = parser.parse_args()
    lines = [script.text for script in read_texts(arguments.texts)]
    texts = [text for text in lines if 30 < len(text) < 72][: arguments.count]
    voice = load_voice()
    rate = load_distillmos()
    told = Told.__new__(Told)
    told.listen(voice.synthesizer.acoustic)  # type: ignore[attr-defined]
    voice.synthesizer.acoustic = told  # type: ignore[attr-defined]
    fading = told._fading

    def opinion(samples: Floats) -> float:
        return rate(at_16khz(samples, voice.sample_rate))

    whole = np.array([opinion(spoken(voice, told, text)) for text in texts])
    rows = [
        (
            f"{len(texts)} sentences of the validation split, DistillMOS (95 % interval of the"
            " paired difference); `python lab/benchmarks/blind.py --texts val.csv --count"
            f" {arguments.count}`."
        ),
        "",
        "| condition | DistillMOS | from the whole sentence |",
        "|---|---:|---:|",
        f"| whole sentence | {whole.mean():.3f} | – |",
    ]
    for row in ROWS:
        told.told = row.told
        told._fading = fading if row.glides else fading[:0]
        found = []
        for text in texts:
            spoken(voice, told, text)
            found.append(opinion(spoken(voice, told, text, row)))
        gap = np.array(found) - whole
        half = 1.96 * gap.std(ddof=1) / len(gap) ** 0.5
        low = gap.mean() - half
        high = gap.mean() + half
        rows.append(
            f"| {row.name} | {np.mean(found):.3f} | {gap.mean():+.3f} ({low:+.3f} to {high:+.3f}) |"
        )
        print(rows[-1], flush=True)
    keep(rows, arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
