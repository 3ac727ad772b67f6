"""Quality over what is waited: the learned policy at several prices against fixed lookahead and
hold-back.

    python lab/benchmarks/frontier/measure.py OUT --texts test.csv [--voice NAME] [--policy FILE]
    python lab/benchmarks/frontier/report.py OUT --results lab/benchmarks/results/frontier

``--policy`` is a network in place of the voice's own. This speaks the texts under each condition
with the voice's acoustic model alone and a vocoder that says nothing; what is there already is left
alone. Quality is the distance to the same voice's whole sentences: of words' durations, of the
pitch, and of what frames are made from, each in units of what is lost without lookahead, and their
mean. Lags follow from the traces on each clock; a word's computing counts as 13 ms, so that the
machine's load does not."""

from __future__ import annotations

import copy
import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from conditions import CLOCKS, Condition, Learned, conditions, file_of
from sayahead import Voice, load_voice
from sayahead.engine.stages import Frames, moved
from sayahead.engine.synthesizer import TwoStage
from sayahead.errors import ConfigError
from sayahead.policies.learned import LearnedPolicy, Network
from sayahead.research import Policy, WaitAll
from sayahead.types import Floats, Rendering, Segment

from sayahead_lab.eval.experiment.trace import Trace, measure, retime
from sayahead_lab.eval.measures.latency import stalls_s, word_lags_s
from sayahead_lab.eval.measures.prosody import Silent
from sayahead_lab.results import keep, options
from sayahead_lab.scripts import read_texts, strided

COMPUTING_S = 0.013
Spans = list[tuple[int, int]]
"""First and end frame of each word."""


class Keeper:
    """An acoustic model that does what the one inside does, and keeps all that it said since the
    last ``begin``."""

    def __init__(self, acoustic: Any) -> None:
        self._acoustic = acoustic
        self.begin()

    def begin(self) -> None:
        self.frames: list[Floats] = []
        self.words: Spans = []
        self._start = 0
        self._end = 0

    def initial(self) -> Any:
        return self._acoustic.initial()

    def step(
        self, segment: Segment, state: Any, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, Any]:
        frames, state = self._acoustic.step(segment, state, rendering, hold_back=hold_back)
        self.frames.append(frames.final)
        self.words = list(moved(self.words, [(self._start + at, by) for at, by in frames.drawn]))
        self.words += [(self._start + first, self._start + end) for first, end in frames.words]
        self._end += len(frames.final)
        if frames.ended:
            self._start = self._end
        return frames, state


class Bench:
    """A voice without sound, and its whole sentences."""

    def __init__(self, voice: Voice) -> None:
        if not isinstance(voice.synthesizer, TwoStage):
            raise ConfigError(
                f"The voice {voice.config.name!r} has no acoustic model: choose another voice."
            )
        self.voice = voice
        synthesizer = copy.copy(voice.synthesizer)
        self.keeper = Keeper(synthesizer.acoustic)
        synthesizer.acoustic = self.keeper
        synthesizer.vocoder = Silent(synthesizer.vocoder)
        self._silent = voice.with_synthesizer(synthesizer)
        self._whole = dict[str, tuple[Floats, Spans]]()

    def speak(
        self, text: str, policy: Policy, hold_back_s: float | None
    ) -> tuple[Trace, Floats, Spans]:
        """The trace of a text that comes letter by letter, its frames (T, D) and its words'
        frames."""
        self.keeper.begin()
        options: dict[str, Any] = {} if hold_back_s is None else {"hold_back_s": hold_back_s}
        trace, _ = measure(self._silent.session(policy=policy, **options), text)
        return trace, np.concatenate(self.keeper.frames), self.keeper.words

    def row(self, text: str, condition: Condition) -> dict[str, Any]:
        """A text under a condition: sums of the parts over words, and lag and stalls by clock."""
        from sayahead_lab.training.learned.tables import distance

        if text not in self._whole:
            self._whole[text] = self.speak(text, WaitAll(), 0.05)[1:]
        whole, full = self._whole[text]
        policy = condition.policy
        if isinstance(policy, Learned):
            policy = self.voice.policy(
                "learned", price=policy.price, words_per_min=policy.words_per_min
            )
        trace, frames, words = self.speak(text, policy, condition.hold_back_s)
        spoken = Frames(frames, frames[:0], (), True)
        pairs = zip(words, full, strict=True)
        parts = np.sum([distance(spoken, 0, word, whole, wanted) for word, wanted in pairs], axis=0)
        row: dict[str, Any] = {
            "words": len(full),
            "frames": sum(end - first for first, end in full),
        }
        row |= {"parts": [round(float(part), 4) for part in parts]}
        # The same computing for each chunk, whatever else the machine did.
        trace = replace(
            trace,
            chunks=tuple(
                replace(chunk, generation_s=COMPUTING_S, before=()) for chunk in trace.chunks
            ),
        )
        for name, (clock, _, _) in CLOCKS.items():
            if condition.clock in (None, name):
                timed = retime(trace, clock.arrivals(text))
                row[name] = {
                    "lag_s": float(np.mean(word_lags_s(timed))),
                    "stall_s": float(stalls_s(timed).sum()),
                }
        return row


def voice_of(name: str, policy: Path | None) -> Voice:
    """The voice, with another learned policy where a network's file is given."""
    voice = load_voice(name)
    if policy is None:
        return voice
    from sayahead_lab.training.learned.task import reader

    network = Network.load(policy)
    learned = functools.partial(LearnedPolicy, network, network.clues(reader(voice)))
    return Voice(voice.config, voice.loaded, policies={"learned": learned})


def main() -> None:
    # The texts are held out from training; --fixed leaves the learned policy out.
    arguments = options(
        __doc__, "OUT", "texts", count=200, voice="heart", fixed=False, policy=Path
    ).parse_args()
    bench = Bench(voice_of(arguments.voice, arguments.policy))
    texts = strided(read_texts(arguments.texts), arguments.count)
    for condition in conditions():
        path = file_of(arguments.out, condition)
        if path.is_file() or (arguments.fixed and condition.group == "learned"):
            continue
        rows = [bench.row(text.text, condition) for text in texts]
        keep([json.dumps(rows)], path)
        clocks = [name for name in CLOCKS if name in rows[0]]
        lags = {
            name: round(float(np.mean([row[name]["lag_s"] for row in rows])), 3) for name in clocks
        }
        parts = np.sum([row["parts"] for row in rows], axis=0) / sum(row["words"] for row in rows)
        print(condition.name, parts.round(2).tolist(), lags, flush=True)


if __name__ == "__main__":
    main()
