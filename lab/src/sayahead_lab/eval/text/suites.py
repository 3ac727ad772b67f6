"""Suites of text normalization in clones of their repositories: nothing of them is kept here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sayahead.errors import ConfigError

LANGUAGES = ("en", "de", "es", "fr", "it", "pt")
_NEMO = "tests/nemo_text_processing"
_WETEXT = "tn/english/test/data"
_FIGURES = re.compile(r"[0-9@$€£%]|\w\.\w")
"""Some files have what is said first, and what is written after it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and the readings of which its suite wants one."""

    suite: str
    language: str
    kind: str
    written: str
    spoken: tuple[str, ...]

    @property
    def key(self) -> str:
        """What names the case in a list, without its text."""
        return hashlib.sha256(f"{self.language}\t{self.written}".encode()).hexdigest()[:12]


def cases_in(folder: Path) -> list[Case]:
    """All cases of a clone of NeMo-text-processing or WeTextProcessing; each text of a class counts
    once."""
    if (folder / _NEMO).is_dir():
        found = _nemo(folder / _NEMO)
    elif (folder / _WETEXT).is_dir():
        found = _wetext(folder / _WETEXT)
    else:
        raise ConfigError(
            f"{folder} is no clone of a known suite: neither {_NEMO} (NVIDIA/NeMo-text-processing)"
            f" nor {_WETEXT} (wenet-e2e/WeTextProcessing) is in it. Clone one of them, and give its"
            " folder."
        )
    return list(
        {(case.suite, case.language, case.kind, case.written): case for case in found}.values()
    )


def _nemo(folder: Path) -> Iterator[Case]:
    """Lines of ``written~spoken``; with audio, a line ``~written`` and a line for each reading."""
    for language in LANGUAGES:
        for path in sorted(
            (folder / language / "data_text_normalization").glob("test_cases_*.txt")
        ):
            kind = path.stem.removeprefix("test_cases_")
            lines = path.read_text(encoding="utf-8").splitlines()
            if kind == "normalize_with_audio":
                yield from _heard(language, lines)
                continue
            for line in lines:
                written, tilde, spoken = line.partition("~")
                if tilde and written.strip():
                    if _FIGURES.search(spoken) and not _FIGURES.search(written):
                        written, spoken = spoken, written
                    yield Case("NeMo", language, kind, written, tuple(spoken.split("~")))


def _heard(language: str, lines: list[str]) -> Iterator[Case]:
    written = ""
    spoken = list[str]()
    for line in [*lines, "~"]:
        if not line.startswith("~"):
            spoken.append(line)
            continue
        if written and spoken:
            yield Case("NeMo", language, "with_audio", written, tuple(spoken))
        written = line[1:]
        spoken = []


def _wetext(folder: Path) -> Iterator[Case]:
    """Lines of ``written => spoken``."""
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            written, arrow, spoken = line.partition("=>")
            if arrow and any(map(str.isalnum, written)):
                yield Case("WeTextProcessing", "en", path.stem, written.strip(), (spoken.strip(),))
