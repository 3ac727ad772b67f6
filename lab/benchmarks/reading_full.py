"""What must hold of the reading of any text, at full size.

    python lab/benchmarks/reading_full.py MANUALS [--languages de,fr] [--parts PARTS] [--out FOLDER]

No split changes the words, nothing is lost in silence, nothing raises, and time grows with the
text. For each language the parts are ``generated`` (100,000 texts of the tests' generator),
``prose`` (a million characters of the pages in MANUALS/libreoffice-help-LANGUAGE, Debian's packages
unpacked), ``fuzz`` (its share of a million inputs made to hurt) and ``growth`` (the time of texts
twice as long).
FOLDER gets ``full.jsonl``, one row for each part of a language as soon as it is done, ``full.md``,
and the first violations in ``full.txt``. What ``full.jsonl`` has is not done again. The exit code
tells whether something is violated.
"""

from __future__ import annotations

import html
import itertools
import json
import random
import re
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reading_waits import golden
from sayahead.text import front_end
from sayahead.types import Word
from support import form_values, forms

from sayahead_lab.results import Rows, keep, options, table

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da")
PACKAGES = {"en": "en-us", "pt": "pt-br"}
"""Ends of packages' names that are no language's tag."""
OUT = Path(__file__).parent / "results/reading"
SEED = 50
SHOWN = 60
"""Violations of a part that are written down; all are counted."""
MAX_TOKEN = 40
"""Characters of a token whose losses are looked for: longer ones are cut when they are read."""
MAX_GROWTH = 2.8
"""How much longer a text twice as long may take."""
LENGTH = 4_000
"""Characters of the shorter text whose time is taken."""
SLOW_S = 0.5
"""Processor time of an input of at most 80 characters that is a violation, where it is read for the
second time: states and patterns are made once."""
FORMS = (
    "sss S. s. psst. Mr. Dr. z.B. e.g. a.m. 5 3.50 1,85 € $ R$ £ bilhão Mrd. 12:30 30. Mai 1/2 IV "
    "XVI km/h x 10^3 <b> </b> http://a.b @me a@b.c ## ** | - \\frac{ } ^{ _ $x $$ &amp; &#x; "
    "[1] ( ) n° º ª ¿ ¡ … -- 's ’s ℃ Ⅷ ① ³ ² ½ ٣ १ Σ ſ ⇌ → ≤ — – · ″ ' \" « » the der la 06-51 "
    "45-1190 14A 3x² \\d+ .* 1.000 1,000 2024-03-05 +49 0171 #1 C# nr. No. kl. ul. godz. 3:e 1er "
    "2ª 7-6(5) 9/11 5' 6\" €/kg 3M 0x1F v1.2 ÷ × −5 \ufe0f 👍🏽 e\u0301 ``` ` ~~ <think> {"
).split()
ASCII = "0123456789abcdsSxX.,;:!?'\"()<>/\\|-–—_*#@%$€+=~^`²³①½٣° \n\t"
UNITS = (
    *"1aA.,-([{</>\\$€#*_`~^'\":;!?%&=+²½…—\n\u0301\ufe0f\u200d中ا\x00",
    *(
        "1 |1,|1.|1-|1/|a.|A.|a-|a |A |AB |Dr. |z. B. |1. |I |IV |$1 |€ 5 |5 € |5 km |5/km |(1) |"
        "[1]|<b>|</b>|<a |&amp;|x² |** |`a` |- a\n|# a\n|1. a\n|http://a.b/|a@b.c |\\frac{a}{|$x$ |"
        "x^{|1:00 |1. Mai |Mai |+49 |0171 |...|?!|“a” |'a' |a' |aa |1a|a1|A1-|e\u0301|👍|1½ |x|-- |"
        "== |5x5 |5 x "
    ).split("|"),
)
"""What is said again and again where time is taken, with the forms above."""


