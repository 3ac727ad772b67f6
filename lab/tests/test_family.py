"""The family's voices: each is there, speaks its language without espeak-ng, and shares one
network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sayahead import load_voice
from sayahead.types import Word
from sayahead.voices import installed_voices, read_config
from sayahead.voices.locations import FAMILY

from sayahead_lab.training.heart import family

SAID = {
    "am_michael": "Text comes in word by word.",
    "bf_emma": "Text comes in word by word.",
    "ff_siwis": "Le texte arrive mot à mot.",
    "ef_dora": "El texto llega palabra por palabra.",
    "if_sara": "Il testo arriva parola per parola.",
    "pf_dora": "O texto chega palavra por palavra.",
}


def test_all_are_there_and_cost_next_to_nothing() -> None:
    voices = {name: path for name, path in installed_voices().items() if name in FAMILY}
    assert set(voices) == set(FAMILY)
    configs = {name: read_config(path) for name, path in voices.items()}
    assert {config.language.split("-")[0] for config in configs.values()} == {
        "en",
        "fr",
        "es",
        "it",
        "pt",
    }
    assert all(config.gender for name, config in configs.items() if name != "family")
    assert set(configs["family"].speakers) == set(FAMILY) - {"family"}
    for name, path in voices.items():
        size = sum(file.stat().st_size for file in path.iterdir())
        assert size < (11_000_000 if name == "family" else 30_000), name
        papers = [(path / paper).read_bytes() for paper in ("LICENSE", "NOTICE")]
        assert papers == [
            (voices["family"] / paper).read_bytes() for paper in ("LICENSE", "NOTICE")
        ]


@pytest.mark.parametrize("name", SAID)
def test_a_voice_speaks_its_language(name: str) -> None:
    voice = load_voice(name)
    words = [word for chunk in voice.stream([SAID[name]]) for word in chunk.words]
    assert [word.text for word in words] == SAID[name].split()
    speech = voice.synthesize(SAID[name])
    assert 0.8 < len(speech) / voice.sample_rate < 4
    assert np.sqrt(np.mean(np.square(speech))) > 0.01


def test_british_speakers_read_the_american_phonemes_that_taught_them() -> None:
    emma = load_voice("bf_emma")
    whole = load_voice("family")
    assert emma.config.language == "en-GB"
    said = emma.synthesize("Go to the car.") / np.float32(emma.config.gain)
    same = whole.synthesize("Go to the car.", speaker="bf_emma") / np.float32(whole.config.gain)
    assert np.abs(said - same).max() < 1e-5
    (word,) = emma.phonemizer.phonemize([Word("go", 0, 2)], left=())
    assert emma.config.phonemes["O"] in word.ids


def test_a_speaker_is_of_the_language_of_the_name_and_reads_what_taught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "base"
    shutil.copytree(installed_voices()["family"], base)
    about = json.loads((base / "voice.json").read_text(encoding="utf-8"))
    about["speakers"] = {"bf_emma": 5, "bm_george": 6}
    about["model"]["languages"] = {"bm_george": "en-GB"}
    (base / "voice.json").write_text(json.dumps(about), encoding="utf-8")
    monkeypatch.setattr(family, "load_voice", lambda _: None)
    monkeypatch.setattr(family, "measure", lambda _: SimpleNamespace(gain=1.0))
    emma, george = (read_config(folder) for folder in family.write_speakers(base))
    assert (emma.language, emma.reads, emma.gender) == ("en-GB", "en-US", "female")
    assert (george.language, george.reads, george.gender) == ("en-GB", "", "male")


def test_voices_share_their_network() -> None:
    michael = load_voice("am_michael")
    whole = load_voice("family")
    own = michael.synthesize(SAID["am_michael"]) / np.float32(michael.config.gain)
    same = whole.synthesize(SAID["am_michael"], speaker="am_michael") / np.float32(
        whole.config.gain
    )
    assert np.abs(own - same).max() < 1e-5
    blend = whole.synthesize(SAID["am_michael"], speaker="am_michael+af_bella")
    assert not np.array_equal(blend, same)
