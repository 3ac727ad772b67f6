"""What every policy promises, and the chunks that Ma's parameters make."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayahead import ConfigError
from sayahead.engine.policy import WordPolicy
from sayahead.research import READ, Independent, LookaheadK, Speak, View, WaitAll, Word


def words(text: str) -> tuple[Word, ...]:
    """Words of a text whose sentences end in full stops."""
    return tuple(Word(word, i, i + 1, word.endswith(".")) for i, word in enumerate(text.split()))


def view(text: str, *, first: bool = True, opening: str = "") -> View:
    return View(words(text), first, lambda word: len(word.text), opening=opening)


def spoken(policy: WordPolicy, sentence: tuple[Word, ...]) -> list[tuple[int, int]]:
    """(words read, words spoken) at each SPEAK of a sentence that comes word by word."""
    pending: list[Word] = []
    said = 0
    path = []
    for read, word in enumerate(sentence, start=1):
        pending.append(word)
        while pending:
            action = policy.decide(View(tuple(pending), said == 0, lambda word: len(word.text)))
            if not isinstance(action, Speak):
                break
            said += action.word_count
            del pending[: action.word_count]
            path.append((read, said))
    assert not pending
    return path


@pytest.mark.parametrize(
    ("policy", "text", "first", "expected"),
    [
        (LookaheadK(1), "a", True, READ),
        (LookaheadK(1), "a b", True, Speak(1, 1)),
        (LookaheadK(0), "a", True, Speak(1, 0)),
        (LookaheadK(2), "a b", True, READ),
        (LookaheadK(2), "a b.", True, Speak(1, 2)),
        (LookaheadK(5), "a.", True, Speak(1, 5)),
        (LookaheadK(1, first_chunk=4, chunk=2), "aa bb", True, READ),
        (LookaheadK(1, first_chunk=4, chunk=2), "aa bb c", True, Speak(2, 1)),
        (LookaheadK(1, first_chunk=4, chunk=2), "aa bb", False, Speak(1, 1)),
        (LookaheadK(1, first_chunk=99), "aa bb.", True, Speak(2, 1)),
        (LookaheadK(1, first_chunk=4, chunk=2, in_chunks=True), "aa bb c", True, READ),
        (LookaheadK(1, first_chunk=4, chunk=2, in_chunks=True), "aa bb c d", True, Speak(2, 2)),
        (LookaheadK(2, first_chunk=4, chunk=2, in_chunks=True), "aa bb c d ee", True, Speak(2, 3)),
        (LookaheadK(2, first_chunk=4, chunk=2, in_chunks=True), "aa bb c.", True, Speak(2, 1)),
        (WaitAll(), "a b c", True, READ),
        (WaitAll(), "a b c.", True, Speak(3, 0)),
        (WaitAll(max_words=3), "a b, c d", True, Speak(2, 0)),
        (WaitAll(max_words=3), "a b c d", True, Speak(3, 0)),
        (Independent(2), "a", False, READ),
        (Independent(2), "a b c", False, Speak(2, 0, alone=True)),
        (Independent(2), "a.", True, Speak(1, 0, alone=True)),
    ],
)
def test_decisions(policy: WordPolicy, text: str, first: bool, expected: object) -> None:
    assert policy.decide(view(text, first=first)) == expected


def test_the_first_word_waits_for_a_few_letters_of_the_second() -> None:
    policy = LookaheadK(1, first_letters=3)
    assert policy.decide(view("a", opening="th")) == READ
    assert policy.decide(view("a", opening="the")) == Speak(1, 0, letters=3)
    # What else has arrived changes nothing.
    assert policy.decide(view("a there", opening="there")) == Speak(1, 0, letters=3)
    assert policy.decide(view("a b", opening="b")) == Speak(1, 1)
    assert LookaheadK(0, first_letters=3).decide(view("a", opening="the")) == Speak(1, 0)


@given(
    st.integers(0, 4),
    st.integers(1, 20),
    st.integers(1, 20),
    st.lists(st.integers(1, 9), min_size=1, max_size=30),
)
def test_lookahead_lags_by_at_most_a_chunk_and_k(
    k: int, first: int, chunk: int, lengths: list[int]
) -> None:
    sentence = [Word("x" * length, i, i + 1) for i, length in enumerate(lengths)]
    sentence[-1] = dataclasses.replace(sentence[-1], ends=True)
    path = spoken(LookaheadK(k, first, chunk), tuple(sentence))
    assert path[-1] == (len(lengths), len(lengths))
    for number, (read, said) in enumerate(path[:-1]):
        before = path[number - 1][1] if number else 0
        phonemes = sum(lengths[before:said])
        assert phonemes >= (chunk if number else first)
        assert phonemes - lengths[said - 1] < (chunk if number else first)
        assert read == min(said + k, len(lengths)) or read == (path[number - 1][0] if number else 0)


@pytest.mark.parametrize("bad", [{"k": -1}, {"k": 1.5}, {"first_chunk": 0}, {"chunk": "six"}])
def test_bad_parameters_are_named(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        LookaheadK(**bad)


def test_wait_all_takes_at_least_one_word() -> None:
    with pytest.raises(ConfigError, match="max_words"):
        WaitAll(max_words=0)
    with pytest.raises(ConfigError, match="Independent: words"):
        Independent(0)
