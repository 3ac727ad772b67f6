"""Quality: scores of single utterances, and figures of a condition and differences between
conditions computed from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.types import Floats

from sayahead_lab.eval.listening.listeners import (
    UTMOS,
    WHISPER,
    Rater,
    SpeechRecogniser,
    at_16khz,
    identity,
    load_distillmos,
    load_dnsmos,
    load_normalizer,
    load_utmos,
    load_whisper,
    missing,
    missing_folder,
    missing_utmos,
)
from sayahead_lab.eval.measures.intervals import (
    Difference,
    Estimate,
    Figure,
    correlation,
    difference,
    estimate,
    excess,
    growth,
    quotient,
    rmse,
)
from sayahead_lab.eval.measures.word_errors import Errors, by_quarter, distance, word_errors

RATERS = ("distillmos", "dnsmos", "utmos")
COLUMNS = ("wer", "cer", *RATERS)
SHORTEST_S = 0.1
LONG = 40
"""Words that a reference needs for its quarters to be scored separately."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """An utterance to listen to."""

    name: str
    """Its name; the same in every condition."""
    reference: str
    """Its text."""
    samples: Floats
    """(S,) its sound."""
    sample_rate: int
    """Samples per second."""


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance's scores; those not computed are none."""

    name: str
    """Its name."""
    duration_s: float
    """Length of its sound."""
    reference: str
    """Its text: normalised, if it was transcribed."""
    hypothesis: str | None = None
    """Its transcript, normalised."""
    errors: Errors | None = None
    """Word errors."""
    characters: int | None = None
    """Characters of the reference, spaces included."""
    character_errors: int | None = None
    """Least number of changed characters between reference and hypothesis."""
    distillmos: float | None = None
    """DistillMOS, 1 to 5."""
    dnsmos: float | None = None
    """DNSMOS P.835, overall, 1 to 5."""
    utmos: float | None = None
    """UTMOS, 1 to 5."""
    seams: Mapping[str, float] | None = None
    """What ``seams.seams`` counts at the boundaries of its chunks."""
    prosody: Mapping[str, Sequence[float]] | None = None
    """``prosody.sums`` against the voice's own full sentence."""
    metrics: Mapping[str, float] | None = None
    """What further metrics say, by name (``metrics.METRICS``)."""
    one_shot: Mapping[str, float] | None = None
    """Largest difference to the sound of the same text pushed at once, and whether both are equal;
    see ``streamed``."""


