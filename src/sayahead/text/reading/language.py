"""A language as the rules see it: its data file's tables as vocabularies, its grammar, its
sayers."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.text.classes import BARE_CLASSES, CLASSES
from sayahead.text.classes.verbalize import VERBALIZERS, pieces
from sayahead.text.languages import record_of
from sayahead.text.languages.record import Record
from sayahead.text.reading.context import ATTRIBUTIVE, Match, Reading, RefusedError, meant
from sayahead.text.reading.grammar import Grammar, Line, Rule, lines_of, parse
from sayahead.text.reading.words import MAX_KNOWN, Words, macros_of

ENDS = "ends"
"""Among the tags of a template: the token's full stop ends the sentence."""

_CLASSES = Path(__file__).parents[1] / "classes"
_PLACE = re.compile(r"\{([@a-z][\w.]*|'[^']+')(?:\|([a-z_]+)(?::(\w+))?)?\}")
_SAYS = re.compile(r"(?P<says>.+?)(?: as (?P<tags>[\w ]+))?")
_SAYER = re.compile(r"(?:([a-z_]+)\.)?([a-z_]+)(?::(\w+))?")

Sayer = Callable[[Match], Reading | None]
"""What is said for a match; None or RefusedError where the rule does not mean it, and the next
candidate is asked."""


class Language(Words):
    """One language's words and rules; immutable, shared by all sessions."""

    def __init__(self, tag: str, record: Record) -> None:
        super().__init__(tag, record)
        own = [Line("", text, f"{file}:{number}") for file, number, text in record.grammar]
        rules = parse([*own, *common_lines(record)], self.vocabularies, macros_of(record))
        self.grammar = Grammar(rules, self.vocabularies)
        asked = "|".join(sorted(record.table("asks")))
        self.falling = re.compile(rf"(?:\S{{1,4}} )?(?:{asked})" + r"\b" * bool(asked))
        """Matches the clause of a question that falls; the word may come after a short one: "and
        what". Without such words, all do."""
        self._sayers: dict[Rule, Sayer] = {rule: self._sayer(rule) for rule in rules}
        self._tags: dict[str, frozenset[str]] = self._announcing(rules)
        self._heads = {word.partition("-")[0] for word in self._tags if "-" in word}
        self._tags_of = functools.lru_cache(maxsize=MAX_KNOWN)(self._shown)

    def say(self, match: Match) -> Reading | None:
        """What is said for a match, or None where the rule does not mean it."""
        try:
            return self._sayers[match.rule](match)
        except RefusedError:
            return None

    def unruled(self, text: str) -> Reading:
        """What is said for a text that no rule means: figures as such, the rest as it is
        written."""
        has_figures = self.record.numbers is not None and any(map(str.isdigit, text))
        return Reading(pieces(text, self) if has_figures else text)

    def tags_after(self, before: str, word: str) -> frozenset[str]:
        """What a word tells the next token: its shape, ``after:TABLE``, the kinds of its cues.

        So do two words that a table has with a hyphen between them.
        """
        tags = self._tags_of(word)
        if before in self._heads or before.lower() in self._heads:
            return tags | self._announced(f"{before}-{word}")
        return tags

    def _announced(self, word: str) -> frozenset[str]:
        """What tables have of a word as it is written, and in small letters without its mark."""
        spellings = word, word.lower().rstrip(".")
        return frozenset().union(*(self._tags.get(each, ()) for each in spellings))

    def _shown(self, word: str) -> frozenset[str]:
        return self._announced(word) | shape_of(word)

    def _announcing(self, rules: list[Rule]) -> dict[str, frozenset[str]]:
        asked = {tag for rule in rules for tags in (*rule.left, rule.without) for tag in tags}
        asked.add(ATTRIBUTIVE)
        tags: dict[str, set[str]] = {}
        for tag in asked:
            _, mark, table = tag.partition("after:")
            for word in self.vocabularies.get(table, ()) if mark else ():
                tags.setdefault(word, set()).add(tag)
        for word, kind in self.record.cues.items():
            tags.setdefault(word, set()).add(kind)
        return {word: frozenset(its) for word, its in tags.items()}

    def _sayer(self, rule: Rule) -> Sayer:
        parts = _SAYS.fullmatch(rule.says)
        assert parts is not None
        says = parts["says"]
        kinds = {'"': self._template, "'": self._mark}
        say = kinds.get(says[0], self._function)(rule, says)
        return tagged(say, frozenset(parts["tags"].split())) if parts["tags"] else say

    def _mark(self, rule: Rule, says: str) -> Sayer:
        """A mark without words; without a mark, nothing."""
        reading = Reading("", mark=says.strip("'"))
        return lambda match: reading

    def _function(self, rule: Rule, says: str) -> Sayer:
        name = _SAYER.fullmatch(says)
        if name is None:
            raise ConfigError(
                f"{rule.place}: {rule.says!r} is neither a sayer nor a text in quotes."
            )
        module = importlib.import_module(f"sayahead.text.classes.{name[1] or rule.kind}")
        sayer = getattr(module, name[2], None)
        if sayer is None:
            where = f"classes/{name[1] or rule.kind}.py"
            raise ConfigError(f"{rule.place}: {where} has no sayer {name[2]!r}.")
        return cast(Sayer, functools.partial(sayer, table=name[3]) if name[3] else sayer)

    def _template(self, rule: Rule, says: str) -> Sayer:
        text = says.strip('"')
        for place in _PLACE.finditer(text):
            self._check_place(rule, place)

        def say(match: Match) -> Reading:
            words = _PLACE.sub(lambda place: self._filled(place, match), text)
            return Reading(" ".join(words.split()))

        return say

    def _check_place(self, rule: Rule, place: re.Match[str]) -> None:
        if place[2] and place[2] not in VERBALIZERS:
            options = nearest(place[2], list(VERBALIZERS))
            raise ConfigError(f"{rule.place}: there is no verbalizer {place[2]!r}{options}.")
        name = place[1]
        if name.startswith("@") and not hasattr(self.record, name[1:]):
            raise ConfigError(f"{rule.place}: a language has no key {name[1:]!r}.")
        if name[0] not in "@'" and name not in rule.pattern.groups:
            raise ConfigError(f"{rule.place}: the pattern has no slot {name!r}.")

    def _word_of(self, key: str) -> str:
        """A word of the language's file; without it, the rule does not mean the token."""
        return meant(str(getattr(self.record, key)))

    def _filled(self, place: re.Match[str], match: Match) -> str:
        if place[1].startswith("@"):
            return self._word_of(place[1][1:])
        text = place[1].strip("'") if place[1][0] == "'" else match[place[1]]
        return VERBALIZERS[place[2]](text, self, place[3] or "") if place[2] and text else text


