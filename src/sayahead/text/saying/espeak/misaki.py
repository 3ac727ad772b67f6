"""espeak-ng's phonemes as Kokoro reads them: one letter for each diphthong and affricate (misaki's
spelling)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sayahead.text import FrontEnd, front_end, own_front_end
from sayahead.text.languages.espeak_voices import voice_of
from sayahead.text.saying.layout import Layout
from sayahead.text.tables import alternatives
from sayahead.types import Ids, subtags

AFFRICATES = {"dʒ": "ʤ", "tʃ": "ʧ", "ts": "ʦ", "dz": "ʣ", "tɕ": "ʨ", "dʑ": "ʥ"}
"""Of every language."""
ENGLISH = {
    "dʒ": "ʤ",
    "tʃ": "ʧ",
    "aɪ": "I",
    "aʊ": "W",
    "eɪ": "A",
    "ɔɪ": "Y",
    "əl": "ᵊl",
    "ɚ": "əɹ",
    "r": "ɹ",
    "x": "k",
    "ç": "k",
    "ɐ": "ə",
    "ɬ": "l",
    "ʔn": "tn",
    "ʔ": "t",
    "ʲ": "",
    "\u0303": "",
    "\u0329": "",
}
"""Of both kinds of English."""
AMERICAN = {"oʊ": "O", "ɜːɹ": "ɜɹ", "ɜː": "ɜɹ", "ɪə": "iə", "ɾ": "T", "o": "ɔ", "ː": ""}
"""More of those of American English."""
BRITISH = {"əʊ": "Q", "oʊ": "Q", "eə": "ɛː", "iə": "ɪə"}
"""More of those of British English."""


def spelled(symbols: str, language: str) -> str:
    """espeak-ng's IPA in misaki's spelling; the longest group that is known goes first."""
    parts = subtags(language)
    table = AFFRICATES
    if parts[0] == "en":
        table = ENGLISH | (BRITISH if parts == ["en", "gb"] else AMERICAN)
    return re.sub(alternatives(table), lambda group: table[group[0]], symbols)


@dataclass(frozen=True, slots=True)
class Misaki(Layout):
    """A layout without pads, of phonemes in misaki's spelling."""

    language: str = "en-US"
    """BCP 47 tag."""

    def ids(self, symbols: str, table: Mapping[str, int]) -> Ids:
        return super(Misaki, self).ids(spelled(symbols, self.language), table)


def reader(language: str) -> FrontEnd:
    """The front end of a language, in Kokoro's spelling: its own where it has one, or that of
    espeak-ng's voice."""
    if own_front_end(language):
        return front_end(language)
    return front_end(language, espeak=voice_of(language), layout=Misaki(language=language))
