"""Voices of a family beside the styles of Kokoro that taught them: words understood, opinion,
similarity, cost.

    sayahead train corpus TESTS/am_michael --teacher kokoro.onnx --speaker am_michael \
        --punctuation all --test texts
    python lab/benchmarks/family.py TESTS... --taught CORPUS --voices FOLDER --whisper WHISPER -o \
        OUT

``TESTS`` has a corpus for each speaker, with a split ``test``, whose sound is the teacher's own,
whole sentences by its whole graph, or several such folders, together; sentences that the CORPUS of
``--taught`` has, of any speaker, are left out. ``FOLDER`` has voices of the same names. Each says
the same sentences: whole, with a word of lookahead, and without one (100 ms held back). Similarity
is the cosine of Resemblyzer's embeddings to the mean of the teacher's other sentences
(``eval/listening/likeness.py``). Cost is the voice's processor time for a second of speech, with a
word of lookahead, over the default voice's. A speaker's figures are kept in OUT/NAME.json once they
are there; the table is OUT/table.md."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from output import options, tell
from sayahead import Voice, load_voice
from sayahead.policies.fixed import LookaheadK, WaitAll
from sayahead.research import Policy
from sayahead.sound.files import write_wav
from sayahead.types import Floats

from sayahead_lab.eval.listening.blind_test import TEXTS
from sayahead_lab.eval.listening.likeness import likeness, load_embedder
from sayahead_lab.eval.listening.listeners import (
    at_16khz,
    load_distillmos,
    load_normalizer,
    load_whisper,
)
from sayahead_lab.eval.measures.intervals import Values, difference, estimate
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.scripts import strided
from sayahead_lab.training.corpus.store import Corpus, Item

POLICIES: dict[str, Policy] = {"whole": WaitAll(), "k = 1": LookaheadK(1), "k = 0": LookaheadK(0)}
TEACHER = "teacher"
RATE = 24000
ENGLISH = "Text comes in word by word, and the voice is already speaking when the sentence ends."


@dataclass(frozen=True)
class Heard:
    """What the listeners make of one condition's sentences, in their order."""

    errors: list[int]
    """Words that the recognizer mistakes."""
    words: list[int]
    """Words of the texts."""
    opinion: list[float]
    """DistillMOS."""
    similarity: list[float]
    """Cosine to the teacher."""


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("tests", type=Path, nargs="+", metavar="TESTS")
    parser.add_argument(
        "--taught", type=Path, metavar="CORPUS", help="what the voices have learned from"
    )
    parser.add_argument(
        "--voices", type=Path, required=True, help="folder of the voices, by the speakers' names"
    )
    parser.add_argument("--whisper", type=Path, required=True, help="folder of a Whisper model")
    parser.add_argument("--speakers", nargs="*", help="only these")
    parser.add_argument("--count", type=int, default=1000, help="sentences of each")
    parser.add_argument("--sounds", type=Path, help="write what is heard here")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of figures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    there = {path.parent.name for tests in arguments.tests for path in tests.glob("*/corpus.json")}
    names = arguments.speakers or sorted(there)
    taught = Corpus(arguments.taught) if arguments.taught else None
    known = (
        {item.text for split in ("train", "val") for item in taught.split(split)}
        if taught
        else set[str]()
    )
    rate = load_distillmos()
    embed = load_embedder()
    heart = load_voice()
    for name in names:
        kept = arguments.out / f"{name}.json"
        if kept.is_file():
            continue
        corpora = [tests / name for tests in arguments.tests if (tests / name).is_dir()]
        items = [
            item
            for corpus in corpora
            for item in Corpus(corpus).split("test")
            if item.text not in known
        ]
        chosen = [items[number] for number in strided(range(len(items)), arguments.count)]
        voice = load_voice(arguments.voices / name)
        sounds = spoken(voice, chosen)
        if arguments.sounds:
            (arguments.sounds / name).mkdir(parents=True, exist_ok=True)
            texts = "".join(f"{item.name}|{item.text}\n" for item in chosen)
            (arguments.sounds / name / TEXTS).write_text(texts, encoding="utf-8")
            for condition, utterances in sounds.items():
                for item, samples in zip(chosen, utterances, strict=True):
                    write_wav(
                        arguments.sounds / name / condition.replace(" ", "") / f"{item.name}.wav",
                        samples,
                        RATE,
                    )
        recognize = recognizer(arguments.whisper, voice.config.language)
        theirs = [embed(samples, RATE) for samples in sounds[TEACHER]]
        found: dict[str, Any] = {"language": voice.config.language, "gender": voice.config.gender}
        for condition, utterances in sounds.items():
            counts = [
                recognize(item.text, samples)
                for item, samples in zip(chosen, utterances, strict=True)
            ]
            heard = Heard(
                [errors for errors, _ in counts],
                [words for _, words in counts],
                [rate(at_16khz(samples, RATE)) for samples in utterances],
                likeness([embed(samples, RATE) for samples in utterances], theirs),
            )
            found[condition] = asdict(heard)
        found["cost"] = cost(voice, [item.text for item in chosen[:6]]) / cost(heart, [ENGLISH] * 6)
        kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(row(name, found), flush=True)
    paths = sorted(arguments.out.glob("*.json"))
    rows = [row(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in paths]
    tell([HEAD, RULE, *rows], arguments.out / "table.md")
    return 0


HEAD = (
    "| voice | language | sentences | teacher: WER %, DistillMOS, similarity | whole, less the"
    " teacher's | k = 1, less the teacher's | similarity | k = 0, less the teacher's | similarity |"
    " cost of heart's |"
)
RULE = "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"


def spoken(voice: Voice, items: list[Item]) -> dict[str, list[Floats]]:
    """(S,) samples of each sentence in each condition, the teacher's first."""
    teacher = [np.asarray(item.audio, np.float32) / np.float32(32767) for item in items]
    return {TEACHER: teacher} | {
        name: [voice.synthesize(item.text, policy=policy) for item in items]
        for name, policy in POLICIES.items()
    }


def recognizer(whisper: Path, language: str) -> Callable[[str, Floats], tuple[int, int]]:
    """What counts the words that a recognizer mistakes, and all, of a text and samples (S,)."""
    base = language.split("-")[0]
    transcribe = load_whisper(whisper, threads=1, language=base)
    normalize = load_normalizer(base)

    def count(text: str, samples: Floats) -> tuple[int, int]:
        errors = word_errors(normalize(text), normalize(transcribe(at_16khz(samples, RATE))))
        return errors.total, errors.words

    return count


def cost(voice: Voice, texts: list[str]) -> float:
    """Processor seconds for a second of speech with a word of lookahead, after a first text."""
    voice.synthesize(texts[0], policy=LookaheadK(1))
    begun = time.thread_time()
    samples = 0
    for text in texts:
        samples += len(voice.synthesize(text, policy=LookaheadK(1)))
    return (time.thread_time() - begun) / (samples / voice.sample_rate)


def row(name: str, found: dict[str, Any]) -> str:
    """A voice's row of the table."""
    teacher = found[TEACHER]
    cells = [name, found["language"], str(len(teacher["words"]))]
    own = estimate(rates(teacher), share)
    cells.append(
        f"{100 * own.value:.1f}, {np.mean(teacher['opinion']):.2f},"
        f" {np.mean(teacher['similarity']):.2f}"
    )
    for condition in POLICIES:
        heard = found[condition]
        wrong = difference(rates(heard), rates(teacher), share)
        rated = difference(pairs(heard["opinion"]), pairs(teacher["opinion"]), share)
        cells.append(
            f"{100 * wrong.value:+.1f} ({100 * wrong.low:+.1f} to {100 * wrong.high:+.1f}), "
            f"{rated.value:+.2f} ({rated.low:+.2f} to {rated.high:+.2f})"
        )
        if condition != "whole":
            cells.append(f"{np.mean(heard['similarity']):.2f}")
    return f"| {' | '.join([*cells, format(found['cost'], '.2f')])} |"


def rates(heard: dict[str, list[int]]) -> Values:
    """(N, 2) errors and words."""
    return np.array([heard["errors"], heard["words"]], np.float64).T


def pairs(values: list[float]) -> Values:
    """(N, 2) values and ones."""
    return np.array([values, np.ones(len(values))], np.float64).T


def share(sums: Values) -> Values:
    """The first sum over the second."""
    return np.asarray(sums[..., 0] / sums[..., 1])


if __name__ == "__main__":
    raise SystemExit(main())
