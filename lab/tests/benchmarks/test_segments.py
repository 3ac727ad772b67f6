"""How segments failed, and their prosody; networks of Saeki et al.'s rows that no durations have
taught."""

from __future__ import annotations

import importlib
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayahead_lab.eval.measures.prosody import Recording
from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.loop.recipe import load_recipe

ROOT = Path(__file__).parents[2]
WELL = [0, 1, 1, 2, 3, 4, 4, 5]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``segments``."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "saeki"))
    monkeypatch.delitem(sys.modules, "segments", raising=False)
    return importlib.import_module("segments")


@pytest.mark.parametrize(
    ("places", "frames", "failed"),
    [
        (WELL, 24, set[str]()),
        # Six phonemes and a pad may last 280 frames.
        (WELL, 280, {"no stop"}),
        (WELL[:-1], 21, set[str]()),
        (WELL[:-3], 15, {"too early"}),
        # 14 steps of 3 frames are more than half a second, 13 are less.
        ([0, *[1] * 14, 2, 3, 4, 5], 60, {"resting"}),
        ([0, *[1] * 13, 2, 3, 4, 5], 60, set[str]()),
        ([*[0] * 14, 1, 2, 3, 4, 5], 60, {"resting"}),
        ([0, 1, 2, 3, 4, 5, *[6] * 20], 90, set[str]()),
        ([0, 1, 2, 1, 2, 3, 4, 5], 24, set[str]()),
        ([0, 1, 2, 3, 1, 2, 3, 4, 5], 27, {"astray"}),
        ([0, 1, 5, 5], 12, {"astray"}),
    ],
)
def test_each_way_to_fail_is_told_from_the_others(
    script: Any, places: list[int], frames: int, failed: set[str]
) -> None:
    weights = [np.eye(7, dtype=np.float32)[place] for place in places]
    spoken = script.Spoken(places, weights, frames, range(6), 3)
    assert {name for name, found in spoken.failures().items() if found} == failed


@pytest.mark.parametrize(
    ("steps", "share", "failed"), [(3, 0.16, True), (2, 0.14, False), (3, 0.18, False)]
)
def test_attention_is_blurred_where_no_three_neighbours_have_half_of_it(
    script: Any, steps: int, share: float, failed: bool
) -> None:
    sharp = [np.eye(7, dtype=np.float32)[place] for place in WELL]
    wide = np.array([1 - 6 * share, *[share] * 6], np.float32)
    weights = [*sharp[:4], *[wide] * steps, *sharp[4 + steps :]]
    assert script.Spoken(WELL, weights, 24, range(6), 3).failures()["blurred"] is failed


def test_the_speaker_s_words_lie_where_its_durations_say(script: Any) -> None:
    nothing = np.zeros(12)
    items = [
        Item(
            "a.1",
            "a b",
            np.arange(3),
            np.array([[0, 1], [2, 3]]),
            np.array([2, 3, 1, 4, 2]),
            nothing,
            nothing,
        ),
        Item(
            "a.2",
            "c",
            np.arange(2),
            np.array([[0, 2]]),
            np.array([1, 5, 4, 2]),
            nothing + 90,
            nothing,
        ),
    ]
    found = script.recording_of(items)
    assert isinstance(found, Recording)
    assert found.words == ((2, 5), (6, 10), (13, 22))
    assert (found.phonemes, found.sentences) == ((1, 1, 2), (0, 0, 1))
    assert found.pitch[12] == 90


def test_the_networks_of_the_rows_differ_in_what_they_see_alone() -> None:
    recipes = {name: load_recipe(ROOT / "recipes" / "saeki" / f"free-{name}.toml") for name in ROWS}
    base = recipes["bicontext"]
    assert not base.model.get("taught")
    assert not base.data.get("alignment_weight")
    for name, recipe in recipes.items():
        differing = {
            one.name
            for one in fields(base.train)
            if getattr(base.train, one.name) != getattr(recipe.train, one.name)
        }
        assert recipe.model == base.model
        assert differing == ({"batch_size"} if name == "full" else set())
        changed = {
            key
            for key in {**recipe.data, **base.data}
            if recipe.data.get(key) != base.data.get(key)
        }
        assert changed == ROWS[name]


