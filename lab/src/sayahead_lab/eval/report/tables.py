"""Tables of an experiment: their columns, and their form. Each metric is one line here."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

Summary = Mapping[str, Any]
"""A metric's summary over the utterances: mean, p50, p95, low, high and so on, by name."""


@dataclass(frozen=True, slots=True)
class Column:
    """A metric's column."""

    title: str
    """Heading, with the unit."""
    key: str
    """The metric's name in the summary."""
    stat: str = "mean"
    """The number of the summary to show."""
    factor: float = 1.0
    """Factor from the summary's unit to the heading's."""
    digits: int = 2
    """Decimal places."""
    interval: bool = False
    """Whether the 95 % interval is shown."""
    signed: bool = False
    """Whether a plus sign is shown: differences, slopes."""

    def value(self, summaries: Mapping[str, Summary]) -> Value | None:
        """The cell, in the heading's unit; None where the metric is missing or not a number."""
        summary = summaries.get(self.key, {})
        number = summary.get(self.stat)
        if not isinstance(number, int | float) or not math.isfinite(number):
            return None
        ends = [summary.get(name) if self.interval else None for name in ("low", "high")]
        low, high = (
            self.factor * end if isinstance(end, int | float) else math.nan for end in ends
        )
        p = summary.get("p")
        return Value(
            self.factor * number,
            low,
            high,
            p if isinstance(p, int | float) and self.interval else math.nan,
        )

    def text(self, value: Value | None) -> str:
        """The cell in readable form."""
        if value is None:
            return "–"
        sign = "+z" if self.signed else "z"
        digits = self.digits
        out = f"{value.number:{sign}.{digits}f}"
        if math.isfinite(value.low) and math.isfinite(value.high):
            out += f" ({value.low:{sign}.{digits}f} to {value.high:{sign}.{digits}f})"
        if math.isfinite(value.p):
            out += f", p {'< 0.001' if value.p < 0.001 else f'= {value.p:.3f}'}"
        return out


@dataclass(frozen=True, slots=True)
class Value:
    """A cell's number; nan where there is no interval or no test."""

    number: float
    """The value itself."""
    low: float = math.nan
    """Lower end of its 95 % interval."""
    high: float = math.nan
    """Upper end."""
    p: float = math.nan
    """The paired test's p."""


@dataclass(frozen=True, slots=True)
class ConditionTable:
    """Conditions down, metrics across."""

    stem: str
    """Its file's name without ending."""
    title: str
    """Over it."""
    columns: Sequence[Column]
    """Its columns."""
    rows: Sequence[tuple[str, Sequence[Value | None]]]
    """Rows: a condition and its cells."""
    notes: Sequence[str] = field(default=())
    """Notes below it."""


# Each on the elapsed clock: computing included.
LATENCY = (
    Column("first audible sample p50, ms", "elapsed_first_audible_s", "p50", 1000, 0),
    Column("p95, ms", "elapsed_first_audible_s", "p95", 1000, 0),
    Column("word lag mean, s", "elapsed_word_lag_mean_s", interval=True),
    Column("word lag p95, s", "elapsed_word_lag_p95_s"),
    Column("stalls an utterance", "elapsed_stalls"),
    Column("stalled, s an utterance", "elapsed_stall_sum_s"),
    Column("RTF", "rtf", digits=3),
    Column("average chunk delay, s", "elapsed_chunk_delay_s", interval=True),
    Column("AL, ms", "elapsed_AL_ms", digits=0),
    Column("LAAL, ms", "elapsed_LAAL_ms", digits=0),
    Column("DAL, ms", "elapsed_DAL_ms", digits=0),
    Column("AP", "elapsed_AP"),
    Column("ATD, ms", "elapsed_ATD_ms", digits=0),
    Column("d_T", "d_T"),
    Column("least time balance, s", "time_balance_least_s"),
    Column("words/min", "words_per_min", digits=0),
    Column(
        "O(1): first sample, ms a word", "O1_elapsed_first_audible_s", "slope", 1000, 2, True, True
    ),
    Column(
        "O(1): largest word lag, ms a word",
        "O1_elapsed_word_lag_max_s",
        "slope",
        1000,
        2,
        True,
        True,
    ),
    Column(
        "O(1): average chunk delay, ms a word",
        "O1_elapsed_chunk_delay_s",
        "slope",
        1000,
        2,
        True,
        True,
    ),
)
LATENCY_NOTES = (
    (
        "Means over utterances unless p50 or p95 says otherwise; in brackets 95 % intervals. Times"
        " include computing, measured in the run; text arrives on the clock named above."
    ),
    (
        "Stalls: silences in playback because the next chunk was not ready, waits for text"
        " included. Least time balance: the smallest playing time in hand over generation alone,"
        " waits for text excluded (Ma et al. 2020)."
    ),
    (
        "O(1): slope over sentence length; latency does not grow with length where its interval"
        " holds 0. On a clock faster than speech the word lag grows with length whatever the"
        " engine: speech takes time."
    ),
    "AL, LAAL, DAL, AP, ATD as SimulEval 1.1.4 defines them, on times that include computing.",
)
POSITIONS = (
    *(
        Column(
            f"{place} chunk: computing / audio, %",
            f"position_{place.replace(' ', '_')}",
            "ratio",
            100,
            0,
        )
        for place in ("first", "second", "third", "last but one", "last")
    ),
    Column("utterances", "position_first", "n", digits=0),
)
POSITIONS_NOTE = (
    "Computing time over playing time of the first three and the last two chunks, ratio of the two"
    " means, over utterances of more than four chunks (Ma et al. 2020, Fig. 8). Computing before"
    " any sound is the first chunk's."
)


