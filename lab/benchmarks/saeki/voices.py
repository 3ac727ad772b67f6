"""The voices of the rows of Saeki et al.'s tables: one network, its fine-tuned context, its
students.

    python lab/benchmarks/saeki/voices.py runs voices

RUNS is a folder of runs or an archive of ``sayahead train publish``. Makes saeki-base (not
fine-tuned), saeki-lj (fine-tuned, with the medium student), saeki-STUDENT for each run
student-STUDENT, saeki-hidden (not fine-tuned, with the student of hidden states), and
saeki-independent (the first of these, whose segments know nothing of each other). Of runs free-ROW,
the networks of ``free.toml``, it makes saeki-free-ROW; the segments of saeki-free-independent*,
too, know nothing of each other. With ``saeki-lj`` in place of runs, that voice is copied, and made
independent."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sayahead.voices import installed_voices
from sayahead.voices.write import change_voice

from sayahead_lab.results import load_figures
from sayahead_lab.training.loop.checkpoint import has_checkpoint
from sayahead_lab.training.loop.publish import opened
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_voice


def of_runs(runs: Path, voices: Path) -> None:
    """Make what there are runs for."""
    base = "tacotron-longer"
    made = {
        "base": (base, None),
        "lj": ("guided-small", "student-medium"),
        "hidden": (base, "hidden-small"),
    }
    made |= {run.name: (run.name, None) for run in sorted(runs.glob("free-*"))}
    for run in sorted(runs.glob("student-*")):
        made[run.name.removeprefix("student-")] = ("guided-small", run.name)
    for name, (acoustic, student) in made.items():
        if not all(has_checkpoint(runs / run) for run in (acoustic, student or acoustic)):
            continue
        folder = voices / f"saeki-{name}"
        taught = None if student is None else load_trained(runs / student)
        trained = load_trained(runs / acoustic)
        make_voice(trained, "ma-lj", folder, name=folder.name, license="Apache-2.0", student=taught)
        if name.startswith("free-independent"):
            make_independent(folder, end_mark=trained.task.data.end_mark)
        print(folder)


def make_independent(folder: Path, *, end_mark: bool = True) -> None:
    """Say in a voice's folder, which gives it its name, that its segments know nothing of each
    other."""
    table = load_figures(folder / "voice.json")
    table["model"]["acoustic"] |= {"independent": True, "end_mark": end_mark}
    table["name"] = folder.name
    change_voice(folder, table)


def main(source: str, voices: Path) -> None:
    """Make the voices of runs, or of a voice."""
    if (shipped := installed_voices().get(source)) is not None:
        shutil.copytree(shipped, voices / "saeki-lj", dirs_exist_ok=True)
    else:
        with opened(Path(source)) as runs:
            of_runs(runs, voices)
    bases = [voices / name for name in ("saeki-base", "saeki-lj") if (voices / name).exists()]
    if bases:
        shutil.copytree(bases[0], voices / "saeki-independent", dirs_exist_ok=True)
        make_independent(voices / "saeki-independent")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
