"""What stands to the left of a token, as far as it changes how the token is read."""

from __future__ import annotations

from dataclasses import dataclass

from sayahead.text.english import tables


@dataclass(frozen=True, slots=True)
class Left:
    """What stands to the left in the same sentence, as far as it changes a reading."""

    kind: str = ""
    """``one``, ``number``, ``time``, ``month``, ``phone``, ``feet``, ``hours``, ``half`` (of a day), ``sign``,
    ``days`` (after a day of a month and a link), ``code``, ``dial``, ``label`` or nothing."""
    word: str = ""
    """The token before, trimmed; empty where a sentence begins or a pause stands between."""
    named: bool = False
    """Whether that token is capitalised although no sentence begins with it."""
    role: str = ""
    """Of a number: ``each`` where an article makes its units singular, ``sum`` where a hyphen after it is a minus,
    ``lettered`` after a single letter, ``version`` of a program's version and after words that link it to another;
    the day of a month; of a name, ``regnal`` after "Queen" and other titles."""
    before: str = ""
    """The token before, across a comma or colon too; empty where a sentence begins."""

    @property
    def unsaid(self) -> str:
        """The sign of an amount whose currency is said after the next one: "$3 to 5 million"."""
        sign = self.role.rpartition(" ")[2] if self.kind == "money" else ""
        return sign if sign and not sign.isalpha() else ""

    @property
    def versioned(self) -> bool:
        """Whether a number after it is a program's version: "Python 3.12 or 3.13"."""
        return self.role == "version" or self.word.lower() in tables.SOFTWARE

    @property
    def each(self) -> bool:
        """Whether an article stands before the number: "a 5 km run" has no kilometers."""
        return "each" in self.role or self.word in tables.ARTICLES or (self.word in ("A", "An") and not self.named)


NOTHING = Left()
