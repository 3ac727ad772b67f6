"""How one trimmed token is read aloud, by what stands to its left."""

from __future__ import annotations

from sayahead.text.reading.record import Left, Record
from sayahead.text.reading.tokens import Said


def read(core: str, left: Left, record: Record, *, form: str = "", dotted: bool = False) -> Said:
    """The spoken form of a token; ``form`` is the gender of what a number counts."""
    return Said(core, Left(word=core, before=left.word))
