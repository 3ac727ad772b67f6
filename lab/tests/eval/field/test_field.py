"""A field: frozen texts, their clocks, a run of engines, cards, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from sayahead import ConfigError

from sayahead_lab.cli.eval import STEPS
from sayahead_lab.eval.experiment.clock import RecordedTokens
from sayahead_lab.eval.experiment.frozen import digest, frozen, names, tokens
from sayahead_lab.eval.experiment.trace import Trace, TracedChunk, read_traces
from sayahead_lab.eval.field.card import cards
from sayahead_lab.eval.field.compare import again, compare, on, read_cards
from sayahead_lab.eval.field.plan import Field, is_field, load_field, main_clock
from sayahead_lab.eval.field.run import run_field
from sayahead_lab.eval.listening.quality import Listeners
from sayahead_lab.eval.measures.latency import safe_start_s
from sayahead_lab.eval.peers.timing import nowhere

BEEPER = Path(__file__).parents[2] / "lab_support" / "beeper.py"
TOML = """
engines = ["engines.py:soon", "engines.py:late", "engines.py:none"]
texts = ["answers", "own.csv"]
count = 2
repeats = 2
checked = 1
{more}

[[clocks]]
name = "llm"
kind = "tokens:per_s=200"

[[clocks]]
name = "reader"
kind = "reader:words_per_min=900"
"""
ENGINES = f"""
from sayahead_lab.eval.peers.peer import Engine
def soon():
    return Engine("soon", "{BEEPER}:load", "word")
def late():
    return Engine("late", "{BEEPER}:load", "whole")
def none():
    return Engine("none", "{BEEPER}:load", missing=lambda: "it is not here.")
