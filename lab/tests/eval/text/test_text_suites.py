"""Suites of texts: what is found in a clone, what counts as the same reading, and who is judged
how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sayahead.cli import main
from sayahead.errors import ConfigError

from sayahead_lab.eval.text.judge import judge as judged_cases
from sayahead_lab.eval.text.judge import read_judged, shares, verdict_of
from sayahead_lab.eval.text.lenient import alike
from sayahead_lab.eval.text.suites import Case, cases_in

JUDGED = Path(__file__).parents[3] / "benchmarks" / "text" / "judged.tsv"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone" / "tests" / "nemo_text_processing"
    english = folder / "en" / "data_text_normalization"
    german = folder / "de" / "data_text_normalization"
    english.mkdir(parents=True)
    german.mkdir(parents=True)
    (english / "test_cases_money.txt").write_text(
        "It is $5~it is five dollars\nIt is $6~it is six bucks\n"
    )
    (english / "test_cases_normalize_with_audio.txt").write_text(
        "~room 12\nroom one two\nroom twelve\n~a 3\na three\n"
    )
    (german / "test_cases_cardinal.txt").write_text("drei und zwanzig~23\n")
    return tmp_path / "clone"


def test_cases_of_a_clone(clone: Path, tmp_path: Path) -> None:
    cases = cases_in(clone)
    assert [(case.language, case.kind, case.written) for case in cases] == [
        ("en", "money", "It is $5"),
        ("en", "money", "It is $6"),
        ("en", "with_audio", "room 12"),
        ("en", "with_audio", "a 3"),
        ("de", "cardinal", "23"),
    ]
    assert cases[2].spoken == ("room one two", "room twelve")
    other = tmp_path / "other" / "tn" / "english" / "test" / "data"
    other.mkdir(parents=True)
    (other / "date.txt").write_text("May 5 => may fifth\n")
    assert [case.spoken for case in cases_in(tmp_path / "other")] == [("may fifth",)]
    with pytest.raises(ConfigError, match="no clone of a known suite"):
        cases_in(tmp_path)


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("twenty twelve", "two oh one two", "en"),
        ("Two thousand and twelve.", "twenty twelve", "en"),
        ("negative five", "minus five", "en"),
        ("seven o'clock P.M.", "seven PM", "en"),
        ("the fifth of May", "May fifth", "en"),
        ("dreiundzwanzig", "drei und zwanzig", "de"),
        ("einhundertdrei", "ein hundert drei", "de"),
        ("mil doscientos y uno", "mil doscientos uno", "es"),
    ],
)
def test_one_reading(one: str, other: str, language: str) -> None:
    assert alike(one, other, language)


@pytest.mark.parametrize(
    ("one", "other"),
    [("May five", "May fifth"), ("fifteen", "fifty"), ("ten eleven", "one thousand twelve")],
)
def test_two_readings(one: str, other: str) -> None:
    assert not alike(one, other, "en")


def test_what_nobody_judged_is_wrong() -> None:
    case = Case("suite", "en", "money", "$5", ("five bucks",))
    assert verdict_of(case, "Five bucks!", {}) == "same"
    assert verdict_of(case, "five dollars", {}) == "wrong"
    assert verdict_of(case, "five dollars", {(case.key, "5dollars"): "why"}) == "other"
    rows = shares(judged_cases([case], lambda _: "six dollars", {}))
    assert [(row["class"], row["wrong"], row["not_wrong"]) for row in rows] == [
        ("all", 1, 0.0),
        ("money", 1, 0.0),
    ]


def test_the_command_writes_tables(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readings = tmp_path / "other.json"
    readings.write_text(
        json.dumps({"en\tIt is $5": "it is five dollars", "en\tIt is $6": "it is $6"})
    )
    out = tmp_path / "out"
    assert (
        main(["eval", "text", str(clone), "-o", str(out), "--readings", f"other={readings}"]) == 0
    )
    assert "| NeMo | en | money | 2 | 1 | 0 | 1 | 50.0 % |" in capsys.readouterr().out
    assert "| other (words) |  | 50.0 % |" in (out / "suites.md").read_text()
    assert len((out / "wrong.tsv").read_text().splitlines()) == 1


def test_the_list_of_judged_readings_has_a_reason_for_each() -> None:
    assert all(read_judged(JUDGED).values())
