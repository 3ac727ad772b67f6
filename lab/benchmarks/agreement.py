"""Whether this package's listeners agree with a yardstick outside it on the same files.

    python lab/benchmarks/agreement.py EXPERIMENT SCORER WHISPER_DIR [--conditions NAME ...] \
        [--files N] \
        [--results FILE]

EXPERIMENT is the folder of an experiment that ``sayahead eval score`` has scored with the same
Whisper. SCORER is called as ``SCORER WHISPER_DIR LIST.tsv --json OUT.json``, where LIST.tsv holds
``wav path<TAB>text`` lines, and writes a ``summary`` with wer, cer, distillmos and dnsmos and
``rows`` with wav, hypothesis, distillmos and dnsmos; its scores are kept in the condition's folder.
``--results`` writes FILE.md and FILE.json. The exit code is 1 if a condition's WER or CER differ by
more than 0.2 points or a predicted MOS by more than 0.02. """

from __future__ import annotations

import argparse
import json
import platform
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sayahead import ConfigError, __version__

from sayahead_lab.eval.experiment.trace import read_traces
from sayahead_lab.eval.listening.listeners import identity
from sayahead_lab.eval.listening.quality import Row, summarize
from sayahead_lab.eval.listening.score import read_rows

MOST = {"wer": 0.002, "cer": 0.002, "distillmos": 0.02, "dnsmos": 0.02}
"""Largest difference that is agreement, by column."""
PACKAGES = (
    "faster-whisper",
    "whisper-normalizer",
    "jiwer",
    "distillmos",
    "speechmos",
    "torch",
    "soxr",
)


def yardstick(
    folder: Path, rows: list[Row], texts: dict[str, str], scorer: list[str], whisper: Path
) -> dict[str, Any]:
    """What the scorer says of the rows' files; kept, and made again only for other files."""
    lines = "".join(f"{folder / 'wav' / row.name}.wav\t{texts[row.name]}\n" for row in rows)
    files = folder / "yardstick.tsv"
    scores = folder / "yardstick.json"
    if not scores.is_file() or not files.is_file() or files.read_text(encoding="utf-8") != lines:
        scores.unlink(missing_ok=True)
        files.write_text(lines, encoding="utf-8")
        subprocess.run(
            [*scorer, str(whisper), str(files), "--json", str(scores)],
            check=True,
            stdout=sys.stderr,
        )
    found: dict[str, Any] = json.loads(scores.read_text(encoding="utf-8"))
    return found


def compared(rows: list[Row], theirs: dict[str, Any]) -> dict[str, Any]:
    """Both figures of each column with their difference, the largest one of a single file, and
    unlike transcripts."""
    ours = summarize(rows)
    by_file = {Path(row["wav"]).stem: row for row in theirs["rows"]}
    columns: dict[str, Any] = {}
    for column in MOST:
        value = ours[column].value
        expected = theirs["summary"][column]
        columns[column] = {"ours": value, "yardstick": expected, "difference": value - expected}
        if column in ("distillmos", "dnsmos"):
            apart = [abs(getattr(row, column) - by_file[row.name][column]) for row in rows]
            columns[column]["largest_of_a_file"] = max(apart)
    unlike = [row.name for row in rows if row.hypothesis != by_file[row.name]["hypothesis"]]
    return {"files": len(rows), "columns": columns, "transcripts_that_differ": unlike}


def table(conditions: dict[str, Any]) -> str:
    """The conditions as a Markdown table."""
    lines = [
        (
            "| condition | files | WER, %: ours, yardstick | CER, %: ours, yardstick | DistillMOS:"
            " ours, yardstick | largest of a file | DNSMOS: ours, yardstick | largest of a file |"
            " transcripts that differ |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, found in conditions.items():
        columns = found["columns"]
        rates = [
            f"{100 * columns[key]['ours']:.3f}, {100 * columns[key]['yardstick']:.3f}"
            for key in ("wer", "cer")
        ]
        cells = [name, str(found["files"]), *rates]
        for key in ("distillmos", "dnsmos"):
            one = columns[key]
            cells += [
                f"{one['ours']:.4f}, {one['yardstick']:.4f}",
                f"{one['largest_of_a_file']:.1e}",
            ]
        lines.append("| " + " | ".join([*cells, str(len(found["transcripts_that_differ"]))]) + " |")
    return "\n".join(lines) + "\n"


def scored_rows(experiment: Path, condition: str, whisper: Path) -> list[Row]:
    """A condition's scores; ConfigError where another Whisper listened, or none."""
    folder = experiment / condition
    rows, listeners = read_rows(folder)
    if listeners.get("wer") != identity("whisper", whisper):
        raise ConfigError(
            f"{folder} was scored with {listeners.get('wer', 'no Whisper')}, not with"
            f" {identity('whisper', whisper)}: run sayahead eval score with this one."
        )
    return rows


def write_results(
    path: Path, command: str, conditions: dict[str, Any], largest: dict[str, float], agree: bool
) -> None:
    """Write what was found, with the command and the versions that it depends on."""
    versions = {"sayahead": __version__, "python": platform.python_version()}
    versions |= {package: version(package) for package in PACKAGES}
    made_by = ", ".join(f"{name} {number}" for name, number in versions.items())
    head = (
        f"`{command}`; {made_by}. Largest differences of a condition: WER"
        f" {100 * largest['wer']:.3f} and CER {100 * largest['cer']:.3f} points, DistillMOS"
        f" {largest['distillmos']:.4f}, DNSMOS {largest['dnsmos']:.4f}; agreement is at most 0.2"
        " points and 0.02.\n"
    )
    path.with_suffix(".md").write_text(f"{head}\n{table(conditions)}", encoding="utf-8")
    data = {
        "command": command,
        "versions": versions,
        "largest": largest,
        "most": MOST,
        "agree": agree,
    }
    text = json.dumps({**data, "conditions": conditions}, indent=1)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", type=Path)
    parser.add_argument("scorer", type=Path)
    parser.add_argument("whisper", type=Path)
    parser.add_argument(
        "--scorer-python", default=sys.executable, help="interpreter that has the scorer's packages"
    )
    parser.add_argument("--conditions", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--files", type=int, help="of each condition only so many, from the first")
    parser.add_argument("--results", type=Path, help="write FILE.md and FILE.json")
    arguments = parser.parse_args()
    about = json.loads((arguments.experiment / "experiment.json").read_text(encoding="utf-8"))
    conditions: dict[str, Any] = {}
    for name in arguments.conditions or about["conditions"]:
        folder = arguments.experiment / name
        rows = scored_rows(arguments.experiment, name, arguments.whisper)[: arguments.files]
        texts = {
            made.name: made.source for made in read_traces(folder / f"{about['clocks'][0]}.jsonl")
        }
        scorer = [arguments.scorer_python, str(arguments.scorer)]
        conditions[name] = compared(rows, yardstick(folder, rows, texts, scorer, arguments.whisper))
        print(table(conditions).splitlines()[-1], flush=True)
    largest = {
        column: max(abs(one["columns"][column]["difference"]) for one in conditions.values())
        for column in MOST
    }
    agree = all(largest[column] <= most for column, most in MOST.items())
    if arguments.results:
        # Folders are a machine's own affair: only their last names are told.
        named = [arguments.experiment.name, arguments.scorer.name, arguments.whisper.name]
        named += ["--conditions", *arguments.conditions] if arguments.conditions else []
        named += ["--files", str(arguments.files)] if arguments.files else []
        command = shlex.join(["python", "lab/benchmarks/agreement.py", *named])
        write_results(arguments.results, command, conditions, largest, agree)
    print("They agree." if agree else "They differ.")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
