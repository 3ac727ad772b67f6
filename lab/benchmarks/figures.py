"""Put the measured figures into the documents, or check that they are there.

    python lab/benchmarks/figures.py [--check]

A document has places between ``<!-- figures:NAME -->`` and ``<!-- /figures -->``, made from the
committed results: from files of their own, or from the tables that ``sayahead eval report`` wrote
there. With ``--check`` nothing is written, and a document that differs ends the run with an error.
"""

from __future__ import annotations

import argparse
import json
import math
import posixpath
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial

import claims
import report_tables as reports
from report_tables import ROOT, load, read_rows, read_table, table

DOCUMENTS = (
    "README.md",
    *sorted(
        str(page.relative_to(ROOT))
        for docs in ("docs", "lab/docs")
        for page in (ROOT / docs).rglob("*.md")
    ),
)
MA = ("quality", "latency")
LINK = re.compile(r"(?<=\]\()((?:docs|lab)/[^)#\s]+)")
"""A link of a place, from the repository's root; it becomes one from the document's folder."""


def summary() -> str:
    """How fast, how good and for how many: three bullets, each with what it includes."""
    bench = load("bench.json")
    first = bench["first_audio_ms"]
    quality = read_table(reports.RESULTS / "context" / "quality.csv")
    latency = read_table(reports.RESULTS / "context" / "latency-1.csv")
    wer, opinion = (
        [f"{float(quality[name][column]):.2f}" for name in ("k = 1", "full")]
        for column in ("WER, %", "DistillMOS")
    )
    waits = [
        f"{float(latency[name]['first audible sample p50, ms']) / 1000:.1f} s"
        for name in ("k = 1", "full")
    ]
    token = next(row for row in load("first_token.json")["rows"] if row["lookahead"] == 1)
    return f"""- **Latency**: {token["mean_ms"]:.0f} ms from a language model's first token (62 a second) to the first \
sound, including the wait for the words.
  Synthesis takes {first["p50"]:.1f} ms of that (95th percentile {first["p95"]:.1f} ms) on an otherwise idle \
{bench["machine"]["cpu"]} core, whether the sentence has 5 words or 80.
  When somebody reads the text out at 180 words a minute, sound starts after {waits[0]}; waiting for the sentence \
would take {waits[1]}.
  (`say` and `doctor` time a fresh process on your machine as it is, so they usually show more.)
- **Quality**: by automatic judges, as good as speaking whole sentences: word error rate {wer[0]} % against \
{wer[1]} %,
  DistillMOS {opinion[0]} against {opinion[1]}, on 200 sentences. Nobody has listened yet.
- **Capacity**: {conversations()}"""  # noqa: E501


def conversations() -> str:
    """How many a server speaks to at once."""
    server = load("server/threads.json")
    machine = server["machine"]
    row = next(r for r in server["rounds"] if r["sessions"] == server["largest"])
    cost_ms = 1000 * load("bench.json")["rtf"]["streamed"]
    many = row["sessions"] / machine["cores"]
    first_ms = math.ceil(row["first_ms"]["p95"])
    return (
        f"an {machine['cpu']} core, on which a second of speech takes {cost_ms:.0f} ms, holds"
        f" {many:.0f} conversations at once,\n  50 tokens a second each, without a stall (it also"
        f" ran the clients); in 95 % of turns, sound starts within {first_ms} ms of\n  the first"
        " character. A core that takes twice as long for a second of speech (`sayahead bench`)"
        " holds half as many."
    )


def capacity() -> str:
    """The same, and what a conversation takes."""
    memory = read_rows("server/memory.md")[-2]
    return (
        conversations().replace("\n  ", "\n").replace("an ", "An ", 1)
        + f" A conversation in the middle of a sentence takes {float(memory[3]):.1f} MB.\n"
        "[All measurements](lab/docs/server.md), with their commands."
    )


def kokoro_cost() -> str:
    """What Kokoro costs word by word, beside its own whole sentences."""
    bench = load("kokoro_bench.json")
    rtf = bench["rtf"]
    first = bench["first_audio_ms"]
    return (
        f"On one core, a second of speech takes {rtf['streamed']:.2f} s word by word and"
        f" {rtf['oneshot']:.2f} s as whole sentences, {rtf['streamed'] / rtf['oneshot']:.2f} times"
        f" as much;\nthe first audible sample comes {first['p50']:.0f} ms after its lookahead word"
        f" (p95 {first['p95']:.0f}; `sayahead bench --voice kokoro`)."
    )


