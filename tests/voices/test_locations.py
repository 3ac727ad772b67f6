"""Where voices live: the package's folder and the user's."""

from pathlib import Path

import pytest
from support.whistled import whistled

from sayahead.errors import VoiceError
from sayahead.server.voices import Voices
from sayahead.voice import load_voice
from sayahead.voices.locations import home, installed_voices


def test_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "mine"))
    assert home() == tmp_path / "mine"
    monkeypatch.delenv("SAYAHEAD_VOICES")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert home() == tmp_path / "sayahead" / "voices"


def test_added_voices_are_called_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path))
    for name in ("whistled", ".unfinished", "heart"):
        whistled(tmp_path / name)
    found = installed_voices()
    assert found["whistled"] == tmp_path / "whistled"
    assert ".unfinished" not in found
    assert found["heart"].parent != tmp_path


def test_a_broken_added_voice_harms_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "voice.json").write_text("{")
    assert "heart" in Voices(()).configs
    with pytest.raises(VoiceError, match="broken"):
        Voices(("broken",))
    with pytest.raises(VoiceError, match="broken"):
        load_voice("broken")
