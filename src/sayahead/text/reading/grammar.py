"""Rules as values: read from files, numbered in their order, one automaton for all of them.

A file of rules belongs to a class of tokens (``classes/money.rules`` to ``money``). Its lines are::

    // a comment
    amount = {number}|{vulgar}                                   a macro, for the rules of all
    classes price: {c:currencies}{n:number} -> price                     a rule hours <hour>
    <!code>: {h:hour}(?= {u:hour_words}) -> "{h|cardinal} {@hour}"

In angle brackets stands what the token to the left must be, one of several parted by ``|``, or with
``!`` must not be. After the arrow stands a sayer, a function of the class's module (or of another:
``number.cardinal``), or in quotes what is said: ``{group}`` as it is written, ``{group|sayer}`` as
a verbalizer says it, ``{@key}`` a word of the language's file. In single quotes stands a mark, or
nothing for what is silent. ``as tag tag`` behind these is what the token is for the next one; with
``ends`` among them its own full stop ends the sentence. With
``=>`` as its arrow a rule waits for nothing longer: what it takes is final with its last
character."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sayahead.errors import ConfigError
from sayahead.text.reading.automaton import Automaton
from sayahead.text.reading.pattern import NEWLINE, SPACE, Node, Pattern, PatternParser, source_of
from sayahead.text.tables import numbered_lines

MACRO = re.compile(r"([a-z]\w*) = (.+)")
"""A line that names a pattern."""
_RULE = re.compile(r"([a-z][\w.]*)((?: <[^<>]+>)*): (.+) ([-=])> (\S.*)")
_INDIC = "\u0900-\u0963\u0971-\u0dff"
"""The letters of Indian scripts, with the marks that are written beside them."""
LETTER = rf"(?:[^\W_]|[{_INDIC}])"
"""A letter or figure: the pattern of ``is_letter``."""
_BOUNDARY = rf"(?:(?<!{LETTER})|(?!{LETTER}))"
"""No token ends between two letters or figures."""
INDIC = frozenset(map(chr, (*range(0x0900, 0x0964), *range(0x0971, 0x0E00))))
"""The same, one by one."""


Conditions = tuple[tuple[frozenset[str], ...], frozenset[str]]
"""Of each of several sets of tags, one must be there; of the last set, none may be."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """What a token may be, where, and what is said for it."""

    name: str
    """Class and name: ``money.price``."""
    left: tuple[frozenset[str], ...]
    """Of each set, one tag must be there."""
    without: frozenset[str]
    """Tags of which none may be there."""
    pattern: Pattern
    says: str
    """A sayer or, in quotes, a template."""
    place: str
    """File and line."""
    source: str
    """The line."""
    at_once: bool = False
    """Whether it waits for nothing longer."""

    @property
    def kind(self) -> str:
        """The class of the tokens that it makes."""
        return self.name.partition(".")[0]

    @property
    def conditions(self) -> Conditions:
        """What the token to the left must be, and must not be."""
        return self.left, self.without


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file of rules."""

    kind: str
    """The class to which its file belongs."""
    text: str
    place: str


def lines_of(path: Path, kind: str) -> list[Line]:
    """The lines of a file that are no comments."""
    return [
        Line(kind, text.strip(), f"{path.name}:{number}") for number, text in numbered_lines(path)
    ]


def parse(
    lines: Iterable[Line], vocabularies: Mapping[str, object], macros: Mapping[str, str]
) -> list[Rule]:
    """The rules of lines, which may stand before the macros that they use.

    A rule of a vocabulary that the language does not have is left out: it has nothing to match.
    """
    texts = dict(macros)
    rules: list[tuple[Line, re.Match[str]]] = []
    for line in lines:
        if (rule := _RULE.fullmatch(line.text)) is not None:
            rules.append((line, rule))
        elif (macro := MACRO.fullmatch(line.text)) is not None:
            texts.setdefault(macro[1], macro[2])
        else:
            raise ConfigError(f"{line.place}: {line.text!r} is neither a macro nor a rule.")
    nodes = _Macros(texts, vocabularies)
    parsed: list[Rule] = []
    for line, m in rules:
        conditions = re.findall("<([^<>]+)>", m[2])
        left = [frozenset(one.split("|")) for one in conditions if not one.startswith("!")]
        without = [one[1:].split("|") for one in conditions if one.startswith("!")]
        try:
            pattern = PatternParser(m[3], nodes.get, vocabularies).parse()
        except ConfigError as error:
            raise ConfigError(f"{line.place}: {error}.") from None
        parsed.append(
            Rule(
                f"{line.kind}.{m[1]}" if line.kind else m[1],
                tuple(left),
                frozenset(tag for tags in without for tag in tags),
                pattern,
                m[5],
                line.place,
                line.text,
                at_once=m[4] == "=",
            )
        )
    return parsed


