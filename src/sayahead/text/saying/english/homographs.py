"""Words of one spelling and several readings, told apart by the words beside them: "I object", "a
bass guitar".

The commonest are chosen by a log-linear model (``homograph_weights.txt``): each feature of a word's
surroundings has a weight for some readings, and the reading with the largest sum is said. For all
others the rules of ``homographs.txt`` mend the tagger's part of speech, or give phonemes. Both look
at three words to the left, and at one to the right where that is known already.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayahead.text.reading.trace import Candidate, Choice, open_traces
from sayahead.text.tables import lines_of

ADDED: dict[str, Any] = {
    "resume": {"DEFAULT": "ɹəzˈum", "NOUN": "ɹˈɛzəmˌA"},
    "resumes": {"DEFAULT": "ɹəzˈumz", "NOUN": "ɹˈɛzəmˌAz"},
    "Polish": {"DEFAULT": "pˈOlɪʃ", "VERB": "pˈɑlɪʃ"},
}
"""Readings by part of speech that the lexicon lacks."""
RULES = Path(__file__).with_name("homographs.txt")
WEIGHTS = Path(__file__).with_name("homograph_weights.txt")
LEFT_WORDS = 3
"""Words to the left that are looked at."""
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
    for line in lines_of(RULES):
        name, mark, words = line.partition(" = ")
        if mark:
            macros[name] = words
        else:
            left, _, says = line.partition(" -> ")
            word, *conditions = re.sub(r"\{(\w+)\}", lambda m: macros[m[1]], left).split("; ")
            table.setdefault(word, []).append(Rule(tuple(map(_condition, conditions)), says))
    return table


def _condition(text: str) -> tuple[str, bool, frozenset[str]]:
    what, *words = text.split()
    return what.lstrip("!"), what[0] != "!", frozenset(words)


@dataclass(frozen=True, slots=True)
class Chooser:
    """The log-linear model of the commonest homographs."""

    readings: Mapping[str, Mapping[str, str]]
    """Of each word in small letters, the phonemes of its readings by their names."""
    weights: Mapping[tuple[str, str], float]
    """By a feature and a reading's name (``vrb``), or a word and that (``abuse.vrb``)."""

    def reading(self, word: str, features: Sequence[str]) -> str:
        """The phonemes with the largest sum of weights."""
        readings = self.readings[word]
        candidates = [
            Candidate(name, phonemes, [*self._weights(word, name, features)])
            for name, phonemes in readings.items()
        ]
        candidates.sort(key=lambda candidate: -candidate.score)
        traces = open_traces()
        if traces is not None:
            traces.append(Choice(word, candidates))
        return candidates[0].phonemes

    def _weights(
        self, word: str, name: str, features: Sequence[str]
    ) -> Iterator[tuple[str, float]]:
        for what in features:
            own = self.weights.get((what, f"{word}.{name}"), 0.0)
            yield what, own + self.weights.get((what, name), 0.0)


@functools.cache
def chooser() -> Chooser:
    """The model of the file: lines ``word name phonemes ...``, and after a blank one ``feature
    reading weight``."""
    words, _, weights = WEIGHTS.read_text(encoding="utf-8").partition("\n\n")
    readings = dict[str, Mapping[str, str]]()
    for word, *named in map(str.split, words.splitlines()):
        readings[word] = dict(zip(named[::2], named[1::2], strict=True))
    rows = map(str.split, weights.splitlines())
    return Chooser(readings, {(what, reading): float(weight) for what, reading, weight in rows})


def features(tokens: Sequence[Any], at: int, *, known: int) -> list[str]:
    """What the model looks at around a token; ``known``: how many are words of the text."""
    seen = _surroundings(tokens, at, known)
    return ["always", *(f"{what}={value}" for what in seen for value in seen[what])]


def settle(tokens: Sequence[Any], readings: Mapping[str, Any], *, known: int) -> None:
    """Mend tags and phonemes of the tagger's tokens in place; ``known`` of them are words of the
    text."""
    words = [token.text.lower() for token in tokens[:known]]
    for i, word in enumerate(words):
        if word in chooser().readings:
            _say(tokens[i], chooser().reading(word, features(tokens, i, known=known)))
    for i, token in enumerate(tokens[:known]):
        if token.phonemes or not token.text[0].isalpha():
            continue
        entry = readings.get(words[i]) or readings.get(token.text)
        tags = entry if isinstance(entry, dict) else {}
        seen = {**_surroundings(tokens, i, known), "has": tuple(tags)}
        says = next((rule.says for rule in _rules_for(words[i], tags) if rule.fits(seen)), "-")
        if says[0] == "/":
            _say(token, says.strip("/"))
        elif says != "-":
            token.tag = says


def _say(token: Any, phonemes: str) -> None:
    token.phonemes = phonemes
    token.rating = 5


def _rules_for(word: str, tags: Mapping[str, str]) -> Iterator[Rule]:
    """The rules of a word; those that give a tag only where the lexicon tells tags apart."""
    yield from (rule for rule in rules().get(word, ()) if tags or rule.says[0] == "/")
    if tags:
        yield from rules()[ANY]


def _surroundings(tokens: Sequence[Any], at: int, known: int) -> Mapping[str, Sequence[str]]:
    """What conditions and the model look at."""
    token = tokens[at]
    left = [each.text.lower() for each in tokens[max(0, at - LEFT_WORDS) : at]]
    before = left[-1] if left else ""
    left_tag = tokens[at - 1].tag if left else ""
    right = tokens[at + 1] if at + 1 < known else None
    right_tag = right.tag if right else ""
    is_plural = before.endswith("s") and not before.endswith("ss")
    return {
        "before": (before,),
        "near": left,
        "after": (right.text.lower() if right else "",),
        "next": (right_tag,),
        "last": (left_tag, f"{left_tag}_{token.tag}"),
        "around": (f"{left_tag}_{right_tag}",),
        "own": (token.tag[:2],),
        "own_tag": (token.tag,),
        "form": (token.text, "capital" if token.text[0].isupper() else ""),
        "place": (("start", "second", "", "")[len(left)],),
        "ending": ("s" if is_plural else "",),
    }
