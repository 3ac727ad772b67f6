"""Quality over what is waited: the learned policy at several prices against fixed lookahead and hold-back.

    python benchmarks/frontier.py measure OUT --texts test.csv [--voice NAME] [--policy FILE]
    python benchmarks/frontier.py report OUT --results benchmarks/results/frontier

``measure`` speaks the texts under each condition with the voice's acoustic model alone and a vocoder that says nothing;
what is there already is left alone. Quality is the distance to the same voice's whole sentences: of words' durations,
of the pitch, and of what frames are made from, each in units of what is lost without lookahead, and their mean. Lags
follow from the traces on each clock; a word's computing counts as 13 ms, so that the machine's load does not.
"""

from __future__ import annotations

import argparse
import copy
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead import LookaheadK, Policy, Read, Speak, View, Voice, WaitAll, load_voice
from sayahead.engine.policy import READ
from sayahead.engine.stages import Frames, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.eval.experiment.clock import Reader, TextClock, Tokens, Typist
from sayahead.eval.experiment.trace import Trace, measure, retime
from sayahead.eval.measures.latency import stalls_s, word_lags_s
from sayahead.text.lists import read_texts, strided
from sayahead.types import Floats, Rendering, Segment

COMPUTING_S = 0.013
CLOCKS: dict[str, tuple[TextClock, float, tuple[float, ...]]] = {
    "50 tokens/s": (Tokens(50), 1900.0, (0.3, 3.0)),
    "180 words/min": (Reader(180), 180.0, (0.15, 0.4, 1.0, 2.0)),
    "typist": (Typist(40), 29.0, (0.06, 0.15, 0.4)),
}
"""Text clocks, the pace in words a minute that the learned policy is told, and its prices."""
PARTS = ("duration, ms a word", "pitch, cents", "frames")
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FirstFast:
    """The control that knows of clocks and nothing of words: no lookahead for a sentence's first words, then ``k``."""

    k: int
    """Words of lookahead from then on."""
    blind: int = 1
    """Words that are spoken without."""

    def decide(self, view: View) -> Read | Speak:
        ahead = 0 if len(view.past) < self.blind else self.k
        if len(view.pending) > ahead or (view.pending and view.pending[-1].ends):
            return Speak(1, ahead)
        return READ


class Keeper:
    """An acoustic model that does what the one inside does, and keeps all that it said since the last ``begin``."""

    def __init__(self, acoustic: Any) -> None:
        self._acoustic = acoustic
        self.begin()

    def begin(self) -> None:
        self.frames: list[Floats] = []
        self.words: list[tuple[int, int]] = []
        self._made = self._start = 0

    def initial(self) -> Any:
        return self._acoustic.initial()

    def step(self, segment: Segment, state: Any, rendering: Rendering, *, hold_back: int) -> tuple[Frames, Any]:
        made, state = self._acoustic.step(segment, state, rendering, hold_back=hold_back)
        self.frames.append(made.final)
        self.words = list(moved(self.words, [(self._start + at, by) for at, by in made.drawn]))
        self.words += [(self._start + first, self._start + end) for first, end in made.words]
        self._made += len(made.final)
        if made.ended:
            self._start = self._made
        return made, state


class Silent:
    """A vocoder whose sound is a constant, as long as the frames are."""

    def __init__(self, vocoder: Any) -> None:
        self.hop_length, self.context = vocoder.hop_length, vocoder.context

    def initial(self, frame: int) -> None:
        return None

    def step(self, final: Floats, right: Floats, state: None, *, seed: int, ended: bool) -> tuple[Floats, None]:
        return np.full(len(final) * self.hop_length, 0.1, np.float32), None


@dataclass(frozen=True, slots=True)
class Asked:
    """What the learned policy is told."""

    price: float
    """What a second of lag costs."""
    words_per_min: float
    """The text's pace."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A way of waiting."""

    name: str
    """What tables call it."""
    policy: Policy | Asked
    """Its policy, or what the voice's learned one is asked."""
    hold_back_s: float | None
    """Sound held back; None: the voice's own, 100 ms where a word is spoken blind and 50 where it is not."""
    group: str
    """The line of the figure to which it belongs."""
    clock: str | None = None
    """The only clock that it is made for; none: all."""


def conditions() -> list[Condition]:
    """Fixed lookahead and hold-back, a control without words, and the learned policy on each clock by price."""
    made = [Condition(f"k = {k}, 50 ms", LookaheadK(k), 0.05, "fixed k, 50 ms held back") for k in range(4)]
    for clock, (_, pace, prices) in CLOCKS.items():
        made += [
            Condition(f"learned, {clock}, price {price:g}", Asked(price, pace), None, "learned", clock)
            for price in prices
        ]
    ramp = "no lookahead for the first word"
    made += [Condition(f"{ramp}, then k = {k}", FirstFast(k), None, ramp) for k in (3, 1)]
    for held_s in (0.1, 0.2):
        held = f"{1000 * held_s:.0f} ms"
        made += [Condition(f"k = {k}, {held}", LookaheadK(k), held_s, f"fixed k, {held} held back") for k in range(2)]
    return made