AGAINST = "against "
"""Prefix of the key of a difference to the first condition, or to the voice's own full sentence."""


def rates_at_seams(what: str, key: str) -> tuple[Column, ...]:
    """Columns of a share of the seams, and its excess over elsewhere and over the full sentence."""
    return (
        Column(f"{what} at seams, %", f"seam_{key}_rate", "mean", 100, 1, True),
        Column(f"{what}: over elsewhere, points", f"seam_{key}_excess", "mean", 100, 1, True, True),
        Column(
            f"{what}: over the full sentence, points",
            f"{AGAINST}seam_{key}_rate",
            "mean",
            100,
            1,
            True,
            True,
        ),
    )


FURTHER: tuple[tuple[str, str, tuple[Column, ...], tuple[str, ...]], ...] = (
    (
        "seams",
        "Seams: where chunks of sound meet",
        (
            Column("seams an utterance", "seams", digits=1),
            *rates_at_seams("clicks", "click"),
            *rates_at_seams("jumps", "jump"),
            Column("gaps, % of seams", "seam_gap_rate", factor=100, digits=1, interval=True),
            Column("silence at a seam, ms", "seam_silence_s", factor=1000, digits=0, interval=True),
        ),
        (
            (
                "A click: a third-order linear prediction fails within 5 ms of the seam by more"
                " than 8 standard deviations over its median; a jump: the step between two samples"
                " is over the 99th percentile of those within 20 ms, as one in a hundred is by"
                " chance. Elsewhere: random places of the same sound. The full sentence: the same"
                " places of the words in the voice's own full sentence, where no chunks meet; seams"
                " lie at the edges of words, which may be rougher than other places. A gap: at"
                " least 5 ms more silence than there."
            ),
        ),
    ),
    (
        "prosody",
        "Prosody against the voice's own full sentence",
        (
            Column("pitch RMSE, cents", "pitch_rmse_cents", digits=0, interval=True),
            Column("pitch correlation", "pitch_correlation", digits=3, interval=True),
            Column(
                "pitch: difference, cents",
                f"{AGAINST}pitch_cents",
                digits=1,
                interval=True,
                signed=True,
            ),
            Column(
                "voicing differs, % of frames", "voicing_error", factor=100, digits=1, interval=True
            ),
            Column("word duration RMSE, ms", "word_rmse_ms", digits=1, interval=True),
            Column("word duration correlation", "word_correlation", digits=3, interval=True),
            Column("word duration, ms", "word_ms", digits=0),
            Column(
                "word duration: difference, ms",
                f"{AGAINST}word_ms",
                digits=1,
                interval=True,
                signed=True,
            ),
            Column("duration a phoneme: RMSE, ms", "phoneme_rmse_ms", digits=1, interval=True),
            Column(
                "duration a phoneme: correlation", "phoneme_correlation", digits=3, interval=True
            ),
        ),
        (
            (
                "Words by the voice's own times; pitch by autocorrelation of the sound, every 10"
                " ms, in frames that are voiced in both. Duration a phoneme: a word's duration over"
                " its number of phonemes."
            ),
        ),
    ),
    (
        "one-shot",
        "Streamed sound against the same text pushed at once, under the same condition",
        (
            Column(
                "largest difference, 16-bit steps", "one_shot_difference", factor=32768, digits=0
            ),
            Column("equal utterances, %", "one_shot_equal", factor=100, digits=0),
            Column("utterances synthesised again", "one_shot_equal", "sentences", digits=0),
        ),
        (),
    ),
    (
        "long-text",
        "Drift over long texts: word error rate by quarter of the text",
        (
            *(
                Column(
                    f"WER, {place} quarter, %", f"wer_quarter_{number}", factor=100, interval=True
                )
                for number, place in enumerate(("first", "second", "third", "last"), start=1)
            ),
            Column("last less first, points", "wer_drift", factor=100, interval=True, signed=True),
            Column(
                "the same: difference, points", f"{AGAINST}wer_drift", "mean", 100, 2, True, True
            ),
            Column("texts", "wer_drift", "sentences", digits=0),
        ),
        ("Of texts of at least 40 words.",),
    ),
    (
        "further",
        "Further measures of quality",
        (
            Column("UTMOS", "utmos", interval=True),
            Column("UTMOS: difference", f"{AGAINST}utmos", interval=True, signed=True),
            Column("length, s", "duration_s", interval=True),
            Column("length: difference, s", f"{AGAINST}duration_s", interval=True, signed=True),
        ),
        (),
    ),
)
"""Tables besides those of error rates and opinion scores: stem, title, columns, notes."""