def cost() -> str:
    """Latency, computing time and memory, a line each, with what it includes."""
    bench = load("bench.json")
    token = {row["lookahead"]: row for row in load("first_token.json")["rows"]}
    first = bench["first_audio_ms"]
    word = bench["word_ms"]
    rtf = bench["rtf"]
    server = load("server/threads.json")
    memory = read_rows("server/memory.md")
    row = next(one for one in server["rounds"] if one["sessions"] == server["largest"])
    many = f"{row['sessions']} conversations on {server['machine']['cores']} cores"

    def source(name: str) -> str:
        return f"([{name}](lab/benchmarks/results/{name}))"

    idle = float(memory[0][1])
    each = float(memory[-2][3])
    return f"""**Latency**, to the first sound:

- from a language model's first token (62 a second): **{token[1]["mean_ms"]:.0f} ms**, text and synthesis; without \
lookahead {token[0]["mean_ms"]:.0f} ms {source("first_token.md")}
- from the word that it had to wait for: **{first["p50"]:.1f} ms** (p95 {first["p95"]:.1f} ms), synthesis alone; \
{first["slope_ms_per_word"]:+.4f} ms for each further word of the sentence {source("bench.json")}
- over a socket, from a turn's first character (50 tokens a second), {many}: **{row["first_ms"]["p50"]:.0f} ms** \
(p95 {row["first_ms"]["p95"]:.0f} ms), text, synthesis and transport {source("server/threads.json")}
- from the start of a new process: **{bench["cold_start_s"]:.2f} s**, Python, imports and loading included \
{source("bench.json")}

**Cost**, on one {bench["machine"]["cpu"]} core {source("bench.json")}:

- a word: **{word["p50"]:.1f} ms** (p99 {word["p99"]:.1f} ms)
- a second of sound: **{1000 * rtf["streamed"]:.0f} ms** word by word, {1000 * rtf["oneshot"]:.0f} ms in whole \
sentences; hibari-tts, from which the voice comes, takes {1000 * rtf["peer_oneshot"]:.0f} ms

**Memory** {source("server/memory.md")}:

- a server without conversations: **{idle:.0f} MB**; each conversation: **{each:.1f} MB**"""  # noqa: E501


def waiting() -> str:
    """What the default voice loses by not waiting for the sentence."""
    quality = read_table(reports.RESULTS / "context" / "quality.csv")
    latency = read_table(reports.RESULTS / "context" / "latency-1.csv")
    rows = {
        "One word of lookahead (the default)": "k = 1",
        "None": "k = 0",
        "Whole sentences": "full",
    }
    lines = []
    for what, name in rows.items():
        first, lag = (
            latency[name][column] for column in ("first audible sample p50, ms", "word lag mean, s")
        )
        wer, opinion = (float(quality[name][column]) for column in ("WER, %", "DistillMOS"))
        lines.append(
            f"- {what}: the first sound after **{float(first) / 1000:.1f} s**, each word"
            f" {float(lag):.1f} s behind the text; word error rate {wer:.2f} %, DistillMOS"
            f" {opinion:.2f}."
        )
    return "\n".join(lines)


def bench_runs() -> str:
    """The first line of each of several runs of ``sayahead bench``, the last of which is
    ``bench.json``."""
    former = (reports.RESULTS / "bench_runs.jsonl").read_text(encoding="utf-8").splitlines()
    ratios = [run["ratio"] for run in (*map(json.loads, former), load("bench.json"))]
    ways = {"streamed": "word by word, one word of lookahead", "oneshot": "whole sentences"}
    if all("listened" in ratio for ratio in ratios):
        ways = {"listened": "for a listener: 20 tokens a second, up to six words a step", **ways}
    return "\n".join(
        [
            (
                f"`sayahead bench --json FILE`, {len(ratios)} runs one after the other on a quiet"
                " machine ([results](lab/benchmarks/results/bench_runs.jsonl)); the last is"
                " bench.json."
            ),
            "",
            "| processor time beside hibari-tts | median | of each run |",
            "|---|---:|---|",
            *(
                f"| {said} | {statistics.median(ratio[way] for ratio in ratios):.2f} "
                f"| {', '.join(f'{ratio[way]:.2f}' for ratio in ratios)} |"
                for way, said in ways.items()
            ),
        ]
    )


LOADS = {"threads": "a language model, 50 tokens/s", "reader": "a reader, 180 words/min"}


