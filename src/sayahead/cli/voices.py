"""``sayahead voices``: list the voices that ``--voice`` accepts; add, shape, try, pack and remove
others."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli import Part, one_of

if TYPE_CHECKING:
    from sayahead.voices.install.catalogue import Entry, Shared

EPILOG = """examples:
  sayahead voices                                     those that are installed
  sayahead voices --all                               those for research, too, which reproduce papers
  sayahead voices --language de                       those that speak German
  sayahead voices catalogue fr                        public French voices that can be added by name
  sayahead voices add fr_FR-siwis-medium              download one of them
  sayahead voices add kokoro                          Kokoro, 28 English speakers and others (121 MB)
  sayahead voices download kokoro -o FOLDER           only its files, for a machine without a network
  sayahead voices add en_US-joe-medium.onnx           any Piper voice, with en_US-joe-medium.onnx.json beside it
  sayahead voices try en_US-joe-medium                hear it; without a sound device: -o joe.wav
  sayahead voices shape bass --pitch -6 --formants 0.85    the default voice, lower and larger
  sayahead voices from-clip me.wav --name mine         a voice that sounds like the person in a clip of 5 to 20 s
  sayahead voices remove en_US-joe-medium

Added voices lie in SAYAHEAD_VOICES, by default in ~/.local/share/sayahead/voices.
"""  # noqa: E501
ADD = """examples:
  sayahead voices add en_US-joe-medium.onnx            with en_US-joe-medium.onnx.json beside it
  sayahead voices add de_DE-thorsten-medium            by its name in: sayahead voices catalogue
  sayahead voices add my-voice.zip --name mine
  sayahead voices add https://example.org/voice.tar.gz --sha256 ...

Only a name of the catalogue and an address are downloaded, and every download is checked by a digest.
"""  # noqa: E501
SHAPE = """examples:
  sayahead say --pitch -5 --formants 0.85 'Is this it?'          try it first
  sayahead voices shape bass --pitch -6 --formants 0.85
  sayahead voices shape herald --from ma-lj --pitch 2 --pitch-range 1.3

Only voices of source and filter have a shape: heart, and those with the mel vocoder.
"""
FROM_CLIP = """examples:
  sayahead voices from-clip me.wav --name mine --consent "It is my own voice."
  sayahead voices from-clip me.wav --name mine --near 0.5      more natural, and less like the clip
  sayahead voices from-clip me.m4a --name mia --language es    speaks Spanish

CLIP: 5 to 20 seconds of one person, in any language, without noise or music. Make a voice only of yourself, or of
somebody who has agreed to it: --consent is kept in the voice. It needs the package sayahead-voices-family.
"""  # noqa: E501
PACK = """examples:
  sayahead voices pack voices/ma-clarinet -o ma-clarinet.tar.gz
  sayahead voices add ma-clarinet.tar.gz

Files that a voice of a package has too are left out: sayahead voices add takes them from there. The same voice gives
the same archive, to the byte.
"""  # noqa: E501
COLUMNS = (
    "name",
    "language",
    "gender",
    "speakers",
    "rate",
    "size",
    "cost",
    "licence",
    "package",
    "description",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language", metavar="TAG", help="only voices of this language: de, or pt-BR"
    )
    parser.add_argument(
        "--gender", type=one_of("female", "male"), metavar="female|male", help="only such voices"
    )
    parser.add_argument(
        "--all", action="store_true", help="voices for research, too: those that reproduce papers"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the voices; return the exit code."""
    rows = wanted_voices(arguments.language, arguments.gender)
    research = [] if arguments.all else [row["name"] for row in rows if row.get("research")]
    rows = [row for row in rows if row["name"] not in research]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return 0
    print_table([COLUMNS, *(line(row) for row in rows)])
    if any(row.get("commercial") is False for row in rows):
        print("* by its licence not for commercial use")
    if research:
        print(f"For research, and not listed without --all: {', '.join(research)}.")
    return 0


def wanted_voices(language: str | None, gender: str | None) -> list[dict[str, Any]]:
    """Return rows of the installed voices, optionally only of a language and a gender."""
    from sayahead.voices import installed_voices, speaks

    rows = [describe(name, folder) for name, folder in installed_voices().items()]
    if language:
        rows = [row for row in rows if speaks(row.get("language", ""), language)]
    if gender:
        rows = [row for row in rows if row.get("gender") == gender]
    return rows


