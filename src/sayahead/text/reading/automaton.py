"""One automaton for all rules of a language: its states are made when a text first needs them.

It is a subset construction done late. A state is the set of places in the rules' patterns where
reading may be; a character leads to the next set. So whether any rule can still go on, which is all
that anybody has to wait for, is whether the next set is empty.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from sayahead.text.reading.pattern import (
    NEWLINE,
    SPACE,
    Chars,
    Node,
    Pattern,
    Repeat,
    Series,
    Vocabulary,
)

MAX_STEPS = 100_000
"""Steps from state to state that are kept; beyond, new tokens begin with none, so hostile text
costs no memory."""
DEAD = -1
SAMPLES = "".join(map(chr, range(32, 127))) + "äÄ½²⁺₂αΩ°′″×·−…–’€․⚙\ufe0f\u2029"
"""Characters of most kinds, for checks."""


LAST = "\U0010ffff"
"""Behind all characters of words."""


class Branch:
    """The words of a vocabulary that begin alike. What it divides into is found when it is asked
    for: most words of a language are never read."""

    __slots__ = ("_children", "_first", "_last", "_length", "_words", "goes_on", "is_word")

    def __init__(self, words: Sequence[str], first: int, last: int, length: int) -> None:
        """``words`` in order, of which those from ``first`` to before ``last`` begin with the same
        ``length`` characters."""
        self._words = words
        self._first = first
        self._last = last
        self._length = length
        self._children: dict[str, Branch | None] = {}
        self.is_word = first < last and len(words[first]) == length
        self.goes_on = last - first > self.is_word

    @classmethod
    def of(cls, words: Iterable[str], *, folded: bool = False) -> Branch:
        """All words; ``folded``: in small letters, which capitals match, too."""
        ordered = sorted({word.lower() if folded else word for word in words})
        return cls(ordered, 0, len(ordered), 0)

    def child(self, char: str) -> Branch | None:
        """Those that go on with a character, if any do."""
        if char not in self._children:
            self._children[char] = self._child(char)
        return self._children[char]

    def _child(self, char: str) -> Branch | None:
        if not self.goes_on:
            return None
        start = self._words[self._first][: self._length] + char
        first = bisect_left(self._words, start, self._first, self._last)
        last = bisect_left(self._words, start + LAST, first, self._last)
        return Branch(self._words, first, last, self._length + 1) if first < last else None

    @property
    def following(self) -> set[str]:
        """The characters with which they go on."""
        words = self._words[self._first + self.is_word : self._last]
        return {word[self._length] for word in words}


Item = int | tuple[Branch, bool, int]
"""A place, or the words of a vocabulary that may still be read (and whether they are folded) with
the place behind them."""


class Automaton:
    """The patterns of all rules, in their order; sessions and threads share it.

    Patterns that count at the same places share what they begin with alike, so that forty rules
    that begin with a number are one way through its figures.
    """

    def __init__(
        self,
        patterns: Sequence[tuple[Hashable, Pattern]],
        vocabularies: Mapping[str, Sequence[str]],
        at_once: frozenset[int] = frozenset(),
    ) -> None:
        """``patterns``: each with the conditions under which it counts; equal ones share a
        start. ``at_once``: the numbers of those that wait for nothing longer."""
        self.at_once = at_once
        self.edges = defaultdict[int, list[tuple[str, int]]](list)
        """By place: the sets of characters that lead on, and where they lead."""
        self.rules = defaultdict[int, list[int]](list)
        """By place: the rules whose pattern ends there."""
        self.tests: dict[str, Callable[[str], object]] = {}
        """Whether a character belongs to a set."""
        self.starts: list[int] = []
        self._count = 0
        self._empty = defaultdict[int, list[Item]](list)
        self._closed: dict[Item, frozenset[Item]] = {}
        self._vocabularies = vocabularies
        self._branches: dict[str, Branch] = {}
        self._shapes: dict[Hashable, int] = {}
        self._shape_of: dict[int, int] = {}
        self._ends: dict[tuple[int, int | str], int] = {}
        starts: dict[Hashable, int] = {}
        for number, (conditions, pattern) in enumerate(patterns):
            if conditions not in starts:
                starts[conditions] = self._new()
            end = self._add(pattern.body, starts[conditions])
            if pattern.right is not None:
                end = self._add(pattern.right, end)
            self.rules[end].append(number)
            self.starts.append(starts[conditions])
        for table in (self._ends, self._shapes, self._shape_of):
            table.clear()
        self._states = AutomatonStates(self)

    def states(self) -> AutomatonStates:
        """The states so far; whoever begins a token keeps them to its end."""
        if self._states.are_too_many:
            self._states = AutomatonStates(self)
        return self._states

    def closure(self, item: Item) -> frozenset[Item]:
        """Where an item leads before the next character: what reads one, or ends a rule."""
        if item not in self._closed:
            found = {item}
            todo = [item]
            while todo:
                new = [after for after in self._without_character(todo.pop()) if after not in found]
                found.update(new)
                todo += new
            self._closed[item] = frozenset(filter(self._counts, found))
        return self._closed[item]

    def _without_character(self, item: Item) -> Iterable[Item]:
        if isinstance(item, int):
            return self._empty.get(item, ())
        branch, _, after = item
        return (after,) if branch.is_word else ()

    def _counts(self, item: Item) -> bool:
        return not isinstance(item, int) or item in self.edges or item in self.rules

    def _new(self) -> int:
        self._count += 1
        return self._count

    def _shape(self, node: Node) -> int | str:
        """What nodes have in common which differ in what they capture alone."""
        if isinstance(node, Chars):
            return node.source
        shape = self._shape_of.get(id(node))
        if shape is None:
            own = [getattr(node, name) for name in type(node).__slots__]
            key = (type(node), *own, *map(self._shape, node.parts))
            shape = self._shapes.setdefault(key, len(self._shapes))
            self._shape_of[id(node)] = shape
        return shape

    def _add(self, node: Node, at: int) -> int:
        """Add a node behind a place, unless it is there; the place behind it."""
        key = (at, self._shape(node))
        if key not in self._ends:
            self._ends[key] = self._added(node, at)
        return self._ends[key]

    def _added(self, node: Node, at: int) -> int:
        """Add a node behind a place, as edges or, for words of a vocabulary and choices, as ways
        without a character; the place behind it. What begins alike is shared (``_add``)."""
        if isinstance(node, Series):
            for part in node.parts:
                at = self._add(part, at)
            return at
        if isinstance(node, Repeat):
            return self._add_repeat(node, at)
        end = self._new()
        if isinstance(node, Chars):
            if node.source not in self.tests:
                self.tests[node.source] = _test(node.source)
            self.edges[at].append((node.source, end))
        elif isinstance(node, Vocabulary):
            self._empty[at].append((self._branch(node.name), node.name.endswith("~"), end))
        else:
            for part in node.parts:
                self._empty[self._add(part, at)].append(end)
        return end

    def _add_repeat(self, node: Repeat, at: int) -> int:
        (part,) = node.parts
        for _ in range(node.low):
            at = self._add(part, at)
        end = self._new()
        self._empty[at].append(end)
        if node.high is None:
            self._empty[self._add(part, end)].append(end)
            return end
        for _ in range(node.high - node.low):
            at = self._add(part, at)
            self._empty[at].append(end)
        return end

    def _branch(self, name: str) -> Branch:
        if name not in self._branches:
            words = self._vocabularies[name.rstrip("~")]
            self._branches[name] = Branch.of(words, folded=name.endswith("~"))
        return self._branches[name]


def _test(source: str) -> Callable[[str], object]:
    """Whether a character belongs to a set as Python's ``re`` writes it: mostly one of one
    character."""
    char = source[-1]
    return char.__eq__ if source == re.escape(char) else re.compile(source).fullmatch


class AutomatonStates:
    """The states that texts have needed so far. Reading them takes no lock, making one does."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._lock = threading.Lock()
        self._edges: list[dict[str, list[int]]] = []
        self._branches: list[list[tuple[Branch, bool, int]]] = []
        self._numbers: dict[frozenset[Item], int] = {}
        self._rows: list[dict[str, int]] = []
        self._started: dict[frozenset[int], int] = {}
        self._steps = 0
        self._kinds_of: dict[str, frozenset[str]] = {}
        self._alike: dict[frozenset[str], frozenset[str]] = {}
        self.accepts: list[tuple[int, ...]] = []
        """Rules whose pattern is complete in a state, the first one first."""
        self.is_open: list[bool] = []
        """Whether a state leads anywhere."""
        self.is_final: list[bool] = []
        """Whether the first rule of a state waits for nothing longer."""

    @property
    def are_too_many(self) -> bool:
        return self._steps > MAX_STEPS

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
        after = self._rows[state].get(char)
        return self._made(state, char) if after is None else after

    def follow(
        self, state: int, text: str, start: int, end: int, complete: list[tuple[int, int]]
    ) -> tuple[int, int]:
        """Go from one place of a text to another: the state behind that, and how far rules go on.

        ``complete`` takes the ends of what rules accept, each with its state. A rule that waits for
        nothing longer is an end, too.
        """
        rows = self._rows
        for place in range(start, end):
            char = text[place]
            after = rows[state].get(char)
            if after is None:
                after = self._made(state, char)
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
            self._steps += 1
        return after

    def leading_on(self, state: int) -> set[str]:
        """Characters that lead somewhere from a state: one of each kind that rules tell apart, at
        least."""
        sources = self._edges[state]
        tests = [self._automaton.tests[source] for source in sources]
        own = "".join(source[-1] for source in sources)
        chars = {char for char in SAMPLES + own if any(test(char) for test in tests)}
        return chars.union(*(branch.following for branch, _, _ in self._branches[state]))

    def _stepped(self, state: int, char: str) -> int:
        edges = self._edges[state]
        items: set[Item] = {end for kind in self._kinds(char) for end in edges.get(kind, ())}
        letter = SPACE if char == NEWLINE else char
        small = letter.lower()
        for branch, folded, after in self._branches[state]:
            child = branch.child(small if folded else letter)
            if child is not None:
                items.add((child, folded, after))
        return self._state(items) if items else DEAD

    def _state(self, items: Iterable[Item]) -> int:
        automaton = self._automaton
        key = frozenset[Item]().union(*map(automaton.closure, items))
        number = self._numbers.get(key)
        if number is not None:
            return number
        places = [item for item in key if isinstance(item, int)]
        branches = [item for item in key if not isinstance(item, int)]
        edges: dict[str, list[int]] = {}
        for place in places:
            for kind, end in automaton.edges.get(place, ()):
                edges.setdefault(kind, []).append(end)
        accepts = tuple(sorted({rule for at in places for rule in automaton.rules.get(at, ())}))
        self._rows.append({})
        self._edges.append(edges)
        self._branches.append(branches)
        self.accepts.append(accepts)
        self.is_final.append(bool(accepts) and accepts[0] in automaton.at_once)
        self.is_open.append(bool(edges) or any(branch.goes_on for branch, _, _ in branches))
        self._numbers[key] = len(self._rows) - 1
        return len(self._rows) - 1

    def _kinds(self, char: str) -> frozenset[str]:
        """The sets of characters, as patterns write them, to which one belongs."""
        kinds = self._kinds_of.get(char)
        if kinds is None:
            tests = self._automaton.tests
            kinds = frozenset(source for source, test in tests.items() if test(char))
            kinds = self._alike.setdefault(kinds, kinds)
            self._kinds_of[char] = kinds
        return kinds
