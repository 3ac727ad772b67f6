"""Words of one spelling and two readings, told apart by the words beside them: "I object", "a bass
guitar".

The tagger sees the words but is often wrong about such words; the rules of ``homographs.txt`` mend
its part of speech, or give the phonemes where no part of speech tells the readings apart. They look
to the left, and one word to the right where that is known already.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ADDED: dict[str, Any] = {
    "resume": {"DEFAULT": "ɹəzˈum", "NOUN": "ɹˈɛzəmˌA"},
    "resumes": {"DEFAULT": "ɹəzˈumz", "NOUN": "ɹˈɛzəmˌAz"},
    "Polish": {"DEFAULT": "pˈOlɪʃ", "VERB": "pˈɑlɪʃ"},
}
"""Readings by part of speech that the lexicon lacks."""
RULES = Path(__file__).with_name("homographs.txt")
ANY = "*"
"""Stands for any word that the lexicon reads in several ways."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a word is, where conditions hold."""

    conditions: tuple[tuple[str, bool, frozenset[str]], ...]
    """What is looked at, whether it must be one of the words, and these."""
    says: str
    """Phonemes between slashes, a tag, or a dash."""

    def fits(self, seen: Mapping[str, Sequence[str]]) -> bool:
        """Whether all conditions hold."""
        return all(words.isdisjoint(seen[what]) != is_in for what, is_in, words in self.conditions)


@functools.cache
def rules() -> Mapping[str, Sequence[Rule]]:
    """The rules by their word, in the order of the file."""
    macros: dict[str, str] = {}
    table: dict[str, list[Rule]] = {}
    for line in RULES.read_text(encoding="utf-8").splitlines():
        name, mark, words = line.partition(" = ")
        if mark:
            macros[name] = words
        elif line and not line.startswith("//"):
            left, _, says = line.partition(" -> ")
            word, *conditions = re.sub(r"\{(\w+)\}", lambda m: macros[m[1]], left).split("; ")
            table.setdefault(word, []).append(Rule(tuple(map(_condition, conditions)), says))
    return table


def _condition(text: str) -> tuple[str, bool, frozenset[str]]:
    what, *words = text.split()
    return what.lstrip("!"), what[0] != "!", frozenset(words)


def settle(tokens: Sequence[Any], readings: Mapping[str, Any], *, known: int) -> None:
    """Mend tags and phonemes of the tagger's tokens in place; ``known`` of them are words of the
    text."""
    words = [token.text.lower() for token in tokens]
    for i, token in enumerate(tokens[:known]):
        if not token.text[0].isalpha():
            continue
        entry = readings.get(words[i]) or readings.get(token.text)
        tags = entry if isinstance(entry, dict) else {}
        right = tokens[i + 1] if i + 1 < known else None
        seen = _seen(token, words[max(0, i - 3) : i], right, tags)
        says = next((rule.says for rule in _rules_for(words[i], tags) if rule.fits(seen)), "-")
        if says[0] == "/":
            token.phonemes = says.strip("/")
            token.rating = 5
        elif says != "-":
            token.tag = says


def _rules_for(word: str, tags: Mapping[str, str]) -> Iterator[Rule]:
    """The rules of a word; those that give a tag only where the lexicon tells tags apart."""
    yield from (rule for rule in rules().get(word, ()) if tags or rule.says[0] == "/")
    if tags:
        yield from rules()[ANY]


def _seen(
    token: Any, left: list[str], right: Any, tags: Mapping[str, str]
) -> Mapping[str, Sequence[str]]:
    """What conditions look at."""
    before = left[-1] if left else ""
    is_plural = before.endswith("s") and not before.endswith("ss")
    return {
        "before": (before,),
        "near": left,
        "pair": ("_".join(left[-2:]),),
        "after": (right.text.lower() if right else "",),
        "next": (right.tag if right else "",),
        "own": (token.tag[:2],),
        "own_tag": (token.tag,),
        "has": tuple(tags),
        "form": (token.text, "capital" if token.text[0].isupper() else ""),
        "place": (("start", "second", "", "")[len(left)],),
        "ending": ("s" if is_plural else "",),
    }
