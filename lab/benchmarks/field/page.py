"""The comparison's tables and picture, from its cards: docs/field.md, docs/field.png and tables.md
beside the cards.

    python lab/benchmarks/field/page.py [OUT | --check]

The cards of a run are ``cards.jsonl`` in ``lab/benchmarks/results/field``, those of the same run an
hour later ``again.jsonl``, those of services.toml ``services.jsonl``.

With OUT, the folder of ``sayahead eval run``, the recordings docs/samples/field-*.mp3 and their
table are made, too: what a listener hears of each engine at a reader's pace. A recording begins
with the text's first letter, so the silence at its beginning is the wait, and a silence within is a
stall. Engines with Piper's voice are left out: its sound may not be published. With ``--check``
nothing is written: it fails where the page is not what the cards say."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sayahead.sound.files import read_wav
from sayahead.sound.formats import writer
from sayahead.types import Floats

from sayahead_lab import results
from sayahead_lab.eval.experiment.conditions import Clock
from sayahead_lab.eval.experiment.frozen import frozen
from sayahead_lab.eval.experiment.trace import Trace, read_traces
from sayahead_lab.eval.field.card import traces_on
from sayahead_lab.eval.field.compare import COLUMNS, Card, again, ms, notes, on, read_cards, table
from sayahead_lab.eval.measures.latency import first_heard_s, playback, stalls_s
from sayahead_lab.scripts import strided

ROOT = Path(__file__).parents[3]
CARDS = ROOT / "lab/benchmarks/results/field/cards.jsonl"
PAGE = ROOT / "docs/field.md"
TABLES = CARDS.parent / "tables.md"
PICTURE = ROOT / "docs/field.png"
AGAIN = CARDS.parent / "again.jsonl"
SERVICES = CARDS.parent / "services.jsonl"
VALIDATION = CARDS.parent / "validation.json"
SHOWN = ("tokens 50", "reader 180")
MAIN = ("first", "first-p95", "given", "wait", "safe", "lag", "stalls", "rtf")
READER = ("first", "first-p95", "safe", "lag", "stalls")
"""What differs from ``MAIN`` at another pace; how fast an engine computes does not."""
ENOUGH = 1000
"""Words from which error rates of a few per cent begin to differ."""
SET = "answers"
SILENT = ("piper", "streaming-vits")
QUARTILES = re.compile(
    r" \([-+.\d]+ to [-+.\d]+\)|, in brackets quartiles|; in brackets 95 % intervals"
)
OPINIONS = ("mos", "gap-mos", "gap-words", "gap-pitch")
ERRORS = ("wer", "gap")
"""Too few words to tell most engines apart: not on the page."""


def markdown(heading: str, rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """A table as text."""
    return "\n".join(results.table(heading, rows, words=words))


def ranked(cards: Sequence[Card], clock: str) -> list[Card]:
    """The cards of a clock, soonest sound first."""
    own = [on(one, clock) for one in cards]
    return sorted(own, key=lambda one: one["figures"]["first_s"]["p50"])


def limits(cards: Sequence[Card]) -> str:
    """What the run is too small, or too noisy, to tell."""
    texts = cards[0]["texts"]
    share = texts["count"] // len(texts["sets"])
    words = sum(
        len(line.text.split()) for name in texts["sets"] for line in strided(frozen(name), share)
    )
    told = [
        f"**Read this first.** {texts['count']} texts of {words} words together, {texts['repeats']}"
        " repeats."
    ]
    if words < ENOUGH:
        told.append("That is too little to tell most engines' word errors apart.")
    if any("processor time" in one["timed"] for one in cards):
        told.append(
            "Computing is counted as processor time, which is what an engine needs of a core of its"
            " own; reading from a file and waiting for another process cost a listener time that it"
            " does not show."
        )
    told.append(
        "Every engine computes on one thread. Each has one voice, as a rule not the same one, so"
        " DistillMOS and word errors compare voices; what streaming costs a voice is the gap to its"
        " own whole texts."
    )
    return fill(" ".join(told), 140)


def engines(cards: Sequence[Card]) -> str:
    """How each engine was set."""
    rows = results.Rows()
    for one in cards:
        about = one["about"]
        figures = one["figures"]
        rows.append(
            [
                one["engine"],
                about.get("version", ""),
                f"by {about['text']}",
                about.get("set", "as it is"),
                about.get("licence", ""),
                str(about.get("threads", "")),
                f"{figures['rss_mb']:.0f}",
                f"{1000 * figures['cancel_s']:.0f}",
            ]
        )
    heading = "engine|version|text goes in|set|licence|core|memory, MB|cancelled after, ms"
    return markdown(heading, rows, words=5)


def checks(cards: Sequence[Card]) -> str:
    """What the wall clock said of each engine."""
    rows = results.Rows()
    for one in cards:
        check = one["check"]
        if wall := one.get("wall"):
            rows.append(
                [
                    one["engine"],
                    str(check["texts"]),
                    ms(wall["first_s"]),
                    f"{1000 * wall['first_s']['p95']:.0f}",
                    ms(wall["safe_start_s"]),
                    ms(wall["by_arithmetic_first_s"]),
                    f"{1000 * check['later_s']:+.0f}",
                    f"{check['same_sound']} of {check['texts']}",
                ]
            )
    heading = (
        "engine|texts|first sound, ms|p95|safe start, ms|by arithmetic, ms|later, ms|the same sound"
    )
    return markdown(heading, rows)


def an_hour_later(cards: Sequence[Card]) -> str:
    """How far a second run of the same is from the first, on both clocks."""
    later = read_cards([AGAIN])
    return "\n\n".join(again(cards, later, clock=clock) for clock in SHOWN)


def services() -> str:
    """The same voice through services and plug-ins, on the wall clock."""
    cards = read_cards([SERVICES])
    rows = results.Rows()
    heard = [(one, one.get("wall") or on(one, SHOWN[0])["figures"]) for one in cards]
    for one, figures in sorted(heard, key=lambda pair: pair[1]["first_s"]["p50"]):
        first = figures["first_s"]
        cancel = f"{1000 * one['figures']['cancel_s']:.0f}"
        p95 = f"{1000 * first['p95']:.0f}"
        safe = ms(figures["safe_start_s"])
        way = [one["engine"], f"by {one['about']['text']}"]
        rows.append([*way, ms(first), p95, safe, cancel])
    texts = cards[0]["texts"]
    heading = "way|text goes in|first sound, ms|p95|safe start, ms|cancelled after, ms"
    about = f"{texts['count']} texts, {texts['repeats']} repeats, {cards[0]['machine']['cpu']}."
    return f"{markdown(heading, rows, words=2)}\n\n{about}"


def validation() -> str:
    """What the yardstick was measured to err by."""
    found = results.load_figures(VALIDATION)
    rows = results.Rows()
    for group in ("known", "protocol 2 less in process"):
        for name, one in found[group].items():
            title = (
                f"a known {name}"
                if group == "known"
                else f"sayahead in its own process less in this one: {name}"
            )
            title = name if name.startswith("wall") else title
            quartiles = f"{one['p25']:+.1f} to {one['p75']:+.1f}"
            worst = f"{one['worst']:.1f}"
            rows.append([title, f"{one['p50']:+.1f}", quartiles, worst, str(one["n"])])
    before, after = found["machine"]["load average"]
    load = f"Load average of the machine meanwhile: {before} to {after} on its cores."
    return f"{markdown('error, ms|median|quartiles|worst|takes', rows)}\n\n{load}"


def other_clocks(cards: Sequence[Card], order: Sequence[str]) -> str:
    """First sound and safe start of every engine on every clock."""
    clocks = list(cards[0]["clocks"])
    found = {(one["engine"], clock): one["clocks"][clock] for one in cards for clock in clocks}
    rows = results.Rows()
    for engine in order:
        own = [found[engine, clock] for clock in clocks]
        cells = [f"{one['first_s']['p50']:.2f} / {one['safe_start_s']['p50']:.2f}" for one in own]
        rows.append([engine, *cells])
    return markdown(f"first sound / safe start, s|{'|'.join(clocks)}", rows)


def picture(cards: Sequence[Card]) -> None:
    """Delay against quality: each engine's first sound on the two clocks (quartiles) over its
    DistillMOS (95 %)."""
    cards = [one for one in cards if one["figures"].get("distillmos")]
    figure, both = plt.subplots(1, 2, figsize=(12, 5.5), dpi=100, sharey=True)
    for axes, clock in zip(both, SHOWN, strict=True):
        points = list[tuple[float, float, str, str]]()
        for one in cards:
            first = on(one, clock)["figures"]["first_s"]
            opinion = one["figures"]["distillmos"]
            x = first["p50"]
            y = opinion["value"]
            color = "tab:red" if one["about"]["text"] == "token" else "tab:gray"
            wide = [[x - first["p25"]], [first["p75"] - x]]
            high = [[y - opinion["low"]], [opinion["high"] - y]]
            axes.errorbar(
                x, y, xerr=wide, yerr=high, fmt="o", color=color, elinewidth=0.7, markersize=4
            )
            points.append((y, x, one["engine"], color))
        axes.set_xscale("log")
        axes.set_xlim(0.03, 60)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10])
        axes.minorticks_off()
        axes.set_xlabel(f"first sound, s, {clock}")
        axes.grid(alpha=0.3)
        for color in ("tab:red", "tab:gray"):
            own = [point for point in points if point[3] == color]
            named(axes, own, 1.5 * max((x for _, x, *_ in own), default=1.0))
    both[0].set_ylabel("DistillMOS")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Software": None})


def named(axes: Any, points: Sequence[tuple[float, float, str, str]], at: float) -> None:
    """Write the names of points (y, x, name, color) below each other, each with a line to its
    point."""
    last = float("inf")
    for y, x, name, color in sorted(points, reverse=True):
        last = min(y, last - 0.075)
        line = {"arrowstyle": "-", "color": color, "lw": 0.4}
        axes.annotate(
            name, (x, y), (at, last), fontsize=7, color=color, va="center", arrowprops=line
        )


def heard(trace: Trace, sound: Floats) -> Floats:
    """(S,) the sound (N,) as it is played on the trace's clock, from the text's first letter on."""
    starts, ends = playback(trace)
    played = np.zeros(round(float(ends[-1]) * trace.sample_rate) + 1, np.float32)
    for chunk, start in zip(trace.chunks, starts, strict=True):
        at = round(float(start) * trace.sample_rate)
        samples = sound[chunk.start : chunk.start + chunk.samples][: len(played) - at]
        played[at : at + len(samples)] = samples
    return played


def recording(out: Path, text: str, engine: str, kind: str) -> tuple[float, list[str]]:
    """Write an engine's recording; its first sound, and its line of the table."""
    traces = traces_on(out / engine, Clock(SHOWN[1], kind))
    trace = next(one for one in traces if one.name == text and not one.repeat)
    sound, rate = read_wav(out / engine / "wav" / f"{text}.wav")
    name = f"samples/field-{engine.replace('+', '-')}.mp3"
    with closing(writer(PAGE.parent / name)(PAGE.parent / name, sample_rate=rate)) as file:
        file.write(heard(trace, sound))
    first = first_heard_s(trace)
    stalled = float(stalls_s(trace).sum())
    return first, [engine, f"{first:.2f} s", f"{stalled:.2f} s", f"[mp3]({name})"]


