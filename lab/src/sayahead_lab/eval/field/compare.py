"""Ranking cards, and refusing to where they are not comparable."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from sayahead.config import nearest
from sayahead.errors import ConfigError

from sayahead_lab import results
from sayahead_lab.eval.experiment.machine import BUSY_CORES
from sayahead_lab.eval.field.card import SCHEMA

Card: TypeAlias = Mapping[str, Any]
Cell: TypeAlias = Callable[[Mapping[str, Any]], str]


def ms(figure: Mapping[str, Any]) -> str:
    """A time as p50 (p25 to p75)."""
    return f"{1000 * figure['p50']:.0f} ({1000 * figure['p25']:.0f} to {1000 * figure['p75']:.0f})"


def points(
    figure: Mapping[str, Any] | None, digits: int = 1, factor: float = 100, sign: str = ""
) -> str:
    """A figure with its interval."""
    if not figure:
        return ""
    value, low, high = (
        factor * (figure[key] if figure[key] is not None else 0.0)
        for key in ("value", "low", "high")
    )
    return f"{value:{sign}.{digits}f} ({low:{sign}.{digits}f} to {high:{sign}.{digits}f})"


COLUMNS: dict[str, tuple[str, Cell, Callable[[Mapping[str, Any]], float | None]]] = {
    "first": ("first sound, ms", lambda f: ms(f["first_s"]), lambda f: f["first_s"]["p50"]),
    "first-p95": (
        "p95",
        lambda f: f"{1000 * f['first_s']['p95']:.0f}",
        lambda f: f["first_s"]["p95"],
    ),
    "given": (
        "all text there, ms",
        lambda f: ms(f["given_first_s"]),
        lambda f: f["given_first_s"]["p50"],
    ),
    "wait": (
        "text wait, ms",
        lambda f: f"{1000 * f['text_wait_s']['p50']:.0f}",
        lambda f: f["text_wait_s"]["p50"],
    ),
    "safe": ("safe start, ms", lambda f: ms(f["safe_start_s"]), lambda f: f["safe_start_s"]["p50"]),
    "lag": (
        "word lag, s",
        lambda f: f"{f['word_lag_s']['mean']:.2f}",
        lambda f: f["word_lag_s"]["mean"],
    ),
    "stalls": (
        "texts that stall, %",
        lambda f: f"{100 * f['stalled']:.0f}",
        lambda f: f["stalled"],
    ),
    "rtf": ("RTF", lambda f: f"{f['rtf']:.3f}", lambda f: f["rtf"]),
    "wer": ("WER, %", lambda f: points(f["wer"]), lambda f: f["wer"] and f["wer"]["value"]),
    "gap": (
        "gap: WER",
        lambda f: points(f.get("gap_wer"), sign="+"),
        lambda f: (f.get("gap_wer") or {}).get("value"),
    ),
    "mos": (
        "DistillMOS",
        lambda f: points(f.get("distillmos"), 2, 1),
        lambda f: less(f.get("distillmos")),
    ),
    "gap-mos": (
        "gap: DistillMOS",
        lambda f: points(f.get("gap_distillmos"), 2, 1, "+"),
        lambda f: less(f.get("gap_distillmos")),
    ),
    "gap-words": ("words, ms", lambda f: number(f["gap_word_ms"]), lambda f: f["gap_word_ms"]),
    "gap-pitch": (
        "pitch, cents",
        lambda f: number(f["gap_pitch_cents"]),
        lambda f: f["gap_pitch_cents"],
    ),
}
"""Columns by name: title, a card's figures in words, and what ranks (less is better)."""


def less(figure: Mapping[str, Any] | None) -> float | None:
    """What ranks where more is better."""
    return -figure["value"] if figure and figure["value"] is not None else None


def number(value: float | None) -> str:
    """A mean; nothing where there is none."""
    return "" if value is None else f"{value:.0f}"


def read_cards(paths: Sequence[Path]) -> list[Card]:
    """Cards, a line each of the files, with all their clocks; ConfigError for what is none."""
    return [card_of(line, path) for path in paths for line in text_of(path).splitlines()]


def text_of(path: Path) -> str:
    """A file's text; ConfigError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def card_of(line: str, path: Path) -> Card:
    """A line's card; ConfigError, with the file, for what is none."""
    try:
        card = json.loads(line)
    except ValueError:
        card = None
    if not isinstance(card, dict) or card.get("schema") != SCHEMA:
        raise ConfigError(
            f"{path} has no cards of schema {SCHEMA}: make it with sayahead eval card."
        )
    return card


def on(card: Card, clock: str) -> Card:
    """The card on one of its clocks; ConfigError where it has no such clock."""
    clocks = card["clocks"]
    if clock not in clocks:
        raise ConfigError(
            f"The card of {card['engine']} has no clock {clock!r}{nearest(clock, clocks)}."
        )
    figures = {**card["figures"], **clocks[clock]}
    return {**card, "clock": {"name": clock, "kind": clocks[clock]["kind"]}, "figures": figures}


