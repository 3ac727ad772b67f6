"""Do attention and stop fail, and what of prosody? Every segment of an experiment's rows.

    python lab/benchmarks/saeki/segments.py lab/benchmarks/saeki/free.toml --texts test.csv \
        -o lab/benchmarks/results/saeki/free

Counted over the segments of voices of the kind saeki (a whole sentence is one segment), by how
attention went and how they ended:

- *no stop*: it ran to the most frames that the runtime allows, 40 a phoneme;
- *too early*: it ended two phonemes or more before its last sounding one;
- *resting*: attention was on a sounding phoneme for more than half a second;
- *astray*: attention went back by two phonemes or more in a step, or ahead by four or more;
- *blurred*: for a tenth of a second no three neighbouring phonemes had half of the attention.

Words' durations and pitch are compared with the speaker's who made the corpus, the default voice's
teacher, in whole sentences; not where rows are of several speakers. Of the networks whose logs are
in ``lab/recipes/saeki/logs.jsonl`` there are attention and stop on validation windows over the
training, too, and ``attention.png``. Writes ``segments.md`` and ``failures.json``. ``--lm`` is a
language model, or a file of its futures, where a condition wants one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.engine.onnx import count
from sayahead.engine.stages import Frames
from sayahead.systems.saeki import MAX_FRAMES, DecoderState, SegmentalAcoustic, SegmentalState
from sayahead.types import Floats, Ids, Rendering, Segment

from sayahead_lab.eval.experiment.conditions import Condition, choices, load_matrix, voice_of
from sayahead_lab.eval.measures.intervals import Values, difference, estimate, quotient
from sayahead_lab.eval.measures.prosody import AcousticRecorder, Differences, Recording, differences
from sayahead_lab.eval.report.attention import alignments, padded
from sayahead_lab.results import keep, options, table, tell
from sayahead_lab.scripts import texts_at
from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.corpus.teacher import TeacherSpec
from sayahead_lab.training.loop.curves import read_log

SENTENCE = "The commission recognizes that this is a controversial area."
FRAME_S = 0.0125
LONGEST_S = 0.5
BLURRED_S = 0.1
LOGS = Path(__file__).parents[2] / "recipes" / "saeki" / "logs.jsonl"
LEARNED = {
    "attention where the durations say, %": ("aligned", 100, 1),
    "entropy of the stop": ("stop", 1, 4),
}
CONTROL = "bicontext, random words"
PROSODY = {"word duration, ms": "word, ms", "pitch, cents": "pitch, cents"}
FAILURES = ("no stop", "too early", "resting", "astray", "blurred")


@dataclass(frozen=True)
class Spoken:
    """A segment as it was decoded."""

    places: list[int]
    """The phoneme attended to in each step."""
    weights: list[Floats]
    """(P,) attention of each step."""
    frames: int
    """Its length."""
    sounding: range
    """The phonemes that sound, or join words that do."""
    reduction: int
    """Frames a step."""

    def failures(self) -> dict[str, bool]:
        """Which of FAILURES befell it."""
        steps = np.diff(self.places, prepend=0)
        step_s = self.reduction * FRAME_S
        longest = 0
        run = 0
        longest_blur = 0
        blur = 0
        for moved, place, weights in zip(steps, self.places, self.weights, strict=True):
            run = run + 1 if not moved and place in self.sounding else int(place in self.sounding)
            blur = blur + 1 if np.convolve(weights, np.ones(3)).max() < 0.5 else 0
            longest = max(longest, run)
            longest_blur = max(longest_blur, blur)
        return {
            "no stop": self.frames >= MAX_FRAMES * len(self.weights[0]),
            "too early": max(self.places) < self.sounding[-1] - 1,
            "resting": longest * step_s > LONGEST_S,
            "astray": bool((steps[1:] <= -2).any() or (steps[1:] >= 4).any()),
            "blurred": longest_blur * step_s >= BLURRED_S,
        }


class Watched:
    """A Tacotron's runtime whose segments and frames are kept."""

    def __init__(self, acoustic: SegmentalAcoustic) -> None:
        self.acoustic = acoustic
        self.segments = list[Spoken]()
        self.frames = list[Floats]()

    def initial(self) -> SegmentalState:
        return self.acoustic.initial()

    def step(
        self, segment: Segment, state: SegmentalState, rendering: Rendering, *, hold_back: int
    ) -> tuple[Frames, SegmentalState]:
        frames, after = self.acoustic.step(segment, state, rendering, hold_back=hold_back)
        self.frames.append(frames.final)
        return frames, after

    def watch(self, pad: int) -> None:
        """Keep what is decoded from now on."""
        decode = self.acoustic._decode
        advance = self.acoustic._make_step
        made = list[DecoderState]()

        def advanced(*arguments: Any) -> Any:
            decoder, stops = advance(*arguments)
            made.append(decoder)
            return decoder, stops

        def decoded(ids: Ids, embedding: Floats, sounded: int, random: np.random.Generator) -> Any:
            made.clear()
            mel, visited = decode(ids, embedding, sounded, random)
            places = [one.place for one in made]
            weights = [one.weights for one in made]
            sounding = range(int(ids[0] == pad), sounded + 1)
            self.segments.append(
                Spoken(places, weights, len(mel), sounding, self.acoustic._model.reduction)
            )
            return mel, visited

        self.acoustic._make_step = advanced  # type: ignore[assignment, method-assign]
        self.acoustic._decode = decoded  # type: ignore[method-assign]


