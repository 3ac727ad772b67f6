"""The judge of reading: what is recorded of a front end, and what is told of two that differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sayahead.errors import ConfigError

from sayahead_lab.eval.text.differences import class_of, compare, read_accepted, report
from sayahead_lab.eval.text.snapshot import Front, costs, load, sample, snapshot, write

TOY = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Word:
    text: str
    start: int
    end: int
    ends: bool = False
    continues: bool = False

class Normalizer:
    """Words at white space, one that ends in "?" a character later; "!" raises."""

    def __init__(self):
        self.text, self.at, self.skipped = "", 0, []

    def push(self, fragment):
        words = []
        for char in fragment:
            if char == "!":
                raise IndexError("no such mark")
            self.text += char
            if char == " " and not self.text.endswith("? "):
                words += self.flush()
        return words

    def flush(self):
        source = self.text[self.at:].rstrip()
        word = Word(source.lower() + SUFFIX, self.at, self.at + len(source), source.endswith("."))
        self.at = len(self.text)
        return [word] if source else []

class Toy:
    def __init__(self, language):
        self.language = language

    def normalizer(self, start=0):
        return Normalizer()
'''


def toy(folder: Path, *, suffix: str = "") -> Front:
    """A checkout with a front end that adds something to every word."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "toy.py").write_text(f"SUFFIX = {suffix!r}\n{TOY}", encoding="utf-8")
    return Front(folder, "toy:Toy")


def judge(row: Mapping[str, Any]) -> bool | None:
    """Whether the first word is the accepted one."""
    return row["words"][0][0] == row["accepted"] if "accepted" in row else None


def rows(*texts: str) -> list[dict[str, Any]]:
    """Rows of prose, and one with a right answer."""
    told = {"set": "golden", "tag": "xx", "text": "Ja.", "accepted": "ja."}
    return [told, *({"set": "prose", "tag": "xx", "text": text} for text in texts)]


def test_words_and_when_they_are_final(tmp_path: Path) -> None:
    header, *found = snapshot(toy(tmp_path), "xx", rows("So? Ja gut"), judge, jobs=2, repeats=1)
    assert found[0]["words"] == [["ja.", 0, 3, 1, 1]]
    assert found[0]["right"] is True
    assert found[1]["words"] == [["so? ja", 0, 6, 0, 1], ["gut", 7, 10, 0, 1]]
    assert "right" not in found[1]
    assert header["cold"]["memory_mb"] > 0
    assert header["cost_us"]["prose, whole"][0] > 0


def test_an_error_is_a_reading(tmp_path: Path) -> None:
    _, _, found = snapshot(toy(tmp_path), "xx", rows("So!"), judge, repeats=0)
    assert found["error"] == "IndexError: no such mark"


def test_what_differs_is_told(tmp_path: Path) -> None:
    for name, suffix in (("old", ""), ("new", "a")):
        write(
            tmp_path / name,
            snapshot(toy(tmp_path / f"{name} tree", suffix=suffix), "xx", rows("So ist es"), judge),
        )
    found = compare(tmp_path / "old", tmp_path / "new")
    assert [(one.kind, one.change) for one in found.differences] == [
        ("words", ""),
        ("words", "right -> wrong"),
    ]
    assert found.finality["word"].before == [1, 1, 1]
    told = report(found)
    assert "| golden | 1 | 0 | 1 | 0 |" in told
    assert "- so ist es\n    + soa ista esa" in told
    assert not compare(tmp_path / "old", tmp_path / "old").differences


def test_a_word_that_waits_longer_is_told(tmp_path: Path) -> None:
    old = tmp_path / "old"
    new = tmp_path / "new"
    write(old, snapshot(toy(tmp_path / "tree"), "xx", rows("So ist"), judge, repeats=0))
    header, found = load(old)
    later = [
        {**row, "words": [[*word[:-1], word[-1] + 2] for word in row["words"]]}
        for row in found.values()
    ]
    write(new, [header, *later])
    compared = compare(old, new)
    assert not compared.differences
    assert (compared.finality["word"].later, compared.finality["word"].earlier) == (2, 0)
    assert compared.finality["word"].after == [3, 3]


def test_an_accepted_difference_is_counted_apart(tmp_path: Path) -> None:
    for name, suffix in (("old", ""), ("new", "a")):
        write(
            tmp_path / name,
            snapshot(toy(tmp_path / f"{name} tree", suffix=suffix), "xx", rows("So"), judge),
        )
    (tmp_path / "accepted").write_text("better\txx\tSo\tsoa\n")
    found = compare(tmp_path / "old", tmp_path / "new", read_accepted(tmp_path / "accepted"))
    assert found.accepted == {"better": 1}
    assert [one.row["text"] for one in found.differences] == ["Ja."]
    (tmp_path / "accepted").write_text("nice\txx\tSo\tsoa\n")
    with pytest.raises(ConfigError, match="line 1"):
        read_accepted(tmp_path / "accepted")


def test_costs_are_those_of_golden_texts_and_prose(tmp_path: Path) -> None:
    lines = sample([*rows("So", "Ja"), {"set": "generator", "text": "nein"}])
    assert lines.count("\n") == 3
    found = costs(toy(tmp_path), "xx", lines, 3)
    assert set(found) == {
        f"{name}, {way}" for name in ("golden", "prose") for way in ("whole", "characters")
    }
    assert {len(turns) for turns in found.values()} == {3}


@pytest.mark.parametrize(
    ("source", "ends", "name"),
    [
        ("don't", False, "word"),
        ("word,", False, "word"),
        ("there.", True, "word, ends a sentence"),
        ("Dr.", False, "abbreviation"),
        ("1,250", False, "number"),
        ("$3.50", False, "money"),
        ("3,50 €", False, "money"),
        ("12/10/2024", False, "date"),
        ("3. März", False, "date"),
        ("8:30", False, "time"),
        ("5 km", False, "percent and unit"),
        ("B22", False, "letters and figures"),
        ("NASA", False, "capitals"),
        ("—", False, "sign"),
        ("a@b.com", False, "address"),
        ("3–5", False, "range and ratio"),
    ],
)
def test_classes_of_words(source: str, ends: bool, name: str) -> None:
    assert class_of(source, ends=ends) == name
