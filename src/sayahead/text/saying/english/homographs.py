"""Words of one spelling and two readings, told apart by the words beside them: "I object", "a bass
guitar".

The tagger sees the words but is often wrong about such words; these rules mend its part of speech,
or give the phonemes where no part of speech tells the readings apart. They look to the left, and
one word to the right where that is known already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ADDED: dict[str, Any] = {
    "resume": {"DEFAULT": "ɹəzˈum", "NOUN": "ɹˈɛzəmˌA"},
    "resumes": {"DEFAULT": "ɹəzˈumz", "NOUN": "ɹˈɛzəmˌAz"},
    "Polish": {"DEFAULT": "pˈOlɪʃ", "VERB": "pˈɑlɪʃ"},
}
"""Readings by part of speech that the lexicon lacks."""
_SUBJECTS = frozenset("i we they".split())
_BEFORE_VERBS = frozenset(
    "will would can could should must may might shall cannot let's please n't 'll 'd".split()
)
_BEFORE_NOUNS = frozenset(
    "a an the my your our their its this every each no any another 's of".split()
)
_BE = frozenset(
    "am is are was were be been being 's 're 'm feel feels felt seem seems look looks very quite so".split()  # noqa: E501
)
_HAVE = frozenset("have has had having 've".split())
_PRONOUNS = frozenset("i you we they he she it".split())
_GOING = frozenset(
    "goes go went going gone broadcast broadcasting streaming streamed aired is are was be it's".split()  # noqa: E501
)
_FISH = frozenset(
    "sea striped largemouth smallmouth caught catch catches fishing grilled fried baked freshwater".split()  # noqa: E501
)
_FISHING = frozenset("fishing fish boat fillet fillets swim swam".split())
_LEADEN = frozenset(
    "pipe pipes paint paints poisoning acid crystal shot levels exposure bullet bullets"
    " contamination oxide solder dust battery batteries weights apron mine mines ore toxicity"
    " sulfide".split()
)
_OF_LEAD = frozenset("of contains containing toxic molten heavy contain like".split())
_PLACED = frozenset("in to from near of visited outside".split())


def settle(tokens: Sequence[Any], readings: Mapping[str, Any], *, known: int) -> None:
    """Mend tags and phonemes of the tagger's tokens in place; ``known`` of them are words of the
    text."""
    words = [token.text.lower() for token in tokens]
    for i, token in enumerate(tokens[:known]):
        if not token.text[0].isalpha():
            continue
        left = words[max(0, i - 3) : i]
        right = words[i + 1] if i + 1 < known else ""
        if phonemes := _sense(token, words[i], left, right):
            token.phonemes = phonemes
            token.rating = 5
        elif isinstance(entry := readings.get(words[i]) or readings.get(token.text), dict):
            token.tag = (
                _tag(token, words[i], left, tokens[i + 1].tag if right else "", right, entry)
                or token.tag
            )


def _sense(token: Any, word: str, left: list[str], right: str) -> str:
    """Phonemes of a word whose readings are told apart by sense."""
    before = left[-1] if left else ""
    if word in ("bass", "basses"):
        fish = right in _FISHING or not _FISH.isdisjoint(left)
        return ("bˈæs" if fish else "bˈAs") + ("ᵻz" if word == "basses" else "")
    if word == "lead" and (
        right in _LEADEN
        or (before in _OF_LEAD and right not in ("the", "to", "a"))
        or (before == "with" and right in (".", ","))
    ):
        return "lˈɛd"
    if word == "tear" and (
        (before == "a" and right in ("in", "gas")) or left[-2:] == ["wear", "and"]
    ):
        return "tˈɪɹ" if right == "gas" else "tˈɛɹ"
    if (
        word == "bow"
        and before in ("a", "final", "deep")
        and not {"take", "took", "taking", "takes"}.isdisjoint(left)
    ):
        return "bˈW"
    if token.text == "Nice" and before in _PLACED:
        return "nˈis"
    return ""


def _tag(
    token: Any, word: str, left: list[str], tag: str, right: str, entry: Mapping[str, str]
) -> str:
    """The part of speech that the words beside it ask for, or nothing."""
    before = left[-1] if left else ""
    own = token.tag
    if word == "read":
        return _read(left, own)
    if word == "content":
        return "JJ" if before in _BE or before in ("not", "perfectly", "more") else ""
    if word == "live":
        return "JJ" if before in _GOING and own.startswith("VB") else ""
    if word == "wound" and (before in _PRONOUNS or right in ("up", "around", "down", "through")):
        return "VBD"
    if word == "dove" and before in _PRONOUNS:
        return "VBD"
    if (
        word == "wind"
        and right in ("up", "down", "through")
        and before in ("to", "will", "and", "can", "they", "we")
    ):
        return "VB"
    if ("VERB" in entry and own.startswith(("NN", "JJ"))) or (
        "NOUN" in entry and own.startswith("NN")
    ):
        verb = before in _SUBJECTS or before in _BEFORE_VERBS
        opening = not left and token.text[0].isupper() and tag in ("DT", "PRP", "PRP$")
        plural = (
            len(left) == 1 and before.endswith("s") and not before.endswith("ss") and own == "NN"
        )
        if verb or opening or (plural and tag in ("DT", "WRB", "PRP", "PRP$", "RB", "TO")):
            return "VBP"
    if own.startswith("VB") and before in _BEFORE_NOUNS and own not in ("VBG", "VBN"):
        return "NN"
    return ""


def _read(left: list[str], own: str) -> str:
    """ "Have you ever read it" and "was read" are past, "often read" after a subject is not."""
    if not _HAVE.isdisjoint(left) or (
        left and left[-1] in ("was", "were", "been", "being", "is", "are", "well")
    ):
        return "VBN"
    if (
        left
        and left[-1] in ("often", "usually", "always", "never", "sometimes", "rarely")
        and own.startswith("VB")
    ):
        return "VB"
    if left and left[-1] in ("he", "she", "it"):
        return "VBD"
    return "VB" if left and left[-1] in ("did", "does", "do", "n't", "to", *_BEFORE_VERBS) else ""
