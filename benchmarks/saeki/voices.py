"""The voices of the rows of Saeki et al.'s tables, made of runs: one network, its fine-tuned context, its students.

    python benchmarks/saeki/voices.py runs voices

Makes saeki-base (not fine-tuned), saeki-independent (the same, whose segments know nothing of each other), saeki-lj
(fine-tuned, with the medium student) and saeki-STUDENT for each run student-STUDENT.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from sayahead.training.loop.trained import load_trained
from sayahead.training.voice import make_voice


def main(runs: Path, voices: Path) -> None:
    """Make what there are runs for."""
    made = {"base": ("tacotron-small", None), "lj": ("guided-small", "student-medium")}
    for run in sorted(runs.glob("student-*")):
        made[run.name.removeprefix("student-")] = ("guided-small", run.name)
    for name, (acoustic, student) in made.items():
        if not (runs / acoustic / "checkpoint.pt").exists() or not (runs / (student or acoustic)).exists():
            continue
        folder = voices / f"saeki-{name}"
        taught = None if student is None else load_trained(runs / student)
        make_voice(load_trained(runs / acoustic), "ma-lj", folder, name=folder.name, student=taught)
        print(folder)
    base, own = voices / "saeki-base", voices / "saeki-independent"
    shutil.copytree(base, own, dirs_exist_ok=True)
    table = json.loads((own / "voice.json").read_text(encoding="utf-8"))
    table["model"]["acoustic"]["independent"], table["name"] = True, own.name
    (own / "voice.json").write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
