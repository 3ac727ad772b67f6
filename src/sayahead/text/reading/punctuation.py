"""Marks of all scripts, and which letters a voice can read."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

ENDING = ".!?…。！？।॥؟۔։။᙮‼⁇⁈⁉｡．"
"""Marks that end a sentence."""
PAUSING = ",;:—、，；：،؛፣፤·"


@lru_cache(maxsize=4096)
def readable(char: str, scripts: tuple[str, ...]) -> bool:
    """Whether a letter belongs to one of the scripts or is Latin; figures, signs and marks belong
    to all."""
    kind = unicodedata.category(char)
    plain = unicodedata.normalize("NFKC", char)[:1]
    if kind[0] not in "LN" or kind in ("Nd", "No") or plain.isascii() or char in "ªºµ":
        return True
    return unicodedata.name(plain, "").startswith(("LATIN", "MODIFIER", *scripts))
