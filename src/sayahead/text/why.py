"""Why a text is read as it is: the rule that made each reading, what it captured, which rules it
was preferred to.

Below these stand the lines of the language's tables that have a piece of the source and say a word
of the reading."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sayahead.text.reading.trace import Candidate, Choice, TokenTrace, traced
from sayahead.text.tables import numbered_lines
from sayahead.types import Word, subtags

LEFT_WORDS = 3
"""Words to the left that are given their phonemes again."""
_FOLDER = Path(__file__).parent
_LONGEST = 120
"""Most characters of a table's line that are shown."""
_MAX_LOSERS = 3
"""Other rules that are named, and what is seen beside a word that speaks for a pronunciation."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a word is read as it is."""

    kind: str
    """What it was taken for: the name of the rule."""
    rule: str
    """The rule as its file has it."""
    where: str
    """The rule's file and line."""
    lines: tuple[str, ...]
    """What the rule captured, the rules that it was preferred to, and lines of the language's
    tables."""


class Watch:
    """Sees which rules make the readings of a normalizer."""

    def __init__(self, language: str) -> None:
        """``language``: the tag whose tables are named."""
        self._language = language
        self._tokens: list[TokenTrace] = []
        self._choices: list[Choice] = []
        self._end = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While a normalizer is given text, or a word its phonemes."""
        with traced() as traces:
            yield
        self._tokens += [trace for trace in traces if isinstance(trace, TokenTrace)]
        self._choices = [trace for trace in traces if isinstance(trace, Choice)]

    def why(self, word: Word, source: str) -> Why | None:
        """Why a word was read otherwise than it is written; None where it was not, or where no rule
        read it."""
        self._end = word.end
        token = self._token(word)
        if token is None or _bare(word.text) == _bare(source):
            return None
        kind = token.rule.name.rpartition(".")[2].replace("_", " ")
        captured = ", ".join(f"{name} = {text}" for name, text in token.captured.items())
        losers = dict.fromkeys(
            f"{rule.name} ({rule.place})" for rule in token.losers if rule is not token.rule
        )
        others = ", ".join([*losers][:_MAX_LOSERS])
        told = {"captured": captured, "rather than": others}
        lines = tuple(f"{what}: {text}" for what, text in told.items() if text)
        lines += _lines(self._language, source, word.text)
        return Why(kind, token.rule.source, token.rule.place, lines)

    def choice(self, words: Sequence[Word], at: int) -> Why | None:
        """What spoke for each pronunciation of a word that was just given its phonemes; None where
        there is but one."""
        seen = [_bare(word.text).lower() for word in words[max(0, at - LEFT_WORDS) : at + 1]]
        own = [choice for choice in self._choices if choice.word == seen[-1]]
        number = seen.count(seen[-1]) - 1
        if number >= len(own):
            return None
        lines = tuple(map(_line, own[number].candidates))
        return Why("homograph", "the largest sum of weights", "homograph_weights.txt", lines)

    def _token(self, word: Word) -> TokenTrace | None:
        """The token of a word that is read otherwise than it is written."""
        own = [token for token in self._tokens if word.start <= token.start < word.end]
        return next((token for token in own if _bare(token.said) in _bare(word.text)), None)

    def forget(self) -> None:
        """Forget what was made for words that are out."""
        self._tokens = [token for token in self._tokens if token.end > self._end]


def _line(candidate: Candidate) -> str:
    """A pronunciation with its sum of weights and the largest of them."""
    weights = sorted(candidate.weights, key=lambda pair: -abs(pair[1]))[:_MAX_LOSERS]
    shown = ", ".join(f"{what} {weight:+.2f}" for what, weight in weights)
    return f"{candidate.name} {candidate.phonemes}: {candidate.score:+.2f} ({shown})"


def _bare(text: str) -> str:
    return re.sub(r"[^\w%$€£&@+=<>°-]+", " ", text).strip()


@functools.cache
def _tables(language: str) -> tuple[tuple[str, str, str], ...]:
    """The lines of a language's tables: file and number, keys, what they say."""
    parts = subtags(language)
    names = dict.fromkeys(("-".join(parts), parts[0]))
    data = [_FOLDER / "languages" / "data" / f"{name}.txt" for name in names]
    rows = []
    for path in filter(Path.exists, data):
        for number, line in numbered_lines(path):
            keys, mark, says = line.partition(" = ")
            if mark:
                rows.append((f"{path.name}:{number}", keys, says))
    return tuple(rows)


def _lines(language: str, source: str, said: str) -> tuple[str, ...]:
    """The lines of the tables that have a piece of the source as a key and say a word of the
    reading."""
    pieces = set(re.findall(r"[^\W\d_]+\.?|[^\w\s]+", source)) | set(source.split())
    words = {
        word
        for word in re.findall(r"[^\W\d_]{2,}", said.lower())
        if word not in source.lower().split()
    }
    found = [
        f"{place}: {keys} = {says}"[:_LONGEST]
        for place, keys, says in _tables(language)
        if pieces & set(keys.split()) and words & set(re.findall(r"[^\W\d_]{2,}", says.lower()))
    ]
    return tuple(found[:3])