def describe(name: str, folder: Path) -> dict[str, Any]:
    """Return a row about a voice, without loading it."""
    from sayahead.errors import VoiceError
    from sayahead.voice import SHAPED
    from sayahead.voices import read_config
    from sayahead.voices.install.add import for_trade
    from sayahead.voices.install.trial import kept
    from sayahead.voices.locations import package_of

    row = {"name": name, "folder": str(folder), "package": package_of(folder) or None}
    try:
        config = read_config(folder)
    except VoiceError as error:
        return row | {"error": str(error)}
    measured = kept(folder)
    fields = ("language", "gender", "sample_rate", "license", "description", "source", "kind")
    return row | {
        **{key: getattr(config, key) for key in fields},
        "speakers": len(config.speakers) or 1,
        "commercial": for_trade(config.license),
        "research": config.research,
        "cost": None if measured is None else round(measured.rtf, 3),
        "of": config.model["voice"] if config.kind == SHAPED else None,
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
    }


def line(row: dict[str, Any]) -> Sequence[str]:
    """Return a voice's row of the table."""
    if "error" in row:
        return (row["name"], *["-"] * 8, row["error"])
    cost = "" if row["cost"] is None else f"{row['cost']:.2f}"
    licence = row["license"] + ("" if row["commercial"] else " *")
    size = f"in {row['of']}" if row["of"] else f"{row['bytes'] / 1e6:.1f} MB"
    sizes = (f"{row['sample_rate']} Hz", size, cost)
    package = row["package"] or "added"
    return (
        row["name"],
        row["language"],
        row["gender"],
        str(row["speakers"]),
        *sizes,
        licence,
        package,
        row["description"],
    )


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in aligned columns, without columns that are empty below their heads.

    On a terminal, lines are cut to its width.
    """
    table = list(rows)
    columns = [
        column
        for column in range(len(table[0]))
        if len(table) == 1 or any(row[column] for row in table[1:])
    ]
    widths = [max(len(row[column]) for row in table) for column in columns]
    max_width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for row in table:
        cells = (row[column].ljust(width) for column, width in zip(columns, widths, strict=True))
        text = "  ".join(cells).rstrip()
        print(text if len(text) <= max_width else f"{text[: max_width - 1]}…")


def source_options(parser: argparse.ArgumentParser) -> None:
    option = parser.add_argument
    option(
        "source",
        metavar="VOICE",
        help="FILE.onnx, FOLDER, ARCHIVE, URL, or a name of the catalogue",
    )
    option("--name", metavar="NAME", help="what it is called (default: its own name)")
    option(
        "--config",
        metavar="FILE",
        type=Path,
        help="the description of a .onnx (default: the same name and .json)",
    )
    option("--sha256", metavar="DIGEST", help="what the SHA-256 of a download must be")
    option("--replace", action="store_true", help="take the place of a voice of this name")
    option("-q", "--quiet", action="store_true", help="show nothing but errors")


def add(arguments: argparse.Namespace) -> int:
    """Add a voice and describe it; return the exit code."""
    from sayahead.voices.install.add import add, for_trade

    progress = None if arguments.quiet or not sys.stderr.isatty() else show
    options = {key: getattr(arguments, key) for key in ("name", "config", "sha256", "replace")}
    added = add(arguments.source, progress=progress, **options)
    if arguments.quiet:
        return 0
    config = added.config
    measured = added.measured
    print(f"Added {config.name}: {config.description}")
    print(f"It lies in {added.folder}. Licence: {config.license}.")
    if not for_trade(config.license):
        print("By its licence it is not for commercial use.")
    print(f"Word by word, a second of speech takes {measured.rtf:.2f} s of one core here.")
    if not measured.keeps_up:
        print(
            "That is too slow for real time: speak more words a step (--policy lookahead:words=4),"
            " or whole"
        )
        print("sentences (--policy wait-all).")
    print(f"Hear it: sayahead voices try {config.name}")
    return 0


def download_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a name of the catalogue, or kokoro")
    parser.add_argument(
        "-o", "--out", metavar="FOLDER", type=Path, help="where its files go (default: NAME)"
    )
    parser.add_argument(
        "--print", action="store_true", help="download nothing: print the addresses, and what to do"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show nothing but errors")


def download(arguments: argparse.Namespace) -> int:
    """Download a voice's files and say what to do with them; return the exit code."""
    from sayahead.errors import ConfigError
    from sayahead.voices.install import catalogue
    from sayahead.voices.install.add import unknown

    name = arguments.name
    progress = None if arguments.quiet or not sys.stderr.isatty() else show
    if not catalogue.downloads(name):
        raise ConfigError(f"There is {unknown(name)}")
    if arguments.print:
        print(catalogue.by_hand(name))
        return 0
    files = catalogue.download(name, arguments.out or Path(name), progress)
    if not arguments.quiet:
        print(f"Here is {name}: {', '.join(str(path) for path in files)}")
        print(f"Add it, on any machine: sayahead voices add {files[0]}")
    return 0


