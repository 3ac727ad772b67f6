"""Writing voices: voice.json with the digests of a voice's files, and the papers beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sayahead.engine.files import sha256
from sayahead.voices import FOLDER, FORMAT

DESCRIPTION = "voice.json"
PAPERS = ("LICENSE", "NOTICE", "MODEL_CARD")
"""Files beside a voice's own that say whose it is, and what it may be used for."""


def write_voice(
    folder: Path,
    config: Mapping[str, Any],
    files: Iterable[Path] = (),
    *,
    notice: str = "",
    papers: Path | None = None,
) -> None:
    """Write voice.json with the digests of a voice's files, and its papers.

    ``config``: all of voice.json but ``format`` and ``files``; ``notice``: what NOTICE says, if
    there is to be one; ``papers``: the folder of another voice, whose papers are this one's, too.
    LICENSE is written where the voice is under Apache-2.0 and has none.
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
    copy_files(papers or folder, folder, PAPERS)
    if config["license"] == "Apache-2.0":
        copy_files(FOLDER / "heart", folder, ("LICENSE",))


def change_voice(folder: Path, changes: Mapping[str, Any]) -> None:
    """Change fields of a voice's description."""
    dump(folder, json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")) | changes)


def copy_files(source: Path, target: Path, names: Iterable[str]) -> None:
    """Copy those of a folder's plain files that are there, and not in the target yet; no link is
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
    text = json.dumps(table, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
