"""Results of suites of texts: tables and readings as files."""

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
    """Score sayahead and others on suites; the tables, which are written to a folder with what is
    wrong.

    ``readings``: files of other front ends, each a JSON object of what they say by what is written
    and the language (``"en\\tDr. Lee"``). ``sounds``: front ends that make phonemes, alone and of
    sayahead's words."""
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
    """How much others say as the suites want it; nobody judged what they say otherwise."""
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
    """How much others make the phonemes that they make of the suites' own readings; so does
    sayahead with espeak-ng."""
    rows: list[dict[str, str | int | float]] = []
    for name in names:
        if name not in fronts.PEERS:
            raise ConfigError(
                f"--sounds {name}: no such front end. There are {', '.join(fronts.PEERS)}."
            )
        make, languages = fronts.PEERS[name]
        sounds = make()
        own = [case for case in cases if case.language in languages]
        rows += _shares(name, [(case, fronts.sounds_same(case, sounds)) for case in own], "sounds")
        ours = [(case, fronts.sounds_same(case, sounds, fronts.said)) for case in own]
        rows += _shares(f"sayahead, then {name}", ours, "sounds")
    return rows


def _shares(
    name: str, same: Sequence[tuple[Case, bool]], by: str
) -> list[dict[str, str | int | float]]:
    counts = Counter[tuple[str, str]]()
    of = Counter[tuple[str, str]]()
    for case, alike in same:
        of[case.suite, case.language] += 1
        counts[case.suite, case.language] += alike
    return [
        {
            "front": name,
            "by": by,
            "suite": suite,
            "language": language,
            "n": n,
            "same": counts[suite, language],
        }
        for (suite, language), n in sorted(of.items())
    ]


def _table(rows: Sequence[Mapping[str, str | int | float]]) -> str:
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
    """What each front end has the same, in percent, by suite and language."""
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
