"""A language's record from its data file: ``key = value`` lines, then tables, each after its name
in brackets.

Lines that begin with ``//`` are comments. docs/languages.md has the format.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.text.languages.nouns import Currency, Noun
from sayahead.text.languages.numbers import Numbers, Rules
from sayahead.text.languages.record import Record
from sayahead.text.tables import numbered_lines

Line = tuple[int, str]
Lines = list[Line]
SETS = ("cardinal", "ordinal", "roman", "year", "day", "seconds", "rules")
"""What the name of a set of rules begins with; those of ``rules`` are for other sets to refer
to."""
REQUIRED = ("point", "dot", "until", "per", "and_word")
"""What every language that reads figures must say."""
NAMED = {"signs": "+ - ± = % & @ # / °", "between": "x", "cardinal": "0 1 2 3 4 5 6 7 8 9"}
"""Entries that tables must have."""
_LONE = re.compile(r"([0-9]+)(?:/([0-9]+))?")
_SEVERAL = re.compile(r"([0-9]+)\.\.([0-9]+)(?: by ([0-9]+))?")
_NOUN = re.compile(r"(\S+) ([^/]+)(?:/(.+))?")
_NUMBERS = {field.name for field in dataclasses.fields(Numbers)} - {"sets", "months"}
_MADE = ("months", "month_names", "numbers", "vocabularies", "grammar")
"""What is made of tables."""
_RECORD = {field.name: field for field in dataclasses.fields(Record)}


class _File:
    """The lines of a data file, and where they are wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sections: dict[str, Lines] = {"": []}
        self.places: dict[str, int] = {"": 1}
        self._line = 1
        lines = self.sections[""]
        for number, line in numbered_lines(path):
            text = line.strip()
            if text.startswith("[") and text.endswith("]"):
                name = text[1:-1].strip()
                if name in self.sections:
                    self.wrong(f"[{name}] stands here for the second time", number)
                lines = []
                self.sections[name] = lines
                self.places[name] = number
            else:
                lines.append((number, text))
        grammar = self.sections.pop("grammar", [])
        self.grammar = tuple((path.name, number, text) for number, text in grammar)
        """Its rules: file, line and text of each."""

    def inherit(self, base: _File) -> None:
        """Take the lines of another file for those of this one that it does not change."""
        self.grammar += base.grammar
        for name, lines in base.sections.items():
            own = self.sections.get(name, [])
            is_replaced = bool(own) and (name == "months" or TABLES.get(name) in _WHOLE)
            self.sections[name] = own if is_replaced else [*lines, *own]
            self.places.setdefault(name, base.places[name])

    def wrong(self, what: str, line: int = 0) -> NoReturn:
        """ConfigError with the place, the line that is being read unless it is another."""
        raise ConfigError(f"{self.path}, line {line or self._line}: {what}.")

    def pairs(self, lines: Lines) -> Iterator[tuple[str, str]]:
        """The key and the value of each line."""
        for self._line, text in lines:
            key, mark, value = f"{text} ".partition(" = ")
            if not mark:
                self.wrong(
                    f"{text!r} must be a key and its value, with an equals sign between spaces"
                )
            yield key.strip(), value.strip()

    # ---- tables ----------------------------------------------------------------------------------

    def words(self, lines: Lines) -> dict[str, str]:
        """Words, as many a line as there are."""
        return dict.fromkeys((word for _, text in lines for word in text.split()), "")

    def texts(self, lines: Lines) -> dict[str, str]:
        """``keys = value``: several keys are parted by spaces and share a value."""
        return {key: value for keys, value in self.pairs(lines) for key in keys.split()}

    def vocabulary(self, lines: Lines) -> dict[str, str]:
        """``keys = value``, or words alone; a key with spaces in it has ``_`` for each."""
        table: dict[str, str] = {}
        for _, text in lines:
            keys, _, value = text.partition(" = ")
            table |= {
                key.replace("_", " ") if len(key) > 1 else key: value.strip()
                for key in keys.split()
            }
        return table

    def phrases(self, lines: Lines) -> dict[str, str]:
        """``key = value``, with spaces in the key."""
        return dict(self.pairs(lines))

    def kinds(self, lines: Lines) -> dict[str, str]:
        """``kind = words``: the kind of each word; a dash is none."""
        return {
            word: kind.strip("-") for kind, words in self.pairs(lines) for word in words.split()
        }

    def noun(self, text: str) -> Noun:
        """``gender singular/plural``; a gender of ``-`` is none, and without a plural it is the
        singular.

        Further forms follow, each after a slash, where the language has [noun_forms].
        """
        m = _NOUN.fullmatch(text)
        if m is None:
            self.wrong(
                f"{text!r} must be a gender (or -), a singular, and a plural after a slash if it"
                " differs"
            )
        many, *further = (m[3] or m[2]).split("/")
        return Noun(m[2], many, m[1].replace("-", ""), tuple(further))

    def nouns(self, lines: Lines) -> dict[str, Noun]:
        """``keys = noun``."""
        table = dict[str, Noun]()
        for keys, text in self.pairs(lines):
            table |= dict.fromkeys(keys.split(), self.noun(text))
        return table

    def currencies(self, lines: Lines) -> dict[str, Currency]:
        """``keys = noun, noun``: the currency and its hundredth, which may be missing."""
        table = dict[str, Currency]()
        for keys, text in self.pairs(lines):
            main, _, cent = text.partition(", ")
            money = Currency(self.noun(main), self.noun(cent) if cent else None)
            table |= dict.fromkeys(keys.split(), money)
        return table

    def rows(self, lines: Lines) -> tuple[tuple[str, str], ...]:
        """``pattern = value``."""
        for pattern, _ in self.pairs(lines):
            try:
                re.compile(pattern)
            except re.error as error:
                self.wrong(f"the pattern {pattern!r} cannot be read: {error}")
        return tuple(self.pairs(lines))

    def form_rows(self, lines: Lines) -> tuple[tuple[str, str], ...]:
        """``pattern = place``: which of a noun's forms figures ask for."""
        for pattern, place in self.pairs(lines):
            if not self.whole(pattern, place):
                self.wrong(f"{pattern} is 0, but the first form of a noun is 1")
        return self.rows(lines)

    def counts(self, lines: Lines) -> dict[str, int]:
        """``key = number``."""
        return {key: self.whole(key, value) for key, value in self.pairs(lines)}

    def whole(self, key: str, value: str) -> int:
        """A whole number."""
        if not value.isdecimal():
            self.wrong(f"{key} is {value!r}, but must be a whole number")
        return int(value)

    def fractions(self, lines: Lines) -> dict[int, Noun]:
        """``denominator = singular/plural``."""
        return {
            self.whole("the key", key): self.noun(f"- {text}") for key, text in self.pairs(lines)
        }

    def rules(self, lines: Lines) -> Rules:
        """``from..to = words`` or ``from = text``, or ``from/divisor = text``; without one it is a
        power of ten."""
        rules = dict[int, tuple[int, str]]()
        for key, text in self.pairs(lines):
            if m := _SEVERAL.fullmatch(key):
                values = range(int(m[1]), int(m[2]) + 1, int(m[3] or 1))
                words = text.split()
                if len(values) != len(words):
                    self.wrong(f"{key} are {len(values)} numbers, but {len(words)} words follow")
                rules |= {
                    value: (value or 1, word) for value, word in zip(values, words, strict=True)
                }
            elif m := _LONE.fullmatch(key):
                rules[int(m[1])] = (int(m[2] or 0) or 10 ** (len(m[1]) - 1), text)
            else:
                self.wrong(f"{key!r} must be a number, or two with dots between them: 0..9")
        return rules


