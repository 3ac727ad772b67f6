"""Checks that a voice's folder has all files that voice.json lists, and no others that would be
loaded."""

from __future__ import annotations

import functools
from pathlib import Path

from sayahead.engine.files import check_file, inside
from sayahead.engine.onnx import beside
from sayahead.errors import VoiceError
from sayahead.voices import VoiceConfig

LOADED = (".onnx", ".npz")
"""Suffixes of files that voices load; each must be listed with its digest."""


def check_files(config: VoiceConfig, folder: Path, *, verify: bool) -> None:
    """Raise VoiceError unless the folder has exactly the files that voice.json lists.

    ``verify``: whether to compare their digests, too.
    """
    files = (
        (inside(folder, file), digest if verify else None) for file, digest in config.files.items()
    )
    beside(*(functools.partial(check_file, *file) for file in files))
    used = {path.name for path in folder.iterdir() if path.suffix in LOADED}
    if config.learned:
        used.add(config.learned.weights)
    if config.agent:
        used.add(config.agent.graph)
    if config.hidden:
        used.add(config.hidden.graph)
    if config.distilled and config.distilled.borrowed is None:
        used |= {config.distilled.graph, config.distilled.vectors}
    for file in sorted(used - config.files.keys()):
        raise VoiceError(
            f"{folder / 'voice.json'}: files does not list {file[:80]!r}, which the voice would"
            " load."
        )
