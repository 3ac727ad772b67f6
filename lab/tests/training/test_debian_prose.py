"""Sentences of Debian's documents for a corpus: known words alone, each sentence in one split."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayahead_lab.training.lexicons import debian_prose as script


def test_splits_have_no_sentence_in_common_and_only_words_of_the_dictionary(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = "le la vent soulève feuille rouge jusqu du chemin qui mène à l'île".replace(
        "'", " "
    ).split()
    good = [
        f"Le vent soulève la feuille {'rouge ' * (number % 7)}jusqu'à"
        f" l'île{' qui mène' * (number // 7)}."
        for number in range(28)
    ]
    bad = [
        "Le vent soulève la feuille de Windows jusqu'à l'île.",
        "Le vent soulève les 12 feuilles jusqu'à l'île.",
        "Le vent (rouge) soulève la feuille du chemin.",
        "Le vent.",
    ]
    monkeypatch.setattr(script, "sentences", lambda folder, language, source: [*good, *bad])
    monkeypatch.setattr(script, "dictionary", lambda folder, language: words)
    monkeypatch.setattr(script, "fetch", lambda folder, language: None)
    monkeypatch.setattr(script, "SOURCES", {"fr": {"help": 20, "stories": 20}})
    monkeypatch.setattr(script, "SPLITS", {"test": 5, "val": 3})
    script.main([str(tmp_path), "-o", str(tmp_path / "texts")])
    found = {
        split: [
            line.split("|")
            for line in (tmp_path / "texts" / f"fr.{split}").read_text().splitlines()
        ]
        for split in ("train", "val", "test")
    }
    texts = [text for lines in found.values() for _, text in lines]
    assert (len(found["test"]), len(found["val"])) == (5, 3)
    assert len(texts) == len(set(texts)) >= 20
    assert set(texts) <= set(good)
    assert found["test"][4][0] == "fr-test-0004"
    assert script.corpus(tmp_path, "fr") == {
        split: [text for _, text in found[split]] for split in found
    }