def show(name: str, done: int, total: int | None) -> None:
    """Show the progress of a download on one line."""
    total_part = f" of {total / 1e6:.1f}" if total else ""
    end = "\n" if done == total else ""
    print(f"\r{name}: {done / 1e6:.1f}{total_part} MB", end=end, file=sys.stderr, flush=True)


def remove_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the voice's name")


def remove(arguments: argparse.Namespace) -> int:
    """Delete a voice; return the exit code."""
    from sayahead.voices.install.add import remove

    print(f"Removed {remove(arguments.name)}.")
    return 0


def shape_options(parser: argparse.ArgumentParser) -> None:
    from sayahead.cli.options import add_options

    option = parser.add_argument
    option("name", metavar="NAME", help="what the new voice is called")
    option(
        "--from",
        dest="base",
        default="heart",
        metavar="VOICE",
        help="the voice that is shaped (default: heart)",
    )
    option("--speaker", metavar="NAME", help="one of its speakers, if it has several")
    add_options(option, ("pitch", "pitch_range", "formants"))
    option("--description", metavar="TEXT", help="one line about it")
    option("--replace", action="store_true", help="take the place of a voice of this name")


def shape(arguments: argparse.Namespace) -> int:
    """Add a shaped voice; return the exit code."""
    from sayahead.cli.options import given
    from sayahead.types import Shape
    from sayahead.voices.install.shaped import shape_voice

    told = given(arguments)
    speaker = told.pop("speaker", None)
    options = {"description": arguments.description, "replace": arguments.replace}
    added = shape_voice(arguments.base, arguments.name, Shape(**told), speaker=speaker, **options)
    print(
        f"Added {added.config.name}: {added.config.description}. Hear it: sayahead voices try"
        f" {added.config.name}"
    )
    return 0


def try_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the voice's name or folder")
    parser.add_argument("text", nargs="*", metavar="TEXT", help="another text than the sentence")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write FILE.wav instead of playing it"
    )


def try_it(arguments: argparse.Namespace) -> int:
    """Speak a sample sentence; return the exit code."""
    from sayahead.cli import say
    from sayahead.voices import located, read_config
    from sayahead.voices.install.trial import sample

    config = read_config(located(arguments.name))
    parser = argparse.ArgumentParser()
    say.add_arguments(parser)
    text = " ".join(arguments.text) or sample(config.language)
    output = ["-o", arguments.output] if arguments.output else []
    return say.run(parser.parse_args(["--voice", arguments.name, *output, "--", text]))


def catalogue_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "language", nargs="?", metavar="LANGUAGE", help="only this language: fr, pt-BR, or French"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON, with addresses and digests"
    )


def show_catalogue(arguments: argparse.Namespace) -> int:
    """Print the catalogue; return the exit code."""
    from dataclasses import asdict

    from sayahead.voices import speaks
    from sayahead.voices.install.catalogue import archives

    language = arguments.language
    entries, shared = listed_for(language)
    if arguments.json:
        both: list[Entry | Shared] = [*entries, *shared]
        files = (
            {"files": {name: address for name, address, _ in entry.downloads()}} for entry in both
        )
        print(
            json.dumps(
                [asdict(entry) | more for entry, more in zip(both, files, strict=True)], indent=1
            )
        )
        return 0
    if entries:
        rows = [
            (
                entry.key,
                entry.language,
                entry.english,
                str(entry.speakers),
                f"{entry.size / 1e6:.0f} MB",
            )
            for entry in entries
        ]
        print_table([("name", "language", "", "speakers", "size"), *rows])
        print(
            "The licence of each is in its model card, which is downloaded and shown when the voice"
            " is added."
        )
    if shared:
        print("Of others, not tried by sayahead's makers:")
        print_table(
            [
                (entry.key, entry.language, entry.license, entry.maker, entry.address)
                for entry in shared
            ]
        )
    print(
        "Kokoro (Apache-2.0; English and five more languages, 121 MB) is added by name, too:"
        " kokoro."
    )
    if archives() and speaks("en-US", language or "en"):
        print(
            f"Research voices of this version can be added by name, too: {', '.join(archives())}."
        )
    return 0


