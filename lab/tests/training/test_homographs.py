"""The model that chooses among readings of homographs is learned from sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayahead_lab.training import homographs
from sayahead_lab.training.homographs import main, read_readings, right_share, trained, written

HEAD = '"homograph"\t"wordid"\t"sentence"\t"start"\t"end"\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Sentences in which "to" and "the" tell two readings apart."""
    for part in ("train", "eval"):
        folder = tmp_path / "data" / part
        folder.mkdir(parents=True)
        rows = [HEAD]
        for name in ("man", "woman", "child", "cat", "dog"):
            for kind, sentence in (
                ("vrb", f"The {name} wants to record it."),
                ("nou", f"The {name} keeps the record."),
            ):
                start = sentence.index("record")
                rows.append(f'"record"\t"record_{kind}"\t"{sentence}"\t{start}\t{start + 6}\n')
        (folder / "record.tsv").write_text("".join(rows), encoding="utf-8")
    return tmp_path


def test_what_is_learned_is_written_and_read_right(data: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("reading\tsentence\nrecord_vrb\tI *record it.\n", encoding="utf-8")
    model, shares = trained(data, own, held_out=5, steps=20)
    assert shares == [1.0, 1.0]
    words, _, weights = written(model).partition("\n\n")
    assert any(line.startswith("record nou ") for line in words.splitlines())
    assert all(len(line.split()) == 3 for line in weights.splitlines())
    sentences = [("record_nou", "Every cat keeps the record.", 20)]
    seen = homographs.Surroundings().examples(iter(sentences), model.readings, 1)
    assert right_share(list(seen), model) == 1.0


def test_the_products_model_reads_the_test_sentences(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(data), "--test"])
    assert "k=1: 1.0000 of 10" in capsys.readouterr().out


def test_readings_are_named_by_their_kind() -> None:
    readings = read_readings(homographs.RECIPE / "readings.tsv")
    assert readings["read"].keys() == {"past", "present"}
    assert readings["isolate"].keys() == {"nou", "plain"}
