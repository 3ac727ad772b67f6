"""The front end's cost a word and the share of words that wait, in two checkouts, paired in one
run.

    python lab/benchmarks/front_end.py OLD_CHECKOUT NEW_CHECKOUT [--rounds 7]

Texts are the laboratory's answers of an assistant (English) and its sentences in five languages,
and as many lines of the tests' readings, which are full of figures. A word waits if more than the
character after it had to come before it was final.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ANSWERS = HERE.parent / "src/sayahead_lab/eval/experiment/texts/answers.jsonl"
LANGUAGES = ("en", "de", "es", "fr", "it", "pt")
WORKER = """
import json, sys, time
from sayahead.text import front_end
texts = json.load(sys.stdin)
out = {}
for language, lines in texts.items():
    words = late = 0
    best = 1e9
    for turn in range(3):
        begin = time.process_time()
        words = late = 0
        for text in lines:
            normalizer = front_end(language).normalizer()
            for count, char in enumerate(text, 1):
                for word in normalizer.push(char):
                    words += 1
                    late += count - word.end > 1
            words += len(normalizer.flush())
        best = min(best, time.process_time() - begin)
    out[language] = [1e6 * best / words, 100 * late / words]
print(json.dumps(out))
"""


def texts() -> dict[str, list[str]]:
    """What is read, by language."""
    answers = [
        json.loads(line)["text"] for line in ANSWERS.read_text(encoding="utf-8").splitlines()
    ]
    others = {
        language: (HERE / "languages" / f"{language}.txt").read_text(encoding="utf-8").splitlines()
        for language in LANGUAGES[1:]
    }
    plain = {"en": answers, **others}
    return {
        language: lines + _readings(language)[: len(lines)] for language, lines in plain.items()
    }


def _readings(language: str) -> list[str]:
    folder = HERE.parents[1] / "tests" / "text"
    path = folder / "readings.tsv" if language == "en" else folder / "readings" / f"{language}.tsv"
    return [
        row.split("\t")[1].replace("\\n", "\n")
        for row in path.read_text(encoding="utf-8").splitlines()[1:]
    ]


def measure(checkout: Path) -> dict[str, list[float]]:
    """Microseconds a word and percent of words that wait, by language, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", WORKER]
    answer = subprocess.run(
        command,
        input=json.dumps(texts()),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, list[float]] = json.loads(answer.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    pairs = [(measure(arguments.old), measure(arguments.new)) for _ in range(arguments.rounds)]
    print("| | cost a word, new/old | words that wait, old | new |\n|---|--:|--:|--:|")
    for language in LANGUAGES:
        ratio = statistics.median(new[language][0] / old[language][0] for old, new in pairs)
        old, new = pairs[0]
        print(f"| {language} | {ratio:.2f} | {old[language][1]:.2f} % | {new[language][1]:.2f} % |")


if __name__ == "__main__":
    main()