class Listeners:
    """The speech recogniser and the opinion models (raters), each loaded at its first use.
    ConfigError then if a package or file is missing.

    ``whisper``: the folder of a faster-whisper model (default: SAYAHEAD_WHISPER); ``threads``: its
    processor cores; ``language``: the language that it transcribes; ``utmos``: UTMOS as TorchScript
    (default: SAYAHEAD_UTMOS; see ``load_utmos``). The other arguments replace the models, for
    tests."""

    def __init__(
        self,
        whisper: str | Path | None = None,
        *,
        threads: int = 2,
        language: str = "en",
        utmos: str | Path | Rater | None = None,
        transcriber: SpeechRecogniser | None = None,
        normalizer: Callable[[str], str] | None = None,
        distillmos: Rater | None = None,
        dnsmos: Rater | None = None,
    ) -> None:
        self._folder = whisper or os.environ.get(WHISPER) or None
        self._utmos_file = None if callable(utmos) else utmos or os.environ.get(UTMOS) or None
        self._threads = threads
        self._language = language
        self._loaded: dict[str, Any] = {
            "whisper": transcriber,
            "normalizer": normalizer,
            "distillmos": distillmos,
            "dnsmos": dnsmos,
            "utmos": utmos if callable(utmos) else None,
        }
        self._given = {name for name, listener in self._loaded.items() if listener}

    def available(self) -> dict[str, str | None]:
        """Return, for each of COLUMNS, what is missing to compute it, or None."""
        files = {"whisper": missing_folder(self._folder), "utmos": missing_utmos(self._utmos_file)}
        problems = {
            name: None if name in self._given else missing(name) or files.get(name)
            for name in self._loaded
        }
        words = problems["whisper"] or problems["normalizer"]
        return {"wer": words, "cer": words, **{name: problems[name] for name in RATERS}}

    def identities(self) -> dict[str, str]:
        """Return, for each of COLUMNS, the model's name and version or size; scores of different
        models are not comparable."""
        files = {"whisper": self._folder, "utmos": self._utmos_file}
        names = {
            name: "given" if name in self._given else identity(name, files.get(name))
            for name in self._loaded
        }
        words = names["whisper"] + f", {self._language}" * (self._language != "en")
        return {"wer": words, "cer": words, **{name: names[name] for name in RATERS}}

    def score(self, stimuli: Iterable[Stimulus], columns: Sequence[str] | None = None) -> list[Row]:
        """Score utterances; return a row for each.

        ``columns``: those of COLUMNS to compute; wer and cer are computed together. By default all,
        except for UTMOS if its weights are not given. ConfigError for an unknown column, and for an
        utterance that is too short.
        """
        without_utmos = self._utmos_file is None and "utmos" not in self._given
        columns = COLUMNS[: 4 if without_utmos else 5] if columns is None else columns
        for column in columns:
            if column not in COLUMNS:
                raise ConfigError(f"There is no column {column!r}{nearest(column, COLUMNS)}.")
        return [self._row(stimulus, columns) for stimulus in stimuli]

    def _row(self, stimulus: Stimulus, columns: Sequence[str]) -> Row:
        """Score one utterance."""
        duration_s = len(stimulus.samples) / stimulus.sample_rate
        if duration_s < SHORTEST_S:
            raise ConfigError(
                f"Utterance {stimulus.name!r} lasts {duration_s:.3f} s: too short to be"
                " listened to."
            )
        samples = at_16khz(stimulus.samples, stimulus.sample_rate)
        scores: dict[str, Any] = {"reference": stimulus.reference}
        if "wer" in columns or "cer" in columns:
            transcript = self._listener("whisper")(samples)
            reference, hypothesis = map(
                self._listener("normalizer"), (stimulus.reference, transcript)
            )
            scores = {
                "reference": reference,
                "hypothesis": hypothesis,
                "errors": word_errors(reference, hypothesis),
                "characters": len(reference.strip()),
                "character_errors": distance(reference.strip(), hypothesis.strip()),
            }
        scores |= {
            column: self._listener(column)(samples) for column in RATERS if column in columns
        }
        return Row(name=stimulus.name, duration_s=duration_s, **scores)

    def _listener(self, name: str) -> Callable[[Any], Any]:
        """Return a model by its name, loading it at the first call."""
        loaders: dict[str, Callable[[], Any]] = {
            "whisper": lambda: load_whisper(
                self._folder, threads=self._threads, language=self._language
            ),
            "normalizer": lambda: load_normalizer(self._language),
            "distillmos": load_distillmos,
            "dnsmos": load_dnsmos,
            "utmos": lambda: load_utmos(self._utmos_file),
        }
        if self._loaded[name] is None:
            self._loaded[name] = loaders[name]()
        listener: Callable[[Any], Any] = self._loaded[name]
        return listener


Sums = Sequence[float] | None
"""What an utterance adds to the sums of a figure; None if it was not measured."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a condition, such as its word error rate, computed from sums over utterances."""

    name: str
    """Its name in quality.json."""
    sums: Callable[[Row], Sums]
    """Returns what an utterance adds to the sums."""
    figure: Figure = quotient
    """Computes the figure from the sums."""
    full: Callable[[Row], Sums] | None = None
    """Returns the same for the voice's full sentence, if a row holds both: the difference is then
    to that, and not to another condition."""
    partial: bool = False
    """Whether utterances that were not measured are left out; otherwise they are an error."""
    alone: bool = True
    """Whether the figure is reported for a condition by itself."""
    compared: bool = True
    """Whether differences of the figure are reported."""


LONE: dict[str, Any] = {"partial": True, "compared": False}
"""Options of a measure that some utterances lack, and that compares with the full sentence
itself."""


def mean_of(name: str) -> Measure:
    """Return the measure of a score that all utterances have, or none."""
    return Measure(
        name, lambda row: None if (value := getattr(row, name)) is None else (value, 1.0)
    )


