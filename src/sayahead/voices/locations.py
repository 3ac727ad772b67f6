"""Where voices live: the folders that come with this and other packages, and the user's own folder
of added ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sayahead import extensions
from sayahead.errors import ConfigError

FOLDER = Path(__file__).parent
"""The folder of the voices that come with the package."""
FAMILY = (
    "family",
    "af_bella",
    "af_sarah",
    "am_fenrir",
    "am_michael",
    "am_puck",
    "bf_emma",
    "bm_george",
    "ef_dora",
    "ff_siwis",
    "if_sara",
    "pf_dora",
    "pm_alex",
)
ELSEWHERE = {
    **dict.fromkeys(("ma-lj", "saeki-lj", "mohan-lj"), "sayahead-voices-papers"),
    **dict.fromkeys(FAMILY, "sayahead-voices-family"),
}
"""Voices that come with packages of their own, for the hint where they are missing."""
VARIABLE = "SAYAHEAD_VOICES"
"""Names the folder of added voices; without it, it lies where the system keeps a user's data."""


def home() -> Path:
    """The folder of added voices; it need not exist. ConfigError if there is no home directory."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser()
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "sayahead" / "voices"
    if os.environ.get("XDG_DATA_HOME"):
        return Path(os.environ["XDG_DATA_HOME"]) / "sayahead" / "voices"
    try:
        return Path.home() / ".local" / "share" / "sayahead" / "voices"
    except RuntimeError as error:
        raise ConfigError(
            f"There is no home folder for voices: set {VARIABLE} to a folder."
        ) from error


def packaged_voices() -> dict[str, Path]:
    """The voices that came with this package and with others (entry points ``sayahead.voices``), by
    name."""
    voices = folders(FOLDER)
    for package in extensions.folders("sayahead.voices"):
        voices |= {name: path for name, path in folders(package).items() if name not in voices}
    return voices


def package_of(folder: Path) -> str:
    """The package that a voice's folder came with, as pip calls it; empty for a folder of the
    user's own."""
    if folder.parent == FOLDER:
        return "sayahead"
    return extensions.folders("sayahead.voices").get(folder.parent, "")


def added_voices() -> dict[str, Path]:
    """The voices in the user's folder, by name; none where it cannot be found or read."""
    try:
        return folders(home())
    except (ConfigError, OSError):
        return {}


def installed_voices() -> dict[str, Path]:
    """All voices that can be called by name; added ones never shadow packaged ones."""
    packaged = packaged_voices()
    return packaged | {name: path for name, path in added_voices().items() if name not in packaged}


def located(voice: str | Path) -> Path:
    """The folder of an installed voice by its name; anything else is taken for a folder."""
    own = FOLDER / str(voice)
    if str(voice) == own.name and (own / "voice.json").is_file():
        return own
    return installed_voices().get(str(voice), Path(voice))


def folders(parent: Path) -> dict[str, Path]:
    """Folders with a voice.json, by name; names that begin with a dot are those of voices being
    added."""
    places = (path.parent for path in sorted(parent.glob("*/voice.json")))
    return {path.name: path for path in places if not path.name.startswith(".")}
