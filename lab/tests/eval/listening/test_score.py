"""Scoring and the evaluation's command line, from a matrix to scores; listeners are stand-ins."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab_support.listeners import Counting, plain, rate
from sayahead.cli import main
from sayahead.sound.files import read_wav, write_wav

from sayahead_lab.eval.experiment.trace import read_traces
from sayahead_lab.eval.listening.quality import MEASURES, Listeners
from sayahead_lab.eval.listening.score import score
from sayahead_lab.eval.report.tables import as_markdown, further_tables

MATRIX = """
count = 2
[[conditions]]
name = "full"
policy = "wait-all"
[[conditions]]
name = "k = 1"
[[clocks]]
name = "llm"
kind = "tokens"
"""


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (folder / "texts.csv").write_text(
        "a|Hello there, my friend.\nb|How are you?\n", encoding="utf-8"
    )
    texts = str(folder / "texts.csv")
    out = folder / "out"
    assert main(["eval", "run", str(folder / "matrix.toml"), "--texts", texts, "-o", str(out)]) == 0
    return out


@pytest.fixture
def experiment(spoken: Path, tmp_path: Path) -> Path:
    return shutil.copytree(spoken, tmp_path / "out")


def test_scores_come_from_the_folder_alone_and_are_not_made_twice(experiment: Path) -> None:
    about = json.loads((experiment / "experiment.json").read_text(encoding="utf-8"))
    assert about["conditions"] == ["full", "k = 1"]
    assert (
        about["settings"]["k = 1"]["policy"]
        == "lookahead:k=1,first_chunk=1,chunk=1,words=1,in_chunks=false,first_letters=0"
    )
    ear = Counting()
    listeners = Listeners(
        transcriber=ear, normalizer=plain, distillmos=rate, dnsmos=rate, utmos=rate
    )
    for _ in range(2):
        assert score(experiment, listeners=listeners) == []
    assert ear.heard == 4
    quality = json.loads((experiment / "k = 1" / "quality.json").read_text(encoding="utf-8"))
    # "how are you" was heard as "hello there my friend": four errors in seven words.
    assert quality["summary"]["wer"]["value"] == pytest.approx(4 / 7)
    assert quality["against"]["wer"]["value"] == 0
    assert {row["name"] for row in quality["rows"]} == {"a", "b"}
    latency = json.loads(
        (experiment / "k = 1" / "latency" / "llm.json").read_text(encoding="utf-8")
    )
    whole = json.loads((experiment / "full" / "latency" / "llm.json").read_text(encoding="utf-8"))
    assert latency["ideal_first_audible_s"]["mean"] < whole["ideal_first_audible_s"]["mean"]
    (experiment / "full" / "wav" / "a.wav").unlink()
    (experiment / "full" / "quality.json").unlink()
    assert main(["eval", "report", str(experiment / "nowhere")]) == 2


def ears() -> tuple[Counting, Listeners]:
    ear = Counting()
    return ear, Listeners(transcriber=ear, normalizer=plain, distillmos=rate, dnsmos=rate)


def quality_of(experiment: Path, condition: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (experiment / condition / "quality.json").read_text(encoding="utf-8")
    )
    return found


def test_streamed_sound_is_held_against_the_full_sentence_and_the_same_text_at_once(
    experiment: Path,
) -> None:
    score(experiment, listeners=ears()[1])
    full, streamed = (quality_of(experiment, name) for name in ("full", "k = 1"))
    found = streamed["summary"]
    trace = next(read_traces(experiment / "k = 1" / "llm.jsonl"))
    rows = {row["name"]: row for row in streamed["rows"]}
    assert rows[trace.name]["seams"]["seams"] == len(trace.chunks) - 1
    assert rows[trace.name]["seams"]["compared"] == len(trace.chunks) - 1
    assert found["seams"]["value"] == np.mean([row["seams"]["seams"] for row in rows.values()])
    assert found["one_shot_difference"] == {"value": 0.0, "low": None, "high": None, "sentences": 2}
    assert 0 < found["word_rmse_ms"]["value"] < 200
    assert found["word_correlation"]["value"] > 0.5
    assert 0 < found["pitch_rmse_cents"]["value"] < 400
    # By phoneme a word's deviation is smaller.
    assert 0 < found["phoneme_rmse_ms"]["value"] < found["word_rmse_ms"]["value"] / 2
    assert {"seam_click_rate", "word_ms", "pitch_cents"} <= streamed["against"].keys()
    # The full sentence has no seams, and is not held against itself.
    assert full["summary"]["seams"]["value"] == 0
    assert "word_rmse_ms" not in full["summary"]
    assert full["summary"]["one_shot_equal"]["value"] == 1


def test_every_measure_has_its_place_in_a_table() -> None:
    # Whatever can stand in a quality.json: figures, and differences.
    alone = {measure.name for measure in MEASURES if measure.alone} | {"one_shot_difference"}
    apart = {f"against {measure.name}" for measure in MEASURES if measure.compared}
    row = {key: {"mean": 0.25, "low": 0.125, "high": 0.5, "sentences": 3} for key in alone | apart}
    shown = {
        f"{prefix}{key}"
        for key in ("wer", "cer", "distillmos", "dnsmos")
        for prefix in ("", "against ")
    }
    tables = {table.stem: table for table in further_tables({"k = 1": row}, shown)}
    assert list(tables) == ["seams", "prosody", "one-shot", "long-text", "further"]
    titles = [column.title for table in tables.values() for column in table.columns]
    assert len(set(titles)) == len(titles) == len((alone | apart) - shown) + 2
    assert [column.title for column in tables["further"].columns][:2] == [
        "UTMOS",
        "UTMOS: difference",
    ]
    assert "25.0 (12.5 to 50.0)" in as_markdown(tables["seams"])
    # One that no table knows is seen all the same; without any there is no table.
    found = further_tables({"k = 1": {"new_metric": {"mean": 1.0}}})
    assert [(table.stem, table.columns[0].title) for table in found] == [("further", "new metric")]
    assert further_tables({"k = 1": {}}) == []


def test_a_peer_has_no_columns_that_need_the_engine(experiment: Path) -> None:
    path = experiment / "experiment.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    del about["settings"]["k = 1"]
    path.write_text(json.dumps(about), encoding="utf-8")
    score(experiment, listeners=ears()[1])
    found = quality_of(experiment, "k = 1")["summary"]
    assert {"wer", "distillmos", "seams", "seam_jump_excess"} <= found.keys()
    assert (
        not {"word_rmse_ms", "pitch_rmse_cents", "seam_gap_rate", "one_shot_equal"} & found.keys()
    )


def test_a_new_column_does_not_have_the_others_made_again(experiment: Path) -> None:
    ear, listeners = ears()
    score(experiment, listeners=listeners)
    before = quality_of(experiment, "k = 1")
    assert "utmos" not in before["summary"]
    lines = (experiment / "k = 1" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    again = Counting()
    more = Counting()
    score(
        experiment,
        listeners=Listeners(
            transcriber=again, normalizer=plain, distillmos=rate, dnsmos=rate, utmos=lambda x: 4.0
        ),
    )
    after = quality_of(experiment, "k = 1")
    assert (ear.heard, again.heard) == (4, 0)
    assert after["summary"].pop("utmos")["value"] == 4.0
    assert after["summary"] == before["summary"]
    kept = (experiment / "k = 1" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert kept[: len(lines)] == lines
    assert len(kept) == len(lines) + 2
    # A line that was cut short is made again, and nothing else.
    text = (experiment / "k = 1" / "scores.jsonl").read_text(encoding="utf-8")
    cut = text.index("transcript: given")
    (experiment / "k = 1" / "scores.jsonl").write_text(text[:cut], encoding="utf-8")
    score(
        experiment,
        listeners=Listeners(transcriber=more, normalizer=plain, distillmos=rate, dnsmos=rate),
    )
    assert more.heard == 2
    assert quality_of(experiment, "k = 1")["summary"] == before["summary"]


def test_other_sound_is_listened_to_again_and_found_to_be_another(experiment: Path) -> None:
    score(experiment, listeners=ears()[1])
    path = experiment / "k = 1" / "wav" / "a.wav"
    samples, sample_rate = read_wav(path)
    # A click of an eighth of full scale at the second chunk's first sample.
    at = next(read_traces(experiment / "k = 1" / "llm.jsonl")).chunks[1].start
    samples[at] += 0.125 if samples[at] < 0 else -0.125
    write_wav(path, samples, sample_rate)
    before = {row["name"]: row for row in quality_of(experiment, "k = 1")["rows"]}
    ear, listeners = ears()
    score(experiment, listeners=listeners)
    assert ear.heard == 1
    quality = quality_of(experiment, "k = 1")
    assert quality["summary"]["one_shot_difference"]["value"] == pytest.approx(0.125, abs=1e-3)
    assert quality["summary"]["one_shot_equal"]["value"] == 0.5
    after = {row["name"]: row for row in quality["rows"]}
    assert after["b"] == before["b"]
    assert after["a"]["seams"]["clicks"] >= max(1, before["a"]["seams"]["clicks"])


@pytest.mark.slow
def test_several_processes_say_the_same(experiment: Path) -> None:
    made = []
    for jobs in (1, 2):
        for name in ("full", "k = 1"):
            (experiment / name / "scores.jsonl").unlink(missing_ok=True)
        score(experiment, listeners=ears()[1], jobs=jobs)
        made.append([quality_of(experiment, name) for name in ("full", "k = 1")])
    assert made[0] == made[1]


def test_one_shot_equality_wants_the_language_model_of_the_run(experiment: Path) -> None:
    path = experiment / "experiment.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    about["settings"]["k = 1"]["context"] = "lm"
    path.write_text(json.dumps(about), encoding="utf-8")
    said = score(experiment, listeners=ears()[1])
    assert any("one-shot equality of conditions with a language model" in line for line in said)
    assert "one_shot_equal" not in quality_of(experiment, "k = 1")["summary"]
    assert "one_shot_equal" in quality_of(experiment, "full")["summary"]


def test_a_full_sentence_of_other_words_is_noted(experiment: Path) -> None:
    path = experiment / "full" / "llm.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"text": "friend."', '"text": "foe."'), encoding="utf-8")
    said = score(experiment, listeners=ears()[1])
    assert "Left out: prosody of a, k = 1: its full sentence has other words." in said
    assert quality_of(experiment, "k = 1")["summary"]["word_rmse_ms"]["sentences"] == 1


def test_a_column_that_is_not_wanted_is_left_out_and_said_to_be(experiment: Path) -> None:
    _, listeners = ears()
    notes = score(experiment, listeners=listeners, without=("dnsmos",))
    assert "Left out: dnsmos, as asked." in notes
    found = quality_of(experiment, "k = 1")
    assert "dnsmos" not in found["columns"]
    assert "dnsmos" not in found["summary"]
    assert "distillmos" in found["summary"]


def test_listeners_that_are_missing_are_named(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "score", str(experiment), "--whisper", str(experiment / "no-model")]) == 0
    said = capsys.readouterr().err
    assert "no-model" in said or "pip install" in said
    assert (experiment / "full" / "latency" / "llm.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "sore", "x"], "'sore' is not known (did you mean 'score'?)"),
        (
            ["eval", "score", "x", "--texts", "t"],
            "--texts belongs to sayahead eval run, not to score",
        ),
        (
            ["eval", "report", "x", "--jobs", "2"],
            "--jobs belongs to sayahead eval run, score and card, not to report",
        ),
        (
            ["eval", "run", "x", "--no-page"],
            "--no-page belongs to sayahead eval report, not to run",
        ),
        (["eval", "run", "missing.toml"], "needs --out"),
        (["eval", "score", "nowhere"], "nowhere is no folder of an experiment"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as end:
        code = int(str(end.code))
    assert code == 2
    assert message in capsys.readouterr().err


def test_an_unknown_peer_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "t.csv").write_text("a|Hi.\n", encoding="utf-8")
    run = [
        "eval",
        "run",
        str(tmp_path / "m.toml"),
        "--texts",
        str(tmp_path / "t.csv"),
        "-o",
        str(tmp_path / "o"),
    ]
    assert main([*run, "--peers", "hibary"]) == 2
    assert "'hibary' is not known (did you mean 'hibari'?)" in capsys.readouterr().err
