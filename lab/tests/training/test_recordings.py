"""TextGrids, and corpora of recordings: tones as phones, aligned by hand."""

from __future__ import annotations

import re
import wave
from pathlib import Path

import numpy as np
import pytest
from sayahead.cli import main
from sayahead.errors import ConfigError

from sayahead_lab.eval.measures.textgrid import Interval, read_textgrid, tier
from sayahead_lab.training.corpus.arpabet import CONSONANTS, VOWELS, from_arpabet, front_end_table
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.recordings import RecordingSpec, read_recording, scan
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import voice_config

RATE = 22050
LONG = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2.0
tiers? <exists>
size = 3
item []:
    item [1]:
        class = "IntervalTier"
        name = "words"
        xmin = 0
        xmax = 2.0
        intervals: size = 5
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = ""
        intervals [2]:
            xmin = 0.5
            xmax = 0.9
            text = "no"
        intervals [3]:
            xmin = 0.9
            xmax = 1.1
            text = ""
        intervals [4]:
            xmin = 1.1
            xmax = 1.3
            text = "say"
        intervals [5]:
            xmin = 1.3
            xmax = 1.5
            text = "it"
    item [2]:
        class = "TextTier"
        name = "remarks"
        xmin = 0
        xmax = 2.0
        points: size = 1
        points [1]:
            number = 0.7
            mark = "a ""loud"" 5 [1]: one"
    item [3]:
        class = "IntervalTier"
        name = "phones"
        xmin = 0
        xmax = 2.0
        intervals: size = 9
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = ""
        intervals [2]:
            xmin = 0.5
            xmax = 0.7
            text = "N"
        intervals [3]:
            xmin = 0.7
            xmax = 0.9
            text = "OW1"
        intervals [4]:
            xmin = 0.9
            xmax = 1.1
            text = "sil"
        intervals [5]:
            xmin = 1.1
            xmax = 1.2
            text = "S"
        intervals [6]:
            xmin = 1.2
            xmax = 1.3
            text = "EY1"
        intervals [7]:
            xmin = 1.3
            xmax = 1.4
            text = "IH1"
        intervals [8]:
            xmin = 1.4
            xmax = 1.5
            text = "T"
        intervals [9]:
            xmin = 1.5
            xmax = 2.0
            text = ""