def _tables() -> Mapping[str, Callable[[_File, Lines], Any]]:
    file = _File(Path(__file__).with_name("tables.txt"))
    return {name: getattr(_File, kind) for name, kind in file.pairs(file.sections[""])}


TABLES = _tables()
"""What reads the lines of each table."""


_WHOLE = (_File.words, _File.rows, _File.form_rows)
"""Kinds of tables that a file has for its own where it has them at all."""


def read_record(path: Path) -> Record:
    """The record of a data file; ``base`` names a file beside it, whose keys and tables it changes
    and adds to.

    Raises ConfigError where a key is unknown, a required one is missing, or a value is not of its
    kind."""
    file = _read(path)
    fields: dict[str, Any] = {"grammar": file.grammar, "vocabularies": {}}
    numbers: dict[str, Any] = {}
    sets: dict[str, Rules] = {}
    for key, value in file.pairs(file.sections[""]):
        _simple(file, key, value, fields, numbers)
    for name, lines in file.sections.items():
        kind, _, rest = name.partition(" ")
        if kind in SETS:
            sets[name] = file.rules(lines)
        elif name == "months":
            fields["months"], numbers["months"] = _months(file, lines)
            fields["month_names"] = numbers["months"]
        elif name in TABLES:
            tables = fields if name in _RECORD else fields["vocabularies"]
            (numbers if name in _NUMBERS else tables)[name] = TABLES[name](file, lines)
        elif kind == "vocabulary":
            fields["vocabularies"][rest.strip()] = file.vocabulary(lines)
        elif name:
            names = [*TABLES, *SETS, "months"]
            file.wrong(f"the table [{name}] is unknown{nearest(name, names)}", file.places[name])
    _check(file, fields, sets)
    if sets:
        fields.setdefault("multiplied", fields["between"]["x"])
    fields["units"] = _small({**_prefixed(fields), **fields.get("units", {})})
    fields["currencies"] = _small(fields.get("currencies", {}))
    return Record(**fields, numbers=Numbers(sets, **numbers) if sets else None)


