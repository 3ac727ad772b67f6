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

import time
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import Voice, load_voice
from sayahead.policies.fixed import LookaheadK, WaitAll
from sayahead.research import Policy
from sayahead.types import Floats, subtags

from sayahead_lab.eval.listening.likeness import likeness, load_embedder
from sayahead_lab.eval.listening.listeners import at_16khz, load_distillmos, load_word_counter
from sayahead_lab.eval.measures.intervals import Values, difference, quotient
from sayahead_lab.results import keep_figures, kept, options, table, tell
from sayahead_lab.scripts import strided
from sayahead_lab.training.corpus.store import Corpus, Item

POLICIES: dict[str, Policy] = {"whole": WaitAll(), "k = 1": LookaheadK(1), "k = 0": LookaheadK(0)}
TEACHER = "teacher"
RATE = 24000
ENGLISH = "Text comes in word by word, and the voice is already speaking when the sentence ends."


def main() -> None:
    parser = options(__doc__, "TESTS...", "whisper", "out", taught=Path, voices=..., count=1000)
    parser.add_argument("--speakers", nargs="*", help="only these")
    arguments = parser.parse_args()
    there = {path.parent.name for tests in arguments.tests for path in tests.glob("*/corpus.json")}
    taught = texts_of(arguments.taught, "train", "val") if arguments.taught else set[str]()
    heart_cost = cost(load_voice(), [ENGLISH] * 6)
    for name in arguments.speakers or sorted(there):
        path = arguments.out / f"{name}.json"
        if path.is_file():
            continue
        items = [
            item
            for tests in arguments.tests
            if (tests / name).is_dir()
            for item in Corpus(tests / name).split("test")
            if item.text not in taught
        ]
        chosen = [items[number] for number in strided(range(len(items)), arguments.count)]
        found = measured(load_voice(arguments.voices / name), chosen, arguments.whisper)
        found["cost"] /= heart_cost
        keep_figures(found, path)
        print(row(name, found), flush=True)
    paths = sorted(arguments.out.glob("*.json"))
    tell(
        table(HEADING, [row(path.stem, kept(path)) for path in paths], words=2),
        arguments.out / "table.md",
    )


HEADING = (
    "voice|language|sentences|teacher: WER %, DistillMOS, similarity|whole, less the teacher's"
    "|k = 1, less the teacher's|similarity|k = 0, less the teacher's|similarity|cost of heart's"
)


def texts_of(corpus: Path, *splits: str) -> set[str]:
    """The texts of some of a corpus's splits."""
    return {item.text for split in splits for item in Corpus(corpus).split(split)}


def measured(voice: Voice, items: list[Item], whisper: Path) -> dict[str, Any]:
    """What listeners make of a voice and of its teacher, and what the voice costs."""
    rate = load_distillmos()
    embed = load_embedder()
    sounds = spoken(voice, items)
    count = load_word_counter(whisper, subtags(voice.config.language)[0])
    theirs = [embed(samples, RATE) for samples in sounds[TEACHER]]
    found: dict[str, Any] = {"language": voice.config.language, "gender": voice.config.gender}
    for condition, utterances in sounds.items():
        pairs = zip(items, utterances, strict=True)
        counts = [count(item.text, samples, RATE) for item, samples in pairs]
        found[condition] = {
            "errors": [one.total for one in counts],
            "words": [one.words for one in counts],
            "opinion": [rate(at_16khz(samples, RATE)) for samples in utterances],
            "similarity": likeness([embed(samples, RATE) for samples in utterances], theirs),
        }
    return found | {"cost": cost(voice, [item.text for item in items[:6]])}


def spoken(voice: Voice, items: list[Item]) -> dict[str, list[Floats]]:
    """(S,) samples of each sentence in each condition, the teacher's first."""
    teacher = [np.asarray(item.audio, np.float32) / np.float32(32767) for item in items]
    return {TEACHER: teacher} | {
        name: [voice.synthesize(item.text, policy=policy) for item in items]
        for name, policy in POLICIES.items()
    }


def cost(voice: Voice, texts: list[str]) -> float:
    """Processor seconds for a second of speech with a word of lookahead, after a first text."""
    voice.synthesize(texts[0], policy=LookaheadK(1))
    begun = time.thread_time()
    samples = 0
    for text in texts:
        samples += len(voice.synthesize(text, policy=LookaheadK(1)))
    return (time.thread_time() - begun) / (samples / voice.sample_rate)


def row(name: str, found: dict[str, Any]) -> list[str]:
    """A voice's row of the table."""
    teacher = found[TEACHER]
    wer = 100 * quotient(rates(teacher).sum(axis=0))
    opinion, similarity = (np.mean(teacher[one]) for one in ("opinion", "similarity"))
    cells = [name, found["language"], str(len(teacher["words"]))]
    cells.append(f"{wer:.1f}, {opinion:.2f}, {similarity:.2f}")
    for condition in POLICIES:
        heard = found[condition]
        wrong = difference(rates(heard), rates(teacher), quotient).times(100)
        rated = difference(pairs(heard["opinion"]), pairs(teacher["opinion"]), quotient)
        cells.append(f"{wrong:+.1f}, {rated:+.2f}")
        if condition != "whole":
            cells.append(f"{np.mean(heard['similarity']):.2f}")
    return [*cells, f"{found['cost']:.2f}"]


def rates(heard: dict[str, list[int]]) -> Values:
    """(N, 2) errors and words."""
    return np.array([heard["errors"], heard["words"]], np.float64).T


def pairs(values: list[float]) -> Values:
    """(N, 2) values and ones."""
    return np.array([values, np.ones(len(values))], np.float64).T


if __name__ == "__main__":
    main()
