"""Quality over lookahead, context and hold-back, scored by a yardstick outside this package.

    python lab/benchmarks/quality.py CONDITIONS.json OUT_FOLDER --texts test.csv --scorer \
        score_wavs.py --whisper DIR \
        [--lm DIR]

CONDITIONS.json is a list of conditions as those of ``sayahead eval run``, and they are run as
there; the scorer (called as ``scorer WHISPER_DIR LIST.tsv --json OUT.json``) gives WER, DistillMOS
and DNSMOS of the sound, which come back as one table: means, and the paired difference to the first
condition with its 95 % interval. What is spoken or scored already is left alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.config import from_mapping

from sayahead_lab.eval.experiment.conditions import Condition, Matrix
from sayahead_lab.eval.experiment.folder import measured_traces
from sayahead_lab.eval.experiment.machine import versions
from sayahead_lab.eval.experiment.run import run
from sayahead_lab.scripts import read_texts, strided


def read_conditions(path: Path) -> list[Condition]:
    """The conditions of a JSON list."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [from_mapping(Condition, item, where=str(path)) for item in data]


def folder_name(condition: Condition) -> str:
    """Its name as that of a folder."""
    return condition.name.replace("/", "-")


def scored(folder: Path, texts: dict[str, str], scorer: list[str], whisper: Path) -> dict[str, Any]:
    """What the scorer says of a condition's sound, kept beside it."""
    scores = folder / "scores.json"
    if not scores.exists():
        lines = "".join(f"{folder / 'wav' / name}.wav\t{text}\n" for name, text in texts.items())
        (folder / "list.tsv").write_text(lines, encoding="utf-8")
        command = [*scorer, str(whisper), str(folder / "list.tsv"), "--json", str(scores)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(scores.read_text(encoding="utf-8"))
    return found


def paired(rows: list[dict[str, Any]], base: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """Mean paired difference to the first condition, and half its 95 % interval."""
    change = np.array([a[key] - b[key] for a, b in zip(rows, base, strict=True)])
    return float(change.mean()), float(1.96 * change.std(ddof=1) / len(change) ** 0.5)


def row(result: dict[str, Any], base: dict[str, Any], rtf: float | None) -> dict[str, Any]:
    """The figures of one condition beside the first one's."""
    total = result["summary"]
    rows = result["rows"]
    change, half = paired(rows, base["rows"], "distillmos")
    return {
        "wer": 100 * total["wer"],
        "wer_difference": 100 * (total["wer"] - base["summary"]["wer"]),
        "distillmos": total["distillmos"],
        "distillmos_ci95": total["distillmos_ci95"],
        "distillmos_difference": change,
        "distillmos_difference_ci95": half,
        "dnsmos": total["dnsmos"],
        "seconds": sum(item["seconds"] for item in rows),
        "rtf": rtf,
    }


def table(figures: dict[str, dict[str, Any]]) -> str:
    """The conditions as a Markdown table."""
    lines = [
        (
            "| condition | WER % | difference | DistillMOS | paired difference | DNSMOS | seconds |"
            " RTF |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, r in figures.items():
        lines.append(
            f"| {name} | {r['wer']:.2f} | {r['wer_difference']:+.2f} | {r['distillmos']:.3f} ±"
            f" {r['distillmos_ci95']:.3f} | {r['distillmos_difference']:+.3f} ±"
            f" {r['distillmos_difference_ci95']:.3f} | {r['dnsmos']:.3f} | {r['seconds']:.0f} |"
            f" {'-' if r['rtf'] is None else format(r['rtf'], '.4f')} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("conditions", type=Path, help="JSON list of conditions")
    parser.add_argument("out", type=Path, help="folder for the WAV files and scores")
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument(
        "--count",
        type=int,
        default=100,
        help="sentences, evenly spaced over the list (default: 100)",
    )
    parser.add_argument("--scorer", type=Path, required=True)
    parser.add_argument(
        "--scorer-python", default=sys.executable, help="interpreter that has the scorer's packages"
    )
    parser.add_argument("--whisper", type=Path, required=True)
    parser.add_argument("--lm", help="language model, name or folder, for conditions that want one")
    parser.add_argument(
        "--results", type=Path, help="write FILE.md (the table) and FILE.json (its figures)"
    )
    arguments = parser.parse_args()
    texts = strided(read_texts(arguments.texts), arguments.count)
    conditions = read_conditions(arguments.conditions)
    if any(condition.context_name == "lm" for condition in conditions) and not arguments.lm:
        parser.error("a condition wants a language model: give --lm")
    matrix = Matrix(
        tuple(replace(one, name=folder_name(one)) for one in conditions), (), len(texts)
    )
    run(
        matrix,
        texts,
        arguments.out,
        lm=arguments.lm,
        progress=lambda line: print(line, file=sys.stderr),
    )
    figures: dict[str, dict[str, Any]] = {}
    base: dict[str, Any] | None = None
    by_name = {text.name: text.text for text in texts}
    for condition in conditions:
        folder = arguments.out / folder_name(condition)
        found = scored(
            folder, by_name, [arguments.scorer_python, str(arguments.scorer)], arguments.whisper
        )
        base = base or found
        made = measured_traces(folder, texts)
        computing_s = sum(chunk.generation_s for one in made for chunk in one.chunks)
        # A language model's own time is its machine's affair.
        rtf = (
            None
            if condition.context_name == "lm"
            else computing_s / sum(one.duration_s for one in made)
        )
        figures[condition.name] = row(found, base, rtf)
        print(table(figures).splitlines()[-1], flush=True)
    if arguments.results:
        options = f"--texts {arguments.texts.name} --count {len(texts)}"
        made_by = f"`python lab/benchmarks/quality.py {arguments.conditions} OUT {options} ...`"
        packages = ", ".join(f"{name} {number}" for name, number in versions().items())
        python = f"Python {platform.python_version()}"
        head = (
            f"{len(texts)} sentences of {arguments.texts.name} (LJ Speech); {made_by}; {packages};"
            f" {python}.\n"
        )
        arguments.results.with_suffix(".md").write_text(
            head + "\n" + table(figures), encoding="utf-8"
        )
        text = json.dumps({"sentences": len(texts), "conditions": figures}, indent=1)
        arguments.results.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
