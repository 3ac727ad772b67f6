"""What came of it: an own voice beside the recordings that it has not heard, as a table and a page
to listen to."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from sayahead.sound.files import wav_header
from sayahead.sound.pcm import to_pcm16
from sayahead.types import Floats

from sayahead_lab import results
from sayahead_lab.eval.listening.likeness import load_embedder
from sayahead_lab.eval.listening.listeners import (
    at_16khz,
    load_distillmos,
    load_normalizer,
    load_whisper,
    missing,
    missing_folder,
)
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.training.own.speakers import cosine

RECORDED = "recordings"
MEASURES = {
    "wer": "words that Whisper mistakes, %",
    "opinion": "opinion, 1 to 5 (DistillMOS)",
    "similarity": "similarity to the recordings, -1 to 1 (Resemblyzer)",
}
BRACKETS = str.maketrans("()[]", ",,,,")
STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0"
    " 1rem;color-scheme:light dark}table{border-collapse:collapse}td,th{padding:.3rem .8rem .3rem"
    " 0;text-align:left;vertical-align:top}audio{width:100%;max-width:22rem;display:block}"
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A sentence that was not trained on, as it is heard."""

    text: str
    """Its words."""
    sounds: Mapping[str, Floats]
    """Samples (S,) at ``rate`` by who says them, the recordings' first."""
    rate: int
    """Samples a second."""


@dataclass(frozen=True, slots=True)
class SaidTexts:
    """What one row of figures is of."""

    texts: Sequence[str]
    """Sentences."""
    sounds: Sequence[Floats]
    """Samples (S,) of each."""


def rows_of(
    sentences: Sequence[HeldOut], recordings: SaidTexts, others: SaidTexts
) -> dict[str, SaidTexts]:
    """Rows by name: who says the sentences that were held out, all recordings, and what nobody
    recorded.

    Few sentences are held out, so that these alone would leave much to chance.
    """
    texts = [one.text for one in sentences]
    rows = {
        who: SaidTexts(texts, [one.sounds[who] for one in sentences]) for who in sentences[0].sounds
    }
    more = {
        f"all recordings ({len(recordings.texts)})": recordings,
        f"voice, {len(others.texts)} other sentences": others,
    }
    return {**rows, **more}


def measured(
    rows: Mapping[str, SaidTexts], recordings: SaidTexts, rate: int, whisper: str | Path | None
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Means by ``MEASURES`` of each row, and lines about listeners that are not installed."""
    figures: dict[str, dict[str, float]] = {who: {} for who in rows}
    absent = list[str]()
    if problem := missing("whisper") or missing("normalizer") or missing_folder(whisper):
        absent.append(problem)
    else:
        transcribe = load_whisper(whisper, threads=1)
        normalize = load_normalizer()
        for who, row in rows.items():
            # The normalizer leaves out what stands in brackets, which is spoken all the same.
            meant = normalize(" ".join(row.texts).translate(BRACKETS))
            heard = [transcribe(at_16khz(samples, rate)) for samples in row.sounds]
            figures[who]["wer"] = 100 * word_errors(meant, normalize(" ".join(heard))).rate
    if problem := missing("distillmos"):
        absent.append(problem)
    else:
        opinion = load_distillmos()
        for who, row in rows.items():
            figures[who]["opinion"] = float(
                np.mean([opinion(at_16khz(samples, rate)) for samples in row.sounds])
            )
    if problem := missing("resemblyzer"):
        absent.append(problem)
    elif len(recordings.texts) > 1:
        embed = load_embedder()
        recorded = [embed(samples, rate) for samples in recordings.sounds]
        for who, row in rows.items():
            pairs = zip(row.texts, row.sounds, strict=True)
            alike = [
                cosine(embed(samples, rate), others(text, recordings, recorded))
                for text, samples in pairs
            ]
            figures[who]["similarity"] = float(np.mean(alike))
    return figures, absent


def others(text: str, recordings: SaidTexts, described: Sequence[Floats]) -> Floats:
    """The mean of what describes the recordings of other texts, or of all where there are none."""
    chosen = [one for other, one in zip(recordings.texts, described, strict=True) if other != text]
    mean: Floats = np.mean(chosen or described, axis=0)
    return mean


def table(figures: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The figures as lines of Markdown; empty cells where a listener is not installed."""
    rows = [[who, *(cell(row, one) for one in MEASURES)] for who, row in figures.items()]
    return results.table(f"|{'|'.join(MEASURES.values())}", rows)


def cell(row: Mapping[str, float], measure: str) -> str:
    """A figure of a row, or nothing."""
    if measure not in row:
        return ""
    return f"{row[measure]:.1f}" if measure == "wer" else f"{row[measure]:.2f}"


def page(
    name: str,
    about: str,
    sentences: Sequence[HeldOut],
    figures: Mapping[str, Mapping[str, float]],
    remarks: Sequence[str],
) -> str:
    """One HTML file with everything in it: figures, sounds, and what was left out."""
    names = list(sentences[0].sounds)
    heads = "".join(f"<th scope=col>{escape(who)}" for who in names)
    said = "".join(
        f"<tr><td>{escape(one.text)}{''.join(f'<td>{player(one, who)}' for who in names)}"
        for one in sentences
    )
    measures = "".join(f"<th scope=col>{escape(title)}" for title in MEASURES.values())
    rows = "".join(
        "<tr><th"
        f" scope=row>{escape(who)}{''.join(f'<td>{cell(row, measure)}' for measure in MEASURES)}"
        for who, row in figures.items()
    )
    listed = "".join(f"<li>{escape(line)}" for line in remarks)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport"
        f' content="width=device-width"><title>{escape(name)}</title><style>{STYLE}</style><h1>{escape(name)}</h1><p>{escape(about)}</p><h2>Figures</h2><table><tr><td>{measures}{rows}</table><h2>Sentences'  # noqa: E501
        f" that it has not heard</h2><table><tr><td>{heads}{said}</table>"
        + (f"<h2>Remarks</h2><ul>{listed}</ul>" if listed else "")
        + "</html>\n"
    )


def player(one: HeldOut, who: str) -> str:
    """A sound to click on, all of it inside."""
    pcm = to_pcm16(one.sounds[who]).tobytes()
    data = base64.b64encode(wav_header(one.rate, len(pcm)) + pcm).decode()
    return (
        f'<audio controls preload=none aria-label="{escape(who)}"'
        f' src="data:audio/wav;base64,{data}"></audio>'
    )


def write_report(
    folder: Path,
    name: str,
    about: str,
    sentences: Sequence[HeldOut],
    recordings: SaidTexts,
    said: SaidTexts,
    remarks: Sequence[str],
    whisper: str | Path | None,
    note: Callable[[str], None],
) -> None:
    """Write ``report.html`` and ``report.md`` into a folder, and note the figures.

    Of sentences that were held out, all ``recordings``, and what is ``said`` of sentences that
    nobody recorded."""
    rows = rows_of(sentences, recordings, said)
    figures, absent = measured(rows, recordings, sentences[0].rate, whisper)
    remarks = [*remarks, *absent]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(
        page(name, about, sentences, figures, remarks), encoding="utf-8"
    )
    heard = f"{len(sentences)} sentences that it has not heard:"
    lines = [about, "", heard, "", *table(figures), "", *(f"- {line}" for line in remarks)]
    (folder / "report.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    for line in [*table(figures), *absent, f"Listen: {folder / 'report.html'}"]:
        note(line)
