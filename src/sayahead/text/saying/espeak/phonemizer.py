"""Phonemes by espeak-ng, of the words of a clause."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import ClassVar

from sayahead.text.saying.clauses import ClausePhonemizer
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.layout import Layout
from sayahead.text.saying.mixed import mixed

BETWEEN = " | "
"""Between words: espeak-ng says nothing for it, merges no words across it ("of the"), and keeps
liaison."""
_MAX_MERGED = 4
_ALIKE = 0.5
"""Words that espeak-ng merges, and how alike running text and its words are at least."""
FLAG = re.compile(r"\([a-z][a-z0-9-]*\)")
"""A switch of language in espeak-ng's answer."""


class EspeakSounds:
    """Phonemes of espeak-ng, as running text; words that it would merge ("of the") as if something
    stood between them.

    At the end of what it sees espeak-ng stresses function words, so while a clause may go on,
    ``stand_in`` is read after it, for the sake of the others alone. Where espeak-ng makes more or
    fewer words of a clause than there are (figures), each is read by itself.
    """

    def __init__(self, voice: str, stand_in: str) -> None:
        """``voice`` is espeak-ng's ("de", "en-us"); ConfigError where espeak-ng or the voice is not
        there."""
        self._voice = voice
        self._stand_in = stand_in
        ESPEAK.clauses(voice, "a")

    def clause(self, words: Sequence[str], *, closed: bool) -> list[str]:
        asked = list(words)
        if not closed and self._stand_in:
            asked.append(self._stand_in)
        sounds = aligned(self._ask(" ".join(asked)), self._ask(BETWEEN.join(asked)))
        if len(sounds) != len(asked):
            alone = [self.alone(text) for text in asked]
            counts = [len(text.split()) for text in alone]
            sounds = _in_groups(sounds, counts) if sum(counts) == len(sounds) else alone
        return sounds[: len(words)]

    def alone(self, word: str) -> str:
        return " ".join(self._ask(word))

    def _ask(self, text: str) -> list[str]:
        """The words of the text's phonemes."""
        joined = FLAG.sub("", " ".join(ESPEAK.clauses(self._voice, text)))
        return unicodedata.normalize("NFD", joined).split()


class EspeakPhonemizer(ClausePhonemizer):
    """Words to the phonemes of espeak-ng."""

    waits: ClassVar[bool] = True
    """espeak-ng is a process of its own, which may hang."""

    def __init__(
        self,
        voice: str,
        phonemes: Mapping[str, int],
        *,
        stand_in: str,
        layout: Layout | None = None,
        inner_punctuation: bool = True,
    ) -> None:
        """``voice`` is espeak-ng's ("de", "en-us"); ConfigError where espeak-ng or the voice is not
        there."""
        sounds = mixed(EspeakSounds(voice, stand_in), voice)
        super().__init__(sounds, phonemes, layout=layout, inner_punctuation=inner_punctuation)


def aligned(running: list[str], apart: list[str]) -> list[str]:
    """Words as they sound in running text, one for each that was kept apart; where some were
    merged, those kept apart.

    In running text a word's end may assimilate to the next ("os amigos"), as voices learned it.
    """
    if len(running) == len(apart):
        return list(running)
    sizes = _merged(running, apart)
    sounds = list(apart)
    at = 0
    for sound, size in zip(running, sizes, strict=False):
        if size == 1:
            sounds[at] = sound
        at += size
    return sounds


def _merged(running: list[str], apart: list[str]) -> list[int]:
    """How many of the words kept apart each word of running text is, so that they are most alike;
    [] if none fits."""
    best: dict[int, tuple[float, list[int]]] = {0: (0.0, [])}
    for i, sound in enumerate(running):
        left = len(running) - i - 1
        found = dict[int, tuple[float, list[int]]]()
        for at, (score, sizes) in best.items():
            for size in range(1, min(_MAX_MERGED, len(apart) - at - left) + 1):
                end = at + size
                alike = score + size * _likeness(sound, "".join(apart[at:end]))
                if len(apart) - end <= left * _MAX_MERGED and alike > found.get(end, (-1.0, []))[0]:
                    found[end] = (alike, [*sizes, size])
        best = found
    score, sizes = best.get(len(apart), (0.0, []))
    return sizes if score >= _ALIKE * len(apart) else []


@functools.lru_cache(maxsize=4096)
def _likeness(sound: str, group: str) -> float:
    """From 0 to 1, stress and length aside."""
    return SequenceMatcher(None, _bare(sound), _bare(group), autojunk=False).ratio()


def _bare(sound: str) -> str:
    return sound.replace("ˈ", "").replace("ˌ", "").replace("ː", "")


def _in_groups(items: list[str], counts: list[int]) -> list[str]:
    """Items joined in groups of these sizes."""
    rest = iter(items)
    return [" ".join(itertools.islice(rest, count)) for count in counts]
