"""Learns what letters sound like: an alignment of spellings with sounds, then a tree of the letters
around each."""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Iterable, Mapping

from sayahead.text.saying.romance.rules import PRIMARY
from sayahead.text.saying.romance.tree import EDGE, surroundings

UNIT = re.compile("[ˈˌ]*[^ˈˌ][-ː\u0300-\u036f]*")
"""A sound with its stress, length and what is written above and below it."""
MOST = 3
"""Sounds that a letter makes."""
VOWELS = frozenset("aeiouyɛɔœøɐəɪʊɑʌæɜɨ")
_LETTERS = frozenset("aeiouyáéíóúàèìòùâêîôûãõäëïöüœæ")
_COUNTS = (-1.5, 0.0, -3.0, -5.0)
"""Logarithms of how likely a letter makes so many sounds, to begin with."""
DOUBLED = 2.0
"""How much less likely the second of two equal consonants makes a sound: else either might."""
LEAST = 2
"""Letters in the same surroundings that make a leaf of their own."""


class LetterAligner:
    """Learns from words what letters sound like."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], float] = {}

    def learn(self, words: Iterable[tuple[str, str]], rounds: int = 3) -> None:
        """``words`` are spellings with their sounds; words with more sounds than letters can make
        teach nothing."""
        pairs = [(word, UNIT.findall(sounds)) for word, sounds in words]
        for _ in range(rounds):
            counts = collections.Counter[tuple[str, str]]()
            for word, sounds in pairs:
                counts.update(zip(word, self.align(word, sounds) or (), strict=False))
            totals = collections.Counter[str]()
            for (letter, _), count in counts.items():
                totals[letter] += count
            self._known = {
                pair: math.log(count / totals[pair[0]]) for pair, count in counts.items()
            }

    def align(self, word: str, sounds: list[str]) -> list[str] | None:
        """What each letter of a word makes of its sounds; None where there are too many of them."""
        count = len(sounds)
        far = -math.inf
        best = [[far] * (count + 1) for _ in range(len(word) + 1)]
        taken = [[0] * (count + 1) for _ in range(len(word) + 1)]
        best[0][0] = 0.0
        for i, letter in enumerate(word):
            left = len(word) - i - 1
            doubled = DOUBLED * (word[i - 1 : i] == letter and letter not in _LETTERS)
            for j in range(max(0, count - MOST * (left + 1)), min(count, MOST * i) + 1):
                if best[i][j] == far:
                    continue
                for size in range(min(MOST, count - j) + 1):
                    score = (
                        best[i][j]
                        + self._likely(letter, sounds[j : j + size])
                        - doubled * (size > 0)
                    )
                    if score > best[i + 1][j + size]:
                        best[i + 1][j + size] = score
                        taken[i + 1][j + size] = size
        if best[len(word)][count] == far:
            return None
        found = list[str]()
        j = count
        for i in range(len(word), 0, -1):
            found.append("".join(sounds[j - taken[i][j] : j]))
            j -= taken[i][j]
        return found[::-1]

    def _likely(self, letter: str, made: list[str]) -> float:
        if self._known:
            return self._known.get((letter, "".join(made)), -9.0 - len(made))
        alike = sum((sound.lstrip("ˈˌ")[0] in VOWELS) == (letter in _LETTERS) for sound in made)
        return _COUNTS[len(made)] - 2.0 * (len(made) - alike)


def grown(words: Mapping[str, str], accents: str = "", sample: int = 5000) -> dict[str, str]:
    """Leaves of a tree that reads these words, given with their sounds; those without one main
    stress teach nothing.

    Where the stress is teach words without ``accents``, which tell it.
    """
    aligner = LetterAligner()
    names = sorted(words)
    aligner.learn((word, words[word]) for word in names[:: max(1, len(names) // sample)])
    found = collections.defaultdict[str, list[tuple[str, str]]](list)
    for word in names:
        made = aligner.align(word, UNIT.findall(words[word])) or []
        stressed = [place for place, sound in enumerate(made) if PRIMARY in sound]
        if len(stressed) == 1:
            place = stressed[0]
            marked = word[:place] + word[place].upper() + word[place + 1 :]
            if len(marked) == len(word):
                if set(accents).isdisjoint(word):
                    found["<"].append(("<" + word[::-1] + EDGE, str(len(word) - place)))
                for i, sound in enumerate(made):
                    found[marked[i]].append((surroundings(marked, i), sound))
    leaves = dict[str, str]()
    for samples in found.values():
        _grow(leaves, samples, 1, None)
    return leaves


def _grow(
    leaves: dict[str, str], samples: list[tuple[str, str]], size: int, above: str | None
) -> None:
    """Add a leaf for samples that share so much of their surroundings, where they are not as those
    ``above``."""
    counts = collections.Counter(sound for _, sound in samples)
    [(most, _)] = counts.most_common(1)
    if most != above and (len(samples) >= LEAST or above is None):
        leaves[samples[0][0][:size]] = most
        above = most
    if len(counts) > 1:
        parts = collections.defaultdict[str, list[tuple[str, str]]](list)
        for sample in samples:
            if len(sample[0]) > size:
                parts[sample[0][size]].append(sample)
        for part in parts.values():
            _grow(leaves, part, size + 1, above)


def lines_of(leaves: Mapping[str, str]) -> list[str]:
    """A tree's file, in lines."""
    lines = list[str]()
    last = ""
    for around in sorted(leaves):
        shared = next(
            (i for i, (a, b) in enumerate(zip(around, last, strict=False)) if a != b),
            min(len(around), len(last)),
        )
        lines.append(
            f"{'0123456789abcdefghijklmnopqrstuvwxyz'[shared]}{around[shared:]}\t{leaves[around]}"
        )
        last = around
    return lines
