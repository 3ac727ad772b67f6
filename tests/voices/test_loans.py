"""Voices that take a part of another voice in place: they speak as with a copy, and say what is
missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayahead import VoiceError, load_voice
from sayahead.voices import FOLDER, read_config
from sayahead.voices.write import copy_files

TEXT = "They saw a calm sea."
LENT = {"expect": ["expect.onnx"], "distilled": ["distilled.onnx", "words.npz"]}


def borrower(folder: Path, **changes: Any) -> Path:
    """The default voice without its context network and its student, which it borrows from
    itself."""
    heart = read_config(FOLDER / "heart")
    table = json.loads((FOLDER / "heart" / "voice.json").read_text(encoding="utf-8")) | {
        "name": "mine"
    }
    del table["learned"]
    loans = {
        name: {"voice": "heart", "files": {file: heart.files[file] for file in files}}
        for name, files in LENT.items()
    }
    for name, change in changes.items():
        loans[name] |= change
    table["model"]["expect"] = loans["expect"]
    table["distilled"]["borrowed"] = loans["distilled"]
    own = ("text.onnx", "prosody.onnx", "decoder.onnx")
    table["files"] = {name: heart.files[name] for name in own}
    folder.mkdir()
    copy_files(FOLDER / "heart", folder, own)
    (folder / "voice.json").write_text(json.dumps(table), encoding="utf-8")
    return folder


def test_what_is_borrowed_works_as_a_copy_does(tmp_path: Path) -> None:
    ours = load_voice(borrower(tmp_path / "mine"))
    heart = load_voice()
    for context in ("none", "distilled"):
        options: dict[str, Any] = {"policy": "lookahead:k=0", "context": context}
        assert np.array_equal(ours.synthesize(TEXT, **options), heart.synthesize(TEXT, **options))
    plain = heart.synthesize(TEXT, policy="lookahead:k=0")
    assert not np.array_equal(
        ours.synthesize(TEXT, policy="lookahead:k=0", context="distilled")[: len(plain)], plain
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"expect": {"voice": "nobody"}},
            "needs the context network of the voice 'nobody', which is not there",
        ),
        (
            {"distilled": {"voice": "nobody"}},
            "needs the predictor of context of the voice 'nobody'",
        ),
        ({"expect": {"voice": "../heart"}}, "is no file of the folder"),
        ({"expect": {"files": {}}}, "'expect.onnx' is borrowed, but its SHA-256 is not told"),
        ({"expect": {"files": {"expect.onnx": "0" * 64}}}, "is damaged"),
        ({"distilled": {"files": {"distilled.onnx": "", "words.npz": ""}}}, "is damaged"),
    ],
)
def test_a_loan_that_cannot_be_had_is_told(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(VoiceError, match=message):
        load_voice(borrower(tmp_path / "mine", **changes))