@dataclass(slots=True)
class Part:
    """What was read of one language, and what did not hold."""

    texts: int = 0
    characters: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, rule: str, example: str) -> None:
        """Count a violation."""
        self.violations[rule] += 1
        if self.violations[rule] <= SHOWN:
            self.examples.append(f"{rule}: {example}")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is read of each language."""

    generated: int
    characters: int
    fuzz: int


Read = tuple[list[Word], str]


def read(language: str, pieces: Sequence[str]) -> Read:
    """The words of a text that comes in pieces, and all that is told to be skipped."""
    normalizer = front_end(language).normalizer()
    words = [word for piece in pieces for word in normalizer.push(piece)]
    words += normalizer.flush()
    return words, "".join(text for _, _, text in sorted(normalizer.skipped))


def pieces(text: str, chance: random.Random) -> list[str]:
    """A text in pieces of random sizes, one character each as often as not."""
    most = chance.choice((1, 1, 4, 12))
    parts: list[str] = []
    at = 0
    while at < len(text):
        size = chance.randint(1, most)
        parts.append(text[at : at + size])
        at += size
    return parts


def try_text(part: Part, language: str, text: str, chance: random.Random) -> None:
    """Read a text whole and in pieces; note what does not hold."""
    part.texts += 1
    part.characters += len(text)
    cut = pieces(text, chance)
    try:
        whole = read(language, [text])
        begun = time.process_time()
        if read(language, cut) != whole:
            part.add("any split reads the same", f"{language} {text!r} {cut!r}")
        if len(text) <= 80 and time.process_time() - begun > SLOW_S:
            part.add("nothing is slow", f"{language} {text!r}")
    except Exception as error:
        part.add("nothing raises", f"{language} {text!r} {cut!r}: {error!r}")


def generated(language: str, size: Size, _: Path) -> Part:
    """What must hold of values of every kind wherever they stand."""
    part = Part()
    spoken = forms.words_of

    def counting(language: str, text: str) -> list[Word]:
        part.texts += 1
        part.characters += len(text)
        return spoken(language, text)

    forms.words_of = counting
    chance = random.Random(SEED)
    try:
        while part.texts < size.generated:
            for kind in form_values.KINDS:
                for one in forms.broken(language, kind, chance):
                    part.add(one.rule, f"{language} {kind} {one}")
    finally:
        forms.words_of = spoken
    return part


def lines_of(folder: Path, characters: int) -> list[str]:
    """Distinct lines of the pages of a folder, in an order that depends on nothing but their
    names."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".txt"))
    random.Random(1).shuffle(paths)
    lines: dict[str, None] = {}
    left = characters
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        text = re.sub(r"(?s)<(script|style)[^>]*>.*?</\1>|<head>.*?</head>|<[^>]+>", " ", text)
        for line in map(str.strip, html.unescape(text).splitlines()):
            if len(line) > 1 and line not in lines and left > 0:
                lines[line] = None
                left -= len(line) + 1
    return list(lines)


def prose(language: str, size: Size, folder: Path) -> Part:
    """Lines of prose in any pieces, and which of their characters are lost in silence."""
    part = Part()
    read(language, ["x"])
    chance = random.Random(SEED)
    tokens: dict[str, None] = {}
    package = f"libreoffice-help-{PACKAGES.get(language, language)}"
    for line in lines_of(folder / package, size.characters):
        try_text(part, language, line, chance)
        tokens |= dict.fromkeys(token for token in line.split() if len(token) <= MAX_TOKEN)
    for token in tokens:
        for one in forms.losses(language, token):
            part.add(one.rule, f"{language} {one}")
    return part


def inputs(language: str, count: int) -> Iterator[str]:
    """Inputs made to hurt: random characters, marks, forms, and golden texts with a few changes."""
    chance = random.Random(f"{SEED} {language}")
    texts = list(golden(language)) or ["3. 4. 5 km"]
    makers: tuple[Callable[[], str], ...] = (
        lambda: "".join(map(_character, (chance for _ in range(chance.randint(1, 20))))),
        lambda: "".join(chance.choices(ASCII, k=chance.randint(1, 16))),
        lambda: " ".join(chance.choices(FORMS, k=chance.randint(1, 6))),
        lambda: "".join(chance.choices(FORMS, k=chance.randint(1, 5))),
        lambda: _changed(chance.choice(texts), chance),
        lambda: (
            _changed(chance.choice(texts), chance)[:40]
            + _changed(chance.choice(texts), chance)[-40:]
        ),
    )
    for _ in range(count):
        yield chance.choice(makers)()[:80]


def _character(chance: random.Random) -> str:
    """A character that a text may have, of the first planes mostly."""
    while True:
        code = chance.randrange(chance.choice((0x80, 0x250, 0x3100, 0x20000)))
        if unicodedata.category(chr(code)) != "Cs":
            return chr(code)


