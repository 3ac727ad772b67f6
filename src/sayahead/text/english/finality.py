"""When a mark makes a word final by itself: at the mark, not at the white space after it.

What stands after such a mark in the same token (a closing quote, more marks, "b" of "a,b") is a token of its own.
"""

from __future__ import annotations

import functools
import re

from sayahead.text.english.addresses import ENDINGS as ENDS_OF_NAMES
from sayahead.text.english.tables import ENDINGS, LAST_WORDS, NOT_LAST

_MARKED = re.compile(r"[\"“*_(]*([A-Za-zÀ-ÖØ-öø-ÿ]+(?:['’-][A-Za-zÀ-ÖØ-öø-ÿ]+)*)([.,;:!?])")
_SCHEMES = frozenset(
    "http https ftp sftp file mailto data tel sms urn git ssh ws wss arn node npm std localhost jdbc redis postgres "
    "postgresql mysql mongodb docker about javascript chrome magnet sip doi e.g i.e".split()
)
"""Words with a colon that may begin an address or a name."""
_SHOUTED = frozenset("Yahoo Jeopardy Kahoot Wham Panic Oklahoma Chips".split())
"""Names that are written with an exclamation mark."""


_SITES = frozenset(
    "you time people money food cars homes fire live mind help fast three things first care one life history weather "
    "moment day".split()
)
_VISITED = frozenset("on at to from via try use using with by through like and".split())
_BEFORE_NAMES = frozenset(
    "visit browse site website domain www called named install installed import imports edit file package library "
    "module npm pip then almost nearly um uh hmm".split()
)
"""After these any word may go on with a dot: as the name of a file or a host, or with an ellipsis ("then done...")."""
_NAMES = re.compile(r"([a-z]+[0-9]?)(?:[/:?#.,;!)\]'\"]\S*)?|[a-z]\w*[(_\[]\S*|[0-9]\S*", re.ASCII)
_NO_NAMES = frozenset("it in at be me us so is go do no to or the and".split())


def names(text: str) -> bool:
    """Whether what touches a sentence's full stop goes on with a name: "com" after "you.", "sort()" after "done."."""
    match = _NAMES.fullmatch(text)
    return match is not None and (match[1] is None or (match[1] in ENDS_OF_NAMES and match[1] not in _NO_NAMES))


def final_at(text: str, left: str = "") -> bool:
    """Whether the characters of a token so far, a mark the last of them, are a word that no later text changes.

    ``left`` is the word before it.
    """
    match = _MARKED.fullmatch(text)
    if not match:
        return False
    word, mark = match.groups()
    if mark == ".":
        if not last_word(word):
            return False
        before = left.lower()
        return before not in _BEFORE_NAMES and not (before in _VISITED and word.lower() in _SITES)
    if mark == "," or mark == ";":
        return word not in ("Rs", "I", "TL")
    if len(word) == 1 or "-" in word:
        return False
    if mark != ":":
        return word not in _SHOUTED
    return word[1:].islower() and word.lower() not in _SCHEMES


@functools.lru_cache(maxsize=4096)
def last_word(word: str) -> bool:
    """Whether a full stop after a word ends a sentence, and is neither a dot of a name nor of an ellipsis."""
    if not (word.islower() or word[1:].islower()) or len(word) == 1:
        return False
    low = word.lower().replace("’", "'")
    if low in LAST_WORDS:
        return True
    return len(low) > 5 and low.endswith(ENDINGS) and low not in NOT_LAST
