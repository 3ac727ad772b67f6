"""What a text speaks of or shows: signs in ticks, options of commands, the last figures of a card."""

from __future__ import annotations

import re

from sayahead.text.shared.amounts import figures
from sayahead.text.shared.punctuation import SIGN_OF
from sayahead.text.shared.record import Record
from sayahead.text.shared.tokens import Parts
from sayahead.text.shared.words import Left, Said

TICKED = re.compile(r"[(\"'«„]*`([^\w\s`]{1,6})`[)\"'»“]*([.,;:!?]*)")
"""Signs in ticks, and the marks after them."""
MASKED = re.compile(r"[(\[]*(?:[•·]{2,}|\*{4,}|[xX]{3,})-?([0-9]{2,6})[)\].,;:!?]*")
"""The figures of a card or an account that are shown: ``••4471``."""
_OPTION = re.compile(r"(-)([A-Za-z])[`\"').,;:]*|(--)([a-z][a-z-]+)[`\"').,;:]*")


def reading(parts: Parts, raw: str, left: Left, record: Record) -> Said | None:
    """The reading of a token that is one of these, such as ``!=`` in ticks or ``--help``; None for others."""
    if raw.isalnum() or record.numbers is None:
        return None
    if "`" in raw and (m := TICKED.fullmatch(raw)):
        text = SIGN_OF.get(m[1], m[1])
        parts.mark = m[2][-1:]
        return Said(" ".join(record.signs.get(sign) or record.address.get(sign, "") for sign in text))
    if m := MASKED.fullmatch(raw):
        return Said(figures(m[1], record), Left("code", m[1], before=left.word))
    if raw[0] == "-" and left.word[:1].isalpha() and (m := _OPTION.fullmatch(raw)):
        dashes, name = m[1] or m[3], m[2] or m[4]
        if len(dashes) == 1 and not left.word[0].islower():
            return None
        said = " ".join([*[record.address.get("-", "")] * len(dashes), name.replace("-", " ")])
        return Said(said, Left(word=parts.core, before=left.word))
    return None
