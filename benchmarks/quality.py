"""Quality over lookahead, context and hold-back, scored by a yardstick outside this package.

    python benchmarks/quality.py CONDITIONS.json OUT_FOLDER --texts test.csv --scorer score_wavs.py --whisper DIR
    [--lm DIR]

For each condition the sentences are synthesised word by word and written as WAV files; the scorer (called as
``scorer WHISPER_DIR LIST.tsv --json OUT.json``) gives WER, DistillMOS and DNSMOS, which come back as one table: means,
and the paired difference to the first condition with its 95 % interval. What is scored already is left alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead import (
    ContextPredictor,
    LanguageModel,
    LookaheadK,
    NoContext,
    Policy,
    RandomWords,
    Voice,
    WaitAll,
    load_voice,
)
from sayahead.audio import to_pcm16
from sayahead.config import from_mapping
from sayahead.eval.bench import versions


@dataclass(frozen=True, slots=True)
class Condition:
    """One row of the table."""

    name: str
    """What the row is called; also the folder's name."""
    k: int | None = None
    """Words of lookahead; none: the whole sentence at once."""
    context: str = "none"
    """none, random or lm."""
    hold_back_s: float | None = None
    """Hold-back in seconds; none: the voice's own."""
    first_chunk: int = 1
    """Least phonemes of the first chunk."""
    chunk: int = 1
    """Least phonemes of the others."""
    voice: str = "heart"
    """Name or folder of the voice."""


class Cached:
    """A context predictor that remembers: conditions share the language model's futures."""

    def __init__(self, predictor: ContextPredictor) -> None:
        self._predictor, self._known = predictor, dict[tuple[str, ...], Any]()

    def predict(self, words: Any) -> Any:
        key = tuple(words)
        if key not in self._known:
            self._known[key] = self._predictor.predict(words)
        return self._known[key]


def synthesize(
    voice: Voice, condition: Condition, texts: dict[str, str], folder: Path, context: ContextPredictor
) -> float:
    """Write one WAV a text; computing time over audio time."""
    options: dict[str, Any] = {"context": context}
    policy: Policy = (
        WaitAll() if condition.k is None else LookaheadK(condition.k, condition.first_chunk, condition.chunk)
    )
    if condition.hold_back_s is not None:
        options["hold_back_s"] = condition.hold_back_s
    folder.mkdir(parents=True, exist_ok=True)
    elapsed = audio = 0.0
    for name, text in texts.items():
        begun = time.perf_counter()
        chunks = [c.samples for c in voice.stream([w + " " for w in text.split()], policy=policy, **options)]
        elapsed += time.perf_counter() - begun
        samples = np.concatenate(chunks)
        audio += len(samples) / voice.sample_rate
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setparams((1, 2, voice.sample_rate, len(samples), "NONE", ""))
            file.writeframes(to_pcm16(samples).tobytes())
    return elapsed / audio


def paired(rows: list[dict[str, Any]], base: list[dict[str, Any]], key: str) -> tuple[float, float]:
    """Mean paired difference to the first condition, and half its 95 % interval."""
    change = np.array([a[key] - b[key] for a, b in zip(rows, base, strict=True)])
    return float(change.mean()), float(1.96 * change.std(ddof=1) / len(change) ** 0.5)


def row(result: dict[str, Any], base: dict[str, Any], rtf: float | None) -> dict[str, Any]:
    """The figures of one condition beside the first one's."""
    total, rows = result["summary"], result["rows"]
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
        "| condition | WER % | difference | DistillMOS | paired difference | DNSMOS | seconds | RTF |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, r in figures.items():
        lines.append(
            f"| {name} | {r['wer']:.2f} | {r['wer_difference']:+.2f} "
            f"| {r['distillmos']:.3f} ± {r['distillmos_ci95']:.3f} "
            f"| {r['distillmos_difference']:+.3f} ± {r['distillmos_difference_ci95']:.3f} | {r['dnsmos']:.3f} "
            f"| {r['seconds']:.0f} | {'-' if r['rtf'] is None else format(r['rtf'], '.4f')} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conditions", type=Path, help="JSON list of conditions")
    parser.add_argument("out", type=Path, help="folder for the WAV files and scores")
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=100, help="sentences, evenly spaced over the list (default: 100)")
    parser.add_argument("--scorer", type=Path, required=True)
    parser.add_argument("--scorer-python", default=sys.executable, help="interpreter that has the scorer's packages")
    parser.add_argument("--whisper", type=Path, required=True)
    parser.add_argument("--lm", help="language model, name or folder, for conditions that want one")
    parser.add_argument("--results", type=Path, help="write FILE.md (the table) and FILE.json (its figures)")
    arguments = parser.parse_args()
    lines = [line.split("|", 1) for line in arguments.texts.read_text(encoding="utf-8").splitlines()]
    texts = dict(lines[:: max(1, len(lines) // arguments.count)][: arguments.count])
    conditions = [
        from_mapping(Condition, item, where=str(arguments.conditions))
        for item in json.loads(arguments.conditions.read_text(encoding="utf-8"))
    ]
    contexts: dict[str, ContextPredictor] = {"none": NoContext(), "random": RandomWords()}
    if any(condition.context == "lm" for condition in conditions):
        if not arguments.lm:
            parser.error("a condition wants a language model: give --lm")
        contexts["lm"] = Cached(LanguageModel(arguments.lm))
    figures: dict[str, dict[str, Any]] = {}
    base: dict[str, Any] | None = None
    for condition in conditions:
        folder = arguments.out / condition.name.replace(" ", "_").replace("/", "-").replace("=", "")
        scores = folder / "scores.json"
        if not scores.exists():
            speed = synthesize(load_voice(condition.voice), condition, texts, folder, contexts[condition.context])
            (folder / "list.tsv").write_text(
                "".join(f"{folder / n}.wav\t{t}\n" for n, t in texts.items()), encoding="utf-8"
            )
            command = [
                arguments.scorer_python,
                arguments.scorer,
                arguments.whisper,
                folder / "list.tsv",
                "--json",
                scores,
            ]
            subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
            # A language model's own time is its machine's affair and is shared between conditions by the cache.
            (folder / "rtf.json").write_text(json.dumps(None if condition.context == "lm" else speed))
        scored = json.loads(scores.read_text(encoding="utf-8"))
        base = base or scored
        figures[condition.name] = row(scored, base, json.loads((folder / "rtf.json").read_text()))
        print(table(figures).splitlines()[-1], flush=True)
    if arguments.results:
        options = f"--texts {arguments.texts.name} --count {len(texts)}"
        made_by = f"`python benchmarks/quality.py {arguments.conditions} OUT {options} ...`"
        packages = ", ".join(f"{name} {number}" for name, number in versions().items())
        python = f"Python {platform.python_version()}"
        head = f"{len(texts)} sentences of {arguments.texts.name} (LJ Speech); {made_by}; {packages}; {python}.\n"
        arguments.results.with_suffix(".md").write_text(head + "\n" + table(figures), encoding="utf-8")
        text = json.dumps({"sentences": len(texts), "conditions": figures}, indent=1)
        arguments.results.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
