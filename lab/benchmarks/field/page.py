"""The field's tables and picture, from its cards: docs/field.md and docs/field.png.

    python lab/benchmarks/field/page.py [OUT | --check]

With OUT, the folder of ``sayahead eval run``, the recordings docs/samples/field-*.mp3 and their table are made, too:
what a listener hears of each engine at a reader's pace. A recording begins with the text's first letter, so the silence
at its beginning is the wait, and a silence within is a stall. Engines with Piper's voice are left out: its sound may
not be published. With ``--check`` nothing is written: it fails where the page is not what the cards say.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sayahead.sound.files import read_wav
from sayahead.sound.formats import writer
from sayahead.types import Floats

from sayahead_lab.eval.experiment.conditions import Clock
from sayahead_lab.eval.experiment.trace import Trace, read_traces
from sayahead_lab.eval.field.card import traces_on
from sayahead_lab.eval.field.compare import COLUMNS, Card, notes, on, read_cards, table
from sayahead_lab.eval.measures.latency import first_heard_s, playback, stalls_s

ROOT = Path(__file__).parents[3]
CARDS, PAGE, PICTURE = ROOT / "lab/benchmarks/results/field/cards", ROOT / "docs/field.md", ROOT / "docs/field.png"
VALIDATION = CARDS.parent / "validation.json"
SHOWN = ("tokens 50", "reader 180")
MAIN = ("first", "first-p95", "given", "wait", "safe", "lag", "stalls", "rtf")
TEXT, SILENT = "a101", ("piper", "streaming-vits")
GAPS = ("wer", "gap", "gap-words", "gap-pitch")


def ranked(cards: Sequence[Card], clock: str) -> list[Card]:
    """The cards of a clock, soonest sound first."""
    own = [on(one, clock) for one in cards]
    return sorted(own, key=lambda one: one["figures"]["first_s"]["p50"])


def engines(cards: Sequence[Card]) -> str:
    """How each engine was set."""
    rows = ["| engine | version | text goes in | set | licence | core | memory, MB | cancelled after, ms |"]
    rows.append("|---|---|---|---|---|---:|---:|---:|")
    for one in cards:
        about, figures = one["about"], one["figures"]
        told = [one["engine"], about.get("version", ""), f"by {about['text']}", about.get("set", "as it is")]
        told += [about.get("licence", ""), str(about.get("threads", "")), f"{figures['rss_mb']:.0f}"]
        rows.append(f"| {' | '.join(told)} | {1000 * figures['cancel_s']:.0f} |")
    return "\n".join(rows)


def checks(cards: Sequence[Card]) -> str:
    """What the wall clock said of each engine."""
    rows = [
        "| engine | texts | the same sound | later on the wall clock than by arithmetic, ms |",
        "|---|---:|---:|---:|",
    ]
    for one in cards:
        check = one["check"]
        if "texts" in check:
            later = 1000 * check["later_s"]
            rows.append(f"| {one['engine']} | {check['texts']} | {check['same_sound']} | {later:+.0f} |")
    return "\n".join(rows)


def validation() -> str:
    """What the yardstick was measured to err by."""
    found = json.loads(VALIDATION.read_text(encoding="utf-8"))
    rows = ["| error, ms | median | quartiles | worst | takes |", "|---|---:|---:|---:|---:|"]
    for group in ("known", "protocol 2 less in process"):
        for name, one in found[group].items():
            title = f"a known {name}" if group == "known" else f"sayahead in its own process less in this one: {name}"
            title = name if name.startswith("wall") else title
            cells = f"{one['p50']:+.1f} | {one['p25']:+.1f} to {one['p75']:+.1f} | {one['worst']:.1f} | {one['n']}"
            rows.append(f"| {title} | {cells} |")
    before, after = found["machine"]["load average"]
    return "\n".join([*rows, "", f"Load average of the machine meanwhile: {before} to {after} on its cores."])


def other_clocks(cards: Sequence[Card], order: Sequence[str]) -> str:
    """First sound and safe start of every engine on every clock."""
    clocks = list(cards[0]["clocks"])
    found = {(one["engine"], clock): one["clocks"][clock] for one in cards for clock in clocks}
    rows = [f"| first sound / safe start, s | {' | '.join(clocks)} |", f"|---|{'---:|' * len(clocks)}"]
    for engine in order:
        own = [found[engine, clock] for clock in clocks]
        cells = [f"{one['first_s']['p50']:.2f} / {one['safe_start_s']['p50']:.2f}" for one in own]
        rows.append(f"| {engine} | {' | '.join(cells)} |")
    return "\n".join(rows)


def picture(cards: Sequence[Card]) -> None:
    """First sound of every engine on the two clocks, quartiles as bars, and its word errors."""
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.3 * len(cards)), dpi=100)
    for clock, marker in zip(SHOWN, "o^", strict=True):
        firsts = [on(one, clock)["figures"]["first_s"] for one in cards]
        for row, (one, first) in enumerate(zip(cards, firsts, strict=True)):
            x, title = first["p50"], clock if not row else None
            color = "tab:red" if one["about"]["text"] == "token" else "tab:gray"
            spread = [[x - first["p25"]], [first["p75"] - x]]
            axes.errorbar(x, row, xerr=spread, fmt=marker, color=color, elinewidth=0.8, markersize=5, label=title)
    for row, one in enumerate(cards):
        errors = f"{100 * one['figures']['wer']['value']:.0f} %"
        axes.text(1.02, row, errors, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.text(1.02, -1, "word errors", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.set_yticks(range(len(cards)), [one["engine"] for one in cards], fontsize=8)
    axes.set_ylim(len(cards) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5])
    axes.minorticks_off()
    axes.set_xlabel("first sound, s (median, quartiles)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Software": None})


def heard(trace: Trace, sound: Floats) -> Floats:
    """(S,) the sound (N,) as it is played on the trace's clock, from the text's first letter on."""
    starts, ends = playback(trace)
    played = np.zeros(round(float(ends[-1]) * trace.sample_rate) + 1, np.float32)
    for chunk, start in zip(trace.chunks, starts, strict=True):
        at = round(float(start) * trace.sample_rate)
        samples = sound[chunk.start : chunk.start + chunk.samples][: len(played) - at]
        played[at : at + len(samples)] = samples
    return played


def recording(out: Path, engine: str, kind: str) -> tuple[float, str]:
    """Write an engine's recording; its first sound, and its line of the table."""
    traces = traces_on(out / engine, Clock(SHOWN[1], kind))
    trace = next(one for one in traces if one.name == TEXT and not one.repeat)
    sound, rate = read_wav(out / engine / "wav" / f"{TEXT}.wav")
    name = f"samples/field-{engine.replace('+', '-')}.mp3"
    with closing(writer(PAGE.parent / name)(PAGE.parent / name, sample_rate=rate)) as file:
        file.write(heard(trace, sound))
    first, stalled = first_heard_s(trace), float(stalls_s(trace).sum())
    player = f'<audio controls preload="none" src="{name}"></audio> [mp3]({name})'
    return first, f"| {engine} | {first:.2f} s | {stalled:.2f} s | {player} |"