class _Macros:
    """Macros by name, parsed when they are first wanted, without what they capture."""

    def __init__(self, texts: Mapping[str, str], vocabularies: Mapping[str, object]) -> None:
        self._texts = texts
        self._vocabularies = vocabularies
        self._nodes: dict[tuple[str, str], Node | None] = {}
        """None while a macro is being parsed."""

    def get(self, name: str, excluded: str) -> Node | None:
        """A macro's pattern (``Macro``)."""
        text = self._texts.get(name)
        if text is None:
            return None
        key = name, excluded
        if key not in self._nodes:
            self._nodes[key] = None
            parser = PatternParser(
                text, self.get, self._vocabularies, captures=False, excluded=excluded
            )
            self._nodes[key] = parser.parse().body
        if self._nodes[key] is None:
            raise ConfigError(f"the macro {name!r} is made of itself")
        return self._nodes[key]


class Grammar:
    """The rules of a language, ready to read."""

    def __init__(self, rules: Sequence[Rule], vocabularies: Mapping[str, Sequence[str]]) -> None:
        self.rules = tuple(rules)
        at_once = frozenset(number for number, rule in enumerate(rules) if rule.at_once)
        patterns = [(rule.conditions, rule.pattern) for rule in rules]
        self.automaton = Automaton(patterns, vocabularies, at_once)
        self.closed = frozenset(
            number
            for number, rule in enumerate(rules)
            if rule.pattern.right and not rule.pattern.looks_at_word
        )
        """Rules whose last character is seen already: what touches it changes nothing."""
        self._vocabularies = vocabularies
        self._asked = frozenset(
            tag for rule in rules for tags in (*rule.left, rule.without) for tag in tags
        )
        self._under = defaultdict[Conditions, list[int]](list)
        for number, rule in enumerate(rules):
            self._under[rule.conditions].append(number)
        self._counting: dict[frozenset[str], frozenset[int]] = {}
        self._compiled = functools.cache(self._compile)

    def counting(self, tags: frozenset[str]) -> frozenset[int]:
        """The rules that count after a token with these tags."""
        asked = tags & self._asked
        rules = self._counting.get(asked)
        if rules is None:
            numbers = [
                under for conditions, under in self._under.items() if fits(conditions, asked)
            ]
            rules = frozenset(itertools.chain.from_iterable(numbers))
            self._counting[asked] = rules
        return rules

    def match(
        self, number: int, text: str, start: int, end: int
    ) -> tuple[str, Mapping[str, str]] | None:
        """The token of a rule that begins at ``start``, and what its slots captured, in one line;
        ``end`` is where its pattern was complete."""
        pattern = self.rules[number].pattern
        if pattern.is_bare:
            if pattern.right is not None:
                end -= 1
            token = _in_line(text[start:end])
            return (token, dict.fromkeys(pattern.groups, token)) if is_boundary(text, end) else None
        if pattern.looks_at_word and not is_boundary(text, end):
            return None
        compiled = self._compiled(pattern)
        read = compiled.fullmatch if pattern.right is None else compiled.match
        found = read(text, start, end)
        if found is None or found.end() == start or not is_boundary(text, found.end()):
            return None
        groups = {name: _in_line(part) for name, part in found.groupdict("").items()}
        return _in_line(found[0]), groups

    def _compile(self, pattern: Pattern) -> re.Pattern[str]:
        source = source_of(pattern.body, self._vocabularies) + _BOUNDARY
        if pattern.right is not None:
            source = f"{source}(?={source_of(pattern.right, self._vocabularies, _BOUNDARY)})"
        return re.compile(source)


def fits(conditions: Conditions, tags: frozenset[str]) -> bool:
    """Whether a token with these tags meets conditions."""
    left, without = conditions
    return without.isdisjoint(tags) and not any(tags.isdisjoint(one) for one in left)


def _in_line(text: str) -> str:
    """A text as it is without line breaks."""
    return text.replace(NEWLINE, SPACE)


def is_boundary(text: str, at: int) -> bool:
    """Whether a token may end here: not between two letters or figures."""
    return not (is_letter(text[at - 1 : at]) and is_letter(text[at : at + 1]))


def is_letter(char: str) -> bool:
    """Whether a character is a letter or figure, or a mark that Indian scripts write beside one."""
    return char.isalnum() or char in INDIC