def _changed(text: str, chance: random.Random) -> str:
    """A text with characters left out, doubled, replaced or put in."""
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(text) + 1)
        put = chance.choice(
            ("", text[place : place + 1] * 2, chance.choice(ASCII), chance.choice(FORMS), " ", "\n")
        )
        text = text[:place] + put + text[place + chance.randint(0, 1) :]
    return text


def fuzz(language: str, size: Size, _: Path) -> Part:
    """Inputs made to hurt, whole and in pieces."""
    part = Part()
    chance = random.Random(SEED)
    read(language, ["x"])  # What a language loads once is no text's time.
    for text in inputs(language, size.fuzz):
        try_text(part, language, text, chance)
    return part


def growth(language: str, _: Size, __: Path) -> Part:
    """The time of a text twice as long, of one thing again and again."""
    part = Part()
    read(language, ["x"])
    for unit in dict.fromkeys((*UNITS, *FORMS)):
        if unit:
            once = seconds(language, unit, LENGTH)
            twice = seconds(language, unit, 2 * LENGTH)
            if twice > MAX_GROWTH * once:  # It may have begun with what is made once.
                once = seconds(language, unit, 2 * LENGTH)
                twice = seconds(language, unit, 4 * LENGTH)
            part.texts += 2
            part.characters += 3 * LENGTH
            if twice > MAX_GROWTH * once:
                part.add(
                    "twice the text, twice the time",
                    f"{language} {unit!r}: {once:.3f} s, {twice:.3f} s",
                )
    return part


def seconds(language: str, unit: str, length: int) -> float:
    """Processor time to read one thing again and again."""
    text = (unit * (length // len(unit) + 1))[:length]
    begun = time.process_time()
    read(language, [text])
    return max(time.process_time() - begun, 0.005)


PARTS: dict[str, Callable[[str, Size, Path], Part]] = {
    "generated": generated,
    "prose": prose,
    "fuzz": fuzz,
    "growth": growth,
}


def revision() -> str:
    """The commit that is read by."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()


def full_table(rows: Sequence[dict[str, Any]], size: str) -> list[str]:
    """The results as Markdown; ``size``: the options that say how much is read."""
    cells = Rows()
    for row in rows:
        broken = ", ".join(f"{rule}: {count}" for rule, count in sorted(row["violations"].items()))
        sizes = [f"{row['texts']:,}", f"{row['characters']:,}"]
        cells.append([row["part"], row["language"], *sizes, broken or "0", row["revision"]])
    command = f"Command: `python lab/benchmarks/reading_full.py MANUALS {size}`"
    heading = "part|language|texts|characters|violations|revision"
    return ["# Reading at full size", "", command, "", *table(heading, cells, words=2)]


def append(path: Path, lines: Iterable[str]) -> None:
    """Write lines at the end of a file."""
    with path.open("a", encoding="utf-8") as opened:
        opened.writelines(f"{line}\n" for line in lines)


SIZES = {"generated": 100_000, "characters": 1_000_000, "fuzz": 1_000_000}
"""Generated texts and characters of prose of a language; hurtful inputs of all languages."""


def main() -> int:
    arguments = options(
        __doc__, "MANUALS", languages=",".join(LANGUAGES), parts=",".join(PARTS), out=OUT, **SIZES
    ).parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    size = Size(arguments.generated, arguments.characters, -(-arguments.fuzz // len(LANGUAGES)))
    kept = arguments.out / "full.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    done = {(row["part"], row["language"]) for row in rows}
    asked = itertools.product(arguments.parts.split(","), arguments.languages.split(","))
    for name, language in asked:
        known = name != "generated" or language in forms.LANGUAGES
        if (name, language) in done or not known:
            continue
        part = PARTS[name](language, size, arguments.manuals)
        rows.append(
            {
                "part": name,
                "language": language,
                "texts": part.texts,
                "characters": part.characters,
                "violations": dict(part.violations),
                "revision": revision(),
            }
        )
        append(kept, [json.dumps(rows[-1])])
        append(arguments.out / "full.txt", part.examples)
        print(name, language, f"{part.texts:,} texts", dict(part.violations), flush=True)
    sizes = " ".join(f"--{name} {getattr(arguments, name)}" for name in SIZES)
    order = [*PARTS]
    rows.sort(key=lambda row: (order.index(row["part"]), LANGUAGES.index(row["language"])))
    keep(full_table(rows, sizes), arguments.out / "full.md")
    return int(any(row["violations"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
