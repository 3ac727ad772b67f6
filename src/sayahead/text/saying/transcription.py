"""Pronunciations that people write - IPA, CMU's ARPAbet, a voice's own symbols - in the symbols of
one voice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from sayahead.errors import ConfigError
from sayahead.text.tables import alternatives, pairs

ALPHABETS = ("ipa", "cmu-arpabet", "voice")
"""Notations by name: IPA, CMU's ARPAbet ("W IH1 N"), the voice's own symbols."""

_LETTERS = "abcdefhijklmnopqrstuvwxyzæçðøħŋœβθχ" + "".join(map(chr, range(0x250, 0x2B0)))
IPA = {char: number for number, char in enumerate("ˈˌː\u0303" + _LETTERS)}
"""What a front end without a voice takes for its phonemes: the letters of the IPA."""
_VOWELS = "aeiouyæøœɐɑɒɔəɘɵɚɛɜɝɞɤɨɪʉʊʌʏᵻᵊAIOQWY"
_STRESS = re.compile(f"([ˈˌ])([^{_VOWELS}ˈˌ ]*)")
_SILENT = dict.fromkeys(map(ord, "͜͡‿.|‖ˑ̯̩̪̬̥ʰ‍​"))
_ALIKE = {"g": "ɡ", "'": "ˈ", "’": "ˈ", ",": "ˌ", ":": "ː", "r": "ɹ", "ɝ": "ɜɹ", "ɚ": "əɹ"}
# A voice with these has one symbol for each diphthong (misaki's alphabet for English).
_MISAKI = frozenset("AIOWYʤʧ")
_TO_AMERICAN = pairs(
    "eɪ>A aɪ>I aɪə>Iə oʊ>O əʊ>O aʊ>W aʊə>Wə ɔɪ>Y ɔʏ>Y ɔʊ>O eɪ̯>A ei>A ai>I ou>O au>W ɔi>Y oi>Y"
    " tʃ>ʧ dʒ>ʤ ts>ts ɜːɹ>ɜɹ ɜː>ɜɹ ɜɹ>ɜɹ eə>ɛɹ eəɹ>ɛɹ ɪə>ɪɹ ɪəɹ>ɪɹ ʊə>ʊɹ ʊəɹ>ʊɹ ɒ>ɑ ɐ>ə ɘ>ə ɵ>ʊ"
    " ɤ>ʌ ɞ>ɜ ɨ>ɪ ʉ>u ʏ>ɪ y>i ø>ɜ œ>ɜ e>ɛ eː>A a>ɑ o>O ɲ>nj ʎ>lj ʁ>ɹ ʀ>ɹ ɻ>ɹ ɣ>ɡ x>k χ>k ç>h"
    " ħ>h ɦ>h β>v ʋ>v ɸ>f ɬ>l ɫ>l ʟ>l ɭ>l ɳ>n ɴ>n ɱ>m ʂ>ʃ ʐ>ʒ ʈ>t ɖ>d c>k ɟ>ʤ ɕ>ʃ ʑ>ʒ ʍ>w ɥ>w"
    " ɰ>w q>k ɽ>ɾ ʦ>ts ʣ>dz ʨ>ʧ ʥ>ʤ ː>",
    ">",
)
_AS_BRITISH = frozenset("ɪə ɪəɹ ʊə ʊəɹ ɒ a ː".split())
_TO_BRITISH = {ipa: own for ipa, own in _TO_AMERICAN.items() if ipa not in _AS_BRITISH} | pairs(
    "oʊ>Q əʊ>Q ɔʊ>Q ou>Q æ>a ɜːɹ>ɜːɹ ɜː>ɜː ɜɹ>ɜːɹ eə>ɛː eəɹ>ɛːɹ o>ɔ eː>ɛː ø>ɜː œ>ɜː iə>ɪə", ">"
)
_ARPABET = pairs(
    "AA>ɑ AE>æ AH>ʌ AO>ɔ AW>aʊ AX>ə AY>aɪ B>b CH>tʃ D>d DH>ð EH>ɛ ER>ɜɹ EY>eɪ F>f G>ɡ HH>h IH>ɪ"
    " IY>i JH>dʒ K>k L>l M>m N>n NG>ŋ OW>oʊ OY>ɔɪ P>p R>ɹ S>s SH>ʃ T>t TH>θ UH>ʊ UW>u V>v W>w"
    " Y>j Z>z ZH>ʒ",
    ">",
)
_REDUCED = {"AH": "ə", "ER": "əɹ"}
_SIBILANTS = "szʃʒʧʤ"
_VOICELESS = "ptkfθ"


class Transcriber:
    """Writes pronunciations in the symbols of a voice."""

    def __init__(self, symbols: Mapping[str, int], *, british: bool = False) -> None:
        """``symbols``: the voice's; in misaki's alphabet they are ``british`` or American."""
        self._symbols = frozenset(symbols)
        rewritten = (_TO_BRITISH if british else _TO_AMERICAN) if self._symbols >= _MISAKI else {}
        self._rewritten = {
            ipa: own for ipa, own in rewritten.items() if self._symbols.issuperset(own)
        }
        self._sounds = re.compile(f"{alternatives(self._rewritten) or '(?!)'}|.", re.DOTALL)

    def read(self, text: str, alphabet: str) -> str:
        """A pronunciation in the voice's symbols.

        Sounds that a voice of English lacks become their nearest. ConfigError, a part of a
        sentence, where there is no sound in it, or one that the voice does not have."""
        if alphabet not in ALPHABETS:
            raise ConfigError(f"the alphabet {alphabet!r} is unknown: use {', '.join(ALPHABETS)}")
        phonemes = {"ipa": self._ipa, "cmu-arpabet": self._arpabet, "voice": self._own}[alphabet](
            text.strip()
        )
        if not any(unicodedata.category(char)[0] == "L" and char not in "ˈˌː" for char in phonemes):
            raise ConfigError(f"there is no sound in the pronunciation {text!r}")
        return phonemes

    def genitive(self, phonemes: str) -> str:
        """A pronunciation with the English ``'s`` after it."""
        last = phonemes.rstrip("ˈˌː ")[-1:]
        end = "s" if last in _VOICELESS else "ɪz" if last in _SIBILANTS else "z"
        return phonemes + "".join(char for char in end if char in self._symbols)

    def _own(self, text: str) -> str:
        return "".join(map(self._checked, text))

    def _checked(self, char: str) -> str:
        """A character as the voice has it, nothing for white space. ConfigError if it has none."""
        for form in (char, unicodedata.normalize("NFD", char)):
            if self._symbols.issuperset(form):
                return form
        if not char.isspace():
            raise ConfigError(f"the voice has no phoneme {char!r}; it has {self._letters()}")
        return ""

    def _letters(self) -> str:
        return "".join(sorted(c for c in self._symbols if unicodedata.category(c)[0] == "L"))

    def _arpabet(self, text: str) -> str:
        """Sounds of ARPAbet, where a vowel without stress may be another one."""
        ipa = ""
        for sound in text.split():
            name = sound.rstrip("012").upper()
            stress = sound[-1:]
            if name not in _ARPABET:
                raise ConfigError(
                    f"{sound!r} is no sound of ARPAbet: write them apart, as in W IH1 N"
                )
            vowel = _REDUCED.get(name) if stress == "0" else None
            ipa += {"1": "ˈ", "2": "ˌ"}.get(stress, "") + (vowel or _ARPABET[name])
        return self._ipa(ipa)

    def _ipa(self, text: str) -> str:
        """IPA in the voice's symbols: what looks like one is taken for it, and what no voice knows,
        such as ties, is left out."""
        text = unicodedata.normalize("NFC", text).translate(_SILENT)
        text = "".join(
            _ALIKE[c] if c in _ALIKE and self._symbols.issuperset(_ALIKE[c]) else c for c in text
        )
        # Voices know stress before the vowel, not before the syllable.
        text = _STRESS.sub(r"\2\1", text)
        return self._sounds.sub(self._written, text)

    def _written(self, sound: re.Match[str]) -> str:
        own = self._rewritten.get(sound[0])
        return self._checked(sound[0]) if own is None else own
