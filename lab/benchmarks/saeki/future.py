"""Does the future reach the sound? What a segment's mel, length and pitch owe to its true future,
and to others.

    python lab/benchmarks/saeki/future.py CORPUS RUN [RUN ...] -o \
        lab/benchmarks/results/saeki/future.json

Each RUN is one of a Tacotron (saeki, saeki-guided), of which a voice is made with the vocoder of
ma-lj. CORPUS is one of the default voice with a test split. Every second word begins a segment, as
it is spoken; its past is the true one. Contexts: the true future, random words, a language model's
(``--lm``, greedy), no future, and neither past nor future. Measured by teacher forcing: the mean
change of the log mel against the true future's, in nats, and the error against the corpus. Measured
in free speech: the error of a segment's length, and of its pitch contour (read from the mel by the
vocoder, stretched to the true length, frames voiced in both). Intervals: bootstrap over sentences.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.contexts.baselines import RandomWords
from sayahead.engine.onnx import count
from sayahead.text.reading.stream import normalize
from sayahead.types import Floats
from sayahead.voice import load_voice

from sayahead_lab.training.corpus.segments import NOTHING, Numbers, Piece, SegmentCutter
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.saeki.futures import Expected, Prefix
from sayahead_lab.training.saeki.task import SaekiTask, inputs
from sayahead_lab.training.voice import make_voice

RECIPE = Path(__file__).parents[2] / "recipes" / "saeki" / "tacotron-longer.toml"
WORDS = 2
FRAME_MS = 12.5
Row = dict[str, dict[str, float]]


class Voice:
    """A voice of a run, its parts within reach; ``folder`` is where it is written."""

    def __init__(self, path: Path, corpus: Corpus, folder: Path) -> None:
        recipe = load_recipe(RECIPE)
        run = load_trained(path)
        self.name = run.recipe.name
        self.lookahead = int(recipe.data["lookahead"])
        self.task = SaekiTask(recipe.model, recipe.data, corpus)
        self.model = run.model.tacotron
        make_voice(run, "ma-lj", folder, name=self.name)
        # Frames are normalized as the voice's were, not as those of this corpus would be.
        mean = tuple(self.model.mean.tolist())
        deviation = tuple(self.model.std.tolist())
        corpus.info = replace(corpus.info, mel_mean=mean, mel_std=deviation)
        synthesizer: Any = load_voice(folder).synthesizer
        self.acoustic = synthesizer.acoustic
        self.vocoder = synthesizer.vocoder
        settings = self.acoustic._model
        space = corpus.info.phonemes.get(" ", -1)
        self.cutter = SegmentCutter(
            pad=corpus.info.pad, space=space, past=settings.past, lookahead=self.lookahead
        )

    def embedding(self, past: Numbers, future: Numbers) -> Floats:
        """(E,) of a past and a future."""
        graphs = self.acoustic._graphs
        nothing = np.zeros(1, np.int64)
        sides = [
            graphs["encoder"](ids=ids if len(ids) else nothing)["states"] for ids in (past, future)
        ]
        there = np.array([len(past) > 0, len(future) > 0], np.float32)[:, None]
        out: Floats = graphs["context"](past=sides[0], future=sides[1], there=there)["embedding"]
        return out

    @torch.no_grad()
    def forced(
        self, pieces: list[Piece], number: int, items: Any, embeddings: list[Floats]
    ) -> list[Floats]:
        """Log mel (T, n_mels) of each segment after the true frames."""
        batch = self.task.batch([(number, piece) for piece in pieces], items, None)
        texts, _, _, frames, spoken, taught = inputs(batch)
        refined = self.model(
            texts, torch.from_numpy(np.stack(embeddings)), frames, spoken, taught
        ).refined
        mel = refined * self.model.std + self.model.mean
        return [mel[row, : piece.frames].numpy() for row, piece in enumerate(pieces)]

    def spoken(self, piece: Piece, embedding: Floats) -> Floats:
        """Log mel of a segment as the voice says it."""
        marks = int((piece.ids[-1:] == self.task.corpus.info.pad).sum())
        mel: Floats = self.acoustic._decode(piece.ids, embedding, len(piece.ids) - 1 - marks)[0]
        return mel

    def pitch(self, mel: Floats) -> Floats:
        """(T,) Hz that the vocoder reads from a mel."""
        caches = dict(zip(("input_cache", "cache"), self.vocoder._caches, strict=True))
        rows = count(len(mel))
        out: Floats = self.vocoder.graph(mel=mel, rows=rows, commit=rows, **caches)["f0"]
        return out


def contours(mine: Floats, meant: Floats) -> Floats:
    """(N,) differences in cents of two contours, the first stretched to the second's length, where
    both are voiced."""
    if not len(mine) or not len(meant):
        return np.zeros(0, np.float32)
    at = np.minimum((np.arange(len(meant)) + 0.5) * len(mine) / len(meant), len(mine) - 1).astype(
        np.int64
    )
    both = (mine[at] > 40) & (meant > 40)
    out: Floats = 1200 * np.log2(mine[at][both] / meant[both].astype(np.float32))
    return out


def measure(
    voice: Voice,
    number: int,
    items: Any,
    futures: Callable[[Piece, str], Numbers],
    contexts: list[str],
) -> Row:
    """A sentence under all contexts."""
    item = items[number]
    pieces = [
        voice.cutter.cut(item, at, min(at + WORDS, len(item.words)))
        for at in range(0, len(item.words), WORDS)
    ]
    pieces = [piece for piece in pieces if piece.frames]
    forced = dict[str, list[Floats]]()
    rows = Row()
    for context in contexts:
        pasts = [NOTHING if context == "no past, no future" else piece.past for piece in pieces]
        made = [
            voice.embedding(past, futures(piece, context))
            for past, piece in zip(pasts, pieces, strict=True)
        ]
        forced[context] = voice.forced(pieces, number, items, made)
        free = [voice.spoken(piece, one) for piece, one in zip(pieces, made, strict=True)]
        cuts = np.cumsum([0, *(len(mel) for mel in free)])
        pitch = voice.pitch(np.concatenate(free))
        cents = np.concatenate(
            [
                contours(pitch[a:b], item.f0[piece.first : piece.first + piece.frames])
                for a, b, piece in zip(cuts[:-1], cuts[1:], pieces, strict=True)
            ]
        )
        lengths = FRAME_MS * np.array(
            [len(mel) - piece.frames for mel, piece in zip(free, pieces, strict=True)]
        )
        wrong = [
            np.abs(mel - item.mel[piece.first : piece.first + piece.frames]).mean()
            for mel, piece in zip(forced[context], pieces, strict=True)
        ]
        apart = [
            np.abs(a - b).mean() for a, b in zip(forced[context], forced["truth"], strict=True)
        ]
        rows[context] = {
            "change of log mel, nats": float(np.mean(apart)),
            "error of log mel, nats": float(np.mean(wrong)),
            "length of a segment, ms RMSE": float(np.sqrt(np.mean(lengths**2))),
            "pitch, cents RMSE": float(np.sqrt(np.mean(cents**2))) if len(cents) else float("nan"),
        }
    return rows


def interval(values: Floats) -> list[float]:
    """Mean and its 95 % interval by bootstrap."""
    values = values[np.isfinite(values)]
    draw = np.random.default_rng(0).integers(len(values), size=(4000, len(values)))
    low, high = np.quantile(values[draw].mean(axis=1), [0.025, 0.975])
    return [float(values.mean()), float(low), float(high)]


def summary(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """Each context's measures, and their paired differences to the true future's."""
    out: dict[str, dict[str, Any]] = {}
    for context in rows[0]:
        out[context] = {}
        for metric in rows[0][context]:
            own, truth = (
                np.array([row[name][metric] for row in rows]) for name in (context, "truth")
            )
            out[context][metric] = {"value": interval(own), "less truth": interval(own - truth)}
    return out


def tables(made: dict[str, Any]) -> str:
    """One table a voice."""
    lines = [f"{made['sentences']} sentences of the {made['split']} split."]
    for name, contexts in made["voices"].items():
        metrics = list(next(iter(contexts.values())))
        heads = [
            metrics[0],
            *(part for metric in metrics[1:] for part in (metric, "less that of the truth")),
        ]
        lines += ["", f"| {name} | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
        for context, values in contexts.items():
            cells = [f"{values[metrics[0]]['value'][0]:.3f}"]
            for metric in metrics[1:]:
                digits = 3 if "nats" in metric else 1
                mean = values[metric]["value"][0]
                less, low, high = values[metric]["less truth"]
                cells.append(f"{mean:.{digits}f}")
                cells.append(
                    "–"
                    if context == "truth"
                    else f"{less:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"
                )
            lines.append(f"| {context} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--lm")
    parser.add_argument("--split", default="test")
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    corpus = Corpus(arguments.corpus)
    items = corpus.split(arguments.split)
    expected = Expected.of(corpus)
    numbers = sorted({int(n) for n in np.linspace(0, len(items) - 1, arguments.count)})
    texts = {n: tuple(word.text for word in normalize(items[n].text)) for n in numbers}
    numbers = [n for n in numbers if len(texts[n]) == len(items[n].words)]
    model: Any = None
    if arguments.lm:
        from sayahead_lab.training.distilled.futures import Continuations

        model = Continuations(arguments.lm, top_k=1)
    contexts = [
        "truth",
        *(["language model"] if model else []),
        "random words",
        "no future",
        "no past, no future",
    ]
    guesses: dict[tuple[int, int], tuple[str, ...]] = {}
    made: dict[str, Any] = {"split": arguments.split, "sentences": len(numbers), "voices": {}}
    for run in arguments.runs:
        with tempfile.TemporaryDirectory() as folder:
            voice = Voice(run, corpus, Path(folder))
            rows = list[Row]()
        for n in numbers:

            def futures(piece: Piece, context: str, n: int = n, voice: Voice = voice) -> Numbers:
                words = texts[n][: piece.end]
                if context == "truth" or piece.end == len(texts[n]):
                    return (
                        piece.future
                        if context in ("truth", "language model", "random words")
                        else NOTHING
                    )
                if context.startswith("no "):
                    return NOTHING
                if context == "random words":
                    guess = RandomWords(voice.lookahead).predict(words).words
                else:
                    if (n, piece.end) not in guesses:
                        guesses[n, piece.end] = tuple(model.futures(words, [len(words) - 1])[0])
                    guess = guesses[n, piece.end][: voice.lookahead]
                return expected.ids(Prefix(n, words, guess))

            rows.append(measure(voice, n, items, futures, contexts))
            if len(rows) % 20 == 0:
                print(f"{voice.name}: {len(rows)} of {len(numbers)}", flush=True)
        made["voices"][voice.name] = summary(rows)
        # A voice has changed what the corpus says of the mel's scale.
        corpus = Corpus(corpus.path)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(tables(made), encoding="utf-8")
    print(tables(made))


if __name__ == "__main__":
    main()