def listed_for(language: str | None) -> tuple[list[Entry], list[Shared]]:
    """Return Piper's voices and the registry's, of a language or all. ConfigError if there are
    none."""
    from sayahead.config import nearest
    from sayahead.errors import ConfigError
    from sayahead.voices import speaks
    from sayahead.voices.install.catalogue import catalogue, community

    entries = list(catalogue().values())
    shared = list(community().values())
    if not language:
        return entries, shared
    entries = [
        candidate
        for candidate in entries
        if speaks(candidate.language, language) or is_same(candidate.english, language)
    ]
    shared = [candidate for candidate in shared if speaks(candidate.language, language)]
    if not entries and not shared:
        known = sorted({entry.english for entry in catalogue().values()})
        raise ConfigError(
            f"The catalogue has no voice for the language {language!r}{nearest(language, known)}."
        )
    return entries, shared


def is_same(name: str, wanted: str) -> bool:
    """Return whether two names are the same, ignoring case."""
    return name.lower() == wanted.lower()


def from_clip_options(parser: argparse.ArgumentParser) -> None:
    from sayahead.cli import number

    option = parser.add_argument
    option(
        "clip",
        metavar="CLIP",
        type=Path,
        help="a WAV file; FLAC, MP3, M4A and others with sayahead[codecs]",
    )
    option("--name", metavar="NAME", required=True, help="what the voice is called")
    option(
        "--near",
        metavar="0..1",
        type=number(float, 0, 1),
        help="0: natural; 1: most like the clip; default: 0.9",
    )
    option(
        "--language",
        metavar="TAG",
        help="what it speaks, one of the family's languages (default: en-US)",
    )
    option(
        "--consent", metavar="TEXT", default="", help="who agreed to the voice, to be kept in it"
    )
    option(
        "--license",
        metavar="ID",
        help="the voice's licence: the speaker decides (default: private)",
    )
    option("--description", metavar="TEXT", help="one line about it")
    option("--replace", action="store_true", help="take the place of a voice of this name")


def from_clip(arguments: argparse.Namespace) -> int:
    """Make a voice from a clip and describe it; return the exit code."""
    # Set before numpy is loaded: with several threads, its small products mostly wait for each
    # other.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from sayahead.voices.install.clip.making import voice_from_clip

    names = ("near", "language", "consent", "license", "description", "replace")
    options = {
        name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None
    }
    result = voice_from_clip(arguments.clip, arguments.name, **options)
    config = result.added.config
    clip = result.heard
    print(f"Heard {clip.spoken:.0f} s of speech at {clip.f0:.0f} Hz.")
    print(
        f"Added {config.name}, which is like the clip by {result.similarity:.2f}: strangers are by"
        " 0.56, and the same"
    )
    print("person on another day by 0.9.")
    if not config.consent:
        print('Who agreed to it is not stated: --replace --consent "..." keeps that in the voice.')
    print(f"Hear it: sayahead voices try {config.name}")
    return 0


def pack_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "voice", metavar="VOICE", help="a voice's folder, or the name of an added one"
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="the archive: .tar.gz, .zip, ...",
    )


def pack(arguments: argparse.Namespace) -> int:
    """Write a voice's archive and describe it; return the exit code."""
    from sayahead.engine.files import sha256
    from sayahead.voices import located
    from sayahead.voices.install.add import pack

    omitted = pack(located(arguments.voice), arguments.out)
    print(
        f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.1f} MB, SHA-256"
        f" {sha256(arguments.out)}"
    )
    if omitted:
        print(f"Left out, as packaged voices have them: {', '.join(omitted)}.")
    return 0


PARTS = {
    "add": Part(
        "add a voice: a Piper voice's .onnx, a folder, an archive, an address, or a name of the"
        " catalogue",
        source_options,
        add,
        ADD,
    ),
    "download": Part("download a voice's files, to be added elsewhere", download_options, download),
    "remove": Part("delete an added voice", remove_options, remove),
    "shape": Part(
        "make a voice of an installed one by changing its pitch and formants",
        shape_options,
        shape,
        SHAPE,
    ),
    "from-clip": Part(
        "make a voice of a few seconds of one person", from_clip_options, from_clip, FROM_CLIP
    ),
    "try": Part("hear a voice say a sentence of its language", try_options, try_it),
    "catalogue": Part(
        "list public voices that can be added by name", catalogue_options, show_catalogue
    ),
    "pack": Part("write a voice as an archive, to be passed on", pack_options, pack, PACK),
}
"""The subcommands of ``sayahead voices``."""
