"""One automaton for all rules of a language: its states are made when a text first needs them.

It is a subset construction done late. A state is the set of places in the rules' patterns where
reading may be; a character leads to the next set. So whether any rule can still go on, which is all
that anybody has to wait for, is whether the next set is empty.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sayahead.text.reading.pattern import (
    NEWLINE,
    SPACE,
    Chars,
    Node,
    Pattern,
    Repeat,
    Series,
    Vocabulary,
    without_groups,
)

MAX_STATES = 20_000
"""AutomatonStates that are kept; beyond, new tokens begin with none, so hostile text costs no
memory."""
DEAD = -1
SAMPLES = "".join(map(chr, range(32, 127))) + "äÄ½²⁺₂αΩ°′″×·−…–’€․⚙\ufe0f\u2029"
"""Characters of most kinds, for checks."""


class Trie:
    """The words of a vocabulary, letter by letter."""

    __slots__ = ("children", "is_word")

    def __init__(self) -> None:
        self.children: dict[str, Trie] = {}
        self.is_word = False

    @classmethod
    def of(cls, words: Iterable[str], *, folded: bool = False) -> Trie:
        """``folded``: in small letters, which capitals match, too."""
        root = cls()
        for word in words:
            node = root
            for char in word.lower() if folded else word:
                node = node.children.setdefault(char, cls())
            node.is_word = True
        return root


@dataclass(slots=True)
class _Place:
    """A place in a pattern: where it leads without a character, by one, and by a vocabulary's
    word."""

    empty: list[int] = field(default_factory=list)
    edges: list[tuple[str, int]] = field(default_factory=list)
    words: list[tuple[Trie, bool, int]] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)


Item = int | tuple[Trie, bool, int]
"""A place, or a node of a vocabulary (and whether it is folded) with the place after its word."""


class Automaton:
    """The patterns of all rules, in their order; sessions and threads share it.

    Patterns that count at the same places share what they begin with alike, so that forty rules
    that begin with a number are one way through its figures.
    """

    def __init__(
        self,
        patterns: Iterable[tuple[Hashable, Pattern]],
        vocabularies: Mapping[str, Sequence[str]],
        at_once: frozenset[int] = frozenset(),
    ) -> None:
        """``patterns``: each with the conditions under which it counts; equal ones share a
        start. ``at_once``: the numbers of those that wait for nothing longer."""
        self.at_once = at_once
        self.places: list[_Place] = []
        self.tests: dict[str, re.Pattern[str]] = {}
        self.starts: list[int] = []
        letters = "".join(word for words in vocabularies.values() for word in words)
        self.literal = frozenset(letters + letters.lower())
        self._vocabularies = vocabularies
        self._tries: dict[str, Trie] = {}
        self._ends: dict[tuple[int, Node], int] = {}
        starts: dict[Hashable, int] = {}
        for number, (conditions, pattern) in enumerate(patterns):
            if conditions not in starts:
                starts[conditions] = self._new()
            end = self._add(without_groups(pattern.body), starts[conditions])
            if pattern.right is not None:
                end = self._add(without_groups(pattern.right), end)
            self.places[end].rules.append(number)
            self.starts.append(starts[conditions])
        self._ends.clear()
        self._states = AutomatonStates(self)

    def states(self) -> AutomatonStates:
        """The states so far; whoever begins a token keeps them to its end."""
        if self._states.are_too_many:
            self._states = AutomatonStates(self)
        return self._states

    def _new(self) -> int:
        self.places.append(_Place())
        return len(self.places) - 1

    def _add(self, node: Node, at: int) -> int:
        """Add a node behind a place, unless it is there; the place behind it."""
        key = (at, node)
        if key not in self._ends:
            self._ends[key] = self._added(node, at)
        return self._ends[key]

    def _added(self, node: Node, at: int) -> int:
        if isinstance(node, Chars):
            end = self._new()
            self.tests.setdefault(node.source, re.compile(node.source))
            self.places[at].edges.append((node.source, end))
            return end
        if isinstance(node, Vocabulary):
            end = self._new()
            self.places[at].words.append((self._trie(node.name), node.name.endswith("~"), end))
            return end
        if isinstance(node, Series):
            for part in node.parts:
                at = self._add(part, at)
            return at
        if isinstance(node, Repeat):
            return self._add_repeat(node, at)
        end = self._new()
        for part in node.parts:
            self.places[self._add(part, at)].empty.append(end)
        return end

    def _add_repeat(self, node: Repeat, at: int) -> int:
        (part,) = node.parts
        for _ in range(node.low):
            at = self._add(part, at)
        end = self._new()
        self.places[at].empty.append(end)
        if node.high is None:
            back = self._add(part, end)
            self.places[back].empty.append(end)
            return end
        for _ in range(node.high - node.low):
            at = self._add(part, at)
            self.places[at].empty.append(end)
        return end

    def _trie(self, name: str) -> Trie:
        if name not in self._tries:
            words = self._vocabularies[name.rstrip("~")]
            self._tries[name] = Trie.of(words, folded=name.endswith("~"))
        return self._tries[name]


class AutomatonStates:
    """The states that texts have needed so far. Reading them takes no lock, making one does."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._lock = threading.Lock()
        self._sets: list[tuple[Item, ...]] = []
        self._numbers: dict[frozenset[Item], int] = {}
        self._rows: list[dict[str, int]] = []
        self._started: dict[frozenset[int], int] = {}
        self._like: dict[str, str] = {}
        self._kinds_of: dict[str, frozenset[str]] = {}
        self._first_of_kind: dict[frozenset[str], str] = {}
        self.accepts: list[tuple[int, ...]] = []
        """Rules whose pattern is complete in a state, the first one first."""
        self.is_open: list[bool] = []
        """Whether a state leads anywhere."""
        self.is_final: list[bool] = []
        """Whether the first rule of a state waits for nothing longer."""

    @property
    def are_too_many(self) -> bool:
        return len(self._sets) > MAX_STATES or len(self._like) > MAX_STATES

    def start(self, rules: frozenset[int]) -> int:
        """The state before the first character of a token, where only these rules count."""
        state = self._started.get(rules)
        if state is None:
            with self._lock:
                state = self._state({self._automaton.starts[rule] for rule in rules})
                self._started[rules] = state
        return state

    def step(self, state: int, char: str) -> int:
        """The state behind a character, DEAD where no rule goes on."""
        like = self._like.get(char) or self._likened(char)
        after = self._rows[state].get(like)
        return self._made(state, like) if after is None else after

    def follow(
        self, state: int, text: str, start: int, end: int, complete: list[tuple[int, int]]
    ) -> tuple[int, int]:
        """Go from one place of a text to another: the state behind that, and how far rules go on.

        ``complete`` takes the ends of what rules accept, each with its state. A rule that waits for
        nothing longer is an end, too.
        """
        likes = self._like
        rows = self._rows
        for place in range(start, end):
            char = text[place]
            like = likes.get(char) or self._likened(char)
            after = rows[state].get(like)
            if after is None:
                after = self._made(state, like)
            if after == DEAD:
                return DEAD, place
            state = after
            if self.accepts[state]:
                complete.append((place + 1, state))
                if self.is_final[state]:
                    return state, place + 1
        return state, max(start, end)

    def _made(self, state: int, char: str) -> int:
        """The state behind a character that nobody has asked for yet."""
        with self._lock:
            after = self._stepped(state, char)
            self._rows[state][char] = after
        return after

    def leading_on(self, state: int) -> set[str]:
        """Characters that lead somewhere from a state: one of each kind that rules tell apart, at
        least."""
        chars: set[str] = set()
        for item in self._sets[state]:
            if isinstance(item, int):
                tests = [
                    self._automaton.tests[source]
                    for source, _ in self._automaton.places[item].edges
                ]
                chars |= {char for char in SAMPLES if any(test.fullmatch(char) for test in tests)}
            else:
                chars |= item[0].children.keys()
        return chars

    def _stepped(self, state: int, char: str) -> int:
        items: set[Item] = set()
        places = self._automaton.places
        kinds = self._kinds(char)
        for item in self._sets[state]:
            if isinstance(item, int):
                items.update(end for source, end in places[item].edges if source in kinds)
                continue
            trie, folded, after = item
            letter = SPACE if char == NEWLINE else char
            child = trie.children.get(letter.lower() if folded else letter)
            if child is not None:
                items.add((child, folded, after))
        return self._state(items) if items else DEAD

    def _state(self, items: set[Item]) -> int:
        todo = list(items)
        while todo:
            for item in self._without_character(todo.pop()):
                if item not in items:
                    items.add(item)
                    todo.append(item)
        key = frozenset(items)
        number = self._numbers.get(key)
        if number is not None:
            return number
        places = [self._automaton.places[item] for item in items if isinstance(item, int)]
        tries = [item[0] for item in items if not isinstance(item, int)]
        self._sets.append(tuple(items))
        self._rows.append({})
        accepts = tuple(sorted({rule for place in places for rule in place.rules}))
        self.accepts.append(accepts)
        self.is_final.append(bool(accepts) and accepts[0] in self._automaton.at_once)
        self.is_open.append(any(p.edges for p in places) or any(trie.children for trie in tries))
        self._numbers[key] = len(self._sets) - 1
        return len(self._sets) - 1

    def _without_character(self, item: Item) -> Iterable[Item]:
        """Where an item leads before the next character."""
        if not isinstance(item, int):
            trie, _, after = item
            return (after,) if trie.is_word else ()
        place = self._automaton.places[item]
        return [*place.empty, *place.words]

    def _kinds(self, char: str) -> frozenset[str]:
        """The sets of characters, as patterns write them, to which one belongs."""
        kinds = self._kinds_of.get(char)
        if kinds is None:
            tests = self._automaton.tests
            kinds = frozenset(source for source, test in tests.items() if test.fullmatch(char))
            self._kinds_of[char] = kinds
        return kinds

    def _likened(self, char: str) -> str:
        """The character that stands for all those that no rule tells apart."""
        like = char
        if self._automaton.literal.isdisjoint((char, char.lower())):
            like = self._first_of_kind.setdefault(self._kinds(char), char)
        self._like[char] = like
        return like