"""
SHORT = '''File type = "ooTextFile"
Object class = "TextGrid"

0
1.5
<exists>
1
"IntervalTier"
"anna - words"
0
1.5
2
0
0.5
""
0.5
1.5
"says ""hm"""
'''


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding=encoding)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two recordings in LJ Speech's layout: 150 Hz between 0.5 and 0.9 s, 250 Hz between 1.1 and
    1.5 s."""
    root = tmp_path / "LJSpeech-1.1"
    write(root / "metadata.csv", 'R-1|No. Say it!|No, "say it"!\nR-2|No. Say it!|No, say it.\n')
    time_s = np.arange(2 * RATE) / RATE
    sound = 0.4 * np.sin(2 * np.pi * 150 * time_s) * ((time_s >= 0.5) & (time_s < 0.9))
    sound += 0.4 * np.sin(2 * np.pi * 250 * time_s) * ((time_s >= 1.1) & (time_s < 1.5))
    (root / "wavs").mkdir()
    for name in ("R-1", "R-2"):
        with wave.open(str(root / "wavs" / f"{name}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((sound * 32767).astype("<i2").tobytes())
        write(tmp_path / "aligned" / "speaker" / f"{name}.TextGrid", LONG)
    return tmp_path


def command(folder: Path, *options: str) -> int:
    paths = ["--recordings", str(folder / "LJSpeech-1.1"), "--alignments", str(folder / "aligned")]
    return main(["train", "corpus", str(folder / "out"), *paths, *options])


def test_long_and_short_text_grids(tmp_path: Path) -> None:
    tiers = read_textgrid(write(tmp_path / "a.TextGrid", LONG))
    assert list(tiers) == ["words", "phones"]
    assert tiers["words"][1] == Interval(0.5, 0.9, "no")
    assert [phone.label for phone in tiers["phones"]] == [
        "",
        "N",
        "OW1",
        "sil",
        "S",
        "EY1",
        "IH1",
        "T",
        "",
    ]
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = write(tmp_path / "b.TextGrid", SHORT, encoding)
        assert tier(read_textgrid(path), "words", path) == [
            Interval(0, 0.5, ""),
            Interval(0.5, 1.5, 'says "hm"'),
        ]


def test_what_is_no_text_grid_is_named(tmp_path: Path) -> None:
    for text in (
        "",
        "words",
        LONG[: len(LONG) // 2],
        SHORT.replace("1.5\n2\n", "1.5\n9\n"),
        SHORT[:-16],
    ):
        with pytest.raises(ConfigError, match=r"a\.TextGrid is not a TextGrid"):
            read_textgrid(write(tmp_path / "a.TextGrid", text))
    with pytest.raises(ConfigError, match=r"b\.TextGrid cannot be read"):
        read_textgrid(tmp_path / "b.TextGrid")
    (tmp_path / "c.TextGrid").write_bytes(b"\xff\x00\xfe")
    with pytest.raises(ConfigError, match="neither UTF-8"):
        read_textgrid(tmp_path / "c.TextGrid")
    with pytest.raises(ConfigError, match="no tiers named 'phones'"):
        tier({"words": []}, "phones", tmp_path)


def test_a_recording_becomes_an_item(folder: Path) -> None:
    pytest.importorskip("soxr")
    assert command(folder) == 0
    corpus = Corpus(folder / "out")
    # The front end's own symbols and ids, so that a voice reads what it learned.
    assert corpus.info.phonemes == dict(voice_config().phonemes)
    assert (corpus.info.pad, corpus.info.punctuation) == (0, "none")
    item, other = corpus.split("train")
    assert (item.name, item.text, other.text) == ("R-1", 'No, "say it"!', "No, say it.")
    symbols = {number: symbol for symbol, number in corpus.info.phonemes.items()}
    assert [symbols[i] for i in item.ids] == ["n", "ˈ", "O", " ", "s", "ˈ", "A", " ", "ˈ", "ɪ", "t"]
    assert item.words.tolist() == [[0, 3], [4, 7], [8, 11]]
    # 12.5 ms a frame; 4 frames in front, 12 behind; the pause between two words belongs to the
    # space.
    assert item.durations.tolist() == [4, 16, 0, 16, 16, 8, 0, 8, 0, 0, 8, 8, 12]
    assert item.audio is not None
    assert len(item.mel) == len(item.f0) == len(item.audio) / 300 == 96
    np.testing.assert_allclose(item.f0[8:32], 150, rtol=0.01)
    np.testing.assert_allclose(item.f0[56:80], 250, rtol=0.01)
    assert (item.f0[:2] == 0).all()
    level = np.abs(item.audio.reshape(-1, 300)).max(axis=1)
    assert (level[4:36] > 10000).all()
    assert (level[38:50] < 200).all()


def test_arpabet_becomes_the_front_end_s_symbols() -> None:
    own = voice_config().phonemes
    assert [
        from_arpabet(label) for label in ("T", "W", "AH0", "AH1", "ER0", "ER2", "OY1", "NG")
    ] == ["t", "w", "ə", "ˈʌ", "əɹ", "ˌɜɹ", "ˈY", "ŋ"]
    assert [from_arpabet(label) for label in ("AH3", "X", "B1", "", "spn")] == [None] * 5
    assert all(
        symbol in own
        for label in (*CONSONANTS, *(f"{v}{s}" for v in VOWELS for s in "012"))
        for symbol in from_arpabet(label) or "?"
    )
    # T and W are in both: the labels as a whole decide.
    assert front_end_table(["T", "W", "AH0"], own) == {"T": "t", "W": "w", "AH0": "ə"}
    assert front_end_table(["T", "W", "ə"], own) == {"T": "T", "W": "W", "ə": "ə"}
    assert front_end_table(["T", "@"], own) is None


def test_flac_recordings_are_read(folder: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    pytest.importorskip("soxr")
    wavs = folder / "LJSpeech-1.1" / "wavs"
    meant = read_recording(wavs.parent, "R-1", RATE)
    soundfile.write(wavs / "R-1.flac", meant, RATE, subtype="PCM_16")
    (wavs / "R-1.wav").unlink()
    assert np.abs(read_recording(wavs.parent, "R-1", RATE) - meant).max() < 1e-4
    assert command(folder) == 0
    soundfile.write(wavs / "R-1.flac", np.zeros((400, 2)), RATE)
    with pytest.raises(ConfigError, match="has 2 channels"):
        read_recording(wavs.parent, "R-1", RATE)
    (wavs / "R-1.flac").write_bytes(b"fLaC")
    with pytest.raises(ConfigError, match="cannot be read as a FLAC file"):
        read_recording(wavs.parent, "R-1", RATE)


def test_a_word_that_the_aligner_did_not_know_is_named(folder: Path) -> None:
    pytest.importorskip("soxr")
    grid = folder / "aligned" / "speaker" / "R-2.TextGrid"
    grid.write_text(LONG.replace('"OW1"', '"spn"'), encoding="utf-8")
    spec = scan(
        RecordingSpec(PRESETS["ma"], folder / "LJSpeech-1.1", folder / "aligned"), ["R-1", "R-2"]
    )
    with pytest.raises(
        ConfigError, match=r"R-2\.TextGrid: the aligner did not know the word at 0\.70 s"
    ):
        spec.open().items("R-2", "No, say it.")


def test_splits_name_recordings(folder: Path) -> None:
    pytest.importorskip("soxr")
    train = write(folder / "train.csv", "R-2|other text\n")
    val = write(folder / "val.csv", "R-1|x|y\n")
    assert command(folder, "--train", str(train), "--val", str(val), "--front-end", "saeki") == 0
    corpus = Corpus(folder / "out")
    assert [item.text for item in corpus.split("train")] == ["No, say it."]
    assert [item.name for item in corpus.split("val")] == ["R-1"]
    assert int(corpus.split("val")[0].durations.sum()) == len(corpus.split("val")[0].mel)


def damage(folder: Path, what: str) -> None:
    """Do something to the second recording."""
    grid = folder / "aligned" / "speaker" / "R-2.TextGrid"
    if what == "missing":
        (folder / "LJSpeech-1.1" / "wavs" / "R-2.wav").unlink()
    elif what == "cut":
        (folder / "LJSpeech-1.1" / "wavs" / "R-2.wav").write_bytes(b"RIFF")
    elif what == "unaligned":
        grid.unlink()
    elif what == "words":
        grid.write_text(LONG.replace('"say"', '"stay"'), encoding="utf-8")
    elif what == "homeless":
        grid.write_text(LONG.replace('text = "it"', 'text = ""'), encoding="utf-8")
        write(folder / "LJSpeech-1.1" / "metadata.csv", "R-1|No, say it.\nR-2|No, say.\n")
    elif what == "long":
        grid.write_text(LONG.replace("1.5\n", "2.5\n"), encoding="utf-8")


WRONG = {
    "missing": r"recording .*R-2\.wav is missing",
    "cut": r"R-2\.wav cannot be read",
    "unaligned": r"has no R-2\.TextGrid",
    "words": (
        r"words of .*R-2\.TextGrid are not those of the transcript: 'tayit' where the text has"
        r" 'ayit'"
    ),
    "homeless": r"R-2\.TextGrid: some phones belong to no word",
    "long": r"R-2\.TextGrid goes on after the end of its recording",
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_named_or_skipped(
    folder: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("soxr")
    damage(folder, what)
    assert command(folder) == 2
    sentence = capsys.readouterr().err
    assert re.search(WRONG[what], sentence)
    assert command(folder, "--skip-missing") == 0
    told = capsys.readouterr().err
    assert "train: 1 items" in told
    assert "1 left out" in told
    assert re.search(f"left out: R-2: .*{WRONG[what]}", told)


def test_folders_that_are_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = write(folder / "train.csv", "R-9|x\n")
    assert command(folder, "--train", str(names)) == 2
    assert "does not have R-9" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=r"no \.TextGrid files"):
        scan(RecordingSpec(PRESETS["ma"], folder, folder / "LJSpeech-1.1"), ["R-1"])
    (folder / "LJSpeech-1.1" / "metadata.csv").unlink()
    assert command(folder) == 2
    assert "LJ Speech's layout" in capsys.readouterr().err


def test_wav_files_of_other_kinds_are_named(tmp_path: Path) -> None:
    tmp_path = tmp_path / "wavs"
    tmp_path.mkdir()
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(b"\x00" * 400)
    with pytest.raises(ConfigError, match="bits: 16, channels: 2"):
        read_recording(tmp_path.parent, "a", RATE)
