"""What fast speech costs, however it is made: the default voice at a speed, and its normal speech
shortened otherwise.

    python lab/benchmarks/pace/fast.py --texts val.csv --whisper DIR --results FILE [--count 16] \
        [--keep FOLDER]

The others are WSOLA (the filter atempo of FFmpeg, by PyAV, which comes with faster-whisper), as
long in each sentence as the voice itself; and the frames of the voice's normal speech, resampled in
time before its decoder. Whole sentences; intervals are a bootstrap over sentences. ``--keep`` names
a folder for the sound and the scores, from which an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import copy
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import Voice, load_voice
from sayahead.engine.stages import Frames
from sayahead.research import WaitAll
from sayahead.types import Floats

from sayahead_lab.eval.listening.quality import Listeners, Row, Stimulus, compare, summarize
from sayahead_lab.eval.measures.intervals import Difference, Estimate
from sayahead_lab.eval.measures.word_errors import Errors
from sayahead_lab.scripts import ScriptLine, read_texts, strided

SPEEDS = (1.25, 1.5, 1.75)


class Resampled:
    """An acoustic model whose whole sentences are shorter by linear interpolation of their
    frames."""

    def __init__(self, acoustic: Any, speed: float) -> None:
        self._acoustic = acoustic
        self._speed = speed

    def initial(self) -> Any:
        return self._acoustic.initial()

    def step(self, *given: Any, **options: Any) -> tuple[Frames, Any]:
        frames, state = self._acoustic.step(*given, **options)
        words = tuple((round(a / self._speed), round(b / self._speed)) for a, b in frames.words)
        return replace(frames, final=resampled(frames.final, self._speed), words=words), state


def resampled(frames: Floats, speed: float) -> Floats:
    """Frames (T, 130) as (T / speed, 130); pitch, the last but one, is interpolated only between
    voiced frames."""
    count = round(len(frames) / speed)
    at = np.clip((np.arange(count) + 0.5) * speed - 0.5, 0, len(frames) - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, len(frames) - 1)
    weight = (at - low).astype(np.float32)[:, None]
    made: Floats = frames[low] * (1 - weight) + frames[high] * weight
    pitch = frames[:, 128]
    mixed = (pitch[low] > 40) & (pitch[high] > 40)
    made[:, 128] = np.where(mixed, made[:, 128], pitch[np.rint(at).astype(np.int64)])
    return made


def shorter(samples: Floats, rate: int, count: int) -> Floats:
    """Samples (S,) as about so many, by WSOLA."""
    import av

    graph = av.filter.Graph()
    source = graph.add_abuffer(
        sample_rate=rate, format="flt", layout="mono", time_base=Fraction(1, rate)
    )
    tempo = graph.add("atempo", f"{len(samples) / count:.6f}")
    sink = graph.add("abuffersink")
    source.link_to(tempo)
    tempo.link_to(sink)
    graph.configure()
    frame = av.AudioFrame.from_ndarray(
        np.ascontiguousarray(samples[None], np.float32), format="flt", layout="mono"
    )
    frame.sample_rate = rate
    frame.pts = 0
    graph.push(frame)
    graph.push(None)
    out = list[Floats]()
    while True:
        try:
            out.append(graph.pull().to_ndarray()[0])
        except (av.error.EOFError, av.error.BlockingIOError):
            return np.concatenate(out)


def spoken(voice: Voice, text: str, speed: float = 1.0) -> Floats:
    """A sentence without the silence after it, which is as long at every speed."""
    samples = voice.synthesize(text, policy=WaitAll(), speed=speed)
    return samples[: len(samples) - round(0.9 * voice.config.pause_s * voice.sample_rate)]


def conditions(voice: Voice, text: str) -> Mapping[str, Callable[[], Floats]]:
    """Each way of saying a sentence, by name."""
    ways: dict[str, Callable[[], Floats]] = {"its own speed": lambda: spoken(voice, text)}
    for speed in SPEEDS:
        synthesizer = copy.copy(voice.synthesizer)
        synthesizer.acoustic = Resampled(synthesizer.acoustic, speed)  # type: ignore[attr-defined]
        other = voice.with_synthesizer(synthesizer)
        ways[f"{speed:g}, the voice"] = lambda speed=speed: spoken(voice, text, speed)  # type: ignore[misc]
        ways[f"{speed:g}, WSOLA"] = lambda speed=speed: shorter(  # type: ignore[misc]
            spoken(voice, text), voice.sample_rate, len(spoken(voice, text, speed))
        )
        ways[f"{speed:g}, frames resampled"] = lambda other=other: spoken(other, text)  # type: ignore[misc]
    return ways


def scored(texts: Sequence[ScriptLine], listeners: Listeners, keep: Path) -> dict[str, list[Row]]:
    """What the listeners say of each way of saying each sentence; kept in the folder."""
    voice = load_voice("heart")
    path = keep / "scores.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = {
        (line["condition"], line["row"]["name"]): line["row"] for line in map(json.loads, lines)
    }
    for text in texts:
        for name, say in conditions(voice, text.text).items():
            if (name, text.name) in found:
                continue
            stimulus = Stimulus(text.name, text.text, say(), voice.sample_rate)
            row = asdict(listeners.score([stimulus], ("wer", "distillmos"))[0])
            found[name, text.name] = row
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"condition": name, "row": row}) + "\n")
    rows = dict[str, list[Row]]()
    for name in conditions(voice, ""):
        made = (found[name, text.name] for text in texts)
        rows[name] = [Row(**{**row, "errors": Errors(**row["errors"])}) for row in made]
    return rows


def interval(made: Difference | Estimate) -> str:
    """A figure with its 95 % interval."""
    return f"{made.value:.2f} ({made.low:.2f} to {made.high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, required=True, help="lines of name|text")
    parser.add_argument("--whisper", required=True, help="folder of a faster-whisper model")
    parser.add_argument(
        "--results", type=Path, required=True, help="write the table here (Markdown)"
    )
    parser.add_argument("--count", type=int, default=16, help="sentences (default: 16)")
    parser.add_argument("--keep", type=Path, help="folder for what was scored")
    arguments = parser.parse_args()
    whole = [text for text in read_texts(arguments.texts) if text.text.rstrip('"')[-1:] in ".!?"]
    texts = strided(sorted(whole, key=lambda text: text.name), arguments.count)
    with tempfile.TemporaryDirectory() as folder:
        keep = arguments.keep or Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        rows = scored(texts, Listeners(arguments.whisper, threads=1), keep)
    base = next(iter(rows.values()))
    own_s = sum(row.duration_s for row in base)
    lines = [
        "| speech | as fast as it is | DistillMOS | difference | WER, % |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, these in rows.items():
        figures = summarize(these)
        against = compare(these, base)["distillmos"]
        fast = own_s / sum(row.duration_s for row in these)
        opinion = figures["distillmos"]
        wer = figures["wer"]
        less = "–" if these is base else interval(against)
        errors = interval(
            replace(wer, value=100 * wer.value, low=100 * wer.low, high=100 * wer.high)
        )
        lines.append(f"| {name} | {fast:.2f} | {opinion.value:.2f} | {less} | {errors} |")
    arguments.results.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