def recordings(out: Path, cards: Sequence[Card]) -> str:
    """Make the recordings of the text of middle length from the run's folder; their table."""
    shown = [one for one in cards if not one["engine"].startswith(SILENT)]
    names = {line.name for line in frozen(SET)}
    whole = [
        one for one in read_traces(out / cards[0]["engine"] / "whole.jsonl") if one.name in names
    ]
    text = sorted(whole, key=lambda one: len(one.source))[len(whole) // 2]
    rows = sorted(recording(out, text.name, one["engine"], one["clock"]["kind"]) for one in shown)
    cells = [line for _, line in rows]
    return f"> {text.source}\n\n{markdown('engine|first sound|silent within|', cells)}"


def medians(text: str) -> str:
    """A table without the quartiles in brackets, which the picture shows."""
    return QUARTILES.sub("", text)


def filled(text: str, parts: dict[str, str]) -> str:
    """A page with those of the parts replaced that it has marks for."""
    for name, part in parts.items():
        place = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
        text = place.sub(f"<!-- {name} -->\n{part}\n<!-- /{name} -->".replace("\\", r"\\"), text)
    return text


def main() -> int:
    arguments = results.options(__doc__, "[OUT]", check=False).parse_args()
    cards = read_cards([CARDS])
    first, second = (ranked(cards, clock) for clock in SHOWN)
    assert {*MAIN, *OPINIONS, *ERRORS} == set(COLUMNS)
    parts = {
        "limits": limits(cards),
        "tokens": medians("\n".join([table(first, MAIN), "", *notes(first)])),
        "reader": medians("\n".join([table(second, READER), "", notes(second)[0]])),
        "gaps": table(first, OPINIONS),
        "errors": table(first, ERRORS),
        "engines": engines(first),
        "checks": checks(first),
        "validation": validation(),
        "again": an_hour_later(cards),
        "services": medians(services()),
        "clocks": other_clocks(cards, [one["engine"] for one in first]),
    }
    if arguments.out:
        parts["recordings"] = recordings(arguments.out, second)
    former = {path: path.read_text(encoding="utf-8") for path in (PAGE, TABLES)}
    missing = [name for name in parts if f"<!-- {name} -->" not in "".join(former.values())]
    assert not missing, missing
    pages = {path: filled(text, parts) for path, text in former.items()}
    if arguments.check:
        return int(pages != former)
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    picture(first)
    return 0


if __name__ == "__main__":
    sys.exit(main())