def further_tables(
    summaries: Mapping[str, Mapping[str, Summary]], keys: Collection[str] = ()
) -> list[ConditionTable]:
    """The non-empty tables of FURTHER, without those of ``keys``, which are in a table already.

    A key without a column goes into the last table under its own name: new metrics show up at once.
    """
    titled = {column.key for _, _, columns, _ in FURTHER for column in columns}
    others = sorted({key for row in summaries.values() for key in row} - titled - set(keys))
    tables = []
    for stem, title, columns, notes in FURTHER:
        remaining = [column for column in columns if column.key not in keys]
        if stem == "further":
            remaining += [
                Column(key.replace("_", " "), key, digits=3, interval=True) for key in others
            ]
        tables.append(filled(stem, title, remaining, summaries, notes=notes))
    return [table for table in tables if table.columns]


def filled(
    stem: str,
    title: str,
    columns: Sequence[Column],
    summaries: Mapping[str, Mapping[str, Summary]],
    *,
    notes: Sequence[str] = (),
) -> ConditionTable:
    """A table with those of the columns that at least one condition fills."""
    visible = [
        column for column in columns if any(column.value(summary) for summary in summaries.values())
    ]
    rows = [
        (name, [column.value(summary) for column in visible]) for name, summary in summaries.items()
    ]
    return ConditionTable(stem, title, visible, rows, notes)


def as_markdown(table: ConditionTable) -> str:
    """The table with its title and notes in Markdown."""
    head = ["condition", *(column.title for column in table.columns)]
    lines = [
        f"## {table.title}",
        "",
        row_of(head),
        row_of(["---", *("---:" for _ in table.columns)]),
    ]
    lines += [row_of([name, *texts(table, values)]) for name, values in table.rows]
    return "\n".join([*lines, "", *(f"{note}\n" for note in table.notes)])


def row_of(cells: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


ENDS = {"value": "", "low": " low", "high": " high", "p": " p"}
"""Columns of the CSV, and what is put behind a figure's name for them where it is read."""


def read_csv(path: Path, table: str) -> dict[str, dict[str, str]]:
    """The rows of a table in what ``as_csv`` wrote, by condition: a figure's value under its name,
    and under "NAME low", "NAME high" and "NAME p" what belongs to it."""
    rows: dict[str, dict[str, str]] = {}
    with path.open(encoding="utf-8", newline="") as opened:
        for line in csv.DictReader(opened):
            if line["table"] == table:
                row = rows.setdefault(line["condition"], {})
                row |= {line["figure"] + end: line[name] for name, end in ENDS.items()}
    return rows


def as_csv(tables: Iterable[ConditionTable]) -> str:
    """Tables as CSV, a line for each cell, numbers in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["table", "condition", "figure", *ENDS])
    for table in tables:
        for name, cells in table.rows:
            for column, cell in zip(table.columns, cells, strict=True):
                writer.writerow([table.stem, name, column.title, *in_full(cell)])
    return out.getvalue()


def in_full(cell: Value | None) -> list[str]:
    """A cell's number, its interval and p; nothing in place of what it has not."""
    numbers = astuple(cell) if cell else [math.nan] * len(ENDS)
    return ["" if math.isnan(number) else f"{number:.6g}" for number in numbers]


def as_html(table: ConditionTable) -> str:
    """The table as an HTML section that scrolls sideways where it is too wide."""
    head = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in table.columns)
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in texts(table, values))
        + "</tr>"
        for name, values in table.rows
    )
    notes = "".join(f"<p class=soft>{escape(note)}</p>" for note in table.notes)
    return (
        f'<section id="{table.stem}"><h2>{escape(table.title)}</h2>\n'
        f'<div class=wide tabindex=0 role=region aria-label="{escape(table.title)}"><table><thead>'
        "<tr><th"
        f' scope="col">condition</th>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>{notes}</section>'  # noqa: E501
    )


def texts(table: ConditionTable, values: Sequence[Value | None]) -> list[str]:
    """A row's cells as a person reads them."""
    return [column.text(value) for column, value in zip(table.columns, values, strict=True)]
