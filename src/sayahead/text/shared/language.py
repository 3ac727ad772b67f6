"""What a language says to the tokens that wait: the hooks of ``Waiting``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Generic

from sayahead.text.shared.tokens import Joined, Parts, Right, SaidT, Token
from sayahead.types import Word


class Language(Generic[SaidT]):
    """What a language decides; ``Waiting`` asks it."""

    OPEN_TAG: re.Pattern[str]
    """A tag that goes on after white space."""
    SENTENCES: re.Pattern[str]
    """A sentence's last word and the next one's first, with no space between them."""
    SPACED = True
    """Whether words are written with spaces between them."""

    def _parts(self, token: Token[SaidT]) -> Parts:
        """The token taken apart; what of it cannot be read is noted, once."""
        raise NotImplementedError

    def _joined(self, token: Token[SaidT], parts: Parts, right: Right) -> Joined[SaidT] | bool | None:
        """What the token and the next are together, or False if they stay apart."""
        raise NotImplementedError

    def _said(self, token: Token[SaidT], parts: Parts, right: Right) -> SaidT | None:
        """How the token is read; it may change the mark after it."""
        raise NotImplementedError

    def _ended(self, token: Token[SaidT], parts: Parts, reading: SaidT, right: Right) -> bool | None:
        """Whether the token's punctuation ends the sentence."""
        raise NotImplementedError

    def _finish(self, token: Token[SaidT], parts: Parts, reading: SaidT, out: list[Word], *, last: bool) -> None:
        """Add a token whose reading and end are known to ``out``, or drop it if it makes no sound."""
        raise NotImplementedError

    def _portions(self, word: Word) -> Iterable[Word]:
        """A word, or more where its reading is long."""
        raise NotImplementedError

    def _listed(self, figures: str) -> str:
        """The number of a list's item in words."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Nothing stands to the left of the next token."""
        raise NotImplementedError

    def _final(self, text: str) -> bool:
        """Whether the characters of a token so far, a mark the last of them, are a word that no later text changes."""
        return False

    def _names(self, text: str) -> bool:
        """Whether what touches a full stop that was final goes on with a name, the dot included."""
        return False

    def _parted(self, char: str) -> bool:
        """Whether a token ends before a character though there is no space."""
        return False

    def _plain(self, token: Token[SaidT], out: list[Word]) -> bool:
        """Add the first waiting token to ``out`` if it is read as it stands whatever is beside it: the quick way."""
        return False

    def _unmarked(self, token: Token[SaidT]) -> bool | None:
        """Whether the first token of a line is none of its markers, whatever it looks like."""
        return False