class Row:
    """A condition whose voice can be watched."""

    def __init__(self, condition: Condition, lm: str | None) -> None:
        self.condition = condition
        self.lm = lm
        synthesizer: Any = voice_of(condition).synthesizer
        inner = synthesizer.acoustic
        if isinstance(inner, AcousticRecorder):
            # Several conditions have this voice.
            self.recorder: AcousticRecorder[Any] = inner
            self.watched: Watched = inner._acoustic  # type: ignore[assignment]
        else:
            self.watched = Watched(inner)
            self.watched.watch(inner._pad[0])
            self.recorder = AcousticRecorder(self.watched, frame_s=FRAME_S, pitch=0)
            synthesizer.acoustic = self.recorder
        self.vocoder = synthesizer.vocoder

    def speak(self, text: str) -> tuple[list[Spoken], Recording]:
        """The segments of a text, and its words and pitch."""
        self.watched.segments = []
        self.watched.frames = []
        chosen = choices(self.condition, text, self.lm)
        for _ in voice_of(self.condition).stream([text], **chosen):
            pass
        recording = replace(
            self.recorder.recording, pitch=self.pitch(np.concatenate(self.watched.frames))
        )
        return self.watched.segments, recording

    def pitch(self, mel: Floats) -> Floats:
        """(T,) Hz that the vocoder reads from a mel."""
        caches = dict(zip(("input_cache", "cache"), self.vocoder._caches, strict=True))
        rows = count(len(mel))
        out: Floats = self.vocoder.graph(mel=mel, rows=rows, commit=rows, **caches)["f0"]
        return out


def recording_of(items: list[Item]) -> Recording:
    """The speaker's own words and pitch, sentence after sentence."""
    words = list[tuple[int, int]]()
    phonemes = list[int]()
    sentences = list[int]()
    start = 0
    for number, item in enumerate(items):
        edges = start + np.concatenate([[0], np.cumsum(item.durations, dtype=np.int64)])
        # The first pad is not among the ids.
        words += [(int(edges[first + 1]), int(edges[end + 1])) for first, end in item.words]
        phonemes += [int(end - first) for first, end in item.words]
        sentences += [number] * len(item.words)
        start = int(edges[-1])
    pitch = np.concatenate([item.f0.astype(np.float32) for item in items])
    return Recording(pitch, tuple(words), tuple(phonemes), tuple(sentences), frame_s=FRAME_S)


def apart(pairs: list[Differences], part: Callable[[Differences], Values]) -> Values:
    """(N, 2) for each sentence: the sum of absolute differences of pairs (2, M), and M."""
    parts = [part(one) for one in pairs]
    return np.array([(np.abs(one[0] - one[1]).sum(), one.shape[1]) for one in parts], np.float64)


def measured(row: Row, texts: list[str], truth: list[Recording]) -> dict[str, Values]:
    """(N, 2) sums for each sentence of each figure, to be divided."""
    segments = list[list[Spoken]]()
    compared = list[Differences]()
    for text, whole in zip(texts, truth, strict=True):
        spoken, recording = row.speak(text)
        segments.append(spoken)
        compared.append(differences(recording, whole))
    failed = [[one.failures() for one in spoken] for spoken in segments]
    figures = {
        name: np.array(
            [(sum(one[name] for one in spoken), len(spoken)) for spoken in failed], np.float64
        )
        for name in FAILURES
    }
    any_failed = [(sum(any(one.values()) for one in spoken), len(spoken)) for spoken in failed]
    figures["any"] = np.array(any_failed, np.float64)
    figures["sentences"] = np.array(
        [(any(any(one.values()) for one in spoken), 1) for spoken in failed], np.float64
    )
    figures["word, ms"] = apart(compared, lambda one: one.durations_ms)
    figures["pitch, cents"] = apart(compared, lambda one: one.pitch_cents)
    return figures


def value(sums: Values, scale: float, digits: int) -> str:
    """A figure with its interval."""
    return f"{estimate(sums, quotient).times(scale):.{digits}f}"


def cells(
    rows: dict[str, dict[str, Values]],
    name: str,
    figure: str,
    against: Iterable[str],
    scale: float,
    digits: int,
) -> list[str]:
    """A row's figure with its interval, and what it is more than others'."""
    own = rows[name][figure]
    made = [value(rows[name][figure], scale, digits)]
    for other in against:
        if other == name:
            made.append("–")
            continue
        less = difference(own, rows[other][figure], quotient)
        chance = "p < 0.001" if less.p < 0.001 else f"p = {less.p:.3f}"
        made.append(f"{less.times(scale):+.{digits}f}, {chance}")
    return made


