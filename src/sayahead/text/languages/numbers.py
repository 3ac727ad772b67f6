"""Figures in words, by the rules of a language's data file: docs/languages.md says how they are
written."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sayahead.text.languages.nouns import Noun

Rules = Mapping[int, tuple[int, str]]
"""The first number that a rule says: what it is divided by, and the text."""
Rows = tuple[tuple[str, str], ...]
"""Patterns and what they say, the first that fits first."""

_CHOICE = re.compile(r"\[([^\]|]*)(?:\|([^\]]*))?\]")
_REFERENCE = re.compile(r"\{(\^?)([<>=])([^}]*)\}")
_PLACE = re.compile(r"\{([hm])(\+1)?(?: (\w+))?\}")


MAX_KNOWN = 4096
"""Numbers whose words are remembered."""


class _UnsaidError(Exception):
    """No rule says this number."""


def first(rows: Rows, text: str) -> str:
    """What the first row says whose pattern is the whole text, or nothing."""
    return next((says for pattern, says in rows if re.fullmatch(pattern, text)), "")


@dataclass(frozen=True)
class Numbers:
    """Figures in words. A form is ``""`` for counting, or the gender of the noun that follows:
    ``m``, ``f``, ``n``."""

    sets: Mapping[str, Rules]
    """Rules by the name of their set: "cardinal", "cardinal f", "ordinal"; a form has its set's
    rules but its own."""
    months: tuple[str, ...]
    """Their names, January first."""
    joints: Rows = ()
    """What becomes of words that meet: patterns and replacements, in their order."""
    decimals: int = 0
    """The most figures after the decimal mark that are read as one number; longer ones are read one
    by one."""
    parts: Mapping[int, Noun] = field(default_factory=dict)
    """Common fractions by their denominators."""
    part_form: str = ""
    """The form of the number of parts."""
    varying: str = "(?!)"
    """A pattern of the whole numbers that have several forms, so that they must wait for the
    noun."""
    noun_genders: Rows = ()
    """Any noun's gender by its form."""
    genders_of_one: Rows = ()
    """The same after a one, asked first."""
    endings: Rows = ()
    """The form of an ordinal with a full stop, by the two words before it, the noun's gender and
    the noun."""
    clocks: Rows = ()
    """How times are read, by hours and minutes, with a plus sign if seconds follow: ``14:30``,
    ``9:0+``.

    A pattern with a space in it begins with the word before the time: ``las 9:0``.
    """
    date: str = "{day} {month}"
    date_year: str = "{day} {month} {year}"
    noun_forms: Rows = ()
    """Which form of a noun figures ask for, where there are more than two: its place in the data
    file, from 1."""
    singular_below: float = 0
    """Amounts below this take the singular; if it is 0, one alone does."""
    feminine_names: str = "(?!)"
    """A pattern of names whose Roman numeral is feminine."""

    @functools.cached_property
    def _sorted_rules(self) -> dict[str, tuple[list[int], Rules]]:
        return {}

    def _rules(self, name: str) -> tuple[list[int], Rules]:
        """The first numbers of a set's rules in their order, and the rules."""
        if name not in self._sorted_rules:
            general = self.sets.get(name.partition(" ")[0], {})
            rules = {**general, **self.sets.get(name, {})}
            self._sorted_rules[name] = sorted(rules), rules
        return self._sorted_rules[name]

    def has(self, name: str) -> bool:
        """Whether there is a set of rules."""
        return name in self.sets

    def _say(self, name: str, value: int) -> str:
        starts, rules = self._rules(name)
        place = bisect_right(starts, value) - 1
        if place < 0:
            raise _UnsaidError
        divisor, text = rules[starts[place]]
        if "{" not in text and starts[place] != value:
            raise _UnsaidError
        times, rest = divmod(value, divisor)
        text = _CHOICE.sub(lambda m: m[1] if rest else m[2] or "", text)

        def refer(m: re.Match[str]) -> str:
            words = self._say(m[3] or name, {"<": times, ">": rest, "=": value}[m[2]])
            return words.capitalize() if m[1] else words

        return _REFERENCE.sub(refer, text)

    def in_words(self, name: str, value: int, form: str = "") -> str:
        """A number by a set of rules; figure by figure where they do not say it."""
        return self._known_words(name, value, form)

    @functools.cached_property
    def _known_words(self) -> Callable[[str, int, str], str]:
        """The same, which remembers numbers that were said."""
        return functools.lru_cache(maxsize=MAX_KNOWN)(self._words)

    def _words(self, name: str, value: int, form: str) -> str:
        try:
            text = self._say(f"{name} {form}" if form else name, value)
        except _UnsaidError:
            return " ".join(self._say("cardinal", int(figure)) for figure in str(value))
        for pattern, replacement in self.joints:
            text = re.sub(pattern, replacement, text)
        return text

    def cardinal(self, value: int, form: str = "") -> str:
        """A whole number in a form."""
        return self.in_words("cardinal", value, form)

    def ordinal(self, value: int, form: str = "") -> str:
        """An ordinal in a form; the number itself where the language has no rules for ordinals."""
        return (
            self.in_words("ordinal", value, form) if self.has("ordinal") else self.cardinal(value)
        )

    def fraction(self, figures: str) -> str:
        """The figures after the decimal mark: zeros one by one, the rest as a number if it is
        short."""
        return " ".join(self.cardinal(int(part)) for part in self._groups(figures))

    def _groups(self, figures: str) -> Iterator[str]:
        rest = figures.lstrip("0")
        yield from figures[: len(figures) - len(rest)]
        if rest:
            yield from rest if len(rest) > self.decimals else [rest]

    def part(self, above: int, below: int) -> str:
        """A common fraction: numerator, denominator; nothing where it has no name of its own."""
        if above == 0 or below not in self.parts:
            return ""
        name = self.form_of(self.parts[below], str(above), is_one=above == 1)
        return f"{self.cardinal(above, self.part_form)} {name}"

    def varies(self, value: int) -> bool:
        """Whether a whole number has several forms, so that it must wait for the noun."""
        return re.fullmatch(self.varying, str(value)) is not None

    def singular(self, value: float) -> bool:
        """Whether an amount takes the singular."""
        return value < self.singular_below if self.singular_below else value == 1

    def form_of(self, noun: Noun, figures: str, *, is_one: bool) -> str:
        """A noun in the form that a number asks for, as it is written; the last where a noun has
        fewer forms.

        ``is_one`` decides where a language has no [noun_forms].
        """
        return self.chosen(noun.forms, figures, is_one=is_one)

    def chosen(self, forms: Sequence[str], figures: str, *, is_one: bool) -> str:
        """The same of a noun's forms: one, many and further ones."""
        place = int(first(self.noun_forms, figures) or 2) if self.noun_forms else 1 if is_one else 2
        return forms[min(place, len(forms)) - 1]

    def gender(self, noun: str, *, is_one: bool) -> str:
        """The gender of any noun by its form, or nothing where it does not show."""
        rows = (*self.genders_of_one, *self.noun_genders) if is_one else self.noun_genders
        return first(rows, noun).replace("-", "")

    @functools.cached_property
    def _cued_clocks(self) -> Rows:
        return tuple(row for row in self.clocks if " " in row[0])

    def clock(self, hour: int, minute: int | None, second: int | None, before: str = "") -> str:
        """Hours, minutes, seconds; minutes may be unknown, and the word before them may say how
        they are read."""
        numbers = {"h": hour, "m": minute or 0}

        def number(m: re.Match[str]) -> str:
            return self.cardinal(numbers[m[1]] % 12 + 1 if m[2] else numbers[m[1]], m[3] or "")

        time = f"{hour}:{minute or 0}{'' if second is None else '+'}"
        pattern = first(self._cued_clocks, f"{before.lower()} {time}") or first(self.clocks, time)
        words = _PLACE.sub(number, pattern or ("{h} {m}" if minute else "{h}"))
        if second is None:
            return words
        return f"{words} {self.in_words('seconds' if self.has('seconds') else 'cardinal', second)}"

    def year(self, value: int) -> str:
        """A number of a year, which some languages read in another way than a count."""
        return self.in_words("year" if self.has("year") else "cardinal", value)
