"""How near the students came to their teachers at equal steps, from the logs of their training.

    python lab/benchmarks/saeki/steps.py

Reads ``lab/recipes/saeki/results``; writes ``lab/benchmarks/results/saeki/steps.md``: the mean
cosine on validation prefixes. A teacher that was fine-tuned (Saeki-a, III-C) is shown a language
model's words or the true ones; the network of hidden states has the true future's embedding before
the fine-tuning."""

from __future__ import annotations

from pathlib import Path

from sayahead_lab.training.loop.curves import read_log

ROOT = Path(__file__).parents[2]
STEPS = (1000, 2000, 3000)
NAMES = {
    "student-small": "small",
    "student-medium": "medium",
    "student-medium-truth": "medium, taught by the truth",
    "hidden-small": "hidden states, small",
}


def main() -> None:
    head = ["cosine with the teacher on validation prefixes, by step", *map(str, STEPS)]
    rows = [head, ["---", *["---:"] * len(STEPS)]]
    for name, title in NAMES.items():
        lines = read_log(ROOT / "recipes" / "saeki" / "results" / name / "log.jsonl")
        found = {
            line["step"]: line["validation"]["parts"]["similarity"]
            for line in lines
            if "validation" in line
        }
        rows.append([title, *(f"{found[step]:.3f}" for step in STEPS)])
    text = "".join("| " + " | ".join(row) + " |\n" for row in rows)
    (ROOT / "benchmarks" / "results" / "saeki" / "steps.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