def tables(rows: dict[str, dict[str, Values]], texts: int) -> tuple[list[str], list[str]]:
    """How segments failed, and prosody; compared with the first row, and with the control where
    there is one.

    Of several trainings ("heart, seed 0: unicontext"), with those of the same training.
    """
    against = {name: rivals(rows, name) for name in rows}
    names = [one.rpartition(": ")[2] for one in next(iter(against.values()))]
    less = "".join(f"|less {one}" for one in names)
    shares = "".join(f"|{name}, %" for name in FAILURES)
    failed = [
        [
            name,
            f"{figures['any'][:, 1].sum():.0f}",
            *(f"{100 * float(quotient(figures[one].sum(axis=0))):.1f}" for one in FAILURES),
            *cells(rows, name, "any", against[name], 100, 1),
            value(figures["sentences"], 100, 0),
        ]
        for name, figures in rows.items()
    ]
    prosody = [
        [
            name,
            *(
                part
                for figure in PROSODY.values()
                for part in cells(rows, name, figure, against[name], 1, 1)
            ),
        ]
        for name in rows
    ]
    heading = f"segments|number{shares}|any of these, %{less}|sentences with one, %"
    return (
        [f"{texts} sentences of the LJ Speech test split.", "", *table(heading, failed)],
        table(
            "mean absolute difference to the speaker|" + "|".join(one + less for one in PROSODY),
            prosody,
        ),
    )


def rivals(rows: Iterable[str], name: str) -> list[str]:
    """The first row of a row's training, and its control."""
    training = name.rpartition(": ")[0]
    own = [one for one in rows if one.rpartition(": ")[0] == training]
    return list(
        dict.fromkeys([own[0], *(one for one in own if one.rpartition(": ")[2] == CONTROL)])
    )


Logs = dict[str, list[dict[str, Any]]]
"""Lines by row."""


def logs_of(voices: Iterable[str]) -> Logs:
    """What logs say of validation windows, by the row of voices named saeki-free-ROW, where there
    are any."""
    rows = {Path(voice).name.removeprefix("saeki-free-") for voice in voices}
    logs = Logs()
    for line in read_log(LOGS):
        row = line["run"].removeprefix("free-")
        if row in rows and "validation" in line:
            logs.setdefault(row, []).append(line)
    return logs


def learned(logs: Logs) -> list[str]:
    """What the logs say of validation windows, by step."""
    steps = "".join(f"|{line['step']}" for line in next(iter(logs.values())))
    rows = [
        [
            f"{title}: {name}",
            *(f"{scale * line['validation']['parts'][part]:.{digits}f}" for line in log),
        ]
        for title, (part, scale, digits) in LEARNED.items()
        for name, log in logs.items()
    ]
    return table(f"validation, by step{steps}", rows)


def draw(rows: list[Row], path: Path) -> None:
    """The attention of each voice's first row over one sentence, its segments' phonemes one after
    the other."""
    made = dict[str, Floats]()
    first = {row.condition.voice: row for row in reversed(rows)}
    for row in [row for row in rows if row in first.values() and logs_of([row.condition.voice])]:
        segments, _ = row.speak(SENTENCE)
        wide = sum(len(one.weights[0]) for one in segments)
        alignment = list[Floats]()
        at = 0
        for one in segments:
            for weights in one.weights:
                line = np.zeros(wide, np.float32)
                line[at : at + len(weights)] = weights
                alignment += [line] * one.reduction
            at += len(one.weights[0])
        made[row.condition.name] = np.stack(alignment)
    alignments(padded(made), hop_s=FRAME_S).savefig(path, dpi=80)


def main() -> None:
    arguments = options(__doc__, "experiment", "texts", "set", "out", count=0, lm=str).parse_args()
    matrix = load_matrix(arguments.experiment, arguments.set)
    texts = texts_at(arguments.texts, arguments.count or matrix.count)
    teacher = TeacherSpec(PRESETS["ma"], "final").open()
    truth = [recording_of(teacher.items(str(number), text)[0]) for number, text in enumerate(texts)]
    rows = [Row(condition, arguments.lm) for condition in matrix.conditions]
    measures = dict[str, dict[str, Values]]()
    for row in rows:
        measures[row.condition.name] = measured(row, texts, truth)
        print(row.condition.name, flush=True)
    lines, prosody = tables(measures, len(texts))
    if not any(": " in name for name in measures):
        lines += ["", *prosody]
    kept = {
        name: {figure: sums.tolist() for figure, sums in figures.items()}
        for name, figures in measures.items()
    }
    keep([json.dumps(kept)], arguments.out / "failures.json")
    if logs := logs_of(one.voice for one in matrix.conditions):
        lines += ["", *learned(logs)]
        draw(rows, arguments.out / "attention.png")
    tell(lines, arguments.out / "segments.md")


if __name__ == "__main__":
    main()
