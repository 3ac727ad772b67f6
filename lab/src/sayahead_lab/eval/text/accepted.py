"""Accepted readings with choices in braces, and how far what was said is from the nearest of them.

``at {five|oh {five|six}} | by five`` names four readings. They are never listed: a text may have
millions. Letters, marks and spaces that only part words ("B P", "BP") make no difference.
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
"""Words, or what stands in a row (``all``), or what may stand for each other (``any``)."""
State = TypeVar("State")


def parse(reading: str) -> Node:
    """The choices of a reading; ConfigError where a brace is open."""
    tokens = _TOKEN.findall(_SCALE_AND.sub(r"\1 {and|}", reading))
    tokens.reverse()
    node = _choice(tokens)
    if tokens:
        raise ConfigError(f"A brace closes nothing: {reading!r}.")
    return node


def _choice(tokens: list[str]) -> Node:
    ways: list[list[Node]] = [[]]
    while tokens and tokens[-1] != "}":
        token = tokens.pop()
        if token.strip() == "|":
            ways.append([])
        elif token == "{":
            ways[-1].append(_choice(tokens))
            if not tokens:
                raise ConfigError("A brace is not closed.")
            tokens.pop()
        else:
            ways[-1].append(token)
    return ("any", [("all", way) for way in ways])


def words_of(text: str) -> list[str]:
    """The words that count; letters that are spelled are one."""
    plain = re.sub("[.-]", " ", text.lower().replace("’", "'"))
    words = [_SAME.get(word, word).replace("'", "") for word in _WORD.findall(plain)]
    return _LETTERS.sub(lambda run: run[0].replace(" ", ""), " ".join(words)).split()


def is_accepted(said: str, readings: Node) -> bool:
    """Whether the letters of what was said are those of a reading."""
    letters = "".join(words_of(said))

    def behind(places: frozenset[int], text: str) -> frozenset[int]:
        wanted = "".join(words_of(text))
        size = len(wanted)
        return frozenset(at + size for at in places if letters.startswith(wanted, at))

    return len(letters) in _walk(readings, frozenset({0}), behind, lambda a: frozenset().union(*a))


def distance(said: str, readings: Node) -> int:
    """The words that are inserted, deleted or replaced; at least one where it is not accepted."""
    if is_accepted(said, readings):
        return 0
    words = words_of(said)

    def behind(row: tuple[int, ...], text: str) -> tuple[int, ...]:
        for wanted in words_of(text):
            after = [row[0] + 1]
            for place, word in enumerate(words):
                replaced = row[place] + (word != wanted)
                after.append(min(replaced, row[place + 1] + 1, after[-1] + 1))
            row = tuple(after)
        return row

    def nearest(rows: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        return tuple(map(min, zip(*rows, strict=True)))

    start = tuple(range(len(words) + 1))
    return max(1, _walk(readings, start, behind, nearest)[-1])


def _walk(
    node: Node,
    state: State,
    behind: Callable[[State, str], State],
    joined: Callable[[Sequence[State]], State],
) -> State:
    """The state behind a node: texts change it, choices join what their ways lead to."""
    if isinstance(node, str):
        return behind(state, node)
    kind, parts = node
    if kind == "any":
        return joined([_walk(part, state, behind, joined) for part in parts])
    for part in parts:
        state = _walk(part, state, behind, joined)
    return state