METRIC = "metric: "
"""Prefix of a further metric's figure in quality.json, so that its name cannot be a built-in
one's."""


def measures_of(rows: Sequence[Row]) -> list[Measure]:
    """Return the built-in measures, and the mean of each further metric of the rows."""
    names = dict.fromkeys(name for row in rows for name in row.metrics or {})
    return [*MEASURES, *(metric_mean(name) for name in names)]


def metric_mean(name: str) -> Measure:
    """Return the measure of a further metric."""

    def parts(row: Row) -> Sums:
        value = (row.metrics or {}).get(name)
        return None if value is None else (value, 1.0)

    return Measure(METRIC + name, parts)


def seam_parts(*keys: str) -> Callable[[Row], Sums]:
    """Return a function of a row to some of its counts at seams; None if it has no seam."""
    return lambda row: (
        [row.seams[key] for key in keys] if row.seams and row.seams["seams"] else None
    )


def matched_parts(*keys: str) -> Callable[[Row], Sums]:
    """Return a function of a row to some of its counts at seams; None if these could not be matched
    with places of the full sentence."""
    return lambda row: (
        [row.seams[key] for key in keys] if row.seams and row.seams["compared"] else None
    )


def prosody_parts(key: str, *places: int) -> Callable[[Row], Sums]:
    """Return a function of a row to its sums of prosody under ``key``: those at ``places``, or all
    if none are named."""

    def parts(row: Row) -> Sums:
        sums = (row.prosody or {}).get(key)
        return [sums[place] for place in places] if sums and places else sums

    return parts


def quarters(row: Row) -> list[float] | None:
    """Return errors and words of each quarter (8,) of a long text; None if it is short, or was not
    transcribed."""
    if row.hypothesis is None or len(row.reference.split()) < LONG:
        return None
    errors = by_quarter(row.reference, row.hypothesis)
    return [float(part) for quarter in errors for part in (quarter.total, quarter.words)]


def quarter(number: int) -> Measure:
    """Return the measure of the word error rate in a quarter of long texts; ``number`` from 0."""
    name = f"wer_quarter_{number + 1}"
    return Measure(
        name, lambda row: (parts := quarters(row)) and parts[2 * number : 2 * number + 2], **LONE
    )


def character_parts(row: Row) -> Sums:
    """Return the character errors and characters of a row; None if it was not transcribed."""
    if row.character_errors is None or row.characters is None:
        return None
    return row.character_errors, row.characters


def equal_parts(row: Row) -> Sums:
    """Return 1 and 1 if the streamed sound equals the one-shot sound, else 0 and 1; None if it was
    not measured."""
    return (row.one_shot["equal"], 1.0) if row.one_shot else None


def seam_measures(kind: str) -> list[Measure]:
    """Return two measures of a fault, ``click`` or ``jump``: the share of seams that have one, and
    how much larger that is than the share of other places.

    The first is compared with the share at the same places of the full sentence."""
    at_seams = (f"{kind}s", "seams")
    elsewhere = (f"{kind}s_elsewhere", "elsewhere")
    return [
        Measure(
            f"seam_{kind}_rate",
            seam_parts(*at_seams),
            full=matched_parts(f"{kind}s_whole", "compared"),
            partial=True,
        ),
        Measure(f"seam_{kind}_excess", seam_parts(*at_seams, *elsewhere), excess, **LONE),
    ]


