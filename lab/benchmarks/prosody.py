"""Prosody over lookahead and context: how far durations, pauses and pitch lie from the same voice's
whole sentences.

    python lab/benchmarks/prosody.py CONDITIONS.json --texts test.csv [--voice NAME] [--lm DIR] \
        [--results FILE]

The voice's own durations and pitch are compared, word by word and frame by frame: no recogniser, no
warping. Without ``--lm``, a condition that wants a language model is left out, and named.
``--against`` takes the whole sentences of another voice, such as the one that taught this one: a
voice that grew flatter is nearer to itself, not to its teacher. ``--beside`` names a condition with
which the others are paired, sentence by sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from output import keep, options
from sayahead import load_voice
from sayahead.config import from_mapping
from sayahead.research import WaitAll

from sayahead_lab.eval.experiment.conditions import Condition, context, policy
from sayahead_lab.eval.measures.intervals import difference, quotient
from sayahead_lab.eval.measures.prosody import (
    Deviation,
    Differences,
    Recording,
    differences,
    prosody,
    recorded,
)
from sayahead_lab.scripts import read_texts, strided


def read_conditions(path: Path) -> list[Condition]:
    """The conditions of a JSON list."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [from_mapping(Condition, item, where=str(path)) for item in data]


def figure(found: Deviation) -> str:
    """A mean absolute deviation with its interval, and the bias."""
    return f"{found.mean_absolute:.1f} ({found.low:.1f} to {found.high:.1f}), {found.mean:+.1f}"


def paired(what: str, one: Sequence[Differences], other: Sequence[Differences]) -> str:
    """The mean absolute deviation of ``one`` less that of ``other``, with its interval and
    p-value."""
    parts = []
    for texts in (one, other):
        apart = [np.abs(np.subtract(*getattr(text, what))) for text in texts]
        parts.append(np.array([(values.sum(), len(values)) for values in apart]))
    found = difference(parts[0], parts[1], quotient)
    return f"{found.value:+.1f} ({found.low:+.1f} to {found.high:+.1f}), p {found.p:.3f}"


def beside(name: str, known: Mapping[str, Sequence[Differences]]) -> list[str]:
    """Lines of a table of all conditions less the named one."""
    return [
        "",
        f"Less {name}, paired by sentence:",
        "",
        "| condition | word duration, ms | pitch, cents |",
        "|---|---|---|",
        *(
            f"| {one} | {paired('durations_ms', found, known[name])} |"
            f" {paired('pitch_cents', found, known[name])} |"
            for one, found in known.items()
            if one != name
        ),
    ]


def main() -> int:
    parser = options(__doc__, "--results")
    parser.add_argument("conditions", type=Path)
    parser.add_argument("--texts", type=Path, required=True, help="id|text lines")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--lm")
    parser.add_argument("--voice", default="heart", help="a voice's name or folder")
    parser.add_argument(
        "--against", help="the voice whose whole sentences are compared with (default: the same)"
    )
    parser.add_argument(
        "--beside", metavar="NAME", help="the condition that the others are compared with in pairs"
    )
    arguments = parser.parse_args()
    texts = [script.text for script in strided(read_texts(arguments.texts), arguments.count)]
    voice, recorder = recorded(load_voice(arguments.voice))
    teacher, told = (
        recorded(load_voice(arguments.against)) if arguments.against else (voice, recorder)
    )

    def whole(text: str) -> Recording:
        for _ in teacher.stream([text], policy=WaitAll()):
            pass
        return told.recording

    def record(condition: Condition, text: str) -> Recording:
        options: dict[str, Any] = (
            {} if condition.hold_back_s is None else {"hold_back_s": condition.hold_back_s}
        )
        options |= {"policy": policy(condition), "context": context(condition, text, arguments.lm)}
        for _ in voice.stream([text], **options):
            pass
        return recorder.recording

    full = [whole(text) for text in texts]
    named = {
        "--voice": arguments.voice if arguments.voice != "heart" else None,
        "--against": arguments.against,
    }
    voices = "".join(f"{option} {Path(name).name} " for option, name in named.items() if name)
    rows = [
        (
            f"{len(texts)} sentences of the LJ Speech test split; `python lab/benchmarks/prosody.py"
            f" {arguments.conditions} {voices}--texts test.csv --lm DIR`. Mean absolute deviation"
            " from the whole sentence (95 % interval), and the bias."
        ),
        "",
        (
            "| condition | word duration, ms | pause, ms | pitch, cents | voicing differs, % of"
            " frames |"
        ),
        "|---|---|---|---|---|",
    ]
    conditions = [
        condition
        for condition in read_conditions(arguments.conditions)
        if condition.policy_name != "wait-all" or arguments.against
    ]
    known = dict[str, list[Differences]]()
    for condition in conditions:
        if condition.context_name == "lm" and not arguments.lm:
            print(f"Left out: {condition.name} (no --lm).", file=sys.stderr)
            continue
        known[condition.name] = [
            differences(record(condition, text), one) for text, one in zip(texts, full, strict=True)
        ]
        found = prosody(known[condition.name])
        rows.append(
            f"| {condition.name} | {figure(found.duration_ms)} | {figure(found.pause_ms)} "
            f"| {figure(found.pitch_cents)} | {100 * found.voicing_error:.1f} |"
        )
        print(rows[-1], flush=True)
    if arguments.beside:
        more = beside(arguments.beside, known)
        print("\n".join(more), flush=True)
        rows += more
    keep(rows, arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
