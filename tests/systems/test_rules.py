"""Rules of the runtime where papers let attention and stop do as they like: each can be switched off."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tiny import tiny_voice
from support.tiny_mohan import tiny_mohan

from sayahead.errors import ConfigError
from sayahead.systems.ma import MOST_FRAMES
from sayahead.types import Rendering, Segment


class Forced:
    """A graph some of whose outputs are filled with a value; weights look at their first place."""

    def __init__(self, graph: Any, *names: str, stop: float) -> None:
        self.graph, self.names, self.stop = graph, names, stop

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        out = dict(self.graph(**inputs))
        for name in self.names:
            out[name] = np.full_like(out[name], self.stop if name == "stop" else 0)
            if name != "stop":
                out[name][..., 0] = 1
        return out


def test_deep_voice_3_stops_early_and_rests_forever_where_it_may(tmp_path: Path) -> None:
    voice: Any = tiny_voice(tmp_path)
    segment = Segment(np.array([50, 83, 54, 156]), 4, ((0, 4),), True)

    def frames(stop: float, **rules: Any) -> int:
        acoustic = copy.copy(voice.synthesizer._acoustic)
        acoustic._decoder = Forced(acoustic._decoder, "stop", "weights1", "weights2", stop=stop)
        acoustic._model = replace(acoustic._model, **rules)
        made, _ = acoustic.step(segment, acoustic.initial(), Rendering(), hold_back=0)
        assert made.ended
        return len(made.final)

    r, phonemes = voice.synthesizer._acoustic._model.reduction, 6
    assert frames(1.0, early_stop=True) == r
    # Moved on from phoneme to phoneme until all that sound are passed.
    assert frames(1.0, longest=2) == 5 * 2 * r + r
    assert frames(0.0, longest=2) == phonemes * 2 * r
    assert frames(0.0, longest=0) == phonemes * MOST_FRAMES
    with pytest.raises(ConfigError, match="longest is -1"):
        frames(0.0, longest=-1)


def test_the_modified_tacotron_stops_early_and_rests_forever_where_it_may(tmp_path: Path) -> None:
    voice: Any = tiny_mohan(tmp_path)

    def steps(stop: float, **rules: Any) -> int:
        acoustic = copy.copy(voice.synthesizer._acoustic)
        graphs = acoustic._graphs
        acoustic._graphs = {
            **graphs,
            "make": Forced(graphs["make"], "stop", stop=stop),
            "attend": Forced(graphs["attend"], "weights", stop=stop),
        }
        acoustic._model = replace(acoustic._model, back=0, **rules)
        segment = Segment(np.array([3, 4, 5, 6, 7, 8, 1]), 7, ((0, 6),), True, steps=400)
        made, _ = acoustic.step(segment, acoustic.initial(), Rendering(), hold_back=0)
        assert made.ended
        return len(made.final) // int(acoustic._model.reduction)

    assert steps(1.0, early_stop=True) == 1
    moved, left = steps(1.0, longest=3), steps(0.0, longest=0)
    assert 3 * 3 < moved < left
    # Attention that never moves ends by the bound on the time after the text's end.
    pace = voice.synthesizer._acoustic._model.pace
    assert left * 2 == pytest.approx(40 + 3 * pace * 7, abs=2)