class Bench:
    """A voice without sound, and its whole sentences."""

    def __init__(self, voice: Voice) -> None:
        if not isinstance(voice.synthesizer, TwoStage):
            raise ConfigError(f"The voice {voice.config.name!r} has no acoustic model: choose another voice.")
        self.voice, synthesizer = voice, copy.copy(voice.synthesizer)
        self.keeper = Keeper(synthesizer._acoustic)
        synthesizer._acoustic, synthesizer._vocoder = self.keeper, Silent(synthesizer._vocoder)
        self._silent = Voice(voice.config, synthesizer, voice.phonemizer)
        self._whole = dict[str, tuple[Floats, list[tuple[int, int]]]]()

    def said(self, text: str, policy: Policy, hold_back_s: float | None) -> tuple[Trace, Floats, list[tuple[int, int]]]:
        """The trace of a text that comes letter by letter, its frames (T, D) and its words' frames."""
        self.keeper.begin()
        options: dict[str, Any] = {} if hold_back_s is None else {"hold_back_s": hold_back_s}
        made, _ = measure(self._silent.session(policy=policy, **options), text)
        return made, np.concatenate(self.keeper.frames), self.keeper.words

    def row(self, text: str, condition: Condition) -> dict[str, Any]:
        """A text under a condition: sums of the parts over words, and lag and stalls by clock."""
        from sayahead.training.learned.tables import distance

        if text not in self._whole:
            _, frames, words = self.said(text, WaitAll(), 0.05)
            self._whole[text] = frames, words
        whole, full = self._whole[text]
        asked = condition.policy
        policy = (
            self.voice.learned(asked.price, words_per_min=asked.words_per_min) if isinstance(asked, Asked) else asked
        )
        made, frames, words = self.said(text, policy, condition.hold_back_s)
        all_ = Frames(frames, frames[:0], (), True)
        parts = np.sum([distance(all_, 0, own, whole, wanted) for own, wanted in zip(words, full, strict=True)], axis=0)
        row: dict[str, Any] = {"words": len(full), "frames": sum(end - first for first, end in full)}
        row |= {"parts": [round(float(part), 4) for part in parts]}
        for name, (clock, _, _) in CLOCKS.items():
            if condition.clock in (None, name):
                timed = retime(made, clock.arrivals(text))
                # The same computing for each chunk, whatever else the machine did.
                chunks = tuple(replace(chunk, generation_s=COMPUTING_S) for chunk in timed.chunks)
                timed = retime(replace(timed, chunks=chunks), clock.arrivals(text))
                row[name] = {"lag_s": float(np.mean(word_lags_s(timed))), "stall_s": float(stalls_s(timed).sum())}
        return row


def file_of(out: Path, condition: Condition) -> Path:
    """Where a condition's rows lie."""
    return out / f"{condition.name.replace('/', ' a ')}.json"


def run_report(arguments: argparse.Namespace) -> None:
    """Write tables and pictures."""
    from frontier_report import report

    there = [condition for condition in conditions() if file_of(arguments.out, condition).is_file()]
    for condition in conditions():
        if condition not in there:
            print(f"Left out, as it is not measured: {condition.name}.")
    report(arguments.out, arguments.results, there)


def run_measure(arguments: argparse.Namespace) -> None:
    """Speak all texts under all conditions; a file of rows a condition."""
    voice = load_voice(arguments.voice)
    if arguments.policy is not None:
        from sayahead.training.learned.task import reader
        from sayahead.voice import load_learned

        learned = load_learned(arguments.policy, reader(voice))
        voice = Voice(voice.config, voice.synthesizer, voice.phonemizer, learned=learned)
    bench, texts = Bench(voice), strided(read_texts(arguments.texts), arguments.count)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for condition in conditions():
        if arguments.fixed and condition.group == "learned":
            continue
        path = file_of(arguments.out, condition)
        if path.is_file():
            continue
        rows = [bench.row(text.text, condition) for text in texts]
        path.write_text(json.dumps(rows) + "\n", encoding="utf-8")
        lags = {
            name: round(float(np.mean([row[name]["lag_s"] for row in rows])), 3) for name in CLOCKS if name in rows[0]
        }
        parts = np.sum([row["parts"] for row in rows], axis=0) / sum(row["words"] for row in rows)
        print(condition.name, parts.round(2).tolist(), lags, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    add = commands.add_parser("measure")
    add.add_argument("out", type=Path)
    add.add_argument("--texts", type=Path, required=True, help="name|text lines, held out from training")
    add.add_argument("--count", type=int, default=200)
    add.add_argument("--voice", default="heart")
    add.add_argument("--fixed", action="store_true", help="leave the learned policy out")
    add.add_argument("--policy", type=Path, help="a network in place of the voice's own")
    add.set_defaults(run_command=run_measure)
    add = commands.add_parser("report")
    add.add_argument("out", type=Path)
    add.add_argument("--results", type=Path, required=True)
    add.set_defaults(run_command=run_report)
    arguments = parser.parse_args()
    arguments.run_command(arguments)


if __name__ == "__main__":
    main()