"""


def field_file(folder: Path, more: str = "") -> Path:
    (folder / "own.csv").write_text("x|Hello there you.\ny|Go home.\n", encoding="utf-8")
    (folder / "engines.py").write_text(ENGINES, encoding="utf-8")
    (folder / "field.toml").write_text(TOML.format(more=more), encoding="utf-8")
    return folder / "field.toml"


def test_frozen_texts_are_frozen() -> None:
    assert {name: (len(frozen(name)), digest(name)) for name in names()} == {
        "answers": (200, "93333d516aa73853"),
        "changing": (60, "2fd8b2a34d05449f"),
        "lj": (200, "9455fb9a71d720f2"),
        "long": (5, "c226403ff256f565"),
    }
    assert tokens(frozen("changing")[0].text)[:5] == ["It", " cost", " $", "5", " million"]
    with pytest.raises(ConfigError, match="no frozen texts 'lk' \\(known: answers"):
        frozen("lk")
    with pytest.raises(ConfigError, match="Recorded tokens are those of frozen texts"):
        RecordedTokens().arrivals("Not one of them.")


def test_recorded_tokens_and_a_pause_inside_a_clause() -> None:
    text = frozen("changing")[0].text
    plain = RecordedTokens(20).arrivals(text)
    paused = RecordedTokens(20, pause_s=2).arrivals(text)
    assert "".join(one.text for one in plain) == text == "".join(one.text for one in paused)
    assert [one.at_s for one in plain[:3]] == pytest.approx([0.05, 0.1, 0.15])
    later = [round(b.at_s - a.at_s, 6) for a, b in zip(plain, paused, strict=True)]
    assert set(later) == {0, 2}
    assert later == sorted(later)
    at = later.index(2)
    assert plain[at].text.startswith(" ")
    assert plain[at - 1].text[-1].isalnum()
    for wrong in ({"per_s": 0.0}, {"pause_s": -1.0}):
        with pytest.raises(ConfigError, match="must be"):
            RecordedTokens(**wrong)


def test_a_safe_start_never_stalls() -> None:
    chunks = [(0, 100, 1.0), (100, 1000, 1.5), (1100, 100, 1.6)]
    traced = tuple(
        TracedChunk(start, length, 0.0, ready, 0.1, 3) for start, length, ready in chunks
    )
    assert safe_start_s(Trace(0, "abc", 1000, (), traced, ())) == pytest.approx(1.4)
    assert math.isnan(safe_start_s(Trace(0, "abc", 1000, (), (), ())))


def test_a_field_from_its_file_to_its_ranking(tmp_path: Path) -> None:
    path = field_file(tmp_path)
    out = tmp_path / "out"
    assert is_field(path)
    field = load_field(path)
    lines = list[str]()
    assert run_field(field, out, progress=lines.append) == {"none": "it is not here."}
    assert len(lines) == 2 * 4 * 3
    assert run_field(field, out, progress=lines.append) == {"none": "it is not here."}
    assert len(lines) == 2 * 4 * 3
    about = json.loads((out / "soon" / "about.json").read_text(encoding="utf-8"))
    assert about["check"]["same_sound"] == about["check"]["texts"] == 1
    assert [trace.repeat for trace in read_traces(out / "soon" / "wall.jsonl")] == [0, 1]
    assert (about["engine"]["text"], about["engine"]["version"]) == ("word", "1")
    assert [trace.repeat for trace in read_traces(out / "soon" / "measured.jsonl")] == [0, 1] * 4
    listeners = Listeners(
        transcriber=lambda samples: "hello there you",
        normalizer=str.lower,
        distillmos=lambda samples: 4.0,
    )
    path = tmp_path / "new" / "cards.jsonl"
    assert cards(out, path, listeners) == 2
    both = read_cards([path])
    assert [card["engine"] for card in both] == ["late", "soon"]
    soon = both[1]
    assert list(soon["clocks"]) == ["llm", "reader"]
    figures = on(soon, "reader")["figures"]
    assert figures["first_s"]["n"] == 8
    assert len(figures["first_s"]["p50_of_repeats"]) == 2
    assert figures["text_wait_s"]["p50"] > 0.05
    assert figures["given_first_s"]["p50"] < figures["first_s"]["p50"]
    assert figures["distillmos"]["value"] == 4
    assert soon["recognizer"]["names"] == {"wer": "given", "distillmos": "given"}
    assert set(soon["traces"]) == {"measured.jsonl", "wall.jsonl", "whole.jsonl"}
    assert (soon["wall"]["clock"], soon["wall"]["first_s"]["n"]) == ("llm", 2)
    assert soon["wall"]["first_s"]["p50"] == pytest.approx(
        soon["wall"]["by_arithmetic_first_s"]["p50"], abs=0.2
    )
    told = compare(both, clock="reader")
    assert (
        told.index("| soon |")
        < told.index("| late |")
        < told.index("Clock reader:words_per_min=900")
    )
    assert "Clock tokens:per_s=200" in compare(both, by="stalls")
    with pytest.raises(ConfigError, match="1 cards are too few"):
        compare(both[:1])
    with pytest.raises(ConfigError, match="of late has no clock 'raeder'"):
        compare(both, clock="raeder")
    faster = {"reader": {**soon["clocks"]["reader"], "kind": "reader:words_per_min=950"}}
    for changed, message in (
        ({"clocks": faster}, "cannot be ranked: their clocks differ"),
        ({"texts": {**soon["texts"], "count": 5}}, "their texts differ"),
        (
            {"recognizer": {**soon["recognizer"], "names": {"wer": "another"}}},
            "their recognizers differ",
        ),
        ({"timed": "on the wall clock"}, "their ways of timing differ"),
    ):
        with pytest.raises(ConfigError, match=message):
            compare([both[0], {**soon, **changed}], clock="reader")
    with pytest.raises(ConfigError, match="no column 'firts'"):
        compare(both, by="firts")
    with pytest.raises(ConfigError, match="has no cards of schema 1"):
        read_cards([out / "field.json"])


def test_what_sounds_on_its_own_is_timed_on_the_wall_clock(tmp_path: Path) -> None:
    path = field_file(tmp_path)
    engines = tmp_path / "engines.py"
    engines.write_text(
        ENGINES.replace('"word")', '"word", {"simulates": False})'), encoding="utf-8"
    )
    field = load_field(path)
    short = Field(field.engines[:1], field.texts[1:], field.clocks[:1], count=1, repeats=1)
    run_field(short, tmp_path / "out", locate=nowhere)
    (trace,) = read_traces(tmp_path / "out" / "soon" / "llm.jsonl")
    assert trace.fragments[-1].at_s == pytest.approx(trace.chunks[-1].ideal_s)
    assert trace.closing_s >= 0
    about = json.loads((tmp_path / "out" / "soon" / "about.json").read_text(encoding="utf-8"))
    assert about["check"] is None
    assert 0 <= about["pushed_late_s"] < 1


def test_a_clock_has_no_name_of_a_field_s_file(tmp_path: Path) -> None:
    path = field_file(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('"llm"', '"wall"'), encoding="utf-8")
    with pytest.raises(ConfigError, match="cannot be called 'wall'"):
        load_field(path)


@pytest.mark.parametrize(
    ("more", "message"), [("computing = 'sun'", "must be wall or processor"), ("x = 1", "x")]
)
def test_a_field_that_cannot_be(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_field(field_file(tmp_path, more))


def test_a_run_again_says_what_moved() -> None:
    def card(engine: str, first_s: float, cpu: str = "one") -> Any:
        clock = {"kind": "tokens", "first_s": {"p50": first_s}}
        texts = {"sets": {"a": "1"}, "count": 2}
        machine = {"cpu": cpu}
        alike = {"texts": texts, "timed": "so", "machine": machine, "figures": {}}
        return {"engine": engine, "clocks": {"llm": clock}, **alike}

    first = [card("a", 0.100), card("b", 0.110), card("gone", 1.0)]
    same = again(first, [card("b", 0.121), card("a", 0.100), card("new", 1.0)])
    assert "| b | 110 | 121 | 10.0 |" in same
    assert same.endswith(
        "medians of 2 engines are within 10.0 % of each other (typically 5.0 %); the ranking is the"
        " same."
    )
    assert "these changed places: a and b (112 and 111 ms)" in again(
        first, [card("b", 0.111), card("a", 0.112)]
    )
    with pytest.raises(ConfigError, match="their processors differ"):
        again(first, [card("a", 0.1, "two")])
    with pytest.raises(ConfigError, match="No engine is in both"):
        again(first, [card("c", 0.1)])


def test_where_to_listen() -> None:
    assert [main_clock(names) for names in ([], ["given"], ["given", "x", "y"], ["x"])] == [
        "given",
        "given",
        "x",
        "x",
    ]


def test_the_steps_of_a_field_are_commands() -> None:
    assert {"card", "compare"} <= set(STEPS)