def recordings(out: Path, cards: Sequence[Card]) -> str:
    """Make the recordings from the run's folder; their table."""
    shown = [one for one in cards if not one["engine"].startswith(SILENT)]
    rows = sorted(recording(out, one["engine"], one["clock"]["kind"]) for one in shown)
    text = next(one.source for one in read_traces(out / cards[0]["engine"] / "whole.jsonl") if one.name == TEXT)
    lines = [f"> {text}", "", "| engine | first sound | silent within | |", "|---|---:|---:|---|"]
    return "\n".join([*lines, *(line for _, line in rows)])


def filled(text: str, parts: dict[str, str]) -> str:
    """The page with its marked parts replaced."""
    for name, part in parts.items():
        place = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.DOTALL)
        assert place.search(text), name
        text = place.sub(f"<!-- {name} -->\n{part}\n<!-- /{name} -->".replace("\\", r"\\"), text)
    return text


def main() -> int:
    cards = read_cards([CARDS])
    first, second = (ranked(cards, clock) for clock in SHOWN)
    assert set(MAIN) | set(GAPS) == set(COLUMNS)
    parts = {
        "tokens": "\n".join([table(first, MAIN), "", *notes(first)]),
        "reader": "\n".join([table(second, MAIN), "", notes(second)[0]]),
        "gaps": table(first, GAPS),
        "engines": engines(first),
        "checks": checks(first),
        "validation": validation(),
        "clocks": other_clocks(cards, [one["engine"] for one in first]),
    }
    if folders := [Path(given) for given in sys.argv[1:] if given != "--check"]:
        parts["recordings"] = recordings(folders[0], second)
    former = PAGE.read_text(encoding="utf-8")
    page = filled(former, parts)
    if "--check" in sys.argv:
        return int(page != former)
    PAGE.write_text(page, encoding="utf-8")
    picture(first)
    return 0


if __name__ == "__main__":
    sys.exit(main())