def _read(path: Path) -> _File:
    """A file with all that it has from its base, which is read by itself first: its own errors are
    told with its own lines."""
    file = _File(path)
    base = dict(file.pairs(file.sections[""])).get("base")
    if base is not None:
        base_path = path.with_name(f"{base}.txt")
        read_record(base_path)
        file.inherit(_read(base_path))
    return file


def _simple(
    file: _File, key: str, value: str, fields: dict[str, Any], numbers: dict[str, Any]
) -> None:
    """Take in one ``key = value`` before the first table."""
    if key in ("decimals", "singular_below"):
        numbers[key] = file.whole(key, value)
    elif key in ("part_form", "varying", "date", "date_year", "feminine_names"):
        numbers[key] = value
    elif key in _RECORD and key not in TABLES and key not in _MADE:
        kind = _RECORD[key].type
        if kind == "bool" and value not in ("yes", "no"):
            file.wrong(f"{key} is {value!r}, but must be yes or no")
        values: dict[Any, Any] = {"bool": value == "yes", "str": value}
        fields[key] = values.get(kind, tuple(value.split()))
    elif key != "base":
        names = [*_RECORD, *_NUMBERS]
        where = f": it is a table, [{key}]" if key in TABLES else nearest(key, names)
        file.wrong(f"{key} is unknown{where}")


_TOO_ALIKE = frozenset("pm Mg Mm Ms Gm Gs Tm Ts Tg ps".split())
"""Metric on paper, and other words in texts."""


_TYPED_SMALL = "GB MB KB TB kHz MHz GHz kWh kW Mbps Gbps mAh USD EUR GBP CHF JPY MXN BRL".split()
"""Also typed in small letters after their number; others would be words."""


def _small(table: dict[str, Any]) -> dict[str, Any]:
    """A table with what is typed in small letters as well: ``16 gb``, ``50 usd``."""
    small = {name.lower(): table[name] for name in _TYPED_SMALL if name in table}
    return table | small


def _prefixed(fields: dict[str, Any]) -> dict[str, Noun]:
    """Units with a prefix, by rule: ``kΩ`` Kiloohm."""
    units: dict[str, Noun] = fields.get("units", {})
    return {
        prefix + base: _with_prefix(name, units[base])
        for prefix, name in fields["vocabularies"].get("prefixes", {}).items()
        for base in fields.get("metric", ())
        if base in units and prefix + base not in _TOO_ALIKE
    }


def _with_prefix(prefix: str, noun: Noun) -> Noun:
    one, many, *further = (prefix + form.lower() for form in noun.forms)
    return Noun(one, many, noun.gender, tuple(further))


def _months(file: _File, lines: Lines) -> tuple[dict[str, int], tuple[str, ...]]:
    """``number = name, and other forms in small letters``: the number of each form, and the
    names."""
    rows = [(key, text.split()) for key, text in file.pairs(lines)]
    if [key for key, _ in rows] != [*map(str, range(1, 13))]:
        file.wrong("[months] must have twelve lines, 1 to 12", file.places["months"])
    table = {forms[0].lower(): month for month, (_, forms) in enumerate(rows, 1)}
    table |= {form: month for month, (_, forms) in enumerate(rows, 1) for form in forms[1:]}
    return table, tuple(forms[0] for _, forms in rows)


def _check(file: _File, fields: dict[str, Any], sets: dict[str, Rules]) -> None:
    """ConfigError where a key is missing without which something could not be said."""
    for key in ("tag", "stand_in", *(REQUIRED if sets else ())):
        if key not in fields:
            file.wrong(f"the key {key} is missing", 1)
    if not sets:
        return
    if "months" not in fields:
        file.wrong("the table [months] is missing", 1)
    for name, entries in NAMED.items():
        table = set(map(str, sets.get(name, ()))) if name in SETS else set(fields.get(name, ()))
        if lacking := [entry for entry in entries.split() if entry not in table]:
            file.wrong(f"the table [{name}] lacks {' '.join(lacking)}", file.places.get(name, 1))
    for name, rules in sets.items():
        if any(re.search(rf"\{{\^?=(?:{re.escape(name)})?\}}", text) for _, text in rules.values()):
            file.wrong(
                f"a rule of [{name}] says a number by itself: {{=...}} must name another set",
                file.places[name],
            )
