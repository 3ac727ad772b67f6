"""What a VITS voice costs word by word beside its own whole sentences, and how soon its first sound
is there.

    python lab/benchmarks/vits/speed.py VOICE --texts test.csv [--count 16] [--graph VOICE.onnx] \
        [--results FILE.json]

Processor time of one thread, everything in one run: each sentence is spoken in every way in turn,
three times, and the least counts, so that what else the machine does falls away. The text comes
letter by letter; the first sound is counted from the letter that made its lookahead word final to
the first chunk with a sample above -50 dBFS.

``--graph`` is the file that the voice was added from: its untouched graph speaks the phonemes of
whole sentences, with nothing around it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import Voice, load_voice
from sayahead.engine.onnx import OnnxGraph
from sayahead.research import LookaheadK, WaitAll
from sayahead.sound.pcm import audible

from sayahead_lab.eval.experiment.machine import versions
from sayahead_lab.results import options, tell_figures
from sayahead_lab.scripts import texts_at

WAYS: dict[str, Any] = {
    "whole": {"policy": WaitAll()},
    "k = 1": {"policy": LookaheadK(1)},
    "k = 0": {"policy": LookaheadK(0)},
    "k = 1, two words a step": {"policy": LookaheadK(1, words=2)},
}
UNTOUCHED = "untouched graph, whole sentence"
Spoken = tuple[float, float, float]
"""Processor seconds of a sentence, those to its first audible chunk, and its playing time."""


def spoken(text: str, voice: Voice, options: Any) -> Spoken:
    """A sentence, letter by letter."""
    session = voice.session(**options)
    spent = 0.0
    first_s = 0.0
    samples = 0
    for letter in [*text, ""]:
        if letter:
            session.push(letter)
        else:
            session.finish()
        waited = time.thread_time()
        while (chunk := session.pull()) is not None:
            samples += len(chunk.samples)
            if not first_s and len(audible(chunk.samples)):
                first_s = time.thread_time() - waited
        spent += time.thread_time() - waited
    return spent, first_s, samples / voice.sample_rate


class Heard:
    """A text encoder that remembers the tokens it was given."""

    def __init__(self, graph: OnnxGraph) -> None:
        self._graph = graph
        self.shapes = graph.shapes
        self.tokens = list[Any]()

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        self.tokens.append(inputs["input"])
        return self._graph(**inputs)


def untouched(path: Path, voice: Voice, texts: list[str]) -> Callable[[str], Spoken]:
    """Whole sentences by the graph that a voice was added from, their phonemes given."""
    acoustic: Any = vars(voice.synthesizer)["acoustic"]
    encoder = vars(acoustic)["_text"]
    tokens = dict[str, list[Any]]()
    graph = OnnxGraph(path)
    for text in texts:
        vars(acoustic)["_text"] = Heard(encoder)
        heard = vars(acoustic)["_text"]
        voice.synthesize(text, policy=WaitAll())
        tokens[text] = heard.tokens
    vars(acoustic)["_text"] = encoder
    scales = np.array(
        [voice.config.model[name] for name in ("noise_scale", "length_scale", "noise_w")],
        np.float32,
    )

    def speak(text: str) -> Spoken:
        start_s = time.thread_time()
        samples = 0
        for ids in tokens[text]:
            given = {
                "input": ids,
                "input_lengths": np.array([ids.shape[1]]),
                "scales": scales,
                "sid": np.zeros(1, int),
            }
            made = graph(**{name: value for name, value in given.items() if name in graph.shapes})
            samples += next(iter(made.values())).size
        spent = time.thread_time() - start_s
        return spent, spent, samples / voice.sample_rate

    return speak


def measure(
    ways: dict[str, Callable[[str], Spoken]], texts: list[str], tries: int
) -> dict[str, dict[str, float]]:
    """Each way's processor seconds for a second of sound, over those of the whole, and milliseconds
    to the first."""
    least = {way: np.full((len(texts), 3), np.inf) for way in ways}
    for _ in range(tries):
        for number, text in enumerate(texts):
            for way, speak in ways.items():
                least[way][number] = np.minimum(least[way][number], speak(text))
    words = sum(len(text.split()) for text in texts)
    figures = {}
    for way, rows in least.items():
        rtf = float(rows[:, 0].sum() / rows[:, 2].sum())
        first = np.sort(rows[:, 1] * 1000)
        figures[way] = {
            "rtf": rtf,
            "over_whole": rtf / float(least["whole"][:, 0].sum() / least["whole"][:, 2].sum()),
            "ms_a_word": 1000 * float(rows[:, 0].sum()) / words,
            "first_sound_ms_median": float(np.median(first)),
            "first_sound_ms_p95": float(first[int(0.95 * (len(first) - 1))]),
            "longer_than_whole": float(rows[:, 2].sum() / least["whole"][:, 2].sum()),
        }
    if UNTOUCHED in figures:
        for row in figures.values():
            row["over_untouched"] = row["rtf"] / figures[UNTOUCHED]["rtf"]
    return figures


def main() -> None:
    arguments = options(
        __doc__, "VOICE", "texts", "results", count=16, tries=3, graph=Path
    ).parse_args()
    texts = texts_at(arguments.texts, arguments.count)
    voice = load_voice(arguments.voice)
    ways: dict[str, Callable[[str], Spoken]] = {
        way: functools.partial(spoken, voice=voice, options=options)
        for way, options in WAYS.items()
    }
    if arguments.graph:
        ways[UNTOUCHED] = untouched(arguments.graph, voice, texts)
    figures = measure(ways, texts, arguments.tries)
    about = {"voice": voice.config.name, "sentences": len(texts), "versions": versions()}
    about["command"] = (
        f"python lab/benchmarks/vits/speed.py {voice.config.name} --texts test.csv"
        f" --count {len(texts)}{f' --graph {arguments.graph.name}' if arguments.graph else ''}"
    )
    tell_figures({**about, "figures": figures}, arguments.results)


if __name__ == "__main__":
    main()
