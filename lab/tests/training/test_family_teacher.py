"""A voice of the family as a teacher: its own durations, in its own language."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sayahead.cli import main
from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.voice import load_voice
from sayahead.voices import located, read_config

from sayahead_lab.training.corpus.family import FamilySpec, of_family
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Corpus, language_of
from sayahead_lab.training.mohan.task import spelling

TEXT = "Les enfants ont aperçu l'île, et les voilà dans un petit hôtel."


def test_a_corpus_of_a_french_voice_is_french_and_has_the_durations_of_its_sound(
    tmp_path: Path,
) -> None:
    (tmp_path / "fr.train").write_text(f"A-1|{TEXT}\n", encoding="utf-8")
    made = ["train", "corpus", str(tmp_path / "made"), "--train", str(tmp_path / "fr.train")]
    assert main([*made, "--teacher", "ff_siwis", "--punctuation", "final"]) == 0
    corpus = Corpus(tmp_path / "made")
    [item] = corpus.split("train")
    assert (corpus.info.source["kind"], language_of(corpus.info)) == ("family", "fr-FR")
    assert item.audio is not None
    assert int(item.durations.sum()) == len(item.mel) == len(item.f0) == len(item.audio) // 300
    assert len(item.durations) == len(item.ids) + 2
    # What is voiced by its pitch sounds, and what follows the last phoneme does not.
    loudness = item.audio.reshape(-1, 300).astype(np.float32).std(1)
    assert loudness[item.f0 > 0].mean() > 20 * loudness[-int(item.durations[-1]) :].mean()
    # It is the sound of the voice, shorter by the pause at the comma, which "final" leaves out.
    said = load_voice("ff_siwis").synthesize(TEXT.replace(",", ""), policy="wait-all")
    assert len(item.audio) / 24000 == pytest.approx(len(said) / 24000, abs=0.5)
    assert item.audio.std() / 32767 == pytest.approx(said[np.abs(said) > 0].std(), rel=0.2)
    spelled = spelling(item, front_end(language_of(corpus.info)).speller())
    assert spelled is not None
    assert len(spelled.ids) == len(" ".join(item.text.replace(",", "").split()))


def test_seeds_draw_other_noise_and_no_other_durations() -> None:
    one, other = (
        FamilySpec(PRESETS["ma"], seed=seed, voice="ff_siwis").open().items("A", TEXT)[0]
        for seed in (1, 2)
    )
    assert np.array_equal(one[0].durations, other[0].durations)
    sounds = [item.audio for (item,) in (one, other) if item.audio is not None]
    assert not np.array_equal(sounds[0], sounds[1])


def test_only_plain_voices_of_several_speakers_are_such_teachers() -> None:
    found = {
        name: of_family(read_config(located(name)))
        for name in ("am_michael", "heart", "heart-low", "family")
    }
    assert found == {"am_michael": True, "heart": False, "heart-low": False, "family": False}
    with pytest.raises(ConfigError, match="no features"):
        FamilySpec(PRESETS["ma"], features=True, voice="am_michael")
