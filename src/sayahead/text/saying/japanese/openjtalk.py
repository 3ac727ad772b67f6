"""OpenJTalk, which the extra ``[ja]`` installs: the morphemes of a text, with their readings."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import threading
import warnings
from dataclasses import dataclass
from typing import Any

from sayahead.errors import ConfigError

MODULE = "pyopenjtalk"
MAX_KNOWN = 4096
"""Texts whose morphemes are remembered: a clause is read again with each of its characters."""
VERBAL = frozenset(("動詞", "助動詞"))
APART = frozenset(("です", "でしょ", "だ"))
"""Auxiliaries that are words of their own."""
JOINED = frozenset(("て", "で", "ば", "たり", "だり", "ちゃ"))
"""Particles that belong to the verb before them."""
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Morpheme:
    """A part of a text, by its characters."""

    start: int
    end: int
    kana: str
    """How it is read, in katakana; nothing for marks."""
    opens: bool
    """Whether an accent phrase begins with it."""
    goes_on: bool
    """Whether it belongs to the word before it."""
    is_known: bool
    """Whether the dictionary has it; letters that it lacks are spelled."""


def is_installed() -> bool:
    """Whether there is an OpenJTalk."""
    return importlib.util.find_spec(MODULE) is not None


@functools.cache
def _openjtalk() -> Any:
    """OpenJTalk, imported when it is first needed. ConfigError if it is not installed."""
    try:
        return importlib.import_module(MODULE)
    except ImportError as error:
        raise ConfigError(
            f"Japanese is read by OpenJTalk, which is not installed ({error}): "
            "pip install 'sayahead[ja]'."
        ) from error


@functools.lru_cache(maxsize=MAX_KNOWN)
def morphemes(text: str) -> tuple[Morpheme, ...]:
    """The morphemes of a text; none where OpenJTalk makes another text of it. ConfigError where
    there is no OpenJTalk."""
    module = _openjtalk()
    with _LOCK, warnings.catch_warnings():
        # What it depends on warns of itself.
        warnings.simplefilter("ignore", DeprecationWarning)
        found = module.run_frontend(text, use_sudachi_kanji_yomi=False)
    out: list[Morpheme] = []
    end = 0
    is_verbal = False
    for one in found:
        start = end
        end += len(one["string"])
        kana = one["pron"].replace("’", "").replace("'", "") if one["mora_size"] else ""
        is_auxiliary = one["pos"] == "助動詞" and one["string"] not in APART
        goes_on = is_verbal and (is_auxiliary or one["string"] in JOINED)
        is_known = one["pos"] != "フィラー"
        opens = one["chain_flag"] != 1
        out.append(Morpheme(start, end, kana, opens, goes_on or kana[:1] == "ー", is_known))
        is_verbal = one["pos"] in VERBAL
    return tuple(out) if end == len(text) else ()
