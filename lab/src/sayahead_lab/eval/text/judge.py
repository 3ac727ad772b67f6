"""What a reading is: the same as the suite's, another convention, or wrong.

Whether a reading that is not the suite's is right is for a person to say. Who judged wrote down the
reading as it was, with the key of its text and why: a reading that nobody has judged counts as
wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sayahead.errors import ConfigError

from sayahead_lab.eval.text.lenient import alike, canonical
from sayahead_lab.eval.text.suites import Case

VERDICTS = ("same", "other", "wrong")
Judged = Mapping[tuple[str, str], str]
"""Why a reading is right all the same, by the key of its text and what of it counts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case, what is said of it, and how that is judged."""

    case: Case
    said: str
    verdict: str


def read_judged(path: Path) -> dict[tuple[str, str], str]:
    """A list of judged readings: lines of key, reading and reason, parted by tabs."""
    judged: dict[tuple[str, str], str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 4:
            raise ConfigError(
                f"{path}, line {number}: key, language, reading and reason are wanted, parted by"
                " tabs."
            )
        key, language, reading, why = parts
        judged[key, canonical(reading, language)] = why
    return judged


def judge(cases: Iterable[Case], read: Callable[[Case], str], judged: Judged) -> list[Verdict]:
    """How a front end reads all cases."""
    return [
        Verdict(case, said, verdict_of(case, said, judged))
        for case in cases
        for said in [read(case)]
    ]


def verdict_of(case: Case, said: str, judged: Judged) -> str:
    """How one reading is judged."""
    if any(alike(said, spoken, case.language) for spoken in case.spoken):
        return "same"
    return "other" if (case.key, canonical(said, case.language)) in judged else "wrong"


def shares(verdicts: Iterable[Verdict]) -> list[dict[str, str | int | float]]:
    """Counts by suite, language and class, and of each suite's language as a whole; the share that
    is not wrong."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for one in verdicts:
        for kind in ("all", one.case.kind):
            counts.setdefault((one.case.suite, one.case.language, kind), Counter())[
                one.verdict
            ] += 1
    rows = []
    for (suite, language, kind), count in sorted(counts.items()):
        row: dict[str, str | int | float] = {
            "suite": suite,
            "language": language,
            "class": kind,
            "n": count.total(),
        }
        row |= {verdict: count[verdict] for verdict in VERDICTS}
        rows.append(row | {"not_wrong": round(100 * (1 - count["wrong"] / count.total()), 1)})
    return rows
