"""Compares what was said with accepted readings, which are written with choices in braces.

``at {five|oh {five|six}} | by five`` stands for four readings. They are never listed, since a text
may have millions: the tree of choices is walked with a set of positions, or with a row of an edit
distance. Case, punctuation and spaces between letters ("B P", "BP") make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from sayahead.errors import ConfigError

_SCALE_AND = re.compile(r"\b(hundred|thousand|million|billion|trillion) and\b")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_LETTERS = re.compile(r"\b[^\W\d_](?: [^\W\d_])+\b")
_SAME = {"mr": "mister", "mrs": "missus", "etc": "etcetera", "oh": "o", "okay": "ok"}
_TOKEN = re.compile(r" \| |[{}|]|[^{}|]+?(?= \| |[{}|]|$)")

Node = str | tuple[str, list["Node"]]
"""Words, a sequence (``all``) or alternatives (``any``)."""
State = TypeVar("State")


def parse(reading: str) -> Node:
    """Parse a reading with choices into a tree. ConfigError if braces do not match."""
    tokens = _TOKEN.findall(_SCALE_AND.sub(r"\1 {and|}", reading))
    tokens.reverse()
    node = _choice(tokens)
    if tokens:
        raise ConfigError(f"A brace closes nothing: {reading!r}.")
    return node


def _choice(tokens: list[str]) -> Node:
    """Parse alternatives up to a closing brace or the end, by recursive descent. ``tokens`` are in
    reverse order, and those that belong to it are removed."""
    alternatives: list[list[Node]] = [[]]
    while tokens and tokens[-1] != "}":
        token = tokens.pop()
        if token.strip() == "|":
            alternatives.append([])
        elif token == "{":
            alternatives[-1].append(_choice(tokens))
            if not tokens:
                raise ConfigError("A brace is not closed.")
            tokens.pop()
        else:
            alternatives[-1].append(token)
    return ("any", [("all", sequence) for sequence in alternatives])


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared; letters in a row are one word."""
    plain = re.sub("[.-]", " ", text.lower().replace("’", "'"))
    words = [_SAME.get(word, word).replace("'", "") for word in _WORD.findall(plain)]
    return _LETTERS.sub(lambda run: run[0].replace(" ", ""), " ".join(words)).split()


def is_accepted(said: str, readings: Node) -> bool:
    """Return whether what was said has the letters of one of the readings."""
    letters = "".join(words_of(said))

    def advance(positions: frozenset[int], text: str) -> frozenset[int]:
        wanted = "".join(words_of(text))
        size = len(wanted)
        return frozenset(start + size for start in positions if letters.startswith(wanted, start))

    ends = _walk(readings, frozenset({0}), advance, lambda sets: frozenset().union(*sets))
    return len(letters) in ends


def distance(said: str, readings: Node) -> int:
    """Return the smallest edit distance in words to one of the readings: 0 if it is accepted, else
    at least 1."""
    if is_accepted(said, readings):
        return 0
    words = words_of(said)

    def advance(row: tuple[int, ...], text: str) -> tuple[int, ...]:
        for wanted in words_of(text):
            next_row = [row[0] + 1]
            for column, word in enumerate(words):
                replaced = row[column] + (word != wanted)
                next_row.append(min(replaced, row[column + 1] + 1, next_row[-1] + 1))
            row = tuple(next_row)
        return row

    def nearest(rows: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        return tuple(map(min, zip(*rows, strict=True)))

    start = tuple(range(len(words) + 1))
    return max(1, _walk(readings, start, advance, nearest)[-1])


def _walk(
    node: Node,
    state: State,
    advance: Callable[[State, str], State],
    merge: Callable[[Sequence[State]], State],
) -> State:
    """Return the state after a node. ``advance``: returns the state after words; ``merge``:
    combines those after alternatives."""
    if isinstance(node, str):
        return advance(state, node)
    kind, parts = node
    if kind == "any":
        return merge([_walk(part, state, advance, merge) for part in parts])
    for part in parts:
        state = _walk(part, state, advance, merge)
    return state
