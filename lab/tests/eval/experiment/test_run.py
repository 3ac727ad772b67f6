"""Experiments: from one TOML to traces and sound, and on again after a stop."""

from __future__ import annotations

import json
import tomllib
import wave
from dataclasses import asdict
from pathlib import Path

import pytest
from lab_support.textgrid import GRID
from sayahead import ConfigError, Voice, load_voice
from sayahead.research import Truth

from sayahead_lab.eval.experiment.conditions import (
    Condition,
    context,
    load_matrix,
    recorded_condition,
    voice,
)
from sayahead_lab.eval.experiment.run import run
from sayahead_lab.eval.experiment.trace import read_traces
from sayahead_lab.overrides import override
from sayahead_lab.scripts import read_texts, strided
from sayahead_lab.workers import Local

MATRIX = """
count = 2
[[conditions]]
name = "whole"
policy = "wait-all"
[[conditions]]
name = "k = 0, random"
policy = "lookahead:k=0"
context = { name = "random", count = 5 }
[[clocks]]
name = "llm"
kind = "tokens"
[[clocks]]
name = "typist"
kind = "typist:words_per_min=60"
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(
        "a|Hello there.\nb|Not this one.\nc|How are you?\nd|Nor this.\n", encoding="utf-8"
    )
    return tmp_path


def test_keys_have_other_values_without_a_copy_of_the_file(files: Path) -> None:
    texts = [
        "count=3",
        "conditions.whole.policy=lookahead:k=2",
        "conditions.*.seed=7",
        "clocks.1.name=slow",
    ]
    matrix = load_matrix(files / "matrix.toml", [override(text) for text in texts])
    assert matrix.count == 3
    whole = next(one for one in matrix.conditions if one.name == "whole")
    assert whole.policy.startswith("lookahead:k=2,")
    assert {one.seed for one in matrix.conditions} == {7}
    assert matrix.clocks[1].name == "slow"
    with pytest.raises(ConfigError, match=r"there is no 'whol' \(did you mean 'whole'"):
        load_matrix(files / "matrix.toml", [override("conditions.whol.seed=1")])


def test_a_run_and_its_continuation(files: Path) -> None:
    matrix = load_matrix(files / "matrix.toml")
    texts = strided(read_texts(files / "texts.csv"), 2)
    assert [text.name for text in texts] == ["a", "c"]
    out = files / "out"
    lines = list[str]()
    run(matrix, texts, out, progress=lines.append)
    assert len(lines) == 4
    for condition in ("whole", "k = 0, random"):
        for clock in ("llm", "typist"):
            traces = list(read_traces(out / condition / f"{clock}.jsonl"))
            assert [made.name for made in traces] == ["a", "c"]
            assert {(made.condition, made.clock) for made in traces} == {(condition, clock)}
            for made in traces:
                with wave.open(str(out / condition / "wav" / f"{made.name}.wav")) as sound:
                    assert sound.getnframes() == sum(chunk.samples for chunk in made.chunks)
    # Stopped in the middle of a line: only what is missing is made again.
    path = out / "whole" / "measured.jsonl"
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    again = list[str]()
    run(matrix, texts, out, progress=again.append)
    assert len(again) == 1
    assert [made.name for made in read_traces(out / "whole" / "llm.jsonl")] == ["a", "c"]
    (files / "texts.csv").write_text("a|Other words.\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds a with another text"):
        run(matrix, strided(read_texts(files / "texts.csv"), 1), out)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'policy = "wait-all"',
            'policy = "wait-al"',
            r"policy 'wait-al' is not known \(did you mean 'wait-all'",
        ),
        (
            'kind = "tokens"',
            'kind = "token"',
            r"Clock 'llm': kind 'token' is not known \(did you mean 'tokens'",
        ),
        ('"random"', '"rnd"', "Condition 'k = 0, random': context 'rnd' is not known"),
        ("count = 2", 'count = 2\ncomputing = "wall"', "unknown key 'computing'"),
        (
            'policy = "wait-all"',
            'computing = "cpu"',
            "computing is 'cpu', but must be wall or processor",
        ),
        (
            'policy = "wait-all"',
            'computing = "processor"\ncores = 1',
            "the time of several cores adds up",
        ),
        ("count = 5", "count = 5.5", "context 'random': count: expected int, found float 5.5"),
        (
            "count = 5",
            "counts = 5",
            r"context 'random': unknown option 'counts' \(did you mean 'count'",
        ),
        ("k=0", "k=-1", "k is -1"),
        ("k=0", "kk=0", "Condition 'k = 0, random': policy 'lookahead': unknown option 'kk'"),
        ('name = "random"', 'name = "lm"', "context 'lm': unknown option 'count'"),
        ('"lookahead:k=0"', "3", "policy is int 3, but must be a name"),
        ('"lookahead:k=0"', '"lookahead"\nk = 0', r"conditions\[1\]: unknown key 'k'"),
        ('name = "llm"', 'name = "typist"', "the name 'typist' appears twice"),
        ('name = "llm"', 'name = "a/b"', "cannot be the name of a folder"),
        ("count = 2", "count = 0", "count is 0"),
        ("count = 2", "count = ", "is not TOML"),
        ("words_per_min=60", "words_per_min=0", "words_per_min is 0"),
        ("words_per_min=60", "pace=60", "Clock 'typist': kind 'typist': unknown option 'pace'"),
    ],
)
def test_a_bad_matrix_says_where(files: Path, old: str, new: str, message: str) -> None:
    (files / "matrix.toml").write_text(MATRIX.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_matrix(files / "matrix.toml")


BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
EXPERIMENTS = [
    path
    for path in sorted(BENCHMARKS.rglob("*.toml"))
    if "[[conditions]]" in path.read_text("utf-8")
]
LISTS = tomllib.loads((BENCHMARKS / "prosody.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: str(path.relative_to(BENCHMARKS)))
def test_the_experiments_that_come_with_the_package_can_be_read(path: Path) -> None:
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["conditions"]
    assert len({Condition(**row).name for row in rows}) == len(rows) > 1
    # Those with voices that have to be trained first are read no further.
    if path.parent == BENCHMARKS:
        assert load_matrix(path).conditions[0].policy_name == "wait-all"


@pytest.mark.parametrize("name", LISTS)
def test_the_lists_of_conditions_whose_prosody_is_measured_can_be_read(name: str) -> None:
    rows = LISTS[name]
    assert len({Condition(**row).name for row in rows}) == len(rows) > 1


SHADOWING = (
    MATRIX[: MATRIX.index("[[clocks]]")]
    + """
