"""The modified Tacotron's rules where the paper lets attention and stop do as they like: each can
be switched off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.attention import Forced
from support.toy_voices import TOYS, toy

from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.systems.mohan import GRAPHS, CharacterAcoustic, MohanConfig
from sayahead.types import Rendering, Segment


def test_it_stops_early_and_rests_forever_where_it_may() -> None:
    config = from_mapping(MohanConfig, toy("mohan").config.model, where="model").acoustic

    def steps(stop: float, **rules: Any) -> int:
        graphs: dict[str, Any] = {
            name: OnnxGraph(TOYS / "mohan" / f"{name}.onnx") for name in GRAPHS
        }
        graphs |= {
            "make": Forced(graphs["make"], stop),
            "attend": Forced(graphs["attend"], stop, "weights"),
        }
        acoustic = CharacterAcoustic(graphs, replace(config, back=0, **rules))
        segment = Segment(np.array([3, 4, 5, 6, 7, 8, 1]), 7, ((0, 6),), True, steps=400)
        made, _ = acoustic.step(segment, acoustic.initial(), Rendering(), hold_back=0)
        assert made.ended
        return len(made.final) // config.reduction

    assert steps(1.0, early_stop=True) == 1
    moved = steps(1.0, longest=3)
    left = steps(0.0, longest=0)
    assert 3 * 3 < moved < left
    # Attention that never moves ends by the bound on the time after the text's end.
    assert left * 2 == pytest.approx(40 + 3 * config.pace * 7, abs=2)
