"""Writes voices: voice.json with the digests of the files, and licence documents."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sayahead.engine.files import sha256
from sayahead.voices import FOLDER, FORMAT

DESCRIPTION = "voice.json"
DOCUMENTS = ("LICENSE", "NOTICE", "MODEL_CARD")
"""Documents in a voice's folder about its origin and licence."""


def write_voice(
    folder: Path,
    config: Mapping[str, Any],
    files: Iterable[Path] = (),
    *,
    notice: str = "",
    papers: Path | None = None,
) -> None:
    """Write voice.json with the digests of ``files``, and the licence documents.

    ``config``: the contents of voice.json without ``format`` and ``files``; ``notice``: the text of
    NOTICE, if any; ``papers``: the folder of a voice whose documents apply to this one, too. A
    voice under Apache-2.0 without a LICENSE gets one.
    """
    head = {
        key: value for key, value in config.items() if key not in ("format", "files", "phonemes")
    }
    digests = {path.name: sha256(path) for path in sorted(files)}
    folder.mkdir(parents=True, exist_ok=True)
    dump(
        folder, {"format": FORMAT, **head, "files": digests, "phonemes": config.get("phonemes", {})}
    )
    if notice:
        (folder / "NOTICE").write_text(notice, encoding="utf-8")
    copy_files(papers or folder, folder, DOCUMENTS)
    if config["license"] == "Apache-2.0":
        copy_files(FOLDER / "heart", folder, ("LICENSE",))


def change_voice(folder: Path, changes: Mapping[str, Any]) -> None:
    """Change fields of a voice.json."""
    dump(folder, json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")) | changes)


def copy_files(source: Path, target: Path, names: Iterable[str]) -> None:
    """Copy those regular files of a folder that exist there and not in the target; links are not
    followed."""
    for name in names:
        path = source / name
        if (
            path.is_file()
            and not path.is_symlink()
            and path.name == name
            and not (target / name).exists()
        ):
            shutil.copyfile(path, target / name)


def dump(folder: Path, table: Mapping[str, Any]) -> None:
    """Write voice.json."""
    text = json.dumps(table, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