ROWS = {
    "independent": {"independent_share"},
    "unicontext": {"unicontext_share"},
    "bicontext": set[str](),
    "full": {"windows", "guided_weight", "longest"},
}


def test_rows_of_one_frame_a_step_differ_in_that_and_in_steps_alone() -> None:
    for name in ("unicontext", "bicontext"):
        frame, three = (
            load_recipe(ROOT / "recipes" / "saeki" / f"free-{name}{kind}.toml")
            for kind in ("-frame", "")
        )
        assert (frame.model["reduction"], three.model["reduction"]) == (1, 3)
        assert {**frame.model, "reduction": 3} == three.model
        assert frame.data == three.data
        names = [one.name for one in fields(frame.train)]
        differing = {one for one in names if getattr(frame.train, one) != getattr(three.train, one)}
        assert differing == {"steps", "sample_every"}
        assert frame.train.steps == 2000


def test_rows_are_compared_with_the_first_and_with_random_words(script: Any) -> None:
    draw = np.random.default_rng(0)

    def row(share: float, more: float) -> dict[str, Any]:
        failed = (draw.random(30) < share) * 4.0
        figures = dict.fromkeys([*script.FAILURES, "any"], np.stack([failed, np.full(30, 8.0)], 1))
        apart = {
            name: np.stack([10 * (30 + more + draw.random(30)), np.full(30, 10.0)], 1)
            for name in PROSODY
        }
        return {
            **figures,
            "sentences": np.stack([failed > 0, np.ones(30)], 1).astype(np.float64),
            **apart,
        }

    rows = {
        "unicontext": row(0.5, 5),
        "bicontext, truth": row(0.0, 0),
        "bicontext, random words": row(1.0, 0),
    }
    failures, prosody = script.tables(rows, 30)
    first, truth, drawn = (line.split(" | ") for line in failures[-3:])
    assert drawn[1] == "240"
    assert drawn[7].startswith("50.0 (50.0 to 50.0)")
    assert first[8] == drawn[9] == "–"
    assert "-50.0 (-50.0 to -50.0), p < 0.001" in truth
    first, truth, drawn = (line.split(" | ") for line in prosody[-3:])
    assert first[2] == drawn[3] == "–"
    assert drawn[2].startswith("-5.")
    assert abs(float(truth[2].split()[0]) + 5) < 0.5
    assert abs(float(truth[3].split()[0])) < 0.5
    # Without random words there is nothing else to compare with.
    del rows["bicontext, random words"]
    alone = script.tables(rows, 30)
    assert ["\n".join(lines).count("less ") for lines in alone] == [1, 2]
    for lines in (failures, prosody, *alone):
        assert len({line.count(" |") for line in lines if line.startswith("|")}) == 1


PROSODY = ("word, ms", "pitch, cents")


def test_rows_of_several_trainings_are_compared_within_their_own(script: Any) -> None:
    def row(share: float) -> dict[str, Any]:
        parts = np.stack([np.full(9, 8 * share), np.full(9, 8.0)], 1)
        figures = dict.fromkeys([*script.FAILURES, "any"], parts)
        return {**figures, "sentences": parts, **dict.fromkeys(PROSODY, parts)}

    shares = {
        "a, seed 0: unicontext": 0.5,
        "a, seed 0: truth": 0.25,
        "b, seed 1: unicontext": 0.125,
        "b, seed 1: truth": 0.25,
    }
    failures, _ = script.tables({name: row(share) for name, share in shares.items()}, 9)
    less = [line.split(" | ")[8] for line in failures[-4:]]
    assert [one.split()[0] for one in less] == ["–", "-25.0", "–", "+12.5"]