MEASURES = (
    Measure("wer", lambda row: (row.errors.total, row.errors.words) if row.errors else None),
    Measure("cer", character_parts),
    *map(mean_of, ("distillmos", "dnsmos", "utmos", "duration_s")),
    *(quarter(number) for number in range(4)),
    Measure(
        "wer_drift",
        lambda row: (parts := quarters(row)) and [*parts[:2], *parts[6:]],
        growth,
        partial=True,
    ),
    Measure("seams", lambda row: (row.seams["seams"], 1.0) if row.seams else None, compared=False),
    *seam_measures("click"),
    *seam_measures("jump"),
    Measure("seam_gap_rate", matched_parts("gaps", "compared"), **LONE),
    Measure("seam_silence_s", seam_parts("silence_total_s", "seams"), **LONE),
    Measure("pitch_rmse_cents", prosody_parts("pitch"), rmse, **LONE),
    Measure("pitch_correlation", prosody_parts("pitch"), correlation, **LONE),
    Measure(
        "pitch_cents",
        prosody_parts("pitch", 1, 0),
        full=prosody_parts("pitch", 2, 0),
        partial=True,
        alone=False,
    ),
    Measure("voicing_error", prosody_parts("voicing"), **LONE),
    Measure("word_rmse_ms", prosody_parts("word"), rmse, **LONE),
    Measure("word_correlation", prosody_parts("word"), correlation, **LONE),
    Measure("word_ms", prosody_parts("word", 1, 0), full=prosody_parts("word", 2, 0), partial=True),
    Measure("phoneme_rmse_ms", prosody_parts("phoneme"), rmse, **LONE),
    Measure("phoneme_correlation", prosody_parts("phoneme"), correlation, **LONE),
    Measure("one_shot_equal", equal_parts, **LONE),
)
"""All figures, in the order of quality.json."""


TRAINED: Mapping[str, tuple[Callable[[Row], Sums], int]] = {
    "WER, %": (lambda row: (100 * row.errors.total, row.errors.words) if row.errors else None, 2),
    "DistillMOS": (lambda row: None if row.distillmos is None else (row.distillmos, 1.0), 3),
}
"""What tables over several trainings show: a sentence's numerator and denominator (None where
nobody listened), and decimal places."""


def summarize(rows: Sequence[Row], *, seed: int = 0) -> dict[str, Estimate]:
    """Return each measure's figure over all rows, with its 95 % bootstrap interval over sentences.

    ``wer`` and ``cer`` are all errors over all words or characters; opinion scores are means;
    ``one_shot_difference`` is a maximum. A measure that no row has is absent. ConfigError if only
    some rows have one that is not ``partial``.
    """
    estimates = {}
    for measure in measures_of(rows):
        parts = parts_of(measure, rows)
        if measure.alone and len(parts):
            estimates[measure.name] = estimate(
                np.array(list(parts.values()), np.float64), measure.figure, seed=seed
            )
    largest = [row.one_shot["largest"] for row in rows if row.one_shot]
    if largest:
        estimates["one_shot_difference"] = Estimate(max(largest), np.nan, np.nan, len(largest))
    return estimates


def compare(rows: Sequence[Row], base: Sequence[Row], *, seed: int = 0) -> dict[str, Difference]:
    """Return, for each measure, the figure of ``rows`` less that of ``base``.

    Rows are paired by name. The interval is a bootstrap's over sentences, and p that of a paired
    permutation test (see ``difference``). For a measure with ``full``, such as those of seams and
    prosody, the difference is to the full sentence of the same row instead. ConfigError if the two
    do not have the same sentences."""
    base_rows = {row.name: row for row in base}
    if (
        len(base_rows) != len(base)
        or base_rows.keys() != {row.name for row in rows}
        or len(rows) != len(base)
    ):
        raise ConfigError(
            "The two conditions to compare do not have the same sentences, each once."
        )
    for row in rows:
        if row.reference != base_rows[row.name].reference:
            raise ConfigError(
                f"Sentence {row.name!r} has another reference in the two conditions to compare."
            )
    differences = {}
    for measure in measures_of(rows):
        parts = parts_of(measure, rows) if measure.compared else {}
        base_parts = parts_of(measure, rows if measure.full else base, full=measure.full)
        pairs = [(parts[name], base_parts[name]) for name in parts if name in base_parts]
        if pairs:
            values, base_values = np.array(pairs, np.float64).swapaxes(0, 1)
            differences[measure.name] = difference(values, base_values, measure.figure, seed=seed)
    return differences


def parts_of(
    measure: Measure, rows: Sequence[Row], *, full: Callable[[Row], Sums] | None = None
) -> dict[str, Sequence[float]]:
    """The measure's sums of each utterance that has them, or with ``full`` those, by name."""
    by_name = {
        row.name: parts for row in rows if (parts := (full or measure.sums)(row)) is not None
    }
    if by_name and len(by_name) < len(rows) and not measure.partial:
        raise ConfigError(
            f"Only {len(by_name)} of {len(rows)} sentences have the column {measure.name!r}."
        )
    return by_name