def compare(cards: Sequence[Card], *, by: str = "first", clock: str | None = None) -> str:
    """A table on a clock (the first card's first), best first; ConfigError where cards differ in
    what their figures depend on."""
    if len(cards) < 2:
        raise ConfigError(
            f"{len(cards)} cards are too few to compare: name two, or a file of several."
        )
    chosen = clock or next(iter(cards[0]["clocks"]))
    cards = [on(card, chosen) for card in cards]
    if by not in COLUMNS:
        raise ConfigError(f"There is no column {by!r}{nearest(by, COLUMNS)}.")
    comparable(cards)
    rank = COLUMNS[by][2]
    ranked = sorted(
        cards, key=lambda one: (rank(one["figures"]) is None, rank(one["figures"]) or 0.0)
    )
    return "\n".join([table(ranked), "", *notes(ranked)])


AGREE: dict[str, Callable[[Card], Any]] = {
    "clocks": lambda one: one["clock"]["kind"],
    "texts": lambda one: (sorted(one["texts"]["sets"].items()), one["texts"]["count"]),
    "recognizers": lambda one: one["recognizer"]["names"],
    "ways of timing": lambda one: one["timed"],
    "processors": lambda one: one["machine"]["cpu"],
}
"""What cards must have alike to be ranked."""


def comparable(cards: Sequence[Card], by: Sequence[str] = tuple(AGREE)) -> None:
    """ConfigError where cards on a clock differ in what their figures depend on."""
    for what in by:
        values = {str(AGREE[what](one)): one["engine"] for one in cards}
        if len(values) > 1:
            two = " and ".join(
                f"{engine} has {value}" for value, engine in list(values.items())[:2]
            )
            raise ConfigError(
                f"These cards cannot be ranked: their {what} differ ({two}). Compare those that"
                " agree."
            )


def again(cards: Sequence[Card], others: Sequence[Card], *, clock: str | None = None) -> str:
    """Cards of one run beside those of another of the same texts, clock and ways: how far the
    median first sound moved, and which engines changed places; ConfigError where they differ in
    what their figures depend on."""
    chosen = clock or next(iter(cards[0]["clocks"]))
    later = {one["engine"]: on(one, chosen) for one in others}
    both = [(on(one, chosen), later[one["engine"]]) for one in cards if one["engine"] in later]
    if not both:
        raise ConfigError("No engine is in both runs.")
    comparable(
        [one for pair in both for one in pair], ("clocks", "texts", "ways of timing", "processors")
    )
    both.sort(key=lambda pair: median_ms(pair[0]))
    apart = [abs(median_ms(two) - median_ms(one)) / max(1, median_ms(one)) for one, two in both]
    rows = [
        [one["engine"], str(median_ms(one)), str(median_ms(two)), f"{100 * share:.1f}"]
        for (one, two), share in zip(both, apart, strict=True)
    ]
    lines = results.table("engine|first sound, ms|again|apart, %", rows)
    swapped = [
        f"{a[0]['engine']} and {b[0]['engine']} ({median_ms(a[1])} and {median_ms(b[1])} ms)"
        for a, b in combinations(both, 2)
        if median_ms(a[0]) < median_ms(b[0]) and median_ms(a[1]) > median_ms(b[1])
    ]
    order = f"these changed places: {', '.join(swapped)}" if swapped else "the ranking is the same"
    told = (
        f"On {chosen!r}, medians of {len(both)} engines are within {100 * max(apart):.1f} % of each"
        " other"
    )
    return "\n".join(
        [*lines, "", f"{told} (typically {100 * statistics.median(apart):.1f} %); {order}."]
    )


def median_ms(card: Card) -> int:
    """The median first sound of a card on a clock, to the millisecond."""
    return round(1000 * float(card["figures"]["first_s"]["p50"]))


def table(cards: Sequence[Card], columns: Sequence[str] = tuple(COLUMNS)) -> str:
    """The cards' figures in Markdown."""
    titles = "".join(f"|{COLUMNS[name][0]}" for name in columns)
    rows = [
        [one["engine"], *(COLUMNS[name][1](one["figures"]) for name in columns)] for one in cards
    ]
    return "\n".join(results.table(f"engine{titles}", rows))


def notes(cards: Sequence[Card]) -> list[str]:
    """What the figures of cards depend on, in sentences."""
    first = cards[0]
    texts = first["texts"]
    own = first["recognizer"]["own_wer"]
    sets = ", ".join(f"{name} ({digest})" for name, digest in texts["sets"].items())
    told = [
        f"Clock {first['clock']['kind']}; {texts['count']} texts of {sets}, {texts['repeats']}"
        f" repeats; {first['machine']['cpu']}; {first['timed']}. Times are medians, in brackets"
        " quartiles."
    ]
    if first["recognizer"]["names"]:
        said = (
            f"; of {first['recognizer']['own_wer_of']} it gets {100 * own['value']:.1f} % wrong"
            if own
            else ""
        )
        told.append(
            f"Words heard by {first['recognizer']['names']['wer']}{said}; in brackets 95 %"
            " intervals."
        )
    busy = {
        one["engine"]: most
        for one in cards
        if (
            most := max(
                (load["other_cores"] or 0.0 for load in one["machine"]["load"]), default=0.0
            )
        )
        > BUSY_CORES
    }
    if busy:
        names = ", ".join(f"{name} {cores:.1f}" for name, cores in busy.items())
        long = "" if "processor time" in first["timed"] else ", which makes times long"
        told.append(f"Other processes kept cores busy meanwhile{long}: {names}.")
    return told
