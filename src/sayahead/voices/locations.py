"""Locations of voices: packaged ones, and the user's folder of added ones."""

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
"""Voices of other packages, for a hint if these are not installed."""
VARIABLE = "SAYAHEAD_VOICES"
"""Environment variable with the folder of added voices; by default, it is where the system keeps
user data."""


def home() -> Path:
    """Return the folder of added voices, which need not exist. ConfigError if there is no home
    directory."""
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
    """Return the voices of this package and of others (entry points ``sayahead.voices``), by
    name."""
    voices = folders(FOLDER)
    for package in extensions.folders("sayahead.voices"):
        voices |= {name: path for name, path in folders(package).items() if name not in voices}
    return voices


def package_of(folder: Path) -> str:
    """Return the package of a voice's folder, by its name in pip; empty for a folder of the
    user."""
    if folder.parent == FOLDER:
        return "sayahead"
    return extensions.folders("sayahead.voices").get(folder.parent, "")


def added_voices() -> dict[str, Path]:
    """Return the voices in the user's folder, by name; empty if it cannot be read."""
    try:
        return folders(home())
    except (ConfigError, OSError):
        return {}


def installed_voices() -> dict[str, Path]:
    """Return all voices by name; packaged ones take precedence over added ones."""
    packaged = packaged_voices()
    return packaged | {name: path for name, path in added_voices().items() if name not in packaged}


def located(voice: str | Path) -> Path:
    """Return the folder of an installed voice by name; any other text is a path."""
    packaged = FOLDER / str(voice)
    if str(voice) == packaged.name and (packaged / "voice.json").is_file():
        return packaged
    return installed_voices().get(str(voice), Path(voice))


def folders(parent: Path) -> dict[str, Path]:
    """Return the folders with a voice.json, by name; hidden ones belong to voices that are being
    added."""
    places = (path.parent for path in sorted(parent.glob("*/voice.json")))
    return {path.name: path for path in places if not path.name.startswith(".")}
