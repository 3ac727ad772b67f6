"""How near the students came to their teachers at equal steps, from the logs of their training.

    python benchmarks/saeki/steps.py

Reads ``recipes/saeki/results/student-*/log.jsonl``; writes ``benchmarks/results/saeki/steps.md``. A value is
the mean of the 20 steps before it, on training prefixes.
"""

from __future__ import annotations

from pathlib import Path

from sayahead.training.loop.curves import read_log

ROOT = Path(__file__).parents[2]
STEPS = (20, 40, 60, 80, 100, 140, 180)
NAMES = {
    "small": "small",
    "medium": "medium",
    "large": "large",
    "medium-truth": "medium, taught by the truth",
    "medium-lambda-95": "medium, lambda 0.95",
    "medium-lambda-0": "medium, lambda 0",
}


def main() -> None:
    head = ["cosine with the teacher, by step", *map(str, STEPS), "steps in all"]
    rows = [head, ["---", *["---:"] * (len(STEPS) + 1)]]
    for name, title in NAMES.items():
        lines = read_log(ROOT / "recipes" / "saeki" / "results" / f"student-{name}" / "log.jsonl")
        found = {line["step"]: line["parts"]["similarity"] for line in lines if "parts" in line}
        values = [f"{found[step]:.3f}" if step in found else "–" for step in STEPS]
        rows.append([title, *values, str(max(line["step"] for line in lines))])
    text = "".join("| " + " | ".join(row) + " |\n" for row in rows)
    (ROOT / "benchmarks" / "results" / "saeki" / "steps.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