def tagged(say: Sayer, tags: frozenset[str]) -> Sayer:
    """A sayer whose readings mean more for the next token.

    With ``ends`` among the tags, the token's own full stop is also its sentence's.
    """
    ends = ENDS in tags
    more = tags - {ENDS}

    def say_more(match: Match) -> Reading | None:
        reading = say(match)
        if reading is None:
            return None
        mark = reading.mark or ("." if ends else "")
        is_last = ends or reading.ends
        return replace(reading, tags=reading.tags | more, mark=mark, ends=is_last)

    return say_more


def common_lines(record: Record) -> list[Line]:
    """The lines of the files of rules that a language shares with others."""
    kinds = CLASSES if record.numbers else BARE_CLASSES
    return [line for kind in kinds for line in lines_of(_CLASSES / f"{kind}.rules", kind)]


@functools.cache
def language_of(tag: str) -> Language:
    """The language of a tag that has a data file of its own; ConfigError where its rules are
    wrong."""
    return Language(tag, record_of(tag))


def shape_of(word: str) -> frozenset[str]:
    """What the form of a word is for the rules of the next token."""
    shapes = {
        "letter": len(word) == 1 and word.isalpha(),
        "capital": word[:1].isupper(),
        "acronym": len(word) > 1 and word.isupper(),
        "figures": word[-1:].isdecimal(),
    }
    return frozenset(name for name, is_so in shapes.items() if is_so)
