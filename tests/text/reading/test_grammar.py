"""Rules as values: the automaton accepts what the pattern says, and files with errors are refused
by their line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayahead.errors import ConfigError
from sayahead.text.reading.automaton import DEAD, Automaton
from sayahead.text.reading.check import hiding, problems
from sayahead.text.reading.grammar import Grammar, Line, parse
from sayahead.text.reading.language import language_of
from sayahead.text.reading.pattern import Pattern, PatternParser, source_of

WORDS = {"units": ["m", "mm", "km/h", "m²"], "months": ["mai", "märz"], "none": []}
PATTERNS = (
    r"\d+(?:,\d+)?",
    r"{u:units}",
    r"\d{1,3}(?:\.\d{3})* ?{units}",
    r"a|ab|abc?",
    r"(?:{months~}|[IVX]+)\.?",
    r"[^\d ]+-\d",
    r"\u\l*|\a{2,3}",
    r"(?:ab)*",
    r"{none}|x",
)
TEXTS = st.text(st.sampled_from("0123,. abcmkh/²äMAIVXrzx-"), max_size=8)


def parsed(text: str) -> Pattern:
    return PatternParser(text, lambda *_: None, WORDS).parse()


def rules_of(*lines: str) -> list[str]:
    kept = [Line("number", line, f"number.rules:{i}") for i, line in enumerate(lines, 1)]
    return [rule.name for rule in parse(kept, WORDS, {})]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS)
def test_the_automaton_is_complete_where_the_pattern_is(pattern: str, text: str) -> None:
    states = Automaton([(0, parsed(pattern))], WORDS).states()
    source = re.compile(source_of(parsed(pattern).body, WORDS))
    state = states.start(frozenset({0}))
    complete = set()
    for end, char in enumerate(text, 1):
        state = states.step(state, char)
        if state == DEAD:
            break
        if states.accepts[state]:
            complete.add(end)
    assert complete == {end for end in range(1, len(text) + 1) if source.fullmatch(text[:end])}


@given(text=TEXTS)
def test_a_closed_state_leads_nowhere(text: str) -> None:
    states = Automaton([(0, parsed(pattern)) for pattern in PATTERNS], WORDS).states()
    state = states.start(frozenset(range(len(PATTERNS))))
    for char in text:
        was_open = states.is_open[state]
        state = states.step(state, char)
        assert was_open or state == DEAD
        if state == DEAD:
            break


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["plain: [0-9 -> plain"], "number.rules:1: .*the set has no end"),
        (
            ["a = x", "plain: {n:digit} -> plain"],
            "number.rules:2: .*no macro and no vocabulary 'digit'",
        ),
        (["plain: *a -> plain"], "number.rules:1: .*nothing stands before"),
        (["plain {units}"], "number.rules:1: .*neither a macro nor a rule"),
        (["a = {b}", "b = {a}", "plain: {a} -> plain"], "number.rules:3: .*made of itself"),
        (["plain: (a -> plain"], "number.rules:1: .*'\\)' is missing"),
    ],
)
def test_a_wrong_line_is_named(lines: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        rules_of(*lines)


def test_a_token_ends_between_no_two_letters() -> None:
    grammar = Grammar(parse([Line("x", "a: ab|abc -> a", "x:1")], WORDS, {}), WORDS)
    assert grammar.match(0, "abc", 0, 2) is None
    assert grammar.match(0, "ab c", 0, 2) is not None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["a.rules:1: few = x", "b.rules:4: few = y"],
            ["b.rules:4: the macro 'few' is there already (a.rules:1)"],
        ),
        (
            ["a.rules:1: few = x", "a.rules:2: few = x"],
            ["a.rules:2: the macro 'few' is there already (a.rules:1)"],
        ),
        (["a.rules:1: units = x"], ["a.rules:1: the macro 'units' has the name of a table"]),
        (["a.rules:1: few = x", "a.rules:2: units: {few} -> few", "b.rules:1: fewer = y"], []),
    ],
)
def test_a_macro_that_hides_another_name_is_told(lines: list[str], said: list[str]) -> None:
    parts = [line.split(": ", 1) for line in lines]
    found = list(hiding([Line("x", text, place) for place, text in parts], WORDS))
    assert [problem.startswith(start) for problem, start in zip(found, said, strict=True)] == [
        True
    ] * len(said)


SLOW = [
    pytest.param(tag, marks=pytest.mark.slow) for tag in ("en", "es", "fr", "it", "pt", "pt-br")
]


@pytest.mark.parametrize("tag", ["nl", "de", "pl", "sv", *SLOW])
def test_no_rule_is_idle(tag: str) -> None:
    assert problems(language_of(tag)) == []
