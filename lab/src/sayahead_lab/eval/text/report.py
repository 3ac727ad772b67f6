"""Writes the results of text suites: tables, and the readings that are wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from sayahead.errors import ConfigError

from sayahead_lab.eval.text import fronts
from sayahead_lab.eval.text.judge import VERDICTS, Judged, judge, read_judged, shares, verdict_of
from sayahead_lab.eval.text.suites import Case, cases_in


def score_suites(
    folders: Sequence[Path],
    out: Path,
    *,
    judged: Path | None = None,
    readings: Mapping[str, Path] | None = None,
    sounds: Sequence[str] = (),
) -> str:
    """Score sayahead and other front ends on the suites in ``folders``; return the tables.

    Writes ``suites.json``, ``suites.md`` and ``wrong.tsv`` to ``out``. ``judged``: verdicts of
    earlier judgements. ``readings``: by the name of another front end, a JSON file with its reading
    of each language and text (``"en\\tDr. Lee"``). ``sounds``: names of front ends that are
    compared by phonemes, which they make of the raw text and of sayahead's words."""
    cases = [case for folder in folders for case in cases_in(folder)]
    known: Judged = read_judged(judged) if judged else {}
    verdicts = judge(cases, fronts.words, known)
    rows = shares(verdicts)
    others = _same_words(cases, readings or {}) + _same_sounds(cases, sounds)
    out.mkdir(parents=True, exist_ok=True)
    (out / "suites.json").write_text(
        json.dumps({"rows": rows, "others": others}, indent=1) + "\n", encoding="utf-8"
    )
    tables = f"{_table(rows)}\n\n{_beside(rows, others)}\n" if others else _table(rows) + "\n"
    (out / "suites.md").write_text(tables, encoding="utf-8")
    wrong = [
        f"{one.case.key}\t{one.case.language}\t{one.said}"
        for one in verdicts
        if one.verdict == "wrong"
    ]
    (out / "wrong.tsv").write_text("".join(f"{line}\n" for line in wrong), encoding="utf-8")
    return tables


def _same_words(
    cases: Sequence[Case], readings: Mapping[str, Path]
) -> list[dict[str, str | int | float]]:
    """Count the readings of other front ends that the suites accept. Their other readings were not
    judged, so some of those may be right as well."""
    rows: list[dict[str, str | int | float]] = []
    for name, path in readings.items():
        try:
            table: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"--readings {name}={path} cannot be read: {error}.") from error
        said = [
            (case, table[key])
            for case in cases
            if (key := f"{case.language}\t{case.written}") in table
        ]
        rows += _shares(
            name, [(case, verdict_of(case, text, {}) == "same") for case, text in said], "words"
        )
    return rows


def _same_sounds(cases: Sequence[Case], names: Sequence[str]) -> list[dict[str, str | int | float]]:
    """Count, for each front end, the texts of which it makes the same phonemes as of the suite's
    own reading: on the raw text, and on sayahead's words."""
    rows: list[dict[str, str | int | float]] = []
    for name in names:
        if name not in fronts.PEERS:
            raise ConfigError(
                f"--sounds {name}: no such front end. There are {', '.join(fronts.PEERS)}."
            )
        make, languages = fronts.PEERS[name]
        sounds = make()
        readable = [case for case in cases if case.language in languages]
        alone = [(case, fronts.sounds_same(case, sounds)) for case in readable]
        rows += _shares(name, alone, "sounds")
        after_sayahead = [
            (case, fronts.sounds_same(case, sounds, fronts.said)) for case in readable
        ]
        rows += _shares(f"sayahead, then {name}", after_sayahead, "sounds")
    return rows


def _shares(
    name: str, same: Sequence[tuple[Case, bool]], by: str
) -> list[dict[str, str | int | float]]:
    """Return a row of counts for each suite and language. ``name``: the front end; ``same``: cases,
    and whether its reading is the same; ``by``: whether words or sounds were compared."""
    counts = Counter[tuple[str, str]]()
    totals = Counter[tuple[str, str]]()
    for case, is_same in same:
        totals[case.suite, case.language] += 1
        counts[case.suite, case.language] += is_same
    return [
        {
            "front": name,
            "by": by,
            "suite": suite,
            "language": language,
            "n": n,
            "same": counts[suite, language],
        }
        for (suite, language), n in sorted(totals.items())
    ]


def _table(rows: Sequence[Mapping[str, str | int | float]]) -> str:
    """Return sayahead's verdicts as a table in Markdown."""
    lines = [
        "| suite | language | class | n | same | other convention | wrong | not wrong |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        counts = " | ".join(str(row[verdict]) for verdict in VERDICTS)
        lines.append(
            f"| {row['suite']} | {row['language']} | {row['class']} | {row['n']} | {counts} |"
            f" {row['not_wrong']} % |"
        )
    return "\n".join(lines)


def _beside(
    rows: Sequence[Mapping[str, str | int | float]],
    others: Sequence[Mapping[str, str | int | float]],
) -> str:
    """Return a table of the percentage that each front end has the same, by suite and language."""
    suites = [(str(row["suite"]), str(row["language"])) for row in rows if row["class"] == "all"]
    share = {
        ("sayahead", "words", row["suite"], row["language"]): (
            100 * float(row["same"]) / float(row["n"])
        )
        for row in rows
        if row["class"] == "all"
    }
    share |= {
        (str(row["front"]), str(row["by"]), row["suite"], row["language"]): (
            100 * float(row["same"]) / float(row["n"])
        )
        for row in others
    }
    lines = [
        "| the same, by | "
        + " | ".join(f"{suite} {language}" for suite, language in suites)
        + " |",
        "|---|" + "--:|" * len(suites),
    ]
    for front, by in dict.fromkeys((str(key[0]), str(key[1])) for key in share):
        cells = [share.get((front, by, *place)) for place in suites]
        figures = " | ".join("" if cell is None else f"{cell:.1f} %" for cell in cells)
        lines.append(f"| {front} ({by}) | {figures} |")
    return "\n".join(lines)
