"""Two snapshots of reading: which texts are read otherwise, when words are final, and what reading
costs."""

from __future__ import annotations

import difflib
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayahead.errors import ConfigError

from sayahead_lab.eval.text.reading_worker import ENDS
from sayahead_lab.eval.text.snapshot import Row, load, pieces, spoken
from sayahead_lab.results import table

VERDICTS = ("better", "equal", "worse")
"""What an accepted difference may be called."""
_MONTHS = (
    "jan|feb|f[eé]v|mar|mär|maart|apr|a[bv]r|ma[iyg]|mei|jui?[nl]|jun|jul|giu|lug|aug|ao[uû]|ago|sep|set|oct|okt|ott|out"
    "|nov|de[czs]|d[ií][ce]|ene|gen"
)
CLASSES = {
    "sign": r"[\W_]+",
    "address": r"\S*(?:@\S+\.|://|www\.)\S*",
    "word": r"[^\W\d_]+(?:['’][^\W\d_]+)*",
    "hyphenated": r"[^\W\d_]+(?:[-–—'’][^\W\d_]+)+",
    "money": r".*[$€£¥₹].*|.*\d.*\b(?:EUR|USD|GBP|CHF|Euro|euros?|dollars?)\b.*",
    "date": (
        rf"(?i:.*\d.*\b(?:{_MONTHS})[a-zé]*\b.*|.*\b(?:{_MONTHS})[a-zé]*\b.*\d.*)|\d+([./-])\d+\1\d+\.?"
    ),
    "time": r"\d{1,2}\s*[:h]\s*\d{2}.*|\d{1,2}\s*(?:h|[ap]\.?m\.?|Uhr|uur)",
    "ordinal": r"\d+(?:st|nd|rd|th|[.]?[ºª°]|er|re|ème|e)",
    "number": r"[-+−±]?\d+(?:[.,’'   ]\d+)*[.,]?",
    "percent and unit": r"[-+−±]?\d[\d.,]*\s?(?:[^\W\d_]|[%‰°µμ²³/]){1,6}",
    "range and ratio": r"\d[\d.,]*\s?[-–—:/x×]\s?\d[\d.,]*\S*",
    "letters and figures": r"(?=.*\d)(?=.*[^\W\d_])\S+",
    "abbreviation": r"(?:[^\W\d_]+\.)+[^\W\d_]*\.?",
}
"""Classes of words by a rough pattern of their source; the first that matches."""
_CLASSES = {name: re.compile(pattern) for name, pattern in CLASSES.items()}
_AROUND = " \t\n\"'“”„«»‘’()[]{}*_#"
_PAUSES = ",;:"


def class_of(source: str, *, ends: bool) -> str:
    """The class of a word with this source."""
    bare = source.strip(_AROUND).rstrip(_PAUSES).strip(_AROUND)
    closes = bare[-1:] in tuple(".!?…")
    if ends and closes:
        bare = bare.rstrip(".!?…")
    if ends or (closes and bare[-1:] in tuple("!?…")):
        return (
            "word, ends a sentence"
            if _CLASSES["word"].fullmatch(bare)
            else "other, ends a sentence"
        )
    if bare.isupper() and bare.isalpha() and len(bare) > 1:
        return "capitals"
    return next((name for name, form in _CLASSES.items() if form.fullmatch(bare)), "other")


@dataclass(slots=True)
class Finality:
    """How many characters after its end a word of a class becomes final, in both snapshots."""

    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    earlier: int = 0
    """Words, read the same in both, that are final earlier in the new snapshot."""
    later: int = 0
    """Those that are final later."""


@dataclass(frozen=True, slots=True)
class ReadingDifference:
    """A text that the two snapshots read differently."""

    row: Row
    before: str
    after: str
    change: str
    """``right -> wrong``, ``wrong -> right``, or nothing where no verdict changes."""
    kind: str
    """``error``, ``words``, ``sentences``, ``sounds``, ``split`` or ``spans``."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Language, text and new reading, by which accepted differences are looked up."""
        return self.row["tag"], self.row["text"], self.after


