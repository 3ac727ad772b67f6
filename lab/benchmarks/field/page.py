"""The field's table and picture, from its cards: docs/field.md and docs/field.png.

    python lab/benchmarks/field/page.py [--check]

With ``--check`` nothing is written: it fails where the page is not what the cards say.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt

from sayahead_lab.eval.field.compare import COLUMNS, Card, notes, on, read_cards, table

ROOT = Path(__file__).parents[3]
CARDS, PAGE, PICTURE = ROOT / "lab/benchmarks/results/field/cards", ROOT / "docs/field.md", ROOT / "docs/field.png"
VALIDATION = CARDS.parent / "validation.json"
SHOWN = ("tokens 50", "reader 180")
MAIN = ("first", "first-p95", "given", "wait", "safe", "lag", "stalls", "rtf")
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
    """Delay against quality: word errors over the first sound, quartiles and 95 % intervals as bars."""
    figure, axes = plt.subplots(figsize=(8, 4.8), dpi=100)
    for one in cards:
        first, wer = one["figures"]["first_s"], one["figures"]["wer"]
        x, y = first["p50"], 100 * wer["value"]
        own = one["about"]["text"] == "token"
        spread = [[x - first["p25"]], [first["p75"] - x]], [[y - 100 * wer["low"]], [100 * wer["high"] - y]]
        color = "tab:red" if own else "tab:gray"
        axes.errorbar(x, y, xerr=spread[0], yerr=spread[1], fmt="o", color=color, elinewidth=0.8, markersize=4)
        axes.annotate(one["engine"], (x, y), (4, 4), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel(f"first sound, s, on the clock {cards[0]['clock']['name']} (quartiles)")
    axes.set_ylabel("word errors, % (95 % interval)")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Software": None})


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
    former = PAGE.read_text(encoding="utf-8")
    page = filled(former, parts)
    if "--check" in sys.argv:
        return int(page != former)
    PAGE.write_text(page, encoding="utf-8")
    picture(first)
    return 0


if __name__ == "__main__":
    sys.exit(main())