def server_load() -> str:
    """What sayahead loadtest measured: its first and last round, and the overload."""
    lines = [
        (
            "| text of | sessions | refused | stalls | first sample, ms: p50, p95 | after its text"
            " | cores |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, clock in LOADS.items():
        result = load(f"server/{name}.json")
        overload = [result["overload"]] if "overload" in result else []
        for row in (result["rounds"][0], result["rounds"][-1], *overload):
            times = [
                f"{row[kind]['p50']:.0f}, {row[kind]['p95']:.0f}"
                for kind in ("first_ms", "after_its_text_ms")
            ]
            lines.append(
                f"| {clock} | {row['sessions']} | {row['refused']} | {row['stalls']} | {times[0]} "
                f"| {times[1]} | {row['server_cores']:.2f} |"
            )
    return "\n".join(lines)


OVERLOAD = "server/overload.json"
OVERLOADING = (
    "sayahead loadtest --sessions 130 --overload 300 --json"
    " lab/benchmarks/results/server/overload.json"
)


def server_overload() -> str:
    """What three times the sessions that a machine holds do to a server with its own limit."""
    if not (reports.RESULTS / OVERLOAD).exists():
        return f"Not measured yet: `{OVERLOADING}`."
    result = load(OVERLOAD)
    row = result["overload"]
    late = result["overload"]["sessions_late_ms"]
    return f"""`{OVERLOADING}`: a server that measured {row["places"]} places at its start.

| | |
|---|---:|
| sessions that ask | {row["sessions"]} |
| turns that were spoken | {row["turns"]} |
| stalls in them (the longest, ms) | {row["stalls"]} ({row["longest_stall_ms"]}) |
| sessions that were let in, and lost their place | {row["let_go"]} |
| first sample after the turn's first character, p95, ms | {row["first_ms"]["p95"]} |
| refusals | {row["refused"]} |
| time of a refusal, p95 and the longest, ms | {row["refused_ms"]["p95"]}, {row["refused_ms"]["most"]} |
| how late the sessions themselves were woken, p95 and the most, ms | {late["p95"]}, {late["most"]} |
| cores: server, sessions, other programs | {row["server_cores"]}, {row["sessions_cores"]}, {result["other_cores"]} |"""  # noqa: E501


PLACES: dict[str, Callable[[], str]] = {
    "summary": summary,
    "capacity": capacity,
    "cost": cost,
    "waiting": waiting,
    "server_load": server_load,
    "server_overload": server_overload,
    "context_streams": table(
        "context_streams.md",
        rows=("k = 2", "k = 1", "k = 0", "k = 0, distilled", "k = 0, random", "k = 0, true"),
        columns=(0, 1, 3),
    ),
    "released": table(
        "released.md", rows=("now, whole", "now, k = 1", "now, k = 0"), columns=(0, 2, 4)
    ),
    "server_memory": table("server/memory.md"),
    "step_words_load": table(
        "server/step_words.md",
        rows=("100, release", "100, now", "130, release", "215, release", "215, now", "240, now"),
        columns=(0, 1, 6, 7, 9, 11),
    ),
    "step_words_prosody": table("step_words_prosody.md", columns=(0, 1, 3)),
    "simulated": table("capacity.md"),
    "start": table("start.md"),
    "bench_runs": bench_runs,
    "browser": table(
        "browser.md",
        "python lab/benchmarks/browser.py web/site --last OTHER --out"
        " lab/benchmarks/results/browser",
        rows=(
            "**all, MB** (sent with gzip)",
            "opened to first sound, nothing kept, s",
            "opened to first sound, kept by the browser, s",
            "from a word to its sound, ms",
            "processor seconds a second of sound",
            "words within 2 ms of Python's",
            "log spectra from Python's, dB",
        ),
    ),
    "lookahead": reports.LOOKAHEAD,
    "context": reports.CONTEXT,
    "frontier_tokens": table(
        "frontier/frontier.md",
        rows=(
            "k = 0, 50 ms",
            "k = 1, 50 ms",
            "k = 3, 50 ms",
            "learned, 50 tokens/s, price 0.3",
            "learned, 50 tokens/s, price 3",
            "no lookahead for the first word, then k = 3",
        ),
        columns=(0, 1, 2, 3),
    ),
    "frontier_reader": table(
        "frontier/frontier.md",
        rows=(
            "k = 0, 50 ms",
            "k = 1, 50 ms",
            "k = 3, 50 ms",
            "learned, 180 words/min, price 0.15",
            "learned, 180 words/min, price 1",
            "learned, 180 words/min, price 2",
        ),
        columns=(0, 1, 2, 3),
        number=1,
    ),
    "listened": reports.LISTENED,
    "blind": table(
        "blind.md",
        rows=(
            "k = 1",
            "k = 1, 25 ms held back",
            "k = 0",
            "k = 0, 50 ms held back",
            "k = 0, nothing held back",
        ),
        columns=(0, 2),
    ),
    "lookahead_summary": reports.SUMMARY,
    **{
        f"claims{'_' * bool(paper)}{paper}": partial(claims.table, paper)
        for paper in ("", *claims.NAMES)
    },
    **{f"ma_{name}": getattr(reports, f"MA_{name}".upper()) for name in MA},
    "ma_vocoders": table("ma/clarinet/vocoders.md"),
    "vocoded": reports.VOCODED,
    "first_token": table("first_token.md"),
    "saeki_quality": reports.SAEKI_QUALITY,
    "pace_lag": table("pace/lag.md", "python lab/benchmarks/pace/tables.py"),
    "pace_quality": table("pace/quality.md", "python lab/benchmarks/pace/tables.py"),
    "pace_stalls": table("pace/stalls.md", "python lab/benchmarks/pace/tables.py"),
    "fairness": table(
        "server/fairness.md",
        rows=tuple(
            f"{text}, {version}"
            for text in ("prose", "digits", "signs")
            for version in ("before", "after")
        ),
        columns=(0, 1, 2, 4, 6, 9),
    ),
    "shapes": reports.SHAPES,
    "own": table("own_voice/own.md", "sayahead train own FOLDER"),
    "own_voice": reports.OWN_VOICE,
    "another_speaker": reports.ANOTHER_SPEAKER,
    "soak": table(
        "server/soak.md",
        rows=(
            "before a text's first sound, in seconds of the control's sound",
            "for a second of sound, of the control's",
        ),
    ),
    "abuse": table(
        "server/abuse.md",
        rows=(
            "native: pronunciation",
            "native: dashes",
            "native: all texts",
            "storm: large messages",
            "storm: revisions",
            "bomb: gRPC",
            "held: who never reads",
        ),
        columns=(0, 1, 3, 4, 5, 6, 7, 11),
    ),
    "family": table(
        "family/voices/table.md",
        "python lab/benchmarks/family.py TESTS --voices FOLDER --whisper WHISPER -o OUT",
        columns=(0, 1, 3, 5, 6, 9),
    ),
    "kokoro": table(
        "family/kokoro/table.md",
        "python lab/benchmarks/family.py TESTS --voices FOLDER --whisper WHISPER -o OUT",
        columns=(0, 1, 2, 3, 5, 6, 7, 9),
    ),
    "kokoro_cost": kokoro_cost,
    "saeki_pauses": table(
        "saeki/pauses.md",
        rows=(
            "LJ Speech's reader, all marks",
            "default voice, final marks",
            "default voice, whole texts, aligned",
        ),
        columns=(0, 3, 4, 5),
    ),
    "saeki_verify": reports.SAEKI_VERIFY,
    "mohan_frontier": table("mohan/frontier.md", columns=(0, 1, 2, 3, 5, 6, 7)),
    "mohan_french": table("mohan/french/frontier.md", columns=(0, 1, 2, 3)),
    "mohan_latency": reports.MOHAN_LATENCY,
    "saeki_processing": table("saeki/processing.md", columns=(0, 1, 2, 3)),
}


def filled(text: str, folder: str) -> str:
    """The document with its figures as the results have them; ``folder`` is its own, from the
    repository's root."""

    def place(match: re.Match[str]) -> str:
        made = LINK.sub(lambda link: posixpath.relpath(link[1], folder), PLACES[match[2]]())
        return f"{match[1]}\n{made}\n{match[3]}"

    return re.sub(r"(<!-- figures:(\w+) -->)\n.*?(<!-- /figures -->)", place, text, flags=re.DOTALL)


def main(command: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args(command)
    wrong = []
    for name in DOCUMENTS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        if (now := filled(text, posixpath.dirname(name) or ".")) != text:
            wrong.append(name)
            if not arguments.check:
                path.write_text(now, encoding="utf-8")
    if wrong and arguments.check:
        told = (
            f"Figures differ from the results in: {', '.join(wrong)}. Run: python"
            " lab/benchmarks/figures.py"
        )
        print(told, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