@dataclass(slots=True)
class Comparison:
    """All that differs between two snapshots."""

    before: Row
    after: Row
    texts: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[ReadingDifference] = field(default_factory=list)
    accepted: Counter[str] = field(default_factory=Counter)
    finality: dict[str, Finality] = field(default_factory=lambda: defaultdict(Finality))
    missing: int = 0


def read_accepted(path: Path) -> dict[tuple[str, str, str], str]:
    """Read accepted differences, lines of verdict, language, text and new reading, separated by
    tabs; return verdicts by the other three. ConfigError for another line."""
    accepted = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) < 4 or parts[0] not in VERDICTS:
            wanted = (
                "better, equal or worse, language, text and new reading are wanted, parted by tabs"
            )
            raise ConfigError(f"{path}, line {number}: {wanted}.")
        accepted[parts[1], parts[2].replace("\\n", "\n"), parts[3]] = parts[0]
    return accepted


def compare(
    before: Path, after: Path, accepted: Mapping[tuple[str, str, str], str] | None = None
) -> Comparison:
    """Compare two snapshots in the texts that both have. ``accepted``: of ``read_accepted``."""
    first, old = load(before)
    second, new = load(after)
    found = Comparison(
        first, second, missing=len(old) + len(new) - 2 * len(old.keys() & new.keys())
    )
    for key in old.keys() & new.keys():
        add_text(found, old[key], new[key], accepted or {})
    found.differences.sort(key=lambda one: (one.change, one.kind, one.row["set"], one.row["text"]))
    return found


def add_text(
    found: Comparison, old: Row, new: Row, accepted: Mapping[tuple[str, str, str], str]
) -> None:
    """Count a text in ``found``, and add the difference of its two readings if there is one that is
    not accepted."""
    name = new["set"]
    found.texts[name] += 1
    for snapshot, row in (("before", old), ("after", new)):
        if "right" in row:
            found.right[name, snapshot] += row["right"]
    add_waits(found.finality, old, new)
    kind = kind_of(old, new)
    if not kind:
        found.same[name] += 1
        return
    words = {True: "right", False: "wrong"}
    verdicts = old.get("right"), new.get("right")
    change = "" if verdicts[0] == verdicts[1] else " -> ".join(words[bool(one)] for one in verdicts)
    difference = ReadingDifference(new, spoken(old), spoken(new), change, kind)
    if verdict := accepted.get(difference.key):
        found.accepted[verdict] += 1
    else:
        found.differences.append(difference)


def kind_of(old: Row, new: Row) -> str:
    """What differs in the reading of a text; nothing if it is the same."""
    if old.get("error") != new.get("error"):
        return "error"
    said = [" ".join(text for text, *_ in pieces(row)) for row in (old, new)]
    if said[0] != said[1]:
        return "words"
    if spoken(old) != spoken(new):
        return "sentences"
    if old.get("phonemes") != new.get("phonemes") and "phonemes" in old and "phonemes" in new:
        return "sounds"
    if old.get("split") != new.get("split"):
        return "split"
    spans = [list(pieces(row)) for row in (old, new)]
    return "spans" if spans[0] != spans[1] or old.get("skipped") != new.get("skipped") else ""


def add_waits(finality: dict[str, Finality], old: Row, new: Row) -> None:
    """Count when the words of a text are final."""
    for row, when in ((old, "before"), (new, "after")):
        for _, start, end, flags, wait in row["words"]:
            kind = class_of(row["text"][start:end], ends=bool(flags & ENDS))
            getattr(finality[kind], when).append(wait)
    if list(pieces(old)) != list(pieces(new)):
        return
    for (_, start, end, flags, was), (*_, now) in zip(old["words"], new["words"], strict=True):
        one = finality[class_of(old["text"][start:end], ends=bool(flags & ENDS))]
        one.earlier += now < was
        one.later += now > was


def groups(differences: Iterable[ReadingDifference]) -> Counter[tuple[str, str]]:
    """What stands in the place of what, and in how many texts."""
    counts = Counter[tuple[str, str]]()
    for one in differences:
        counts.update(set(changes(one.before.split(), one.after.split())))
    return counts


def changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Stretches of words that differ."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield " ".join(old[a:b]), " ".join(new[c:d])


def shape(waits: Sequence[int]) -> str:
    """Mean, 95th percentile and maximum of waits."""
    if not waits:
        return "- | - | -"
    ordered = sorted(waits)
    return (
        f"{statistics.mean(waits):.2f} | {ordered[int(0.95 * (len(ordered) - 1))]} | {ordered[-1]}"
    )


def report(found: Comparison, shown: int = 40) -> str:
    """The tables, and the first differences of each kind."""
    before = found.before
    after = found.after
    lines = [
        (
            f"{after['language']}: {before['front']} at {before['revision']}, then {after['front']}"
            f" at {after['revision']}"
        ),
        "",
        "| set | texts | same | right before | right after |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, count in sorted(found.texts.items()):
        right = [
            str(found.right[name, when]) if (name, when) in found.right else "-"
            for when in ("before", "after")
        ]
        lines.append(f"| {name} | {count:,} | {found.same[name]:,} | {' | '.join(right)} |")
    kinds = Counter(one.kind for one in found.differences)
    changed = Counter(one.change for one in found.differences if one.change)
    lines += [
        "",
        (
            f"differences: {len(found.differences):,} {dict(kinds)} {dict(changed)}; accepted:"
            f" {dict(found.accepted)}; in one snapshot only: {found.missing:,}"
        ),
        *_finality(found.finality),
        *_costs(before, after),
        *_listed(found.differences, shown),
    ]
    return "\n".join(lines) + "\n"


def _finality(finality: Mapping[str, Finality]) -> list[str]:
    everything = Finality()
    for one in finality.values():
        everything.before += one.before
        everything.after += one.after
        everything.earlier += one.earlier
        everything.later += one.later
    lines = [
        "",
        "characters beyond a word's end until it is final",
        "",
        "| class | words | before: mean | p95 | max | after: mean | p95 | max | earlier | later |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    rows = sorted(finality.items(), key=lambda pair: -len(pair[1].after))
    for name, one in [*rows, ("all", everything)]:
        waits = f"{shape(one.before)} | {shape(one.after)}"
        lines.append(f"| {name} | {len(one.after):,} | {waits} | {one.earlier:,} | {one.later:,} |")
    return lines


def _costs(before: Row, after: Row) -> list[str]:
    old = _figures(before)
    new = _figures(after)
    rows = [
        [name, f"{old[name]:.1f}", f"{new[name]:.1f}", f"{new[name] / max(old[name], 0.01):.2f}"]
        for name in old
        if name in new
    ]
    return ["", *table("|before|after|ratio", rows)]


def _figures(header: Row) -> dict[str, float]:
    """What is compared by a ratio, by its name."""
    cold: Mapping[str, Any] = header.get("cold", {})
    costs: Mapping[str, Sequence[float]] = header.get("cost_us", {})
    figures = {
        f"microseconds a word, {name}": statistics.median(turns) for name, turns in costs.items()
    }
    figures |= {f"cold start, {name.replace('_', ' ')}": value for name, value in cold.items()}
    return figures | {"most memory while reading, mb": header["memory_mb"]}


def _listed(differences: Sequence[ReadingDifference], shown: int) -> list[str]:
    lines = ["", "most frequent changes", ""]
    for (old, new), count in groups(differences).most_common(shown):
        lines.append(f"{count:6} × {old or '∅'} -> {new or '∅'}")
    by_change: dict[tuple[str, str], list[ReadingDifference]] = defaultdict(list)
    for one in differences:
        by_change[one.change, one.kind].append(one)
    for (change, kind), some in sorted(by_change.items(), reverse=True):
        lines += ["", f"{kind}{': ' * bool(change)}{change} ({len(some)})"]
        for one in some[:shown]:
            lines += [f"  {one.row['text']!r}", f"    - {one.before}", f"    + {one.after}"]
    return lines
