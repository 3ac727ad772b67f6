"""Voices and commands as teachers: they speak the texts, and the aligner finds the phonemes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from sayahead import load_voice
from sayahead.cli import main
from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.spoken import SpokenSpec, load_teacher
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.corpus.teacher import TeacherSpec

TEXT = "The printed letters should be beautiful. They were not."
SAYS = "import sys; sys.stdin.read(); sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"


def corpus(folder: Path, *arguments: str, text: str = TEXT) -> Corpus:
    (folder / "train.csv").write_text(f"A-1|{text}\n", encoding="utf-8")
    given = [
        "train",
        "corpus",
        str(folder / "made"),
        "--train",
        str(folder / "train.csv"),
        *arguments,
    ]
    assert main(given) == 0
    return Corpus(folder / "made")


def check(item: Item, own: Item) -> None:
    """Words begin and end where the default voice itself says that they do, within 50 ms."""
    for name in ("text", "ids", "words"):
        assert np.array_equal(getattr(item, name), getattr(own, name)), name
    assert int(item.durations.sum()) == len(item.mel) == len(item.f0)
    edges, theirs = (np.cumsum(one.durations)[one.words[:, 0]] for one in (item, own))
    assert np.abs((edges - edges[0]) - (theirs - theirs[0])).max() <= 4


def test_a_voice_says_what_a_corpus_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = corpus(tmp_path, "--teacher", "heart", "--seed", "3")
    assert made.info.source["kind"] == "spoken"
    assert made.info.source["voice"] == "heart"
    assert (made.info.punctuation, made.info.seed) == ("final", 3)
    items = list(made.split("train"))
    own, _ = TeacherSpec(PRESETS["ma"], "final").open().items("A-1", TEXT)
    assert [item.name for item in items] == ["A-1.1", "A-1.2"]
    for item, theirs in zip(items, own, strict=True):
        check(item, theirs)
        assert item.audio is not None
        assert len(item.audio) == len(item.mel) * 300
    again, _ = SpokenSpec(PRESETS["ma"], teacher="heart", noise=3).open().items("A-1", TEXT)
    assert np.array_equal(again[0].mel, items[0].mel)
    assert "2 items" in capsys.readouterr().err


def test_a_command_says_what_a_corpus_has(tmp_path: Path) -> None:
    """Its rate is that of what it writes, and its phonemes are the front end's."""
    text = "The printed letters should be beautiful."
    write_wav(
        tmp_path / "said.wav", load_voice().synthesize(text, policy="wait-all"), sample_rate=24000
    )
    command = shlex.join([sys.executable, "-c", SAYS, str(tmp_path / "said.wav")])
    assert load_teacher(command).sample_rate == 24000
    made = corpus(tmp_path, "--teacher", command, "--front-end", "saeki", text=text)
    assert made.info.source["command"] == command
    (item,) = made.split("train")
    assert item.text == text
    assert made.info.phonemes == TeacherSpec(PRESETS["ma"]).about().phonemes
    # What does not sound like its text is an error, or left out.
    with pytest.raises(ConfigError, match="does not sound like its text"):
        SpokenSpec(PRESETS["ma"], teacher=command).open().items(
            "A-2", "Nobody would have believed it at that hour."
        )
    left = SpokenSpec(PRESETS["ma"], teacher=command, skip_missing=True).open()
    assert left.items("A-2", "Nobody would have believed it at that hour.")[0] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--teacher", "no-such-thing --stdout"], "neither a voice"),
        (["--teacher", ""], "neither a voice"),
        (["--teacher", "'"], "No closing quotation"),
        (["--teacher", shlex.join([sys.executable, "-c", "print('no sound')"])], "no WAV file"),
        (
            ["--teacher", shlex.join([sys.executable, "-c", "raise SystemExit(3)"])],
            "ended with code 3",
        ),
        (["--teacher", "heart", "--features"], "leave it out, or --teacher"),
        (["--teacher", "heart", "--alignments", "somewhere"], "needs --recordings"),
        (["--teacher", "heart", "--recordings", "somewhere"], "applies to the voice"),
    ],
)
def test_what_is_no_teacher_is_refused(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.csv").write_text(f"A-1|{TEXT}\n", encoding="utf-8")
    assert (
        main(
            [
                "train",
                "corpus",
                str(tmp_path / "made"),
                "--train",
                str(tmp_path / "train.csv"),
                *arguments,
            ]
        )
        != 0
    )
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