[[clocks]]
name = "files"
kind = "word-ends"
folder = "ends"
[[clocks]]
name = "voice"
kind = "word-ends"
"""
)


def test_shadowing_a_speaker(files: Path) -> None:
    (files / "matrix.toml").write_text(SHADOWING, encoding="utf-8")
    with pytest.raises(ConfigError, match="Clock 'files': there is no folder"):
        load_matrix(files / "matrix.toml")
    (files / "ends").mkdir()
    matrix = load_matrix(files / "matrix.toml")
    texts = strided(read_texts(files / "texts.csv"), 2)
    out = files / "out"
    (files / "ends" / "a.json").write_text("[0.5, 1.25]", encoding="utf-8")
    # Before anything is measured.
    with pytest.raises(ConfigError, match=r"no word ends of c: neither c\.json nor c\.TextGrid"):
        run(matrix, texts, out)
    assert not out.exists()
    (files / "ends" / "c.TextGrid").write_text(GRID, encoding="utf-8")
    run(matrix, texts, out)
    traces = list(read_traces(out / "k = 0, random" / "files.jsonl"))
    assert [[f.at_s for f in made.fragments] for made in traces] == [[0.5, 1.25], [0.5, 0.75, 1.25]]
    # The voice speaks the whole sentence, and a word arrives when its sound there is over.
    speaker = list(read_traces(out / "speaker of voice" / "measured.jsonl"))
    heard = list(read_traces(out / "whole" / "voice.jsonl"))
    for made, shadow in zip(speaker, heard, strict=True):
        assert [f.at_s for f in shadow.fragments] == [
            word.offset_samples / made.sample_rate for word in made.words
        ]
        assert 0.3 < shadow.fragments[-1].at_s < made.duration_s
    before = (out / "speaker of voice" / "measured.jsonl").read_bytes()
    run(matrix, texts, out)
    assert (out / "speaker of voice" / "measured.jsonl").read_bytes() == before


def test_the_true_future_is_the_utterance_s_own(files: Path) -> None:
    (files / "matrix.toml").write_text(MATRIX.replace('"random"', '"truth"'), encoding="utf-8")
    condition = load_matrix(files / "matrix.toml").conditions[1]
    assert context(condition, "How are you?", None) == Truth.of("How are you?", 5)
    run(
        load_matrix(files / "matrix.toml"),
        strided(read_texts(files / "texts.csv"), 2),
        files / "out",
    )
    assert len(list(read_traces(files / "out" / condition.name / "llm.jsonl"))) == 2


def test_what_is_measured_is_kept_with_how_it_was_made(files: Path) -> None:
    texts = strided(read_texts(files / "texts.csv"), 2)
    out = files / "out"
    run(load_matrix(files / "matrix.toml"), texts[:1], out)
    run(load_matrix(files / "matrix.toml"), texts, out)
    about = json.loads((out / "k = 0, random" / "about.json").read_text(encoding="utf-8"))
    policy = "lookahead:k=0,first_chunk=1,chunk=1,words=1,in_chunks=false,first_letters=0"
    assert about["settings"]["policy"] == policy
    assert about["settings"]["context"] == "random:count=5,seed=0"
    assert [load["own_processes"] for load in about["load"]] == [1, 1]
    assert all(load["seconds"] >= 0 and load["other_cores"] >= 0 for load in about["load"])
    (files / "matrix.toml").write_text(MATRIX.replace("k=0", "k=1"), encoding="utf-8")
    message = (
        r"k = 0, random was measured with policy = 'lookahead:k=0,.* now 'lookahead:k=1,.*': give"
        r" the condition"
    )
    with pytest.raises(ConfigError, match=message):
        run(load_matrix(files / "matrix.toml"), texts, out)
    # Older results do not say how they were made; nothing is measured anew.
    (out / "k = 0, random" / "about.json").unlink()
    run(load_matrix(files / "matrix.toml"), texts, out)
    assert not (out / "k = 0, random" / "about.json").exists()
    (out / "k = 0, random" / "about.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"about\.json is not JSON"):
        run(load_matrix(files / "matrix.toml"), texts, out)


def test_conditions_by_cores(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "matrix.toml").write_text(
        MATRIX.replace('"lookahead:k=0"', '"lookahead:k=0"\ncores = 2'), encoding="utf-8"
    )
    matrix = load_matrix(files / "matrix.toml")
    texts = strided(read_texts(files / "texts.csv"), 1)
    loaded = list[int]()
    bindings = list[set[int]]()

    def load(name: str, *, threads: int) -> Voice:
        loaded.append(threads)
        return load_voice(name, threads=1)

    monkeypatch.setattr("sayahead_lab.eval.experiment.conditions.load_voice", load)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    monkeypatch.setattr(
        "os.sched_setaffinity", lambda process, cores: bindings.append(set(cores)), raising=False
    )
    voice.cache_clear()
    run(matrix, texts, files / "out")
    voice.cache_clear()
    assert loaded == [1, 2]
    # Warm, then measured; each time all cores are given back.
    assert bindings == [{3, 5}, {3, 5, 7}] * 2
    with pytest.raises(ConfigError, match="measure it with one process"):
        run(matrix, texts, files / "out", workers=Local(2))
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3}, raising=False)
    with pytest.raises(
        ConfigError,
        match="Condition 'k = 0, random' wants 2 processor cores, but this process may use 1",
    ):
        run(matrix, texts, files / "out")


def test_a_language_model_must_be_named(files: Path) -> None:
    lm = MATRIX.replace('{ name = "random", count = 5 }', '"lm:words=3"')
    (files / "matrix.toml").write_text(lm, encoding="utf-8")
    matrix = load_matrix(files / "matrix.toml")
    with pytest.raises(ConfigError, match="wants a language model: give --lm"):
        run(matrix, strided(read_texts(files / "texts.csv"), 1), files / "out")


def test_conditions_say_all_options_and_earlier_ones_are_understood() -> None:
    condition = Condition("a", policy={"name": "learned", "price": 2}, context="random:count=3")
    assert condition.policy == "learned:price=2,words_per_min=180.0"
    assert (condition.policy_name, condition.context_name) == ("learned", "random")
    assert condition.context == "random:count=3,seed=0"
    assert recorded_condition(asdict(condition), "file") == condition
    earlier = {
        "name": "b",
        "policy": "lookahead",
        "k": 2,
        "words": None,
        "first_chunk": 18,
        "chunk": 6,
        "price": 1.0,
    }
    earlier |= {"context": "truth", "context_words": 4, "words_per_min": 180.0, "speed": 1.5}
    read = recorded_condition(earlier, "file")
    assert read == Condition(
        "b", "lookahead:k=2,first_chunk=18,chunk=6", "truth:count=4", speed=1.5
    )
    with pytest.raises(ConfigError, match="file: unknown key 'kk'"):
        recorded_condition({"name": "c", "kk": 1}, "file")


@pytest.mark.parametrize("name", ["none", "distilled", "random"])
def test_a_context_is_spelled_as_its_voice_takes_it(name: str, heart: Voice) -> None:
    """The voice's own predictor was given an option of its maker's, and refused it."""
    assert heart.context(Condition("a", context=name).context) is not None
