"""How much a voice sounds like its teacher: the cosine of speaker embeddings (Resemblyzer, GE2E),
over an experiment.

    sayahead eval run lab/benchmarks/pupil.toml --texts test.csv -o OUT
    python lab/benchmarks/likeness.py OUT [--to CONDITION] [--results FILE]

Each utterance is compared with the mean of the first condition's *other* sentences, or of those of
the condition that is named, so that what is said does not count; that condition itself shows what
its speaker has with itself. Needs the package Resemblyzer, whose weights come with it (``pip
install --no-deps Resemblyzer webrtcvad-wheels``; librosa, scipy).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from output import options, tell
from sayahead.sound.files import read_wav
from sayahead.types import Floats

from sayahead_lab.eval.experiment.folder import read_experiment, wav_path
from sayahead_lab.eval.listening.likeness import likeness, load_embedder
from sayahead_lab.eval.measures.intervals import estimate


def main() -> int:
    parser = options(__doc__, "--results")
    parser.add_argument("out", type=Path, help="an experiment's folder, of sayahead eval run")
    parser.add_argument(
        "--to", metavar="CONDITION", help="the speaker (default: the first condition)"
    )
    arguments = parser.parse_args()
    embed = load_embedder()
    conditions = list(read_experiment(arguments.out)["conditions"])
    speaker = arguments.to or conditions[0]
    if speaker not in conditions:
        parser.error(f"{arguments.out} has no condition {speaker}: {', '.join(conditions)}")
    names = [
        path.stem
        for path in sorted(wav_path(arguments.out / conditions[0], "").parent.glob("*.wav"))
    ]
    rows = ["| condition | similarity |", "|---|---:|"]
    theirs = list[Floats]()
    for condition in (speaker, *(one for one in conditions if one != speaker)):
        embeddings = [embed(*read_wav(wav_path(arguments.out / condition, name))) for name in names]
        theirs = theirs or embeddings
        rows.append(f"| {condition} | {figure(likeness(embeddings, theirs))} |")
    tell(rows, arguments.results)
    return 0


def figure(values: Sequence[float]) -> str:
    """A mean with its interval."""
    found = estimate(
        np.array([[value, 1] for value in values]), lambda sums: sums[..., 0] / sums[..., 1]
    )
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


if __name__ == "__main__":
    raise SystemExit(main())
