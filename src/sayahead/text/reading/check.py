"""What is wrong with a language's rules beyond what ends their loading: ``python -m
sayahead.text.reading.check TAG``.

A rule that can never win, two rules that are equal, a condition on a table that there is not, a
common macro that hides a table or another file's macro: each by its file and line.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Container, Iterable, Iterator

from sayahead.text.reading.automaton import DEAD
from sayahead.text.reading.grammar import MACRO, Line, Rule
from sayahead.text.reading.language import Language, common_lines, language_of
from sayahead.text.reading.pattern import Choice, Node, Repeat, Vocabulary
from sayahead.text.reading.words import macros_of

MAX_STATES = 60
"""States of the automaton that are looked at for one rule."""


def problems(language: Language) -> list[str]:
    """What is wrong, one sentence each; empty where all is well."""
    hidden = hiding(
        common_lines(language.record), {*language.vocabularies, *macros_of(language.record)}
    )
    return [
        *_equal(language),
        *_unknown_tables(language),
        *_losing(language),
        *_common_forms(language),
        *hidden,
    ]


def hiding(lines: Iterable[Line], names: Container[str]) -> Iterator[str]:
    """Macros of a name that means another thing elsewhere; a language's own may replace a common
    one."""
    places: dict[str, str] = {}
    for line in lines:
        macro = MACRO.fullmatch(line.text)
        if macro is None:
            continue
        if macro[1] in names:
            yield (
                f"{line.place}: the macro {macro[1]!r} has the name of a table or pattern of the"
                " language."
            )
        elif macro[1] in places:
            yield (
                f"{line.place}: the macro {macro[1]!r} is there already ({places[macro[1]]}), which"
                " counts."
            )
        else:
            places[macro[1]] = line.place


def _equal(language: Language) -> Iterator[str]:
    seen: dict[object, Rule] = {}
    for rule in language.grammar.rules:
        key = (rule.conditions, rule.pattern.body, rule.pattern.right)
        other = seen.setdefault(key, rule)
        if other is not rule and other.says.startswith('"'):
            yield (
                f"{rule.place}: {rule.name} is equal to {other.name} ({other.place}), which comes"
                " first."
            )


def _unknown_tables(language: Language) -> Iterator[str]:
    for rule in language.grammar.rules:
        for tag in sorted({tag for tags in (*rule.left, rule.without) for tag in tags}):
            _, mark, table = tag.partition("after:")
            if mark and table not in language.vocabularies:
                yield (
                    f"{rule.place}: {rule.name} asks for {tag!r}, but there is no table {table!r}."
                )


def _common_forms(language: Language) -> Iterator[str]:
    """Short forms that are words, too, and said to be no short forms: [vocabulary common]."""
    record = language.record
    tables = {
        "never_ends": record.table("never_ends"),
        "may_end": record.table("may_end"),
        "vocabulary short": record.vocabularies.get("short", {}),
    }
    for name, table in tables.items():
        for form in table:
            if form.endswith(".") and form[:-1] in language.common:
                yield (
                    f"{record.tag}.txt, [{name}]: {form!r} is in [vocabulary common], too: "
                    "take it out of one of them."
                )


def _losing(language: Language) -> Iterator[str]:
    """Rules whose every match is an earlier rule's, too, which always means it: one that is a
    template."""
    for number, rule in enumerate(language.grammar.rules):
        parts = [part for part in (rule.pattern.body, rule.pattern.right) if part is not None]
        if all(_can_match(part, language) for part in parts) and not _wins(language, number):
            yield (
                f"{rule.place}: {rule.name} can never win: an earlier rule takes all that it could."
            )


def _wins(language: Language, number: int) -> bool:
    """Whether the rule is the first in some state of the automaton; True where that is not found
    out."""
    grammar = language.grammar
    tags = frozenset(min(tags) for tags in grammar.rules[number].left)
    states = grammar.automaton.states()
    start = states.start(grammar.counting(tags))
    alone = states.start(frozenset({number}))
    seen = {(start, alone)}
    todo = deque(seen)
    while todo:
        if len(seen) > MAX_STATES:
            return True
        state, own = todo.popleft()
        if number in states.accepts[own] and not _blocked(language, states.accepts[state], number):
            return True
        for char in states.leading_on(own):
            after = (states.step(state, char), states.step(own, char))
            if DEAD not in after and after not in seen:
                seen.add(after)
                todo.append(after)
    return False


def _blocked(language: Language, accepted: tuple[int, ...], number: int) -> bool:
    rules = language.grammar.rules
    return any(other < number and rules[other].says.startswith('"') for other in accepted)


def _can_match(node: Node, language: Language) -> bool:
    """Whether the language has words for all slots that the pattern needs."""
    if isinstance(node, Vocabulary):
        return bool(language.vocabularies[node.name.rstrip("~")])
    if isinstance(node, Repeat) and node.low == 0:
        return True
    counts = any if isinstance(node, Choice) else all
    return counts(_can_match(part, language) for part in node.parts)


def main() -> int:
    """Print the problems of the languages that are named; the exit code."""
    found = [f"{tag}: {problem}" for tag in sys.argv[1:] for problem in problems(language_of(tag))]
    print("\n".join(found) or "No problem.")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
