"""SHA-256 of what every voice says: five texts, each policy, context, k2 and delta that fits the
voice.

    python lab/benchmarks/fingerprints.py --json lab/benchmarks/results/fingerprints.json
    python lab/benchmarks/fingerprints.py --check lab/benchmarks/results/fingerprints.json \
        [--voice NAME]

With ``--voice``, the other voices' digests stay as they are in the file. A change that should not
be heard leaves every one of them as it was. The last bits of a sum depend on the processor, so they
are compared on one machine, before and after; the file that is kept says which it was.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnxruntime
from sayahead.voice import Voice, load_voice

from sayahead_lab.results import keep_figures, kept, options

TEXTS = {
    "plain": "The quick brown fox jumps over the lazy dog.",
    "long": (
        "Printing, in the only sense with which we are at present concerned, differs from most if"
        " not from all the arts and crafts represented in the Exhibition."
    ),
    "two": "Wait here, please. I will be back in ten minutes!",
    "open": "He turned to the window and said nothing at all",
    "question": "Is there anything else that you would like to know?",
}
WORDS: dict[str, dict[str, Any]] = {
    "default": {},
    "lookahead 0": {"policy": "lookahead", "k": 0},
    "lookahead 2": {"policy": "lookahead", "k": 2},
    "lookahead 1, chunks": {"policy": "lookahead", "k": 1, "first_chunk": 18, "chunk": 6},
    "wait-all": {"policy": "wait-all"},
    "independent": {"policy": "independent", "words": 2},
    "random": {"policy": "lookahead", "k": 0, "context": "random"},
    "truth": {"policy": "lookahead", "k": 0, "context": "truth"},
    "k2 1": {"k2": 1},
    "k2 2, delta 0": {"policy": "lookahead", "k": 0, "k2": 2, "delta": 0},
    "delta 2": {"delta": 2},
    "other seed": {"seed": 7},
    "held back": {"policy": "lookahead", "k": 0, "hold_back_s": 0.3},
}
DISTILLED: dict[str, dict[str, Any]] = {
    "distilled": {"policy": "lookahead", "k": 0, "context": "distilled"},
    "none": {"context": "none"},
}
HEART: dict[str, dict[str, Any]] = {
    "faster": {"speed": 1.25, "seed": 7},
    "learned": {"policy": "learned"},
    "learned, dear": {"policy": "learned", "price": 4.0, "words_per_min": 300.0},
    "learned, distilled": {"policy": "learned", "price": 0.4, "context": "distilled"},
}
CHARACTERS: dict[str, dict[str, Any]] = {
    "default": {},
    "agent": {"policy": "agent"},
    "wait-end": {"policy": "wait-end"},
    "wait-2": {"policy": "wait-k-steps", "k": 2},
    "wait-3": {"policy": "wait-k-steps", "k": 3},
    "k2 1": {"policy": "wait-k-steps", "k": 2, "k2": 1},
    "other seed": {"seed": 7},
}
FEW: dict[str, dict[str, Any]] = {"default": {}, "lookahead 0": {"policy": "lookahead", "k": 0}}
CONDITIONS: dict[str, dict[str, dict[str, Any]]] = {
    "heart": WORDS | DISTILLED | HEART,
    "heart-low": FEW,
    "heart-bright": FEW,
    "ma-lj": WORDS,
    "saeki-lj": WORDS | DISTILLED,
    "mohan-lj": CHARACTERS,
    "ma-clarinet": FEW,
    "ma-wavernn": {"default": {}},
    "mohan-wavernn": {"default": {}},
    "saeki-free-bicontext": FEW,
    "saeki-free-independent": {"default": {}},
    "saeki-free-unicontext": {"default": {}},
    "saeki-waveglow": {"default": {}, "lookahead 2": {"policy": "lookahead", "k": 2}},
}
"""Voices that are installed; those of archives/ must have been added (`sayahead voices add
archives/NAME.tar.gz`)."""
RENDERING = ("speed", "seed", "k2", "delta", "hold_back_s")


def fingerprints(only: str | None) -> Iterator[tuple[str, str]]:
    """What was said, ``voice / condition / text``, and the digest of its samples; of one voice or
    of all."""
    for name, conditions in CONDITIONS.items():
        if only not in (None, name):
            continue
        voice = load_voice(name)
        for label, condition in conditions.items():
            for key, text in TEXTS.items():
                samples = voice.synthesize(text, **session_options(voice, condition, text))
                yield f"{name} / {label} / {key}", hashlib.sha256(samples.tobytes()).hexdigest()


def session_options(voice: Voice, condition: dict[str, Any], text: str) -> dict[str, Any]:
    """``Voice.session``'s options for a condition."""
    chosen: dict[str, Any] = {name: condition[name] for name in RENDERING if name in condition}
    fields = {k: v for k, v in condition.items() if k not in (*RENDERING, "policy", "context")}
    if "policy" in condition:
        chosen["policy"] = voice.policy(condition["policy"], **fields)
    if "context" in condition:
        extra = {"text": text} if condition["context"] == "truth" else {}
        chosen["context"] = voice.context(condition["context"], **extra)
    return chosen


def main() -> int:
    """Write the digests, or compare them with those that were written; 1 where one differs."""
    parser = options(__doc__, "json", check=Path)
    parser.add_argument("--voice", choices=CONDITIONS, help="only this one's")
    arguments = parser.parse_args()
    digests = dict(fingerprints(arguments.voice))
    machine = f"{platform.processor() or platform.machine()}, onnxruntime {onnxruntime.__version__}"
    if arguments.json:
        if arguments.voice:
            digests = kept(arguments.json)["digests"] | digests
        keep_figures({"machine": machine, "digests": digests}, arguments.json)
    if arguments.check is None:
        return 0
    known = {
        name: digest
        for name, digest in kept(arguments.check)["digests"].items()
        if arguments.voice in (None, name.partition(" / ")[0])
    }
    different = [
        name for name in known.keys() | digests.keys() if known.get(name) != digests.get(name)
    ]
    for name in sorted(different):
        print(f"differs: {name}")
    print(f"{len(digests)} said, {len(different)} of them differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
