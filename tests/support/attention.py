"""Deep Voice 3 at run time, of graphs that tests watch and change: a sentence's words, and steps
over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.systems.ma import AttentionAcoustic, AttentionConfig, AttentionState
from sayahead.types import Rendering, Segment
from support.toy_voices import TOYS, toy

PLAIN = Rendering(hold_back_s=0.0)
SPACE = 16
IDS = np.array(
    [50, 83, 54, 156, 31, SPACE, 81, 156, 86, 123, 44, SPACE, 45, 62, SPACE, 48, 57, 60, 61, 4]
)
WORDS = ((0, 5), (5, 11), (11, 14), (14, 20))
"""First and end id of each word of IDS, with the space before it."""


class Spy:
    """A graph that remembers what it was given."""

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph = graph
        self.calls = list[dict[str, Any]]()

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        self.calls.append(inputs)
        return self.graph(**inputs)


class Forced(Spy):
    """A graph whose stop is a value, and whose weights (those named) look at their first place."""

    def __init__(self, graph: OnnxGraph, stop: float, *names: str) -> None:
        super().__init__(graph)
        self.stop = stop
        self.names = names

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        out = dict(super().__call__(**inputs))
        for name in self.names:
            out[name] = np.zeros_like(out[name])
            out[name][..., 0] = 1
        if "stop" in out:
            out["stop"] = np.full_like(out["stop"], self.stop)
        return out


def acoustic(
    name: str = "ma", *, decoder: Any = None, blind: tuple[int, ...] = (SPACE,), **changes: Any
) -> tuple[AttentionAcoustic, Spy, Spy]:
    """A toy voice's acoustic model with its two graphs; ``changes`` are entries of its table."""
    spies = Spy(OnnxGraph(TOYS / name / "encoder.onnx")), decoder or Spy(graph(name))
    return runtime(spies, {**toy(name).config.model["acoustic"], **changes}, blind), *spies


def graph(name: str = "ma") -> OnnxGraph:
    """A toy voice's decoder."""
    return OnnxGraph(TOYS / name / "decoder.onnx")


def exported(paths: Sequence[Path], table: dict[str, Any]) -> tuple[AttentionAcoustic, Spy, Spy]:
    """The acoustic model of files of an encoder and a decoder."""
    spies = Spy(OnnxGraph(paths[0])), Spy(OnnxGraph(paths[1]))
    return runtime(spies, table), *spies


def runtime(
    graphs: Any, table: dict[str, Any], blind: tuple[int, ...] = (SPACE,)
) -> AttentionAcoustic:
    """The model of two graphs; ``blind`` follows words after which none is visible."""
    config = from_mapping(AttentionConfig, table, where="acoustic")
    tails = np.zeros(0, np.int64), np.array(blind, np.int64)
    return AttentionAcoustic(
        graphs[0], graphs[1], config, right_frames=9, pad=0, continuations=tails
    )


def segment(first: int, end: int, shown: int | None = None) -> Segment:
    """The words ``first`` up to ``end`` of IDS, with those up to ``shown`` visible (None: all)."""
    last = len(WORDS) if shown is None else min(shown, len(WORDS))
    begin = WORDS[first][0]
    stop = WORDS[end - 1][1]
    seen = WORDS[last - 1][1]
    spans = tuple(
        (a - begin + (IDS[a] == SPACE), b - begin - (IDS[b - 1] == 4)) for a, b in WORDS[first:end]
    )
    return Segment(IDS[begin:seen], stop - begin, spans, last == len(WORDS))


def word_by_word(
    model: AttentionAcoustic,
    lookahead: int | None,
    rendering: Rendering = PLAIN,
    hold_back: int = 0,
) -> tuple[list[Any], list[AttentionState]]:
    """Frames of each word's step, and the states before and after it."""
    states = [model.initial()]
    made = []
    for word in range(len(WORDS)):
        shown = None if lookahead is None else word + 1 + lookahead
        frames, state = model.step(
            segment(word, word + 1, shown), states[-1], rendering, hold_back=hold_back
        )
        made.append(frames)
        states.append(state)
    return made, states


def words_are_the_sentence(model: AttentionAcoustic, encoder: Spy) -> None:
    """Assert that words which see the whole sentence are spoken as in it."""
    whole, _ = model.step(segment(0, len(WORDS)), model.initial(), PLAIN, hold_back=0)
    for hold_back in (0, 4, 10):
        encoder.calls.clear()
        made, states = word_by_word(model, None, hold_back=hold_back)
        joined = np.concatenate([frames.final for frames in made])
        assert joined.shape == whole.final.shape
        assert np.abs(joined - whole.final).max() < 1e-3
        assert tuple(word for frames in made for word in frames.words) == whole.words
        assert [frames.ended for frames in made] == [False] * 3 + [True]
        # With the past forgotten but for what the encoder sees, and what is held back.
        assert states[3].first > 0
        assert min(call["places"][0] for call in encoder.calls) == 0
        assert encoder.calls[-1]["places"][0] == states[3].first
