"""The catalogue's lines, from a list of Piper's form."""

from __future__ import annotations

import pytest
from sayahead.voices.install.catalogue import read

from sayahead_lab.piper_catalogue import listing


def test_a_line_has_what_the_catalogue_reads() -> None:
    files = {
        "de/x/joe.onnx": {"md5_digest": "1", "size_bytes": 5},
        "de/x/joe.onnx.json": {"md5_digest": "2", "size_bytes": 7},
        "de/x/MODEL_CARD": {"md5_digest": "3", "size_bytes": 9},
    }
    language = {"code": "de_DE", "name_english": "German"}
    entry = read(*listing({"joe": {"files": files, "language": language, "num_speakers": 2}}))
    assert (entry.key, entry.language, entry.english, entry.speakers) == (
        "joe",
        "de-DE",
        "German",
        2,
    )
    assert (entry.folder, entry.size, entry.graph, entry.config, entry.card) == (
        "de/x",
        5,
        "1",
        "2",
        "3",
    )


def test_another_form_is_refused() -> None:
    with pytest.raises(SystemExit, match="not a list of Piper voices"):
        listing({"a": {}})
