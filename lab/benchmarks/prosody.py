"""Prosody over lookahead and context: how far durations, pauses and pitch lie from the same voice's
whole sentences.

    python lab/benchmarks/prosody.py NAME --texts test.csv [--voice NAME] [--lm DIR] \
        [--results FILE]

The voice's own durations and pitch are compared, word by word and frame by frame: no recogniser, no
warping. Without ``--lm``, a condition that wants a language model is left out, and named."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from sayahead import load_voice
from sayahead.config import from_mapping
from sayahead.research import WaitAll

from sayahead_lab.eval.experiment.conditions import Condition, choices
from sayahead_lab.eval.measures.intervals import ConfidenceInterval
from sayahead_lab.eval.measures.prosody import Deviation, Recording, differences, prosody, recorded
from sayahead_lab.results import Rows, options, table, tell
from sayahead_lab.scripts import texts_at

LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Conditions by the name of their list."""


def figure(found: Deviation) -> str:
    """A mean absolute deviation with its interval, and the bias."""
    return (
        f"{ConfidenceInterval(found.mean_absolute, found.low, found.high):.1f}, {found.mean:+.1f}"
    )


def main() -> None:
    parser = options(__doc__, "texts", "results", count=100, voice="heart", lm=str)
    parser.add_argument("conditions", choices=LISTS, help="a list of prosody.toml")
    arguments = parser.parse_args()
    texts = texts_at(arguments.texts, arguments.count)
    voice, recorder = recorded(load_voice(arguments.voice))

    def record(text: str, **settings: Any) -> Recording:
        for _ in voice.stream([text], **settings):
            pass
        return recorder.recording

    whole = [record(text, policy=WaitAll()) for text in texts]
    rows = Rows()
    for entry in LISTS[arguments.conditions]:
        condition = from_mapping(Condition, entry, where=f"prosody.toml: {arguments.conditions}")
        if condition.policy_name == "wait-all":
            continue
        if condition.context_name == "lm" and not arguments.lm:
            print(f"Left out: {condition.name} (no --lm).", file=sys.stderr)
            continue
        spoken = (record(text, **choices(condition, text, arguments.lm)) for text in texts)
        found = prosody([differences(*pair) for pair in zip(spoken, whole, strict=True)])
        figures = map(figure, (found.duration_ms, found.pause_ms, found.pitch_cents))
        rows.append([condition.name, *figures, f"{100 * found.voicing_error:.1f}"])
        print(rows[-1], flush=True)
    named = "" if arguments.voice == "heart" else f"--voice {Path(arguments.voice).name} "
    about = (
        f"{len(texts)} sentences of the LJ Speech test split; `python lab/benchmarks/prosody.py"
        f" {arguments.conditions} {named}--texts test.csv --lm DIR`. Mean absolute deviation"
        " from the whole sentence (95 % interval), and the bias."
    )
    heading = "condition|word duration, ms|pause, ms|pitch, cents|voicing differs, % of frames"
    tell([about, "", *table(heading, rows)], arguments.results)


if __name__ == "__main__":
    main()
